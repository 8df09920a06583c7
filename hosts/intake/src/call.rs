//! A tool call as a proposal, and what became of it as an observation.

use crate::surroundings::Surroundings;
use crate::tools::{self, Tool};
use serde_json::{Map, Value};
use stigmergate_core::digest::Digest;
use stigmergate_core::facts::{Act, Call, Class};
use stigmergate_core::kernel::Observation;
use stigmergate_core::location::Location;
use stigmergate_core::policy::Policy;
use stigmergate_core::proposal::Proposal;

/// A call as a host tells it.
#[derive(Clone, Debug)]
pub struct ToolCall<'a> {
    /// The host: `claude`.
    pub host: &'a str,
    /// The session.
    pub session: &'a str,
    /// The call's own id.
    pub id: &'a str,
    /// The kind of sub-agent, where one calls.
    pub agent_type: Option<&'a str>,
    /// The tool's name.
    pub name: &'a str,
    /// What the tool does.
    pub tool: Tool<'a>,
    /// Its input, after all rewriting.
    pub input: &'a Map<String, Value>,
}

impl ToolCall<'_> {
    /// The proposal's id: host, session and call (SPEC 12).
    #[must_use]
    pub fn proposal_id(&self) -> String {
        let full = format!("{}:{}:{}", self.host, self.session, self.id);
        let clean = !full.chars().any(char::is_control);
        if full.len() <= 250 && clean {
            full
        } else {
            format!("{}:{}", self.host, Digest::of("stigmergate call id", full.as_bytes()))
        }
    }

    /// The agent: host and agent type.
    #[must_use]
    pub fn agent(&self) -> String {
        let kind = self.agent_type.map(|kind| kind.chars().filter(|c| !c.is_control()).take(120).collect::<String>());
        match kind.filter(|kind| !kind.trim().is_empty()) {
            Some(kind) => format!("{}/{kind}", self.host),
            None => self.host.to_string(),
        }
    }

    /// The digest of exactly what would run, and where.
    #[must_use]
    pub fn digest(&self, around: &Surroundings) -> Digest {
        // Objects are kept sorted by key, so that equal inputs have one text.
        let what = Value::from(vec![
            Value::from(self.name),
            Value::Object(self.input.clone()),
            Value::from(around.directory().to_string_lossy().into_owned()),
        ]);
        Digest::of("stigmergate call", what.to_string().as_bytes())
    }

    /// The call as a proposal: facts as they are now.
    #[must_use]
    pub fn propose(&self, around: &Surroundings, policy: &Policy) -> Proposal {
        let read = tools::read(self.name, &self.tool, self.input, around, policy, true);
        let target = main_place(&read.acts);
        let action: String = self.name.chars().filter(|c| !c.is_control()).take(120).collect();
        let action = if action.trim().is_empty() { "tool".to_string() } else { action };
        let mut proposal = Proposal::new(&self.proposal_id(), &self.agent(), &action, target);
        proposal.call = Some(Call {
            tool: action,
            session: crate::commands::cut(self.session, 250),
            digest: self.digest(around),
            acts: read.acts,
            facts: read.facts,
        });
        proposal
    }

    /// What became of the call.
    #[must_use]
    pub fn observation(&self, around: &Surroundings, policy: &Policy, ok: bool, interrupted: bool) -> Observation {
        let read = tools::read(self.name, &self.tool, self.input, around, policy, false);
        let stamps =
            read.changed.into_iter().filter_map(|(place, path)| Some((place, crate::repository::stamp(&path)?)));
        Observation {
            proposal_id: self.proposal_id(),
            ok,
            interrupted,
            stamps: stamps.take(1000).collect(),
            cost: None,
        }
    }
}

/// The place that a call is about: that of its gravest act, the first of those.
fn main_place(acts: &[Act]) -> Location {
    let gravest = acts.iter().map(|act| act.class).max().unwrap_or(Class::Read);
    acts.iter().find(|act| act.class == gravest).map_or_else(|| Location::own("call"), |act| act.place.clone())
}
