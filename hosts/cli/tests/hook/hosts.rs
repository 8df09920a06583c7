//! The hosts that do not ask their person: a HOLD becomes a refusal, and what a person approves runs once.

use super::World;
use serde_json::{Value, json};
use std::process::Output;

impl World {
    fn tell(&self, arguments: &[&str], event: &Value) -> Output {
        self.start(arguments, event.to_string().as_bytes()).wait_with_output().unwrap()
    }

    fn answer(&self, host: &str, event: &Value) -> Value {
        let output = self.tell(&["hook", host], event);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    fn state(&self, id: &str) -> String {
        let output = self.run(&["why", id, "--json"]);
        let why: Value = serde_json::from_slice(&output.stdout).unwrap();
        why["state"].as_str().unwrap_or_default().to_owned()
    }

    /// The host's event before `rm mine.txt`, told in other words each time.
    fn before(&self, host: &str, turn: u32) -> Value {
        let command = "rm mine.txt";
        match host {
            "codex" => {
                json!({"session_id": "s", "turn_id": format!("t{turn}"), "transcript_path": null, "cwd": self.root,
                "hook_event_name": "PreToolUse", "model": "m", "permission_mode": "default", "tool_name": "Bash",
                "tool_use_id": format!("u{turn}"), "tool_input": {"command": command}})
            }
            "gemini" => {
                json!({"session_id": "s", "transcript_path": "", "cwd": self.root, "hook_event_name": "BeforeTool",
                "timestamp": format!("2026-11-30T10:00:0{turn}Z"), "tool_name": "run_shell_command",
                "tool_input": {"command": command, "description": format!("try {turn}")}})
            }
            "copilot" => json!({"sessionId": "s", "timestamp": turn, "cwd": self.root, "toolName": "bash",
                "toolArgs": json!({"command": command, "description": format!("try {turn}")}).to_string()}),
            _ => {
                json!({"conversation_id": "s", "generation_id": format!("g{turn}"), "hook_event_name": "beforeShellExecution",
                "cursor_version": "3.11", "workspace_roots": [self.root], "command": command, "cwd": self.root, "sandbox": false})
            }
        }
    }

    fn after(&self, host: &str, turn: u32) -> Value {
        let mut event = self.before(host, turn);
        match host {
            "codex" => {
                event["hook_event_name"] = "PostToolUse".into();
                event["tool_response"] = "".into();
            }
            "gemini" => {
                event["hook_event_name"] = "AfterTool".into();
                event["tool_response"] = json!({"llmContent": "Output: (empty)", "returnDisplay": ""});
            }
            "copilot" => event["toolResult"] = json!({"resultType": "success", "textResultForLlm": ""}),
            _ => {
                event["hook_event_name"] = "afterShellExecution".into();
                event["output"] = "".into();
                event.as_object_mut().unwrap().remove("cwd");
            }
        }
        event
    }
}

/// The reason of a refusal.
fn refused(host: &str, answer: &Value) -> String {
    let (decision, reason) = match host {
        "codex" => {
            let specific = &answer["hookSpecificOutput"];
            (&specific["permissionDecision"], &specific["permissionDecisionReason"])
        }
        "gemini" => (&answer["decision"], &answer["reason"]),
        "copilot" => (&answer["permissionDecision"], &answer["permissionDecisionReason"]),
        _ => (&answer["permission"], &answer["agent_message"]),
    };
    assert_eq!(decision, "deny", "{host}: {answer}");
    reason.as_str().unwrap().to_owned()
}

fn goes(host: &str, answer: &Value) {
    match host {
        "cursor" => assert_eq!(*answer, json!({"permission": "allow"})),
        _ => assert_eq!(*answer, Value::Null, "{host}"),
    }
}

#[test]
fn what_a_person_approves_runs_once_and_its_outcome_is_linked() {
    for host in ["codex", "gemini", "cursor"] {
        let world = World::new();
        let reason = refused(host, &world.answer(host, &world.before(host, 1)));
        assert!(reason.contains("stigmergate approve 1,"), "{host}: {reason}");
        assert_eq!(world.run(&["approve", "1", "--yes"]).status.code(), Some(0));
        goes(host, &world.answer(host, &world.before(host, 2)));
        world.answer(host, &world.after(host, 2));
        let log = world.run(&["log", "--json"]);
        let log: Value = serde_json::from_slice(&log.stdout).unwrap();
        assert_eq!(log["verdicts"][0]["state"], "settled", "{host}: {log}");
        // Once.
        let again = refused(host, &world.answer(host, &world.before(host, 3)));
        assert!(again.contains("stigmergate approve "), "{host}: {again}");
    }
}

#[test]
fn copilot_asks_unless_nobody_is_there() {
    let world = World::new();
    let answer = world.answer("copilot", &world.before("copilot", 1));
    assert_eq!(answer["permissionDecision"], "ask");
    assert!(!answer["permissionDecisionReason"].as_str().unwrap().is_empty());
    let output = world.tell(&["hook", "copilot", "--unattended"], &world.before("copilot", 2));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(refused("copilot", &answer).contains("stigmergate approve "));
    world.answer("copilot", &world.after("copilot", 1));
    assert_eq!(world.state("1"), "held", "the latest of two equal calls is the one that ran");
}

#[test]
fn an_event_after_a_call_that_was_never_judged_is_an_incident_and_no_error() {
    for host in ["codex", "gemini", "copilot", "cursor"] {
        let world = World::new();
        let output = world.tell(&["hook", host], &world.after(host, 1));
        assert_eq!(output.status.code(), Some(0), "{host}: {}", String::from_utf8_lossy(&output.stderr));
        let status = world.run(&["status", "--json"]);
        let status: Value = serde_json::from_slice(&status.stdout).unwrap();
        assert!(status.to_string().contains("unlinked_outcome"), "{host}: {status}");
    }
}

#[test]
fn cursor_may_run_the_hook_of_claude_code_and_is_never_told_to_ask() {
    let world = World::new();
    let mut event = world.before("codex", 1);
    event["cursor_version"] = "3.11".into();
    let answer = world.answer("claude", &event);
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    assert!(refused("codex", &answer).contains("stigmergate approve 1"));
}
