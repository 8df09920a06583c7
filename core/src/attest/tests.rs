//! The lifecycle as a whole, and what becomes visible when a ledger is tampered with.

use super::checkpoint::Checkpoint;
use super::envelope::{Claim, ClaimKind};
use super::error::Error;
use super::event::{Body, Event, Link, Nonce, Time};
use super::ledger::{Entry, Ledger, Stamp};
use super::lifecycle::{Approving, Authorization, Cleared, Execution, Held, Judged, Receipt, Refused};
use super::links::{OPEN, Rules};
use super::signer::{Ed25519Signer, Ed25519Verifier, HmacKey, Signer, Verifier};
use super::tree::leaf_hash;
use super::verify::{Expected, Report, Status, Verification, verify};
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
        let proposed = self.ledger.propose(&stamp(at, "claude"), of("proposal"), Some(of("ls")), Some(of("policy")));
        let proposed = self.keep(proposed.unwrap());
        let gate = stamp(at, "gate");
        let judged = self.ledger.judge(&gate, proposed, of("proposal"), of("verdict"), decision, Some(of("policy")));
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
        let receipt = self.ledger.receive(&stamp(at + 10, "claude"), authorization, execution, None);
        self.keep(receipt.unwrap())
    }

    fn whole(&mut self, at: Time) {
        let receipt = self.received(at);
        let outcome = self.ledger.conclude(&stamp(at + 20, "host"), receipt, of("outcome"), None);
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
    tree: super::tree::CompactRange,
}

impl Forger {
    fn begin() -> Self {
        let mut forger = Self { signer: signer(1), records: vec![], tree: super::tree::CompactRange::default() };
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
    let receipt = log.ledger.receive(&stamp(230, "claude"), authorization, ran(225), None).unwrap();
    let receipt = log.keep(receipt);
    let outcome = log.ledger.conclude(&stamp(240, "host"), receipt, of("outcome"), None).unwrap();
    let _ = log.keep(outcome);
    let held = log.held(300);
    let entry = log.ledger.reject(&stamp(310, "ann"), held, Some(of("ann")), Some(of("no"))).unwrap();
    log.records.push(entry.record);
    let refused = log.refused(400);
    let entry = log.ledger.report(&stamp(410, "host"), Some(*refused.link()), of("it ran")).unwrap();
    log.records.push(entry.record);
    log
}

#[test]
fn the_whole_lifecycle_is_valid() {
    let log = full_log();
    let report = log.report();
    assert_eq!(report.fault, None);
    assert_eq!((report.status, report.last_valid), (Status::Valid, Some(log.ledger.size() - 1)));
    assert_eq!((report.records, report.root), (log.ledger.size(), log.ledger.head().root));
}

#[test]
fn the_same_calls_write_the_same_bytes_and_a_stored_ledger_goes_on() {
    let (one, mut other) = (full_log(), full_log());
    assert_eq!(one.records, other.records);
    let bytes = postcard::to_allocvec(&one.ledger).unwrap();
    let restored: Ledger = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(restored, one.ledger);
    let mut log = Log { ledger: restored, records: one.records };
    log.whole(500);
    other.whole(500);
    assert_eq!((&log.records, log.report().status), (&other.records, Status::Valid));
    let json = serde_json::to_string(&log.ledger).unwrap();
    assert_eq!(serde_json::from_str::<Ledger>(&json).unwrap(), log.ledger);
}

#[test]
fn nothing_is_an_empty_ledger() {
    let report = check(&[], &[]);
    assert_eq!((report.status, report.last_valid), (Status::Empty, None));
    let head = Checkpoint::new(ORIGIN, 0, super::tree::empty_root()).unwrap();
    assert_eq!(check(&[], &[&head.sign(&[&signer(1)]).unwrap().to_string()]).status, Status::Empty);
    assert_eq!(check(&[], &[&head.sign(&[&signer(2)]).unwrap().to_string()]).status, Status::BadSignature);
}

#[test]
fn every_changed_byte_is_seen() {
    let mut log = Log::begin(Rules::ANY);
    log.whole(100);
    let head = log.head();
    for row in 0..log.records.len() {
        for place in 0..log.records[row].len() {
            let mut records = log.records.clone();
            records[row][place] ^= 1;
            let report = check(&records, &[&head]);
            assert!(!matches!(report.status, Status::Valid | Status::Empty), "row {row}, byte {place}");
            assert!(report.last_valid.is_none_or(|last| last < row as u64), "row {row}, byte {place}: {report:?}");
        }
    }
    for place in 0..head.len() {
        let mut bytes = head.clone().into_bytes();
        bytes[place] ^= 1;
        let Ok(changed) = String::from_utf8(bytes) else { continue };
        assert_eq!(check(&log.records, &[&changed]).status, Status::BadSignature, "byte {place}");
    }
}

#[test]
fn a_changed_record_is_a_bad_hash() {
    let mut log = full_log();
    let head = log.head();
    let event = Event { actor: "mallory".into(), ..Event::read(&log.records[5]).unwrap() };
    log.records[5] = event.record().unwrap();
    let report = check(&log.records, &[&head]);
    assert_eq!((report.status, report.last_valid), (Status::BadHash, Some(4)));
}

#[test]
fn a_changed_last_record_is_a_bad_hash() {
    let mut log = full_log();
    let head = log.head();
    let event = Event { actor: "mallory".into(), ..Event::read(log.records.last().unwrap()).unwrap() };
    *log.records.last_mut().unwrap() = event.record().unwrap();
    assert_eq!(check(&log.records, &[&head]).status, Status::BadHash);
}

#[test]
fn a_removed_row_is_a_gap_wherever_it_was() {
    let log = full_log();
    let head = log.head();
    for row in 0..log.records.len() {
        let mut records = log.records.clone();
        records.remove(row);
        let report = check(&records, &[&head]);
        let last = if row == log.records.len() - 1 { None } else { row.checked_sub(1).map(|row| row as u64) };
        assert_eq!((report.status, report.last_valid), (Status::SequenceGap, last), "row {row}");
    }
}

#[test]
fn a_repeated_row_is_a_duplicate() {
    let log = full_log();
    let head = log.head();
    for row in 0..log.records.len() {
        let mut records = log.records.clone();
        records.insert(row + 1, records[row].clone());
        let report = check(&records, &[&head]);
        assert_eq!((report.status, report.last_valid), (Status::Duplicate, Some(row as u64)));
    }
}

#[test]
fn swapped_rows_are_a_gap() {
    let log = full_log();
    let head = log.head();
    for row in 1..log.records.len() {
        let mut records = log.records.clone();
        records.swap(row - 1, row);
        assert_eq!(check(&records, &[&head]).status, Status::SequenceGap);
    }
}

#[test]
fn rows_of_another_log_are_a_replay() {
    let log = full_log();
    let key = signer(1).public().clone();
    let (mut other, _) =
        Ledger::begin(AttestMode::Required, Rules::ANY, "example.com/other", key, &stamp(0, "host")).unwrap();
    let (_, entry) = other.propose(&stamp(100, "claude"), of("proposal"), Some(of("ls")), None).unwrap();
    let mut records = log.records.clone();
    records[1] = entry.record;
    let report = check(&records, &[&log.head()]);
    assert_eq!((report.status, report.last_valid), (Status::Replay, Some(0)));
    // And a head of another log signs for nothing here.
    let head = other.sign_head(&signer(1)).unwrap().to_string();
    assert_eq!(check(&log.records, &[&head]).status, Status::Replay);
}

#[test]
fn a_nonce_that_is_used_again_is_a_replay() {
    let mut forger = Forger::after(&full_log());
    let first = Event::read(&forger.records[1]).unwrap();
    let mut event =
        forger.event("claude", 500, Body::Proposal { proposal: of("again"), arguments: None, policy: None });
    event.nonce = first.nonce;
    forger.put(&event);
    assert_eq!(forger.report().fault.unwrap().code(), "nonce_reused");
    assert_eq!(forger.report().status, Status::Replay);
}

#[test]
fn a_second_receipt_for_one_authorization_is_a_replay() {
    let mut log = Log::begin(Rules::ANY);
    let link = *log.authorized(100).link();
    let authorization = log.ledger.authorization(link.sequence).unwrap();
    let receipt = log.ledger.receive(&stamp(110, "claude"), authorization, ran(100), None).unwrap();
    let _ = log.keep(receipt);
    assert_eq!(log.ledger.authorization(link.sequence).unwrap_err().code(), "missing_parent");
    let mut forger = Forger::after(&log);
    forger.write("claude", 120, receipt_of(link));
    assert_eq!(forger.report().fault, Some(Error::Consumed { parent: link.sequence }));
    assert_eq!(forger.report().status, Status::Replay);
}

fn receipt_of(parent: Link) -> Body {
    let (arguments, receipt) = (of("ls"), of("receipt"));
    Body::ExecutionReceipt { parent, arguments, receipt, started: START + 100, signer: None, late: false }
}

fn authorization_of(parent: Link) -> Body {
    Body::ExecutionAuthorization { parent, arguments: of("ls"), expires: START + 900, late: false }
}

#[test]
fn an_event_that_names_nothing_is_without_its_parent() {
    let nowhere = Link { sequence: 0, leaf: of("nowhere") };
    let (proposal, verdict) = (of("proposal"), of("verdict"));
    let bodies = [
        Body::GateVerdict { parent: nowhere, proposal, verdict, decision: Decision::Execute, policy: None },
        Body::Approval { parent: nowhere, arguments: of("ls"), approver: of("ann"), expires: START + 900, late: false },
        authorization_of(nowhere),
        receipt_of(nowhere),
        Body::Outcome { parent: nowhere, outcome: of("outcome"), signer: None },
        Body::Rejection { parent: nowhere, approver: None, reason: None },
        Body::Error { parent: Some(nowhere), detail: of("detail") },
    ];
    for body in bodies {
        let mut forger = Forger::begin();
        forger.write("claude", 100, body);
        let report = forger.report();
        assert_eq!((report.status, report.last_valid), (Status::MissingParent, Some(0)));
    }
}

#[test]
fn an_event_that_names_one_of_the_wrong_kind_is_unauthorized() {
    // A receipt of a verdict, an authorization of a HOLD and of a REFUSE, an approval of an EXECUTE, an outcome of a verdict.
    let mut log = Log::begin(Rules::ANY);
    let cleared = *log.cleared(100).link();
    let held = *log.held(100).link();
    let refused = *log.refused(100).link();
    let approval =
        |parent| Body::Approval { parent, arguments: of("ls"), approver: of("ann"), expires: START + 900, late: false };
    let bodies = [
        receipt_of(cleared),
        authorization_of(held),
        authorization_of(refused),
        approval(cleared),
        approval(refused),
        Body::Outcome { parent: cleared, outcome: of("outcome"), signer: None },
        Body::Rejection { parent: cleared, approver: None, reason: None },
    ];
    for body in bodies {
        let mut forger = Forger::after(&log);
        forger.write("claude", 200, body);
        assert_eq!(forger.report().status, Status::UnauthorizedLink, "{:?}", forger.report());
    }
}

#[test]
fn other_contents_actors_and_times_than_were_authorized_are_unauthorized() {
    let mut log = Log::begin(Rules::ANY);
    let parent = *log.authorized(100).link();
    let (arguments, receipt) = (of("ls"), of("receipt"));
    let good = Body::ExecutionReceipt { parent, arguments, receipt, started: START + 150, signer: None, late: false };
    let changed = |arguments, started, late| Body::ExecutionReceipt {
        parent,
        arguments,
        receipt,
        started: START + started,
        signer: None,
        late,
    };
    let cases = [
        ("mallory", 200, good),
        ("claude", 200, changed(of("rm"), 150, false)),
        ("claude", 9000, changed(arguments, 8000, false)),
        ("claude", 200, changed(arguments, 50, false)),
        ("claude", 200, changed(arguments, 300, false)),
        ("claude", 200, changed(arguments, 150, true)),
        ("claude", 50, changed(arguments, 50, false)),
    ];
    for (actor, at, body) in cases {
        let mut forger = Forger::after(&log);
        forger.write(actor, at, body);
        assert_eq!(forger.report().status, Status::UnauthorizedLink, "{:?}", forger.report());
    }
}

#[test]
fn an_execution_without_an_outcome_is_incomplete() {
    let mut log = Log::begin(Rules::ANY);
    log.whole(100);
    let receipt = log.received(200);
    let report = log.report();
    assert_eq!((report.status, report.incomplete), (Status::IncompleteExecution, 1));
    assert_eq!(report.last_valid, Some(log.ledger.size() - 1));
    let entry = log.ledger.report(&stamp(300, "host"), Some(*receipt.link()), of("it was killed")).unwrap();
    log.records.push(entry.record);
    assert_eq!(log.report().status, Status::Valid);
}

#[test]
fn a_head_of_another_key_and_a_tail_without_a_head_are_bad_signatures() {
    let mut log = full_log();
    let forged = log.ledger.head().sign(&[&signer(2)]).unwrap().to_string();
    assert_eq!(check(&log.records, &[&forged]).status, Status::BadSignature);
    assert_eq!(check(&log.records, &["nonsense"]).status, Status::BadSignature);
    let (head, size) = (log.head(), log.ledger.size());
    log.whole(500);
    let report = check(&log.records, &[&head]);
    assert_eq!((report.status, report.last_valid), (Status::BadSignature, Some(size - 1)));
    let report = check(&log.records, &[]);
    assert_eq!((report.status, report.last_valid), (Status::BadSignature, None));
}

#[test]
fn every_head_can_be_checked_on_the_way() {
    let mut log = Log::begin(Rules::ANY);
    let mut heads = vec![log.head()];
    for number in 1..4 {
        log.whole(number * 100);
        heads.push(log.head());
    }
    let all: Vec<&str> = heads.iter().map(String::as_str).collect();
    assert_eq!(check(&log.records, &all).status, Status::Valid);
    // One in the middle that another key has signed.
    let forged = log.ledger.head().sign(&[&signer(2)]).unwrap().to_string();
    assert_eq!(check(&log.records, &[all[0], all[1], &forged, all[3]]).status, Status::BadSignature);
    // Heads out of order cannot be checked, and are not taken for granted.
    assert_ne!(check(&log.records, &[all[3], all[0]]).status, Status::Valid);
}

#[test]
fn another_past_is_inconsistent_with_a_head_that_was_kept() {
    let mut log = full_log();
    let kept = log.ledger.head();
    log.whole(500);
    let head = log.head();
    let checked = |records: &[Vec<u8>], head: &str| check_with(records, &[head], Some(&kept), Rules::ANY);
    assert_eq!(checked(&log.records, &head).status, Status::Valid);
    // Written anew by who has the key: valid by itself.
    let mut other = Log::begin(Rules::ANY);
    for number in 1..9 {
        other.whole(number * 1000);
    }
    assert_eq!(other.report().status, Status::Valid);
    assert_eq!(checked(&other.records, &other.head()).status, Status::Inconsistent);
    // Cut off by who has the key.
    let mut short = Log::begin(Rules::ANY);
    short.whole(100);
    let report = checked(&short.records, &short.head());
    assert_eq!((report.status, report.last_valid), (Status::Inconsistent, Some(short.ledger.size() - 1)));
    assert_eq!(checked(&[], &head).status, Status::SequenceGap);
    assert_eq!(check_with(&[], &[], Some(&kept), Rules::ANY).status, Status::Inconsistent);
    let elsewhere = Checkpoint::new("example.com/other", 1, kept.root).unwrap();
    assert_eq!(check_with(&log.records, &[&head], Some(&elsewhere), Rules::ANY).status, Status::Inconsistent);
}

/// A log whose key is replaced in the middle.
fn rotated() -> (Log, Ed25519Signer, [String; 2]) {
    let (old, new) = (signer(1), signer(2));
    let mut log = Log::begin(Rules::ANY);
    log.whole(100);
    let before = log.head();
    let stamp = stamp(200, "host");
    let message = log.ledger.rotation_message(&stamp, new.public()).unwrap();
    let endorsement = old.sign(&message).unwrap();
    let entry = log.ledger.rotate(&stamp, new.public().clone(), endorsement, &verifier(&old)).unwrap();
    log.records.push(entry.record);
    log.whole(300);
    let after = log.ledger.sign_head(&new).unwrap().to_string();
    (log, new, [before, after])
}

#[test]
fn a_rotation_is_verified_across() {
    let (log, new, [before, after]) = rotated();
    assert_eq!(check(&log.records, &[&before, &after]).status, Status::Valid);
    assert_eq!(check(&log.records, &[&after]).status, Status::Valid);
    // The old key signs for nothing any more.
    let stale = log.ledger.head().sign(&[&signer(1)]).unwrap().to_string();
    assert_eq!(check(&log.records, &[&stale]).status, Status::BadSignature);
    assert!(log.ledger.sign_head(&signer(1)).is_err());
    // Who knows the new key only trusts it by its head.
    let new = verifier(&new);
    let expected = Expected { origin: ORIGIN, keys: &[&new], kept: None, rules: Rules::ANY };
    assert_eq!(verify(expected, log.records.iter().map(Vec::as_slice), [after.as_str()]).status, Status::Valid);
}

#[test]
fn a_rotation_needs_the_old_key() {
    let (old, new) = (signer(1), signer(2));
    let mut log = Log::begin(Rules::ANY);
    let stamp = stamp(200, "host");
    let message = log.ledger.rotation_message(&stamp, new.public()).unwrap();
    let size = log.ledger.size();
    let forged = new.sign(&message).unwrap();
    assert!(log.ledger.rotate(&stamp, new.public().clone(), forged.clone(), &verifier(&old)).is_err());
    assert!(log.ledger.rotate(&stamp, new.public().clone(), forged.clone(), &verifier(&new)).is_err());
    assert_eq!(log.ledger.size(), size);
    for endorsement in [None, Some(forged), Some(vec![])] {
        let mut forger = Forger::after(&log);
        forger.write("host", 200, Body::Key { key: new.public().clone(), endorsement });
        forger.signer = signer(2);
        assert_eq!(forger.report().status, Status::BadSignature);
    }
}

#[test]
fn a_ledger_of_a_stranger_is_trusted_only_at_its_word() {
    let log = full_log();
    let head = log.head();
    let stranger = verifier(&signer(9));
    let with = |keys: &[&dyn Verifier]| {
        let expected = Expected { origin: ORIGIN, keys, kept: None, rules: Rules::ANY };
        verify(expected, log.records.iter().map(Vec::as_slice), [head.as_str()])
    };
    let report = with(&[&stranger]);
    assert_eq!((report.status, report.last_valid), (Status::BadSignature, None));
    assert_eq!(with(&[]).status, Status::Valid);
    assert_eq!(with(&[&stranger, &verifier(&signer(1))]).status, Status::Valid);
}

#[test]
fn a_ledger_begins_with_its_key() {
    let mut forger = Forger { signer: signer(1), records: vec![], tree: Default::default() };
    forger.write("claude", 0, Body::Proposal { proposal: of("proposal"), arguments: None, policy: None });
    assert_eq!(forger.report().status, Status::BadSignature);
}

#[test]
fn a_ledger_under_hmac_is_verified_by_who_has_the_secret_alone() {
    let key = HmacKey::from_bytes(ORIGIN, b"0123456789abcdef").unwrap();
    let public = Signer::public(&key).clone();
    let (ledger, entry) = Ledger::begin(AttestMode::Optional, Rules::ANY, ORIGIN, public, &stamp(0, "host")).unwrap();
    let head = ledger.sign_head(&key).unwrap().to_string();
    let with = |keys: &[&dyn Verifier]| {
        let expected = Expected { origin: ORIGIN, keys, kept: None, rules: Rules::ANY };
        verify(expected, [entry.record.as_slice()], [head.as_str()]).status
    };
    assert_eq!(with(&[&key]), Status::Valid);
    assert_eq!(with(&[]), Status::BadSignature);
    assert_eq!(with(&[&HmacKey::from_bytes(ORIGIN, b"fedcba9876543210").unwrap()]), Status::BadSignature);
}

#[test]
fn what_the_ledger_refuses_changes_nothing() {
    let mut log = Log::begin(Rules::default());
    let cleared = *log.cleared(100).link();
    let held = *log.held(100).link();
    let before = log.ledger.clone();
    let cleared = |ledger: &Ledger| match ledger.judged(cleared.sequence) {
        Ok(Judged::Cleared(cleared)) => cleared,
        other => panic!("{other:?}"),
    };
    let held = |ledger: &Ledger| match ledger.judged(held.sequence) {
        Ok(Judged::Held(held)) => held,
        other => panic!("{other:?}"),
    };
    let ledger = &mut log.ledger;
    let expires = START + 900;
    let mut codes = vec![];
    let token = cleared(ledger);
    codes.push(ledger.authorize(&stamp(100, "mallory"), token, of("ls"), expires).unwrap_err().code());
    let token = cleared(ledger);
    codes.push(ledger.authorize(&stamp(100, "claude"), token, of("rm"), expires).unwrap_err().code());
    let token = cleared(ledger);
    codes.push(ledger.authorize(&stamp(100, "claude"), token, of("ls"), START).unwrap_err().code());
    let token = held(ledger);
    let other = Approving { arguments: of("rm"), ..approving(100) };
    codes.push(ledger.approve(&stamp(100, "ann"), token, other).unwrap_err().code());
    let token = held(ledger);
    codes.push(ledger.approve_late(&stamp(100, "ann"), token, of("ann"), ran(100)).unwrap_err().code());
    codes.push(ledger.propose(&stamp(100, ""), of("proposal"), None, None).unwrap_err().code());
    codes.push(
        ledger.report(&stamp(100, "host"), Some(Link { sequence: 0, leaf: of("x") }), of("y")).unwrap_err().code(),
    );
    codes.push(ledger.authorization(77).unwrap_err().code());
    codes.push(ledger.check_ordinary_outcome().unwrap_err().code());
    let expected = [
        "wrong_actor",
        "wrong_digest",
        "expired",
        "wrong_digest",
        "late_not_allowed",
        "value",
        "missing_parent",
        "missing_parent",
        "attestation_required",
    ];
    assert_eq!(codes, expected);
    assert_eq!(log.ledger, before);
}

#[test]
fn an_authorization_is_bound_and_used_once() {
    let mut log = Log::begin(Rules::ANY);
    let link = *log.authorized(100).link();
    let again = |ledger: &Ledger| ledger.authorization(link.sequence).unwrap();
    let other = Execution { arguments: of("rm"), ..ran(100) };
    let token = again(&log.ledger);
    assert_eq!(log.ledger.receive(&stamp(110, "claude"), token, other, None).unwrap_err().code(), "wrong_digest");
    let token = again(&log.ledger);
    assert_eq!(log.ledger.receive(&stamp(110, "codex"), token, ran(100), None).unwrap_err().code(), "wrong_actor");
    let token = again(&log.ledger);
    assert_eq!(log.ledger.receive(&stamp(9000, "claude"), token, ran(8000), None).unwrap_err().code(), "expired");
    // What was started in time may end later.
    let (first, second) = (again(&log.ledger), again(&log.ledger));
    let receipt = log.ledger.receive(&stamp(9000, "claude"), first, ran(100), None).unwrap();
    let _ = log.keep(receipt);
    let error = log.ledger.receive(&stamp(9000, "claude"), second, ran(100), None).unwrap_err();
    assert_eq!(error, Error::Consumed { parent: link.sequence });
}

#[test]
fn an_authorization_is_found_by_actor_and_digest_until_it_is_over() {
    let mut log = Log::begin(Rules::ANY);
    let link = *log.authorized(100).link();
    let find = |ledger: &Ledger, actor, text, at| ledger.find_authorization(actor, &of(text), START + at);
    assert_eq!(*find(&log.ledger, "claude", "ls", 100).unwrap().link(), link);
    assert!(find(&log.ledger, "codex", "ls", 100).is_none());
    assert!(find(&log.ledger, "claude", "rm", 100).is_none());
    assert!(find(&log.ledger, "claude", "ls", 701).is_none());
}

#[test]
fn a_late_approval_is_written_whole_and_marked() {
    let mut log = Log::begin(Rules::ANY);
    let held = log.held(100);
    let (receipt, entries) = log.ledger.approve_late(&stamp(200, "ann"), held, of("ann"), ran(150)).unwrap();
    for entry in entries {
        assert!(String::from_utf8(entry.record.clone()).unwrap().contains("\"late\":true"));
        log.records.push(entry.record);
    }
    let outcome = log.ledger.conclude(&stamp(200, "host"), receipt, of("outcome"), None).unwrap();
    let _ = log.keep(outcome);
    assert_eq!(log.report().status, Status::Valid);
    let report = check_with(&log.records, &[&log.head()], None, Rules::default());
    assert_eq!((report.status, report.fault), (Status::UnauthorizedLink, Some(Error::LateNotAllowed)));
}

#[test]
fn a_strict_outcome_needs_another_key_than_the_executors() {
    let mut log = Log::begin(STRICT);
    let observer = Ed25519Signer::from_seed("observer", &[5; 32]).unwrap();
    let receipt = *log.received(100).link();
    let again = |ledger: &Ledger| ledger.receipt(receipt.sequence).unwrap();
    let claim = Claim { kind: ClaimKind::Outcome, log: ORIGIN.into(), parent: receipt.leaf, content: of("outcome") };
    let signed = |claim: &Claim, by: &Ed25519Signer| {
        Claim::open(claim.kind, &claim.sign(by).unwrap(), &Ed25519Verifier::new(by.public()).unwrap()).unwrap()
    };
    let at = stamp(200, "observer");
    let mut codes = vec![];
    let token = again(&log.ledger);
    codes.push(log.ledger.conclude(&at, token, of("outcome"), None).unwrap_err().code());
    // The executor has not signed, so the ledger's own key stands for it; under another name it is the same key.
    let renamed = Ed25519Signer::from_seed("somebody", &[1; 32]).unwrap();
    let token = again(&log.ledger);
    codes.push(log.ledger.conclude(&at, token, of("outcome"), Some(&signed(&claim, &renamed))).unwrap_err().code());
    let token = again(&log.ledger);
    codes.push(log.ledger.conclude(&at, token, of("other"), Some(&signed(&claim, &observer))).unwrap_err().code());
    let elsewhere = Claim { parent: of("another receipt"), ..claim.clone() };
    let token = again(&log.ledger);
    codes
        .push(log.ledger.conclude(&at, token, of("outcome"), Some(&signed(&elsewhere, &observer))).unwrap_err().code());
    assert_eq!(codes, ["observer_missing", "observer_is_executor", "wrong_digest", "unauthorized_link"]);
    let token = again(&log.ledger);
    let outcome = log.ledger.conclude(&at, token, of("outcome"), Some(&signed(&claim, &observer))).unwrap();
    let _ = log.keep(outcome);
    assert_eq!(check_with(&log.records, &[&log.head()], None, STRICT).status, Status::Valid);
}

#[test]
fn an_executor_that_signs_is_not_its_own_observer() {
    let mut log = Log::begin(STRICT);
    let executor = Ed25519Signer::from_seed("executor", &[6; 32]).unwrap();
    let open = |claim: Claim| {
        let json = claim.sign(&executor).unwrap();
        Claim::open(claim.kind, &json, &Ed25519Verifier::new(executor.public()).unwrap()).unwrap()
    };
    let authorization = log.authorized(100);
    let claim = Claim {
        kind: ClaimKind::Receipt,
        log: ORIGIN.into(),
        parent: authorization.link().leaf,
        content: of("receipt"),
    };
    let receipt = log.ledger.receive(&stamp(110, "claude"), authorization, ran(100), Some(&open(claim))).unwrap();
    let receipt = log.keep(receipt);
    let claim =
        Claim { kind: ClaimKind::Outcome, log: ORIGIN.into(), parent: receipt.link().leaf, content: of("outcome") };
    let error = log.ledger.conclude(&stamp(120, "claude"), receipt, of("outcome"), Some(&open(claim))).unwrap_err();
    assert_eq!(error, Error::ObserverIsExecutor);
}

#[test]
fn the_mode_decides_what_is_written_and_accepted() {
    let key = signer(1).public().clone();
    let disabled = Ledger::begin(AttestMode::Disabled, Rules::ANY, ORIGIN, key, &stamp(0, "host"));
    assert_eq!(disabled.unwrap_err().code(), "attestation_disabled");
    let mut log = Log::begin_in(AttestMode::Optional, Rules::ANY);
    assert!(log.ledger.check_ordinary_outcome().is_ok());
    log.ledger.set_policy(AttestMode::Disabled, Rules::ANY);
    assert_eq!(
        log.ledger.propose(&stamp(1, "claude"), of("proposal"), None, None).unwrap_err().code(),
        "attestation_disabled"
    );
}

#[test]
fn time_does_not_run_backwards() {
    let mut log = Log::begin(Rules::ANY);
    log.whole(1000);
    log.whole(900);
    assert_eq!(log.report().status, Status::Valid);
    let times: Vec<Time> = log.records.iter().map(|record| Event::read(record).unwrap().at).collect();
    assert!(times.is_sorted());
}

#[test]
fn open_ends_are_bounded() {
    let mut log = Log::begin(Rules::ANY);
    for number in 0..=OPEN as u64 {
        let _ = log.authorized(number);
    }
    // The first was over when the last one came, and made room.
    assert!(log.ledger.authorization(3).is_err());
    assert_eq!(log.report().status, Status::Valid);
    let mut full = Log::begin(Rules::ANY);
    for _ in 0..OPEN {
        let _ = full.authorized(100);
    }
    let cleared = full.cleared(100);
    let error = full.ledger.authorize(&stamp(100, "claude"), cleared, of("ls"), START + 900).unwrap_err();
    assert_eq!(error.code(), "full");
    assert!(postcard::to_allocvec(&full.ledger).unwrap().len() < 1_000_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_rows_make_it_panic(rows in prop::collection::vec((0_usize..22, any::<prop::sample::Index>(), any::<u8>()), 0..30), head in "\\PC{0,60}") {
        let log = full_log();
        let rows: Vec<Vec<u8>> = rows
            .into_iter()
            .map(|(row, place, byte)| {
                let mut record = log.records.get(row).cloned().unwrap_or_default();
                let place = place.index(record.len().max(1));
                if let Some(old) = record.get_mut(place) {
                    *old = if byte.is_multiple_of(3) { byte } else { *old };
                }
                record
            })
            .collect();
        let report = check(&rows, &[&head, &log.head()]);
        prop_assert!(report.status != Status::Valid);
    }

    #[test]
    fn what_the_ledger_writes_is_valid(steps in prop::collection::vec((0_u8..8, 0_u64..900), 0..24)) {
        let mut log = Log::begin(Rules::ANY);
        let mut now = 0;
        for (step, later) in steps {
            now += later;
            match step {
                0 => log.whole(now),
                1 => { let _ = log.authorized(now); }
                2 => { let _ = log.held(now); }
                3 => { let _ = log.refused(now); }
                4 => {
                    let held = log.held(now);
                    let entry = log.ledger.reject(&stamp(now, "ann"), held, None, None).unwrap();
                    log.records.push(entry.record);
                }
                5 => {
                    let held = log.held(now);
                    let (_, entries) = log.ledger.approve_late(&stamp(now, "ann"), held, of("ann"), Execution { started: None, ..ran(now) }).unwrap();
                    log.records.extend(entries.map(|entry| entry.record));
                }
                6 => { let _ = log.received(now); }
                _ => {
                    let entry = log.ledger.report(&stamp(now, "host"), None, of("detail")).unwrap();
                    log.records.push(entry.record);
                }
            }
        }
        let report = log.report();
        prop_assert_eq!(&report.fault, &None);
        prop_assert_eq!(report.incomplete, log.ledger.incomplete());
        let status = if report.incomplete > 0 { Status::IncompleteExecution } else { Status::Valid };
        prop_assert_eq!(report.status, status);
    }
}

/// Measured by hand: `cargo test --release -p stigmergate-core --lib attest::tests::rate -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn rate() {
    let mut log = Log::begin(Rules::ANY);
    for number in 0..20_000 {
        log.whole(number * 1000);
    }
    let key = verifier(&signer(1));
    let head = log.head();
    for _ in 0..5 {
        let start = std::time::Instant::now();
        let expected = Expected { origin: ORIGIN, keys: &[&key], kept: None, rules: Rules::ANY };
        let mut verification = Verification::new(expected);
        log.records.iter().for_each(|record| verification.record(record));
        verification.head(&head);
        assert_eq!(verification.finish().status, Status::Valid);
        let rate = log.records.len() as f64 / start.elapsed().as_secs_f64();
        std::println!("{} events of {} bytes: {rate:.0} events a second", log.records.len(), log.records[4].len());
    }
    let start = std::time::Instant::now();
    let mut again = Log::begin(Rules::ANY);
    (0..20_000).for_each(|number| again.whole(number * 1000));
    std::println!("written: {:.0} events a second", again.records.len() as f64 / start.elapsed().as_secs_f64());
}
