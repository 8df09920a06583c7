//! Errors as data: a stable code, the field that is wrong, and what would be right.
//!
//! Every binding raises its own idiom from this one enum (DESIGN 6). Codes are under semver; the text is for people.

use crate::attest;
use alloc::string::{String, ToString};
use core::fmt;
use serde::{Deserialize, Serialize};

/// The path of a field in the input, with dots: `proposal.budget_estimate.risk_level`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Field(String);

impl Field {
    /// A field by its path.
    #[must_use]
    pub fn new(path: &str) -> Self {
        Self(path.to_string())
    }

    /// The path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same field seen from the structure that holds it.
    #[must_use]
    pub fn within(&self, outer: &str) -> Self {
        if self.0.is_empty() { Self::new(outer) } else { Self(alloc::format!("{outer}.{}", self.0)) }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Why a command was not applied. A command that returns an error has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Error {
    /// A number is NaN, infinite or outside ±9 223 372 036.
    Number {
        /// The field that holds it.
        field: Field,
    },
    /// A value is outside what its field allows.
    Value {
        /// The field that holds it.
        field: Field,
        /// What would be right.
        expected: String,
    },
    /// A text, list or structure is longer or deeper than the policy's bound.
    TooLong {
        /// The field that holds it.
        field: Field,
        /// Its size, in the bound's unit.
        size: u64,
        /// The bound (bytes, items or levels).
        limit: u64,
    },
    /// The text is not JSON of the expected form.
    Json {
        /// What the parser said, with line and column.
        detail: String,
    },
    /// A policy is contradictory, or holds a key that is not known.
    Policy {
        /// The policy's field.
        field: Field,
        /// What would be right.
        expected: String,
    },
    /// The preset needs a part that this build does not have.
    Unavailable {
        /// What was asked for.
        feature: String,
        /// Why it cannot be had.
        reason: String,
    },
    /// This id was used for a proposal with other content.
    IdConflict {
        /// The proposal's id.
        id: String,
    },
    /// There is no proposal with this id, or it is no longer remembered.
    UnknownProposal {
        /// The proposal's id.
        id: String,
    },
    /// The proposal is not in a state that allows this command.
    WrongState {
        /// The proposal's id.
        id: String,
        /// The state that it is in.
        state: String,
        /// The states that would allow it.
        expected: String,
    },
    /// The one who asks may not do this.
    NotAllowed {
        /// Who asked.
        actor: String,
        /// Why not.
        reason: String,
    },
    /// A structure has reached the policy's bound and evicts nothing.
    Full {
        /// Which structure.
        what: String,
        /// The bound, in entries.
        limit: u64,
    },
    /// A snapshot or record cannot be read.
    Corrupt {
        /// What was being read.
        what: String,
        /// Where and why.
        detail: String,
    },
    /// A snapshot or record was written by a later version.
    Version {
        /// What was being read.
        what: String,
        /// The version found.
        found: u32,
        /// The latest version that can be read.
        supported: u32,
    },
    /// The ledger refuses it; the code is that of the reason.
    #[serde(untagged)]
    Attest(attest::Error),
}

impl Error {
    /// The stable code, as in the JSON form.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Number { .. } => "number",
            Self::Value { .. } => "value",
            Self::TooLong { .. } => "too_long",
            Self::Json { .. } => "json",
            Self::Policy { .. } => "policy",
            Self::Unavailable { .. } => "unavailable",
            Self::IdConflict { .. } => "id_conflict",
            Self::UnknownProposal { .. } => "unknown_proposal",
            Self::WrongState { .. } => "wrong_state",
            Self::NotAllowed { .. } => "not_allowed",
            Self::Full { .. } => "full",
            Self::Corrupt { .. } => "corrupt",
            Self::Version { .. } => "version",
            Self::Attest(error) => error.code(),
        }
    }

    /// The field that is wrong, where one is.
    #[must_use]
    pub const fn field(&self) -> Option<&Field> {
        match self {
            Self::Number { field }
            | Self::Value { field, .. }
            | Self::TooLong { field, .. }
            | Self::Policy { field, .. } => Some(field),
            _ => None,
        }
    }

    /// The same error with its field seen from the structure that holds it.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        if let Self::Number { field }
        | Self::Value { field, .. }
        | Self::TooLong { field, .. }
        | Self::Policy { field, .. } = &mut self
        {
            *field = field.within(outer);
        }
        self
    }

    /// A value that its field does not allow.
    pub(crate) fn value(field: &str, expected: &str) -> Self {
        Self::Value { field: Field::new(field), expected: expected.to_string() }
    }

    /// A policy field that is wrong.
    pub(crate) fn policy(field: &str, expected: &str) -> Self {
        Self::Policy { field: Field::new(field), expected: expected.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { field } => write!(out, "{field}: not a finite number between -9223372036 and 9223372036"),
            Self::Value { field, expected } => write!(out, "{field}: expected {expected}"),
            Self::TooLong { field, size, limit } => {
                write!(out, "{field}: {size} is over the policy's bound of {limit}")
            }
            Self::Json { detail } => write!(out, "not the expected JSON: {detail}"),
            Self::Policy { field, expected } => write!(out, "policy {field}: expected {expected}"),
            Self::Unavailable { feature, reason } => write!(out, "{feature} is not available: {reason}"),
            Self::IdConflict { id } => {
                write!(out, "proposal {id} was judged with other content; give the changed proposal an id of its own")
            }
            Self::UnknownProposal { id } => write!(out, "no proposal {id} is known (ids are remembered for a day)"),
            Self::WrongState { id, state, expected } => {
                write!(out, "proposal {id} is {state}; this needs one that is {expected}")
            }
            Self::NotAllowed { actor, reason } => write!(out, "{actor} may not do this: {reason}"),
            Self::Full { what, limit } => write!(out, "{what}: the policy's bound of {limit} is reached"),
            Self::Corrupt { what, detail } => write!(out, "{what} cannot be read: {detail}"),
            Self::Version { what, found, supported } => {
                write!(out, "{what} has version {found}; this build reads up to version {supported}")
            }
            Self::Attest(error) => error.fmt(out),
        }
    }
}

impl core::error::Error for Error {}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Json { detail: error.to_string() }
    }
}

/// What is wrong with a value is said by the same variants, wherever it is found.
impl From<attest::Error> for Error {
    fn from(error: attest::Error) -> Self {
        match error {
            attest::Error::Value { field, expected } => Self::Value { field, expected },
            attest::Error::TooLong { field, size, limit } => Self::TooLong { field, size, limit },
            attest::Error::Full { what, limit } => Self::Full { what, limit },
            other => Self::Attest(other),
        }
    }
}
