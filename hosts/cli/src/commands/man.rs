//! `man`: the manual pages, from the definition of the arguments.

use super::{Answer, count};
use crate::args::{Cli, ManArgs};
use crate::failure::{DONE, Failure};
use crate::gate::show;
use clap::CommandFactory as _;
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Written {
    folder: PathBuf,
    /// The names of the files.
    pages: Vec<String>,
}

pub(crate) fn man(as_json: bool, args: &ManArgs) -> Result<Answer, Failure> {
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        render(Cli::command(), &mut page).map_err(|error| unwritable(Path::new("the page"), &error))?;
        return Ok(Answer { text: String::from_utf8_lossy(&page).into_owned(), exit: DONE });
    };
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let mut command = Cli::command().disable_help_subcommand(true);
    // Gives each command its whole name (`stigmergate ledger verify`), and what holds for all of them.
    command.build();
    let mut written = Written { folder: folder.clone(), pages: Vec::new() };
    write_all(&command, "stigmergate", &mut written)?;
    Ok(Answer::of(as_json, &written, || {
        format!("{} in {}\n", count(written.pages.len() as u64, "page", "pages"), show(folder))
    }))
}

fn write_all(command: &clap::Command, name: &str, written: &mut Written) -> Result<(), Failure> {
    let file = format!("{name}.1");
    let path = written.folder.join(&file);
    let mut page = Vec::new();
    render(command.clone().display_name(name), &mut page).map_err(|error| unwritable(&path, &error))?;
    std::fs::write(&path, page).map_err(|error| unwritable(&path, &error))?;
    written.pages.push(file);
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_all(below, &format!("{name}-{}", below.get_name()), written)?;
    }
    Ok(())
}

fn render(command: clap::Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    let title = command.get_display_name().unwrap_or(command.get_name()).to_uppercase();
    let version = format!("stigmergate {}", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).title(title).source(version).manual("stigmergate").render(page)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new("io", format!("{} cannot be written: {error}", show(path))).in_field("out")
}
