//! A file for each kind of thing that people do.

pub mod answer;
pub mod host;
pub mod judge;
pub mod log;
pub mod policy;
pub mod status;
pub mod why;

use crate::failure::{DONE, Failure};
use crate::gate::Gate;
use crate::screen;
use serde::Serialize;
use std::io::IsTerminal as _;

/// What a command prints, and how it ends.
#[derive(Debug)]
pub struct Answer {
    pub text: String,
    pub exit: u8,
}

impl Answer {
    /// The JSON for programs or the text for people.
    pub fn new(gate: &Gate, value: &impl Serialize, text: impl FnOnce() -> String) -> Self {
        Self::of(gate.json, value, text)
    }

    pub fn of(as_json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Self {
        let mut text = if as_json { screen::json(value) } else { text() };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Self { text, exit: DONE }
    }

    pub fn ending(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}

/// Whether a person is there, as far as that can be told.
fn require_person(doing: &str, yes: bool) -> Result<(), Failure> {
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
