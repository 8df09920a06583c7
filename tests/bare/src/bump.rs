//! An allocator in a few lines: it hands out one address after another and takes back only the newest.
//!
//! That is enough for a module that answers a handful of questions and is dropped; it is no allocator for a kernel
//! that lives long.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::Cell;
use core::ptr;

const PAGE: usize = 65536;

/// Memory from `next` up to the end of the module's pages is free.
pub struct Bump {
    /// 0 until the first call: what is there at the start belongs to the module's own data.
    next: Cell<usize>,
}

// SAFETY: a module without the threads proposal has one thread.
unsafe impl Sync for Bump {}

impl Bump {
    pub const fn new() -> Self {
        Bump { next: Cell::new(0) }
    }

    /// The first aligned address with `layout.size()` free bytes behind it, or `None` where memory ends.
    fn place(&self, layout: Layout) -> Option<usize> {
        let end = memory_size::<0>().checked_mul(PAGE)?;
        let next = if self.next.get() == 0 { end } else { self.next.get() };
        let start = next.checked_next_multiple_of(layout.align())?;
        let after = start.checked_add(layout.size())?;
        let missing = after.saturating_sub(end).div_ceil(PAGE);
        if missing > 0 && memory_grow::<0>(missing) == usize::MAX {
            return None;
        }
        self.next.set(after);
        Some(start)
    }
}

// SAFETY: `place` never gives the same byte twice before it is given back, aligns, and grows the memory to fit.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.place(layout) {
            Some(start) => ptr::with_exposed_provenance_mut(start),
            None => ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if self.next.get() == block.addr() + layout.size() {
            self.next.set(block.addr());
        }
    }
}
