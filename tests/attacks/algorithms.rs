//! Algorithms: input that costs more than its length.

use std::time::Duration;

use isopod::{Limits, Snapshot};

use crate::Attack;
use crate::arena::{Arena, text};
use crate::host::isopod;

/// The time limit of work that has to be linear.
const SOON: Duration = Duration::from_secs(30);

pub const ATTACKS: &[Attack] = &[
    ("attack_102_no_pattern_and_no_number_costs_more_than_it_is_long", |a| {
        let many = "x=$(printf 'a%.0s' {1..5000});";
        for command in [
            "[[ $x! =~ ^(a+)+$ ]]",
            "echo $x! | grep -E '^(a+)+$'",
            "echo $x! | grep -E '(a|aa)+$b'",
            "echo $x! | sed -E 's/^(a+)+$/b/'",
            "echo $x! | awk '/^(a+)+$/'",
            "echo $x! | rg '^(a+)+$'",
            "expr $x! : '\\(a*\\)*b'",
            "find . -regex '.*\\(a*\\)*b'",
            "case $x in *a*a*a*a*a*a*a*a*b) ;; esac",
            "[[ $x == *a*a*a*a*a*a*a*a*b ]]",
            "shopt -s extglob; x=${x:0:500}; [[ $x == *(*(a|aa)|*(a))b ]]",
            "y=${x//*a*a*a*b/}; y=${x##*a*a*b}; y=${x%%b*a*a*}",
            "touch $(echo $x | cut -c 1-200); ls *a*a*a*a*a*a*a*b",
            "echo {1..9999999}",
            "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
            "printf %999999999d 1",
            "printf '%.*d' 999999999 1",
            "awk 'BEGIN { printf \"%999999999d\", 1 }'",
            "seq 1 20000 > one; seq 20000 -1 1 > two; diff one two",
            "yes a | head -n 20000 > one; (yes a; yes b) | head -n 20000 > two; diff one two",
            "echo $((2**62 * 2**62)); echo $((9**999999999))",
            "echo '9^99999' | timeout 2 bc",
            "jq -n '[range(100000)] | map(tostring) | join(\",\") | test(\"(a+)+$\")'",
            "seq 1 100000 | sort -R | sort -n | uniq -c | tail -1",
            "printf '%s\\n' $x | tsort",
        ] {
            let output = a.run_for(format!("{many} {command} > /dev/null; true").as_str(), SOON);
            assert!(!output.timed_out, "{command}");
        }
    }),
    ("attack_103_colliding_keys_and_bombs_of_aliases_are_bounded", |a| {
        for command in [
            "declare -A m; for i in {1..30000}; do m[k$i]=$i; done; echo ${#m[@]}",
            "seq 1 300000 | awk '{ a[$1 * 65536] = 1 } END { print length(a) }'",
            "jq -n '[range(50000) | {key: tostring, value: .}] | from_entries | length'",
        ] {
            let output = a.run_for(command, SOON);
            assert!(!output.timed_out && output.exit_code == 0, "{command}: {}", text(&output));
        }
        let bomb =
            "shopt -s expand_aliases; alias a='b b' b='c c' c='d d' d='e e' e='f f' f='a a'; eval a 2>/dev/null; true";
        assert!(!a.run_for(bomb, SOON).timed_out);
        let doubling: String = (0..40).map(|n| format!("alias a{n}='a{} a{} '; ", n + 1, n + 1)).collect();
        a.run_for(format!("shopt -s expand_aliases; {doubling} eval a0; true").as_str(), SOON);
        #[cfg(feature = "python")]
        assert!(!a.run_for("python3 -c 'print(len({i * (2**61 - 1): i for i in range(20000)}))'", SOON).timed_out);
    }),
    ("attack_104_code_and_archives_from_outside_are_never_loaded_as_they_are", |a| {
        a.refuses("printf '\\0asm\\1\\0\\0\\0' > m; chmod +x m; ./m", "cannot execute binary file");
        a.refuses("printf '\\177ELF\\2\\1\\1\\0' > m; chmod +x m; ./m", "cannot execute binary file");
        a.refuses("head -c 5000 /dev/urandom > m; chmod +x m; exec ./m", "");
        a.refuses("printf '#!isopod-program nonesuch\\n' > m; chmod +x m; ./m", "required file not found");
        // Such a file can only name a program that the kernel has.
        a.prints("printf '#!isopod-program echo\\n' > m; chmod +x m; ./m hi", "hi\n");
        damaged_snapshots(a);
        let output = a.host_command(&mut isopod(&["programs", "--verify"]));
        assert_eq!(output.status.code(), Some(0));
    }),
];

fn damaged_snapshots(a: &mut Arena) {
    let sandbox = a.sandbox();
    sandbox.fs().write("/tmp/f", "text").unwrap();
    let mut saved = Vec::new();
    // A mount is no part of a snapshot.
    let digest = isopod::Sandbox::builder().build().unwrap().snapshot().save(&mut saved).unwrap();
    let load = |bytes: &[u8]| Snapshot::load(bytes, &Limits::default(), Some(&digest)).map(drop);
    assert!(load(&saved).is_ok());
    assert!(load(b"").is_err() && load(b"\0asm\x01\0\0\0").is_err() && load(&[0; 4096]).is_err());
    for at in (0..saved.len()).step_by(saved.len() / 64 + 1) {
        let mut damaged = saved.clone();
        damaged[at] ^= 0x41;
        assert!(load(&damaged).is_err(), "a change at {at}");
        assert!(load(&saved[..at]).is_err(), "cut at {at}");
    }
}
