//! The bash language as syntax: source text to tree, and back.
//!
//! The parser is a recursive descent over the text itself, without a token stream: the meaning of a character depends
//! on the grammatical context, so the grammar reads the text. One command is parsed at a time, up to its newline,
//! because a command may change how the next one is read (`shopt -s extglob`, `alias`), and because bash runs the
//! commands before a syntax error.
//!
//! - `tree` has the nodes;
//! - `lexer` has the cursor: blanks, comments, newlines, operators, keywords;
//! - `word`, `dollar`, `parameter`, `brace` parse words;
//! - `alias` replaces words before they are parsed;
//! - `command`, `compound`, `condition`, `redirect`, `heredoc` parse commands;
//! - `print` and `print_word` write a tree back as text, as `declare -f` shows it;
//! - `arith` compiles expressions; `escape`, `quote`, `text` and `hash` stand alone.
//!
//! It is a crate of its own because it has two users: the shell in the guest, and the host, which shows what a command
//! would run. So it knows no kernel and no files, and its time and stack are bounded for hostile texts.

mod alias;
pub mod arith;
mod brace;
mod command;
mod compound;
mod condition;
mod dollar;
mod error;
pub mod escape;
pub mod hash;
mod heredoc;
mod lexer;
mod parameter;
mod print;
mod print_word;
pub mod quote;
mod redirect;
#[cfg(test)]
mod tests;
pub mod text;
pub mod tree;
mod word;

pub use error::{Fault, SyntaxError};
pub use heredoc::UnfinishedDocument;
pub use lexer::{MoreText, Parser, is_name, name_length};
pub use print::{chain_text, condition_text, for_text, function_text, list_text, simple_text};
pub use print_word::{arith_text, assignment_text, comparison_text, word_text};
pub use word::{elements_of, subscript_word};
