//! What is kept beside the journal: incidents and small facts of the host.

use crate::error::StoreError;
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use stigmergate_core::kernel::Time;

/// What must not be lost although it is no command: an outcome that could not be recorded, a snapshot that was damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// Its number, from 1.
    pub id: u64,
    /// When, by the caller's clock.
    pub at: Time,
    /// What kind, a stable word.
    pub kind: String,
    /// What happened, for people.
    pub detail: String,
}

impl Store {
    /// Keeps an incident, and returns its number.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], [`StoreError::Busy`], [`StoreError::DiskFull`], [`StoreError::Corrupt`], [`StoreError::Io`].
    pub fn note_incident(&mut self, at: Time, kind: &str, detail: &str) -> Result<u64, StoreError> {
        self.check_writable()?;
        self.asked(|connection| note(connection, at, kind, detail))
    }

    /// The last incidents, the latest first.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Corrupt`], [`StoreError::Io`].
    pub fn incidents(&self, most: usize) -> Result<Vec<Incident>, StoreError> {
        self.asked(|connection| incidents(connection, "DESC", most))
    }

    /// How many incidents there are.
    ///
    /// # Errors
    /// As [`Store::incidents`].
    pub fn incident_count(&self) -> Result<u64, StoreError> {
        self.asked(|connection| {
            let count = connection.query_row("SELECT count(*) FROM incidents", [], |row| row.get::<_, i64>(0))?;
            Ok(count.cast_unsigned())
        })
    }

    /// A small fact of the host.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Corrupt`], [`StoreError::Io`].
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.asked(|connection| {
            let found = connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0));
            Ok(found.optional()?)
        })
    }

    /// Keeps a small fact of the host, instead of the one of the same key.
    ///
    /// # Errors
    /// As [`Store::note_incident`].
    pub fn set_meta(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.check_writable()?;
        self.asked(|connection| set_meta(connection, key, value))
    }
}

pub(crate) fn note(connection: &Connection, at: Time, kind: &str, detail: &str) -> Result<u64, StoreError> {
    let insert = "INSERT INTO incidents (at, kind, detail) VALUES (?1, ?2, ?3)";
    connection.execute(insert, (at.cast_signed(), kind, detail))?;
    Ok(connection.last_insert_rowid().cast_unsigned())
}

pub(crate) fn set_meta(connection: &Connection, key: &str, value: &str) -> Result<(), StoreError> {
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", [key, value])?;
    Ok(())
}

pub(crate) fn incidents(connection: &Connection, order: &str, most: usize) -> Result<Vec<Incident>, StoreError> {
    let query = format!("SELECT id, at, kind, detail FROM incidents ORDER BY id {order} LIMIT ?1");
    let mut statement = connection.prepare(&query)?;
    let rows = statement.query_map([i64::try_from(most).unwrap_or(i64::MAX)], |row| {
        Ok(Incident {
            id: row.get::<_, i64>(0)?.cast_unsigned(),
            at: row.get::<_, i64>(1)?.cast_unsigned(),
            kind: row.get(2)?,
            detail: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// All facts, ordered by key.
pub(crate) fn all_meta(connection: &Connection) -> Result<Vec<(String, String)>, StoreError> {
    let mut statement = connection.prepare("SELECT key, value FROM meta ORDER BY key")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
