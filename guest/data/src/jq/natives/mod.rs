//! Native functions: written in Rust, they take values and give one.

mod collections;
mod math;
mod regex;
mod strings;
mod time;

use std::rc::Rc;

use super::access::Outcome;
use super::arithmetic as ops;
use super::machine::Host;
use super::{access, library};
use crate::json;
use crate::value::{Object, Value};
use collections as lists;
use strings as texts;

pub(crate) use collections::indices;

/// A native function.
pub(crate) type Native = &'static Entry;

/// A native function with its name.
pub(crate) struct Entry {
    name: &'static str,
    arity: usize,
    /// The function itself.
    pub(crate) call: Call,
}

/// The function, which takes its input and its arguments.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    /// It depends on nothing else.
    Plain(fn(Value, Vec<Value>) -> Outcome),
    /// It depends on the environment too.
    WithHost(fn(&mut dyn Host, Value, Vec<Value>) -> Outcome),
}

impl Entry {
    /// Returns true if the function always gives the same result for the same arguments.
    pub(crate) fn is_pure(&self) -> bool {
        matches!(self.call, Call::Plain(_))
    }

    /// Returns true for an operator, which only sees its two sides.
    pub(crate) fn ignores_input(&self) -> bool {
        self.arity == 2 && !self.name.as_bytes()[0].is_ascii_alphanumeric() && !self.name.starts_with('_')
    }
}

const fn plain(name: &'static str, arity: usize, call: fn(Value, Vec<Value>) -> Outcome) -> Entry {
    Entry { name, arity, call: Call::Plain(call) }
}

const fn worldly(name: &'static str, call: fn(&mut dyn Host, Value, Vec<Value>) -> Outcome) -> Entry {
    Entry { name, arity: 0, call: Call::WithHost(call) }
}

/// All native functions but those of `math`.
static NATIVES: &[Entry] = &[
    plain("+", 2, ops::add),
    plain("-", 2, ops::subtract),
    plain("*", 2, ops::multiply),
    plain("/", 2, ops::divide),
    plain("%", 2, ops::remainder),
    plain("==", 2, ops::equals),
    plain("!=", 2, ops::differs),
    plain("<", 2, ops::less),
    plain("<=", 2, ops::less_or_equal),
    plain(">", 2, ops::greater),
    plain(">=", 2, ops::greater_or_equal),
    plain("_negate", 0, ops::negate),
    plain("not", 0, |input, _| Ok(Value::Bool(!input.is_true()))),
    plain("length", 0, lists::length),
    plain("keys", 0, lists::keys),
    plain("keys_unsorted", 0, lists::keys_unsorted),
    plain("has", 1, |input, args| access::has(&input, &ops::one(args))),
    plain("contains", 1, lists::contains),
    plain("add", 0, lists::add),
    plain("sort", 0, lists::sort),
    plain("unique", 0, lists::unique),
    plain("min", 0, lists::min),
    plain("max", 0, lists::max),
    plain("reverse", 0, lists::reverse),
    plain("flatten", 0, lists::flatten),
    plain("flatten", 1, lists::flatten),
    plain("transpose", 0, lists::transpose),
    plain("to_entries", 0, lists::to_entries),
    plain("from_entries", 0, lists::from_entries),
    plain("setpath", 2, lists::setpath),
    plain("delpaths", 1, lists::delpaths),
    plain("toarray", 0, |input, _| Ok(if let Value::Array(_) = input { input } else { Value::array(vec![input]) })),
    plain("indices", 1, lists::find_all),
    plain("_indices", 1, lists::find_all),
    plain("index", 1, lists::find_first),
    plain("rindex", 1, lists::find_last),
    plain("_sort_by", 1, lists::sort_by),
    plain("_group_by", 1, lists::group_by),
    plain("_unique_by", 1, lists::unique_by),
    plain("_min_by", 1, lists::min_by),
    plain("_max_by", 1, lists::max_by),
    plain("type", 0, |input, _| Ok(input.kind().into())),
    plain("tojson", 0, |input, _| Ok(Value::text(json::compact(&input)))),
    plain("fromjson", 0, texts::fromjson),
    plain("tostring", 0, |input, _| Ok(Value::text(super::formats::plain(&input)))),
    plain("tonumber", 0, texts::tonumber),
    plain("join", 1, texts::join),
    plain("split", 1, texts::split),
    plain("split", 2, regex::split),
    plain("explode", 0, texts::explode),
    plain("implode", 0, texts::implode),
    plain("ascii_downcase", 0, |input, _| texts::map(input, str::to_ascii_lowercase, "ascii_downcase")),
    plain("ascii_upcase", 0, |input, _| texts::map(input, str::to_ascii_uppercase, "ascii_upcase")),
    plain("trim", 0, |input, _| texts::map(input, |text| text.trim().to_owned(), "trim")),
    plain("ltrim", 0, |input, _| texts::map(input, |text| text.trim_start().to_owned(), "ltrim")),
    plain("rtrim", 0, |input, _| texts::map(input, |text| text.trim_end().to_owned(), "rtrim")),
    plain("ltrimstr", 1, texts::ltrimstr),
    plain("rtrimstr", 1, texts::rtrimstr),
    plain("trimstr", 1, texts::trimstr),
    plain("startswith", 1, texts::startswith),
    plain("endswith", 1, texts::endswith),
    plain("utf8bytelength", 0, texts::utf8bytelength),
    plain("_match", 3, regex::matches),
    plain("_splice", 2, regex::splice),
    plain("gmtime", 0, time::gmtime),
    plain("localtime", 0, time::gmtime),
    plain("mktime", 0, time::mktime),
    plain("timegm", 0, time::mktime),
    plain("strftime", 1, time::strftime),
    plain("strflocaltime", 1, time::strftime),
    plain("strptime", 1, time::strptime),
    plain("have_literal_numbers", 0, |_, _| Ok(Value::Bool(true))),
    plain("have_decnum", 0, |_, _| Ok(Value::Bool(false))),
    plain("builtins", 0, |_, _| Ok(builtins())),
    plain("getpath", 1, |input, args| match ops::one(args) {
        Value::Array(keys) => access::get_path(&input, &keys),
        _ => Err(Value::text("Path must be specified as an array")),
    }),
    worldly("now", |_, _, _| time::now()),
    worldly("input_filename", |host, _, _| Ok(host.file_name().map(Value::text).unwrap_or_default())),
    worldly("input_line_number", |host, _, _| Ok(Value::number(host.line() as f64))),
    worldly("debug", |host, input, _| {
        host.complain(&format!("[\"DEBUG:\",{}]\n", json::compact(&input)));
        Ok(input)
    }),
    worldly("stderr", |host, input, _| {
        host.complain(&json::compact(&input));
        Ok(input)
    }),
];

/// Returns the native function of a name and a number of arguments.
pub(crate) fn find(name: &str, arity: usize) -> Option<Native> {
    NATIVES.iter().chain(math::NATIVES).find(|entry| entry.arity == arity && entry.name == name)
}

/// Returns the environment variables, for `$ENV`.
pub(crate) fn environment() -> Value {
    let mut object = Object::default();
    for (name, value) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        object.insert(Rc::new(name), Value::text(value.to_string_lossy()));
    }
    Value::object(object)
}

/// The functions that the parser knows itself.
const FORMS: &[(&str, usize)] = &[
    ("empty", 0),
    ("error", 0),
    ("error", 1),
    ("path", 1),
    ("range", 1),
    ("range", 2),
    ("input", 0),
    ("halt", 0),
    ("halt_error", 0),
    ("halt_error", 1),
    ("env", 0),
    ("recurse", 0),
    ("select", 1),
    ("map", 1),
    ("map_values", 1),
    ("del", 1),
    ("with_entries", 1),
    ("sort_by", 1),
    ("group_by", 1),
    ("unique_by", 1),
    ("min_by", 1),
    ("max_by", 1),
    ("add", 1),
];

fn builtins() -> Value {
    let natives = NATIVES.iter().chain(math::NATIVES).map(|entry| (entry.name, entry.arity));
    let names = natives.chain(library::names()).chain(FORMS.iter().copied());
    let public = names.filter(|(name, _)| name.as_bytes()[0].is_ascii_alphabetic());
    Value::array(public.map(|(name, arity)| Value::text(format!("{name}/{arity}"))).collect())
}
