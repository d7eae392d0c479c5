//! `envsubst`: replaces variables of the environment in a text.

use std::collections::HashSet;

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_sys::text;

/// `envsubst`.
pub(crate) const PROGRAM: Program = Program {
    name: "envsubst",
    operands: &["[OPTION] [SHELL-FORMAT]"],
    about: "Substitute the values of environment variables: $NAME and ${NAME}, in standard input.\n\
            With SHELL-FORMAT, only those variables that are in it.",
    syntax: Syntax::Mixed,
    options: &[Opt::flag('v', "variables", "output the variables occurring in SHELL-FORMAT")],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    if call.operands.len() > 1 {
        return Err(call.failed("too many arguments"));
    }
    let mut out = Out::new();
    let format = call.operands.first();
    if call.has("variables") {
        let Some(format) = format else {
            return Err(call.failed("missing arguments"));
        };
        each(format.as_bytes(), |part| {
            if let Part::Variable(name, _) = part {
                out.push(name.as_bytes());
                out.byte(b'\n');
            }
        });
        return Ok(call.finish(out, 0));
    }
    let mut only: Option<HashSet<String>> = None;
    if let Some(format) = format {
        let mut names = HashSet::new();
        each(format.as_bytes(), |part| {
            if let Part::Variable(name, _) = part {
                names.insert(name.to_owned());
            }
        });
        only = Some(names);
    }
    let input = Input::open("-")
        .and_then(|input| input.read_all())
        .map_err(|errno| call.failed(&format!("error while reading standard input: {}", text(errno))))?;
    each(&input, |part| match part {
        Part::Text(bytes) => out.push(bytes),
        Part::Variable(name, _) if only.as_ref().is_none_or(|only| only.contains(name)) => {
            out.push(std::env::var(name).unwrap_or_default().as_bytes());
        }
        Part::Variable(_, whole) => out.push(whole),
    });
    Ok(call.finish(out, 0))
}

/// A part of a text: plain text, or a variable's name and its notation.
enum Part<'a> {
    Text(&'a [u8]),
    Variable(&'a str, &'a [u8]),
}

fn each<'a>(text: &'a [u8], mut take: impl FnMut(Part<'a>)) {
    let (mut start, mut at) = (0, 0);
    while let Some(found) = memchr::memchr(b'$', &text[at..]) {
        let dollar = at + found;
        let braced = text.get(dollar + 1) == Some(&b'{');
        let first = dollar + 1 + usize::from(braced);
        let letter =
            |byte: &u8, index: usize| byte.is_ascii_alphabetic() || *byte == b'_' || index > 0 && byte.is_ascii_digit();
        let length =
            text[first.min(text.len())..].iter().enumerate().take_while(|(index, byte)| letter(byte, *index)).count();
        let end = first + length + usize::from(braced);
        let closed = !braced || text.get(first + length) == Some(&b'}');
        at = dollar + 1;
        if length > 0
            && closed
            && let Ok(name) = std::str::from_utf8(&text[first..first + length])
        {
            take(Part::Text(&text[start..dollar]));
            take(Part::Variable(name, &text[dollar..end]));
            (start, at) = (end, end);
        }
    }
    take(Part::Text(&text[start..]));
}
