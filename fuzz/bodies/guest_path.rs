//! Guest paths: one form for each path, which never leads above the root.

use isopod::limits::{NAME_BYTES, PATH_BYTES, PATH_DEPTH};
use isopod::path::GuestPath;

use super::{text, texts};

/// Parses a path relative to another one.
pub fn guest_path(data: &[u8]) {
    let texts = texts(data);
    let base = GuestPath::parse(&GuestPath::root(), text(&texts, 1)).unwrap_or_else(|_| GuestPath::root());
    let Ok(path) = GuestPath::parse(&base, text(&texts, 0)) else { return };
    let shown = path.to_string();
    assert!(shown.starts_with('/') && !shown.contains('\0'), "{shown:?}");
    assert!(path.components().count() <= PATH_DEPTH * 2, "{shown:?}");
    for name in path.components() {
        assert!(!name.is_empty() && name.len() <= NAME_BYTES && !name.contains('/'), "{shown:?}");
    }
    // The shown text parses to the same path, unless it is longer than one call accepts.
    if shown.len() >= PATH_BYTES {
        return;
    }
    assert_eq!(GuestPath::parse(&GuestPath::root(), &shown).map(|again| again.to_string()), Ok(shown));
}
