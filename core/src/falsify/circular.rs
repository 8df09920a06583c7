//! Check 5: does something depend on itself?

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::words::trim;
use super::{Cause, Finding, Plan, Severity, Texts, Vector};

/// Up to so many dependencies are sorted without allocating.
const FEW: usize = 16;

pub(super) fn check(plan: &Plan<'_>) -> Option<Finding> {
    let finding = |severity, cause, detail: &str| {
        Some(Finding::new(Vector::CircularArchitecture, severity, cause).with_detail(detail))
    };
    let target = trim(plan.target);
    if !target.is_empty() && trim(plan.agent_id) == target {
        return finding(Severity::High, Cause::SelfTarget, target);
    }
    if let Some(dependencies) = plan.dependencies {
        if dependencies.names().any(|name| name == target) {
            return finding(Severity::High, Cause::SelfDependency, target);
        }
        if let Some(outer) = outer_dependency(dependencies) {
            return finding(Severity::Medium, Cause::NestedDependencies, outer);
        }
    }
    let module = import_cycle(plan.imports.unwrap_or_default(), target)?;
    finding(Severity::High, Cause::ImportCycle, module)
}

/// A dependency that is a dotted prefix of another.
fn outer_dependency(dependencies: &Texts) -> Option<&str> {
    let count = dependencies.names().count();
    if count > FEW {
        return first_outer(&mut dependencies.names().collect::<Vec<_>>());
    }
    let mut few = [""; FEW];
    for (place, name) in few.iter_mut().zip(dependencies.names()) {
        *place = name;
    }
    first_outer(few.get_mut(..count)?)
}

/// Sorted by segments, everything below a name follows it directly, so neighbours tell.
fn first_outer<'t>(names: &mut [&'t str]) -> Option<&'t str> {
    names.sort_unstable_by(|a, b| a.split('.').cmp(b.split('.')));
    names.windows(2).find_map(|neighbours| match neighbours {
        [outer, inner] if is_below(inner, outer, &['.']) => Some(*outer),
        _ => None,
    })
}

/// Whether a name continues another after one of the separators.
fn is_below(name: &str, outer: &str, separators: &[char]) -> bool {
    name.strip_prefix(outer).is_some_and(|rest| rest.starts_with(separators))
}

/// How far the search for cycles has come with a module.
#[derive(Clone, Copy)]
enum Visit {
    Ahead,
    Open,
    Done,
}

/// A module on a cycle of the import graph, restricted to the modules at or under the target
/// (separator `.` or `/`). Imports of names that the graph does not list are left out.
///
/// A depth-first search with its own stack: meeting a module whose visit is still open closes a
/// cycle. Costs O((modules + imports) log modules).
fn import_cycle<'t>(imports: &'t [(String, Vec<String>)], target: &str) -> Option<&'t str> {
    if imports.is_empty() || target.is_empty() {
        return None;
    }
    let mut modules: Vec<&str> = imports
        .iter()
        .map(|(module, _)| module.as_str())
        .filter(|module| *module == target || is_below(module, target, &['.', '/']))
        .collect();
    modules.sort_unstable();
    modules.dedup();
    let edges = edges(imports, &modules);

    let mut visits = vec![Visit::Ahead; modules.len()];
    let mut path = Vec::new();
    for start in 0..modules.len() {
        let mut next = Some(start);
        loop {
            if let Some(module) = next.take() {
                match visits.get_mut(module)? {
                    Visit::Open => return modules.get(module).copied(),
                    Visit::Done => {}
                    visit @ Visit::Ahead => {
                        *visit = Visit::Open;
                        path.push((module, edges_from(&edges, module).iter()));
                    }
                }
            }
            let Some((module, imported)) = path.last_mut() else {
                break;
            };
            next = imported.next().map(|(_, to)| *to);
            if next.is_none() {
                *visits.get_mut(*module)? = Visit::Done;
                path.pop();
            }
        }
    }
    None
}

/// The imports between the modules, as pairs of their numbers, sorted.
fn edges(imports: &[(String, Vec<String>)], modules: &[&str]) -> Vec<(usize, usize)> {
    let number = |name: &String| modules.binary_search(&name.as_str()).ok();
    let mut edges = Vec::new();
    for (module, imported) in imports {
        if let Some(from) = number(module) {
            edges.extend(imported.iter().filter_map(number).map(|to| (from, to)));
        }
    }
    edges.sort_unstable();
    edges
}

fn edges_from(edges: &[(usize, usize)], module: usize) -> &[(usize, usize)] {
    let start = edges.partition_point(|(from, _)| *from < module);
    let rest = edges.get(start..).unwrap_or_default();
    let count = rest.partition_point(|(from, _)| *from == module);
    rest.get(..count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;

    fn cause(target: &str, dependencies: &Texts) -> Option<Cause> {
        let plan = Plan { target, dependencies: Some(dependencies), ..Plan::default() };
        check(&plan).map(|finding| finding.cause)
    }

    fn list(names: &[&str]) -> Texts {
        Texts::List(names.iter().map(ToString::to_string).collect())
    }

    fn cycle(target: &str, imports: &[(&str, &[&str])]) -> Option<Cause> {
        let imports: Vec<(String, Vec<String>)> = imports
            .iter()
            .map(|(module, imported)| {
                let imported = imported.iter().map(ToString::to_string).collect();
                (module.to_string(), imported)
            })
            .collect();
        let plan = Plan { target, imports: Some(&imports), ..Plan::default() };
        check(&plan).map(|finding| finding.cause)
    }

    #[test]
    fn an_agent_may_not_be_its_own_target() {
        let plan = |agent_id, target| Plan { agent_id, target, ..Plan::default() };
        let cause = |plan: Plan<'_>| check(&plan).map(|finding| finding.cause);
        assert_eq!(cause(plan("a", " a ")), Some(Cause::SelfTarget));
        assert_eq!(cause(plan("A", "a")), None);
        assert_eq!(cause(plan("", "")), None);
    }

    #[test]
    fn a_target_may_not_depend_on_itself() {
        assert_eq!(cause("b", &list(&["a", "b", "a.b"])), Some(Cause::SelfDependency));
        let text = Texts::Text("a; b\nc".to_string());
        assert_eq!(cause("b", &text), Some(Cause::SelfDependency));
        assert_eq!(cause("a; b", &list(&["a; b"])), Some(Cause::SelfDependency));
        assert_eq!(cause("", &list(&["", "a"])), None);
    }

    #[test]
    fn dependencies_may_not_lie_below_each_other() {
        assert_eq!(cause("x", &list(&["a.b.c", "z", "a"])), Some(Cause::NestedDependencies));
        assert_eq!(cause("x", &list(&["a.b", "a-c", "a", "a"])), Some(Cause::NestedDependencies));
        assert_eq!(cause("x", &list(&["a.b", "a.bc", "ab", "A"])), None);
        assert_eq!(cause("x", &list(&["a", "a"])), None);
    }

    #[test]
    fn many_dependencies_are_compared_like_few() {
        let mut names: Vec<String> = (0..1000).map(|number| format!("m{number}.x")).collect();
        assert_eq!(cause("x", &Texts::List(names.clone())), None);
        names.push("m500".to_string());
        assert_eq!(cause("x", &Texts::List(names)), Some(Cause::NestedDependencies));
    }

    #[test]
    fn a_cycle_counts_only_at_or_under_the_target() {
        let imports: &[(&str, &[&str])] =
            &[("a", &["a.b"]), ("a.b", &["c", "a.d"]), ("a.d", &["a"]), ("c", &["d"]), ("d", &["c", "a"])];
        assert_eq!(cycle("a", imports), Some(Cause::ImportCycle));
        assert_eq!(cycle("a.b", imports), None);
        assert_eq!(cycle("c", imports), None);
        assert_eq!(cycle("", imports), None);
        assert_eq!(cycle("c", &[("c", &["c"])]), Some(Cause::ImportCycle));
        assert_eq!(cycle("s", &[("s/a", &["s/b"]), ("s/b", &["s/a"])]), Some(Cause::ImportCycle));
        assert_eq!(cycle("s", &[("sa", &["sb"]), ("sb", &["sa"])]), None);
    }

    #[test]
    fn a_diamond_is_no_cycle_and_entries_of_one_module_add_up() {
        let diamond: &[(&str, &[&str])] =
            &[("a.1", &["a.2", "a.3", "a.3"]), ("a.2", &["a.4"]), ("a.3", &["a.4"]), ("a.4", &["a.5"])];
        assert_eq!(cycle("a", diamond), None);
        let twice: &[(&str, &[&str])] = &[("a.1", &[]), ("a.2", &["a.1"]), ("a.1", &["a.2"])];
        assert_eq!(cycle("a", twice), Some(Cause::ImportCycle));
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let name = |number: u32| format!("a.m{number}");
        let mut imports: Vec<(String, Vec<String>)> =
            (0..100_000).map(|number| (name(number), vec![name(number.saturating_add(1))])).collect();
        assert_eq!(import_cycle(&imports, "a"), None);
        imports.push((name(100_000), vec![name(0)]));
        assert!(import_cycle(&imports, "a").is_some());
    }
}
