//! Which policy holds, and that only its user loosens it.

use crate::scene::{Scene, clear};
use serde_json::json;

#[test]
fn the_policy_shows_what_holds_and_why() {
    let scene = Scene::new();
    scene.run(&["policy", "show"]).ends(0).says("preset standard").says("no settings files");
    scene.write_user("[gate]\nexecute = 0.8\n[rules]\nallow = [\"make\"]\n");
    scene.write("stigmergate.toml", "[rules]\ndeny = [\"git push\"]\nallow = [\"rm\"]\n");
    let shown = scene.run(&["policy", "show"]).ends(0);
    for line in ["gate.execute: 0.75 -> 0.8", "deny        git push", "allow       make", "rules.allow", "not trusted"]
    {
        assert!(shown.out.contains(line), "{line}: {}", shown.out);
    }
    assert!(!shown.out.contains("allow       rm"));
    let json = scene.run(&["policy", "show", "--json"]).ends(0).json();
    assert_eq!(json["policy"]["gate"]["execute"], json!(0.8));
    assert_eq!(json["ignored"], json!(["rules.allow"]));
    assert_eq!(json["sources"][1]["trusted"], json!(false));
    scene.run(&["status"]).ends(0).says("does not count: rules.allow");
    scene.run(&[]).ends(0).says("1 key of the project's settings do not count");
}

#[test]
fn trust_is_for_the_file_as_it_is_and_for_people() {
    let scene = Scene::new();
    scene.write("stigmergate.toml", "[gate]\nexecute = 0.9\n");
    let execute = || scene.run(&["policy", "show", "--json"]).json()["policy"]["gate"]["execute"].clone();
    assert_eq!(execute(), json!(0.75));
    scene.run(&["policy", "trust"]).ends(2).says("there is no terminal here");
    assert_eq!(execute(), json!(0.75));
    scene.run(&["policy", "trust", "--yes"]).ends(0).says("as it is");
    assert_eq!(execute(), json!(0.9));
    scene.write("stigmergate.toml", "[gate]\nexecute = 0.6\n");
    assert_eq!(execute(), json!(0.75));
    let other = Scene::new();
    assert_eq!(other.run(&["policy", "trust", "-y", "--json"]).ends(3).error()["code"], json!("not_found"));
}

#[test]
fn a_changed_policy_holds_from_the_next_command_on() {
    let scene = Scene::new();
    assert_eq!(scene.propose(&clear("p1"))["decision"], json!("execute"));
    scene.write_user("[gate]\nexecute = 0.9\n");
    let stricter = scene.propose(&clear("p2"));
    assert_eq!((stricter["decision"].clone(), stricter["sequence"].clone()), (json!("hold"), json!(3)));
    let shown = scene.run(&["policy", "show", "--json"]).json();
    assert_eq!(stricter["policy"], shown["digest"]);
}

#[test]
fn settings_are_checked() {
    let scene = Scene::new();
    scene.run(&["policy", "check"]).ends(0);
    scene.write("stigmergate.toml", "[rules]\ndeny = \"rm\"\n");
    let error = scene.run(&["policy", "check", "--json"]).ends(1).error();
    assert_eq!((error["code"].clone(), error["field"].clone()), (json!("settings_policy"), json!("rules.deny")));
    assert!(error["message"].as_str().unwrap().contains("stigmergate.toml"));
    // No command goes on under a policy that cannot be read.
    scene.run(&["status"]).ends(2).says("rules.deny");
    scene.run_with(&clear("p1").to_string(), &["propose"]).ends(2);
    let file = scene.write("other.toml", "[gate]\nexecute = 0.8\n");
    scene.run(&["policy", "check", file.to_str().unwrap()]).ends(0).says("right");
    let file = scene.write("attest.toml", "[attest]\nmode = \"required\"\n");
    scene.run(&["policy", "check", file.to_str().unwrap()]).ends(0).says("right");
    scene.run(&["policy", "check", "missing.toml"]).ends(3);
    let broken = scene.write("broken.toml", "a = 1\nb = = 2\n");
    scene.run(&["policy", "check", broken.to_str().unwrap()]).ends(1).says("broken.toml:2:5");
}
