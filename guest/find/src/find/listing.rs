//! `-ls`: a file as a line.

use std::collections::HashMap;

use isopod_gnu::accounts;
use isopod_gnu::calendar::Date;
use isopod_gnu::human::disk_usage;
use isopod_gnu::mode;
use isopod_sys::files::{Attributes, Kind};

use super::visit::Visit;
use isopod_sys::Errno;

/// Half of a mean Gregorian year in nanoseconds. The date of an older file shows the year in place of the time of day.
const RECENT: u64 = 31_556_952 / 2 * 1_000_000_000;

/// Names of users and groups by number, read once.
#[derive(Default)]
pub(super) struct Names {
    users: HashMap<u32, String>,
    groups: HashMap<u32, String>,
}

impl Names {
    /// Returns the name of a user, or the number if it has none.
    pub(super) fn user(&mut self, uid: u32) -> &str {
        self.users.entry(uid).or_insert_with(|| accounts::user_name(uid).unwrap_or_else(|| uid.to_string()))
    }

    /// Returns the name of a group, or the number if it has none.
    pub(super) fn group(&mut self, gid: u32) -> &str {
        self.groups.entry(gid).or_insert_with(|| accounts::group_name(gid).unwrap_or_else(|| gid.to_string()))
    }
}

/// Returns the line of a file.
pub(super) fn line(visit: &Visit, names: &mut Names, now: u64) -> Result<String, Errno> {
    let found = visit.attributes()?;
    let is_recent = found.modified <= now && now - found.modified < RECENT;
    let date = Date::new(found.modified);
    // Both formats are known to the calendar.
    let time = date.format(if is_recent { "%b %e %H:%M" } else { "%b %e  %Y" }).unwrap_or_default();
    let mut line = format!(
        "{:>9} {:>6} {} {:>3} {:<8} ",
        found.inode,
        disk_usage(found) / 1024,
        mode_letters(found),
        found.links,
        names.user(found.uid)
    );
    line.push_str(&format!("{:<8} {:>8} {time} ", names.group(found.gid), found.size));
    escape(visit.path, &mut line);
    if let Some(target) = visit.target() {
        line.push_str(" -> ");
        escape(&target, &mut line);
    }
    line.push('\n');
    Ok(line)
}

/// Returns the type and the permissions as `ls -l` writes them.
pub(super) fn mode_letters(found: &Attributes) -> String {
    let kind = match found.kind {
        Kind::File => '-',
        Kind::Directory => 'd',
        Kind::Symlink => 'l',
        Kind::Device => 'c',
        Kind::Pipe => 'p',
    };
    format!("{kind}{}", mode::letters(found.mode))
}

/// Writes a name with C's escapes, for blanks and everything that is not ASCII too, so that a file is always one line.
fn escape(name: &str, line: &mut String) {
    for byte in name.bytes() {
        match byte {
            b'\\' => line.push_str("\\\\"),
            b'"' => line.push_str("\\\""),
            b' ' => line.push_str("\\ "),
            b'\n' => line.push_str("\\n"),
            b'\t' => line.push_str("\\t"),
            b'\r' => line.push_str("\\r"),
            b'\x08' => line.push_str("\\b"),
            b'\x0c' => line.push_str("\\f"),
            0x21..=0x7e => line.push(byte.into()),
            byte => line.push_str(&format!("\\{byte:03o}")),
        }
    }
}
