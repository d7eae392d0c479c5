'use strict';
// The built-in kind of an object, independent of its prototype: a method of the kind accepts only its own objects.

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
/** Returns the name of a kind; for other objects, their own tag. */
module.exports = (value) => {
  const native = sys.kind(value);
  if (native !== '') return native;
  if (Array.isArray(value)) return 'Array';
  if (ArrayBuffer.isView(value)) return typeName.call(value) === undefined ? 'DataView' : 'TypedArray';
  for (const [name, type, brand] of BRANDS) {
    // An object of another kind is seldom an instance, and one that is not an instance needs no further check.
    if (!(value instanceof type)) continue;
    try { brand.call(value, value); return name; } catch { /* it only claims to be one */ }
  }
  const tag = value[Symbol.toStringTag];
  return typeof tag === 'string' ? tag : '';
};
