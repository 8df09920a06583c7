//! A home, a repository, the program, and the notes of what it acknowledged.

use crate::Failed;
use crate::report::Row;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use stigmergate_core::kernel::Command as Applied;
use stigmergate_store::{Options, Order, Store};

/// Where a gate runs.
pub(crate) struct World {
    folder: tempfile::TempDir,
    gate: PathBuf,
    /// Only what a process said before it ended: the id, and the record's number where it said one.
    acknowledged: Vec<(String, Option<u64>)>,
    asked: u64,
}

/// A way to ask the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// `propose --json`, which says the record's number.
    Propose,
    /// The hook, with a call that may go on.
    Go,
    /// The hook, with a call that must never go on.
    Never,
}

impl Ask {
    pub(crate) const fn numbered(number: u64) -> Self {
        match number % 3 {
            0 => Self::Propose,
            1 => Self::Go,
            _ => Self::Never,
        }
    }
}

/// A question on its way.
pub(crate) struct Asked {
    pub(crate) ask: Ask,
    id: String,
    child: Child,
}

impl Asked {
    /// Ends the process; one that has ended already stays so.
    pub(crate) fn kill(&mut self) -> Result<(), Failed> {
        Ok(self.child.kill()?)
    }
}

impl World {
    pub(crate) fn new(gate: &Path) -> Result<Self, Failed> {
        let folder = tempfile::tempdir()?;
        for part in ["home", "root/.git", "store"] {
            std::fs::create_dir_all(folder.path().join(part))?;
        }
        std::fs::write(folder.path().join("root/.git/HEAD"), "ref: refs/heads/main\n")?;
        Ok(Self { folder, gate: gate.to_path_buf(), acknowledged: Vec::new(), asked: 0 })
    }

    /// Where the store and what lies beside it are.
    pub(crate) fn store_folder(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.store_folder().join("gate.db")
    }

    pub(crate) fn mark(&self) -> PathBuf {
        self.folder.path().join("mark")
    }

    /// Attests from here on: every record then has events and a signed head.
    pub(crate) fn attest(&self) -> Result<(), Failed> {
        let settings = self.folder.path().join("home/.config/stigmergate");
        std::fs::create_dir_all(&settings)?;
        std::fs::write(settings.join("stigmergate.toml"), "[attest]\nmode = \"optional\"\n")?;
        let made = self.command(&["keys", "new", "--yes", "--name", "example.org/faults"]).output()?;
        if made.status.success() { Ok(()) } else { Err(format!("keys new: {made:?}").into()) }
    }

    /// The program, as a shell or a host starts it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.gate);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.folder.path().join("home"));
        command.current_dir(self.folder.path().join("root")).args(arguments).arg("--store").arg(self.store());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn input(&self, ask: Ask, number: u64) -> (String, Value) {
        let root = self.folder.path().join("root");
        if ask == Ask::Propose {
            let id = format!("p{number}");
            let value = json!({"proposal_id": id, "agent_id": "ag", "action_type": "patch_file", "target": "core.parser",
                "rationale": "fix the off-by-one in the tokenizer"});
            return (id, value);
        }
        let command = if ask == Ask::Go { "git status" } else { "rm -rf /" };
        let value = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": root, "tool_name": "Bash",
            "tool_use_id": format!("t{number}"), "tool_input": {"command": command}});
        (format!("claude:s:t{number}"), value)
    }

    /// Starts the program with a question of its own id; `arrange` may change how.
    pub(crate) fn start(
        &mut self,
        ask: Ask,
        arguments: &[&str],
        arrange: impl FnOnce(&mut Command),
    ) -> Result<Asked, Failed> {
        self.asked = self.asked.saturating_add(1);
        let (id, input) = self.input(ask, self.asked);
        let mut words = if ask == Ask::Propose { vec!["propose", "--json"] } else { vec!["hook", "claude"] };
        words.extend(arguments);
        let mut command = self.command(&words);
        command.stdin(Stdio::piped());
        arrange(&mut command);
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that was killed reads nothing.
            let _ = stdin.write_all(input.to_string().as_bytes());
        }
        Ok(Asked { ask, id, child })
    }

    /// Waits for the answer, and notes what it acknowledged.
    pub(crate) fn finish(&mut self, asked: Asked, row: &mut Row) -> Result<Output, Failed> {
        let Asked { ask, id, child } = asked;
        let output = child.wait_with_output()?;
        let code = output.status.code();
        let said = String::from_utf8_lossy(&output.stdout);
        match ask {
            // It was killed: it said nothing, or it said the whole answer.
            Ask::Propose => {
                let answer = serde_json::from_slice::<Value>(&output.stdout).ok();
                if let Some(number) = answer.as_ref().and_then(|answer| answer["sequence"].as_u64()) {
                    self.acknowledged.push((id, Some(number)));
                } else if code.is_some_and(|code| code < 2) {
                    row.wrong.push(format!("{id} ended with {code:?} and said nothing"));
                }
            }
            Ask::Go if code == Some(0) => self.acknowledged.push((id, None)),
            Ask::Never if said.contains("\"deny\"") => self.acknowledged.push((id, None)),
            Ask::Never if code == Some(0) => row.wrong.push(format!("{id} was let through")),
            Ask::Go | Ask::Never if !matches!(code, None | Some(2)) => {
                row.wrong.push(format!("the hook ended with {code:?}: {}", String::from_utf8_lossy(&output.stderr)));
            }
            Ask::Go | Ask::Never => {}
        }
        Ok(output)
    }

    /// Reads the store and counts what survived.
    pub(crate) fn count(self, row: &mut Row) -> Result<(), Failed> {
        row.acknowledged = row.acknowledged.saturating_add(self.acknowledged.len() as u64);
        if !self.store().exists() && self.acknowledged.is_empty() {
            return Ok(());
        }
        let store = match Store::open_existing(&self.store(), &Options::default()) {
            Ok(store) => store,
            Err(error) => {
                row.wrong.push(format!("the store cannot be opened: {error}"));
                return Ok(());
            }
        };
        match store.verify() {
            Ok(_) => row.verified = row.verified.saturating_add(1),
            Err(error) => row.wrong.push(format!("the store is not whole: {error}")),
        }
        let found = judged(&store)?;
        for (id, numbers) in &found {
            if numbers.len() > 1 {
                row.duplicated = row.duplicated.saturating_add(1);
                row.wrong.push(format!("{id} is recorded {} times", numbers.len()));
            }
        }
        for (id, number) in &self.acknowledged {
            let kept = found.get(id).is_some_and(|numbers| number.is_none_or(|number| numbers.contains(&number)));
            if kept {
                row.survived = row.survived.saturating_add(1);
            } else {
                row.wrong.push(format!("{id} (record {number:?}) was acknowledged and is lost"));
            }
        }
        self.find_leftovers(row)
    }

    /// A process that came after must have taken away what a killed one left half made.
    fn find_leftovers(&self, row: &mut Row) -> Result<(), Failed> {
        for entry in std::fs::read_dir(self.store_folder())? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".new") {
                row.wrong.push(format!("{name} is left over"));
            }
        }
        Ok(())
    }
}

/// The numbers of the records that judged each proposal.
pub(crate) fn judged(store: &Store) -> Result<BTreeMap<String, Vec<u64>>, Failed> {
    let mut found = BTreeMap::<String, Vec<u64>>::new();
    for record in store.records(.., Order::OldestFirst) {
        let record = record?;
        if let Applied::Propose(proposal) = record.command {
            found.entry(proposal.proposal_id.clone()).or_default().push(record.sequence);
        }
    }
    Ok(found)
}

/// Numbers that look random, the same each time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below another, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.checked_rem(end).unwrap_or(0)
    }
}
