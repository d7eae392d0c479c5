//! `compgen`: the words that a completion would offer

use super::complete::{LETTERS, specification};
use super::options;
use crate::expand::glob_paths;
use crate::pattern::Pattern;
use crate::quote;
use crate::state::completions::Specification;
use crate::state::options::{SetOption, Shopt};
use crate::state::traps::signal_name;
use crate::state::variable::Variable;
use crate::state::{Shell, Stop};
use isopod_sys::files;

pub(super) fn compgen(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, LETTERS) {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let asked = match specification(shell, "compgen", &given) {
        Ok(asked) => asked,
        Err(status) => return Ok(status),
    };
    let typed = arguments.get(given.rest).cloned().unwrap_or_default();
    let mut words = Vec::new();
    for action in &asked.actions {
        if !add(shell, action, &typed, &mut words) {
            shell.complain_as("compgen", &format!("{action}: not supported: there is no such list here"));
            return Ok(2);
        }
    }
    if let Some(pattern) = &asked.glob {
        words.extend(glob_paths(pattern, &shell.options, false));
    }
    if let Some(list) = &asked.words {
        let Some(list) = expanded(shell, list)? else { return Ok(1) };
        words.extend(list);
    }
    words.retain(|word| word.starts_with(&typed));
    // Words of a function or a command are not filtered by the typed text.
    if let Some(function) = &asked.function {
        words.extend(from_function(shell, function, &typed)?);
    }
    if let Some(command) = &asked.command {
        words.extend(from_command(shell, command, &typed)?);
    }
    finish(shell, &asked, &typed, words)
}

/// Applies `-X`, the options of `-o`, prefix and suffix, and prints the words.
fn finish(shell: &mut Shell, asked: &Specification, typed: &str, mut words: Vec<String>) -> Result<u8, Stop> {
    if let Some(filter) = &asked.filter {
        let (filter, keeps) = match filter.strip_prefix('!') {
            Some(rest) => (rest, true),
            None => (filter.as_str(), false),
        };
        // `&` stands for the typed text, unless a backslash precedes it.
        let filter = filter.replace("\\&", "\0").replace('&', typed).replace('\0', "&");
        let pattern = Pattern::new(&filter, true, false);
        words.retain(|word| pattern.matches(word) == keeps);
    }
    for word in &mut words {
        *word = format!("{}{word}{}", asked.prefix.as_deref().unwrap_or(""), asked.suffix.as_deref().unwrap_or(""));
    }
    if asked.has("plusdirs") || (asked.has("dirnames") && words.is_empty()) {
        add(shell, "directory", typed, &mut words);
    }
    if words.is_empty() && (asked.has("default") || asked.has("bashdefault")) {
        add(shell, "file", typed, &mut words);
    }
    for word in &words {
        shell.print(&format!("{word}\n"));
    }
    Ok(u8::from(words.is_empty()))
}

/// Splits the words of `-W` at IFS and expands them like the elements of an array. Returns `None` if the expansion
/// fails.
fn expanded(shell: &mut Shell, list: &str) -> Result<Option<Vec<String>>, Stop> {
    let separators = shell.text_of("IFS").unwrap_or_else(|| " \t\n".to_owned());
    let mut text = String::from("(");
    let (mut quote, mut depth) = (None, 0u32);
    let mut chars = list.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote != Some('\'') => {
                text.push(c);
                text.extend(chars.next());
                continue;
            }
            '\'' | '"' | '`' if quote == Some(c) => quote = None,
            '\'' | '"' | '`' if quote.is_none() => quote = Some(c),
            '(' | '{' if quote.is_none() => depth += 1,
            ')' | '}' if quote.is_none() => depth = depth.saturating_sub(1),
            c if quote.is_none() && depth == 0 && separators.contains(c) => {
                text.push(' ');
                continue;
            }
            // A blank that is no separator is part of its word.
            ' ' | '\t' if quote.is_none() && depth == 0 => text.push('\\'),
            _ => {}
        }
        text.push(c);
    }
    text.push(')');
    let Some(elements) = crate::syntax::elements_of(&text) else {
        shell.complain_as("compgen", &format!("{list}: bad substitution"));
        return Ok(None);
    };
    let mut words = Vec::new();
    for element in &elements {
        match shell.expand_word(&element.word, &mut words) {
            Err(Stop::Discard) => return Ok(None),
            other => other?,
        }
    }
    Ok(Some(words))
}

/// Calls a function and returns the words that it leaves in COMPREPLY.
fn from_function(shell: &mut Shell, function: &str, typed: &str) -> Result<Vec<String>, Stop> {
    shell.complain_as("compgen", "warning: -F option may not work as you expect");
    if !shell.functions.contains_key(function) {
        shell.complain(&format!("completion: function `{function}' not found"));
        return Ok(Vec::new());
    }
    let names = ["COMP_LINE", "COMP_POINT", "COMP_CWORD", "COMPREPLY"];
    for (name, value) in names.into_iter().zip(["", "0", "-1"]) {
        *shell.variables.slot(name) = Variable::scalar(value);
    }
    shell.run_text(&format!("{function} compgen {} ''", quote::single(typed)), "compgen")?;
    let reply = match shell.variable("COMPREPLY").map(|v| v.into_owned().value) {
        Some(crate::state::variable::Value::Indexed(elements)) => elements.into_values().collect(),
        Some(crate::state::variable::Value::Scalar(text)) => vec![text],
        _ => Vec::new(),
    };
    names.into_iter().for_each(|name| shell.variables.unset(name));
    Ok(reply)
}

/// Runs a command and returns the lines that it prints.
fn from_command(shell: &mut Shell, command: &str, typed: &str) -> Result<Vec<String>, Stop> {
    let text = format!("{command} compgen {} ''", quote::single(typed));
    let Ok(Some(list)) = crate::syntax::Parser::new(text, shell.line).next_command() else { return Ok(Vec::new()) };
    let printed = shell.substitute(&std::rc::Rc::new(list))?;
    Ok(printed.lines().map(str::to_owned).collect())
}

/// Adds the names of an action. Returns false for an action whose names the shell does not keep.
fn add(shell: &Shell, action: &str, typed: &str, words: &mut Vec<String>) -> bool {
    let sorted = |mut list: Vec<String>| {
        crate::order::sort_texts(&mut list);
        list
    };
    let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
    match action {
        "alias" => words.extend(sorted(shell.aliases.keys().cloned().collect())),
        "arrayvar" => {
            let is_array = |name: &String| shell.variable(name).is_some_and(|v| v.is_array());
            words.extend(shell.names_with(typed).into_iter().filter(is_array));
        }
        "builtin" => words.extend(super::names().map(str::to_owned)),
        "disabled" => words.extend(sorted(shell.disabled.clone())),
        "enabled" => {
            words.extend(super::names().filter(|name| shell.find_builtin(name).is_some()).map(str::to_owned));
        }
        "function" => words.extend(sorted(shell.functions.keys().map(|k| k.to_string()).collect())),
        "helptopic" => words.extend(super::usage::topics().map(|(name, _)| name.to_owned())),
        "hostname" => words.extend(shell.text_of("HOSTNAME")),
        "job" | "running" => words.extend(shell.jobs.list.iter().map(|job| job.text.clone())),
        // There are no stopped jobs here.
        "stopped" => {}
        "setopt" => words.extend(owned(SetOption::all().map(SetOption::name).collect())),
        "shopt" => words.extend(owned(Shopt::all().map(Shopt::name).collect())),
        "signal" => words.extend((1..32).filter_map(signal_name).map(|name| format!("SIG{name}"))),
        "variable" => words.extend(shell.names_with(typed)),
        "export" => words.extend(sorted(shell.variables.exported().map(|(name, _)| name.to_owned()).collect())),
        "keyword" => words.extend(owned(vec![
            "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
            "function", "time", "{", "}", "!", "[[", "]]", "coproc",
        ])),
        "command" => {
            for action in ["alias", "keyword", "function", "builtin"] {
                add(shell, action, typed, words);
            }
            let path = shell.text_of("PATH").unwrap_or_default();
            for directory in path.split(':') {
                words.extend(files::read_dir(directory).unwrap_or_default());
            }
        }
        "file" | "directory" => {
            let mut pattern = String::new();
            crate::pattern::quote(typed, &mut pattern);
            let found = glob_paths(&format!("{pattern}*"), &shell.options, false);
            let is_directory = |path: &str| files::stat(path, true).is_ok_and(|a| a.kind == files::Kind::Directory);
            words.extend(found.into_iter().filter(|path| action == "file" || is_directory(path)));
        }
        _ => return false,
    }
    true
}
