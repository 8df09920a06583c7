//! The cases' events, which are those of Claude Code, in the words of the other hosts; and every host's answers.

use serde_json::{Map, Value, json};

/// The hosts, in the order of the hook's help.
pub(crate) const HOSTS: [&str; 5] = ["claude", "codex", "gemini", "copilot", "cursor"];

/// An event of Claude Code as the host would tell it.
pub(crate) fn event(host: &str, event: &Value) -> Value {
    let is_of_a_call = |name: &&str| ["PreToolUse", "PostToolUse", "PostToolUseFailure"].contains(name);
    let name = event["hook_event_name"].as_str().filter(is_of_a_call);
    let Some(name) = name.filter(|_| host != "claude") else { return event.clone() };
    let call = Call::of(event, name);
    match host {
        "codex" => codex(event, &call),
        "gemini" => gemini(event, &call),
        "copilot" => copilot(event, &call),
        _ => cursor(event, &call),
    }
}

/// Whether an event tells what became of a call.
pub(crate) fn is_after(event: &Value) -> bool {
    let name = event["hook_event_name"].as_str().unwrap_or_default().to_ascii_lowercase();
    let unnamed = ["toolResult", "error"].iter().any(|field| !event[*field].is_null());
    name.starts_with("post") || name.starts_with("after") || unnamed
}

struct Call<'a> {
    tool: &'a str,
    input: Map<String, Value>,
    after: bool,
    failed: bool,
    served: Option<(&'a str, &'a str)>,
}

impl<'a> Call<'a> {
    fn of(event: &'a Value, name: &str) -> Self {
        let tool = event["tool_name"].as_str().unwrap_or_default();
        Self {
            tool,
            input: event["tool_input"].as_object().cloned().unwrap_or_default(),
            after: name.starts_with("Post"),
            failed: name == "PostToolUseFailure",
            served: tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")),
        }
    }

    fn text(&self, field: &str) -> &str {
        self.input.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// The input under the names that a host has for its members.
    fn renamed(&self, names: &[(&str, &str)]) -> Value {
        let name =
            |field: &str| names.iter().find(|(ours, _)| *ours == field).map_or(field, |(_, theirs)| theirs).to_owned();
        self.input.iter().map(|(field, value)| (name(field), value.clone())).collect::<Map<String, Value>>().into()
    }
}

fn base(event: &Value, name: &str) -> Map<String, Value> {
    let mut base = Map::new();
    for field in ["session_id", "transcript_path", "cwd"] {
        base.insert(field.into(), event[field].clone());
    }
    base.insert("hook_event_name".into(), name.into());
    base
}

fn codex(event: &Value, call: &Call<'_>) -> Value {
    let mut told = base(event, if call.after { "PostToolUse" } else { "PreToolUse" });
    for (field, value) in [("turn_id", json!("t1")), ("model", json!("m")), ("permission_mode", json!("default"))] {
        told.insert(field.into(), value);
    }
    for field in ["tool_use_id", "agent_type", "agent_id"] {
        if !event[field].is_null() {
            told.insert(field.into(), event[field].clone());
        }
    }
    let lines = |mark: char, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let patch = |body: String| json!({"command": format!("*** Begin Patch\n{body}*** End Patch\n")});
    let path = call.text("file_path");
    let (tool, input) = match call.tool {
        "Write" => ("apply_patch", patch(format!("*** Add File: {path}\n{}", lines('+', call.text("content"))))),
        "Edit" => {
            let change = lines('-', call.text("old_string")) + &lines('+', call.text("new_string"));
            ("apply_patch", patch(format!("*** Update File: {path}\n@@\n{change}")))
        }
        tool => (tool, call.input.clone().into()),
    };
    told.insert("tool_name".into(), tool.into());
    told.insert("tool_input".into(), input);
    if call.after {
        let response = if call.failed { "Exit code: 1\nOutput:\nno" } else { "done" };
        told.insert("tool_response".into(), response.into());
    }
    told.into()
}

fn gemini(event: &Value, call: &Call<'_>) -> Value {
    let mut told = base(event, if call.after { "AfterTool" } else { "BeforeTool" });
    told.insert("timestamp".into(), "2026-11-30T10:00:00.000Z".into());
    let tool = match (call.tool, call.served) {
        (_, Some((server, verb))) => {
            told.insert("mcp_context".into(), json!({"server_name": server, "tool_name": verb}));
            format!("mcp_{server}_{verb}")
        }
        ("Bash", _) => "run_shell_command".into(),
        ("Write", _) => "write_file".into(),
        ("Edit", _) => "replace".into(),
        ("Read", _) => "read_file".into(),
        ("Grep", _) => "grep_search".into(),
        ("LS", _) => "list_directory".into(),
        ("WebFetch", _) => "web_fetch".into(),
        ("WebSearch", _) => "google_web_search".into(),
        ("TodoWrite", _) => "write_todos".into(),
        (tool, _) => tool.into(),
    };
    let mut input =
        call.renamed(if matches!(call.tool, "Grep" | "LS" | "Glob") { &[("path", "dir_path")] } else { &[] });
    if call.tool == "Bash" {
        // It says what it does in other words each time.
        input["description"] = format!("runs it ({})", event["tool_use_id"]).into();
    }
    told.insert("tool_name".into(), tool.into());
    told.insert("tool_input".into(), input);
    if call.after {
        let response = match (call.failed, call.tool) {
            (true, "Bash") => {
                json!({"llmContent": "Output: no\nExit Code: 1\nProcess Group PGID: 77", "returnDisplay": "no"})
            }
            (true, _) => json!({"llmContent": "no", "error": {"message": "no", "type": "execution_failed"}}),
            _ => json!({"llmContent": "done", "returnDisplay": "done"}),
        };
        told.insert("tool_response".into(), response);
    }
    told.into()
}

fn copilot(event: &Value, call: &Call<'_>) -> Value {
    let tool = match (call.tool, call.served) {
        (_, Some((server, verb))) => format!("{server}-{verb}"),
        ("Bash", _) => "bash".into(),
        ("PowerShell", _) => "powershell".into(),
        ("Write", _) => "create".into(),
        ("Edit", _) => "edit".into(),
        ("Read", _) => "view".into(),
        ("Grep", _) => "grep".into(),
        ("WebFetch", _) => "web_fetch".into(),
        (tool, _) => tool.into(),
    };
    let names = [("file_path", "path"), ("content", "file_text"), ("old_string", "old_str"), ("new_string", "new_str")];
    let input = call.renamed(if call.served.is_none() { &names } else { &[] });
    let mut told = json!({"sessionId": event["session_id"], "timestamp": 1_764_500_000_000_u64, "cwd": event["cwd"],
        "toolName": tool, "toolArgs": input.to_string()});
    if call.failed {
        told["error"] = "no".into();
    } else if call.after {
        told["toolResult"] =
            json!({"resultType": "success", "textResultForLlm": "done\n<shellId: 1 completed with exit code 0>"});
    }
    told
}

fn cursor(event: &Value, call: &Call<'_>) -> Value {
    let name = match (call.after, call.failed) {
        (_, true) => "postToolUseFailure",
        (true, false) => "postToolUse",
        (false, _) => "preToolUse",
    };
    let tool = match (call.tool, call.served) {
        (_, Some((_, verb))) => format!("MCP:{verb}"),
        ("Bash", _) => "Shell".into(),
        (tool, _) => tool.into(),
    };
    let mut told = json!({"conversation_id": event["session_id"], "generation_id": "g", "model": "m", "hook_event_name": name,
        "cursor_version": "3.11", "workspace_roots": [event["cwd"]], "user_email": null, "transcript_path": null,
        "tool_use_id": event["tool_use_id"], "tool_name": tool, "tool_input": call.input});
    if call.tool == "Bash" {
        told["cwd"] = event["cwd"].clone();
    }
    if call.failed {
        told["error_message"] = "no".into();
        told["failure_type"] = "error".into();
    } else if call.after {
        told["tool_output"] = r#"{"exitCode":0,"stdout":"done"}"#.into();
    }
    told
}

/// What the host would do: `execute`, `hold` or `refuse`.
pub(crate) fn answer(host: &str, code: Option<i32>, text: &str) -> String {
    match code {
        Some(0) => {}
        Some(2) => return "refuse".into(),
        other => panic!("exit code {other:?}: the host would let the call through"),
    }
    if text.trim().is_empty() {
        assert_ne!(host, "cursor", "it is always answered");
        return "execute".into();
    }
    let answer: Value = serde_json::from_str(text).expect("the answer is JSON");
    let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let (decision, reason) = match host {
        "claude" | "codex" => {
            if answer["systemMessage"].is_string() {
                return "execute".into();
            }
            assert_eq!(members(&answer), ["hookSpecificOutput"]);
            let specific = &answer["hookSpecificOutput"];
            assert_eq!(members(specific), ["hookEventName", "permissionDecision", "permissionDecisionReason"]);
            assert_eq!(specific["hookEventName"], "PreToolUse");
            (&specific["permissionDecision"], &specific["permissionDecisionReason"])
        }
        "gemini" => (&answer["decision"], &answer["reason"]),
        "copilot" => (&answer["permissionDecision"], &answer["permissionDecisionReason"]),
        _ => {
            if answer["permission"] == "allow" {
                return "execute".into();
            }
            assert_eq!(
                members(&answer),
                ["agentMessage", "agent_message", "permission", "userMessage", "user_message"]
            );
            (&answer["permission"], &answer["user_message"])
        }
    };
    let reason = reason.as_str().unwrap();
    match decision.as_str().unwrap() {
        "ask" => {
            assert!(matches!(host, "claude" | "copilot"), "{host} lets a call run that it is told to ask about");
            "hold".into()
        }
        // Where the host does not ask, a HOLD is a refusal that says how a person can allow it.
        "deny" if reason.contains("stigmergate approve ") => "hold".into(),
        "deny" => "refuse".into(),
        other => panic!("decision {other}"),
    }
}
