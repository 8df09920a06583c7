//! Where things are, and which policy holds there (SPEC 11, rules).
//!
//! The user's file may set anything. The project's file came with the repository, and an agent or a stranger may have written it: until
//! the user trusts it by its digest, only what makes the gate stricter is taken from it, and the rest is named and left aside.
//!
//! | what | where |
//! |---|---|
//! | the user's file | `stigmergate/stigmergate.toml` in the configuration folder |
//! | the project's file | `stigmergate.toml` at the repository's root |
//! | the store | `stigmergate/<folder>-<8 digits of the root's SHA-256>/store.db` in the data folder |
//! | its keys | `keys/` beside it |
//! | kept heads of ledgers | `stigmergate/anchors/` in the data folder |
//! | trusted digests | `stigmergate/trusted` in the data folder, a line each, as `sha256sum` prints them |

use crate::repository::Repository;
use etcetera::{BaseStrategy, choose_base_strategy};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use stigmergate_core::budget::Dimension;
use stigmergate_core::error::Error;
use stigmergate_core::glob::Glob;
use stigmergate_core::kernel::Kernel;
use stigmergate_core::policy::{AttestMode, Caps, MAX_POLICY_BYTES, Policy};

/// The name of a settings file, the user's and the project's.
pub const FILE_NAME: &str = "stigmergate.toml";

/// Lists to which a project's file adds; everywhere else a list replaces.
const ADDED_TO: [&str; 16] = [
    "rules.deny",
    "rules.ask",
    "rules.allow",
    "rules.deny_paths",
    "rules.protected",
    "commands.rows",
    "classes",
    "places.protected",
    "places.secrets",
    "places.not_secrets",
    "places.secret_names",
    "places.shared_branches",
    "places.production",
    "places.test_data",
    "places.own_services",
    "places.not_own_services",
];

/// A SHA-256 digest of a file, as 64 lower-case hexadecimal digits: what `sha256sum` prints.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileDigest(String);

impl FileDigest {
    fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The 64 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 8 digits.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

impl fmt::Display for FileDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Why there are no settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// The platform does not say where configuration and data belong.
    NoHome,
    /// A file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// A file cannot be written.
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// It is there, and no regular file.
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// It is longer than a policy may be.
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound in bytes.
        limit: usize,
    },
    /// It is no UTF-8.
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The first byte that is none, from 0.
        offset: usize,
    },
    /// It is no TOML.
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        detail: String,
    },
    /// It is TOML, and no policy.
    Policy {
        /// The file.
        path: PathBuf,
        /// The key, with dots.
        field: String,
        /// What would be right.
        expected: String,
    },
}

impl SettingsError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoHome => "settings_no_home",
            Self::Unreadable { .. } => "settings_unreadable",
            Self::Unwritable { .. } => "settings_unwritable",
            Self::NotAFile { .. } => "settings_not_a_file",
            Self::TooLarge { .. } => "settings_too_large",
            Self::NotUtf8 { .. } => "settings_not_utf8",
            Self::Syntax { .. } => "settings_syntax",
            Self::Policy { .. } => "settings_policy",
        }
    }

    /// The key that is wrong, where one is.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        if let Self::Policy { field, .. } = self { Some(field) } else { None }
    }

    fn policy(path: &Path, field: &str, expected: &str) -> Self {
        Self::Policy { path: path.to_path_buf(), field: field.to_owned(), expected: expected.to_owned() }
    }

    fn core(path: &Path, error: Error) -> Self {
        match error {
            Error::Policy { field, expected } | Error::Value { field, expected } => {
                Self::policy(path, field.as_str(), &expected)
            }
            other => Self::policy(path, "", &other.to_string()),
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHome => out.write_str("no home folder is known; set HOME"),
            Self::Unreadable { path, detail } => write!(out, "{} cannot be read: {detail}", path.display()),
            Self::Unwritable { path, detail } => write!(out, "{} cannot be written: {detail}", path.display()),
            Self::NotAFile { path, what } => write!(out, "{} is {what}, not a file", path.display()),
            Self::TooLarge { path, limit } => write!(out, "{} is longer than {limit} bytes", path.display()),
            Self::NotUtf8 { path, offset } => write!(out, "{} is not UTF-8 at byte {offset}", path.display()),
            Self::Syntax { path, line, column, detail } => {
                write!(out, "{}:{line}:{column}: {detail}", path.display())
            }
            Self::Policy { path, field, expected } if field.is_empty() => {
                write!(out, "{}: expected {expected}", path.display())
            }
            Self::Policy { path, field, expected } => {
                write!(out, "{}: {field}: expected {expected}", path.display())
            }
        }
    }
}

impl std::error::Error for SettingsError {}

/// Where the things of one repository are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locations {
    /// The repository's root, or the folder itself where there is no repository; without symbolic links.
    pub root: PathBuf,
    /// Whether `root` is that of a git repository.
    pub in_repository: bool,
    /// The gate's own folder for data.
    pub data: PathBuf,
    /// The store.
    pub store: PathBuf,
    /// The user's file.
    pub user_file: PathBuf,
    /// The project's file.
    pub project_file: PathBuf,
    /// The digests of the project files that the user trusts.
    pub trusted_file: PathBuf,
}

impl Locations {
    /// The locations that hold in a folder.
    ///
    /// # Errors
    /// [`SettingsError::NoHome`]; [`SettingsError::Unreadable`] for a folder that is not there.
    pub fn of(folder: &Path) -> Result<Self, SettingsError> {
        let base = choose_base_strategy().map_err(|_| SettingsError::NoHome)?;
        let (config, data) = (base.config_dir().join("stigmergate"), base.data_dir().join("stigmergate"));
        let folder = fs::canonicalize(folder).map_err(|error| unreadable(folder, &error))?;
        let repository = Repository::discover(&folder);
        let root = repository.as_ref().map_or(folder.as_path(), Repository::root).to_path_buf();
        Ok(Self {
            in_repository: repository.is_some(),
            store: data.join(store_name(&root)).join("store.db"),
            user_file: config.join(FILE_NAME),
            project_file: root.join(FILE_NAME),
            trusted_file: data.join("trusted"),
            data,
            root,
        })
    }

    /// The same with another store.
    #[must_use]
    pub fn with_store(mut self, store: &Path) -> Self {
        let store = std::path::absolute(store).unwrap_or_else(|_| store.to_path_buf());
        let folder = store.parent().and_then(|folder| fs::canonicalize(folder).ok());
        self.store = folder.zip(store.file_name()).map_or_else(|| store.clone(), |(folder, name)| folder.join(name));
        self
    }

    /// The folder of the keys that sign the store's ledger.
    #[must_use]
    pub fn keys(&self) -> PathBuf {
        self.store.parent().unwrap_or(&self.data).join("keys")
    }

    /// Where the head of the store's ledger is kept that it is compared with later: not beside the store.
    #[must_use]
    pub fn anchor(&self) -> PathBuf {
        self.anchors().join(store_name(&self.store) + ".checkpoint")
    }

    /// The folder of such heads.
    #[must_use]
    pub fn anchors(&self) -> PathBuf {
        self.data.join("anchors")
    }

    /// The gate's own files and folders, which nobody under judgement may change.
    #[must_use]
    pub fn own_files(&self) -> [PathBuf; 6] {
        let Self { store, trusted_file, user_file, project_file, .. } = self.clone();
        [store, self.keys(), self.anchors(), trusted_file, user_file, project_file]
    }

    /// Reads the settings that hold here.
    ///
    /// # Errors
    /// As [`Locations::read`] and [`Sources::settings`].
    pub fn load(&self) -> Result<Settings, SettingsError> {
        self.read()?.settings()
    }

    /// Reads the files, and nothing of what they say.
    ///
    /// # Errors
    /// [`SettingsError`] for a file that is there and cannot be read, is no file, or is too large.
    pub fn read(&self) -> Result<Sources, SettingsError> {
        let user = read_file(&self.user_file)?;
        let same = self.user_file == self.project_file;
        let project = if same { None } else { read_file(&self.project_file)? };
        let trusted = project.as_ref().is_some_and(|bytes| self.trusts(&self.project_file, &FileDigest::of(bytes)));
        Ok(Sources { locations: self.clone(), user, project, trusted })
    }

    /// Trusts a project's file as it is: whoever changes it has to be trusted again.
    ///
    /// # Errors
    /// [`SettingsError`] for a file that is absent or no valid settings, and for a list of trusted digests that cannot be written.
    pub fn trust(&self, file: &Path) -> Result<FileDigest, SettingsError> {
        let bytes = read_file(file)?.ok_or_else(|| unreadable(file, &io::ErrorKind::NotFound.into()))?;
        let path = fs::canonicalize(file).map_err(|error| unreadable(file, &error))?;
        if path.to_str().is_none_or(|path| path.chars().any(char::is_control)) {
            let detail = "the path has characters that do not fit a line of text".to_owned();
            return Err(SettingsError::Unwritable { path, detail });
        }
        let given = parse(file, &bytes)?;
        read_usable_policy(file, &given)?;
        let digest = FileDigest::of(&bytes);
        let mut lines: Vec<String> = self.trust_lines().filter(|(_, known)| *known != path).map(trust_line).collect();
        lines.push(trust_line((digest.as_str().to_owned(), path)));
        replace_file(&self.trusted_file, (lines.join("\n") + "\n").as_bytes())?;
        Ok(digest)
    }

    fn trusts(&self, file: &Path, digest: &FileDigest) -> bool {
        let Ok(path) = fs::canonicalize(file) else { return false };
        self.trust_lines().any(|(known, place)| known == digest.as_str() && place == path)
    }

    /// The trusted digests and whose they are. A list that cannot be read trusts nothing.
    fn trust_lines(&self) -> impl Iterator<Item = (String, PathBuf)> + use<> {
        let text = read_file(&self.trusted_file).ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok());
        let text = text.unwrap_or_default();
        let lines = text.lines().filter_map(|line| {
            let (digest, path) = line.split_once("  ")?;
            Some((digest.to_owned(), PathBuf::from(path)))
        });
        lines.collect::<Vec<_>>().into_iter()
    }
}

fn trust_line((digest, path): (String, PathBuf)) -> String {
    format!("{digest}  {}", path.display())
}

/// `<folder name>-<8 digits>`: a name that people recognise, and that no two roots share.
fn store_name(root: &Path) -> String {
    let digest = FileDigest::of(root.as_os_str().as_encoded_bytes());
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = name.chars().map(|c| if c.is_control() || c == '/' { '_' } else { c }).take(64).collect();
    format!("{}-{}", if name.is_empty() { "root" } else { &name }, digest.short())
}

/// The settings files as they were read.
#[derive(Clone, Debug)]
pub struct Sources {
    locations: Locations,
    user: Option<Vec<u8>>,
    project: Option<Vec<u8>>,
    trusted: bool,
}

/// A file that took part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its digest.
    pub digest: FileDigest,
    /// Whether all of it counts.
    pub trusted: bool,
}

/// What holds.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The policy.
    pub policy: Policy,
    /// The files that it comes from, the user's first.
    pub sources: Vec<SourceFile>,
    /// The keys of an untrusted project's file that would make the gate less strict; they do not count.
    pub ignored: Vec<String>,
    /// A digest that changes when the policy could: as [`Sources::fingerprint`].
    pub fingerprint: FileDigest,
}

impl Sources {
    /// A digest of all that the policy depends on: while it stays the same, the policy need not be built again.
    #[must_use]
    pub fn fingerprint(&self) -> FileDigest {
        let mut hasher = Sha256::new();
        // Presets differ between versions.
        hasher.update(env!("CARGO_PKG_VERSION"));
        let files = [&self.user, &self.project].map(|bytes| bytes.as_deref());
        for file in files {
            hasher.update(file.map_or(u64::MAX, |bytes| bytes.len() as u64).to_le_bytes());
            hasher.update(file.unwrap_or_default());
        }
        hasher.update([u8::from(self.trusted)]);
        FileDigest(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The policy that the files make.
    ///
    /// # Errors
    /// [`SettingsError`] that names the file, and the line or the key.
    pub fn settings(&self) -> Result<Settings, SettingsError> {
        let locations = &self.locations;
        let mut sources = Vec::new();
        let mut given = Map::new();
        if let Some(bytes) = &self.user {
            given = parse(&locations.user_file, bytes)?;
            sources.push(source(&locations.user_file, bytes, true));
        }
        let user = read_policy(&locations.user_file, &given)?;
        let mut ignored = Vec::new();
        let policy = match &self.project {
            None => user,
            Some(bytes) => {
                sources.push(source(&locations.project_file, bytes, self.trusted));
                let project = parse(&locations.project_file, bytes)?;
                merge(&mut given, &project, "");
                // Trusted or not, what it says has to make sense.
                let merged = read_policy(&locations.project_file, &given)?;
                if self.trusted { merged } else { tighten(user, &project, &mut ignored) }
            }
        };
        Ok(Settings { policy, sources, ignored, fingerprint: self.fingerprint() })
    }
}

fn source(path: &Path, bytes: &[u8], trusted: bool) -> SourceFile {
    SourceFile { path: path.to_path_buf(), digest: FileDigest::of(bytes), trusted }
}

/// Checks a file by itself, as the user's, and reads its policy.
///
/// # Errors
/// [`SettingsError`] that names the line or the key.
pub fn check_file(file: &Path) -> Result<Policy, SettingsError> {
    let bytes = read_file(file)?.ok_or_else(|| unreadable(file, &io::ErrorKind::NotFound.into()))?;
    read_policy(file, &parse(file, &bytes)?)
}

/// The bytes of a file; `None` where nothing is there. Never waits, as the opening of a pipe would.
fn read_file(path: &Path) -> Result<Option<Vec<u8>>, SettingsError> {
    let kind = match fs::metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(path, &error)),
    };
    if !kind.is_file() {
        let what = if kind.is_dir() { "a folder" } else { "a pipe, a socket or a device" };
        return Err(SettingsError::NotAFile { path: path.to_path_buf(), what });
    }
    let file = fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_POLICY_BYTES).unwrap_or(u64::MAX);
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() > MAX_POLICY_BYTES {
        return Err(SettingsError::TooLarge { path: path.to_path_buf(), limit: MAX_POLICY_BYTES });
    }
    Ok(Some(bytes))
}

fn unreadable(path: &Path, error: &io::Error) -> SettingsError {
    SettingsError::Unreadable { path: path.to_path_buf(), detail: error.to_string() }
}

/// Replaces a file whole, or not at all, in a folder that is only the user's.
fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), SettingsError> {
    let write = || -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        make_private_folder(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| SettingsError::Unwritable { path: path.to_path_buf(), detail: error.to_string() })
}

/// Makes a folder, and those above it, for the user alone.
///
/// # Errors
/// What the system says.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// TOML as the JSON that policies are read from.
fn parse(path: &Path, bytes: &[u8]) -> Result<Map<String, Value>, SettingsError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| SettingsError::NotUtf8 { path: path.to_path_buf(), offset: error.valid_up_to() })?;
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at.saturating_add(1));
        SettingsError::Syntax {
            path: path.to_path_buf(),
            line: before.matches('\n').count().saturating_add(1),
            column: before.get(line_start..).unwrap_or_default().chars().count().saturating_add(1),
            detail: error.message().to_owned(),
        }
    })?;
    let mut object = Map::new();
    for (key, value) in table {
        let json = to_json(path, value, &key)?;
        object.insert(key, json);
    }
    check_lists(path, &object)?;
    Ok(object)
}

fn to_json(path: &Path, value: toml::Value, here: &str) -> Result<Value, SettingsError> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map(Value::Number)
            .ok_or_else(|| SettingsError::policy(path, here, "a finite number"))?,
        toml::Value::Datetime(_) => return Err(SettingsError::policy(path, here, "a number or text, not a date")),
        toml::Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| to_json(path, item, here)).collect::<Result<_, _>>()?)
        }
        toml::Value::Table(table) => {
            let mut object = Map::new();
            for (key, value) in table {
                let json = to_json(path, value, &format!("{here}.{key}"))?;
                object.insert(key, json);
            }
            Value::Object(object)
        }
    })
}

/// A single rule without brackets is an easy slip, and must not read as one rule for each letter or as none.
fn check_lists(path: &Path, given: &Map<String, Value>) -> Result<(), SettingsError> {
    let texts = ADDED_TO.iter().filter(|name| name.starts_with("rules.") || name.starts_with("places."));
    for name in texts {
        let Some((section, key)) = name.split_once('.') else { continue };
        let Some(section) = given.get(section).and_then(Value::as_object) else { continue };
        for spelling in [key.to_owned(), format!("{key}!")] {
            let Some(value) = section.get(&spelling) else { continue };
            let right = value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
            if !right {
                return Err(SettingsError::policy(path, name, r#"an array of texts, such as ["one", "two"]"#));
            }
        }
    }
    Ok(())
}

fn read_policy(path: &Path, given: &Map<String, Value>) -> Result<Policy, SettingsError> {
    Policy::from_object(given).map_err(|error| SettingsError::core(path, error))
}

/// The same, for a kernel to take: another one would block every call.
fn read_usable_policy(path: &Path, given: &Map<String, Value>) -> Result<Policy, SettingsError> {
    let policy = read_policy(path, given)?;
    Kernel::accepts(&policy).map_err(|error| SettingsError::core(path, error))?;
    Ok(policy)
}

/// Lays a project's settings over the user's.
fn merge(base: &mut Map<String, Value>, over: &Map<String, Value>, path: &str) {
    for (key, value) in over {
        let (name, replaces) = key.strip_suffix('!').map_or((key.as_str(), false), |name| (name, true));
        let here = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let replaced = format!("{name}!");
        if replaces {
            base.remove(name);
            base.insert(replaced, value.clone());
            continue;
        }
        // A list that the user replaced is added to where it stands.
        let standing = if base.contains_key(&replaced) { replaced } else { name.to_owned() };
        match (base.get_mut(&standing), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => merge(inner, more, &here),
            (Some(Value::Array(items)), Value::Array(more)) if ADDED_TO.contains(&here.as_str()) => {
                let fresh: Vec<Value> = more.iter().filter(|item| !items.contains(item)).cloned().collect();
                items.extend(fresh);
            }
            _ => {
                base.insert(standing, value.clone());
            }
        }
    }
}

/// The user's policy, stricter by what a project's file asks for. What would loosen it is named in `ignored`.
fn tighten(mut policy: Policy, project: &Map<String, Value>, ignored: &mut Vec<String>) -> Policy {
    let mut leaves = Vec::new();
    collect_leaves(project, &mut Vec::new(), &mut leaves);
    for (path, value) in leaves {
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        if !take(&mut policy, &names, value) {
            ignored.push(path.join("."));
        }
    }
    policy
}

/// Takes one key where it makes the policy stricter, or changes nothing.
fn take(policy: &mut Policy, path: &[&str], value: &Value) -> bool {
    match path {
        // What is replaced is taken away first.
        _ if path.iter().any(|name| name.ends_with('!')) => false,
        ["preset"] => value.as_str() == Some(policy.preset.as_str()),
        ["rules", "deny"] => add_texts(&mut policy.rules.deny, value),
        ["rules", "ask"] => add_texts(&mut policy.rules.ask, value),
        ["rules", "deny_paths"] => add_globs(&mut policy.rules.deny_paths, value),
        ["rules", "protected"] => add_globs(&mut policy.rules.protected, value),
        ["places", "protected"] => add_globs(&mut policy.places.protected, value),
        ["places", "secrets"] => add_globs(&mut policy.places.secrets, value),
        ["places", "shared_branches"] => add_globs(&mut policy.places.shared_branches, value),
        ["budget", "caps", name] => lower_cap(&mut policy.budget.caps, name, value),
        ["budget", "accounts", account, name] => {
            let mut caps = policy.budget.accounts.get(*account).cloned().unwrap_or_default();
            let taken = lower_cap(&mut caps, name, value);
            if !caps.is_unlimited() {
                policy.budget.accounts.insert((*account).to_owned(), caps);
            }
            taken
        }
        ["approval", "unattended"] => {
            let asked = value.as_bool() == Some(true);
            let loosens = !asked && policy.approval.unattended;
            policy.approval.unattended |= asked;
            !loosens
        }
        ["attest", "mode"] => {
            let Ok(mode) = serde_json::from_value::<AttestMode>(value.clone()) else { return false };
            let stricter = strictness(mode) >= strictness(policy.attest.mode);
            if stricter {
                policy.attest.mode = mode;
            }
            stricter
        }
        _ => false,
    }
}

const fn strictness(mode: AttestMode) -> u8 {
    match mode {
        AttestMode::Disabled => 0,
        AttestMode::Optional => 1,
        AttestMode::Required => 2,
    }
}

fn add_texts(list: &mut Vec<String>, value: &Value) -> bool {
    for text in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !list.iter().any(|known| known == text) {
            list.push(text.to_owned());
        }
    }
    true
}

fn add_globs(list: &mut Vec<Glob>, value: &Value) -> bool {
    for text in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !list.iter().any(|known| known.as_str() == text) {
            list.extend(Glob::new(text));
        }
    }
    true
}

fn lower_cap(caps: &mut Caps, name: &str, value: &Value) -> bool {
    let Some(dimension) = Dimension::ALL.into_iter().find(|dimension| dimension.as_str() == name) else { return false };
    let standing = caps.get(dimension);
    let Ok(asked) = serde_json::from_value(value.clone()) else { return standing.is_none() };
    if standing.is_some_and(|standing| standing < asked) {
        return false;
    }
    let slot = match dimension {
        Dimension::LlmCalls => &mut caps.llm_calls,
        Dimension::RuntimeSeconds => &mut caps.runtime_seconds,
        Dimension::RiskLevel => &mut caps.risk_level,
        Dimension::HumanAttentionMinutes => &mut caps.human_attention_minutes,
        Dimension::MergeRisk => &mut caps.merge_risk,
        Dimension::DocDebt => &mut caps.doc_debt,
        Dimension::SecurityExposure => &mut caps.security_exposure,
    };
    *slot = Some(asked);
    true
}

fn collect_leaves<'v>(
    given: &'v Map<String, Value>,
    path: &mut Vec<String>,
    leaves: &mut Vec<(Vec<String>, &'v Value)>,
) {
    for (key, value) in given {
        path.push(key.clone());
        match value {
            Value::Object(inner) => collect_leaves(inner, path, leaves),
            other => leaves.push((path.clone(), other)),
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests;
