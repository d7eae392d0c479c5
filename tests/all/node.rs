//! node and js: QuickJS with Node's modules, within the sandbox's limits.
//!
//! Answers that Node itself gives alike are data, in `tests/cases/node`. These tests are about the sandbox.

use std::time::{Duration, Instant};

use isopod::Command;

use crate::cases::run_topic;
use crate::support::{Answer, limited, run, run_in};

/// Runs a program given as a string.
fn node(program: &str) -> Answer {
    run(Command::program(["node", "-e", program]))
}

#[test]
fn cases_are_answered_as_node_does() {
    run_topic("node");
}

#[test]
fn both_names_run_it() {
    run(Command::program(["js", "-p", "1 + 1"])).stdout("2\n").code(0);
    run(Command::shell("printf '#!/usr/bin/env node\\nconsole.log(process.argv.length)\\n' > x; chmod +x x; ./x a"))
        .stdout("3\n")
        .code(0);
}

#[test]
fn what_is_not_there_is_said_clearly() {
    let cases = [
        ("require('http')", "node:http is not available in this sandbox: it has no network"),
        ("require('node:net')", "node:net is not available in this sandbox: it has no network"),
        ("require('worker_threads')", "node:worker_threads is not available in this sandbox: it has no threads"),
        ("require('zlib')", "node:zlib is not available in this sandbox"),
        ("require('child_process').fork('x')", "child_process.fork is not available in this sandbox"),
        (
            "require('child_process').spawn('ls', { detached: true })",
            "the option detached of child_process is not available",
        ),
        ("require('child_process').spawn('ls', { uid: 0 })", "the option uid of child_process is not available"),
        ("require('fs').watch('.')", "fs.watch is not available in this sandbox: nothing tells of changes"),
        ("(1).toLocaleString('de-DE')", "the locale de-DE is not available in this sandbox: it has English only"),
        ("'a'.localeCompare('b', 'sv')", "the locale sv is not available in this sandbox: it has English only"),
        (
            "new Date(0).toLocaleString('en-US', { timeZone: 'Asia/Tokyo' })",
            "the time zone Asia/Tokyo is not available",
        ),
        ("new Intl.NumberFormat()", "Intl is not defined"),
    ];
    for (program, expected) in cases {
        let answer = node(program).code(1);
        let stderr = String::from_utf8_lossy(&answer.0.stderr).into_owned();
        assert!(stderr.contains(expected), "{program}: {stderr}");
    }
}

#[test]
fn an_option_that_is_not_there_is_an_error() {
    for option in ["--inspect", "--max-old-space-size=100", "--experimental-vm-modules", "-i", "--test", "--check=1"] {
        let answer = run(Command::program(["node", option, "-e", "1"])).code(9);
        assert_eq!(answer.0.stdout, b"", "{option}");
        assert_eq!(String::from_utf8_lossy(&answer.0.stderr).lines().count(), 1, "{option}");
    }
}

#[test]
fn a_loop_ends_by_the_deadline() {
    for program in
        ["while (true) {}", "/(a*)*b/.test('a'.repeat(40))", "(function f() { Promise.resolve().then(f) })()"]
    {
        let start = Instant::now();
        run(Command::program(["node", "-e", program]).timeout(Duration::from_millis(300))).code(124);
        assert!(start.elapsed() < Duration::from_secs(10), "{program}");
    }
}

#[test]
fn memory_ends_by_the_limit_and_says_so() {
    let sandbox = limited(|limits| limits.process_memory = 64 << 20);
    for program in
        ["const a = []; for (;;) a.push(new Array(1e5).fill(1))", "const a = []; for (;;) a.push(Buffer.alloc(1e6))"]
    {
        let answer = run_in(&sandbox, Command::program(["node", "-e", program])).code(134);
        let stderr = String::from_utf8_lossy(&answer.0.stderr).into_owned();
        assert!(stderr.contains("FATAL ERROR: JavaScript heap out of memory"), "{program}: {stderr}");
        assert!(stderr.contains("isopod: limit exceeded: memory of a process (64 MiB)"), "{program}: {stderr}");
    }
    let survives = "try { const a = []; for (;;) a.push(Buffer.alloc(1e6)) } catch (e) { console.log(e.message) }";
    run_in(&sandbox, Command::program(["node", "-e", survives])).stdout("out of memory\n").code(0);
    node("try { 'a'.repeat(2 ** 30) } catch (e) { console.log(`${e}`) }").stdout("RangeError: Invalid string length\n");
}

/// Each program exhausts another part of the engine's stack: calls, callbacks of natives, the parsers.
#[test]
fn deep_recursion_is_an_error_that_can_be_caught() {
    let programs = [
        "(function f() { f() })()",
        "const f = () => [1, 2].sort(f); f()",
        "const o = { toJSON: () => JSON.stringify(o) }; JSON.stringify(o)",
        "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x",
        "class A { get x() { return this.x } } new A().x",
        "JSON.parse('['.repeat(2e6))",
        "JSON.parse('{\"a\":'.repeat(1e6))",
        "eval('('.repeat(2e5))",
        "eval('['.repeat(2e5))",
        "eval('`${'.repeat(2e5))",
        "eval('!'.repeat(1e6))",
        "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; a.toString()",
        "let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; structuredClone(a)",
        "let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); p.x",
    ];
    for program in programs {
        let caught = format!("try {{ {program} }} catch (e) {{ console.log(`${{e}}`) }}");
        node(&caught).stdout("RangeError: Maximum call stack size exceeded\n").code(0);
    }
    node("console.log((function f(n) { try { return f(n + 1) } catch { return n } })(0) > 5000)").stdout("true\n");
}

#[test]
fn it_counts_instructions_where_the_sandbox_does() {
    let sandbox = limited(|limits| limits.fuel = Some(2_000_000_000));
    run_in(&sandbox, Command::program(["node", "-p", "1 + 1"])).stdout("2\n").code(0);
    run_in(&sandbox, Command::program(["node", "-e", "for (;;);"])).code(152);
    let deep = "try { eval('('.repeat(2e5)) } catch (e) { console.log(e.name) }";
    run_in(&sandbox, Command::program(["node", "-e", deep])).stdout("RangeError\n").code(0);
}

#[test]
fn it_sees_the_sandbox_only() {
    node("console.log(fs.readdirSync('/home'), fs.existsSync('/etc/shadow'), process.cwd(), os.hostname(), process.getuid())")
        .stdout("[ 'user' ] false /workspace isopod 1000\n");
    node("try { fs.writeFileSync('/usr/bin/x', '') } catch (e) { console.log(e.code) }").stdout("EROFS\n");
}

#[test]
fn a_broken_pipe_ends_it() {
    run(Command::shell("node -e 'for (let i = 0; ; i++) console.log(i)' | head -2")).stdout("0\n1\n").code(0);
}
