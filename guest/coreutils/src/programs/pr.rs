//! `pr`: formats files in pages and columns.

use isopod_gnu::moment::Moment;
use isopod_gnu::options::{GivenOption, Opt};
use isopod_gnu::output::Out;
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;
use isopod_gnu::zone::Zone;
use isopod_sys::{Errno, files};

use crate::lines::{Lines, complain};

/// `pr`.
pub(crate) const PROGRAM: Program = Program {
    name: "pr",
    operands: &["[OPTION]... [FILE]..."],
    about: "Paginate or columnate FILE(s) for printing.\n\
            With no FILE, or when FILE is -, read standard input.  +FIRST[:LAST] prints only these pages;\n\
            -COLUMN prints so many columns, filled downwards.",
    syntax: Syntax::Own,
    options: &[
        Opt::long("columns", "output COLUMN columns and print columns down").takes("COLUMN"),
        Opt::long("pages", "begin and stop printing with page FIRST[:LAST]").takes("FIRST[:LAST]"),
        Opt::flag('a', "across", "print columns across rather than down"),
        Opt::flag('d', "double-space", "double space the output"),
        Opt::flag('D', "date-format", "use FORMAT for the header date").takes("FORMAT"),
        Opt::flag('F', "form-feed", "use form feeds instead of newlines to separate pages"),
        Opt::letter('f', "form-feed", "same as -F"),
        Opt::flag('h', "header", "use a centered HEADER instead of filename in page header").takes("HEADER"),
        Opt::flag('l', "length", "set the page length to PAGE_LENGTH (66) lines").takes("PAGE_LENGTH"),
        Opt::flag('m', "merge", "print all files in parallel, one in each column"),
        Opt::flag('n', "number-lines", "number lines, use DIGITS (5) digits, then SEP (TAB)").may_take("SEP[DIGITS]"),
        Opt::flag('N', "first-line-number", "start counting with NUMBER at 1st line of first page").takes("NUMBER"),
        Opt::flag('o', "indent", "offset each line with MARGIN (zero) spaces").takes("MARGIN"),
        Opt::flag('r', "no-file-warnings", "omit warning when a file cannot be opened"),
        Opt::flag('s', "separator", "separate columns by a single character").may_take("CHAR"),
        Opt::flag('t', "omit-header", "omit page headers and trailers"),
        Opt::flag('T', "omit-pagination", "omit page headers and trailers, eliminate form feeds"),
        Opt::number("columns"),
        Opt::flag('w', "width", "set page width to PAGE_WIDTH (72) characters").takes("PAGE_WIDTH"),
    ],
    failure: 1,
    run: |call| run(call).unwrap_or_else(|code| code),
};

/// The options of a run.
struct Settings {
    columns: usize,
    across: bool,
    double: bool,
    form_feed: bool,
    headed: bool,
    /// Lines of text on a page.
    body: usize,
    first: u64,
    last: u64,
    width: usize,
    margin: usize,
    separator: Option<String>,
    numbers: Option<(String, usize)>,
    start: u64,
    date_format: String,
}

fn run(call: &Call) -> Result<u8, u8> {
    let (mut pages, mut rest) = (None, Vec::new());
    for arg in &call.operands {
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        match (arg.strip_prefix('-'), arg.strip_prefix('+')) {
            (_, Some(range)) if is_number(range) => pages = Some(range.to_owned()),
            // `-2t` is a number and letters.
            (Some(mixed), _) if is_number(mixed) => {
                let letters = mixed.trim_start_matches(|c: char| c.is_ascii_digit());
                rest.push(arg[..arg.len() - letters.len()].to_owned());
                rest.extend((!letters.is_empty()).then(|| format!("-{letters}")));
            }
            _ => rest.push(arg.clone()),
        }
    }
    let call = &call.read_operands(rest, true)?;
    let settings = Settings::read(call, pages)?;
    let mut out = Out::new();
    let mut code = 0;
    let operands: Vec<&str> =
        if call.operands.is_empty() { vec!["-"] } else { call.operands.iter().map(String::as_str).collect() };
    let mut inputs = Vec::new();
    for path in operands {
        match read_lines(path) {
            Ok(lines) => inputs.push((path, lines)),
            Err(errno) => {
                if !call.has("no-file-warnings") {
                    complain(call, path, errno);
                }
                code = 1;
            }
        }
    }
    let header = call.value("header");
    if call.has("merge") {
        let rows = inputs.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        let cells = |row: usize| {
            inputs.iter().map(|(_, lines)| Some(lines.get(row).cloned().unwrap_or_default())).collect::<Vec<_>>()
        };
        let all: Vec<Vec<Option<Vec<u8>>>> = (0..rows).map(cells).collect();
        let settings = Settings { columns: inputs.len().max(1), ..settings };
        settings.print(&all, Moment::now(), header.unwrap_or_default(), &mut out);
    } else {
        for (path, lines) in &inputs {
            let found = if *path == "-" { Err(Errno::NoEntry) } else { files::stat(path, true) };
            let moment = found.map_or_else(|_| Moment::now(), |found| Moment::from_nanos(found.modified));
            let title = header.unwrap_or(if *path == "-" { "" } else { path });
            settings.print(&settings.rows(lines), moment, title, &mut out);
        }
    }
    Ok(call.finish(out, code))
}

fn read_lines(path: &str) -> Result<Vec<Vec<u8>>, Errno> {
    let mut lines = Lines::open(path, b'\n')?;
    let mut all = Vec::new();
    while let Some(line) = lines.next()? {
        all.push(line.to_vec());
    }
    Ok(all)
}

impl Settings {
    fn read(call: &Call, pages: Option<String>) -> Result<Settings, u8> {
        let number = |option: &str, text: &str, least: u64| {
            text.parse::<u64>()
                .ok()
                .filter(|number| (least..1 << 30).contains(number))
                .ok_or_else(|| call.failed(&format!("'{option}' invalid number: {}", plain(text))))
        };
        let value = |option: &str, least: u64, default: u64| {
            call.value(option).map_or(Ok(default), |text| number(&format!("--{option}"), text, least))
        };
        let columns = call.value("columns").map_or(Ok(1), |text| number("-COLUMN", text, 1))?;
        let length = value("length", 1, 66)? as usize;
        let form_feed = call.has("form-feed");
        // A page of ten lines or fewer has no room for a header.
        let headed = !call.has("omit-header") && !call.has("omit-pagination") && length > 10;
        let pages = pages.or_else(|| call.value("pages").map(str::to_owned)).unwrap_or_else(|| "1".to_owned());
        let (first, last) = pages.split_once(':').map_or((pages.as_str(), None), |(first, last)| (first, Some(last)));
        let numbers = call.options.iter().rev().find(|GivenOption { option, .. }| *option == "number-lines");
        let numbers = numbers.map(|found| {
            let text = found.value.as_deref().unwrap_or_default();
            let split = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
            let (separator, digits) = text.split_at(split);
            let separator = if separator.is_empty() { "\t" } else { separator };
            (separator.to_owned(), digits.parse().ok().filter(|digits| (1..100).contains(digits)).unwrap_or(5))
        });
        let merged = call.has("merge");
        if numbers.is_some() && (columns > 1 || merged) {
            return Err(call.failed("unsupported: -n with columns"));
        }
        if merged && columns > 1 {
            return Err(call.failed("cannot specify number of columns when printing in parallel"));
        }
        if merged && call.has("across") {
            return Err(call.failed("cannot specify both printing across and printing in parallel"));
        }
        let separator = call.options.iter().rev().find(|found| found.option == "separator");
        let body = if headed { length - if form_feed { 5 } else { 10 } } else { length };
        Ok(Settings {
            columns: columns as usize,
            across: call.has("across"),
            double: call.has("double-space"),
            form_feed,
            headed,
            body: if call.has("double-space") { (body / 2).max(1) } else { body },
            first: number("+PAGE", first, 1)?,
            last: last.map_or(Ok(u64::MAX), |text| number("+PAGE", text, 1))?,
            width: value("width", 1, 72)? as usize,
            margin: value("indent", 0, 0)? as usize,
            separator: separator.map(|found| found.value.clone().unwrap_or_else(|| "\t".to_owned())),
            numbers,
            start: value("first-line-number", 0, 1)?,
            date_format: call.value("date-format").unwrap_or("%Y-%m-%d %H:%M").to_owned(),
        })
    }

    /// Lays lines out in rows, page by page, down the columns or across.
    fn rows(&self, lines: &[Vec<u8>]) -> Vec<Vec<Option<Vec<u8>>>> {
        let mut rows = Vec::new();
        for page in lines.chunks(self.body * self.columns) {
            if self.across || self.columns == 1 {
                rows.extend(page.chunks(self.columns).map(|row| row.iter().cloned().map(Some).collect()));
                continue;
            }
            // The last page is balanced: the first columns have one line more.
            let (each, more) = (page.len() / self.columns, page.len() % self.columns);
            let height = each + usize::from(more > 0);
            for row in 0..height {
                let cell = |column: usize| {
                    let start = column * each + column.min(more);
                    let length = each + usize::from(column < more);
                    (row < length).then(|| page[start + row].clone())
                };
                rows.push((0..self.columns).map(cell).collect());
            }
        }
        rows
    }

    fn print(&self, rows: &[Vec<Option<Vec<u8>>>], moment: Moment, title: &str, out: &mut Out) {
        let mut line = self.start;
        for (index, page) in rows.chunks(self.body).enumerate() {
            let number = index as u64 + 1;
            let shown = (self.first..=self.last).contains(&number);
            if !shown {
                line += page.len() as u64;
                continue;
            }
            if self.headed {
                out.push(self.header(moment, title, number).as_bytes());
            }
            for row in page {
                self.row(row, line, out);
                line += 1;
                if self.double {
                    out.byte(b'\n');
                }
            }
            if self.headed && self.form_feed {
                out.byte(0x0c);
            } else if self.headed {
                let left = (self.body - page.len()) * if self.double { 2 } else { 1 };
                out.push("\n".repeat(left + 5).as_bytes());
            }
        }
    }

    fn header(&self, moment: Moment, title: &str, page: u64) -> String {
        let date = moment.format(&self.date_format, &Zone::local());
        let page = format!("Page {page}");
        let gap = self.width.saturating_sub(date.len() + page.len() + title.chars().count());
        let left = gap / 2;
        let margin = " ".repeat(self.margin);
        format!("{margin}\n\n{margin}{date}{}{title}{}{page}\n\n\n", " ".repeat(left), " ".repeat(gap - left))
    }

    fn row(&self, row: &[Option<Vec<u8>>], number: u64, out: &mut Out) {
        out.push(" ".repeat(self.margin).as_bytes());
        if row.len() == 1 && self.columns == 1 {
            if let Some((separator, digits)) = &self.numbers {
                let text = format!("{number:>digits$}");
                // A number that is too long loses its first digits.
                out.push(&text.as_bytes()[text.len() - digits..]);
                out.push(separator.as_bytes());
            }
            row[0].iter().for_each(|cell| out.push(cell));
            out.byte(b'\n');
            return;
        }
        if let Some(separator) = &self.separator {
            let last = row.iter().rposition(Option::is_some).unwrap_or(0);
            for (index, cell) in row[..=last].iter().enumerate() {
                if index > 0 {
                    out.push(separator.as_bytes());
                }
                cell.iter().for_each(|cell| out.push(cell));
            }
            out.byte(b'\n');
            return;
        }
        let width = (self.width.saturating_sub(self.columns - 1) / self.columns).max(1);
        let mut position = self.margin;
        for (index, cell) in row.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let mut goal = self.margin + index * (width + 1);
            gap(&mut position, goal, out);
            for c in untabbed(cell, width).chars() {
                goal += 1;
                // Blanks are held back until another character follows, and become tabs if possible.
                if c != ' ' {
                    gap(&mut position, goal - 1, out);
                    out.push(c.encode_utf8(&mut [0; 4]).as_bytes());
                    position += 1;
                }
            }
        }
        out.byte(b'\n');
    }
}

/// Returns a cell with its tabs expanded, cut to the width of its column.
fn untabbed(cell: &[u8], width: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for c in String::from_utf8_lossy(cell).chars() {
        let next = if c == '\t' { column / 8 * 8 + 8 } else { column + 1 };
        if next > width && c != '\t' {
            break;
        }
        if c == '\t' {
            text.push_str(&" ".repeat(next.min(width) - column.min(width)));
        } else {
            text.push(c);
        }
        column = next;
    }
    text
}

/// Goes to a column with tabs and then blanks.
fn gap(position: &mut usize, goal: usize, out: &mut Out) {
    while goal.saturating_sub(*position) > 1 && *position / 8 * 8 + 8 <= goal {
        out.byte(b'\t');
        *position = *position / 8 * 8 + 8;
    }
    while *position < goal {
        out.byte(b' ');
        *position += 1;
    }
}
