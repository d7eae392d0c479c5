//! `du`: the space that files take.

use std::collections::HashSet;

use isopod_gnu::pattern::Pattern;
use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::text;

use isopod_gnu::human::{Unit, disk_usage};
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::output::Out;
use isopod_gnu::path::{join, last_part};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{plain, shell};

/// `du`.
pub(crate) const PROGRAM: Program = Program {
    name: "du",
    operands: &["[OPTION]... [FILE]..."],
    about: "Summarize device usage of the set of FILEs, recursively for directories.\n\
            Files take whole blocks of 4 KiB here, whatever they are stored on.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('0', "null", "end each output line with NUL, not newline"),
        Opt::flag('a', "all", "write counts for all files, not just directories"),
        Opt::long("apparent-size", "print apparent sizes rather than device usage"),
        Opt::flag('B', "block-size", "scale sizes by SIZE before printing them").takes("SIZE"),
        Opt::flag('b', "bytes", "equivalent to '--apparent-size --block-size=1'"),
        Opt::flag('c', "total", "produce a grand total"),
        Opt::flag('D', "dereference-args", "dereference only symlinks that are listed on the command line"),
        Opt::letter('H', "dereference-args", "equivalent to --dereference-args (-D)"),
        Opt::flag('d', "max-depth", "print the total for a directory only if it is N or fewer levels below").takes("N"),
        Opt::flag('h', "human-readable", "print sizes in human readable format (e.g., 1K 234M 2G)"),
        Opt::letter('k', "k", "like --block-size=1K"),
        Opt::flag('L', "dereference", "dereference all symbolic links"),
        Opt::flag('l', "count-links", "count sizes many times if hard linked"),
        Opt::letter('m', "m", "like --block-size=1M"),
        Opt::flag('P', "no-dereference", "don't follow any symbolic links (this is the default)"),
        Opt::flag('S', "separate-dirs", "for directories do not include size of subdirectories"),
        Opt::long("si", "like -h, but use powers of 1000 not 1024"),
        Opt::flag('s', "summarize", "display only a total for each argument"),
        Opt::long("exclude", "exclude files that match PATTERN").takes("PATTERN"),
        Opt::flag('x', "one-file-system", "skip directories on different file systems"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The symbolic links that are followed.
#[derive(Clone, Copy, PartialEq)]
enum Follow {
    Never,
    Named,
    Always,
}

struct Walk<'a> {
    call: &'a Call,
    unit: Unit,
    apparent: bool,
    follow: Follow,
    all: bool,
    depth: usize,
    excluded: Vec<Pattern>,
    separate: bool,
    count_links: bool,
    one_file_system: bool,
    end: u8,
    /// Files with several names, and operands named twice: each counts once.
    seen: HashSet<(u64, u64)>,
    out: Out,
    code: u8,
}

fn run(call: &Call) -> Result<u8, u8> {
    let mut walk = Walk {
        call,
        unit: Unit::Bytes(1024, ""),
        apparent: call.has("apparent-size") || call.has("bytes"),
        follow: Follow::Never,
        all: call.has("all"),
        depth: usize::MAX,
        excluded: Vec::new(),
        separate: call.has("separate-dirs"),
        count_links: call.has("count-links"),
        one_file_system: call.has("one-file-system"),
        end: if call.has("null") { 0 } else { b'\n' },
        seen: HashSet::new(),
        out: Out::new(),
        code: 0,
    };
    for GivenOption { option, value } in &call.options {
        let value = value.as_deref().unwrap_or_default();
        match *option {
            "bytes" => walk.unit = Unit::Bytes(1, ""),
            "k" => walk.unit = Unit::Bytes(1 << 10, ""),
            "m" => walk.unit = Unit::Bytes(1 << 20, ""),
            "human-readable" => walk.unit = Unit::Human(1024),
            "si" => walk.unit = Unit::Human(1000),
            "block-size" => match Unit::parse(value) {
                Some(unit) => walk.unit = unit,
                None => {
                    call.complain(&format!("invalid --block-size argument {}", plain(value)));
                    return Err(1);
                }
            },
            "max-depth" => match value.parse() {
                Ok(depth) => walk.depth = depth,
                Err(_) => return Err(call.misused(&format!("invalid maximum depth {}", plain(value)))),
            },
            "dereference" => walk.follow = Follow::Always,
            "dereference-args" => walk.follow = Follow::Named,
            "no-dereference" => walk.follow = Follow::Never,
            "exclude" => walk.excluded.push(Pattern::from(value)),
            _ => {}
        }
    }
    if call.has("summarize") {
        if walk.all {
            return Err(call.misused("cannot both summarize and show all entries"));
        }
        if call.has("max-depth") && walk.depth > 0 {
            return Err(call.misused(&format!("warning: summarizing conflicts with --max-depth={}", walk.depth)));
        }
        walk.depth = 0;
    }
    let here = [".".to_owned()];
    let mut total = 0;
    for path in if call.operands.is_empty() { here.as_slice() } else { &call.operands } {
        match files::stat(path, walk.follow != Follow::Never) {
            Ok(found) => total += walk.count(path, &found, 0, found.device).unwrap_or(0),
            Err(errno) => walk.fail(&format!("cannot access {}: {}", shell(path), text(errno))),
        }
    }
    if call.has("total") {
        walk.print(total, "total");
    }
    let code = walk.code;
    Ok(call.finish(walk.out, code))
}

impl Walk<'_> {
    /// Counts a file and the tree below it. `None` if it does not count.
    fn count(&mut self, path: &str, found: &Attributes, level: usize, device: u64) -> Option<u64> {
        if self.excluded.iter().any(|pattern| pattern.matches(last_part(path)) || pattern.matches(path)) {
            return None;
        }
        if self.one_file_system && found.device != device {
            return None;
        }
        let is_directory = found.kind == Kind::Directory;
        // A directory named twice counts once too, with or without -l.
        let may_repeat = is_directory || !self.count_links && found.links > 1 || level == 0 && !self.count_links;
        if may_repeat && !self.seen.insert((found.device, found.inode)) {
            return None;
        }
        let mut size = match (self.apparent, found.kind) {
            (false, _) => disk_usage(found),
            (true, Kind::Directory) => found.size.max(4096),
            (true, Kind::File | Kind::Symlink) => found.size,
            (true, _) => 0,
        };
        // With -S, a directory is itself and its files, not the directories in it.
        let mut separate = size;
        if is_directory {
            let (below, files) = self.count_below(path, level, device);
            (size, separate) = (size + below, separate + files);
        }
        if level <= self.depth && (is_directory || self.all || level == 0) {
            self.print(if self.separate { separate } else { size }, path);
        }
        Some(size)
    }

    /// Counts the entries of a directory: all of them, and those that are no directories.
    fn count_below(&mut self, path: &str, level: usize, device: u64) -> (u64, u64) {
        let names = match files::read_dir(path) {
            Ok(names) => names,
            Err(errno) => {
                self.fail(&format!("cannot read directory {}: {}", shell(path), text(errno)));
                return (0, 0);
            }
        };
        let (mut total, mut files) = (0, 0);
        for name in names {
            let below = join(path, &name);
            match files::stat(&below, self.follow == Follow::Always) {
                Ok(found) => {
                    let size = self.count(&below, &found, level + 1, device).unwrap_or(0);
                    total += size;
                    files += if found.kind == Kind::Directory { 0 } else { size };
                }
                Err(errno) => self.fail(&format!("cannot access {}: {}", shell(&below), text(errno))),
            }
        }
        (total, files)
    }

    fn print(&mut self, size: u64, path: &str) {
        self.out.push(format!("{}\t{path}", self.unit.text(size)).as_bytes());
        self.out.byte(self.end);
    }

    fn fail(&mut self, message: &str) {
        self.call.complain(message);
        self.code = 1;
    }
}
