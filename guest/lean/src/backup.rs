//! `--backup`: a file that would be replaced is kept under another name.

use isopod_gnu::options::GivenOption;
use isopod_gnu::program::Call;
use isopod_gnu::quote::plain;
use isopod_sys::{Errno, files, fs};

/// The naming of backups.
#[derive(Clone)]
pub(crate) struct Backup {
    control: Control,
    suffix: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Control {
    Simple,
    Numbered,
    /// Numbered if there are numbered ones already.
    Existing,
}

impl Backup {
    /// Reads the options; `None` is no backup.
    pub(crate) fn read(call: &Call) -> Result<Option<Backup>, u8> {
        let mut control = None;
        for GivenOption { option, value } in &call.options {
            match (*option, value) {
                ("backup", Some(word)) => control = Some(word.clone()),
                ("backup", None) => control = Some(std::env::var("VERSION_CONTROL").unwrap_or_default()),
                // `--suffix` implies `--backup`.
                ("suffix", _) => {
                    _ = control.get_or_insert_with(|| std::env::var("VERSION_CONTROL").unwrap_or_default())
                }
                _ => {}
            }
        }
        let control = match control.as_deref() {
            None | Some("none" | "off") => return Ok(None),
            Some("" | "existing" | "nil") => Control::Existing,
            Some("simple" | "never") => Control::Simple,
            Some("numbered" | "t") => Control::Numbered,
            Some(wrong) => {
                return Err(call.misused(&format!("invalid argument {} for 'backup type'", plain(wrong))));
            }
        };
        let given = call.value("suffix").map(str::to_owned).or_else(|| std::env::var("SIMPLE_BACKUP_SUFFIX").ok());
        let suffix = given.filter(|suffix| !suffix.is_empty() && !suffix.contains('/'));
        Ok(Some(Backup { control, suffix: suffix.unwrap_or_else(|| "~".to_owned()) }))
    }

    /// Renames a file to its backup's name and returns that.
    pub(crate) fn save(&self, path: &str) -> Result<String, Errno> {
        let (directory, name) = path
            .rsplit_once('/')
            .map_or((".", path), |(directory, name)| (if directory.is_empty() { "/" } else { directory }, name));
        let mut newest = 0u64;
        if self.control != Control::Simple {
            for other in files::read_dir(directory)? {
                let number = other.strip_prefix(name).and_then(|rest| rest.strip_prefix(".~")?.strip_suffix('~'));
                newest = newest.max(number.and_then(|number| number.parse().ok()).unwrap_or(0));
            }
        }
        let numbered = self.control == Control::Numbered || self.control == Control::Existing && newest > 0;
        let saved = if numbered { format!("{path}.~{}~", newest + 1) } else { format!("{path}{}", self.suffix) };
        fs::rename(path, &saved)?;
        Ok(saved)
    }
}
