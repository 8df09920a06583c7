//! Input that nobody would write: the checks answer, in time, and say what the rules say.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::{Asks, Cause, Plan, Report, ReportVerdict, Texts, Vector, falsify};
use crate::policy::falsify::Falsify;

const MEGABYTE: usize = 1 << 20;

/// The report on a plan that has this text in every field.
fn everywhere(text: &str) -> Report {
    let texts = Texts::Text(String::from(text));
    let list = Texts::List(Vec::from([String::from(text), String::from(text)]));
    let imports = [(String::from(text), Vec::from([String::from(text)]))];
    let plan = Plan {
        agent_id: text,
        target: text,
        action_type: text,
        rationale: text,
        rollback_plan: Some(text),
        expected_outcome: Some(text),
        tests: Some(&list),
        metrics: Some(&texts),
        dependencies: Some(&texts),
        scope: Some(text),
        imports: Some(&imports),
        ..Plan::default()
    };
    falsify(&plan, &Falsify::default(), Asks::ALL)
}

fn causes(report: &Report) -> Vec<Cause> {
    report.findings.iter().map(|finding| finding.cause).collect()
}

#[test]
fn an_empty_plan_lacks_what_is_asked_of_it() {
    let report = falsify(&Plan::default(), &Falsify::default(), Asks::ALL);
    assert_eq!(causes(&report), [Cause::RollbackBlank, Cause::TestsAbsent, Cause::MetricsAbsent, Cause::OutcomeBlank]);
    let report = falsify(&Plan::default(), &Falsify::default(), Asks::NONE);
    assert_eq!(causes(&report), [Cause::OutcomeBlank]);
    assert_eq!(report.verdict, ReportVerdict::Conditional);
}

#[test]
fn what_is_not_asked_for_is_not_checked_even_when_given() {
    let tests = Texts::Text(String::from("manual"));
    let metrics = Texts::Text(String::from("happy users"));
    let plan = Plan {
        rollback_plan: Some("none"),
        tests: Some(&tests),
        metrics: Some(&metrics),
        expected_outcome: Some("all tests pass"),
        ..Plan::default()
    };
    let report = falsify(&plan, &Falsify::default(), Asks::NONE);
    assert_eq!(report.verdict, ReportVerdict::Pass);
}

#[test]
fn white_space_of_any_length_is_blank() {
    for unit in [" ", "\n", "\u{3000}", "\u{1f}"] {
        for length in [1, 63, 64, 65, MEGABYTE / unit.len()] {
            let report = everywhere(&unit.repeat(length));
            let expected = [Cause::RollbackBlank, Cause::MetricsAbsent, Cause::OutcomeBlank];
            assert_eq!(causes(&report), expected);
        }
    }
}

#[test]
fn nuls_are_characters_like_any_other() {
    let report = everywhere("\0\0auth\0");
    let expected = [Cause::RollbackShort, Cause::MetricsUnmeasurable, Cause::SelfTarget, Cause::SensitiveUnreviewed];
    assert_eq!(causes(&report), expected);
}

#[test]
fn a_megabyte_of_anything_is_answered() {
    for unit in [
        "a",
        "_",
        "9",
        "é",
        "\0",
        "\u{10ffff}",
        "a.",
        "a,",
        "a.b ",
        "-",
        "access ",
        "plug-",
        "three or more ",
        "abstract base ",
        "3 ",
        "will ",
        "improve ",
        "various ",
        "manual ",
        ".",
    ] {
        let report = everywhere(&unit.repeat(MEGABYTE / unit.len()));
        assert!(report.findings.len() <= 11, "{unit}");
    }
}

#[test]
fn a_word_is_found_behind_a_megabyte_and_across_every_block_edge() {
    for before in (0..130).chain([MEGABYTE]) {
        for (filler, found) in [("-", true), (" ", true), ("é", true), ("x", before == 0)] {
            let rationale = format!("{}sudo", filler.repeat(before));
            let plan = Plan { rationale: &rationale, expected_outcome: Some("all tests pass"), ..Plan::default() };
            let report = falsify(&plan, &Falsify::default(), Asks::NONE);
            assert_eq!(causes(&report).contains(&Cause::SensitiveUnreviewed), found);
        }
    }
}

#[test]
fn other_alphabets_do_not_fold_into_ascii() {
    // The Kelvin sign and the long s fold to k and s in Unicode; here they separate words.
    let plan = Plan {
        rationale: "a\u{17f}secret \u{17f}udo pa\u{17f}sword",
        expected_outcome: Some("all tests pass"),
        ..Plan::default()
    };
    let report = falsify(&plan, &Falsify::default(), Asks::NONE);
    assert_eq!(report.findings[0].detail.as_deref(), Some("secret"));
    let plan = Plan { rationale: "\u{17f}udo wor\u{212a} pa\u{17f}sword", ..plan };
    let report = falsify(&plan, &Falsify::default(), Asks::NONE);
    assert_eq!(report.findings, []);
}

#[test]
fn many_dependencies_that_share_long_prefixes_are_compared_in_time() {
    let names = (0..2_000).map(|number| format!("{}x{number}", "a.".repeat(500)));
    let dependencies = Texts::List(names.collect());
    let plan = Plan { target: "b", dependencies: Some(&dependencies), ..Plan::default() };
    let report = falsify(&plan, &Falsify::default(), Asks::NONE);
    let is_circular = |vector| vector == Vector::CircularArchitecture;
    assert!(!report.findings.iter().any(|finding| is_circular(finding.vector)));
}

#[test]
fn texts_are_plain_in_json_and_tagged_in_postcard() {
    for (texts, json) in [
        (Texts::Text(String::from("a")), r#""a""#),
        (Texts::List(Vec::from([String::from("a")])), r#"["a"]"#),
        (Texts::List(Vec::new()), "[]"),
    ] {
        assert_eq!(serde_json::to_string(&texts).unwrap(), json);
        assert_eq!(serde_json::from_str::<Texts>(json).unwrap(), texts);
        let bytes = postcard::to_allocvec(&texts).unwrap();
        assert_eq!(postcard::from_bytes::<Texts>(&bytes).unwrap(), texts);
    }
    for json in ["null", "3", "[3]", "{}", "[[\"a\"]]"] {
        assert!(serde_json::from_str::<Texts>(json).is_err(), "{json}");
    }
}

#[test]
fn a_report_survives_json_and_postcard() {
    let report = everywhere("sudo core.a, various things");
    let json = serde_json::to_string(&report).unwrap();
    assert!(json.contains(r#""verdict":"FAIL""#));
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    let bytes = postcard::to_allocvec(&report).unwrap();
    assert_eq!(postcard::from_bytes::<Report>(&bytes).unwrap(), report);
    for finding in &report.findings {
        let code = |json: serde_json::Value| String::from(json.as_str().unwrap());
        assert_eq!(code(serde_json::to_value(finding.cause).unwrap()), finding.cause.code());
        assert_eq!(code(serde_json::to_value(finding.vector).unwrap()), finding.vector.code());
    }
}
