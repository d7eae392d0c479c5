//! `tac`: prints files with the last line first.

use isopod_sys::files::{self, Kind, Whence};
use isopod_sys::{Errno, text};

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, PIECE};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;

/// `tac`.
pub(crate) const PROGRAM: Program = Program {
    name: "tac",
    operands: &["[OPTION]... [FILE]..."],
    about: "Write each FILE to standard output, last line first.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('b', "before", "attach the separator before instead of after"),
        Opt::flag('s', "separator", "use STRING as the separator instead of newline").takes("STRING"),
    ],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    // An empty separator stands for the NUL byte.
    let separator = match call.value("separator") {
        None => b"\n".as_slice(),
        Some("") => b"\0",
        Some(given) => given.as_bytes(),
    };
    let mut out = Out::new();
    let mut code = 0;
    for path in or_standard_input(&call.operands) {
        let result = match Input::open(path) {
            Ok(input) => Blocks::new(input).and_then(|blocks| reverse(blocks, separator, call.has("before"), &mut out)),
            Err(errno) => {
                call.complain(&format!("failed to open {} for reading: {}", quote::shell(path), text(errno)));
                code = 1;
                continue;
            }
        };
        if let Err(errno) = result {
            let shown = if path == "-" { "standard input".into() } else { quote::name(path) };
            call.complain(&format!("{shown}: read error: {}", text(errno)));
            code = 1;
        }
    }
    call.finish(out, code)
}

/// A file in blocks, the last one first.
enum Blocks {
    /// A file, which is read from its end and never kept whole in memory.
    File { input: Input, start: u64, end: u64 },
    /// A pipe, of which everything must be kept until its end.
    Stream(Vec<Vec<u8>>),
}

impl Blocks {
    fn new(input: Input) -> Result<Blocks, Errno> {
        let found = files::stat_fd(input.fd())?;
        if found.kind == Kind::File {
            let start = files::seek(input.fd(), 0, Whence::Current)?;
            return Ok(Blocks::File { input, start, end: found.size.max(start) });
        }
        let mut pieces = Vec::new();
        loop {
            let piece = input.read()?;
            if piece.is_empty() {
                return Ok(Blocks::Stream(pieces));
            }
            pieces.push(piece);
        }
    }

    /// Reads the block before the last one, of about this size; empty at the start.
    fn previous(&mut self, size: usize) -> Result<Vec<u8>, Errno> {
        match self {
            Blocks::Stream(pieces) => Ok(pieces.pop().unwrap_or_default()),
            Blocks::File { input, start, end } => {
                let from = end.saturating_sub(size as u64).max(*start);
                let length = (*end - from) as usize;
                files::seek(input.fd(), from as i64, Whence::Start)?;
                *end = from;
                let mut block = Vec::with_capacity(length);
                while block.len() < length {
                    let piece = input.read()?;
                    if piece.is_empty() {
                        break;
                    }
                    block.extend_from_slice(&piece);
                }
                block.truncate(length);
                Ok(block)
            }
        }
    }
}

fn reverse(mut blocks: Blocks, separator: &[u8], before: bool, out: &mut Out) -> Result<(), Errno> {
    // Not printed yet: the end of a record whose start may be in the blocks before.
    let mut held = Vec::new();
    let mut is_last = true;
    while !out.has_failed() {
        // The longer a record, the larger the steps: a file that is one line is not copied over and over.
        let block = blocks.previous(PIECE.max(held.len()))?;
        let ended = block.is_empty();
        held = [block, held].concat();
        let (mut end, mut search) = (held.len(), held.len());
        while let Some(at) = last_match(&held[..search], separator) {
            search = at;
            // The separator at the very end belongs to the last record, it does not start another.
            if !before && is_last && at + separator.len() == held.len() {
                continue;
            }
            // One at the front may begin in the block before.
            if at < separator.len() && !ended {
                break;
            }
            let start = if before { at } else { at + separator.len() };
            out.push(&held[start..end]);
            end = start;
            is_last = false;
        }
        held.truncate(end);
        if ended {
            out.push(&held);
            break;
        }
    }
    Ok(())
}

fn last_match(bytes: &[u8], separator: &[u8]) -> Option<usize> {
    match separator {
        [byte] => bytes.iter().rposition(|other| other == byte),
        separator => bytes.windows(separator.len()).rposition(|window| window == separator),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_found_from_the_end() {
        assert_eq!(last_match(b"a\nb\n", b"\n"), Some(3));
        assert_eq!(last_match(b"a--b", b"--"), Some(1));
        assert_eq!(last_match(b"ab", b"--"), None);
    }
}
