//! `doctor`: whether a host reaches the gate, tried as the host would.

use crate::scene::{Ran, Scene, held};
use serde_json::{Value, json};
use std::fs;

const HOSTS: [&str; 5] = ["claude", "codex", "gemini", "copilot", "cursor"];

/// The check of a code about a host.
fn check<'r>(report: &'r Value, about: &str, code: &str) -> &'r Value {
    let mut checks = report["checks"].as_array().unwrap().iter();
    checks.find(|check| check["about"] == about && check["code"] == code).unwrap_or(&Value::Null)
}

fn report(scene: &Scene, arguments: &[&str]) -> Value {
    let ran: Ran = scene.run(&[&["doctor", "--json"], arguments].concat());
    let report = ran.json();
    assert_eq!(ran.code, i32::from(report["well"] != json!(true)), "{ran:?}");
    report
}

#[test]
fn without_hooks_it_says_that_nothing_is_enforced() {
    let scene = Scene::new();
    scene.run(&["doctor"]).ends(1).says("no host asks the gate here").says("stigmergate init claude");
    for host in HOSTS {
        assert_eq!(check(&report(&scene, &[host]), host, "not_installed")["state"], json!("failure"));
    }
}

#[test]
fn each_host_reaches_the_gate_through_what_init_wrote() {
    for host in HOSTS {
        let scene = Scene::new();
        scene.run(&["init", host]).ends(0);
        let files = Scene::files(&scene.home);
        let report = report(&scene, &[host]);
        let tried = check(&report, host, "tried");
        assert_eq!(tried["state"], json!("ok"), "{report:#}");
        assert!(tried["milliseconds"].is_u64() && tried["text"].as_str().unwrap().contains("`rm -rf ~` is"), "{tried}");
        assert_eq!(check(&report, host, "installed")["state"], json!("ok"));
        assert_eq!(check(&report, host, "never_heard")["state"], json!("warning"));
        assert_eq!(Scene::files(&scene.home), files, "nothing is written");
    }
}

#[test]
fn a_host_that_was_heard_is_told_with_its_time() {
    let scene = Scene::new();
    scene.run(&["init", "claude"]).ends(0);
    scene.propose(&held("p1"));
    let report = report(&scene, &[]);
    assert_eq!(check(&report, "claude", "heard")["state"], json!("ok"), "{report:#}");
    assert!(check(&report, "gate", "store")["text"].as_str().unwrap().contains("sound, with 1 record"));
    assert_eq!(check(&report, "gate", "incidents")["state"], json!("ok"));
    scene.run(&["doctor"]).ends(0).says("was last heard here");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let store = check(&report, "gate", "store")["file"].as_str().unwrap().to_owned();
        fs::set_permissions(&store, fs::Permissions::from_mode(0o444)).unwrap();
        scene.run(&["doctor"]).ends(1).says("may not be written");
    }
}

#[test]
fn a_program_that_is_gone_is_named() {
    let scene = Scene::new();
    scene.run(&["init", "gemini"]).ends(0);
    let file = scene.root.join(".gemini/settings.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(env!("CARGO_BIN_EXE_stigmergate"), "/nowhere/at all/stigmergate")).unwrap();
    // A path with a blank and no quotes is another command.
    assert_eq!(check(&report(&scene, &["gemini"]), "gemini", "own_form")["state"], json!("warning"));
    fs::write(&file, text.replace(env!("CARGO_BIN_EXE_stigmergate"), "'/nowhere/at all/stigmergate'")).unwrap();
    let report = report(&scene, &["gemini"]);
    assert_eq!(check(&report, "gemini", "program_missing")["state"], json!("failure"), "{report:#}");
    assert_eq!(check(&report, "gemini", "tried"), &Value::Null);
}

#[cfg(unix)]
#[test]
fn a_program_that_a_repository_brings_is_not_started() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    let program = scene.write("tools/stigmergate", "#!/bin/sh\ntouch started\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let hook = json!({"type": "command", "command": program, "args": ["hook", "claude"]});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}});
    scene.write(".claude/settings.json", &settings.to_string());
    let report = report(&scene, &["claude"]);
    assert_eq!(check(&report, "claude", "program_in_repository")["state"], json!("failure"), "{report:#}");
    assert_eq!(check(&report, "claude", "fails_open")["state"], json!("warning"));
    assert_eq!(check(&report, "claude", "no_outcomes")["state"], json!("warning"));
    assert!(!scene.root.join("started").exists());
}

#[cfg(unix)]
#[test]
fn a_program_that_lets_everything_through_fails() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    let program = scene.home.join("bin/stigmergate");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, "#!/bin/sh\n[ \"$1\" = --version ] && echo stigmergate 0.0.1\ncat >/dev/null\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    scene.run(&["init", "codex", "--user"]).ends(0);
    let file = scene.home.join(".codex/hooks.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(env!("CARGO_BIN_EXE_stigmergate"), program.to_str().unwrap())).unwrap();
    let report = report(&scene, &["codex"]);
    let tried = check(&report, "codex", "tried");
    assert!(tried["text"].as_str().unwrap().contains("lets `rm -rf ~` through"), "{report:#}");
    assert!(check(&report, "codex", "other_version")["text"].as_str().unwrap().contains("0.0.1"));
}

#[test]
fn what_takes_hooks_out_of_force_is_named() {
    let scene = Scene::new();
    for host in HOSTS {
        scene.run(&["init", host]).ends(0);
    }
    let off = |host: &str| check(&report(&scene, &[host]), host, "switched_off").clone();
    for host in HOSTS {
        assert_eq!(off(host), Value::Null, "{host}");
    }
    let write = |path: &str, text: &str| {
        let file = scene.home.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write(".claude/settings.json", r#"{"disableAllHooks": true}"#);
    write(".gemini/settings.json", r#"{"hooksConfig": {"disabled": ["stigmergate"]} /* off */}"#);
    write(".codex/config.toml", "[features]\nhooks = false\n");
    write(".copilot/settings.json", r#"{"disableAllHooks": true}"#);
    for (host, key) in [
        ("claude", "disableAllHooks"),
        ("gemini", "hooksConfig.disabled"),
        ("codex", "features.hooks"),
        ("copilot", "disableAllHooks"),
    ] {
        let check = off(host);
        assert_eq!(check["state"], json!("failure"), "{host}: {check}");
        assert!(check["text"].as_str().unwrap().contains(key), "{check}");
    }
}

#[test]
fn trust_that_is_missing_is_named_and_trust_that_is_there_counts() {
    let scene = Scene::new();
    scene.run(&["init", "codex"]).ends(0);
    let file = scene.root.join(".codex/hooks.json");
    let state = |code: &str| check(&report(&scene, &["codex"]), "codex", code)["state"].clone();
    assert_eq!((state("untrusted"), state("folder_untrusted")), (json!("failure"), json!("warning")));
    let key = format!("{}:pre_tool_use:0:0", file.display());
    let config = format!(
        "[projects.\"{}\"]\ntrust_level = \"trusted\"\n[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:1\"\n",
        scene.root.display()
    );
    fs::create_dir_all(scene.home.join(".codex")).unwrap();
    fs::write(scene.home.join(".codex/config.toml"), config).unwrap();
    assert_eq!(
        (state("untrusted"), state("folder_untrusted"), state("trusted")),
        (Value::Null, Value::Null, json!("ok"))
    );

    scene.run(&["init", "gemini"]).ends(0);
    let state = || check(&report(&scene, &["gemini"]), "gemini", "folder_untrusted")["state"].clone();
    assert_eq!(state(), json!("warning"));
    let trust = |level: &str| {
        let rules = json!({scene.home.to_str().unwrap(): "TRUST_FOLDER", scene.root.to_str().unwrap(): level});
        fs::create_dir_all(scene.home.join(".gemini")).unwrap();
        fs::write(scene.home.join(".gemini/trustedFolders.json"), rules.to_string()).unwrap();
    };
    trust("DO_NOT_TRUST");
    assert_eq!(state(), json!("failure"));
    trust("TRUST_FOLDER");
    assert_eq!(state(), Value::Null);
}

#[test]
fn settings_that_ask_badly_are_told() {
    let scene = Scene::new();
    scene.run(&["init", "claude"]).ends(0);
    scene.run(&["init", "claude", "--local"]).ends(0);
    let file = scene.root.join(".claude/settings.json");
    let text =
        fs::read_to_string(&file).unwrap().replace("\"timeout\": 30", "\"timeout\": 5").replace("\"*\"", "\"Bash\"");
    fs::write(&file, text).unwrap();
    scene.write(
        ".claude/settings.local.json",
        &fs::read_to_string(scene.root.join(".claude/settings.local.json")).unwrap(),
    );
    let found = report(&scene, &["claude"]);
    for code in ["two_scopes", "short_timeout", "only_some_tools"] {
        assert_eq!(check(&found, "claude", code)["state"], json!("warning"), "{code}: {found:#}");
    }
    fs::write(&file, "{ stigmergate").unwrap();
    assert_eq!(check(&report(&scene, &["claude"]), "claude", "settings_json")["state"], json!("failure"));
    scene.write(".codex/hooks.json", "nothing");
    assert_eq!(check(&report(&scene, &["codex"]), "codex", "settings_json")["state"], json!("warning"));
}

#[test]
fn failures_of_the_gate_and_broken_settings_are_told() {
    let scene = Scene::new();
    scene.run(&["init", "claude"]).ends(0);
    let after = json!({
        "hook_event_name": "PostToolUse", "session_id": "s", "tool_use_id": "t", "cwd": scene.root, "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_response": {}
    });
    scene.run_with(&after.to_string(), &["hook", "claude"]).ends(0);
    assert_eq!(check(&report(&scene, &[]), "gate", "incidents")["state"], json!("warning"));
    scene.write("stigmergate.toml", "[rules]\nallow = [\"rm -rf ~\"]\n");
    assert_eq!(check(&report(&scene, &[]), "gate", "untrusted_settings")["state"], json!("warning"));
    scene.write("stigmergate.toml", "nonsense = 1\n");
    let found = report(&scene, &[]);
    assert_eq!(check(&found, "gate", "settings")["state"], json!("failure"));
    assert_eq!(check(&found, "claude", "tried")["state"], json!("failure"), "{found:#}");
}

#[test]
fn a_store_that_is_broken_is_told() {
    let scene = Scene::new();
    scene.run(&["init", "claude", "--store", "own.db"]).ends(0);
    scene.write("own.db", "no database");
    let found = report(&scene, &["--store", "own.db"]);
    assert_eq!(check(&found, "gate", "store")["state"], json!("failure"), "{found:#}");
    assert_eq!(check(&found, "claude", "tried")["state"], json!("ok"), "it was tried with a store of its own");
    assert_eq!(check(&report(&scene, &[]), "claude", "other_store")["state"], json!("warning"));
}

#[test]
fn the_report_fits_eighty_columns() {
    let scene = Scene::new();
    for host in HOSTS {
        scene.run(&["init", host]).ends(0);
    }
    let ran = scene.run(&["doctor"]).ends(1).says("Gemini CLI").says("failure, ");
    let is_a_path = |line: &str| !line.trim().contains(' ');
    for line in ran.out.lines().filter(|line| !is_a_path(line)) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
