//! Programs for Python: starting, and typical computations.

use super::{Program, computes, starts};

pub const PROGRAMS: &[Program] = &[
    starts("print(1+1)", "print(1+1)", "2\n"),
    starts(
        "seven imports",
        "import json, re, datetime, pathlib, argparse, subprocess, collections; print(json.dumps([1]))",
        "[1]\n",
    ),
    starts("a child", "import subprocess; print(subprocess.run(['echo', 'x'], stdout=subprocess.PIPE).stdout)", "b'x\\n'\n"),
    computes(
        "a loop of a million",
        "t = 0\nfor i in range(1000000):\n    t += i * i % 7\nprint(t)",
        "1999998\n",
    ),
    computes(
        "n-body, 20,000 steps",
        "
def run(steps):
    bodies = [[0, 0, 0, 0, 0, 0, 39.47], [4.84, -1.16, -0.10, 0.6, 2.8, -0.02, 0.037], [8.34, 4.12, -0.4, -1.01, 1.82, 0.008, 0.011]]
    for _ in range(steps):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1:]:
                x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
                m = 0.01 / (x * x + y * y + z * z) ** 1.5
                for k, d in enumerate((x, y, z)):
                    a[3 + k] -= d * b[6] * m
                    b[3 + k] += d * a[6] * m
        for a in bodies:
            for k in range(3):
                a[k] += 0.01 * a[3 + k]
    return bodies
print(len(run(20000)))
",
        "3\n",
    ),
    computes(
        "json, 20,000 records there and back",
        "import json\nd = [{'id': i, 'name': f'n{i}', 'x': i / 3, 'tags': ['a', 'b']} for i in range(20000)]\nprint(json.loads(json.dumps(d)) == d)",
        "True\n",
    ),
    computes(
        "regular expressions",
        "import re\nt = ' '.join(f'user{i}@host{i % 7}.example.com, {i:05d};' for i in range(20000))\nprint(len(re.findall(r'(\\w+)@(\\w+)\\.example\\.com', t)), len(re.sub(r'\\d{5}', 'x', t)))",
        "20000 588889\n",
    ),
    computes(
        "words, sorted and counted",
        "from collections import Counter\nw = [str(i * 7919 % 10007) for i in range(200000)]\nprint(sorted(Counter(w).items(), key=lambda p: (-p[1], p[0]))[0], len(set(w)))",
        "('0', 20) 10007\n",
    ),
    computes(
        "sqlite, 50,000 rows",
        "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table t (a, b)')\nc.executemany('insert into t values (?, ?)', ((i, str(i)) for i in range(50000)))\nprint(c.execute('select count(*), sum(a) from t where b like \"%7\"').fetchone())",
        "(5000, 125010000)\n",
    ),
];
