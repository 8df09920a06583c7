//! The types and calls that wasmtime generates from `wit/`, and what converts them.

// Generated code.
#![allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic, clippy::restriction)]

wasmtime::component::bindgen!({ path: "../../wit", world: "gate" });

pub(crate) use exports::stigmergate::gate as wit;

stigmergate_interface::conversions!();
