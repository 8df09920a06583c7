//! A file for each kind of thing that people do.

pub(crate) mod agents;
pub(crate) mod answer;
pub(crate) mod doctor;
pub(crate) mod host;
pub(crate) mod judge;
pub(crate) mod keys;
pub(crate) mod ledger;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod policy;
pub(crate) mod prune;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod schema;
pub(crate) mod status;
pub(crate) mod store;
pub(crate) mod watch;
pub(crate) mod why;

use crate::failure::{DONE, Failure};
use crate::gate::Gate;
use crate::screen;
use serde::Serialize;
use std::io::IsTerminal as _;

/// What a command prints, and how it ends.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) exit: u8,
}

impl Answer {
    /// The JSON for programs or the text for people.
    pub(crate) fn new(gate: &Gate, value: &impl Serialize, text: impl FnOnce() -> String) -> Self {
        Self::of(gate.json, value, text)
    }

    pub(crate) fn of(as_json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Self {
        Self { text: if as_json { screen::json(value) + "\n" } else { text() }, exit: DONE }
    }

    pub(crate) fn ending(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}

/// What coding agents set in the shells that they start.
const AGENT_VARIABLES: [&str; 6] =
    ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "CURSOR_AGENT", "COPILOT_AGENT", "OPENCODE"];

/// Whether a person is there, as far as that can be told.
fn require_person(doing: &str, yes: bool) -> Result<(), Failure> {
    // An agent's shell says whose it is. It can lie, so that this is a second line; the hook is the first.
    if let Some(variable) = AGENT_VARIABLES.into_iter().find(|variable| std::env::var_os(variable).is_some()) {
        return Err(Failure::new(
            "not_allowed",
            format!("{doing} is for people, and this shell is an agent's ({variable} is set); use a shell of your own"),
        ));
    }
    if yes || (std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        return Ok(());
    }
    let message = format!(
        "{doing} is for people, and there is no terminal here; do it in a terminal of your own, or say --yes in a program of yours"
    );
    Err(Failure::new("no_terminal", message))
}

/// `1 place`, `2 places`.
fn count(number: u64, one: &str, more: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {more}") }
}
