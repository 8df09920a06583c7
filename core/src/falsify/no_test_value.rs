//! Check 2: would something automatic notice a fault?

use super::spellings::{Spellings, Word};
use super::words::{Field, Reader, Token};
use super::{Cause, Finding, Severity, Texts, Vector};

pub(super) const SPELLINGS: Spellings = &[
    ("manual", Word::Manual),
    ("manually", Word::Manual),
    ("smoke", Word::Smoke),
    ("test", Word::Test),
    ("verify", Word::Verify),
    ("by", Word::By),
    ("hand", Word::Hand),
    ("check", Word::Check),
    ("visually", Word::Visually),
];

pub(super) fn check(tests: Option<&Texts>) -> Option<Finding> {
    let finding = |severity, cause| Finding::new(Vector::NoTestValue, severity, cause);
    let tests = match tests {
        None => return Some(finding(Severity::High, Cause::TestsAbsent)),
        Some(Texts::List(items)) if items.is_empty() => {
            return Some(finding(Severity::High, Cause::TestsAbsent));
        }
        Some(tests) => tests,
    };
    let mut manual = None;
    let mut reader = Reader::default();
    for part in tests.parts() {
        reader.read(Field::Tests, part, |token| manual = manual.or(by_hand(token)));
    }
    manual.map(|words| finding(Severity::Medium, Cause::TestsManual).with_detail(words))
}

/// The words that end here, if they say that a person does the testing.
fn by_hand(token: &Token<'_>) -> Option<&'static str> {
    let follows = |word| token.follows([word], Field::Tests);
    match token.word {
        Word::Manual => Some("manual"),
        Word::Test if follows(Word::Smoke) => Some("smoke test"),
        Word::Hand if token.follows([Word::Verify, Word::By], Field::Tests) => Some("verify by hand"),
        Word::Visually if follows(Word::Check) => Some("check visually"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;

    fn cause(tests: &Texts) -> Option<Cause> {
        check(Some(tests)).map(|finding| finding.cause)
    }

    fn text(text: &str) -> Texts {
        Texts::Text(String::from(text))
    }

    fn list(items: &[&str]) -> Texts {
        Texts::List(items.iter().copied().map(String::from).collect())
    }

    #[test]
    fn no_tests_are_none_but_a_blank_text_gives_nothing() {
        let absent = check(None).map(|finding| finding.cause);
        assert_eq!(absent, Some(Cause::TestsAbsent));
        assert_eq!(cause(&Texts::List(Vec::new())), Some(Cause::TestsAbsent));
        assert_eq!(cause(&text("")), None);
        assert_eq!(cause(&text("  ")), None);
        assert_eq!(cause(&list(&[""])), None);
    }

    #[test]
    fn manual_work_is_named_by_whole_words() {
        for tests in ["a MANUAL check", "Manually", "Smoke\n test", "verify by  hand", "check visually"] {
            assert_eq!(cause(&text(tests)), Some(Cause::TestsManual), "{tests}");
        }
        for tests in ["manuals", "semi_manual", "smoke tests", "smoke-test", "verify by handing", "check it visually"] {
            assert_eq!(cause(&text(tests)), None, "{tests}");
        }
    }

    #[test]
    fn a_phrase_may_span_the_items_of_a_list() {
        assert_eq!(cause(&list(&["verify", "", "by", "hand"])), Some(Cause::TestsManual));
        assert_eq!(cause(&list(&["smoke,", "test"])), None);
    }
}
