'use strict';
// url: URL and URLSearchParams of the web, and Node's file URLs.

const DEFAULT_PORTS = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
const isSpecial = (protocol) => protocol in DEFAULT_PORTS;
const encoder = (pattern) => (text) => text.replace(pattern, (char) => encodeURIComponent(char.toWellFormed()).replace(/[!'()*]/g, (one) => '%' + one.charCodeAt(0).toString(16).toUpperCase()));
const inPath = encoder(/[\0-\x20"#<>?`{}\x7f]|[^\0-\x7f]+/g);
const inQuery = encoder(/[\0-\x20"#<>'\x7f]|[^\0-\x7f]+/g);
const inHash = encoder(/[\0-\x20"<>`\x7f]|[^\0-\x7f]+/g);
const inUser = encoder(/[\0-\x20"#<>?`{}/:;=@[\\\]^|\x7f]|[^\0-\x7f]+/g);

function invalid(input) { throw Object.assign(internal.typeError('ERR_INVALID_URL', 'Invalid URL'), { input }); }
function dots(path) {
  const out = [];
  const parts = path.split('/');
  parts.forEach((part, at) => {
    const plain = part.replace(/%2e/gi, '.');
    if (plain === '..') { if (out.length > 1) out.pop(); if (at === parts.length - 1) out.push(''); }
    else if (plain === '.') { if (at === parts.length - 1) out.push(''); }
    else out.push(part);
  });
  return out.join('/');
}
function hostOf(text, protocol, input) {
  if (text.startsWith('[')) return /^\[[0-9a-fA-F:.]+\]$/.test(text) ? text.toLowerCase() : invalid(input);
  if (!isSpecial(protocol)) return text;
  let host;
  try { host = decodeURIComponent(text).toLowerCase(); } catch { invalid(input); }
  if (/[\0-\x20#/:<>?@[\\\]^|%]/.test(host)) invalid(input);
  if (/[^\0-\x7f]/.test(host)) throw internal.missing(`the international host name ${host}`);
  if (/^\d+(?:\.\d+){3}$/.test(host) && host.split('.').some((part) => part > 255)) invalid(input);
  return host;
}

class URL {
  #parts; #params;
  constructor(input, base) {
    this.#parts = parse(String(input), base === undefined ? undefined : new URL(base).#parts);
    this.#params = new URLSearchParams(this.#parts.search);
    this.#params.onChange = (text) => { this.#parts.search = text === '' ? '' : `?${text}`; };
    Object.defineProperty(this.#params, 'onChange', { enumerable: false });
  }
  static canParse(input, base) { try { new URL(input, base); return true; } catch { return false; } }
  static parse(input, base) { try { return new URL(input, base); } catch { return null; } }
  get href() {
    const { protocol, host, username, password, pathname, search, hash } = this.#parts;
    const user = username || password ? `${username}${password ? ':' + password : ''}@` : '';
    return `${protocol}${host === null ? '' : `//${user}${this.host}`}${pathname}${search}${hash}`;
  }
  set href(text) { this.#parts = parse(String(text)); this.#params.reset(this.#parts.search); }
  get origin() { const { protocol } = this.#parts; return isSpecial(protocol) && protocol !== 'file:' ? `${protocol}//${this.host}` : 'null'; }
  get protocol() { return this.#parts.protocol; }
  set protocol(text) { const match = /^[a-z][a-z0-9+.-]*/i.exec(text); if (match) this.#parts.protocol = `${match[0].toLowerCase()}:`; if (this.#parts.port === DEFAULT_PORTS[this.#parts.protocol]) this.#parts.port = ''; }
  get username() { return this.#parts.username; }
  set username(text) { this.#parts.username = inUser(String(text)); }
  get password() { return this.#parts.password; }
  set password(text) { this.#parts.password = inUser(String(text)); }
  get host() { const { host, port } = this.#parts; return host === null ? '' : host + (port === '' ? '' : `:${port}`); }
  set host(text) { const [, host, port] = /^(\[.*\]|[^:]*)(?::(\d*))?/.exec(String(text)); this.#parts.host = hostOf(host, this.protocol, text); if (port !== undefined) this.port = port; }
  get hostname() { return this.#parts.host ?? ''; }
  set hostname(text) { this.#parts.host = hostOf(String(text), this.protocol, text); }
  get port() { return this.#parts.port; }
  set port(text) { const number = /^\d*/.exec(String(text))[0]; if (Number(number) <= 65535) this.#parts.port = number === '' || number === DEFAULT_PORTS[this.protocol] ? '' : String(Number(number)); }
  get pathname() { return this.#parts.pathname; }
  set pathname(text) { text = inPath(String(text)); this.#parts.pathname = dots(text.startsWith('/') || this.#parts.host === null ? text : `/${text}`); }
  get search() { return this.#parts.search; }
  set search(text) { text = String(text).replace(/^\?/, ''); this.#parts.search = text === '' ? '' : `?${inQuery(text)}`; this.#params.reset(this.#parts.search); }
  get searchParams() { return this.#params; }
  get hash() { return this.#parts.hash; }
  set hash(text) { text = String(text).replace(/^#/, ''); this.#parts.hash = text === '' ? '' : `#${inHash(text)}`; }
  toString() { return this.href; }
  toJSON() { return this.href; }
  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
    if (depth < 0) return '[URL]';
    const shown = {};
    for (const name of ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash']) shown[name] = this[name];
    return `URL ${inspect(shown, options)}`;
  }
  get [Symbol.toStringTag]() { return 'URL'; }
}
function parse(input, base) {
  let text = input.trim().replace(/[\t\n\r]/g, '');
  let hash = '', search = '';
  const hashAt = text.indexOf('#');
  if (hashAt >= 0) { hash = text.length > hashAt + 1 ? `#${inHash(text.slice(hashAt + 1))}` : ''; text = text.slice(0, hashAt); }
  const match = /^([a-z][a-z0-9+.-]*):/i.exec(text);
  let protocol = match?.[1].toLowerCase() + ':';
  if (!match) {
    if (!base) invalid(input);
    protocol = base.protocol;
    if (text === '') return { ...base, hash };
  }
  let rest = match ? text.slice(match[0].length) : text;
  const queryAt = rest.indexOf('?');
  const hasQuery = queryAt >= 0;
  if (hasQuery) { search = rest.length > queryAt + 1 ? `?${inQuery(rest.slice(queryAt + 1))}` : ''; rest = rest.slice(0, queryAt); }
  if (isSpecial(protocol)) rest = rest.replaceAll('\\', '/');
  const empty = { protocol, username: '', password: '', host: null, port: '', search, hash };
  const isRelative = base && (!match || (base.protocol === protocol && isSpecial(protocol) && !rest.startsWith('/')));
  if (rest.startsWith('//') || (match && isSpecial(protocol) && !isRelative)) {
    rest = isSpecial(protocol) && protocol !== 'file:' ? rest.replace(/^\/*/, '') : rest.replace(/^\/\//, '');
    if (protocol === 'file:' && !text.slice(match?.[0].length ?? 0).startsWith('//')) {
      return { ...empty, host: '', pathname: dots(inPath(rest.startsWith('/') ? rest : `/${rest}`)) };
    }
    const slash = rest.indexOf('/');
    const authority = slash < 0 ? rest : rest.slice(0, slash);
    const at = authority.lastIndexOf('@');
    const [username, ...password] = at < 0 ? [''] : authority.slice(0, at).split(':');
    const found = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority.slice(at + 1)) ?? invalid(input);
    const host = hostOf(found[1], protocol, input);
    if (host === '' && isSpecial(protocol) && protocol !== 'file:') invalid(input);
    if (Number(found[2] ?? 0) > 65535) invalid(input);
    const port = found[2] === undefined || found[2] === '' || found[2] === DEFAULT_PORTS[protocol] ? '' : String(Number(found[2]));
    const path = slash < 0 ? (isSpecial(protocol) ? '/' : '') : dots(inPath(rest.slice(slash)));
    return { ...empty, username: inUser(username), password: inUser(password.join(':')), host: protocol === 'file:' && host === 'localhost' ? '' : host, port, pathname: path };
  }
  if (isRelative) {
    if (base.host === null && !base.pathname.startsWith('/')) invalid(input);
    const shared = { ...base, search, hash };
    if (rest === '') return { ...shared, search: hasQuery ? search : base.search };
    if (rest.startsWith('/')) return { ...shared, pathname: dots(inPath(rest)) };
    return { ...shared, pathname: dots(base.pathname.slice(0, base.pathname.lastIndexOf('/') + 1) + inPath(rest)) };
  }
  return { ...empty, pathname: rest.startsWith('/') ? dots(inPath(rest)) : encoder(/[\0-\x1f\x7f]|[^\0-\x7f]+/g)(rest) };
}

const formEncode = (text) => encodeURIComponent(String(text).toWellFormed()).replace(/%20/g, '+').replace(/[!'()~]/g, (char) => '%' + char.charCodeAt(0).toString(16).toUpperCase());
const formDecode = (text) => sys.decode(sys.encode(text.replaceAll('+', ' ').replace(/(?:%[0-9a-f]{2})+/gi, (run) => sys.decode(sys.encode(run.replaceAll('%', ''), 'hex'), 'utf8')), 'utf8'), 'utf8');
class URLSearchParams {
  #list = [];
  constructor(init = '') {
    if (typeof init === 'string') this.#read(init);
    else if (init?.[Symbol.iterator]) for (const [name, value] of init) this.#list.push([String(name), String(value)]);
    else if (init !== null && typeof init === 'object') for (const name of Object.keys(init)) this.#list.push([name, String(init[name])]);
    else this.#read(String(init));
  }
  #read(text) {
    for (const pair of text.replace(/^\?/, '').split('&')) {
      if (pair === '') continue;
      const at = pair.indexOf('=');
      this.#list.push((at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]).map(formDecode));
    }
  }
  #changed() { this.onChange?.(this.toString()); }
  reset(text) { this.#list = []; this.#read(text); }
  get size() { return this.#list.length; }
  append(name, value) { this.#list.push([String(name), String(value)]); this.#changed(); }
  delete(name, value) { this.#list = this.#list.filter((pair) => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value))); this.#changed(); }
  get(name) { return this.#list.find((pair) => pair[0] === String(name))?.[1] ?? null; }
  getAll(name) { return this.#list.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]); }
  has(name, value) { return this.#list.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value))); }
  set(name, value) {
    const found = this.#list.find((pair) => pair[0] === String(name));
    if (!found) { this.append(name, value); return; }
    found[1] = String(value);
    this.#list = this.#list.filter((pair) => pair === found || pair[0] !== String(name));
    this.#changed();
  }
  sort() { this.#list.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0); this.#changed(); }
  forEach(run, self) { for (const [name, value] of this.#list) run.call(self, value, name, this); }
  *entries() { for (const [name, value] of this.#list) yield [name, value]; }
  *keys() { for (const [name] of this.#list) yield name; }
  *values() { for (const [, value] of this.#list) yield value; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#list.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join('&'); }
  get [Symbol.toStringTag]() { return 'URLSearchParams'; }
  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
    if (this.#list.length === 0) return 'URLSearchParams {}';
    return `URLSearchParams { ${this.#list.map(([name, value]) => `${inspect(name)} => ${inspect(value)}`).join(', ')} }`;
  }
}

function fileURLToPath(url) {
  const parsed = typeof url === 'string' ? new URL(url) : url;
  if (parsed.protocol !== 'file:') throw internal.typeError('ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
  return decodeURIComponent(parsed.pathname);
}
function pathToFileURL(path) {
  const whole = require('path').resolve(path) + (path.endsWith('/') && path !== '/' ? '/' : '');
  return new URL('file://' + whole.replace(/[%\\\n\r\t?#]/g, (char) => encodeURIComponent(char)));
}
function legacy(text, parsesQuery) {
  const url = URL.parse(text) ?? URL.parse(text, 'node-relative://x/');
  if (url === null) invalid(text);
  const isWhole = url.protocol !== 'node-relative:';
  return { protocol: isWhole ? url.protocol : null, slashes: isWhole ? true : null, auth: url.username ? url.username + (url.password ? ':' + url.password : '') : null,
    host: isWhole ? url.host : null, port: url.port || null, hostname: isWhole ? url.hostname : null, hash: url.hash || null, search: url.search || null,
    query: parsesQuery ? require('querystring').parse(url.search.slice(1)) : url.search ? url.search.slice(1) : null, pathname: url.pathname || null,
    path: url.pathname + url.search || null, href: isWhole ? url.href : text };
}
Object.assign(exports, { URL, URLSearchParams, fileURLToPath, pathToFileURL, parse: legacy,
  format: (url) => typeof url === 'string' ? url : url instanceof URL ? url.href
    : `${url.protocol ? url.protocol.replace(/:?$/, ':') : ''}${url.host || url.hostname ? '//' : ''}${url.auth ? url.auth + '@' : ''}${url.host ?? (url.hostname ?? '') + (url.port ? ':' + url.port : '')}${url.pathname ?? ''}${url.search ?? (url.query ? '?' + require('querystring').stringify(url.query) : '')}${url.hash ?? ''}`,
  resolve: (from, to) => { const url = new URL(to, new URL(from, 'node-relative://x/')); return url.protocol === 'node-relative:' ? url.pathname + url.search + url.hash : url.href; },
  domainToASCII: (name) => name.toLowerCase(),
});
