//! Searching by commands.

use std::collections::HashMap;

use super::super::{
    BackendError, Cut, Found, GlobRequest, Globbed, GrepMatch, GrepRequest, Grepped, Pattern, PatternFault, Result,
    bounds, pattern,
};
use super::ExecFiles;
use super::read::{Record, SEARCHABLE};
use super::script::{Script, ScriptOutput, quote, refused};
use crate::error::Errno;
use crate::path::GuestPath;
use crate::vfs::Kind;

/// Excludes directories of the root that hold no user files and may be endless.
const PRUNED: &str = "\\( -path ./proc -o -path ./sys -o -path ./dev \\) -prune -o ";

impl ExecFiles {
    pub(super) async fn find(&self, request: &GlobRequest) -> Result<Globbed> {
        let at = self.parse(&request.path).await?;
        let pattern = Pattern::new(&request.pattern, request.hidden)?;
        let pruned = if at.is_root() { PRUNED } else { "" };
        let directories = if request.directories { " -o -type d" } else { "" };
        let script = format!(
            "{SEARCHABLE}find . {pruned}\\( -type f -o -type l{directories} \\) -exec stat --printf '%f %s %Y %n\\0' {{}} +"
        );
        let script = Script::new(script).path(&at).output(bounds::LISTING_BYTES).timeout(request.time);
        let answer = ScriptOutput::of(self.executor.execute(script.request()).await?);
        let records = records(&answer.stdout);
        if records.is_empty() && answer.exit_code >= 40 && !answer.timed_out {
            return Err(refused(&request.path, answer.exit_code, &answer.stderr));
        }
        let mut records: Vec<Record> = records.into_iter().filter(|record| is_match(&pattern, record)).collect();
        self.follow(&at, &mut records).await?;
        records.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut cut = why(&answer, answer.exit_code != 0);
        if records.len() > request.most {
            cut = Some(Cut::Count);
            records.truncate(request.most);
        }
        let prefix = at.as_str().trim_end_matches('/');
        let found = |record: Record| Found {
            path: format!("{prefix}/{}", record.path),
            relative: record.path,
            kind: record.kind,
            size: record.size,
            modified: record.modified,
        };
        Ok(Globbed { matches: records.into_iter().map(found).collect(), cut })
    }

    /// Replaces each link to a file below the root by its target, and removes the other links.
    async fn follow(&self, root: &GuestPath, records: &mut Vec<Record>) -> Result<()> {
        let links: Vec<&Record> = records.iter().filter(|record| record.kind == Kind::Symlink).collect();
        let mut targets = HashMap::new();
        // In batches that fit into a command.
        for batch in links.chunks(bounds::LINKS_PER_COMMAND) {
            let names: Vec<String> = batch.iter().map(|link| quote(&format!("./{}", link.path))).collect();
            let script = format!(
                "{SEARCHABLE}r=$(pwd -P); [ \"$r\" = / ] && r=\nfor l in {}; do t=$(readlink -f -- \"$l\") && [ -f \"$t\" ] || continue\n\
                 case $t in \"$r\"/*) printf '%s\\0' \"$l\"; stat --printf '%f %s %Y %n\\0' -- \"$t\";; esac; done; :",
                names.join(" ")
            );
            let path = root.as_str();
            let answer = self.run(path, Script::new(script).path(root).output(bounds::LISTING_BYTES)).await?;
            let mut fields = answer.stdout.split(|byte| *byte == 0);
            while let (Some(link), Some(record)) = (fields.next(), fields.next()) {
                let link = String::from_utf8_lossy(link).trim_start_matches("./").to_owned();
                if let Some(record) = Record::parse(record) {
                    targets.insert(link, record);
                }
            }
        }
        records.retain_mut(|record| match (record.kind, targets.remove(&record.path)) {
            (Kind::Symlink, None) => false,
            (Kind::Symlink, Some(target)) => {
                *record = Record { path: std::mem::take(&mut record.path), ..target };
                true
            }
            _ => true,
        });
        Ok(())
    }

    pub(super) async fn search(&self, request: &GrepRequest) -> Result<Grepped> {
        let at = self.parse(&request.path).await?;
        let include = request.include.as_deref().map(|glob| Pattern::new(glob, false)).transpose()?;
        let script = format!(
            "[ -e \"$p\" ] || exit 40; [ -r \"$p\" ] || exit 44\nif [ -d \"$p\" ]; then cd -- \"$p\" || exit 44\n{}\n\
             else [ -f \"$p\" ] || exit 43; {} -- \"$p\"; fi",
            through_directory(request, at.is_root())?,
            grep(request, false)?,
        );
        let script = Script::new(script).path(&at).output(bounds::LISTING_BYTES).timeout(request.time);
        let answer = ScriptOutput::of(self.executor.execute(script.request()).await?);
        if answer.exit_code >= 40 && !answer.timed_out && answer.stdout.is_empty() {
            return Err(refused(&request.path, answer.exit_code, &answer.stderr));
        }
        if answer.exit_code == 2 && answer.stdout.is_empty() && !answer.stderr.contains(&Errno::Access.to_string()) {
            let text = answer.stderr.lines().next().unwrap_or_default().to_owned();
            return Err(BackendError::pattern(&request.pattern, PatternFault::Syntax(text)));
        }
        let prefix = at.as_str().trim_end_matches('/');
        let mut lines = parse(&answer.stdout);
        lines.retain(|line| match line.path.strip_prefix("./") {
            Some(relative) => include.as_ref().is_none_or(|include| include.matches(relative)),
            // If the path of the search is a file, only a pattern about names can exclude it.
            None => include
                .as_ref()
                .is_none_or(|include| !include.is_about_names() || include.matches(at.file_name().unwrap_or_default())),
        });
        for line in &mut lines {
            if let Some(relative) = line.path.strip_prefix("./") {
                line.path = format!("{prefix}/{relative}");
            }
        }
        lines.sort_by(|a, b| a.path.cmp(&b.path));
        let mut matches = with_context(&lines, request);
        let mut cut = why(&answer, answer.exit_code > 1);
        if matches.len() > request.most {
            cut = Some(Cut::Count);
            matches.truncate(request.most);
        }
        Ok(Grepped { matches, cut })
    }
}

/// The command that searches the current directory of the script.
fn through_directory(request: &GrepRequest, is_root: bool) -> Result<String> {
    let mut command = grep(request, true)?;
    for name in &request.skip {
        command += &format!(" --exclude-dir={}", quote(name));
    }
    // Only to save work: the results are filtered by the pattern itself later.
    if let Some(include) = request.include.as_deref().filter(|include| !include.contains('/')) {
        for name in pattern::expand(include).unwrap_or_default() {
            command += &format!(" --include={}", quote(&name));
        }
    }
    Ok(if is_root {
        format!(
            "set --; for f in * .[!.]*; do case $f in proc|sys|dev) ;; *) [ -e \"$f\" ] && set -- \"$@\" \"./$f\";; esac; done\n\
             {command} -- \"$@\""
        )
    } else {
        format!("{command} -- .")
    })
}

fn grep(request: &GrepRequest, recursive: bool) -> Result<String> {
    if request.pattern.len() > bounds::PATTERN_BYTES || request.pattern.contains('\0') {
        return Err(BackendError::pattern(&request.pattern, PatternFault::TooBroad));
    }
    if request.largest.is_some() {
        return Err(BackendError::Unsupported("a search that leaves large files out, by shell commands".to_owned()));
    }
    if !request.literal {
        check(&request.pattern)?;
    }
    let [before, after] = [request.before, request.after].map(|lines| lines.min(bounds::CONTEXT_LINES));
    let mut command =
        format!("grep -{}HnIZ{}", if recursive { "r" } else { "" }, if request.literal { "F" } else { "E" });
    if request.ignore_case {
        command.push('i');
    }
    if before + after > 0 {
        command += &format!(" -B {before} -A {after}");
    }
    Ok(format!("{command} -e {}", quote(&request.pattern)))
}

/// Refuses syntax of other regular expressions that means something else to `grep -E`: a wrong result is worse than an
/// error.
fn check(pattern: &str) -> Result<()> {
    let refused = |what: &str| {
        let text = format!("{what} is not supported by grep -E, which this backend uses");
        Err(BackendError::pattern(pattern, PatternFault::Syntax(text)))
    };
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('\\', Some(next)) if next.is_ascii_alphanumeric() && !"wWsSbB".contains(*next) => {
                return refused(&format!("\\{next}"));
            }
            ('\\', _) => drop(chars.next()),
            ('(', Some('?')) => return refused("(?"),
            ('*' | '+' | '?' | '}', Some('?' | '+')) => return refused("a lazy or possessive repetition"),
            ('\n', _) => return refused("the end of a line"),
            _ => {}
        }
    }
    Ok(())
}

/// A line of grep's output.
struct Line {
    path: String,
    number: u64,
    text: String,
    is_match: bool,
}

/// Parses `path NUL number : text` of matches, and `path NUL number - text` of context.
fn parse(mut bytes: &[u8]) -> Vec<Line> {
    let mut lines = Vec::new();
    while !bytes.is_empty() {
        if let Some(rest) = bytes.strip_prefix(b"--\n") {
            bytes = rest;
            continue;
        }
        // Anything else is the end of output that was cut.
        let Some(nul) = bytes.iter().position(|byte| *byte == 0) else { break };
        let (path, rest) = (&bytes[..nul], &bytes[nul + 1..]);
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = rest.iter().position(|byte| *byte == b'\n');
        let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse().ok());
        let (Some(end), Some(number)) = (end.filter(|end| *end > digits), number) else { break };
        lines.push(Line {
            path: String::from_utf8_lossy(path).into_owned(),
            number,
            text: String::from_utf8_lossy(&rest[digits + 1..end]).into_owned(),
            is_match: rest[digits] == b':',
        });
        bytes = &rest[end + 1..];
    }
    lines
}

fn with_context(lines: &[Line], request: &GrepRequest) -> Vec<GrepMatch> {
    let near = |of: &Line, line: &Line, from: u64, to: u64| {
        line.path == of.path && line.number >= from && line.number <= to && line.number != of.number
    };
    let found = |(at, line): (usize, &Line)| {
        let (before, after) = (request.before as u64, request.after as u64);
        let first = at.saturating_sub(request.before);
        let last = (at + 1 + request.after).min(lines.len());
        let from = line.number.saturating_sub(before);
        let texts = |lines: &[Line], from, to| -> Vec<String> {
            lines.iter().filter(|other| near(line, other, from, to)).map(|other| other.text.clone()).collect()
        };
        GrepMatch {
            path: line.path.clone(),
            line: line.number,
            text: line.text.clone(),
            before: texts(&lines[first..at], from, line.number),
            after: texts(&lines[at + 1..last], line.number, line.number + after),
        }
    };
    lines.iter().enumerate().filter(|(_, line)| line.is_match).map(found).collect()
}

fn records(stdout: &[u8]) -> Vec<Record> {
    stdout.split(|byte| *byte == 0).filter_map(Record::parse).collect()
}

fn is_match(pattern: &Pattern, record: &Record) -> bool {
    !record.path.is_empty() && record.path != "." && pattern.matches(&record.path)
}

fn why(answer: &ScriptOutput, failed: bool) -> Option<Cut> {
    if answer.timed_out {
        Some(Cut::Budget)
    } else if answer.is_cut {
        Some(Cut::Transport)
    } else {
        failed.then_some(Cut::Unreadable)
    }
}
