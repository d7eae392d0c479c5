//! The command lines of `zip` and `unzip`, whose lists of names end at the next option.

use isopod_gnu::pattern::{Pattern, Rules};

/// The parts of a command line.
#[derive(Default)]
pub(super) struct Command {
    /// The letters of options, in their order.
    pub(super) letters: Vec<char>,
    /// The names that are neither options nor in a list.
    pub(super) names: Vec<String>,
    pub(super) excluded: Vec<String>,
    pub(super) included: Vec<String>,
    /// `-d` of `unzip`.
    pub(super) directory: Option<String>,
}

impl Command {
    /// Reads arguments: `flags` are letters without a value, `lists` those of lists, `values` those with a value. An
    /// error is the unknown option.
    pub(super) fn read(args: &[String], flags: &str, lists: &str, values: &str) -> Result<Command, String> {
        let mut command = Command::default();
        let mut list = None;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                match list {
                    _ if arg == "@" => list = None,
                    Some('x') => command.excluded.push(arg.clone()),
                    Some(_) => command.included.push(arg.clone()),
                    None => command.names.push(arg.clone()),
                }
                continue;
            };
            list = None;
            if letters == "-" {
                command.names.extend(args.by_ref().cloned());
                break;
            }
            let letters = match letters.strip_prefix('-') {
                Some(long) => long_name(long)?,
                None => letters,
            };
            let mut rest = letters.chars();
            while let Some(letter) = rest.next() {
                if lists.contains(letter) {
                    list = Some(letter);
                    let glued: String = rest.by_ref().collect();
                    if !glued.is_empty() {
                        let names = if letter == 'x' { &mut command.excluded } else { &mut command.included };
                        names.push(glued);
                    }
                } else if values.contains(letter) {
                    let glued: String = rest.by_ref().collect();
                    let value = if glued.is_empty() { args.next().cloned() } else { Some(glued) };
                    command.directory = Some(value.ok_or_else(|| format!("option -{letter} requires a value"))?);
                } else if flags.contains(letter) {
                    command.letters.push(letter);
                } else {
                    return Err(format!("short option '{letter}' not supported"));
                }
            }
        }
        Ok(command)
    }

    pub(super) fn has(&self, letter: char) -> bool {
        self.letters.contains(&letter)
    }

    pub(super) fn count(&self, letter: char) -> usize {
        self.letters.iter().filter(|given| **given == letter).count()
    }
}

fn long_name(name: &str) -> Result<&'static str, String> {
    Ok(match name {
        "recurse-paths" => "r",
        "quiet" => "q",
        "verbose" => "v",
        "junk-paths" => "j",
        "exclude" => "x",
        "include" => "i",
        "symlinks" => "y",
        "update" => "u",
        "freshen" => "f",
        "delete" => "d",
        "move" => "m",
        "test" => "T",
        "no-dir-entries" => "D",
        "no-extra" => "X",
        "names-stdin" => "@",
        _ => return Err(format!("long option '{name}' not supported")),
    })
}

/// Compiles patterns of names. A star matches slashes too.
pub(super) fn patterns(texts: &[String], fold: bool) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::new(text, Rules { fold, ..Rules::default() })).collect()
}
