//! The headers of `head` and `tail`: `==> FILE <==`.

use isopod_gnu::output::Out;
use isopod_gnu::program::Call;

/// Prints headers between files.
pub(crate) struct Headers {
    shown: bool,
    first: bool,
}

impl Headers {
    /// Reads the options. Without any, headers are shown for several inputs.
    pub(crate) fn new(call: &Call, inputs: usize) -> Headers {
        let last = call.options.iter().rev().find(|found| matches!(found.option, "quiet" | "silent" | "verbose"));
        Headers { shown: last.map_or(inputs > 1, |found| found.option == "verbose"), first: true }
    }

    /// Prints the header of a file, if headers are shown.
    pub(crate) fn print(&mut self, path: &str, out: &mut Out) {
        if self.shown {
            let name = if path == "-" { "standard input" } else { path };
            out.push(format!("{}==> {name} <==\n", if self.first { "" } else { "\n" }).as_bytes());
        }
        self.first = false;
    }
}
