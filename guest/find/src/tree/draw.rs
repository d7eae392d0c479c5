//! The tree as lines with branches.

use std::time::{SystemTime, UNIX_EPOCH};

use isopod_gnu::accounts;
use isopod_gnu::calendar::Date;
use isopod_gnu::mode;
use isopod_sys::files::{Attributes, Kind};

use super::node::{Forest, Node};
use super::settings::{Field, Settings};

/// Half of a year, as `tree` counts it. The date of an older file shows the year in place of the time of day.
const RECENT: u64 = 6 * 31 * 86_400 * 1_000_000_000;

/// Returns the whole drawing.
pub(super) fn text(forest: &Forest, settings: &Settings) -> String {
    let mut text = String::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let (trunk, gap) = if settings.is_ascii { ("|   ", "    ") } else { ("│\u{a0}\u{a0} ", "    ") };
    let (branch, last) = if settings.is_ascii { ("|-- ", "`-- ") } else { ("├── ", "└── ") };
    for root in &forest.roots {
        line(&forest.nodes[*root], &forest.nodes[*root].name, settings, now, &mut text);
        // The branches left of the names at each depth, and the children still to come there.
        let mut indent: Vec<&str> = Vec::new();
        let mut levels = vec![forest.nodes[*root].children.iter()];
        while let Some(level) = levels.last_mut() {
            let Some(child) = level.next() else {
                levels.pop();
                indent.pop();
                continue;
            };
            let is_last = level.len() == 0;
            let node = &forest.nodes[*child];
            if settings.has_branches {
                indent.iter().for_each(|part| text.push_str(part));
                text.push_str(if is_last { last } else { branch });
            }
            let name = if settings.full_paths { &node.path } else { &node.name };
            line(node, name, settings, now, &mut text);
            indent.push(if is_last { gap } else { trunk });
            levels.push(node.children.iter());
        }
    }
    if settings.reports {
        text.push_str(&report(forest, settings));
    }
    text
}

fn line(node: &Node, name: &str, settings: &Settings, now: u64, text: &mut String) {
    if let Some(fields) = fields(node, settings, now) {
        text.push_str(&format!("[{fields}]  "));
    }
    show(name, settings, text);
    match &node.target {
        Some((target, kind)) => {
            text.push_str(" -> ");
            show(target, settings, text);
            if settings.classifies && *kind == Some(Kind::Directory) {
                text.push('/');
            }
        }
        None if settings.classifies && !name.ends_with('/') => text.push_str(mark(node)),
        None => {}
    }
    if let Some(remark) = &node.remark {
        text.push_str(&format!("  [{remark}]"));
    }
    text.push('\n');
}

fn mark(node: &Node) -> &'static str {
    match node.attributes.as_ref() {
        Some(found) if found.kind == Kind::Directory => "/",
        Some(found) if found.kind == Kind::Pipe => "|",
        Some(found) if found.kind == Kind::File && found.mode & 0o111 != 0 => "*",
        _ => "",
    }
}

/// Writes a name, with control characters in the chosen form.
fn show(name: &str, settings: &Settings, text: &mut String) {
    if settings.quotes {
        text.push('"');
    }
    for c in name.chars() {
        match c {
            c if settings.prints_controls => text.push(c),
            c if c.is_control() && settings.hides_controls => text.push('?'),
            c if c.is_control() => c.to_string().bytes().for_each(|byte| text.push_str(&format!("\\{byte:03o}"))),
            '"' if settings.quotes => text.push_str("\\\""),
            c => text.push(c),
        }
    }
    if settings.quotes {
        text.push('"');
    }
}

/// Returns the fields in brackets before a name.
fn fields(node: &Node, settings: &Settings, now: u64) -> Option<String> {
    let found = node.attributes.as_ref().filter(|_| !settings.fields.is_empty())?;
    let fields: Vec<String> =
        settings.fields.iter().map(|field| one(*field, found, node.size, settings, now)).collect();
    Some(fields.join(" "))
}

fn one(field: Field, found: &Attributes, size: u64, settings: &Settings, now: u64) -> String {
    match field {
        Field::Inode => format!("{:>7}", found.inode),
        Field::Device => format!("{:>3}", found.device),
        Field::Mode => mode_letters(found),
        Field::User => format!("{:<8}", accounts::user_name(found.uid).unwrap_or_else(|| found.uid.to_string())),
        Field::Group => format!("{:<8}", accounts::group_name(found.gid).unwrap_or_else(|| found.gid.to_string())),
        Field::Size => match settings.human {
            Some(base) => human(size, base),
            None => format!("{size:>11}"),
        },
        Field::Date => {
            let is_recent = found.modified <= now && now - found.modified < RECENT;
            let usual = if is_recent { "%b %e %H:%M" } else { "%b %e  %Y" };
            let format = settings.time_format.as_deref().unwrap_or(usual);
            Date::new(found.modified).format(format).unwrap_or_else(|wrong| wrong)
        }
    }
}

/// Formats a size in four columns.
pub(super) fn human(size: u64, base: u64) -> String {
    if size < base {
        return format!("{size:>4}");
    }
    let units = if base == 1000 { "kMGTPE" } else { "KMGTPE" };
    let (mut size, mut unit) = (size, 0);
    while size >= base * base {
        size /= base;
        unit += 1;
    }
    let letter = units.chars().nth(unit).unwrap_or('E');
    let value = size as f64 / base as f64;
    if size / base >= 10 { format!("{value:3.0}{letter}") } else { format!("{value:3.1}{letter}") }
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

fn report(forest: &Forest, settings: &Settings) -> String {
    let (directories, files) = forest.count();
    let mut text = String::from("\n");
    if settings.sums {
        let total: u64 = forest.roots.iter().map(|root| forest.nodes[*root].size).sum();
        match settings.human {
            Some(base) => text.push_str(&format!(" {} used in ", human(total, base))),
            None => text.push_str(&format!(" {total:>11} bytes used in ")),
        }
    }
    text.push_str(&format!("{directories} director{}", if directories == 1 { "y" } else { "ies" }));
    if !settings.directories_only {
        text.push_str(&format!(", {files} file{}", if files == 1 { "" } else { "s" }));
    }
    text.push('\n');
    text
}
