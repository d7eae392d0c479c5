//! Words, assignments and conditions as text.

use super::print::list_text;
use super::tree::{
    Arith, AssignedValue, Assignment, Brace, Comparison, Condition, Direction, Fallback, Index, LetterCase, Name,
    Operation, Parameter, Part, ReplacePlace, Word,
};

/// Prints a condition without its brackets.
pub(super) fn expression_text(condition: &Condition) -> String {
    match condition {
        Condition::Word(word) => format!("-n {}", word_text(word)),
        Condition::Not(inner) => format!("! {}", expression_text(inner)),
        Condition::Group(inner) => format!("( {} )", expression_text(inner)),
        Condition::And(terms) => terms.iter().map(expression_text).collect::<Vec<_>>().join(" && "),
        Condition::Or(terms) => terms.iter().map(expression_text).collect::<Vec<_>>().join(" || "),
        Condition::Unary(letter, word) => format!("-{} {}", char::from(*letter), word_text(word)),
        Condition::Binary(comparison, left, right) => {
            format!("{} {} {}", word_text(left), comparison_text(*comparison), word_text(right))
        }
    }
}

/// Returns the operator of a comparison.
pub fn comparison_text(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Match => "==",
        Comparison::Equal => "=",
        Comparison::NotMatch => "!=",
        Comparison::Regex => "=~",
        Comparison::Before => "<",
        Comparison::After => ">",
        Comparison::Eq => "-eq",
        Comparison::Ne => "-ne",
        Comparison::Lt => "-lt",
        Comparison::Le => "-le",
        Comparison::Gt => "-gt",
        Comparison::Ge => "-ge",
        Comparison::Newer => "-nt",
        Comparison::Older => "-ot",
        Comparison::SameFile => "-ef",
    }
}

/// Prints an assignment.
pub fn assignment_text(assignment: &Assignment) -> String {
    let index = assignment.index.as_ref().map(|i| format!("[{}]", arith_text(i))).unwrap_or_default();
    let operator = if assignment.append { "+=" } else { "=" };
    let value = match &assignment.value {
        AssignedValue::Scalar(word) => word_text(word),
        AssignedValue::Array(elements) => {
            let elements: Vec<String> = elements
                .iter()
                .map(|e| match &e.index {
                    Some(index) => {
                        let operator = if e.append { "+=" } else { "=" };
                        format!("[{}]{operator}{}", arith_text(index), word_text(&e.word))
                    }
                    None => word_text(&e.word),
                })
                .collect();
            format!("({})", elements.join(" "))
        }
    };
    format!("{}{index}{operator}{value}", assignment.name)
}

/// Prints an arithmetic expression.
pub fn arith_text(arith: &Arith) -> String {
    match &arith.text.source {
        Some(source) => source.to_string(),
        None => parts_text(&arith.text.parts, true),
    }
}

/// Prints a word.
pub fn word_text(word: &Word) -> String {
    match &word.source {
        Some(source) => source.to_string(),
        None => parts_text(&word.parts, false),
    }
}

pub(super) fn parts_text(parts: &[Part], quoted: bool) -> String {
    parts.iter().map(|part| part_text(part, quoted)).collect()
}

fn part_text(part: &Part, inside: bool) -> String {
    let wrap = |text: String, quoted: bool| if quoted && !inside { format!("\"{text}\"") } else { text };
    match part {
        Part::Text(text) if inside => text.clone(),
        Part::Text(text) => crate::quote::single(text),
        Part::Bare(text) | Part::Glob(text) => text.clone(),
        Part::Parameter(parameter) => wrap(parameter_text(parameter), parameter.quoted),
        Part::Command(substitution, quoted) => wrap(format!("$({})", list_text(&substitution.list)), *quoted),
        Part::Arith(arith, quoted) => wrap(format!("$(({}))", arith_text(arith)), *quoted),
        Part::Process(list, Direction::Read) => format!("<({})", list_text(list)),
        Part::Process(list, Direction::Write) => format!(">({})", list_text(list)),
        Part::Brace(brace) => brace_text(brace),
        Part::Assignment(assignment) => assignment_text(assignment),
    }
}

fn brace_text(brace: &Brace) -> String {
    match brace {
        Brace::List(list) => {
            let items: Vec<String> = list.iter().map(|parts| parts_text(parts, false)).collect();
            format!("{{{}}}", items.join(","))
        }
        Brace::Numbers { from, to, step, .. } if *step == 1 => format!("{{{from}..{to}}}"),
        Brace::Numbers { from, to, step, .. } => format!("{{{from}..{to}..{step}}}"),
        Brace::Letters { from, to, step } => {
            format!("{{{}..{}..{step}}}", char::from(*from), char::from(*to))
        }
    }
}

fn parameter_text(parameter: &Parameter) -> String {
    let name = match &parameter.name {
        Name::Variable(name) => name.clone(),
        Name::Positional(number) => number.to_string(),
        Name::Special(special) => char::from(*special).to_string(),
    };
    let index = match &parameter.index {
        None => String::new(),
        Some(Index::All) => "[@]".to_owned(),
        Some(Index::Joined) => "[*]".to_owned(),
        Some(Index::Element(arith)) => format!("[{}]", arith_text(arith)),
    };
    let plain = parameter.index.is_none() && !parameter.indirect && matches!(parameter.operation, Operation::Value);
    if plain && (name.len() == 1 || !name.starts_with(|c: char| c.is_ascii_digit())) {
        return format!("${name}");
    }
    let bang = if parameter.indirect { "!" } else { "" };
    let operand = |word: &Word| parts_text(&word.parts, parameter.quoted);
    let inner = match &parameter.operation {
        Operation::Value => format!("{bang}{name}{index}"),
        Operation::Length => format!("#{name}{index}"),
        Operation::Keys => format!("!{name}{index}"),
        Operation::Names(prefix) => format!("!{prefix}{name}"),
        Operation::Bad(text) => return text.clone(),
        Operation::Fallback { kind, colon, word } => {
            let operator = match kind {
                Fallback::Default => "-",
                Fallback::Assign => "=",
                Fallback::Error => "?",
                Fallback::Alternative => "+",
            };
            format!("{bang}{name}{index}{}{operator}{}", if *colon { ":" } else { "" }, operand(word))
        }
        Operation::Remove { suffix, longest, pattern } => {
            let operator = match (suffix, longest) {
                (false, false) => "#",
                (false, true) => "##",
                (true, false) => "%",
                (true, true) => "%%",
            };
            format!("{bang}{name}{index}{operator}{}", word_text(pattern))
        }
        Operation::Replace { place, pattern, with } => {
            let operator = match place {
                ReplacePlace::First => "/",
                ReplacePlace::All => "//",
                ReplacePlace::Start => "/#",
                ReplacePlace::End => "/%",
            };
            format!("{bang}{name}{index}{operator}{}/{}", word_text(pattern), word_text(with))
        }
        Operation::Case { to, all, pattern } => {
            let letter = match to {
                LetterCase::Upper => "^",
                LetterCase::Lower => ",",
                LetterCase::Toggle => "~",
            };
            format!("{bang}{name}{index}{}{}", letter.repeat(1 + usize::from(*all)), word_text(pattern))
        }
        Operation::Slice { offset, length } => {
            let length = length.as_ref().map(|l| format!(":{}", arith_text(l))).unwrap_or_default();
            format!("{bang}{name}{index}:{}{length}", arith_text(offset))
        }
        Operation::Transform(letter) => format!("{bang}{name}{index}@{}", char::from(*letter)),
    };
    format!("${{{inner}}}")
}
