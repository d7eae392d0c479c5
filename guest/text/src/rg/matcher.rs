//! The compiled patterns of `rg`: Rust's regular expressions, as in ripgrep, or Perl's.

use isopod_regex::Whole;
use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;
use regex_automata::{Input, PatternID};

use super::options::Options;
use crate::perl::Perl;

/// The compiled patterns.
pub(super) enum Matcher {
    Rust(Box<Regex>),
    Perl(Box<Perl>),
}

impl Matcher {
    pub(super) fn new(options: &Options) -> Result<Matcher, String> {
        if options.perl {
            if options.replace.is_some() || options.multiline {
                return Err("--pcre2 with --replace or --multiline is not supported".to_owned());
            }
            let pattern = options.patterns.iter().map(|p| format!("(?:{p})")).collect::<Vec<_>>().join("|");
            let perl = Perl::new(pattern.as_bytes(), options.icase, options.whole)?;
            return Ok(Matcher::Perl(Box::new(perl)));
        }
        let mut parts = Vec::new();
        for pattern in &options.patterns {
            if !options.multiline && !options.fixed && has_newline(pattern) {
                return Err(
                    "the literal \"\\n\" is not allowed in a regex\n\nConsider enabling multiline mode with the \
                            --multiline flag (or -U for short).\nWhen multiline mode is enabled, new line characters \
                            can be matched."
                        .to_owned(),
                );
            }
            parts.push(if options.fixed { escape(pattern) } else { pattern.clone() });
        }
        let all = if parts.len() == 1 {
            parts.swap_remove(0)
        } else {
            parts.iter().map(|part| format!("(?:{part})")).collect::<Vec<_>>().join("|")
        };
        let all = match options.whole {
            Whole::Any => all,
            Whole::Word => format!("\\b{{start-half}}(?:{all})\\b{{end-half}}"),
            Whole::Line => format!("(?m:^)(?:{all})(?m:$)"),
        };
        let config = syntax::Config::new()
            .utf8(false)
            .multi_line(true)
            .case_insensitive(options.icase)
            .dot_matches_new_line(options.dotall && options.multiline);
        let built = Regex::builder().syntax(config).configure(Regex::config().utf8_empty(false)).build(&all);
        built.map(|regex| Matcher::Rust(Box::new(regex))).map_err(|error| explain(&error))
    }

    /// Returns start and end of the next match.
    pub(super) fn find_at(&self, text: &[u8], start: usize) -> Result<Option<(usize, usize)>, String> {
        match self {
            Matcher::Rust(regex) => {
                let input = Input::new(text).span(start..text.len());
                Ok(regex.search(&input).map(|found| (found.start(), found.end())))
            }
            Matcher::Perl(perl) => perl.find_at(text, start),
        }
    }

    /// Appends the replacement of a match. `$1`, `$name` and `${name}` are groups.
    pub(super) fn replace(&self, text: &[u8], span: (usize, usize), template: &str, out: &mut Vec<u8>) {
        let Matcher::Rust(regex) = self else { return };
        let mut captures = regex.create_captures();
        regex.search_captures(&Input::new(text).span(span.0..text.len()), &mut captures);
        let names = regex.group_info();
        regex_automata::util::interpolate::bytes(
            template.as_bytes(),
            |group, out| {
                if let Some(span) = captures.get_group(group) {
                    out.extend_from_slice(&text[span.range()]);
                }
            },
            |name| names.to_index(PatternID::ZERO, name),
            out,
        );
    }
}

fn explain(error: &BuildError) -> String {
    match error.syntax_error() {
        Some(error) => error.to_string(),
        None => error.to_string(),
    }
}

/// Returns true if a pattern contains a newline.
fn has_newline(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' => return true,
            '\\' if chars.next() == Some('n') => return true,
            _ => {}
        }
    }
    false
}

fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if "\\.+*?()|[]{}^$#&-~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
