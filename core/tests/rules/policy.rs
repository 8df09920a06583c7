//! What makes a policy contradictory: an error that names a field of it (SPEC 10, DESIGN 6).

use stigmergate_core::error::Error;
use stigmergate_core::policy::{Policy, Preset};

fn field(json: &str) -> String {
    let error = Policy::from_json(json).expect_err(json);
    assert!(matches!(error, Error::Policy { .. }), "{error:?}");
    error.field().unwrap().as_str().to_string()
}

#[test]
fn contradictory_values_are_named() {
    let cases = [
        (r#"{"gate": {"trust_floor": 0.7}}"#, "gate.trust_floor"),
        (r#"{"gate": {"recent_failures": 0}}"#, "gate.recent_failures"),
        (r#"{"gate": {"recent_failures": 11}}"#, "gate.recent_failures"),
        (r#"{"gate": {"severities": {"high": 0.1}}}"#, "gate.severities"),
        (r#"{"gate": {"severities!": {"high": 0.1}}}"#, "gate.severities"),
        (r#"{"gate": {"prospective": {"medium": 4}}}"#, "gate.prospective"),
        (r#"{"trust": {"failed": 0.1}}"#, "trust.failed"),
        (r#"{"trust": {"passed": -0.1}}"#, "trust.passed"),
        (r#"{"trust": {"history": 5}}"#, "trust.recent_window"),
        (
            r#"{"roles": {"ladder": [{"role": "guard_ant", "trust": 0.2}, {"role": "dispatcher", "trust": 0.5}]}}"#,
            "roles.ladder",
        ),
        (r#"{"roles": {"ladder": [{"role": "sandbox", "trust": 0.2}]}}"#, "roles.ladder"),
        (r#"{"roles": {"special": {"floor": 2}}}"#, "roles.special.floor"),
        (r#"{"field": {"sources!": {"human": 2}}}"#, "field.sources.test"),
        (r#"{"field": {"decays!": {}}}"#, "field.decays.failure"),
        (r#"{"facts!": {}}"#, "facts.catastrophic_target"),
        (r#"{"observed": {"check_places": 501}}"#, "observed.check_places"),
        (r#"{"approval": {"expires_seconds": 86401}}"#, "approval.expires_seconds"),
        (r#"{"budget": {"reservation_seconds": 0}}"#, "budget.reservation_seconds"),
        (r#"{"budget": {"call_cost": {"risk_level": 2}}}"#, "budget.call_cost.risk_level"),
        (r#"{"rules": {"deny": ["git push", " "]}}"#, "rules.deny.1"),
        (r#"{"rules": {"ask": ["Bash(curl *)"]}}"#, "rules.ask.0"),
        (r#"{"rules": {"ask": ["git [a"]}}"#, "rules.ask.0"),
        (r#"{"prune": {"duplicate": 1.5}}"#, "prune.duplicate"),
        (r#"{"attest": {"independent_observer": true}}"#, "attest.independent_observer"),
        (r#"{"bounds": {"proposal_ms": 1000}}"#, "budget.reservation_seconds"),
        (r#"{"bounds": {"import_edges": 0}}"#, "bounds.import_edges"),
    ];
    for (json, expected) in cases {
        assert_eq!(field(json), expected, "{json}");
    }
}

#[test]
fn a_fact_can_be_switched_off_by_saying_so() {
    let policy = Policy::from_json(r#"{"facts": {"bulk": {"vector": "scope_creep", "severity": null}}}"#).unwrap();
    assert_ne!(policy.digest(), Policy::preset(Preset::Standard).digest());
}

#[test]
fn the_numbers_of_the_presets_are_those_of_the_spec() {
    let reference = Policy::preset(Preset::Reference);
    let standard = Policy::preset(Preset::Standard);
    let show = |policy: &Policy| {
        let field = &policy.field;
        [field.fast, field.normal, field.slow, policy.gate.medium_hazard, policy.gate.high_hazard, policy.trust.initial]
            .map(|number| number.to_string())
    };
    assert_eq!(show(&reference), ["0.3", "0.1", "0.02", "3", "6", "0.1"]);
    assert_eq!(show(&standard), ["0.05", "0.015", "0.0001", "1.5", "4.5", "0.5"]);
    assert_eq!((reference.time.tick_ms, standard.time.tick_ms), (0, 60_000));
    assert_eq!((reference.roles.min_proposals, standard.roles.min_proposals), (3, 0));
    assert_eq!((standard.observed.check_failure.to_string(), standard.observed.check_places), ("0.6".into(), 20));
    assert_eq!(
        (standard.bounds.id_bytes, standard.bounds.location_bytes, standard.bounds.text_bytes),
        (256, 4096, 65_536)
    );
    assert_eq!((standard.bounds.evidence_bytes, standard.bounds.evidence_depth), (262_144, 32));
    assert_eq!(
        (standard.bounds.agents, standard.bounds.traces, standard.bounds.proposals),
        (100_000, 10_000_000, 100_000)
    );
}
