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
use stigmergate_core::policy::{Policy, Preset, about};
use stigmergate_intake::settings::{FileDigest, Settings, SourceFile, check_file};

pub(crate) fn policy(gate: &Gate, command: &PolicyCommand) -> Result<Answer, Failure> {
    match command {
        PolicyCommand::Show => show_policy(gate),
        PolicyCommand::Explain { key } => explain(gate, key),
        PolicyCommand::Diff { from, to } => diff(gate, from, to),
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
            for line in differences.iter().flat_map(|text| text.lines()) {
                _ = writeln!(text, "  {}", plain(line));
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
    let [preset, here] =
        [&Policy::preset(policy.preset), policy].map(|policy| serde_json::to_value(policy).unwrap_or_default());
    let mut lines = Vec::new();
    compare(&preset, &here, "", &mut |key, preset, here| {
        if !key.starts_with("rules.") {
            lines.push(difference_text(key, preset, here));
        }
    });
    lines
}

/// Calls `each` with every key in which two documents differ, and both values.
fn compare(from: &Value, to: &Value, path: &str, each: &mut impl FnMut(&str, &Value, &Value)) {
    match (from, to) {
        _ if from == to => {}
        (Value::Object(from), Value::Object(to)) => {
            for key in from.keys().chain(to.keys().filter(|key| !from.contains_key(*key))) {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let absent = &Value::Null;
                compare(from.get(key).unwrap_or(absent), to.get(key).unwrap_or(absent), &below, each);
            }
        }
        (from, to) => each(path, from, to),
    }
}

/// A difference on a line, of lists only what was added and taken away.
fn difference_text(key: &str, from: &Value, to: &Value) -> String {
    let (Value::Array(from), Value::Array(to)) = (from, to) else { return format!("{key}: {from} -> {to}") };
    let added = to.iter().filter(|item| !from.contains(item)).map(|item| format!("{key} + {item}"));
    let gone = from.iter().filter(|item| !to.contains(item)).map(|item| format!("{key} - {item}"));
    let lines: Vec<String> = added.chain(gone).collect();
    if lines.is_empty() { format!("{key}: another order") } else { lines.join("\n") }
}

/// A policy by the name of its preset, by its file, or as it holds here (`.`).
pub(crate) fn named(gate: &Gate, name: &str) -> Result<Policy, Failure> {
    if name == "." {
        return Ok(gate.settings()?.policy);
    }
    if let Some(preset) = Preset::ALL.into_iter().find(|preset| preset.as_str() == name) {
        return Ok(Policy::preset(preset));
    }
    let file = Path::new(name);
    if !file.exists() {
        let message =
            format!("{} is neither a settings file, nor a preset (reference, standard, strict), nor `.`", plain(name));
        return Err(Failure::absent("not_found", message).in_field("policy"));
    }
    Ok(check_file(file)?)
}

/// The key of a policy that two differ in.
#[derive(Debug, Serialize)]
struct Differing {
    key: String,
    from: serde_json::Value,
    to: serde_json::Value,
}

#[derive(Debug, Serialize)]
struct Diff {
    from: String,
    to: String,
    differences: Vec<Differing>,
}

fn diff(gate: &Gate, from: &str, to: &str) -> Result<Answer, Failure> {
    let [left, right] = [named(gate, from)?, named(gate, to)?]
        .map(|policy| (policy.digest(), serde_json::to_value(&policy).unwrap_or_default()));
    let mut differences = Vec::new();
    compare(&left.1, &right.1, "", &mut |key, from, to| {
        differences.push(Differing { key: key.to_owned(), from: from.clone(), to: to.clone() });
    });
    let diff = Diff { from: left.0.to_string(), to: right.0.to_string(), differences };
    Ok(Answer::new(gate, &diff, || {
        if diff.differences.is_empty() {
            return "no difference\n".to_owned();
        }
        let lines = diff.differences.iter().map(|one| difference_text(&one.key, &one.from, &one.to));
        lines.flat_map(|text| text.lines().map(|line| plain(line) + "\n").collect::<Vec<_>>()).collect()
    }))
}

#[derive(Serialize)]
struct Explained<'a> {
    key: &'a str,
    meaning: String,
    /// What holds here; `null` also where a table has no such name.
    here: Value,
    /// What the preset says.
    preset: Value,
}

fn explain(gate: &Gate, key: &str) -> Result<Answer, Failure> {
    let Some(meaning) = about(key) else {
        let message = format!("no policy has a key {}; `stigmergate policy show --json` has all", plain(key));
        return Err(Failure::absent("unknown_key", message).in_field("key"));
    };
    let settings = gate.settings()?;
    let [preset, here] = [&Policy::preset(settings.policy.preset), &settings.policy].map(|policy| {
        let policy = serde_json::to_value(policy).unwrap_or_default();
        policy.pointer(&format!("/{}", key.replace('.', "/"))).cloned().unwrap_or_default()
    });
    let explained = Explained { key, meaning, here, preset };
    Ok(Answer::new(gate, &explained, || {
        let value = |value: &Value| screen::cut(&value.to_string(), gate.width.saturating_sub(12).max(20));
        let mut text = screen::bold(&plain(key)) + "\n";
        text.push_str(&screen::wrap(&format!("  {}", plain(&explained.meaning)), gate.width));
        _ = writeln!(text, "  here    {}", value(&explained.here));
        _ = writeln!(text, "  preset  {}", value(&explained.preset));
        text
    }))
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
