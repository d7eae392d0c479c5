//! Signals: their delivery, the dispositions of a process, and the end of a process by a signal.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::task::Waker;

use futures::task::AtomicWaker;
use tokio::sync::Notify;

use crate::error::{Errno, Result};

/// A signal by its Linux number, 1 to 31.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signal(u8);

impl Signal {
    /// SIGHUP
    pub const HUP: Signal = Signal(1);
    /// SIGINT
    pub const INT: Signal = Signal(2);
    /// SIGABRT
    pub const ABRT: Signal = Signal(6);
    /// SIGFPE
    pub const FPE: Signal = Signal(8);
    /// SIGKILL
    pub const KILL: Signal = Signal(9);
    /// SIGSEGV
    pub const SEGV: Signal = Signal(11);
    /// SIGPIPE
    pub const PIPE: Signal = Signal(13);
    /// SIGTERM
    pub const TERM: Signal = Signal(15);
    /// SIGCHLD
    pub const CHLD: Signal = Signal(17);
    const CONT: Signal = Signal(18);
    const STOP: Signal = Signal(19);
    const TSTP: Signal = Signal(20);
    const TTIN: Signal = Signal(21);
    const TTOU: Signal = Signal(22);
    /// SIGXCPU
    pub const XCPU: Signal = Signal(24);
    const URG: Signal = Signal(23);
    const WINCH: Signal = Signal(28);

    /// The signal with this number.
    pub fn new(number: u8) -> Result<Signal> {
        if (1..=31).contains(&number) { Ok(Signal(number)) } else { Err(Errno::Invalid) }
    }

    /// The Linux number.
    pub fn number(self) -> u8 {
        self.0
    }

    fn bit(self) -> u32 {
        1 << self.0
    }

    fn is_ignored_by_default(self) -> bool {
        [Signal::CHLD, Signal::CONT, Signal::URG, Signal::WINCH].contains(&self)
    }

    /// Returns true if the default action stops a process. That would need a scheduler that leaves it out, and there is
    /// none.
    fn stops(self) -> bool {
        [Signal::STOP, Signal::TSTP, Signal::TTIN, Signal::TTOU].contains(&self)
    }
}

/// The action of a process on a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// End the process, or do nothing for the signals that are ignored by default.
    Default,
    /// Do nothing.
    Ignore,
    /// Keep the signal until the process takes it.
    Catch,
}

/// The signals of a process.
#[derive(Debug, Default)]
pub struct Signals {
    ignored: AtomicU32,
    caught: AtomicU32,
    pending: AtomicU32,
    /// The number of the signal that ends the process, or 0. The first one wins.
    fatal: AtomicU8,
    /// Wakes the future of the process when `fatal` is set.
    waker: AtomicWaker,
    /// Wakes a call that waits, when a caught signal arrives.
    arrived: Notify,
}

impl Signals {
    /// Makes the signals of a child, which inherits the ignored ones.
    pub fn inherit(&self) -> Signals {
        Signals { ignored: AtomicU32::new(self.ignored.load(Ordering::Relaxed)), ..Signals::default() }
    }

    /// Delivers a signal.
    pub fn send(&self, signal: Signal) -> Result<()> {
        if signal == Signal::KILL {
            self.end(signal);
        } else if signal.stops() {
            return Err(Errno::NotSupported);
        } else if self.caught.load(Ordering::Acquire) & signal.bit() != 0 {
            self.pending.fetch_or(signal.bit(), Ordering::AcqRel);
            self.arrived.notify_waiters();
        } else if !signal.is_ignored_by_default() && !self.ignores(signal) {
            self.end(signal);
        }
        Ok(())
    }

    /// Ends the process with this signal, whatever its disposition.
    pub fn end(&self, signal: Signal) {
        // A process ends once: a later signal changes nothing.
        let _ = self.fatal.compare_exchange(0, signal.0, Ordering::AcqRel, Ordering::Acquire);
        self.waker.wake();
    }

    /// The signal that ends the process, if there is one.
    pub fn fatal(&self) -> Option<Signal> {
        Some(self.fatal.load(Ordering::Acquire)).filter(|n| *n != 0).map(Signal)
    }

    /// Sets the waker that is called when a signal ends the process.
    pub fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// Sets the disposition of a signal and returns the old one.
    pub fn set(&self, signal: Signal, disposition: Disposition) -> Result<Disposition> {
        if signal == Signal::KILL || signal.stops() {
            return Err(Errno::Invalid);
        }
        let before = if self.caught.load(Ordering::Acquire) & signal.bit() != 0 {
            Disposition::Catch
        } else if self.ignores(signal) {
            Disposition::Ignore
        } else {
            Disposition::Default
        };
        let add = |set: &AtomicU32| set.fetch_or(signal.bit(), Ordering::AcqRel);
        let remove = |set: &AtomicU32| set.fetch_and(!signal.bit(), Ordering::AcqRel);
        // Added to the new set before it leaves the old: a signal in between must not meet the default action.
        match disposition {
            Disposition::Default => (remove(&self.caught), remove(&self.ignored)),
            Disposition::Ignore => (add(&self.ignored), remove(&self.caught)),
            Disposition::Catch => (add(&self.caught), remove(&self.ignored)),
        };
        Ok(before)
    }

    /// Returns true if a signal is ignored.
    pub fn ignores(&self, signal: Signal) -> bool {
        self.ignored.load(Ordering::Acquire) & signal.bit() != 0
    }

    /// Takes the caught signals that arrived, lowest first.
    pub fn take_pending(&self) -> Vec<Signal> {
        let bits = self.pending.swap(0, Ordering::AcqRel);
        (1..=31).map(Signal).filter(|s| bits & s.bit() != 0).collect()
    }

    /// Drops caught signals that have arrived.
    pub fn forget(&self, signals: [Signal; 2]) {
        let bits = signals.into_iter().fold(0, |bits, signal| bits | signal.bit());
        self.pending.fetch_and(!bits, Ordering::AcqRel);
    }

    /// Waits until a caught signal is pending.
    pub async fn arrival(&self) {
        loop {
            let woken = self.arrived.notified();
            if self.pending.load(Ordering::Acquire) != 0 {
                return;
            }
            woken.await;
        }
    }
}
