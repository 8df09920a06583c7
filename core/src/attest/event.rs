//! Events: what happened, as one record that has one spelling.
//!
//! The idea: an event holds digests of contents, never the contents, and names its place in the log (origin, number, hash of the
//! record before it). What a kind must name is a field of its [`Body`], so that a link of the wrong sort cannot be written. The
//! record is canonical JSON; its leaf hash is what other events name.

use super::encoding::hex;
use super::error::Error;
use super::key::{PublicKey, check_name};
use crate::digest::Digest;
use crate::gate::Decision;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, as the caller's clock says.
pub type Time = u64;

/// The version of the record's form.
pub const EVENT_VERSION: u64 = 1;

/// An actor has at most this many bytes.
pub const ACTOR_BYTES: usize = 1024;

/// What kind of event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something was proposed.
    Proposal,
    /// The gate judged it.
    GateVerdict,
    /// A person approved a HOLD.
    Approval,
    /// It may be executed, once.
    ExecutionAuthorization,
    /// It was executed.
    ExecutionReceipt,
    /// What became of it.
    Outcome,
    /// It was refused for good, or nobody answered.
    Rejection,
    /// Something went wrong, or ran that should not have.
    Error,
    /// A key signs from here on.
    Key,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Proposal,
        Self::GateVerdict,
        Self::Approval,
        Self::ExecutionAuthorization,
        Self::ExecutionReceipt,
        Self::Outcome,
        Self::Rejection,
        Self::Error,
        Self::Key,
    ];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proposal => "proposal",
            Self::GateVerdict => "gate_verdict",
            Self::Approval => "approval",
            Self::ExecutionAuthorization => "execution_authorization",
            Self::ExecutionReceipt => "execution_receipt",
            Self::Outcome => "outcome",
            Self::Rejection => "rejection",
            Self::Error => "error",
            Self::Key => "key",
        }
    }
}

/// Sixteen bytes that no other event of the log has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nonce([u8; 16]);

impl Nonce {
    /// From bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The nonce of an event, from the caller's seed (random, or the digest of the command) and the event's place.
    #[must_use]
    pub fn derive(seed: &Digest, log: &str, sequence: u64) -> Self {
        let bytes = [&seed.as_bytes()[..], &sequence.to_be_bytes(), log.as_bytes()].concat();
        let mut nonce = [0; 16];
        nonce.iter_mut().zip(Digest::of("stigmergate nonce", &bytes).as_bytes()).for_each(|(to, from)| *to = *from);
        Self(nonce)
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// An earlier event, by its number and its leaf hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its number.
    pub sequence: u64,
    /// The hash of its record as a leaf.
    pub leaf: Digest,
}

/// What an event says. Every digest is of contents that lie elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Something was proposed.
    Proposal {
        /// Of the proposal.
        proposal: Digest,
        /// Of what would run, where that is known.
        arguments: Option<Digest>,
        /// Of the policy in force.
        policy: Option<Digest>,
    },
    /// The gate judged it.
    GateVerdict {
        /// The proposal's event.
        parent: Link,
        /// Of the proposal.
        proposal: Digest,
        /// Of the verdict.
        verdict: Digest,
        /// What the verdict says.
        decision: Decision,
        /// Of the policy that it was judged by.
        policy: Option<Digest>,
    },
    /// A person approved a HOLD.
    Approval {
        /// The verdict's event.
        parent: Link,
        /// Of what will run.
        arguments: Digest,
        /// Of who approved.
        approver: Digest,
        /// When the approval ends.
        expires: Time,
        /// It is known only from the execution.
        late: bool,
    },
    /// It may be executed, once, by the event's actor.
    ExecutionAuthorization {
        /// The event of an EXECUTE verdict or of an approval.
        parent: Link,
        /// Of what will run.
        arguments: Digest,
        /// When it must have been started.
        expires: Time,
        /// It is known only from the execution.
        late: bool,
    },
    /// It was executed by the event's actor.
    ExecutionReceipt {
        /// The authorization's event.
        parent: Link,
        /// Of what ran.
        arguments: Digest,
        /// Of what came back.
        receipt: Digest,
        /// When it was started.
        started: Time,
        /// The fingerprint of the executor's key, where it signed.
        signer: Option<Digest>,
        /// Its authorization is known only from the execution.
        late: bool,
    },
    /// What became of it.
    Outcome {
        /// The receipt's event.
        parent: Link,
        /// Of the outcome.
        outcome: Digest,
        /// The fingerprint of the observer's key, where it signed.
        signer: Option<Digest>,
    },
    /// It was refused for good, or nobody answered.
    Rejection {
        /// The event of a HOLD or REFUSE verdict.
        parent: Link,
        /// Of who denied it, where somebody did.
        approver: Option<Digest>,
        /// Of the reason, where one was given.
        reason: Option<Digest>,
    },
    /// Something went wrong, or ran that should not have. Naming a receipt, it ends that execution without an outcome.
    Error {
        /// The event that it is about, where there is one.
        parent: Option<Link>,
        /// Of what went wrong.
        detail: Digest,
    },
    /// A key signs from here on.
    Key {
        /// The key.
        key: PublicKey,
        /// The old key's signature of [`Event::rotation_message`]; the log's first event has none.
        endorsement: Option<Vec<u8>>,
    },
}

impl Body {
    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Proposal { .. } => Kind::Proposal,
            Self::GateVerdict { .. } => Kind::GateVerdict,
            Self::Approval { .. } => Kind::Approval,
            Self::ExecutionAuthorization { .. } => Kind::ExecutionAuthorization,
            Self::ExecutionReceipt { .. } => Kind::ExecutionReceipt,
            Self::Outcome { .. } => Kind::Outcome,
            Self::Rejection { .. } => Kind::Rejection,
            Self::Error { .. } => Kind::Error,
            Self::Key { .. } => Kind::Key,
        }
    }

    /// The event that it names.
    #[must_use]
    pub const fn parent(&self) -> Option<&Link> {
        match self {
            Self::Proposal { .. } | Self::Key { .. } => None,
            Self::Error { parent, .. } => parent.as_ref(),
            Self::GateVerdict { parent, .. }
            | Self::Approval { parent, .. }
            | Self::ExecutionAuthorization { parent, .. }
            | Self::ExecutionReceipt { parent, .. }
            | Self::Outcome { parent, .. }
            | Self::Rejection { parent, .. } => Some(parent),
        }
    }
}

/// One event of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The log's origin.
    pub log: String,
    /// Its number, from 0 on, without gaps.
    pub sequence: u64,
    /// The caller's time.
    pub at: Time,
    /// Whose event it is: the agent that proposes, is authorized and executes; the gate; a person; an observer.
    pub actor: String,
    /// What no other event has.
    pub nonce: Nonce,
    /// The leaf hash of the event before it; the first has none.
    pub previous: Option<Digest>,
    /// What it says.
    pub body: Body,
}

impl Event {
    /// What must hold of every event, whatever it says.
    pub(super) fn check(&self) -> Result<(), Error> {
        check_name("log", &self.log)?;
        check_actor(&self.actor)?;
        if (self.sequence == 0) == self.previous.is_some() {
            return Err(Error::value("previous", "the hash of the event before, which only the first has not"));
        }
        match self.body.parent() {
            Some(parent) if parent.sequence >= self.sequence => Err(Error::value("parent", "an earlier event")),
            _ => Ok(()),
        }
    }
}

/// Checks an actor: not empty, no control characters, of bounded length.
pub(super) fn check_actor(actor: &str) -> Result<(), Error> {
    if actor.len() > ACTOR_BYTES {
        return Err(Error::too_long("actor", actor.len(), ACTOR_BYTES));
    }
    if actor.trim().is_empty() || actor.chars().any(char::is_control) {
        return Err(Error::value("actor", "text that is not blank, without control characters"));
    }
    Ok(())
}
