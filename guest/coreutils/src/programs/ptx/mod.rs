//! `ptx`: a permuted index, the words of a text in order, each with its context.
//!
//! Texts are read whole, their words found (`index`) and sorted; then each becomes a line, cut to its width (`fields`)
//! and written for a terminal, for roff or for TeX (`output`). Columns are bytes, as in GNU's: the recorded answers
//! depend on it.

mod fields;
mod index;
mod options;
mod output;
mod pattern;
mod text;
mod words;

use isopod_gnu::output::Out;
use isopod_gnu::program::Call;
use isopod_gnu::quote;
use isopod_sys::Fd;
use isopod_sys::files::OpenFlags;

use crate::lines::complain;
use fields::Layout;
use index::Index;
pub(crate) use options::PROGRAM;
use options::Settings;
use text::Text;

fn run(call: &Call) -> Result<u8, u8> {
    let settings = Settings::read(call)?;
    let (inputs, output) = if settings.traditional {
        call.at_most(2)?;
        // The output is opened first, so that an input that is also the output is empty, as in GNU's.
        let output = call.operands.get(1).map(|path| create(call, path)).transpose()?;
        (&call.operands[..call.operands.len().min(1)], output)
    } else {
        (call.operands.as_slice(), None)
    };
    let mut index = Index::default();
    for input in isopod_gnu::input::or_standard_input(inputs) {
        let text = Text::read(input, settings.fold).map_err(|errno| complain(call, input, errno))?;
        index.add(text, &settings).map_err(|message| call.failed(&message))?;
    }
    index.sort();
    let layout = Layout::new(&settings, &index);
    let mut out = output.as_ref().map_or_else(Out::new, |file| Out::to(file.raw()));
    for occurrence in &index.occurrences {
        output::line(&layout.cut(occurrence), &layout, &mut out);
        if out.has_failed() {
            break;
        }
    }
    if settings.gave_up() {
        return Err(call.failed("a regular expression takes too long"));
    }
    Ok(call.finish(out, 0))
}

fn create(call: &Call, path: &str) -> Result<Fd, u8> {
    let how = OpenFlags::WRITE | OpenFlags::CREATE | OpenFlags::TRUNCATE;
    Fd::open(path, how, 0o666).map_err(|errno| complain(call, path, errno))
}

/// Quotes a regular expression for a message.
fn quoted(pattern: &[u8]) -> String {
    quote::plain(&String::from_utf8_lossy(pattern))
}
