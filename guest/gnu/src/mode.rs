//! Permissions as `chmod` takes them: octal, or what changes.

/// The permission bits that a text makes of others, with no umask.
pub fn apply(text: &str, mode: u32, is_directory: bool) -> Option<u32> {
    octal(text).or_else(|| symbolic(text, mode, is_directory))
}

/// Permission bits as `ls -l` writes them, without the file's type.
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

fn octal(text: &str) -> Option<u32> {
    let is_octal = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    is_octal.then(|| u32::from_str_radix(text, 8).ok()).flatten().filter(|mode| *mode <= 0o7777)
}

fn symbolic(text: &str, mut mode: u32, is_directory: bool) -> Option<u32> {
    for clause in text.split(',') {
        let who_end = clause.find(|c| !"ugoa".contains(c))?;
        let who = clause[..who_end].chars().fold(0, |who, letter| {
            who | match letter {
                'u' => 0o4700,
                'g' => 0o2070,
                'o' => 0o1007,
                _ => 0o7777,
            }
        });
        let who = if who == 0 { 0o7777 } else { who };
        let mut rest = &clause[who_end..];
        while let Some(operator) = rest.chars().next() {
            if !"+-=".contains(operator) {
                return None;
            }
            let end = rest[1..].find(['+', '-', '=']).map_or(rest.len(), |at| at + 1);
            let bits = rights(&rest[1..end], mode, is_directory)? & who;
            mode = match operator {
                '+' => mode | bits,
                '-' => mode & !bits,
                // The sticky bit is nobody's, and `=` leaves a directory's set-id bits.
                _ => mode & !(who & 0o777) | bits,
            };
            rest = &rest[end..];
        }
    }
    Some(mode)
}

fn rights(letters: &str, mode: u32, is_directory: bool) -> Option<u32> {
    // A copy of somebody's rights stands alone.
    let copied = match letters {
        "u" => Some(mode >> 6 & 7),
        "g" => Some(mode >> 3 & 7),
        "o" => Some(mode & 7),
        _ => None,
    };
    if let Some(copied) = copied {
        return Some(copied * 0o111);
    }
    letters.chars().try_fold(0, |bits, letter| {
        Some(
            bits | match letter {
                'r' => 0o444,
                'w' => 0o222,
                'x' => 0o111,
                'X' if is_directory || mode & 0o111 != 0 => 0o111,
                'X' => 0,
                's' => 0o6000,
                't' => 0o1000,
                _ => return None,
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{apply, letters};

    #[test]
    fn changes_start_from_what_is_there() {
        for (text, mode, result) in
            [("600", 0o755, 0o600), ("go-rx", 0o755, 0o700), ("a+X", 0o600, 0o600), ("u+x,a+X", 0o600, 0o711)]
        {
            assert_eq!(apply(text, mode, false), Some(result), "{text}");
        }
        assert_eq!(apply("a+X", 0o600, true), Some(0o711));
        assert_eq!(apply("q", 0o600, false), None);
        assert_eq!(letters(0o7644), "rwSr-Sr-T");
    }
}
