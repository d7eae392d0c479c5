'use strict';
// fs: files by the kernel's calls. Each operation is written once, as its Sync form; callbacks and promises are derived
// from it.

const { Buffer } = require('buffer');

function pathOf(value, name = 'path') {
  if (typeof value === 'string') {
    if (value.includes('\0')) {
      throw internal.typeError('ERR_INVALID_ARG_VALUE', `The argument '${name}' must be a string, Uint8Array, or URL without null bytes. Received ${internal.part('inspect').inspect(value)}`);
    }
    return value;
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value !== null && typeof value === 'object' && typeof value.href === 'string') return require('url').fileURLToPath(value);
  throw internal.typeError('ERR_INVALID_ARG_TYPE',
    `The "${name}" argument must be of type string or an instance of Buffer or URL. Received ${internal.received(value)}`);
}
/** Makes a call of the kernel, and throws Node's error if it is refused. */
function call(syscall, path, dest, run) {
  try { return run(); } catch (error) { throw internal.systemError(error, syscall, path, dest); }
}
const optionsOf = (options) => typeof options === 'string' ? { encoding: options } : options ?? {};
const text = (bytes, encoding) => encoding && encoding !== 'buffer' ? bytes.toString(encoding) : bytes;
function dataOf(data, encoding) {
  if (typeof data === 'string') return encoding && internal.encodingOf(encoding) !== 'utf8' ? Buffer.from(data, encoding) : data;
  if (data instanceof Uint8Array) return data;
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw internal.typeError('ERR_INVALID_ARG_TYPE', 'The "data" argument must be of type string or an instance of Buffer, ' +
    `TypedArray, or DataView. Received ${internal.received(data)}`);
}
const modeOf = (mode, fallback) => mode === undefined || mode === null ? fallback : typeof mode === 'string' ? parseInt(mode, 8) : mode;
const flagOf = (flag) => {
  if (flag === undefined || flag === null) return 'r';
  if (typeof flag === 'string' && !/^(?:r|rs|sr)\+?$|^(?:w|a|wx|xw|ax|xa|as|sa)\+?$/.test(flag)) {
    throw internal.typeError('ERR_INVALID_ARG_VALUE', `The argument 'flags' is invalid. Received '${flag}'`);
  }
  if (typeof flag === 'string') return { xw: 'wx', 'xw+': 'wx+', xa: 'ax', 'xa+': 'ax+', as: 'a', sr: 'rs' }[flag] ?? flag;
  const write = flag & 3, creates = flag & 64;
  if (flag & 1024) return write === 2 ? 'a+' : 'a';
  if (creates) return `w${flag & 128 ? 'x' : ''}${write === 2 ? '+' : ''}`;
  return write === 0 ? 'r' : 'r+';
};

const TYPES = { file: 0o100000, directory: 0o040000, symlink: 0o120000, device: 0o020000, pipe: 0o010000 };
class Kinds {
  isFile() { return kindOf(this) === 'file'; }
  isDirectory() { return kindOf(this) === 'directory'; }
  isSymbolicLink() { return kindOf(this) === 'symlink'; }
  isCharacterDevice() { return kindOf(this) === 'device'; }
  isFIFO() { return kindOf(this) === 'pipe'; }
  isBlockDevice() { return false; }
  isSocket() { return false; }
}
const kinds = new WeakMap();
const kindOf = (object) => kinds.get(object);
class Stats extends Kinds {
  constructor([kind, mode, uid, gid, size, links, device, inode, accessed, modified, changed], isBig) {
    super();
    kinds.set(this, kind);
    const number = (value) => isBig ? BigInt(Math.floor(value)) : value;
    Object.assign(this, { dev: number(device), mode: number(mode | TYPES[kind]), nlink: number(links), uid: number(uid), gid: number(gid),
      rdev: number(0), blksize: number(4096), ino: number(inode), size: number(size), blocks: number(Math.ceil(size / 512)),
      atimeMs: number(accessed), mtimeMs: number(modified), ctimeMs: number(changed), birthtimeMs: number(changed) });
    if (isBig) for (const name of ['atime', 'mtime', 'ctime', 'birthtime']) this[`${name}Ns`] = this[`${name}Ms`] * 1000000n;
    this.atime = new Date(Number(accessed));
    this.mtime = new Date(Number(modified));
    this.ctime = new Date(Number(changed));
    this.birthtime = new Date(Number(changed));
  }
}
class Dirent extends Kinds {
  constructor(name, path, kind) {
    super();
    this.name = name;
    this.parentPath = path;
    this.path = path;
    Object.defineProperty(this, Symbol('type'), { value: kind, enumerable: false });
    kinds.set(this, kind);
  }
}

const sync = {
  readFile(path, options) {
    const { encoding, flag } = optionsOf(options);
    if (encoding && encoding !== 'buffer' && !Buffer.isEncoding(encoding)) {
      throw internal.typeError('ERR_INVALID_ARG_VALUE', `The argument 'encoding' is invalid encoding. Received ${internal.part('inspect').inspect(encoding)}`);
    }
    if (typeof path === 'number') return text(readDescriptor(path), encoding);
    path = pathOf(path);
    if (flag !== undefined && !/^r/.test(flagOf(flag))) {
      const fd = sync.open(path, flag);
      try { return text(readDescriptor(fd), encoding); } finally { sys.close(fd); }
    }
    return call('open', path, undefined, () => {
      try {
        if (encoding && internal.encodingOf(encoding) === 'utf8') return sys.readText(path);
        return text(internal.own(sys.readFile(path)), encoding);
      } catch (error) {
        if (error.message === 'EISDIR') throw internal.systemError(error, 'read');
        throw error;
      }
    });
  },
  writeFile(path, data, options) {
    const { encoding, flag = 'w', mode } = optionsOf(options);
    data = dataOf(data, encoding);
    if (typeof path === 'number') return call('write', undefined, undefined, () => sys.write(path, data));
    path = pathOf(path);
    call('open', path, undefined, () => sys.writeFile(path, data, flagOf(flag), modeOf(mode, 0o666)));
  },
  appendFile(path, data, options) { sync.writeFile(path, data, { flag: 'a', ...optionsOf(options) }); },
  open(path, flags, mode) {
    path = pathOf(path);
    return call('open', path, undefined, () => sys.open(path, flagOf(flags), modeOf(mode, 0o666)));
  },
  close(fd) { call('close', undefined, undefined, () => sys.close(fd)); },
  read(fd, buffer, offset, length, position) {
    if (offset !== null && typeof offset === 'object') ({ offset, length, position } = offset);
    offset ??= 0;
    length ??= buffer.byteLength - offset;
    return call('read', undefined, undefined, () => {
      let back;
      if (typeof position === 'number' && position >= 0 || typeof position === 'bigint') {
        back = sys.seek(fd, 0, 1);
        sys.seek(fd, Number(position), 0);
      }
      const piece = length === 0 ? [] : sys.read(fd, length);
      if (back !== undefined) sys.seek(fd, back, 0);
      new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(piece, offset);
      return piece.length;
    });
  },
  write(fd, data, offset, length, position) {
    let bytes;
    if (typeof data === 'string') {
      bytes = Buffer.from(data, typeof length === 'string' ? length : undefined);
      position = typeof offset === 'number' ? offset : undefined;
    } else {
      if (offset !== null && typeof offset === 'object') ({ offset, length, position } = offset);
      bytes = dataOf(data);
      bytes = bytes.subarray(offset ?? 0, length === undefined || length === null ? undefined : (offset ?? 0) + length);
    }
    return call('write', undefined, undefined, () => {
      let back;
      if (typeof position === 'number') { back = sys.seek(fd, 0, 1); sys.seek(fd, position, 0); }
      sys.write(fd, bytes);
      if (fd === 1) sys.flush();
      if (back !== undefined) sys.seek(fd, back, 0);
      return bytes.length;
    });
  },
  exists(path) { try { sys.stat(pathOf(path), true); return true; } catch { return false; } },
  access(path, mode = 0) {
    path = pathOf(path);
    call('access', path, undefined, () => {
      const found = sys.stat(path, true)[1];
      if ((mode & 4 && !(found & 0o444)) || (mode & 2 && !(found & 0o222)) || (mode & 1 && !(found & 0o111))) throw new Error('EACCES');
    });
  },
  stat(path, options) { return statOf('stat', path, options, true); },
  lstat(path, options) { return statOf('lstat', path, options, false); },
  fstat(fd, options) { return call('fstat', undefined, undefined, () => new Stats(sys.statFd(fd), options?.bigint)); },
  readdir(path, options) {
    const { withFileTypes, recursive, encoding } = optionsOf(options);
    path = pathOf(path);
    if (encoding === 'buffer') throw internal.missing("readdir with the encoding 'buffer'");
    const out = [];
    const waiting = [['', path]];
    while (waiting.length > 0) {
      const [relative, directory] = waiting.shift();
      const list = call('scandir', directory, undefined, () => sys.list(directory));
      for (let at = 0; at < list.length; at += 2) {
        const name = list[at], kind = list[at + 1];
        const below = relative === '' ? name : `${relative}/${name}`;
        out.push(withFileTypes ? new Dirent(name, directory, kind) : below);
        if (recursive && kind === 'directory') waiting.push([below, `${directory.replace(/(?<=.)\/$/, '')}/${name}`]);
      }
    }
    return out;
  },
  mkdir(path, options) {
    path = pathOf(path);
    const { recursive, mode } = typeof options === 'object' && options !== null ? options : { mode: options };
    const make = (one) => { sys.mkdir(one); if (mode !== undefined && mode !== null) sys.chmod(one, modeOf(mode) & ~process.umask()); };
    if (!recursive) return call('mkdir', path, undefined, () => make(path));
    return call('mkdir', path, undefined, () => {
      const parts = internal.absolute(path).split('/').filter(Boolean);
      let at = '', first;
      for (const part of parts) {
        at += `/${part}`;
        try { make(at); first ??= at; } catch (error) {
          let kind;
          try { kind = sys.stat(at, true)[0]; } catch { throw error; }
          if (kind !== 'directory') throw new Error(at === `/${parts.join('/')}` ? 'EEXIST' : 'ENOTDIR');
        }
      }
      return first;
    });
  },
  mkdtemp(prefix) {
    for (let tries = 0; ; tries++) {
      const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
      const path = pathOf(prefix, 'prefix') + Array.from(sys.random(6), (byte) => letters[byte % letters.length]).join('');
      try { sys.mkdir(path); sys.chmod(path, 0o700); return path; } catch (error) {
        if (error.message !== 'EEXIST' || tries > 50) throw internal.systemError(error, 'mkdtemp', `${prefix}XXXXXX`);
      }
    }
  },
  rmdir(path, options) {
    path = pathOf(path);
    if (options?.recursive) return sync.rm(path, { recursive: true });
    call('rmdir', path, undefined, () => sys.rmdir(path));
  },
  unlink(path) { path = pathOf(path); call('unlink', path, undefined, () => sys.unlink(path)); },
  rm(path, options = {}) {
    path = pathOf(path);
    let kind;
    try { kind = sys.stat(path, false)[0]; } catch (error) {
      if (options.force && error.message === 'ENOENT') return;
      throw internal.systemError(error, 'lstat', path);
    }
    if (kind !== 'directory') return call('rm', path, undefined, () => sys.unlink(path));
    if (!options.recursive) {
      const error = new Error(`Path is a directory: rm returned EISDIR (is a directory) ${path}`);
      error.name = 'SystemError';
      throw Object.assign(error, { code: 'ERR_FS_EISDIR', errno: 21, syscall: 'rm', path });
    }
    // Deep trees are walked with a list, not by recursion.
    const directories = [path];
    for (let at = 0; at < directories.length; at++) {
      const list = call('rm', directories[at], undefined, () => sys.list(directories[at]));
      for (let one = 0; one < list.length; one += 2) {
        const below = `${directories[at]}/${list[one]}`;
        if (list[one + 1] === 'directory') directories.push(below);
        else call('rm', below, undefined, () => sys.unlink(below));
      }
    }
    for (const directory of directories.reverse()) call('rm', directory, undefined, () => sys.rmdir(directory));
  },
  rename(from, to) { from = pathOf(from, 'oldPath'); to = pathOf(to, 'newPath'); call('rename', from, to, () => sys.rename(from, to)); },
  link(from, to) { from = pathOf(from); to = pathOf(to); call('link', from, to, () => sys.link(from, to)); },
  symlink(target, path) { target = pathOf(target, 'target'); path = pathOf(path); call('symlink', target, path, () => sys.symlink(target, path)); },
  readlink(path) { path = pathOf(path); return call('readlink', path, undefined, () => sys.readlink(path)); },
  realpath(path) {
    path = pathOf(path);
    const whole = internal.absolute(path);
    return call('lstat', whole, undefined, () => internal.real(path.startsWith('/') ? path : `${sys.cwd()}/${path}`));
  },
  copyFile(from, to, mode = 0) {
    from = pathOf(from, 'src');
    to = pathOf(to, 'dest');
    call('copyfile', from, to, () => {
      const found = sys.stat(from, true);
      if (found[0] === 'directory') throw new Error('EISDIR');
      sys.writeFile(to, sys.readFile(from), mode & 1 ? 'wx' : 'w', found[1] & 0o777);
    });
  },
  cp(from, to, options = {}) {
    from = pathOf(from, 'src');
    to = pathOf(to, 'dest');
    const known = ['recursive', 'force', 'filter', 'dereference', 'errorOnExist'];
    for (const name of Object.keys(options)) if (!known.includes(name)) throw internal.missing(`the option ${name} of fs.cp`);
    const pairs = [[from, to]];
    for (let at = 0; at < pairs.length; at++) {
      const [one, other] = pairs[at];
      if (options.filter && !options.filter(one, other)) continue;
      const kind = call('cp', one, undefined, () => sys.stat(one, Boolean(options.dereference))[0]);
      if (kind === 'directory') {
        if (!options.recursive) {
          throw internal.typeError('ERR_FS_EISDIR', `Recursive option not enabled, cannot copy a directory: ${one}`, Error);
        }
        sync.mkdir(other, { recursive: true });
        const list = sys.list(one);
        for (let name = 0; name < list.length; name += 2) pairs.push([`${one}/${list[name]}`, `${other}/${list[name]}`]);
      } else {
        if (at === 0) sync.mkdir(require('path').dirname(other), { recursive: true });
        if (sync.exists(other)) {
          if (options.errorOnExist && options.force === false) throw internal.typeError('ERR_FS_CP_EEXIST', `Target already exists: ${other}`, Error);
          if (options.force === false) continue;
          if (kind === 'symlink') sync.unlink(other);
        }
        if (kind === 'symlink') sync.symlink(sys.readlink(one), other);
        else sync.copyFile(one, other);
      }
    }
  },
  chmod(path, mode) { path = pathOf(path); call('chmod', path, undefined, () => sys.chmod(path, modeOf(mode, 0))); },
  chown(path, uid, gid) { path = pathOf(path); call('chown', path, undefined, () => sys.chown(path, uid, gid, true)); },
  utimes(path, accessed, modified) {
    path = pathOf(path);
    const seconds = (time) => time instanceof Date ? time.getTime() / 1000 : Number(time);
    call('utime', path, undefined, () => sys.utimes(path, seconds(accessed), seconds(modified), true));
  },
  truncate(path, length = 0) {
    path = pathOf(path);
    const bytes = call('open', path, undefined, () => sys.readFile(path));
    const cut = new Uint8Array(length);
    cut.set(bytes.subarray(0, length));
    sync.writeFile(path, cut);
  },
  ftruncate() { throw internal.missing('fs.ftruncate', 'use fs.truncate'); },
  fsync() {},
  fdatasync() {},
  opendir(path) {
    const entries = sync.readdir(path, { withFileTypes: true });
    return { path, readSync: () => entries.shift() ?? null, read: async () => entries.shift() ?? null, closeSync() {}, close: async () => {},
      async *[Symbol.asyncIterator]() { yield* entries; } };
  },
};
function statOf(syscall, path, options, follow) {
  path = pathOf(path);
  try { return new Stats(sys.stat(path, follow), options?.bigint); } catch (error) {
    if (options?.throwIfNoEntry === false && ['ENOENT', 'ENOTDIR'].includes(error.message)) return undefined;
    throw internal.systemError(error, syscall, path);
  }
}
function readDescriptor(fd) {
  const pieces = [];
  for (;;) {
    const piece = call('read', undefined, undefined, () => sys.read(fd, 65536));
    if (piece.length === 0) return Buffer.concat(pieces);
    pieces.push(piece);
  }
}

const fs = {};
for (const [name, run] of Object.entries(sync)) {
  fs[`${name}Sync`] = { [`${name}Sync`]: (...args) => run(...args) }[`${name}Sync`];
  if (name === 'exists') continue;
  fs[name] = { [name](...args) {
    const callback = typeof args.at(-1) === 'function' ? args.pop() : undefined;
    if (callback === undefined) {
      throw internal.typeError('ERR_INVALID_ARG_TYPE', `The "cb" argument must be of type function. Received ${internal.received(callback)}`);
    }
    let result, failure = null;
    // Invalid arguments throw at once; errors of the kernel go to the callback.
    try { result = run(...args); } catch (error) { if (error instanceof TypeError) throw error; failure = error; }
    internal.later(() => {
      if (failure) callback(failure);
      else if (name === 'read' || name === 'write') callback(null, result, args[1]);
      else if (result === undefined) callback(null);
      else callback(null, result);
    });
  } }[name];
}
fs.exists = (path, callback) => { const found = sync.exists(path); internal.later(() => callback(found)); };
fs.realpathSync.native = fs.realpathSync;
fs.realpath.native = fs.realpath;
fs.constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128,
  O_TRUNC: 512, O_APPEND: 1024, S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFLNK: 0o120000 };
Object.assign(fs, { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, Stats, Dirent });
fs.createReadStream = (path, options) => {
  const { Readable } = require('stream');
  const { encoding, start = 0, end = Infinity, highWaterMark = 65536, fd: given } = optionsOf(options);
  let fd = given, left = end - start + 1;
  const stream = new Readable({ encoding, highWaterMark, read() {
    try {
      if (fd === undefined || fd === null) {
        fd = sync.open(path, 'r');
        if (start > 0) sys.seek(fd, start, 0);
        stream.emit('open', fd);
      }
      const piece = left <= 0 ? [] : call('read', undefined, undefined, () => sys.read(fd, Math.min(left, highWaterMark)));
      left -= piece.length;
      if (piece.length === 0) { sys.close(fd); this.push(null); } else this.push(internal.own(piece));
    } catch (error) { this.destroy(error); }
  } });
  stream.path = path;
  return stream;
};
fs.createWriteStream = (path, options) => {
  const { Writable } = require('stream');
  const { flags = 'w', mode } = optionsOf(options);
  let fd, bytes = 0;
  const stream = new Writable({
    write(piece, encoding, done) {
      try { fd ??= sync.open(path, flags, mode); sync.write(fd, piece); bytes += piece.length; done(); } catch (error) { done(error); }
    },
    final(done) { try { fd ??= sync.open(path, flags, mode); sys.close(fd); done(); } catch (error) { done(error); } },
  });
  stream.path = path;
  Object.defineProperty(stream, 'bytesWritten', { get: () => bytes });
  return stream;
};
for (const name of ['watch', 'watchFile', 'unwatchFile']) {
  fs[name] = () => { throw internal.missing(`fs.${name}`, 'nothing tells of changes'); };
}
internal.fsSync = sync;
Object.defineProperty(fs, 'promises', { enumerable: true, get: () => require('fs/promises') });
module.exports = fs;
