//! An independent reading of SPEC section 6, written with regular expressions over whole texts,
//! compared with the checks on random plans. Nothing here is fast, and nothing shares code with
//! the checks but the types.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use regex::{Regex, RegexSet};

use super::super::{Asks, Cause, Plan, Severity, Texts, Vector, falsify};
use crate::policy::falsify::Falsify;

type Expected = Option<(Vector, Severity, Cause)>;

/// White space as the scanner sees it.
const SPACE: &str = r"[\s\x1c-\x1f]";

/// `~` is a run of white space, `\b` an ASCII boundary, case is ignored (only of ASCII letters,
/// which is why each letter is spelled as a class).
fn pattern(rule: &str) -> String {
    let mut pattern = String::from("(?s)");
    let mut in_class = false;
    let mut escaped = false;
    for c in rule.chars() {
        match c {
            '~' => pattern.push_str(&format!("{SPACE}+")),
            'b' if escaped => {
                pattern.pop();
                pattern.push_str(r"(?-u:\b)");
            }
            c if escaped => pattern.push(c),
            c if c.is_ascii_alphabetic() && !in_class => {
                pattern.push_str(&format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()));
            }
            c => pattern.push(c),
        }
        in_class = (in_class || c == '[') && c != ']';
        escaped = c == '\\' && !escaped;
    }
    pattern
}

macro_rules! rules {
    ($text:expr, $($rule:literal),+ $(,)?) => {{
        static RULES: LazyLock<RegexSet> =
            LazyLock::new(|| RegexSet::new([$(pattern($rule)),+]).unwrap());
        RULES.matches($text).iter().count()
    }};
}

macro_rules! count {
    ($text:expr, $rule:literal) => {{
        static RULE: LazyLock<Regex> = LazyLock::new(|| Regex::new(&pattern($rule)).unwrap());
        RULE.find_iter($text).count()
    }};
}

fn strip(text: &str) -> &str {
    static ENDS: LazyLock<Regex> = LazyLock::new(|| Regex::new(&format!("(?s)^{SPACE}*(.*?){SPACE}*$")).unwrap());
    ENDS.captures(text).unwrap().get(1).unwrap().as_str()
}

fn joined(texts: &Texts) -> String {
    texts.parts().collect::<Vec<_>>().join(" ")
}

fn names(texts: Option<&Texts>) -> Vec<&str> {
    let raw: Vec<&str> = match texts {
        None => Vec::new(),
        Some(Texts::Text(text)) => text.split([',', ';', '\n']).collect(),
        Some(Texts::List(items)) => items.iter().map(String::as_str).collect(),
    };
    raw.into_iter().map(strip).filter(|name| !name.is_empty()).collect()
}

fn no_rollback(plan: &Plan<'_>) -> Expected {
    let finding = |severity, cause| Some((Vector::NoRollback, severity, cause));
    let text = strip(plan.rollback_plan.unwrap_or(""));
    if text.is_empty() {
        finding(Severity::High, Cause::RollbackBlank)
    } else if rules!(text, r"^(n/?a|none|tbd|todo|unknown|not~applicable)\.?$") > 0 {
        finding(Severity::High, Cause::RollbackEmptyPhrase)
    } else if rules!(text, r"^will~(revert|undo)~manually$") > 0 {
        finding(Severity::High, Cause::RollbackManual)
    } else if text.chars().count() < 20 {
        finding(Severity::Medium, Cause::RollbackShort)
    } else {
        None
    }
}

fn no_test_value(plan: &Plan<'_>) -> Expected {
    let finding = |severity, cause| Some((Vector::NoTestValue, severity, cause));
    let Some(tests) = plan.tests.filter(|tests| **tests != Texts::List(Vec::new())) else {
        return finding(Severity::High, Cause::TestsAbsent);
    };
    let text = joined(tests);
    if rules!(&text, r"\b(manual(ly)?|smoke~test|verify~by~hand|check~visually)\b") > 0 {
        return finding(Severity::Medium, Cause::TestsManual);
    }
    None
}

fn scope_creep(plan: &Plan<'_>) -> Expected {
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?-u:\b)[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)+(?-u:\b)").unwrap());
    let finding = |severity, cause| Some((Vector::ScopeCreep, severity, cause));
    if rules!(strip(plan.action_type), "^(delete|drop|remove|truncate|purge|wipe)$") > 0 {
        return finding(Severity::High, Cause::DestructiveAction);
    }
    let scope = plan.scope.unwrap_or("");
    let vague = rules!(
        scope,
        r"\bvarious\b",
        r"\bmultiple~(system|module|service|component)s?\b",
        r"\brelated~(things?|work|changes?)\b",
        r"\bas~needed\b",
        r"\bwherever~applicable\b",
        r"\bgeneral~(improvements?|refactor(ing)?)\b",
    );
    if vague >= 2 {
        return finding(Severity::Medium, Cause::VagueScope);
    }
    let root = strip(plan.target).split('.').next().unwrap();
    let is_foreign = |name: &regex::Match<'_>| !name.as_str().starts_with(root);
    if NAME.find_iter(scope).filter(is_foreign).count() >= 3 {
        return finding(Severity::High, Cause::ForeignScope);
    }
    None
}

fn metrics(plan: &Plan<'_>) -> Expected {
    let finding = |severity, cause| Some((Vector::FalseMetric, severity, cause));
    let text = plan.metrics.map(joined).unwrap_or_default();
    if strip(&text).is_empty() {
        finding(Severity::Medium, Cause::MetricsAbsent)
    } else if rules!(&text, "[0-9<>=%≤≥]|better|faster|less|more|reduce|increase") == 0 {
        finding(Severity::Low, Cause::MetricsUnmeasurable)
    } else {
        None
    }
}

fn circular(plan: &Plan<'_>) -> Expected {
    let finding = |severity, cause| Some((Vector::CircularArchitecture, severity, cause));
    let target = strip(plan.target);
    if !target.is_empty() && strip(plan.agent_id) == target {
        return finding(Severity::High, Cause::SelfTarget);
    }
    let names = names(plan.dependencies);
    if names.contains(&target) {
        return finding(Severity::High, Cause::SelfDependency);
    }
    let is_outer = |outer: &&str| names.iter().any(|name| name.starts_with(&format!("{outer}.")));
    if names.iter().any(is_outer) {
        return finding(Severity::Medium, Cause::NestedDependencies);
    }
    if has_cycle(plan.imports.unwrap_or(&[]), target) {
        return finding(Severity::High, Cause::ImportCycle);
    }
    None
}

/// By removing, again and again, what imports nothing that is left.
fn has_cycle(imports: &[(String, Vec<String>)], target: &str) -> bool {
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (module, imported) in imports {
        let rest = module.strip_prefix(target);
        if !target.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/'])) {
            graph.entry(module).or_default().extend(imported.iter().map(String::as_str));
        }
    }
    loop {
        let left: BTreeSet<&str> = graph.keys().copied().collect();
        graph.retain(|_, imported| !imported.is_disjoint(&left));
        if graph.len() == left.len() {
            return !left.is_empty();
        }
    }
}

fn dependencies(plan: &Plan<'_>) -> Expected {
    static EXTERNAL: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[a-z][a-z0-9_-]{0,39}$").unwrap());
    let names = names(plan.dependencies);
    let count = names.iter().filter(|name| EXTERNAL.is_match(name)).count();
    let finding = (Vector::DependencyRisk, Severity::Medium, Cause::ExternalDependencies);
    (count >= 3).then_some(finding)
}

fn security(plan: &Plan<'_>) -> Expected {
    let text = [plan.target, plan.rationale, plan.scope.unwrap_or("")].join(" ");
    let sensitive = rules!(
        &text,
        r"\b(auth(entication|orization|token)?|password|credential|secret|encrypt|privileged?|sudo)\b",
        r"\b(root|permission|access~control|sanitiz|injection)\b",
    );
    let reviewed = rules!(&text, r"\b(security~(review|audit)|sast|guard_ant|threat~model)\b");
    let finding = (Vector::SecurityRisk, Severity::High, Cause::SensitiveUnreviewed);
    (sensitive > 0 && reviewed == 0).then_some(finding)
}

fn outcome(plan: &Plan<'_>) -> Expected {
    let text = strip(plan.expected_outcome.unwrap_or(""));
    if text.is_empty() {
        return Some((Vector::FalseMetric, Severity::Medium, Cause::OutcomeBlank));
    }
    let vague = rules!(
        text,
        r"^(it~)?(will~)?works?$",
        r"\bimprove[sSdD]?\b.*\boverall\b",
        r"\bbetter\b.*\bsystem\b",
        r"\bno~issues\b",
        r"\bsmoothly\b",
        r"\bseamlessly\b",
        r"\bstable\b",
    );
    (vague >= 2).then_some((Vector::FalseMetric, Severity::Low, Cause::OutcomeVague))
}

fn rationale_and_scope(plan: &Plan<'_>) -> String {
    [plan.rationale, plan.scope.unwrap_or("")].join(" ")
}

fn breadth(plan: &Plan<'_>) -> Expected {
    let verbs = count!(
        &rationale_and_scope(plan),
        r"\b(handle|manage|coordinate|orchestrate|provide|implement|support|wrap)s?\b"
    );
    if verbs >= 5 {
        return Some((Vector::OverBroadModule, Severity::Medium, Cause::ManyResponsibilities));
    }
    let is_deep = plan.target.matches('.').count() >= 5;
    is_deep.then_some((Vector::OverBroadModule, Severity::Low, Cause::DeepTarget))
}

fn maintenance(plan: &Plan<'_>) -> Expected {
    let scope = plan.scope.unwrap_or("");
    let text = [plan.action_type, plan.target, plan.rationale, scope].join(" ");
    let groups = rules!(
        &text,
        r"\b(create|add|introduce|migrate|refactor|replace)\b",
        r"\b(module|service|framework|platform|pipeline|integration)\b",
        r"\bnew~(api|schema|storage|dependency|subsystem)\b",
    );
    let given = [plan.maintenance_plan, plan.owner, plan.ownership, plan.deprecation_plan, plan.runbook];
    let is_owned = given.iter().flatten().any(|text| !strip(text).is_empty());
    let finding = (Vector::HiddenMaintenanceCost, Severity::Medium, Cause::UnownedAddition);
    (groups >= 2 && !is_owned).then_some(finding)
}

fn abstraction(plan: &Plan<'_>) -> Expected {
    let text = rationale_and_scope(plan);
    let terms = rules!(
        &text,
        r"\bgeneric\b",
        r"\breusable?\b",
        r"\bextensible\b",
        r"\bplug-?in\b",
        r"\babstract~(base~)?class\b",
        r"\binterface\b",
        r"\bframework\b",
        r"\bplatform\b",
    );
    let evidence = rules!(
        &text,
        r"\b[0-9]+~(caller|use|consumer|client)s?\b",
        r"\bthree~(or~more~)?(callers|uses)\b",
        r"\bexisting~(callers|consumers|uses)\b",
        r"\b(proven|demonstrated)\b",
    );
    let finding = (Vector::PrematureAbstraction, Severity::Low, Cause::SpeculativeAbstraction);
    (terms >= 2 && evidence == 0).then_some(finding)
}

fn expected(plan: &Plan<'_>) -> Vec<(Vector, Severity, Cause)> {
    [
        no_rollback(plan),
        no_test_value(plan),
        scope_creep(plan),
        metrics(plan),
        circular(plan),
        dependencies(plan),
        security(plan),
        outcome(plan),
        breadth(plan),
        maintenance(plan),
        abstraction(plan),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Words of the rules, near misses, and phrases in one piece; `words` of each check together so
/// that its rules meet.
const VOCABULARIES: [&[&str]; 9] = [
    &[
        "n/a",
        "na",
        "none",
        "tbd",
        "todo",
        "unknown",
        "not applicable",
        "not",
        "applicable",
        ".",
        "will revert manually",
        "will undo manually",
        "will",
        "revert",
        "undo",
        "manually",
    ],
    &["manual", "manually", "manuals", "smoke", "test", "tests", "verify", "by", "hand", "check", "visually"],
    &[
        "various",
        "multiple",
        "system",
        "systems",
        "module",
        "modules",
        "service",
        "services",
        "component",
        "components",
        "related",
        "thing",
        "things",
        "work",
        "works",
        "change",
        "changes",
        "as",
        "needed",
        "wherever",
        "applicable",
        "general",
        "improvement",
        "improvements",
        "refactor",
        "refactoring",
        "refactors",
        "multiple services",
        "multiple  component",
        "related work",
        "related things",
        "as needed",
        "wherever applicable",
        "general refactor",
        "general improvements",
        "general refactoring",
    ],
    &["a.b", "a.B", "core.x", "corex.y", "_._", "a..b", "A.b.c", "1.b", "a.1", "b.c.d", ".", "a", "é.b.c", "x.y"],
    &[
        "auth",
        "authentication",
        "authorization",
        "authtoken",
        "author",
        "password",
        "credential",
        "credentials",
        "secret",
        "encrypt",
        "encryption",
        "privilege",
        "privileged",
        "sudo",
        "root",
        "permission",
        "access",
        "control",
        "sanitiz",
        "sanitize",
        "injection",
        "security",
        "review",
        "audit",
        "sast",
        "guard_ant",
        "guard",
        "ant",
        "threat",
        "model",
        "modeling",
        "security review",
        "threat model",
        "access control",
    ],
    &[
        "it",
        "will",
        "work",
        "works",
        "improve",
        "improves",
        "improved",
        "improver",
        "overall",
        "better",
        "system",
        "systems",
        "no",
        "issues",
        "smoothly",
        "seamlessly",
        "stable",
        "unstable",
        "it works",
        "no issues",
    ],
    &[
        "handle",
        "handles",
        "manage",
        "manages",
        "coordinate",
        "coordinates",
        "orchestrate",
        "orchestrates",
        "provide",
        "provides",
        "implement",
        "implements",
        "support",
        "supports",
        "wrap",
        "wraps",
        "wrapper",
        "handled",
    ],
    &[
        "create",
        "add",
        "introduce",
        "migrate",
        "refactor",
        "replace",
        "created",
        "module",
        "service",
        "framework",
        "platform",
        "pipeline",
        "integration",
        "new",
        "api",
        "schema",
        "storage",
        "dependency",
        "subsystem",
        "newapi",
        "new_api",
        "apis",
    ],
    &[
        "generic",
        "reusable",
        "reusabl",
        "reusables",
        "extensible",
        "plug",
        "in",
        "plug-in",
        "plugin",
        "plug-ins",
        "abstract",
        "base",
        "class",
        "interface",
        "framework",
        "platform",
        "3",
        "12",
        "v3",
        "three",
        "or",
        "more",
        "existing",
        "caller",
        "callers",
        "use",
        "uses",
        "consumer",
        "consumers",
        "client",
        "clients",
        "proven",
        "three or more",
        "abstract base class",
        "existing uses",
        "4 clients",
        "demonstrated",
    ],
];

fn vocabulary() -> impl Strategy<Value = &'static [&'static str]> {
    select(VOCABULARIES.as_slice())
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    let all: Vec<&str> = VOCABULARIES.iter().copied().flatten().copied().collect();
    let cased = |(word, case): (&str, u8)| match case {
        0 => word.to_ascii_uppercase(),
        1 => word.chars().rev().collect(),
        _ => String::from(word),
    };
    prop_oneof![
        8 => (select(words), 0..12_u8).prop_map(cased),
        1 => (select(all), 0..12_u8).prop_map(cased),
        1 => "[a-zA-Z0-9_éſK.-]{0,6}",
        1 => (select(&["a", "_", "0", "-", " ", "é"][..]), 1..150_usize)
            .prop_map(|(unit, count)| unit.repeat(count)),
    ]
}

fn separator() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        12 => Just(" "),
        1 => select(&["", "  ", "\n", "\t", "\r\n", "\u{a0}", "\u{2003} ", "\u{1f}", "\u{85}",
            "\u{200b}", "\0", "_", "-", ", ", ".", "/", "é", " é ", "; ", " . "][..]),
    ]
}

/// A text that mixes words, mostly of one check, with separators.
fn text() -> impl Strategy<Value = String> {
    vocabulary().prop_flat_map(text_of)
}

fn text_of(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    vec((word(words), separator()), 0..14)
        .prop_map(|parts| parts.into_iter().fold(String::new(), |text, (word, separator)| text + &word + separator))
}

fn text_or_list(words: &'static [&'static str]) -> impl Strategy<Value = Option<Texts>> {
    prop_oneof![
        1 => Just(None),
        4 => text_of(words).prop_map(|text| Some(Texts::Text(text))),
        4 => vec(text_of(words), 0..4).prop_map(|items| Some(Texts::List(items))),
    ]
}

fn dependency() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab](\\.[ab]){0,3}",
        "[a-c](\\.[a-z]{2}){0,1}",
        "[a-c_0.:é-]{0,4}",
        "[a-z][a-z0-9_-]{37,41}",
        " ?[A-Ca-c]{1,3}\n?",
    ]
}

fn dependency_texts() -> impl Strategy<Value = Option<Texts>> {
    let separators = select(&[",", ", ", ";", "\n", " "][..]);
    prop_oneof![
        1 => Just(None),
        3 => vec(dependency(), 0..4).prop_map(|items| Some(Texts::List(items))),
        1 => vec(dependency(), 0..25).prop_map(|items| Some(Texts::List(items))),
        4 => (vec(dependency(), 0..6), separators)
            .prop_map(|(items, separator)| Some(Texts::Text(items.join(separator)))),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[ab](\\.[ab]){0,6}", " ?[ab] ?", " ?[ab] ?", Just(String::from("core.x")), text(),]
}

fn action_type() -> impl Strategy<Value = String> {
    let actions = ["delete", "Drop", " remove", "truncate", "purge", "wipe", "deletes", "create", "new", "access"];
    prop_oneof![1 => select(actions.to_vec()).prop_map(String::from), 3 => name()]
}

fn imports() -> impl Strategy<Value = Option<Vec<(String, Vec<String>)>>> {
    let module = || "a([./][ab]){0,2}";
    proptest::option::of(vec((module(), vec(module(), 0..3)), 0..8))
}

/// A plan that owns its texts.
#[derive(Debug)]
struct Owned {
    names: (String, String, String),
    texts: (String, Option<String>, Option<String>, Option<String>),
    lists: (Option<Texts>, Option<Texts>, Option<Texts>),
    owners: [Option<String>; 5],
    imports: Option<Vec<(String, Vec<String>)>>,
}

impl Owned {
    fn plan(&self) -> Plan<'_> {
        let [maintenance_plan, owner, ownership, deprecation_plan, runbook] =
            self.owners.each_ref().map(Option::as_deref);
        Plan {
            agent_id: &self.names.0,
            target: &self.names.1,
            action_type: &self.names.2,
            rationale: &self.texts.0,
            scope: self.texts.1.as_deref(),
            rollback_plan: self.texts.2.as_deref(),
            expected_outcome: self.texts.3.as_deref(),
            tests: self.lists.0.as_ref(),
            metrics: self.lists.1.as_ref(),
            dependencies: self.lists.2.as_ref(),
            maintenance_plan,
            owner,
            ownership,
            deprecation_plan,
            runbook,
            imports: self.imports.as_deref(),
        }
    }
}

fn plan() -> impl Strategy<Value = Owned> {
    let option = |strategy: BoxedStrategy<String>| proptest::option::weighted(0.9, strategy);
    let owner = || proptest::option::weighted(0.05, "[ a]{0,2}");
    vocabulary().prop_flat_map(move |words| {
        let names = (name(), name(), action_type());
        let texts = (
            text_of(words),
            option(prop_oneof![text_of(words), text()].boxed()),
            option(text_of(VOCABULARIES[0]).boxed()),
            option(text_of(VOCABULARIES[5]).boxed()),
        );
        let lists = (text_or_list(VOCABULARIES[1]), text_or_list(words), dependency_texts());
        let owners = [owner(), owner(), owner(), owner(), owner()];
        (names, texts, lists, owners, imports()).prop_map(|(names, texts, lists, owners, imports)| Owned {
            names,
            texts,
            lists,
            owners,
            imports,
        })
    })
}

/// Every rule fires on some of the plans that the strategy makes, and every check passes on some:
/// otherwise agreement would mean little.
#[test]
fn the_random_plans_reach_every_rule() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut counts: BTreeMap<Cause, u32> = BTreeMap::new();
    for _ in 0..4_000 {
        let owned = plan().new_tree(&mut runner).unwrap().current();
        for (_, _, cause) in expected(&owned.plan()) {
            *counts.entry(cause).or_default() += 1;
        }
    }
    assert_eq!(counts.len(), 23, "{counts:?}");
    assert!(counts.values().all(|count| (10..3_900).contains(count)), "{counts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_checks_agree_with_the_regular_expressions(owned in plan()) {
        let plan = owned.plan();
        let found: Vec<_> = falsify(&plan, &Falsify::default(), Asks::ALL)
            .findings
            .into_iter()
            .map(|finding| (finding.vector, finding.severity, finding.cause))
            .collect();
        prop_assert_eq!(found, expected(&plan));
    }
}
