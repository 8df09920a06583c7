//! What may still be named: the open ends of the lifecycle, and the rules by which an event may take one up.
//!
//! The idea: the ledger that writes and the verification that reads ask this one structure, so they cannot disagree. Every
//! open end is used once: a verdict takes up its proposal, an authorization its EXECUTE verdict or approval, a receipt its
//! authorization, an outcome its receipt. Memory is constant: of each kind the latest [`OPEN`] ends are kept, and the latest
//! [`USED`] that were taken up, so that a second use can be told from an unknown one. An end that was pushed out can no longer
//! be named; of authorizations those that are over go first, of verdicts those that nobody has to answer. A HOLD that ended
//! because nobody answered stays open for one thing: the late approval of a host that had asked the person itself.
//!
//! Several events that belong together are written in a draft: what it changed is noted, and undone when one of them fails.

use super::error::Error;
use super::event::{Body, Event, Link, Time};
use crate::digest::Digest;
use crate::gate::Decision;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// So many ends of each kind are open at most.
pub const OPEN: usize = 4096;

/// So many HOLDs that nobody answered are kept for a late approval.
pub const UNANSWERED: usize = 256;

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
    /// HOLD verdicts that ended because nobody answered.
    pub(super) unanswered: Ends,
    used: BTreeMap<u64, Digest>,
    /// Receipts that were pushed out before their outcome.
    abandoned: u64,
    /// The fingerprint of the key in force: the executor's, unless it signs with its own.
    key: Option<Digest>,
    /// What the draft under way has changed, the first first; `None` outside a draft.
    #[serde(skip)]
    draft: Option<Vec<Change>>,
}

/// The kinds of open ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Proposals,
    Verdicts,
    Approvals,
    Authorizations,
    Receipts,
    Unanswered,
}

/// One change of the open ends, with what undoes it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Put(Which, u64),
    Took(Which, u64, End),
    Used(u64),
    ForgotUsed(u64, Digest),
    Abandoned,
    Key(Option<Digest>),
}

impl Links {
    /// Begins to note changes. Returns whether it is the outermost draft, and where it began.
    pub(super) fn begin_draft(&mut self) -> (bool, usize) {
        match &self.draft {
            Some(changes) => (false, changes.len()),
            None => {
                self.draft = Some(Vec::new());
                (true, 0)
            }
        }
    }

    /// Ends a draft: keeps what it changed, or undoes it.
    pub(super) fn end_draft(&mut self, (outermost, began): (bool, usize), keeps: bool) {
        let Some(mut changes) = self.draft.take() else { return };
        if !keeps {
            changes.drain(began.min(changes.len())..).rev().for_each(|change| self.undo(change));
        }
        self.draft = (!outermost).then_some(changes);
    }

    fn undo(&mut self, change: Change) {
        match change {
            Change::Put(which, number) => drop(self.ends_mut(which).remove(&number)),
            Change::Took(which, number, end) => drop(self.ends_mut(which).insert(number, end)),
            Change::Used(number) => drop(self.used.remove(&number)),
            Change::ForgotUsed(number, leaf) => drop(self.used.insert(number, leaf)),
            Change::Abandoned => self.abandoned = self.abandoned.saturating_sub(1),
            Change::Key(key) => self.key = key,
        }
    }

    fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some(changes) = &mut self.draft {
            changes.push(change());
        }
    }

    const fn ends_mut(&mut self, which: Which) -> &mut Ends {
        match which {
            Which::Proposals => &mut self.proposals,
            Which::Verdicts => &mut self.verdicts,
            Which::Approvals => &mut self.approvals,
            Which::Authorizations => &mut self.authorizations,
            Which::Receipts => &mut self.receipts,
            Which::Unanswered => &mut self.unanswered,
        }
    }

    /// Keeps an end, and tells whether another was pushed out for it.
    fn keep(&mut self, which: Which, sequence: u64, end: End, now: Time) -> bool {
        let ends = self.ends_mut(which);
        let full = ends.len() >= if which == Which::Unanswered { UNANSWERED } else { OPEN };
        if let Some(number) = full.then(|| first_to_go(which, ends, now)).flatten() {
            self.remove(which, number);
        }
        self.ends_mut(which).insert(sequence, end);
        self.note(|| Change::Put(which, sequence));
        full
    }

    fn remove(&mut self, which: Which, number: u64) -> Option<End> {
        let taken = self.ends_mut(which).remove(&number)?;
        self.note(|| Change::Took(which, number, taken.clone()));
        Some(taken)
    }

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
        self.leaf_of_open(link.sequence) == Some(link.leaf)
    }

    fn leaf_of_open(&self, sequence: u64) -> Option<Digest> {
        let Self { proposals, verdicts, approvals, authorizations, receipts, unanswered, .. } = self;
        let all = [proposals, verdicts, approvals, authorizations, receipts, unanswered];
        all.into_iter().find_map(|ends| ends.get(&sequence)).map(|end| end.leaf)
    }

    /// The leaf hash of an event that is open, or remembered as used.
    pub(super) fn remembered(&self, sequence: u64) -> Option<Digest> {
        self.leaf_of_open(sequence).or_else(|| self.used.get(&sequence).copied())
    }

    /// Why an event cannot be taken up, of which only the number is known and that is not an open end of the kind asked for.
    pub(super) fn why_not(&self, sequence: u64) -> Error {
        if self.leaf_of_open(sequence).is_some() {
            Error::unauthorized(sequence, "it is an event of another kind")
        } else if self.used.contains_key(&sequence) {
            Error::Consumed { parent: sequence }
        } else {
            Error::MissingParent { parent: sequence }
        }
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
                let end = self.find(self.answerable(parent, *late), parent, "it awaits no approval")?;
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

    /// Where the verdict is that an approval names: what nobody answered is answered by an execution alone.
    pub(super) fn answerable(&self, parent: &Link, late: bool) -> &Ends {
        if late && self.unanswered.contains_key(&parent.sequence) { &self.unanswered } else { &self.verdicts }
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
            arguments: taken.as_ref().and_then(|end| end.arguments),
            decision: None,
            expires: None,
            late: false,
            executor: None,
        };
        match &event.body {
            Body::Proposal { proposal, arguments, .. } => {
                let end = End { proposal: Some(*proposal), arguments: *arguments, ..end };
                self.keep(Which::Proposals, sequence, end, now);
            }
            Body::GateVerdict { decision, .. } => {
                self.keep(Which::Verdicts, sequence, End { decision: Some(*decision), ..end }, now);
            }
            Body::Approval { arguments, expires, late, .. } => {
                let end = End { arguments: Some(*arguments), expires: Some(*expires), late: *late, ..end };
                self.keep(Which::Approvals, sequence, end, now);
            }
            Body::ExecutionAuthorization { arguments, expires, late, .. } => {
                let end = End { arguments: Some(*arguments), expires: Some(*expires), late: *late, ..end };
                self.keep(Which::Authorizations, sequence, end, now);
            }
            Body::ExecutionReceipt { signer, .. } => {
                let end = End { executor: signer.or(self.key), ..end };
                if self.keep(Which::Receipts, sequence, end, now) {
                    self.abandoned = self.abandoned.saturating_add(1);
                    self.note(|| Change::Abandoned);
                }
            }
            Body::Key { key, .. } => {
                let before = self.key.replace(key.fingerprint());
                self.note(|| Change::Key(before));
            }
            Body::Outcome { .. } | Body::Rejection { .. } | Body::Error { .. } => {}
        }
    }

    /// Takes the end that an event takes up.
    fn take(&mut self, event: &Event) -> Option<End> {
        let number = event.body.parent()?.sequence;
        let taken = match &event.body {
            Body::GateVerdict { .. } => self.remove(Which::Proposals, number),
            Body::Rejection { .. } => self.remove(Which::Verdicts, number),
            Body::Approval { .. } => {
                self.remove(Which::Verdicts, number).or_else(|| self.remove(Which::Unanswered, number))
            }
            Body::ExecutionAuthorization { .. } => {
                self.remove(Which::Approvals, number).or_else(|| self.remove(Which::Verdicts, number))
            }
            Body::ExecutionReceipt { .. } => self.remove(Which::Authorizations, number),
            // An error ends an execution; anything else that it names stays as it was.
            Body::Outcome { .. } | Body::Error { .. } => self.remove(Which::Receipts, number),
            Body::Proposal { .. } | Body::Key { .. } => None,
        }?;
        if matches!(event.body, Body::Rejection { approver: None, .. }) && taken.decision == Some(Decision::Hold) {
            self.keep(Which::Unanswered, number, taken, event.at);
            return None;
        }
        self.used.insert(number, taken.leaf);
        self.note(|| Change::Used(number));
        if self.used.len() > USED
            && let Some((forgotten, leaf)) = self.used.pop_first()
        {
            self.note(|| Change::ForgotUsed(forgotten, leaf));
        }
        Some(taken)
    }
}

/// The end that makes room: of authorizations one that is over, of verdicts one that awaits no person, else the oldest.
fn first_to_go(which: Which, ends: &Ends, now: Time) -> Option<u64> {
    let dispensable = match which {
        Which::Authorizations => over(ends, now),
        Which::Verdicts => ends.iter().find(|(_, end)| end.decision != Some(Decision::Hold)).map(|(number, _)| *number),
        _ => None,
    };
    dispensable.or_else(|| ends.first_key_value().map(|(number, _)| *number))
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
