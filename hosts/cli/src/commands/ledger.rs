//! `ledger`: the signed record of what was proposed, judged, authorized, executed and observed.

use super::{Answer, count};
use crate::args::{LedgerCommand, Trusted};
use crate::failure::{FOUND, Failure};
use crate::gate::{Gate, show};
use crate::progress::during;
use crate::screen::{self, plain};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use stigmergate_core::attest;
use stigmergate_core::attest::checkpoint::Checkpoint;
use stigmergate_core::attest::envelope::sign_event;
use stigmergate_core::attest::event::Event;
use stigmergate_core::attest::key::PublicKey;
use stigmergate_core::attest::note::{NOTE_BYTES, Note};
use stigmergate_core::attest::proof::RecordProof;
use stigmergate_core::attest::signer::{Ed25519Verifier, Verifier};
use stigmergate_core::attest::tree::{consistency_proof, inclusion_proof, leaf_hash, verify_consistency};
use stigmergate_core::attest::verify::{Report, Status};
use stigmergate_core::digest::Digest;
use stigmergate_core::error::Error;
use stigmergate_store::{Keys as _, Store, verify_export};

/// What is said wherever a ledger is shown.
pub(super) const PROVES: &str = "\
it proves which events were recorded, in which order, that none was changed since, and that what is recorded as
executed was authorized before; not that an act was safe, that it truly happened, or that nothing else happened
";

pub(crate) fn ledger(gate: &Gate, command: &LedgerCommand) -> Result<Answer, Failure> {
    match command {
        LedgerCommand::Verify { folder, against, trusted } => {
            verify(gate, folder.as_deref(), against.as_deref(), trusted)
        }
        LedgerCommand::Show { sequence: Some(sequence), .. } => show_event(gate, *sequence),
        LedgerCommand::Show { sequence: None, limit } => show_last(gate, *limit),
        LedgerCommand::Export { folder } => export(gate, folder),
        LedgerCommand::Checkpoint => checkpoint(gate),
        LedgerCommand::Prove { sequence, statement: false } => prove(gate, *sequence),
        LedgerCommand::Prove { sequence, statement: true } => state(gate, *sequence),
        LedgerCommand::CheckProof { file, trusted } => check_proof(gate, file, trusted),
        LedgerCommand::Consistency { old } => consistency(gate, old),
        LedgerCommand::Anchor { file } => anchor(gate, file.as_deref()),
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
        Self::in_keys(&keys)
    }

    fn in_keys(keys: &[PublicKey]) -> Result<Self, Failure> {
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
    std::fs::File::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(|error| Failure::unreadable(&show(path), &error))?;
    String::from_utf8(bytes).map_err(|_| Failure::new("value", format!("{} is not UTF-8", show(path))))
}

fn read_head(path: &Path) -> Result<Checkpoint, Failure> {
    let note = Note::parse(&read_text(path)?).map_err(failure)?;
    Checkpoint::parse(note.text()).map_err(failure)
}

/// Whether everything that is there holds; an execution may still await its outcome.
const fn is_sound(status: Status) -> bool {
    matches!(status, Status::Valid | Status::Empty | Status::IncompleteExecution)
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

fn verify(gate: &Gate, folder: Option<&Path>, against: Option<&Path>, trusted: &Trusted) -> Result<Answer, Failure> {
    let anchor = gate.locations.anchor();
    let anchored = (folder.is_none() && anchor.exists()).then_some(anchor.as_path());
    let kept = against.or(anchored).map(read_head).transpose()?;
    let report = match folder {
        None => {
            let trust = Trust::of(gate, trusted)?;
            let report = verify_store(&gate.look_closely()?, &trust, kept.as_ref())?;
            return Ok(verified(gate, &report, !trust.verifiers.is_empty(), kept.as_ref()));
        }
        // Of an export only the given keys are known; those here need not be its own.
        Some(folder) => {
            let keys = trusted.keys.iter().map(|text| read_key(text)).collect::<Result<Vec<_>, _>>()?;
            let trust = Trust::in_keys(&keys)?;
            during("verifying the ledger", || verify_export(folder, &trust.verifiers(), kept.as_ref()))?
        }
    };
    Ok(verified(gate, &report, !trusted.keys.is_empty(), kept.as_ref()))
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

fn size(store: &mut Store) -> Result<u64, Failure> {
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

pub(super) fn no_event(sequence: u64) -> Failure {
    Failure::absent("not_found", format!("no event {sequence} on the ledger; `stigmergate ledger show` lists them"))
}

#[derive(Serialize)]
struct Exported {
    folder: PathBuf,
    size: u64,
    root: Digest,
}

fn export(gate: &Gate, folder: &Path) -> Result<Answer, Failure> {
    let store = gate.look_closely()?;
    let (_, head) = head_of(&store)?;
    sound(gate, &store, None)?.map_err(|report| unsound(&report))?;
    during("writing the ledger", || store.export_ledger(folder))?;
    let exported = Exported { folder: folder.to_path_buf(), size: head.size, root: head.root };
    Ok(Answer::new(gate, &exported, || {
        format!(
            "{} in {}; `stigmergate ledger verify {}` verifies them without this store\n{PROVES}",
            count(exported.size, "event", "events"),
            show(folder),
            show(folder)
        )
    }))
}

/// The last signed head.
fn head_of(store: &Store) -> Result<(Note, Checkpoint), Failure> {
    let text = store.ledger_head()?.ok_or_else(|| {
        Failure::absent("not_found", "no ledger was begun here: `stigmergate keys new`, and [attest] in the settings")
    })?;
    let note = Note::parse(&text).map_err(failure)?;
    let head = Checkpoint::parse(note.text()).map_err(failure)?;
    Ok((note, head))
}

/// Verifies before anything is handed on. The inner error is what was found.
fn sound(gate: &Gate, store: &Store, kept: Option<&Checkpoint>) -> Result<Result<Report, Report>, Failure> {
    let trust = Trust::of(gate, &Trusted { keys: Vec::new() })?;
    let report = verify_store(store, &trust, kept)?;
    Ok(if is_sound(report.status) { Ok(report) } else { Err(report) })
}

fn verify_store(store: &Store, trust: &Trust, kept: Option<&Checkpoint>) -> Result<Report, Failure> {
    Ok(during("verifying the ledger", || store.verify_ledger(&trust.verifiers(), kept))?)
}

/// What the store's own ledger is found to be, with the keys and the kept head of this place.
pub(super) fn found(gate: &Gate, store: &Store) -> Result<Report, Failure> {
    let anchor = gate.locations.anchor();
    let kept = if anchor.exists() { Some(read_head(&anchor)?) } else { None };
    let trust = Trust::of(gate, &Trusted { keys: Vec::new() })?;
    verify_store(store, &trust, kept.as_ref())
}

fn unsound(report: &Report) -> Failure {
    let fault = report.fault.as_ref().map(|fault| format!(": {fault}")).unwrap_or_default();
    let message = format!("the ledger is {}{fault}; `stigmergate ledger verify` says more", report.status.as_str());
    Failure { exit: FOUND, ..Failure::new(report.status.as_str(), message) }
}

#[derive(Serialize)]
struct Head<'a> {
    note: &'a str,
    #[serde(flatten)]
    head: Checkpoint,
}

fn checkpoint(gate: &Gate) -> Result<Answer, Failure> {
    let (note, head) = head_of(&gate.look_closely()?)?;
    let note = note.to_string();
    Ok(Answer::new(gate, &Head { note: &note, head }, || note.clone()))
}

#[derive(Serialize)]
struct Text<'a> {
    sequence: u64,
    text: &'a str,
}

/// The event's record goes along, so that the proof needs nothing else.
fn prove(gate: &Gate, sequence: u64) -> Result<Answer, Failure> {
    let store = gate.look_closely()?;
    let (note, head) = head_of(&store)?;
    let record = store.ledger_record(sequence)?.filter(|_| sequence < head.size).ok_or_else(|| no_event(sequence))?;
    let hashes = inclusion_proof(sequence, head.size, &store.ledger_nodes()).map_err(failure)?;
    let text = RecordProof { extra: Some(record), index: sequence, hashes, head: note }.to_string();
    Ok(Answer::new(gate, &Text { sequence, text: &text }, || text.clone()))
}

fn state(gate: &Gate, sequence: u64) -> Result<Answer, Failure> {
    let mut store = gate.look_closely()?;
    let record = store.ledger_record(sequence)?.ok_or_else(|| no_event(sequence))?;
    let event = Event::read(&record).map_err(failure)?;
    let key = store.with_current(|kernel| kernel.ledger().map(|ledger| ledger.key().clone()))?;
    let signer = gate.keys().signer(&key.ok_or_else(|| no_event(sequence))?)?;
    let text = sign_event(&event, &[&*signer]).map_err(failure)? + "\n";
    Ok(Answer::new(gate, &Text { sequence, text: &text }, || text.clone()))
}

#[derive(Serialize)]
struct Checked {
    #[serde(flatten)]
    event: Shown,
    size: u64,
    root: Digest,
}

fn check_proof(gate: &Gate, file: &Path, trusted: &Trusted) -> Result<Answer, Failure> {
    let trust = Trust::of(gate, trusted)?;
    let found = |error: attest::Error| Failure { exit: FOUND, ..failure(error) };
    let proof = RecordProof::parse(&read_text(file)?).map_err(found)?;
    let record = proof.extra.as_deref().ok_or_else(|| {
        Failure { exit: FOUND, ..Failure::new("value", "the proof does not hold its record") }.in_field("extra")
    })?;
    if trust.verifiers.is_empty() {
        return Err(Failure::new("key", "no key is known here; name the log's verifier key with --key").in_field("key"));
    }
    let mut checked = Err(attest::Error::Malformed { what: "proof".to_owned(), expected: "a key".to_owned() });
    for verifier in trust.verifiers() {
        checked = proof.verify(record, verifier);
        if checked.is_ok() {
            break;
        }
    }
    let head = checked.map_err(found)?;
    let event = Event::read(record).map_err(found)?;
    if event.log != head.origin || event.sequence != proof.index {
        return Err(found(attest::Error::OtherLog { expected: head.origin, found: event.log }));
    }
    let checked = Checked { event: Shown::of(proof.index, record), size: head.size, root: head.root };
    Ok(Answer::new(gate, &checked, || {
        format!(
            "event {} ({}) is on the ledger {}, under a signed head of {}\n{PROVES}",
            proof.index,
            event.body.kind().as_str(),
            plain(&head.origin),
            count(head.size, "event", "events")
        )
    }))
}

#[derive(Serialize)]
struct Consistent {
    old: Checkpoint,
    new: Checkpoint,
    hashes: Vec<Digest>,
}

fn consistency(gate: &Gate, old: &Path) -> Result<Answer, Failure> {
    let old = read_head(old)?;
    let store = gate.look_closely()?;
    let (_, new) = head_of(&store)?;
    let inconsistent = || Failure { exit: FOUND, ..failure(attest::Error::Inconsistent { size: old.size }) };
    if old.origin != new.origin || old.size > new.size {
        return Err(inconsistent());
    }
    let hashes = consistency_proof(old.size, new.size, &store.ledger_nodes()).map_err(|_| inconsistent())?;
    verify_consistency(old.size, &old.root, new.size, &new.root, &hashes).map_err(|_| inconsistent())?;
    let proof = Consistent { old, new, hashes };
    Ok(Answer::new(gate, &proof, || {
        let mut text = format!(
            "the ledger of {} continues the head of {}; the proof (RFC 6962):\n",
            count(proof.new.size, "event", "events"),
            count(proof.old.size, "event", "events")
        );
        proof.hashes.iter().for_each(|hash| _ = writeln!(text, "  {hash}"));
        text
    }))
}

#[derive(Serialize)]
struct Anchored {
    file: PathBuf,
    size: u64,
    root: Digest,
    /// The size of the head that was kept before, and is continued.
    before: Option<u64>,
}

fn anchor(gate: &Gate, file: Option<&Path>) -> Result<Answer, Failure> {
    let file = file.map_or_else(|| gate.locations.anchor(), Path::to_path_buf);
    let kept = if file.exists() { Some(read_head(&file)?) } else { None };
    let store = gate.look_closely()?;
    let (note, head) = head_of(&store)?;
    if let Err(report) = sound(gate, &store, kept.as_ref())? {
        return Ok(verified(gate, &report, true, kept.as_ref()));
    }
    keep(&file, &note.to_string())
        .map_err(|error| Failure::new("io", format!("{} cannot be written: {error}", show(&file))))?;
    let anchored = Anchored { file, size: head.size, root: head.root, before: kept.map(|kept| kept.size) };
    Ok(Answer::new(gate, &anchored, || {
        let before = match anchored.before {
            Some(before) => format!("the head of {} that was kept is continued; ", count(before, "event", "events")),
            None => String::new(),
        };
        format!(
            "{before}kept the head of {} in {}\nwho can write both the store and that file can still change the past: a copy elsewhere is better\n",
            count(anchored.size, "event", "events"),
            show(&anchored.file)
        )
    }))
}

/// Writes a head whole or not at all.
fn keep(file: &Path, note: &str) -> std::io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    stigmergate_intake::settings::make_private_folder(folder)?;
    let mut whole = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut whole, note.as_bytes())?;
    whole.as_file().sync_all()?;
    whole.persist(file)?;
    Ok(())
}
