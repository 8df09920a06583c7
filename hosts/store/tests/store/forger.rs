//! A forger who has the file and the store's own key: every record is rewritten, every hash computed again and every head signed.
//!
//! What such a forger breaks has its status all the same. What is sound in itself is `inconsistent`: the store's state knows the size
//! and the root of the ledger that was written.

use crate::ledger::{ORIGIN, begun, keys, options, verify};
use crate::support::{AT, complete, place, propose, raw};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stigmergate_core::attest::checkpoint::Checkpoint;
use stigmergate_core::attest::event::{Body, Event, Link, Nonce};
use stigmergate_core::attest::note::Note;
use stigmergate_core::attest::signer::{Ed25519Signer, Signer};
use stigmergate_core::attest::tree::{CompactRange, leaf_hash};
use stigmergate_core::attest::verify::Status;
use stigmergate_core::digest::Digest;
use stigmergate_core::gate::Decision;
use stigmergate_core::kernel::{
    Authorize, Command, Conclude, Feedback, OutcomeReport, Receive, Reply, StatedCost, Subject,
};
use stigmergate_store::{Keys as _, Store, verify_export};

/// The numbers of the events of the ledger that is forged.
const VERDICT: usize = 2;
const AUTHORIZATION: usize = 3;
const RECEIPT: usize = 4;
const OUTCOME: usize = 5;
const LATER: usize = 6;

/// A ledger of one whole execution, and of a proposal with its verdict after it.
fn executed(path: &Path) {
    let mut store = begun(path, 0);
    store.apply(AT, complete("p1")).unwrap();
    let authorize = Authorize { proposal_id: "p1".into(), ttl_ms: None };
    let Reply::Authorized(given) = store.apply(AT + 1, Command::Authorize(authorize)).unwrap().reply else { panic!() };
    let receive = Receive {
        authorization: given.sequence,
        actor: "claude/worker".into(),
        arguments: given.arguments,
        receipt: Digest::of("result", b"done"),
        started: None,
        claim: None,
    };
    let Reply::Received(received) = store.apply(AT + 2, Command::Receive(receive)).unwrap().reply else { panic!() };
    store.apply(AT + 3, conclude(received.sequence)).unwrap();
    store.apply(AT + 4, propose("later")).unwrap();
    assert_eq!(verify(path).status, Status::Valid);
}

fn conclude(receipt: u64) -> Command {
    let report = OutcomeReport {
        proposal: Subject::Id("p1".into()),
        tests_passed: true,
        repair_needed: false,
        summary: String::new(),
        cost: StatedCost::default(),
        human_feedback: Feedback::default(),
    };
    Command::Conclude(Box::new(Conclude { receipt, report, claim: None }))
}

fn read(path: &Path) -> Vec<Event> {
    let connection = raw(path);
    let mut statement = connection.prepare("SELECT record FROM ledger_events ORDER BY sequence").unwrap();
    let rows = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    rows.map(|row| Event::read(&row.unwrap()).unwrap()).collect()
}

fn parent(event: &mut Event) -> Option<&mut Link> {
    match &mut event.body {
        Body::Proposal { .. } | Body::Key { .. } => None,
        Body::Error { parent, .. } => parent.as_mut(),
        Body::GateVerdict { parent, .. }
        | Body::Approval { parent, .. }
        | Body::ExecutionAuthorization { parent, .. }
        | Body::ExecutionReceipt { parent, .. }
        | Body::Outcome { parent, .. }
        | Body::Rejection { parent, .. } => Some(parent),
    }
}

/// Numbers the events anew, and lets each name the one before it and its parent by their new hashes. A parent that is none of the
/// events stays as it is named.
fn chain(events: &mut [Event], original: &[Event]) {
    let mut written: BTreeMap<Digest, Link> = BTreeMap::new();
    let mut previous = None;
    for (number, event) in events.iter_mut().enumerate() {
        let before = original.iter().find(|known| known.nonce == event.nonce).map(|known| known.link().unwrap().leaf);
        (event.sequence, event.previous) = (number as u64, previous);
        if let Some(parent) = parent(event)
            && let Some(link) = written.get(&parent.leaf)
        {
            *parent = *link;
        }
        let link = event.link().unwrap();
        written.extend(before.map(|before| (before, link)));
        previous = Some(link.leaf);
    }
}

/// Writes a ledger of these records in the place of the one that is there, with a head over each, signed.
fn write(path: &Path, records: &[Vec<u8>], signer: &dyn Signer) {
    let connection = raw(path);
    connection.execute_batch("DELETE FROM ledger_events; DELETE FROM ledger_heads").unwrap();
    let mut tree = CompactRange::default();
    for (number, record) in records.iter().enumerate() {
        let leaf = leaf_hash(record);
        let insert = "INSERT INTO ledger_events (sequence, record, leaf) VALUES (?1, ?2, ?3)";
        connection.execute(insert, (number as i64, record, leaf.as_bytes())).unwrap();
        tree.append(leaf);
        let note = Checkpoint::new(ORIGIN, tree.size(), tree.root()).unwrap().sign(&[signer]).unwrap().to_string();
        connection.execute("INSERT INTO ledger_heads (size, note) VALUES (?1, ?2)", (number as i64 + 1, note)).unwrap();
    }
}

fn own_signer(path: &Path) -> Box<dyn Signer> {
    let file = keys(path).list().unwrap().remove(0);
    keys(path).signer(&file.key).unwrap()
}

/// What is found, and where, after a forger's change of the events. The changed ledger is chained again before it is written.
#[track_caller]
fn forged(change: impl FnOnce(&mut Vec<Event>)) -> (Status, Option<u64>) {
    forged_by(None, |events, original| {
        change(events);
        chain(events, original);
    })
}

#[track_caller]
fn forged_by(signer: Option<&dyn Signer>, change: impl FnOnce(&mut Vec<Event>, &[Event])) -> (Status, Option<u64>) {
    let (_folder, path) = place();
    executed(&path);
    let original = read(&path);
    let mut events = original.clone();
    change(&mut events, &original);
    let records: Vec<_> = events.iter().map(|event| event.record().unwrap()).collect();
    let own = own_signer(&path);
    write(&path, &records, signer.unwrap_or(&*own));
    let report = verify(&path);
    let store = Store::open_existing(&path, &options(&path)).unwrap();
    let error = store.verify().expect_err("the store's own verification sees it too");
    assert!(error.to_string().contains("ledger"), "{error}");
    (report.status, report.last_valid)
}

/// A copy that is an event of its own.
fn again(event: &Event) -> Event {
    Event { nonce: Nonce::from_bytes([7; 16]), ..event.clone() }
}

#[test]
fn the_forger_writes_what_the_store_wrote() {
    let (_folder, path) = place();
    executed(&path);
    let original = read(&path);
    let mut events = original.clone();
    chain(&mut events, &original);
    assert_eq!(events, original);
    let records: Vec<_> = events.iter().map(|event| event.record().unwrap()).collect();
    write(&path, &records, &*own_signer(&path));
    assert_eq!(verify(&path).status, Status::Valid);
}

#[test]
fn a_record_that_does_not_name_the_one_before_it_is_a_bad_hash() {
    let found = forged_by(None, |events, _| events[VERDICT].at += 1);
    assert_eq!(found, (Status::BadHash, Some(1)));
}

#[test]
fn heads_of_another_key_are_bad_signatures() {
    let other = Ed25519Signer::from_seed(ORIGIN, &[9; 32]).unwrap();
    assert_eq!(forged_by(Some(&other), |_, _| {}), (Status::BadSignature, None));
}

#[test]
fn a_number_that_is_there_twice_is_a_duplicate() {
    let found = forged_by(None, |events, original| {
        events.truncate(LATER + 1);
        chain(events, original);
        let mut twin = again(&events[LATER]);
        twin.previous = Some(events[LATER].link().unwrap().leaf);
        events.push(twin);
    });
    assert_eq!(found, (Status::Duplicate, Some(LATER as u64)));
}

#[test]
fn a_number_that_is_left_out_is_a_gap() {
    let found = forged_by(None, |events, original| {
        events.truncate(LATER + 1);
        chain(events, original);
        events[LATER].sequence += 1;
    });
    assert_eq!(found, (Status::SequenceGap, Some(OUTCOME as u64)));
}

#[test]
fn what_is_used_a_second_time_is_a_replay() {
    let nonce = forged_by(None, |events, original| {
        events.truncate(LATER + 1);
        chain(events, original);
        events[LATER].nonce = events[1].nonce;
    });
    assert_eq!(nonce, (Status::Replay, Some(OUTCOME as u64)), "a nonce");
    for (what, number) in [("a verdict", AUTHORIZATION), ("an authorization", RECEIPT), ("a receipt", OUTCOME)] {
        let found = forged(|events| {
            let copy = again(&events[number]);
            events.insert(LATER, copy);
        });
        assert_eq!(found, (Status::Replay, Some(OUTCOME as u64)), "{what}");
    }
    let other =
        forged_by(None, |events, _| events.iter_mut().for_each(|event| event.log = "example.com/others".into()));
    assert_eq!(other, (Status::Replay, None), "the records of another log");
}

#[test]
fn an_event_whose_parent_is_not_there_is_without_it() {
    for number in [VERDICT, AUTHORIZATION, RECEIPT, OUTCOME] {
        // In the place of its parent stands a proposal that nobody judged.
        let found = forged(|events| events[number - 1] = again(&events[1]));
        assert_eq!(found, (Status::MissingParent, Some(number as u64 - 1)), "event {number}, its parent replaced");
        let found = forged(|events| parent(&mut events[number]).unwrap().leaf = Digest::of("test", b"nothing"));
        assert_eq!(found, (Status::MissingParent, Some(number as u64 - 1)), "event {number}, another hash");
    }
}

#[test]
fn an_execution_that_was_not_authorized_so_is_an_unauthorized_link() {
    type Change = fn(&mut Vec<Event>);
    let changes: [(&str, usize, Change); 8] = [
        ("a verdict that holds", AUTHORIZATION, |events| {
            let Body::GateVerdict { decision, .. } = &mut events[VERDICT].body else { panic!() };
            *decision = Decision::Hold;
        }),
        ("another actor is authorized", AUTHORIZATION, |events| events[AUTHORIZATION].actor = "somebody".into()),
        ("another actor executes", RECEIPT, |events| events[RECEIPT].actor = "somebody".into()),
        ("something else runs", RECEIPT, |events| {
            let Body::ExecutionReceipt { arguments, .. } = &mut events[RECEIPT].body else { panic!() };
            *arguments = Digest::of("test", b"rm -rf");
        }),
        ("the authorization is over", RECEIPT, |events| {
            let Event { at, body: Body::ExecutionAuthorization { expires, .. }, .. } = &mut events[AUTHORIZATION]
            else {
                panic!()
            };
            *expires = *at;
            let Event { at, body: Body::ExecutionReceipt { started, .. }, .. } = &mut events[RECEIPT] else { panic!() };
            *started = *at;
        }),
        ("it is started before it is authorized", RECEIPT, |events| {
            let Body::ExecutionReceipt { started, .. } = &mut events[RECEIPT].body else { panic!() };
            *started = AT;
        }),
        ("an execution without its authorization", RECEIPT - 1, |events| {
            let verdict = *parent(&mut events[AUTHORIZATION]).unwrap();
            *parent(&mut events[RECEIPT]).unwrap() = verdict;
            events.remove(AUTHORIZATION);
        }),
        ("an outcome of what was not executed", OUTCOME - 1, |events| {
            let authorization = *parent(&mut events[RECEIPT]).unwrap();
            *parent(&mut events[OUTCOME]).unwrap() = authorization;
            events.remove(RECEIPT);
        }),
    ];
    for (what, number, change) in changes {
        assert_eq!(forged(change), (Status::UnauthorizedLink, Some(number as u64 - 1)), "{what}");
    }
}

#[test]
fn a_forgery_that_is_sound_in_itself_is_inconsistent() {
    let cut = forged(|events| events.truncate(LATER));
    assert_eq!(cut, (Status::Inconsistent, Some(OUTCOME as u64)), "the end is cut off");
    let incomplete = forged(|events| events.truncate(OUTCOME));
    assert_eq!(incomplete.0, Status::Inconsistent, "the outcome is cut off");
    let without = forged(|events| drop(events.drain(1..LATER)));
    assert_eq!(without.0, Status::Inconsistent, "the execution was never there");
    let rewritten = forged(|events| {
        let Body::Outcome { outcome, .. } = &mut events[OUTCOME].body else { panic!() };
        *outcome = Digest::of("test", b"it went well");
    });
    assert_eq!(rewritten.0, Status::Inconsistent, "another outcome");
    let more = forged(|events| events.push(again(&events[1])));
    assert_eq!(more.0, Status::Inconsistent, "a proposal more");
}

#[test]
fn an_execution_whose_outcome_is_missing_is_incomplete() {
    // The ledger alone, as an auditor has it: no state beside it knows what it was.
    let (_folder, path) = place();
    executed(&path);
    let original = read(&path);
    let mut events = original.clone();
    events.remove(OUTCOME);
    chain(&mut events, &original);
    let records: Vec<_> = events.iter().map(|event| event.record().unwrap()).collect();
    write(&path, &records, &*own_signer(&path));
    assert_eq!(verify(&path).status, Status::Inconsistent, "the store knows better");
    raw(&path).execute_batch("UPDATE snapshots SET seal = zeroblob(32), bytes = x'00'").unwrap();
    let report = verify(&path);
    assert_eq!((report.status, report.incomplete), (Status::IncompleteExecution, 1), "{report:?}");
}

#[test]
fn a_ledger_in_the_store_of_another_log_is_seen() {
    let (_folder, path) = place();
    executed(&path);
    let (_other, elsewhere) = place();
    drop(begun(&elsewhere, 2));
    let attach = format!("ATTACH '{}' AS source", path.display());
    let connection = raw(&elsewhere);
    connection.execute_batch(&attach).unwrap();
    let all = "DELETE FROM ledger_events; DELETE FROM ledger_heads;
               INSERT INTO ledger_events SELECT * FROM source.ledger_events;
               INSERT INTO ledger_heads SELECT * FROM source.ledger_heads";
    connection.execute_batch(all).unwrap();
    // It is signed by the key of the other store, which is not among this one's.
    assert_eq!(verify(&elsewhere).status, Status::BadSignature);
    let key = keys(&path).list().unwrap().remove(0).path;
    std::fs::copy(&key, keys(&elsewhere).path().join(key.file_name().unwrap())).unwrap();
    assert_eq!(verify(&elsewhere).status, Status::Inconsistent, "nor does the key make it this store's");
}

/// What is found in an exported folder whose one file holds these bytes.
fn found_with(folder: &Path, file: &Path, bytes: &[u8]) -> Status {
    std::fs::write(file, bytes).unwrap();
    verify_export(folder, &[], None).unwrap().status
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// An export in a folder of its own beside the store.
fn exported(path: &Path) -> PathBuf {
    executed(path);
    let folder = path.parent().unwrap().join("export");
    Store::open_existing(path, &options(path)).unwrap().export_ledger(&folder).unwrap();
    assert_eq!(verify_export(&folder, &[], None).unwrap().status, Status::Valid);
    folder
}

/// Nothing but white space around the verifier key may change: it is no part of the key.
#[test]
fn each_flipped_byte_of_an_exported_folder_is_seen() {
    let (_folder, path) = place();
    let folder = exported(&path);
    let all = files(&folder);
    assert_eq!(all.len(), 4, "checkpoint, vkey, one tile of hashes, one of entries: {all:?}");
    for file in all {
        let bytes = std::fs::read(&file).unwrap();
        let is_key = file.ends_with("vkey");
        for place in 0..bytes.len() {
            for bit in [0x01, 0x20, 0x80] {
                let mut flipped = bytes.clone();
                flipped[place] ^= bit;
                let may_pass = is_key && String::from_utf8_lossy(&flipped).trim().as_bytes() == bytes.trim_ascii();
                assert!(!may_pass || place == bytes.len() - 1, "only the end of the line");
                let status = found_with(&folder, &file, &flipped);
                let passes = matches!(status, Status::Valid | Status::Empty | Status::IncompleteExecution);
                assert_eq!(passes, may_pass, "{}, byte {place}, bit {bit:#x}: {status:?}", file.display());
            }
        }
        for length in 0..bytes.len() {
            let status = found_with(&folder, &file, &bytes[..length]);
            let may_pass = is_key && length == bytes.len() - 1;
            assert_eq!(status == Status::Valid, may_pass, "{}, cut to {length}: {status:?}", file.display());
        }
        assert_eq!(found_with(&folder, &file, &bytes), Status::Valid);
    }
}

/// A line of a witness is no part of what the log's key signs: a reader that does not know the witness ignores it.
#[test]
fn a_further_signature_line_of_a_stranger_changes_nothing_and_stands_for_nothing() {
    let (_folder, path) = place();
    let folder = exported(&path);
    let file = folder.join("checkpoint");
    let text = std::fs::read_to_string(&file).unwrap();
    let stranger = Ed25519Signer::from_seed("example.com/witness", &[3; 32]).unwrap();
    let mut note = Note::parse(&text).unwrap();
    note.add(&stranger).unwrap();
    let further = note.to_string();
    for place in further.len() - 20..further.len() - 8 {
        let mut flipped = further.clone().into_bytes();
        flipped[place] = if flipped[place] == b'A' { b'B' } else { b'A' };
        assert_eq!(found_with(&folder, &file, &flipped), Status::Valid, "byte {place} is the stranger's");
    }
    let own = text.lines().last().unwrap();
    let without = further.replace(&format!("{own}\n"), "");
    assert_ne!(without, further);
    assert_eq!(found_with(&folder, &file, without.as_bytes()), Status::BadSignature, "the stranger's line alone");
}

#[test]
fn what_is_refused_stays_refused_after_a_restart_and_writes_nothing() {
    let (_folder, path) = place();
    drop(begun(&path, 0));
    // Each command meets the file in a store of its own.
    let apply = |at, command| Store::open_existing(&path, &options(&path)).unwrap().apply(at, command);
    apply(AT, complete("p1")).unwrap();
    let authorize = || Command::Authorize(Authorize { proposal_id: "p1".into(), ttl_ms: Some(1000) });
    let Reply::Authorized(given) = apply(AT + 1, authorize()).unwrap().reply else { panic!() };
    let receive = |authorization, actor: &str, arguments, started| {
        let receipt = Digest::of("result", b"done");
        Command::Receive(Receive { authorization, actor: actor.into(), arguments, receipt, started, claim: None })
    };
    let refused = |at, command, code: &str| {
        let before = read(&path).len();
        let error = apply(at, command).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(read(&path).len(), before);
    };
    let (number, arguments) = (given.sequence, given.arguments);
    let good = || receive(number, "claude/worker", arguments, None);
    refused(AT + 2, authorize(), "consumed");
    refused(AT + 2, receive(number, "somebody", arguments, None), "wrong_actor");
    refused(AT + 2, receive(number, "claude/worker", Digest::of("test", b"other"), None), "wrong_digest");
    refused(AT + 2, receive(number - 1, "claude/worker", arguments, None), "consumed");
    refused(AT + 2, receive(99, "claude/worker", arguments, None), "missing_parent");
    refused(AT + 5000, receive(number, "claude/worker", arguments, Some(AT + 4000)), "expired");
    refused(AT + 5000, conclude(number), "unauthorized_link");
    let Reply::Received(received) = apply(AT + 5000, good()).unwrap().reply else { panic!() };
    refused(AT + 5001, good(), "consumed");
    apply(AT + 5002, conclude(received.sequence)).unwrap();
    refused(AT + 5003, conclude(received.sequence), "wrong_state");
    refused(AT + 5003, good(), "consumed");
    assert_eq!(verify(&path).status, Status::Valid);
}
