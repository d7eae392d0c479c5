//! Output of a line with its mark, tabs and colours.

use super::Diff;

/// The role of a line, which determines its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineColor {
    Header,
    Added,
    Deleted,
    Location,
}

impl LineColor {
    fn code(self) -> &'static [u8] {
        match self {
            LineColor::Header => b"\x1b[1m",
            LineColor::Added => b"\x1b[32m",
            LineColor::Deleted => b"\x1b[31m",
            LineColor::Location => b"\x1b[36m",
        }
    }
}

const RESET: &[u8] = b"\x1b[0m";

impl Diff<'_> {
    pub(super) fn start_color(&mut self, color: LineColor) {
        if self.settings.color {
            self.out.push(color.code());
        }
    }

    pub(super) fn stop_color(&mut self) {
        if self.settings.color {
            self.out.push(RESET);
        }
    }

    /// Writes a header line. A newline at its end is optional.
    pub(super) fn paint_header(&mut self, line: &str) {
        self.start_color(LineColor::Header);
        self.out.push(line.trim_end_matches('\n').as_bytes());
        self.stop_color();
        self.out.byte(b'\n');
    }

    /// Writes a line of a file behind its mark, and the note on a missing newline at the end of the file.
    pub(super) fn line(&mut self, mark: &str, line: &[u8], color: Option<LineColor>) {
        if let Some(color) = color {
            self.start_color(color);
        }
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let mark = if self.settings.suppress_blank_empty && content.is_empty() { mark.trim_end() } else { mark };
        if self.settings.initial_tab && !mark.is_empty() {
            // A tab follows the mark and brings the text to a tab stop.
            let bare = if mark == "  " { " " } else { mark.trim_end_matches(' ') };
            self.out.push(bare.as_bytes());
            self.out.byte(b'\t');
        } else {
            self.out.push(mark.as_bytes());
        }
        if self.settings.expand_tabs {
            self.expanded(content);
        } else {
            self.out.push(content);
        }
        if color.is_some() {
            self.stop_color();
        }
        self.out.byte(b'\n');
        if content.len() == line.len() {
            self.out.push(b"\\ No newline at end of file\n");
        }
    }

    fn expanded(&mut self, content: &[u8]) {
        let size = self.settings.rules.tab_size;
        let mut column = 0;
        for byte in content {
            match byte {
                b'\t' => {
                    let width = size - column % size;
                    self.out.push(" ".repeat(width).as_bytes());
                    column += width;
                }
                byte => {
                    self.out.byte(*byte);
                    column += usize::from(byte & 0xc0 != 0x80);
                }
            }
        }
    }
}
