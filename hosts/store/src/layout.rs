//! A ledger as files that other tools read and verify: C2SP tlog-tiles, with the verifier key beside the head.
//!
//! Full tiles and bundles never change, so an export into the same folder adds what is new. The head is written last: whoever reads
//! meanwhile finds everything that it signs for.

use crate::error::StoreError;
use crate::ledger::LedgerNodes;
use crate::replica::Replica;
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use stigmergate_core::attest::checkpoint::Checkpoint;
use stigmergate_core::attest::key::PublicKey;
use stigmergate_core::attest::links::Rules;
use stigmergate_core::attest::note::{NOTE_BYTES, Note};
use stigmergate_core::attest::signer::{Ed25519Verifier, Verifier};
use stigmergate_core::attest::tiles::{
    CHECKPOINT_PATH, Contents, Tile, VERIFIER_KEY_PATH, WIDTH, entry_bundle, hash_tile, read_bundle, tiles, tiles_from,
};
use stigmergate_core::attest::tree::{CompactRange, leaf_hash};
use stigmergate_core::attest::verify::{Expected, Report, Status, Verification};
use stigmergate_core::attest::{self, Error};
use stigmergate_core::digest::Digest;

/// A bundle holds at most this many bytes.
const BUNDLE_BYTES: u64 = WIDTH * (2 + attest::canonical::RECORD_BYTES as u64);

impl Store {
    /// Writes the ledger into a folder as tiles and entry bundles, with `checkpoint` and `vkey`. Returns the head.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where the folder holds another log's export; [`StoreError::NotFound`] where no ledger was begun;
    /// [`StoreError::Corrupt`], [`StoreError::Busy`], [`StoreError::Io`], [`StoreError::DiskFull`].
    pub fn export_ledger(&self, folder: &Path) -> Result<Checkpoint, StoreError> {
        self.asked(|connection| {
            let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
            let query = "SELECT note FROM ledger_heads ORDER BY size DESC LIMIT 1";
            let note: Option<String> = transaction.query_row(query, [], |row| row.get(0)).optional()?;
            let kernel = Replica::load_within(&transaction)?.kernel;
            let (Some(note), Some(ledger)) = (note, kernel.ledger()) else {
                return Err(StoreError::NotFound { path: self.path.clone() });
            };
            let head = Checkpoint::parse(Note::parse(&note)?.text())?;
            check_folder(folder, &head)?;
            for tile in tiles(head.size) {
                write(folder, &tile.to_string(), &bytes_of(&transaction, &tile)?)?;
            }
            write(folder, VERIFIER_KEY_PATH, format!("{}\n", ledger.key().verifier_key()).as_bytes())?;
            write(folder, CHECKPOINT_PATH, note.as_bytes())?;
            transaction.commit()?;
            Ok(head)
        })
    }
}

/// Nothing of another log is written over.
fn check_folder(folder: &Path, head: &Checkpoint) -> Result<(), StoreError> {
    let Ok(text) = fs::read_to_string(folder.join(CHECKPOINT_PATH)) else { return Ok(()) };
    let before = Note::parse(&text).and_then(|note| Checkpoint::parse(note.text())).ok();
    if before.is_some_and(|before| before.origin == head.origin) {
        return Ok(());
    }
    Err(StoreError::Exists { path: folder.join(CHECKPOINT_PATH) })
}

fn bytes_of(connection: &Connection, tile: &Tile) -> Result<Vec<u8>, StoreError> {
    if let Contents::Hashes(_) = tile.contents {
        return Ok(hash_tile(tile, &LedgerNodes::new(connection))?);
    }
    let query = "SELECT record FROM ledger_events WHERE sequence >= ?1 AND sequence < ?2 ORDER BY sequence";
    let end = tile.start().saturating_add(u64::from(tile.width));
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([tile.start().cast_signed(), end.cast_signed()], |row| row.get::<_, Vec<u8>>(0))?;
    Ok(entry_bundle(rows.collect::<Result<Vec<_>, _>>()?)?)
}

/// Writes a file whole or not at all.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let failed = |error: std::io::Error| StoreError::io(&format!("writing {name}"), &error);
    let place = folder.join(name);
    let beside = crate::file::beside(&place, &format!(".{}.new", std::process::id()));
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, &place)).map_err(failed)
}

/// Verifies an exported ledger, in one pass and in constant memory, hash tiles included. Without keys its own `vkey` is taken at its word.
///
/// # Errors
/// What was found is in the report. [`StoreError::NotFound`] where there is no export, [`StoreError::Io`] where it cannot be read.
pub fn verify_export(folder: &Path, keys: &[&dyn Verifier], kept: Option<&Checkpoint>) -> Result<Report, StoreError> {
    let read = |name: &str| read(folder, name, NOTE_BYTES as u64);
    let note = read(CHECKPOINT_PATH)?.ok_or_else(|| StoreError::NotFound { path: folder.join(CHECKPOINT_PATH) })?;
    let note = String::from_utf8_lossy(&note).into_owned();
    let own = read(VERIFIER_KEY_PATH)?.map(|text| String::from_utf8_lossy(&text).trim().to_string());
    let own = own.and_then(|text| PublicKey::parse(&text).ok()).and_then(|key| Ed25519Verifier::new(&key).ok());
    let own: Vec<&dyn Verifier> = own.iter().map(|verifier| verifier as &dyn Verifier).collect();
    let head = Note::parse(&note).and_then(|note| Checkpoint::parse(note.text()));
    let (origin, size) = head.map_or_else(|_| (String::new(), 0), |head| (head.origin, head.size));
    let keys = if keys.is_empty() { own.as_slice() } else { keys };
    let mut verification = Verification::new(Expected { origin: &origin, keys, kept, rules: Rules::ANY });
    let fault = feed(folder, size, &mut verification)?;
    verification.head(&note);
    let held = verification.size();
    let mut report = verification.finish();
    let is_sound = matches!(report.status, Status::Valid | Status::Empty | Status::IncompleteExecution);
    if let Some(fault) = fault.filter(|_| is_sound) {
        (report.status, report.last_valid) = (Status::BadHash, held.checked_sub(1));
        report.fault = Some(fault);
    } else if keys.is_empty() && is_sound {
        let reason = "the export has no verifier key".to_string();
        (report.status, report.last_valid) = (Status::BadSignature, None);
        report.fault = Some(Error::BadSignature { key: origin, reason });
    }
    Ok(report)
}

/// Hands every record over, and compares the tiles of hashes with those that follow from the records.
fn feed(folder: &Path, size: u64, verification: &mut Verification<'_>) -> Result<Option<Error>, StoreError> {
    let mut hashes = Hashes { folder, levels: Vec::new(), fault: None };
    for tile in tiles_from(Contents::Entries, 0, size) {
        // What is missing shows in the head, which counts it.
        let Some(bytes) = read(folder, &tile.to_string(), BUNDLE_BYTES)? else { break };
        let Ok(records) = read_bundle(&bytes) else {
            return Ok(Some(Error::BadHash { what: tile.to_string() }));
        };
        for record in records {
            verification.record(record);
            hashes.push(0, leaf_hash(record))?;
        }
    }
    hashes.end()?;
    Ok(hashes.fault)
}

/// The right edge of each level of tiles.
struct Hashes<'f> {
    folder: &'f Path,
    /// The index of the tile that is being filled, and its bytes.
    levels: Vec<(u64, Vec<u8>)>,
    fault: Option<Error>,
}

impl Hashes<'_> {
    fn push(&mut self, level: u8, hash: Digest) -> Result<(), StoreError> {
        if usize::from(level) >= self.levels.len() {
            self.levels.push((0, Vec::new()));
        }
        let Some((index, bytes)) = self.levels.get_mut(usize::from(level)) else { return Ok(()) };
        bytes.extend_from_slice(hash.as_bytes());
        if bytes.len() as u64 / 32 < WIDTH {
            return Ok(());
        }
        let (full, full_index) = (std::mem::take(bytes), *index);
        *index = index.saturating_add(1);
        self.compare(level, full_index, &full)?;
        let mut range = CompactRange::default();
        full.as_chunks::<32>().0.iter().for_each(|hash| range.append(Digest::from_bytes(*hash)));
        self.push(level.saturating_add(1), range.root())
    }

    fn end(&mut self) -> Result<(), StoreError> {
        let levels = std::mem::take(&mut self.levels);
        for (level, (index, bytes)) in (0_u8..).zip(&levels).filter(|(_, (_, bytes))| !bytes.is_empty()) {
            self.compare(level, *index, bytes)?;
        }
        Ok(())
    }

    fn compare(&mut self, level: u8, index: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let width = u16::try_from(bytes.len() / 32).unwrap_or(u16::MAX);
        let name = Tile { contents: Contents::Hashes(level), index, width }.to_string();
        let found = read(self.folder, &name, WIDTH * 32)?;
        if found.as_deref() != Some(bytes) && self.fault.is_none() {
            self.fault = Some(Error::BadHash { what: name });
        }
        Ok(())
    }
}

/// A file of at most so many bytes, and one more where it is longer; `None` where it is not there.
fn read(folder: &Path, name: &str, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let mut bytes = Vec::new();
    let read = fs::File::open(folder.join(name));
    match read.and_then(|file| file.take(most.saturating_add(1)).read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(&format!("reading {name}"), &error)),
    }
}
