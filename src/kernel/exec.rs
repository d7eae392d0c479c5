//! Finding the program that a name runs: PATH, the mode bits, `#!` lines, and the files in /bin.
//!
//! The content of a file decides, as on a Unix: a copy of /bin/tr runs tr, whatever its name.

use crate::error::{Errno, Result};
use crate::limits::{EXEC_HEADER_BYTES, INTERPRETERS, PATH_BYTES};
use crate::path::GuestPath;
use crate::vfs::{Kind, OpenHow, Opened, PROGRAM_MAGIC, Vfs};

/// The directories in which a name without a slash is looked up when the environment has no PATH.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program of the machine and its arguments, including those of `#!` lines on the way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Executable {
    /// The name of the program at the machine.
    pub(super) program: String,
    /// The arguments, the program's own name first.
    pub(super) argv: Vec<String>,
}

/// The first line of an executable file.
enum Header {
    Program(String),
    Script { interpreter: String, argument: Option<String> },
}

/// Finds the program that `name` runs with `argv` in the directory `cwd`.
pub(super) fn resolve(
    vfs: &Vfs,
    cwd: &GuestPath,
    path: Option<&str>,
    name: &str,
    argv: Vec<String>,
) -> Result<Executable> {
    let (mut file, mut header) = look_up(vfs, cwd, path.unwrap_or(DEFAULT_PATH), name)?;
    let mut argv = argv;
    for _ in 0..=INTERPRETERS {
        match header {
            Header::Program(program) => return Ok(Executable { program, argv }),
            Header::Script { interpreter, argument } => {
                header = inspect(vfs, &GuestPath::parse(cwd, &interpreter)?)?;
                let script = std::mem::replace(&mut file, interpreter.clone());
                let rest = argv.into_iter().skip(1);
                argv = [interpreter].into_iter().chain(argument).chain([script]).chain(rest).collect();
            }
        }
    }
    Err(Errno::Loop)
}

/// Finds the file of a name, by PATH if the name has no slash, and reads its header.
fn look_up(vfs: &Vfs, cwd: &GuestPath, path: &str, name: &str) -> Result<(String, Header)> {
    if name.is_empty() {
        return Err(Errno::NoEntry);
    }
    if name.contains('/') {
        return Ok((name.to_owned(), inspect(vfs, &GuestPath::parse(cwd, name)?)?));
    }
    if path.len() > PATH_BYTES {
        // Each entry costs a look-up, and a host call cannot be interrupted.
        return Err(Errno::TooBig);
    }
    let mut refusal = Errno::NoEntry;
    for directory in path.split(':') {
        // An empty entry is the working directory, as POSIX has it.
        let file = match directory {
            "" => format!("./{name}"),
            _ => format!("{directory}/{name}"),
        };
        match GuestPath::parse(cwd, &file).and_then(|path| inspect(vfs, &path)) {
            Ok(header) => return Ok((file, header)),
            Err(Errno::NoEntry | Errno::NotDirectory | Errno::NameTooLong) => {}
            // A file without permission to execute does not hide one in a later directory.
            Err(Errno::Access) => refusal = Errno::Access,
            Err(other) => return Err(other),
        }
    }
    Err(refusal)
}

fn inspect(vfs: &Vfs, path: &GuestPath) -> Result<Header> {
    let stat = vfs.stat(path, true)?;
    if stat.kind != Kind::File || stat.mode & 0o111 == 0 {
        return Err(Errno::Access);
    }
    let Opened::File(file) = vfs.open(path, &OpenHow { read: true, ..OpenHow::default() })? else {
        return Err(Errno::Access);
    };
    parse_header(&file.read_at(0, EXEC_HEADER_BYTES)?)
}

fn parse_header(bytes: &[u8]) -> Result<Header> {
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    if line.len() >= EXEC_HEADER_BYTES {
        // A truncated name could be the name of another program.
        return Err(Errno::NoExec);
    }
    let line = std::str::from_utf8(line).map_err(|_| Errno::NoExec)?;
    if let Some(program) = line.strip_prefix(PROGRAM_MAGIC) {
        return Ok(Header::Program(program.to_owned()));
    }
    let words = line.strip_prefix("#!").ok_or(Errno::NoExec)?.trim_matches([' ', '\t']);
    let (interpreter, argument) = match words.split_once([' ', '\t']) {
        // The rest of the line is one argument, as on Linux.
        Some((interpreter, rest)) => (interpreter, Some(rest.trim_start_matches([' ', '\t']).to_owned())),
        None => (words, None),
    };
    if interpreter.is_empty() {
        return Err(Errno::NoExec);
    }
    Ok(Header::Script { interpreter: interpreter.to_owned(), argument })
}
