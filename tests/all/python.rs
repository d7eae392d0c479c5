//! python3, pip and sqlite3: real CPython, within the sandbox's limits.
//!
//! Answers that any Python gives alike are data, in `tests/cases/python`. These tests are about the sandbox.

use std::time::{Duration, Instant};

use isopod::{Command, Sandbox};

use crate::cases::run_topic;
use crate::support::{limited, run, run_in, sandbox};

/// Runs a program given as a string.
fn python(program: &str) -> crate::support::Answer {
    run(Command::program(["python3", "-c", program]))
}

#[test]
fn cases_are_answered_as_python_does() {
    run_topic("python");
}

#[test]
fn what_is_not_there_is_said_clearly() {
    let cases = [
        ("import ctypes", "ModuleNotFoundError: No module named '_ctypes': this sandbox has no native code to call"),
        ("import ssl", "ModuleNotFoundError: No module named '_ssl': this sandbox has no network and no ssl"),
        ("import bz2", "ModuleNotFoundError: No module named '_bz2': this sandbox's Python has no bzip2"),
        ("import lzma", "ModuleNotFoundError: No module named '_lzma': this sandbox's Python has no lzma"),
        ("import tkinter", "ModuleNotFoundError: No module named 'tkinter': this sandbox has no display"),
        (
            "import multiprocessing",
            "ModuleNotFoundError: No module named 'multiprocessing': this sandbox has no fork and no threads; use subprocess",
        ),
        (
            "import threading; threading.Thread(target=print).start()",
            "RuntimeError: can't start new thread: this sandbox has no threads",
        ),
        (
            "import socket; socket.create_connection(('127.0.0.1', 80))",
            "OSError: [Errno 40] Network is unreachable: this sandbox has no network",
        ),
        ("import socket; socket.socket()", "OSError: [Errno 40] Network is unreachable: this sandbox has no network"),
        (
            "import urllib.request; urllib.request.urlopen('http://example.org/')",
            "urllib.error.URLError: <urlopen error [Errno 40] Network is unreachable: this sandbox has no network>",
        ),
        (
            "import http.client; http.client.HTTPConnection('example.org').request('GET', '/')",
            "OSError: [Errno 40] Network is unreachable: this sandbox has no network",
        ),
    ];
    for (program, expected) in cases {
        let answer = python(program).code(1);
        let stderr = String::from_utf8_lossy(&answer.0.stderr).into_owned();
        assert_eq!(stderr.lines().last(), Some(expected), "{program}");
    }
}

#[test]
fn a_terminal_is_refused() {
    run("python3 -i").code(2).stdout("").stderr_has("-i: there is no terminal in this sandbox\n");
    run("python3 -X importtime -c 1").code(2).stdout("").stderr_has("-X importtime: not available in this sandbox\n");
}

#[test]
fn it_sees_only_the_sandbox() {
    python("open('/etc/shadow')").code(1).stderr_has("FileNotFoundError");
    python("import os; print(sorted(os.listdir('/')))")
        .prints("['bin', 'dev', 'etc', 'home', 'proc', 'tmp', 'usr', 'workspace']\n");
    python("import os; print(dict(os.environ).keys() - {'PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'PWD', 'SHLVL'})")
        .prints("set()\n");
    python("import sys; print(sys.path, sys.prefix, sys.executable)")
        .prints("['', '/usr/lib/python3.14'] /usr /usr/bin/python3\n");
}

#[test]
fn its_library_is_there_to_read_and_not_to_write() {
    run("head -c 11 /usr/lib/python3.14/json/__init__.py; echo; ls /usr/lib/python3.14/json")
        .prints("r\"\"\"JSON (J\n__init__.py\n__main__.py\ndecoder.py\nencoder.py\nscanner.py\ntool.py\n");
    run("echo x > /usr/lib/python3.14/json/tool.py").code(1).stderr_has("Read-only file system");
    run("rm /usr/lib/python3.14/os.py").code(1).stderr_has("Read-only file system");
    run("mkdir /usr/lib/python3.14/x").code(1).stderr_has("Read-only file system");
    // A module that is not part of the image, and a traceback with a source line of one that is.
    python("import colorsys; print(colorsys.__file__)").prints("/usr/lib/python3.14/colorsys.py\n");
    python("import json; json.loads('x')").code(1).stderr_has(
        "  File \"/usr/lib/python3.14/json/decoder.py\", line 363, in raw_decode\n    raise JSONDecodeError(\"Expecting value\", s, err.value) from None\n",
    );
}

#[test]
fn a_loop_ends_with_the_time() {
    let sandbox = limited(|limits| limits.wall = Duration::from_millis(300));
    let start = Instant::now();
    for program in ["while True: pass", "import re; re.match('(a*)*b', 'a' * 40)", "10**10**8", "sum(range(10**12))"] {
        run_in(&sandbox, Command::program(["python3", "-c", program])).code(124).stdout("");
    }
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn memory_ends_with_an_exception() {
    let sandbox = limited(|limits| limits.process_memory = 128 << 20);
    let programs = ["'a' * 10**9", "[0] * 10**9", "bytearray(200 << 20)", "list(range(10**9))"];
    for program in programs {
        let program = format!("try: x = {program}\nexcept MemoryError: print('refused')\nprint('alive')");
        run_in(&sandbox, Command::program(["python3", "-c", &program])).code(0).stdout("refused\nalive\n");
    }
    // A size that does not fit in a pointer.
    python("'a' * 10**10").code(1).stderr_has("OverflowError");
}

#[test]
fn deep_recursion_is_an_exception_and_no_crash() {
    let program = "
import json, pickle, copy, re, sys

def own(n): return own(n + 1)
def through_c(n): return max(map(lambda _: through_c(n + 1), [1]))
class Odd:
    def __repr__(self): return repr(self)
    def __eq__(self, other): return self == other
    def __getattr__(self, name): return getattr(self, name + 'x')

deep = []
for _ in range(100000): deep = [deep]
calls = [lambda: own(0), lambda: through_c(0), lambda: repr(Odd()), lambda: Odd() == Odd(), lambda: Odd().x,
         lambda: json.loads('[' * 100000), lambda: json.dumps(deep), lambda: repr(deep), lambda: pickle.dumps(deep),
         lambda: copy.deepcopy(deep), lambda: re.compile('(' * 5000 + ')' * 5000), lambda: eval('-' * 100000 + '1')]
for limit in (1000, 10**6):
    sys.setrecursionlimit(limit)
    for call in calls if limit == 1000 else calls[1:3]:
        try: call()
        except (RecursionError, MemoryError): print(end='.')
print()
";
    python(program).prints("..............\n");
}

#[test]
fn processes_are_charged_to_the_sandbox() {
    let sandbox = limited(|limits| limits.processes = 4);
    let program = "
import subprocess
try: ps = [subprocess.Popen(['sleep', '9']) for _ in range(9)]
except BlockingIOError as e: print(e.strerror)
";
    run_in(&sandbox, Command::program(["python3", "-c", program])).stdout("Resource temporarily unavailable\n");
}

#[test]
fn a_sandbox_that_counts_instructions_has_no_python() {
    let sandbox = limited(|limits| limits.fuel = Some(1_000_000_000));
    run_in(&sandbox, "python3 -c 1").code(127).stderr("python3: not in a sandbox that counts instructions\n");
}

#[test]
fn nothing_is_left_from_one_process_to_the_next() {
    let sandbox = sandbox();
    let set = "import json, sys; json.leak = 1; sys.path.append('/leak')";
    run_in(&sandbox, Command::program(["python3", "-c", set])).prints("");
    let look = "import json, sys; print(hasattr(json, 'leak'), '/leak' in sys.path)";
    run_in(&sandbox, Command::program(["python3", "-c", look])).prints("False False\n");
}

#[test]
fn what_it_starts_with_is_immortal_and_what_it_makes_is_not() {
    // CPython marks immortal objects with a count of 2**30 or more and does not change it, so reading an object writes
    // to no page.
    let look = "
import json, os, re, subprocess, sys, weakref
immortal = lambda one: sys.getrefcount(one) >= 2**30
print(all(map(immortal, [json, json.dumps, json.dumps.__code__, json.__dict__, re.Pattern, subprocess.Popen, os.environ.__class__])))
class C: pass
made = C()
gone = weakref.ref(made)
print(immortal(made), immortal(C), immortal(vars(sys.modules['__main__'])))
del made
print(gone())";
    python(look).prints("True\nFalse False False\nNone\n");
}

#[test]
fn what_is_still_open_at_the_end_is_written() {
    let sandbox = sandbox();
    let cycle = "
class Ring: pass
ring = Ring(); ring.self = ring; ring.file = open('in-a-ring', 'w'); ring.file.write('ring')
open_file = open('open', 'w'); open_file.write('open')
import helper";
    let helper = "class Last:\n def __del__(self): print('last')\nlast = Last(); last.ring = last";
    let script =
        format!("cat > helper.py <<'E'\n{helper}\nE\ncat > m.py <<'E'\n{cycle}\nE\npython3 m.py; cat in-a-ring open");
    run_in(&sandbox, script.as_str()).prints("last\nringopen");
    // Functions registered with atexit run in reverse order, and logging's runs last.
    let handlers = "
import atexit, logging, logging.handlers
class Shown(logging.Handler):
    def emit(self, record): print('emit', record.getMessage())
    def flush(self): print('flush')
logging.getLogger().addHandler(Shown())
atexit.register(print, 'first'); atexit.register(logging.warning, 'at the end')";
    python(handlers).prints("emit at the end\nfirst\nflush\n");
    // A program may detach its streams; native CPython behaves the same.
    python("import sys; raw = sys.stdout.detach(); raw.write(b'raw\\n'); raw.flush()").stdout("raw\n").code(120);
    python("import sys; sys.stdout = sys.__stdout__ = None").prints("");
}

/// Makes a wheel in the sandbox: a package, a script and its requirements.
const WHEEL: &str = "
import base64, hashlib, sys, zipfile
name, version, requires, body = sys.argv[1:5]
info = f'{name}-{version}.dist-info'
files = {
    f'{name}/__init__.py': body,
    f'{info}/METADATA': f'Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n' + requires.replace('|', '\\n'),
    f'{info}/WHEEL': 'Wheel-Version: 1.0\\nRoot-Is-Purelib: ' + ('false' if name == 'native' else 'true') + '\\nTag: py3-none-any\\n',
    f'{info}/entry_points.txt': f'[console_scripts]\\n{name}-tool = {name}:main\\n',
}
record = ''
for path, text in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()
    record += f'{path},sha256={digest},{len(text)}\\n'
files[f'{info}/RECORD'] = record + f'{info}/RECORD,,\\n'
if name == 'damaged': files['damaged/__init__.py'] += '#'
if name == 'outside': files['../outside.py'] = ''
with zipfile.ZipFile(f'{name}-{version}-py3-none-any.whl', 'w') as wheel:
    for path, text in files.items(): wheel.writestr(path, text)
";

fn with_wheels(wheels: &[[&str; 4]]) -> Sandbox {
    let sandbox = sandbox();
    for [name, version, requires, body] in wheels {
        run_in(&sandbox, Command::program(["python3", "-c", WHEEL, name, version, requires, body])).prints("");
    }
    sandbox
}

#[test]
fn a_wheel_is_installed_used_and_removed() {
    let body = "def main():\n    print('tool')\n    return 3\n";
    let sandbox = with_wheels(&[["one", "1.0", "", body], ["one", "2.0", "", body]]);
    run_in(&sandbox, "pip install ./one-1.0-py3-none-any.whl").prints("Successfully installed one-1.0\n");
    run_in(&sandbox, "python3 -c 'import one; print(one.__file__)'")
        .prints("/usr/local/lib/python3.14/site-packages/one/__init__.py\n");
    run_in(&sandbox, "one-tool").stdout("tool\n").code(3);
    run_in(&sandbox, "pip list; pip freeze; pip show one | head -2; python3 -c 'import importlib.metadata as m; print(m.version(\"one\"))'")
        .prints("Package Version\n------- -------\none     1.0\none==1.0\nName: one\nVersion: 1.0\n1.0\n");
    run_in(&sandbox, "pip install one-1.0-py3-none-any.whl").prints("one 1.0 is already installed\n");
    run_in(&sandbox, "python3 -m pip install -U one-2.0-py3-none-any.whl").prints("Successfully installed one-2.0\n");
    run_in(&sandbox, "pip uninstall -y one; ls /usr/local/lib/python3.14/site-packages /usr/local/bin; pip list")
        .prints("Successfully uninstalled one-2.0\n/usr/local/bin:\n\n/usr/local/lib/python3.14/site-packages:\n");
}

#[test]
fn a_wheel_that_cannot_be_installed_says_why() {
    let needy = "Requires-Dist: other>=2\nRequires-Dist: extra; extra == 'x'\nRequires-Dist: old; python_version < '3'";
    let sandbox = with_wheels(&[
        ["needy", "1.0", &needy.replace('\n', "|"), ""],
        ["other", "1.5", "", ""],
        ["future", "1.0", "Requires-Python: >=4", ""],
        ["native", "1.0", "", ""],
        ["damaged", "1.0", "", ""],
        ["outside", "1.0", "", ""],
    ]);
    let cases = [
        ("requests", "requests: this sandbox has no network; give the path of a wheel file (.whl)"),
        ("nope.whl", "no such file: nope.whl"),
        ("needy-1.0-py3-none-any.whl", "needy requires other>=2: give its wheel too, or use --no-deps"),
        ("needy-1.0-py3-none-any.whl other-1.5-py3-none-any.whl", "needy requires other>=2, but other 1.5 is there"),
        ("future-1.0-py3-none-any.whl", "future 1.0 requires Python >=4; this one is 3.14.0"),
        (
            "native-1.0-py3-none-any.whl",
            "native-1.0-py3-none-any.whl holds native code: this sandbox runs pure Python only",
        ),
        ("damaged-1.0-py3-none-any.whl", "damaged-1.0-py3-none-any.whl: damaged/__init__.py is damaged"),
        (
            "outside-1.0-py3-none-any.whl",
            "outside-1.0-py3-none-any.whl holds a path that leads out of it: ../outside.py",
        ),
        ("--pre", "install: no such option here: --pre"),
    ];
    for (arguments, expected) in cases {
        run_in(&sandbox, format!("pip install {arguments}")).code(1).stdout("").stderr(&format!("ERROR: {expected}\n"));
    }
    run_in(&sandbox, "pip list; ls /usr/local 2>&1").code(2);
    run_in(&sandbox, "pip install --no-deps needy-1.0-py3-none-any.whl").prints("Successfully installed needy-1.0\n");
}

/// Runs the command line with a data directory of its own.
fn with_packages(data: &std::path::Path, arguments: &[&str]) -> crate::support::CliAnswer {
    let mut command = crate::support::isopod(arguments);
    command.env("XDG_DATA_HOME", data).env("PIP_CONFIG_FILE", "/dev/null");
    crate::support::cli_answer(command)
}

#[test]
fn packages_of_the_host_are_there_in_every_sandbox() {
    let (data, wheels) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sandbox = Sandbox::builder().mount(wheels.path(), "/workspace").build().unwrap();
    for (name, requires, body) in [
        ("one", "Requires-Dist: two", "import two; word = two.word\n"),
        ("two", "", "word = 'here'\n"),
        ("native", "", ""),
    ] {
        run_in(&sandbox, Command::program(["python3", "-c", WHEEL, name, "1.0", requires, body])).prints("");
    }
    let isopod = |arguments: &[&str]| {
        let answer = with_packages(data.path(), arguments);
        (answer.stdout, answer.stderr, answer.code)
    };
    let answer = |stdout: &str, stderr: &str, code| (stdout.to_owned(), stderr.to_owned(), Some(code));
    let links = wheels.path().to_str().unwrap();
    let wheel = |name: &str| format!("{links}/{name}-1.0-py3-none-any.whl");

    assert_eq!(isopod(&["python", "list"]), answer("", "", 0));
    assert_eq!(isopod(&["python", "remove", "one"]), answer("", "isopod: there are no packages to remove\n", 1));
    let added = answer("Successfully installed one-1.0 two-1.0\n", "", 0);
    assert_eq!(isopod(&["python", "add", "--find-links", links, "one"]), added);
    let script =
        "python3 -c 'import one; print(one.word, one.__file__)'; touch /usr/lib/python3/site-packages/x; echo $?";
    let seen = answer(
        "here /usr/lib/python3/site-packages/one/__init__.py\n1\n",
        "touch: cannot touch '/usr/lib/python3/site-packages/x': Read-only file system\n",
        0,
    );
    assert_eq!(isopod(&["run", "--", script]), seen);
    assert_eq!(
        isopod(&["python", "list"]),
        answer("Package Version\n------- -------\none     1.0\ntwo     1.0\n", "", 0)
    );
    assert_eq!(isopod(&["python", "remove", "one"]), answer("Successfully uninstalled one-1.0\n", "", 0));
    assert_eq!(
        isopod(&["run", "--", "python3 -c 'import one' 2>&1 | tail -1"]),
        answer("ModuleNotFoundError: No module named 'one'\n", "", 0)
    );
    assert_eq!(isopod(&["python", "add", &wheel("one")]), answer("Successfully installed one-1.0\n", "", 0));

    let refusals = [
        (
            vec!["python", "add", "--find-links", links, "nonesuch"],
            "there is no wheel of pure Python for nonesuch: a sandbox runs no native code",
        ),
        (vec!["python", "add", "nope.whl"], "nope.whl: No such file or directory (os error 2)"),
        (vec!["python", "remove", "nonesuch"], "Skipping nonesuch as it is not installed."),
    ];
    for (arguments, why) in refusals {
        assert_eq!(isopod(&arguments), answer("", &format!("isopod: {why}\n"), 1));
    }
    let native = wheel("native");
    let why = "isopod: native-1.0-py3-none-any.whl holds native code: this sandbox runs pure Python only\n";
    assert_eq!(isopod(&["python", "add", &native]), answer("", why, 1));
    let entries = std::fs::read_dir(data.path().join("isopod-python")).unwrap();
    let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["site-packages"], "what was fetched or replaced is left over");
}

#[test]
fn what_stands_in_the_way_of_a_package_is_said_in_one_line() {
    let data = tempfile::tempdir().unwrap();
    let mut without_pip = crate::support::isopod(&["python", "add", "one"]);
    let tools = tempfile::tempdir().unwrap();
    std::fs::write(
        tools.path().join("python3"),
        "#!/bin/sh\necho '/usr/bin/python3: No module named pip' >&2\nexit 1\n",
    )
    .unwrap();
    std::fs::set_permissions(tools.path().join("python3"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    without_pip.env("XDG_DATA_HOME", data.path()).env("PATH", tools.path());
    let mut without_python = crate::support::isopod(&["python", "add", "one"]);
    without_python.env("XDG_DATA_HOME", data.path()).env("PATH", data.path());
    let mut without_network = crate::support::isopod(&["python", "add", "one"]);
    // Nothing listens on port 1 of this machine.
    without_network.env("XDG_DATA_HOME", data.path()).env("PIP_INDEX_URL", "http://127.0.0.1:1/simple");
    without_network.env("PIP_CONFIG_FILE", "/dev/null").env("PIP_RETRIES", "0");
    for (command, why) in [
        (without_pip, "this machine's python3 has no pip to fetch packages with"),
        (without_python, "there is no python3 on this machine to fetch packages with"),
        (without_network, "the package index cannot be reached"),
    ] {
        let answer = crate::support::cli_answer(command);
        assert_eq!((answer.stdout.as_str(), answer.stderr, answer.code), ("", format!("isopod: {why}\n"), Some(1)));
    }
}
