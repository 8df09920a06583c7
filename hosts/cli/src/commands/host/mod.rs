//! `init` and `uninstall`: a host's settings made to ask the gate, and made as they were.
//!
//! | room | idea |
//! |---|---|
//! | [`table`] | what each host's settings look like, as data |
//! | [`hooks`] | hooks in a document, found, added and taken back |
//! | `line` | a program as a line for a shell |
//! | `file` | the files on disk |

pub(crate) mod file;
pub(crate) mod hooks;
pub(crate) mod line;
pub(crate) mod table;

use super::Answer;
use crate::args::{InitArgs, Scope, UninstallArgs};
use crate::failure::Failure;
use crate::gate::{Gate, show};
use crate::json_text::Document;
use crate::screen;
use hooks::{Note, Started};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use stigmergate_core::digest::Digest;
use stigmergate_intake::settings::make_private_folder;
use table::{FORMS, Form, Reach};

/// A settings file through which a host asks the gate.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Installed {
    pub(crate) host: &'static str,
    #[serde(skip)]
    pub(crate) title: &'static str,
    pub(crate) file: PathBuf,
}

/// The settings files through which hosts ask the gate here.
pub(crate) fn installed(gate: &Gate) -> Vec<Installed> {
    let of_host = |form: &'static Form| {
        let asks = |file: &Path| {
            let text = fs::read_to_string(file).ok();
            let document = text.and_then(|text| Document::read(&text, form.dialect).ok());
            document.is_some_and(|document| form.asks_before(&document))
        };
        let files = file::places(gate, form).into_iter().map(|(_, file)| file);
        files.filter(move |file| asks(file)).map(|file| Installed {
            host: form.host.name(),
            title: form.host.title(),
            file,
        })
    };
    FORMS.into_iter().flat_map(of_host).collect()
}

#[derive(Serialize)]
struct Written<'a> {
    host: &'a str,
    file: &'a Path,
    changed: bool,
    command: Option<String>,
    text: Option<&'a str>,
}

pub(crate) fn init(gate: &Gate, args: &InitArgs) -> Result<Answer, Failure> {
    let form = table::form(args.host);
    let (reach, file) = chosen(gate, form, &args.scope)?;
    let started = started(gate, form)?;
    let before = file::read(&file)?;
    let document = document(form, &file, before.as_deref())?;
    let (document, note) =
        hooks::install(form, &document, &started, note(gate, form, &file)).map_err(|wrong| misshapen(&file, wrong))?;
    let text = document.text();
    let changed = before.as_deref() != Some(text);
    let command = started.words().join(" ");
    let written = |text| Written { host: form.host.name(), file: &file, changed, command: Some(command.clone()), text };
    if args.print {
        return Ok(Answer::new(gate, &written(Some(text)), || text.to_owned()));
    }
    if changed {
        let mut made_folders = file::missing_folders(&file);
        made_folders.extend(note.made_folders);
        let note = Note { file: file.clone(), made_file: note.made_file || before.is_none(), made_folders, ..note };
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| file::unwritable(folder, &error))?;
        keep_note(gate, form, &file, &note)?;
        file::write(&file, text)?;
    }
    Ok(Answer::new(gate, &written(None), || {
        let name = show(&file);
        if !changed {
            return format!("{name} asks the gate already; nothing was changed\n");
        }
        let mut text = format!(
            "{name}: {} asks `{}` before and after each tool call\n",
            form.host.title(),
            screen::plain(&command)
        );
        if Path::new(&started.program).is_absolute() && reach == Reach::Project {
            text.push_str("the path is this machine's, since `stigmergate` is not on PATH; others who share the file need it there too\n");
        }
        for remark in form.remarks {
            text.push_str(&format!("{remark}\n"));
        }
        let name = form.host.name();
        text.push_str(&format!("`stigmergate doctor {name}` tries it; `stigmergate uninstall {name}` takes it back\n"));
        text
    }))
}

pub(crate) fn uninstall(gate: &Gate, args: &UninstallArgs) -> Result<Answer, Failure> {
    let form = table::form(args.host);
    let (_, file) = chosen(gate, form, &args.scope)?;
    let note = note(gate, form, &file);
    let before = file::read(&file)?;
    let mut changed = false;
    if let Some(before) = &before {
        let document = document(form, &file, Some(before))?;
        let after =
            hooks::take_back(form, &document, note.as_ref()).ok_or_else(|| misshapen(&file, "what `init` wrote"))?;
        changed = after.text() != before;
        if changed && after.holds_nothing(after.root()) && note.as_ref().is_some_and(|note| note.made_file) {
            fs::remove_file(&file).map_err(|error| file::unwritable(&file, &error))?;
            for folder in note.iter().flat_map(|note| &note.made_folders) {
                // Only an empty folder goes.
                _ = fs::remove_dir(folder);
            }
        } else if changed {
            file::write(&file, after.text())?;
        }
    }
    _ = fs::remove_file(note_file(gate, form, &file));
    let elsewhere = installed(gate);
    let written = Written { host: form.host.name(), file: &file, changed, command: None, text: None };
    Ok(Answer::new(gate, &written, || {
        let mut text = if changed {
            format!("{}: {} no longer asks the gate\n", show(&file), form.host.title())
        } else {
            format!("{}: nothing of the gate was there\n", show(&file))
        };
        for (place, other) in file::places(gate, form) {
            if elsewhere.iter().any(|installed| installed.host == form.host.name() && installed.file == other) {
                let again = format!("stigmergate uninstall {} {}", form.host.name(), place.scope.flag());
                text.push_str(&format!("{} still asks it: `{again}`\n", show(&other)));
            }
        }
        text
    }))
}

/// The file of the scope that was typed.
fn chosen(gate: &Gate, form: &Form, scope: &Scope) -> Result<(Reach, PathBuf), Failure> {
    let reach = match (scope.user, scope.local) {
        (true, _) => Reach::User,
        (_, true) => Reach::Local,
        _ => Reach::Project,
    };
    let place = form.places.iter().find(|place| place.scope == reach).ok_or_else(|| {
        let has: Vec<&str> = form.places.iter().map(|place| place.scope.flag()).collect();
        let message =
            format!("{} has no settings for {}; it has {}", form.host.title(), reach.flag(), has.join(" and "));
        Failure::new("unknown_scope", message).in_field("scope")
    })?;
    Ok((reach, file::locate(gate, place.base, place.path)?))
}

/// How the host finds this program: by its name where that leads here, else by its path.
fn program() -> Result<String, Failure> {
    let name = if cfg!(windows) { "stigmergate.exe" } else { "stigmergate" };
    let Ok(this) = std::env::current_exe() else { return Ok("stigmergate".to_owned()) };
    let this = fs::canonicalize(&this).unwrap_or(this);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    let leads_here = first.and_then(|file| fs::canonicalize(file).ok()).is_some_and(|file| file == this);
    if leads_here { Ok("stigmergate".to_owned()) } else { writable_path(&this) }
}

/// A path as settings can hold it.
fn writable_path(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.contains(['\n', '\r']));
    text.map(str::to_owned).ok_or_else(|| {
        Failure::new("value", format!("{} cannot be written into settings; use another path", show(path)))
            .in_field("path")
    })
}

fn started(gate: &Gate, form: &Form) -> Result<Started, Failure> {
    let mut arguments = vec!["hook".to_owned(), form.host.name().to_owned()];
    if gate.named_store {
        arguments.extend(["--store".to_owned(), writable_path(&gate.locations.store)?]);
    }
    Ok(Started { program: program()?, arguments })
}

pub(crate) fn document(form: &Form, file: &Path, text: Option<&str>) -> Result<Document, Failure> {
    let text = text.unwrap_or("{}\n");
    Document::read(text, form.dialect).map_err(|error| {
        let what = if text.trim().is_empty() { "it is empty".to_owned() } else { error.to_string() };
        let message = format!("{} is no valid JSON ({what}), so it was left as it is; mend it first", show(file));
        Failure::new("json", message).in_field("file")
    })
}

fn misshapen(file: &Path, expected: &str) -> Failure {
    let message = format!("{} was left as it is: expected {expected}", show(file));
    Failure::new("value", message).in_field("file")
}

fn note_file(gate: &Gate, form: &Form, file: &Path) -> PathBuf {
    let digest = Digest::of("stigmergate host settings", file.as_os_str().as_encoded_bytes()).to_string();
    let name = format!("{}-{}.json", form.host.name(), digest.get(..16).unwrap_or(&digest));
    gate.locations.data.join("hosts").join(name)
}

fn note(gate: &Gate, form: &Form, file: &Path) -> Option<Note> {
    let text = fs::read_to_string(note_file(gate, form, file)).ok()?;
    serde_json::from_str(&text).ok()
}

fn keep_note(gate: &Gate, form: &Form, file: &Path, note: &Note) -> Result<(), Failure> {
    let path = note_file(gate, form, file);
    let folder = path.parent().unwrap_or(Path::new("."));
    make_private_folder(folder).map_err(|error| file::unwritable(folder, &error))?;
    file::write(&path, &screen::json(note))
}

#[cfg(test)]
mod tests;
