//! What is made to be read elsewhere: the report, the manual pages, the completions.

use crate::scene::{Ran, Scene, clear, held};
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Stdio};

fn hostile(id: &str) -> Value {
    let mut proposal = held(id);
    proposal["agent_id"] = json!("<script>alert(1)</script>\u{202e}");
    proposal["target"] = json!(format!("\"><img src=x onerror=alert(1)>{}", "x".repeat(600)));
    proposal
}

fn commands(ran: &Ran) -> Vec<String> {
    let listed = ran.out.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn a_report_shows_stored_texts_as_text_and_loads_nothing() {
    let scene = Scene::new();
    scene.propose(&clear("p1"));
    scene.propose(&hostile("p2"));
    scene.run(&["report", "--output", "page.html"]).ends(0).says("2 verdicts in page.html");
    let page = fs::read_to_string(scene.root.join("page.html")).unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}"), "the agent is named");
    assert!(page.contains("default-src 'none'"));
    for forbidden in ["<script", "<img", "\u{202e}", "http://", "https://", "url(", "@import", "<link", "onload="] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(!page.contains(&"x".repeat(400)), "what is stored is cut");
}

#[test]
fn a_report_counts_what_lies_in_its_period() {
    let scene = Scene::new();
    let day = 86_400_000_u64;
    let at = |id: &str, time: u64| {
        let ran = scene.run_with(&clear(id).to_string(), &["propose", "--at", &time.to_string()]);
        assert_eq!(ran.code, 0, "{ran:?}");
    };
    at("p1", 1_700_000_000_000);
    at("p2", 1_700_000_000_000 + 10 * day);
    let now = (1_700_000_000_000 + 11 * day).to_string();
    let run = |more: &[&str]| scene.run(&[&["report", "--json", "--at", &now], more].concat());
    let total = |facts: &Value| facts["verdicts"]["execute"].as_u64().unwrap();
    let steps = |facts: &Value| -> u64 {
        facts["over_time"]["steps"].as_array().unwrap().iter().map(|step| step["execute"].as_u64().unwrap()).sum()
    };
    for (arguments, wanted) in
        [(&[][..], 1), (&["--since", "20d"], 2), (&["--since", "20d", "--until", "5d"], 1), (&["--since", "1h"], 0)]
    {
        let facts = run(arguments).ends(0).json();
        assert_eq!((total(&facts), steps(&facts)), (wanted, wanted), "{arguments:?}");
    }
    assert_eq!(run(&["--since", "soon"]).ends(2).error()["field"], json!("since"));
    assert_eq!(run(&["--until", "8d"]).ends(2).error()["field"], json!("until"));
}

#[test]
fn a_report_of_nothing_says_so() {
    let scene = Scene::new();
    scene.run(&["report"]).ends(0).says("Nothing was judged in this period").says("No signed ledger was begun here");
    assert!(Scene::files(&scene.root).iter().all(|file| file.starts_with(scene.root.join(".git"))), "nothing is made");
}

#[test]
fn each_command_has_a_manual_page_that_renders_without_warnings() {
    let scene = Scene::new();
    scene.run(&["man", "--out", "pages"]).ends(0);
    let names = commands(&scene.run(&["--help"]));
    assert!(names.len() > 15, "{names:?}");
    for name in &names {
        assert!(scene.root.join(format!("pages/stigmergate-{name}.1")).is_file(), "{name}");
    }
    scene.run(&["man"]).ends(0).says(".TH");
    for page in Scene::files(&scene.root.join("pages")) {
        let run = Command::new("groff").args(["-man", "-ww", "-z", "-Tutf8"]).arg(&page).output();
        // Where groff is not installed, only their presence is looked at.
        let Ok(run) = run else { return };
        assert_eq!(String::from_utf8_lossy(&run.stderr), "", "{}", page.display());
    }
}

#[test]
fn completions_load_in_their_shells_and_name_every_command() {
    let scene = Scene::new();
    let names = commands(&scene.run(&["--help"]));
    for shell in ["bash", "zsh", "fish"] {
        let script = scene.run(&["completions", shell]).ends(0).out;
        for name in &names {
            assert!(script.contains(name.as_str()), "{shell}: {name}");
        }
        let file = scene.write(&format!("completions.{shell}"), &script);
        let ran = Command::new(shell).arg("-n").arg(&file).stdin(Stdio::null()).output();
        // A shell that is not installed cannot be asked.
        let Ok(ran) = ran else { continue };
        assert!(ran.status.success() && ran.stderr.is_empty(), "{shell}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
