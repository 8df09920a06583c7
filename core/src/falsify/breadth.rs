//! Check 9: does one module do too much?

use alloc::string::ToString;

use super::spellings::{Spellings, Word};
use super::words::{Field, Token};
use super::{Cause, Finding, Severity, Vector};
use crate::policy::falsify::Falsify;

pub(super) const SPELLINGS: Spellings = &[
    ("handle", Word::Responsibility),
    ("handles", Word::Responsibility),
    ("manage", Word::Responsibility),
    ("manages", Word::Responsibility),
    ("coordinate", Word::Responsibility),
    ("coordinates", Word::Responsibility),
    ("orchestrate", Word::Responsibility),
    ("orchestrates", Word::Responsibility),
    ("provide", Word::Responsibility),
    ("provides", Word::Responsibility),
    ("implement", Word::Responsibility),
    ("implements", Word::Responsibility),
    ("support", Word::Responsibility),
    ("supports", Word::Responsibility),
    ("wrap", Word::Responsibility),
    ("wraps", Word::Responsibility),
];

/// The responsibility verbs in rationale and scope, repeats counted.
#[derive(Default)]
pub(super) struct Reading {
    verbs: u32,
}

impl Reading {
    pub(super) fn take(&mut self, token: &Token<'_>) {
        if token.word == Word::Responsibility && token.field >= Field::Rationale {
            self.verbs = self.verbs.saturating_add(1);
        }
    }

    pub(super) fn check(&self, target: &str, numbers: &Falsify) -> Option<Finding> {
        let finding = |severity, cause, count: &dyn ToString| {
            let finding = Finding::new(Vector::OverBroadModule, severity, cause);
            Some(finding.with_detail(count.to_string()))
        };
        if self.verbs >= numbers.responsibility_verbs {
            return finding(Severity::Medium, Cause::ManyResponsibilities, &self.verbs);
        }
        let dots = target.bytes().filter(|byte| *byte == b'.').count();
        if dots >= numbers.target_dots as usize {
            return finding(Severity::Low, Cause::DeepTarget, &dots);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Asks, Plan, falsify};
    use super::*;

    fn cause(target: &str, rationale: &str, scope: &str) -> Option<Cause> {
        let plan = Plan { action_type: "manage", target, rationale, scope: Some(scope), ..Plan::default() };
        falsify(&plan, &Falsify::default(), Asks::NONE)
            .findings
            .into_iter()
            .find(|finding| finding.vector == Vector::OverBroadModule)
            .map(|finding| finding.cause)
    }

    #[test]
    fn five_verbs_with_repeats_are_too_many() {
        let many = Some(Cause::ManyResponsibilities);
        assert_eq!(cause("", "wrap wraps Wrap", "wrap/wrap"), many);
        assert_eq!(cause("", "handles, manages, provides", "supports implement"), many);
        assert_eq!(cause("wrap", "wrap wrap wrap", "wrap"), None);
        assert_eq!(cause("", "wrapped wrapper handling managed wrap_s", "wrap"), None);
    }

    #[test]
    fn five_dots_are_too_deep() {
        assert_eq!(cause("a.b.c.d.e.f", "", ""), Some(Cause::DeepTarget));
        assert_eq!(cause(".....", "", ""), Some(Cause::DeepTarget));
        assert_eq!(cause("a.b.c.d.e", "", ""), None);
    }
}
