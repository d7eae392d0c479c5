//! `read`

use std::collections::BTreeMap;
use std::rc::Rc;

use isopod_sys::{Errno, process};

use super::options;
use crate::expand::Ifs;
use crate::state::files::File;
use crate::state::variable::Value;
use crate::state::{Shell, Stop, TargetName, nanoseconds};
use crate::syntax::is_name;
use crate::text;

/// Bytes read at once from a file that can be seeked back.
const CHUNK: u32 = 512;

/// The options of `read`.
struct ReadRequest {
    delimiter: u8,
    raw: bool,
    /// `-n`: at most this many characters; `-N`: exactly this many.
    limit: Option<usize>,
    exact: bool,
    timeout: Option<u64>,
}

pub(super) fn read(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "rsea:d:n:N:p:t:u:i:E") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let mut request = ReadRequest { delimiter: b'\n', raw: given.has(b'r'), limit: None, exact: false, timeout: None };
    if let Some(delimiter) = given.value(b'd') {
        request.delimiter = text::to_bytes(delimiter).first().copied().unwrap_or(0);
    }
    for letter in [b'n', b'N'] {
        if let Some(count) = given.value(letter) {
            let Ok(count) = count.parse::<usize>() else {
                shell.complain_as("read", &format!("{count}: invalid number"));
                return Ok(1);
            };
            request.limit = Some(count);
            request.exact = letter == b'N';
        }
    }
    if let Some(seconds) = given.value(b't') {
        match nanoseconds_in(seconds) {
            Some(timeout) => request.timeout = Some(timeout),
            None => {
                shell.complain_as("read", &format!("{seconds}: invalid timeout specification"));
                return Ok(1);
            }
        }
    }
    let number = match given.value(b'u').map(str::parse::<u32>) {
        None => 0,
        Some(Ok(number)) => number,
        Some(Err(_)) => {
            let written = given.value(b'u').unwrap_or_default();
            shell.complain_as("read", &format!("{written}: invalid file descriptor specification"));
            return Ok(1);
        }
    };
    let names = &arguments[given.rest..];
    // The other names are checked when their turn comes.
    if let Some(name) = names.first().filter(|name| TargetName::parse(name).is_none()) {
        return Err(shell.refuse_name("read", name));
    }
    if let Some(array) = given.value(b'a').filter(|array| !is_name(array)) {
        return Err(shell.refuse_name("read", array));
    }
    if number > 2 {
        shell.files.look_for_inherited();
    }
    let Some(file) = shell.files.get(number).cloned() else {
        let message = match given.has(b'u') {
            true => format!("{number}: invalid file descriptor: Bad file descriptor"),
            false => format!("read error: {number}: Bad file descriptor"),
        };
        shell.complain_as("read", &message);
        return Ok(1);
    };
    if request.timeout == Some(0) {
        return Ok(poll(&file));
    }
    let (line, outcome) = read_line(shell, &file, &request);
    assign(shell, line, &request, given.value(b'a'), names)?;
    Ok(match outcome {
        ReadResult::Complete => 0,
        ReadResult::End => 1,
        ReadResult::TimedOut => 142,
        ReadResult::Interrupted(signal) => 128u8.wrapping_add(signal),
        ReadResult::Failed(errno) => {
            shell.complain_as("read", &format!("read error: {number}: {}", isopod_sys::text(errno)));
            1
        }
    })
}

/// Reads a line from standard input, for `select`. Returns `None` at the end.
pub fn read_answer(shell: &mut Shell) -> Option<String> {
    let file = shell.files.get(0).cloned()?;
    let request = ReadRequest { delimiter: b'\n', raw: false, limit: None, exact: false, timeout: None };
    match read_line(shell, &file, &request) {
        (line, ReadResult::Complete) => Some(text::from_bytes(line.into_iter().map(|(byte, _)| byte).collect())),
        _ => None,
    }
}

/// Reads a number of seconds with a fraction.
fn nanoseconds_in(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction:0<9}");
    let all_digits = !(whole.is_empty() && fraction.is_empty()) && digits.bytes().all(|b| b.is_ascii_digit());
    // Digits beyond nanoseconds are dropped.
    let kept = digits.get(..whole.len() + 9).filter(|_| all_digits)?;
    kept.parse().ok()
}

/// `read -t 0`: succeeds if a `read` would not wait.
fn poll(file: &Rc<File>) -> u8 {
    // Reads no bytes, so that all of them are left for the next reader.
    u8::from(file.read(0, Some(0)).is_err())
}

enum ReadResult {
    Complete,
    End,
    TimedOut,
    Interrupted(u8),
    Failed(Errno),
}

/// A byte, and whether a backslash made it literal.
type MarkedByte = (u8, bool);

fn read_line(shell: &mut Shell, file: &Rc<File>, request: &ReadRequest) -> (Vec<MarkedByte>, ReadResult) {
    let mut line: Vec<MarkedByte> = Vec::new();
    if request.limit == Some(0) {
        return (line, ReadResult::Complete);
    }
    let deadline = request.timeout.map(|t| nanoseconds() + t as i64);
    let seekable = file.is_seekable();
    let mut escaped = false;
    let mut characters = 0;
    loop {
        let timeout = deadline.map(|d| (d - nanoseconds()).max(0) as u64);
        // Bytes cannot be put back into a pipe, and those after the line are for another reader.
        let bytes = match file.read(if seekable { CHUNK } else { 1 }, timeout) {
            Ok(bytes) if bytes.is_empty() => return (line, ReadResult::End),
            Ok(bytes) => bytes,
            Err(Errno::TimedOut) => return (line, ReadResult::TimedOut),
            Err(Errno::Interrupted) => {
                shell.caught.extend(process::pending());
                match shell.caught.first() {
                    Some(signal) => return (line, ReadResult::Interrupted(*signal)),
                    None => continue,
                }
            }
            Err(errno) => return (line, ReadResult::Failed(errno)),
        };
        for (i, byte) in bytes.iter().copied().enumerate() {
            let rest = bytes.len() - i - 1;
            if escaped {
                escaped = false;
                // An escaped newline joins lines.
                if byte != b'\n' {
                    line.push((byte, true));
                    characters += 1;
                }
            } else if byte == b'\\' && !request.raw {
                escaped = true;
                continue;
            } else if byte == request.delimiter && !request.exact {
                file.unread(rest);
                return (line, ReadResult::Complete);
            } else {
                // A variable cannot hold NULs; as the delimiter one ends the line.
                if byte != 0 {
                    line.push((byte, false));
                }
                // Continuation bytes belong to the previous character.
                characters += usize::from(byte & 0xc0 != 0x80);
            }
            if request.limit.is_some_and(|limit| characters >= limit) && is_whole(&line) {
                file.unread(rest);
                return (line, ReadResult::Complete);
            }
        }
    }
}

/// Returns true if the last character is complete.
fn is_whole(line: &[MarkedByte]) -> bool {
    let tail: Vec<u8> = line.iter().rev().take(4).map(|(b, _)| *b).collect();
    let continuing = tail.iter().take_while(|b| **b & 0xc0 == 0x80).count();
    match tail.get(continuing) {
        Some(lead) if *lead >= 0xf0 => continuing >= 3,
        Some(lead) if *lead >= 0xe0 => continuing >= 2,
        Some(lead) if *lead >= 0xc0 => continuing >= 1,
        _ => true,
    }
}

/// Assigns the fields of a line to the names, up to the first that cannot be assigned to.
fn assign(
    shell: &mut Shell,
    line: Vec<MarkedByte>,
    request: &ReadRequest,
    array: Option<&str>,
    names: &[String],
) -> Result<(), Stop> {
    let whole = |line: &[MarkedByte]| text::from_bytes(line.iter().map(|(byte, _)| *byte).collect());
    if names.is_empty() && array.is_none() {
        return shell.assign("REPLY", whole(&line));
    }
    let ifs = Ifs::of(shell);
    if let Some(name) = array {
        // `-N` does not split.
        let fields = match request.exact {
            true => vec![whole(&line)],
            false => Fields { rest: &line, ifs: &ifs }.all(),
        };
        let elements: BTreeMap<i64, String> = fields.into_iter().enumerate().map(|(i, f)| (i as i64, f)).collect();
        let target = shell.indexed_array_name("read", name)?;
        shell.variables.slot(&target).value = Value::Indexed(elements);
        return Ok(());
    }
    let mut fields = Fields { rest: &line, ifs: &ifs };
    if !request.exact {
        fields.skip_blanks();
    }
    for (i, name) in names.iter().enumerate() {
        let Some(target) = TargetName::parse(name) else { return Err(shell.refuse_name("read", name)) };
        let value = match i + 1 == names.len() {
            _ if request.exact => whole(std::mem::take(&mut fields.rest)),
            true => fields.remainder(),
            false => fields.next_field().unwrap_or_default(),
        };
        shell.assign_target("read", target, value)?;
    }
    Ok(())
}

/// Splits a line at the separators that are not escaped.
struct Fields<'a> {
    rest: &'a [MarkedByte],
    ifs: &'a Ifs,
}

impl Fields<'_> {
    fn is_blank(&self, (byte, escaped): MarkedByte) -> bool {
        !escaped && self.ifs.has_blank(byte)
    }

    fn is_separator(&self, (byte, escaped): MarkedByte) -> bool {
        !escaped && self.ifs.has_other(byte)
    }

    fn skip_blanks(&mut self) {
        while self.rest.first().is_some_and(|m| self.is_blank(*m)) {
            self.rest = &self.rest[1..];
        }
    }

    /// Returns the next field and consumes its separator. `None` at the end.
    fn next_field(&mut self) -> Option<String> {
        if self.rest.is_empty() {
            return None;
        }
        let length =
            self.rest.iter().position(|m| self.is_blank(*m) || self.is_separator(*m)).unwrap_or(self.rest.len());
        let field = self.rest[..length].iter().map(|(b, _)| *b).collect();
        self.rest = &self.rest[length..];
        self.skip_blanks();
        if self.rest.first().is_some_and(|m| self.is_separator(*m)) {
            self.rest = &self.rest[1..];
            self.skip_blanks();
        }
        Some(text::from_bytes(field))
    }

    /// Returns the text for the last name: one field if only one is left, else all of it without the blanks at its end.
    fn remainder(&mut self) -> String {
        let all = self.rest;
        let first = self.next_field().unwrap_or_default();
        if self.rest.is_empty() {
            return first;
        }
        let mut end = all.len();
        while end > 0 && self.is_blank(all[end - 1]) {
            end -= 1;
        }
        text::from_bytes(all[..end].iter().map(|(b, _)| *b).collect())
    }

    fn all(mut self) -> Vec<String> {
        self.skip_blanks();
        let mut fields = Vec::new();
        while let Some(field) = self.next_field() {
            fields.push(field);
        }
        fields
    }
}
