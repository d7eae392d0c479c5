'use strict';
// process.stdin, stdout and stderr.

const { Readable, Writable } = require('stream');

function output(fd) {
  const stream = new Writable({
    decodeStrings: false,
    write(piece, encoding, done) {
      try { sys.write(fd, typeof piece === 'string' && encoding !== 'utf8' ? Buffer.from(piece, encoding) : piece); done(); } catch (error) {
        if (error.message === 'EPIPE') sys.exit(1);
        done(internal.systemError(error, 'write'));
      }
    },
  });
  stream.fd = fd;
  stream.isTTY = false;
  stream._type = 'fs';
  stream.end = undefined;
  stream.end = (piece, encoding, done) => { if (typeof piece === 'string' || piece instanceof Uint8Array) stream.write(piece, encoding); if (typeof done === 'function') process.nextTick(done); return stream; };
  stream.destroy = () => stream;
  stream.hasColors = () => false;
  stream.getColorDepth = () => 1;
  delete stream.isTTY;
  return stream;
}

let stdin;
function input() {
  let isPolling = false;
  stdin = new Readable({
    highWaterMark: 65536,
    read() {
      if (isPolling) return;
      isPolling = true;
      const poll = (milliseconds) => {
        if (stdin.isPaused() && stdin.listenerCount('readable') === 0) { internal.removePoller(poll); isPolling = false; return false; }
        let piece;
        try { piece = sys.read(0, 65536, milliseconds); } catch (error) {
          internal.removePoller(poll);
          isPolling = false;
          stdin.destroy(internal.systemError(error, 'read'));
          return true;
        }
        if (piece === null) return false;
        internal.removePoller(poll);
        isPolling = false;
        stdin.push(piece.length === 0 ? null : internal.own(piece));
        return true;
      };
      internal.addPoller(poll);
    },
  });
  stdin.fd = 0;
  stdin.setRawMode = () => { throw new Error('process.stdin.setRawMode: standard input is not a terminal'); };
  stdin.unref = stdin.ref = () => stdin;
  return stdin;
}
Object.defineProperties(exports, {
  stdin: { get: () => stdin ?? input() },
  stdout: { value: output(1) },
  stderr: { value: output(2) },
});
