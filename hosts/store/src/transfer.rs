//! A store as lines of JSON: for other tools to read, and to make the same store elsewhere.
//!
//! The first line says what follows, then comes a line for each record, incident, fact, event and head of the signed ledger, and the
//! last line says how many records there were and which state they lead to. Where the JSON of a record does not read back as exactly the same command and reply,
//! its line carries the exact form besides, in base64 of postcard.

use crate::error::StoreError;
use crate::file::{self, Unfinished};
use crate::ledger;
use crate::notes::{self, Incident};
use crate::options::Options;
use crate::record::{Chain, Prepared, Record, Stored, from_binary, to_binary};
use crate::replica::{Replica, Tail};
use crate::seen;
use crate::store::Store;
use crate::verify;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::path::Path;
use stigmergate_core::attest::tree::leaf_hash;
use stigmergate_core::digest::Digest;
use stigmergate_core::kernel::{Command, Kernel, Reply, Time};

/// The version of an export's form.
pub const EXPORT_VERSION: u32 = 2;

const FORMAT: &str = "stigmergate-journal";

/// A line of an export.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// The first one.
    Header(Header),
    Record(Box<RecordLine>),
    Incident(Incident),
    Meta(Meta),
    LedgerEvent(LedgerEvent),
    LedgerHead(LedgerHead),
    /// The last one.
    End(End),
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    /// The state that the first record was applied to.
    base: Base,
}

#[derive(Serialize, Deserialize)]
struct Base {
    sequence: u64,
    digest: Digest,
    /// Base64.
    snapshot: String,
}

#[derive(Serialize, Deserialize)]
struct RecordLine {
    sequence: u64,
    at: Time,
    command: serde_json::Value,
    reply: serde_json::Value,
    /// The exact forms, where JSON does not carry them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exact: Option<Exact>,
}

/// Base64 of postcard.
#[derive(Serialize, Deserialize)]
struct Exact {
    command: String,
    reply: String,
}

#[derive(Serialize, Deserialize)]
struct Meta {
    key: String,
    value: String,
}

#[derive(Serialize, Deserialize)]
struct LedgerEvent {
    sequence: u64,
    /// The record itself, which is JSON of one spelling.
    record: String,
}

#[derive(Serialize, Deserialize)]
struct LedgerHead {
    size: u64,
    note: String,
}

/// The end of an export, and of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How many records there were.
    pub records: u64,
    /// The number of the last one.
    pub sequence: u64,
    /// The digest of the state that they lead to.
    pub digest: Digest,
}

impl Store {
    /// Writes the whole store as lines of JSON. It holds everything that was journalled: keep it as the store itself is kept.
    ///
    /// # Errors
    /// As [`Store::verify`]; [`StoreError::Io`] where `out` cannot be written.
    pub fn export(&self, out: &mut dyn Write) -> Result<End, StoreError> {
        self.asked(|connection| {
            let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
            let end = export(&transaction, out)?;
            transaction.commit()?;
            out.flush().map_err(|error| StoreError::io("writing the export", &error))?;
            Ok(end)
        })
    }

    /// Makes a store of an export, in a file that is not there yet. Every record is applied again and has to answer as it did, and
    /// the state at the end has to be the one that the last line names; otherwise nothing is made.
    ///
    /// # Errors
    /// [`StoreError::Exists`], [`StoreError::Import`], [`StoreError::NewerVersion`], and those of making a file.
    pub fn import(path: &Path, input: &mut dyn BufRead, options: &Options) -> Result<(Self, End), StoreError> {
        let place = file::locate(path)?;
        let exists = || StoreError::Exists { path: path.to_path_buf() };
        if place.exists() {
            return Err(exists());
        }
        let mut end = None;
        let made = Unfinished::make(&place, |connection| {
            // In memory until it is committed: there is no file to roll back to.
            connection.execute_batch("BEGIN")?;
            end = Some(import(connection, input)?);
            Ok(connection.execute_batch("COMMIT")?)
        })?;
        let Some(end) = end.filter(|_| !place.exists()) else { return Err(exists()) };
        if !made.place()? {
            return Err(exists());
        }
        // It may say how far another store reached that was here.
        seen::reset(&place, end.sequence)?;
        Ok((Self::open_existing(path, options)?, end))
    }
}

fn export(connection: &Connection, out: &mut dyn Write) -> Result<End, StoreError> {
    let mut replica = verify::base(connection)?;
    let snapshot = replica.kernel.snapshot();
    let base = Base { sequence: replica.sequence, digest: replica.kernel.digest(), snapshot: BASE64.encode(snapshot) };
    let first = replica.sequence;
    write(out, &Line::Header(Header { format: FORMAT.to_string(), version: EXPORT_VERSION, base }))?;
    let mut statement = connection.prepare(&format!("SELECT {} FROM journal ORDER BY sequence", Stored::COLUMNS))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let stored = Stored::read(row)?;
        // A store that is damaged, or that this build answers otherwise, is not handed on.
        replica.follow(&stored)?;
        write(out, &Line::Record(Box::new(record_line(&stored)?)))?;
    }
    for incident in notes::incidents(connection, "ASC", usize::MAX)? {
        write(out, &Line::Incident(incident))?;
    }
    for (key, value) in notes::all_meta(connection)? {
        write(out, &Line::Meta(Meta { key, value }))?;
    }
    ledger::check(connection, &replica.kernel)?;
    write_ledger(connection, out)?;
    let records = replica.sequence.saturating_sub(first);
    let end = End { records, sequence: replica.sequence, digest: replica.kernel.digest() };
    write(out, &Line::End(end))?;
    Ok(end)
}

fn write_ledger(connection: &Connection, out: &mut dyn Write) -> Result<(), StoreError> {
    let mut events = connection.prepare("SELECT sequence, record FROM ledger_events ORDER BY sequence")?;
    let mut events = events.query([])?;
    while let Some(row) = events.next()? {
        let record = String::from_utf8_lossy(row.get_ref(1)?.as_blob()?).into_owned();
        let sequence = row.get_ref(0)?.as_i64()?.cast_unsigned();
        write(out, &Line::LedgerEvent(LedgerEvent { sequence, record }))?;
    }
    let mut heads = connection.prepare("SELECT size, note FROM ledger_heads ORDER BY size")?;
    let mut heads = heads.query([])?;
    while let Some(row) = heads.next()? {
        let size = row.get_ref(0)?.as_i64()?.cast_unsigned();
        write(out, &Line::LedgerHead(LedgerHead { size, note: row.get(1)? }))?;
    }
    Ok(())
}

fn write(out: &mut dyn Write, line: &Line) -> Result<(), StoreError> {
    let text = serde_json::to_string(line).map_err(|error| StoreError::Io { detail: error.to_string() })?;
    writeln!(out, "{text}").map_err(|error| StoreError::io("writing the export", &error))
}

fn record_line(stored: &Stored<'_>) -> Result<RecordLine, StoreError> {
    let Record { sequence, at, command, reply } = stored.record()?;
    let (command, is_command_exact) = as_json(&command, stored.command)?;
    let (reply, is_reply_exact) = as_json(&reply, stored.reply)?;
    let exact = (!(is_command_exact && is_reply_exact))
        .then(|| Exact { command: BASE64.encode(stored.command), reply: BASE64.encode(stored.reply) });
    Ok(RecordLine { sequence, at, command, reply, exact })
}

/// The JSON of a value, and whether its text reads back as exactly these bytes.
fn as_json<T>(value: &T, bytes: &[u8]) -> Result<(serde_json::Value, bool), StoreError>
where
    T: Serialize + serde::de::DeserializeOwned,
{
    let unwritable = |error: serde_json::Error| StoreError::Io { detail: format!("no JSON form: {error}") };
    let json = serde_json::to_value(value).map_err(unwritable)?;
    let text = serde_json::to_string(&json).map_err(unwritable)?;
    // As the importing side reads it: the line first, the value from it.
    let again = serde_json::from_str::<serde_json::Value>(&text).and_then(serde_json::from_value::<T>);
    let is_exact = again.is_ok_and(|again| to_binary(&again).is_ok_and(|again| again == bytes));
    Ok((json, is_exact))
}

fn import(connection: &Connection, input: &mut dyn BufRead) -> Result<End, StoreError> {
    let mut lines = Lines { input, number: 0 };
    let mut replica = match lines.next()? {
        Some(Line::Header(header)) => begin(&lines, &header)?,
        _ => return Err(lines.wrong("the first line is no header of an export")),
    };
    replica.write_snapshot(connection, &replica.kernel.snapshot())?;
    let first = replica.sequence;
    loop {
        match lines.next()? {
            Some(Line::Record(line)) => take(connection, &lines, &mut replica, *line)?,
            Some(Line::Incident(incident)) => {
                notes::note(connection, incident.at, &incident.kind, &incident.detail)?;
            }
            Some(Line::Meta(meta)) => notes::set_meta(connection, &meta.key, &meta.value)?,
            Some(Line::LedgerEvent(event)) => take_event(connection, &lines, &event)?,
            Some(Line::LedgerHead(head)) => ledger::insert_head(connection, head.size, &head.note)?,
            Some(Line::Header(_)) => return Err(lines.wrong("a second header")),
            None => return Err(lines.wrong("the export ends before its last line: a part of it is missing")),
            Some(Line::End(end)) => {
                let records = replica.sequence.saturating_sub(first);
                let found = End { records, sequence: replica.sequence, digest: replica.kernel.digest() };
                if found != end {
                    return Err(lines.wrong(&format!("it leads to {found:?}, not to {end:?}")));
                }
                ledger::check(connection, &replica.kernel).map_err(|error| lines.wrong(&error.to_string()))?;
                if lines.next()?.is_some() {
                    return Err(lines.wrong("something follows the last line"));
                }
                if replica.sequence > first {
                    replica.write_snapshot(connection, &replica.kernel.snapshot())?;
                }
                return Ok(end);
            }
        }
    }
}

/// The state that an export begins with.
fn begin(lines: &Lines<'_>, header: &Header) -> Result<Replica, StoreError> {
    if header.format != FORMAT {
        return Err(lines.wrong("it is of another format"));
    }
    if header.version > EXPORT_VERSION {
        let what = "the export".to_string();
        return Err(StoreError::NewerVersion { what, found: header.version, supported: EXPORT_VERSION });
    }
    let snapshot = BASE64.decode(&header.base.snapshot).map_err(|error| lines.wrong(&format!("base: {error}")))?;
    let kernel = Kernel::restore(&snapshot).map_err(|error| lines.wrong(&format!("base: {error}")))?;
    if kernel.digest() != header.base.digest {
        return Err(lines.wrong("base: its digest is another one"));
    }
    // The file's numbers are signed.
    if i64::try_from(header.base.sequence).is_err() {
        return Err(lines.wrong("base: its number is too large"));
    }
    let chain = Chain::base(&header.base.digest);
    Ok(Replica { kernel, sequence: header.base.sequence, chain, tail: Tail::default(), damaged: Vec::new() })
}

/// Applies a record, and compares its reply.
fn take(connection: &Connection, lines: &Lines<'_>, replica: &mut Replica, line: RecordLine) -> Result<(), StoreError> {
    let expected = replica.sequence.saturating_add(1);
    if line.sequence != expected {
        return Err(lines.wrong(&format!("record {} comes where record {expected} should", line.sequence)));
    }
    let (command, reply): (Command, Reply) = match &line.exact {
        Some(exact) => (lines.exact("command", &exact.command)?, lines.exact("reply", &exact.reply)?),
        None => (lines.json("command", line.command)?, lines.json("reply", line.reply)?),
    };
    let found = match replica.append(connection, line.at, Prepared::new(command)?) {
        Err(StoreError::Core(error)) => return Err(lines.wrong(&format!("the command is refused: {error}"))),
        found => found?,
    };
    if to_binary(&found)? == to_binary(&reply)? { Ok(()) } else { Err(lines.wrong("it answers otherwise than it did")) }
}

/// Takes an event over. Those of the records above were written with them, and have to be the same.
fn take_event(connection: &Connection, lines: &Lines<'_>, event: &LedgerEvent) -> Result<(), StoreError> {
    let LedgerEvent { sequence, record } = event;
    let query = "SELECT record FROM ledger_events WHERE sequence = ?1";
    let known: Option<Vec<u8>> = connection.query_row(query, [sequence.cast_signed()], |row| row.get(0)).optional()?;
    match known {
        None => ledger::insert_event(connection, *sequence, record.as_bytes(), &leaf_hash(record.as_bytes())),
        Some(known) if known == record.as_bytes() => Ok(()),
        Some(_) => Err(lines.wrong(&format!("event {sequence} is not the one that its record wrote"))),
    }
}

/// The lines of an import, counted.
struct Lines<'i> {
    input: &'i mut dyn BufRead,
    number: u64,
}

impl Lines<'_> {
    /// The next line that is not blank.
    fn next(&mut self) -> Result<Option<Line>, StoreError> {
        loop {
            let mut text = Vec::new();
            let read = self.input.read_until(b'\n', &mut text);
            if read.map_err(|error| StoreError::io("reading the export", &error))? == 0 {
                return Ok(None);
            }
            self.number = self.number.saturating_add(1);
            if !text.trim_ascii().is_empty() {
                return serde_json::from_slice(&text).map(Some).map_err(|error| self.wrong(&error.to_string()));
            }
        }
    }

    fn wrong(&self, detail: &str) -> StoreError {
        StoreError::Import { line: self.number, detail: detail.to_string() }
    }

    fn exact<T: serde::de::DeserializeOwned>(&self, part: &str, text: &str) -> Result<T, StoreError> {
        let bytes = BASE64.decode(text).map_err(|error| self.wrong(&format!("{part}: {error}")))?;
        from_binary(&bytes).map_err(|detail| self.wrong(&format!("{part}: {detail}")))
    }

    fn json<T: serde::de::DeserializeOwned>(&self, part: &str, value: serde_json::Value) -> Result<T, StoreError> {
        serde_json::from_value(value).map_err(|error| self.wrong(&format!("{part}: {error}")))
    }
}
