'use strict';
// child_process: other programs of the sandbox, through the kernel.

const EventEmitter = require('events');
const { Buffer } = require('buffer');
const { Readable, Writable } = require('stream');

const environment = (env) => Object.entries(env ?? process.env).filter(([, value]) => value !== undefined).flatMap(([name, value]) => [name, String(value)]);

const KNOWN = new Set(['cwd', 'env', 'input', 'stdio', 'encoding', 'shell', 'timeout', 'maxBuffer', 'killSignal', 'windowsHide',
  'windowsVerbatimArguments', 'argv0', 'signal']);
/** Options that may only be given with their default: nothing else is supported. */
const DEFAULTS = { detached: false, uid: 1000, gid: 1000, serialization: 'json' };
function commandOf(file, args, options) {
  for (const name of Object.keys(options)) {
    if (KNOWN.has(name) || options[name] === undefined || options[name] === DEFAULTS[name]) continue;
    throw internal.missing(`the option ${name} of child_process`);
  }
  if (typeof file !== 'string') {
    throw internal.typeError('ERR_INVALID_ARG_TYPE', `The "file" argument must be of type string. Received ${internal.received(file)}`);
  }
  if (options.shell) {
    const shell = typeof options.shell === 'string' ? options.shell : '/bin/sh';
    return { file: shell, argv: [shell, '-c', [file, ...args].join(' ')] };
  }
  // This interpreter goes by the path that process.execPath says.
  return { file, argv: [options.argv0 ?? file, ...args.map(String)] };
}
/** Starts a child. The kernel starts it in this process's directory, which is changed for the moment. */
function start({ file, argv }, options, files) {
  const back = options.cwd === undefined ? undefined : sys.cwd();
  const env = environment(options.env);
  try {
    if (back !== undefined) sys.chdir(options.cwd instanceof Object ? require('url').fileURLToPath(options.cwd) : String(options.cwd));
    return sys.spawn(file, argv, env, files);
  } catch (error) {
    const made = internal.systemError(error, `spawn ${file}`);
    if (made !== error) { made.message = `spawn ${file} ${made.code}`; made.path = file; made.spawnargs = argv.slice(1); }
    throw made;
  } finally { if (back !== undefined) sys.chdir(back); }
}
function stdioOf(stdio, count = 3) {
  const list = typeof stdio === 'string' || stdio === undefined ? Array(count).fill(stdio ?? 'pipe') : [...stdio];
  while (list.length < 3) list.push('pipe');
  return list.map((one, at) => {
    if (one === undefined || one === null || one === 'overlapped') return at < 3 ? 'pipe' : 'ignore';
    if (one === 'pipe' || one === 'ignore') return one;
    if (one === 'inherit') return at;
    if (typeof one === 'number') return one;
    if (typeof one?.fd === 'number') return one.fd;
    throw internal.missing(`stdio of the kind '${one}'`);
  });
}
function connect(stdio) {
  const files = [], close = [], ours = [];
  stdio.forEach((one, at) => {
    if (typeof one === 'number') { files.push(at, one); ours.push(null); } else if (one === 'ignore') {
      const fd = sys.open('/dev/null', 'r+', 0);
      close.push(fd);
      files.push(at, fd);
      ours.push(null);
    } else {
      const [reader, writer] = sys.pipe();
      files.push(at, at === 0 ? reader : writer);
      close.push(at === 0 ? reader : writer);
      ours.push(at === 0 ? writer : reader);
    }
  });
  return { files, close, ours };
}

function spawnSync(file, args, options) {
  if (!Array.isArray(args)) [args, options] = [[], args];
  options = { ...options };
  const stdio = stdioOf(options.stdio);
  const command = commandOf(file, args, options);
  const input = options.input === undefined || options.input === null ? undefined : Buffer.from(options.input);
  const result = { pid: 0, output: null, stdout: null, stderr: null, status: null, signal: null };
  // The input is a file, so that neither side waits for the other.
  let inputFile;
  if (stdio[0] === 'pipe') {
    if (input && input.length > 0) {
      inputFile = require('fs').mkdtempSync('/tmp/node-') + '/input';
      sys.writeFile(inputFile, input, 'w', 0o600);
    }
    stdio[0] = sys.open(inputFile ?? '/dev/null', 'r', 0);
  }
  const opened = typeof options.stdio === 'object' && typeof options.stdio[0] === 'number' ? undefined : stdio[0];
  const { files, close, ours } = connect(stdio);
  let pid;
  try { pid = start(command, options, files); } catch (error) {
    result.error = Object.assign(error, { message: error.message.replace(/^spawn /, 'spawnSync '), syscall: `spawnSync ${command.file}` });
    for (const fd of ours) if (fd !== null) sys.close(fd);
    return result;
  } finally {
    for (const fd of close) sys.close(fd);
    if (opened > 2) sys.close(opened);
    if (inputFile) require('fs').rmSync(require('path').dirname(inputFile), { recursive: true });
  }
  result.pid = pid;
  const most = options.maxBuffer ?? 1024 * 1024;
  const deadline = options.timeout > 0 ? sys.nanos() + options.timeout * 1e6 : undefined;
  const pieces = ours.map(() => []), sizes = ours.map(() => 0);
  const open = new Set([...ours.keys()].filter((at) => ours[at] !== null));
  let failure;
  const end = (code, why) => {
    if (failure) return;
    failure = Object.assign(new Error(`spawnSync ${command.file} ${code}`), { errno: why, code, syscall: `spawnSync ${command.file}`, path: command.file, spawnargs: command.argv.slice(1) });
    try { sys.kill(pid, String(options.killSignal ?? 'SIGTERM').replace(/^SIG/, '')); } catch { /* it has ended */ }
  };
  while (open.size > 0) {
    if (deadline !== undefined && sys.nanos() > deadline) end('ETIMEDOUT', -110);
    for (const at of open) {
      const wait = open.size > 1 ? 1 : deadline === undefined ? undefined : 5;
      const piece = sys.read(ours[at], 65536, wait);
      if (piece === null) continue;
      if (piece.length === 0) { sys.close(ours[at]); open.delete(at); continue; }
      pieces[at].push(piece);
      sizes[at] += piece.length;
      if (sizes[at] > most) end('ENOBUFS', -105);
    }
  }
  let status;
  for (;;) {
    status = sys.wait(pid, deadline === undefined ? undefined : 5);
    if (status !== null) break;
    if (sys.nanos() > deadline) end('ETIMEDOUT', -110);
  }
  [result.status, result.signal] = status;
  const encoding = options.encoding && options.encoding !== 'buffer' ? options.encoding : undefined;
  const out = ours.map((fd, at) => {
    if (fd === null || at === 0) return null;
    let bytes = Buffer.concat(pieces[at]);
    if (bytes.length > most) bytes = bytes.subarray(0, most);
    return encoding ? bytes.toString(encoding) : bytes;
  });
  result.output = out;
  [, result.stdout, result.stderr] = out;
  if (failure) result.error = failure;
  return result;
}
function checked(result, shown, options) {
  if (result.error) throw Object.assign(result.error, result);
  if (result.status !== 0) {
    const said = result.stderr ? result.stderr.toString() : '';
    throw Object.assign(new Error(`Command failed: ${shown}${said ? '\n' + said : ''}`), result);
  }
  return result.stdout;
}
function inherits(options) { return options?.stdio === undefined ? { ...options, stdio: ['pipe', 'pipe', 'pipe'] } : options; }
function execFileSync(file, args, options) {
  if (!Array.isArray(args)) [args, options] = [[], args];
  const result = spawnSync(file, args, inherits(options));
  if (options?.stdio === undefined && result.stderr?.length > 0) sys.write(2, result.stderr);
  return checked(result, [file, ...args].join(' '), options);
}
function execSync(command, options) {
  const result = spawnSync(command, [], { ...inherits(options), shell: options?.shell ?? true });
  if (options?.stdio === undefined && result.stderr?.length > 0) sys.write(2, result.stderr);
  return checked(result, command, options);
}

class ChildProcess extends EventEmitter {
  kill(signal = 'SIGTERM') {
    if (this.exitCode !== null || this.signalCode !== null) return false;
    try { sys.kill(this.pid, String(signal).replace(/^SIG/, '')); this.killed = true; return true; } catch { return false; }
  }
  ref() {}
  unref() {}
  disconnect() {}
  send() { throw internal.missing('a message channel between processes'); }
}
function readEnd(fd) {
  let isPolling = false;
  const stream = new Readable({ read() {
    if (isPolling) return;
    isPolling = true;
    const poll = (milliseconds) => {
      const piece = sys.read(fd, 65536, milliseconds);
      if (piece === null) return false;
      internal.removePoller(poll);
      isPolling = false;
      if (piece.length === 0) { sys.close(fd); stream.push(null); } else stream.push(internal.own(piece));
      return true;
    };
    internal.addPoller(poll);
  } });
  return stream;
}
function writeEnd(fd) {
  return new Writable({
    write(piece, encoding, done) {
      try { sys.write(fd, piece); done(); } catch (error) { done(internal.systemError(error, 'write')); }
    },
    final(done) { sys.close(fd); done(); },
  });
}
function spawn(file, args, options) {
  if (!Array.isArray(args)) [args, options] = [[], args];
  options = { ...options };
  const child = new ChildProcess();
  Object.assign(child, { exitCode: null, signalCode: null, killed: false, connected: false, stdin: null, stdout: null, stderr: null });
  const command = commandOf(file, args, options);
  child.spawnfile = command.file;
  child.spawnargs = command.argv;
  const { files, close, ours } = connect(stdioOf(options.stdio));
  try { child.pid = start(command, options, files); } catch (error) {
    for (const fd of ours) if (fd !== null) sys.close(fd);
    child.stdin = new Writable({ write(piece, encoding, done) { done(); } });
    child.stdout = Readable.from([]);
    child.stderr = Readable.from([]);
    error.syscall = `spawn ${command.file}`;
    process.nextTick(() => { child.emit('error', error); child.emit('close', error.errno, null); });
    return child;
  } finally { for (const fd of close) sys.close(fd); }
  child.stdio = ours.map((fd, at) => fd === null ? null : at === 0 ? writeEnd(fd) : readEnd(fd));
  [child.stdin, child.stdout, child.stderr] = child.stdio;
  process.nextTick(() => child.emit('spawn'));
  let left = 1 + child.stdio.slice(1).filter(Boolean).length;
  const closed = () => { if (--left === 0) child.emit('close', child.exitCode, child.signalCode); };
  for (const stream of child.stdio.slice(1)) stream?.once('end', closed);
  let timer;
  if (options.timeout > 0) timer = setTimeout(() => child.kill(options.killSignal), options.timeout);
  if (options.signal) {
    const giveUp = () => {
      if (child.kill(options.killSignal)) { internal.part('timers'); child.emit('error', internal.aborted(options.signal)); }
    };
    if (options.signal.aborted) process.nextTick(giveUp); else options.signal.addEventListener('abort', giveUp, { once: true });
  }
  const poll = (milliseconds) => {
    const status = sys.wait(child.pid, milliseconds);
    if (status === null) return false;
    internal.removePoller(poll);
    [child.exitCode, child.signalCode] = status;
    clearTimeout(timer);
    child.emit('exit', child.exitCode, child.signalCode);
    // An unread stream would keep the process waiting.
    for (const stream of child.stdio.slice(1)) if (stream && stream._readableState.isFlowing === null && stream.listenerCount('readable') === 0) stream.resume();
    closed();
    return true;
  };
  internal.addPoller(poll);
  return child;
}
function execFile(file, args, options, done) {
  if (typeof args === 'function') [args, options, done] = [[], {}, args];
  else if (!Array.isArray(args)) [args, options, done] = [[], args, options];
  if (typeof options === 'function') [options, done] = [{}, options];
  options = { encoding: 'utf8', maxBuffer: 1024 * 1024, ...options };
  const child = spawn(file, args, options);
  const out = [[], []];
  let failure;
  [child.stdout, child.stderr].forEach((stream, at) => stream?.on('data', (piece) => {
    out[at].push(piece);
    if (!failure && out[at].reduce((sum, one) => sum + one.length, 0) > options.maxBuffer) {
      failure = internal.typeError('ERR_CHILD_PROCESS_STDIO_MAXBUFFER', `${at === 0 ? 'stdout' : 'stderr'} maxBuffer length exceeded`, RangeError);
      child.kill();
    }
  }));
  child.on('error', (error) => { failure = error; });
  child.on('close', (code, signal) => {
    const [stdout, stderr] = out.map((pieces) => {
      const bytes = Buffer.concat(pieces);
      return options.encoding && options.encoding !== 'buffer' ? bytes.toString(options.encoding) : bytes;
    });
    if (!failure && (code !== 0 || signal !== null)) {
      const shown = options.shell ? file : [file, ...args].join(' ');
      failure = Object.assign(new Error(`Command failed: ${shown}\n${stderr}`), { code, killed: child.killed, signal, cmd: shown });
    }
    if (failure) Object.assign(failure, { stdout, stderr });
    done?.(failure ?? null, stdout, stderr);
  });
  return child;
}
function exec(command, options, done) {
  if (typeof options === 'function') [options, done] = [{}, options];
  return execFile(command, [], { ...options, shell: options?.shell ?? true }, done);
}
for (const run of [exec, execFile]) {
  run[Symbol.for('nodejs.util.promisify.custom')] = (...args) => new Promise((resolve, reject) => {
    run(...args, (error, stdout, stderr) => error ? reject(error) : resolve({ stdout, stderr }));
  });
}
function fork() { throw internal.missing('child_process.fork', 'it has no message channels; use spawn'); }
Object.assign(exports, { spawn, spawnSync, exec, execSync, execFile, execFileSync, fork, ChildProcess });
