//! Loading precompiled code. The one place with `unsafe`.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{MprotectFlags, mprotect};
use wasmtime::component::Component;
use wasmtime::{CustomCodeMemory, Engine, Result};

use super::image::Code;
use super::tunables::Metering;

/// Whether an engine of this process runs the code where it lies, for each kind of metering.
static CLAIMED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

/// The right to run the images where they lie. wasmtime registers a piece of memory once, so one engine has it at a
/// time; the others run copies.
pub(super) struct Place(Metering);

impl Place {
    /// Takes the right, if nobody has it.
    pub(super) fn claim(metering: Metering) -> Option<Place> {
        (!CLAIMED[metering as usize].swap(true, Ordering::AcqRel)).then(|| Place(metering))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        CLAIMED[self.0 as usize].store(false, Ordering::Release);
    }
}

/// Loads a component's code into an engine: where it lies if the engine has the place, or else a copy.
pub(super) fn load(engine: &Engine, code: &Code, place: Option<&Place>) -> Result<Component> {
    if place.is_some() {
        // SAFETY: the bytes were made by `Engine::precompile_component` of the same wasmtime when this library
        // was built, are part of its read-only data, live as long as the process and are aligned to a page. No other
        // engine has them registered. The engine checks version, settings and CPU before it uses them.
        unsafe { Component::deserialize_raw(engine, NonNull::from(code.bytes)) }
    } else {
        // SAFETY: the same bytes; this copies them.
        unsafe { Component::deserialize(engine, code.bytes) }
    }
}

/// Makes code executable where it lies. An engine that runs copies does not need it: wasmtime can do that itself.
pub(super) struct CodePages;

impl CustomCodeMemory for CodePages {
    fn required_alignment(&self) -> usize {
        rustix::param::page_size()
    }

    fn publish_executable(&self, ptr: *const u8, len: usize) -> Result<()> {
        let page = self.required_alignment();
        // SAFETY: wasmtime passes the text section of code that `load` gave it: whole pages that hold nothing
        // else, that are mapped, and that nobody has written to since the program started, so that no cache holds
        // anything older.
        unsafe {
            let flags = MprotectFlags::READ | MprotectFlags::EXEC;
            mprotect(ptr.cast_mut().cast(), len.next_multiple_of(page), flags)?;
        }
        Ok(())
    }

    fn unpublish_executable(&self, _ptr: *const u8, _len: usize) -> Result<()> {
        // Code is never edited, and in place it can stay executable until the process ends.
        Ok(())
    }
}
