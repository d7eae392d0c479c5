//! Questions that are answered on standard input.

use std::cell::RefCell;

use isopod_sys::{files, write_all};

thread_local! {
    /// Bytes that were read beyond the last answer.
    static REST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Asks a question and returns true if the answer is yes. No answer is a no.
pub fn ask(question: &str) -> bool {
    // A question that can't be shown is still answered by the input.
    let _ = write_all(2, question.as_bytes());
    REST.with_borrow_mut(|rest| {
        loop {
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let answer: Vec<u8> = rest.drain(..=end).collect();
                return is_yes(&answer);
            }
            match files::read(0, 4096, None) {
                Ok(bytes) if !bytes.is_empty() => rest.extend_from_slice(&bytes),
                _ => return is_yes(&std::mem::take(rest)),
            }
        }
    })
}

fn is_yes(answer: &[u8]) -> bool {
    matches!(answer.first(), Some(b'y' | b'Y'))
}
