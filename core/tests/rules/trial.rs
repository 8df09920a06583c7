//! A replay under another policy: what is judged anew, and what is left out because it would not have come about.

use crate::scene::*;
use stigmergate_core::facts::{Class, FactKind};
use stigmergate_core::gate::Decision;
use stigmergate_core::kernel::{Command, Kernel, Reply};
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_core::proposal::Proposal;
use stigmergate_core::replay::{Step, what_if};

fn push(id: &str) -> Proposal {
    with_fact(command(id, Class::Deploy, "git push origin main"), FactKind::SharedBranch)
}

/// A held push that a person let through and that failed, and another after it.
fn past() -> Vec<Step> {
    let mut kernel = Kernel::new(Policy::preset(Preset::Standard)).unwrap();
    let commands = [
        Command::Propose(Box::new(push("c1"))),
        Command::Approve(approve("c1")),
        Command::Observe(observation("c1", false)),
        Command::Propose(Box::new(push("c2"))),
    ];
    let step = |(number, command): (usize, Command)| {
        let at = START + number as u64 * SECOND;
        let reply = kernel.apply(at, command.clone()).unwrap();
        Step { at, command, reply }
    };
    commands.into_iter().enumerate().map(step).collect()
}

#[test]
fn under_its_own_policy_nothing_differs_and_nothing_is_left_out() {
    let found = what_if(Policy::preset(Preset::Standard), &past()).unwrap();
    assert_eq!((found.judged, found.differences.len(), found.skipped, found.left_out), (2, 0, 0, 0));
}

#[test]
fn what_came_of_a_call_that_would_have_been_refused_is_left_out() {
    let steps = past();
    let Reply::Verdict(then) = &steps[0].reply else { panic!("{:?}", steps[0]) };
    assert_eq!(then.decision, Decision::Hold);
    let found = what_if(Policy::from_json(r#"{"rules": {"deny": ["git push"]}}"#).unwrap(), &steps).unwrap();
    assert_eq!(found.differences.len(), 2);
    assert!(found.differences.iter().all(|one| one.instead.decision == Decision::Refuse));
    // The approval means nothing there; the outcome would not have come about.
    assert_eq!((found.skipped, found.left_out), (1, 1));
}
