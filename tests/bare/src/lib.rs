//! Proof that `stigmergate-core` needs nothing beneath it.
//!
//! A library that only claims `no_std` may still pull `std` in through a dependency, and nobody notices until it is
//! linked where there is none. So this crate links it there: a WebAssembly module with its own panic handler and its
//! own allocator, which imports nothing. `tools/check-bare` builds it, runs it and looks at its imports.

#![no_std]

extern crate alloc;

use alloc::alloc::{Layout, alloc, dealloc};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::slice;
use stigmergate_core::error::Error;
use stigmergate_core::kernel::Kernel;
use stigmergate_core::policy::{Policy, Preset};

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
    // Without spare room, so that its length is the layout that `give_back` frees.
    let answer = Box::leak(verdict(proposal).into_boxed_slice());
    ((answer.as_ptr().addr() as u64) << 32) | answer.len() as u64
}

/// The call into the core: a proposal as JSON in, the verdict or the error as JSON out. Each call has a kernel of its own, so that
/// the same question gets the same answer.
fn verdict(proposal: &[u8]) -> Vec<u8> {
    let judged = str::from_utf8(proposal)
        .map_err(|error| Error::Json { detail: error.to_string() })
        .and_then(|json| Kernel::new(Policy::preset(Preset::Standard))?.propose_json(0, json));
    let answer = judged.unwrap_or_else(|error| serde_json::to_string(&error).unwrap_or_default());
    answer.into_bytes()
}
