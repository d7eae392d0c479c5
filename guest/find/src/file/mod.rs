//! `file`: the type of a file, from its contents.
//!
//! This is not libmagic's database, which is a language of its own with ten thousand rules. It has the types that
//! people and agents meet, in the words of `file` 5.44. A file that no table knows is text or `data`.
//!
//! # Layout
//! - `answer`: the answer about one file
//! - `magic`: types that a few bytes identify; `image`, `package`, `program`: types with details
//! - `text`: encodings and line ends; `script`, `json`: the purpose of a text

mod answer;
mod image;
mod json;
mod magic;
mod package;
mod program;
mod script;
mod text;

use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, read_file};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::width;
use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, Fd, fs};

use answer::Answer;

/// `file`.
pub(crate) const PROGRAM: Program = Program {
    name: "file",
    operands: &["[OPTION]... FILE..."],
    about: "Determine type of FILEs.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('b', "brief", "do not prepend filenames to output lines"),
        Opt::flag('F', "separator", "use string as separator instead of ':'").takes("STRING"),
        Opt::flag('i', "mime", "output MIME type strings (--mime-type and --mime-encoding)"),
        Opt::long("mime-type", "output the MIME type"),
        Opt::long("mime-encoding", "output the MIME encoding"),
        Opt::flag('f', "files-from", "read the filenames to be examined from FILE").takes("FILE"),
        Opt::flag('L', "dereference", "follow symlinks"),
        Opt::flag('h', "no-dereference", "don't follow symlinks (default)"),
        Opt::flag('N', "no-pad", "do not pad output"),
        Opt::flag('0', "print0", "terminate filenames with ASCII NUL"),
        Opt::flag('s', "special-files", "treat special files as ordinary ones"),
        Opt::flag('E', "E", "exit with an error if a file cannot be looked at"),
        Opt::letter('v', "version", ""),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The number of bytes that are read from the start of a file.
const START: usize = 1 << 20;

fn run(call: &Call) -> Result<u8, u8> {
    let mut names: Vec<String> = Vec::new();
    if let Some(list) = call.value("files-from") {
        let source = if list == "-" { "/dev/stdin" } else { list };
        let bytes = read_file(source, START).map_err(|errno| {
            call.complain(&format!("Cannot open `{list}' ({})", isopod_sys::text(errno)));
            1
        })?;
        names.extend(String::from_utf8_lossy(&bytes).lines().map(str::to_owned));
    }
    names.extend_from_slice(&call.operands);
    if names.is_empty() {
        return Err(call.misused("missing operand"));
    }
    let pads = !call.has("no-pad") && !call.has("brief");
    let widest = names.iter().map(|name| width::of_text(shown(name))).max().filter(|_| pads).unwrap_or(0);
    let mut out = Out::new();
    for name in &names {
        let answer = look_at(name, call.has("dereference"), call.has("special-files"));
        if let (Err(message), true) = (&answer, call.has("E")) {
            out.flush();
            call.complain(message);
            return Err(1);
        }
        if !call.has("brief") {
            out.push(shown(name).as_bytes());
            if call.has("print0") {
                out.byte(0);
            }
            out.push(call.value("separator").unwrap_or(":").as_bytes());
            out.push(" ".repeat(1 + widest.saturating_sub(width::of_text(shown(name)))).as_bytes());
        }
        out.push(
            match &answer {
                Ok(answer) => answer
                    .line(call.has("mime") || call.has("mime-type"), call.has("mime") || call.has("mime-encoding")),
                Err(message) => message.clone(),
            }
            .as_bytes(),
        );
        out.byte(b'\n');
    }
    Ok(call.finish(out, 0))
}

fn shown(name: &str) -> &str {
    if name == "-" { "/dev/stdin" } else { name }
}

/// Returns the answer for a path. An error is the message to print in its place.
fn look_at(name: &str, follows: bool, reads_special: bool) -> Result<Answer, String> {
    let path = shown(name);
    if name == "-" {
        return Ok(contents(&read_file(path, START).unwrap_or_default(), None));
    }
    let cannot = |errno: Errno| format!("cannot open `{name}' ({})", isopod_sys::text(errno));
    let found = files::stat(path, follows).map_err(cannot)?;
    match found.kind {
        Kind::Directory => Ok(Answer::binary(&format!("{}directory", bits(&found)), "inode/directory")),
        Kind::Symlink => {
            let target = fs::read_link(path).map_err(cannot)?;
            let broken = if files::stat(path, true).is_err() { "broken " } else { "" };
            Ok(Answer::binary(&format!("{broken}symbolic link to {target}"), "inode/symlink"))
        }
        Kind::Device if !reads_special => Ok(Answer::binary("character special", "inode/chardevice")),
        Kind::Pipe => Ok(Answer::binary("fifo (named pipe)", "inode/fifo")),
        _ => {
            let start = read_file(path, START).map_err(|errno| match errno {
                Errno::Access => "regular file, no read permission".to_owned(),
                errno => cannot(errno),
            })?;
            let mut answer = contents(&start, tail(path, &found).as_deref());
            if answer.is_regular {
                answer.text.insert_str(0, &bits(&found));
            }
            Ok(answer)
        }
    }
}

/// Reads the last four bytes of a file, where gzip stores the size.
fn tail(path: &str, found: &Attributes) -> Option<Vec<u8>> {
    let file = Fd::open(path, files::OpenFlags::READ, 0).ok()?;
    files::seek(file.raw(), i64::try_from(found.size.checked_sub(4)?).ok()?, files::Whence::Start).ok()?;
    file.read(4).ok()
}

/// Describes special permissions, which are printed before everything else.
fn bits(found: &Attributes) -> String {
    let names = [(0o4000, "setuid, "), (0o2000, "setgid, "), (0o1000, "sticky, ")];
    names.iter().filter(|(bit, _)| found.mode & bit != 0).map(|(_, name)| *name).collect()
}

/// Returns the answer for the contents of a file.
fn contents(bytes: &[u8], tail: Option<&[u8]>) -> Answer {
    if bytes.is_empty() {
        return Answer::binary("empty", "inode/x-empty");
    }
    let known = image::answer(bytes)
        .or_else(|| package::answer(bytes, tail))
        .or_else(|| program::answer(bytes))
        .or_else(|| magic::answer(bytes));
    known.or_else(|| text::answer(bytes)).unwrap_or_else(|| Answer::binary("data", "application/octet-stream"))
}
