//! `env -S`: one string as several arguments, for `#!` lines that need more than one.

use std::mem::take;

/// Replaces every `-S STRING` among the options by the words of the string.
pub(super) fn expand(args: Vec<String>) -> Result<Vec<String>, String> {
    let mut expanded = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let string = match arg.strip_prefix("--") {
            Some(long) => match long.split_once('=') {
                Some((name, value)) if !name.is_empty() && "split-string".starts_with(name) => Some(value.to_owned()),
                None if !long.is_empty() && "split-string".starts_with(long) => args.next(),
                _ => None,
            },
            None => match arg.find('S') {
                Some(at) if arg.starts_with('-') && arg[1..at].bytes().all(|byte| byte == b'i' || byte == b'0') => {
                    if at > 1 {
                        expanded.push(arg[..at].to_owned());
                    }
                    if arg.len() > at + 1 { Some(arg[at + 1..].to_owned()) } else { args.next() }
                }
                _ => None,
            },
        };
        if let Some(string) = string {
            // The words may be options again, but no second `-S`.
            expanded.extend(split(&string)?);
        } else if matches!(arg.as_str(), "-u" | "-C" | "--unset" | "--chdir") {
            expanded.push(arg);
            expanded.extend(args.next());
        } else {
            let is_option = arg.starts_with('-') && arg != "--" && arg != "-";
            expanded.push(arg);
            if is_option {
                continue;
            }
            break;
        }
    }
    expanded.extend(args);
    Ok(expanded)
}

/// Splits a string into words: blanks separate, quotes and backslashes protect, `${NAME}` stands for a variable.
fn split(string: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut in_word) = (Vec::new(), String::new(), false);
    let mut quote = None;
    let mut chars = string.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            ('\'' | '"', None) => (quote, in_word) = (Some(c), true),
            (c, Some(open)) if c == open => quote = None,
            (' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r', None) => {
                if take(&mut in_word) {
                    words.push(take(&mut word));
                }
            }
            ('#', None) if !in_word => break,
            ('\\', Some('\'')) => match chars.next_if(|(_, next)| matches!(next, '\\' | '\'')) {
                Some((_, next)) => word.push(next),
                None => word.push('\\'),
            },
            ('\\', quote) => {
                let Some((_, next)) = chars.next() else {
                    return Err("invalid backslash at end of string in -S".to_owned());
                };
                match next {
                    'c' if quote.is_some() => {
                        return Err("'\\c' must not appear in double-quoted -S string".to_owned());
                    }
                    'c' => break,
                    '_' if quote.is_none() => {
                        if take(&mut in_word) {
                            words.push(take(&mut word));
                        }
                        continue;
                    }
                    '_' => word.push(' '),
                    'f' => word.push('\x0c'),
                    'n' => word.push('\n'),
                    'r' => word.push('\r'),
                    't' => word.push('\t'),
                    'v' => word.push('\x0b'),
                    '"' | '#' | '$' | '\'' | '\\' => word.push(next),
                    other => return Err(format!("invalid sequence '\\{other}' in -S")),
                }
                in_word = true;
            }
            ('$', None | Some('"')) => {
                let name = string[at..].strip_prefix("${").and_then(|rest| rest.split_once('}')).map(|(name, _)| name);
                let Some(name) = name.filter(|name| is_name(name)) else {
                    return Err(format!("only ${{VARNAME}} expansion is supported, error at: {}", &string[at..]));
                };
                if let Ok(value) = std::env::var(name) {
                    word.push_str(&value);
                    in_word = true;
                }
                while chars.next_if(|(_, c)| *c != '}').is_some() {}
                chars.next();
            }
            (c, _) => {
                word.push(c);
                in_word = true;
            }
        }
    }
    if quote.is_some() {
        return Err("no terminating quote in -S string".to_owned());
    }
    if in_word {
        words.push(word);
    }
    Ok(words)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(string: &str) -> Result<String, String> {
        split(string).map(|words| words.join("|"))
    }

    /// Recorded from GNU coreutils 9.1.
    #[test]
    fn strings_split_as_gnu_splits_them() {
        for (string, expected) in [
            ("A=1 \"b c\" \\_ d\\_e", "A=1|b c|d|e"),
            ("a\"b c\"d 'e f'g", "ab cd|e fg"),
            ("echo #c", "echo"),
            ("a#b", "a#b"),
            ("a\\cb d", "a"),
            ("a '' \"\" b", "a|||b"),
            ("'a\\'b\\\\c\\n'", "a'b\\c\\n"),
            ("\"a\\_b\\tc\"", "a b\tc"),
        ] {
            assert_eq!(words(string).as_deref(), Ok(expected), "{string}");
        }
        for wrong in ["'a", "a\\", "a\\q", "$X", "\"a\\c\""] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_options_are_expanded() {
        let expand = |args: &[&str]| expand(args.iter().map(|arg| arg.to_string()).collect()).map(|a| a.join("|"));
        assert_eq!(expand(&["-i", "-S", "a b", "c"]).as_deref(), Ok("-i|a|b|c"));
        assert_eq!(expand(&["-iSa b"]).as_deref(), Ok("-i|a|b"));
        assert_eq!(expand(&["--split=a b", "-S"]).as_deref(), Ok("a|b|-S"));
        assert_eq!(expand(&["-u", "-S", "cmd", "-S", "x y"]).as_deref(), Ok("-u|-S|cmd|-S|x y"));
    }
}
