//! The algebra of the kernel over random commands: nothing panics, nothing is half applied, nothing depends on when it is asked.

use crate::attest::Log;
use crate::scene::*;
use proptest::prelude::*;
use stigmergate_core::attest::links::Rules;
use stigmergate_core::attest::verify::Status;
use stigmergate_core::budget::{Answer, Cost};
use stigmergate_core::digest::Digest;
use stigmergate_core::facts::{Act, Before, Call, Class, Effect, Fact, FactKind, Root, Target};
use stigmergate_core::falsify::{Cause, Finding, Severity, Texts, Vector};
use stigmergate_core::field::{Channels, Decay, Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Missing, Question, assess};
use stigmergate_core::invariants;
use stigmergate_core::kernel::{
    Approve, Authorize, Command, Conclude, Deny, DepositRequest, Feedback, Kernel, Observation, OutcomeReport, Receive,
    Reinforce, Spend, StatedCost, Subject, Ticks,
};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{AttestMode, Policy, Preset};
use stigmergate_core::proposal::{Grounds, Proposal};
use stigmergate_core::reference;
use stigmergate_core::replay::{self, Step};
use stigmergate_core::trust::Role;

/// Texts that people write, and those that nobody should.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z ]{0,12}",
        1 => Just(String::new()),
        1 => Just("a\0b".into()),
        1 => Just("x".repeat(5000)),
        1 => Just("delete the auth password; various related things as needed".into()),
        1 => "\\PC{0,20}",
    ]
}

/// Few ids, so that commands meet.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![12 => "p[0-5]", 1 => text()]
}

fn agent() -> impl Strategy<Value = String> {
    prop_oneof![12 => "claude(/[ab])?", 1 => text()]
}

fn location() -> impl Strategy<Value = Location> {
    let place =
        prop_oneof![8 => "(src|lib)(/[ab](/[xy])?)?", 1 => Just(".".into()), 1 => Just("/".into()), 1 => text()];
    (place, 0..4_u8).prop_map(|(text, form)| match form {
        0 => Location::path(&text),
        1 => Location::name(&text),
        2 => Location::raw(&text),
        _ => Location::own(&text),
    })
}

/// Numbers up to two units, some negative, some as large as they get.
fn number() -> impl Strategy<Value = Fixed> {
    prop_oneof![
        8 => (0..2_000_i32).prop_map(Fixed::milli),
        1 => (-2_000..0_i32).prop_map(Fixed::milli),
        1 => Just(Fixed::MAX),
        1 => any::<i64>().prop_map(Fixed::from_units),
    ]
}

fn cost() -> impl Strategy<Value = Cost> {
    (number(), number(), prop::bool::weighted(0.6)).prop_map(|(llm_calls, risk_level, none)| {
        if none { Cost::default() } else { Cost { llm_calls, risk_level, ..Cost::default() } }
    })
}

fn feedback() -> impl Strategy<Value = Feedback> {
    prop_oneof![Just("good"), Just("bad"), Just("0.25"), Just("nan"), Just("")].prop_map(Feedback::from_text)
}

fn evidence() -> impl Strategy<Value = Grounds> {
    let nested = |depth: usize| (0..depth).fold(serde_json::json!(1), |inner, _| serde_json::json!({ "a": [inner] }));
    prop_oneof![
        4 => Just(serde_json::json!({"test": "t"})),
        1 => Just(serde_json::Value::Null),
        1 => (0..40_usize).prop_map(nested),
        1 => text().prop_map(serde_json::Value::String),
    ]
    .prop_map(Grounds::from)
}

fn class() -> impl Strategy<Value = Class> {
    prop::sample::select(&Class::ALL[..])
}

fn target_of_an_act() -> impl Strategy<Value = Target> {
    use Before::{Absent, Changed, Committed, Ignored, Unknown, Untracked};
    use Effect::{Create, Delete, Edit, Mode, Move, Overwrite, Read};
    let effect = prop::sample::select(vec![Read, Create, Edit, Overwrite, Delete, Move, Mode]);
    let before = prop::sample::select(vec![Absent, Committed, Changed, Untracked, Ignored, Unknown]);
    let root = prop::sample::select(vec![Root::Workspace, Root::Workspace, Root::Temp, Root::Home, Root::Outside]);
    (location(), effect, root, before, any::<[bool; 3]>(), 0..60_u32).prop_map(
        |(place, effect, root, before, [folder, unresolved, odd], count)| {
            let mut target = Target::new(place, effect, root, before);
            target.folder = folder;
            target.resolved = !(unresolved && odd);
            target.catastrophic = odd && count == 0;
            target.count = count;
            target.stamp = odd.then_some(u64::from(count % 3));
            target
        },
    )
}

fn act() -> impl Strategy<Value = Act> {
    let kind = prop_oneof![Just("edit".to_string()), Just("npm test".into()), Just("npm run lint".into()), text()];
    let facts = prop::collection::vec(prop::sample::select(&FactKind::ALL[3..]), 0..2);
    (class(), kind, location(), prop::collection::vec(target_of_an_act(), 0..3), facts, prop::bool::weighted(0.1))
        .prop_map(|(class, kind, place, targets, facts, dry_run)| Act {
            class,
            words: kind.split_whitespace().map(String::from).collect(),
            kind,
            place,
            targets,
            facts: facts.into_iter().map(|kind| Fact { kind, detail: String::new() }).collect(),
            dry_run,
        })
}

fn tool_call() -> impl Strategy<Value = Option<Call>> {
    let call = ("s[12]", prop::collection::vec(act(), 0..3), 0..3_u8).prop_map(|(session, acts, what)| Call {
        tool: "Bash".into(),
        session,
        digest: Digest::of("call", &[what]),
        acts,
        facts: Vec::new(),
    });
    prop::option::of(call)
}

fn proposal() -> impl Strategy<Value = Proposal> {
    let action = prop_oneof![Just("patch_file".to_string()), Just("delete".into()), Just("read_x".into()), text()];
    let texts = (prop::option::of(text()), prop::option::of(text()), text(), prop::option::of(class()));
    (id(), agent(), action, location(), texts, evidence(), cost(), tool_call()).prop_map(
        |(proposal_id, agent_id, action_type, target, (rollback, outcome, rationale, class), evidence, cost, call)| {
            let mut proposal = Proposal::new(&proposal_id, &agent_id, &action_type, target);
            proposal.tests = rollback.clone().map(Texts::Text);
            proposal.metrics = outcome.clone().map(|text| Texts::List(vec![text]));
            proposal.rollback_plan = rollback;
            proposal.expected_outcome = outcome;
            proposal.rationale = rationale;
            proposal.evidence = evidence;
            proposal.budget_estimate = cost;
            proposal.class = class;
            proposal.call = call;
            proposal
        },
    )
}

fn command_of_anyone() -> impl Strategy<Value = Command> {
    let subject = prop_oneof![
        4 => id().prop_map(Subject::Id),
        1 => proposal().prop_map(|proposal| Subject::Proposal(Box::new(proposal))),
    ];
    let outcome = (subject, any::<[bool; 2]>(), text(), prop::option::of(cost()), feedback()).prop_map(
        |(proposal, [tests_passed, repair_needed], summary, cost, human_feedback)| {
            let cost = StatedCost::new(cost);
            let report = OutcomeReport { proposal, tests_passed, repair_needed, summary, cost, human_feedback };
            Command::RecordOutcome(Box::new(report))
        },
    );
    let observe =
        (id(), any::<[bool; 2]>(), prop::collection::vec((location(), 0..3_u64), 0..2), prop::option::of(cost()))
            .prop_map(|(proposal_id, [ok, interrupted], stamps, cost)| {
                Command::Observe(Observation { proposal_id, ok, interrupted: interrupted && !ok, stamps, cost })
            });
    let approve =
        (id(), feedback(), prop::option::of(0..40_000_u64)).prop_map(|(proposal_id, feedback, standing_seconds)| {
            Command::Approve(Approve { proposal_id, by: "ana".into(), digest: None, feedback, standing_seconds })
        });
    let deny = (id(), text(), feedback()).prop_map(|(proposal_id, reason, feedback)| {
        Command::Deny(Deny { proposal_id, by: "ana".into(), reason, feedback })
    });
    let signal = || prop::sample::select(&Signal::ALL[..]);
    let deposit = (
        location(),
        signal(),
        number(),
        prop::sample::select(&Source::ALL[..]),
        prop::option::of(prop::sample::select(&Decay::ALL[..])),
        prop::option::of(number()),
    )
        .prop_map(|(location, signal, strength, source, decay, trust_factor)| {
            Command::Deposit(DepositRequest { location, signal, strength, source, decay, trust_factor })
        });
    prop_oneof![
        8 => proposal().prop_map(|proposal| Command::Propose(Box::new(proposal))),
        3 => outcome,
        4 => observe,
        3 => approve,
        1 => deny,
        3 => deposit,
        1 => (location(), signal()).prop_map(|(location, signal)| Command::Reinforce(Reinforce { location, signal })),
        1 => (0..4_u64).prop_map(|count| Command::Tick(Ticks { count })),
        1 => Just(Command::Advance),
        1 => (agent(), cost()).prop_map(|(agent_id, cost)| Command::Spend(Spend { agent_id, cost })),
        1 => prop::bool::weighted(0.2).prop_map(|calm| if calm { Command::CalmDown } else { Command::Advance }),
    ]
}

/// Commands and the time before each, mostly minutes, sometimes days or back.
fn commands(most: usize) -> impl Strategy<Value = Vec<(i64, Command)>> {
    let span = prop_oneof![
        6 => 0..3 * MINUTE as i64,
        2 => Just(10 * MINUTE as i64),
        1 => 0..30 * HOUR as i64,
        1 => -(HOUR as i64)..0,
    ];
    prop::collection::vec((span, command_of_anyone()), 1..most)
}

/// A policy with bounds that are reached, in a preset with a kernel.
fn small(preset: Preset) -> Policy {
    let json = format!(
        r#"{{"preset": "{}", "bounds": {{"traces": 12, "proposals": 5, "agents": 3, "text_bytes": 4096, "location_bytes": 512}},
            "session": {{"paths": 3, "sessions": 2, "changes": 4, "checks": 2}}, "observed": {{"check_places": 3}},
            "rules": {{"ask": ["npm *"]}}, "budget": {{"caps": {{"llm_calls": 5}}, "period_seconds": 3600}}}}"#,
        preset.as_str()
    );
    Policy::from_json(&json).unwrap()
}

/// The same in preset `standard`, attested.
fn attested(mode: &str, late: bool) -> Policy {
    let mut policy = small(Preset::Standard);
    let json = format!(r#"{{"attest": {{"mode": "{mode}", "late": {late}}}}}"#);
    policy.attest = Policy::from_json(&json).unwrap().attest;
    policy
}

fn attested_policy() -> impl Strategy<Value = Policy> {
    let mode = prop::sample::select(vec!["optional", "optional", "required", "disabled"]);
    (mode, any::<bool>()).prop_map(|(mode, late)| attested(mode, late))
}

/// What is asked of a kernel with a ledger. Numbers of events are looked up when it is asked, and are sometimes those of others.
#[derive(Clone, Debug)]
enum Asked {
    Plain(Command),
    Authorize(String, Option<u64>),
    Receive(String, String),
    Conclude(String, String),
}

/// What executes, is held, is refused, and is said in words.
fn usual(id: &str, what: u8) -> Proposal {
    match what {
        0 => edit(id, "src/a"),
        1 => with_fact(command(id, Class::Deploy, "git push origin main"), FactKind::SharedBranch),
        2 => with_fact(command(id, Class::Delete, "rm -rf /"), FactKind::CatastrophicTarget),
        _ => Proposal { agent_id: "claude".into(), ..plan(id, path("src/b")) },
    }
}

fn asked() -> impl Strategy<Value = Asked> {
    let two = || (id(), prop::option::weighted(0.2, id())).prop_map(|(one, other)| (other.unwrap_or(one.clone()), one));
    prop_oneof![
        6 => command_of_anyone().prop_map(Asked::Plain),
        8 => ("p[0-5]", 0..4_u8).prop_map(|(id, what)| Asked::Plain(Command::Propose(Box::new(usual(&id, what))))),
        2 => "p[0-5]".prop_map(|id| Asked::Plain(Command::Observe(observation(&id, true)))),
        2 => "p[0-5]".prop_map(|id| Asked::Plain(Command::Approve(approve(&id)))),
        1 => attested_policy().prop_map(|policy| Asked::Plain(Command::SetPolicy(Box::new(policy)))),
        2 => (id(), prop::option::of(0..10 * MINUTE)).prop_map(|(id, ttl)| Asked::Authorize(id, ttl)),
        3 => two().prop_map(|(one, other)| Asked::Receive(one, other)),
        3 => two().prop_map(|(one, other)| Asked::Conclude(one, other)),
    ]
}

impl Asked {
    fn command(self, kernel: &Kernel, now: u64) -> Command {
        let known = |id: &str| kernel.at(now).proposal(id);
        let events = |id: &str| known(id).and_then(|known| known.lifecycle).map(|life| life.events);
        match self {
            Self::Plain(command) => command,
            Self::Authorize(proposal_id, ttl_ms) => Command::Authorize(Authorize { proposal_id, ttl_ms }),
            Self::Receive(of, by) => Command::Receive(Receive {
                authorization: events(&of).and_then(|events| events.authorization).unwrap_or(1),
                actor: known(&by).map_or_else(|| "claude".into(), |known| known.verdict.agent),
                arguments: known(&by).map_or_else(|| Digest::of("call", &[0]), |known| known.digest),
                receipt: Digest::of("receipt", b"0"),
                started: None,
                claim: None,
            }),
            Self::Conclude(of, id) => Command::Conclude(Box::new(Conclude {
                receipt: events(&of).and_then(|events| events.receipt).unwrap_or(1),
                report: outcome(&id, true),
                claim: None,
            })),
        }
    }
}

fn moved(now: u64, span: i64) -> u64 {
    now.saturating_add_signed(span)
}

/// Whether every number in a document has so few digits that a float holds it.
fn numbers_fit(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Number(number) => number.to_string().len() < 15,
        serde_json::Value::Array(items) => items.iter().all(numbers_fit),
        serde_json::Value::Object(fields) => fields.values().all(numbers_fit),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn commands_never_panic_apply_whole_or_not_at_all_and_keep_the_invariants(
        reference in prop::bool::weighted(0.3),
        steps in commands(40),
    ) {
        let mut kernel = Kernel::new(small(if reference { Preset::Reference } else { Preset::Standard })).unwrap();
        let mut now = START;
        for (span, command) in steps {
            now = moved(now, span);
            let before = kernel.digest();
            let foreseen = match &command {
                Command::Propose(proposal) => Some(kernel.at(now).witness((**proposal).clone())),
                _ => None,
            };
            prop_assert_eq!(kernel.digest(), before, "a question changes nothing");
            let result = kernel.apply(now, command.clone());
            if let Some(foreseen) = foreseen {
                let verdict = result.clone().map(|reply| match reply {
                    stigmergate_core::kernel::Reply::Verdict(verdict) => *verdict,
                    other => panic!("{other:?}"),
                });
                prop_assert_eq!(foreseen, verdict, "a witness says what the proposal gets");
            }
            if result.is_err() {
                prop_assert_eq!(kernel.digest(), before, "{:?} {:?}", result, command);
            }
            prop_assert_eq!(invariants::violations(&kernel, now), [""; 0]);
        }
    }

    #[test]
    fn a_restored_kernel_answers_as_the_one_that_was_kept(steps in commands(30), later in commands(20)) {
        let mut kernel = Kernel::new(small(Preset::Standard)).unwrap();
        let mut now = START;
        for (span, command) in steps {
            now = moved(now, span);
            let _ = kernel.apply(now, command);
        }
        let mut restored = Kernel::restore(&kernel.snapshot()).unwrap();
        prop_assert_eq!(restored.digest(), kernel.digest());
        for (span, command) in later {
            now = moved(now, span);
            prop_assert_eq!(restored.apply(now, command.clone()), kernel.apply(now, command));
            prop_assert_eq!(restored.digest(), kernel.digest());
        }
    }

    #[test]
    fn the_same_steps_give_the_same_state_also_through_json_and_binary(steps in commands(30)) {
        let mut kernel = Kernel::new(small(Preset::Standard)).unwrap();
        let mut now = START;
        let mut kept = Vec::new();
        for (span, command) in steps {
            now = moved(now, span);
            let bytes = postcard::to_allocvec(&command).unwrap();
            let again: Command = postcard::from_bytes(&bytes).unwrap();
            prop_assert_eq!(&again, &command);
            if let Ok(reply) = kernel.apply(now, command.clone()) {
                kept.push(Step { at: now, command: again, reply });
            }
        }
        let mut replayed = Kernel::new(small(Preset::Standard)).unwrap();
        prop_assert_eq!(replay::verify(&mut replayed, &kept), Ok(()));
        prop_assert_eq!(replayed.digest(), kernel.digest());
    }

    #[test]
    fn on_a_ledger_commands_apply_whole_or_not_at_all_and_their_replay_writes_the_same(
        policy in attested_policy(),
        steps in prop::collection::vec((0..2 * MINUTE as i64, asked()), 1..80),
        middle in 0..60_usize,
    ) {
        let begun = |policy: Policy| {
            let mode = policy.attest.mode;
            let policy = if mode == AttestMode::Disabled { attested("optional", false) } else { policy };
            Log::begin(policy)
        };
        let mut log = begun(policy.clone());
        let (mut now, mut kept, mut snapshot) = (START, Vec::new(), None);
        for (number, (span, asked)) in steps.into_iter().enumerate() {
            if number == middle {
                snapshot = Some((log.kernel.snapshot(), kept.len(), log.records.len()));
            }
            now = moved(now, span);
            let command = asked.command(&log.kernel, now);
            let bytes = postcard::to_allocvec(&command).unwrap();
            prop_assert_eq!(&postcard::from_bytes::<Command>(&bytes).unwrap(), &command);
            // The log checks that a refused command has changed nothing.
            if log.at(now).apply(command.clone()).is_ok() {
                kept.push((now, command));
            }
            prop_assert_eq!(invariants::violations(&log.kernel, now), [""; 0]);
        }
        let report = log.verify(Rules::ANY);
        prop_assert!(matches!(report.status, Status::Valid | Status::IncompleteExecution), "{:?}", report);
        prop_assert_eq!(report.root, log.kernel.ledger().unwrap().head().root);

        let mut replayed = begun(policy);
        for (at, command) in &kept {
            prop_assert!(replayed.at(*at).apply(command.clone()).is_ok());
        }
        prop_assert_eq!(&replayed.records, &log.records);
        prop_assert_eq!(replayed.kernel.digest(), log.kernel.digest());

        let Some((snapshot, commands, records)) = snapshot else { return Ok(()) };
        let mut restored = Kernel::restore(&snapshot).unwrap();
        let mut later = Vec::new();
        for (at, command) in kept.split_off(commands) {
            prop_assert!(restored.apply(at, command).is_ok());
            later.extend(restored.written().iter().map(|entry| entry.record.clone()));
        }
        prop_assert_eq!(&later[..], &log.records[records..]);
        prop_assert_eq!(restored.digest(), log.kernel.digest());
    }

    #[test]
    fn a_command_survives_json_where_its_numbers_do(command in command_of_anyone()) {
        let Ok(json) = serde_json::to_string(&command) else {
            // Only evidence deeper than any bound cannot be written.
            return Ok(());
        };
        let again: Command = serde_json::from_str(&json).unwrap();
        // Floats have fifteen digits; what they cannot hold comes back near, not the same.
        if numbers_fit(&serde_json::from_str(&json).unwrap()) {
            prop_assert_eq!(again, command);
        }
    }

    #[test]
    fn questions_do_not_depend_on_whether_a_command_came_since(steps in commands(25), span in 0..30 * HOUR) {
        let mut kernel = Kernel::new(small(Preset::Standard)).unwrap();
        let mut now = START;
        for (span, command) in steps {
            now = moved(now, span);
            let _ = kernel.apply(now, command);
        }
        let later = kernel.now() + span;
        let mut told = kernel.clone();
        told.advance(later);
        let (quiet, told) = (kernel.at(later), told.at(later));
        prop_assert_eq!(quiet.traces(), told.traces());
        prop_assert_eq!(quiet.budget(), told.budget());
        prop_assert_eq!(quiet.agents(), told.agents());
        prop_assert_eq!(quiet.waiting(), told.waiting());
        for number in 0..6 {
            let id = format!("p{number}");
            prop_assert_eq!(quiet.proposal(&id).map(|one| one.state), told.proposal(&id).map(|one| one.state));
        }
        let mut next = plan("next", path("src/a"));
        next.budget_estimate = calls(1);
        prop_assert_eq!(quiet.witness(next.clone()), told.witness(next));
    }
}

fn finding(severity: Severity) -> Finding {
    Finding { vector: Vector::ScopeCreep, severity, cause: Cause::SharedBranch, detail: None }
}

/// What a gate weighs, as numbers that can be made worse.
#[derive(Clone, Debug)]
struct Weights {
    hazard: (i32, i32),
    trust: i32,
    failures: u32,
    missing: [bool; 3],
    findings: Vec<Severity>,
    role: Role,
    class: Class,
    budget: bool,
}

fn weights() -> impl Strategy<Value = Weights> {
    use Severity::{Critical, High, Low, Medium};
    let severity = prop::sample::select(vec![Low, Low, Medium, Medium, High, Critical]);
    (
        (0..10_000, 0..10_000),
        0..=1000,
        0..6_u32,
        any::<[bool; 3]>(),
        prop::collection::vec(severity, 0..3),
        prop::sample::select(&Role::ALL[..]),
        class(),
        prop::bool::weighted(0.8),
    )
        .prop_map(|(hazard, trust, failures, missing, findings, role, class, budget)| Weights {
            hazard,
            trust,
            failures,
            missing,
            findings,
            role,
            class,
            budget,
        })
}

impl Weights {
    fn judged(&self, policy: &Policy, standalone: bool) -> (stigmergate_core::gate::Decision, Fixed) {
        let budget = Answer { approved: self.budget, violation: None };
        let findings: Vec<Finding> = self.findings.iter().map(|severity| finding(*severity)).collect();
        let [rollback_plan, evidence, expected_outcome] = self.missing;
        let question = Question {
            budget: &budget,
            standalone,
            role: self.role,
            trust: Fixed::milli(self.trust),
            recent_failures: self.failures,
            channels: Channels { risk: Fixed::milli(self.hazard.0), failure: Fixed::milli(self.hazard.1) },
            hazard_at: "",
            findings: &findings,
            excused: &[],
            missing: Missing { rollback_plan, evidence, expected_outcome },
            class: self.class,
            weighed: true,
            denied: None,
            asked: None,
            allowed: None,
        };
        let result = assess(&question, policy);
        (result.decision, result.score)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_gate_agrees_with_the_few_lines_of_the_reference(weights in weights(), standalone in any::<bool>()) {
        let (decision, score) = weights.judged(&Policy::preset(Preset::Reference), standalone);
        let expected = reference::judge(&reference::Input {
            budget: weights.budget,
            standalone,
            sandbox: weights.role == Role::Sandbox,
            trust: Fixed::milli(weights.trust).units(),
            recent_failures: weights.failures,
            risk: Fixed::milli(weights.hazard.0).units(),
            failure: Fixed::milli(weights.hazard.1).units(),
            critical: weights.findings.contains(&Severity::Critical),
            missing: weights.missing.into_iter().map(u8::from).sum(),
        });
        prop_assert_eq!((decision as u8, score.units()), expected);
    }

    #[test]
    fn more_hazard_less_trust_more_findings_and_more_missing_fields_are_never_judged_milder(
        weights in weights(),
        more in (0..5_000, 0..5_000),
        less in 0..1000_i32,
        failures in 0..3_u32,
        field in 0..3_usize,
        preset in prop::sample::select(&Preset::ALL[..]),
    ) {
        let policy = Policy::preset(preset);
        let (decision, _) = weights.judged(&policy, false);
        let mut worse = vec![weights.clone(); 5];
        worse[0].hazard = (weights.hazard.0 + more.0, weights.hazard.1 + more.1);
        worse[1].trust = (weights.trust - less).max(0);
        worse[2].failures += failures;
        worse[3].missing[field] = true;
        worse[4].findings.push(Severity::High);
        for worse in worse {
            prop_assert!(worse.judged(&policy, false).0 >= decision, "{:?}", worse);
        }
    }

    #[test]
    fn lazy_decay_is_stepwise_decay(strength in 0..12_000_i32, decay in prop::sample::select(&Decay::ALL[..]), ticks in 0..60_u64) {
        let deposit = DepositRequest {
            location: Location::raw("a"),
            signal: Signal::Need,
            strength: Fixed::milli(strength),
            source: Source::Agent,
            decay: Some(decay),
            trust_factor: None,
        };
        let policy = Policy::preset(Preset::Reference);
        let rate = policy.field.rate(decay);
        let mut kernel = Kernel::new(policy).unwrap();
        let mut expected = kernel.deposit(0, &deposit).unwrap();
        let mut stepwise = kernel.clone();
        for _ in 0..ticks {
            expected = expected.less(rate);
            stepwise.tick(0, 1).unwrap();
        }
        if ticks > 0 {
            kernel.tick(0, ticks).unwrap();
        }
        for kernel in [&kernel, &stepwise] {
            prop_assert_eq!(kernel.at(0).sense(&Location::raw("a"), Signal::Need), expected);
            prop_assert_eq!(kernel.at(0).field().traces, u64::from(expected > Fixed::ZERO));
        }
    }

    #[test]
    fn a_deposit_at_one_place_changes_no_verdict_elsewhere(
        here in "(src|lib)(/[a-c]){1,3}",
        there in "(src|lib)(/[a-c]){1,3}",
        strength in 0..10_000_i32,
        in_words in any::<bool>(),
    ) {
        // A module in words is judged with what is below it, a file alone.
        let below = in_words && path(&there).holds(&here);
        prop_assume!(here != there && !below);
        let mut scene = Scene::standard();
        let asked = if in_words { plan("p", path(&there)) } else { edit("p", &there) };
        let before = scene.asks(&asked);
        scene.deposit(path(&here), Signal::Failure, Fixed::milli(strength), Source::Human);
        prop_assert_eq!(scene.asks(&asked), before);
    }
}
