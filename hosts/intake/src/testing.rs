//! A repository for tests, and what is concluded of calls in it.

use crate::hosts::{Event, Host};
use crate::surroundings::Surroundings;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use stigmergate_core::facts::{self, Act, FactKind};
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_core::proposal::Proposal;
use stigmergate_core::session::Memory;

/// A repository with files that are committed, changed, untracked and ignored, and a home beside it.
pub(crate) struct Scene {
    _base: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) policy: Policy,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let (root, home) = (base.join("work/repo"), base.join("home"));
        write(&home, "id", ".ssh/id_rsa");
        for file in ["src/app.ts", "src/auth/login.ts", "app/a.ts", "README.md", "package.json"] {
            write(&root, "as committed\n", file);
        }
        write(&root, "node_modules/\ndist/\n.env\n", ".gitignore");
        git(&root, &["init", "-q", "-b", "main"]);
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-qm", "init"]);
        for file in ["notes/draft.md", "dist/out.js", "node_modules/x/index.js", ".env", ".claude/settings.json"] {
            write(&root, "mine\n", file);
        }
        write(&root, "changed by somebody\n", "app/a.ts");
        Self { _base: temporary, root, home, policy: Policy::preset(Preset::Standard) }
    }

    pub(crate) fn around(&self) -> Surroundings {
        let temporary = self.root.parent().unwrap().join("temporary");
        Surroundings::new(&self.root, Some(&self.home)).with_temporary([temporary]).with_own_files([self.store()])
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home.join("store.db")
    }

    /// The proposal of a call.
    pub(crate) fn propose(&self, tool: &str, input: &Value) -> Proposal {
        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "u", "cwd": self.root,
            "tool_name": tool, "tool_input": input});
        let event = Event::read(Host::Claude, event.to_string().as_bytes()).unwrap();
        let proposal = event.call().unwrap().propose("claude:s:u", &self.around(), &self.policy);
        proposal.check(&self.policy.bounds).unwrap();
        proposal
    }

    /// The facts that follow from a call, without doubles.
    pub(crate) fn facts(&self, tool: &str, input: &Value) -> Vec<FactKind> {
        let proposal = self.propose(tool, input);
        let found = facts::observe(proposal.call.as_ref().unwrap(), &self.policy, &Memory::default());
        let mut kinds: Vec<FactKind> = found.iter().map(|seen| seen.fact.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// The facts that follow from a shell command.
    pub(crate) fn shell(&self, command: &str) -> Vec<FactKind> {
        let command =
            command.replace("{HOME}", self.home.to_str().unwrap()).replace("{DB}", self.store().to_str().unwrap());
        self.facts("Bash", &json!({"command": command}))
    }

    /// Every command of a table has just these facts.
    pub(crate) fn table(&self, rows: &[(&str, &[FactKind])]) {
        for (command, facts) in rows {
            assert_eq!(self.shell(command), *facts, "{command}");
        }
    }

    /// No command of a list has any.
    pub(crate) fn ordinary(&self, commands: &[&str]) {
        for command in commands {
            assert_eq!(self.shell(command), [], "{command}");
        }
    }

    pub(crate) fn acts(&self, command: &str) -> Vec<Act> {
        self.propose("Bash", &json!({"command": command})).call.unwrap().acts
    }
}

pub(crate) fn write(root: &Path, text: &str, file: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn git(root: &Path, arguments: &[&str]) {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
    let status = Command::new("git")
        .args(settings)
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}
