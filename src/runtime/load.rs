//! Loading precompiled code. The only file of the host library with `unsafe`.

#![allow(unsafe_code)]

use std::collections::HashSet;
use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex, MutexGuard};

use rustix::mm::{MprotectFlags, mprotect};
use wasmtime::component::Component;
use wasmtime::{CustomCodeMemory, Engine, Result};

use super::image::Code;
use crate::sync::lock;

/// The digests of the code that an engine of this host process runs in place. A leaf.
static CLAIMED: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);

/// The claim of an engine to run an image's code in place. wasmtime registers a piece of memory once, so one engine has
/// the claim at a time; the others run copies.
pub(super) struct CodeClaim(&'static str);

impl CodeClaim {
    /// Claims the code, unless another engine has.
    pub(super) fn claim(code: &'static Code) -> Option<CodeClaim> {
        let is_first = claimed().insert(code.digest);
        // Lazy, because dropping a claim releases it.
        is_first.then(|| CodeClaim(code.digest))
    }
}

impl Drop for CodeClaim {
    fn drop(&mut self) {
        claimed().remove(self.0);
    }
}

fn claimed() -> MutexGuard<'static, HashSet<&'static str>> {
    lock(&CLAIMED)
}

/// Loads a component's code into an engine: in place if the engine has the claim, or else as a copy.
pub(super) fn load(engine: &Engine, code: &'static Code, claim: Option<&CodeClaim>) -> Result<Component> {
    if claim.is_some() {
        // SAFETY: the bytes were made by `Engine::precompile_component` of the same wasmtime when this library
        // was built, are part of its read-only data, live as long as the process and are aligned to a page. No other
        // engine has them registered. The engine checks version, settings and CPU before it uses them.
        unsafe { Component::deserialize_raw(engine, NonNull::from(code.bytes)) }
    } else {
        // SAFETY: the same bytes; this copies them.
        unsafe { Component::deserialize(engine, code.bytes) }
    }
}

/// Makes code executable, in place or in a copy.
pub(super) struct CodePages;

impl CustomCodeMemory for CodePages {
    fn required_alignment(&self) -> usize {
        rustix::param::page_size()
    }

    fn publish_executable(&self, ptr: *const u8, len: usize) -> Result<()> {
        let page = self.required_alignment();
        // SAFETY: wasmtime passes the text section of code that `load` gave it, in place or in a copy that wasmtime has
        // just mapped: whole pages that hold nothing else, and that are not written to once they hold code.
        unsafe {
            let flags = MprotectFlags::READ | MprotectFlags::EXEC;
            mprotect(ptr.cast_mut().cast(), len.next_multiple_of(page), flags)?;
        }
        Ok(())
    }

    fn unpublish_executable(&self, _ptr: *const u8, _len: usize) -> Result<()> {
        // Code is never edited: in place it can stay executable until the process ends, and a copy is unmapped.
        Ok(())
    }
}
