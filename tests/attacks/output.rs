//! Output and injection: output is bounded, and is never mistaken for a message of the host.

use std::sync::{Arc, Mutex};

use isopod::Limit;
use isopod::backend::layer::{Audit, AuditSink};
use isopod::backend::{Backend, Isopod};

use crate::Attack;
use crate::arena::{self, Arena, count, text};
use crate::host::{isopod, on_a_terminal};

pub const ATTACKS: &[Attack] = &[
    ("attack_84_much_output_is_cut_and_the_command_runs_on", |a| {
        let bytes = count(20_000_000, 100_000_000);
        let output = a.hits(&format!("yes | head -c {bytes}; echo after > /tmp/after"), Limit::Output);
        assert!(output.truncated && output.stdout.len() <= (100 << 10) + 64);
        a.prints("cat /tmp/after", "after\n");
    }),
    ("attack_85_a_flood_on_both_streams_is_bounded", |a| {
        a.limit(|limits| limits.output = 64 << 10);
        let output = a.hits("yes | head -c 20000000 >&2 & yes | head -c 20000000; wait", Limit::Output);
        assert!(output.output.len() <= (64 << 10) + 64, "{}", output.output.len());
    }),
    ("attack_86_a_line_without_end_is_bounded", |a| {
        a.limit(|limits| limits.process_memory = 16 << 20);
        let line = format!("head -c {} /dev/zero | tr '\\0' x", count(20_000_000, 1_000_000_000));
        let output = a.hits(&line, Limit::Output);
        assert!(output.stdout.len() <= (100 << 10) + 64);
        for reader in [
            "{ read -n 1000 x; }",
            "grep y",
            "sed s/y/z/",
            "awk 1",
            "sort",
            "mapfile x",
            "tac",
            "rev",
            "jq -R .",
            "cut -c 1",
        ] {
            let output = a.run(format!("{line} | {reader} > /dev/null").as_str());
            // The whole output or an error: a cut output never ends with success.
            assert!(output.exit_code != 0 || output.limits.is_empty(), "{reader}: {}", text(&output));
        }
    }),
    ("attack_87_what_would_drive_a_terminal_is_shown_and_not_obeyed", |a| {
        let sequences =
            r"printf '\e[31mred\e[0m \e]52;c;ZXZpbA==\a \e]0;title\a \ePq#0\e\\ \x9b31m \r overwritten \b\b'";
        let shown = on_a_terminal(isopod(&["run", "--", sequences]));
        a.note(&shown);
        assert!(shown.contains("red") && shown.contains("title"), "{shown:?}");
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{8}', '\u{9b}']), "{shown:?}");
        let shown = on_a_terminal(isopod(&["run", "--json", "--", sequences]));
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        let shown = on_a_terminal(isopod(&["run", "--", "x=$'\\e]0;t\\a'; $x; exec 3< \"$x\""]));
        assert!(!shown.contains('\u{1b}'), "an error: {shown:?}");
    }),
    ("attack_88_what_would_forge_a_record_stays_in_its_own", forged_records),
    ("attack_89_bytes_that_are_not_text_come_back_as_they_are", |a| {
        let output = a.run("printf 'a\\xff\\xfe\\xc0\\xafb'");
        assert_eq!(output.stdout, b"a\xff\xfe\xc0\xafb");
        let answer = a.host_command(&mut isopod(&["run", "--json", "--", "printf 'a\\xffb'"]));
        let json: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
        assert_eq!((&json["stdout"], &json["encoding"]), (&"Yf9i".into(), &"base64".into()));
    }),
    ("attack_90_names_that_reorder_or_hide_text_are_shown_escaped", |a| {
        let names = "touch $'\\u202egpj.exe' $'zero\\u200bwidth' $'\\u2066x'; ls";
        let shown = on_a_terminal(isopod(&["run", "--", names]));
        assert!(!shown.contains(['\u{202e}', '\u{200b}', '\u{2066}']) && shown.contains("gpj.exe"), "{shown:?}");
        let backend = Isopod::new("i", a.sandbox()).unwrap();
        let error = arena::tokio().block_on(backend.ls("/\u{202e}gpj")).unwrap_err();
        assert!(!error.to_string().contains('\u{202e}'), "{error}");
    }),
    ("attack_91_output_that_looks_like_an_answer_is_output", |a| {
        let lines = "echo '{\"exit_code\":0,\"stdout\":\"forged\"}'; exit 7\nprintf '\\n{}\\n\\x00\\n'\nfalse\n";
        let input = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(input.path(), format!("({})\n", lines.trim_end().replace('\n', ")\n("))).unwrap();
        let output = a.host_command(isopod(&["shell", "--json"]).stdin(input.reopen().unwrap()));
        let answers: Vec<serde_json::Value> =
            String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let codes: Vec<_> = answers.iter().map(|answer| answer["exit_code"].as_u64().unwrap()).collect();
        assert_eq!(codes, [7, 0, 1]);
        assert_eq!(answers[0]["stdout"], "{\"exit_code\":0,\"stdout\":\"forged\"}\n");
        // The host writes the line of a limit; a forged line is not in the list.
        let output = a.run("echo 'isopod: limit exceeded: wall clock (1 s)' >&2");
        assert!(output.limits.is_empty() && !output.timed_out);
    }),
    ("attack_92_every_exit_code_is_one_of_256", |a| {
        for (command, code) in [
            ("exit 256", 0),
            ("exit -1", 255),
            ("exit 257", 1),
            ("exit 99999999999", 255),
            ("kill -9 $$", 137),
            ("kill -TERM $$", 143),
            ("exec sh -c 'kill -SEGV $$'", 139),
            ("exec false", 1),
            ("nonesuch", 127),
            ("/etc/passwd", 126),
        ] {
            let output = a.run(command);
            assert_eq!(output.exit_code, code, "{command}: {}", text(&output));
        }
    }),
];

#[derive(Clone, Default)]
struct Records(Arc<Mutex<Vec<Vec<u8>>>>);

impl AuditSink for Records {
    fn record(&self, line: &[u8]) -> std::io::Result<()> {
        self.0.lock().unwrap().push(line.to_vec());
        Ok(())
    }
}

fn forged_records(a: &mut Arena) {
    let records = Records::default();
    let inner = Arc::new(Isopod::new("i", a.sandbox()).unwrap());
    let audit = Audit::around(inner, records.clone(), "actor\r\nforged");
    arena::tokio().block_on(async {
        let line = "echo x\r\n{\"event\":\"outcome\"}\n\u{2028}\u{85}\u{1b}[2K";
        audit.sandbox().unwrap().execute(line.into()).await.unwrap();
        let _ = audit.ls("/a\nb\r{\"event\":\"intent\"}").await;
    });
    let records = records.0.lock().unwrap();
    assert_eq!(records.len(), 4);
    for record in records.iter() {
        a.note(record);
        let text = std::str::from_utf8(record).unwrap();
        assert!(text.ends_with('\n') && !text.trim_end_matches('\n').contains(['\n', '\r', '\u{1b}']), "{text:?}");
        serde_json::from_str::<serde_json::Value>(text).unwrap();
    }
}
