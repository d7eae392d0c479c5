//! A wasmtime engine that runs processes, with its allocator, its ticker and the programs that it has loaded.

use std::sync::{Arc, Mutex, OnceLock};

use wasmtime::component::Linker;
use wasmtime::{AsContextMut, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result, Store};
use wasmtime::{StoreContextMut, UpdateDeadline};
use wasmtime_wasi::p2::bindings::CommandPre;

use super::exit_status::exit_status;
use super::fuel::{self, MeteredStore};
use super::guest::{Guest, ProcessExit};
use super::image::{Image, code, images};
use super::load::{CodeClaim, CodePages, load};
use super::ticker::Ticker;
use super::tunables::{self, Metering};
use super::world;
use crate::kernel::{Process, Status};
use crate::limits::{
    CALL_BYTES, COMPONENT_HANDLES, CORE_INSTANCES, CORE_MEMORIES, CORE_TABLES, DEEP_STACK, INSTANCE_BYTES, STACK,
};
use crate::sync::lock;

/// Bytes of a memory, table or stack that stay mapped while its slot is free: most short programs touch no more.
const KEEP_RESIDENT: usize = 64 << 10;

/// The source of memory for instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allocation {
    /// A pool of this many slots: fast for a long-lived host.
    Pool(u32),
    /// The operating system, for each instance: no start-up cost and no limit, but slower.
    OnDemand,
    /// The operating system, with a deep stack: for interpreters.
    Deep,
}

/// A wasmtime engine with all that a process needs to start.
pub(super) struct Processor {
    metering: Metering,
    linker: Linker<Guest>,
    /// Indexed by image. Filled when a program of the image first runs.
    programs: Vec<OnceLock<Result<CommandPre<Guest>>>>,
    engine: Engine,
    /// Declared after the engine, so that it is dropped after it: the ticker's thread ends when the engine has gone.
    ticker: Ticker,
    /// Declared last: the code is unregistered before another engine can claim it. A leaf.
    claims: Mutex<Vec<CodeClaim>>,
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
        Ok(Processor { metering, linker, programs, engine, ticker, claims: Mutex::default() })
    }

    /// Returns an image, and loads it first if no program of it has run yet.
    pub(super) fn program(&self, image: usize) -> std::result::Result<&CommandPre<Guest>, &wasmtime::Error> {
        let load = || self.load(&images()[image]);
        self.programs[image].get_or_init(load).as_ref()
    }

    fn load(&self, image: &'static Image) -> Result<CommandPre<Guest>> {
        let code = code(image, self.metering).ok_or_else(|| wasmtime::Error::msg("not in this build"))?;
        let claim = CodeClaim::claim(code);
        let component = load(&self.engine, code, claim.as_ref())?;
        lock(&self.claims).extend(claim);
        let linker = world::without_sockets(&self.linker, &component)?;
        CommandPre::new(linker.instantiate_pre(&component)?)
    }

    /// Runs a program as a process and returns its exit status.
    pub(super) async fn run(&self, image: usize, process: Arc<Process>) -> Status {
        let program = match self.program(image) {
            Ok(program) => program,
            Err(error) => {
                process.job().fault(format!("cannot load {}: {error:#}", images()[image].name));
                return Status::Exited(126);
            }
        };
        let mut metered = MeteredStore(Store::new(&self.engine, Guest::new(process.clone(), self.ticker.handle())));
        let store = &mut metered.0;
        store.limiter(|guest| guest);
        store.set_hostcall_fuel(CALL_BYTES);
        store.set_max_component_handles(COMPONENT_HANDLES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(on_tick);
        let result = self.call_run(program, store).await;
        // Paid before the status is returned: the next process starts with the fuel that is really left.
        drop(metered);
        match result {
            Ok(Ok(())) => Status::Exited(0),
            Ok(Err(())) => Status::Exited(1),
            Err(error) => exit_status(&process, &error),
        }
    }

    async fn call_run(
        &self,
        program: &CommandPre<Guest>,
        store: &mut Store<Guest>,
    ) -> Result<std::result::Result<(), ()>> {
        fuel::fill(store.as_context_mut())?;
        let instance = program.instantiate_async(&mut *store).await?;
        instance.wasi_cli_run().call_run(&mut *store).await
    }
}

/// The tick of a running process: pays for its fuel, checks its deadline, and yields.
fn on_tick(mut context: StoreContextMut<'_, Guest>) -> Result<UpdateDeadline> {
    fuel::settle(context.as_context_mut())?;
    context.data().process.job().check_deadline();
    match context.data().process.signals().fatal() {
        Some(signal) => Err(ProcessExit(Status::Signalled(signal)).into()),
        None => Ok(UpdateDeadline::Yield(1)),
    }
}

fn pool(slots: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(CORE_INSTANCES))
        .total_memories(slots.saturating_mul(CORE_MEMORIES))
        .total_tables(slots.saturating_mul(CORE_TABLES))
        .total_stacks(slots)
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(CORE_MEMORIES)
        .max_tables_per_component(CORE_TABLES)
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        // With the scan only pages that were written are reset: 14 microseconds instead of 31.
        .pagemap_scan(Enabled::Auto)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT)
        .async_stack_keep_resident(KEEP_RESIDENT);
    pool
}
