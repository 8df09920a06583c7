//! The whole journal once more, and compared.

use crate::error::StoreError;
use crate::ledger;
use crate::record::{Stored, proposal_id, to_binary};
use crate::replica::{Replica, SELECT_SNAPSHOT, digest_of, read_snapshot};
use crate::seen;
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use serde::Serialize;
use std::collections::BTreeMap;
use stigmergate_core::digest::Digest;

/// What a whole replay found, where nothing was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The journal begins after this record: 0, or more after a compaction.
    pub base: u64,
    /// The records that were applied again.
    pub records: u64,
    /// The snapshots that were compared, the first one included.
    pub snapshots: u64,
    /// The digest of the state that they lead to.
    pub digest: Digest,
}

impl Store {
    /// Applies every record again, from the state that the journal begins with, and compares every reply, every snapshot, the signed
    /// ledger and the file's own structure. It reads one record at a time.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for what is not as it was written, [`StoreError::Diverged`] for a record that this build answers
    /// otherwise; [`StoreError::NewerVersion`], [`StoreError::Busy`], [`StoreError::Io`].
    pub fn verify(&self) -> Result<Verified, StoreError> {
        self.asked(|connection| {
            let known = seen::read(&self.path);
            // One state of the file, whatever others append meanwhile.
            let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
            let verified = replay(&transaction)?;
            seen::check(known, verified.base.saturating_add(verified.records))?;
            check_structure(&transaction)?;
            transaction.commit()?;
            Ok(verified)
        })
    }
}

impl Store {
    /// Looks whether the file's structure is whole, without applying anything: in time by the file's size, not by what is in it.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]; [`StoreError::Busy`], [`StoreError::Io`].
    pub fn check(&self) -> Result<(), StoreError> {
        self.asked(|connection| structure_by(connection, "PRAGMA quick_check(1)"))
    }
}

/// What is in a store, by count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Bytes of the file and of its log.
    pub bytes: u64,
    /// Records in the journal.
    pub records: u64,
    /// The number of the first of them; 0 where there is none.
    pub first: u64,
    /// The number of the last of them; 0 where there is none.
    pub last: u64,
    /// Snapshots, the one that the journal begins with included.
    pub snapshots: u64,
    /// Incidents.
    pub incidents: u64,
    /// The version of the tables.
    pub schema: u32,
    /// The version of a record's form.
    pub record_version: u32,
}

impl Store {
    /// What is in the store. Nothing is applied, and only the structure that is met on the way is checked.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], [`StoreError::Busy`], [`StoreError::Io`].
    pub fn summary(&self) -> Result<Summary, StoreError> {
        self.asked(|connection| {
            let query = "SELECT (SELECT count(*) FROM journal), (SELECT coalesce(min(sequence), 0) FROM journal),
                 (SELECT coalesce(max(sequence), 0) FROM journal), (SELECT count(*) FROM snapshots), (SELECT count(*) FROM incidents)";
            let counts = connection.query_row(query, [], |row| {
                Ok([row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])
            })?;
            let [records, first, last, snapshots, incidents] = counts.map(i64::cast_unsigned);
            let bytes = crate::compact::size(self);
            let (schema, record_version) = (crate::schema::version(connection)?, crate::record::RECORD_VERSION);
            Ok(Summary { bytes, records, first, last, snapshots, incidents, schema, record_version })
        })
    }
}

fn check_structure(connection: &Connection) -> Result<(), StoreError> {
    structure_by(connection, "PRAGMA integrity_check(1)")
}

fn structure_by(connection: &Connection, pragma: &str) -> Result<(), StoreError> {
    let found: String = connection.query_row(pragma, [], |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(StoreError::corrupt(found)) }
}

/// The state that the journal begins with.
pub(crate) fn base(connection: &Connection) -> Result<Replica, StoreError> {
    let query = format!("{SELECT_SNAPSHOT} ORDER BY sequence LIMIT 1");
    let found = connection.query_row(&query, [], |row| Ok(read_snapshot(row))).optional()?;
    found.unwrap_or_else(|| Err(StoreError::corrupt("the state that the journal begins with is missing")))
}

fn replay(connection: &Connection) -> Result<Verified, StoreError> {
    let mut replica = base(connection)?;
    let mut snapshots = digests(connection)?;
    let base = replica.sequence;
    let mut compared = 0_u64;
    let mut statement = connection.prepare(&format!("SELECT {} FROM journal ORDER BY sequence", Stored::COLUMNS))?;
    let mut rows = statement.query([])?;
    loop {
        if let Some(digest) = snapshots.remove(&replica.sequence) {
            if replica.kernel.digest() != digest {
                let detail = "the snapshot after it is of another state".to_string();
                return Err(StoreError::Diverged { sequence: replica.sequence, detail });
            }
            compared = compared.saturating_add(1);
        }
        let Some(row) = rows.next()? else { break };
        compare(&mut replica, &Stored::read(row)?)?;
    }
    if let Some((sequence, _)) = snapshots.first_key_value() {
        return Err(StoreError::corrupt(format!("there is a snapshot after record {sequence}, but not that record")));
    }
    ledger::check(connection, &replica.kernel)?;
    let records = replica.sequence.saturating_sub(base);
    Ok(Verified { base, records, snapshots: compared, digest: replica.kernel.digest() })
}

/// Applies a record again, and compares what it says of itself and what it answered.
fn compare(replica: &mut Replica, stored: &Stored<'_>) -> Result<(), StoreError> {
    let reply = replica.follow(stored)?;
    let command = stored.command()?;
    if stored.name != command.name() || stored.proposal_id != proposal_id(&command) {
        return Err(StoreError::corrupt(format!("record {} is listed under other names", stored.sequence)));
    }
    if to_binary(&reply)? != stored.reply {
        return Err(StoreError::Diverged { sequence: stored.sequence, detail: "another reply".to_string() });
    }
    Ok(())
}

/// The digest of every snapshot, each checked against its own bytes.
fn digests(connection: &Connection) -> Result<BTreeMap<u64, Digest>, StoreError> {
    let mut statement = connection.prepare(&format!("{SELECT_SNAPSHOT} ORDER BY sequence"))?;
    let mut rows = statement.query([])?;
    let mut digests = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let replica = read_snapshot(row)?;
        digests.insert(replica.sequence, digest_of(row.get_ref(4)?.as_blob()?));
    }
    Ok(digests)
}
