//! `declare`, `typeset`, `local`

use super::listing;
use crate::exec::Arguments;
use crate::order::sort_texts;
use crate::state::associative::Associative;
use crate::state::options::{SetOption, Shopt};
use crate::state::variable::{Attributes, Value, Variable};
use crate::state::{Shell, Stop, into_indexed};
use crate::syntax::tree::{AssignedValue, Assignment};
use crate::syntax::{is_name, name_length};

/// The request that the options make.
#[derive(Default)]
pub(super) struct DeclareRequest {
    /// Attributes to set.
    pub(super) set: Attributes,
    /// Attributes to clear.
    pub(super) clear: Attributes,
    pub(super) indexed: bool,
    pub(super) associative: bool,
    pub(super) print: bool,
    pub(super) functions: bool,
    pub(super) names: bool,
    pub(super) global: bool,
    pub(super) inherit: bool,
    /// The variables are local to the running function.
    pub(super) local: bool,
    /// The builtin's name.
    pub(super) builtin: &'static str,
}

pub(super) fn declare(shell: &mut Shell, arguments: &Arguments) -> Result<u8, Stop> {
    let builtin = if arguments.list[0] == "typeset" { "typeset" } else { "declare" };
    let in_function = shell.variables.in_function();
    run(shell, arguments, DeclareRequest { builtin, local: in_function, ..DeclareRequest::default() })
}

pub(super) fn local(shell: &mut Shell, arguments: &Arguments) -> Result<u8, Stop> {
    if !shell.variables.in_function() {
        shell.complain_as("local", "can only be used in a function");
        return Ok(1);
    }
    run(shell, arguments, DeclareRequest { builtin: "local", local: true, ..DeclareRequest::default() })
}

fn run(shell: &mut Shell, arguments: &Arguments, mut request: DeclareRequest) -> Result<u8, Stop> {
    let first = match read_options(shell, &arguments.list, &mut request) {
        Ok(first) => first,
        Err(status) => return Ok(status),
    };
    if request.global {
        request.local = false;
    }
    if request.functions || request.names {
        return Ok(functions(shell, &arguments.list[first..], &request));
    }
    if arguments.list.len() == first {
        print_matching(shell, &request);
        return Ok(0);
    }
    let mut status = 0;
    for at in first..arguments.list.len() {
        if request.print && !arguments.arrays.iter().any(|(i, _)| *i == at) && !arguments.list[at].contains('=') {
            status |= print_one(shell, &arguments.list[at], &request);
            continue;
        }
        status |= declare_argument(shell, arguments, at, &request)?;
    }
    Ok(status)
}

/// Declares one argument, for `declare`, `local`, `export` and `readonly`.
pub(super) fn declare_argument(
    shell: &mut Shell,
    arguments: &Arguments,
    at: usize,
    request: &DeclareRequest,
) -> Result<u8, Stop> {
    let array = arguments.arrays.iter().find(|(i, _)| *i == at).map(|(_, a)| a.clone());
    let outer = std::mem::replace(&mut shell.evaluating, request.builtin);
    let result = declare_one(shell, &arguments.list[at], array.as_deref(), request);
    shell.evaluating = outer;
    match result {
        // The error was reported. The other arguments are declared, unless POSIX ends the shell.
        Err(Stop::Discard) if !(shell.options.has(SetOption::POSIX) && super::is_special(request.builtin)) => Ok(1),
        other => other,
    }
}

fn read_options(shell: &mut Shell, list: &[String], request: &mut DeclareRequest) -> Result<usize, u8> {
    let mut at = 1;
    while let Some(argument) = list.get(at) {
        let on = argument.starts_with('-');
        if argument == "--" {
            return Ok(at + 1);
        }
        if !(on || argument.starts_with('+')) || argument.len() < 2 {
            break;
        }
        for letter in argument[1..].chars() {
            let attribute = match letter {
                'a' => {
                    request.indexed = on;
                    continue;
                }
                'A' => {
                    request.associative = on;
                    continue;
                }
                'p' if on => {
                    request.print = true;
                    continue;
                }
                'f' if on => {
                    request.functions = true;
                    continue;
                }
                'F' if on => {
                    request.names = true;
                    continue;
                }
                'g' if on => {
                    request.global = true;
                    continue;
                }
                'I' if on => {
                    request.inherit = true;
                    continue;
                }
                'x' => Attributes::EXPORT,
                'r' => Attributes::READONLY,
                'i' => Attributes::INTEGER,
                'l' => Attributes::LOWER,
                'u' => Attributes::UPPER,
                'c' => Attributes::CAPITAL,
                'n' => Attributes::NAMEREF,
                't' => Attributes::TRACE,
                letter => {
                    let sign = if on { '-' } else { '+' };
                    return Err(shell.reject_option(request.builtin, &format!("{sign}{letter}")));
                }
            };
            match on {
                true => request.set.insert(attribute),
                false => request.clear.insert(attribute),
            }
        }
        at += 1;
    }
    Ok(at)
}

/// `name`, `name=value`, `name+=value`, `name[i]=value`
struct DeclarationArgument<'a> {
    name: &'a str,
    subscript: Option<&'a str>,
    append: bool,
    value: Option<&'a str>,
}

fn parse(argument: &str) -> Option<DeclarationArgument<'_>> {
    let length = name_length(argument.as_bytes());
    if length == 0 {
        return None;
    }
    let (name, mut rest) = argument.split_at(length);
    let mut subscript = None;
    if let Some(inner) = rest.strip_prefix('[') {
        let end = inner.find("]=").or_else(|| inner.find("]+=")).or_else(|| inner.strip_suffix(']').map(str::len))?;
        subscript = Some(&inner[..end]);
        rest = &inner[end + 1..];
    }
    let (append, value) = match rest {
        "" => (false, None),
        _ => match rest.strip_prefix("+=") {
            Some(value) => (true, Some(value)),
            None => (false, Some(rest.strip_prefix('=')?)),
        },
    };
    Some(DeclarationArgument { name, subscript, append, value })
}

fn declare_one(
    shell: &mut Shell,
    argument: &str,
    array: Option<&Assignment>,
    request: &DeclareRequest,
) -> Result<u8, Stop> {
    if request.builtin == "local" && argument == "-" {
        shell.save_options();
        return Ok(0);
    }
    let Some(parsed) = parse(argument) else {
        return Err(shell.refuse_name(request.builtin, argument));
    };
    let mut parsed = parsed;
    let mut name = parsed.name.to_owned();
    let mut element = None;
    // The declaration is about the variable that a reference leads to, unless `-n` makes it about the reference.
    let about_reference = request.set.has(Attributes::NAMEREF) || request.clear.has(Attributes::NAMEREF);
    // `local` is about the reference itself, unless that is a local one already.
    let follows = !request.local || shell.variables.is_local(&name);
    if !about_reference && follows && shell.is_reference(&name) {
        match shell.resolve(&name) {
            // As in bash: an element makes the reference an array.
            _ if parsed.subscript.is_some() && !request.global && !request.local => {
                shell.drop_reference(&name);
                shell.variables.slot(&name).value = Value::Unset;
            }
            Some((target, index)) => (name, element) = (target, index),
            None => {}
        }
    }
    parsed.subscript = parsed.subscript.or(element.as_deref());
    let refers_to = parsed.value.and_then(|target| target.split('[').next());
    if request.set.has(Attributes::NAMEREF) && refers_to == Some(name.as_str()) && !request.local {
        shell.complain_as(request.builtin, &format!("{name}: nameref variable self references not allowed"));
        return Ok(1);
    }
    if request.local {
        let hidden = shell.variables.get(&name).is_some_and(|v| v.is(Attributes::READONLY));
        if hidden && !shell.variables.is_local(&name) {
            shell.complain_as(request.builtin, &format!("{name}: readonly variable"));
            return Ok(1);
        }
        make_local(shell, &name, request);
    }
    let appends = parsed.append || array.is_some_and(|a| a.append);
    match request.global {
        true => declare_global(shell, &name, &parsed, array, request),
        false => declare_here(shell, &name, &parsed, appends, array, request),
    }
}

/// Makes a variable of the running function.
fn make_local(shell: &mut Shell, name: &str, request: &DeclareRequest) {
    let inherits = request.inherit || shell.options.shopt(Shopt::LOCALVAR_INHERIT);
    let outer = shell.variables.get(name).cloned();
    // A variable assigned for this call alone belongs to the function already.
    let for_call = shell.variables.is_for_call(name);
    if shell.variables.hide_in_function(name) != Some(true) {
        return;
    }
    let mut fresh = Variable::default();
    if let Some(outer) = outer {
        match inherits || for_call {
            true => fresh = outer,
            // An exported variable stays exported.
            false if outer.is(Attributes::EXPORT) => fresh.attributes.insert(Attributes::EXPORT),
            false => {}
        }
    }
    *shell.variables.slot(name) = fresh;
}

fn declare_here(
    shell: &mut Shell,
    name: &str,
    parsed: &DeclarationArgument<'_>,
    appends: bool,
    array: Option<&Assignment>,
    request: &DeclareRequest,
) -> Result<u8, Stop> {
    let existing = shell.variables.get(name).cloned().unwrap_or_default();
    let read_only = existing.is(Attributes::READONLY);
    let assigns = parsed.value.is_some() || array.is_some();
    if read_only && (assigns || request.clear.has(Attributes::READONLY)) {
        let message = format!("{name}: readonly variable");
        match request.builtin {
            "export" | "readonly" if shell.options.has(SetOption::POSIX) => return Err(shell.refuse(&message)),
            "export" | "readonly" => shell.complain(&message),
            builtin => shell.complain_as(builtin, &message),
        }
        return Ok(1);
    }
    if request.associative && matches!(existing.value, Value::Indexed(_)) {
        shell.complain_as(request.builtin, &format!("{name}: cannot convert indexed to associative array"));
        return Ok(1);
    }
    if request.indexed && matches!(existing.value, Value::Associative(_)) {
        shell.complain_as(request.builtin, &format!("{name}: cannot convert associative to indexed array"));
        return Ok(1);
    }
    if request.set.has(Attributes::NAMEREF) {
        let old = existing.text().filter(|_| array.is_none());
        if let Some(target) = parsed.value.or(old)
            && !target.is_empty()
            && !is_name(target.split('[').next().unwrap_or_default())
        {
            let message = format!("`{target}': invalid variable name for name reference");
            shell.complain_as(request.builtin, &message);
            return Ok(1);
        }
        let variable = shell.variables.slot(name);
        variable.attributes.insert(request.set);
        if let Some(target) = parsed.value {
            variable.value = Value::Scalar(target.to_owned());
        }
        return Ok(0);
    }
    // A computed variable that only gets attributes stays computed.
    let special = shell.variables.get(name).is_none() && shell.variable(name).is_some();
    if special && !assigns {
        return Ok(0);
    }
    let variable = shell.variables.slot(name);
    prepare(variable, request, parsed.subscript.is_some());
    // The read-only attribute is set last, because the declaration itself assigns.
    let read_only = variable.attributes;
    variable.attributes.remove(Attributes::READONLY);
    let result = assign(shell, name, parsed, appends, array);
    if read_only.has(Attributes::READONLY)
        && let Some(variable) = shell.variables.get_mut(name)
    {
        variable.attributes.insert(Attributes::READONLY);
    }
    result.map(|()| 0)
}

/// Sets attributes and kind before anything is assigned.
fn prepare(variable: &mut Variable, request: &DeclareRequest, subscripted: bool) {
    variable.attributes.insert(request.set);
    variable.attributes.remove(request.clear);
    // The case attributes exclude each other; both at once clear both.
    for (attribute, other) in [(Attributes::LOWER, Attributes::UPPER), (Attributes::UPPER, Attributes::LOWER)] {
        if request.set.has(attribute) {
            variable.attributes.remove(other);
        }
    }
    if (request.associative || request.indexed) && matches!(variable.value, Value::Unset) {
        variable.attributes.insert(Attributes::UNASSIGNED);
    }
    if request.associative && !matches!(variable.value, Value::Associative(_)) {
        let old = std::mem::take(&mut variable.value);
        let mut elements = Associative::default();
        if let Value::Scalar(text) = old {
            elements.insert("0".to_owned(), text);
        }
        variable.value = Value::Associative(elements);
    } else if (request.indexed || subscripted) && !variable.is_array() {
        into_indexed(&mut variable.value);
    }
}

fn assign(
    shell: &mut Shell,
    name: &str,
    parsed: &DeclarationArgument<'_>,
    appends: bool,
    array: Option<&Assignment>,
) -> Result<(), Stop> {
    if let Some(Assignment { value: AssignedValue::Array(elements), .. }) = array {
        return shell.assign_array(name, elements, appends);
    }
    let Some(value) = parsed.value else { return Ok(()) };
    // `declare -a x='(1 2)'`: a quoted list is a list too.
    let is_array = shell.variables.get(name).is_some_and(Variable::is_array);
    if is_array
        && parsed.subscript.is_none()
        && value.starts_with('(')
        && value.ends_with(')')
        && let Some(elements) = crate::syntax::elements_of(value)
    {
        return shell.assign_array(name, &elements, appends);
    }
    let key = match parsed.subscript {
        Some(subscript) => Some(shell.key_of(name, subscript)?),
        None => None,
    };
    shell.assign_element(name, key, value.to_owned(), appends)
}

/// `declare -g`: declares the global variable, which local ones may hide.
fn declare_global(
    shell: &mut Shell,
    name: &str,
    parsed: &DeclarationArgument<'_>,
    array: Option<&Assignment>,
    request: &DeclareRequest,
) -> Result<u8, Stop> {
    // The global variable is made visible, declared, and hidden again.
    let hidden = shell.variables.get(name).cloned();
    let global = shell.variables.global(name).clone();
    *shell.variables.slot(name) = global;
    let appends = parsed.append || array.is_some_and(|a| a.append);
    let result = declare_here(shell, name, parsed, appends, array, request);
    let new = shell.variables.get(name).cloned().unwrap_or_default();
    *shell.variables.slot(name) = hidden.clone().unwrap_or_default();
    if hidden.is_none() && shell.variables.is_hidden(name) {
        shell.variables.unset(name);
    }
    *shell.variables.global(name) = new;
    result
}

/// `declare -p name`
fn print_one(shell: &mut Shell, name: &str, request: &DeclareRequest) -> u8 {
    let shown = match shell.variables.get(name) {
        Some(variable) => Some(listing::declaration(name, variable)),
        None => shell.variable(name).map(|v| listing::declaration(name, &v)),
    };
    match shown {
        Some(line) => {
            shell.print(&(line + "\n"));
            0
        }
        None => {
            shell.complain_as(request.builtin, &format!("{name}: not found"));
            1
        }
    }
}

/// Without names: prints all variables with the requested attributes.
fn print_matching(shell: &mut Shell, request: &DeclareRequest) {
    let filter = request.set.0 != 0 || request.indexed || request.associative;
    if !filter && !request.print && request.builtin != "local" {
        shell.print_assignments();
        shell.print_functions(false);
        return;
    }
    if request.builtin == "local" {
        let mut names = shell.variables.locals();
        sort_texts(&mut names);
        for name in names {
            let Some(variable) = shell.variables.get(&name) else { continue };
            let line = listing::declaration(&name, variable) + "\n";
            shell.print(&line);
        }
        return;
    }
    let names = shell.names_with("");
    for name in names {
        let Some(variable) = shell.variable(&name) else { continue };
        let matches = (request.set.0 == 0 || variable.attributes.0 & request.set.0 != 0)
            && (!request.indexed || matches!(variable.value, Value::Indexed(_)))
            && (!request.associative || matches!(variable.value, Value::Associative(_)));
        if matches {
            let line = listing::declaration(&name, &variable) + "\n";
            drop(variable);
            shell.print(&line);
        }
    }
}

/// `declare -f`, `declare -F`
fn functions(shell: &mut Shell, names: &[String], request: &DeclareRequest) -> u8 {
    if names.is_empty() {
        shell.print_functions(request.names);
        return 0;
    }
    let mut status = 0;
    for name in names {
        let Some(definition) = shell.functions.get(name.as_str()).cloned() else {
            status = 1;
            continue;
        };
        if request.set.has(Attributes::TRACE) || request.clear.has(Attributes::TRACE) {
            definition.traced.set(request.set.has(Attributes::TRACE));
            continue;
        }
        if request.set.has(Attributes::READONLY) || request.set.has(Attributes::EXPORT) {
            definition.readonly.set(definition.readonly.get() || request.set.has(Attributes::READONLY));
            definition.exported.set(definition.exported.get() || request.set.has(Attributes::EXPORT));
            continue;
        }
        let text = match request.names {
            true => format!("{name}\n"),
            false => crate::syntax::function_text(&definition.function) + "\n",
        };
        shell.print(&text);
    }
    status
}
