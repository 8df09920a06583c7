//! From a proposal to its verdict, its explanation, its answer and its outcome.

use crate::scene::{Scene, clear, held};
use serde_json::json;
use std::fs;

#[test]
fn a_proposal_is_judged_explained_and_reported() {
    let scene = Scene::new();
    let verdict = scene.propose(&clear("p1"));
    assert_eq!((verdict["sequence"].clone(), verdict["decision"].clone()), (json!(1), json!("execute")));
    assert_eq!(verdict["score"], json!(0.875));
    assert_eq!(verdict["id"], json!("p1"));

    let why = scene.run(&["why", "1"]).ends(0).says("EXECUTE #1").says("score 0.875").says("id p1");
    assert!(why.out.contains("patch_file core.parser"), "{}", why.out);
    let why = scene.run(&["why", "#1", "--json"]).ends(0).json();
    assert_eq!(why["proposal"]["rationale"], json!("fix the off-by-one in the tokenizer"));
    assert_eq!(why["verdict"]["components"]["trust"], json!(0.5));
    assert_eq!(why["state"], json!("open"));
    assert!(why["text"].as_str().unwrap().contains("EXECUTE p1"));

    scene.run(&["outcome", "p1", "--failed", "--repair"]).ends(0).says("recorded for #1: failed").says("-0.13");
    let second = scene.propose(&clear("p2"));
    assert_eq!((second["decision"].clone(), second["score"].clone()), (json!("hold"), json!(0.725)));
    scene.run(&["hot"]).ends(0).says("core.parser").says("failure").says("31 min");
    let hot = scene.run(&["hot", "core", "--json"]).ends(0).json();
    assert_eq!(hot["places"][0]["location"], json!("core.parser"));
    assert_eq!(hot["places"][0]["strength"], json!(3));
    assert_eq!(hot["places"][0]["holds_for_ms"], json!(31 * 60_000));
    assert_eq!(scene.run(&["hot", "elsewhere", "--json"]).json(), json!({"places": [], "more": 0}));
    // The number of the outcome's record means the verdict that it is about.
    assert_eq!(scene.run(&["why", "2", "--json"]).json()["id"], json!("p1"));
    // Without an id the latest.
    assert_eq!(scene.run(&["why", "--json"]).json()["id"], json!("p2"));
}

#[test]
fn the_exit_code_of_propose_tells_go_from_stop() {
    let scene = Scene::new();
    scene.run_with(&clear("p1").to_string(), &["propose"]).ends(0).says("EXECUTE #1");
    scene.run_with(&held("p2").to_string(), &["propose", "-"]).ends(1).says("HOLD #2").says("stigmergate approve 2");
    let file = scene.write("p.json", r#"{"agent_id": "a", "action_type": "delete", "target": "x"}"#);
    scene.run(&["propose", file.to_str().unwrap()]).ends(1).says("REFUSE #3").says("cli-");
    scene.run_with("{", &["propose"]).ends(2).says("error: the proposal is no JSON");
    scene.run_with("{}", &["propose"]).ends(2).says("agent_id");
    scene.run(&["propose", "missing.json"]).ends(3);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    scene.run_with(&deep, &["propose"]).ends(2).says("recursion");
    let other = json!({"proposal_id": "p1", "agent_id": "a", "action_type": "read", "target": "x"});
    assert_eq!(scene.run_with(&other.to_string(), &["propose", "--json"]).ends(2).error()["code"], "id_conflict");
}

#[test]
fn a_dry_run_leaves_nothing() {
    let scene = Scene::new();
    let ran = scene.run_with(&held("p1").to_string(), &["propose", "--dry-run", "--json"]).ends(1).json();
    assert_eq!((ran["sequence"].clone(), ran["decision"].clone()), (json!(null), json!("hold")));
    assert!(Scene::files(&scene.home.join(".local")).is_empty());
    scene.propose(&clear("p1"));
    scene.run_with(&clear("p2").to_string(), &["propose", "--dry-run"]).ends(0).says("nothing remembered");
    assert_eq!(scene.run(&["log", "--json"]).json()["verdicts"].as_array().unwrap().len(), 1);
}

#[test]
fn a_hold_is_approved_by_a_person_once() {
    let scene = Scene::new();
    assert_eq!(scene.propose(&held("claude:s1:t1"))["decision"], json!("hold"));
    scene.run(&["why"]).ends(0).says("stigmergate approve 1").says("unanswered, it ends at");
    scene.run(&["approve", "1"]).ends(2).says("there is no terminal here").says("--yes");
    let approval = scene.run(&["approve", "#1", "--yes", "--by", "ada", "--for", "2h", "--json"]).ends(0).json();
    assert_eq!(approval["by"], json!("ada"));
    assert_eq!(approval["verdict"], json!(1));
    let until = approval["standing_until"].as_u64().unwrap() - approval["expires_at"].as_u64().unwrap();
    assert_eq!(until, 6_600_000);
    assert_eq!(scene.run(&["why", "1", "--json"]).json()["state"], json!({"approved": {"by": "ada"}}));
    scene.run(&["approve", "1", "--yes", "--by", "ada"]).ends(2).says("stigmergate why 1");
    scene.run(&["deny", "1", "--yes", "--by", "ada"]).ends(2).says("is approved");
    // The retry goes through by the approval.
    assert_eq!(scene.propose(&held("claude:s1:t2"))["decision"], json!("execute"));
}

#[test]
fn a_hold_is_denied_by_a_person() {
    let scene = Scene::new();
    scene.propose(&held("t1"));
    scene
        .run(&["deny", "t1", "--yes", "--by", "ada", "--reason", "not today"])
        .ends(0)
        .says("denied #1: mv a notes.txt");
    assert_eq!(scene.run(&["log", "--json"]).json()["verdicts"][0]["state"], json!("denied"));
    scene.run(&["hot", "notes.txt"]).ends(0).says("human");
}

#[test]
fn a_recorded_session_is_judged_at_its_own_times() {
    let scene = Scene::new();
    let minute = |minute: u64| (1_700_000_000_000 + minute * 60_000).to_string();
    let propose = |id: &str, at: &str| scene.run_with(&clear(id).to_string(), &["propose", "--json", "--at", at]);
    propose("p1", &minute(0)).ends(0);
    scene.run(&["outcome", "p1", "--failed", "--at", &minute(1)]).ends(0);
    propose("p2", &minute(2)).ends(1);
    scene.run(&["hot", "--at", &minute(2)]).ends(0).says("30 min");
    propose("p3", &minute(32)).ends(0);
    let log = scene.run(&["log", "--json"]).json();
    assert_eq!(log["verdicts"][2]["at"], json!(1_700_000_000_000_u64));
}

#[test]
fn an_agent_does_not_answer_for_people() {
    let scene = Scene::new();
    scene.propose(&held("t1"));
    let error = scene.run(&["approve", "1", "--yes", "--by", "claude", "--json"]).ends(2).error();
    assert_eq!(error["code"], json!("not_allowed"));
}

#[test]
fn a_person_is_known_by_the_login_name() {
    let scene = Scene::new();
    scene.propose(&held("t1"));
    let approval = scene.run(&["approve", "1", "--yes", "--json"]).ends(0).json();
    assert!(!approval["by"].as_str().unwrap().is_empty());
}

#[test]
fn an_id_that_is_not_there_ends_with_3() {
    let scene = Scene::new();
    for arguments in [&["why", "7"][..], &["log"], &["hot"], &["approve", "7", "-y"], &["outcome", "7", "--passed"]] {
        let error = scene.run(&[arguments, &["--json"]].concat()).ends(3).error();
        assert_eq!(error["code"], json!("not_found"), "{arguments:?}");
    }
    assert!(Scene::files(&scene.home.join(".local")).is_empty(), "asking makes no store");
    scene.propose(&clear("p1"));
    for arguments in [&["why", "7"][..], &["why", "nobody"], &["deny", "#7", "-y"], &["outcome", "nobody", "--passed"]]
    {
        let error = scene.run(&[arguments, &["--json"]].concat()).ends(3).error();
        assert_eq!((error["code"].clone(), error["field"].clone()), (json!("unknown_proposal"), json!("id")));
    }
}

#[test]
fn the_log_is_filtered() {
    let scene = Scene::new();
    scene.propose(&clear("p1"));
    scene.propose(&held("p2"));
    let mut reviewer = clear("p3");
    reviewer["agent_id"] = json!("claude/reviewer");
    reviewer["target"] = json!("docs");
    scene.propose(&reviewer);
    let ids = |arguments: &[&str]| {
        let log = scene.run(&[&["log", "--json"], arguments].concat()).ends(0).json();
        let ids = log["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(&[]), ["p3", "p2", "p1"]);
    assert_eq!(ids(&["-n", "1"]), ["p3"]);
    assert_eq!(ids(&["--limit", "0"]), [""; 0]);
    assert_eq!(ids(&["--agent", "claude"]), ["p3", "p2"]);
    assert_eq!(ids(&["--decision", "hold"]), ["p2"]);
    assert_eq!(ids(&["--since", "5m"]).len(), 3);
    assert_eq!(ids(&["--since", "2100-01-01"]).len(), 0);
    assert_eq!(scene.run(&["log", "--since", "soon", "--json"]).ends(2).error()["field"], json!("since"));
    scene.run(&["log", "--decision", "execute"]).ends(0).says("#1").says("patch_file core.parser");
}

#[test]
fn outcomes_carry_cost_and_feedback() {
    let scene = Scene::new();
    scene.propose(&clear("p1"));
    let wrong = |cost: &str| scene.run(&["outcome", "1", "--passed", "--cost", cost, "--json"]).ends(2).error();
    assert_eq!(wrong("{")["field"], json!("cost"));
    assert_eq!(wrong(r#"{"llm_cals": 1}"#)["field"], json!("cost"));
    assert_eq!(wrong(r#"{"risk_level": 2}"#)["field"], json!("cost.risk_level"));
    let good = ["outcome", "1", "--passed", "--cost", r#"{"llm_calls": 3}"#, "--feedback", "good", "--summary", "ok"];
    let reply = scene.run(&[&good[..], &["--json"]].concat()).ends(0).json();
    assert_eq!(reply["cost"]["llm_calls"], json!(3));
    assert_eq!(reply["trust_delta"], json!(0.07));
    scene.run(&["outcome", "1", "--passed", "--failed"]).ends(2);
    scene.run(&["outcome", "1"]).ends(2).says("--passed");
}

#[test]
fn ticks_follow_from_time_or_are_called_by_hand() {
    let scene = Scene::new();
    scene.run(&["tick"]).ends(0).says("ticks follow from time here");
    assert_eq!(scene.run(&["tick", "5", "--json"]).ends(0).json()["by_hand"], json!(false));
    scene.run(&["tick", "0"]).ends(2);
    let by_hand = Scene::new();
    by_hand.write_user("preset = \"reference\"\n");
    by_hand.run(&["tick", "3"]).ends(0).says("tick 3");
    assert_eq!(by_hand.run(&["tick", "--json"]).json()["tick"], json!(4));
}

#[test]
fn a_named_store_is_used_instead() {
    let scene = Scene::new();
    let ran = scene.run_with(&clear("p1").to_string(), &["propose", "--store", "own.db", "--json"]);
    assert_eq!(ran.ends(0).json()["sequence"], json!(1));
    scene.run(&["log", "--store", "own.db"]).ends(0).says("#1");
    assert!(scene.root.join("own.db").exists() && Scene::files(&scene.home.join(".local")).is_empty());
    fs::write(scene.root.join("text.db"), "not a store ".repeat(100)).unwrap();
    let error = scene.run(&["log", "--store", "text.db", "--json"]).ends(2).error();
    assert_eq!(error["code"], json!("not_a_store"));
    assert_eq!(fs::read_to_string(scene.root.join("text.db")).unwrap(), "not a store ".repeat(100));
}

#[test]
fn every_repository_has_a_store_for_all_its_folders() {
    let scene = Scene::new();
    scene.propose(&clear("p1"));
    scene.write("src/deep/a.rs", "");
    let below = scene.command().current_dir(scene.root.join("src/deep")).args(["why", "p1"]).output().unwrap();
    assert!(below.status.success());
    let elsewhere = scene.command().current_dir(&scene.home).args(["why", "p1"]).output().unwrap();
    assert_eq!(elsewhere.status.code(), Some(3));
    let stores = Scene::files(&scene.home.join(".local/share/stigmergate"));
    let name = stores[0].parent().unwrap().file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("loom-") && name.len() == 13, "{name}");
}
