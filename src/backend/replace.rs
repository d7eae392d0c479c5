//! Replacing text in a file, for the operation `edit`.

use super::{BackendError, EditRequest, Result};

/// Returns the new content of a file and the number of replacements. `most` limits the size of the result, since a
/// short text that occurs often can be replaced by a long one.
pub(super) fn replace(content: Vec<u8>, request: &EditRequest, most: u64) -> Result<(Vec<u8>, usize)> {
    let path = || request.path.clone();
    let text = String::from_utf8(content).map_err(|_| BackendError::NotText(path()))?;
    let lf = |text: &str| text.replace("\r\n", "\n");
    let crlf = |text: &str| lf(text).replace('\n', "\r\n");
    let (old, new) = (&request.old, &request.new);
    // A page shows LF for all line ends, so the old text of a caller has LF too.
    let variants = [(old.clone(), new.clone()), (crlf(old), crlf(new)), (lf(old), lf(new))];
    let counted = variants.into_iter().map(|(old, new)| (text.matches(&old).count(), old, new));
    let Some((occurrences, old, new)) = counted.into_iter().find(|(count, ..)| *count > 0) else {
        return Err(BackendError::TextNotFound(path()));
    };
    if occurrences > 1 && !request.replace_all {
        return Err(BackendError::Ambiguous { path: path(), occurrences });
    }
    let removed = (occurrences * old.len()) as u64;
    let size = (text.len() as u64 - removed).saturating_add((occurrences as u64).saturating_mul(new.len() as u64));
    if size > most {
        return Err(BackendError::TooLarge { path: path(), size, limit: most });
    }
    Ok((text.replace(&old, &new).into_bytes(), occurrences))
}

/// Refuses an edit of an empty text, before any file is read.
pub(super) fn check(request: &EditRequest) -> Result<()> {
    if request.old.is_empty() { Err(BackendError::EmptyText(request.path.clone())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize)> {
        let request = EditRequest { replace_all: all, ..EditRequest::new("/f", old, new) };
        replace(text.into(), &request, 100).map(|(text, count)| (String::from_utf8(text).unwrap(), count))
    }

    #[test]
    fn line_ends_of_the_file_are_kept() {
        assert_eq!(edit("a\r\nb\r\n", "a\nb", "x\ny", false).unwrap().0, "x\r\ny\r\n");
        assert_eq!(edit("a\nb\n", "a\r\nb", "x\r\ny", false).unwrap().0, "x\ny\n");
        assert_eq!(edit("a\r\nb", "a\r\nb", "x\ny", false).unwrap().0, "x\ny");
    }

    #[test]
    fn an_edit_is_refused_rather_than_guessed() {
        assert_eq!(edit("aXbX", "X", "", false), Err(BackendError::Ambiguous { path: "/f".into(), occurrences: 2 }));
        assert_eq!(edit("aXbX", "X", "", true).unwrap(), ("ab".into(), 2));
        assert_eq!(edit("aaa", "aa", "b", true).unwrap(), ("ba".into(), 1));
        assert_eq!(edit("a", "b", "", false), Err(BackendError::TextNotFound("/f".into())));
        let bomb = edit("aaaaaaaaaa", "a", "0123456789+", true);
        assert_eq!(bomb, Err(BackendError::TooLarge { path: "/f".into(), size: 110, limit: 100 }));
        let binary = replace(vec![0xff], &EditRequest::new("/f", "a", "b"), 9);
        assert_eq!(binary, Err(BackendError::NotText("/f".into())));
    }
}
