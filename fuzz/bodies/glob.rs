//! File name patterns: either refused or matched in linear time.

use isopod::backend::Pattern;

use super::{text, texts};

/// Matches a path with a pattern.
pub fn glob(data: &[u8]) {
    let texts = texts(data);
    for hidden in [false, true] {
        let Ok(pattern) = Pattern::new(text(&texts, 0), hidden) else { return };
        let path = text(&texts, 1);
        let found = pattern.matches(path);
        // The result depends only on the arguments.
        assert_eq!(pattern.matches(path), found);
    }
}
