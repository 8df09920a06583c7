//! A decision in the host's own words.

use super::Host;
use serde_json::{Value, json};

/// How a host is told to stop a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// The person is asked.
    Ask,
    /// The call does not run.
    Deny,
}

/// What is written for the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// On standard output; empty: nothing.
    pub out: String,
    /// On standard error; empty: nothing.
    pub err: String,
}

impl Answer {
    fn out(value: &Value) -> Self {
        Self { out: value.to_string(), err: String::new() }
    }
}

impl Host {
    /// Whether the host stops a call and asks its person when it is told to. Where it does not, a HOLD is a refusal that names an id
    /// to approve. Codex and Cursor let a call run that they were told to ask about; Gemini does not document what it does.
    #[must_use]
    pub const fn asks(self) -> bool {
        matches!(self, Self::Claude | Self::Copilot)
    }

    /// Lets a call run. Nothing is said wherever that leaves the user's own rules in force.
    #[must_use]
    pub fn go(self) -> Answer {
        match self {
            Self::Claude | Self::Codex | Self::Copilot | Self::Gemini => Answer::default(),
            Self::Cursor => Answer::out(&json!({"permission": "allow"})),
        }
    }

    /// Stops a call; `reason` is for the person and for the model. Answered is the host whose settings the hook stands in.
    #[must_use]
    pub fn stop(self, permission: Permission, reason: &str) -> Answer {
        let decision = match permission {
            Permission::Ask => "ask",
            Permission::Deny => "deny",
        };
        Answer::out(&match self {
            Self::Claude | Self::Codex => json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
                "permissionDecision": decision, "permissionDecisionReason": reason}}),
            Self::Gemini => json!({"decision": decision, "reason": reason}),
            Self::Copilot => json!({"permissionDecision": decision, "permissionDecisionReason": reason}),
            // Versions differ in the spelling; each ignores the other's.
            Self::Cursor => json!({"permission": decision, "user_message": reason, "agent_message": reason,
                "userMessage": reason, "agentMessage": reason}),
        })
    }

    /// A message for the person, after a call.
    #[must_use]
    pub fn message(self, text: &str) -> Answer {
        match self {
            Self::Claude | Self::Codex | Self::Gemini => Answer::out(&json!({"systemMessage": text})),
            // They show what a hook writes on standard error, in their logs.
            Self::Copilot | Self::Cursor => Answer { out: String::new(), err: text.to_string() },
        }
    }

    /// Whether a hook that fails after a call is shown to the model by exit code 2; elsewhere that code takes the call's result away,
    /// or says nothing to anybody.
    #[must_use]
    pub const fn shows_failures(self) -> bool {
        matches!(self, Self::Claude | Self::Codex)
    }
}
