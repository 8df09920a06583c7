//! The command of the settings, started the way the host starts it, with events of the host's own form.
//!
//! Nothing that an event names is run, and the store is one in a temporary folder, so that the journal hears nothing of it.

use super::Check;
use super::settings::Asking;
use crate::commands::host::hooks::Started;
use crate::commands::host::line::{Quoting, line};
use crate::commands::host::table::{Form, Launch, Moment};
use crate::gate::{Gate, show};
use crate::screen::plain;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use stigmergate_intake::hosts::Host;
use stigmergate_store::{Options, Store};

/// Reading is never asked about.
const READ: &str = "ls";
/// What every policy stops.
const STOPPED: &str = "rm -rf ~";
/// Longer than any answer takes, shorter than a person's patience.
const LONGEST: Duration = Duration::from_secs(10);
/// An answer that takes longer is felt at every call.
const SLOW: u64 = 1000;

/// Tries each command once that the settings name.
pub(super) fn checks(gate: &Gate, form: &'static Form, before: &[Asking]) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut tried: Vec<&Started> = Vec::new();
    for asking in before {
        let started = &asking.standing.started;
        if tried.contains(&started) {
            continue;
        }
        tried.push(started);
        match program(gate, form, asking) {
            Ok(notes) => {
                checks.extend(notes);
                checks.extend(other_store(gate, form, asking));
                let tried = attempt(gate, form, asking);
                checks.extend(slow(form, &tried));
                checks.push(tried);
            }
            Err(check) => checks.push(*check),
        }
    }
    checks
}

/// Whether the program is there and may be started; with what a person should know of it.
fn program(gate: &Gate, form: &Form, asking: &Asking) -> Result<Option<Check>, Box<Check>> {
    let name = form.host.name();
    let program = &asking.standing.started.program;
    let again = format!("`stigmergate init {name} {}`", asking.place.scope.flag());
    let Some(found) = find(gate, program) else {
        let text = format!("there is no program `{program}`, which {} names: the hook cannot run", show(&asking.file));
        return Err(Box::new(Check::failure(name, "program_missing", text).advising(again).in_file(&asking.file)));
    };
    let this = std::env::current_exe().and_then(fs::canonicalize).ok();
    if this.as_ref() == Some(&found) {
        return Ok(None);
    }
    // A repository can bring a program and settings that name it. The host would start it; that is no reason to do so here.
    if found.starts_with(&gate.locations.root) {
        let text = format!(
            "{} names a program inside the repository, {}; it was not started",
            show(&asking.file),
            show(&found)
        );
        return Err(Box::new(
            Check::failure(name, "program_in_repository", text).advising(again).in_file(&asking.file),
        ));
    }
    let version =
        run(Command::new(&found).arg("--version"), "").map(|ran| ran.out.trim().to_owned()).unwrap_or_default();
    let own = format!("stigmergate {}", env!("CARGO_PKG_VERSION"));
    let text = if version == own {
        return Ok(None);
    } else {
        format!("{} starts {} ({}); this is {own}", show(&asking.file), show(&found), plain(&version))
    };
    Ok(Some(Check::warning(name, "other_version", text).advising(again).in_file(&asking.file)))
}

/// The file that a program's name leads to.
fn find(gate: &Gate, program: &str) -> Option<PathBuf> {
    let path = Path::new(program);
    let found = if path.components().count() > 1 {
        Some(gate.locations.root.join(path))
    } else {
        let name =
            if cfg!(windows) && path.extension().is_none() { format!("{program}.exe") } else { program.to_owned() };
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).map(|folder| folder.join(&name)).find(|file| file.is_file())
    };
    found.and_then(|file| fs::canonicalize(file).ok()).filter(|file| file.is_file())
}

/// The store that a hook names, where it is not the one that is looked at here.
fn other_store(gate: &Gate, form: &Form, asking: &Asking) -> Option<Check> {
    let named = store_of(&asking.standing.started.arguments)?;
    (Path::new(&named) != gate.locations.store).then(|| {
        let text =
            format!("the hook in {} writes to another store than this one: {}", show(&asking.file), plain(&named));
        let advice = format!("`stigmergate doctor --store {}` looks at that one", plain(&named));
        Check::warning(form.host.name(), "other_store", text).advising(advice).in_file(&asking.file)
    })
}

fn store_of(arguments: &[String]) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == "--store" || argument.starts_with("--store="))?;
    let argument = arguments.get(at)?;
    argument
        .strip_prefix("--store=")
        .or_else(|| arguments.get(at.checked_add(1)?).map(String::as_str))
        .map(str::to_owned)
}

/// The arguments with a store of the trial's own.
fn with_store(arguments: &[String], store: &str) -> Vec<String> {
    let mut changed = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--store" {
            _ = rest.next();
        } else if !argument.starts_with("--store=") {
            changed.push(argument.clone());
        }
    }
    changed.extend(["--store".to_owned(), store.to_owned()]);
    changed
}

/// What the command did.
struct Ran {
    code: Option<i32>,
    out: String,
    complaint: String,
    milliseconds: u64,
}

/// What an answer means to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Through,
    Asks,
    Denies,
    /// Nothing that the host would understand.
    Unclear,
}

fn attempt(gate: &Gate, form: &Form, asking: &Asking) -> Check {
    let name = form.host.name();
    let line = asking.standing.started.words().join(" ");
    let failed = |what: String| {
        let text = format!("`{line}` was tried: {what}");
        Check::failure(name, "tried", text)
            .advising("see what it says when it is started by hand")
            .in_file(&asking.file)
    };
    let trial = match Trial::new(gate, form, asking) {
        Ok(trial) => trial,
        Err(error) => return failed(format!("no temporary folder can be had: {error}")),
    };
    let tried = match trial.all() {
        Ok(tried) => tried,
        Err(what) => return failed(what),
    };
    let (read, stopped, after) = (tried.read.milliseconds, tried.stopped.milliseconds, tried.after.milliseconds);
    let slowest = read.max(stopped).max(after);
    let held = if tried.stopped.answer == Answer::Asks { "is held" } else { "is refused" };
    let text = if tried.read.answer == Answer::Through {
        format!(
            "`{line}` was tried: a read passes ({read} ms), `{STOPPED}` {held} ({stopped} ms), an outcome is taken ({after} ms)"
        )
    } else {
        format!("`{line}` was tried: it stops even `{READ}`; do rules of yours say so?")
    };
    let check = if tried.read.answer != Answer::Through {
        Check::warning(name, "tried", text)
    } else if !tried.linked {
        Check::warning(name, "tried", text + ", but not as that of the read")
    } else {
        Check::ok(name, "tried", text)
    };
    Check { milliseconds: Some(slowest), ..check.in_file(&asking.file) }
}

fn slow(form: &Form, tried: &Check) -> Option<Check> {
    let slowest = tried.milliseconds.filter(|milliseconds| *milliseconds > SLOW)?;
    let text = format!("the slowest answer took {slowest} ms, for which every call waits");
    Some(
        Check::warning(form.host.name(), "slow", text)
            .advising("look what else keeps the machine busy, then try again"),
    )
}

/// The three tries of a command.
struct Tried {
    read: Try,
    stopped: Try,
    after: Try,
    /// The outcome was understood to be that of the read.
    linked: bool,
}

struct Try {
    answer: Answer,
    milliseconds: u64,
}

struct Trial<'a> {
    form: &'a Form,
    asking: &'a Asking,
    root: &'a Path,
    folder: tempfile::TempDir,
}

impl<'a> Trial<'a> {
    fn new(gate: &'a Gate, form: &'a Form, asking: &'a Asking) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("stigmergate-doctor-").tempdir()?;
        Ok(Self { form, asking, root: &gate.locations.root, folder })
    }

    /// Before a read, before an act that must be stopped, and after the read.
    fn all(&self) -> Result<Tried, String> {
        let read = self.ask(Moment::Before, READ, "doctor-1")?;
        let stopped = self.ask(Moment::Before, STOPPED, "doctor-2")?;
        if stopped.answer == Answer::Through {
            return Err(format!("it lets `{STOPPED}` through"));
        }
        if stopped.answer == Answer::Asks && !self.form.host.asks() {
            let title = self.form.host.title();
            return Err(format!(
                "it only asks about `{STOPPED}`, and {title} lets a call run that it is told to ask about"
            ));
        }
        let after = self.ask(Moment::After, READ, "doctor-1")?;
        let options = Options { read_only: true, ..Options::default() };
        let incidents = Store::open_existing(&self.store(), &options).and_then(|store| store.incident_count());
        Ok(Tried { read, stopped, after, linked: incidents.is_ok_and(|incidents| incidents == 0) })
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store.db")
    }

    fn ask(&self, moment: Moment, command: &str, call: &str) -> Result<Try, String> {
        let started = &self.asking.standing.started;
        let arguments = with_store(&started.arguments, &self.store().display().to_string());
        let mut hook = self::command(self.form, &Started { arguments, ..started.clone() });
        let ran = run(hook.current_dir(self.root), &self.event(moment, command, call).to_string())
            .map_err(|error| format!("it cannot be started: {error}"))?;
        let milliseconds = ran.milliseconds;
        match (ran.code, moment, answer(self.form.host, &ran.out)) {
            (Some(0), Moment::Before, Answer::Unclear) => {
                Err(format!("its answer is not one that {} knows", self.form.host.title()))
            }
            (Some(0), _, answer) => Ok(Try { answer, milliseconds }),
            _ => Err(ran.failure()),
        }
    }

    /// An event as the host writes it.
    fn event(&self, moment: Moment, command: &str, call: &str) -> Value {
        let name = self.form.events.iter().find(|event| event.moment == moment).map_or("", |event| event.name);
        let root = self.root.display().to_string();
        let tool = self.form.shell_tool;
        let session = "stigmergate-doctor";
        let (mut event, result) = match self.form.host {
            Host::Claude => (
                json!({
                    "session_id": session, "transcript_path": "", "cwd": root, "permission_mode": "default",
                    "hook_event_name": name, "tool_name": tool, "tool_input": {"command": command}, "tool_use_id": call
                }),
                json!({"tool_response": {"stdout": "", "stderr": "", "interrupted": false}}),
            ),
            Host::Codex => (
                json!({
                    "session_id": session, "turn_id": "doctor", "transcript_path": null, "cwd": root, "model": "none",
                    "permission_mode": "default", "hook_event_name": name, "tool_name": tool,
                    "tool_input": {"command": command}, "tool_use_id": call
                }),
                json!({"tool_response": ""}),
            ),
            Host::Gemini => (
                json!({
                    "session_id": session, "transcript_path": "", "cwd": root, "timestamp": "1970-01-01T00:00:00.000Z",
                    "hook_event_name": name, "tool_name": tool, "tool_input": {"command": command}
                }),
                json!({"tool_response": {"llmContent": "Exit Code: 0", "returnDisplay": ""}}),
            ),
            Host::Copilot => (
                json!({
                    "sessionId": session, "timestamp": 0, "cwd": root, "toolName": tool, "toolArgs": json!({"command": command}).to_string()
                }),
                json!({"toolResult": {"resultType": "success", "textResultForLlm": ""}}),
            ),
            Host::Cursor => (
                json!({
                    "conversation_id": session, "generation_id": "doctor", "model": "none", "hook_event_name": name,
                    "cursor_version": "0", "workspace_roots": [root], "user_email": null, "transcript_path": null,
                    "tool_name": tool, "tool_input": {"command": command, "working_directory": root}, "tool_use_id": call,
                    "cwd": root
                }),
                json!({"tool_output": "{\"exitCode\":0,\"stdout\":\"\"}", "duration": 1}),
            ),
        };
        if let (Moment::After | Moment::Failed, Some(event), Value::Object(result)) =
            (moment, event.as_object_mut(), result)
        {
            event.extend(result);
        }
        event
    }
}

/// Runs a program with a text on its standard input, for a bounded time.
fn run(command: &mut Command, input: &str) -> io::Result<Ran> {
    // Files, since a pipe stays open as long as anything that was started holds it.
    let (mut event, mut out, mut complaint) = (tempfile::tempfile()?, tempfile::tempfile()?, tempfile::tempfile()?);
    event.write_all(input.as_bytes())?;
    event.rewind()?;
    command.stdin(event).stdout(out.try_clone()?).stderr(complaint.try_clone()?);
    let begun = Instant::now();
    let mut child = command.spawn()?;
    let code = loop {
        if let Some(status) = child.try_wait()? {
            break status.code();
        }
        if begun.elapsed() > LONGEST {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let text = |file: &mut fs::File| {
        file.rewind()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        io::Result::Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Ran { code, out: text(&mut out)?, complaint: text(&mut complaint)?, milliseconds })
}

impl Ran {
    fn failure(&self) -> String {
        let said = self.complaint.lines().find(|line| !line.trim().is_empty()).map(plain).unwrap_or_default();
        match self.code {
            None => format!("it gave no answer within {} s", LONGEST.as_secs()),
            Some(code) => format!("it ended with {code}: {said}"),
        }
    }
}

/// The command as the host starts it.
fn command(form: &Form, started: &Started) -> Command {
    let Launch::Line(keys) = &form.launch else {
        let mut command = Command::new(&started.program);
        command.args(&started.arguments);
        return command;
    };
    let of_platform = |shell: &&(&str, Quoting)| (shell.1 == Quoting::Posix) != cfg!(windows);
    let shell = keys.iter().find(of_platform).map_or(Quoting::Posix, |(_, shell)| *shell);
    let user_shell = || std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    let (program, flags): (String, &[&str]) = match (shell, form.host) {
        (Quoting::Cmd, _) => ("cmd.exe".to_owned(), &["/C"]),
        (Quoting::PowerShell, _) => ("powershell.exe".to_owned(), &["-NoProfile", "-NonInteractive", "-Command"]),
        (Quoting::Posix, Host::Codex) => (user_shell(), &["-lc"]),
        (Quoting::Posix, Host::Gemini | Host::Copilot) => ("bash".to_owned(), &["-c"]),
        (Quoting::Posix, _) => ("sh".to_owned(), &["-c"]),
    };
    let mut command = Command::new(program);
    command.args(flags).arg(line(&started.words(), shell));
    command
}

/// What an answer means: each host has its own place for it.
fn answer(host: Host, out: &str) -> Answer {
    if out.trim().is_empty() {
        // Silence is no JSON, which Cursor takes for a failure of the hook.
        return if host == Host::Cursor { Answer::Unclear } else { Answer::Through };
    }
    let Ok(answer) = serde_json::from_str::<Value>(out) else { return Answer::Unclear };
    let place = match host {
        Host::Claude | Host::Codex => "/hookSpecificOutput/permissionDecision",
        Host::Gemini => "/decision",
        Host::Copilot => "/permissionDecision",
        Host::Cursor => "/permission",
    };
    match answer.pointer(place).and_then(Value::as_str) {
        Some("allow") => Answer::Through,
        Some("ask") => Answer::Asks,
        Some("deny" | "block") => Answer::Denies,
        None if answer.as_object().is_some_and(serde_json::Map::is_empty) => Answer::Through,
        _ => Answer::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_only_where_its_host_reads_it() {
        let claude = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#;
        assert_eq!(answer(Host::Claude, claude), Answer::Asks);
        assert_eq!(answer(Host::Gemini, claude), Answer::Unclear);
        assert_eq!(answer(Host::Gemini, r#"{"decision":"deny","reason":"x"}"#), Answer::Denies);
        assert_eq!(answer(Host::Copilot, r#"{"permissionDecision":"ask"}"#), Answer::Asks);
        assert_eq!(answer(Host::Cursor, r#"{"permission":"allow"}"#), Answer::Through);
        for host in Host::ALL {
            assert_eq!(answer(host, "\n") == Answer::Through, host != Host::Cursor, "silence");
            assert_eq!(answer(host, "hello"), Answer::Unclear);
        }
    }

    #[test]
    fn a_trial_has_a_store_of_its_own() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for given in ["hook claude", "hook claude --store /a", "hook claude --store=/a"] {
            assert_eq!(with_store(&words(given), "/t"), words("hook claude --store /t"));
        }
        assert_eq!(store_of(&words("hook claude --store /a")), Some("/a".to_owned()));
        assert_eq!(store_of(&words("hook claude --store=/a")), Some("/a".to_owned()));
        assert_eq!(store_of(&words("hook claude")), None);
    }
}
