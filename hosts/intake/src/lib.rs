//! Reads what a tool call would do, and hands it to the core as facts. It observes; the core judges.
//!
//! | room | idea |
//! |---|---|
//! | [`hosts`] | each host's events and answers |
//! | [`call`] | a call as a proposal, and what became of it as an observation |
//! | `tools` | what a tool does, whatever its host calls it |
//! | [`shell`] | shell text, read as a shell reads it |
//! | `commands` | a command as an act, by the policy's table and by looking |
//! | `targets`, [`places`], [`repository`] | places under one name, and what git knows of them |
//! | `scripts` | files that a command runs, as far as they are to be read |
//! | `sql`, `patch`, `redact` | statements in words; files in patches; secrets out of both |
//! | [`surroundings`] | where a call happens |
//! | [`settings`] | where things are, and which policy holds there |
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod call;
mod commands;
pub mod hosts;
mod patch;
pub mod places;
mod redact;
pub mod repository;
mod scripts;
pub mod settings;
pub mod shell;
mod sql;
pub mod surroundings;
mod targets;
#[cfg(test)]
mod testing;
mod tools;

pub use tools::Tool;
