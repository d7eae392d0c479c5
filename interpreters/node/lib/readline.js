'use strict';
// readline: lines of a stream.

const EventEmitter = require('events');

class Interface extends EventEmitter {
  constructor(options, output) {
    super();
    if (options.on) options = { input: options, output };
    Object.defineProperty(this, 'state', { enumerable: false, value: { rest: [], questions: [], lines: new internal.Queue(), prompt: options.prompt ?? '> ', output: options.output, isPaused: false } });
    this.input = options.input;
    this.output = options.output;
    this.closed = false;
    this.terminal = false;
    this.line = '';
    const { StringDecoder } = require('string_decoder');
    const decoder = new StringDecoder('utf8');
    this.input.on('data', (piece) => this.feed(typeof piece === 'string' ? piece : decoder.write(piece)));
    this.input.on('end', () => { this.flush(); const rest = this.state.rest.join('').replace(/\r$/, ''); this.state.rest = []; if (rest !== '') this.give(rest); this.close(); });
    this.input.on('error', (error) => this.emit('error', error));
  }
  feed(text) {
    const { state } = this;
    // A long line comes in many pieces: they are joined when it ends.
    if (!/[\n\r]/.test(text) && !state.rest.at(-1)?.endsWith('\r')) { state.rest.push(text); return; }
    const lines = (state.rest.join('') + text).split(/\r\n|\n|\r(?!$)/);
    state.rest = [lines.pop()];
    for (const line of lines) state.lines.push(line);
    this.flush();
  }
  flush() {
    const { state } = this;
    while (state.lines.length > 0 && !state.isPaused && !this.closed) this.give(state.lines.shift());
  }
  give(line) {
    const question = this.state.questions.shift();
    if (question) question(line); else this.emit('line', line);
  }
  question(text, options, done) {
    if (typeof options === 'function') done = options;
    this.state.output?.write(text);
    this.state.questions.push(done);
    this.resume();
  }
  setPrompt(prompt) { this.state.prompt = prompt; }
  getPrompt() { return this.state.prompt; }
  prompt() { this.state.output?.write(this.state.prompt); }
  write(text) { if (text) this.feed(text); }
  pause() { this.state.isPaused = true; this.input.pause(); this.emit('pause'); return this; }
  resume() { this.state.isPaused = false; this.flush(); this.input.resume(); this.emit('resume'); return this; }
  close() {
    if (this.closed) return;
    this.closed = true;
    this.input.pause?.();
    this.emit('close');
  }
  [Symbol.asyncIterator]() {
    const waiting = [], ready = new internal.Queue();
    let isDone = false;
    this.on('line', (line) => { if (waiting.length > 0) waiting.shift()({ value: line, done: false }); else ready.push(line); });
    this.on('close', () => { isDone = true; for (const one of waiting) one({ value: undefined, done: true }); });
    const next = () => {
      if (ready.length > 0) return Promise.resolve({ value: ready.shift(), done: false });
      if (isDone || this.closed) return Promise.resolve({ value: undefined, done: true });
      return new Promise((resolve) => waiting.push(resolve));
    };
    return { next, return: () => { this.close(); return Promise.resolve({ value: undefined, done: true }); }, [Symbol.asyncIterator]() { return this; } };
  }
}
class Promised extends Interface {
  question(text) { return new Promise((resolve) => super.question(text, resolve)); }
}
const refuse = (name) => () => { throw internal.missing(`readline.${name}`, 'standard output is not a terminal'); };
Object.assign(exports, {
  Interface,
  createInterface: (...args) => new Interface(...args),
  clearLine: refuse('clearLine'), cursorTo: refuse('cursorTo'), moveCursor: refuse('moveCursor'), emitKeypressEvents: refuse('emitKeypressEvents'),
  promises: { Interface: Promised, createInterface: (...args) => new Promised(...args) },
});
