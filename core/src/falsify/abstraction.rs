//! Check 11: does an abstraction come before its uses?

use super::spellings::{Spellings, Word};
use super::words::{Field, Seen, Token, is_word_byte};
use super::{Cause, Finding, Severity, Vector};
use crate::policy::falsify::Falsify;

pub(super) const SPELLINGS: Spellings = &[
    // The terms.
    ("generic", Word::Generic),
    ("reusable", Word::Reusable),
    ("reusabl", Word::Reusable),
    ("extensible", Word::Extensible),
    ("plug", Word::Plug),
    ("plugin", Word::Plugin),
    ("abstract", Word::Abstract),
    ("base", Word::Base),
    ("class", Word::Class),
    ("interface", Word::Interface),
    ("framework", Word::Framework),
    ("platform", Word::Platform),
    // The evidence.
    ("caller", Word::User),
    ("callers", Word::Callers),
    ("use", Word::User),
    ("uses", Word::Callers),
    ("consumer", Word::User),
    ("consumers", Word::Consumers),
    ("client", Word::User),
    ("clients", Word::User),
    ("three", Word::Three),
    ("or", Word::Or),
    ("more", Word::More),
    ("existing", Word::Existing),
    ("proven", Word::Proven),
    ("demonstrated", Word::Proven),
];

/// The first field that this check reads; the other is the scope.
const FIRST: Field = Field::Rationale;

/// The abstraction terms in rationale and scope, and whether there is evidence of use.
#[derive(Default)]
pub(super) struct Reading<'t> {
    terms: Seen<'t>,
    used: bool,
}

impl<'t> Reading<'t> {
    pub(super) fn take(&mut self, token: &Token<'t>) {
        if token.field < FIRST {
            return;
        }
        if let Some(term) = term(token) {
            self.terms.add(term, token.text);
        }
        self.used |= is_evidence(token);
    }

    pub(super) fn check(&self, numbers: &Falsify) -> Option<Finding> {
        if self.used || self.terms.count() < numbers.abstraction_terms {
            return None;
        }
        Some(
            Finding::new(Vector::PrematureAbstraction, Severity::Low, Cause::SpeculativeAbstraction)
                .with_detail(self.terms.first().to_ascii_lowercase()),
        )
    }
}

/// The term that ends with this word.
fn term(token: &Token<'_>) -> Option<Word> {
    let is_term = match token.word {
        Word::Generic
        | Word::Reusable
        | Word::Extensible
        | Word::Plugin
        | Word::Interface
        | Word::Framework
        | Word::Platform => true,
        Word::Plug if is_followed_by_in(token.rest) => return Some(Word::Plugin),
        Word::Class => token.follows([Word::Abstract], FIRST) || token.follows([Word::Abstract, Word::Base], FIRST),
        _ => false,
    };
    is_term.then_some(token.word)
}

/// Whether "plug" goes on as "plug-in".
fn is_followed_by_in(rest: &str) -> bool {
    match rest.as_bytes() {
        [b'-', b'i' | b'I', b'n' | b'N'] => true,
        [b'-', b'i' | b'I', b'n' | b'N', next, ..] => !is_word_byte(*next),
        _ => false,
    }
}

/// Whether the phrase that ends with this word shows that the abstraction has uses.
fn is_evidence(token: &Token<'_>) -> bool {
    let follows = |word| token.follows([word], FIRST);
    match token.word {
        Word::Proven => true,
        Word::User => follows(Word::Number),
        Word::Consumers => follows(Word::Number) || follows(Word::Existing),
        Word::Callers => {
            follows(Word::Number)
                || follows(Word::Existing)
                || follows(Word::Three)
                || token.follows([Word::Three, Word::Or, Word::More], FIRST)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Asks, Plan, falsify};
    use super::*;

    fn is_speculative(plan: &Plan<'_>) -> bool {
        falsify(plan, &Falsify::default(), Asks::NONE)
            .findings
            .iter()
            .any(|finding| finding.cause == Cause::SpeculativeAbstraction)
    }

    fn of_rationale(rationale: &str) -> bool {
        is_speculative(&Plan { rationale, ..Plan::default() })
    }

    #[test]
    fn two_different_terms_need_evidence() {
        for text in [
            "generic interface",
            "REUSABL, extensible",
            "plug-in platform",
            "Plugin framework",
            "abstract class, generic",
            "abstract\nbase  class, generic",
        ] {
            assert!(of_rationale(text), "{text}");
        }
        for text in [
            "generic generic",
            "plug-in plugin",
            "plug in, generic",
            "plug-ins generic",
            "plug-in_x generic",
            "plugins generic",
            "abstract base, class, generic",
            "abstract base base class generic",
            "interfaces, generics, reusables",
        ] {
            assert!(!of_rationale(text), "{text}");
        }
    }

    #[test]
    fn evidence_of_use_answers_them() {
        for text in [
            "4 callers",
            "1 caller",
            "007 uses",
            "2 use",
            "1,000 clients",
            "3\n consumers",
            "three callers",
            "three or more uses",
            "existing uses",
            "existing Consumers",
            "proven",
            "Demonstrated",
            "2 client",
            "123456789012345678901234567890 uses",
        ] {
            let rationale = alloc::format!("generic interface, {text}");
            assert!(!of_rationale(&rationale), "{text}");
        }
        for text in [
            "v3 callers",
            "3_callers",
            "3-callers",
            "four callers",
            "three more callers",
            "three or callers",
            "three consumers",
            "existing clients",
            "3 new callers",
            "٣ callers",
        ] {
            let rationale = alloc::format!("generic interface, {text}");
            assert!(of_rationale(&rationale), "{text}");
        }
    }

    #[test]
    fn rationale_and_scope_are_read_together_without_the_target() {
        let plan =
            Plan { target: "3", rationale: "callers: generic abstract", scope: Some("class"), ..Plan::default() };
        assert!(is_speculative(&plan));
        let plan = Plan { target: "generic abstract", rationale: "class interface", ..Plan::default() };
        assert!(!is_speculative(&plan));
        let plan = Plan { rationale: "generic interface for 3", scope: Some("clients"), ..Plan::default() };
        assert!(!is_speculative(&plan));
    }
}
