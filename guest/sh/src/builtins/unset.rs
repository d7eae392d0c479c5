//! `unset`

use std::rc::Rc;

use super::options;
use crate::state::variable::{Attributes, Variable};
use crate::state::{Shell, Stop, TargetName};
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
        // An argument that is not a variable's name is taken for a function's, whether or not there is one.
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
    let Some(target) = TargetName::parse(argument) else {
        // bash takes `a[]` for an element that does not exist.
        let length = name_length(argument.as_bytes());
        let named = length > 0 && argument[length..].starts_with('[') && argument.ends_with(']');
        return if named { Ok(0) } else { Err(shell.refuse_name("unset", argument)) };
    };
    let mut name = target.name.to_owned();
    let mut subscript = target.subscript.map(str::to_owned);
    if !reference
        && shell.is_reference(&name)
        && let Some((target, index)) = shell.resolve(&name)
    {
        name = target;
        // An element of an element is the element.
        subscript = index.or(subscript);
    }
    if shell.variable(&name).is_some_and(|v| v.is(Attributes::READONLY)) {
        shell.complain_as("unset", &format!("{name}: cannot unset: readonly variable"));
        return Ok(1);
    }
    let is_associative = shell.variable(&name).is_some_and(|v| v.is_associative());
    match subscript {
        Some(all) if matches!(all.as_str(), "@" | "*") && !is_associative => shell.variables.unset(&name),
        Some(subscript) => {
            let key = shell.key_of(&name, &subscript)?;
            shell.unset_element(&name, key)?;
        }
        None => {
            shell.variables.unset(&name);
            if shell.variables.get(&name).is_none() && shell.variable(&name).is_some() {
                // The variable is no longer computed.
                let mut plain = Variable::default();
                plain.attributes.insert(Attributes::PLAIN);
                *shell.variables.slot(&name) = plain;
            }
        }
    }
    Ok(0)
}
