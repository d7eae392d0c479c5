//! `dd`: copies bytes in blocks.

mod options;

use std::time::Instant;

use isopod_gnu::human::Unit;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::shell;
use isopod_sys::files::{self, OpenFlags, Whence};
use isopod_sys::{Errno, Fd, process, text, write_all};

use options::{Settings, Status};

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

/// Counts of whole and partial blocks, read and written.
#[derive(Default)]
struct Counts {
    input: (u64, u64),
    output: (u64, u64),
    bytes: u64,
}

fn run(call: &Call) -> Result<u8, u8> {
    let settings = Settings::read(&call.operands).map_err(|message| call.misused(&message))?;
    let fail = |message: String| {
        call.complain(&message);
        1
    };
    let cannot = |path: &str, errno| format!("failed to open {}: {}", shell(path), text(errno));
    let input = match &settings.input {
        Some(path) => Fd::open(path, OpenFlags::READ, 0).map_err(|errno| fail(cannot(path, errno)))?,
        None => Fd::from_raw(0),
    };
    let output = match &settings.output {
        Some(path) => open_output(&settings, path).map_err(|errno| fail(cannot(path, errno)))?,
        None => Fd::from_raw(1),
    };
    let start = Instant::now();
    let mut counts = Counts::default();
    let result = copy(&settings, &input, &output, &mut counts);
    let code = match result {
        Ok(()) => 0,
        Err(message) => fail(message),
    };
    report(&settings, &counts, start.elapsed().as_secs_f64());
    Ok(code)
}

fn open_output(settings: &Settings, path: &str) -> Result<Fd, Errno> {
    let mut flags = OpenFlags::WRITE;
    if !settings.has("nocreat") {
        flags = flags | OpenFlags::CREATE;
    }
    if settings.has("excl") {
        flags = flags | OpenFlags::EXCLUSIVE;
    }
    if settings.has("append") {
        flags = flags | OpenFlags::APPEND;
    }
    // Bytes before the position of `seek=` stay.
    if !settings.has("notrunc") && settings.seek == 0 {
        flags = flags | OpenFlags::TRUNCATE;
    }
    let file = Fd::open(path, flags, 0o666)?;
    if settings.seek > 0 && !settings.has("notrunc") {
        cut(path, settings.seek);
    }
    Ok(file)
}

/// Cuts or grows the output to the position at which writing begins. A device has no size and is left alone.
fn cut(path: &str, size: u64) {
    let absolute = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", process::cwd()) };
    let _ = std::fs::OpenOptions::new().write(true).open(absolute).and_then(|file| file.set_len(size));
}

fn copy(settings: &Settings, input: &Fd, output: &Fd, counts: &mut Counts) -> Result<(), String> {
    let from = settings.input.as_deref().unwrap_or("standard input");
    let to = settings.output.as_deref().unwrap_or("standard output");
    skip(settings, input, from)?;
    if settings.seek > 0 && files::seek(output.raw(), settings.seek as i64, Whence::Current).is_err() {
        return Err(format!("{}: cannot seek: Illegal seek", shell(to)));
    }
    let mut left = settings.count;
    let mut held: Vec<u8> = Vec::new();
    while left != Some(0) {
        let want = match left {
            Some(left) if settings.count_bytes => left.min(settings.input_size as u64) as usize,
            _ => settings.input_size,
        };
        let mut block = match read_block(settings, input, want) {
            Ok(block) => block,
            Err(errno) => {
                let message = format!("error reading {}: {}", shell(from), text(errno));
                if !settings.has("noerror") {
                    flush(settings, output, &mut held, true, counts, to)?;
                    return Err(message);
                }
                break;
            }
        };
        if block.is_empty() {
            break;
        }
        if block.len() == settings.input_size {
            counts.input.0 += 1;
        } else {
            counts.input.1 += 1;
        }
        left = left.map(|left| left.saturating_sub(if settings.count_bytes { block.len() as u64 } else { 1 }));
        convert(settings, &mut block);
        if settings.same_size {
            // `bs=`: a short block is written as it came.
            write(settings, output, &block, counts, to)?;
        } else {
            held.extend_from_slice(&block);
            flush(settings, output, &mut held, false, counts, to)?;
        }
    }
    flush(settings, output, &mut held, true, counts, to)
}

fn skip(settings: &Settings, input: &Fd, from: &str) -> Result<(), String> {
    if settings.skip == 0 {
        return Ok(());
    }
    let size = files::stat_fd(input.raw()).map(|found| found.size).unwrap_or(0);
    let short = || complain_skip(from);
    if let Ok(at) = files::seek(input.raw(), settings.skip as i64, Whence::Current) {
        if at > size && files::stat_fd(input.raw()).is_ok_and(|found| found.kind == files::Kind::File) {
            short();
        }
        return Ok(());
    }
    let mut left = settings.skip;
    while left > 0 {
        let want = left.min(settings.input_size as u64) as u32;
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

fn read_block(settings: &Settings, input: &Fd, want: usize) -> Result<Vec<u8>, Errno> {
    let mut block = Vec::new();
    loop {
        match files::read(input.raw(), (want - block.len()) as u32, None) {
            Ok(bytes) if bytes.is_empty() => return Ok(block),
            Ok(bytes) if block.is_empty() => block = bytes,
            Ok(bytes) => block.extend_from_slice(&bytes),
            Err(Errno::Interrupted) => continue,
            Err(errno) => return Err(errno),
        }
        if block.len() == want || !settings.has("fullblock") {
            return Ok(block);
        }
    }
}

fn convert(settings: &Settings, block: &mut Vec<u8>) {
    if settings.has("sync") {
        block.resize(settings.input_size, 0);
    }
    if settings.has("swab") {
        block.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
    }
    if settings.has("ucase") {
        block.make_ascii_uppercase();
    }
    if settings.has("lcase") {
        block.make_ascii_lowercase();
    }
}

/// Writes whole blocks, and at the end the rest.
fn flush(
    settings: &Settings,
    output: &Fd,
    held: &mut Vec<u8>,
    last: bool,
    counts: &mut Counts,
    to: &str,
) -> Result<(), String> {
    let size = settings.output_size;
    let whole = held.len() / size * size;
    for block in held[..whole].chunks(size) {
        write(settings, output, block, counts, to)?;
    }
    held.drain(..whole);
    if last && !held.is_empty() {
        let rest = std::mem::take(held);
        write(settings, output, &rest, counts, to)?;
    }
    Ok(())
}

fn write(settings: &Settings, output: &Fd, block: &[u8], counts: &mut Counts, to: &str) -> Result<(), String> {
    write_all(output.raw(), block).map_err(|errno| format!("error writing {}: {}", shell(to), text(errno)))?;
    if block.len() == settings.output_size {
        counts.output.0 += 1;
    } else {
        counts.output.1 += 1;
    }
    counts.bytes += block.len() as u64;
    Ok(())
}

fn report(settings: &Settings, counts: &Counts, seconds: f64) {
    if settings.status == Status::None {
        return;
    }
    let (input, output) = (counts.input, counts.output);
    let mut lines = format!("{}+{} records in\n{}+{} records out\n", input.0, input.1, output.0, output.1);
    if settings.status != Status::NoTransfer {
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
