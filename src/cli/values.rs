//! Values of options: times, sizes, mounts, variables.

use std::path::PathBuf;
use std::time::Duration;

use isopod::vfs::Rules;

/// A directory of the host and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) host: PathBuf,
    pub(super) guest: String,
    pub(super) read_only: bool,
}

/// `HOST[:GUEST][:ro]`. A guest path starts with `/`, so a colon in a host path does no harm.
pub(super) fn mount(text: &str) -> Result<Mount, String> {
    let (rest, read_only) = match text.rsplit_once(':') {
        Some((rest, "ro")) => (rest, true),
        Some((rest, "rw")) => (rest, false),
        _ => (text, false),
    };
    let (host, guest) = match rest.rsplit_once(":/") {
        Some((host, guest)) => (host, format!("/{guest}")),
        None => (rest, "/workspace".to_owned()),
    };
    if host.is_empty() {
        return Err("no directory before the colon".to_owned());
    }
    Ok(Mount { host: host.into(), guest, read_only })
}

/// `HOST[:GUEST]`.
pub(super) fn overlay(text: &str) -> Result<Mount, String> {
    match mount(text)? {
        Mount { read_only: true, .. } => Err("an overlay is there to be written to; use --dir for :ro".to_owned()),
        overlay => Ok(overlay),
    }
}

/// What may be changed although it is protected: a pattern of the standard list, or `all`.
pub(super) fn unprotected(text: &str) -> Result<String, String> {
    let standard = Rules::standard();
    if text == "all" || standard.patterns().any(|pattern| pattern == text) {
        return Ok(text.to_owned());
    }
    let known: Vec<String> = standard.patterns().collect();
    Err(format!("expected `all` or one of {}", known.join(", ")))
}

/// `NAME=VALUE`.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() {
        return Err("the name is empty".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Seconds, or a number with `ms`, `s`, `m` or `h`.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let scale = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected seconds, or a number with ms, s, m or h".to_owned()),
    };
    let seconds = number.parse::<f64>().map_err(|_| "expected a number".to_owned())? * scale;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        Ok(_) => Err("a command needs more time than none".to_owned()),
        Err(_) => Err("too long".to_owned()),
    }
}

/// Bytes, or a number with `K`, `M` or `G`: powers of 1024.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let scale = match unit {
        "" | "B" => 1,
        "K" | "KB" | "KiB" => 1 << 10,
        "M" | "MB" | "MiB" => 1 << 20,
        "G" | "GB" | "GiB" => 1 << 30,
        _ => return Err("expected bytes, or a number with K, M or G".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a number".to_owned())?;
    number.checked_mul(scale).filter(|bytes| *bytes > 0).ok_or_else(|| "out of range".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_from_the_right() {
        let cases = [
            ("src", ("src", "/workspace", false)),
            ("src:ro", ("src", "/workspace", true)),
            ("src:/code", ("src", "/code", false)),
            ("src:/code:ro", ("src", "/code", true)),
            ("a:b:/code:rw", ("a:b", "/code", false)),
            ("./a:b", ("./a:b", "/workspace", false)),
        ];
        for (text, (host, guest, read_only)) in cases {
            let expected = Mount { host: host.into(), guest: guest.into(), read_only };
            assert_eq!(mount(text), Ok(expected), "{text}");
        }
        assert!(mount(":/code").is_err());
    }

    #[test]
    fn a_time_is_never_nothing_and_never_endless() {
        assert_eq!(time("1"), Ok(Duration::from_secs(1)));
        assert_eq!(time("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for bad in ["0", "-1", "", "1d", "s", "1e9", "99999999999999999999h", "inf", "NaN", "0.0ms", "1.2.3"] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_powers_of_1024() {
        assert_eq!(bytes("64M"), Ok(64 << 20));
        assert_eq!(bytes("1GiB"), Ok(1 << 30));
        for bad in ["0", "-1", "", "M", "1T", "1.5M", "99999999999999G"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
