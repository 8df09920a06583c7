//! Budgets (SPEC 3, 10.l).

use crate::scene::*;
use stigmergate_core::budget::{Cost, Dimension};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Decision, ReasonCode};
use stigmergate_core::invariants;
use stigmergate_core::kernel::{Kernel, OutcomeReport, Spend, StatedCost};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_core::proposal::Proposal;

fn costing(id: &str, count: i32) -> Proposal {
    let mut proposal = plan(id, path(&format!("src/{id}")));
    proposal.budget_estimate = calls(count);
    proposal
}

fn capped(count: u32) -> Scene {
    Scene::policy(&format!(r#"{{"budget": {{"caps": {{"llm_calls": {count}}}}}}}"#))
}

#[test]
fn a_proposal_is_affordable_up_to_the_cap_and_used_and_reserved_count() {
    let mut scene = capped(10);
    assert_eq!(scene.propose(costing("p1", 6)).decision, Decision::Execute);
    let verdict = scene.propose(costing("p2", 5));
    assert_eq!((verdict.decision, deciding(&verdict)), (Decision::Hold, ReasonCode::BudgetExceeded));
    let violation = verdict.budget.violation.unwrap();
    assert_eq!(
        (violation.dimension, violation.projected, violation.cap),
        (Dimension::LlmCalls, Fixed::whole(11), Fixed::whole(10))
    );
    assert_eq!(scene.propose(costing("p3", 4)).decision, Decision::Execute, "equal is fine");
    scene.report("p1", true);
    assert_eq!((scene.used(), scene.reserved()), (calls(6), calls(4)));
    assert_eq!(scene.propose(costing("p4", 1)).decision, Decision::Hold);
}

#[test]
fn the_first_violated_dimension_in_order_is_named() {
    let mut kernel = Kernel::new(Policy::preset(Preset::Reference)).unwrap();
    let cost =
        Cost { security_exposure: Fixed::ONE, merge_risk: Fixed::ONE, doc_debt: Fixed::whole(2000), ..Cost::default() };
    let answer = kernel.spend(0, &Spend { agent_id: "a".into(), cost }).unwrap();
    assert_eq!(answer.violation.unwrap().dimension, Dimension::MergeRisk);
    assert_eq!(kernel.at(0).budget().0.used, Cost::default(), "nothing is used then");
}

#[test]
fn sums_of_fractions_saturate_at_one() {
    let mut scene = Scene::standard();
    let cost = Cost { risk_level: Fixed::milli(700), ..Cost::default() };
    for _ in 0..3 {
        assert!(scene.kernel.spend(scene.now, &Spend { agent_id: "a".into(), cost }).unwrap().approved);
    }
    assert_eq!(scene.used().risk_level, Fixed::ONE);
}

#[test]
fn a_reservation_is_settled_by_the_outcome_at_its_stated_cost() {
    let mut scene = Scene::standard();
    scene.propose(costing("p1", 6));
    assert_eq!(scene.reserved(), calls(6));
    let report = OutcomeReport { cost: StatedCost::new(Some(calls(2))), ..outcome("p1", true) };
    scene.kernel.record_outcome(scene.now, &report).unwrap();
    assert_eq!((scene.used(), scene.reserved()), (calls(2), calls(0)));
    // A cost that is not valid counts as not stated.
    scene.propose(costing("p2", 6));
    let json = r#"{"proposal": "p2", "tests_passed": true, "cost": {"llm_calls": -1}}"#;
    scene.kernel.record_outcome(scene.now, &serde_json::from_str(json).unwrap()).unwrap();
    assert_eq!((scene.used(), scene.reserved()), (calls(8), calls(0)));
}

#[test]
fn an_unsettled_reservation_comes_free_after_ten_minutes_command_or_not() {
    let mut scene = capped(10);
    scene.propose(costing("p1", 10));
    scene.wait(10 * MINUTE - 1);
    assert_eq!(scene.decision(&costing("p2", 1)), Decision::Hold);
    scene.wait(1);
    assert_eq!(scene.reserved(), calls(0), "as a question sees it");
    assert_eq!(scene.propose(costing("p2", 1)).decision, Decision::Execute, "as a witness and the proposal see it");
    scene.report("p1", true);
    assert_eq!((scene.used(), scene.reserved()), (calls(10), calls(1)));
}

#[test]
fn a_hold_reserves_nothing_an_approval_does_and_its_use_does_not_count_twice() {
    let mut scene = Scene::policy(r#"{"budget": {"caps": {"llm_calls": 10}}, "gate": {"execute": 1}}"#);
    assert_eq!(scene.propose(costing("p1", 6)).decision, Decision::Hold);
    assert_eq!(scene.reserved(), calls(0));
    scene.approve("p1");
    assert_eq!(scene.reserved(), calls(6));
    let verdict = scene.propose(costing("p1", 6));
    assert!(verdict.decision == Decision::Execute && verdict.budget.approved, "{:?}", verdict.reasons);
    assert_eq!(scene.reserved(), calls(6));
    scene.report("p1", true);
    assert_eq!((scene.used(), scene.reserved()), (calls(6), calls(0)));
}

#[test]
fn an_approval_that_lapses_and_a_denial_keep_nothing() {
    let mut scene = Scene::policy(r#"{"gate": {"execute": 1}}"#);
    scene.propose(costing("p1", 6));
    scene.approve("p1");
    scene.wait(10 * MINUTE);
    assert_eq!(scene.reserved(), calls(0));
    scene.propose(costing("p2", 6));
    scene.deny("p2");
    assert_eq!(scene.reserved(), calls(0));
    assert!(invariants::reservations_add_up(&scene.kernel));
}

#[test]
fn after_everything_is_settled_or_expired_nothing_is_set_aside() {
    let mut scene = Scene::standard();
    for number in 0..40 {
        let id = format!("p{number}");
        let mut proposal = costing(&id, number + 1);
        proposal.agent_id = format!("claude/{}", number % 3);
        scene.propose(proposal);
        if number % 2 == 0 {
            scene.report(&id, number % 4 == 0);
        }
        scene.wait(MINUTE);
        assert_eq!(invariants::violations(&scene.kernel, scene.now), [""; 0]);
    }
    scene.advance(HOUR);
    assert_eq!(scene.reserved(), calls(0));
    for account in ["claude", "claude/0", "claude/1", "claude/2"] {
        assert_eq!(scene.kernel.at(scene.now).account(account).reserved, calls(0), "{account}");
    }
}

#[test]
fn a_period_reset_clears_what_is_used_and_not_what_is_set_aside() {
    let mut scene = Scene::policy(r#"{"budget": {"period_seconds": 60}}"#);
    scene.propose(costing("p1", 3));
    scene.propose(costing("p2", 4));
    scene.report("p1", true);
    scene.wait(60 * SECOND - 1);
    assert_eq!((scene.used(), scene.reserved()), (calls(3), calls(4)));
    scene.wait(1);
    assert_eq!((scene.used(), scene.reserved()), (calls(0), calls(4)), "as a question sees it");
    scene.kernel.advance(scene.now);
    assert_eq!((scene.used(), scene.reserved()), (calls(0), calls(4)));
    assert_eq!(scene.kernel.at(scene.now).budget().0.lifetime, calls(3));
}

#[test]
fn a_period_is_fixed_and_begins_with_the_first_command_and_at_each_reset() {
    let mut scene = Scene::policy(r#"{"budget": {"period_seconds": 60}}"#);
    let spend = |scene: &mut Scene| {
        scene.kernel.spend(scene.now, &Spend { agent_id: "a".into(), cost: calls(1) }).unwrap();
        scene.used()
    };
    assert_eq!(spend(&mut scene), calls(1));
    assert_eq!(spend(scene.wait(59 * SECOND)), calls(2), "what is used late does not make it longer");
    assert_eq!(spend(scene.wait(16 * SECOND)), calls(1));
    assert_eq!(spend(scene.wait(59 * SECOND)), calls(2), "the next began at the reset");
    assert_eq!(spend(scene.wait(SECOND)), calls(1));
    let mut endless = Scene::policy(r#"{"budget": {"period_seconds": 0}}"#);
    spend(&mut endless);
    assert_eq!(spend(endless.wait(100_000 * HOUR)), calls(2));
}

#[test]
fn a_child_draws_on_the_remainder_of_its_parent() {
    let mut scene = Scene::policy(
        r#"{"budget": {"accounts": {"claude": {"llm_calls": 10}, "claude/reviewer": {"llm_calls": 8}}}}"#,
    );
    let by = |agent: &str, id: &str, count| Proposal { agent_id: agent.into(), ..costing(id, count) };
    assert_eq!(scene.propose(by("claude", "p1", 5)).decision, Decision::Execute);
    let verdict = scene.propose(by("claude/reviewer", "p2", 6));
    assert_eq!(verdict.budget.violation.unwrap().account, "claude");
    assert_eq!(scene.propose(by("claude/reviewer", "p3", 5)).decision, Decision::Execute);
    let verdict = scene.propose(by("claude/reviewer", "p4", 4));
    assert_eq!(verdict.budget.violation.unwrap().account, "claude", "the parent's cap is asked first");
    assert_eq!(scene.propose(by("codex", "p5", 100)).decision, Decision::Execute);
    assert_eq!(scene.kernel.at(scene.now).account("claude").reserved, calls(10));
}

#[test]
fn spenders_are_ranked_by_what_they_used_ties_by_name() {
    let mut scene = Scene::standard();
    for (agent, count) in [("b", 2), ("a", 2), ("c", 5)] {
        scene.kernel.spend(scene.now, &Spend { agent_id: agent.into(), cost: calls(count) }).unwrap();
    }
    let spenders = scene.kernel.at(scene.now).spenders(Dimension::LlmCalls);
    assert_eq!(spenders.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["c", "a", "b"]);
    assert_eq!(scene.kernel.at(scene.now).charges().count(), 3);
}

#[test]
fn the_reference_reserves_nothing() {
    let mut kernel = Kernel::new(Policy::preset(Preset::Reference)).unwrap();
    let mut proposal = plan("p1", Location::name("core.parser"));
    proposal.budget_estimate = calls(5);
    kernel.propose(0, proposal).unwrap();
    assert_eq!(kernel.at(0).budget().0.reserved, Cost::default());
}
