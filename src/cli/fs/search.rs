//! `isopod fs glob` and `grep`.

use std::fmt::Write as _;

use clap::Args;
use isopod::backend::{Backend, Cut, GlobRequest, GrepRequest};
use serde_json::json;

use crate::cli::REFUSED;
use crate::cli::answer::{Answer, Failure};

/// Find files by name
///
/// A pattern without `/` is about the name alone, at any depth; one with `/` about the path.
/// `**` stands for any directories.
///
/// Examples:
///   isopod fs glob --sandbox 1a2b3c4d '*.py'
///   isopod fs glob --dir . 'src/**/*.{rs,toml}'
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Glob {
    /// The pattern
    pattern: String,

    /// The directory to search
    #[arg(default_value = ".")]
    path: String,

    /// Directories too
    #[arg(long)]
    directories: bool,

    /// `*` stands for names with a leading dot too
    #[arg(long)]
    hidden: bool,

    /// The largest number of matches
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max: usize,
}

impl Glob {
    pub(super) async fn run(&self, backend: &dyn Backend) -> Result<Answer, Failure> {
        let mut request = GlobRequest::new(&self.pattern, &self.path);
        (request.directories, request.hidden, request.most) = (self.directories, self.hidden, self.max);
        let globbed = backend.glob(request).await?;
        let (mut text, mut matches) = (String::new(), Vec::new());
        for found in &globbed.matches {
            text.push_str(&found.path);
            text.push('\n');
            matches.push(json!({
                "path": found.path,
                "kind": found.kind.word(),
                "size": found.size,
                "modified_ms": found.modified / 1_000_000,
            }));
        }
        let cut = globbed.cut.map(Cut::word);
        Ok(Answer::new(text, json!({ "matches": matches, "cut": cut })).cut(cut))
    }
}

/// Find lines: path:number:line; exit code 1 if there are none
///
/// Examples:
///   isopod fs grep --sandbox 1a2b3c4d TODO
///   isopod fs grep --dir . --regex 'v\d+\.\d+' docs --include '*.md' --context 2
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Grep {
    /// The text to look for
    #[arg(allow_hyphen_values = true)]
    pattern: String,

    /// A directory to look in, or a file
    #[arg(default_value = ".")]
    path: String,

    /// The pattern is a regular expression
    #[arg(long)]
    regex: bool,

    /// `a` finds `A`
    #[arg(long)]
    ignore_case: bool,

    /// Only in files whose name or path matches
    #[arg(long, value_name = "GLOB")]
    include: Option<String>,

    /// Lines before and after to print as well
    #[arg(long, value_name = "N", default_value_t = 0)]
    context: usize,

    /// The largest number of matches
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max: usize,
}

impl Grep {
    pub(super) async fn run(&self, backend: &dyn Backend) -> Result<Answer, Failure> {
        let mut request = match self.regex {
            true => GrepRequest::regex(&self.pattern, &self.path),
            false => GrepRequest::literal(&self.pattern, &self.path),
        };
        (request.before, request.after, request.most) = (self.context, self.context, self.max);
        (request.ignore_case, request.include) = (self.ignore_case, self.include.clone());
        let grepped = backend.grep(request).await?;
        let (mut text, mut matches) = (String::new(), Vec::new());
        for found in &grepped.matches {
            let path = &found.path;
            // Writing to a String cannot fail.
            for (number, line) in (found.line - found.before.len() as u64..).zip(&found.before) {
                let _ = writeln!(text, "{path}-{number}-{line}");
            }
            let _ = writeln!(text, "{path}:{}:{}", found.line, found.text);
            for (number, line) in (found.line + 1..).zip(&found.after) {
                let _ = writeln!(text, "{path}-{number}-{line}");
            }
            if self.context > 0 {
                text.push_str("--\n");
            }
            matches.push(json!({
                "path": path,
                "line": found.line,
                "text": found.text,
                "before": found.before,
                "after": found.after,
            }));
        }
        let (cut, code) = (grepped.cut.map(Cut::word), if matches.is_empty() { REFUSED } else { 0 });
        let answer = Answer::new(text, json!({ "matches": matches, "cut": cut })).cut(cut);
        Ok(Answer { code, ..answer })
    }
}
