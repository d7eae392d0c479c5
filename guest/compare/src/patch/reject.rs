//! Reject files: hunks that could not be applied, written as a patch.

use super::hunk::{Hunk, Kind};
use super::parse::{FilePatch, Format};

/// Returns the text of a reject file.
pub(super) fn render(patch: &FilePatch, hunks: &[Hunk], reversed: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let header =
        |name: &Option<super::parse::Name>| name.as_ref().map_or("/dev/null", |name| name.text.as_str()).to_owned();
    let (mut old, mut new) = (header(&patch.old), header(&patch.new));
    if reversed {
        std::mem::swap(&mut old, &mut new);
    }
    let unified = patch.format == Some(Format::Unified);
    let marks = if unified { ["---", "+++"] } else { ["***", "---"] };
    out.extend_from_slice(format!("{} {old}\n{} {new}\n", marks[0], marks[1]).as_bytes());
    for hunk in hunks {
        if unified {
            write_unified(hunk, &mut out);
        } else {
            write_context(hunk, patch.format == Some(Format::Normal), &mut out);
        }
    }
    out
}

fn write_line(mark: &str, line: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(mark.as_bytes());
    out.extend_from_slice(line);
}

fn write_unified(hunk: &Hunk, out: &mut Vec<u8>) {
    let range = |start: usize, count: usize| if count == 1 { start.to_string() } else { format!("{start},{count}") };
    let old = range(hunk.old_start, hunk.pattern().len());
    let new = range(hunk.new_start, hunk.replacement().len());
    out.extend_from_slice(format!("@@ -{old} +{new} @@").as_bytes());
    out.extend_from_slice(&hunk.function);
    out.push(b'\n');
    for (kind, line) in &hunk.lines {
        let mark = match kind {
            Kind::Common => " ",
            Kind::Deleted => "-",
            Kind::Inserted => "+",
        };
        write_line(mark, line, out);
    }
}

fn write_context(hunk: &Hunk, normal: bool, out: &mut Vec<u8>) {
    let range = |start: usize, count: usize| match count {
        0 => "0".to_owned(),
        1 => start.to_string(),
        _ => format!("{start},{}", start + count - 1),
    };
    // A run of changes that both deletes and inserts gets one common mark.
    let mut marks = vec!["  "; hunk.lines.len()];
    let mut at = 0;
    while at < hunk.lines.len() {
        let run = hunk.lines[at..].iter().take_while(|line| line.0 != Kind::Common).count();
        let has = |kind: Kind| hunk.lines[at..at + run].iter().any(|line| line.0 == kind);
        let both = has(Kind::Deleted) && has(Kind::Inserted) && !normal;
        for (mark, line) in marks[at..at + run].iter_mut().zip(&hunk.lines[at..at + run]) {
            *mark = match line.0 {
                _ if both => "! ",
                Kind::Deleted => "- ",
                _ => "+ ",
            };
        }
        at += run.max(1);
    }
    let half = |without: Kind, out: &mut Vec<u8>| {
        for ((kind, line), mark) in hunk.lines.iter().zip(&marks) {
            if *kind != without {
                write_line(mark, line, out);
            }
        }
    };
    let stars = if normal { "" } else { " ****" };
    let dashes = if normal { "-----" } else { "----" };
    out.extend_from_slice(b"***************\n");
    out.extend_from_slice(format!("*** {}{stars}\n", range(hunk.old_start, hunk.pattern().len())).as_bytes());
    half(Kind::Inserted, out);
    out.extend_from_slice(format!("--- {} {dashes}\n", range(hunk.new_start, hunk.replacement().len())).as_bytes());
    half(Kind::Deleted, out);
}
