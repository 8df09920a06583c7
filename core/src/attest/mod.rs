//! Attestation.

pub mod canonical;
mod encoding;
pub mod error;
pub mod signer;
pub mod tree;

pub use error::Error;
