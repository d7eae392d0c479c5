//! The specifications of `complete`.

use serde::{Deserialize, Serialize};

/// The completion of a command's arguments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Specification {
    /// `-o`, by name.
    pub options: Vec<String>,
    /// `-A` and its letters, by name.
    pub actions: Vec<String>,
    /// `-G`
    pub glob: Option<String>,
    /// `-W`
    pub words: Option<String>,
    /// `-P`
    pub prefix: Option<String>,
    /// `-S`
    pub suffix: Option<String>,
    /// `-X`
    pub filter: Option<String>,
    /// `-C`
    pub command: Option<String>,
    /// `-F`
    pub function: Option<String>,
}

/// The values of `-o`, in the order in which they are shown.
pub const OPTIONS: [&str; 8] =
    ["bashdefault", "default", "dirnames", "filenames", "noquote", "nosort", "nospace", "plusdirs"];

/// The values of `-A` with the equivalent letters, in the order in which they are shown.
pub const ACTIONS: [(&str, Option<u8>); 24] = [
    ("alias", Some(b'a')),
    ("builtin", Some(b'b')),
    ("command", Some(b'c')),
    ("directory", Some(b'd')),
    ("export", Some(b'e')),
    ("file", Some(b'f')),
    ("group", Some(b'g')),
    ("job", Some(b'j')),
    ("keyword", Some(b'k')),
    ("service", Some(b's')),
    ("user", Some(b'u')),
    ("variable", Some(b'v')),
    ("arrayvar", None),
    ("binding", None),
    ("disabled", None),
    ("enabled", None),
    ("function", None),
    ("helptopic", None),
    ("hostname", None),
    ("running", None),
    ("setopt", None),
    ("shopt", None),
    ("signal", None),
    ("stopped", None),
];

impl Specification {
    /// Returns the options of `complete` that make this specification.
    pub fn text(&self) -> String {
        use crate::quote::single;
        let mut out = String::new();
        for option in OPTIONS.iter().filter(|option| self.has(option)) {
            out += &format!(" -o {option}");
        }
        for (name, letter) in ACTIONS.iter().filter(|(name, _)| self.actions.iter().any(|a| a == name)) {
            out += &match letter {
                Some(letter) => format!(" -{}", char::from(*letter)),
                None => format!(" -A {name}"),
            };
        }
        let values = [
            ('G', &self.glob),
            ('W', &self.words),
            ('P', &self.prefix),
            ('S', &self.suffix),
            ('X', &self.filter),
            ('C', &self.command),
        ];
        for (letter, value) in values {
            out.extend(value.iter().map(|value| format!(" -{letter} {}", single(value))));
        }
        out.extend(self.function.iter().map(|function| format!(" -F {function}")));
        out
    }

    /// Returns true if `-o` was given with this name.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|o| o == option)
    }
}
