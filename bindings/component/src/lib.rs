//! stigmergate as a WebAssembly component (`wit/`): every call is handed to the core, and its answer handed back.
//!
//! The idea: nothing but conversion happens here, and nothing comes from outside. The component has no clock, no randomness and no
//! files, so that the same calls give the same bytes in every host.
#![no_std]

extern crate alloc;

mod kernel;
mod ledger;
mod policy;
mod runtime;

wit_bindgen::generate!({ path: "../../wit", world: "gate" });

use exports::stigmergate::gate as wit;

stigmergate_interface::conversions!();

struct Component;

export!(Component);

/// Runs a call whose answer or error goes out to the interface.
fn answer<T: stigmergate_interface::ToWit<W>, W>(
    call: impl FnOnce() -> Result<T, stigmergate_core::error::Error>,
) -> Result<W, wit::types::Error> {
    use stigmergate_interface::ToWit as _;
    call().map(T::to_wit).map_err(|error| error.to_wit())
}
