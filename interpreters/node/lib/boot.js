'use strict';
// The start: the parts of the library, which are compiled on first use, and the globals that lead to them.

const internal = {};
const parts = new Map();

/** Returns a part by the name of its file. */
function part(name) {
  let exports = parts.get(name);
  if (exports === undefined) {
    const module = { exports: {} };
    parts.set(name, module.exports);
    sys.part(name)(module.exports, builtin, module, sys, internal);
    exports = module.exports;
    parts.set(name, exports);
  }
  return exports;
}

/** Node's modules that are not a part of the same name. */
const ALIASES = {
  'assert/strict': () => part('assert').strict,
  'fs/promises': () => part('fs_promises'),
  module: () => part('modules').Module,
  'path/posix': () => part('path'),
  perf_hooks: () => ({ performance: globalThis.performance }),
  process: () => part('process'),
  'readline/promises': () => part('readline').promises,
  'stream/promises': () => part('stream').promises,
  timers: () => part('loop').timers,
  'timers/promises': () => part('timers'),
  'util/types': () => part('util').types,
};
const NAMED = ['assert', 'buffer', 'child_process', 'console', 'crypto', 'events', 'fs', 'os', 'path', 'querystring',
  'readline', 'stream', 'string_decoder', 'test', 'url', 'util'];
function builtin(name) { return Object.hasOwn(ALIASES, name) ? ALIASES[name]() : part(name); }

function define(target, name, value) {
  Object.defineProperty(target, name, { configurable: true, writable: true, enumerable: false, value });
}
/** Defines a property that is computed on first use. */
function lazy(target, name, make, enumerable = false) {
  Object.defineProperty(target, name, {
    configurable: true, enumerable,
    get() {
      const value = make();
      Object.defineProperty(target, name, { configurable: true, writable: true, enumerable, value });
      return value;
    },
    set(value) { Object.defineProperty(target, name, { configurable: true, writable: true, enumerable, value }); },
  });
}

Object.assign(internal, { part, builtin, define, lazy, publicModules: new Set([...NAMED, ...Object.keys(ALIASES)]) });

define(globalThis, 'global', globalThis);
part('errors');
const loop = part('loop');
lazy(globalThis, 'process', () => part('process'));
lazy(globalThis, 'console', () => part('console'));
lazy(globalThis, 'Buffer', () => part('buffer').Buffer);
lazy(globalThis, 'URL', () => part('url').URL);
lazy(globalThis, 'URLSearchParams', () => part('url').URLSearchParams);
lazy(globalThis, 'crypto', () => part('crypto').webcrypto);
for (const name of ['TextEncoder', 'TextDecoder', 'structuredClone', 'performance', 'atob', 'btoa', 'AbortController',
  'AbortSignal', 'Event', 'EventTarget', 'DOMException', 'fetch']) lazy(globalThis, name, () => part('web')[name]);

// The engine orders texts and writes numbers and dates without a locale; Node's is English.
for (const [prototype, names] of [[String.prototype, ['localeCompare']], [Number.prototype, ['toLocaleString']],
  [BigInt.prototype, ['toLocaleString']], [Date.prototype, ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']]]) {
  const kind = prototype.constructor.name;
  for (const name of names) {
    define(prototype, name, { [name](...args) { return part('locale')[kind](name, this, args); } }[name]);
  }
}

// The engine leaves out the zone's name, which is always this one here.
for (const name of ['toString', 'toTimeString']) {
  const plain = Date.prototype[name];
  define(Date.prototype, name, { [name]() {
    const text = plain.call(this);
    return text.endsWith('GMT+0000') ? `${text} (Coordinated Universal Time)` : text;
  } }[name]);
}

// The functions that the engine calls.
return {
  main: (...task) => part('modules').main(...task),
  locate: (specifier, referrer) => part('modules').locate(specifier, referrer),
  read: (name, type) => part('modules').read(name, type),
  ...loop.engine,
};
