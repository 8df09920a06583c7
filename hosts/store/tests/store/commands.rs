//! Random commands, valid and not.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use stigmergate_core::budget::Cost;
use stigmergate_core::digest::Digest;
use stigmergate_core::facts::{Act, Before, Call, Class, Effect, Fact, FactKind, Root, Target};
use stigmergate_core::falsify::Texts;
use stigmergate_core::field::{Decay, Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::kernel::{
    Approve, Command, Deny, DepositRequest, Feedback, Observation, OutcomeReport, Reinforce, Spend, StatedCost,
    Subject, Ticks,
};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_core::proposal::Proposal;

/// Any command. Ids, agents and places are few, so that commands meet.
pub(crate) fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        8 => proposal().prop_map(|proposal| Command::Propose(Box::new(proposal))),
        2 => approve().prop_map(Command::Approve),
        1 => deny().prop_map(Command::Deny),
        3 => outcome().prop_map(|report| Command::RecordOutcome(Box::new(report))),
        3 => observation().prop_map(Command::Observe),
        4 => deposit().prop_map(Command::Deposit),
        2 => (location(), signal())
            .prop_map(|(location, signal)| Command::Reinforce(Reinforce { location, signal })),
        1 => prop_oneof![0..5_u64, any::<u64>()].prop_map(|count| Command::Tick(Ticks { count })),
        1 => Just(Command::Advance),
        1 => (agent(), cost()).prop_map(|(agent_id, cost)| Command::Spend(Spend { agent_id, cost })),
        1 => Just(Command::CalmDown),
        1 => policy().prop_map(|policy| Command::SetPolicy(Box::new(policy))),
    ]
}

/// Any text: usually of a person, sometimes of an attacker.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z .,]{0,40}",
        1 => any::<String>(),
        1 => Just("rm -rf / # \u{0}\u{202e}\"\\\n\u{1f600}".to_string()),
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![8 => (0..12_u8).prop_map(|number| format!("p{number}")), 1 => text()]
}

fn agent() -> impl Strategy<Value = String> {
    prop_oneof![8 => (0..3_u8).prop_map(|number| format!("claude/{number}")), 1 => text()]
}

fn location() -> impl Strategy<Value = Location> {
    let name = prop_oneof![
        8 => "[a-c](/[a-c]){0,2}(\\.[a-c]){0,2}",
        1 => "[a-c]/",
        1 => "[^/.]{0,12}",
    ];
    (name, 0..4_u8).prop_map(|(text, form)| match form {
        0 => Location::path(&text),
        1 => Location::name(&text),
        2 => Location::raw(&text),
        _ => Location::own(&text),
    })
}

fn number() -> impl Strategy<Value = Fixed> {
    prop_oneof![
        4 => (0..=10_i64).prop_map(|tenths| Fixed::from_units(tenths * 100_000_000)),
        2 => any::<i64>().prop_map(Fixed::from_units),
        1 => prop_oneof![Just(i64::MIN), Just(i64::MAX), Just((1 << 53) + 1), Just(-1)].prop_map(Fixed::from_units),
    ]
}

fn cost() -> impl Strategy<Value = Cost> {
    (number(), number(), 0..=10_i64, number()).prop_map(|(llm_calls, runtime_seconds, risk, doc_debt)| Cost {
        llm_calls,
        runtime_seconds,
        risk_level: Fixed::from_units(risk * 100_000_000),
        doc_debt,
        ..Cost::default()
    })
}

fn signal() -> impl Strategy<Value = Signal> {
    proptest::sample::select(Signal::ALL.to_vec())
}

fn texts() -> impl Strategy<Value = Texts> {
    prop_oneof![text().prop_map(Texts::Text), vec(text(), 0..4).prop_map(Texts::List)]
}

fn evidence() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        text().prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Into::into),
            vec((text(), inner), 0..3).prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn fact() -> impl Strategy<Value = Fact> {
    (proptest::sample::select(FactKind::ALL.to_vec()), text()).prop_map(|(kind, detail)| Fact { kind, detail })
}

fn target() -> impl Strategy<Value = Target> {
    let effect = proptest::sample::select(vec![
        Effect::Read,
        Effect::Create,
        Effect::Edit,
        Effect::Overwrite,
        Effect::Delete,
        Effect::Move,
        Effect::Mode,
    ]);
    let root = proptest::sample::select(vec![Root::Workspace, Root::Temp, Root::Home, Root::Outside]);
    let before = proptest::sample::select(vec![
        Before::Absent,
        Before::Committed,
        Before::Changed,
        Before::Untracked,
        Before::Ignored,
        Before::Unknown,
    ]);
    let rest = (any::<bool>(), any::<bool>(), 0..300_u32, vec(location(), 0..3), of(text()), of(any::<u64>()));
    (location(), effect, root, before, rest).prop_map(|(place, effect, root, before, rest)| {
        let (folder, resolved, count, lost, way_back, stamp) = rest;
        Target { folder, resolved, count, lost, way_back, stamp, ..Target::new(place, effect, root, before) }
    })
}

fn call() -> impl Strategy<Value = Call> {
    let act = (
        proptest::sample::select(Class::ALL.to_vec()),
        "[a-z]{0,6}( [a-z]{1,6})?",
        location(),
        vec(text(), 0..3),
        vec(target(), 0..3),
        vec(fact(), 0..2),
        any::<bool>(),
    );
    let act = act.prop_map(|(class, kind, place, words, targets, facts, dry_run)| Act {
        class,
        kind,
        place,
        words,
        targets,
        facts,
        dry_run,
    });
    (text(), "s[0-2]", any::<[u8; 32]>(), vec(act, 0..3), vec(fact(), 0..2)).prop_map(
        |(tool, session, digest, acts, facts)| Call { tool, session, digest: Digest::from_bytes(digest), acts, facts },
    )
}

fn proposal() -> impl Strategy<Value = Proposal> {
    let who = (id(), agent(), "[a-z_]{1,10}", location());
    let words = (text(), of(text()), evidence(), of(text()), of(text()));
    let lists = (of(texts()), of(texts()), of(texts()), of(vec((text(), vec(text(), 0..2)), 0..2)));
    let rest = (prop_oneof![3 => Just(Cost::default()), 1 => cost()], of(call()), any::<bool>());
    (who, words, lists, rest).prop_map(|(who, words, lists, rest)| {
        let mut proposal = Proposal::new(&who.0, &who.1, &who.2, who.3);
        (proposal.rationale, proposal.rollback_plan) = (words.0, words.1);
        proposal.evidence = words.2.into();
        (proposal.expected_outcome, proposal.owner) = (words.3, words.4);
        (proposal.tests, proposal.metrics, proposal.dependencies, proposal.imports) = lists;
        (proposal.budget_estimate, proposal.call) = (rest.0, rest.1);
        proposal.class = rest.2.then_some(Class::Write);
        proposal
    })
}

fn feedback() -> impl Strategy<Value = Feedback> {
    prop_oneof![Just("good".to_string()), Just("-0.3".to_string()), text()].prop_map(|text| Feedback::from_text(&text))
}

fn approve() -> impl Strategy<Value = Approve> {
    let by = prop_oneof![4 => Just("maria".to_string()), 1 => agent()];
    (id(), by, of(any::<[u8; 32]>()), feedback(), of(0..100_000_u64)).prop_map(
        |(proposal_id, by, digest, feedback, standing_seconds)| Approve {
            proposal_id,
            by,
            digest: digest.map(Digest::from_bytes),
            feedback,
            standing_seconds,
        },
    )
}

fn deny() -> impl Strategy<Value = Deny> {
    (id(), text(), feedback()).prop_map(|(proposal_id, reason, feedback)| Deny {
        proposal_id,
        by: "maria".to_string(),
        reason,
        feedback,
    })
}

fn outcome() -> impl Strategy<Value = OutcomeReport> {
    let subject = prop_oneof![
        4 => id().prop_map(Subject::Id),
        1 => proposal().prop_map(|proposal| Subject::Proposal(Box::new(proposal))),
    ];
    (subject, any::<bool>(), any::<bool>(), text(), of(cost()), feedback()).prop_map(
        |(proposal, tests_passed, repair_needed, summary, cost, human_feedback)| OutcomeReport {
            proposal,
            tests_passed,
            repair_needed,
            summary,
            cost: StatedCost::new(cost),
            human_feedback,
        },
    )
}

fn observation() -> impl Strategy<Value = Observation> {
    (id(), any::<bool>(), any::<bool>(), vec((location(), any::<u64>()), 0..3), of(cost())).prop_map(
        |(proposal_id, ok, interrupted, stamps, cost)| Observation { proposal_id, ok, interrupted, stamps, cost },
    )
}

fn deposit() -> impl Strategy<Value = DepositRequest> {
    let source =
        proptest::sample::select(vec![Source::Human, Source::Test, Source::Security, Source::Agent, Source::Runtime]);
    let decay = proptest::sample::select(vec![Decay::Fast, Decay::Normal, Decay::Slow]);
    (location(), signal(), number(), source, of(decay), of(number())).prop_map(
        |(location, signal, strength, source, decay, trust_factor)| DepositRequest {
            location,
            signal,
            strength,
            source,
            decay,
            trust_factor,
        },
    )
}

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        2 => (1..100_u32).prop_map(|bulk_over| {
            let mut policy = Policy::preset(Preset::Standard);
            policy.bulk_over = bulk_over;
            policy
        }),
        1 => Just(Policy::preset(Preset::Reference)),
        1 => Just(Policy::preset(Preset::Strict)),
    ]
}
