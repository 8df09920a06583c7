//! The hook on the cases of `tests/hook`: each in a fresh repository, home and store, as Claude Code would call it, and those of
//! `cases.jsonl` also as every other host would.
//!
//! A case says in which state the repository is (`clean`, `dirty`, `untracked`), which rules its `stigmergate.toml` holds, which events
//! come and which answers are right (`hold|refuse`: either). Nothing risky may be let through; everything else must be as expected.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod forms;

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What git knows in every case.
const TRACKED: [(&str, &str); 20] = [
    ("README.md", "# demo\n"),
    ("package.json", "{\"name\":\"demo\",\"version\":\"1.0.0\"}\n"),
    ("pnpm-lock.yaml", "lockfileVersion: 9\n"),
    ("src/app.ts", "export function f() {}\n// TODO\n"),
    ("src/auth/login.ts", "export const x = 1\n"),
    ("src/parser.rs", "fn main() {}\n"),
    ("test/app.test.ts", "test('x', () => {})\n"),
    ("tests/test_a.py", "def test_a():\n    assert False\n"),
    ("docs/guide.md", "guide\n"),
    ("static/style.css", "a{}\n"),
    ("services/a/main.go", "package main\n"),
    ("services/b/main.go", "package main\n"),
    ("scripts/gen.js", "console.log(1)\n"),
    ("requirements.txt", "requests\n"),
    ("drizzle/migrations/0001_initial.sql", "create table t(i int);\n"),
    (".gitignore", "node_modules/\ndist/\n.env\n"),
    ("app/a.ts", "export {}\n"),
    ("app/b.ts", "export {}\n"),
    ("app/c.ts", "export {}\n"),
    ("app/d.ts", "export {}\n"),
];
/// What git ignores, and the host's settings, in every case.
const BESIDE: [(&str, &str); 4] = [
    ("node_modules/x/index.js", "x\n"),
    ("dist/out.js", "x\n"),
    (".env", "API_KEY=secret\n"),
    (".claude/settings.json", "{}\n"),
];
/// Uncommitted changes, where the case wants them.
const DIRTY: [(&str, &str); 2] =
    [("src/app.ts", "export function f() { return 2 }\n"), ("app/a.ts", "export const a = 1\n")];
/// What git does not know, where the case wants it; besides forty files in `scratch`.
const UNTRACKED: [(&str, &str); 5] = [
    ("notes/draft.md", "mine\n"),
    ("notes/req_1.md", "1\n"),
    ("notes/req_2.md", "2\n"),
    ("docs/old/p.md", "p\n"),
    ("docs/new/.keep", ""),
];

struct Case {
    file: String,
    host: &'static str,
    row: Value,
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn git(root: &Path, arguments: &[&str]) {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    let status = Command::new("git")
        .args(who)
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success(), "git {arguments:?}");
}

/// One repository with everything committed, copied for each case: making one is slower than the case.
fn template(base: &Path) -> PathBuf {
    let root = base.join("template");
    fs::create_dir_all(&root).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    write(&root, &TRACKED);
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-qm", "begin"]);
    root
}

fn prepare(base: &Path, case: &Value) -> (PathBuf, PathBuf) {
    let (root, home) = (base.join("work/repo"), base.join("home"));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(&home).unwrap();
    write(&home, &[(".ssh/id_rsa", "key\n"), (".claude/settings.json", "{}\n")]);
    let template = base.parent().unwrap().join("template");
    assert!(Command::new("cp").arg("-a").arg(template.join(".")).arg(&root).status().unwrap().success());
    // The copies have other inodes and times; git's index is told of them once.
    git(&root, &["update-index", "-q", "--refresh"]);
    write(&root, &BESIDE);
    match case["repo"].as_str().unwrap() {
        "dirty" => write(&root, &DIRTY),
        "untracked" => {
            write(&root, &UNTRACKED);
            let scratch: Vec<(String, &str)> =
                (0..40).map(|number| (format!("scratch/f{number}.txt"), "x\n")).collect();
            scratch.iter().for_each(|(name, text)| write(&root, &[(name.as_str(), text)]));
        }
        other => assert_eq!(other, "clean"),
    }
    if let Some(rules) = case["policy"].as_object() {
        let lines: Vec<String> = rules.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        write(&root, &[("stigmergate.toml", &format!("[rules]\n{}\n", lines.join("\n")))]);
    }
    (root, home)
}

/// What the host would do with the answer.
fn answer(host: &str, root: &Path, home: &Path, store: &Path, event: &Value) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stigmergate"))
        .args(["hook", host, "--store"])
        .arg(store)
        .current_dir(root)
        .env("HOME", home)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if forms::is_after(event) {
        assert!(matches!(output.status.code(), Some(0 | 2)));
        return "execute".into();
    }
    forms::answer(host, output.status.code(), &String::from_utf8(output.stdout).unwrap())
}

/// Runs a case. Returns a line for each answer that is not as expected; those that let something risky through begin with `RISKY`.
fn run(case: &Case, base: &Path) -> (usize, Vec<String>) {
    let (root, home) = prepare(base, &case.row);
    let store = base.join("store.db");
    let names =
        [("{ROOT}", root.to_str().unwrap()), ("{HOME}", home.to_str().unwrap()), ("{DB}", store.to_str().unwrap())];
    let (mut judged, mut wrong) = (0, Vec::new());
    let events = case.row["events"].as_array().unwrap();
    let expected = case.row["expect"].as_array().unwrap();
    assert_eq!(events.len(), expected.len(), "{}: an expectation for each event", case.row["id"]);
    for (number, (event, expect)) in events.iter().zip(expected).enumerate() {
        let text = names.iter().fold(event.to_string(), |text, (name, path)| text.replace(name, path));
        let event_here = forms::event(case.host, &serde_json::from_str(&text).unwrap());
        let got = answer(case.host, &root, &home, &store, &event_here);
        let Some(expect) = expect.as_str() else { continue };
        judged += 1;
        if !expect.split('|').any(|one| one == got) {
            let risky = if !expect.contains("execute") && got == "execute" { "RISKY: " } else { "" };
            let what = event["tool_input"].to_string();
            wrong.push(format!(
                "{risky}{} {} as {} event {number}: want {expect}, got {got}: {what}",
                case.file, case.row["id"], case.host
            ));
        }
    }
    (judged, wrong)
}

#[test]
fn nothing_risky_passes_and_ordinary_work_is_not_stopped() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hook");
    // To work on some of them: the name of a file; and `all`, to tell every file as every host.
    let only = std::env::var("HOOK_CASES").ok();
    let by_all = std::env::var("HOOK_HOSTS").is_ok_and(|hosts| hosts == "all");
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let wanted = only.as_ref().is_none_or(|only| path.ends_with(only));
        if wanted && path.extension().is_some_and(|extension| extension == "jsonl") {
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).unwrap();
            let hosts = if by_all || file == "cases.jsonl" { &forms::HOSTS[..] } else { &forms::HOSTS[..1] };
            for line in text.lines().filter(|line| !line.is_empty()) {
                let row: Value = serde_json::from_str(line).unwrap();
                cases.extend(hosts.iter().map(|host| Case { file: file.clone(), host, row: row.clone() }));
            }
        }
    }
    assert!(cases.len() > 50, "the cases are there");
    let base = tempfile::tempdir().unwrap();
    let base_path = fs::canonicalize(base.path()).unwrap();
    template(&base_path);
    let (next, judged, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(case) = { cases.get(next.fetch_add(1, Ordering::Relaxed)) } {
                    let place = base_path.join(format!(
                        "case-{}-{}",
                        case.host,
                        case.row["id"].as_str().unwrap().replace('/', "_")
                    ));
                    let (count, mismatches) = run(case, &place);
                    judged.fetch_add(count, Ordering::Relaxed);
                    wrong.lock().unwrap().extend(mismatches);
                    let _ = fs::remove_dir_all(place);
                }
            });
        }
    });
    let (judged, mut wrong) = (judged.into_inner(), wrong.into_inner().unwrap());
    wrong.sort();
    println!("{} events, {} as expected", judged, judged - wrong.len());
    assert!(wrong.is_empty(), "{} of {judged} answers are not as expected:\n{}", wrong.len(), wrong.join("\n"));
}
