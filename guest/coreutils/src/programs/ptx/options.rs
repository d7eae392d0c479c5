//! The options of `ptx`.

use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;

use super::pattern::Pattern;
use super::text::Text;
use super::words::{WordList, Words};
use crate::lines::complain;

/// `ptx`.
pub(crate) const PROGRAM: Program = Program {
    name: "ptx",
    operands: &["[OPTION]... [INPUT]...   (without -G)", "-G [OPTION]... [INPUT [OUTPUT]]"],
    about: "Output a permuted index, including context, of the words in the input files.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('A', "auto-reference", "output automatically generated references"),
        Opt::flag('G', "traditional", "behave more like System V 'ptx'"),
        Opt::flag('F', "flag-truncation", "use STRING for flagging line truncations; the default is '/'")
            .takes("STRING"),
        Opt::flag('M', "macro-name", "macro name to use instead of 'xx'").takes("STRING"),
        Opt::letter('O', "roff", "generate output as roff directives"),
        Opt::letter('T', "tex", "generate output as TeX directives"),
        Opt::long("format", "generate output as directives of FORMAT: roff or tex").takes("FORMAT"),
        Opt::flag('R', "right-side-refs", "put references at right, not counted in -w"),
        Opt::flag('S', "sentence-regexp", "for end of lines or end of sentences").takes("REGEXP"),
        Opt::flag('W', "word-regexp", "use REGEXP to match each keyword").takes("REGEXP"),
        Opt::flag('b', "break-file", "word break characters in this FILE").takes("FILE"),
        Opt::flag('f', "ignore-case", "fold lower case to upper case for sorting"),
        Opt::flag('g', "gap-size", "gap size in columns between output fields").takes("NUMBER"),
        Opt::flag('i', "ignore-file", "read ignore word list from FILE").takes("FILE"),
        Opt::flag('o', "only-file", "read only word list from this FILE").takes("FILE"),
        Opt::flag('r', "references", "first field of each line is a reference"),
        Opt::flag('t', "typeset-mode", "does nothing, as in GNU's"),
        Opt::flag('w', "width", "output width in columns, reference excluded").takes("NUMBER"),
    ],
    failure: 1,
    run: |call| super::run(call).unwrap_or_else(|code| code),
};

/// The end of a sentence, as Emacs knows it.
const SENTENCE_END: &[u8] = b"[.?!][]\"')}]*\\($\\|\t\\|  \\)[ \t\n]*";

/// A width beyond all lines. Sums of a few of these do not overflow.
const WIDEST: i64 = 1 << 60;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Plain,
    Roff,
    Tex,
}

/// The end of a context.
pub(super) struct Ends {
    pub(super) source: Vec<u8>,
    pub(super) pattern: Pattern,
}

/// The options of a run.
pub(super) struct Settings {
    pub(super) traditional: bool,
    pub(super) auto_reference: bool,
    pub(super) input_reference: bool,
    pub(super) right_reference: bool,
    pub(super) fold: bool,
    pub(super) truncation: Vec<u8>,
    pub(super) macro_name: String,
    pub(super) format: Format,
    pub(super) gap: i64,
    pub(super) width: i64,
    /// `None` if a text is one context.
    pub(super) contexts: Option<Ends>,
    pub(super) words: Words,
    ignored: Option<WordList>,
    only: Option<WordList>,
}

impl Settings {
    /// Reads the options, and the files that they name.
    pub(super) fn read(call: &Call) -> Result<Settings, u8> {
        let mut format = None;
        let (mut gap, mut width) = (3, 72);
        for GivenOption { option, value } in &call.options {
            let value = value.as_deref().unwrap_or_default();
            let number = |what: &str| {
                positive(value).ok_or_else(|| call.failed(&format!("invalid {what} width: {}", plain(value))))
            };
            match *option {
                "roff" => format = Some(Format::Roff),
                "tex" => format = Some(Format::Tex),
                "format" if !value.is_empty() && "roff".starts_with(value) => format = Some(Format::Roff),
                "format" if !value.is_empty() && "tex".starts_with(value) => format = Some(Format::Tex),
                "format" => return Err(call.misused(&format!("invalid argument {} for '--format'", plain(value)))),
                "gap-size" => gap = number("gap")?,
                "width" => width = number("line")?,
                _ => {}
            }
        }
        let traditional = call.has("traditional");
        let input_reference = call.has("references");
        let fold = call.has("ignore-case");
        let source = match call.value("sentence-regexp") {
            Some(text) => unescape(text),
            None if traditional || input_reference => b"\n".to_vec(),
            None => SENTENCE_END.to_vec(),
        };
        let pattern = |source: &[u8]| Pattern::new(source, fold).map_err(|message| call.failed(&message));
        let list = |option: &str| match call.value(option) {
            Some(path) => WordList::read(path, fold).map_err(|errno| complain(call, path, errno)),
            None => Ok(None),
        };
        Ok(Settings {
            traditional,
            auto_reference: call.has("auto-reference"),
            input_reference,
            right_reference: call.has("right-side-refs"),
            fold,
            truncation: unescape(call.value("flag-truncation").unwrap_or("/")),
            macro_name: call.value("macro-name").unwrap_or("xx").to_owned(),
            format: format.unwrap_or(if traditional { Format::Roff } else { Format::Plain }),
            gap,
            width,
            contexts: match source.as_slice() {
                [] => None,
                bytes => Some(Ends { pattern: pattern(bytes)?, source }),
            },
            words: match call.value("word-regexp").map(unescape).filter(|source| !source.is_empty()) {
                Some(source) => Words::Matching(pattern(&source)?),
                None => word_bytes(call, traditional)?,
            },
            ignored: list("ignore-file")?,
            only: list("only-file")?,
        })
    }

    pub(super) fn has_references(&self) -> bool {
        self.auto_reference || self.input_reference
    }

    /// Returns true if a word is to be listed.
    pub(super) fn wants(&self, word: &[u8]) -> bool {
        !self.ignored.as_ref().is_some_and(|list| list.contains(word))
            && self.only.as_ref().is_none_or(|list| list.contains(word))
    }

    /// Returns true if a search was ended because it took too long, so that the index may be wrong.
    pub(super) fn gave_up(&self) -> bool {
        self.contexts.as_ref().is_some_and(|ends| ends.pattern.gave_up())
            || matches!(&self.words, Words::Matching(pattern) if pattern.gave_up())
    }
}

fn word_bytes(call: &Call, traditional: bool) -> Result<Words, u8> {
    let Some(path) = call.value("break-file") else {
        return Ok(if traditional { Words::between(b" \t\n") } else { Words::letters() });
    };
    let mut breaks = Text::read(path, false).map_err(|errno| complain(call, path, errno))?.bytes;
    if traditional {
        breaks.extend_from_slice(b" \t\n");
    }
    Ok(Words::between(&breaks))
}

/// Reads a number above zero as C does: `0x1f` and `017` too.
fn positive(text: &str) -> Option<i64> {
    let text = text.trim_start_matches(|c: char| c == '\x0b' || c.is_ascii_whitespace());
    let text = text.strip_prefix('+').unwrap_or(text);
    let (digits, base) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    // C has only one sign.
    let is_number = digits.chars().all(|c| c.is_digit(base));
    let number = i64::from_str_radix(digits, base).ok().filter(|number| is_number && *number > 0);
    number.map(|number| number.min(WIDEST))
}

/// Replaces C's escapes in a text. Other escapes keep their backslash, for they may be a regular expression's; a
/// backslash at the end is lost, and NUL ends the text, as in C.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let [letter, after @ ..] = rest else { break };
        rest = after;
        let byte = match letter {
            b'a' => 7,
            b'b' => 8,
            b'c' => break,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'0' => code(&mut rest, 8).unwrap_or(0),
            b'x' => match code(&mut rest, 16) {
                Some(byte) => byte,
                None => {
                    bytes.extend_from_slice(b"\\x");
                    continue;
                }
            },
            other => {
                bytes.extend([b'\\', *other]);
                continue;
            }
        };
        bytes.push(byte);
    }
    bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
    bytes
}

/// Takes up to three digits; a number that is too large for a byte loses its upper bits.
fn code(rest: &mut &[u8], base: u32) -> Option<u8> {
    let digit = |byte: &u8| (*byte as char).to_digit(base);
    let digits: Vec<u32> = rest.iter().take(3).map_while(digit).collect();
    *rest = &rest[digits.len()..];
    let number = digits.iter().fold(0, |number, digit| number * base + digit);
    (!digits.is_empty()).then_some((number & 0xff) as u8)
}
