//! Every number and table that a judgement depends on, in one validated value (SPEC, all sections).
//!
//! A [`Policy`] is one of three presets, or a preset with some of its fields replaced by JSON. It is valid by construction: an
//! unknown key, a contradictory number or a glob that does not compile is an error that names the field. Nothing outside this
//! module holds a default, a limit or a threshold.

mod about;
mod attest;
pub mod commands;
pub mod falsify;
mod json;
mod known;
mod presets;
mod validate;

use crate::budget::Cost;
use crate::facts::{self, Class, FactKind};
use crate::falsify::{Severity, Vector};
use crate::field::{Decay, Signal, Source};
use crate::fixed::Fixed;
use crate::glob::Glob;
use crate::trust::Role;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

pub use about::about;
pub use attest::Attest;
pub use json::MAX_POLICY_BYTES;

/// The published starting points (SPEC 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// The published kernel exactly, ticks by hand.
    Reference,
    /// Supervised agents: the default.
    Standard,
    /// Open swarms; needs attestation.
    Strict,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 3] = [Self::Reference, Self::Standard, Self::Strict];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Standard => "standard",
            Self::Strict => "strict",
        }
    }
}

/// Which sequence of steps the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pipeline {
    /// SPEC 7.
    Reference,
    /// SPEC 10 and 11.
    Standard,
}

/// A valid policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The preset it started from.
    pub preset: Preset,
    /// The sequence of steps.
    pub pipeline: Pipeline,
    /// Time and ticks.
    pub time: Time,
    /// The signal field.
    pub field: Field,
    /// Budgets.
    pub budget: Budget,
    /// Trust and its changes.
    pub trust: Trust,
    /// The role ladder, specialised assignment and the role matrix.
    pub roles: Roles,
    /// The gate's score.
    pub gate: Gate,
    /// The text checks.
    pub falsify: falsify::Falsify,
    /// What proposals, outcomes and people leave in the field.
    pub deposits: Deposits,
    /// What observed outcomes leave.
    pub observed: Observed,
    /// What each kind of fact means.
    pub facts: BTreeMap<FactKind, FactRule>,
    /// More things destroyed or changed at once than this is the fact `bulk`. Unit: things.
    pub bulk_over: u32,
    /// The class of an action type that names none: the first pattern that matches; without one, `execute`.
    pub classes: Vec<ClassRule>,
    /// Places that are treated specially.
    pub places: Places,
    /// The user's and the project's rules.
    pub rules: Rules,
    /// What is known of commands and tools.
    pub commands: commands::Commands,
    /// Approvals.
    pub approval: Approval,
    /// Session memory.
    pub session: Session,
    /// Pruning.
    pub prune: Prune,
    /// The signed ledger.
    pub attest: Attest,
    /// The sizes that nothing exceeds.
    pub bounds: Bounds,
}

/// Time and ticks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// The length of a tick in milliseconds; 0: ticks are called by hand.
    pub tick_ms: u64,
}

/// The signal field (SPEC 2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Strength that a fast trace loses in a tick.
    pub fast: Fixed,
    /// Strength that a normal trace loses in a tick.
    pub normal: Fixed,
    /// Strength that a slow trace loses in a tick.
    pub slow: Fixed,
    /// No trace is stronger.
    pub max_strength: Fixed,
    /// A deposit's strength is clamped to this before the ceiling.
    pub max_deposit: Fixed,
    /// What reinforcing adds.
    pub reinforcement: Fixed,
    /// The multiplier of each source.
    pub sources: BTreeMap<Source, Fixed>,
    /// The decay class of each signal where a deposit names none.
    pub decays: BTreeMap<Signal, Decay>,
}

impl Field {
    /// Strength lost in a tick.
    #[must_use]
    pub const fn rate(&self, decay: Decay) -> Fixed {
        match decay {
            Decay::Fast => self.fast,
            Decay::Normal => self.normal,
            Decay::Slow => self.slow,
        }
    }

    /// The multiplier of a source.
    #[must_use]
    pub fn multiplier(&self, source: Source) -> Fixed {
        self.sources.get(&source).copied().unwrap_or(Fixed::ONE)
    }

    /// The decay class of a signal where a deposit names none.
    #[must_use]
    pub fn decay(&self, signal: Signal) -> Decay {
        self.decays.get(&signal).copied().unwrap_or(Decay::Normal)
    }
}

/// Upper limits of the seven dimensions (SPEC 3); an absent one is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caps {
    /// Calls of language models, a count.
    #[serde(default)]
    pub llm_calls: Option<Fixed>,
    /// Seconds of running time.
    #[serde(default)]
    pub runtime_seconds: Option<Fixed>,
    /// A fraction in [0, 1].
    #[serde(default)]
    pub risk_level: Option<Fixed>,
    /// Minutes of people's attention.
    #[serde(default)]
    pub human_attention_minutes: Option<Fixed>,
    /// A fraction in [0, 1].
    #[serde(default)]
    pub merge_risk: Option<Fixed>,
    /// A count of debts.
    #[serde(default)]
    pub doc_debt: Option<Fixed>,
    /// A fraction in [0, 1].
    #[serde(default)]
    pub security_exposure: Option<Fixed>,
}

/// Budgets (SPEC 3, 10.l).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// What the whole colony may use in a period.
    pub caps: Caps,
    /// What an account may use besides: an agent's id, and everything below it by `/`.
    pub accounts: BTreeMap<String, Caps>,
    /// The length of a period in seconds; 0: it never resets.
    pub period_seconds: u64,
    /// Whether EXECUTE and approval reserve the estimate.
    pub reserve: bool,
    /// An unsettled reservation is released after this many seconds.
    pub reservation_seconds: u64,
    /// What a tool call costs that states no estimate.
    pub call_cost: Cost,
    /// How many settled costs are remembered.
    pub history: u32,
}

/// Trust (SPEC 4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// A new agent's trust.
    pub initial: Fixed,
    /// Change for passed tests.
    pub passed: Fixed,
    /// Change for failed tests.
    pub failed: Fixed,
    /// Change where repair was needed.
    pub repair: Fixed,
    /// Multiplied with a person's feedback in [-1, 1].
    pub feedback: Fixed,
    /// How many of the last outcomes count as recent.
    pub recent_window: u32,
    /// How many outcome ids are kept.
    pub history: u32,
    /// How many action types an agent's outcomes are told apart by; the one with the fewest clean outcomes is forgotten.
    pub action_types: u32,
}

/// A rung of the ladder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// The role.
    pub role: Role,
    /// From this trust on.
    pub trust: Fixed,
}

/// What a role may do with a class of act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Judged on.
    Allow,
    /// Held.
    Hold,
    /// Refused.
    Refuse,
}

/// Roles (SPEC 4, 10.e, 10 `strict`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roles {
    /// Fewer counted proposals than this is SANDBOX.
    pub min_proposals: u64,
    /// The ladder, lowest first; below it SANDBOX.
    pub ladder: Vec<Rung>,
    /// Specialised assignment.
    pub special: Special,
    /// What each role may do; a pair that is not listed is allowed.
    pub matrix: BTreeMap<Role, BTreeMap<Class, Permission>>,
}

/// Specialised assignment (SPEC 4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Special {
    /// Below this trust: SANDBOX.
    pub floor: Fixed,
    /// SANDBOX when this many last outcomes all had failed tests.
    pub failures: u32,
    /// The roles that a clean success earns, in the order of asking.
    pub earned: Vec<Earned>,
    /// DISPATCHER from this many proposals.
    pub dispatcher_proposals: u64,
    /// DISPATCHER from this share of accepted proposals.
    pub dispatcher_accepted: Fixed,
}

/// A role that a clean success in one of some action types earns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Earned {
    /// The role.
    pub role: Role,
    /// From this trust on.
    pub trust: Fixed,
    /// A clean success in one of these.
    pub action_types: Vec<String>,
}

/// The gate (SPEC 5, 10.a, 10.b).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Weight of the budget component. The four weights sum to 1.
    pub weight_budget: Fixed,
    /// Weight of the risk component.
    pub weight_risk: Fixed,
    /// Weight of the trust component.
    pub weight_trust: Fixed,
    /// Weight of the completeness component.
    pub weight_completeness: Fixed,
    /// From this score: EXECUTE.
    pub execute: Fixed,
    /// From this score: HOLD.
    pub hold: Fixed,
    /// From this hazard the risk component is `medium_risk`.
    pub medium_hazard: Fixed,
    /// From this hazard the risk component is `high_risk`.
    pub high_hazard: Fixed,
    /// Risk component in the medium tier.
    pub medium_risk: Fixed,
    /// Risk component in the high tier.
    pub high_risk: Fixed,
    /// Below this trust an act is stopped.
    pub trust_floor: Fixed,
    /// From this trust the trust component is 1.
    pub trust_full: Fixed,
    /// Trust component below `trust_full`.
    pub trust_partial: Fixed,
    /// From this many recent failures...
    pub recent_failures: u32,
    /// ...the trust component loses this.
    pub recent_penalty: Fixed,
    /// What each missing field takes from completeness.
    pub missing_field: Fixed,
    /// Reported severity of the worst finding.
    pub severities: BTreeMap<Severity, Fixed>,
    /// Prospective hazard that a finding of each severity brings (`standard`).
    pub prospective: BTreeMap<Severity, Fixed>,
}

/// What proposals, reported outcomes and people leave (SPEC 7, 10.c, 10.h).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deposits {
    /// FAILURE for each HIGH or CRITICAL finding, times its rank (`reference`).
    pub finding_failure: Fixed,
    /// RISK for each MEDIUM finding, times its rank (`reference`).
    pub finding_risk: Fixed,
    /// FAILURE of a refusal: this much, and...
    pub refusal: Fixed,
    /// ...this much times the severity (`reference`).
    pub refusal_severity: Fixed,
    /// RISK for each finding of MEDIUM or more.
    pub risk_per_finding: Fixed,
    /// The most that one proposal leaves by `risk_per_finding`.
    pub risk_most: Fixed,
    /// The most prospective RISK that all proposals together leave at one place (`standard`).
    pub prospective_most: Fixed,
    /// SUCCESS of a clean outcome.
    pub success: Fixed,
    /// FAILURE of a failed outcome.
    pub failure: Fixed,
    /// DEPENDENCY of any outcome.
    pub dependency: Fixed,
    /// FAILURE of a person's denial, taken once without a multiplier (`standard`).
    pub denial: Fixed,
    /// SUCCESS of a person's approval (`standard`).
    pub approval: Fixed,
}

/// What observed outcomes leave (SPEC 10.h, 10.j).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observed {
    /// FAILURE at a failed act's key.
    pub failure: Fixed,
    /// FAILURE of a failing check at each place changed since it last ran.
    pub check_failure: Fixed,
    /// How many changed places a failing check marks, the latest.
    pub check_places: u32,
    /// Trust for a passing check, at most once for each change.
    pub check_passed_trust: Fixed,
    /// Trust for a failing check, at most once for each change.
    pub check_failed_trust: Fixed,
    /// Trust does not fall below this by a failing check.
    pub trust_floor: Fixed,
}

/// What a kind of fact means: a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactRule {
    /// The finding's vector.
    pub vector: Vector,
    /// The finding's severity; `null`: the fact is no finding.
    pub severity: Option<Severity>,
}

/// A class for the action types that match a glob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassRule {
    /// The pattern.
    pub pattern: Glob,
    /// The class.
    pub class: Class,
}

/// Places that are treated specially (SPEC 11). Globs match a place relative to the workspace root, or an absolute path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// Nobody under judgement changes these: the gate's own settings and hook configurations.
    pub protected: Vec<Glob>,
    /// Reading these shows a secret.
    pub secrets: Vec<Glob>,
    /// Exceptions from `secrets`: examples and public halves.
    pub not_secrets: Vec<Glob>,
    /// Names of variables and fields that hold a secret, upper-cased.
    pub secret_names: Vec<Glob>,
    /// Branches that others share.
    pub shared_branches: Vec<Glob>,
    /// Words that name production, lower-cased.
    pub production: Vec<Glob>,
    /// Words that name what tests make again, lower-cased: databases and environments.
    pub test_data: Vec<Glob>,
    /// Hosts of the services that a developer runs for trying: `name` or `name:port`, lower-cased.
    pub own_services: Vec<Glob>,
    /// Exceptions from `own_services`: where something is kept.
    pub not_own_services: Vec<Glob>,
    /// Files and folders that git ignores and a tool makes again: a name, a glob of one (`*.log`) or several names (`tmp/cache`), and what
    /// makes it; what begins with `~/` lies in the home, and git need not know of it.
    pub rebuildable: BTreeMap<String, String>,
}

impl Places {
    /// What makes a place again, by its own name or those of the folders that it lies in. A place in the home is spelled `~/x`.
    #[must_use]
    pub fn rebuilt_by(&self, place: &str) -> Option<&str> {
        let in_home = place.starts_with("~/");
        let exact = place.split('/').filter(|_| !in_home).find_map(|name| self.rebuildable.get(name));
        let around = alloc::format!("/{place}/");
        let by_pattern = || {
            let holds = |key: &str| match (key.starts_with("~/"), in_home) {
                (true, true) => around.starts_with(&alloc::format!("/{key}/")),
                (false, false) if key.contains('/') => around.contains(&alloc::format!("/{key}/")),
                (false, false) if key.contains(['*', '?', '[']) => {
                    Glob::new(key).is_ok_and(|glob| place.split('/').any(|name| glob.matches(name)))
                }
                _ => false,
            };
            self.rebuildable.iter().find(|(key, _)| holds(key)).map(|(_, command)| command)
        };
        exact.or_else(by_pattern).map(String::as_str)
    }

    /// Whether a word names what tests make again.
    #[must_use]
    pub fn is_test_data(&self, word: &str) -> bool {
        facts::names(self.test_data.iter(), &word.to_ascii_lowercase())
    }

    /// Whether a host, with its port where one is given, is a service that a developer runs for trying.
    #[must_use]
    pub fn is_own_service(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        facts::names(self.own_services.iter(), &host) && !facts::names(self.not_own_services.iter(), &host)
    }
}

/// Rules of the user and the project (SPEC 11). A rule is a command's beginning (`git push`), or the glob of a tool's name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Refused.
    pub deny: Vec<String>,
    /// Held.
    pub ask: Vec<String>,
    /// Findings below CRITICAL do not count, and the fields count as complete.
    pub allow: Vec<String>,
    /// Refused for every act that names one of these places, reading included.
    pub deny_paths: Vec<Glob>,
    /// More places that are treated as `places.protected`.
    pub protected: Vec<Glob>,
}

/// Approvals (SPEC 10.k).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// A HOLD that nobody answers, and an approval that nobody uses, end after this many seconds.
    pub expires_seconds: u64,
    /// The longest standing grant that a person may ask for, in seconds.
    pub longest_grant_seconds: u64,
    /// How many standing grants there may be at once; reaching it is an error.
    pub grants: u32,
    /// Nobody is there to ask: a HOLD is told to the host as a refusal with an id to approve.
    pub unattended: bool,
}

/// Session memory (SPEC 11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// How many paths one session may have made; the oldest is forgotten.
    pub paths: u32,
    /// How many sessions are remembered; the one longest silent is forgotten.
    pub sessions: u32,
    /// How many changes are remembered for the checks.
    pub changes: u32,
    /// How many different checks are remembered; the one longest not run is forgotten.
    pub checks: u32,
}

/// Pruning (SPEC 8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prune {
    /// A module with at least this DEPENDENCY is skipped.
    pub dependency: Fixed,
    /// Confidence for a duplicate.
    pub duplicate: Fixed,
    /// Confidence for a module that was never used.
    pub never_used: Fixed,
    /// Confidence for no calls and long idle.
    pub idle_unused: Fixed,
    /// Confidence for few calls and long idle.
    pub idle_rare: Fixed,
    /// Long idle is more than this many days.
    pub idle_days: u64,
    /// Few calls are fewer than this.
    pub rare_calls: u64,
}

/// Whether acts need attestation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttestMode {
    /// No events are written.
    Disabled,
    /// Events are written, plain reports are accepted too.
    Optional,
    /// Only the linked lifecycle is accepted.
    Required,
}

/// The sizes that nothing exceeds (SPEC 12).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Bytes of an id.
    pub id_bytes: u32,
    /// Bytes of a location.
    pub location_bytes: u32,
    /// Bytes of a text.
    pub text_bytes: u32,
    /// Bytes of all evidence together.
    pub evidence_bytes: u32,
    /// Levels of nested evidence.
    pub evidence_depth: u32,
    /// Items of a list: tests, dependencies, facts, acts, targets, arguments.
    pub list_items: u32,
    /// Edges of an import graph: repositories are larger than any list that a person writes.
    pub import_edges: u32,
    /// Agents; reaching it is an error.
    pub agents: u64,
    /// Live traces; reaching it evicts the one that would die first.
    pub traces: u64,
    /// Remembered proposals; the oldest is forgotten.
    pub proposals: u64,
    /// A proposal is forgotten after this many milliseconds.
    pub proposal_ms: u64,
}
