//! Attestation.

pub mod canonical;
mod encoding;
pub mod error;
pub mod note;
pub mod signer;
pub mod tree;

pub use error::Error;
