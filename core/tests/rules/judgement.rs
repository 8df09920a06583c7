//! Judgement, hazard, classes, facts and rules (SPEC 10.a to 10.g, 11).

use crate::scene::*;
use stigmergate_core::budget::{Answer, Cost};
use stigmergate_core::facts::{Act, Before, Class, Effect, FactKind, Root};
use stigmergate_core::falsify::{Cause, Finding, Severity, Vector};
use stigmergate_core::field::{Channels, Kind, Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Decision, Evidence, Missing, Question, ReasonCode, Tier, assess};
use stigmergate_core::kernel::{DepositRequest, Kernel};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{Permission, Policy, Preset};
use stigmergate_core::rules::Match;
use stigmergate_core::trust::Role;

fn finding(severity: Severity) -> Finding {
    Finding { vector: Vector::ScopeCreep, severity, cause: Cause::SharedBranch, detail: None }
}

/// A question with nothing against it.
fn clear(budget: &Answer) -> Question<'_> {
    Question {
        budget,
        standalone: false,
        role: Role::Dispatcher,
        trust: Fixed::milli(500),
        recent_failures: 0,
        channels: Channels::default(),
        hazard_at: "",
        findings: &[],
        excused: &[],
        missing: Missing::default(),
        class: Class::Execute,
        weighed: true,
        denied: None,
        asked: None,
        allowed: None,
    }
}

#[test]
fn the_strictest_answer_counts_and_the_first_rule_in_order_that_gives_it_is_shown_first() {
    let mut policy = Policy::preset(Preset::Standard);
    policy.roles.matrix.entry(Role::Dispatcher).or_default().insert(Class::Execute, Permission::Hold);
    let over = Answer { approved: false, violation: None };
    let rule = Match { rule: "git push".into(), act: Some(0) };
    let critical = [finding(Severity::Critical)];
    let everything = Question {
        trust: Fixed::milli(299),
        recent_failures: 3,
        channels: Channels { risk: Fixed::ZERO, failure: Fixed::whole(5) },
        hazard_at: "src",
        missing: Missing { rollback_plan: true, evidence: true, expected_outcome: true },
        denied: Some(&rule),
        asked: Some(&rule),
        findings: &critical,
        ..clear(&over)
    };
    use ReasonCode as R;
    let codes = |question: &Question<'_>| {
        assess(question, &policy).reasons.iter().map(|reason| reason.code).collect::<Vec<_>>()
    };
    let order = [
        R::DenyRule,
        R::CriticalFinding,
        R::RoleHolds,
        R::BudgetExceeded,
        R::TrustBelowFloor,
        R::AskRule,
        R::HazardHigh,
        R::ScoreTooLow,
    ];
    assert_eq!(codes(&everything), order);
    // Without what refuses by rule, the score's REFUSE is stricter than the HOLDs before it, and comes first.
    let held = Question { denied: None, findings: &[], ..everything.clone() };
    assert_eq!(codes(&held)[0], R::ScoreTooLow);
    assert_eq!(codes(&held)[1..], order[2..7]);
    let complete = Question { missing: Missing::default(), recent_failures: 0, channels: Channels::default(), ..held };
    let assessment = assess(&complete, &policy);
    assert_eq!((assessment.decision, assessment.reasons[0].code), (Decision::Hold, R::RoleHolds));
    assert_eq!(assessment.overridden, Some(R::RoleHolds));
}

#[test]
fn trust_below_the_floor_holds_but_never_a_read_or_a_check() {
    let policy = Policy::preset(Preset::Standard);
    let fine = Answer { approved: true, violation: None };
    for class in Class::ALL {
        let question = Question { trust: Fixed::milli(299), class, ..clear(&fine) };
        let expected = if class.is_harmless() { Decision::Execute } else { Decision::Hold };
        assert_eq!(assess(&question, &policy).decision, expected, "{class:?}");
    }
    let at_floor = Question { trust: Fixed::milli(300), ..clear(&fine) };
    assert_eq!(assess(&at_floor, &policy).decision, Decision::Execute);
}

#[test]
fn a_tier_above_clear_holds_whatever_the_trust() {
    let policy = Policy::preset(Preset::Standard);
    let fine = Answer { approved: true, violation: None };
    let at = |hazard: i32| {
        let channels = Channels { risk: Fixed::ZERO, failure: Fixed::milli(hazard) };
        let result = assess(&Question { channels, trust: Fixed::ONE, ..clear(&fine) }, &policy);
        (result.tier, result.decision)
    };
    assert_eq!(at(1499), (Tier::Clear, Decision::Execute));
    assert_eq!(at(1500), (Tier::Medium, Decision::Hold));
    assert_eq!(at(4499), (Tier::Medium, Decision::Hold));
    assert_eq!(at(4500), (Tier::High, Decision::Hold));
}

#[test]
fn findings_weigh_by_severity_and_the_hazard_is_the_largest_of_the_three() {
    let policy = Policy::preset(Preset::Standard);
    let fine = Answer { approved: true, violation: None };
    let prospective = |severities: &[Severity]| {
        let findings: Vec<Finding> = severities.iter().map(|severity| finding(*severity)).collect();
        let channels = Channels { risk: Fixed::milli(200), failure: Fixed::milli(400) };
        let result = assess(&Question { findings: &findings, channels, ..clear(&fine) }, &policy);
        (result.prospective, result.hazard)
    };
    use Severity::{High, Low, Medium};
    assert_eq!(prospective(&[Low, Low]), (Fixed::ZERO, Fixed::milli(400)));
    assert_eq!(prospective(&[Medium]), (Fixed::ONE, Fixed::ONE));
    assert_eq!(prospective(&[High, Medium]), (Fixed::whole(4), Fixed::whole(4)));
}

#[test]
fn waiting_is_advised_where_the_field_is_hot_and_not_where_only_the_findings_are() {
    let policy = Policy::preset(Preset::Standard);
    let fine = Answer { approved: true, violation: None };
    let findings = [finding(Severity::High)];
    let by_findings = assess(&Question { findings: &findings, ..clear(&fine) }, &policy);
    assert!(!by_findings.required_evidence.contains(&Evidence::LowerHazard));
    let channels = Channels { risk: Fixed::ZERO, failure: Fixed::whole(3) };
    let by_field = assess(&Question { channels, ..clear(&fine) }, &policy);
    assert!(by_field.required_evidence.contains(&Evidence::LowerHazard));
}

#[test]
fn the_matrix_of_strict_is_that_of_the_spec() {
    let policy = Policy::preset(Preset::Strict);
    let fine = Answer { approved: true, violation: None };
    // One letter a class: read, check, write, execute, network, delete, deploy.
    let rows = [
        (Role::Sandbox, "eehrrrr"),
        (Role::RepairAnt, "eeehhhh"),
        (Role::MemoryAnt, "eeehhhh"),
        (Role::Dispatcher, "eeeeehh"),
        (Role::GuardAnt, "eeeeehh"),
    ];
    for (role, row) in rows {
        for (class, letter) in Class::ALL.into_iter().zip(row.chars()) {
            let expected = match letter {
                'e' => Decision::Execute,
                'h' => Decision::Hold,
                _ => Decision::Refuse,
            };
            // The matrix takes the place of the trust floor.
            let question = Question { role, class, trust: Fixed::milli(100), ..clear(&fine) };
            assert_eq!(assess(&question, &policy).decision, expected, "{role:?} {class:?}");
        }
    }
}

#[test]
fn strict_judges_nothing_before_a_ledger_is_begun_and_says_so() {
    let mut kernel = Kernel::new(Policy::preset(Preset::Strict)).unwrap();
    let error = kernel.propose(START, plan("p1", path("src/a"))).unwrap_err();
    assert_eq!(error.code(), "attestation_key_missing");
    assert!(error.to_string().contains("stigmergate keys new"), "{error}");
}

#[test]
fn a_proposal_is_judged_by_the_field_before_its_own_deposits() {
    let mut scene = Scene::standard();
    let mut risky = plan("p1", Location::name("core.parser"));
    risky.metrics = None;
    let verdict = scene.propose(risky);
    assert_eq!((verdict.risk, verdict.prospective), (Fixed::ZERO, Fixed::ONE));
    assert_eq!(verdict.decision, Decision::Execute);
    let left = scene.kernel.at(scene.now).traces();
    assert_eq!(left.len(), 1);
    assert_eq!(
        (&left[0].kind, left[0].signal, left[0].strength),
        (&Kind::Prospective, Signal::Risk, Fixed::milli(400))
    );
}

#[test]
fn prospective_risk_of_all_agents_together_is_capped_and_never_decisive() {
    let mut scene = Scene::standard();
    let place = Location::name("core.parser");
    for number in 0..40 {
        let mut risky = plan(&format!("p{number}"), place.clone());
        risky.agent_id = format!("ag-{number}");
        risky.metrics = None;
        scene.propose(risky);
        let strength = scene.deposit(place.clone(), Signal::Risk, Fixed::whole(9), Source::Agent);
        assert_eq!(strength, Fixed::milli(1400));
    }
    let verdict = scene.asks(&plan("clear", place));
    assert_eq!((verdict.decision, verdict.hazard), (Decision::Execute, Fixed::ZERO));
}

#[test]
fn an_agent_leaves_nothing_but_risk_by_hand() {
    let mut scene = Scene::standard();
    for signal in Signal::ALL {
        let request = DepositRequest {
            location: path("src/a.ts"),
            signal,
            strength: Fixed::ONE,
            source: Source::Agent,
            decay: None,
            trust_factor: None,
        };
        let before = scene.kernel.digest();
        let result = scene.kernel.deposit(scene.now, &request);
        assert_eq!(result.is_ok(), signal == Signal::Risk, "{signal:?}");
        assert_eq!(scene.kernel.digest() == before, result.is_err());
    }
    scene.deposit(path("src/a.ts"), Signal::Failure, Fixed::ONE, Source::Test);
}

#[test]
fn a_refusal_leaves_no_failure() {
    let mut scene = Scene::policy(r#"{"rules": {"deny": ["git push"]}}"#);
    let verdict = scene.propose(command("c1", Class::Deploy, "git push"));
    assert_eq!((verdict.decision, deciding(&verdict)), (Decision::Refuse, ReasonCode::DenyRule));
    assert_eq!(scene.kernel.at(scene.now).traces(), []);
}

#[test]
fn agents_start_at_half_trust_with_a_role_and_are_counted_once_for_each_proposal() {
    let mut scene = Scene::standard();
    let verdict = scene.propose(plan("p1", path("src/a")));
    assert_eq!((verdict.trust, verdict.role), (Fixed::milli(500), Role::Dispatcher));
    let reply = scene.report("p1", true);
    assert_eq!((reply.total_proposals, reply.trust), (1, Fixed::milli(540)));
    // A HOLD that comes back with more facts is the same proposal.
    let mut bare = plan("p2", path("src/b"));
    bare.metrics = None;
    bare.tests = None;
    assert_eq!(scene.propose(bare).decision, Decision::Hold);
    assert_eq!(scene.propose(plan("p2", path("src/b"))).decision, Decision::Execute);
    assert_eq!(scene.kernel.at(scene.now).agent("ag-1").proposals, 2);
}

#[test]
fn a_class_follows_from_the_action_type_and_a_declared_one_is_never_milder() {
    let scene = Scene::standard();
    let class = |action: &str, declared: Option<Class>| {
        let mut proposal = plan("p", path("src/a"));
        proposal.action_type = action.into();
        proposal.class = declared;
        scene.asks(&proposal).class
    };
    assert_eq!(class("read_file", None), Class::Read);
    assert_eq!(class("test_suite", None), Class::Check);
    assert_eq!(class("patch_file", None), Class::Write);
    assert_eq!(class("deploy", None), Class::Deploy);
    assert_eq!(class("frobnicate", None), Class::Execute);
    assert_eq!(class("frobnicate", Some(Class::Read)), Class::Read);
    assert_eq!(class("delete_rows", Some(Class::Read)), Class::Delete);
    assert_eq!(class("read_file", Some(Class::Deploy)), Class::Deploy);
}

#[test]
fn no_rollback_tests_or_metrics_are_asked_of_reads_and_checks_in_words() {
    let scene = Scene::standard();
    for action in ["read_file", "check_types"] {
        let mut proposal = plan("p", path("src/a"));
        proposal.action_type = action.into();
        proposal.rollback_plan = None;
        proposal.tests = None;
        proposal.metrics = None;
        let verdict = scene.asks(&proposal);
        assert_eq!((verdict.decision, verdict.findings.len()), (Decision::Execute, 0), "{action}");
        assert_eq!(verdict.components.completeness, Fixed::ONE);
    }
}

#[test]
fn a_read_leaves_nothing_and_is_weighed_by_facts_and_rules_alone() {
    let mut scene = Scene::policy(r#"{"budget": {"caps": {"llm_calls": 1}}}"#);
    scene.deposit(path("src/a.ts"), Signal::Failure, Fixed::whole(9), Source::Human);
    let mut read = call("r1", "Read", vec![file_act(Class::Read, target("src/a.ts", Effect::Read))]);
    read.budget_estimate = calls(5);
    let traces = scene.kernel.at(scene.now).traces();
    let verdict = scene.propose(read);
    assert_eq!((verdict.decision, verdict.hazard), (Decision::Execute, Fixed::ZERO));
    scene.observe("r1", false);
    assert_eq!(scene.kernel.at(scene.now).traces(), traces);
    let mut in_words = plan("r2", path("src/a.ts"));
    in_words.action_type = "read_file".into();
    in_words.evidence = Default::default();
    in_words.budget_estimate = calls(5);
    assert_eq!(scene.propose(in_words).decision, Decision::Execute);
    // Facts weigh.
    let secret = call("r3", "Read", vec![file_act(Class::Read, target(".env", Effect::Read))]);
    let verdict = scene.propose(secret);
    assert_eq!((verdict.decision, verdict.findings[0].cause), (Decision::Hold, Cause::Secret));
    assert_eq!(scene.kernel.at(scene.now).traces(), traces);
}

#[test]
fn a_call_counts_the_expected_outcome_as_present_and_lacks_the_rest_exactly_when_irreversible() {
    let scene = Scene::standard();
    assert_eq!(scene.asks(&edit("c1", "src/a.ts")).components.completeness, Fixed::ONE);
    let gone = with_fact(edit("c2", "src/a.ts"), FactKind::Irreversible);
    assert_eq!(scene.asks(&gone).components.completeness, Fixed::milli(300));
    let published = with_fact(edit("c3", "src/a.ts"), FactKind::Publishing);
    assert_eq!(scene.asks(&published).components.completeness, Fixed::ONE);
}

#[test]
fn a_call_is_one_proposal_of_the_strictest_class_and_hazard_among_its_acts() {
    let mut scene = Scene::standard();
    scene.deposit(path("src/b.ts"), Signal::Failure, Fixed::whole(2), Source::Test);
    let acts = vec![
        file_act(Class::Read, target("src/x.ts", Effect::Read)),
        file_act(Class::Write, target("src/a.ts", Effect::Edit)),
        file_act(Class::Delete, target("src/b.ts", Effect::Delete)),
    ];
    let verdict = scene.asks(&call("c1", "Bash", acts));
    assert_eq!((verdict.class, verdict.hazard), (Class::Delete, Fixed::whole(3)));
    assert_eq!(verdict.hazard_at, "src/b.ts");
}

#[test]
fn each_kind_of_fact_is_a_finding_of_its_own_with_the_severity_of_the_table() {
    let scene = Scene::standard();
    let deciding_code = |kind: FactKind| {
        let verdict = scene.asks(&with_fact(edit("c1", "src/a.ts"), kind));
        (verdict.findings[0].severity, verdict.decision)
    };
    for kind in [FactKind::CatastrophicTarget, FactKind::ProtectedTarget, FactKind::OwnCommand] {
        assert_eq!(deciding_code(kind), (Severity::Critical, Decision::Refuse), "{kind:?}");
    }
    for kind in FactKind::ALL.into_iter().skip(3).filter(|kind| *kind != FactKind::Bulk) {
        assert_eq!(deciding_code(kind), (Severity::High, Decision::Hold), "{kind:?}");
    }
    assert_eq!(deciding_code(FactKind::Bulk), (Severity::Medium, Decision::Execute), "shown, not decisive alone");
    let two = with_fact(with_fact(edit("c1", "src/a.ts"), FactKind::Publishing), FactKind::SharedBranch);
    assert_eq!(scene.asks(&two).findings.len(), 2);
}

fn delete(place: &str, root: Root, before: Before) -> Act {
    let mut target = target(place, Effect::Delete);
    (target.root, target.before) = (root, before);
    file_act(Class::Delete, target)
}

fn causes(scene: &Scene, act: Act) -> Vec<Cause> {
    scene.asks(&call("c1", "Bash", vec![act])).findings.iter().map(|finding| finding.cause).collect()
}

#[test]
fn what_git_has_comes_back_and_what_it_does_not_know_does_not() {
    let scene = Scene::standard();
    use Before::{Absent, Changed, Committed, Ignored, Unknown, Untracked};
    assert_eq!(causes(&scene, delete("a.ts", Root::Workspace, Committed)), []);
    assert_eq!(causes(&scene, delete("a.ts", Root::Workspace, Absent)), []);
    for before in [Changed, Untracked, Ignored, Unknown] {
        assert_eq!(causes(&scene, delete("a.ts", Root::Workspace, before)), [Cause::Irreversible], "{before:?}");
    }
    let mut known = delete("a.ts", Root::Workspace, Untracked);
    known.targets[0].way_back = Some("cp backup/a.ts a.ts".into());
    assert_eq!(causes(&scene, known), []);
}

#[test]
fn temp_is_free_and_outside_is_not() {
    let scene = Scene::standard();
    assert_eq!(causes(&scene, delete("/tmp/x", Root::Temp, Before::Untracked)), []);
    let outside = causes(&scene, delete("/opt/x", Root::Outside, Before::Untracked));
    assert_eq!(outside, [Cause::OutsideWorkspace, Cause::Irreversible]);
    let mut look = file_act(Class::Read, target("/opt/x", Effect::Read));
    look.targets[0].root = Root::Outside;
    assert_eq!(causes(&scene, look), [], "looking outside is no finding");
}

#[test]
fn an_unresolved_target_of_a_destroying_act_is_a_fact_of_its_own() {
    let scene = Scene::standard();
    let mut act = delete("$DIR", Root::Workspace, Before::Unknown);
    act.targets[0].resolved = false;
    assert_eq!(causes(&scene, act), [Cause::UnresolvedTarget, Cause::Irreversible]);
}

#[test]
fn a_folder_comes_back_when_everything_in_it_does() {
    let scene = Scene::standard();
    let mut act = delete("src", Root::Workspace, Before::Committed);
    act.targets[0].folder = true;
    assert_eq!(causes(&scene, act.clone()), []);
    act.targets[0].lost.push(path("src/notes.txt"));
    assert_eq!(causes(&scene, act.clone()), [Cause::Irreversible]);
    act.targets[0].lost.clear();
    act.targets[0].lost_more = true;
    assert_eq!(causes(&scene, act), [Cause::Irreversible]);
}

#[test]
fn more_than_twenty_things_are_bulk() {
    let scene = Scene::standard();
    let mut act = delete("src", Root::Workspace, Before::Committed);
    act.targets[0].folder = true;
    act.targets[0].count = 20;
    assert_eq!(causes(&scene, act.clone()), []);
    act.targets[0].count = 21;
    assert_eq!(causes(&scene, act), [Cause::Bulk]);
}

#[test]
fn a_protected_place_is_protected_from_acts_on_it_and_on_folders_above_it() {
    let scene = Scene::policy(r#"{"rules": {"protected": ["infra/keys/**"]}}"#);
    let folder = |place: &str| {
        let mut act = delete(place, Root::Workspace, Before::Committed);
        act.targets[0].folder = true;
        causes(&scene, act)
    };
    for place in ["infra/keys/a.pem", ".claude/settings.json", "pkg/.claude/settings.local.json", "stigmergate.toml"] {
        let act = file_act(Class::Write, target(place, Effect::Edit));
        assert_eq!(causes(&scene, act), [Cause::ProtectedTarget], "{place}");
    }
    for place in ["infra", "infra/keys", ".", ".claude", "pkg/.claude", ".github", "home/me/.config"] {
        assert_eq!(folder(place), [Cause::ProtectedTarget], "{place}");
    }
    for place in ["src", "infrastructure", "node_modules", "infra/other", ".github/workflows"] {
        assert_eq!(folder(place), [], "{place}");
    }
    let read = file_act(Class::Read, target(".claude/settings.json", Effect::Read));
    assert_eq!(causes(&scene, read), [], "reading is free");
}

#[test]
fn denied_places_are_refused_for_every_act_reading_included_and_from_folders_above() {
    let scene = Scene::policy(r#"{"rules": {"deny_paths": ["secrets/**", "**/private/keys/*"]}}"#);
    let read =
        |place: &str| scene.decision(&call("c", "Read", vec![file_act(Class::Read, target(place, Effect::Read))]));
    assert_eq!(read("secrets/a.txt"), Decision::Refuse);
    assert_eq!(read("x/private/keys/a"), Decision::Refuse);
    assert_eq!(read("src/a.ts"), Decision::Execute);
    for (place, expected) in [
        ("secrets", Decision::Refuse),
        (".", Decision::Refuse),
        ("x/private", Decision::Refuse),
        ("src", Decision::Execute),
    ] {
        let mut act = delete(place, Root::Workspace, Before::Committed);
        act.targets[0].folder = true;
        assert_eq!(scene.decision(&call("c", "Bash", vec![act])), expected, "{place}");
    }
}

#[test]
fn deny_refuses_ask_holds_and_neither_is_lifted_by_allow() {
    let scene = Scene::policy(
        r#"{"rules": {"deny": ["git push --force"], "ask": ["git push"], "allow": ["git *", "WebFetch"]}}"#,
    );
    let ask = scene.asks(&command("c", Class::Deploy, "git push"));
    assert_eq!((ask.decision, deciding(&ask)), (Decision::Hold, ReasonCode::AskRule));
    let deny = scene.asks(&command("c", Class::Deploy, "git push origin --force"));
    assert_eq!((deny.decision, deciding(&deny)), (Decision::Refuse, ReasonCode::DenyRule));
    assert_eq!(scene.decision(&command("c", Class::Network, "git fetch")), Decision::Execute);
}

#[test]
fn allow_excuses_findings_below_critical_and_supplies_completeness_and_nothing_else() {
    let mut scene = Scene::policy(r#"{"rules": {"allow": ["rm -rf"]}, "budget": {"caps": {"llm_calls": 1}}}"#);
    let remove = |id: &str| with_fact(command(id, Class::Delete, "rm -rf build"), FactKind::Irreversible);
    let verdict = scene.asks(&remove("c"));
    assert_eq!((verdict.decision, verdict.components.completeness), (Decision::Execute, Fixed::ONE));
    assert_eq!(verdict.findings.len(), 1, "it is still shown");
    assert!(verdict.reasons.iter().any(|reason| reason.code == ReasonCode::AllowRule));
    let critical = with_fact(remove("c"), FactKind::CatastrophicTarget);
    assert_eq!(scene.decision(&critical), Decision::Refuse);
    let mut dear = remove("c");
    dear.budget_estimate = calls(2);
    assert_eq!(deciding(&scene.asks(&dear)), ReasonCode::BudgetExceeded);
    // Consequences count: two observed failures hold the third try.
    scene.runs(remove("c1"), false);
    scene.runs(remove("c2"), false);
    assert_eq!(deciding(&scene.asks(&remove("c3"))), ReasonCode::HazardMedium);
    // An allow rule for one act excuses nothing of another.
    let other = with_fact(command("c", Class::Delete, "shred disk"), FactKind::Irreversible);
    assert_eq!(scene.decision(&other), Decision::Hold);
}

#[test]
fn a_dry_run_changes_nothing_and_its_failures_are_remembered() {
    let mut scene = Scene::standard();
    let dry = |id: &str| {
        let mut act = command_act(Class::Read, "terraform apply");
        act.dry_run = true;
        call(id, "Bash", vec![act])
    };
    scene.runs(dry("c1"), false);
    scene.runs(dry("c2"), false);
    assert_eq!(scene.decision(&dry("c3")), Decision::Hold);
}

#[test]
fn a_tool_call_costs_nothing_unless_the_policy_says_otherwise() {
    let mut scene = Scene::standard();
    scene.runs(edit("c1", "src/a.ts"), true);
    assert_eq!(scene.used(), Cost::default());
    let mut scene = Scene::policy(r#"{"budget": {"call_cost": {"llm_calls": 2}, "caps": {"llm_calls": 3}}}"#);
    scene.runs(edit("c1", "src/a.ts"), true);
    assert_eq!(scene.used(), calls(2));
    assert_eq!(deciding(&scene.asks(&edit("c2", "src/b.ts"))), ReasonCode::BudgetExceeded);
}
