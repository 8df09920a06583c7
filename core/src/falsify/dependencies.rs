//! Check 6: is much foreign code drawn in?

use super::{Cause, Finding, Plan, Severity, Vector};
use crate::policy::falsify::Falsify;

pub(super) fn check(plan: &Plan<'_>, numbers: &Falsify) -> Option<Finding> {
    let longest = numbers.external_name_chars as usize;
    let mut external = plan.dependencies?.names().filter(|name| name.len() <= longest && looks_external(name));
    let first = external.next()?;
    let count = external.count().saturating_add(1);
    (count >= numbers.external_dependencies as usize)
        .then(|| Finding::new(Vector::DependencyRisk, Severity::Medium, Cause::ExternalDependencies).with_detail(first))
}

/// Whether the whole name is `[a-z][a-z0-9-_]*`, as packages of a registry are named. All of these
/// are ASCII, so the length in bytes is the length in code points.
fn looks_external(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::super::Texts;
    use super::*;

    fn is_risk(dependencies: &Texts) -> bool {
        let plan = Plan { dependencies: Some(dependencies), ..Plan::default() };
        check(&plan, &Falsify::default()).is_some()
    }

    fn with_two(name: &str) -> bool {
        is_risk(&Texts::List(["serde", "tokio", name].map(|name| name.to_string()).to_vec()))
    }

    #[test]
    fn three_names_that_look_external_are_a_risk() {
        assert!(with_two("left-pad_2"));
        assert!(with_two(" hyper "));
        assert!(with_two("serde"));
        for name in ["", "PyYAML", "a.b", "a:b", "a/b", "2to3", "-x", "_x", "é", "a b"] {
            assert!(!with_two(name), "{name}");
        }
    }

    #[test]
    fn a_name_of_more_than_forty_characters_is_no_package() {
        assert!(with_two(&"a".repeat(40)));
        assert!(!with_two(&"a".repeat(41)));
    }

    #[test]
    fn a_text_splits_and_a_list_item_does_not() {
        assert!(is_risk(&Texts::Text("a, b;c".to_string())));
        assert!(is_risk(&Texts::Text("a\nb\n\nc\n".to_string())));
        assert!(!is_risk(&Texts::Text("a b c".to_string())));
        assert!(!is_risk(&Texts::List(alloc::vec!["a,b,c".to_string()])));
    }
}
