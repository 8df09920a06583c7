//! The rules of the SPEC as they are seen from outside the crate, a file for each idea. A test is named for its rule.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod scene;

mod attest;
mod budget;
mod field;
mod identity;
mod judgement;
mod observed;
mod people;
mod policy;
mod properties;
mod session;
mod state;
mod trial;
