//! The built program, run as people and programs run it, each time in a home of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    missing_docs
)]

mod doctor;
mod hosts;
mod judging;
mod ledger;
mod pages;
mod policy;
mod replay;
mod scene;
mod schemas;
mod store;
mod surface;
mod watch;
