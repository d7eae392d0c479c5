//! Reading variables and parameters.

use std::borrow::Cow;

use isopod_sys::process;

use super::variable::{Attributes, Value, Variable};
use super::{Shell, TargetName};

/// Limit on chains of name references; bash warns of a circle at the same depth.
const REFERENCE_LIMIT: u32 = 8;

impl Shell {
    /// Returns the variable with this name. Name references are followed, and computed variables computed.
    #[inline]
    pub fn variable(&self, name: &str) -> Option<Cow<'_, Variable>> {
        match self.variables.get(name) {
            Some(variable) if !variable.is(Attributes::NAMEREF) => Some(Cow::Borrowed(variable)),
            Some(_) => {
                let (target, index) = self.resolve(name)?;
                let variable = match self.variables.get(&target) {
                    Some(variable) => Cow::Borrowed(variable),
                    None => Cow::Owned(self.special(&target)?),
                };
                match index {
                    None => Some(variable),
                    Some(index) => element(&variable, &index).map(|text| Cow::Owned(Variable::scalar(text))),
                }
            }
            None => self.special(name).map(Cow::Owned),
        }
    }

    /// Follows name references. Returns the target variable, and the subscript if the last reference has one. `None`
    /// for a reference without a target, or for a circle.
    pub fn resolve(&self, name: &str) -> Option<(String, Option<String>)> {
        let mut name = name.to_owned();
        for _ in 0..REFERENCE_LIMIT {
            match self.variables.get(&name) {
                Some(variable) if variable.is(Attributes::NAMEREF) => {
                    let target = variable.text().filter(|t| !t.is_empty())?;
                    match TargetName::parse(target) {
                        Some(TargetName { name, subscript: Some(subscript) }) => {
                            return Some((name.to_owned(), Some(subscript.to_owned())));
                        }
                        _ => name = target.to_owned(),
                    }
                }
                _ => return Some((name, None)),
            }
        }
        None
    }

    /// Returns true for a name reference.
    #[inline]
    pub fn is_reference(&self, name: &str) -> bool {
        self.variables.get(name).is_some_and(|v| v.is(Attributes::NAMEREF))
    }

    /// Returns the string value of a variable.
    pub fn text_of(&self, name: &str) -> Option<String> {
        match self.variable(name)? {
            Cow::Borrowed(variable) => variable.text().map(str::to_owned),
            Cow::Owned(variable) => variable.text().map(str::to_owned),
        }
    }

    /// Returns the first character of IFS, which joins `"$*"`.
    pub fn joiner(&self) -> String {
        match self.variables.get("IFS").and_then(Variable::text) {
            None => " ".to_owned(),
            Some(ifs) => ifs.chars().next().map(String::from).unwrap_or_default(),
        }
    }

    /// Returns true if LC_ALL, LC_CTYPE or LANG sets the locale `C`, in which characters are bytes. The default is
    /// UTF-8.
    pub fn has_byte_locale(&self) -> bool {
        let mut settings = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
        let said = settings.find_map(|name| self.variables.get(name)?.text().filter(|text| !text.is_empty()));
        matches!(said, Some("C" | "POSIX"))
    }

    /// Returns `$$`.
    pub fn shell_pid(&self) -> u32 {
        if self.pid.get() == 0 {
            self.pid.set(process::id());
        }
        self.pid.get()
    }
}

/// Returns an element by the text of its subscript, without arithmetic, for subscripts in name references.
fn element(variable: &Variable, index: &str) -> Option<String> {
    match &variable.value {
        Value::Associative(elements) => elements.get(index).map(str::to_owned),
        Value::Indexed(elements) => match index {
            "@" | "*" => Some(elements.values().cloned().collect::<Vec<_>>().join(" ")),
            _ => elements.get(&index.parse().ok()?).cloned(),
        },
        Value::Scalar(text) if index == "0" => Some(text.clone()),
        _ => None,
    }
}
