'use strict';
// console: text on standard output and error.

let indent = '';
const counts = new Map();
const times = new Map();
let lib;
const inspection = () => lib ??= internal.part('inspect');

function print(fd, args) {
  let text = args.length === 1 && typeof args[0] === 'string' ? args[0]
    : args.length === 0 ? '' : inspection().formatWithOptions({}, ...args);
  if (indent !== '') text = indent + text.replaceAll('\n', `\n${indent}`);
  try { sys.write(fd, text + '\n'); } catch (error) {
    if (error.message !== 'EPIPE') throw error;
    sys.exit(1);
  }
}
function elapsed(label) {
  const start = times.get(label);
  if (start === undefined) { process.emitWarning(`No such label '${label}' for console.time()`); return undefined; }
  const spent = (sys.nanos() - start) / 1e6;
  return spent >= 1000 ? `${(spent / 1000).toFixed(3)}s` : `${Number(spent.toFixed(3))}ms`;
}

const console = {
  log(...args) { print(1, args); },
  info(...args) { print(1, args); },
  debug(...args) { print(1, args); },
  error(...args) { print(2, args); },
  warn(...args) { print(2, args); },
  trace(...args) {
    const where = internal.frames(new Error());
    const text = inspection().formatWithOptions({}, ...args);
    print(2, [[text ? `Trace: ${text}` : 'Trace', ...where].join('\n')]);
  },
  dir(value, options) { print(1, [inspection().inspect(value, { customInspect: false, ...options })]); },
  dirxml(...args) { print(1, args); },
  assert(isTrue, ...args) {
    if (isTrue) return;
    if (typeof args[0] === 'string') args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift('Assertion failed');
    print(2, args);
  },
  count(label = 'default') {
    const count = (counts.get(`${label}`) ?? 0) + 1;
    counts.set(`${label}`, count);
    print(1, [`${label}: ${count}`]);
  },
  countReset(label = 'default') { counts.delete(`${label}`); },
  time(label = 'default') { times.set(`${label}`, sys.nanos()); },
  timeEnd(label = 'default') {
    const spent = elapsed(`${label}`);
    if (spent !== undefined) { print(1, [`${label}: ${spent}`]); times.delete(`${label}`); }
  },
  timeLog(label = 'default', ...rest) {
    const spent = elapsed(`${label}`);
    if (spent !== undefined) print(1, [`${label}: ${spent}`, ...rest]);
  },
  group(...args) { if (args.length > 0) print(1, args); indent += '  '; },
  groupCollapsed(...args) { console.group(...args); },
  groupEnd() { indent = indent.slice(0, -2); },
  table(data, shown) {
    if (data === null || typeof data !== 'object') return print(1, [data]);
    const { inspect } = inspection();
    const cell = (value) => inspect(value, { depth: value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 2 ? -1 : 0,
      maxArrayLength: 3, breakLength: Infinity, compact: 3 });
    const kind = internal.part('kinds')(data);
    const index = kind === 'Map' || kind === 'Set' ? '(iteration index)' : '(index)';
    const rows = kind === 'Map' ? [...data].map(([key, value], at) => [String(at), value, key])
      : kind === 'Set' ? [...data].map((value, at) => [String(at), value]) : Object.keys(data).map((key) => [key, data[key]]);
    const names = [];
    let hasValues = false;
    const cells = rows.map(([key, value, mapKey]) => {
      const row = new Map();
      if (kind === 'Map') row.set('Key', cell(mapKey));
      if (value !== null && (typeof value === 'object' || typeof value === 'function') && kind !== 'Map') {
        for (const name of shown ?? Object.keys(value)) {
          if (!names.includes(name)) names.push(name);
          if (Object.hasOwn(value, name)) row.set(name, cell(value[name]));
        }
      } else { hasValues = true; row.set(internalValue, cell(value)); }
      return [key, row];
    });
    const columns = [index, ...(kind === 'Map' ? ['Key'] : []), ...(shown ?? names), ...(hasValues ? [internalValue] : [])];
    const table = cells.map(([key, row]) => columns.map((name, at) => at === 0 ? key : row.get(name) ?? ''));
    const heads = columns.map((name) => name === internalValue ? 'Values' : name);
    const widths = heads.map((name, at) => Math.max(inspection().width({}, name), ...table.map((row) => inspection().width({}, row[at]))) + 2);
    const line = (left, middle, right) => left + widths.map((width) => '─'.repeat(width)).join(middle) + right;
    const padded = (text, width) => ` ${text}${' '.repeat(width - 1 - inspection().width({}, text))}`;
    const show = (row) => '│' + row.map((text, at) => padded(text, widths[at])).join('│') + '│';
    print(1, [[line('┌', '┬', '┐'), show(heads), line('├', '┼', '┤'), ...table.map(show), line('└', '┴', '┘')].join('\n')]);
  },
};
const internalValue = Symbol('values');
console.Console = class Console {
  constructor(out, error) {
    const to = (stream) => (...args) => { stream.write(inspection().formatWithOptions({}, ...args) + '\n'); };
    out = out.stdout ?? out;
    error = out.stderr ?? error ?? out;
    Object.assign(this, console, { log: to(out), info: to(out), debug: to(out), error: to(error), warn: to(error) });
  }
};
module.exports = console;
