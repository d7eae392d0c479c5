//! The options of `numfmt`.

use isopod_gnu::options::GivenOption;
use isopod_gnu::program::Call;
use isopod_gnu::quote::plain;

use super::amount::{Amount, Round, Scale};

/// The treatment of fields that are no numbers.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Invalid {
    Abort,
    Fail,
    Warn,
    Ignore,
}

/// The options of a run.
pub(super) struct Settings {
    pub(super) delimiter: Option<u8>,
    /// The ranges of fields that are converted, both ends included.
    fields: Vec<(usize, usize)>,
    from: Scale,
    to: Scale,
    from_unit: u64,
    to_unit: u64,
    /// The width of the result; negative to align it at the left, 0 for none.
    padding: i64,
    precision: Option<usize>,
    /// True if the width is filled with zeros.
    zeros: bool,
    /// The text of `--format` before and after the number.
    before: String,
    after: String,
    round: Round,
    suffix: String,
    /// The number of lines at the start that are printed unchanged.
    pub(super) header: u64,
    pub(super) invalid: Invalid,
    pub(super) end: u8,
}

impl Settings {
    pub(super) fn read(call: &Call) -> Result<Settings, u8> {
        let mut settings = Settings {
            delimiter: None,
            fields: vec![(1, 1)],
            from: Scale::None,
            to: Scale::None,
            from_unit: 1,
            to_unit: 1,
            padding: 0,
            precision: None,
            zeros: false,
            before: String::new(),
            after: String::new(),
            round: Round::FromZero,
            suffix: call.value("suffix").unwrap_or_default().to_owned(),
            header: 0,
            invalid: Invalid::Abort,
            end: if call.has("zero-terminated") { 0 } else { b'\n' },
        };
        let fail = |message: String| call.failed(&message);
        for GivenOption { option, value } in &call.options {
            let text = value.as_deref().unwrap_or_default();
            let bad = |what: &str| call.misused(&format!("invalid argument {} for '--{what}'", plain(text)));
            match *option {
                "delimiter" => {
                    settings.delimiter = match text.as_bytes() {
                        [] => Some(0),
                        [byte] => Some(*byte),
                        _ => return Err(call.misused("the delimiter must be a single character")),
                    }
                }
                "field" => settings.fields = fields(text).map_err(|message| call.misused(&message))?,
                "format" => settings.format(text).map_err(fail)?,
                "from" => settings.from = scale(text).ok_or_else(|| bad("from"))?,
                "to" => settings.to = scale(text).filter(|scale| *scale != Scale::Auto).ok_or_else(|| bad("to"))?,
                "from-unit" => {
                    settings.from_unit =
                        unit(text).ok_or_else(|| fail(format!("invalid unit size: {}", plain(text))))?
                }
                "to-unit" => {
                    settings.to_unit = unit(text).ok_or_else(|| fail(format!("invalid unit size: {}", plain(text))))?
                }
                "header" => {
                    settings.header = match value {
                        None => 1,
                        Some(text) => text
                            .parse()
                            .ok()
                            .filter(|count| *count > 0)
                            .ok_or_else(|| fail(format!("invalid header value {}", plain(text))))?,
                    }
                }
                "invalid" => {
                    settings.invalid = match text {
                        "abort" => Invalid::Abort,
                        "fail" => Invalid::Fail,
                        "warn" => Invalid::Warn,
                        "ignore" => Invalid::Ignore,
                        _ => return Err(bad("invalid")),
                    }
                }
                "padding" => {
                    settings.padding = text
                        .parse()
                        .ok()
                        .filter(|width: &i64| *width != 0 && width.abs() < 1 << 20)
                        .ok_or_else(|| fail(format!("invalid padding value {}", plain(text))))?;
                }
                "round" => {
                    settings.round = match text {
                        "up" => Round::Up,
                        "down" => Round::Down,
                        "from-zero" => Round::FromZero,
                        "towards-zero" => Round::TowardsZero,
                        "nearest" => Round::Nearest,
                        _ => return Err(bad("round")),
                    }
                }
                _ => {}
            }
        }
        if call.has("grouping") && settings.to != Scale::None {
            return Err(fail("grouping cannot be combined with --to".to_owned()));
        }
        if call.has("grouping") && call.has("format") {
            return Err(fail("--grouping cannot be combined with --format".to_owned()));
        }
        Ok(settings)
    }

    pub(super) fn has_field(&self, number: usize) -> bool {
        self.fields.iter().any(|(first, last)| (*first..=*last).contains(&number))
    }

    /// Reads a format: the texts around its one `%f`, the width and the precision.
    fn format(&mut self, text: &str) -> Result<(), String> {
        let shown = plain(text);
        let mut parts = [String::new(), String::new()];
        let mut chars = text.chars().peekable();
        let mut found = false;
        while let Some(c) = chars.next() {
            if c != '%' {
                parts[usize::from(found)].push(c);
                continue;
            }
            if chars.next_if_eq(&'%').is_some() {
                parts[usize::from(found)].push('%');
                continue;
            }
            if found {
                return Err(format!("format {shown} has too many % directives"));
            }
            found = true;
            let mut left = false;
            while let Some(flag) = chars.next_if(|c| matches!(c, ' ' | '\'' | '0' | '-')) {
                left |= flag == '-';
                self.zeros |= flag == '0';
            }
            let mut digits = String::new();
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            let width: i64 = if digits.is_empty() {
                0
            } else {
                digits.parse().map_err(|_| format!("invalid format {shown} (width overflow)"))?
            };
            if width > 0 {
                self.padding = if left { -width } else { width };
            }
            if chars.next_if_eq(&'.').is_some() {
                let mut digits = String::new();
                while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                let places = if digits.is_empty() { Ok(0) } else { digits.parse() };
                self.precision = Some(
                    places
                        .ok()
                        .filter(|places| *places <= 30)
                        .ok_or_else(|| format!("invalid precision in format {shown}"))?,
                );
            }
            match chars.next() {
                Some('f') => {}
                None => return Err(format!("format {shown} ends in %")),
                Some(_) => return Err(format!("invalid format {shown}, directive must be %[0]['][-][N][.][N]f")),
            }
        }
        if !found {
            return Err(format!("format {shown} has no % directive"));
        }
        [self.before, self.after] = parts;
        Ok(())
    }

    /// Converts a field.
    pub(super) fn convert(&self, field: &str, number: usize) -> Result<String, String> {
        let trimmed = field.trim_start_matches([' ', '\t']);
        let bare = match trimmed.strip_suffix(self.suffix.as_str()) {
            Some(bare) if !self.suffix.is_empty() && !bare.is_empty() => bare,
            _ => trimmed,
        };
        let amount = Amount::parse(bare, self.from)?;
        let too_large = || format!("value too large to be printed: {} (consider using --to)", plain(bare));
        let amount = amount.scaled(self.from_unit, self.to_unit).ok_or_else(too_large)?;
        let mut text = amount.text(self.to, self.precision, self.round).ok_or_else(too_large)?;
        text.push_str(&self.suffix);
        // Without a delimiter, columns stay aligned.
        let automatic = self.padding == 0 && self.delimiter.is_none() && (trimmed.len() < field.len() || number > 1);
        let padding = if automatic { field.len() as i64 } else { self.padding };
        let width = padding.unsigned_abs() as usize;
        let padded = match padding {
            padding if padding < 0 => format!("{text:<width$}"),
            _ if self.zeros => match text.strip_prefix('-') {
                Some(rest) => format!("-{rest:0>rest_width$}", rest_width = width.saturating_sub(1)),
                None => format!("{text:0>width$}"),
            },
            _ => format!("{text:>width$}"),
        };
        Ok(format!("{}{padded}{}", self.before, self.after))
    }
}

fn scale(text: &str) -> Option<Scale> {
    Some(match text {
        "none" => Scale::None,
        "auto" => Scale::Auto,
        "si" => Scale::Si,
        "iec" => Scale::Iec,
        "iec-i" => Scale::IecI,
        _ => return None,
    })
}

/// Reads a unit size: a number, maybe with a letter, `K` for 1000 and `Ki` for 1024.
fn unit(text: &str) -> Option<u64> {
    let amount = Amount::parse(text, Scale::Auto).ok()?;
    u64::try_from(amount.above / amount.below).ok().filter(|unit| *unit > 0)
}

fn fields(list: &str) -> Result<Vec<(usize, usize)>, String> {
    let number = |text: &str| match text.parse::<usize>() {
        Ok(0) => Err("fields are numbered from 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("invalid field value {}", plain(text))),
    };
    let mut fields = Vec::new();
    for part in list.split([',', ' ']) {
        fields.push(match part.split_once('-') {
            None => (number(part)?, number(part)?),
            Some(("", "")) => (1, usize::MAX),
            Some((first, "")) => (number(first)?, usize::MAX),
            Some(("", last)) => (1, number(last)?),
            Some((first, last)) => (number(first)?, number(last)?),
        });
    }
    if fields.iter().any(|(first, last)| first > last) {
        return Err("invalid decreasing range".to_owned());
    }
    Ok(fields)
}
