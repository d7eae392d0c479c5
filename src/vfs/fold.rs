//! Name folding: names that a host may treat as equal.
//!
//! Some file systems do not distinguish `.git` from `.GIT` (ext4 with casefold, vfat, APFS, NTFS), ignore invisible
//! characters (APFS, ext4 with casefold), treat composed and decomposed letters or wide and plain letters as equal
//! (ZFS), or drop dots and blanks at the end (vfat, NTFS). A list of forbidden names is therefore compared with the
//! folded form of a name, which covers all of these. Folding is broader than any single host: a name that folds to a
//! forbidden one is refused everywhere.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// Returns the folded form of a name. Two names that some host treats as equal have the same folded form.
pub(super) fn fold(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        if name.bytes().any(|byte| byte.is_ascii_uppercase()) || ends_loosely(name) || name.contains(':') {
            return Cow::Owned(trim(&name.to_ascii_lowercase()).to_owned());
        }
        return Cow::Borrowed(name);
    }
    let folded: String = name
        .nfkd()
        .filter(|letter| !is_ignorable(*letter))
        // Up and down again: some letters share their capital with another letter.
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfkd()
        .collect();
    Cow::Owned(trim(&folded).to_owned())
}

/// Applies the rules of NTFS: dots and blanks at the end are dropped, and `a:b` is a stream of the file `a`.
fn trim(name: &str) -> &str {
    let name = match name.split_once(':') {
        Some((file, _)) if !file.is_empty() => file,
        _ => name,
    };
    name.trim_end_matches(['.', ' '])
}

fn ends_loosely(name: &str) -> bool {
    name.ends_with(['.', ' '])
}

/// Returns true for invisible characters that some hosts ignore: `Default_Ignorable_Code_Point` of Unicode 16, which
/// includes the controls that HFS+ ignores.
fn is_ignorable(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_host_may_take_for_one_another_fold_to_the_same() {
        for (name, folded) in [
            (".git", ".git"),
            (".GIT", ".git"),
            (".Git.", ".git"),
            (".git. . ", ".git"),
            (".git::$INDEX_ALLOCATION", ".git"),
            (".g\u{200c}it", ".git"),
            ("\u{feff}.git", ".git"),
            (".ｇｉｔ", ".git"),
            ("․git", ".git"),
            (".gıt", ".git"),
            (".baſhrc", ".bashrc"),
            (".bas\u{ad}hrc", ".bashrc"),
            (".\u{212a}shrc", ".kshrc"),
            (".𝓰𝓲𝓽", ".git"),
            ("CAFÉ", "cafe\u{301}"),
            ("café", "cafe\u{301}"),
            ("...", ""),
            (":x", ":x"),
        ] {
            assert_eq!(fold(name), folded, "{name:?}");
        }
        for name in ["git", "..git", ".gi", ".gitt", "a.git", ".git-x", ".gît"] {
            assert_ne!(fold(name), ".git", "{name:?}");
        }
    }
}
