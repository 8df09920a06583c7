//! What one call, and one instance, may use.

use std::time::Duration;
use wasmtime::ResourceLimiter;

/// Limits, and how instances are kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most that one call may do, in wasmtime's units of fuel (about one an instruction). `None`: not counted, which is faster.
    pub fuel: Option<u64>,
    /// The longest that one call may take, by steps of about a millisecond. `None`: not watched.
    pub deadline: Option<Duration>,
    /// The most memory that one instance may have, in bytes. Default: 256 MiB.
    pub memory_bytes: usize,
    /// Keeps room for this many instances, so that one starts in microseconds; more are then an error. `None`: each gets memory of its
    /// own when it starts.
    pub pool: Option<u32>,
    /// Takes a snapshot after so many commands. What it costs grows with the state; what restoring costs, with this. Default: 512.
    pub snapshot_every: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { fuel: None, deadline: None, memory_bytes: 256 << 20, pool: None, snapshot_every: 512 }
    }
}

/// What an instance's store holds.
#[derive(Debug)]
pub(crate) struct Limits {
    memory_bytes: usize,
    /// The size that was asked for and not given.
    pub(crate) refused: Option<usize>,
}

impl Limits {
    pub(crate) const fn new(memory_bytes: usize) -> Self {
        Self { memory_bytes, refused: None }
    }
}

impl ResourceLimiter for Limits {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let fits = desired <= self.memory_bytes;
        if !fits {
            self.refused = Some(desired);
        }
        Ok(fits)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        /// The component's tables hold its functions and its handles.
        const ELEMENTS: usize = 1 << 20;
        Ok(desired <= ELEMENTS)
    }
}
