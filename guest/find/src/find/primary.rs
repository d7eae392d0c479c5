//! Tests, actions and options by name.

use std::cmp::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use isopod_gnu::accounts;
use isopod_gnu::moment;
use isopod_gnu::pattern::{Pattern, Rules};
use isopod_regex::Syntax;
use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::text;

use super::action::Action;
use super::age::{Clock, Stamp, Window};
use super::arguments::Follow;
use super::compare::{Bound, Size};
use super::exec::Exec;
use super::expression::Stop;
use super::permissions::Permissions;
use super::regex::{self, PathRegex};
use super::sink::{OUTPUT, Sinks};
use super::test::Test;
use super::{age, format};
use crate::messages::quoted;

/// A test or an action.
pub(super) enum Primary {
    Test(Test),
    Action(Action),
}

/// The settings of options, and the files that actions print to.
pub(super) struct Settings {
    pub(super) follow: Follow,
    pub(super) min_depth: usize,
    pub(super) max_depth: usize,
    /// True if a directory is visited after its entries.
    pub(super) depth_first: bool,
    /// True if other file systems are left out.
    pub(super) one_device: bool,
    pub(super) files0_from: Option<String>,
    pub(super) forgives_races: bool,
    pub(super) warnings: Vec<String>,
    pub(super) sinks: Sinks,
    pub(super) clock: Clock,
    syntax: Syntax,
    asks_depth: bool,
    deletes: bool,
    prunes: bool,
}

impl Settings {
    pub(super) fn new(follow: Follow) -> Settings {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        Settings {
            follow,
            min_depth: 0,
            max_depth: usize::MAX,
            depth_first: false,
            one_device: false,
            files0_from: None,
            forgives_races: false,
            warnings: Vec::new(),
            sinks: Sinks::new(),
            clock: Clock { now, daystart: false },
            syntax: Syntax::Emacs,
            asks_depth: false,
            deletes: false,
            prunes: false,
        }
    }

    /// Refuses `-delete` together with `-prune`, which would remove more than was meant.
    pub(super) fn check(&self) -> Result<(), Stop> {
        if self.deletes && self.prunes && !self.asks_depth {
            return Err(Stop::Wrong(
                "The -delete action automatically turns on -depth, but -prune does nothing when -depth is in effect.  \
                 If you want to carry on anyway, just explicitly use the -depth option."
                    .into(),
            ));
        }
        Ok(())
    }

    /// Reads the primary `name` and its arguments, which start at `at`.
    pub(super) fn primary(&mut self, name: &str, args: &[String], at: &mut usize) -> Result<Primary, Stop> {
        if let Some(test) = self.option(name, args, at)? {
            return Ok(Primary::Test(test));
        }
        if let Some(action) = self.action(name, args, at)? {
            return Ok(Primary::Action(action));
        }
        let mut argument = || argument(name, args, at);
        let test = match name {
            "-true" => Test::Always,
            "-false" => Test::Never,
            "-empty" => Test::Empty,
            "-name" | "-iname" => Test::Name(pattern(name, argument()?)),
            "-path" | "-wholename" | "-ipath" | "-iwholename" => Test::Path(pattern(name, argument()?)),
            "-lname" | "-ilname" => Test::Target(pattern(name, argument()?)),
            "-regex" | "-iregex" => Test::Regex(PathRegex::new(argument()?, self.syntax, name == "-iregex")?),
            "-type" => Test::Kind(kinds(name, argument()?)?),
            "-xtype" => Test::OtherKind(kinds(name, argument()?)?),
            "-size" => Test::Size(Size::parse(argument()?)?),
            "-links" => Test::Links(bound(name, argument()?)?),
            "-inum" => Test::Inode(bound(name, argument()?)?),
            "-uid" => Test::User(bound(name, argument()?)?),
            "-gid" => Test::Group(bound(name, argument()?)?),
            "-user" => Test::User(exactly(user(argument()?)?)),
            "-group" => Test::Group(exactly(group(argument()?)?)),
            "-nouser" => Test::UnknownUser(accounts::users().iter().map(|user| user.uid).collect()),
            "-nogroup" => Test::UnknownGroup(accounts::groups().iter().map(|group| group.gid).collect()),
            "-perm" => Test::Permissions(Permissions::parse(argument()?)?),
            "-samefile" => {
                let found = self.reference(argument()?)?;
                Test::Same(found.device, found.inode)
            }
            "-readable" => Test::Access(4),
            "-writable" => Test::Access(2),
            "-executable" => Test::Access(1),
            "-used" => {
                let text = argument()?;
                Test::Used(Window::used(text).ok_or_else(|| format!("Invalid argument {text} to -used"))?)
            }
            "-fstype" | "-context" => {
                return Err(Stop::Wrong(format!("{name}: file systems have no types and files no contexts here")));
            }
            _ => return self.time_test(name, args, at).map(Primary::Test),
        };
        Ok(Primary::Test(test))
    }

    fn option(&mut self, name: &str, args: &[String], at: &mut usize) -> Result<Option<Test>, Stop> {
        match name {
            "-depth" | "-d" => (self.depth_first, self.asks_depth) = (true, true),
            "-maxdepth" => self.max_depth = depth(name, argument(name, args, at)?)?,
            "-mindepth" => self.min_depth = depth(name, argument(name, args, at)?)?,
            "-mount" | "-xdev" => self.one_device = true,
            "-follow" => self.follow = Follow::Always,
            "-daystart" => self.clock.daystart = true,
            "-regextype" => self.syntax = regex::dialect(argument(name, args, at)?)?,
            "-files0-from" => self.files0_from = Some(argument(name, args, at)?.to_owned()),
            "-ignore_readdir_race" => self.forgives_races = true,
            "-noignore_readdir_race" => self.forgives_races = false,
            // There is no leaf optimisation, and the only warnings are those about formats.
            "-noleaf" | "-warn" | "-nowarn" => {}
            _ => return Ok(None),
        }
        Ok(Some(Test::Always))
    }

    fn action(&mut self, name: &str, args: &[String], at: &mut usize) -> Result<Option<Action>, Stop> {
        Ok(Some(match name {
            "-print" => Action::Print { sink: OUTPUT, end: b'\n' },
            "-print0" => Action::Print { sink: OUTPUT, end: 0 },
            "-fprint" => Action::Print { sink: self.sinks.open(argument(name, args, at)?)?, end: b'\n' },
            "-fprint0" => Action::Print { sink: self.sinks.open(argument(name, args, at)?)?, end: 0 },
            "-printf" => {
                Action::Format { sink: OUTPUT, pieces: format::parse(argument(name, args, at)?, &mut self.warnings)? }
            }
            "-fprintf" => {
                let file = argument(name, args, at)?;
                let text = argument(name, args, at).map_err(|_| invalid(file, name))?;
                let sink = self.sinks.open(file)?;
                Action::Format { sink, pieces: format::parse(text, &mut self.warnings)? }
            }
            "-ls" => Action::List { sink: OUTPUT },
            "-fls" => Action::List { sink: self.sinks.open(argument(name, args, at)?)? },
            "-exec" | "-execdir" => Action::Exec(Exec::parse(name, args, at)?),
            "-ok" | "-okdir" => {
                argument(name, args, at)?;
                let instead = name.replace("-ok", "-exec");
                return Err(Stop::Wrong(format!("{name}: there is no terminal to ask at; use {instead}")));
            }
            "-delete" => {
                (self.depth_first, self.deletes) = (true, true);
                Action::Delete
            }
            "-prune" => {
                self.prunes = true;
                Action::Prune
            }
            "-quit" => Action::Quit,
            _ => return Ok(None),
        }))
    }

    fn time_test(&self, name: &str, args: &[String], at: &mut usize) -> Result<Test, Stop> {
        let days = |stamp, text: &str| {
            self.clock.days(text).map(|window| Test::Time(stamp, window)).ok_or_else(|| invalid(text, name))
        };
        let minutes = |stamp, text: &str| {
            self.clock.minutes(text).map(|window| Test::Time(stamp, window)).ok_or_else(|| invalid(text, name))
        };
        let newer = |stamp, text: &str| {
            self.reference(text).map(|found| Test::Time(stamp, Window::after(found.modified.into())))
        };
        match name {
            "-atime" => days(Stamp::Accessed, argument(name, args, at)?),
            "-ctime" => days(Stamp::Changed, argument(name, args, at)?),
            "-mtime" => days(Stamp::Modified, argument(name, args, at)?),
            "-amin" => minutes(Stamp::Accessed, argument(name, args, at)?),
            "-cmin" => minutes(Stamp::Changed, argument(name, args, at)?),
            "-mmin" => minutes(Stamp::Modified, argument(name, args, at)?),
            "-newer" => newer(Stamp::Modified, argument(name, args, at)?),
            "-anewer" => newer(Stamp::Accessed, argument(name, args, at)?),
            "-cnewer" => newer(Stamp::Changed, argument(name, args, at)?),
            _ => match name.strip_prefix("-newer").map(str::as_bytes) {
                Some([x, y]) => self.newer_xy(name, *x, *y, args, at),
                _ => Err(Stop::Wrong(format!("unknown predicate `{name}'"))),
            },
        }
    }

    /// Reads `-newerXY`: time X of a file against time Y of another, or against a date.
    fn newer_xy(&self, name: &str, x: u8, y: u8, args: &[String], at: &mut usize) -> Result<Test, Stop> {
        if x == b'B' || y == b'B' {
            return Err(Stop::Wrong(format!(
                "This system does not provide a way to find the birth time of a file.\nfind: invalid predicate `{name}'"
            )));
        }
        let stamp = |letter| age::Stamp::by_letter(letter).filter(|_| b"acm".contains(&letter));
        let (Some(stamp_x), true) = (stamp(x), y == b't' || stamp(y).is_some()) else {
            return Err(Stop::Wrong(format!("invalid predicate `{name}'")));
        };
        let text = argument(name, args, at)
            .map_err(|_| Stop::Wrong(format!("The {} test needs an argument", quoted(name))))?;
        let moment = match stamp(y) {
            Some(stamp_y) => stamp_y.of(&self.reference(text)?).into(),
            None => moment::parse(text, self.clock.now)
                .ok_or_else(|| format!("I cannot figure out how to interpret {} as a date or time", quoted(text)))?,
        };
        Ok(Test::Time(stamp_x, Window::after(moment)))
    }

    /// Returns the attributes of a file that others are compared with.
    fn reference(&self, path: &str) -> Result<Attributes, Stop> {
        let found = match files::stat(path, self.follow != Follow::Never) {
            Err(_) if self.follow != Follow::Never => files::stat(path, false),
            result => result,
        };
        found.map_err(|errno| Stop::Wrong(format!("{}: {}", quoted(path), text(errno))))
    }
}

fn argument<'a>(name: &str, args: &'a [String], at: &mut usize) -> Result<&'a str, Stop> {
    let argument = args.get(*at).ok_or_else(|| format!("missing argument to `{name}'"))?;
    *at += 1;
    Ok(argument)
}

fn invalid(argument: &str, name: &str) -> Stop {
    Stop::Wrong(format!("invalid argument `{argument}' to `{name}'"))
}

fn pattern(name: &str, text: &str) -> Pattern {
    Pattern::new(text, Rules { fold: name.starts_with("-i"), ..Rules::default() })
}

fn bound(name: &str, text: &str) -> Result<Bound<u64>, Stop> {
    Bound::parse(text).ok_or_else(|| invalid(text, name))
}

fn exactly(number: u32) -> Bound<u64> {
    Bound { order: Ordering::Equal, value: number.into() }
}

fn user(text: &str) -> Result<u32, Stop> {
    let named = accounts::users().into_iter().find(|user| user.name == text).map(|user| user.uid);
    named
        .or_else(|| digits(text))
        .ok_or_else(|| Stop::Wrong(format!("{} is not the name of a known user", quoted(text))))
}

fn group(text: &str) -> Result<u32, Stop> {
    let named = accounts::groups().into_iter().find(|group| group.name == text).map(|group| group.gid);
    named
        .or_else(|| digits(text))
        .ok_or_else(|| Stop::Wrong(format!("{} is not the name of an existing group", quoted(text))))
}

fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn depth(name: &str, text: &str) -> Result<usize, Stop> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten().ok_or_else(|| {
        Stop::Wrong(format!("Expected a positive decimal integer argument to {name}, but got {}", quoted(text)))
    })
}

/// Reads file types, letters with commas between.
fn kinds(name: &str, text: &str) -> Result<Vec<Kind>, Stop> {
    let wrong = |message: String| Err(Stop::Wrong(message));
    if text.is_empty() {
        return wrong(format!("Arguments to {name} should contain at least one letter"));
    }
    let (mut letters, mut kinds) = (Vec::new(), Vec::new());
    let mut rest = text.chars();
    loop {
        let Some(letter) = rest.next() else {
            return wrong(format!(
                "Last file type in list argument to {name} is missing, i.e., list is ending on: ','"
            ));
        };
        let kind = match letter {
            'f' => Some(Kind::File),
            'd' => Some(Kind::Directory),
            'l' => Some(Kind::Symlink),
            'c' => Some(Kind::Device),
            'p' => Some(Kind::Pipe),
            // There are no block devices and no sockets in a sandbox.
            'b' | 's' => None,
            'D' => return wrong(format!("{name} D is not supported because there are no Solaris doors here.")),
            other => return wrong(format!("Unknown argument to {name}: {other}")),
        };
        if letters.contains(&letter) {
            return wrong(format!("Duplicate file type '{letter}' in the argument list to {name}."));
        }
        letters.push(letter);
        kinds.extend(kind);
        match rest.next() {
            None => return Ok(kinds),
            Some(',') => {}
            Some(_) => return wrong(format!("Must separate multiple arguments to {name} using: ','")),
        }
    }
}
