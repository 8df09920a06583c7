//! One name for a place, whatever the spelling.
//!
//! Agents write `./a`, `b/../a`, `~/x`, `C:\x` or an absolute path for one and the same file. Marks, rules and budgets
//! hang on the name, so a place is resolved the way the kernel would resolve it (links of existing ancestors
//! followed, `..` taken after the link) and is then named relative to the workspace when it lies inside it.
//!
//! This module observes only: it says where a place lies ([`Root`]) and whether destroying it would be a catastrophe
//! ([`Catastrophic`]); somebody else judges.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use glob::{MatchOptions, Pattern};

/// The longest spelling that is read, in bytes (SPEC 12, bounds of locations).
pub const MAX_SPELLING: usize = 4096;

/// Links followed before a path counts as endless, as on Linux.
const MAX_LINKS: usize = 40;

/// Components walked for one path, so that links into links cannot multiply without bound.
const MAX_STEPS: usize = 4096;

/// Directory entries looked at while one pattern is expanded.
const MAX_SCANNED: usize = 20_000;

/// Nesting followed by one `**`.
const MAX_DEPTH: usize = 32;

/// Whether names that differ only in case are one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// `A` and `a` are two files.
    Sensitive,
    /// `A` and `a` are one file; canonical texts are lower case.
    Insensitive,
}

impl Case {
    /// What the platform does by default.
    pub const fn of_platform() -> Self {
        if cfg!(any(windows, target_os = "macos")) { Self::Insensitive } else { Self::Sensitive }
    }
}

/// The root that a place lies below: the longest one that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// The repository, or the working directory where there is none.
    Workspace,
    /// A directory for scratch files.
    Temp,
    /// The home of the user.
    Home,
    /// Anywhere else.
    Outside,
    /// No place at all: a null device, a standard stream, a source of zeros.
    NoPlace,
}

/// Why the loss of a place would be a catastrophe, the gravest reason first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Catastrophic {
    /// `/`.
    FileSystemRoot,
    /// The root of a drive (`C:\`, `/mnt/c`) or of a network share.
    DriveRoot,
    /// A home, the user's own or that of somebody else.
    Home,
    /// A directory that holds the user's home.
    HomeAncestor,
    /// The root of the workspace.
    WorkspaceRoot,
    /// A directory that holds the workspace.
    WorkspaceAncestor,
    /// A directory that the operating system needs.
    SystemDirectory,
    /// A disk, a partition, or the machine's memory.
    DiskDevice,
}

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nothing, or nothing that may be seen.
    Absent,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// A spelling that names no place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceError {
    /// The spelling is empty.
    Empty,
    /// The spelling holds a NUL, which no file name can.
    Nul,
    /// The spelling has more than [`MAX_SPELLING`] bytes; it holds this many.
    TooLong(usize),
    /// The spelling begins with `~` and no home is known.
    NoHome,
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("an empty path names no place"),
            Self::Nul => f.write_str("a path cannot hold a NUL"),
            Self::TooLong(bytes) => write!(f, "a path of {bytes} bytes is longer than {MAX_SPELLING}"),
            Self::NoHome => f.write_str("the path begins with ~ and no home is known"),
        }
    }
}

impl std::error::Error for PlaceError {}

/// A place under its one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The canonical name: relative to the workspace when inside it (`.` for its root), else absolute; `/` separates.
    /// On a mapped drive it is `c:/...` in lower case. Bytes that are not UTF-8 are written `\xNN`.
    pub text: String,
    /// The absolute path with all links of its ancestors followed. The last component is not followed, unless the
    /// spelling asks for it by a trailing separator: a link that is removed is removed itself.
    pub path: PathBuf,
    /// The path with the last component followed too: what a write through a link reaches.
    pub target: PathBuf,
    /// The root that `path` lies below.
    pub root: Root,
    /// Why destroying `path` (or, for a pattern, all that it matches) would be a catastrophe.
    pub catastrophic: Option<Catastrophic>,
    /// Whether a component holds `*`, `?` or `[...]`, which a shell would expand; see [`Places::expand`].
    pub pattern: bool,
    /// What stands at `path`.
    pub kind: Kind,
    /// Whether the links of the path never end, so that `path` says less than it seems to.
    pub endless: bool,
}

/// What a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expansion {
    /// The places, sorted within each directory; a pattern without a match stands for itself.
    pub places: Vec<Place>,
    /// Whether a bound was reached and there may be more.
    pub more: bool,
}

/// The roots that places are named by. Nothing is read from disk until a place is asked for.
#[derive(Debug)]
pub struct Places {
    workspace: PathBuf,
    home: Option<PathBuf>,
    temporary: Vec<PathBuf>,
    case: Case,
    windows: bool,
    roots: OnceLock<Roots>,
}

/// The roots with their links followed.
#[derive(Debug)]
struct Roots {
    workspace: PathBuf,
    home: Option<PathBuf>,
    temporary: Vec<PathBuf>,
}

impl Places {
    /// Names places by `workspace` (the repository's root, or else the working directory), by the user's `home` and by
    /// the system's directories for temporary files.
    pub fn new(workspace: &Path, home: Option<&Path>) -> Self {
        let mut temporary = vec![std::env::temp_dir()];
        if cfg!(unix) {
            temporary.extend(["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from));
        }
        Self {
            workspace: workspace.to_owned(),
            home: home.map(Path::to_owned),
            temporary,
            case: Case::of_platform(),
            windows: cfg!(windows),
            roots: OnceLock::new(),
        }
    }

    /// Takes these directories for the temporary ones instead of the system's.
    pub fn with_temporary(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.temporary = directories.into_iter().collect();
        self.roots = OnceLock::new();
        self
    }

    /// Compares names by `case` instead of by the platform's policy.
    pub fn with_case(mut self, case: Case) -> Self {
        self.case = case;
        self
    }

    /// Reads every backslash as a separator and `NUL` as the null device, as PowerShell and cmd do.
    pub fn with_windows_spelling(mut self, windows: bool) -> Self {
        self.windows = windows;
        self
    }

    /// The root of the workspace with its links followed.
    pub fn workspace(&self) -> &Path {
        &self.roots().workspace
    }

    /// A path that lies in the home, as `~/x`.
    pub fn in_home(&self, path: &Path) -> Option<String> {
        let rest = path.strip_prefix(self.roots().home.as_deref()?).ok()?;
        Some(format!("~/{}", slashed(rest)))
    }

    /// The place that `spelling` names for somebody who stands in `directory`.
    ///
    /// # Errors
    /// When the spelling is empty, holds a NUL, is too long, or needs a home that is not known.
    pub fn resolve(&self, directory: &Path, spelling: &str) -> Result<Place, PlaceError> {
        self.read(directory, spelling, true)
    }

    /// As [`resolve`](Self::resolve), for a spelling in which `*`, `?` and `[` stand for themselves: a file tool's
    /// argument, or quoted text.
    ///
    /// # Errors
    /// As for [`resolve`](Self::resolve).
    pub fn resolve_literal(&self, directory: &Path, spelling: &str) -> Result<Place, PlaceError> {
        self.read(directory, spelling, false)
    }

    /// The place that a write through `place` reaches: the end of a link, or the place itself.
    pub fn follow(&self, place: &Place) -> Place {
        if place.kind == Kind::Link { self.locate(&place.target, true, false) } else { place.clone() }
    }

    /// The places that a pattern matches on disk as a shell would expand it (`**` always descends), at most `limit`.
    /// A place that is no pattern, or that matches nothing, stands for itself.
    pub fn expand(&self, place: &Place, limit: usize) -> Expansion {
        let itself = || Expansion { places: vec![place.clone()], more: false };
        if !place.pattern {
            return itself();
        }
        let mut search = Search {
            limit,
            scanned: 0,
            found: Vec::new(),
            more: false,
            options: MatchOptions {
                case_sensitive: self.case == Case::Sensitive,
                require_literal_separator: true,
                require_literal_leading_dot: !self.windows,
            },
        };
        let mut base = PathBuf::new();
        let mut parts = Vec::new();
        for component in place.path.components() {
            if parts.is_empty() && !is_glob(&component.as_os_str().to_string_lossy()) {
                base.push(component);
            } else {
                parts.push(component.as_os_str().to_owned());
            }
        }
        search.descend(&base, &parts, 0);
        if search.found.is_empty() && !search.more {
            return itself();
        }
        let places = search.found.iter().map(|path| self.locate(path, false, false)).collect();
        Expansion { places, more: search.more }
    }

    fn read(&self, directory: &Path, spelling: &str, patterns: bool) -> Result<Place, PlaceError> {
        if spelling.is_empty() {
            return Err(PlaceError::Empty);
        }
        if spelling.len() > MAX_SPELLING {
            return Err(PlaceError::TooLong(spelling.len()));
        }
        if spelling.contains('\0') {
            return Err(PlaceError::Nul);
        }
        let windows = self.windows || looks_like_windows(spelling);
        let slashed = if windows { spelling.replace('\\', "/") } else { spelling.to_owned() };
        let slashed = match slashed.strip_prefix("//").filter(|_| windows) {
            Some(name) => match name.strip_prefix("./").or(name.strip_prefix("?/")) {
                Some(device) => match self.device(device, patterns) {
                    Some(place) => return Ok(place),
                    None => device.to_owned(),
                },
                None => return Ok(self.share(name, patterns)),
            },
            None => slashed,
        };
        let pattern = patterns && slashed.split('/').any(is_glob);
        let follow = slashed.ends_with('/') || slashed.ends_with("/.");
        let spelled = match drive(&slashed, self.windows) {
            // On a Unix the kernel itself knows what is mounted there.
            Some((letter, rest)) if cfg!(windows) || !slashed.starts_with("/mnt/") => drive_path(letter, &rest),
            _ => self.expand_home(&slashed)?,
        };
        let absolute = if spelled.has_root() { spelled } else { self.roots().workspace.join(directory).join(&spelled) };
        let null_name = slashed.eq_ignore_ascii_case("nul") || slashed.eq_ignore_ascii_case("nul:");
        let null = null_name && (self.windows || (slashed == "NUL" && !absolute.exists()));
        if null || (!slashed.contains("..") && is_no_place(&absolute)) {
            return Ok(no_place(&absolute));
        }
        Ok(self.locate(&absolute, follow, pattern))
    }

    /// Replaces a leading `~` or `~user`.
    fn expand_home(&self, spelling: &str) -> Result<PathBuf, PlaceError> {
        let Some(rest) = spelling.strip_prefix('~') else {
            return Ok(PathBuf::from(spelling));
        };
        let (user, below) = rest.split_once('/').unwrap_or((rest, ""));
        if user == "+" {
            return Ok(Path::new(".").join(below));
        }
        let home = self.home.as_deref().ok_or(PlaceError::NoHome)?;
        let base = if user.is_empty() || home.file_name() == Some(OsStr::new(user)) {
            home.to_owned()
        } else if user == "root" && cfg!(unix) {
            PathBuf::from("/root")
        } else if home == Path::new("/root") {
            Path::new("/home").join(user)
        } else {
            home.parent().unwrap_or(home).join(user)
        };
        Ok(base.join(below.trim_start_matches('/')))
    }

    /// A place in the namespace of devices (`//./`, `//?/`), unless it is a path on a drive or a share after all.
    fn device(&self, name: &str, patterns: bool) -> Option<Place> {
        let lower = name.to_ascii_lowercase();
        if let Some(share) = lower.strip_prefix("unc/") {
            let share = name.get(name.len().saturating_sub(share.len())..).unwrap_or(name);
            return Some(self.share(share, patterns));
        }
        let text = format!("//./{name}");
        if lower == "nul" {
            return Some(no_place(Path::new(&text)));
        }
        let is_disk = lower.starts_with("physicaldrive") || lower.starts_with("harddisk");
        let is_volume = lower.len() == 2 && lower.ends_with(':') || lower.starts_with("volume{");
        (is_disk || is_volume).then(|| self.unseen(text, Some(Catastrophic::DiskDevice), false))
    }

    /// A place on a network share, which is never looked up; `..` does not leave it.
    fn share(&self, name: &str, patterns: bool) -> Place {
        let mut parts: Vec<&str> = Vec::new();
        for part in name.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part != ".." {
                parts.push(part);
            } else if parts.len() > 2 {
                parts.pop();
            }
        }
        let all = |part: &&&str| patterns && matches_everything(part);
        let root = parts.len().saturating_sub(parts.iter().rev().take_while(all).count()) <= 2;
        let pattern = patterns && parts.iter().any(|part| is_glob(part));
        self.unseen(format!("//{}", parts.join("/")), root.then_some(Catastrophic::DriveRoot), pattern)
    }

    /// A place outside that is not looked for on disk.
    fn unseen(&self, text: String, catastrophic: Option<Catastrophic>, pattern: bool) -> Place {
        let path = PathBuf::from(&text);
        Place {
            // Windows, which these spellings belong to, tells no case apart.
            text: text.to_lowercase(),
            target: path.clone(),
            path,
            root: Root::Outside,
            catastrophic,
            pattern,
            kind: Kind::Absent,
            endless: false,
        }
    }

    /// Follows the links of an absolute path and names what it finds.
    fn locate(&self, absolute: &Path, follow: bool, pattern: bool) -> Place {
        // A link that the workspace or the home is known by stands for what it leads to.
        let known = absolute == self.workspace || Some(absolute) == self.home.as_deref();
        let real = follow_links(absolute, follow || known);
        if is_no_place(&real.path) {
            return no_place(&real.path);
        }
        let target = if real.kind == Kind::Link { follow_links(&real.path, true) } else { real.clone() };
        let root = self.root_of(&real.path);
        Place {
            text: self.text_of(&real.path, root),
            target: target.path,
            root,
            catastrophic: self.catastrophe(&real.path, pattern),
            pattern,
            kind: real.kind,
            endless: real.endless || target.endless,
            path: real.path,
        }
    }

    fn roots(&self) -> &Roots {
        self.roots.get_or_init(|| {
            let here = std::env::current_dir().unwrap_or_default();
            let real = |path: &Path| follow_links(&here.join(path), true).path;
            let workspace = real(&self.workspace);
            let home = self.home.as_deref().map(real);
            let temporary = self
                .temporary
                .iter()
                .map(|path| real(path))
                // A temporary root that is a place of its own importance would make everything below it cheap.
                .filter(|path| {
                    path.parent().is_some()
                        && *path != workspace
                        && Some(path) != home.as_ref()
                        && !is_system(path, self.case)
                })
                .collect();
            Roots { workspace, home, temporary }
        })
    }

    fn root_of(&self, path: &Path) -> Root {
        let roots = self.roots();
        let named = [(Root::Workspace, Some(&roots.workspace)), (Root::Home, roots.home.as_ref())];
        // What stands beside the workspace is somebody's, also where the workspace itself is temporary.
        let beside = |directory: &PathBuf| {
            let entry =
                |path: &Path| path.components().nth(directory.components().count()).map(|c| c.as_os_str().to_owned());
            self.is_below(&roots.workspace, directory)
                && entry(path).is_some()
                && entry(path) == entry(&roots.workspace)
        };
        let temporary =
            roots.temporary.iter().filter(|directory| !beside(directory)).map(|path| (Root::Temp, Some(path)));
        let mut best = (Root::Outside, 0);
        for (root, directory) in named.into_iter().chain(temporary) {
            let Some(directory) = directory else { continue };
            let depth = directory.components().count();
            if depth > best.1 && self.is_below(path, directory) {
                best = (root, depth);
            }
        }
        best.0
    }

    fn text_of(&self, path: &Path, root: Root) -> String {
        if root == Root::Workspace {
            let depth = self.roots().workspace.components().count();
            let inside: PathBuf = path.components().skip(depth).collect();
            return if inside.as_os_str().is_empty() { ".".to_owned() } else { self.fold(slashed(&inside)) };
        }
        match drive(&slashed(path), self.windows) {
            Some((letter, rest)) if self.windows || !is_plain_mount(letter) => {
                format!("{letter}:/{}", rest.join("/")).to_lowercase()
            }
            _ => self.fold(slashed(path)),
        }
    }

    fn fold(&self, text: String) -> String {
        match self.case {
            Case::Sensitive => text,
            Case::Insensitive => text.to_lowercase(),
        }
    }

    /// Whether `path` is `directory` or lies below it.
    fn is_below(&self, path: &Path, directory: &Path) -> bool {
        match self.case {
            Case::Sensitive => path.starts_with(directory),
            Case::Insensitive => {
                Path::new(&slashed(path).to_lowercase()).starts_with(slashed(directory).to_lowercase())
            }
        }
    }

    /// A pattern that takes everything in a directory takes the directory.
    fn catastrophe(&self, path: &Path, pattern: bool) -> Option<Catastrophic> {
        let mut base = path;
        if pattern {
            while let (Some(name), Some(parent)) = (base.file_name(), base.parent()) {
                if !matches_everything(&name.to_string_lossy()) {
                    break;
                }
                base = parent;
            }
        }
        let roots = self.roots();
        if base.parent().is_none() {
            return Some(if cfg!(windows) { Catastrophic::DriveRoot } else { Catastrophic::FileSystemRoot });
        }
        let drive_parts = drive(&slashed(base), self.windows).map(|(_, rest)| rest);
        if drive_parts.as_ref().is_some_and(Vec::is_empty) {
            return Some(Catastrophic::DriveRoot);
        }
        if let Some(home) = &roots.home
            && self.is_below(home, base)
        {
            let itself = self.is_below(base, home);
            return Some(if itself { Catastrophic::Home } else { Catastrophic::HomeAncestor });
        }
        if self.is_below(&roots.workspace, base) {
            let itself = self.is_below(base, &roots.workspace);
            return Some(if itself { Catastrophic::WorkspaceRoot } else { Catastrophic::WorkspaceAncestor });
        }
        if let Some(parts) = drive_parts {
            return drive_catastrophe(&parts);
        }
        if is_home_of_somebody(base) {
            return Some(Catastrophic::Home);
        }
        if is_system(base, self.case) {
            return Some(Catastrophic::SystemDirectory);
        }
        is_disk(base).then_some(Catastrophic::DiskDevice)
    }
}

/// A path with its links followed.
#[derive(Debug, Clone)]
pub(crate) struct Real {
    /// The path; nothing before its last component is a link.
    pub(crate) path: PathBuf,
    /// What stands there.
    pub(crate) kind: Kind,
    /// Whether the bounds on links were reached.
    pub(crate) endless: bool,
}

/// Walks an absolute path as the kernel does; what does not exist is taken by its letters. The last component is
/// followed only when `follow_last` says so.
pub(crate) fn follow_links(absolute: &Path, follow_last: bool) -> Real {
    let mut pending: Vec<OsString> = reversed(absolute);
    let mut real = Real { path: PathBuf::new(), kind: Kind::Directory, endless: false };
    let mut links = MAX_LINKS;
    let mut steps = MAX_STEPS;
    while let Some(part) = pending.pop() {
        if part == ".." {
            real.path.pop();
            real.kind = Kind::Directory;
            continue;
        }
        real.path.push(&part);
        if Path::new(&part).has_root() || cfg!(windows) && part.to_string_lossy().ends_with(':') {
            continue;
        }
        real.kind = if steps == 0 { Kind::Absent } else { kind_of(&real.path) };
        steps = steps.saturating_sub(1);
        if steps == 0 {
            real.endless = true;
        }
        if real.kind == Kind::Link && (follow_last || !pending.is_empty()) {
            if links == 0 {
                real.endless = true;
            } else if let Ok(destination) = fs::read_link(&real.path) {
                links = links.saturating_sub(1);
                real.path.pop();
                pending.extend(reversed(&destination));
                real.kind = Kind::Directory;
            }
        }
    }
    real
}

fn reversed(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|component| *component != Component::CurDir);
    let mut parts: Vec<OsString> = parts.map(|component| component.as_os_str().to_owned()).collect();
    parts.reverse();
    parts
}

pub(crate) fn kind_of(path: &Path) -> Kind {
    match fs::symlink_metadata(path) {
        Err(_) => Kind::Absent,
        Ok(found) if found.is_symlink() => Kind::Link,
        Ok(found) if found.is_dir() => Kind::Directory,
        Ok(found) if found.is_file() => Kind::File,
        Ok(_) => Kind::Special,
    }
}

/// One expansion of a pattern under way.
struct Search {
    limit: usize,
    scanned: usize,
    found: Vec<PathBuf>,
    more: bool,
    options: MatchOptions,
}

impl Search {
    fn descend(&mut self, base: &Path, parts: &[OsString], depth: usize) {
        let Some((part, rest)) = parts.split_first() else {
            if self.found.len() < self.limit {
                self.found.push(base.to_owned());
            } else {
                self.more = true;
            }
            return;
        };
        if self.more {
            return;
        }
        let text = part.to_string_lossy();
        if !is_glob(&text) {
            let next = base.join(part);
            if fs::symlink_metadata(&next).is_ok() {
                self.descend(&next, rest, depth);
            }
            return;
        }
        let recursive = text == "**" && !rest.is_empty();
        if recursive {
            self.descend(base, rest, depth);
        }
        let Ok(pattern) = Pattern::new(&shell_pattern(&text)) else { return };
        for name in self.names(base, &pattern, recursive) {
            let next = base.join(name);
            if recursive {
                if depth >= MAX_DEPTH {
                    self.more = true;
                } else if kind_of(&next) == Kind::Directory {
                    self.descend(&next, parts, depth.saturating_add(1));
                }
            } else if rest.is_empty() || next.is_dir() {
                self.descend(&next, rest, depth);
            }
        }
    }

    fn names(&mut self, directory: &Path, pattern: &Pattern, recursive: bool) -> Vec<OsString> {
        let mut names = Vec::new();
        // A search descends into hidden folders, too; what is in git's own is not looked for.
        let options = MatchOptions {
            require_literal_leading_dot: self.options.require_literal_leading_dot && !recursive,
            ..self.options
        };
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if self.scanned >= MAX_SCANNED {
                self.more = true;
                break;
            }
            self.scanned = self.scanned.saturating_add(1);
            let name = entry.file_name();
            if pattern.matches_with(&name.to_string_lossy(), options) && !(recursive && name == ".git") {
                names.push(name);
            }
        }
        names.sort();
        names
    }
}

/// Whether a shell would expand this component.
fn is_glob(component: &str) -> bool {
    component.contains(['*', '?'])
        || component.split_once('[').is_some_and(|(_, rest)| rest.chars().skip(1).any(|letter| letter == ']'))
}

/// The pattern in the matcher's own dialect: `[^a]` is `[!a]`, and `**` within one component is `*`.
fn shell_pattern(component: &str) -> String {
    let mut pattern = component.replace("[^", "[!");
    while pattern.contains("**") {
        pattern = pattern.replace("**", "*");
    }
    pattern
}

/// Whether a component takes every name there is, or every hidden one: judged by names that have nothing in common.
fn matches_everything(component: &str) -> bool {
    const PLAIN: [&str; 4] = ["a", "src", "README.md", "lib64"];
    const HIDDEN: [&str; 3] = [".git", ".config", ".x11"];
    if !is_glob(component) {
        return false;
    }
    if component == "*.*" {
        return true;
    }
    let Ok(pattern) = Pattern::new(&shell_pattern(component)) else { return false };
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let takes = |names: &[&str]| names.iter().all(|name| pattern.matches_with(name, options));
    takes(&PLAIN) || takes(&HIDDEN)
}

/// Whether a spelling is written as on Windows: a drive with a separator, or two leading backslashes.
fn looks_like_windows(spelling: &str) -> bool {
    let mut letters = spelling.chars();
    let drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && matches!(letters.next(), None | Some('\\' | '/'));
    drive || spelling.starts_with(r"\\")
}

/// The drive that a slashed, absolute path lies on and its components there: `C:/x`, `/mnt/c/x`, `/cygdrive/c/x`, and
/// `/c/x` where no such directory exists or Windows spelling is asked for.
fn drive(slashed: &str, windows: bool) -> Option<(char, Vec<String>)> {
    let mut parts = slashed.split('/').filter(|part| !part.is_empty() && *part != ".");
    let first = parts.next()?;
    let absolute = slashed.starts_with('/');
    let name = match first {
        "mnt" | "cygdrive" if absolute => parts.next()?,
        _ if absolute => first,
        _ => first.strip_suffix(':')?,
    };
    let mut letters = name.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    if letters.next().is_some() {
        return None;
    }
    if absolute && name == first && !windows && Path::new("/").join(name).is_dir() {
        return None;
    }
    let mut rest: Vec<String> = Vec::new();
    for part in parts {
        if part == ".." {
            rest.pop();
        } else {
            rest.push(part.to_owned());
        }
    }
    Some((letter.to_ascii_lowercase(), rest))
}

/// Where the files of a drive are found on this machine.
fn drive_path(letter: char, rest: &[String]) -> PathBuf {
    let mut path = if cfg!(windows) {
        PathBuf::from(format!("{letter}:\\"))
    } else {
        let cygwin = PathBuf::from(format!("/cygdrive/{letter}"));
        if cygwin.is_dir() { cygwin } else { PathBuf::from(format!("/mnt/{letter}")) }
    };
    path.extend(rest);
    path
}

/// Whether `/mnt/w` is a folder like any other: it is there, and no Windows around this system calls it a drive.
fn is_plain_mount(letter: char) -> bool {
    static IN_WINDOWS: OnceLock<bool> = OnceLock::new();
    let tells = || fs::read_to_string("/proc/version").is_ok_and(|text| text.to_lowercase().contains("microsoft"));
    cfg!(unix) && Path::new("/mnt").join(letter.to_string()).is_dir() && !*IN_WINDOWS.get_or_init(tells)
}

fn drive_catastrophe(parts: &[String]) -> Option<Catastrophic> {
    let lower: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
    let parts: Vec<&str> = lower.iter().map(String::as_str).collect();
    match *parts.as_slice() {
        [] => Some(Catastrophic::DriveRoot),
        ["users" | "documents and settings", _] => Some(Catastrophic::Home),
        [
            "windows"
            | "users"
            | "documents and settings"
            | "program files"
            | "program files (x86)"
            | "programdata"
            | "system volume information"
            | "recovery"
            | "boot"
            | "efi",
        ]
        | ["windows", "system32" | "syswow64" | "winsxs"] => Some(Catastrophic::SystemDirectory),
        _ => None,
    }
}

/// Directories that a Unix needs, by their whole path.
const SYSTEM_DIRECTORIES: [&str; 52] = [
    "/Applications",
    "/Library",
    "/System",
    "/System/Library",
    "/Users",
    "/Volumes",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/etc/ssh",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/media",
    "/mnt",
    "/nix",
    "/nix/store",
    "/opt",
    "/private",
    "/private/etc",
    "/private/var",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/snap",
    "/srv",
    "/sys",
    "/usr",
    "/usr/bin",
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/libx32",
    "/usr/local",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/sbin",
    "/usr/share",
    "/var",
    "/var/cache",
    "/var/lib",
    "/var/log",
    "/var/run",
    "/var/spool",
    "/boot/efi",
    "/boot/grub",
];

fn is_system(path: &Path, case: Case) -> bool {
    let text = slashed(path);
    SYSTEM_DIRECTORIES.iter().any(|directory| match case {
        Case::Sensitive => text == *directory,
        Case::Insensitive => text.eq_ignore_ascii_case(directory),
    })
}

/// Whether a path is directly below a directory of homes.
fn is_home_of_somebody(path: &Path) -> bool {
    path == Path::new("/root")
        || path.parent().is_some_and(|parent| parent == Path::new("/home") || parent == Path::new("/Users"))
}

/// Whether a path is a null device, a standard stream or an endless source.
fn is_no_place(path: &Path) -> bool {
    let Some(text) = path.to_str() else { return false };
    let Some(device) = text.strip_prefix("/dev/") else {
        return text
            .strip_prefix("/proc/")
            .and_then(|rest| rest.split_once('/'))
            .is_some_and(|(_, rest)| rest.strip_prefix("fd/").is_some_and(|number| number.parse::<u32>().is_ok()));
    };
    matches!(
        device,
        "null" | "zero" | "full" | "random" | "urandom" | "stdin" | "stdout" | "stderr" | "tty" | "console"
    ) || device.strip_prefix("fd/").or(device.strip_prefix("pts/")).is_some_and(|number| number.parse::<u32>().is_ok())
}

fn no_place(path: &Path) -> Place {
    Place {
        text: slashed(path),
        path: path.to_owned(),
        target: path.to_owned(),
        root: Root::NoPlace,
        catastrophic: None,
        pattern: false,
        kind: Kind::Special,
        endless: false,
    }
}

/// Whether a path is a disk, a partition, or memory.
fn is_disk(path: &Path) -> bool {
    const FAMILIES: [&str; 20] = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-", "loop", "sr", "ram",
        "zram", "nbd", "rbd", "mem", "kmem", "port",
    ];
    path.to_str()
        .and_then(|text| text.strip_prefix("/dev/"))
        .is_some_and(|device| FAMILIES.iter().any(|family| device.starts_with(family)))
}

/// A path with `/` between its components, whatever the platform; bytes that are not UTF-8 become `\xNN`.
pub(crate) fn slashed(path: &Path) -> String {
    let mut text = String::new();
    for component in path.components() {
        match component {
            Component::RootDir => {
                text.push('/');
                continue;
            }
            Component::Prefix(prefix) => {
                push_lossless(&mut text, &prefix.as_os_str().to_string_lossy().replace('\\', "/").into());
                continue;
            }
            Component::CurDir | Component::ParentDir | Component::Normal(_) => {}
        }
        if !text.is_empty() && !text.ends_with('/') {
            text.push('/');
        }
        push_lossless(&mut text, &component.as_os_str().to_owned());
    }
    text
}

fn push_lossless(text: &mut String, name: &OsString) {
    use fmt::Write as _;
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests;
