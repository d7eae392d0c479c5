//! `history`, `fc`: the list of commands. Only an interactive shell adds the commands that it runs; `-s` and `-r` add
//! to it in any shell.

use isopod_sys::{Errno, files};

use super::options;
use crate::state::{Shell, Stop};
use crate::text;

/// Number of commands that `fc -l` shows.
const RECENT: usize = 16;

pub(super) fn history(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "cd:psanrw") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let rest = &arguments[given.rest..];
    shell.trim_history();
    if given.has(b's') || given.has(b'p') {
        // `history -s` itself is not remembered.
        shell.forget_itself();
        match given.has(b's') {
            true if rest.is_empty() => {}
            true => shell.remember_command(rest.join(" ")),
            false => rest.iter().for_each(|word| shell.print(&format!("{word}\n"))),
        }
        return Ok(0);
    }
    if given.has(b'c') {
        shell.history.lines.clear();
        shell.history.unsaved = 0;
    }
    if let Some(place) = given.value(b'd') {
        return Ok(delete(shell, place));
    }
    let modes = [b'a', b'n', b'r', b'w'].map(|letter| given.has(letter));
    match modes.iter().filter(|on| **on).count() {
        0 if given.has(b'c') => return Ok(0),
        0 => {}
        1 => {
            let own = || shell.text_of("HISTFILE").filter(|file| !file.is_empty());
            let Some(path) = rest.first().cloned().or_else(own) else { return Ok(0) };
            let done = match modes {
                [true, ..] => shell.append_history(&path),
                [_, true, ..] => shell.read_history(&path, shell.history.known),
                [_, _, true, _] => shell.read_history(&path, 0),
                _ => shell.write_history(&path),
            };
            return Ok(match done {
                Ok(()) => 0,
                Err(errno) => {
                    shell.complain_as("history", &format!("{path}: cannot access: {}", isopod_sys::text(errno)));
                    1
                }
            });
        }
        _ => {
            shell.complain_as("history", "cannot use more than one of -anrw");
            return Ok(1);
        }
    }
    let count = match rest.first().map(|count| (count, count.parse::<usize>())) {
        None => usize::MAX,
        Some((_, Ok(count))) => count,
        Some((count, Err(_))) => {
            shell.complain_as("history", &format!("{count}: numeric argument required"));
            return Ok(1);
        }
    };
    let lines = &shell.history.lines;
    let skipped = lines.len().saturating_sub(count);
    let first = shell.history.dropped + 1;
    let shown: String =
        lines.iter().enumerate().skip(skipped).map(|(i, line)| format!("{:5}  {line}\n", first + i)).collect();
    shell.print(&shown);
    Ok(0)
}

/// `history -d`: deletes an entry by its number, or counted back from the end.
fn delete(shell: &mut Shell, place: &str) -> u8 {
    let length = shell.history.lines.len() as i64;
    let dropped = shell.history.dropped as i64;
    let index = place.parse::<i64>().ok().map(|n| if n < 0 { length + n } else { n - 1 - dropped });
    match index.filter(|index| (0..length).contains(index)) {
        Some(index) => {
            shell.forget_command(index as usize);
            0
        }
        None => {
            shell.complain_as("history", &format!("{place}: history position out of range"));
            1
        }
    }
}

pub(super) fn fc(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    // A negative number is an operand, not an option.
    let end = arguments.iter().skip(1).position(|a| a.len() > 1 && a.starts_with('-') && a[1..].parse::<u32>().is_ok());
    let end = end.map_or(arguments.len(), |end| end + 1);
    let given = match options::read(shell, &arguments[..end], "e:lnrs") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let operands = &arguments[given.rest..];
    // An interactive shell has remembered the `fc` itself, which does not count.
    let count = shell.history.lines.len() - usize::from(shell.interactive && !shell.history.lines.is_empty());
    if given.has(b'l') {
        return Ok(list(shell, operands, count, given.has(b'n'), given.has(b'r')));
    }
    if !given.has(b's') && given.value(b'e') != Some("-") {
        shell.complain_as("fc", "not supported: there is no editor; `fc -s' runs a command again");
        return Ok(2);
    }
    let (change, operands) = match operands.first().and_then(|o| o.split_once('=')) {
        Some(change) => (Some(change), &operands[1..]),
        None => (None, operands),
    };
    let found = match operands.first() {
        Some(operand) => place(shell, operand, count),
        None => count.checked_sub(1),
    };
    let Some(command) = found.and_then(|at| shell.history.lines.get(at)).cloned() else {
        shell.complain_as("fc", "no command found");
        return Ok(1);
    };
    let command = change.map_or(command.clone(), |(old, new)| command.replace(old, new));
    shell.forget_itself();
    shell.remember_command(command.clone());
    shell.write_error(&format!("{command}\n"));
    shell.run_text(&command, "fc")?;
    Ok(shell.status)
}

fn list(shell: &mut Shell, operands: &[String], count: usize, bare: bool, reversed: bool) -> u8 {
    let mut ends = operands.iter().map(|operand| place(shell, operand, count));
    let (first, last) = match (ends.next(), ends.next()) {
        (None, _) => (Some(count.saturating_sub(RECENT)), count.checked_sub(1)),
        (Some(first), None) => (first, count.checked_sub(1)),
        (Some(first), Some(last)) => (first, last),
    };
    let (Some(first), Some(last)) = (first, last) else {
        if operands.is_empty() {
            return 0;
        }
        shell.complain_as("fc", "history specification out of range");
        return 1;
    };
    let (low, high) = (first.min(last), first.max(last).min(count.saturating_sub(1)));
    let mut shown: Vec<String> = (low..=high)
        .filter_map(|at| {
            let line = shell.history.lines.get(at)?;
            Some(match bare {
                true => format!("\t {line}\n"),
                false => format!("{}\t {line}\n", shell.history.dropped + at + 1),
            })
        })
        .collect();
    if reversed != (first > last) {
        shown.reverse();
    }
    shell.print(&shown.concat());
    0
}

/// Finds the entry that a number, a number back from the end, or the beginning of a command names.
fn place(shell: &Shell, operand: &str, count: usize) -> Option<usize> {
    match operand.parse::<i64>() {
        Ok(number) if number > 0 => {
            usize::try_from(number - 1 - shell.history.dropped as i64).ok().map(|at| at.min(count.saturating_sub(1)))
        }
        Ok(number) => usize::try_from(count as i64 + number.min(-1)).ok(),
        Err(_) => shell.history.lines[..count].iter().rposition(|line| line.starts_with(operand)),
    }
}

impl Shell {
    /// Adds a command to the list.
    pub fn remember_command(&mut self, command: String) {
        self.history.lines.push(command);
        self.history.unsaved += 1;
        self.trim_history();
    }

    /// Removes the running command, which an interactive shell has added to the list.
    fn forget_itself(&mut self) {
        if self.interactive && !self.history.lines.is_empty() {
            self.forget_command(self.history.lines.len() - 1);
        }
    }

    fn forget_command(&mut self, at: usize) {
        let saved = self.history.lines.len().saturating_sub(self.history.unsaved);
        self.history.unsaved -= usize::from(at >= saved && self.history.unsaved > 0);
        self.history.lines.remove(at);
    }

    /// Drops the oldest commands beyond HISTSIZE.
    fn trim_history(&mut self) {
        let Some(most) = self.text_of("HISTSIZE").and_then(|size| size.parse::<usize>().ok()) else { return };
        let many = self.history.lines.len().saturating_sub(most);
        self.history.lines.drain(..many);
        self.history.dropped += many;
    }

    /// Reads the lines of a file, from a line on.
    pub fn read_history(&mut self, path: &str, from: usize) -> Result<(), Errno> {
        let content = self.read_script(path)?;
        let lines: Vec<String> = content.lines().skip(from).map(str::to_owned).collect();
        self.history.known = from + lines.len();
        self.history.lines.extend(lines);
        self.trim_history();
        Ok(())
    }

    /// Appends the unsaved commands to a file.
    pub fn append_history(&mut self, path: &str) -> Result<(), Errno> {
        let unsaved = std::mem::take(&mut self.history.unsaved).min(self.history.lines.len());
        let how = files::OpenFlags::WRITE | files::OpenFlags::CREATE | files::OpenFlags::APPEND;
        self.save_history(path, how, self.history.lines.len() - unsaved)
    }

    fn write_history(&mut self, path: &str) -> Result<(), Errno> {
        self.history.unsaved = 0;
        self.save_history(path, files::OpenFlags::WRITE | files::OpenFlags::CREATE | files::OpenFlags::TRUNCATE, 0)
    }

    fn save_history(&mut self, path: &str, how: files::OpenFlags, from: usize) -> Result<(), Errno> {
        let file = self.open_file(path, how)?;
        let content: String = self.history.lines[from..].iter().map(|line| format!("{line}\n")).collect();
        self.history.known += self.history.lines.len() - from;
        file.write(&text::to_bytes(&content))
    }
}
