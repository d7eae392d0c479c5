//! Starting processes: the first one of a job, and children.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::Notify;

use super::cpu::CpuTime;
use super::descriptors::{Descriptors, FileCount};
use super::exec::{self, Executable};
use super::job::Job;
use super::memory::ProcessMemory;
use super::open_file::OpenFile;
use super::process::{Children, Machine, Process, Status};
use super::run::{run, spawn_task};
use super::signal::Signals;
use super::table::{Entry, Pid};
use crate::error::{Errno, Result};
use crate::limits::{Exceeded, Limit, NESTED_POLLS, PAYLOAD_BYTES, ZOMBIES};
use crate::path::GuestPath;

/// The umask of a job's first process.
const UMASK: u32 = 0o022;

/// A program to start, with all that it is given.
#[derive(Debug, Default)]
pub struct Request {
    /// A path if it holds a slash, or else a name that is looked up in the PATH of `env`.
    pub program: String,
    /// The arguments, the program's own name first.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    /// Bytes that the process may take.
    pub payload: Vec<u8>,
    /// True if an interrupt of the order that starts the process leaves it alone.
    pub background: bool,
}

impl Job {
    /// Starts the first process, on `machine`, with `stdio` as descriptors 0, 1 and 2. Polling the future runs the
    /// process, so that a short command needs no hop to another task. The weak reference is to the process while it
    /// lives.
    pub fn start(
        self: &Arc<Self>,
        machine: Arc<dyn Machine>,
        request: Request,
        cwd: GuestPath,
        stdio: [Arc<OpenFile>; 3],
    ) -> Result<(Weak<Process>, impl Future<Output = Status> + Send + use<>)> {
        let origin = Origin {
            machine,
            parent: Weak::new(),
            generation: 0,
            cwd,
            umask: UMASK,
            signals: Signals::default(),
            order: None,
            files: (0..).zip(stdio).collect(),
        };
        let process = create(self, request, origin)?;
        Ok((Arc::downgrade(&process), run(process)))
    }
}

impl Process {
    /// Starts a child. `files` are its descriptors: the number in the child, and the number in this process.
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
        let origin = Origin {
            machine: self.machine.clone(),
            parent: Arc::downgrade(self),
            generation: self.generation + 1,
            cwd: self.cwd(),
            umask: self.umask.load(Ordering::Relaxed),
            signals: self.signals.inherit(),
            order: self.order_of_child(is_background),
            files,
        };
        let process = create(&self.job, request, origin)?;
        let pid = process.pid;
        // Entered before the child can run: a child that ends at once must be found among the live ones.
        self.children().live.insert(pid);
        let child = Box::pin(run(process));
        if is_background || self.generation >= NESTED_POLLS {
            spawn_task(child);
        } else {
            self.start_child(child);
        }
        Ok(pid)
    }

    /// The order that a child of this process runs for.
    fn order_of_child(&self, background: bool) -> Option<u64> {
        match self.job.orders() {
            Some(orders) if self.is_first() => (!background).then(|| orders.current()),
            _ => self.order,
        }
    }
}

/// The part of a new process's state that comes from its parent, or from the owner of the job.
struct Origin {
    machine: Arc<dyn Machine>,
    parent: Weak<Process>,
    generation: u32,
    cwd: GuestPath,
    umask: u32,
    signals: Signals,
    order: Option<u64>,
    files: Vec<(u32, Arc<OpenFile>)>,
}

/// Makes a process and enters it in the table. Nothing polls it yet.
fn create(job: &Arc<Job>, request: Request, origin: Origin) -> Result<Arc<Process>> {
    let kernel = job.kernel();
    let charge = charge(job, &request)?;
    let Request { program, argv, env, payload, .. } = request;
    let path = env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
    let Executable { program, argv } = exec::resolve(kernel.vfs(), &origin.cwd, path, &program, argv)?;
    if !origin.machine.has(&program) {
        // Not `NoExec`: a shell would then run the file as a script, whose only line is a comment.
        return Err(Errno::NoEntry);
    }
    if !kernel.policy().allows(&program) {
        job.fault(format!("program not allowed: {program}"));
        return Err(Errno::Access);
    }

    let count = FileCount::new(kernel.limits().open_files);
    let mut descriptors = Descriptors::default();
    for (number, file) in origin.files {
        let slot = count.open().inspect_err(|_| {
            job.exceed(Exceeded { kind: Limit::OpenFiles, value: u64::from(kernel.limits().open_files) });
        })?;
        descriptors.put(number, file, slot)?;
    }
    let signals = Arc::new(origin.signals);
    let entry = Entry {
        signals: signals.clone(),
        job: job.id(),
        order: origin.order,
        is_first: Process::is_root(&origin.parent),
    };
    let pid = kernel.table().add(entry, job.closed()).inspect_err(|errno| {
        if *errno == Errno::Again {
            job.exceed(Exceeded { kind: Limit::Processes, value: u64::from(kernel.limits().processes) });
        }
    })?;
    job.process_started();
    Ok(Arc::new(Process {
        pid,
        parent: origin.parent,
        job: job.clone(),
        machine: origin.machine,
        program,
        argv,
        env,
        descriptors: Mutex::new(descriptors),
        files: count,
        cwd: Mutex::new(origin.cwd),
        umask: AtomicU32::new(origin.umask),
        signals,
        order: origin.order,
        payload: Mutex::new(payload),
        cpu: CpuTime::default(),
        children: Mutex::new(Children::default()),
        pending_child: Mutex::default(),
        generation: origin.generation,
        child_ended: Notify::new(),
        charge: Mutex::new(Some(charge)),
    }))
}

/// Checks the size of arguments, environment and payload, and charges memory for them.
fn charge(job: &Job, request: &Request) -> Result<ProcessMemory> {
    let strings = || request.argv.iter().chain(request.env.iter().flat_map(|(name, value)| [name, value]));
    if strings().any(|text| text.contains('\0')) {
        return Err(Errno::Invalid);
    }
    // Eight bytes a string for its pointer, as Linux counts.
    let bytes: u64 = strings().map(|text| text.len() as u64 + 8).sum();
    let limit = job.kernel().limits().arguments;
    if bytes > limit {
        job.exceed(Exceeded { kind: Limit::Arguments, value: limit });
        return Err(Errno::TooBig);
    }
    if request.payload.len() > PAYLOAD_BYTES {
        return Err(Errno::TooBig);
    }
    // WASI has a copy of arguments and environment.
    job.charge(2 * bytes as usize + request.payload.len())
}
