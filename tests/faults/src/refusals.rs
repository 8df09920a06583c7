//! A disk without room, rights that are taken away, a device that fails: the gate says no, and what it said yes to is kept.

use crate::Failed;
use crate::report::Row;
use crate::shim::{Errno, Fault, Shim};
use crate::world::{Ask, World};
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) fn all(gate: &Path, shim: &Shim, every: usize) -> Result<Vec<Row>, Failed> {
    let kinds: [(&str, &[Fault]); 4] = [
        ("disk full", &[Fault::Once(Errno::NoSpace), Fault::FromThenOn(Errno::NoSpace)]),
        ("quota reached", &[Fault::FromThenOn(Errno::Quota)]),
        ("rights revoked", &[Fault::FromThenOn(Errno::Access), Fault::FromThenOn(Errno::ReadOnly)]),
        ("device fails", &[Fault::Once(Errno::Io), Fault::FromThenOn(Errno::Io)]),
    ];
    let mut rows = Vec::new();
    for (name, faults) in kinds {
        let mut row = Row::new(name);
        for fault in faults {
            for (is_made, attests) in [(false, false), (true, false), (true, true)] {
                let state = State { is_made, attests };
                at_each_write(gate, shim, *fault, state, every, &mut row)?;
            }
        }
        rows.push(row);
    }
    rows.push(longest_file(gate, every)?);
    rows.push(nobody_reads(gate)?);
    Ok(rows)
}

/// What a store is like before the fault.
#[derive(Clone, Copy)]
struct State {
    is_made: bool,
    attests: bool,
}

/// One fault at the first write, the second, and so on until a process comes through; each kind of question for itself.
fn at_each_write(
    gate: &Path,
    shim: &Shim,
    fault: Fault,
    state: State,
    every: usize,
    row: &mut Row,
) -> Result<(), Failed> {
    let State { is_made, attests } = state;
    for ask in [Ask::Propose, Ask::Go, Ask::Never] {
        let mut world = begin(gate, is_made, attests, row)?;
        for at in (1..).step_by(every.max(1)) {
            let (folder, mark) = (world.store_folder(), world.mark());
            let question = world.start(ask, &[], |command| shim.arm(command, &folder, at, fault, &mark))?;
            world.finish(question, row)?;
            if std::fs::remove_file(&mark).is_err() {
                break;
            }
            row.faults = row.faults.saturating_add(1);
            if !is_made {
                settle(&mut world, row)?;
                world.count(row)?;
                world = begin(gate, is_made, attests, row)?;
            }
        }
        settle(&mut world, row)?;
        world.count(row)?;
    }
    Ok(())
}

fn begin(gate: &Path, is_made: bool, attests: bool, row: &mut Row) -> Result<World, Failed> {
    let mut world = World::new(gate)?;
    if attests {
        world.attest()?;
    }
    if is_made {
        // More than one, so that a snapshot is due soon.
        for _ in 0..9 {
            settle(&mut world, row)?;
        }
    }
    Ok(world)
}

/// With nothing in its way, the gate works as before.
fn settle(world: &mut World, row: &mut Row) -> Result<(), Failed> {
    let question = world.start(Ask::Propose, &[], |_| {})?;
    let output = world.finish(question, row)?;
    if output.status.code().is_none_or(|code| code >= 2) {
        row.wrong.push(format!("nothing stood in the way, and it failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(())
}

/// A limit on the length of files: the system sends a signal that would end the process.
fn longest_file(gate: &Path, every: usize) -> Result<Row, Failed> {
    let mut row = Row::new("files limited in length");
    let mut world = begin(gate, true, false, &mut row)?;
    for blocks in (0..300_u64).step_by(every.max(1)) {
        let limit = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let ask = Ask::numbered(blocks);
        let question = world.start(ask, &[], |command| wrap(command, &limit))?;
        let output = world.finish(question, &mut row)?;
        row.faults = row.faults.saturating_add(1);
        if output.status.code().is_none() {
            row.wrong.push(format!("with {blocks} blocks it was ended by a signal: {}", output.status));
        }
    }
    settle(&mut world, &mut row)?;
    world.count(&mut row)?;
    Ok(row)
}

/// Nobody can read the answer: the hook must not end as if the call may go on.
fn nobody_reads(gate: &Path) -> Result<Row, Failed> {
    let mut row = Row::new("answers that cannot be written");
    let mut world = begin(gate, true, false, &mut row)?;
    for redirection in [">&-", ">/dev/full", ">/dev/null", "2>&- >&-"] {
        let script = format!("exec \"$0\" \"$@\" {redirection}");
        let question = world.start(Ask::Never, &[], |command| wrap(command, &script))?;
        world.finish(question, &mut row)?;
        row.faults = row.faults.saturating_add(1);
    }
    for limit in ["ulimit -v 40000", "ulimit -v 60000", "ulimit -s 16"] {
        let script = format!("{limit}; exec \"$0\" \"$@\"");
        for ask in [Ask::Go, Ask::Never] {
            let question = world.start(ask, &[], |command| wrap(command, &script))?;
            world.finish(question, &mut row)?;
            row.faults = row.faults.saturating_add(1);
        }
    }
    settle(&mut world, &mut row)?;
    world.count(&mut row)?;
    Ok(row)
}

/// Has a shell start the program.
fn wrap(command: &mut Command, script: &str) {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(script).arg(command.get_program()).args(command.get_args()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    *command = shell;
}
