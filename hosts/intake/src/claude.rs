//! Claude Code: its events, and its answers.

use crate::call::ToolCall;
use crate::shell::Dialect;
use crate::tools::Tool;
use serde_json::{Map, Value, json};
use stigmergate_core::facts::Effect;

/// The host's name in ids and agents.
pub const HOST: &str = "claude";

/// An event from a hook.
#[derive(Clone, Debug)]
pub struct Event {
    kind: Kind,
    session: String,
    id: String,
    agent_type: Option<String>,
    tool: String,
    input: Map<String, Value>,
    directory: String,
    interrupted: bool,
    failed: bool,
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

impl Event {
    /// Reads an event from what the host wrote.
    ///
    /// # Errors
    /// [`EventError`] that names the field.
    pub fn read(bytes: &[u8]) -> Result<Self, EventError> {
        let whole = |expected: String| EventError { field: "", expected };
        if bytes.len() > MOST_BYTES {
            return Err(whole(format!("it has {} bytes, the most is {MOST_BYTES}", bytes.len())));
        }
        // A lone surrogate or a stray byte in a tool's text must not keep the rest from being judged.
        let text = String::from_utf8_lossy(bytes);
        let value: Value =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| whole(error.to_string()))?;
        let Value::Object(event) = value else { return Err(whole("a JSON object".into())) };
        let kind = match text_of(&event, "hook_event_name")?.as_str() {
            "PreToolUse" => Kind::Before,
            "PostToolUse" | "PostToolUseFailure" => Kind::After,
            _ => Kind::Other,
        };
        if kind == Kind::Other {
            return Ok(Self::other());
        }
        let failed = event.get("hook_event_name").and_then(Value::as_str) == Some("PostToolUseFailure");
        let input = match event.get("tool_input") {
            Some(Value::Object(input)) => input.clone(),
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(EventError { field: "tool_input", expected: "an object".into() }),
        };
        let interrupted = event.get("is_interrupt").and_then(Value::as_bool).unwrap_or(false)
            || event
                .get("tool_response")
                .and_then(|response| response.get("interrupted"))
                .and_then(Value::as_bool)
                .unwrap_or(false);
        let reported = event.get("tool_response").is_some_and(says_failed);
        let optional = |field: &str| event.get(field).and_then(Value::as_str).map(ToString::to_string);
        let session = text_of(&event, "session_id")?;
        Ok(Self {
            kind,
            session,
            id: optional("tool_use_id")
                .filter(|id| !id.trim().is_empty())
                .ok_or(EventError { field: "tool_use_id", expected: "the call's id".into() })?,
            agent_type: optional("agent_type"),
            tool: text_of(&event, "tool_name")?,
            input,
            directory: optional("cwd").unwrap_or_default(),
            interrupted,
            failed: failed || reported,
        })
    }

    fn other() -> Self {
        Self {
            kind: Kind::Other,
            session: String::new(),
            id: String::new(),
            agent_type: None,
            tool: String::new(),
            input: Map::new(),
            directory: String::new(),
            interrupted: false,
            failed: false,
        }
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
        self.failed
    }

    /// Whether a person interrupted it.
    #[must_use]
    pub const fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// The call.
    ///
    /// # Errors
    /// [`EventError`] for an input without the field that the tool needs.
    pub fn call(&self) -> Result<ToolCall<'_>, EventError> {
        Ok(ToolCall {
            host: HOST,
            session: &self.session,
            id: &self.id,
            agent_type: self.agent_type.as_deref(),
            name: &self.tool,
            tool: tool(&self.tool, &self.input)?,
            input: &self.input,
        })
    }
}

/// What a tool of Claude Code does.
fn tool<'a>(name: &'a str, input: &'a Map<String, Value>) -> Result<Tool<'a>, EventError> {
    let path = |fields: &[&'static str], effect: Effect| {
        let found = fields.iter().find_map(|field| input.get(*field)).and_then(Value::as_str);
        let field = fields.first().copied().unwrap_or("file_path");
        let expected = || EventError { field: "tool_input", expected: format!("{field}, a path") };
        found.map(|path| Tool::Files(vec![(path, effect)])).ok_or_else(expected)
    };
    let command = |dialect| {
        let text = input.get("command").and_then(Value::as_str);
        text.map(|command| Tool::Shell { command, dialect })
            .ok_or_else(|| EventError { field: "tool_input", expected: "command, a text".into() })
    };
    Ok(match name {
        "Bash" | "Monitor" => command(Dialect::Posix)?,
        "PowerShell" => command(Dialect::PowerShell)?,
        "Read" | "NotebookRead" => path(&["file_path", "notebook_path"], Effect::Read)?,
        "Edit" | "MultiEdit" => path(&["file_path"], Effect::Edit)?,
        "NotebookEdit" => path(&["notebook_path", "file_path"], Effect::Edit)?,
        "Write" => path(&["file_path"], Effect::Overwrite)?,
        "Grep" | "Glob" | "LS" => searched(input),
        "WebSearch" | "WebFetch" => Tool::Web,
        "TodoWrite"
        | "TodoRead"
        | "BashOutput"
        | "TaskOutput"
        | "ExitPlanMode"
        | "EnterPlanMode"
        | "AskUserQuestion"
        | "ToolSearch"
        | "ListMcpResourcesTool"
        | "ReadMcpResourceTool"
        | "TaskList"
        | "TaskGet"
        | "TaskCreate"
        | "TaskUpdate"
        | "Skill"
        | "LSP" => Tool::Looks,
        _ => match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            Some((server, verb)) => Tool::Mcp { verb, server },
            // Whatever it is called, a text to run is read as one.
            None => command(Dialect::Posix).unwrap_or(Tool::Other),
        },
    })
}

/// A search names places by a path, and by a pattern of names.
fn searched<'a>(input: &'a Map<String, Value>) -> Tool<'a> {
    let text = |field: &str| input.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let names = text("glob").map(|glob| glob.trim_start_matches("**/").trim_end_matches('*'));
    let named = text("path").into_iter().chain(names.filter(|name| !name.is_empty()));
    let paths: Vec<(&str, Effect)> = named.map(|path| (path, Effect::Read)).collect();
    if paths.is_empty() { Tool::Looks } else { Tool::Files(paths) }
}

/// Whether a response says of itself that it failed.
fn says_failed(response: &Value) -> bool {
    let flag = |field: &str| response.get(field).and_then(Value::as_bool);
    flag("is_error") == Some(true) || flag("isError") == Some(true) || flag("success") == Some(false)
}

fn text_of(event: &Map<String, Value>, field: &'static str) -> Result<String, EventError> {
    let found = event.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    found.map(ToString::to_string).ok_or_else(|| EventError { field, expected: "a text".into() })
}

/// How the host is answered before a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// The person is asked.
    Ask,
    /// The call does not run.
    Deny,
}

/// The answer that stops a call. To let one run, nothing is written, so that the user's own rules stay in force.
#[must_use]
pub fn stop(permission: Permission, reason: &str) -> String {
    let decision = match permission {
        Permission::Ask => "ask",
        Permission::Deny => "deny",
    };
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason}}).to_string()
}

/// A message for the person, after a call.
#[must_use]
pub fn message(text: &str) -> String {
    json!({"systemMessage": text}).to_string()
}
