'use strict';
// events: EventEmitter and waiting for events.

class EventEmitter {
  constructor() { EventEmitter.init(this); }
  static init(emitter) {
    if (emitter._events === undefined || emitter._events === Object.getPrototypeOf(emitter)._events) {
      emitter._events = Object.create(null);
      emitter._eventsCount = 0;
    }
    emitter._maxListeners ??= undefined;
  }
  on(name, listener) { return add(this, name, listener, false); }
  addListener(name, listener) { return add(this, name, listener, false); }
  prependListener(name, listener) { return add(this, name, listener, true); }
  once(name, listener) { check(listener); return this.on(name, onceOf(this, name, listener)); }
  prependOnceListener(name, listener) { check(listener); return add(this, name, onceOf(this, name, listener), true); }
  off(name, listener) {
    check(listener);
    const list = this._events?.[name];
    if (!list) return this;
    const at = list.findLastIndex((one) => one === listener || one.listener === listener);
    if (at < 0) return this;
    const [removed] = list.splice(at, 1);
    if (list.length === 0) { delete this._events[name]; this._eventsCount--; }
    if (this._events.removeListener) this.emit('removeListener', name, removed.listener ?? removed);
    return this;
  }
  removeListener(name, listener) { return this.off(name, listener); }
  removeAllListeners(name) {
    if (name === undefined) { this._events = Object.create(null); this._eventsCount = 0; }
    else if (this._events?.[name]) { delete this._events[name]; this._eventsCount--; }
    return this;
  }
  emit(name, ...args) {
    const list = this._events?.[name];
    if (!list) {
      if (name !== 'error') return false;
      if (args[0] instanceof Error) throw args[0];
      const error = internal.typeError('ERR_UNHANDLED_ERROR',
        `Unhandled error. (${typeof args[0] === 'string' ? `'${args[0]}'` : internal.part('inspect').inspect(args[0])})`, Error);
      error.context = args[0];
      throw error;
    }
    for (const listener of [...list]) {
      const result = listener.apply(this, args);
      if (this.capturesRejections && result?.then) result.then(undefined, (error) => this.emit('error', error));
    }
    return true;
  }
  listeners(name) { return (this._events?.[name] ?? []).map((one) => one.listener ?? one); }
  rawListeners(name) { return [...(this._events?.[name] ?? [])]; }
  listenerCount(name) { return (this._events?.[name] ?? []).length; }
  eventNames() { return Reflect.ownKeys(this._events ?? {}); }
  setMaxListeners(count) { this._maxListeners = count; return this; }
  getMaxListeners() { return this._maxListeners ?? EventEmitter.defaultMaxListeners; }
}
function check(listener) {
  if (typeof listener !== 'function') {
    throw internal.typeError('ERR_INVALID_ARG_TYPE',
      `The "listener" argument must be of type function. Received ${internal.received(listener)}`);
  }
}
function add(emitter, name, listener, isFirst) {
  check(listener);
  EventEmitter.init(emitter);
  if (emitter._events.newListener) emitter.emit('newListener', name, listener.listener ?? listener);
  const list = emitter._events[name] ??= (emitter._eventsCount++, []);
  if (isFirst) list.unshift(listener); else list.push(listener);
  return emitter;
}
function onceOf(emitter, name, listener) {
  const once = function (...args) { emitter.off(name, once); return listener.apply(this, args); };
  once.listener = listener;
  return once;
}
/** Old code calls EventEmitter as a function on its own object. */
const Callable = new Proxy(EventEmitter, { apply(target, self) { EventEmitter.init(self); } });
EventEmitter.prototype.constructor = Callable;
EventEmitter.EventEmitter = Callable;
EventEmitter.defaultMaxListeners = 10;
EventEmitter.errorMonitor = Symbol('events.errorMonitor');
EventEmitter.once = (emitter, name) => new Promise((resolve, reject) => {
  const failed = (error) => { emitter.off?.(name, done); reject(error); };
  const done = (...args) => { emitter.off?.('error', failed); resolve(args); };
  if (emitter.once) {
    emitter.once(name, done);
    if (name !== 'error') emitter.once('error', failed);
  } else emitter.addEventListener(name, (event) => resolve([event]), { once: true });
});
EventEmitter.on = (emitter, name) => {
  const events = [], waiting = [];
  let failure;
  const onEvent = (...args) => { if (waiting.length > 0) waiting.shift().resolve({ value: args, done: false }); else events.push(args); };
  const onError = (error) => { if (waiting.length > 0) waiting.shift().reject(error); else failure = error; };
  emitter.on(name, onEvent);
  emitter.on('error', onError);
  return {
    next() {
      if (events.length > 0) return Promise.resolve({ value: events.shift(), done: false });
      if (failure) { const error = failure; failure = undefined; return Promise.reject(error); }
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return() {
      emitter.off(name, onEvent);
      emitter.off('error', onError);
      for (const one of waiting) one.resolve({ value: undefined, done: true });
      return Promise.resolve({ value: undefined, done: true });
    },
    throw(error) { onError(error); return Promise.resolve(); },
    [Symbol.asyncIterator]() { return this; },
  };
};
EventEmitter.listenerCount = (emitter, name) => emitter.listenerCount(name);
module.exports = Callable;
