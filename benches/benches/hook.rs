//! The hook as a cold process: from the start of the process to its answer, on a durable store.
//!
//! `STIGMERGATE_BIN` names the release binary; `make bench` builds it. The process is started as a host starts it, and the numbers are
//! taken together with those of a process that does nothing.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use stigmergate_core::field::{Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::kernel::{Command as KernelCommand, DepositRequest};
use stigmergate_core::location::Location;
use stigmergate_store::{Options, Store};

const CALLS: usize = 200;

fn git(root: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=b", "-c", "user.email=b@example.org"])
        .args(arguments)
        .current_dir(root)
        .stdout(Stdio::null())
        .status();
    assert!(done.unwrap().success());
}

/// A repository with this many files.
fn repository(root: &Path, files: usize) {
    fs::create_dir_all(root).unwrap();
    git(root, &["init", "-q", "-b", "main"]);
    for number in 0..files {
        let folder = root.join(format!("src/folder{}", number / 500));
        if number % 500 == 0 {
            fs::create_dir_all(&folder).unwrap();
        }
        fs::write(folder.join(format!("file{number}.rs")), "fn main() {}\n").unwrap();
    }
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "begin"]);
}

/// A store with this many live traces.
fn store(path: &Path, traces: u64) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    let mut store = Store::open(path, &Options::default()).unwrap();
    let commands = (0..traces).map(|number| {
        KernelCommand::Deposit(DepositRequest {
            location: Location::path(&format!("src/folder{}/file{number}.rs", number / 500)),
            signal: Signal::Dependency,
            strength: Fixed::ONE,
            source: Source::Human,
            decay: None,
            trust_factor: None,
        })
    });
    store.apply_all(now, commands.collect()).unwrap();
}

fn measure(what: &str, mut call: impl FnMut(usize)) -> Duration {
    let mut times: Vec<Duration> = (0..CALLS)
        .map(|number| {
            let begun = Instant::now();
            call(number);
            begun.elapsed()
        })
        .collect();
    times.sort();
    println!("{what}: p50 {:?}, p90 {:?}, p99 {:?}", times[CALLS / 2], times[CALLS * 9 / 10], times[CALLS * 99 / 100]);
    times[CALLS / 2]
}

fn main() {
    let Some(binary) = std::env::var_os("STIGMERGATE_BIN") else {
        println!("hook: STIGMERGATE_BIN is not set; `make bench` sets it");
        return;
    };
    let base = tempfile::tempdir().unwrap();
    let home = base.path().join("home");
    fs::create_dir_all(&home).unwrap();
    let nothing = measure("a process that does nothing", |_| {
        assert!(Command::new("true").status().unwrap().success());
    });
    for files in [1_000, 50_000] {
        let root = base.path().join(format!("repo{files}"));
        repository(&root, files);
        let database = base.path().join(format!("store{files}.db"));
        store(&database, 10_000);
        let calls = [
            ("read", "Bash", serde_json::json!({"command": "ls -la"})),
            (
                "edit",
                "Edit",
                serde_json::json!({"file_path": root.join("src/folder1/file600.rs"), "old_string": "a", "new_string": "b"}),
            ),
            ("delete", "Bash", serde_json::json!({"command": "rm -f src/folder1/file601.rs"})),
        ];
        for (what, tool, input) in calls {
            let name = format!("hook, {what}, {files} files, 10 000 live traces");
            let median = measure(&name, |number| {
                let event = serde_json::json!({
                    "session_id": "bench", "cwd": root, "hook_event_name": "PreToolUse", "tool_name": tool,
                    "tool_input": input, "tool_use_id": format!("{what}{number}"),
                });
                let mut child = Command::new(&binary)
                    .args(["hook", "claude", "--store"])
                    .arg(&database)
                    .current_dir(&root)
                    .env("HOME", &home)
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap();
                child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
                assert!(child.wait_with_output().unwrap().status.success());
            });
            println!("  {:.1} x a process that does nothing", median.as_secs_f64() / nothing.as_secs_f64());
        }
    }
}
