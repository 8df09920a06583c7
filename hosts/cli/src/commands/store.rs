//! `store`: the file itself, for whoever looks after it.

use super::{Answer, count, require_person};
use crate::args::{StoreArgs, StoreCommand};
use crate::failure::{FOUND, Failure};
use crate::gate::{Gate, show};
use crate::progress;
use crate::screen::plain;
use indicatif::ProgressBar;
use serde::Serialize;
use std::fs;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use stigmergate_core::attest::ledger::Ledger;
use stigmergate_core::kernel::Kernel;
use stigmergate_store::{Compacted, End, Options, Repaired, Store, StoreError, Summary, Verified};

pub(crate) fn store(gate: &Gate, args: &StoreArgs) -> Result<Answer, Failure> {
    match &args.command {
        None | Some(StoreCommand::Show) => show_store(gate),
        Some(StoreCommand::Check) => check(gate),
        Some(StoreCommand::Repair { yes }) => repair(gate, *yes),
        Some(StoreCommand::Compact { keep, yes }) => compact(gate, *keep, *yes),
        Some(StoreCommand::Export { file }) => export(gate, file.as_deref()),
        Some(StoreCommand::Import { file, yes }) => import(gate, file, *yes),
    }
}

#[derive(Serialize)]
struct Shown {
    store: PathBuf,
    #[serde(flatten)]
    summary: Summary,
    ledger_events: u64,
}

fn show_store(gate: &Gate) -> Result<Answer, Failure> {
    let mut store = gate.look_closely()?;
    let ledger_events = store.with_current(|kernel: &Kernel| kernel.ledger().map_or(0, Ledger::size))?;
    let shown = Shown { store: store.path().to_path_buf(), summary: store.summary()?, ledger_events };
    Ok(Answer::new(gate, &shown, || {
        let Summary { bytes, records, first, last, snapshots, incidents, schema, record_version, .. } = shown.summary;
        let range = if records > 0 { format!(", from #{first} to #{last}") } else { String::new() };
        let ledger = match shown.ledger_events {
            0 => "no signed ledger".to_owned(),
            events => format!("a signed ledger of {}", count(events, "event", "events")),
        };
        format!(
            "{}\n  {}\n  {}{range}\n  {}, {}\n  {ledger}\n  tables of version {schema}, records of version {record_version}\n",
            show(&shown.store),
            size(bytes),
            count(records, "record", "records"),
            count(snapshots, "snapshot", "snapshots"),
            count(incidents, "incident", "incidents"),
        )
    }))
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    match bytes {
        0..KIB => count(bytes, "byte", "bytes"),
        _ if bytes < KIB.saturating_mul(KIB) => format!("{} KiB", bytes.div_ceil(KIB)),
        _ => format!("{} MiB", bytes.div_ceil(KIB.saturating_mul(KIB))),
    }
}

#[derive(Serialize)]
struct Checked {
    store: PathBuf,
    whole: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<Verified>,
    /// Of a damaged store: the records, from the first, that are whole and in sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    intact_records: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

fn check(gate: &Gate) -> Result<Answer, Failure> {
    let path = gate.locations.store.clone();
    let options = Options { read_only: true, ..Options::default() };
    let verify = || Store::open_existing(&path, &options).and_then(|store| store.verify());
    let found = progress::during("applying every record again", verify);
    let checked = match found {
        Ok(found) => Checked { store: path, whole: true, found: Some(found), intact_records: None, message: None },
        Err(StoreError::NotFound { path }) => return Err(absent(&path)),
        Err(error @ StoreError::Corrupt { intact_records, .. }) => Checked {
            store: path,
            whole: false,
            found: None,
            intact_records: Some(intact_records),
            message: Some(error.to_string()),
        },
        Err(error) => return Err(error.into()),
    };
    let exit = if checked.whole { crate::failure::DONE } else { FOUND };
    let answer = Answer::new(gate, &checked, || match (&checked.found, &checked.message) {
        (Some(found), _) => format!(
            "{} is whole: {} and {} say the same\n",
            show(&checked.store),
            count(found.records, "record", "records"),
            count(found.snapshots, "snapshot", "snapshots")
        ),
        (None, message) => format!(
            "{}\n`stigmergate store repair` does that\n",
            plain(message.as_deref().unwrap_or("the store is damaged"))
        ),
    });
    Ok(answer.ending(exit))
}

fn absent(path: &Path) -> Failure {
    Failure::absent("not_found", format!("nothing was judged here yet: there is no store at {}", show(path)))
}

fn repair(gate: &Gate, yes: bool) -> Result<Answer, Failure> {
    require_person("repairing the store", yes)?;
    let options = gate.options()?;
    let repair = || Store::repair(&gate.locations.store, gate.clock.now, &options);
    let repaired = progress::during("keeping what is whole", repair);
    let repaired = repaired.map_err(|error| match error {
        StoreError::NotFound { path } => absent(&path),
        StoreError::Corrupt { intact_records, detail } => Failure::new(
            "corrupt",
            format!(
                "{detail}: {} read as they were written, and no state is left that they could continue; the file is as it was: bring back a copy or an export of it, or move it away to begin anew",
                count(intact_records, "record", "records")
            ),
        ),
        other => other.into(),
    })?;
    let exit = if repaired.dropped > 0 { FOUND } else { crate::failure::DONE };
    Ok(Answer::new(gate, &repaired, || repaired_text(&repaired)).ending(exit))
}

fn repaired_text(repaired: &Repaired) -> String {
    let Some(aside) = &repaired.moved_aside else {
        return format!("nothing is damaged: {}\n", count(repaired.kept_records, "record", "records"));
    };
    let before = match repaired.base {
        0 => String::new(),
        base => format!(" after record {base}, whose effects are kept"),
    };
    let lost = match repaired.dropped {
        0 => "no record is lost".to_owned(),
        dropped => format!("{} can no longer be read or explained", count(dropped, "record", "records")),
    };
    format!(
        "the store is whole again: it has {}{before}; {lost}\nthe damaged file is kept as {}\n",
        count(repaired.kept_records, "record", "records"),
        show(aside)
    )
}

fn compact(gate: &Gate, keep: u64, yes: bool) -> Result<Answer, Failure> {
    require_person("letting records go", yes)?;
    let options = gate.options()?;
    let mut store = match Store::open_existing(&gate.locations.store, &options) {
        Err(StoreError::NotFound { path }) => return Err(absent(&path)),
        store => store?,
    };
    let compacted = progress::during("letting old records go", || store.compact(keep))?;
    Ok(Answer::new(gate, &compacted, || {
        let Compacted { base, removed_records, bytes_before, bytes_after, .. } = compacted;
        match removed_records {
            0 => format!("nothing to let go: {} before, {} after\n", size(bytes_before), size(bytes_after)),
            removed => format!(
                "let go of {} up to #{base}; what they led to stays, and so does the signed ledger\n{} before, {} after\n",
                count(removed, "record", "records"),
                size(bytes_before),
                size(bytes_after)
            ),
        }
    }))
}

#[derive(Serialize)]
struct Carried {
    /// The file of an export, or the store of an import.
    path: PathBuf,
    #[serde(flatten)]
    end: End,
}

fn export(gate: &Gate, file: Option<&Path>) -> Result<Answer, Failure> {
    let store = gate.look_closely()?;
    let Some(file) = file.filter(|file| *file != Path::new("-")) else {
        let mut out = BufWriter::new(std::io::stdout().lock());
        store.export(&mut out)?;
        return Ok(Answer { text: String::new(), exit: crate::failure::DONE });
    };
    if fs::symlink_metadata(file).is_ok() {
        return Err(StoreError::Exists { path: file.to_path_buf() }.into());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |error: std::io::Error| Failure::new("io", format!("{} cannot be written: {error}", show(file)));
    // Beside it, so that nobody finds half of an export under its name; only the owner may read it.
    let mut whole = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let bar = progress::bar(store.summary()?.records, "writing records");
    let mut out = Counted { inner: BufWriter::new(whole.as_file_mut()), bar: bar.clone() };
    let end = store.export(&mut out);
    drop(out);
    bar.finish_and_clear();
    let end = end?;
    whole.as_file().sync_all().map_err(failed)?;
    whole.persist_noclobber(file).map_err(|error| failed(error.error))?;
    let carried = Carried { path: file.to_path_buf(), end };
    Ok(Answer::new(gate, &carried, || {
        format!(
            "wrote {} to {}, which holds all that the store holds: keep it as closely\n",
            count(carried.end.records, "record", "records"),
            show(file)
        )
    }))
}

fn import(gate: &Gate, file: &Path, yes: bool) -> Result<Answer, Failure> {
    require_person("making the store from an export", yes)?;
    let failed = |error: std::io::Error| Failure::unreadable(&show(file), &error);
    let (input, bytes): (Box<dyn Read>, u64) = if file == Path::new("-") {
        (Box::new(std::io::stdin().lock()), 0)
    } else {
        let input = fs::File::open(file).map_err(failed)?;
        let bytes = input.metadata().map_err(failed)?.len();
        (Box::new(input), bytes)
    };
    let bar = progress::bar(bytes, "applying every record again");
    let mut input = BufReader::new(bar.wrap_read(input));
    let made = Store::import(&gate.locations.store, &mut input, &gate.options()?);
    bar.finish_and_clear();
    let (store, end) = made?;
    let carried = Carried { path: store.path().to_path_buf(), end };
    Ok(Answer::new(gate, &carried, || {
        format!(
            "made {} of {}: it answers as the one that was exported\n",
            show(&carried.path),
            count(carried.end.records, "record", "records")
        )
    }))
}

/// Counts lines on their way.
struct Counted<W: Write> {
    inner: W,
    bar: ProgressBar,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes)?;
        let lines = bytes.iter().take(written).filter(|byte| **byte == b'\n').count();
        self.bar.inc(lines as u64);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
