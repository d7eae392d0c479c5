//! Numbers with units, kept exactly.

/// A number: its sign, and a fraction of whole numbers.
#[derive(Clone, Copy)]
pub(super) struct Amount {
    pub(super) negative: bool,
    pub(super) above: u128,
    pub(super) below: u128,
    /// Digits after the point, as they were given.
    pub(super) places: usize,
}

/// The meaning of unit letters.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scale {
    None,
    Auto,
    Si,
    Iec,
    IecI,
}

/// The direction of rounding.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Round {
    Up,
    Down,
    FromZero,
    TowardsZero,
    Nearest,
}

const LETTERS: &str = "KMGTPEZY";

impl Scale {
    pub(super) fn base(self) -> u128 {
        if self == Scale::Si { 1000 } else { 1024 }
    }
}

impl Amount {
    /// Reads a number with a letter.
    pub(super) fn parse(text: &str, scale: Scale) -> Result<Amount, String> {
        let shown = || isopod_gnu::quote::plain(text);
        let (digits, negative) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
        let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
        let mut used = whole;
        let mut places = 0;
        if digits.as_bytes().get(whole) == Some(&b'.') {
            places = digits[whole + 1..].bytes().take_while(u8::is_ascii_digit).count();
            used += 1 + places;
        }
        if places == 0 && (whole == 0 || used > whole) {
            return Err(format!("invalid number: {}", shown()));
        }
        let number: String = digits[..used].chars().filter(char::is_ascii_digit).collect();
        let too_large = || format!("value too large to be converted: {}", shown());
        let mut above: u128 = number.parse().map_err(|_| too_large())?;
        let mut below = 10u128.checked_pow(places as u32).ok_or_else(too_large)?;
        let rest = &digits[used..];
        if rest.starts_with('.') {
            return Err(format!("invalid number: {}", shown()));
        }
        let Some(letter) = rest.chars().next() else {
            if scale == Scale::IecI {
                return Err(format!("missing 'i' suffix in input: {} (e.g Ki/Mi/Gi)", shown()));
            }
            return Ok(Amount { negative, above, below, places });
        };
        let Some(power) = LETTERS.find(letter).map(|power| power as u32 + 1) else {
            return Err(format!("invalid suffix in input: {}", shown()));
        };
        let after = &rest[1..];
        let (base, after) = match (scale, after.strip_prefix('i')) {
            (Scale::None, _) => {
                return Err(format!("rejecting suffix in input: {} (consider using --from)", shown()));
            }
            (Scale::Auto | Scale::IecI, Some(after)) => (1024u128, after),
            (Scale::Auto | Scale::Si, None) => (1000, after),
            (Scale::Iec, None) => (1024, after),
            (Scale::IecI, None) => {
                return Err(format!("missing 'i' suffix in input: {} (e.g Ki/Mi/Gi)", shown()));
            }
            (_, Some(_)) => (1000, after),
        };
        if !after.is_empty() {
            return Err(format!("invalid suffix in input {}: {}", shown(), isopod_gnu::quote::plain(after)));
        }
        above = base.checked_pow(power).and_then(|factor| above.checked_mul(factor)).ok_or_else(too_large)?;
        while below > 1 && above.is_multiple_of(10) && below.is_multiple_of(10) {
            (above, below) = (above / 10, below / 10);
        }
        Ok(Amount { negative, above, below, places: 0 })
    }

    /// Multiplies by one number and divides by another.
    pub(super) fn scaled(self, by: u64, over: u64) -> Option<Amount> {
        let above = self.above.checked_mul(by.into())?;
        let below = self.below.checked_mul(over.into())?;
        Some(Amount { above, below, ..self })
    }

    /// Formats the amount with a unit letter and `precision` decimals, by default as many as suit its size. Returns
    /// `None` if the amount is too large.
    pub(super) fn text(self, scale: Scale, precision: Option<usize>, round: Round) -> Option<String> {
        let sign = if self.negative { "-" } else { "" };
        if scale == Scale::None {
            let places = precision.unwrap_or(self.places);
            let units = self.rounded(10u128.checked_pow(places as u32)?, self.below, round)?;
            let sign = if units == 0 { "" } else { sign };
            return Some(format!("{sign}{}", decimal(units, places)));
        }
        let base = scale.base();
        let (mut below, mut power) = (self.below, 0usize);
        while self.above >= below.checked_mul(base)? {
            below *= base;
            power += 1;
        }
        let adjust = match precision {
            Some(precision) => precision.min(power * 3),
            None => usize::from(self.above < below.checked_mul(10)?),
        };
        let units = self.rounded(10u128.checked_pow(adjust as u32)?, below, round)?;
        // Rounding may turn 999.9 into 1000.
        let mut whole = 10u128.pow(adjust as u32);
        if units >= base.checked_mul(whole)? {
            whole *= base;
            power += 1;
        }
        let places = match precision {
            Some(precision) => precision,
            None => usize::from(units != 0 && units < whole * 10 && power > 0),
        };
        let shown = round_even(units.checked_mul(10u128.checked_pow(places as u32)?)?, whole);
        let sign = if units == 0 { "" } else { sign };
        let letter = match power {
            0 => "",
            power => LETTERS.get(power - 1..power)?,
        };
        let i = if scale == Scale::IecI && power > 0 { "i" } else { "" };
        Some(format!("{sign}{}{letter}{i}", decimal(shown, places)))
    }

    /// Returns `above * times / below` as a whole number.
    fn rounded(self, times: u128, below: u128, round: Round) -> Option<u128> {
        let product = self.above.checked_mul(times)?;
        let (whole, rest) = (product / below, product % below);
        let away = match round {
            Round::FromZero => rest > 0,
            Round::TowardsZero => false,
            Round::Up => rest > 0 && !self.negative,
            Round::Down => rest > 0 && self.negative,
            Round::Nearest => rest >= below - rest,
        };
        Some(whole + u128::from(away))
    }
}

fn round_even(value: u128, by: u128) -> u128 {
    let (whole, rest) = (value / by, value % by);
    whole + u128::from(rest * 2 > by || rest * 2 == by && whole % 2 == 1)
}

fn decimal(units: u128, places: usize) -> String {
    let digits = format!("{units:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    if places == 0 { whole.to_owned() } else { format!("{whole}.{fraction}") }
}
