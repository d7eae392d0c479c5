//! The directories that a walk is in, so that a link which leads back to one of them is not followed without end.

/// The directories around the current one of a walk, from the outermost to the innermost, each with its device and
/// inode.
#[derive(Default)]
pub struct Ancestors {
    within: Vec<(String, (u64, u64))>,
}

impl Ancestors {
    /// Enters a directory. Returns false, and does not enter, if it is one of its own ancestors. A walk need not
    /// report that it leaves one: the next path shows it.
    pub fn enter(&mut self, path: &str, identity: (u64, u64)) -> bool {
        while self.within.pop_if(|(outer, _)| !is_below(path, outer)).is_some() {}
        if self.within.iter().any(|(_, outer)| *outer == identity) {
            return false;
        }
        self.within.push((path.to_owned(), identity));
        true
    }
}

fn is_below(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_met_again_below_itself_and_nowhere_else() {
        let mut walk = Ancestors::default();
        let steps = [
            ("d", 1, true),
            ("d/e", 2, true),
            ("d/e/up", 1, false),
            ("d/e/f", 3, true),
            ("d/e2", 2, true),
            ("d/g/", 3, true),
            ("d/g/h/", 3, false),
            ("d/g/i/", 4, true),
            ("other", 1, true),
            ("/", 5, true),
            ("/d", 1, true),
            ("/d/again", 5, false),
        ];
        for (path, inode, enters) in steps {
            assert_eq!(walk.enter(path, (7, inode)), enters, "{path}");
        }
    }
}
