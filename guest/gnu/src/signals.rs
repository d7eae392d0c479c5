//! Signals by name and number.

/// The names of 1 to 31, as Linux numbers them.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "POLL",
    "PWR", "SYS",
];

/// Hang up.
pub const HUP: u8 = 1;
/// Interrupt: Ctrl-C.
pub const INT: u8 = 2;
/// Quit.
pub const QUIT: u8 = 3;
/// Kill: cannot be caught.
pub const KILL: u8 = 9;
/// User-defined.
pub const USR1: u8 = 10;
/// User-defined, the second.
pub const USR2: u8 = 12;
/// Terminate.
pub const TERM: u8 = 15;
/// Continue.
pub const CONT: u8 = 18;

/// The name of a signal, without `SIG`.
pub fn name(signal: u8) -> Option<&'static str> {
    match signal {
        0 => Some("EXIT"),
        signal => NAMES.get(usize::from(signal) - 1).copied(),
    }
}

/// All signals, by number.
pub fn all() -> impl Iterator<Item = u8> {
    1..=NAMES.len() as u8
}

/// A signal by number or by name, with or without `SIG`, in any case.
pub fn parse(text: &str) -> Option<u8> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().filter(|number| usize::from(*number) <= NAMES.len());
    }
    let upper = text.to_ascii_uppercase();
    match upper.strip_prefix("SIG").unwrap_or(&upper) {
        "EXIT" => Some(0),
        "IO" => Some(29),
        "CLD" => Some(17),
        "IOT" => Some(6),
        bare => NAMES.iter().position(|name| *name == bare).map(|index| index as u8 + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        for (text, number) in [("TERM", TERM), ("sigterm", TERM), ("9", KILL), ("SIGCONT", CONT), ("usr2", USR2)] {
            assert_eq!(parse(text), Some(number));
        }
        for wrong in ["", "SIG", "32", "-1", "TERMX"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert!(all().all(|signal| name(signal).and_then(parse) == Some(signal)));
    }
}
