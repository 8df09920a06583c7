//! What git knows about a path, and so whether it can come back.
//!
//! Nothing is asked of the `git` program. The index, the tree of `HEAD` and the ignore rules are read directly, each at
//! most once and only when an answer needs it, because every tool call pays for it in a cold process. Nothing that a
//! repository's configuration names is ever run: no hooks, no filters, no monitors; and no included file is opened.
//!
//! The one idea: a file can come back when three things are the same, the file, its index entry and its entry in the
//! tree of `HEAD`. The first two are compared as git does, by what `lstat` says, and by content wherever that cannot
//! decide. Where content passes through a filter on its way, the answer is [`State::Unknown`] rather than a guess.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::io::Read as _;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::Entry;
use gix::index::entry::{Flags, Mode, Stat};
use gix::index::extension::Tree as CachedTree;
use gix::index::fs::Metadata;
use gix::objs::tree::{EntryKind, EntryMode};

use crate::places::{Kind, follow_links, kind_of, slashed};

/// Files up to this many bytes are hashed when `lstat` cannot decide.
const MAX_HASHED: u64 = 8 * 1024 * 1024;

/// Attribute files up to this many bytes are read.
const MAX_ATTRIBUTES: u64 = 256 * 1024;

/// A repository with a larger file among those that are read to open it is not opened.
const MAX_HEADER: u64 = 256 << 20;

/// An index of more bytes than this is not read.
const MAX_INDEX: u64 = 512 * 1024 * 1024;

/// A file written less than this before the index may have been written again in the same tick of the clock of the
/// file system, with nothing to show for it.
const RACY_NANOSECONDS: i128 = 100_000_000;

/// Commits looked at before it stays open whether `HEAD` is published.
const MAX_COMMITS: usize = 5_000;

/// How far clocks of committers may be apart, in seconds.
const CLOCK_SKEW: i64 = 86_400;

/// What git knows about one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Nothing is there.
    Absent,
    /// Tracked, and the same in the work tree, the index and `HEAD`; of a directory: everything in it is.
    Committed,
    /// Ignored by the rules of the repository or the user.
    Ignored,
    /// Not tracked.
    Untracked,
    /// Tracked, with changes that are staged, unstaged, in conflict, or in no commit yet.
    Changed,
    /// In no work tree of this repository.
    OutsideRepository,
    /// It could not be found out.
    Unknown(Reason),
}

impl State {
    /// Whether what is there would be lost for good; `Unknown` counts as such.
    pub const fn is_lost_when_destroyed(self) -> bool {
        !matches!(self, Self::Absent | Self::Committed)
    }

    /// How much there is to lose.
    const fn gravity(self) -> u8 {
        match self {
            Self::Absent => 0,
            Self::Committed => 1,
            Self::Ignored => 2,
            Self::Untracked => 3,
            Self::OutsideRepository => 4,
            Self::Changed => 5,
            Self::Unknown(_) => 6,
        }
    }
}

/// Why a state is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The repository cannot be opened: corrupt, of a format that is not read, or with its work tree elsewhere.
    Repository,
    /// The index cannot be read.
    Index,
    /// The tree of `HEAD` cannot be read.
    Head,
    /// The path belongs to git itself: `.git` and all below.
    GitDirectory,
    /// The directory is a repository of its own, whose history would go with it.
    NestedRepository,
    /// The index holds only the directory above, not the path.
    Sparse,
    /// The content passes through a filter or a conversion, so it cannot be compared.
    Conversion,
    /// The file would have to be compared by content and is too large for that.
    TooLarge,
    /// The path cannot be read.
    Unreadable,
    /// A bound was reached first.
    Bounds,
    /// The reader of git's files failed.
    Internal,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Repository => "the repository cannot be opened",
            Self::Index => "the index of the repository cannot be read",
            Self::Head => "the last commit cannot be read",
            Self::GitDirectory => "it belongs to git itself",
            Self::NestedRepository => "it is a repository of its own",
            Self::Sparse => "the checkout is sparse there",
            Self::Conversion => "its content is converted on checkout",
            Self::TooLarge => "it is too large to be compared",
            Self::Unreadable => "it cannot be read",
            Self::Bounds => "there is too much to look at",
            Self::Internal => "reading the repository failed",
        })
    }
}

/// How far a walk may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Entries looked at.
    pub entries: usize,
    /// Time taken.
    pub time: Duration,
    /// Examples kept.
    pub examples: usize,
}

impl Default for Bounds {
    /// 20 000 entries, 5 ms, 5 examples. A build for tests has as long as it needs: what it answers must not depend on the machine's load.
    fn default() -> Self {
        let time = if cfg!(debug_assertions) { Duration::from_secs(60) } else { Duration::from_millis(5) };
        Self { entries: 20_000, time, examples: 5 }
    }
}

/// A path, relative to the root of the repository, that cannot come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The path, with `/` between its components.
    pub path: String,
    /// What git knows about it.
    pub state: State,
}

/// What lies in a directory, or was found by looking for one kind of thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beneath {
    /// Files that can come back.
    pub committed: usize,
    /// Tracked files with uncommitted changes.
    pub changed: usize,
    /// Tracked files that are not there.
    pub missing: usize,
    /// Files that git does not know.
    pub untracked: usize,
    /// Ignored files; an ignored directory counts as one.
    pub ignored: usize,
    /// Files and directories about which nothing is known.
    pub unknown: usize,
    /// Some that cannot come back, ignored ones last.
    pub examples: Vec<Example>,
    /// Whether a bound was reached, so that there may be more of everything.
    pub truncated: bool,
}

impl Beneath {
    /// All that was found on disk.
    pub fn total(&self) -> usize {
        [self.committed, self.changed, self.untracked, self.ignored, self.unknown]
            .into_iter()
            .fold(0, usize::saturating_add)
    }

    /// The gravest state among all that was found; `Committed` when nothing was.
    pub fn worst(&self) -> State {
        if self.changed > 0 {
            State::Changed
        } else if self.unknown > 0 {
            let unknown = self.examples.iter().find(|example| matches!(example.state, State::Unknown(_)));
            unknown.map_or(State::Unknown(Reason::Internal), |example| example.state)
        } else if self.truncated {
            State::Unknown(Reason::Bounds)
        } else if self.untracked > 0 {
            State::Untracked
        } else if self.ignored > 0 {
            State::Ignored
        } else {
            State::Committed
        }
    }
}

/// What two kinds of command would take: `git reset --hard` and `git checkout .` the tracked changes, `git clean` the
/// untracked files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dirty {
    /// Tracked files with uncommitted changes.
    pub tracked: Beneath,
    /// Files that git does not know, ignored ones counted apart.
    pub untracked: Beneath,
}

/// A remote of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Where it is fetched from, as configured; it may hold credentials.
    pub url: Option<String>,
    /// Where it is pushed to, when that is elsewhere; it may hold credentials.
    pub push_url: Option<String>,
}

/// A repository with a work tree. Finding it opens nothing but what proves that it is one.
pub struct Repository {
    root: PathBuf,
    git_dir: PathBuf,
    trust: gix::sec::Trust,
    opened: OnceCell<Result<Opened, Reason>>,
    index: OnceCell<Result<gix::index::File, Reason>>,
    head: OnceCell<Result<Option<ObjectId>, Reason>>,
    ignores: RefCell<Ignores>,
    conversions: RefCell<HashMap<PathBuf, Conversion>>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository").field("root", &self.root).field("git_dir", &self.git_dir).finish_non_exhaustive()
    }
}

/// The opened repository and the settings that comparing needs.
struct Opened {
    repo: gix::Repository,
    executable_bit: bool,
    symlinks: bool,
    ignore_case: bool,
    line_endings: bool,
}

#[derive(Default)]
struct Ignores {
    stack: Option<gix::worktree::Stack>,
    /// Directories whose ignore file may be opened, or not because it is a pipe or the like.
    readable: HashMap<PathBuf, bool>,
}

/// What may happen to a file's content between the work tree and the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Conversion {
    /// Nothing.
    None,
    /// Line endings, by configuration alone.
    LineEndings,
    /// Something that an attribute says.
    Attributes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Same,
    Different,
    Unknown(Reason),
}

/// Which files a walk looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    All,
    Untracked,
}

impl Repository {
    /// The repository whose work tree holds `directory`, as git would find it; `None` also for a bare one.
    pub fn discover(directory: &Path) -> Option<Self> {
        let start = follow_links(&std::path::absolute(directory).ok()?, true).path;
        if !start.ancestors().all(|folder| is_readable(&folder.join(".git"))) {
            return None;
        }
        let options = gix::discover::upwards::Options { dot_git_only: true, ..Default::default() };
        let found = guarded(|| gix::discover::upwards_opts(&start, options).map_err(|_| Reason::Repository));
        let (path, trust) = found.ok()?;
        let (git_dir, root) = path.into_repository_and_work_tree_directories();
        let root = follow_links(&start.join(root?), true).path;
        Some(Self {
            git_dir: follow_links(&start.join(git_dir), true).path,
            root,
            trust,
            opened: OnceCell::new(),
            index: OnceCell::new(),
            head: OnceCell::new(),
            ignores: RefCell::default(),
            conversions: RefCell::default(),
        })
    }

    /// The root of the work tree, absolute and without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory with this work tree's `HEAD` and index.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The directory that all work trees of the repository share; the same as [`git_dir`](Self::git_dir) for most.
    pub fn common_dir(&self) -> PathBuf {
        let linked = read_small(&self.git_dir.join("commondir"), MAX_ATTRIBUTES);
        match linked.as_deref().and_then(|bytes| bytes.trim().to_path().ok()) {
            Some(path) if !path.as_os_str().is_empty() => follow_links(&self.git_dir.join(path), true).path,
            _ => self.git_dir.clone(),
        }
    }

    /// What git knows about one path, absolute or relative to the root. Of a directory it is the gravest state of what
    /// lies in it, within the default bounds. A path in a nested repository is asked of that one.
    pub fn state(&self, path: &Path) -> State {
        guarded(|| Ok(self.state_of(path))).unwrap_or_else(State::Unknown)
    }

    /// What lies in a directory; a file is counted alone. Ignored directories and nested repositories are not entered.
    pub fn beneath(&self, directory: &Path, bounds: Bounds) -> Beneath {
        let mut found = self.begin(bounds);
        let walked = guarded(|| self.walk_from(directory, Scope::All, &mut found));
        found.finish(walked)
    }

    /// The tracked files in a directory that have uncommitted changes: what `git reset --hard` or `git checkout --
    /// directory` would lose.
    pub fn tracked_changes(&self, directory: &Path, bounds: Bounds) -> Beneath {
        let mut found = self.begin(bounds);
        let walked = guarded(|| self.walk_tracked(directory, &mut found));
        found.finish(walked)
    }

    /// The files in a directory that git does not track: what `git clean` would remove, with `-x` the ignored too.
    pub fn untracked(&self, directory: &Path, bounds: Bounds) -> Beneath {
        let mut found = self.begin(bounds);
        let walked = guarded(|| self.walk_from(directory, Scope::Untracked, &mut found));
        found.finish(walked)
    }

    /// All uncommitted work in the repository; each half has the bounds for itself.
    pub fn dirty(&self, bounds: Bounds) -> Dirty {
        Dirty { tracked: self.tracked_changes(&self.root, bounds), untracked: self.untracked(&self.root, bounds) }
    }

    /// The branch that is checked out, also before its first commit; `None` when `HEAD` is detached.
    pub fn branch(&self) -> Option<String> {
        guarded(|| {
            let name = self.opened()?.repo.head_name().map_err(|_| Reason::Head)?;
            Ok(name.map(|name| name.shorten().to_string()))
        })
        .ok()?
    }

    /// The branch that the remote `origin` names as its default, when a clone has noted it.
    pub fn default_branch(&self) -> Option<String> {
        guarded(|| {
            let found = self.opened()?.repo.try_find_reference("refs/remotes/origin/HEAD");
            let reference = found.map_err(|_| Reason::Repository)?;
            let target = reference.and_then(|reference| match reference.target() {
                gix::refs::TargetRef::Symbolic(name) => Some(name.as_bstr().to_string()),
                gix::refs::TargetRef::Object(_) => None,
            });
            Ok(target.and_then(|name| name.strip_prefix("refs/remotes/origin/").map(str::to_owned)))
        })
        .ok()?
    }

    /// The remote and the branch there that a local branch is set to follow.
    pub fn upstream(&self, branch: &str) -> Option<(String, String)> {
        let remote = self.setting("branch", branch, "remote")?;
        let merge = self.setting("branch", branch, "merge")?;
        Some((remote, merge.strip_prefix("refs/heads/").unwrap_or(&merge).to_owned()))
    }

    /// The remotes of the repository, by name.
    pub fn remotes(&self) -> Vec<Remote> {
        let names = guarded(|| {
            let names = self.opened()?.repo.remote_names();
            Ok(names.iter().map(ToString::to_string).collect::<Vec<_>>())
        });
        let remote = |name: String| Remote {
            url: self.setting("remote", &name, "url"),
            push_url: self.setting("remote", &name, "pushurl"),
            name,
        };
        names.unwrap_or_default().into_iter().map(remote).collect()
    }

    /// Whether the commit at `HEAD` is part of a branch of a remote as last fetched, so that others may have it; `None`
    /// when that stays open within the bounds. Without a commit or without remote branches it is `Some(false)`.
    pub fn is_published(&self) -> Option<bool> {
        guarded(|| self.published()).ok()?
    }

    /// Begins a walk; what is read once for all answers does not count against its time.
    fn begin(&self, bounds: Bounds) -> Found {
        let _ = (self.index(), self.head_tree());
        Found::new(bounds)
    }

    fn setting(&self, section: &str, subsection: &str, key: &str) -> Option<String> {
        guarded(|| {
            let config = self.opened()?.repo.config_snapshot();
            let value = config.plumbing().string_by(section, Some(BStr::new(subsection)), key);
            Ok(value.map(|value| value.to_string()))
        })
        .ok()?
    }

    fn published(&self) -> Result<Option<bool>, Reason> {
        use gix::revision::walk::Sorting;
        let repo = &self.opened()?.repo;
        let Ok(head) = repo.head_commit() else { return Ok(Some(false)) };
        let references = repo.references().map_err(|_| Reason::Repository)?;
        let remote = references.remote_branches().map_err(|_| Reason::Repository)?;
        let mut tips = Vec::new();
        for reference in remote.filter_map(Result::ok).take(MAX_COMMITS) {
            if let Some(id) = reference.try_id() {
                if id.detach() == head.id {
                    return Ok(Some(true));
                }
                tips.push(id.detach());
            }
        }
        if tips.is_empty() {
            return Ok(Some(false));
        }
        let time = head.time().map_err(|_| Reason::Head)?.seconds;
        let sorting =
            Sorting::ByCommitTimeCutoff { order: Default::default(), seconds: time.saturating_sub(CLOCK_SKEW) };
        let walk = repo.rev_walk(tips).sorting(sorting).all().map_err(|_| Reason::Repository)?;
        for (seen, commit) in walk.enumerate() {
            let Ok(commit) = commit else { return Ok(None) };
            if commit.id == head.id {
                return Ok(Some(true));
            }
            if seen >= MAX_COMMITS {
                return Ok(None);
            }
        }
        Ok(Some(false))
    }

    fn opened(&self) -> Result<&Opened, Reason> {
        self.opened.get_or_init(|| guarded(|| self.open())).as_ref().map_err(|reason| *reason)
    }

    fn open(&self) -> Result<Opened, Reason> {
        // Reading a pipe in the place of one of these would never end.
        let common = self.common_dir();
        for file in ["HEAD", "config", "packed-refs", "info/exclude", "objects/info/alternates"] {
            if matches!(kind_of(&common.join(file)), Kind::Special | Kind::Directory) {
                return Err(Reason::Repository);
            }
        }
        let mut options = gix::open::Options::default().lossy_config(true).with(self.trust);
        options.permissions.config.includes = false;
        let repo = gix::ThreadSafeRepository::open_opts(&self.root, options).map_err(|_| Reason::Repository)?;
        let mut repo = repo.to_thread_local();
        let work_tree = repo.workdir().ok_or(Reason::Repository)?;
        if follow_links(&std::path::absolute(work_tree).map_err(|_| Reason::Repository)?, true).path != self.root {
            return Err(Reason::Repository);
        }
        repo.object_cache_size_if_unset(1024 * 1024);
        let config = repo.config_snapshot();
        let line_endings = config.string("core.autocrlf").is_some_and(|value| {
            matches!(value.to_ascii_lowercase().as_slice(), b"true" | b"input" | b"yes" | b"on" | b"1")
        });
        Ok(Opened {
            executable_bit: cfg!(unix) && config.boolean("core.fileMode").unwrap_or(true),
            symlinks: config.boolean("core.symlinks").unwrap_or(true),
            ignore_case: config.boolean("core.ignoreCase").unwrap_or(false),
            line_endings,
            repo,
        })
    }

    fn index(&self) -> Result<&gix::index::File, Reason> {
        let read = || {
            let hash = self.opened()?.repo.object_hash();
            let path = self.git_dir.join("index");
            match fs::metadata(&path) {
                Ok(found) if found.is_file() && found.len() <= MAX_INDEX => {}
                Ok(_) => return Err(Reason::Index),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(_) => return Err(Reason::Index),
            }
            // The checksum is left out: it takes longer than all the rest, and an entry proves itself against the
            // file and the tree of HEAD anyway.
            let options = gix::index::decode::Options {
                thread_limit: Some(1),
                alloc_limit_bytes: usize::try_from(MAX_INDEX).ok(),
                ..Default::default()
            };
            gix::index::File::at_or_default(path, hash, true, options).map_err(|_| Reason::Index)
        };
        self.index.get_or_init(|| guarded(read)).as_ref().map_err(|reason| *reason)
    }

    /// The tree of `HEAD`, `None` before the first commit.
    fn head_tree(&self) -> Result<Option<ObjectId>, Reason> {
        let read = || {
            let repo = &self.opened()?.repo;
            let head = repo.head().map_err(|_| Reason::Head)?;
            if head.is_unborn() {
                return Ok(None);
            }
            repo.head_tree_id().map(|id| Some(id.detach())).map_err(|_| Reason::Head)
        };
        *self.head.get_or_init(|| guarded(read))
    }

    /// A path without links, relative to the root; `None` when it lies outside.
    fn relative(&self, path: &Path) -> Option<PathBuf> {
        let real = follow_links(&self.root.join(path), false).path;
        real.strip_prefix(&self.root).ok().map(Path::to_owned)
    }

    /// The repository below this one that a path lies in.
    fn nested(&self, relative: &Path) -> Option<Self> {
        let nested = relative
            .ancestors()
            .skip(1)
            .filter(|directory| !directory.as_os_str().is_empty())
            .any(|directory| kind_of(&self.root.join(directory).join(".git")) != Kind::Absent);
        if !nested {
            return None;
        }
        let found = Self::discover(self.root.join(relative).parent()?)?;
        (found.root != self.root && found.root.starts_with(&self.root)).then_some(found)
    }

    fn state_of(&self, path: &Path) -> State {
        let Some(relative) = self.relative(path) else { return State::OutsideRepository };
        let absolute = self.root.join(&relative);
        let metadata = match Metadata::from_path_no_follow(&absolute) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return State::Absent,
            Err(_) => return State::Unknown(Reason::Unreadable),
        };
        if relative.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            return State::Unknown(Reason::GitDirectory);
        }
        if let Some(nested) = self.nested(&relative) {
            return nested.state_of(&absolute);
        }
        if metadata.is_dir() {
            return self.beneath(&absolute, Bounds::default()).worst();
        }
        let state = git_path(&relative).and_then(|name| self.file_state(name.as_ref(), &absolute, &metadata));
        state.unwrap_or_else(State::Unknown)
    }

    /// The state of something that is no directory.
    fn file_state(&self, name: &BStr, absolute: &Path, metadata: &Metadata) -> Result<State, Reason> {
        let Some(entries) = self.entries_of(name)? else {
            if self.below_sparse_entry(name)? {
                return Err(Reason::Sparse);
            }
            return Ok(if self.is_ignored(name, false)? { State::Ignored } else { State::Untracked });
        };
        self.tracked_state(entries, absolute, metadata, None)
    }

    /// The state of a tracked file; `staged` are the paths whose entries are known to differ from `HEAD`, looked up
    /// when not given.
    fn tracked_state(
        &self,
        entries: &[Entry],
        absolute: &Path,
        metadata: &Metadata,
        staged: Option<&HashSet<BString>>,
    ) -> Result<State, Reason> {
        let [entry] = entries else { return Ok(State::Changed) };
        if entry.stage_raw() != 0 || entry.flags.contains(Flags::INTENT_TO_ADD) {
            return Ok(State::Changed);
        }
        let comparison = self.compare(entry, absolute, metadata)?;
        if comparison == Comparison::Different {
            return Ok(State::Changed);
        }
        let index = self.index()?;
        let same_in_head = match staged {
            Some(staged) => !staged.contains(entry.path(index)),
            None => self.is_as_in_head(entry, entry.path(index))?,
        };
        Ok(match comparison {
            _ if !same_in_head => State::Changed,
            Comparison::Unknown(reason) => State::Unknown(reason),
            Comparison::Same | Comparison::Different => State::Committed,
        })
    }

    /// All entries of a path; more than one is a conflict.
    fn entries_of(&self, name: &BStr) -> Result<Option<&[Entry]>, Reason> {
        let index = self.index()?;
        if let Some(range) = index.entry_range(name) {
            return Ok(index.entries().get(range));
        }
        if self.opened()?.ignore_case {
            let same = |entry: &Entry| entry.path(index).eq_ignore_ascii_case(name);
            if let Some(start) = index.entries().iter().position(same) {
                let rest = index.entries().get(start..).unwrap_or_default();
                return Ok(rest.get(..rest.iter().take_while(|entry| same(entry)).count()));
            }
        }
        Ok(None)
    }

    /// Whether the index holds a directory above `name` instead of the files in it.
    fn below_sparse_entry(&self, name: &BStr) -> Result<bool, Reason> {
        let index = self.index()?;
        if !index.is_sparse() {
            return Ok(false);
        }
        Ok(name.find_iter("/").any(|slash| {
            let directory = name.get(..=slash).unwrap_or_default();
            index.entry_by_path(directory.as_bstr()).is_some_and(|entry| entry.mode.is_sparse())
        }))
    }

    fn is_as_in_head(&self, entry: &Entry, name: &BStr) -> Result<bool, Reason> {
        let Some(tree) = self.head_tree()? else { return Ok(false) };
        let found = self.in_tree(tree, name)?;
        let same = found.is_some_and(|(mode, id)| id == entry.id && is_same_mode(entry.mode, mode));
        if same && !self.opened()?.repo.has_object(entry.id) {
            return Err(Reason::Head);
        }
        Ok(same)
    }

    fn in_tree(&self, tree: ObjectId, name: &BStr) -> Result<Option<(EntryMode, ObjectId)>, Reason> {
        let tree = self.opened()?.repo.find_tree(tree).map_err(|_| Reason::Head)?;
        let found = tree.lookup_entry(name.split_str("/")).map_err(|_| Reason::Head)?;
        Ok(found.map(|entry| (entry.mode(), entry.oid().to_owned())))
    }

    /// Compares a file with its index entry.
    fn compare(&self, entry: &Entry, absolute: &Path, metadata: &Metadata) -> Result<Comparison, Reason> {
        let opened = self.opened()?;
        let expects_link = entry.mode == Mode::SYMLINK && opened.symlinks;
        if entry.mode == Mode::COMMIT || metadata.is_dir() || metadata.is_symlink() != expects_link {
            return Ok(Comparison::Different);
        }
        if !metadata.is_symlink() && !metadata.is_file() {
            return Ok(Comparison::Different);
        }
        let executable = entry.mode == Mode::FILE_EXECUTABLE;
        if opened.executable_bit && metadata.is_file() && metadata.is_executable() != executable {
            return Ok(Comparison::Different);
        }
        let stat = Stat::from_fs(metadata).map_err(|_| Reason::Unreadable)?;
        if is_same_stat(&entry.stat, &stat) && !self.is_racy(&entry.stat)? {
            return Ok(Comparison::Same);
        }
        if metadata.is_symlink() {
            let Ok(target) = fs::read_link(absolute) else { return Ok(Comparison::Unknown(Reason::Unreadable)) };
            let target = git_path(&target)?;
            return Ok(if self.hash(&target)? == entry.id { Comparison::Same } else { Comparison::Different });
        }
        let conversion = || {
            let directory = absolute.parent().and_then(|parent| parent.strip_prefix(&self.root).ok());
            self.conversion(directory.unwrap_or(Path::new("")))
        };
        if metadata.len() > MAX_HASHED {
            // A size of zero in the index can mean that git wants the content looked at.
            let other_size = entry.stat.size != 0 && entry.stat.size != stat.size;
            return Ok(if other_size && conversion()? == Conversion::None {
                Comparison::Different
            } else {
                Comparison::Unknown(Reason::TooLarge)
            });
        }
        let Some(content) = read_small(absolute, MAX_HASHED) else {
            return Ok(Comparison::Unknown(Reason::Unreadable));
        };
        if self.hash(&content)? == entry.id {
            return Ok(Comparison::Same);
        }
        Ok(match conversion()? {
            Conversion::None => Comparison::Different,
            Conversion::LineEndings if self.hash(&content.replace("\r\n", "\n"))? != entry.id => Comparison::Different,
            Conversion::LineEndings if content.contains(&0) => Comparison::Different,
            Conversion::LineEndings => Comparison::Same,
            Conversion::Attributes => Comparison::Unknown(Reason::Conversion),
        })
    }

    fn hash(&self, content: &[u8]) -> Result<ObjectId, Reason> {
        let kind = self.opened()?.repo.object_hash();
        gix::objs::compute_hash(kind, gix::objs::Kind::Blob, content).map_err(|_| Reason::Internal)
    }

    /// Whether a file could have changed after git looked at it without a new time to show for it.
    fn is_racy(&self, stat: &Stat) -> Result<bool, Reason> {
        let index = self.index()?.timestamp();
        let (seconds, nanoseconds) = (i128::from(index.unix_seconds()), i128::from(index.nanoseconds()));
        let (file_seconds, file_nanoseconds) = (i128::from(stat.mtime.secs), i128::from(stat.mtime.nsecs));
        if nanoseconds == 0 || file_nanoseconds == 0 {
            // Some file systems count in steps of two seconds.
            return Ok(file_seconds.saturating_add(2) > seconds);
        }
        let scale = |seconds: i128, nanoseconds| seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
        let file = scale(file_seconds, file_nanoseconds);
        Ok(file.saturating_add(RACY_NANOSECONDS) >= scale(seconds, nanoseconds))
    }

    /// What may happen to the content of files in a directory, relative to the root.
    fn conversion(&self, directory: &Path) -> Result<Conversion, Reason> {
        if let Some(known) = self.conversions.borrow().get(directory) {
            return Ok(*known);
        }
        let above = match directory.parent() {
            Some(parent) => self.conversion(parent)?,
            None => self.general_conversion()?,
        };
        let here = conversion_by(&self.root.join(directory).join(".gitattributes"));
        let conversion = above.max(here);
        self.conversions.borrow_mut().insert(directory.to_owned(), conversion);
        Ok(conversion)
    }

    fn general_conversion(&self) -> Result<Conversion, Reason> {
        let opened = self.opened()?;
        let config = opened.repo.config_snapshot();
        let of_user = match config.trusted_path("core.attributesFile") {
            Ok(Some(path)) => Some(path),
            _ => config_home().map(|home| home.join("git/attributes")),
        };
        let files = [Some(self.common_dir().join("info/attributes")), of_user, Some("/etc/gitattributes".into())];
        let by_files = files.into_iter().flatten().map(|file| conversion_by(&file)).max();
        let by_config = if opened.line_endings { Conversion::LineEndings } else { Conversion::None };
        Ok(by_files.unwrap_or(Conversion::None).max(by_config))
    }

    /// Whether the ignore rules take a path, itself or through a directory above it.
    fn is_ignored(&self, name: &BStr, is_directory: bool) -> Result<bool, Reason> {
        let repo = &self.opened()?.repo;
        let mut ignores = self.ignores.try_borrow_mut().map_err(|_| Reason::Internal)?;
        let path = own_path(name)?;
        for directory in path.ancestors().skip(1) {
            let readable = ignores.readable.entry(directory.to_owned());
            let readable = readable.or_insert_with(|| {
                !matches!(kind_of(&self.root.join(directory).join(".gitignore")), Kind::Special | Kind::Directory)
            });
            if !*readable {
                return Err(Reason::Unreadable);
            }
        }
        if ignores.stack.is_none() {
            let source = gix::worktree::stack::state::ignore::Source::WorktreeThenIdMappingIfNotSkipped;
            let stack = repo.excludes(self.index()?, None, source).map_err(|_| Reason::Repository)?;
            ignores.stack = Some(stack.detach());
        }
        let mode = if is_directory { Mode::DIR } else { Mode::FILE };
        let Some(stack) = ignores.stack.as_mut() else { return Err(Reason::Internal) };
        let found = stack.at_path(name, Some(mode), &repo.objects).map_err(|_| Reason::Unreadable)?;
        Ok(found.is_excluded())
    }

    fn entries(&self, range: Range<usize>) -> Result<&[Entry], Reason> {
        Ok(self.index()?.entries().get(range).unwrap_or_default())
    }

    /// The entries below a directory.
    fn entries_below(&self, directory: &BStr) -> Result<&[Entry], Reason> {
        let range = self.index()?.prefixed_entries_range(as_prefix(directory).as_ref());
        range.map_or(Ok(&[]), |range| self.entries(range))
    }

    /// The paths below a directory whose index entries are not what `HEAD` has.
    fn staged(&self, directory: &BStr, found: &mut Found) -> Result<HashSet<BString>, Reason> {
        let index = self.index()?;
        let mut tree = self.head_tree()?;
        let mut cached = index.tree();
        if !directory.is_empty() {
            if let Some(root) = tree {
                let below = self.in_tree(root, directory)?;
                tree = below.filter(|(mode, _)| mode.is_tree()).map(|(_, id)| id);
            }
            for part in directory.split_str("/") {
                cached = cached.and_then(|cached| child(cached, part));
            }
        }
        let mut staged = HashSet::new();
        self.collect_staged(tree, cached, &as_prefix(directory), self.entries_below(directory)?, found, &mut staged)?;
        Ok(staged)
    }

    fn collect_staged(
        &self,
        tree: Option<ObjectId>,
        cached: Option<&CachedTree>,
        prefix: &BString,
        entries: &[Entry],
        found: &mut Found,
        staged: &mut HashSet<BString>,
    ) -> Result<(), Reason> {
        let index = self.index()?;
        let Some(tree) = tree else {
            staged.extend(entries.iter().map(|entry| entry.path(index).to_owned()));
            return Ok(());
        };
        if cached.is_some_and(|cached| cached.num_entries.is_some() && cached.id == tree) {
            return Ok(());
        }
        let object = self.opened()?.repo.find_tree(tree).map_err(|_| Reason::Head)?;
        let decoded = object.decode().map_err(|_| Reason::Head)?;
        let committed: HashMap<&BStr, (EntryMode, &gix::oid)> =
            decoded.entries.iter().map(|entry| (entry.filename, (entry.mode, entry.oid))).collect();
        let mut rest = entries;
        while let Some(entry) = rest.first() {
            if !found.may_go_on() {
                return Err(Reason::Bounds);
            }
            let path = entry.path(index);
            let below = path.get(prefix.len()..).unwrap_or_default();
            let Some(slash) = below.find_byte(b'/') else {
                let same = committed.get(below.as_bstr());
                if !same.is_some_and(|(mode, id)| **id == *entry.id && is_same_mode(entry.mode, *mode)) {
                    staged.insert(path.to_owned());
                }
                rest = rest.get(1..).unwrap_or_default();
                continue;
            };
            let name = below.get(..slash).unwrap_or_default();
            let mut deeper = prefix.clone();
            deeper.extend_from_slice(name);
            deeper.push(b'/');
            let count = rest.partition_point(|entry| entry.path(index).starts_with(&deeper));
            let (inside, after) = rest.split_at_checked(count.max(1)).unwrap_or((rest, &[]));
            let subtree = committed
                .get(name.as_bstr())
                .filter(|(mode, _)| mode.is_tree())
                .map(|(_, id)| id.to_owned().to_owned());
            let cached = cached.and_then(|cached| child(cached, name));
            self.collect_staged(subtree, cached, &deeper, inside, found, staged)?;
            rest = after;
        }
        Ok(())
    }

    /// Looks at every tracked file below a directory.
    fn walk_tracked(&self, directory: &Path, found: &mut Found) -> Result<(), Reason> {
        let relative = self.relative(directory).ok_or(Reason::Unreadable)?;
        let name = git_path(&relative)?;
        let index = self.index()?;
        let staged = self.staged(name.as_ref(), found)?;
        let mut rest = self.entries_below(name.as_ref())?;
        if rest.is_empty() {
            rest = self.entries_of(name.as_ref())?.unwrap_or_default();
        }
        while let Some(entry) = rest.first() {
            if !found.step() {
                return Ok(());
            }
            let path = entry.path(index);
            let (same, after) = rest
                .split_at_checked(rest.iter().take_while(|other| other.path(index) == path).count())
                .unwrap_or((rest, &[]));
            rest = after;
            if entry.mode.is_sparse() || entry.mode == Mode::COMMIT {
                continue;
            }
            let absolute = self.root.join(own_path(path)?);
            match Metadata::from_path_no_follow(&absolute) {
                Ok(metadata) => {
                    let state = self.tracked_state(same, &absolute, &metadata, Some(&staged));
                    found.note(path, state.unwrap_or_else(State::Unknown));
                }
                Err(error) if is_absent(&error) => {
                    if !entry.flags.contains(Flags::SKIP_WORKTREE) {
                        found.beneath.missing = found.beneath.missing.saturating_add(1);
                    }
                }
                Err(_) => found.note(path, State::Unknown(Reason::Unreadable)),
            }
        }
        Ok(())
    }

    fn walk_from(&self, directory: &Path, scope: Scope, found: &mut Found) -> Result<(), Reason> {
        let Some(relative) = self.relative(directory) else {
            found.note(slashed(directory).as_str().into(), State::OutsideRepository);
            return Ok(());
        };
        let name = git_path(&relative)?;
        let absolute = self.root.join(&relative);
        if kind_of(&absolute) != Kind::Directory {
            let state = self.state_of(&absolute);
            if scope == Scope::All || matches!(state, State::Untracked | State::Ignored | State::Unknown(_)) {
                found.note(name.as_ref(), state);
            }
            return Ok(());
        }
        if relative.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            return Err(Reason::GitDirectory);
        }
        if let Some(nested) = self.nested(&relative) {
            return nested.walk_from(&absolute, scope, found);
        }
        if !relative.as_os_str().is_empty() {
            if kind_of(&absolute.join(".git")) != Kind::Absent {
                found.note(name.as_ref(), State::Unknown(Reason::NestedRepository));
                return Ok(());
            }
            if self.entries_below(name.as_ref())?.is_empty() && self.is_ignored(name.as_ref(), true)? {
                if !is_empty(&absolute) {
                    found.note(name.as_ref(), State::Ignored);
                }
                return Ok(());
            }
        }
        let staged = if scope == Scope::All { self.staged(name.as_ref(), found) } else { Ok(HashSet::new()) };
        self.walk(&name, &absolute, scope, staged.as_ref().map_err(|reason| *reason), found)
    }

    fn walk(
        &self,
        directory: &BString,
        absolute: &Path,
        scope: Scope,
        staged: Result<&HashSet<BString>, Reason>,
        found: &mut Found,
    ) -> Result<(), Reason> {
        let Ok(entries) = fs::read_dir(absolute) else {
            found.note(directory.as_ref(), State::Unknown(Reason::Unreadable));
            return Ok(());
        };
        // Directories wait, so that what lies near the top is found before a bound is reached.
        let mut directories = Vec::new();
        for entry in entries.flatten() {
            if !found.step() {
                return Ok(());
            }
            let file_name = entry.file_name();
            if file_name.eq_ignore_ascii_case(".git") {
                continue;
            }
            let path = absolute.join(&file_name);
            let mut name = as_prefix(directory.as_ref());
            name.extend_from_slice(&git_path(Path::new(&file_name))?);
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory {
                directories.push((name, path));
                continue;
            }
            let state = match self.entries_of(name.as_ref())? {
                Some(_) if scope == Scope::Untracked => continue,
                Some(entries) => match (Metadata::from_path_no_follow(&path), staged) {
                    (Ok(metadata), Ok(staged)) => self.tracked_state(entries, &path, &metadata, Some(staged)),
                    (Err(error), _) if is_absent(&error) => continue,
                    (Err(_), _) => Err(Reason::Unreadable),
                    (_, Err(reason)) => Err(reason),
                },
                None if self.below_sparse_entry(name.as_ref())? => Err(Reason::Sparse),
                None => self
                    .is_ignored(name.as_ref(), false)
                    .map(|ignored| if ignored { State::Ignored } else { State::Untracked }),
            };
            found.note(name.as_ref(), state.unwrap_or_else(State::Unknown));
        }
        for (name, path) in directories {
            if found.beneath.truncated {
                break;
            }
            self.walk_directory(&name, &path, scope, staged, found)?;
        }
        Ok(())
    }

    fn walk_directory(
        &self,
        name: &BString,
        path: &Path,
        scope: Scope,
        staged: Result<&HashSet<BString>, Reason>,
        found: &mut Found,
    ) -> Result<(), Reason> {
        let tracked = !self.entries_below(name.as_ref())?.is_empty();
        let nested = kind_of(&path.join(".git")) != Kind::Absent;
        if !tracked && nested {
            found.note(name.as_ref(), State::Unknown(Reason::NestedRepository));
        } else if !tracked && self.is_ignored(name.as_ref(), true)? {
            if !is_empty(path) {
                found.note(name.as_ref(), State::Ignored);
            }
        } else {
            if nested {
                found.note(name.as_ref(), State::Unknown(Reason::NestedRepository));
            }
            self.walk(name, path, scope, staged, found)?;
        }
        Ok(())
    }
}

/// A value that changes when somebody changes the file: made of its size, its time of modification in nanoseconds and
/// its inode. `None` when nothing is there. The same in every process on one machine.
pub fn stamp(path: &Path) -> Option<u64> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let modified = metadata.modified().ok()?;
    let nanoseconds = match modified.duration_since(std::time::UNIX_EPOCH) {
        Ok(after) => after.as_nanos(),
        Err(before) => !before.duration().as_nanos(),
    };
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let inode = 0_u64;
    let kind = [u8::from(metadata.is_dir()), u8::from(metadata.is_symlink())];
    let bytes = metadata.len().to_le_bytes().into_iter().chain(nanoseconds.to_le_bytes()).chain(inode.to_le_bytes());
    // FNV-1a.
    Some(
        bytes.chain(kind).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }),
    )
}

/// What a walk has found so far, and how far it may still go.
struct Found {
    beneath: Beneath,
    ignored: Vec<Example>,
    examples: usize,
    steps: usize,
    until: Instant,
}

impl Found {
    fn new(bounds: Bounds) -> Self {
        let now = Instant::now();
        Self {
            beneath: Beneath::default(),
            ignored: Vec::new(),
            examples: bounds.examples,
            steps: bounds.entries,
            until: now.checked_add(bounds.time).unwrap_or(now),
        }
    }

    /// Whether there is time left.
    fn may_go_on(&self) -> bool {
        Instant::now() < self.until
    }

    /// Takes one step; false when a bound is reached.
    fn step(&mut self) -> bool {
        if self.steps == 0 || !self.may_go_on() {
            self.beneath.truncated = true;
            return false;
        }
        self.steps = self.steps.saturating_sub(1);
        true
    }

    fn note(&mut self, path: &BStr, state: State) {
        let beneath = &mut self.beneath;
        let count = match state {
            State::Absent => return,
            State::Committed => &mut beneath.committed,
            State::Changed => &mut beneath.changed,
            State::Untracked | State::OutsideRepository => &mut beneath.untracked,
            State::Ignored => &mut beneath.ignored,
            State::Unknown(_) => &mut beneath.unknown,
        };
        *count = count.saturating_add(1);
        let examples = match state {
            State::Committed => return,
            State::Ignored => &mut self.ignored,
            _ => &mut beneath.examples,
        };
        if examples.len() < self.examples {
            let path = own_path(path).map_or_else(|_| path.to_string(), |path| slashed(&path));
            examples.push(Example { path, state });
        }
    }

    fn finish(mut self, walked: Result<(), Reason>) -> Beneath {
        if let Err(reason) = walked {
            if reason == Reason::Bounds {
                self.beneath.truncated = true;
            }
            let first = Example { path: ".".to_owned(), state: State::Unknown(reason) };
            self.beneath.examples.insert(0, first);
            self.beneath.unknown = self.beneath.unknown.saturating_add(1);
        }
        self.beneath.examples.append(&mut self.ignored);
        self.beneath.examples.sort_by_key(|example| std::cmp::Reverse(example.state.gravity()));
        self.beneath.examples.truncate(self.examples.max(1));
        self.beneath
    }
}

/// Runs a reader of files that anybody may have written; its panics become a reason.
fn guarded<T>(read: impl FnOnce() -> Result<T, Reason>) -> Result<T, Reason> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(Reason::Internal))
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
}

/// A path as git writes it.
fn git_path(path: &Path) -> Result<BString, Reason> {
    let bytes = gix::path::into_bstr(path).map_err(|_| Reason::Unreadable)?;
    Ok(gix::path::to_unix_separators_on_windows(bytes).into_owned())
}

/// A path of git as the platform writes it.
fn own_path(path: &BStr) -> Result<Cow<'_, Path>, Reason> {
    gix::path::from_bstr(path).map_err(|_| Reason::Unreadable)
}

/// A directory's name as the beginning of the names below it.
fn as_prefix(directory: &BStr) -> BString {
    let mut prefix = directory.to_owned();
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    prefix
}

fn child<'a>(tree: &'a CachedTree, name: &[u8]) -> Option<&'a CachedTree> {
    tree.children.iter().find(|child| child.name.as_slice() == name)
}

fn is_same_mode(index: Mode, tree: EntryMode) -> bool {
    let kind = match index {
        Mode::FILE => EntryKind::Blob,
        Mode::FILE_EXECUTABLE => EntryKind::BlobExecutable,
        Mode::SYMLINK => EntryKind::Link,
        Mode::COMMIT => EntryKind::Commit,
        Mode::DIR => EntryKind::Tree,
        _ => return false,
    };
    tree.kind() == kind
}

/// Whether `lstat` says what it said when git last looked. A time without nanoseconds proves nothing beside one with.
fn is_same_stat(index: &Stat, file: &Stat) -> bool {
    index.size == file.size
        && index.mtime == file.mtime
        && (!cfg!(unix) || (index.ctime == file.ctime && (index.ino == 0 || index.ino == file.ino)))
}

fn config_home() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))
}

/// What an attributes file may do to content. Words are looked for, not rules: taking one for another only makes an
/// answer less certain.
fn conversion_by(file: &Path) -> Conversion {
    const WORDS: [&str; 6] = ["text", "crlf", "eol", "filter", "ident", "working-tree-encoding"];
    if kind_of(file) == Kind::Absent {
        return Conversion::None;
    }
    match read_small(file, MAX_ATTRIBUTES) {
        Some(content) if !WORDS.iter().any(|word| content.contains_str(word)) => Conversion::None,
        _ => Conversion::Attributes,
    }
}

/// The content of a regular file of at most `limit` bytes.
/// Whether what would be read of a repository to open it are files that end: a pipe or a device in their place would be waited for, or
/// read for ever. Nothing there is readable too.
fn is_readable(git: &Path) -> bool {
    let ends = |path: &Path| match fs::metadata(path) {
        Ok(metadata) => metadata.is_dir() || (metadata.is_file() && metadata.len() <= MAX_HEADER),
        // A link that leads nowhere, or round and round, is no file that is read.
        Err(_) => true,
    };
    let folder = if git.is_dir() { git.to_path_buf() } else { gitfile(git).unwrap_or_default() };
    let common = folder.join("commondir");
    let shared = read_small(&common, MAX_ATTRIBUTES)
        .and_then(|bytes| bytes.trim().to_path().ok().map(|path| folder.join(path)))
        .unwrap_or_else(|| folder.clone());
    let named = read_small(&folder.join("HEAD"), MAX_ATTRIBUTES);
    let branch =
        named.as_deref().and_then(|head| head.strip_prefix(b"ref:")).and_then(|name| name.trim().to_path().ok());
    let read = [&folder, &shared].into_iter().flat_map(|folder| {
        ["HEAD", "commondir", "config", "config.worktree", "packed-refs", "gitdir", "index", "info/exclude", "shallow"]
            .map(|name| folder.join(name))
            .into_iter()
            .chain(branch.map(|branch| folder.join(branch)))
    });
    ends(git) && read.collect::<Vec<_>>().iter().all(|path| ends(path))
}

/// The folder that a `.git` file names.
fn gitfile(file: &Path) -> Option<PathBuf> {
    let text = read_small(file, MAX_ATTRIBUTES)?;
    let path = text.strip_prefix(b"gitdir:")?.trim().to_path().ok()?.to_path_buf();
    Some(file.parent()?.join(path))
}

fn read_small(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > limit {
        return None;
    }
    let mut content = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(limit.saturating_add(1)).read_to_end(&mut content).ok()?;
    (u64::try_from(content.len()).ok()? <= limit).then_some(content)
}

#[cfg(test)]
mod tests;
