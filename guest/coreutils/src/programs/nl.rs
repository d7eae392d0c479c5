//! `nl`: numbers lines.

use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;

use crate::lines::{Lines, each_input};
use crate::pattern::Pattern;

/// `nl`.
pub(crate) const PROGRAM: Program = Program {
    name: "nl",
    operands: &["[OPTION]... [FILE]..."],
    about: "Write each FILE to standard output, with line numbers added.\n\
            With no FILE, or when FILE is -, read standard input.\n\
            STYLE is one of: a (all lines), t (nonempty lines), n (no lines), pBRE (lines that match BRE).",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('b', "body-numbering", "use STYLE for numbering body lines").takes("STYLE"),
        Opt::flag('d', "section-delimiter", "use CC for logical page delimiters").takes("CC"),
        Opt::flag('f', "footer-numbering", "use STYLE for numbering footer lines").takes("STYLE"),
        Opt::flag('h', "header-numbering", "use STYLE for numbering header lines").takes("STYLE"),
        Opt::flag('i', "line-increment", "line number increment at each line").takes("NUMBER"),
        Opt::flag('l', "join-blank-lines", "group of NUMBER empty lines counted as one").takes("NUMBER"),
        Opt::flag('n', "number-format", "insert line numbers according to FORMAT: ln, rn or rz").takes("FORMAT"),
        Opt::flag('p', "no-renumber", "do not reset line numbers for each section"),
        Opt::flag('s', "number-separator", "add STRING after (possible) line number").takes("STRING"),
        Opt::flag('v', "starting-line-number", "first line number for each section").takes("NUMBER"),
        Opt::flag('w', "number-width", "use NUMBER columns for line numbers").takes("NUMBER"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The lines that get numbers.
enum Style {
    All,
    Filled,
    None,
    Matching(Box<Pattern>),
}

struct Numbering {
    /// Of header, body and footer.
    styles: [Style; 3],
    /// The two characters of a delimiter; empty if there are no sections.
    delimiter: Vec<u8>,
    increment: i64,
    blank_join: u64,
    format: String,
    separator: String,
    start: i64,
    width: usize,
}

fn run(call: &Call) -> Result<u8, u8> {
    let mut numbering = Numbering {
        styles: [Style::None, Style::Filled, Style::None],
        delimiter: b"\\:".to_vec(),
        increment: 1,
        blank_join: 1,
        format: "rn".to_owned(),
        separator: "\t".to_owned(),
        start: 1,
        width: 6,
    };
    for GivenOption { option, value } in &call.options {
        let value = value.as_deref().unwrap_or_default();
        let number = |what: &str, least: i64| {
            value
                .parse::<i64>()
                .ok()
                .filter(|number| *number >= least)
                .ok_or_else(|| call.failed(&format!("invalid {what}: {}", plain(value))))
        };
        match *option {
            "header-numbering" => numbering.styles[0] = style(call, "header", value)?,
            "body-numbering" => numbering.styles[1] = style(call, "body", value)?,
            "footer-numbering" => numbering.styles[2] = style(call, "footer", value)?,
            "section-delimiter" => {
                numbering.delimiter = value.as_bytes().to_vec();
                if value.len() == 1 {
                    numbering.delimiter.push(b':');
                }
            }
            "line-increment" => numbering.increment = number("line number increment", i64::MIN)?,
            "join-blank-lines" => numbering.blank_join = number("line number of blank lines", 1)? as u64,
            "number-format" if matches!(value, "ln" | "rn" | "rz") => numbering.format = value.to_owned(),
            "number-format" => return Err(call.misused(&format!("invalid line numbering format: {}", plain(value)))),
            "number-separator" => numbering.separator = value.to_owned(),
            "starting-line-number" => numbering.start = number("starting line number", i64::MIN)?,
            "number-width" => numbering.width = number("line number field width", 1)?.min(1 << 20) as usize,
            _ => {}
        }
    }
    let mut state = State { section: 1, number: Some(numbering.start), blanks: 0 };
    let mut out = Out::new();
    let mut overflow = false;
    let code = each_input(call, |input| {
        let mut lines = Lines::new(input, b'\n');
        while let Some(line) = lines.next()? {
            if !numbering.line(line, &mut state, !call.has("no-renumber"), &mut out) {
                overflow = true;
                break;
            }
        }
        Ok(())
    });
    if overflow {
        out.flush();
        return Err(call.failed("line number overflow"));
    }
    Ok(call.finish(out, code))
}

fn style(call: &Call, section: &str, text: &str) -> Result<Style, u8> {
    match text.split_at_checked(1) {
        Some(("a", _)) => Ok(Style::All),
        Some(("t", _)) => Ok(Style::Filled),
        Some(("n", _)) => Ok(Style::None),
        Some(("p", pattern)) => Pattern::basic(pattern)
            .map(|pattern| Style::Matching(Box::new(pattern)))
            .map_err(|message| call.failed(&message)),
        _ => Err(call.misused(&format!("invalid {section} numbering style: {}", plain(text)))),
    }
}

/// The position of a run, which goes on from one file to the next.
struct State {
    section: usize,
    /// The next number; `None` is one past the largest.
    number: Option<i64>,
    blanks: u64,
}

impl Numbering {
    /// Writes a line. Returns false if the numbers have overflowed.
    fn line(&self, line: &[u8], state: &mut State, renumber: bool, out: &mut Out) -> bool {
        if let Some(section) = self.section(line) {
            state.section = section;
            if renumber {
                state.number = Some(self.start);
            }
            state.blanks = 0;
            out.byte(b'\n');
            return true;
        }
        let numbered = match &self.styles[state.section] {
            Style::All if self.blank_join > 1 && line.is_empty() => {
                state.blanks += 1;
                state.blanks == self.blank_join
            }
            Style::All => true,
            Style::Filled => !line.is_empty(),
            Style::None => false,
            Style::Matching(pattern) => pattern.is_in(line),
        };
        if numbered {
            state.blanks = 0;
            let Some(number) = state.number else { return false };
            let width = self.width;
            let text = match self.format.as_str() {
                "ln" => format!("{number:<width$}"),
                "rz" => format!("{number:0width$}"),
                _ => format!("{number:>width$}"),
            };
            out.push(text.as_bytes());
            out.push(self.separator.as_bytes());
            state.number = number.checked_add(self.increment);
        } else {
            out.push(" ".repeat(self.width + self.separator.len()).as_bytes());
        }
        out.push(line);
        out.byte(b'\n');
        true
    }

    /// Returns the section that a line of delimiters begins.
    fn section(&self, line: &[u8]) -> Option<usize> {
        let one = self.delimiter.len();
        if one == 0 || !line.len().is_multiple_of(one) || !line.chunks(one).all(|chunk| chunk == self.delimiter) {
            return None;
        }
        3usize.checked_sub(line.len() / one).filter(|_| !line.is_empty())
    }
}
