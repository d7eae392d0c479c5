//! `tr`: translates, squeezes or deletes bytes.

mod set;

use isopod_gnu::input::Input;
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_sys::Errno;

use crate::lines::complain;
use set::Set;

/// `tr`.
pub(crate) const PROGRAM: Program = Program {
    name: "tr",
    operands: &["[OPTION]... STRING1 [STRING2]"],
    about: "Translate, squeeze, and/or delete characters from standard input, writing to standard output.\n\
            STRING1 and STRING2 specify arrays of characters: \\NNN, \\a \\b \\f \\n \\r \\t \\v, CHAR1-CHAR2,\n\
            [CHAR*], [CHAR*REPEAT], [:class:], [=CHAR=].  As in GNU's, characters are bytes.",
    syntax: Syntax::OptionsFirst,
    options: &[
        Opt::flag('c', "complement", "use the complement of STRING1"),
        Opt::letter('C', "complement", "same as -c"),
        Opt::flag('d', "delete", "delete characters in STRING1, do not translate"),
        Opt::flag('s', "squeeze-repeats", "replace each sequence of a repeated character of the last STRING by one"),
        Opt::flag('t', "truncate-set1", "first truncate STRING1 to length of STRING2"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

fn run(call: &Call) -> Result<u8, u8> {
    let (delete, squeeze) = (call.has("delete"), call.has("squeeze-repeats"));
    let translating = !delete && (call.operands.len() == 2 || !squeeze);
    check_count(call, delete, squeeze)?;
    let parse = |index: usize| match call.operands.get(index) {
        Some(text) => Set::parse(text.as_bytes()).map_err(|message| fail(call, &message)),
        None => Ok(Set::default()),
    };
    let (mut first, second) = (parse(0)?, parse(1)?);
    if first.fills() > 0 {
        return Err(fail(call, "the [c*] repeat construct may not appear in string1"));
    }
    let complemented = call.has("complement");
    let first_has_class = first.has_class();
    let case = (!complemented).then(|| first.case_offsets());
    if complemented {
        first = first.complement();
    }
    let table = if translating {
        let truncate = call.has("truncate-set1");
        let one_target = complemented && first_has_class;
        Some(second.targets(&first, case.as_deref(), truncate, one_target).map_err(|message| fail(call, &message))?)
    } else if second.fills() > 1 {
        return Err(fail(call, "only one [c*] repeat construct may appear in string2"));
    } else {
        None
    };
    let sources = first.expand(0);
    let member = |bytes: &[u8]| {
        let mut table = [false; 256];
        bytes.iter().for_each(|byte| table[usize::from(*byte)] = true);
        table
    };
    let squeezed = squeeze.then(|| match &table {
        Some(_) => member(&second.expand(sources.len())),
        None if delete => member(&second.expand(256)),
        None => member(&sources),
    });
    let job =
        Job { deleted: delete.then(|| member(&sources)), map: table.map(|targets| map(&sources, &targets)), squeezed };
    let mut out = Out::new();
    let code = match job.run(&mut out) {
        Ok(()) => 0,
        Err(errno) => complain(call, "read error", errno),
    };
    Ok(call.finish(out, code))
}

fn check_count(call: &Call, delete: bool, squeeze: bool) -> Result<(), u8> {
    let least = 1 + usize::from(delete == squeeze);
    let most = 1 + usize::from(!delete || squeeze);
    match call.operands.as_slice() {
        [] => Err(call.misused("missing operand")),
        [only] if least == 2 => {
            call.complain(&format!("missing operand after {}", plain(only)));
            let why = if squeeze { "both deleting and squeezing repeats" } else { "translating" };
            let _ = isopod_sys::write_all(2, format!("Two strings must be given when {why}.\n").as_bytes());
            Err(call.hint())
        }
        operands if operands.len() > most => {
            call.complain(&format!("extra operand {}", plain(&operands[most])));
            if operands.len() == 2 {
                let _ = isopod_sys::write_all(
                    2,
                    b"Only one string may be given when deleting without squeezing repeats.\n",
                );
            }
            Err(call.hint())
        }
        _ => Ok(()),
    }
}

fn fail(call: &Call, message: &str) -> u8 {
    call.failed(message)
}

fn map(sources: &[u8], targets: &[u8]) -> [u8; 256] {
    let mut map = [0; 256];
    (0..=255).for_each(|byte| map[usize::from(byte)] = byte);
    for (source, target) in sources.iter().zip(targets) {
        map[usize::from(*source)] = *target;
    }
    map
}

/// The steps on bytes: deletion, then translation, then squeezing of repeats.
struct Job {
    deleted: Option<[bool; 256]>,
    map: Option<[u8; 256]>,
    squeezed: Option<[bool; 256]>,
}

impl Job {
    fn run(&self, out: &mut Out) -> Result<(), Errno> {
        let input = Input::open("-")?;
        let mut last = None;
        loop {
            let mut piece = input.read()?;
            if piece.is_empty() || out.has_failed() {
                return Ok(());
            }
            if let Some(deleted) = &self.deleted {
                keep(&mut piece, |byte| !deleted[usize::from(byte)]);
            }
            if let Some(map) = &self.map {
                piece.iter_mut().for_each(|byte| *byte = map[usize::from(*byte)]);
            }
            if let Some(squeezed) = &self.squeezed {
                keep(&mut piece, |byte| {
                    let repeats = last == Some(byte) && squeezed[usize::from(byte)];
                    last = Some(byte);
                    !repeats
                });
            }
            out.write(&piece);
        }
    }
}

/// Does the same as `Vec::retain` without a branch, which would be mispredicted on most inputs.
fn keep(bytes: &mut Vec<u8>, mut stays: impl FnMut(u8) -> bool) {
    let mut end = 0;
    for at in 0..bytes.len() {
        let byte = bytes[at];
        bytes[end] = byte;
        end += usize::from(stays(byte));
    }
    bytes.truncate(end);
}
