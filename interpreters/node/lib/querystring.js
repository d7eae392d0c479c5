'use strict';
// querystring: names and values in a URL.

const escape = (text) => encodeURIComponent(text).replace(/%20/g, '%20');
const unescape = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
const plain = (value) => ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : '';
Object.assign(exports, {
  escape, unescape,
  stringify(object, separator = '&', equals = '=', options = {}) {
    const encode = options?.encodeURIComponent ?? exports.escape;
    return Object.entries(object ?? {}).flatMap(([name, value]) =>
      [value].flat().map((one) => `${encode(name)}${equals}${encode(plain(one))}`)).join(separator);
  },
  parse(text, separator = '&', equals = '=', options = {}) {
    const out = Object.create(null);
    const decode = options?.decodeURIComponent ?? exports.unescape;
    for (const pair of String(text).split(separator).filter(Boolean).slice(0, options?.maxKeys || 1000)) {
      const at = pair.indexOf(equals);
      const [name, value] = (at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + equals.length)]).map((one) => decode(one.replaceAll('+', ' ')));
      if (name in out) out[name] = [out[name], value].flat(); else out[name] = value;
    }
    return out;
  },
});
exports.encode = exports.stringify;
exports.decode = exports.parse;
