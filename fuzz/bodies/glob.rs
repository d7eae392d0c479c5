//! Patterns of names: refused or linear.

use isopod::backend::Pattern;

use super::{text, texts};

/// Matches a path with a pattern.
pub fn glob(data: &[u8]) {
    let texts = texts(data);
    for hidden in [false, true] {
        let Ok(pattern) = Pattern::new(text(&texts, 0), hidden) else { return };
        let path = text(&texts, 1);
        let found = pattern.matches(path);
        // It is a function of its arguments.
        assert_eq!(pattern.matches(path), found);
    }
}
