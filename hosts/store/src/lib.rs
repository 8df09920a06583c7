//! Keeps what stigmergate was asked and answered: every applied command with its reply, in one SQLite file.
//!
//! The journal is the truth; snapshots of the kernel only save time. So a state can always be had again, and proved: by
//! [`Store::verify`], which applies everything once more and compares. A command is one transaction, and what was acknowledged
//! survives the end of the process at any moment ([`Durability`]).
//!
//! | room | idea |
//! |---|---|
//! | `store` | one open connection, and the kernel that follows the file |
//! | `options`, `error` | how it is opened, and what can go wrong |
//! | `file`, `schema` | how a file is made and connected to, its tables and the steps between their versions |
//! | `record`, `replica` | one record and the chain that holds them, the kernel and how far it has come |
//! | `read`, `notes` | past records; incidents and small facts |
//! | `ledger`, `keys` | the signed events and heads that commands leave, and the files of the keys that sign |
//! | `layout` | a ledger as files that other tools verify |
//! | `seen`, `mend` | how far the journal is known to reach; a file whose first bytes are damaged, made readable |
//! | `verify`, `compact`, `transfer`, `repair` | the whole journal: proved, shortened, carried elsewhere, saved |
#![forbid(unsafe_code)]

mod compact;
mod error;
mod file;
mod keys;
mod layout;
mod ledger;
mod mend;
mod notes;
mod options;
mod read;
mod record;
mod repair;
mod replica;
mod schema;
mod seen;
mod store;
mod transfer;
mod verify;

pub use compact::Compacted;
pub use error::StoreError;
pub use keys::{KeyFile, KeyFolder, Keys};
pub use layout::verify_export;
pub use ledger::LedgerNodes;
pub use notes::Incident;
pub use options::{Durability, Options};
pub use read::{Order, Records};
pub use record::{RECORD_VERSION, Record};
pub use repair::Repaired;
pub use schema::SCHEMA_VERSION;
pub use store::{Applied, Store};
pub use transfer::{EXPORT_VERSION, End};
pub use verify::{Summary, Verified};
