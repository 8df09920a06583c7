//! What can go wrong with the file, as data: a stable code, and what is intact.

use core::fmt;
use std::path::PathBuf;
use std::time::Duration;
use stigmergate_core::error::Error;

/// Why a store did not do what it was asked. What was acknowledged before is in the file, unless this says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no file at the path.
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// There is a file at the path already, and nothing is written over it.
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The path cannot name a store: a folder, a link to nothing, no name at all.
    Path {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The file is something else. It was not touched.
    NotAStore {
        /// The path.
        path: PathBuf,
        /// What it seems to be.
        detail: String,
    },
    /// The file, or a record in it, was written by a later version. It was not touched.
    NewerVersion {
        /// What has the version.
        what: String,
        /// The version found.
        found: u32,
        /// The latest version that can be read.
        supported: u32,
    },
    /// A part of the file is exactly what was written, and yet this build cannot read it: another build has another form of it. It was
    /// not touched.
    AnotherForm {
        /// The part.
        what: String,
        /// Where reading ended.
        detail: String,
    },
    /// The file or its folder cannot be written, or the store was opened for reading.
    ReadOnly {
        /// What cannot be done.
        detail: String,
    },
    /// There is no room for another record. Nothing of the command was kept.
    DiskFull,
    /// Other processes held the file all the time. Nothing of the command was kept.
    Busy {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The file is damaged.
    Corrupt {
        /// How many records, from the first, are whole and in sequence.
        intact_records: u64,
        /// Where, and what was found.
        detail: String,
    },
    /// A record does not do again what it did: it was written by a build that judges otherwise.
    Diverged {
        /// The record.
        sequence: u64,
        /// What differs.
        detail: String,
    },
    /// A line of an import cannot be used. Nothing was made.
    Import {
        /// The line's number, from 1.
        line: u64,
        /// What is wrong with it.
        detail: String,
    },
    /// The key that the signed ledger needs is not at hand. Nothing of the command was kept.
    KeyMissing {
        /// The verifier key of the one that is needed.
        key: String,
        /// Where it was looked for, where there is a place for keys.
        folder: Option<PathBuf>,
    },
    /// A key's file is not as it has to be. Nothing of the command was kept.
    KeyUnusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it; never what it holds.
        detail: String,
    },
    /// The operating system refused something else.
    Io {
        /// What it said.
        detail: String,
    },
    /// The core refused the command.
    Core(Error),
}

impl StoreError {
    /// The stable code; for [`StoreError::Core`] the core's own.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::Exists { .. } => "exists",
            Self::Path { .. } => "path",
            Self::NotAStore { .. } => "not_a_store",
            Self::NewerVersion { .. } => "newer_version",
            Self::AnotherForm { .. } => "another_form",
            Self::ReadOnly { .. } => "read_only",
            Self::DiskFull => "disk_full",
            Self::Busy { .. } => "busy",
            Self::Corrupt { .. } => "corrupt",
            Self::Diverged { .. } => "diverged",
            Self::Import { .. } => "import",
            Self::KeyMissing { .. } => "ledger_key_missing",
            Self::KeyUnusable { .. } => "ledger_key_unusable",
            Self::Io { .. } => "io",
            Self::Core(error) => error.code(),
        }
    }

    /// Damage, before the intact records were counted.
    pub(crate) fn corrupt(detail: impl Into<String>) -> Self {
        Self::Corrupt { intact_records: 0, detail: detail.into() }
    }

    pub(crate) fn io(doing: &str, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::DiskFull,
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { detail: format!("{doing}: {error}") },
            _ => Self::Io { detail: format!("{doing}: {error}") },
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { path } => write!(out, "there is no store at {}", path.display()),
            Self::Exists { path } => {
                write!(out, "{} exists already and is left as it is; choose another name", path.display())
            }
            Self::Path { path, detail } => write!(out, "{} cannot hold a store: {detail}", path.display()),
            Self::NotAStore { path, detail } => write!(
                out,
                "{} is no store of stigmergate ({detail}) and is left as it is; name another file",
                path.display()
            ),
            Self::NewerVersion { what, found, supported } => write!(
                out,
                "{what} has version {found}, this build reads up to version {supported}; nothing was changed, use a later build"
            ),
            Self::AnotherForm { what, detail } => write!(
                out,
                "{what} is whole, and was written by a build with another form of it, earlier or later ({detail}); nothing was changed: go on with that build, or move the store's files away to begin anew"
            ),
            Self::ReadOnly { detail } => write!(out, "the store can only be read: {detail}"),
            Self::DiskFull => out.write_str(
                "the disk is full: this command was not kept, all acknowledged ones are; make room and try again",
            ),
            Self::Busy { waited } => write!(
                out,
                "other processes held the store for {} ms: this command was not kept, all acknowledged ones are; try again",
                waited.as_millis()
            ),
            Self::Corrupt { intact_records, detail } => write!(
                out,
                "the store is damaged ({detail}): the first {intact_records} records are intact; repair keeps what is whole and the damaged file besides"
            ),
            Self::Diverged { sequence, detail } => write!(
                out,
                "record {sequence} was written by a build that judges otherwise ({detail}); the journal is intact, use that build"
            ),
            Self::Import { line, detail } => write!(out, "line {line} cannot be imported: {detail}; nothing was made"),
            Self::KeyMissing { key, folder: None } => {
                write!(out, "the ledger's key {key} is needed to sign, and nobody has it here; nothing was applied")
            }
            Self::KeyMissing { key, folder: Some(folder) } => write!(
                out,
                "the ledger's key {key} is needed to sign, and is not in {}; bring its file back; nothing was applied",
                folder.display()
            ),
            Self::KeyUnusable { path, detail } => {
                write!(out, "the key file {} cannot be used: {detail}; nothing was applied", path.display())
            }
            Self::Io { detail } => out.write_str(detail),
            Self::Core(error) => fmt::Display::fmt(error, out),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Core(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<stigmergate_core::attest::Error> for StoreError {
    fn from(error: stigmergate_core::attest::Error) -> Self {
        Self::Core(error.into())
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                Self::Busy { waited: Duration::ZERO }
            }
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { detail },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
                Self::corrupt(detail)
            }
            Some(_) => Self::Io { detail },
            // A column of another type, a missing row, a missing table: the file is not as it was written.
            None => Self::corrupt(detail),
        }
    }
}

/// A column that does not hold what was written there.
impl From<rusqlite::types::FromSqlError> for StoreError {
    fn from(error: rusqlite::types::FromSqlError) -> Self {
        Self::corrupt(error.to_string())
    }
}
