//! A home, a repository in it, and the program.

use crate::schemas;
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a run printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let ran = Self { code: output.status.code().unwrap(), out: text(&output.stdout), err: text(&output.stderr) };
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn error(&self) -> Value {
        assert_eq!(self.out, "", "an error prints nothing else");
        serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.out.contains(text) || self.err.contains(text), "{text:?} is not in {self:?}");
        self
    }
}

pub(crate) struct Scene {
    _base: tempfile::TempDir,
    pub(crate) home: PathBuf,
    pub(crate) root: PathBuf,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(base.path()).unwrap().join("home");
        let root = home.join("loom");
        fs::create_dir_all(&root).unwrap();
        let made = Command::new("git").args(["init", "-q"]).arg(&root).status().unwrap();
        assert!(made.success());
        Self { _base: base, home, root }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stigmergate"));
        command.env_clear().env("HOME", &self.home).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let ran = Ran::of(&self.command().args(arguments).output().unwrap());
        schemas::hold_run(arguments, &ran);
        ran
    }

    pub(crate) fn run_with(&self, input: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command();
        let streams = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn().unwrap();
        // A program that has read enough closes its end.
        _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let ran = Ran::of(&child.wait_with_output().unwrap());
        schemas::hold_run(arguments, &ran);
        ran
    }

    /// Proposes, and returns the verdict.
    pub(crate) fn propose(&self, proposal: &Value) -> Value {
        let ran = self.run_with(&proposal.to_string(), &["propose", "--json"]);
        assert!(ran.code <= 1, "{ran:?}");
        ran.json()
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn write_user(&self, text: &str) {
        let folder = self.home.join(".config/stigmergate");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("stigmergate.toml"), text).unwrap();
    }

    /// The files below a folder.
    pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.flat_map(|path| if path.is_dir() { Self::files(&path) } else { vec![path] }).collect()
    }
}

/// A proposal that executes in a fresh store.
pub(crate) fn clear(id: &str) -> Value {
    serde_json::json!({
        "proposal_id": id, "agent_id": "ag-1", "action_type": "patch_file", "target": "core.parser",
        "rationale": "fix the off-by-one in the tokenizer", "rollback_plan": "git revert the one commit on the branch",
        "evidence": {"test": "test_tokenizer"}, "expected_outcome": "test_tokenizer passes",
        "tests": "pytest tests/test_tokenizer.py", "metrics": "0 failing tests"
    })
}

/// A call that is held: it would take away what cannot come back.
pub(crate) fn held(id: &str) -> Value {
    let place = serde_json::json!({"form": "path", "text": "notes.txt"});
    serde_json::json!({
        "proposal_id": id, "agent_id": "claude", "action_type": "Bash", "target": place,
        "call": {"tool": "Bash", "session": "s1", "digest": "0".repeat(64), "acts": [{
            "class": "write", "kind": "edit", "place": place, "words": ["mv", "a", "notes.txt"],
            "targets": [{"place": place, "effect": "edit", "root": "workspace", "before": "committed"}],
            "facts": [{"kind": "publishing", "detail": "a package"}]
        }]}
    })
}
