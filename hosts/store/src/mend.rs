//! A file whose first bytes are damaged, or that was cut off: SQLite does not open it, and yet most of it may be whole.
//!
//! The first 100 bytes say what every store says alike, and how many pages there are, which the length tells too. So a copy gets the
//! first bytes of a fresh store, and is read as far as it goes. The damaged file is not touched.

use crate::error::StoreError;
use crate::file::{PAGE_BYTES, Unfinished};
use crate::repair::count_intact;
use crate::schema::{APPLICATION_ID, SCHEMA_VERSION};
use crate::seen;
use rusqlite::Connection;
use std::fs;
use std::io::Read;
use std::path::Path;

/// SQLite's name for its format.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Bytes of a database's header; <https://sqlite.org/fileformat.html#the_database_header> says what stands where.
const HEAD_BYTES: usize = 100;
const PAGES_AT: usize = 28;
const APPLICATION_AT: usize = 68;

/// Whether a file that is not recognised was a store: by what is left of its first bytes, or by what lies beside it.
pub(crate) fn was_a_store(path: &Path) -> bool {
    let mut head = [0; HEAD_BYTES];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    let id = head.get(APPLICATION_AT..).and_then(|rest| rest.first_chunk::<4>());
    let is_named = read.is_ok() && id == Some(&APPLICATION_ID.to_be_bytes());
    is_named || seen::read(path) > 0
}

/// Says of a file that cannot be opened what is intact in it.
pub(crate) fn complete(error: StoreError, path: &Path) -> StoreError {
    match error {
        StoreError::Corrupt { detail, .. } => {
            let mended = Mended::of(path).and_then(|mended| Ok(count_intact(&mended.connect()?)));
            StoreError::Corrupt { intact_records: mended.unwrap_or(0), detail }
        }
        other => other,
    }
}

/// A copy that can be read, removed afterwards.
pub(crate) struct Mended(Unfinished);

impl Mended {
    pub(crate) fn of(place: &Path) -> Result<Self, StoreError> {
        let whole = fs::read(place).map_err(|error| StoreError::io("reading the damaged store", &error))?;
        let pages = (whole.len() as u64).div_ceil(PAGE_BYTES);
        Ok(Self(Unfinished::copy(place, &head(u32::try_from(pages).unwrap_or(u32::MAX)), &whole)?))
    }

    pub(crate) fn connect(&self) -> Result<Connection, StoreError> {
        let connection = self.0.connect()?;
        // The length in the header counts only while the log is brought in; what is asked first tells whether it can be read at all.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok(connection)
    }
}

/// The first bytes of a store of so many pages.
fn head(pages: u32) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(place) = head.get_mut(at..at.saturating_add(bytes.len())) {
            place.copy_from_slice(bytes);
        }
    };
    put(0, MAGIC);
    put(16, &u16::try_from(PAGE_BYTES).unwrap_or(4096).to_be_bytes());
    // Written and read through a log; no bytes kept free in a page; the fractions that the format fixes.
    put(18, &[2, 2, 0, 64, 32, 32]);
    // How often it was changed, and the same where the number of pages was noted: it then counts.
    put(24, &1_u32.to_be_bytes());
    put(PAGES_AT, &pages.to_be_bytes());
    put(40, &1_u32.to_be_bytes());
    // The present form of schemas, and texts in UTF-8.
    put(44, &4_u32.to_be_bytes());
    put(56, &1_u32.to_be_bytes());
    put(60, &SCHEMA_VERSION.to_be_bytes());
    put(APPLICATION_AT, &APPLICATION_ID.to_be_bytes());
    put(92, &1_u32.to_be_bytes());
    put(96, &3_050_000_u32.to_be_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_store_says_of_itself_what_a_mended_one_is_given() {
        // given
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        drop(crate::Store::open(&path, &crate::Options::default()).unwrap());
        let found = fs::read(&path).unwrap();
        // when
        let pages = u32::try_from(found.len() as u64 / PAGE_BYTES).unwrap();
        let given = head(pages);
        // then: but for the counters of changes, all is alike
        for part in [0..24, 28..40, 44..92] {
            assert_eq!(given[part.clone()], found[part.clone()], "{part:?}");
        }
        assert!(was_a_store(&path));
    }
}
