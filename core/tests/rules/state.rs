//! Calming down, policy changes, snapshots and pruning (SPEC 7, 8, 12).

use crate::scene::*;
use stigmergate_core::error::Error;
use stigmergate_core::field::{Decay, Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::Decision;
use stigmergate_core::invariants;
use stigmergate_core::kernel::{DepositRequest, Kernel};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_core::prune::{Ground, Module, read_registry};

#[test]
fn calming_down_clears_the_field_and_the_period_and_keeps_histories_trust_and_the_clock() {
    let mut scene = Scene::standard();
    let mut proposal = plan("p1", path("src/a"));
    proposal.budget_estimate = calls(3);
    scene.propose(proposal);
    scene.report("p1", false);
    scene.wait(5 * MINUTE);
    let calmed = scene.kernel.calm_down(scene.now);
    assert_eq!((calmed.traces, calmed.used, calmed.ticks), (2, calls(3), 5));
    let view = scene.kernel.at(scene.now);
    assert_eq!((view.field().traces, view.budget().0.used, view.status().ticks), (0, calls(0), 0));
    assert_eq!(view.status().tick, scene.now / MINUTE);
    assert_eq!((view.agent("ag-1").trust, view.profile("ag-1").unwrap().history.len()), (Fixed::milli(420), 1));
    assert_eq!(view.budget().0.lifetime, calls(3));
}

#[test]
fn a_policy_change_restates_traces_so_that_what_has_faded_stays_so() {
    let mut scene = Scene::standard();
    scene.deposit(path("a"), Signal::Failure, Fixed::whole(2), Source::Runtime);
    scene.wait(10 * MINUTE);
    let slower = Policy::from_json(r#"{"field": {"fast": 0.02}, "time": {"tick_ms": 30000}}"#).unwrap();
    let digest = scene.kernel.set_policy(scene.now, slower).unwrap();
    assert_eq!(digest, scene.kernel.policy_digest());
    let sense = |scene: &Scene| scene.kernel.at(scene.now).sense(&path("a"), Signal::Failure);
    assert_eq!(sense(&scene), Fixed::milli(1500));
    assert_eq!(sense(scene.wait(MINUTE)), Fixed::milli(1460), "two ticks of the new length at the new rate");
}

#[test]
fn a_lower_ceiling_or_bound_applies_to_what_stands_and_the_state_can_still_be_restored() {
    let mut scene = Scene::standard();
    for number in 0..5 {
        scene.deposit(path(&format!("m{number}")), Signal::Need, Fixed::whole(5 + number), Source::Runtime);
    }
    let lower = Policy::from_json(r#"{"field": {"max_strength": 6}, "bounds": {"traces": 2}}"#).unwrap();
    scene.kernel.set_policy(scene.now, lower).unwrap();
    let traces = scene.kernel.at(scene.now).traces();
    assert_eq!(traces.iter().map(|trace| trace.strength).collect::<Vec<_>>(), [Fixed::whole(6); 2]);
    assert_eq!(invariants::violations(&scene.kernel, scene.now), [""; 0]);
    assert_eq!(Kernel::restore(&scene.kernel.snapshot()).unwrap().digest(), scene.kernel.digest());
}

#[test]
fn ticks_by_hand_and_by_time_cannot_be_exchanged_in_a_running_store() {
    let mut scene = Scene::standard();
    scene.kernel.advance(scene.now);
    let before = scene.kernel.digest();
    let error = scene.kernel.set_policy(scene.now, Policy::preset(Preset::Reference)).unwrap_err();
    assert_eq!(error.field().unwrap().as_str(), "time.tick_ms");
    assert_eq!(scene.kernel.digest(), before);
}

#[test]
fn a_snapshot_that_is_cut_changed_or_later_is_an_error() {
    let mut scene = Scene::standard();
    scene.propose(plan("p1", path("src/a")));
    scene.report("p1", false);
    let snapshot = scene.kernel.snapshot();
    for end in [0, 1, snapshot.len() / 2, snapshot.len() - 1] {
        assert!(Kernel::restore(&snapshot[..end]).is_err(), "{end}");
    }
    let longer = [&snapshot[..], &[0]].concat();
    assert!(matches!(Kernel::restore(&longer), Err(Error::Corrupt { .. })));
    let mut later = snapshot.clone();
    later[0] = 99;
    assert!(matches!(Kernel::restore(&later), Err(Error::Version { found: 99, .. })));
    // Whatever a byte is changed to: an error or a kernel that keeps the invariants of its policy.
    for at in (0..snapshot.len()).step_by(37) {
        let mut changed = snapshot.clone();
        changed[at] ^= 0x55;
        if let Ok(kernel) = Kernel::restore(&changed) {
            assert!(
                invariants::trust_is_in_range(&kernel, scene.now)
                    && invariants::field_is_within_bounds(&kernel, scene.now)
            );
        }
    }
}

#[test]
fn questions_change_nothing() {
    let mut scene = Scene::standard();
    scene.propose(plan("p1", path("src/a")));
    scene.report("p1", false);
    scene.wait(26 * HOUR);
    let before = scene.kernel.digest();
    let view = scene.kernel.at(scene.now);
    view.witness(plan("p2", path("src/a"))).unwrap();
    let _ =
        (view.status(), view.traces(), view.agents(), view.budget(), view.proposals(9), view.waiting(), view.top(3));
    let _ = (view.field(), view.prune(None), view.hazard_below(&path(".")));
    assert_eq!(scene.kernel.digest(), before);
}

fn module(path: &str, last_used: Option<u64>, call_count: u64, duplicate_of: Option<&str>) -> Module {
    Module { path: Location::parse(path), last_used, call_count, duplicate_of: duplicate_of.map(String::from) }
}

#[test]
fn pruning_takes_the_first_ground_that_applies_the_surest_first_ties_by_path() {
    let scene = Scene::standard();
    let month = 30 * 24 * HOUR;
    let (long_ago, just_not) = (scene.now - month - 1, scene.now - month);
    let registry = [
        module("m.rare", Some(long_ago), 4, None),
        module("m.idle", Some(long_ago), 0, None),
        module("m.never", None, 9, None),
        module("m.copy", None, 0, Some("m.never")),
        module("m.fresh", Some(just_not), 0, None),
        module("m.busy", Some(long_ago), 5, None),
        module("a.never", None, 0, None),
    ];
    let report = scene.kernel.at(scene.now).prune(Some(&registry));
    let shown: Vec<_> = report.iter().map(|one| (one.path.as_str(), one.ground, one.confidence)).collect();
    assert_eq!(
        shown,
        [
            ("a.never", Ground::NeverUsed, Fixed::milli(900)),
            ("m.never", Ground::NeverUsed, Fixed::milli(900)),
            ("m.copy", Ground::Duplicate, Fixed::milli(850)),
            ("m.idle", Ground::IdleUnused, Fixed::milli(700)),
            ("m.rare", Ground::IdleRare, Fixed::milli(500)),
        ]
    );
}

#[test]
fn pruning_skips_what_people_attend_to_and_what_is_depended_on() {
    let mut scene = Scene::standard();
    let mut leave = |place: &str, signal, strength| {
        let location = Location::name(place);
        let request = DepositRequest {
            location,
            signal,
            strength,
            source: Source::Runtime,
            decay: Some(Decay::Slow),
            trust_factor: None,
        };
        scene.kernel.deposit(scene.now, &request).unwrap();
    };
    leave("m.watched", Signal::HumanPriority, Fixed::milli(1));
    leave("m.needed", Signal::Dependency, Fixed::whole(2));
    leave("m.loose", Signal::Dependency, Fixed::milli(1999));
    let registry = read_registry(r#"{"m.watched": {}, "m.needed": {}, "m.loose": {}}"#).unwrap();
    let paths = |modules: Option<&[Module]>| {
        let report = scene.kernel.at(scene.now).prune(modules);
        report.iter().map(|one| one.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(paths(Some(&registry)), ["m.loose"]);
    assert_eq!(paths(None), ["m.loose"], "derived from the field");
}

#[test]
fn the_known_cases_of_the_published_gate() {
    let mut kernel = Kernel::new(Policy::preset(Preset::Reference)).unwrap();
    // An agent with a role and a trust of 0.5.
    for number in 0..10 {
        kernel.propose(0, plan(&format!("w{number}"), Location::name("warm.up"))).unwrap();
        kernel.record_outcome(0, &outcome(&format!("w{number}"), true)).unwrap();
    }
    assert_eq!(kernel.at(0).agent("ag-1").trust, Fixed::milli(500));
    let verdict = kernel.at(0).witness(plan("x", Location::name("core.parser"))).unwrap();
    assert_eq!(verdict.components.budget, Fixed::ONE);
    assert_ne!(verdict.decision, Decision::Refuse);
}
