//! `csplit`: splits a file at lines that match.

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::{name, plain};
use isopod_sys::files::OpenFlags;
use isopod_sys::{Fd, fs, text, write_all};

use crate::directive::Directive;
use crate::lines::{Lines, complain};
use crate::pattern::Pattern;

/// `csplit`.
pub(crate) const PROGRAM: Program = Program {
    name: "csplit",
    operands: &["[OPTION]... FILE PATTERN..."],
    about: "Output pieces of FILE separated by PATTERN(s) to files 'xx00', 'xx01', ..., and their sizes to\n\
            standard output.  PATTERN: N, /REGEXP/[OFFSET], %REGEXP%[OFFSET], each followed by {N} or {*} maybe.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('b', "suffix-format", "use sprintf FORMAT instead of %02d").takes("FORMAT"),
        Opt::flag('f', "prefix", "use PREFIX instead of 'xx'").takes("PREFIX"),
        Opt::flag('k', "keep-files", "do not remove output files on errors"),
        Opt::long("suppress-matched", "suppress the lines matching PATTERN"),
        Opt::flag('n', "digits", "use specified number of digits instead of 2").takes("DIGITS"),
        Opt::flag('s', "quiet", "do not print counts of output file sizes"),
        Opt::letter('q', "quiet", "same as -s"),
        Opt::long("silent", "same as -s"),
        Opt::flag('z', "elide-empty-files", "suppress empty output files"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The end of a piece.
enum PieceEnd {
    /// Before this line, or that many lines further when it is repeated.
    Line(usize),
    /// Before a line that matches, or some lines from it; `skips` leaves out the piece before it.
    Match { pattern: Box<Pattern>, offset: i64, skips: bool },
}

/// The number of repetitions.
enum Repeat {
    Times(usize),
    Forever,
}

struct Step<'a> {
    text: &'a str,
    end: PieceEnd,
    repeat: Repeat,
}

fn run(call: &Call) -> Result<u8, u8> {
    let [path, patterns @ ..] = call.operands.as_slice() else { return Err(call.misused("missing operand")) };
    if patterns.is_empty() {
        return Err(call.misused(&format!("missing operand after {}", plain(path))));
    }
    let mut steps: Vec<Step> = Vec::new();
    for pattern in patterns {
        if let Some(inner) = pattern.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'))
            && let Some(step) = steps.last_mut()
        {
            step.repeat = match inner {
                "*" => Repeat::Forever,
                count => Repeat::Times(
                    count
                        .parse()
                        .map_err(|_| call.failed(&format!("{pattern}}}: integer required between '{{' and '}}'")))?,
                ),
            };
            continue;
        }
        let end = parse(pattern).map_err(|message| call.failed(&message))?;
        steps.push(Step { text: pattern, end, repeat: Repeat::Times(0) });
    }
    check_lines(call, &steps)?;
    let format = Suffix::new(call)?;
    let lines = read(call, path)?;
    let mut work = Work { call, lines: &lines, at: 0, current: 0, made: Vec::new(), format, out: Out::new() };
    let result = work.run(&steps);
    let made = std::mem::take(&mut work.made);
    let mut code = 0;
    work.out.flush();
    if let Err(message) = result {
        code = 1;
        if !message.is_empty() {
            call.complain(&message);
        }
        if !call.has("keep-files") {
            for path in made {
                // A file that cannot be removed stays; the failure was reported.
                let _ = fs::remove_file(&path);
            }
        }
    }
    Ok(call.finish(work.out, code))
}

fn read(call: &Call, path: &str) -> Result<Vec<Vec<u8>>, u8> {
    let fail = |errno| match path {
        "-" => complain(call, path, errno),
        path => call.failed(&format!("cannot open {} for reading: {}", isopod_gnu::quote::shell(path), text(errno))),
    };
    let mut lines = Lines::open(path, b'\n').map_err(fail)?;
    let mut all = Vec::new();
    while let Some(line) = lines.next().map_err(fail)? {
        let mut line = line.to_vec();
        if lines.is_complete() {
            line.push(b'\n');
        }
        all.push(line);
    }
    Ok(all)
}

fn parse(text: &str) -> Result<PieceEnd, String> {
    let mark = text.chars().next().unwrap_or(' ');
    if mark == '/' || mark == '%' {
        let end = text.rfind(mark).filter(|end| *end > 0);
        let end = end.ok_or_else(|| format!("{}: closing delimiter '{mark}' missing", name(text)))?;
        let offset = match &text[end + 1..] {
            "" => 0,
            offset => offset.parse::<i64>().map_err(|_| format!("{}: integer expected after delimiter", name(text)))?,
        };
        let pattern = Pattern::basic(&text[1..end])
            .map_err(|message| format!("{}: invalid regular expression: {message}", name(text)))?;
        return Ok(PieceEnd::Match { pattern: Box::new(pattern), offset, skips: mark == '%' });
    }
    match text.parse() {
        Ok(0) => Err(format!("{text}: line number must be greater than zero")),
        Ok(line) => Ok(PieceEnd::Line(line)),
        Err(_) => Err(format!("{}: invalid pattern", name(text))),
    }
}

fn check_lines(call: &Call, steps: &[Step]) -> Result<(), u8> {
    let mut before = 0;
    for step in steps {
        if let PieceEnd::Line(line) = step.end {
            if line < before {
                return Err(call.failed(&format!(
                    "line number {} is smaller than preceding line number, {before}",
                    plain(step.text)
                )));
            }
            if line == before {
                call.complain(&format!(
                    "warning: line number {} is the same as preceding line number",
                    plain(step.text)
                ));
            }
            before = line;
        }
    }
    Ok(())
}

/// Names of the pieces.
struct Suffix {
    prefix: String,
    before: String,
    directive: Directive,
    letter: u8,
    after: String,
}

impl Suffix {
    fn new(call: &Call) -> Result<Suffix, u8> {
        let prefix = call.value("prefix").unwrap_or("xx").to_owned();
        let fail = |message: &str| call.failed(message);
        let digits: usize = match call.value("digits") {
            None => 2,
            Some(text) => text.parse().map_err(|_| fail(&format!("{}: invalid number", plain(text))))?,
        };
        let plain_form = Directive { zero: true, width: digits, ..Directive::default() };
        let Some(format) = call.value("suffix-format") else {
            return Ok(Suffix {
                prefix,
                before: String::new(),
                directive: plain_form,
                letter: b'u',
                after: String::new(),
            });
        };
        let Some(at) = format.find('%') else { return Err(fail("missing % conversion specification in suffix")) };
        let mut directive = Directive::default();
        let bytes = format.as_bytes();
        let mut next = at + 1;
        while bytes.get(next).is_some_and(|byte| directive.flag(*byte)) {
            next += 1;
        }
        let number = |next: &mut usize| {
            let count = bytes[*next..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let value = format[*next..*next + count].parse::<usize>().unwrap_or(0).min(1 << 10);
            *next += count;
            value
        };
        directive.width = number(&mut next);
        if bytes.get(next) == Some(&b'.') {
            next += 1;
            directive.precision = Some(number(&mut next));
        }
        let letter = match bytes.get(next) {
            Some(letter @ (b'd' | b'i' | b'u' | b'o' | b'x' | b'X')) => *letter,
            Some(other) => {
                return Err(fail(&format!("invalid conversion specifier in suffix: {}", char::from(*other))));
            }
            None => return Err(fail("missing conversion specifier in suffix")),
        };
        if format[next + 1..].contains('%') {
            return Err(fail("too many % conversion specifications in suffix"));
        }
        Ok(Suffix { prefix, before: format[..at].to_owned(), directive, letter, after: format[next + 1..].to_owned() })
    }

    fn name(&self, number: usize) -> String {
        let mut digits = Vec::new();
        let letter = if matches!(self.letter, b'd' | b'i') { b'u' } else { self.letter };
        self.directive.unsigned(number as u64, letter, &mut digits);
        format!("{}{}{}{}", self.prefix, self.before, String::from_utf8_lossy(&digits), self.after)
    }
}

struct Work<'a> {
    call: &'a Call,
    lines: &'a [Vec<u8>],
    /// The first line that is not written yet, from 0.
    at: usize,
    /// The line up to which matches were searched.
    current: usize,
    made: Vec<String>,
    format: Suffix,
    out: Out,
}

impl Work<'_> {
    fn run(&mut self, steps: &[Step]) -> Result<(), String> {
        for step in steps {
            let mut repetition = 0;
            loop {
                match &step.repeat {
                    Repeat::Times(times) if repetition > *times => break,
                    _ => {}
                }
                if !self.step(step, repetition)? {
                    return Ok(());
                }
                repetition += 1;
            }
        }
        self.write(self.lines.len())
    }

    /// Writes one piece. Returns false at the end of a step that is repeated for ever.
    fn step(&mut self, step: &Step, repetition: usize) -> Result<bool, String> {
        let again = if repetition > 0 { format!(" on repetition {repetition}") } else { String::new() };
        match &step.end {
            PieceEnd::Line(line) => {
                let target = line * (repetition + 1) - 1;
                if target > self.lines.len() || target == self.lines.len() && self.at >= self.lines.len() {
                    self.write(self.lines.len())?;
                    return Err(format!("{}: line number out of range{again}", plain(step.text)));
                }
                self.write(target.max(self.at))?;
                self.current = target;
                if self.call.has("suppress-matched") {
                    self.at += 1;
                }
                Ok(true)
            }
            PieceEnd::Match { pattern, offset, skips } => {
                let bare = |line: &Vec<u8>| line.strip_suffix(b"\n").unwrap_or(line).to_vec();
                let from = self.current.min(self.lines.len());
                let found = self.lines[from..].iter().position(|line| pattern.is_in(&bare(line)));
                let Some(found) = found.map(|found| from + found) else {
                    if matches!(step.repeat, Repeat::Forever) {
                        if !skips {
                            self.write(self.lines.len())?;
                        }
                        return Ok(false);
                    }
                    if !skips {
                        self.write(self.lines.len())?;
                    }
                    return Err(format!("{}: match not found{again}", plain(step.text)));
                };
                let target = found as i64 + offset;
                if target < self.at as i64 || target > self.lines.len() as i64 {
                    if !skips {
                        self.write(if target < 0 { self.at } else { self.lines.len().min(self.at.max(found)) })?;
                    }
                    return Err(format!("{}: line number out of range", plain(step.text)));
                }
                let target = target as usize;
                if *skips {
                    self.at = target;
                } else {
                    self.write(target)?;
                }
                self.current = if *offset > 0 { target + 1 } else { found + 1 };
                if self.call.has("suppress-matched") {
                    self.at = (self.at + 1).min(self.lines.len());
                }
                Ok(true)
            }
        }
    }

    /// Writes the lines up to this one to the next file.
    fn write(&mut self, end: usize) -> Result<(), String> {
        let bytes = self.lines[self.at.min(end)..end].concat();
        self.at = self.at.max(end);
        if bytes.is_empty() && self.call.has("elide-empty-files") {
            return Ok(());
        }
        let path = self.format.name(self.made.len());
        let flags = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
        let written = Fd::open(&path, flags, 0o666).and_then(|file| write_all(file.raw(), &bytes));
        written.map_err(|errno| format!("{}: {}", name(&path), text(errno)))?;
        self.made.push(path);
        if !(self.call.has("quiet") || self.call.has("silent")) {
            self.out.push(format!("{}\n", bytes.len()).as_bytes());
        }
        Ok(())
    }
}
