//! Commands from standard input.

use std::rc::Rc;

use crate::state::files::File;
use crate::syntax::MoreText;
use crate::text;

/// Reads lines from standard input, only as far as the parser asks: the rest may be input of the commands.
pub(crate) struct Lines {
    file: Rc<File>,
    /// Bytes read at once. Only a file that can be seeked back is read ahead.
    chunk: u32,
}

impl Lines {
    pub(crate) fn new(file: Rc<File>) -> Lines {
        let chunk = if file.is_seekable() { 4096 } else { 1 };
        Lines { file, chunk }
    }
}

impl MoreText for Lines {
    fn more(&mut self, source: &mut String) -> bool {
        let mut line = Vec::new();
        loop {
            let bytes = match self.file.read(self.chunk, None) {
                Ok(bytes) if !bytes.is_empty() => bytes,
                // A read error ends the program like the end of its text.
                _ => break,
            };
            match bytes.iter().position(|b| *b == b'\n') {
                Some(end) => {
                    line.extend_from_slice(&bytes[..=end]);
                    self.file.unread(bytes.len() - end - 1);
                    break;
                }
                None => line.extend_from_slice(&bytes),
            }
        }
        let read = !line.is_empty();
        line.retain(|b| *b != 0);
        source.push_str(&text::from_bytes(line));
        read
    }
}
