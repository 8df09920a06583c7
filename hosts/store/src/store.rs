//! One open connection, and the kernel that follows the file.

use crate::error::StoreError;
use crate::file::{self, Unfinished};
use crate::options::Options;
use crate::record::Prepared;
use crate::replica::{Replica, Tail};
use crate::{ledger, mend, notes, repair, schema, seen};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stigmergate_core::kernel::{Command, Kernel, Reply, Time};
use stigmergate_core::policy::{Policy, Preset};

/// A store: a journal of applied commands in one file, and the kernel that they lead to.
///
/// Several processes may have one open at once: writers take turns, and each catches up with what the others appended before it
/// applies anything itself. The kernel is loaded when it is first needed, so that looking at records costs nothing of it.
///
/// ```
/// use stigmergate_core::kernel::{Command, Reply};
/// use stigmergate_store::{Options, Store};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("gate.db");
/// let applied = Store::open(&path, &Options::default())?.apply(1_700_000_000_000, Command::Advance)?;
/// assert_eq!(applied.sequence, 1);
///
/// let mut later = Store::open_existing(&path, &Options::default())?;
/// assert_eq!(later.with_current(|kernel| kernel.now())?, 1_700_000_000_000);
/// assert_eq!(later.verify()?.records, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    options: Options,
    replica: Option<Replica>,
    is_read_only: bool,
}

/// A command that was applied and is in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The number of its record.
    pub sequence: u64,
    /// The reply.
    pub reply: Reply,
}

impl Store {
    /// Opens a store, and makes it where there is none: mode 0600, missing folders 0700. An earlier version's tables are brought up to date.
    ///
    /// A file that cannot be written is opened for reading; see [`Store::is_read_only`].
    ///
    /// # Errors
    /// [`StoreError::Path`], [`StoreError::NotAStore`], [`StoreError::NewerVersion`], [`StoreError::ReadOnly`],
    /// [`StoreError::Corrupt`], [`StoreError::Busy`], [`StoreError::DiskFull`]; [`StoreError::Core`] for an initial policy that the kernel refuses.
    pub fn open(path: &Path, options: &Options) -> Result<Self, StoreError> {
        let place = file::locate(path)?;
        if !place.exists() {
            if options.read_only {
                return Err(StoreError::NotFound { path: path.to_path_buf() });
            }
            seen::check_free(&place)?;
            let policy = options.initial_policy.clone().unwrap_or_else(|| Policy::preset(Preset::Standard));
            let base = Replica::base(Kernel::new(policy)?);
            // Where another process made one meanwhile, that is the store.
            Unfinished::make(&place, |connection| base.write_snapshot(connection, &base.kernel.snapshot()))?.place()?;
        }
        Self::connect(place, options)
    }

    /// Opens a store that is there.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or as [`Store::open`].
    pub fn open_existing(path: &Path, options: &Options) -> Result<Self, StoreError> {
        let place = file::locate(path)?;
        if !place.exists() {
            return Err(StoreError::NotFound { path: path.to_path_buf() });
        }
        Self::connect(place, options)
    }

    fn connect(path: PathBuf, options: &Options) -> Result<Self, StoreError> {
        let started = Instant::now();
        let connection = file::connect(&path, options).map_err(|error| mend::complete(error, &path))?;
        let is_read_only = options.read_only || connection.is_readonly("main")?;
        let store = Self { connection, path, options: options.clone(), replica: None, is_read_only };
        store.bring_up_to_date().map_err(|error| store.complete(error, started))?;
        Ok(store)
    }

    fn bring_up_to_date(&self) -> Result<(), StoreError> {
        if !schema::is_older(&self.connection)? {
            return Ok(());
        }
        if self.is_read_only {
            let detail = "its tables are of an earlier version and have to be brought up to date first".to_string();
            return Err(StoreError::ReadOnly { detail });
        }
        schema::migrate(&self.connection)
    }

    /// Where the file is, links followed.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this store can only be read, by option or because the file cannot be written.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Applies a command: one transaction, in which it first catches up with other processes. A command that errs leaves nothing.
    ///
    /// # Errors
    /// [`StoreError::Core`] where the kernel refuses it; [`StoreError::KeyMissing`] and [`StoreError::KeyUnusable`] where it writes
    /// events that nobody here can sign for; [`StoreError::ReadOnly`], [`StoreError::Busy`], [`StoreError::DiskFull`],
    /// [`StoreError::Corrupt`], [`StoreError::Diverged`].
    pub fn apply(&mut self, at: Time, command: Command) -> Result<Applied, StoreError> {
        let applied = self.apply_all(at, vec![command])?;
        applied.into_iter().next().ok_or_else(|| StoreError::corrupt("a command without a record"))
    }

    /// Applies several commands in one transaction, all or none.
    ///
    /// # Errors
    /// As [`Store::apply`].
    pub fn apply_all(&mut self, at: Time, commands: Vec<Command>) -> Result<Vec<Applied>, StoreError> {
        // Outside the lock.
        let prepared = prepare(commands)?;
        self.write(at, |_| Ok((prepared, ()))).map(|(applied, ())| applied)
    }

    /// Looks at the current state and applies what follows from it, with nothing in between: other processes wait.
    ///
    /// # Errors
    /// What `judge` returns, and as [`Store::apply`]. Nothing is kept then.
    pub fn decide<T, E: From<StoreError>>(
        &mut self,
        at: Time,
        judge: impl FnOnce(&Kernel) -> Result<(Vec<Command>, T), E>,
    ) -> Result<(Vec<Applied>, T), E> {
        self.write(at, |kernel| {
            let (commands, answer) = judge(kernel)?;
            Ok((prepare(commands)?, answer))
        })
    }

    /// Looks at the current state: catches up with what other processes appended, then asks.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], [`StoreError::Diverged`], [`StoreError::NewerVersion`], [`StoreError::Busy`], [`StoreError::Io`].
    pub fn with_current<T>(&mut self, look: impl FnOnce(&Kernel) -> T) -> Result<T, StoreError> {
        self.guarded(|store| {
            let replica = store.current()?;
            let answer = look(&replica.kernel);
            store.replica = Some(replica);
            Ok(answer)
        })
    }

    /// The number of the last record.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`], [`StoreError::Busy`], [`StoreError::Io`].
    pub fn last_sequence(&self) -> Result<u64, StoreError> {
        self.asked(|connection| {
            let query =
                "SELECT coalesce((SELECT max(sequence) FROM journal), (SELECT max(sequence) FROM snapshots), 0)";
            Ok(connection.query_row(query, [], |row| row.get::<_, i64>(0))?.cast_unsigned())
        })
    }

    /// The replica, loaded and caught up with the file.
    fn current(&mut self) -> Result<Replica, StoreError> {
        let known = seen::read(&self.path);
        let replica = match self.replica.take() {
            None => Replica::load(&self.connection)?,
            Some(mut replica) => match replica.catch_up(&self.connection) {
                Ok(()) => replica,
                // Another process compacted the journal away under it, or the file is damaged: loading tells.
                Err(StoreError::Corrupt { .. }) => Replica::load(&self.connection)?,
                Err(error) => return Err(error),
            },
        };
        seen::check(known, replica.sequence)?;
        Ok(replica)
    }

    fn write<T, E: From<StoreError>>(
        &mut self,
        at: Time,
        judge: impl FnOnce(&Kernel) -> Result<(Vec<Prepared>, T), E>,
    ) -> Result<(Vec<Applied>, T), E> {
        let started = Instant::now();
        self.check_writable()?;
        let outcome = self.append(at, judge).map_err(|error| self.complete(error, started))?;
        if outcome.is_ok() {
            self.tend();
        }
        outcome
    }

    /// One transaction. The outer error is the file's, the inner one that of `judge` or the kernel.
    fn append<T, E: From<StoreError>>(
        &mut self,
        at: Time,
        judge: impl FnOnce(&Kernel) -> Result<(Vec<Prepared>, T), E>,
    ) -> Result<Result<(Vec<Applied>, T), E>, StoreError> {
        let known = seen::read(&self.path);
        // Loading takes longest: it is done before the others have to wait for it.
        let mut replica = match self.replica.take() {
            Some(replica) => replica,
            None => Replica::load(&self.connection)?,
        };
        let transaction = match Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate) {
            Ok(transaction) => transaction,
            Err(error) => {
                self.replica = Some(replica);
                return Err(error.into());
            }
        };
        match replica.catch_up(&transaction) {
            Err(StoreError::Corrupt { .. }) => replica = Replica::load_within(&transaction)?,
            other => other?,
        }
        seen::check(known, replica.sequence)?;
        let (in_file, signed) = (replica.sequence, replica.ledger_size());
        let judged = judge(&replica.kernel).and_then(|(prepared, answer)| {
            let applied = prepared.into_iter().map(|command| {
                let reply = replica.append(&transaction, at, command)?;
                Ok(Applied { sequence: replica.sequence, reply })
            });
            let applied = applied.collect::<Result<Vec<_>, StoreError>>()?;
            if replica.ledger_size() > signed {
                ledger::sign_head(&transaction, &replica.kernel, self.options.keys.as_deref())?;
            }
            Ok((applied, answer))
        });
        let kept = judged.is_ok();
        if kept {
            for sequence in std::mem::take(&mut replica.damaged) {
                drop_damaged(&transaction, at, sequence)?;
            }
            transaction.commit()?;
            if replica.sequence > in_file {
                seen::mark(&self.path, replica.sequence);
            }
        } else {
            drop(transaction);
        }
        // A replica that applied what was not kept is of no more use.
        if kept || replica.sequence == in_file {
            self.replica = Some(replica);
        }
        Ok(judged)
    }

    /// What can wait until a command is safe: a snapshot, and bringing the log's pages into the file. Both only save time, so that
    /// a disk without room or another process at it puts them off until a later command.
    fn tend(&mut self) {
        let Some(mut replica) = self.replica.take() else { return };
        if self.connection.busy_timeout(Duration::ZERO).is_ok() {
            // One of the two a command, so that no caller waits for both.
            // A state apart from the one that the journal begins with: should that be damaged, what came after is not lost with it.
            let is_alone = self.options.snapshot_every.is_none() && replica.tail.records == replica.sequence;
            if is_alone || is_snapshot_due(&replica.tail, self.options.snapshot_every) {
                // First: who is ended in it is followed by one for whom the snapshot is due again.
                file::remove_leftovers(&self.path);
                let _ = write_snapshot(&self.connection, &mut replica);
            } else if std::fs::metadata(file::beside(&self.path, "-wal")).is_ok_and(|log| log.len() >= LOG_BYTES) {
                let _ = checkpoint(&self.connection);
            }
        }
        let _ = self.connection.busy_timeout(self.options.busy_timeout.min(Duration::from_secs(3600)));
        self.replica = Some(replica);
    }

    pub(crate) fn check_writable(&self) -> Result<(), StoreError> {
        if !self.is_read_only {
            return Ok(());
        }
        let detail =
            if self.options.read_only { "it was opened so" } else { "the file or its folder cannot be written" };
        Err(StoreError::ReadOnly { detail: detail.to_string() })
    }

    /// Runs something and completes its error.
    pub(crate) fn guarded<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let started = Instant::now();
        work(self).map_err(|error| self.complete(error, started))
    }

    /// Asks the file something and completes the error.
    pub(crate) fn asked<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let started = Instant::now();
        question(&self.connection).map_err(|error| self.complete(error, started))
    }

    /// Adds to an error what only the whole store can say.
    pub(crate) fn complete(&self, error: StoreError, started: Instant) -> StoreError {
        match error {
            StoreError::Busy { .. } => StoreError::Busy { waited: started.elapsed() },
            StoreError::Corrupt { detail, .. } => {
                StoreError::Corrupt { intact_records: repair::count_intact(&self.connection), detail }
            }
            other => other,
        }
    }

    /// Forgets the kernel: the file was changed under it.
    pub(crate) fn forget(&mut self) {
        self.replica = None;
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sequence = self.replica.as_ref().map(|replica| replica.sequence);
        out.debug_struct("Store").field("path", &self.path).field("sequence", &sequence).finish_non_exhaustive()
    }
}

fn prepare(commands: Vec<Command>) -> Result<Vec<Prepared>, StoreError> {
    commands.into_iter().map(Prepared::new).collect()
}

/// A snapshot that cannot be used is said once and dropped; the ones before it serve.
fn drop_damaged(transaction: &Transaction<'_>, at: Time, sequence: u64) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM snapshots WHERE sequence = ?1", [sequence.cast_signed()])?;
    let detail =
        format!("the snapshot after record {sequence} was damaged; an earlier one and the journal served instead");
    notes::note(transaction, at, "damaged_snapshot", &detail)?;
    Ok(())
}

/// A log of this size is brought into the file. A process that comes to a store reads the whole log first, which costs about as
/// much for half of this as the two waits for the disk, shared among the records that fill it.
const LOG_BYTES: u64 = 512 * 1024;

/// Whether a snapshot saves more than it costs.
///
/// With a snapshot after every n records, a process pays for half of n on its way in, and one n-th of a snapshot. The sum is
/// least where n is the root of twice the cost of a snapshot in records, and that cost is in proportion to its size.
pub(crate) fn is_snapshot_due(tail: &Tail, every: Option<u32>) -> bool {
    /// Bytes of a snapshot that cost as much as applying one record.
    const BYTES_A_RECORD: u64 = 512;
    /// Records of the usual size; longer ones cost in proportion.
    const RECORD_BYTES: u64 = 2048;
    if let Some(every) = every {
        return tail.records >= u64::from(every.max(1));
    }
    let cost = (tail.snapshot_bytes / BYTES_A_RECORD).max(64);
    let records = tail.records.max(tail.bytes / RECORD_BYTES);
    records.saturating_mul(records) >= cost.saturating_mul(2)
}

/// Writes a snapshot unless another process did, and drops those before the last two; the first one stays.
fn write_snapshot(connection: &Connection, replica: &mut Replica) -> Result<(), StoreError> {
    let newest = "SELECT max(sequence) FROM snapshots";
    let before = replica.sequence.saturating_sub(replica.tail.records);
    let found = connection.query_row(newest, [], |row| row.get::<_, i64>(0))?.cast_unsigned();
    if found > before {
        replica.tail.records = replica.sequence.saturating_sub(found);
        replica.tail.bytes = 0;
        return Ok(());
    }
    let snapshot = replica.kernel.snapshot();
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    if transaction.query_row(newest, [], |row| row.get::<_, i64>(0))?.cast_unsigned() == before {
        replica.write_snapshot(&transaction, &snapshot)?;
        transaction.execute(
            "DELETE FROM snapshots WHERE sequence > (SELECT min(sequence) FROM snapshots)
             AND sequence < (SELECT sequence FROM snapshots ORDER BY sequence DESC LIMIT 1 OFFSET 1)",
            [],
        )?;
    }
    transaction.commit()?;
    replica.tail = Tail { snapshot_bytes: snapshot.len() as u64, ..Tail::default() };
    Ok(())
}

/// Brings the log into the file and empties it, as far as nobody is reading.
pub(crate) fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}
