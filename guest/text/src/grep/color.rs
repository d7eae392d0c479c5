//! Colours, as set by `GREP_COLORS`.

use isopod_gnu::output::Out;
use isopod_gnu::program::Call;

/// The colour code of each kind of text. An empty one means no colour.
pub(super) struct Colors {
    pub(super) selected_match: String,
    pub(super) context_match: String,
    pub(super) selected_line: String,
    pub(super) context_line: String,
    pub(super) name: String,
    pub(super) line_number: String,
    pub(super) byte_offset: String,
    pub(super) separator: String,
    /// `-v` swaps the colours of selected lines and context lines.
    pub(super) reverse: bool,
    /// The rest of the line is not cleared after a colour.
    no_clear: bool,
}

impl Colors {
    pub(super) fn from_environment(call: &Call) -> Colors {
        let mut colors = Colors {
            selected_match: "01;31".to_owned(),
            context_match: "01;31".to_owned(),
            selected_line: String::new(),
            context_line: String::new(),
            name: "35".to_owned(),
            line_number: "32".to_owned(),
            byte_offset: "32".to_owned(),
            separator: "36".to_owned(),
            reverse: false,
            no_clear: false,
        };
        if let Some(old) = std::env::var("GREP_COLOR").ok().filter(|value| !value.is_empty()) {
            call.complain(&format!("warning: GREP_COLOR='{old}' is deprecated; use GREP_COLORS='mt={old}'"));
            colors.selected_match = old.clone();
            colors.context_match = old;
        }
        let list = std::env::var("GREP_COLORS").unwrap_or_default();
        for part in list.split(':') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            // As in GNU grep, an invalid value ends the list.
            if !value.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') {
                break;
            }
            let value = value.to_owned();
            match name {
                "mt" => (colors.selected_match, colors.context_match) = (value.clone(), value),
                "ms" => colors.selected_match = value,
                "mc" => colors.context_match = value,
                "sl" => colors.selected_line = value,
                "cx" => colors.context_line = value,
                "fn" => colors.name = value,
                "ln" => colors.line_number = value,
                "bn" => colors.byte_offset = value,
                "se" => colors.separator = value,
                "rv" => colors.reverse = true,
                "ne" => colors.no_clear = true,
                _ => {}
            }
        }
        colors
    }

    /// Writes the sequence that starts a colour.
    pub(super) fn start(&self, color: &str, out: &mut Out) {
        if !color.is_empty() {
            out.push(b"\x1b[");
            out.push(color.as_bytes());
            out.push(if self.no_clear { b"m" } else { b"m\x1b[K" });
        }
    }

    /// Writes the sequence that ends a colour.
    pub(super) fn end(&self, color: &str, out: &mut Out) {
        if !color.is_empty() {
            out.push(if self.no_clear { b"\x1b[m" } else { b"\x1b[m\x1b[K" });
        }
    }
}
