//! Falsification: eleven deterministic attacks on a plan, before anything is judged (SPEC section
//! 6).
//!
//! Each check is a file that can be read alone: the words it knows, its rules in their order, and
//! what it reports. The checks that read rationale, scope and their neighbours share one pass of
//! the scanner (`words`), which is why they take their words one by one. Every number comes from
//! [`policy::falsify`](crate::policy::falsify).

mod abstraction;
mod breadth;
mod circular;
mod dependencies;
mod finding;
mod maintenance;
mod metrics;
mod no_rollback;
mod no_test_value;
mod outcome;
mod plan;
mod scope_creep;
mod security;
mod spellings;
mod words;

#[cfg(test)]
mod tests;

pub use finding::{Cause, Finding, Report, ReportVerdict, Severity, Vector};
pub use plan::{Asks, Plan, Texts};

use alloc::vec::Vec;

use crate::policy::falsify::Falsify;
use words::{Field, Reader, Token};

/// Runs the checks on a plan. The same plan gives the same report.
///
/// Time is linear in the texts (but for sorting the dependencies and the import graph); nothing is
/// allocated but the findings, up to 16 dependencies.
///
/// ```
/// use stigmergate_core::falsify::{Asks, Cause, Plan, ReportVerdict, falsify};
/// use stigmergate_core::policy::falsify::Falsify;
///
/// let plan = Plan {
///     target: "core.parser",
///     rationale: "rotate the password",
///     expected_outcome: Some("all tests in tests/parser pass"),
///     ..Plan::default()
/// };
/// let report = falsify(&plan, &Falsify::default(), Asks::NONE);
/// assert_eq!(report.verdict, ReportVerdict::Fail);
/// assert_eq!(report.findings[0].cause, Cause::SensitiveUnreviewed);
/// assert_eq!(report.findings[0].detail.as_deref(), Some("password"));
/// ```
#[must_use]
pub fn falsify(plan: &Plan<'_>, numbers: &Falsify, asks: Asks) -> Report {
    let reading = Reading::of(plan);
    let checks = [
        asked(asks.rollback, || no_rollback::check(plan.rollback_plan, numbers)),
        asked(asks.tests, || no_test_value::check(plan.tests)),
        reading.scope.check(plan, numbers),
        asked(asks.metrics, || metrics::check(plan.metrics)),
        circular::check(plan),
        dependencies::check(plan, numbers),
        reading.security.check(),
        outcome::check(plan.expected_outcome, numbers),
        reading.breadth.check(plan.target, numbers),
        reading.maintenance.check(plan, numbers),
        reading.abstraction.check(numbers),
    ];
    let findings: Vec<Finding> = checks.into_iter().flatten().collect();
    let verdict = ReportVerdict::of(&findings);
    Report { findings, verdict }
}

fn asked(asked: bool, check: impl FnOnce() -> Option<Finding>) -> Option<Finding> {
    if asked { check() } else { None }
}

/// What the checks that share the pass over action type, target, rationale and scope have met.
#[derive(Default)]
struct Reading<'t> {
    scope: scope_creep::Reading<'t>,
    security: security::Reading<'t>,
    breadth: breadth::Reading,
    maintenance: maintenance::Reading<'t>,
    abstraction: abstraction::Reading<'t>,
}

impl<'t> Reading<'t> {
    fn of(plan: &Plan<'t>) -> Self {
        let mut reading = Self::default();
        let mut reader = Reader::default();
        for (field, text) in [
            (Field::ActionType, plan.action_type),
            (Field::Target, plan.target),
            (Field::Rationale, plan.rationale),
            (Field::Scope, plan.scope.unwrap_or_default()),
        ] {
            reader.read(field, text, |token| reading.take(token));
        }
        reading
    }

    fn take(&mut self, token: &Token<'t>) {
        self.scope.take(token);
        self.security.take(token);
        self.breadth.take(token);
        self.maintenance.take(token);
        self.abstraction.take(token);
    }
}
