//! `test` and `[`: a condition as an exit code.

use isopod_sys::files::{self, Attributes, Kind};

use isopod_gnu::accounts;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;

/// `test`.
pub(crate) const TEST: Program = Program {
    name: "test",
    operands: &["EXPRESSION", ""],
    about: "Exit with the status determined by EXPRESSION.\n\n\
            ( E ), ! E, E -a E, E -o E; -n S, -z S, S = S, S != S, S < S, S > S;\n\
            N -eq N, -ne, -lt, -le, -gt, -ge; F -ef F, F -nt F, F -ot F;\n\
            -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -u -w -x FILE, -t FD",
    syntax: Syntax::Own,
    options: &[],
    failure: 2,
    run: |call| evaluate(call, &call.operands),
};

/// `[`.
pub(crate) const BRACKET: Program = Program {
    name: "[",
    operands: &["EXPRESSION ]", "]", "OPTION"],
    syntax: Syntax::Plain,
    run: |call| match call.operands.split_last() {
        Some((last, rest)) if last == "]" => evaluate(call, rest),
        _ => {
            call.complain("missing ']'");
            2
        }
    },
    ..TEST
};

fn evaluate(call: &Call, args: &[String]) -> u8 {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut parser = Parser { args: &args, at: 0 };
    let result = if args.is_empty() {
        Ok(false)
    } else {
        parser.by_count(args.len()).and_then(|truth| match parser.args.get(parser.at) {
            Some(extra) => Err(format!("extra argument {}", plain(extra))),
            None => Ok(truth),
        })
    };
    match result {
        Ok(truth) => u8::from(!truth),
        Err(message) => {
            call.complain(&message);
            2
        }
    }
}

struct Parser<'a> {
    args: &'a [&'a str],
    at: usize,
}

type Truth = Result<bool, String>;

impl<'a> Parser<'a> {
    /// Evaluates one to four arguments as POSIX defines them by their number; more follow a grammar.
    fn by_count(&mut self, count: usize) -> Truth {
        let start = self.at;
        let arg = |index: usize| self.args[start + index];
        match count {
            1 => {
                self.at += 1;
                Ok(!arg(0).is_empty())
            }
            2 if arg(0) == "!" => {
                self.at += 2;
                Ok(arg(1).is_empty())
            }
            2 if is_unary(arg(0)) => {
                self.at += 2;
                unary(arg(0), arg(1))
            }
            2 => Err(format!("missing argument after {}", plain(arg(1)))),
            3 if is_binary(arg(1)) => {
                self.at += 3;
                binary(arg(0), arg(1), arg(2))
            }
            3 if arg(0) == "!" => {
                self.at += 1;
                self.by_count(2).map(|truth| !truth)
            }
            3 if arg(0) == "(" && arg(2) == ")" => {
                self.at += 3;
                Ok(!arg(1).is_empty())
            }
            3 if matches!(arg(1), "-a" | "-o") => self.either(),
            3 => Err(format!("{}: binary operator expected", plain(arg(1)))),
            4 if arg(0) == "!" => {
                self.at += 1;
                self.by_count(3).map(|truth| !truth)
            }
            4 if arg(0) == "(" && arg(3) == ")" => {
                self.at += 1;
                let truth = self.by_count(2)?;
                self.at += 1;
                Ok(truth)
            }
            _ => self.either(),
        }
    }

    fn either(&mut self) -> Truth {
        let mut truth = self.both()?;
        while self.peek() == Some("-o") {
            self.at += 1;
            truth |= self.both()?;
        }
        Ok(truth)
    }

    fn both(&mut self) -> Truth {
        let mut truth = self.term()?;
        while self.peek() == Some("-a") {
            self.at += 1;
            truth &= self.term()?;
        }
        Ok(truth)
    }

    fn term(&mut self) -> Truth {
        let Some(first) = self.peek() else {
            let last = self.args.last().copied().unwrap_or_default();
            return Err(format!("missing argument after {}", plain(last)));
        };
        let left = &self.args[self.at..];
        if left.len() >= 3 && is_binary(left[1]) {
            self.at += 3;
            return binary(first, left[1], left[2]);
        }
        match first {
            "!" => {
                self.at += 1;
                return self.term().map(|truth| !truth);
            }
            "(" => {
                self.at += 1;
                let truth = self.either()?;
                return match self.peek() {
                    Some(")") => {
                        self.at += 1;
                        Ok(truth)
                    }
                    Some(other) => Err(format!("')' expected, found {other}")),
                    None => Err("')' expected".to_owned()),
                };
            }
            _ => {}
        }
        if left.len() >= 2 && is_unary(first) {
            self.at += 2;
            return unary(first, left[1]);
        }
        self.at += 1;
        Ok(!first.is_empty())
    }

    fn peek(&self) -> Option<&'a str> {
        self.args.get(self.at).copied()
    }
}

fn is_unary(op: &str) -> bool {
    let mut chars = op.chars();
    chars.next() == Some('-')
        && chars.next().is_some_and(|c| "bcdefgGhkLnNOprsStuwxz".contains(c))
        && chars.next().is_none()
}

fn is_binary(op: &str) -> bool {
    const BINARY: [&str; 14] =
        ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot"];
    BINARY.contains(&op)
}

fn unary(op: &str, operand: &str) -> Truth {
    let stat = |follow: bool| files::stat(operand, follow).ok();
    let is = |kind: Kind| stat(true).is_some_and(|found| found.kind == kind);
    let has = |bits: u32| stat(true).is_some_and(|found| found.mode & bits != 0);
    Ok(match op {
        "-n" => !operand.is_empty(),
        "-z" => operand.is_empty(),
        "-e" => stat(true).is_some(),
        "-f" => is(Kind::File),
        "-d" => is(Kind::Directory),
        "-c" => is(Kind::Device),
        "-p" => is(Kind::Pipe),
        "-h" | "-L" => stat(false).is_some_and(|found| found.kind == Kind::Symlink),
        "-s" => stat(true).is_some_and(|found| found.size > 0),
        "-u" => has(0o4000),
        "-g" => has(0o2000),
        "-k" => has(0o1000),
        "-r" => stat(true).is_some_and(|found| may(&found, 4)),
        "-w" => stat(true).is_some_and(|found| may(&found, 2)),
        "-x" => stat(true).is_some_and(|found| may(&found, 1)),
        "-O" => stat(true).is_some_and(|found| found.uid == accounts::USER),
        "-G" => stat(true).is_some_and(|found| found.gid == accounts::GROUP),
        "-N" => stat(true).is_some_and(|found| found.modified > found.accessed),
        // There are no sockets, no block devices and no terminals.
        "-S" | "-b" => false,
        _ => {
            integer(operand)?;
            false
        }
    })
}

/// Returns true if the mode bits permit this to the sandbox's user.
fn may(found: &Attributes, bit: u32) -> bool {
    let shift = if found.uid == accounts::USER {
        6
    } else if found.gid == accounts::GROUP {
        3
    } else {
        0
    };
    found.mode >> shift & bit != 0
}

fn binary(left: &str, op: &str, right: &str) -> Truth {
    let numbers = || Ok::<_, String>((integer(left)?, integer(right)?));
    let pair = || (files::stat(left, true).ok(), files::stat(right, true).ok());
    Ok(match op {
        "=" | "==" => left == right,
        "!=" => left != right,
        "<" => left < right,
        ">" => left > right,
        "-ef" => matches!(pair(), (Some(a), Some(b)) if (a.device, a.inode) == (b.device, b.inode)),
        // A file that exists is newer than one that does not.
        "-nt" => match pair() {
            (Some(a), b) => b.is_none_or(|b| a.modified > b.modified),
            (None, _) => false,
        },
        "-ot" => match pair() {
            (a, Some(b)) => a.is_none_or(|a| a.modified < b.modified),
            (_, None) => false,
        },
        _ => {
            let (a, b) = numbers()?;
            match op {
                "-eq" => a == b,
                "-ne" => a != b,
                "-lt" => a < b,
                "-le" => a <= b,
                "-gt" => a > b,
                _ => a >= b,
            }
        }
    })
}

/// Reads a decimal number; 128 bits are more than scripts compare.
fn integer(text: &str) -> Result<i128, String> {
    let trimmed = text.trim_matches([' ', '\t', '\n']);
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("invalid integer {}", plain(text)));
    }
    trimmed.parse().map_err(|_| format!("integer {} is too large", plain(text)))
}
