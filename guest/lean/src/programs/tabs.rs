//! `expand` and `unexpand`: tabs to spaces and back.

use isopod_sys::text;

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::options::Opt;
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote;

/// `expand`.
pub(crate) const EXPAND: Program = Program {
    name: "expand",
    operands: &["[OPTION]... [FILE]..."],
    about: "Convert tabs in each FILE to spaces, writing to standard output.\n\
            With no FILE, or when FILE is -, read standard input.",
    syntax: Syntax::Own,
    options: &[
        Opt::flag('i', "initial", "do not convert tabs after non blanks"),
        Opt::flag('t', "tabs", "have tabs N characters apart, not 8, or at the positions of a comma separated LIST")
            .takes("N|LIST"),
    ],
    failure: 1,
    run: |call| run(call, false).unwrap_or_else(|code| code),
};

/// `unexpand`.
pub(crate) const UNEXPAND: Program = Program {
    name: "unexpand",
    about: "Convert blanks in each FILE to tabs, writing to standard output.\n\
            With no FILE, or when FILE is -, read standard input.",
    options: &[
        Opt::flag('a', "all", "convert all blanks, instead of just initial blanks"),
        Opt::long("first-only", "convert only leading sequences of blanks (overrides -a)"),
        Opt::flag('t', "tabs", "have tabs N characters apart, or at the positions of a LIST (enables -a)")
            .takes("N|LIST"),
    ],
    run: |call| run(call, true).unwrap_or_else(|code| code),
    ..EXPAND
};

/// Tab stops.
struct Stops {
    /// Positions, in order.
    listed: Vec<u64>,
    /// After the last position, every so many columns, counted from the line's start or from that position.
    every: Option<u64>,
    from_last: bool,
}

fn run(call: &Call, reverse: bool) -> Result<u8, u8> {
    let mut operands = call.operands.clone();
    spell_out(&mut operands);
    let call = call.read_operands(operands, true)?;
    let lists: Vec<&str> =
        call.options.iter().filter(|found| found.option == "tabs").filter_map(|found| found.value.as_deref()).collect();
    let stops = Stops::parse(&lists.join(",")).map_err(|message| {
        call.complain(&message);
        1
    })?;
    let all =
        if reverse { (call.has("all") || call.has("tabs")) && !call.has("first-only") } else { !call.has("initial") };
    let mut line = Line { stops: &stops, reverse, all, column: 0, blanks_from: None, in_text: false, out: Out::new() };
    let mut code = 0;
    for path in or_standard_input(&call.operands) {
        let result = Input::open(path).and_then(|input| {
            loop {
                let piece = input.read()?;
                if piece.is_empty() || line.out.has_failed() {
                    return Ok(());
                }
                for &byte in &piece {
                    line.byte(byte);
                }
                if line.blanks_from.is_none() {
                    line.out.flush();
                }
            }
        });
        if let Err(errno) = result {
            call.complain(&format!("{}: {}", quote::name(path), text(errno)));
            code = 1;
        }
    }
    line.end_blanks(false);
    Ok(call.finish(line.out, code))
}

/// `-4` stands for `-t 4`, `-2,6` for `-t 2,6`.
fn spell_out(args: &mut [String]) {
    for arg in args.iter_mut().take_while(|arg| *arg != "--") {
        if let Some(digits) = arg.strip_prefix('-')
            && digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.chars().all(|c| c.is_ascii_digit() || c == ',')
        {
            *arg = format!("-t{digits}");
        }
    }
}

impl Stops {
    fn parse(list: &str) -> Result<Stops, String> {
        let mut stops = Stops { listed: Vec::new(), every: None, from_last: false };
        for word in list.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
            let (digits, mark) = match word.chars().next() {
                Some(mark @ ('/' | '+')) => (&word[1..], Some(mark)),
                _ => (word, None),
            };
            if stops.every.is_some() {
                return Err("'/' specifier only allowed with the last value".to_owned());
            }
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.is_empty() {
                return Err(format!("tab size contains invalid character(s): {}", quote::plain(word)));
            }
            let number =
                digits.parse::<u64>().map_err(|_| format!("tab stop is too large {}", quote::plain(digits)))?;
            if number == 0 {
                return Err("tab size cannot be 0".to_owned());
            }
            match mark {
                Some(mark) => (stops.every, stops.from_last) = (Some(number), mark == '+'),
                None if stops.listed.last().is_some_and(|last| *last >= number) => {
                    return Err("tab sizes must be ascending".to_owned());
                }
                None => stops.listed.push(number),
            }
        }
        if stops.listed.len() < 2 && stops.every.is_none() {
            // One number is a distance, and none is eight.
            stops.every = Some(stops.listed.pop().unwrap_or(8));
        }
        Ok(stops)
    }

    /// Returns the first stop after a column. `None` after the last of a list.
    fn after(&self, column: u64) -> Option<u64> {
        let listed = self.listed.iter().find(|stop| **stop > column).copied();
        listed.or_else(|| {
            let every = self.every?;
            let origin = if self.from_last { self.listed.last().copied().unwrap_or(0) } else { 0 };
            Some(origin + ((column - origin) / every + 1) * every)
        })
    }
}

/// The position of the input in a line.
struct Line<'a> {
    stops: &'a Stops,
    reverse: bool,
    all: bool,
    column: u64,
    /// The column of the first blank that is not written yet.
    blanks_from: Option<u64>,
    in_text: bool,
    out: Out,
}

impl Line<'_> {
    fn byte(&mut self, byte: u8) {
        let converts = self.all || !self.in_text;
        match byte {
            b'\n' => {
                self.end_blanks(false);
                self.out.byte(byte);
                (self.column, self.in_text) = (0, false);
            }
            b'\t' | b' ' if converts && self.reverse => {
                self.blanks_from.get_or_insert(self.column);
                match self.stops.after(self.column) {
                    Some(stop) if byte == b'\t' => {
                        self.column = stop;
                        self.end_blanks(true);
                    }
                    Some(_) => self.column += 1,
                    // After the last stop nothing is converted.
                    None => {
                        self.end_blanks(false);
                        self.in_text = true;
                        self.out.byte(byte);
                        self.column += 1;
                    }
                }
            }
            b'\t' if converts => {
                let stop = self.stops.after(self.column).unwrap_or(self.column + 1);
                for _ in self.column..stop {
                    self.out.byte(b' ');
                }
                self.column = stop;
            }
            b'\x08' => {
                self.end_blanks(false);
                self.out.byte(byte);
                self.column = self.column.saturating_sub(1);
                self.in_text = true;
            }
            byte => {
                self.end_blanks(false);
                self.out.byte(byte);
                self.column += 1;
                self.in_text |= !matches!(byte, b' ' | b'\t');
            }
        }
    }

    /// Writes the blanks up to here, with tabs where they reach a stop. A single blank before a stop stays one,
    /// unless blanks go on after it or it was a tab.
    fn end_blanks(&mut self, with_tab: bool) {
        let Some(mut at) = self.blanks_from.take() else { return };
        while let Some(stop) = self.stops.after(at).filter(|stop| *stop <= self.column) {
            let goes_on = stop < self.column || with_tab;
            self.out.byte(if stop - at > 1 || goes_on { b'\t' } else { b' ' });
            at = stop;
        }
        for _ in at..self.column {
            self.out.byte(b' ');
        }
    }
}
