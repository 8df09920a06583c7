//! What the ledger writes and refuses, and that what it writes is valid.

use super::*;
use crate::attest::proof::RecordProof;
use crate::attest::tiles::{Contents, TileNodes, entry_bundle, hash_tile, read_bundle, tiles};
use crate::attest::tree::{CompactRange, inclusion_proof};
use alloc::collections::BTreeMap;

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
    codes.push(ledger.record_proposal(&stamp(100, ""), of("proposal"), None, None).unwrap_err().code());
    codes.push(
        ledger
            .record_error(&stamp(100, "host"), Some(Link { sequence: 0, leaf: of("x") }), of("y"))
            .unwrap_err()
            .code(),
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
    assert_eq!(
        log.ledger.record_receipt(&stamp(110, "claude"), token, other, None).unwrap_err().code(),
        "wrong_digest"
    );
    let token = again(&log.ledger);
    assert_eq!(
        log.ledger.record_receipt(&stamp(110, "codex"), token, ran(100), None).unwrap_err().code(),
        "wrong_actor"
    );
    let token = again(&log.ledger);
    assert_eq!(
        log.ledger.record_receipt(&stamp(9000, "claude"), token, ran(8000), None).unwrap_err().code(),
        "expired"
    );
    // What was started in time may end later.
    let (first, second) = (again(&log.ledger), again(&log.ledger));
    let receipt = log.ledger.record_receipt(&stamp(9000, "claude"), first, ran(100), None).unwrap();
    let _ = log.keep(receipt);
    let error = log.ledger.record_receipt(&stamp(9000, "claude"), second, ran(100), None).unwrap_err();
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
    let outcome = log.ledger.record_outcome(&stamp(200, "host"), receipt, of("outcome"), None).unwrap();
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
    codes.push(log.ledger.record_outcome(&at, token, of("outcome"), None).unwrap_err().code());
    // The executor has not signed, so the ledger's own key stands for it; under another name it is the same key.
    let renamed = Ed25519Signer::from_seed("somebody", &[1; 32]).unwrap();
    let token = again(&log.ledger);
    codes.push(
        log.ledger.record_outcome(&at, token, of("outcome"), Some(&signed(&claim, &renamed))).unwrap_err().code(),
    );
    let token = again(&log.ledger);
    codes
        .push(log.ledger.record_outcome(&at, token, of("other"), Some(&signed(&claim, &observer))).unwrap_err().code());
    let elsewhere = Claim { parent: of("another receipt"), ..claim.clone() };
    let token = again(&log.ledger);
    codes.push(
        log.ledger.record_outcome(&at, token, of("outcome"), Some(&signed(&elsewhere, &observer))).unwrap_err().code(),
    );
    assert_eq!(codes, ["observer_missing", "observer_is_executor", "wrong_digest", "unauthorized_link"]);
    let token = again(&log.ledger);
    let outcome = log.ledger.record_outcome(&at, token, of("outcome"), Some(&signed(&claim, &observer))).unwrap();
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
    let receipt =
        log.ledger.record_receipt(&stamp(110, "claude"), authorization, ran(100), Some(&open(claim))).unwrap();
    let receipt = log.keep(receipt);
    let claim =
        Claim { kind: ClaimKind::Outcome, log: ORIGIN.into(), parent: receipt.link().leaf, content: of("outcome") };
    let error =
        log.ledger.record_outcome(&stamp(120, "claude"), receipt, of("outcome"), Some(&open(claim))).unwrap_err();
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
        log.ledger.record_proposal(&stamp(1, "claude"), of("proposal"), None, None).unwrap_err().code(),
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

#[test]
fn an_export_is_verified_from_its_files_alone() {
    let mut log = full_log();
    (0..150).for_each(|number| log.whole(1000 + number));
    let size = log.ledger.size();
    let leaves: Vec<Digest> = log.records.iter().map(|record| leaf_hash(record)).collect();
    let stored = |level: u8, index: u64| {
        let width = 1_u64.checked_shl(u32::from(level))?;
        let start = usize::try_from(index.checked_mul(width)?).ok()?;
        let mut range = CompactRange::default();
        leaves.get(start..start + width as usize)?.iter().for_each(|leaf| range.append(*leaf));
        Some(range.root())
    };
    let (mut hashes, mut bundles) = (BTreeMap::new(), Vec::new());
    for tile in tiles(size) {
        let start = usize::try_from(tile.start()).unwrap();
        match tile.contents {
            Contents::Hashes(level) => {
                hashes.insert((level, tile.index), hash_tile(&tile, &stored).unwrap());
            }
            Contents::Entries => {
                bundles.push(entry_bundle(&log.records[start..start + usize::from(tile.width)]).unwrap());
            }
        }
    }
    let records: Vec<Vec<u8>> =
        bundles.iter().flat_map(|bundle| read_bundle(bundle).unwrap()).map(<[u8]>::to_vec).collect();
    assert_eq!(check(&records, &[&log.head()]).status, Status::Valid);
    let nodes = TileNodes::new(|level, index| hashes.get(&(level, index)));
    let head = log.ledger.sign_head(&signer(1)).unwrap();
    for index in [0, 7, 255, 256, size - 1] {
        let proof = RecordProof {
            extra: None,
            index,
            hashes: inclusion_proof(index, size, &nodes).unwrap(),
            head: head.clone(),
        };
        let proof = RecordProof::parse(&proof.to_string()).unwrap();
        assert_eq!(proof.verify(&records[index as usize], &verifier(&signer(1))).unwrap(), log.ledger.head());
    }
}

#[test]
fn an_approval_is_for_what_was_judged_until_it_is_over() {
    let mut log = Log::begin(Rules::ANY);
    let held = log.held(100);
    let approved = log.ledger.approve(&stamp(110, "ann"), held, approving(110)).unwrap();
    let number = log.keep(approved).link().sequence;
    let mut authorize = |actor, arguments, at| {
        let approved = log.ledger.approved(number).unwrap();
        let expires = START + at + 600;
        log.ledger
            .authorize(&stamp(at, actor), approved, of(arguments), expires)
            .map(|_| ())
            .map_err(|error| error.code())
    };
    assert_eq!(authorize("ann", "ls", 120), Err("wrong_actor"));
    assert_eq!(authorize("claude", "rm", 120), Err("wrong_digest"));
    assert_eq!(authorize("claude", "ls", 711), Err("expired"));
    assert_eq!(authorize("claude", "ls", 710), Ok(()));
    assert_eq!(log.ledger.approved(number).unwrap_err().code(), "consumed");
}

#[test]
fn a_proposal_gets_one_verdict() {
    let mut log = Log::begin(Rules::ANY);
    let proposed = log.ledger.record_proposal(&stamp(1, "claude"), of("proposal"), None, None).unwrap();
    let first = log.keep(proposed);
    let second = log.ledger.proposed(first.link().sequence).unwrap();
    let third = log.ledger.proposed(first.link().sequence).unwrap();
    let mut judge = |proposed, text| {
        let decision = Decision::Refuse;
        log.ledger.record_verdict(&stamp(1, "gate"), proposed, of(text), of("verdict"), decision, None)
    };
    assert_eq!(judge(first, "another proposal").unwrap_err().code(), "wrong_digest");
    assert!(judge(second, "proposal").is_ok());
    assert_eq!(judge(third, "proposal").unwrap_err().code(), "consumed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

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
                    let entry = log.ledger.record_error(&stamp(now, "host"), None, of("detail")).unwrap();
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

/// Measured by hand: `cargo test --release -p stigmergate-core --lib attest::tests::lifecycle::rate -- --ignored --nocapture`.
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

/// Measured by hand, as `rate`: a million events are written and verified one by one.
#[test]
#[ignore = "a measurement"]
#[cfg(target_os = "linux")]
fn memory_is_constant() {
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4
    };
    let key = verifier(&signer(1));
    let expected = Expected { origin: ORIGIN, keys: &[&key], kept: None, rules: Rules::ANY };
    let (mut log, mut verification) = (Log::begin(Rules::ANY), Verification::new(expected));
    for number in 0..200_000 {
        log.whole(number * 1000);
        log.records.drain(..).for_each(|record| verification.record(&record));
        if number % 40_000 == 20_000 {
            std::println!("{} events: {} KiB", verification.size(), resident());
        }
    }
    verification.head(&log.head());
    assert_eq!(verification.finish().status, Status::Valid);
}

#[test]
fn steps_that_belong_together_are_taken_together_or_not_at_all() {
    let mut log = Log::begin(Rules::ANY);
    // So many that each step pushes out an end of its kind.
    for _ in 0..=OPEN {
        let authorization = log.authorized(0);
        let receipt = log.ledger.record_receipt(&stamp(0, "claude"), authorization, ran(0), None).unwrap();
        let _ = log.keep(receipt);
        let _ = log.held(0);
    }
    let before = log.ledger.clone();
    let unanswered = log.held(0);
    log.ledger.reject(&stamp(0, "gate"), unanswered, None, None).unwrap();
    let kept = log.ledger.clone();
    let steps = |ledger: &mut Ledger, ends_well: bool| {
        ledger.all_or_none(|ledger| {
            let at = stamp(10, "claude");
            let (proposed, _) = ledger.record_proposal(&at, of("proposal"), Some(of("ls")), None)?;
            let (judged, _) =
                ledger.record_verdict(&at, proposed, of("proposal"), of("verdict"), Decision::Execute, None)?;
            let Judged::Cleared(cleared) = judged else { panic!() };
            let (authorization, _) = ledger.authorize(&at, cleared, of("ls"), START + 600)?;
            let (receipt, _) =
                ledger.record_receipt(&at, authorization, Execution { started: None, ..ran(10) }, None)?;
            let (outcome, _) = ledger.record_outcome(&at, receipt, of("outcome"), None)?;
            let number = ledger.size() - 7;
            let Judged::Held(held) = ledger.judged(number)? else { panic!() };
            let (_, late) = ledger.approve_late(&at, held, of("ann"), ran(10))?;
            assert_eq!(late.len(), 3);
            if ends_well { Ok(()) } else { Err(Error::Consumed { parent: outcome.link().sequence }) }
        })
    };
    assert!(before != kept);
    assert_eq!(steps(&mut log.ledger, false).unwrap_err().code(), "consumed");
    assert!(log.ledger == kept, "a step that was undone has left something");
    assert_eq!(steps(&mut log.ledger, true), Ok(()));
    assert_eq!(log.ledger.size(), kept.size() + 8);
}

#[test]
fn a_hold_that_nobody_answered_is_approved_by_its_execution_alone() {
    let mut log = Log::begin(Rules::ANY);
    let held = log.held(100);
    let number = held.link().sequence;
    let entry = log.ledger.reject(&stamp(700, "gate"), held, None, None).unwrap();
    log.records.push(entry.record);
    let approving = Approving { arguments: of("ls"), approver: of("ann"), expires: START + 900 };
    let Ok(Judged::Held(held)) = log.ledger.judged(number) else { panic!() };
    assert_eq!(log.ledger.approve(&stamp(710, "ann"), held, approving).unwrap_err().code(), "unauthorized_link");
    let Ok(Judged::Held(held)) = log.ledger.judged(number) else { panic!() };
    assert_eq!(log.ledger.reject(&stamp(710, "ann"), held, None, None).unwrap_err().code(), "unauthorized_link");
    let Ok(Judged::Held(held)) = log.ledger.judged(number) else { panic!() };
    let (receipt, entries) = log.ledger.approve_late(&stamp(720, "host"), held, of("ann"), ran(720)).unwrap();
    log.records.extend(entries.map(|entry| entry.record));
    let outcome = log.ledger.record_outcome(&stamp(730, "host"), receipt, of("outcome"), None).unwrap();
    let _ = log.keep(outcome);
    assert_eq!(log.report().status, Status::Valid);
    assert_eq!(log.ledger.judged(number).unwrap_err().code(), "consumed");
    // What a person has denied stays denied.
    let mut log = Log::begin(Rules::ANY);
    let held = log.held(100);
    let number = held.link().sequence;
    log.ledger.reject(&stamp(110, "ann"), held, Some(of("ann")), None).unwrap();
    assert_eq!(log.ledger.judged(number).unwrap_err().code(), "consumed");
}
