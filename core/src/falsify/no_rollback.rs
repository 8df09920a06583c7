//! Check 1: is there a credible way back?

use alloc::string::ToString;

use super::words::{is_phrase, trim};
use super::{Cause, Finding, Severity, Vector};
use crate::policy::falsify::Falsify;

/// Texts that stand for no plan; a final dot changes nothing.
const PLACEHOLDERS: [&[&str]; 7] =
    [&["n/a"], &["na"], &["none"], &["tbd"], &["todo"], &["unknown"], &["not", "applicable"]];

/// Texts that promise no more than manual work.
const PROMISES: [&[&str]; 2] = [&["will", "revert", "manually"], &["will", "undo", "manually"]];

pub(super) fn check(rollback_plan: Option<&str>, numbers: &Falsify) -> Option<Finding> {
    let finding = |severity, cause| Finding::new(Vector::NoRollback, severity, cause);
    let plan = trim(rollback_plan.unwrap_or_default());
    if plan.is_empty() {
        return Some(finding(Severity::High, Cause::RollbackBlank));
    }
    if is_one_of(plan.strip_suffix('.').unwrap_or(plan), &PLACEHOLDERS) {
        return Some(finding(Severity::High, Cause::RollbackEmptyPhrase).with_detail(plan));
    }
    if is_one_of(plan, &PROMISES) {
        return Some(finding(Severity::High, Cause::RollbackManual).with_detail(plan));
    }
    let enough = numbers.min_rollback_chars as usize;
    let length = plan.chars().take(enough).count();
    (length < enough).then(|| finding(Severity::Medium, Cause::RollbackShort).with_detail(length.to_string()))
}

fn is_one_of(text: &str, phrases: &[&[&str]]) -> bool {
    phrases.iter().any(|phrase| is_phrase(text, phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(plan: &str) -> Option<(Severity, Cause)> {
        check(Some(plan), &Falsify::default()).map(|finding| (finding.severity, finding.cause))
    }

    #[test]
    fn an_absent_or_blank_plan_is_none() {
        let absent = check(None, &Falsify::default()).map(|finding| finding.cause);
        assert_eq!(absent, Some(Cause::RollbackBlank));
        assert_eq!(outcome(" \n\u{2003}"), Some((Severity::High, Cause::RollbackBlank)));
    }

    #[test]
    fn placeholders_may_end_in_one_dot() {
        for plan in ["n/a", "NA", "none.", " TBD. ", "todo", "Unknown", "not \t applicable."] {
            assert_eq!(outcome(plan), Some((Severity::High, Cause::RollbackEmptyPhrase)), "{plan}");
        }
        for plan in ["n\\a", "none..", "none .", "not-applicable", "not applicable .", "tbd!"] {
            assert_eq!(outcome(plan), Some((Severity::Medium, Cause::RollbackShort)), "{plan}");
        }
    }

    #[test]
    fn a_promise_of_manual_work_takes_no_dot() {
        let manual = Some((Severity::High, Cause::RollbackManual));
        assert_eq!(outcome("will revert manually"), manual);
        assert_eq!(outcome("Will  UNDO\nmanually "), manual);
        assert_eq!(outcome("will revert manually."), None);
        assert_eq!(outcome("I will revert manually"), None);
    }

    #[test]
    fn length_is_counted_in_code_points_after_trimming() {
        let short = Some((Severity::Medium, Cause::RollbackShort));
        assert_eq!(outcome("  1234567890123456789  "), short);
        assert_eq!(outcome("12345678901234567890"), None);
        assert_eq!(outcome("ééééééééééééééééééé"), short);
        assert_eq!(outcome("éééééééééééééééééééé"), None);
    }
}
