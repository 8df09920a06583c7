//! The files of a host on disk: where they are, read within bounds, replaced whole or not at all.

use super::table::{Base, Form, Place};
use crate::failure::Failure;
use crate::gate::{Gate, show};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// More is no settings file.
const MOST_BYTES: u64 = 16 << 20;

/// The file of a place.
pub(crate) fn locate(gate: &Gate, base: Base, path: &str) -> Result<PathBuf, Failure> {
    let named = |variable: &str| {
        let value = std::env::var_os(variable).filter(|value| !value.is_empty())?;
        std::path::absolute(PathBuf::from(value)).ok()
    };
    let folder = match base {
        Base::Root => gate.locations.root.clone(),
        Base::Folder(folder, variable) => match variable.and_then(named) {
            Some(folder) => folder,
            None => home()?.join(folder),
        },
        Base::Home(variable) => named(variable).map_or_else(home, Ok)?,
        Base::Machine([linux, macos, windows]) => {
            let of_platform = if cfg!(windows) { windows } else { linux };
            PathBuf::from(if cfg!(target_os = "macos") { macos } else { of_platform })
        }
    };
    Ok(folder.join(path))
}

/// The files of a host with their places, as far as there is a home.
pub(crate) fn places(gate: &Gate, form: &Form) -> Vec<(&'static Place, PathBuf)> {
    form.places.iter().filter_map(|place| Some((place, locate(gate, place.base, place.path).ok()?))).collect()
}

fn home() -> Result<PathBuf, Failure> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    home.ok_or_else(|| Failure::new("settings_no_home", "no home folder is known; set HOME"))
}

pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new("io", format!("{} cannot be written: {error}", show(path)))
}

/// The text of a file; nothing where there is none.
pub(crate) fn read(file: &Path) -> Result<Option<String>, Failure> {
    let wrong = |what: &str| Failure::new("io", format!("{} {what}", show(file)));
    match fs::metadata(file) {
        Ok(metadata) if !metadata.is_file() => return Err(wrong("is no file")),
        Ok(metadata) if metadata.len() > MOST_BYTES => return Err(wrong("is too long for settings")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(&format!("cannot be read: {error}"))),
    }
    fs::read_to_string(file).map(Some).map_err(|error| wrong(&format!("cannot be read: {error}")))
}

/// Replaces the file whole or not at all, with the permissions that it had. A link stays, and what it leads to is replaced.
pub(crate) fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let attempt = || -> io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        let builder = {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o644))
        };
        let mut temporary = builder.tempfile_in(folder)?;
        if let Ok(metadata) = fs::metadata(&file) {
            temporary.as_file().set_permissions(metadata.permissions())?;
        }
        temporary.write_all(text.as_bytes())?;
        temporary.as_file().sync_all()?;
        temporary.persist(&file).map_err(|error| error.error)?;
        Ok(())
    };
    attempt().map_err(|error| unwritable(&file, &error))
}

/// The folders that a file needs and that are not there, the deepest first.
pub(crate) fn missing_folders(file: &Path) -> Vec<PathBuf> {
    file.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect()
}
