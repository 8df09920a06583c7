//! The signed ledger in the file: written with its command or not at all, and every tampering of the file seen.

use crate::support::{AT, complete, place, propose, raw};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::time::Duration;
use stigmergate_core::attest::checkpoint::Checkpoint;
use stigmergate_core::attest::note::Note;
use stigmergate_core::attest::signer::{Ed25519Verifier, Verifier};
use stigmergate_core::attest::verify::{Report, Status};
use stigmergate_core::digest::Digest;
use stigmergate_core::kernel::{Authorize, BeginLedger, Command, Kernel, Receive, Reply};
use stigmergate_core::policy::{AttestMode, Policy, Preset};
use stigmergate_store::{KeyFolder, Keys as _, Options, Store, StoreError};

pub(crate) const ORIGIN: &str = "example.com/colony";

pub(crate) fn keys(path: &Path) -> KeyFolder {
    KeyFolder::new(path.parent().unwrap().join("keys"))
}

pub(crate) fn options(path: &Path) -> Options {
    let mut policy = Policy::preset(Preset::Standard);
    policy.attest.mode = AttestMode::Optional;
    Options {
        initial_policy: Some(policy),
        keys: Some(Arc::new(keys(path))),
        busy_timeout: Duration::from_secs(60),
        ..Options::default()
    }
}

/// A store with a ledger that has some proposals.
pub(crate) fn begun(path: &Path, proposals: u64) -> Store {
    let key = keys(path).create(ORIGIN).unwrap();
    let mut store = Store::open(path, &options(path)).unwrap();
    store.apply(AT, Command::BeginLedger(BeginLedger { origin: ORIGIN.into(), key })).unwrap();
    for number in 0..proposals {
        store.apply(AT + number, propose(&format!("p{number}"))).unwrap();
    }
    store
}

fn verify_against(path: &Path, kept: Option<&Checkpoint>) -> Report {
    let files = keys(path).list().unwrap();
    let verifiers: Vec<_> = files.iter().map(|file| Ed25519Verifier::new(&file.key).unwrap()).collect();
    let verifiers: Vec<&dyn Verifier> = verifiers.iter().map(|verifier| verifier as &dyn Verifier).collect();
    Store::open_existing(path, &options(path)).unwrap().verify_ledger(&verifiers, kept).unwrap()
}

pub(crate) fn verify(path: &Path) -> Report {
    verify_against(path, None)
}

fn head(store: &Store) -> Checkpoint {
    let note = Note::parse(&store.ledger_head().unwrap().unwrap()).unwrap();
    Checkpoint::parse(note.text()).unwrap()
}

/// The status after statements that another program runs on the file.
fn tampered(sql: &str) -> (Status, Option<u64>) {
    let (_folder, path) = place();
    drop(begun(&path, 4));
    raw(&path).execute_batch(sql).unwrap();
    let report = verify(&path);
    let store = Store::open_existing(&path, &options(&path)).unwrap();
    let sound = matches!(report.status, Status::Valid | Status::Empty | Status::IncompleteExecution);
    assert_eq!(store.verify().is_ok(), sound, "the store's own verification agrees: {sql}");
    (report.status, report.last_valid)
}

#[test]
fn events_and_their_head_are_in_the_file_with_their_command() {
    let (_folder, path) = place();
    let mut store = begun(&path, 3);
    let size = store.with_current(|kernel| kernel.ledger().unwrap().size()).unwrap();
    assert_eq!(size, 7, "a key, then a proposal and a verdict each");
    assert_eq!((head(&store).size, verify(&path).status), (size, Status::Valid));
    let heads: i64 = raw(&path).query_row("SELECT count(*) FROM ledger_heads", [], |row| row.get(0)).unwrap();
    assert_eq!(heads, 4, "one head a command");
    assert_eq!(store.verify().unwrap().records, 4);
}

#[test]
fn a_store_without_a_ledger_is_empty() {
    let (_folder, path) = place();
    Store::open(&path, &options(&path)).unwrap().apply(AT, propose("p1")).unwrap();
    assert_eq!(verify(&path).status, Status::Empty);
}

#[test]
fn without_its_key_nothing_is_applied() {
    let (_folder, path) = place();
    let store = begun(&path, 1);
    let (before, size) = (store.last_sequence().unwrap(), head(&store).size);
    drop(store);
    let file = keys(&path).list().unwrap().remove(0);
    let kept = std::fs::read(&file.path).unwrap();
    let refused = |code: &str| {
        let mut store = Store::open_existing(&path, &options(&path)).unwrap();
        let error = store.apply(AT + 9, propose("later")).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert_eq!((store.last_sequence().unwrap(), head(&store).size), (before, size));
        assert!(store.with_current(|kernel| kernel.at(AT + 9).proposal("later").is_none()).unwrap());
    };
    std::fs::remove_file(&file.path).unwrap();
    refused("ledger_key_missing");
    // Another key under this one's name.
    let other = keys(&path).create(ORIGIN).unwrap();
    std::fs::rename(keys(&path).path().join(format!("{}.key", other.id())), &file.path).unwrap();
    refused("ledger_key_unusable");
    std::fs::write(&file.path, &kept[..40]).unwrap();
    refused("ledger_key_unusable");
    std::fs::write(&file.path, &kept).unwrap();
    let mut store = Store::open_existing(&path, &options(&path)).unwrap();
    store.apply(AT + 9, propose("later")).unwrap();
    assert_eq!(verify(&path).status, Status::Valid);
}

#[cfg(unix)]
#[test]
fn key_files_are_their_owners_alone_and_never_written_over() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = place();
    let folder = keys(&path);
    let key = folder.create(ORIGIN).unwrap();
    let file = folder.list().unwrap().remove(0).path;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(folder.path()), mode(&file)), (0o700, 0o600));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    let secret = std::fs::read_to_string(&file).unwrap();
    let secret = secret.trim().splitn(5, '+').last().unwrap();
    let shown = format!("{:?} {key} {key:?}", folder.list().unwrap());
    assert!(!shown.contains(secret));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(folder.signer(&key), Err(StoreError::KeyUnusable { .. })), "others may read it");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    folder.retire(&key).unwrap();
    folder.retire(&key).unwrap();
    assert!(folder.list().unwrap()[0].is_retired);
    assert!(matches!(folder.signer(&key), Err(StoreError::KeyMissing { .. })));
}

#[test]
fn every_tampering_of_the_file_has_its_status() {
    let flip = |at: &str| {
        format!(
            "UPDATE ledger_events SET record = CAST(replace(CAST(record AS TEXT), '\"at\":17', '\"at\":{at}') AS BLOB)
             WHERE sequence = 5"
        )
    };
    assert_eq!(tampered(""), (Status::Valid, Some(8)));
    assert_eq!(tampered(&flip("16")).0, Status::BadHash, "a byte of a record");
    assert_eq!(tampered("UPDATE ledger_events SET leaf = zeroblob(32) WHERE sequence = 5").0, Status::BadHash);
    assert_eq!(tampered("DELETE FROM ledger_events WHERE sequence = 5"), (Status::SequenceGap, Some(4)));
    let swap = "UPDATE ledger_events SET sequence = -1 WHERE sequence = 4;
                UPDATE ledger_events SET sequence = 4 WHERE sequence = 5;
                UPDATE ledger_events SET sequence = 5 WHERE sequence = -1";
    assert_eq!(tampered(swap), (Status::SequenceGap, Some(3)));
    let repeat = "INSERT INTO ledger_events SELECT 9, record, leaf FROM ledger_events WHERE sequence = 8";
    assert_eq!(tampered(repeat), (Status::Duplicate, Some(8)));
    let other = "UPDATE ledger_events
                 SET record = CAST(replace(CAST(record AS TEXT), 'example.com/colony', 'example.com/others') AS BLOB)
                 WHERE sequence = 5";
    assert_eq!(tampered(other), (Status::Replay, Some(4)));
    let forged = "UPDATE ledger_heads SET note = (SELECT note FROM ledger_heads WHERE size = 7) WHERE size = 9";
    assert_eq!(tampered(forged).0, Status::BadHash);
    let unsigned = "DELETE FROM ledger_heads WHERE size = 9";
    assert_eq!(tampered(unsigned), (Status::BadSignature, Some(6)));
    assert_eq!(tampered("DELETE FROM ledger_events WHERE sequence > 6").0, Status::SequenceGap);
    let cut = "DELETE FROM ledger_events WHERE sequence > 6; DELETE FROM ledger_heads WHERE size > 7";
    assert_eq!(tampered(cut), (Status::Inconsistent, Some(6)), "the store's state knows the ledger's head");
    assert_eq!(tampered("DELETE FROM ledger_events; DELETE FROM ledger_heads").0, Status::Inconsistent);
}

#[test]
fn each_flipped_byte_of_the_records_and_heads_is_seen() {
    let (_folder, path) = place();
    let store = begun(&path, 1);
    let verifier = Ed25519Verifier::new(&keys(&path).list().unwrap()[0].key).unwrap();
    let connection = raw(&path);
    // Thousands of changes, none of which has to outlive the machine.
    connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
    for (table, column, key) in [("ledger_events", "record", "sequence"), ("ledger_heads", "note", "size")] {
        let query = format!("SELECT {key}, CAST({column} AS BLOB) FROM {table}");
        let mut statement = connection.prepare(&query).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))).unwrap();
        let rows: Vec<_> = rows.collect::<Result<_, _>>().unwrap();
        let kind = if column == "note" { "TEXT" } else { "BLOB" };
        let update = format!("UPDATE {table} SET {column} = CAST(?2 AS {kind}) WHERE {key} = ?1");
        for (number, bytes) in rows {
            for place in 0..bytes.len() {
                let mut flipped = bytes.clone();
                flipped[place] ^= 1;
                connection.execute(&update, (number, &flipped)).unwrap();
                let status = store.verify_ledger(&[&verifier], None).unwrap().status;
                let passes = matches!(status, Status::Valid | Status::Empty | Status::IncompleteExecution);
                assert!(!passes, "{table} {number}, byte {place}: {status:?}");
            }
            connection.execute(&update, (number, &bytes)).unwrap();
        }
    }
    assert_eq!(verify(&path).status, Status::Valid);
}

#[test]
fn a_kept_head_shows_a_cut_and_a_rewritten_past() {
    let (_folder, path) = place();
    let mut store = begun(&path, 2);
    let early = head(&store);
    store.apply(AT + 50, propose("later")).unwrap();
    let late = head(&store);
    drop(store);
    assert_eq!(verify_against(&path, Some(&early)).status, Status::Valid);
    // Another past under the same key.
    let (_other, elsewhere) = place();
    std::fs::create_dir(keys(&elsewhere).path()).unwrap();
    let file = keys(&path).list().unwrap().remove(0);
    let copy = keys(&elsewhere).path().join(file.path.file_name().unwrap());
    std::fs::copy(&file.path, &copy).unwrap();
    let mut store = Store::open(&elsewhere, &options(&elsewhere)).unwrap();
    store.apply(AT, Command::BeginLedger(BeginLedger { origin: ORIGIN.into(), key: file.key })).unwrap();
    assert_eq!(verify_against(&elsewhere, Some(&early)).status, Status::Inconsistent, "it is shorter");
    for number in 0..4 {
        store.apply(AT + 1 + number, propose(&format!("q{number}"))).unwrap();
    }
    assert_eq!(verify(&elsewhere).status, Status::Valid, "alone, nothing is wrong with it");
    assert_eq!(verify_against(&elsewhere, Some(&late)).status, Status::Inconsistent);
}

#[test]
fn compaction_export_import_and_repair_keep_the_ledger() {
    let (folder, path) = place();
    let mut store = begun(&path, 6);
    let kept = head(&store);
    store.compact(2).unwrap();
    assert_eq!(verify_against(&path, Some(&kept)).status, Status::Valid);
    let mut lines = Vec::new();
    store.export(&mut lines).unwrap();
    let elsewhere = folder.path().join("other.db");
    Store::import(&elsewhere, &mut lines.as_slice(), &options(&path)).unwrap();
    assert_eq!(verify_against(&elsewhere, Some(&kept)).status, Status::Valid);
    let text = String::from_utf8(lines).unwrap();
    let forged = text.replacen("\\\"kind\\\":\\\"proposal\\\"", "\\\"kind\\\":\\\"proposel\\\"", 1);
    assert_ne!(forged, text);
    let error = Store::import(&folder.path().join("third.db"), &mut forged.as_bytes(), &options(&path)).unwrap_err();
    assert_eq!(error.code(), "import", "{error}");
    drop(store);
    // The last record is lost: its events go with it, and what is left is signed for.
    raw(&path)
        .execute_batch(
            "UPDATE journal SET chain = zeroblob(16) WHERE sequence = 7; DELETE FROM snapshots WHERE sequence >= 7",
        )
        .unwrap();
    let repaired = Store::repair(&path, AT + 99, &options(&path)).unwrap();
    assert!(repaired.moved_aside.is_some());
    assert_eq!(verify(&path).status, Status::Valid);
    assert_eq!(verify_against(&path, Some(&kept)).status, Status::Inconsistent, "a kept head shows the loss");
}

/// Applies proposals until it is killed, or uses an authorization.
#[test]
#[ignore = "run by the tests after it"]
fn child_that_attests() {
    let Some(path) = std::env::var_os("STORE") else { return };
    let path = Path::new(&path);
    let mut store = Store::open_existing(path, &options(path)).unwrap();
    if let Ok(number) = std::env::var("AUTHORIZATION") {
        let arguments: Digest = serde_json::from_str(&std::env::var("ARGUMENTS").unwrap()).unwrap();
        let receive = Receive {
            authorization: number.parse().unwrap(),
            actor: "claude/worker".into(),
            arguments,
            receipt: Digest::of("result", &std::process::id().to_le_bytes()),
            started: None,
            claim: None,
        };
        match store.apply(AT + 20, Command::Receive(receive)) {
            Ok(_) => std::process::exit(0),
            Err(error) => std::process::exit(if error.code() == "consumed" { 7 } else { 8 }),
        }
    }
    for number in 0_u64.. {
        store.apply(AT + number, propose(&format!("{}-{number}", std::process::id()))).unwrap();
    }
}

fn child(path: &Path) -> Process {
    let mut process = Process::new(std::env::current_exe().unwrap());
    process.args(["--exact", "ledger::child_that_attests", "--ignored", "--nocapture"]);
    process.env("STORE", path).stdout(Stdio::null()).stderr(Stdio::null());
    process
}

#[test]
fn writers_that_are_killed_leave_command_events_and_head_or_none_of_them() {
    let (_folder, path) = place();
    drop(begun(&path, 1));
    for round in 0..6_u64 {
        let mut children: Vec<_> = (0..2).map(|_| child(&path).spawn().unwrap()).collect();
        for (number, child) in children.iter_mut().enumerate() {
            std::thread::sleep(Duration::from_millis(40 + (round * 37 + number as u64 * 11) % 90));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(verify(&path).status, Status::Valid);
        Store::open_existing(&path, &options(&path)).unwrap().verify().unwrap();
    }
    assert!(verify(&path).records > 10);
}

#[test]
fn of_processes_at_once_one_uses_an_authorization() {
    let (_folder, path) = place();
    let mut store = begun(&path, 0);
    store.apply(AT, complete("p1")).unwrap();
    let authorize = Command::Authorize(Authorize { proposal_id: "p1".into(), ttl_ms: None });
    let Reply::Authorized(reply) = store.apply(AT + 1, authorize).unwrap().reply else { panic!() };
    drop(store);
    let arguments = serde_json::to_string(&reply.arguments).unwrap();
    let spawn = || {
        let mut process = child(&path);
        process.env("AUTHORIZATION", reply.sequence.to_string()).env("ARGUMENTS", &arguments);
        process.spawn().unwrap()
    };
    let children: Vec<_> = (0..6).map(|_| spawn()).collect();
    let mut codes: Vec<_> = children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 7, 7, 7, 7, 7]);
    let report = verify(&path);
    assert_eq!((report.status, report.incomplete), (Status::IncompleteExecution, 1));
    assert!(Store::open_existing(&path, &options(&path)).unwrap().with_current(Kernel::digest).is_ok());
}
