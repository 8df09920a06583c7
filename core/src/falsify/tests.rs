//! What holds for all checks together.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod hostile;
mod oracle;
mod vectors;
