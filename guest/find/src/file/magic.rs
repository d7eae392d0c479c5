//! Types that a few bytes identify.

use super::answer::{Answer, Bytes};
use super::text::is_text;

/// An offset, the bytes expected there, the description and the MIME type.
type Rule = (usize, &'static [u8], &'static str, &'static str);

const RULES: [Rule; 26] = [
    (0, b"!<arch>\n", "current ar archive", "application/x-archive"),
    (0, b"Rar!\x1a\x07", "RAR archive data", "application/x-rar"),
    (0, b"OggS", "Ogg data", "application/ogg"),
    (0, b"fLaC", "FLAC audio bitstream data", "audio/flac"),
    (0, b"\xff\xfb", "MPEG ADTS, layer III, v1", "audio/mpeg"),
    (0, b"MThd", "Standard MIDI data", "audio/midi"),
    (0, b"\x1aE\xdf\xa3", "Matroska data", "video/x-matroska"),
    (0, b"II*\0", "TIFF image data, little-endian", "image/tiff"),
    (0, b"MM\0*", "TIFF image data, big-endian", "image/tiff"),
    (0, b"\0\0\x01\0", "MS Windows icon resource", "image/vnd.microsoft.icon"),
    (0, b"wOFF", "Web Open Font Format", "font/woff"),
    (0, b"wOF2", "Web Open Font Format (Version 2)", "font/woff2"),
    (0, b"OTTO", "OpenType font data", "application/vnd.ms-opentype"),
    (0, b"\0\x01\0\0\0", "TrueType Font data", "font/sfnt"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Composite Document File V2 Document", "application/x-ole-storage"),
    (0, b"{\\rtf1", "Rich Text Format data, version 1", "text/rtf"),
    (0, b"-----BEGIN CERTIFICATE-----", "PEM certificate", "text/plain"),
    (0, b"-----BEGIN RSA PRIVATE KEY-----", "PEM RSA private key", "text/plain"),
    (0, b"-----BEGIN OPENSSH PRIVATE KEY-----", "OpenSSH private key", "text/plain"),
    (0, b"ssh-rsa ", "OpenSSH RSA public key", "text/plain"),
    (0, b"ssh-ed25519 ", "OpenSSH ED25519 public key", "text/plain"),
    (0, b"BEGIN:VCALENDAR", "vCalendar calendar file", "text/calendar"),
    (0, b"BEGIN:VCARD", "vCard visiting card", "text/vcard"),
    (0, b"\x89HDF\r\n\x1a\n", "Hierarchical Data Format (version 5) data", "application/x-hdf5"),
    (0, b"PAR1", "Apache Parquet", "application/vnd.apache.parquet"),
    (0, b"\xfe\xed\xfa\xcf", "Mach-O 64-bit executable", "application/x-mach-binary"),
];

/// Returns the answer of the first rule that matches.
pub(super) fn answer(bytes: &[u8]) -> Option<Answer> {
    let view = Bytes(bytes);
    if let Some((_, _, text, mime)) = RULES.iter().find(|(at, wanted, _, _)| view.has(*at, wanted)) {
        return Some(encoded(Answer::binary(text, mime), bytes));
    }
    if view.has(0, b"%PDF-") {
        let version: String = bytes[5..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
            .map(|byte| char::from(*byte))
            .collect();
        let answer = Answer::binary(&format!("PDF document, version {version}"), "application/pdf");
        return Some(encoded(answer, bytes));
    }
    if view.has(0, b"%!PS-Adobe-") {
        let level: String =
            bytes[11..].iter().take_while(|byte| !byte.is_ascii_whitespace()).map(|byte| char::from(*byte)).collect();
        return Some(Answer::text(
            &format!("PostScript document text conforming DSC level {level}"),
            "application/postscript",
            "us-ascii",
        ));
    }
    if view.has(0, b"ID3") {
        let text = format!("Audio file with ID3 version 2.{}.{}", view.byte(3), view.byte(4));
        return Some(Answer::binary(&text, "audio/mpeg"));
    }
    if view.has(4, b"ftyp") {
        let (text, mime) = match bytes.get(8..12)? {
            b"isom" => ("ISO Media, MP4 Base Media v1 [ISO 14496-12:2003]", "video/mp4"),
            b"mp42" => ("ISO Media, MP4 v2 [ISO 14496-14]", "video/mp4"),
            b"qt  " => ("ISO Media, Apple QuickTime movie, Apple QuickTime (.MOV/QT)", "video/quicktime"),
            b"avif" => ("ISO Media, AVIF Image", "image/avif"),
            b"heic" => ("ISO Media, HEIF Image HEVC Main or Main Still Picture Profile", "image/heic"),
            _ => ("ISO Media", "application/octet-stream"),
        };
        return Some(Answer::binary(text, mime));
    }
    if view.has(0, b"SQLite format 3\0") {
        return Some(sqlite(&view));
    }
    None
}

/// Sets the encoding of types that are or may be text.
fn encoded(mut answer: Answer, bytes: &[u8]) -> Answer {
    if bytes.is_ascii() && bytes.iter().all(|byte| is_text(*byte)) {
        answer.encoding = "us-ascii";
    }
    answer
}

fn sqlite(view: &Bytes) -> Answer {
    let encoding = match view.be32(56) {
        1 => ", UTF-8",
        2 => ", UTF-16 little-endian",
        3 => ", UTF-16 big-endian",
        _ => "",
    };
    let version = match view.be32(60) {
        0 => String::new(),
        version => format!(", user version {version}"),
    };
    let text = format!(
        "SQLite 3.x database{version}, last written using SQLite version {}, file counter {}, database pages {}, cookie \
         0x{:x}, schema {}{encoding}, version-valid-for {}",
        view.be32(96),
        view.be32(24),
        view.be32(28),
        view.be32(40),
        view.be32(44),
        view.be32(92),
    );
    Answer::binary(&text, "application/vnd.sqlite3")
}
