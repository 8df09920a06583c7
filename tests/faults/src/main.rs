//! Does to a running gate what the world does: ends it at every write, fills its disk, forbids its files, corrupts them, and asks
//! what was acknowledged and what survived.
//!
//! | room | idea |
//! |---|---|
//! | [`shim`] | a small library between the program and the system that makes the n-th write go wrong |
//! | [`world`] | a home, a repository, the program, and the notes of what it acknowledged |
//! | [`report`] | what was acknowledged, survived, was lost: the table |
//! | [`kills`], [`refusals`], [`damage`], [`company`] | ends; disks and rights; bytes; many writers, clocks and versions |
//!
//! What a process has acknowledged is kept outside the store, and every store is read and replayed by the library afterwards.

mod company;
mod damage;
mod kills;
mod refusals;
mod report;
mod shim;
mod world;

use clap::Parser;
use report::Row;
use shim::Shim;
use std::path::PathBuf;
use std::process::ExitCode;

/// Any error ends the run: a fault in the harness is no result.
type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Breaks things under the gate, and counts what was acknowledged and what survived. Ends with 1 where anything was lost.
#[derive(Parser)]
struct Options {
    /// The program
    #[arg(long, default_value = "target/release/stigmergate")]
    gate: PathBuf,
    /// How many processes are killed; half of them at a write that is counted out, half at random
    #[arg(long, default_value_t = 10_000)]
    kills: u64,
    /// Of the writes that are refused, one of every so many
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// One byte of every so many of a small store is changed
    #[arg(long, default_value_t = 1)]
    stride: usize,
    /// Commands of each of the sixteen writers
    #[arg(long, default_value_t = 100)]
    commands: u64,
}

fn main() -> ExitCode {
    if !cfg!(target_os = "linux") {
        eprintln!("the faults need the loader of Linux; nothing was tried here");
        return ExitCode::from(2);
    }
    let options = Options::parse();
    match run(&options) {
        Ok(rows) => {
            print!("{}", report::table(&rows));
            ExitCode::from(u8::from(rows.iter().any(Row::is_bad)))
        }
        Err(error) => {
            eprintln!("the harness failed: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<Vec<Row>, Failed> {
    let folder = tempfile::tempdir()?;
    let shim = Shim::build(folder.path())?;
    let gate = std::fs::canonicalize(&options.gate)
        .map_err(|error| format!("{}: {error}; build it first", options.gate.display()))?;
    let half = options.kills.div_ceil(2);
    type Scene<'s> = (&'s str, Box<dyn Fn() -> Result<Vec<Row>, Failed> + Sync + 's>);
    let scenes: Vec<Scene<'_>> = vec![
        ("kills at each write", Box::new(|| Ok(vec![kills::at_each_write(&gate, &shim, half)?]))),
        ("kills at random", Box::new(|| Ok(vec![kills::at_random(&gate, half)?]))),
        ("refusals", Box::new(|| refusals::all(&gate, &shim, options.every))),
        ("damage", Box::new(|| damage::all(&gate, options.stride))),
        ("company", Box::new(|| company::all(&gate, options.commands))),
    ];
    // Each has worlds of its own, and mostly waits for processes.
    let found = std::thread::scope(|scope| {
        let begun: Vec<_> = scenes.iter().map(|(name, scene)| (name, scope.spawn(scene))).collect();
        let ended = begun.into_iter().map(|(name, scene)| {
            let rows = scene.join().unwrap_or_else(|_| Err("it panicked".into()));
            eprintln!("{name}: done");
            rows
        });
        ended.collect::<Result<Vec<_>, Failed>>()
    })?;
    Ok(found.into_iter().flatten().collect())
}
