//! The facts about a file in an archive.

/// An entry of the list at the end of an archive.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) method: u16,
    pub(super) flags: u16,
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) size: u64,
    /// The position of its local header.
    pub(super) offset: u64,
    /// File type and permissions, 0 if the archive was not made on Unix.
    pub(super) mode: u32,
    /// Seconds since 1970.
    pub(super) modified: u64,
}

/// The supported compression methods.
pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;

/// The flags of an encrypted file and of a name in UTF-8.
pub(super) const ENCRYPTED: u16 = 1;
pub(super) const UTF8: u16 = 1 << 11;

/// The file types in a mode.
pub(super) const TYPE: u32 = 0o170_000;
pub(super) const LINK: u32 = 0o120_000;
pub(super) const DIRECTORY: u32 = 0o040_000;
pub(super) const FILE: u32 = 0o100_000;

impl Entry {
    pub(super) fn is_directory(&self) -> bool {
        self.name.ends_with('/')
    }

    pub(super) fn is_link(&self) -> bool {
        self.mode & TYPE == LINK
    }

    /// Returns the reduction in size, in percent.
    pub(super) fn saved(&self) -> i64 {
        percent(self.size, self.packed)
    }
}

/// Returns a reduction in size, in percent, rounded.
pub(super) fn percent(size: u64, packed: u64) -> i64 {
    if size == 0 {
        return 0;
    }
    let (size, packed) = (i128::from(size), i128::from(packed));
    let doubled = 200 * (size - packed) / size;
    // One is added to negative values too: Info-ZIP's arithmetic.
    ((doubled + 1) / 2) as i64
}

/// Converts to MS-DOS's time and date, which have steps of two seconds and years from 1980.
pub(super) fn dos_time(seconds: u64) -> (u16, u16) {
    let text = isopod_gnu::calendar::Date::new(seconds.saturating_mul(1_000_000_000)).format("%Y %m %d %H %M %S");
    let parts: Vec<u16> = text.unwrap_or_default().split(' ').map(|part| part.parse().unwrap_or(0)).collect();
    let [year, month, day, hour, minute, second] = parts[..] else {
        return (0, 0);
    };
    if year < 1980 {
        return (0, (1 << 5) | 1);
    }
    ((hour << 11) | (minute << 5) | (second / 2), ((year - 1980).min(127) << 9) | (month << 5) | day)
}

/// Converts MS-DOS's time and date to seconds since 1970.
pub(super) fn from_dos_time(time: u16, date: u16) -> u64 {
    let (year, month, day) =
        (1980 + i64::from(date >> 9), i64::from(date >> 5 & 15).max(1), i64::from(date & 31).max(1));
    let text = format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", time >> 11, time >> 5 & 63, (time & 31) * 2);
    let nanos = isopod_gnu::moment::parse(&text, 0).unwrap_or(0);
    u64::try_from(nanos / 1_000_000_000).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_dos_come_back() {
        for seconds in [315_532_800, 1_704_164_646, 1_709_209_800] {
            let (time, date) = dos_time(seconds);
            assert_eq!(from_dos_time(time, date), seconds);
        }
        assert_eq!(percent(292, 142), 51);
        assert_eq!(percent(3, 5), -66);
    }
}
