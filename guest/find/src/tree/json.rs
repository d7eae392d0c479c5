//! The tree as JSON.

use isopod_gnu::accounts;
use isopod_gnu::calendar::Date;
use isopod_sys::files::Kind;

use super::draw::mode_letters;
use super::node::{Forest, Node};
use super::settings::{Field, Settings};

/// Returns the whole document.
pub(super) fn text(forest: &Forest, settings: &Settings) -> String {
    let mut text = String::from("[\n");
    for (index, root) in forest.roots.iter().enumerate() {
        if index > 0 {
            text.push_str(",\n");
        }
        let mut levels = Vec::new();
        open(&forest.nodes[*root], 1, settings, &mut text);
        levels.push((forest.nodes[*root].children.iter(), *root));
        while let Some((level, number)) = levels.last_mut() {
            let depth = *number;
            if let Some(child) = level.next() {
                let node = &forest.nodes[*child];
                if text.ends_with('}') {
                    text.push(',');
                }
                text.push('\n');
                open(node, levels.len() + 1, settings, &mut text);
                levels.push((node.children.iter(), *child));
                continue;
            }
            let has_children = !forest.nodes[depth].children.is_empty();
            if has_children {
                text.push_str(&format!("\n{}]", "  ".repeat(levels.len())));
            }
            text.push('}');
            levels.pop();
        }
        text.push('\n');
    }
    if settings.reports {
        let (directories, files) = forest.count();
        let files = if settings.directories_only { String::new() } else { format!(",\"files\":{files}") };
        text.push_str(&format!(",\n  {{\"type\":\"report\",\"directories\":{directories}{files}}}"));
    }
    text.push('\n');
    text.push_str("]\n");
    text
}

/// Writes a node, all but its closing bracket.
fn open(node: &Node, depth: usize, settings: &Settings, text: &mut String) {
    let kind = match node.attributes.as_ref().map(|found| found.kind) {
        Some(Kind::Directory) => "directory",
        Some(Kind::Symlink) => "link",
        Some(Kind::Device) => "char",
        Some(Kind::Pipe) => "fifo",
        _ => "file",
    };
    let name = if settings.full_paths { &node.path } else { &node.name };
    text.push_str(&format!("{}{{\"type\":\"{kind}\",\"name\":\"{}\"", "  ".repeat(depth), escaped(name)));
    if let Some((target, _)) = &node.target {
        text.push_str(&format!(",\"target\":\"{}\"", escaped(target)));
    }
    if let Some(found) = &node.attributes {
        for field in &settings.fields {
            text.push_str(&match field {
                Field::Inode => format!(",\"inode\":{}", found.inode),
                Field::Device => format!(",\"dev\":{}", found.device),
                Field::Mode => format!(",\"mode\":\"{:04o}\",\"prot\":\"{}\"", found.mode, mode_letters(found)),
                Field::User => {
                    format!(",\"user\":\"{}\"", accounts::user_name(found.uid).unwrap_or_else(|| found.uid.to_string()))
                }
                Field::Group => format!(
                    ",\"group\":\"{}\"",
                    accounts::group_name(found.gid).unwrap_or_else(|| found.gid.to_string())
                ),
                Field::Size => format!(",\"size\":{}", node.size),
                Field::Date => {
                    let format = settings.time_format.as_deref().unwrap_or("%b %e %H:%M");
                    format!(",\"time\":\"{}\"", Date::new(found.modified).format(format).unwrap_or_default())
                }
            });
        }
    }
    if let Some(remark) = &node.remark {
        text.push_str(&format!(",\"error\": \"{}\"", escaped(remark)));
    }
    if !node.children.is_empty() {
        text.push_str(",\"contents\":[");
    }
}

fn escaped(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if c.is_control() => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text
}
