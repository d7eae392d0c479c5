//! `eval`, `source`

use isopod_sys::Errno;
use isopod_sys::files::{self, Kind, OpenFlags};

use crate::exec::Script;
use crate::state::options::{SetOption, Shopt};
use crate::state::{Shell, Stop};
use crate::text;

/// Returns the text to run, if there is any.
pub fn eval(shell: &mut Shell, arguments: &[String]) -> Result<Option<Script>, Stop> {
    let Some(first) = first_argument(shell, arguments) else { return Ok(None) };
    let text = arguments[first..].join(" ");
    if text.trim().is_empty() {
        shell.status = 0;
        return Ok(None);
    }
    Ok(Some(Script::eval(text, shell.line)))
}

/// Reads the file to run. Returns `None` if it cannot be read, which has been reported.
pub fn source(shell: &mut Shell, arguments: &[String]) -> Result<Option<Script>, Stop> {
    let Some(first) = first_argument(shell, arguments) else { return Ok(None) };
    let Some(name) = arguments.get(first) else {
        shell.complain_as(&arguments[0], "filename argument required");
        shell.print_usage(&arguments[0]);
        shell.status = 2;
        return Ok(None);
    };
    let path = match name.contains('/') || !shell.options.shopt(Shopt::SOURCEPATH) {
        true => Some(name.clone()),
        false => in_path(shell, name).or_else(|| (!shell.options.has(SetOption::POSIX)).then(|| name.clone())),
    };
    let Some(path) = path else {
        shell.complain_as(&arguments[0], &format!("{name}: file not found"));
        shell.status = 1;
        return Ok(None);
    };
    match shell.read_script(&path) {
        Ok(text) => {
            let own = (arguments.len() > first + 1).then(|| arguments[first + 1..].to_vec());
            Ok(Some(Script::sourced(text, &path, own)))
        }
        Err(errno) => {
            let message = format!("{name}: {}", isopod_sys::text(errno));
            match errno {
                Errno::IsDirectory => shell.complain_as(&arguments[0], &format!("{name}: is a directory")),
                _ => shell.complain(&message),
            }
            shell.status = 1;
            Ok(None)
        }
    }
}

/// Returns the index of the first argument. Neither builtin has options; `None` after one that was given and reported.
fn first_argument(shell: &mut Shell, arguments: &[String]) -> Option<usize> {
    match arguments.get(1).map(String::as_str) {
        Some("--") => Some(2),
        Some(option) if option.len() > 1 && option.starts_with('-') => {
            let letter: String = option.chars().take(2).collect();
            shell.status = shell.reject_option(&arguments[0], &letter);
            None
        }
        _ => Some(1),
    }
}

/// Looks for a file in PATH, which need not be executable, and then in the working directory, unless in POSIX mode.
fn in_path(shell: &Shell, name: &str) -> Option<String> {
    let path = shell.text_of("PATH").unwrap_or_default();
    path.split(':')
        .filter(|d| !d.is_empty())
        .map(|directory| format!("{directory}/{name}"))
        .find(|candidate| files::stat(candidate, true).is_ok_and(|a| a.kind == Kind::File))
}

impl Shell {
    /// Reads a file of commands.
    pub fn read_script(&mut self, path: &str) -> Result<String, Errno> {
        let file = self.open_file(path, OpenFlags::READ)?;
        let mut bytes = Vec::new();
        loop {
            let piece = file.read(65536, None)?;
            if piece.is_empty() {
                break;
            }
            bytes.extend_from_slice(&piece);
        }
        // NULs have no meaning in a script.
        bytes.retain(|b| *b != 0);
        Ok(text::from_bytes(bytes))
    }
}
