//! Variables and functions written as commands: `declare -p`, `set`, `export -p`

use crate::order::sort_texts;
use crate::quote;
use crate::state::Shell;
use crate::state::variable::{Attributes, Value, Variable};

/// Writes the value of an array as in an assignment: `([0]="a" [1]="b")`.
pub fn array_text(variable: &Variable) -> String {
    let items: Vec<String> = match &variable.value {
        Value::Indexed(elements) => elements.iter().map(|(i, v)| format!("[{i}]={}", quote::double(v))).collect(),
        Value::Associative(elements) => {
            let shown = elements.sorted().into_iter().map(|(k, v)| format!("[{}]={} ", key(k), quote::double(v)));
            return format!("({})", shown.collect::<String>());
        }
        _ => Vec::new(),
    };
    format!("({})", items.join(" "))
}

/// Quotes a key of an associative array if necessary.
fn key(text: &str) -> String {
    let plain = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-./:+,%=".contains(c));
    if plain { text.to_owned() } else { quote::double(text) }
}

/// Returns the line that `declare -p` prints for a variable.
pub(super) fn declaration(name: &str, variable: &Variable) -> String {
    let letters = variable.letters();
    let flags = if letters.is_empty() { "-" } else { &letters };
    match &variable.value {
        Value::Unset => format!("declare -{flags} {name}"),
        _ if variable.is(Attributes::UNASSIGNED) => format!("declare -{flags} {name}"),
        Value::Scalar(text) => format!("declare -{flags} {name}={}", quote::double(text)),
        _ => format!("declare -{flags} {name}={}", array_text(variable)),
    }
}

/// Computed variables that `set` does not list.
const MOVING: [&str; 11] = [
    "BASHPID",
    "BASH_ARGV0",
    "BASH_COMMAND",
    "BASH_SUBSHELL",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "FUNCNAME",
    "LINENO",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
];

impl Shell {
    /// Prints the lines of `set`: all variables as assignments.
    pub(super) fn print_assignments(&mut self) {
        let mut lines = Vec::new();
        let names: Vec<String> = self.names_with("");
        // Variables with a new value at each read would make no two listings alike.
        let moving = |name: &String| self.variables.get(name).is_none() && MOVING.contains(&name.as_str());
        for name in names.into_iter().filter(|name| !moving(name)) {
            // A name reference is shown itself, not its target.
            let own = self.variables.get(&name).map(std::borrow::Cow::Borrowed);
            let Some(variable) = own.or_else(|| self.variable(&name)) else { continue };
            match &variable.value {
                Value::Unset => {}
                Value::Scalar(text) if text.is_empty() => lines.push(format!("{name}=\n")),
                Value::Scalar(text) => lines.push(format!("{name}={}\n", quote::if_needed(text))),
                _ => lines.push(format!("{name}={}\n", array_text(&variable))),
            }
        }
        for line in lines {
            self.print(&line);
        }
    }

    /// Prints the functions by name. `names` leaves out their bodies.
    pub(super) fn print_functions(&mut self, names: bool) {
        let mut all: Vec<String> = self.functions.keys().map(|name| name.to_string()).collect();
        sort_texts(&mut all);
        for name in all {
            let Some(definition) = self.functions.get(name.as_str()).cloned() else { continue };
            let text = match names {
                true => format!("declare -f {name}\n"),
                false => crate::syntax::function_text(&definition.function) + "\n",
            };
            self.print(&text);
        }
    }
}
