//! `rev`: reverses the characters of lines.

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Program, Syntax};

use crate::lines::{Lines, each_input};

/// `rev`.
pub(crate) const PROGRAM: Program = Program {
    name: "rev",
    operands: &["[OPTION] [FILE]..."],
    about: "Reverse lines characterwise.",
    syntax: Syntax::Mixed,
    options: &[Opt::flag('0', "zero", "use the byte '\\0' as line separator")],
    failure: 1,
    run: |call| {
        let end = if call.has("zero") { 0 } else { b'\n' };
        let mut out = Out::new();
        let code = each_input(call, |input| {
            let mut lines = Lines::new(input, end);
            let mut reversed = Vec::new();
            while let Some(line) = lines.next()? {
                reversed.clear();
                if line.is_ascii() {
                    reversed.extend(line.iter().rev());
                    out.push(&reversed);
                    if lines.is_complete() {
                        out.byte(end);
                    }
                    continue;
                }
                let mut rest = line;
                while let Some(start) = rest.len().checked_sub(last_length(rest)).filter(|_| !rest.is_empty()) {
                    reversed.extend_from_slice(&rest[start..]);
                    rest = &rest[..start];
                }
                out.push(&reversed);
                if lines.is_complete() {
                    out.byte(end);
                }
            }
            Ok(())
        });
        call.finish(out, code)
    },
};

/// Returns the length of the last character in bytes; 1 for bytes that are no UTF-8.
fn last_length(text: &[u8]) -> usize {
    (2..=4.min(text.len()))
        .find(|length| std::str::from_utf8(&text[text.len() - length..]).is_ok_and(|text| text.chars().count() == 1))
        .unwrap_or(1)
}
