//! The library between the program and the system, built with the machine's own compiler.

use crate::Failed;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("shim.c");

pub(crate) struct Shim {
    library: PathBuf,
}

/// What goes wrong at a write point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The process ends before it.
    Kill,
    /// Half of it is done, then the process ends.
    Torn,
    /// It fails, and nothing else does.
    Once(Errno),
    /// It fails, and so does every one after it.
    FromThenOn(Errno),
}

/// An error of the system, as Linux numbers it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Errno {
    Io = 5,
    Access = 13,
    NoSpace = 28,
    ReadOnly = 30,
    Quota = 122,
}

impl Shim {
    pub(crate) fn build(folder: &Path) -> Result<Self, Failed> {
        let (source, library) = (folder.join("shim.c"), folder.join("libfault.so"));
        std::fs::write(&source, SOURCE)?;
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let built = Command::new(&compiler)
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .status()
            .map_err(|error| format!("the C compiler {compiler:?}: {error}"))?;
        if built.success() { Ok(Self { library }) } else { Err("the C compiler refused the shim".into()) }
    }

    /// Lets the program meet a fault at its n-th write below a folder, from 1; `mark` is made when it happens.
    pub(crate) fn arm(&self, command: &mut Command, under: &Path, at: u64, fault: Fault, mark: &Path) {
        let (kind, errno) = match fault {
            Fault::Kill => ("kill".to_owned(), 0),
            Fault::Torn => ("torn".to_owned(), 0),
            Fault::Once(errno) => ((errno as i32).to_string(), 0),
            Fault::FromThenOn(errno) => ("deaf".to_owned(), errno as i32),
        };
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAULT_UNDER", under)
            .env("FAULT_AT", at.to_string())
            .env("FAULT_KIND", kind)
            .env("FAULT_ERRNO", errno.to_string())
            .env("FAULT_MARK", mark);
    }
}
