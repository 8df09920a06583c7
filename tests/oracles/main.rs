//! What the signed ledger exports and proves, checked by code that others wrote for the same formats.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod export;
mod trees;
