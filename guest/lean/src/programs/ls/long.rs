//! The long format.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use isopod_sys::files::Kind;
use isopod_sys::fs;

use super::columns::indicator;
use super::entry::Entry;
use super::options::Settings;
use isopod_gnu::accounts;
use isopod_gnu::calendar::Date;
use isopod_gnu::mode;
use isopod_gnu::output::Out;

/// Half of a mean Gregorian year in seconds: older files show their year in place of the time of day.
const RECENT: u64 = 31_556_952 / 2;

/// The columns of a line, as text.
struct Line {
    inode: String,
    blocks: String,
    links: String,
    owner: String,
    group: String,
    size: String,
}

/// Prints entries, one a line, in columns that fit the widest.
pub(super) fn print(entries: &[Entry], settings: &Settings, out: &mut Out) {
    let mut names = Names::default();
    let lines: Vec<Line> = entries.iter().map(|entry| line(entry, settings, &mut names)).collect();
    let widest = |part: fn(&Line) -> &String| lines.iter().map(|line| part(line).chars().count()).max().unwrap_or(0);
    let (inode, blocks) = (widest(|line| &line.inode), widest(|line| &line.blocks));
    let (links, size) = (widest(|line| &line.links), widest(|line| &line.size));
    let (owner, group) = (widest(|line| &line.owner), widest(|line| &line.group));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    for (entry, line) in entries.iter().zip(&lines) {
        let mut text = String::new();
        if settings.inode {
            text.push_str(&format!("{:>inode$} ", line.inode));
        }
        if settings.blocks {
            text.push_str(&format!("{:>blocks$} ", line.blocks));
        }
        text.push_str(&format!("{}{} ", letter(entry.attributes.kind), mode::letters(entry.attributes.mode)));
        text.push_str(&format!("{:>links$} ", line.links));
        // Numbers stand to the right, names to the left.
        for (shown, part, part_width) in [(settings.owner, &line.owner, owner), (settings.group, &line.group, group)] {
            if shown && settings.numeric {
                text.push_str(&format!("{part:>part_width$} "));
            } else if shown {
                text.push_str(&format!("{part:<part_width$} "));
            }
        }
        text.push_str(&format!("{:>size$} ", line.size));
        text.push_str(&time(settings.time.of(&entry.attributes), now, &settings.time_style));
        text.push(' ');
        text.push_str(&name(entry, settings));
        out.push(text.as_bytes());
        out.byte(settings.end);
    }
}

fn line(entry: &Entry, settings: &Settings, names: &mut Names) -> Line {
    let of = &entry.attributes;
    let (owner, group) = match settings.numeric {
        true => (of.uid.to_string(), of.gid.to_string()),
        false => (names.user(of.uid), names.group(of.gid)),
    };
    Line {
        inode: of.inode.to_string(),
        blocks: settings.block_text(entry.blocks()),
        links: of.links.to_string(),
        owner,
        group,
        // A device has numbers in place of a size, and the kernel's devices have none.
        size: if of.kind == Kind::Device { "0, 0".to_owned() } else { settings.size_unit.text(of.size) },
    }
}

fn name(entry: &Entry, settings: &Settings) -> String {
    let mut name = settings.quoted(&entry.name);
    if entry.attributes.kind != Kind::Symlink {
        name.push_str(indicator(entry.attributes.kind, entry.attributes.mode, settings));
        return name;
    }
    // A link that can't be read is shown without its target; its own line is right.
    if let Ok(target) = fs::read_link(&entry.path) {
        name.push_str(" -> ");
        name.push_str(&settings.quoted(&target));
        if let Some(target) = entry.target() {
            name.push_str(indicator(target.kind, target.mode, settings));
        }
    }
    name
}

fn time(nanos: u64, now: u64, style: &str) -> String {
    let seconds = nanos / 1_000_000_000;
    let is_recent = seconds <= now && now - seconds < RECENT;
    let format = match style.strip_prefix("posix-").unwrap_or(style) {
        "full-iso" => "%F %T.%N %z",
        "long-iso" => "%F %R",
        "iso" if is_recent => "%m-%d %R",
        "iso" => "%F ",
        style => match style.strip_prefix('+') {
            // A second line is for recent files.
            Some(own) => match own.split_once('\n') {
                Some((_, recent)) if is_recent => recent,
                Some((old, _)) => old,
                None => own,
            },
            None if is_recent => "%b %e %H:%M",
            None => "%b %e  %Y",
        },
    };
    // A format that is not supported is printed as it is: it can't be taken for a time.
    Date::new(nanos).format(format).unwrap_or_else(|_| format.to_owned())
}

fn letter(kind: Kind) -> char {
    match kind {
        Kind::File => '-',
        Kind::Directory => 'd',
        Kind::Symlink => 'l',
        Kind::Device => 'c',
        Kind::Pipe => 'p',
    }
}

/// Names of users and groups, looked up once each.
#[derive(Default)]
struct Names {
    users: HashMap<u32, String>,
    groups: HashMap<u32, String>,
}

impl Names {
    fn user(&mut self, uid: u32) -> String {
        let look_up = || accounts::user_name(uid).unwrap_or_else(|| uid.to_string());
        self.users.entry(uid).or_insert_with(look_up).clone()
    }

    fn group(&mut self, gid: u32) -> String {
        let look_up = || accounts::group_name(gid).unwrap_or_else(|| gid.to_string());
        self.groups.entry(gid).or_insert_with(look_up).clone()
    }
}
