//! `type`, and what `command -v` shares with it

use isopod_sys::files::{self, Kind};

use super::options;
use crate::exec::find_program;
use crate::state::options::{SetOption, Shopt};
use crate::state::{Shell, Stop};
use crate::syntax;

const KEYWORDS: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}",
];

pub(super) fn type_builtin(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "afptP") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let mut status = 0;
    for name in &arguments[given.rest..] {
        let mut found = all_kinds(shell, name);
        if given.has(b'f') {
            found.retain(|k| !matches!(k, Meaning::Function));
        }
        if given.has(b'P') {
            found.retain(|k| matches!(k, Meaning::Program(_)));
        } else if given.has(b'p') {
            // The path is printed only if a program would run.
            match found.first() {
                Some(Meaning::Program(_)) => {}
                Some(_) => continue,
                None => {}
            }
        }
        if !given.has(b'a') {
            found.truncate(1);
        }
        if found.is_empty() {
            status = 1;
            if !given.has(b't') && !given.has(b'p') && !given.has(b'P') {
                shell.complain_as("type", &format!("{name}: not found"));
            }
            continue;
        }
        for meaning in found {
            let line = match (&meaning, given.has(b't')) {
                (meaning, true) => meaning.word().to_owned(),
                (Meaning::Program(path), _) if given.has(b'p') || given.has(b'P') => path.clone(),
                (meaning, _) => meaning.sentence(shell, name),
            };
            shell.print(&line);
            shell.print("\n");
        }
    }
    Ok(status)
}

/// For `command -v` and `-V`: prints a description of the command. Returns false if there is none.
pub(super) fn describe(shell: &mut Shell, name: &str, verbose: bool, builtin: &str) -> bool {
    let Some(meaning) = all_kinds(shell, name).into_iter().next() else {
        if verbose {
            shell.complain_as(builtin, &format!("{name}: not found"));
        }
        return false;
    };
    let line = match (verbose, &meaning) {
        (true, meaning) => meaning.sentence(shell, name),
        (false, Meaning::Program(path)) => path.clone(),
        (false, Meaning::Alias(value)) => format!("alias {name}={}", crate::quote::single(value)),
        (false, _) => name.to_owned(),
    };
    shell.print(&line);
    shell.print("\n");
    true
}

enum Meaning {
    Alias(String),
    Keyword,
    Function,
    Builtin,
    Program(String),
}

fn all_kinds(shell: &Shell, name: &str) -> Vec<Meaning> {
    let mut found = Vec::new();
    if shell.options.shopt(Shopt::EXPAND_ALIASES)
        && let Some(value) = shell.aliases.get(name)
    {
        found.push(Meaning::Alias(value.clone()));
    }
    if KEYWORDS.contains(&name) {
        found.push(Meaning::Keyword);
    }
    if shell.functions.contains_key(name) {
        found.push(Meaning::Function);
    }
    if shell.find_builtin(name).is_some() {
        found.push(Meaning::Builtin);
    }
    if name.contains('/') {
        if files::stat(name, true).is_ok_and(|a| a.kind == Kind::File && a.mode & 0o111 != 0) {
            found.push(Meaning::Program(name.to_owned()));
        }
    } else if let Some(path) = shell.text_of("PATH") {
        found.extend(find_program(name, &path).into_iter().map(Meaning::Program));
    }
    found
}

impl Meaning {
    fn word(&self) -> &'static str {
        match self {
            Meaning::Alias(_) => "alias",
            Meaning::Keyword => "keyword",
            Meaning::Function => "function",
            Meaning::Builtin => "builtin",
            Meaning::Program(_) => "file",
        }
    }

    fn sentence(&self, shell: &Shell, name: &str) -> String {
        match self {
            Meaning::Alias(value) => format!("{name} is aliased to `{value}'"),
            Meaning::Keyword => format!("{name} is a shell keyword"),
            Meaning::Builtin if shell.options.has(SetOption::POSIX) && super::is_special(name) => {
                format!("{name} is a special shell builtin")
            }
            Meaning::Builtin => format!("{name} is a shell builtin"),
            Meaning::Program(path) => format!("{name} is {path}"),
            Meaning::Function => {
                let text = shell.functions.get(name).map(|d| syntax::function_text(&d.function)).unwrap_or_default();
                format!("{name} is a function\n{text}")
            }
        }
    }
}
