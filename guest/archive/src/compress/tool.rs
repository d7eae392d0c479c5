//! The differences between the programs: suffixes, habits and messages.

use std::io;

use crate::codec::Format;

/// A family of programs.
pub(super) struct Tool {
    pub(super) format: Format,
    /// The name in messages.
    pub(super) name: &'static str,
    /// The suffix that compressing adds to a name.
    pub(super) suffix: &'static str,
    /// The suffixes that decompressing removes, each with its replacement.
    pub(super) suffixes: &'static [(&'static str, &'static str)],
    /// The default level.
    pub(super) level: u32,
    /// The exit code for a file that is skipped.
    pub(super) warning: u8,
    /// The exit code for corrupt data.
    pub(super) corrupt: u8,
}

const GZIP: Tool = Tool {
    format: Format::Gzip,
    name: "gzip",
    suffix: ".gz",
    suffixes: &[(".gz", ""), (".tgz", ".tar"), (".taz", ".tar"), (".z", ""), ("-gz", ""), ("-z", ""), ("_z", "")],
    level: 6,
    warning: 2,
    corrupt: 1,
};

const BZIP2: Tool = Tool {
    format: Format::Bzip2,
    name: "bzip2",
    suffix: ".bz2",
    suffixes: &[(".bz2", ""), (".bz", ""), (".tbz2", ".tar"), (".tbz", ".tar")],
    level: 9,
    warning: 1,
    corrupt: 2,
};

const XZ: Tool = Tool {
    format: Format::Xz,
    name: "xz",
    suffix: ".xz",
    suffixes: &[(".xz", ""), (".txz", ".tar"), (".lzma", ""), (".tlz", ".tar")],
    level: 6,
    warning: 2,
    corrupt: 1,
};

const LZMA: Tool = Tool { format: Format::Lzma, name: "lzma", suffix: ".lzma", ..XZ };

const ZSTD: Tool = Tool {
    format: Format::Zstd,
    name: "zstd",
    suffix: ".zst",
    suffixes: &[
        (".zst", ""),
        (".tzst", ".tar"),
        (".gz", ""),
        (".tgz", ".tar"),
        (".xz", ""),
        (".txz", ".tar"),
        (".lzma", ""),
    ],
    level: 3,
    warning: 1,
    corrupt: 1,
};

impl Tool {
    /// Returns the family of a program, whether it decompresses, and whether it writes to standard output.
    pub(super) fn of(program: &str) -> (&'static Tool, bool, bool) {
        match program {
            "gunzip" => (&GZIP, true, false),
            "zcat" => (&GZIP, true, true),
            "bzip2" => (&BZIP2, false, false),
            "bunzip2" => (&BZIP2, true, false),
            "bzcat" => (&BZIP2, true, true),
            "xz" => (&XZ, false, false),
            "unxz" => (&XZ, true, false),
            "xzcat" => (&XZ, true, true),
            "lzma" => (&LZMA, false, false),
            "unlzma" => (&LZMA, true, false),
            "lzcat" => (&LZMA, true, true),
            "zstd" => (&ZSTD, false, false),
            "unzstd" => (&ZSTD, true, false),
            "zstdcat" => (&ZSTD, true, true),
            _ => (&GZIP, false, false),
        }
    }

    /// Returns the name of standard input in messages.
    pub(super) fn standard_input(&self) -> &'static str {
        match self.format {
            Format::Gzip => "stdin",
            Format::Zstd => "/*stdin*\\",
            _ => "(stdin)",
        }
    }

    pub(super) fn no_such_file(&self, path: &str, why: &str) -> String {
        match self.format {
            Format::Bzip2 => format!("Can't open input file {path}: {why}."),
            Format::Zstd => format!("can't stat {path} : {why} -- ignored "),
            _ => format!("{path}: {why}"),
        }
    }

    pub(super) fn is_directory(&self, path: &str) -> String {
        match self.format {
            Format::Bzip2 => format!("Input file {path} is a directory."),
            Format::Xz | Format::Lzma => format!("{path}: Is a directory, skipping"),
            _ => format!("{path} is a directory -- ignored"),
        }
    }

    pub(super) fn is_link(&self, path: &str) -> String {
        match self.format {
            Format::Gzip => format!("{path}: Too many levels of symbolic links"),
            Format::Bzip2 => format!("Input file {path} is not a normal file."),
            Format::Zstd => format!("{path} is a symbolic link, ignoring"),
            _ => format!("{path}: Is a symbolic link, skipping"),
        }
    }

    pub(super) fn has_links(&self, path: &str, others: u64) -> String {
        let plural = if others == 1 { "" } else { "s" };
        match self.format {
            Format::Bzip2 => format!("Input file {path} has {others} other link{plural}."),
            Format::Gzip => format!("{path} has {others} other link{plural} -- file ignored"),
            _ => format!("{path}: Input file has more than one hard link, skipping"),
        }
    }

    pub(super) fn has_suffix(&self, path: &str, suffix: &str) -> String {
        match self.format {
            Format::Gzip => format!("{path} already has {suffix} suffix -- unchanged"),
            Format::Bzip2 => format!("Input file {path} already has {suffix} suffix."),
            _ => format!("{path}: File already has `{suffix}' suffix, skipping"),
        }
    }

    pub(super) fn unknown_suffix(&self, path: &str) -> String {
        match self.format {
            Format::Gzip => format!("{path}: unknown suffix -- ignored"),
            Format::Zstd => format!(
                "{path}: unknown suffix (.zst/.tzst expected). Can't derive the output file name. Specify it with -o dstFileName. Ignoring."
            ),
            _ => format!("{path}: Filename has an unknown suffix, skipping"),
        }
    }

    pub(super) fn exists(&self, path: &str) -> String {
        match self.format {
            Format::Gzip => format!("{path} already exists;\tnot overwritten"),
            Format::Bzip2 => format!("Output file {path} already exists."),
            Format::Zstd => format!("{path} already exists; not overwritten"),
            _ => format!("{path}: File exists"),
        }
    }

    /// Returns the message for data that could not be decompressed.
    pub(super) fn wrong_data(&self, path: &str, error: &io::Error) -> String {
        let is_short = error.kind() == io::ErrorKind::UnexpectedEof;
        let why = match self.format {
            Format::Gzip if is_short => "unexpected end of file",
            Format::Gzip if error.to_string().contains("header") => "not in gzip format",
            Format::Gzip => "invalid compressed data--crc error",
            Format::Bzip2 if is_short => "file ends unexpectedly",
            Format::Bzip2 if error.to_string().contains("magic") => "bad magic number (file not created by bzip2)",
            Format::Bzip2 => "data integrity (CRC) error in data",
            Format::Zstd if is_short => "premature end",
            Format::Zstd if error.to_string().contains("agic") => "unsupported format",
            Format::Zstd => "Decoding error (36) : Data corruption detected",
            _ if is_short => "Unexpected end of input",
            _ if error.to_string().contains("magic") => "File format not recognized",
            _ => "Compressed data is corrupt",
        };
        format!("{path}: {why}")
    }

    pub(super) fn garbage(&self, path: &str) -> String {
        match self.format {
            Format::Gzip => format!("\n{path}: decompression OK, trailing garbage ignored"),
            _ => format!("{path}: trailing garbage after EOF ignored"),
        }
    }
}
