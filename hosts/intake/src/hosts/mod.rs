//! The hosts: how each tells of a call, and how each is answered.
//!
//! The one idea: whatever the host, what it writes becomes one [`Event`], whose tool has one common name and one meaning
//! (`vocabulary`), and what was decided becomes that host's own [`Answer`]. A host is a row of data wherever a row can say it.
//!
//! | room | idea |
//! |---|---|
//! | `event` | a host's event, whatever its fields are called |
//! | `vocabulary` | what a tool does, whatever the host calls it |
//! | `answer` | a decision in the host's own words |

mod answer;
mod event;
mod vocabulary;

pub use answer::{Answer, Permission};
pub use event::{Event, EventError, Kind};

/// A program that runs agents and asks before each of their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
}

impl Host {
    /// All hosts.
    pub const ALL: [Self; 5] = [Self::Claude, Self::Codex, Self::Gemini, Self::Copilot, Self::Cursor];

    /// The name in commands, ids and agents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
        }
    }

    /// The name that people know it by.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
        }
    }

    /// The host of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.name() == name)
    }

    /// Whether every event has an id of the call.
    const fn names_calls(self) -> bool {
        matches!(self, Self::Claude | Self::Codex)
    }
}
