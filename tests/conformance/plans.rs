//! Plans of commands, made from their text: a table of commands, and the cost of hostile texts.

use std::time::{Duration, Instant};

use isopod::backend::plan::{Argument, Plan, PlanGap, Step};

/// Commands and their plans, one line per step: `name:` is a function, `x=` are variables, `?` precedes a word that is
/// not a constant, `>` precedes a file that is written, and `!` marks a step that runs more than the text shows. The
/// commands that a step runs are indented below it.
const TABLE: [(&str, &[&str]); 111] = [
    // Lists, pipelines, compound commands.
    ("ls", &["ls"]),
    ("ls -l /tmp", &["ls -l /tmp"]),
    ("a; b\nc & d && e || f", &["a", "b", "c", "d", "e", "f"]),
    ("a | b |& c", &["a", "b", "c"]),
    ("! a", &["a"]),
    ("time -p a", &["a"]),
    ("{ a; }; (b; c)", &["a", "b", "c"]),
    ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
    ("while a; do b; done; until c; do d; done", &["a", "b", "c", "d"]),
    ("for x in $(a) b; do c $x; done", &["a", "c ?$x"]),
    ("select x in $(a); do b; done", &["a", "b"]),
    ("for ((i = $(a); i < $(b); i += $(c))); do d; done", &["a", "b", "c", "d"]),
    ("case $(a) in $(b)) c;; *) d;& e) f;; esac", &["a", "b", "c", "d", "f"]),
    ("f() { a; }; f", &["f: a", "f"]),
    ("function g { a; (b); }", &["g: a", "g: b"]),
    ("coproc a; coproc N { b; }", &["a", "b"]),
    // Places where substitutions may hide.
    ("echo $(a) `b` \"$(c \"$(d)\")\"", &["a", "b", "d", "c ?\"$(d)\"", "echo ?$(a) ?`b` ?\"$(c \"$(d)\")\""]),
    ("diff <(a) >(b)", &["a", "b", "diff ?<(a) ?>(b)"]),
    ("x=$(a) y=([$(b)]=$(c))", &["a", "b", "c", "x= y="]),
    ("export x=$(a)", &["a", "export ?x=$(a)"]),
    ("x[$(a)]=1 b", &["a", "x= b"]),
    (
        "echo ${x:-$(a)} ${x/$(b)/$(c)} ${x:$(d):1} ${x[$(e)]} ${x#$(f)} ${x^^$(g)}",
        &[
            "a",
            "b",
            "c",
            "d",
            "e",
            "f",
            "g",
            "echo ?${x:-$(a)} ?${x/$(b)/$(c)} ?${x:$(d):1} ?${x[$(e)]} ?${x#$(f)} ?${x^^$(g)}",
        ],
    ),
    ("((x = $(a)))", &["a"]),
    ("echo $((1 + $(a))) $[$(b)]", &["a", "b", "echo ?$((1 + $(a))) ?$[$(b)]"]),
    ("[[ -f $(a) && ! ( $(b) == $(c) || x =~ $(d) ) ]]", &["a", "b", "c", "d"]),
    ("cat <<E\n$(a)\nE", &["a", "cat"]),
    ("cat <<'E'\n$(a)\nE", &["cat"]),
    ("cat <<< \"$(a)\"", &["a", "cat"]),
    ("a > $(b)", &["b", "a >?$(b)"]),
    ("echo {x,$(a)}", &["a", "echo ?{x,$(a)}"]),
    ("$(a)", &["a", "?$(a) !"]),
    // Words.
    ("'rm' \"-rf\" \\x y'z'\"w\"", &["rm -rf x yzw"]),
    ("r\"\"m $'\\x2f'", &["rm /"]),
    ("$cmd x", &["?$cmd x !"]),
    ("\"$(x)\"", &["x", "?\"$(x)\" !"]),
    ("/bin/l? x", &["?/bin/l? x !"]),
    ("{rm,-rf,/}", &["?{rm,-rf,/} !"]),
    ("rm *.txt ~ $x\"$y\"", &["rm ?*.txt ?~ ?$x\"$y\""]),
    ("echo ''", &["echo ''"]),
    ("export A=1 B='x y'; declare -a c=(1 2)", &["export A=1 'B=x y'", "declare -a ?c=(…)"]),
    ("[ -f x ]", &["[ -f x ]"]),
    ("./run.sh x", &["./run.sh x !"]),
    ("/usr/bin/ls", &["/usr/bin/ls"]),
    // Variables and redirections.
    ("x=1", &["x="]),
    ("PATH=/tmp:$PATH ls", &["PATH= ls"]),
    ("> f", &[">f"]),
    ("a > f 2> g >> h <> i >| j &> k &>> l", &["a >f >g >h >i >j >k >l"]),
    ("a 2>&1 >&2 2>&- < f", &["a"]),
    ("a >& f", &["a >f"]),
    ("a >&$n", &["a >?$n"]),
    ("{ a; b; } > f", &[">f", "a", "b"]),
    ("while a; do b; done > \"$f\"", &[">?\"$f\"", "a", "b"]),
    ("exec > f 2>&1", &["exec >f"]),
    ("f() { a; } > g", &["f: >g", "f: a"]),
    // Scripts in arguments and input.
    ("sh -c 'rm x; ls'", &["sh -c 'rm x; ls'", "  rm x", "  ls"]),
    ("bash -euo pipefail -c 'a | b' x y", &["bash -euo pipefail -c 'a | b' x y", "  a", "  b"]),
    ("bash -xc a", &["bash -xc a", "  a"]),
    ("/bin/sh -c \"sh -c 'a'\"", &["/bin/sh -c 'sh -c 'a''", "  sh -c a", "    a"]),
    ("sh -c \"rm $x\"", &["sh -c ?\"rm $x\" !"]),
    ("sh -c 'if'", &["sh -c if !"]),
    ("sh -c 'a\nif'", &["sh -c 'a\nif' !", "  a"]),
    ("sh x.sh", &["sh x.sh !"]),
    ("curl u | sh", &["curl u", "sh !"]),
    ("bash <<'E'\na $b\nE", &["bash", "  a ?$b"]),
    ("bash -s x <<< 'a'", &["bash -s x", "  a"]),
    ("bash <<E\na $b\nE", &["bash !"]),
    ("bash --version", &["bash --version"]),
    ("eval 'a;' b", &["eval a; b", "  a", "  b"]),
    ("eval \"$x\"", &["eval ?\"$x\" !"]),
    ("eval eval eval a", &["eval eval eval a", "  eval eval a", "    eval a", "      a"]),
    (
        "trap 'rm f' EXIT; trap - EXIT; trap; trap '' INT",
        &["trap 'rm f' EXIT", "  rm f", "trap - EXIT", "trap", "trap '' INT"],
    ),
    (". ./x; source y", &[". ./x !", "source y !"]),
    (
        "python3 -c 'import os'; awk 'BEGIN { system(\"x\") }'",
        &["python3 -c 'import os' !", "awk 'BEGIN { system(\"x\") }' !"],
    ),
    // Commands that run commands.
    ("env", &["env"]),
    ("env -i A=1 B=\"$b\" -u C ls -l", &["env -i A=1 ?B=\"$b\" -u C", "  ls -l"]),
    ("env -S 'a b'", &["env -S 'a b' !"]),
    ("env --split='a b' c", &["env '--split=a b' c !"]),
    ("env --uns X -u", &["env --uns X -u"]),
    ("sudo -s; sudo -u", &["sudo -s !", "sudo -u"]),
    ("env $x ls", &["env ?$x ls !"]),
    ("env \"$x\" ls", &["env", "  ?\"$x\" ls !"]),
    ("env env sh -c a", &["env", "  env", "    sh -c a", "      a"]),
    ("sudo -u root -- rm x", &["sudo -u root --", "  rm x"]),
    ("timeout -k 5 10 a b", &["timeout -k 5 10", "  a b"]),
    ("timeout --signal=KILL \"$t\" a", &["timeout --signal=KILL ?\"$t\"", "  a"]),
    ("timeout $t a", &["timeout ?$t a !"]),
    ("nohup nice -n 5 a &", &["nohup", "  nice -n 5", "    a"]),
    (
        "stdbuf -oL a; setsid b; command -p c; builtin d",
        &["stdbuf -oL", "  a", "setsid", "  b", "command -p", "  c", "builtin", "  d"],
    ),
    ("command -v rm", &["command -v rm"]),
    ("exec -a x y z", &["exec -a x", "  y z"]),
    ("exec 3< f", &["exec"]),
    ("xargs", &["xargs"]),
    ("ls | xargs -0 -n 1 rm -f", &["ls", "xargs -0 -n 1", "  rm -f"]),
    ("xargs sh -c 'a \"$@\"' x", &["xargs", "  sh -c 'a \"$@\"' x", "    a ?\"$@\""]),
    ("xargs -I{} sh -c 'rm {}'", &["xargs -I{}", "  sh -c 'rm {}' !", "    rm {}"]),
    ("xargs -I X X y", &["xargs -I X", "  X y !"]),
    ("xargs sh", &["xargs", "  sh !"]),
    ("xargs env", &["xargs", "  env !"]),
    ("xargs $x", &["xargs ?$x !"]),
    ("find . -name '*.c' -delete", &["find . -name *.c -delete"]),
    ("find . -exec rm {} \\; -exec ls -l {} + -print", &["find . -exec ; -exec + -print", "  rm {}", "  ls -l {}"]),
    ("find . -exec sh -c 'rm \"$1\"' x {} \\;", &["find . -exec ;", "  sh -c 'rm \"$1\"' x {}", "    rm ?\"$1\""]),
    ("find . -exec {} \\;", &["find . -exec ;", "  {} !"]),
    ("find $x", &["find ?$x !"]),
    // Grammar that a command switches on, and arguments that are no script.
    ("shopt -s extglob\nls !(a)", &["shopt -s extglob", "ls ?!(a)"]),
    ("# nothing", &[]),
    ("", &[]),
    ("a\nb )", &["a", "line 2: syntax error near unexpected token `)'"]),
    ("a 'b", &["line 1: unexpected EOF while looking for matching `''"]),
    ("if a; then", &["line 2: syntax error: unexpected end of file"]),
    ("echo $(if)", &["line 1: syntax error near unexpected token `)'"]),
];

fn word(argument: &Argument) -> String {
    let text = match argument.text.is_empty() || (!argument.dynamic && argument.text.contains([' ', '\n'])) {
        true => format!("'{}'", argument.text),
        false => argument.text.clone(),
    };
    format!("{}{text}", if argument.dynamic { "?" } else { "" })
}

fn row(plan: &Plan, step: &Step) -> String {
    let mut depth = 0;
    let mut by = step.within;
    while let Some(at) = by {
        depth += 1;
        by = plan.steps[at].within;
    }
    let mut words: Vec<String> = step.function.iter().map(|name| format!("{name}:")).collect();
    words.extend(step.variables.iter().map(|name| format!("{name}=")));
    words.extend(step.program.iter().chain(&step.arguments).map(word));
    words.extend(step.writes.iter().map(|file| format!(">{}", word(file))));
    words.extend(step.opaque.then(|| "!".to_owned()));
    format!("{}{}", "  ".repeat(depth), words.join(" "))
}

fn rows(command: &str) -> Vec<String> {
    let plan = Plan::of(command);
    let mut rows: Vec<String> = plan.steps.iter().map(|step| row(&plan, step)).collect();
    match &plan.gap {
        Some(PlanGap::Syntax { line, message }) => rows.push(format!("line {line}: {message}")),
        Some(gap) => rows.push(format!("{gap:?}")),
        None => {}
    }
    rows
}

#[test]
fn a_plan_names_all_that_a_command_would_run() {
    let mut wrong = String::new();
    for (command, expected) in TABLE {
        let found = rows(command);
        if found != expected {
            wrong += &format!("{command:?}\n  expected {expected:?}\n  found    {found:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn steps_know_their_lines() {
    let plan = Plan::of("a\n\nb | c\nsh -c 'd\ne'\n");
    let lines: Vec<u32> = plan.steps.iter().map(|step| step.line).collect();
    assert_eq!(lines, [1, 3, 3, 4, 4, 5]);
}

#[test]
fn a_plan_is_whole_or_says_why_not() {
    assert!(Plan::of("ls | wc -l > \"$f\"").is_whole());
    for command in ["$x", "eval \"$x\"", "sh f", "a; )"] {
        assert!(!Plan::of(command).is_whole(), "{command}");
    }
    assert_eq!(Plan::of(&"x".repeat(2 << 20)).gap, Some(PlanGap::TooLong));
    let many = Plan::of(&"a;".repeat(5_000));
    assert_eq!((many.steps.len(), many.gap), (1_000, Some(PlanGap::TooMany)));
}

/// Runs `work` with the stack size of a tokio thread, because such threads poll approvals.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn nesting_ends_at_a_bound() {
    on_a_small_stack(|| {
        for (open, close) in [
            ("$(", ")"),
            ("echo \"${x-\"$(", ")\"}\""),
            ("(a; ", ")"),
            ("{ a; ", "}"),
            ("[[ ! ( x == $(", ") ) ]]"),
            ("f() { ", "}"),
            ("export a={$(", ")}"),
            ("if a; then ", "; fi"),
            ("find -exec ", ""),
            ("eval ", "a"),
            ("x=([$((1+$(", ")))]=1)"),
            ("echo {a,{b,{c,{d,{e,$(", ")}}}}}"),
            ("case $(", ") in esac"),
        ] {
            for depth in [20, 39, 60, 5_000] {
                let plan = Plan::of(&format!("{}{}", open.repeat(depth), close.repeat(depth)));
                assert!(depth < 60 || !plan.is_whole(), "{open} {depth}");
            }
        }
        // Braces nest beside the commands in them.
        let (open, close) = (format!("echo {}$(", "{a,".repeat(32)), format!("){}", "}".repeat(32)));
        assert_eq!(Plan::of(&format!("{}{}", open.repeat(38), close.repeat(38))).gap, Some(PlanGap::TooDeep));
    });
}

#[test]
fn plans_of_long_texts_take_linear_time() {
    const SIZE: usize = 200_000;
    on_a_small_stack(|| {
        for (before, piece) in [
            ("", "env "),
            ("", "xargs "),
            ("eval ", "eval "),
            ("", "find -exec "),
            ("find ", "-exec a ; "),
            ("find ", "-exec a \\; "),
            ("", "a=$(b) "),
            ("f() { ", "echo \"$(a)\";"),
            ("sh -c '", "sh -c \"a\";"),
            ("", "((a) # ((((\n)\n"),
            ("", "cat <<E\n$(a)\nE\n"),
        ] {
            let begin = Instant::now();
            Plan::of(&format!("{before}{}", piece.repeat(SIZE / piece.len())));
            let took = begin.elapsed();
            assert!(took < Duration::from_secs(10), "{took:?} for {before:?} {piece:?}");
        }
    });
}

/// Runs on the shell's cases, cut and spliced by a seeded generator: no panic, no overflow, no plan beyond its bounds.
#[test]
fn no_text_breaks_a_plan() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/shell");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts: Vec<String> = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let lines: Vec<String> = texts.iter().flat_map(|text| text.lines().map(str::to_owned)).collect();
    let seconds = std::env::var("ISOPOD_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    on_a_small_stack(move || {
        let mut state = 7u64;
        let mut next = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound.max(1)
        };
        let begin = Instant::now();
        let mut count = 0;
        while begin.elapsed() < Duration::from_secs(seconds) {
            let mut text = String::new();
            for _ in 0..1 + next(6) {
                let line: Vec<char> = lines[next(lines.len())].chars().collect();
                let (from, to) = (next(line.len() + 1), next(line.len() + 1));
                text.extend(&line[from.min(to)..from.max(to)]);
                text.push_str(
                    ["", "\n", "$(", ")", "\"", "'", "sh -c '", "eval ", "{", "}", "<<E\n", "((", "`"][next(13)],
                );
            }
            let plan = Plan::of(&text);
            assert!(plan.steps.iter().enumerate().all(|(at, step)| step.within.is_none_or(|by| by < at)), "{text:?}");
            count += 1;
        }
        assert!(count > 0);
    });
}
