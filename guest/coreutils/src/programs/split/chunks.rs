//! `-n`: splits a file into a number of pieces.

use isopod_gnu::input::Input;
use isopod_gnu::output::PIECE;
use isopod_sys::files::{Kind as FileKind, Whence};
use isopod_sys::{files, write_all};

use super::options::{Chunks, Kind, Settings};
use super::output::{Failure, Outputs};
use crate::lines::Lines;

pub(super) fn split(input: Input, chunks: &Chunks, settings: &Settings, outputs: &mut Outputs) -> Result<(), Failure> {
    if chunks.kind == Kind::Turns {
        return turns(Lines::new(input, settings.separator), chunks, settings, outputs);
    }
    let (size, mut source) = measure(input)?;
    if chunks.kind == Kind::Bytes {
        return bytes(size, &mut source, chunks, settings, outputs);
    }
    lines(size, &mut source, chunks, settings, outputs)
}

/// The input: a file whose size is known, or the whole content of a pipe.
enum Source {
    File(Input),
    Memory(Vec<u8>, usize),
}

fn measure(input: Input) -> Result<(u64, Source), Failure> {
    let found = files::stat_fd(input.fd())?;
    if found.kind == FileKind::File
        && let Ok(offset) = files::seek(input.fd(), 0, Whence::Current)
    {
        return Ok((found.size.saturating_sub(offset), Source::File(input)));
    }
    let bytes = input.read_all()?;
    Ok((bytes.len() as u64, Source::Memory(bytes, 0)))
}

impl Source {
    fn read(&mut self) -> Result<Vec<u8>, Failure> {
        match self {
            Source::File(input) => Ok(input.read()?),
            Source::Memory(bytes, at) => {
                let start = *at;
                *at = (start + PIECE).min(bytes.len());
                Ok(bytes[start..*at].to_vec())
            }
        }
    }
}

fn bytes(
    size: u64,
    source: &mut Source,
    chunks: &Chunks,
    settings: &Settings,
    outputs: &mut Outputs,
) -> Result<(), Failure> {
    let each = size / chunks.count;
    let end_of = |chunk: u64| if chunk == chunks.count { u64::MAX } else { each * chunk };
    let (mut chunk, mut offset) = (1, 0u64);
    let mut opened = false;
    loop {
        let piece = source.read()?;
        if piece.is_empty() {
            break;
        }
        let mut rest = piece.as_slice();
        while !rest.is_empty() {
            if offset >= end_of(chunk) {
                if chunks.only.is_none() && !opened && !settings.skips_empty {
                    outputs.next()?;
                }
                (chunk, opened) = (chunk + 1, false);
                continue;
            }
            let here = (end_of(chunk) - offset).min(rest.len() as u64) as usize;
            match chunks.only {
                Some(only) if only == chunk => print(&rest[..here])?,
                Some(only) if only < chunk => return Ok(()),
                Some(_) => {}
                None => {
                    if !opened {
                        outputs.next()?;
                    }
                    outputs.write(&rest[..here])?;
                }
            }
            opened = true;
            offset += here as u64;
            rest = &rest[here..];
        }
    }
    fill(chunk + u64::from(opened), chunks, settings, outputs)
}

/// Writes whole lines: each belongs to the chunk that it begins in.
fn lines(
    size: u64,
    source: &mut Source,
    chunks: &Chunks,
    settings: &Settings,
    outputs: &mut Outputs,
) -> Result<(), Failure> {
    let each = size / chunks.count;
    let (mut chunk, mut offset) = (1, 0u64);
    let last_of =
        |chunk: u64| if chunk >= chunks.count { size.saturating_sub(1) } else { (each * chunk).saturating_sub(1) };
    let mut opened = false;
    let mut at_line_start = true;
    loop {
        let piece = source.read()?;
        if piece.is_empty() {
            break;
        }
        for part in piece.split_inclusive(|byte| *byte == settings.separator) {
            if at_line_start {
                while chunk < chunks.count && (offset > last_of(chunk) || each == 0 && opened && offset > 0) {
                    if !opened && chunks.only.is_none() && !settings.skips_empty {
                        outputs.next()?;
                    }
                    (chunk, opened) = (chunk + 1, false);
                }
            }
            match chunks.only {
                Some(only) if only == chunk => print(part)?,
                Some(only) if only < chunk => return Ok(()),
                Some(_) => {}
                None => {
                    if !opened {
                        outputs.next()?;
                    }
                    outputs.write(part)?;
                }
            }
            opened = true;
            offset += part.len() as u64;
            at_line_start = part.last() == Some(&settings.separator);
        }
    }
    fill(chunk + u64::from(opened), chunks, settings, outputs)
}

/// Writes each line to the next file in turn.
fn turns(mut lines: Lines, chunks: &Chunks, settings: &Settings, outputs: &mut Outputs) -> Result<(), Failure> {
    let mut open = Vec::new();
    let mut number = 0;
    while let Some(line) = lines.next()? {
        let line = line.to_vec();
        let end: &[u8] = if lines.is_complete() { &[settings.separator] } else { &[] };
        let turn = number % chunks.count;
        number += 1;
        match chunks.only {
            Some(only) if only == turn + 1 => print(&[&line, end].concat())?,
            Some(_) => {}
            None => {
                if turn as usize == open.len() {
                    open.push(outputs.open()?);
                }
                open[turn as usize].write(&line)?;
                open[turn as usize].write(end)?;
            }
        }
    }
    let opened = open.len() as u64;
    for output in open {
        outputs.finish(output)?;
    }
    fill(opened + 1, chunks, settings, outputs)
}

/// Makes the remaining files, which are empty.
fn fill(from: u64, chunks: &Chunks, settings: &Settings, outputs: &mut Outputs) -> Result<(), Failure> {
    if chunks.only.is_none() && !settings.skips_empty {
        for _ in from..=chunks.count {
            outputs.next()?;
        }
    }
    Ok(())
}

fn print(bytes: &[u8]) -> Result<(), Failure> {
    write_all(1, bytes).map_err(|errno| Failure::Unwritten("write error".to_owned(), errno))
}
