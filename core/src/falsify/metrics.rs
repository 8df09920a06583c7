//! Check 4: can success be told from failure?

use super::{Cause, Finding, Severity, Texts, Vector};

/// Words that compare; they count inside longer words too.
const COMPARISONS: [&str; 6] = ["better", "faster", "less", "more", "reduce", "increase"];

pub(super) fn check(metrics: Option<&Texts>) -> Option<Finding> {
    let finding = |severity, cause| Finding::new(Vector::FalseMetric, severity, cause);
    let Some(metrics) = metrics.filter(|metrics| !metrics.is_blank()) else {
        return Some(finding(Severity::Medium, Cause::MetricsAbsent));
    };
    if metrics.parts().any(is_measurable) {
        return None;
    }
    Some(finding(Severity::Low, Cause::MetricsUnmeasurable))
}

fn is_measurable(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit() || matches!(c, '<' | '>' | '=' | '%' | '≤' | '≥'))
        || COMPARISONS.iter().any(|word| contains(text, word))
}

/// Whether the text contains the word, in any ASCII case.
fn contains(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;

    fn cause(text: &str) -> Option<Cause> {
        let metrics = Texts::Text(String::from(text));
        check(Some(&metrics)).map(|finding| finding.cause)
    }

    #[test]
    fn absent_empty_and_blank_metrics_are_none() {
        let absent = check(None).map(|finding| finding.cause);
        assert_eq!(absent, Some(Cause::MetricsAbsent));
        assert_eq!(cause(" \n"), Some(Cause::MetricsAbsent));
        for items in [Vec::new(), alloc::vec![String::new(), String::from(" ")]] {
            let finding = check(Some(&Texts::List(items))).map(|finding| finding.cause);
            assert_eq!(finding, Some(Cause::MetricsAbsent));
        }
    }

    #[test]
    fn a_digit_a_sign_or_a_comparison_measures() {
        for text in ["p99", "a < b", "x=y", "%", "a ≤ b", "a ≥ b", "BETTER", "seamLess", "increased"] {
            assert_eq!(cause(text), None, "{text}");
        }
        for text in ["happy users", "bett er", "improved performance", "fast"] {
            assert_eq!(cause(text), Some(Cause::MetricsUnmeasurable), "{text}");
        }
    }

    #[test]
    fn one_item_of_a_list_is_enough() {
        let metrics = Texts::List(alloc::vec![String::from("happy users"), String::from("3 errors")]);
        assert_eq!(check(Some(&metrics)), None);
    }
}
