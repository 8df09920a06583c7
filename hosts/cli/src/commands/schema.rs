//! `schema`: the JSON Schemas of what commands answer with `--json`.
//!
//! The files are the reference of the format. They share `definitions.json`; what is printed needs no other file.

use super::{Answer, count};
use crate::args::SchemaArgs;
use crate::failure::{DONE, Failure};
use crate::screen::{self, plain};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The file that the others refer to.
const DEFINITIONS: &str = include_str!("../../schemas/definitions.json");

/// A command, or `error` for what errors print, and its schema.
macro_rules! schemas {
    ($($name:literal: $file:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../schemas/", $file, ".json")))),+]
    };
}

const SCHEMAS: [(&str, &str); 43] = schemas! {
    "agents": "agents",
    "approve": "approve",
    "authorize": "authorize",
    "budget": "budget",
    "deny": "deny",
    "doctor": "doctor",
    "error": "error",
    "hot": "hot",
    "init": "init",
    "keys new": "keys-new",
    "keys rotate": "keys-rotate",
    "keys show": "keys-show",
    "ledger anchor": "ledger-anchor",
    "ledger check-proof": "ledger-check-proof",
    "ledger checkpoint": "ledger-checkpoint",
    "ledger consistency": "ledger-consistency",
    "ledger export": "ledger-export",
    "ledger prove": "ledger-prove",
    "ledger show": "ledger-show",
    "ledger verify": "ledger-verify",
    "log": "log",
    "outcome": "outcome",
    "policy check": "policy-check",
    "policy diff": "policy-diff",
    "policy explain": "policy-explain",
    "policy show": "policy-show",
    "policy trust": "policy-trust",
    "propose": "propose",
    "prune": "prune",
    "receipt": "receipt",
    "replay": "replay",
    "report": "report",
    "status": "status",
    "store check": "store-check",
    "store compact": "store-compact",
    "store export": "store-export",
    "store import": "store-import",
    "store repair": "store-repair",
    "store show": "store-show",
    "tick": "tick",
    "uninstall": "uninstall",
    "watch": "watch",
    "why": "why",
};

/// The subcommand that a command stands for where none is said.
const DEFAULTS: [(&str, &str); 1] = [("store", "store show")];

#[derive(Serialize)]
struct Listed {
    /// The commands that have a schema, as `schema` takes them.
    schemas: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    command: &'static str,
    description: String,
}

pub(crate) fn schema(as_json: bool, args: &SchemaArgs) -> Result<Answer, Failure> {
    if args.command.is_empty() {
        return list(as_json);
    }
    let asked = args.command.join(" ");
    let name = DEFAULTS.into_iter().find(|(short, _)| *short == asked).map_or(asked.as_str(), |(_, whole)| whole);
    let (_, text) = SCHEMAS.into_iter().find(|(known, _)| *known == name).ok_or_else(|| unknown(&asked))?;
    let document = bundled(read(text)?, read(DEFINITIONS)?);
    // A schema is JSON either way.
    Ok(Answer { text: screen::json(&document) + "\n", exit: DONE })
}

fn list(as_json: bool) -> Result<Answer, Failure> {
    let mut schemas = Vec::with_capacity(SCHEMAS.len());
    for (command, text) in SCHEMAS {
        let document = read(text)?;
        let description = document.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        schemas.push(Line { command, description });
    }
    let listed = Listed { schemas };
    Ok(Answer::of(as_json, &listed, || {
        let mut text: String =
            listed.schemas.iter().map(|line| format!("{:<20}  {}\n", line.command, line.description)).collect();
        text.push_str(&screen::faint(&format!(
            "{}; `stigmergate schema COMMAND` prints one\n",
            count(listed.schemas.len() as u64, "schema", "schemas")
        )));
        text
    }))
}

fn read(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new("corrupt", format!("a schema is no JSON: {error}")))
}

fn unknown(asked: &str) -> Failure {
    let message = format!("no schema is named {}; `stigmergate schema` lists them", screen::cut(&plain(asked), 100));
    Failure::absent("unknown_schema", message).in_field("command")
}

/// The schema with those of the shared definitions that it needs, directly or through another.
fn bundled(mut schema: Value, definitions: Value) -> Value {
    let mut known = match definitions {
        Value::Object(mut whole) => whole.remove("$defs"),
        _ => None,
    };
    let mut needed = Map::new();
    let mut names = localize(&mut schema);
    while let Some(name) = names.pop() {
        let Some(mut definition) = known.as_mut().and_then(|known| known.get_mut(&name)).map(Value::take) else {
            continue;
        };
        if needed.contains_key(&name) {
            continue;
        }
        names.append(&mut localize(&mut definition));
        needed.insert(name, definition);
    }
    if let (Value::Object(whole), false) = (&mut schema, needed.is_empty()) {
        whole.insert("$defs".to_owned(), json!(needed));
    }
    schema
}

/// Makes references to the shared file references into the document itself, and returns the names that it refers to.
fn localize(value: &mut Value) -> Vec<String> {
    match value {
        Value::Object(members) => members
            .iter_mut()
            .flat_map(|(key, member)| match member {
                Value::String(target) if key == "$ref" => {
                    let Some((_, name)) = target.rsplit_once("#/$defs/") else { return Vec::new() };
                    let name = name.to_owned();
                    *target = format!("#/$defs/{name}");
                    vec![name]
                }
                other => localize(other),
            })
            .collect(),
        Value::Array(items) => items.iter_mut().flat_map(localize).collect(),
        _ => Vec::new(),
    }
}
