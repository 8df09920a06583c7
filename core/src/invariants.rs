//! What must hold of every kernel at any time, as predicates that can be run.

use crate::facts::{Class, FactKind};
use crate::field::{Decay, Signal, Source};
use crate::fixed::Fixed;
use crate::kernel::Kernel;
use crate::policy::Policy;
use crate::trust::Role;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// The four weights of the score sum to 1.
#[must_use]
pub fn weights_sum_to_one(policy: &Policy) -> bool {
    let gate = &policy.gate;
    gate.weight_budget + gate.weight_risk + gate.weight_trust + gate.weight_completeness == Fixed::ONE
}

/// No rung of the ladder asks for less trust than the one below it, and more trust never gives a lower role.
#[must_use]
pub fn ladder_is_monotone(policy: &Policy) -> bool {
    policy
        .roles
        .ladder
        .iter()
        .zip(policy.roles.ladder.iter().skip(1))
        .all(|(low, high)| low.trust <= high.trust && low.role < high.role)
}

/// Every agent's trust lies in [0, 1].
#[must_use]
pub fn trust_is_in_range(kernel: &Kernel, at: u64) -> bool {
    kernel.at(at).agents().iter().all(|agent| agent.trust.is_fraction())
}

/// Every live trace lies above 0 and at most at the ceiling, and there are no more than the policy allows.
#[must_use]
pub fn field_is_within_bounds(kernel: &Kernel, at: u64) -> bool {
    let traces = kernel.at(at).traces();
    let ceiling = kernel.policy().field.max_strength;
    traces.iter().all(|trace| Fixed::ZERO < trace.strength && trace.strength <= ceiling)
        && traces.len() as u64 <= kernel.policy().bounds.traces
}

/// Nothing used or set aside is negative, and fractions lie in [0, 1].
#[must_use]
pub fn budget_is_well_formed(kernel: &Kernel, at: u64) -> bool {
    let (balance, _) = kernel.at(at).budget();
    balance.used.check("used").is_ok()
        && crate::budget::Dimension::ALL.into_iter().all(|dimension| balance.reserved.get(dimension) >= Fixed::ZERO)
}

/// What is set aside is what the open proposals and approvals set aside: nothing is lost, nothing is kept.
#[must_use]
pub fn reservations_add_up(kernel: &Kernel) -> bool {
    let (balance, _) = kernel.at(kernel.now()).budget();
    balance.reserved == kernel.reserved_by_proposals()
}

/// The names of every enumeration differ from each other.
#[must_use]
pub fn names_are_distinct() -> bool {
    distinct(Signal::ALL.map(Signal::as_str))
        && distinct(Source::ALL.map(Source::as_str))
        && distinct(Decay::ALL.map(Decay::as_str))
        && distinct(Role::ALL.map(Role::as_str))
        && distinct(Class::ALL.map(Class::as_str))
        && distinct(FactKind::ALL.map(|kind| crate::falsify::Cause::from(kind).code()))
}

fn distinct<const N: usize>(names: [&'static str; N]) -> bool {
    BTreeSet::from(names).len() == N
}

/// The names of the invariants that do not hold.
#[must_use]
pub fn violations(kernel: &Kernel, at: u64) -> Vec<&'static str> {
    let policy = kernel.policy();
    let checks = [
        ("weights_sum_to_one", weights_sum_to_one(policy)),
        ("ladder_is_monotone", ladder_is_monotone(policy)),
        ("trust_is_in_range", trust_is_in_range(kernel, at)),
        ("field_is_within_bounds", field_is_within_bounds(kernel, at)),
        ("budget_is_well_formed", budget_is_well_formed(kernel, at)),
        ("reservations_add_up", reservations_add_up(kernel)),
        ("names_are_distinct", names_are_distinct()),
    ];
    checks.into_iter().filter(|(_, holds)| !holds).map(|(name, _)| name).collect()
}
