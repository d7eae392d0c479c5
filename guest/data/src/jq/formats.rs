//! `@base64` and its like: values as text.

use data_encoding::{BASE32, BASE64, Encoding};

use super::access::Outcome;
use super::arithmetic::describe;
use super::program::Formatting;
use crate::json;
use crate::value::Value;

/// The format of a name, which begins with `@`.
pub(crate) fn find(name: &str) -> Option<Formatting> {
    Some(match name {
        "@text" => Formatting::Text,
        "@json" => Formatting::Json,
        "@csv" => Formatting::Csv,
        "@tsv" => Formatting::Tsv,
        "@html" => Formatting::Html,
        "@uri" => Formatting::Uri,
        "@urid" => Formatting::UriDecode,
        "@sh" => Formatting::Sh,
        "@base64" => Formatting::Base64,
        "@base64d" => Formatting::Base64Decode,
        "@base32" => Formatting::Base32,
        "@base32d" => Formatting::Base32Decode,
        _ => return None,
    })
}

/// The parts of a string, joined: those at odd places are values that are formatted. A sole one is a value.
pub(crate) fn join(formatting: Option<Formatting>, parts: Vec<Value>) -> Outcome {
    let formatting = formatting.unwrap_or(Formatting::Text);
    if let [only] = parts.as_slice() {
        return format(formatting, only).map(Value::text);
    }
    let mut text = String::new();
    for (index, part) in parts.iter().enumerate() {
        match part {
            Value::Text(plain) if index % 2 == 0 || formatting == Formatting::Text => text.push_str(plain),
            part => text.push_str(&format(formatting, part)?),
        }
    }
    Ok(Value::text(text))
}

/// A value as plain text: a string as it is, others as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        other => json::compact(other),
    }
}

fn format(formatting: Formatting, value: &Value) -> Result<String, Value> {
    match formatting {
        Formatting::Text => Ok(plain(value)),
        Formatting::Json => Ok(json::compact(value)),
        Formatting::Csv => row(value, "csv", ",", |text| format!("\"{}\"", text.replace('"', "\"\""))),
        Formatting::Tsv => row(value, "tsv", "\t", |text| {
            text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
        }),
        Formatting::Html => Ok(plain(value)
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('\'', "&apos;")
            .replace('"', "&quot;")),
        Formatting::Uri => {
            let mut out = String::new();
            for byte in plain(value).bytes() {
                if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
                    out.push(char::from(byte));
                } else {
                    out.push_str(&format!("%{byte:02X}"));
                }
            }
            Ok(out)
        }
        Formatting::UriDecode => Ok(uri_decode(&plain(value))),
        Formatting::Sh => {
            let word = |value: &Value| match value {
                Value::Text(text) => Ok(format!("'{}'", text.replace('\'', "'\\''"))),
                Value::Array(_) | Value::Object(_) => {
                    Err(Value::text(format!("{} can not be escaped for shell", describe(value))))
                }
                other => Ok(json::compact(other)),
            };
            match value {
                Value::Array(items) => Ok(items.iter().map(word).collect::<Result<Vec<_>, _>>()?.join(" ")),
                other => word(other),
            }
        }
        Formatting::Base64 => Ok(BASE64.encode(plain(value).as_bytes())),
        Formatting::Base32 => Ok(BASE32.encode(plain(value).as_bytes())),
        Formatting::Base64Decode => {
            let text = plain(value);
            let bytes = decode(&text, &BASE64);
            let Some(bytes) = bytes else {
                return Err(Value::text(format!("{} is not valid base64 data", describe(&Value::text(text)))));
            };
            if bytes.is_empty() && !text.trim_end_matches('=').is_empty() {
                return Err(Value::text(format!("{} trailing base64 byte found", describe(&Value::text(text)))));
            }
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }
        Formatting::Base32Decode => {
            let text = plain(value);
            match decode(&text, &BASE32) {
                Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
                None => Err(Value::text(format!("{} is not valid base32 data", describe(&Value::text(text))))),
            }
        }
    }
}

fn row(value: &Value, name: &str, separator: &str, quoted: impl Fn(&str) -> String) -> Result<String, Value> {
    let Value::Array(items) = value else {
        return Err(Value::text(format!("{} cannot be {name}-formatted, only array", describe(value))));
    };
    let mut cells = Vec::with_capacity(items.len());
    for item in items.iter() {
        cells.push(match item {
            Value::Null => String::new(),
            Value::Text(text) => quoted(text),
            Value::Array(_) | Value::Object(_) => {
                return Err(Value::text(format!("{} is not valid in a csv row", describe(item))));
            }
            Value::Number(number) if number.float().is_nan() => String::new(),
            other => json::compact(other),
        });
    }
    Ok(cells.join(separator))
}

/// Decodes a text with or without padding. Bits that are left over are dropped, as jq does; `None` is a letter that is
/// not of the encoding.
fn decode(text: &str, encoding: &Encoding) -> Option<Vec<u8>> {
    let letters = text.trim_end_matches('=').as_bytes();
    let count = letters.len() * encoding.bit_width() / 8;
    let (whole, left) = letters.split_at((count * 8).div_ceil(encoding.bit_width()));
    if left.iter().any(|letter| encoding.interpret_byte(*letter).is_symbol().is_none()) {
        return None;
    }
    let mut lenient = encoding.specification();
    lenient.padding = None;
    lenient.check_trailing_bits = false;
    lenient.encoding().ok()?.decode(whole).ok()
}

fn uri_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (bytes[at], code) {
            (b'%', Some(code)) => {
                out.push(code);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
