//! A reported outcome: history, trust, budget and traces (SPEC 7).

use super::Kernel;
use super::command::{OutcomeReply, OutcomeReport, Subject, Time};
use super::judge::{Planned, bound_to};
use super::proposals::{Record, State};
use crate::budget::Cost;
use crate::digest::Digest;
use crate::error::Error;
use crate::field::{Decay, Kind, Signal, Source};
use crate::fixed::Fixed;
use crate::location::{Location, check_length};
use crate::policy::Pipeline;
use crate::trust::Report;
use alloc::string::{String, ToString};

/// What an outcome needs to know of its proposal.
pub(super) struct About {
    pub(super) id: String,
    pub(super) agent: String,
    /// The digest of what was judged.
    pub(super) bound_to: Digest,
    action_type: String,
    target: Location,
    estimate: Cost,
    /// It was counted when it was proposed, and is remembered.
    pub(super) counted: bool,
    /// A host has seen it, and its cost is settled.
    observed: bool,
}

impl Kernel {
    /// Records a reported outcome (SPEC 4, 7).
    ///
    /// # Errors
    /// [`Error::UnknownProposal`] for an id that is not remembered; [`Error::WrongState`] (not in `reference`) for a proposal that was not
    /// allowed, or whose outcome is known; [`Error::IdConflict`] (not in `reference`) for a proposal other than the one that was judged
    /// under its id; [`Error::Value`] and [`Error::TooLong`] for fields; [`Error::Full`]; [`Error::Attest`] with the code
    /// `attestation_required` where only the linked outcome is accepted ([`Kernel::conclude`]).
    pub fn record_outcome(&mut self, at: Time, report: &OutcomeReport) -> Result<OutcomeReply, Error> {
        self.check_key()?;
        check_length("summary", &report.summary, self.policy.bounds.text_bytes)?;
        let about = self.about(at, &report.proposal)?;
        self.agents.check_room(&about.agent, &self.policy.bounds)?;
        let attested = self.attest_report(&about.id, report, self.clock_at(at).now)?;
        self.begin_with(at, attested.entries);
        self.live_on(&about.id, attested.life);
        Ok(self.settle_outcome(about, report))
    }

    /// What an outcome does, once it is accepted.
    pub(super) fn settle_outcome(&mut self, about: About, report: &OutcomeReport) -> OutcomeReply {
        self.release(&about.id);
        let counts = self.policy.pipeline == Pipeline::Reference || !about.counted;
        let history = Report {
            id: &about.id,
            action_type: &about.action_type,
            passed: report.tests_passed,
            repair: report.repair_needed,
            feedback: report.human_feedback.value(),
        };
        let trust_delta = self.agents.record(&about.agent, &history, counts, &self.policy);
        let stated = report.cost.get().unwrap_or(about.estimate);
        let cost = if about.observed { Cost::default() } else { stated };
        self.budget.consume(self.clock.now, &about.agent, &cost, &self.policy.budget);
        self.leave_outcome(&about.target, report);
        if !report.tests_passed {
            self.end_grants(&about.id);
        }
        self.proposals.update(&about.id, |record| {
            record.state = State::Settled;
            record.deadline = None;
            record.trails.clear();
        });
        self.counts.outcomes = self.counts.outcomes.saturating_add(1);
        let profile = self.agents.entry(&about.agent, &self.policy.trust);
        OutcomeReply {
            proposal_id: about.id,
            agent_id: about.agent,
            trust_delta,
            trust: profile.trust,
            role: profile.role,
            total_proposals: profile.proposals,
            accepted_proposals: profile.accepted,
            recent_failures: profile.recent_failures(&self.policy.trust),
            cost,
        }
    }

    /// A standing grant ends with a failure of its act.
    fn end_grants(&mut self, id: &str) {
        for key in self.proposals.get(id).into_iter().flat_map(Record::grant_keys) {
            self.grants.remove(&key);
        }
    }

    pub(super) fn about(&self, at: Time, subject: &Subject) -> Result<About, Error> {
        let clock = self.clock_at(at);
        let id = match subject {
            Subject::Id(id) => id.as_str(),
            Subject::Proposal(proposal) => proposal.proposal_id.as_str(),
        };
        let record = self.known(id, clock);
        if let Some(record) = record.filter(|_| self.policy.pipeline == Pipeline::Standard) {
            let state = record.state_at(clock.now);
            if !matches!(state, State::Open | State::Approved { .. }) {
                return Err(Error::WrongState {
                    id: id.to_string(),
                    state: state.as_str().to_string(),
                    expected: "open or approved".to_string(),
                });
            }
        }
        match (subject, record) {
            (Subject::Proposal(proposal), known) => {
                let proposal = self.read((**proposal).clone()).map_err(|error| error.within("proposal"))?;
                let content = proposal.content();
                let other = known.is_some_and(|record| record.content != content);
                if other && self.policy.pipeline == Pipeline::Standard {
                    return Err(Error::IdConflict { id: proposal.proposal_id });
                }
                Ok(About {
                    bound_to: bound_to(&proposal, &content),
                    id: proposal.proposal_id,
                    agent: proposal.agent_id,
                    action_type: proposal.action_type,
                    target: proposal.target,
                    estimate: proposal.budget_estimate,
                    counted: known.is_some(),
                    observed: known.is_some_and(|record| record.observed),
                })
            }
            (Subject::Id(_), Some(record)) => Ok(About {
                id: id.to_string(),
                agent: record.agent.clone(),
                bound_to: record.bound_to,
                action_type: record.action_type.clone(),
                target: record.target.clone(),
                estimate: record.estimate,
                counted: true,
                observed: record.observed,
            }),
            (Subject::Id(_), None) => Err(Error::UnknownProposal { id: id.to_string() }),
        }
    }

    fn leave_outcome(&mut self, target: &Location, report: &OutcomeReport) {
        let policy = self.policy.clone();
        let deposits = &policy.deposits;
        let plan = |signal, decay, source, strength: Fixed| Planned {
            kind: Kind::Place,
            signal,
            decay,
            source,
            effective: strength.times(policy.field.multiplier(source)),
        };
        if report.tests_passed {
            self.field.reinforce(target, &Kind::Place, Signal::Success, self.clock.tick, &policy.field);
            if !report.repair_needed {
                self.leave(target, &plan(Signal::Success, Decay::Slow, Source::Test, deposits.success));
            }
        } else {
            self.leave(target, &plan(Signal::Failure, Decay::Fast, Source::Test, deposits.failure));
        }
        self.leave(target, &plan(Signal::Dependency, Decay::Slow, Source::Runtime, deposits.dependency));
    }
}
