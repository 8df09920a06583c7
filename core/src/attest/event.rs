//! Events: what happened, as one record that has one spelling.
//!
//! The idea: an event holds digests of contents, never the contents, and names its place in the log (origin, number, hash of the
//! record before it). What a kind must name is a field of its [`Body`], so that a link of the wrong sort cannot be written. The
//! record is canonical JSON; its leaf hash is what other events name.

use super::canonical::{LARGEST, Object, RECORD_BYTES, Value};
use super::encoding::{base64, digest, hex, unbase64, unhex};
use super::error::Error;
use super::signer::{Algorithm, KeyId, PublicKey, check_name};
use super::tree::leaf_hash;
use crate::digest::Digest;
use crate::gate::Decision;
use alloc::borrow::Cow;
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
    /// Its record: the bytes that are hashed and kept.
    ///
    /// # Errors
    /// [`Error::Value`] and [`Error::TooLong`] for a field outside its bound.
    pub fn record(&self) -> Result<Vec<u8>, Error> {
        self.check()?;
        self.object()?.write(RECORD_BYTES)
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`Error::NotCanonical`], [`Error::Value`] and [`Error::TooLong`] for bytes that [`Event::record`] would not write.
    pub fn read(record: &[u8]) -> Result<Self, Error> {
        let mut fields = Fields(Object::read(record, RECORD_BYTES)?);
        if fields.integer("version")? != EVENT_VERSION {
            return Err(Error::value("version", "1"));
        }
        let kind = fields.text("kind")?;
        let kind = Kind::ALL.into_iter().find(|known| known.as_str() == kind);
        let event = Self {
            log: fields.text("log")?.into_owned(),
            sequence: fields.integer("sequence")?,
            at: fields.integer("at")?,
            actor: fields.text("actor")?.into_owned(),
            nonce: unhex(&fields.text("nonce")?).map(Nonce).ok_or_else(|| Error::value("nonce", "32 digits"))?,
            previous: fields.optional_digest("previous")?,
            body: fields.body(kind.ok_or_else(|| Error::value("kind", "one of the nine kinds"))?)?,
        };
        fields.end()?;
        event.check()?;
        Ok(event)
    }

    /// What the old key signs when this event brings another: the record without the signature, told apart from everything else
    /// that a key signs by its type.
    ///
    /// # Errors
    /// As [`Event::record`].
    pub fn rotation_message(&self) -> Result<Vec<u8>, Error> {
        self.check()?;
        let mut object = self.object()?;
        object.take("endorsement");
        Ok(super::envelope::pae("application/vnd.stigmergate.key-rotation+json", &object.write(RECORD_BYTES)?))
    }

    /// The event's place and hash, as another event names it.
    ///
    /// # Errors
    /// As [`Event::record`].
    pub fn link(&self) -> Result<Link, Error> {
        Ok(Link { sequence: self.sequence, leaf: leaf_hash(&self.record()?) })
    }

    fn check(&self) -> Result<(), Error> {
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

    pub(super) fn object(&self) -> Result<Object<'_>, Error> {
        let mut object = Object::new()
            .with("version", number("version", EVENT_VERSION)?)
            .with("kind", self.body.kind().as_str())
            .with("log", self.log.as_str())
            .with("sequence", number("sequence", self.sequence)?)
            .with("at", number("at", self.at)?)
            .with("actor", self.actor.as_str())
            .with("nonce", hex(&self.nonce.0));
        put(&mut object, "previous", self.previous.as_ref());
        if let Some(parent) = self.body.parent() {
            object.set("parent", hex(parent.leaf.as_bytes()));
            object.set("parent_sequence", number("parent_sequence", parent.sequence)?);
        }
        self.body.write(&mut object)?;
        Ok(object)
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

fn number(field: &str, value: u64) -> Result<Value<'static>, Error> {
    let small = i64::try_from(value).ok().filter(|_| value <= LARGEST);
    small.map(Value::Integer).ok_or_else(|| Error::value(field, "a number of at most 2^53 - 1"))
}

fn put<'a>(object: &mut Object<'a>, name: &'a str, digest: Option<&Digest>) {
    if let Some(digest) = digest {
        object.set(name, hex(digest.as_bytes()));
    }
}

/// A flag is there only when it is set, so that it has one spelling.
fn put_late(object: &mut Object<'_>, late: bool) {
    if late {
        object.set("late", Value::Flag(true));
    }
}

impl Body {
    /// Puts the fields of its kind; the parent is put by [`Event::object`].
    fn write<'a>(&'a self, object: &mut Object<'a>) -> Result<(), Error> {
        match self {
            Self::Proposal { proposal, arguments, policy } => {
                put(object, "proposal", Some(proposal));
                put(object, "arguments", arguments.as_ref());
                put(object, "policy", policy.as_ref());
            }
            Self::GateVerdict { parent: _, proposal, verdict, decision, policy } => {
                put(object, "proposal", Some(proposal));
                put(object, "verdict", Some(verdict));
                put(object, "policy", policy.as_ref());
                object.set("decision", decision.as_str());
            }
            Self::Approval { parent: _, arguments, approver, expires, late } => {
                put(object, "arguments", Some(arguments));
                put(object, "approver", Some(approver));
                object.set("expires", number("expires", *expires)?);
                put_late(object, *late);
            }
            Self::ExecutionAuthorization { parent: _, arguments, expires, late } => {
                put(object, "arguments", Some(arguments));
                object.set("expires", number("expires", *expires)?);
                put_late(object, *late);
            }
            Self::ExecutionReceipt { parent: _, arguments, receipt, started, signer, late } => {
                put(object, "arguments", Some(arguments));
                put(object, "receipt", Some(receipt));
                object.set("started", number("started", *started)?);
                put(object, "signer", signer.as_ref());
                put_late(object, *late);
            }
            Self::Outcome { parent: _, outcome, signer } => {
                put(object, "outcome", Some(outcome));
                put(object, "signer", signer.as_ref());
            }
            Self::Rejection { parent: _, approver, reason } => {
                put(object, "approver", approver.as_ref());
                put(object, "reason", reason.as_ref());
            }
            Self::Error { parent: _, detail } => put(object, "detail", Some(detail)),
            Self::Key { key, endorsement } => {
                object.set("algorithm", key.algorithm().as_str());
                object.set("key_id", alloc::format!("{}", key.id()));
                object.set("key_name", key.name());
                object.set("public_key", hex(key.material()));
                if let Some(endorsement) = endorsement {
                    object.set("endorsement", base64(endorsement));
                }
            }
        }
        Ok(())
    }
}

/// The fields of a record that are still to be read. What nobody has taken at the end should not be there.
struct Fields<'a>(Object<'a>);

impl<'a> Fields<'a> {
    fn text(&mut self, name: &str) -> Result<Cow<'a, str>, Error> {
        match self.0.take(name) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(Error::value(name, "text")),
        }
    }

    fn integer(&mut self, name: &str) -> Result<u64, Error> {
        let found = match self.0.take(name) {
            Some(Value::Integer(number)) => u64::try_from(number).ok(),
            _ => None,
        };
        found.ok_or_else(|| Error::value(name, "a whole number that is not negative"))
    }

    fn digest(&mut self, name: &str) -> Result<Digest, Error> {
        digest(&self.text(name)?).ok_or_else(|| Error::value(name, "64 lower-case hexadecimal digits"))
    }

    fn optional_digest(&mut self, name: &str) -> Result<Option<Digest>, Error> {
        if self.0.get(name).is_none() { Ok(None) } else { self.digest(name).map(Some) }
    }

    fn late(&mut self) -> Result<bool, Error> {
        match self.0.take("late") {
            None => Ok(false),
            Some(Value::Flag(true)) => Ok(true),
            Some(_) => Err(Error::value("late", "true, or nothing")),
        }
    }

    fn parent(&mut self) -> Result<Link, Error> {
        Ok(Link { leaf: self.digest("parent")?, sequence: self.integer("parent_sequence")? })
    }

    fn decision(&mut self) -> Result<Decision, Error> {
        let text = self.text("decision")?;
        let all = [Decision::Execute, Decision::Hold, Decision::Refuse];
        let found = all.into_iter().find(|decision| decision.as_str() == text);
        found.ok_or_else(|| Error::value("decision", "execute, hold or refuse"))
    }

    fn key(&mut self) -> Result<PublicKey, Error> {
        let algorithm = Algorithm::from_name(&self.text("algorithm")?);
        let algorithm = algorithm.ok_or_else(|| Error::value("algorithm", "ed25519 or hmac_sha256"))?;
        let material = unhex(&self.text("public_key")?).ok_or_else(|| Error::value("public_key", "64 digits"))?;
        let key = PublicKey::new(&self.text("key_name")?, algorithm, material)?;
        let id = KeyId::from_hex(&self.text("key_id")?);
        if id == Some(key.id()) { Ok(key) } else { Err(Error::value("key_id", "the id of this key")) }
    }

    fn endorsement(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if self.0.get("endorsement").is_none() {
            return Ok(None);
        }
        let bytes = unbase64(&self.text("endorsement")?).ok_or_else(|| Error::value("endorsement", "base64"))?;
        Ok(Some(bytes))
    }

    fn body(&mut self, kind: Kind) -> Result<Body, Error> {
        Ok(match kind {
            Kind::Proposal => Body::Proposal {
                proposal: self.digest("proposal")?,
                arguments: self.optional_digest("arguments")?,
                policy: self.optional_digest("policy")?,
            },
            Kind::GateVerdict => Body::GateVerdict {
                parent: self.parent()?,
                proposal: self.digest("proposal")?,
                verdict: self.digest("verdict")?,
                decision: self.decision()?,
                policy: self.optional_digest("policy")?,
            },
            Kind::Approval => Body::Approval {
                parent: self.parent()?,
                arguments: self.digest("arguments")?,
                approver: self.digest("approver")?,
                expires: self.integer("expires")?,
                late: self.late()?,
            },
            Kind::ExecutionAuthorization => Body::ExecutionAuthorization {
                parent: self.parent()?,
                arguments: self.digest("arguments")?,
                expires: self.integer("expires")?,
                late: self.late()?,
            },
            Kind::ExecutionReceipt => Body::ExecutionReceipt {
                parent: self.parent()?,
                arguments: self.digest("arguments")?,
                receipt: self.digest("receipt")?,
                started: self.integer("started")?,
                signer: self.optional_digest("signer")?,
                late: self.late()?,
            },
            Kind::Outcome => Body::Outcome {
                parent: self.parent()?,
                outcome: self.digest("outcome")?,
                signer: self.optional_digest("signer")?,
            },
            Kind::Rejection => Body::Rejection {
                parent: self.parent()?,
                approver: self.optional_digest("approver")?,
                reason: self.optional_digest("reason")?,
            },
            Kind::Error => Body::Error {
                parent: if self.0.get("parent").is_some() { Some(self.parent()?) } else { None },
                detail: self.digest("detail")?,
            },
            Kind::Key => Body::Key { key: self.key()?, endorsement: self.endorsement()? },
        })
    }

    fn end(&self) -> Result<(), Error> {
        self.0.names().next().map_or(Ok(()), |name| Err(Error::value(name, "no such field in this kind of event")))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn digest_of(text: &str) -> Digest {
        Digest::of("test", text.as_bytes())
    }

    /// One body of each kind and of each optional field.
    fn bodies() -> Vec<Body> {
        let some = |text| Some(digest_of(text));
        let parent = Link { sequence: 3, leaf: digest_of("parent") };
        let (arguments, proposal) = (digest_of("arguments"), digest_of("proposal"));
        let key = PublicKey::new("example.com/log", Algorithm::Ed25519, [5; 32]).unwrap();
        let verdict = digest_of("verdict");
        vec![
            Body::Proposal { proposal, arguments: None, policy: None },
            Body::Proposal { proposal, arguments: some("arguments"), policy: some("policy") },
            Body::GateVerdict { parent, proposal, verdict, decision: Decision::Hold, policy: some("policy") },
            Body::Approval { parent, arguments, approver: digest_of("ann"), expires: 9, late: false },
            Body::ExecutionAuthorization { parent, arguments, expires: 9, late: true },
            Body::ExecutionReceipt {
                parent,
                arguments,
                receipt: digest_of("receipt"),
                started: 8,
                signer: some("key"),
                late: true,
            },
            Body::Outcome { parent, outcome: digest_of("outcome"), signer: None },
            Body::Rejection { parent, approver: some("ann"), reason: None },
            Body::Error { parent: None, detail: digest_of("detail") },
            Body::Error { parent: Some(parent), detail: digest_of("detail") },
            Body::Key { key: key.clone(), endorsement: None },
            Body::Key { key, endorsement: Some(vec![7; 64]) },
        ]
    }

    fn event(body: Body) -> Event {
        Event {
            log: "example.com/log".into(),
            sequence: 4,
            at: 1_700_000_000_000,
            actor: "claude/code-reviewer \u{1f600}".into(),
            nonce: Nonce::derive(&digest_of("seed"), "example.com/log", 4),
            previous: Some(digest_of("previous")),
            body,
        }
    }

    #[test]
    fn every_kind_reads_back() {
        for body in bodies() {
            let event = event(body);
            let record = event.record().unwrap();
            assert_eq!(Event::read(&record).unwrap(), event);
            let json: serde_json::Value = serde_json::from_slice(&record).unwrap();
            assert_eq!(json["kind"], event.body.kind().as_str());
        }
    }

    #[test]
    fn a_record_is_one_line_of_canonical_json() {
        let parent = Link { sequence: 3, leaf: Digest::from_bytes([0xab; 32]) };
        let outcome = Digest::from_bytes([1; 32]);
        let mut event = event(Body::Outcome { parent, outcome, signer: None });
        event.previous = Some(Digest::from_bytes([2; 32]));
        event.nonce = Nonce::from_bytes([3; 16]);
        event.actor = "claude".into();
        let expected = alloc::format!(
            "{{\"actor\":\"claude\",\"at\":1700000000000,\"kind\":\"outcome\",\"log\":\"example.com/log\",\"nonce\":\"{}\",\"outcome\":\"{}\",\"parent\":\"{}\",\"parent_sequence\":3,\"previous\":\"{}\",\"sequence\":4,\"version\":1}}",
            "03".repeat(16),
            "01".repeat(32),
            "ab".repeat(32),
            "02".repeat(32)
        );
        assert_eq!(String::from_utf8(event.record().unwrap()).unwrap(), expected);
    }

    #[test]
    fn fields_that_are_missing_foreign_or_wrong_are_refused() {
        for body in bodies() {
            let event = event(body);
            let object = event.object().unwrap();
            let names: Vec<String> = object.names().map(Into::into).collect();
            let optional = ["policy", "signer", "late", "approver", "reason", "arguments", "endorsement"];
            for name in &names {
                let may_be_missing =
                    optional.contains(&name.as_str()) || (name == "parent" && event.body.kind() == Kind::Error);
                if !may_be_missing {
                    let mut less = object.clone();
                    less.take(name);
                    assert!(Event::read(&less.write(RECORD_BYTES).unwrap()).is_err(), "without {name}");
                }
                let mut wrong = object.clone();
                wrong.set(name, Value::Flag(false));
                assert!(Event::read(&wrong.write(RECORD_BYTES).unwrap()).is_err(), "false as {name}");
                let mut wrong = object.clone();
                wrong.set(name, Value::Integer(-1));
                assert!(Event::read(&wrong.write(RECORD_BYTES).unwrap()).is_err(), "-1 as {name}");
            }
            let more = object.clone().with("contents", "rm -rf");
            assert_eq!(
                Event::read(&more.write(RECORD_BYTES).unwrap()).unwrap_err().field().unwrap().as_str(),
                "contents"
            );
        }
    }

    #[test]
    fn fields_outside_their_bounds_are_not_written() {
        let good = event(bodies().remove(0));
        let wrong = [
            Event { actor: "a".repeat(ACTOR_BYTES + 1), ..good.clone() },
            Event { actor: " ".into(), ..good.clone() },
            Event { actor: "a\nb".into(), ..good.clone() },
            Event { log: "a b".into(), ..good.clone() },
            Event { previous: None, ..good.clone() },
            Event { sequence: 0, ..good.clone() },
            Event { sequence: 1 << 53, ..good.clone() },
            Event { at: 1 << 53, ..good.clone() },
        ];
        for event in wrong {
            assert!(event.record().is_err(), "{event:?}");
        }
        let parent = Link { sequence: 4, leaf: digest_of("itself") };
        assert!(event(Body::Outcome { parent, outcome: digest_of("outcome"), signer: None }).record().is_err());
    }

    #[test]
    fn a_nonce_depends_on_seed_log_and_number() {
        let nonce = Nonce::derive(&digest_of("seed"), "log", 1);
        assert_eq!(nonce, Nonce::derive(&digest_of("seed"), "log", 1));
        assert_ne!(nonce, Nonce::derive(&digest_of("other"), "log", 1));
        assert_ne!(nonce, Nonce::derive(&digest_of("seed"), "gol", 1));
        assert_ne!(nonce, Nonce::derive(&digest_of("seed"), "log", 2));
    }

    proptest! {
        #[test]
        fn what_reads_is_written_as_it_was(which in any::<prop::sample::Index>(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let bodies = bodies();
            let mut record = event(bodies[which.index(bodies.len())].clone()).record().unwrap();
            let place = place.index(record.len());
            record[place] = byte;
            if let Ok(event) = Event::read(&record) {
                prop_assert_eq!(event.record().unwrap(), record);
            }
        }
    }
}
