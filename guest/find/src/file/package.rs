//! Archives and compressed files, and the documents that are zip files inside.

use isopod_gnu::calendar::Date;

use super::answer::{Answer, Bytes};

/// Returns the answer if the bytes are one of them. `tail` is the last four bytes of the file.
pub(super) fn answer(bytes: &[u8], tail: Option<&[u8]>) -> Option<Answer> {
    let view = Bytes(bytes);
    if view.has(0, b"\x1f\x8b\x08") {
        return Some(gzip(&view, tail));
    }
    if view.has(0, b"BZh") && matches!(view.byte(3), b'1'..=b'9') {
        let text = format!("bzip2 compressed data, block size = {}00k", char::from(view.byte(3)));
        return Some(Answer::binary(&text, "application/x-bzip2"));
    }
    if view.has(0, b"\xfd7zXZ\0") {
        let check = match view.byte(7) & 15 {
            1 => ", checksum CRC32",
            4 => ", checksum CRC64",
            10 => ", checksum SHA-256",
            _ => "",
        };
        return Some(Answer::binary(&format!("XZ compressed data{check}"), "application/x-xz"));
    }
    if view.has(0, b"\x28\xb5\x2f\xfd") {
        return Some(Answer::binary("Zstandard compressed data (v0.8+), Dictionary ID: None", "application/zstd"));
    }
    if view.has(0, b"7z\xbc\xaf\x27\x1c") {
        let text = format!("7-zip archive data, version {}.{}", view.byte(6), view.byte(7));
        return Some(Answer::binary(&text, "application/x-7z-compressed"));
    }
    if view.has(257, b"ustar") {
        let gnu = if view.has(257, b"ustar  \0") { " (GNU)" } else { "" };
        return Some(Answer::binary(&format!("POSIX tar archive{gnu}"), "application/x-tar"));
    }
    if view.has(0, b"070701") || view.has(0, b"070702") {
        return Some(Answer::binary("ASCII cpio archive (SVR4 with no CRC)", "application/x-cpio"));
    }
    if view.has(0, b"PK\x05\x06") {
        return Some(Answer::binary("Zip archive data (empty)", "application/zip"));
    }
    view.has(0, b"PK\x03\x04").then(|| zip(&view))
}

fn gzip(view: &Bytes, tail: Option<&[u8]>) -> Answer {
    let mut text = "gzip compressed data".to_owned();
    let flags = view.byte(3);
    if flags & 8 != 0 && flags & 4 == 0 {
        let name: Vec<u8> = view.0.iter().skip(10).copied().take_while(|byte| *byte != 0).collect();
        text.push_str(&format!(", was \"{}\"", String::from_utf8_lossy(&name)));
    }
    if view.le32(4) > 0 {
        let date =
            Date::new(u64::from(view.le32(4)) * 1_000_000_000).format("%a %b %e %H:%M:%S %Y").unwrap_or_default();
        text.push_str(&format!(", last modified: {date}"));
    }
    match view.byte(8) {
        2 => text.push_str(", max compression"),
        4 => text.push_str(", max speed"),
        _ => {}
    }
    match view.byte(9) {
        0 => text.push_str(", from FAT filesystem (MS-DOS, OS/2, NT)"),
        3 => text.push_str(", from Unix"),
        _ => {}
    }
    if let Some(size) = tail.filter(|tail| tail.len() == 4) {
        text.push_str(&format!(", original size modulo 2^32 {}", Bytes(size).le32(0)));
    }
    Answer::binary(&text, "application/gzip")
}

/// Describes a zip file, or the document type that the names of its first members tell.
fn zip(view: &Bytes) -> Answer {
    let name_length = usize::from(view.le16(26));
    let first = view.0.get(30..30 + name_length).unwrap_or_default();
    if first == b"mimetype" {
        let size = view.le32(18) as usize;
        let mime = view.0.get(38..38 + size).map(String::from_utf8_lossy).unwrap_or_default().into_owned();
        let text = match mime.as_str() {
            "application/vnd.oasis.opendocument.text" => "OpenDocument Text",
            "application/vnd.oasis.opendocument.spreadsheet" => "OpenDocument Spreadsheet",
            "application/vnd.oasis.opendocument.presentation" => "OpenDocument Presentation",
            "application/epub+zip" => "EPUB document",
            _ => "",
        };
        if !text.is_empty() {
            return Answer::binary(text, &mime);
        }
    }
    if first == b"[Content_Types].xml" || first == b"_rels/.rels" || first == b"docProps" {
        const OFFICE: &str = "application/vnd.openxmlformats-officedocument.";
        let names = |wanted: &[u8]| view.0.windows(wanted.len()).any(|window| window == wanted);
        for (part, text, mime) in [
            (&b"word/"[..], "Microsoft Word 2007+", "wordprocessingml.document"),
            (b"xl/", "Microsoft Excel 2007+", "spreadsheetml.sheet"),
            (b"ppt/", "Microsoft PowerPoint 2007+", "presentationml.presentation"),
        ] {
            if names(part) {
                return Answer::binary(text, &format!("{OFFICE}{mime}"));
            }
        }
        return Answer::binary("Microsoft OOXML", "application/octet-stream");
    }
    if first.starts_with(b"META-INF/") && view.le16(28) >= 4 && view.le16(30 + name_length) == 0xcafe {
        return Answer::binary("Java archive data (JAR)", "application/java-archive");
    }
    let version = view.byte(4);
    let method = match view.le16(8) {
        0 => "store",
        8 => "deflate",
        12 => "bzip2",
        14 => "lzma",
        93 => "zstd",
        _ => "unknown",
    };
    let text = format!(
        "Zip archive data, at least v{}.{} to extract, compression method={method}",
        version / 10,
        version % 10
    );
    Answer::binary(&text, "application/zip")
}
