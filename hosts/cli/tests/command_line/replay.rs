//! Who proposed, what was used, and what another policy would have decided.

use crate::scene::{Scene, clear, held};
use serde_json::json;

#[test]
fn a_journal_under_its_own_policy_differs_nowhere() {
    let scene = Scene::new();
    scene.propose(&clear("p1"));
    scene.run(&["outcome", "p1", "--passed"]).ends(0);
    scene.write_user("[gate]\nexecute = 0.9\n");
    scene.propose(&clear("p2"));
    let same = scene.run(&["replay", "--json"]).ends(0).json();
    assert_eq!((&same["differs"], &same["records"]), (&json!(false), &json!(4)), "a change of the policy is a record");
    scene.run(&["replay"]).ends(0).says("every answer is the same");
    scene.run(&["store", "export", "out.jsonl"]).ends(0);
    scene.run(&["replay", "out.jsonl"]).ends(0).says("every answer is the same");
}

#[test]
fn another_policy_says_what_it_would_have_decided_and_why() {
    let scene = Scene::new();
    let mut free = held("p1");
    free["call"]["acts"][0]["facts"] = json!([]);
    free["call"]["acts"][0]["words"] = json!(["touch", "notes.txt"]);
    assert_eq!(scene.propose(&free)["decision"], json!("execute"));
    scene.run(&["outcome", "p1", "--passed"]).ends(0);
    scene.propose(&held("p2"));
    scene.write("stricter.toml", "[rules]\nask = [\"touch\"]\n");
    scene.write("looser.toml", "[rules]\nallow = [\"mv a notes.txt\"]\n");
    scene.run(&["store", "export", "out.jsonl"]).ends(0);
    for source in [&["replay"][..], &["replay", "out.jsonl"]] {
        let with = |more: &[&str]| scene.run(&[source, more].concat()).ends(0);
        let strict = with(&["--policy", "stricter.toml", "--json"]).json();
        let only = &strict["differences"][0];
        assert_eq!((&strict["judged"], &strict["stricter"], &strict["looser"]), (&json!(2), &json!(1), &json!(0)));
        assert_eq!((&only["id"], &only["then"], &only["instead"]), (&json!("p1"), &json!("execute"), &json!("hold")));
        assert_eq!(only["reason"]["code"], json!("ask_rule"));
        assert_eq!(strict["left_out"], json!(1), "what came of a call that would not have run");
        let loose = with(&["--policy", "looser.toml", "--json"]).json();
        assert_eq!((&loose["stricter"], &loose["looser"]), (&json!(0), &json!(1)));
        assert_eq!(loose["differences"][0]["reason_then"]["code"], json!("risky_findings"));
        with(&["--policy", "standard"]).says("0 otherwise");
    }
    let text = scene.run(&["replay", "--policy", "stricter.toml"]).ends(0).says("EXECUTE -> HOLD").says("ask");
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    scene.run(&["replay", "--policy", "stricter.toml", "--limit", "0"]).ends(0).says("and 1 more");
}

#[test]
fn what_cannot_be_replayed_is_named() {
    let scene = Scene::new();
    scene.run(&["replay"]).ends(3).says("nothing was judged here yet");
    scene.propose(&clear("p1"));
    scene.run(&["replay", "absent.jsonl"]).ends(3).says("cannot be read");
    scene.write("notes.txt", "hello\n");
    let error = scene.run(&["replay", "notes.txt", "--json"]).ends(2).error();
    assert_eq!((&error["code"], &error["field"]), (&json!("not_a_journal"), &json!("source")));
    scene.write("half.jsonl", "{\"header\": 1}\n");
    scene.run(&["replay", "half.jsonl"]).ends(2);
    scene.run(&["replay", "--policy", "nobody"]).ends(3).says("neither a settings file, nor a preset");
    scene.write("wrong.toml", "[gate]\nexekute = 1\n");
    scene.run(&["replay", "--policy", "wrong.toml"]).ends(2).says("exekute");
}

#[test]
fn two_policies_are_compared_key_by_key() {
    let scene = Scene::new();
    scene.run(&["policy", "diff", "standard"]).ends(0).says("no difference");
    scene.write_user("[gate]\nexecute = 0.8\n\n[rules]\nask = [\"npm publish\"]\n");
    let diff = scene.run(&["policy", "diff", "standard", "--json"]).ends(0).json();
    let keys: Vec<&str> =
        diff["differences"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["gate.execute", "rules.ask"]);
    assert_eq!((&diff["differences"][0]["from"], &diff["differences"][0]["to"]), (&json!(0.75), &json!(0.8)));
    scene
        .run(&["policy", "diff", "standard"])
        .ends(0)
        .says("gate.execute: 0.75 -> 0.8")
        .says("rules.ask + \"npm publish\"");
    scene.run(&["policy", "diff", ".", "strict"]).ends(0).says("attest.mode");
    scene.run(&["policy", "diff", "nobody"]).ends(3).says("neither a settings file");
}

#[test]
fn a_key_of_the_policy_is_explained() {
    let scene = Scene::new();
    scene.write_user("[gate]\nexecute = 0.8\n");
    let told = scene.run(&["policy", "explain", "gate.execute", "--json"]).ends(0).json();
    assert_eq!((&told["here"], &told["preset"]), (&json!(0.8), &json!(0.75)));
    scene.run(&["policy", "explain", "time.tick_ms"]).ends(0).says("milliseconds").says("60000");
    scene.run(&["policy", "explain", "budget.caps.llm_calls"]).ends(0).says("language models");
    scene.run(&["policy", "explain", "gate.exekute"]).ends(3).says("no policy has a key");
}

#[test]
fn agents_and_budgets_are_shown() {
    let scene = Scene::new();
    scene.write_user("[budget.caps]\nllm_calls = 10\n");
    let mut proposal = clear("p1");
    proposal["budget_estimate"] = json!({"llm_calls": 3});
    scene.propose(&proposal);
    let budget = scene.run(&["budget", "--json"]).ends(0).json();
    assert_eq!((&budget["left"]["llm_calls"], &budget["balance"]["reserved"]["llm_calls"]), (&json!(7), &json!(3)));
    scene.run(&["budget"]).ends(0).says("llm_calls").says("set aside");
    scene.run(&["outcome", "p1", "--failed"]).ends(0);
    scene.run(&["agents"]).ends(0).says("ag-1").says("recent failures");
    let one = scene.run(&["agents", "ag-1", "--json"]).ends(0).json();
    assert_eq!((&one["recent_failures"], &one["actions"]["patch_file"]["outcomes"]), (&json!(1), &json!(1)));
    scene.run(&["agents", "ag-1"]).ends(0).says("0 of 1 outcomes clean");
    scene.run(&["agents", "nobody"]).ends(3).says("no agent nobody");
    scene.run(&["budget", "ag-1"]).ends(0).says("budget of ag-1");
}

#[test]
fn what_seems_unused_is_listed_and_stays() {
    let scene = Scene::new();
    scene.propose(&clear("p1"));
    scene.run(&["prune"]).ends(0).says("nothing that seems unused");
    scene.write(
        "modules.json",
        r#"{"core.old": {"call_count": 0}, "core.copy": {"duplicate_of": "core.one", "last_used": 1}}"#,
    );
    let found = scene.run(&["prune", "--registry", "modules.json", "--json"]).ends(0).json();
    let grounds: Vec<&str> =
        found["candidates"].as_array().unwrap().iter().map(|one| one["ground"].as_str().unwrap()).collect();
    assert_eq!(grounds, ["never_used", "duplicate"], "the surest first");
    scene.run(&["prune", "--registry", "modules.json"]).ends(0).says("core.old").says("nothing was taken away");
    scene.write("modules.json", r#"{"core.old": {"calls": 0}}"#);
    scene.run(&["prune", "--registry", "modules.json"]).ends(2).says("calls");
}
