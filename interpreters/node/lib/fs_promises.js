'use strict';
// fs/promises: the Sync forms, each in a turn of its own.

const fs = require('fs');
const sync = internal.fsSync;

const later = (run) => new Promise((resolve, reject) => {
  internal.later(() => { try { resolve(run()); } catch (error) { reject(error); } });
});
for (const name of Object.keys(sync)) {
  if (['exists', 'close', 'read', 'write', 'fstat', 'fsync', 'fdatasync', 'ftruncate'].includes(name)) continue;
  exports[name] = { [name]: (path, ...args) => later(() => sync[name](path instanceof FileHandle ? path.fd : path, ...args)) }[name];
}
class FileHandle {
  constructor(fd) { this.fd = fd; }
  close() { return later(() => sync.close(this.fd)); }
  stat(options) { return later(() => sync.fstat(this.fd, options)); }
  readFile(options) { return later(() => sync.readFile(this.fd, options)); }
  writeFile(data, options) { return later(() => sync.writeFile(this.fd, data, options)); }
  appendFile(data, options) { return later(() => sync.writeFile(this.fd, data, options)); }
  read(buffer, offset, length, position) {
    return later(() => ({ bytesRead: sync.read(this.fd, buffer, offset, length, position), buffer }));
  }
  write(data, ...args) { return later(() => ({ bytesWritten: sync.write(this.fd, data, ...args), buffer: data })); }
  async *readLines() { yield* (await this.readFile('utf8')).replace(/\n$/, '').split('\n'); }
  [Symbol.asyncDispose ?? Symbol('asyncDispose')]() { return this.close(); }
}
exports.open = (path, flags, mode) => later(() => new FileHandle(sync.open(path, flags, mode)));
exports.constants = fs.constants;
