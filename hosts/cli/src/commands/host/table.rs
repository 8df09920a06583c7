//! What each host's settings look like, as data: one entry for each host, and nothing here does anything.
//!
//! Read in the published packages and the documentation of the hosts, late 2026.

use super::line::Quoting;
use crate::json_text::Dialect;
use stigmergate_intake::hosts::Host;

/// How a host is told to start a program.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) host: Host,
    /// The events, in the order in which they are written.
    pub(crate) events: &'static [Event],
    /// The settings files; the first one is the default.
    pub(crate) places: &'static [Place],
    /// Hooks stand in groups, each with a matcher of tools.
    pub(crate) grouped: bool,
    /// The file begins with `"version": 1`.
    pub(crate) versioned: bool,
    pub(crate) dialect: Dialect,
    /// Members of each hook before those of the launch.
    pub(crate) named: &'static [(&'static str, &'static str)],
    pub(crate) launch: Launch,
    pub(crate) timeout: Timeout,
    /// What makes a failure of the hook itself stop the call, where that has to be said.
    pub(crate) fail_closed: Option<(&'static str, FailClosed)>,
    /// Where hooks are switched off.
    pub(crate) switches: &'static [Switch],
    /// What a person has to know after `init`.
    pub(crate) remarks: &'static [&'static str],
    /// The tool that runs a command, for the events of `doctor`.
    pub(crate) shell_tool: &'static str,
}

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    pub(crate) moment: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before a call: here it can be stopped.
    Before,
    After,
    /// After a call that failed, where the host tells that apart.
    Failed,
}

/// A settings file.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) scope: Reach,
    pub(crate) base: Base,
    /// Below the base.
    pub(crate) path: &'static str,
}

/// For whom settings hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Project,
    Local,
    User,
}

impl Reach {
    pub(crate) const fn flag(self) -> &'static str {
        match self {
            Self::Project => "--project",
            Self::Local => "--local",
            Self::User => "--user",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Base {
    /// The repository's root.
    Root,
    /// This folder of the home, or the one that the variable names.
    Folder(&'static str, Option<&'static str>),
    /// The home, or the one that the variable names.
    Home(&'static str),
    /// An absolute path, for each platform in turn: Linux, macOS, Windows.
    Machine([&'static str; 3]),
}

/// How the program and its arguments are written.
#[derive(Debug)]
pub(crate) enum Launch {
    /// The program as `command`, the rest as `args`: no shell, whatever a path holds.
    Exec,
    /// A line for a shell under each of the keys.
    Line(&'static [(&'static str, Quoting)]),
}

#[derive(Debug)]
pub(crate) struct Timeout {
    pub(crate) key: &'static str,
    /// How many of its units are a second.
    pub(crate) per_second: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum FailClosed {
    Text(&'static str),
    True,
}

/// A setting that takes hooks out of force.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) file: SwitchFile,
    pub(crate) path: &'static [&'static str],
    pub(crate) off: Off,
}

#[derive(Debug)]
pub(crate) enum SwitchFile {
    /// Each file that may hold hooks.
    Settings,
    Other(Base, &'static str),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Off {
    /// With this value.
    Is(bool),
    /// When the list names the hook.
    Names,
}

pub(crate) fn form(host: Host) -> &'static Form {
    match host {
        Host::Claude => &CLAUDE,
        Host::Codex => &CODEX,
        Host::Gemini => &GEMINI,
        Host::Copilot => &COPILOT,
        Host::Cursor => &CURSOR,
    }
}

pub(crate) const FORMS: [&Form; 5] = [&CLAUDE, &CODEX, &GEMINI, &COPILOT, &CURSOR];

const fn before(name: &'static str) -> Event {
    Event { name, moment: Moment::Before }
}

const fn after(name: &'static str) -> Event {
    Event { name, moment: Moment::After }
}

const fn failed(name: &'static str) -> Event {
    Event { name, moment: Moment::Failed }
}

const fn project(path: &'static str) -> Place {
    Place { scope: Reach::Project, base: Base::Root, path }
}

const fn user(base: Base, path: &'static str) -> Place {
    Place { scope: Reach::User, base, path }
}

const COMMAND: (&str, &str) = ("type", "command");
const SECONDS: Timeout = Timeout { key: "timeout", per_second: 1 };

const CLAUDE_FOLDER: Base = Base::Folder(".claude", Some("CLAUDE_CONFIG_DIR"));
const CLAUDE_MANAGED: SwitchFile = SwitchFile::Other(
    Base::Machine(["/etc/claude-code", "/Library/Application Support/ClaudeCode", "C:\\Program Files\\ClaudeCode"]),
    "managed-settings.json",
);

static CLAUDE: Form = Form {
    host: Host::Claude,
    events: &[before("PreToolUse"), after("PostToolUse"), failed("PostToolUseFailure")],
    places: &[
        project(".claude/settings.json"),
        Place { scope: Reach::Local, base: Base::Root, path: ".claude/settings.local.json" },
        user(CLAUDE_FOLDER, "settings.json"),
    ],
    grouped: true,
    versioned: false,
    dialect: Dialect::Strict,
    named: &[COMMAND],
    launch: Launch::Exec,
    timeout: SECONDS,
    fail_closed: Some(("onFailure", FailClosed::Text("block"))),
    switches: &[
        Switch { file: SwitchFile::Settings, path: &["disableAllHooks"], off: Off::Is(true) },
        Switch { file: CLAUDE_MANAGED, path: &["disableAllHooks"], off: Off::Is(true) },
        Switch { file: CLAUDE_MANAGED, path: &["allowManagedHooksOnly"], off: Off::Is(true) },
    ],
    remarks: &[
        "a broken hook blocks the call from Claude Code 2.1.295 on; earlier versions let it through",
        "sessions that run already need a restart",
    ],
    shell_tool: "Bash",
};

const CODEX_FOLDER: Base = Base::Folder(".codex", Some("CODEX_HOME"));

static CODEX: Form = Form {
    host: Host::Codex,
    events: &[before("PreToolUse"), after("PostToolUse")],
    places: &[project(".codex/hooks.json"), user(CODEX_FOLDER, "hooks.json")],
    grouped: true,
    versioned: false,
    dialect: Dialect::Strict,
    named: &[COMMAND],
    launch: Launch::Line(&[("command", if cfg!(windows) { Quoting::Cmd } else { Quoting::Posix })]),
    timeout: SECONDS,
    fail_closed: None,
    // Its switches and its trust stand in `config.toml`: see `doctor`.
    switches: &[],
    remarks: &[
        "Codex skips a hook until you trust it, and again after each change: start Codex and type /hooks",
        "hooks are on from Codex 0.124 on; a broken hook, or one that takes too long, lets the call through",
    ],
    shell_tool: "Bash",
};

const GEMINI_HOME: Base = Base::Home("GEMINI_CLI_HOME");
const GEMINI_SYSTEM: SwitchFile = SwitchFile::Other(
    Base::Machine(["/etc/gemini-cli", "/Library/Application Support/GeminiCli", "C:\\ProgramData\\gemini-cli"]),
    "settings.json",
);

static GEMINI: Form = Form {
    host: Host::Gemini,
    events: &[before("BeforeTool"), after("AfterTool")],
    places: &[project(".gemini/settings.json"), user(GEMINI_HOME, ".gemini/settings.json")],
    grouped: true,
    versioned: false,
    dialect: Dialect::Comments,
    named: &[("name", "stigmergate"), COMMAND],
    launch: Launch::Line(&[("command", if cfg!(windows) { Quoting::PowerShell } else { Quoting::Posix })]),
    timeout: Timeout { key: "timeout", per_second: 1000 },
    fail_closed: None,
    switches: &[
        Switch { file: SwitchFile::Settings, path: &["hooksConfig", "enabled"], off: Off::Is(false) },
        Switch { file: SwitchFile::Settings, path: &["hooksConfig", "disabled"], off: Off::Names },
        Switch { file: SwitchFile::Settings, path: &["tools", "enableHooks"], off: Off::Is(false) },
        Switch { file: SwitchFile::Settings, path: &["hooks", "enabled"], off: Off::Is(false) },
        Switch { file: SwitchFile::Settings, path: &["hooks", "disabled"], off: Off::Names },
        Switch { file: GEMINI_SYSTEM, path: &["hooksConfig", "enabled"], off: Off::Is(false) },
        Switch { file: GEMINI_SYSTEM, path: &["hooksConfig", "disabled"], off: Off::Names },
    ],
    remarks: &[
        "Gemini CLI runs hooks only in folders that you trust; a hook that takes too long lets the call through",
        "sessions that run already need a restart",
    ],
    shell_tool: "run_shell_command",
};

const COPILOT_FOLDER: Base = Base::Folder(".copilot", Some("COPILOT_HOME"));

static COPILOT: Form = Form {
    host: Host::Copilot,
    events: &[before("preToolUse"), after("postToolUse"), failed("postToolUseFailure")],
    places: &[project(".github/hooks/stigmergate.json"), user(COPILOT_FOLDER, "hooks/stigmergate.json")],
    grouped: false,
    versioned: true,
    dialect: Dialect::Strict,
    named: &[COMMAND],
    // It has a form without a shell too, which earlier versions and the cloud agent drop without a word.
    launch: Launch::Line(&[("bash", Quoting::Posix), ("powershell", Quoting::PowerShell)]),
    timeout: Timeout { key: "timeoutSec", per_second: 1 },
    fail_closed: None,
    switches: &[
        Switch { file: SwitchFile::Settings, path: &["disableAllHooks"], off: Off::Is(true) },
        Switch {
            file: SwitchFile::Other(COPILOT_FOLDER, "settings.json"),
            path: &["disableAllHooks"],
            off: Off::Is(true),
        },
        Switch {
            file: SwitchFile::Other(COPILOT_FOLDER, "settings.json"),
            path: &["allowManagedHooksOnly"],
            off: Off::Is(true),
        },
        Switch {
            file: SwitchFile::Other(COPILOT_FOLDER, "config.json"),
            path: &["disableAllHooks"],
            off: Off::Is(true),
        },
        Switch {
            file: SwitchFile::Other(Base::Root, ".github/copilot/settings.json"),
            path: &["disableAllHooks"],
            off: Off::Is(true),
        },
        Switch {
            file: SwitchFile::Other(Base::Root, ".github/copilot/settings.local.json"),
            path: &["disableAllHooks"],
            off: Off::Is(true),
        },
    ],
    remarks: &[
        "Copilot runs hooks of a project only in folders that you trust; one that takes too long lets the call through",
        "its cloud agent reads the project's file too: it is denied each tool where the program is not there",
        "sessions that run already need a restart",
    ],
    shell_tool: "bash",
};

static CURSOR: Form = Form {
    host: Host::Cursor,
    events: &[before("preToolUse"), after("postToolUse"), failed("postToolUseFailure")],
    places: &[project(".cursor/hooks.json"), user(Base::Folder(".cursor", None), "hooks.json")],
    grouped: false,
    versioned: true,
    dialect: Dialect::Strict,
    named: &[],
    launch: Launch::Line(&[("command", if cfg!(windows) { Quoting::PowerShell } else { Quoting::Posix })]),
    timeout: SECONDS,
    fail_closed: Some(("failClosed", FailClosed::True)),
    switches: &[],
    remarks: &[
        "Cursor runs hooks of a project only in workspaces that you trust, and reads changed hooks by itself",
        "its cloud agents read the project's file too: they are denied each tool where the program is not there",
    ],
    shell_tool: "Shell",
};
