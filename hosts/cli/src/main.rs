//! `stigmergate`: judge what agents propose, see why, answer what waits.
//!
//! | room | idea |
//! |---|---|
//! | [`args`] | what can be typed |
//! | [`gate`] | the store of this place, under the policy that holds here |
//! | [`commands`] | a file for each kind of thing that people do |
//! | [`hook`] | a host's event in, the host's own answer out |
//! | [`json_text`] | changes to a settings file that leave the rest as it was |
//! | [`ending`] | what the system would end the process with |
//! | [`screen`], [`progress`], [`failure`] | what reaches the terminal |

mod args;
mod commands;
mod ending;
mod failure;
mod gate;
mod hook;
mod json_text;
mod progress;
mod screen;

use args::{Cli, Color, Command, Common};
use clap::{CommandFactory as _, Parser as _};
use commands::Answer;
use failure::{DONE, FAILED, Failure};
use gate::Gate;
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    ending::survive_long_files();
    // Before anything is read: already that can meet a limit of the system.
    if std::env::args_os().any(|argument| argument == "hook") {
        ending::end_with(FAILED);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    if let Some(Command::Hook(args)) = &cli.command {
        return hook::run(args, &cli.common);
    }
    match run(&cli) {
        Ok(answer) => print(&answer, cli.common.color),
        Err(failure) => report(&failure, &cli.common),
    }
}

fn run(cli: &Cli) -> Result<Answer, Failure> {
    if let Some(Command::Completions(args)) = &cli.command {
        let mut script = Vec::new();
        clap_complete::generate(args.shell, &mut Cli::command(), "stigmergate", &mut script);
        return Ok(Answer { text: String::from_utf8_lossy(&script).into_owned(), exit: DONE });
    }
    if let Some(Command::Man(args)) = &cli.command {
        return commands::man::man(cli.common.json, args);
    }
    if let Some(Command::Schema(args)) = &cli.command {
        return commands::schema::schema(cli.common.json, args);
    }
    let gate = Gate::here(&cli.common, width())?;
    match &cli.command {
        None => commands::status::overview(&gate),
        Some(Command::Status) => commands::status::status(&gate),
        Some(Command::Log(args)) => commands::log::log(&gate, args),
        Some(Command::Why(args)) => commands::why::why(&gate, args),
        Some(Command::Hot(args)) => commands::log::hot(&gate, args),
        Some(Command::Approve(args)) => commands::answer::approve(&gate, args),
        Some(Command::Deny(args)) => commands::answer::deny(&gate, args),
        Some(Command::Policy(args)) => commands::policy::policy(&gate, &args.command),
        Some(Command::Propose(args)) => commands::judge::propose(&gate, args),
        Some(Command::Outcome(args)) => commands::judge::outcome(&gate, args),
        Some(Command::Authorize(args)) => commands::judge::authorize(&gate, args),
        Some(Command::Receipt(args)) => commands::judge::receipt(&gate, args),
        Some(Command::Keys(args)) => commands::keys::keys(&gate, &args.command),
        Some(Command::Store(args)) => commands::store::store(&gate, args),
        Some(Command::Ledger(args)) => commands::ledger::ledger(&gate, &args.command),
        Some(Command::Tick(args)) => commands::judge::tick(&gate, args),
        Some(Command::Init(args)) => commands::host::init(&gate, args),
        Some(Command::Uninstall(args)) => commands::host::uninstall(&gate, args),
        Some(Command::Doctor(args)) => commands::doctor::doctor(&gate, args),
        Some(Command::Report(args)) => commands::report::report(&gate, args),
        Some(Command::Agents(args)) => commands::agents::agents(&gate, args),
        Some(Command::Budget(args)) => commands::agents::budget(&gate, args),
        Some(Command::Replay(args)) => commands::replay::replay(&gate, args),
        Some(Command::Prune(args)) => commands::prune::prune(&gate, args),
        Some(Command::Watch(args)) => commands::watch::watch(&gate, args, cli.common.color),
        Some(Command::Completions(_) | Command::Man(_) | Command::Schema(_) | Command::Hook(_)) => {
            Err(Failure::new("usage", "handled above"))
        }
    }
}

/// The terminal's width; 80 where there is none.
fn width() -> usize {
    terminal_size::terminal_size().map_or(80, |(terminal_size::Width(width), _)| usize::from(width).clamp(40, 200))
}

fn print(answer: &Answer, color: Color) -> ExitCode {
    let stdout = std::io::stdout();
    let choice = match color {
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
        Color::Auto => anstream::AutoStream::choice(&stdout),
    };
    let mut out = anstream::AutoStream::new(stdout.lock(), choice);
    match out.write_all(answer.text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::from(answer.exit),
        // Whoever read has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(answer.exit),
        Err(error) => {
            say(&format!("error: the answer cannot be written: {error}\n"));
            ExitCode::from(FAILED)
        }
    }
}

#[derive(Serialize)]
struct ReportedFailure<'a> {
    code: &'a str,
    field: Option<&'a str>,
    message: &'a str,
}

fn report(failure: &Failure, common: &Common) -> ExitCode {
    if common.json {
        let reported =
            ReportedFailure { code: &failure.code, field: failure.field.as_deref(), message: &failure.message };
        say(&(screen::json(&reported) + "\n"));
    } else {
        say(&format!("error: {}\n", screen::plain(&failure.message)));
    }
    ExitCode::from(failure.exit)
}

/// What clap has to say: help and versions are answers, the rest is wrong usage.
fn usage(error: &clap::Error) -> ExitCode {
    let as_json = std::env::args_os().any(|argument| argument == "--json");
    if error.use_stderr() && as_json {
        let text = error.render().to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        say(&(screen::json(&ReportedFailure { code: "usage", field: None, message }) + "\n"));
        return ExitCode::from(FAILED);
    }
    _ = error.print();
    ExitCode::from(if error.use_stderr() { FAILED } else { DONE })
}

/// Writes to standard error; where that is gone, nobody is left to be told.
fn say(text: &str) {
    _ = std::io::stderr().lock().write_all(text.as_bytes());
}
