//! Names in the messages of findutils: in the locale's quotes, not in a shell's.

/// Returns a name in quotes, which are curly in a UTF-8 locale.
pub(crate) fn quoted(name: &str) -> String {
    if is_utf8() { format!("‘{name}’") } else { format!("'{name}'") }
}

/// Returns true if the locale's characters are UTF-8. The first variable that is set decides.
fn is_utf8() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    set.is_some_and(|value| {
        let name = value.to_string_lossy().to_ascii_lowercase();
        name.ends_with("utf-8") || name.ends_with("utf8")
    })
}
