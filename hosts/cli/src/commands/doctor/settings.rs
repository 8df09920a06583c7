//! Which settings ask the gate, and what is wrong with how they do.

use super::Check;
use crate::commands::host::file;
use crate::commands::host::hooks::Standing;
use crate::commands::host::table::{Event, Form, Moment, Place};
use crate::gate::{Gate, show};
use crate::hook::PATIENCE;
use crate::json_text::Document;
use serde_json::Value;
use std::path::{Path, PathBuf};
use stigmergate_intake::hosts::Host;

/// A hook that asks the gate before calls, and where it was found.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) place: &'static Place,
    pub(super) file: PathBuf,
    pub(super) standing: Standing,
}

pub(super) struct Found {
    pub(super) checks: Vec<Check>,
    pub(super) before: Vec<Asking>,
}

/// Looks at every settings file of a host.
pub(super) fn look(gate: &Gate, form: &'static Form) -> Found {
    let mut found = Found { checks: Vec::new(), before: Vec::new() };
    for (place, path) in file::places(gate, form) {
        match read(form, &path) {
            Ok(Some(document)) => of_file(form, place, &path, &document, &mut found),
            Ok(None) => {}
            Err(check) => found.checks.push(*check),
        }
    }
    let files = found.before.iter().map(|asking| &asking.file).collect::<std::collections::BTreeSet<_>>();
    if let (true, Some(last)) = (files.len() > 1, found.before.last()) {
        let name = form.host.name();
        let text = format!("{} settings files ask the gate, so that calls may be judged twice", files.len());
        let advice = format!("keep one: `stigmergate uninstall {name} {}`", last.place.scope.flag());
        found.checks.push(Check::warning(name, "two_scopes", text).advising(advice));
    }
    found
}

/// Copilot and Cursor also run the hooks of Claude Code's settings.
pub(super) fn read_by_others(asking: &[&'static Form]) -> Vec<Check> {
    let has_claude = asking.iter().any(|form| form.host == Host::Claude);
    let reads = |form: &&&Form| has_claude && matches!(form.host, Host::Copilot | Host::Cursor);
    let check = |form: &&Form| {
        let title = form.host.title();
        let text = format!("{title} can run the hooks of Claude Code's settings too, and these ask the gate as well");
        let advice = format!("where calls are judged twice, switch that off in {title}, or keep one of the two");
        Check::warning(form.host.name(), "read_by_others", text).advising(advice)
    };
    asking.iter().filter(reads).map(check).collect()
}

/// The document of a file. What is wrong with it matters most where it names the gate.
fn read(form: &Form, path: &Path) -> Result<Option<Document>, Box<Check>> {
    let name = form.host.name();
    let text = match file::read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(None),
        Err(failure) => {
            return Err(Box::new(Check::warning(name, "settings_unreadable", failure.message).in_file(path)));
        }
    };
    Document::read(&text, form.dialect).map(Some).map_err(|error| {
        let wrong =
            format!("{} is no valid JSON ({error}), so that {} may read none of it", show(path), form.host.title());
        let make = if text.contains("stigmergate") { Check::failure } else { Check::warning };
        Box::new(make(name, "settings_json", wrong).advising("mend the file").in_file(path))
    })
}

fn of_file(form: &'static Form, place: &'static Place, path: &Path, document: &Document, found: &mut Found) {
    let name = form.host.name();
    let again = format!("`stigmergate init {name} {}`", place.scope.flag());
    let mut missing = Vec::new();
    let mut asks_before = false;
    let mut asks = false;
    for event in form.events {
        let standing = form.standing(document, event);
        let is_before = event.moment == Moment::Before;
        asks |= !standing.is_empty();
        asks_before |= is_before && !standing.is_empty();
        if standing.is_empty() {
            missing.push(event.name);
        }
        if standing.len() > 1 {
            let text = format!("{} asks the gate {} times at {}", show(path), standing.len(), event.name);
            let advice = format!("`stigmergate uninstall {name} {}`, then {again}", place.scope.flag());
            found.checks.push(Check::warning(name, "asked_twice", text).advising(advice).in_file(path));
        }
        for standing in standing {
            found.checks.extend(of_hook(form, event, path, &standing, &again));
            if is_before {
                found.before.push(Asking { place, file: path.to_path_buf(), standing });
            }
        }
    }
    if !asks {
        if names_the_gate(&document.value(document.root())) {
            let text = format!(
                "a hook in {} names stigmergate in a form that cannot be read here; it was not tried",
                show(path)
            );
            found.checks.push(Check::warning(name, "own_form", text).in_file(path));
        }
        return;
    }
    if !asks_before {
        let text = format!("{} tells the gate outcomes only: nothing is asked before a call", show(path));
        found.checks.push(Check::failure(name, "outcomes_only", text).advising(again).in_file(path));
    } else if missing.is_empty() {
        let text = format!("{} asks the gate before and after each call", show(path));
        found.checks.push(Check::ok(name, "installed", text).in_file(path));
    } else {
        let text = format!("{} asks the gate, but tells it nothing at {}", show(path), missing.join(" and "));
        found.checks.push(Check::warning(name, "no_outcomes", text).advising(again).in_file(path));
    }
}

/// What is wrong with one hook.
fn of_hook(form: &Form, event: &Event, path: &Path, standing: &Standing, again: &str) -> Vec<Check> {
    let name = form.host.name();
    let warning = |code, text: String| Check::warning(name, code, text).advising(again).in_file(path);
    let mut checks = Vec::new();
    if let Some(matcher) = standing.matcher.as_deref().filter(|matcher| !matches!(*matcher, "" | "*" | ".*")) {
        let text = format!("{} asks the gate at {} only for the tools `{matcher}`", show(path), event.name);
        checks.push(Check::warning(name, "only_some_tools", text).advising("make the matcher `*`").in_file(path));
    }
    let timeout = standing.hook.get(form.timeout.key).and_then(Value::as_f64);
    let seconds = timeout.map(|timeout| timeout / f64::from(form.timeout.per_second));
    if let Some(seconds) = seconds.filter(|seconds| *seconds <= PATIENCE.as_secs_f64()) {
        let patience = PATIENCE.as_secs();
        let text = format!(
            "{} gives up on {} after {seconds} s; the gate waits up to {patience} s for other processes",
            form.host.title(),
            event.name
        );
        checks.push(warning("short_timeout", text));
    }
    let blocks = form.fail_closed.is_none_or(|(key, _)| standing.hook.get(key).is_some_and(|value| *value != false));
    if event.moment == Moment::Before && !blocks {
        checks.push(warning("fails_open", format!("a broken hook of {} would let calls through", show(path))));
    }
    checks
}

/// Whether a text in the hooks names the program.
fn names_the_gate(settings: &Value) -> bool {
    fn any(value: &Value) -> bool {
        match value {
            Value::String(text) => text.contains("stigmergate"),
            Value::Array(items) => items.iter().any(any),
            Value::Object(members) => members.values().any(any),
            _ => false,
        }
    }
    settings.get("hooks").is_some_and(any)
}
