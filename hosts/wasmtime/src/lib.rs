//! The judgement of stigmergate as a WebAssembly component in wasmtime: within limits of time, work and memory, and the same answers as
//! the native kernel's, to the last digit.
//!
//! The idea: an [`Engine`] compiles the component once; each [`Kernel`] is an instance of its own and offers what
//! [`stigmergate_core::kernel::Kernel`] does. A call that goes over a limit or traps is a typed [`Error`], and nothing is lost by it:
//! the kernel keeps its last snapshot and the commands since, makes another instance and applies them again.
//!
//! ```no_run
//! use stigmergate_core::{location::Location, policy::{Policy, Preset}, proposal::Proposal};
//! use stigmergate_wasmtime::{Engine, Options};
//!
//! let component = std::fs::read("stigmergate.component.wasm")?;
//! let engine = Engine::new(&component, &Options::default())?;
//! let mut kernel = engine.kernel(&Policy::preset(Preset::Standard))?;
//! let verdict = kernel.propose(1_700_000_000_000, Proposal::new("p1", "ag-1", "read_file", Location::path("src/main.rs")))?;
//! println!("{}", verdict.decision.as_str());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

extern crate alloc;

mod engine;
mod error;
mod interface;
mod kernel;
mod limits;

pub use engine::Engine;
pub use error::Error;
pub use kernel::{Kernel, Written};
pub use limits::Options;
