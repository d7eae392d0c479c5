//! The walk: every file below the starting points. It does not recurse, because a tree may be as deep as paths are
//! long.

use std::cell::OnceCell;

use isopod_gnu::program::Call;
use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::fs::{self, Entry};
use isopod_sys::{Errno, text};

use super::action::{Action, ActionContext, Outcome};
use super::arguments::Follow;
use super::expression::{Expression, Step};
use super::listing::Names;
use super::primary::Settings;
use super::visit::Visit;
use crate::messages::quoted;

/// A run over trees of files.
pub(super) struct Walk<'a> {
    call: &'a Call,
    expression: Expression,
    context: ActionContext,
    follow: Follow,
    min_depth: usize,
    max_depth: usize,
    depth_first: bool,
    one_device: bool,
    /// The path of the current file.
    path: String,
    /// The length of the starting point in the path.
    start: usize,
    /// The open directories, from the starting point down.
    levels: Vec<Level>,
    quits: bool,
    code: u8,
}

/// A directory whose entries are being visited.
struct Level {
    entries: std::vec::IntoIter<Entry>,
    /// The length of its path.
    length: usize,
    /// Its device and inode, if links could lead back to it.
    identity: Option<(u64, u64)>,
}

/// A file that is about to be visited.
struct Candidate {
    kind: Kind,
    /// The attributes, which are known at a starting point and if links are followed.
    attributes: Option<Attributes>,
    follows: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(call: &'a Call, expression: Expression, settings: Settings) -> Walk<'a> {
        let context = ActionContext {
            sinks: settings.sinks,
            names: Names::default(),
            now: settings.clock.now,
            forgives_races: settings.forgives_races,
        };
        Walk {
            call,
            expression,
            context,
            follow: settings.follow,
            min_depth: settings.min_depth,
            max_depth: settings.max_depth,
            depth_first: settings.depth_first,
            one_device: settings.one_device,
            path: String::new(),
            start: 0,
            levels: Vec::new(),
            quits: false,
            code: 0,
        }
    }

    /// Visits all trees and returns the exit code.
    pub(super) fn run(mut self, starts: Vec<String>) -> Result<u8, u8> {
        for start in starts {
            self.tree(start);
            if self.is_over() {
                break;
            }
        }
        self.context.sinks.flush();
        let mut said = Vec::new();
        for action in &mut self.expression.actions {
            if let Action::Exec(exec) = action {
                said.extend(exec.finish());
                if exec.has_failed() {
                    self.code = 1;
                }
            }
        }
        for message in said {
            self.complain(&message);
        }
        if let Err(message) = self.context.sinks.finish() {
            self.call.complain(&message);
            return Err(1);
        }
        Ok(self.code)
    }

    fn is_over(&self) -> bool {
        self.quits || self.context.sinks.has_failed()
    }

    fn tree(&mut self, start: String) {
        self.start = start.len();
        self.path = start;
        let follows = self.follow != Follow::Never;
        match self.stat(follows) {
            Ok(found) => {
                let device = self.one_device.then_some(found.device);
                self.enter(Candidate { kind: found.kind, attributes: Some(found), follows }, device);
                self.descend(device);
            }
            Err(errno) => self.fail(errno),
        }
        self.levels.clear();
    }

    /// Takes the next entry of the deepest directory until none is left.
    fn descend(&mut self, device: Option<u64>) {
        while let Some(level) = self.levels.last_mut() {
            if self.quits || self.context.sinks.has_failed() {
                return;
            }
            self.path.truncate(level.length);
            match level.entries.next() {
                Some(entry) => {
                    if !self.path.ends_with('/') {
                        self.path.push('/');
                    }
                    self.path.push_str(&entry.name);
                    self.meet(entry.kind, device);
                }
                None => {
                    let found = self.leave();
                    if self.depth_first {
                        self.visit(&found, self.levels.len());
                    }
                }
            }
        }
    }

    /// Closes the deepest directory and returns it, for its visit after its entries.
    fn leave(&mut self) -> Candidate {
        self.levels.pop();
        let is_start = self.levels.is_empty();
        let follows = self.follow == Follow::Always || is_start && self.follow == Follow::Arguments;
        Candidate { kind: Kind::Directory, attributes: None, follows }
    }

    fn meet(&mut self, kind: Kind, device: Option<u64>) {
        let follows = self.follow == Follow::Always;
        // Only a link has to be followed, and only a directory may already be open.
        if !follows || !matches!(kind, Kind::Symlink | Kind::Directory) {
            return self.enter(Candidate { kind, attributes: None, follows }, device);
        }
        match self.stat(true) {
            Ok(found) => self.enter(Candidate { kind: found.kind, attributes: Some(found), follows }, device),
            Err(errno) => self.fail(errno),
        }
    }

    /// Visits a file and opens it if it is a directory.
    fn enter(&mut self, found: Candidate, device: Option<u64>) {
        let depth = self.levels.len();
        let is_directory = found.kind == Kind::Directory;
        let identity = found.attributes.as_ref().map(|found| (found.device, found.inode));
        if is_directory
            && identity.is_some()
            && let Some(ancestor) = self.levels.iter().find(|level| level.identity == identity)
        {
            let message = format!(
                "File system loop detected; {} is part of the same file system loop as {}.",
                quoted(&self.path),
                quoted(&self.path[..ancestor.length])
            );
            return self.complain(&message);
        }
        let enters = (self.depth_first || self.visit(&found, depth)) && is_directory && depth < self.max_depth;
        if enters && !self.quits && self.is_on(device) {
            match fs::entries(&self.path) {
                Ok(mut entries) => {
                    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
                    let length = self.path.len();
                    let identity = identity.filter(|_| self.follow == Follow::Always);
                    self.levels.push(Level { entries: entries.into_iter(), length, identity });
                    return;
                }
                Err(errno) => self.fail(errno),
            }
        }
        if self.depth_first {
            self.visit(&found, depth);
        }
    }

    /// Returns true if the directory is on the starting point's file system, or if that does not matter.
    fn is_on(&self, device: Option<u64>) -> bool {
        device.is_none_or(|device| files::stat(&self.path, true).is_ok_and(|found| found.device == device))
    }

    /// Runs the expression on a file. Returns false if the file is not to be entered.
    fn visit(&mut self, found: &Candidate, depth: usize) -> bool {
        if depth < self.min_depth {
            return true;
        }
        let visit = Visit {
            path: &self.path,
            start: self.start,
            depth,
            kind: found.kind,
            follows: found.follows,
            attributes: found.attributes.map_or_else(OnceCell::new, |known| OnceCell::from(Ok(known))),
        };
        let (mut truth, mut enters, mut step) = (true, true, 0);
        let mut trouble = None;
        while let Some(next) = self.expression.steps.get(step) {
            step += 1;
            match next {
                Step::Test(test) => match test.holds(&visit) {
                    Ok(holds) => truth = holds,
                    Err(errno) => {
                        trouble = Some(format!("{}: {}", quoted(visit.path), text(errno)));
                        break;
                    }
                },
                Step::Not => truth = !truth,
                Step::JumpIf(condition, to) => {
                    if truth == *condition {
                        step = *to;
                    }
                }
                Step::Act(index) => match self.expression.actions[*index].run(&visit, &mut self.context) {
                    Ok(Outcome::Truth(done)) => truth = done,
                    Ok(Outcome::Prune) => (truth, enters) = (true, false),
                    Ok(Outcome::Quit) => {
                        self.quits = true;
                        break;
                    }
                    Ok(Outcome::Failed(message)) => {
                        self.context.sinks.flush();
                        self.call.complain(&message);
                        self.code = 1;
                        truth = false;
                    }
                    Err(Errno::NoEntry) if self.context.forgives_races => break,
                    Err(errno) => {
                        trouble = Some(format!("{}: {}", quoted(visit.path), text(errno)));
                        break;
                    }
                },
            }
        }
        if let Some(message) = trouble {
            self.complain(&message);
        }
        enters
    }

    /// Reads the attributes of the current file. A broken link is a link.
    fn stat(&self, follows: bool) -> Result<Attributes, Errno> {
        match files::stat(&self.path, follows) {
            Err(Errno::NoEntry) if follows => files::stat(&self.path, false),
            result => result,
        }
    }

    fn fail(&mut self, errno: Errno) {
        if errno == Errno::NoEntry && self.context.forgives_races && !self.levels.is_empty() {
            return;
        }
        let message = format!("{}: {}", quoted(&self.path), text(errno));
        self.complain(&message);
    }

    /// Prints an error message, after all output before it.
    fn complain(&mut self, message: &str) {
        self.context.sinks.flush();
        self.call.complain(message);
        self.code = 1;
    }
}
