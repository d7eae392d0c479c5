'use strict';
// assert: errors for failed checks.

const { same, inspect } = require('util');

class AssertionError extends Error {
  constructor({ message, actual, expected, operator }) {
    super(message ?? `${inspect(actual)} ${operator} ${inspect(expected)}`);
    this.name = 'AssertionError';
    this.generatedMessage = message === undefined;
    this.code = 'ERR_ASSERTION';
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
    internal.define(this, 'name', 'AssertionError');
    internal.define(this, 'stack', [`AssertionError [ERR_ASSERTION]: ${this.message}`, ...internal.frames(this)].join('\n'));
  }
}
function fail(message, details, generated) {
  if (message instanceof Error) throw message;
  const error = new AssertionError({ ...details, message: message ?? generated });
  error.generatedMessage = message === undefined;
  throw error;
}
function difference(title, actual, expected) {
  const [left, right] = [actual, expected].map((value) => inspect(value, { depth: 1000, maxArrayLength: Infinity, compact: false, sorted: true }));
  const a = left.split('\n'), b = right.split('\n');
  if (a.length === 1 && b.length === 1 && (typeof actual !== 'object' || actual === null) && (typeof expected !== 'object' || expected === null) &&
    left.length + right.length < 60) return `${title}\n\n${left} !== ${right}\n`;
  // The common lines at both ends are kept, and the lines between them are shown on both sides.
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return [title, '+ actual - expected', '', ...a.slice(0, start).map((line) => `  ${line}`), ...a.slice(start, a.length - end).map((line) => `+ ${line}`),
    ...b.slice(start, b.length - end).map((line) => `- ${line}`), ...a.slice(a.length - end).map((line) => `  ${line}`)].join('\n');
}
function assert(...args) { ok(...args); }
function ok(value, message) {
  if (value) return;
  fail(message, { actual: value, expected: true, operator: '==' },
    arguments.length === 0 ? 'No value argument passed to `assert.ok()`' : 'The expression evaluated to a falsy value');
}
const compare = (operator, test, generated) => function (actual, expected, message) {
  if (arguments.length < 2) throw internal.typeError('ERR_MISSING_ARGS', 'The "actual" and "expected" arguments must be specified');
  if (!test(actual, expected)) fail(message, { actual, expected, operator }, generated(actual, expected));
};
function matches(error, expected, message) {
  if (expected === undefined) return;
  if (expected instanceof RegExp) {
    if (!expected.test(String(error))) fail(message, { actual: error, expected, operator: 'throws' }, `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`);
    return;
  }
  if (typeof expected === 'function') {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (Object.prototype.isPrototypeOf.call(Error, expected) || expected === Error) throw error;
    if (Reflect.apply(expected, {}, [error]) !== true) {
      fail(message, { actual: error, expected, operator: 'throws' }, `The ${expected.name ? `"${expected.name}"` : 'validation'} validation function is expected to return "true". Received ${inspect(Reflect.apply(expected, {}, [error]))}\n\nCaught error:\n\n${error}`);
    }
    return;
  }
  const keys = Object.keys(expected);
  if (expected instanceof Error) keys.push('name', 'message');
  for (const key of keys) {
    const isMatch = expected[key] instanceof RegExp && typeof error[key] === 'string' ? expected[key].test(error[key]) : same(error[key], expected[key], true);
    if (!isMatch) {
      const pick = (from) => Object.fromEntries(keys.map((one) => [one, from[one]]));
      fail(message, { actual: error, expected, operator: 'throws' }, difference('Expected values to be strictly deep-equal:', pick(error), pick(expected)));
    }
  }
}
function split(expected, message) { return typeof expected === 'string' ? [undefined, expected] : [expected, message]; }
Object.assign(assert, {
  ok,
  AssertionError,
  equal: compare('==', (a, b) => a == b || (a !== a && b !== b), (a, b) => `${inspect(a)} == ${inspect(b)}`),
  notEqual: compare('!=', (a, b) => !(a == b || (a !== a && b !== b)), (a, b) => `${inspect(a)} != ${inspect(b)}`),
  strictEqual: compare('strictEqual', Object.is, (a, b) => difference('Expected values to be strictly equal:', a, b)),
  notStrictEqual: compare('notStrictEqual', (a, b) => !Object.is(a, b), (a) => `Expected "actual" to be strictly unequal to: ${inspect(a)}`),
  deepEqual: compare('deepEqual', (a, b) => same(a, b, false), (a, b) => difference('Expected values to be loosely deep-equal:', a, b)),
  notDeepEqual: compare('notDeepEqual', (a, b) => !same(a, b, false), (a) => `Expected "actual" not to be loosely deep-equal to: ${inspect(a)}`),
  deepStrictEqual: compare('deepStrictEqual', (a, b) => same(a, b, true), (a, b) => difference('Expected values to be strictly deep-equal:', a, b)),
  notDeepStrictEqual: compare('notDeepStrictEqual', (a, b) => !same(a, b, true), (a) => `Expected "actual" not to be strictly deep-equal to: ${inspect(a)}`),
  fail(message = 'Failed') { fail(message, { operator: 'fail' }); },
  ifError(value) {
    if (value !== null && value !== undefined) {
      fail(undefined, { actual: value, expected: null, operator: 'ifError' }, `ifError got unwanted exception: ${value instanceof Error ? value.message : inspect(value)}`);
    }
  },
  match(text, pattern, message) {
    if (typeof text !== 'string' || !pattern.test(text)) fail(message, { actual: text, expected: pattern, operator: 'match' }, `The input did not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`);
  },
  doesNotMatch(text, pattern, message) {
    if (pattern.test(text)) fail(message, { actual: text, expected: pattern, operator: 'doesNotMatch' }, `The input was expected to not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`);
  },
  throws(run, ...rest) {
    const [expected, message] = split(...rest);
    try { run(); } catch (error) { matches(error, expected, message); return; }
    fail(undefined, { operator: 'throws', expected }, `Missing expected exception${expected?.name ? ` (${expected.name})` : ''}${message ? `: ${message}` : '.'}`);
  },
  doesNotThrow(run, ...rest) {
    const [, message] = split(...rest);
    try { run(); } catch (error) {
      fail(undefined, { actual: error, operator: 'doesNotThrow' }, `Got unwanted exception${message ? `: ${message}` : '.'}\nActual message: "${error?.message}"`);
    }
  },
  async rejects(run, ...rest) {
    const [expected, message] = split(...rest);
    try { await (typeof run === 'function' ? run() : run); } catch (error) { matches(error, expected, message); return; }
    fail(undefined, { operator: 'rejects', expected }, `Missing expected rejection${expected?.name ? ` (${expected.name})` : ''}${message ? `: ${message}` : '.'}`);
  },
  async doesNotReject(run) {
    try { await (typeof run === 'function' ? run() : run); } catch (error) {
      fail(undefined, { actual: error, operator: 'doesNotReject' }, `Got unwanted rejection.\nActual message: "${error?.message}"`);
    }
  },
});
assert.strict = Object.assign(function strict(...args) { ok(...args); }, assert, { equal: assert.strictEqual, notEqual: assert.notStrictEqual,
  deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual });
assert.strict.strict = assert.strict;
module.exports = assert;
