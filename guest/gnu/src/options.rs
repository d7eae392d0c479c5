//! GNU's `getopt_long`, over a table.
//!
//! Long options may be abbreviated, values may be glued or follow, and the messages are glibc's: scripts and
//! people know them.

/// An option of a program.
pub struct Opt {
    /// Its letter.
    short: Option<char>,
    /// Its long name.
    long: Option<&'static str>,
    /// Its name in `GivenOption`.
    key: &'static str,
    /// Its value, with the value's name in `--help`.
    value: Value,
    /// One line for `--help`; empty for an option that is not shown.
    help: &'static str,
}

/// The value of an option: none, required, optional, or a number.
#[derive(Clone, Copy)]
enum Value {
    None,
    Required(&'static str),
    Optional(&'static str),
    /// The option itself is the value: `-12`.
    Number,
}

/// An option that was given.
pub struct GivenOption {
    /// The option's long name, or its letter if it has none.
    pub option: &'static str,
    /// Its value.
    pub value: Option<String>,
}

/// The options of every program.
pub const COMMON: &[Opt] =
    &[Opt::long("help", "display this help and exit"), Opt::long("version", "output version information and exit")];

impl Opt {
    /// An option with a letter and a long name.
    pub const fn flag(short: char, long: &'static str, help: &'static str) -> Opt {
        Opt { short: Some(short), long: Some(long), key: long, value: Value::None, help }
    }

    /// An option with a long name only.
    pub const fn long(long: &'static str, help: &'static str) -> Opt {
        Opt { short: None, long: Some(long), key: long, value: Value::None, help }
    }

    /// An option with a letter only, which `GivenOption` calls `key`.
    pub const fn letter(short: char, key: &'static str, help: &'static str) -> Opt {
        Opt { short: Some(short), long: None, key, value: Value::None, help }
    }

    /// The old way to give a number, `-12`, which `GivenOption` calls `key`. Characters glued to the digit belong to the
    /// value.
    pub const fn number(key: &'static str) -> Opt {
        Opt { short: None, long: None, key, value: Value::Number, help: "" }
    }

    /// Requires a value.
    pub const fn takes(self, name: &'static str) -> Opt {
        Opt { value: Value::Required(name), ..self }
    }

    /// Allows a value, glued to the option.
    pub const fn may_take(self, name: &'static str) -> Opt {
        Opt { value: Value::Optional(name), ..self }
    }

    /// Adds the option's line of `--help`.
    pub fn describe(&self, text: &mut String) {
        if self.help.is_empty() {
            return;
        }
        let mut left = match (self.short, self.long) {
            (Some(short), Some(long)) => format!("  -{short}, --{long}"),
            (Some(short), None) => format!("  -{short}"),
            (None, long) => format!("      --{}", long.unwrap_or_default()),
        };
        match (self.value, self.long) {
            (Value::None | Value::Number, _) => {}
            (Value::Required(name), Some(_)) => left.push_str(&format!("={name}")),
            (Value::Required(name), None) => left.push_str(&format!(" {name}")),
            (Value::Optional(name), Some(_)) => left.push_str(&format!("[={name}]")),
            (Value::Optional(name), None) => left.push_str(&format!("[{name}]")),
        }
        text.push_str(&format!("{left:<25}  {}\n", self.help));
    }
}

/// Splits arguments into options and operands. With `mixed`, options may follow operands.
pub fn parse(table: &[Opt], args: Vec<String>, mixed: bool) -> Result<(Vec<GivenOption>, Vec<String>), String> {
    let (mut found, mut operands) = (Vec::new(), Vec::new());
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            operands.extend(args);
            break;
        } else if let Some(long) = arg.strip_prefix("--") {
            found.push(long_option(table, long, &mut args)?);
        } else if arg.len() > 1 && arg.starts_with('-') {
            cluster(table, &arg[1..], &mut args, &mut found)?;
        } else {
            operands.push(arg);
            if !mixed {
                operands.extend(args);
                break;
            }
        }
        // Arguments after `--help` are not read: it is answered even if they are wrong.
        if found.last().is_some_and(|last: &GivenOption| matches!(last.option, "help" | "version")) {
            break;
        }
    }
    Ok((found, operands))
}

fn long_option(table: &[Opt], text: &str, rest: &mut impl Iterator<Item = String>) -> Result<GivenOption, String> {
    let (name, glued) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    let all = || table.iter().chain(COMMON);
    let candidates: Vec<&Opt> = match all().find(|opt| opt.long == Some(name)) {
        Some(exact) => vec![exact],
        None => all().filter(|opt| opt.long.is_some_and(|long| long.starts_with(name))).collect(),
    };
    let option = match candidates.as_slice() {
        [] => return Err(format!("unrecognized option '--{text}'")),
        // Two spellings of one option are no ambiguity.
        [first, others @ ..] if others.iter().all(|other| other.key == first.key) => first,
        several => {
            let list: String = several.iter().map(|opt| format!(" '--{}'", opt.long.unwrap_or_default())).collect();
            return Err(format!("option '--{text}' is ambiguous; possibilities:{list}"));
        }
    };
    let long = option.long.unwrap_or_default();
    let value = match (option.value, glued) {
        (Value::None, Some(_)) => {
            return Err(format!("option '--{long}' doesn't allow an argument"));
        }
        (Value::None, None) => None,
        (Value::Required(_), None) => match rest.next() {
            Some(value) => Some(value),
            None => return Err(format!("option '--{long}' requires an argument")),
        },
        (_, glued) => glued,
    };
    Ok(GivenOption { option: option.key, value })
}

fn cluster(
    table: &[Opt],
    letters: &str,
    rest: &mut impl Iterator<Item = String>,
    found: &mut Vec<GivenOption>,
) -> Result<(), String> {
    for (index, letter) in letters.char_indices() {
        let is_meant = |opt: &&Opt| match opt.value {
            Value::Number => letter.is_ascii_digit(),
            _ => opt.short == Some(letter),
        };
        let Some(option) = table.iter().find(is_meant) else {
            return Err(format!("invalid option -- '{letter}'"));
        };
        let glued = &letters[index + letter.len_utf8()..];
        let value = match option.value {
            Value::None => None,
            Value::Number => Some(letters[index..].to_owned()),
            Value::Required(_) | Value::Optional(_) if !glued.is_empty() => Some(glued.to_owned()),
            Value::Optional(_) => None,
            Value::Required(_) => match rest.next() {
                Some(value) => Some(value),
                None => return Err(format!("option requires an argument -- '{letter}'")),
            },
        };
        let ends = value.is_some();
        found.push(GivenOption { option: option.key, value });
        if ends {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Opt] = &[
        Opt::flag('n', "number", "x"),
        Opt::flag('s', "signal", "x").takes("S"),
        Opt::long("show-all", "x"),
        Opt::long("show-ends", "x"),
        Opt::letter('o', "maybe", "x").may_take("V"),
        Opt::number("signal"),
    ];

    fn read(args: &[&str], mixed: bool) -> Result<String, String> {
        let (found, operands) = parse(TABLE, args.iter().map(|arg| arg.to_string()).collect(), mixed)?;
        let found: Vec<String> =
            found.iter().map(|f| format!("{}:{}", f.option, f.value.as_deref().unwrap_or("-"))).collect();
        Ok(format!("{} | {}", found.join(" "), operands.join(" ")))
    }

    #[test]
    fn options_and_operands_mix_unless_told_otherwise() {
        assert_eq!(read(&["a", "-n", "b"], true).as_deref(), Ok("number:- | a b"));
        assert_eq!(read(&["a", "-n", "b"], false).as_deref(), Ok(" | a -n b"));
        assert_eq!(read(&["-n", "--", "-n", "-"], true).as_deref(), Ok("number:- | -n -"));
    }

    #[test]
    fn values_are_glued_or_follow() {
        assert_eq!(
            read(&["-ns9", "-s", "3", "--signal=4", "--sig", "5"], true).as_deref(),
            Ok("number:- signal:9 signal:3 signal:4 signal:5 | ")
        );
        assert_eq!(read(&["-o", "-ox", "y"], true).as_deref(), Ok("maybe:- maybe:x | y"));
        assert_eq!(read(&["-12", "-n3x", "4"], true).as_deref(), Ok("signal:12 number:- signal:3x | 4"));
    }

    #[test]
    fn wrong_options_are_named_as_glibc_names_them() {
        assert_eq!(read(&["--foo=1"], true), Err("unrecognized option '--foo=1'".into()));
        assert_eq!(read(&["-nz"], true), Err("invalid option -- 'z'".into()));
        assert_eq!(read(&["-s"], true), Err("option requires an argument -- 's'".into()));
        assert_eq!(read(&["--sig"], true), Err("option '--signal' requires an argument".into()));
        assert_eq!(read(&["--number=1"], true), Err("option '--number' doesn't allow an argument".into()));
        assert_eq!(
            read(&["--show"], true),
            Err("option '--show' is ambiguous; possibilities: '--show-all' '--show-ends'".into())
        );
    }
}
