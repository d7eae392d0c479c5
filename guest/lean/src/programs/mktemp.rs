//! `mktemp`: a new file or directory with an unused name.

use isopod_sys::files::{self, OpenFlags};
use isopod_sys::{Errno, Fd, fs, text};

use isopod_gnu::options::Opt;
use isopod_gnu::path::join;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;

/// `mktemp`.
pub(crate) const PROGRAM: Program = Program {
    name: "mktemp",
    operands: &["[OPTION]... [TEMPLATE]"],
    about: "Create a temporary file or directory, safely, and print its name.\n\
            TEMPLATE must contain at least 3 consecutive 'X's in last component.\n\
            If TEMPLATE is not specified, use tmp.XXXXXXXXXX, and --tmpdir is implied.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('d', "directory", "create a directory, not a file"),
        Opt::flag('u', "dry-run", "do not create anything; merely print a name (unsafe)"),
        Opt::flag('q', "quiet", "suppress diagnostics about file/dir-creation failure"),
        Opt::long("suffix", "append SUFF to TEMPLATE; SUFF must not contain a slash").takes("SUFF"),
        Opt::letter('p', "tmpdir", "interpret TEMPLATE relative to DIR; if DIR is empty, $TMPDIR, else /tmp")
            .takes("DIR"),
        Opt::long("tmpdir", "same as -p").may_take("DIR"),
        Opt::letter('t', "t", "interpret TEMPLATE as a single file name component, relative to a directory"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The number of names that are tried: with three letters there are 238,328.
const ATTEMPTS: usize = 10_000;
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn run(call: &Call) -> Result<u8, u8> {
    let refuse = |message: &str| {
        call.complain(message);
        1
    };
    if call.operands.len() > 1 {
        return Err(call.misused("too many templates"));
    }
    let given = call.operands.first().map(String::as_str);
    let template = given.unwrap_or("tmp.XXXXXXXXXX");
    let (stem, suffix) = split_suffix(template, call.value("suffix")).map_err(|message| refuse(&message))?;
    let blanks = stem.len() - stem.trim_end_matches('X').len();
    if blanks < 3 {
        return Err(refuse(&format!("too few X's in template {}", plain(template))));
    }
    let single = call.has("t");
    let directory = match (single || given.is_none() || call.has("tmpdir"), call.value("tmpdir")) {
        (false, _) => None,
        // With -t, $TMPDIR counts for more than -p.
        (true, given) => {
            let variable = std::env::var("TMPDIR").ok().filter(|value| !value.is_empty());
            let given = given.filter(|directory| !directory.is_empty()).map(str::to_owned);
            let chosen = if single { variable.or(given) } else { given.or(variable) };
            Some(chosen.unwrap_or_else(|| "/tmp".to_owned()))
        }
    };
    if single && template.contains('/') {
        return Err(refuse(&format!("invalid template, {}, contains directory separator", plain(template))));
    }
    if directory.is_some() && template.starts_with('/') {
        return Err(refuse(&format!("invalid template, {}; with --tmpdir, it may not be absolute", plain(template))));
    }
    let place = |name: String| directory.as_deref().map_or(name.clone(), |directory| join(directory, &name));
    let what = if call.has("directory") { "directory" } else { "file" };
    match create(call, &stem[..stem.len() - blanks], blanks, &suffix, place) {
        Ok(path) => Ok(call.print(&format!("{path}\n"))),
        Err(errno) if call.has("quiet") => {
            let _ = errno;
            Err(1)
        }
        Err(errno) => {
            let template = plain(&place(format!("{stem}{suffix}")));
            Err(refuse(&format!("failed to create {what} via template {template}: {}", text(errno))))
        }
    }
}

/// Splits a template behind its last `X`.
fn split_suffix(template: &str, given: Option<&str>) -> Result<(String, String), String> {
    if let Some(suffix) = given {
        if suffix.contains('/') {
            return Err(format!("invalid suffix {}, contains directory separator", plain(suffix)));
        }
        if !template.ends_with('X') {
            return Err(format!("with --suffix, template {} must end in X", plain(template)));
        }
        return Ok((template.to_owned(), suffix.to_owned()));
    }
    let end = template.rfind('X').map_or(0, |at| at + 1);
    let suffix = &template[end..];
    if suffix.contains('/') {
        // The `X`s are not in the last part of the path.
        return Err(format!("invalid suffix {}, contains directory separator", plain(suffix)));
    }
    Ok((template[..end].to_owned(), suffix.to_owned()))
}

fn create(
    call: &Call,
    stem: &str,
    blanks: usize,
    suffix: &str,
    place: impl Fn(String) -> String,
) -> Result<String, Errno> {
    let chance = Fd::open("/dev/urandom", OpenFlags::READ, 0)?;
    for _ in 0..ATTEMPTS {
        let letters: String = random_letters(&chance, blanks)?;
        let path = place(format!("{stem}{letters}{suffix}"));
        let result = if call.has("dry-run") {
            match files::stat(&path, false) {
                Ok(_) => Err(Errno::Exist),
                Err(Errno::NoEntry) => Ok(()),
                Err(errno) => Err(errno),
            }
        } else if call.has("directory") {
            fs::create_dir(&path).and_then(|()| files::chmod(&path, 0o700, true))
        } else {
            let how = OpenFlags::READ | OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
            Fd::open(&path, how, 0o600).map(drop)
        };
        match result {
            Ok(()) => return Ok(path),
            Err(Errno::Exist) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::Exist)
}

fn random_letters(chance: &Fd, count: usize) -> Result<String, Errno> {
    let mut letters = String::new();
    while letters.len() < count {
        let bytes = chance.read(64)?;
        if bytes.is_empty() {
            return Err(Errno::Io);
        }
        // 248 is four times 62: above it, some letters would be likelier than others.
        let even = bytes.iter().filter(|byte| **byte < 248).map(|byte| LETTERS[usize::from(*byte) % 62] as char);
        letters.extend(even.take(count - letters.len()));
    }
    Ok(letters)
}
