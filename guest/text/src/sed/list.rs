//! `l`: prints the pattern space unambiguously.

/// Appends the text with escapes, in lines of at most `length` columns. 0 means no limit.
pub(super) fn list(text: &[u8], length: usize, end: u8, out: &mut Vec<u8>) {
    let mut column = 0;
    for &byte in text {
        let mut shown = [0; 4];
        let shown: &[u8] = match byte {
            b'\\' => b"\\\\",
            7 => b"\\a",
            8 => b"\\b",
            12 => b"\\f",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            11 => b"\\v",
            0x20..0x7f => {
                shown[0] = byte;
                &shown[..1]
            }
            byte => {
                shown = [b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)];
                &shown
            }
        };
        if length > 0 && column + shown.len() > length - 1 {
            out.extend_from_slice(&[b'\\', end]);
            column = 0;
        }
        out.extend_from_slice(shown);
        column += shown.len();
    }
    out.extend_from_slice(&[b'$', end]);
}
