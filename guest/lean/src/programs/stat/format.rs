//! The formats of `stat`: directives with flags, width and precision, as `printf` has them.

use isopod_sys::files::{Attributes, Kind};

use super::Subject;
use isopod_gnu::human::disk_usage;
use isopod_gnu::program::Call;
use isopod_gnu::{accounts, calendar, mode, quote};

/// The flags, width and precision between `%` and the letter.
#[derive(Default)]
struct Directive {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// `H` or `L`: the high or the low part of a device number.
    part: Option<char>,
}

/// The largest width or precision: a larger one is an attack, not a column.
const MOST: usize = 4096;

/// Renders a format for a file. `%N` quotes names always, or only if need be.
pub(super) fn render(
    subject: &Subject,
    format: &str,
    escapes: bool,
    always_quote: bool,
    call: &Call,
) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut rest = format;
    while let Some(c) = rest.chars().next() {
        match c {
            '%' => rest = render_directive(subject, rest, always_quote, &mut out)?,
            '\\' if escapes => rest = escape(&rest[1..], &mut out, call),
            c => {
                out.extend_from_slice(c.to_string().as_bytes());
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    Ok(out)
}

/// Renders the directive that `text` starts with and returns the rest.
fn render_directive<'a>(
    subject: &Subject,
    text: &'a str,
    always_quote: bool,
    out: &mut Vec<u8>,
) -> Result<&'a str, String> {
    let mut directive = Directive::default();
    let mut rest = &text[1..];
    while let Some(flag) = rest.chars().next().filter(|c| "-0+ #'".contains(*c)) {
        match flag {
            '-' => directive.left = true,
            '0' => directive.zero = true,
            '+' => directive.plus = true,
            ' ' => directive.space = true,
            '#' => directive.alternate = true,
            _ => {}
        }
        rest = &rest[1..];
    }
    directive.width = number(&mut rest)?.unwrap_or(0);
    if let Some(after) = rest.strip_prefix('.') {
        rest = after;
        directive.precision = Some(number(&mut rest)?.unwrap_or(0));
    }
    if let Some(part) = rest.chars().next().filter(|c| matches!(c, 'H' | 'L'))
        && rest[1..].starts_with(['d', 'r'])
    {
        directive.part = Some(part);
        rest = &rest[1..];
    }
    let spelled = &text[..text.len() - rest.len()];
    let Some(letter) = rest.chars().next() else {
        if spelled.len() > 1 {
            return Err(format!("{}: invalid directive", quote::plain(spelled)));
        }
        out.push(b'%');
        return Ok(rest);
    };
    rest = &rest[letter.len_utf8()..];
    if letter == '%' {
        if spelled.len() > 1 {
            return Err(format!("{}: invalid directive", quote::plain(&format!("{spelled}%"))));
        }
        out.push(b'%');
        return Ok(rest);
    }
    let rendered = directive.render(subject, letter, always_quote)?;
    out.extend_from_slice(rendered.as_bytes());
    Ok(rest)
}

impl Directive {
    fn render(&self, subject: &Subject, letter: char, always_quote: bool) -> Result<String, String> {
        let of = &subject.attributes;
        Ok(match letter {
            'a' => self.octal(u64::from(of.mode & 0o7777)),
            'A' => self.string(&permissions(of)),
            'b' => self.decimal(disk_usage(of) / 512),
            'B' => self.decimal(512),
            'd' | 'r' => {
                let device = if letter == 'd' { of.device } else { 0 };
                match self.part {
                    None => self.decimal(device),
                    Some('H') => self.decimal(device >> 8),
                    Some(_) => self.decimal(device & 0xff),
                }
            }
            'D' => self.hexadecimal(of.device),
            'R' => self.hexadecimal(0),
            'f' => self.hexadecimal(u64::from(type_bits(of.kind) | of.mode & 0o7777)),
            'F' => self.string(kind_name(of)),
            'g' => self.decimal(u64::from(of.gid)),
            'G' => self.string(&accounts::group_name(of.gid).unwrap_or_else(|| "UNKNOWN".to_owned())),
            'h' => self.decimal(of.links),
            'i' => self.decimal(of.inode),
            'n' => self.string(subject.name),
            'N' => self.string(&quoted(subject, always_quote)),
            'o' => self.decimal(4096),
            's' => self.decimal(of.size),
            't' | 'T' => self.hexadecimal(0),
            'u' => self.decimal(u64::from(of.uid)),
            'U' => self.string(&accounts::user_name(of.uid).unwrap_or_else(|| "UNKNOWN".to_owned())),
            // The kernel keeps no time of birth.
            'w' => self.string("-"),
            'W' => self.seconds(0),
            'x' => self.string(&calendar::timestamp(of.accessed)),
            'X' => self.seconds(of.accessed),
            'y' => self.string(&calendar::timestamp(of.modified)),
            'Y' => self.seconds(of.modified),
            'z' => self.string(&calendar::timestamp(of.changed)),
            'Z' => self.seconds(of.changed),
            'm' | 'C' => return Err(format!("'%{letter}': unsupported directive")),
            _ => "?".to_owned(),
        })
    }

    fn string(&self, text: &str) -> String {
        let shown: String = text.chars().take(self.precision.unwrap_or(usize::MAX)).collect();
        self.pad(String::new(), shown, false)
    }

    fn decimal(&self, number: u64) -> String {
        let sign = if self.plus {
            "+"
        } else if self.space {
            " "
        } else {
            ""
        };
        self.integer(sign, number.to_string())
    }

    fn octal(&self, number: u64) -> String {
        let digits = format!("{number:o}");
        // The alternate form of octal is a zero in front, if there is none.
        let lead = if self.alternate && !digits.starts_with('0') { "0" } else { "" };
        self.integer("", format!("{lead}{digits}"))
    }

    fn hexadecimal(&self, number: u64) -> String {
        self.integer(if self.alternate && number != 0 { "0x" } else { "" }, format!("{number:x}"))
    }

    fn integer(&self, prefix: &str, digits: String) -> String {
        let digits = format!("{}{digits}", "0".repeat(self.precision.unwrap_or(0).saturating_sub(digits.len())));
        self.pad(prefix.to_owned(), digits, self.zero && self.precision.is_none())
    }

    /// Formats seconds since 1970, with as many decimals as the precision says.
    fn seconds(&self, nanos: u64) -> String {
        let whole = (nanos / 1_000_000_000).to_string();
        let text = match self.precision {
            None | Some(0) => whole,
            Some(decimals) => {
                let fraction: String = format!("{:09}", nanos % 1_000_000_000)
                    .chars()
                    .chain(std::iter::repeat('0'))
                    .take(decimals)
                    .collect();
                format!("{whole}.{fraction}")
            }
        };
        self.pad(String::new(), text, self.zero)
    }

    fn pad(&self, prefix: String, text: String, zeros: bool) -> String {
        let missing = self.width.saturating_sub(prefix.len() + text.chars().count());
        match (self.left, zeros) {
            (true, _) => format!("{prefix}{text}{}", " ".repeat(missing)),
            (false, true) => format!("{prefix}{}{text}", "0".repeat(missing)),
            (false, false) => format!("{}{prefix}{text}", " ".repeat(missing)),
        }
    }
}

fn number(rest: &mut &str) -> Result<Option<usize>, String> {
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, after) = rest.split_at(length);
    *rest = after;
    match digits.parse() {
        _ if digits.is_empty() => Ok(None),
        Ok(number) if number <= MOST => Ok(Some(number)),
        _ => Err(format!("width {digits} is over the limit ({MOST})")),
    }
}

/// Writes the escape after a backslash and returns the rest.
fn escape<'a>(text: &'a str, out: &mut Vec<u8>, call: &Call) -> &'a str {
    let Some(letter) = text.chars().next() else {
        call.complain("warning: backslash at end of format");
        out.push(b'\\');
        return text;
    };
    let digits = |text: &str, base: u32, most: usize| text.chars().take(most).take_while(|c| c.is_digit(base)).count();
    let (start, length, base) = match letter {
        '0'..='7' => (0, digits(text, 8, 3), 8),
        'x' if digits(&text[1..], 16, 2) > 0 => (1, digits(&text[1..], 16, 2), 16),
        _ => (0, 0, 0),
    };
    if length > 0 {
        let code = u32::from_str_radix(&text[start..start + length], base).unwrap_or(0);
        out.push(code as u8);
        return &text[start + length..];
    }
    match letter {
        'a' => out.push(7),
        'b' => out.push(8),
        'e' => out.push(27),
        'f' => out.push(12),
        'n' => out.push(b'\n'),
        'r' => out.push(b'\r'),
        't' => out.push(b'\t'),
        'v' => out.push(11),
        '\\' | '"' => out.push(letter as u8),
        other => {
            call.complain(&format!("warning: unrecognized escape '\\{other}'"));
            out.extend_from_slice(other.to_string().as_bytes());
        }
    }
    &text[letter.len_utf8()..]
}

fn quoted(subject: &Subject, always: bool) -> String {
    let show = |name: &str| {
        if always { quote::shell(name) } else { quote::name(name).into_owned() }
    };
    match &subject.target {
        Some(target) => format!("{} -> {}", show(subject.name), show(target)),
        None => show(subject.name),
    }
}

fn kind_name(of: &Attributes) -> &'static str {
    match of.kind {
        Kind::File if of.size == 0 => "regular empty file",
        Kind::File => "regular file",
        Kind::Directory => "directory",
        Kind::Symlink => "symbolic link",
        Kind::Device => "character special file",
        Kind::Pipe => "fifo",
    }
}

fn type_bits(kind: Kind) -> u32 {
    match kind {
        Kind::File => 0o100_000,
        Kind::Directory => 0o040_000,
        Kind::Symlink => 0o120_000,
        Kind::Device => 0o020_000,
        Kind::Pipe => 0o010_000,
    }
}

fn permissions(of: &Attributes) -> String {
    let letter = match of.kind {
        Kind::File => '-',
        Kind::Directory => 'd',
        Kind::Symlink => 'l',
        Kind::Device => 'c',
        Kind::Pipe => 'p',
    };
    format!("{letter}{}", mode::letters(of.mode))
}
