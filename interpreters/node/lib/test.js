'use strict';
// node:test: tests that run one after the other, and a report in TAP.

const { inspect } = internal.part('inspect');

const root = { name: '<root>', depth: -1, children: [], hooks: {}, count: 0, failed: 0 };
let current = root;
let isScheduled = false;
const totals = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };
const out = (depth, text) => sys.write(1, text.split('\n').map((line) => `${'    '.repeat(depth)}${line}`).join('\n') + '\n');

const KNOWN = ['skip', 'todo', 'only', 'timeout', 'concurrency', 'plan'];
function argumentsOf(name, options, body) {
  if (typeof name === 'function') [name, options, body] = [name.name || '<anonymous>', {}, name];
  else if (typeof name === 'object' && name !== null) [name, options, body] = ['<anonymous>', name, options];
  if (typeof options === 'function') [options, body] = [{}, options];
  options ??= {};
  for (const key of Object.keys(options)) if (!KNOWN.includes(key)) throw internal.missing(`the option ${key} of node:test`);
  if (options.only) throw internal.missing('the option only of node:test');
  return { name: String(name ?? '<anonymous>'), options, body };
}
function add(parent, kind, given) {
  const node = { ...given, kind, parent, depth: parent.depth + 1, children: [], hooks: {}, failed: 0, start: 0 };
  node.done = new Promise((resolve) => { node.settle = resolve; });
  parent.children.push(node);
  if (parent === root && !isScheduled) { isScheduled = true; setImmediate(runRoot); }
  return node;
}
const make = (kind, extra) => (name, options, body) => {
  const given = argumentsOf(name, options, body);
  Object.assign(given.options, extra);
  return add(current, kind, given).done;
};
const test = Object.assign(make('test'), { skip: make('test', { skip: true }), todo: make('test', { todo: true }) });
const suite = Object.assign(make('suite'), { skip: make('suite', { skip: true }), todo: make('suite', { todo: true }) });
const hook = (name) => (body) => { (current.hooks[name] ??= []).push(body); };

/** Calls a body that returns a promise, calls back, or does neither. */
function call(body, context) {
  if (body.length < 2) return body(context);
  return new Promise((resolve, reject) => { body(context, (error) => error ? reject(error) : resolve()); });
}
async function limited(promise, milliseconds) {
  if (!(milliseconds > 0 && milliseconds < Infinity)) return promise;
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(internal.typeError('ERR_TEST_FAILURE', `test timed out after ${milliseconds}ms`, Error)), milliseconds);
  });
  try { return await Promise.race([promise, late]); } finally { clearTimeout(timer); }
}
class TestContext {
  constructor(node) { this.name = node.name; this.node = node; define(this); }
  test(name, options, body) { return run(add(this.node, 'test', argumentsOf(name, options, body))); }
  skip(reason) { this.node.options.skip = reason ?? true; }
  todo(reason) { this.node.options.todo = reason ?? true; }
  diagnostic(text) { (this.node.notes ??= []).push(String(text)); }
  before(body) { (this.node.hooks.before ??= []).push(body); }
  after(body) { (this.node.hooks.after ??= []).push(body); }
  beforeEach(body) { (this.node.hooks.beforeEach ??= []).push(body); }
  afterEach(body) { (this.node.hooks.afterEach ??= []).push(body); }
  get mock() { throw internal.missing('mock of node:test'); }
}
function define(context) { internal.define(context, 'node', context.node); }
async function hooks(node, name) { for (const body of node.hooks[name] ?? []) await call(body, new TestContext(node)); }
async function around(node, name) {
  const chain = [];
  for (let at = node.parent; at; at = at.parent) chain.unshift(at);
  if (name === 'afterEach') chain.reverse();
  for (const at of chain) await hooks(at, name);
}

async function run(node) {
  const { options, depth, kind } = node;
  out(depth, `# Subtest: ${node.name}`);
  node.start = sys.nanos();
  let failure;
  if (!options.skip && node.body) {
    try {
      if (kind === 'suite') {
        const outer = current;
        current = node;
        try { await node.body(new TestContext(node)); } finally { current = outer; }
        await hooks(node, 'before');
        for (const child of node.children) await run(child);
        await hooks(node, 'after');
      } else {
        await around(node, 'beforeEach');
        try { await limited(call(node.body, new TestContext(node)), options.timeout); } finally { await around(node, 'afterEach'); }
        await hooks(node, 'after');
      }
    } catch (error) { failure = { error }; }
  }
  if (node.children.length > 0) out(depth + 1, `1..${node.children.length}`);
  if (!failure && node.failed > 0) {
    failure = { error: internal.typeError('ERR_TEST_FAILURE', `${node.failed} subtest${node.failed > 1 ? 's' : ''} failed`, Error), kind: 'subtestsFailed' };
  }
  report(node, failure);
  node.settle();
}
function report(node, failure) {
  const { options, parent, kind } = node;
  if (kind === 'suite') totals.suites++; else totals.tests++;
  const number = parent.children.indexOf(node) + 1;
  const mark = options.skip ? ` # SKIP${typeof options.skip === 'string' ? ` ${options.skip}` : ''}`
    : options.todo ? ` # TODO${typeof options.todo === 'string' ? ` ${options.todo}` : ''}` : '';
  const spent = `  duration_ms: ${((sys.nanos() - node.start) / 1e6).toFixed(6)}`;
  out(node.depth, `${failure ? 'not ok' : 'ok'} ${number} - ${node.name}${mark}`);
  const lines = ['  ---', spent, ...(kind === 'suite' ? ["  type: 'suite'"] : [])];
  if (failure) {
    const { error } = failure;
    lines.push(`  failureType: '${failure.kind ?? 'testCodeFailure'}'`, `  error: ${inspect(error instanceof Error ? error.message : error).replaceAll('\n', '\n    ')}`);
    if (error?.code) lines.push(`  code: '${error.code}'`);
    if (error?.stack && !failure.kind) lines.push('  stack: |-', ...internal.frames(error).map((line) => `    ${line.trim().slice(3)}`));
    if (!options.todo) parent.failed++;
  }
  lines.push('  ...');
  out(node.depth, lines.join('\n'));
  for (const note of node.notes ?? []) out(node.depth, `# ${note}`);
  if (kind === 'suite') return;
  totals[options.skip ? 'skipped' : options.todo ? 'todo' : failure ? 'fail' : 'pass']++;
}
async function runRoot() {
  out(0, 'TAP version 13');
  const start = sys.nanos();
  await hooks(root, 'before');
  for (let at = 0; at < root.children.length; at++) await run(root.children[at]);
  await hooks(root, 'after');
  out(0, `1..${root.children.length}`);
  for (const [name, count] of Object.entries(totals)) out(0, `# ${name} ${count}`);
  out(0, `# duration_ms ${((sys.nanos() - start) / 1e6).toFixed(6)}`);
  if (root.failed > 0) process.exitCode = 1;
}
module.exports = Object.assign(test, { test, it: test, suite, describe: suite, before: hook('before'), after: hook('after'),
  beforeEach: hook('beforeEach'), afterEach: hook('afterEach') });
Object.defineProperty(module.exports, 'mock', { get() { throw internal.missing('mock of node:test'); } });
