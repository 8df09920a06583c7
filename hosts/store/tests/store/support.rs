//! What the tests have in common.

use std::path::PathBuf;
use stigmergate_core::field::{Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::kernel::{Command, DepositRequest, Time};
use stigmergate_core::location::Location;
use stigmergate_core::proposal::Proposal;
use stigmergate_store::{Options, Store};
use tempfile::TempDir;

pub(crate) const AT: Time = 1_700_000_000_000;

/// A folder that is removed afterwards, and the path of a store in it.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.db");
    (folder, path)
}

pub(crate) fn open(path: &std::path::Path) -> Store {
    Store::open(path, &Options::default()).unwrap()
}

/// A store with some records.
pub(crate) fn filled(path: &std::path::Path, records: u64) -> Store {
    let mut store = open(path);
    for number in 0..records {
        store.apply(AT + number * 1000, numbered(number)).unwrap();
    }
    store
}

/// A command that differs with its number: most are proposals, some deposits.
pub(crate) fn numbered(number: u64) -> Command {
    if number % 5 == 4 { deposit(&format!("src/file{}.rs", number % 7), 1) } else { propose(&format!("p{number}")) }
}

pub(crate) fn propose(id: &str) -> Command {
    let mut proposal = Proposal::new(id, "claude/worker", "patch_file", Location::path("src/parser.rs"));
    proposal.rationale = "fix the off-by-one in the tokenizer".to_string();
    proposal.rollback_plan = Some("git revert the one commit on the branch".to_string());
    Command::Propose(Box::new(proposal))
}

pub(crate) fn deposit(path: &str, strength: i32) -> Command {
    Command::Deposit(DepositRequest {
        location: Location::path(path),
        signal: Signal::Failure,
        strength: Fixed::whole(strength),
        source: Source::Human,
        decay: None,
        trust_factor: None,
    })
}

/// A command that the kernel refuses.
pub(crate) fn refused() -> Command {
    deposit("src/parser.rs", -1)
}

/// A complete proposal, which is held where failures weigh on its place.
pub(crate) fn complete(id: &str) -> Command {
    let Command::Propose(mut proposal) = propose(id) else { unreachable!() };
    proposal.evidence = serde_json::json!({"test": "test_tokenizer"}).into();
    proposal.expected_outcome = Some("test_tokenizer passes".to_string());
    proposal.tests = Some(stigmergate_core::falsify::Texts::Text("pytest tests/test_tokenizer.py".to_string()));
    proposal.metrics = Some(stigmergate_core::falsify::Texts::Text("0 failing tests".to_string()));
    Command::Propose(proposal)
}

/// The file as another program opens it.
pub(crate) fn raw(path: &std::path::Path) -> rusqlite::Connection {
    rusqlite::Connection::open(path).unwrap()
}

/// Brings everything into the one file.
pub(crate) fn settle(path: &std::path::Path) {
    raw(path).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}
