//! Session memory (SPEC 11): what was made, and how it was left.

use crate::scene::*;
use stigmergate_core::facts::{Before, Class, Effect};
use stigmergate_core::gate::Decision;
use stigmergate_core::kernel::Observation;
use stigmergate_core::proposal::Proposal;

fn act(id: &str, place: &str, effect: Effect, before: Before) -> Proposal {
    let mut target = target(place, effect);
    target.before = before;
    let class = if effect == Effect::Delete { Class::Delete } else { Class::Write };
    call(id, "Bash", vec![file_act(class, target)])
}

fn make(scene: &mut Scene, id: &str, place: &str) {
    scene.runs(act(id, place, Effect::Create, Before::Absent), true);
}

fn removal(id: &str, place: &str) -> Proposal {
    act(id, place, Effect::Delete, Before::Untracked)
}

#[test]
fn what_the_session_made_it_may_take_away_and_what_it_did_not_make_it_may_not() {
    let mut scene = Scene::standard();
    make(&mut scene, "c1", "notes.txt");
    assert_eq!(scene.kernel.at(scene.now).made_by("s1"), ["notes.txt"]);
    assert_eq!(scene.decision(&removal("c2", "notes.txt")), Decision::Execute);
    assert_eq!(scene.decision(&removal("c2", "other.txt")), Decision::Hold);
    assert_eq!(scene.decision(&in_session(removal("c2", "notes.txt"), "s2")), Decision::Hold);
}

#[test]
fn what_lies_below_a_folder_that_the_session_made_is_its_own_too() {
    let mut scene = Scene::standard();
    make(&mut scene, "c1", "out");
    assert_eq!(scene.decision(&removal("c2", "out/a/b.txt")), Decision::Execute);
    assert_eq!(scene.decision(&removal("c2", "outer/b.txt")), Decision::Hold);
    let mut folder = removal("c3", "out");
    folder.call.as_mut().unwrap().acts[0].targets[0].folder = true;
    assert_eq!(scene.decision(&folder), Decision::Execute);
}

#[test]
fn nothing_is_made_by_a_failure_of_the_only_act_or_by_what_was_there() {
    let mut scene = Scene::standard();
    scene.runs(act("c1", "a.txt", Effect::Create, Before::Absent), false);
    scene.runs(act("c2", "b.txt", Effect::Edit, Before::Untracked), true);
    assert_eq!(scene.kernel.at(scene.now).made_by("s1"), [""; 0]);
}

#[test]
fn what_is_deleted_is_forgotten_with_everything_below_it() {
    let mut scene = Scene::standard();
    for (number, place) in ["out", "out/a.txt", "out-of-order.txt", "out.txt"].into_iter().enumerate() {
        make(&mut scene, &format!("c{number}"), place);
    }
    scene.runs(removal("d", "out"), true);
    assert_eq!(scene.kernel.at(scene.now).made_by("s1"), ["out-of-order.txt", "out.txt"]);
    assert_eq!(scene.decision(&removal("c", "out")), Decision::Hold, "who made it again may be somebody else");
}

#[test]
fn what_another_session_changed_is_no_longer_ones_own_alone() {
    let mut scene = Scene::standard();
    make(&mut scene, "c1", "notes.txt");
    scene.runs(in_session(act("c2", "notes.txt", Effect::Edit, Before::Untracked), "s2"), true);
    assert_eq!(scene.decision(&removal("c3", "notes.txt")), Decision::Hold);
}

#[test]
fn what_git_has_comes_back_as_long_as_it_is_as_the_session_left_it() {
    let mut scene = Scene::standard();
    scene.propose(act("c1", "a.ts", Effect::Edit, Before::Committed));
    let seen = Observation { stamps: vec![(path("a.ts"), 7)], ..observation("c1", true) };
    scene.kernel.observe(scene.now, &seen).unwrap();
    let overwrite = |stamp| {
        let mut proposal = act("c2", "a.ts", Effect::Overwrite, Before::Changed);
        proposal.call.as_mut().unwrap().acts[0].targets[0].stamp = stamp;
        proposal
    };
    assert_eq!(scene.decision(&overwrite(Some(7))), Decision::Execute);
    assert_eq!(scene.decision(&overwrite(Some(8))), Decision::Hold, "a person changed it since");
    assert_eq!(scene.decision(&overwrite(None)), Decision::Hold);
    assert_eq!(scene.decision(&in_session(overwrite(Some(7)), "s2")), Decision::Hold);
}

#[test]
fn at_the_bound_the_oldest_path_and_the_session_longest_silent_are_forgotten() {
    let mut scene = Scene::policy(r#"{"session": {"paths": 2, "sessions": 2}}"#);
    for number in 0..3 {
        make(&mut scene, &format!("c{number}"), &format!("{number}.txt"));
    }
    assert_eq!(scene.kernel.at(scene.now).made_by("s1"), ["1.txt", "2.txt"]);
    for session in ["s2", "s3"] {
        scene.runs(in_session(act(session, "x.txt", Effect::Create, Before::Absent), session), true);
    }
    assert_eq!(scene.kernel.at(scene.now).made_by("s1"), [""; 0]);
}
