//! Check 7: is something sensitive touched without a review?

use super::spellings::{Spellings, Word};
use super::words::{Field, Token};
use super::{Cause, Finding, Severity, Vector};

/// Exactly these words: `sanitize`, `credentials` and `encryption` are not among them.
pub(super) const SPELLINGS: Spellings = &[
    ("auth", Word::Sensitive),
    ("authentication", Word::Sensitive),
    ("authorization", Word::Sensitive),
    ("authtoken", Word::Sensitive),
    ("password", Word::Sensitive),
    ("credential", Word::Sensitive),
    ("secret", Word::Sensitive),
    ("encrypt", Word::Sensitive),
    ("privilege", Word::Sensitive),
    ("privileged", Word::Sensitive),
    ("sudo", Word::Sensitive),
    ("root", Word::Sensitive),
    ("permission", Word::Sensitive),
    ("access", Word::Access),
    ("control", Word::Control),
    ("sanitiz", Word::Sensitive),
    ("injection", Word::Sensitive),
    ("security", Word::Security),
    ("review", Word::Review),
    ("audit", Word::Review),
    ("sast", Word::Reviewed),
    ("guard_ant", Word::Reviewed),
    ("threat", Word::Threat),
    ("model", Word::Model),
];

/// The first field that this check reads; the others are rationale and scope.
const FIRST: Field = Field::Target;

/// What target, rationale and scope say about security.
#[derive(Default)]
pub(super) struct Reading<'t> {
    sensitive: Option<&'t str>,
    reviewed: bool,
}

impl<'t> Reading<'t> {
    pub(super) fn take(&mut self, token: &Token<'t>) {
        if token.field < FIRST {
            return;
        }
        let follows = |word| token.follows([word], FIRST);
        match token.word {
            Word::Sensitive => _ = self.sensitive.get_or_insert(token.text),
            Word::Control if follows(Word::Access) => {
                self.sensitive.get_or_insert("access control");
            }
            Word::Reviewed => self.reviewed = true,
            Word::Review if follows(Word::Security) => self.reviewed = true,
            Word::Model if follows(Word::Threat) => self.reviewed = true,
            _ => {}
        }
    }

    pub(super) fn check(&self) -> Option<Finding> {
        let sensitive = self.sensitive.filter(|_| !self.reviewed)?;
        Some(
            Finding::new(Vector::SecurityRisk, Severity::High, Cause::SensitiveUnreviewed)
                .with_detail(sensitive.to_ascii_lowercase()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Asks, Plan, falsify};
    use super::*;
    use crate::policy::falsify::Falsify;

    fn is_risk(plan: &Plan<'_>) -> bool {
        falsify(plan, &Falsify::default(), Asks::NONE)
            .findings
            .iter()
            .any(|finding| finding.vector == Vector::SecurityRisk)
    }

    fn of_rationale(rationale: &str) -> bool {
        is_risk(&Plan { rationale, ..Plan::default() })
    }

    #[test]
    fn exactly_the_listed_words_are_sensitive() {
        for text in ["src/auth/login.py", "AuthToken", "the_x sanitiz", "root.", "access\tcontrol", "un-privileged"] {
            assert!(of_rationale(text), "{text}");
        }
        for text in [
            "author",
            "auth_token",
            "credentials",
            "encryption",
            "sanitize",
            "access-control",
            "control access",
            "secrets",
            "roots",
            "privileges",
            "permissions",
            "auth2",
        ] {
            assert!(!of_rationale(text), "{text}");
        }
    }

    #[test]
    fn a_review_answers_it() {
        for text in ["security review", "Security\nAUDIT", "SAST", "GUARD_ANT", "threat  model"] {
            assert!(!of_rationale(&alloc::format!("auth; {text}")), "{text}");
        }
        for text in ["security_review", "security reviews", "guard ant", "threat-model", "review security"] {
            assert!(of_rationale(&alloc::format!("auth; {text}")), "{text}");
        }
    }

    #[test]
    fn a_phrase_may_span_the_fields_that_are_read_but_no_other() {
        let plan = Plan { target: "access", rationale: " control ", ..Plan::default() };
        assert!(is_risk(&plan));
        let plan = Plan { target: "root security", rationale: "", scope: Some("review"), ..Plan::default() };
        assert!(!is_risk(&plan));
        let plan = Plan { action_type: "access", target: "control", ..Plan::default() };
        assert!(!is_risk(&plan));
        let plan = Plan { action_type: "sudo", ..Plan::default() };
        assert!(!is_risk(&plan));
    }
}
