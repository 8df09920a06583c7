//! `status`, and what `stigmergate` alone says: where you stand and what to do next.

use super::log::{HotPlace, Line, hot_places, places_table};
use super::policy::{Source, sources, sources_text};
use super::{Answer, count, host};
use crate::failure::Failure;
use crate::gate::{Gate, by_id, show};
use crate::hook::LOST_FILE;
use crate::screen;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use stigmergate_core::digest::Digest;
use stigmergate_core::kernel;
use stigmergate_core::policy::{AttestMode, Preset};
use stigmergate_intake::settings::Settings;
use stigmergate_store::{Incident, Keys as _};

/// The incidents that are shown.
const SHOWN_INCIDENTS: usize = 3;

#[derive(Serialize)]
struct Status {
    root: PathBuf,
    store: Store,
    kernel: Option<kernel::Status>,
    waiting: Vec<Waiting>,
    hot: Vec<HotPlace>,
    incidents: Incidents,
    policy: Holding,
    hooks: Vec<host::Installed>,
}

/// What went wrong, and must not be missed.
#[derive(Default, Serialize)]
struct Incidents {
    count: u64,
    /// The last of them, the latest first.
    latest: Vec<Incident>,
    /// What could not be noted in the store, and stands in a file beside it.
    beside: u64,
}

#[derive(Serialize)]
struct Store {
    path: PathBuf,
    exists: bool,
}

#[derive(Serialize)]
struct Holding {
    preset: Preset,
    digest: Digest,
    sources: Vec<Source>,
    ignored: Vec<String>,
    /// Whether what happens is to be signed for.
    attest: AttestMode,
    /// The ledger's key has no file that can be used.
    key_missing: bool,
}

#[derive(Serialize)]
struct Waiting {
    #[serde(flatten)]
    line: Line,
    expires_at: Option<u64>,
}

/// How many of what waits and of what is hot are shown.
const SHOWN: usize = 5;

fn look(gate: &Gate, settings: &Settings) -> Result<Status, Failure> {
    let mut status = Status {
        root: gate.locations.root.clone(),
        store: Store { path: gate.locations.store.clone(), exists: false },
        kernel: None,
        waiting: Vec::new(),
        hot: Vec::new(),
        incidents: Incidents { beside: beside(gate), ..Incidents::default() },
        policy: Holding {
            preset: settings.policy.preset,
            digest: settings.policy.digest(),
            sources: sources(settings),
            ignored: settings.ignored.clone(),
            attest: settings.policy.attest.mode,
            key_missing: false,
        },
        hooks: host::installed(gate),
    };
    let Some(mut store) = gate.look()? else { return Ok(status) };
    let now = gate.clock.now;
    let (numbers, waiting, mut hot) = store.with_current(|kernel| {
        let view = kernel.at(now);
        (view.status(), view.waiting(), hot_places(kernel, now, None, false))
    })?;
    hot.truncate(SHOWN);
    for held in waiting {
        // Its record may have been compacted away.
        let Some(judged) = by_id(&store, &held.id)? else { continue };
        status.waiting.push(Waiting { line: Line::of(judged, Some(&held.state)), expires_at: held.deadline });
    }
    status.incidents.count = store.incident_count()?.max(numbers.counts.incidents);
    status.incidents.latest = store.incidents(SHOWN_INCIDENTS)?;
    status.store.exists = true;
    status.policy.key_missing = numbers.ledger.as_ref().is_some_and(|ledger| gate.keys().signer(&ledger.key).is_err());
    status.kernel = Some(numbers);
    status.hot = hot;
    Ok(status)
}

pub(crate) fn status(gate: &Gate) -> Result<Answer, Failure> {
    let settings = gate.settings()?;
    let status = look(gate, &settings)?;
    Ok(Answer::new(gate, &status, || long(gate, &status, &settings)))
}

fn long(gate: &Gate, status: &Status, settings: &Settings) -> String {
    let mut text = head(gate, status);
    if !status.waiting.is_empty() {
        text.push('\n');
        text.push_str(&waiting_table(gate, &status.waiting));
    }
    if !status.hot.is_empty() {
        text.push('\n');
        text.push_str(&places_table(gate, &status.hot));
    }
    let policy = &status.policy;
    _ = writeln!(
        text,
        "\npolicy {} {}",
        screen::bold(policy.preset.as_str()),
        screen::faint(&policy.digest.to_string())
    );
    text.push_str(&sources_text(settings));
    let store = if status.store.exists { "" } else { " (made with the first verdict)" };
    _ = writeln!(text, "store {}{store}", show(&status.store.path));
    text.push_str(&hooks_lines(status));
    text
}

fn head(gate: &Gate, status: &Status) -> String {
    let Some(kernel) = &status.kernel else {
        return format!("{}: nothing was judged here yet\n", show(&status.root));
    };
    let counts = &kernel.counts;
    let mut text = format!(
        "{}: {} executed, {} held, {} refused; {}, {}\n",
        show(&status.root),
        counts.executed,
        counts.held,
        counts.refused,
        count(kernel.agents, "agent", "agents"),
        count(kernel.traces, "live trace", "live traces"),
    );
    if let Some(line) = ledger(status) {
        text.push_str(&line);
    }
    text.push_str(&incidents(gate, &status.incidents));
    text
}

/// Whether what happens is signed for.
fn ledger(status: &Status) -> Option<String> {
    let mode = status.policy.attest;
    let Some(ledger) = status.kernel.as_ref().and_then(|kernel| kernel.ledger.as_ref()) else {
        return match mode {
            AttestMode::Disabled => None,
            AttestMode::Optional => Some(
                "attestation is optional, and there is no key: nothing is signed; `stigmergate keys new`\n".to_owned(),
            ),
            AttestMode::Required => Some(
                "attestation is required, and there is no key: every call is blocked; `stigmergate keys new`\n"
                    .to_owned(),
            ),
        };
    };
    let missing = if status.policy.key_missing { "; its key is missing: `stigmergate keys show`" } else { "" };
    let stopped = if mode == AttestMode::Disabled { "; attestation is disabled, nothing is added" } else { "" };
    let awaited = match ledger.incomplete {
        0 => String::new(),
        more => format!(", {} no outcome yet", count(more, "execution has", "executions have")),
    };
    Some(format!(
        "ledger {}: {}{awaited}{missing}{stopped}; `stigmergate ledger verify`\n",
        screen::plain(&ledger.origin),
        count(ledger.size, "event", "events")
    ))
}

/// The last incidents, a line each.
fn incidents(gate: &Gate, incidents: &Incidents) -> String {
    let mut text = String::new();
    if incidents.count > 0 {
        _ = writeln!(text, "{}:", count(incidents.count, "incident", "incidents"));
    }
    for incident in &incidents.latest {
        let line = format!(
            "{} {}: {}",
            gate.clock.when(incident.at),
            screen::plain(&incident.kind),
            screen::plain(&incident.detail)
        );
        _ = writeln!(text, "  {}", screen::cut(&line, gate.width.saturating_sub(2)));
    }
    if incidents.beside > 0 {
        let what = count(incidents.beside, "failure of the gate stands", "failures of the gate stand");
        _ = writeln!(text, "{what} in {}", show(&lost_file(gate)));
    }
    text
}

/// The file of what the store could not take.
pub(super) fn lost_file(gate: &Gate) -> PathBuf {
    let folder = if gate.named_store { gate.locations.store.parent() } else { None };
    folder.unwrap_or(&gate.locations.data).join(LOST_FILE)
}

pub(super) fn beside(gate: &Gate) -> u64 {
    std::fs::read(lost_file(gate)).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count() as u64)
}

fn waiting_table(gate: &Gate, waiting: &[Waiting]) -> String {
    let row = |held: &Waiting| {
        vec![
            format!("#{}", held.line.sequence),
            held.expires_at.map_or_else(|| "-".to_owned(), |at| gate.clock.until(at)),
            screen::cut(&held.line.agent, 24),
            screen::cut(&held.line.act, gate.width),
        ]
    };
    let rows = waiting.iter().take(SHOWN).map(row).collect();
    let mut text = screen::table(&["waits", "until", "agent", "act"], rows, gate.width);
    if waiting.len() > SHOWN {
        _ = writeln!(text, "and {} more", waiting.len().saturating_sub(SHOWN));
    }
    text
}

/// Which hosts ask the gate here, a line each.
fn hooks_lines(status: &Status) -> String {
    if status.hooks.is_empty() {
        return "no host asks the gate yet: `stigmergate init claude` (or codex, gemini, copilot, cursor)\n".to_owned();
    }
    status.hooks.iter().map(|hook| format!("{} asks the gate: {}\n", hook.title, show(&hook.file))).collect()
}

/// `stigmergate` alone.
pub(crate) fn overview(gate: &Gate) -> Result<Answer, Failure> {
    let settings = gate.settings()?;
    let status = look(gate, &settings)?;
    Ok(Answer::new(gate, &status, || {
        let mut text = head(gate, &status);
        text.push_str(&hooks_lines(&status));
        if !status.policy.ignored.is_empty() {
            let keys = count(status.policy.ignored.len() as u64, "key", "keys");
            _ = writeln!(text, "{keys} of the project's settings do not count: `stigmergate policy show`");
        }
        // Where signing is required, nothing can happen before there is a key; an approval cannot either.
        let is_begun = status.kernel.as_ref().is_some_and(|kernel| kernel.ledger.is_some());
        if status.policy.attest == AttestMode::Required && !is_begun {
            text.push_str("next: `stigmergate keys new`: attestation is required, and there is no ledger yet\n");
            return text;
        }
        match status.waiting.as_slice() {
            [] => {}
            [first, ..] => {
                let number = first.line.sequence;
                let room = gate.width.saturating_sub(24);
                _ = writeln!(
                    text,
                    "{} for you, first #{number}: {}",
                    count(status.waiting.len() as u64, "hold waits", "holds wait"),
                    screen::cut(&first.line.act, room.max(20))
                );
                _ = writeln!(
                    text,
                    "next: `stigmergate why {number}`, then `stigmergate approve {number}` or `deny {number}`"
                );
                return text;
            }
        }
        if let Some(hot) = status.hot.iter().find(|hot| hot.holds_for_ms.is_some()) {
            let for_ = hot.holds_for_ms.map(screen::span).unwrap_or_default();
            let place = screen::cut(hot.trace.location.as_str(), gate.width.saturating_sub(30).max(20));
            _ = writeln!(text, "hot for {for_}: {place}");
        }
        let next = match (&status.kernel, status.hooks.is_empty()) {
            (None, true) => "next: `stigmergate init claude`, or try `stigmergate propose --help`",
            (None, false) => "next: start a session of the host; its tool calls appear in `stigmergate log`",
            (Some(_), _) => "next: `stigmergate log` for the verdicts, `hot` for the places, `help` for more",
        };
        _ = writeln!(text, "{next}");
        text
    }))
}
