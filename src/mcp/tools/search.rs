//! The tools `glob` and `grep`.

use std::fmt::Write as _;

use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::look::here;
use super::{Call, Effect, Refusal, Reply, Tool, listing, reason};
use crate::backend::{Backend, GlobRequest, GrepMatch, GrepRequest};
use crate::limits::server::mcp as limits;

pub(super) struct Glob;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct GlobArguments {
    /// A pattern. Without `/` it matches names at any depth (`*.py`); with `/` it matches paths below the root of the
    /// search (`src/**/*.{ts,tsx}`).
    pattern: String,
    /// The directory to search: an absolute path, or one below /workspace; /workspace itself by default.
    #[serde(default = "here")]
    path: String,
    /// Find directories as well as files.
    #[serde(default)]
    directories: bool,
    /// Let `*` and `**` match names with a leading dot.
    #[serde(default)]
    hidden: bool,
    /// The number of results, 1000 by default; at most 10000.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000))]
    max: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct GlobAnswer {
    /// Absolute paths, sorted.
    paths: Vec<String>,
    /// The reason why there may be more; null if this is all.
    truncated: Option<&'static str>,
}

impl Tool for Glob {
    const NAME: &'static str = "glob";
    const TITLE: &'static str = "Find files by name";
    const DESCRIPTION: &'static str = "Find files by a pattern of their name or path.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = GlobArguments;
    type Answer = GlobAnswer;

    async fn call(arguments: GlobArguments, call: Call) -> Result<Reply<GlobAnswer>, Refusal> {
        let mut request = GlobRequest::new(arguments.pattern, arguments.path);
        (request.directories, request.hidden) = (arguments.directories, arguments.hidden);
        request.most = at_most(arguments.max, limits::NAMES)?;
        let globbed = call.session.workspace().files.glob(request).await?;
        let truncated = globbed.cut.map(reason);
        let paths: Vec<String> = globbed.matches.into_iter().map(|found| found.path).collect();
        let lines = paths.iter().map(|path| format!("{path}\n")).collect();
        let shown = listing(lines, "no file matches", truncated);
        Ok(Reply::text(GlobAnswer { paths, truncated }, shown))
    }
}

pub(super) struct Grep;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct GrepArguments {
    /// A regular expression, as in Rust and ripgrep: `fn \w+`, `(?i)todo`, `a|b`.
    pattern: String,
    /// Take the pattern as plain text instead of an expression.
    #[serde(default)]
    literal: bool,
    /// Ignore the case of letters.
    #[serde(default)]
    ignore_case: bool,
    /// A directory to search, or a file: an absolute path, or one below /workspace; /workspace itself by default.
    #[serde(default = "here")]
    path: String,
    /// Only in files whose name or path matches, as in glob: `*.rs`, `src/**/*.py`.
    #[serde(default)]
    include: Option<String>,
    /// Lines before and after each match to answer with.
    #[serde(default)]
    #[schemars(range(max = 100))]
    context: usize,
    /// The number of matches, 100 by default; at most 10000.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000))]
    max: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct GrepAnswer {
    /// The matching lines, file by file.
    matches: Vec<Match>,
    /// The reason why there may be more; null if this is all.
    truncated: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Match {
    path: String,
    /// The number of the line, from 1.
    line: u64,
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

impl Tool for Grep {
    const NAME: &'static str = "grep";
    const TITLE: &'static str = "Find lines in files";
    const DESCRIPTION: &'static str = "Find lines in files by a regular expression. Directories named .git are left \
        out, and files that are not text.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = GrepArguments;
    type Answer = GrepAnswer;

    async fn call(arguments: GrepArguments, call: Call) -> Result<Reply<GrepAnswer>, Refusal> {
        let GrepArguments { pattern, literal, ignore_case, path, include, context, max } = arguments;
        let request = GrepRequest::literal(pattern, path);
        let most = at_most(max, limits::MATCHES)?;
        let request = GrepRequest { literal, ignore_case, include, before: context, after: context, most, ..request };
        let grepped = call.session.workspace().files.grep(request).await?;
        let mut truncated = grepped.cut.map(reason);
        let (mut lines, mut matches) = (String::new(), Vec::new());
        for found in grepped.matches {
            if lines.len() as u64 > limits::TEXT_BYTES {
                truncated = Some("there are more, in too many bytes");
                break;
            }
            let found = Match::of(found);
            found.write(&mut lines, context > 0);
            matches.push(found);
        }
        let shown = listing(lines, "no line matches", truncated);
        Ok(Reply::text(GrepAnswer { matches, truncated }, shown))
    }
}

impl Match {
    fn of(found: GrepMatch) -> Match {
        let GrepMatch { path, line, text, before, after } = found;
        let all = |lines: Vec<String>| lines.into_iter().map(cut).collect();
        Match { path, line, text: cut(text), before: all(before), after: all(after) }
    }

    /// Writes a match in the format of grep. Writing to a String cannot fail.
    fn write(&self, lines: &mut String, has_context: bool) {
        let Match { path, line, text, before, after } = self;
        for (number, text) in (line - before.len() as u64..).zip(before) {
            let _ = writeln!(lines, "{path}-{number}-{text}");
        }
        let _ = writeln!(lines, "{path}:{line}:{text}");
        for (number, text) in (line + 1..).zip(after) {
            let _ = writeln!(lines, "{path}-{number}-{text}");
        }
        if has_context {
            lines.push_str("--\n");
        }
    }
}

/// Cuts a line to the length that is shown.
fn cut(mut line: String) -> String {
    if let Some((at, _)) = line.char_indices().nth(limits::LINE_CHARS) {
        line.truncate(at);
        line.push('…');
    }
    line
}

/// Returns the number of results to answer with.
fn at_most(asked: Option<usize>, usual: usize) -> Result<usize, Refusal> {
    match asked.unwrap_or(usual) {
        most @ 1..=limits::SEARCH_RESULTS => Ok(most),
        _ => Err(Refusal("max: 1 to 10000".to_owned())),
    }
}
