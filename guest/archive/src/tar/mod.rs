//! `tar`: many files in one.
//!
//! The format layer is our own and not the `tar` crate: ARCHITECTURE.md has the reasons.
//!
//! # Layout
//! - `settings`: the command line, old style and new
//! - `header`, `pax`: the format; `reader`, `writer`: archives
//! - `select`, `transform`: the choice of members, and changes of their names
//! - `create`, `extract`, `listing`: the operations

mod create;
mod extract;
mod header;
mod listing;
mod pax;
mod reader;
mod select;
mod settings;
mod transform;
mod writer;

use isopod_gnu::options::Opt;
use isopod_gnu::program::{Call, Program, Syntax};

use reader::ReadError;
use settings::{Operation, Settings};

/// `tar`.
pub(crate) const PROGRAM: Program = Program {
    name: "tar",
    operands: &["[OPTION...] [FILE]..."],
    about: "Save many files together into a single archive, and restore individual files from it.",
    syntax: Syntax::Own,
    options: OPTIONS,
    failure: 64,
    run: |call| run(call).unwrap_or_else(|code| code),
};

const OPTIONS: &[Opt] = &[
    Opt::flag('c', "create", "create a new archive"),
    Opt::flag('x', "extract", "extract files from an archive"),
    Opt::long("get", ""),
    Opt::flag('t', "list", "list the contents of an archive"),
    Opt::flag('r', "append", "append files to the end of an archive"),
    Opt::flag('u', "update", "only append files newer than copy in archive"),
    Opt::flag('f', "file", "use archive file ARCHIVE").takes("ARCHIVE"),
    Opt::flag('C', "directory", "change to directory DIR").takes("DIR"),
    Opt::flag('z', "gzip", "filter the archive through gzip"),
    Opt::long("gunzip", ""),
    Opt::flag('j', "bzip2", "filter the archive through bzip2"),
    Opt::flag('J', "xz", "filter the archive through xz"),
    Opt::long("lzma", "filter the archive through lzma"),
    Opt::long("zstd", "filter the archive through zstd"),
    Opt::flag('a', "auto-compress", "use archive suffix to determine the compression program"),
    Opt::long("no-auto-compress", "do not use archive suffix to determine the compression program"),
    Opt::flag('I', "use-compress-program", "filter through PROG: gzip, bzip2, xz, lzma or zstd").takes("PROG"),
    Opt::flag('v', "verbose", "verbosely list files processed"),
    Opt::flag('k', "keep-old-files", "don't replace existing files when extracting, treat them as errors"),
    Opt::long("skip-old-files", "don't replace existing files when extracting, silently skip over them"),
    Opt::long("keep-newer-files", "don't replace existing files that are newer than their archive copies"),
    Opt::long("overwrite", "overwrite existing files when extracting"),
    Opt::flag('U', "unlink-first", "remove each file prior to extracting over it"),
    Opt::flag('O', "to-stdout", "extract files to standard output"),
    Opt::flag('m', "touch", "don't extract file modified time"),
    Opt::flag('p', "preserve-permissions", "extract information about file permissions"),
    Opt::long("same-permissions", ""),
    Opt::long("no-same-permissions", "apply the user's umask when extracting permissions (default)"),
    Opt::flag('o', "no-same-owner", "extract files as yourself (default)"),
    Opt::long("same-owner", "try extracting files with the same ownership"),
    Opt::long("numeric-owner", "always use numbers for user/group names"),
    Opt::flag('h', "dereference", "follow symlinks; archive and dump the files they point to"),
    Opt::long("hard-dereference", "follow hard links; archive and dump the files they refer to"),
    Opt::flag('P', "absolute-names", "don't strip leading '/'s from file names"),
    Opt::flag('T', "files-from", "get names to extract or create from FILE").takes("FILE"),
    Opt::long("null", "-T reads null-terminated names"),
    Opt::long("no-null", ""),
    Opt::long("verbatim-files-from", "-T reads file names verbatim"),
    Opt::flag('X', "exclude-from", "exclude patterns listed in FILE").takes("FILE"),
    Opt::long("exclude", "exclude files, given as a PATTERN").takes("PATTERN"),
    Opt::long("exclude-vcs", "exclude version control system directories"),
    Opt::long("anchored", "patterns match file name start"),
    Opt::long("no-anchored", "patterns match after any '/' (default for exclusion)"),
    Opt::long("wildcards", "use wildcards (default for exclusion)"),
    Opt::long("no-wildcards", "verbatim string matching"),
    Opt::long("wildcards-match-slash", "wildcards match '/' (default)"),
    Opt::long("no-wildcards-match-slash", "wildcards do not match '/'"),
    Opt::long("ignore-case", "ignore case"),
    Opt::long("no-ignore-case", "case sensitive matching (default)"),
    Opt::long("strip-components", "strip NUMBER leading components from file names on extraction").takes("NUMBER"),
    Opt::long("transform", "use sed replace EXPRESSION to transform file names").takes("EXPRESSION"),
    Opt::long("xform", "").takes("EXPRESSION"),
    Opt::long("show-transformed-names", "show file names after transformation"),
    Opt::long("one-top-level", "(not supported: use -C)").may_take("DIR"),
    Opt::long("recursion", "recurse into directories (default)"),
    Opt::long("no-recursion", "avoid descending automatically in directories"),
    Opt::long("one-file-system", "stay in local file system when creating archive"),
    Opt::long("remove-files", "remove files after adding them to the archive"),
    Opt::long("ignore-failed-read", "do not exit with nonzero on unreadable files"),
    Opt::long("sort", "directory sorting order: name (always), none, inode").takes("ORDER"),
    Opt::long("owner", "force NAME as owner for added files").takes("NAME"),
    Opt::long("group", "force NAME as group for added files").takes("NAME"),
    Opt::long("mode", "force (symbolic) mode CHANGES for added files").takes("CHANGES"),
    Opt::long("mtime", "set mtime for added files from DATE-OR-FILE").takes("DATE-OR-FILE"),
    Opt::flag('H', "format", "create archive of the given format: gnu, pax, posix, ustar").takes("FORMAT"),
    Opt::long("posix", "same as --format=posix"),
    Opt::flag('b', "blocking-factor", "BLOCKS x 512 bytes per record").takes("BLOCKS"),
    Opt::flag('i', "ignore-zeros", "ignore zeroed blocks in archive (means EOF)"),
    Opt::flag('B', "read-full-records", "(always so)"),
    Opt::long("force-local", "(always so)"),
    Opt::long("full-time", "print file time to its full resolution"),
    Opt::long("utc", "(always so)"),
    Opt::long("warning", "(which warnings are shown does not change)").takes("KEYWORD"),
    Opt::long("usage", ""),
];

fn run(call: &Call) -> Result<u8, u8> {
    let settings = Settings::read(call)?;
    let result = match settings.operation {
        Operation::List => listing::run(call, &settings),
        Operation::Extract => extract::run(call, &settings),
        Operation::Create | Operation::Append | Operation::Update => create::run(call, &settings),
    };
    match result {
        Ok(0) => Ok(0),
        Ok(code) => {
            if code == 2 {
                call.complain("Exiting with failure status due to previous errors");
            }
            Ok(code)
        }
        Err(message) => {
            call.complain(&message);
            call.complain("Error is not recoverable: exiting now");
            Ok(2)
        }
    }
}

/// Returns the message for an archive that cannot be read. The error means that no more is printed.
fn describe(trouble: ReadError, name: &str) -> Result<String, &'static str> {
    match trouble {
        ReadError::NotTar => Err("This does not look like a tar archive"),
        ReadError::Short => Ok("Unexpected EOF in archive".into()),
        ReadError::WrongFormat => Ok("the archive is not compressed in the format that was asked for".into()),
        ReadError::Read(error) => Ok(format!("{name}: Cannot read: {error}")),
    }
}
