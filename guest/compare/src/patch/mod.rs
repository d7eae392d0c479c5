//! `patch`: applies the output of `diff`.
//!
//! A patch is untrusted input. No name in it leads out of the working directory, neither by an absolute path nor by
//! `..` nor through a symbolic link.
//!
//! # Layout
//! - `parse`: text to patches
//! - `hunk`: one hunk, and the lines it applies to
//! - `names`: the choice of the file
//! - `apply`: hunks, backup and rejects of one file
//! - `reject`: reject files

mod apply;
mod hunk;
mod names;
mod parse;
mod reject;

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;
use isopod_sys::{process, text};

use crate::lines;
use parse::{Malformed, Parser};

/// `patch`.
pub(crate) const PROGRAM: Program = Program {
    name: "patch",
    operands: &["[OPTION]... [ORIGFILE [PATCHFILE]]"],
    about: "Apply a diff file to an original. Unified, context and normal diffs are read, with git's headers.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('p', "strip", "strip NUM leading components from file names").takes("NUM"),
        Opt::flag('F', "fuzz", "set the fuzz factor to LINES for inexact matching").takes("LINES"),
        Opt::flag('l', "ignore-whitespace", "ignore white space changes between patch and input"),
        Opt::flag('c', "context", "interpret the patch as a context difference"),
        Opt::flag('n', "normal", "interpret the patch as a normal difference"),
        Opt::flag('u', "unified", "interpret the patch as a unified difference"),
        Opt::flag('N', "forward", "ignore patches that appear to be reversed or already applied"),
        Opt::flag('R', "reverse", "assume patches were created with old and new files swapped"),
        Opt::flag('i', "input", "read patch from PATCHFILE instead of stdin").takes("PATCHFILE"),
        Opt::flag('o', "output", "output patched file to FILE").takes("FILE"),
        Opt::flag('r', "reject-file", "output rejects to FILE").takes("FILE"),
        Opt::flag('E', "remove-empty-files", "remove output files that are empty after patching"),
        Opt::flag('b', "backup", "back up the original contents of each file"),
        Opt::long("backup-if-mismatch", "back up if the patch does not match exactly (the default)"),
        Opt::long("no-backup-if-mismatch", "back up mismatches only if otherwise requested"),
        Opt::flag('z', "suffix", "append SUFFIX to backup file names").takes("SUFFIX"),
        Opt::flag('t', "batch", "ask no questions; skip bad-Prereq patches; assume reversed"),
        Opt::flag('f', "force", "like -t, but ignore bad-Prereq patches, and assume unreversed"),
        Opt::flag('s', "quiet", "work silently unless an error occurs"),
        Opt::long("silent", ""),
        Opt::long("verbose", "output extra information about the work being done"),
        Opt::long("dry-run", "do not actually change any files; just print what would happen"),
        Opt::flag('d', "directory", "change the working directory to DIR first").takes("DIR"),
        Opt::long("binary", "read and write data in binary mode"),
    ],
    failure: 2,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The values of the options.
struct Settings {
    strip: Option<usize>,
    fuzz: usize,
    ignore_whitespace: bool,
    forward: bool,
    reverse: bool,
    output: Option<String>,
    reject: Option<String>,
    remove_empty: bool,
    backup: bool,
    backup_if_mismatch: bool,
    suffix: String,
    batch: bool,
    force: bool,
    quiet: bool,
    dry_run: bool,
    operand: Option<String>,
}

/// One run.
struct Patch<'a> {
    call: &'a Call,
    settings: Settings,
    out: Out,
    /// Files that have a backup. Only the first backup of a file is the original.
    backed_up: Vec<String>,
    /// A hunk or a file was skipped or rejected.
    has_failed: bool,
}

fn run(call: &Call) -> Result<u8, u8> {
    call.at_most(2)?;
    let number = |option: &str| match call.value(option) {
        None => Ok(None),
        Some(text) => text.parse::<usize>().map(Some).map_err(|_| {
            let name = if option == "strip" { "strip count" } else { "fuzz factor" };
            call.complain(&format!("**** {name} {} is not a number", quote::plain(text)));
            2
        }),
    };
    let settings = Settings {
        strip: number("strip")?,
        fuzz: number("fuzz")?.unwrap_or(2),
        ignore_whitespace: call.has("ignore-whitespace"),
        forward: call.has("forward"),
        reverse: call.has("reverse"),
        output: call.value("output").map(str::to_owned),
        reject: call.value("reject-file").map(str::to_owned),
        remove_empty: call.has("remove-empty-files"),
        backup: call.has("backup"),
        backup_if_mismatch: !call.has("no-backup-if-mismatch"),
        suffix: call.value("suffix").unwrap_or(".orig").to_owned(),
        batch: call.has("batch"),
        force: call.has("force"),
        quiet: call.has("quiet") || call.has("silent"),
        dry_run: call.has("dry-run"),
        operand: call.operands.first().cloned(),
    };
    let source = call.value("input").or(call.operands.get(1).map(String::as_str)).unwrap_or("-");
    // As in GNU patch, the name of the patch file is relative to the directory of `-d`.
    if let Some(directory) = call.value("directory")
        && let Err(errno) = process::chdir(directory)
    {
        call.complain(&format!("**** Can't change to directory {directory} : {}", text(errno)));
        return Err(2);
    }
    let read = Input::open(source).and_then(|input| input.read_all());
    let patch_text = read.map_err(|errno| {
        call.complain(&format!("**** Can't open patch file {source} : {}", text(errno)));
        2
    })?;
    let mut patch = Patch { call, settings, out: Out::new(), backed_up: Vec::new(), has_failed: false };
    let code = patch.all(&patch_text);
    let Patch { out, .. } = patch;
    Ok(call.finish(out, code))
}

impl Patch<'_> {
    fn all(&mut self, patch_text: &[u8]) -> u8 {
        if patch_text.is_empty() {
            return 0;
        }
        let stripped = if self.call.has("binary") { None } else { self.without_returns(patch_text) };
        let mut parser = Parser::new(stripped.as_deref().unwrap_or(patch_text));
        let mut any = false;
        loop {
            match parser.next() {
                Ok(Some(patch)) => {
                    any = true;
                    if let Err(message) = self.file(patch) {
                        self.out.flush();
                        self.call.complain(&format!("**** {message}"));
                        return 2;
                    }
                }
                Ok(None) if any => return u8::from(self.has_failed),
                Ok(None) => {
                    self.call.complain("**** Only garbage was found in the patch input.");
                    return 2;
                }
                Err(Malformed(message)) => {
                    self.out.flush();
                    self.call.complain(&format!("**** {message}"));
                    return 2;
                }
            }
        }
    }

    /// Strips carriage returns, if the header lines of the patch end with one.
    fn without_returns(&mut self, patch_text: &[u8]) -> Option<Vec<u8>> {
        let is_header = |line: &&[u8]| line.starts_with(b"--- ") || line.starts_with(b"*** ");
        let header = patch_text.split_inclusive(|byte| *byte == b'\n').find(is_header)?;
        if !header.ends_with(b"\r\n") {
            return None;
        }
        self.notice("(Stripping trailing CRs from patch; use --binary to disable.)\n");
        Some(lines::without_carriage_returns(patch_text))
    }

    /// Prints a message unless `--quiet` is given.
    fn notice(&mut self, message: &str) {
        if !self.settings.quiet {
            self.out.push(message.as_bytes());
        }
    }

    /// Prints a message about a problem.
    fn report(&mut self, message: &str) {
        self.out.push(message.as_bytes());
    }
}
