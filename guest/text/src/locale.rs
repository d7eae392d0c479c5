//! Whether characters are UTF-8 or single bytes.

/// Whether the environment asks for the locale `C`, where every byte is a character. Without a word on it, text is
/// UTF-8: that is what files are.
pub(crate) fn is_bytes() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    matches!(locale.as_deref(), Some("C" | "POSIX"))
}
