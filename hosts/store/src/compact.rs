//! Letting old records go: the state that they led to stays.

use crate::error::StoreError;
use crate::file;
use crate::record::Stored;
use crate::replica::Replica;
use crate::store::{Store, checkpoint};
use crate::verify;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use serde::Serialize;
use std::fs;

/// What a compaction removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Compacted {
    /// The journal begins after this record from here on.
    pub base: u64,
    /// Removed records: `why` no longer explains them.
    pub removed_records: u64,
    /// Removed snapshots.
    pub removed_snapshots: u64,
    /// Bytes of the file before.
    pub bytes_before: u64,
    /// Bytes of the file after; the room is given back by a later compaction where other processes were at the file.
    pub bytes_after: u64,
}

impl Store {
    /// Keeps the last records, at least one, and the state that they continue; the rest goes, and the file shrinks.
    ///
    /// # Errors
    /// As [`Store::apply`](Store::apply) and [`Store::verify`]; nothing was removed then.
    pub fn compact(&mut self, keep_records: u64) -> Result<Compacted, StoreError> {
        self.check_writable()?;
        self.guarded(|store| {
            file::remove_leftovers(&store.path);
            let before = size(store);
            let mut compacted = cut(&store.connection, keep_records.max(1))?;
            store.forget();
            // What was cut is safe; only the room is given back here, and others may be at the file.
            if store.connection.execute_batch("VACUUM").is_ok() {
                let _ = checkpoint(&store.connection);
            }
            compacted.bytes_before = before;
            compacted.bytes_after = size(store);
            Ok(compacted)
        })
    }
}

/// Bytes of the file and its log.
pub(crate) fn size(store: &Store) -> u64 {
    ["", "-wal"].iter().fold(0, |sum, suffix| {
        let length = fs::metadata(crate::file::beside(&store.path, suffix)).map_or(0, |found| found.len());
        sum.saturating_add(length)
    })
}

fn cut(connection: &Connection, keep: u64) -> Result<Compacted, StoreError> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let mut replica = verify::base(&transaction)?;
    let before = replica.sequence;
    let last = transaction.query_row("SELECT max(sequence) FROM journal", [], |row| row.get::<_, Option<i64>>(0))?;
    let base = last.map_or(before, i64::cast_unsigned).saturating_sub(keep).max(before);
    advance(&transaction, &mut replica, base)?;
    let removed_records = transaction.execute("DELETE FROM journal WHERE sequence <= ?1", [base.cast_signed()])?;
    let removed_snapshots = transaction.execute("DELETE FROM snapshots WHERE sequence < ?1", [base.cast_signed()])?;
    if base > before {
        replica.write_snapshot(&transaction, &replica.kernel.snapshot())?;
    }
    transaction.commit()?;
    Ok(Compacted {
        base,
        removed_records: removed_records as u64,
        removed_snapshots: removed_snapshots as u64,
        bytes_before: 0,
        bytes_after: 0,
    })
}

/// Applies the records up to one.
fn advance(connection: &Connection, replica: &mut Replica, to: u64) -> Result<(), StoreError> {
    let columns = Stored::COLUMNS;
    let query = format!("SELECT {columns} FROM journal WHERE sequence > ?1 AND sequence <= ?2 ORDER BY sequence");
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([replica.sequence.cast_signed(), to.cast_signed()])?;
    while let Some(row) = rows.next()? {
        replica.follow(&Stored::read(row)?)?;
    }
    if replica.sequence == to {
        return Ok(());
    }
    Err(StoreError::corrupt(format!("record {} is missing", replica.sequence.saturating_add(1))))
}
