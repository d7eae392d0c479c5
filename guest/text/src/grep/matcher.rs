//! The compiled patterns.

use isopod_regex::{Flags, Lines, Regex, Syntax};
use memchr::memchr;

use super::options::{Dialect, Options};
use crate::perl::Perl;

/// The compiled patterns.
pub(super) enum Matcher {
    Posix(Box<Regex>),
    Perl(Perl, u8),
    /// The list of patterns is empty, so nothing matches.
    Nothing,
}

impl Matcher {
    pub(super) fn new(options: &Options) -> Result<Matcher, String> {
        if options.dialect == Dialect::Perl {
            let [pattern] = options.patterns.as_slice() else {
                return Err("the -P option only supports a single pattern".to_owned());
            };
            return Ok(Matcher::Perl(Perl::new(pattern, options.icase, options.whole)?, options.end));
        }
        if options.patterns.is_empty() {
            return Ok(Matcher::Nothing);
        }
        let syntax = match options.dialect {
            Dialect::Extended => Syntax::Egrep,
            Dialect::Fixed => Syntax::Fixed,
            Dialect::Awk => Syntax::Awk,
            _ => Syntax::Grep,
        };
        let flags = Flags {
            icase: options.icase,
            lines: Lines::Records(options.end),
            whole: options.whole,
            bytes: isopod_gnu::locale::is_bytes(),
        };
        let patterns: Vec<&[u8]> = options.patterns.iter().map(Vec::as_slice).collect();
        Regex::any_of(&patterns, syntax, flags)
            .map(|regex| Matcher::Posix(Box::new(regex)))
            .map_err(|error| error.to_string())
    }

    /// Returns an offset within the first line that has a match. The text has to consist of whole lines.
    pub(super) fn next_line(&self, lines: &[u8]) -> Result<Option<usize>, String> {
        match self {
            Matcher::Nothing => Ok(None),
            Matcher::Posix(regex) => {
                let found = regex.shortest_at(lines, 0);
                if regex.gave_up() {
                    return Err("exceeded the limit on back-references".to_owned());
                }
                Ok(found)
            }
            Matcher::Perl(perl, end) => {
                let mut start = 0;
                while start < lines.len() {
                    let stop = memchr(*end, &lines[start..]).map_or(lines.len(), |length| start + length);
                    if perl.find_at(&lines[start..stop], 0)?.is_some() {
                        return Ok(Some(start));
                    }
                    start = stop + 1;
                }
                Ok(None)
            }
        }
    }

    /// Returns start and end of the next match in a line. The line comes without its terminator.
    pub(super) fn find_at(&self, line: &[u8], start: usize) -> Result<Option<(usize, usize)>, String> {
        match self {
            Matcher::Nothing => Ok(None),
            Matcher::Posix(regex) => Ok(regex.find_at(line, start)),
            Matcher::Perl(perl, _) => perl.find_at(line, start),
        }
    }
}
