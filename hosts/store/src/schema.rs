//! The tables, and the steps from each version of them to the next.

use crate::error::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Tells a store from other SQLite files: "stGm".
pub(crate) const APPLICATION_ID: i32 = 0x7374_476d;

/// The version of the tables.
pub const SCHEMA_VERSION: u32 = STEPS.len() as u32;

/// What brings the tables from the version before to the next one.
type Step = fn(&Transaction<'_>) -> rusqlite::Result<()>;

/// The step at index n leads from version n to n + 1. A step that was released is never changed.
const STEPS: &[Step] = &[tables, ledger];

/// * `journal`: every applied command with its reply. `name` and `proposal_id` repeat what the command says, to be searched.
/// * `snapshots`: the first one is the state that the journal begins with, the others save time. `chain` is that of the record
///   with this sequence; `seal` covers the row without `bytes`, `digest` covers those.
/// * `meta`: small facts of the host.
/// * `incidents`: what must not be lost although it is no command.
fn tables(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "CREATE TABLE journal (
            sequence INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            version INTEGER NOT NULL,
            name TEXT NOT NULL,
            proposal_id TEXT,
            chain BLOB NOT NULL,
            command BLOB NOT NULL,
            reply BLOB NOT NULL
        ) STRICT;
        CREATE INDEX journal_proposal_id ON journal (proposal_id) WHERE proposal_id IS NOT NULL;
        CREATE TABLE snapshots (
            sequence INTEGER PRIMARY KEY,
            chain BLOB NOT NULL,
            digest BLOB NOT NULL,
            seal BLOB NOT NULL,
            bytes BLOB NOT NULL
        ) STRICT;
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE incidents (
            id INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            detail TEXT NOT NULL
        ) STRICT;",
    )
}

/// What belongs to the signed ledger, written in the transaction of its command.
///
/// * `ledger_events`: the records, by their numbers from 0, and their leaf hashes.
/// * `ledger_heads`: the signed heads, by how many events they sign for.
fn ledger(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "CREATE TABLE ledger_events (sequence INTEGER PRIMARY KEY, record BLOB NOT NULL, leaf BLOB NOT NULL) STRICT;
        CREATE TABLE ledger_heads (size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;",
    )
}

/// The version of the file's tables.
pub(crate) fn version(connection: &Connection) -> Result<u32, StoreError> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    u32::try_from(version).map_err(|_| StoreError::corrupt(format!("tables of version {version}")))
}

/// Checks that the tables are not of a later version. Returns whether they are of an earlier one.
pub(crate) fn is_older(connection: &Connection) -> Result<bool, StoreError> {
    let found = version(connection)?;
    if found > SCHEMA_VERSION {
        let what = "the store".to_string();
        return Err(StoreError::NewerVersion { what, found, supported: SCHEMA_VERSION });
    }
    Ok(found < SCHEMA_VERSION)
}

/// Brings the tables to the current version, in one transaction.
pub(crate) fn migrate(connection: &Connection) -> Result<(), StoreError> {
    run(connection, STEPS)
}

fn run(connection: &Connection, steps: &[Step]) -> Result<(), StoreError> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Under the lock: another process may have done it meanwhile.
    let from = version(&transaction)?;
    for step in steps.iter().skip(usize::try_from(from).unwrap_or(usize::MAX)) {
        step(&transaction)?;
    }
    if (from as usize) < steps.len() {
        transaction.pragma_update(None, "user_version", steps.len() as i64)?;
    }
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE_UP: &[Step] = &[
        |transaction| transaction.execute_batch("CREATE TABLE log (step TEXT); INSERT INTO log VALUES ('first')"),
        |transaction| transaction.execute_batch("INSERT INTO log VALUES ('second')"),
        |transaction| transaction.execute_batch("INSERT INTO log VALUES ('third')"),
    ];

    fn log(connection: &Connection) -> Vec<String> {
        let mut statement = connection.prepare("SELECT step FROM log ORDER BY rowid").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn steps_run_in_order_and_each_once() {
        let connection = Connection::open_in_memory().unwrap();
        run(&connection, &MADE_UP[..1]).unwrap();
        assert_eq!((log(&connection), version(&connection).unwrap()), (vec!["first".to_string()], 1));
        run(&connection, MADE_UP).unwrap();
        run(&connection, MADE_UP).unwrap();
        assert_eq!(log(&connection), ["first", "second", "third"]);
        assert_eq!(version(&connection).unwrap(), 3);
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_before() {
        let connection = Connection::open_in_memory().unwrap();
        run(&connection, &MADE_UP[..2]).unwrap();
        let failing: &[Step] = &[
            MADE_UP[0],
            MADE_UP[1],
            |transaction| transaction.execute_batch("INSERT INTO log VALUES ('third')"),
            |transaction| transaction.execute_batch("INSERT INTO nowhere VALUES (1)"),
        ];
        assert!(run(&connection, failing).is_err());
        assert_eq!((log(&connection).len(), version(&connection).unwrap()), (2, 2));
    }

    #[test]
    fn a_later_version_is_told() {
        let connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", i64::from(SCHEMA_VERSION) + 1).unwrap();
        let error = is_older(&connection).unwrap_err();
        assert_eq!(error.code(), "newer_version");
    }
}
