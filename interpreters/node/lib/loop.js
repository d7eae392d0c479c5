'use strict';
// The order of events: ticks, timers, pending operations, immediates, signals, and the end.

const { define } = internal;
const milliseconds = () => sys.nanos() / 1e6;

/** A queue that does not move its items. */
class Queue {
  #items = [];
  #first = 0;
  get first() { return this.#items[this.#first]; }
  get length() { return this.#items.length - this.#first; }
  push(item) { this.#items.push(item); }
  shift() {
    const item = this.#items[this.#first];
    this.#items[this.#first++] = undefined;
    if (this.#first === this.#items.length) { this.#items = []; this.#first = 0; }
    return item;
  }
}
internal.Queue = Queue;

// Timers: a heap of dates. A timer that is stopped or set again leaves its old date there, which is skipped.
const heap = [];
const live = new Map();
let count = 0;
let awaited = 0;   // timers that keep the process going
// Timers count from the loop's last look at the clock, so that those of one turn keep their order.
let loopTime = 0;

const before = (a, b) => a.at < b.at || (a.at === b.at && a.order < b.order);
function pushDate(date) {
  let at = heap.push(date) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!before(heap[at], heap[parent])) break;
    [heap[at], heap[parent]] = [heap[parent], heap[at]];
    at = parent;
  }
}
function popDate() {
  const first = heap[0], last = heap.pop();
  if (heap.length > 0) {
    heap[0] = last;
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < heap.length && before(heap[child], heap[least])) least = child;
      if (least === at) break;
      [heap[at], heap[least]] = [heap[least], heap[at]];
      at = least;
    }
  }
  return first;
}
function nextDate() {
  while (heap.length > 0 && heap[0].timer.date !== heap[0]) popDate();
  return heap[0];
}

class Timeout {
  constructor(callback, delay, isRepeated, args) {
    delay = Number(delay);
    if (!(delay >= 1 && delay <= 2147483647)) delay = 1;
    this._idleTimeout = Math.trunc(delay);
    this._onTimeout = callback;
    this._repeat = isRepeated ? this._idleTimeout : null;
    this._destroyed = false;
    for (const [name, value] of [['args', args], ['isRef', true], ['number', ++count], ['date', undefined]]) define(this, name, value);
    live.set(this.number, this);
    awaited++;
    this.schedule();
  }
  ref() { if (!this.isRef) { this.isRef = true; if (!this._destroyed) awaited++; } return this; }
  unref() { if (this.isRef) { this.isRef = false; if (!this._destroyed) awaited--; } return this; }
  hasRef() { return this.isRef; }
  refresh() {
    if (this._destroyed && this._onTimeout !== null) {
      this._destroyed = false;
      live.set(this.number, this);
      if (this.isRef) awaited++;
    }
    if (!this._destroyed) this.schedule();
    return this;
  }
  close() { clearTimeout(this); return this; }
  [Symbol.toPrimitive]() { return this.number; }
  schedule() {
    this.date = { at: loopTime + this._idleTimeout, order: ++count, timer: this };
    pushDate(this.date);
  }
  stop() {
    if (this._destroyed) return;
    this._destroyed = true;
    this.date = undefined;
    live.delete(this.number);
    if (this.isRef) awaited--;
  }
}
class Immediate {
  constructor(callback, args) {
    this._onImmediate = callback;
    define(this, 'args', args);
    define(this, 'isRef', true);
  }
  ref() { if (!this.isRef) { this.isRef = true; if (this._onImmediate) refImmediates++; } return this; }
  unref() { if (this.isRef) { this.isRef = false; if (this._onImmediate) refImmediates--; } return this; }
  hasRef() { return this.isRef; }
}
let immediates = [];
let refImmediates = 0;

const callbackOf = (callback) => internal.mustBe(callback, 'function', 'callback');
const timers = {
  setTimeout: function setTimeout(callback, delay, ...args) { return new Timeout(callbackOf(callback), delay, false, args); },
  setInterval: function setInterval(callback, delay, ...args) { return new Timeout(callbackOf(callback), delay, true, args); },
  setImmediate: function setImmediate(callback, ...args) {
    const immediate = new Immediate(callbackOf(callback), args);
    immediates.push(immediate);
    refImmediates++;
    return immediate;
  },
  clearTimeout: function clearTimeout(timer) {
    const found = timer instanceof Timeout ? timer : live.get(Number(timer));
    if (found) { found.stop(); found._onTimeout = null; }
  },
  clearInterval: function clearInterval(timer) { clearTimeout(timer); },
  clearImmediate: function clearImmediate(immediate) {
    if (immediate?._onImmediate) { immediate._onImmediate = null; if (immediate.isRef) refImmediates--; }
  },
};
const { clearTimeout } = timers;
function queueMicrotask(callback) {
  callbackOf(callback);
  Promise.resolve().then(() => { try { callback(); } catch (error) { engine.uncaught(error); } });
}
for (const [name, value] of Object.entries({ ...timers, queueMicrotask })) {
  Object.defineProperty(globalThis, name, { configurable: true, writable: true, enumerable: true, value });
}

// The other pending operations.
const ticks = new Queue();
const finished = new Queue();
const pollers = new Set();
internal.nextTick = (callback, args) => ticks.push([callbackOf(callback), args]);
/** Adds a pending operation; `poll(milliseconds)` returns true when it made progress. */
internal.addPoller = (poll) => { pollers.add(poll); };
internal.removePoller = (poll) => { pollers.delete(poll); };
/** Calls back in a turn of its own, as Node does when a file operation is done. */
internal.later = (callback) => finished.push({ callback, turn });

/** The signals that scripts handle; the kernel keeps them until they are polled. */
const caught = new Set();
internal.catchSignal = (name, isCaught) => {
  if (caught.has(name) === isCaught) return;
  sys.onSignal(name, isCaught);
  if (isCaught) caught.add(name); else caught.delete(name);
};
let signals = [];

const hasWork = () => finished.length > 0 || pollers.size > 0 || refImmediates > 0 || awaited > 0;

// One callback at most in a step, so that ticks and promises come between any two.
let batch = [], batchAt = 0;
let phase = 'timers';
let turn = 0;
let isTimed = false;
function step() {
  for (;;) {
    if (caught.size > 0) signals.push(...sys.pending());
    if (signals.length > 0) {
      const name = signals.shift();
      process.emit(name, name, process.signalNumbers[name]);
      return true;
    }
    if (phase === 'timers') {
      const date = nextDate();
      if (!isTimed) { loopTime = Math.floor(milliseconds()); isTimed = true; }
      if (date && date.at <= loopTime) { fire(date.timer); return true; }
      isTimed = false;
      phase = 'finished';
      turn++;
    }
    if (phase === 'finished') {
      // An operation that was requested in this turn or the last is not done yet: Node passes it to other threads
      // first.
      if (finished.length > 0 && finished.first.turn + 1 < turn) { finished.shift().callback(); return true; }
      phase = 'poll';
    }
    if (phase === 'poll') {
      phase = 'immediates';
      const progress = poll();
      batch = immediates;
      batchAt = 0;
      immediates = [];
      if (progress) return true;
    }
    while (batchAt < batch.length) {
      const immediate = batch[batchAt++];
      const callback = immediate._onImmediate;
      if (!callback) continue;
      immediate._onImmediate = null;
      if (immediate.isRef) refImmediates--;
      callback(...immediate.args);
      return true;
    }
    phase = 'timers';
    if (!hasWork()) return false;
  }
}
function fire(timer) {
  popDate();
  if (timer._repeat === null) timer.stop(); else timer.date = undefined;
  try { timer._onTimeout.apply(timer, timer.args); } finally {
    if (timer._repeat !== null && !timer._destroyed && timer.date === undefined) timer.schedule();
  }
}
/** Milliseconds of a poll. The kernel waits for one operation at a time: one without a limit, several in turns. */
const TURN = 2;
const LONG = 1e9;
function poll() {
  const date = nextDate();
  const isIdle = immediates.length === 0 && finished.length === 0;
  const left = date ? Math.max(0, date.at - milliseconds()) : LONG;
  if (pollers.size === 0) {
    if (isIdle && awaited > 0) sys.sleep(left);
    return false;
  }
  const wait = !isIdle ? 0 : pollers.size === 1 ? left : Math.min(left, TURN);
  let progress = false;
  for (const one of [...pollers]) if (pollers.has(one) && one(progress ? 0 : wait)) progress = true;
  return progress;
}

// The end.
let isExiting = false;
function exitCode() {
  const code = process.exitCode;
  return code === undefined || code === null ? 0 : Number(code) & 255;
}
/** Emits `exit` once, and returns the exit code. */
internal.exit = (code) => {
  if (code !== undefined) process.exitCode = code;
  if (!isExiting) { isExiting = true; process.emit('exit', Number(process.exitCode ?? 0)); }
  sys.exit(exitCode());
};
internal.mainPromise = undefined;

const rejected = new Map();
const ABORTED = 134;
function fatal(error, origin) {
  if (error?.name === 'InternalError' && error.message === 'out of memory') {
    sys.write(2, ['FATAL ERROR: JavaScript heap out of memory', ...internal.frames(error), ''].join('\n'));
    sys.exit(ABORTED);
  }
  sys.write(2, internal.part('inspect').report(error, origin));
  process.exitCode = 1;
  if (!isExiting) {
    isExiting = true;
    process.emit('exit', process.exitCode);
  }
  sys.exit(exitCode() || 1);
}
const handles = (name) => process.listenerCount(name) > 0;

const engine = {
  step,
  ticks() { while (ticks.length > 0) { const [callback, args] = ticks.shift(); callback(...args); } },
  hasTicks: () => ticks.length > 0,
  onRejection(promise, reason, isHandled) { if (isHandled) rejected.delete(promise); else rejected.set(promise, reason); },
  /** Handles unhandled rejections; returns true if there were any. */
  rejections() {
    if (rejected.size === 0) return false;
    const all = [...rejected];
    rejected.clear();
    for (const [promise, reason] of all) {
      if (handles('unhandledRejection')) process.emit('unhandledRejection', reason, promise);
      else if (handles('uncaughtException')) process.emit('uncaughtException', reason, 'unhandledRejection');
      else fatal(reason, 'rejection');
    }
    return true;
  },
  uncaught(error) {
    if (!isExiting && handles('uncaughtException')) process.emit('uncaughtException', error, 'uncaughtException');
    else fatal(error);
  },
  beforeExit() {
    if (internal.mainPromise && sys.promise(internal.mainPromise, {}) === 'pending') {
      sys.write(2, 'Warning: Detected unsettled top-level await\n');
      process.exitCode ??= 13;
      internal.mainPromise = undefined;
      return false;
    }
    process.emit('beforeExit', exitCode());
    return hasWork() || ticks.length > 0;
  },
  finish() {
    if (!isExiting) {
      isExiting = true;
      try { process.emit('exit', Number(process.exitCode ?? 0)); } catch (error) { fatal(error); }
    }
    return exitCode();
  },
  begin() { loopTime = Math.floor(milliseconds()); },
};
Object.assign(exports, { timers, engine });
