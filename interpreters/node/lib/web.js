'use strict';
// Globals of the web that Node has too.

class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(text = '') { return sys.encode(String(text), 'utf8'); }
  encodeInto(text, target) {
    let read = 0, written = 0;
    for (const char of text) {
      const bytes = sys.encode(char, 'utf8');
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      read += char.length;
      written += bytes.length;
    }
    return { read, written };
  }
}
class TextDecoder {
  #name; #isFatal; #keepsMark; #decoder;
  constructor(label = 'utf-8', options = {}) {
    const name = { 'utf-8': 'utf8', utf8: 'utf8', 'utf-16le': 'utf16le', latin1: 'latin1', ascii: 'latin1', 'iso-8859-1': 'latin1', 'windows-1252': 'latin1' }[String(label).toLowerCase()];
    if (!name) throw internal.typeError('ERR_ENCODING_NOT_SUPPORTED', `The "${label}" encoding is not supported`, RangeError);
    this.#name = name;
    this.#isFatal = Boolean(options.fatal);
    this.#keepsMark = Boolean(options.ignoreBOM);
  }
  get encoding() { return { utf8: 'utf-8', utf16le: 'utf-16le', latin1: 'windows-1252' }[this.#name]; }
  get fatal() { return this.#isFatal; }
  get ignoreBOM() { return this.#keepsMark; }
  decode(data = new Uint8Array(0), options = {}) {
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    let text;
    if (options.stream || this.#decoder) {
      const { StringDecoder } = internal.part('string_decoder');
      this.#decoder ??= new StringDecoder(this.#name);
      text = options.stream ? this.#decoder.write(bytes) : this.#decoder.end(bytes);
      if (!options.stream) this.#decoder = undefined;
    } else {
      require('buffer');
      try { text = this.#isFatal ? sys.decode(bytes, this.#name, true) : internal.decoded(bytes, this.#name); } catch (error) {
        throw internal.typeError('ERR_ENCODING_INVALID_ENCODED_DATA', error.message);
      }
    }
    return !this.#keepsMark && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
}

class DOMException extends Error {
  #name;
  constructor(message = '', name = 'Error') { super(message); this.#name = typeof name === 'string' ? name : name?.name ?? 'Error'; }
  get name() { return this.#name; }
  get code() { return { DataCloneError: 25, AbortError: 20, TimeoutError: 23, InvalidCharacterError: 5 }[this.#name] ?? 0; }
}

function structuredClone(value, options) {
  if (options?.transfer?.length > 0) throw internal.missing('transfer of structuredClone');
  return clone(value, new Map());
}
function clone(value, seen) {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new DOMException(`${typeof value === 'symbol' ? value.toString() : Function.prototype.toString.call(value)} could not be cloned.`, 'DataCloneError');
  }
  if (value === null || typeof value !== 'object') return value;
  if (seen.has(value)) return seen.get(value);
  const keep = (made) => { seen.set(value, made); return made; };
  const kind = internal.part('kinds')(value);
  switch (kind) {
    case 'Date': return keep(new Date(value.getTime()));
    case 'RegExp': return keep(new RegExp(value.source, value.flags));
    case 'ArrayBuffer': return keep(value.slice(0));
    case 'TypedArray': {
      const type = globalThis[value[Symbol.toStringTag]] ?? Uint8Array;
      return keep(new type(value));
    }
    case 'Map': { const made = keep(new Map()); for (const [key, one] of value) made.set(clone(key, seen), clone(one, seen)); return made; }
    case 'Set': { const made = keep(new Set()); for (const one of value) made.add(clone(one, seen)); return made; }
    case 'Error': {
      const type = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }[value.name] ?? Error;
      const made = keep(new type(value.message));
      internal.define(made, 'stack', value.stack);
      if (Object.hasOwn(value, 'cause')) internal.define(made, 'cause', clone(value.cause, seen));
      return made;
    }
    case 'Promise': case 'WeakMap': case 'WeakSet': case 'WeakRef':
      throw new DOMException(`#<${kind}> could not be cloned.`, 'DataCloneError');
    case 'Array': {
      const made = keep(new Array(value.length));
      for (const key of Object.keys(value)) made[key] = clone(value[key], seen);
      return made;
    }
    default: {
      for (const type of [Number, String, Boolean, BigInt]) if (value instanceof type) return keep(Object(value.valueOf()));
      const made = keep({});
      for (const key of Object.keys(value)) made[key] = clone(value[key], seen);
      return made;
    }
  }
}

class Event {
  constructor(type, options = {}) { this.type = String(type); this.cancelable = Boolean(options.cancelable); this.defaultPrevented = false; this.target = null; this.timeStamp = sys.nanos() / 1e6; }
  preventDefault() { if (this.cancelable) this.defaultPrevented = true; }
  stopPropagation() {}
  stopImmediatePropagation() { this.isStopped = true; }
}
class EventTarget {
  #listeners = new Map();
  addEventListener(type, listener, options) {
    const list = this.#listeners.get(type) ?? [];
    if (!list.some((one) => one.listener === listener)) list.push({ listener, once: Boolean(options?.once) });
    this.#listeners.set(type, list);
  }
  removeEventListener(type, listener) { this.#listeners.set(type, (this.#listeners.get(type) ?? []).filter((one) => one.listener !== listener)); }
  dispatchEvent(event) {
    event.target = this;
    for (const { listener, once } of [...(this.#listeners.get(event.type) ?? [])]) {
      if (once) this.removeEventListener(event.type, listener);
      if (typeof listener === 'function') listener.call(this, event); else listener.handleEvent(event);
      if (event.isStopped) break;
    }
    return !event.defaultPrevented;
  }
}
class AbortSignal extends EventTarget {
  aborted = false;
  reason = undefined;
  onabort = null;
  throwIfAborted() { if (this.aborted) throw this.reason; }
  static abort(reason) { const controller = new AbortController(); controller.abort(reason); return controller.signal; }
  static timeout(milliseconds) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), milliseconds).unref();
    return controller.signal;
  }
}
class AbortController {
  signal = new AbortSignal();
  abort(reason = new DOMException('This operation was aborted', 'AbortError')) {
    if (this.signal.aborted) return;
    this.signal.aborted = true;
    this.signal.reason = reason;
    const event = new Event('abort');
    this.signal.onabort?.(event);
    this.signal.dispatchEvent(event);
  }
}

const origin = Date.now() - sys.nanos() / 1e6;
const marks = new Map();
const performance = {
  now: () => sys.nanos() / 1e6, timeOrigin: origin, toJSON: () => ({ timeOrigin: origin }),
  mark(name) { const entry = { name, entryType: 'mark', startTime: sys.nanos() / 1e6, duration: 0 }; marks.set(name, entry); return entry; },
  measure(name, from, to) {
    const start = marks.get(from)?.startTime ?? 0, end = to === undefined ? sys.nanos() / 1e6 : marks.get(to)?.startTime;
    return { name, entryType: 'measure', startTime: start, duration: end - start };
  },
  clearMarks: () => marks.clear(), clearMeasures() {}, getEntriesByName: (name) => [...marks.values()].filter((entry) => entry.name === name),
};
async function fetch() { throw new TypeError('fetch failed', { cause: internal.missing('fetch', 'it has no network') }); }
Object.assign(exports, {
  TextEncoder, TextDecoder, DOMException, structuredClone, Event, EventTarget, AbortSignal, AbortController, performance,
  fetch,
  atob(text) {
    const cleaned = String(text).replace(/[\t\n\f\r ]/g, '');
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(cleaned) || cleaned.replace(/=+$/, '').length % 4 === 1) {
      throw new DOMException('The string to be decoded is not correctly encoded.', 'InvalidCharacterError');
    }
    return sys.decode(sys.encode(cleaned, 'base64'), 'latin1');
  },
  btoa(text) {
    if (/[^\0-\xff]/.test(text)) throw new DOMException('Invalid character', 'InvalidCharacterError');
    require('buffer');
    return sys.decode(internal.encoded(String(text), 'latin1'), 'base64');
  },
});
