//! What can be had from a damaged file.
//!
//! A journal is whole from a snapshot that is whole up to the first record that is not. Of all snapshots the one is taken from
//! which the records lead furthest: the state is then the latest that the file still proves, even where older records are lost.

use crate::error::StoreError;
use crate::file::{self, Unfinished};
use crate::ledger;
use crate::mend::Mended;
use crate::notes;
use crate::options::Options;
use crate::record::Stored;
use crate::replica::{Replica, SELECT_SNAPSHOT, read_snapshot};
use crate::seen;
use crate::store::Store;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use stigmergate_core::attest::ledger::Ledger;
use stigmergate_core::attest::tree::leaf_hash;
use stigmergate_core::digest::Digest;
use stigmergate_core::kernel::{Kernel, Time};
use stigmergate_core::policy::{Policy, Preset};

/// What a repair kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repaired {
    /// The journal begins after this record.
    pub base: u64,
    /// The records after it that are kept.
    pub kept_records: u64,
    /// The other records that the damaged file had, by their numbers: unreadable ones, those after them, and those before `base`,
    /// whose effects are in the state that the journal begins with.
    pub dropped: u64,
    /// The digest of the state that the kept records lead to.
    pub digest: Digest,
    /// Where the damaged file is; `None` where nothing was wrong and nothing was changed.
    pub moved_aside: Option<PathBuf>,
}

impl Store {
    /// Makes a whole store of a damaged one. The damaged file is kept beside it, under a name that ends in `.damaged-N`.
    ///
    /// No process should have the store open meanwhile, this one included. `at` is the time of the incident that tells of the repair;
    /// `options.initial_policy` helps where the state that the journal began with is lost too.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] where no state can be had at all (nothing was changed then), and as [`Store::open_existing`].
    pub fn repair(path: &Path, at: Time, options: &Options) -> Result<Repaired, StoreError> {
        file::remove_leftovers(&file::locate(path)?);
        let store = match Self::open_existing(path, options) {
            Ok(store) => store,
            // Not even its first bytes are whole.
            Err(StoreError::Corrupt { .. }) => return mend(path, at, options),
            Err(error) => return Err(error),
        };
        store.check_writable()?;
        let healthy = match store.verify() {
            Ok(verified) => Some(verified),
            Err(StoreError::Corrupt { .. }) => None,
            Err(error) => return Err(error),
        };
        if let Some(verified) = healthy {
            return Ok(Repaired {
                base: verified.base,
                kept_records: verified.records,
                dropped: 0,
                digest: verified.digest,
                moved_aside: None,
            });
        }
        let place = store.path.clone();
        let Self { connection, .. } = store;
        exchange(&place, connection, at, options)
    }
}

/// Repairs a file that cannot even be opened: from a copy with first bytes as they have to be.
fn mend(path: &Path, at: Time, options: &Options) -> Result<Repaired, StoreError> {
    let place = file::locate(path)?;
    if options.read_only {
        return Err(StoreError::ReadOnly { detail: "it was opened so".to_string() });
    }
    let mended = Mended::of(&place)?;
    exchange(&place, mended.connect()?, at, options)
}

/// Makes the store anew from what can be read of the damaged one, and puts it in its place.
fn exchange(place: &Path, damaged: Connection, at: Time, options: &Options) -> Result<Repaired, StoreError> {
    let known = seen::read(place);
    let mut repaired = None;
    let made = Unfinished::make(place, |connection| {
        repaired = Some(rebuild(&damaged, connection, known, at, options)?);
        Ok(())
    });
    let made = made.map_err(|error| match error {
        StoreError::Corrupt { detail, .. } => StoreError::Corrupt { intact_records: count_intact(&damaged), detail },
        other => other,
    })?;
    drop(damaged);
    let Some(mut repaired) = repaired else { return Err(StoreError::corrupt("nothing was kept")) };
    let aside = set_aside(place)?;
    made.replace()?;
    seen::reset(place, repaired.base.saturating_add(repaired.kept_records))?;
    repaired.moved_aside = Some(aside);
    Ok(repaired)
}

/// Copies the file and its log beside it, then takes the log away: it must not be taken for the new file's.
fn set_aside(place: &Path) -> Result<PathBuf, StoreError> {
    let failed = |error: std::io::Error| StoreError::io("keeping the damaged file", &error);
    let free = (1_u32..).map(|number| file::beside(place, &format!(".damaged-{number}")));
    let Some(aside) = free.into_iter().find(|path| !path.exists()) else {
        return Err(StoreError::Exists { path: place.to_path_buf() });
    };
    for suffix in ["", "-wal"] {
        let from = file::beside(place, suffix);
        if from.exists() {
            let mut to = file::new_file(&file::beside(&aside, suffix)).map_err(failed)?;
            let mut from = fs::File::open(from).map_err(failed)?;
            std::io::copy(&mut from, &mut to).map_err(failed)?;
            to.sync_all().map_err(failed)?;
        }
    }
    file::sync_folder(place);
    for suffix in ["-wal", "-shm"] {
        match fs::remove_file(file::beside(place, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    Ok(aside)
}

/// How many records, from the first, are whole and in sequence.
pub(crate) fn count_intact(connection: &Connection) -> u64 {
    let mut last: Option<(u64, crate::record::Chain)> = None;
    let mut count = 0_u64;
    // It ends at the first record that is not whole, and where the file cannot be read further.
    let _ = each_record(connection, 0, &mut |stored| {
        if let Some((sequence, chain)) = last {
            stored.check(sequence, chain)?;
        }
        last = Some((stored.sequence, stored.chain));
        count = count.saturating_add(1);
        Ok(())
    });
    count
}

/// Hands over the records after one, until one cannot be read.
fn each_record(
    connection: &Connection,
    after: u64,
    take: &mut dyn FnMut(&Stored<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let query = format!("SELECT {} FROM journal WHERE sequence > ?1 ORDER BY sequence", Stored::COLUMNS);
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([after.cast_signed()])?;
    while let Some(row) = rows.next()? {
        take(&Stored::read(row)?)?;
    }
    Ok(())
}

/// How far the records lead from a state.
fn reach(connection: &Connection, from: &Replica) -> u64 {
    let (mut sequence, mut chain) = (from.sequence, from.chain);
    let _ = each_record(connection, from.sequence, &mut |stored| {
        stored.check(sequence, chain)?;
        stored.command()?;
        (sequence, chain) = (stored.sequence, stored.chain);
        Ok(())
    });
    sequence
}

fn rebuild(
    damaged: &Connection,
    fresh: &Connection,
    known: u64,
    at: Time,
    options: &Options,
) -> Result<Repaired, StoreError> {
    let mut replica = best_start(damaged, options)?;
    let base = replica.sequence;
    let transaction = Transaction::new_unchecked(fresh, TransactionBehavior::Immediate)?;
    replica.write_snapshot(&transaction, &replica.kernel.snapshot())?;
    copy_events(damaged, &transaction, replica.ledger_size());
    // It ends at the first record that is not whole.
    let _ = each_record(damaged, base, &mut |stored| {
        let events = replica.ledger_size();
        replica.follow(stored)?;
        replica.write_events(&transaction, events)?;
        transaction.execute(
            "INSERT INTO journal (sequence, at, version, name, proposal_id, chain, command, reply)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                stored.sequence.cast_signed(),
                stored.at.cast_signed(),
                stored.version,
                stored.command()?.name(),
                crate::record::proposal_id(&stored.command()?),
                stored.chain.as_bytes(),
                stored.command,
                stored.reply,
            ),
        )?;
        Ok(())
    });
    if replica.sequence > base {
        replica.write_snapshot(&transaction, &replica.kernel.snapshot())?;
    }
    let kept_records = replica.sequence.saturating_sub(base);
    let dropped = extent(damaged, replica.sequence.max(known)).saturating_sub(kept_records);
    copy_notes(damaged, &transaction);
    copy_heads(damaged, &transaction, &replica.kernel, options);
    let ledger = match ledger::check(&transaction, &replica.kernel) {
        Ok(()) => String::new(),
        Err(error) => format!("; {error}"),
    };
    let detail =
        format!("the store was damaged: kept {kept_records} records after record {base}, dropped {dropped}{ledger}");
    notes::note(&transaction, at, "repaired", &detail)?;
    transaction.commit()?;
    Ok(Repaired { base, kept_records, dropped, digest: replica.kernel.digest(), moved_aside: None })
}

/// The state from which the records lead furthest; of several the earliest.
fn best_start(damaged: &Connection, options: &Options) -> Result<Replica, StoreError> {
    let mut best: Option<(u64, Replica)> = None;
    let mut consider = |replica: Replica| {
        let reach = reach(damaged, &replica);
        if best.as_ref().is_none_or(|(furthest, _)| reach > *furthest) {
            best = Some((reach, replica));
        }
    };
    // The numbers first, then each alone: one that cannot be read must not hide the others.
    for sequence in snapshot_numbers(damaged) {
        let query = format!("{SELECT_SNAPSHOT} WHERE sequence = ?1");
        if let Ok(Ok(replica)) = damaged.query_row(&query, [sequence], |row| Ok(read_snapshot(row))) {
            consider(replica);
        }
    }
    let policy = options.initial_policy.clone().unwrap_or_else(|| Policy::preset(Preset::Standard));
    let guess = Replica::base(Kernel::new(policy)?);
    // The chain proves a guess: the first record continues the right beginning only.
    if reach(damaged, &guess) > 0 {
        consider(guess);
    }
    best.map(|(_, replica)| replica).ok_or_else(|| StoreError::corrupt("no state is whole that records could continue"))
}

fn snapshot_numbers(damaged: &Connection) -> Vec<i64> {
    let mut numbers = Vec::new();
    for order in ["ASC", "DESC"] {
        let Ok(mut statement) = damaged.prepare(&format!("SELECT sequence FROM snapshots ORDER BY sequence {order}"))
        else {
            continue;
        };
        let Ok(mut rows) = statement.query([]) else { continue };
        while let Ok(Some(row)) = rows.next() {
            numbers.extend(row.get::<_, i64>(0));
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// How many records the damaged file seems to have had.
fn extent(damaged: &Connection, kept_up_to: u64) -> u64 {
    let end = |order: &str| {
        let query = format!("SELECT sequence FROM journal ORDER BY sequence {order} LIMIT 1");
        damaged.query_row(&query, [], |row| row.get::<_, i64>(0)).ok().map(i64::cast_unsigned)
    };
    let last = end("DESC").unwrap_or(kept_up_to).max(kept_up_to);
    let first = end("ASC").unwrap_or(1).max(1);
    last.saturating_add(1).saturating_sub(first)
}

/// Copies the events that the kept records no longer write: those from before them.
fn copy_events(damaged: &Connection, fresh: &Connection, size: u64) {
    let copy = || -> Result<(), StoreError> {
        let query = "SELECT sequence, record FROM ledger_events WHERE sequence < ?1 ORDER BY sequence";
        let mut statement = damaged.prepare(query)?;
        let mut rows = statement.query([size.cast_signed()])?;
        while let Some(row) = rows.next()? {
            let record = row.get_ref(1)?.as_blob()?;
            ledger::insert_event(fresh, row.get_ref(0)?.as_i64()?.cast_unsigned(), record, &leaf_hash(record))?;
        }
        Ok(())
    };
    // What cannot be read is missing, and verifying the ledger says so.
    let _ = copy();
}

/// Copies the heads of what is kept, and signs for it where none did and the key is at hand.
fn copy_heads(damaged: &Connection, fresh: &Connection, kernel: &Kernel, options: &Options) {
    let size = kernel.ledger().map_or(0, Ledger::size);
    let copy = || -> Result<(), StoreError> {
        let mut statement = damaged.prepare("SELECT size, note FROM ledger_heads WHERE size <= ?1 ORDER BY size")?;
        let mut rows = statement.query([size.cast_signed()])?;
        while let Some(row) = rows.next()? {
            ledger::insert_head(fresh, row.get_ref(0)?.as_i64()?.cast_unsigned(), row.get_ref(1)?.as_str()?)?;
        }
        Ok(())
    };
    let _ = copy();
    // Where there is a head of this size, it stays.
    let _ = ledger::sign_head(fresh, kernel, options.keys.as_deref());
}

/// Copies what can be read of incidents and facts.
fn copy_notes(damaged: &Connection, fresh: &Connection) {
    for incident in notes::incidents(damaged, "ASC", usize::MAX).unwrap_or_default() {
        let _ = notes::note(fresh, incident.at, &incident.kind, &incident.detail);
    }
    for (key, value) in notes::all_meta(damaged).unwrap_or_default() {
        let _ = notes::set_meta(fresh, &key, &value);
    }
}
