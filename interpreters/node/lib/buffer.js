'use strict';
// Buffer: bytes with encodings.

const ENCODINGS = { utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url', ascii: 'ascii',
  latin1: 'latin1', binary: 'latin1', utf16le: 'utf16le', 'utf-16le': 'utf16le', ucs2: 'utf16le', 'ucs-2': 'utf16le' };
function encodingOf(name) {
  if (name === undefined || name === null || name === '') return 'utf8';
  const found = ENCODINGS[String(name).toLowerCase()];
  if (!found) throw internal.typeError('ERR_UNKNOWN_ENCODING', `Unknown encoding: ${name}`);
  return found;
}
/** Returns the bytes of a text. Encodings that the native call does not know are encoded unit by unit. */
function encoded(text, encoding) {
  switch (encoding) {
    case 'utf8': case 'hex': case 'base64': return sys.encode(text, encoding);
    case 'base64url': return sys.encode(text, 'base64');
    case 'utf16le': return new Uint8Array(Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)).buffer);
    default: {
      const bytes = new Uint8Array(text.length);
      for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
      return bytes;
    }
  }
}
/** Returns the text of bytes. */
function decoded(bytes, encoding) {
  if (encoding === 'base64url') return sys.decode(bytes, 'base64').replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  if (encoding !== 'utf16le') return sys.decode(bytes, encoding);
  const units = new Uint16Array(new Uint8Array(bytes).buffer, 0, bytes.length >> 1);
  let text = '';
  for (let at = 0; at < units.length; at += 4096) text += String.fromCharCode(...units.subarray(at, at + 4096));
  return text;
}
const own = (bytes) => Object.setPrototypeOf(bytes, Buffer.prototype);

class Buffer extends Uint8Array {
  static from(value, encoding, length) {
    if (typeof value === 'string') return own(encoded(value, encodingOf(encoding)));
    if (value instanceof ArrayBuffer) return own(new Uint8Array(value, encoding, length));
    if (ArrayBuffer.isView(value) || Array.isArray(value)) return own(Uint8Array.from(value, (byte) => Number(byte) & 255));
    if (value?.type === 'Buffer' && Array.isArray(value.data)) return Buffer.from(value.data);
    if (value !== null && typeof value === 'object') {
      const plain = value.valueOf?.();
      if (plain !== value && plain != null) return Buffer.from(plain, encoding, length);
      if (typeof value.length === 'number') return own(Uint8Array.from(value, (byte) => Number(byte) & 255));
    }
    throw internal.typeError('ERR_INVALID_ARG_TYPE', 'The first argument must be of type string or an instance of Buffer, ' +
      `ArrayBuffer, or Array or an Array-like Object. Received ${internal.received(value)}`);
  }
  static alloc(size, fill, encoding) {
    checkSize(size);
    const made = own(new Uint8Array(size));
    return fill === undefined || fill === 0 ? made : made.fill(fill, encoding);
  }
  static allocUnsafe(size) { return Buffer.alloc(size); }
  static allocUnsafeSlow(size) { return Buffer.alloc(size); }
  static of(...bytes) { return Buffer.from(bytes); }
  static isBuffer(value) { return value instanceof Buffer; }
  static isEncoding(name) { return typeof name === 'string' && ENCODINGS[name.toLowerCase()] !== undefined; }
  static byteLength(value, encoding) {
    return typeof value === 'string' ? encoded(value, encodingOf(encoding)).length : value.byteLength;
  }
  static concat(list, total = list.reduce((sum, one) => sum + one.length, 0)) {
    const made = Buffer.alloc(total);
    let at = 0;
    for (const one of list) {
      if (at >= total) break;
      made.set(one.length > total - at ? one.subarray(0, total - at) : one, at);
      at += one.length;
    }
    return made;
  }
  static compare(a, b) {
    const length = Math.min(a.length, b.length);
    for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at] < b[at] ? -1 : 1;
    return Math.sign(a.length - b.length);
  }
  get parent() { return this.buffer; }
  get offset() { return this.byteOffset; }
  toString(encoding, start = 0, end = this.length) {
    const name = encodingOf(encoding);
    const bytes = start === 0 && end >= this.length ? this : this.subarray(Math.max(0, start), Math.max(0, end));
    if (bytes.length === 0) return '';
    return decoded(bytes, name);
  }
  toLocaleString(encoding, start, end) { return this.toString(encoding, start, end); }
  toJSON() { return { type: 'Buffer', data: Array.from(this) }; }
  equals(other) { return this === other || Buffer.compare(this, other) === 0; }
  compare(other, otherStart, otherEnd, start, end) {
    return Buffer.compare(this.subarray(start ?? 0, end), other.subarray(otherStart ?? 0, otherEnd));
  }
  subarray(start, end) { return own(super.subarray(start, end)); }
  slice(start, end) { return this.subarray(start, end); }
  write(text, offset = 0, length, encoding) {
    if (typeof offset === 'string') [encoding, offset, length] = [offset, 0, undefined];
    else if (typeof length === 'string') [encoding, length] = [length, undefined];
    const bytes = encoded(text, encodingOf(encoding));
    const count = Math.min(bytes.length, length ?? Infinity, this.length - offset);
    this.set(bytes.subarray(0, count), offset);
    return count;
  }
  fill(value, start, end, encoding) {
    if (typeof start === 'string') [encoding, start] = [start, undefined];
    if (typeof value === 'string') value = encoded(value, encodingOf(encoding));
    if (typeof value !== 'object') return super.fill(Number(value) & 255, start, end);
    start ??= 0;
    end ??= this.length;
    for (let at = start; at < end && value.length > 0; at++) this[at] = value[(at - start) % value.length];
    return this;
  }
  copy(target, targetStart = 0, start = 0, end = this.length) {
    const part = this.subarray(start, Math.min(end, start + target.length - targetStart));
    target.set(part, targetStart);
    return part.length;
  }
  indexOf(value, from = 0, encoding) {
    if (typeof from === 'string') [encoding, from] = [from, 0];
    if (typeof value === 'number') return super.indexOf(value & 255, from);
    const wanted = typeof value === 'string' ? encoded(value, encodingOf(encoding)) : value;
    if (from < 0) from = Math.max(0, this.length + from);
    for (let at = from; at + wanted.length <= this.length; at++) {
      at = wanted.length === 0 ? at : super.indexOf(wanted[0], at);
      if (at < 0) return -1;
      let same = 0;
      while (same < wanted.length && this[at + same] === wanted[same]) same++;
      if (same === wanted.length) return at;
    }
    return -1;
  }
  lastIndexOf(value, from = this.length, encoding) {
    const wanted = typeof value === 'number' ? [value & 255] : typeof value === 'string' ? encoded(value, encodingOf(encoding)) : value;
    for (let at = Math.min(from, this.length - wanted.length); at >= 0; at--) {
      let same = 0;
      while (same < wanted.length && this[at + same] === wanted[same]) same++;
      if (same === wanted.length) return at;
    }
    return -1;
  }
  includes(value, from, encoding) { return this.indexOf(value, from, encoding) >= 0; }
  swap16() { for (let at = 0; at + 1 < this.length; at += 2) [this[at], this[at + 1]] = [this[at + 1], this[at]]; return this; }
  readUIntBE(offset, length) { let value = 0; for (let at = 0; at < length; at++) value = value * 256 + this[offset + at]; return value; }
  readUIntLE(offset, length) { let value = 0; for (let at = length - 1; at >= 0; at--) value = value * 256 + this[offset + at]; return value; }
  readIntBE(offset, length) { const value = this.readUIntBE(offset, length); return value >= 2 ** (8 * length - 1) ? value - 2 ** (8 * length) : value; }
  readIntLE(offset, length) { const value = this.readUIntLE(offset, length); return value >= 2 ** (8 * length - 1) ? value - 2 ** (8 * length) : value; }
  writeUIntBE(value, offset, length) { for (let at = length - 1; at >= 0; at--) { this[offset + at] = value % 256; value = Math.floor(value / 256); } return offset + length; }
  writeUIntLE(value, offset, length) { for (let at = 0; at < length; at++) { this[offset + at] = value % 256; value = Math.floor(value / 256); } return offset + length; }
  writeIntBE(value, offset, length) { return this.writeUIntBE(value < 0 ? value + 2 ** (8 * length) : value, offset, length); }
  writeIntLE(value, offset, length) { return this.writeUIntLE(value < 0 ? value + 2 ** (8 * length) : value, offset, length); }
  [Symbol.for('nodejs.util.inspect.custom')]() {
    const shown = Array.from(this.subarray(0, 50), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const left = this.length - 50;
    return `<Buffer${shown ? ' ' + shown : ''}${left > 0 ? ` ... ${left} more byte${left > 1 ? 's' : ''}` : ''}>`;
  }
}
function checkSize(size) {
  if (typeof size !== 'number') {
    throw internal.typeError('ERR_INVALID_ARG_TYPE', `The "size" argument must be of type number. Received ${internal.received(size)}`);
  }
  if (!(size >= 0 && size <= 2 ** 32)) {
    throw internal.typeError('ERR_OUT_OF_RANGE', `The value of "size" is out of range. It must be >= 0 && <= 4294967296. Received ${size}`, RangeError);
  }
}
// Numbers of fixed sizes go through a DataView, which knows them all.
const NUMBERS = { UInt8: ['Uint8', 1], Int8: ['Int8', 1], UInt16: ['Uint16', 2], Int16: ['Int16', 2], UInt32: ['Uint32', 4],
  Int32: ['Int32', 4], Float: ['Float32', 4], Double: ['Float64', 8], BigInt64: ['BigInt64', 8], BigUInt64: ['BigUint64', 8] };
for (const [name, [type, size]] of Object.entries(NUMBERS)) {
  for (const order of size === 1 ? [''] : ['LE', 'BE']) {
    const view = (buffer, offset) => {
      if (!(offset >= 0 && offset + size <= buffer.length)) {
        if (buffer.length < size) throw internal.typeError('ERR_BUFFER_OUT_OF_BOUNDS', 'Attempt to access memory outside buffer bounds', RangeError);
        throw internal.typeError('ERR_OUT_OF_RANGE', `The value of "offset" is out of range. It must be >= 0 and <= ${buffer.length - size}. Received ${offset}`, RangeError);
      }
      return new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
    };
    const read = { [`read${name}${order}`](offset = 0) { return view(this, offset)[`get${type}`](offset, order === 'LE'); } }[`read${name}${order}`];
    const write = { [`write${name}${order}`](value, offset = 0) { view(this, offset)[`set${type}`](offset, value, order === 'LE'); return offset + size; } }[`write${name}${order}`];
    for (const alias of new Set([name, name.replace('UInt', 'Uint')])) {
      internal.define(Buffer.prototype, `read${alias}${order}`, read);
      internal.define(Buffer.prototype, `write${alias}${order}`, write);
    }
  }
}
internal.define(Buffer, 'poolSize', 8192);
Object.defineProperty(Buffer, Symbol.species, { get: () => Uint8Array });
internal.encodingOf = encodingOf;
internal.own = own;
internal.encoded = encoded;
internal.decoded = decoded;
Object.assign(exports, { Buffer, kMaxLength: 2 ** 32, constants: { MAX_LENGTH: 2 ** 32, MAX_STRING_LENGTH: 2 ** 29 - 24 }, isUtf8: (bytes) => {
  try { sys.decode(bytes, 'utf8', true); return true; } catch { return false; }
} });
Object.defineProperty(exports, 'atob', { enumerable: true, get: () => globalThis.atob });
Object.defineProperty(exports, 'btoa', { enumerable: true, get: () => globalThis.btoa });
