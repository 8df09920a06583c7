//! The ledger that writes: where the log stands, and the only ways to continue it.
//!
//! The idea: each method takes one step of the [`lifecycle`](super::lifecycle), checks it first, then continues the log with its
//! event; one that fails has changed nothing. The same state and the same call give the same record, byte for byte.

use super::checkpoint::Checkpoint;
use super::envelope::{ClaimKind, SignedClaim};
use super::error::Error;
use super::event::{Body, Event, Link, Nonce, Time, check_actor};
use super::key::{PublicKey, check_name};
use super::lifecycle::{
    Approved, Approving, AttestedOutcome, Authorization, Cleared, Execution, Ground, Held, Judged, Proposed, Receipt,
    Refused, Rejected,
};
use super::links::{End, Ends, Links, OPEN, Rules};
use super::note::Note;
use super::signer::{Signer, Verifier};
use super::tree::{CompactRange, MOST_LEAVES, leaf_hash};
use crate::digest::Digest;
use crate::gate::Decision;
use crate::policy::AttestMode;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What a caller says of an event besides its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The caller's time. An earlier one than the last counts as the last.
    pub at: Time,
    /// Whose event it is.
    pub actor: String,
    /// Random, or the digest of the command: the nonce is derived from it and the event's place.
    pub seed: Digest,
}

impl Stamp {
    /// A stamp.
    #[must_use]
    pub fn new(at: Time, actor: &str, seed: Digest) -> Self {
        Self { at, actor: actor.to_string(), seed }
    }
}

/// An event that was written: keep the record, and the leaf hash for the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The event.
    pub event: Event,
    /// Its bytes.
    pub record: Vec<u8>,
    /// Its leaf hash.
    pub leaf: Digest,
}

/// Where a log stands. It holds no secret: heads are signed by whoever has the key.
///
/// It is part of a snapshot: what it holds is bounded and in one order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    mode: AttestMode,
    rules: Rules,
    origin: String,
    key: PublicKey,
    now: Time,
    tree: CompactRange,
    last: Digest,
    links: Links,
}

impl Ledger {
    /// Begins a log with the event of its first key.
    ///
    /// # Errors
    /// [`Error::AttestationDisabled`] in that mode, [`Error::Value`] for an origin or an actor that cannot be one.
    pub fn begin(
        mode: AttestMode,
        rules: Rules,
        origin: &str,
        key: PublicKey,
        stamp: &Stamp,
    ) -> Result<(Self, Entry), Error> {
        check_name("origin", origin)?;
        let mut ledger = Self {
            mode,
            rules,
            origin: origin.to_string(),
            key: key.clone(),
            now: 0,
            tree: CompactRange::default(),
            last: Digest::default(),
            links: Links::default(),
        };
        let entry = ledger.write(stamp, Body::Key { key, endorsement: None })?;
        Ok((ledger, entry))
    }

    /// The log's identity.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// How many events there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.tree.size()
    }

    /// The key in force.
    #[must_use]
    pub const fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Whether acts need attestation.
    #[must_use]
    pub const fn mode(&self) -> AttestMode {
        self.mode
    }

    /// How many executions have no outcome yet.
    #[must_use]
    pub fn incomplete(&self) -> u64 {
        self.links.incomplete()
    }

    /// Takes over another policy's mode and rules.
    pub const fn set_policy(&mut self, mode: AttestMode, rules: Rules) {
        self.mode = mode;
        self.rules = rules;
    }

    /// Whether an outcome that names no receipt is accepted.
    ///
    /// # Errors
    /// [`Error::AttestationRequired`] where only the linked outcome is.
    pub const fn check_ordinary_outcome(&self) -> Result<(), Error> {
        if matches!(self.mode, AttestMode::Required) { Err(Error::AttestationRequired) } else { Ok(()) }
    }

    /// The head: what a signature is of, and what somebody should keep elsewhere.
    #[must_use]
    pub fn head(&self) -> Checkpoint {
        Checkpoint {
            origin: self.origin.clone(),
            size: self.tree.size(),
            root: self.tree.root(),
            extensions: Vec::new(),
        }
    }

    /// The signed head.
    ///
    /// # Errors
    /// [`Error::BadSignature`] for another key than the one in force, and what the signer says.
    pub fn sign_head(&self, signer: &dyn Signer) -> Result<Note, Error> {
        self.check_key(signer.public())?;
        self.head().sign(&[signer])
    }

    fn check_key(&self, key: &PublicKey) -> Result<(), Error> {
        if *key == self.key { Ok(()) } else { Err(Error::bad_signature(key, "another key is in force")) }
    }

    /// The event that a stamp and a body would become.
    fn draft(&self, stamp: &Stamp, body: Body) -> Result<Event, Error> {
        if self.mode == AttestMode::Disabled {
            return Err(Error::AttestationDisabled);
        }
        let sequence = self.tree.size();
        if sequence >= MOST_LEAVES {
            return Err(Error::Full { what: "ledger".to_string(), limit: MOST_LEAVES });
        }
        check_actor(&stamp.actor)?;
        Ok(Event {
            log: self.origin.clone(),
            sequence,
            at: stamp.at.max(self.now),
            actor: stamp.actor.clone(),
            nonce: Nonce::derive(&stamp.seed, &self.origin, sequence),
            previous: (sequence > 0).then_some(self.last),
            body,
        })
    }

    /// Checks an event, then continues the log with it.
    fn write(&mut self, stamp: &Stamp, body: Body) -> Result<Entry, Error> {
        let event = self.draft(stamp, body)?;
        self.append(event)
    }

    fn append(&mut self, event: Event) -> Result<Entry, Error> {
        self.links.check(&event, self.rules)?;
        let record = event.record()?;
        let leaf = leaf_hash(&record);
        self.tree.append(leaf);
        self.links.apply(&event, leaf);
        self.last = leaf;
        self.now = event.at;
        Ok(Entry { event, record, leaf })
    }

    /// Records a proposal. The stamp's actor is the agent, to which an authorization will be bound.
    ///
    /// # Errors
    /// As for every event: [`Error::AttestationDisabled`], [`Error::Value`] and [`Error::TooLong`] for a stamp outside its bounds,
    /// [`Error::Full`] at the end of all numbers.
    pub fn record_proposal(
        &mut self,
        stamp: &Stamp,
        proposal: Digest,
        arguments: Option<Digest>,
        policy: Option<Digest>,
    ) -> Result<(Proposed, Entry), Error> {
        let entry = self.write(stamp, Body::Proposal { proposal, arguments, policy })?;
        Ok((Proposed(link(&entry)), entry))
    }

    /// Records the verdict on a proposal.
    ///
    /// # Errors
    /// [`Error::WrongDigest`] when another proposal was judged, [`Error::Consumed`] and [`Error::MissingParent`].
    pub fn record_verdict(
        &mut self,
        stamp: &Stamp,
        proposed: Proposed,
        proposal: Digest,
        verdict: Digest,
        decision: Decision,
        policy: Option<Digest>,
    ) -> Result<(Judged, Entry), Error> {
        let body = Body::GateVerdict { parent: proposed.0, proposal, verdict, decision, policy };
        let entry = self.write(stamp, body)?;
        let link = link(&entry);
        let judged = match decision {
            Decision::Execute => Judged::Cleared(Cleared(link)),
            Decision::Hold => Judged::Held(Held(link)),
            Decision::Refuse => Judged::Refused(Refused(link)),
        };
        Ok((judged, entry))
    }

    /// Records a person's approval of a HOLD.
    ///
    /// # Errors
    /// [`Error::WrongDigest`] for anything but what was judged, [`Error::Expired`] for a time that has passed,
    /// [`Error::Consumed`] and [`Error::MissingParent`].
    pub fn approve(&mut self, stamp: &Stamp, held: Held, approving: Approving) -> Result<(Approved, Entry), Error> {
        self.write_approval(stamp, held, approving, false)
    }

    fn write_approval(
        &mut self,
        stamp: &Stamp,
        held: Held,
        approving: Approving,
        late: bool,
    ) -> Result<(Approved, Entry), Error> {
        let Approving { arguments, approver, expires } = approving;
        let entry = self.write(stamp, Body::Approval { parent: held.0, arguments, approver, expires, late })?;
        Ok((Approved(link(&entry)), entry))
    }

    /// Authorizes one execution by the stamp's actor of what the digest is of, to be started by `expires`.
    ///
    /// # Errors
    /// [`Error::WrongActor`] for anybody but the proposer, [`Error::WrongDigest`] for anything but what was judged or approved,
    /// [`Error::Expired`] for an approval or a time that has passed, [`Error::Full`] when 4096 are open, [`Error::Consumed`] and
    /// [`Error::MissingParent`].
    pub fn authorize(
        &mut self,
        stamp: &Stamp,
        ground: impl Into<Ground>,
        arguments: Digest,
        expires: Time,
    ) -> Result<(Authorization, Entry), Error> {
        self.write_authorization(stamp, ground.into(), arguments, expires, false)
    }

    fn write_authorization(
        &mut self,
        stamp: &Stamp,
        ground: Ground,
        arguments: Digest,
        expires: Time,
        late: bool,
    ) -> Result<(Authorization, Entry), Error> {
        if !self.links.has_room(stamp.at.max(self.now)) {
            return Err(Error::Full { what: "open authorizations".to_string(), limit: OPEN as u64 });
        }
        let parent = match ground {
            Ground::Cleared(Cleared(link)) | Ground::Approved(Approved(link)) => link,
        };
        let entry = self.write(stamp, Body::ExecutionAuthorization { parent, arguments, expires, late })?;
        Ok((Authorization(link(&entry)), entry))
    }

    /// Records an execution by the stamp's actor, with the executor's own signature where it has one.
    ///
    /// # Errors
    /// [`Error::WrongActor`], [`Error::WrongDigest`] and [`Error::Expired`] for what was not authorized, [`Error::Consumed`] and
    /// [`Error::MissingParent`], [`Error::UnauthorizedLink`] for a signature of something else.
    pub fn record_receipt(
        &mut self,
        stamp: &Stamp,
        authorization: Authorization,
        execution: Execution,
        signed: Option<&SignedClaim>,
    ) -> Result<(Receipt, Entry), Error> {
        self.write_receipt(stamp, authorization, execution, signed, false)
    }

    fn write_receipt(
        &mut self,
        stamp: &Stamp,
        authorization: Authorization,
        execution: Execution,
        signed: Option<&SignedClaim>,
        late: bool,
    ) -> Result<(Receipt, Entry), Error> {
        let (parent, Execution { arguments, receipt, started }) = (authorization.0, execution);
        let authorized = self.links.find(&self.links.authorizations, &parent, "it is no authorization")?.at;
        let started = started.unwrap_or(authorized);
        let signer = self.signer_of(signed, ClaimKind::Receipt, &parent, &receipt)?;
        let entry = self.write(stamp, Body::ExecutionReceipt { parent, arguments, receipt, started, signer, late })?;
        Ok((Receipt(link(&entry)), entry))
    }

    /// Records what became of an execution, with the observer's signature where there is one.
    ///
    /// # Errors
    /// [`Error::ObserverMissing`] and [`Error::ObserverIsExecutor`] where the policy wants an independent observer,
    /// [`Error::UnauthorizedLink`] for a signature of something else, [`Error::Consumed`] and [`Error::MissingParent`].
    pub fn record_outcome(
        &mut self,
        stamp: &Stamp,
        receipt: Receipt,
        outcome: Digest,
        signed: Option<&SignedClaim>,
    ) -> Result<(AttestedOutcome, Entry), Error> {
        let parent = receipt.0;
        let signer = self.signer_of(signed, ClaimKind::Outcome, &parent, &outcome)?;
        let entry = self.write(stamp, Body::Outcome { parent, outcome, signer })?;
        Ok((AttestedOutcome(link(&entry)), entry))
    }

    /// The key of a claim, if it is of this log, this event and these contents.
    fn signer_of(
        &self,
        signed: Option<&SignedClaim>,
        kind: ClaimKind,
        parent: &Link,
        content: &Digest,
    ) -> Result<Option<Digest>, Error> {
        let Some(signed) = signed else { return Ok(None) };
        let claim = signed.claim();
        if claim.kind != kind || claim.log != self.origin || claim.parent != parent.leaf {
            return Err(Error::unauthorized(parent.sequence, "the signature is of an answer to another event"));
        }
        if claim.content != *content {
            return Err(Error::WrongDigest { expected: claim.content, found: *content });
        }
        Ok(Some(*signed.key()))
    }

    /// Records approval, authorization and receipt of an execution whose approval is known from nothing else, all marked late:
    /// a host asked the person itself. All three are written, or none.
    ///
    /// # Errors
    /// [`Error::LateNotAllowed`] where the policy wants them before, and as the three steps.
    pub fn approve_late(
        &mut self,
        stamp: &Stamp,
        held: Held,
        approver: Digest,
        execution: Execution,
    ) -> Result<(Receipt, [Entry; 3]), Error> {
        self.all_or_none(|draft| {
            // What is written after the fact is over at once.
            let expires = stamp.at.max(draft.now);
            let approving = Approving { arguments: execution.arguments, approver, expires };
            let executor = draft.actor_of(draft.links.answerable(&held.0, true), &held.0)?;
            let executor = Stamp { actor: executor, ..stamp.clone() };
            let (approved, first) = draft.write_approval(stamp, held, approving, true)?;
            let (receipt, [second, third]) = draft.authorize_late(&executor, approved, execution)?;
            Ok((receipt, [first, second, third]))
        })
    }

    /// Records authorization and receipt of an execution by the stamp's actor that nobody had asked leave for, although its ground
    /// stood: an EXECUTE verdict, or an approval. Both are marked late; both are written, or none.
    ///
    /// # Errors
    /// [`Error::LateNotAllowed`] where the policy wants them before, and as the two steps.
    pub fn authorize_late(
        &mut self,
        stamp: &Stamp,
        ground: impl Into<Ground>,
        execution: Execution,
    ) -> Result<(Receipt, [Entry; 2]), Error> {
        self.all_or_none(|draft| {
            let expires = stamp.at.max(draft.now);
            let (authorization, first) =
                draft.write_authorization(stamp, ground.into(), execution.arguments, expires, true)?;
            let (receipt, second) = draft.write_receipt(stamp, authorization, execution, None, true)?;
            Ok((receipt, [first, second]))
        })
    }

    /// Takes several steps: all of them, or none.
    ///
    /// # Errors
    /// What `steps` says; the log is then as it was.
    pub fn all_or_none<T, E>(&mut self, steps: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        let before = (self.key.clone(), self.now, self.tree.clone(), self.last);
        let draft = self.links.begin_draft();
        let result = steps(self);
        self.links.end_draft(draft, result.is_ok());
        if result.is_err() {
            (self.key, self.now, self.tree, self.last) = before;
        }
        result
    }

    fn actor_of(&self, ends: &Ends, link: &Link) -> Result<String, Error> {
        self.links.find(ends, link, "it is no verdict").map(|end| end.actor.clone())
    }

    /// Records that a HOLD was denied or not answered, or that a REFUSE is final.
    ///
    /// # Errors
    /// [`Error::Consumed`] and [`Error::MissingParent`].
    pub fn reject(
        &mut self,
        stamp: &Stamp,
        rejected: impl Into<Rejected>,
        approver: Option<Digest>,
        reason: Option<Digest>,
    ) -> Result<Entry, Error> {
        let parent = match rejected.into() {
            Rejected::Held(Held(link)) | Rejected::Refused(Refused(link)) => link,
        };
        self.write(stamp, Body::Rejection { parent, approver, reason })
    }

    /// Records an incident: something failed, or ran that should not have. Naming a receipt, it ends that execution.
    ///
    /// # Errors
    /// [`Error::MissingParent`] for an event that is not known or too old.
    pub fn record_error(&mut self, stamp: &Stamp, about: Option<Link>, detail: Digest) -> Result<Entry, Error> {
        self.write(stamp, Body::Error { parent: about, detail })
    }

    /// What the key in force must sign for another to take its place.
    ///
    /// # Errors
    /// As for every event.
    pub fn rotation_message(&self, stamp: &Stamp, new: &PublicKey) -> Result<Vec<u8>, Error> {
        self.draft(stamp, Body::Key { key: new.clone(), endorsement: None })?.rotation_message()
    }

    /// Puts another key in force. `endorsement` is the old key's signature of [`Ledger::rotation_message`] with the same stamp;
    /// every head from here on needs the new key.
    ///
    /// # Errors
    /// [`Error::BadSignature`] unless the key in force has signed this.
    pub fn rotate(
        &mut self,
        stamp: &Stamp,
        new: PublicKey,
        endorsement: Vec<u8>,
        old: &dyn Verifier,
    ) -> Result<Entry, Error> {
        self.check_key(old.public())?;
        let event = self.draft(stamp, Body::Key { key: new.clone(), endorsement: Some(endorsement.clone()) })?;
        old.verify(&event.rotation_message()?, &endorsement)?;
        let entry = self.append(event)?;
        self.key = new;
        Ok(entry)
    }

    /// A proposal that awaits its verdict, by its event's number: for whoever continues in another process.
    ///
    /// # Errors
    /// [`Error::Consumed`] where it was used, [`Error::UnauthorizedLink`] where the event is of another kind, [`Error::MissingParent`].
    pub fn proposed(&self, sequence: u64) -> Result<Proposed, Error> {
        self.named(&self.links.proposals, sequence).map(|(link, _)| Proposed(link))
    }

    /// A verdict that nobody has used, by its event's number. Of a HOLD that nobody answered only [`Ledger::approve_late`] may follow.
    ///
    /// # Errors
    /// [`Error::Consumed`] where it was used, [`Error::UnauthorizedLink`] where the event is of another kind, [`Error::MissingParent`].
    pub fn judged(&self, sequence: u64) -> Result<Judged, Error> {
        let ends = [&self.links.verdicts, &self.links.unanswered].into_iter().find(|ends| ends.contains_key(&sequence));
        let (link, end) = self.named(ends.unwrap_or(&self.links.verdicts), sequence)?;
        match end.decision {
            Some(Decision::Execute) => Ok(Judged::Cleared(Cleared(link))),
            Some(Decision::Hold) => Ok(Judged::Held(Held(link))),
            Some(Decision::Refuse) => Ok(Judged::Refused(Refused(link))),
            None => Err(Error::MissingParent { parent: sequence }),
        }
    }

    /// An approval that nobody has used, by its event's number.
    ///
    /// # Errors
    /// [`Error::Consumed`] where it was used, [`Error::UnauthorizedLink`] where the event is of another kind, [`Error::MissingParent`].
    pub fn approved(&self, sequence: u64) -> Result<Approved, Error> {
        self.named(&self.links.approvals, sequence).map(|(link, _)| Approved(link))
    }

    /// An authorization that nobody has used, by its event's number.
    ///
    /// # Errors
    /// [`Error::Consumed`] where it was used, [`Error::UnauthorizedLink`] where the event is of another kind, [`Error::MissingParent`].
    pub fn authorization(&self, sequence: u64) -> Result<Authorization, Error> {
        self.named(&self.links.authorizations, sequence).map(|(link, _)| Authorization(link))
    }

    /// The oldest authorization of an actor for what the digest is of that is not used and not over.
    #[must_use]
    pub fn find_authorization(&self, actor: &str, arguments: &Digest, now: Time) -> Option<Authorization> {
        let fits = |end: &End| {
            end.actor == actor
                && end.arguments.as_ref() == Some(arguments)
                && end.expires.is_some_and(|expires| now <= expires)
        };
        let found = self.links.authorizations.iter().find(|(_, end)| fits(end));
        found.map(|(sequence, end)| Authorization(Link { sequence: *sequence, leaf: end.leaf }))
    }

    /// A receipt whose outcome is not known, by its event's number.
    ///
    /// # Errors
    /// [`Error::Consumed`] where it was used, [`Error::UnauthorizedLink`] where the event is of another kind, [`Error::MissingParent`].
    pub fn receipt(&self, sequence: u64) -> Result<Receipt, Error> {
        self.named(&self.links.receipts, sequence).map(|(link, _)| Receipt(link))
    }

    /// A receipt whose outcome is not known, if it is of an execution by this actor of what the digest is of.
    ///
    /// # Errors
    /// [`Error::Consumed`] where its outcome is known, [`Error::MissingParent`] where no such end is open, [`Error::WrongActor`] and
    /// [`Error::WrongDigest`].
    pub fn receipt_of(&self, sequence: u64, actor: &str, arguments: &Digest) -> Result<Receipt, Error> {
        let (link, end) = self.named(&self.links.receipts, sequence)?;
        if end.actor != actor {
            return Err(Error::WrongActor { expected: end.actor.clone(), found: actor.to_string() });
        }
        match end.arguments {
            Some(executed) if executed != *arguments => {
                Err(Error::WrongDigest { expected: executed, found: *arguments })
            }
            _ => Ok(Receipt(link)),
        }
    }

    /// An end by its number alone, or whether it was used or is of another kind.
    fn named<'a>(&'a self, ends: &'a Ends, sequence: u64) -> Result<(Link, &'a End), Error> {
        match open(ends, sequence) {
            Err(_) => Err(self.links.why_not(sequence)),
            found => found,
        }
    }

    /// An event by its number, as long as it is remembered: for an error that is about it.
    #[must_use]
    pub fn find(&self, sequence: u64) -> Option<Link> {
        self.links.remembered(sequence).map(|leaf| Link { sequence, leaf })
    }
}

const fn link(entry: &Entry) -> Link {
    Link { sequence: entry.event.sequence, leaf: entry.leaf }
}

fn open(ends: &Ends, sequence: u64) -> Result<(Link, &End), Error> {
    let end = ends.get(&sequence).ok_or(Error::MissingParent { parent: sequence })?;
    Ok((Link { sequence, leaf: end.leaf }, end))
}
