//! Reads what a tool call would do.

pub mod shell;
