//! Export and import.

use crate::support::{AT, deposit, filled, open, place};
use std::io::Cursor;
use stigmergate_core::fixed::Fixed;
use stigmergate_core::kernel::Command;
use stigmergate_store::{Options, Store};

fn exported(records: u64, compacts: bool) -> String {
    let (_folder, path) = place();
    let mut store = filled(&path, records);
    store.note_incident(AT, "kind", "detail").unwrap();
    store.set_meta("key", "value").unwrap();
    if compacts {
        store.compact(5).unwrap();
    }
    let mut lines = Vec::new();
    store.export(&mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

fn import(path: &std::path::Path, text: &str) -> Result<Store, stigmergate_store::StoreError> {
    Store::import(path, &mut Cursor::new(text.as_bytes()), &Options::default()).map(|(store, _)| store)
}

#[test]
fn an_import_is_the_exported_store_compacted_or_not() {
    for compacts in [false, true] {
        let text = exported(30, compacts);
        let (_folder, path) = place();
        let store = import(&path, &text).unwrap();
        let verified = store.verify().unwrap();
        assert_eq!(verified.base, if compacts { 25 } else { 0 });
        assert_eq!((store.incident_count().unwrap(), store.meta("key").unwrap().as_deref()), (1, Some("value")));
        let mut again = Vec::new();
        store.export(&mut again).unwrap();
        assert_eq!(String::from_utf8(again).unwrap(), text);
    }
}

#[test]
fn the_lines_of_usual_commands_are_plain_json() {
    let text = exported(10, false);
    assert!(!text.contains("\"exact\""));
    let line: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!(line["record"]["command"]["propose"]["proposal_id"], "p0");
    assert_eq!(line["record"]["reply"]["verdict"]["id"], "p0");
}

#[test]
fn a_number_that_json_does_not_carry_is_exact_all_the_same() {
    let (_folder, path) = place();
    let mut store = open(&path);
    let Command::Deposit(mut request) = deposit("src/parser.rs", 1) else { unreachable!() };
    request.strength = Fixed::from_units((1 << 60) + 1);
    let applied = store.apply(AT, Command::Deposit(request)).unwrap();
    let mut lines = Vec::new();
    store.export(&mut lines).unwrap();
    let text = String::from_utf8(lines).unwrap();
    assert!(text.contains("\"exact\""));
    let (_folder, path) = place();
    let imported = import(&path, &text).unwrap();
    assert_eq!(imported.record(applied.sequence).unwrap(), store.record(applied.sequence).unwrap());
}

#[test]
fn an_import_writes_over_nothing() {
    let text = exported(3, false);
    let (_folder, path) = place();
    filled(&path, 1);
    assert_eq!(import(&path, &text).unwrap_err().code(), "exists");
    assert_eq!(open(&path).last_sequence().unwrap(), 1);
}

#[test]
fn an_import_that_fails_leaves_nothing_behind() {
    let text = exported(6, false);
    let lines = text.lines().collect::<Vec<_>>();
    let without = |skip: usize| {
        let kept = lines.iter().enumerate().filter(|(number, _)| *number != skip);
        kept.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    let mut broken = vec![String::new(), "no json".into(), format!("{text}{{}}\n"), format!("{text}{}\n", lines[1])];
    broken.push(text.replace("\"p2\"", "\"p77\""));
    broken.push(text.replace("\"score\":", "\"score\":9"));
    broken.push(text.replacen("stigmergate-journal", "other", 1));
    broken.push(text.replacen("\"version\":2", "\"version\":3", 1));
    broken.extend([0, 1, 3, 6, lines.len() - 1].map(without));
    broken.extend([10, 2000, text.len() / 2, text.len() - 3].map(|length| text[..length].to_string()));
    for (number, text) in broken.iter().enumerate() {
        let (folder, path) = place();
        let error = import(&path, text).unwrap_err();
        assert!(["import", "newer_version"].contains(&error.code()), "{number}: {error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{number}");
    }
}
