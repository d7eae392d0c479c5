'use strict';
// Modules: CommonJS, ES modules, and the program itself.

const { define, lazy } = internal;
const { dirname, normal, absolute, real, kindOf, formatOf, asFile, asDirectory, find, CJS, ESM } = internal.part('resolve');

const pathOf = (name) => name.startsWith('file://') ? decodeURIComponent(name.slice(7).replace(/[?#].*$/, '')) : name;
const nameOf = (path) => `file://${path.split('/').map(encodeURIComponent).join('/').replaceAll('%40', '@')}`;

// A text that compiles as CommonJS is CommonJS; otherwise these words tell that it may be an ES module.
const MODULE_SYNTAX = /^\s*(?:import\b\s*[\w$*{'"]|export\b\s*[\w$*{])|\bimport\.meta\b|\bawait\b/m;
const looksLikeModule = (source) => MODULE_SYNTAX.test(source);
const unmarked = (source) => {
  if (source.charCodeAt(0) === 0xfeff) source = source.slice(1);
  return source.startsWith('#!') ? '//' + source : source;
};
function textOf(path) {
  try { return unmarked(sys.readText(path)); } catch (error) { throw internal.systemError(error, 'open', path); }
}

// CommonJS. The wrapper is on one line with the source, so that lines are counted as the file has them.
const WRAPPER = '(function (exports, require, module, __filename, __dirname) {';
function compile(source, path) {
  internal.wrapped.set(path, WRAPPER.length);
  return sys.evaluate(`${WRAPPER}${source}\n})`, path);
}
/** Compiles a CommonJS text, or returns undefined for an ES module. */
function compiled(source, path, format) {
  try { return compile(source, path); } catch (error) {
    if (format === undefined && looksLikeModule(source)) return undefined;
    throw error;
  }
}

const cache = Object.create(null);
class Module {
  constructor(id = '', parent) {
    this.id = id;
    this.path = dirname(id);
    this.exports = {};
    this.filename = id;
    this.loaded = false;
    this.children = [];
    this.paths = Module._nodeModulePaths(this.path);
    define(this, 'parent', parent);
  }
  require(specifier) { return load(resolve(specifier, this), this); }
  static _nodeModulePaths(from) {
    const paths = [];
    for (let at = from; ; at = dirname(at)) {
      if (!at.endsWith('/node_modules')) paths.push(`${at === '/' ? '' : at}/node_modules`);
      if (at === '/' || at === '.') return paths;
    }
  }
}
let mainModule;
function requireOf(module) {
  const require = function require(specifier) { return module.require(specifier); };
  require.resolve = (specifier) => resolve(specifier, module).replace(/^node:(?!test$)/, '');
  require.resolve.paths = () => module.paths;
  require.main = mainModule;
  require.cache = cache;
  return require;
}
Object.assign(Module, {
  Module,
  createRequire(from) {
    const path = pathOf(String(from?.href ?? from));
    if (!path.startsWith('/')) {
      throw internal.typeError('ERR_INVALID_ARG_VALUE', "The argument 'filename' must be a file URL object, file URL string, " +
        `or absolute path string. Received '${path}'`);
    }
    return requireOf(new Module(path.endsWith('/') ? `${path}noop.js` : path, undefined));
  },
  isBuiltin: (name) => internal.publicModules.has(String(name).replace(/^node:/, '')),
  _cache: cache,
});
lazy(Module, 'builtinModules', () => [...internal.publicModules].filter((name) => name !== 'test'), true);

function resolve(specifier, parent) {
  internal.mustBe(specifier, 'string', 'id');
  const found = find(specifier, parent.path, CJS);
  if (found?.startsWith('node:')) return found;
  if (found !== undefined && kindOf(found) === 'file') return real(found);
  const stack = [];
  for (let at = parent; at; at = at.parent) stack.push(at.filename);
  const error = new Error(`Cannot find module '${specifier}'${stack.length > 0 ? '\nRequire stack:\n- ' + stack.join('\n- ') : ''}`);
  error.code = 'MODULE_NOT_FOUND';
  error.requireStack = stack;
  throw error;
}
function load(path, parent) {
  if (path.startsWith('node:')) return internal.builtin(path.slice(5));
  const known = cache[path];
  if (known) return known.exports;
  const module = new Module(path, parent);
  parent?.children?.push(module);
  cache[path] = module;
  let isDone = false;
  try { execute(module, path); isDone = true; } finally {
    if (!isDone) { delete cache[path]; if (parent?.children?.at(-1) === module) parent.children.pop(); }
  }
  module.loaded = true;
  return module.exports;
}
function execute(module, path) {
  const format = formatOf(path);
  const source = textOf(path);
  if (format === 'json') {
    try { module.exports = JSON.parse(source); } catch (error) {
      error.message = `${path}: ${error.message}`;
      throw error;
    }
    return;
  }
  const body = format === 'module' ? undefined : compiled(source, path, format);
  if (body) body.call(module.exports, module.exports, requireOf(module), module, path, module.path);
  else module.exports = requireModule(path, source);
}

// ES modules. The engine asks for the path of a name and for the text there.
const seen = new Set();
function locate(specifier, referrer) {
  const from = dirname(pathOf(referrer));
  let found = find(specifier, from, ESM);
  if (found?.startsWith('node:')) return found;
  if (found !== undefined && kindOf(found) !== 'file') found = undefined;
  // ES modules name files whole: `./x` is not `./x.js`.
  const isPath = /^(?:\.{0,2}\/|file:)/.test(specifier);
  const wanted = isPath ? normal(pathOf(specifier).startsWith('/') ? pathOf(specifier) : `${from}/${pathOf(specifier)}`) : undefined;
  if (isPath && wanted !== found) {
    if (kindOf(wanted) === 'directory') {
      throw internal.typeError('ERR_UNSUPPORTED_DIR_IMPORT',
        `Directory import '${wanted}' is not supported resolving ES modules imported from ${pathOf(referrer)}`, Error);
    }
    found = undefined;
  }
  if (found === undefined) {
    if (/^[a-z][a-z0-9+.-]+:/i.test(specifier) && !specifier.startsWith('file:')) {
      throw internal.typeError('ERR_UNSUPPORTED_ESM_URL_SCHEME', 'Only URLs with a scheme in: file and node are supported ' +
        `by this sandbox's ESM loader. Received protocol '${specifier.slice(0, specifier.indexOf(':') + 1)}'`, Error);
    }
    throw internal.typeError('ERR_MODULE_NOT_FOUND',
      `Cannot find ${isPath ? `module '${wanted}'` : `package '${specifier}'`} imported from ${pathOf(referrer)}`, Error);
  }
  const query = /[?#].*$/.exec(specifier)?.[0] ?? '';
  return nameOf(real(found)) + (isPath ? query : '');
}
function metaOf(name) {
  const path = pathOf(name);
  return {
    dirname: dirname(path), filename: path, url: name,
    resolve: (specifier) => locate(String(specifier), name),
  };
}
/** Returns the text of an ES module that fetches its exports when it is evaluated. */
function synthetic(names, fetch) {
  const list = [...names].filter((name) => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) && name !== 'default');
  const source = ['const all = import.meta.fetch();', 'export default all;',
    ...list.map((name, at) => `const v${at} = all?.${name};`),
    `export { ${list.map((name, at) => `v${at} as ${name}`).join(', ')} };`].join('\n');
  return { source, meta: { fetch } };
}
let isChecking = false;
function read(name, type) {
  if (isChecking) return { source: '', meta: {} };
  if (name.startsWith('node:')) {
    const exports = internal.builtin(name.slice(5));
    return synthetic(Object.keys(exports), () => exports);
  }
  const path = pathOf(name);
  const format = formatOf(path);
  if (type !== undefined && type !== null && (type !== 'json' || format !== 'json')) {
    throw internal.typeError('ERR_IMPORT_ASSERTION_TYPE_FAILED', `Module "${name}" is not of type "${type}"`);
  }
  if (format === 'json') {
    if (type !== 'json') {
      throw internal.typeError('ERR_IMPORT_ASSERTION_TYPE_MISSING', `Module "${name}" needs an import attribute of "type: json"`);
    }
    return synthetic([], () => load(path, undefined));
  }
  const source = textOf(path);
  if (format === 'module' || (format === undefined && !cache[path] && looksLikeModule(source) && !compiles(source, path))) {
    seen.add(path);
    return { source, meta: metaOf(name) };
  }
  const open = (specifier) => {
    try {
      const found = find(specifier, dirname(path), CJS);
      if (found?.startsWith('node:')) return Object.keys(internal.builtin(found.slice(5)));
      return found === undefined || formatOf(found) === 'json' ? undefined : textOf(found);
    } catch { return undefined; /* the error is reported when the module runs */ }
  };
  return synthetic(internal.part('exported')(source, open), () => load(path, undefined));
}
function compiles(source, path) { try { compile(source, path); return true; } catch { return false; } }
/** Returns the result of `require` for an ES module without a top-level await. */
function requireModule(path, source) {
  if (seen.has(path)) {
    throw internal.typeError('ERR_REQUIRE_ESM', `require() of ES Module ${path}, which is imported elsewhere, is not supported.`, Error);
  }
  seen.add(path);
  internal.wrapped.delete(path);
  const [promise, namespace] = sys.requireModule(nameOf(path), source, metaOf(nameOf(path)));
  promise.then(undefined, () => { /* thrown below */ });
  const out = {};
  const state = sys.promise(promise, out);
  if (state === 'rejected') throw out.value;
  if (state === 'pending') {
    throw internal.typeError('ERR_REQUIRE_ASYNC_MODULE', 'require() cannot be used on an ESM graph with top-level await. Use import() instead.', Error);
  }
  return namespace;
}

// The program.
function startModule(path, source) {
  internal.wrapped.delete(path);
  const name = path.endsWith(']') ? path : nameOf(path);
  const promise = internal.mainPromise = sys.runModule(name, source, metaOf(nameOf(path)));
  const done = () => { internal.mainPromise = undefined; };
  promise.then(done, (error) => { done(); internal.part('loop').engine.uncaught(error); });
}
function mainPath(name) {
  const path = absolute(name);
  const found = asFile(path) ?? asDirectory(path);
  if (found) return real(found);
  const error = new Error(`Cannot find module '${path}'`);
  error.code = 'MODULE_NOT_FOUND';
  error.requireStack = [];
  throw error;
}
function check(name, source, format) {
  isChecking = true;
  const body = format === 'json' ? JSON.parse(source) : format === 'module' ? undefined : compiled(source, name, format);
  if (body === undefined) sys.checkModule(name, source);
  sys.exit(0);
}
function runFile(name, args) {
  const path = mainPath(name);
  const given = absolute(name);
  process.argv = ['/bin/node', kindOf(given) === 'file' ? given : path, ...args];
  const format = formatOf(path);
  if (format === 'json') { load(path); return; }
  const source = textOf(path);
  const body = format === 'module' ? undefined : compiled(source, path, format);
  if (body === undefined) { startModule(path, source); return; }
  const module = mainModule = process.mainModule = new Module(path, undefined);
  module.id = '.';
  cache[path] = module;
  body.call(module.exports, module.exports, requireOf(module), module, path, module.path);
  module.loaded = true;
}
function runText(kind, name, source, args) {
  process.argv = ['/bin/node', ...args];
  internal.text = { name, source };
  const path = `${sys.cwd()}/${name}`;
  if (kind === 'module') { startModule(path, source); return; }
  const module = new Module(path, undefined);
  const around = { require: requireOf(module), module, exports: module.exports, __filename: name, __dirname: '.' };
  for (const one of Object.keys(around)) define(globalThis, one, around[one]);
  for (const one of internal.publicModules) {
    if (!one.includes('/') && one !== 'test' && !(one in globalThis)) lazy(globalThis, one, () => internal.builtin(one));
  }
  let value;
  try { value = sys.evaluate(source, name); } catch (error) {
    if (!(error instanceof SyntaxError) || !looksLikeModule(source) || parses(source)) throw error;
    startModule(path, source);
    return;
  }
  if (kind === 'print') console.log(value);
}
/** Returns true if a text compiles, so that a syntax error came from code that it ran. */
function parses(source) { try { sys.evaluate(`(function () {${source}\n})`, 'node:check'); return true; } catch { return false; } }

function main(kind, name, source, args, required, options) {
  internal.part('loop').engine.begin();
  process.execArgv = options;
  if (kind === 'checkFile') { name = mainPath(name); return check(name, textOf(name), formatOf(name)); }
  if (kind === 'check') return check(name, unmarked(source));
  const preloaded = new Module(`${sys.cwd()}/[preload]`, undefined);
  for (const one of required) preloaded.require(one);
  if (kind === 'file') runFile(name, args); else runText(kind, name, unmarked(source), args);
}
Object.assign(exports, { Module, main, locate, read });
