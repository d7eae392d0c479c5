//! The command line before the expression.

use isopod_gnu::output::read_file;
use isopod_sys::text;

use crate::messages::quoted;

/// The symbolic links that are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// None: `-P`.
    Never,
    /// Those on the command line: `-H`.
    Arguments,
    /// All: `-L`.
    Always,
}

/// The parts of a command line.
pub(super) struct Arguments<'a> {
    pub(super) follow: Follow,
    pub(super) paths: &'a [String],
    pub(super) expression: &'a [String],
}

/// The longest list of starting points that is read. A guest can make the list as long as it likes.
const LONGEST_LIST: usize = 64 << 20;

impl<'a> Arguments<'a> {
    /// Splits the command line into its parts.
    pub(super) fn read(args: &'a [String]) -> Result<Arguments<'a>, String> {
        let mut follow = Follow::Never;
        let mut first = 0;
        while let Some(arg) = args.get(first) {
            match arg.as_str() {
                "-P" => follow = Follow::Never,
                "-H" => follow = Follow::Arguments,
                "-L" => follow = Follow::Always,
                "-D" => return Err("-D: there is no debugging output".into()),
                // The level of optimisation. There is one here, with the same results.
                level if level.starts_with("-O") => check_level(&level[2..])?,
                "--" => {
                    first += 1;
                    break;
                }
                _ => break,
            }
            first += 1;
        }
        let rest = &args[first..];
        let count = rest.iter().position(|arg| starts_expression(arg)).unwrap_or(rest.len());
        Ok(Arguments { follow, paths: &rest[..count], expression: &rest[count..] })
    }
}

fn check_level(level: &str) -> Result<(), String> {
    if level.is_empty() {
        return Err("The -O option must be immediately followed by a decimal integer".into());
    }
    level.parse::<u16>().map(drop).map_err(|_| "Invalid optimisation level ".to_owned() + level)
}

fn starts_expression(arg: &str) -> bool {
    arg.len() > 1 && arg.starts_with('-') || arg == "(" || arg == "!"
}

/// Returns the starting points, from the command line or from a list of names that end in NUL.
pub(super) fn starting_points(paths: &[String], list: Option<&str>) -> Result<Vec<String>, String> {
    let Some(list) = list else {
        return Ok(if paths.is_empty() { vec![".".to_owned()] } else { paths.to_vec() });
    };
    if let Some(extra) = paths.first() {
        return Err(format!(
            "extra operand {}\nfind: file operands cannot be combined with -files0-from",
            quoted(extra)
        ));
    }
    let source = if list == "-" { "/dev/stdin" } else { list };
    let bytes = read_file(source, LONGEST_LIST)
        .map_err(|errno| format!("cannot open {} for reading: {}", quoted(list), text(errno)))?;
    let names = String::from_utf8(bytes).map_err(|_| format!("{}: a name is not UTF-8", quoted(list)))?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}
