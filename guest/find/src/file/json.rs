//! Recognition of JSON, without recursion: nesting is kept in a list.

/// The number of JSON values in a text.
#[derive(Debug, PartialEq)]
pub(super) enum Json {
    /// One value.
    One,
    /// Several values, one a line.
    Lines,
}

/// Returns the kind of a text that is an object or an array, or several of them, one a line.
pub(super) fn parse(text: &[u8]) -> Option<Json> {
    let mut reader = Reader { text, at: 0 };
    let mut count = 0;
    loop {
        reader.blanks();
        if reader.at == text.len() {
            break;
        }
        if count > 0 && text[..reader.at].last() != Some(&b'\n') {
            return None;
        }
        // A number or a string alone is text like any other.
        if !matches!(reader.peek(), Some(b'{' | b'[')) {
            return None;
        }
        reader.value()?;
        count += 1;
    }
    match count {
        0 => None,
        1 => Some(Json::One),
        _ => Some(Json::Lines),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek() == Some(wanted)).then(|| self.at += 1)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads a whole value with everything in it.
    fn value(&mut self) -> Option<()> {
        let mut open = Vec::new();
        loop {
            self.blanks();
            match self.peek()? {
                b'{' => {
                    self.at += 1;
                    self.blanks();
                    if self.take(b'}').is_none() {
                        self.key()?;
                        open.push(b'}');
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    self.blanks();
                    if self.take(b']').is_none() {
                        open.push(b']');
                        continue;
                    }
                }
                b'"' => self.string()?,
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => self.number()?,
            }
            // The end of a value may be the end of the containers it is in.
            loop {
                let Some(end) = open.last().copied() else {
                    return Some(());
                };
                self.blanks();
                if self.take(end).is_some() {
                    open.pop();
                    continue;
                }
                self.take(b',')?;
                if end == b'}' {
                    self.blanks();
                    self.key()?;
                }
                break;
            }
        }
    }

    fn key(&mut self) -> Option<()> {
        self.string()?;
        self.blanks();
        self.take(b':')
    }

    fn string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 2,
                0..0x20 => return None,
                _ => self.at += 1,
            }
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let found = self.text.get(self.at..self.at + word.len()) == Some(word);
        found.then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        let digits = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let count = self.text[self.at..].iter().take_while(|byte| digits(byte)).count();
        let text = std::str::from_utf8(&self.text[self.at..self.at + count]).ok()?;
        text.parse::<f64>().ok()?;
        self.at += count;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_told_from_text() {
        for text in ["{}", "[]", "{\"a\": [1, 2.5e3, true, null, \"x\\n\"]} \n", "[[[]],{}]"] {
            assert_eq!(parse(text.as_bytes()), Some(Json::One), "{text}");
        }
        assert_eq!(parse(b"{\"a\":1}\n{\"b\":2}\n"), Some(Json::Lines));
        for text in ["", "12", "\"s\"", "{", "[1,2", "{\"a\": }", "{a: 1}", "[1,]", "{} x", "{}{}"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse("[".repeat(1 << 20).as_bytes()), None);
    }
}
