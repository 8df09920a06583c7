//! What the kernel writes to the signed ledger, command by command (SPEC 9, 10.k).
//!
//! The idea: a command first writes its events, all of them or none, and only then changes anything else; so one that the ledger
//! refuses has changed nothing. Which events belong to a proposal is kept beside it in a [`Lifecycle`]. Without a ledger, and where
//! the policy attests nothing, nothing here costs anything.

use super::command::{Approve, Deny, Observation, OutcomeReport, Time};
use super::judge::{Judgement, bound_to};
use super::proposals::{Record, State};
use super::{Clock, Kernel};
use crate::attest;
use crate::attest::canonical::LARGEST;
use crate::attest::ledger::{Entry, Ledger, Stamp};
use crate::attest::lifecycle::{Approving, Execution, Ground, Judged, Receipt};
use crate::digest::Digest;
use crate::error::Error;
use crate::policy::AttestMode;
use crate::proposal::{GATE, HOST, Proposal};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The events of a proposal, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifecycle {
    /// It was proposed.
    pub proposal: u64,
    /// It was judged.
    pub verdict: u64,
    /// The approval that it stands on: of this proposal, or of the HOLD that it tries again.
    pub approval: Option<u64>,
    /// It was authorized.
    pub authorization: Option<u64>,
    /// It was executed.
    pub receipt: Option<u64>,
    /// Its outcome.
    pub outcome: Option<u64>,
    /// It was denied, or nobody answered.
    pub rejection: Option<u64>,
    /// It ran although it should not have, or otherwise than was recorded.
    pub error: Option<u64>,
}

/// How far a proposal has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// There is a verdict.
    Judged,
    /// A person approved.
    Approved,
    /// It may be executed.
    Authorized,
    /// It was executed.
    Executed,
    /// Its outcome is known.
    Concluded,
    /// It was denied, or nobody answered.
    Rejected,
    /// It ran without leave.
    Incident,
}

impl Stage {
    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Judged => "judged",
            Self::Approved => "approved",
            Self::Authorized => "authorized",
            Self::Executed => "executed",
            Self::Concluded => "concluded",
            Self::Rejected => "rejected",
            Self::Incident => "incident",
        }
    }
}

impl Lifecycle {
    /// How far it has come.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        match self {
            Self { error: Some(_), .. } => Stage::Incident,
            Self { outcome: Some(_), .. } => Stage::Concluded,
            Self { receipt: Some(_), .. } => Stage::Executed,
            Self { authorization: Some(_), .. } => Stage::Authorized,
            Self { rejection: Some(_), .. } => Stage::Rejected,
            Self { approval: Some(_), .. } => Stage::Approved,
            _ => Stage::Judged,
        }
    }

    /// The event that an authorization names: the approval where there is one, and then nothing else.
    pub(super) const fn ground(&self) -> u64 {
        match self.approval {
            Some(approval) => approval,
            None => self.verdict,
        }
    }
}

/// The ledger, and which of its events belong to the remembered proposals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Attestation {
    ledger: Ledger,
    lives: BTreeMap<Arc<str>, Lifecycle>,
    /// The proposals of authorizations that nobody has used and of receipts without an outcome.
    #[serde(skip)]
    open: BTreeMap<u64, Arc<str>>,
}

impl Attestation {
    pub(super) const fn new(ledger: Ledger) -> Self {
        Self { ledger, lives: BTreeMap::new(), open: BTreeMap::new() }
    }

    /// A restored one, if it fits the remembered proposals.
    pub(super) fn restored(mut self, kernel: &Kernel) -> Option<Self> {
        let size = self.ledger.size();
        let fits = |(id, life): (&Arc<str>, &Lifecycle)| {
            let Lifecycle { proposal, verdict, approval, authorization, receipt, outcome, rejection, error } = *life;
            let numbers = [Some(proposal), Some(verdict), approval, authorization, receipt, outcome, rejection, error];
            kernel.proposals.get(id).is_some() && numbers.into_iter().flatten().all(|number| number < size)
        };
        if size == 0 || !self.lives.iter().all(fits) {
            return None;
        }
        self.open = self.lives.iter().filter_map(|(id, life)| Some((open_end(life)?, id.clone()))).collect();
        let attest = &kernel.policy.attest;
        self.ledger.set_policy(attest.mode, attest.rules());
        Some(self)
    }

    fn live(&mut self, id: &str, life: Lifecycle) {
        let key = self.lives.get_key_value(id).map_or_else(|| Arc::from(id), |(key, _)| key.clone());
        if let Some(before) = self.lives.insert(key.clone(), life).as_ref().and_then(open_end) {
            self.open.remove(&before);
        }
        if let Some(number) = open_end(&life) {
            self.open.insert(number, key);
        }
    }

    fn forget(&mut self, id: &str) {
        if let Some(number) = self.lives.remove(id).as_ref().and_then(open_end) {
            self.open.remove(&number);
        }
    }
}

/// The event that is still to be answered: an authorization by its receipt, a receipt by its outcome.
const fn open_end(life: &Lifecycle) -> Option<u64> {
    match life {
        Lifecycle { outcome: Some(_), .. } => None,
        Lifecycle { receipt: Some(receipt), .. } => Some(*receipt),
        _ => life.authorization,
    }
}

/// The events of one command, as they are written.
pub(super) struct Draft<'l> {
    pub(super) ledger: &'l mut Ledger,
    now: Time,
    seed: Digest,
    entries: Vec<Entry>,
}

impl Draft<'_> {
    pub(super) fn stamp(&self, actor: &str) -> Stamp {
        Stamp::new(self.now, actor, self.seed)
    }

    /// Keeps an event and tells its number.
    pub(super) fn keep(&mut self, entry: Entry) -> u64 {
        let number = entry.event.sequence;
        self.entries.push(entry);
        number
    }

    /// Takes steps: all of them, or none.
    fn attempt<T>(
        &mut self,
        steps: impl FnOnce(&mut Draft<'_>) -> Result<T, attest::Error>,
    ) -> Result<T, attest::Error> {
        let (now, seed) = (self.now, self.seed);
        let (result, entries) = self.ledger.all_or_none(|ledger| {
            let mut draft = Draft { ledger, now, seed, entries: Vec::new() };
            let result = steps(&mut draft)?;
            Ok::<_, attest::Error>((result, draft.entries))
        })?;
        self.entries.extend(entries);
        Ok(result)
    }

    /// An execution that a host has seen. The ground stands unless somebody has used it.
    fn executed(&mut self, life: &mut Lifecycle, record: &Record, receipt: Digest) -> Result<Receipt, attest::Error> {
        let execution = Execution { arguments: record.bound_to, receipt, started: None };
        let (agent, host) = (self.stamp(&record.agent), self.stamp(HOST));
        if let Some(authorization) = life.authorization {
            let authorization = self.ledger.authorization(authorization)?;
            let (receipt, entry) = self.ledger.record_receipt(&agent, authorization, execution, None)?;
            life.receipt = Some(self.keep(entry));
            return Ok(receipt);
        }
        let ground = match life.approval {
            Some(approval) => Ground::Approved(self.ledger.approved(approval)?),
            None => match self.ledger.judged(life.verdict)? {
                Judged::Cleared(cleared) => Ground::Cleared(cleared),
                Judged::Held(held) => {
                    let approver = digest_of_person(HOST);
                    let (receipt, entries) = self.ledger.approve_late(&host, held, approver, execution)?;
                    let [approval, authorization, received] = entries.map(|entry| self.keep(entry));
                    life.approval = Some(approval);
                    (life.authorization, life.receipt) = (Some(authorization), Some(received));
                    return Ok(receipt);
                }
                Judged::Refused(_) => {
                    return Err(attest::Error::unauthorized(life.verdict, "its decision is refuse"));
                }
            },
        };
        let (receipt, entries) = self.ledger.authorize_late(&agent, ground, execution)?;
        let [authorization, received] = entries.map(|entry| self.keep(entry));
        (life.authorization, life.receipt) = (Some(authorization), Some(received));
        Ok(receipt)
    }

    /// Something ran that should not have, or that the ledger has no place for.
    fn incident(&mut self, life: Option<&mut Lifecycle>, detail: Digest) -> Result<(), attest::Error> {
        let about = life.as_ref().and_then(|life| self.ledger.find(life.verdict));
        let entry = self.ledger.record_error(&self.stamp(HOST), about, detail)?;
        let number = self.keep(entry);
        if let Some(life) = life {
            life.error = Some(number);
        }
        Ok(())
    }
}

/// A command's events, and the lifecycle that they continue.
#[derive(Default)]
pub(super) struct Attested {
    pub(super) life: Option<Lifecycle>,
    pub(super) entries: Vec<Entry>,
}

/// What the ledger says of an observed call.
#[derive(Default)]
pub(super) struct Witnessed {
    pub(super) attested: Attested,
    /// It ran, and the ledger has no leave for it.
    pub(super) incident: bool,
    /// Its outcome is awaited from an independent observer.
    pub(super) awaits_outcome: bool,
}

/// The digest by which events name a person.
fn digest_of_person(name: &str) -> Digest {
    Digest::of("stigmergate person", name.as_bytes())
}

/// The seed of a command's nonces.
pub(super) fn seed<T: Serialize>(now: Time, name: &str, command: &T) -> Digest {
    Digest::of_value("stigmergate command", &(now, name, command)).unwrap_or_default()
}

/// A time as a record can hold it.
pub(super) fn recordable(at: Time) -> Time {
    at.min(LARGEST)
}

impl Kernel {
    /// The signed ledger, once it was begun.
    #[must_use]
    pub fn ledger(&self) -> Option<&Ledger> {
        self.attestation.as_ref().map(|attestation| &attestation.ledger)
    }

    /// The events that the last applied command has written. They are not part of the state.
    #[must_use]
    pub fn written(&self) -> &[Entry] {
        &self.written
    }

    pub(super) fn life(&self, id: &str) -> Option<Lifecycle> {
        self.attestation.as_ref()?.lives.get(id).copied()
    }

    /// The remembered proposal of an authorization or a receipt that awaits its answer.
    pub(super) fn whose_end(&self, number: u64) -> Option<Arc<str>> {
        self.attestation.as_ref()?.open.get(&number).cloned()
    }

    /// Remembers how far a proposal has come; nothing where it is not attested.
    pub(super) fn live(&mut self, id: &str, life: Option<Lifecycle>) {
        match (&mut self.attestation, life) {
            (Some(attestation), Some(life)) => attestation.live(id, life),
            (Some(attestation), None) => attestation.forget(id),
            (None, _) => {}
        }
    }

    /// Remembers how far a proposal has come, where anything was written of it.
    pub(super) fn live_on(&mut self, id: &str, life: Option<Lifecycle>) {
        if life.is_some() {
            self.live(id, life);
        }
    }

    pub(super) fn forget_life(&mut self, id: &str) {
        if let Some(attestation) = &mut self.attestation {
            attestation.forget(id);
        }
    }

    /// Whether what the policy requires can be attested.
    ///
    /// # Errors
    /// [`attest::Error::AttestationKeyMissing`] where attestation is required and no ledger was begun.
    pub(super) fn check_key(&self) -> Result<(), Error> {
        let missing = self.policy.attest.mode == AttestMode::Required && self.attestation.is_none();
        if missing { Err(attest::Error::AttestationKeyMissing.into()) } else { Ok(()) }
    }

    /// Lets the ledger go by the policy that is in force.
    pub(super) fn follow_policy(&mut self) {
        let attest = &self.policy.attest;
        if let Some(attestation) = &mut self.attestation {
            attestation.ledger.set_policy(attest.mode, attest.rules());
        }
    }

    /// Whether commands write events.
    pub(super) fn attests(&self) -> bool {
        self.policy.attest.mode != AttestMode::Disabled && self.attestation.is_some()
    }

    /// Writes the events of one command: all of them, or none. `None` where nothing is attested.
    pub(super) fn draft<T>(
        &mut self,
        now: Time,
        name: &str,
        command: &impl Serialize,
        write: impl FnOnce(&Self, &mut Draft<'_>) -> Result<T, Error>,
    ) -> Result<Option<(T, Vec<Entry>)>, Error> {
        if !self.attests() {
            return Ok(None);
        }
        let Some(mut attestation) = self.attestation.take() else { return Ok(None) };
        let result = attestation.ledger.all_or_none(|ledger| {
            let mut draft = Draft { ledger, now: recordable(now), seed: seed(now, name, command), entries: Vec::new() };
            let result = write(self, &mut draft)?;
            Ok((result, draft.entries))
        });
        self.attestation = Some(attestation);
        result.map(Some)
    }

    /// A proposal, its verdict, and leave for a tool call that may run.
    pub(super) fn attest_judged(
        &mut self,
        proposal: &Proposal,
        content: &Digest,
        judgement: &Judgement,
        clock: Clock,
    ) -> Result<Attested, Error> {
        let used = judgement.uses.as_ref().and_then(|used| self.life(used)?.approval);
        let drafted = self.draft(clock.now, "propose", content, |kernel, draft| {
            let (arguments, policy) = (bound_to(proposal, content), Some(kernel.policy_digest));
            let verdict = Digest::of_value("stigmergate verdict", &judgement.verdict).unwrap_or_default();
            let (agent, gate) = (draft.stamp(&proposal.agent_id), draft.stamp(GATE));
            let (proposed, entry) = draft.ledger.record_proposal(&agent, *content, Some(arguments), policy)?;
            let mut life = Lifecycle { proposal: draft.keep(entry), approval: used, ..Lifecycle::default() };
            let decision = judgement.verdict.decision;
            let (judged, entry) = draft.ledger.record_verdict(&gate, proposed, *content, verdict, decision, policy)?;
            life.verdict = draft.keep(entry);
            if let (Judged::Cleared(cleared), Some(_)) = (judged, &proposal.call) {
                let ground = match used {
                    Some(approval) => Ground::Approved(draft.ledger.approved(approval)?),
                    None => Ground::Cleared(cleared),
                };
                let expires = kernel.authorization_ends(clock.now, None);
                let (_, entry) = draft.ledger.authorize(&agent, ground, arguments, expires)?;
                life.authorization = Some(draft.keep(entry));
            }
            Ok(life)
        })?;
        Ok(drafted.map_or_else(Attested::default, |(life, entries)| Attested { life: Some(life), entries }))
    }

    pub(super) fn authorization_ends(&self, now: Time, ttl_ms: Option<u64>) -> Time {
        let longest = self.policy.budget.reservation_seconds.saturating_mul(1000);
        recordable(now.saturating_add(ttl_ms.map_or(longest, |ttl| ttl.min(longest))))
    }

    /// A person's approval. What was judged before the ledger began has no verdict on it to approve.
    pub(super) fn attest_approval(
        &mut self,
        approve: &Approve,
        record: &Record,
        now: Time,
        expires: Time,
    ) -> Result<Attested, Error> {
        let Some(mut life) = self.life(&approve.proposal_id) else {
            return if self.policy.attest.mode == AttestMode::Required {
                Err(unattested(&approve.proposal_id, record))
            } else {
                Ok(Attested::default())
            };
        };
        let drafted = self.draft(now, "approve", approve, |_, draft| {
            let Judged::Held(held) = draft.ledger.judged(life.verdict)? else {
                return Err(attest::Error::unauthorized(life.verdict, "it holds nothing").into());
            };
            let approving = Approving {
                arguments: record.bound_to,
                approver: digest_of_person(&approve.by),
                expires: recordable(expires),
            };
            let (_, entry) = draft.ledger.approve(&draft.stamp(&approve.by), held, approving)?;
            Ok(draft.keep(entry))
        })?;
        Ok(drafted.map_or_else(Attested::default, |(number, entries)| {
            life.approval = Some(number);
            Attested { life: Some(life), entries }
        }))
    }

    /// A person's denial. What the ledger no longer knows is denied all the same.
    pub(super) fn attest_denial(&mut self, deny: &Deny, now: Time) -> Result<Attested, Error> {
        let Some(mut life) = self.life(&deny.proposal_id) else { return Ok(Attested::default()) };
        let drafted = self.draft(now, "deny", deny, |_, draft| {
            let Ok(Judged::Held(held)) = draft.ledger.judged(life.verdict) else { return Ok(None) };
            let reason = (!deny.reason.is_empty()).then(|| Digest::of("stigmergate reason", deny.reason.as_bytes()));
            let entry = draft.ledger.reject(&draft.stamp(&deny.by), held, Some(digest_of_person(&deny.by)), reason)?;
            Ok(Some(draft.keep(entry)))
        })?;
        Ok(drafted.map_or_else(Attested::default, |(number, entries)| {
            life.rejection = number;
            Attested { life: Some(life), entries }
        }))
    }

    /// A HOLD that nobody answered. What the ledger no longer knows ends all the same.
    pub(super) fn attest_unanswered(&mut self, id: &str) {
        let now = self.clock.now;
        let Some(mut life) = self.life(id) else { return };
        let drafted = self.draft(now, "expire", &id, |_, draft| {
            let Judged::Held(held) = draft.ledger.judged(life.verdict)? else { return Ok(None) };
            let entry = draft.ledger.reject(&draft.stamp(GATE), held, None, None)?;
            Ok(Some(draft.keep(entry)))
        });
        if let Ok(Some((rejection, entries))) = drafted {
            life.rejection = rejection;
            self.live(id, Some(life));
            self.written.extend(entries);
        }
    }

    /// An ordinary report: it concludes an execution that has a receipt, and is not accepted where attestation is required.
    pub(super) fn attest_report(&mut self, id: &str, report: &OutcomeReport, now: Time) -> Result<Attested, Error> {
        if self.policy.attest.mode == AttestMode::Required {
            return Err(attest::Error::AttestationRequired.into());
        }
        let independent = self.policy.attest.independent_observer;
        let Some(mut life) = self.life(id).filter(|life| !independent && life.outcome.is_none()) else {
            return Ok(Attested::default());
        };
        let Some(receipt) = life.receipt else { return Ok(Attested::default()) };
        let drafted = self.draft(now, "record_outcome", report, |_, draft| {
            // What the ledger no longer knows is reported all the same.
            let Ok(receipt) = draft.ledger.receipt(receipt) else { return Ok(None) };
            let (_, entry) = draft.ledger.record_outcome(&draft.stamp(HOST), receipt, report.digest(), None)?;
            Ok(Some(draft.keep(entry)))
        })?;
        Ok(drafted.map_or_else(Attested::default, |(number, entries)| {
            life.outcome = number;
            Attested { life: Some(life), entries }
        }))
    }

    /// What a host saw: receipt and outcome of what had leave, an error for what had not.
    pub(super) fn attest_observed(
        &mut self,
        record: &Record,
        observation: &Observation,
        now: Time,
    ) -> Result<Witnessed, Error> {
        let mut life = self.life(&observation.proposal_id);
        if life.is_none() && self.policy.attest.mode != AttestMode::Required {
            return Ok(Witnessed::default());
        }
        let forbidden = matches!(record.state, State::Refused | State::Denied { .. });
        let independent = self.policy.attest.independent_observer;
        let drafted = self.draft(now, "observe", observation, |_, draft| {
            let digest = |what| Digest::of_value(what, observation).unwrap_or_default();
            let recorded = match life.as_mut().filter(|_| !forbidden) {
                None => Err(attest::Error::AttestationRequired),
                Some(life) => draft.attempt(|draft| {
                    let before = *life;
                    let receipt = match life.receipt {
                        Some(number) => draft.ledger.receipt(number),
                        None => draft.executed(life, record, digest("stigmergate receipt")),
                    };
                    let concluded = receipt.and_then(|receipt| {
                        if independent {
                            return Ok(());
                        }
                        let outcome = digest("stigmergate outcome");
                        let (_, entry) = draft.ledger.record_outcome(&draft.stamp(HOST), receipt, outcome, None)?;
                        life.outcome = Some(draft.keep(entry));
                        Ok(())
                    });
                    if concluded.is_err() {
                        *life = before;
                    }
                    concluded
                }),
            };
            if recorded.is_err() {
                draft.incident(life.as_mut(), digest("stigmergate incident"))?;
            }
            Ok(recorded.is_err())
        })?;
        Ok(drafted.map_or_else(Witnessed::default, |(incident, entries)| Witnessed {
            attested: Attested { life, entries },
            incident,
            awaits_outcome: independent && !incident,
        }))
    }
}

pub(super) fn unattested(id: &str, record: &Record) -> Error {
    Error::WrongState {
        id: id.to_string(),
        state: alloc::format!("{}, and not on the ledger", record.state.as_str()),
        expected: "judged since the ledger began; propose it again under another id".to_string(),
    }
}
