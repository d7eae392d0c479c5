//! `tree`: directories as a drawing.
//!
//! # Layout
//! - `settings`: the options
//! - `node`: the files below a directory, read before anything is drawn because sums and pruning need them all
//! - `draw`: lines with branches; `json`: the JSON form

mod draw;
mod json;
mod node;
mod settings;

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::files::OpenFlags;
use isopod_sys::{Fd, text, write_all};

use node::Forest;
use settings::Settings;

/// `tree`.
pub(crate) const PROGRAM: Program = Program {
    name: "tree",
    operands: &["[OPTION]... [DIRECTORY]..."],
    about: "List contents of directories in a tree-like format.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::letter('a', "a", "all files are listed"),
        Opt::letter('d', "d", "list directories only"),
        Opt::letter('l', "l", "follow symbolic links like directories"),
        Opt::letter('f', "f", "print the full path prefix for each file"),
        Opt::letter('x', "x", "stay on current file system only"),
        Opt::letter('L', "L", "descend only LEVEL directories deep").takes("LEVEL"),
        Opt::letter('P', "P", "list only those files that match the pattern given").takes("PATTERN"),
        Opt::letter('I', "I", "do not list files that match the given pattern").takes("PATTERN"),
        Opt::long("ignore-case", "ignore case when pattern matching"),
        Opt::long("noreport", "turn off file/directory count at end of tree listing"),
        Opt::long("charset", "use charset X for indentation lines: utf-8 or ascii").takes("X"),
        Opt::long("filelimit", "do not descend dirs with more than N files in them").takes("N"),
        Opt::letter('o', "o", "output to file instead of stdout").takes("FILENAME"),
        Opt::letter('q', "q", "print non-printable characters as '?'"),
        Opt::letter('N', "N", "print non-printable characters as is"),
        Opt::letter('Q', "Q", "quote filenames with double quotes"),
        Opt::letter('p', "p", "print the protections for each file"),
        Opt::letter('u', "u", "displays file owner or UID number"),
        Opt::letter('g', "g", "displays file group owner or GID number"),
        Opt::letter('s', "s", "print the size in bytes of each file"),
        Opt::letter('h', "h", "print the size in a more human readable way"),
        Opt::long("si", "like -h, but use in SI units (powers of 1000)"),
        Opt::long("du", "compute size of directories by their contents"),
        Opt::letter('D', "D", "print the date of last modification"),
        Opt::long("timefmt", "print and format time according to the format F").takes("F"),
        Opt::letter('F', "F", "appends '/', '=', '*' or '|' as per ls -F"),
        Opt::long("inodes", "print inode number of each file"),
        Opt::long("device", "print device ID number to which each file belongs"),
        Opt::letter('v', "v", "sort files alphanumerically by version"),
        Opt::letter('t', "t", "sort files by last modification time"),
        Opt::letter('c', "c", "sort files by last status change time"),
        Opt::letter('U', "U", "leave files unsorted"),
        Opt::letter('r', "r", "reverse the order of the sort"),
        Opt::long("dirsfirst", "list directories before files"),
        Opt::long("filesfirst", "list files before directories"),
        Opt::long("sort", "select sort: name, version, size, mtime, ctime").takes("X"),
        Opt::letter('i', "i", "don't print indentation lines"),
        Opt::letter('n', "n", "turn colorization off always (it is never on)"),
        Opt::letter('J', "J", "prints out an JSON representation of the tree"),
        Opt::long("prune", "prune empty directories from the output"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let settings = Settings::read(call)?;
    let roots: Vec<&str> =
        if call.operands.is_empty() { vec!["."] } else { call.operands.iter().map(String::as_str).collect() };
    let forest = Forest::grow(&roots, &settings);
    let drawing = if settings.is_json { json::text(&forest, &settings) } else { draw::text(&forest, &settings) };
    let written = match &settings.output {
        Some(path) => Fd::open(path, OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE, 0o666)
            .and_then(|file| write_all(file.raw(), drawing.as_bytes())),
        None => write_all(1, drawing.as_bytes()),
    };
    if let Err(errno) = written {
        call.complain(&format!("write error: {}", text(errno)));
        return Err(1);
    }
    Ok(if forest.has_missing { 2 } else { 0 })
}
