//! Syntax errors.

use std::fmt;

/// A syntax error and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The source line, counted from 1.
    pub line: u32,
    /// The error.
    pub fault: Fault,
}

/// The kinds of syntax error, worded as bash words them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A token that the grammar does not allow there, and the text of its line.
    Unexpected(String, String),
    /// The text ends inside a command.
    EndOfFile,
    /// The text ends inside a quotation or substitution that this character would close.
    Unmatched(char),
    /// Nesting beyond this limit.
    TooDeep(u32),
    /// A construct that is understood and refused.
    Refused(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unexpected(token, _) => write!(f, "syntax error near unexpected token `{token}'"),
            Fault::EndOfFile => f.write_str("syntax error: unexpected end of file"),
            Fault::Unmatched(close) => write!(f, "unexpected EOF while looking for matching `{close}'"),
            Fault::TooDeep(limit) => write!(f, "commands nested too deep (limit {limit})"),
            Fault::Refused(why) => f.write_str(why),
        }
    }
}

impl SyntaxError {
    /// Returns the message, a line or two, each with this prefix.
    pub fn message(&self, prefix: &str) -> String {
        let SyntaxError { line, fault } = self;
        match fault {
            Fault::Unexpected(_, text) => {
                format!("{prefix}: line {line}: {fault}\n{prefix}: line {line}: `{text}'\n")
            }
            _ => format!("{prefix}: line {line}: {fault}\n"),
        }
    }
}
