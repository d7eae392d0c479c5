'use strict';
// string_decoder: decodes bytes that come in pieces.

class StringDecoder {
  constructor(encoding) {
    require('buffer');
    this.encoding = internal.encodingOf(encoding);
    this.rest = new Uint8Array(0);
  }
  write(bytes) {
    if (typeof bytes === 'string') return bytes;
    const all = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    const keep = this.encoding === 'utf8' ? cut(all) : this.encoding === 'utf16le' ? all.length % 2
      : this.encoding.startsWith('base64') ? all.length % 3 : 0;
    this.rest = all.subarray(all.length - keep);
    return Buffer.from(all.subarray(0, all.length - keep)).toString(this.encoding);
  }
  end(bytes) {
    const out = (bytes ? this.write(bytes) : '') + Buffer.from(this.rest).toString(this.encoding);
    this.rest = new Uint8Array(0);
    return out;
  }
}
/** Returns the number of bytes of an incomplete character at the end. */
function cut(bytes) {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if ((byte & 0xc0) === 0x80) continue;
    const need = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return need > back ? back : 0;
  }
  return 0;
}
exports.StringDecoder = StringDecoder;
