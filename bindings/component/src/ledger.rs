//! What verifies a ledger, and what signs.

use crate::wit::{ledger, types};
use crate::{Component, answer};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use stigmergate_core::attest::checkpoint::Checkpoint;
use stigmergate_core::attest::envelope::{Claim, Envelope, STATEMENT_TYPE, open_event, sign_event};
use stigmergate_core::attest::event::Event;
use stigmergate_core::attest::key::PublicKey;
use stigmergate_core::attest::links::Rules;
use stigmergate_core::attest::note::Note;
use stigmergate_core::attest::proof::RecordProof;
use stigmergate_core::attest::signer::{Ed25519Signer, Ed25519Verifier, HmacKey, Signer, Verifier};
use stigmergate_core::attest::{tree, verify};
use stigmergate_core::digest::Digest;
use stigmergate_core::error::Error;
use stigmergate_interface::{FromWit, ToWit, wrong};

/// A key that can sign.
pub(crate) struct Key(Box<dyn Signer>);

fn public(key: &PublicKey) -> ledger::PublicKey {
    ledger::PublicKey {
        name: key.name().to_string(),
        algorithm: key.algorithm().to_wit(),
        id: key.id().to_string(),
        fingerprint: key.fingerprint().to_wit(),
        verifier_key: key.verifier_key(),
    }
}

fn checkpoint(head: Checkpoint) -> ledger::Checkpoint {
    ledger::Checkpoint { origin: head.origin, size: head.size, root: head.root.to_wit() }
}

fn event(event: &Event) -> Result<ledger::Event, Error> {
    Ok(ledger::Event {
        log: event.log.clone(),
        sequence: event.sequence,
        kind: event.body.kind().as_str().to_string(),
        actor: event.actor.clone(),
        at: event.at,
        previous: event.previous.to_wit(),
        parent: event.body.parent().map(|parent| parent.sequence),
        leaf: event.link()?.leaf.to_wit(),
    })
}

fn verifier(key: &str) -> Result<Ed25519Verifier, Error> {
    Ok(Ed25519Verifier::new(&PublicKey::parse(key)?)?)
}

fn digest(field: &str, text: String) -> Result<Digest, Error> {
    Digest::from_wit(text).map_err(|error| error.within(field))
}

fn digests(field: &str, texts: Vec<String>) -> Result<Vec<Digest>, Error> {
    Vec::from_wit(texts).map_err(|error| error.within(field))
}

/// The first of some keys for which a check holds; the last one's error where none does.
fn first<T>(
    keys: &[String],
    mut check: impl FnMut(&Ed25519Verifier) -> Result<T, stigmergate_core::attest::Error>,
) -> Result<T, Error> {
    let mut last = wrong("at least one verifier key").within("verifier_keys");
    for key in keys {
        match check(&verifier(key)?) {
            Ok(checked) => return Ok(checked),
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}

/// Every node of the tree over some leaves: what proofs are taken from.
struct Levels(Vec<Vec<Digest>>);

impl Levels {
    fn over(leaves: Vec<Digest>) -> Self {
        let mut levels = Vec::from([leaves]);
        while let Some(below) = levels.last().filter(|below| below.len() > 1) {
            let pairs = below.chunks_exact(2);
            let above = pairs.filter_map(|pair| Some(tree::node_hash(pair.first()?, pair.last()?))).collect();
            levels.push(above);
        }
        Self(levels)
    }
}

impl tree::Nodes for Levels {
    fn node(&self, level: u8, index: u64) -> Option<Digest> {
        self.0.get(usize::from(level))?.get(usize::try_from(index).ok()?).copied()
    }
}

impl ledger::GuestSigner for Key {
    fn ed25519(name: String, seed: Vec<u8>) -> Result<ledger::Signer, types::Error> {
        let made = || {
            let seed = <&[u8; 32]>::try_from(seed.as_slice()).map_err(|_| wrong("32 bytes").within("seed"))?;
            Ok(Ed25519Signer::from_seed(&name, seed)?)
        };
        made().map(|key| ledger::Signer::new(Self(Box::new(key)))).map_err(|error: Error| error.to_wit())
    }

    fn hmac_sha256(name: String, secret: Vec<u8>) -> Result<ledger::Signer, types::Error> {
        let made = HmacKey::from_bytes(&name, &secret).map_err(Error::from);
        made.map(|key| ledger::Signer::new(Self(Box::new(key)))).map_err(ToWit::to_wit)
    }

    fn key(&self) -> ledger::PublicKey {
        public(self.0.public())
    }

    fn sign(&self, message: Vec<u8>) -> Result<Vec<u8>, types::Error> {
        answer(|| Ok(self.0.sign(&message)?))
    }

    fn sign_note(&self, text: String) -> Result<String, types::Error> {
        answer(|| Ok(Note::sign(&text, &[&*self.0])?.to_string()))
    }

    fn sign_event(&self, record: Vec<u8>) -> Result<String, types::Error> {
        answer(|| Ok(sign_event(&Event::read(&record)?, &[&*self.0])?))
    }

    fn sign_claim(&self, claim: ledger::Claim) -> Result<String, types::Error> {
        answer(|| Ok(Claim::from_wit(claim)?.sign(&*self.0)?))
    }
}

impl ledger::Guest for Component {
    type Signer = Key;

    fn read_key(verifier_key: String) -> Result<ledger::PublicKey, types::Error> {
        PublicKey::parse(&verifier_key).map(|key| public(&key)).map_err(|error| Error::from(error).to_wit())
    }

    fn attach_signature(note: String, verifier_key: String, signature: Vec<u8>) -> Result<String, types::Error> {
        /// A signature that was made elsewhere.
        struct Made(PublicKey, Vec<u8>);
        impl Signer for Made {
            fn public(&self) -> &PublicKey {
                &self.0
            }
            fn sign(&self, message: &[u8]) -> Result<Vec<u8>, stigmergate_core::attest::Error> {
                if let Ok(verifier) = Ed25519Verifier::new(&self.0) {
                    verifier.verify(message, &self.1)?;
                }
                Ok(self.1.clone())
            }
        }
        answer(|| {
            let made = Made(PublicKey::parse(&verifier_key)?, signature);
            let note = match Note::parse(&note) {
                Ok(mut signed) => {
                    signed.add(&made)?;
                    signed
                }
                Err(_) => Note::sign(&note, &[&made])?,
            };
            Ok(note.to_string())
        })
    }

    fn read_checkpoint(note: String, verifier_keys: Vec<String>) -> Result<ledger::Checkpoint, types::Error> {
        let read = || {
            if verifier_keys.is_empty() {
                return Ok(Checkpoint::parse(Note::parse(&note)?.text())?);
            }
            first(&verifier_keys, |verifier| Checkpoint::open(&note, verifier))
        };
        read().map(checkpoint).map_err(|error: Error| error.to_wit())
    }

    fn read_event(record: Vec<u8>) -> Result<ledger::Event, types::Error> {
        let read = || event(&Event::read(&record)?);
        read().map_err(|error: Error| error.to_wit())
    }

    fn open_event(envelope: String, verifier_keys: Vec<String>) -> Result<ledger::Event, types::Error> {
        let read = || event(&first(&verifier_keys, |verifier| open_event(&envelope, verifier))?);
        read().map_err(|error: Error| error.to_wit())
    }

    fn open_envelope(envelope: String, verifier_keys: Vec<String>) -> Result<Vec<u8>, types::Error> {
        answer(|| {
            let envelope = Envelope::parse(&envelope)?;
            first(&verifier_keys, |verifier| Ok(envelope.verify(STATEMENT_TYPE, verifier)?.to_vec()))
        })
    }

    fn leaf_hash(record: Vec<u8>) -> String {
        tree::leaf_hash(&record).to_wit()
    }

    fn root(leaves: Vec<String>) -> Result<String, types::Error> {
        answer(|| {
            let mut range = tree::CompactRange::default();
            digests("leaves", leaves)?.into_iter().for_each(|leaf| range.append(leaf));
            Ok(range.root())
        })
    }

    fn inclusion_proof(index: u64, leaves: Vec<String>) -> Result<Vec<String>, types::Error> {
        answer(|| {
            let leaves = digests("leaves", leaves)?;
            let size = leaves.len() as u64;
            Ok(tree::inclusion_proof(index, size, &Levels::over(leaves))?)
        })
    }

    fn consistency_proof(old: u64, leaves: Vec<String>) -> Result<Vec<String>, types::Error> {
        answer(|| {
            let leaves = digests("leaves", leaves)?;
            let size = leaves.len() as u64;
            Ok(tree::consistency_proof(old, size, &Levels::over(leaves))?)
        })
    }

    fn verify_inclusion(
        leaf: String,
        index: u64,
        size: u64,
        proof: Vec<String>,
        root: String,
    ) -> Result<(), types::Error> {
        answer(|| {
            let (leaf, root) = (digest("leaf", leaf)?, digest("root", root)?);
            Ok(tree::verify_inclusion(leaf, index, size, &digests("proof", proof)?, &root)?)
        })
    }

    fn verify_consistency(
        old: ledger::Checkpoint,
        new: ledger::Checkpoint,
        proof: Vec<String>,
    ) -> Result<(), types::Error> {
        answer(|| {
            if old.origin != new.origin {
                return Err(wrong("the origin of the old head").within("new.origin"));
            }
            let (from, to) = (digest("old.root", old.root)?, digest("new.root", new.root)?);
            Ok(tree::verify_consistency(old.size, &from, new.size, &to, &digests("proof", proof)?)?)
        })
    }

    fn verify_proof(proof: String, record: Vec<u8>, verifier_key: String) -> Result<ledger::Checkpoint, types::Error> {
        let verified = || Ok(RecordProof::parse(&proof)?.verify(&record, &verifier(&verifier_key)?)?);
        verified().map(checkpoint).map_err(|error: Error| error.to_wit())
    }

    fn verify(
        expected: ledger::Expected,
        records: Vec<Vec<u8>>,
        heads: Vec<String>,
    ) -> Result<ledger::Report, types::Error> {
        answer(|| {
            let keys = expected.verifier_keys.iter().map(|key| verifier(key)).collect::<Result<Vec<_>, _>>()?;
            let keys: Vec<&dyn Verifier> = keys.iter().map(|key| key as &dyn Verifier).collect();
            let kept = expected.kept.map(|note| Checkpoint::parse(Note::parse(&note)?.text())).transpose()?;
            let expected =
                verify::Expected { origin: &expected.origin, keys: &keys, kept: kept.as_ref(), rules: Rules::ANY };
            let records = records.iter().map(Vec::as_slice);
            Ok(verify::verify(expected, records, heads.iter().map(String::as_str)))
        })
    }
}
