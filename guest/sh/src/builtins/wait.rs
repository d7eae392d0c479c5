//! `wait`

use isopod_sys::{Errno, process};

use super::options;
use crate::state::jobs::exit_status;
use crate::state::variable::Attributes;
use crate::state::{Shell, Stop, TargetName};

pub(super) fn wait(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "fnp:") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    let targets = &arguments[given.rest..];
    let variable = match given.value(b'p') {
        Some(name) => Some(unset_result(shell, name)?),
        None => None,
    };
    let (status, pid) = match () {
        () if given.has(b'n') => next(shell, targets),
        () if targets.is_empty() => (all(shell), None),
        () => each(shell, targets),
    };
    shell.remove_finished_coprocesses();
    if let (Some(variable), Some(pid)) = (variable, pid) {
        shell.assign_target("wait", variable, pid.to_string())?;
    }
    Ok(status)
}

/// Reads and unsets the variable of `-p`. It stays unset if there is nothing to wait for.
fn unset_result<'a>(shell: &mut Shell, name: &'a str) -> Result<TargetName<'a>, Stop> {
    let Some(target) = TargetName::parse(name) else { return Err(shell.refuse_name("wait", name)) };
    if shell.variable(target.name).is_some_and(|v| v.is(Attributes::READONLY)) {
        return Err(shell.refuse(&format!("wait: {name}: cannot unset: readonly variable")));
    }
    if target.subscript.is_none() {
        // A reference whose variable does not exist is unset itself.
        let meant = match shell.resolve(name) {
            Some((meant, None)) if shell.variables.get(&meant).is_some() => meant,
            _ => name.to_owned(),
        };
        shell.variables.unset(&meant);
    }
    Ok(target)
}

/// Waits for each target in turn. Returns the status and the number of the last one.
fn each(shell: &mut Shell, targets: &[String]) -> (u8, Option<u32>) {
    let mut last = (0, None);
    for target in targets {
        last = match one(shell, target) {
            (WaitResult::Status(status), pid) => (status, pid),
            (WaitResult::Interrupted(status), _) => return (status, None),
        };
    }
    last
}

/// A job that ended by this signal is not reported, because it was told to end.
const TERM: u8 = 15;

enum WaitResult {
    Status(u8),
    /// A trapped signal arrived: the status, and the end of waiting.
    Interrupted(u8),
}

/// Waits for a job or a process. Returns its number as well, if it is a child of this shell.
fn one(shell: &mut Shell, target: &str) -> (WaitResult, Option<u32>) {
    let pids: Vec<u32> = if target.starts_with('%') {
        match shell.jobs.find(target) {
            Some(job) => shell.jobs.list[job].processes.iter().map(|(pid, _)| *pid).collect(),
            None => {
                shell.complain_as("wait", &format!("{target}: no such job"));
                return (WaitResult::Status(127), None);
            }
        }
    } else {
        match target.parse::<u32>() {
            Ok(pid) => vec![pid],
            Err(_) => {
                shell.complain_as("wait", &format!("`{target}': not a pid or valid job spec"));
                return (WaitResult::Status(1), None);
            }
        }
    };
    let mut last = (WaitResult::Status(0), None);
    for pid in pids {
        let is_child = is_child(shell, pid);
        last = match wait_pid(shell, pid) {
            WaitResult::Status(status) => (WaitResult::Status(status), is_child.then_some(pid)),
            interrupted => return (interrupted, None),
        };
    }
    shell.jobs.forget_done();
    last
}

fn is_child(shell: &Shell, pid: u32) -> bool {
    shell.jobs.status_of(pid).is_some()
        || shell.jobs.list.iter().any(|j| j.processes.iter().any(|(p, _)| *p == pid))
        || shell.substitution_processes.contains(&pid)
}

fn wait_pid(shell: &mut Shell, pid: u32) -> WaitResult {
    if let Some(status) = shell.jobs.status_of(pid) {
        return WaitResult::Status(status);
    }
    if !is_child(shell, pid) {
        shell.complain_as("wait", &format!("pid {pid} is not a child of this shell"));
        return WaitResult::Status(127);
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
            shell.substitution_processes.retain(|p| *p != pid);
            shell.jobs.note(pid, status);
            WaitResult::Status(status)
        }
        Err(Errno::Interrupted) => interrupted(shell),
        Err(_) => WaitResult::Status(127),
    }
}

/// Returns 128 and the signal. The trap runs after `wait`.
fn interrupted(shell: &mut Shell) -> WaitResult {
    shell.caught.extend(process::pending());
    WaitResult::Interrupted(128u8.wrapping_add(shell.caught.first().copied().unwrap_or(0)))
}

/// Waits for all background processes.
fn all(shell: &mut Shell) -> u8 {
    loop {
        let running = shell.jobs.list.iter().flat_map(|j| &j.processes).find(|(_, s)| s.is_none());
        // A process substitution is waited for only if it was the last process started.
        let last = shell.background.filter(|pid| shell.substitution_processes.contains(pid));
        let Some(pid) = running.map(|(pid, _)| *pid).or(last) else { break };
        if let WaitResult::Interrupted(status) = wait_pid(shell, pid) {
            return status;
        }
    }
    shell.jobs.forget_done();
    0
}

/// `wait -n`: waits for the next job to end. Returns its status and its number.
fn next(shell: &mut Shell, targets: &[String]) -> (u8, Option<u32>) {
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
            return (job.status(), Some(job.leader()));
        }
        let candidates = shell.jobs.list.iter().any(|j| targets.is_empty() || wanted.contains(&j.leader()));
        if !candidates {
            return (127, None);
        }
        match process::wait(None, None) {
            Ok((pid, status)) => shell.jobs.note(pid, exit_status(status)),
            Err(Errno::Interrupted) => match interrupted(shell) {
                WaitResult::Interrupted(status) | WaitResult::Status(status) => return (status, None),
            },
            Err(_) => return (127, None),
        }
    }
}
