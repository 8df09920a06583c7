//! Ids, contents and forgetting (SPEC 12, idempotence and bounds).

use crate::scene::*;
use stigmergate_core::error::Error;
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::Decision;
use stigmergate_core::kernel::{OutcomeReport, Subject};
use stigmergate_core::proposal::Proposal;

/// What a kernel holds apart from its clock and its counters.
fn substance(scene: &Scene) -> String {
    let view = scene.kernel.at(scene.now);
    format!("{:?}", (view.traces(), view.agents(), view.budget(), view.proposals(10)))
}

#[test]
fn the_same_content_gets_the_same_verdict_and_changes_nothing() {
    let mut scene = Scene::standard();
    let mut risky = plan("p1", path("src/a"));
    risky.metrics = None;
    let first = scene.propose(risky.clone());
    scene.wait(5 * MINUTE);
    let before = substance(&scene);
    assert_eq!(scene.propose(risky), first);
    assert_eq!(substance(&scene), before);
}

#[test]
fn other_content_under_a_known_id_is_an_error() {
    let mut scene = Scene::standard();
    scene.propose(plan("p1", path("src/a")));
    let before = scene.kernel.digest();
    let error = scene.try_propose(plan("p1", path("src/b"))).unwrap_err();
    assert_eq!(error, Error::IdConflict { id: "p1".into() });
    assert_eq!(scene.kernel.digest(), before);
}

#[test]
fn a_held_id_may_come_back_with_more_facts_but_not_for_another_act_or_agent() {
    let mut scene = Scene::standard();
    let mut bare = plan("p1", path("src/a"));
    bare.tests = None;
    assert_eq!(scene.propose(bare.clone()).decision, Decision::Hold);
    for other in [
        Proposal { agent_id: "ag-2".into(), ..plan("p1", path("src/a")) },
        Proposal { action_type: "delete".into(), ..plan("p1", path("src/a")) },
        plan("p1", path("src/b")),
        edit("p1", "src/a"),
    ] {
        assert!(matches!(scene.try_propose(other), Err(Error::IdConflict { .. })));
    }
    assert_eq!(scene.propose(plan("p1", path("src/a"))).decision, Decision::Execute);
    assert!(matches!(scene.try_propose(bare), Err(Error::IdConflict { .. })), "it is judged; now it stays");
}

#[test]
fn an_id_is_remembered_for_24_hours() {
    let mut scene = Scene::standard();
    scene.propose(plan("p1", path("src/a")));
    scene.wait(24 * HOUR);
    assert!(scene.try_propose(plan("p1", path("src/b"))).is_err());
    scene.wait(1);
    assert!(scene.kernel.at(scene.now).proposal("p1").is_none());
    assert!(matches!(scene.kernel.record_outcome(scene.now, &outcome("p1", true)), Err(Error::UnknownProposal { .. })));
    assert!(matches!(scene.kernel.observe(scene.now, &observation("p1", true)), Err(Error::UnknownProposal { .. })));
    scene.propose(plan("p1", path("src/b")));
}

#[test]
fn no_more_ids_are_remembered_than_the_bound() {
    let mut scene = Scene::policy(r#"{"bounds": {"proposals": 3}}"#);
    for number in 0..5 {
        let mut proposal = plan(&format!("p{number}"), path("src/a"));
        proposal.budget_estimate = calls(1);
        scene.propose(proposal);
        assert!(scene.kernel.at(scene.now).status().proposals <= 3);
    }
    assert_eq!(scene.reserved(), calls(3), "what is forgotten keeps nothing");
    scene.propose(plan("p0", path("src/b")));
    assert!(scene.try_propose(plan("p4", path("src/b"))).is_err());
}

#[test]
fn an_outcome_of_other_content_than_was_judged_is_an_error() {
    let mut scene = Scene::standard();
    scene.propose(plan("p1", path("src/a")));
    let report =
        OutcomeReport { proposal: Subject::Proposal(Box::new(plan("p1", path("src/b")))), ..outcome("p1", true) };
    assert!(matches!(scene.kernel.record_outcome(scene.now, &report), Err(Error::IdConflict { .. })));
    let report = OutcomeReport { proposal: Subject::Proposal(Box::new(plan("p1", path("src/a")))), ..report };
    scene.kernel.record_outcome(scene.now, &report).unwrap();
    let again = scene.kernel.record_outcome(scene.now, &report);
    assert!(matches!(again, Err(Error::WrongState { ref state, .. }) if state == "settled"));
}

#[test]
fn too_long_too_deep_and_too_many_are_errors_that_name_the_field() {
    let mut scene = Scene::policy(r#"{"bounds": {"agents": 1}}"#);
    let field = |scene: &mut Scene, proposal: Proposal| {
        let before = scene.kernel.digest();
        let error = scene.try_propose(proposal).unwrap_err();
        assert_eq!(scene.kernel.digest(), before);
        error.field().map(|field| field.as_str().to_string())
    };
    let base = || plan("p1", path("src/a"));
    let long = "x".repeat(70_000);
    let deep = (0..33).fold(serde_json::json!(1), |inner, _| serde_json::json!([inner]));
    let cases = [
        ("proposal_id", Proposal { proposal_id: "x".repeat(257), ..base() }),
        ("agent_id", Proposal { agent_id: String::new(), ..base() }),
        ("action_type", Proposal { action_type: "a\0b".into(), ..base() }),
        ("target", plan("p1", path(&"x".repeat(4097)))),
        ("target", plan("p1", path("a\0b"))),
        ("rationale", Proposal { rationale: long.clone(), ..base() }),
        ("scope", Proposal { scope: Some(long), ..base() }),
        ("evidence", Proposal { evidence: deep.into(), ..base() }),
        ("budget_estimate.risk_level", {
            let mut proposal = base();
            proposal.budget_estimate.risk_level = Fixed::whole(2);
            proposal
        }),
    ];
    for (expected, proposal) in cases {
        assert_eq!(field(&mut scene, proposal).as_deref(), Some(expected));
    }
    scene.propose(base());
    let error = scene.try_propose(Proposal { agent_id: "ag-2".into(), ..plan("p2", path("src/a")) }).unwrap_err();
    assert_eq!(error, Error::Full { what: "agents".into(), limit: 1 });
}
