//! `dd`: bytes, from here to there, in blocks.

mod options;

use std::time::Instant;

use isopod_gnu::human::Unit;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::shell;
use isopod_sys::files::{self, OpenFlags, Whence};
use isopod_sys::{Errno, Fd, process, text, write_all};

use options::{Choice, Status};

/// `dd`.
pub(crate) const PROGRAM: Program = Program {
    name: "dd",
    operands: &["[OPERAND]...", "OPTION"],
    about: "Copy a file, converting and formatting according to the operands:\n  \
            if=FILE of=FILE bs=BYTES ibs=BYTES obs=BYTES count=N skip=N seek=N status=LEVEL\n  \
            conv=notrunc,excl,nocreat,noerror,sync,ucase,lcase,swab,fsync,fdatasync\n  \
            iflag=fullblock,count_bytes,skip_bytes oflag=append,seek_bytes",
    syntax: Syntax::Mixed,
    options: &[],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// What was read and written: whole blocks and others.
#[derive(Default)]
struct Counts {
    input: (u64, u64),
    output: (u64, u64),
    bytes: u64,
}

fn run(call: &Call) -> Result<u8, u8> {
    let choice = Choice::read(&call.operands).map_err(|message| call.misused(&message))?;
    let fail = |message: String| {
        call.complain(&message);
        1
    };
    let cannot = |path: &str, errno| format!("failed to open {}: {}", shell(path), text(errno));
    let input = match &choice.input {
        Some(path) => Fd::open(path, OpenFlags::READ, 0).map_err(|errno| fail(cannot(path, errno)))?,
        None => Fd::from_raw(0),
    };
    let output = match &choice.output {
        Some(path) => open_output(&choice, path).map_err(|errno| fail(cannot(path, errno)))?,
        None => Fd::from_raw(1),
    };
    let start = Instant::now();
    let mut counts = Counts::default();
    let result = copy(&choice, &input, &output, &mut counts);
    let code = match result {
        Ok(()) => 0,
        Err(message) => fail(message),
    };
    report(&choice, &counts, start.elapsed().as_secs_f64());
    Ok(code)
}

fn open_output(choice: &Choice, path: &str) -> Result<Fd, Errno> {
    let mut flags = OpenFlags::WRITE;
    if !choice.has("nocreat") {
        flags = flags | OpenFlags::CREATE;
    }
    if choice.has("excl") {
        flags = flags | OpenFlags::EXCLUSIVE;
    }
    if choice.has("append") {
        flags = flags | OpenFlags::APPEND;
    }
    // What lies before the place to write to stays.
    if !choice.has("notrunc") && choice.seek == 0 {
        flags = flags | OpenFlags::TRUNCATE;
    }
    let file = Fd::open(path, flags, 0o666)?;
    if choice.seek > 0 && !choice.has("notrunc") {
        cut(path, choice.seek);
    }
    Ok(file)
}

/// Cuts or grows the output to where writing begins. A device has no size, and then there is nothing to do.
fn cut(path: &str, size: u64) {
    let absolute = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", process::cwd()) };
    let _ = std::fs::OpenOptions::new().write(true).open(absolute).and_then(|file| file.set_len(size));
}

fn copy(choice: &Choice, input: &Fd, output: &Fd, counts: &mut Counts) -> Result<(), String> {
    let from = choice.input.as_deref().unwrap_or("standard input");
    let to = choice.output.as_deref().unwrap_or("standard output");
    skip(choice, input, from)?;
    if choice.seek > 0 && files::seek(output.raw(), choice.seek as i64, Whence::Current).is_err() {
        return Err(format!("{}: cannot seek: Illegal seek", shell(to)));
    }
    let mut left = choice.count;
    let mut held: Vec<u8> = Vec::new();
    while left != Some(0) {
        let want = match left {
            Some(left) if choice.count_bytes => left.min(choice.input_size as u64) as usize,
            _ => choice.input_size,
        };
        let mut block = match read_block(choice, input, want) {
            Ok(block) => block,
            Err(errno) => {
                let message = format!("error reading {}: {}", shell(from), text(errno));
                if !choice.has("noerror") {
                    flush(choice, output, &mut held, true, counts, to)?;
                    return Err(message);
                }
                break;
            }
        };
        if block.is_empty() {
            break;
        }
        if block.len() == choice.input_size {
            counts.input.0 += 1;
        } else {
            counts.input.1 += 1;
        }
        left = left.map(|left| left.saturating_sub(if choice.count_bytes { block.len() as u64 } else { 1 }));
        convert(choice, &mut block);
        if choice.same_size {
            // `bs=`: a short block is written as it came.
            write(choice, output, &block, counts, to)?;
        } else {
            held.extend_from_slice(&block);
            flush(choice, output, &mut held, false, counts, to)?;
        }
    }
    flush(choice, output, &mut held, true, counts, to)
}

fn skip(choice: &Choice, input: &Fd, from: &str) -> Result<(), String> {
    if choice.skip == 0 {
        return Ok(());
    }
    let size = files::stat_fd(input.raw()).map(|found| found.size).unwrap_or(0);
    let short = || complain_skip(from);
    if let Ok(at) = files::seek(input.raw(), choice.skip as i64, Whence::Current) {
        if at > size && files::stat_fd(input.raw()).is_ok_and(|found| found.kind == files::Kind::File) {
            short();
        }
        return Ok(());
    }
    let mut left = choice.skip;
    while left > 0 {
        let want = left.min(choice.input_size as u64) as u32;
        match files::read(input.raw(), want, None) {
            Ok(bytes) if bytes.is_empty() => {
                short();
                break;
            }
            Ok(bytes) => left -= bytes.len() as u64,
            Err(Errno::Interrupted) => {}
            Err(errno) => return Err(format!("error reading {}: {}", shell(from), text(errno))),
        }
    }
    Ok(())
}

fn complain_skip(from: &str) {
    isopod_gnu::output::complain("dd", &format!("{}: cannot skip to specified offset", isopod_gnu::quote::name(from)));
}

fn read_block(choice: &Choice, input: &Fd, want: usize) -> Result<Vec<u8>, Errno> {
    let mut block = Vec::new();
    loop {
        match files::read(input.raw(), (want - block.len()) as u32, None) {
            Ok(bytes) if bytes.is_empty() => return Ok(block),
            Ok(bytes) if block.is_empty() => block = bytes,
            Ok(bytes) => block.extend_from_slice(&bytes),
            Err(Errno::Interrupted) => continue,
            Err(errno) => return Err(errno),
        }
        if block.len() == want || !choice.has("fullblock") {
            return Ok(block);
        }
    }
}

fn convert(choice: &Choice, block: &mut Vec<u8>) {
    if choice.has("sync") {
        block.resize(choice.input_size, 0);
    }
    if choice.has("swab") {
        block.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    }
    if choice.has("ucase") {
        block.make_ascii_uppercase();
    }
    if choice.has("lcase") {
        block.make_ascii_lowercase();
    }
}

/// Writes whole blocks, and at the end what is left.
fn flush(
    choice: &Choice,
    output: &Fd,
    held: &mut Vec<u8>,
    last: bool,
    counts: &mut Counts,
    to: &str,
) -> Result<(), String> {
    let size = choice.output_size;
    let whole = held.len() / size * size;
    for block in held[..whole].chunks(size) {
        write(choice, output, block, counts, to)?;
    }
    held.drain(..whole);
    if last && !held.is_empty() {
        let rest = std::mem::take(held);
        write(choice, output, &rest, counts, to)?;
    }
    Ok(())
}

fn write(choice: &Choice, output: &Fd, block: &[u8], counts: &mut Counts, to: &str) -> Result<(), String> {
    write_all(output.raw(), block).map_err(|errno| format!("error writing {}: {}", shell(to), text(errno)))?;
    if block.len() == choice.output_size {
        counts.output.0 += 1;
    } else {
        counts.output.1 += 1;
    }
    counts.bytes += block.len() as u64;
    Ok(())
}

fn report(choice: &Choice, counts: &Counts, seconds: f64) {
    if choice.status == Status::None {
        return;
    }
    let (input, output) = (counts.input, counts.output);
    let mut lines = format!("{}+{} records in\n{}+{} records out\n", input.0, input.1, output.0, output.1);
    if choice.status != Status::NoTransfer {
        let bytes = counts.bytes;
        let plural = if bytes == 1 { "byte" } else { "bytes" };
        let mut size = format!("{bytes} {plural}");
        if bytes >= 1000 {
            let human = |base: u64| {
                let text = Unit::Human(base).text(bytes);
                let (number, unit) = text.split_at(text.len() - 1);
                format!("{number} {unit}{}", if base == 1000 { "B" } else { "iB" })
            };
            size = format!("{bytes} {plural} ({}", human(1000));
            if bytes >= 1024 {
                size.push_str(&format!(", {}", human(1024)));
            }
            size.push(')');
        }
        let rate = if seconds > 0.0 { bytes as f64 / seconds } else { 0.0 };
        let rate = match rate {
            rate if rate >= 1e9 => format!("{:.1} GB/s", rate / 1e9),
            rate if rate >= 1e6 => format!("{:.1} MB/s", rate / 1e6),
            rate => format!("{:.1} kB/s", rate / 1e3),
        };
        lines.push_str(&format!("{size} copied, {seconds:.9} s, {rate}\n"));
    }
    // There is no place left to report that standard error is gone.
    let _ = write_all(2, lines.as_bytes());
}
