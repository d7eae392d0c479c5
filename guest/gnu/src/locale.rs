//! The locale of the environment.

/// Returns true if the environment selects the locale `C`, where every byte is a character. The first variable that is
/// set decides. The default is UTF-8, the encoding of most files.
pub fn is_bytes() -> bool {
    let mut variables = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    variables.find(|value| !value.is_empty()).is_some_and(|locale| locale == "C" || locale == "POSIX")
}
