//! A wasmtime engine that runs processes: its allocator, its clock, and the programs it has loaded.

use std::sync::{Arc, Mutex, OnceLock};

use wasmtime::component::Linker;
use wasmtime::{AsContextMut, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result, Store};
use wasmtime::{StoreContextMut, UpdateDeadline};
use wasmtime_wasi::p2::bindings::CommandPre;

use super::fuel::{self, Metered};
use super::guest::{Ended, Guest};
use super::image::{Image, code, images};
use super::load::{CodePages, Place, load};
use super::obituary::obituary;
use super::ticker::Ticker;
use super::tunables::{self, Metering};
use super::world;
use crate::kernel::{Process, Status};
use crate::sync::lock;

/// Host memory that one call of a guest may make the host allocate for its arguments.
const CALL_BYTES: usize = 16 << 20;
/// Handles that a component may hold.
const HANDLES: usize = 4096;
/// Bytes of a memory that stay mapped when its slot is free: most short programs touch no more.
const KEEP_RESIDENT: usize = 64 << 10;
/// Core instances, memories and tables of a component: a std program is three or four core instances.
const CORES_PER_COMPONENT: u32 = 8;
const MEMORIES_PER_COMPONENT: u32 = 1;
const TABLES_PER_COMPONENT: u32 = 4;
/// What a guest may use of its stack, and the whole of it: host calls run on what is left.
///
/// Stacks are not charged to a sandbox, so they are small. An interpreter may have what Python needs before it notices that
/// it recurses too deeply: 1 MiB of its own stack, up to 30 of this one. Only what is touched is there, and it is given
/// back when the process ends.
const STACK: (usize, usize) = (512 << 10, 2 << 20);
const DEEP_STACK: (usize, usize) = (40 << 20, 42 << 20);
/// Bytes of wasmtime's own record of an instance; a component with thousands of functions needs more than the
/// default.
const INSTANCE_BYTES: usize = 4 << 20;

/// Where instances get their memory from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allocation {
    /// From a pool of this many slots: fast for a host that lives long.
    Pool(u32),
    /// From the operating system, each time: no start-up cost, no limit, slower.
    OnDemand,
    /// The same, with a deep stack: for interpreters.
    Deep,
}

/// An engine with everything a process needs to start.
pub(super) struct Processor {
    metering: Metering,
    linker: Linker<Guest>,
    /// By image; filled when a program of it first runs.
    programs: Vec<OnceLock<Result<CommandPre<Guest>>>>,
    engine: Engine,
    /// After the engine, so that it ends when that has gone.
    ticker: Ticker,
    /// Last: whoever claims them next finds them empty.
    places: Mutex<Vec<Place>>,
}

impl Processor {
    pub(super) fn new(metering: Metering, allocation: Allocation) -> Result<Processor> {
        let mut config = tunables::config(metering)?;
        config.with_custom_code_memory(Some(Arc::new(CodePages)));
        let (strategy, (stack, whole_stack)) = match allocation {
            Allocation::Pool(slots) => (InstanceAllocationStrategy::Pooling(pool(slots)), STACK),
            Allocation::OnDemand => (InstanceAllocationStrategy::OnDemand, STACK),
            Allocation::Deep => (InstanceAllocationStrategy::OnDemand, DEEP_STACK),
        };
        config.allocation_strategy(strategy).max_wasm_stack(stack).async_stack_size(whole_stack);
        let engine = Engine::new(&config)?;
        let linker = world::linker(&engine)?;
        let ticker = Ticker::start(&engine)?;
        let programs = images().iter().map(|_| OnceLock::new()).collect();
        Ok(Processor { metering, linker, programs, engine, ticker, places: Mutex::default() })
    }

    /// Loads an image, if no program of it has run yet.
    pub(super) fn program(&self, image: usize) -> std::result::Result<&CommandPre<Guest>, &wasmtime::Error> {
        let load = || self.load(&images()[image]);
        self.programs[image].get_or_init(load).as_ref()
    }

    fn load(&self, image: &'static Image) -> Result<CommandPre<Guest>> {
        let code = code(image, self.metering).ok_or_else(|| wasmtime::Error::msg("not in this build"))?;
        let place = Place::claim(code);
        let component = load(&self.engine, code, place.as_ref())?;
        lock(&self.places).extend(place);
        let linker = world::without_sockets(&self.linker, &component)?;
        CommandPre::new(linker.instantiate_pre(&component)?)
    }

    /// Runs a program as a process, to its end.
    pub(super) async fn run(&self, image: usize, process: Arc<Process>) -> Status {
        let program = match self.program(image) {
            Ok(program) => program,
            Err(error) => {
                process.session().fault(format!("cannot load {}: {error:#}", images()[image].name));
                return Status::Exited(126);
            }
        };
        let mut metered = Metered(Store::new(&self.engine, Guest::new(process.clone(), self.ticker.clock())));
        let store = &mut metered.0;
        store.limiter(|guest| guest);
        store.set_hostcall_fuel(CALL_BYTES);
        store.set_max_component_handles(HANDLES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(on_tick);
        let ended = self.live(program, store).await;
        // Before the end is told: the next process starts with what is really left.
        drop(metered);
        match ended {
            Ok(Ok(())) => Status::Exited(0),
            Ok(Err(())) => Status::Exited(1),
            Err(error) => obituary(&process, &error),
        }
    }

    async fn live(&self, program: &CommandPre<Guest>, store: &mut Store<Guest>) -> Result<std::result::Result<(), ()>> {
        fuel::fill(store.as_context_mut())?;
        let instance = program.instantiate_async(&mut *store).await?;
        instance.wasi_cli_run().call_run(&mut *store).await
    }
}

/// What a running process does at a tick: pay for its fuel, look at the clock, and let others run.
fn on_tick(mut context: StoreContextMut<'_, Guest>) -> Result<UpdateDeadline> {
    fuel::settle(context.as_context_mut())?;
    context.data().process.session().check_deadline();
    match context.data().process.signals().fatal() {
        Some(signal) => Err(Ended(Status::Signalled(signal)).into()),
        None => Ok(UpdateDeadline::Yield(1)),
    }
}

fn pool(slots: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(CORES_PER_COMPONENT))
        .total_memories(slots.saturating_mul(MEMORIES_PER_COMPONENT))
        .total_tables(slots.saturating_mul(TABLES_PER_COMPONENT))
        .total_stacks(slots)
        .max_core_instances_per_component(CORES_PER_COMPONENT)
        .max_memories_per_component(MEMORIES_PER_COMPONENT)
        .max_tables_per_component(TABLES_PER_COMPONENT)
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        // With the scan only pages that were written are reset, which is what makes 14 microseconds of 31.
        .pagemap_scan(Enabled::Auto)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT)
        .async_stack_keep_resident(KEEP_RESIDENT);
    pool
}
