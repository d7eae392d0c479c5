//! The runtime: the kernel's [`Machine`], implemented with wasmtime.
//!
//! A process is a component instance in a store of its own. A [`Runtime`] serves any number of sandboxes. A host
//! process needs only one, which is [`Runtime::shared`].
//!
//! No module outside this one names wasmtime.

mod bindings;
mod calls;
mod clock;
mod errno;
mod exit_status;
mod filesystem;
mod fuel;
mod guest;
mod image;
mod load;
mod processor;
mod stdio;
mod ticker;
mod tunables;
mod world;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::processor::{Allocation, Processor};
use self::tunables::Metering;
use crate::kernel::{Job, Machine, Process, ProcessTask, Signal, Status};
use crate::limits::{POOL_RESERVE_SHARE, POOL_SLOTS};
use crate::vfs::{Library, Programs};

/// Runs processes for any number of sandboxes.
#[derive(Clone)]
pub struct Runtime(Arc<RuntimeState>);

struct RuntimeState {
    /// The index of a program's image, by the program's name.
    programs: HashMap<&'static str, usize>,
    /// The programs as files, for the /bin of every sandbox.
    program_files: Arc<Programs>,
    /// The libraries of interpreters: the directory in a sandbox, and the files.
    libraries: Vec<(&'static str, Arc<Library>)>,
    pool_slots: Option<u32>,
    /// Indexed by `Metering`, as the two below are.
    pools: [OnceLock<std::result::Result<Pool, Arc<RuntimeError>>>; 2],
    on_demand: [OnceLock<std::result::Result<Arc<Processor>, Arc<RuntimeError>>>; 2],
    interpreters: [OnceLock<std::result::Result<Arc<Processor>, Arc<RuntimeError>>>; 2],
}

/// A pooling processor and its free slots.
struct Pool {
    processor: Arc<Processor>,
    free: Arc<Semaphore>,
    /// The number of slots that only the first process of a command may take.
    reserve: usize,
}

/// The processor that runs a process, and its slot if the processor has a pool.
type Assignment = (Arc<Processor>, Option<OwnedSemaphorePermit>);

/// The error of a runtime that could not start.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the runtime: {0:#}")]
pub struct RuntimeError(wasmtime::Error);

/// The error of code that differs from the code that was built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the precompiled code of {component} is damaged: install isopod again")]
pub struct DamagedCode {
    /// The component.
    pub component: &'static str,
}

/// A program of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ProgramInfo {
    /// The name in /bin.
    pub name: &'static str,
    /// The component that contains the program.
    pub component: &'static str,
    /// The digest of that component's code.
    pub digest: &'static str,
}

impl Runtime {
    /// Returns the runtime of this host process. It has a pool, and is made at the first call.
    pub fn shared() -> Result<Runtime, Arc<RuntimeError>> {
        static SHARED: OnceLock<Result<Runtime, Arc<RuntimeError>>> = OnceLock::new();
        SHARED.get_or_init(|| Runtime::pooling(POOL_SLOTS)).clone()
    }

    /// Makes a runtime with a pool for this many processes at a time: the fast kind, for a long-lived host. If there is
    /// not enough address space for the pool, it is made without one.
    pub fn pooling(slots: u32) -> Result<Runtime, Arc<RuntimeError>> {
        let runtime = Runtime::new(Some(slots.max(1)));
        match runtime.0.pool(Metering::Epoch) {
            Ok(_) => Ok(runtime),
            Err(_) => Runtime::on_demand(),
        }
    }

    /// Makes a runtime without a pool. It starts faster, and each process starts slower. For a host that runs one
    /// command.
    pub fn on_demand() -> Result<Runtime, Arc<RuntimeError>> {
        let runtime = Runtime::new(None);
        runtime.0.on_demand(Metering::Epoch)?;
        Ok(runtime)
    }

    fn new(pool_slots: Option<u32>) -> Runtime {
        let mut programs = HashMap::new();
        for (image, entry) in image::images().iter().enumerate() {
            for name in entry.programs {
                programs.entry(*name).or_insert(image);
            }
        }
        let program_files = Arc::new(Programs::new(programs.keys().map(|name| (*name).to_owned())));
        Runtime(Arc::new(RuntimeState {
            programs,
            program_files,
            libraries: image::libraries().collect(),
            pool_slots,
            pools: Default::default(),
            on_demand: Default::default(),
            interpreters: Default::default(),
        }))
    }

    /// Compares the code of every program with its digest.
    pub fn verify() -> Result<(), DamagedCode> {
        let codes =
            image::images().iter().flat_map(|i| [Metering::Epoch, Metering::Fuel].map(|m| (i.name, image::code(i, m))));
        match codes.into_iter().find(|(_, code)| code.is_some_and(|code| !image::matches_digest(code))) {
            Some((component, _)) => Err(DamagedCode { component }),
            None => Ok(()),
        }
    }

    /// The programs as a file system.
    pub(crate) fn program_files(&self) -> &Arc<Programs> {
        &self.0.program_files
    }

    /// The libraries of interpreters, with the directories in which the interpreters look for them.
    pub(crate) fn libraries(&self) -> &[(&'static str, Arc<Library>)] {
        &self.0.libraries
    }

    /// The programs of this build, sorted by name.
    pub fn programs(&self) -> Vec<ProgramInfo> {
        let mut programs: Vec<_> = self
            .0
            .programs
            .iter()
            .filter_map(|(name, image)| {
                let image = &image::images()[*image];
                let digest = image::code(image, Metering::Epoch)?.digest;
                Some(ProgramInfo { name, component: image.name, digest })
            })
            .collect();
        programs.sort_by_key(|program| program.name);
        programs
    }
}

impl RuntimeState {
    fn pool(&self, metering: Metering) -> Result<Option<&Pool>, Arc<RuntimeError>> {
        let Some(slots) = self.pool_slots else { return Ok(None) };
        let make = || {
            let processor = Arc::new(Processor::new(metering, Allocation::Pool(slots)).map_err(RuntimeError)?);
            let slots = slots as usize;
            Ok(Pool { processor, free: Arc::new(Semaphore::new(slots)), reserve: slots / POOL_RESERVE_SHARE })
        };
        self.pools[metering as usize].get_or_init(make).as_ref().map(Some).map_err(Arc::clone)
    }

    fn on_demand(&self, metering: Metering) -> Result<&Arc<Processor>, Arc<RuntimeError>> {
        let make = || Ok(Arc::new(Processor::new(metering, Allocation::OnDemand).map_err(RuntimeError)?));
        self.on_demand[metering as usize].get_or_init(make).as_ref().map_err(Arc::clone)
    }

    /// The processor for interpreters.
    fn interpreters(&self, metering: Metering) -> Result<&Arc<Processor>, Arc<RuntimeError>> {
        let make = || Ok(Arc::new(Processor::new(metering, Allocation::Deep).map_err(RuntimeError)?));
        self.interpreters[metering as usize].get_or_init(make).as_ref().map_err(Arc::clone)
    }

    /// Chooses a processor for a process, and a slot. Returns `None` if the job's deadline passes before a slot is
    /// free.
    ///
    /// The first process of a command waits for a slot. A child never does: its parent holds a slot while it waits for
    /// the child, so a pool full of parents would wait for ever. Children also leave a part of the pool free, or one
    /// sandbox with many of them would keep the commands of all others waiting. A child without a slot gets its memory
    /// from the operating system; the limits of their sandboxes bound the number of such children.
    ///
    /// An interpreter runs on demand, with a deep stack that no other program gets. A slot would save little of its
    /// start-up time, and a pool would keep the stacks.
    async fn assign(&self, image: usize, process: &Process) -> Result<Option<Assignment>, Arc<RuntimeError>> {
        let metering = metering(process);
        if image::is_interpreter(image) {
            return Ok(Some((self.interpreters(metering)?.clone(), None)));
        }
        // A live shell waits for orders most of the time: it would keep a slot from all others.
        let is_live_shell = process.is_first() && process.job().is_live();
        // A pool that could not be made for lack of address space is skipped.
        if !is_live_shell && let Ok(Some(Pool { processor, free, reserve })) = self.pool(metering) {
            if process.is_first() {
                let slot = wait_for_slot(free.clone(), process.job()).await;
                return Ok(slot.map(|slot| (processor.clone(), Some(slot))));
            }
            if free.available_permits() > *reserve
                && let Ok(slot) = free.clone().try_acquire_owned()
            {
                return Ok(Some((processor.clone(), Some(slot))));
            }
        }
        Ok(Some((self.on_demand(metering)?.clone(), None)))
    }
}

fn metering(process: &Process) -> Metering {
    if process.kernel().limits().fuel.is_some() { Metering::Fuel } else { Metering::Epoch }
}

/// Waits for a slot until the deadline of the job.
async fn wait_for_slot(free: Arc<Semaphore>, job: &Job) -> Option<OwnedSemaphorePermit> {
    if let Ok(slot) = free.clone().try_acquire_owned() {
        return Some(slot);
    }
    // No process of the job runs yet, so the ticker does not watch its deadline: a timer has to.
    let slot = tokio::time::timeout_at(job.deadline().into(), free.acquire_owned()).await;
    job.check_deadline();
    slot.ok()?.ok()
}

impl Machine for Runtime {
    fn has(&self, program: &str) -> bool {
        self.0.programs.contains_key(program)
    }

    fn run(&self, process: Arc<Process>) -> ProcessTask {
        let (state, image) = (self.0.clone(), self.0.programs.get(process.program()).copied());
        Box::pin(async move {
            let Some(image) = image else { return Status::Exited(127) };
            if let Err(why) = image::available(image, metering(&process)) {
                // A failure to write the message changes nothing: the program cannot run.
                let _ = process.write(2, format!("{}: {why}\n", process.program()).into()).await;
                return Status::Exited(127);
            }
            match state.assign(image, &process).await {
                Ok(Some((processor, _slot))) => processor.run(image, process).await,
                Ok(None) => Status::Signalled(Signal::KILL),
                Err(error) => {
                    process.job().fault(error.to_string());
                    Status::Exited(125)
                }
            }
        })
    }
}
