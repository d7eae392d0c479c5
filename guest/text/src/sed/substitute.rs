//! `s`, `y` and `e`: changes of the pattern space.

use isopod_regex::{Captures, Regex};
use isopod_sys::process::{self, Command};
use isopod_sys::{Fd, text};

use super::Failure;
use super::script::{Substitute, Translation};

/// Buffers that are reused for each line.
#[derive(Default)]
pub(super) struct Buffers {
    changed: Vec<u8>,
    captures: Captures,
}

/// Replaces matches in a text. Returns true if at least one was replaced.
pub(super) fn substitute(what: &Substitute, regex: &Regex, space: &mut Vec<u8>, buffers: &mut Buffers) -> bool {
    let Buffers { changed, captures } = buffers;
    let wants_groups = what.replacement.highest > 0;
    let (mut count, mut copied) = (0, 0);
    let mut replaced = false;
    changed.clear();
    let mut matches = regex.matches(space);
    while let Some((from, end)) = matches.next(wants_groups.then_some(&mut *captures)) {
        count += 1;
        if count < what.number {
            continue;
        }
        changed.extend_from_slice(&space[copied..from]);
        what.replacement.apply(space, captures, (from, end), changed);
        copied = end;
        replaced = true;
        if !what.global {
            break;
        }
    }
    if replaced {
        changed.extend_from_slice(&space[copied..]);
        std::mem::swap(space, changed);
    }
    replaced
}

/// Replaces characters.
pub(super) fn translate(what: &Translation, space: &mut Vec<u8>) {
    let mut out = Vec::with_capacity(space.len());
    for chunk in space.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_ascii() {
                out.extend_from_slice(&what.ascii[c as usize]);
            } else if let Some((_, to)) = what.others.iter().find(|(from, _)| *from == c) {
                out.extend_from_slice(to);
            } else {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        out.extend_from_slice(chunk.invalid());
    }
    *space = out;
}

/// Runs a command in a shell and returns its output.
pub(super) fn execute(command: &[u8]) -> Result<Vec<u8>, Failure> {
    let failed = |errno| Failure(format!("error running subprocess: {}", text(errno)), 4);
    let Ok(command) = std::str::from_utf8(command) else {
        return Err(Failure("a command must be UTF-8".to_owned(), 4));
    };
    let (reader, writer) = Fd::pipe().map_err(failed)?;
    let argv = ["sh", "-c", command].map(str::to_owned).to_vec();
    let files = vec![(0, 0), (1, writer.raw()), (2, 2)];
    let env = std::env::vars().collect();
    let child = process::spawn(&Command {
        program: "/bin/sh".to_owned(),
        argv,
        env,
        files,
        payload: Vec::new(),
        background: false,
    });
    drop(writer);
    let child = child.map_err(failed)?;
    let mut output = Vec::new();
    loop {
        let piece = reader.read(64 * 1024).map_err(failed)?;
        if piece.is_empty() {
            break;
        }
        output.extend_from_slice(&piece);
    }
    // The exit status does not matter.
    let _ = process::wait(Some(child), None);
    Ok(output)
}
