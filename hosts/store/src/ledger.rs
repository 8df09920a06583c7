//! The signed ledger in the file: the events that commands leave, a signed head after each, and their verification.
//!
//! Events and head are written in the transaction of their command. What was written before can only be changed by somebody who has
//! the file, and is then seen: by the hashes and signatures, by the state of the kernel, which knows size and root of its ledger, and
//! by a head that was kept elsewhere.

use crate::error::StoreError;
use crate::keys::Keys;
use crate::replica::Replica;
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, Rows, Transaction, TransactionBehavior};
use stigmergate_core::attest;
use stigmergate_core::attest::checkpoint::Checkpoint;
use stigmergate_core::attest::event::Event;
use stigmergate_core::attest::links::Rules;
use stigmergate_core::attest::signer::Verifier;
use stigmergate_core::attest::tree::{CompactRange, Nodes, leaf_hash};
use stigmergate_core::attest::verify::{Expected, Report, Status, Verification};
use stigmergate_core::digest::Digest;
use stigmergate_core::kernel::Kernel;

pub(crate) fn insert_event(
    connection: &Connection,
    sequence: u64,
    record: &[u8],
    leaf: &Digest,
) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO ledger_events (sequence, record, leaf) VALUES (?1, ?2, ?3)",
        (sequence.cast_signed(), record, leaf.as_bytes()),
    )?;
    Ok(())
}

pub(crate) fn insert_head(connection: &Connection, size: u64, note: &str) -> Result<(), StoreError> {
    connection.execute("INSERT INTO ledger_heads (size, note) VALUES (?1, ?2)", (size.cast_signed(), note))?;
    Ok(())
}

/// Signs for everything that the kernel's ledger holds.
pub(crate) fn sign_head(connection: &Connection, kernel: &Kernel, keys: Option<&dyn Keys>) -> Result<(), StoreError> {
    let Some(ledger) = kernel.ledger() else { return Ok(()) };
    let missing = || StoreError::KeyMissing { key: ledger.key().to_string(), folder: None };
    let signer = keys.ok_or_else(missing)?.signer(ledger.key())?;
    insert_head(connection, ledger.size(), &ledger.sign_head(&*signer)?.to_string())
}

/// Checks that the file's ledger is whole and the one that the kernel knows.
pub(crate) fn check(connection: &Connection, kernel: &Kernel) -> Result<(), StoreError> {
    let report = verify(connection, Some(kernel), &[], None)?;
    if matches!(report.status, Status::Valid | Status::Empty | Status::IncompleteExecution) {
        return Ok(());
    }
    let fault = report.fault.map(|fault| format!(": {fault}")).unwrap_or_default();
    Err(StoreError::corrupt(format!("the signed ledger is {}{fault}", report.status.as_str())))
}

/// Verifies the file's ledger in one pass, in constant memory.
fn verify(
    connection: &Connection,
    kernel: Option<&Kernel>,
    keys: &[&dyn Verifier],
    kept: Option<&Checkpoint>,
) -> Result<Report, StoreError> {
    let known = kernel.and_then(Kernel::ledger);
    let origin = match known {
        Some(ledger) => ledger.origin().to_string(),
        None => first_origin(connection)?.or_else(|| kept.map(|kept| kept.origin.clone())).unwrap_or_default(),
    };
    let mut verification = Verification::new(Expected { origin: &origin, keys, kept, rules: Rules::ANY });
    let fault = match feed(connection, &mut verification) {
        Ok(()) => None,
        // What cannot be read is not as it was written.
        Err(StoreError::Corrupt { detail, .. }) => Some(attest::Error::BadHash { what: detail }),
        Err(error) => return Err(error),
    };
    let held = verification.size();
    let mut report = verification.finish();
    if let Some(fault) = fault {
        (report.status, report.last_valid) = (Status::BadHash, held.checked_sub(1));
        report.fault = Some(fault);
    }
    let is_sound = matches!(report.status, Status::Valid | Status::Empty | Status::IncompleteExecution);
    let (size, root) = known.map_or((0, attest::tree::empty_root()), |ledger| (ledger.size(), ledger.head().root));
    if is_sound && kernel.is_some() && (report.records, report.root) != (size, root) {
        report.status = Status::Inconsistent;
        report.last_valid = report.records.min(size).checked_sub(1);
        report.fault = Some(attest::Error::Inconsistent { size });
    }
    Ok(report)
}

/// Hands every event and every head over, each head after the events that it signs for.
fn feed(connection: &Connection, verification: &mut Verification<'_>) -> Result<(), StoreError> {
    let mut events = connection.prepare("SELECT sequence, record, leaf FROM ledger_events ORDER BY sequence")?;
    let mut heads = connection.prepare("SELECT size, note FROM ledger_heads ORDER BY size")?;
    let (mut events, mut heads) = (events.query([])?, heads.query([])?);
    let mut head = next_head(&mut heads)?;
    while let Some(row) = events.next()? {
        while let Some((_, note)) = head.take_if(|(size, _)| *size <= verification.size()) {
            verification.head(&note);
            head = next_head(&mut heads)?;
        }
        let (number, record) = (row.get_ref(0)?.as_i64()?.cast_unsigned(), row.get_ref(1)?.as_blob()?);
        let before = verification.size();
        verification.record(record);
        if verification.size() == before {
            // What is wrong is known, and nothing after it is looked at.
            return Ok(());
        }
        if number != before || row.get_ref(2)?.as_blob()? != leaf_hash(record).as_bytes() {
            return Err(StoreError::corrupt(format!("event {before} is listed under another number or hash")));
        }
    }
    while let Some((_, note)) = head {
        verification.head(&note);
        head = next_head(&mut heads)?;
    }
    Ok(())
}

fn next_head(heads: &mut Rows<'_>) -> Result<Option<(u64, String)>, StoreError> {
    let Some(row) = heads.next()? else { return Ok(None) };
    Ok(Some((row.get_ref(0)?.as_i64()?.cast_unsigned(), row.get_ref(1)?.as_str()?.to_string())))
}

/// The origin that the first event names.
fn first_origin(connection: &Connection) -> Result<Option<String>, StoreError> {
    let query = "SELECT record FROM ledger_events ORDER BY sequence LIMIT 1";
    let record = connection.query_row(query, [], |row| row.get::<_, Vec<u8>>(0)).optional()?;
    Ok(record.and_then(|record| Event::read(&record).ok()).map(|event| event.log))
}

impl Store {
    /// Verifies the signed ledger: every record, link, hash and signed head, and that it is the one that this store's state knows.
    /// Streams; memory stays the same however long it is. Without keys the first event is taken at its word, which proves only that one
    /// and the same key stands behind all of it.
    ///
    /// # Errors
    /// What was found is in the report. [`StoreError::Busy`] and [`StoreError::Io`] where it cannot be read.
    pub fn verify_ledger(&self, keys: &[&dyn Verifier], kept: Option<&Checkpoint>) -> Result<Report, StoreError> {
        self.asked(|connection| {
            let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
            let kernel = match Replica::load_within(&transaction) {
                Ok(replica) => Some(replica.kernel),
                // A ledger can be verified without the journal beside it.
                Err(StoreError::Corrupt { .. } | StoreError::Diverged { .. }) => None,
                Err(error) => return Err(error),
            };
            let report = verify(&transaction, kernel.as_ref(), keys, kept)?;
            transaction.commit()?;
            Ok(report)
        })
    }

    /// The last signed head, a signed note; `None` where there is no ledger.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Corrupt`], [`StoreError::Io`].
    pub fn ledger_head(&self) -> Result<Option<String>, StoreError> {
        self.asked(|connection| {
            let query = "SELECT note FROM ledger_heads ORDER BY size DESC LIMIT 1";
            Ok(connection.query_row(query, [], |row| row.get(0)).optional()?)
        })
    }

    /// The record of an event, by its number.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Corrupt`], [`StoreError::Io`].
    pub fn ledger_record(&self, sequence: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.asked(|connection| {
            let query = "SELECT record FROM ledger_events WHERE sequence = ?1";
            Ok(connection.query_row(query, [sequence.cast_signed()], |row| row.get(0)).optional()?)
        })
    }

    /// Looks at the events from one number up to another, without it, in order; `look` says whether it wants more.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Corrupt`], [`StoreError::Io`].
    pub fn each_ledger_record(
        &self,
        first: u64,
        end: u64,
        mut look: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<(), StoreError> {
        self.asked(|connection| {
            let query =
                "SELECT sequence, record FROM ledger_events WHERE sequence >= ?1 AND sequence < ?2 ORDER BY sequence";
            let mut statement = connection.prepare(query)?;
            let most = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
            let mut rows = statement.query([most(first), most(end)])?;
            while let Some(row) = rows.next()? {
                if !look(row.get_ref(0)?.as_i64()?.cast_unsigned(), row.get_ref(1)?.as_blob()?) {
                    break;
                }
            }
            Ok(())
        })
    }

    /// The tree over the events, to make proofs from.
    #[must_use]
    pub const fn ledger_nodes(&self) -> LedgerNodes<'_> {
        LedgerNodes::new(&self.connection)
    }
}

/// The tree over a store's events. A node is hashed from the leaves below it.
#[derive(Debug)]
pub struct LedgerNodes<'s> {
    connection: &'s Connection,
}

impl<'s> LedgerNodes<'s> {
    pub(crate) const fn new(connection: &'s Connection) -> Self {
        Self { connection }
    }

    fn subtree(&self, first: u64, count: u64) -> Result<Option<Digest>, StoreError> {
        let query = "SELECT record FROM ledger_events WHERE sequence >= ?1 AND sequence < ?2 ORDER BY sequence";
        let mut statement = self.connection.prepare(query)?;
        let mut rows = statement.query([first.cast_signed(), first.saturating_add(count).cast_signed()])?;
        let mut range = CompactRange::default();
        while let Some(row) = rows.next()? {
            range.append(leaf_hash(row.get_ref(0)?.as_blob()?));
        }
        Ok((range.size() == count).then(|| range.root()))
    }
}

impl Nodes for LedgerNodes<'_> {
    fn node(&self, level: u8, index: u64) -> Option<Digest> {
        let count = 1_u64.checked_shl(u32::from(level))?;
        self.subtree(index.checked_mul(count)?, count).ok()?
    }
}
