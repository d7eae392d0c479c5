//! `compgen`, as far as scripts use it: lists of names

use super::options;
use crate::expand::glob_paths;
use crate::state::{Shell, Stop};

pub(super) fn compgen(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "abcdefgjksuvA:W:P:S:X:o:G:F:C:") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    if [b'X', b'G', b'F', b'C', b'g', b'j', b's', b'u'].iter().any(|l| given.has(*l)) {
        shell.complain_as("compgen", "only -abcdefkvAWPS are supported");
        return Ok(2);
    }
    let prefix = arguments.get(given.rest).cloned().unwrap_or_default();
    let mut words = Vec::new();
    for (letter, value) in &given.options {
        let action = match (letter, value.as_deref()) {
            (b'a', _) => "alias",
            (b'b', _) => "builtin",
            (b'c', _) => "command",
            (b'd', _) => "directory",
            (b'e', _) => "export",
            (b'f', _) => "file",
            (b'k', _) => "keyword",
            (b'v', _) => "variable",
            (b'A', Some(action)) => action,
            (b'W', Some(list)) => {
                words.extend(crate::expand::split_fields(list, shell));
                continue;
            }
            _ => continue,
        };
        if !add(shell, action, &prefix, &mut words) {
            shell.complain_as("compgen", &format!("{action}: invalid action name"));
            return Ok(2);
        }
    }
    words.retain(|w| w.starts_with(&prefix));
    let (before, after) = (given.value(b'P').unwrap_or_default(), given.value(b'S').unwrap_or_default());
    for word in &words {
        shell.print(&format!("{before}{word}{after}\n"));
    }
    Ok(u8::from(words.is_empty()))
}

fn add(shell: &Shell, action: &str, prefix: &str, words: &mut Vec<String>) -> bool {
    let sorted = |mut list: Vec<String>| {
        crate::order::sort_texts(&mut list);
        list
    };
    match action {
        "alias" => words.extend(sorted(shell.aliases.keys().cloned().collect())),
        "builtin" => words.extend(super::names().map(str::to_owned)),
        "function" => words.extend(sorted(shell.functions.keys().map(|k| k.to_string()).collect())),
        "variable" => words.extend(shell.names_with(prefix)),
        "export" => words.extend(sorted(shell.variables.exported().map(|(name, _)| name.to_owned()).collect())),
        "keyword" => words.extend(
            [
                "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done",
                "in", "function", "time", "{", "}", "!", "[[", "]]", "coproc",
            ]
            .map(str::to_owned),
        ),
        "command" => {
            for action in ["alias", "keyword", "function", "builtin"] {
                add(shell, action, prefix, words);
            }
            let path = shell.text_of("PATH").unwrap_or_default();
            for directory in path.split(':') {
                words.extend(isopod_sys::files::read_dir(directory).unwrap_or_default());
            }
        }
        "file" | "directory" => {
            let mut pattern = String::new();
            crate::pattern::quote(prefix, &mut pattern);
            let found = glob_paths(&format!("{pattern}*"), &shell.options, false);
            words.extend(found.into_iter().filter(|path| {
                action == "file"
                    || isopod_sys::files::stat(path, true).is_ok_and(|a| a.kind == isopod_sys::files::Kind::Directory)
            }));
        }
        _ => return false,
    }
    true
}
