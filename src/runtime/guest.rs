//! What a store holds for its process, and the limits it imposes.

use std::sync::Arc;

use wasmtime::component::ResourceTable;
use wasmtime::{ResourceLimiter, Result};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::clock::{Monotonic, Step, Wall};
use super::stdio::{Input, Output};
use super::ticker::{Clock, Running};
use crate::kernel::{Process, ProcessMemory, Status};

/// Resources (descriptors, streams, pollables) that a guest may hold at once.
const RESOURCES: usize = 4096;
/// Bytes that a guest may ask of the random source in one call.
const RANDOM_BYTES: u64 = 64 << 10;
/// Elements of a guest's tables: function pointers, mostly.
const TABLE_ELEMENTS: usize = 1 << 20;
/// What an element of a table costs the host.
const ELEMENT_BYTES: usize = 8;
/// Core instances, memories and tables of a component: ours have at most a few of each.
const PARTS: usize = 32;

/// The data of a process's store.
pub(super) struct Guest {
    pub(super) process: Arc<Process>,
    pub(super) table: ResourceTable,
    pub(super) memory: ProcessMemory,
    /// Instructions it may run before it pays; see `fuel`.
    pub(super) fuel: u64,
    pub(super) clock: Clock,
    /// How fine the clocks are that it sees.
    pub(super) step: Step,
    /// There unless it waits for orders.
    pub(super) ticking: Option<Running>,
    wasi: WasiCtx,
}

impl Guest {
    pub(super) fn new(process: Arc<Process>, clock: Clock) -> Guest {
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES);
        let mut wasi = WasiCtx::builder();
        wasi.args(process.argv())
            .envs(process.env())
            .stdin(Input::standard(process.clone()))
            .stdout(Output::standard(process.clone(), 1))
            .stderr(Output::standard(process.clone(), 2))
            .max_random_size(RANDOM_BYTES);
        let step = Step::new(process.kernel().limits().clock_step);
        wasi.wall_clock(Wall(step)).monotonic_clock(Monotonic::new(step));
        let ticking = Some(clock.run(&process));
        Guest { table, memory: process.memory(), fuel: 0, clock, step, ticking, wasi: wasi.build(), process }
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        // Refused, not trapped: the guest's allocator sees it and the program can say what it was doing.
        Ok(match self.memory.grow(desired.saturating_sub(current) as u64) {
            Ok(()) => true,
            Err(exceeded) => {
                self.process.session().exceed(exceeded);
                false
            }
        })
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> Result<()> {
        self.memory.shrink_back();
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let bytes = desired.saturating_sub(current).saturating_mul(ELEMENT_BYTES) as u64;
        Ok(desired <= TABLE_ELEMENTS && self.memory.grow(bytes).is_ok())
    }

    fn table_grow_failed(&mut self, _error: wasmtime::Error) -> Result<()> {
        self.memory.shrink_back();
        Ok(())
    }

    fn instances(&self) -> usize {
        PARTS
    }

    fn tables(&self) -> usize {
        PARTS
    }

    fn memories(&self) -> usize {
        PARTS
    }
}

/// The error that ends a process from within a host call.
#[derive(Debug, thiserror::Error)]
#[error("the process has ended")]
pub(super) struct Ended(pub(super) Status);
