//! The header of a member: a block of 512 bytes.

/// The size of a block. Everything in an archive is a multiple of it.
pub(super) const BLOCK: usize = 512;

/// The type of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    File,
    HardLink,
    Symlink,
    Directory,
    /// A device or a pipe, which is not created.
    Special(u8),
    /// GNU's long name or long link target for the next member.
    LongName,
    LongLink,
    /// pax's records for the next member, or for all that follow.
    Extended,
    Global,
    /// An unknown type.
    Unknown(u8),
}

/// A header, as read or to be written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    pub(super) name: Vec<u8>,
    pub(super) link: Vec<u8>,
    pub(super) kind: Type,
    pub(super) mode: u32,
    pub(super) uid: u64,
    pub(super) gid: u64,
    pub(super) size: u64,
    /// Seconds since 1970.
    pub(super) modified: i64,
    /// The nanoseconds of the modification time.
    pub(super) nanos: u32,
    pub(super) user: String,
    pub(super) group: String,
}

/// The reason why a block is not a header.
#[derive(Debug, PartialEq)]
pub(super) enum HeaderError {
    /// All zeros, which is the end of the archive.
    Zeros,
    /// The checksum is wrong.
    Wrong,
}

impl Header {
    pub(super) fn new(name: Vec<u8>, kind: Type) -> Header {
        Header {
            name,
            link: Vec::new(),
            kind,
            mode: 0o644,
            uid: 0,
            gid: 0,
            size: 0,
            modified: 0,
            nanos: 0,
            user: String::new(),
            group: String::new(),
        }
    }

    /// Reads a block.
    pub(super) fn read(block: &[u8; BLOCK]) -> Result<Header, HeaderError> {
        if block.iter().all(|byte| *byte == 0) {
            return Err(HeaderError::Zeros);
        }
        // Some old programs added signed characters.
        let sums = checksums(block);
        if number(&block[148..156]).is_none_or(|stored| stored != sums.0 && stored != sums.1) {
            return Err(HeaderError::Wrong);
        }
        let mut name = text(&block[..100]).to_vec();
        let is_ustar = &block[257..263] == b"ustar\0";
        if is_ustar && block[345] != 0 {
            let mut full = text(&block[345..500]).to_vec();
            full.push(b'/');
            full.append(&mut name);
            name = full;
        }
        let owner = |range: std::ops::Range<usize>| String::from_utf8_lossy(text(&block[range])).into_owned();
        let has_names = &block[257..262] == b"ustar";
        let kind = match block[156] {
            0 | b'0' if name.ends_with(b"/") => Type::Directory,
            0 | b'0' | b'7' => Type::File,
            b'1' => Type::HardLink,
            b'2' => Type::Symlink,
            b'5' | b'D' => Type::Directory,
            kind @ (b'3' | b'4' | b'6') => Type::Special(kind),
            b'L' => Type::LongName,
            b'K' => Type::LongLink,
            b'x' | b'X' => Type::Extended,
            b'g' => Type::Global,
            other => Type::Unknown(other),
        };
        Ok(Header {
            name,
            link: text(&block[157..257]).to_vec(),
            kind,
            mode: number(&block[100..108]).unwrap_or(0) as u32 & 0o7777,
            uid: number(&block[108..116]).unwrap_or(0) as u64,
            gid: number(&block[116..124]).unwrap_or(0) as u64,
            size: u64::try_from(number(&block[124..136]).ok_or(HeaderError::Wrong)?).map_err(|_| HeaderError::Wrong)?,
            modified: number(&block[136..148]).unwrap_or(0),
            nanos: 0,
            user: if has_names { owner(265..297) } else { String::new() },
            group: if has_names { owner(297..329) } else { String::new() },
        })
    }

    /// Writes a block. A value that is too long for its field is cut: an extension before the header holds it.
    pub(super) fn write(&self, is_posix: bool) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        put(&mut block[..100], &self.name);
        put(&mut block[157..257], &self.link);
        octal(&mut block[100..108], self.mode.into());
        octal(&mut block[108..116], self.uid as i64);
        octal(&mut block[116..124], self.gid as i64);
        octal(&mut block[124..136], self.size as i64);
        octal(&mut block[136..148], self.modified);
        block[156] = match self.kind {
            Type::File => b'0',
            Type::HardLink => b'1',
            Type::Symlink => b'2',
            Type::Directory => b'5',
            Type::LongName => b'L',
            Type::LongLink => b'K',
            Type::Extended => b'x',
            Type::Global => b'g',
            Type::Special(kind) | Type::Unknown(kind) => kind,
        };
        put(&mut block[257..265], if is_posix { b"ustar\x0000" } else { b"ustar  \0" });
        put(&mut block[265..296], self.user.as_bytes());
        put(&mut block[297..328], self.group.as_bytes());
        let sum = checksums(&block).0;
        put(&mut block[148..156], format!("{sum:06o}\0 ").as_bytes());
        block
    }

    /// Returns the name for messages and listings.
    pub(super) fn shown_name(&self) -> String {
        shown(&self.name)
    }
}

/// Returns a name as one line, with escapes for unprintable characters.
pub(super) fn shown(name: &[u8]) -> String {
    let mut line = String::new();
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => line.push_str("\\\\"),
                '\n' => line.push_str("\\n"),
                '\t' => line.push_str("\\t"),
                '\r' => line.push_str("\\r"),
                '\x07' => line.push_str("\\a"),
                '\x08' => line.push_str("\\b"),
                '\x0b' => line.push_str("\\v"),
                '\x0c' => line.push_str("\\f"),
                c if c.is_control() => c.to_string().bytes().for_each(|byte| line.push_str(&format!("\\{byte:03o}"))),
                c => line.push(c),
            }
        }
        chunk.invalid().iter().for_each(|byte| line.push_str(&format!("\\{byte:03o}")));
    }
    line
}

/// Returns the sum of all bytes, and the sum of all signed bytes, with blanks in place of the checksum.
fn checksums(block: &[u8; BLOCK]) -> (i64, i64) {
    let byte = |(index, byte): (usize, &u8)| if (148..156).contains(&index) { b' ' } else { *byte };
    let unsigned = block.iter().enumerate().map(|pair| i64::from(byte(pair))).sum();
    let signed = block.iter().enumerate().map(|pair| i64::from(byte(pair) as i8)).sum();
    (unsigned, signed)
}

fn text(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    &field[..end]
}

/// Reads a number in octal digits, or in binary if the first bit is set.
fn number(field: &[u8]) -> Option<i64> {
    match field[0] {
        0x80 | 0xff => {
            let mut value: i128 = if field[0] == 0xff { -1 } else { 0 };
            for byte in &field[1..] {
                value = value << 8 | i128::from(*byte);
            }
            i64::try_from(value).ok()
        }
        _ => {
            let digits = std::str::from_utf8(text(field)).ok()?.trim_matches(' ');
            if digits.is_empty() { Some(0) } else { i64::from_str_radix(digits, 8).ok() }
        }
    }
}

fn put(field: &mut [u8], bytes: &[u8]) {
    let count = bytes.len().min(field.len());
    field[..count].copy_from_slice(&bytes[..count]);
}

/// Writes octal digits and a NUL, or GNU's binary form for a number that does not fit.
fn octal(field: &mut [u8], value: i64) {
    let digits = field.len() - 1;
    if value >= 0 && value < 1 << (3 * digits) {
        put(field, format!("{value:0digits$o}").as_bytes());
    } else {
        let bytes = i128::from(value).to_be_bytes();
        let start = bytes.len() - field.len();
        field.copy_from_slice(&bytes[start..]);
        field[0] = if value < 0 { 0xff } else { 0x80 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back() {
        for (size, modified, uid) in [(5, 1_700_000_000, 1000), (u64::from(u32::MAX) * 100, -5, 5_000_000)] {
            let mut header = Header::new(b"d/a".to_vec(), Type::File);
            (header.size, header.modified, header.uid, header.user) = (size, modified, uid, "user".into());
            assert_eq!(Header::read(&header.write(false)), Ok(header));
        }
        let mut block = Header::new(b"x".to_vec(), Type::File).write(false);
        block[0] = b'y';
        assert_eq!(Header::read(&block), Err(HeaderError::Wrong));
        assert_eq!(Header::read(&[0; BLOCK]), Err(HeaderError::Zeros));
    }

    #[test]
    fn names_are_shown_on_one_line() {
        assert_eq!(shown("n\nl é\\".as_bytes()), "n\\nl é\\\\");
        assert_eq!(shown(b"\xff\x01"), "\\377\\001");
    }
}
