'use strict';
// stream: Readable, Writable, Duplex, Transform and pipeline, in the parts that scripts use.

const EventEmitter = require('events');
const { Buffer } = require('buffer');

class Stream extends EventEmitter {
  pipe(target, options) {
    this.on('data', (piece) => {
      if (target.write(piece) === false && this.pause) {
        this.pause();
        target.once('drain', () => this.resume());
      }
    });
    if (options?.end !== false && target !== process.stdout && target !== process.stderr) this.once('end', () => target.end());
    target.emit('pipe', this);
    return target;
  }
}

function fail(stream, error) {
  stream.destroyed = true;
  process.nextTick(() => {
    if (error) { stream.errored = error; stream.emit('error', error); }
    stream.closed = true;
    stream.emit('close');
  });
}

class Readable extends Stream {
  constructor(options = {}) { super(); initReadable(this, options); }
  static from(iterable, options) {
    const isText = typeof iterable === 'string' || iterable instanceof Uint8Array;
    const iterator = isText ? [iterable][Symbol.iterator]() : (iterable[Symbol.asyncIterator] ?? iterable[Symbol.iterator]).call(iterable);
    let isReading = false;
    return new Readable({ objectMode: true, ...options, async read() {
      if (isReading) return;
      isReading = true;
      try {
        const { value, done } = await iterator.next();
        isReading = false;
        this.push(done ? null : await value);
      } catch (error) { this.destroy(error); }
    } });
  }
}
function initReadable(stream, options) {
  const state = { pieces: [], length: 0, isFlowing: null, hasEnded: false, hasEmittedEnd: false, isReading: false, decoder: null,
    isObject: options.objectMode ?? options.readableObjectMode ?? false, scheduled: false, most: options.highWaterMark ?? 65536 };
  Object.defineProperty(stream, '_readableState', { value: state, enumerable: false });
  stream.readable = true;
  stream.destroyed = false;
  if (options.read) stream._read = options.read;
  if (options.destroy) stream._destroy = options.destroy;
  if (options.encoding) readableMethods.setEncoding.call(stream, options.encoding);
}
const size = (state, piece) => state.isObject ? 1 : piece.length;
const readableMethods = {
  _read() { throw internal.typeError('ERR_METHOD_NOT_IMPLEMENTED', 'The _read() method is not implemented', Error); },
  setEncoding(encoding) {
    const { StringDecoder } = require('string_decoder');
    this._readableState.decoder = new StringDecoder(encoding);
    this.readableEncoding = encoding;
    return this;
  },
  push(piece, encoding) {
    const state = this._readableState;
    state.isReading = false;
    if (piece === null) {
      const rest = state.decoder?.end();
      if (rest) { state.pieces.push(rest); state.length += rest.length; }
      state.hasEnded = true;
    } else if (!state.isObject && piece?.length === 0) {
      /* nothing to add */
    } else {
      if (!state.isObject && typeof piece === 'string' && !state.decoder) piece = Buffer.from(piece, encoding);
      if (state.decoder && typeof piece !== 'string') piece = state.decoder.write(piece);
      if (state.isObject || piece.length > 0) { state.pieces.push(piece); state.length += size(state, piece); }
    }
    schedule(this);
    return !state.hasEnded && state.length < state.most;
  },
  unshift(piece) { this._readableState.pieces.unshift(piece); this._readableState.length += size(this._readableState, piece); },
  read(count) {
    const state = this._readableState;
    if (state.pieces.length === 0) {
      if (state.hasEnded) finishReading(this); else fill(this);
      if (state.pieces.length === 0) return null;
    }
    let out;
    if (state.isObject) out = state.pieces.shift();
    else if (count === undefined || count >= state.length) {
      if (count > state.length && !state.hasEnded) return null;
      out = state.decoder || typeof state.pieces[0] === 'string' ? state.pieces.join('') : Buffer.concat(state.pieces);
      state.pieces.length = 0;
    } else {
      const all = state.decoder ? state.pieces.join('') : Buffer.concat(state.pieces);
      out = all.slice(0, count);
      state.pieces = [all.slice(count)];
    }
    state.length = state.pieces.reduce((sum, piece) => sum + size(state, piece), 0);
    schedule(this);
    return out;
  },
  on(name, listener) {
    EventEmitter.prototype.on.call(this, name, listener);
    if (name === 'data' && this._readableState.isFlowing !== false) this.resume();
    if (name === 'readable') { this._readableState.isFlowing = false; this._readableState.wantsReadable = true; schedule(this); }
    return this;
  },
  addListener(name, listener) { return this.on(name, listener); },
  resume() { this._readableState.isFlowing = true; schedule(this); return this; },
  pause() { this._readableState.isFlowing = false; this.emit('pause'); return this; },
  isPaused() { return this._readableState.isFlowing === false && !this._readableState.wantsReadable; },
  destroy(error) {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.readable = false;
    const done = (other) => fail(this, other ?? error);
    if (this._destroy) this._destroy(error ?? null, done); else done();
    return this;
  },
  [Symbol.asyncIterator]() {
    const stream = this;
    return (async function* () {
      for (;;) {
        const piece = stream.destroyed ? null : stream.read();
        if (piece !== null) { yield piece; continue; }
        if (stream.errored) throw stream.errored;
        if (stream._readableState.hasEmittedEnd || stream.destroyed || (stream._readableState.hasEnded && stream._readableState.pieces.length === 0)) return;
        await new Promise((resolve, reject) => {
          const state = stream._readableState;
          state.isFlowing = false;
          state.wantsReadable = true;
          const names = ['readable', 'end', 'close'];
          const done = () => { for (const name of names) EventEmitter.prototype.off.call(stream, name, done); stream.off('error', failed); resolve(); };
          const failed = (error) => { done(); reject(error); };
          for (const name of names) EventEmitter.prototype.on.call(stream, name, done);
          EventEmitter.prototype.on.call(stream, 'error', failed);
          schedule(stream);
        });
      }
    })();
  },
  async toArray() { const out = []; for await (const piece of this) out.push(piece); return out; },
};
for (const name of ['map', 'filter', 'forEach', 'flatMap', 'take', 'drop', 'reduce']) {
  readableMethods[name] = () => { throw internal.missing(`Readable.${name}`, 'use for await'); };
}
function fill(stream) {
  const state = stream._readableState;
  if (state.isReading || state.hasEnded || stream.destroyed) return;
  state.isReading = true;
  stream._read(state.most);
}
function finishReading(stream) {
  const state = stream._readableState;
  if (state.hasEmittedEnd || state.pieces.length > 0) return;
  state.hasEmittedEnd = true;
  process.nextTick(() => {
    stream.readable = false;
    stream.readableEnded = true;
    stream.emit('end');
    if (stream._writableState && !stream._writableState.hasFinished) return;
    stream.destroyed = true;
    stream.emit('close');
  });
}
function schedule(stream) {
  const state = stream._readableState;
  if (state.scheduled) return;
  state.scheduled = true;
  process.nextTick(() => {
    state.scheduled = false;
    if (stream.destroyed) return;
    if (state.isFlowing) {
      while (state.isFlowing && state.pieces.length > 0) {
        const piece = state.pieces.shift();
        state.length -= size(state, piece);
        stream.emit('data', piece);
      }
      if (state.isFlowing && state.pieces.length === 0) { if (state.hasEnded) finishReading(stream); else fill(stream); }
    } else if (state.wantsReadable) {
      if (state.pieces.length > 0) stream.emit('readable');
      else if (state.hasEnded) { stream.emit('readable'); finishReading(stream); }
      else fill(stream);
    }
  });
}

class Writable extends Stream {
  constructor(options = {}) { super(); initWritable(this, options); }
}
function initWritable(stream, options) {
  const state = { waiting: [], isWriting: false, isEnding: false, hasFinished: false, length: 0, most: options.highWaterMark ?? 16384,
    isObject: options.objectMode ?? options.writableObjectMode ?? false, decodes: options.decodeStrings !== false, needsDrain: false };
  Object.defineProperty(stream, '_writableState', { value: state, enumerable: false });
  stream.writable = true;
  stream.destroyed = false;
  if (options.write) stream._write = options.write;
  if (options.writev) stream._writev = options.writev;
  if (options.final) stream._final = options.final;
  if (options.destroy) stream._destroy = options.destroy;
}
const writableMethods = {
  _write(piece, encoding, done) { done(internal.typeError('ERR_METHOD_NOT_IMPLEMENTED', 'The _write() method is not implemented', Error)); },
  write(piece, encoding, done) {
    if (typeof encoding === 'function') [encoding, done] = ['utf8', encoding];
    const state = this._writableState;
    if (piece === null) throw internal.typeError('ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
    if (!state.isObject && typeof piece !== 'string' && !(piece instanceof Uint8Array)) {
      throw internal.typeError('ERR_INVALID_ARG_TYPE', `The "chunk" argument must be of type string or an instance of Buffer or Uint8Array. Received ${internal.received(piece)}`);
    }
    if (state.isEnding) {
      const error = internal.typeError('ERR_STREAM_WRITE_AFTER_END', 'write after end', Error);
      if (done) process.nextTick(() => done(error));
      fail(this, error);
      return false;
    }
    if (typeof piece === 'string' && !state.isObject && state.decodes) { piece = Buffer.from(piece, encoding); encoding = 'buffer'; }
    const length = state.isObject ? 1 : piece.length;
    state.length += length;
    state.waiting.push({ piece, encoding: encoding ?? 'utf8', done, length });
    writeNext(this);
    if (state.length >= state.most) { state.needsDrain = true; return false; }
    return true;
  },
  end(piece, encoding, done) {
    if (typeof piece === 'function') [piece, done] = [undefined, piece];
    else if (typeof encoding === 'function') [encoding, done] = [undefined, encoding];
    if (piece !== undefined && piece !== null) this.write(piece, encoding);
    if (done) this.once('finish', done);
    this._writableState.isEnding = true;
    this.writableEnded = true;
    finishWriting(this);
    return this;
  },
  cork() {},
  uncork() {},
  setDefaultEncoding() { return this; },
  destroy: readableMethods.destroy,
};
function writeNext(stream) {
  const state = stream._writableState;
  while (!state.isWriting && state.waiting.length > 0 && !stream.destroyed) {
    const { piece, encoding, done, length } = state.waiting.shift();
    state.isWriting = true;
    let isSync = true;
    stream._write(piece, encoding, (error) => {
      state.isWriting = false;
      state.length -= length;
      if (error) { if (done) done(error); fail(stream, error); return; }
      if (done) process.nextTick(done);
      if (state.waiting.length === 0 && state.needsDrain && !state.isEnding) { state.needsDrain = false; process.nextTick(() => stream.emit('drain')); }
      if (!isSync) writeNext(stream);
      if (state.isEnding) finishWriting(stream);
    });
    isSync = false;
  }
}
function finishWriting(stream) {
  const state = stream._writableState;
  if (state.hasFinished || state.isWriting || state.waiting.length > 0 || stream.destroyed) return;
  state.hasFinished = true;
  const done = (error) => {
    if (error) { fail(stream, error); return; }
    process.nextTick(() => {
      stream.writable = false;
      stream.writableFinished = true;
      stream.emit('finish');
      if (!stream._readableState || stream._readableState.hasEmittedEnd) { stream.destroyed = true; stream.emit('close'); }
    });
  };
  if (stream._final) stream._final(done); else done();
}

class Duplex extends Stream {
  constructor(options = {}) { super(); initReadable(this, options); initWritable(this, options); }
}
class Transform extends Duplex {
  constructor(options = {}) {
    super(options);
    if (options.transform) this._transform = options.transform;
    if (options.flush) this._flush = options.flush;
  }
  _read() {}
  _transform(piece, encoding, done) { done(internal.typeError('ERR_METHOD_NOT_IMPLEMENTED', 'The _transform() method is not implemented', Error)); }
  _write(piece, encoding, done) {
    this._transform(piece, encoding, (error, out) => { if (!error && out !== undefined && out !== null) this.push(out); done(error); });
  }
  _final(done) {
    if (!this._flush) { this.push(null); done(); return; }
    this._flush((error, out) => { if (!error && out !== undefined && out !== null) this.push(out); if (!error) this.push(null); done(error); });
  }
}
class PassThrough extends Transform {
  _transform(piece, encoding, done) { done(null, piece); }
}
const adopt = (type, methods) => { for (const key of Reflect.ownKeys(methods)) if (!Object.hasOwn(type.prototype, key)) internal.define(type.prototype, key, methods[key]); };
adopt(Readable, readableMethods);
adopt(Writable, writableMethods);
adopt(Duplex, readableMethods);
adopt(Duplex, writableMethods);
Object.defineProperty(Writable, Symbol.hasInstance, { value: (object) =>
  object !== null && typeof object === 'object' && (Function.prototype[Symbol.hasInstance].call(Writable, object) || object instanceof Duplex) });

function finished(stream, done) {
  if (typeof done !== 'function') done = arguments[2];
  let isDone = false;
  const once = (error) => { if (!isDone) { isDone = true; done(error); } };
  stream.once('error', once);
  const hasReadable = Boolean(stream._readableState), hasWritable = Boolean(stream._writableState);
  let left = Number(hasReadable) + Number(hasWritable);
  if (hasReadable) stream.once('end', () => { if (--left === 0) once(); });
  if (hasWritable) stream.once('finish', () => { if (--left === 0) once(); });
}
function pipeline(...streams) {
  const done = typeof streams.at(-1) === 'function' && !streams.at(-1)[Symbol.asyncIterator] && streams.length > 2 ? streams.pop() : () => {};
  streams = streams.flat();
  let isDone = false;
  const once = (error) => {
    if (isDone) return;
    isDone = true;
    if (error) for (const stream of streams) stream.destroy?.();
    done(error);
  };
  let at = streams[0];
  if (typeof at === 'function') at = at();
  if (!at._readableState) at = Readable.from(at);
  at.once('error', once);
  for (const next of streams.slice(1)) {
    if (typeof next === 'function') {
      const result = next(at);
      if (result?.[Symbol.asyncIterator]) at = Readable.from(result);
      else { result.then(() => once(), once); return at; }
    } else at = at.pipe(next);
    at.once('error', once);
  }
  if (at === process.stdout || at === process.stderr) streams.at(-2).once('end', () => once());
  else if (at._writableState) at.once('finish', () => once());
  else at.once('end', () => once());
  return at;
}
const promises = {
  pipeline: (...streams) => new Promise((resolve, reject) => pipeline(...streams, (error) => error ? reject(error) : resolve())),
  finished: (stream) => new Promise((resolve, reject) => finished(stream, (error) => error ? reject(error) : resolve())),
};
module.exports = Object.assign(Stream, { Stream, Readable, Writable, Duplex, Transform, PassThrough, finished, pipeline, promises });
