//! The hook as a host meets it: answers, exit codes, approvals, settings, and what goes wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod hosts;

use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

struct World {
    _base: tempfile::TempDir,
    root: PathBuf,
    home: PathBuf,
}

impl World {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(base.path()).unwrap();
        let (root, home) = (path.join("work/repo"), path.join("home"));
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(&home).unwrap();
        fs::write(root.join("src/app.ts"), "one\n").unwrap();
        let world = Self { _base: base, root, home };
        for arguments in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-qm", "begin"]] {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(arguments).current_dir(&world.root);
            assert!(git.env("GIT_CONFIG_GLOBAL", "/dev/null").status().unwrap().success());
        }
        fs::write(world.root.join("mine.txt"), "untracked\n").unwrap();
        world
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stigmergate"));
        command.args(arguments).current_dir(&self.root).env("HOME", &self.home).env("GIT_CONFIG_GLOBAL", "/dev/null");
        for variable in [
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "CLAUDECODE",
            "CODEX_SANDBOX",
            "GEMINI_CLI",
            "CURSOR_AGENT",
            "COPILOT_AGENT",
            "OPENCODE",
        ] {
            command.env_remove(variable);
        }
        command
    }

    fn start(&self, arguments: &[&str], input: &[u8]) -> Child {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A process that ends without reading is what some tests are about.
        let _ = child.stdin.take().unwrap().write_all(input);
        child
    }

    fn hook(&self, event: &Value) -> Output {
        self.start(&["hook", "claude"], event.to_string().as_bytes()).wait_with_output().unwrap()
    }

    fn event(&self, name: &str, id: &str, tool: &str, input: Value) -> Value {
        json!({"hook_event_name": name, "session_id": "s", "cwd": self.root, "tool_use_id": id, "tool_name": tool, "tool_input": input})
    }

    fn shell(&self, id: &str, command: &str) -> Output {
        self.hook(&self.event("PreToolUse", id, "Bash", json!({"command": command})))
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn latest(&self) -> Value {
        let output = self.run(&["log", "--json", "--limit", "1"]);
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["verdicts"][0].clone()
    }
}

fn permission(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    if text.trim().is_empty() {
        return "none".into();
    }
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PreToolUse");
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().into()
}

fn reason(output: &Output) -> String {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().into()
}

#[test]
fn what_may_run_is_answered_with_nothing() {
    let world = World::new();
    let output = world.shell("1", "ls -la");
    assert_eq!((permission(&output).as_str(), output.stdout.len(), output.stderr.len()), ("none", 0, 0));
}

#[test]
fn a_hold_says_the_rule_a_safer_way_and_where_to_read_more() {
    let world = World::new();
    let output = world.shell("1", "rm mine.txt");
    assert_eq!(permission(&output), "ask");
    let text = reason(&output);
    assert!(text.contains("mine.txt") && text.contains("Safer:") && text.contains("stigmergate why 1"), "{text}");
    assert!(text.len() < 400, "{text}");
}

#[test]
fn input_that_is_no_event_is_blocked_with_text_and_nothing_else() {
    let world = World::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let inputs: [&[u8]; 9] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe\x00",
        b"{\"hello\": 1}",
        b"{\"hook_event_name\": 3}",
        deep.as_bytes(),
        b"\"PreToolUse\"",
    ];
    for input in inputs {
        let output = world.start(&["hook", "claude"], input).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{:?}", String::from_utf8_lossy(&input[..input.len().min(40)]));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
    for (field, value) in [
        ("tool_input", json!("text")),
        ("tool_name", json!("")),
        ("session_id", json!(7)),
        ("tool_use_id", json!(null)),
        ("cwd", json!("relative")),
    ] {
        let mut event = world.event("PreToolUse", "1", "Bash", json!({"command": "ls"}));
        event[field] = value;
        let output = world.hook(&event);
        assert_eq!(output.status.code(), Some(2), "{field}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains(field),
            "{field}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert_eq!(world.start(&["hook", "nobody"], b"{}").wait_with_output().unwrap().status.code(), Some(2));
    assert_eq!(
        world.start(&["hook", "claude", "--no-such-option"], b"{}").wait_with_output().unwrap().status.code(),
        Some(2)
    );
}

#[test]
fn other_events_are_none_of_its_business() {
    let world = World::new();
    let output = world.hook(&json!({"hook_event_name": "SessionStart", "session_id": "s"}));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
}

#[test]
fn an_approval_lets_exactly_the_same_call_run_once() {
    let world = World::new();
    assert_eq!(permission(&world.shell("1", "rm mine.txt")), "ask");
    assert!(world.run(&["approve", "1", "--yes", "--by", "me"]).status.success());
    assert_eq!(permission(&world.shell("2", "rm -f mine.txt")), "ask", "another call is another call");
    assert_eq!(permission(&world.shell("3", "rm mine.txt")), "none");
    assert_eq!(permission(&world.shell("4", "rm mine.txt")), "ask", "an approval is used up");
    assert!(!world.run(&["approve", "1", "--yes", "--by", "me"]).status.success());
}

#[test]
fn an_approval_ends_and_a_denial_is_remembered() {
    let world = World::new();
    let now = 1_800_000_000_000_u64;
    let at = |minutes: u64| (now + minutes * 60_000).to_string();
    let shell = |id: &str, minutes: u64| {
        let event = world.event("PreToolUse", id, "Bash", json!({"command": "rm mine.txt"}));
        permission(
            &world
                .start(&["hook", "claude", "--at", &at(minutes)], event.to_string().as_bytes())
                .wait_with_output()
                .unwrap(),
        )
    };
    assert_eq!(shell("1", 0), "ask");
    assert!(world.run(&["approve", "1", "--yes", "--by", "me", "--at", &at(1)]).status.success());
    assert_eq!(shell("2", 12), "ask", "ten minutes are over");
    let number = world.latest()["sequence"].to_string();
    assert!(world.run(&["deny", &number, "--yes", "--by", "me", "--at", &at(13)]).status.success());
    let edit =
        world.event("PreToolUse", "3", "Write", json!({"file_path": world.root.join("mine.txt"), "content": "x"}));
    let output =
        world.start(&["hook", "claude", "--at", &at(14)], edit.to_string().as_bytes()).wait_with_output().unwrap();
    assert_ne!(permission(&output), "none", "what was denied does not come back by another tool");
}

#[test]
fn without_a_person_a_hold_is_a_refusal_that_names_the_approval() {
    let world = World::new();
    let event = world.event("PreToolUse", "1", "Bash", json!({"command": "rm mine.txt"}));
    let output =
        world.start(&["hook", "claude", "--unattended"], event.to_string().as_bytes()).wait_with_output().unwrap();
    assert_eq!(permission(&output), "deny");
    assert!(reason(&output).contains("stigmergate approve 1"), "{}", reason(&output));
}

#[test]
fn the_running_of_a_held_call_is_its_late_approval_and_of_a_refused_one_an_incident() {
    let world = World::new();
    let held = json!({"command": "rm mine.txt"});
    world.hook(&world.event("PreToolUse", "1", "Bash", held.clone()));
    let output = world.hook(&world.event("PostToolUse", "1", "Bash", held));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert_eq!(world.latest()["state"], "settled");
    let refused = json!({"file_path": world.root.join(".claude/settings.json"), "content": "{}"});
    assert_eq!(permission(&world.hook(&world.event("PreToolUse", "2", "Write", refused.clone()))), "deny");
    let output = world.hook(&world.event("PostToolUse", "2", "Write", refused));
    let message: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(message["systemMessage"].as_str().unwrap().contains("although it was refused"));
}

#[test]
fn an_outcome_of_a_call_that_was_never_judged_is_noted_and_disturbs_nobody() {
    let world = World::new();
    let output = world.hook(&world.event("PostToolUse", "77", "Bash", json!({"command": "ls"})));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let status = world.run(&["status", "--json"]);
    assert!(
        String::from_utf8_lossy(&status.stdout).contains("unlinked_outcome"),
        "{}",
        String::from_utf8_lossy(&status.stdout)
    );
}

#[test]
fn settings_hold_from_the_next_call_on_and_wrong_ones_block_with_the_file_and_the_key() {
    let world = World::new();
    assert_eq!(permission(&world.shell("1", "git commit -m x")), "none");
    fs::write(world.root.join("stigmergate.toml"), "[rules]\ndeny = [\"git commit\"]\n").unwrap();
    assert_eq!(permission(&world.shell("2", "git commit -m x")), "deny");
    fs::write(world.root.join("stigmergate.toml"), "[rules]\nallow = [\"rm\"]\n").unwrap();
    assert_eq!(
        permission(&world.shell("3", "rm mine.txt")),
        "ask",
        "a project's file cannot loosen before it is trusted"
    );
    assert!(
        world.run(&["policy", "trust", "--yes"]).status.success() || world.run(&["policy", "trust"]).status.success()
    );
    assert_eq!(permission(&world.shell("4", "rm mine.txt")), "none");
    fs::write(world.root.join("stigmergate.toml"), "[rules]\nallow = [\"rm\"]\n# changed\n").unwrap();
    assert_eq!(permission(&world.shell("5", "rm mine.txt")), "ask", "trust is for the file as it was");
    fs::write(world.root.join("stigmergate.toml"), "[rules]\nforbid = []\n").unwrap();
    let output = world.shell("6", "ls");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("stigmergate.toml") && text.contains("forbid"), "{text}");
}

#[test]
fn a_store_that_cannot_be_read_blocks_and_an_outcome_is_noted_beside_it() {
    let world = World::new();
    world.shell("1", "ls");
    let status: Value = serde_json::from_slice(&world.run(&["status", "--json"]).stdout).unwrap();
    let store = PathBuf::from(status["store"]["path"].as_str().or(status["store"].as_str()).unwrap());
    for companion in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{companion}", store.display()));
    }
    fs::write(&store, "this is no store").unwrap();
    let output = world.shell("2", "ls");
    assert_eq!(output.status.code(), Some(2));
    let output = world.hook(&world.event("PostToolUse", "1", "Bash", json!({"command": "ls"})));
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("It is noted"), "{text}");
    assert_eq!(fs::read_to_string(&store).unwrap(), "this is no store", "a wrong file is left alone");
}

#[test]
fn sixteen_at_once_lose_nothing() {
    let world = World::new();
    let children: Vec<Child> = (0..16)
        .map(|number| {
            let event = world.event(
                "PreToolUse",
                &format!("p{number}"),
                "Bash",
                json!({"command": format!("make target{number}")}),
            );
            world.start(&["hook", "claude"], event.to_string().as_bytes())
        })
        .collect();
    for child in children {
        assert_eq!(permission(&child.wait_with_output().unwrap()), "none");
    }
    let log: Value = serde_json::from_slice(&world.run(&["log", "--json", "--limit", "100"]).stdout).unwrap();
    assert_eq!(log["verdicts"].as_array().unwrap().len(), 16);
}

#[test]
fn an_agents_shell_cannot_answer_a_hold() {
    let world = World::new();
    world.shell("1", "rm mine.txt");
    let output = world.command(&["approve", "1", "--yes"]).env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("CLAUDECODE"));
    for spelling in [
        "script -qc 'stigmergate approve 1' /dev/null",
        "bash -c 'stigmergate approve 1'",
        "/usr/bin/stigmergat? approve 1",
    ] {
        assert_ne!(permission(&world.shell(spelling, spelling)), "none", "{spelling}");
    }
    for (tool, input) in
        [("shell", json!({"command": "stigmergate approve 1"})), ("mcp__stigmergate__approve", json!({"id": 1}))]
    {
        assert_eq!(permission(&world.hook(&world.event("PreToolUse", tool, tool, input))), "deny", "{tool}");
    }
}

#[test]
fn what_was_somebodys_does_not_become_the_sessions_own() {
    let world = World::new();
    let ran = |id: &str, command: &str| {
        assert_eq!(permission(&world.shell(id, command)), "none", "{command}");
        assert!(Command::new("sh").args(["-c", command]).current_dir(&world.root).status().unwrap().success());
        world.hook(&world.event("PostToolUse", id, "Bash", json!({"command": command})));
    };
    ran("1", "mkdir made");
    ran("2", "mv mine.txt made/");
    assert_eq!(permission(&world.shell("3", "rm -rf made")), "ask");
    fs::write(world.root.join("other.txt"), "mine too").unwrap();
    assert_eq!(permission(&world.shell("4", "mv other.txt new.txt; rm new.txt")), "ask");
    ran("5", "mv other.txt new.txt");
    assert_eq!(permission(&world.shell("6", "rm new.txt")), "ask");
}

#[test]
fn what_a_command_names_is_told_or_held() {
    let world = World::new();
    let many: Vec<String> = (0..60_000).map(|number| format!("f{number}")).collect();
    let held = ["rm {0..99999}".to_string(), "set -- *.txt; rm \"$@\"".into(), format!("rm {}", many.join(" "))];
    for (number, command) in held.iter().enumerate() {
        let output = world.shell(&number.to_string(), command);
        let stopped = output.status.code() == Some(2) || permission(&output) != "none";
        assert!(stopped, "{}", &command[..command.len().min(60)]);
    }
    let search = world.event("PreToolUse", "9", "Grep", json!({"pattern": "", "glob": "**/.env"}));
    assert_eq!(permission(&world.hook(&search)), "ask");
}

#[test]
fn a_sub_agent_is_an_agent_below_its_host() {
    let world = World::new();
    let mut event = world.event("PreToolUse", "1", "Bash", json!({"command": "ls"}));
    event["agent_type"] = json!("code-reviewer");
    world.hook(&event);
    assert_eq!(world.latest()["agent"], "claude/code-reviewer");
}

#[cfg(unix)]
#[test]
fn a_repository_of_pipes_and_devices_is_none_that_is_waited_for() {
    for name in ["HEAD", "packed-refs", "commondir", "config", "refs/heads/main"] {
        for endless in [false, true] {
            let world = World::new();
            let file = world.root.join(".git").join(name);
            let _ = fs::remove_file(&file);
            if endless {
                std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
            } else {
                assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
            }
            assert_ne!(permission(&world.shell("1", "rm -rf ~")), "none", "{name} {endless}");
            assert_ne!(permission(&world.shell("2", "rm mine.txt")), "none", "{name} {endless}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_refusal_that_nobody_can_read_blocks() {
    let world = World::new();
    for redirection in [">&-", ">/dev/null", ">&- 2>&-"] {
        let event = world.event("PreToolUse", redirection, "Bash", json!({"command": "rm -rf /"}));
        let gate = world.command(&["hook", "claude"]);
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(format!("exec \"$0\" hook claude {redirection}")).arg(gate.get_program());
        shell.env("HOME", &world.home).current_dir(&world.root).stdin(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(2), "{redirection}");
    }
}

#[cfg(unix)]
#[test]
fn a_limit_of_the_system_blocks_and_never_ends_by_a_signal() {
    let world = World::new();
    // Files of no length at all, hardly any stack (it also holds the environment), hardly any memory.
    for limit in ["ulimit -f 0", "ulimit -s 128", "ulimit -v 50000"] {
        let event = world.event("PreToolUse", limit, "Bash", json!({"command": "rm -rf /"}));
        let gate = world.command(&["hook", "claude"]);
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(format!("{limit} && exec \"$0\" hook claude")).arg(gate.get_program());
        shell.env("HOME", &world.home).current_dir(&world.root).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        // It may end before it has read.
        _ = child.stdin.take().unwrap().write_all(event.to_string().as_bytes());
        let output = child.wait_with_output().unwrap();
        let denied = String::from_utf8_lossy(&output.stdout).contains("\"deny\"");
        assert!(output.status.code() == Some(2) || (output.status.code() == Some(0) && denied), "{limit}: {output:?}");
    }
}
