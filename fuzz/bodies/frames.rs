//! The commands that `isopod shell --json` reads from a pipe: each is taken once, and nothing between them is lost.

use isopod_syntax::{MoreText, Parser};

/// Lines that arrive one by one, as from a pipe.
struct Lines(std::vec::IntoIter<String>);

impl MoreText for Lines {
    fn more(&mut self, source: &mut String) -> bool {
        self.0.next().is_some_and(|line| {
            source.push_str(&line);
            true
        })
    }
}

/// Divides a text into commands as it arrives.
pub fn frames(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let mut parser = Parser::reading(Box::new(Lines(lines.into_iter())));
    let mut taken = String::new();
    loop {
        let start = parser.position();
        match parser.next_command() {
            Ok(Some(_)) => {
                let command = parser.consumed(start);
                assert!(!command.is_empty(), "a command of nothing in {text:?}");
                taken.push_str(command);
            }
            Ok(None) => break,
            Err(_) => return,
        }
    }
    // The rest at the end holds no command.
    assert!(taken.len() <= text.len(), "{text:?}");
}
