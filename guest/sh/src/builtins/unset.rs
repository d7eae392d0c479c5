//! `unset`

use std::rc::Rc;

use super::options;
use crate::state::variable::{Attributes, Variable};
use crate::state::{Shell, Stop};
use crate::syntax::{is_name, name_length};

pub(super) fn unset(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "fvn") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    if given.has(b'f') && given.has(b'v') {
        shell.complain_as("unset", "cannot simultaneously unset a function and a variable");
        return Ok(1);
    }
    let mut status = 0;
    for name in &arguments[given.rest..] {
        if given.has(b'f') {
            status |= unset_function(shell, name);
            continue;
        }
        let is_variable = shell.variable(name).is_some() || shell.variables.get(name).is_some();
        // What cannot be a variable may be a function, even if it is none.
        let valid = is_name(name) || name.ends_with(']');
        let other = shell.functions.contains_key(name.as_str()) || !valid;
        if !given.has(b'v') && !is_variable && other {
            status |= unset_function(shell, name);
            continue;
        }
        status |= match unset_variable(shell, name, given.has(b'n')) {
            Err(Stop::Discard) => 1,
            other => other?,
        };
    }
    Ok(status)
}

fn unset_function(shell: &mut Shell, name: &str) -> u8 {
    if shell.functions.get(name).is_some_and(|d| d.readonly.get()) {
        shell.complain_as("unset", &format!("{name}: cannot unset: readonly function"));
        return 1;
    }
    Rc::make_mut(&mut shell.functions).remove(name);
    shell.generation += 1;
    0
}

fn unset_variable(shell: &mut Shell, argument: &str, reference: bool) -> Result<u8, Stop> {
    let length = name_length(argument.as_bytes());
    let subscripted = argument[length..].starts_with('[') && argument.ends_with(']');
    if length == 0 || !(is_name(argument) || subscripted) {
        shell.complain_as("unset", &format!("`{argument}': not a valid identifier"));
        return Ok(1);
    }
    let mut name = argument[..length].to_owned();
    let mut subscript = argument[length..].strip_prefix('[').map(|s| s.trim_end_matches(']').to_owned());
    if !reference
        && shell.is_reference(&name)
        && let Some((target, index)) = shell.resolve(&name)
    {
        name = target;
        subscript = subscript.or(index);
    }
    if shell.variable(&name).is_some_and(|v| v.is(Attributes::READONLY)) {
        shell.complain_as("unset", &format!("{name}: cannot unset: readonly variable"));
        return Ok(1);
    }
    match subscript {
        Some(all) if matches!(all.as_str(), "@" | "*") => shell.variables.unset(&name),
        Some(subscript) => {
            let word = crate::syntax::subscript_word(&subscript);
            let subscript = shell.expand_string(&word)?;
            let key = shell.key_of(&name, &subscript)?;
            shell.unset_element(&name, key)?;
        }
        None => {
            shell.variables.unset(&name);
            if shell.variables.get(&name).is_none() && shell.variable(&name).is_some() {
                // It computes nothing any more.
                let mut plain = Variable::default();
                plain.attributes.insert(Attributes::PLAIN);
                *shell.variables.slot(&name) = plain;
            }
        }
    }
    Ok(0)
}
