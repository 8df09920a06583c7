//! `ledger`: the signed record of what was proposed, judged, authorized, executed and observed.

use super::{Answer, count};
use crate::args::{LedgerCommand, Trusted};
use crate::failure::{FOUND, Failure};
use crate::gate::{Gate, show};
use crate::screen::{self, plain};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use stigmergate_core::attest;
use stigmergate_core::attest::checkpoint::Checkpoint;
use stigmergate_core::attest::event::Event;
use stigmergate_core::attest::key::PublicKey;
use stigmergate_core::attest::note::{NOTE_BYTES, Note};
use stigmergate_core::attest::signer::{Ed25519Verifier, Verifier};
use stigmergate_core::attest::tree::leaf_hash;
use stigmergate_core::attest::verify::{Report, Status};
use stigmergate_core::digest::Digest;
use stigmergate_core::error::Error;

/// What is said wherever a ledger is shown.
const PROVES: &str = "\
it proves which events were recorded, in which order, that none was changed since, and that what is recorded as
executed was authorized before; not that an act was safe, that it truly happened, or that nothing else happened
";

pub(crate) fn ledger(gate: &Gate, command: &LedgerCommand) -> Result<Answer, Failure> {
    match command {
        LedgerCommand::Verify { against, trusted } => verify(gate, against.as_deref(), trusted),
        LedgerCommand::Show { sequence: Some(sequence), .. } => show_event(gate, *sequence),
        LedgerCommand::Show { sequence: None, limit } => show_last(gate, *limit),
    }
}

/// The keys that are trusted: the given ones, or those that lie here.
struct Trust {
    verifiers: Vec<Ed25519Verifier>,
}

impl Trust {
    fn of(gate: &Gate, trusted: &Trusted) -> Result<Self, Failure> {
        let keys: Vec<PublicKey> = if trusted.keys.is_empty() {
            gate.keys().list()?.into_iter().map(|file| file.key).collect()
        } else {
            trusted.keys.iter().map(|text| read_key(text)).collect::<Result<_, _>>()?
        };
        let verifiers = keys.iter().map(Ed25519Verifier::new).collect::<Result<_, _>>().map_err(failure)?;
        Ok(Self { verifiers })
    }

    fn verifiers(&self) -> Vec<&dyn Verifier> {
        self.verifiers.iter().map(|verifier| verifier as &dyn Verifier).collect()
    }
}

/// A verifier key as a text, or in a file.
fn read_key(text: &str) -> Result<PublicKey, Failure> {
    let read = match PublicKey::parse(text.trim()) {
        Ok(key) => return Ok(key),
        Err(error) if !Path::new(text).is_file() => Err(error),
        Err(_) => PublicKey::parse(read_text(Path::new(text))?.trim()),
    };
    read.map_err(|error| failure(error).in_field("key"))
}

/// Reads a file that is small.
fn read_text(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let most = (NOTE_BYTES as u64).saturating_mul(2);
    std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(|error| {
        let message = format!("{} cannot be read: {error}", show(path));
        let is_absent = error.kind() == std::io::ErrorKind::NotFound;
        if is_absent { Failure::absent("not_found", message) } else { Failure::new("io", message) }
    })?;
    String::from_utf8(bytes).map_err(|_| Failure::new("value", format!("{} is not UTF-8", show(path))))
}

fn read_head(path: &Path) -> Result<Checkpoint, Failure> {
    let note = Note::parse(&read_text(path)?).map_err(failure)?;
    Checkpoint::parse(note.text()).map_err(failure)
}

fn failure(error: attest::Error) -> Failure {
    Error::from(error).into()
}

#[derive(Serialize)]
struct Verified<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// Whether the keys were known from elsewhere, or the ledger was taken at its word.
    keys_known: bool,
    /// The size of the head that was kept and compared.
    compared_with: Option<u64>,
}

fn verify(gate: &Gate, against: Option<&Path>, trusted: &Trusted) -> Result<Answer, Failure> {
    let kept = against.map(read_head).transpose()?;
    let trust = Trust::of(gate, trusted)?;
    let store = gate.look_closely()?;
    let report = store.verify_ledger(&trust.verifiers(), kept.as_ref())?;
    Ok(verified(gate, &report, !trust.verifiers.is_empty(), kept.as_ref()))
}

fn verified(gate: &Gate, report: &Report, keys_known: bool, kept: Option<&Checkpoint>) -> Answer {
    let value = Verified { report, keys_known, compared_with: kept.map(|kept| kept.size) };
    let exit = if matches!(report.status, Status::Valid | Status::Empty) { crate::failure::DONE } else { FOUND };
    Answer::new(gate, &value, || told(&value)).ending(exit)
}

fn told(verified: &Verified<'_>) -> String {
    let report = verified.report;
    let mut text = format!("{}: {}", screen::bold(report.status.as_str()), count(report.records, "event", "events"));
    match report.last_valid {
        Some(last) => _ = writeln!(text, ", the last valid one is {last}"),
        None => text.push_str(", none of them valid\n"),
    }
    if report.status == Status::Empty {
        return "empty: no ledger was begun here\n".to_owned();
    }
    if let Some(fault) = &report.fault {
        _ = writeln!(text, "  {}", plain(&fault.to_string()));
    }
    if report.incomplete > 0 {
        _ = writeln!(text, "  {} no outcome yet", count(report.incomplete, "execution has", "executions have"));
    }
    _ = writeln!(text, "  root {}", report.root);
    match verified.compared_with {
        Some(size) => _ = writeln!(text, "  compared with a kept head of {}", count(size, "event", "events")),
        None => text
            .push_str("  no kept head was compared (--against): a cut or a rewritten past would not be seen by it\n"),
    }
    if !verified.keys_known {
        text.push_str("  no key was known (--key): only that one and the same key stands behind all of it\n");
    }
    text.push_str(PROVES);
    text
}

#[derive(Serialize)]
struct Shown {
    sequence: u64,
    leaf: Digest,
    record: Value,
}

impl Shown {
    fn of(sequence: u64, record: &[u8]) -> Self {
        let text = String::from_utf8_lossy(record);
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text.into_owned()));
        Self { sequence, leaf: leaf_hash(record), record: value }
    }
}

#[derive(Serialize)]
struct Last {
    size: u64,
    events: Vec<Shown>,
}

fn size(store: &mut stigmergate_store::Store) -> Result<u64, Failure> {
    Ok(store.with_current(|kernel| kernel.ledger().map_or(0, attest::ledger::Ledger::size))?)
}

fn show_last(gate: &Gate, limit: u64) -> Result<Answer, Failure> {
    let mut store = gate.look_closely()?;
    let size = size(&mut store)?;
    let (mut events, mut rows) = (Vec::new(), Vec::new());
    store.each_ledger_record(size.saturating_sub(limit), size, |sequence, record| {
        events.push(Shown::of(sequence, record));
        rows.push(row(gate, sequence, record));
        true
    })?;
    let last = Last { size, events };
    Ok(Answer::new(gate, &last, || {
        if last.events.is_empty() {
            return "no events: no ledger was begun here\n".to_owned();
        }
        let mut text = screen::table(&["event", "when", "kind", "actor", "answers"], rows, gate.width);
        text.push_str(PROVES);
        text
    }))
}

fn row(gate: &Gate, sequence: u64, record: &[u8]) -> Vec<String> {
    let Ok(event) = Event::read(record) else {
        return vec![sequence.to_string(), "-".to_owned(), "unreadable".to_owned(), "-".to_owned(), "-".to_owned()];
    };
    vec![
        sequence.to_string(),
        gate.clock.when(event.at),
        event.body.kind().as_str().to_owned(),
        screen::cut(&event.actor, 30),
        event.body.parent().map_or_else(|| "-".to_owned(), |link| link.sequence.to_string()),
    ]
}

fn show_event(gate: &Gate, sequence: u64) -> Result<Answer, Failure> {
    let record = gate.look_closely()?.ledger_record(sequence)?;
    let record = record.ok_or_else(|| no_event(sequence))?;
    let shown = Shown::of(sequence, &record);
    Ok(Answer::new(gate, &shown, || {
        let text = serde_json::to_string_pretty(&shown.record).unwrap_or_default();
        let lines: Vec<String> = text.lines().map(plain).collect();
        format!("{}\nleaf hash {}\n{PROVES}", lines.join("\n"), shown.leaf)
    }))
}

fn no_event(sequence: u64) -> Failure {
    Failure::absent("not_found", format!("no event {sequence} on the ledger; `stigmergate ledger show` lists them"))
}
