//! What takes hooks out of force: switches in settings, and trust that was not given.

use super::Check;
use super::settings::Asking;
use crate::commands::host::file;
use crate::commands::host::table::{Base, Form, Off, Reach, Switch, SwitchFile};
use crate::gate::{Gate, show};
use crate::json_text::{Dialect, Document};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use stigmergate_intake::hosts::Host;

pub(super) fn checks(gate: &Gate, form: &'static Form, before: &[Asking]) -> Vec<Check> {
    let mut checks: Vec<Check> = form.switches.iter().flat_map(|switch| thrown(gate, form, switch, before)).collect();
    match form.host {
        Host::Codex => checks.extend(codex(gate, before)),
        Host::Gemini => checks.extend(gemini_trust(gate)),
        Host::Claude | Host::Copilot | Host::Cursor => {}
    }
    checks
}

/// The files in which a switch is thrown.
fn thrown(gate: &Gate, form: &'static Form, switch: &Switch, before: &[Asking]) -> Vec<Check> {
    let files = match &switch.file {
        SwitchFile::Settings => file::places(gate, form).into_iter().map(|(_, file)| file).collect(),
        SwitchFile::Other(base, path) => file::locate(gate, *base, path).into_iter().collect::<Vec<_>>(),
    };
    let key = switch.path.join(".");
    let check = |file: PathBuf| {
        let settings = json(&file)?;
        let value = switch.path.iter().try_fold(&settings, |value, key| value.get(key))?;
        let is_off = match switch.off {
            Off::Is(off) => value.as_bool() == Some(off),
            Off::Names => value.as_array().is_some_and(|names| names.iter().any(|name| names_one(before, name))),
        };
        let text = format!("`{key}` in {} takes the hook out of force", show(&file));
        let name = form.host.name();
        is_off.then(|| Check::failure(name, "switched_off", text).advising(format!("take `{key}` out")).in_file(&file))
    };
    files.into_iter().filter_map(check).collect()
}

/// Whether a list's entry is the name of a hook, or its command.
fn names_one(before: &[Asking], name: &Value) -> bool {
    before.iter().any(|asking| ["name", "command"].iter().any(|key| asking.standing.hook.get(key) == Some(name)))
}

fn json(file: &Path) -> Option<Value> {
    let document = Document::read(&file::read(file).ok()??, Dialect::Comments).ok()?;
    Some(document.value(document.root()))
}

const CODEX: &str = "codex";
const CODEX_FOLDER: Base = Base::Folder(".codex", Some("CODEX_HOME"));
const CODEX_MACHINE: Base = Base::Machine(["/etc/codex", "/etc/codex", "C:\\ProgramData\\OpenAI\\Codex"]);

/// Codex's switches, and its trust in each hook, stand in TOML.
fn codex(gate: &Gate, before: &[Asking]) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut user = None;
    for (base, path) in
        [(CODEX_FOLDER, "config.toml"), (Base::Root, ".codex/config.toml"), (CODEX_MACHINE, "requirements.toml")]
    {
        let Ok(file) = file::locate(gate, base, path) else { continue };
        let table = match file::read(&file).map(|text| text.map(|text| text.parse::<toml::Table>())) {
            Ok(Some(Ok(table))) => table,
            Ok(Some(Err(error))) => {
                let text = format!("{} is no valid TOML: {}", show(&file), error.message());
                checks.push(Check::failure(CODEX, "settings_toml", text).advising("mend the file").in_file(&file));
                continue;
            }
            _ => continue,
        };
        checks.extend(codex_switches(&file, &table));
        if matches!(base, Base::Folder(..)) {
            user = Some(table);
        }
    }
    checks.extend(codex_trust(gate, before, &user.unwrap_or_default()));
    checks
}

fn codex_switches(file: &Path, table: &toml::Table) -> Vec<Check> {
    let features = table.get("features").and_then(toml::Value::as_table);
    let is_off = |key: &&str| features.and_then(|features| features.get(*key)?.as_bool()) == Some(false);
    let mut keys: Vec<String> =
        ["hooks", "codex_hooks"].iter().filter(|key| is_off(key)).map(|key| format!("features.{key}")).collect();
    if table.get("allow_managed_hooks_only").and_then(toml::Value::as_bool) == Some(true) {
        keys.push("allow_managed_hooks_only".to_owned());
    }
    let check = |key: String| {
        let text = format!("`{key}` in {} takes the hook out of force", show(file));
        Check::failure(CODEX, "switched_off", text).advising(format!("take `{key}` out")).in_file(file)
    };
    keys.into_iter().map(check).collect()
}

/// Codex notes its trust by the place of a hook: file, event, group and number. That the note is for the hook as it stands, only Codex
/// can tell.
fn codex_trust(gate: &Gate, before: &[Asking], user: &toml::Table) -> Vec<Check> {
    let state = user.get("hooks").and_then(|hooks| hooks.get("state"));
    let mut checks = Vec::new();
    for asking in before {
        let (group, number) = asking.standing.place;
        let key = |file: &Path| format!("{}:pre_tool_use:{group}:{number}", file.display());
        let canonical = fs::canonicalize(&asking.file).unwrap_or_else(|_| asking.file.clone());
        let noted = [key(&asking.file), key(&canonical)].iter().find_map(|key| state?.get(key));
        let member = |member: &str| noted.and_then(|noted| noted.get(member));
        let name = show(&asking.file);
        if member("enabled").and_then(toml::Value::as_bool) == Some(false) {
            let text = format!("the hook in {name} is switched off in Codex");
            checks.push(
                Check::failure(CODEX, "switched_off", text).advising("type /hooks in Codex").in_file(&asking.file),
            );
        } else if member("trusted_hash").is_none() {
            let text = format!("Codex skips the hook in {name}: you have not trusted it yet");
            let advice = "start Codex and type /hooks";
            checks.push(Check::failure(CODEX, "untrusted", text).advising(advice).in_file(&asking.file));
        } else {
            let text = format!("Codex was told to trust the hook in {name}");
            checks.push(Check::ok(CODEX, "trusted", text).in_file(&asking.file));
        }
        let root = gate.locations.root.display().to_string();
        let project = user.get("projects").and_then(|projects| projects.get(&root)?.get("trust_level")?.as_str());
        if asking.place.scope == Reach::Project && project != Some("trusted") {
            let text = format!("Codex was not told to trust {root}, and reads a project's hooks only where it was");
            checks.push(
                Check::warning(CODEX, "folder_untrusted", text).advising("start Codex there and trust the folder"),
            );
        }
    }
    checks
}

/// Gemini CLI runs no hook in a folder that it was not told to trust; the longest rule counts.
fn gemini_trust(gate: &Gate) -> Option<Check> {
    let name = Host::Gemini.name();
    let home = Base::Home("GEMINI_CLI_HOME");
    let read = |path: &str| json(&file::locate(gate, home, path).ok()?);
    let settings = read(".gemini/settings.json").unwrap_or_default();
    if settings.pointer("/security/folderTrust/enabled").and_then(Value::as_bool) == Some(false) {
        return None;
    }
    let rules = read(".gemini/trustedFolders.json").unwrap_or_default();
    let root = &gate.locations.root;
    let holds = |(path, level): (&String, &Value)| {
        let level = level.as_str()?.to_owned();
        let rule = PathBuf::from(path);
        let folder = if level == "TRUST_PARENT" { rule.parent()?.to_path_buf() } else { rule };
        let folder = fs::canonicalize(&folder).unwrap_or(folder);
        root.starts_with(folder).then_some((path.len(), level))
    };
    let longest = rules.as_object().and_then(|rules| rules.iter().filter_map(holds).max());
    let root = show(root);
    Some(match longest.as_ref().map(|(_, level)| level.as_str()) {
        Some("DO_NOT_TRUST") => {
            let text = format!("Gemini CLI was told not to trust {root}, and runs no hooks there");
            Check::failure(name, "folder_untrusted", text).advising("type /permissions in Gemini CLI")
        }
        Some(_) => Check::ok(name, "folder_trusted", format!("Gemini CLI trusts {root}")),
        None => {
            let text = format!("Gemini CLI was not told to trust {root}, and runs hooks only where it was");
            Check::warning(name, "folder_untrusted", text).advising("start Gemini CLI there and trust the folder")
        }
    })
}
