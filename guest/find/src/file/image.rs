//! Images, with their sizes, and sound.

use super::answer::{Answer, Bytes};

/// Returns the answer if the bytes are an image or a sound.
pub(super) fn answer(bytes: &[u8]) -> Option<Answer> {
    let view = Bytes(bytes);
    if view.has(0, b"\x89PNG\r\n\x1a\n") {
        return Some(png(&view));
    }
    if view.has(0, b"\xff\xd8\xff") {
        return Some(jpeg(&view));
    }
    if view.has(0, b"GIF8") {
        let version = String::from_utf8_lossy(bytes.get(3..6)?).into_owned();
        let text = format!("GIF image data, version {version}, {} x {}", view.le16(6), view.le16(8));
        return Some(Answer::binary(&text, "image/gif"));
    }
    if view.has(0, b"RIFF") {
        return Some(riff(&view));
    }
    if view.has(0, b"BM") && view.le32(14) == 40 {
        let mut text = format!(
            "PC bitmap, Windows 3.x format, {} x {} x {}",
            view.le32(18) as i32,
            view.le32(22) as i32,
            view.le16(28)
        );
        if view.le32(34) > 0 {
            text.push_str(&format!(", image size {}", view.le32(34)));
        }
        if view.le32(38) > 0 {
            text.push_str(&format!(", resolution {} x {} px/m", view.le32(38), view.le32(42)));
        }
        text.push_str(&format!(", cbSize {}, bits offset {}", view.le32(2), view.le32(10)));
        return Some(Answer::binary(&text, "image/bmp"));
    }
    None
}

fn png(view: &Bytes) -> Answer {
    let depth = view.byte(24);
    let color = match view.byte(25) {
        0 => format!("{depth}-bit grayscale"),
        2 => format!("{depth}-bit/color RGB"),
        3 => format!("{depth}-bit colormap"),
        4 => format!("{depth}-bit gray+alpha"),
        6 => format!("{depth}-bit/color RGBA"),
        _ => format!("{depth}-bit"),
    };
    let interlaced = if view.byte(28) == 0 { "non-interlaced" } else { "interlaced" };
    let text = format!("PNG image data, {} x {}, {color}, {interlaced}", view.be32(16), view.be32(20));
    Answer::binary(&text, "image/png")
}

/// Reads the chain of segments of a JPEG, one of which has the size.
fn jpeg(view: &Bytes) -> Answer {
    let mut text = "JPEG image data".to_owned();
    if view.has(6, b"JFIF\0") {
        let unit = match view.byte(13) {
            0 => ", aspect ratio",
            1 => ", resolution (DPI)",
            _ => ", resolution (DPCM)",
        };
        text.push_str(&format!(
            ", JFIF standard {}.{:02}{unit}, density {}x{}, segment length {}",
            view.byte(11),
            view.byte(12),
            view.be16(14),
            view.be16(16),
            view.be16(4)
        ));
    } else if view.has(6, b"Exif\0") {
        text.push_str(", Exif standard");
    }
    let mut at = 2;
    while view.byte(at) == 0xff && at < view.0.len() {
        let marker = view.byte(at + 1);
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let kind = match marker {
                0xc0 => "baseline",
                0xc1 => "extended sequential",
                0xc2 => "progressive",
                _ => "lossless",
            };
            text.push_str(&format!(
                ", {kind}, precision {}, {}x{}, components {}",
                view.byte(at + 4),
                view.be16(at + 7),
                view.be16(at + 5),
                view.byte(at + 9)
            ));
            break;
        }
        // A segment is at least its own length long.
        at += 2 + usize::from(view.be16(at + 2)).max(2);
    }
    Answer::binary(&text, "image/jpeg")
}

fn riff(view: &Bytes) -> Answer {
    if view.has(8, b"WEBP") {
        let mut text = "RIFF (little-endian) data, Web/P image".to_owned();
        if view.has(12, b"VP8 ") {
            let (width, height) = (view.le16(26), view.le16(28));
            text.push_str(&format!(
                ", VP8 encoding, {}x{}, Scaling: [none]x[none], YUV color, decoders should clamp",
                width & 0x3fff,
                height & 0x3fff
            ));
        }
        return Answer::binary(&text, "image/webp");
    }
    if view.has(8, b"WAVE") {
        let channels = match view.le16(22) {
            1 => "mono".to_owned(),
            2 => "stereo".to_owned(),
            count => format!("{count} channels"),
        };
        let format = if view.le16(20) == 1 { ", Microsoft PCM" } else { "" };
        let text = format!(
            "RIFF (little-endian) data, WAVE audio{format}, {} bit, {channels} {} Hz",
            view.le16(34),
            view.le32(24)
        );
        return Answer::binary(&text, "audio/x-wav");
    }
    if view.has(8, b"AVI ") {
        return Answer::binary("RIFF (little-endian) data, AVI", "video/x-msvideo");
    }
    Answer::binary("RIFF (little-endian) data", "application/octet-stream")
}
