//! The sequence, nothing else: which room is asked when, and what is remembered of the answer (SPEC 7, 10).
//!
//! [`Kernel::apply`] is the only way in that changes anything. A command is checked whole before any of it is applied, so that one
//! that fails has changed nothing. Questions are asked through [`Kernel::at`].

mod attestation;
mod command;
mod judge;
mod ledger;
mod observe;
mod outcome;
mod people;
mod proposals;
mod snapshot;
mod view;

pub use attestation::{Lifecycle, Stage};
pub use command::{
    Approval, Approve, AuthorizationReply, Authorize, BeginLedger, Calmed, Command, Conclude, ConclusionReply, Denial,
    Deny, DepositRequest, Feedback, KeyReply, Observation, ObservedReply, OutcomeReply, OutcomeReport, ReceiptReply,
    Receive, Reinforce, Reply, RotateKey, Spend, StatedCost, Subject, Ticked, Ticks, Time,
};
pub use proposals::State;
pub use snapshot::{SNAPSHOT_VERSION, Snapshot};
pub use view::{AgentView, LedgerView, LifecycleView, ProposalView, Status, View};

use crate::attest::ledger::Entry;
use crate::budget::{self, Answer, Budget, Cost};
use crate::digest::Digest;
use crate::error::Error;
use crate::field::{Deposit, Field, Kind, Source, Tick};
use crate::fixed::Fixed;
use crate::gate::Verdict;
use crate::location::Location;
use crate::policy::{Pipeline, Policy};
use crate::proposal::{Proposal, check_actor};
use crate::session::Memory;
use crate::trust::Agents;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use attestation::Attestation;
use proposals::{Proposals, Record};
use serde::{Deserialize, Serialize};

/// The caller's time and the ticks that follow from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clock {
    now: Time,
    tick: Tick,
    /// Ticks are counted from here.
    counted_from: Tick,
}

/// How often what was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Applied commands.
    pub commands: u64,
    /// EXECUTE.
    pub executed: u64,
    /// HOLD.
    pub held: u64,
    /// REFUSE.
    pub refused: u64,
    /// Approvals by people.
    pub approved: u64,
    /// Denials by people.
    pub denied: u64,
    /// Reported outcomes.
    pub outcomes: u64,
    /// Observed outcomes.
    pub observed: u64,
    /// Calls that ran although they should not have.
    pub incidents: u64,
}

/// What is known of an id when it is proposed.
#[derive(Debug, PartialEq, Eq)]
enum Before {
    /// Nothing.
    Unknown,
    /// It was judged, and is judged anew: with more facts, or because its time had run out.
    AskedAgain,
    /// The same content was judged, and gets the same verdict.
    Verdict(Box<Verdict>),
}

/// A standing grant's key: an agent, an act and a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct GrantKey {
    agent: String,
    place: Location,
    kind: Arc<str>,
}

/// A standing grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grant {
    until: Time,
    by: String,
}

/// The state machine.
///
/// ```
/// use stigmergate_core::kernel::{Command, Kernel, Reply};
/// use stigmergate_core::policy::{Policy, Preset};
///
/// let mut kernel = Kernel::new(Policy::preset(Preset::Standard)).unwrap();
/// let again = kernel.clone();
/// kernel.apply(1_700_000_000_000, Command::Advance).unwrap();
/// assert_ne!(kernel.digest(), again.digest());
/// ```
#[derive(Clone, Debug)]
pub struct Kernel {
    policy: Arc<Policy>,
    policy_digest: Digest,
    clock: Clock,
    field: Field,
    agents: Agents,
    budget: Budget,
    memory: Memory,
    proposals: Proposals,
    grants: BTreeMap<GrantKey, Grant>,
    counts: Counts,
    /// The ledger, once it was begun.
    attestation: Option<Box<Attestation>>,
    /// The events of the last command; not part of the state.
    written: Vec<Entry>,
}

impl Kernel {
    /// A kernel without a past.
    ///
    /// # Errors
    /// [`Error::Policy`] for a contradictory policy.
    pub fn new(policy: Policy) -> Result<Self, Error> {
        policy.validate()?;
        let policy_digest = policy.digest();
        Ok(Self {
            policy: Arc::new(policy),
            policy_digest,
            clock: Clock::default(),
            field: Field::default(),
            agents: Agents::default(),
            budget: Budget::default(),
            memory: Memory::default(),
            proposals: Proposals::default(),
            grants: BTreeMap::new(),
            counts: Counts::default(),
            attestation: None,
            written: Vec::new(),
        })
    }

    /// Applies a command at the caller's time. An earlier time than the last one counts as the last one.
    ///
    /// # Errors
    /// What the command's own method says; nothing was changed then.
    pub fn apply(&mut self, at: Time, command: Command) -> Result<Reply, Error> {
        Ok(match command {
            Command::Propose(proposal) => Reply::Verdict(Box::new(self.propose(at, *proposal)?)),
            Command::Approve(approve) => Reply::Approval(self.approve(at, &approve)?),
            Command::Deny(deny) => Reply::Denial(self.deny(at, &deny)?),
            Command::RecordOutcome(report) => Reply::Outcome(self.record_outcome(at, &report)?),
            Command::Observe(observation) => Reply::Observed(self.observe(at, &observation)?),
            Command::Deposit(request) => Reply::Strength(self.deposit(at, &request)?),
            Command::Reinforce(request) => Reply::Strength(self.reinforce(at, &request)?),
            Command::Tick(ticks) => Reply::Ticked(self.tick(at, ticks.count)?),
            Command::Advance => Reply::Ticked(self.advance(at)),
            Command::Spend(spend) => Reply::Spent(self.spend(at, &spend)?),
            Command::CalmDown => Reply::Calmed(self.calm_down(at)),
            Command::SetPolicy(policy) => Reply::PolicySet(self.set_policy(at, *policy)?),
            Command::BeginLedger(begin) => Reply::LedgerBegun(self.begin_ledger(at, &begin)?),
            Command::RotateKey(rotate) => Reply::KeyRotated(self.rotate_key(at, &rotate)?),
            Command::Authorize(authorize) => Reply::Authorized(self.authorize(at, &authorize)?),
            Command::Receive(receive) => Reply::Received(self.receive(at, &receive)?),
            Command::Conclude(conclude) => Reply::Concluded(self.conclude(at, &conclude)?),
        })
    }

    /// Judges a proposal and remembers it (SPEC 7, 10).
    ///
    /// # Errors
    /// [`Error::Value`] and [`Error::TooLong`] for a field outside its bound, [`Error::Full`] when no agent fits,
    /// [`Error::IdConflict`] for a known id with other content; with a ledger also [`Error::Attest`]: its code is
    /// `attestation_key_missing` where attestation is required and no ledger was begun.
    pub fn propose(&mut self, at: Time, proposal: Proposal) -> Result<Verdict, Error> {
        self.check_key()?;
        let proposal = self.read(proposal)?;
        self.agents.check_room(&proposal.agent_id, &self.policy.bounds)?;
        let content = proposal.content();
        let clock = self.clock_at(at);
        let before = self.before(&proposal, &content, clock)?;
        if let Before::Verdict(verdict) = before {
            self.begin(at);
            return Ok(*verdict);
        }
        let asked_again = before == Before::AskedAgain;
        // What is written to the ledger may be refused, and is written before anything changes.
        let attests = self.attests();
        if !attests {
            self.begin(at);
        }
        let judgement = self.judge(&proposal, &content, asked_again, clock);
        let attested = self.attest_judged(&proposal, &content, &judgement, clock)?;
        if attests {
            self.begin_with(at, attested.entries);
        }
        // It is counted once, however often it comes back.
        self.agents.count_proposal(&proposal.agent_id, !asked_again, &self.policy);
        if asked_again {
            self.release(&proposal.proposal_id);
        }
        for planned in &judgement.deposits {
            self.leave(&proposal.target, planned);
        }
        self.live(&proposal.proposal_id, attested.life);
        self.remember(proposal, content, &judgement);
        Ok(judgement.verdict)
    }

    /// Judges a proposal given as JSON and answers with the verdict as JSON.
    ///
    /// # Errors
    /// [`Error::Json`], or as [`Kernel::propose`].
    pub fn propose_json(&mut self, at: Time, json: &str) -> Result<String, Error> {
        let verdict = self.propose(at, Proposal::from_json(json)?)?;
        Ok(serde_json::to_string(&verdict)?)
    }

    /// Leaves a trace (SPEC 2). In the presets other than `reference` an agent may only leave RISK, which never decides (SPEC 10.c).
    ///
    /// # Errors
    /// [`Error::Value`] for a negative strength or a factor outside [0, 1]; [`Error::NotAllowed`].
    pub fn deposit(&mut self, at: Time, request: &DepositRequest) -> Result<Fixed, Error> {
        let location = self.settle(&request.location);
        location.check("location", self.policy.bounds.location_bytes)?;
        if request.strength < Fixed::ZERO {
            return Err(Error::value("strength", "a number that is not negative"));
        }
        let factor = request.trust_factor.unwrap_or(Fixed::ONE);
        if !factor.is_fraction() {
            return Err(Error::value("trust_factor", "a number between 0 and 1"));
        }
        let talks = self.policy.pipeline == Pipeline::Standard && request.source == Source::Agent;
        if talks && request.signal != crate::field::Signal::Risk {
            let reason = "an agent leaves only risk; what failed or worked comes from outcomes and people";
            return Err(Error::NotAllowed { actor: "agent".to_string(), reason: reason.to_string() });
        }
        self.begin(at);
        let numbers = &self.policy.field;
        let clamped = request.strength.at_most(numbers.max_deposit);
        let planned = judge::Planned {
            kind: if talks { Kind::Prospective } else { Kind::Place },
            signal: request.signal,
            decay: request.decay.unwrap_or_else(|| numbers.decay(request.signal)),
            source: request.source,
            effective: clamped.times(numbers.multiplier(request.source)).times(factor),
        };
        Ok(self.leave(&location, &planned))
    }

    /// Strengthens a trace that lives; an absent one stays absent (SPEC 2).
    ///
    /// # Errors
    /// As [`Kernel::deposit`].
    pub fn reinforce(&mut self, at: Time, request: &Reinforce) -> Result<Fixed, Error> {
        let location = self.settle(&request.location);
        location.check("location", self.policy.bounds.location_bytes)?;
        self.begin(at);
        Ok(self.field.reinforce(&location, &Kind::Place, request.signal, self.clock.tick, &self.policy.field))
    }

    /// Lets ticks pass, where the policy leaves them to the caller.
    ///
    /// # Errors
    /// [`Error::Value`] for no ticks, or where ticks follow from time.
    pub fn tick(&mut self, at: Time, count: u64) -> Result<Ticked, Error> {
        if count == 0 {
            return Err(Error::value("count", "at least 1"));
        }
        if self.policy.time.tick_ms > 0 {
            let expected = alloc::format!(
                "no ticks by hand: this policy has one every {} ms of the caller's time",
                self.policy.time.tick_ms
            );
            return Err(Error::value("count", &expected));
        }
        let expired = self.begin(at);
        self.clock.tick = self.clock.tick.saturating_add(count);
        Ok(self.ticked(expired))
    }

    /// Lets time pass: ends what is due.
    pub fn advance(&mut self, at: Time) -> Ticked {
        let expired = self.begin(at);
        self.ticked(expired)
    }

    /// Checks a cost and uses it, in one step (SPEC 3). Nothing is used when it does not fit.
    ///
    /// # Errors
    /// [`Error::Value`] for a cost that is not well formed.
    pub fn spend(&mut self, at: Time, spend: &Spend) -> Result<Answer, Error> {
        check_actor("agent_id", &spend.agent_id, &self.policy.bounds)?;
        spend.cost.check("cost")?;
        self.agents.check_room(&spend.agent_id, &self.policy.bounds)?;
        self.begin(at);
        let answer = self.budget.check(&spend.agent_id, &spend.cost, &self.policy.budget);
        if answer.approved {
            self.agents.entry(&spend.agent_id, &self.policy.trust);
            self.budget.consume(self.clock.now, &spend.agent_id, &spend.cost, &self.policy.budget);
        }
        Ok(answer)
    }

    /// Clears the field, begins a budget period and counts ticks anew. Histories and trust stay (SPEC 7).
    pub fn calm_down(&mut self, at: Time) -> Calmed {
        self.begin(at);
        let calmed = Calmed {
            traces: self.field.clear(self.clock.tick, &self.policy.field),
            used: self.budget.total().used,
            ticks: self.clock.tick.saturating_sub(self.clock.counted_from),
        };
        self.budget.reset(self.clock.now);
        self.clock.counted_from = self.clock.tick;
        calmed
    }

    /// Replaces the policy. Traces are restated first, so that what has faded stays so.
    ///
    /// # Errors
    /// As [`Kernel::new`]; also [`Error::Policy`] when the new policy would leave ticks to the caller and the old one did not, or the reverse.
    pub fn set_policy(&mut self, at: Time, policy: Policy) -> Result<Digest, Error> {
        policy.validate()?;
        if (policy.time.tick_ms == 0) != (self.policy.time.tick_ms == 0) && self.counts.commands > 0 {
            return Err(Error::policy(
                "time.tick_ms",
                "ticks of the same kind (by hand or by time) as before; begin a new store for the other",
            ));
        }
        self.begin(at);
        let counted = self.clock.tick.saturating_sub(self.clock.counted_from);
        let tick = self.clock.now.checked_div(policy.time.tick_ms).unwrap_or(self.clock.tick);
        self.field.settle(self.clock.tick, &self.policy.field, tick, &policy.field, policy.bounds.traces);
        self.clock.tick = tick;
        self.clock.counted_from = tick.saturating_sub(counted);
        self.policy_digest = policy.digest();
        self.policy = Arc::new(policy);
        self.follow_policy();
        Ok(self.policy_digest)
    }

    /// Whether a kernel can be made with a policy.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub fn accepts(policy: &Policy) -> Result<(), Error> {
        policy.validate()
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The policy's digest.
    #[must_use]
    pub const fn policy_digest(&self) -> Digest {
        self.policy_digest
    }

    /// The time of the last command, in milliseconds since the epoch.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.clock.now
    }

    /// Begins a command: counts it, moves the clock, ends what is due, rolls the budget period. Returns how much ended.
    fn begin(&mut self, at: Time) -> u64 {
        self.begin_with(at, Vec::new())
    }

    /// As [`Kernel::begin`], for a command that has written events to the ledger.
    fn begin_with(&mut self, at: Time, written: Vec<Entry>) -> u64 {
        self.written = written;
        // The first command says from where ticks are counted.
        self.clock = self.clock_at(at);
        self.counts.commands = self.counts.commands.saturating_add(1);
        self.budget.roll(self.clock.now, &self.policy.budget);
        self.expire()
    }

    /// The clock as it is at a time; it never goes back.
    fn clock_at(&self, at: Time) -> Clock {
        let now = at.max(self.clock.now);
        let tick = now.checked_div(self.policy.time.tick_ms).unwrap_or(self.clock.tick);
        let counted_from =
            if self.counts.commands == 0 && self.policy.time.tick_ms > 0 { tick } else { self.clock.counted_from };
        Clock { now, tick, counted_from }
    }

    fn ticked(&self, expired: u64) -> Ticked {
        Ticked { tick: self.clock.tick, counted: self.clock.tick.saturating_sub(self.clock.counted_from), expired }
    }

    /// Ends what is due, and forgets what is too old.
    fn expire(&mut self) -> u64 {
        let now = self.clock.now;
        let due: Vec<Arc<str>> = self.proposals.due(now).map(|(id, _)| id.clone()).collect();
        for id in &due {
            self.attest_unanswered(id);
            self.release(id);
            self.proposals.update(id, |record| {
                record.state = record.state_at(now).clone();
                record.deadline = None;
            });
        }
        let granted = self.grants.len();
        self.grants.retain(|_, grant| grant.until > now);
        let ended = granted.saturating_sub(self.grants.len());
        self.forget();
        (due.len() as u64).saturating_add(ended as u64)
    }

    /// Forgets the proposals that are too old, or too many.
    fn forget(&mut self) {
        for (id, record) in self.proposals.take_forgotten(self.clock.now, &self.policy.bounds) {
            self.forget_life(&id);
            if record.reserved {
                self.budget.release(&record.agent, &record.estimate);
            }
        }
    }

    /// Gives a proposal's reservation back.
    fn release(&mut self, id: &str) {
        let Some(record) = self.proposals.get(id).filter(|record| record.reserved) else { return };
        self.budget.release(&record.agent, &record.estimate);
        self.proposals.update(id, |record| record.reserved = false);
    }

    /// A proposal that is remembered at a clock, whether or not a command has come since.
    fn known(&self, id: &str, clock: Clock) -> Option<&Record> {
        let remembered = |record: &&Record| clock.now.saturating_sub(record.at) <= self.policy.bounds.proposal_ms;
        self.proposals.get(id).filter(remembered)
    }

    /// What all open reservations come to.
    pub(crate) fn reserved_by_proposals(&self) -> Cost {
        let reserved = self.proposals.iter().map(|(_, record)| record).filter(|record| record.reserved);
        reserved.fold(Cost::default(), |sum, record| budget::add_exactly(&sum, &record.estimate))
    }

    /// Leaves a planned trace; prospective risk only up to its common cap.
    fn leave(&mut self, location: &Location, planned: &judge::Planned) -> Fixed {
        let rates = &self.policy.field;
        let standing = self.field.strength(location, &planned.kind, planned.signal, self.clock.tick, rates);
        let effective = if planned.kind == Kind::Prospective {
            planned.effective.at_most(self.policy.deposits.prospective_most.less(standing))
        } else {
            planned.effective
        };
        let deposit = Deposit {
            location,
            kind: planned.kind.clone(),
            signal: planned.signal,
            decay: planned.decay,
            source: planned.source,
            effective,
        };
        self.field.deposit(&deposit, self.clock.tick, rates, self.policy.bounds.traces)
    }

    /// A location as the preset reads it.
    fn settle(&self, location: &Location) -> Location {
        match self.policy.pipeline {
            Pipeline::Reference => location.as_raw(),
            Pipeline::Standard => location.clone().settled(),
        }
    }

    /// A proposal as the preset reads it, checked against its bounds.
    fn read(&self, mut proposal: Proposal) -> Result<Proposal, Error> {
        proposal.target = self.settle(&proposal.target);
        proposal.check(&self.policy.bounds)?;
        Ok(proposal)
    }

    /// What is known of a proposal's id.
    fn before(&self, proposal: &Proposal, content: &Digest, now: Clock) -> Result<Before, Error> {
        let Some(record) = self.known(&proposal.proposal_id, now) else { return Ok(Before::Unknown) };
        let state = record.state_at(now.now);
        let passed = matches!(state, State::Approved { .. } | State::Unanswered | State::Lapsed);
        if record.content == *content {
            // An approval is for one use, in its time: what stood on it does not stand for ever.
            let expires = self.policy.approval.expires_seconds.saturating_mul(1000);
            let over = record.observed || now.now.saturating_sub(record.at) >= expires;
            let used_up = |verdict: &Verdict| over && verdict.stands_on_approval();
            let verdict = record.verdict().filter(|verdict| !passed && !used_up(verdict));
            return Ok(verdict.map_or(Before::AskedAgain, |verdict| Before::Verdict(Box::new(verdict))));
        }
        // A HOLD may come back with more facts; anything else is another proposal.
        if (passed || *state == State::Held) && record.is_asked_again_by(proposal) {
            Ok(Before::AskedAgain)
        } else {
            Err(Error::IdConflict { id: proposal.proposal_id.clone() })
        }
    }
}
