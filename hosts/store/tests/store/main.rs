//! What a store holds, against everything that happens to files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod commands;
mod damage;
mod exact;
mod files;
mod forger;
mod journal;
mod ledger;
mod processes;
mod support;
mod transfer;
