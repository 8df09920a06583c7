//! `stigmergate-conform --surface NAME FILE...`: runs files of vectors through a surface and compares what it answers.
//!
//! A file holds a JSON object a line; its `kind` says what it is. A surface is anything that can do what [`rows::Surface`] asks, so
//! that every binding runs the same rows. The last line is "N passed, M failed"; the exit code is 1 on a mismatch, 2 on a file that
//! cannot be read.

mod native;
mod rows;

use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

/// Run vectors through a surface of stigmergate.
#[derive(Parser)]
struct Arguments {
    /// The surface.
    #[arg(long, value_enum)]
    surface: SurfaceName,
    /// Files with a JSON object a line.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum SurfaceName {
    /// The Rust crate itself.
    Native,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let surface = match arguments.surface {
        SurfaceName::Native => native::Native,
    };
    let mut passed = 0_u64;
    let mut failed = 0_u64;
    for file in &arguments.files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                return ExitCode::from(2);
            }
        };
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match rows::run(&surface, line) {
                Ok(()) => passed = passed.saturating_add(1),
                Err(mismatch) => {
                    failed = failed.saturating_add(1);
                    println!("{}:{}: {mismatch}", file.display(), number.saturating_add(1));
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
