//! Words of commands: constant and dynamic.

use isopod_syntax::tree::{AssignedValue, Assignment, Index, Name, Part, Word};

use super::Argument;
use crate::backend::bounds;

/// A word of a simple command.
#[derive(Clone)]
pub(super) struct Field {
    pub(super) argument: Argument,
    /// True if it expands to exactly one word, unlike an unquoted `$x` or `"$@"`.
    pub(super) is_one: bool,
}

impl Field {
    pub(super) fn new(word: &Word) -> Field {
        let constant = constant(word);
        let is_one = constant.is_some() || word.parts.iter().all(is_one);
        Field { argument: constant.map_or_else(|| dynamic(word), constant_argument), is_one }
    }

    /// A word that no shell expands.
    pub(super) fn of_constant(text: &str) -> Field {
        Field { argument: constant_argument(text.to_owned()), is_one: true }
    }

    /// The text of a constant.
    pub(super) fn constant(&self) -> Option<&str> {
        (!self.argument.dynamic).then_some(self.argument.text.as_str())
    }
}

/// Classifies a word.
pub(super) fn argument(word: &Word) -> Argument {
    Field::new(word).argument
}

/// The text of a word that always expands to the same text.
pub(super) fn constant(word: &Word) -> Option<String> {
    if let [Part::Assignment(assignment)] = word.parts.as_slice() {
        return match (&assignment.index, &assignment.value) {
            (None, AssignedValue::Scalar(value)) => Some(format!("{}{}", left_side(assignment), constant(value)?)),
            _ => None,
        };
    }
    word.parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Bare(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn constant_argument(text: String) -> Argument {
    Argument { text, dynamic: false }
}

fn dynamic(word: &Word) -> Argument {
    let mut text = match (word.parts.as_slice(), &word.source) {
        ([Part::Assignment(assignment)], _) => {
            let value = match &assignment.value {
                AssignedValue::Scalar(value) => value.source.as_deref().unwrap_or_default(),
                AssignedValue::Array(_) => "(…)",
            };
            format!("{}{value}", left_side(assignment))
        }
        (_, source) => source.as_deref().unwrap_or_default().to_owned(),
    };
    if let Some((cut, _)) = text.char_indices().nth(bounds::PLAN_WORD) {
        text.truncate(cut);
        text.push('…');
    }
    Argument { text, dynamic: true }
}

fn left_side(assignment: &Assignment) -> String {
    let index = if assignment.index.is_some() { "[…]" } else { "" };
    let operator = if assignment.append { "+=" } else { "=" };
    format!("{}{index}{operator}", assignment.name)
}

/// Returns true if a part expands to neither several words nor none.
fn is_one(part: &Part) -> bool {
    match part {
        Part::Text(_) | Part::Bare(_) | Part::Process(..) => true,
        Part::Command(_, quoted) | Part::Arith(_, quoted) => *quoted,
        Part::Parameter(parameter) => {
            let is_list = parameter.name == Name::Special(b'@') || matches!(parameter.index, Some(Index::All));
            parameter.quoted && !is_list && !parameter.indirect
        }
        Part::Glob(_) | Part::Brace(_) | Part::Assignment(_) => false,
    }
}
