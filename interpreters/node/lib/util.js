'use strict';
// util: formatting, promisify, comparison, types.

const { inspect, format, formatWithOptions } = internal.part('inspect');

const custom = Symbol.for('nodejs.util.promisify.custom');
function promisify(original) {
  if (typeof original !== 'function') {
    throw internal.typeError('ERR_INVALID_ARG_TYPE', `The "original" argument must be of type function. Received ${internal.received(original)}`);
  }
  if (original[custom]) return original[custom];
  if (original === setTimeout) return (delay, value) => new Promise((resolve) => setTimeout(resolve, delay, value));
  if (original === setImmediate) return (value) => new Promise((resolve) => setImmediate(resolve, value));
  function promised(...args) {
    return new Promise((resolve, reject) => {
      Reflect.apply(original, this, [...args, (error, value) => error ? reject(error) : resolve(value)]);
    });
  }
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
}
promisify.custom = custom;
const callbackify = (original) => function (...args) {
  const done = args.pop();
  Reflect.apply(original, this, args).then((value) => process.nextTick(done, null, value), (error) => process.nextTick(done, error));
};
function inherits(type, parent) {
  Object.defineProperty(type, 'super_', { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(type.prototype, parent.prototype);
}
function deprecate(run, message, code) {
  let hasWarned = false;
  return function (...args) {
    if (!hasWarned) { hasWarned = true; sys.write(2, `(node:${process.pid}) ${code ? `[${code}] ` : ''}DeprecationWarning: ${message}\n`); }
    return Reflect.apply(run, this, args);
  };
}

/** Deep comparison; `seen` pairs break cycles. */
function same(a, b, isStrict, seen = new Map()) {
  if (isStrict ? Object.is(a, b) : a == b || (a !== a && b !== b)) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (isStrict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const kind = internal.part('kinds')(a);
  if (kind !== internal.part('kinds')(b)) return false;
  if (seen.get(a) === b) return true;
  seen.set(a, b);
  if (kind === 'Date' && a.getTime() !== b.getTime() && !(Number.isNaN(a.getTime()) && Number.isNaN(b.getTime()))) return false;
  if (kind === 'RegExp' && (a.source !== b.source || a.flags !== b.flags || a.lastIndex !== b.lastIndex)) return false;
  if (kind === 'Error' && (a.message !== b.message || a.name !== b.name)) return false;
  if (kind === 'Array' && a.length !== b.length) return false;
  if (kind === 'ArrayBuffer') return same(new Uint8Array(a), new Uint8Array(b), isStrict, seen);
  if (kind === 'TypedArray') {
    if (a.length !== b.length) return false;
    for (let at = 0; at < a.length; at++) if (!Object.is(a[at], b[at])) return false;
  }
  if (kind === 'Set' || kind === 'Map') {
    if (a.size !== b.size) return false;
    const left = new Set(b.keys());
    for (const key of a.keys()) {
      const other = left.has(key) ? key : typeof key === 'object' && key !== null || !isStrict
        ? [...left].find((one) => same(key, one, isStrict, seen)) : undefined;
      if (!left.has(other)) return false;
      if (kind === 'Map' && !same(a.get(key), b.get(other), isStrict, seen)) return false;
      left.delete(other);
    }
  }
  if (['Number', 'String', 'Boolean', 'BigInt'].includes(a.constructor?.name) && typeof a.valueOf() !== 'object' &&
    !Object.is(a.valueOf(), b.valueOf?.())) return false;
  const keys = ownKeys(a, isStrict), others = ownKeys(b, isStrict);
  return keys.length === others.length && keys.every((key) => Object.prototype.propertyIsEnumerable.call(b, key) && same(a[key], b[key], isStrict, seen));
}
const ownKeys = (object, isStrict) => {
  const symbols = isStrict ? Object.getOwnPropertySymbols(object).filter((key) => Object.prototype.propertyIsEnumerable.call(object, key)) : [];
  return ArrayBuffer.isView(object) ? symbols : [...Object.keys(object), ...symbols];
};

const isKind = (kind) => (value) => value !== null && typeof value === 'object' && internal.part('kinds')(value) === kind;
const sourceOf = (value) => typeof value === 'function' ? Function.prototype.toString.call(value) : '';
const types = {
  isMap: isKind('Map'), isSet: isKind('Set'), isDate: isKind('Date'), isRegExp: isKind('RegExp'), isNativeError: isKind('Error'),
  isPromise: isKind('Promise'), isTypedArray: isKind('TypedArray'), isArrayBuffer: isKind('ArrayBuffer'), isAnyArrayBuffer: isKind('ArrayBuffer'),
  isDataView: isKind('DataView'), isWeakMap: (value) => value instanceof WeakMap, isWeakSet: (value) => value instanceof WeakSet,
  isProxy: (value) => value !== null && (typeof value === 'object' || typeof value === 'function') && internal.part('kinds')(value) === 'Proxy',
  isUint8Array: (value) => value instanceof Uint8Array, isArrayBufferView: ArrayBuffer.isView,
  isAsyncFunction: (value) => /^async\b/.test(sourceOf(value)), isGeneratorFunction: (value) => /^(?:async\s+)?function\s*\*|^\*/.test(sourceOf(value)),
  isGeneratorObject: (value) => Object.prototype.toString.call(value) === '[object Generator]',
  isSymbolObject: (value) => typeof value === 'object' && value instanceof Symbol, isNumberObject: (value) => typeof value === 'object' && value instanceof Number,
  isStringObject: (value) => typeof value === 'object' && value instanceof String, isBooleanObject: (value) => typeof value === 'object' && value instanceof Boolean,
  isBoxedPrimitive: (value) => typeof value === 'object' && [Number, String, Boolean, Symbol, BigInt].some((type) => value instanceof type),
  isModuleNamespaceObject: (value) => value !== null && typeof value === 'object' && Object.prototype.toString.call(value) === '[object Module]',
};
const STYLES = { bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], red: [31, 39], green: [32, 39], yellow: [33, 39],
  blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39], gray: [90, 39], black: [30, 39] };
function styleText(style, text, { validateStream = true, stream = process.stdout } = {}) {
  const unknown = [style].flat().find((name) => !Object.hasOwn(STYLES, name));
  if (unknown !== undefined) throw internal.typeError('ERR_INVALID_ARG_VALUE', `The argument 'format' must be one of: ${Object.keys(STYLES).join(', ')}. Received '${unknown}'`);
  let out = String(text);
  if (validateStream && !stream.isTTY) return out;
  for (const name of [style].flat()) out = `\x1b[${STYLES[name][0]}m${out}\x1b[${STYLES[name][1]}m`;
  return out;
}
function parseArgs({ args = process.argv.slice(2), options = {}, strict = true, allowPositionals = !strict, ...others } = {}) {
  for (const name of Object.keys(others)) if (others[name]) throw internal.missing(`the option ${name} of util.parseArgs`);
  args = [...args];
  const values = Object.create(null), positionals = [];
  const put = (name, value) => { if (options[name]?.multiple) (values[name] ??= []).push(value); else values[name] = value; };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    if (arg === '--') { positionals.push(...args.slice(at + 1)); break; }
    if (!/^-./.test(arg)) {
      if (!allowPositionals) throw internal.typeError('ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL', `Unexpected argument '${arg}'. This command does not take positional arguments`);
      positionals.push(arg);
      continue;
    }
    let name, value;
    if (arg.startsWith('--')) {
      const cut = arg.indexOf('=');
      [name, value] = cut < 0 ? [arg.slice(2)] : [arg.slice(2, cut), arg.slice(cut + 1)];
    } else {
      name = Object.keys(options).find((one) => options[one].short === arg[1]) ?? arg[1];
      if (arg.length > 2) { if (options[name]?.type === 'string') value = arg.slice(2); else args.splice(at + 1, 0, `-${arg.slice(2)}`); }
    }
    const known = options[name];
    if (!known && strict) throw internal.typeError('ERR_PARSE_ARGS_UNKNOWN_OPTION', `Unknown option '${arg}'`);
    if (known?.type === 'string') {
      value ??= args[++at];
      if (value === undefined) throw internal.typeError('ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '--${name} <value>' argument missing`);
      put(name, value);
    } else {
      if (value !== undefined && strict) throw internal.typeError('ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '--${name}' does not take an argument`);
      put(name, value ?? true);
    }
  }
  for (const [name, { default: value }] of Object.entries(options)) if (value !== undefined && !(name in values)) values[name] = value;
  return { values, positionals };
}

Object.assign(exports, { inspect, format, formatWithOptions, promisify, callbackify, inherits, deprecate, types, styleText, parseArgs,
  isDeepStrictEqual: (a, b) => same(a, b, true), same, isArray: Array.isArray,
  stripVTControlCharacters: (text) => text.replace(/\x1b\[[0-9;]*[A-Za-z]/g, ''),
  debuglog: () => Object.assign(() => {}, { enabled: false }), toUSVString: (text) => String(text).toWellFormed(),
  isString: (value) => typeof value === 'string', isFunction: (value) => typeof value === 'function', isObject: (value) => value !== null && typeof value === 'object',
});
Object.defineProperty(exports, 'same', { enumerable: false });
for (const name of ['TextEncoder', 'TextDecoder']) Object.defineProperty(exports, name, { enumerable: true, get: () => globalThis[name] });
