//! What the ledger refuses, as data: a stable code, the field that is wrong, and the values.
//!
//! The same errors are given by the ledger that writes and by the verification that reads, since both ask the same questions.

use crate::digest::Digest;
use crate::error::Field;
use alloc::string::{String, ToString};
use core::fmt;
use serde::{Deserialize, Serialize};

/// Why an event was not written, or what is wrong with one that was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not in the one form that they may have.
    NotCanonical {
        /// How many bytes before it were right.
        at: u64,
        /// What would be right.
        expected: String,
    },
    /// A value is outside what its field allows.
    Value {
        /// The field that holds it.
        field: Field,
        /// What would be right.
        expected: String,
    },
    /// A text or list is longer than its bound.
    TooLong {
        /// The field that holds it.
        field: Field,
        /// Its size, in the bound's unit.
        size: u64,
        /// The bound (bytes, lines or levels).
        limit: u64,
    },
    /// A note, checkpoint, proof, bundle or envelope does not have its form.
    Malformed {
        /// What was being read.
        what: String,
        /// What would be right.
        expected: String,
    },
    /// A hash is not that of what it stands for.
    BadHash {
        /// What the hash is of.
        what: String,
    },
    /// A signature does not hold, or there is none.
    BadSignature {
        /// The key that it should be of.
        key: String,
        /// Why it does not hold.
        reason: String,
    },
    /// The record belongs to another log.
    OtherLog {
        /// This log.
        expected: String,
        /// The record's.
        found: String,
    },
    /// A row is missing before this one.
    SequenceGap {
        /// The number that comes next.
        expected: u64,
        /// The number that was found.
        found: u64,
    },
    /// There is a row with this number.
    Duplicate {
        /// The number.
        sequence: u64,
    },
    /// A nonce was used before.
    NonceReused {
        /// The event that uses it again.
        sequence: u64,
    },
    /// The event names one that is not known, or may no longer be named.
    MissingParent {
        /// The number that it names.
        parent: u64,
    },
    /// The event names one that another event has used.
    Consumed {
        /// The number that it names.
        parent: u64,
    },
    /// The event names one that does not give it leave.
    UnauthorizedLink {
        /// The number that it names.
        parent: u64,
        /// Why not.
        reason: String,
    },
    /// The authorization or approval is over.
    Expired {
        /// The number of the event that gave it.
        parent: u64,
        /// When it ended.
        expires: u64,
        /// When it was used.
        at: u64,
    },
    /// Somebody else may do this.
    WrongActor {
        /// Who may.
        expected: String,
        /// Who did.
        found: String,
    },
    /// Something else was judged.
    WrongDigest {
        /// Of what was judged.
        expected: Digest,
        /// Of what is to run, or ran.
        found: Digest,
    },
    /// An approval that is known only from the execution is not allowed here.
    LateNotAllowed,
    /// Only the linked outcome is accepted here.
    AttestationRequired,
    /// No events are written here.
    AttestationDisabled,
    /// Attestation is required, and no ledger was begun.
    AttestationKeyMissing,
    /// A ledger was begun before.
    LedgerBegun {
        /// Its origin.
        origin: String,
    },
    /// An outcome needs the signature of an observer.
    ObserverMissing,
    /// The observer's key is the executor's.
    ObserverIsExecutor,
    /// As many as may be open at once are open.
    Full {
        /// Of what.
        what: String,
        /// The bound.
        limit: u64,
    },
    /// The ledger does not continue the head that was kept.
    Inconsistent {
        /// The size of the head that was kept.
        size: u64,
    },
    /// A hash that the proof needs is not there.
    NodeMissing {
        /// Its height above the leaves.
        level: u8,
        /// Its place at that height.
        index: u64,
    },
}

impl Error {
    /// The stable code, as in the JSON form.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotCanonical { .. } => "not_canonical",
            Self::Value { .. } => "value",
            Self::TooLong { .. } => "too_long",
            Self::Malformed { .. } => "malformed",
            Self::BadHash { .. } => "bad_hash",
            Self::BadSignature { .. } => "bad_signature",
            Self::OtherLog { .. } => "other_log",
            Self::SequenceGap { .. } => "sequence_gap",
            Self::Duplicate { .. } => "duplicate",
            Self::NonceReused { .. } => "nonce_reused",
            Self::MissingParent { .. } => "missing_parent",
            Self::Consumed { .. } => "consumed",
            Self::UnauthorizedLink { .. } => "unauthorized_link",
            Self::Expired { .. } => "expired",
            Self::WrongActor { .. } => "wrong_actor",
            Self::WrongDigest { .. } => "wrong_digest",
            Self::LateNotAllowed => "late_not_allowed",
            Self::AttestationRequired => "attestation_required",
            Self::AttestationKeyMissing => "attestation_key_missing",
            Self::LedgerBegun { .. } => "ledger_begun",
            Self::AttestationDisabled => "attestation_disabled",
            Self::ObserverMissing => "observer_missing",
            Self::ObserverIsExecutor => "observer_is_executor",
            Self::Full { .. } => "full",
            Self::Inconsistent { .. } => "inconsistent",
            Self::NodeMissing { .. } => "node_missing",
        }
    }

    /// The field that is wrong, where one is.
    #[must_use]
    pub const fn field(&self) -> Option<&Field> {
        match self {
            Self::Value { field, .. } | Self::TooLong { field, .. } => Some(field),
            _ => None,
        }
    }

    pub(crate) fn value(field: &str, expected: &str) -> Self {
        Self::Value { field: Field::new(field), expected: expected.to_string() }
    }

    pub(crate) fn too_long(field: &str, size: usize, limit: usize) -> Self {
        Self::TooLong { field: Field::new(field), size: size as u64, limit: limit as u64 }
    }

    pub(crate) fn malformed(what: &str, expected: &str) -> Self {
        Self::Malformed { what: what.to_string(), expected: expected.to_string() }
    }

    pub(crate) fn bad_hash(what: &str) -> Self {
        Self::BadHash { what: what.to_string() }
    }

    pub(crate) fn bad_signature(key: &dyn fmt::Display, reason: &str) -> Self {
        Self::BadSignature { key: key.to_string(), reason: reason.to_string() }
    }

    pub(crate) fn unauthorized(parent: u64, reason: &str) -> Self {
        Self::UnauthorizedLink { parent, reason: reason.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCanonical { at, expected } => write!(out, "not canonical at byte {at}: expected {expected}"),
            Self::Value { field, expected } => write!(out, "{field}: expected {expected}"),
            Self::TooLong { field, size, limit } => write!(out, "{field}: {size} is over the bound of {limit}"),
            Self::Malformed { what, expected } => write!(out, "{what}: expected {expected}"),
            Self::BadHash { what } => write!(out, "the hash of {what} is not that of its bytes"),
            Self::BadSignature { key, reason } => write!(out, "signature of {key}: {reason}"),
            Self::OtherLog { expected, found } => write!(out, "a record of log {found} in log {expected}"),
            Self::SequenceGap { expected, found } => write!(out, "expected event {expected}, found {found}"),
            Self::Duplicate { sequence } => write!(out, "event {sequence} is there twice"),
            Self::NonceReused { sequence } => write!(out, "event {sequence} uses a nonce again"),
            Self::MissingParent { parent } => write!(out, "event {parent} is not known, or may no longer be named"),
            Self::Consumed { parent } => write!(out, "event {parent} was used by another event"),
            Self::UnauthorizedLink { parent, reason } => {
                write!(out, "event {parent} gives no leave for this: {reason}")
            }
            Self::Expired { parent, expires, at } => {
                write!(out, "the leave of event {parent} ended at {expires}, and it is {at}")
            }
            Self::WrongActor { expected, found } => write!(out, "{found} uses what was given to {expected}"),
            Self::WrongDigest { expected, found } => write!(out, "{expected} was judged, not {found}"),
            Self::LateNotAllowed => {
                out.write_str("the policy allows no approval that is known only from the execution")
            }
            Self::AttestationRequired => {
                out.write_str("attestation is required: only an outcome that names a receipt is accepted")
            }
            Self::AttestationDisabled => out.write_str("attestation is disabled: no events are written"),
            Self::AttestationKeyMissing => {
                out.write_str("attestation is required: begin a ledger with a key: stigmergate keys new")
            }
            Self::LedgerBegun { origin } => write!(out, "the ledger {origin} was begun before; rotate its key instead"),
            Self::ObserverMissing => out.write_str("the policy wants an outcome that an observer has signed"),
            Self::ObserverIsExecutor => out.write_str("the observer's key is the executor's"),
            Self::Full { what, limit } => write!(out, "{what}: the bound of {limit} is reached"),
            Self::Inconsistent { size } => {
                write!(out, "the ledger does not continue the head of size {size} that was kept")
            }
            Self::NodeMissing { level, index } => write!(out, "the hash at level {level}, index {index} is not there"),
        }
    }
}

impl core::error::Error for Error {}
