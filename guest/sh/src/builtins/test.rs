//! `test`, `[`, and the operators they share with `[[ … ]]`

use isopod_sys::files::{self, Attributes as FileAttributes, Kind};

use crate::arith;
use crate::state::options::SetOption;
use crate::state::variable::{Attributes, Value};
use crate::state::{Shell, Stop, TargetName};
use crate::syntax::tree::Comparison;
use crate::text;

/// The user that everything in a sandbox runs as.
const USER: u32 = 1000;

pub(super) fn bracket(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    match arguments.split_last() {
        Some((last, rest)) if last == "]" && !rest.is_empty() => evaluate(shell, "[", &rest[1..]),
        _ => {
            shell.complain_as("[", "missing `]'");
            Ok(2)
        }
    }
}

pub(super) fn test(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    evaluate(shell, "test", &arguments[1..])
}

fn evaluate(shell: &mut Shell, name: &str, arguments: &[String]) -> Result<u8, Stop> {
    let mut tester = Tester { shell, arguments, at: 0, depth: 0 };
    match tester.whole() {
        Ok(holds) => Ok(u8::from(!holds)),
        Err(message) => {
            if !message.is_empty() {
                shell.complain_as(name, &message);
            }
            Ok(2)
        }
    }
}

struct Tester<'a> {
    shell: &'a mut Shell,
    arguments: &'a [String],
    at: usize,
    depth: u32,
}

impl Tester<'_> {
    /// Evaluates the arguments. POSIX decides by their number; more than four are an expression.
    fn whole(&mut self) -> Result<bool, String> {
        match self.arguments.len() {
            0 => Ok(false),
            n @ 1..=4 => self.counted(0, n),
            _ => self.expression_to_end(),
        }
    }

    fn counted(&mut self, from: usize, to: usize) -> Result<bool, String> {
        let arguments = &self.arguments[from..to];
        match arguments {
            [] => Ok(false),
            [only] => Ok(!only.is_empty()),
            [not, operand] if not == "!" => Ok(operand.is_empty()),
            [operator, operand] => match unary_letter(operator) {
                Some(letter) => self.unary(letter, operand),
                None => Err(format!("{operator}: unary operator expected")),
            },
            [left, operator, right] => match (comparison(operator), operator.as_str()) {
                (Some(comparison), _) => self.binary(comparison, left, right),
                (None, "-a") => Ok(!left.is_empty() && !right.is_empty()),
                (None, "-o") => Ok(!left.is_empty() || !right.is_empty()),
                (None, _) if left == "!" => Ok(!self.counted(from + 1, to)?),
                (None, _) if left == "(" && right == ")" => self.counted(from + 1, to - 1),
                (None, _) => Err(format!("{operator}: binary operator expected")),
            },
            [not, ..] if not == "!" && arguments.len() == 4 => Ok(!self.counted(from + 1, to)?),
            [open, .., close] if open == "(" && close == ")" && arguments.len() == 4 => self.counted(from + 1, to - 1),
            _ => self.expression_to_end(),
        }
    }

    fn expression_to_end(&mut self) -> Result<bool, String> {
        self.at = 0;
        let holds = self.or()?;
        match self.arguments.get(self.at) {
            None => Ok(holds),
            Some(_) => Err("too many arguments".to_owned()),
        }
    }

    fn peek(&self) -> Option<&str> {
        self.arguments.get(self.at).map(String::as_str)
    }

    fn or(&mut self) -> Result<bool, String> {
        let mut holds = self.and()?;
        while self.peek() == Some("-o") {
            self.at += 1;
            holds |= self.and()?;
        }
        Ok(holds)
    }

    fn and(&mut self) -> Result<bool, String> {
        let mut holds = self.term()?;
        while self.peek() == Some("-a") {
            self.at += 1;
            holds &= self.term()?;
        }
        Ok(holds)
    }

    fn term(&mut self) -> Result<bool, String> {
        self.depth += 1;
        if self.depth > 200 {
            return Err("nested too deep".to_owned());
        }
        let holds = self.primary();
        self.depth -= 1;
        holds
    }

    fn primary(&mut self) -> Result<bool, String> {
        let Some(first) = self.arguments.get(self.at) else { return Err("argument expected".to_owned()) };
        // A binary operator in the second place makes the first argument an operand, even if it looks like an operator.
        if let (Some(operator), Some(right)) = (self.arguments.get(self.at + 1), self.arguments.get(self.at + 2))
            && let Some(comparison) = comparison(operator)
        {
            self.at += 3;
            return self.binary(comparison, first, right);
        }
        if first == "!" {
            self.at += 1;
            return Ok(!self.term()?);
        }
        if first == "(" {
            self.at += 1;
            let holds = self.or()?;
            if self.peek() != Some(")") {
                return Err("`)' expected".to_owned());
            }
            self.at += 1;
            return Ok(holds);
        }
        if let (Some(letter), Some(operand)) = (unary_letter(first), self.arguments.get(self.at + 1)) {
            self.at += 2;
            return self.unary(letter, operand);
        }
        self.at += 1;
        Ok(!first.is_empty())
    }

    fn unary(&mut self, letter: u8, operand: &str) -> Result<bool, String> {
        // Errors in the subscript's arithmetic have been reported.
        unary(self.shell, letter, operand).map_err(|_| String::new())
    }

    fn binary(&mut self, operator: Comparison, left: &str, right: &str) -> Result<bool, String> {
        match operator {
            Comparison::Match | Comparison::Equal => Ok(left == right),
            Comparison::NotMatch => Ok(left != right),
            Comparison::Before => Ok(left < right),
            Comparison::After => Ok(left > right),
            Comparison::Newer | Comparison::Older | Comparison::SameFile => {
                Ok(compare_files(self.shell, operator, left, right))
            }
            numeric => {
                let number = |t: &str| arith::integer(t).ok_or(format!("{t}: integer expression expected"));
                Ok(compare_numbers(numeric, number(left)?, number(right)?))
            }
        }
    }
}

fn unary_letter(operator: &str) -> Option<u8> {
    match operator.as_bytes() {
        [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter) => Some(*letter),
        _ => None,
    }
}

fn comparison(operator: &str) -> Option<Comparison> {
    Some(match operator {
        "=" => Comparison::Equal,
        "==" => Comparison::Match,
        "!=" => Comparison::NotMatch,
        "<" => Comparison::Before,
        ">" => Comparison::After,
        "-eq" => Comparison::Eq,
        "-ne" => Comparison::Ne,
        "-lt" => Comparison::Lt,
        "-le" => Comparison::Le,
        "-gt" => Comparison::Gt,
        "-ge" => Comparison::Ge,
        "-nt" => Comparison::Newer,
        "-ot" => Comparison::Older,
        "-ef" => Comparison::SameFile,
        _ => return None,
    })
}

/// The numeric comparisons.
pub fn compare_numbers(operator: Comparison, left: i64, right: i64) -> bool {
    match operator {
        Comparison::Eq => left == right,
        Comparison::Ne => left != right,
        Comparison::Lt => left < right,
        Comparison::Le => left <= right,
        Comparison::Gt => left > right,
        _ => left >= right,
    }
}

/// `-nt`, `-ot`, `-ef`
pub fn compare_files(shell: &mut Shell, operator: Comparison, left: &str, right: &str) -> bool {
    match (operator, stat(shell, left, true), stat(shell, right, true)) {
        (Comparison::Newer, Some(left), Some(right)) => left.modified > right.modified,
        (Comparison::Newer, Some(_), None) => true,
        (Comparison::Older, Some(left), Some(right)) => left.modified < right.modified,
        (Comparison::Older, None, Some(_)) => true,
        (Comparison::SameFile, Some(left), Some(right)) => (left.device, left.inode) == (right.device, right.inode),
        _ => false,
    }
}

/// The unary operators.
pub fn unary(shell: &mut Shell, letter: u8, operand: &str) -> Result<bool, Stop> {
    Ok(match letter {
        b'n' => !operand.is_empty(),
        b'z' => operand.is_empty(),
        b'o' => SetOption::named(operand).is_some_and(|o| shell.options.has(o)),
        b'v' => return is_set(shell, operand),
        b'R' => shell.variables.get(operand).is_some_and(|v| v.is(Attributes::NAMEREF) && v.text().is_some()),
        // Nothing in a sandbox is a terminal.
        b't' => false,
        b'h' | b'L' => stat(shell, operand, false).is_some_and(|a| a.kind == Kind::Symlink),
        letter => stat(shell, operand, true).is_some_and(|a| file_is(&a, letter)),
    })
}

fn file_is(file: &FileAttributes, letter: u8) -> bool {
    match letter {
        b'a' | b'e' => true,
        b'f' => file.kind == Kind::File,
        b'd' => file.kind == Kind::Directory,
        b'p' => file.kind == Kind::Pipe,
        b'c' => file.kind == Kind::Device,
        b's' => file.size > 0,
        b'r' => may(file, 4),
        b'w' => may(file, 2),
        b'x' => may(file, 1),
        b'u' => file.mode & 0o4000 != 0,
        b'g' => file.mode & 0o2000 != 0,
        b'k' => file.mode & 0o1000 != 0,
        b'O' => file.uid == USER,
        b'G' => file.gid == USER,
        b'N' => file.modified > file.accessed,
        // There are no block devices and no sockets.
        _ => false,
    }
}

/// Returns true if the mode of a file grants the user this permission.
fn may(file: &FileAttributes, bit: u32) -> bool {
    let shift = match () {
        () if file.uid == USER => 6,
        () if file.gid == USER => 3,
        () => 0,
    };
    (file.mode >> shift) & bit != 0
}

/// Returns the attributes of a path. Paths that name descriptors refer to the script's numbers.
fn stat(shell: &mut Shell, path: &str, follow: bool) -> Option<FileAttributes> {
    let number = match path {
        "" => return None,
        "/dev/stdin" => Some(0),
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => path.strip_prefix("/dev/fd/").and_then(|n| n.parse::<u32>().ok()),
    };
    match number {
        Some(number) if follow => files::stat_fd(shell.files.get(number)?.raw()?).ok(),
        _ => files::stat(&text::outward(path)?, follow).ok(),
    }
}

/// `-v`: returns true if a variable or element is set.
fn is_set(shell: &mut Shell, operand: &str) -> Result<bool, Stop> {
    let Some(TargetName { name, subscript: Some(subscript) }) = TargetName::parse(operand) else {
        if let Ok(number) = operand.parse::<u32>() {
            return Ok(shell.positional(number).is_some());
        }
        return Ok(shell.variable(operand).is_some_and(|v| v.text().is_some()));
    };
    if matches!(subscript, "@" | "*") {
        return Ok(shell.variable(name).is_some_and(|v| match &v.value {
            Value::Indexed(elements) => !elements.is_empty(),
            Value::Associative(elements) => !elements.is_empty(),
            Value::Scalar(_) => true,
            Value::Unset => false,
        }));
    }
    let key = shell.key_of(name, subscript)?;
    Ok(shell.element(name, key)?.is_some())
}
