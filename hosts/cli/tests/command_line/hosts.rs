//! A host's settings: written without losing anything, and taken back exactly.

use crate::scene::Scene;
use serde_json::{Value, json};
use std::fs;

fn read(scene: &Scene, path: &str) -> Option<String> {
    fs::read_to_string(scene.root.join(path)).ok()
}

#[test]
fn init_and_uninstall_leave_things_as_they_were() {
    let scene = Scene::new();
    scene.run(&["init", "claude"]).ends(0).says("settings.json");
    let written: Value = serde_json::from_str(&read(&scene, ".claude/settings.json").unwrap()).unwrap();
    let hook = &written["hooks"]["PreToolUse"][0];
    assert_eq!(hook["matcher"], json!("*"));
    assert_eq!(hook["hooks"][0]["command"], json!(env!("CARGO_BIN_EXE_stigmergate")));
    assert_eq!(hook["hooks"][0]["args"], json!(["hook", "claude"]));
    assert_eq!(hook["hooks"][0]["onFailure"], json!("block"));
    for event in ["PostToolUse", "PostToolUseFailure"] {
        assert_eq!(written["hooks"][event][0]["hooks"][0]["args"], json!(["hook", "claude"]));
    }
    scene.run(&["init", "claude"]).ends(0).says("nothing was changed");
    scene.run(&["status"]).ends(0).says("Claude Code asks the gate");
    scene.run(&["uninstall", "claude"]).ends(0).says("no longer asks");
    assert!(!scene.root.join(".claude").exists());
    assert_eq!(Scene::files(&scene.home.join(".local")), [""; 0].map(std::path::PathBuf::from));
    scene.run(&["uninstall", "claude"]).ends(0).says("nothing of the gate was there");
}

#[test]
fn what_stood_there_stays_to_the_byte() {
    let scene = Scene::new();
    let text =
        "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\"PreToolUse\": [ ], \"Stop\": []},\n\t\"env\": {\"A\": \"1\"}\n}";
    let file = scene.write(".claude/settings.local.json", text);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    }
    let printed = scene.run(&["init", "claude", "--local", "--print"]).ends(0).out;
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "printing writes nothing");
    scene.run(&["init", "claude", "--local"]).ends(0);
    let with = fs::read_to_string(&file).unwrap();
    assert_eq!(with, printed);
    assert!(
        with.starts_with("{\n\t\"model\": \"opus\",\n\t\"hooks\"") && with.ends_with("\n\t\"env\": {\"A\": \"1\"}\n}")
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }
    scene.run(&["uninstall", "claude"]).ends(0).says("uninstall claude --local");
    scene.run(&["uninstall", "claude", "--local"]).ends(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_file_that_is_no_json_is_left_alone() {
    let scene = Scene::new();
    for (text, where_) in [("{\n  // mine\n}", "line 2"), ("", "empty"), ("{\"a\": 1,}", "line 1"), ("[]", "an object")]
    {
        scene.write(".claude/settings.json", text);
        let error = scene.run(&["init", "claude", "--json"]).ends(2).error();
        assert!(error["message"].as_str().unwrap().contains(where_), "{error}");
        assert_eq!(read(&scene, ".claude/settings.json").unwrap(), text);
    }
}

#[test]
fn the_users_settings_and_a_named_store() {
    let scene = Scene::new();
    scene.run(&["init", "claude", "--user", "--store", "own.db"]).ends(0);
    let text = fs::read_to_string(scene.home.join(".claude/settings.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    let store = scene.root.join("own.db");
    let arguments = json!(["hook", "claude", "--store", store.to_str().unwrap()]);
    assert_eq!(written["hooks"]["PreToolUse"][0]["hooks"][0]["args"], arguments);
    scene.run(&["uninstall", "claude", "--user"]).ends(0);
    assert!(!scene.home.join(".claude").exists());
    scene.run(&["init", "claude", "--user", "--local"]).ends(2);
}

#[cfg(unix)]
#[test]
fn a_link_to_the_settings_stays_a_link() {
    let scene = Scene::new();
    let target = scene.write("dotfiles/claude.json", "{}\n");
    fs::create_dir(scene.root.join(".claude")).unwrap();
    let link = scene.root.join(".claude/settings.json");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    scene.run(&["init", "claude"]).ends(0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("PreToolUse"));
    scene.run(&["uninstall", "claude"]).ends(0);
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}\n");
}

#[test]
fn the_name_is_enough_where_it_leads_here() {
    let scene = Scene::new();
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_stigmergate")).parent().unwrap();
    let output = scene.command().env("PATH", folder).args(["init", "claude", "--print"]).output().unwrap();
    let written: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(written["hooks"]["PreToolUse"][0]["hooks"][0]["command"], json!("stigmergate"));
}

/// A host, where its settings are below the repository and below the home, and the variable that moves the latter.
const HOSTS: [(&str, &str, &str, Option<&str>); 5] = [
    ("claude", ".claude/settings.json", ".claude/settings.json", Some("CLAUDE_CONFIG_DIR")),
    ("codex", ".codex/hooks.json", ".codex/hooks.json", Some("CODEX_HOME")),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json", Some("GEMINI_CLI_HOME")),
    ("copilot", ".github/hooks/stigmergate.json", ".copilot/hooks/stigmergate.json", Some("COPILOT_HOME")),
    ("cursor", ".cursor/hooks.json", ".cursor/hooks.json", None),
];

#[test]
fn every_host_is_written_into_its_own_file_and_taken_out_again() {
    for (host, project, user, _) in HOSTS {
        let scene = Scene::new();
        for (flag, file) in [("--project", scene.root.join(project)), ("--user", scene.home.join(user))] {
            scene.run(&["init", host, flag]).ends(0).says("asks `").says("before and after each tool call");
            let text = fs::read_to_string(&file).unwrap();
            let written: Value = serde_json::from_str(&text).unwrap();
            assert!(
                text.contains(&format!("hook {host}"))
                    || written["hooks"]["PreToolUse"][0]["hooks"][0]["args"][1] == host
            );
            scene.run(&["init", host, flag]).ends(0).says("nothing was changed");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            let hooks = scene.run(&["status", "--json"]).ends(0).json()["hooks"].clone();
            assert_eq!(hooks, json!([{"host": host, "file": file}]));
            scene.run(&["uninstall", host, flag]).ends(0).says("no longer asks");
        }
        let left: Vec<_> =
            Scene::files(&scene.home).into_iter().filter(|file| !file.starts_with(scene.root.join(".git"))).collect();
        assert_eq!(left, [""; 0].map(std::path::PathBuf::from), "{host}");
        let folder = project.split('/').next().unwrap();
        assert!(!scene.root.join(folder).exists(), "{host}: the folders that were made go too");
    }
}

#[test]
fn a_hosts_own_variable_says_where_your_settings_are() {
    for (host, _, user, variable) in HOSTS {
        let (scene, Some(variable)) = (Scene::new(), variable) else { continue };
        let moved = scene.home.join("elsewhere");
        let ran = scene.command().env(variable, &moved).args(["init", host, "--user"]).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let file = if variable == "GEMINI_CLI_HOME" { user } else { user.split_once('/').unwrap().1 };
        assert!(moved.join(file).is_file(), "{host}: {file}");
    }
}

#[test]
fn a_scope_that_a_host_has_not_is_an_error_that_names_those_it_has() {
    let scene = Scene::new();
    for (host, ..) in HOSTS.iter().filter(|(host, ..)| *host != "claude") {
        let error = scene.run(&["init", host, "--local", "--json"]).ends(2).error();
        assert_eq!((&error["code"], &error["field"]), (&json!("unknown_scope"), &json!("scope")), "{error}");
        assert!(error["message"].as_str().unwrap().contains("--project and --user"), "{error}");
    }
}

#[test]
fn comments_of_gemini_settings_stay_and_those_of_others_are_an_error() {
    let scene = Scene::new();
    let text = "{\n  // my theme\n  \"theme\": \"dark\" // at night\n}\n";
    let file = scene.write(".gemini/settings.json", text);
    scene.run(&["init", "gemini"]).ends(0);
    let with = fs::read_to_string(&file).unwrap();
    assert!(with.starts_with("{\n  // my theme\n  \"theme\": \"dark\", // at night\n  \"hooks\": {"), "{with}");
    scene.run(&["uninstall", "gemini"]).ends(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let file = scene.write(".cursor/hooks.json", text);
    scene.run(&["init", "cursor"]).ends(2);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn other_hooks_in_a_shared_file_survive() {
    let scene = Scene::new();
    let text = "{\"version\": 1, \"hooks\": {\"preToolUse\": [{\"command\": \"./mine.sh\"}]}}\n";
    let file = scene.write(".cursor/hooks.json", text);
    scene.run(&["init", "cursor"]).ends(0);
    let written: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written["hooks"]["preToolUse"][0], json!({"command": "./mine.sh"}));
    assert_eq!(written["hooks"]["preToolUse"][1]["failClosed"], json!(true));
    scene.run(&["uninstall", "cursor"]).ends(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}
