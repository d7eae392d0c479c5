//! The locale: UTF-8 characters or single bytes.

/// Returns true if the environment selects the locale `C`, where every byte is a character. The default is UTF-8, the
/// encoding of most files.
pub(crate) fn is_bytes() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    matches!(locale.as_deref(), Some("C" | "POSIX"))
}
