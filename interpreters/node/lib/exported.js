'use strict';
// The names that a CommonJS text exports, as far as its words show: ES modules must know them before the text runs.

const NAME = '[\\p{ID_Start}$_][\\p{ID_Continue}$]*';
const ASSIGNED = new RegExp(`(?<![\\w$.])(?:module\\.)?exports\\.(${NAME})\\s*=(?!=)`, 'gu');
const INDEXED = /(?<![\w$.])(?:module\.)?exports\[\s*(['"])(.+?)\1\s*\]\s*=(?!=)/g;
const DEFINED = /Object\.defineProperty\(\s*(?:module\.)?exports\s*,\s*(['"])(.+?)\1/g;
const WHOLE = /(?<![\w$.])module\.exports\s*=\s*\{/g;
const PASSED = /(?:(?<![\w$.])module\.exports\s*=|__exportStar\(|\.\.\.)\s*require\(\s*(['"])(.+?)\1\s*\)/g;
const KEY = new RegExp(`^\\s*(?:(?:async\\s*)?\\*?\\s*|(?:get|set)\\s+)(?:(${NAME})|'([^']*)'|"([^"]*)")\\s*(?=[,:(}]|$)`, 'u');

/** Returns the exported names of a text; `open(specifier)` returns the text of a module that it re-exports. */
function names(source, open, found = new Set(), depth = 0) {
  for (const pattern of [ASSIGNED, INDEXED, DEFINED]) for (const match of source.matchAll(pattern)) found.add(match.at(-1));
  for (const match of source.matchAll(WHOLE)) for (const key of keys(source, match.index + match[0].length)) found.add(key);
  if (depth < 8) {
    for (const match of source.matchAll(PASSED)) {
      const text = open(match[2]);
      if (Array.isArray(text)) for (const name of text) found.add(name);
      else if (text !== undefined) names(text, open, found, depth + 1);
    }
  }
  found.delete('default');
  return found;
}
/** Returns the keys of an object literal that starts before `at`: the first word after each comma of its own level. */
function keys(source, at) {
  const out = [];
  let start = at, depth = 0;
  const add = (end) => { const match = KEY.exec(source.slice(start, end)); if (match) out.push(match[1] ?? match[2] ?? match[3]); };
  for (; at < source.length; at++) {
    const char = source[at];
    if (char === '"' || char === "'" || char === '`') {
      const from = at;
      do { if (source[at] === '\\') at++; at++; } while (at < source.length && source[at] !== char);
      if (from === at) return out;
    } else if (char === '/' && source[at + 1] === '/') {
      const end = source.indexOf('\n', at);
      if (depth === 0 && source.slice(start, at).trim() === '') start = end;
      at = end < 0 ? source.length : end;
    } else if (char === '/' && source[at + 1] === '*') {
      const end = source.indexOf('*/', at);
      at = end < 0 ? source.length : end + 1;
      if (depth === 0 && source.slice(start, at).trimStart().startsWith('/*')) start = at + 1;
    } else if (char === '{' || char === '(' || char === '[') depth++;
    else if (depth > 0 && (char === '}' || char === ')' || char === ']')) depth--;
    else if (char === '}') { add(at); return out; } else if (char === ',' && depth === 0) { add(at); start = at + 1; }
  }
  return out;
}
module.exports = names;
