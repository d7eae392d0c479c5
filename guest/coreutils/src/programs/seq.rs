//! `seq`: prints a sequence of numbers.

use isopod_gnu::digits;
use isopod_gnu::long_double::{self, LongDouble, Size};
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;

use crate::directive::Directive;

/// `seq`.
pub(crate) const PROGRAM: Program = Program {
    name: "seq",
    operands: &["[OPTION]... LAST", "[OPTION]... FIRST LAST", "[OPTION]... FIRST INCREMENT LAST"],
    about: "Print numbers from FIRST to LAST, in steps of INCREMENT.",
    syntax: Syntax::Own,
    options: &[
        Opt::flag('f', "format", "use printf style floating-point FORMAT").takes("FORMAT"),
        Opt::flag('s', "separator", "use STRING to separate numbers (default: \\n)").takes("STRING"),
        Opt::flag('w', "equal-width", "equalize width by padding with leading zeroes"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// A number as it was written: exact, in units of `10^-places`; `None` is infinite, or not decimal.
struct Operand<'a> {
    text: &'a str,
    exact: Option<(i128, u32)>,
    value: LongDouble,
}

/// Numbers with more places or digits than these are not kept exactly.
const MOST_PLACES: u32 = 18;

fn run(call: &Call) -> Result<u8, u8> {
    let call = with_options(call)?;
    let operands: Vec<Operand> = match call.operands.as_slice() {
        [] => return Err(call.misused("missing operand")),
        operands => {
            call.at_most(3)?;
            operands.iter().map(|text| operand(&call, text)).collect::<Result<_, _>>()?
        }
    };
    let one = || Operand { text: "1", exact: Some((1, 0)), value: LongDouble::whole(1) };
    let mut given = operands.into_iter();
    let (first, step, last) = match (given.next(), given.next(), given.next()) {
        (Some(first), Some(step), Some(last)) => (first, step, last),
        (Some(first), Some(last), None) => (first, one(), last),
        (Some(last), None, None) => (one(), one(), last),
        _ => return Err(call.misused("missing operand")),
    };
    if step.value.is_zero() {
        return Err(call.misused(&format!("invalid Zero increment value: {}", plain(step.text))));
    }
    let format = call.value("format").map(Format::parse).transpose().map_err(|message| call.failed(&message))?;
    if format.is_some() && call.has("equal-width") {
        return Err(call.misused("format string may not be specified when printing equal width strings"));
    }
    let mut output = Output { separator: call.value("separator").unwrap_or("\n"), is_first: true, out: Out::new() };
    match (first.exact, step.exact, last.exact.is_some() || !last.value.is_finite()) {
        (Some(from), Some(by), true) => {
            let places = from.1.max(by.1);
            let width = if call.has("equal-width") { first.width(places).max(last.width(places)) } else { 0 };
            exact(from, by, &last, width, format.as_ref(), &mut output);
        }
        _ => inexact(&first, &step, &last, format.as_ref(), &mut output),
    }
    if !output.is_first {
        output.out.byte(b'\n');
    }
    Ok(call.finish(output.out, 0))
}

/// Reads the options, which end at the first number: a number may be negative.
fn with_options(call: &Call) -> Result<Call, u8> {
    let mut at = 0;
    while let Some(arg) = call.operands.get(at) {
        let mut bytes = arg.bytes();
        if bytes.next() != Some(b'-') || bytes.next().is_none_or(|byte| byte.is_ascii_digit() || byte == b'.') {
            break;
        }
        at += 1;
        if arg == "--" {
            break;
        }
        at += usize::from(matches!(arg.as_str(), "-s" | "-f" | "--separator" | "--format"));
    }
    let at = at.min(call.operands.len());
    let mut read = call.read_operands(call.operands[..at].to_vec(), false)?;
    read.operands.extend_from_slice(&call.operands[at..]);
    Ok(read)
}

fn operand<'a>(call: &Call, text: &'a str) -> Result<Operand<'a>, u8> {
    let parsed = long_double::parse(text);
    if parsed.length == 0 || parsed.length < text.len() {
        return Err(call.misused(&format!("invalid floating point argument: {}", plain(text))));
    }
    if parsed.number.size == Size::NotANumber {
        return Err(call.misused(&format!("invalid 'not-a-number' argument: {}", plain(text))));
    }
    Ok(Operand { text: text.trim_start().trim_start_matches('+'), exact: decimal(text), value: parsed.number })
}

/// Reads a decimal number. Returns it in units of `10^-places`, and the places.
fn decimal(text: &str) -> Option<(i128, u32)> {
    let text = text.trim_start();
    let (text, negative) = match text.strip_prefix('-') {
        Some(rest) => (rest, true),
        None => (text.strip_prefix('+').unwrap_or(text), false),
    };
    let sign = if negative { -1 } else { 1 };
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        return i128::from_str_radix(digits, 16).ok().filter(|value| *value < 1 << 100).map(|value| (value * sign, 0));
    }
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok().filter(|e| e.abs() < 40)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    let mut value: i128 = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    let mut places = fraction.len() as i32 - exponent;
    while places < 0 {
        value = value.checked_mul(10)?;
        places += 1;
    }
    let places = places as u32;
    (places <= MOST_PLACES && value.unsigned_abs() < 1 << 100).then_some((value * sign, places))
}

impl Operand<'_> {
    /// Returns its width with so many places. Leading zeros as written count.
    fn width(&self, places: u32) -> usize {
        let fraction = if places > 0 { places as usize + 1 } else { 0 };
        let plain = self.text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        match self.exact {
            _ if plain => {
                let whole = self.text.split('.').next().unwrap_or_default();
                let missing = usize::from(whole.is_empty() || whole == "-");
                whole.len() + missing + fraction
            }
            Some((value, own)) => (value / 10i128.pow(own)).to_string().len() + fraction,
            None => 0,
        }
    }
}

/// `-f`: the text before and after the one conversion.
struct Format {
    before: Vec<u8>,
    directive: Directive,
    letter: u8,
    after: Vec<u8>,
}

impl Format {
    fn parse(text: &str) -> Result<Format, String> {
        let bytes = text.as_bytes();
        let literal = |mut at: usize| {
            let mut literal = Vec::new();
            while at < bytes.len() {
                match (bytes[at], bytes.get(at + 1)) {
                    (b'%', Some(b'%')) => at += 1,
                    (b'%', _) => break,
                    _ => {}
                }
                literal.push(bytes[at]);
                at += 1;
            }
            (literal, at)
        };
        let (before, mut at) = literal(0);
        if at == bytes.len() {
            return Err(format!("format {} has no % directive", plain(text)));
        }
        at += 1;
        let mut directive = Directive::default();
        while bytes.get(at).is_some_and(|byte| directive.flag(*byte)) {
            at += 1;
        }
        let number = |at: &mut usize| {
            let count = bytes[*at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let digits = &text[*at..*at + count];
            *at += count;
            if digits.is_empty() { Some(0) } else { digits.parse().ok().filter(|number| *number < 1 << 20) }
        };
        let too_wide = || format!("format {} has too wide a directive", plain(text));
        directive.width = number(&mut at).ok_or_else(too_wide)?;
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            directive.precision = Some(number(&mut at).ok_or_else(too_wide)?);
        }
        at += usize::from(bytes.get(at) == Some(&b'L'));
        let Some(&letter) = bytes.get(at) else { return Err(format!("format {} ends in %", plain(text))) };
        if !b"efgaEFGA".contains(&letter) {
            return Err(format!("format {} has unknown %{} directive", plain(text), char::from(letter)));
        }
        let (after, end) = literal(at + 1);
        if end < bytes.len() {
            return Err(format!("format {} has too many % directives", plain(text)));
        }
        Ok(Format { before, directive, letter, after })
    }

    fn apply(&self, value: LongDouble) -> Vec<u8> {
        let mut text = self.before.clone();
        self.directive.float(value, self.letter, &mut text);
        text.extend_from_slice(&self.after);
        text
    }
}

struct Output<'a> {
    separator: &'a str,
    is_first: bool,
    out: Out,
}

impl Output<'_> {
    /// Writes a number. Returns false after an output error.
    fn push(&mut self, text: &[u8]) -> bool {
        if !self.is_first {
            self.out.push(self.separator.as_bytes());
        }
        self.is_first = false;
        self.out.push(text);
        !self.out.has_failed()
    }
}

fn exact(
    from: (i128, u32),
    by: (i128, u32),
    last: &Operand,
    width: usize,
    format: Option<&Format>,
    output: &mut Output,
) {
    let shown = from.1.max(by.1);
    let places = shown.max(last.exact.map_or(0, |(_, places)| places));
    let scale = |(value, own): (i128, u32)| value.saturating_mul(10i128.pow(places - own));
    let (mut value, step) = (scale(from), scale(by));
    let end = match last.exact {
        Some(last) => scale(last),
        None if last.value.negative => i128::MIN,
        None => i128::MAX,
    };
    if let (0, 0, None, Ok(from), Ok(by), Ok(end)) =
        (places, width, format, i64::try_from(value), i64::try_from(step), i64::try_from(end))
    {
        return whole(from, by, end, output);
    }
    let extra = 10i128.pow(places - shown);
    let unit = 10u128.pow(shown);
    let mut text = Vec::new();
    while if step > 0 { value <= end } else { value >= end } {
        text.clear();
        let number = value / extra;
        match format {
            Some(format) => {
                let decimal = if shown == 0 { number.to_string() } else { format!("{number}e-{shown}") };
                text = format.apply(long_double::parse(&decimal).number);
            }
            None => {
                let sign = if number < 0 { "-" } else { "" };
                let (whole, fraction) = (number.unsigned_abs() / unit, number.unsigned_abs() % unit);
                let tail =
                    if shown > 0 { format!(".{fraction:0places$}", places = shown as usize) } else { String::new() };
                let whole_width = width.saturating_sub(sign.len() + tail.len());
                text.extend_from_slice(format!("{sign}{whole:0whole_width$}{tail}").as_bytes());
            }
        }
        if !output.push(&text) {
            return;
        }
        match value.checked_add(step) {
            Some(next) => value = next,
            None => return,
        }
    }
}

/// Writes a sequence of whole numbers of 64 bits, the usual case.
fn whole(from: i64, by: i64, end: i64, output: &mut Output) {
    let mut value = from;
    let mut text = Vec::new();
    while if by > 0 { value <= end } else { value >= end } {
        text.clear();
        digits::push(value, &mut text);
        if !output.push(&text) {
            return;
        }
        match value.checked_add(by) {
            Some(next) => value = next,
            None => return,
        }
    }
}

/// Writes a sequence in floating point, for numbers that are not decimal.
fn inexact(first: &Operand, step: &Operand, last: &Operand, format: Option<&Format>, output: &mut Output) {
    let (from, by, end) = (first.value.to_double(), step.value.to_double(), last.value.to_double());
    let general = Format { before: Vec::new(), directive: Directive::default(), letter: b'g', after: Vec::new() };
    let format = format.unwrap_or(&general);
    for index in 0u64.. {
        let value = if index == 0 { from } else { from + index as f64 * by };
        let past = if by > 0.0 { value > end } else { value < end };
        if past || !output.push(&format.apply(LongDouble::double(value))) {
            return;
        }
    }
}
