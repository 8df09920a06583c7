//! The input of a served tool: places, verbs and statements, however deep they stand and whatever the server calls itself.

use crate::places::{Kind, Root};
use crate::surroundings::Surroundings;
use serde_json::{Map, Value};
use stigmergate_core::facts::{Class, Effect};

/// Nesting that is followed.
const DEPTH: usize = 8;
/// Texts that are looked at.
const TEXTS: usize = 512;

const PLACES: [&str; 24] = [
    "path",
    "paths",
    "filepath",
    "filepaths",
    "file",
    "files",
    "filename",
    "filenames",
    "source",
    "sources",
    "src",
    "from",
    "relativepath",
    "absolutepath",
    "uri",
    "uris",
    "dir",
    "directory",
    "root",
    "folder",
    "oldpath",
    "sourcepath",
    "targetfile",
    "notebookpath",
];
const DESTINATIONS: [&str; 10] =
    ["destination", "dest", "dst", "to", "target", "newpath", "destinationpath", "targetpath", "output", "outputpath"];
const VERBS: [&str; 7] = ["action", "operation", "op", "method", "verb", "httpmethod", "command"];
/// Fields that say that paths are those of a hosted repository or store.
const HOSTED: [&str; 8] = ["owner", "repo", "repository", "project_id", "projectId", "branch", "bucket", "container"];

/// A text of an input, under its field.
struct Field<'v> {
    name: String,
    text: &'v str,
    /// The verb of the object that it stands in.
    verb: Option<&'v str>,
}

/// The texts of an input.
pub(super) struct Fields<'v> {
    all: Vec<Field<'v>>,
    hosted: bool,
}

/// A place that an input names.
pub(super) struct Named<'v> {
    pub(super) text: &'v str,
    destination: bool,
    verb: Option<&'v str>,
}

impl<'v> Fields<'v> {
    pub(super) fn of(input: &'v Map<String, Value>) -> Self {
        let mut all = Vec::new();
        collect(input, None, 0, &mut all);
        Self { all, hosted: HOSTED.iter().any(|field| input.contains_key(*field)) }
    }

    /// Verbs among the arguments: `action: "delete"`.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &'v str> {
        let fields = self.all.iter().filter(|field| VERBS.contains(&field.name.as_str()));
        fields.map(|field| field.text).filter(|text| !text.contains(char::is_whitespace))
    }

    /// Every text may be a statement.
    pub(super) fn statements(&self) -> impl Iterator<Item = &'v str> {
        self.all.iter().map(|field| field.text)
    }

    /// The places that are those of this machine.
    pub(super) fn places(&self, is_local: impl Fn(&str) -> bool) -> Vec<Named<'v>> {
        let known = |name: &str, fields: &[&str]| fields.contains(&name);
        let named = self.all.iter().filter_map(|field| {
            let destination = known(&field.name, &DESTINATIONS);
            let text = field.text.strip_prefix("file://").unwrap_or(field.text);
            (destination || known(&field.name, &PLACES))
                .then_some(Named { text, destination, verb: field.verb })
                .filter(|named| !named.text.is_empty() && (field.text.starts_with("file://") || is_local(named.text)))
        });
        named.collect()
    }
}

/// Gathers the texts of an object, and of all in it.
fn collect<'v>(object: &'v Map<String, Value>, verb: Option<&'v str>, depth: usize, all: &mut Vec<Field<'v>>) {
    let own = object.iter().find(|(name, _)| VERBS.contains(&folded(name).as_str()) || name.as_str() == "type");
    let verb = own.and_then(|(_, value)| value.as_str()).or(verb);
    for (name, value) in object {
        collect_value(&folded(name), value, verb, depth, all);
    }
}

fn collect_value<'v>(name: &str, value: &'v Value, verb: Option<&'v str>, depth: usize, all: &mut Vec<Field<'v>>) {
    if depth > DEPTH || all.len() >= TEXTS {
        return;
    }
    let deeper = depth.saturating_add(1);
    match value {
        Value::String(text) => all.push(Field { name: name.to_string(), text, verb }),
        Value::Array(items) => items.iter().for_each(|item| collect_value(name, item, verb, deeper, all)),
        Value::Object(object) => collect(object, verb, deeper, all),
        _ => {}
    }
}

/// `file_path`, `filePath` and `file-path` are one field.
fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

impl Named<'_> {
    /// What is done to it: what the object around it says, or else the tool.
    pub(super) fn effect(&self, of_tool: Effect, class_of: impl Fn(&str) -> Option<Class>) -> Effect {
        if self.destination {
            return Effect::Overwrite;
        }
        let by_verb = self.verb.filter(|verb| !verb.contains(char::is_whitespace)).and_then(class_of);
        if by_verb == Some(Class::Delete) { Effect::Delete } else { of_tool }
    }
}

/// What a tool does to the places that it is given.
pub(super) fn effect(class: Class, words: &[String]) -> Effect {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    match class {
        Class::Read | Class::Check => Effect::Read,
        Class::Delete => Effect::Delete,
        _ if has(&["edit", "edits", "append", "insert", "patch", "patches", "replace", "str"]) => Effect::Edit,
        _ if has(&["directory", "folder", "mkdir"]) => Effect::Create,
        _ if has(&["move", "rename"]) => Effect::Move,
        _ if has(&["copy", "upload", "send", "convert", "open", "run", "execute", "index", "analyze"]) => Effect::Read,
        _ => Effect::Overwrite,
    }
}

/// Whether a spelling names a place of this machine: by the server's name, or by its own form.
pub(super) fn is_local(text: &str, words: &[String], server: &str, fields: &Fields<'_>, around: &Surroundings) -> bool {
    if text.contains("://") || text.contains(['\n', '@']) || text.len() > 4096 {
        return false;
    }
    if server_of_files(server) {
        return true;
    }
    let Ok(place) = around.places().resolve_literal(around.directory(), text) else { return false };
    let of_files = words.iter().any(|word| matches!(word.as_str(), "file" | "files" | "directory" | "folder" | "dir"));
    let absolute = text.starts_with(['/', '~']) || text.get(1..3).is_some_and(|drive| matches!(drive, ":/" | ":\\"));
    if absolute {
        return matches!(place.root, Root::Workspace | Root::Home)
            || (of_files && !fields.hosted)
            || place.kind != Kind::Absent;
    }
    !fields.hosted && place.kind != Kind::Absent && (of_files || text.contains(['/', '.']))
}

/// Servers whose paths are those of this machine.
fn server_of_files(server: &str) -> bool {
    let lower = server.to_ascii_lowercase();
    ["filesystem", "file", "fs", "serena", "desktop", "commander", "text", "editor", "memory"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a tool or its server speaks to a database.
pub(super) fn is_database(words: &[String], server: &str) -> bool {
    let server = super::split_name(server);
    let speaks = |word: &String| {
        [
            "sql",
            "query",
            "database",
            "db",
            "postgres",
            "mysql",
            "mariadb",
            "bigquery",
            "snowflake",
            "redis",
            "clickhouse",
            "duckdb",
        ]
        .iter()
        .any(|known| word.contains(known))
    };
    words.iter().chain(&server).any(speaks)
}
