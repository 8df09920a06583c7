//! Keys and the signed ledger, as people, hosts and auditors meet them.

use crate::scene::{Ran, Scene, clear};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn attesting(mode: &str) -> Scene {
    let scene = Scene::new();
    scene.write_user(&format!("[attest]\nmode = \"{mode}\"\n"));
    scene
}

/// A scene whose ledger has begun.
fn begun(mode: &str) -> Scene {
    let scene = attesting(mode);
    scene.run(&["keys", "new", "--yes"]).ends(0).says("the ledger has begun");
    scene
}

fn event(scene: &Scene, name: &str, command: &str, id: &str) -> Ran {
    let event = json!({
        "session_id": "s", "cwd": scene.root, "hook_event_name": name, "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": id, "permission_mode": "default",
        "tool_response": {"stdout": ""}
    });
    scene.run_with(&event.to_string(), &["hook", "claude"])
}

fn key_files(scene: &Scene) -> Vec<PathBuf> {
    let all = Scene::files(&scene.home.join(".local"));
    all.into_iter().filter(|file| file.parent().is_some_and(|folder| folder.ends_with("keys"))).collect()
}

fn kinds(scene: &Scene) -> Vec<String> {
    let shown = scene.run(&["ledger", "show", "--json"]).ends(0).json();
    let kind = |event: &Value| event["record"]["kind"].as_str().unwrap().to_owned();
    shown["events"].as_array().unwrap().iter().map(kind).collect()
}

#[test]
fn a_key_is_made_once_shown_in_public_and_never_printed() {
    let scene = attesting("optional");
    scene.run(&["keys", "new"]).ends(2).says("no terminal");
    let made = scene.run(&["keys", "new", "--yes"]).ends(0);
    let files = key_files(&scene);
    assert_eq!(files.len(), 1);
    let secret = fs::read_to_string(&files[0]).unwrap();
    let secret = secret.trim().rsplit('+').next().unwrap().to_owned();
    let shown = scene.run(&["keys", "show"]).ends(0).says("signs the ledger");
    let json = scene.run(&["keys", "show", "--json"]).ends(0);
    for ran in [&made, &shown, &json] {
        assert!(!ran.out.contains(&secret) && !ran.err.contains(&secret));
    }
    let again = scene.run(&["keys", "new", "--yes", "--json"]).ends(2).error();
    assert_eq!(again["code"], json!("ledger_begun"));
    assert_eq!(fs::read_to_string(&files[0]).unwrap().trim().rsplit('+').next().unwrap(), secret);
    let agent = scene.command().args(["keys", "rotate", "--yes"]).env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(agent.status.code(), Some(2), "agents make no keys");
}

#[test]
fn the_hook_writes_the_whole_chain() {
    let scene = begun("optional");
    event(&scene, "PreToolUse", "ls -la", "u1").ends(0);
    event(&scene, "PostToolUse", "ls -la", "u1").ends(0);
    let chain = ["key", "proposal", "gate_verdict", "execution_authorization", "execution_receipt", "outcome"];
    assert_eq!(kinds(&scene), chain);
    scene.run(&["ledger", "verify"]).ends(0).says("valid: 6 events").says("not that an act was safe");
    scene.run(&["why"]).ends(0).says("on the ledger concluded: proposal 1, verdict 2, authorization 3");
    scene.run(&["status"]).ends(0).says("6 events");
}

#[test]
fn without_a_key_optional_goes_on_and_required_blocks() {
    let scene = attesting("optional");
    event(&scene, "PreToolUse", "ls -la", "u1").ends(0);
    scene.run(&["status"]).ends(0).says("nothing is signed").says("stigmergate keys new");
    scene.run(&["ledger", "verify"]).ends(0).says("empty");
    scene.write_user("[attest]\nmode = \"required\"\n");
    event(&scene, "PreToolUse", "ls -la", "u2").ends(2).says("stigmergate keys new");
    scene.run(&["status"]).ends(0).says("every call is blocked");
    scene.run(&["keys", "new", "--yes"]).ends(0);
    event(&scene, "PreToolUse", "ls -la", "u3").ends(0);
    event(&scene, "PostToolUse", "ls -la", "u3").ends(0);
    scene.run(&["ledger", "verify"]).ends(0).says("valid");
}

#[test]
fn a_key_that_is_gone_is_said_and_nothing_is_written() {
    let scene = begun("optional");
    let file = key_files(&scene).remove(0);
    let aside = scene.home.join("aside");
    fs::rename(&file, &aside).unwrap();
    event(&scene, "PreToolUse", "ls -la", "u1").ends(2).says("bring its file back");
    scene.run(&["status"]).ends(0).says("its key is missing");
    assert_eq!(kinds(&scene), ["key"]);
    fs::rename(&aside, &file).unwrap();
    event(&scene, "PreToolUse", "ls -la", "u1").ends(0);
}

#[test]
fn keys_rotate_and_the_past_stays_valid() {
    let scene = begun("optional");
    scene.propose(&clear("p1"));
    scene.run(&["keys", "rotate", "--yes"]).ends(0).says("the old one has signed for it");
    scene.propose(&clear("p2"));
    scene.run(&["ledger", "verify"]).ends(0).says("valid");
    scene.run(&["keys", "show"]).ends(0).says("retired").says("signs the ledger");
    let endings = key_files(&scene).into_iter().map(|file| file.extension().unwrap().to_owned()).collect::<Vec<_>>();
    assert!(endings.iter().any(|ending| ending == "retired") && endings.len() == 2);
}

#[test]
fn agents_may_not_touch_keys_kept_heads_or_commands_of_the_ledger() {
    let scene = begun("optional");
    let key = key_files(&scene).remove(0);
    scene.run(&["ledger", "anchor"]).ends(0);
    let folder = key.parent().unwrap();
    for command in [
        format!("rm {}", key.display()),
        format!("cp /dev/null {}/other.key", folder.display()),
        format!("rm -r {}", folder.display()),
        format!("rm -r {}/.local/share/stigmergate/anchors", scene.home.display()),
        "stigmergate keys new --yes".to_owned(),
        "stigmergate ledger anchor".to_owned(),
        "stigmergate authorize p1".to_owned(),
        "stigmergate receipt 3 --actor me --arguments 0 --result 0".to_owned(),
    ] {
        let ran = event(&scene, "PreToolUse", &command, &command);
        assert!(ran.out.contains("deny") || ran.out.contains("ask"), "{command}: {ran:?}");
    }
    for command in ["stigmergate ledger verify", "stigmergate ledger show"] {
        assert_eq!(event(&scene, "PreToolUse", command, command).ends(0).out, "", "{command}");
    }
}

#[test]
fn a_host_authorizes_receives_and_concludes_once() {
    let scene = begun("required");
    scene.propose(&clear("p1"));
    let given = scene.run(&["authorize", "p1", "--json"]).ends(0).json();
    assert_eq!(scene.run(&["authorize", "p1", "--json"]).ends(2).error()["code"], json!("consumed"));
    let (number, arguments) = (given["sequence"].to_string(), given["arguments"].as_str().unwrap().to_owned());
    let result = "ab".repeat(32);
    let receive = |actor: &str, arguments: &str| {
        let all = ["receipt", &number, "--actor", actor, "--arguments", arguments, "--result", &result, "--json"];
        scene.run(&all)
    };
    assert_eq!(receive("somebody", &arguments).ends(2).error()["code"], json!("wrong_actor"));
    assert_eq!(receive("ag-1", &result).ends(2).error()["code"], json!("wrong_digest"));
    let receipt = receive("ag-1", &arguments).ends(0).json()["sequence"].to_string();
    assert_eq!(receive("ag-1", &arguments).ends(2).error()["code"], json!("consumed"));
    scene.run(&["ledger", "verify"]).ends(1).says("incomplete_execution");
    let plain = scene.run(&["outcome", "p1", "--passed", "--json"]).ends(2).error();
    assert_eq!(plain["code"], json!("attestation_required"));
    let outcome = ["outcome", "p1", "--passed", "--attested", &receipt];
    scene.run(&outcome).ends(0);
    scene.run(&[&outcome[..], &["--json"]].concat()).ends(2);
    scene.run(&["ledger", "verify"]).ends(0).says("valid");
}

/// A ledger of some acts, exported.
fn exported() -> (Scene, PathBuf) {
    let scene = begun("optional");
    for number in 0..130 {
        if number % 40 == 0 {
            event(&scene, "PreToolUse", "ls -la", &format!("u{number}")).ends(0);
            event(&scene, "PostToolUse", "ls -la", &format!("u{number}")).ends(0);
        }
        scene.propose(&clear(&format!("p{number}")));
    }
    let folder = scene.home.join("export");
    scene.run(&["ledger", "export", folder.to_str().unwrap()]).ends(0);
    (scene, folder)
}

#[test]
fn an_export_is_verified_without_the_store_and_every_changed_file_is_seen() {
    let (scene, folder) = exported();
    let path = folder.to_str().unwrap();
    scene.run(&["ledger", "verify", path]).ends(0).says("valid").says("no key was known");
    let key = folder.join("vkey");
    scene.run(&["ledger", "verify", path, "--key", key.to_str().unwrap()]).ends(0);
    let other = begun("optional");
    let elsewhere = other.home.join("export");
    other.run(&["ledger", "export", elsewhere.to_str().unwrap()]).ends(0);
    let foreign = elsewhere.join("vkey");
    scene.run(&["ledger", "verify", path, "--key", foreign.to_str().unwrap()]).ends(1).says("bad_signature");
    assert_eq!(other.run(&["ledger", "export", path, "--json"]).ends(2).error()["code"], json!("exists"));
    let files = Scene::files(&folder);
    assert!(files.iter().any(|file| file.ends_with("tile/0/000")), "one tile is full: {files:?}");
    for file in files {
        let bytes = fs::read(&file).unwrap();
        for place in [0, bytes.len() / 2, bytes.len() - 2] {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1;
            fs::write(&file, &flipped).unwrap();
            scene.run(&["ledger", "verify", path]).ends(1);
        }
        fs::remove_file(&file).unwrap();
        assert_ne!(scene.run(&["ledger", "verify", path]).code, 0, "{}", file.display());
        fs::write(&file, &bytes).unwrap();
    }
    scene.propose(&clear("later"));
    scene.run(&["ledger", "export", path]).ends(0);
    scene.run(&["ledger", "verify", path]).ends(0);
}

#[test]
fn proofs_hold_for_their_event_and_kept_heads_are_continued() {
    let scene = begun("optional");
    scene.propose(&clear("p1"));
    let kept = scene.write("kept", &scene.run(&["ledger", "checkpoint"]).ends(0).out);
    scene.propose(&clear("p2"));
    scene.run(&["ledger", "consistency", kept.to_str().unwrap()]).ends(0).says("continues the head of 3 events");
    scene.run(&["ledger", "verify", "--against", kept.to_str().unwrap()]).ends(0).says("a kept head of 3 events");
    for number in 0..5_u32 {
        let proof = scene.run(&["ledger", "prove", &number.to_string()]).ends(0).out;
        let file = scene.write("proof", &proof);
        scene.run(&["ledger", "check-proof", file.to_str().unwrap()]).ends(0).says("is on the ledger");
        let moved = proof.replacen(&format!("index {number}"), &format!("index {}", (number + 1) % 5), 1);
        let file = scene.write("proof", &moved);
        scene.run(&["ledger", "check-proof", file.to_str().unwrap()]).ends(1);
    }
    scene.run(&["ledger", "prove", "99"]).ends(3);
    // Another ledger does not continue this head.
    let other = begun("optional");
    assert_eq!(
        other.run(&["ledger", "consistency", kept.to_str().unwrap(), "--json"]).ends(1).error()["code"],
        json!("inconsistent")
    );
    other.run(&["ledger", "verify", "--against", kept.to_str().unwrap()]).ends(1).says("inconsistent");
    let anchor = other.write("anchor", &fs::read_to_string(&kept).unwrap());
    other.run(&["ledger", "anchor", anchor.to_str().unwrap()]).ends(1).says("inconsistent");
    assert_eq!(fs::read(&anchor).unwrap(), fs::read(&kept).unwrap(), "what was kept stays");
}

/// The auditor of the README: its own lines, run with the real tools.
#[test]
fn the_readme_shows_an_auditor_who_needs_nothing_of_ours() {
    let has = |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !(has("python3") && Command::new("openssl").arg("version").output().is_ok()) {
        return;
    }
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let script = readme.split("```python\nimport base64").nth(1).unwrap().split("```").next().unwrap();
    let (_scene, folder) = exported();
    let run = || {
        let script = format!("import base64{script}");
        Command::new("python3").args(["-c", &script]).current_dir(&folder).output().unwrap()
    };
    let ran = run();
    assert!(ran.status.success(), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("events of stigmergate/loom/"), "{ran:?}");
    let bundle = folder.join("tile/entries/000");
    let mut bytes = fs::read(&bundle).unwrap();
    bytes[40] ^= 1;
    fs::write(&bundle, &bytes).unwrap();
    assert!(!run().status.success());
}

#[test]
fn strict_takes_an_outcome_only_from_an_observer_other_than_the_executor() {
    let scene = Scene::new();
    let made = |name: &str| {
        let folder = scene.home.join(name).display().to_string();
        scene.run(&["keys", "new", "--folder", &folder, "--name", name]).ends(2).says("is for people");
        let made = scene.run(&["keys", "new", "--folder", &folder, "--name", name, "--yes", "--json"]).ends(0).json();
        (folder, made["key"].as_str().unwrap().to_owned())
    };
    let [(executor, executors_key), (observer, observers_key), (stranger, _)] =
        ["executor.example", "observer.example", "stranger.example"].map(made);
    let keys = format!("keys = [\"{executors_key}\", \"{observers_key}\"]");
    scene.write_user(&format!(
        "preset = \"strict\"\n[trust]\ninitial = 0.9\n[roles]\nmin_proposals = 0\n[attest]\n{keys}\n"
    ));
    scene.run(&["keys", "new", "--yes"]).ends(0).says("the ledger has begun");
    let verdict = scene.propose(&clear("p1"));
    assert_eq!(verdict["decision"], json!("execute"), "{verdict}");
    scene.run(&["outcome", "p1", "--passed"]).ends(2).says("attest");
    let authorization = scene.run(&["authorize", "p1", "--json"]).ends(0).json();
    let (number, arguments) = (authorization["sequence"].to_string(), authorization["arguments"].as_str().unwrap());
    let result = "ab".repeat(32);
    let receipt = ["receipt", &number, "--actor", "ag-1", "--arguments", arguments, "--result", &result, "--json"];
    scene
        .run(&[&receipt[..], &["--sign-with", &stranger]].concat())
        .ends(2)
        .says("none of the keys that the policy names");
    let received = scene.run(&[&receipt[..], &["--sign-with", &executor]].concat()).ends(0).json();
    scene.run(&[&receipt[..], &["--sign-with", &executor]].concat()).ends(2).says("was used by another event");
    let number = received["sequence"].to_string();
    let outcome = ["outcome", "p1", "--passed", "--attested", &number];
    scene.run(&outcome).ends(2);
    for wrong in [&stranger, &executor] {
        scene.run(&[&outcome[..], &["--sign-with", wrong]].concat()).ends(2);
    }
    scene.run(&[&outcome[..], &["--sign-with", "nowhere"]].concat()).ends(2).says("exactly one key in use");
    scene.run(&[&outcome[..], &["--sign-with", &observer]].concat()).ends(0).says("recorded");
    scene.run(&[&outcome[..], &["--sign-with", &observer]].concat()).ends(2);
    scene.run(&["ledger", "verify"]).ends(0).says("valid");
    scene.run(&["why"]).ends(0).says("concluded");
    let shown = scene.run(&["ledger", "show", "--json"]).ends(0).json();
    let last = &shown["events"].as_array().unwrap().last().unwrap()["record"];
    assert_eq!((&last["kind"], &last["actor"]), (&json!("outcome"), &json!("observer.example")));
}
