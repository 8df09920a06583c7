//! The gate's own side: settings, store, failures that it noted, and when each host was heard.

use super::Check;
use crate::commands::count;
use crate::commands::host::table::Form;
use crate::commands::status::{beside, lost_file};
use crate::failure::Failure;
use crate::gate::{Gate, show};
use crate::screen::plain;
use std::collections::BTreeMap;
use std::path::Path;
use stigmergate_core::kernel::Command;
use stigmergate_store::{Order, Store};

/// What these checks are about.
pub(super) const ABOUT: &str = "gate";
/// Failures that are older are history.
const RECENT: u64 = 7 * 24 * 60 * 60 * 1000;
/// How many records are looked through for the last word of each host.
const MOST_RECORDS: usize = 20_000;

pub(super) fn checks(gate: &Gate, asking: &[&'static Form]) -> Vec<Check> {
    let mut checks = settings(gate);
    let store = match gate.look() {
        Ok(store) => store,
        Err(failure) => {
            checks.push(broken(gate, &failure));
            return checks;
        }
    };
    let heard = match &store {
        None => {
            let text =
                format!("there is no store yet; it is made with the first verdict: {}", show(&gate.locations.store));
            checks.push(Check::ok(ABOUT, "store", text));
            Ok(BTreeMap::new())
        }
        Some(store) => {
            checks.push(sound(gate, store));
            checks.push(failures(gate, store));
            heard(store)
        }
    };
    checks.extend(lost(gate));
    match heard {
        Ok(heard) => checks.extend(asking.iter().map(|form| last_word(gate, form, &heard))),
        Err(failure) => checks.push(broken(gate, &failure)),
    }
    checks
}

fn settings(gate: &Gate) -> Vec<Check> {
    let settings = match gate.settings() {
        Ok(settings) => settings,
        Err(failure) => {
            let text = format!("the settings cannot be used, so that every call is blocked: {}", failure.message);
            return vec![Check::failure(ABOUT, "settings", text).advising("`stigmergate policy check`")];
        }
    };
    let policy = settings.policy.preset.as_str();
    let mut checks = vec![Check::ok(ABOUT, "settings", format!("the settings can be read; the policy is {policy}"))];
    if !settings.ignored.is_empty() {
        let keys = settings.ignored.join(", ");
        let text = format!("the project's settings do not count where they loosen the policy: {}", plain(&keys));
        checks.push(
            Check::warning(ABOUT, "untrusted_settings", text).advising("`stigmergate policy trust`, if they are right"),
        );
    }
    checks
}

fn broken(gate: &Gate, failure: &Failure) -> Check {
    let text = format!("the store cannot be read, so that every call is blocked: {}", failure.message);
    let advice = format!("move it away and look into it: {}", show(&gate.locations.store));
    Check::failure(ABOUT, "store", text).advising(advice).in_file(&gate.locations.store)
}

fn sound(gate: &Gate, store: &Store) -> Check {
    let is_read_only = |path: &Path| std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly());
    if is_read_only(store.path()) || store.path().parent().is_some_and(is_read_only) {
        let text = format!("the store may not be written, so that every call is blocked: {}", show(store.path()));
        return Check::failure(ABOUT, "store", text)
            .advising("allow writing to it and to its folder")
            .in_file(store.path());
    }
    match store.check().and_then(|()| store.last_sequence()) {
        Ok(last) => {
            let text = format!("the store is sound, with {}: {}", count(last, "record", "records"), show(store.path()));
            Check::ok(ABOUT, "store", text).in_file(store.path())
        }
        Err(error) => broken(gate, &error.into()),
    }
}

/// What the gate noted of its own failures.
fn failures(gate: &Gate, store: &Store) -> Check {
    let noted = store.incidents(1).and_then(|latest| Ok((latest, store.incident_count()?)));
    let (latest, number) = match noted {
        Ok(noted) => noted,
        Err(error) => return broken(gate, &error.into()),
    };
    let Some(last) = latest.first() else {
        return Check::ok(ABOUT, "incidents", "the gate noted no failures of its own");
    };
    let text = format!(
        "the gate noted {}, the last one {}: {}, {}",
        count(number, "failure of its own", "failures of its own"),
        gate.clock.when(last.at),
        plain(&last.kind),
        plain(&last.detail)
    );
    if gate.clock.now.saturating_sub(last.at) > RECENT {
        return Check::ok(ABOUT, "incidents", text);
    }
    Check::warning(ABOUT, "incidents", text).advising("`stigmergate status` shows the last ones")
}

/// What could not be noted in the store.
fn lost(gate: &Gate) -> Option<Check> {
    let number = beside(gate);
    let file = lost_file(gate);
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let last = text.lines().rev().find_map(|line| line.split(' ').next()?.parse::<u64>().ok());
    let when = last.map(|last| format!(", the last one {}", gate.clock.when(last))).unwrap_or_default();
    (number > 0).then(|| {
        let what = count(number, "failure stands", "failures stand");
        let text = format!("{what} in {}, since the store could not take them{when}", show(&file));
        let is_recent = last.is_none_or(|last| gate.clock.now.saturating_sub(last) <= RECENT);
        let check = if is_recent { Check::warning(ABOUT, "lost", text) } else { Check::ok(ABOUT, "lost", text) };
        check.advising("read the file, then remove it").in_file(&file)
    })
}

/// When each host was heard, by its name.
fn heard(store: &Store) -> Result<BTreeMap<String, u64>, Failure> {
    let mut heard = BTreeMap::new();
    for record in store.records(.., Order::NewestFirst).take(MOST_RECORDS) {
        let record = record?;
        if let Command::Propose(proposal) = &record.command {
            let host = proposal.agent_id.split('/').next().unwrap_or_default();
            heard.entry(host.to_owned()).or_insert(record.at);
        }
    }
    Ok(heard)
}

fn last_word(gate: &Gate, form: &Form, heard: &BTreeMap<String, u64>) -> Check {
    let name = form.host.name();
    match heard.get(name) {
        Some(at) => {
            Check::ok(name, "heard", format!("{} was last heard here {}", form.host.title(), gate.clock.when(*at)))
        }
        None => {
            let text = format!("{} was never heard here, though its settings ask the gate", form.host.title());
            Check::warning(name, "never_heard", text).advising("start a session of it, then look again")
        }
    }
}
