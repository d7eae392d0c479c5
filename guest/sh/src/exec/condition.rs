//! `[[ … ]]`

use std::collections::BTreeMap;

use crate::builtins::test;
use crate::state::options::Shopt;
use crate::state::variable::{Attributes, Value, Variable};
use crate::state::{Shell, Stop};
use crate::syntax::tree::{Comparison, Condition, Word};

impl Shell {
    /// Evaluates a condition and returns its status.
    pub(super) fn condition_status(&mut self, condition: &Condition) -> Result<u8, Stop> {
        match self.holds(condition, false) {
            Ok(holds) => Ok(u8::from(!holds)),
            Err(ConditionError::Status(status)) => Ok(status),
            Err(ConditionError::Stop(stop)) => Err(stop),
        }
    }

    fn holds(&mut self, condition: &Condition, negated: bool) -> Result<bool, ConditionError> {
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

    fn compare(
        &mut self,
        comparison: Comparison,
        left: &Word,
        right: &Word,
        negated: bool,
    ) -> Result<bool, ConditionError> {
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
                        // Extended patterns are always on here.
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

    /// Evaluates a numeric operand. A wrong expression makes the condition false, and the line goes on.
    fn operand(&mut self, text: &str) -> Result<i64, ConditionError> {
        match self.evaluate_for("[[", text) {
            Err(Stop::Discard) => Err(ConditionError::Status(1)),
            other => Ok(other?),
        }
    }

    /// `=~`: stores the match and its groups in BASH_REMATCH.
    fn regex_matches(&mut self, text: &str, word: &Word, negated: bool) -> Result<bool, ConditionError> {
        let source = self.expand_regex(word)?;
        self.trace_term(negated, || format!("{text} =~ {source}"))?;
        let fold = self.options.shopt(Shopt::NOCASEMATCH);
        let Ok(regex) = self.regexes.get(&source, fold) else {
            // bash prints nothing either: the status is all.
            return Err(ConditionError::Status(2));
        };
        let groups = regex.captures(text);
        if regex.gave_up() {
            self.complain_as("[[", &format!("{source}: the search for a match took too long"));
            return Err(ConditionError::Status(2));
        }
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

/// Returns an operand as a trace shows it: an empty one is shown in quotes.
fn shown_term(text: &str) -> &str {
    if text.is_empty() { "''" } else { text }
}

/// The reason why a condition has no result.
enum ConditionError {
    Status(u8),
    Stop(Stop),
}

impl From<Stop> for ConditionError {
    fn from(stop: Stop) -> ConditionError {
        ConditionError::Stop(stop)
    }
}
