//! `printf`

use isopod_gnu::calendar::Date;

use super::printf_number::{Spec, float_text, integer_text};
use crate::state::{Shell, Stop, TargetName, nanoseconds};
use crate::syntax::is_name;
use crate::{escape, quote, text};

/// Largest width and precision; no useful output has a megabyte of blanks.
const LARGEST: i64 = 1 << 20;

pub(super) fn printf(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let mut first = 1;
    let mut variable = None;
    match arguments.get(1).map(String::as_str) {
        Some(option) if option.starts_with("-v") => {
            let given = match &option[2..] {
                "" => arguments.get(2).cloned(),
                attached => Some(attached.to_owned()),
            };
            first = if option.len() > 2 { 2 } else { 3 };
            let Some(name) = given else {
                shell.complain_as("printf", "-v: option requires an argument");
                shell.print_usage("printf");
                return Ok(2);
            };
            if TargetName::parse(&name).is_none() {
                shell.refuse_name("printf", &name);
                return Ok(2);
            }
            variable = Some(name);
        }
        Some(option) if option.starts_with('-') && option.len() > 1 && option != "--" => {
            return Ok(shell.reject_option("printf", &option.chars().take(2).collect::<String>()));
        }
        _ => {}
    }
    if arguments.get(first).is_some_and(|a| a == "--") {
        first += 1;
    }
    let Some(format) = arguments.get(first) else {
        shell.print_usage("printf");
        return Ok(2);
    };
    let mut printer = Printer { shell, arguments: &arguments[first + 1..], next: 0, out: Vec::new(), status: 0 };
    let finished = printer.run(format);
    let (out, mut status) = (printer.out, printer.status);
    if finished.is_err() {
        status = 1;
    }
    match variable.as_deref().and_then(TargetName::parse) {
        None => shell.out.extend_from_slice(&out),
        Some(target) => {
            let value = text::from_bytes(out.into_iter().filter(|b| *b != 0).collect());
            shell.assign_target("printf", target, value)?;
        }
    }
    Ok(status)
}

struct Printer<'a> {
    shell: &'a mut Shell,
    arguments: &'a [String],
    next: usize,
    out: Vec<u8>,
    status: u8,
}

/// The output ends early, at `\c` or at an invalid directive.
struct OutputEnd;

impl Printer<'_> {
    /// Writes the format again and again until all arguments are used.
    fn run(&mut self, format: &str) -> Result<(), OutputEnd> {
        loop {
            let before = self.next;
            if self.pass(format)? {
                return Ok(());
            }
            if self.next >= self.arguments.len() || self.next == before {
                return Ok(());
            }
        }
    }

    /// Writes the format once. Returns true if `\c` ended the output.
    fn pass(&mut self, format: &str) -> Result<bool, OutputEnd> {
        let mut rest = format;
        loop {
            let Some(at) = rest.find('%') else {
                self.literal(rest);
                return Ok(false);
            };
            self.literal(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                self.out.push(b'%');
                rest = after;
                continue;
            }
            if self.directive(&mut rest)? {
                return Ok(true);
            }
        }
    }

    fn literal(&mut self, piece: &str) {
        match piece.contains('\\') {
            true => text::push_bytes(&escape::printf_format(piece).0, &mut self.out),
            false => text::push_bytes(piece, &mut self.out),
        }
    }

    /// Writes one directive, given after its `%`. Returns true if `\c` ended the output.
    fn directive(&mut self, rest: &mut &str) -> Result<bool, OutputEnd> {
        let written = *rest;
        let mut spec = Spec::default();
        while let Some(flag) = rest.chars().next() {
            match flag {
                '-' => spec.left = true,
                '+' => spec.plus = true,
                ' ' => spec.blank = true,
                '#' => spec.alternate = true,
                '0' => spec.zero = true,
                '\'' => {}
                _ => break,
            }
            *rest = &rest[1..];
        }
        if let Some(width) = self.number(rest)? {
            spec.left |= width < 0;
            spec.width = width.unsigned_abs() as usize;
        }
        if let Some(after) = rest.strip_prefix('.') {
            *rest = after;
            let precision = self.number(rest)?.unwrap_or(0);
            // A negative precision counts as none.
            spec.precision = usize::try_from(precision).ok();
        }
        if rest.starts_with('(') {
            return self.time(rest, &spec);
        }
        // The size modifiers of C have no effect.
        *rest = rest.trim_start_matches(['h', 'l', 'L', 'j', 'z', 't']);
        let Some(letter) = rest.chars().next() else {
            self.shell.complain_as("printf", &format!("`%{written}': missing format character"));
            return Err(OutputEnd);
        };
        *rest = &rest[letter.len_utf8()..];
        match letter {
            's' => {
                let argument = self.argument();
                let bytes = text::to_bytes(&argument).into_owned();
                self.pad(&bytes, &spec);
            }
            'b' => {
                let argument = self.argument();
                let (expanded, stopped) = escape::printf_argument(&argument);
                let bytes = text::to_bytes(&expanded).into_owned();
                self.pad(&bytes, &spec);
                return Ok(stopped);
            }
            'q' | 'Q' => {
                let mut argument = self.argument();
                // `%Q` truncates before it quotes.
                if letter == 'Q' {
                    if let Some(precision) = spec.precision {
                        argument = argument.chars().take(precision).collect();
                    }
                    spec.precision = None;
                }
                let bytes = text::to_bytes(&quote::minimal(&argument)).into_owned();
                self.pad(&bytes, &spec);
            }
            'c' => {
                let argument = self.argument();
                let bytes = text::to_bytes(&argument).into_owned();
                spec.precision = None;
                // As in C, the first byte of an empty string is its NUL.
                self.pad(bytes.get(..1).unwrap_or(&[0]), &spec);
            }
            'd' | 'i' | 'o' | 'u' | 'x' | 'X' => {
                let value = self.integer(matches!(letter, 'd' | 'i'));
                self.out.extend_from_slice(integer_text(value, letter, &spec).as_bytes());
            }
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A' => {
                let argument = self.argument();
                let (shown, valid) = float_text(&argument, letter, &spec);
                if !valid {
                    self.invalid(&argument);
                }
                self.out.extend_from_slice(shown.as_bytes());
            }
            'n' => {
                let name = self.argument();
                let count = self.out.len().to_string();
                if !is_name(&name) {
                    self.shell.refuse_name("printf", &name);
                    return Err(OutputEnd);
                }
                if self.shell.assign(&name, count).is_err() {
                    self.status = 1;
                }
            }
            letter => {
                self.shell.complain_as("printf", &format!("`{letter}': invalid format character"));
                return Err(OutputEnd);
            }
        }
        Ok(false)
    }

    /// Reads a width or precision: digits, or `*` for the next argument.
    fn number(&mut self, rest: &mut &str) -> Result<Option<i64>, OutputEnd> {
        let value = if let Some(after) = rest.strip_prefix('*') {
            *rest = after;
            self.integer(true)
        } else {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                return Ok(None);
            }
            let value = rest[..digits].parse().unwrap_or(i64::MAX);
            *rest = &rest[digits..];
            value
        };
        if !(-LARGEST..=LARGEST).contains(&value) {
            self.shell.complain_as("printf", &format!("field of {value} is too wide (limit {LARGEST})"));
            return Err(OutputEnd);
        }
        Ok(Some(value))
    }

    fn argument(&mut self) -> String {
        self.next += 1;
        self.arguments.get(self.next - 1).cloned().unwrap_or_default()
    }

    fn invalid(&mut self, argument: &str) {
        self.shell.complain_as("printf", &format!("{argument}: invalid number"));
        self.status = 1;
    }

    /// Reads the next argument as an integer. `'c` is the code of a character; of an invalid number the valid beginning
    /// counts. A value out of range, signed or not, becomes the nearest in range.
    fn integer(&mut self, signed: bool) -> i64 {
        let argument = self.argument();
        if let Some(quoted) = argument.strip_prefix(['\'', '"']) {
            return quoted.chars().next().map_or(0, |c| i64::from(u32::from(c)));
        }
        let trimmed = argument.trim_start();
        let (negative, digits) = match trimmed.as_bytes() {
            [b'-', ..] => (true, &trimmed[1..]),
            [b'+', ..] => (false, &trimmed[1..]),
            _ => (false, trimmed),
        };
        let (base, digits) = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
            [b'0', _, ..] => (8, &digits[1..]),
            _ => (10, digits),
        };
        let length = digits.bytes().take_while(|b| char::from(*b).is_digit(base)).count();
        let complete = length == digits.len() && (!digits.is_empty() || argument.is_empty());
        if !complete {
            self.invalid(&argument);
        }
        let mut value = 0i128;
        for digit in digits[..length].chars().filter_map(|c| c.to_digit(base)) {
            value = (value * i128::from(base) + i128::from(digit)).min(i128::from(u64::MAX) + 1);
        }
        let value = if negative { -value } else { value };
        let highest = if signed { i128::from(i64::MAX) } else { i128::from(u64::MAX) };
        if value > highest || value < i128::from(i64::MIN) {
            self.shell.complain_as("printf", &format!("warning: {argument}: Numerical result out of range"));
            return if negative { i64::MIN } else { highest as i64 };
        }
        value as i64
    }

    fn pad(&mut self, bytes: &[u8], spec: &Spec) {
        let bytes = &bytes[..spec.precision.unwrap_or(bytes.len()).min(bytes.len())];
        let fill = spec.width.saturating_sub(bytes.len());
        if !spec.left {
            self.out.extend(std::iter::repeat_n(b' ', fill));
        }
        self.out.extend_from_slice(bytes);
        if spec.left {
            self.out.extend(std::iter::repeat_n(b' ', fill));
        }
    }

    /// `%(format)T`
    fn time(&mut self, rest: &mut &str, spec: &Spec) -> Result<bool, OutputEnd> {
        let Some(end) = rest.find(")T") else {
            self.shell.complain_as("printf", "`(': invalid format character");
            return Err(OutputEnd);
        };
        let format = &rest[1..end];
        *rest = &rest[end + 2..];
        let seconds = match self.next < self.arguments.len() {
            true => self.integer(true),
            false => -1,
        };
        // -1 is the current time, -2 the start of the shell, for which the current time is near enough.
        let seconds = if seconds < 0 { nanoseconds() / 1_000_000_000 } else { seconds };
        let format = if format.is_empty() { "%X" } else { format };
        self.pad(strftime(format, seconds).as_bytes(), spec);
        Ok(false)
    }
}

/// Formats a time in seconds since 1970 for `%(…)T` and prompts. An unknown conversion is copied as text.
pub fn strftime(format: &str, seconds: i64) -> String {
    Date::at(seconds).format_lenient(format)
}
