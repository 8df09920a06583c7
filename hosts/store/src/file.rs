//! The file itself: where it lies, how it is made and how it is connected to.
//!
//! A file is made whole beside its place and then linked there, so that nobody ever meets half of one and of two processes that
//! make it at once the second finds the first one's. SQLite keeps two more files beside it, `-wal` and `-shm`.

use crate::error::StoreError;
use crate::mend;
use crate::options::{Durability, Options};
use crate::schema::{self, APPLICATION_ID};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The file's true place: absolute, links followed.
///
/// # Errors
/// [`StoreError::Path`] where no store can be, [`StoreError::NotAStore`] for what is neither file nor folder.
pub(crate) fn locate(path: &Path) -> Result<PathBuf, StoreError> {
    let wrong = |detail: &str| StoreError::Path { path: path.to_path_buf(), detail: detail.to_string() };
    if path.as_os_str().is_empty() {
        return Err(wrong("the path is empty"));
    }
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(wrong("it holds a NUL"));
    }
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return free_place(path);
        }
        Err(error) => return Err(StoreError::io(&path.display().to_string(), &error)),
    };
    if found.is_dir() {
        return Err(wrong("it is a folder"));
    }
    if !found.is_file() {
        return Err(StoreError::NotAStore { path: path.to_path_buf(), detail: "a pipe, socket or device".to_string() });
    }
    // A connection would take the rest of an empty file's log away.
    if found.len() == 0 {
        return Err(StoreError::NotAStore { path: path.to_path_buf(), detail: "an empty file".to_string() });
    }
    fs::canonicalize(path).map_err(|error| StoreError::io("the path", &error))
}

/// Where a file that is not there yet would be.
fn free_place(path: &Path) -> Result<PathBuf, StoreError> {
    let wrong = |detail: &str| StoreError::Path { path: path.to_path_buf(), detail: detail.to_string() };
    if fs::symlink_metadata(path).is_ok() {
        return Err(wrong("it is a symbolic link to nothing"));
    }
    let name = path.file_name().ok_or_else(|| wrong("it names no file"))?;
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if parent.ancestors().any(Path::is_file) {
        return Err(wrong("a part of it is a file, not a folder"));
    }
    let parent = fs::canonicalize(parent).or_else(|_| std::path::absolute(parent));
    Ok(parent.map_err(|error| StoreError::io("the folder", &error))?.join(name))
}

/// The path of a file beside another, its name continued.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Connects to a file that is there, and checks that it is a store.
pub(crate) fn connect(path: &Path, options: &Options) -> Result<Connection, StoreError> {
    let foreign = |detail: &str| StoreError::NotAStore { path: path.to_path_buf(), detail: detail.to_string() };
    let mode = if options.read_only { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
    let mut connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    protect(&connection, options)?;
    let mut id = application_id(&connection);
    if id.as_ref().is_err_and(is_unwritable_folder) {
        connection = connect_immutable(path)?;
        protect(&connection, options)?;
        id = application_id(&connection);
    }
    match id.map_err(StoreError::from) {
        Ok(APPLICATION_ID) => {}
        Ok(_) if !mend::was_a_store(path) => return Err(foreign("an SQLite file of another program")),
        Err(StoreError::Corrupt { .. }) if !mend::was_a_store(path) => return Err(foreign("no SQLite file")),
        Ok(_) => return Err(StoreError::corrupt("its first bytes are not as they were written")),
        Err(error) => return Err(error),
    }
    configure(&connection, options)?;
    Ok(connection)
}

/// It stands in the file's first bytes, so that no table has to be whole to tell whose file it is.
fn application_id(connection: &Connection) -> rusqlite::Result<i32> {
    connection.query_row("PRAGMA application_id", [], |row| row.get(0))
}

/// What SQLite says where it may not make the files beside.
fn is_unwritable_folder(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Connects to a file in a folder that cannot be written: only safe where no log beside the file holds more.
fn connect_immutable(path: &Path) -> Result<Connection, StoreError> {
    if fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0) {
        let detail = "its -wal file holds records that cannot be read without writing a -shm file beside it; \
                      copy the files to a folder that can be written"
            .to_string();
        return Err(StoreError::ReadOnly { detail });
    }
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => address.push(char::from(*byte)),
            _ => address.push_str(&format!("%{byte:02x}")),
        }
    }
    address.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(address, flags)?)
}

/// What holds before the file is looked at.
fn protect(connection: &Connection, options: &Options) -> Result<(), StoreError> {
    connection.busy_timeout(options.busy_timeout.min(Duration::from_secs(3600)))?;
    // The store checkpoints by its own rule: a process that comes and goes must not pay for one each time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // A file from elsewhere must not bring code.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    Ok(())
}

/// How the file is written. No memory map: a file that another process cuts off would end this one with a signal.
fn configure(connection: &Connection, options: &Options) -> Result<(), StoreError> {
    connection.execute_batch(match options.durability {
        Durability::Process => "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL",
        Durability::Power => "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = FULL",
    })?;
    if let Some(bytes) = options.max_bytes {
        // The size of a page that every file here is made with.
        let pages = (bytes / PAGE_BYTES).clamp(1, u64::from(u32::MAX - 1));
        connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    }
    Ok(())
}

/// SQLite's own choice: a record touches few pages, and each goes to the log whole.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// A file that is being made beside its place. It is removed unless it gets there.
pub(crate) struct Unfinished {
    at: PathBuf,
    place: PathBuf,
    /// What others see that it is still at work by.
    held: fs::File,
}

/// How the name of a file ends that is being made.
const UNFINISHED: &str = ".new";

/// Makes a file beside the place and holds it as long as this process is at it: what nobody holds was left behind by one that was ended.
fn hold(place: &Path) -> Result<(PathBuf, fs::File), StoreError> {
    /// Tells apart what one process makes.
    static MADE: AtomicU64 = AtomicU64::new(0);
    /// Who removes leftovers can come between the making and the holding, and files of an ended process may have these names, but not for ever.
    const TIMES: u32 = 64;
    for _ in 0..TIMES {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let at = beside(place, &format!(".{}-{number}{UNFINISHED}", std::process::id()));
        let file = match new_file(&at) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(StoreError::ReadOnly { detail: format!("no file can be made beside it: {error}") });
            }
            Err(error) => return Err(StoreError::io("making the store", &error)),
        };
        // Elsewhere a lock would keep SQLite from the file too, and nothing is removed there.
        if !cfg!(unix) || (file.lock().is_ok() && is_at(&file, &at)) {
            return Ok((at, file));
        }
    }
    Err(StoreError::Busy { waited: Duration::ZERO })
}

/// Whether an open file is still the one at this place.
fn is_at(file: &fs::File, at: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        match (file.metadata(), fs::symlink_metadata(at)) {
            (Ok(own), Ok(there)) => (own.dev(), own.ino()) == (there.dev(), there.ino()),
            _ => false,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        at.exists()
    }
}

/// Removes what processes that were ended have left half made beside a store. Only what nobody is at any more.
pub(crate) fn remove_leftovers(place: &Path) {
    if !cfg!(unix) {
        return;
    }
    let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let found = entry.file_name();
        let rest = found.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        let Some(rest) = rest.and_then(|rest| rest.strip_prefix(b".")) else { continue };
        let is_numbered = rest.strip_suffix(UNFINISHED.as_bytes()).is_some_and(|middle| {
            !middle.is_empty() && middle.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
        });
        let at = entry.path();
        if !is_numbered || !entry.file_type().is_ok_and(|found| found.is_file()) {
            continue;
        }
        let Ok(file) = fs::File::open(&at) else { continue };
        // Held until it is removed, so that who is about to hold it waits and then finds it gone.
        if file.try_lock().is_ok() && is_at(&file, &at) {
            remove_with_companions(&at);
        }
    }
}

fn remove_with_companions(at: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        // It is there or not, and nothing can be done about it.
        let _ = fs::remove_file(beside(at, suffix));
    }
}

impl Unfinished {
    /// Makes a file with empty tables and lets `fill` write into it.
    pub(crate) fn make(
        place: &Path,
        fill: impl FnOnce(&Connection) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let parent = place.parent().unwrap_or(Path::new("."));
        make_folder(parent)?;
        remove_leftovers(place);
        let (at, held) = hold(place)?;
        let unfinished = Self { held, at, place: place.to_path_buf() };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&unfinished.at, flags)?;
        // Nobody sees it before it is whole and on the disk.
        connection.execute_batch(&format!(
            "PRAGMA page_size = {PAGE_BYTES}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             PRAGMA application_id = {APPLICATION_ID}"
        ))?;
        schema::migrate(&connection)?;
        fill(&connection)?;
        connection.execute_batch("PRAGMA journal_mode = WAL")?;
        connection.close().map_err(|(_, error)| error)?;
        fs::File::open(&unfinished.at)
            .and_then(|file| file.sync_all())
            .map_err(|error| StoreError::io("writing the store", &error))?;
        Ok(unfinished)
    }

    /// Puts the file at its place, where nothing is yet. `false`: something is there meanwhile.
    pub(crate) fn place(self) -> Result<bool, StoreError> {
        let placed = match fs::hard_link(&self.at, &self.place) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            // A file system without links. Who makes a store there takes this lock first.
            Err(_) => {
                let lock = fs::File::create(beside(&self.place, ".lock"));
                let lock = lock.map_err(|error| StoreError::io("placing the store", &error))?;
                lock.lock().map_err(|error| StoreError::io("placing the store", &error))?;
                let free = fs::symlink_metadata(&self.place).is_err();
                if free {
                    fs::rename(&self.at, &self.place).map_err(|error| StoreError::io("placing the store", &error))?;
                }
                free
            }
        };
        sync_folder(&self.place);
        Ok(placed)
    }

    /// Puts the file at its place, instead of what is there.
    pub(crate) fn replace(self) -> Result<(), StoreError> {
        fs::rename(&self.at, &self.place).map_err(|error| StoreError::io("placing the store", &error))?;
        sync_folder(&self.place);
        Ok(())
    }

    /// Makes a copy of a damaged file and its log, with other first bytes.
    pub(crate) fn copy(place: &Path, head: &[u8], whole: &[u8]) -> Result<Self, StoreError> {
        use std::io::Write as _;
        let (at, held) = hold(place)?;
        let unfinished = Self { held, at, place: place.to_path_buf() };
        let failed = |error: std::io::Error| StoreError::io("copying the damaged store", &error);
        let mut file = &unfinished.held;
        file.write_all(head).map_err(failed)?;
        file.write_all(whole.get(head.len()..).unwrap_or_default()).map_err(failed)?;
        let log = beside(place, "-wal");
        if log.exists() {
            let mut to = new_file(&beside(&unfinished.at, "-wal")).map_err(failed)?;
            std::io::copy(&mut fs::File::open(log).map_err(failed)?, &mut to).map_err(failed)?;
        }
        Ok(unfinished)
    }

    /// Connects to it.
    pub(crate) fn connect(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.at, flags)?;
        protect(&connection, &Options::default())?;
        Ok(connection)
    }

    fn remove(&self) {
        remove_with_companions(&self.at);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Writes the folder's entries to the disk, where the system can.
pub(crate) fn sync_folder(path: &Path) {
    if let Some(Ok(folder)) = path.parent().map(fs::File::open) {
        // Systems that cannot sync a folder keep its entries otherwise.
        let _ = folder.sync_all();
    }
}

/// Makes a file that only its owner may read; an error where there is one.
pub(crate) fn new_file(path: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes the folders that are missing, which only their owner may enter.
pub(crate) fn make_folder(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| StoreError::io(&format!("making the folder {}", path.display()), &error))
}
