//! From a tool and its input to acts, whatever the host calls the tool.

mod served;

use crate::commands::{self, cut};
use crate::redact;
use crate::scripts::Disk;
use crate::shell::{self, Dialect, Unreadable, Via};
use crate::sql;
use crate::surroundings::Surroundings;
use crate::targets::{Collector, Standing, own};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use stigmergate_core::facts::{Act, Class, Effect, Fact, FactKind};
use stigmergate_core::location::Location;
use stigmergate_core::policy::Policy;
use stigmergate_core::policy::commands::{Observe, Reading, Word as TableWord};

/// The program under which the policy's table knows the verbs of MCP tools.
const MCP: &str = "mcp";

/// What a tool does, in the host's words turned into ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool<'a> {
    /// A shell command.
    Shell {
        /// The text.
        command: Cow<'a, str>,
        /// The shell that it is for.
        dialect: Dialect,
        /// The folder in which it runs, where the call names one.
        directory: Option<&'a str>,
    },
    /// A file tool: what it does to these paths.
    Files(Vec<(&'a str, Effect)>),
    /// A tool of an MCP server.
    Mcp {
        /// The verb and its object: `delete_issue`.
        verb: &'a str,
        /// The server.
        server: &'a str,
    },
    /// Asks the web.
    Web,
    /// Only looks, or concerns the agent alone.
    Looks,
    /// Anything else.
    Other,
}

/// What was read of a call.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) acts: Vec<Act>,
    pub(crate) facts: Vec<Fact>,
    /// The places that it changes, and where they are on disk.
    pub(crate) changed: Vec<(Location, PathBuf)>,
}

/// Reads a call.
pub(crate) fn read(
    name: &str,
    tool: &Tool<'_>,
    input: &Map<String, Value>,
    around: &Surroundings,
    policy: &Policy,
    look: bool,
) -> Read {
    match tool {
        Tool::Shell { command, dialect, directory } => shell_call(command, *dialect, *directory, around, policy, look),
        Tool::Files(paths) => files(paths, around, policy, look),
        Tool::Mcp { verb, server } => {
            let mut read = mcp(verb, server, input, around, policy, look);
            for text in commands_in(input) {
                let found = shell_call(&text, Dialect::Posix, None, around, policy, look);
                let tells =
                    |act: &Act| !act.facts.is_empty() || act.targets.iter().any(|target| target.effect.changes());
                read.acts.extend(found.acts.into_iter().filter(tells));
                read.changed.extend(found.changed);
            }
            if server.to_ascii_lowercase().contains("stigmergate")
                && read.acts.iter().any(|act| act.class != Class::Read)
            {
                read.facts.push(Fact { kind: FactKind::OwnCommand, detail: format!("{server} {verb}") });
            }
            read
        }
        Tool::Web => web(name, input, around, policy, look),
        Tool::Looks => plain(name, Class::Read),
        Tool::Other => plain(name, Class::Execute),
    }
}

/// Texts in a tool's input that may be commands: a text, or a list of words.
fn commands_in(input: &Map<String, Value>) -> Vec<String> {
    let fields = ["command", "cmd", "script", "code", "commands", "args", "argv"];
    let found = fields.iter().filter_map(|field| input.get(*field)).map(|value| match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).take(64).collect();
            let together = words.join(" ");
            words.into_iter().filter(|word| word.contains(' ')).map(str::to_string).chain([together]).collect()
        }
        _ => Vec::new(),
    });
    found.flatten().filter(|text| !text.trim().is_empty()).take(32).collect()
}

fn plain(name: &str, class: Class) -> Read {
    let kind = if name.trim().is_empty() { "tool" } else { name };
    let kind = cut(kind, 200);
    let act = Act {
        class,
        place: own(&kind),
        kind,
        words: Vec::new(),
        targets: Vec::new(),
        facts: Vec::new(),
        dry_run: false,
    };
    Read { acts: vec![act], ..Read::default() }
}

/// The web. The act is the asking of one address; an address may name a file of this machine.
fn web(name: &str, input: &Map<String, Value>, around: &Surroundings, policy: &Policy, look: bool) -> Read {
    let asked = ["url", "query", "prompt"].iter().find_map(|field| input.get(*field)).and_then(Value::as_str);
    let mut read = plain(&format!("{name} {}", redact::one(asked.unwrap_or_default(), policy)), Class::Network);
    let words = input.values().filter_map(Value::as_str).flat_map(str::split_whitespace);
    let is_file = |word: &str| word.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://"));
    let local = words.filter(|word| is_file(word)).filter_map(|word| word.get(7..)).take(16);
    let paths: Vec<(&str, Effect)> = local.map(|path| (path, Effect::Read)).collect();
    read.acts.append(&mut files(&paths, around, policy, look).acts);
    read
}

fn shell_call(
    command: &str,
    dialect: Dialect,
    directory: Option<&str>,
    around: &Surroundings,
    policy: &Policy,
    look: bool,
) -> Read {
    let files = Disk { around, policy };
    let script = shell::read_with(command, dialect, directory, &files);
    // Hosts call their shell by one name on every system, whichever shell it is.
    let other = if dialect == Dialect::Posix { shell::windows_dialect(&script) } else { None };
    let mut read = script_call(&script, around, policy, look);
    if let Some(other) = other {
        let again = script_call(&shell::read_with(command, other, directory, &files), around, policy, look);
        let Read { acts, facts, changed } = again;
        read.acts.extend(acts);
        read.facts.extend(facts);
        read.changed.extend(changed);
    }
    if read.acts.is_empty() {
        read.acts = plain("shell", Class::Read).acts;
    }
    read
}

/// What a text does that was read.
fn script_call(script: &shell::Script, around: &Surroundings, policy: &Policy, look: bool) -> Read {
    let found = commands::acts(script, around, policy, look);
    let mut read = Read { acts: found.acts, facts: Vec::new(), changed: found.changed };
    read.acts.splice(0..0, carriers(script, policy));
    if script.fork_bomb {
        read.facts.push(Fact {
            kind: FactKind::CatastrophicTarget,
            detail: "a process that starts itself without end".into(),
        });
    }
    if let Some(reason) = script.unreadable {
        // What was found by the plain reading counts; where the text itself is in doubt, so is what it would do.
        let doubtful = reason != Unreadable::SyntaxError || read.acts.iter().any(|act| act.class > Class::Check);
        if doubtful {
            let detail = match reason {
                Unreadable::SyntaxError => "the shell text is cut off, or not in the grammar of the shell",
                Unreadable::TooLong => "the shell text is too long",
                Unreadable::TooDeep => "the shell text nests too deeply",
                Unreadable::TooMany => "the shell text has too many commands",
                Unreadable::Binary => "the shell text holds control bytes",
            };
            read.facts.push(Fact { kind: FactKind::Unreadable, detail: detail.into() });
        }
    }
    read
}

/// The carriers of a script's commands (`sudo`, `ssh host`, `bash -c`), as words for rules to match. They do nothing else.
fn carriers(script: &shell::Script, policy: &Policy) -> Vec<Act> {
    let mut seen = BTreeSet::new();
    for via in script.commands.iter().flat_map(|command| &command.via) {
        let words = match via {
            Via::Sudo(program) | Via::Wrapper(program) => vec![program.clone()],
            Via::Remote(host) => vec!["ssh".to_string(), host.clone()],
            Via::Shell(program) => vec![program.clone(), "-c".to_string()],
            Via::Xargs => vec!["xargs".to_string()],
            Via::Eval => vec!["eval".to_string()],
            _ => continue,
        };
        seen.insert(redact::words(&words, policy));
    }
    let act = |words: Vec<String>| {
        let kind = cut(&words.join(" "), 200);
        Act {
            class: Class::Read,
            place: own(&kind),
            kind,
            words,
            targets: Vec::new(),
            facts: Vec::new(),
            dry_run: false,
        }
    };
    seen.into_iter().take(16).filter(|words| words.iter().any(|word| !word.is_empty())).map(act).collect()
}

fn files(paths: &[(&str, Effect)], around: &Surroundings, policy: &Policy, look: bool) -> Read {
    let mut read = Read::default();
    for (path, effect) in paths {
        let mut collector = Collector::new(around, policy, Standing::In(around.directory().to_owned()), look);
        collector.spelled(path, false, *effect, true);
        let class = match effect {
            Effect::Read => Class::Read,
            Effect::Delete => Class::Delete,
            _ => Class::Write,
        };
        let place = collector.targets.first().map_or_else(|| own("file"), |target| target.place.clone());
        read.changed.append(&mut collector.changed);
        read.acts.push(Act {
            class,
            kind: effect.key().to_string(),
            place,
            words: Vec::new(),
            targets: collector.targets,
            facts: collector.facts,
            dry_run: false,
        });
    }
    read
}

/// A tool of an MCP server, by the verb in its name, and by the paths and statements in its input.
fn mcp(
    verb: &str,
    server: &str,
    input: &Map<String, Value>,
    around: &Surroundings,
    policy: &Policy,
    look: bool,
) -> Read {
    let words = split_name(verb);
    let reading = served_verb(&words, policy);
    let mut class = reading.class.unwrap_or(Class::Execute);
    let mut collector = Collector::new(around, policy, Standing::In(around.directory().to_owned()), look);
    let fields = served::Fields::of(input);
    let asked = fields
        .verbs()
        .map(split_name)
        .map(|words| served_verb(&words, policy))
        .find(|reading| reading.class == Some(Class::Delete));
    let places = fields.places(|text| served::is_local(text, &words, server, &fields, around));
    let local = !places.is_empty();
    if local {
        let effect = served::effect(class, &words);
        for place in &places {
            let effect = place.effect(effect, |verb| served_verb(&split_name(verb), policy).class);
            collector.spelled(place.text, false, effect, true);
            class = match effect {
                Effect::Read => class,
                Effect::Delete => Class::Delete,
                _ => class.max(Class::Write),
            };
        }
    } else {
        for kind in reading.facts.iter().chain(asked.iter().flat_map(|asked| &asked.facts)) {
            collector.fact(*kind, verb);
        }
        class = asked.and_then(|asked| asked.class).map_or(class, |asked| class.max(asked));
    }
    let speaks_sql = reading.observe.contains(&Observe::Sql) || served::is_database(&words, server);
    if speaks_sql {
        match fields.statements().filter_map(sql::doing).max() {
            Some(sql::Doing::Destroys) => {
                class = Class::Delete;
                collector.fact(FactKind::Irreversible, &format!("data by {server}"));
            }
            Some(sql::Doing::Writes) if reading.observe.contains(&Observe::Sql) => class = Class::Execute,
            Some(sql::Doing::Reads) if reading.observe.contains(&Observe::Sql) => class = Class::Read,
            _ => {}
        }
    }
    let mut shell = Read::default();
    if let Some(command) = shell_input(input).filter(|_| reading.observe.contains(&Observe::Shell)) {
        shell = shell_call(&command, Dialect::Posix, None, around, policy, look);
        // What the command does is told by its own acts.
        class = Class::Read;
    }
    if reading.observe.contains(&Observe::Push) {
        mcp_push(input, around, policy, &mut collector);
    }
    let object: Vec<&str> =
        OBJECT_FIELDS.iter().filter_map(|field| input.get(*field)).flat_map(texts).take(1).collect();
    let kind = cut(
        &std::iter::once(format!("{server} {verb}"))
            .chain(object.iter().map(|one| redact::one(one, policy)))
            .collect::<Vec<_>>()
            .join(" "),
        400,
    );
    let place = match collector.targets.first() {
        Some(target) if local => target.place.clone(),
        _ => own(&kind),
    };
    let kind = if local && class != Class::Read {
        collector.targets.first().map_or(kind, |target| target.effect.key().to_string())
    } else {
        kind
    };
    let act = Act {
        class,
        kind,
        place,
        words: Vec::new(),
        targets: collector.targets,
        facts: collector.facts,
        dry_run: false,
    };
    shell.acts.insert(0, act);
    shell.changed.append(&mut collector.changed);
    shell
}

/// What the table says of the words of a name.
fn served_verb(words: &[String], policy: &Policy) -> Reading {
    let table: Vec<TableWord<'_>> = words.iter().map(|word| TableWord { text: word, known: true }).collect();
    // The verb need not stand first: `kubectl_delete`, `API-delete-a-block`.
    let readings =
        (0..words.len().max(1)).filter_map(|from| table.get(from..)).map(|rest| policy.commands.read(MCP, rest));
    let mut readings = readings.peekable();
    let whole = readings.peek().cloned().unwrap_or_default();
    readings.find(|reading| !reading.verb.is_empty()).unwrap_or(whole)
}

/// A tool that writes to a branch of a hosted repository.
fn mcp_push(input: &Map<String, Value>, around: &Surroundings, policy: &Policy, collector: &mut Collector<'_>) {
    let branch =
        ["branch", "base", "target_branch", "ref"].iter().find_map(|field| input.get(*field)).and_then(Value::as_str);
    let shared = match branch {
        None => true,
        Some(branch) => {
            let name = branch.strip_prefix("refs/heads/").unwrap_or(branch);
            let default = around.repository().and_then(crate::repository::Repository::default_branch);
            default.as_deref() == Some(name) || policy.places.shared_branches.iter().any(|glob| glob.matches(name))
        }
    };
    if shared {
        collector.fact(FactKind::SharedBranch, branch.unwrap_or("the default branch"));
    }
}

const OBJECT_FIELDS: [&str; 12] =
    ["path", "file_path", "id", "name", "repo", "title", "key", "url", "query", "sql", "issue_number", "target"];

/// A command for a shell in the input of a tool that runs one.
fn shell_input(input: &Map<String, Value>) -> Option<String> {
    let fields = ["command", "cmd", "script", "commandLine", "command_line", "shell_command"];
    let command = fields.iter().find_map(|field| input.get(*field))?;
    let mut words = texts(command);
    words.extend(["args", "arguments"].iter().filter_map(|field| input.get(*field)).flat_map(texts));
    match words.as_slice() {
        [] => None,
        // What follows in a list is quoted, so that each word stays one.
        [first, rest @ ..] => {
            let rest = rest.iter().map(|word| format!(" '{}'", word.replace('\'', "'\\''")));
            Some(std::iter::once((*first).to_string()).chain(rest).collect())
        }
    }
}

pub(crate) fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text.strip_prefix("file://").unwrap_or(text)],
        Value::Array(items) => items.iter().filter_map(Value::as_str).take(64).collect(),
        _ => Vec::new(),
    }
}

/// The words of a name: `deletePullRequest`, `delete_pull_request` and `delete-pull-request` are one.
pub(crate) fn split_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut last_lower = false;
    for c in name.chars().take(200) {
        let boundary = !c.is_alphanumeric() || (c.is_uppercase() && last_lower);
        if boundary && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        last_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scene;
    use FactKind as F;
    use serde_json::json;

    #[test]
    fn a_name_is_split_into_its_words() {
        for name in ["deletePullRequest", "delete_pull_request", "delete-pull-request", "Delete PullRequest"] {
            assert_eq!(split_name(name), ["delete", "pull", "request"], "{name}");
        }
        assert!(split_name("__").is_empty());
    }

    #[test]
    fn file_tools_are_judged_by_what_is_there() {
        let scene = Scene::new();
        let file = |tool: &str, path: &str| scene.facts(tool, &json!({"file_path": scene.root.join(path)}));
        assert_eq!(file("Write", "notes/draft.md"), [F::Irreversible]);
        assert_eq!(file("Write", "app/a.ts"), [F::Irreversible]);
        assert_eq!(file("Write", "src/app.ts"), []);
        assert_eq!(file("Write", "src/fresh.ts"), []);
        assert_eq!(file("Write", "../elsewhere/x"), [F::OutsideWorkspace]);
        assert_eq!(file("Edit", "notes/draft.md"), []);
        assert_eq!(file("MultiEdit", ".claude/settings.json"), [F::ProtectedTarget]);
        assert_eq!(file("Write", ".claude/settings.local.json"), [F::ProtectedTarget]);
        assert_eq!(file("Read", ".env"), [F::Secret]);
        assert_eq!(file("Read", "src/app.ts"), []);
        assert_eq!(scene.facts("NotebookEdit", &json!({"notebook_path": "/srv/a.ipynb"})), [F::OutsideWorkspace]);
    }

    #[test]
    fn the_verb_of_a_served_tool_may_stand_anywhere_in_its_name() {
        let scene = Scene::new();
        let served = |name: &str| scene.facts(name, &json!({"id": "x"}));
        for name in [
            "mcp__k8s__kubectl_delete",
            "mcp__notion__API-delete-a-block",
            "mcp__jira__jira_delete_issue",
            "mcp__railway__volumeDelete",
            "mcp__net__network_remove",
            "mcp__stripe__cancel_subscription",
        ] {
            assert_eq!(served(name), [F::Irreversible], "{name}");
        }
        for name in
            ["mcp__x__get_deleted", "mcp__x__list_deleted_issues", "mcp__x__browser_click", "mcp__x__create_issue"]
        {
            assert_eq!(served(name), [], "{name}");
        }
    }

    #[test]
    fn a_shell_of_windows_is_known_by_its_commands() {
        let scene = Scene::new();
        for command in [
            r"Remove-Item -Recurse -Force .\notes",
            r"rm -Recurse -Force .\notes",
            r"Get-ChildItem .\notes | Remove-Item",
            r"del /f notes\draft.md",
            r"rd /s /q notes",
            r"Set-Content -Path notes\draft.md -Value x",
        ] {
            assert!(scene.shell(command).contains(&F::Irreversible), "{command}");
        }
        scene.ordinary(&[r"Get-Content .\README.md", r"Get-ChildItem -Recurse .\src", "sed -n 's/a\\b/c/p' README.md"]);
    }

    #[test]
    fn places_verbs_and_statements_stand_at_any_depth_of_an_input() {
        let scene = Scene::new();
        let root = scene.root.to_str().unwrap();
        let served = |name: &str, input: &Value| scene.facts(name, input);
        let write = json!({"files": [{"path": format!("{root}/notes/draft.md"), "content": "x"}]});
        assert_eq!(served("mcp__my-files__write_files", &write), [F::Irreversible]);
        let batch = json!({"operations": [{"op": "delete", "path": format!("{root}/notes/draft.md")}]});
        assert_eq!(served("mcp__workspace__batch", &batch), [F::Irreversible]);
        let edits = json!({"edits": [{"path": format!("{root}/notes/draft.md"), "old": "a", "new": "b"}]});
        assert_eq!(served("mcp__workspace__apply_edits", &edits), []);
        assert_eq!(served("mcp__acme__manage_user", &json!({"action": "delete", "id": 3})), [F::Irreversible]);
        assert_eq!(served("mcp__acme__manage_user", &json!({"action": "get", "id": 3})), []);
        assert_eq!(served("mcp__acme__db_call", &json!({"params": {"text": "DROP TABLE t"}})), [F::Irreversible]);
        assert_eq!(served("mcp__acme__create_note", &json!({"body": "DROP TABLE t"})), []);
        assert_eq!(served("mcp__acme__fetch", &json!({"uri": "file://.env"})), [F::Secret]);
        let hosted = json!({"owner": "o", "repo": "r", "branch": "x", "path": "notes/draft.md", "content": "x"});
        assert_eq!(served("mcp__github__create_or_update_file", &hosted), []);
    }

    #[test]
    fn a_served_shell_is_a_shell() {
        let scene = Scene::new();
        let run = |input: &Value| scene.facts("mcp__desktop-commander__execute_command", input);
        assert_eq!(run(&json!({"command": "rm -rf notes"})), [F::Irreversible]);
        assert_eq!(run(&json!({"command": "rm", "args": ["-rf", "notes"]})), [F::Irreversible]);
        assert_eq!(run(&json!({"command": "ls -la"})), []);
    }

    #[test]
    fn a_served_file_tool_names_places_of_this_machine() {
        let scene = Scene::new();
        let at = |path: &str| json!({"path": scene.root.join(path), "destination": scene.root.join("notes/draft.md")});
        assert_eq!(scene.facts("mcp__filesystem__move_file", &at("README.md")), [F::Irreversible]);
        assert_eq!(scene.facts("mcp__filesystem__read_text_file", &json!({"path": "file://.env"})), [F::Secret]);
        assert_eq!(scene.facts("mcp__filesystem__write_file", &json!({"path": "src/app.ts"})), []);
    }
}
