'use strict';
// process: the process of the script.

const EventEmitter = require('events');
const { define, lazy } = internal;

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGBUS: 7, SIGFPE: 8, SIGKILL: 9,
  SIGUSR1: 10, SIGSEGV: 11, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15, SIGCHLD: 17, SIGCONT: 18, SIGSTOP: 19,
  SIGTSTP: 20, SIGTTIN: 21, SIGTTOU: 22, SIGWINCH: 28 };

const process = Object.create(Object.create(EventEmitter.prototype, {
  [Symbol.toStringTag]: { value: 'process', configurable: true },
}));
EventEmitter.init(process);
for (const name of ['_events', '_eventsCount', '_maxListeners']) define(process, name, process[name]);
module.exports = process;

// The kernel is told about a handler for a signal; without one the signal has its default effect.
const watch = (name, isAdded) => {
  if (!Object.hasOwn(SIGNALS, name) || name === 'SIGCHLD' || name === 'SIGWINCH' || name === 'SIGCONT') return;
  const left = process.listenerCount(name);
  try { internal.catchSignal(name, isAdded || left > 0); } catch (error) { throw internal.systemError(error, 'uv_signal_start'); }
};
EventEmitter.prototype.on.call(process, 'newListener', (name) => watch(name, true));
EventEmitter.prototype.on.call(process, 'removeListener', (name) => watch(name, false));

let code;
const checked = (value) => {
  if (value === undefined || value === null || Number.isInteger(value)) return value;
  if (typeof value === 'string' && /^[+-]?\d+$/.test(value.trim())) return value;
  throw internal.typeError('ERR_INVALID_ARG_TYPE',
    `The "code" argument must be of type number. Received ${internal.received(value)}`);
};
const origin = 1e12;   // hrtime counts from an arbitrary moment, not from the start
Object.assign(process, {
  version: sys.version,
  versions: { node: sys.version.slice(1), quickjs: '0.16' },
  arch: 'wasm32', platform: 'linux', release: { name: 'node', lts: 'Iron' }, title: 'node',
  argv: [], execArgv: [], execPath: '/bin/node', config: { target_defaults: {}, variables: {} }, features: {},
  cwd: () => sys.cwd(),
  chdir(path) {
    internal.mustBe(path, 'string', 'directory');
    try { sys.chdir(path); } catch (error) { throw internal.systemError(error, 'chdir', sys.cwd(), path); }
  },
  exit(code) { internal.exit(checked(code)); },
  reallyExit(code) { sys.exit(Number(code ?? 0)); },
  abort() { sys.kill(sys.pid(), 'SIGABRT'); sys.exit(134); },
  nextTick(callback, ...args) { internal.nextTick(callback, args); },
  uptime: () => sys.nanos() / 1e9,
  hrtime: Object.assign((since) => {
    const now = sys.nanos() + origin;
    const seconds = Math.floor(now / 1e9), nanos = Math.floor(now % 1e9);
    if (since === undefined) return [seconds, nanos];
    const difference = (seconds - since[0]) * 1e9 + (nanos - since[1]);
    return [Math.floor(difference / 1e9), difference % 1e9];
  }, { bigint: () => BigInt(Math.floor(sys.nanos() + origin)) }),
  memoryUsage: Object.assign(() => {
    const bytes = sys.memory();
    return { rss: bytes, heapTotal: bytes, heapUsed: bytes, external: 0, arrayBuffers: 0 };
  }, { rss: () => sys.memory() }),
  cpuUsage(since) {
    const user = Math.floor(sys.cpu() / 1e3);
    return { user: user - (since?.user ?? 0), system: 0 };
  },
  umask(mask) {
    const old = sys.umask(mask === undefined ? 0 : typeof mask === 'string' ? parseInt(mask, 8) : mask);
    if (mask === undefined) sys.umask(old);
    return old;
  },
  kill(pid, signal = 'SIGTERM') {
    if (typeof signal === 'string' && !Object.hasOwn(SIGNALS, signal)) {
      throw internal.typeError('ERR_UNKNOWN_SIGNAL', `Unknown signal: ${signal}`);
    }
    try { sys.kill(Number(pid), String(signal)); } catch (error) {
      const made = internal.systemError(error, 'kill');
      if (made !== error) made.message = `kill ${made.code}`;
      throw made;
    }
    return true;
  },
  getuid: () => 1000, geteuid: () => 1000, getgid: () => 1000, getegid: () => 1000, getgroups: () => [1000],
  emitWarning(warning, type = 'Warning', code) {
    if (type !== null && typeof type === 'object') ({ type = 'Warning', code } = type);
    const error = warning instanceof Error ? warning : Object.assign(new Error(String(warning)), { name: type });
    if (code !== undefined) error.code = code;
    internal.nextTick(() => process.emit('warning', error), []);
    if (process.execArgv.includes('--no-warnings') || process.noDeprecation && error.name === 'DeprecationWarning') return;
    sys.write(2, `(node:${sys.pid()}) ${error.code ? `[${error.code}] ` : ''}${error.name}: ${error.message}\n` +
      '(Use `node --trace-warnings ...` to show where the warning was created)\n');
  },
});
for (const name of ['binding', 'dlopen', 'setuid', 'setgid', 'initgroups']) {
  process[name] = { [name]() { throw internal.missing(`process.${name}`); } }[name];
}
define(process, 'signalNumbers', SIGNALS);
Object.defineProperties(process, {
  pid: { enumerable: true, get: () => sys.pid() },
  ppid: { enumerable: true, get: () => sys.ppid() },
  exitCode: { enumerable: true, configurable: true, get: () => code, set(value) { code = checked(value); } },
});
/** The environment. Assigned values are converted to text. */
lazy(process, 'env', () => {
  const pairs = sys.environment();
  const values = {};
  for (let at = 0; at < pairs.length; at += 2) values[pairs[at]] = pairs[at + 1];
  return new Proxy(values, {
    set(target, name, value) { target[name] = typeof name === 'symbol' ? value : String(value); return true; },
    defineProperty(target, name, descriptor) {
      return Reflect.defineProperty(target, name, 'value' in descriptor
        ? { ...descriptor, value: String(descriptor.value) } : descriptor);
    },
  });
}, true);
for (const name of ['stdin', 'stdout', 'stderr']) lazy(process, name, () => internal.part('stdio')[name], true);
