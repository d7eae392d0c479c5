'use strict';
// path, as POSIX has it.

function text(value, name = 'path') {
  if (typeof value !== 'string') {
    throw internal.typeError('ERR_INVALID_ARG_TYPE',
      `The "${name}" argument must be of type string. Received ${internal.received(value)}`);
  }
  return value;
}
function cleaned(path, isAbsolute) {
  const out = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && out.length > 0 && out.at(-1) !== '..') out.pop();
    else if (part !== '..' || !isAbsolute) out.push(part);
  }
  return out.join('/');
}
const path = {
  sep: '/',
  delimiter: ':',
  normalize(path) {
    text(path);
    if (path === '') return '.';
    const isAbsolute = path.startsWith('/');
    let out = cleaned(path, isAbsolute);
    if (out === '' && !isAbsolute) out = '.';
    if (out !== '' && path.endsWith('/')) out += '/';
    return isAbsolute ? `/${out}` : out;
  },
  isAbsolute: (path) => text(path).startsWith('/'),
  join(...parts) {
    const joined = parts.map((part) => text(part)).filter((part) => part !== '').join('/');
    return joined === '' ? '.' : path.normalize(joined);
  },
  resolve(...parts) {
    let out = '';
    for (let at = parts.length - 1; at >= 0 && !out.startsWith('/'); at--) {
      if (text(parts[at], `paths[${at}]`) !== '') out = out === '' ? parts[at] : `${parts[at]}/${out}`;
    }
    if (!out.startsWith('/')) out = `${sys.cwd()}/${out}`;
    return `/${cleaned(out, true)}`;
  },
  relative(from, to) {
    text(from, 'from');
    text(to, 'to');
    const a = path.resolve(from).split('/').filter(Boolean), b = path.resolve(to).split('/').filter(Boolean);
    let same = 0;
    while (same < a.length && same < b.length && a[same] === b[same]) same++;
    return [...a.slice(same).fill('..'), ...b.slice(same)].join('/');
  },
  dirname(path) {
    text(path);
    if (path === '') return '.';
    const trimmed = path.replace(/(?<=.)\/+$/, '');
    const at = trimmed.lastIndexOf('/');
    if (at < 0) return '.';
    const out = trimmed.slice(0, at).replace(/(?<=.)\/+$/, '');
    return out === '' || /^\/+$/.test(out) ? (path.startsWith('//') && !path.startsWith('///') && at === 1 ? '//' : '/') : out;
  },
  basename(path, suffix) {
    text(path);
    if (suffix !== undefined) text(suffix, 'ext');
    const trimmed = path.replace(/\/+$/, '');
    const base = trimmed.slice(trimmed.lastIndexOf('/') + 1);
    return suffix && base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
  },
  extname(path) {
    const base = module.exports.basename(text(path));
    const at = base.lastIndexOf('.');
    return at <= 0 || base === '..' ? '' : base.slice(at);
  },
  parse(whole) {
    const root = text(whole).startsWith('/') ? '/' : '';
    const base = path.basename(whole), ext = path.extname(whole);
    const trimmed = whole.replace(/\/+$/, '');
    const at = trimmed.lastIndexOf('/');
    return { root, dir: at < 0 ? (root && base === '' ? '/' : '') : trimmed.slice(0, at) || root, base, ext, name: ext ? base.slice(0, -ext.length) : base };
  },
  format(parts) {
    const dir = parts.dir || parts.root;
    const ext = parts.ext ? (parts.ext.startsWith('.') ? parts.ext : `.${parts.ext}`) : '';
    const base = parts.base || `${parts.name || ''}${ext}`;
    return !dir ? base : dir === parts.root ? `${dir}${base}` : `${dir}/${base}`;
  },
  toNamespacedPath: (path) => path,
  matchesGlob() { throw internal.missing('path.matchesGlob'); },
};
path.posix = path;
module.exports = path;
