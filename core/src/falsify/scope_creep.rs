//! Check 3: does the act reach further than its target?

use super::spellings::{Spellings, Word};
use super::words::{Field, Seen, Token, for_each_word, trim};
use super::{Cause, Finding, Plan, Severity, Vector};
use crate::policy::falsify::Falsify;

/// Types of action that destroy.
const DESTRUCTIVE: [&str; 6] = ["delete", "drop", "remove", "truncate", "purge", "wipe"];

pub(super) const SPELLINGS: Spellings = &[
    ("various", Word::Various),
    ("multiple", Word::Multiple),
    ("system", Word::System),
    ("systems", Word::Part),
    ("module", Word::Module),
    ("modules", Word::Part),
    ("service", Word::Module),
    ("services", Word::Part),
    ("component", Word::Part),
    ("components", Word::Part),
    ("related", Word::Related),
    ("thing", Word::Thing),
    ("things", Word::Thing),
    ("work", Word::Thing),
    ("change", Word::Thing),
    ("changes", Word::Thing),
    ("as", Word::As),
    ("needed", Word::Needed),
    ("wherever", Word::Wherever),
    ("applicable", Word::Applicable),
    ("general", Word::General),
    ("improvement", Word::Improvement),
    ("improvements", Word::Improvement),
    ("refactor", Word::Refactor),
    ("refactoring", Word::Improvement),
];

/// The vague terms of the scope.
#[derive(Default)]
pub(super) struct Reading<'t>(Seen<'t>);

impl<'t> Reading<'t> {
    pub(super) fn take(&mut self, token: &Token<'t>) {
        if token.field != Field::Scope {
            return;
        }
        let follows = |word| token.follows([word], Field::Scope);
        let term = match token.word {
            Word::Various => Word::Various,
            Word::System | Word::Module | Word::Part if follows(Word::Multiple) => Word::Multiple,
            Word::Thing if follows(Word::Related) => Word::Related,
            Word::Needed if follows(Word::As) => Word::Needed,
            Word::Applicable if follows(Word::Wherever) => Word::Applicable,
            Word::Improvement | Word::Refactor if follows(Word::General) => Word::General,
            _ => return,
        };
        self.0.add(term, token.text);
    }

    pub(super) fn check(&self, plan: &Plan<'_>, numbers: &Falsify) -> Option<Finding> {
        let finding = |severity, cause| Finding::new(Vector::ScopeCreep, severity, cause);
        if let Some(action) = destructive(plan.action_type) {
            return Some(finding(Severity::High, Cause::DestructiveAction).with_detail(action));
        }
        if self.0.count() >= numbers.vague_scope_terms {
            return Some(finding(Severity::Medium, Cause::VagueScope).with_detail(self.0.first().to_ascii_lowercase()));
        }
        let scope = plan.scope.unwrap_or_default();
        if !has_dots(scope, numbers.foreign_names) {
            return None;
        }
        let foreign = foreign_names(scope, plan.target);
        if foreign.count < numbers.foreign_names {
            return None;
        }
        Some(finding(Severity::High, Cause::ForeignScope).with_detail(foreign.first))
    }
}

fn destructive(action_type: &str) -> Option<&'static str> {
    let action_type = trim(action_type);
    DESTRUCTIVE.into_iter().find(|action| action.eq_ignore_ascii_case(action_type))
}

/// Whether a text has at least so many dots: as many dotted names need no fewer.
fn has_dots(text: &str, count: u32) -> bool {
    text.bytes().filter(|byte| *byte == b'.').count() >= count as usize
}

#[derive(Default)]
struct Foreign<'t> {
    count: u32,
    first: &'t str,
}

/// The dotted lower-case names in a scope that do not begin with the target's first segment.
///
/// A name is a longest chain of words, each `[a-z_][a-z0-9_]*`, with single dots between. Every
/// name begins with the empty segment, so a blank target makes nothing foreign.
fn foreign_names<'t>(scope: &'t str, target: &str) -> Foreign<'t> {
    let mut foreign = Foreign::default();
    let root = first_segment(trim(target));
    let mut end_name = |name: Option<(usize, usize)>| {
        let name = name.and_then(|(start, end)| scope.get(start..end));
        let Some(name) = name.filter(|name| name.contains('.') && !name.starts_with(root)) else {
            return;
        };
        if foreign.count == 0 {
            foreign.first = name;
        }
        foreign.count = foreign.count.saturating_add(1);
    };
    let mut name: Option<(usize, usize)> = None;
    for_each_word(scope, |start, end| {
        let segment = is_segment(scope.as_bytes().get(start..end).unwrap_or_default());
        match name {
            Some((first, last)) if segment && scope.get(last..start) == Some(".") => {
                name = Some((first, end));
            }
            _ => {
                end_name(name);
                name = segment.then_some((start, end));
            }
        }
    });
    end_name(name);
    foreign
}

fn first_segment(target: &str) -> &str {
    target.split_once('.').map_or(target, |(first, _)| first)
}

fn is_segment(word: &[u8]) -> bool {
    !word.first().is_some_and(u8::is_ascii_digit) && !word.iter().any(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::super::{Asks, falsify};
    use super::*;

    fn outcome(plan: &Plan<'_>) -> Option<(Severity, Cause)> {
        falsify(plan, &Falsify::default(), Asks::NONE)
            .findings
            .into_iter()
            .find(|finding| finding.vector == Vector::ScopeCreep)
            .map(|finding| (finding.severity, finding.cause))
    }

    fn of_scope(scope: &str) -> Option<Cause> {
        let plan = Plan { target: "core.parser", scope: Some(scope), ..Plan::default() };
        outcome(&plan).map(|(_, cause)| cause)
    }

    #[test]
    fn a_destructive_action_comes_before_the_scope() {
        for action_type in ["delete", "DROP", " Remove ", "truncate", "purge", "wipe"] {
            let plan = Plan { action_type, scope: Some("various things as needed"), ..Plan::default() };
            assert_eq!(outcome(&plan), Some((Severity::High, Cause::DestructiveAction)));
        }
        let plan = Plan { action_type: "delete_file", ..Plan::default() };
        assert_eq!(outcome(&plan), None);
    }

    #[test]
    fn two_different_vague_terms_make_a_scope_vague() {
        assert_eq!(of_scope("various related  Things"), Some(Cause::VagueScope));
        assert_eq!(of_scope("as\nneeded, wherever applicable"), Some(Cause::VagueScope));
        assert_eq!(of_scope("multiple component, general refactor"), Some(Cause::VagueScope));
        assert_eq!(of_scope("various, various"), None);
        assert_eq!(of_scope("various related new things"), None);
        assert_eq!(of_scope("multiple, modules as-needed general refactors"), None);
    }

    #[test]
    fn vague_terms_count_in_the_scope_alone() {
        let plan = Plan { rationale: "various things, as", scope: Some("needed various"), ..Plan::default() };
        assert_eq!(outcome(&plan), None);
    }

    #[test]
    fn three_foreign_names_count_with_repeats() {
        assert_eq!(of_scope("a.b a.b c_1.d"), Some(Cause::ForeignScope));
        assert_eq!(of_scope("a.b a.b"), None);
        assert_eq!(of_scope("core.a corex.b a.b c.d"), None);
        assert_eq!(of_scope("a.b. c..d e.f/g.h"), Some(Cause::ForeignScope));
        assert_eq!(of_scope("a.b c.d e. f"), None);
    }

    #[test]
    fn a_name_is_the_longest_chain_of_lower_case_words() {
        // Each line holds the names x.y, p.q and one candidate.
        for (candidate, counts) in [
            ("a.b.C", true),
            ("A.b.c", true),
            ("1a.b.c", true),
            ("a.b.cD", true),
            ("_a._", true),
            ("a.1b", false),
            ("a.B", false),
            ("A.b", false),
            ("éa.bé", true),
        ] {
            let scope = alloc::format!("x.y p.q {candidate}");
            assert_eq!(of_scope(&scope).is_some(), counts, "{candidate}");
        }
    }

    #[test]
    fn nothing_is_foreign_to_a_blank_first_segment() {
        for target in ["", "  ", ".hidden"] {
            let plan = Plan { target, scope: Some("a.b c.d e.f"), ..Plan::default() };
            assert_eq!(outcome(&plan), None);
        }
    }
}
