//! `select`: a menu on standard error, an answer from standard input.

use crate::builtins::read_answer;
use crate::exec::Control;
use crate::state::{Shell, Stop};
use crate::syntax::tree::For;

/// The width that bash assumes where there is no terminal.
const WIDTH: usize = 80;
/// Columns between tab stops.
const TAB: usize = 8;

impl Shell {
    /// Shows the menu, reads an answer and assigns it. Returns false at the end of the input.
    pub(super) fn select(&mut self, node: &For) -> Result<bool, Stop> {
        let mut first = false;
        let items: Vec<String> = match self.controls.last_mut() {
            Some(Control::Loop(running)) => {
                first = !std::mem::replace(&mut running.begun, true);
                running.items.as_slice().to_vec()
            }
            _ => Vec::new(),
        };
        if items.is_empty() {
            return Ok(false);
        }
        if first {
            self.write_error(&menu(&items));
        }
        loop {
            let prompt = self.text_of("PS3").unwrap_or_else(|| "#? ".to_owned());
            self.write_error(&prompt);
            let Some(answer) = read_answer(self) else {
                self.print("\n");
                // The status is 1 whether or not the newline could be written.
                let _ = self.flush_output();
                if let Some(Control::Loop(running)) = self.controls.last_mut() {
                    running.status = 1;
                }
                return Ok(false);
            };
            self.assign("REPLY", answer.clone())?;
            if answer.is_empty() {
                self.write_error(&menu(&items));
                continue;
            }
            let chosen = answer.trim().parse::<usize>().ok().and_then(|n| items.get(n.checked_sub(1)?));
            self.assign(&node.name, chosen.cloned().unwrap_or_default())?;
            return Ok(true);
        }
    }
}

/// Formats the numbered items in as many columns as fit, aligned by tabs and blanks as in bash.
fn menu(items: &[String]) -> String {
    let digits = |number: usize| number.to_string().len();
    let longest = items.iter().map(|i| i.chars().count()).max().unwrap_or(0);
    let width = longest + digits(items.len()) + 4;
    let columns = (WIDTH / width).max(1);
    let mut rows = items.len().div_ceil(columns);
    if rows == 1 {
        rows = items.len();
    }
    let mut text = String::new();
    for row in 0..rows {
        let (mut at, mut position) = (row, 0);
        loop {
            let digits = if position == 0 { digits(rows) } else { digits(items.len()) };
            let entry = format!("{:digits$}) {}", at + 1, items[at]);
            text.push_str(&entry);
            at += rows;
            if at >= items.len() {
                break;
            }
            indent(&mut text, position + entry.chars().count(), position + width);
            position += width;
        }
        text.push('\n');
    }
    text
}

/// Moves from one column to another, by tabs as far as they reach.
fn indent(text: &mut String, mut from: usize, to: usize) {
    while from < to {
        if to / TAB > from / TAB {
            text.push('\t');
            from += TAB - from % TAB;
        } else {
            text.push(' ');
            from += 1;
        }
    }
}
