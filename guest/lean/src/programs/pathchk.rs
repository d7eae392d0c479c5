//! `pathchk`: checks that names are valid and portable.

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{name, plain};
use isopod_sys::{Errno, files, text};

/// `pathchk`.
pub(crate) const PROGRAM: Program = Program {
    name: "pathchk",
    operands: &["[OPTION]... NAME..."],
    about: "Diagnose invalid or non-portable file names.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('p', "p", "check for most POSIX systems"),
        Opt::letter('P', "P", "check for empty names and leading \"-\""),
        Opt::long("portability", "check for all POSIX systems (equivalent to -p -P)"),
    ],
    failure: 1,
    run: |call| {
        if call.operands.is_empty() {
            return call.misused("missing operand");
        }
        let wrong = call.operands.iter().filter(|path| !check(call, path)).count();
        u8::from(wrong > 0)
    },
};

fn check(call: &Call, path: &str) -> bool {
    let all = call.has("portability");
    let portable = all || call.has("p");
    let fail = |message: String| {
        call.complain(&message);
        false
    };
    if (all || call.has("P")) && path.split('/').any(|part| part.starts_with('-')) {
        return fail(format!("leading '-' in a component of file name {}", plain(path)));
    }
    if path.is_empty() && (portable || call.has("P")) {
        return fail("empty file name".to_owned());
    }
    let (longest_path, longest_name) = if portable { (255, 14) } else { (4095, 255) };
    if portable {
        let odd = path.chars().find(|c| !(c.is_ascii_alphanumeric() || "._-/".contains(*c)));
        if let Some(odd) = odd {
            return fail(format!("nonportable character {} in file name {}", plain(&odd.to_string()), plain(path)));
        }
    } else {
        match files::stat(path, false) {
            Ok(_) | Err(Errno::NoEntry) if !path.is_empty() => {}
            Ok(_) => {}
            Err(errno) => return fail(format!("{}: {}", name(path), text(errno))),
        }
    }
    if path.len() > longest_path {
        return fail(format!("limit {longest_path} exceeded by length {} of file name {}", path.len(), plain(path)));
    }
    for part in path.split('/') {
        if part.len() > longest_name {
            let length = part.len();
            return fail(format!(
                "limit {longest_name} exceeded by length {length} of file name component {}",
                plain(part)
            ));
        }
    }
    true
}
