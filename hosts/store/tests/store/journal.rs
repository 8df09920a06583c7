//! Records, incidents, compaction.

use crate::support::{AT, complete, deposit, filled, numbered, open, place, propose, refused};
use stigmergate_core::kernel::{Approve, Command, Deny, Feedback, Kernel};
use stigmergate_store::{Applied, Durability, Options, Order, Store, StoreError};

#[test]
fn a_command_that_errs_leaves_nothing() {
    let (_folder, path) = place();
    let mut store = filled(&path, 3);
    let before = store.with_current(Kernel::digest).unwrap();
    let error = store.apply(AT, refused()).unwrap_err();
    assert_eq!((error.code(), matches!(error, StoreError::Core(_))), ("value", true));
    let error = store.apply_all(AT, vec![propose("p9"), refused()]).unwrap_err();
    assert_eq!(error.code(), "value");
    assert_eq!(store.with_current(Kernel::digest).unwrap(), before);
    assert_eq!(open(&path).with_current(Kernel::digest).unwrap(), before);
    assert_eq!(store.last_sequence().unwrap(), 3);
    assert_eq!(store.apply(AT, propose("p9")).unwrap().sequence, 4);
}

#[test]
fn a_decision_sees_the_current_state_and_keeps_nothing_when_it_errs() {
    let (_folder, path) = place();
    let mut first = filled(&path, 2);
    let mut second = open(&path);
    second.apply(AT, deposit("src/other.rs", 3)).unwrap();
    let (applied, traces) = first
        .decide::<_, StoreError>(AT, |kernel| Ok((vec![propose("p7"), Command::Advance], kernel.at(AT).field().traces)))
        .unwrap();
    assert_eq!(applied.iter().map(|Applied { sequence, .. }| *sequence).collect::<Vec<_>>(), [4, 5]);
    assert!(traces > 0);
    let refused: Result<(Vec<Applied>, ()), StoreError> = first.decide(AT, |_| Err(StoreError::DiskFull));
    assert_eq!(refused.unwrap_err(), StoreError::DiskFull);
    assert_eq!(second.with_current(Kernel::digest).unwrap(), first.with_current(Kernel::digest).unwrap());
}

#[test]
fn records_come_in_either_order_and_by_proposal() {
    let (_folder, path) = place();
    let mut store = filled(&path, 150);
    let numbers = |records: stigmergate_store::Records<'_>| {
        records.map(|record| record.map(|record| record.sequence)).collect::<Result<Vec<_>, _>>().unwrap()
    };
    assert_eq!(numbers(store.records(.., Order::OldestFirst)), (1..=150).collect::<Vec<_>>());
    assert_eq!(numbers(store.records(.., Order::NewestFirst)), (1..=150).rev().collect::<Vec<_>>());
    assert_eq!(numbers(store.records(10..12, Order::NewestFirst)), [11, 10]);
    assert_eq!(numbers(store.records(149.., Order::OldestFirst)), [149, 150]);
    assert_eq!(numbers(store.records(..=64, Order::OldestFirst)).len(), 64);
    assert!(numbers(store.records(0..0, Order::OldestFirst)).is_empty());
    assert!(numbers(store.records(u64::MAX.., Order::NewestFirst)).is_empty());
    assert_eq!(store.record(151).unwrap(), None);
    assert_eq!(store.record(1).unwrap().unwrap().command, numbered(0));

    let deny = |id: &str| Deny {
        proposal_id: id.into(),
        by: "maria".into(),
        reason: String::new(),
        feedback: Feedback::default(),
    };
    let _ = store.apply(AT, Command::Deny(deny("p3")));
    let found = store.records_about("p3").unwrap();
    assert_eq!(found[0].command, propose("p3"));
    assert!(found.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
    assert!(store.records_about("nobody").unwrap().is_empty());
}

#[test]
fn every_command_about_a_proposal_is_found_by_its_id() {
    let (_folder, path) = place();
    let mut store = open(&path);
    store.apply_all(AT, vec![deposit("src/parser.rs", 5), deposit("src/parser.rs", 5), complete("held")]).unwrap();
    let approve = Approve {
        proposal_id: "held".into(),
        by: "maria".into(),
        digest: None,
        feedback: Feedback::default(),
        standing_seconds: None,
    };
    store.apply(AT, Command::Approve(approve)).unwrap();
    let names = store.records_about("held").unwrap().iter().map(|record| record.command.name()).collect::<Vec<_>>();
    assert_eq!(names, ["propose", "approve"]);
}

#[test]
fn any_time_is_kept_exactly() {
    let (_folder, path) = place();
    let mut store = open(&path);
    for at in [0, AT, u64::MAX, 1 << 63] {
        store.apply(at, Command::Advance).unwrap();
    }
    let times = store.records(.., Order::OldestFirst).map(|record| record.unwrap().at).collect::<Vec<_>>();
    assert_eq!(times, [0, AT, u64::MAX, 1 << 63]);
    assert_eq!(open(&path).verify().unwrap().records, 4);
}

#[test]
fn incidents_and_facts_outlive_the_process() {
    let (_folder, path) = place();
    let mut store = open(&path);
    store.note_incident(AT, "outcome_failed", "p1: the disk was full").unwrap();
    store.note_incident(AT + 1, "outcome_failed", "p2").unwrap();
    store.set_meta("policy_files", "abc").unwrap();
    store.set_meta("policy_files", "def").unwrap();
    let store = open(&path);
    assert_eq!(store.incident_count().unwrap(), 2);
    let last = &store.incidents(1).unwrap()[0];
    assert_eq!((last.id, last.at, last.detail.as_str()), (2, AT + 1, "p2"));
    assert_eq!(store.meta("policy_files").unwrap().as_deref(), Some("def"));
    assert_eq!(store.meta("other").unwrap(), None);
}

#[test]
fn snapshots_change_nothing_but_the_time_to_open() {
    let digests = [Some(1), Some(3), None, Some(u32::MAX)].map(|snapshot_every| {
        let (_folder, path) = place();
        let options = Options { snapshot_every, ..Options::default() };
        for number in 0..60 {
            Store::open(&path, &options).unwrap().apply(AT + number, numbered(number)).unwrap();
        }
        let verified = open(&path).verify().unwrap();
        assert!(verified.snapshots <= 3, "the first and the last two, not {}", verified.snapshots);
        assert_eq!(open(&path).with_current(Kernel::digest).unwrap(), verified.digest);
        verified.digest
    });
    assert!(digests.iter().all(|digest| *digest == digests[0]));
}

#[test]
fn durability_changes_nothing_but_what_is_survived() {
    let digests = [Durability::Process, Durability::Power].map(|durability| {
        let (_folder, path) = place();
        let mut store = Store::open(&path, &Options { durability, ..Options::default() }).unwrap();
        let applied = store.apply_all(AT, (0..20).map(numbered).collect()).unwrap();
        assert_eq!(applied.len(), 20);
        store.verify().unwrap().digest
    });
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn a_compaction_keeps_the_state_and_the_last_records() {
    let (_folder, path) = place();
    let mut store = filled(&path, 400);
    let mut other = open(&path);
    let before = other.with_current(Kernel::digest).unwrap();
    let compacted = store.compact(10).unwrap();
    assert_eq!((compacted.base, compacted.removed_records), (390, 390));
    assert!(compacted.bytes_after < compacted.bytes_before, "{compacted:?}");
    assert_eq!(store.with_current(Kernel::digest).unwrap(), before);
    let verified = store.verify().unwrap();
    assert_eq!((verified.base, verified.records, verified.digest), (390, 10, before));
    assert_eq!(store.record(390).unwrap(), None);
    assert_eq!(store.record(391).unwrap().unwrap().command, numbered(390));
    // A process that was there before goes on, and so does the numbering.
    assert_eq!(other.apply(AT, propose("after")).unwrap().sequence, 401);
    assert_eq!(store.compact(0).unwrap().base, 400);
    assert_eq!(open(&path).verify().unwrap().records, 1);
    assert_eq!(store.compact(1000).unwrap().removed_records, 0);
}

#[test]
fn a_process_that_lags_behind_a_compaction_loads_anew() {
    let (_folder, path) = place();
    let mut lagging = filled(&path, 5);
    let mut store = open(&path);
    for number in 5..50 {
        store.apply(AT, numbered(number)).unwrap();
    }
    store.compact(3).unwrap();
    assert_eq!(lagging.with_current(Kernel::digest).unwrap(), store.with_current(Kernel::digest).unwrap());
    assert_eq!(lagging.apply(AT, propose("late")).unwrap().sequence, 51);
    assert_eq!(store.verify().unwrap().records, 4);
}

#[test]
fn a_location_that_ends_in_separators_is_applied_as_it_is_journalled() {
    let (_folder, path) = place();
    let mut store = open(&path);
    store.apply(AT, deposit("src///", 3)).unwrap();
    let live = store.with_current(Kernel::digest).unwrap();
    assert_eq!(open(&path).with_current(Kernel::digest).unwrap(), live);
    assert_eq!(store.verify().unwrap().digest, live);
}
