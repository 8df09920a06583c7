//! Approvals, denials and standing grants (SPEC 10.h, 10.k).

use crate::scene::*;
use stigmergate_core::digest::Digest;
use stigmergate_core::error::Error;
use stigmergate_core::facts::{Class, FactKind};
use stigmergate_core::field::{Kind, Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Decision, Evidence, ReasonCode};
use stigmergate_core::kernel::{Approve, Deny, Feedback, State};
use stigmergate_core::proposal::Proposal;

/// A call that is held for what it is.
fn push(id: &str) -> Proposal {
    with_fact(command(id, Class::Deploy, "git push origin main"), FactKind::SharedBranch)
}

fn state(scene: &Scene, id: &str) -> State {
    scene.kernel.at(scene.now).proposal(id).unwrap().state
}

#[test]
fn a_retry_with_another_id_and_the_same_call_executes_once_and_only_once() {
    let mut scene = Scene::standard();
    assert_eq!(scene.propose(push("c1")).decision, Decision::Hold);
    let approval = scene.approve("c1");
    assert_eq!((approval.expires_at, approval.standing_until), (scene.now + 10 * MINUTE, None));
    let verdict = scene.wait(MINUTE).propose(push("c2"));
    assert_eq!((verdict.decision, deciding(&verdict)), (Decision::Execute, ReasonCode::Approved));
    assert_eq!((verdict.reasons[0].subject.as_str(), verdict.required_evidence.len()), ("ana", 0));
    assert_eq!(state(&scene, "c1"), State::Used { retry: "c2".into() });
    assert_eq!(scene.propose(push("c3")).decision, Decision::Hold);
}

#[test]
fn the_same_id_uses_its_approval_too_and_once() {
    let mut scene = Scene::standard();
    scene.propose(push("c1"));
    scene.approve("c1");
    assert_eq!(scene.propose(push("c1")).decision, Decision::Execute);
    assert_eq!(state(&scene, "c1"), State::Open);
    assert_eq!(scene.propose(push("c2")).decision, Decision::Hold);
}

#[test]
fn the_same_id_does_not_use_its_approval_for_ever() {
    let mut scene = Scene::standard();
    scene.propose(push("c1"));
    scene.approve("c1");
    // A host may repeat its event.
    assert_eq!(scene.propose(push("c1")).decision, Decision::Execute);
    assert_eq!(scene.propose(push("c1")).decision, Decision::Execute);
    assert_eq!(scene.wait(10 * MINUTE).propose(push("c1")).decision, Decision::Hold);
    scene.approve("c1");
    assert_eq!(scene.propose(push("c1")).decision, Decision::Execute);
    scene.observe("c1", true);
    assert_eq!(scene.propose(push("c1")).decision, Decision::Hold);
}

#[test]
fn an_act_that_is_asked_for_again_waits_once() {
    let mut scene = Scene::standard();
    let waiting = |scene: &Scene| -> Vec<String> {
        let view = scene.kernel.at(scene.now);
        let waiting: Vec<String> = view.waiting().into_iter().map(|held| held.id).collect();
        assert_eq!(view.status().waiting, waiting.len() as u64);
        waiting
    };
    scene.propose(push("c1"));
    scene.propose(push("c2"));
    scene.propose(Proposal { agent_id: "codex".into(), ..push("c3") });
    assert_eq!(waiting(&scene), ["c2", "c3"]);
    // Answered, it no longer waits under an earlier id.
    scene.approve("c2");
    scene.propose(push("c4"));
    assert_eq!(waiting(&scene), ["c3"]);
}

#[test]
fn an_approval_is_of_no_use_to_another_digest_or_another_agent() {
    let mut scene = Scene::standard();
    scene.propose(push("c1"));
    scene.approve("c1");
    let mut other = push("c2");
    other.call.as_mut().unwrap().digest = Digest::of("call", b"something else");
    assert_eq!(scene.propose(other).decision, Decision::Hold);
    let stranger = Proposal { agent_id: "codex".into(), ..push("c3") };
    assert_eq!(scene.propose(stranger).decision, Decision::Hold);
    assert_eq!(scene.propose(push("c4")).decision, Decision::Execute);
}

#[test]
fn an_approval_and_a_hold_that_nobody_answers_end_after_ten_minutes() {
    let mut scene = Scene::standard();
    scene.propose(push("c1"));
    scene.wait(10 * MINUTE - 1).approve("c1");
    scene.wait(10 * MINUTE - 1);
    assert_eq!(scene.decision(&push("c2")), Decision::Execute);
    scene.wait(1);
    assert_eq!(scene.decision(&push("c2")), Decision::Hold);
    assert_eq!(state(&scene, "c1"), State::Lapsed);
    scene.propose(push("c3"));
    scene.wait(10 * MINUTE);
    assert_eq!(state(&scene, "c3"), State::Unanswered, "not denied");
    let late = scene.kernel.approve(scene.now, &approve("c3")).unwrap_err();
    assert!(matches!(late, Error::WrongState { ref state, .. } if state == "unanswered"), "{late:?}");
    assert_eq!(scene.kernel.at(scene.now).traces().iter().filter(|trace| trace.signal == Signal::Failure).count(), 0);
}

#[test]
fn a_refusal_cannot_be_approved() {
    let mut scene = Scene::standard();
    let critical = with_fact(push("c1"), FactKind::OwnCommand);
    let verdict = scene.propose(critical);
    assert_eq!((verdict.decision, &verdict.required_evidence[..]), (Decision::Refuse, &[Evidence::RemedyCritical][..]));
    assert!(matches!(scene.kernel.approve(scene.now, &approve("c1")), Err(Error::WrongState { .. })));
}

#[test]
fn agents_cannot_approve_neither_by_their_name_nor_by_one_above_or_below() {
    let mut scene = Scene::standard();
    scene.propose(Proposal { agent_id: "claude/code-reviewer".into(), ..push("c1") });
    for by in ["claude/code-reviewer", "claude", "claude/code-reviewer/helper"] {
        let before = scene.kernel.digest();
        let error = scene.kernel.approve(scene.now, &Approve { by: by.into(), ..approve("c1") }).unwrap_err();
        assert!(matches!(error, Error::NotAllowed { .. }), "{by}");
        let error = scene.kernel.deny(scene.now, &Deny { by: by.into(), ..deny("c1") }).unwrap_err();
        assert!(matches!(error, Error::NotAllowed { .. }), "{by}");
        assert_eq!(scene.kernel.digest(), before);
    }
    scene.approve("c1");
}

#[test]
fn an_approval_is_for_what_the_person_saw() {
    let mut scene = Scene::standard();
    scene.propose(push("c1"));
    let seen = Approve { digest: Some(Digest::of("call", b"another")), ..approve("c1") };
    assert_eq!(scene.kernel.approve(scene.now, &seen).unwrap_err().field().unwrap().as_str(), "digest");
    // Nor can an id that waits be given another act.
    let mut other = push("c1");
    other.call.as_mut().unwrap().digest = Digest::of("call", b"another");
    assert!(matches!(scene.try_propose(other), Err(Error::IdConflict { .. })));
}

#[test]
fn an_approval_leaves_success_and_moves_trust_by_feedback_alone() {
    let mut scene = Scene::standard();
    scene.propose(push("c1"));
    let praised = Approve { feedback: Feedback::from_text("good"), ..approve("c1") };
    scene.kernel.approve(scene.now, &praised).unwrap();
    assert_eq!(scene.trust("claude"), Fixed::milli(530));
    let success = scene.kernel.at(scene.now).traces().into_iter().find(|trace| trace.signal == Signal::Success);
    assert_eq!(success.unwrap().source, Source::Human);
}

#[test]
fn a_denial_leaves_failure_three_and_does_not_lower_trust() {
    let mut scene = Scene::standard();
    scene.propose(with_fact(edit("c1", "src/a.ts"), FactKind::Production));
    assert_eq!(scene.deny("c1").failure, Fixed::whole(3));
    assert_eq!(scene.trust("claude"), Fixed::milli(500));
    let trace = scene.kernel.at(scene.now).traces().into_iter().find(|t| t.signal == Signal::Failure).unwrap();
    assert_eq!((trace.kind, trace.source, trace.location.as_str()), (Kind::Place, Source::Human, "src/a.ts"));
    assert_eq!(scene.decision(&edit("c2", "src/a.ts")), Decision::Hold);
    scene.wait(31 * MINUTE);
    assert_eq!(scene.decision(&edit("c2", "src/a.ts")), Decision::Execute, "it fades as a report does");
    assert_eq!(state(&scene, "c1"), State::Denied { by: "ana".into() });
}

#[test]
fn a_call_that_ran_although_held_was_approved_by_the_host_asking_the_person() {
    let mut scene = Scene::standard();
    scene.propose(push("c1"));
    scene.propose(push("c2"));
    let reply = scene.observe("c1", true);
    assert!(reply.late_approval && reply.incident.is_none());
    let reply = scene.wait(HOUR).observe("c2", true);
    assert!(reply.late_approval, "the host may wait longer than the HOLD");
    assert_eq!(scene.kernel.at(scene.now).status().counts.incidents, 0);
    assert_eq!(state(&scene, "c1"), State::Settled);
}

#[test]
fn a_refused_or_denied_call_that_ran_is_an_incident_never_an_approval() {
    let mut scene = Scene::policy(r#"{"rules": {"deny": ["rm *"]}}"#);
    scene.propose(command("c1", Class::Delete, "rm x"));
    scene.propose(push("c2"));
    scene.deny("c2");
    for (id, state) in [("c1", "refused"), ("c2", "denied")] {
        let reply = scene.observe(id, true);
        assert_eq!((reply.incident.as_deref(), reply.late_approval), (Some(state), false));
        assert!(scene.observe(id, true).repeated, "counted once");
    }
    assert_eq!(scene.kernel.at(scene.now).status().counts.incidents, 2);
    assert_eq!(state(&scene, "c1"), State::Refused, "the record still says what was decided");
}

fn granted(scene: &mut Scene, id: &str, seconds: u64) -> Result<(), Error> {
    let request = Approve { standing_seconds: Some(seconds), ..approve(id) };
    scene.kernel.approve(scene.now, &request).map(|_| ())
}

#[test]
fn a_standing_grant_is_only_given_when_asked_for_and_ends_by_time() {
    let mut scene = Scene::standard();
    scene.propose(push("c1"));
    granted(&mut scene, "c1", 3600).unwrap();
    assert_eq!(scene.propose(push("c2")).decision, Decision::Execute, "by the approval");
    let by_grant = scene.propose(push("c3"));
    assert_eq!((by_grant.decision, deciding(&by_grant)), (Decision::Execute, ReasonCode::StandingGrant));
    let stranger = Proposal { agent_id: "codex".into(), ..push("c4") };
    assert_eq!(scene.propose(stranger).decision, Decision::Hold);
    let elsewhere = with_fact(command("c5", Class::Deploy, "git push origin prod"), FactKind::SharedBranch);
    assert_eq!(scene.propose(elsewhere).decision, Decision::Hold, "another act");
    scene.wait(3600 * SECOND - 1);
    assert_eq!(scene.decision(&push("c6")), Decision::Execute);
    scene.wait(1);
    assert_eq!(scene.decision(&push("c6")), Decision::Hold);
}

#[test]
fn a_standing_grant_is_never_given_or_used_for_what_cannot_come_back() {
    let mut scene = Scene::standard();
    let gone = |id: &str| with_fact(command(id, Class::Deploy, "git push origin main"), FactKind::Irreversible);
    scene.propose(gone("c1"));
    assert!(matches!(granted(&mut scene, "c1", 60), Err(Error::NotAllowed { .. })));
    scene.propose(push("c2"));
    granted(&mut scene, "c2", 60).unwrap();
    scene.propose(push("c3"));
    assert_eq!(scene.propose(gone("c4")).decision, Decision::Hold);
}

#[test]
fn a_failure_of_the_act_ends_its_standing_grant_observed_or_reported() {
    for observed in [true, false] {
        let mut scene = Scene::standard();
        scene.propose(push("c1"));
        granted(&mut scene, "c1", 3600).unwrap();
        scene.propose(push("c2"));
        scene.propose(push("c3"));
        if observed {
            scene.observe("c3", false);
        } else {
            scene.report("c3", false);
        }
        scene.wait(2 * HOUR / 3);
        assert_eq!(scene.decision(&push("c4")), Decision::Hold, "observed: {observed}");
    }
}

#[test]
fn a_standing_grant_has_a_longest_time_and_there_are_only_so_many() {
    let mut scene = Scene::policy(r#"{"approval": {"longest_grant_seconds": 60, "grants": 1}}"#);
    scene.propose(push("c1"));
    assert_eq!(granted(&mut scene, "c1", 61).unwrap_err().field().unwrap().as_str(), "standing_seconds");
    granted(&mut scene, "c1", 60).unwrap();
    scene.propose(with_fact(command("c2", Class::Deploy, "npm publish"), FactKind::Publishing));
    assert!(matches!(granted(&mut scene, "c2", 60), Err(Error::Full { .. })));
    scene.advance(60 * SECOND);
    scene.propose(with_fact(command("c3", Class::Deploy, "npm publish"), FactKind::Publishing));
    granted(&mut scene, "c3", 60).unwrap();
}

#[test]
fn a_person_may_let_something_pass_over_its_budget() {
    let mut scene = Scene::policy(r#"{"budget": {"caps": {"llm_calls": 1}}}"#);
    let mut dear = plan("p1", path("src/a.ts"));
    dear.budget_estimate = calls(5);
    assert_eq!(deciding(&scene.propose(dear.clone())), ReasonCode::BudgetExceeded);
    assert!(scene.approve("p1").over_budget);
    assert_eq!(scene.propose(dear).decision, Decision::Execute);
}

#[test]
fn an_approval_comes_after_24_hours_to_nothing_that_is_still_known() {
    let mut scene = Scene::policy(r#"{"approval": {"expires_seconds": 86400}}"#);
    scene.propose(push("c1"));
    let mut more = push("c1");
    more.call.as_mut().unwrap().facts.clear();
    more.rationale = "the person asked for it".into();
    scene.wait(23 * HOUR).propose(more);
    scene.wait(2 * HOUR).approve("c1");
    assert_eq!(state(&scene, "c1"), State::Approved { by: "ana".into() });
}
