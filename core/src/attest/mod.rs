//! Attestation: a signed ledger of what was proposed, judged, authorized, executed and observed (SPEC 9, DESIGN 9).
//!
//! The ledger is a transparency log. An event is one record in one spelling; it names the hash of the record before it and is a
//! leaf of an RFC 6962 tree; the tree's root is signed as a C2SP checkpoint. An auditor can check an export with tools that we
//! have not written.
//!
//! | room | idea |
//! |---|---|
//! | [`event`], [`record`], [`canonical`] | what happened, in nine kinds, and its one spelling |
//! | [`lifecycle`] | the steps from a proposal to an attested outcome, as values that are used once |
//! | [`links`] | what may still be named, and by whom: one rule for writing and for verifying |
//! | [`ledger`] | where a log stands, and the only ways to continue it |
//! | [`verify`] | one pass over a log that somebody was given, in constant memory |
//! | [`tree`] | the root of all records, and proofs against it |
//! | [`key`], [`signer`] | keys as everybody may know them, and whoever signs |
//! | [`note`], [`checkpoint`] | signed texts, and heads as signed texts |
//! | [`tiles`], [`proof`], [`envelope`] | what leaves the machine: the whole log, one record, one authorization, receipt or outcome |
//!
//! **What a ledger proves.** That its records are those that were signed for, in their order, none changed, added or left out
//! since; that every execution in it was authorized by an EXECUTE verdict or by a person's approval of exactly what ran, by the
//! same actor, in time and once.
//!
//! **What it does not prove.** That an act was safe, that it truly happened, or that it happened as reported: it holds digests of
//! what somebody said. Nor that it is the only ledger: who has the key can write another past, and can cut off the end, as long
//! as nobody has kept a head. A head that was kept elsewhere shows both ([`verify::Expected::kept`]). With HMAC whoever can
//! verify can also sign.
//!
//! ```
//! use stigmergate_core::attest::{ledger::{Ledger, Stamp}, links::Rules, signer::{Ed25519Signer, Ed25519Verifier, Signer}};
//! use stigmergate_core::attest::verify::{Expected, Status, verify};
//! use stigmergate_core::{digest::Digest, policy::AttestMode};
//!
//! // A ledger begins with its key; then something is proposed.
//! let signer = Ed25519Signer::from_seed("example.com/colony", &[7; 32]).unwrap();
//! let seed = Digest::of("command", b"1");
//! let stamp = Stamp::new(1_700_000_000_000, "claude", seed);
//! let (mode, rules) = (AttestMode::Required, Rules::default());
//! let (mut ledger, first) = Ledger::begin(mode, rules, "example.com/colony", signer.public().clone(), &stamp).unwrap();
//! let (_proposed, second) = ledger.record_proposal(&stamp, Digest::of("proposal", b"..."), None, None).unwrap();
//! let head = ledger.sign_head(&signer).unwrap().to_string();
//!
//! // Whoever has the records, the head and the public key can verify.
//! let verifier = Ed25519Verifier::new(signer.public()).unwrap();
//! let expected = Expected { origin: "example.com/colony", keys: &[&verifier], kept: None, rules: Rules::ANY };
//! let mut records = [first.record, second.record];
//! let report = verify(expected, records.iter().map(Vec::as_slice), [head.as_str()]);
//! assert_eq!((report.status, report.last_valid), (Status::Valid, Some(1)));
//!
//! // One changed byte, and it does not hold.
//! let place = records[1].len() - 100;
//! records[1][place] ^= 1;
//! let report = verify(expected, records.iter().map(Vec::as_slice), [head.as_str()]);
//! assert_eq!(report.status, Status::BadHash);
//! ```

pub mod canonical;
pub mod checkpoint;
pub(crate) mod encoding;
pub mod envelope;
pub mod error;
pub mod event;
pub mod key;
pub mod ledger;
pub mod lifecycle;
pub mod links;
pub mod note;
pub mod proof;
pub mod record;
mod report;
pub mod signer;
pub mod tiles;
pub mod tree;
pub mod verify;

#[cfg(test)]
mod tests;

pub use error::Error;
