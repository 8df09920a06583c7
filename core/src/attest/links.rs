//! What may still be named: the open ends of the lifecycle, and the rules by which an event may take one up.
//!
//! The idea: the ledger that writes and the verification that reads ask this one structure, so they cannot disagree. Every
//! open end is used once: a verdict takes up its proposal, an authorization its EXECUTE verdict or approval, a receipt its
//! authorization, an outcome its receipt. Memory is constant: of each kind the latest [`OPEN`] ends are kept, and the latest
//! [`USED`] that were taken up, so that a second use can be told from an unknown one. An end that was pushed out can no longer
//! be named; of authorizations those that are over go first.

use super::error::Error;
use super::event::{Body, Event, Link, Time};
use crate::digest::Digest;
use crate::gate::Decision;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// So many ends of each kind are open at most.
pub const OPEN: usize = 4096;

/// So many ends that were taken up are remembered.
pub const USED: usize = 1024;

/// What the policy allows and asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Approvals, authorizations and receipts may be written after the execution, marked `late`.
    pub late: bool,
    /// An outcome needs the signature of a key other than the executor's.
    pub independent_observer: bool,
}

impl Rules {
    /// What any ledger may hold.
    pub const ANY: Self = Self { late: true, independent_observer: false };
}

/// An open end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) leaf: Digest,
    pub(super) at: Time,
    /// Who proposed; nobody else is authorized or executes.
    pub(super) actor: String,
    /// Of the proposal, while a verdict is awaited.
    proposal: Option<Digest>,
    /// Of what will run, as soon as it is known.
    pub(super) arguments: Option<Digest>,
    /// What the verdict says.
    pub(super) decision: Option<Decision>,
    /// When an approval or an authorization ends.
    pub(super) expires: Option<Time>,
    late: bool,
    /// The fingerprint of the executor's key.
    executor: Option<Digest>,
}

pub(super) type Ends = BTreeMap<u64, End>;

/// All open ends, by the number of their event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Links {
    pub(super) proposals: Ends,
    pub(super) verdicts: Ends,
    pub(super) approvals: Ends,
    pub(super) authorizations: Ends,
    pub(super) receipts: Ends,
    used: BTreeMap<u64, Digest>,
    /// Receipts that were pushed out before their outcome.
    abandoned: u64,
    /// The fingerprint of the key in force: the executor's, unless it signs with its own.
    key: Option<Digest>,
}

impl Links {
    /// Executions without an outcome.
    pub(super) fn incomplete(&self) -> u64 {
        self.abandoned.saturating_add(self.receipts.len() as u64)
    }

    /// Whether another authorization fits without pushing out one that is not over.
    pub(super) fn has_room(&self, now: Time) -> bool {
        self.authorizations.len() < OPEN || over(&self.authorizations, now).is_some()
    }

    /// The end that a link names, among those of one kind.
    ///
    /// # Errors
    /// [`Error::Consumed`] where it was taken up, [`Error::UnauthorizedLink`] where the event is of another kind,
    /// [`Error::MissingParent`] where there is no such event or it was pushed out.
    pub(super) fn find<'a>(&'a self, ends: &'a Ends, link: &Link, expected: &str) -> Result<&'a End, Error> {
        if let Some(end) = ends.get(&link.sequence).filter(|end| end.leaf == link.leaf) {
            return Ok(end);
        }
        if self.used.get(&link.sequence) == Some(&link.leaf) {
            return Err(Error::Consumed { parent: link.sequence });
        }
        if self.open(link) {
            return Err(Error::unauthorized(link.sequence, expected));
        }
        Err(Error::MissingParent { parent: link.sequence })
    }

    fn open(&self, link: &Link) -> bool {
        let all = [&self.proposals, &self.verdicts, &self.approvals, &self.authorizations, &self.receipts];
        all.into_iter().any(|ends| ends.get(&link.sequence).is_some_and(|end| end.leaf == link.leaf))
    }

    /// Whether an event may be taken up into the log as it stands.
    ///
    /// # Errors
    /// What is wrong with its link.
    pub(super) fn check(&self, event: &Event, rules: Rules) -> Result<(), Error> {
        match &event.body {
            Body::Proposal { .. } | Body::Key { .. } | Body::Error { parent: None, .. } => Ok(()),
            Body::GateVerdict { parent, proposal, .. } => {
                let end = self.find(&self.proposals, parent, "it is no proposal")?;
                after(event, parent, end)?;
                same(end.proposal.as_ref(), proposal)
            }
            Body::Approval { parent, arguments, expires, late, .. } => {
                let end = self.find(&self.verdicts, parent, "it is no verdict")?;
                after(event, parent, end)?;
                decided(parent, end, Decision::Hold)?;
                same(end.arguments.as_ref(), arguments)?;
                in_time(event.sequence, *expires, event.at)?;
                allowed(*late, rules)
            }
            Body::ExecutionAuthorization { parent, arguments, expires, late } => {
                self.check_ground(event, parent, *late)?;
                let end = self.find(self.grounds(parent), parent, "it is neither a verdict nor an approval")?;
                same_actor(end, event)?;
                same(end.arguments.as_ref(), arguments)?;
                in_time(event.sequence, *expires, event.at)?;
                allowed(*late, rules)
            }
            Body::ExecutionReceipt { parent, arguments, started, late, .. } => {
                let end = self.find(&self.authorizations, parent, "it is no authorization")?;
                after(event, parent, end)?;
                same_actor(end, event)?;
                same(end.arguments.as_ref(), arguments)?;
                run_in_time(event, parent, end, *started)?;
                if end.late != *late {
                    return Err(Error::unauthorized(parent.sequence, "one of the two is late"));
                }
                allowed(*late, rules)
            }
            Body::Outcome { parent, signer, .. } => {
                let end = self.find(&self.receipts, parent, "it is no receipt")?;
                after(event, parent, end)?;
                if rules.independent_observer { independent(end, signer.as_ref()) } else { Ok(()) }
            }
            Body::Rejection { parent, .. } => {
                let end = self.find(&self.verdicts, parent, "it is no verdict")?;
                after(event, parent, end)?;
                let executes = end.decision == Some(Decision::Execute);
                if executes { Err(Error::unauthorized(parent.sequence, "its decision is execute")) } else { Ok(()) }
            }
            Body::Error { parent: Some(parent), .. } => {
                let known = self.open(parent) || self.used.get(&parent.sequence) == Some(&parent.leaf);
                if known { Ok(()) } else { Err(Error::MissingParent { parent: parent.sequence }) }
            }
        }
    }

    /// Where the end is that an authorization names.
    fn grounds(&self, parent: &Link) -> &Ends {
        if self.approvals.contains_key(&parent.sequence) { &self.approvals } else { &self.verdicts }
    }

    /// An authorization stands on an EXECUTE verdict, or on an approval that is not over.
    fn check_ground(&self, event: &Event, parent: &Link, late: bool) -> Result<(), Error> {
        let end = self.find(self.grounds(parent), parent, "it is neither a verdict nor an approval")?;
        after(event, parent, end)?;
        match end.expires {
            Some(expires) => in_time(parent.sequence, expires, event.at)?,
            None => decided(parent, end, Decision::Execute)?,
        }
        if end.late && !late {
            return Err(Error::unauthorized(parent.sequence, "its approval is late"));
        }
        Ok(())
    }

    /// Takes up an event that [`Links::check`] has let through.
    pub(super) fn apply(&mut self, event: &Event, leaf: Digest) {
        let taken = self.take(event);
        let (sequence, now) = (event.sequence, event.at);
        let end = End {
            leaf,
            at: now,
            actor: taken.as_ref().map_or_else(|| event.actor.clone(), |end| end.actor.clone()),
            proposal: None,
            arguments: taken.and_then(|end| end.arguments),
            decision: None,
            expires: None,
            late: false,
            executor: None,
        };
        match &event.body {
            Body::Proposal { proposal, arguments, .. } => {
                keep(&mut self.proposals, sequence, End { proposal: Some(*proposal), arguments: *arguments, ..end });
            }
            Body::GateVerdict { decision, .. } => {
                keep(&mut self.verdicts, sequence, End { decision: Some(*decision), ..end });
            }
            Body::Approval { arguments, expires, late, .. } => {
                let end = End { arguments: Some(*arguments), expires: Some(*expires), late: *late, ..end };
                keep(&mut self.approvals, sequence, end);
            }
            Body::ExecutionAuthorization { arguments, expires, late, .. } => {
                if self.authorizations.len() >= OPEN
                    && let Some(number) = over(&self.authorizations, now)
                {
                    self.authorizations.remove(&number);
                }
                let end = End { arguments: Some(*arguments), expires: Some(*expires), late: *late, ..end };
                keep(&mut self.authorizations, sequence, end);
            }
            Body::ExecutionReceipt { signer, .. } => {
                let end = End { executor: signer.or(self.key), ..end };
                let pushed_out = keep(&mut self.receipts, sequence, end);
                self.abandoned = self.abandoned.saturating_add(u64::from(pushed_out));
            }
            Body::Key { key, .. } => self.key = Some(key.fingerprint()),
            Body::Outcome { .. } | Body::Rejection { .. } | Body::Error { .. } => {}
        }
    }

    /// Takes the end that an event takes up.
    fn take(&mut self, event: &Event) -> Option<End> {
        let number = event.body.parent()?.sequence;
        let taken = match &event.body {
            Body::GateVerdict { .. } => self.proposals.remove(&number),
            Body::Approval { .. } | Body::Rejection { .. } => self.verdicts.remove(&number),
            Body::ExecutionAuthorization { .. } => {
                self.approvals.remove(&number).or_else(|| self.verdicts.remove(&number))
            }
            Body::ExecutionReceipt { .. } => self.authorizations.remove(&number),
            // An error ends an execution; anything else that it names stays as it was.
            Body::Outcome { .. } | Body::Error { .. } => self.receipts.remove(&number),
            Body::Proposal { .. } | Body::Key { .. } => None,
        }?;
        self.used.insert(number, taken.leaf);
        if self.used.len() > USED {
            self.used.pop_first();
        }
        Some(taken)
    }
}

/// Keeps an end, and tells whether the oldest was pushed out for it.
fn keep(ends: &mut Ends, sequence: u64, end: End) -> bool {
    let full = ends.len() >= OPEN;
    if full {
        ends.pop_first();
    }
    ends.insert(sequence, end);
    full
}

/// An end that is over.
fn over(ends: &Ends, now: Time) -> Option<u64> {
    ends.iter().find(|(_, end)| end.expires.is_some_and(|expires| expires < now)).map(|(number, _)| *number)
}

fn after(event: &Event, parent: &Link, end: &End) -> Result<(), Error> {
    if event.at >= end.at {
        Ok(())
    } else {
        Err(Error::unauthorized(parent.sequence, "it is later than what it causes"))
    }
}

fn decided(parent: &Link, end: &End, decision: Decision) -> Result<(), Error> {
    if end.decision == Some(decision) {
        return Ok(());
    }
    let found = end.decision.map_or("none", Decision::as_str);
    Err(Error::unauthorized(parent.sequence, &alloc::format!("its decision is {found}, not {}", decision.as_str())))
}

fn same(expected: Option<&Digest>, found: &Digest) -> Result<(), Error> {
    match expected {
        Some(expected) if expected != found => Err(Error::WrongDigest { expected: *expected, found: *found }),
        _ => Ok(()),
    }
}

fn same_actor(end: &End, event: &Event) -> Result<(), Error> {
    if end.actor == event.actor {
        return Ok(());
    }
    Err(Error::WrongActor { expected: end.actor.to_string(), found: event.actor.to_string() })
}

/// An execution is started between its authorization, unless that is late, and the authorization's end.
fn run_in_time(event: &Event, parent: &Link, end: &End, started: Time) -> Result<(), Error> {
    if started > event.at || (started < end.at && !end.late) {
        return Err(Error::unauthorized(parent.sequence, "it was started before, or is yet to be started"));
    }
    in_time(parent.sequence, end.expires.unwrap_or(0), started)
}

fn in_time(parent: u64, expires: Time, at: Time) -> Result<(), Error> {
    if at <= expires { Ok(()) } else { Err(Error::Expired { parent, expires, at }) }
}

const fn allowed(late: bool, rules: Rules) -> Result<(), Error> {
    if late && !rules.late { Err(Error::LateNotAllowed) } else { Ok(()) }
}

fn independent(end: &End, signer: Option<&Digest>) -> Result<(), Error> {
    match signer {
        None => Err(Error::ObserverMissing),
        Some(signer) if end.executor.as_ref() == Some(signer) => Err(Error::ObserverIsExecutor),
        Some(_) => Ok(()),
    }
}
