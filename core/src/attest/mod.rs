//! Attestation.

pub mod canonical;
mod encoding;
pub mod error;

pub use error::Error;
