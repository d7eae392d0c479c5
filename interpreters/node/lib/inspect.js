'use strict';
// util.inspect: values as text. The layout follows Node's: three levels of short things on a line, long arrays in
// columns, and nothing longer than the break length.

const DEFAULTS = { showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100,
  maxStringLength: 10000, breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false };
const custom = Symbol.for('nodejs.util.inspect.custom');
const IDENTIFIER = /^[a-zA-Z_][a-zA-Z_0-9]*$/;

const STYLES = { number: [33, 39], bigint: [33, 39], boolean: [33, 39], string: [32, 39], symbol: [32, 39],
  undefined: [90, 39], null: [1, 22], special: [36, 39], date: [35, 39], regexp: [31, 39], module: [4, 24] };

function inspect(value, options, ...rest) {
  const context = { ...DEFAULTS, seen: [], indentation: 0, level: 0, circular: undefined };
  if (typeof options === 'boolean') {
    context.showHidden = options;
    if (rest[0] !== undefined) context.depth = rest[0];
    if (rest[1] !== undefined) context.colors = rest[1];
  } else if (options) {
    for (const name of Object.keys(options)) context[name] = options[name];
    context.userOptions = options;
  }
  if (context.maxArrayLength === null) context.maxArrayLength = Infinity;
  if (context.maxStringLength === null) context.maxStringLength = Infinity;
  if (context.depth === null) context.depth = Infinity;
  return format(context, value, 0, true);
}
inspect.custom = custom;
inspect.defaultOptions = DEFAULTS;
inspect.colors = { reset: [0, 0], bold: [1, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39] };
inspect.styles = { special: 'cyan', number: 'yellow', string: 'green' };

const styled = (context, text, kind) => {
  const style = context.colors ? STYLES[kind] : undefined;
  return style ? `\x1b[${style[0]}m${text}\x1b[${style[1]}m` : text;
};

function quoted(text) {
  let quote = "'";
  if (text.includes("'")) quote = !text.includes('"') ? '"' : !text.includes('`') && !text.includes('${') ? '`' : "'";
  let out = quote;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at), char = text[at];
    if (char === '\n') out += '\\n';
    else if (char === '\t') out += '\\t';
    else if (char === '\r') out += '\\r';
    else if (char === '\b') out += '\\b';
    else if (char === '\f') out += '\\f';
    else if (char === '\v') out += '\\v';
    else if (char === '\\') out += '\\\\';
    else if (char === quote) out += '\\' + char;
    else if (code < 32 || (code >= 127 && code < 160)) out += '\\x' + code.toString(16).toUpperCase().padStart(2, '0');
    else if (code >= 0xd800 && code <= 0xdfff) {
      const next = text.charCodeAt(at + 1);
      if (code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) { out += char + text[++at]; }
      else out += '\\u' + code.toString(16).toUpperCase();
    } else out += char;
  }
  return out + quote;
}

const numeral = (value) => Object.is(value, -0) ? '-0' : String(value);

function primitive(context, value, isTyped) {
  switch (typeof value) {
    case 'string': {
      let tail = '';
      if (value.length > context.maxStringLength) {
        const left = value.length - context.maxStringLength;
        value = value.slice(0, context.maxStringLength);
        tail = `... ${left} more character${left > 1 ? 's' : ''}`;
      }
      if (!isTyped && value.length > 16 && value.length > context.breakLength - context.indentation - 4 && value.includes('\n')) {
        return value.split(/(?<=\n)/).map((line) => styled(context, quoted(line), 'string'))
          .join(` +\n${' '.repeat(context.indentation + 2)}`) + tail;
      }
      return styled(context, quoted(value), 'string') + tail;
    }
    case 'number': return styled(context, numeral(value), 'number');
    case 'bigint': return styled(context, `${value}n`, 'bigint');
    case 'boolean': return styled(context, String(value), 'boolean');
    case 'undefined': return styled(context, 'undefined', 'undefined');
    case 'symbol': return styled(context, value.toString(), 'symbol');
    default: return styled(context, 'null', 'null');
  }
}

function constructorName(value) {
  for (let at = value, first = true; at !== null; at = Object.getPrototypeOf(at), first = false) {
    const descriptor = Object.getOwnPropertyDescriptor(at, 'constructor');
    if (descriptor && typeof descriptor.value === 'function' && descriptor.value.name !== '' &&
      (descriptor.value.prototype === undefined || isInstance(value, descriptor.value))) {
      return descriptor.value.name;
    }
  }
  return null;
}
function isInstance(value, type) { try { return value instanceof type; } catch { return false; } }

function prefix(name, tag, fallback, size = '') {
  let text = name === null ? (tag !== '' && fallback !== tag ? `[${fallback}${size}: null prototype] [${tag}] `
    : `[${fallback}${size}: null prototype] `) : `${name}${size} `;
  if (name !== null && tag !== '' && name !== tag) text += `[${tag}] `;
  return text;
}

function keysOf(value, showHidden) {
  const symbols = Object.getOwnPropertySymbols(value);
  if (showHidden) return [...Object.getOwnPropertyNames(value), ...symbols];
  return [...Object.keys(value), ...symbols.filter((symbol) => Object.prototype.propertyIsEnumerable.call(value, symbol))];
}

function format(context, value, level, isTyped) {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return primitive(context, value, isTyped === 'typed');
  const kind = internal.part('kinds')(value);
  if (kind === 'Proxy') {
    // A proxy's target is not shown, but the proxy's own view of its properties.
    if (typeof value === 'function') return styled(context, `[Function${value.name ? ': ' + value.name : ' (anonymous)'}]`, 'special');
  } else if (context.customInspect) {
    const own = value[custom];
    if (typeof own === 'function' && own !== inspect) {
      const depth = context.depth - level;
      const { seen, indentation, level: _, circular, userOptions, ...options } = context;
      const made = own.call(value, depth, { ...options, ...userOptions, stylize: (text, style) => styled(context, text, style) }, inspect);
      if (made !== value) {
        if (typeof made !== 'object' || made === null) return typeof made === 'string'
          ? made.replaceAll('\n', `\n${' '.repeat(context.indentation)}`) : format(context, made, level);
        return format(context, made, level);
      }
    }
  }
  if (context.seen.includes(value)) {
    context.circular ??= new Map();
    let number = context.circular.get(value);
    if (number === undefined) context.circular.set(value, number = context.circular.size + 1);
    return styled(context, `[Circular *${number}]`, 'special');
  }
  return complex(context, value, level, kind);
}

function complex(context, value, level, kind) {
  const name = constructorName(value);
  let tag = '';
  try { tag = value[Symbol.toStringTag]; } catch { tag = ''; }
  if (typeof tag !== 'string' || (tag !== '' && (context.showHidden ? Object.hasOwn(value, Symbol.toStringTag)
    : Object.prototype.propertyIsEnumerable.call(value, Symbol.toStringTag)) )) tag = '';
  let base = '';
  let braces = ['{', '}'];
  let keys = keysOf(value, context.showHidden);
  let entries = () => [];
  let isArrayLike = false;
  if (kind === 'Proxy') kind = Array.isArray(value) ? 'Array' : '';
  if (kind === 'Array') {
    keys = keys.filter((key) => typeof key === 'symbol' || !/^(?:0|[1-9]\d*)$/.test(key)).filter((key) => key !== 'length' || !context.showHidden || true);
    const lead = name !== 'Array' || tag !== '' ? prefix(name, tag, 'Array', `(${value.length})`) : '';
    braces = [`${lead}[`, ']'];
    if (value.length === 0 && keys.length === 0) return `${braces[0]}]`;
    isArrayLike = true;
    entries = arrayEntries;
  } else if (kind === 'Set') {
    const lead = prefix(name, tag, 'Set', `(${value.size})`);
    if (value.size === 0 && keys.length === 0) return `${lead}{}`;
    braces = [`${lead}{`, '}'];
    entries = () => {
      const out = [];
      context.indentation += 2;
      Set.prototype.forEach.call(value, (one) => out.push(format(context, one, level + 1)));
      context.indentation -= 2;
      return out;
    };
  } else if (kind === 'Map') {
    const lead = prefix(name, tag, 'Map', `(${value.size})`);
    if (value.size === 0 && keys.length === 0) return `${lead}{}`;
    braces = [`${lead}{`, '}'];
    entries = () => {
      const out = [];
      context.indentation += 2;
      Map.prototype.forEach.call(value, (one, key) => out.push(`${format(context, key, level + 1)} => ${format(context, one, level + 1)}`));
      context.indentation -= 2;
      return out;
    };
  } else if (kind === 'TypedArray') {
    keys = keys.filter((key) => typeof key === 'symbol' || !/^(?:0|[1-9]\d*)$/.test(key));
    const lead = prefix(name, tag === name ? '' : tag, tag || 'Uint8Array', `(${value.length})`);
    braces = [`${lead}[`, ']'];
    if (value.length === 0 && keys.length === 0) return `${braces[0]}]`;
    isArrayLike = true;
    entries = (context, value) => {
      const shown = Math.min(Math.max(0, context.maxArrayLength), value.length);
      const out = [];
      for (let at = 0; at < shown; at++) out.push(primitive(context, value[at]));
      if (value.length > shown) out.push(more(value.length - shown));
      return out;
    };
  } else if (kind === 'Map Iterator' || kind === 'Set Iterator') {
    braces = [`[${tag}] {`, '}'];
    tag = '';
    entries = () => ['<iterated>'];
    return `Object [${kind}] {}`;
  } else if (typeof value === 'function') {
    base = functionBase(value, name, tag);
    if (keys.length === 0) return styled(context, base, 'special');
  } else if (kind === 'RegExp') {
    base = RegExp.prototype.toString.call(value);
    const lead = prefix(name, tag, 'RegExp');
    if (lead !== 'RegExp ') base = `${lead}${base}`;
    if (keys.length === 0) return styled(context, base, 'regexp');
  } else if (kind === 'Date') {
    const time = Date.prototype.getTime.call(value);
    base = Number.isNaN(time) ? 'Invalid Date' : Date.prototype.toISOString.call(value);
    const lead = prefix(name, tag, 'Date');
    if (lead !== 'Date ') base = `${lead}${base}`;
    if (keys.length === 0) return styled(context, base, 'date');
  } else if (kind === 'Error') {
    base = errorBase(context, value, name, tag, keys);
    if ('cause' in value && Object.hasOwn(value, 'cause') && !keys.includes('cause')) keys.push('cause');
    if (Array.isArray(value.errors) && Object.hasOwn(value, 'errors') && !keys.includes('errors')) keys.push('errors');
    if (keys.length === 0) return base;
  } else if (kind === 'Promise') {
    braces[0] = `${prefix(name, tag === 'Promise' ? '' : tag, 'Promise')}{`;
    entries = () => {
      const out = {};
      const state = sys.promise(value, out);
      if (state === 'pending') return [styled(context, '<pending>', 'special')];
      context.indentation += 2;
      const text = format(context, out.value, level + 1);
      context.indentation -= 2;
      return [state === 'rejected' ? `${styled(context, '<rejected>', 'special')} ${text}` : text];
    };
  } else if (kind === 'ArrayBuffer') {
    braces[0] = `${prefix(name, tag === 'ArrayBuffer' ? '' : tag, 'ArrayBuffer')}{`;
    entries = () => {
      const view = new Uint8Array(value);
      let hex = [];
      for (const byte of view.subarray(0, 50)) hex.push(byte.toString(16).padStart(2, '0'));
      let text = hex.join(' ');
      if (view.length > 50) text += ` ... ${view.length - 50} more byte${view.length > 51 ? 's' : ''}`;
      return [`[Uint8Contents]: <${text}>`, `byteLength: ${styled(context, String(value.byteLength), 'number')}`];
    };
  } else if (kind === 'WeakMap' || kind === 'WeakSet') {
    braces[0] = `${prefix(name, tag === kind ? '' : tag, kind)}{`;
    entries = () => [styled(context, '<items unknown>', 'special')];
  } else if (kind === 'WeakRef') {
    braces[0] = `${prefix(name, tag === kind ? '' : tag, kind)}{`;
    entries = () => [`<ref> ${format(context, value.deref(), level + 1)}`];
  } else if (kind === 'Module' && name === null) {
    braces[0] = '[Module: null prototype] {';
    tag = '';
  } else {
    const boxed = boxedValue(value);
    if (boxed !== undefined) {
      const type = boxed[0];
      base = `[${type}${name === type ? '' : name === null ? ' (null prototype)' : ` (${name})`}: ${
        primitive({ ...context, colors: false }, boxed[1], 'typed')}]`;
      if (tag !== '' && tag !== name) base += ` [${tag}]`;
      if (type === 'String') keys = keys.filter((key) => typeof key === 'symbol' || !/^\d+$/.test(key));
      if (keys.length === 0) return styled(context, base, STYLES[type.toLowerCase()] ? type.toLowerCase() : 'special');
    } else if (Object.prototype.toString.call(value) === '[object Arguments]' && !Object.hasOwn(value, Symbol.toStringTag)) {
      braces = ['[Arguments] {', '}'];
      if (keys.length === 0) return '[Arguments] {}';
    } else {
      if (name === 'Object' && tag === '') braces[0] = '{';
      else braces[0] = `${prefix(name, tag, 'Object')}{`;
      if (keys.length === 0) return `${braces[0]}}`;
    }
  }
  if (level > context.depth) {
    const shown = name === null ? prefix(name, tag, kind && kind !== tag ? kind : 'Object').slice(0, -1) : (tag !== '' && tag !== name ? `${name} [${tag}]` : name);
    return styled(context, kind === 'Array' && name === 'Array' ? '[Array]' : name === null ? shown : `[${shown}]`, 'special');
  }
  context.seen.push(value);
  context.level = level;
  let output = entries(context, value, level);
  for (const key of keys) output.push(property(context, value, level, key, isArrayLike));
  context.seen.pop();
  const number = context.circular?.get(value);
  if (number !== undefined) {
    const mark = styled(context, `<ref *${number}>`, 'special');
    if (base === '') braces[0] = `${mark} ${braces[0]}`;
    else base = `${mark} ${base}`;
  }
  if (context.sorted) {
    const order = context.sorted === true ? undefined : context.sorted;
    if (isArrayLike) output = [...output.slice(0, output.length - keys.length), ...output.slice(output.length - keys.length).sort(order)];
    else output.sort(order);
  }
  return layout(context, output, base, braces, isArrayLike, level, value);
}

/** Recognises a class by its `prototype`, which cannot be replaced: the engine does not give its source. */
function isClass(value, source) {
  const prototype = Object.getOwnPropertyDescriptor(value, 'prototype');
  return prototype !== undefined && prototype.writable === false && !/^(?:async\s|function\s*\*|\*)/.test(source) && globalThis[value.name] !== value;
}

function functionBase(value, name, tag) {
  const source = Function.prototype.toString.call(value);
  if (isClass(value, source)) {
    const own = Object.hasOwn(value, 'name') && value.name !== '' ? value.name : '';
    let text = `[class ${own === '' ? '(anonymous)' : own}`;
    if (name !== 'Function' && name !== null) text += ` [${name}]`;
    if (tag !== '' && name !== tag) text += ` [${tag}]`;
    const parent = Object.getPrototypeOf(value);
    if (parent === null) text += ' extends [null prototype]';
    else if (parent.name) text += ` extends ${parent.name}`;
    return `${text}]`;
  }
  let type = 'Function';
  if (/^(?:async\s+function\s*\*|async\s*\*)/.test(source)) type = 'AsyncGeneratorFunction';
  else if (/^async\b/.test(source)) type = 'AsyncFunction';
  else if (/^(?:function\s*\*|\*)/.test(source)) type = 'GeneratorFunction';
  let text = `[${type}`;
  if (name === null) text += ' (null prototype)';
  text += value.name === '' || typeof value.name !== 'string' ? ' (anonymous)' : `: ${value.name}`;
  text += ']';
  if (name !== type && name !== null && name !== 'Function') text += ` ${name}`;
  if (tag !== '' && name !== tag && tag !== type) text += ` [${tag}]`;
  return text;
}

function errorBase(context, value, name, tag, keys) {
  let stack = value.stack ? String(value.stack) : Error.prototype.toString.call(value);
  for (const key of ['name', 'message', 'stack']) {
    const at = keys.indexOf(key);
    if (at >= 0 && (typeof value[key] !== 'string' || stack.includes(value[key]))) keys.splice(at, 1);
  }
  // A subclass that kept the name Error is shown by the name of its class, and a code beside it.
  const own = typeof value.name === 'string' ? value.name : 'Error';
  if (name !== null && name !== own && own === 'Error' && /Error$/.test(name) && stack.startsWith('Error')) {
    stack = name + stack.slice(5);
  }
  const lead = /^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n|$)/.test(stack);
  if (!lead && name !== null && !stack.includes(own)) stack = `${name}: ${stack}`;
  const at = stack.indexOf('\n    at');
  if (at < 0) stack = `[${stack}]`;
  if (context.indentation > 0) stack = stack.replaceAll('\n', `\n${' '.repeat(context.indentation)}`);
  return stack;
}

function boxedValue(value) {
  for (const type of [Number, String, Boolean, Symbol, BigInt]) {
    try { return [type.name, type.prototype.valueOf.call(value)]; } catch { /* not this one */ }
  }
}

const more = (count) => `... ${count} more item${count > 1 ? 's' : ''}`;

function arrayEntries(context, value, level) {
  const out = [];
  const most = Math.max(0, context.maxArrayLength);
  const length = value.length;
  let at = 0;
  while (at < length && out.length < most) {
    if (!Object.hasOwn(value, at)) {
      let end = at;
      while (end < length && !Object.hasOwn(value, end)) end++;
      out.push(styled(context, `<${end - at} empty item${end - at > 1 ? 's' : ''}>`, 'undefined'));
      at = end;
    } else {
      out.push(property(context, value, level, String(at), true, true));
      at++;
    }
  }
  if (at < length) out.push(more(length - at));
  return out;
}

function property(context, value, level, key, isArrayLike, isElement) {
  const descriptor = Object.getOwnPropertyDescriptor(value, key) ?? { value: value[key], enumerable: true };
  let text;
  if ('value' in descriptor) {
    const step = context.compact !== true || !isArrayLike ? 2 : 3;
    context.indentation += step;
    text = format(context, descriptor.value, level + 1);
    if (step === 3 && context.breakLength < text.length) text = `\n${' '.repeat(context.indentation)}${text}`;
    context.indentation -= step;
  } else if (descriptor.get !== undefined) {
    text = styled(context, descriptor.set !== undefined ? '[Getter/Setter]' : '[Getter]', 'special');
    if (context.getters) {
      try {
        context.indentation += 2;
        const got = format(context, descriptor.get.call(value), level + 1);
        context.indentation -= 2;
        text = `[${descriptor.set ? 'Getter/Setter' : 'Getter'}: ${got}]`;
      } catch (error) { text = `[Getter: <Inspection threw (${error.message})>]`; }
    }
  } else {
    text = descriptor.set !== undefined ? styled(context, '[Setter]', 'special') : 'undefined';
  }
  if (isElement) return text;
  let name;
  if (typeof key === 'symbol') name = `[${styled(context, key.toString(), 'symbol')}]`;
  else if (key === '__proto__') name = "['__proto__']";
  else if (!descriptor.enumerable) name = `[${key}]`;
  else if (IDENTIFIER.test(key)) name = key;
  else name = styled(context, quoted(key), 'string');
  return `${name}: ${text}`;
}

/** Arranges long arrays in columns: as many as make the block about two and a half times as wide as it is high. */
function columns(context, output, value) {
  const hasMore = context.maxArrayLength < value.length && output.length > context.maxArrayLength;
  const count = hasMore ? context.maxArrayLength : output.length;
  const lengths = [];
  let total = 0, longest = 0;
  for (let at = 0; at < count; at++) {
    const length = width(context, output[at]);
    lengths.push(length);
    total += length + 2;
    longest = Math.max(longest, length);
  }
  const widest = longest + 2;
  if (!(widest * 3 + context.indentation < context.breakLength && (total / widest > 5 || longest <= 6))) return output;
  const bias = Math.sqrt(widest - total / output.length);
  const biased = Math.max(widest - 3 - bias, 1);
  const wanted = Math.min(Math.round(Math.sqrt(2.5 * biased * count) / biased),
    Math.floor((context.breakLength - context.indentation) / widest), context.compact * 4, 15);
  if (wanted <= 1) return output;
  const widths = [];
  for (let column = 0; column < wanted; column++) {
    let most = 0;
    for (let at = column; at < count; at += wanted) most = Math.max(most, lengths[at]);
    widths.push(most + 2);
  }
  let isNumeric = value !== undefined;
  for (let at = 0; isNumeric && at < output.length; at++) {
    if (typeof value[at] !== 'number' && typeof value[at] !== 'bigint') isNumeric = false;
  }
  const rows = [];
  for (let at = 0; at < count; at += wanted) {
    const end = Math.min(at + wanted, count);
    let row = '';
    for (let one = at; one < end; one++) {
      const isLast = one === end - 1;
      const pad = ' '.repeat(widths[one - at] - 2 - lengths[one]);
      const text = isLast ? output[one] : `${output[one]}, `;
      row += isNumeric ? pad + text : isLast ? text : text + pad;
    }
    rows.push(row);
  }
  if (hasMore) rows.push(output[count]);
  return rows;
}
const width = (context, text) => {
  if (context.colors) text = text.replace(/\x1b\[\d+m/g, '');
  let count = 0;
  for (const char of text) {
    const code = char.codePointAt(0);
    count += code < 0x300 ? 1 : code >= 0x300 && code < 0x370 || code === 0x200d || code >= 0xfe00 && code <= 0xfe0f ? 0
      : code >= 0x1100 && (code <= 0x115f || code >= 0x2e80 && code <= 0xa4cf || code >= 0xac00 && code <= 0xd7a3 ||
        code >= 0xf900 && code <= 0xfaff || code >= 0xfe30 && code <= 0xfe6f || code >= 0xff00 && code <= 0xff60 ||
        code >= 0x1f300 && code <= 0x1f64f || code >= 0x1f900 && code <= 0x1f9ff || code >= 0x20000) ? 2 : 1;
  }
  return count;
};

function layout(context, output, base, braces, isArrayLike, level, value) {
  if (typeof context.compact === 'number' && context.compact >= 1) {
    const count = output.length;
    if (isArrayLike && count > 6) output = columns(context, output, value);
    if (context.level - level < context.compact && count === output.length) {
      const start = output.length + context.indentation + braces[0].length + base.length + 10;
      let total = output.length + start;
      if (total + output.length <= context.breakLength) {
        for (const one of output) total += one.length;
        if (total <= context.breakLength && !base.includes('\n')) {
          const joined = output.join(', ');
          if (!joined.includes('\n'))
            return `${base ? `${base} ` : ''}${braces[0]} ${joined} ${braces[1]}`;
        }
      }
    }
    const line = `\n${' '.repeat(context.indentation)}`;
    return `${base ? `${base} ` : ''}${braces[0]}${line}  ${output.join(`,${line}  `)}${line}${braces[1]}`;
  }
  if (context.compact === true) {
    const total = output.reduce((sum, one) => sum + one.length, output.length * 2);
    if (total + braces[0].length + base.length <= context.breakLength && !output.some((one) => one.includes('\n')))
      return `${braces[0]}${base ? ` ${base}` : ''} ${output.join(', ')} ${braces[1]}`;
  }
  const line = `\n${' '.repeat(context.indentation)}`;
  return `${base ? `${base} ` : ''}${braces[0]}${line}  ${output.join(`,${line}  `)}${line}${braces[1]}`;
}

// format: printf-like, then everything else inspected.
function formatWithOptions(options, ...args) {
  if (args.length === 1) return typeof args[0] === 'string' ? args[0] : inspect(args[0], options);
  let out = '', at = 0;
  if (typeof args[0] === 'string') {
    const text = args[0];
    at = 1;
    let from = 0;
    for (let index = 0; index < text.length - 1; index++) {
      if (text[index] !== '%') continue;
      const letter = text[index + 1];
      if (letter === '%') {
        out += text.slice(from, index) + '%';
        from = index + 2;
        index++;
        continue;
      }
      if (at >= args.length || !'sjdOoifc'.includes(letter)) continue;
      out += text.slice(from, index) + directive(letter, args[at++], options);
      from = index + 2;
      index++;
    }
    out += text.slice(from);
  }
  for (; at < args.length; at++) {
    if (at > 0) out += ' ';
    out += typeof args[at] === 'string' ? args[at] : inspect(args[at], options);
  }
  return out;
}
function directive(letter, value, options) {
  switch (letter) {
    case 's':
      if (typeof value === 'bigint') return `${value}n`;
      if (typeof value === 'number') return numeral(value);
      if (value === null || typeof value !== 'object') return String(value);
      if (hasOwnText(value)) return String(value);
      return inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
    case 'd': return typeof value === 'bigint' ? `${value}n` : typeof value === 'symbol' ? 'NaN' : numeral(Number(value));
    case 'i': return typeof value === 'bigint' ? `${value}n` : typeof value === 'symbol' ? 'NaN' : numeral(parseInt(value));
    case 'f': return typeof value === 'symbol' ? 'NaN' : numeral(parseFloat(value));
    case 'j': try { return JSON.stringify(value); } catch (error) {
      if (/circular|cyclic/i.test(error.message)) return '[Circular]';
      throw error;
    }
    case 'O': return inspect(value, options);
    case 'o': return inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
    default: return '';
  }
}
/** Returns true if an object has a `toString` of a class that is not built in. */
function hasOwnText(value) {
  if (value instanceof Error || value instanceof Date) return true;
  if (typeof value.toString !== 'function') return false;
  if (Object.hasOwn(value, 'toString')) return true;
  let at = value;
  do { at = Object.getPrototypeOf(at); } while (at !== null && !Object.hasOwn(at, 'toString'));
  const type = at && Object.getOwnPropertyDescriptor(at, 'constructor')?.value;
  return typeof type === 'function' && !/\[native code\]/.test(Function.prototype.toString.call(type));
}

/** Returns the text for standard error about an uncaught error. */
function report(error, origin) {
  const version = `\n\nNode.js ${process.version}\n`;
  if (origin === 'rejection' && !(error instanceof Error)) {
    const shown = inspect(error);
    return 'node:internal/process/promises\n\n[UnhandledPromiseRejection: This error originated either by throwing inside of an ' +
      'async function without a catch block, or by rejecting a promise which was not handled with .catch(). The promise ' +
      `rejected with the reason "${typeof error === 'string' ? error : shown}".] {\n  code: 'ERR_UNHANDLED_REJECTION'\n}${version}`;
  }
  if (!(error instanceof Error)) {
    return `Uncaught:\n${typeof error === 'string' ? error : inspect(error)}\n(thrown: not an Error)${version}`;
  }
  let place = '';
  const frame = /\(?((?:file:\/\/|\/|\[)[^\n()]*):(\d+):(\d+)\)?/.exec((/\n {4}at .*/.exec(String(error.stack)) ?? [''])[0]) ??
    (error instanceof SyntaxError && error.isSyntax ? [0, error.isSyntax, (/line (\d+)/.exec(error.message) ?? [0, 1])[1], 1] : null);
  if (frame) {
    const [, path, row, column] = frame;
    let line;
    try { line = (path === internal.text?.name ? internal.text.source : sys.readText(path.replace(/^file:\/\//, ''))).split('\n')[row - 1]; } catch { /* not a file */ }
    const thrown = line?.search(/\bthrow\b/) ?? -1;
    const at = thrown >= 0 && thrown < column ? thrown : Math.max(0, column - 1);
    place = line === undefined ? `${path}:${row}\n\n` : `${path}:${row}\n${line}\n${' '.repeat(at)}^\n\n`;
  }
  return `${place}${inspect(error)}${version}`;
}

Object.assign(exports, { inspect, format: (...args) => formatWithOptions({}, ...args), formatWithOptions, report, width });
