//! Sudden ends: at every write, before it and in the middle of it, and at any moment.

use crate::Failed;
use crate::report::Row;
use crate::shim::{Fault, Shim};
use crate::world::{Ask, Random, World};
use std::path::Path;
use std::time::Duration;

/// A store of some length, so that snapshots and what is brought from the log into the file are met too.
const KILLS_A_STORE: u64 = 400;
/// Of these on a store that is made anew each time, so that its making is met.
const KILLS_IN_MAKING: u64 = 80;

/// Kills at the first write, the second, and so on until a process comes through; then the next question does the same.
pub(crate) fn at_each_write(gate: &Path, shim: &Shim, kills: u64) -> Result<Row, Failed> {
    let mut row = Row::new("killed at each write");
    let mut stores = 0_u64;
    while row.faults < kills {
        let made_anew = stores % 3 == 2;
        let fault = if stores.is_multiple_of(2) { Fault::Kill } else { Fault::Torn };
        let end = kills.min(row.faults.saturating_add(if made_anew { KILLS_IN_MAKING } else { KILLS_A_STORE }));
        let mut world = begin(gate, stores)?;
        let (mut at, mut asked) = (1_u64, 0_u64);
        while row.faults < end {
            let (folder, mark) = (world.store_folder(), world.mark());
            let question =
                world.start(Ask::numbered(asked), &[], |command| shim.arm(command, &folder, at, fault, &mark))?;
            world.finish(question, &mut row)?;
            if std::fs::remove_file(&mark).is_ok() {
                (row.faults, at) = (row.faults.saturating_add(1), at.saturating_add(1));
            } else {
                // It had no more writes than that.
                (at, asked) = (1, asked.saturating_add(1));
            }
            if made_anew {
                come_back(&mut world, &mut row)?;
                world.count(&mut row)?;
                world = begin(gate, stores)?;
            }
        }
        come_back(&mut world, &mut row)?;
        world.count(&mut row)?;
        stores = stores.saturating_add(1);
    }
    Ok(row)
}

/// Three processes at once, each killed after a while of its own.
pub(crate) fn at_random(gate: &Path, kills: u64) -> Result<Row, Failed> {
    const LONGEST_MICROSECONDS: u64 = 25_000;
    let mut row = Row::new("killed at random");
    let mut random = Random::new(5);
    let mut stores = 0_u64;
    while row.faults < kills {
        let mut world = begin(gate, stores)?;
        let end = kills.min(row.faults.saturating_add(KILLS_A_STORE));
        while row.faults < end {
            let mut at_work = Vec::new();
            for _ in 0..3 {
                at_work.push(world.start(Ask::numbered(random.below(3)), &[], |_| {})?);
            }
            for mut asked in at_work {
                std::thread::sleep(Duration::from_micros(random.below(LONGEST_MICROSECONDS)));
                asked.kill()?;
                world.finish(asked, &mut row)?;
                row.faults = row.faults.saturating_add(1);
            }
        }
        come_back(&mut world, &mut row)?;
        world.count(&mut row)?;
        stores = stores.saturating_add(1);
    }
    Ok(row)
}

fn begin(gate: &Path, number: u64) -> Result<World, Failed> {
    let world = World::new(gate)?;
    if number % 2 == 1 {
        world.attest()?;
    }
    Ok(world)
}

/// The next process must find everything in order, whatever the last one left.
fn come_back(world: &mut World, row: &mut Row) -> Result<(), Failed> {
    let question = world.start(Ask::Propose, &[], |_| {})?;
    let output = world.finish(question, row)?;
    if output.status.code().is_none_or(|code| code >= 2) {
        row.wrong.push(format!("the next process failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(())
}
