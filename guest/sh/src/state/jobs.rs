//! Background jobs.

use isopod_sys::process;

/// The jobs in the background, and the ended ones whose status has not been read.
#[derive(Debug, Default)]
pub struct Jobs {
    /// The jobs, oldest first.
    pub list: Vec<Job>,
    /// Statuses of ended processes whose job has been dropped, for a later `wait PID`.
    pub ended: Vec<(u32, u8)>,
}

/// One job: a pipeline started with `&`.
#[derive(Debug)]
pub struct Job {
    /// Its number, as in `%1`.
    pub number: u32,
    /// Its processes in the order of the pipeline, with the statuses of those that have ended.
    pub processes: Vec<(u32, Option<u8>)>,
    /// The command as written.
    pub text: String,
    /// `jobs` has shown its end.
    pub reported: bool,
}

impl Jobs {
    /// Adds a job and returns its number.
    pub fn add(&mut self, pids: Vec<u32>, text: String) -> u32 {
        let number = self.list.iter().map(|j| j.number).max().unwrap_or(0) + 1;
        let processes = pids.into_iter().map(|pid| (pid, None)).collect();
        self.list.push(Job { number, processes, text, reported: false });
        number
    }

    /// Records the status of a process that ended.
    pub fn note(&mut self, pid: u32, status: u8) {
        for job in &mut self.list {
            for process in &mut job.processes {
                if process.0 == pid {
                    process.1 = Some(status);
                    return;
                }
            }
        }
        self.remember(pid, status);
    }

    /// Keeps a status for later. The number is limited, as in bash.
    pub fn remember(&mut self, pid: u32, status: u8) {
        if self.ended.len() >= 1024 {
            self.ended.remove(0);
        }
        self.ended.push((pid, status));
    }

    /// Returns the status of a process that has ended.
    pub fn status_of(&self, pid: u32) -> Option<u8> {
        let in_job = self.list.iter().flat_map(|j| &j.processes).find(|(p, _)| *p == pid).and_then(|(_, s)| *s);
        in_job.or_else(|| self.ended.iter().rev().find(|(p, _)| *p == pid).map(|(_, s)| *s))
    }

    /// Drops the finished jobs and keeps their statuses.
    pub fn forget_done(&mut self) {
        let done: Vec<(u32, u8)> = self.list.iter().filter(|j| j.is_done()).map(|j| (j.leader(), j.status())).collect();
        self.list.retain(|j| !j.is_done());
        for (pid, status) in done {
            self.remember(pid, status);
        }
    }

    /// Records the processes that have ended, without waiting.
    pub fn reap(&mut self) {
        while self.list.iter().any(|j| !j.is_done()) {
            match process::wait(None, Some(0)) {
                Ok((pid, status)) => self.note(pid, exit_status(status)),
                Err(_) => return,
            }
        }
    }

    /// Finds a job by a specification such as `%1`, `%%`, `%-`, `%name` or `%?text`.
    pub fn find(&self, spec: &str) -> Option<usize> {
        let rest = spec.strip_prefix('%')?;
        let live = |i: &usize| !self.list[*i].is_done();
        match rest {
            "" | "%" | "+" => (0..self.list.len()).rev().find(live).or(self.list.len().checked_sub(1)),
            "-" => (0..self.list.len()).rev().filter(live).nth(1).or(self.list.len().checked_sub(1)),
            _ => match (rest.parse::<u32>(), rest.strip_prefix('?')) {
                (Ok(number), _) => self.list.iter().position(|j| j.number == number),
                (_, Some(part)) => self.list.iter().rposition(|j| j.text.contains(part)),
                _ => self.list.iter().rposition(|j| j.text.starts_with(rest)),
            },
        }
    }
}

impl Job {
    /// Returns true if all its processes have ended.
    pub fn is_done(&self) -> bool {
        self.processes.iter().all(|(_, status)| status.is_some())
    }

    /// Returns the status of its last process.
    pub fn status(&self) -> u8 {
        self.processes.last().and_then(|(_, status)| *status).unwrap_or(0)
    }

    /// Returns the process that `$!` names.
    pub fn leader(&self) -> u32 {
        self.processes.last().map_or(0, |(pid, _)| *pid)
    }
}

/// Returns the exit status that a shell reports for an ended process.
pub fn exit_status(status: process::Status) -> u8 {
    match status {
        process::Status::Exited(code) => code,
        process::Status::Signalled(signal) => 128u8.wrapping_add(signal),
    }
}
