//! The keys that sign the ledger's heads: whoever has them, and a folder of files that holds them.
//!
//! A file holds one key as a line in the form of Go's `note` package, `PRIVATE+KEY+<name>+<key id>+<base64>`, is named by the key id,
//! and only its owner may read it. It is made whole, never written over, and what it holds is neither shown nor kept in memory.

use crate::error::StoreError;
use crate::file;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use stigmergate_core::attest::key::PublicKey;
use stigmergate_core::attest::signer::{Ed25519Signer, Signer};
use zeroize::Zeroizing;

/// Whoever has keys: a folder, or a host that signs elsewhere.
pub trait Keys: fmt::Debug + Send + Sync {
    /// Whoever signs with this key.
    ///
    /// # Errors
    /// [`StoreError::KeyMissing`] and [`StoreError::KeyUnusable`].
    fn signer(&self, key: &PublicKey) -> Result<Box<dyn Signer>, StoreError>;
}

/// A folder of key files.
#[derive(Clone, Debug)]
pub struct KeyFolder {
    path: PathBuf,
}

/// A key that has a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    /// What everybody may know of it.
    pub key: PublicKey,
    /// Whether another key has taken its place.
    pub is_retired: bool,
    /// The file.
    pub path: PathBuf,
}

/// How the names of keys in use end.
const IN_USE: &str = "key";
/// How the names of keys end that others have taken the place of.
const RETIRED: &str = "retired";
/// More is no key file.
const MOST_BYTES: u64 = 1024;
/// Before the seed: the algorithm, as in a verifier key.
const ED25519: u8 = 1;

impl KeyFolder {
    /// The keys in a folder, which need not be there.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a random Ed25519 key. The folder gets mode 0700, the file 0600.
    ///
    /// # Errors
    /// [`StoreError::Core`] for a name that cannot be one; [`StoreError::Exists`]; [`StoreError::Io`], [`StoreError::ReadOnly`] and
    /// [`StoreError::DiskFull`] where no file can be made.
    pub fn create(&self, name: &str) -> Result<PublicKey, StoreError> {
        let mut seed = Zeroizing::new([0_u8; 32]);
        getrandom::fill(seed.as_mut())
            .map_err(|error| StoreError::Io { detail: format!("no random bytes can be had: {error}") })?;
        let signer = Ed25519Signer::from_seed(name, &seed)?;
        self.make_private()?;
        self.write(signer.public(), &seed)?;
        Ok(signer.public().clone())
    }

    /// The keys, those in use first, each group by id.
    ///
    /// # Errors
    /// [`StoreError::KeyUnusable`] for a file that is not as it has to be, [`StoreError::Io`].
    pub fn list(&self) -> Result<Vec<KeyFile>, StoreError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(StoreError::io("reading the keys' folder", &error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| StoreError::io("reading the keys' folder", &error))?.path();
            let is_retired = match path.extension().and_then(|ending| ending.to_str()) {
                Some(IN_USE) => false,
                Some(RETIRED) => true,
                _ => continue,
            };
            found.push(KeyFile { key: read(&path)?.public().clone(), is_retired, path });
        }
        found.sort_by(|a, b| (a.is_retired, &a.path).cmp(&(b.is_retired, &b.path)));
        Ok(found)
    }

    /// Sets a key aside that another has taken the place of. Its file is kept.
    ///
    /// # Errors
    /// [`StoreError::Io`]; nothing where it was set aside before.
    pub fn retire(&self, key: &PublicKey) -> Result<(), StoreError> {
        let (from, to) = (self.place(key, IN_USE), self.place(key, RETIRED));
        let failed = |error| StoreError::io("setting a key aside", &error);
        match fs::hard_link(&from, &to) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        fs::remove_file(&from).map_err(failed)?;
        file::sync_folder(&to);
        Ok(())
    }

    fn place(&self, key: &PublicKey, ending: &str) -> PathBuf {
        self.path.join(format!("{}.{ending}", key.id()))
    }

    fn make_private(&self) -> Result<(), StoreError> {
        file::make_folder(&self.path)?;
        #[cfg(unix)]
        fs::set_permissions(&self.path, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .map_err(|error| StoreError::io("closing the keys' folder to others", &error))?;
        Ok(())
    }

    /// Makes the file beside its place and links it there: nobody ever meets half of one, and none is written over.
    fn write(&self, key: &PublicKey, seed: &[u8; 32]) -> Result<(), StoreError> {
        let place = self.place(key, IN_USE);
        let beside = self.place(key, &format!("{}.new", std::process::id()));
        let failed = |error: std::io::Error| match error.kind() {
            ErrorKind::AlreadyExists => StoreError::Exists { path: place.clone() },
            ErrorKind::PermissionDenied => StoreError::ReadOnly { detail: format!("no key file can be made: {error}") },
            _ => StoreError::io("making a key file", &error),
        };
        let text = secret_line(key, seed);
        let made = file::new_file(&beside)
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
            .and_then(|()| fs::hard_link(&beside, &place));
        let removed = fs::remove_file(&beside);
        made.and(removed).map_err(failed)?;
        file::sync_folder(&place);
        Ok(())
    }
}

impl Keys for KeyFolder {
    fn signer(&self, key: &PublicKey) -> Result<Box<dyn Signer>, StoreError> {
        let path = self.place(key, IN_USE);
        if !path.exists() {
            return Err(StoreError::KeyMissing { key: key.to_string(), folder: Some(self.path.clone()) });
        }
        let signer = read(&path)?;
        if signer.public() != key {
            let detail = format!("it holds another key than {key}");
            return Err(StoreError::KeyUnusable { path, detail });
        }
        Ok(Box::new(signer))
    }
}

fn secret_line(key: &PublicKey, seed: &[u8; 32]) -> Zeroizing<String> {
    // Long enough, so that no part of it is left behind where it grows.
    let mut line = Zeroizing::new(String::with_capacity(usize::try_from(MOST_BYTES).unwrap_or(1024)));
    line.push_str(&format!("PRIVATE+KEY+{}+{}+", key.name(), key.id()));
    let mut bytes = Zeroizing::new([ED25519; 33]);
    bytes.iter_mut().skip(1).zip(seed).for_each(|(to, from)| *to = *from);
    BASE64.encode_string(bytes.as_slice(), &mut line);
    line.push('\n');
    line
}

/// Reads a key file: a regular file that only its owner may read.
fn read(path: &Path) -> Result<Ed25519Signer, StoreError> {
    let wrong = |detail: &str| StoreError::KeyUnusable { path: path.to_path_buf(), detail: detail.to_string() };
    let unreadable = |error: std::io::Error| wrong(&error.to_string());
    let found = fs::symlink_metadata(path).map_err(unreadable)?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return Err(wrong("it is no key file"));
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(&found) & 0o077 != 0 {
        return Err(wrong("others than its owner may use it (chmod 600, if nobody has)"));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(MOST_BYTES).unwrap_or(1024)));
    fs::File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes)).map_err(unreadable)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong("it is no text"))?;
    let signer =
        parse(text.trim_end()).ok_or_else(|| wrong("it does not hold a line PRIVATE+KEY+<name>+<id>+<base64>"))?;
    if path.file_stem().and_then(|name| name.to_str()) != Some(signer.public().id().to_string().as_str()) {
        return Err(wrong("it is not named by the id of the key that it holds"));
    }
    Ok(signer)
}

fn parse(line: &str) -> Option<Ed25519Signer> {
    let (name, rest) = line.strip_prefix("PRIVATE+KEY+")?.split_once('+')?;
    let (id, secret) = rest.split_once('+')?;
    let mut bytes = Zeroizing::new([0_u8; 48]);
    let length = BASE64.decode_slice(secret, bytes.as_mut()).ok()?;
    let (algorithm, seed) = bytes.get(..length)?.split_first()?;
    let seed = Zeroizing::new(<[u8; 32]>::try_from(seed).ok().filter(|_| *algorithm == ED25519)?);
    Ed25519Signer::from_seed(name, &seed).ok().filter(|signer| signer.public().id().to_string() == id)
}
