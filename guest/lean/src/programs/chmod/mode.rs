//! Modes as `chmod` reads them: octal, or changes in letters.

/// A change of permission bits.
pub(crate) struct Mode(Vec<Change>);

enum Change {
    /// An octal number; bits that a directory keeps unless they are spelled out.
    Octal {
        bits: u32,
        keeps: u32,
    },
    Letters {
        who: u32,
        op: char,
        what: What,
        masked: bool,
    },
}

enum What {
    /// These bits.
    Bits(u32),
    /// These bits, and execution if it is a directory or somebody has it already.
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
    /// Reads a mode. `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<Mode> {
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

    /// Exactly these bits.
    pub(crate) fn exactly(bits: u32) -> Mode {
        Mode(vec![Change::Octal { bits, keeps: 0 }])
    }

    /// The bits after the change.
    pub(crate) fn apply(&self, old: u32, is_directory: bool, umask: u32) -> u32 {
        self.0.iter().fold(old, |old, change| change.apply(old, is_directory, umask))
    }
}

impl Change {
    fn apply(&self, old: u32, is_directory: bool, umask: u32) -> u32 {
        let (who, op, what, masked) = match self {
            Change::Octal { bits, keeps } => {
                return bits | if is_directory { old & keeps } else { 0 };
            }
            Change::Letters { who, op, what, masked } => (*who, *op, what, *masked),
        };
        let bits = match what {
            What::Bits(bits) => *bits,
            What::Search(bits) if is_directory || old & 0o111 != 0 => bits | 0o111,
            What::Search(bits) => *bits,
            What::Copy(from) => {
                let three =
                    old >> match *from {
                        USER => 6,
                        GROUP => 3,
                        _ => 0,
                    } & 0o7;
                three << 6 | three << 3 | three
            }
        };
        // Without `u`, `g`, `o` or `a` the umask says whose bits change.
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
            // `+755`: octal after an operator, for everybody, and the umask has no say.
            if who != 0 {
                return None;
            }
            changes.push(Change::Letters { who: ALL, op, what: What::Bits(octal(letters)?), masked: false });
            continue;
        }
        let what = match letters {
            "u" => What::Copy(USER),
            "g" => What::Copy(GROUP),
            "o" => What::Copy(OTHER),
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
                if search { What::Search(bits) } else { What::Bits(bits) }
            }
        };
        changes.push(Change::Letters { who: if who == 0 { ALL } else { who }, op, what, masked: who == 0 });
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
}
