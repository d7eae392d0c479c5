//! Values of options: times, sizes, mounts, variables.

use std::path::PathBuf;

pub(super) use isopod::units::{bytes, time};
use isopod::vfs::Rules;

/// A directory of the host and its mount point.
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

/// A protected path that may be changed: a pattern of the standard list, or `all`.
pub(super) fn unprotected(text: &str) -> Result<String, String> {
    Rules::check_standard(text).map(|()| text.to_owned())
}

/// `NAME=VALUE`.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() {
        return Err("the name is empty".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
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
}
