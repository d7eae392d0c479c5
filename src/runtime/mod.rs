//! The runtime: the kernel's [`Machine`], made of wasmtime.
//!
//! A process is a component instance in a store of its own. A [`Runtime`] is one engine for any number of
//! sandboxes; a host process needs one, and [`Runtime::shared`] is it.
//!
//! Nothing outside this module names wasmtime.

mod bindings;
mod calls;
mod clock;
mod errno;
mod filesystem;
mod fuel;
mod guest;
mod image;
mod load;
mod obituary;
mod processor;
mod stdio;
mod ticker;
mod tunables;
mod world;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::processor::{Allocation, Processor};
use self::tunables::Metering;
use crate::kernel::{Machine, Process, Session, Signal, Status};
use crate::vfs::{Library, Programs};

/// Processes of a pooling runtime that have a slot at the same time. 1,000 slots are 4 TiB of address space and
/// 3 MiB of memory.
const POOL_SLOTS: u32 = 1000;

/// Runs processes for any number of sandboxes.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

struct Inner {
    /// From a program's name to its image.
    programs: HashMap<&'static str, usize>,
    /// The same as files, for the /bin of every sandbox.
    program_files: Arc<Programs>,
    /// Where a sandbox finds an interpreter's library, and its files.
    libraries: Vec<(&'static str, Arc<Library>)>,
    pool_slots: Option<u32>,
    /// Without and with fuel.
    pools: [OnceLock<std::result::Result<Pool, Arc<RuntimeError>>>; 2],
    on_demand: [OnceLock<std::result::Result<Arc<Processor>, Arc<RuntimeError>>>; 2],
    interpreters: [OnceLock<std::result::Result<Arc<Processor>, Arc<RuntimeError>>>; 2],
}

/// A pooling processor and its free slots.
struct Pool {
    processor: Arc<Processor>,
    free: Arc<Semaphore>,
    /// Slots that only the first process of a command may take.
    reserve: usize,
}

/// Where a process runs, and its slot if that has slots.
type Place = (Arc<Processor>, Option<OwnedSemaphorePermit>);

/// Why a runtime could not start.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the runtime: {0:#}")]
pub struct RuntimeError(wasmtime::Error);

/// Code that is not as it was built.
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
    /// Its name in /bin.
    pub name: &'static str,
    /// The component it is part of.
    pub component: &'static str,
    /// The digest of that component's code.
    pub digest: &'static str,
}

impl Runtime {
    /// The runtime of this host process: pooling, made when it is first asked for.
    pub fn shared() -> Result<Runtime, Arc<RuntimeError>> {
        static SHARED: OnceLock<Result<Runtime, Arc<RuntimeError>>> = OnceLock::new();
        SHARED.get_or_init(|| Runtime::pooling(POOL_SLOTS)).clone()
    }

    /// A runtime with a pool for this many processes at a time: the fast one, for a host that lives long. Where
    /// the address space does not suffice, it does without the pool.
    pub fn pooling(slots: u32) -> Result<Runtime, Arc<RuntimeError>> {
        let runtime = Runtime::new(Some(slots.max(1)));
        match runtime.0.pool(Metering::Epoch) {
            Ok(_) => Ok(runtime),
            Err(_) => Runtime::on_demand(),
        }
    }

    /// A runtime without a pool: it starts faster and each process slower. For one command.
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
        Runtime(Arc::new(Inner {
            programs,
            program_files,
            libraries: image::libraries().collect(),
            pool_slots,
            pools: Default::default(),
            on_demand: Default::default(),
            interpreters: Default::default(),
        }))
    }

    /// Checks that the code of every program is as it was built, and names the component that is not.
    pub fn verify() -> Result<(), DamagedCode> {
        let codes =
            image::images().iter().flat_map(|i| [Metering::Epoch, Metering::Fuel].map(|m| (i.name, image::code(i, m))));
        match codes.into_iter().find(|(_, code)| code.is_some_and(|code| !image::is_whole(code))) {
            Some((component, _)) => Err(DamagedCode { component }),
            None => Ok(()),
        }
    }

    /// The programs as a file system.
    pub(crate) fn program_files(&self) -> &Arc<Programs> {
        &self.0.program_files
    }

    /// The libraries of interpreters, with the places where these look for them.
    pub(crate) fn libraries(&self) -> &[(&'static str, Arc<Library>)] {
        &self.0.libraries
    }

    /// The programs of this build, by name.
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

impl Inner {
    fn pool(&self, metering: Metering) -> Result<Option<&Pool>, Arc<RuntimeError>> {
        let Some(slots) = self.pool_slots else { return Ok(None) };
        let make = || {
            let processor = Arc::new(Processor::new(metering, Allocation::Pool(slots)).map_err(RuntimeError)?);
            let slots = slots as usize;
            Ok(Pool { processor, free: Arc::new(Semaphore::new(slots)), reserve: slots / 4 })
        };
        self.pools[metering as usize].get_or_init(make).as_ref().map(Some).map_err(Arc::clone)
    }

    fn on_demand(&self, metering: Metering) -> Result<&Arc<Processor>, Arc<RuntimeError>> {
        let make = || Ok(Arc::new(Processor::new(metering, Allocation::OnDemand).map_err(RuntimeError)?));
        self.on_demand[metering as usize].get_or_init(make).as_ref().map_err(Arc::clone)
    }

    /// What runs interpreters.
    fn interpreters(&self, metering: Metering) -> Result<&Arc<Processor>, Arc<RuntimeError>> {
        let make = || Ok(Arc::new(Processor::new(metering, Allocation::Deep).map_err(RuntimeError)?));
        self.interpreters[metering as usize].get_or_init(make).as_ref().map_err(Arc::clone)
    }

    /// A processor for a process, and its slot; nothing if its time is over before there is one.
    ///
    /// The first process of a command waits for a slot. A child never does: its parent holds a slot while it waits for
    /// the child, so a pool full of parents would wait for ever. And children leave a part of the pool alone, or one
    /// sandbox with many of them would keep the commands of all others waiting. A child without a slot gets its memory
    /// from the operating system; how many there can be is bounded by the limits of their sandboxes.
    ///
    /// An interpreter runs on demand, with a deep stack that nothing else gets: what it wins by a slot is nothing to what
    /// it costs to start, and a pool would keep the stacks.
    async fn place(&self, image: usize, process: &Process) -> Result<Option<Place>, Arc<RuntimeError>> {
        let metering = metering(process);
        if image::is_interpreter(image) {
            return Ok(Some((self.interpreters(metering)?.clone(), None)));
        }
        // A live shell waits for orders most of its time: it would keep a slot from everyone else.
        let waits = process.is_first() && process.session().is_live();
        // Where the address space does not suffice for this pool, it goes without.
        if !waits && let Ok(Some(Pool { processor, free, reserve })) = self.pool(metering) {
            if process.is_first() {
                let slot = wait_for_slot(free.clone(), process.session()).await;
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

/// Waits for a slot for as long as the command has time.
async fn wait_for_slot(free: Arc<Semaphore>, session: &Session) -> Option<OwnedSemaphorePermit> {
    if let Ok(slot) = free.clone().try_acquire_owned() {
        return Some(slot);
    }
    // No process of it runs yet, so the clock does not watch it: a timer has to.
    let slot = tokio::time::timeout_at(session.deadline().into(), free.acquire_owned()).await;
    session.check_deadline();
    slot.ok()?.ok()
}

impl Machine for Runtime {
    fn has(&self, program: &str) -> bool {
        self.0.programs.contains_key(program)
    }

    fn run(&self, process: Arc<Process>) -> BoxFuture<'static, Status> {
        let (inner, image) = (self.0.clone(), self.0.programs.get(process.program()).copied());
        Box::pin(async move {
            let Some(image) = image else { return Status::Exited(127) };
            if let Err(why) = image::available(image, metering(&process)) {
                // Whether it can be told does not change that it cannot run.
                let _ = process.write(2, format!("{}: {why}\n", process.program()).into()).await;
                return Status::Exited(127);
            }
            match inner.place(image, &process).await {
                Ok(Some((processor, _slot))) => processor.run(image, process).await,
                Ok(None) => Status::Signalled(Signal::KILL),
                Err(error) => {
                    process.session().fault(error.to_string());
                    Status::Exited(125)
                }
            }
        })
    }
}
