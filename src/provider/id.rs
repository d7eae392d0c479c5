//! The id of a sandbox.

use std::fmt;
use std::str::FromStr;

use super::{ProviderError, Result};

/// The id of a sandbox: exactly eight lower-case hexadecimal digits. As the name of a directory it cannot lead
/// elsewhere, also if a client made it up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SandboxId(u32);

/// Digits of an id.
const DIGITS: usize = 8;

impl SandboxId {
    /// Makes an id of the first bytes of a hash.
    pub(super) fn from_hash(hash: [u8; 4]) -> SandboxId {
        SandboxId(u32::from_be_bytes(hash))
    }

    /// Returns a random id.
    pub(super) fn random() -> Result<SandboxId> {
        let mut bytes = [0; 4];
        getrandom::fill(&mut bytes)
            .map_err(|error| ProviderError::host("make up an id", std::io::Error::other(error.to_string())))?;
        Ok(SandboxId(u32::from_be_bytes(bytes)))
    }
}

impl FromStr for SandboxId {
    type Err = ProviderError;

    fn from_str(text: &str) -> Result<SandboxId> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != DIGITS || !text.bytes().all(is_digit) {
            return Err(ProviderError::InvalidId);
        }
        u32::from_str_radix(text, 16).map(SandboxId).map_err(|_| ProviderError::InvalidId)
    }
}

impl fmt::Display for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl fmt::Debug for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for SandboxId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_eight_lower_case_digits_are_an_id() {
        let id: SandboxId = "00c0ffee".parse().unwrap();
        assert_eq!(id.to_string(), "00c0ffee");
        let long = "a".repeat(1 << 20);
        let hostile =
            ["", ".", "..", "../../x", "../x000", "/etc/pas", "abc\0defg", "ABCDEF01", "1234567", "123456789"];
        for text in
            hostile.into_iter().chain(["１２３４", "٣٣٣٣", "+1234567", "-1234567", "0x123456", " 1234567", &long])
        {
            let error = text.parse::<SandboxId>().unwrap_err();
            assert_eq!(error.to_string(), "not the id of a sandbox: expected eight digits of 0-9 and a-f", "{text:?}");
        }
    }
}
