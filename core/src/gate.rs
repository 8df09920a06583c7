//! The gate: from what is known to EXECUTE, HOLD or REFUSE, with reasons (SPEC 5, 10.a, 10.b).
//!
//! [`assess`] is a pure function of a [`Question`] and the policy's numbers. The published gate stops at its first override;
//! the standard one asks every rule and takes the strictest answer, the first rule that gives it being the reason shown first.

use crate::budget::Answer;
use crate::digest::Digest;
use crate::facts::Class;
use crate::falsify::{Finding, Severity};
use crate::field::{Channels, Tick};
use crate::fixed::Fixed;
use crate::policy::{self, Permission, Pipeline, Policy};
use crate::rules::Match;
use crate::trust::Role;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The answer, the mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Go on.
    Execute,
    /// Not without a person's approval, or not yet.
    Hold,
    /// No.
    Refuse,
}

impl Decision {
    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Execute => "execute",
            Self::Hold => "hold",
            Self::Refuse => "refuse",
        }
    }
}

/// How hot a place is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Below the medium tier.
    #[default]
    Clear,
    /// From the policy's `medium_hazard`.
    Medium,
    /// From the policy's `high_hazard`.
    High,
}

/// The four parts of the score, each in [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Components {
    /// 1.
    pub budget: Fixed,
    /// By the hazard's tier.
    pub risk: Fixed,
    /// By trust and recent failures.
    pub trust: Fixed,
    /// By missing fields.
    pub completeness: Fixed,
}

/// Why. Codes are stable; their values are in [`Reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasonCode {
    /// A `deny` rule matched; subject: the rule.
    DenyRule,
    /// A CRITICAL finding; subject: its detail.
    CriticalFinding,
    /// The agent is in SANDBOX.
    RoleSandbox,
    /// The role may not do acts of this class; subject: the class.
    RoleForbids,
    /// The role may do acts of this class only with approval; subject: the class.
    RoleHolds,
    /// A budget would be exceeded; subject: account and dimension, value: projected, limit: cap.
    BudgetExceeded,
    /// Trust is too low; value: trust, limit: floor.
    TrustBelowFloor,
    /// An `ask` rule matched; subject: the rule.
    AskRule,
    /// The place is in the medium tier; subject: the place, value: hazard, limit: where the tier begins.
    HazardMedium,
    /// The place is in the high tier; as `hazard_medium`.
    HazardHigh,
    /// The proposal's own findings bring it into a tier; subject: the causes, value and limit as `hazard_medium`.
    RiskyFindings,
    /// The score; value: score, limit: the threshold of EXECUTE.
    Score,
    /// Two or more things held together are refused; value: score, limit: the threshold of HOLD.
    ScoreTooLow,
    /// An `allow` rule took away the friction of findings; subject: the rule.
    AllowRule,
    /// A person approved exactly this; subject: who.
    Approved,
    /// A person allowed this act at this place for a while; subject: who.
    StandingGrant,
}

/// A reason: a code and its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The code.
    pub code: ReasonCode,
    /// What it is about; empty where the code says all.
    pub subject: String,
    /// The value that was compared.
    pub value: Option<Fixed>,
    /// What it was compared with.
    pub limit: Option<Fixed>,
}

impl Reason {
    /// A reason without numbers.
    #[must_use]
    pub fn about(code: ReasonCode, subject: &str) -> Self {
        Self { code, subject: subject.to_string(), value: None, limit: None }
    }

    fn compared(code: ReasonCode, subject: &str, value: Fixed, limit: Fixed) -> Self {
        Self { code, subject: subject.to_string(), value: Some(value), limit: Some(limit) }
    }
}

/// What would change the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Evidence {
    /// The budget's next period, or another cap.
    BudgetRecovered,
    /// A role above SANDBOX.
    EarnRole,
    /// More accepted proposals.
    AccumulateAccepted,
    /// Trust above the floor.
    TrustAboveFloor,
    /// The remedy of a CRITICAL finding.
    RemedyCritical,
    /// A rollback plan.
    AddRollbackPlan,
    /// Evidence.
    AddEvidence,
    /// An expected outcome.
    StateExpectedOutcome,
    /// More trust.
    RaiseTrust,
    /// A place where less has failed.
    LowerHazard,
    /// Findings resolved.
    ResolveFindings,
    /// A person's approval.
    HumanApproval,
    /// Another rule.
    ChangeRule,
}

/// Which of the three asked fields are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// No rollback plan.
    pub rollback_plan: bool,
    /// No evidence.
    pub evidence: bool,
    /// No expected outcome.
    pub expected_outcome: bool,
}

impl Missing {
    fn count(self) -> u64 {
        [self.rollback_plan, self.evidence, self.expected_outcome].into_iter().map(u64::from).sum()
    }
}

/// Everything that the gate weighs.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Whether the budget covers the estimate.
    pub budget: &'a Answer,
    /// The gate stands alone: a failed budget refuses instead of holding.
    pub standalone: bool,
    /// The agent's role.
    pub role: Role,
    /// The agent's trust in [0, 1].
    pub trust: Fixed,
    /// The agent's recent failures.
    pub recent_failures: u32,
    /// What the field holds at the place.
    pub channels: Channels,
    /// Where the larger channel was read, for people.
    pub hazard_at: &'a str,
    /// All findings.
    pub findings: &'a [Finding],
    /// The findings that an `allow` rule took the friction from, by number.
    pub excused: &'a [usize],
    /// The fields that are missing.
    pub missing: Missing,
    /// The class of the act.
    pub class: Class,
    /// Whether field, budget and trust weigh on it.
    pub weighed: bool,
    /// The `deny` rule that matched.
    pub denied: Option<&'a Match>,
    /// The `ask` rule that matched.
    pub asked: Option<&'a Match>,
    /// The `allow` rule that matched.
    pub allowed: Option<&'a str>,
}

/// What the gate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// The answer.
    pub decision: Decision,
    /// The score in [0, 1]; 0 where an override of the published gate decided.
    pub score: Fixed,
    /// Its parts.
    pub components: Components,
    /// What the findings bring of themselves (`standard`).
    pub prospective: Fixed,
    /// The hazard that was weighed.
    pub hazard: Fixed,
    /// Its tier.
    pub tier: Tier,
    /// The rule that decided instead of the score.
    pub overridden: Option<ReasonCode>,
    /// Why, the deciding reason first.
    pub reasons: Vec<Reason>,
    /// What would change the answer.
    pub required_evidence: Vec<Evidence>,
    /// The severity of the worst finding, in [0, 1].
    pub severity: Fixed,
}

/// A verdict as the kernel gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The proposal's id.
    pub id: String,
    /// Who proposed.
    pub agent: String,
    /// The answer.
    pub decision: Decision,
    /// The score in [0, 1]: a sum of weights, not a probability.
    pub score: Fixed,
    /// Its parts.
    pub components: Components,
    /// RISK at the place.
    pub risk: Fixed,
    /// FAILURE at the place.
    pub failure: Fixed,
    /// What the findings bring of themselves.
    pub prospective: Fixed,
    /// The hazard that was weighed.
    pub hazard: Fixed,
    /// Where it was read; empty where it is 0.
    pub hazard_at: String,
    /// Its tier.
    pub tier: Tier,
    /// The rule that decided instead of the score.
    pub overridden: Option<ReasonCode>,
    /// Why, the deciding reason first.
    pub reasons: Vec<Reason>,
    /// What would change the answer.
    pub required_evidence: Vec<Evidence>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// The severity of the worst finding, in [0, 1].
    pub severity: Fixed,
    /// Whether the budget covers the estimate.
    pub budget: Answer,
    /// The agent's role.
    pub role: Role,
    /// The agent's trust.
    pub trust: Fixed,
    /// The class of the act.
    pub class: Class,
    /// The tick at which it was judged.
    pub tick: Tick,
    /// A HOLD that nobody answers ends then, in milliseconds since the epoch.
    pub expires_at: Option<u64>,
    /// The policy's digest.
    pub policy: Digest,
}

impl Verdict {
    /// Whether it lets a call run because a person approved it.
    #[must_use]
    pub fn stands_on_approval(&self) -> bool {
        self.reasons.iter().any(|reason| reason.code == ReasonCode::Approved)
    }
}

/// Judges.
#[must_use]
pub fn assess(question: &Question<'_>, policy: &Policy) -> Assessment {
    match policy.pipeline {
        Pipeline::Reference => published(question, policy),
        Pipeline::Standard => strictest(question, policy),
    }
}

/// The tier of a hazard.
#[must_use]
pub fn tier(hazard: Fixed, numbers: &policy::Gate) -> Tier {
    if hazard >= numbers.high_hazard {
        Tier::High
    } else if hazard >= numbers.medium_hazard {
        Tier::Medium
    } else {
        Tier::Clear
    }
}

/// The gate of SPEC 5: the first override decides, then the score.
fn published(question: &Question<'_>, policy: &Policy) -> Assessment {
    let numbers = &policy.gate;
    let hazard = question.channels.hazard();
    let mut result = blank(question, numbers, hazard, Fixed::ZERO);
    let override_ = published_override(question, numbers);
    if let Some((decision, reason, required)) = override_ {
        result.decision = decision;
        result.score = Fixed::ZERO;
        result.overridden = Some(reason.code);
        result.reasons = Vec::from([reason]);
        result.required_evidence = required;
        return result;
    }
    result.decision = by_score(result.score, numbers);
    result.reasons = Vec::from([score_reason(result.score, result.decision, numbers)]);
    if result.decision == Decision::Hold {
        result.required_evidence = wanted(question, &result, numbers);
    }
    result
}

fn published_override(question: &Question<'_>, numbers: &policy::Gate) -> Option<(Decision, Reason, Vec<Evidence>)> {
    if !question.budget.approved {
        let decision = if question.standalone { Decision::Refuse } else { Decision::Hold };
        return Some((decision, budget_reason(question.budget), Vec::from([Evidence::BudgetRecovered])));
    }
    if question.role == Role::Sandbox {
        let reason = Reason::about(ReasonCode::RoleSandbox, "");
        return Some((Decision::Refuse, reason, Vec::from([Evidence::EarnRole, Evidence::AccumulateAccepted])));
    }
    if question.trust < numbers.trust_floor {
        return Some((Decision::Refuse, trust_reason(question.trust, numbers), Vec::from([Evidence::TrustAboveFloor])));
    }
    critical(question).map(|reason| (Decision::Refuse, reason, remedies(question)))
}

/// The gate of SPEC 10.a: every rule is asked, the strictest answer counts.
fn strictest(question: &Question<'_>, policy: &Policy) -> Assessment {
    let numbers = &policy.gate;
    let prospective = prospective(question, numbers);
    let field = if question.weighed { question.channels.hazard() } else { Fixed::ZERO };
    let mut result = blank(question, numbers, field.max(prospective), prospective);
    let by_score = by_score(result.score, numbers);

    let mut answers: Vec<(Decision, Reason)> = Vec::new();
    if let Some(rule) = question.denied {
        answers.push((Decision::Refuse, Reason::about(ReasonCode::DenyRule, &rule.rule)));
    }
    if let Some(reason) = critical(question) {
        answers.push((Decision::Refuse, reason));
    }
    answers.extend(matrix(question, policy));
    if question.weighed && !question.budget.approved {
        answers.push((Decision::Hold, budget_reason(question.budget)));
    }
    if question.trust < numbers.trust_floor && !question.class.is_harmless() {
        answers.push((Decision::Hold, trust_reason(question.trust, numbers)));
    }
    if let Some(rule) = question.asked {
        answers.push((Decision::Hold, Reason::about(ReasonCode::AskRule, &rule.rule)));
    }
    if result.tier != Tier::Clear {
        answers.push((Decision::Hold, tier_reason(question, &result, field, numbers)));
    }
    answers.push((by_score, score_reason(result.score, by_score, numbers)));

    result.decision = answers.iter().map(|(decision, _)| *decision).max().unwrap_or(Decision::Refuse);
    let first = answers.iter().position(|(decision, _)| *decision == result.decision).unwrap_or(0);
    let deciding = answers.remove(first).1;
    let is_score = matches!(deciding.code, ReasonCode::Score | ReasonCode::ScoreTooLow);
    result.overridden = (!is_score).then_some(deciding.code);
    result.reasons.push(deciding);
    result.reasons.extend(answers.into_iter().map(|(_, reason)| reason));
    if let Some(rule) = question.allowed.filter(|_| !question.excused.is_empty()) {
        result.reasons.push(Reason::about(ReasonCode::AllowRule, rule));
    }
    result.required_evidence = ways_forward(question, &result, numbers);
    result
}

/// Score, tier and severity; the decision is still open.
fn blank(question: &Question<'_>, numbers: &policy::Gate, hazard: Fixed, prospective: Fixed) -> Assessment {
    let tier = tier(hazard, numbers);
    let components = Components {
        budget: Fixed::ONE,
        risk: match tier {
            Tier::Clear => Fixed::ONE,
            Tier::Medium => numbers.medium_risk,
            Tier::High => numbers.high_risk,
        },
        trust: trust_component(question, numbers),
        completeness: Fixed::ONE.less(numbers.missing_field.times_count(question.missing.count())),
    };
    Assessment {
        decision: Decision::Refuse,
        score: score(&components, numbers),
        components,
        prospective,
        hazard,
        tier,
        overridden: None,
        reasons: Vec::new(),
        required_evidence: Vec::new(),
        severity: worst(question.findings).map_or(Fixed::ZERO, |severity| number_of(&numbers.severities, severity)),
    }
}

fn trust_component(question: &Question<'_>, numbers: &policy::Gate) -> Fixed {
    let full = if question.trust >= numbers.trust_full { Fixed::ONE } else { numbers.trust_partial };
    if question.recent_failures >= numbers.recent_failures { full.less(numbers.recent_penalty) } else { full }
}

/// The weighted sum, in [0, 1].
#[must_use]
pub fn score(components: &Components, numbers: &policy::Gate) -> Fixed {
    let sum = numbers.weight_budget.times(components.budget)
        + numbers.weight_risk.times(components.risk)
        + numbers.weight_trust.times(components.trust)
        + numbers.weight_completeness.times(components.completeness);
    sum.clip(Fixed::ZERO, Fixed::ONE)
}

fn by_score(score: Fixed, numbers: &policy::Gate) -> Decision {
    if score >= numbers.execute {
        Decision::Execute
    } else if score >= numbers.hold {
        Decision::Hold
    } else {
        Decision::Refuse
    }
}

/// What the findings that count bring of themselves.
fn prospective(question: &Question<'_>, numbers: &policy::Gate) -> Fixed {
    let counted = question.findings.iter().enumerate().filter(|(number, _)| !question.excused.contains(number));
    counted.map(|(_, finding)| number_of(&numbers.prospective, finding.severity)).sum()
}

fn number_of(table: &alloc::collections::BTreeMap<Severity, Fixed>, severity: Severity) -> Fixed {
    table.get(&severity).copied().unwrap_or_default()
}

fn worst(findings: &[Finding]) -> Option<Severity> {
    findings.iter().map(|finding| finding.severity).max()
}

fn critical(question: &Question<'_>) -> Option<Reason> {
    let finding = question.findings.iter().find(|finding| finding.severity == Severity::Critical)?;
    Some(Reason::about(ReasonCode::CriticalFinding, finding.cause.code()))
}

/// One remedy for each CRITICAL finding that has one.
fn remedies(question: &Question<'_>) -> Vec<Evidence> {
    let critical = question.findings.iter().filter(|finding| finding.severity == Severity::Critical);
    critical.map(|_| Evidence::RemedyCritical).collect()
}

fn matrix(question: &Question<'_>, policy: &Policy) -> Option<(Decision, Reason)> {
    let permission = policy.roles.matrix.get(&question.role).and_then(|row| row.get(&question.class)).copied();
    match permission.unwrap_or(Permission::Allow) {
        Permission::Allow => None,
        Permission::Hold => Some((Decision::Hold, Reason::about(ReasonCode::RoleHolds, question.class.as_str()))),
        Permission::Refuse => Some((Decision::Refuse, Reason::about(ReasonCode::RoleForbids, question.class.as_str()))),
    }
}

fn budget_reason(answer: &Answer) -> Reason {
    match &answer.violation {
        None => Reason::about(ReasonCode::BudgetExceeded, ""),
        Some(violation) => {
            let dimension = violation.dimension.as_str();
            let subject = if violation.account.is_empty() {
                dimension.to_string()
            } else {
                alloc::format!("{}: {dimension}", violation.account)
            };
            Reason::compared(ReasonCode::BudgetExceeded, &subject, violation.projected, violation.cap)
        }
    }
}

fn trust_reason(trust: Fixed, numbers: &policy::Gate) -> Reason {
    Reason::compared(ReasonCode::TrustBelowFloor, "", trust, numbers.trust_floor)
}

fn score_reason(score: Fixed, decision: Decision, numbers: &policy::Gate) -> Reason {
    if decision == Decision::Refuse {
        Reason::compared(ReasonCode::ScoreTooLow, "", score, numbers.hold)
    } else {
        Reason::compared(ReasonCode::Score, "", score, numbers.execute)
    }
}

fn tier_reason(question: &Question<'_>, result: &Assessment, field: Fixed, numbers: &policy::Gate) -> Reason {
    let limit = if result.tier == Tier::High { numbers.high_hazard } else { numbers.medium_hazard };
    if field >= result.prospective {
        let code = if result.tier == Tier::High { ReasonCode::HazardHigh } else { ReasonCode::HazardMedium };
        return Reason::compared(code, question.hazard_at, field, limit);
    }
    let mut causes = String::new();
    for (number, finding) in question.findings.iter().enumerate() {
        if number_of(&numbers.prospective, finding.severity) > Fixed::ZERO && !question.excused.contains(&number) {
            if !causes.is_empty() {
                causes.push_str(", ");
            }
            causes.push_str(finding.cause.code());
        }
    }
    Reason::compared(ReasonCode::RiskyFindings, &causes, result.prospective, limit)
}

/// The codes of a scored HOLD (SPEC 5).
fn wanted(question: &Question<'_>, result: &Assessment, numbers: &policy::Gate) -> Vec<Evidence> {
    let mut codes = Vec::new();
    let mut want = |condition: bool, code: Evidence| {
        if condition {
            codes.push(code);
        }
    };
    want(question.missing.rollback_plan, Evidence::AddRollbackPlan);
    want(question.missing.evidence, Evidence::AddEvidence);
    want(question.missing.expected_outcome, Evidence::StateExpectedOutcome);
    want(result.components.trust < Fixed::ONE, Evidence::RaiseTrust);
    // What the findings bring of themselves cools with them, not with time.
    let field = if question.weighed { question.channels.hazard() } else { Fixed::ZERO };
    want(tier(field, numbers) != Tier::Clear, Evidence::LowerHazard);
    want(!question.findings.is_empty(), Evidence::ResolveFindings);
    codes
}

/// What would change the strictest answer.
fn ways_forward(question: &Question<'_>, result: &Assessment, numbers: &policy::Gate) -> Vec<Evidence> {
    let deciding = result.reasons.first().map(|reason| reason.code);
    match (result.decision, deciding) {
        (Decision::Execute, _) => Vec::new(),
        (_, Some(ReasonCode::DenyRule)) => Vec::from([Evidence::ChangeRule]),
        (_, Some(ReasonCode::CriticalFinding)) => remedies(question),
        (_, Some(ReasonCode::RoleForbids)) => Vec::from([Evidence::EarnRole, Evidence::AccumulateAccepted]),
        (Decision::Hold, Some(ReasonCode::RoleHolds | ReasonCode::AskRule)) => Vec::from([Evidence::HumanApproval]),
        (Decision::Hold, Some(ReasonCode::BudgetExceeded)) => {
            Vec::from([Evidence::BudgetRecovered, Evidence::HumanApproval])
        }
        (Decision::Hold, Some(ReasonCode::TrustBelowFloor)) => {
            Vec::from([Evidence::TrustAboveFloor, Evidence::HumanApproval])
        }
        (Decision::Hold, deciding) => {
            let mut codes = wanted(question, result, numbers);
            // A tier above clear holds whatever the trust.
            codes.retain(|code| *code != Evidence::RaiseTrust || deciding == Some(ReasonCode::Score));
            codes.push(Evidence::HumanApproval);
            codes
        }
        (Decision::Refuse, _) => wanted(question, result, numbers),
    }
}
