//! Torn and corrupt files: a clear error or intact data, and what repair keeps.

use crate::support::{AT, filled, numbered, open, place, propose, raw, settle};
use std::fs;
use std::path::Path;
use stigmergate_core::digest::Digest;
use stigmergate_core::kernel::Kernel;
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_store::{Options, Order, Record, Store, StoreError};

fn records(store: &Store) -> Result<Vec<Record>, StoreError> {
    store.records(.., Order::OldestFirst).collect()
}

/// The state after each number of records.
fn states(records: &[Record]) -> Vec<Digest> {
    let mut kernel = Kernel::new(Policy::preset(Preset::Standard)).unwrap();
    let mut states = vec![kernel.digest()];
    for record in records {
        kernel.apply(record.at, record.command.clone()).unwrap();
        states.push(kernel.digest());
    }
    states
}

/// Uses and repairs a damaged copy: it has to be intact as far as it goes, or tell.
fn survives(path: &Path, all: &[Record], states: &[Digest], what: &str) {
    let damaged = fs::read(path).unwrap();
    let fine = ["corrupt", "not_a_store", "newer_version", "io", "diverged", "read_only"];
    match Store::open_existing(path, &Options::default()) {
        Err(error) => assert!(fine.contains(&error.code()), "{what}: {error}"),
        Ok(mut store) => {
            match store.with_current(Kernel::digest) {
                Ok(digest) => assert!(states.contains(&digest), "{what}: a state that never was"),
                Err(error) => assert!(fine.contains(&error.code()), "{what}: {error}"),
            }
            if let Ok(verified) = store.verify() {
                assert_eq!(verified.digest, states[verified.records as usize], "{what}");
                assert!(store.check().is_ok(), "{what}: the quick look is not stricter than the whole one");
            }
            let _ = (
                records(&store),
                store.records_about("p3"),
                store.incidents(5),
                store.meta("a"),
                store.last_sequence(),
            );
        }
    }
    match Store::repair(path, AT, &Options::default()) {
        Err(error) => assert!(fine.contains(&error.code()), "{what}: {error}"),
        Ok(repaired) => {
            let mut store = open(path);
            let verified = store.verify().unwrap();
            assert_eq!((verified.base, verified.records), (repaired.base, repaired.kept_records), "{what}");
            let end = repaired.base + repaired.kept_records;
            assert_eq!(verified.digest, states[end as usize], "{what}");
            assert_eq!(records(&store).unwrap(), &all[repaired.base as usize..end as usize], "{what}");
            store.apply(AT, propose("goes on")).unwrap();
            if let Some(aside) = repaired.moved_aside {
                assert_eq!(fs::read(aside).unwrap().len(), damaged.len(), "{what}");
                assert_eq!(store.incidents(1).unwrap()[0].kind, "repaired");
            }
        }
    }
}

/// Numbers that look random and are the same in every run.
fn numbers(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    })
}

#[test]
fn a_file_cut_off_anywhere_is_intact_or_told_and_repaired() {
    let (folder, path) = place();
    let store = filled(&path, 120);
    let all = records(&store).unwrap();
    let states = states(&all);
    settle(&path);
    let bytes = fs::read(&path).unwrap();
    for (number, offset) in [0, 1, 99, 100, 4095, 4096, 8192].into_iter().chain(numbers(1).take(25)).enumerate() {
        let copy = folder.path().join(format!("cut{number}.db"));
        let length = offset % bytes.len();
        fs::write(&copy, &bytes[..length]).unwrap();
        survives(&copy, &all, &states, &format!("cut at {length}"));
    }
}

#[test]
fn a_file_with_flipped_bytes_is_intact_or_told_and_repaired() {
    let (folder, path) = place();
    let store = filled(&path, 120);
    let all = records(&store).unwrap();
    let states = states(&all);
    settle(&path);
    let bytes = fs::read(&path).unwrap();
    let mut random = numbers(2);
    for number in 0..40 {
        let copy = folder.path().join(format!("flip{number}.db"));
        let mut flipped = bytes.clone();
        for _ in 0..=number % 4 {
            let offset = random.next().unwrap() % flipped.len();
            flipped[offset] ^= 1 << (random.next().unwrap() % 8);
        }
        fs::write(&copy, &flipped).unwrap();
        survives(&copy, &all, &states, &format!("flip {number}"));
    }
}

#[test]
fn a_torn_or_flipped_log_is_intact_or_told_and_repaired() {
    let (folder, path) = place();
    let store = Store::open(&path, &Options::default()).unwrap();
    drop(store);
    let store = filled(&path, 30);
    let all = records(&store).unwrap();
    let states = states(&all);
    let (bytes, log) = (fs::read(&path).unwrap(), fs::read(path.with_extension("db-wal")).unwrap());
    assert!(log.len() > 20_000);
    for (number, offset) in numbers(3).take(24).enumerate() {
        let copy = folder.path().join(format!("log{number}.db"));
        let mut damaged = log.clone();
        let offset = offset % damaged.len();
        if number % 2 == 0 {
            damaged.truncate(offset);
        } else {
            damaged[offset] ^= 4;
        }
        fs::write(&copy, &bytes).unwrap();
        fs::write(copy.with_extension("db-wal"), &damaged).unwrap();
        survives(&copy, &all, &states, &format!("log {number} at {offset}"));
    }
}

#[test]
fn a_changed_record_is_found_and_those_before_it_are_kept() {
    let (_folder, path) = place();
    let all = records(&filled(&path, 9)).unwrap();
    for column in ["command", "reply", "chain"] {
        let (_folder, path) = place();
        filled(&path, 9);
        let query = format!("UPDATE journal SET {column} = zeroblob(length({column})) WHERE sequence = 7");
        raw(&path).execute(&query, []).unwrap();
        let error = open(&path).verify().unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { intact_records: 6, .. }), "{column}: {error:?}");
        let repaired = Store::repair(&path, AT, &Options::default()).unwrap();
        assert_eq!((repaired.base, repaired.kept_records, repaired.dropped), (0, 6, 3), "{column}");
        assert_eq!(records(&open(&path)).unwrap(), all[..6]);
    }
}

#[test]
fn a_record_under_another_name_is_found() {
    let (_folder, path) = place();
    filled(&path, 3);
    raw(&path).execute("UPDATE journal SET proposal_id = 'p77' WHERE sequence = 2", []).unwrap();
    assert_eq!(open(&path).verify().unwrap_err().code(), "corrupt");
    Store::repair(&path, AT, &Options::default()).unwrap();
    assert_eq!(open(&path).records_about("p1").unwrap().len(), 1);
}

#[test]
fn a_missing_record_is_found() {
    let (_folder, path) = place();
    filled(&path, 9);
    raw(&path).execute("DELETE FROM journal WHERE sequence = 4", []).unwrap();
    let error = open(&path).with_current(|_| ()).unwrap_err();
    assert!(
        matches!(&error, StoreError::Corrupt { intact_records: 3, detail } if detail.contains("record 4")),
        "{error}"
    );
    assert_eq!(open(&path).apply(AT, propose("p")).unwrap_err().code(), "corrupt");
}

#[test]
fn a_damaged_snapshot_is_told_once_and_an_earlier_one_serves() {
    let (_folder, path) = place();
    let live = filled(&path, 100).with_current(Kernel::digest).unwrap();
    let newest = "(SELECT max(sequence) FROM snapshots)";
    raw(&path).execute(&format!("UPDATE snapshots SET bytes = zeroblob(9) WHERE sequence = {newest}"), []).unwrap();
    assert_eq!(open(&path).verify().unwrap_err().code(), "corrupt");
    let mut store = open(&path);
    assert_eq!(store.with_current(Kernel::digest).unwrap(), live);
    store.apply(AT, propose("p")).unwrap();
    store.apply(AT, propose("q")).unwrap();
    assert_eq!(
        store.incidents(9).unwrap().iter().map(|one| one.kind.as_str()).collect::<Vec<_>>(),
        ["damaged_snapshot"]
    );
    assert_eq!(open(&path).verify().unwrap().records, 102);
}

#[test]
fn a_repair_keeps_the_latest_state_even_where_older_records_are_lost() {
    let (_folder, path) = place();
    let live = filled(&path, 100).with_current(Kernel::digest).unwrap();
    raw(&path).execute("DELETE FROM journal WHERE sequence = 5", []).unwrap();
    let repaired = Store::repair(&path, AT, &Options::default()).unwrap();
    assert_eq!((repaired.digest, repaired.base + repaired.kept_records), (live, 100));
    assert_eq!(repaired.dropped, 100 - repaired.kept_records);
    assert_eq!(open(&path).verify().unwrap().digest, live);
}

#[test]
fn a_repair_without_any_snapshot_begins_with_the_initial_policy() {
    let (_folder, path) = place();
    let live = filled(&path, 20).with_current(Kernel::digest).unwrap();
    raw(&path).execute("DELETE FROM snapshots", []).unwrap();
    let other = Options { initial_policy: Some(Policy::preset(Preset::Reference)), ..Options::default() };
    let before = fs::read(&path).unwrap();
    assert_eq!(Store::repair(&path, AT, &other).unwrap_err().code(), "corrupt");
    assert_eq!(fs::read(&path).unwrap(), before, "what cannot be repaired is left as it is");
    let repaired = Store::repair(&path, AT, &Options::default()).unwrap();
    assert_eq!((repaired.kept_records, repaired.digest), (20, live));
}

#[test]
fn a_repair_of_a_whole_store_changes_nothing() {
    let (_folder, path) = place();
    let live = filled(&path, 20).with_current(Kernel::digest).unwrap();
    let repaired = Store::repair(&path, AT, &Options::default()).unwrap();
    assert_eq!((repaired.moved_aside, repaired.kept_records, repaired.digest), (None, 20, live));
    assert_eq!(open(&path).apply(AT, numbered(20)).unwrap().sequence, 21);
}

#[test]
fn a_repair_keeps_incidents_and_facts() {
    let (_folder, path) = place();
    let mut store = filled(&path, 9);
    store.note_incident(AT, "outcome_failed", "p1").unwrap();
    store.set_meta("key", "value").unwrap();
    drop(store);
    raw(&path).execute("DELETE FROM journal WHERE sequence = 4", []).unwrap();
    Store::repair(&path, AT, &Options::default()).unwrap();
    let store = open(&path);
    assert_eq!(store.meta("key").unwrap().as_deref(), Some("value"));
    let kinds = store.incidents(9).unwrap().into_iter().map(|one| one.kind).collect::<Vec<_>>();
    assert_eq!(kinds, ["repaired", "outcome_failed"]);
}
