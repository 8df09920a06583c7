//! The ledger as a whole: what its tests share. `lifecycle` writes ledgers, `tampering` spoils them.

mod lifecycle;
mod tampering;

use crate::attest::checkpoint::Checkpoint;
use crate::attest::envelope::{Claim, ClaimKind};
use crate::attest::error::Error;
use crate::attest::event::{Body, Event, Link, Nonce, Time};
use crate::attest::ledger::{Entry, Ledger, Stamp};
use crate::attest::lifecycle::{Approving, Authorization, Cleared, Execution, Held, Judged, Receipt, Refused};
use crate::attest::links::{OPEN, Rules};
use crate::attest::signer::{Ed25519Signer, Ed25519Verifier, HmacKey, Signer, Verifier};
use crate::attest::tree::leaf_hash;
use crate::attest::verify::{Expected, Report, Status, Verification, verify};
use crate::digest::Digest;
use crate::gate::Decision;
use crate::policy::AttestMode;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

const ORIGIN: &str = "example.com/colony";
const START: Time = 1_700_000_000_000;
const STRICT: Rules = Rules { late: false, independent_observer: true };

fn signer(byte: u8) -> Ed25519Signer {
    Ed25519Signer::from_seed(ORIGIN, &[byte; 32]).unwrap()
}

fn verifier(signer: &Ed25519Signer) -> Ed25519Verifier {
    Ed25519Verifier::new(signer.public()).unwrap()
}

fn of(text: &str) -> Digest {
    Digest::of("test", text.as_bytes())
}

fn stamp(at: Time, actor: &str) -> Stamp {
    Stamp::new(START + at, actor, of("seed"))
}

/// A ledger with its records.
struct Log {
    ledger: Ledger,
    records: Vec<Vec<u8>>,
}

impl Log {
    fn begin(rules: Rules) -> Self {
        Self::begin_in(AttestMode::Required, rules)
    }

    fn begin_in(mode: AttestMode, rules: Rules) -> Self {
        let key = signer(1).public().clone();
        let (ledger, entry) = Ledger::begin(mode, rules, ORIGIN, key, &stamp(0, "host")).unwrap();
        Self { ledger, records: vec![entry.record] }
    }

    fn keep<T>(&mut self, (step, entry): (T, Entry)) -> T {
        self.records.push(entry.record);
        step
    }

    fn judged(&mut self, at: Time, decision: Decision) -> Judged {
        let proposed =
            self.ledger.record_proposal(&stamp(at, "claude"), of("proposal"), Some(of("ls")), Some(of("policy")));
        let proposed = self.keep(proposed.unwrap());
        let gate = stamp(at, "gate");
        let judged =
            self.ledger.record_verdict(&gate, proposed, of("proposal"), of("verdict"), decision, Some(of("policy")));
        self.keep(judged.unwrap())
    }

    fn cleared(&mut self, at: Time) -> Cleared {
        let Judged::Cleared(cleared) = self.judged(at, Decision::Execute) else { panic!() };
        cleared
    }

    fn held(&mut self, at: Time) -> Held {
        let Judged::Held(held) = self.judged(at, Decision::Hold) else { panic!() };
        held
    }

    fn refused(&mut self, at: Time) -> Refused {
        let Judged::Refused(refused) = self.judged(at, Decision::Refuse) else { panic!() };
        refused
    }

    fn authorized(&mut self, at: Time) -> Authorization {
        let cleared = self.cleared(at);
        let authorization = self.ledger.authorize(&stamp(at, "claude"), cleared, of("ls"), START + at + 600);
        self.keep(authorization.unwrap())
    }

    fn received(&mut self, at: Time) -> Receipt {
        let authorization = self.authorized(at);
        let execution = Execution { started: None, ..ran(at) };
        let receipt = self.ledger.record_receipt(&stamp(at + 10, "claude"), authorization, execution, None);
        self.keep(receipt.unwrap())
    }

    fn whole(&mut self, at: Time) {
        let receipt = self.received(at);
        let outcome = self.ledger.record_outcome(&stamp(at + 20, "host"), receipt, of("outcome"), None);
        let _ = self.keep(outcome.unwrap());
    }

    fn head(&self) -> String {
        self.ledger.sign_head(&signer(1)).unwrap().to_string()
    }

    fn report(&self) -> Report {
        check(&self.records, &[&self.head()])
    }
}

fn ran(at: Time) -> Execution {
    Execution { arguments: of("ls"), receipt: of("receipt"), started: Some(START + at) }
}

fn approving(at: Time) -> Approving {
    Approving { arguments: of("ls"), approver: of("ann"), expires: START + at + 600 }
}

fn check_with(records: &[Vec<u8>], heads: &[&str], kept: Option<&Checkpoint>, rules: Rules) -> Report {
    let verifier = verifier(&signer(1));
    let expected = Expected { origin: ORIGIN, keys: &[&verifier], kept, rules };
    verify(expected, records.iter().map(Vec::as_slice), heads.iter().copied())
}

fn check(records: &[Vec<u8>], heads: &[&str]) -> Report {
    check_with(records, heads, None, Rules::ANY)
}

/// Someone who has the key and writes what the ledger would not.
struct Forger {
    signer: Ed25519Signer,
    records: Vec<Vec<u8>>,
    tree: crate::attest::tree::CompactRange,
}

impl Forger {
    fn begin() -> Self {
        let mut forger =
            Self { signer: signer(1), records: vec![], tree: crate::attest::tree::CompactRange::default() };
        let key = forger.signer.public().clone();
        forger.write("host", 0, Body::Key { key, endorsement: None });
        forger
    }

    /// A copy of a log that goes on.
    fn after(log: &Log) -> Self {
        let mut forger = Self { signer: signer(1), records: log.records.clone(), tree: Default::default() };
        log.records.iter().for_each(|record| forger.tree.append(leaf_hash(record)));
        forger
    }

    fn event(&self, actor: &str, at: Time, body: Body) -> Event {
        let sequence = self.records.len() as u64;
        Event {
            log: ORIGIN.into(),
            sequence,
            at: START + at,
            actor: actor.into(),
            nonce: Nonce::derive(&of("forged"), ORIGIN, sequence),
            previous: self.records.last().map(|record| leaf_hash(record)),
            body,
        }
    }

    fn write(&mut self, actor: &str, at: Time, body: Body) -> Link {
        let event = self.event(actor, at, body);
        self.put(&event)
    }

    fn put(&mut self, event: &Event) -> Link {
        let record = event.record().unwrap();
        let leaf = leaf_hash(&record);
        self.tree.append(leaf);
        self.records.push(record);
        Link { sequence: event.sequence, leaf }
    }

    fn report(&self) -> Report {
        let head = Checkpoint::new(ORIGIN, self.tree.size(), self.tree.root()).unwrap();
        check(&self.records, &[&head.sign(&[&self.signer]).unwrap().to_string()])
    }
}

/// Every kind of event and every way through the lifecycle.
fn full_log() -> Log {
    let mut log = Log::begin(Rules::ANY);
    log.whole(100);
    let held = log.held(200);
    let approved = log.ledger.approve(&stamp(210, "ann"), held, approving(210)).unwrap();
    let approved = log.keep(approved);
    let authorization = log.ledger.authorize(&stamp(220, "claude"), approved, of("ls"), START + 900).unwrap();
    let authorization = log.keep(authorization);
    let receipt = log.ledger.record_receipt(&stamp(230, "claude"), authorization, ran(225), None).unwrap();
    let receipt = log.keep(receipt);
    let outcome = log.ledger.record_outcome(&stamp(240, "host"), receipt, of("outcome"), None).unwrap();
    let _ = log.keep(outcome);
    let held = log.held(300);
    let entry = log.ledger.reject(&stamp(310, "ann"), held, Some(of("ann")), Some(of("no"))).unwrap();
    log.records.push(entry.record);
    let refused = log.refused(400);
    let entry = log.ledger.record_error(&stamp(410, "host"), Some(*refused.link()), of("it ran")).unwrap();
    log.records.push(entry.record);
    log
}
