//! x
use rusqlite::Connection;
pub(crate) fn count_intact(_: &Connection) -> u64 {
    0
}
