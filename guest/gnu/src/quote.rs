//! Names in messages, quoted as GNU programs do.

use std::borrow::Cow;

/// Quotes a wrong argument for a message, in single quotes.
pub fn plain(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            '\'' => quoted.push_str("\\'"),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => escape(c, &mut quoted),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// Quotes a text so that a shell reads it back, only if need be.
pub fn argument(text: &str) -> String {
    // A colon alone is no reason for quotes.
    if name(&text.replace(':', "")) == text.replace(':', "") && !text.is_empty() {
        text.to_owned()
    } else {
        shell(text)
    }
}

/// Escapes a backslash, control characters and `also` as C does.
pub fn c_escaped(text: &str, also: char) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if c == '\\' || c == also {
            escaped.extend(['\\', c]);
        } else if c.is_control() {
            escape(c, &mut escaped);
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Quotes a name so that a shell reads it back, only if need be. A colon in it needs quotes: one follows the name.
pub fn name(text: &str) -> Cow<'_, str> {
    let special = |(index, c): (usize, char)| match c {
        ' ' | '!' | '"' | '$' | '&' | '(' | ')' | '*' | ';' | '<' | '=' | '>' | '?' | '[' | '^' | '`' | '|' => true,
        '\\' | '\'' | ':' => true,
        '#' | '~' => index == 0,
        '{' | '}' => text.len() == 1,
        c => c.is_control(),
    };
    if text.is_empty() || text.char_indices().any(special) { Cow::Owned(shell(text)) } else { Cow::Borrowed(text) }
}

/// Quotes a text so that a shell reads it back, always.
pub fn shell(text: &str) -> String {
    if text.contains('\'') && text.chars().all(|c| c.is_ascii_alphanumeric() || "%+,-./:@]_ '".contains(c)) {
        return format!("\"{text}\"");
    }
    let mut quoted = String::from("'");
    let mut escaping = false;
    for c in text.chars() {
        if c.is_control() {
            if !escaping {
                quoted.push_str("'$'");
                escaping = true;
            }
            escape(c, &mut quoted);
            continue;
        }
        if escaping {
            quoted.push_str("''");
            escaping = false;
        }
        match c {
            '\'' => quoted.push_str("'\\''"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

fn escape(c: char, quoted: &mut String) {
    let letter = match c {
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        c => {
            for byte in c.to_string().bytes() {
                quoted.push_str(&format!("\\{byte:03o}"));
            }
            return;
        }
    };
    quoted.push('\\');
    quoted.push(letter);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from GNU coreutils 9.1.
    #[test]
    fn names_are_quoted_as_gnu_quotes_them() {
        let cases = [
            ("a", "a", "'a'"),
            ("", "''", "''"),
            ("a b", "'a b'", "'a b'"),
            ("a:b", "'a:b'", "'a:b'"),
            ("it's", "\"it's\"", "\"it's\""),
            ("it's $x", "'it'\\''s $x'", "'it'\\''s $x'"),
            ("a\nb", "'a'$'\\n''b'", "'a'$'\\n''b'"),
            ("\x01", "''$'\\001'", "''$'\\001'"),
            ("#a", "'#a'", "'#a'"),
            ("a#", "a#", "'a#'"),
            ("a{b}", "a{b}", "'a{b}'"),
            ("{", "'{'", "'{'"),
            ("é", "é", "'é'"),
            ("a?", "'a?'", "'a?'"),
        ];
        for (text, if_needed, always) in cases {
            assert_eq!(name(text), if_needed);
            assert_eq!(shell(text), always);
        }
        assert_eq!(plain("it's\n"), "'it\\'s\\n'");
    }
}
