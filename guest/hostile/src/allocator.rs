//! An allocator that calls the kernel while the kernel waits for memory.
//!
//! To pass a list to a guest, the host calls the guest's `realloc`. A guest that makes a call from there enters the
//! host a second time, in the middle of a call. The component model forbids that; this checks that it does.

#![allow(unsafe_code, reason = "a global allocator is unsafe by nature")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bindings::isopod::kernel::process;

/// True if the next allocation makes a call.
pub(crate) static REENTERS: AtomicBool = AtomicBool::new(false);

struct Reentrant;

#[global_allocator]
static ALLOCATOR: Reentrant = Reentrant;

// SAFETY: all calls are forwarded to the system's allocator.
unsafe impl GlobalAlloc for Reentrant {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if REENTERS.swap(false, Ordering::Relaxed) {
            process::id();
        }
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
}
