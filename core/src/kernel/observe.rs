//! An observed outcome: what a host saw of a call that it ran (SPEC 10.h to 10.j).

use super::command::{Observation, ObservedReply, Time};
use super::judge::Planned;
use super::proposals::{Record, State, Trail};
use super::{GrantKey, Kernel};
use crate::error::Error;
use crate::facts::{Class, Effect};
use crate::field::{Decay, Kind, Signal, Source, key_text};
use crate::fixed::Fixed;
use crate::location::Location;
use crate::policy::Pipeline;
use alloc::string::ToString;
use alloc::sync::Arc;

impl Kernel {
    /// Records what a host saw of a call.
    ///
    /// # Errors
    /// [`Error::UnknownProposal`]; [`Error::Unavailable`] in preset `reference`, which knows no observations; [`Error::Value`] for a cost;
    /// [`Error::Attest`] with the code `attestation_key_missing`.
    pub fn observe(&mut self, at: Time, observation: &Observation) -> Result<ObservedReply, Error> {
        self.check_key()?;
        if self.policy.pipeline == Pipeline::Reference {
            let reason = "preset reference has reported outcomes only; use record_outcome";
            return Err(Error::Unavailable { feature: "observe".to_string(), reason: reason.to_string() });
        }
        let id = &observation.proposal_id;
        if let Some(cost) = &observation.cost {
            cost.check("cost")?;
        }
        let bounds = &self.policy.bounds;
        if observation.stamps.len() > bounds.list_items as usize {
            let (size, limit) = (observation.stamps.len() as u64, u64::from(bounds.list_items));
            return Err(Error::TooLong { field: crate::error::Field::new("stamps"), size, limit });
        }
        observation.stamps.iter().try_for_each(|(place, _)| place.check("stamps", bounds.location_bytes))?;
        let unknown = || Error::UnknownProposal { id: id.clone() };
        let record = self.known(id, self.clock_at(at)).ok_or_else(unknown)?.clone();
        let mut reply = ObservedReply { proposal_id: id.clone(), ..ObservedReply::default() };
        if record.observed || record.state == State::Settled {
            self.begin(at);
            reply.repeated = true;
            return Ok(reply);
        }
        let witnessed = self.attest_observed(&record, observation, self.clock_at(at).now)?;
        self.begin_with(at, witnessed.attested.entries);
        self.live_on(id, witnessed.attested.life);
        match &record.state {
            _ if witnessed.incident => {
                reply.incident = Some(record.state.as_str().to_string());
                self.counts.incidents = self.counts.incidents.saturating_add(1);
            }
            State::Refused | State::Denied { .. } => {
                reply.incident = Some(record.state.as_str().to_string());
                self.counts.incidents = self.counts.incidents.saturating_add(1);
            }
            // Nobody answered here, so that the host asked the person itself. The HOLD may have expired meanwhile.
            State::Held | State::Unanswered | State::Lapsed | State::Used { .. } => {
                reply.late_approval = true;
                self.counts.approved = self.counts.approved.saturating_add(1);
            }
            State::Open | State::Approved { .. } | State::Settled => {}
        }
        self.counts.observed = self.counts.observed.saturating_add(1);
        self.release(id);
        let cost = observation.cost.unwrap_or(record.estimate);
        self.budget.consume(self.clock.now, &record.agent, &cost, &self.policy.budget);
        let failed = if observation.ok || observation.interrupted { None } else { last_remembered(&record.trails) };
        for (number, trail) in record.trails.iter().enumerate() {
            match failed {
                _ if observation.ok => self.act_worked(&record, trail, observation, &mut reply),
                Some(failed) if number == failed => self.act_failed(&record, trail, &mut reply),
                // What stands before the failure may have run, and may have been what failed: its changes count, its success does not.
                Some(failed) if number < failed => self.act_changed(&record, trail, observation, &mut reply),
                _ => {}
            }
        }
        self.proposals.update(id, |record| {
            // What was refused stays so in the records, although it ran; what has run is over.
            record.state = match &record.state {
                State::Held if reply.incident.is_some() => State::Unanswered,
                State::Approved { .. } if reply.incident.is_some() => State::Lapsed,
                state if reply.incident.is_some() => state.clone(),
                _ if witnessed.awaits_outcome => State::Open,
                _ => State::Settled,
            };
            record.observed = true;
            record.deadline = None;
            record.trails.clear();
        });
        Ok(reply)
    }

    /// A success removes the observed marks of the same act, is remembered as a change, and, of a check, removes its marks.
    fn act_worked(&mut self, record: &Record, trail: &Trail, observation: &Observation, reply: &mut ObservedReply) {
        if trail.remembered {
            self.take_mark(&trail.place, &Kind::Act(trail.kind.clone()), reply);
        }
        for step in &trail.steps {
            self.take_mark(&step.place, &Kind::Act(step.effect.key().into()), reply);
        }
        self.act_changed(record, trail, observation, reply);
        if trail.class == Class::Check {
            let check = check_name(trail);
            for place in self.memory.take_marks(&check) {
                self.take_mark(&place, &Kind::Check(check.clone()), reply);
            }
            self.check_ran(record, trail, &check, true, reply);
        }
    }

    /// What an act changed is remembered, and frees the own key of every check and of whatever was run.
    fn act_changed(&mut self, record: &Record, trail: &Trail, observation: &Observation, reply: &mut ObservedReply) {
        for step in &trail.steps {
            self.remember_step(record, step, observation);
            self.memory.remember_change(&step.place, &self.policy.session);
        }
        if trail.steps.is_empty() {
            // What writes and names no place, as a package manager's install, is a change of its own.
            if trail.class != Class::Write {
                return;
            }
            self.memory.remember_change(&trail.place, &self.policy.session);
        }
        for (place, kind) in self.memory.check_keys() {
            let kind = Kind::Act(kind.clone());
            let gone = self.field.remove(place, &kind, Signal::Failure, self.clock.tick, &self.policy.field);
            reply.cleared = reply.cleared.saturating_add(gone);
        }
    }

    /// A failure marks the act's key; of a check also the places that were changed since it last ran.
    fn act_failed(&mut self, record: &Record, trail: &Trail, reply: &mut ObservedReply) {
        let policy = self.policy.clone();
        let mark = |kind, strength| Planned {
            kind,
            signal: Signal::Failure,
            decay: Decay::Normal,
            source: Source::Runtime,
            effective: strength,
        };
        self.mark(&trail.place, &mark(Kind::Act(trail.kind.clone()), policy.observed.failure), reply);
        for step in trail.steps.iter().filter(|step| step.place != trail.place || *step.effect.key() != *trail.kind) {
            self.mark(&step.place, &mark(Kind::Act(step.effect.key().into()), policy.observed.failure), reply);
        }
        self.grants.remove(&GrantKey {
            agent: record.agent.clone(),
            place: trail.place.clone(),
            kind: trail.kind.clone(),
        });
        if trail.class == Class::Execute {
            // Like a check it may be tried again after a change; its failure says nothing of the change.
            self.memory.remember_key(&check_name(trail), &trail.place, &trail.kind, &policy.session);
        }
        if trail.class == Class::Check {
            let check = check_name(trail);
            let places = self.memory.changed_since(&check, policy.observed.check_places);
            self.check_ran(record, trail, &check, false, reply);
            self.memory.remember_marks(&check, &places, &policy.session);
            for place in places {
                self.mark(&place, &mark(Kind::Check(check.clone()), policy.observed.check_failure), reply);
            }
        }
    }

    /// A check moves trust, at most once for each change.
    fn check_ran(&mut self, record: &Record, trail: &Trail, check: &Arc<str>, passed: bool, reply: &mut ObservedReply) {
        let policy = self.policy.clone();
        if !self.memory.remember_run(check, &trail.place, &trail.kind, &policy.session) {
            return;
        }
        let change = if passed { policy.observed.check_passed_trust } else { policy.observed.check_failed_trust };
        if change != Fixed::ZERO {
            self.agents.nudge(&record.agent, change, policy.observed.trust_floor, &policy);
            reply.trust_delta += change;
        }
    }

    /// What the session made, and how it left what git knows.
    fn remember_step(&mut self, record: &Record, step: &super::proposals::Step, observation: &Observation) {
        let bounds = &self.policy.session;
        if matches!(step.effect, Effect::Delete | Effect::Move) {
            self.memory.forget_path(&step.place);
            return;
        }
        self.memory.forget_of_others(&record.session, &step.place);
        if step.holds_others {
            self.memory.disown(&step.place);
        } else if step.was_absent {
            self.memory.remember_made(&record.session, &step.place, bounds);
        }
        let stamp = observation.stamps.iter().find(|(place, _)| *place == step.place);
        if let Some((_, stamp)) = stamp.filter(|_| step.was_safe) {
            self.memory.remember_left(&record.session, &step.place, *stamp, bounds);
        }
    }

    fn mark(&mut self, place: &Location, planned: &Planned, reply: &mut ObservedReply) {
        self.leave(place, planned);
        reply.marked.push(key_text(place, &planned.kind));
    }

    fn take_mark(&mut self, place: &Location, kind: &Kind, reply: &mut ObservedReply) {
        let gone = self.field.remove(place, kind, Signal::Failure, self.clock.tick, &self.policy.field);
        reply.cleared = reply.cleared.saturating_add(gone);
    }
}

/// The last act that could have failed.
fn last_remembered(trails: &[Trail]) -> Option<usize> {
    trails.iter().rposition(|trail| trail.remembered)
}

/// A check by its key, each for itself.
fn check_name(trail: &Trail) -> Arc<str> {
    key_text(&trail.place, &Kind::Act(trail.kind.clone())).into()
}
