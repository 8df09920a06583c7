//! Many writers, clocks that jump, files of other versions.

use crate::Failed;
use crate::report::Row;
use crate::world::{Ask, Random, World};
use rusqlite::Connection;
use std::path::Path;
use stigmergate_store::SCHEMA_VERSION;

pub(crate) fn all(gate: &Path, commands: u64) -> Result<Vec<Row>, Failed> {
    Ok(vec![writers(gate, commands)?, clock(gate, commands)?, versions(gate)?])
}

/// Sixteen processes at once, each followed by the next.
fn writers(gate: &Path, commands: u64) -> Result<Row, Failed> {
    let mut row = Row::new("sixteen writers");
    let mut world = World::new(gate)?;
    world.attest()?;
    for number in 0..commands {
        let mut at_work = Vec::new();
        for writer in 0..16_u64 {
            at_work.push(world.start(Ask::numbered(number.saturating_add(writer)), &[], |_| {})?);
        }
        for asked in at_work {
            let ask = asked.ask;
            let output = world.finish(asked, &mut row)?;
            row.faults = row.faults.saturating_add(1);
            if ask == Ask::Propose && output.status.code().is_none_or(|code| code >= 2) {
                row.wrong.push(format!("a writer gave up: {}", String::from_utf8_lossy(&output.stderr)));
            }
        }
    }
    world.count(&mut row)?;
    Ok(row)
}

/// A clock that goes back and forth, up to its ends.
fn clock(gate: &Path, commands: u64) -> Result<Row, Failed> {
    let mut row = Row::new("a clock that jumps");
    let mut world = World::new(gate)?;
    let mut random = Random::new(11);
    for number in 0..commands.max(20) {
        let at = match number % 4 {
            0 => 1_700_000_000_000_u64.saturating_add(random.below(1 << 40)),
            1 => random.below(1 << 41),
            2 => 0,
            _ => 1_700_000_000_000_u64.saturating_sub(random.below(1 << 39)),
        };
        let at = at.to_string();
        let question = world.start(Ask::numbered(number), &["--at", &at], |_| {})?;
        world.finish(question, &mut row)?;
        row.faults = row.faults.saturating_add(1);
    }
    world.count(&mut row)?;
    Ok(row)
}

/// Tables of an earlier version are brought up to date; those of a later one are told and left as they are.
fn versions(gate: &Path) -> Result<Row, Failed> {
    let mut row = Row::new("versions up and down");
    for earlier in 1..SCHEMA_VERSION {
        let mut world = World::new(gate)?;
        for number in 0..6 {
            let question = world.start(Ask::numbered(number), &[], |_| {})?;
            world.finish(question, &mut row)?;
        }
        let raw = Connection::open(world.store())?;
        raw.execute_batch("DROP TABLE ledger_events; DROP TABLE ledger_heads")?;
        raw.pragma_update(None, "user_version", earlier)?;
        let question = world.start(Ask::Propose, &[], |_| {})?;
        let output = world.finish(question, &mut row)?;
        if output.status.code().is_none_or(|code| code >= 2) {
            row.wrong
                .push(format!("version {earlier} was not brought up: {}", String::from_utf8_lossy(&output.stderr)));
        }
        raw.pragma_update(None, "user_version", SCHEMA_VERSION.saturating_add(1))?;
        for ask in [Ask::Propose, Ask::Go, Ask::Never] {
            let question = world.start(ask, &[], |_| {})?;
            let output = world.finish(question, &mut row)?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.code() != Some(2) || !said.contains("later") {
                row.wrong.push(format!("a later version was answered with {:?}: {said}", output.status.code()));
            }
            row.told = row.told.saturating_add(1);
        }
        raw.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        drop(raw);
        row.faults = row.faults.saturating_add(2);
        world.count(&mut row)?;
    }
    Ok(row)
}
