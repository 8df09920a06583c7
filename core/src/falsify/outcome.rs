//! Check 8: can the expected outcome be proven false?

use super::spellings::{Spellings, Word};
use super::words::{Field, Reader, Seen, Token, is_phrase, trim};
use super::{Cause, Finding, Severity, Vector};
use crate::policy::falsify::Falsify;

pub(super) const SPELLINGS: Spellings = &[
    ("improve", Word::Improve),
    ("improves", Word::Improve),
    ("improved", Word::Improve),
    ("overall", Word::Overall),
    ("better", Word::Better),
    ("system", Word::System),
    ("no", Word::No),
    ("issues", Word::Issues),
    ("smoothly", Word::Smoothly),
    ("seamlessly", Word::Seamlessly),
    ("stable", Word::Stable),
];

/// The texts that say only that it works.
const IT_WORKS: [&[&str]; 8] = [
    &["work"],
    &["works"],
    &["it", "work"],
    &["it", "works"],
    &["will", "work"],
    &["will", "works"],
    &["it", "will", "work"],
    &["it", "will", "works"],
];

pub(super) fn check(expected_outcome: Option<&str>, numbers: &Falsify) -> Option<Finding> {
    let finding = |severity, cause| Some(Finding::new(Vector::FalseMetric, severity, cause));
    let outcome = trim(expected_outcome.unwrap_or_default());
    if outcome.is_empty() {
        return finding(Severity::Medium, Cause::OutcomeBlank);
    }
    let mut phrases = Phrases::default();
    Reader::default().read(Field::Outcome, outcome, |token| phrases.take(token));
    let it_works = IT_WORKS.iter().any(|words| is_phrase(outcome, words));
    let count = phrases.seen.count().saturating_add(u32::from(it_works));
    if count < numbers.vague_outcome_phrases {
        return None;
    }
    finding(Severity::Low, Cause::OutcomeVague)
}

/// The vague phrases so far.
#[derive(Default)]
struct Phrases<'t> {
    seen: Seen<'t>,
    improves: bool,
    betters: bool,
}

impl<'t> Phrases<'t> {
    fn take(&mut self, token: &Token<'t>) {
        match token.word {
            Word::Improve => self.improves = true,
            Word::Better => self.betters = true,
            Word::Overall if self.improves => self.seen.add(Word::Overall, token.text),
            Word::System if self.betters => self.seen.add(Word::System, token.text),
            Word::Issues if token.follows([Word::No], Field::Outcome) => {
                self.seen.add(Word::Issues, token.text);
            }
            word @ (Word::Smoothly | Word::Seamlessly | Word::Stable) => {
                self.seen.add(word, token.text);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(outcome: &str) -> Option<Cause> {
        check(Some(outcome), &Falsify::default()).map(|finding| finding.cause)
    }

    #[test]
    fn a_blank_outcome_is_none() {
        let absent = check(None, &Falsify::default()).map(|finding| finding.cause);
        assert_eq!(absent, Some(Cause::OutcomeBlank));
        assert_eq!(cause("\u{3000}\t"), Some(Cause::OutcomeBlank));
    }

    #[test]
    fn two_vague_phrases_say_nothing() {
        for text in [
            "stable, seamlessly",
            "Improved x\nOverall; no  issues",
            "better for a system that runs smoothly",
            "improve better overall system",
        ] {
            assert_eq!(cause(text), Some(Cause::OutcomeVague), "{text}");
        }
    }

    #[test]
    fn one_phrase_or_the_wrong_order_is_no_finding() {
        for text in [
            "stable stable",
            "overall improved, stable",
            "system is better and stable",
            "improving overall, stable",
            "improve overalls, stable",
            "no-issues stable",
            "better systems, stable",
        ] {
            assert_eq!(cause(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_that_it_works_is_one_phrase() {
        let strict = Falsify { vague_outcome_phrases: 1, ..Falsify::default() };
        for text in ["works", " It  WILL work\n", "will works"] {
            assert!(check(Some(text), &strict).is_some(), "{text}");
            assert_eq!(cause(text), None, "{text}");
        }
        for text in ["works.", "it works well", "will it work", "working"] {
            assert!(check(Some(text), &strict).is_none(), "{text}");
        }
    }
}
