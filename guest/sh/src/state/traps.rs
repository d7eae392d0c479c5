//! What `trap` set up.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// The pseudo-signals, numbered past the real ones.
pub const EXIT: u8 = 0;
/// After a command failed.
pub const ERR: u8 = 64;
/// Before each command.
pub const DEBUG: u8 = 65;
/// After a function or sourced file.
pub const RETURN: u8 = 66;

/// INT: what a keyboard sends.
pub const INTERRUPT: u8 = 2;
/// XCPU: what the kernel tells a live shell by when the time of a command is over.
pub const TIME_OVER: u8 = 24;

/// Signals that end a shell, and of which it hears first if it has an EXIT trap: HUP, INT, USR1, USR2, PIPE,
/// ALRM and TERM.
pub const DEADLY: [u8; 7] = [1, 2, 10, 12, 13, 14, 15];

/// The traps of a shell: what to run, by signal. An empty text ignores the signal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traps {
    actions: Vec<(u8, Rc<str>)>,
    /// Traps of the parent, which a subshell shows but does not have.
    inherited: bool,
}

impl Traps {
    /// What is done on a signal.
    pub fn get(&self, signal: u8) -> Option<&Rc<str>> {
        self.actions.iter().find(|(s, _)| *s == signal).filter(|_| !self.inherited).map(|(_, action)| action)
    }

    /// Sets or clears what is done.
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

    /// Whether there are none, not even ones to show.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// All of them, by signal.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &str)> {
        self.actions.iter().map(|(signal, action)| (*signal, &**action))
    }

    /// Whether a real signal is caught: for its own trap, or to run the EXIT trap before dying of it.
    pub fn catches_signals(&self) -> bool {
        !self.inherited && self.actions.iter().any(|(s, action)| *s < 32 && !action.is_empty())
    }

    /// The traps of a subshell: it shows its parent's until it sets one, and obeys only the ignored ones,
    /// which the kernel keeps for it. ERR, DEBUG and RETURN go on if the options say so.
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

/// Names of the signals, by number from 1.
const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",
    "PWR", "SYS",
];

/// A signal by name, with or without SIG, or by number.
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

/// The name of a signal, without SIG.
pub fn signal_name(number: u8) -> Option<&'static str> {
    match number {
        EXIT => Some("EXIT"),
        ERR => Some("ERR"),
        DEBUG => Some("DEBUG"),
        RETURN => Some("RETURN"),
        _ => SIGNALS.get(usize::from(number) - 1).copied(),
    }
}
