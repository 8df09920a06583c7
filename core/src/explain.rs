//! Text from codes: what a verdict's reasons, findings and required evidence say to people.
//!
//! Everything that a verdict decides is data; this room only words it, so that every surface words it alike. The short form is
//! what a host shows: the rule, what would be lost, a safer way or what would change the answer. `why` has the long form.

use crate::falsify::{Cause, Finding};
use crate::gate::{Decision, Evidence, Reason, ReasonCode, Tier, Verdict};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Characters of all findings together; with the safer way the short form stays below 400.
const SAID_CHARACTERS: usize = 230;
/// Characters of what one cause was found of.
const DETAIL_CHARACTERS: usize = 120;
/// What the hazard's place ends with when checks left the marks.
pub(crate) const FAILING_CHECKS: &str = " (failing checks)";

/// A reason in one sentence.
#[must_use]
pub fn reason(reason: &Reason) -> String {
    let subject = &reason.subject;
    let value = reason.value.map(|value| value.to_string()).unwrap_or_default();
    let limit = reason.limit.map(|limit| limit.to_string()).unwrap_or_default();
    match reason.code {
        ReasonCode::DenyRule => format!("the deny rule \"{subject}\" matches"),
        ReasonCode::CriticalFinding => format!("critical: {}", plain(subject)),
        ReasonCode::RoleSandbox => "the agent is still in SANDBOX".to_string(),
        ReasonCode::RoleForbids => format!("the agent's role may not do acts of class {subject}"),
        ReasonCode::RoleHolds => format!("the agent's role needs approval for acts of class {subject}"),
        ReasonCode::BudgetExceeded if subject.is_empty() => "the budget does not cover it".to_string(),
        ReasonCode::BudgetExceeded => {
            format!("the budget does not cover it: {subject} would be {value}, the cap is {limit}")
        }
        ReasonCode::TrustBelowFloor => format!("the agent's trust is {value}, the floor is {limit}"),
        ReasonCode::AskRule => format!("the ask rule \"{subject}\" matches"),
        ReasonCode::HazardMedium | ReasonCode::HazardHigh => {
            let often = if reason.code == ReasonCode::HazardHigh { "again and again lately" } else { "lately" };
            let what = match subject.strip_suffix(FAILING_CHECKS) {
                Some(place) => format!("checks failed {often} after {place} was changed"),
                None => format!("it failed or was turned down {often}: {subject}"),
            };
            let what = shortened(&what, SAID_CHARACTERS);
            format!("{what} (its marks weigh {value}, from {limit} on it holds)")
        }
        ReasonCode::RiskyFindings => format!("what it would do is risky: {}", plain(subject)),
        ReasonCode::Score => format!("score {value}, EXECUTE from {limit}"),
        ReasonCode::ScoreTooLow => format!("too much against it at once: score {value}, HOLD from {limit}"),
        ReasonCode::AllowRule => format!("the allow rule \"{subject}\" excuses its findings"),
        ReasonCode::Approved => format!("{subject} approved exactly this"),
        ReasonCode::StandingGrant => format!("{subject} allowed this act at this place for a while"),
    }
}

/// What clears the marks of failures.
fn cooler(reason: &Reason) -> Option<&'static str> {
    let of_checks = reason.subject.ends_with(FAILING_CHECKS);
    matches!(reason.code, ReasonCode::HazardMedium | ReasonCode::HazardHigh).then_some(if of_checks {
        "make the failing check pass, which clears it, or wait: the marks fade with the minutes"
    } else {
        "find out why it failed and change something, or try another way; waiting helps too, the marks fade with the minutes"
    })
}

/// A finding in one sentence.
#[must_use]
pub fn finding(finding: &Finding) -> String {
    let what = cause(finding.cause);
    match finding.detail.as_deref().filter(|detail| !detail.is_empty()) {
        Some(detail) => format!("{what}: {detail}"),
        None => what.to_string(),
    }
}

/// What a cause means.
#[must_use]
pub const fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::RollbackBlank => "no rollback plan is given",
        Cause::RollbackEmptyPhrase => "the rollback plan is a placeholder",
        Cause::RollbackManual => "the rollback plan only promises manual work",
        Cause::RollbackShort => "the rollback plan is too short to follow",
        Cause::TestsAbsent => "no tests are named",
        Cause::TestsManual => "the tests are done by hand",
        Cause::DestructiveAction => "the action destroys",
        Cause::VagueScope => "the scope is vague",
        Cause::ForeignScope => "the scope names modules of others",
        Cause::MetricsAbsent => "no metrics are given",
        Cause::MetricsUnmeasurable => "the metrics cannot be measured",
        Cause::SelfTarget => "the agent is its own target",
        Cause::SelfDependency => "the target depends on itself",
        Cause::NestedDependencies => "one dependency lies within another",
        Cause::ImportCycle => "the imports have a cycle",
        Cause::ExternalDependencies => "it brings several external dependencies",
        Cause::SensitiveUnreviewed => "it touches something sensitive without a review",
        Cause::OutcomeBlank => "no expected outcome is stated",
        Cause::OutcomeVague => "the expected outcome is vague",
        Cause::ManyResponsibilities => "it takes on many responsibilities",
        Cause::DeepTarget => "the target lies very deep",
        Cause::UnownedAddition => "it adds something lasting and nobody is named to keep it",
        Cause::SpeculativeAbstraction => "it abstracts without evidence of use",
        Cause::CatastrophicTarget => "it would destroy a whole system, home, workspace or disk",
        Cause::ProtectedTarget => "it would change what governs the agent",
        Cause::OwnCommand => "agents may not give the gate's own commands",
        Cause::Irreversible => "this cannot come back",
        Cause::OutsideWorkspace => "it acts outside the workspace",
        Cause::UnresolvedTarget => "what it would destroy cannot be told before it runs",
        Cause::SharedBranch => "it changes a branch that others share",
        Cause::RewrittenHistory => "it rewrites history that others may have",
        Cause::Production => "it acts on production",
        Cause::Publishing => "it publishes",
        Cause::Secret => "it reads or shows a secret",
        Cause::UntrustedCode => "it runs code that was downloaded, decoded or computed",
        Cause::RaisedPrivileges => "it raises privileges",
        Cause::Bulk => "it changes very many things",
        Cause::Unreadable => "it cannot be read well enough to be judged",
    }
}

/// A safer way, or what would change the answer; `None` where only a person can.
#[must_use]
pub const fn safer_way(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::Irreversible => "back it up first (commit, copy, dump), or leave it in place",
        Cause::OutsideWorkspace => "work inside the workspace or a temporary folder",
        Cause::UnresolvedTarget => "name the paths literally",
        Cause::SharedBranch => "push a branch of your own and let a person merge it",
        Cause::RewrittenHistory => "add commits instead of rewriting them",
        Cause::Production => "use a development or staging environment",
        Cause::Publishing => "do a dry run, and leave publishing to a person",
        Cause::Secret => "use the secret's name, or an example file",
        Cause::UntrustedCode => "save it to a file and let a person read it first",
        Cause::RaisedPrivileges => "find a way that needs no privileges",
        Cause::ProtectedTarget | Cause::OwnCommand => "ask the person to do it",
        Cause::CatastrophicTarget => "name the files themselves",
        Cause::Unreadable => "split it into plain commands",
        Cause::RollbackBlank | Cause::RollbackEmptyPhrase | Cause::RollbackManual | Cause::RollbackShort => {
            "say how it would be undone"
        }
        Cause::TestsAbsent | Cause::TestsManual => "name automatic tests",
        Cause::MetricsAbsent | Cause::MetricsUnmeasurable => "give a metric with a number",
        Cause::OutcomeBlank | Cause::OutcomeVague => "state what will be true afterwards",
        Cause::SensitiveUnreviewed => "add a security review",
        Cause::VagueScope | Cause::ForeignScope => "narrow the scope to the target",
        _ => return None,
    })
}

/// What a code of required evidence asks for.
#[must_use]
pub const fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::BudgetRecovered => "wait for the budget's next period, or raise the cap",
        Evidence::EarnRole => "earn a role above SANDBOX",
        Evidence::AccumulateAccepted => "have more proposals accepted",
        Evidence::TrustAboveFloor => "bring trust above the floor",
        Evidence::RemedyCritical => "remedy the critical finding",
        Evidence::AddRollbackPlan => "add a rollback plan",
        Evidence::AddEvidence => "add evidence",
        Evidence::StateExpectedOutcome => "state the expected outcome",
        Evidence::RaiseTrust => "raise the agent's trust by good outcomes",
        Evidence::LowerHazard => "wait until the place has cooled, or change something before trying again",
        Evidence::ResolveFindings => "resolve the findings",
        Evidence::HumanApproval => "have a person approve it",
        Evidence::ChangeRule => "have a person change the rule",
    }
}

/// The short form: one or two sentences for the agent and the person before the prompt.
#[must_use]
pub fn short(verdict: &Verdict) -> String {
    let head = match verdict.decision {
        Decision::Execute => "execute",
        Decision::Hold => "held",
        Decision::Refuse => "refused",
    };
    let deciding = verdict.reasons.first();
    let by_findings = deciding.is_some_and(|reason| {
        matches!(
            reason.code,
            ReasonCode::RiskyFindings | ReasonCode::CriticalFinding | ReasonCode::Score | ReasonCode::ScoreTooLow
        )
    });
    let mut weighty: Vec<&Finding> = verdict.findings.iter().collect();
    weighty.sort_by_key(|finding| core::cmp::Reverse(finding.severity));
    if verdict.decision == Decision::Execute || !by_findings || weighty.is_empty() {
        let way = deciding.and_then(cooler).map(|way| format!(". Safer: {way}.")).unwrap_or_default();
        return format!("{head}: {}{way}", deciding.map(reason).unwrap_or_default());
    }
    let way = weighty.iter().find_map(|finding| safer_way(finding.cause));
    let way = way.map(|way| format!(" Safer: {way}.")).unwrap_or_default();
    format!("{head}: {}.{way}", said(&weighty))
}

/// Findings in one sentence, the gravest first: each cause once, with what it was found of.
fn said(findings: &[&Finding]) -> String {
    let mut causes: Vec<(Cause, Vec<&str>)> = Vec::new();
    for finding in findings {
        let detail = finding.detail.as_deref().unwrap_or_default();
        match causes.iter_mut().find(|(cause, _)| *cause == finding.cause) {
            Some((_, details)) if details.contains(&detail) => {}
            Some((_, details)) => details.push(detail),
            None => causes.push((finding.cause, Vec::from([detail]))),
        }
    }
    // What cannot be told cannot come back either: that need not be said of the same thing again.
    let untold = causes.iter().find(|(cause, _)| *cause == Cause::UnresolvedTarget).map(|(_, details)| details.clone());
    causes.retain(|(cause, details)| *cause != Cause::Irreversible || untold.as_ref() != Some(details));
    let mut text = String::new();
    for (number, (what, details)) in causes.iter().enumerate() {
        let details = shortened(&details.join(", "), DETAIL_CHARACTERS);
        let colon = if details.is_empty() { "" } else { ": " };
        let one = format!("{}{}{colon}{details}", if number == 0 { "" } else { "; " }, cause(*what));
        if number > 0 && text.chars().count().saturating_add(one.chars().count()) > SAID_CHARACTERS {
            let more = causes.len().saturating_sub(number);
            return format!("{text} (and {more} more)");
        }
        text.push_str(&one);
    }
    text
}

/// A text of at most so many characters.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// The long form: every number and reason, a line each.
#[must_use]
pub fn long(verdict: &Verdict) -> String {
    let mut lines = Vec::new();
    lines.push(format!("{} {}", verdict.decision.as_str().to_uppercase(), verdict.id));
    for (number, one) in verdict.reasons.iter().enumerate() {
        lines.push(format!("  {} {}", if number == 0 { "because" } else { "   also" }, reason(one)));
    }
    for one in &verdict.findings {
        lines.push(format!("  finding {} {}: {}", one.severity.code(), one.vector.code(), finding(one)));
        if let Some(way) = safer_way(one.cause) {
            lines.push(format!("          safer: {way}"));
        }
    }
    let parts = &verdict.components;
    lines.push(format!(
        "  score {} = budget {} + risk {} + trust {} + completeness {} (each weighted; not a probability)",
        verdict.score, parts.budget, parts.risk, parts.trust, parts.completeness
    ));
    let tier = match verdict.tier {
        Tier::Clear => "clear",
        Tier::Medium => "medium",
        Tier::High => "high",
    };
    let place = if verdict.hazard_at.is_empty() { String::new() } else { format!(" at {}", verdict.hazard_at) };
    lines.push(format!(
        "  hazard {} ({tier}): failure {}, risk {}{place}; of the proposal itself {}",
        verdict.hazard, verdict.failure, verdict.risk, verdict.prospective
    ));
    lines.push(format!(
        "  agent {}: trust {}, role {}; class {}",
        verdict.agent,
        verdict.trust,
        verdict.role.as_str(),
        verdict.class.as_str()
    ));
    if !verdict.required_evidence.is_empty() {
        let ways: Vec<&str> = verdict.required_evidence.iter().map(|one| evidence(*one)).collect();
        lines.push(format!("  would change it: {}", ways.join("; ")));
    }
    lines.push(format!("  policy {}", verdict.policy));
    lines.join("\n")
}

/// A list of codes in words: `outside_workspace, irreversible`.
fn plain(codes: &str) -> String {
    codes.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::falsify::{Severity, Vector};
    use crate::fixed::Fixed;

    fn found(cause: Cause, detail: &str) -> Finding {
        Finding { vector: Vector::NoRollback, severity: Severity::High, cause, detail: Some(detail.to_string()) }
    }

    fn told(findings: &[Finding]) -> String {
        said(&findings.iter().collect::<Vec<_>>())
    }

    #[test]
    fn each_cause_is_said_once_with_all_that_it_was_found_of() {
        let two = [found(Cause::Irreversible, "a"), found(Cause::Publishing, "p"), found(Cause::Irreversible, "b")];
        assert_eq!(told(&two), "this cannot come back: a, b; it publishes: p");
        let same = [found(Cause::UnresolvedTarget, "$x"), found(Cause::Irreversible, "$x")];
        assert_eq!(told(&same), "what it would destroy cannot be told before it runs: $x");
    }

    #[test]
    fn long_details_are_cut_and_what_has_no_room_is_counted() {
        let long = "x".repeat(500);
        let text =
            told(&[found(Cause::Irreversible, &long), found(Cause::Publishing, &long), found(Cause::Secret, &long)]);
        assert!(text.chars().count() < 300 && text.ends_with("(and 2 more)"), "{text}");
    }

    #[test]
    fn marks_of_failures_say_what_clears_them() {
        let reason = |subject: &str| {
            let numbers = (Some(Fixed::whole(2)), Some(Fixed::ONE));
            Reason { code: ReasonCode::HazardMedium, subject: subject.to_string(), value: numbers.0, limit: numbers.1 }
        };
        let of_check = reason("src/a.rs (failing checks)");
        assert_eq!(
            super::reason(&of_check),
            "checks failed lately after src/a.rs was changed (its marks weigh 2, from 1 on it holds)"
        );
        assert!(cooler(&of_check).is_some_and(|way| way.starts_with("make the failing check pass")));
        assert!(cooler(&reason("npm install")).is_some_and(|way| way.starts_with("find out why")));
    }
}
