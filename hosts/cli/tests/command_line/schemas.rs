//! What `--json` prints is what its schema says: every run of these tests is held against it.

use crate::scene::{Ran, Scene, clear, held};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};

/// What prints no document, or is none of the commands.
const WITHOUT: [&str; 5] = ["completions", "help", "hook", "man", "schema"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

/// The schema files, by the words of their commands.
fn files() -> BTreeMap<Vec<String>, Value> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let parent =
            ["policy", "keys", "store", "ledger"].into_iter().find(|parent| stem.starts_with(&format!("{parent}-")));
        let words = match parent {
            Some(parent) => vec![parent.to_owned(), stem[parent.len() + 1..].to_owned()],
            None => vec![stem],
        };
        (words, serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap())
    };
    entries.filter(|path| !path.ends_with("definitions.json")).map(read).collect()
}

/// The document that `schema` prints.
fn printed(words: &[String]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_stigmergate")).arg("schema").args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Holds a document against the schema that the program prints for a command.
pub(crate) fn hold(words: &[String], document: &Value) {
    static KNOWN: LazyLock<Mutex<BTreeMap<Vec<String>, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(words).cloned();
    let validator = known.unwrap_or_else(|| {
        let made = Arc::new(jsonschema::draft202012::new(&printed(words)).unwrap());
        KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(words.to_vec(), Arc::clone(&made));
        made
    });
    let faults: Vec<String> =
        validator.iter_errors(document).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "`{} --json` is not as its schema says: {faults:#?}\n{document:#}", words.join(" "));
}

/// The words of the command that was run, out of its arguments; `None` where it prints no document.
fn words(arguments: &[&str]) -> Option<Vec<String>> {
    static NAMES: LazyLock<BTreeSet<Vec<String>>> = LazyLock::new(|| files().into_keys().collect());
    if arguments.iter().any(|argument| ["--help", "--version"].contains(argument)) {
        return None;
    }
    let first = arguments.iter().position(|argument| {
        WITHOUT.contains(argument) || NAMES.iter().any(|name| name[0] == *argument && *argument != "error")
    });
    let Some(first) = first else { return Some(vec!["status".to_owned()]) };
    if WITHOUT.contains(&arguments[first]) {
        return None;
    }
    let mut words = vec![arguments[first].to_owned()];
    if !NAMES.contains(&words) {
        let second = arguments[first + 1..].iter().find(|argument| !argument.starts_with('-'));
        words.push(second.map_or_else(|| "show".to_owned(), |word| (*word).to_owned()));
    }
    Some(words)
}

/// Holds what a run printed against the schema of its command, or of errors.
pub(crate) fn hold_run(arguments: &[&str], ran: &Ran) {
    if !arguments.contains(&"--json") {
        return;
    }
    if ran.out.is_empty() {
        hold(&["error".to_owned()], &serde_json::from_str(&ran.err).unwrap_or_else(|error| panic!("{error}: {ran:?}")));
    } else if let Some(words) = words(arguments) {
        hold(&words, &ran.json());
    }
}

#[test]
fn every_command_has_a_schema_and_every_schema_a_command() {
    let scene = Scene::new();
    scene.run(&["man", "--out", "pages"]).ends(0);
    let pages: BTreeSet<String> = Scene::files(&scene.root.join("pages"))
        .iter()
        .filter_map(|file| file.file_stem()?.to_str()?.strip_prefix("stigmergate-").map(str::to_owned))
        .collect();
    let is_group = |page: &str| pages.iter().any(|other| other.starts_with(&format!("{page}-")));
    let commands: BTreeSet<String> =
        pages.iter().filter(|page| !is_group(page) && !WITHOUT.contains(&page.as_str())).cloned().collect();
    let mut schemas: BTreeSet<String> = files().into_keys().map(|words| words.join("-")).collect();
    assert!(schemas.remove("error"));
    assert_eq!(commands, schemas);
}

#[test]
fn the_list_names_every_schema() {
    let scene = Scene::new();
    let listed = scene.run(&["schema", "--json"]).ends(0).json();
    let name = |line: &Value| line["command"].as_str().unwrap().to_owned();
    let named: BTreeSet<String> = listed["schemas"].as_array().unwrap().iter().map(name).collect();
    assert_eq!(named, files().into_keys().map(|words| words.join(" ")).collect());
    let text = scene.run(&["schema"]).ends(0).out;
    assert!(named.iter().all(|name| text.contains(name.as_str())), "{text}");
    let error = scene.run(&["schema", "nonsense", "--json"]).ends(3).error();
    assert_eq!((&error["code"], &error["field"]), (&json!("unknown_schema"), &json!("command")));
    // A command that stands for another has that one's.
    assert_eq!(scene.run(&["schema", "store"]).ends(0).json(), scene.run(&["schema", "store", "show"]).ends(0).json());
}

/// Calls a function for every schema in a document: what describes a value, not what names one.
fn each_schema(value: &Value, path: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(path, value);
    for group in ["properties", "$defs"] {
        for (name, below) in value[group].as_object().into_iter().flatten() {
            each_schema(below, &format!("{path}/{group}/{name}"), visit);
        }
    }
    for group in ["anyOf", "oneOf", "prefixItems"] {
        for (number, below) in value[group].as_array().into_iter().flatten().enumerate() {
            each_schema(below, &format!("{path}/{group}/{number}"), visit);
        }
    }
    for one in ["items", "additionalProperties", "propertyNames"] {
        if value[one].is_object() {
            each_schema(&value[one], &format!("{path}/{one}"), visit);
        }
    }
}

#[test]
fn every_schema_file_is_valid_closed_and_described() {
    let text = fs::read_to_string(folder().join("definitions.json")).unwrap();
    let definitions: Value = serde_json::from_str(&text).unwrap();
    let mut used = BTreeSet::new();
    for (words, schema) in files().into_iter().chain([(vec!["definitions".to_owned()], definitions.clone())]) {
        assert_eq!(schema["$schema"], json!("https://json-schema.org/draft/2020-12/schema"), "{words:?}");
        assert_eq!(schema["$id"], json!(format!("{}.json", words.join("-"))));
        jsonschema::draft202012::meta::validate(&schema).unwrap_or_else(|fault| panic!("{words:?}: {fault}"));
        assert!(!schema["title"].as_str().unwrap().is_empty() && !schema["description"].as_str().unwrap().is_empty());
        each_schema(&schema, &words.join("-"), &mut |path, part| {
            if let Some(target) = part["$ref"].as_str() {
                let (file, name) = target.split_once("#/$defs/").unwrap();
                assert_eq!(file.is_empty(), path.starts_with("definitions/"), "{path}: {target}");
                assert!(definitions["$defs"][name].is_object(), "{path}: {target}");
                used.insert(name.to_owned());
            }
            let Some(properties) = part["properties"].as_object() else { return };
            assert_eq!(part["additionalProperties"], json!(false), "{path}");
            for required in part["required"].as_array().unwrap() {
                assert!(properties.contains_key(required.as_str().unwrap()), "{path}: {required}");
            }
            for (name, property) in properties {
                assert!(property["description"].as_str().is_some_and(|text| text.len() > 2), "{path}: {name}");
            }
        });
    }
    let defined: BTreeSet<String> = definitions["$defs"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(defined, used, "every shared definition is used");
}

#[test]
fn a_printed_schema_needs_no_other_file() {
    for words in files().into_keys() {
        let schema = printed(&words);
        each_schema(&schema, "", &mut |path, part| {
            if let Some(target) = part["$ref"].as_str() {
                let name = target.strip_prefix("#/$defs/").unwrap();
                assert!(schema["$defs"][name].is_object(), "{words:?}{path}: {target}");
            }
        });
        jsonschema::draft202012::new(&schema).unwrap_or_else(|fault| panic!("{words:?}: {fault}"));
    }
}

#[test]
fn a_document_that_is_otherwise_is_not_valid() {
    let scene = Scene::new();
    scene.propose(&held("p1"));
    let words = ["log".to_owned()];
    let document = scene.run(&["log", "--json"]).json();
    hold(&words, &document);
    let validator = jsonschema::draft202012::new(&printed(&words)).unwrap();
    let changes: [fn(&mut Value); 5] = [
        |log| log["more"] = json!(1),
        |log| log["verdicts"][0]["surprise"] = json!(null),
        |log| log["verdicts"][0]["decision"] = json!("maybe"),
        |log| log["verdicts"][0]["at"] = json!("today"),
        |log| _ = log["verdicts"][0].as_object_mut().unwrap().remove("act"),
    ];
    for change in changes {
        let mut changed = document.clone();
        change(&mut changed);
        assert!(!validator.is_valid(&changed), "{changed:#}");
    }
}

/// Also the commands that the other tests run for people only.
#[test]
fn every_command_answers_as_its_schema_says() {
    let scene = Scene::new();
    // With nothing there.
    for arguments in
        [&["status"][..], &["policy", "show"], &["policy", "check"], &["keys", "show"], &["doctor", "claude"]]
    {
        scene.run(&[arguments, &["--json"]].concat());
    }
    scene.write("stigmergate.toml", "[attest]\nmode = \"optional\"\n");
    let run = |arguments: &[&str]| scene.run(&[arguments, &["--json"]].concat());
    run(&["policy", "trust", "--yes"]).ends(0);
    scene.write_user("[attest]\nmode = \"optional\"\n");
    run(&["keys", "new", "--yes"]).ends(0);
    run(&["keys", "new", "--folder", "executor", "--name", "executor.example", "--yes"]).ends(0);
    run(&["policy", "check"]).ends(0);
    run(&["init", "claude", "--print"]).ends(0);
    run(&["init", "claude"]).ends(0);
    run(&["status"]).ends(0);
    run(&["uninstall", "claude"]).ends(0);
    scene.propose(&clear("p1"));
    scene.propose(&held("p2"));
    scene.run_with(&held("p3").to_string(), &["propose", "--dry-run", "--json"]).ends(1);
    for id in ["p4", "p5"] {
        scene.propose(&held(id));
    }
    run(&["deny", "p2", "--yes", "--by", "ada", "--reason", "not today"]).ends(0);
    run(&["approve", "p4", "--yes", "--by", "ada"]).ends(0);
    run(&["why", "p2"]).ends(0);
    run(&["why", "p4"]).ends(0);
    let kept = run(&["ledger", "checkpoint"]).ends(0).json();
    let kept = scene.write("kept", kept["note"].as_str().unwrap());
    let kept = kept.to_str().unwrap();
    let given = run(&["authorize", "p1"]).ends(0).json();
    run(&["ledger", "show"]).ends(0);
    let (number, digest) = (given["sequence"].to_string(), given["arguments"].as_str().unwrap());
    let result = "ab".repeat(32);
    let receipt =
        run(&["receipt", &number, "--actor", "ag-1", "--arguments", digest, "--result", &result]).ends(0).json();
    // An execution without its outcome.
    run(&["ledger", "verify"]).ends(1);
    run(&["why", "p1"]).ends(0);
    let number = receipt["sequence"].to_string();
    run(&["ledger", "prove", &number, "--statement"]).ends(0);
    run(&["outcome", "p1", "--passed", "--attested", &number]).ends(0);
    run(&["keys", "rotate", "--yes"]).ends(0);
    run(&["keys", "show"]).ends(0);
    run(&["ledger", "verify"]).ends(0);
    run(&["ledger", "verify", "--against", kept]).ends(0);
    for event in 0..given["sequence"].as_u64().unwrap() + 4 {
        run(&["ledger", "show", &event.to_string()]).ends(0);
    }
    let proof = run(&["ledger", "prove", "0"]).ends(0).json();
    let proof = scene.write("proof", proof["text"].as_str().unwrap());
    run(&["ledger", "check-proof", proof.to_str().unwrap()]).ends(0);
    run(&["ledger", "consistency", kept]).ends(0);
    run(&["ledger", "anchor", "anchored"]).ends(0);
    run(&["ledger", "anchor", "anchored"]).ends(0);
    run(&["ledger", "export", "exported"]).ends(0);
    let tile = scene.root.join("exported/checkpoint");
    fs::write(&tile, fs::read_to_string(&tile).unwrap().replacen('\n', "\n1", 1)).unwrap();
    run(&["ledger", "verify", "exported"]).ends(1);
    run(&["tick", "3"]).ends(0);
    run(&["hot", "--all"]).ends(0);
    run(&["report"]).ends(0);
    run(&["report", "--output", "page.html"]).ends(0);
    run(&["store"]).ends(0);
    run(&["store", "check"]).ends(0);
    run(&["store", "export", "out.jsonl"]).ends(0);
    run(&["store", "import", "out.jsonl", "--yes", "--store", "copy.db"]).ends(0);
    // What waits would have no record left.
    run(&["deny", "p5", "--yes", "--by", "ada"]).ends(0);
    run(&["replay"]).ends(0);
    run(&["replay", "--policy", "strict"]).ends(0);
    run(&["agents"]).ends(0);
    run(&["agents", "ag-1"]).ends(0);
    run(&["budget"]).ends(0);
    run(&["budget", "ag-1"]).ends(0);
    run(&["policy", "diff", "strict"]).ends(0);
    scene.write("modules.json", r#"{"core.old": {"last_used": 0, "call_count": 0}}"#);
    run(&["prune", "--registry", "modules.json"]).ends(0);
    run(&["store", "compact", "--keep", "2", "--yes"]).ends(0);
    run(&["store", "repair", "--yes"]).ends(0);
    run(&["status"]).ends(0);
}
