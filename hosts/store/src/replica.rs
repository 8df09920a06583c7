//! The kernel in memory, and how far into the journal it has come.

use crate::error::StoreError;
use crate::ledger;
use crate::record::{Chain, Prepared, Stored};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use stigmergate_core::attest::ledger::Ledger;
use stigmergate_core::digest::Digest;
use stigmergate_core::error::Error;
use stigmergate_core::kernel::{Kernel, Reply, Time};

/// The kernel after a record.
pub(crate) struct Replica {
    pub(crate) kernel: Kernel,
    /// The last record that it has applied.
    pub(crate) sequence: u64,
    pub(crate) chain: Chain,
    /// What a cold start would have to apply after the newest snapshot.
    pub(crate) tail: Tail,
    /// Snapshots that cannot be used; older ones served instead.
    pub(crate) damaged: Vec<u64>,
}

/// The records after the newest snapshot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tail {
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// The size of that snapshot.
    pub(crate) snapshot_bytes: u64,
}

impl Replica {
    /// The state of a snapshot that a journal begins with.
    pub(crate) fn base(kernel: Kernel) -> Self {
        let snapshot = kernel.snapshot();
        let chain = Chain::base(&digest_of(&snapshot));
        let tail = Tail { snapshot_bytes: snapshot.len() as u64, ..Tail::default() };
        Self { kernel, sequence: 0, chain, tail, damaged: Vec::new() }
    }

    /// The newest snapshot that is whole, and what came after it.
    pub(crate) fn load(connection: &Connection) -> Result<Self, StoreError> {
        // One look at the file, so that nothing is compacted away between snapshot and tail.
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
        let replica = Self::load_within(&transaction)?;
        transaction.commit()?;
        Ok(replica)
    }

    /// As [`Replica::load`], in a transaction that is under way.
    pub(crate) fn load_within(transaction: &Transaction<'_>) -> Result<Self, StoreError> {
        let mut replica = Self::newest_snapshot(transaction)?;
        replica.catch_up(transaction)?;
        Ok(replica)
    }

    fn newest_snapshot(connection: &Connection) -> Result<Self, StoreError> {
        let mut damaged = Vec::new();
        let mut statement = connection.prepare(&format!("{SELECT_SNAPSHOT} ORDER BY sequence DESC"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match read_snapshot(row) {
                Ok(replica) => return Ok(Self { damaged, ..replica }),
                Err(StoreError::Corrupt { .. }) => damaged.push(row.get_ref(0)?.as_i64()?.cast_unsigned()),
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::corrupt("no snapshot is whole"))
    }

    /// Applies what was appended since.
    pub(crate) fn catch_up(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let columns = Stored::COLUMNS;
        let mut statement =
            connection.prepare(&format!("SELECT {columns} FROM journal WHERE sequence > ?1 ORDER BY sequence"))?;
        let mut rows = statement.query([self.sequence.cast_signed()])?;
        while let Some(row) = rows.next()? {
            self.follow(&Stored::read(row)?)?;
        }
        Ok(())
    }

    /// Applies the record that comes next. The reply is the kernel's, which [`verify`](crate::Store::verify) compares with the stored one.
    pub(crate) fn follow(&mut self, stored: &Stored<'_>) -> Result<Reply, StoreError> {
        stored.check(self.sequence, self.chain)?;
        let command = stored.command().map_err(|error| match error {
            // Its bytes are those that were written, as the chain says.
            StoreError::Corrupt { detail, .. } => {
                StoreError::AnotherForm { what: format!("record {}", stored.sequence), detail }
            }
            other => other,
        })?;
        let reply = self.kernel.apply(stored.at, command).map_err(|error| StoreError::Diverged {
            sequence: stored.sequence,
            detail: format!("it is refused: {error}"),
        })?;
        self.advance(stored.sequence, stored.chain, stored.command.len().saturating_add(stored.reply.len()));
        Ok(reply)
    }

    fn advance(&mut self, sequence: u64, chain: Chain, bytes: usize) {
        self.sequence = sequence;
        self.chain = chain;
        self.tail.records = self.tail.records.saturating_add(1);
        self.tail.bytes = self.tail.bytes.saturating_add(bytes as u64);
    }

    /// Applies a command and writes its record. A command that the kernel refuses has changed nothing; after any other error
    /// this replica is ahead of the file.
    pub(crate) fn append(
        &mut self,
        connection: &Connection,
        at: Time,
        prepared: Prepared,
    ) -> Result<Reply, StoreError> {
        let Prepared { command, bytes } = prepared;
        let name = command.name();
        let proposal_id = crate::record::proposal_id(&command).map(ToString::to_string);
        let before = self.ledger_size();
        let reply = self.kernel.apply(at, command)?;
        let answer = crate::record::to_binary(&reply)?;
        let sequence = self.sequence.saturating_add(1);
        let version = crate::record::RECORD_VERSION;
        let chain = self.chain.then(sequence, at, version, &bytes, &answer);
        // Before anything can fail: a replica whose number is ahead of the file's is known to be of no more use.
        self.advance(sequence, chain, bytes.len().saturating_add(answer.len()));
        connection.execute(
            "INSERT INTO journal (sequence, at, version, name, proposal_id, chain, command, reply)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (sequence.cast_signed(), at.cast_signed(), version, name, proposal_id, chain.as_bytes(), &bytes, &answer),
        )?;
        self.write_events(connection, before)?;
        Ok(reply)
    }

    /// How many events the signed ledger has; 0 without one.
    pub(crate) fn ledger_size(&self) -> u64 {
        self.kernel.ledger().map_or(0, Ledger::size)
    }

    /// Writes the events of the command that was applied last; the ledger had `before` events until then.
    pub(crate) fn write_events(&self, connection: &Connection, before: u64) -> Result<(), StoreError> {
        let written = self.kernel.written().iter().filter(|entry| entry.event.sequence >= before);
        written
            .into_iter()
            .try_for_each(|entry| ledger::insert_event(connection, entry.event.sequence, &entry.record, &entry.leaf))
    }

    /// Writes a snapshot of the kernel as it is.
    pub(crate) fn write_snapshot(&self, connection: &Connection, snapshot: &[u8]) -> Result<(), StoreError> {
        let digest = digest_of(snapshot);
        connection.execute(
            "INSERT OR REPLACE INTO snapshots (sequence, chain, digest, seal, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                self.sequence.cast_signed(),
                self.chain.as_bytes(),
                digest.as_bytes(),
                seal(self.sequence, self.chain, &digest).as_bytes(),
                snapshot,
            ),
        )?;
        Ok(())
    }
}

/// The beginning of a query for [`read_snapshot`].
pub(crate) const SELECT_SNAPSHOT: &str = "SELECT sequence, chain, digest, seal, bytes FROM snapshots";

/// The state that a row of `snapshots` holds, every part of it checked.
pub(crate) fn read_snapshot(row: &rusqlite::Row<'_>) -> Result<Replica, StoreError> {
    let sequence = row.get_ref(0)?.as_i64()?.cast_unsigned();
    let wrong = |what: &str| StoreError::corrupt(format!("the snapshot after record {sequence} {what}"));
    let chain = Chain::read(row.get_ref(1)?.as_blob()?)?;
    let digest = <[u8; 32]>::try_from(row.get_ref(2)?.as_blob()?).map_err(|_| wrong("has no digest"))?;
    let digest = Digest::from_bytes(digest);
    let bytes = row.get_ref(4)?.as_blob()?;
    if seal(sequence, chain, &digest).as_bytes() != row.get_ref(3)?.as_blob()? || digest_of(bytes) != digest {
        return Err(wrong("is not as it was written"));
    }
    let kernel = Kernel::restore(bytes).map_err(|error| match error {
        Error::Version { what, found, supported } => StoreError::NewerVersion { what, found, supported },
        // Its bytes are those that were written, as the digest says.
        Error::Corrupt { detail, .. } => {
            StoreError::AnotherForm { what: format!("the snapshot after record {sequence}"), detail }
        }
        other => StoreError::Core(other),
    })?;
    let tail = Tail { snapshot_bytes: bytes.len() as u64, ..Tail::default() };
    Ok(Replica { kernel, sequence, chain, tail, damaged: Vec::new() })
}

/// The digest that [`Kernel::digest`] gives for a snapshot, without making it anew.
pub(crate) fn digest_of(snapshot: &[u8]) -> Digest {
    Digest::of("stigmergate snapshot", snapshot)
}

fn seal(sequence: u64, chain: Chain, digest: &Digest) -> Chain {
    let mut text = Vec::with_capacity(56);
    text.extend_from_slice(&sequence.to_le_bytes());
    text.extend_from_slice(chain.as_bytes());
    text.extend_from_slice(digest.as_bytes());
    Chain::shortened(&Digest::of("stigmergate snapshot row", &text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Store};
    use stigmergate_core::kernel::Command;
    use stigmergate_core::policy::{Policy, Preset};

    #[test]
    fn a_whole_snapshot_of_another_form_is_no_damage() {
        // given a snapshot that is as it was written, in a form that nobody here reads
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        let mut store = Store::open(&path, &Options::default()).unwrap();
        store.apply(1, Command::Advance).unwrap();
        let replica = Replica::base(Kernel::new(Policy::preset(Preset::Standard)).unwrap());
        let newest = Replica { sequence: store.last_sequence().unwrap(), ..replica };
        newest.write_snapshot(&store.connection, &[1, 2, 3]).unwrap();
        drop(store);
        // when
        let mut store = Store::open_existing(&path, &Options::default()).unwrap();
        let error = store.with_current(Kernel::digest).unwrap_err();
        // then it is named, nothing is put aside, and a repair leaves it as it is
        assert_eq!(error.code(), "another_form");
        assert!(error.to_string().contains("the snapshot after record 1 is whole"), "{error}");
        assert_eq!(Store::repair(&path, 2, &Options::default()).unwrap_err().code(), "another_form");
    }
}
