//! Numeric arguments that mean more, less or exactly: `+3`, `-3`, `3`.

use std::cmp::Ordering;

/// A number to compare with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bound<T> {
    /// The order that a compared value must have to the bound.
    pub(super) order: Ordering,
    pub(super) value: T,
}

impl Bound<u64> {
    /// Reads `+N`, `-N` or `N`.
    pub(super) fn parse(text: &str) -> Option<Bound<u64>> {
        let (order, digits) = split_sign(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Bound { order, value: digits.parse().ok()? })
    }
}

impl<T: PartialOrd> Bound<T> {
    /// Returns true if a value is on the right side of the bound.
    pub(super) fn holds(&self, value: T) -> bool {
        value.partial_cmp(&self.value) == Some(self.order)
    }
}

/// Splits the sign off the front of a number.
pub(super) fn split_sign(text: &str) -> (Ordering, &str) {
    match text.split_at_checked(1) {
        Some(("+", digits)) => (Ordering::Greater, digits),
        Some(("-", digits)) => (Ordering::Less, digits),
        _ => (Ordering::Equal, text),
    }
}

/// A size in units. A compared size is rounded up to whole units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) bound: Bound<u64>,
    unit: u64,
}

impl Size {
    /// Reads `-size`'s argument. An error is the whole message.
    pub(super) fn parse(text: &str) -> Result<Size, String> {
        let last = text.chars().next_back().ok_or("invalid null argument to -size")?;
        let unit = match last {
            'b' => 512,
            'c' => 1,
            'k' => 1 << 10,
            'M' => 1 << 20,
            'G' => 1 << 30,
            'w' => 2,
            '0'..='9' => 0,
            _ => return Err(format!("invalid -size type `{last}'")),
        };
        let (number, unit) = if unit == 0 { (text, 512) } else { (&text[..text.len() - 1], unit) };
        let bound = Bound::parse(number).ok_or_else(|| format!("Invalid argument `{text}' to -size"))?;
        Ok(Size { bound, unit })
    }

    /// Returns true if a number of bytes is on the right side.
    pub(super) fn holds(&self, bytes: u64) -> bool {
        self.bound.holds(bytes.div_ceil(self.unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_their_unit() {
        let holds = |text: &str, bytes| Size::parse(text).unwrap().holds(bytes);
        assert!(holds("1k", 1) && holds("1k", 1024) && !holds("1k", 1025));
        assert!(holds("-1k", 0) && !holds("-1k", 1) && holds("+1", 513) && holds("1", 512));
        for wrong in ["", "x", "1x", "+", "1kk", "+-1", "k"] {
            assert!(Size::parse(wrong).is_err(), "{wrong}");
        }
    }
}
