//! Past records.

use crate::error::StoreError;
use crate::record::{Record, Stored};
use crate::store::Store;
use rusqlite::Connection;
use std::collections::VecDeque;
use std::ops::{Bound, RangeBounds};

/// In which order records come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they were applied.
    OldestFirst,
    /// The latest first.
    NewestFirst,
}

/// Records of a range, read a few at a time: memory stays small, and other processes may write in between.
#[derive(Debug)]
pub struct Records<'s> {
    store: &'s Store,
    /// What is left of the range, ends included; `None` when nothing is.
    left: Option<(u64, u64)>,
    order: Order,
    page: VecDeque<Record>,
}

/// How many records are read at a time.
const PAGE: usize = 64;

impl Store {
    /// The records with these numbers.
    ///
    /// ```
    /// # use stigmergate_core::kernel::Command;
    /// # use stigmergate_store::{Options, Order, Store};
    /// # let folder = tempfile::tempdir()?;
    /// # let mut store = Store::open(&folder.path().join("gate.db"), &Options::default())?;
    /// store.apply_all(1, vec![Command::Advance, Command::CalmDown])?;
    /// let last = store.records(.., Order::NewestFirst).next().unwrap()?;
    /// assert_eq!((last.sequence, last.command), (2, Command::CalmDown));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn records(&self, range: impl RangeBounds<u64>, order: Order) -> Records<'_> {
        let first = match range.start_bound() {
            Bound::Included(first) => Some(*first),
            Bound::Excluded(before) => before.checked_add(1),
            Bound::Unbounded => Some(0),
        };
        let last = match range.end_bound() {
            Bound::Included(last) => Some(*last),
            Bound::Excluded(after) => after.checked_sub(1),
            Bound::Unbounded => Some(u64::MAX),
        };
        // The file's numbers are signed.
        let most = i64::MAX.unsigned_abs();
        let left = first.zip(last).filter(|(first, last)| first <= last && *first <= most);
        let left = left.map(|(first, last)| (first, last.min(most)));
        Records { store: self, left, order, page: VecDeque::new() }
    }

    /// The record with this number; `None` where there is none, or it was compacted away.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Corrupt`], [`StoreError::NewerVersion`], [`StoreError::Io`].
    pub fn record(&self, sequence: u64) -> Result<Option<Record>, StoreError> {
        self.records(sequence..=sequence, Order::OldestFirst).next().transpose()
    }

    /// The records about a proposal, in order: its verdicts, approvals, denials, outcomes.
    ///
    /// # Errors
    /// As [`Store::record`].
    pub fn records_about(&self, proposal_id: &str) -> Result<Vec<Record>, StoreError> {
        self.asked(|connection| {
            let columns = Stored::COLUMNS;
            let query = format!("SELECT {columns} FROM journal WHERE proposal_id = ?1 ORDER BY sequence");
            let mut statement = connection.prepare(&query)?;
            let mut rows = statement.query([proposal_id])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(Stored::read(row)?.record()?);
            }
            Ok(found)
        })
    }
}

impl Records<'_> {
    fn read(&self, connection: &Connection, first: u64, last: u64) -> Result<VecDeque<Record>, StoreError> {
        let columns = Stored::COLUMNS;
        let direction = if self.order == Order::OldestFirst { "ASC" } else { "DESC" };
        let mut statement = connection.prepare(&format!(
            "SELECT {columns} FROM journal WHERE sequence BETWEEN ?1 AND ?2 ORDER BY sequence {direction} LIMIT {PAGE}"
        ))?;
        let mut rows = statement.query([first.cast_signed(), last.cast_signed()])?;
        let mut page = VecDeque::with_capacity(PAGE);
        while let Some(row) = rows.next()? {
            page.push_back(Stored::read(row)?.record()?);
        }
        Ok(page)
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(record) = self.page.pop_front() {
            return Some(Ok(record));
        }
        let (first, last) = self.left.take()?;
        match self.store.asked(|connection| self.read(connection, first, last)) {
            Err(error) => Some(Err(error)),
            Ok(page) => {
                let reached = page.back()?.sequence;
                self.left = match self.order {
                    _ if page.len() < PAGE => None,
                    Order::OldestFirst => reached.checked_add(1).map(|first| (first, last)),
                    Order::NewestFirst => reached.checked_sub(1).map(|last| (first, last)),
                }
                .filter(|(first, last)| first <= last);
                self.page = page;
                self.page.pop_front().map(Ok)
            }
        }
    }
}
