'use strict';
// The file of a module's name, for CommonJS and ES modules alike.

/** Node's modules that are left out on purpose, with the reason. */
const NETWORK = 'it has no network', THREADS = 'it has no threads';
const ABSENT = {
  cluster: THREADS, dgram: NETWORK, dns: NETWORK, 'dns/promises': NETWORK, http: NETWORK, http2: NETWORK, https: NETWORK,
  inspector: 'it has no debugger', net: NETWORK, repl: 'it has no terminal', tls: NETWORK, tty: 'it has no terminal',
  worker_threads: THREADS, async_hooks: '', constants: '', diagnostics_channel: '', domain: '', punycode: '', sys: '',
  trace_events: '', v8: '', vm: '', wasi: '', zlib: '', sqlite: '', sea: '', 'inspector/promises': 'it has no debugger',
  'path/win32': '', 'stream/consumers': '', 'stream/web': '', 'test/reporters': '',
};
function absent(name) {
  const error = internal.missing(`node:${name}`, ABSENT[name]);
  error.code = 'MODULE_NOT_FOUND';
  return error;
}

const dirname = (path) => { const at = path.lastIndexOf('/'); return at > 0 ? path.slice(0, at) : at === 0 ? '/' : '.'; };
function normal(path) {
  const parts = [];
  for (const one of path.split('/')) {
    if (one === '..') parts.pop();
    else if (one !== '' && one !== '.') parts.push(one);
  }
  return '/' + parts.join('/');
}
const absolute = (path) => path.startsWith('/') ? normal(path) : normal(`${sys.cwd()}/${path}`);
internal.absolute = absolute;
function kindOf(path) { try { return sys.stat(path, true)[0]; } catch { return undefined; } }
/** Returns the path without links, as Node names modules. */
function real(path) {
  const left = path.split('/').filter(Boolean);
  let at = '', links = 0;
  while (left.length > 0) {
    const name = left.shift();
    if (name === '..') { at = at.slice(0, Math.max(0, at.lastIndexOf('/'))); continue; }
    if (name === '.' || name === '') continue;
    const next = `${at}/${name}`;
    if (sys.stat(next, false)[0] !== 'symlink') { at = next; continue; }
    if (++links > 40) throw new Error('ELOOP');
    const target = sys.readlink(next);
    if (target.startsWith('/')) at = '';
    left.unshift(...target.split('/'));
  }
  return at || '/';
}
internal.real = real;

const packages = new Map();
function packageOf(directory) {
  const path = `${directory === '/' ? '' : directory}/package.json`;
  if (!packages.has(path)) {
    let found = null;
    if (kindOf(path) === 'file') {
      try { found = JSON.parse(sys.readText(path)); } catch (error) {
        throw internal.typeError('ERR_INVALID_PACKAGE_CONFIG', `Invalid package config ${path}. ${error.message}`, Error);
      }
    }
    packages.set(path, found);
  }
  return packages.get(path);
}
function scopeOf(path) {
  for (let at = dirname(path); ; at = dirname(at)) {
    const found = packageOf(at);
    if (found || at === '/' || at === '.' || at.endsWith('/node_modules')) return found ? { found, at } : null;
  }
}
/** Returns `commonjs`, `module` or `json`, by name and package; undefined where only the text can tell. */
function formatOf(path) {
  if (path.endsWith('.mjs')) return 'module';
  if (path.endsWith('.cjs')) return 'commonjs';
  if (path.endsWith('.json')) return 'json';
  if (path.endsWith('.node')) throw internal.missing(path, 'native code does not run here');
  const type = scopeOf(path)?.found.type;
  return type === 'module' && /\.js$/.test(path) ? 'module' : type === 'commonjs' ? 'commonjs' : undefined;
}

function asFile(path) {
  if (kindOf(path) === 'file') return path;
  for (const extension of ['.js', '.json', '.node']) if (kindOf(path + extension) === 'file') return path + extension;
}
function asDirectory(path) {
  if (kindOf(path) !== 'directory') return undefined;
  const main = packageOf(path)?.main;
  if (typeof main === 'string') {
    const target = normal(`${path}/${main}`);
    const found = asFile(target) ?? asFile(`${target}/index`);
    if (found) return found;
  }
  return asFile(`${path}/index`);
}
function conditional(target, conditions) {
  if (typeof target === 'string' || target === null) return target;
  if (Array.isArray(target)) {
    for (const one of target) { const found = conditional(one, conditions); if (found) return found; }
    return undefined;
  }
  for (const [name, inner] of Object.entries(target)) {
    if (name !== 'default' && !conditions.includes(name)) continue;
    const found = conditional(inner, conditions);
    if (found !== undefined) return found;
  }
}
/** Looks a subpath up in the `exports` or `imports` of a package. */
function mapped(map, key, conditions) {
  if (typeof map === 'string' || Array.isArray(map) || !Object.keys(map).some((name) => /^[.#]/.test(name)))
    return key === '.' ? conditional(map, conditions) : undefined;
  if (Object.hasOwn(map, key)) return conditional(map[key], conditions);
  let best, star;
  for (const name of Object.keys(map)) {
    const at = name.indexOf('*');
    if (at < 0) continue;
    const head = name.slice(0, at), tail = name.slice(at + 1);
    if (key.length > head.length + tail.length - 1 && key.startsWith(head) && key.endsWith(tail) &&
      (best === undefined || head.length > best.indexOf('*'))) {
      best = name;
      star = key.slice(head.length, key.length - tail.length);
    }
  }
  const target = best === undefined ? undefined : conditional(map[best], conditions);
  return typeof target === 'string' ? target.replaceAll('*', star) : target;
}
function exported(directory, map, key, conditions) {
  const target = mapped(map, key, conditions);
  if (typeof target === 'string') return normal(`${directory}/${target}`);
  throw internal.typeError('ERR_PACKAGE_PATH_NOT_EXPORTED', key === '.'
    ? `No "exports" main defined in ${directory}/package.json`
    : `Package subpath '${key}' is not defined by "exports" in ${directory}/package.json`, Error);
}
function fromPackages(name, from, conditions) {
  const cut = name.startsWith('@') ? name.indexOf('/', name.indexOf('/') + 1) : name.indexOf('/');
  const [base, rest] = cut < 0 ? [name, ''] : [name.slice(0, cut), name.slice(cut + 1)];
  const self = scopeOf(`${from}/x`);
  if (self?.found.exports != null && base === self.found.name) {
    return exported(self.at, self.found.exports, rest ? `./${rest}` : '.', conditions);
  }
  for (let at = from; ; at = dirname(at)) {
    if (!at.endsWith('/node_modules')) {
      const directory = `${at === '/' ? '' : at}/node_modules/${base}`;
      if (kindOf(directory) === 'directory') {
        const described = packageOf(directory);
        if (described?.exports != null) return exported(directory, described.exports, rest ? `./${rest}` : '.', conditions);
        const found = rest ? asFile(`${directory}/${rest}`) ?? asDirectory(`${directory}/${rest}`) : asDirectory(directory);
        if (found) return found;
      } else {
        const found = asFile(directory);
        if (found) return found;
      }
    }
    if (at === '/' || at === '.') return undefined;
  }
}
/** Returns the path of a module, or `node:NAME`; undefined if there is none. */
function find(specifier, from, conditions) {
  const isNamed = specifier.startsWith('node:');
  const name = isNamed ? specifier.slice(5) : specifier;
  // `test` has to be named with its prefix: there are packages of that name.
  if (internal.publicModules.has(name) && (isNamed || name !== 'test')) return `node:${name}`;
  if (isNamed) {
    if (Object.hasOwn(ABSENT, name)) throw absent(name);
    throw internal.typeError('ERR_UNKNOWN_BUILTIN_MODULE', `No such built-in module: ${specifier}`, Error);
  }
  if (specifier.startsWith('file://')) specifier = decodeURIComponent(specifier.slice(7));
  if (/^\.{0,2}\//.test(specifier) || specifier === '.' || specifier === '..') {
    const path = specifier.startsWith('/') ? normal(specifier) : normal(`${from}/${specifier}`);
    return (specifier.endsWith('/') ? undefined : asFile(path)) ?? asDirectory(path);
  }
  if (specifier.startsWith('#')) {
    const scope = scopeOf(`${from}/x`);
    const target = scope?.found.imports && mapped(scope.found.imports, specifier, conditions);
    if (typeof target !== 'string') {
      throw internal.typeError('ERR_PACKAGE_IMPORT_NOT_DEFINED',
        `Package import specifier "${specifier}" is not defined${scope ? ` in package ${scope.at}/package.json` : ''}`);
    }
    return target.startsWith('.') ? normal(`${scope.at}/${target}`) : find(target, from, conditions);
  }
  const found = fromPackages(specifier, from, conditions);
  if (found === undefined && Object.hasOwn(ABSENT, specifier)) throw absent(specifier);
  return found;
}
Object.assign(exports, { dirname, normal, absolute, real, kindOf, formatOf, asFile, asDirectory, find,
  CJS: ['node', 'require', 'module-sync'], ESM: ['node', 'import', 'module-sync'] });
