//! `alias`, `unalias`

use std::rc::Rc;

use super::options;
use crate::order::sort_texts;
use crate::quote;
use crate::state::{Shell, Stop};

pub(super) fn alias(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "p") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let rest = &arguments[given.rest..];
    if rest.is_empty() || given.has(b'p') {
        let mut names: Vec<String> = shell.aliases.keys().cloned().collect();
        sort_texts(&mut names);
        for name in names {
            let value = shell.aliases.get(&name).map(|v| quote::single(v)).unwrap_or_default();
            shell.print(&format!("alias {name}={value}\n"));
        }
    }
    let mut status = 0;
    for argument in rest {
        match argument.split_once('=') {
            Some((name, _))
                if name
                    .contains([' ', '\t', '\n', '/', '$', '`', '\'', '"', '\\', ';', '&', '|', '(', ')', '<', '>']) =>
            {
                shell.complain_as("alias", &format!("`{name}': invalid alias name"));
                status = 1;
            }
            Some((name, value)) if !name.is_empty() => {
                Rc::make_mut(&mut shell.aliases).insert(name.to_owned(), value.to_owned());
            }
            _ => match shell.aliases.get(argument).cloned() {
                Some(value) => shell.print(&format!("alias {argument}={}\n", quote::single(&value))),
                None => {
                    shell.complain_as("alias", &format!("{argument}: not found"));
                    status = 1;
                }
            },
        }
    }
    Ok(status)
}

pub(super) fn unalias(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "a") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    if given.has(b'a') {
        Rc::make_mut(&mut shell.aliases).clear();
        return Ok(0);
    }
    if given.rest == arguments.len() {
        shell.print_usage("unalias");
        return Ok(2);
    }
    let mut status = 0;
    for name in &arguments[given.rest..] {
        if Rc::make_mut(&mut shell.aliases).remove(name).is_none() {
            shell.complain_as("unalias", &format!("{name}: not found"));
            status = 1;
        }
    }
    Ok(status)
}
