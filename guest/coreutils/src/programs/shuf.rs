//! `shuf`: prints lines in random order.

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, redirect};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_sys::files::{Kind, OpenFlags};
use isopod_sys::{Errno, files, text};

use crate::lines::{Lines, complain};
use crate::random::Random;

/// `shuf`.
pub(crate) const PROGRAM: Program = Program {
    name: "shuf",
    operands: &["[OPTION]... [FILE]", "-e [OPTION]... [ARG]...", "-i LO-HI [OPTION]..."],
    about: "Write a random permutation of the input lines to standard output.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('e', "echo", "treat each ARG as an input line"),
        Opt::flag('i', "input-range", "treat each number LO through HI as an input line").takes("LO-HI"),
        Opt::flag('n', "head-count", "output at most COUNT lines").takes("COUNT"),
        Opt::flag('o', "output", "write result to FILE instead of standard output").takes("FILE"),
        Opt::long("random-source", "get random bytes from FILE").takes("FILE"),
        Opt::flag('r', "repeat", "output lines can be repeated"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// A smaller file is read as a whole, even if only a few lines of it are wanted.
const SMALL: u64 = 8 << 20;

/// The things that are shuffled.
enum Items {
    Range(u64, u64),
    Lines(Vec<Vec<u8>>),
}

fn run(call: &Call) -> Result<u8, u8> {
    let end = if call.has("zero-terminated") { 0 } else { b'\n' };
    let most = most(call)?;
    let random_path = call.value("random-source").unwrap_or("/dev/urandom");
    let fatal = |path: &str, errno: Errno| complain(call, path, errno);
    let lost = |errno: Errno| {
        let shown = isopod_gnu::quote::name(random_path).into_owned();
        // GNU's words for a source of random bytes that ends.
        call.failed(&format!("{shown}: {}", if errno == Errno::NoEntry { text(errno) } else { "end of file" }))
    };
    let items = match call.value("input-range") {
        Some(_) if call.has("echo") => return Err(call.misused("cannot combine -e and -i options")),
        Some(range) => {
            call.at_most(0)?;
            let (low, high) =
                parse_range(range).ok_or_else(|| call.failed(&format!("invalid input range: {}", plain(range))))?;
            Items::Range(low, (high + 1).saturating_sub(low))
        }
        None if call.has("echo") => Items::Lines(call.operands.iter().map(|line| line.as_bytes().to_vec()).collect()),
        None => {
            call.at_most(1)?;
            let path = call.operands.first().map_or("-", String::as_str);
            let input = Input::open(path).map_err(|errno| fatal(path, errno))?;
            let small = files::stat_fd(input.fd()).is_ok_and(|found| found.kind == Kind::File && found.size <= SMALL);
            let lines = Lines::new(input, end);
            let few = (most < u64::MAX && !small && !call.has("repeat")).then_some(most);
            match few {
                Some(count) => {
                    let mut random = Random::open(random_path).map_err(lost)?;
                    let lines = sample(lines, count as usize, &mut random).map_err(|errno| fatal(path, errno))?;
                    return finish(call, Items::Lines(lines), most, end, random, &lost);
                }
                None => Items::Lines(read_all(lines).map_err(|errno| fatal(path, errno))?),
            }
        }
    };
    let random = Random::open(random_path).map_err(lost)?;
    finish(call, items, most, end, random, &lost)
}

fn finish(
    call: &Call,
    items: Items,
    most: u64,
    end: u8,
    mut random: Random,
    lost: &dyn Fn(Errno) -> u8,
) -> Result<u8, u8> {
    if let Some(path) = call.value("output") {
        let flags = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
        redirect(path, flags).map_err(|errno| complain(call, path, errno))?;
    }
    let count = match &items {
        Items::Range(_, count) => *count,
        Items::Lines(lines) => lines.len() as u64,
    };
    let mut out = Out::new();
    let mut print = |index: u64| {
        match &items {
            Items::Range(low, _) => out.push((low + index).to_string().as_bytes()),
            Items::Lines(lines) => out.push(&lines[index as usize]),
        }
        out.byte(end);
        !out.has_failed()
    };
    if call.has("repeat") {
        if count == 0 && most > 0 {
            return Err(call.failed("no lines to repeat"));
        }
        let mut left = most;
        while left > 0 {
            if !print(random.below(count).map_err(lost)?) {
                break;
            }
            left -= 1;
        }
    } else {
        let mut order = random.order(count, most.min(count));
        for _ in 0..most.min(count) {
            if !print(order.next(&mut random).map_err(lost)?) {
                break;
            }
        }
    }
    Ok(call.finish(out, 0))
}

fn most(call: &Call) -> Result<u64, u8> {
    let mut most = u64::MAX;
    for found in call.options.iter().filter(|found| found.option == "head-count") {
        let text = found.value.as_deref().unwrap_or_default();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(call.failed(&format!("invalid line count: {}", plain(text))));
        }
        most = most.min(text.parse().unwrap_or(u64::MAX));
    }
    Ok(most)
}

fn parse_range(text: &str) -> Option<(u64, u64)> {
    let (low, high) = text.split_once('-')?;
    let (low, high): (u64, u64) = (low.parse().ok()?, high.parse().ok()?);
    // An empty range is valid.
    (high < u64::MAX && low <= high + 1).then_some((low, high))
}

fn read_all(mut lines: Lines) -> Result<Vec<Vec<u8>>, Errno> {
    let mut all = Vec::new();
    while let Some(line) = lines.next()? {
        all.push(line.to_vec());
    }
    Ok(all)
}

/// Draws a few lines of many, all equally likely, without keeping the rest.
fn sample(mut lines: Lines, count: usize, random: &mut Random) -> Result<Vec<Vec<u8>>, Errno> {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    while kept.len() < count {
        match lines.next()? {
            Some(line) => kept.push(line.to_vec()),
            None => return Ok(kept),
        }
    }
    let mut seen = count as u64;
    loop {
        // The place is drawn before the line is read, even if there is none, as GNU's does.
        seen += 1;
        let place = random.below(seen)? as usize;
        let Some(line) = lines.next()? else { return Ok(kept) };
        if place < count {
            kept[place] = line.to_vec();
        }
    }
}
