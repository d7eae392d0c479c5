//! `readlink` and `realpath`: the targets of links and paths.

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::name;
use isopod_sys::{fs, text};

use crate::canonical::{MustExist, canonical, relative};

/// `readlink`.
pub(crate) const READLINK: Program = Program {
    name: "readlink",
    operands: &["[OPTION]... FILE..."],
    about: "Print value of a symbolic link or canonical file name.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('f', "canonicalize", "follow every symlink; all but the last component must exist"),
        Opt::flag('e', "canonicalize-existing", "follow every symlink; all components must exist"),
        Opt::flag('m', "canonicalize-missing", "follow every symlink, without requirements on existence"),
        Opt::flag('n', "no-newline", "do not output the trailing delimiter"),
        Opt::flag('q', "quiet", "suppress most error messages (on by default)"),
        Opt::letter('s', "silent", ""),
        Opt::long("silent", "same as -q"),
        Opt::flag('v', "verbose", "report error messages"),
        Opt::flag('z', "zero", "end each output line with NUL, not newline"),
    ],
    failure: 1,
    run: links,
};

/// `realpath`.
pub(crate) const REALPATH: Program = Program {
    name: "realpath",
    operands: &["[OPTION]... FILE..."],
    about: "Print the resolved absolute file name; all but the last component must exist.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('e', "canonicalize-existing", "all components of the path must exist"),
        Opt::flag('m', "canonicalize-missing", "no path components need exist or be a directory"),
        Opt::flag('L', "logical", "resolve '..' components before symlinks"),
        Opt::flag('P', "physical", "resolve symlinks as encountered (default)"),
        Opt::flag('q', "quiet", "suppress most error messages"),
        Opt::long("relative-to", "print the resolved path relative to DIR").takes("DIR"),
        Opt::long("relative-base", "print absolute paths unless paths below DIR").takes("DIR"),
        Opt::flag('s', "strip", "don't expand symlinks"),
        Opt::long("no-symlinks", "same as -s"),
        Opt::flag('z', "zero", "end each output line with NUL, not newline"),
    ],
    failure: 1,
    run: |call| paths(call).unwrap_or_else(|code| code),
};

fn links(call: &Call) -> u8 {
    if call.operands.is_empty() {
        return call.misused("missing operand");
    }
    let canonicalizes = call.options.iter().rev().find_map(|found| match found.option {
        "canonicalize" => Some(MustExist::AllButLast),
        "canonicalize-existing" => Some(MustExist::All),
        "canonicalize-missing" => Some(MustExist::Nothing),
        _ => None,
    });
    let end = if call.has("zero") { 0 } else { b'\n' };
    let bare = call.has("no-newline") && call.operands.len() == 1;
    if call.has("no-newline") && !bare {
        call.complain("ignoring --no-newline with multiple arguments");
    }
    let mut out = Out::new();
    let mut code = 0;
    for path in &call.operands {
        let result = match canonicalizes {
            Some(must) => canonical(path, must, true),
            None => fs::read_link(path),
        };
        match result {
            Ok(target) => {
                out.push(target.as_bytes());
                if !bare {
                    out.byte(end);
                }
            }
            Err(errno) => {
                code = 1;
                if call.has("verbose") {
                    call.complain(&format!("{}: {}", name(path), text(errno)));
                }
            }
        }
    }
    call.finish(out, code)
}

fn paths(call: &Call) -> Result<u8, u8> {
    if call.operands.is_empty() {
        return Err(call.misused("missing operand"));
    }
    let must = call.options.iter().rev().find_map(|found| match found.option {
        "canonicalize-existing" => Some(MustExist::All),
        "canonicalize-missing" => Some(MustExist::Nothing),
        _ => None,
    });
    let must = must.unwrap_or(MustExist::AllButLast);
    let follow = !call.has("strip") && !call.has("no-symlinks");
    let resolve = |path: &str| {
        if call.has("logical") && follow {
            // Dots first, as the shell's `cd` does it.
            return canonical(path, MustExist::Nothing, false).and_then(|plain| canonical(&plain, must, true));
        }
        canonical(path, must, follow)
    };
    let fail = |path: &str, errno| {
        call.complain(&format!("{}: {}", name(path), text(errno)));
        1
    };
    let directory = |option: &str| match call.value(option) {
        Some(path) => resolve(path).map(Some).map_err(|errno| fail(path, errno)),
        None => Ok(None),
    };
    let (mut to, mut base) = (directory("relative-to")?, directory("relative-base")?);
    let below = |path: &str, base: &str| base == "/" || path == base || path.starts_with(&format!("{base}/"));
    if let (None, Some(only)) = (&to, &base) {
        to = Some(only.clone());
    } else if let (Some(to_path), Some(base_path)) = (&to, &base)
        && !below(to_path, base_path)
    {
        // A path outside the base is not made relative.
        (to, base) = (None, None);
    }
    let mut out = Out::new();
    let mut code = 0;
    for path in &call.operands {
        match resolve(path) {
            Ok(found) => {
                let shown = match &to {
                    Some(to) if base.as_deref().is_none_or(|base| below(&found, base)) => relative(&found, to),
                    _ => found,
                };
                out.push(shown.as_bytes());
                out.byte(if call.has("zero") { 0 } else { b'\n' });
            }
            Err(errno) => {
                code = 1;
                if !call.has("quiet") {
                    fail(path, errno);
                }
            }
        }
    }
    Ok(call.finish(out, code))
}
