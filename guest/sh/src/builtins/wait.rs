//! `wait`

use isopod_sys::{Errno, process};

use super::options;
use crate::state::jobs::exit_status;
use crate::state::{Shell, Stop};

pub(super) fn wait(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "fnp:") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let targets = &arguments[given.rest..];
    let status = match () {
        () if given.has(b'n') => next(shell, targets, given.value(b'p')),
        () if targets.is_empty() => all(shell),
        () => each(shell, targets),
    };
    shell.forget_coprocesses();
    status
}

fn each(shell: &mut Shell, targets: &[String]) -> Result<u8, Stop> {
    let mut status = 0;
    for target in targets {
        status = match one(shell, target)? {
            Waited::Status(status) => status,
            Waited::Interrupted(status) => return Ok(status),
        };
    }
    Ok(status)
}

/// A job that was asked to end did what it was told: nothing is said.
const TERM: u8 = 15;

enum Waited {
    Status(u8),
    /// A trapped signal came: its status, and no more waiting.
    Interrupted(u8),
}

fn one(shell: &mut Shell, target: &str) -> Result<Waited, Stop> {
    let pids: Vec<u32> = if target.starts_with('%') {
        match shell.jobs.find(target) {
            Some(job) => shell.jobs.list[job].processes.iter().map(|(pid, _)| *pid).collect(),
            None => {
                shell.complain_as("wait", &format!("{target}: no such job"));
                return Ok(Waited::Status(127));
            }
        }
    } else {
        match target.parse::<u32>() {
            Ok(pid) => vec![pid],
            Err(_) => {
                shell.complain_as("wait", &format!("`{target}': not a pid or valid job spec"));
                return Ok(Waited::Status(1));
            }
        }
    };
    let mut last = 0;
    for pid in pids {
        last = match wait_pid(shell, pid) {
            Waited::Status(status) => status,
            interrupted => return Ok(interrupted),
        };
    }
    shell.jobs.forget_done();
    Ok(Waited::Status(last))
}

fn wait_pid(shell: &mut Shell, pid: u32) -> Waited {
    if let Some(status) = shell.jobs.status_of(pid) {
        return Waited::Status(status);
    }
    let known =
        shell.jobs.list.iter().any(|j| j.processes.iter().any(|(p, _)| *p == pid)) || shell.strays.contains(&pid);
    if !known {
        shell.complain_as("wait", &format!("pid {pid} is not a child of this shell"));
        return Waited::Status(127);
    }
    match process::wait(Some(pid), None) {
        Ok((_, status)) => {
            if let process::Status::Signalled(signal) = &status
                && *signal != TERM
                && let Some(job) = shell.jobs.list.iter().find(|j| j.leader() == pid)
            {
                let text = job.text.clone();
                shell.report_death(pid, *signal, &text);
            }
            let status = exit_status(status);
            shell.strays.retain(|p| *p != pid);
            shell.jobs.note(pid, status);
            Waited::Status(status)
        }
        Err(Errno::Interrupted) => interrupted(shell),
        Err(_) => Waited::Status(127),
    }
}

/// The trap runs after `wait`, which returns 128 and the signal.
fn interrupted(shell: &mut Shell) -> Waited {
    shell.caught.extend(process::pending());
    Waited::Interrupted(128u8.wrapping_add(shell.caught.first().copied().unwrap_or(0)))
}

/// Waits for everything that runs in the background.
fn all(shell: &mut Shell) -> Result<u8, Stop> {
    loop {
        let running = shell.jobs.list.iter().flat_map(|j| &j.processes).find(|(_, s)| s.is_none());
        // Of process substitutions only the last counts, if nothing was started after it.
        let last = shell.background.filter(|pid| shell.strays.contains(pid));
        let Some(pid) = running.map(|(pid, _)| *pid).or(last) else { break };
        if let Waited::Interrupted(status) = wait_pid(shell, pid) {
            return Ok(status);
        }
    }
    shell.jobs.forget_done();
    Ok(0)
}

/// `wait -n`: the next one to end.
fn next(shell: &mut Shell, targets: &[String], variable: Option<&str>) -> Result<u8, Stop> {
    let mut wanted: Vec<u32> = Vec::new();
    for target in targets {
        match (shell.jobs.find(target), target.parse::<u32>()) {
            (Some(job), _) => wanted.push(shell.jobs.list[job].leader()),
            (None, Ok(pid)) if shell.jobs.list.iter().any(|j| j.leader() == pid) => wanted.push(pid),
            _ => shell.complain_as("wait", &format!("{target}: no such job")),
        }
    }
    loop {
        let done =
            shell.jobs.list.iter().position(|j| j.is_done() && (targets.is_empty() || wanted.contains(&j.leader())));
        if let Some(at) = done {
            let job = shell.jobs.list.remove(at);
            if let Some(name) = variable {
                shell.assign(name, job.leader().to_string())?;
            }
            return Ok(job.status());
        }
        let candidates = shell.jobs.list.iter().any(|j| targets.is_empty() || wanted.contains(&j.leader()));
        if !candidates {
            return Ok(127);
        }
        match process::wait(None, None) {
            Ok((pid, status)) => shell.jobs.note(pid, exit_status(status)),
            Err(Errno::Interrupted) => match interrupted(shell) {
                Waited::Interrupted(status) | Waited::Status(status) => return Ok(status),
            },
            Err(_) => return Ok(127),
        }
    }
}
