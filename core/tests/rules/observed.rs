//! Reported and observed outcomes, keys and checks (SPEC 10.d, 10.h to 10.j).

use crate::scene::*;
use stigmergate_core::facts::{Class, Effect};
use stigmergate_core::field::{Kind, Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Decision, ReasonCode};
use stigmergate_core::kernel::Observation;
use stigmergate_core::location::Location;
use stigmergate_core::proposal::Proposal;

#[test]
fn the_first_failure_is_free_and_two_within_half_an_hour_hold_the_third_try() {
    let mut scene = Scene::standard();
    scene.runs(edit("c1", "src/a.ts"), false);
    scene.wait(30 * MINUTE).runs(edit("c2", "src/a.ts"), false);
    let third = scene.asks(&edit("c3", "src/a.ts"));
    assert_eq!((third.decision, deciding(&third)), (Decision::Hold, ReasonCode::HazardMedium));
    assert_eq!((third.failure, third.hazard_at.as_str()), (Fixed::milli(1550), "src/a.ts (edit)"));
    // 34 minutes apart nothing holds any more.
    let mut scene = Scene::standard();
    scene.runs(edit("c1", "src/a.ts"), false);
    scene.wait(34 * MINUTE).runs(edit("c2", "src/a.ts"), false);
    assert_eq!(scene.asks(&edit("c3", "src/a.ts")).failure, Fixed::milli(1490));
    assert_eq!(scene.decision(&edit("c3", "src/a.ts")), Decision::Execute);
}

#[test]
fn one_reported_failure_holds_its_place_for_thirty_minutes_and_two_for_ninety() {
    for (failures, minutes) in [(1, 30), (2, 90)] {
        let mut scene = Scene::standard();
        for number in 0..failures {
            scene.propose(plan(&format!("p{number}"), path("src/a.ts")));
        }
        for number in 0..failures {
            scene.report(&format!("p{number}"), false);
        }
        let next = edit("c", "src/a.ts");
        scene.wait(minutes * MINUTE + MINUTE - 1);
        assert_eq!(scene.asks(&next).failure, Fixed::milli(1500), "still the last tick that holds");
        assert_eq!(scene.decision(&next), Decision::Hold);
        assert_eq!(scene.wait(1).asks(&next).failure, Fixed::milli(1450));
        assert_eq!(scene.decision(&next), Decision::Execute);
    }
}

#[test]
fn a_failure_changes_nothing_elsewhere() {
    let mut scene = Scene::standard();
    scene.runs(edit("c1", "src/a.ts"), false);
    scene.runs(edit("c2", "src/a.ts"), false);
    assert_eq!(scene.decision(&edit("c3", "src/b.ts")), Decision::Execute);
    let remove = call("c4", "Bash", vec![file_act(Class::Delete, target("src/a.ts", Effect::Delete))]);
    assert_eq!(scene.decision(&remove), Decision::Execute, "the same place, another kind");
    let other_tool = Proposal { action_type: "MultiEdit".into(), ..edit("c5", "src/a.ts") };
    assert_eq!(scene.decision(&other_tool), Decision::Hold, "the same act, whatever the tool");
}

#[test]
fn a_command_without_a_path_has_a_place_of_its_own() {
    let mut scene = Scene::standard();
    scene.runs(command("c1", Class::Network, "npm install left-pad"), false);
    scene.runs(command("c2", Class::Network, "npm install left-pad"), false);
    assert_eq!(scene.decision(&command("c3", Class::Network, "npm install left-pad")), Decision::Hold);
    assert_eq!(scene.decision(&command("c4", Class::Network, "npm install right-pad")), Decision::Execute);
    // It is below nothing, not even the workspace.
    let mut everywhere = target(".", Effect::Mode);
    everywhere.folder = true;
    scene.deposit(Location::own("npm install"), Signal::Failure, Fixed::whole(5), Source::Human);
    let act = call("c5", "Bash", vec![file_act(Class::Write, everywhere)]);
    assert_eq!(scene.decision(&act), Decision::Execute);
}

#[test]
fn a_success_of_the_same_act_removes_its_marks_and_a_read_or_a_success_elsewhere_does_not() {
    let mut scene = Scene::standard();
    scene.runs(edit("c1", "src/a.ts"), false);
    scene.runs(edit("c2", "src/b.ts"), true);
    scene.runs(call("r", "Read", vec![file_act(Class::Read, target("src/a.ts", Effect::Read))]), true);
    assert_eq!(scene.asks(&edit("c3", "src/a.ts")).failure, Fixed::ONE);
    let reply = scene.runs(edit("c4", "src/a.ts"), true);
    assert_eq!(reply.cleared, 1);
    assert_eq!(scene.asks(&edit("c5", "src/a.ts")).failure, Fixed::ZERO);
}

#[test]
fn a_success_does_not_remove_what_was_reported_or_said_by_people() {
    let mut scene = Scene::standard();
    scene.deposit(path("src/a.ts"), Signal::Failure, Fixed::milli(400), Source::Human);
    scene.runs(edit("c1", "src/a.ts"), true);
    assert_eq!(scene.asks(&edit("c2", "src/a.ts")).failure, Fixed::milli(800));
}

#[test]
fn kindless_marks_count_at_the_place_and_for_folders_anywhere_below() {
    let mut scene = Scene::standard();
    scene.deposit(path("src/deep/a.ts"), Signal::Failure, Fixed::whole(2), Source::Test);
    let on_folder = |place: &str| {
        let mut folder = target(place, Effect::Move);
        folder.folder = true;
        call("c", "Bash", vec![file_act(Class::Write, folder)])
    };
    for place in ["src", "src/deep", "."] {
        let verdict = scene.asks(&on_folder(place));
        assert_eq!((verdict.decision, verdict.hazard_at.as_str()), (Decision::Hold, "src/deep/a.ts"), "{place}");
    }
    for place in ["src/dee", "src/deeper", "lib"] {
        assert_eq!(scene.decision(&on_folder(place)), Decision::Execute, "{place}");
    }
    assert_eq!(scene.decision(&edit("c", "src")), Decision::Execute, "a file has nothing below it");
    // Marks of kinds stay with their place.
    scene.runs(edit("c1", "lib/x.ts"), false);
    scene.runs(edit("c2", "lib/x.ts"), false);
    assert_eq!(scene.decision(&on_folder("lib")), Decision::Execute);
}

#[test]
fn a_module_named_in_words_is_judged_with_everything_below_it() {
    let mut scene = Scene::standard();
    scene.deposit(Location::name("core.parser.lexer"), Signal::Failure, Fixed::whole(2), Source::Test);
    assert_eq!(scene.decision(&plan("p", Location::name("core.parser"))), Decision::Hold);
    assert_eq!(scene.decision(&plan("p", Location::name("core.pars"))), Decision::Execute);
}

#[test]
fn observed_outcomes_never_enter_the_window_of_recent_failures_and_move_no_trust() {
    let mut scene = Scene::standard();
    for number in 0..5 {
        scene.runs(edit(&format!("c{number}"), &format!("src/{number}.ts")), false);
    }
    let agent = scene.kernel.at(scene.now).agent("claude");
    assert_eq!((agent.recent_failures, agent.trust), (0, Fixed::milli(500)));
}

#[test]
fn an_interruption_says_nothing() {
    let mut scene = Scene::standard();
    scene.propose(edit("c1", "src/a.ts"));
    let interrupted = Observation { interrupted: true, ..observation("c1", false) };
    let reply = scene.kernel.observe(scene.now, &interrupted).unwrap();
    assert_eq!((reply.marked.len(), reply.cleared), (0, 0));
    assert_eq!(scene.kernel.at(scene.now).traces(), []);
}

#[test]
fn a_failure_marks_the_last_act_that_could_have_failed_and_proves_no_success_before_it() {
    let mut scene = Scene::standard();
    scene.runs(edit("e", "src/a.ts"), true);
    scene.runs(command("t1", Class::Check, "npm test"), false);
    let trust = scene.trust("claude");
    let acts = vec![
        command_act(Class::Check, "npm test"),
        command_act(Class::Deploy, "git push"),
        file_act(Class::Read, target("x", Effect::Read)),
    ];
    let reply = scene.runs(call("c1", "Bash", acts), false);
    assert_eq!(reply.marked, ["git push"]);
    assert_eq!(reply.cleared, 0, "the check may be what failed");
    assert_eq!(scene.trust("claude"), trust);
    assert_eq!(scene.asks(&edit("c2", "src/a.ts")).failure, Fixed::milli(600));
}

#[test]
fn an_outcome_is_observed_once() {
    let mut scene = Scene::standard();
    scene.runs(edit("c1", "src/a.ts"), false);
    let traces = scene.kernel.at(scene.now).traces();
    let again = scene.observe("c1", false);
    assert!(again.repeated && again.marked.is_empty());
    assert_eq!(scene.kernel.at(scene.now).traces(), traces);
}

fn check(id: &str, text: &str) -> Proposal {
    command(id, Class::Check, text)
}

#[test]
fn a_failing_check_marks_the_twenty_latest_places_changed_since_it_last_ran() {
    let mut scene = Scene::standard();
    for number in 0..25 {
        scene.runs(edit(&format!("e{number}"), &format!("src/{number}.ts")), true);
    }
    let reply = scene.runs(check("t1", "npm test"), false);
    assert_eq!(reply.marked.len(), 21, "its own key and twenty places");
    assert_eq!(scene.asks(&edit("c", "src/4.ts")).failure, Fixed::ZERO);
    assert_eq!(scene.asks(&edit("c", "src/5.ts")).failure, Fixed::milli(600));
    // Nothing was changed since: only its own key.
    let reply = scene.runs(check("t2", "npm test"), false);
    assert_eq!(reply.marked, ["npm test"]);
}

#[test]
fn a_passing_check_removes_all_its_marks_anywhere_and_its_own_and_no_other_checks() {
    let mut scene = Scene::standard();
    scene.runs(edit("e1", "src/a.ts"), true);
    scene.runs(check("t1", "npm test"), false);
    scene.runs(check("l1", "npm run lint"), false);
    scene.runs(edit("e2", "lib/b.ts"), true);
    scene.runs(check("t2", "npm test"), false);
    let marks = |scene: &Scene| {
        let traces = scene.kernel.at(scene.now).traces().into_iter();
        traces.map(|trace| (trace.location.to_string(), trace.kind)).collect::<Vec<_>>()
    };
    let by = |name: &str| Kind::Check(name.into());
    let act = |name: &str| Kind::Act(name.into());
    assert_eq!(
        marks(&scene),
        [
            ("lib/b.ts".into(), by("npm test")),
            ("npm test".into(), act("npm test")),
            ("src/a.ts".into(), by("npm run lint")),
            ("src/a.ts".into(), by("npm test")),
        ]
    );
    let reply = scene.runs(check("t3", "npm test"), true);
    assert_eq!(reply.cleared, 3);
    assert_eq!(marks(&scene), [("src/a.ts".into(), by("npm run lint"))]);
}

#[test]
fn the_same_program_on_two_places_is_two_checks() {
    let mut scene = Scene::standard();
    let pytest = |id: &str, place: &str| {
        let mut act = file_act(Class::Check, target(place, Effect::Read));
        act.kind = "pytest".into();
        call(id, "Bash", vec![act])
    };
    scene.runs(edit("e1", "src/a.py"), true);
    scene.runs(pytest("t1", "tests/a.py"), false);
    scene.runs(pytest("t2", "tests/b.py"), true);
    assert_eq!(scene.asks(&edit("c", "src/a.py")).failure, Fixed::milli(600), "another check's pass removes nothing");
    scene.runs(pytest("t3", "tests/a.py"), true);
    assert_eq!(scene.asks(&edit("c", "src/a.py")).failure, Fixed::ZERO);
}

#[test]
fn check_marks_weigh_on_changes_alone() {
    let mut scene = Scene::standard();
    for number in 0..3 {
        scene.runs(edit(&format!("e{number}"), "src/a.ts"), true);
        scene.runs(check(&format!("t{number}"), "npm test"), false);
    }
    let change = scene.asks(&edit("c", "src/a.ts"));
    assert_eq!((change.decision, change.failure), (Decision::Hold, Fixed::milli(1800)));
    let mut run = file_act(Class::Check, target("src/a.ts", Effect::Read));
    run.kind = "eslint".into();
    assert_eq!(scene.decision(&call("c", "Bash", vec![run])), Decision::Execute);
    let mut in_words = plan("p", path("src/a.ts"));
    assert_eq!(scene.decision(&in_words), Decision::Hold);
    in_words.action_type = "check_types".into();
    assert_eq!(scene.decision(&in_words), Decision::Execute);
}

#[test]
fn a_check_may_be_repeated_freely_after_a_change_and_without_one_its_key_fills() {
    let mut scene = Scene::standard();
    for number in 0..6 {
        scene.runs(check(&format!("t{number}"), "npm test"), false);
        scene.runs(check(&format!("l{number}"), "npm run lint"), false);
        // A change frees the own key of every check.
        let reply = scene.runs(edit(&format!("e{number}"), &format!("src/{number}.ts")), true);
        assert_eq!(reply.cleared, 2);
    }
    scene.runs(check("t7", "npm test"), false);
    scene.runs(check("t8", "npm test"), false);
    assert_eq!(scene.decision(&check("t9", "npm test")), Decision::Hold);
    assert_eq!(scene.decision(&check("l9", "npm run lint")), Decision::Execute);
}

#[test]
fn a_check_moves_trust_at_most_once_for_each_change() {
    let mut scene = Scene::standard();
    scene.runs(check("t0", "npm test"), true);
    assert_eq!(scene.trust("claude"), Fixed::milli(500), "nothing was changed");
    scene.runs(edit("e1", "src/a.ts"), true);
    assert_eq!(scene.runs(check("t1", "npm test"), false).trust_delta, Fixed::milli(-20));
    assert_eq!(scene.runs(check("t2", "npm test"), true).trust_delta, Fixed::ZERO);
    assert_eq!(
        scene.runs(check("l1", "npm run lint"), true).trust_delta,
        Fixed::ZERO,
        "told once, whichever the check"
    );
    scene.runs(edit("e2", "src/a.ts"), true);
    assert_eq!(scene.runs(check("l2", "npm run lint"), true).trust_delta, Fixed::milli(10));
    assert_eq!(scene.trust("claude"), Fixed::milli(490));
}

#[test]
fn failing_checks_do_not_bring_trust_below_their_floor() {
    let mut scene = Scene::standard();
    for number in 0..20 {
        scene.runs(edit(&format!("e{number}"), &format!("src/{number}.ts")), true);
        scene.runs(check(&format!("t{number}"), "npm test"), false);
    }
    assert_eq!(scene.trust("claude"), Fixed::milli(350));
    // Nor does one lift trust that is lower already.
    let mut scene = Scene::policy(r#"{"trust": {"initial": 0.32}}"#);
    scene.runs(edit("e", "src/a.ts"), true);
    scene.runs(check("t", "npm test"), false);
    assert_eq!(scene.trust("claude"), Fixed::milli(320));
}

#[test]
fn a_reported_outcome_reinforces_or_deposits_as_section_7_says_with_the_rates_of_standard() {
    let mut scene = Scene::standard();
    scene.propose(plan("p1", path("src/a.ts")));
    scene.report("p1", true);
    let strength = |scene: &Scene, signal| scene.kernel.at(scene.now).sense(&path("src/a.ts"), signal);
    assert_eq!(strength(&scene, Signal::Success), Fixed::milli(2250));
    assert_eq!(strength(&scene, Signal::Dependency), Fixed::milli(500));
    scene.propose(plan("p2", path("src/a.ts")));
    scene.report("p2", true);
    assert_eq!(strength(&scene, Signal::Success), Fixed::milli(4650), "2.25, reinforced by 0.15, and 2.25");
    scene.wait(HOUR);
    assert_eq!(strength(&scene, Signal::Success), Fixed::milli(4644));
}
