//! Check 10: is something durable made that nobody is named to keep?

use super::spellings::{Spellings, Word};
use super::words::{Field, Seen, Token, is_blank};
use super::{Cause, Finding, Plan, Severity, Vector};
use crate::policy::falsify::Falsify;

pub(super) const SPELLINGS: Spellings = &[
    ("create", Word::Add),
    ("add", Word::Add),
    ("introduce", Word::Add),
    ("migrate", Word::Add),
    ("refactor", Word::Refactor),
    ("replace", Word::Add),
    ("module", Word::Module),
    ("service", Word::Module),
    ("framework", Word::Framework),
    ("platform", Word::Platform),
    ("pipeline", Word::Pipeline),
    ("integration", Word::Pipeline),
    ("new", Word::New),
    ("api", Word::Subsystem),
    ("schema", Word::Subsystem),
    ("storage", Word::Subsystem),
    ("dependency", Word::Subsystem),
    ("subsystem", Word::Subsystem),
];

/// The groups of words met in action type, target, rationale and scope.
#[derive(Default)]
pub(super) struct Reading<'t>(Seen<'t>);

impl<'t> Reading<'t> {
    pub(super) fn take(&mut self, token: &Token<'t>) {
        let group = match token.word {
            Word::Add | Word::Refactor => Word::Add,
            Word::Module | Word::Framework | Word::Platform | Word::Pipeline => Word::Module,
            Word::Subsystem if token.follows([Word::New], Field::ActionType) => Word::New,
            _ => return,
        };
        self.0.add(group, token.text);
    }

    pub(super) fn check(&self, plan: &Plan<'_>, numbers: &Falsify) -> Option<Finding> {
        if self.0.count() < numbers.maintenance_groups || is_owned(plan) {
            return None;
        }
        Some(Finding::new(Vector::HiddenMaintenanceCost, Severity::Medium, Cause::UnownedAddition))
    }
}

fn is_owned(plan: &Plan<'_>) -> bool {
    [plan.maintenance_plan, plan.owner, plan.ownership, plan.deprecation_plan, plan.runbook]
        .into_iter()
        .flatten()
        .any(|text| !is_blank(text))
}

#[cfg(test)]
mod tests {
    use super::super::{Asks, falsify};
    use super::*;

    fn is_unowned(plan: &Plan<'_>) -> bool {
        falsify(plan, &Falsify::default(), Asks::NONE)
            .findings
            .iter()
            .any(|finding| finding.cause == Cause::UnownedAddition)
    }

    fn of_rationale(rationale: &str) -> bool {
        is_unowned(&Plan { rationale, ..Plan::default() })
    }

    #[test]
    fn two_groups_announce_something_to_maintain() {
        assert!(of_rationale("Create the billing service"));
        assert!(of_rationale("add a new API"));
        assert!(of_rationale("platform with new  storage"));
        assert!(!of_rationale("create add introduce migrate refactor replace"));
        assert!(!of_rationale("creates services, newapi, new_api, new, schema"));
        assert!(!of_rationale("create a module_x"));
    }

    #[test]
    fn the_four_fields_are_read_together() {
        let plan = Plan { action_type: "new", target: "schema", scope: Some("pipeline"), ..Plan::default() };
        assert!(is_unowned(&plan));
        let plan = Plan { action_type: "refactor", target: "src/service.py", ..Plan::default() };
        assert!(is_unowned(&plan));
    }

    #[test]
    fn anyone_named_to_keep_it_is_enough() {
        let plan = Plan { rationale: "create a service", ..Plan::default() };
        let team = Some("team a");
        let owned = [
            Plan { maintenance_plan: team, ..plan },
            Plan { owner: team, ..plan },
            Plan { ownership: team, ..plan },
            Plan { deprecation_plan: team, ..plan },
            Plan { runbook: team, ..plan },
        ];
        assert!(owned.iter().all(|plan| !is_unowned(plan)));
        assert!(is_unowned(&Plan { owner: Some(" \n"), ..plan }));
    }
}
