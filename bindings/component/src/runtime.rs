//! What a module without `std` has to bring: an allocator and an end for panics.

/// Gives memory back to itself: a kernel lives as long as its host.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// No panic is reachable from input. Should one be, the instance ends here, and its host makes another from the last snapshot.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn end(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
