//! The operands of `dd`.

use isopod_gnu::quote::plain;
use isopod_gnu::size;

/// The report at the end.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Status {
    All,
    NoTransfer,
    None,
}

/// The operands. Numbers are bytes, but for `count`.
pub(super) struct Settings {
    pub(super) input: Option<String>,
    pub(super) output: Option<String>,
    pub(super) input_size: usize,
    pub(super) output_size: usize,
    /// `bs=` set both sizes.
    pub(super) same_size: bool,
    pub(super) skip: u64,
    pub(super) seek: u64,
    pub(super) count: Option<u64>,
    pub(super) count_bytes: bool,
    pub(super) status: Status,
    words: Vec<String>,
}

/// The largest block: one is kept in memory.
const MOST: u64 = 64 << 20;

const CONVERSIONS: [&str; 11] =
    ["notrunc", "excl", "nocreat", "noerror", "sync", "ucase", "lcase", "swab", "fsync", "fdatasync", "sparse"];
const INPUT_FLAGS: [&str; 4] = ["fullblock", "count_bytes", "skip_bytes", "seek_bytes"];
const OUTPUT_FLAGS: [&str; 5] = ["append", "seek_bytes", "sync", "dsync", "nonblock"];

impl Settings {
    pub(super) fn read(operands: &[String]) -> Result<Settings, String> {
        let mut settings = Settings {
            input: None,
            output: None,
            input_size: 512,
            output_size: 512,
            same_size: false,
            skip: 0,
            seek: 0,
            count: None,
            count_bytes: false,
            status: Status::All,
            words: Vec::new(),
        };
        let (mut skip, mut seek) = ((0, false), (0, false));
        let (mut input_size, mut output_size, mut both) = (None, None, None);
        for operand in operands {
            let Some((name, value)) = operand.split_once('=') else {
                return Err(format!("unrecognized operand {}", plain(operand)));
            };
            match name {
                "if" => settings.input = Some(value.to_owned()),
                "of" => settings.output = Some(value.to_owned()),
                "bs" => both = Some(block(value)?),
                "ibs" => input_size = Some(block(value)?),
                "obs" => output_size = Some(block(value)?),
                "cbs" => return Err("unsupported operand 'cbs'".to_owned()),
                "skip" | "iseek" => skip = number(value)?,
                "seek" | "oseek" => seek = number(value)?,
                "count" => {
                    let (count, in_bytes) = number(value)?;
                    (settings.count, settings.count_bytes) = (Some(count), in_bytes);
                }
                "status" => {
                    settings.status = match value {
                        "none" => Status::None,
                        "noxfer" => Status::NoTransfer,
                        "progress" => Status::All,
                        wrong => return Err(format!("invalid status level: {}", plain(wrong))),
                    }
                }
                "conv" => settings.words(value, &CONVERSIONS, "conversion")?,
                "iflag" => settings.words(value, &INPUT_FLAGS, "input flag")?,
                "oflag" => settings.words(value, &OUTPUT_FLAGS, "output flag")?,
                _ => return Err(format!("unrecognized operand {}", plain(operand))),
            }
        }
        if settings.has("ucase") && settings.has("lcase") {
            return Err("cannot combine lcase and ucase".to_owned());
        }
        settings.same_size = both.is_some();
        settings.input_size = both.or(input_size).unwrap_or(512);
        settings.output_size = both.or(output_size).unwrap_or(512);
        settings.count_bytes |= settings.has("count_bytes");
        let bytes = |(count, in_bytes): (u64, bool), flag: &str, size: usize| {
            if in_bytes || settings.has(flag) { count } else { count.saturating_mul(size as u64) }
        };
        let (skip, seek) =
            (bytes(skip, "skip_bytes", settings.input_size), bytes(seek, "seek_bytes", settings.output_size));
        (settings.skip, settings.seek) = (skip, seek);
        Ok(settings)
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|known| known == word)
    }

    fn words(&mut self, list: &str, known: &[&str], what: &str) -> Result<(), String> {
        for word in list.split(',') {
            if !known.contains(&word) {
                return Err(format!("invalid {what}: {}", plain(word)));
            }
            self.words.push(word.to_owned());
        }
        Ok(())
    }
}

fn block(text: &str) -> Result<usize, String> {
    match number(text)?.0 {
        0 => Err(format!("invalid number: {}", plain(text))),
        size if size > MOST => Err(format!("invalid number: {}: a block may have at most 64 MiB", plain(text))),
        size => Ok(size as usize),
    }
}

/// Reads a number with units and factors, `2x512`. The flag is true if it counts bytes (`B`).
fn number(text: &str) -> Result<(u64, bool), String> {
    let mut product: u64 = 1;
    let mut in_bytes = false;
    for factor in text.split('x') {
        let value = match factor
            .strip_suffix('c')
            .or(factor.strip_suffix('B').filter(|rest| rest.ends_with(|c: char| c.is_ascii_digit())))
        {
            Some(bytes) => {
                in_bytes |= factor.ends_with('B');
                size::parse(bytes)
            }
            None => match factor.strip_suffix('w') {
                Some(words) => size::parse(words).map(|words| words.saturating_mul(2)),
                None => size::parse(factor),
            },
        };
        product = product.saturating_mul(value.ok_or_else(|| format!("invalid number: {}", plain(text)))?);
    }
    Ok((product, in_bytes))
}
