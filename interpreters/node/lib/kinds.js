'use strict';
// Which of the built-in kinds an object is, whatever its prototype says: by what its kind's own methods make of it.

const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
const TypedArray = Object.getPrototypeOf(Uint8Array);
const typeName = getter(TypedArray, Symbol.toStringTag);
const BRANDS = [
  ['Map', Map, getter(Map, 'size')], ['Set', Set, getter(Set, 'size')], ['Date', Date, Date.prototype.getTime],
  ['RegExp', RegExp, getter(RegExp, 'source')], ['ArrayBuffer', ArrayBuffer, getter(ArrayBuffer, 'byteLength')],
  ['DataView', DataView, getter(DataView, 'byteLength')], ['WeakMap', WeakMap, (value) => WeakMap.prototype.has.call(value, {})],
  ['WeakSet', WeakSet, (value) => WeakSet.prototype.has.call(value, {})], ['WeakRef', WeakRef, WeakRef.prototype.deref],
  ['SharedArrayBuffer', SharedArrayBuffer, getter(SharedArrayBuffer, 'byteLength')],
];
/** The name of a kind; for the rest, what the object itself says. */
module.exports = (value) => {
  const native = sys.kind(value);
  if (native !== '') return native;
  if (Array.isArray(value)) return 'Array';
  if (ArrayBuffer.isView(value)) return typeName.call(value) === undefined ? 'DataView' : 'TypedArray';
  for (const [name, type, brand] of BRANDS) {
    // An object of another kind is seldom an instance: what is not needs no further look.
    if (!(value instanceof type)) continue;
    try { brand.call(value, value); return name; } catch { /* it only says so */ }
  }
  const tag = value[Symbol.toStringTag];
  return typeof tag === 'string' ? tag : '';
};
