//! Permissions as `chmod` takes them: octal digits, or changes such as `u+x`.

/// Applies a text to permission bits, with no umask. `+222` is refused: `find -perm` once had another meaning for it.
pub fn apply(text: &str, mode: u32, is_directory: bool) -> Option<u32> {
    let is_old = text.starts_with('+') && text[1..].starts_with(|c: char| c.is_ascii_digit());
    Mode::parse(text).filter(|_| !is_old).map(|change| change.apply(mode, is_directory, 0))
}

/// Formats permission bits as `ls -l` does, without the file's type.
pub fn letters(mode: u32) -> String {
    let mut letters = String::new();
    for (shift, special, set, both) in [(6, 0o4000, 'S', 's'), (3, 0o2000, 'S', 's'), (0, 0o1000, 'T', 't')] {
        let bits = mode >> shift;
        letters.push(if bits & 4 != 0 { 'r' } else { '-' });
        letters.push(if bits & 2 != 0 { 'w' } else { '-' });
        letters.push(match (mode & special != 0, bits & 1 != 0) {
            (false, false) => '-',
            (false, true) => 'x',
            (true, false) => set,
            (true, true) => both,
        });
    }
    letters
}

/// A change of permission bits.
#[derive(Debug)]
pub struct Mode(Vec<Change>);

#[derive(Debug)]
enum Change {
    /// An octal number, and the bits that a directory keeps unless they are spelled out.
    Octal {
        bits: u32,
        keeps: u32,
    },
    Letters {
        who: u32,
        op: char,
        rights: Rights,
        masked: bool,
    },
}

#[derive(Debug)]
enum Rights {
    /// These bits.
    Bits(u32),
    /// These bits, and execution for a directory or a file that already has an execution bit.
    Search(u32),
    /// The bits that the owner, the group or the others have.
    Copy(u32),
}

const USER: u32 = 0o4700;
const GROUP: u32 = 0o2070;
const OTHER: u32 = 0o1007;
const ALL: u32 = 0o7777;
const SET_ID: u32 = 0o6000;

impl Mode {
    /// Reads a mode. `None` is a text that is no mode.
    pub fn parse(text: &str) -> Option<Mode> {
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            let bits = octal(text)?;
            // With five digits or more, a directory's set-id bits are spelled out.
            let keeps = if text.len() < 5 { SET_ID & !bits } else { 0 };
            return Some(Mode(vec![Change::Octal { bits, keeps }]));
        }
        let mut changes = Vec::new();
        for clause in text.split(',') {
            parse_clause(clause, &mut changes)?;
        }
        Some(Mode(changes))
    }

    /// A mode of exactly these bits.
    pub fn exactly(bits: u32) -> Mode {
        Mode(vec![Change::Octal { bits, keeps: 0 }])
    }

    /// Returns the bits after the change.
    pub fn apply(&self, old: u32, is_directory: bool, umask: u32) -> u32 {
        self.0.iter().fold(old, |old, change| change.apply(old, is_directory, umask))
    }
}

impl Change {
    fn apply(&self, old: u32, is_directory: bool, umask: u32) -> u32 {
        let (who, op, rights, masked) = match self {
            Change::Octal { bits, keeps } => {
                return bits | if is_directory { old & keeps } else { 0 };
            }
            Change::Letters { who, op, rights, masked } => (*who, *op, rights, *masked),
        };
        let bits = match rights {
            Rights::Bits(bits) => *bits,
            Rights::Search(bits) if is_directory || old & 0o111 != 0 => bits | 0o111,
            Rights::Search(bits) => *bits,
            Rights::Copy(from) => {
                let three =
                    old >> match *from {
                        USER => 6,
                        GROUP => 3,
                        _ => 0,
                    } & 0o7;
                three << 6 | three << 3 | three
            }
        };
        // Without `u`, `g`, `o` or `a` the umask limits the bits that change.
        let change = bits & who & if masked { !umask } else { ALL };
        match op {
            '+' => old | change,
            '-' => old & !change,
            _ => {
                let cleared = if masked { ALL } else { who };
                // `=` leaves a directory's set-id bits unless they are named.
                let kept = if is_directory { old & SET_ID & !bits } else { 0 };
                old & !cleared | change | kept & cleared
            }
        }
    }
}

fn parse_clause(clause: &str, changes: &mut Vec<Change>) -> Option<()> {
    let at = clause.find(['+', '-', '='])?;
    let mut who = 0;
    for letter in clause[..at].chars() {
        who |= match letter {
            'u' => USER,
            'g' => GROUP,
            'o' => OTHER,
            'a' => ALL,
            _ => return None,
        };
    }
    let mut rest = &clause[at..];
    while let Some(op) = rest.chars().next() {
        let end = rest[1..].find(['+', '-', '=']).map_or(rest.len(), |found| found + 1);
        let letters = &rest[1..end];
        rest = &rest[end..];
        if letters.starts_with(|c: char| c.is_ascii_digit()) {
            // `+755`: octal after an operator counts for all users, regardless of the umask.
            if who != 0 {
                return None;
            }
            changes.push(Change::Letters { who: ALL, op, rights: Rights::Bits(octal(letters)?), masked: false });
            continue;
        }
        let rights = match letters {
            "u" => Rights::Copy(USER),
            "g" => Rights::Copy(GROUP),
            "o" => Rights::Copy(OTHER),
            letters => {
                let (mut bits, mut search) = (0, false);
                for letter in letters.chars() {
                    match letter {
                        'r' => bits |= 0o444,
                        'w' => bits |= 0o222,
                        'x' => bits |= 0o111,
                        's' => bits |= SET_ID,
                        't' => bits |= 0o1000,
                        'X' => search = true,
                        _ => return None,
                    }
                }
                if search { Rights::Search(bits) } else { Rights::Bits(bits) }
            }
        };
        changes.push(Change::Letters { who: if who == 0 { ALL } else { who }, op, rights, masked: who == 0 });
    }
    Some(())
}

fn octal(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= ALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from GNU coreutils 9.1 with umask 022.
    #[test]
    fn modes_change_as_gnu_changes_them() {
        for (mode, old, directory, new) in [
            ("755", 0o644, false, 0o755),
            ("+x", 0o644, false, 0o755),
            ("u+x", 0o644, false, 0o744),
            ("go-rwx", 0o755, false, 0o700),
            ("a=r", 0o755, false, 0o444),
            ("=r", 0o777, false, 0o444),
            ("=w", 0o777, false, 0o200),
            ("-w", 0o777, false, 0o577),
            ("u=g", 0o654, false, 0o554),
            ("g=u-w", 0o600, false, 0o640),
            ("a+X", 0o644, false, 0o644),
            ("a+X", 0o744, false, 0o755),
            ("a+X", 0o644, true, 0o755),
            ("u+s,g-s", 0o755, false, 0o4755),
            ("o+t", 0o777, true, 0o1777),
            ("+t", 0o777, true, 0o1777),
            ("755", 0o2755, true, 0o2755),
            ("00755", 0o2755, true, 0o755),
            ("g=rx", 0o2775, true, 0o2755),
            ("+111", 0o600, false, 0o711),
            ("u=rw,go=r", 0o777, false, 0o644),
            ("u+", 0o640, false, 0o640),
            ("u=", 0o640, false, 0o040),
        ] {
            let changed = Mode::parse(mode).map(|mode| mode.apply(old, directory, 0o022));
            assert_eq!(changed, Some(new), "{mode} on {old:o}: {:o}", changed.unwrap_or(0));
        }
        for wrong in ["", "zz", "99", "888", "17777", "u", "u+q", "+x,", "u+755", "ug", "a+rwxy"] {
            assert!(Mode::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn changes_start_from_what_is_there() {
        for (text, mode, result) in
            [("600", 0o755, 0o600), ("go-rx", 0o755, 0o700), ("a+X", 0o600, 0o600), ("u+x,a+X", 0o600, 0o711)]
        {
            assert_eq!(apply(text, mode, false), Some(result), "{text}");
        }
        assert_eq!(apply("a+X", 0o600, true), Some(0o711));
        assert_eq!(apply("q", 0o600, false), None);
        assert_eq!(apply("+222", 0o600, false), None);
        assert_eq!(letters(0o7644), "rwSr-Sr-T");
    }
}
