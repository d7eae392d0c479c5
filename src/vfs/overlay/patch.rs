//! Changes as a patch in the format of git, which `patch` understands as well.

use std::fmt::Write;
use std::time::Duration;

use similar::TextDiff;

use crate::error::{Errno, Result};
use crate::limits::{DIFF_BYTES, DIFF_MILLIS, TRANSFER_BYTES};
use crate::vfs::mem_fs::compare::{Difference, Side};
use crate::vfs::{Kind, MemSnapshot};

/// The text of one side of a change.
enum Text {
    Lines(String),
    Binary,
    TooLarge,
}

/// Appends the patch of one difference. A patch holds no directories.
pub(super) fn write(snapshot: &MemSnapshot, difference: &Difference, patch: &mut String) -> Result<()> {
    let is_shown = |side: &Side| matches!(side.stat.kind, Kind::File | Kind::Symlink);
    let before = difference.before.as_ref().filter(|side| is_shown(side));
    let after = difference.after.as_ref().filter(|side| is_shown(side));
    if difference.content && before.is_some_and(is_link) && after.is_some_and(is_link) {
        // `patch` refuses to change a link, but can remove one and create another.
        entry(snapshot, difference, (before, None), patch)?;
        return entry(snapshot, difference, (None, after), patch);
    }
    entry(snapshot, difference, (before, after), patch)
}

fn entry(
    snapshot: &MemSnapshot,
    difference: &Difference,
    (before, after): (Option<&Side>, Option<&Side>),
    patch: &mut String,
) -> Result<()> {
    let modes = (before.map(mode), after.map(mode));
    if (before.is_none() && after.is_none()) || (modes.0 == modes.1 && !difference.content) {
        return Ok(());
    }
    let (old, new) = (quote("a/", &difference.path), quote("b/", &difference.path));
    let mut put = |line: std::fmt::Arguments<'_>| patch.write_fmt(line).map_err(|_| Errno::Io);
    put(format_args!("diff --git {old} {new}\n"))?;
    match modes {
        (None, Some(mode)) => put(format_args!("new file mode {mode:o}\n"))?,
        (Some(mode), None) => put(format_args!("deleted file mode {mode:o}\n"))?,
        (Some(old), Some(new)) if old != new => {
            put(format_args!("old mode {old:o}\nnew mode {new:o}\n"))?;
        }
        _ => {}
    }
    if !difference.content {
        return Ok(());
    }
    match (text(snapshot, before)?, text(snapshot, after)?) {
        (Text::Lines(before_text), Text::Lines(after_text)) => {
            if before_text == after_text {
                return Ok(());
            }
            let old = if before.is_some() { &old } else { "/dev/null" };
            let new = if after.is_some() { &new } else { "/dev/null" };
            let diff = TextDiff::configure()
                .timeout(Duration::from_millis(DIFF_MILLIS))
                .diff_lines(before_text.as_str(), after_text.as_str());
            put(format_args!("--- {old}\n+++ {new}\n"))?;
            put(format_args!("{}", diff.unified_diff().context_radius(3)))
        }
        (Text::TooLarge, _) | (_, Text::TooLarge) => {
            put(format_args!("Files {old} and {new} differ, and are too large to show\n"))
        }
        _ => put(format_args!("Binary files {old} and {new} differ\n")),
    }
}

fn is_link(side: &Side) -> bool {
    side.stat.kind == Kind::Symlink
}

/// Returns the mode in the format of git: the kind, and the execute bit.
fn mode(side: &Side) -> u32 {
    match side.stat.kind {
        Kind::Symlink => 0o120_000,
        _ if side.stat.mode & 0o100 != 0 => 0o100_755,
        _ => 0o100_644,
    }
}

fn text(snapshot: &MemSnapshot, side: Option<&Side>) -> Result<Text> {
    let Some(side) = side else {
        return Ok(Text::Lines(String::new()));
    };
    if side.stat.kind == Kind::Symlink {
        return snapshot.target(side).map(Text::Lines);
    }
    if side.stat.size > DIFF_BYTES {
        return Ok(Text::TooLarge);
    }
    let (reader, mut bytes) = (snapshot.reader(side)?, Vec::new());
    loop {
        let piece = reader.read_at(bytes.len() as u64, TRANSFER_BYTES)?;
        if piece.is_empty() {
            break;
        }
        bytes.extend_from_slice(&piece);
        // A file of the host may have grown since it was examined.
        if bytes.len() as u64 > DIFF_BYTES {
            return Ok(Text::TooLarge);
        }
    }
    // As in git, a NUL makes a file binary. A file that is not UTF-8 cannot be shown as text.
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(Text::Lines(text)),
        _ => Ok(Text::Binary),
    }
}

/// Returns a path in the format of git: quoted, with escapes, if it holds special characters. A blank is quoted: git
/// could do without, `patch` cannot.
fn quote(prefix: &str, path: &str) -> String {
    let is_plain = |byte: u8| (0x21..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    if path.bytes().all(is_plain) {
        return format!("{prefix}{path}");
    }
    let mut quoted = format!("\"{prefix}");
    for byte in path.bytes() {
        match byte {
            b'"' => quoted.push_str("\\\""),
            b'\\' => quoted.push_str("\\\\"),
            b'\t' => quoted.push_str("\\t"),
            b'\n' => quoted.push_str("\\n"),
            b'\r' => quoted.push_str("\\r"),
            byte if is_plain(byte) => quoted.push(char::from(byte)),
            byte => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted.push('"');
    quoted
}
