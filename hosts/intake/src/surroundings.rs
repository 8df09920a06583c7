//! Where a call happens: the folder, the roots, the repository, and the gate's own files.

use crate::places::Places;
use crate::repository::Repository;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// What intake may look at. Nothing is opened until it is asked for.
#[derive(Debug)]
pub struct Surroundings {
    directory: PathBuf,
    places: Places,
    root: PathBuf,
    repository: Option<Repository>,
    own_files: Vec<PathBuf>,
    branch: OnceCell<Option<String>>,
}

impl Surroundings {
    /// The surroundings of a call that runs in `directory`, for a user whose home is `home`.
    #[must_use]
    pub fn new(directory: &Path, home: Option<&Path>) -> Self {
        let repository = Repository::discover(directory);
        let root = repository.as_ref().map_or_else(|| directory.to_owned(), |repository| repository.root().to_owned());
        Self {
            directory: directory.to_owned(),
            places: Places::new(&root, home),
            root,
            repository,
            own_files: Vec::new(),
            branch: OnceCell::new(),
        }
    }

    /// Names files that belong to the gate itself: its store, its keys.
    #[must_use]
    pub fn with_own_files(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.own_files = files.into_iter().map(|file| file.canonicalize().unwrap_or(file)).collect();
        self
    }

    /// Takes these folders for the temporary ones instead of the system's.
    #[must_use]
    pub fn with_temporary(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let places = std::mem::replace(&mut self.places, Places::new(&self.root, None));
        self.places = places.with_temporary(folders);
        self
    }

    /// The folder in which the call runs.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The repository's root, or the folder where there is none.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The names of places.
    #[must_use]
    pub const fn places(&self) -> &Places {
        &self.places
    }

    /// The repository.
    #[must_use]
    pub const fn repository(&self) -> Option<&Repository> {
        self.repository.as_ref()
    }

    /// The branch that is checked out.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        self.branch.get_or_init(|| self.repository.as_ref().and_then(Repository::branch)).as_deref()
    }

    /// Whether a path is, accompanies, or is below a file or folder of the gate itself.
    #[must_use]
    pub fn is_own(&self, path: &Path) -> bool {
        self.own_files.iter().any(|own| {
            path.starts_with(own)
                || path
                    .to_str()
                    .zip(own.to_str())
                    .is_some_and(|(path, own)| path.strip_prefix(own).is_some_and(|rest| rest.starts_with('-')))
        })
    }

    /// Whether a folder holds a file of the gate itself.
    #[must_use]
    pub fn holds_own(&self, folder: &Path) -> bool {
        self.own_files.iter().any(|own| own.starts_with(folder))
    }
}
