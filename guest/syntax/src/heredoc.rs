//! Here-documents: their text follows the line that announces them.

use std::cell::RefCell;
use std::rc::Rc;

use super::error::SyntaxError;
use super::lexer::Parser;
use super::tree::{Part, Word};

/// A here-document whose text has not been read yet.
pub(super) struct PendingDocument {
    /// The line that ends it.
    pub(super) delimiter: String,
    /// `<<-`: leading tabs are dropped.
    pub(super) tabs: bool,
    /// A part of the delimiter was quoted, so the text is taken literally.
    pub(super) quoted: bool,
    /// The destination of the text.
    pub(super) document: Rc<RefCell<Word>>,
}

/// A here-document that the end of the text ended.
#[derive(Debug, Clone)]
pub struct UnfinishedDocument {
    /// The line that announced it.
    pub line: u32,
    /// The last line.
    pub end: u32,
    /// The line that would have ended it.
    pub delimiter: String,
}

impl Parser<'_> {
    /// Reads the texts of all here-documents announced so far. The cursor is at the start of a line.
    pub(super) fn read_heredocs(&mut self) -> Result<(), SyntaxError> {
        for pending in std::mem::take(&mut self.heredocs) {
            let first_line = self.line;
            let text = self.heredoc_text(&pending);
            *pending.document.borrow_mut() = match pending.quoted {
                true => Word::of(Part::Text(text)),
                false => self.heredoc_word(text, first_line)?,
            };
        }
        Ok(())
    }

    /// Makes here-documents without any text empty, at the end of the source.
    pub(super) fn finish_heredocs(&mut self) {
        for pending in std::mem::take(&mut self.heredocs) {
            *pending.document.borrow_mut() = Word::of(Part::Text(String::new()));
            self.unfinished.push(UnfinishedDocument { line: self.line, end: self.line, delimiter: pending.delimiter });
        }
    }

    fn heredoc_text(&mut self, pending: &PendingDocument) -> String {
        let started = self.line.saturating_sub(1);
        let mut text = String::new();
        // In a document that is expanded, an escaped newline joins lines before the comparison.
        let mut joined = false;
        loop {
            if self.peek() == 0 {
                let end = self.line.saturating_sub(1).max(started);
                self.unfinished.push(UnfinishedDocument { line: started, end, delimiter: pending.delimiter.clone() });
                return text;
            }
            let rest = &self.text[self.at..];
            let (line, length) = match rest.find('\n') {
                Some(end) => (&rest[..end], end + 1),
                None => (rest, rest.len()),
            };
            let shown = if pending.tabs && !joined { line.trim_start_matches('\t') } else { line };
            if !joined && shown == pending.delimiter {
                self.at += length;
                self.line += 1;
                return text;
            }
            text.push_str(shown);
            text.push('\n');
            joined = !pending.quoted && line.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1;
            self.at += length;
            self.line += 1;
        }
    }

    /// Parses the text of an unquoted here-document as in double quotes, except that `"` is not special.
    fn heredoc_word(&mut self, text: String, line: u32) -> Result<Word, SyntaxError> {
        let mut inner = self.within(text, line);
        let mut word = inner.document_word()?;
        self.reread = inner.reread;
        inner.keep_source(&mut word, 0, inner.text.len());
        Ok(word)
    }
}
