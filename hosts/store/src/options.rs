//! How a store is opened.

use crate::keys::Keys;
use std::sync::Arc;
use std::time::Duration;
use stigmergate_core::policy::Policy;

/// What an acknowledged command survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process at any moment, `kill -9` included. A power loss may take the last commands, never the file.
    #[default]
    Process,
    /// A power loss too: each command waits until the disk has it.
    Power,
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// What an acknowledged command survives.
    pub durability: Durability,
    /// A snapshot after this many records; without a number the store weighs what a snapshot costs against what it saves.
    pub snapshot_every: Option<u32>,
    /// How long to wait for other processes.
    pub busy_timeout: Duration,
    /// Only look.
    pub read_only: bool,
    /// The policy that a file begins with where it is made; without one, the preset `standard`.
    pub initial_policy: Option<Policy>,
    /// The file (its log aside) does not grow beyond this many bytes; more is [`StoreError::DiskFull`](crate::StoreError::DiskFull).
    pub max_bytes: Option<u64>,
    /// Who has the key of the signed ledger. Without it, a command that would write events is not applied.
    pub keys: Option<Arc<dyn Keys>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            snapshot_every: None,
            busy_timeout: Duration::from_secs(5),
            read_only: false,
            initial_policy: None,
            max_bytes: None,
            keys: None,
        }
    }
}
