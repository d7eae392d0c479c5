//! `export`, `readonly`

use super::declare::{DeclareRequest, declare_argument};
use super::listing;
use crate::exec::Arguments;
use crate::state::options::SetOption;
use crate::state::variable::Attributes;
use crate::state::{Shell, Stop};

pub(super) fn export(shell: &mut Shell, arguments: &Arguments) -> Result<u8, Stop> {
    mark(shell, arguments, "export", Attributes::EXPORT)
}

pub(super) fn readonly(shell: &mut Shell, arguments: &Arguments) -> Result<u8, Stop> {
    mark(shell, arguments, "readonly", Attributes::READONLY)
}

fn mark(shell: &mut Shell, arguments: &Arguments, builtin: &'static str, attribute: Attributes) -> Result<u8, Stop> {
    let (mut print, mut functions, mut remove) = (false, false, false);
    let mut first = 1;
    let mut request = DeclareRequest { builtin, ..DeclareRequest::default() };
    while let Some(argument) = arguments.list.get(first) {
        if argument == "--" {
            first += 1;
            break;
        }
        if !argument.starts_with('-') || argument.len() < 2 {
            break;
        }
        for letter in argument[1..].chars() {
            match (letter, builtin) {
                ('p', _) => print = true,
                ('f', _) => functions = true,
                ('n', "export") => remove = true,
                ('a', "readonly") => request.indexed = true,
                ('A', "readonly") => request.associative = true,
                (letter, _) => return Ok(shell.reject_option(builtin, &format!("-{letter}"))),
            }
        }
        first += 1;
    }
    if arguments.list.len() == first || print {
        print_all(shell, builtin, attribute, functions);
        return Ok(0);
    }
    match remove {
        true => request.clear = attribute,
        false => request.set = attribute,
    }
    let mut status = 0;
    for at in first..arguments.list.len() {
        if functions {
            let name = &arguments.list[at];
            match shell.functions.get(name.as_str()) {
                Some(definition) if attribute == Attributes::EXPORT => definition.exported.set(!remove),
                Some(definition) => definition.readonly.set(true),
                None => {
                    let message = format!("{name}: not a function");
                    shell.complain_as(builtin, &message);
                    status = 1;
                }
            }
            continue;
        }
        // An element of an array can be neither exported nor read-only.
        if let Some((name, _)) = arguments.list[at].split_once('=')
            && name.trim_end_matches('+').ends_with(']')
        {
            shell.complain_as(builtin, &format!("`{name}': not a valid identifier"));
            status = 1;
            continue;
        }
        // A variable that gets no value keeps its kind.
        let assigns = arguments.list[at].contains('=') || arguments.arrays.iter().any(|(i, _)| *i == at);
        let (indexed, associative) = (request.indexed && assigns, request.associative && assigns);
        let request = DeclareRequest { indexed, associative, ..request };
        status |= declare_argument(shell, arguments, at, &request)?;
    }
    Ok(status)
}

fn print_all(shell: &mut Shell, builtin: &str, attribute: Attributes, functions: bool) {
    if functions {
        return;
    }
    for name in shell.names_with("") {
        let Some(variable) = shell.variable(&name) else { continue };
        if variable.is(attribute) {
            let mut line = listing::declaration(&name, &variable) + "\n";
            // POSIX has no `declare`.
            if shell.options.has(SetOption::POSIX)
                && let Some((_, shown)) = line.split_once(&format!(" {name}"))
            {
                line = format!("{builtin} {name}{shown}");
            }
            drop(variable);
            shell.print(&line);
        }
    }
}
