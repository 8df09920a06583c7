//! A host's event, whatever its fields are called.
//!
//! The hosts tell the same things under different names, and some under two (`toolName` and `tool_name`). A field is found by any of
//! its names, in snake case or camel case, so that one reader serves all.

use super::Host;
use super::vocabulary::{self, Meaning};
use crate::call::ToolCall;
use serde_json::{Map, Value};

/// An event from a hook.
#[derive(Clone, Debug)]
pub struct Event {
    host: Host,
    kind: Kind,
    session: String,
    id: Option<String>,
    agent_type: Option<String>,
    tool: String,
    /// The server of a served tool and its name there, where the event says so.
    served: Option<(String, String)>,
    input: Map<String, Value>,
    directory: String,
    outcome: Outcome,
}

/// What an event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call is about to run.
    Before,
    /// A call has run.
    After,
    /// Anything else that a hook may be installed for.
    Other,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Worked,
    Failed,
    /// A person interrupted it.
    Interrupted,
    /// It did not run: a hook or the person said no.
    NotRun,
}

/// Why a text is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventError {
    /// The field that is wrong; empty for the text as a whole.
    pub field: &'static str,
    /// What would be right.
    pub expected: String,
}

impl std::fmt::Display for EventError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.field.is_empty() {
            write!(out, "not a hook event: {}", self.expected)
        } else {
            write!(out, "not a hook event: {}: expected {}", self.field, self.expected)
        }
    }
}

impl std::error::Error for EventError {}

/// An event is not longer than this.
const MOST_BYTES: usize = 32 << 20;

/// Events before a call, as letters in lower case.
const BEFORE: [&str; 5] = ["pretooluse", "beforetool", "beforeshellexecution", "beforemcpexecution", "beforereadfile"];
/// Events after a call.
const AFTER: [&str; 5] = ["posttooluse", "posttoolusefailure", "aftertool", "aftershellexecution", "aftermcpexecution"];

impl Event {
    /// Reads an event from what the host wrote.
    ///
    /// # Errors
    /// [`EventError`] that names the field.
    pub fn read(host: Host, bytes: &[u8]) -> Result<Self, EventError> {
        let whole = |expected: String| EventError { field: "", expected };
        if bytes.len() > MOST_BYTES {
            return Err(whole(format!("it has {} bytes, the most is {MOST_BYTES}", bytes.len())));
        }
        // A lone surrogate or a stray byte in a tool's text must not keep the rest from being judged.
        let text = String::from_utf8_lossy(bytes);
        let value: Value =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| whole(error.to_string()))?;
        let Value::Object(event) = value else { return Err(whole("a JSON object".into())) };
        let event = Fields(event);
        let host = speaker(host, &event);
        let name = event_name(host, &event)?;
        let kind = match name.as_str() {
            name if BEFORE.contains(&name) => Kind::Before,
            name if AFTER.contains(&name) => Kind::After,
            _ => return Ok(Self::other(host)),
        };
        let id = event.text(&["tool_use_id", "tool_call_id"]).filter(|id| !id.trim().is_empty()).map(str::to_string);
        if id.is_none() && host.names_calls() {
            return Err(EventError { field: "tool_use_id", expected: "the call's id".into() });
        }
        let session = ["session_id", "conversation_id"];
        let told = Told::of(host, &name, &event)?;
        let outcome =
            if kind == Kind::After { outcome(host, name.ends_with("failure"), &event) } else { Outcome::Worked };
        Ok(Self {
            host,
            // What did not run has no outcome.
            kind: if outcome == Outcome::NotRun { Kind::Other } else { kind },
            session: event.needed(&session, "session_id")?,
            id,
            agent_type: event.text(&["agent_type", "subagent_type"]).map(str::to_string),
            tool: told.tool,
            served: told.served,
            input: told.input,
            directory: directory(&event),
            outcome,
        })
    }

    fn other(host: Host) -> Self {
        Self {
            host,
            kind: Kind::Other,
            session: String::new(),
            id: None,
            agent_type: None,
            tool: String::new(),
            served: None,
            input: Map::new(),
            directory: String::new(),
            outcome: Outcome::Worked,
        }
    }

    /// Who wrote it; not always the host whose settings the hook stands in.
    #[must_use]
    pub const fn host(&self) -> Host {
        self.host
    }

    /// What the event tells.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The folder in which the call runs; empty where the host does not say.
    #[must_use]
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// Whether the call failed (of an event after it).
    #[must_use]
    pub const fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed)
    }

    /// Whether a person interrupted it.
    #[must_use]
    pub const fn interrupted(&self) -> bool {
        matches!(self.outcome, Outcome::Interrupted)
    }

    /// The call.
    ///
    /// # Errors
    /// [`EventError`] for an input without the field that the tool needs.
    pub fn call(&self) -> Result<ToolCall<'_>, EventError> {
        let served = self.served.as_ref().map(|(server, verb)| (server.as_str(), verb.as_str()));
        let Meaning { common_name, tool } = vocabulary::meaning(&self.tool, served, &self.input)?;
        Ok(ToolCall {
            host: self.host.name(),
            session: &self.session,
            id: self.id.as_deref(),
            agent_type: self.agent_type.as_deref(),
            name: &self.tool,
            common_name,
            tool,
            input: &self.input,
        })
    }
}

/// The members of an event, found by any of their names.
struct Fields(Map<String, Value>);

impl Fields {
    /// The value under one of these names, each in snake case, or the same in camel case; null is none.
    fn get(&self, names: &[&str]) -> Option<&Value> {
        let found = |name: &&str| self.0.get(*name).or_else(|| self.0.get(&camel(name)));
        names.iter().find_map(|name| found(name).filter(|value| !value.is_null()))
    }

    fn text(&self, names: &[&str]) -> Option<&str> {
        self.get(names).and_then(Value::as_str)
    }

    fn needed(&self, names: &[&str], field: &'static str) -> Result<String, EventError> {
        let found = self.text(names).filter(|text| !text.is_empty());
        found.map(ToString::to_string).ok_or_else(|| EventError { field, expected: "a text".into() })
    }
}

/// `tool_name` as `toolName`.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut whole = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let mut letters = part.chars();
        whole.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        whole.push_str(letters.as_str());
    }
    whole
}

/// Who wrote an event: Cursor and Copilot also run the hooks that stand in the settings of Claude Code.
fn speaker(named: Host, event: &Fields) -> Host {
    let has = |names: &[&str]| event.get(names).is_some();
    match named {
        Host::Claude if has(&["cursor_version"]) => Host::Cursor,
        Host::Claude if has(&["timestamp"]) && !has(&["tool_use_id"]) && !has(&["transcript_path"]) => Host::Copilot,
        _ => named,
    }
}

/// The event's name as letters in lower case.
fn event_name(host: Host, event: &Fields) -> Result<String, EventError> {
    let letters = |name: &str| name.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
    // Copilot's events in camel case do not say which they are; those after a call hold its result.
    let unnamed = host == Host::Copilot && event.get(&["hook_event_name"]).is_none();
    if unnamed && event.get(&["tool_name"]).is_some() {
        let after = event.get(&["tool_result", "error"]).is_some();
        return Ok(if after { "posttooluse" } else { "pretooluse" }.to_string());
    }
    event.needed(&["hook_event_name"], "hook_event_name").map(|name| letters(&name))
}

/// What an event says of the tool.
struct Told {
    tool: String,
    served: Option<(String, String)>,
    input: Map<String, Value>,
}

impl Told {
    fn of(host: Host, name: &str, event: &Fields) -> Result<Self, EventError> {
        // Cursor has events of their own for some tools, whose input stands in the event itself.
        let own = |tool: &str, field: &'static str| {
            let text = event.needed(&[field], field)?;
            Ok(Self { tool: tool.to_string(), served: None, input: Map::from_iter([(field.to_string(), text.into())]) })
        };
        if name.ends_with("shellexecution") {
            return own("Shell", "command");
        }
        if name == "beforereadfile" {
            return own("Read", "file_path");
        }
        let tool = event.needed(&["tool_name"], "tool_name")?;
        let context = event.get(&["mcp_context"]).and_then(Value::as_object);
        let of_context = |field: &str| context.and_then(|context| context.get(field)).and_then(Value::as_str);
        let server = if name.ends_with("mcpexecution") {
            Some(event.text(&["mcp_server_name", "server_name", "server", "url", "command"]).unwrap_or(host.name()))
        } else {
            of_context("server_name")
        };
        let verb = of_context("tool_name").unwrap_or(&tool);
        let served = server.map(|server| (server.to_string(), verb.to_string()));
        Ok(Self { served, input: input(host, event.get(&["tool_input", "tool_args"]))?, tool })
    }
}

/// A tool's input: an object. Some hosts write the text of one, or a text that is the whole input.
fn input(host: Host, value: Option<&Value>) -> Result<Map<String, Value>, EventError> {
    let texts = !matches!(host, Host::Claude | Host::Gemini);
    match value {
        Some(Value::Object(input)) => Ok(input.clone()),
        None => Ok(Map::new()),
        Some(Value::String(text)) if texts => match serde_json::from_str(text) {
            Ok(Value::Object(input)) => Ok(input),
            _ if text.trim().is_empty() => Ok(Map::new()),
            // A patch is handed over as it is. Of any other text that cannot be read nobody knows what the host makes of it.
            _ if host == Host::Codex || !crate::patch::files(text).is_empty() => {
                Ok(Map::from_iter([(vocabulary::WHOLE.to_string(), text.clone().into())]))
            }
            Err(error) => Err(EventError { field: "tool_input", expected: format!("an object as JSON: {error}") }),
            Ok(_) => Err(EventError { field: "tool_input", expected: "an object".into() }),
        },
        Some(_) => Err(EventError { field: "tool_input", expected: "an object".into() }),
    }
}

/// The folder of the call; Cursor names the workspace's folders where it does not say.
fn directory(event: &Fields) -> String {
    let of_workspace = || {
        let root = event.get(&["workspace_roots"])?.get(0)?.as_str()?;
        // `/C:/work`, as Cursor writes drives.
        let drive = root.strip_prefix('/').filter(|rest| rest.as_bytes().get(1) == Some(&b':'));
        Some(drive.unwrap_or(root))
    };
    event.text(&["cwd"]).filter(|cwd| !cwd.is_empty()).or_else(of_workspace).unwrap_or_default().to_string()
}

fn outcome(host: Host, failure: bool, event: &Fields) -> Outcome {
    let response = event.get(&["tool_response", "tool_result", "tool_output", "output", "result_json"]);
    let parsed = response.and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let response = parsed.as_ref().filter(|value| value.is_object()).or(response);
    let of_response = |name: &str| response.and_then(|response| response.get(name));
    let kind = event
        .text(&["failure_type"])
        .or_else(|| ["resultType", "result_type"].into_iter().find_map(of_response).and_then(Value::as_str));
    if matches!(kind, Some("permission_denied" | "denied" | "rejected")) {
        return Outcome::NotRun;
    }
    let flag = |value: Option<&Value>| value.and_then(Value::as_bool) == Some(true);
    if flag(event.get(&["is_interrupt"])) || flag(of_response("interrupted")) {
        return Outcome::Interrupted;
    }
    let failed =
        failure || event.get(&["error"]).is_some() || response.is_some_and(|response| says_failed(host, response));
    if failed { Outcome::Failed } else { Outcome::Worked }
}

/// Whether a response says of itself that it failed.
fn says_failed(host: Host, response: &Value) -> bool {
    if let Some(text) = response.as_str() {
        return host.tells_exit_in_text() && exit_in(text);
    }
    let Some(members) = response.as_object() else { return false };
    members.iter().any(|(name, value)| match name.as_str() {
        "is_error" | "isError" => value.as_bool() == Some(true),
        "success" => value.as_bool() == Some(false),
        "exit_code" | "exitCode" => value.as_i64().is_some_and(|code| code != 0),
        "resultType" | "result_type" => matches!(value.as_str(), Some("failure" | "failed" | "error" | "timeout")),
        "error" => !matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some(""),
        "metadata" => value.is_object() && says_failed(host, value),
        "output" | "llmContent" | "textResultForLlm" | "text_result_for_llm" => {
            value.is_string() && says_failed(host, value)
        }
        _ => false,
    })
}

impl Host {
    /// Whether a shell's exit code stands in the text of a response, and nowhere else.
    const fn tells_exit_in_text(self) -> bool {
        !matches!(self, Self::Claude)
    }
}

/// Whether the last line of a response that names an exit code names one of failure.
fn exit_in(text: &str) -> bool {
    const BEGINS: [&str; 6] =
        ["exit code", "exited with", "process exited", "command exited", "shellid:", "detached command"];
    let code = |line: &str| {
        let line = line.trim().trim_start_matches('<').to_ascii_lowercase();
        BEGINS.iter().find(|begin| line.starts_with(**begin))?;
        let rest = line.split_once("exit code").or_else(|| line.split_once(" with code"))?.1;
        let number = rest.trim_start_matches([':', ' ']);
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(number.len());
        number.get(..end)?.parse::<i64>().ok()
    };
    text.lines().rev().find_map(code).is_some_and(|code| code != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(host: Host, event: &Value) -> Event {
        Event::read(host, event.to_string().as_bytes()).unwrap()
    }

    fn with(event: &Value, more: &Value) -> Value {
        let mut event = event.clone();
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    }

    fn after(host: Host, name: &str, more: &Value) -> Event {
        let event = json!({"hook_event_name": name, "session_id": "s", "tool_use_id": "u", "cwd": "/w", "tool_name": "Bash",
            "tool_input": {"command": "make"}});
        read(host, &with(&event, more))
    }

    #[test]
    fn a_call_is_found_whatever_its_fields_are_called() {
        let copilot = json!({"sessionId": "s", "timestamp": 1, "cwd": "/w", "toolName": "bash", "toolArgs": "{\"command\": \"ls\"}"});
        let cursor = json!({"conversation_id": "s", "hook_event_name": "beforeShellExecution", "command": "ls",
            "workspace_roots": ["/w"]});
        let gemini = json!({"session_id": "s", "cwd": "/w", "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
            "tool_input": {"command": "ls"}});
        let codex = json!({"session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": "shell",
            "tool_use_id": "u", "tool_input": {"command": ["ls"]}});
        for (host, event) in
            [(Host::Copilot, copilot), (Host::Cursor, cursor), (Host::Gemini, gemini), (Host::Codex, codex)]
        {
            let event = read(host, &event);
            assert_eq!((event.kind(), event.directory()), (Kind::Before, "/w"), "{host:?}");
            let call = event.call().unwrap();
            assert_eq!((call.session, &*call.common_name), ("s", "Bash"), "{host:?}");
            assert!(matches!(&call.tool, crate::Tool::Shell { command, .. } if command == "ls"), "{host:?}");
        }
    }

    #[test]
    fn the_tools_of_servers_have_one_name_in_all_hosts() {
        let gemini = json!({"session_id": "s", "hook_event_name": "BeforeTool", "tool_name": "mcp_git_hub_push", "tool_input": {},
            "mcp_context": {"server_name": "git_hub", "tool_name": "push"}});
        let cursor = json!({"session_id": "s", "hook_event_name": "beforeMCPExecution", "tool_name": "push", "tool_input": "{}",
            "mcp_server_name": "git_hub", "command": "npx x"});
        let claude = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_use_id": "u", "tool_name": "mcp__git_hub__push"});
        for (host, event) in [(Host::Gemini, gemini), (Host::Cursor, cursor), (Host::Claude, claude)] {
            assert_eq!(read(host, &event).call().unwrap().common_name, "mcp__git_hub__push", "{host:?}");
        }
    }

    #[test]
    fn the_settings_of_claude_code_are_read_by_others_too() {
        let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": "Bash",
            "tool_input": {"command": "ls"}});
        let speaker = |more: &Value| read(Host::Claude, &with(&call, more)).host();
        assert_eq!(speaker(&json!({"tool_use_id": "u", "transcript_path": "/t"})), Host::Claude);
        assert_eq!(speaker(&json!({"tool_use_id": "u", "cursor_version": "3.1"})), Host::Cursor);
        assert_eq!(speaker(&json!({"timestamp": "2026-11-30T10:00:00Z"})), Host::Copilot);
    }

    #[test]
    fn a_failure_is_seen_wherever_a_host_puts_it() {
        let copilot = |text: &str| json!({"toolResult": {"resultType": "success", "textResultForLlm": text}});
        let gemini = |text: &str, error: &Value| json!({"tool_response": {"llmContent": text, "error": error}});
        let failed = [
            (Host::Claude, "PostToolUseFailure", json!({"error": "Exit code 1"})),
            (Host::Claude, "PostToolUse", json!({"tool_response": {"is_error": true}})),
            (Host::Codex, "PostToolUse", json!({"tool_response": "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno"})),
            (Host::Codex, "PostToolUse", json!({"tool_response": {"output": "x", "metadata": {"exit_code": 1}}})),
            (Host::Gemini, "AfterTool", gemini("Output: no\nExit Code: 1\nProcess Group PGID: 7", &Value::Null)),
            (Host::Gemini, "AfterTool", gemini("no", &json!({"message": "no"}))),
            (Host::Copilot, "PostToolUseFailure", json!({"error": "no"})),
            (Host::Copilot, "PostToolUse", copilot("a\n<shellId: 3 completed with exit code 2>")),
            (Host::Cursor, "postToolUseFailure", json!({"error_message": "no", "failure_type": "error"})),
            (Host::Cursor, "postToolUse", json!({"tool_output": "{\"exitCode\":1,\"stdout\":\"\"}"})),
        ];
        for (host, name, more) in failed {
            let event = after(host, name, &more);
            assert!(event.failed() && event.kind() == Kind::After, "{host:?} {more}");
        }
        let worked = [
            (Host::Claude, "PostToolUse", json!({"tool_response": {"stdout": "Exit code: 1"}})),
            (
                Host::Codex,
                "PostToolUse",
                json!({"tool_response": "Exit code: 1 is what it said\nExit code: 0\nOutput:"}),
            ),
            (Host::Gemini, "AfterTool", gemini("Output: fine", &Value::Null)),
            (Host::Copilot, "PostToolUse", copilot("<shellId: 3 completed with exit code 0>")),
            (Host::Cursor, "postToolUse", json!({"tool_output": "{\"exitCode\":0}"})),
        ];
        for (host, name, more) in worked {
            assert!(!after(host, name, &more).failed(), "{host:?} {more}");
        }
    }

    #[test]
    fn what_did_not_run_has_no_outcome() {
        let denied = after(Host::Cursor, "postToolUseFailure", &json!({"failure_type": "permission_denied"}));
        assert_eq!(denied.kind(), Kind::Other);
        let rejected = after(Host::Copilot, "PostToolUse", &json!({"toolResult": {"resultType": "rejected"}}));
        assert_eq!(rejected.kind(), Kind::Other);
    }

    #[test]
    fn an_event_without_what_it_needs_names_the_field() {
        let error = |host: Host, event: &Value| Event::read(host, event.to_string().as_bytes()).unwrap_err().field;
        let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": "ls"});
        assert_eq!(error(Host::Claude, &call), "tool_use_id");
        assert_eq!(error(Host::Gemini, &call), "tool_input");
        assert_eq!(error(Host::Cursor, &json!({"hook_event_name": "preToolUse", "tool_name": "Shell"})), "session_id");
        assert_eq!(error(Host::Copilot, &json!({"sessionId": "s"})), "hook_event_name");
        // What the reader cannot take in, the host may.
        let unreadable = r#"{"command": "rm -rf ~", "description": "\ud800"}"#;
        let call = json!({"sessionId": "s", "toolName": "bash", "toolArgs": unreadable});
        assert_eq!(error(Host::Copilot, &call), "tool_input");
    }
}
