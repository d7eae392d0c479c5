//! Splits the input into arguments.
//!
//! The input is read piece by piece: the first command may start long before the input ends.

use isopod_gnu::input::Input;
use isopod_gnu::output::complain;
use isopod_sys::text;

use super::settings::{Settings, Split};
use crate::messages::quoted;

/// An argument.
pub(super) struct Item {
    pub(super) text: String,
    /// True if a line ends with it. A blank at the end of a line joins the line to the next.
    pub(super) ends_line: bool,
}

/// The arguments in an input.
pub(super) struct Items {
    input: Input,
    piece: Vec<u8>,
    at: usize,
    delimiter: Option<u8>,
    /// True if an argument is a whole line without the blanks in front.
    takes_lines: bool,
    end: Option<Vec<u8>>,
    is_over: bool,
    warned: bool,
}

/// The position of the reader within an argument.
enum State {
    Between,
    Inside,
    Quoted(u8),
    Escaped,
}

impl Items {
    pub(super) fn open(settings: &Settings) -> Result<Items, String> {
        let source = settings.source.as_deref().unwrap_or("-");
        let input = Input::open(source)
            .map_err(|errno| format!("Cannot open input file {}: {}", quoted(source), text(errno)))?;
        Ok(Items {
            input,
            piece: Vec::new(),
            at: 0,
            delimiter: settings.delimiter,
            takes_lines: matches!(settings.split, Split::Replace(_)),
            // With a delimiter, every item is data.
            end: settings.end.clone().filter(|_| settings.delimiter.is_none()).map(String::into_bytes),
            is_over: false,
            warned: false,
        })
    }

    /// Returns the next argument.
    pub(super) fn next(&mut self) -> Result<Option<Item>, String> {
        if self.is_over {
            return Ok(None);
        }
        let read = match self.delimiter {
            Some(delimiter) => self.delimited(delimiter)?,
            None => self.unquoted()?,
        };
        let Some((bytes, ends_line)) = read.filter(|(bytes, _)| self.end.as_ref() != Some(bytes)) else {
            self.is_over = true;
            return Ok(None);
        };
        let text = String::from_utf8(bytes).map_err(|_| "an argument in the input is not UTF-8".to_owned())?;
        Ok(Some(Item { text, ends_line }))
    }

    fn byte(&mut self) -> Result<Option<u8>, String> {
        if self.at == self.piece.len() {
            self.piece = self.input.read().map_err(|errno| format!("read error: {}", text(errno)))?;
            self.at = 0;
        }
        let byte = self.piece.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        Ok(byte)
    }

    fn delimited(&mut self, delimiter: u8) -> Result<Option<(Vec<u8>, bool)>, String> {
        let mut item = Vec::new();
        while let Some(byte) = self.byte()? {
            if byte == delimiter {
                return Ok(Some((item, true)));
            }
            item.push(byte);
        }
        Ok((!item.is_empty()).then_some((item, true)))
    }

    /// Reads an argument in the shell's manner: blanks separate, quotes and backslashes protect.
    fn unquoted(&mut self) -> Result<Option<(Vec<u8>, bool)>, String> {
        let mut item = Vec::new();
        let mut state = State::Between;
        let (mut previous, mut is_cut) = (0, false);
        // Two quotes with nothing between are an argument too.
        let mut has_quotes = false;
        while let Some(byte) = self.byte()? {
            if byte == 0 {
                self.warn();
                is_cut = true;
                continue;
            }
            match state {
                State::Between if matches!(byte, b' ' | b'\t' | b'\n') => continue,
                State::Between | State::Inside => {
                    state = State::Inside;
                    match byte {
                        b'\n' => {
                            if !item.is_empty() || has_quotes {
                                return Ok(Some((item, !matches!(previous, b' ' | b'\t'))));
                            }
                            state = State::Between;
                        }
                        b' ' | b'\t' if !self.takes_lines => return Ok(Some((item, false))),
                        b'\\' => state = State::Escaped,
                        b'\'' | b'"' => {
                            state = State::Quoted(byte);
                            has_quotes = true;
                        }
                        byte if !is_cut => item.push(byte),
                        _ => {}
                    }
                }
                State::Quoted(_) if byte == b'\n' => return Err(unmatched(&state)),
                State::Quoted(quote) if byte == quote => state = State::Inside,
                State::Quoted(_) => item.push(byte),
                State::Escaped => {
                    item.push(byte);
                    state = State::Inside;
                }
            }
            previous = byte;
        }
        match state {
            State::Quoted(_) => Err(unmatched(&state)),
            _ => Ok((!item.is_empty()).then_some((item, true))),
        }
    }

    fn warn(&mut self) {
        if !std::mem::replace(&mut self.warned, true) {
            complain(
                "xargs",
                "WARNING: a NUL character occurred in the input.  It cannot be passed through in the argument list.  \
                 Did you mean to use the --null option?",
            );
        }
    }
}

fn unmatched(state: &State) -> String {
    let kind = if matches!(state, State::Quoted(b'"')) { "double" } else { "single" };
    format!("unmatched {kind} quote; by default quotes are special to xargs unless you use the -0 option")
}
