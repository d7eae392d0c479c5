//! What can be wrong with a source text.

/// A syntax error and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The source line, counted from 1.
    pub line: u32,
    /// What is wrong.
    pub fault: Fault,
}

/// The kinds of syntax error, worded as bash words them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A token where the grammar has no place for it, and the text of its line.
    Unexpected(String, String),
    /// The text ends inside a command.
    EndOfFile,
    /// The text ends inside a quotation or substitution, which this character would close.
    Unmatched(char),
    /// Something that is understood and refused.
    Refused(String),
}

impl SyntaxError {
    /// The message, a line or two, each with this prefix.
    pub fn message(&self, prefix: &str) -> String {
        let line = self.line;
        match &self.fault {
            Fault::Unexpected(token, text) => format!(
                "{prefix}: line {line}: syntax error near unexpected token `{token}'\n{prefix}: line {line}: `{text}'\n"
            ),
            Fault::EndOfFile => format!("{prefix}: line {line}: syntax error: unexpected end of file\n"),
            Fault::Unmatched(close) => {
                format!("{prefix}: line {line}: unexpected EOF while looking for matching `{close}'\n")
            }
            Fault::Refused(why) => format!("{prefix}: line {line}: {why}\n"),
        }
    }
}
