//! The parser: text to tree.
//!
//! # Layout
//! - `tree`: the syntax tree
//! - `lexer`: text to tokens, on demand, since only the parser can tell a division from a regular expression
//! - `parser`: statements
//! - `expressions`: expressions, by precedence
//! - `functions`: the built-in functions by name

mod expressions;
pub(crate) mod functions;
pub(crate) mod lexer;
mod parser;
pub(crate) mod tree;

pub(crate) use parser::parse;

/// A piece of program text with its origin.
pub(crate) struct Source {
    /// The name of a file, or `cmd. line`.
    pub name: String,
    pub text: Vec<u8>,
}

/// A syntax error.
pub(crate) struct SyntaxError {
    /// The index of the source, and the offset in it.
    pub source: usize,
    pub offset: usize,
    pub message: String,
}

impl SyntaxError {
    /// Returns the message in gawk's format, line by line.
    pub(crate) fn report(&self, sources: &[Source]) -> Vec<String> {
        let Some(source) = sources.get(self.source) else { return vec![self.message.clone()] };
        let offset = self.offset.min(source.text.len());
        let start = source.text[..offset].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end =
            source.text[offset..].iter().position(|byte| *byte == b'\n').map_or(source.text.len(), |at| offset + at);
        let number = source.text[..offset].iter().filter(|byte| **byte == b'\n').count() + 1;
        let line = String::from_utf8_lossy(&source.text[start..end]);
        let before = String::from_utf8_lossy(&source.text[start..offset]);
        let gap: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let location = format!("{}:{number}:", source.name);
        vec![format!("{location} {line}"), format!("{location} {gap}^ {}", self.message)]
    }
}
