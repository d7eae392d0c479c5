//! Reading a builtin's options.

use crate::state::Shell;

/// The options that were given, in order, and the index of the first operand.
pub(super) struct ParsedOptions {
    /// The letters with their values.
    pub(super) options: Vec<(u8, Option<String>)>,
    /// The index of the first argument that is not an option.
    pub(super) rest: usize,
}

impl ParsedOptions {
    /// Returns true if the option was given.
    pub(super) fn has(&self, letter: u8) -> bool {
        self.options.iter().any(|(l, _)| *l == letter)
    }

    /// The value of an option; the last one if it was given twice.
    pub(super) fn value(&self, letter: u8) -> Option<&str> {
        self.options.iter().rev().find(|(l, _)| *l == letter).and_then(|(_, v)| v.as_deref())
    }
}

/// Reads options as getopt does: `spec` has the letters, each followed by a colon if it takes a value. An unknown
/// option is reported; the error is the builtin's status.
pub(super) fn read(shell: &mut Shell, arguments: &[String], spec: &str) -> Result<ParsedOptions, u8> {
    let mut given = ParsedOptions { options: Vec::new(), rest: 1 };
    while let Some(argument) = arguments.get(given.rest) {
        if argument == "--" {
            given.rest += 1;
            break;
        }
        let Some(letters) = argument.strip_prefix('-').filter(|l| !l.is_empty()) else { break };
        given.rest += 1;
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            let known = spec.find(letter).filter(|_| letter != ':' && letter.is_ascii());
            let Some(at) = known else {
                return Err(shell.reject_option(&arguments[0], &format!("-{letter}")));
            };
            let mut value = None;
            if spec[at + 1..].starts_with(':') {
                let attached = letters.as_str();
                value = match attached.is_empty() {
                    false => Some(attached.to_owned()),
                    true => {
                        given.rest += 1;
                        arguments.get(given.rest - 1).cloned()
                    }
                };
                if value.is_none() {
                    shell.complain_as(&arguments[0], &format!("-{letter}: option requires an argument"));
                    shell.print_usage(&arguments[0]);
                    return Err(2);
                }
                given.options.push((letter as u8, value));
                break;
            }
            given.options.push((letter as u8, value));
        }
    }
    Ok(given)
}
