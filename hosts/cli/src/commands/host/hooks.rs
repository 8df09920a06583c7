//! Hooks in a settings document: found, added and taken back by one algorithm for all hosts.
//!
//! What is added is an entry of its own for each event, so that nothing that stands there is touched. A [`Note`] keeps what had to be
//! made for it; by that note exactly that is taken back.

use super::line::{Quoting, line, words};
use super::table::{Event, FailClosed, Form, Launch, Moment};
use crate::json_text::{Document, Json, Node};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Seconds after which the host gives up on a hook. It takes milliseconds, and waits for other processes at most as long as the
/// hook's own patience.
pub(crate) const TIMEOUT: u32 = 30;

/// What had to be made for the hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) file: PathBuf,
    pub(crate) made_file: bool,
    /// The deepest first.
    pub(crate) made_folders: Vec<PathBuf>,
    /// The members that were not there.
    pub(crate) made: BTreeSet<String>,
    /// What the empty ones that were there held.
    pub(crate) blank: BTreeMap<String, String>,
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
}

impl Started {
    pub(crate) fn words(&self) -> Vec<String> {
        std::iter::once(&self.program).chain(&self.arguments).cloned().collect()
    }

    /// Whether it is this program, for this host.
    fn asks_for(&self, form: &Form) -> bool {
        let name = self.program.rsplit(['/', '\\']).next().unwrap_or_default();
        let first: Vec<&str> = self.arguments.iter().take(2).map(String::as_str).collect();
        matches!(name, "stigmergate" | "stigmergate.exe") && first == ["hook", form.host.name()]
    }
}

/// A hook that asks the gate.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) started: Started,
    pub(crate) hook: Value,
    /// The tools that its group is for, where it says so.
    pub(crate) matcher: Option<String>,
    /// Where it stands: the number of its group, and its own in there.
    pub(crate) place: (usize, usize),
}

impl Form {
    fn entry(&self, started: &Started, event: &Event) -> Json {
        let hook = self.hook(started, event);
        if self.grouped {
            Json::Object(vec![("matcher", Json::text("*")), ("hooks", Json::Array(vec![hook]))])
        } else {
            hook
        }
    }

    fn hook(&self, started: &Started, event: &Event) -> Json {
        let mut hook: Vec<(&'static str, Json)> =
            self.named.iter().map(|(key, value)| (*key, Json::text(value))).collect();
        match &self.launch {
            Launch::Exec => {
                hook.push(("command", Json::text(&started.program)));
                let arguments = started.arguments.iter().map(|argument| Json::text(argument));
                hook.push(("args", Json::Array(arguments.collect())));
            }
            Launch::Line(keys) => {
                let words = started.words();
                hook.extend(keys.iter().map(|(key, shell)| (*key, Json::text(&line(&words, *shell)))));
            }
        }
        hook.push((self.timeout.key, Json::Number(TIMEOUT.saturating_mul(self.timeout.per_second))));
        if let Some((key, closed)) = self.fail_closed.filter(|_| event.moment == Moment::Before) {
            let value = match closed {
                FailClosed::Text(text) => Json::text(text),
                FailClosed::True => Json::True,
            };
            hook.push((key, value));
        }
        Json::Object(hook)
    }

    /// What a hook starts, where that can be told from its text.
    pub(crate) fn started(&self, hook: &Value) -> Option<Started> {
        let text = |key: &str| hook.get(key).and_then(Value::as_str);
        if let (Some(program), Some(arguments)) =
            (text("exec").or_else(|| text("command")), hook.get("args").and_then(Value::as_array))
        {
            let arguments =
                arguments.iter().map(|argument| argument.as_str().map(str::to_owned)).collect::<Option<_>>()?;
            return Some(Started { program: program.to_owned(), arguments });
        }
        let keys = match &self.launch {
            Launch::Exec => &[("command", Quoting::Posix)][..],
            Launch::Line(keys) => keys,
        };
        let mut words = keys.iter().find_map(|(key, shell)| words(text(key)?, *shell))?.into_iter();
        Some(Started { program: words.next()?, arguments: words.collect() })
    }

    fn is_ours(&self, document: &Document, hook: &Node) -> bool {
        self.started(&document.value(hook)).is_some_and(|started| started.asks_for(self))
    }

    /// The hooks of an entry.
    fn hooks_of<'n>(&self, entry: &'n Node) -> &'n [Node] {
        if self.grouped { entry.get("hooks").map_or(&[], Node::items) } else { std::slice::from_ref(entry) }
    }

    /// The hooks that ask the gate at an event.
    pub(crate) fn standing(&self, document: &Document, event: &Event) -> Vec<Standing> {
        let entries = document.root().get("hooks").and_then(|hooks| hooks.get(event.name)).map_or(&[][..], Node::items);
        let mut found = Vec::new();
        for (group, entry) in entries.iter().enumerate() {
            for (number, hook) in self.hooks_of(entry).iter().enumerate() {
                let value = document.value(hook);
                let Some(started) = self.started(&value).filter(|started| started.asks_for(self)) else { continue };
                let matcher = document.value(entry).get("matcher").and_then(Value::as_str).map(str::to_owned);
                found.push(Standing { started, hook: value, matcher, place: (group, number) });
            }
        }
        found
    }

    /// Whether a document's hooks ask the gate before calls.
    pub(crate) fn asks_before(&self, document: &Document) -> bool {
        let before = self.events.iter().filter(|event| event.moment == Moment::Before);
        before.into_iter().any(|event| !self.standing(document, event).is_empty())
    }
}

/// Adds what is missing. The error names what has another form than a host's settings.
pub(crate) fn install(
    form: &Form,
    document: &Document,
    started: &Started,
    note: Option<Note>,
) -> Result<(Document, Note), &'static str> {
    let mut document = document.clone();
    let mut note = note.unwrap_or_default();
    if !document.root().is_object() {
        return Err("an object");
    }
    const CHANGED: &str = "a text that could be edited";
    if document.root().get("hooks").is_none() {
        remember_blank(&document, document.root(), "", &mut note);
        // Where hooks stand already, the host reads the file as it is.
        if form.versioned && document.root().get("version").is_none() {
            document = document.add(document.root(), Some("version"), &Json::Number(1)).ok_or(CHANGED)?;
            note.made.insert("version".to_owned());
        }
        document = document.add(document.root(), Some("hooks"), &Json::Object(Vec::new())).ok_or(CHANGED)?;
        note.made.insert("hooks".to_owned());
    }
    for event in form.events {
        let hooks = document.root().get("hooks").filter(|hooks| hooks.is_object());
        let hooks = hooks.ok_or("an object at `hooks`")?.clone();
        let path = format!("hooks.{}", event.name);
        let Some(entries) = hooks.get(event.name).cloned() else {
            if !note.made.contains("hooks") {
                remember_blank(&document, &hooks, "hooks", &mut note);
            }
            let entries = Json::Array(vec![form.entry(started, event)]);
            document = document.add(&hooks, Some(event.name), &entries).ok_or(CHANGED)?;
            note.made.insert(path);
            continue;
        };
        if !entries.is_array() {
            return Err("lists at `hooks`' events");
        }
        let mut hooks = entries.items().iter().flat_map(|entry| form.hooks_of(entry));
        let standing = hooks.find(|hook| form.is_ours(&document, hook)).cloned();
        let wanted = form.hook(started, event);
        document = match standing {
            Some(standing) if document.value(&standing) == wanted.value() => continue,
            Some(standing) => document.replace(&standing, &wanted).ok_or(CHANGED)?,
            None => {
                remember_blank(&document, &entries, &path, &mut note);
                document.add(&entries, None, &form.entry(started, event)).ok_or(CHANGED)?
            }
        };
    }
    Ok((document, note))
}

fn remember_blank(document: &Document, node: &Node, path: &str, note: &mut Note) {
    if let Some(blank) = document.blank_inside(node) {
        note.blank.insert(path.to_owned(), blank.to_owned());
    }
}

/// Takes away the hooks, then what held nothing else and was made for them.
pub(crate) fn take_back(form: &Form, document: &Document, note: Option<&Note>) -> Option<Document> {
    let mut document = document.clone();
    for event in form.events {
        while let Some(after) = take_one(form, &document, event, note)? {
            document = after;
        }
    }
    // Without a note of what was there before, what is empty goes.
    let made = |path: &str| note.is_none_or(|note| note.made.contains(path));
    for event in form.events.iter().rev() {
        let Some(hooks) = document.root().get("hooks").cloned() else { continue };
        let empty = hooks.get(event.name).is_some_and(|entries| entries.is_array() && document.holds_nothing(entries));
        if empty && made(&format!("hooks.{}", event.name)) {
            document = document.remove(&hooks, document.number_of(&hooks, event.name)?, blank(note, "hooks"))?;
        }
    }
    let empty = document.root().get("hooks").is_some_and(|hooks| hooks.is_object() && document.holds_nothing(hooks));
    if empty && made("hooks") {
        document = remove_member(&document, "hooks", note)?;
        if note.is_some_and(|note| note.made.contains("version")) {
            document = remove_member(&document, "version", note)?;
        }
    }
    Some(document)
}

fn blank<'n>(note: Option<&'n Note>, path: &str) -> &'n str {
    note.and_then(|note| note.blank.get(path)).map_or("", String::as_str)
}

/// Removes a member of the root, where it is there.
fn remove_member(document: &Document, key: &str, note: Option<&Note>) -> Option<Document> {
    match document.number_of(document.root(), key) {
        Some(number) => document.remove(document.root(), number, blank(note, "")),
        None => Some(document.clone()),
    }
}

/// Takes away one hook, with its group where that holds nothing else. The outer `None`: the text could not be edited.
#[expect(clippy::option_option, reason = "the inner one ends a loop, the outer one is a failure")]
fn take_one(form: &Form, document: &Document, event: &Event, note: Option<&Note>) -> Option<Option<Document>> {
    let Some(entries) = document.root().get("hooks").and_then(|hooks| hooks.get(event.name)) else { return Some(None) };
    for (number, entry) in entries.items().iter().enumerate() {
        let hooks = form.hooks_of(entry);
        let Some(ours) = hooks.iter().position(|hook| form.is_ours(document, hook)) else { continue };
        let value = document.value(entry);
        let bare = value.as_object().is_some_and(|entry| entry.keys().all(|key| key == "matcher" || key == "hooks"));
        if !form.grouped || (hooks.len() == 1 && bare) {
            return Some(Some(document.remove(entries, number, blank(note, &format!("hooks.{}", event.name)))?));
        }
        return Some(Some(document.remove(entry.get("hooks")?, ours, "")?));
    }
    Some(None)
}
