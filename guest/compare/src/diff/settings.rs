//! The options of `diff`.

use std::rc::Rc;

use isopod_gnu::options::Opt;
use isopod_gnu::pattern::Pattern;
use isopod_gnu::program::Call;
use isopod_gnu::quote;
use isopod_regex::{Flags, Regex, Syntax};

use crate::lines::{Rules, Whitespace};

pub(super) const OPTIONS: &[Opt] = &[
    Opt::long("normal", "output a normal diff (the default)"),
    Opt::flag('q', "brief", "report only when files differ"),
    Opt::flag('s', "report-identical-files", "report when two files are the same"),
    Opt::letter('c', "c", "output 3 lines of copied context"),
    Opt::letter('C', "context", "output NUM lines of copied context").takes("NUM"),
    Opt::long("context", "output NUM (default 3) lines of copied context").may_take("NUM"),
    Opt::letter('u', "u", "output 3 lines of unified context"),
    Opt::letter('U', "unified", "output NUM lines of unified context").takes("NUM"),
    Opt::long("unified", "output NUM (default 3) lines of unified context").may_take("NUM"),
    Opt::flag('e', "ed", "output an ed script"),
    Opt::flag('n', "rcs", "output an RCS format diff"),
    Opt::flag('y', "side-by-side", "output in two columns"),
    Opt::flag('W', "width", "output at most NUM (default 130) print columns").takes("NUM"),
    Opt::long("left-column", "output only the left column of common lines"),
    Opt::long("suppress-common-lines", "do not output common lines"),
    Opt::flag('p', "show-c-function", "show which C function each change is in"),
    Opt::flag('F', "show-function-line", "show the most recent line matching RE").takes("RE"),
    Opt::flag('L', "label", "use LABEL instead of file name and timestamp (can be repeated)").takes("LABEL"),
    Opt::flag('t', "expand-tabs", "expand tabs to spaces in output"),
    Opt::flag('T', "initial-tab", "make tabs line up by prepending a tab"),
    Opt::long("tabsize", "tab stops every NUM (default 8) print columns").takes("NUM"),
    Opt::long("suppress-blank-empty", "suppress space or tab before empty output lines"),
    Opt::flag('r', "recursive", "recursively compare any subdirectories found"),
    Opt::long("no-dereference", "don't follow symbolic links"),
    Opt::flag('N', "new-file", "treat absent files as empty"),
    Opt::letter('P', "unidirectional-new-file", ""),
    Opt::long("unidirectional-new-file", "treat absent first files as empty"),
    Opt::long("ignore-file-name-case", "ignore case when comparing file names"),
    Opt::long("no-ignore-file-name-case", "consider case when comparing file names"),
    Opt::flag('x', "exclude", "exclude files that match PAT").takes("PAT"),
    Opt::flag('X', "exclude-from", "exclude files that match any pattern in FILE").takes("FILE"),
    Opt::flag('S', "starting-file", "start with FILE when comparing directories").takes("FILE"),
    Opt::long("from-file", "compare FILE1 to all operands; FILE1 can be a directory").takes("FILE1"),
    Opt::long("to-file", "compare all operands to FILE2; FILE2 can be a directory").takes("FILE2"),
    Opt::flag('i', "ignore-case", "ignore case differences in file contents"),
    Opt::flag('E', "ignore-tab-expansion", "ignore changes due to tab expansion"),
    Opt::flag('Z', "ignore-trailing-space", "ignore white space at line end"),
    Opt::flag('b', "ignore-space-change", "ignore changes in the amount of white space"),
    Opt::flag('w', "ignore-all-space", "ignore all white space"),
    Opt::flag('B', "ignore-blank-lines", "ignore changes where lines are all blank"),
    Opt::flag('I', "ignore-matching-lines", "ignore changes where all lines match RE").takes("RE"),
    Opt::flag('a', "text", "treat all files as text"),
    Opt::long("strip-trailing-cr", "strip trailing carriage return on input"),
    Opt::flag('d', "minimal", "try hard to find a smaller set of changes"),
    Opt::long("horizon-lines", "keep NUM lines of the common prefix and suffix").takes("NUM"),
    Opt::flag('H', "speed-large-files", "(ignored: there is no other way)"),
    Opt::long("color", "color output; WHEN is 'never', 'always', or 'auto'").may_take("WHEN"),
    Opt::letter('0', "0", ""),
    Opt::letter('1', "1", ""),
    Opt::letter('2', "2", ""),
    Opt::letter('3', "3", ""),
    Opt::letter('4', "4", ""),
    Opt::letter('5', "5", ""),
    Opt::letter('6', "6", ""),
    Opt::letter('7', "7", ""),
    Opt::letter('8', "8", ""),
    Opt::letter('9', "9", ""),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    Normal,
    Context,
    Unified,
    Ed,
    Rcs,
    SideBySide,
}

/// The values of the options.
pub(super) struct Settings {
    pub style: Style,
    pub context: usize,
    pub brief: bool,
    pub report_identical: bool,
    pub rules: Rules,
    pub ignore_blank_lines: bool,
    pub ignore_matching: Vec<Rc<Regex>>,
    pub function: Option<Rc<Regex>>,
    pub labels: Vec<String>,
    pub expand_tabs: bool,
    pub initial_tab: bool,
    pub suppress_blank_empty: bool,
    pub recursive: bool,
    pub no_dereference: bool,
    pub new_file: bool,
    pub new_first_file: bool,
    pub ignore_name_case: bool,
    pub exclude: Vec<Pattern>,
    pub starting_file: Option<String>,
    pub from_file: Option<String>,
    pub to_file: Option<String>,
    pub text: bool,
    pub strip_cr: bool,
    pub color: bool,
    pub width: usize,
    pub left_column: bool,
    pub suppress_common: bool,
    /// The options as given, for the header of each file in a tree.
    pub given: String,
}

impl Settings {
    pub(super) fn new(call: &Call) -> Result<Settings, String> {
        let (style, context) = output_style(call)?;
        let functions = functions(call);
        Ok(Settings {
            style,
            context,
            brief: call.has("brief"),
            report_identical: call.has("report-identical-files"),
            rules: Rules {
                whitespace: whitespace(call),
                ignore_case: call.has("ignore-case"),
                minimal: call.has("minimal"),
                horizon: number(call, "horizon-lines", 0)?.max(context),
                tab_size: number(call, "tabsize", 8)?,
            },
            ignore_blank_lines: call.has("ignore-blank-lines"),
            ignore_matching: values(call, "ignore-matching-lines").map(regex).collect::<Result<_, _>>()?,
            function: if functions.is_empty() { None } else { Some(regex(&functions.join("\\|"))?) },
            labels: values(call, "label").map(str::to_owned).collect(),
            expand_tabs: call.has("expand-tabs"),
            initial_tab: call.has("initial-tab"),
            suppress_blank_empty: call.has("suppress-blank-empty"),
            recursive: call.has("recursive"),
            no_dereference: call.has("no-dereference"),
            new_file: call.has("new-file"),
            new_first_file: call.has("unidirectional-new-file"),
            ignore_name_case: call.has("ignore-file-name-case"),
            exclude: excluded(call)?,
            starting_file: call.value("starting-file").map(str::to_owned),
            from_file: call.value("from-file").map(str::to_owned),
            to_file: call.value("to-file").map(str::to_owned),
            text: call.has("text"),
            strip_cr: call.has("strip-trailing-cr"),
            color: color(call)?,
            width: number(call, "width", 130)?,
            left_column: call.has("left-column"),
            suppress_common: call.has("suppress-common-lines"),
            given: given(call),
        })
    }

    /// Returns true if files that differ in some byte can count as the same.
    pub(super) fn ignores(&self) -> bool {
        self.rules.whitespace != Whitespace::Counts
            || self.rules.ignore_case
            || self.ignore_blank_lines
            || !self.ignore_matching.is_empty()
            || self.strip_cr
    }
}

/// Returns the output format and the number of context lines.
fn output_style(call: &Call) -> Result<(Style, usize), String> {
    let (mut style, mut context) = (None, None);
    let mut digits = String::new();
    for found in &call.options {
        let wanted = match found.option {
            "normal" => Style::Normal,
            "c" | "context" => Style::Context,
            "u" | "unified" => Style::Unified,
            "ed" => Style::Ed,
            "rcs" => Style::Rcs,
            "side-by-side" => Style::SideBySide,
            digit if digit.len() == 1 && digit.as_bytes()[0].is_ascii_digit() => {
                digits.push_str(digit);
                continue;
            }
            _ => continue,
        };
        if style.is_some_and(|known| known != wanted) {
            return Err("conflicting output style options".to_owned());
        }
        style = Some(wanted);
        if has_context(wanted) {
            let lines: usize = match found.value.as_deref().unwrap_or_default() {
                "" => 3,
                value => value.parse().map_err(|_| format!("invalid context length {}", quote::plain(value)))?,
            };
            context = Some(lines.max(context.unwrap_or(0)));
        }
    }
    let style = match style {
        Some(style) => style,
        // `-p` alone selects the context format.
        None if call.has("show-c-function") => Style::Context,
        None => Style::Normal,
    };
    let context = match digits.parse() {
        Ok(number) if has_context(style) => number,
        _ => context.unwrap_or(if has_context(style) { 3 } else { 0 }),
    };
    Ok((style, context))
}

fn has_context(style: Style) -> bool {
    matches!(style, Style::Context | Style::Unified)
}

/// Returns the values of an option that can be repeated.
fn values<'a>(call: &'a Call, option: &str) -> impl Iterator<Item = &'a str> {
    call.options.iter().filter(move |found| found.option == option).filter_map(|found| found.value.as_deref())
}

fn functions(call: &Call) -> Vec<&str> {
    let sources = call.options.iter().filter_map(|found| match found.option {
        "show-c-function" => Some("^[[:alpha:]$_]"),
        "show-function-line" => found.value.as_deref(),
        _ => None,
    });
    sources.collect()
}

fn whitespace(call: &Call) -> Whitespace {
    [
        ("ignore-tab-expansion", Whitespace::TabExpansion),
        ("ignore-trailing-space", Whitespace::Trailing),
        ("ignore-space-change", Whitespace::Amount),
        ("ignore-all-space", Whitespace::All),
    ]
    .into_iter()
    .filter(|(option, _)| call.has(option))
    .fold(Whitespace::Counts, |whitespace, (_, more)| whitespace.max(more))
}

/// Returns the patterns of `--exclude` and of the files named by `--exclude-from`.
fn excluded(call: &Call) -> Result<Vec<Pattern>, String> {
    let mut patterns: Vec<Pattern> = values(call, "exclude").map(Pattern::from).collect();
    for path in values(call, "exclude-from") {
        let read = isopod_gnu::input::Input::open(path).and_then(|input| input.read_all());
        let list = read.map_err(|errno| format!("{path}: {}", isopod_sys::text(errno)))?;
        patterns.extend(String::from_utf8_lossy(&list).lines().map(Pattern::from));
    }
    Ok(patterns)
}

fn number(call: &Call, option: &str, default: usize) -> Result<usize, String> {
    match call.value(option) {
        None => Ok(default),
        Some(text) => match text.parse() {
            Ok(number) if number > 0 || option == "horizon-lines" => Ok(number),
            _ => Err(format!("invalid {option} {}", quote::plain(text))),
        },
    }
}

fn color(call: &Call) -> Result<bool, String> {
    let Some(last) = call.options.iter().rev().find(|found| found.option == "color") else { return Ok(false) };
    match last.value.as_deref() {
        None | Some("auto" | "never") => Ok(false),
        Some("always") => Ok(true),
        Some(other) => Err(format!("invalid color {}", quote::plain(other))),
    }
}

fn regex(source: &str) -> Result<Rc<Regex>, String> {
    Regex::new(source.as_bytes(), Syntax::Grep, Flags::default())
        .map(Rc::new)
        .map_err(|error| format!("{source}: {error}"))
}

/// Returns all arguments except the operands.
fn given(call: &Call) -> String {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    for operand in call.operands.iter().rev() {
        if let Some(at) = args.iter().rposition(|arg| arg == operand) {
            args.remove(at);
        }
    }
    args.iter().map(|arg| format!(" {}", quote::argument(arg))).collect()
}
