//! The data of a process's store, and the limits that it imposes.

use std::sync::Arc;

use wasmtime::component::ResourceTable;
use wasmtime::{ResourceLimiter, Result};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::clock::{Monotonic, Step, Wall};
use super::stdio::{Input, Output};
use super::ticker::{TickGuard, TickerHandle};
use crate::kernel::{Process, ProcessMemory, Status};
use crate::limits::{CORE_ITEMS, GUEST_HANDLES, RANDOM_BYTES, TABLE_ELEMENTS};

/// The size of an element of a table on the host: a pointer.
const ELEMENT_BYTES: usize = 8;

/// The data of a process's store.
pub(super) struct Guest {
    pub(super) process: Arc<Process>,
    pub(super) table: ResourceTable,
    pub(super) memory: ProcessMemory,
    /// The fuel that the process had after its last payment; see `fuel`.
    pub(super) fuel: u64,
    pub(super) ticker: TickerHandle,
    /// The resolution of the process's clocks.
    pub(super) step: Step,
    /// Keeps the ticker awake. `None` while a live shell waits for orders.
    pub(super) ticking: Option<TickGuard>,
    wasi: WasiCtx,
}

impl Guest {
    pub(super) fn new(process: Arc<Process>, ticker: TickerHandle) -> Guest {
        let mut table = ResourceTable::new();
        table.set_max_capacity(GUEST_HANDLES);
        let mut wasi = WasiCtx::builder();
        wasi.args(process.argv())
            .envs(process.env())
            .stdin(Input::standard(process.clone()))
            .stdout(Output::standard(process.clone(), 1))
            .stderr(Output::standard(process.clone(), 2))
            .max_random_size(RANDOM_BYTES);
        let step = Step::new(process.kernel().limits().clock_step);
        wasi.wall_clock(Wall(step)).monotonic_clock(Monotonic::new(step));
        let ticking = Some(ticker.start(&process));
        Guest { table, memory: process.memory(), fuel: 0, ticker, step, ticking, wasi: wasi.build(), process }
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl ResourceLimiter for Guest {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        // Refused and not a trap: the guest's allocator sees the failure, and the program can report it.
        Ok(match self.memory.grow(desired.saturating_sub(current) as u64) {
            Ok(()) => true,
            Err(exceeded) => {
                self.process.job().exceed(exceeded);
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
        CORE_ITEMS
    }

    fn tables(&self) -> usize {
        CORE_ITEMS
    }

    fn memories(&self) -> usize {
        CORE_ITEMS
    }
}

/// The error that ends a process from within a host call.
#[derive(Debug, thiserror::Error)]
#[error("the process has ended")]
pub(super) struct ProcessExit(pub(super) Status);
