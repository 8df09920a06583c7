//! The store's own commands.

use crate::scene::{Scene, clear, held};
use std::fs;
use std::path::PathBuf;

fn filled() -> Scene {
    let scene = Scene::new();
    scene.write_user("[attest]\nmode = \"optional\"\n");
    scene.run(&["keys", "new", "--yes", "--name", "example.org/loom"]).ends(0);
    for number in 0..4 {
        scene.propose(&clear(&format!("p{number}")));
    }
    scene
}

fn file(scene: &Scene) -> PathBuf {
    PathBuf::from(scene.run(&["store", "--json"]).json()["store"].as_str().unwrap())
}

fn beside(path: &std::path::Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

#[test]
fn a_store_says_where_it_is_and_what_is_in_it() {
    let scene = filled();
    let shown = scene.run(&["store", "--json"]).ends(0).json();
    // The ledger's beginning is a record too.
    assert_eq!((shown["records"].as_u64(), shown["last"].as_u64()), (Some(5), Some(5)));
    assert!(shown["ledger_events"].as_u64().unwrap() > 0);
    scene.run(&["store"]).ends(0).says("5 records, from #1 to #5").says("a signed ledger");
    scene.run(&["store", "--store", "nowhere.db"]).ends(3).says("no store at");
}

#[test]
fn an_imported_store_is_the_exported_one() {
    let scene = filled();
    let export = scene.root.join("out.jsonl");
    scene.run(&["store", "export", "out.jsonl"]).ends(0).says("5 records");
    scene.run(&["store", "export", "out.jsonl"]).ends(2).says("exists already");
    // The same to standard output, and nothing besides.
    assert_eq!(scene.run(&["store", "export"]).ends(0).out, fs::read_to_string(&export).unwrap());
    scene.run(&["store", "import", "out.jsonl", "--yes"]).ends(2).says("exists already");
    scene.run(&["store", "import", "out.jsonl", "--store", "copy.db"]).ends(2).says("is for people");
    scene.run(&["store", "import", "out.jsonl", "--yes", "--store", "copy.db"]).ends(0).says("answers as");
    let digest = |ran: crate::scene::Ran| ran.ends(0).json()["found"]["digest"].clone();
    let (one, other) =
        (scene.run(&["store", "check", "--json"]), scene.run(&["store", "check", "--json", "--store", "copy.db"]));
    assert_eq!(digest(one), digest(other));
    let head = |arguments: &[&str]| scene.run(arguments).ends(0).out;
    assert_eq!(head(&["ledger", "checkpoint"]), head(&["ledger", "checkpoint", "--store", "copy.db"]));
    scene.run(&["ledger", "verify", "--store", "copy.db"]).ends(0);
}

#[test]
fn half_an_export_makes_nothing() {
    let scene = filled();
    let text = scene.run(&["store", "export"]).out;
    scene.write("half.jsonl", &text[..text.len() / 2]);
    scene.run(&["store", "import", "half.jsonl", "--yes", "--store", "copy.db"]).ends(2).says("line");
    assert!(!scene.root.join("copy.db").exists());
}

#[test]
fn a_compacted_store_answers_as_before() {
    let scene = Scene::new();
    scene.propose(&held("waits"));
    scene.write_user("[attest]\nmode = \"optional\"\n");
    scene.run(&["keys", "new", "--yes", "--name", "example.org/loom"]).ends(0);
    for id in ["p1", "p2"] {
        scene.propose(&clear(id));
    }
    scene.run(&["store", "compact", "--keep", "2"]).ends(2).says("is for people");
    scene.run(&["store", "compact", "--keep", "2", "--yes"]).ends(0).says("let go of 3 records");
    // What waits is known, although the record that says what it is was let go.
    assert_eq!(scene.run(&["status", "--json"]).ends(0).json()["kernel"]["waiting"], serde_json::json!(1));
    scene.run(&[]).ends(0);
    scene.run(&["store", "check"]).ends(0).says("2 records");
    scene.run(&["ledger", "verify"]).ends(0);
}

#[test]
fn a_store_whose_log_was_deleted_says_what_is_gone_and_is_repaired() {
    let scene = filled();
    let path = file(&scene);
    fs::remove_file(beside(&path, "-wal")).unwrap();
    _ = fs::remove_file(beside(&path, "-shm"));
    let checked = scene.run(&["store", "check", "--json"]).ends(1).json();
    assert_eq!((checked["whole"].as_bool(), checked["intact_records"].as_u64()), (Some(false), Some(0)));
    assert!(
        checked["message"].as_str().unwrap().contains("records 1 to 5 were acknowledged and are gone"),
        "{checked}"
    );
    // Nothing is judged on top of a gap.
    let ran = scene.run_with(&clear("p9").to_string(), &["propose"]).ends(2);
    ran.says("repair");
    scene.run(&["store", "repair"]).ends(2).says("is for people");
    scene.run(&["store", "repair", "--yes"]).ends(1).says("is kept as").says("5 records can no longer be read");
    scene.run(&["store", "check"]).ends(0);
    scene.propose(&clear("p9"));
}

#[test]
fn a_store_that_lost_its_first_bytes_is_repaired_whole() {
    let scene = filled();
    scene.run(&["store", "compact", "--keep", "100", "--yes"]).ends(0);
    let path = file(&scene);
    let mut bytes = fs::read(&path).unwrap();
    bytes[..100].fill(0x55);
    fs::write(&path, bytes).unwrap();
    let checked = scene.run(&["store", "check", "--json"]).ends(1).json();
    assert_eq!(checked["intact_records"], 5, "{checked}");
    scene.run(&["store", "repair", "--yes"]).ends(0).says("no record is lost");
    scene.run(&["store", "check"]).ends(0).says("5 records");
    scene.run(&["ledger", "verify"]).ends(0);
}

#[test]
fn a_store_whose_file_is_gone_is_not_silently_begun_anew() {
    let scene = filled();
    fs::remove_file(file(&scene)).unwrap();
    scene.run_with(&clear("p9").to_string(), &["propose"]).ends(2).says("5 records were acknowledged");
}
