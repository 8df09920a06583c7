//! What can be asked of the kernel, and what it answers. Both are journalled.

use crate::attest::key::PublicKey;
use crate::budget::{Answer, Cost};
use crate::digest::Digest;
use crate::field::{Decay, Signal, Source, Tick};
use crate::fixed::Fixed;
use crate::gate::Verdict;
use crate::location::Location;
use crate::policy::Policy;
use crate::proposal::Proposal;
use crate::trust::{self, Role};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since the Unix epoch, as the caller's clock says.
pub type Time = u64;

/// A command: everything that changes the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Command {
    /// Judge a proposal.
    Propose(Box<Proposal>),
    /// A person approves a HOLD.
    Approve(Approve),
    /// A person denies a HOLD.
    Deny(Deny),
    /// Somebody reports an outcome.
    RecordOutcome(Box<OutcomeReport>),
    /// A host saw what became of a call.
    Observe(Observation),
    /// Leave a trace.
    Deposit(DepositRequest),
    /// Strengthen a trace that lives.
    Reinforce(Reinforce),
    /// Let ticks pass, where they are called by hand.
    Tick(Ticks),
    /// Let time pass: expire what is due.
    Advance,
    /// Check a cost and use it, in one step.
    Spend(Spend),
    /// Clear the field, begin a budget period and count ticks anew; histories and trust stay.
    CalmDown,
    /// Replace the policy.
    SetPolicy(Box<Policy>),
    /// Begin the signed ledger.
    BeginLedger(BeginLedger),
    /// Put another key in force.
    RotateKey(RotateKey),
    /// Give leave for one execution of what was judged EXECUTE, or approved.
    Authorize(Authorize),
    /// An executor has run what was authorized.
    Receive(Receive),
    /// What became of an execution, linked to its receipt.
    Conclude(Box<Conclude>),
}

impl Command {
    /// The stable name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Propose(_) => "propose",
            Self::Approve(_) => "approve",
            Self::Deny(_) => "deny",
            Self::RecordOutcome(_) => "record_outcome",
            Self::Observe(_) => "observe",
            Self::Deposit(_) => "deposit",
            Self::Reinforce(_) => "reinforce",
            Self::Tick(_) => "tick",
            Self::Advance => "advance",
            Self::Spend(_) => "spend",
            Self::CalmDown => "calm_down",
            Self::SetPolicy(_) => "set_policy",
            Self::BeginLedger(_) => "begin_ledger",
            Self::RotateKey(_) => "rotate_key",
            Self::Authorize(_) => "authorize",
            Self::Receive(_) => "receive",
            Self::Conclude(_) => "conclude",
        }
    }
}

/// A person's approval of a HOLD (SPEC 10.k): one use, for exactly what was judged, expiring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approve {
    /// The held proposal.
    pub proposal_id: String,
    /// Who approves: never an agent.
    pub by: String,
    /// The digest of what the person saw; without one, of what was judged.
    #[serde(default)]
    pub digest: Option<Digest>,
    /// Feedback on the agent in [-1, 1].
    #[serde(default)]
    pub feedback: Feedback,
    /// Allow the same act at the same place for this many seconds besides.
    #[serde(default)]
    pub standing_seconds: Option<u64>,
}

/// A person's denial of a HOLD.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deny {
    /// The held proposal.
    pub proposal_id: String,
    /// Who denies: never an agent.
    pub by: String,
    /// Why, for people.
    #[serde(default)]
    pub reason: String,
    /// Feedback on the agent in [-1, 1].
    #[serde(default)]
    pub feedback: Feedback,
}

/// A person's feedback (SPEC 4). In JSON a word, a number or numeric text; anything else is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback(Fixed);

impl Feedback {
    /// Feedback from text.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self(trust::read_feedback(text))
    }

    /// Feedback as a number, clipped to [-1, 1].
    #[must_use]
    pub fn new(value: Fixed) -> Self {
        Self(value.clip(-Fixed::ONE, Fixed::ONE))
    }

    /// The number in [-1, 1].
    #[must_use]
    pub const fn value(self) -> Fixed {
        self.0
    }
}

impl Serialize for Feedback {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Feedback {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Fixed::deserialize(deserializer).map(Self::new);
        }
        Ok(match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Self::from_text(&text),
            serde_json::Value::Number(number) => Self(number.as_f64().map_or(Fixed::ZERO, trust::feedback_number)),
            _ => Self::default(),
        })
    }
}

/// The cost that an outcome states. One that is not well formed counts as not stated (SPEC 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedCost(Option<Cost>);

impl StatedCost {
    /// A cost; `None`, or one with negative parts or fractions outside [0, 1], is not stated.
    #[must_use]
    pub fn new(cost: Option<Cost>) -> Self {
        Self(cost.filter(|cost| cost.check("cost").is_ok()))
    }

    /// The cost, if it is valid.
    #[must_use]
    pub const fn get(self) -> Option<Cost> {
        self.0
    }
}

impl Serialize for StatedCost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StatedCost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Option::<Cost>::deserialize(deserializer).map(Self::new);
        }
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(Self::new(if value.is_null() { None } else { serde_json::from_value(value).ok() }))
    }
}

/// What an outcome is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A proposal that the kernel remembers.
    Id(String),
    /// A proposal that comes with the report.
    Proposal(Box<Proposal>),
}

#[derive(Serialize, Deserialize)]
enum TaggedSubject {
    Id(String),
    Proposal(Box<Proposal>),
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self, serializer.is_human_readable()) {
            (Self::Id(id), true) => id.serialize(serializer),
            (Self::Proposal(proposal), true) => proposal.serialize(serializer),
            (Self::Id(id), false) => serializer.serialize_newtype_variant("TaggedSubject", 0, "Id", id),
            (Self::Proposal(proposal), false) => {
                serializer.serialize_newtype_variant("TaggedSubject", 1, "Proposal", proposal)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Subject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Ok(match TaggedSubject::deserialize(deserializer)? {
                TaggedSubject::Id(id) => Self::Id(id),
                TaggedSubject::Proposal(proposal) => Self::Proposal(proposal),
            });
        }
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(id) => Ok(Self::Id(id)),
            value => serde_json::from_value(value).map(Self::Proposal).map_err(serde::de::Error::custom),
        }
    }
}

/// A reported outcome (SPEC 7). It is what somebody says, not what was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeReport {
    /// Whose outcome it is: an id, or the whole proposal.
    pub proposal: Subject,
    /// The tests passed.
    pub tests_passed: bool,
    /// Repair was needed.
    #[serde(default)]
    pub repair_needed: bool,
    /// What happened, for people.
    #[serde(default)]
    pub summary: String,
    /// What it cost; it replaces the estimate.
    #[serde(default)]
    pub cost: StatedCost,
    /// A person's feedback.
    #[serde(default)]
    pub human_feedback: Feedback,
}

/// What a host saw of a call that it ran (SPEC 10.h).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The proposal's id.
    pub proposal_id: String,
    /// It ran without an error.
    pub ok: bool,
    /// A person interrupted it, so that its end says nothing.
    #[serde(default)]
    pub interrupted: bool,
    /// How the host left the places that it changed: a number each that changes when anybody changes the file.
    #[serde(default)]
    pub stamps: Vec<(Location, u64)>,
    /// What it cost; without one, the estimate.
    #[serde(default)]
    pub cost: Option<Cost>,
}

/// A trace to leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DepositRequest {
    /// Where.
    pub location: Location,
    /// What it says.
    pub signal: Signal,
    /// How strong; not negative.
    pub strength: Fixed,
    /// Who leaves it.
    pub source: Source,
    /// How quickly it fades; without one the signal's own class.
    #[serde(default)]
    pub decay: Option<Decay>,
    /// A factor in [0, 1].
    #[serde(default)]
    pub trust_factor: Option<Fixed>,
}

/// A trace to strengthen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reinforce {
    /// Where.
    pub location: Location,
    /// Which signal.
    pub signal: Signal,
}

/// Ticks to let pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ticks {
    /// How many; at least 1.
    pub count: u64,
}

/// A cost to check and use in one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spend {
    /// Who spends.
    pub agent_id: String,
    /// How much.
    pub cost: Cost,
}

/// The beginning of the signed ledger (SPEC 9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeginLedger {
    /// The log's identity, which no other log has: by convention a schema-less URL.
    pub origin: String,
    /// The key that signs its heads, as a verifier key.
    pub key: PublicKey,
}

/// Another key for the ledger. The message to sign is that of [`View::rotation_message`](super::View::rotation_message) at the time of
/// this command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RotateKey {
    /// The new key, as a verifier key.
    pub key: PublicKey,
    /// The signature of the key in force; in JSON base64.
    #[serde(with = "crate::attest::encoding::bytes")]
    pub endorsement: Vec<u8>,
}

/// Leave for one execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authorize {
    /// The proposal: judged EXECUTE, or approved.
    pub proposal_id: String,
    /// It must have been started after this many milliseconds; at most, and without one, the policy's `budget.reservation_seconds`.
    #[serde(default)]
    pub ttl_ms: Option<u64>,
}

/// What an executor says of what it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receive {
    /// The number of the authorization's event.
    pub authorization: u64,
    /// Who ran it.
    pub actor: String,
    /// Of what ran.
    pub arguments: Digest,
    /// Of what came back.
    pub receipt: Digest,
    /// When it was started; without a time, as soon as it was authorized.
    #[serde(default)]
    pub started: Option<Time>,
    /// The executor's own signature: a [`Claim`](crate::attest::envelope::Claim) in its envelope, of a key in `attest.keys`.
    #[serde(default)]
    pub claim: Option<String>,
}

/// A linked outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conclude {
    /// The number of the receipt's event.
    pub receipt: u64,
    /// What became of it.
    pub report: OutcomeReport,
    /// The observer's signature of [`OutcomeReport::digest`]: a [`Claim`](crate::attest::envelope::Claim) in its envelope, of a key in
    /// `attest.keys`.
    #[serde(default)]
    pub claim: Option<String>,
}

impl OutcomeReport {
    /// The digest of all its fields, as an outcome's event and its observer's claim name it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        // Every type in it has a binary form.
        Digest::of_value("stigmergate outcome", self).unwrap_or_default()
    }
}

/// What a command answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reply {
    /// To [`Command::Propose`].
    Verdict(Box<Verdict>),
    /// To [`Command::Approve`].
    Approval(Approval),
    /// To [`Command::Deny`].
    Denial(Denial),
    /// To [`Command::RecordOutcome`].
    Outcome(OutcomeReply),
    /// To [`Command::Observe`].
    Observed(ObservedReply),
    /// To [`Command::Deposit`] and [`Command::Reinforce`]: the strength that is there.
    Strength(Fixed),
    /// To [`Command::Tick`] and [`Command::Advance`].
    Ticked(Ticked),
    /// To [`Command::Spend`]; consumed when approved.
    Spent(Answer),
    /// To [`Command::CalmDown`].
    Calmed(Calmed),
    /// To [`Command::SetPolicy`]: the new policy's digest.
    PolicySet(Digest),
    /// To [`Command::BeginLedger`].
    LedgerBegun(KeyReply),
    /// To [`Command::RotateKey`].
    KeyRotated(KeyReply),
    /// To [`Command::Authorize`].
    Authorized(AuthorizationReply),
    /// To [`Command::Receive`].
    Received(ReceiptReply),
    /// To [`Command::Conclude`].
    Concluded(ConclusionReply),
}

/// A key that signs from here on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyReply {
    /// The number of its event.
    pub sequence: u64,
    /// The leaf hash of its event.
    pub leaf: Digest,
    /// The log's identity.
    pub origin: String,
    /// The key, as a verifier key.
    pub key: PublicKey,
}

/// Leave for one execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizationReply {
    /// The number of its event.
    pub sequence: u64,
    /// The leaf hash of its event: what an executor's claim names.
    pub leaf: Digest,
    /// The proposal.
    pub proposal_id: String,
    /// Who may run it.
    pub actor: String,
    /// Of what may run.
    pub arguments: Digest,
    /// When it must have been started. Milliseconds since the epoch.
    pub expires: Time,
}

/// An execution that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptReply {
    /// The number of its event.
    pub sequence: u64,
    /// The leaf hash of its event: what an observer's claim names.
    pub leaf: Digest,
    /// The authorization's event.
    pub authorization: u64,
    /// The proposal, while it is remembered.
    pub proposal_id: Option<String>,
    /// The fingerprint of the executor's key, where it signed.
    pub signer: Option<Digest>,
}

/// A linked outcome that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConclusionReply {
    /// The number of its event.
    pub sequence: u64,
    /// The leaf hash of its event.
    pub leaf: Digest,
    /// What it did.
    pub outcome: OutcomeReply,
    /// The fingerprint of the observer's key, where it signed.
    pub signer: Option<Digest>,
}

/// An approval that stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The proposal.
    pub proposal_id: String,
    /// Who approved.
    pub by: String,
    /// What it is bound to.
    pub digest: Digest,
    /// It ends then, used or not. Milliseconds since the epoch.
    pub expires_at: Time,
    /// The standing grant ends then.
    pub standing_until: Option<Time>,
    /// The estimate is over a cap, and the person let it pass.
    pub over_budget: bool,
}

/// A denial that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The proposal.
    pub proposal_id: String,
    /// Who denied.
    pub by: String,
    /// FAILURE at the place.
    pub failure: Fixed,
}

/// What a reported outcome did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeReply {
    /// The proposal's id.
    pub proposal_id: String,
    /// Whose trust moved.
    pub agent_id: String,
    /// The change before it was clipped.
    pub trust_delta: Fixed,
    /// Trust.
    pub trust: Fixed,
    /// Role.
    pub role: Role,
    /// Counted proposals.
    pub total_proposals: u64,
    /// Outcomes without failure or repair.
    pub accepted_proposals: u64,
    /// Recent failures.
    pub recent_failures: u32,
    /// What was consumed.
    pub cost: Cost,
}

/// What an observation did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedReply {
    /// The proposal's id.
    pub proposal_id: String,
    /// The host had asked a person itself: running the call was the approval.
    pub late_approval: bool,
    /// A call ran that should not have: its state before.
    pub incident: Option<String>,
    /// It had been observed before: nothing was changed.
    pub repeated: bool,
    /// Keys at which marks were left.
    pub marked: Vec<String>,
    /// How many marks were taken away.
    pub cleared: u64,
    /// How trust moved.
    pub trust_delta: Fixed,
}

/// How time passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticked {
    /// The tick.
    pub tick: Tick,
    /// Ticks since the beginning or the last calming.
    pub counted: u64,
    /// HOLDs, approvals and reservations that ended.
    pub expired: u64,
}

/// What calming down cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calmed {
    /// Live traces.
    pub traces: u64,
    /// What the period had used.
    pub used: Cost,
    /// Ticks counted.
    pub ticks: u64,
}
