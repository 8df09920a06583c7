//! Reads what a tool call would do.
