//! The line editor: history, completion, and lines that go on.

use std::path::PathBuf;
use std::rc::Rc;

use isopod::vfs::Kind;
use isopod::{Runtime, Sandbox, Session};
use isopod_syntax::{Fault, Parser};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Helper};

/// The number of lines in the history.
const HISTORY: usize = 10_000;
/// The characters that end a word, for completion.
const BREAKS: [char; 10] = [' ', '\t', '\n', '|', '&', ';', '<', '>', '(', ')'];

/// The result of editing a line.
pub(super) enum Line {
    Text(String),
    Interrupted,
    End,
}

/// The editor of a session.
pub(super) struct Editor {
    editor: rustyline::Editor<Assistant, FileHistory>,
    history: Option<PathBuf>,
}

impl Editor {
    pub(super) fn new(sandbox: &Sandbox, session: &Session) -> Result<Editor, ReadlineError> {
        let config = Config::builder()
            .max_history_size(HISTORY)?
            .history_ignore_dups(true)?
            .completion_type(CompletionType::List)
            .build();
        let mut editor = rustyline::Editor::with_config(config)?;
        let runtime = Runtime::on_demand().map(|runtime| runtime.programs()).unwrap_or_default();
        let programs = runtime.iter().map(|program| program.name.to_owned()).collect();
        editor.set_helper(Some(Assistant { sandbox: sandbox.clone(), session: session.clone(), programs }));
        let history = history_file();
        if let Some(file) = &history {
            // There is no history the first time.
            let _ = editor.load_history(file);
        }
        Ok(Editor { editor, history })
    }

    /// Reads a command from the keyboard, in as many lines as it needs.
    pub(super) fn line(&mut self, prompt: &str) -> Result<Line, ReadlineError> {
        match self.editor.readline(prompt) {
            Ok(text) => {
                self.editor.add_history_entry(&text)?;
                Ok(Line::Text(text))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Editor {
    #[allow(clippy::disallowed_methods, reason = "the user's own history, which no sandbox sees")]
    fn drop(&mut self) {
        if let Some(file) = &self.history {
            let saved = file.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(ReadlineError::from);
            if let Err(error) = saved.and_then(|()| self.editor.append_history(file)) {
                super::super::say(format_args!("the history is not kept: {error}"));
            }
        }
    }
}

/// Returns the file of the history, in the directory of the user's state.
fn history_file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("isopod/history"))
}

/// Returns true if a text ends inside a command, so that another line has to follow.
fn is_unfinished(text: &str) -> bool {
    if text.trim_end_matches('\n').ends_with('\\') && !text.ends_with("\n\n") {
        return true;
    }
    let mut parser = Parser::new(text, 1);
    loop {
        match parser.next_command() {
            Ok(Some(_)) => {}
            Ok(None) => return !parser.unfinished.is_empty(),
            Err(error) => return matches!(error.fault, Fault::EndOfFile | Fault::Unmatched(_)),
        }
    }
}

/// Completion and continuation for the editor. It runs no command, so that `$?` and `$_` do not change.
struct Assistant {
    sandbox: Sandbox,
    session: Session,
    programs: Rc<[String]>,
}

impl Assistant {
    /// Returns the files that complete a word.
    fn files(&self, word: &str) -> Vec<Pair> {
        let (directory, start) = word.rsplit_once('/').map_or(("", word), |(directory, start)| (directory, start));
        let prefix = &word[..word.len() - start.len()];
        let place = match (directory, word.starts_with('/')) {
            ("", true) => "/".to_owned(),
            (_, true) => directory.to_owned(),
            _ => format!("{}/{directory}", self.session.cwd().unwrap_or_default()),
        };
        // A missing directory completes nothing.
        let entries = self.sandbox.fs().read_dir(&place).unwrap_or_default();
        let hidden = start.starts_with('.');
        let mut pairs: Vec<Pair> = entries
            .into_iter()
            .filter(|entry| entry.name.starts_with(start) && (hidden || !entry.name.starts_with('.')))
            .map(|entry| {
                let end = if entry.kind == Kind::Directory { "/" } else { " " };
                let replacement = format!("{prefix}{}{end}", escaped(&entry.name));
                Pair { display: entry.name + end.trim(), replacement }
            })
            .collect();
        pairs.sort_by(|a, b| a.display.cmp(&b.display));
        pairs
    }

    fn commands(&self, word: &str) -> Vec<Pair> {
        let found = self.programs.iter().filter(|name| name.starts_with(word));
        found.map(|name| Pair { display: name.clone(), replacement: format!("{name} ") }).collect()
    }
}

/// Quotes a name for the shell.
fn escaped(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./,:+@%=^".contains(c) || !c.is_ascii();
    name.chars().fold(String::new(), |mut text, c| {
        if !plain(c) {
            text.push('\\');
        }
        text.push(c);
        text
    })
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _context: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..at];
        let start = before.rfind(BREAKS).map_or(0, |found| found + 1);
        let word = &before[start..];
        let is_first = matches!(before[..start].trim_end().chars().last(), None | Some('|' | '&' | ';' | '('));
        let found = if is_first && !word.contains('/') { self.commands(word) } else { self.files(word) };
        Ok((start, found))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_unfinished(context.input()) { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Assistant {
    type Hint = String;
}

impl Highlighter for Assistant {}

impl Helper for Assistant {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_ends_inside_a_command_goes_on() {
        for unfinished in ["if true", "echo 'a", "cat <<E\nx", "f() {", "a | ", "echo $(", "x \\", "for i in 1; do"] {
            assert!(is_unfinished(unfinished), "{unfinished}");
        }
        for finished in ["", "echo a", "if true; then echo; fi", "cat <<E\nx\nE\n", "fi", "echo )", "a &", "# it's"] {
            assert!(!is_unfinished(finished), "{finished}");
        }
    }

    #[test]
    fn programs_and_files_are_completed() {
        let sandbox = Sandbox::builder().build().unwrap();
        let session = sandbox.session().unwrap();
        session.execute_blocking("mkdir -p 'd e/f' .hidden; touch 'a b' ab; cd /tmp; touch x").unwrap();
        let programs = ["base64", "basename", "cat"].map(str::to_owned).into_iter().collect();
        let assistant = Assistant { sandbox, session, programs };
        let history = FileHistory::new();
        let complete = |line: &str| {
            let (start, pairs) = assistant.complete(line, line.len(), &Context::new(&history)).unwrap();
            (start, pairs.into_iter().map(|pair| pair.replacement).collect::<Vec<_>>())
        };
        for (line, start, expected) in [
            ("bas", 0, vec!["base64 ", "basename "]),
            ("echo a | ca", 9, vec!["cat "]),
            ("cat x", 4, vec!["x "]),
            ("cat /workspace/", 4, vec!["/workspace/a\\ b ", "/workspace/ab ", "/workspace/d\\ e/"]),
            ("cat /workspace/.", 4, vec!["/workspace/.hidden/"]),
            ("cat ../workspace/a", 4, vec!["../workspace/a\\ b ", "../workspace/ab "]),
            ("cat /nowhere/", 4, vec![]),
        ] {
            let expected = expected.into_iter().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(complete(line), (start, expected), "{line}");
        }
    }
}
