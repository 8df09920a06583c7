//! The verification of a ledger by whoever was given it: records, signed heads, and the keys that one trusts.
//!
//! The idea: one pass in constant memory. Each record must be canonical, continue the one before it (number and hash) and be
//! allowed by the open [`links`](super::links); each head must be signed by the key in force and have the root of the records
//! before it. Nothing after the last signed head counts as signed. The first fault decides, and nothing after it is looked at.
//!
//! **Which keys.** A ledger announces its first key in its first event and every later one in an event that the key before it
//! has signed. It is trusted if one of the given keys has signed something in it: what a key signs covers everything before,
//! and everything after follows from key to key. Without given keys the first event is taken at its word, which proves only
//! that one and the same key stands behind all of it. An HMAC key verifies nothing unless it is among the given ones.
//!
//! **What is kept meanwhile**: the compact range, the open ends and the last [`NONCES`] nonces. So a nonce that is used again
//! after more events than that is not seen; a moved or repeated record is, since its number and the hash before it do not fit.

use super::checkpoint::Checkpoint;
use super::error::Error;
use super::event::{Body, Event, Nonce};
use super::key::PublicKey;
use super::links::{Links, Rules};
use super::note::Note;
pub use super::report::{Report, Status};
use super::signer::{Ed25519Verifier, Verifier};
use super::tree::{CompactRange, leaf_hash};
use crate::digest::Digest;
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};

/// So many nonces are remembered.
pub const NONCES: usize = 4096;

/// What the ledger should be.
#[derive(Clone, Copy)]
pub struct Expected<'a> {
    /// The log's origin.
    pub origin: &'a str,
    /// The keys that are trusted; none to take the first event at its word.
    pub keys: &'a [&'a dyn Verifier],
    /// A head that was kept elsewhere, and that was verified when it was kept.
    pub kept: Option<&'a Checkpoint>,
    /// What the policy allows and asks for; [`Rules::ANY`] for a ledger that was written under whatever policy.
    pub rules: Rules,
}

/// Verifies a ledger: its records in order, and its signed heads in order of size, of which the last must sign for all records.
/// Fewer heads are checked faster; every one shows at which moment the log was signed.
pub fn verify<'r>(
    expected: Expected<'_>,
    records: impl IntoIterator<Item = &'r [u8]>,
    heads: impl IntoIterator<Item = &'r str>,
) -> Report {
    let mut verification = Verification::new(expected);
    let mut heads = heads.into_iter().peekable();
    let mut records = records.into_iter();
    loop {
        while let Some(head) = heads.next_if(|head| size_of(head) == Some(verification.size())) {
            verification.head(head);
        }
        match records.next() {
            Some(record) => verification.record(record),
            None => break,
        }
        if verification.fault.is_some() {
            break;
        }
    }
    heads.for_each(|head| verification.head(head));
    verification.finish()
}

/// The size that a head claims.
fn size_of(head: &str) -> Option<u64> {
    Checkpoint::parse(Note::parse(head).ok()?.text()).ok().map(|head| head.size)
}

/// The key in force.
enum Current<'a> {
    /// One that was given.
    Known(&'a dyn Verifier),
    /// One that the ledger has announced.
    Announced(Box<Ed25519Verifier>),
}

impl Current<'_> {
    fn verifier(&self) -> &dyn Verifier {
        match self {
            Self::Known(verifier) => *verifier,
            Self::Announced(verifier) => &**verifier,
        }
    }
}

struct Fault {
    error: Error,
    last_valid: Option<u64>,
}

/// A verification under way: give it records and heads in their order, then ask for the report.
pub struct Verification<'a> {
    expected: Expected<'a>,
    tree: CompactRange,
    links: Links,
    last: Option<Digest>,
    current: Option<Current<'a>>,
    /// A given key has signed something.
    trusted: bool,
    /// The size of the last head that held.
    signed: u64,
    nonces: Recent,
    fault: Option<Fault>,
}

impl<'a> Verification<'a> {
    /// A verification that has read nothing.
    #[must_use]
    pub fn new(expected: Expected<'a>) -> Self {
        let kept = expected.kept.filter(|kept| kept.origin != expected.origin);
        Self {
            trusted: expected.keys.is_empty(),
            expected,
            tree: CompactRange::default(),
            links: Links::default(),
            last: None,
            current: None,
            signed: 0,
            nonces: Recent::default(),
            fault: kept.map(|kept| Fault { error: Error::Inconsistent { size: kept.size }, last_valid: None }),
        }
    }

    /// How many records have held.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.tree.size()
    }

    /// Reads the next record.
    pub fn record(&mut self, record: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        if let Err((error, steps_back)) = self.try_record(record) {
            let last_valid = self.size().checked_sub(steps_back);
            self.fault = Some(Fault { error, last_valid });
        }
    }

    /// The second part of an error is how many numbers before the next one the last valid one is.
    fn try_record(&mut self, record: &[u8]) -> Result<(), (Error, u64)> {
        let here = |error| (error, 1);
        let event = Event::read(record).map_err(here)?;
        let next = self.size();
        if event.log != self.expected.origin {
            return Err(here(Error::OtherLog { expected: self.expected.origin.into(), found: event.log }));
        }
        if event.sequence > next {
            return Err(here(Error::SequenceGap { expected: next, found: event.sequence }));
        }
        if event.sequence < next {
            return Err(here(Error::Duplicate { sequence: event.sequence }));
        }
        if event.previous != self.last {
            // This record or the one before it is not the one that was written.
            return Err((Error::bad_hash("the record before"), 2));
        }
        if !self.nonces.insert(event.nonce) {
            return Err(here(Error::NonceReused { sequence: event.sequence }));
        }
        self.check_key_event(&event).map_err(here)?;
        self.links.check(&event, self.expected.rules).map_err(here)?;
        let leaf = leaf_hash(record);
        self.links.apply(&event, leaf);
        self.tree.append(leaf);
        self.last = Some(leaf);
        self.check_kept().map_err(|error| (error, u64::MAX))
    }

    fn check_kept(&self) -> Result<(), Error> {
        match self.expected.kept {
            Some(kept) if kept.size == self.size() && kept.root != self.tree.root() => {
                Err(Error::Inconsistent { size: kept.size })
            }
            _ => Ok(()),
        }
    }

    /// The first event must announce a key; a later one must be signed by the key in force.
    fn check_key_event(&mut self, event: &Event) -> Result<(), Error> {
        let first = event.sequence == 0;
        let Body::Key { key, endorsement } = &event.body else {
            return if first { Err(Error::bad_signature(&event.log, "the first event names no key")) } else { Ok(()) };
        };
        match (&self.current, endorsement) {
            (None, None) => {}
            (Some(current), Some(endorsement)) => {
                current.verifier().verify(&event.rotation_message()?, endorsement)?;
                self.trusted |= matches!(current, Current::Known(_));
            }
            _ => return Err(Error::bad_signature(key, "it is announced without the key before it")),
        }
        self.current = Some(self.find(key)?);
        Ok(())
    }

    fn find(&self, key: &PublicKey) -> Result<Current<'a>, Error> {
        match self.expected.keys.iter().find(|known| known.public() == key) {
            Some(known) => Ok(Current::Known(*known)),
            None => Ed25519Verifier::new(key).map(Box::new).map(Current::Announced),
        }
    }

    /// Reads a signed head over the records so far.
    pub fn head(&mut self, head: &str) {
        if self.fault.is_some() {
            return;
        }
        match self.try_head(head) {
            Ok(()) => self.signed = self.size(),
            Err(error) => self.fault = Some(Fault { error, last_valid: self.signed.checked_sub(1) }),
        }
    }

    fn try_head(&mut self, head: &str) -> Result<(), Error> {
        let origin = self.expected.origin;
        let unreadable = |_| Error::bad_signature(&origin, "the head is no signed note");
        let note = Note::parse(head).map_err(unreadable)?;
        self.check_signature(&note)?;
        let head = Checkpoint::parse(note.text()).map_err(unreadable)?;
        if head.origin != origin {
            return Err(Error::OtherLog { expected: origin.into(), found: head.origin });
        }
        if head.size > self.size() {
            return Err(Error::SequenceGap { expected: self.size(), found: head.size });
        }
        if head.size < self.size() || head.root != self.tree.root() {
            return Err(Error::bad_hash("the head"));
        }
        Ok(())
    }

    fn check_signature(&mut self, note: &Note) -> Result<(), Error> {
        if let Some(current) = &self.current {
            note.verify(current.verifier())?;
            self.trusted |= matches!(current, Current::Known(_));
            return Ok(());
        }
        // Without records there is no key in force; any that is trusted will do.
        let held = self.expected.keys.iter().any(|known| note.verify(*known).is_ok());
        if held { Ok(()) } else { Err(Error::bad_signature(&self.expected.origin, "no known key has signed the head")) }
    }

    /// The report.
    #[must_use]
    pub fn finish(mut self) -> Report {
        let last = self.size().checked_sub(1);
        if self.fault.is_none() {
            self.fault = self.fault_at_end();
        }
        let incomplete = self.links.incomplete();
        let (status, last_valid, fault) = match self.fault {
            Some(Fault { error, last_valid }) => (Status::of(&error), last_valid, Some(error)),
            None if last.is_none() => (Status::Empty, None, None),
            None if incomplete > 0 => (Status::IncompleteExecution, last, None),
            None => (Status::Valid, last, None),
        };
        Report { status, last_valid, records: self.tree.size(), root: self.tree.root(), incomplete, fault }
    }

    fn fault_at_end(&self) -> Option<Fault> {
        let size = self.size();
        if let Some(kept) = self.expected.kept.filter(|kept| kept.size > size) {
            return Some(Fault { error: Error::Inconsistent { size: kept.size }, last_valid: size.checked_sub(1) });
        }
        let reason = if self.signed < size {
            "no head signs for the last events"
        } else if size > 0 && !self.trusted {
            "no known key has signed anything"
        } else {
            return None;
        };
        let last_valid = if self.trusted { self.signed.checked_sub(1) } else { None };
        Some(Fault { error: Error::bad_signature(&self.expected.origin, reason), last_valid })
    }
}

/// The last nonces.
#[derive(Default)]
struct Recent {
    order: VecDeque<Nonce>,
    set: BTreeSet<Nonce>,
}

impl Recent {
    /// Whether it was not among them.
    fn insert(&mut self, nonce: Nonce) -> bool {
        if !self.set.insert(nonce) {
            return false;
        }
        self.order.push_back(nonce);
        if self.order.len() > NONCES
            && let Some(oldest) = self.order.pop_front()
        {
            self.set.remove(&oldest);
        }
        true
    }
}
