//! `tar t`, and the lines of `-v`.

use isopod_gnu::calendar::Date;
use isopod_gnu::mode;
use isopod_gnu::output::Out;
use isopod_gnu::program::Call;
use isopod_sys::text;

use super::describe;
use super::header::{Header, Type, shown};
use super::reader::Archive;
use super::select::Selection;
use super::settings::Settings;
use crate::stream::Source;

/// Lists an archive.
pub(super) fn run(call: &Call, settings: &Settings) -> Result<u8, String> {
    let mut archive = match open(settings)? {
        Ok(archive) => archive,
        Err(message) => {
            call.complain(message);
            return Ok(2);
        }
    };
    let mut wanted = Selection::new(&settings.names, settings.matching);
    let mut lines = Lines::new(settings);
    let mut out = Out::new();
    let mut code = 0;
    loop {
        let member = match archive.next() {
            Ok(Some(member)) => member,
            Ok(None) => break,
            Err(trouble) => {
                out.flush();
                match describe(trouble, &settings.file) {
                    Ok(message) => return Err(message),
                    Err(message) => {
                        call.complain(message);
                        code = 2;
                        break;
                    }
                }
            }
        };
        let name = String::from_utf8_lossy(&member.header.name).into_owned();
        if wanted.directory_of(&name).is_none() || settings.excluded.has(&name, usize::MAX) {
            continue;
        }
        out.push(lines.line(&member.header, settings.verbosity > 0).as_bytes());
        if out.has_failed() {
            break;
        }
    }
    out.flush();
    code = report_missing(call, &wanted, settings, code);
    Ok(call.finish(out, code).min(2))
}

/// Opens the archive for reading. The inner error means exit code 2 without another message.
pub(super) fn open(settings: &Settings) -> Result<Result<Archive, &'static str>, String> {
    let source = match settings.file.as_str() {
        "-" => Source::standard(),
        path => Source::open(path).map_err(|errno| format!("{path}: Cannot open: {}", text(errno)))?,
    };
    match Archive::new(source, settings.format, settings.ignores_zeros) {
        Ok(archive) => Ok(Ok(archive)),
        Err(trouble) => match describe(trouble, &settings.file) {
            Ok(message) => Err(message),
            Err(message) => Ok(Err(message)),
        },
    }
}

/// Reports the names that were not in the archive.
pub(super) fn report_missing(call: &Call, wanted: &Selection, settings: &Settings, mut code: u8) -> u8 {
    if wanted.looks_like_patterns(settings.matching) {
        call.complain("Pattern matching characters used in file names");
        call.complain("Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning");
    }
    for name in wanted.missing() {
        call.complain(&format!("{}: Not found in archive", shown(name.as_bytes())));
        code = 2;
    }
    code
}

/// Lines of members, in columns that grow.
pub(super) struct Lines {
    has_numbers: bool,
    full_time: bool,
    /// The widest owner and size so far.
    width: usize,
}

impl Lines {
    pub(super) fn new(settings: &Settings) -> Lines {
        Lines { has_numbers: settings.has_numbers, full_time: settings.full_time, width: 18 }
    }

    /// Returns the line of a member: its name, or all its fields.
    pub(super) fn line(&mut self, header: &Header, is_long: bool) -> String {
        if !is_long {
            return format!("{}\n", header.shown_name());
        }
        let name_of = |name: &str, number: u64| {
            if name.is_empty() || self.has_numbers { number.to_string() } else { name.to_owned() }
        };
        let owner = format!("{}/{}", name_of(&header.user, header.uid), name_of(&header.group, header.gid));
        let size = if header.kind == Type::File { header.size } else { 0 }.to_string();
        self.width = self.width.max(owner.len() + size.len());
        let size_width = self.width - owner.len();
        let format = if self.full_time { "%Y-%m-%d %H:%M:%S" } else { "%Y-%m-%d %H:%M" };
        let nanos = u64::try_from(header.modified).unwrap_or(0).saturating_mul(1_000_000_000);
        let date = Date::new(nanos).format(format).unwrap_or_default();
        let mut line = format!("{} {owner} {size:>size_width$} {date} {}", letters(header), header.shown_name());
        match header.kind {
            Type::Symlink => line.push_str(&format!(" -> {}", shown(&header.link))),
            Type::HardLink => line.push_str(&format!(" link to {}", shown(&header.link))),
            Type::Unknown(kind) => line.push_str(&format!(" unknown file type '{}'", char::from(kind))),
            _ => {}
        }
        line.push('\n');
        line
    }
}

fn letters(header: &Header) -> String {
    let kind = match header.kind {
        Type::Directory => 'd',
        Type::Symlink => 'l',
        Type::HardLink => 'h',
        Type::Special(b'3') => 'c',
        Type::Special(b'4') => 'b',
        Type::Special(_) => 'p',
        _ => '-',
    };
    format!("{kind}{}", mode::letters(header.mode))
}
