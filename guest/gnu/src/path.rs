//! Paths as strings: their last part, and their joining.

/// Returns the last part of a path without trailing slashes; `/` for the root.
pub fn last_part(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit('/').next() {
        Some("") | None if !path.is_empty() => "/",
        Some(part) => part,
        None => "",
    }
}

/// Joins a directory and a name.
pub fn join(directory: &str, name: &str) -> String {
    if directory.ends_with('/') { format!("{directory}{name}") } else { format!("{directory}/{name}") }
}

/// Removes trailing slashes, unless the path is nothing but slashes.
pub fn trim_slashes(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() && !path.is_empty() { "/" } else { trimmed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_parts_are_what_cp_appends() {
        for (path, part) in [("a", "a"), ("a/b//", "b"), ("/", "/"), ("//", "/"), ("..", ".."), ("", "")] {
            assert_eq!(last_part(path), part, "{path}");
        }
        assert_eq!(join("/", "a"), "/a");
        assert_eq!(join("d", "a"), "d/a");
        assert_eq!(trim_slashes("a//"), "a");
        assert_eq!(trim_slashes("//"), "/");
    }
}
