//! One judgement, without any effect: what the verdict is, and what it would leave. A witness stops here.

use super::proposals::{Record, State, Trail};
use super::{Clock, GrantKey, Kernel};
use crate::budget::{Budget, Cost};
use crate::digest::{Digest, binary};
use crate::facts::{self, Act, Call, Class, FactKind, Observation};
use crate::falsify::{Asks, Finding, Severity, falsify};
use crate::field::{Channels, Decay, Kind, Signal, Source, key_text};
use crate::fixed::Fixed;
use crate::gate::{self, Assessment, Decision, Missing, Question, Reason, ReasonCode, Verdict};
use crate::location::Location;
use crate::policy::{Pipeline, Policy};
use crate::proposal::Proposal;
use crate::rules;
use crate::trust::infer_role;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A trace that a command leaves at its place.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) kind: Kind,
    pub(super) signal: Signal,
    pub(super) decay: Decay,
    pub(super) source: Source,
    pub(super) effective: Fixed,
}

/// A verdict and what follows from it.
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    pub(super) deposits: Vec<Planned>,
    pub(super) irreversible: bool,
    /// The approval that it uses.
    pub(super) uses: Option<Arc<str>>,
}

/// What is known of a proposal before the gate is asked.
struct Known {
    class: Class,
    weighed: bool,
    findings: Vec<Finding>,
    excused: Vec<usize>,
    missing: Missing,
    irreversible: bool,
    denied: Option<rules::Match>,
    asked: Option<rules::Match>,
    allowed: Option<String>,
}

impl Kernel {
    /// Judges a proposal that was read, at a clock. Changes nothing.
    pub(super) fn judge(&self, proposal: &Proposal, content: &Digest, asked_again: bool, clock: Clock) -> Judgement {
        let policy = &*self.policy;
        let known = match (&proposal.call, policy.pipeline) {
            (Some(call), Pipeline::Standard) => self.known_call(&proposal.action_type, call),
            _ => known_text(proposal, policy),
        };
        let before = published_findings(&known.findings, policy);
        let (channels, hazard_at) = self.read_field(proposal, &known, &before, clock);
        let estimate = self.estimate(proposal);
        let before_it = asked_again.then(|| self.known(&proposal.proposal_id, clock)).flatten();
        let approval = self.proposals.approval(&proposal.agent_id, &bound_to(proposal, content), clock.now);
        let own = set_aside(&proposal.proposal_id, before_it, approval, clock);
        let budget = self.budget_at(clock).check_with(&proposal.agent_id, &estimate, &own, &policy.budget);
        let profile = self.agents.get(&proposal.agent_id);
        let trust = profile.map_or(policy.trust.initial, |profile| profile.trust);
        let counted = profile.map_or(0, |profile| profile.proposals);
        let proposals = counted.saturating_add(u64::from(before_it.is_none()));
        let role = infer_role(trust, proposals, &policy.roles);
        let question = Question {
            budget: &budget,
            standalone: false,
            role,
            trust,
            recent_failures: profile.map_or(0, |profile| profile.recent_failures(&policy.trust)),
            channels,
            hazard_at: &hazard_at,
            findings: &known.findings,
            excused: &known.excused,
            missing: known.missing,
            class: known.class,
            weighed: known.weighed,
            denied: known.denied.as_ref(),
            asked: known.asked.as_ref(),
            allowed: known.allowed.as_deref(),
        };
        let mut assessment = gate::assess(&question, policy);
        let uses = self.let_pass(proposal, &known, approval, &mut assessment, clock);
        let deposits = plan_deposits(before, &known, &assessment, trust, policy);
        let expires = policy.approval.expires_seconds.saturating_mul(1000);
        let verdict = Verdict {
            id: proposal.proposal_id.clone(),
            agent: proposal.agent_id.clone(),
            decision: assessment.decision,
            score: assessment.score,
            components: assessment.components,
            risk: channels.risk,
            failure: channels.failure,
            prospective: assessment.prospective,
            hazard: assessment.hazard,
            hazard_at,
            tier: assessment.tier,
            overridden: assessment.overridden,
            reasons: assessment.reasons,
            required_evidence: assessment.required_evidence,
            findings: known.findings,
            severity: assessment.severity,
            budget,
            role,
            trust,
            class: known.class,
            tick: clock.tick,
            expires_at: (assessment.decision == Decision::Hold && policy.pipeline == Pipeline::Standard)
                .then(|| clock.now.saturating_add(expires)),
            policy: self.policy_digest,
        };
        Judgement { verdict, deposits, irreversible: known.irreversible, uses }
    }

    /// Facts, rules and missing fields of a tool call (SPEC 10.g, 11).
    fn known_call(&self, tool: &str, call: &Call) -> Known {
        let policy = &*self.policy;
        let observations = facts::observe(call, policy, &self.memory);
        let irreversible = observations.iter().any(|seen| seen.fact.kind == FactKind::Irreversible);
        let allowed_acts: Vec<Option<&str>> =
            call.acts.iter().map(|act| rules::allowed(tool, call, act, policy)).collect();
        let mut known = Known {
            class: call.class(),
            weighed: call.acts.iter().any(Act::is_remembered),
            findings: Vec::new(),
            excused: Vec::new(),
            missing: Missing::default(),
            irreversible,
            denied: rules::denied(tool, call, policy),
            asked: rules::asked(tool, call, policy),
            allowed: None,
        };
        for observation in &observations {
            let Some(finding) = facts::finding(observation, policy) else { continue };
            let rule = excusing(observation, &allowed_acts).filter(|_| finding.severity < Severity::Critical);
            if let Some(rule) = rule {
                known.excused.push(known.findings.len());
                known.allowed.get_or_insert_with(|| rule.to_string());
            } else if observation.fact.kind == FactKind::Irreversible {
                known.missing = Missing { rollback_plan: true, evidence: true, expected_outcome: false };
            }
            known.findings.push(finding);
        }
        known
    }

    /// RISK and FAILURE as the gate reads them, and where the larger is.
    fn read_field(&self, proposal: &Proposal, known: &Known, before: &[Planned], clock: Clock) -> (Channels, String) {
        let policy = &*self.policy;
        let rates = &policy.field;
        if policy.pipeline == Pipeline::Reference {
            let mut channels = self.field.channels(&proposal.target, clock.tick, rates);
            for planned in before {
                let channel = if planned.signal == Signal::Risk { &mut channels.risk } else { &mut channels.failure };
                *channel = (*channel + planned.effective).at_most(rates.max_strength);
            }
            return (channels, proposal.target.as_str().to_string());
        }
        let mut reading = FieldReading::default();
        match &proposal.call {
            Some(call) => {
                for act in call.acts.iter().filter(|act| act.is_remembered()) {
                    self.read_act(act, clock, &mut reading);
                }
            }
            None if known.weighed => {
                reading.take(self.field.channels_below(&proposal.target, clock.tick, rates), &proposal.target);
                if known.class > Class::Check {
                    let here = self.field.readings(&proposal.target, "", clock.tick, rates);
                    reading.raise(here.checks, || failing_checks(&proposal.target));
                }
            }
            None => {}
        }
        (reading.channels, reading.at)
    }

    /// The hazard for (place, kind) of an act and of each place that it changes (SPEC 10.i).
    fn read_act(&self, act: &Act, clock: Clock, reading: &mut FieldReading) {
        self.read_key(
            &act.place,
            &act.kind,
            act.targets.iter().any(|target| target.folder && target.place == act.place),
            act.class != Class::Check && act.class != Class::Read,
            clock,
            reading,
        );
        for target in act.targets.iter().filter(|target| target.effect.changes() && !act.dry_run) {
            self.read_key(&target.place, target.effect.key(), target.folder, true, clock, reading);
        }
    }

    fn read_key(
        &self,
        place: &Location,
        kind: &str,
        folder: bool,
        changes: bool,
        clock: Clock,
        reading: &mut FieldReading,
    ) {
        let rates = &self.policy.field;
        let here = self.field.readings(place, kind, clock.tick, rates);
        reading.raise(here.act, || key_text(place, &Kind::Act(kind.into())));
        if changes {
            reading.raise(here.checks, || failing_checks(place));
        }
        reading.raise(here.place, || place.as_str().to_string());
        if folder {
            reading.take(self.field.channels_below(place, clock.tick, rates), place);
        }
    }

    /// The budget as it is at a clock, whether or not a command has come since: what is due is free, a period that has ended is empty.
    pub(super) fn budget_at(&self, clock: Clock) -> Cow<'_, Budget> {
        let over = self.budget.is_over(clock.now, &self.policy.budget);
        let mut due = self.proposals.due(clock.now).filter(|(_, record)| record.reserved).peekable();
        if !over && due.peek().is_none() {
            return Cow::Borrowed(&self.budget);
        }
        let mut budget = self.budget.clone();
        for (_, record) in due {
            budget.release(&record.agent, &record.estimate);
        }
        if over {
            budget.reset(clock.now);
        }
        Cow::Owned(budget)
    }

    /// What a proposal is thought to cost; a tool call that says nothing costs what the policy says.
    fn estimate(&self, proposal: &Proposal) -> Cost {
        if proposal.call.is_some() && proposal.budget_estimate.is_zero() {
            self.policy.budget.call_cost
        } else {
            proposal.budget_estimate
        }
    }

    /// A HOLD passes on a person's word: an approval of exactly this, or a standing grant for all its acts (SPEC 10.k).
    fn let_pass(
        &self,
        proposal: &Proposal,
        known: &Known,
        approval: Option<(&Arc<str>, &Record)>,
        assessment: &mut Assessment,
        clock: Clock,
    ) -> Option<Arc<str>> {
        if assessment.decision != Decision::Hold || self.policy.pipeline == Pipeline::Reference {
            return None;
        }
        if let Some((id, Record { state: State::Approved { by }, .. })) = approval {
            pass(assessment, Reason::about(ReasonCode::Approved, by));
            return Some(id.clone());
        }
        if let Some(by) = self.granted(proposal, known, clock) {
            pass(assessment, Reason::about(ReasonCode::StandingGrant, by));
        }
        None
    }

    /// Who granted every act of a call that is more than looking.
    fn granted(&self, proposal: &Proposal, known: &Known, clock: Clock) -> Option<&str> {
        if known.irreversible || self.grants.is_empty() {
            return None;
        }
        let call = proposal.call.as_ref()?;
        let mut by = None;
        for act in call.acts.iter().filter(|act| act.is_remembered() || !act.facts.is_empty()) {
            let key =
                GrantKey { agent: proposal.agent_id.clone(), place: act.place.clone(), kind: act.kind.as_str().into() };
            by = Some(self.grants.get(&key).filter(|grant| grant.until > clock.now)?.by.as_str());
        }
        by
    }

    /// Remembers a judged proposal: its record, its reservation, the approval that it used.
    pub(super) fn remember(&mut self, proposal: Proposal, content: Digest, judgement: &Judgement) {
        let verdict = &judgement.verdict;
        let now = self.clock.now;
        let replaced = proposal.proposal_id.as_str();
        if let Some(used) = &judgement.uses {
            self.release(used);
            if **used != *replaced {
                let retry = proposal.proposal_id.clone();
                self.proposals.update(used, |record| {
                    record.state = State::Used { retry };
                    record.deadline = None;
                });
            }
        }
        let (state, count) = match verdict.decision {
            Decision::Execute => (State::Open, &mut self.counts.executed),
            Decision::Hold => (State::Held, &mut self.counts.held),
            Decision::Refuse => (State::Refused, &mut self.counts.refused),
        };
        *count = count.saturating_add(1);
        let estimate = self.estimate(&proposal);
        let reserves = state == State::Open && self.policy.budget.reserve;
        let reserved = reserves && self.budget.reserve(&proposal.agent_id, &estimate);
        let deadline = match state {
            State::Held => verdict.expires_at,
            _ => reserved.then(|| now.saturating_add(self.policy.budget.reservation_seconds.saturating_mul(1000))),
        };
        let call = proposal.call.as_ref();
        let session = call.map(|call| call.session.clone()).unwrap_or_default();
        let memory = &self.memory;
        let was_safe = |target: &facts::Target| {
            use facts::Before;
            matches!(target.before, Before::Committed)
                || (target.before == Before::Changed && memory.left_so(&session, &target.place, target.stamp))
        };
        let is_own = |target: &facts::Target| memory.made(&session, &target.place);
        // What was refused leaves no trail, and needs none.
        let trails = call
            .filter(|_| state != State::Refused)
            .map(|call| call.acts.iter().map(|act| Trail::of(act, was_safe, is_own)).collect());
        let record = Record {
            content,
            bound_to: bound_to(&proposal, &content),
            agent: proposal.agent_id,
            session,
            action_type: proposal.action_type,
            target: proposal.target,
            at: now,
            state,
            deadline,
            estimate,
            reserved,
            irreversible: judgement.irreversible,
            observed: false,
            trails: trails.unwrap_or_default(),
            verdict: binary(verdict).unwrap_or_default(),
        };
        self.proposals.insert(&proposal.proposal_id, record);
        self.forget();
    }
}

/// What an approval is bound to: the digest of what will run, or, for a proposal in words, of its content.
pub(super) fn bound_to(proposal: &Proposal, content: &Digest) -> Digest {
    proposal.call.as_ref().map_or(*content, |call| call.digest)
}

/// What is set aside for this very proposal: by an earlier verdict on its id, or by the approval that it can use.
fn set_aside(id: &str, before: Option<&Record>, approval: Option<(&Arc<str>, &Record)>, clock: Clock) -> Cost {
    let other = approval.filter(|(approved, _)| ***approved != *id).map(|(_, record)| record);
    let lasts = |record: &&Record| record.reserved && record.deadline.is_none_or(|deadline| deadline > clock.now);
    let held = [before, other].into_iter().flatten().filter(lasts);
    held.fold(Cost::default(), |sum, record| sum.plus(&record.estimate))
}

fn failing_checks(place: &Location) -> String {
    alloc::format!("{place}{}", crate::explain::FAILING_CHECKS)
}

/// The strongest channels met so far.
#[derive(Default)]
struct FieldReading {
    channels: Channels,
    at: String,
}

impl FieldReading {
    fn raise(&mut self, found: Channels, at: impl FnOnce() -> String) {
        if found.hazard() > self.channels.hazard() {
            self.at = at();
        }
        self.channels.risk = self.channels.risk.max(found.risk);
        self.channels.failure = self.channels.failure.max(found.failure);
    }

    fn take(&mut self, (found, worst): (Channels, Option<Arc<str>>), asked: &Location) {
        self.raise(found, || worst.map_or_else(|| asked.as_str().to_string(), |worst| worst.to_string()));
    }
}

/// Text checks and missing fields of a proposal in words.
fn known_text(proposal: &Proposal, policy: &Policy) -> Known {
    let class = class_of(proposal, policy);
    let reference = policy.pipeline == Pipeline::Reference;
    let asks = if !reference && class.is_harmless() { Asks::NONE } else { Asks::ALL };
    let report = falsify(&proposal.plan(policy.pipeline), &policy.falsify, asks);
    let mut missing = proposal.missing();
    if !reference {
        missing.rollback_plan &= !class.is_harmless();
        if class == Class::Read {
            missing = Missing::default();
        }
    }
    Known {
        class,
        weighed: reference || class != Class::Read,
        findings: report.findings,
        excused: Vec::new(),
        missing,
        irreversible: false,
        denied: None,
        asked: None,
        allowed: None,
    }
}

/// The class of a proposal in words. Who proposes may say it of an action type that the policy knows by no name, and is otherwise
/// taken at the stricter word: a deletion that calls itself reading deletes.
fn class_of(proposal: &Proposal, policy: &Policy) -> Class {
    let rule = policy.classes.iter().find(|rule| rule.pattern.matches(&proposal.action_type));
    let mapped = rule.map_or(Class::Execute, |rule| rule.class);
    let by_name = rule.is_some_and(|rule| rule.pattern.as_str() != "*");
    match proposal.class {
        Some(declared) if by_name => declared.max(mapped),
        Some(declared) => declared,
        None => mapped,
    }
}

/// The `allow` rule that takes a fact's friction: that of its act, or, for a fact of the whole call, any when all acts have one.
fn excusing<'r>(observation: &Observation, allowed: &[Option<&'r str>]) -> Option<&'r str> {
    match observation.act {
        Some(number) => allowed.get(number).copied().flatten(),
        None => allowed.iter().copied().reduce(|all, one| all.and(one)).flatten(),
    }
}

fn pass(assessment: &mut Assessment, reason: Reason) {
    assessment.decision = Decision::Execute;
    assessment.overridden = Some(reason.code);
    assessment.reasons.insert(0, reason);
    assessment.required_evidence = Vec::new();
}

/// What the findings leave before the published gate reads the field (SPEC 7).
fn published_findings(findings: &[Finding], policy: &Policy) -> Vec<Planned> {
    if policy.pipeline != Pipeline::Reference {
        return Vec::new();
    }
    let deposits = &policy.deposits;
    let planned = findings.iter().filter_map(|finding| {
        let rank = u64::from(finding.severity.rank());
        let (signal, strength) = match finding.severity {
            Severity::Low => return None,
            Severity::Medium => (Signal::Risk, deposits.finding_risk.times_count(rank)),
            Severity::High | Severity::Critical => (Signal::Failure, deposits.finding_failure.times_count(rank)),
        };
        Some(plan(signal, Decay::Fast, strength, Fixed::ONE, policy))
    });
    planned.collect()
}

/// What a judged proposal leaves, in order.
fn plan_deposits(
    before: Vec<Planned>,
    known: &Known,
    assessment: &Assessment,
    trust: Fixed,
    policy: &Policy,
) -> Vec<Planned> {
    let deposits = &policy.deposits;
    let grave = known.findings.iter().filter(|finding| finding.severity >= Severity::Medium).count() as u64;
    let risk = deposits.risk_per_finding.times_count(grave).at_most(deposits.risk_most);
    let mut planned = before;
    match policy.pipeline {
        Pipeline::Reference if assessment.decision == Decision::Refuse => {
            let strength = deposits.refusal + deposits.refusal_severity.times(assessment.severity);
            planned.push(plan(Signal::Failure, Decay::Normal, strength, trust, policy));
        }
        Pipeline::Reference if grave > 0 => planned.push(plan(Signal::Risk, Decay::Fast, risk, trust, policy)),
        Pipeline::Standard if grave > 0 && known.weighed => {
            planned.push(Planned { kind: Kind::Prospective, ..plan(Signal::Risk, Decay::Fast, risk, trust, policy) });
        }
        _ => {}
    }
    planned
}

fn plan(signal: Signal, decay: Decay, strength: Fixed, factor: Fixed, policy: &Policy) -> Planned {
    let effective = strength.times(policy.field.multiplier(Source::Agent)).times(factor);
    Planned { kind: Kind::Place, signal, decay, source: Source::Agent, effective }
}
