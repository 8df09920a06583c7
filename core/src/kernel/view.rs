//! Questions. They change nothing, not even what is stored lazily.

use super::attestation::{Lifecycle, Stage};
use super::command::Time;
use super::proposals::State;
use super::{Before, Clock, Counts, Kernel};
use crate::attest::key::PublicKey;
use crate::budget::{Balance, Charge, Cost, Dimension};
use crate::digest::Digest;
use crate::error::Error;
use crate::falsify::{Asks, Plan, Report, falsify};
use crate::field::{Channels, Kind, Signal, Source, Summary, Tick, Trace};
use crate::fixed::Fixed;
use crate::gate::Verdict;
use crate::location::Location;
use crate::policy::{Caps, Preset};
use crate::proposal::Proposal;
use crate::prune::{self, Module};
use crate::trust::{Profile, Role, specialised_role};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The kernel as it is at a time.
#[derive(Clone, Copy, Debug)]
pub struct View<'k> {
    kernel: &'k Kernel,
    clock: Clock,
}

/// The kernel in a few numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The policy's preset.
    pub preset: Preset,
    /// The policy's digest.
    pub policy: Digest,
    /// Milliseconds since the epoch.
    pub now: Time,
    /// The tick.
    pub tick: Tick,
    /// Ticks since the beginning or the last calming.
    pub ticks: u64,
    /// Live traces.
    pub traces: u64,
    /// Known agents.
    pub agents: u64,
    /// Remembered proposals.
    pub proposals: u64,
    /// HOLDs that wait for a person.
    pub waiting: u64,
    /// How often what was said.
    pub counts: Counts,
    /// The signed ledger, once it was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerView>,
}

/// The signed ledger in a few words. It proves order and integrity of what was said, not that it was safe or truly happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerView {
    /// The log's identity.
    pub origin: String,
    /// How many events there are.
    pub size: u64,
    /// The root over them.
    pub root: Digest,
    /// The key in force, as a verifier key.
    pub key: PublicKey,
    /// Executions without an outcome.
    pub incomplete: u64,
}

/// Where a proposal stands on the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifecycleView {
    /// How far it has come.
    pub stage: Stage,
    /// Its events, by their numbers.
    pub events: Lifecycle,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentView {
    /// Its id.
    pub id: String,
    /// Trust in [0, 1].
    pub trust: Fixed,
    /// The role that was inferred last.
    pub role: Role,
    /// The role that specialised assignment would give.
    pub specialised: Role,
    /// Counted proposals.
    pub proposals: u64,
    /// Outcomes without failure or repair.
    pub accepted: u64,
    /// Recent failures.
    pub recent_failures: u32,
    /// The share of clean outcomes; `None` without outcomes.
    pub success_rate: Option<Fixed>,
    /// What it used and has set aside.
    pub balance: Balance,
}

/// A remembered proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalView {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub state: State,
    /// When it was proposed.
    pub at: Time,
    /// When its state ends by itself.
    pub deadline: Option<Time>,
    /// What an approval is bound to.
    pub digest: Digest,
    /// What it would cost.
    pub estimate: Cost,
    /// The verdict.
    pub verdict: Verdict,
    /// Where it stands on the ledger, if it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<LifecycleView>,
}

impl Kernel {
    /// The kernel as it is at a time; an earlier one than that of the last command counts as that.
    #[must_use]
    pub fn at(&self, time: Time) -> View<'_> {
        View { kernel: self, clock: self.clock_at(time) }
    }
}

impl<'k> View<'k> {
    /// What [`Kernel::propose`] would answer. Nothing is remembered.
    ///
    /// # Errors
    /// As [`Kernel::propose`].
    pub fn witness(&self, proposal: Proposal) -> Result<Verdict, Error> {
        let kernel = self.kernel;
        kernel.check_key()?;
        let proposal = kernel.read(proposal)?;
        kernel.agents.check_room(&proposal.agent_id, &kernel.policy.bounds)?;
        let content = proposal.content();
        match kernel.before(&proposal, &content, self.clock)? {
            Before::Verdict(verdict) => Ok(*verdict),
            before => Ok(kernel.judge(&proposal, &content, before == Before::AskedAgain, self.clock).verdict),
        }
    }

    /// What the ledger's key signs for another to take its place, by [`Kernel::rotate_key`] at this very time.
    ///
    /// # Errors
    /// [`Error::Attest`] without a ledger, and where the policy attests nothing.
    pub fn rotation_message(&self, key: &PublicKey) -> Result<Vec<u8>, Error> {
        self.kernel.rotation_message(self.clock.now, key)
    }

    /// The latest call of an agent's session that would run just this, and of which nobody has said yet what became of it: the one
    /// that an event belongs to whose host gives calls no ids.
    #[must_use]
    pub fn latest_unobserved(&self, agent: &str, session: &str, digest: &Digest) -> Option<&'k str> {
        let asked = |record: &super::proposals::Record| {
            !record.observed && record.bound_to == *digest && record.agent == agent && record.session == session
        };
        self.kernel.proposals.iter().rev().find(|(_, record)| asked(record)).map(|(id, _)| id)
    }

    /// The strength of a trace of the place itself; 0 where there is none.
    #[must_use]
    pub fn sense(&self, location: &Location, signal: Signal) -> Fixed {
        let kernel = self.kernel;
        kernel.field.strength(&kernel.settle(location), &Kind::Place, signal, self.clock.tick, &kernel.policy.field)
    }

    /// RISK and FAILURE of the place itself.
    #[must_use]
    pub fn hazard(&self, location: &Location) -> Channels {
        let kernel = self.kernel;
        kernel.field.channels(&kernel.settle(location), self.clock.tick, &kernel.policy.field)
    }

    /// RISK and FAILURE of the place itself and of everything below it.
    #[must_use]
    pub fn hazard_below(&self, location: &Location) -> Channels {
        let kernel = self.kernel;
        kernel.field.channels_below(&kernel.settle(location), self.clock.tick, &kernel.policy.field).0
    }

    /// The live traces at a place and below it, ordered by key, of a source and a signal where one is named.
    #[must_use]
    pub fn pressure(&self, location: &Location, source: Option<Source>, signal: Option<Signal>) -> Vec<Trace> {
        let kernel = self.kernel;
        let location = kernel.settle(location);
        let all = kernel.field.traces_below(&location, self.clock.tick, &kernel.policy.field);
        all.filter(|trace| {
            source.is_none_or(|source| trace.source == source) && signal.is_none_or(|signal| trace.signal == signal)
        })
        .collect()
    }

    /// All live traces, ordered by key.
    #[must_use]
    pub fn traces(&self) -> Vec<Trace> {
        self.kernel.field.traces(self.clock.tick, &self.kernel.policy.field).collect()
    }

    /// The strongest live traces, ties by key.
    #[must_use]
    pub fn top(&self, count: usize) -> Vec<Trace> {
        self.kernel.field.top(count, self.clock.tick, &self.kernel.policy.field)
    }

    /// Counts and extremes of the live traces.
    #[must_use]
    pub fn field(&self) -> Summary {
        self.kernel.field.summary(self.clock.tick, &self.kernel.policy.field)
    }

    /// An agent; one that was never seen is as a new one.
    #[must_use]
    pub fn agent(&self, id: &str) -> AgentView {
        let profile = self.kernel.agents.get_or_new(id, &self.kernel.policy.trust);
        self.agent_view(id, &profile)
    }

    /// All agents, ordered by trust, the best first, ties by id.
    #[must_use]
    pub fn agents(&self) -> Vec<AgentView> {
        self.kernel.agents.ranking().into_iter().map(|(id, profile)| self.agent_view(id, profile)).collect()
    }

    /// An agent's profile with its history.
    #[must_use]
    pub fn profile(&self, id: &str) -> Option<&'k Profile> {
        self.kernel.agents.get(id)
    }

    /// What the colony has used and set aside in this period, and its caps.
    #[must_use]
    pub fn budget(&self) -> (Balance, &'k Caps) {
        (*self.kernel.budget_at(self.clock).total(), &self.kernel.policy.budget.caps)
    }

    /// What an account has used and set aside in this period.
    #[must_use]
    pub fn account(&self, account: &str) -> Balance {
        self.kernel.budget_at(self.clock).account(account)
    }

    /// The accounts that used most of a dimension in this period, ties by name.
    #[must_use]
    pub fn spenders(&self, dimension: Dimension) -> Vec<(String, Balance)> {
        let budget = self.kernel.budget_at(self.clock);
        budget.ranking(dimension).into_iter().map(|(name, balance)| (name.to_string(), *balance)).collect()
    }

    /// The last settled costs, the oldest first.
    pub fn charges(&self) -> impl Iterator<Item = &'k Charge> {
        self.kernel.budget.history()
    }

    /// The text checks on a plan, every field asked for.
    #[must_use]
    pub fn falsify(&self, plan: &Plan<'_>) -> Report {
        falsify(plan, &self.kernel.policy.falsify, Asks::ALL)
    }

    /// The modules that could go (SPEC 8). Without a registry it is derived from DEPENDENCY traces.
    #[must_use]
    pub fn prune(&self, registry: Option<&[Module]>) -> Vec<prune::Candidate> {
        prune::report(self, registry, &self.kernel.policy.prune)
    }

    /// A remembered proposal.
    #[must_use]
    pub fn proposal(&self, id: &str) -> Option<ProposalView> {
        self.kernel.known(id, self.clock).and_then(|record| self.proposal_view(id, record))
    }

    /// The last remembered proposals, the latest first.
    #[must_use]
    pub fn proposals(&self, most: usize) -> Vec<ProposalView> {
        self.kernel
            .proposals
            .iter()
            .rev()
            .filter_map(|(id, record)| self.proposal_view(id, record))
            .take(most)
            .collect()
    }

    /// The HOLDs that wait for a person, the oldest first.
    #[must_use]
    pub fn waiting(&self) -> Vec<ProposalView> {
        self.held().into_iter().filter_map(|(id, record)| self.proposal_view(id, record)).collect()
    }

    /// An act that was asked for again waits as its latest asking, or no longer.
    fn held(&self) -> Vec<(&'k str, &'k super::proposals::Record)> {
        let waits = |record: &super::proposals::Record| *record.state_at(self.clock.now) == State::Held;
        let mut seen = BTreeSet::new();
        let latest = self.kernel.proposals.iter().rev();
        let latest = latest.filter(|(_, record)| seen.insert((record.agent.as_str(), record.bound_to)));
        let mut held: Vec<_> = latest.filter(|(_, record)| waits(record)).collect();
        held.reverse();
        held
    }

    /// The kernel in a few numbers.
    #[must_use]
    pub fn status(&self) -> Status {
        let kernel = self.kernel;
        Status {
            preset: kernel.policy.preset,
            policy: kernel.policy_digest,
            now: self.clock.now,
            tick: self.clock.tick,
            ticks: self.clock.tick.saturating_sub(self.clock.counted_from),
            traces: kernel.field.traces(self.clock.tick, &kernel.policy.field).count() as u64,
            agents: kernel.agents.len() as u64,
            proposals: kernel.proposals.len() as u64,
            waiting: self.held().len() as u64,
            counts: kernel.counts,
            ledger: kernel.ledger().map(|ledger| LedgerView {
                origin: ledger.origin().to_string(),
                size: ledger.size(),
                root: ledger.head().root,
                key: ledger.key().clone(),
                incomplete: ledger.incomplete(),
            }),
        }
    }

    /// The time of the question, in milliseconds since the epoch.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.clock.now
    }

    /// The paths that a session made and may take away again.
    #[must_use]
    pub fn made_by(&self, session: &str) -> Vec<String> {
        self.kernel.memory.made_by(session).map(ToString::to_string).collect()
    }

    fn agent_view(&self, id: &str, profile: &Profile) -> AgentView {
        let policy = &self.kernel.policy;
        AgentView {
            id: id.to_string(),
            trust: profile.trust,
            role: profile.role,
            specialised: specialised_role(profile, &policy.roles),
            proposals: profile.proposals,
            accepted: profile.accepted,
            recent_failures: profile.recent_failures(&policy.trust),
            success_rate: profile.success_rate(None),
            balance: self.account(id),
        }
    }

    fn proposal_view(&self, id: &str, record: &super::proposals::Record) -> Option<ProposalView> {
        Some(ProposalView {
            id: id.to_string(),
            state: record.state_at(self.clock.now).clone(),
            at: record.at,
            deadline: record.deadline,
            digest: record.bound_to,
            estimate: record.estimate,
            verdict: record.verdict()?,
            lifecycle: self.kernel.life(id).map(|events| LifecycleView { stage: events.stage(), events }),
        })
    }
}
