'use strict';
// crypto: digests and randomness; nothing that needs keys but HMAC.

const { Buffer } = require('buffer');
const BLOCKS = { md5: 64, sha1: 64, sha224: 64, sha256: 64, sha384: 128, sha512: 128 };
const nameOf = (algorithm) => String(algorithm).toLowerCase().replace('-', '');
function known(algorithm) {
  const name = nameOf(algorithm);
  if (!BLOCKS[name]) throw Object.assign(new Error('Digest method not supported'), { code: 'ERR_CRYPTO_INVALID_DIGEST' });
  return name;
}
const shown = (bytes, encoding) => encoding && encoding !== 'buffer' ? internal.own(bytes).toString(encoding) : internal.own(bytes);
class Hash {
  constructor(algorithm, key) {
    this.algorithm = known(algorithm);
    this.pieces = [];
    if (key !== undefined) {
      let bytes = typeof key === 'string' ? Buffer.from(key) : key;
      const size = BLOCKS[this.algorithm];
      if (bytes.length > size) bytes = sys.digest(this.algorithm, bytes);
      const padded = Buffer.alloc(size);
      padded.set(bytes);
      this.outer = padded.map((byte) => byte ^ 0x5c);
      this.pieces.push(padded.map((byte) => byte ^ 0x36));
    }
  }
  update(data, encoding) {
    if (this.isDone) throw internal.typeError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called', Error);
    if (typeof data !== 'string' && !ArrayBuffer.isView(data)) {
      throw internal.typeError('ERR_INVALID_ARG_TYPE', `The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ${internal.received(data)}`);
    }
    this.pieces.push(typeof data === 'string' ? Buffer.from(data, encoding) : Buffer.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)));
    return this;
  }
  digest(encoding) {
    if (this.isDone) throw internal.typeError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called', Error);
    this.isDone = true;
    let bytes = sys.digest(this.algorithm, Buffer.concat(this.pieces));
    if (this.outer) bytes = sys.digest(this.algorithm, Buffer.concat([this.outer, bytes]));
    return shown(bytes, encoding);
  }
  copy() { const other = Object.create(Hash.prototype); return Object.assign(other, this, { pieces: [...this.pieces] }); }
}
const randomBytes = (size, done) => {
  const bytes = internal.own(sys.random(size));
  if (!done) return bytes;
  internal.later(() => done(null, bytes));
};
function randomUUID() {
  const bytes = sys.random(16);
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = sys.decode(bytes, 'hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
function randomInt(least, limit, done) {
  if (limit === undefined || typeof limit === 'function') [least, limit, done] = [0, least, limit];
  const range = limit - least;
  if (!(range > 0 && range <= 2 ** 48)) throw internal.typeError('ERR_OUT_OF_RANGE', `The value of "max" is out of range. It must be greater than the value of "min" (${least}). Received ${limit}`, RangeError);
  // Numbers above the last whole multiple would favour the small ones.
  const end = 2 ** 48 - (2 ** 48 % range);
  let value;
  do { value = internal.own(sys.random(6)).readUIntBE(0, 6); } while (value >= end);
  value = least + (value % range);
  if (!done) return value;
  internal.later(() => done(null, value));
}
function fillRandom(array) { new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(sys.random(array.byteLength)); return array; }
function timingSafeEqual(a, b) {
  if (a.byteLength !== b.byteLength) throw internal.typeError('ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', 'Input buffers must have the same byte length', RangeError);
  let difference = 0;
  for (let at = 0; at < a.length; at++) difference |= a[at] ^ b[at];
  return difference === 0;
}
Object.assign(exports, {
  createHash: (algorithm) => new Hash(algorithm), createHmac: (algorithm, key) => new Hash(algorithm, key),
  hash: (algorithm, data, encoding = 'hex') => new Hash(algorithm).update(data).digest(encoding),
  getHashes: () => Object.keys(BLOCKS), randomBytes, randomUUID, randomInt, randomFillSync: fillRandom, timingSafeEqual,
  webcrypto: { getRandomValues: fillRandom, randomUUID },
  getRandomValues: fillRandom,
});
for (const name of ['createCipheriv', 'createDecipheriv', 'createSign', 'createVerify', 'generateKeyPairSync', 'pbkdf2Sync', 'scryptSync', 'createPublicKey',
  'createPrivateKey', 'createDiffieHellman']) {
  exports[name] = () => { throw internal.missing(`crypto.${name}`); };
}
