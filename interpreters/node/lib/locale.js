'use strict';
// The order of texts, and numbers and dates as people write them in English. Other languages are refused, not
// approximated.

function english(locales) {
  const list = locales === undefined ? [] : Array.isArray(locales) ? locales : [locales];
  for (const one of list) {
    if (!/^(?:en|en-US)$/i.test(String(one))) throw internal.missing(`the locale ${one}`, 'it has English only');
  }
}
function known(options, names, what) {
  for (const name of Object.keys(options ?? {})) {
    if (options[name] !== undefined && !names.includes(name)) throw internal.missing(`the option ${name} of ${what}`);
  }
  return options ?? {};
}

// Order: by letters without accents and case; then by accents; then lower case first. Signs come before digits, and
// these before letters, as in Unicode's collation.
const SIGNS = '_-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$';
function weight(char) {
  const code = char.codePointAt(0);
  if (code <= 32) return code;
  const sign = SIGNS.indexOf(char);
  if (sign >= 0) return 100 + sign;
  if (char >= '0' && char <= '9') return 200 + code;
  return 300 + code;
}
const plain = (char) => char.normalize('NFD').replace(/\p{M}/gu, '') || char;
function compare(a, b, { numeric, sensitivity = 'variant', caseFirst } = {}) {
  const left = [...a.normalize('NFC')], right = [...b.normalize('NFC')];
  let accents = 0, cases = 0, i = 0, j = 0;
  for (; i < left.length && j < right.length; i++, j++) {
    const x = left[i], y = right[j];
    if (numeric && x >= '0' && x <= '9' && y >= '0' && y <= '9') {
      const number = (list, at) => { let text = ''; while (list[at] >= '0' && list[at] <= '9') text += list[at++]; return [text.replace(/^0+(?=.)/, ''), at - 1]; };
      const [m, iEnd] = number(left, i), [n, jEnd] = number(right, j);
      if (m !== n) return m.length !== n.length ? Math.sign(m.length - n.length) : m < n ? -1 : 1;
      [i, j] = [iEnd, jEnd];
      continue;
    }
    if (x === y) continue;
    const p = plain(x), q = plain(y);
    const order = Math.sign(weight(p.toLowerCase()) - weight(q.toLowerCase()));
    if (order !== 0) return order;
    if (accents === 0 && x.toLowerCase() !== y.toLowerCase()) accents = x.toLowerCase() < y.toLowerCase() ? -1 : 1;
    if (cases === 0 && p !== q) cases = p === p.toLowerCase() ? -1 : 1;
  }
  if (i < left.length) return 1;
  if (j < right.length) return -1;
  if (accents !== 0 && (sensitivity === 'accent' || sensitivity === 'variant')) return accents;
  if (sensitivity === 'case' || sensitivity === 'variant') return caseFirst === 'upper' ? -cases : cases;
  return 0;
}
exports.String = (name, text, [other, locales, options]) => {
  english(locales);
  return compare(String(text), String(other), known(options, ['numeric', 'sensitivity', 'caseFirst', 'usage'], 'localeCompare'));
};

const grouped = (digits) => digits.replace(/\B(?=(?:\d{3})+$)/g, ',');
function number(value, locales, options) {
  english(locales);
  const { style = 'decimal', useGrouping = true, minimumFractionDigits, maximumFractionDigits, currency } = known(options,
    ['style', 'useGrouping', 'minimumFractionDigits', 'maximumFractionDigits', 'currency'], 'toLocaleString');
  if (!['decimal', 'percent', 'currency'].includes(style)) throw internal.missing(`numbers in the style ${style}`);
  if (style === 'currency' && currency !== 'USD') throw internal.missing(`the currency ${currency}`);
  if (typeof value === 'bigint') return `${value < 0n ? '-' : ''}${grouped(String(value < 0n ? -value : value))}`;
  if (Number.isNaN(value)) return 'NaN';
  const least = minimumFractionDigits ?? (style === 'currency' ? 2 : 0);
  const most = maximumFractionDigits ?? Math.max(least, style === 'decimal' ? 3 : style === 'percent' ? 0 : 2);
  if (least > most) throw new RangeError('maximumFractionDigits value is out of range.');
  const size = Math.abs(style === 'percent' ? value * 100 : value);
  let text = size === Infinity ? '∞' : rounded(size, most);
  let [whole, rest = ''] = text.split('.');
  while (rest.length > least && rest.endsWith('0')) rest = rest.slice(0, -1);
  if (useGrouping) whole = grouped(whole);
  text = rest === '' ? whole : `${whole}.${rest}`;
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return `${sign}${style === 'currency' ? '$' : ''}${text}${style === 'percent' ? '%' : ''}`;
}
/** Rounds the decimal digits as written, half away from zero: people see 1.005 and not the double, which is larger. */
function rounded(size, digits) {
  if (size >= 1e21) return BigInt(size).toString();
  const [whole, rest = ''] = decimal(size).split('.');
  if (rest.length <= digits) return `${whole}.${rest.padEnd(digits, '0')}`;
  let scaled = BigInt(whole + rest.slice(0, digits));
  if (rest[digits] >= '5') scaled += 1n;
  const text = scaled.toString().padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
function decimal(size) {
  const [, digits, rest = '', exponent] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(size));
  if (exponent === undefined) return rest ? `${digits}.${rest}` : digits;
  const all = digits + rest, point = digits.length + Number(exponent);
  return point <= 0 ? `0.${'0'.repeat(-point)}${all}` : `${all.padEnd(point, '0').slice(0, point)}.${all.slice(point)}`;
}
exports.Number = (name, value, [locales, options]) => number(Number(value), locales, options);
exports.BigInt = (name, value, [locales, options]) => number(BigInt(value), locales, options);

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November',
  'December'];
const DATE = ['weekday', 'year', 'month', 'day'], TIME = ['hour', 'minute', 'second'];
exports.Date = (name, date, [locales, options]) => {
  english(locales);
  const chosen = { ...known(options, [...DATE, ...TIME, 'hour12', 'timeZone'], name) };
  if (chosen.timeZone !== undefined && !/^(?:UTC|GMT|Etc\/UTC)$/i.test(chosen.timeZone)) throw internal.missing(`the time zone ${chosen.timeZone}`, 'it has UTC only');
  if (Number.isNaN(date.getTime())) return 'Invalid Date';
  const has = (parts) => parts.some((part) => chosen[part] !== undefined);
  const wantsDate = name !== 'toLocaleTimeString', wantsTime = name !== 'toLocaleDateString';
  if (!(wantsDate && has(DATE)) && !(wantsTime && has(TIME))) {
    if (wantsDate) Object.assign(chosen, { year: 'numeric', month: 'numeric', day: 'numeric' });
    if (wantsTime) Object.assign(chosen, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
  }
  return [dayOf(date, chosen), timeOf(date, chosen)].filter(Boolean).join(/^[a-z]/i.test(chosen.month) && /long/.test(chosen.month) ? ' at ' : ', ');
};
const two = (number) => String(number).padStart(2, '0');
function dayOf(date, { weekday, year, month, day }) {
  const named = { long: (list, at) => list[at], short: (list, at) => list[at].slice(0, 3) };
  const week = weekday && named[weekday]?.(WEEKDAYS, date.getUTCDay());
  const yearText = year && (year === '2-digit' ? two(date.getUTCFullYear() % 100) : String(date.getUTCFullYear()));
  const dayText = day && (day === '2-digit' ? two(date.getUTCDate()) : String(date.getUTCDate()));
  if (month === 'long' || month === 'short') {
    const words = [named[month](MONTHS, date.getUTCMonth()), dayText].filter(Boolean).join(' ');
    return [week, day ? [words, yearText].filter(Boolean).join(', ') : [words, yearText].filter(Boolean).join(' ')].filter(Boolean).join(', ');
  }
  const monthText = month && (month === '2-digit' ? two(date.getUTCMonth() + 1) : String(date.getUTCMonth() + 1));
  return [week, [monthText, dayText, yearText].filter(Boolean).join('/')].filter(Boolean).join(', ');
}
function timeOf(date, { hour, minute, second, hour12 = true }) {
  if (hour === undefined && minute === undefined && second === undefined) return '';
  const hours = date.getUTCHours();
  const shown = hour12 ? hours % 12 || 12 : hours;
  const parts = [];
  if (hour) parts.push(hour === '2-digit' || !hour12 ? two(shown) : String(shown));
  if (minute) parts.push(hour ? two(date.getUTCMinutes()) : String(date.getUTCMinutes()));
  if (second) parts.push(minute ? two(date.getUTCSeconds()) : String(date.getUTCSeconds()));
  return parts.join(':') + (hour && hour12 ? ` ${hours < 12 ? 'AM' : 'PM'}` : '');
}
