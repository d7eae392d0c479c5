//! Starting processes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::Notify;

use super::cpu::CpuTime;
use super::descriptors::{Descriptors, FileCount};
use super::exec::{self, Executable};
use super::memory::ProcessMemory;
use super::process::{Children, Pid, Process};
use super::session::Session;
use super::signal::Signals;
use super::{OpenFile, life};
use crate::error::{Errno, Result};
use crate::limits::{Exceeded, Limit, PAYLOAD_BYTES, ZOMBIES};
use crate::path::GuestPath;

/// The umask a command starts with.
const UMASK: u32 = 0o022;

/// Generations of processes whose children begin on the thread of their parent. Each is a poll within a poll, and takes
/// some of the thread's stack.
const NEAR: u32 = 4;

/// What to start.
#[derive(Debug, Default)]
pub struct Request {
    /// With a slash, a path; without, a name that is looked up in the PATH of `env`.
    pub program: String,
    /// The arguments, the program's own name first.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    /// Bytes the process may take.
    pub payload: Vec<u8>,
    /// Whether an interrupt of the order that starts it leaves it alone.
    pub background: bool,
}

impl Process {
    /// Starts a child beside this process: `files` are its descriptors, each with the number it has here.
    pub fn spawn(self: &Arc<Self>, request: Request, files: &[(u32, u32)]) -> Result<Pid> {
        {
            let children = self.children();
            if children.ended.len() + children.live.len() >= ZOMBIES {
                return Err(Errno::Again);
            }
        }
        let files = {
            let own = self.descriptors();
            files.iter().map(|&(theirs, ours)| Ok((theirs, own.get(ours)?))).collect::<Result<Vec<_>>>()?
        };
        let is_background = request.background;
        let seed = Seed {
            parent: Arc::downgrade(self),
            generation: self.generation + 1,
            cwd: self.cwd(),
            umask: self.umask.load(Ordering::Relaxed),
            signals: self.signals.inherit(),
            order: self.order_of_child(is_background),
            files,
        };
        let process = create(&self.session, request, seed)?;
        let pid = process.pid;
        // Before it can run: a child that ends at once must find its place among the living.
        self.children().live.insert(pid);
        let life = Box::pin(life::life(process));
        if is_background || self.generation >= NEAR {
            life::run_beside(life);
        } else if let Some(elder) = self.deliver(life) {
            // Of several, as in a pipeline, only the last may have to wait.
            life::run_beside(elder);
        }
        Ok(pid)
    }
}

/// Makes the first process of a session; nothing polls it yet.
pub(super) fn first(
    session: &Arc<Session>,
    request: Request,
    cwd: GuestPath,
    stdio: [Arc<OpenFile>; 3],
) -> Result<Arc<Process>> {
    let files = (0..).zip(stdio).collect();
    let signals = Signals::default();
    let seed = Seed { parent: Weak::new(), generation: 0, cwd, umask: UMASK, signals, order: None, files };
    create(session, request, seed)
}

/// What a process has from where it comes from.
struct Seed {
    parent: Weak<Process>,
    generation: u32,
    cwd: GuestPath,
    umask: u32,
    signals: Signals,
    order: Option<u64>,
    files: Vec<(u32, Arc<OpenFile>)>,
}

fn create(session: &Arc<Session>, request: Request, seed: Seed) -> Result<Arc<Process>> {
    let kernel = session.kernel();
    let charge = charge(session, &request)?;
    let Request { program, argv, env, payload, .. } = request;
    let path = env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
    let Executable { program, argv } = exec::resolve(kernel.vfs(), &seed.cwd, path, &program, argv)?;
    if !kernel.machine.has(&program) {
        // Not "no format that I know": a shell would take that for a script, and its only line for a comment.
        return Err(Errno::NoEntry);
    }
    if !kernel.permit().allows(&program) {
        session.fault(format!("program not allowed: {program}"));
        return Err(Errno::Access);
    }

    let count = FileCount::new(kernel.limits().open_files);
    let mut descriptors = Descriptors::default();
    for (number, file) in seed.files {
        let slot = count.open().inspect_err(|_| {
            session.exceed(Exceeded { kind: Limit::OpenFiles, value: u64::from(kernel.limits().open_files) });
        })?;
        descriptors.put(number, file, slot)?;
    }
    let process = kernel.table().add(session, |pid| Process {
        pid,
        parent: seed.parent,
        session: session.clone(),
        program,
        argv,
        env,
        descriptors: Mutex::new(descriptors),
        files: count,
        cwd: Mutex::new(seed.cwd),
        umask: AtomicU32::new(seed.umask),
        signals: seed.signals,
        order: seed.order,
        payload: Mutex::new(payload),
        cpu: CpuTime::default(),
        children: Mutex::new(Children::default()),
        newborn: Mutex::default(),
        generation: seed.generation,
        child_ended: Notify::new(),
        charge: Mutex::new(Some(charge)),
    });
    let process = process.inspect_err(|errno| {
        if *errno == Errno::Again {
            session.exceed(Exceeded { kind: Limit::Processes, value: u64::from(kernel.limits().processes) });
        }
    })?;
    session.process_started();
    Ok(process)
}

/// Checks the size of what a process is given, and takes memory for it.
fn charge(session: &Session, request: &Request) -> Result<ProcessMemory> {
    let strings = || request.argv.iter().chain(request.env.iter().flat_map(|(name, value)| [name, value]));
    if strings().any(|text| text.contains('\0')) {
        return Err(Errno::Invalid);
    }
    // A pointer a string, as Linux counts it.
    let bytes: u64 = strings().map(|text| text.len() as u64 + 8).sum();
    let limit = session.kernel().limits().arguments;
    if bytes > limit {
        session.exceed(Exceeded { kind: Limit::Arguments, value: limit });
        return Err(Errno::TooBig);
    }
    if request.payload.len() > PAYLOAD_BYTES {
        return Err(Errno::TooBig);
    }
    // WASI has a copy of arguments and environment.
    session.charge(2 * bytes as usize + request.payload.len())
}
