//! Open files, pipes, attributes and directories.

pub use crate::bindings::isopod::kernel::files::*;

/// Entries in one answer: enough that most directories need one call.
const ENTRIES: u32 = 1024;

/// Lists the names in a directory, without `.` and `..`, sorted by bytes.
pub fn read_dir(path: &str) -> Result<Vec<String>, Errno> {
    let mut names: Vec<String> = entries(path)?.into_iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    Ok(names)
}

/// Lists the entries of a directory, without `.` and `..`, in no order.
pub fn entries(path: &str) -> Result<Vec<Entry>, Errno> {
    let (mut entries, rest) = list_dir(path, ENTRIES)?;
    if let Some(rest) = rest.map(crate::Fd::from_raw) {
        loop {
            let more = list_more(rest.raw(), ENTRIES)?;
            if more.is_empty() {
                break;
            }
            entries.extend(more);
        }
    }
    Ok(entries)
}
