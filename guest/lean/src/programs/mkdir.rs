//! `mkdir`: directories.

use isopod_sys::files::{self, Kind};
use isopod_sys::{Errno, fs, process, text};

use isopod_gnu::mode::Mode;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::path::trim_slashes;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{plain, shell};

/// `mkdir`.
pub(crate) const PROGRAM: Program = Program {
    name: "mkdir",
    operands: &["[OPTION]... DIRECTORY..."],
    about: "Create the DIRECTORY(ies), if they do not already exist.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('m', "mode", "set file mode (as in chmod), not a=rwx - umask").takes("MODE"),
        Opt::flag('p', "parents", "no error if existing, make parent directories as needed"),
        Opt::flag('v', "verbose", "print a message for each created directory"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    if call.operands.is_empty() {
        return Err(call.misused("missing operand"));
    }
    // The kernel tells the umask only when it is set.
    let umask = process::umask(0o022);
    process::umask(umask);
    let mode = match call.value("mode") {
        None => None,
        Some(text) => match Mode::parse(text) {
            // A mode in letters changes the default bits of a directory.
            Some(mode) => Some(mode.apply(0o777, true, umask)),
            None => {
                call.complain(&format!("invalid mode {}", plain(text)));
                return Err(1);
            }
        },
    };
    let mut out = Out::new();
    let mut code = 0;
    for path in &call.operands {
        let made = if call.has("parents") {
            make_all(call, path, umask, &mut out)
        } else {
            make(call, path, &mut out).map(|()| true)
        };
        let result = made.and_then(|is_new| match mode {
            Some(mode) if is_new => files::chmod(path, mode, true)
                .map_err(|e| format!("cannot set permissions of {}: {}", shell(path), text(e))),
            _ => Ok(()),
        });
        if let Err(message) = result {
            call.complain(&message);
            code = 1;
        }
    }
    Ok(call.finish(out, code))
}

fn make(call: &Call, path: &str, out: &mut Out) -> Result<(), String> {
    fs::create_dir(path).map_err(|errno| format!("cannot create directory {}: {}", shell(path), text(errno)))?;
    if call.has("verbose") {
        out.push(format!("{}: created directory {}\n", call.name, shell(path)).as_bytes());
    }
    Ok(())
}

/// Makes a directory and those above it. Returns false if it existed.
fn make_all(call: &Call, path: &str, umask: u32, out: &mut Out) -> Result<bool, String> {
    let whole = trim_slashes(path);
    let above = whole.match_indices('/').map(|(at, _)| &whole[..at]).filter(|part| !part.is_empty());
    for part in above {
        if files::stat(part, true).is_err() {
            make(call, part, out)?;
            // Whatever the umask, the owner must be able to make the directories below.
            if umask & 0o300 != 0 {
                files::chmod(part, 0o777 & !umask | 0o300, true)
                    .map_err(|e| format!("cannot set permissions of {}: {}", shell(part), text(e)))?;
            }
        }
    }
    match files::stat(whole, true) {
        Ok(found) if found.kind == Kind::Directory => Ok(false),
        Ok(_) => Err(format!("cannot create directory {}: {}", shell(path), text(Errno::Exist))),
        Err(_) => make(call, whole, out).map(|()| true),
    }
}
