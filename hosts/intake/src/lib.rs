//! Reads what a tool call would do.

pub mod places;
pub mod repository;
pub mod settings;
