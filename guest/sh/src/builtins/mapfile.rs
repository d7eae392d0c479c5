//! `mapfile`, `readarray`

use std::collections::BTreeMap;

use isopod_sys::Errno;

use super::options;
use crate::state::variable::Value;
use crate::state::{Shell, Stop, into_indexed};
use crate::syntax::is_name;
use crate::text;

pub(super) fn mapfile(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "d:n:O:s:tu:C:c:") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let name = arguments.get(given.rest).map_or("MAPFILE", String::as_str);
    if !is_name(name) {
        shell.complain_as(&arguments[0], &format!("`{name}': not a valid identifier"));
        return Ok(1);
    }
    let mut numbers = [0usize; 4];
    let kinds = [(b'n', "line count"), (b'O', "array origin"), (b's', "line count"), (b'c', "callback quantum")];
    for (slot, (letter, what)) in numbers.iter_mut().zip(kinds) {
        if let Some(value) = given.value(letter) {
            let number = value.parse().ok().filter(|n| letter != b'c' || *n > 0);
            let Some(number) = number else {
                shell.complain_as(&arguments[0], &format!("{value}: invalid {what}"));
                return Ok(1);
            };
            *slot = number;
        }
    }
    let [limit, origin, skip, quantum] = numbers;
    let number = given.value(b'u').and_then(|u| u.parse().ok()).unwrap_or(0);
    if number > 2 {
        shell.files.look_for_inherited();
    }
    let Some(file) = shell.files.get(number).cloned() else {
        shell.complain_as(&arguments[0], &format!("{number}: invalid file descriptor: Bad file descriptor"));
        return Ok(1);
    };
    let target = shell.indexed_array_name(&arguments[0], name)?;
    let delimiter = given.value(b'd').map_or(b'\n', |d| text::to_bytes(d).first().copied().unwrap_or(0));
    let (lines, leftover) = match read_lines(&file, delimiter, limit, skip) {
        Ok(lines) => lines,
        Err(errno) => {
            shell.complain_as(&arguments[0], &format!("read error: {}", isopod_sys::text(errno)));
            return Ok(1);
        }
    };
    file.unread(leftover);
    let keep = given.has(b'O');
    let variable = shell.variables.slot(&target);
    if !keep {
        variable.value = Value::Indexed(BTreeMap::new());
    }
    let callback = given.value(b'C').map(str::to_owned);
    for (i, mut line) in lines.into_iter().enumerate() {
        if given.has(b't') && line.last() == Some(&delimiter) {
            line.pop();
        }
        // A line ends at its first NUL; `read` would leave NULs out instead.
        if let Some(end) = line.iter().position(|b| *b == 0) {
            line.truncate(end);
        }
        let line = text::from_bytes(line);
        let index = (origin + i) as i64;
        if let Some(callback) = &callback {
            let quantum = if quantum == 0 { 5000 } else { quantum };
            if (i + 1) % quantum == 0 {
                let command = format!("{callback} {index} {}", crate::quote::single(&line));
                shell.run_text(&command, &arguments[0])?;
            }
        }
        into_indexed(&mut shell.variables.slot(&target).value).insert(index, line);
    }
    Ok(0)
}

/// Reads lines with their delimiters. Also returns the number of bytes read beyond them.
fn read_lines(
    file: &crate::state::files::File,
    delimiter: u8,
    limit: usize,
    skip: usize,
) -> Result<(Vec<Vec<u8>>, usize), Errno> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut skipped = 0;
    // Everything is read, unless there is a limit: then a pipe must be left where the last line ends.
    let chunk = if limit == 0 || file.is_seekable() { 65536 } else { 1 };
    loop {
        let bytes = file.read(chunk, None)?;
        if bytes.is_empty() {
            if !line.is_empty() && skipped >= skip {
                lines.push(line);
            }
            return Ok((lines, 0));
        }
        let mut rest = bytes.as_slice();
        while let Some(end) = rest.iter().position(|b| *b == delimiter) {
            line.extend_from_slice(&rest[..=end]);
            rest = &rest[end + 1..];
            let whole = std::mem::take(&mut line);
            if skipped < skip {
                skipped += 1;
                continue;
            }
            lines.push(whole);
            if limit > 0 && lines.len() == limit {
                return Ok((lines, rest.len()));
            }
        }
        line.extend_from_slice(rest);
    }
}
