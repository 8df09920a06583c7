//! Keeps what stigmergate was asked and answered.
#![forbid(unsafe_code)]

mod error;
mod file;
mod notes;
mod options;
mod read;
mod record;
mod repair;
mod replica;
mod schema;
mod store;

pub use error::StoreError;
pub use notes::Incident;
pub use options::{Durability, Options};
pub use read::{Order, Records};
pub use record::{RECORD_VERSION, Record};
pub use schema::SCHEMA_VERSION;
pub use store::{Applied, Store};
