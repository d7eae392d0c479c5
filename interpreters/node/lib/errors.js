'use strict';
// Errors as Node words them, and stacks as its engine writes them.

const { define } = internal;

function heading(error) {
  try {
    const name = error.name === undefined ? 'Error' : String(error.name);
    const message = error.message === undefined ? '' : String(error.message);
    return name && message ? `${name}: ${message}` : name || message;
  } catch { return 'Error'; }
}

/** Columns that the wrapper of a CommonJS file adds to its first line, by path. */
internal.wrapped = new Map();

function frame(site) {
  const path = site.getFileName();
  if (typeof path !== 'string' || path.startsWith('node:')) return undefined;
  const row = site.getLineNumber();
  let column = site.getColumnNumber();
  if (row === 1) column = Math.max(1, column - (internal.wrapped.get(path) ?? 0));
  const name = site.getFunctionName();
  return name && name !== '<eval>' && name !== '<anonymous>' && name !== '<module>'
    ? `    at ${name} (${path}:${row}:${column})` : `    at ${path}:${row}:${column}`;
}

// A stack is kept as its lines; the heading comes when it is first read, since name and message may change until then.
let prepare;
const engine = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
engine.set.call(Error, (error, sites) => {
  translate(error);
  if (typeof prepare === 'function') return prepare(error, sites);
  let lines = '';
  for (const site of sites) {
    const line = frame(site);
    if (line !== undefined) lines += `\n${line}`;
  }
  // An error from within the library has no position in a script; the line marks it as an error all the same.
  return lines || '\n    at <anonymous>';
});
Object.defineProperty(Error, 'prepareStackTrace', {
  configurable: true, enumerable: false, get: () => prepare, set(value) { prepare = value; },
});
const stack = Object.getOwnPropertyDescriptor(Error.prototype, 'stack');
Object.defineProperty(Error.prototype, 'stack', {
  configurable: true, enumerable: false,
  get() {
    let text = stack.get.call(this);
    // There is none if there was no memory for it.
    if (text === null) text = '\n    at <anonymous>';
    if (typeof text !== 'string' || !text.startsWith('\n')) return text;
    text = heading(this) + text;
    // Not by the engine's own setter, which makes a property that is visible in keys, copies and JSON.
    if (Object.isExtensible(this)) define(this, 'stack', text);
    return text;
  },
  // The engine's setter only takes strings.
  set(value) { define(this, 'stack', value); },
});
const capture = Error.captureStackTrace;
define(Error, 'captureStackTrace', function captureStackTrace(target, above = captureStackTrace) {
  capture.call(Error, target, above);
  const lines = target.stack;
  if (typeof lines !== 'string' || !lines.startsWith('\n')) return;
  Object.defineProperty(target, 'stack', {
    configurable: true, enumerable: false,
    get() { const text = heading(target) + lines; define(target, 'stack', text); return text; },
    set(value) { define(target, 'stack', value); },
  });
});

// The engine's own messages in the words of Node, by which scripts and people know them.
const WORDS = [
  [/^cannot (read|set) property '(.*)' of (undefined|null)$/, (_, verb, name, of) =>
    `Cannot ${verb} properties of ${of} (${verb === 'read' ? 'reading' : 'setting'} '${name}')`],
  [/^cannot (read|set) property of (undefined|null)$/, (_, verb, of) => `Cannot ${verb} properties of ${of}`],
  [/^'(.*)' is (read-only|not defined|not initialized)$/, (_, name, what) => what === 'read-only'
    ? 'Assignment to constant variable.' : what === 'not defined' ? `${name} is not defined`
      : `Cannot access '${name}' before initialization`],
  [/^(.*) is not initialized$/, (_, name) => `Cannot access '${name}' before initialization`],
  [/^invalid (string|array|array buffer) length$/, (_, what) => what === 'array buffer' ? 'Array buffer allocation failed' : `Invalid ${what} length`],
  [/^string too long$/, () => 'Invalid string length'],
  [/^circular reference$/, () => 'Converting circular structure to JSON'],
  [/^value is not iterable$/, () => 'object is not iterable'],
  [/^cannot convert bigint to number$/i, () => 'Cannot mix BigInt and other types, use explicit conversions'],
];
function translate(error) {
  const own = Object.getOwnPropertyDescriptor(error, 'message');
  if (own === undefined || typeof own.value !== 'string') return;
  for (const [pattern, words] of WORDS) {
    if (!pattern.test(own.value)) continue;
    if (own.value === 'string too long') Object.setPrototypeOf(error, RangeError.prototype);
    define(error, 'message', own.value.replace(pattern, words));
    return;
  }
}

/** Returns the lines of a stack below its heading. */
internal.frames = (error) => String(error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line));
internal.heading = heading;

/** Creates an error with a code, which Node shows beside the name. */
internal.typeError = (code, message, Type = TypeError) => {
  const error = new Type(message);
  Object.defineProperty(error, 'code', { value: code, enumerable: true, configurable: true, writable: true });
  define(error, 'stack', [`${error.name} [${code}]: ${message}`, ...internal.frames(error)].join('\n'));
  return error;
};
internal.received = (value) => {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'function') return `function ${value.name}`;
  const { inspect } = internal.part('inspect');
  if (typeof value === 'object') {
    return value.constructor?.name ? `an instance of ${value.constructor.name}` : inspect(value, { depth: -1 });
  }
  let text = inspect(value);
  if (text.length > 28) text = text.slice(0, 25) + '...';
  return `type ${typeof value} (${text})`;
};
/** Throws Node's error for a value of another type. */
internal.mustBe = (value, type, name) => {
  if (typeof value === type) return value;
  throw internal.typeError('ERR_INVALID_ARG_TYPE',
    `The "${name}" argument must be of type ${type}. Received ${internal.received(value)}`);
};
/** Returns the error for a feature of Node that is missing here. It is always an error, never a silent no-op. */
internal.missing = (what, reason) => {
  const error = new Error(`${what} is not available in this sandbox${reason ? `: ${reason}` : ''}`);
  error.code = 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM';
  return error;
};

const ERRNOS = {
  EPERM: [-1, 'operation not permitted'], ENOENT: [-2, 'no such file or directory'], ESRCH: [-3, 'no such process'],
  EINTR: [-4, 'interrupted system call'], EIO: [-5, 'i/o error'], ENXIO: [-6, 'no such device or address'],
  E2BIG: [-7, 'argument list too long'], ENOEXEC: [-8, 'exec format error'], EBADF: [-9, 'bad file descriptor'],
  ECHILD: [-10, 'no child processes'], EAGAIN: [-11, 'resource temporarily unavailable'],
  ENOMEM: [-12, 'not enough memory'], EACCES: [-13, 'permission denied'], EBUSY: [-16, 'resource busy or locked'],
  EEXIST: [-17, 'file already exists'], EXDEV: [-18, 'cross-device link not permitted'],
  ENOTDIR: [-20, 'not a directory'], EISDIR: [-21, 'illegal operation on a directory'],
  EINVAL: [-22, 'invalid argument'], EMFILE: [-24, 'too many open files'], EFBIG: [-27, 'file too large'],
  ENOSPC: [-28, 'no space left on device'], ESPIPE: [-29, 'invalid seek'], EROFS: [-30, 'read-only file system'],
  EMLINK: [-31, 'too many links'], EPIPE: [-32, 'broken pipe'], ENAMETOOLONG: [-36, 'name too long'],
  ENOTEMPTY: [-39, 'directory not empty'], ELOOP: [-40, 'too many symbolic links encountered'],
  EILSEQ: [-84, 'illegal byte sequence'], ENOTSUP: [-95, 'operation not supported on socket'],
  ETIMEDOUT: [-110, 'connection timed out'], EDQUOT: [-122, 'disk quota exceeded'],
};
internal.ERRNOS = ERRNOS;
/** Returns Node's error for a refused call of the kernel; other errors are returned unchanged. */
internal.systemError = (error, syscall, path, dest) => {
  const known = ERRNOS[error?.message];
  if (!known) return error;
  const code = error.message;
  let message = `${code}: ${known[1]}, ${syscall}`;
  if (path !== undefined) message += ` '${path}'`;
  if (dest !== undefined) message += ` -> '${dest}'`;
  const made = new Error(message);
  made.errno = known[0];
  made.code = code;
  made.syscall = syscall;
  if (path !== undefined) made.path = String(path);
  if (dest !== undefined) made.dest = String(dest);
  return made;
};
