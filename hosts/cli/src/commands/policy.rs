//! `policy`: what holds here, whether files are right, and which of them may loosen.

use super::{Answer, require_person};
use crate::args::PolicyCommand;
use crate::failure::{ABSENT, FOUND, Failure};
use crate::gate::{Gate, show};
use crate::screen::{self, plain};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use stigmergate_core::digest::Digest;
use stigmergate_core::glob::Glob;
use stigmergate_core::kernel::Kernel;
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_intake::settings::{FileDigest, Settings, SourceFile, check_file};

pub(crate) fn policy(gate: &Gate, command: &PolicyCommand) -> Result<Answer, Failure> {
    match command {
        PolicyCommand::Show => show_policy(gate),
        PolicyCommand::Check { file } => check(gate, file.as_deref()),
        PolicyCommand::Trust { file, yes } => trust(gate, file.as_deref(), *yes),
    }
}

/// A settings file for programs.
#[derive(Debug, Serialize)]
pub(crate) struct Source {
    path: PathBuf,
    digest: String,
    trusted: bool,
}

pub(crate) fn sources(settings: &Settings) -> Vec<Source> {
    let source = |file: &SourceFile| Source {
        path: file.path.clone(),
        digest: file.digest.as_str().to_owned(),
        trusted: file.trusted,
    };
    settings.sources.iter().map(source).collect()
}

/// Which files the policy comes from, a line each.
pub(crate) fn sources_text(settings: &Settings) -> String {
    let mut text = String::new();
    for file in &settings.sources {
        let how = if file.trusted { "" } else { "  not trusted: only what is stricter counts" };
        _ = writeln!(text, "  from {}{}", show(&file.path), screen::faint(how));
    }
    if settings.sources.is_empty() {
        text.push_str("  no settings files: the preset as it is\n");
    }
    if !settings.ignored.is_empty() {
        let keys: Vec<String> = settings.ignored.iter().map(|key| plain(key)).collect();
        _ = writeln!(text, "  does not count: {}", keys.join(", "));
        text.push_str("  read the project's file, then `stigmergate policy trust` lets it count\n");
    }
    text
}

#[derive(Serialize)]
struct Shown<'a> {
    preset: Preset,
    digest: Digest,
    sources: Vec<Source>,
    ignored: &'a [String],
    policy: &'a Policy,
}

fn show_policy(gate: &Gate) -> Result<Answer, Failure> {
    let settings = gate.settings()?;
    let policy = &settings.policy;
    let value = Shown {
        preset: policy.preset,
        digest: policy.digest(),
        sources: sources(&settings),
        ignored: &settings.ignored,
        policy,
    };
    Ok(Answer::new(gate, &value, || {
        let mut text = format!("preset {}, digest {}\n", screen::bold(policy.preset.as_str()), policy.digest());
        text.push_str(&sources_text(&settings));
        text.push_str(&rules_text(policy));
        let differences = differences(policy);
        if !differences.is_empty() {
            text.push_str("differs from the preset\n");
            for line in differences {
                _ = writeln!(text, "  {}", plain(&line));
            }
        }
        text.push_str(&screen::faint("--json has every number\n"));
        text
    }))
}

fn rules_text(policy: &Policy) -> String {
    let rules = &policy.rules;
    let globs = |globs: &[Glob]| globs.iter().map(|glob| glob.as_str().to_owned()).collect::<Vec<_>>();
    let lists = [
        ("deny", rules.deny.clone()),
        ("ask", rules.ask.clone()),
        ("allow", rules.allow.clone()),
        ("deny_paths", globs(&rules.deny_paths)),
        ("protected", globs(&rules.protected)),
    ];
    let mut text = String::new();
    for (name, list) in lists {
        for rule in list {
            _ = writeln!(text, "  {name:<10}  {}", plain(&rule));
        }
    }
    if text.is_empty() { "no rules\n".to_owned() } else { format!("rules\n{text}") }
}

/// What is not as in the preset, a line each; rules apart.
fn differences(policy: &Policy) -> Vec<String> {
    let values =
        [&Policy::preset(policy.preset), policy].map(|policy| serde_json::to_value(policy).unwrap_or_default());
    let mut lines = Vec::new();
    let [preset, here] = &values;
    compare(preset, here, "", &mut lines);
    lines
}

fn compare(preset: &Value, here: &Value, path: &str, lines: &mut Vec<String>) {
    match (preset, here) {
        _ if preset == here || path == "rules" => {}
        (Value::Object(preset), Value::Object(here)) => {
            let keys = preset.keys().chain(here.keys().filter(|key| !preset.contains_key(*key)));
            for key in keys {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let absent = &Value::Null;
                compare(preset.get(key).unwrap_or(absent), here.get(key).unwrap_or(absent), &below, lines);
            }
        }
        (Value::Array(preset), Value::Array(here)) => {
            lines.extend(here.iter().filter(|item| !preset.contains(item)).map(|item| format!("{path} + {item}")));
            lines.extend(preset.iter().filter(|item| !here.contains(item)).map(|item| format!("{path} - {item}")));
        }
        (preset, here) => lines.push(format!("{path} = {here} (preset: {preset})")),
    }
}

#[derive(Serialize)]
struct Checked {
    ok: bool,
    files: Vec<PathBuf>,
    ignored: Vec<String>,
    digest: Digest,
}

fn check(gate: &Gate, file: Option<&Path>) -> Result<Answer, Failure> {
    let found = |mut failure: Failure| {
        failure.exit = FOUND;
        failure
    };
    let (policy, files, ignored) = match file {
        Some(file) => {
            require_there(file)?;
            (check_file(file).map_err(|error| found(error.into()))?, vec![file.to_path_buf()], Vec::new())
        }
        None => {
            let settings = gate.settings().map_err(found)?;
            let files = settings.sources.iter().map(|source| source.path.clone()).collect();
            (settings.policy, files, settings.ignored)
        }
    };
    let digest = policy.digest();
    // A policy can be valid and need what this build does not have.
    Kernel::new(policy).map_err(|error| found(error.into()))?;
    let checked = Checked { ok: true, files, ignored, digest };
    Ok(Answer::new(gate, &checked, || {
        let mut text = String::new();
        for file in &checked.files {
            _ = writeln!(text, "{}: right", show(file));
        }
        if checked.files.is_empty() {
            text.push_str("no settings files: the preset as it is\n");
        }
        for key in &checked.ignored {
            _ = writeln!(text, "  {}: does not count until you trust the file", plain(key));
        }
        text
    }))
}

#[derive(Serialize)]
struct Trusted {
    file: PathBuf,
    digest: String,
}

fn trust(gate: &Gate, file: Option<&Path>, yes: bool) -> Result<Answer, Failure> {
    require_person("trusting a project's settings", yes)?;
    let file = file.unwrap_or(&gate.locations.project_file);
    require_there(file)?;
    let digest: FileDigest = gate.locations.trust(file)?;
    let trusted = Trusted { file: file.to_path_buf(), digest: digest.as_str().to_owned() };
    Ok(Answer::new(gate, &trusted, || {
        format!(
            "trusted {} as it is (SHA-256 {}…)\nonce it changes, what loosens the policy no longer counts, until you trust it again\n",
            show(file),
            digest.short()
        )
    }))
}

fn require_there(file: &Path) -> Result<(), Failure> {
    if file.exists() {
        return Ok(());
    }
    let mut failure = Failure::new("not_found", format!("there is no file {}", show(file)));
    failure.exit = ABSENT;
    Err(failure)
}
