//! Reading variables and parameters.

use std::borrow::Cow;

use isopod_sys::process;

use super::Shell;
use super::variable::{Attributes, Value, Variable};

/// Name references are followed this far; bash warns of a circle after as many.
const REFERENCE_LIMIT: u32 = 8;

impl Shell {
    /// The variable with this name: name references followed, computed ones computed.
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

    /// Follows name references: the variable meant, and the subscript if the reference has one. `None` for a
    /// reference that names nothing, or itself.
    pub fn resolve(&self, name: &str) -> Option<(String, Option<String>)> {
        let mut name = name.to_owned();
        for _ in 0..REFERENCE_LIMIT {
            match self.variables.get(&name) {
                Some(variable) if variable.is(Attributes::NAMEREF) => {
                    let target = variable.text().filter(|t| !t.is_empty())?;
                    if let Some((array, rest)) = target.split_once('[') {
                        return Some((array.to_owned(), Some(rest.trim_end_matches(']').to_owned())));
                    }
                    name = target.to_owned();
                }
                _ => return Some((name, None)),
            }
        }
        None
    }

    /// Whether this is a name reference.
    #[inline]
    pub fn is_reference(&self, name: &str) -> bool {
        self.variables.get(name).is_some_and(|v| v.is(Attributes::NAMEREF))
    }

    /// The string value of a variable.
    pub fn text_of(&self, name: &str) -> Option<String> {
        match self.variable(name)? {
            Cow::Borrowed(variable) => variable.text().map(str::to_owned),
            Cow::Owned(variable) => variable.text().map(str::to_owned),
        }
    }

    /// The first character of IFS, which joins `"$*"`.
    pub fn joiner(&self) -> String {
        match self.variables.get("IFS").and_then(Variable::text) {
            None => " ".to_owned(),
            Some(ifs) => ifs.chars().next().map(String::from).unwrap_or_default(),
        }
    }

    /// Whether characters are bytes, as LC_ALL, LC_CTYPE or LANG may say. Unsaid, text is UTF-8.
    pub fn has_byte_locale(&self) -> bool {
        let mut settings = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
        let said = settings.find_map(|name| self.variables.get(name)?.text().filter(|text| !text.is_empty()));
        matches!(said, Some("C" | "POSIX"))
    }

    /// `$$`
    pub fn shell_pid(&self) -> u32 {
        if self.pid.get() == 0 {
            self.pid.set(process::id());
        }
        self.pid.get()
    }
}

/// An element by the text of its subscript, without arithmetic: for subscripts in name references.
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
