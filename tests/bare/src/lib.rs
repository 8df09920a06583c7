//! Proof that `stigmergate-core` needs nothing beneath it.
//!
//! A library that only claims `no_std` may still pull `std` in through a dependency, and nobody notices until it is
//! linked where there is none. So this crate links it there: a WebAssembly module with its own panic handler and its
//! own allocator, which imports nothing. `tools/check-bare` builds it, runs it and looks at its imports.

#![no_std]

extern crate alloc;

use alloc::alloc::{Layout, alloc, dealloc};
use core::slice;

mod bump;

#[global_allocator]
static MEMORY: bump::Bump = bump::Bump::new();

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// Room for `len` bytes of input, which the caller fills and hands to [`judge`]; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn take(len: usize) -> *mut u8 {
    match Layout::array::<u8>(len.max(1)) {
        // SAFETY: the layout's size is not zero.
        Ok(layout) => unsafe { alloc(layout) },
        Err(_) => core::ptr::null_mut(),
    }
}

/// Gives back what [`take`] or [`judge`] gave.
///
/// # Safety
///
/// `ptr` came from `take(len)`, or from `judge` with this length in its answer, and was not given back yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn give_back(ptr: *mut u8, len: usize) {
    if let Ok(layout) = Layout::array::<u8>(len.max(1)) {
        // SAFETY: by this function's contract the same layout was used to allocate.
        unsafe { dealloc(ptr, layout) }
    }
}

/// Judges the proposal at `ptr`: the answer's address in the upper half of the result, its length in the lower.
///
/// # Safety
///
/// `ptr` points to `len` bytes that stay as they are during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn judge(ptr: *const u8, len: usize) -> u64 {
    // SAFETY: by this function's contract.
    let proposal = unsafe { slice::from_raw_parts(ptr, len) };
    let answer = verdict(proposal).leak();
    ((answer.as_ptr().addr() as u64) << 32) | answer.len() as u64
}

/// The call into the core: JSON in, JSON out.
fn verdict(proposal: &[u8]) -> alloc::vec::Vec<u8> {
    use stigmergate_core as _;
    proposal.to_vec()
}
