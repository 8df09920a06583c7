//! Changed bytes, cut files, lost logs: everything acknowledged is there, or the store says what is, and a repair keeps that.

use crate::Failed;
use crate::report::Row;
use crate::world::{Ask, Random, World};
use std::path::{Path, PathBuf};
use stigmergate_core::policy::Policy;
use stigmergate_store::{Options, Order, Record, Store, StoreError};

const PAGE_BYTES: usize = 4096;

pub(crate) fn all(gate: &Path, stride: usize) -> Result<Vec<Row>, Failed> {
    // Cuts are few: a coarse run leaves out some of them only.
    let coarse = stride.div_euclid(500).max(1);
    let small = Original::make(gate, 12)?;
    let mut rows =
        vec![small.bytes(stride)?, small.cuts(PAGE_BYTES.saturating_mul(coarse))?, small.logs(stride, coarse)?];
    let large = Original::make(gate, 60)?;
    rows.push(large.random(u64::try_from(40_000_usize.div_ceil(stride.max(1)).clamp(40, 2_000))?)?);
    Ok(rows)
}

/// A store with a ledger, as it was before anything happened to it.
struct Original {
    _world: World,
    /// The one file, with everything in it.
    whole: Vec<u8>,
    /// The file and its log, before the log was brought into the file.
    split: Vec<(&'static str, Vec<u8>)>,
    records: Vec<Record>,
    /// The policy that the store began with, as the settings still say it.
    policy: Policy,
    place: tempfile::TempDir,
}

impl Original {
    fn make(gate: &Path, questions: u64) -> Result<Self, Failed> {
        let mut world = World::new(gate)?;
        world.attest()?;
        let mut row = Row::default();
        for number in 0..questions {
            let question = world.start(Ask::numbered(number), &[], |_| {})?;
            world.finish(question, &mut row)?;
        }
        let path = world.store();
        let mut split = Vec::new();
        for suffix in SUFFIXES {
            if let Ok(bytes) = std::fs::read(beside(&path, suffix)) {
                split.push((suffix, bytes));
            }
        }
        let mut store = Store::open_existing(&path, &Options::default())?;
        let records = records(&store)?;
        let policy = store.with_current(|kernel| kernel.policy().clone())?;
        // It brings the log into the file; nothing is old enough to go.
        store.compact(u64::MAX)?;
        drop(store);
        let whole = std::fs::read(&path)?;
        Ok(Self { _world: world, whole, split, records, policy, place: tempfile::tempdir()? })
    }

    /// Every byte of the file, one at a time.
    fn bytes(&self, stride: usize) -> Result<Row, Failed> {
        let mut row = Row::new("a byte changed");
        for at in (0..self.whole.len()).step_by(stride.max(1)) {
            let mut bytes = self.whole.clone();
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << (at % 8);
            }
            self.look(&[("", bytes)], &format!("byte {at}"), &mut row)?;
        }
        Ok(row)
    }

    /// Several bytes anywhere.
    fn random(&self, times: u64) -> Result<Row, Failed> {
        let mut row = Row::new("random bytes of a large store");
        let mut random = Random::new(7);
        for _ in 0..times {
            let mut bytes = self.whole.clone();
            let mut changed = Vec::new();
            for _ in 0..=random.below(4) {
                let at = usize::try_from(random.below(bytes.len() as u64))?;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = u8::try_from(random.below(256))?;
                }
                changed.push(at);
            }
            self.look(&[("", bytes)], &format!("bytes {changed:?}"), &mut row)?;
        }
        Ok(row)
    }

    fn cuts(&self, step: usize) -> Result<Row, Failed> {
        let mut row = Row::new("cut at a page");
        for length in (step..self.whole.len()).step_by(step) {
            let bytes = self.whole.get(..length).unwrap_or_default().to_vec();
            self.look(&[("", bytes)], &format!("cut at {length}"), &mut row)?;
        }
        Ok(row)
    }

    /// The log: changed, cut, taken away.
    fn logs(&self, stride: usize, coarse: usize) -> Result<Row, Failed> {
        let mut row = Row::new("the log changed, cut or deleted");
        let with = |log: Option<Vec<u8>>| -> Vec<(&'static str, Vec<u8>)> {
            let others = self.split.iter().filter(|(suffix, _)| *suffix != "-wal" && *suffix != "-shm").cloned();
            others.chain(log.map(|bytes| ("-wal", bytes))).collect()
        };
        let log = self.split.iter().find(|(suffix, _)| *suffix == "-wal").map(|(_, bytes)| bytes.clone());
        let log = log.ok_or("there is no log to damage")?;
        self.look(&with(None), "log deleted", &mut row)?;
        for at in (0..log.len()).step_by(stride.saturating_mul(16).max(16)) {
            let mut bytes = log.clone();
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << (at % 8);
            }
            self.look(&with(Some(bytes)), &format!("log byte {at}"), &mut row)?;
        }
        for length in (0..log.len()).step_by(PAGE_BYTES.div_euclid(2).saturating_mul(coarse)) {
            let bytes = log.get(..length).unwrap_or_default().to_vec();
            self.look(&with(Some(bytes)), &format!("log cut at {length}"), &mut row)?;
        }
        Ok(row)
    }

    /// Opens and verifies what is left. Either nothing is missing, or it says what is intact and a repair keeps that.
    fn look(&self, files: &[(&'static str, Vec<u8>)], what: &str, row: &mut Row) -> Result<(), Failed> {
        for entry in std::fs::read_dir(self.place.path())? {
            std::fs::remove_file(entry?.path())?;
        }
        let path = self.place.path().join("gate.db");
        for (suffix, bytes) in files {
            std::fs::write(beside(&path, suffix), bytes)?;
        }
        row.faults = row.faults.saturating_add(1);
        let opened = Store::open_existing(&path, &Options::default());
        let found = opened.and_then(|store| store.verify().and_then(|_| records_of(&store)));
        let intact = match found {
            Ok(records) if records == self.records => {
                row.verified = row.verified.saturating_add(1);
                return Ok(());
            }
            Ok(records) => {
                row.wrong.push(format!("{what}: it holds {} records and says nothing", records.len()));
                return Ok(());
            }
            Err(StoreError::Corrupt { intact_records, .. }) => intact_records,
            Err(error) => {
                row.wrong.push(format!("{what}: no statement of what is intact: {error}"));
                return Ok(());
            }
        };
        row.told = row.told.saturating_add(1);
        let options = Options { initial_policy: Some(self.policy.clone()), ..Options::default() };
        match Store::repair(&path, 1_800_000_000_000, &options) {
            Ok(repaired) => self.compare(&path, intact, repaired.base, what, row),
            Err(StoreError::Corrupt { .. }) if intact == 0 => Ok(()),
            Err(error) => {
                row.wrong.push(format!("{what}: {intact} are intact, and it cannot be repaired: {error}"));
                Ok(())
            }
        }
    }

    /// What a repair kept is what was written, and no less than what was said to be intact.
    fn compare(&self, path: &Path, intact: u64, base: u64, what: &str, row: &mut Row) -> Result<(), Failed> {
        let store = Store::open_existing(path, &Options::default())?;
        if let Err(error) = store.verify() {
            // A ledger can have lost an event for good; it says so, and the journal is whole.
            if !error.to_string().contains("ledger") {
                row.wrong.push(format!("{what}: it was repaired, and {error}"));
            }
        }
        let kept = records(&store)?;
        if !kept.iter().all(|record| self.records.contains(record)) {
            row.wrong.push(format!("{what}: a repair made up records"));
        }
        let reached = base.saturating_add(kept.len() as u64);
        let begins = self.records.first().map_or(0, |first| first.sequence.saturating_sub(1));
        if reached < begins.saturating_add(intact) {
            row.wrong.push(format!("{what}: {intact} were intact, and a repair reached record {reached}"));
        }
        Ok(())
    }
}

/// The files of a store.
const SUFFIXES: [&str; 4] = ["", "-wal", "-shm", "-seen"];

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn records_of(store: &Store) -> Result<Vec<Record>, StoreError> {
    store.records(.., Order::OldestFirst).collect()
}

fn records(store: &Store) -> Result<Vec<Record>, Failed> {
    Ok(records_of(store)?)
}
