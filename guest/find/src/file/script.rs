//! The purpose of a text: the program of its first line, or the language that its lines look like.

/// The words before the encoding, and two flags for the rest of the line.
pub(super) struct Purpose {
    pub(super) text: String,
    pub(super) mime: &'static str,
    /// True if the word `executable` follows the encoding.
    pub(super) is_executable: bool,
    /// True if the encoding is printed at all.
    pub(super) has_encoding: bool,
}

impl Purpose {
    fn new(text: &str, mime: &'static str) -> Purpose {
        Purpose { text: text.to_owned(), mime, is_executable: false, has_encoding: true }
    }

    fn script(text: &str, mime: &'static str) -> Purpose {
        Purpose { is_executable: true, ..Purpose::new(text, mime) }
    }
}

/// The number of bytes that are searched for words of a language.
const START: usize = 8192;

/// Returns the purpose of a text, if it shows.
pub(super) fn purpose(text: &str) -> Option<Purpose> {
    if let Some(line) = text.strip_prefix("#!") {
        return Some(interpreter(line.lines().next().unwrap_or_default().trim()));
    }
    let mut end = text.len().min(START);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let start = &text[..end];
    markup(start).or_else(|| language(start))
}

fn interpreter(line: &str) -> Purpose {
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or_default();
    let by_env = program.ends_with("/env");
    let name = if by_env { words.next().unwrap_or_default() } else { program.rsplit('/').next().unwrap_or_default() };
    let shell = "text/x-shellscript";
    match name {
        "sh" if !by_env => Purpose::script("POSIX shell script", shell),
        "bash" => Purpose::script("Bourne-Again shell script", shell),
        "zsh" => Purpose::script("Paul Falstad's zsh script", shell),
        "ksh" => Purpose::script("Korn shell script", shell),
        "fish" => Purpose::script("fish shell script", shell),
        "awk" | "gawk" | "mawk" => {
            let text = if name == "awk" {
                "awk script".to_owned()
            } else {
                format!("{} awk script", if name == "gawk" { "GNU" } else { "mawk" })
            };
            Purpose::script(&text, "text/x-awk")
        }
        "node" | "nodejs" => {
            Purpose { text: "Node.js script executable".into(), ..Purpose::new("", "application/javascript") }
        }
        "perl" => Purpose { has_encoding: false, ..Purpose::new("Perl script text executable", "text/x-perl") },
        "ruby" => Purpose::script("Ruby script", "text/x-ruby"),
        "php" if !by_env => Purpose::script("PHP script", "text/x-php"),
        "lua" => Purpose::script("Lua script", "text/x-lua"),
        "tclsh" | "wish" => Purpose::script("Tcl script", "text/x-tcl"),
        name if name.starts_with("python") => Purpose::script("Python script", "text/x-script.python"),
        _ => {
            let whole = if by_env { line.split_once("env").map_or("", |(_, rest)| rest.trim()) } else { line };
            Purpose::script(&format!("a {whole} script"), "text/plain")
        }
    }
}

fn markup(text: &str) -> Option<Purpose> {
    let trimmed = text.trim_start_matches('\u{feff}').trim_start();
    let lower: String = trimmed.chars().take(4096).collect::<String>().to_ascii_lowercase();
    let has_svg = lower.contains("<svg");
    if lower.starts_with("<?xml") {
        if has_svg {
            return Some(svg());
        }
        let version = trimmed.split("version=").nth(1).and_then(|rest| rest.get(1..4)).unwrap_or("1.0").to_owned();
        return Some(Purpose::new(&format!("XML {version} document"), "text/xml"));
    }
    if lower.starts_with("<svg") {
        return Some(svg());
    }
    if lower.starts_with("<?php") {
        return Some(Purpose::new("PHP script", "text/x-php"));
    }
    let tags = ["<!doctype html", "<html", "<head", "<title", "<body", "<script", "<style", "<table", "<a href="];
    let after_comment =
        lower.split_once("-->").filter(|_| lower.starts_with("<!--")).map(|(_, rest)| rest.trim_start());
    let is_html = |text: &str| tags.iter().any(|tag| text.starts_with(tag));
    if is_html(&lower) || after_comment.is_some_and(is_html) {
        return Some(Purpose::new("HTML document", "text/html"));
    }
    None
}

fn svg() -> Purpose {
    Purpose { has_encoding: false, ..Purpose::new("SVG Scalable Vector Graphics image", "image/svg+xml") }
}

fn language(text: &str) -> Option<Purpose> {
    let lines = || text.lines().take(200);
    let starts = |words: &[&str]| lines().any(|line| words.iter().any(|word| line.starts_with(word)));
    if text.starts_with("diff ") || text.starts_with("--- ") && starts(&["+++ "]) {
        let kind = if starts(&["@@ -"]) { "unified diff output" } else { "diff output" };
        return Some(Purpose::new(kind, "text/x-diff"));
    }
    if starts(&["\\documentclass"]) {
        return Some(Purpose::new("LaTeX 2e document", "text/x-tex"));
    }
    if lines().any(is_javascript) {
        return Some(Purpose::new("JavaScript source", "application/javascript"));
    }
    if lines().any(is_python) {
        return Some(Purpose::script("Python script", "text/x-script.python"));
    }
    if lines().any(|line| line.starts_with("import ") && line.trim_end().ends_with(';')) {
        return Some(Purpose::new("Java source", "text/x-java"));
    }
    if starts(&["using namespace ", "template <", "template<", "public:", "private:", "protected:"])
        || lines().any(|line| line.starts_with("class ") && line.contains('{'))
    {
        return Some(Purpose::new("C++ source", "text/x-c++"));
    }
    if lines().any(is_c) {
        return Some(Purpose::new("C source", "text/x-c"));
    }
    if starts(&["require '", "require \""]) {
        return Some(Purpose::new("Ruby script", "text/x-ruby"));
    }
    if starts(&["CFLAGS", "VPATH", "LDFLAGS", "all:", ".PRECIOUS", ".PHONY"]) {
        return Some(Purpose::new("makefile script", "text/x-makefile"));
    }
    is_table(text).then(|| Purpose { has_encoding: false, ..Purpose::new("CSV text", "text/csv") })
}

fn is_javascript(line: &str) -> bool {
    line.starts_with("import ") && line.contains(" from ") && line.contains(['\'', '"'])
}

fn is_python(line: &str) -> bool {
    let words =
        |text: &str| text.split([',', ' ', '.']).all(|word| word.chars().all(|c| c.is_alphanumeric() || c == '_'));
    let trimmed = line.trim_end();
    if let Some(names) = trimmed.strip_prefix("import ") {
        return !names.is_empty() && words(names);
    }
    if let Some(rest) = trimmed.strip_prefix("from ") {
        return rest.contains(" import ");
    }
    let is_block = |text: &str| trimmed.trim_start().starts_with(text) && trimmed.ends_with(':');
    is_block("def ") && trimmed.contains('(') || trimmed.starts_with("class ") && trimmed.ends_with(':')
}

fn is_c(line: &str) -> bool {
    let trimmed = line.trim_start();
    trimmed.strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("include"))
        || line.starts_with("main(")
        || line.contains(" main(") && line.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns true for at least three lines with the same number of fields, more than one.
fn is_table(text: &str) -> bool {
    let mut fields = None;
    let mut count = 0;
    for line in text.split_terminator('\n').take(10) {
        let mut is_quoted = false;
        let commas = line.chars().filter(|c| {
            is_quoted ^= *c == '"';
            *c == ',' && !is_quoted
        });
        let commas = commas.count();
        if commas == 0 || *fields.get_or_insert(commas) != commas {
            return false;
        }
        count += 1;
    }
    count > 2 && text.ends_with('\n') || count > 3
}
