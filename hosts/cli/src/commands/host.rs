//! `init` and `uninstall`: a host's settings made to ask the gate, and made as they were.
//!
//! What is written is a group of its own for each event, so that nothing that stands there is touched, and a note in the data
//! folder of what had to be made for it. By that note `uninstall` takes back exactly what `init` added.

use super::Answer;
use crate::args::{InitArgs, Scope, UninstallArgs};
use crate::failure::Failure;
use crate::gate::{Gate, show};
use crate::json_text::{Document, Json, Node};
use crate::screen;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use stigmergate_core::digest::Digest;
use stigmergate_intake::settings::make_private_folder;

/// The events, and whether a failure of the hook itself has to stop the call.
const EVENTS: [(&str, bool); 3] = [("PreToolUse", true), ("PostToolUse", false), ("PostToolUseFailure", false)];

/// Seconds after which the host gives up on a hook. It takes milliseconds, and waits at most five seconds for other processes.
const TIMEOUT: u32 = 30;

/// What had to be made for the hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    file: PathBuf,
    made_file: bool,
    made_folder: bool,
    /// The objects and lists that were not there.
    made: BTreeSet<String>,
    /// What the empty ones that were there held.
    blank: BTreeMap<String, String>,
}

impl Gate {
    fn claude_file(&self, scope: &Scope) -> Result<PathBuf, Failure> {
        if scope.user {
            let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
            let home = home.ok_or_else(|| Failure::new("settings_no_home", "no home folder is known; set HOME"))?;
            return Ok(home.join(".claude/settings.json"));
        }
        let name = if scope.local { "settings.local.json" } else { "settings.json" };
        Ok(self.locations.root.join(".claude").join(name))
    }

    fn claude_files(&self) -> Vec<(&'static str, PathBuf)> {
        let scope = |user, local| Scope { user, local, project: false };
        [("--project", scope(false, false)), ("--local", scope(false, true)), ("--user", scope(true, false))]
            .into_iter()
            .filter_map(|(flag, scope)| Some((flag, self.claude_file(&scope).ok()?)))
            .collect()
    }

    fn note_file(&self, file: &Path) -> PathBuf {
        let digest = Digest::of("stigmergate host settings", file.as_os_str().as_encoded_bytes()).to_string();
        self.locations.data.join("hosts").join(format!("claude-{}.json", digest.get(..16).unwrap_or(&digest)))
    }
}

/// The settings files through which a host asks the gate here.
pub(crate) fn installed(gate: &Gate) -> Vec<PathBuf> {
    let asks = |file: &Path| {
        let document = fs::read_to_string(file).ok().and_then(|text| Document::read(&text).ok());
        document.is_some_and(|document| {
            let groups =
                document.root().get("hooks").and_then(|hooks| hooks.get("PreToolUse")).map_or(&[][..], Node::items);
            groups.iter().any(|group| hooks_of(group).iter().any(|hook| is_ours(&document, hook)))
        })
    };
    gate.claude_files().into_iter().map(|(_, file)| file).filter(|file| asks(file)).collect()
}

#[derive(Serialize)]
struct Written<'a> {
    file: &'a Path,
    changed: bool,
    command: Option<&'a str>,
    text: Option<&'a str>,
}

pub(crate) fn init(gate: &Gate, args: &InitArgs) -> Result<Answer, Failure> {
    let file = gate.claude_file(&args.scope)?;
    let command = program();
    let before = read(&file)?;
    let (document, note) = install(&document(&file, before.as_deref())?, &command, &arguments(gate), note(gate, &file))
        .map_err(|wrong| misshapen(&file, wrong))?;
    let text = document.text();
    let changed = before.as_deref() != Some(text);
    if args.print {
        let written = Written { file: &file, changed, command: Some(&command), text: Some(text) };
        return Ok(Answer::new(gate, &written, || text.to_owned()));
    }
    if changed {
        let folder = file.parent().unwrap_or(Path::new("."));
        let note = Note {
            file: file.clone(),
            made_file: note.made_file || before.is_none(),
            made_folder: note.made_folder || !folder.exists(),
            ..note
        };
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        keep_note(gate, &file, &note)?;
        write(&file, text)?;
    }
    let written = Written { file: &file, changed, command: Some(&command), text: None };
    Ok(Answer::new(gate, &written, || {
        let name = show(&file);
        if !changed {
            return format!("{name} asks the gate already; nothing was changed\n");
        }
        let mut text = format!(
            "{name}: Claude Code asks `{}` before and after each tool call\n",
            screen::plain(&format!("{command} hook claude"))
        );
        if Path::new(&command).is_absolute() && !args.scope.user && !args.scope.local {
            text.push_str("the path is this machine's, since `stigmergate` is not on PATH; others who share the file need it there too\n");
        }
        text.push_str("a broken hook blocks the call from Claude Code 2.1.295 on; earlier versions let it through\n");
        text.push_str("sessions that run already need a restart; `stigmergate uninstall claude` takes it back\n");
        text
    }))
}

pub(crate) fn uninstall(gate: &Gate, args: &UninstallArgs) -> Result<Answer, Failure> {
    let file = gate.claude_file(&args.scope)?;
    let note = note(gate, &file);
    let before = read(&file)?;
    let mut changed = false;
    if let Some(before) = &before {
        let document = document(&file, Some(before))?;
        let after = take_back(&document, note.as_ref()).ok_or_else(|| misshapen(&file, "what `init` wrote"))?;
        changed = after.text() != before;
        let nothing_left = after.blank_inside(after.root()).is_some();
        if changed && nothing_left && note.as_ref().is_some_and(|note| note.made_file) {
            fs::remove_file(&file).map_err(|error| unwritable(&file, &error))?;
            if let Some(folder) = file.parent().filter(|_| note.as_ref().is_some_and(|note| note.made_folder)) {
                // Only an empty folder goes.
                _ = fs::remove_dir(folder);
            }
        } else if changed {
            write(&file, after.text())?;
        }
    }
    _ = fs::remove_file(gate.note_file(&file));
    let elsewhere = installed(gate);
    let written = Written { file: &file, changed, command: None, text: None };
    Ok(Answer::new(gate, &written, || {
        let mut text = if changed {
            format!("{}: Claude Code no longer asks the gate\n", show(&file))
        } else {
            format!("{}: nothing of the gate was there\n", show(&file))
        };
        for (flag, other) in gate.claude_files() {
            if elsewhere.contains(&other) {
                text.push_str(&format!("{} still asks it: `stigmergate uninstall claude {flag}`\n", show(&other)));
            }
        }
        text
    }))
}

/// How the host finds this program: by its name where that leads here, else by its path.
fn program() -> String {
    let name = if cfg!(windows) { "stigmergate.exe" } else { "stigmergate" };
    let Ok(this) = std::env::current_exe() else { return "stigmergate".to_owned() };
    let this = fs::canonicalize(&this).unwrap_or(this);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    let leads_here = first.and_then(|file| fs::canonicalize(file).ok()).is_some_and(|file| file == this);
    if leads_here { "stigmergate".to_owned() } else { this.display().to_string() }
}

fn arguments(gate: &Gate) -> Vec<String> {
    let mut arguments = vec!["hook".to_owned(), "claude".to_owned()];
    if gate.named_store {
        arguments.extend(["--store".to_owned(), gate.locations.store.display().to_string()]);
    }
    arguments
}

/// The group for an event, in the form without a shell: the program is started as it is, whatever its path holds.
fn group(command: &str, arguments: &[String], blocks: bool) -> Json {
    Json::Object(vec![("matcher", Json::text("*")), ("hooks", Json::Array(vec![hook(command, arguments, blocks)]))])
}

fn hook(command: &str, arguments: &[String], blocks: bool) -> Json {
    let mut hook = vec![
        ("type", Json::text("command")),
        ("command", Json::text(command)),
        ("args", Json::Array(arguments.iter().map(|argument| Json::text(argument)).collect())),
        ("timeout", Json::Number(TIMEOUT)),
    ];
    if blocks {
        hook.push(("onFailure", Json::text("block")));
    }
    Json::Object(hook)
}

fn hooks_of(group: &Node) -> &[Node] {
    group.get("hooks").map_or(&[], Node::items)
}

/// Whether a hook starts this program for this host.
fn is_ours(document: &Document, hook: &Node) -> bool {
    let value = document.value(hook);
    let command = value.get("command").and_then(|command| command.as_str()).unwrap_or_default();
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let arguments = value.get("args").and_then(|args| args.as_array()).map(Vec::as_slice).unwrap_or_default();
    let first: Vec<&str> = arguments.iter().take(2).filter_map(|argument| argument.as_str()).collect();
    matches!(name, "stigmergate" | "stigmergate.exe") && first == ["hook", "claude"]
}

/// Adds what is missing. The error names what has another form than a host's settings.
fn install(
    document: &Document,
    command: &str,
    arguments: &[String],
    note: Option<Note>,
) -> Result<(Document, Note), &'static str> {
    let mut document = document.clone();
    let mut note = note.unwrap_or_default();
    if !document.root().is_object() {
        return Err("an object");
    }
    const CHANGED: &str = "a text that could be edited";
    for (event, blocks) in EVENTS {
        if document.root().get("hooks").is_none() {
            remember_blank(&document, document.root(), "", &mut note);
            document = document.add(document.root(), Some("hooks"), &Json::Object(Vec::new())).ok_or(CHANGED)?;
            note.made.insert("hooks".to_owned());
        }
        let hooks =
            document.root().get("hooks").filter(|hooks| hooks.is_object()).ok_or("an object at `hooks`")?.clone();
        let path = format!("hooks.{event}");
        let ours = group(command, arguments, blocks);
        let Some(groups) = hooks.get(event).cloned() else {
            if !note.made.contains("hooks") {
                remember_blank(&document, &hooks, "hooks", &mut note);
            }
            document = document.add(&hooks, Some(event), &Json::Array(vec![ours])).ok_or(CHANGED)?;
            note.made.insert(path);
            continue;
        };
        if !groups.is_array() {
            return Err("lists at `hooks`' events");
        }
        let standing = groups.items().iter().flat_map(hooks_of).find(|hook| is_ours(&document, hook)).cloned();
        let wanted = hook(command, arguments, blocks);
        document = match standing {
            Some(standing) if document.value(&standing) == wanted.value() => continue,
            Some(standing) => document.replace(&standing, &wanted).ok_or(CHANGED)?,
            None => {
                remember_blank(&document, &groups, &path, &mut note);
                document.add(&groups, None, &ours).ok_or(CHANGED)?
            }
        };
    }
    Ok((document, note))
}

fn remember_blank(document: &Document, node: &Node, path: &str, note: &mut Note) {
    if let Some(blank) = document.blank_inside(node) {
        note.blank.insert(path.to_owned(), blank.to_owned());
    }
}

/// Takes away the hooks, then what held nothing else and was made for them.
fn take_back(document: &Document, note: Option<&Note>) -> Option<Document> {
    let mut document = document.clone();
    for (event, _) in EVENTS {
        while let Some(after) = take_one(&document, event, note)? {
            document = after;
        }
    }
    // Without a note of what was there before, what is empty goes.
    let made = |path: &str| note.is_none_or(|note| note.made.contains(path));
    let blank = |path: &str| note.and_then(|note| note.blank.get(path)).map_or("", String::as_str);
    for (event, _) in EVENTS.iter().rev() {
        let Some(hooks) = document.root().get("hooks").cloned() else { continue };
        let empty = hooks.get(event).is_some_and(|groups| groups.is_array() && groups.items().is_empty());
        if empty && made(&format!("hooks.{event}")) {
            document = document.remove(&hooks, document.number_of(&hooks, event)?, blank("hooks"))?;
        }
    }
    let empty =
        document.root().get("hooks").is_some_and(|hooks| hooks.is_object() && document.blank_inside(hooks).is_some());
    if empty && made("hooks") {
        document = document.remove(document.root(), document.number_of(document.root(), "hooks")?, blank(""))?;
    }
    Some(document)
}

/// Takes away one hook, with its group where that holds nothing else. The outer `None`: the text could not be edited.
#[expect(clippy::option_option, reason = "the inner one ends a loop, the outer one is a failure")]
fn take_one(document: &Document, event: &str, note: Option<&Note>) -> Option<Option<Document>> {
    let Some(groups) = document.root().get("hooks").and_then(|hooks| hooks.get(event)) else { return Some(None) };
    for (number, group) in groups.items().iter().enumerate() {
        let hooks = hooks_of(group);
        let Some(ours) = hooks.iter().position(|hook| is_ours(document, hook)) else { continue };
        let value = document.value(group);
        let bare = value.as_object().is_some_and(|group| group.keys().all(|key| key == "matcher" || key == "hooks"));
        if hooks.len() == 1 && bare {
            let blank = note.and_then(|note| note.blank.get(&format!("hooks.{event}"))).map_or("", String::as_str);
            return Some(Some(document.remove(groups, number, blank)?));
        }
        return Some(Some(document.remove(group.get("hooks")?, ours, "")?));
    }
    Some(None)
}

fn document(file: &Path, text: Option<&str>) -> Result<Document, Failure> {
    let text = text.unwrap_or("{}\n");
    Document::read(text).map_err(|error| {
        let what = if text.trim().is_empty() { "it is empty".to_owned() } else { error.to_string() };
        let message = format!("{} is no valid JSON ({what}), so it was left as it is; mend it first", show(file));
        Failure::new("json", message).in_field("file")
    })
}

fn misshapen(file: &Path, expected: &str) -> Failure {
    let message = format!("{} was left as it is: expected {expected}", show(file));
    Failure::new("value", message).in_field("file")
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new("io", format!("{} cannot be written: {error}", show(path)))
}

fn read(file: &Path) -> Result<Option<String>, Failure> {
    let wrong = |what: &str| Failure::new("io", format!("{} {what}", show(file)));
    match fs::metadata(file) {
        Ok(metadata) if !metadata.is_file() => return Err(wrong("is no file")),
        Ok(metadata) if metadata.len() > 16 << 20 => return Err(wrong("is too long for settings")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(&format!("cannot be read: {error}"))),
    }
    fs::read_to_string(file).map(Some).map_err(|error| wrong(&format!("cannot be read: {error}")))
}

/// Replaces the file whole or not at all, with the permissions that it had. A link stays, and what it leads to is replaced.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
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

fn note(gate: &Gate, file: &Path) -> Option<Note> {
    let text = fs::read_to_string(gate.note_file(file)).ok()?;
    serde_json::from_str(&text).ok()
}

fn keep_note(gate: &Gate, file: &Path, note: &Note) -> Result<(), Failure> {
    let path = gate.note_file(file);
    let folder = path.parent().unwrap_or(Path::new("."));
    make_private_folder(folder).map_err(|error| unwritable(folder, &error))?;
    write(&path, &screen::json(note))
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
