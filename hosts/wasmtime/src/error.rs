//! What can go wrong besides what the core says.

use std::fmt;
use stigmergate_core::error::Error as CoreError;

/// Why a call did nothing.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// What the native kernel would say too.
    Core(CoreError),
    /// The call was over [`Options::fuel`](crate::Options::fuel).
    OutOfFuel {
        /// The limit.
        limit: u64,
    },
    /// The call took longer than [`Options::deadline`](crate::Options::deadline).
    Deadline,
    /// The call needed more than [`Options::memory_bytes`](crate::Options::memory_bytes).
    OutOfMemory {
        /// What it asked for, in bytes.
        wanted: usize,
        /// The limit.
        limit: usize,
    },
    /// The instance ended. It is a defect of the component.
    Trap {
        /// Where.
        detail: String,
    },
    /// No instance is free in the pool.
    PoolFull {
        /// How many there are.
        instances: u32,
    },
    /// The file is not the component, or one of another interface.
    Component {
        /// What is wrong with it.
        detail: String,
    },
    /// The options contradict each other or the machine.
    Options {
        /// What is wrong with them.
        detail: String,
    },
}

impl Error {
    /// The stable code: that of the core's error, or `out_of_fuel`, `deadline`, `out_of_memory`, `trap`, `pool_full`, `component`, `options`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Core(error) => error.code(),
            Self::OutOfFuel { .. } => "out_of_fuel",
            Self::Deadline => "deadline",
            Self::OutOfMemory { .. } => "out_of_memory",
            Self::Trap { .. } => "trap",
            Self::PoolFull { .. } => "pool_full",
            Self::Component { .. } => "component",
            Self::Options { .. } => "options",
        }
    }

    /// Whether the same call may succeed under other limits, or later.
    #[must_use]
    pub const fn is_limit(&self) -> bool {
        matches!(self, Self::OutOfFuel { .. } | Self::Deadline | Self::OutOfMemory { .. } | Self::PoolFull { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(error) => error.fmt(out),
            Self::OutOfFuel { limit } => write!(out, "the call was over its fuel of {limit}; nothing was changed"),
            Self::Deadline => out.write_str("the call was over its deadline; nothing was changed"),
            Self::OutOfMemory { wanted, limit } => {
                write!(out, "the call needed {wanted} bytes of memory and may have {limit}; nothing was changed")
            }
            Self::Trap { detail } => write!(out, "the component ended: {detail}; nothing was changed"),
            Self::PoolFull { instances } => write!(out, "all {instances} instances of the pool are in use"),
            Self::Component { detail } => write!(out, "not a component that offers stigmergate:gate: {detail}"),
            Self::Options { detail } => write!(out, "the options cannot be: {detail}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<CoreError> for Error {
    fn from(error: CoreError) -> Self {
        Self::Core(error)
    }
}
