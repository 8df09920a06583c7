//! What people say to a HOLD: approval, for one use, or denial (SPEC 10.h, 10.k).

use super::command::{Approval, Approve, Denial, Deny, Feedback, Time};
use super::judge::Planned;
use super::proposals::{Record, State};
use super::{Grant, Kernel};
use crate::error::Error;
use crate::field::{Decay, Kind, Signal, Source};
use crate::fixed::Fixed;
use crate::location::check_length;
use crate::policy::Pipeline;
use crate::proposal::check_actor;
use alloc::string::ToString;

impl Kernel {
    /// Approves a HOLD: for one use, bound to what was judged, expiring.
    ///
    /// # Errors
    /// [`Error::UnknownProposal`]; [`Error::WrongState`] when it is not held any more; [`Error::NotAllowed`] for an agent, or for a standing
    /// grant of something that cannot come back; [`Error::Value`] for another digest or too long a grant; [`Error::Full`] for a standing
    /// grant too many; [`Error::Unavailable`] in preset `reference`; [`Error::Attest`] for what the ledger refuses.
    pub fn approve(&mut self, at: Time, approve: &Approve) -> Result<Approval, Error> {
        let record = self.held(at, &approve.proposal_id, &approve.by)?.clone();
        if approve.digest.is_some_and(|digest| digest != record.bound_to) {
            return Err(Error::value("digest", &alloc::format!("{}, the digest of what was judged", record.bound_to)));
        }
        let grant = approve.standing_seconds.map(|seconds| self.check_grant(&record, approve, seconds)).transpose()?;
        let policy = self.policy.clone();
        let now = self.clock_at(at).now;
        let expires_at = now.saturating_add(policy.approval.expires_seconds.saturating_mul(1000));
        let attested = self.attest_approval(approve, &record, now, expires_at)?;
        self.begin_with(at, attested.entries);
        self.live_on(&approve.proposal_id, attested.life);
        let over_budget = !self.budget.check(&record.agent, &record.estimate, &policy.budget).approved;
        let reserved = policy.budget.reserve && self.budget.reserve(&record.agent, &record.estimate);
        self.proposals.update(&approve.proposal_id, |record| {
            record.state = State::Approved { by: approve.by.clone() };
            record.deadline = Some(expires_at);
            record.reserved = reserved;
        });
        let standing_until = grant.map(|seconds| now.saturating_add(seconds.saturating_mul(1000)));
        if let Some(until) = standing_until {
            for key in record.grant_keys() {
                self.grants.insert(key, Grant { until, by: approve.by.clone() });
            }
        }
        let success = policy.deposits.approval.times(policy.field.multiplier(Source::Human));
        self.say(&record, Signal::Success, Decay::Slow, success);
        self.give_feedback(&record, approve.feedback);
        self.counts.approved = self.counts.approved.saturating_add(1);
        Ok(Approval {
            proposal_id: approve.proposal_id.clone(),
            by: approve.by.clone(),
            digest: record.bound_to,
            expires_at,
            standing_until,
            over_budget,
        })
    }

    /// Denies a HOLD: FAILURE at the place. Trust moves by feedback alone.
    ///
    /// # Errors
    /// As [`Kernel::approve`]; [`Error::TooLong`] for the reason.
    pub fn deny(&mut self, at: Time, deny: &Deny) -> Result<Denial, Error> {
        check_length("reason", &deny.reason, self.policy.bounds.text_bytes)?;
        let record = self.held(at, &deny.proposal_id, &deny.by)?.clone();
        let now = self.clock_at(at).now;
        let attested = self.attest_denial(deny, now)?;
        self.begin_with(at, attested.entries);
        self.live_on(&deny.proposal_id, attested.life);
        self.proposals.update(&deny.proposal_id, |record| {
            record.state = State::Denied { by: deny.by.clone() };
            record.deadline = None;
            record.trails.clear();
        });
        let failure = self.say(&record, Signal::Failure, Decay::Fast, self.policy.deposits.denial);
        self.give_feedback(&record, deny.feedback);
        self.counts.denied = self.counts.denied.saturating_add(1);
        Ok(Denial { proposal_id: deny.proposal_id.clone(), by: deny.by.clone(), failure })
    }

    /// A proposal that a person may answer now.
    fn held(&self, at: Time, id: &str, by: &str) -> Result<&Record, Error> {
        self.check_key()?;
        check_actor("by", by, &self.policy.bounds)?;
        if self.policy.pipeline == Pipeline::Reference {
            let reason = "preset reference has no approvals";
            return Err(Error::Unavailable { feature: "approve".to_string(), reason: reason.to_string() });
        }
        if self.agents.speaks_for_an_agent(by) {
            return Err(Error::NotAllowed {
                actor: by.to_string(),
                reason: "agents cannot answer a HOLD; a person has to".to_string(),
            });
        }
        let clock = self.clock_at(at);
        let record = self.known(id, clock).ok_or_else(|| Error::UnknownProposal { id: id.to_string() })?;
        let state = record.state_at(clock.now);
        if *state != State::Held {
            return Err(Error::WrongState {
                id: id.to_string(),
                state: state.as_str().to_string(),
                expected: "held".to_string(),
            });
        }
        Ok(record)
    }

    fn check_grant(&self, record: &Record, approve: &Approve, seconds: u64) -> Result<u64, Error> {
        let longest = self.policy.approval.longest_grant_seconds;
        if seconds == 0 || seconds > longest {
            return Err(Error::value("standing_seconds", &alloc::format!("between 1 and {longest} seconds")));
        }
        if record.irreversible {
            let reason = "a standing grant is never given for what cannot come back";
            return Err(Error::NotAllowed { actor: approve.by.clone(), reason: reason.to_string() });
        }
        let keys = record.grant_keys().count() as u64;
        if keys == 0 {
            return Err(Error::value(
                "standing_seconds",
                "a tool call that does more than look; this one has nothing to grant",
            ));
        }
        let most = u64::from(self.policy.approval.grants);
        if (self.grants.len() as u64).saturating_add(keys) > most {
            return Err(Error::Full { what: "grants".to_string(), limit: most });
        }
        Ok(seconds)
    }

    /// A person's trace at the place of a proposal.
    fn say(&mut self, record: &Record, signal: Signal, decay: Decay, strength: Fixed) -> Fixed {
        let planned = Planned { kind: Kind::Place, signal, decay, source: Source::Human, effective: strength };
        self.leave(&record.target, &planned)
    }

    fn give_feedback(&mut self, record: &Record, feedback: Feedback) {
        let change = feedback.value().times(self.policy.trust.feedback);
        if change != Fixed::ZERO {
            let policy = self.policy.clone();
            self.agents.nudge(&record.agent, change, Fixed::ZERO, &policy);
        }
    }
}
