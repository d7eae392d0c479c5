//! The options of `od`.

use isopod_gnu::options::GivenOption;
use isopod_gnu::program::Call;
use isopod_gnu::quote::plain;
use isopod_gnu::size;

use super::format::{Format, Kind};

/// The options of a run.
pub(super) struct Settings {
    pub(super) formats: Vec<Format>,
    pub(super) radix: char,
    pub(super) big_endian: bool,
    pub(super) skip: u64,
    pub(super) limit: Option<u64>,
    pub(super) strings: Option<usize>,
    pub(super) width: usize,
    /// Lines that repeat the one before are printed too.
    pub(super) all: bool,
}

impl Settings {
    /// Reads the options. Returns them and the operands that are files.
    pub(super) fn read(call: &Call) -> Result<(Settings, Vec<String>), u8> {
        let mut settings = Settings {
            formats: Vec::new(),
            radix: 'o',
            big_endian: false,
            skip: 0,
            limit: None,
            strings: None,
            width: 0,
            all: call.has("output-duplicates"),
        };
        let mut width = None;
        // Only calls in the old form have offsets as operands.
        let mut modern = false;
        for GivenOption { option, value } in &call.options {
            let text = value.as_deref();
            modern |= matches!(
                *option,
                "address-radix" | "skip-bytes" | "read-bytes" | "strings" | "format" | "width" | "endian"
            );
            match (*option, text) {
                ("address-radix", Some(text)) => {
                    settings.radix = match text.chars().next() {
                        Some(radix @ ('d' | 'o' | 'x' | 'n')) => radix,
                        _ => {
                            let message = "it must be one character from [doxn]";
                            call.complain(&format!("invalid output address radix {}; {message}", plain(text)));
                            return Err(1);
                        }
                    }
                }
                ("endian", Some(text)) => {
                    settings.big_endian = match text {
                        "big" => true,
                        "little" => false,
                        wrong => {
                            return Err(call.misused(&format!("invalid argument {} for '--endian'", plain(wrong))));
                        }
                    }
                }
                ("skip-bytes", Some(text)) => settings.skip = amount(call, "-j", text)?,
                ("read-bytes", Some(text)) => settings.limit = Some(amount(call, "-N", text)?),
                ("strings", text) => {
                    settings.strings = Some(text.map_or(Ok(3), |text| amount(call, "-S", text))? as usize)
                }
                ("width", text) => width = Some(text.map_or(Ok(32), |text| amount(call, "-w", text))? as usize),
                ("format", Some(text)) => {
                    let formats = Format::parse(text).map_err(|message| call.failed(&message))?;
                    settings.formats.extend(formats);
                }
                ("output-duplicates" | "traditional", _) => {}
                (short, _) => settings.formats.extend(Format::parse(short).unwrap_or_default()),
            }
        }
        let mut operands = call.operands.clone();
        if !modern || call.has("traditional") {
            let is_offset = |text: &String| text.starts_with('+') || text.starts_with(|c: char| c.is_ascii_digit());
            let candidate = operands.last().filter(|text| operands.len() <= 2 && is_offset(text)).cloned();
            if let Some(offset) = candidate.filter(|text| operands.len() == 2 || text.starts_with('+'))
                && let Some(skip) = traditional(&offset)
            {
                settings.skip = skip;
                operands.pop();
            }
        }
        if settings.formats.is_empty() {
            settings.formats.push(Format::new(Kind::Octal, 2));
        }
        let common = settings.formats.iter().map(|format| format.size).fold(1, least_multiple);
        settings.width = match width {
            Some(width) if width > 0 && width % common == 0 => width,
            Some(width) => {
                call.complain(&format!("warning: invalid width {width}; using {common} instead"));
                common
            }
            None => 16 / common * common.max(1),
        };
        if settings.width == 0 {
            settings.width = common;
        }
        Ok((settings, operands))
    }

    /// Formats an offset for the start of a line.
    pub(super) fn address(&self, offset: u64) -> String {
        match self.radix {
            'o' => format!("{offset:07o}"),
            'd' => format!("{offset:07}"),
            'x' => format!("{offset:06x}"),
            _ => String::new(),
        }
    }
}

fn amount(call: &Call, option: &str, text: &str) -> Result<u64, u8> {
    let value = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') && text.bytes().all(|c| c.is_ascii_digit()) => {
            u64::from_str_radix(text, 8).ok()
        }
        None => size::parse(text),
    };
    value.ok_or_else(|| call.failed(&format!("invalid {option} argument {}", plain(text))))
}

/// Reads an offset of the old form: octal, hexadecimal with `0x`, in blocks with `b`.
fn traditional(text: &str) -> Option<u64> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (text, unit) = text.strip_suffix('b').map_or((text, 1), |text| (text, 512));
    let value = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => u64::from_str_radix(text, 8).ok()?,
    };
    value.checked_mul(unit)
}

fn least_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
