//! Backslash escapes of `printf`.

/// Reads the escape that a text starts with and adds its bytes. Returns its length; `None` is `\c`, the end of all
/// output. In an argument of `%b`, octal digits may follow a zero.
pub(super) fn escape(text: &[u8], in_argument: bool, bytes: &mut Vec<u8>) -> Result<Option<usize>, String> {
    let Some(&letter) = text.get(1) else {
        bytes.push(b'\\');
        return Ok(Some(1));
    };
    let byte = match letter {
        b'a' => 7,
        b'b' => 8,
        b'c' => return Ok(None),
        b'e' => 0x1b,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'"' | b'\\' => letter,
        b'x' => {
            let (value, count) = digits(&text[2..], 16, 2);
            if count == 0 {
                return Err("missing hexadecimal number in escape".to_owned());
            }
            bytes.push(value as u8);
            return Ok(Some(2 + count));
        }
        b'0'..=b'7' => {
            let skip = usize::from(in_argument && letter == b'0');
            let (value, count) = digits(&text[1 + skip..], 8, 3);
            bytes.push(value as u8);
            return Ok(Some(1 + skip + count));
        }
        b'u' | b'U' => {
            let most = if letter == b'u' { 4 } else { 8 };
            let (value, count) = digits(&text[2..], 16, most);
            if count < most {
                return Err("missing hexadecimal number in escape".to_owned());
            }
            // C refuses universal names for the basic characters.
            let refused = value < 0xa0 && !matches!(value, 0x24 | 0x40 | 0x60) || (0xd800..0xe000).contains(&value);
            match char::from_u32(value).filter(|_| !refused) {
                Some(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                None if refused => {
                    return Err(format!("invalid universal character name \\{}{value:0most$x}", char::from(letter)));
                }
                None => bytes.extend_from_slice(format!("\\{}{value:0most$X}", char::from(letter)).as_bytes()),
            }
            return Ok(Some(2 + count));
        }
        _ => {
            bytes.push(b'\\');
            bytes.push(letter);
            return Ok(Some(2));
        }
    };
    bytes.push(byte);
    Ok(Some(2))
}

fn digits(text: &[u8], base: u32, most: usize) -> (u32, usize) {
    let mut value = 0u32;
    let mut count = 0;
    while count < most {
        let Some(digit) = text.get(count).and_then(|byte| char::from(*byte).to_digit(base)) else { break };
        value = value.wrapping_mul(base).wrapping_add(digit);
        count += 1;
    }
    (value, count)
}
