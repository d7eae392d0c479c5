//! Names that a host may take for one another.
//!
//! Some file systems of hosts do not tell `.git` from `.GIT` (ext4 with casefold, vfat, APFS, NTFS), ignore characters
//! that nobody sees (APFS, ext4 with casefold), take composed for decomposed letters or a wide letter for a plain one
//! (ZFS), or drop dots and blanks at the end (vfat, NTFS). A list of names that must not be touched is therefore not
//! compared with the names that a guest gives but with what any of these would make of them. It goes too far rather
//! than not far enough: a name that folds to a forbidden one is refused wherever it is.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// What a name has in common with all names that some host might take it for.
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
        // Up and down again: some letters have a capital that is also the capital of another one.
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfkd()
        .collect();
    Cow::Owned(trim(&folded).to_owned())
}

/// What NTFS leaves of a name: it drops dots and blanks at the end, and `a:b` is a stream of the file `a`.
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

/// Characters that are not seen and that some hosts do not see either: `Default_Ignorable_Code_Point` of Unicode 16,
/// and the controls that HFS+ ignores are among them.
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
