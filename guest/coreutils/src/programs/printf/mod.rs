//! `printf`: formats arguments.

mod escape;
mod number;

use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{argument, plain};

use crate::directive::Directive;
use escape::escape;

/// `printf`.
pub(crate) const PROGRAM: Program = Program {
    name: "printf",
    operands: &["FORMAT [ARGUMENT]...", "OPTION"],
    about: "Print ARGUMENT(s) according to FORMAT, or execute according to OPTION.\n\
            FORMAT has C's escapes and conversions, %b (a string with escapes) and %q (quoted for a shell).",
    syntax: Syntax::Plain,
    options: &[],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The largest width of a field: more would only fill memory.
const MOST_WIDTH: i64 = 1 << 24;

fn run(call: &Call) -> Result<u8, u8> {
    let operands = match call.operands.as_slice() {
        [first, rest @ ..] if first == "--" => rest,
        all => all,
    };
    let [format, arguments @ ..] = operands else {
        return Err(call.misused("missing operand"));
    };
    let mut run = Run { call, arguments, used: 0, out: Out::new(), code: 0 };
    loop {
        let before = run.used;
        match run.format(format.as_bytes()) {
            Ok(()) => {}
            Err(Stop::Ended) => break,
            Err(Stop::Failed(message)) => {
                run.out.flush();
                call.complain(&message);
                run.code = 1;
                break;
            }
        }
        if run.used >= arguments.len() {
            break;
        }
        if run.used == before {
            run.out.flush();
            let extra = plain(&arguments[run.used]);
            call.complain(&format!("warning: ignoring excess arguments, starting with {extra}"));
            break;
        }
    }
    let code = run.code;
    Ok(call.finish(run.out, code))
}

/// The reason why the output ends.
enum Stop {
    /// `\c`.
    Ended,
    Failed(String),
}

struct Run<'a> {
    call: &'a Call,
    arguments: &'a [String],
    used: usize,
    out: Out,
    code: u8,
}

impl<'a> Run<'a> {
    /// Writes the format once.
    fn format(&mut self, format: &[u8]) -> Result<(), Stop> {
        let mut at = 0;
        while at < format.len() {
            match format[at] {
                b'%' if format.get(at + 1) == Some(&b'%') => {
                    self.out.byte(b'%');
                    at += 2;
                }
                b'%' => at = self.conversion(format, at)?,
                b'\\' => {
                    let mut bytes = Vec::new();
                    at += self.escape(&format[at..], false, &mut bytes)?;
                    self.out.push(&bytes);
                }
                byte => {
                    self.out.byte(byte);
                    at += 1;
                }
            }
        }
        Ok(())
    }

    fn escape(&mut self, text: &[u8], in_argument: bool, bytes: &mut Vec<u8>) -> Result<usize, Stop> {
        match escape(text, in_argument, bytes) {
            Ok(Some(used)) => Ok(used),
            Ok(None) => {
                self.out.push(bytes);
                Err(Stop::Ended)
            }
            Err(message) => Err(Stop::Failed(message)),
        }
    }

    /// Writes the next argument by a conversion. Returns the index behind the conversion.
    fn conversion(&mut self, format: &[u8], start: usize) -> Result<usize, Stop> {
        let mut directive = Directive::default();
        let mut at = start + 1;
        while format.get(at).is_some_and(|letter| directive.flag(*letter)) {
            at += 1;
        }
        let (width, next) = self.amount(format, at, "field width")?;
        at = next;
        directive.left |= width < 0;
        directive.width = width.unsigned_abs() as usize;
        if format.get(at) == Some(&b'.') {
            let (precision, next) = self.amount(format, at + 1, "precision")?;
            at = next;
            directive.precision = usize::try_from(precision).ok();
        }
        while matches!(format.get(at), Some(b'l' | b'L' | b'h' | b'j' | b't' | b'z')) {
            at += 1;
        }
        let shown = || {
            let end = (at + 1).min(format.len());
            String::from_utf8_lossy(&format[start..end]).into_owned()
        };
        let invalid = || Stop::Failed(format!("{}: invalid conversion specification", shown()));
        let Some(&letter) = format.get(at) else { return Err(invalid()) };
        let plain_only = matches!(letter, b'b' | b'q');
        let allowed = match letter {
            b'd' | b'i' => !directive.alternate,
            b'u' => !directive.alternate,
            b'o' | b'x' | b'X' => !directive.group,
            b'a' | b'A' => !directive.group,
            b'e' | b'E' => !directive.group,
            b'f' | b'F' | b'g' | b'G' => true,
            b's' => !directive.alternate && !directive.zero && !directive.group,
            b'c' => !directive.alternate && !directive.zero && !directive.group && directive.precision.is_none(),
            b'b' | b'q' => true,
            _ => false,
        };
        if !allowed || plain_only && at != start + 1 {
            return Err(invalid());
        }
        let argument = self.next();
        let mut bytes = Vec::new();
        match letter {
            b'b' => {
                let text = argument.unwrap_or_default().as_bytes();
                let mut at = 0;
                while at < text.len() {
                    if text[at] == b'\\' {
                        at += self.escape(&text[at..], true, &mut bytes)?;
                    } else {
                        bytes.push(text[at]);
                        at += 1;
                    }
                }
            }
            b'q' => {
                if let Some(text) = argument {
                    bytes.extend_from_slice(self::argument(text).as_bytes());
                }
            }
            b's' => directive.text(argument.unwrap_or_default().as_bytes(), &mut bytes),
            b'c' => {
                let first = argument.and_then(|text| text.bytes().next()).unwrap_or(0);
                directive.text(&[first], &mut bytes);
            }
            b'd' | b'i' => {
                let value = self.checked(number::signed(argument.unwrap_or("0")));
                directive.signed(value, &mut bytes);
            }
            b'o' | b'u' | b'x' | b'X' => {
                let value = self.checked(number::unsigned(argument.unwrap_or("0")));
                directive.unsigned(value, letter, &mut bytes);
            }
            letter => {
                let value = self.checked(number::float(argument.unwrap_or("0")));
                directive.float(value, letter, &mut bytes);
            }
        }
        self.out.push(&bytes);
        Ok(at + 1)
    }

    /// Reads a width or a precision: digits, or `*` for an argument.
    fn amount(&mut self, format: &[u8], at: usize, what: &str) -> Result<(i64, usize), Stop> {
        if format.get(at) == Some(&b'*') {
            let value = match self.next() {
                None => 0,
                Some(text) => self.checked(number::signed(text)),
            };
            if value.abs() > MOST_WIDTH {
                return Err(Stop::Failed(format!("invalid {what}: {}", plain(&value.to_string()))));
            }
            return Ok((value, at + 1));
        }
        let count = format[at.min(format.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits =
            String::from_utf8_lossy(&format[at.min(format.len())..(at + count).min(format.len())]).into_owned();
        match digits.as_str() {
            "" => Ok((0, at)),
            digits => match digits.parse() {
                Ok(value) if value <= MOST_WIDTH => Ok((value, at + count)),
                _ => Err(Stop::Failed(format!("invalid {what}: {}", plain(digits)))),
            },
        }
    }

    fn next(&mut self) -> Option<&'a str> {
        let argument = self.arguments.get(self.used)?;
        self.used += 1;
        Some(argument)
    }

    /// Reports a complaint about a number and returns the number.
    fn checked<T>(&mut self, (value, complaint): (T, Option<String>)) -> T {
        if let Some(complaint) = complaint {
            self.out.flush();
            self.call.complain(&complaint);
            self.code = u8::from(!complaint.starts_with("warning"));
        }
        value
    }
}
