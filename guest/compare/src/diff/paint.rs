//! Lines as they are shown: with their marks, tabs and colours.

use super::Diff;

/// What a line is, for its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Header,
    Added,
    Deleted,
    Place,
}

impl Ink {
    fn code(self) -> &'static [u8] {
        match self {
            Ink::Header => b"\x1b[1m",
            Ink::Added => b"\x1b[32m",
            Ink::Deleted => b"\x1b[31m",
            Ink::Place => b"\x1b[36m",
        }
    }
}

const RESET: &[u8] = b"\x1b[0m";

impl Diff<'_> {
    pub(super) fn start(&mut self, ink: Ink) {
        if self.settings.color {
            self.out.push(ink.code());
        }
    }

    pub(super) fn stop(&mut self) {
        if self.settings.color {
            self.out.push(RESET);
        }
    }

    /// A line that names the files; it ends with a newline.
    pub(super) fn paint_header(&mut self, line: &str) {
        self.start(Ink::Header);
        self.out.push(line.trim_end_matches('\n').as_bytes());
        self.stop();
        self.out.byte(b'\n');
    }

    /// A line of a file behind its mark. A last line without a newline is told so.
    pub(super) fn line(&mut self, mark: &str, line: &[u8], ink: Option<Ink>) {
        if let Some(ink) = ink {
            self.start(ink);
        }
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let mark = if self.settings.suppress_blank_empty && content.is_empty() { mark.trim_end() } else { mark };
        if self.settings.initial_tab && !mark.is_empty() {
            // The mark takes no room of its own: a tab brings the text to a tab stop.
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
        if ink.is_some() {
            self.stop();
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
