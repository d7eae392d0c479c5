//! Commands that run other commands, such as `env`, `xargs` and `sh -c`.
//!
//! Each is a row of a table, or a function if no other command is like it. An unknown option is taken for one without a
//! value. The word that then looks like the command is shown as it is written.

use std::ops::Range;

use super::argument::Field;

/// The commands that a command runs. Ranges and indices count from the first argument.
#[derive(Default)]
pub(super) struct NestedCommands {
    /// True if it runs commands that the text does not determine.
    pub(super) opaque: bool,
    /// A script among its arguments or in its input.
    pub(super) script: Option<String>,
    /// The index of a command that extends to the last argument.
    pub(super) command: Option<usize>,
    /// Commands among its arguments, in order.
    pub(super) others: Vec<Range<usize>>,
    /// The external input of these commands.
    pub(super) external: ExternalInput,
}

/// The input of a command that does not stand in its words.
#[derive(Clone, Default)]
pub(super) struct ExternalInput {
    /// The standard input, if it is a constant.
    pub(super) input: Option<String>,
    /// True if more arguments are appended.
    pub(super) more: bool,
    /// The text that is replaced in its words.
    pub(super) placeholder: Option<String>,
}

/// A command whose first argument after the options is a command.
struct Prefix {
    name: &'static str,
    /// The letters of options whose value may be the next word.
    valued: &'static str,
    /// The long options whose value may be the next word.
    long: &'static [&'static str],
    /// The letters of options that make the command opaque.
    unknown: &'static str,
    /// A long option that makes the command opaque.
    unknown_long: &'static str,
    /// The number of words before the command.
    positionals: usize,
    /// True if assignments may stand before the command.
    assigns: bool,
}

const fn prefix(name: &'static str) -> Prefix {
    Prefix { name, valued: "", long: &[], unknown: "", unknown_long: "", positionals: 0, assigns: false }
}

const PREFIXES: [Prefix; 17] = [
    Prefix {
        valued: "uC",
        long: &["unset", "chdir"],
        unknown: "S",
        unknown_long: "split-string",
        assigns: true,
        ..prefix("env")
    },
    Prefix {
        valued: "CDghpRrTtUu",
        long: &["chdir", "chroot", "close-from", "command-timeout", "group", "host", "other-user", "prompt", "user"],
        // Shells, and an editor.
        unknown: "eis",
        assigns: true,
        ..prefix("sudo")
    },
    Prefix { valued: "Cu", ..prefix("doas") },
    Prefix { valued: "ks", long: &["kill-after", "signal"], positionals: 1, ..prefix("timeout") },
    Prefix {
        valued: "adEILnPs",
        long: &["arg-file", "delimiter", "max-args", "max-chars", "max-procs", "process-slot-var"],
        ..prefix("xargs")
    },
    Prefix { valued: "n", long: &["adjustment"], ..prefix("nice") },
    Prefix { valued: "cn", long: &["class", "classdata"], unknown: "pPu", ..prefix("ionice") },
    Prefix { valued: "eio", long: &["error", "input", "output"], ..prefix("stdbuf") },
    Prefix { valued: "fo", long: &["format", "output"], ..prefix("time") },
    Prefix { positionals: 1, ..prefix("chroot") },
    Prefix { positionals: 1, unknown: "p", ..prefix("taskset") },
    Prefix { valued: "a", ..prefix("exec") },
    prefix("builtin"),
    prefix("busybox"),
    prefix("command"),
    prefix("nohup"),
    prefix("setsid"),
];

/// Shells: they run a script from an argument, a file or their input.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "ksh", "rbash", "zsh"];

/// Programs that run commands from a file, or in a language of their own.
const INTERPRETERS: [&str; 29] = [
    ".", "alias", "at", "awk", "batch", "crontab", "expect", "flock", "gawk", "gdb", "lua", "make", "mawk", "nawk",
    "node", "parallel", "perl", "php", "python", "python3", "ruby", "screen", "script", "source", "ssh", "strace",
    "su", "tmux", "watch",
];

/// The directories of the system's programs. A file in another directory can be any program.
const DIRECTORIES: [&str; 6] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Finds the commands that a command runs, given all of its words.
pub(super) fn nested_commands(fields: &[Field], external: &ExternalInput) -> NestedCommands {
    let nothing = NestedCommands::default();
    let unknown = NestedCommands { opaque: true, ..NestedCommands::default() };
    let Some((program, rest)) = fields.split_first() else { return nothing };
    let replaced = |text: &str| external.placeholder.as_deref().is_some_and(|placeholder| text.contains(placeholder));
    let Some(program) = program.constant().filter(|text| !replaced(text)) else { return unknown };
    let name = match program.rsplit_once('/') {
        Some((directory, name)) if DIRECTORIES.contains(&directory) => name,
        Some(_) => return unknown,
        None => program,
    };
    let scripted = |script: Script| match script {
        Script::Text(text) => {
            NestedCommands { opaque: replaced(&text), script: Some(text), ..NestedCommands::default() }
        }
        Script::Unknown => NestedCommands { opaque: true, ..NestedCommands::default() },
        Script::None => NestedCommands::default(),
    };
    match name {
        "eval" => scripted(eval(rest)),
        "trap" => scripted(trap(rest)),
        "find" => find(rest),
        _ if SHELLS.contains(&name) => scripted(shell(rest, external)),
        _ if INTERPRETERS.contains(&name) => unknown,
        _ => match PREFIXES.iter().find(|prefix| prefix.name == name) {
            Some(prefix) => prefix.nested_commands(rest, external),
            None => nothing,
        },
    }
}

/// Returns true if the command changes the grammar: `shopt -s extglob`.
pub(super) fn is_extglob(fields: &[Field]) -> bool {
    let has = |word| fields.iter().any(|field| field.constant() == Some(word));
    fields.first().is_some_and(|program| program.constant() == Some("shopt")) && has("-s") && has("extglob")
}

impl Prefix {
    fn nested_commands(&self, rest: &[Field], external: &ExternalInput) -> NestedCommands {
        let Some(at) = self.command_at(rest) else {
            return NestedCommands { opaque: true, ..NestedCommands::default() };
        };
        let looks = self.name == "command" && rest[..at].iter().any(|field| field.constant().is_some_and(is_lookup));
        if looks || at >= rest.len() {
            // Without a command it runs none, unless arguments are appended.
            return NestedCommands { opaque: external.more && !looks, ..NestedCommands::default() };
        }
        let next = match self.name == "xargs" {
            true => ExternalInput { input: None, more: true, placeholder: placeholder(&rest[..at]) },
            false => external.clone(),
        };
        NestedCommands { command: Some(at), external: next, ..NestedCommands::default() }
    }

    /// The index of the command. `None` if it is unknown.
    fn command_at(&self, rest: &[Field]) -> Option<usize> {
        let mut at = 0;
        while let Some(field) = rest.get(at) {
            let text = field.constant();
            let is_assignment = self.assigns && field.is_one && is_assignment(&field.argument.text);
            match text {
                Some("--") => {
                    at += 1;
                    break;
                }
                _ if is_assignment => at += 1,
                Some(option) if option.len() > 1 && option.starts_with('-') => {
                    at += self.option_words(option, rest, at)?
                }
                Some(_) => break,
                // The word may expand to an option, or to nothing.
                None if self.positionals == 0 || !field.is_one => return dynamic_command(rest, at),
                None => break,
            }
        }
        for _ in 0..self.positionals {
            if !rest.get(at).is_none_or(|field| field.is_one) {
                return None;
            }
            at += 1;
        }
        while self.assigns && rest.get(at).is_some_and(|field| field.is_one && is_assignment(&field.argument.text)) {
            at += 1;
        }
        Some(at)
    }

    /// The number of words of an option.
    fn option_words(&self, option: &str, rest: &[Field], at: usize) -> Option<usize> {
        let takes_next = match option.strip_prefix("--") {
            // Long options may be abbreviated.
            Some(long) => {
                let name = long.split_once('=').map_or(long, |(name, _)| name);
                if !name.is_empty() && self.unknown_long.starts_with(name) {
                    return None;
                }
                name == long && self.long.iter().any(|known| known.starts_with(name))
            }
            None => {
                let letters = &option[1..];
                if letters.chars().any(|letter| self.unknown.contains(letter)) {
                    return None;
                }
                letters.find(|letter| self.valued.contains(letter)).is_some_and(|found| found + 1 == letters.len())
            }
        };
        if takes_next && rest.get(at + 1).is_some_and(|value| !value.is_one) {
            return None;
        }
        Some(1 + usize::from(takes_next))
    }
}

/// The index of the command when it is a word that is not a constant. In quotes it is one word, so it is the command
/// unless it is an option, and is shown as the command.
fn dynamic_command(rest: &[Field], at: usize) -> Option<usize> {
    rest[at].is_one.then_some(at)
}

/// `command -v` and `-V` run nothing.
fn is_lookup(option: &str) -> bool {
    option.starts_with('-') && option.contains(['v', 'V'])
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| isopod_syntax::is_name(name))
}

/// The text that `xargs` replaces by its input.
fn placeholder(options: &[Field]) -> Option<String> {
    let mut words = options.iter().filter_map(Field::constant);
    while let Some(word) = words.next() {
        match word {
            "-I" => return words.next().map(str::to_owned),
            "-i" | "--replace" => return Some("{}".to_owned()),
            _ => {}
        }
        if let Some(attached) = word.strip_prefix("-I").or(word.strip_prefix("-i")).or(word.strip_prefix("--replace="))
        {
            return Some(attached.to_owned());
        }
    }
    None
}

/// A script that a command runs.
enum Script {
    Text(String),
    Unknown,
    None,
}

/// The script of `eval`, which joins its arguments.
fn eval(rest: &[Field]) -> Script {
    let rest = match rest.split_first() {
        Some((first, others)) if first.constant() == Some("--") => others,
        _ => rest,
    };
    let words: Option<Vec<&str>> = rest.iter().map(Field::constant).collect();
    words.map_or(Script::Unknown, |words| Script::Text(words.join(" ")))
}

/// The script of `trap 'script' SIGNAL …`.
fn trap(rest: &[Field]) -> Script {
    let words = match rest.split_first() {
        Some((first, others)) if first.constant() == Some("--") => others,
        _ => rest,
    };
    match words {
        [] => Script::None,
        [action, _, ..] => match action.constant() {
            Some(text) if text.is_empty() || text.starts_with('-') => Script::None,
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => Script::None,
            Some(text) => Script::Text(text.to_owned()),
            None => Script::Unknown,
        },
        [only] => only.constant().map_or(Script::Unknown, |_| Script::None),
    }
}

/// The script of `sh [options] [-c script | file]`.
fn shell(rest: &[Field], external: &ExternalInput) -> Script {
    let (mut at, mut has_script, mut reads_input) = (0, false, false);
    while let Some(field) = rest.get(at) {
        let Some(text) = field.constant() else { return Script::Unknown };
        match text {
            "-" | "--" => {
                at += 1;
                break;
            }
            "--version" | "--help" => return Script::None,
            "--rcfile" | "--init-file" => at += 2,
            _ if text.starts_with("--") => at += 1,
            _ if text.starts_with(['-', '+']) => {
                has_script |= text.starts_with('-') && text.contains('c');
                reads_input |= text.contains('s');
                at += 1 + text.bytes().filter(|letter| matches!(letter, b'o' | b'O')).count();
            }
            _ => break,
        }
    }
    match (has_script, rest.get(at)) {
        (true, Some(script)) => script.constant().map_or(Script::Unknown, |text| Script::Text(text.to_owned())),
        (true, None) => Script::Unknown,
        (false, operand) if (operand.is_none() && !external.more) || reads_input => {
            external.input.clone().map_or(Script::Unknown, Script::Text)
        }
        (false, _) => Script::Unknown,
    }
}

/// The commands of `find … -exec command ;`.
fn find(rest: &[Field]) -> NestedCommands {
    let external = ExternalInput { placeholder: Some("{}".to_owned()), ..ExternalInput::default() };
    let mut nested = NestedCommands { external, ..NestedCommands::default() };
    let mut at = 0;
    while let Some(field) = rest.get(at) {
        at += 1;
        match field.constant() {
            // The word may expand to an action.
            None => nested.opaque |= !field.is_one,
            Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                let begin = at;
                while at < rest.len() && !ends_action(&rest[begin..=at]) {
                    at += 1;
                }
                nested.others.push(begin..at);
            }
            Some(_) => {}
        }
    }
    nested
}

/// Returns true if the last of these words ends the command of an action: `;`, or `+` after `{}`.
fn ends_action(words: &[Field]) -> bool {
    match words {
        [.., last] if last.constant() == Some(";") => true,
        [.., before, last] => before.constant() == Some("{}") && last.constant() == Some("+"),
        _ => false,
    }
}
