//! The traps of a shell.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// At the end of the shell. The pseudo-signals are numbered outside of the real ones.
pub const EXIT: u8 = 0;
/// After a command failed.
pub const ERR: u8 = 64;
/// Before each command.
pub const DEBUG: u8 = 65;
/// After a function or sourced file.
pub const RETURN: u8 = 66;

/// INT: sent by a keyboard.
pub const INTERRUPT: u8 = 2;
/// XCPU: sent by the kernel when a live shell's command is out of time.
pub const TIME_OVER: u8 = 24;

/// Signals that end a shell. With an EXIT trap it catches them first: HUP, INT, USR1, USR2, PIPE, ALRM and TERM.
pub const DEADLY: [u8; 7] = [1, 2, 10, 12, 13, 14, 15];

/// The actions of a shell, by signal. An empty action ignores the signal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traps {
    actions: Vec<(u8, Rc<str>)>,
    /// The traps are the parent's, which a subshell shows but does not run.
    inherited: bool,
}

impl Traps {
    /// Returns the action for a signal.
    pub fn get(&self, signal: u8) -> Option<&Rc<str>> {
        self.actions.iter().find(|(s, _)| *s == signal).filter(|_| !self.inherited).map(|(_, action)| action)
    }

    /// Sets or clears the action for a signal.
    pub fn set(&mut self, signal: u8, action: Option<Rc<str>>) {
        if std::mem::replace(&mut self.inherited, false) {
            self.actions.retain(|(_, action)| action.is_empty());
        }
        self.actions.retain(|(s, _)| *s != signal);
        if let Some(action) = action {
            let at = self.actions.iter().position(|(s, _)| *s > signal).unwrap_or(self.actions.len());
            self.actions.insert(at, (signal, action));
        }
    }

    /// Returns true if there are no traps, not even inherited ones to show.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Returns all traps, by signal.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &str)> {
        self.actions.iter().map(|(signal, action)| (*signal, &**action))
    }

    /// Returns true if a real signal is caught, for its own trap or to run the EXIT trap first.
    pub fn catches_signals(&self) -> bool {
        !self.inherited && self.actions.iter().any(|(s, action)| *s < 32 && !action.is_empty())
    }

    /// Returns the traps of a subshell. It shows its parent's until it sets one. It obeys only the ignored signals,
    /// which the kernel keeps for it. ERR, DEBUG and RETURN stay in force if the options say so.
    pub fn for_subshell(&self, errtrace: bool, functrace: bool) -> Traps {
        let keep = |signal: u8| match signal {
            ERR => errtrace,
            DEBUG | RETURN => functrace,
            _ => false,
        };
        if self.actions.iter().any(|(s, _)| keep(*s)) {
            let actions = self.actions.iter().filter(|(s, a)| keep(*s) || a.is_empty()).cloned().collect();
            return Traps { actions, inherited: false };
        }
        Traps { actions: self.actions.clone(), inherited: true }
    }
}

/// The names of the signals, from number 1.
const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",
    "PWR", "SYS",
];

/// Finds a signal by its name, with or without SIG, or by its number.
pub fn signal_number(name: &str) -> Option<u8> {
    if let Ok(number) = name.parse::<u8>() {
        return (number < 32).then_some(number);
    }
    let upper = name.to_ascii_uppercase();
    let plain = upper.strip_prefix("SIG").unwrap_or(&upper);
    match plain {
        "EXIT" => return Some(EXIT),
        "ERR" if plain.len() == name.len() => return Some(ERR),
        "DEBUG" if plain.len() == name.len() => return Some(DEBUG),
        "RETURN" if plain.len() == name.len() => return Some(RETURN),
        "CLD" => return Some(17),
        "IOT" => return Some(6),
        "POLL" => return Some(29),
        _ => {}
    }
    SIGNALS.iter().position(|s| *s == plain).map(|i| i as u8 + 1)
}

/// Returns the name of a signal, without SIG.
pub fn signal_name(number: u8) -> Option<&'static str> {
    match number {
        EXIT => Some("EXIT"),
        ERR => Some("ERR"),
        DEBUG => Some("DEBUG"),
        RETURN => Some("RETURN"),
        _ => SIGNALS.get(usize::from(number) - 1).copied(),
    }
}
