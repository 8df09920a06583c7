//! The field over time: decay, bounds and eviction (SPEC 2, 12).

use crate::scene::*;
use stigmergate_core::error::Error;
use stigmergate_core::field::{Decay, Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::kernel::{DepositRequest, Kernel, Reinforce};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{Policy, Preset};

fn reference() -> Kernel {
    Kernel::new(Policy::preset(Preset::Reference)).unwrap()
}

fn leave(kernel: &mut Kernel, place: &str, strength: Fixed, decay: Decay) -> Fixed {
    let request = DepositRequest {
        location: Location::raw(place),
        signal: Signal::Need,
        strength,
        source: Source::Runtime,
        decay: Some(decay),
        trust_factor: None,
    };
    kernel.deposit(0, &request).unwrap()
}

fn sense(kernel: &Kernel, place: &str) -> Fixed {
    kernel.at(0).sense(&Location::raw(place), Signal::Need)
}

#[test]
fn a_unit_trace_dies_after_exactly_4_10_and_50_ticks() {
    for (decay, ticks) in [(Decay::Fast, 4), (Decay::Normal, 10), (Decay::Slow, 50)] {
        let mut kernel = reference();
        leave(&mut kernel, "a", Fixed::ONE, decay);
        kernel.tick(0, ticks - 1).unwrap();
        assert!(sense(&kernel, "a") > Fixed::ZERO, "{decay:?}");
        kernel.tick(0, 1).unwrap();
        assert_eq!((sense(&kernel, "a"), kernel.at(0).field().traces), (Fixed::ZERO, 0));
    }
}

#[test]
fn a_deposit_adds_to_what_stands_up_to_the_ceiling_and_brings_its_decay_and_source() {
    let mut kernel = reference();
    leave(&mut kernel, "a", Fixed::whole(4), Decay::Slow);
    kernel.tick(0, 10).unwrap();
    assert_eq!(leave(&mut kernel, "a", Fixed::ONE, Decay::Fast), Fixed::milli(4800));
    kernel.tick(0, 1).unwrap();
    assert_eq!(sense(&kernel, "a"), Fixed::milli(4500), "it fades as the last deposit does");
    assert_eq!(leave(&mut kernel, "a", Fixed::whole(2_000_000), Decay::Fast), Fixed::whole(10));
}

#[test]
fn reinforcing_strengthens_what_lives_and_brings_nothing_to_life() {
    let mut kernel = reference();
    let reinforce = Reinforce { location: Location::raw("a"), signal: Signal::Need };
    assert_eq!(kernel.reinforce(0, &reinforce).unwrap(), Fixed::ZERO);
    leave(&mut kernel, "a", Fixed::ONE, Decay::Normal);
    assert_eq!(kernel.reinforce(0, &reinforce).unwrap(), Fixed::milli(1150));
    kernel.tick(0, 12).unwrap();
    assert_eq!(kernel.reinforce(0, &reinforce).unwrap(), Fixed::ZERO);
    assert_eq!(kernel.at(0).field().traces, 0);
}

#[test]
fn a_full_field_gives_up_the_trace_that_would_die_first_ties_by_key() {
    let mut kernel =
        Kernel::new(Policy::from_json(r#"{"preset": "reference", "bounds": {"traces": 3}}"#).unwrap()).unwrap();
    let places =
        |kernel: &Kernel| kernel.at(0).traces().iter().map(|trace| trace.location.to_string()).collect::<Vec<_>>();
    leave(&mut kernel, "strong-but-fast", Fixed::whole(2), Decay::Fast);
    leave(&mut kernel, "weak-but-slow", Fixed::ONE, Decay::Slow);
    leave(&mut kernel, "b", Fixed::ONE, Decay::Normal);
    leave(&mut kernel, "a", Fixed::ONE, Decay::Normal);
    assert_eq!(places(&kernel), ["a", "b", "weak-but-slow"]);
    leave(&mut kernel, "c", Fixed::whole(3), Decay::Normal);
    assert_eq!(places(&kernel), ["b", "c", "weak-but-slow"], "a and b die at the same tick; a comes first");
    leave(&mut kernel, "b", Fixed::whole(5), Decay::Normal);
    assert_eq!(places(&kernel), ["b", "c", "weak-but-slow"], "a known key needs no room");
    leave(&mut kernel, "d", Fixed::ONE, Decay::Fast);
    assert_eq!(places(&kernel), ["b", "d", "weak-but-slow"], "the one that comes is not weighed against");
    // The dead make room first, whether or not they were given back.
    kernel.tick(0, 4).unwrap();
    leave(&mut kernel, "e", Fixed::ONE, Decay::Normal);
    assert_eq!(places(&kernel), ["b", "e", "weak-but-slow"]);
}

#[test]
fn eviction_is_the_same_before_and_after_a_snapshot() {
    let policy = Policy::from_json(r#"{"preset": "reference", "bounds": {"traces": 20}}"#).unwrap();
    let mut kernel = Kernel::new(policy).unwrap();
    for step in 0..300_u64 {
        let decay = Decay::ALL[(step % 3) as usize];
        leave(&mut kernel, &format!("m{}", step * 7919 % 41), Fixed::milli((step * 31 % 2000) as i32), decay);
        if step % 5 == 0 {
            kernel.tick(0, 1 + step % 2).unwrap();
        }
        if step % 11 == 0 {
            let mut restored = Kernel::restore(&kernel.snapshot()).unwrap();
            leave(&mut restored, "next", Fixed::ONE, Decay::Fast);
            leave(&mut kernel, "next", Fixed::ONE, Decay::Fast);
            assert_eq!(kernel.digest(), restored.digest(), "step {step}");
        }
        assert!(kernel.at(0).field().traces <= 20);
    }
}

#[test]
fn the_strongest_come_first_ties_by_key_and_prefix_queries_see_what_is_below() {
    let mut kernel = reference();
    for (place, strength) in [("a.b", 2), ("a", 1), ("a/c", 3), ("ab", 3)] {
        leave(&mut kernel, place, Fixed::whole(strength), Decay::Slow);
    }
    let names = |traces: Vec<stigmergate_core::field::Trace>| {
        traces.iter().map(|trace| trace.location.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(kernel.at(0).top(3)), ["a/c", "ab", "a.b"]);
    assert_eq!(names(kernel.at(0).pressure(&Location::raw("a"), None, None)), ["a", "a.b", "a/c"]);
    assert_eq!(names(kernel.at(0).pressure(&Location::raw("a"), Some(Source::Human), None)), [""; 0]);
    let summary = kernel.at(0).field();
    assert_eq!(
        (summary.traces, summary.max, summary.min, summary.mean),
        (4, Fixed::whole(3), Fixed::ONE, Fixed::milli(2250))
    );
}

#[test]
fn ticks_follow_from_time_where_the_policy_says_so_and_then_not_from_the_hand() {
    let mut scene = Scene::standard();
    let error = scene.kernel.tick(scene.now, 1).unwrap_err();
    assert_eq!(error.field().unwrap().as_str(), "count");
    assert!(matches!(reference().tick(0, 0), Err(Error::Value { .. })));
    let ticked = scene.kernel.advance(scene.now);
    assert_eq!((ticked.tick, ticked.counted), (scene.now / MINUTE, 0));
    assert_eq!(scene.advance(90 * SECOND).counted, 1);
}

#[test]
fn a_tick_is_the_floor_of_absolute_time() {
    let mut scene = Scene::standard();
    scene.wait(59_999);
    scene.deposit(path("a"), Signal::Failure, Fixed::ONE, Source::Runtime);
    scene.wait(1);
    assert_eq!(scene.kernel.at(scene.now).sense(&path("a"), Signal::Failure), Fixed::milli(950));
}

#[test]
fn an_earlier_time_than_the_last_counts_as_the_last() {
    let mut scene = Scene::standard();
    scene.deposit(path("a"), Signal::Failure, Fixed::ONE, Source::Runtime);
    let late = scene.now;
    scene.now = START - HOUR;
    let verdict = scene.propose(plan("p1", path("b")));
    assert_eq!(verdict.tick, late / MINUTE);
    assert_eq!(scene.kernel.now(), late);
    scene.now = 0;
    assert_eq!(scene.kernel.at(0).now(), late);
}
