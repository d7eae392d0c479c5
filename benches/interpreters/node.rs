//! Programs for node: starting, and typical computations.

use super::{Program, computes, starts};

pub const PROGRAMS: &[Program] = &[
    starts("console.log(1+1)", "console.log(1+1)", "2\n"),
    starts(
        "seven modules",
        "const [fs, path, os, util, events, url, crypto] = ['fs', 'path', 'os', 'util', 'events', 'url', 'crypto'].map(require); console.log(path.join('a', 'b'))",
        "a/b\n",
    ),
    starts("a child", "console.log(require('child_process').execSync('echo x').toString())", "x\n\n"),
    computes(
        "a loop of a million",
        "let t = 0; for (let i = 0; i < 1e6; i++) t += i * i % 7; console.log(t)",
        "1999998\n",
    ),
    computes(
        "objects and calls: a tree of 100,000 nodes",
        "class N { constructor(k) { this.k = k; this.l = this.r = null } add(k) { let n = this; for (;;) { const s = k < n.k ? 'l' : 'r'; if (n[s] === null) { n[s] = new N(k); return } n = n[s] } } sum() { return this.k + (this.l ? this.l.sum() : 0) + (this.r ? this.r.sum() : 0) } } const t = new N(50000); for (let i = 0; i < 100000; i++) t.add(i * 7919 % 100003); console.log(t.sum())",
        "5000047508\n",
    ),
    computes(
        "json, 20,000 records there and back",
        "const d = Array.from({ length: 20000 }, (_, i) => ({ id: i, name: `n${i}`, x: i / 3, tags: ['a', 'b'] })); console.log(JSON.stringify(JSON.parse(JSON.stringify(d))) === JSON.stringify(d))",
        "true\n",
    ),
    computes(
        "regular expressions",
        "const t = Array.from({ length: 20000 }, (_, i) => `user${i}@host${i % 7}.example.com, ${String(i).padStart(5, '0')};`).join(' '); console.log([...t.matchAll(/(\\w+)@(\\w+)\\.example\\.com/g)].length, t.replace(/\\b\\d{5}\\b/g, 'x').length)",
        "20000 628889\n",
    ),
    computes(
        "words, sorted and counted",
        "const c = new Map(); for (let i = 0; i < 200000; i++) { const w = String(i * 7919 % 10007); c.set(w, (c.get(w) ?? 0) + 1) } console.log([...c].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0], c.size)",
        "[ '0', 20 ] 10007\n",
    ),
];
