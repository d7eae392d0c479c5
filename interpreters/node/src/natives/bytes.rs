//! Bytes and texts: encodings, digests and randomness.

use md5::Md5;
use rquickjs::prelude::{Func, Opt};
use rquickjs::{Ctx, Exception, Object, Result, TypedArray, Value};
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::{Text, View, array};

const HEX: &[u8; 16] = b"0123456789abcdef";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn add(sys: &Object<'_>) -> Result<()> {
    sys.set("encode", Func::from(encode))?;
    sys.set("decode", Func::from(decode))?;
    sys.set("digest", Func::from(digest))?;
    sys.set("random", Func::from(random))
}

/// `encode(text, encoding)`: returns the bytes of a text.
fn encode<'js>(ctx: Ctx<'js>, source: Text, encoding: String) -> Result<TypedArray<'js, u8>> {
    let bytes = match encoding.as_str() {
        "hex" => from_hex(&source.0),
        "base64" => from_base64(&source.0),
        _ => source.0.into_bytes(),
    };
    array(&ctx, bytes)
}

/// `decode(bytes, encoding, fatal)`: returns the text of bytes.
fn decode(ctx: Ctx<'_>, bytes: View, encoding: String, fatal: Opt<bool>) -> Result<String> {
    let View(bytes) = bytes;
    Ok(match encoding.as_str() {
        "hex" => {
            let digits = bytes.iter().flat_map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            digits.map(char::from).collect()
        }
        "base64" => to_base64(&bytes),
        "ascii" => bytes.iter().map(|byte| char::from(byte & 127)).collect(),
        "latin1" => bytes.iter().map(|byte| char::from(*byte)).collect(),
        _ => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) if fatal.0 == Some(true) => {
                return Err(Exception::throw_type(&ctx, "The encoded data was not valid for encoding utf-8"));
            }
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        },
    })
}

/// `digest(algorithm, bytes)`: returns undefined for an unknown algorithm.
fn digest<'js>(ctx: Ctx<'js>, algorithm: String, bytes: View) -> Result<Value<'js>> {
    let View(bytes) = bytes;
    let digest = match algorithm.as_str() {
        "md5" => Md5::digest(&bytes).to_vec(),
        "sha1" => Sha1::digest(&bytes).to_vec(),
        "sha224" => Sha224::digest(&bytes).to_vec(),
        "sha256" => Sha256::digest(&bytes).to_vec(),
        "sha384" => Sha384::digest(&bytes).to_vec(),
        "sha512" => Sha512::digest(&bytes).to_vec(),
        _ => return Ok(Value::new_undefined(ctx)),
    };
    Ok(array(&ctx, digest)?.into_value())
}

/// `random(length)`: returns random bytes.
fn random<'js>(ctx: Ctx<'js>, length: f64) -> Result<TypedArray<'js, u8>> {
    let mut bytes = vec![0; length as usize];
    getrandom::fill(&mut bytes).map_err(|error| Exception::throw_message(&ctx, &error.to_string()))?;
    array(&ctx, bytes)
}

/// Decodes pairs of digits up to the first other character, as Node does.
fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks_exact(2);
    pairs.map_while(|pair| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8)).collect()
}

/// Decodes both alphabets. Other characters are skipped, and padding ends the text.
fn from_base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'=' => break,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for piece in bytes.chunks(3) {
        let bits = piece.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - piece.len()));
        for index in 0..4 {
            let value = (bits >> (18 - 6 * index) & 63) as usize;
            text.push(if index <= piece.len() { char::from(BASE64[value]) } else { '=' });
        }
    }
    text
}
