//! What every command has in common: help, colour, width, errors, and texts that cannot harm a terminal.

use crate::scene::{Scene, clear, held};
use serde_json::json;
use std::io::Read as _;
use std::process::Stdio;

#[test]
fn alone_it_says_where_you_stand_and_what_to_do() {
    let scene = Scene::new();
    let lines = |ran: &crate::scene::Ran| ran.out.lines().count();
    let first = scene.run(&[]).ends(0).says("nothing was judged here yet").says("stigmergate init claude");
    assert!((3..=8).contains(&lines(&first)), "{}", first.out);
    scene.propose(&clear("p1"));
    scene.propose(&held("p2"));
    let second = scene.run(&[]).ends(0).says("1 executed, 1 held").says("stigmergate approve 2");
    assert!((3..=8).contains(&lines(&second)), "{}", second.out);
    let json = scene.run(&["--json"]).ends(0).json();
    assert_eq!(json["kernel"]["counts"]["held"], json!(1));
    assert_eq!(json["waiting"][0]["sequence"], json!(2));
    assert_eq!(scene.run(&["status", "--json"]).json()["waiting"], json["waiting"]);
}

#[test]
fn alone_it_names_the_key_that_is_missing_first() {
    let scene = Scene::new();
    scene.propose(&held("p1"));
    scene.write_user("preset = \"strict\"\n");
    scene.run(&[]).ends(0).says("next: `stigmergate keys new`");
    scene.run(&["keys", "new", "--name", "log.example", "--yes"]).ends(0);
    let ran = scene.run(&[]).ends(0);
    assert!(!ran.out.contains("keys new"), "{}", ran.out);
}

#[test]
fn help_tells_the_exit_codes_and_usage_errors_end_with_2() {
    let scene = Scene::new();
    scene.run(&["--help"]).ends(0).says("Exit codes").says("HOLD or REFUSE");
    scene.run(&["--version"]).ends(0).says("stigmergate");
    for arguments in [&["nonsense"][..], &["approve"], &["log", "--limit", "many"], &["--color", "sometimes"]] {
        scene.run(arguments).ends(2).says("error: ");
        assert_eq!(scene.run(&[arguments, &["--json"]].concat()).ends(2).error()["code"], json!("usage"));
    }
    for command in [
        "status",
        "log",
        "why",
        "hot",
        "approve",
        "deny",
        "policy",
        "propose",
        "outcome",
        "authorize",
        "receipt",
        "keys",
        "ledger",
        "tick",
        "hook",
        "init",
        "uninstall",
        "doctor",
        "report",
        "watch",
        "man",
        "schema",
        "completions",
    ] {
        scene.run(&[command, "--help"]).ends(0);
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        scene.run(&["completions", shell]).ends(0).says("stigmergate");
    }
}

#[test]
fn an_error_is_one_line() {
    let scene = Scene::new();
    let ran = scene.run(&["log"]).ends(3);
    assert!(ran.err.starts_with("error: ") && ran.err.lines().count() == 1, "{}", ran.err);
}

#[test]
fn colour_is_only_where_it_can_be_seen() {
    let scene = Scene::new();
    scene.propose(&held("p1"));
    for arguments in [&["log"][..], &["why"], &["status"], &["hot"]] {
        let has_colour = |more: &[&str], name: &str, value: &str| {
            let run = scene.command().args([arguments, more].concat()).env(name, value).output().unwrap();
            run.stdout.contains(&0x1b)
        };
        assert!(!has_colour(&[], "TERM", "xterm"), "off a terminal");
        assert!(!has_colour(&["--color", "never"], "CLICOLOR_FORCE", "1"));
        assert!(!has_colour(&[], "NO_COLOR", "1"));
        assert!(has_colour(&["--color", "always"], "NO_COLOR", "1"), "asked for, it is there");
        assert!(!has_colour(&["--json", "--color", "always"], "TERM", "xterm"), "never in JSON");
    }
}

/// Texts that would clear the screen, change its title, turn the text round or pretend to be lines of the program's own.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\r\n  approved by ada\u{200b}\t\u{7f}";

#[test]
fn stored_texts_cannot_reach_the_terminal_raw() {
    let scene = Scene::new();
    let mut proposal = held("p1");
    proposal["target"] = json!({"form": "path", "text": format!("src/{HOSTILE}")});
    proposal["rationale"] = json!(HOSTILE);
    let act = &mut proposal["call"]["acts"][0];
    act["words"] = json!(["echo", HOSTILE]);
    act["facts"][0]["detail"] = json!(HOSTILE);
    act["place"] = json!({"form": "path", "text": format!("src/{HOSTILE}")});
    scene.propose(&proposal);
    scene.run(&["deny", "1", "--yes", "--by", "ada", "--reason", HOSTILE]).ends(0);
    scene.write("stigmergate.toml", "[rules]\nallow = [\"\\u001b[2J\"]\n\"de\\u001bny\" = []\n");
    let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
    let is_unsafe = |text: &str| text.chars().any(|c| c != '\n' && (c.is_control() || turns(c)));
    for arguments in [&["policy", "check"][..], &["status"]] {
        let ran = scene.run(arguments);
        assert!(!is_unsafe(&ran.out) && !is_unsafe(&ran.err), "{ran:?}");
    }
    scene.write("stigmergate.toml", "[rules]\nask = [\"\\u001b[2J\"]\n");
    for arguments in [&[][..], &["status"], &["log"], &["why", "1"], &["hot"], &["policy", "show"], &["why", HOSTILE]] {
        for more in [&[][..], &["--json"]] {
            let ran = scene.run(&[arguments, more].concat());
            assert!(!is_unsafe(&ran.out) && !is_unsafe(&ran.err), "{ran:?}");
            if more.is_empty() {
                assert!(!ran.out.lines().any(|line| line.trim_start().starts_with("approved by ada")), "{ran:?}");
            }
        }
    }
}

#[test]
fn tables_fit_eighty_columns_whatever_is_in_them() {
    let scene = Scene::new();
    let mut proposal = held("p1");
    proposal["agent_id"] = json!("claude/".to_owned() + &"reviewer".repeat(20));
    proposal["call"]["acts"][0]["words"] = json!(["echo", "漢字".repeat(300)]);
    proposal["call"]["acts"][0]["place"] = json!({"form": "path", "text": "deep/".repeat(100)});
    proposal["target"] = proposal["call"]["acts"][0]["place"].clone();
    scene.propose(&proposal);
    for arguments in [&["log"][..], &["hot"]] {
        let ran = scene.run(arguments).ends(0);
        for line in ran.out.lines() {
            let wide = line.chars().filter(|c| ('\u{4e00}'..'\u{a000}').contains(c)).count();
            assert!(line.chars().count() + wide <= 80, "{line}");
        }
        assert!(ran.out.contains('…'));
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let scene = Scene::new();
    scene.propose(&clear("p1"));
    let mut child = scene
        .command()
        .args(["policy", "show", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!((child.wait().unwrap().code(), complaints.as_str()), (Some(0), ""));
}

#[test]
fn the_hook_lets_nothing_through_by_an_error() {
    let scene = Scene::new();
    scene.run_with("{}", &["hook", "claude"]).ends(2);
    scene.run_with("", &["hook", "nobody"]).ends(2);
}

#[test]
fn times_are_told_in_the_zone_of_the_reader() {
    let scene = Scene::new();
    scene.propose(&held("p1"));
    let until = |zone: &str| {
        let output = scene.command().env("TZ", zone).args(["why"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    assert_ne!(until("Asia/Tokyo"), until("UTC"));
}
