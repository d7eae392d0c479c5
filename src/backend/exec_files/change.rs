//! Writing, editing and deleting by commands.

use super::super::{BackendError, EditRequest, Edited, Result, WriteMode, WriteRequest, Written, bounds, replace};
use super::ExecFiles;
use super::script::{Script, here_document, quote};
use crate::error::Errno;
use crate::path::{End, GuestPath};

/// Exits with one of the fault codes of `script` if `$p` is no path for a regular file, creates its parent directories,
/// and sets `$t` to the path of the file itself, with all links resolved.
const WRITABLE: &str = "case $p in */) exit 41;; esac\n[ -d \"$p\" ] && exit 41; if [ -e \"$p\" ]; then [ -f \"$p\" ] || exit 43; fi\n\
                        mkdir -p -- \"$(dirname -- \"$p\")\" || exit 1\nt=$(readlink -f -- \"$p\") || exit 47\n";

/// Gives the new file `$n` the mode of the old one and renames it to `$t`.
const REPLACE: &str = "if [ -f \"$t\" ]; then chmod \"$(stat -c %a -- \"$t\")\" \"$n\"; fi\n\
                       mv -f -- \"$n\" \"$t\" || { rm -f -- \"$n\"; exit 1; }";

impl ExecFiles {
    pub(super) async fn write_file(&self, request: &WriteRequest) -> Result<Written> {
        let (path, size) = (&request.path, request.content.len() as u64);
        if size > bounds::FILE_BYTES {
            return Err(BackendError::TooLarge { path: path.clone(), size, limit: bounds::FILE_BYTES });
        }
        let at = self.parse(path).await?;
        match request.mode {
            WriteMode::Append => {
                for piece in pieces(&request.content) {
                    let script = format!("{WRITABLE}{}", here_document("base64 -d >> \"$t\"", piece));
                    self.run(path, Script::new(script).path(&at)).await?;
                }
            }
            WriteMode::Create => {
                let check = "{ [ -e \"$p\" ] || [ -L \"$p\" ]; } && exit 46\n";
                self.put(path, &at, &request.content, check, "").await?;
            }
            WriteMode::Replace => self.put(path, &at, &request.content, "", "").await?,
        }
        Ok(Written { bytes: size })
    }

    pub(super) async fn edit_file(&self, request: &EditRequest) -> Result<Edited> {
        replace::check(request)?;
        let path = &request.path;
        let fetched = self.fetch(path, bounds::FILE_BYTES).await?;
        let (content, occurrences) = replace::replace(fetched.content, request, bounds::FILE_BYTES.min(request.most))?;
        let at = self.parse(path).await?;
        // Fails if the file was changed since it was fetched.
        let unchanged = format!(
            "[ -f \"$t\" ] && [ \"$(cksum < \"$t\")\" = {} ] || {{ rm -f -- \"$n\"; exit 45; }}\n",
            quote(&fetched.sum)
        );
        self.put(path, &at, &content, "", &unchanged).await?;
        Ok(Edited { occurrences, bytes: content.len() as u64 })
    }

    pub(super) async fn remove(&self, path: &str) -> Result<()> {
        let at = self.parse(path).await?;
        match at.end() {
            End::Name => {}
            End::Root => return Err(BackendError::file(path, Errno::Busy)),
            End::Dot | End::DotDot => return Err(BackendError::file(path, Errno::Invalid)),
        }
        // Without a trailing slash, so that a link is removed and not its target.
        let script =
            format!("p={}\n[ -e \"$p\" ] || [ -L \"$p\" ] || exit 40\nrm -rf -- \"$p\" || exit 1", quote(at.as_str()));
        self.run(path, Script::new(script)).await.map(drop)
    }

    /// Writes content to a new file beside `at`, in pieces, and renames it to `at`. The script `before` runs before the
    /// first piece is written, the script `last` before the new file is renamed.
    async fn put(&self, path: &str, at: &GuestPath, content: &[u8], before: &str, last: &str) -> Result<()> {
        let mut token = [0; 8];
        getrandom::fill(&mut token).map_err(|_| BackendError::file(path, Errno::Io))?;
        let name = format!("n=$(dirname -- \"$t\")/.isopod-exec-{:016x}\n", u64::from_le_bytes(token));
        let (all, mut answer) = (pieces(content), Ok(()));
        let count = all.len();
        for (number, piece) in all.into_iter().enumerate() {
            let (is_first, is_last) = (number == 0, number + 1 == count);
            let to = if is_first { "base64 -d > \"$n\"" } else { "base64 -d >> \"$n\"" };
            let script = [
                if is_first { before } else { "" },
                WRITABLE,
                &name,
                &here_document(to, piece),
                "[ $? -eq 0 ] || { rm -f -- \"$n\"; exit 1; }\n",
                if is_last { last } else { "" },
                if is_last { REPLACE } else { "" },
            ];
            answer = self.run(path, Script::new(script.concat()).path(at)).await.map(drop);
            if answer.is_err() {
                break;
            }
        }
        if answer.is_err() && count > 1 {
            // Removes the partial file.
            let script = format!("t=$(readlink -f -- \"$p\") || exit 0\n{name}rm -f -- \"$n\"");
            let _ = self.run(path, Script::new(script).path(at)).await;
        }
        answer
    }
}

/// Splits content into pieces that fit into a command. Empty content is one piece.
fn pieces(content: &[u8]) -> Vec<&[u8]> {
    if content.is_empty() { vec![content] } else { content.chunks(bounds::SCRIPT_BYTES).collect() }
}
