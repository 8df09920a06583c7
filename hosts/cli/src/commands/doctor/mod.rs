//! `doctor`: does the host reach the gate? Found out the way the host does it, and without changing anything.
//!
//! | room | idea |
//! |---|---|
//! | [`settings`] | which settings ask the gate, and what is wrong with how they do |
//! | [`switches`] | what takes hooks out of force: switches and trust |
//! | [`probe`] | the command of the settings, started with events of the host's own form |
//! | [`gate`] | the gate's own settings, store and failures, and when each host was heard |

mod gate;
mod probe;
mod settings;
mod switches;

use super::host::table::{self, FORMS, Form};
use super::{Answer, count};
use crate::args::DoctorArgs;
use crate::failure::{DONE, FOUND, Failure};
use crate::gate::Gate;
use crate::screen;
use anstyle::AnsiColor;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use stigmergate_intake::hosts::Host;

/// What was found about one thing.
#[derive(Clone, Debug, Serialize)]
struct Check {
    /// A host's name, or `gate`.
    about: &'static str,
    /// What was looked at: a stable word.
    code: &'static str,
    state: State,
    text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    /// What the slowest of the tries took.
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    /// It works, with less than it could give.
    Warning,
    /// Calls pass without the gate, or cannot pass at all.
    Failure,
}

impl Check {
    fn new(about: &'static str, code: &'static str, state: State, text: impl Into<String>) -> Self {
        Self { about, code, state, text: text.into(), advice: None, file: None, milliseconds: None }
    }

    fn ok(about: &'static str, code: &'static str, text: impl Into<String>) -> Self {
        Self::new(about, code, State::Ok, text)
    }

    fn warning(about: &'static str, code: &'static str, text: impl Into<String>) -> Self {
        Self::new(about, code, State::Warning, text)
    }

    fn failure(about: &'static str, code: &'static str, text: impl Into<String>) -> Self {
        Self::new(about, code, State::Failure, text)
    }

    fn advising(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    fn in_file(mut self, file: &Path) -> Self {
        self.file = Some(file.to_path_buf());
        self
    }
}

#[derive(Serialize)]
struct Report {
    /// Nothing failed; there may be warnings.
    well: bool,
    failures: u64,
    warnings: u64,
    checks: Vec<Check>,
}

pub(crate) fn doctor(gate: &Gate, args: &DoctorArgs) -> Result<Answer, Failure> {
    let mut checks = Vec::new();
    let mut asking: Vec<&'static Form> = Vec::new();
    for form in args.host.map_or(FORMS.to_vec(), |host| vec![table::form(host)]) {
        let (found, asks) = of_host(gate, form);
        checks.extend(found);
        if asks {
            asking.push(form);
        } else if args.host.is_some() {
            checks.push(not_installed(form));
        }
    }
    if asking.is_empty() && args.host.is_none() {
        let text = "no host asks the gate here: it advises, and enforces nothing";
        let advice = "`stigmergate init claude` (or codex, gemini, copilot, cursor)";
        checks.push(Check::failure(gate::ABOUT, "no_host", text).advising(advice));
    }
    checks.extend(settings::read_by_others(&asking));
    checks.extend(gate::checks(gate, &asking));
    // What is found about a host stands together.
    checks.sort_by_key(|check| Host::named(check.about).map_or((1, None), |host| (0, Some(host))));
    let number = |state| checks.iter().filter(|check: &&Check| check.state == state).count() as u64;
    let (failures, warnings) = (number(State::Failure), number(State::Warning));
    let report = Report { well: failures == 0, failures, warnings, checks };
    let exit = if report.well { DONE } else { FOUND };
    Ok(Answer::new(gate, &report, || long(gate, &report)).ending(exit))
}

/// What is found about a host, and whether its settings ask the gate.
fn of_host(gate: &Gate, form: &'static Form) -> (Vec<Check>, bool) {
    let found = settings::look(gate, form);
    let asks = !found.before.is_empty();
    let mut checks = found.checks;
    if asks {
        checks.extend(switches::checks(gate, form, &found.before));
        checks.extend(probe::checks(gate, form, &found.before));
    }
    (checks, asks)
}

fn not_installed(form: &Form) -> Check {
    let name = form.host.name();
    let text = format!("{} does not ask the gate here before its calls", form.host.title());
    Check::failure(name, "not_installed", text).advising(format!("`stigmergate init {name}`"))
}

fn long(gate: &Gate, report: &Report) -> String {
    let mut text = String::new();
    let mut about = "";
    for check in &report.checks {
        if check.about != about {
            about = check.about;
            let title =
                FORMS.iter().find(|form| form.host.name() == about).map_or("The gate", |form| form.host.title());
            _ = writeln!(text, "{}", screen::bold(title));
        }
        let (color, word) = match check.state {
            State::Ok => (AnsiColor::Green, "ok"),
            State::Warning => (AnsiColor::Yellow, "warning"),
            State::Failure => (AnsiColor::Red, "failure"),
        };
        let word = screen::styled(color.on_default(), &format!("{word:<7}"));
        line(gate, &mut text, &word, &check.text);
        if let Some(advice) = &check.advice {
            line(gate, &mut text, "       ", &format!("-> {advice}"));
        }
    }
    let failures = count(report.failures, "failure", "failures");
    let warnings = count(report.warnings, "warning", "warnings");
    _ = match (report.failures, report.warnings) {
        (0, 0) => writeln!(text, "all is well"),
        (0, _) => writeln!(text, "it works; {warnings}"),
        _ => writeln!(text, "{failures}, {warnings}"),
    };
    text
}

/// One line of a check, broken where the screen ends.
fn line(gate: &Gate, text: &mut String, word: &str, line: &str) {
    const INDENT: usize = 10;
    let wrapped = screen::wrap(&screen::plain(line), gate.width.saturating_sub(INDENT));
    for (number, part) in wrapped.lines().enumerate() {
        _ = if number == 0 { writeln!(text, "  {word} {part}") } else { writeln!(text, "{:INDENT$}{part}", "") };
    }
}
