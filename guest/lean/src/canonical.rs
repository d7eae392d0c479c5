//! Paths without symbolic links, dots and double slashes.

use isopod_gnu::path::join;
use isopod_sys::files::{self, Kind};
use isopod_sys::{Errno, fs, process};

/// The parts of a path that must exist.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum MustExist {
    /// All parts.
    All,
    /// All but the last part.
    AllButLast,
    /// Nothing.
    Nothing,
}

/// The number of links that Linux follows.
const MOST_LINKS: usize = 40;

/// Resolves a path. Without `follow`, links stay, and only dots and double slashes are removed.
pub(crate) fn canonical(path: &str, must: MustExist, follow: bool) -> Result<String, Errno> {
    if path.is_empty() {
        return Err(Errno::NoEntry);
    }
    let mut done = if path.starts_with('/') { "/".to_owned() } else { process::cwd() };
    // The parts that are still to be resolved, the next one last.
    let mut parts: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
    let mut links = 0;
    while let Some(part) = parts.pop() {
        let wants_directory = !parts.is_empty();
        match part.as_str() {
            "" | "." => {
                if must != MustExist::Nothing && !parts.iter().any(|part| !part.is_empty()) && wants_a_directory(&done)
                {
                    return Err(Errno::NotDirectory);
                }
                continue;
            }
            ".." => {
                if must != MustExist::Nothing && wants_a_directory(&done) {
                    return Err(Errno::NotDirectory);
                }
                done.truncate(done.rfind('/').unwrap_or(0).max(1));
                continue;
            }
            _ => {}
        }
        let next = join(&done, &part);
        match files::stat(&next, false) {
            Ok(found) if found.kind == Kind::Symlink && follow => {
                links += 1;
                if links > MOST_LINKS {
                    if must == MustExist::Nothing {
                        done = next;
                        continue;
                    }
                    return Err(Errno::Loop);
                }
                let target = fs::read_link(&next)?;
                if target.starts_with('/') {
                    done = "/".to_owned();
                }
                parts.extend(target.split('/').rev().map(str::to_owned));
            }
            Ok(found) => {
                let directory = found.kind == Kind::Directory || !follow && found.kind == Kind::Symlink;
                if wants_directory && !directory && must != MustExist::Nothing {
                    return Err(Errno::NotDirectory);
                }
                done = next;
            }
            Err(errno) => {
                let is_last = parts.iter().all(|part| part.is_empty());
                match must {
                    MustExist::Nothing => {}
                    MustExist::AllButLast if is_last && errno == Errno::NoEntry => {}
                    _ => return Err(errno),
                }
                done = next;
            }
        }
    }
    Ok(done)
}

fn wants_a_directory(path: &str) -> bool {
    files::stat(path, true).is_ok_and(|found| found.kind != Kind::Directory)
}

/// Returns a path relative to a directory; both are canonical.
pub(crate) fn relative(path: &str, from: &str) -> String {
    let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (path, from) = (parts(path), parts(from));
    let common = path.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let mut result = vec![".."; from.len() - common];
    result.extend(path[common..].iter().map(String::as_str));
    if result.is_empty() { ".".to_owned() } else { result.join("/") }
}
