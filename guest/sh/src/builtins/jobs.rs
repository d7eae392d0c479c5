//! `jobs`, `fg`, `bg`, `disown`

use super::options;
use crate::state::{Shell, Stop};

pub(super) fn jobs(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "lnprsx") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    shell.jobs.reap();
    let live: Vec<u32> = shell.jobs.list.iter().filter(|j| !j.is_done()).map(|j| j.number).collect();
    let mut lines = Vec::new();
    for spec in arguments[given.rest..].iter() {
        if shell.jobs.find(spec).is_none() {
            shell.complain_as("jobs", &format!("{spec}: no such job"));
            return Ok(1);
        }
    }
    let wanted: Vec<usize> = match arguments.len() > given.rest {
        true => arguments[given.rest..].iter().filter_map(|s| shell.jobs.find(s)).collect(),
        false => (0..shell.jobs.list.len()).collect(),
    };
    for at in wanted {
        let job = &shell.jobs.list[at];
        if (given.has(b'r') && job.is_done()) || given.has(b's') {
            continue;
        }
        if given.has(b'p') {
            lines.push(format!("{}\n", job.processes.first().map_or(0, |(pid, _)| *pid)));
            continue;
        }
        let mark = match live.iter().rev().position(|n| *n == job.number) {
            Some(0) => '+',
            Some(1) => '-',
            _ => ' ',
        };
        let state = match (job.is_done(), job.status()) {
            (false, _) => "Running".to_owned(),
            (true, 0) => "Done".to_owned(),
            (true, status) if status > 128 => "Terminated".to_owned(),
            (true, status) => format!("Exit {status}"),
        };
        let text = if job.is_done() { job.text.clone() } else { format!("{} &", job.text) };
        let pid = if given.has(b'l') { format!("{} ", job.leader()) } else { String::new() };
        lines.push(format!("[{}]{mark}  {pid}{state:24}{text}\n", job.number));
    }
    for line in lines {
        shell.print(&line);
    }
    // A job whose end has been shown is dropped.
    let done: Vec<(u32, u8)> =
        shell.jobs.list.iter().filter(|j| j.is_done()).map(|j| (j.leader(), j.status())).collect();
    shell.jobs.list.retain(|j| !j.is_done());
    for (pid, status) in done {
        shell.jobs.remember(pid, status);
    }
    Ok(0)
}

/// Fails as in bash: without a terminal there is no foreground.
pub(super) fn fg(shell: &mut Shell, _: &[String]) -> Result<u8, Stop> {
    shell.complain_as("fg", "no job control");
    Ok(1)
}

pub(super) fn bg(shell: &mut Shell, _: &[String]) -> Result<u8, Stop> {
    shell.complain_as("bg", "no job control");
    Ok(1)
}

pub(super) fn disown(shell: &mut Shell, arguments: &[String]) -> Result<u8, Stop> {
    let given = match options::read(shell, arguments, "ahr") {
        Ok(given) => given,
        Err(status) => return Ok(status),
    };
    if given.has(b'a') || given.has(b'r') {
        shell.jobs.list.clear();
        return Ok(0);
    }
    let rest = &arguments[given.rest..];
    if rest.is_empty() {
        if shell.jobs.list.pop().is_none() {
            shell.complain_as("disown", "current: no such job");
            return Ok(1);
        }
        return Ok(0);
    }
    let mut status = 0;
    for spec in rest {
        let found = shell.jobs.find(spec).or_else(|| {
            let pid = spec.parse::<u32>().ok()?;
            shell.jobs.list.iter().position(|j| j.processes.iter().any(|(p, _)| *p == pid))
        });
        match found {
            // `-h` protects the job from a hang-up; there are none here.
            Some(_) if given.has(b'h') => {}
            Some(job) => {
                shell.jobs.list.remove(job);
            }
            None => {
                shell.complain_as("disown", &format!("{spec}: no such job"));
                status = 1;
            }
        }
    }
    Ok(status)
}
