//! `[[ … ]]`

use std::collections::BTreeMap;

use crate::builtins::test;
use crate::regex::Regex;
use crate::state::options::Shopt;
use crate::state::variable::{Attributes, Value, Variable};
use crate::state::{Shell, Stop};
use crate::syntax::tree::{Comparison, Condition, Word};

impl Shell {
    /// The status of a condition.
    pub(super) fn condition_status(&mut self, condition: &Condition) -> Result<u8, Stop> {
        match self.holds(condition, false) {
            Ok(holds) => Ok(u8::from(!holds)),
            Err(Wrong::Status(status)) => Ok(status),
            Err(Wrong::Stop(stop)) => Err(stop),
        }
    }

    fn holds(&mut self, condition: &Condition, negated: bool) -> Result<bool, Wrong> {
        Ok(match condition {
            Condition::Word(word) => {
                let text = self.expand_string(word)?;
                self.trace_term(negated, || format!("-n {}", shown_term(&text)))?;
                !text.is_empty()
            }
            Condition::Not(inner) => !self.holds(inner, !negated)?,
            Condition::Group(inner) => self.holds(inner, false)?,
            Condition::And(terms) => {
                for term in terms {
                    if !self.holds(term, false)? {
                        return Ok(false);
                    }
                }
                true
            }
            Condition::Or(terms) => {
                for term in terms {
                    if self.holds(term, false)? {
                        return Ok(true);
                    }
                }
                false
            }
            Condition::Unary(operator, word) => {
                let operand = self.expand_string(word)?;
                self.trace_term(negated, || format!("-{} {}", char::from(*operator), shown_term(&operand)))?;
                test::unary(self, *operator, &operand)?
            }
            Condition::Binary(comparison, left, right) => self.compare(*comparison, left, right, negated)?,
        })
    }

    fn compare(&mut self, comparison: Comparison, left: &Word, right: &Word, negated: bool) -> Result<bool, Wrong> {
        let left = self.expand_string(left)?;
        let shown = crate::syntax::comparison_text(comparison);
        match comparison {
            Comparison::Match | Comparison::Equal | Comparison::NotMatch => {
                let matches = match right.literal() {
                    Some(text) if !self.options.shopt(Shopt::NOCASEMATCH) => {
                        self.trace_term(negated, || format!("{left} {shown} {text}"))?;
                        left == text
                    }
                    _ => {
                        let text = self.expand_pattern(right)?;
                        self.trace_term(negated, || format!("{left} {shown} {text}"))?;
                        let fold = self.options.shopt(Shopt::NOCASEMATCH);
                        // Here extended patterns are always on.
                        crate::pattern::Pattern::new(&text, true, fold).matches(&left)
                    }
                };
                Ok(matches == (comparison != Comparison::NotMatch))
            }
            Comparison::Regex => self.regex_matches(&left, right, negated),
            Comparison::Before | Comparison::After => {
                let right = self.expand_string(right)?;
                self.trace_term(negated, || format!("{left} {shown} {right}"))?;
                Ok(if comparison == Comparison::Before { left < right } else { left > right })
            }
            Comparison::Newer | Comparison::Older | Comparison::SameFile => {
                let right = self.expand_string(right)?;
                self.trace_term(negated, || format!("{left} {shown} {right}"))?;
                Ok(test::compare_files(self, comparison, &left, &right))
            }
            numeric => {
                // Both sides are expressions, unlike in `test`.
                let right = self.expand_string(right)?;
                self.trace_term(negated, || format!("{left} {shown} {right}"))?;
                let (left, right) = (self.operand(&left)?, self.operand(&right)?);
                Ok(test::compare_numbers(numeric, left, right))
            }
        }
    }

    /// A wrong expression makes the condition false, and the line goes on.
    fn operand(&mut self, text: &str) -> Result<i64, Wrong> {
        match self.evaluate_for("[[", text) {
            Err(Stop::Discard) => Err(Wrong::Status(1)),
            other => Ok(other?),
        }
    }

    /// `=~`, which leaves the match and its groups in BASH_REMATCH.
    fn regex_matches(&mut self, text: &str, word: &Word, negated: bool) -> Result<bool, Wrong> {
        let source = self.expand_regex(word)?;
        self.trace_term(negated, || format!("{text} =~ {source}"))?;
        let fold = self.options.shopt(Shopt::NOCASEMATCH);
        let Ok(regex) = Regex::new(&source, fold) else {
            // bash says nothing either: the status is all.
            return Err(Wrong::Status(2));
        };
        let groups = regex.captures(text);
        let elements: BTreeMap<i64, String> = groups
            .iter()
            .flatten()
            .enumerate()
            .map(|(i, group)| (i as i64, group.map(|(start, end)| text[start..end].to_owned()).unwrap_or_default()))
            .collect();
        *self.variables.slot("BASH_REMATCH") =
            Variable { value: Value::Indexed(elements), attributes: Attributes::default() };
        Ok(groups.is_some())
    }
}

/// An operand in a trace, where one that is empty could not be seen.
fn shown_term(text: &str) -> &str {
    if text.is_empty() { "''" } else { text }
}

/// Why a condition has no answer.
enum Wrong {
    Status(u8),
    Stop(Stop),
}

impl From<Stop> for Wrong {
    fn from(stop: Stop) -> Wrong {
        Wrong::Stop(stop)
    }
}
