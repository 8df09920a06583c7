//! What an agent proposes, in the form that is judged, digested and journalled.

use crate::budget::Cost;
use crate::digest::Digest;
use crate::error::{Error, Field};
use crate::facts::{Act, Call, Class};
use crate::falsify::{Plan, Texts};
use crate::location::{Location, check_length};
use crate::policy::{Bounds, Pipeline};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A proposal.
///
/// ```
/// use stigmergate_core::proposal::Proposal;
/// let proposal: Proposal = serde_json::from_str(r#"{
///     "proposal_id": "p1", "agent_id": "ag-1", "action_type": "patch_file", "target": "core.parser",
///     "rationale": "fix the off-by-one in the tokenizer", "rollback_plan": "git revert the commit",
///     "evidence": {"test": "t1"}, "expected_outcome": "test_tokenizer passes"
/// }"#).unwrap();
/// assert!(!proposal.missing().rollback_plan);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// Who proposes; in hooks host and agent type (`claude/code-reviewer`).
    pub agent_id: String,
    /// The proposal's id. In hooks host, session and call.
    #[serde(alias = "id")]
    pub proposal_id: String,
    /// What kind of agent it is, for people.
    #[serde(default)]
    pub agent_type: String,
    /// What would be done: `patch_file`, `delete`, ...
    pub action_type: String,
    /// Where.
    pub target: Location,
    /// Why.
    #[serde(default)]
    pub rationale: String,
    /// How it would be undone.
    #[serde(default)]
    pub rollback_plan: Option<String>,
    /// What speaks for it.
    #[serde(default)]
    pub evidence: Grounds,
    /// What will be the case afterwards.
    #[serde(default)]
    pub expected_outcome: Option<String>,
    /// What it is thought to cost.
    #[serde(default)]
    pub budget_estimate: Cost,
    /// How it is tested.
    #[serde(default)]
    pub tests: Option<Texts>,
    /// How its success is measured.
    #[serde(default)]
    pub metrics: Option<Texts>,
    /// What belongs to it.
    #[serde(default)]
    pub scope: Option<String>,
    /// What it depends on.
    #[serde(default)]
    pub dependencies: Option<Texts>,
    /// How it is kept up.
    #[serde(default)]
    pub maintenance_plan: Option<String>,
    /// Who answers for it.
    #[serde(default)]
    pub owner: Option<String>,
    /// Who answers for it, as a statement.
    #[serde(default)]
    pub ownership: Option<String>,
    /// How it ends.
    #[serde(default)]
    pub deprecation_plan: Option<String>,
    /// How it is run.
    #[serde(default)]
    pub runbook: Option<String>,
    /// Which module imports which, where a host has looked.
    #[serde(default)]
    pub imports: Option<Vec<(String, Vec<String>)>>,
    /// How strictly it is judged; without one the policy decides by the action type.
    #[serde(default)]
    pub class: Option<Class>,
    /// The tool call that it was observed in; then facts speak instead of texts.
    #[serde(default)]
    pub call: Option<Call>,
}

impl Proposal {
    /// A proposal that says nothing but who, what and where.
    #[must_use]
    pub fn new(proposal_id: &str, agent_id: &str, action_type: &str, target: Location) -> Self {
        Self {
            agent_id: agent_id.to_string(),
            proposal_id: proposal_id.to_string(),
            agent_type: String::new(),
            action_type: action_type.to_string(),
            target,
            rationale: String::new(),
            rollback_plan: None,
            evidence: Grounds::default(),
            expected_outcome: None,
            budget_estimate: Cost::default(),
            tests: None,
            metrics: None,
            scope: None,
            dependencies: None,
            maintenance_plan: None,
            owner: None,
            ownership: None,
            deprecation_plan: None,
            runbook: None,
            imports: None,
            class: None,
            call: None,
        }
    }

    /// Reads a proposal from JSON.
    ///
    /// # Errors
    /// [`Error::Json`] that says what is missing, unknown or of the wrong type, and where.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Ok(serde_json::from_str(text)?)
    }

    /// Which of the asked fields are missing: absent, blank or empty.
    #[must_use]
    pub fn missing(&self) -> crate::gate::Missing {
        let blank = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        crate::gate::Missing {
            rollback_plan: blank(&self.rollback_plan),
            evidence: self.evidence.is_empty(),
            expected_outcome: blank(&self.expected_outcome),
        }
    }

    /// What the text checks read: everything, or what the published pipeline passes on (SPEC 7).
    #[must_use]
    pub fn plan(&self, pipeline: Pipeline) -> Plan<'_> {
        let mut plan = Plan {
            target: self.target.as_str(),
            action_type: &self.action_type,
            rationale: &self.rationale,
            rollback_plan: self.rollback_plan.as_deref(),
            ..Plan::default()
        };
        if pipeline == Pipeline::Standard {
            plan.agent_id = &self.agent_id;
            plan.expected_outcome = self.expected_outcome.as_deref();
            plan.tests = self.tests.as_ref();
            plan.metrics = self.metrics.as_ref();
            plan.dependencies = self.dependencies.as_ref();
            plan.scope = self.scope.as_deref();
            plan.maintenance_plan = self.maintenance_plan.as_deref();
            plan.owner = self.owner.as_deref();
            plan.ownership = self.ownership.as_deref();
            plan.deprecation_plan = self.deprecation_plan.as_deref();
            plan.runbook = self.runbook.as_deref();
            plan.imports = self.imports.as_deref();
        }
        plan
    }

    /// The digest of all its fields and facts in canonical form.
    #[must_use]
    pub fn content(&self) -> Digest {
        // Every type in it has a binary form.
        Digest::of_value("stigmergate proposal", self).unwrap_or_default()
    }

    /// Checks every text, list and number against the policy's bounds.
    ///
    /// # Errors
    /// [`Error::Value`] or [`Error::TooLong`] that names the field.
    pub fn check(&self, bounds: &Bounds) -> Result<(), Error> {
        check_id("proposal_id", &self.proposal_id, bounds)?;
        check_actor("agent_id", &self.agent_id, bounds)?;
        check_id("action_type", &self.action_type, bounds)?;
        check_length("agent_type", &self.agent_type, bounds.id_bytes)?;
        self.target.check("target", bounds.location_bytes)?;
        check_length("rationale", &self.rationale, bounds.text_bytes)?;
        let texts = [
            ("rollback_plan", &self.rollback_plan),
            ("expected_outcome", &self.expected_outcome),
            ("scope", &self.scope),
            ("maintenance_plan", &self.maintenance_plan),
            ("owner", &self.owner),
            ("ownership", &self.ownership),
            ("deprecation_plan", &self.deprecation_plan),
            ("runbook", &self.runbook),
        ];
        for (field, text) in texts {
            check_length(field, text.as_deref().unwrap_or_default(), bounds.text_bytes)?;
        }
        for (field, texts) in [("tests", &self.tests), ("metrics", &self.metrics), ("dependencies", &self.dependencies)]
        {
            check_texts(field, texts.as_ref(), bounds)?;
        }
        self.evidence.check("evidence", bounds)?;
        self.budget_estimate.check("budget_estimate")?;
        check_imports(self.imports.as_deref().unwrap_or_default(), bounds)?;
        self.call.as_ref().map_or(Ok(()), |call| check_call(call, bounds))
    }
}

/// Checks an id: not empty, within the bound, no control characters.
pub(crate) fn check_id(field: &str, id: &str, bounds: &Bounds) -> Result<(), Error> {
    if id.trim().is_empty() {
        return Err(Error::value(field, "text that is not blank"));
    }
    if id.chars().any(char::is_control) {
        return Err(Error::value(field, "text without control characters"));
    }
    check_length(field, id, bounds.id_bytes)
}

/// Whose events verdicts and keys are, in the signed ledger.
pub(crate) const GATE: &str = "gate";

/// Whose events observed outcomes and incidents are.
pub(crate) const HOST: &str = "host";

/// Whether the ledger knows the gate or its host by this name.
pub(crate) fn is_reserved(name: &str) -> bool {
    name == GATE || name == HOST
}

/// Checks the name of an agent or a person: an id, and not one of the gate's own.
pub(crate) fn check_actor(field: &str, name: &str, bounds: &Bounds) -> Result<(), Error> {
    if is_reserved(name) {
        return Err(Error::value(field, "another name: `gate` and `host` are the gate's own in the ledger"));
    }
    check_id(field, name, bounds)
}

fn check_items(field: &str, items: usize, bounds: &Bounds) -> Result<(), Error> {
    if items > bounds.list_items as usize {
        return Err(Error::TooLong {
            field: Field::new(field),
            size: items as u64,
            limit: u64::from(bounds.list_items),
        });
    }
    Ok(())
}

fn check_texts(field: &str, texts: Option<&Texts>, bounds: &Bounds) -> Result<(), Error> {
    let Some(texts) = texts else { return Ok(()) };
    check_items(field, texts.parts().count(), bounds)?;
    texts.parts().try_for_each(|text| check_length(field, text, bounds.text_bytes))
}

fn check_imports(imports: &[(String, Vec<String>)], bounds: &Bounds) -> Result<(), Error> {
    let edges = imports.iter().fold(0_usize, |sum, (_, imported)| sum.saturating_add(imported.len()).saturating_add(1));
    let most = bounds.import_edges as usize;
    if edges > most {
        return Err(Error::TooLong { field: Field::new("imports"), size: edges as u64, limit: most as u64 });
    }
    let names = imports.iter().flat_map(|(module, imported)| core::iter::once(module).chain(imported));
    names.into_iter().try_for_each(|name| check_length("imports", name, bounds.location_bytes))
}

fn check_call(call: &Call, bounds: &Bounds) -> Result<(), Error> {
    check_length("call.tool", &call.tool, bounds.id_bytes)?;
    check_length("call.session", &call.session, bounds.id_bytes)?;
    check_items("call.acts", call.acts.len(), bounds)?;
    check_items("call.facts", call.facts.len(), bounds)?;
    call.facts.iter().try_for_each(|fact| check_length("call.facts.detail", &fact.detail, bounds.text_bytes))?;
    call.acts.iter().enumerate().try_for_each(|(number, act)| {
        check_act(act, bounds).map_err(|error| error.within(&alloc::format!("call.acts.{number}")))
    })
}

fn check_act(act: &Act, bounds: &Bounds) -> Result<(), Error> {
    check_length("kind", &act.kind, bounds.location_bytes)?;
    if act.kind.is_empty() {
        return Err(Error::value("kind", "text that is not empty"));
    }
    act.place.check("place", bounds.location_bytes)?;
    check_items("words", act.words.len(), bounds)?;
    let total = act.words.iter().fold(0_usize, |sum, word| sum.saturating_add(word.len()));
    if total > bounds.text_bytes as usize {
        return Err(Error::TooLong {
            field: Field::new("words"),
            size: total as u64,
            limit: u64::from(bounds.text_bytes),
        });
    }
    check_items("facts", act.facts.len(), bounds)?;
    act.facts.iter().try_for_each(|fact| check_length("facts.detail", &fact.detail, bounds.text_bytes))?;
    check_items("targets", act.targets.len(), bounds)?;
    act.targets.iter().try_for_each(|target| {
        target.place.check("targets.place", bounds.location_bytes)?;
        check_items("targets.lost", target.lost.len(), bounds)?;
        check_length("targets.way_back", target.way_back.as_deref().unwrap_or_default(), bounds.text_bytes)?;
        target.lost.iter().try_for_each(|place| place.check("targets.lost", bounds.location_bytes))
    })
}

/// Evidence: any JSON, kept as its text with sorted keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grounds(String);

impl Grounds {
    /// Whether there is none: absent, `null`, blank text, an empty list or object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self.0.as_str(), "" | "null" | "[]" | "{}")
            || self.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).is_some_and(is_blank_json_text)
    }

    /// The JSON text.
    #[must_use]
    pub fn as_json(&self) -> &str {
        if self.0.is_empty() { "null" } else { &self.0 }
    }

    fn check(&self, field: &str, bounds: &Bounds) -> Result<(), Error> {
        check_length(field, &self.0, bounds.evidence_bytes)?;
        let depth = depth(&self.0);
        if depth > bounds.evidence_depth {
            return Err(Error::TooLong {
                field: Field::new(field),
                size: u64::from(depth),
                limit: u64::from(bounds.evidence_depth),
            });
        }
        Ok(())
    }
}

impl From<serde_json::Value> for Grounds {
    fn from(value: serde_json::Value) -> Self {
        if value.is_null() { Self::default() } else { Self(value.to_string()) }
    }
}

/// Whether the inside of a JSON string is white space once its escapes are read.
fn is_blank_json_text(inside: &str) -> bool {
    inside.replace("\\n", " ").replace("\\t", " ").replace("\\r", " ").replace("\\f", " ").trim().is_empty()
}

/// How deeply a JSON text nests, without recursion.
fn depth(json: &str) -> u32 {
    let (mut deepest, mut level, mut in_text, mut escaped) = (0_u32, 0_u32, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                level = level.saturating_add(1);
                deepest = deepest.max(level);
            }
            b']' | b'}' if !in_text => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

impl Serialize for Grounds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_str(&self.0);
        }
        // It was made from JSON, so that it reads as JSON.
        let value: serde_json::Value = serde_json::from_str(self.as_json()).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grounds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return serde_json::Value::deserialize(deserializer).map(Self::from);
        }
        let text = String::deserialize(deserializer)?;
        // What is not JSON could not be written as JSON again.
        let reads = text.is_empty() || serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        if reads { Ok(Self(text)) } else { Err(serde::de::Error::custom("evidence that is no JSON")) }
    }
}
