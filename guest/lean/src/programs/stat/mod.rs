//! `stat`: the attributes of files.

mod format;

use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, fs, text};

use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;

/// `stat`.
pub(crate) const PROGRAM: Program = Program {
    name: "stat",
    operands: &["[OPTION]... FILE..."],
    about: "Display file status.\n\n\
            Format sequences: %a %A permissions, %b %B blocks, %d %D device, %f raw mode, %F type, %g %G group,\n\
            %h links, %i inode, %n name, %N quoted name, %o transfer size, %s size, %t %T device type,\n\
            %u %U owner, %w %W birth, %x %X access, %y %Y modification, %z %Z change; times in UTC.",
    syntax: Syntax::Mixed,
    options: &[
        Opt::flag('L', "dereference", "follow links"),
        Opt::flag('c', "format", "use the specified FORMAT, with a newline after each use").takes("FORMAT"),
        Opt::long("printf", "like --format, but interpret backslash escapes, and no newline").takes("FORMAT"),
        Opt::flag('t', "terse", "print the information in terse form"),
        Opt::long("cached", "accepted: attributes are never cached").takes("MODE"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// A file and its attributes.
struct Subject<'a> {
    name: &'a str,
    attributes: Attributes,
    target: Option<String>,
}

const TERSE: &str = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";
const LONG: &str = "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n\
                    Device: %Hd,%Ld\tInode: %-10i  Links: %-5h{type}\n\
                    Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\n\
                    Access: %x\nModify: %y\nChange: %z\n Birth: %w\n";

fn run(call: &Call) -> Result<u8, u8> {
    if call.operands.is_empty() {
        return Err(call.misused("missing operand"));
    }
    if let Some(mode) = call.value("cached")
        && !["always", "never", "default"].contains(&mode)
    {
        return Err(call.misused(&format!("invalid argument {} for '--cached'", quote::plain(mode))));
    }
    let given = call.options.iter().rev().find(|found| matches!(found.option, "format" | "printf"));
    let own = given.and_then(|found| found.value.as_deref());
    let escapes = given.is_some_and(|found| found.option == "printf");
    let terse = call.has("terse");

    let mut out = Out::new();
    let mut code = 0;
    for name in &call.operands {
        let subject = match examine(name, call.has("dereference")) {
            Ok(subject) => subject,
            Err(message) => {
                call.complain(&message);
                code = 1;
                continue;
            }
        };
        let rendered = match own {
            Some(own) => format::render(&subject, own, escapes, true, call),
            None if terse => format::render(&subject, TERSE, false, true, call),
            None => {
                let is_device = subject.attributes.kind == Kind::Device;
                let long = LONG.replace("%-5h{type}", if is_device { "%-5h Device type: %t,%T" } else { "%h" });
                format::render(&subject, &long, false, false, call)
            }
        };
        out.push(&rendered.map_err(|message| {
            call.complain(&message);
            1
        })?);
        if own.is_some() && !escapes {
            out.byte(b'\n');
        }
    }
    Ok(call.finish(out, code))
}

fn examine(name: &str, follow: bool) -> Result<Subject<'_>, String> {
    if name == "-" {
        let attributes = files::stat_fd(0).map_err(|errno| format!("cannot stat standard input: {}", text(errno)))?;
        return Ok(Subject { name, attributes, target: None });
    }
    let failed = |errno: Errno| format!("cannot statx {}: {}", quote::shell(name), text(errno));
    let attributes = files::stat(name, follow).map_err(failed)?;
    let target = match attributes.kind {
        Kind::Symlink => Some(
            fs::read_link(name)
                .map_err(|errno| format!("cannot read symbolic link {}: {}", quote::shell(name), text(errno)))?,
        ),
        _ => None,
    };
    Ok(Subject { name, attributes, target })
}
