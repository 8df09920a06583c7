//! What becomes visible when a ledger is tampered with, by whoever has its key or has not.

use super::*;

#[test]
fn nothing_is_an_empty_ledger() {
    let report = check(&[], &[]);
    assert_eq!((report.status, report.last_valid), (Status::Empty, None));
    let head = Checkpoint::new(ORIGIN, 0, crate::attest::tree::empty_root()).unwrap();
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
    let (_, entry) = other.record_proposal(&stamp(100, "claude"), of("proposal"), Some(of("ls")), None).unwrap();
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
    let receipt = log.ledger.record_receipt(&stamp(110, "claude"), authorization, ran(100), None).unwrap();
    let _ = log.keep(receipt);
    assert_eq!(log.ledger.authorization(link.sequence).unwrap_err().code(), "consumed");
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
fn a_link_that_is_bent_to_another_authorization_is_seen() {
    // With the key: to one for other contents. Without it: in a record that others follow.
    let mut log = Log::begin(Rules::ANY);
    let parent = *log.authorized(100).link();
    let other = log.ledger.record_proposal(&stamp(110, "claude"), of("proposal"), Some(of("rm")), None).unwrap();
    let other = log.keep(other);
    let gate = stamp(110, "gate");
    let judged =
        log.ledger.record_verdict(&gate, other, of("proposal"), of("verdict"), Decision::Execute, None).unwrap();
    let Judged::Cleared(cleared) = log.keep(judged) else { panic!() };
    let authorized = log.ledger.authorize(&stamp(110, "claude"), cleared, of("rm"), START + 900).unwrap();
    let bent = *log.keep(authorized).link();
    let mut forger = Forger::after(&log);
    forger.write("claude", 120, receipt_of(bent));
    assert_eq!(forger.report().status, Status::UnauthorizedLink);
    let mut forger = Forger::after(&log);
    forger.write("claude", 120, receipt_of(parent));
    let at = forger.records.len() - 1;
    forger.write("host", 130, Body::Error { parent: None, detail: of("detail") });
    let mut event = Event::read(&forger.records[at]).unwrap();
    event.body = receipt_of(bent);
    forger.records[at] = event.record().unwrap();
    assert_eq!(forger.report().status, Status::UnauthorizedLink);
    let Body::ExecutionReceipt { arguments, started, .. } = &mut event.body else { panic!() };
    (*arguments, *started) = (of("rm"), START + 115);
    forger.records[at] = event.record().unwrap();
    assert_eq!(forger.report().status, Status::BadHash);
}

#[test]
fn an_execution_without_an_outcome_is_incomplete() {
    let mut log = Log::begin(Rules::ANY);
    log.whole(100);
    let receipt = log.received(200);
    let report = log.report();
    assert_eq!((report.status, report.incomplete), (Status::IncompleteExecution, 1));
    assert_eq!(report.last_valid, Some(log.ledger.size() - 1));
    let entry = log.ledger.record_error(&stamp(300, "host"), Some(*receipt.link()), of("it was killed")).unwrap();
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
    fn no_row_can_be_removed_moved_repeated_or_changed(steps in prop::collection::vec((0_u8..4, any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1_u8..), 1..4)) {
        let log = full_log();
        let mut rows = log.records.clone();
        for (step, one, other, bits) in steps {
            if rows.is_empty() {
                break;
            }
            let (one, other) = (one.index(rows.len()), other.index(rows.len()));
            match step {
                0 => { rows.remove(one); }
                1 => rows.swap(one, other),
                2 => rows.insert(other, rows[one].clone()),
                _ => { let place = usize::from(bits) % rows[one].len(); rows[one][place] ^= bits; }
            }
        }
        let valid = check(&rows, &[&log.head()]).status == Status::Valid;
        prop_assert_eq!(valid, rows == log.records);
    }
}
