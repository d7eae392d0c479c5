//! Waiting for children.

use isopod_sys::{Errno, process};

use crate::state::jobs::exit_status;
use crate::state::traps::TIME_OVER;
use crate::state::{Shell, Stop};

impl Shell {
    /// Waits for one child and returns its status. Signals caught meanwhile are handled after the command, as in bash.
    pub(super) fn wait_for(&mut self, pid: u32, command: Option<&[String]>) -> Result<u8, Stop> {
        loop {
            match process::wait(Some(pid), None) {
                Ok((_, status)) => {
                    if let (process::Status::Signalled(signal), Some(command)) = (&status, command) {
                        self.take_signals();
                        // After a timeout the deaths that it caused are not reported.
                        if !self.caught.contains(&TIME_OVER) {
                            let words: Vec<String> = command.iter().map(|word| crate::quote::traced(word)).collect();
                            self.report_death(pid, *signal, &words.join(" "));
                        }
                    }
                    return Ok(exit_status(status));
                }
                Err(Errno::Interrupted) => {
                    self.take_signals();
                    // A signal that interrupts a live shell's command reaches its children too, so they are waited for.
                    if !self.live {
                        self.check_deadly()?;
                    }
                }
                Err(_) => return Ok(127),
            }
        }
    }

    /// Reports that a signal ended a child, except for INT and PIPE.
    pub fn report_death(&mut self, pid: u32, signal: u8, command: &str) {
        let what = match signal {
            2 | 13 => return,
            1 => "Hangup",
            3 => "Quit",
            4 => "Illegal instruction",
            6 => "Aborted",
            8 => "Floating point exception",
            9 => "Killed",
            10 => "User defined signal 1",
            11 => "Segmentation fault",
            12 => "User defined signal 2",
            14 => "Alarm clock",
            15 => "Terminated",
            _ => "Terminated by a signal",
        };
        self.complain(&format!("{pid:5} {what:23} {command}"));
    }

    /// Takes the caught signals from the kernel. They are handled between commands.
    pub(super) fn take_signals(&mut self) {
        self.caught.extend(process::pending());
    }
}
