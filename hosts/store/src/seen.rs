//! How far the journal is known to reach, kept outside it.
//!
//! What SQLite finds torn or changed at the end of its log it leaves out without a word, as it must after a power cut; and a log that was
//! deleted leaves a file that looks whole. So the number of the last acknowledged record also stands in a small file beside: where the
//! journal ends before it, records are gone, and the store says so. The file is written after the record is safe, so that it never is
//! ahead of it; who can write both can still take the end of both away, which only a head of the signed ledger kept elsewhere shows.

use crate::error::StoreError;
use crate::file::beside;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number, and the same number turned over: half of a write is no number.
const BYTES: usize = 16;

fn place_of(store: &Path) -> PathBuf {
    beside(store, "-seen")
}

/// The number of the last record that is known to have been acknowledged; 0 where none is known.
pub(crate) fn read(store: &Path) -> u64 {
    File::open(place_of(store)).map_or(0, |mut file| number(&mut file))
}

fn number(file: &mut File) -> u64 {
    let mut bytes = [0; BYTES];
    if file.read_exact(&mut bytes).is_err() {
        return 0;
    }
    let number = u128::from_le_bytes(bytes);
    let (low, high) = (number & u128::from(u64::MAX), number >> 64);
    u64::try_from(low).ok().filter(|low| u128::from(!low) == high).unwrap_or(0)
}

fn text(sequence: u64) -> [u8; BYTES] {
    ((u128::from(!sequence) << 64) | u128::from(sequence)).to_le_bytes()
}

/// Notes that a record is safe. The record is, whatever becomes of the note.
pub(crate) fn mark(store: &Path, sequence: u64) {
    let _ = write(store, |known| known.max(sequence));
}

/// Lets the journal end here: what came after is known to be gone.
pub(crate) fn reset(store: &Path, sequence: u64) -> Result<(), StoreError> {
    write(store, |_| sequence).map_err(|error| StoreError::io("noting how far the journal reaches", &error))
}

fn write(store: &Path, change: impl FnOnce(u64) -> u64) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(place_of(store))?;
    wait_for(&file);
    let known = number(&mut file);
    let changed = change(known);
    if changed != known {
        file.rewind()?;
        file.write_all(&text(changed))?;
    }
    Ok(())
}

/// Others hold it for the time of one write. One that was stopped in it must not stop everybody.
fn wait_for(file: &File) {
    const TIMES: u32 = 50;
    for _ in 0..TIMES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            Ok(()) | Err(TryLockError::Error(_)) => return,
        }
    }
}

/// Compares the end of a journal with what was known before it was looked at.
pub(crate) fn check(known: u64, last: u64) -> Result<(), StoreError> {
    if known <= last {
        return Ok(());
    }
    let first = last.saturating_add(1);
    Err(StoreError::corrupt(if first == known {
        format!("record {known} was acknowledged and is gone")
    } else {
        format!("records {first} to {known} were acknowledged and are gone")
    }))
}

/// Checks that a place where a store is to be made has not lost one.
pub(crate) fn check_free(store: &Path) -> Result<(), StoreError> {
    let (known, log) = (read(store), beside(store, "-wal"));
    let left = fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    // A store that another process made meanwhile has both.
    if (known == 0 && !left) || store.exists() {
        return Ok(());
    }
    let said = if known > 0 { format!("{known} records were acknowledged") } else { "its log is still there".into() };
    Err(StoreError::corrupt(format!(
        "{} is gone, and {said}; bring it back, or to begin anew remove {} and {}",
        store.display(),
        place_of(store).display(),
        log.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_only_grows_unless_it_is_reset() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("gate.db");
        assert_eq!(read(&store), 0);
        mark(&store, 7);
        mark(&store, 3);
        assert_eq!(read(&store), 7);
        reset(&store, 3).unwrap();
        assert_eq!(read(&store), 3);
    }

    #[test]
    fn half_of_a_number_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("gate.db");
        mark(&store, 7);
        let place = place_of(&store);
        let mut bytes = fs::read(&place).unwrap();
        bytes[..8].copy_from_slice(&9_u64.to_le_bytes());
        fs::write(&place, &bytes).unwrap();
        assert_eq!(read(&store), 0);
        mark(&store, 8);
        assert_eq!(read(&store), 8);
    }
}
