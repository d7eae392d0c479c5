//! The options of `join`.

use std::cmp::Ordering;

use isopod_gnu::options::GivenOption;
use isopod_gnu::program::Call;
use isopod_gnu::quote::plain;

use super::record::Separator;

/// The check of the inputs' order.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Check {
    /// An error only if a line had no partner.
    Unpairable,
    Always,
    Never,
}

/// A field of the output; numbers count from 0.
#[derive(Clone)]
pub(super) enum Field {
    Key,
    First(usize),
    Second(usize),
}

/// The options of a run.
pub(super) struct Settings {
    pub(super) keys: [usize; 2],
    pub(super) unpaired: [bool; 2],
    pub(super) paired: bool,
    pub(super) filler: String,
    pub(super) ignore_case: bool,
    pub(super) format: Option<Vec<Field>>,
    pub(super) auto: bool,
    pub(super) separator: Separator,
    pub(super) check: Check,
    pub(super) header: bool,
    pub(super) end: u8,
}

impl Settings {
    pub(super) fn read(call: &Call) -> Result<Settings, u8> {
        let mut settings = Settings {
            keys: [0; 2],
            unpaired: [false; 2],
            paired: true,
            filler: call.value("e").unwrap_or_default().to_owned(),
            ignore_case: call.has("ignore-case"),
            format: None,
            auto: false,
            separator: Separator::Blanks,
            check: Check::Unpairable,
            header: call.has("header"),
            end: if call.has("zero-terminated") { 0 } else { b'\n' },
        };
        let mut keys = [None, None];
        let mut set_key = |side: usize, field: usize| match keys[side].replace(field) {
            Some(old) if old != field => {
                Err(call.failed(&format!("incompatible join fields {}, {}", old + 1, field + 1)))
            }
            _ => Ok(()),
        };
        for GivenOption { option, value } in &call.options {
            let value = value.as_deref().unwrap_or_default();
            match *option {
                "a" | "v" => {
                    match value {
                        "1" => settings.unpaired[0] = true,
                        "2" => settings.unpaired[1] = true,
                        wrong => {
                            return Err(call.failed(&format!("invalid file number: {}", plain(wrong))));
                        }
                    }
                    settings.paired &= *option == "a";
                }
                "1" => set_key(0, number(call, value)?)?,
                "2" => set_key(1, number(call, value)?)?,
                "j" => {
                    set_key(0, number(call, value)?)?;
                    set_key(1, number(call, value)?)?;
                }
                "o" if value == "auto" => settings.auto = true,
                "o" => settings.format.get_or_insert_default().extend(fields(call, value)?),
                "t" => {
                    settings.separator = match value.as_bytes() {
                        [] => Separator::None,
                        [byte] => Separator::Byte(*byte),
                        b"\\0" => Separator::Byte(0),
                        _ => {
                            return Err(call.failed(&format!("multi-character tab {}", plain(value))));
                        }
                    }
                }
                "check-order" => settings.check = Check::Always,
                "nocheck-order" => settings.check = Check::Never,
                _ => {}
            }
        }
        settings.keys = keys.map(Option::unwrap_or_default);
        Ok(settings)
    }

    /// Returns a format of the key and then all other fields, as many as the first lines have.
    pub(super) fn auto_format(&self, first: usize, second: usize) -> Vec<Field> {
        let mut format = vec![Field::Key];
        format.extend((0..first).filter(|number| *number != self.keys[0]).map(Field::First));
        format.extend((0..second).filter(|number| *number != self.keys[1]).map(Field::Second));
        format
    }

    pub(super) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.ignore_case {
            a.iter().map(u8::to_ascii_uppercase).cmp(b.iter().map(u8::to_ascii_uppercase))
        } else {
            a.cmp(b)
        }
    }
}

fn number(call: &Call, text: &str) -> Result<usize, u8> {
    match text.parse::<usize>() {
        Ok(number) if number > 0 && !text.starts_with('+') => Ok(number - 1),
        _ => Err(call.failed(&format!("invalid field number: {}", plain(text)))),
    }
}

fn fields(call: &Call, list: &str) -> Result<Vec<Field>, u8> {
    let mut fields = Vec::new();
    for part in list.split([',', ' ', '\t']) {
        fields.push(match part.split_once('.') {
            None if part == "0" => Field::Key,
            Some(("1", field)) => Field::First(number(call, field)?),
            Some(("2", field)) => Field::Second(number(call, field)?),
            _ => {
                let what =
                    if part.starts_with(['1', '2', '0']) { "field specifier" } else { "file number in field spec" };
                return Err(call.failed(&format!("invalid {what}: {}", plain(part))));
            }
        });
    }
    Ok(fields)
}
