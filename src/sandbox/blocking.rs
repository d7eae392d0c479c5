//! The blocking front, for callers without an async runtime.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Handle, Runtime};

use std::future::Future;

use super::{Command, ExecuteError, Output, Sandbox, Session};

impl Sandbox {
    /// [`execute`](Sandbox::execute) for callers without an async runtime.
    pub fn execute_blocking(&self, command: impl Into<Command>) -> Result<Output, ExecuteError> {
        block_on(self.execute(command))
    }
}

impl Session {
    /// [`execute`](Session::execute) for callers without an async runtime.
    pub fn execute_blocking(&self, command: impl Into<Command>) -> Result<Output, ExecuteError> {
        block_on(self.execute(command))
    }
}

fn block_on<T>(call: impl Future<Output = Result<T, ExecuteError>>) -> Result<T, ExecuteError> {
    match Handle::try_current() {
        Ok(_) => Err(ExecuteError::WithinRuntime),
        Err(_) => runtime()?.block_on(call),
    }
}

/// One runtime for all blocking callers: a process of theirs may outlive no call, so sharing shows nothing.
fn runtime() -> Result<&'static Runtime, ExecuteError> {
    static SHARED: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let make = || Builder::new_multi_thread().enable_time().thread_name("isopod").build().map_err(|e| e.to_string());
    SHARED.get_or_init(make).as_ref().map_err(|error| ExecuteError::Host(error.clone()))
}
