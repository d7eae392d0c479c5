//! The variable or element that an argument of a builtin names.
//!
//! `read 'a[k]'`, `printf -v`, `mapfile`, `wait -p`, `unset`, `test -v` and `{fd}>file` get names as text. All of them
//! come through here, because the order matters: a name reference is followed first, and the array that it leads to
//! decides whether the subscript is a key or an expression.

use super::variable::{Attributes, Value};
use super::{Key, Shell, Stop};
use crate::state::options::Shopt;
use crate::syntax::name_length;

/// `name` or `name[subscript]`. Only the form has been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetName<'a> {
    /// The name before the bracket. It may be a name reference.
    pub name: &'a str,
    /// The text in brackets, not expanded yet.
    pub subscript: Option<&'a str>,
}

impl<'a> TargetName<'a> {
    /// Reads the whole text as a name. Returns `None` for anything else, such as an empty subscript.
    pub fn parse(text: &'a str) -> Option<TargetName<'a>> {
        let (name, rest) = text.split_at(name_length(text.as_bytes()));
        match rest {
            _ if name.is_empty() => None,
            "" => Some(TargetName { name, subscript: None }),
            _ => {
                let inner = rest.strip_prefix('[')?;
                let subscript = inner.strip_suffix(']')?;
                let closed = closing_bracket(inner.as_bytes()) == Some(subscript.len());
                (closed && !subscript.is_empty()).then_some(TargetName { name, subscript: Some(subscript) })
            }
        }
    }
}

/// The position of the bracket that ends a subscript, past inner brackets and quotes.
fn closing_bracket(text: &[u8]) -> Option<usize> {
    let mut depth = 1;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\'' => at += 1 + text[at + 1..].iter().position(|b| *b == b'\'')?,
            b'"' => {
                at += 1;
                while *text.get(at)? != b'"' {
                    at += 1 + usize::from(text[at] == b'\\');
                }
            }
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}

impl Shell {
    /// Assigns to the variable or element that an argument of a builtin names.
    pub fn assign_target(&mut self, builtin: &str, target: TargetName<'_>, value: String) -> Result<(), Stop> {
        let Some(subscript) = target.subscript else { return self.assign(target.name, value) };
        let name = self.array_name(builtin, target.name)?;
        let key = self.key_of(&name, subscript)?;
        self.assign_element(&name, Some(key), value, false)
    }

    /// Follows a name to the variable whose elements are assigned. It fails for a reference to an element, and for one
    /// without a target.
    pub fn array_name(&mut self, builtin: &str, name: &str) -> Result<String, Stop> {
        if !self.is_reference(name) {
            return Ok(name.to_owned());
        }
        match self.resolve(name) {
            Some((target, None)) => Ok(target),
            Some((target, Some(index))) => Err(self.refuse_name(builtin, &format!("{target}[{index}]"))),
            None if self.refers_to_nothing(name) => Err(self.refuse_name(builtin, "")),
            None => Err(self.refuse(&format!("warning: {name}: circular name reference"))),
        }
    }

    /// Follows a name to the variable that becomes an indexed array, for `read -a`, `mapfile` and `coproc`. A reference
    /// without a target becomes the array itself.
    pub fn indexed_array_name(&mut self, builtin: &str, name: &str) -> Result<String, Stop> {
        if self.is_reference(name) && self.refers_to_nothing(name) {
            self.drop_reference(name);
        }
        let target = self.array_name(builtin, name)?;
        let variable = self.variables.get(&target);
        if variable.is_some_and(|v| v.is(Attributes::READONLY)) {
            return Err(self.refuse(&format!("{target}: readonly variable")));
        }
        if matches!(variable.map(|v| &v.value), Some(Value::Associative(_))) {
            return Err(self.refuse(&format!("{builtin}: {name}: not an indexed array")));
        }
        if let Some(variable) = self.variables.get_mut(&target) {
            variable.attributes.remove(Attributes::UNASSIGNED);
        }
        Ok(target)
    }

    /// Returns the element that a subscript in an argument means for this variable. It is expanded like one in the
    /// source, although the argument itself was expanded before. So does bash, unless `assoc_expand_once` is set.
    pub fn key_of(&mut self, name: &str, subscript: &str) -> Result<Key, Stop> {
        let associative = matches!(self.variable(name).map(|v| v.is_associative()), Some(true));
        if associative && self.options.shopt(Shopt::ASSOC_EXPAND_ONCE) {
            return Ok(Key::Name(subscript.to_owned()));
        }
        if !associative && matches!(subscript, "@" | "*") {
            return Err(self.refuse(&format!("{name}[{subscript}]: bad array subscript")));
        }
        self.key_in_text(name, subscript)
    }

    /// Makes a name reference a plain variable, with the warning that bash gives.
    pub fn drop_reference(&mut self, name: &str) {
        self.complain(&format!("warning: {name}: removing nameref attribute"));
        let variable = self.variables.slot(name);
        variable.attributes.remove(Attributes::NAMEREF);
    }

    fn refers_to_nothing(&self, name: &str) -> bool {
        self.variables.get(name).is_some_and(|v| v.text().unwrap_or_default().is_empty())
    }

    /// Reports that an argument of a builtin is not a name, which fails the builtin.
    pub fn refuse_name(&mut self, builtin: &str, name: &str) -> Stop {
        let by = if builtin.is_empty() { "" } else { ": " };
        self.refuse(&format!("{builtin}{by}`{name}': not a valid identifier"))
    }
}

#[cfg(test)]
mod tests {
    use super::TargetName;

    #[test]
    fn a_target_is_a_name_and_at_most_one_subscript() {
        let parsed = |text| TargetName::parse(text).map(|t| (t.name, t.subscript));
        assert_eq!(parsed("a"), Some(("a", None)));
        assert_eq!(parsed("a[x y]"), Some(("a", Some("x y"))));
        assert_eq!(parsed("a[b[0]]"), Some(("a", Some("b[0]"))));
        assert_eq!(parsed("a[x']']"), Some(("a", Some("x']'"))));
        assert_eq!(parsed("a[\"]\"]"), Some(("a", Some("\"]\""))));
        assert_eq!(parsed("a[\\]]"), Some(("a", Some("\\]"))));
        for wrong in ["", "1a", "a[", "a[]", "a[1", "a[x]y", "a[x]y]", "a[']", "[1]", "a b", "a[\"]"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
