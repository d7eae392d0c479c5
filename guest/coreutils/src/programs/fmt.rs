//! `fmt`: fills paragraphs to lines of about the same length.

use isopod_gnu::input::Input;
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_sys::Errno;

use crate::lines::each_input;

/// `fmt`.
pub(crate) const PROGRAM: Program = Program {
    name: "fmt",
    operands: &["[-WIDTH] [OPTION]... [FILE]..."],
    about: "Reformat each paragraph in the FILE(s), writing to standard output.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Own,
    options: &[
        Opt::flag('c', "crown-margin", "preserve indentation of first two lines"),
        Opt::flag('p', "prefix", "reformat only lines beginning with STRING").takes("STRING"),
        Opt::flag('s', "split-only", "split long lines, but do not refill"),
        Opt::flag('t', "tagged-paragraph", "indentation of first line different from second"),
        Opt::flag('u', "uniform-spacing", "one space between words, two after sentences"),
        Opt::flag('w', "width", "maximum line width (default of 75 columns)").takes("WIDTH"),
        Opt::flag('g', "goal", "goal width (default of 93% of width)").takes("WIDTH"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// GNU's limit: a longer paragraph is set in parts, and the output shows it.
const MOST_BYTES: usize = 5000;
const MOST_WORDS: usize = 1000;

/// The cost of a line in GNU's units: the square of its badness.
const LINE: i64 = 70 * 70;
const SENTENCE: i64 = 50 * 50;
const NO_BREAK: i64 = 600 * 600;
const PAREN: i64 = 40 * 40;
const PUNCTUATION: i64 = 40 * 40;
const CREDIT: i64 = 3 * 3;

fn short(columns: i64) -> i64 {
    (columns * 10) * (columns * 10)
}

fn run(call: &Call) -> Result<u8, u8> {
    let mut operands = call.operands.clone();
    // Only the first argument may be a width without a letter.
    let mut width_text = None;
    if let Some(digits) = operands.first().and_then(|first| first.strip_prefix('-'))
        && digits.starts_with(|c: char| c.is_ascii_digit())
    {
        width_text = Some(digits.to_owned());
        operands.remove(0);
    }
    let call = &call.read_operands(operands, true)?;
    let mut goal_text = None;
    for GivenOption { option, value } in &call.options {
        match *option {
            "width" => width_text = value.clone(),
            "goal" => goal_text = value.clone(),
            _ => {}
        }
    }
    let number = |text: &str, most: i64| {
        let wrong = |why: &str| call.failed(&format!("invalid width: {}{why}", plain(text)));
        match text.parse::<i64>() {
            Ok(number) if (0..=most).contains(&number) => Ok(number),
            Ok(number) if number > most => Err(wrong(": Numerical result out of range")),
            _ => Err(wrong("")),
        }
    };
    let mut width = 75;
    if let Some(text) = &width_text {
        width = number(text, MOST_BYTES as i64 / 2)?;
    }
    let goal = match &goal_text {
        Some(text) => {
            let goal = number(text, if width_text.is_some() { width } else { MOST_BYTES as i64 / 2 })?;
            if width_text.is_none() {
                width = goal + 10;
            }
            goal
        }
        None => width * (2 * (100 - 7) + 1) / 200,
    };
    let prefix = call.value("prefix").unwrap_or_default();
    let bare = prefix.trim_start_matches(' ');
    let mut out = Out::new();
    let code = each_input(call, |input| {
        let mut setter = Setter {
            width,
            goal,
            crown: call.has("crown-margin"),
            tagged: call.has("tagged-paragraph"),
            split: call.has("split-only"),
            uniform: call.has("uniform-spacing"),
            prefix: bare.trim_end_matches(' ').as_bytes().to_vec(),
            prefix_lead: prefix.len() as i64 - bare.len() as i64,
            prefix_full: bare.len() as i64,
            source: Source { input, piece: Vec::new(), at: 0 },
            tabs: false,
            in_column: 0,
            out_column: 0,
            next_prefix_indent: 0,
            prefix_indent: 0,
            first_indent: 0,
            other_indent: 0,
            last_length: 0,
            words: Vec::new(),
            bytes: 0,
            out: &mut out,
        };
        setter.run()
    });
    Ok(call.finish(out, code))
}

/// Bytes, one by one.
struct Source {
    input: Input,
    piece: Vec<u8>,
    at: usize,
}

impl Source {
    fn next(&mut self) -> Result<Option<u8>, Errno> {
        if self.at == self.piece.len() {
            self.piece = self.input.read()?;
            self.at = 0;
            if self.piece.is_empty() {
                return Ok(None);
            }
        }
        self.at += 1;
        Ok(Some(self.piece[self.at - 1]))
    }
}

#[derive(Default)]
struct Word {
    text: Vec<u8>,
    /// The columns of the blanks after it.
    space: i64,
    paren: bool,
    period: bool,
    punctuation: bool,
    last_of_sentence: bool,
    line_length: i64,
    best_cost: i64,
    next_break: usize,
}

struct Setter<'a> {
    width: i64,
    goal: i64,
    crown: bool,
    tagged: bool,
    split: bool,
    uniform: bool,
    prefix: Vec<u8>,
    prefix_lead: i64,
    prefix_full: i64,
    source: Source,
    /// The input indents with tabs, so the output does too.
    tabs: bool,
    in_column: i64,
    out_column: i64,
    next_prefix_indent: i64,
    prefix_indent: i64,
    first_indent: i64,
    other_indent: i64,
    last_length: i64,
    words: Vec<Word>,
    bytes: usize,
    out: &'a mut Out,
}

impl Setter<'_> {
    fn run(&mut self) -> Result<(), Errno> {
        let mut next = self.read_prefix()?;
        while self.read_paragraph(&mut next)? {
            self.choose_breaks();
            self.put_paragraph(self.words.len());
            if self.out.has_failed() {
                break;
            }
        }
        Ok(())
    }

    /// Reads the blanks at the start of a line and the prefix, and returns the next byte.
    fn read_prefix(&mut self) -> Result<Option<u8>, Errno> {
        self.in_column = 0;
        let first = self.source.next()?;
        let mut c = self.read_space(first)?;
        if self.prefix.is_empty() {
            self.next_prefix_indent = self.prefix_lead.min(self.in_column);
            return Ok(c);
        }
        self.next_prefix_indent = self.in_column;
        for index in 0..self.prefix.len() {
            if c != Some(self.prefix[index]) {
                return Ok(c);
            }
            self.in_column += 1;
            c = self.source.next()?;
        }
        self.read_space(c)
    }

    fn read_space(&mut self, mut c: Option<u8>) -> Result<Option<u8>, Errno> {
        loop {
            match c {
                Some(b' ') => self.in_column += 1,
                Some(b'\t') => {
                    self.tabs = true;
                    self.in_column = (self.in_column / 8 + 1) * 8;
                }
                other => return Ok(other),
            }
            c = self.source.next()?;
        }
    }

    fn read_paragraph(&mut self, next: &mut Option<u8>) -> Result<bool, Errno> {
        self.last_length = 0;
        let mut c = *next;
        // Empty lines and those without the prefix are copied.
        while matches!(c, None | Some(b'\n'))
            || self.next_prefix_indent < self.prefix_lead
            || self.in_column < self.next_prefix_indent + self.prefix_full
        {
            c = self.copy_rest(c)?;
            if c.is_none() {
                *next = None;
                return Ok(false);
            }
            self.out.byte(b'\n');
            c = self.read_prefix()?;
        }
        self.prefix_indent = self.next_prefix_indent;
        self.first_indent = self.in_column;
        self.words.clear();
        self.bytes = 0;
        c = self.read_line(c)?;
        self.set_other_indent(self.is_same_paragraph(c));
        if self.split {
            // A line is a paragraph of its own.
        } else if self.crown || self.tagged {
            if self.is_same_paragraph(c) && (self.crown || self.in_column != self.first_indent) {
                loop {
                    c = self.read_line(c)?;
                    if !(self.is_same_paragraph(c) && self.in_column == self.other_indent) {
                        break;
                    }
                }
            }
        } else {
            while self.is_same_paragraph(c) && self.in_column == self.other_indent {
                c = self.read_line(c)?;
            }
        }
        if let Some(last) = self.words.last_mut() {
            (last.period, last.last_of_sentence) = (true, true);
        }
        *next = c;
        Ok(true)
    }

    fn copy_rest(&mut self, mut c: Option<u8>) -> Result<Option<u8>, Errno> {
        self.out_column = 0;
        let has_text = !matches!(c, None | Some(b'\n'));
        if self.in_column > self.next_prefix_indent || has_text {
            self.put_space(self.next_prefix_indent);
            let mut index = 0;
            while self.out_column != self.in_column && index < self.prefix.len() {
                self.out.byte(self.prefix[index]);
                (index, self.out_column) = (index + 1, self.out_column + 1);
            }
            if has_text {
                self.put_space(self.in_column - self.out_column);
            }
            if c.is_none() && self.in_column >= self.next_prefix_indent + self.prefix.len() as i64 {
                self.out.byte(b'\n');
            }
        }
        while let Some(byte) = c.filter(|byte| *byte != b'\n') {
            self.out.byte(byte);
            c = self.source.next()?;
        }
        Ok(c)
    }

    fn is_same_paragraph(&self, c: Option<u8>) -> bool {
        self.next_prefix_indent == self.prefix_indent
            && self.in_column >= self.next_prefix_indent + self.prefix_full
            && !matches!(c, None | Some(b'\n'))
    }

    fn set_other_indent(&mut self, same: bool) {
        self.other_indent = match () {
            () if self.split => self.first_indent,
            () if self.crown => {
                if same {
                    self.in_column
                } else {
                    self.first_indent
                }
            }
            () if self.tagged && same && self.in_column != self.first_indent => self.in_column,
            // A paragraph of one line has the indent of the last paragraph, unless that is the first line's too.
            () if self.tagged && self.other_indent == self.first_indent => {
                if self.first_indent == 0 {
                    3
                } else {
                    0
                }
            }
            () if self.tagged => self.other_indent,
            () => self.first_indent,
        };
    }

    /// Reads the words of a line and returns the first byte of the next one.
    fn read_line(&mut self, mut c: Option<u8>) -> Result<Option<u8>, Errno> {
        loop {
            let mut word = Word::default();
            while let Some(byte) = c {
                if self.bytes == MOST_BYTES {
                    self.set_other_indent(true);
                    self.flush(&mut word);
                }
                word.text.push(byte);
                self.bytes += 1;
                c = self.source.next()?;
                if c.is_some_and(is_space) {
                    break;
                }
            }
            self.in_column += word.text.len() as i64;
            word.classify();
            let start = self.in_column;
            c = self.read_space(c)?;
            word.space = self.in_column - start;
            let ends = matches!(c, None | Some(b'\n'));
            word.last_of_sentence = c.is_none() || word.period && (ends || word.space > 1);
            if ends || self.uniform {
                word.space = if word.last_of_sentence { 2 } else { 1 };
            }
            if self.words.len() == MOST_WORDS - 2 {
                self.set_other_indent(true);
                self.flush(&mut Word::default());
            }
            self.words.push(word);
            if ends {
                return self.read_prefix();
            }
        }
    }

    /// Sets the first part of a paragraph that is too long, up to a good break.
    fn flush(&mut self, current: &mut Word) {
        if self.words.is_empty() {
            self.out.push(&current.text);
            self.bytes = 0;
            current.text.clear();
            return;
        }
        self.choose_breaks();
        let end = self.words.len();
        let cost = |words: &[Word], at: usize| if at == end { 0 } else { words[at].best_cost };
        let (mut split, mut best) = (end, i64::MAX / 2);
        let mut at = self.words[0].next_break;
        while at != end {
            let here = cost(&self.words, at) - cost(&self.words, self.words[at].next_break);
            if here < best {
                (split, best) = (at, here);
            }
            best += CREDIT;
            at = self.words[at].next_break;
        }
        self.put_paragraph(split);
        self.words.drain(..split);
        self.bytes = self.words.iter().map(|word| word.text.len()).sum::<usize>() + current.text.len();
    }

    fn choose_breaks(&mut self) {
        let end = self.words.len();
        for start in (0..end).rev() {
            let mut best = i64::MAX;
            let mut length = if start == 0 { self.first_indent } else { self.other_indent };
            length += self.words[start].text.len() as i64;
            let mut next = start;
            loop {
                next += 1;
                let mut cost = self.line_cost(next, length);
                if start == 0 && self.last_length > 0 {
                    cost += short(length - self.last_length) / 2;
                }
                if cost < best {
                    best = cost;
                    (self.words[start].next_break, self.words[start].line_length) = (next, length);
                }
                if next == end {
                    break;
                }
                length += self.words[next - 1].space + self.words[next].text.len() as i64;
                if length >= self.width {
                    break;
                }
            }
            self.words[start].best_cost = best + self.base_cost(start);
        }
    }

    /// Returns the cost of a line of this length that ends before a word, with all lines after it.
    fn line_cost(&self, next: usize, length: i64) -> i64 {
        let Some(word) = self.words.get(next) else { return 0 };
        let mut cost = short(self.goal - length);
        if word.next_break != self.words.len() {
            cost += short(length - word.line_length) / 2;
        }
        cost + word.best_cost
    }

    /// Returns the cost of a line that begins with a word.
    fn base_cost(&self, at: usize) -> i64 {
        let word = &self.words[at];
        let mut cost = LINE;
        if at > 0 {
            let before = &self.words[at - 1];
            if before.period {
                cost += if before.last_of_sentence { -SENTENCE } else { NO_BREAK };
            } else if before.punctuation {
                cost -= PUNCTUATION;
            } else if at > 1 && self.words[at - 2].last_of_sentence {
                cost += 200 * 200 / (before.text.len() as i64 + 2);
            }
        }
        if word.paren {
            cost -= PAREN;
        } else if word.last_of_sentence {
            cost += 150 * 150 / (word.text.len() as i64 + 2);
        }
        cost
    }

    fn put_paragraph(&mut self, end: usize) {
        let mut start = 0;
        while start != end {
            let indent = if start == 0 { self.first_indent } else { self.other_indent };
            let next = self.words[start].next_break;
            self.put_line(start, next, indent);
            start = next;
        }
    }

    fn put_line(&mut self, start: usize, end: usize, indent: i64) {
        self.out_column = 0;
        self.put_space(self.prefix_indent);
        self.out.push(&self.prefix);
        self.out_column += self.prefix.len() as i64;
        self.put_space(indent - self.out_column);
        for at in start..end {
            self.out.push(&self.words[at].text);
            self.out_column += self.words[at].text.len() as i64;
            if at + 1 < end {
                self.put_space(self.words[at].space);
            }
        }
        self.last_length = self.out_column;
        self.out.byte(b'\n');
    }

    fn put_space(&mut self, count: i64) {
        let target = self.out_column + count;
        if self.tabs {
            let tab_target = target / 8 * 8;
            if self.out_column + 1 < tab_target {
                while self.out_column < tab_target {
                    self.out.byte(b'\t');
                    self.out_column = (self.out_column / 8 + 1) * 8;
                }
            }
        }
        while self.out_column < target {
            self.out.byte(b' ');
            self.out_column += 1;
        }
    }
}

impl Word {
    /// Sets the flags for the characters that the word begins and ends with.
    fn classify(&mut self) {
        let (Some(first), Some(last)) = (self.text.first(), self.text.last()) else { return };
        self.paren = b"(['`\"".contains(first);
        self.punctuation = last.is_ascii_punctuation();
        let end = self.text.iter().rposition(|byte| !b")]'\"".contains(byte)).unwrap_or(0);
        self.period = b".?!".contains(&self.text[end]);
    }
}

fn is_space(byte: u8) -> bool {
    byte == b' ' || (9..=13).contains(&byte)
}
