//! An event's record: its bytes, and back.
//!
//! The idea: the record is a flat canonical object; each kind has its fields and no others, and a field that may be missing is
//! not there rather than empty. So reading and writing again gives the same bytes, and nothing can hide in a record.

use super::canonical::{LARGEST, Object, RECORD_BYTES, Value};
use super::encoding::{base64, digest, hex, unbase64, unhex};
use super::error::Error;
use super::event::{Body, EVENT_VERSION, Event, Kind, Link, Nonce};
use super::key::{Algorithm, KeyId, PublicKey};
use super::tree::leaf_hash;
use crate::digest::Digest;
use crate::gate::Decision;
use alloc::borrow::Cow;
use alloc::vec::Vec;

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
            nonce: unhex(&fields.text("nonce")?)
                .map(Nonce::from_bytes)
                .ok_or_else(|| Error::value("nonce", "32 digits"))?,
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

    pub(super) fn object(&self) -> Result<Object<'_>, Error> {
        let mut object = Object::new()
            .with("version", number("version", EVENT_VERSION)?)
            .with("kind", self.body.kind().as_str())
            .with("log", self.log.as_str())
            .with("sequence", number("sequence", self.sequence)?)
            .with("at", number("at", self.at)?)
            .with("actor", self.actor.as_str())
            .with("nonce", hex(self.nonce.as_bytes()));
        put(&mut object, "previous", self.previous.as_ref());
        if let Some(parent) = self.body.parent() {
            object.set("parent", hex(parent.leaf.as_bytes()));
            object.set("parent_sequence", number("parent_sequence", parent.sequence)?);
        }
        self.body.write(&mut object)?;
        Ok(object)
    }
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
mod tests {
    use super::*;
    use crate::attest::event::ACTOR_BYTES;
    use alloc::string::String;
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
