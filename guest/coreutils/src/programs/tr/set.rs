//! The strings of `tr`, and the bytes that they stand for.

use isopod_ctype::Class;

/// A parsed string of `tr`.
#[derive(Default)]
pub(super) struct Set {
    items: Vec<Item>,
}

enum Item {
    Byte(u8),
    Range(u8, u8),
    Class(Class),
    /// A byte so many times; 0 is as often as needed.
    Repeat(u8, usize),
    /// The bytes of a complement.
    Bytes(Vec<u8>),
}

/// Returns true if a byte is in a class. `tr` works on bytes, so every class has only ASCII characters.
fn is_member(class: Class, byte: u8) -> bool {
    byte.is_ascii() && class.contains(byte)
}

impl Set {
    /// Reads a string with escapes, ranges and bracket constructs.
    pub(super) fn parse(text: &[u8]) -> Result<Set, String> {
        let bytes = unescape(text);
        let mut items = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            if let Some((item, next)) = bracket(&bytes, at)? {
                items.push(item);
                at = next;
                continue;
            }
            let (low, _) = bytes[at];
            match (bytes.get(at + 1), bytes.get(at + 2)) {
                (Some((b'-', false)), Some((high, _))) => {
                    if low > *high {
                        let shown = format!("{}-{}", show(low), show(*high));
                        return Err(format!("range-endpoints of '{shown}' are in reverse collating sequence order"));
                    }
                    items.push(Item::Range(low, *high));
                    at += 3;
                }
                _ => {
                    items.push(Item::Byte(low));
                    at += 1;
                }
            }
        }
        Ok(Set { items })
    }

    /// Returns all bytes that are not in it, in their order.
    pub(super) fn complement(&self) -> Set {
        let bytes = self.expand(0);
        Set { items: vec![Item::Bytes((0..=255).filter(|byte| !bytes.contains(byte)).collect())] }
    }

    /// Returns its bytes, in order; `[c*]` fills it up to `length`.
    pub(super) fn expand(&self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let fill = length.saturating_sub(self.items.iter().map(Item::length).sum());
        for item in &self.items {
            match item {
                Item::Byte(byte) => bytes.push(*byte),
                Item::Range(low, high) => bytes.extend(*low..=*high),
                Item::Class(class) => bytes.extend((0..=255).filter(|byte| is_member(*class, *byte))),
                Item::Repeat(byte, 0) => bytes.extend(std::iter::repeat_n(*byte, fill)),
                // More repetitions than there are bytes make no difference.
                Item::Repeat(byte, count) => bytes.extend(std::iter::repeat_n(*byte, (*count).min(256))),
                Item::Bytes(all) => bytes.extend_from_slice(all),
            }
        }
        bytes
    }

    /// Returns the replacements of the bytes of `first`, or the reason why this set has none.
    pub(super) fn targets(
        &self,
        first: &Set,
        case: Option<&[usize]>,
        truncate: bool,
        one_target: bool,
    ) -> Result<Vec<u8>, String> {
        if self.fills() > 1 {
            return Err("only one [c*] repeat construct may appear in string2".to_owned());
        }
        let sources = first.expand(0);
        let mut targets = self.expand(sources.len());
        let is_case = |item: &Item| matches!(item, Item::Class(Class::Lower | Class::Upper));
        if self.items.iter().any(|item| matches!(item, Item::Class(_)) && !is_case(item)) {
            return Err("when translating, the only character classes that may appear in\n\
                        string2 are 'upper' and 'lower'"
                .to_owned());
        }
        if let Some(case) = case
            && self.case_offsets().iter().any(|offset| !case.contains(offset))
        {
            return Err("misaligned [:upper:] and/or [:lower:] construct".to_owned());
        }
        if targets.len() < sources.len() && !truncate {
            match (self.items.last(), targets.last()) {
                (Some(Item::Class(_)), _) => {
                    return Err("when translating with string1 longer than string2,\n\
                                the latter string must not end with a character class"
                        .to_owned());
                }
                (_, Some(last)) => targets.resize(sources.len(), *last),
                (_, None) => return Err("when not truncating set1, string2 must be non-empty".to_owned()),
            }
        }
        let is_one = targets.len() == sources.len() && targets.windows(2).all(|pair| pair[0] == pair[1]);
        if one_target && !is_one {
            return Err("when translating with complemented character classes,\n\
                        string2 must map all characters in the domain to one"
                .to_owned());
        }
        Ok(targets)
    }

    /// Returns the positions of `[:lower:]` and `[:upper:]`: they correspond only at the same position.
    pub(super) fn case_offsets(&self) -> Vec<usize> {
        let mut offset = 0;
        let mut offsets = Vec::new();
        for item in &self.items {
            if matches!(item, Item::Class(Class::Lower | Class::Upper)) {
                offsets.push(offset);
            }
            offset += item.length();
        }
        offsets
    }

    pub(super) fn has_class(&self) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Class(_)))
    }

    /// Returns the number of `[c*]` in it.
    pub(super) fn fills(&self) -> usize {
        self.items.iter().filter(|item| matches!(item, Item::Repeat(_, 0))).count()
    }
}

impl Item {
    fn length(&self) -> usize {
        match self {
            Item::Byte(_) => 1,
            Item::Range(low, high) => usize::from(high - low) + 1,
            Item::Class(class) => (0..=255).filter(|byte| is_member(*class, *byte)).count(),
            Item::Repeat(_, count) => (*count).min(256),
            Item::Bytes(bytes) => bytes.len(),
        }
    }
}

/// Replaces escapes. The flag of a byte is true if it was escaped: it has no special meaning then.
fn unescape(text: &[u8]) -> Vec<(u8, bool)> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'\\' || at + 1 == text.len() {
            bytes.push((text[at], false));
            at += 1;
            continue;
        }
        at += 1;
        let digits = text[at..].iter().take(3).take_while(|digit| (b'0'..=b'7').contains(digit)).count();
        if digits > 0 {
            let value = |count: usize| text[at..at + count].iter().fold(0u32, |v, d| v * 8 + u32::from(d - b'0'));
            // Three digits beyond 255 are a byte of two digits and a digit.
            let used = if value(digits) > 255 { 2 } else { digits };
            bytes.push((value(used) as u8, true));
            at += used;
            continue;
        }
        let byte = match text[at] {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            other => other,
        };
        bytes.push((byte, true));
        at += 1;
    }
    bytes
}

/// Reads a bracket construct, if there is one. Returns it and its end.
fn bracket(bytes: &[(u8, bool)], at: usize) -> Result<Option<(Item, usize)>, String> {
    if bytes[at] != (b'[', false) {
        return Ok(None);
    }
    for mark in [b':', b'='] {
        if bytes.get(at + 1) != Some(&(mark, false)) {
            continue;
        }
        let Some(length) = bytes[at + 2..].windows(2).position(|pair| pair == [(mark, false), (b']', false)]) else {
            break;
        };
        let inner: Vec<u8> = bytes[at + 2..at + 2 + length].iter().map(|(byte, _)| *byte).collect();
        let next = at + length + 4;
        // `[:*]` repeats a colon.
        if inner.is_empty() && bytes.get(at + 2) == Some(&(b'*', false)) {
            break;
        }
        let shown = String::from_utf8_lossy(&inner);
        if mark == b'=' {
            return match inner.as_slice() {
                [byte] => Ok(Some((Item::Byte(*byte), next))),
                [] => Err("missing equivalence class character '[==]'".to_owned()),
                _ => Err(format!("{shown}: equivalence class operand must be a single character")),
            };
        }
        return match Class::named(&inner) {
            Some(class) => Ok(Some((Item::Class(class), next))),
            None if inner.is_empty() => Err("missing character class name '[::]'".to_owned()),
            // `[:*:]` and the like are plain characters.
            None if bytes.get(at + 2) == Some(&(b'*', false)) => break,
            None => Err(format!("invalid character class '{shown}'")),
        };
    }
    let (Some((byte, _)), Some((b'*', false))) = (bytes.get(at + 1), bytes.get(at + 2)) else {
        return Ok(None);
    };
    let Some(length) = bytes[at + 3..].iter().position(|found| *found == (b']', false)) else {
        return Ok(None);
    };
    let digits: String = bytes[at + 3..at + 3 + length].iter().map(|(byte, _)| char::from(*byte)).collect();
    let base = if digits.starts_with('0') { 8 } else { 10 };
    let count = match digits.as_str() {
        "" => 0,
        digits if digits.bytes().all(|digit| digit.is_ascii_digit()) => usize::from_str_radix(digits, base)
            .map_err(|_| format!("invalid repeat count '{digits}' in [c*n] construct"))?,
        _ => return Err(format!("invalid repeat count '{digits}' in [c*n] construct")),
    };
    Ok(Some((Item::Repeat(*byte, count), at + length + 4)))
}

fn show(byte: u8) -> String {
    if byte.is_ascii_graphic() || byte == b' ' { char::from(byte).to_string() } else { format!("\\{byte:03o}") }
}
