//! What a tool does, whatever the host calls it.
//!
//! Names are compared as letters and digits in lower case, so that `run_shell_command`, `runShellCommand` and `RunShellCommand` are
//! one. A name that is not known is read like the tool of a server: by its verb and by what stands in its input.

use super::event::EventError;
use crate::patch;
use crate::shell::Dialect;
use crate::tools::Tool;
use serde_json::{Map, Value};
use std::borrow::Cow;
use stigmergate_core::facts::Effect;

/// The name under which an input that is one text is kept.
pub(super) const WHOLE: &str = "input";

/// What a tool means.
pub(super) struct Meaning<'a> {
    /// The name that is common to all hosts.
    pub(super) common_name: Cow<'a, str>,
    pub(super) tool: Tool<'a>,
}

/// How a tool's input is read.
#[derive(Clone, Copy)]
enum Reading {
    /// A command, for a shell of this kind.
    Shell(Dialect),
    /// A path, and what happens to it.
    Path(Effect),
    /// Paths that are only read, if any are named.
    Search,
    /// A file that goes from one path to another.
    Move,
    /// A patch.
    Patch,
    /// An editor whose commands are in its input: `view`, `create`, `str_replace`.
    Editor,
    /// The web is asked.
    Web,
    /// Nothing.
    Looks,
}

/// Common name, how the input is read, and the names that hosts have for it.
type Row = (&'static str, Reading, &'static [&'static str]);

/// The tools that hosts have of their own.
const TOOLS: [Row; 16] = [
    (
        "Bash",
        Reading::Shell(Dialect::Posix),
        &[
            "bash",
            "shell",
            "sh",
            "monitor",
            "runshellcommand",
            "shellcommand",
            "localshell",
            "containerexec",
            "execcommand",
            "executecommand",
            "runcommand",
            "runterminalcmd",
            "runterminalcommand",
            "runinterminal",
            "terminal",
            "unifiedexec",
            // Text that is typed into a shell that runs.
            "writestdin",
            "writebash",
        ],
    ),
    ("PowerShell", Reading::Shell(Dialect::PowerShell), &["powershell", "pwsh", "writepowershell"]),
    (
        "Read",
        Reading::Path(Effect::Read),
        &["read", "readfile", "notebookread", "view", "viewimage", "viewfile", "openfile", "readtextfile"],
    ),
    (
        "Edit",
        Reading::Path(Effect::Edit),
        &[
            "edit",
            "multiedit",
            "replace",
            "editfile",
            "strreplace",
            "searchreplace",
            "insert",
            "editnotebook",
            "replaceinfile",
            "applydiff",
            "notebookedit",
        ],
    ),
    (
        "Write",
        Reading::Path(Effect::Overwrite),
        &["write", "writefile", "create", "createfile", "savefile", "writetofile"],
    ),
    ("Delete", Reading::Path(Effect::Delete), &["delete", "deletefile", "removefile", "deletedirectory", "remove"]),
    ("Move", Reading::Move, &["move", "movefile", "rename", "renamefile"]),
    ("Edit", Reading::Patch, &["applypatch", "patch"]),
    ("Edit", Reading::Editor, &["strreplaceeditor", "strreplacebasededittool", "texteditor", "editor"]),
    (
        "Grep",
        Reading::Search,
        &["grep", "searchfilecontent", "grepsearch", "ripgrep", "rg", "codebasesearch", "semanticsearch", "searchcode"],
    ),
    ("Glob", Reading::Search, &["glob", "filesearch", "globfilesearch", "findfiles", "search"]),
    ("LS", Reading::Search, &["ls", "list", "listdir", "listdirectory", "listfiles"]),
    ("Read", Reading::Search, &["readmanyfiles", "readlints", "readfiles"]),
    ("WebFetch", Reading::Web, &["webfetch", "fetch", "fetchurl", "fetchwebpage", "openurl", "browse"]),
    ("WebSearch", Reading::Web, &["websearch", "googlewebsearch", "searchweb"]),
    (
        "",
        Reading::Looks,
        &[
            "todowrite",
            "todoread",
            "writetodos",
            "updatetodo",
            "updateplan",
            "planwrite",
            "createplan",
            "bashoutput",
            "readbash",
            "readpowershell",
            "listbash",
            "listpowershell",
            "stopbash",
            "stoppowershell",
            "killshell",
            "killbash",
            "taskoutput",
            "taskstop",
            "exitplanmode",
            "enterplanmode",
            "askuserquestion",
            "askuser",
            "askquestion",
            "requestuserinput",
            "askfollowupquestion",
            "toolsearch",
            "listmcpresourcestool",
            "readmcpresourcetool",
            "listmcpresources",
            "listmcpresourcetemplates",
            "readmcpresource",
            "fetchmcpresource",
            "tasklist",
            "taskget",
            "taskcreate",
            "taskupdate",
            "taskcomplete",
            "task",
            "agent",
            "invokeagent",
            "readagent",
            "writeagent",
            "listagents",
            "delegatetoagent",
            "spawnagent",
            "waitagent",
            "wait",
            "closeagent",
            "sendinput",
            "resumeagent",
            "codebaseinvestigator",
            "clihelp",
            "completetask",
            "skill",
            "activateskill",
            "getinternaldocs",
            "fetchcopilotclidocumentation",
            "reportintent",
            "reportprogress",
            "lsp",
            "think",
            "switchmode",
            "structuredoutput",
            "sendmessage",
            "sleep",
            "exitworktree",
            "enterworktree",
            "slashcommand",
            "updatetopic",
            "savememory",
            "storememory",
            "getgoal",
            "updategoal",
            "getcontextremaining",
            "followuptask",
            "requestpermissions",
            // A database that the host keeps for the session.
            "sql",
            "sessionstoresql",
        ],
    ),
];

const COMMAND: [&str; 5] = ["command", "cmd", "script", "commandLine", "command_line"];
/// Where a tool that is known to type into a shell has the text.
const TYPED: [&str; 2] = ["chars", WHOLE];
const FOLDER: [&str; 8] =
    ["workdir", "working_directory", "workingDirectory", "dir_path", "directory", "cwd", "work_dir", "workDir"];
const PATH: [&str; 11] = [
    "file_path",
    "filePath",
    "absolute_path",
    "absolutePath",
    "notebook_path",
    "target_notebook",
    "target_file",
    "targetFile",
    "path",
    "filename",
    "file",
];
const PATHS: [&str; 10] = [
    "path",
    "file_path",
    "dir_path",
    "target_directory",
    "directory",
    "paths",
    "files",
    "include",
    "target_directories",
    "file_paths",
];
const SOURCE: [&str; 7] = ["source", "source_path", "sourcePath", "old_path", "oldPath", "from", "path"];
const DESTINATION: [&str; 8] =
    ["destination", "destination_path", "destinationPath", "new_path", "newPath", "to", "target", "dest"];
const PATCH: [&str; 6] = ["patch", "input", "command", "diff", "patchText", "patch_text"];

/// What a tool means. `served`: the server of a served tool and its name there, where the host says so.
///
/// # Errors
/// [`EventError`] for an input without what the tool needs.
pub(super) fn meaning<'a>(
    name: &'a str,
    served: Option<(&'a str, &'a str)>,
    input: &'a Map<String, Value>,
) -> Result<Meaning<'a>, EventError> {
    if let Some((server, verb)) = served.or_else(|| served_name(name)) {
        let common_name = format!("mcp__{server}__{verb}").into();
        return Ok(Meaning { common_name, tool: Tool::Mcp { verb, server } });
    }
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let known = TOOLS.iter().find(|(_, _, names)| names.contains(&letters.as_str()));
    let Some((common, reading, _)) = known else {
        // Whatever it is called, a text to run is read as one.
        let tool = shell(input, &COMMAND, Dialect::Posix).unwrap_or(Tool::Mcp { verb: name, server: "" });
        return Ok(Meaning { common_name: name.into(), tool });
    };
    let common_name = if common.is_empty() { name } else { common }.into();
    let tool = read(*reading, input).map_err(|expected| EventError { field: "tool_input", expected })?;
    Ok(Meaning { common_name, tool })
}

/// The server and the verb in a name: `mcp__server__verb`, `MCP:verb`.
fn served_name(name: &str) -> Option<(&str, &str)> {
    let in_parts = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    let in_cursor = || name.strip_prefix("MCP:").map(|verb| ("mcp", verb.trim()));
    let in_gemini = || name.strip_prefix("mcp_").and_then(|rest| rest.split_once('_'));
    in_parts.or_else(in_cursor).or_else(in_gemini)
}

fn read(reading: Reading, input: &Map<String, Value>) -> Result<Tool<'_>, String> {
    match reading {
        Reading::Shell(dialect) => shell(input, &COMMAND, dialect)
            .or_else(|| shell(input, &TYPED, dialect))
            .ok_or_else(|| "command, a text".to_string()),
        Reading::Path(effect) => match text(input, &PATH) {
            Some(path) => Ok(Tool::Files(vec![(path, effect)])),
            // Copilot has one name for all its tools that edit.
            None if effect == Effect::Edit => patched(input),
            None => Err("file_path, a path".to_string()),
        },
        Reading::Search => Ok(searched(input)),
        Reading::Move => {
            let from = text(input, &SOURCE).ok_or_else(|| "source, a path".to_string())?;
            let to = text(input, &DESTINATION).ok_or_else(|| "destination, a path".to_string())?;
            Ok(Tool::Files(vec![(from, Effect::Move), (to, Effect::Overwrite)]))
        }
        Reading::Patch => patched(input),
        Reading::Editor => {
            let path = text(input, &PATH).ok_or_else(|| "path, a path".to_string())?;
            let effect = match text(input, &["command"]) {
                Some("view") => Effect::Read,
                Some("create" | "write" | "undo_edit") => Effect::Overwrite,
                Some("delete") => Effect::Delete,
                _ => Effect::Edit,
            };
            Ok(Tool::Files(vec![(path, effect)]))
        }
        Reading::Web => Ok(Tool::Web),
        Reading::Looks => Ok(Tool::Looks),
    }
}

fn patched(input: &Map<String, Value>) -> Result<Tool<'_>, String> {
    let files = text(input, &PATCH).map(patch::files).filter(|files| !files.is_empty());
    // Some hosts name a file beside the text.
    let named = || text(input, &PATH).map(|path| vec![(path, Effect::Edit)]);
    files
        .or_else(named)
        .map(Tool::Files)
        .ok_or_else(|| "file_path, a path, or a patch that names its files".to_string())
}

/// A command: a text, or a list of words, which are quoted so that each stays one.
fn shell<'a>(input: &'a Map<String, Value>, fields: &[&str], dialect: Dialect) -> Option<Tool<'a>> {
    let command = fields.iter().find_map(|field| match input.get(*field) {
        Some(Value::String(text)) => Some(Cow::Borrowed(text.as_str())),
        Some(Value::Array(words)) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            Some(Cow::Owned(words?.into_iter().map(crate::shell::quote).collect::<Vec<_>>().join(" ")))
        }
        _ => None,
    })?;
    let directory = text(input, &FOLDER);
    Some(Tool::Shell { command, dialect, directory })
}

/// A search names places by paths, and by a pattern of names.
fn searched(input: &Map<String, Value>) -> Tool<'_> {
    let names = text(input, &["glob", "include_pattern", "include"]);
    let names = names.map(|glob| glob.trim_start_matches("**/").trim_end_matches('*')).filter(|name| !name.is_empty());
    let named = PATHS.iter().filter_map(|field| input.get(*field)).flat_map(crate::tools::texts);
    let named = named.filter(|path| !path.is_empty()).take(256).chain(names);
    let paths: Vec<(&str, Effect)> = named.map(|path| (path, Effect::Read)).collect();
    if paths.is_empty() { Tool::Looks } else { Tool::Files(paths) }
}

fn text<'a>(input: &'a Map<String, Value>, fields: &[&str]) -> Option<&'a str> {
    fields.iter().find_map(|field| input.get(*field)).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn files(name: &str, input: &Value) -> Vec<(String, Effect)> {
        match meaning(name, None, input.as_object().unwrap()).unwrap().tool {
            Tool::Files(files) => files.into_iter().map(|(path, effect)| (path.to_string(), effect)).collect(),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn file_tools_are_known_by_any_hosts_name_and_fields() {
        let one = |path: &str, effect| vec![(path.to_string(), effect)];
        assert_eq!(files("write_file", &json!({"file_path": "a"})), one("a", Effect::Overwrite));
        assert_eq!(files("create", &json!({"path": "a", "file_text": ""})), one("a", Effect::Overwrite));
        assert_eq!(files("Delete", &json!({"file_path": "a"})), one("a", Effect::Delete));
        assert_eq!(files("replace", &json!({"file_path": "a"})), one("a", Effect::Edit));
        assert_eq!(files("StrReplace", &json!({"target_file": "a"})), one("a", Effect::Edit));
        assert_eq!(
            files("str_replace_editor", &json!({"command": "create", "path": "a"})),
            one("a", Effect::Overwrite)
        );
        assert_eq!(files("str_replace_editor", &json!({"command": "view", "path": "a"})), one("a", Effect::Read));
        assert_eq!(files("read_many_files", &json!({"include": ["a"]})), one("a", Effect::Read));
        assert_eq!(files("grep_search", &json!({"pattern": "x", "dir_path": "a"})), one("a", Effect::Read));
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        for field in ["command", "input", "patch"] {
            assert_eq!(files("apply_patch", &json!({field: patch})), one("a", Effect::Delete));
        }
        // Copilot calls all its editing tools `Edit` in one of its forms.
        assert_eq!(files("Edit", &json!({"input": patch})), one("a", Effect::Delete));
    }

    #[test]
    fn a_command_may_be_a_list_and_name_its_folder() {
        let input = json!({"command": ["bash", "-lc", "rm a b"], "workdir": "/w"});
        let meaning = meaning("local_shell", None, input.as_object().unwrap()).unwrap();
        let Tool::Shell { command, directory, .. } = meaning.tool else { panic!("a shell") };
        assert_eq!((&*command, directory), ("bash -lc 'rm a b'", Some("/w")));
    }

    #[test]
    fn a_tool_without_what_it_needs_is_an_error() {
        for (name, input) in [
            ("Bash", json!({})),
            ("Write", json!({"content": "x"})),
            ("apply_patch", json!({"command": "hello"})),
            ("move_file", json!({"source": "a"})),
        ] {
            assert!(meaning(name, None, input.as_object().unwrap()).is_err(), "{name}");
        }
    }

    #[test]
    fn no_name_stands_for_two_tools() {
        let mut names: Vec<&str> = TOOLS.iter().flat_map(|(_, _, names)| names.iter().copied()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
