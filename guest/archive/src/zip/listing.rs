//! The table of an archive's entries.

use isopod_gnu::calendar::Date;
use isopod_gnu::output::Out;

use super::entry::{DEFLATED, Entry, STORED, percent};

/// Prints the table of `unzip -l`. With `quiet`, the lines around it are left out.
pub(super) fn short(archive: &str, entries: &[&Entry], quiet: usize, out: &mut Out) {
    if quiet == 0 {
        out.push(format!("Archive:  {archive}\n").as_bytes());
    }
    if quiet < 2 {
        out.push(b"  Length      Date    Time    Name\n---------  ---------- -----   ----\n");
    }
    for entry in entries {
        out.push(format!("{:>9}  {}   {}\n", entry.size, date(entry), entry.name).as_bytes());
    }
    if quiet < 2 {
        let total: u64 = entries.iter().map(|entry| entry.size).sum();
        out.push(b"---------                     -------\n");
        out.push(format!("{total:>9}                     {}\n", files(entries.len())).as_bytes());
    }
}

/// Prints the table of `unzip -v`.
pub(super) fn long(archive: &str, entries: &[&Entry], quiet: usize, out: &mut Out) {
    if quiet == 0 {
        out.push(format!("Archive:  {archive}\n").as_bytes());
    }
    if quiet < 2 {
        out.push(b" Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n");
        out.push(b"--------  ------  ------- ---- ---------- ----- --------  ----\n");
    }
    for entry in entries {
        let method = match entry.method {
            STORED => "Stored",
            DEFLATED => match entry.flags >> 1 & 3 {
                1 => "Defl:X",
                2 => "Defl:F",
                3 => "Defl:S",
                _ => "Defl:N",
            },
            _ => "Unk   ",
        };
        let line = format!(
            "{:>8}  {method} {:>8} {:>3}% {} {:08x}  {}\n",
            entry.size,
            entry.packed,
            entry.saved(),
            date(entry),
            entry.crc,
            entry.name
        );
        out.push(line.as_bytes());
    }
    if quiet < 2 {
        let size: u64 = entries.iter().map(|entry| entry.size).sum();
        let packed: u64 = entries.iter().map(|entry| entry.packed).sum();
        out.push(b"--------          -------  ---                            -------\n");
        let saved = percent(size, packed);
        out.push(
            format!("{size:>8}         {packed:>8} {saved:>3}%                            {}\n", files(entries.len()))
                .as_bytes(),
        );
    }
}

fn date(entry: &Entry) -> String {
    let date = Date::new(entry.modified.saturating_mul(1_000_000_000));
    date.format("%Y-%m-%d %H:%M").unwrap_or_default()
}

fn files(count: usize) -> String {
    format!("{count} file{}", if count == 1 { "" } else { "s" })
}
