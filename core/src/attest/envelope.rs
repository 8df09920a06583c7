//! What leaves the machine alone: DSSE envelopes (secure-systems-lab/dsse 1.0) around in-toto statements and claims.
//!
//! The idea: an envelope signs its type together with its payload, so that a payload cannot be taken for another sort of thing.
//! An authorization or a receipt travels as an in-toto Statement v1 that holds the whole record; an executor's receipt or an
//! observer's outcome comes in as a [`Claim`] that names the event it answers to.

use super::canonical::{Object, RECORD_BYTES, Value};
use super::encoding::{base64, digest, hex, unbase64_either};
use super::error::Error;
use super::event::{Body, Event};
use super::signer::{Signer, Verifier};
use super::tree::{leaf_hash, sha256};
use crate::digest::Digest;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use serde::Deserialize;

/// An envelope has at most this many bytes.
pub const ENVELOPE_BYTES: usize = 512 * 1024;

/// A statement holds a record, its digests and a few words.
const STATEMENT_BYTES: usize = RECORD_BYTES + 4096;

/// The payload type of an in-toto statement.
pub const STATEMENT_TYPE: &str = "application/vnd.in-toto+json";

/// The predicate of a statement about an authorization.
pub const AUTHORIZATION_PREDICATE: &str = "https://github.com/stigmergate/stigmergate/attest/authorization/v1";

/// The predicate of a statement about a receipt.
pub const RECEIPT_PREDICATE: &str = "https://github.com/stigmergate/stigmergate/attest/receipt/v1";

/// The bytes that are signed: the payload's type and the payload, each after its length (DSSE, PAE).
#[must_use]
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = alloc::format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// A payload with its type and signatures. Nobody has checked them: ask [`Envelope::verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    payload_type: String,
    payload: Vec<u8>,
    signatures: Vec<EnvelopeSignature>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct EnvelopeSignature {
    /// A hint, which nothing here relies on.
    key_id: String,
    signature: Vec<u8>,
}

/// The JSON form, as anybody may have written it.
#[derive(Deserialize)]
struct Json {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    signatures: Vec<JsonSignature>,
}

#[derive(Deserialize)]
struct JsonSignature {
    #[serde(default)]
    keyid: String,
    sig: String,
}

impl Envelope {
    /// A payload signed by some keys.
    ///
    /// # Errors
    /// What a signer says.
    pub fn sign(payload_type: &str, payload: Vec<u8>, signers: &[&dyn Signer]) -> Result<Self, Error> {
        let message = pae(payload_type, &payload);
        let sign = |signer: &&dyn Signer| {
            Ok(EnvelopeSignature { key_id: signer.public().to_string(), signature: signer.sign(&message)? })
        };
        let signatures = signers.iter().map(sign).collect::<Result<_, Error>>()?;
        Ok(Self { payload_type: payload_type.into(), payload, signatures })
    }

    /// The JSON form, canonical.
    ///
    /// # Errors
    /// [`Error::TooLong`] above [`ENVELOPE_BYTES`].
    pub fn to_json(&self) -> Result<String, Error> {
        let signatures = self.signatures.iter().map(|signature| {
            let object = Object::new().with("sig", base64(&signature.signature));
            let named = !signature.key_id.is_empty();
            if named { object.with("keyid", signature.key_id.as_str()) } else { object }.into()
        });
        let bytes = Object::new()
            .with("payload", base64(&self.payload))
            .with("payloadType", self.payload_type.as_str())
            .with("signatures", Value::List(signatures.collect()))
            .write(ENVELOPE_BYTES)?;
        String::from_utf8(bytes).map_err(|_| Error::malformed("envelope", "UTF-8"))
    }

    /// Reads the JSON form: any order, either alphabet of base64.
    ///
    /// # Errors
    /// [`Error::TooLong`] and [`Error::Malformed`].
    pub fn parse(json: &str) -> Result<Self, Error> {
        let wrong = || Error::malformed("envelope", "payload, payloadType and signatures, with base64");
        if json.len() > ENVELOPE_BYTES {
            return Err(Error::too_long("envelope", json.len(), ENVELOPE_BYTES));
        }
        let json: Json = serde_json::from_str(json).map_err(|_| wrong())?;
        if json.signatures.len() > super::note::SIGNATURES {
            return Err(Error::too_long("signatures", json.signatures.len(), super::note::SIGNATURES));
        }
        let signatures = json.signatures.into_iter().map(|signature| {
            let bytes = unbase64_either(&signature.sig).ok_or_else(wrong)?;
            Ok(EnvelopeSignature { key_id: signature.keyid, signature: bytes })
        });
        Ok(Self {
            payload: unbase64_either(&json.payload).ok_or_else(wrong)?,
            payload_type: json.payload_type,
            signatures: signatures.collect::<Result<_, Error>>()?,
        })
    }

    /// The payload's type.
    #[must_use]
    pub fn payload_type(&self) -> &str {
        &self.payload_type
    }

    /// The payload, if a key has signed it as this type.
    ///
    /// # Errors
    /// [`Error::BadSignature`] when no signature is the key's or the type is another.
    pub fn verify(&self, payload_type: &str, verifier: &dyn Verifier) -> Result<&[u8], Error> {
        if self.payload_type != payload_type {
            return Err(Error::bad_signature(verifier.public(), "the envelope is of another type"));
        }
        let message = pae(&self.payload_type, &self.payload);
        let signed = self.signatures.iter().any(|line| verifier.verify(&message, &line.signature).is_ok());
        if signed { Ok(&self.payload) } else { Err(Error::bad_signature(verifier.public(), "the envelope has none")) }
    }
}

/// An in-toto Statement v1 about an authorization or a receipt. Its subject is the record, by the SHA-256 of its bytes.
///
/// # Errors
/// [`Error::Value`] for an event of another kind, and as [`Event::record`].
pub fn statement(event: &Event) -> Result<Vec<u8>, Error> {
    let predicate_type = predicate_type(event)?;
    let record = event.record()?;
    let subject = Object::new()
        .with("digest", Object::new().with("sha256", hex(sha256(&record).as_bytes())))
        .with("name", alloc::format!("{}/{}", event.log, event.sequence));
    let predicate = Object::new().with("leaf", hex(leaf_hash(&record).as_bytes())).with("record", event.object()?);
    Object::new()
        .with("_type", "https://in-toto.io/Statement/v1")
        .with("predicate", predicate)
        .with("predicateType", predicate_type)
        .with("subject", Value::List(vec![subject.into()]))
        .write(STATEMENT_BYTES)
}

fn predicate_type(event: &Event) -> Result<&'static str, Error> {
    match event.body {
        Body::ExecutionAuthorization { .. } => Ok(AUTHORIZATION_PREDICATE),
        Body::ExecutionReceipt { .. } => Ok(RECEIPT_PREDICATE),
        _ => Err(Error::value("kind", "execution_authorization or execution_receipt")),
    }
}

/// An authorization or a receipt in a signed envelope, as JSON.
///
/// # Errors
/// As [`statement`] and [`Envelope::sign`].
pub fn sign_event(event: &Event, signers: &[&dyn Signer]) -> Result<String, Error> {
    Envelope::sign(STATEMENT_TYPE, statement(event)?, signers)?.to_json()
}

/// The event in a signed envelope.
///
/// # Errors
/// As [`Envelope::parse`] and [`Envelope::verify`]; [`Error::Malformed`] for a statement that [`statement`] would not write.
pub fn open_event(json: &str, verifier: &dyn Verifier) -> Result<Event, Error> {
    let wrong = || Error::malformed("statement", "a statement about an authorization or a receipt");
    let envelope = Envelope::parse(json)?;
    let payload = envelope.verify(STATEMENT_TYPE, verifier)?;
    let mut outer = Object::read(payload, STATEMENT_BYTES)?;
    let Some(Value::Object(mut predicate)) = outer.take("predicate") else { return Err(wrong()) };
    let Some(Value::Object(record)) = predicate.take("record") else { return Err(wrong()) };
    let event = Event::read(&record.write(RECORD_BYTES)?)?;
    // Everything else in a statement follows from the record.
    if statement(&event)? == payload { Ok(event) } else { Err(wrong()) }
}

/// What somebody outside the log says of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    /// An executor: this came back.
    Receipt,
    /// An observer: this became of it.
    Outcome,
}

impl ClaimKind {
    const fn payload_type(self) -> &'static str {
        match self {
            Self::Receipt => "application/vnd.stigmergate.receipt+json",
            Self::Outcome => "application/vnd.stigmergate.outcome+json",
        }
    }
}

/// What an executor or an observer signs with a key of its own: contents by their digest, and the event that they answer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// A receipt or an outcome.
    pub kind: ClaimKind,
    /// The log's origin.
    pub log: String,
    /// The leaf hash of the authorization, or of the receipt.
    pub parent: Digest,
    /// Of the receipt, or of the outcome.
    pub content: Digest,
}

impl Claim {
    /// The claim in a signed envelope, as JSON.
    ///
    /// # Errors
    /// What the signer says.
    pub fn sign(&self, signer: &dyn Signer) -> Result<String, Error> {
        Envelope::sign(self.kind.payload_type(), self.payload()?, &[signer])?.to_json()
    }

    fn payload(&self) -> Result<Vec<u8>, Error> {
        Object::new()
            .with("content", hex(self.content.as_bytes()))
            .with("log", self.log.as_str())
            .with("parent", hex(self.parent.as_bytes()))
            .write(RECORD_BYTES)
    }

    /// The claim in an envelope that a key has signed.
    ///
    /// # Errors
    /// As [`Envelope::parse`] and [`Envelope::verify`]; [`Error::Malformed`] for another payload.
    pub fn open(kind: ClaimKind, json: &str, verifier: &dyn Verifier) -> Result<SignedClaim, Error> {
        let wrong = || Error::malformed("claim", "content, log and parent");
        let envelope = Envelope::parse(json)?;
        let payload = envelope.verify(kind.payload_type(), verifier)?;
        let mut object = Object::read(payload, RECORD_BYTES)?;
        let mut text = |name| match object.take(name) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(wrong()),
        };
        let claim = Self {
            kind,
            content: digest(&text("content")?).ok_or_else(wrong)?,
            log: text("log")?.into_owned(),
            parent: digest(&text("parent")?).ok_or_else(wrong)?,
        };
        if !object.is_empty() {
            return Err(wrong());
        }
        Ok(SignedClaim { claim, key: verifier.public().fingerprint() })
    }
}

/// A claim whose signature has held. Only [`Claim::open`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedClaim {
    claim: Claim,
    key: Digest,
}

impl SignedClaim {
    /// What is claimed.
    #[must_use]
    pub const fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The fingerprint of the key that signed it.
    #[must_use]
    pub const fn key(&self) -> &Digest {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attest::encoding::unhex;
    use crate::attest::event::{Link, Nonce};
    use crate::attest::signer::{Ed25519Signer, Ed25519Verifier};
    use proptest::prelude::*;

    fn signer(name: &str, byte: u8) -> (Ed25519Signer, Ed25519Verifier) {
        let signer = Ed25519Signer::from_seed(name, &[byte; 32]).unwrap();
        let verifier = Ed25519Verifier::new(signer.public()).unwrap();
        (signer, verifier)
    }

    fn authorization() -> Event {
        Event {
            log: "example.com/log".into(),
            sequence: 3,
            at: 1000,
            actor: "claude".into(),
            nonce: Nonce::from_bytes([1; 16]),
            previous: Some(Digest::from_bytes([2; 32])),
            body: Body::ExecutionAuthorization {
                parent: Link { sequence: 2, leaf: Digest::from_bytes([2; 32]) },
                arguments: Digest::from_bytes([3; 32]),
                expires: 2000,
                late: false,
            },
        }
    }

    #[test]
    fn the_example_of_the_protocol_is_encoded_as_it_says() {
        assert_eq!(
            pae("http://example.com/HelloWorld", b"hello world"),
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        );
        let example = r#"{"payload": "aGVsbG8gd29ybGQ=",
 "payloadType": "http://example.com/HelloWorld",
 "signatures": [{"sig": "A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA=="}]}"#;
        let envelope = Envelope::parse(example).unwrap();
        assert_eq!(
            (envelope.payload_type(), &envelope.payload[..]),
            ("http://example.com/HelloWorld", &b"hello world"[..])
        );
        assert_eq!(envelope.signatures[0].signature.len(), 64);
        let json = envelope.to_json().unwrap();
        assert_eq!(Envelope::parse(&json).unwrap(), envelope);
    }

    /// The vectors of the protocol's repository that one Ed25519 key decides (testvectors/vectors.json).
    #[test]
    fn the_ed25519_vectors_hold() {
        let seed = unhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
        let signer = Ed25519Signer::from_seed("A", &seed).unwrap();
        let verifier = Ed25519Verifier::new(signer.public()).unwrap();
        let statement = "eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEifQ==";
        let signed = "2WAfaHm5jluo0w+0rk8uVkluELJYWjSmU9x7EUzx+AyteDGJ4/nqyJXfmAUVFIAoQafWm7AxBZNw5M9ixNHiCA==";
        let cases = [
            (statement, STATEMENT_TYPE, signed, true),
            (
                "-_-_Pj8=",
                STATEMENT_TYPE,
                "P-_KHICeR7tI6S_YyejJTRtrXhcQyQ2LYPaL8h90KjC9qN8HU_svOQ6TuDOT1HIrsGW886DbWNWcCmX5twLrAw==",
                true,
            ),
            (statement, "application/vnd.example.other+json", signed, false),
            (
                statement,
                "application/vnd.ex\u{e4}mple+json",
                "xmSk/ug66ysT7ayhkCIjhAq42zgZXSsEWuzUaNL7w2eGAdF/NU6/fRXPtmfN+5DNSAs5/i2lUnHjbbjPsu0tAw==",
                true,
            ),
            (
                "",
                STATEMENT_TYPE,
                "gSggCAaTLTYyRH6FIDBem6meyIynsYy8RTHVzwx9tnTb7Bg/1jMWnuVgI/gffqmbsC2VX5/jHfkkDqsj7CDbDg==",
                true,
            ),
        ];
        for (payload, kind, sig, accepted) in cases {
            let json = alloc::format!(
                r#"{{"payload":"{payload}","payloadType":"{kind}","signatures":[{{"sig":"{sig}","keyid":"A"}}]}}"#
            );
            let envelope = Envelope::parse(&json).unwrap();
            assert_eq!(envelope.verify(kind, &verifier).is_ok(), accepted, "{kind}");
            // Deterministic, so that signing gives the vector's signature.
            let again = Envelope::sign(kind, envelope.payload.clone(), &[&signer]).unwrap();
            assert_eq!(again.signatures[0].signature == envelope.signatures[0].signature, accepted);
        }
    }

    #[test]
    fn an_authorization_travels_as_a_statement() {
        let (signer, verifier) = signer("example.com/log", 1);
        let event = authorization();
        let json = sign_event(&event, &[&signer]).unwrap();
        assert_eq!(open_event(&json, &verifier).unwrap(), event);
        assert_eq!(sign_event(&event, &[&signer]).unwrap(), json);
        let payload: serde_json::Value = serde_json::from_slice(&statement(&event).unwrap()).unwrap();
        assert_eq!(payload["_type"], "https://in-toto.io/Statement/v1");
        assert_eq!(payload["predicateType"], AUTHORIZATION_PREDICATE);
        assert_eq!(payload["subject"][0]["name"], "example.com/log/3");
        assert_eq!(payload["subject"][0]["digest"]["sha256"], hex(sha256(&event.record().unwrap()).as_bytes()));
        assert_eq!(payload["predicate"]["record"]["expires"], 2000);
    }

    #[test]
    fn only_authorizations_and_receipts_travel() {
        let mut event = authorization();
        event.body = Body::Error { parent: None, detail: Digest::default() };
        assert_eq!(statement(&event).unwrap_err().code(), "value");
    }

    #[test]
    fn a_changed_statement_is_refused() {
        let (signer, verifier) = signer("example.com/log", 1);
        let json = sign_event(&authorization(), &[&signer]).unwrap();
        let other = signer_of_another_statement(&signer);
        assert_eq!(open_event(&other, &verifier).unwrap_err().code(), "malformed");
        let (_, stranger) = super::tests::signer("example.com/log", 2);
        assert_eq!(open_event(&json, &stranger).unwrap_err().code(), "bad_signature");
    }

    fn signer_of_another_statement(signer: &Ed25519Signer) -> String {
        let text = String::from_utf8(statement(&authorization()).unwrap()).unwrap();
        let other = text.replace("authorization/v1", "receipt/v1").into_bytes();
        Envelope::sign(STATEMENT_TYPE, other, &[signer]).unwrap().to_json().unwrap()
    }

    #[test]
    fn a_claim_is_of_one_kind_and_one_key() {
        let (observer, verifier) = signer("observer", 3);
        let claim = Claim {
            kind: ClaimKind::Outcome,
            log: "log".into(),
            parent: Digest::from_bytes([1; 32]),
            content: Digest::from_bytes([2; 32]),
        };
        let json = claim.sign(&observer).unwrap();
        let opened = Claim::open(ClaimKind::Outcome, &json, &verifier).unwrap();
        assert_eq!((opened.claim(), *opened.key()), (&claim, observer.public().fingerprint()));
        assert!(Claim::open(ClaimKind::Receipt, &json, &verifier).is_err());
        assert!(Claim::open(ClaimKind::Outcome, &json, &signer("observer", 4).1).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in r#"(\{|\}|"payload":|"payloadType":|"signatures":|\[|\]|"sig":|"aGk=",?|\PC){0,20}"#) {
            let _ = Envelope::parse(&text);
        }
    }
}
