//! What a verification answers: one status, how far the ledger holds, and the fault with its values.

use super::error::Error;
use crate::digest::Digest;
use serde::{Deserialize, Serialize};

/// What a verification has found (SPEC 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every record is linked, hashed and signed for, and every execution has its outcome.
    Valid,
    /// There are no records.
    Empty,
    /// A record is not canonical, does not continue the one before it, or a head has another root.
    BadHash,
    /// A head or a key event is not signed by the key that it should be, or records follow that no head signs for.
    BadSignature,
    /// A number is there twice.
    Duplicate,
    /// A record of another log, a nonce again, or a second use of what is used once.
    Replay,
    /// An event names one that is not there, or that may no longer be named.
    MissingParent,
    /// A number is missing, or a head counts more records than there are.
    SequenceGap,
    /// An event names one that does not give it leave.
    UnauthorizedLink,
    /// An execution has no outcome yet; everything else holds.
    IncompleteExecution,
    /// The ledger does not continue the head that was kept: it was cut off or written anew.
    Inconsistent,
}

impl Status {
    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Empty => "empty",
            Self::BadHash => "bad_hash",
            Self::BadSignature => "bad_signature",
            Self::Duplicate => "duplicate",
            Self::Replay => "replay",
            Self::MissingParent => "missing_parent",
            Self::SequenceGap => "sequence_gap",
            Self::UnauthorizedLink => "unauthorized_link",
            Self::IncompleteExecution => "incomplete_execution",
            Self::Inconsistent => "inconsistent",
        }
    }

    /// The status of a ledger with this fault.
    pub(super) const fn of(error: &Error) -> Self {
        match error {
            Error::BadSignature { .. } => Self::BadSignature,
            Error::SequenceGap { .. } => Self::SequenceGap,
            Error::Duplicate { .. } => Self::Duplicate,
            Error::OtherLog { .. } | Error::NonceReused { .. } | Error::Consumed { .. } => Self::Replay,
            Error::MissingParent { .. } => Self::MissingParent,
            Error::Inconsistent { .. } => Self::Inconsistent,
            Error::UnauthorizedLink { .. }
            | Error::Expired { .. }
            | Error::WrongActor { .. }
            | Error::WrongDigest { .. }
            | Error::LateNotAllowed
            | Error::ObserverMissing
            | Error::ObserverIsExecutor => Self::UnauthorizedLink,
            _ => Self::BadHash,
        }
    }
}

/// The answer of a verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What was found.
    pub status: Status,
    /// The last event before the fault that holds: for a fault of a record the one before it (before both, where two do not
    /// fit together), for a fault of a head the last that a good head signs for. `None` where none does.
    pub last_valid: Option<u64>,
    /// How many records were read and held.
    pub records: u64,
    /// The root over them.
    pub root: Digest,
    /// How many executions have no outcome.
    pub incomplete: u64,
    /// The fault, with its values.
    pub fault: Option<Error>,
}
