//! One applied command with its reply, and the chain that holds the records together.
//!
//! Each record carries a digest over itself and the digest before it, so that a flipped bit, a lost or a moved record is seen.
//! That is integrity against accidents: whoever can write the file can compute it anew. What proves a history to others is the
//! signed ledger.

use crate::error::StoreError;
use rusqlite::Row;
use serde::{Deserialize, Serialize};
use stigmergate_core::digest::Digest;
use stigmergate_core::kernel::{Command, OutcomeReport, Reply, Subject, Time};

/// The version of a record's form.
pub const RECORD_VERSION: u32 = 1;

/// A command that was applied, and what it answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its number, from 1 without gaps.
    pub sequence: u64,
    /// The caller's time.
    pub at: Time,
    /// The command.
    pub command: Command,
    /// The reply.
    pub reply: Reply,
}

/// A record's digest over everything up to it, shortened to 16 bytes: enough against accidents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain([u8; 16]);

impl Chain {
    /// Where the chain of a journal begins: at the snapshot that it continues.
    pub(crate) fn base(digest: &Digest) -> Self {
        Self::shortened(&Digest::of("stigmergate journal", digest.as_bytes()))
    }

    pub(crate) fn shortened(digest: &Digest) -> Self {
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(digest.as_bytes()) {
            *to = *from;
        }
        Self(bytes)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, StoreError> {
        <[u8; 16]>::try_from(bytes).map(Self).map_err(|_| StoreError::corrupt("a digest has another length"))
    }

    /// The chain after a record.
    pub(crate) fn then(self, sequence: u64, at: Time, version: u32, command: &[u8], reply: &[u8]) -> Self {
        let lengths = [command.len() as u64, reply.len() as u64];
        let mut text = Vec::with_capacity(command.len().saturating_add(reply.len()).saturating_add(64));
        text.extend_from_slice(&self.0);
        text.extend_from_slice(&version.to_le_bytes());
        text.extend([sequence, at].iter().chain(&lengths).flat_map(|number| number.to_le_bytes()));
        text.extend_from_slice(command);
        text.extend_from_slice(reply);
        Self::shortened(&Digest::of("stigmergate record", &text))
    }
}

/// A record as the file holds it, borrowed from the row.
pub(crate) struct Stored<'r> {
    pub(crate) sequence: u64,
    pub(crate) at: Time,
    pub(crate) version: u32,
    pub(crate) name: &'r str,
    pub(crate) proposal_id: Option<&'r str>,
    pub(crate) command: &'r [u8],
    pub(crate) reply: &'r [u8],
    pub(crate) chain: Chain,
}

impl<'r> Stored<'r> {
    /// The columns that [`Stored::read`] reads, in its order.
    pub(crate) const COLUMNS: &'static str = "sequence, at, version, name, proposal_id, command, reply, chain";

    pub(crate) fn read(row: &'r Row<'_>) -> Result<Self, StoreError> {
        let version = row.get_ref(2)?.as_i64()?;
        Ok(Self {
            sequence: row.get_ref(0)?.as_i64()?.cast_unsigned(),
            at: row.get_ref(1)?.as_i64()?.cast_unsigned(),
            version: u32::try_from(version)
                .map_err(|_| StoreError::corrupt(format!("a record of version {version}")))?,
            name: row.get_ref(3)?.as_str()?,
            proposal_id: row.get_ref(4)?.as_str_or_null()?,
            command: row.get_ref(5)?.as_blob()?,
            reply: row.get_ref(6)?.as_blob()?,
            chain: Chain::read(row.get_ref(7)?.as_blob()?)?,
        })
    }

    /// Checks that this record comes right after the chain's last one, and is whole.
    pub(crate) fn check(&self, last: u64, chain: Chain) -> Result<(), StoreError> {
        let expected = last.saturating_add(1);
        if self.sequence != expected {
            let detail = format!("record {expected} is missing before record {}", self.sequence);
            return Err(StoreError::corrupt(detail));
        }
        if chain.then(self.sequence, self.at, self.version, self.command, self.reply) != self.chain {
            return Err(StoreError::corrupt(format!("record {expected} is not as it was written")));
        }
        Ok(())
    }

    /// The command.
    pub(crate) fn command(&self) -> Result<Command, StoreError> {
        self.decode(self.command)
    }

    /// The record.
    pub(crate) fn record(&self) -> Result<Record, StoreError> {
        let (command, reply) = (self.decode(self.command)?, self.decode(self.reply)?);
        Ok(Record { sequence: self.sequence, at: self.at, command, reply })
    }

    fn decode<T: serde::de::DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, StoreError> {
        if self.version > RECORD_VERSION {
            let what = format!("record {}", self.sequence);
            return Err(StoreError::NewerVersion { what, found: self.version, supported: RECORD_VERSION });
        }
        from_binary(bytes).map_err(|detail| StoreError::corrupt(format!("record {}: {detail}", self.sequence)))
    }
}

/// A command in the form in which it is journalled and applied.
pub(crate) struct Prepared {
    pub(crate) command: Command,
    pub(crate) bytes: Vec<u8>,
}

impl Prepared {
    /// Brings a command into the form that reads back as itself: what is applied is what a replay will apply.
    pub(crate) fn new(command: Command) -> Result<Self, StoreError> {
        /// Each reading drops one separator at the end of a location; nobody writes more of them.
        const MOST: u32 = 64;
        let mut prepared = Self { bytes: to_binary(&command)?, command };
        for _ in 0..MOST {
            let again: Command = from_binary(&prepared.bytes).map_err(StoreError::corrupt)?;
            let bytes = to_binary(&again)?;
            if bytes == prepared.bytes {
                return Ok(prepared);
            }
            prepared = Self { command: again, bytes };
        }
        let expected = "a form that reads back as itself".to_string();
        let field = stigmergate_core::error::Field::new("command");
        Err(StoreError::Core(stigmergate_core::error::Error::Value { field, expected }))
    }
}

/// The proposal that a command is about.
pub(crate) fn proposal_id(command: &Command) -> Option<&str> {
    match command {
        Command::Propose(proposal) => Some(&proposal.proposal_id),
        Command::Approve(approve) => Some(&approve.proposal_id),
        Command::Deny(deny) => Some(&deny.proposal_id),
        Command::Observe(observation) => Some(&observation.proposal_id),
        Command::RecordOutcome(report) => about(report),
        Command::Authorize(authorize) => Some(&authorize.proposal_id),
        Command::Conclude(conclude) => about(&conclude.report),
        _ => None,
    }
}

fn about(report: &OutcomeReport) -> Option<&str> {
    match &report.proposal {
        Subject::Id(id) => Some(id),
        Subject::Proposal(proposal) => Some(&proposal.proposal_id),
    }
}

pub(crate) fn to_binary<T: Serialize>(value: &T) -> Result<Vec<u8>, StoreError> {
    postcard::to_allocvec(value).map_err(|error| StoreError::Io { detail: format!("no binary form: {error}") })
}

pub(crate) fn from_binary<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(|error| error.to_string())?;
    if rest.is_empty() { Ok(value) } else { Err(format!("{} bytes too many", rest.len())) }
}
