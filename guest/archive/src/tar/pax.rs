//! pax's records: `LENGTH KEY=VALUE`, for values that do not fit a header.

use super::header::Header;

/// Records for one member, or for all that follow.
#[derive(Debug, Default, Clone)]
pub(super) struct Records {
    records: Vec<(String, Vec<u8>)>,
}

impl Records {
    /// Reads records up to the first malformed one. GNU tar stops there too, with a message.
    pub(super) fn read(mut bytes: &[u8]) -> Records {
        let mut records = Vec::new();
        while let Some((key, value, rest)) = record(bytes) {
            records.push((key, value));
            bytes = rest;
        }
        Records { records }
    }

    /// Applies the records to a header.
    pub(super) fn apply(&self, header: &mut Header) {
        for (key, value) in &self.records {
            let text = || String::from_utf8_lossy(value).into_owned();
            match key.as_str() {
                "path" => header.name.clone_from(value),
                "linkpath" => header.link.clone_from(value),
                "size" => header.size = text().parse().unwrap_or(header.size),
                "uid" => header.uid = text().parse().unwrap_or(header.uid),
                "gid" => header.gid = text().parse().unwrap_or(header.gid),
                "uname" => header.user = text(),
                "gname" => header.group = text(),
                "mtime" => {
                    let text = text();
                    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
                    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
                    if let (Ok(whole), Ok(nanos)) = (whole.parse(), digits.parse()) {
                        (header.modified, header.nanos) = (whole, nanos);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns true for a member that is stored with holes, which cannot be extracted here.
    pub(super) fn is_sparse(&self) -> bool {
        self.records.iter().any(|(key, _)| key.starts_with("GNU.sparse."))
    }

    /// Adds a record.
    pub(super) fn add(&mut self, key: &str, value: &[u8]) {
        self.records.push((key.to_owned(), value.to_vec()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the bytes of all records. The length of a record counts its own digits.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (key, value) in &self.records {
            let rest = key.len() + value.len() + 3;
            let mut length = rest + rest.to_string().len();
            if rest + length.to_string().len() != length {
                length = rest + length.to_string().len();
            }
            bytes.extend_from_slice(format!("{length} {key}=").as_bytes());
            bytes.extend_from_slice(value);
            bytes.push(b'\n');
        }
        bytes
    }
}

fn record(bytes: &[u8]) -> Option<(String, Vec<u8>, &[u8])> {
    let blank = bytes.iter().position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(&bytes[..blank]).ok()?.parse().ok()?;
    let body = bytes.get(blank + 1..length)?;
    let equals = body.iter().position(|byte| *byte == b'=')?;
    let key = String::from_utf8_lossy(&body[..equals]).into_owned();
    Some((key, body.get(equals + 1..body.len().checked_sub(1)?)?.to_vec(), &bytes[length..]))
}

#[cfg(test)]
mod tests {
    use super::super::header::Type;
    use super::*;

    #[test]
    fn records_come_back() {
        let mut records = Records::default();
        records.add("path", "é".repeat(200).as_bytes());
        records.add("mtime", b"12.5");
        records.add("x", b"1234");
        let mut header = Header::new(b"a".to_vec(), Type::File);
        Records::read(&records.write()).apply(&mut header);
        assert_eq!(header.name, "é".repeat(200).as_bytes());
        assert_eq!((header.modified, header.nanos), (12, 500_000_000));
        for wrong in [&b""[..], b"5", b"99 a=b\n", b"3 =", b"x a=b\n", b"4 a\n"] {
            assert!(Records::read(wrong).is_empty(), "{wrong:?}");
        }
    }
}
