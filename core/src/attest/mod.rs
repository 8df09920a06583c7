//! Attestation.

pub mod canonical;
pub mod checkpoint;
mod encoding;
pub mod envelope;
pub mod error;
pub mod event;
pub mod ledger;
pub mod lifecycle;
pub mod links;
pub mod note;
pub mod proof;
pub mod signer;
pub mod tiles;
pub mod tree;
pub mod verify;

pub use error::Error;
