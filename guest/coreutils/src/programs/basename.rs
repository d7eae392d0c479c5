//! `basename` and `dirname`: the parts of paths.

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::path::last_part;
use isopod_gnu::program::{Call, Program, Syntax};

/// `basename`.
pub(crate) const BASENAME: Program = Program {
    name: "basename",
    operands: &["NAME [SUFFIX]", "OPTION... NAME..."],
    about: "Print NAME with any leading directory components removed.\nIf specified, also remove a trailing SUFFIX.",
    syntax: Syntax::OptionsFirst,
    options: &[
        Opt::flag('a', "multiple", "support multiple arguments and treat each as a NAME"),
        Opt::flag('s', "suffix", "remove a trailing SUFFIX; implies -a").takes("SUFFIX"),
        Opt::flag('z', "zero", "end each output line with NUL, not newline"),
    ],
    failure: 1,
    run: |call| base(call).unwrap_or_else(|code| code),
};

/// `dirname`.
pub(crate) const DIRNAME: Program = Program {
    name: "dirname",
    operands: &["[OPTION] NAME..."],
    about: "Output each NAME with its last non-slash component and trailing slashes removed;\n\
            if NAME contains no /'s, output '.' (meaning the current directory).",
    syntax: Syntax::Mixed,
    options: &[Opt::flag('z', "zero", "end each output line with NUL, not newline")],
    failure: 1,
    run: directories,
};

fn base(call: &Call) -> Result<u8, u8> {
    let several = call.has("multiple") || call.has("suffix");
    if call.operands.is_empty() {
        return Err(call.misused("missing operand"));
    }
    let (names, suffix) = if several {
        (call.operands.as_slice(), call.value("suffix").unwrap_or_default())
    } else {
        call.at_most(2)?;
        (&call.operands[..1], call.operands.get(1).map_or("", String::as_str))
    };
    let mut out = Out::new();
    for name in names {
        let last = last_part(name);
        let stem = last.strip_suffix(suffix).filter(|stem| !stem.is_empty() && last != "/").unwrap_or(last);
        out.push(stem.as_bytes());
        out.byte(if call.has("zero") { 0 } else { b'\n' });
    }
    Ok(call.finish(out, 0))
}

fn directories(call: &Call) -> u8 {
    if call.operands.is_empty() {
        return call.misused("missing operand");
    }
    let mut out = Out::new();
    for name in &call.operands {
        let trimmed = name.trim_end_matches('/');
        let directory = match trimmed.rfind('/') {
            None if trimmed.is_empty() && !name.is_empty() => "/",
            None => ".",
            Some(slash) => match trimmed[..slash].trim_end_matches('/') {
                "" => "/",
                directory => directory,
            },
        };
        out.push(directory.as_bytes());
        out.byte(if call.has("zero") { 0 } else { b'\n' });
    }
    call.finish(out, 0)
}
