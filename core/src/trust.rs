//! Who may do what: profiles of agents, trust that outcomes move, and the roles that follow from it (SPEC 4).

use crate::error::Error;
use crate::fixed::Fixed;
use crate::policy;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A rung of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Not yet trusted with anything.
    Sandbox,
    /// Repairs.
    RepairAnt,
    /// Writes documents and memory.
    MemoryAnt,
    /// Runs and sends.
    Dispatcher,
    /// Guards.
    GuardAnt,
}

impl Role {
    /// Every role, lowest first.
    pub const ALL: [Self; 5] = [Self::Sandbox, Self::RepairAnt, Self::MemoryAnt, Self::Dispatcher, Self::GuardAnt];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::RepairAnt => "repair_ant",
            Self::MemoryAnt => "memory_ant",
            Self::Dispatcher => "dispatcher",
            Self::GuardAnt => "guard_ant",
        }
    }
}

/// A recorded outcome, as an agent's history keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// The proposal's id.
    pub id: String,
    /// The tests passed.
    pub passed: bool,
    /// Repair was needed.
    pub repair: bool,
}

impl HistoryEntry {
    const fn is_clean(&self) -> bool {
        self.passed && !self.repair
    }
}

/// Outcomes of one action type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Recorded outcomes.
    pub outcomes: u64,
    /// Passed without repair.
    pub clean: u64,
}

/// What is known of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Trust in [0, 1].
    pub trust: Fixed,
    /// The role that was inferred last.
    pub role: Role,
    /// Counted proposals.
    pub proposals: u64,
    /// Outcomes that passed without repair.
    pub accepted: u64,
    /// The last outcomes, the oldest first.
    pub history: VecDeque<HistoryEntry>,
    /// Outcomes by action type.
    pub actions: BTreeMap<String, Record>,
}

impl Profile {
    fn new(numbers: &policy::Trust) -> Self {
        Self {
            trust: numbers.initial,
            role: Role::Sandbox,
            proposals: 0,
            accepted: 0,
            history: VecDeque::new(),
            actions: BTreeMap::new(),
        }
    }

    /// Of the last outcomes, those that failed or needed repair.
    #[must_use]
    pub fn recent_failures(&self, numbers: &policy::Trust) -> u32 {
        let recent = self.history.iter().rev().take(numbers.recent_window as usize);
        u32::try_from(recent.filter(|entry| !entry.is_clean()).count()).unwrap_or(u32::MAX)
    }

    /// The share of clean outcomes in [0, 1], of one action type or of all; `None` without outcomes.
    #[must_use]
    pub fn success_rate(&self, action_type: Option<&str>) -> Option<Fixed> {
        let wanted = self.actions.iter().filter(|(name, _)| action_type.is_none_or(|wanted| wanted == name.as_str()));
        let (clean, outcomes) = wanted.fold((0_u64, 0_u64), |(clean, outcomes), (_, record)| {
            (clean.saturating_add(record.clean), outcomes.saturating_add(record.outcomes))
        });
        (outcomes > 0).then(|| Fixed::count(clean).ratio(Fixed::count(outcomes)))
    }

    /// The action types with a clean outcome, the most often clean first, ties by name.
    #[must_use]
    pub fn successful_patterns(&self) -> Vec<(String, Record)> {
        let mut patterns: Vec<(String, Record)> = self
            .actions
            .iter()
            .filter(|(_, record)| record.clean > 0)
            .map(|(name, record)| (name.clone(), *record))
            .collect();
        patterns.sort_by(|a, b| b.1.clean.cmp(&a.1.clean).then_with(|| a.0.cmp(&b.0)));
        patterns
    }
}

/// The role that follows from trust and counted proposals.
#[must_use]
pub fn infer_role(trust: Fixed, proposals: u64, roles: &policy::Roles) -> Role {
    if proposals < roles.min_proposals {
        return Role::Sandbox;
    }
    roles.ladder.iter().rev().find(|rung| trust >= rung.trust).map_or(Role::Sandbox, |rung| rung.role)
}

/// The role that specialised assignment gives (SPEC 4). It changes nothing by itself.
#[must_use]
pub fn specialised_role(profile: &Profile, roles: &policy::Roles) -> Role {
    let special = &roles.special;
    let last = profile.history.iter().rev().take(special.failures as usize);
    let only_failures = profile.history.len() >= special.failures as usize
        && special.failures > 0
        && last.clone().all(|entry| !entry.passed);
    if profile.trust < special.floor || only_failures {
        return Role::Sandbox;
    }
    let earned = special.earned.iter().find(|earned| {
        let proven = |action: &String| profile.actions.get(action).is_some_and(|record| record.clean > 0);
        profile.trust >= earned.trust && earned.action_types.iter().any(proven)
    });
    if let Some(earned) = earned {
        return earned.role;
    }
    let share = Fixed::count(profile.accepted).ratio(Fixed::count(profile.proposals));
    if profile.proposals >= special.dispatcher_proposals && share >= special.dispatcher_accepted {
        Role::Dispatcher
    } else {
        Role::Sandbox
    }
}

/// Reads a person's feedback (SPEC 4): words, or a number that is clamped to [-1, 1]; anything else is 0.
///
/// ```
/// use stigmergate_core::{fixed::Fixed, trust::read_feedback};
/// assert_eq!(read_feedback(" Good "), Fixed::ONE);
/// assert_eq!(read_feedback("-7"), Fixed::whole(-1));
/// assert_eq!(read_feedback("perhaps"), Fixed::ZERO);
/// ```
#[must_use]
pub fn read_feedback(text: &str) -> Fixed {
    let word = text.trim();
    let is = |words: &[&str]| words.iter().any(|candidate| word.eq_ignore_ascii_case(candidate));
    if is(&["good", "approve", "yes", "+"]) {
        return Fixed::ONE;
    }
    if is(&["bad", "reject", "no", "-"]) {
        return -Fixed::ONE;
    }
    match word.parse::<f64>() {
        Ok(number) if number.is_finite() => feedback_number(number),
        _ => Fixed::ZERO,
    }
}

/// A number as feedback: clamped to [-1, 1]; NaN and infinities are 0.
#[must_use]
pub fn feedback_number(number: f64) -> Fixed {
    if !number.is_finite() {
        return Fixed::ZERO;
    }
    Fixed::from_f64(number.clamp(-1.0, 1.0)).unwrap_or_default()
}

/// What a reported outcome says of an agent.
#[derive(Clone, Debug)]
pub(crate) struct Report<'a> {
    pub(crate) id: &'a str,
    pub(crate) action_type: &'a str,
    pub(crate) passed: bool,
    pub(crate) repair: bool,
    pub(crate) feedback: Fixed,
}

/// All agents.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    profiles: BTreeMap<String, Profile>,
}

impl Agents {
    /// An agent's profile; `None` for one that was never seen.
    #[must_use]
    pub fn get(&self, agent: &str) -> Option<&Profile> {
        self.profiles.get(agent)
    }

    /// An agent's profile, or that of a new one.
    #[must_use]
    pub fn get_or_new(&self, agent: &str, numbers: &policy::Trust) -> Profile {
        self.get(agent).cloned().unwrap_or_else(|| Profile::new(numbers))
    }

    /// All agents, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Profile)> {
        self.profiles.iter().map(|(id, profile)| (id.as_str(), profile))
    }

    /// How many agents are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.profiles.len()
    }

    /// Whether no agent is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.profiles.is_empty()
    }

    /// The agents ordered by trust, the best first, ties by id.
    #[must_use]
    pub fn ranking(&self) -> Vec<(&str, &Profile)> {
        let mut all: Vec<(&str, &Profile)> = self.iter().collect();
        all.sort_by(|a, b| b.1.trust.cmp(&a.1.trust).then_with(|| a.0.cmp(b.0)));
        all
    }

    /// Whether another agent fits.
    ///
    /// # Errors
    /// [`Error::Full`] when the agent is new and the bound is reached.
    pub(crate) fn check_room(&self, agent: &str, bounds: &policy::Bounds) -> Result<(), Error> {
        if self.profiles.len() as u64 >= bounds.agents && !self.profiles.contains_key(agent) {
            return Err(Error::Full { what: "agents".to_string(), limit: bounds.agents });
        }
        Ok(())
    }

    /// An agent's profile, made where it is new.
    pub(crate) fn entry(&mut self, agent: &str, numbers: &policy::Trust) -> &mut Profile {
        self.profiles.entry(agent.to_string()).or_insert_with(|| Profile::new(numbers))
    }

    /// Whether an id is that of an agent that was seen, or of one above or below such a one.
    #[must_use]
    pub(crate) fn speaks_for_an_agent(&self, id: &str) -> bool {
        let above = id.match_indices('/').filter_map(|(at, _)| id.get(..at)).chain([id]);
        let below = alloc::format!("{id}/");
        above.into_iter().any(|agent| self.profiles.contains_key(agent))
            || self.profiles.range(below.clone()..).next().is_some_and(|(agent, _)| agent.starts_with(&below))
    }

    /// Counts a proposal, if it was not counted before, and infers the role.
    pub(crate) fn count_proposal(&mut self, agent: &str, counts: bool, policy: &policy::Policy) {
        let profile = self.entry(agent, &policy.trust);
        profile.proposals = profile.proposals.saturating_add(u64::from(counts));
        profile.role = infer_role(profile.trust, profile.proposals, &policy.roles);
    }

    /// Records an outcome. Returns the change of trust before it was clipped.
    pub(crate) fn record(&mut self, agent: &str, report: &Report<'_>, counts: bool, policy: &policy::Policy) -> Fixed {
        let numbers = &policy.trust;
        let profile = self.entry(agent, numbers);
        let tests = if report.passed { numbers.passed } else { numbers.failed };
        let repair = if report.repair { numbers.repair } else { Fixed::ZERO };
        let delta = tests + repair + report.feedback.times(numbers.feedback);
        profile.trust = (profile.trust + delta).clip(Fixed::ZERO, Fixed::ONE);
        if counts {
            profile.proposals = profile.proposals.saturating_add(1);
        }
        let entry = HistoryEntry { id: report.id.to_string(), passed: report.passed, repair: report.repair };
        let known = profile.actions.contains_key(report.action_type);
        while !known && profile.actions.len() >= numbers.action_types as usize {
            forget_least(&mut profile.actions);
        }
        let record = profile.actions.entry(report.action_type.to_string()).or_default();
        record.outcomes = record.outcomes.saturating_add(1);
        if entry.is_clean() {
            record.clean = record.clean.saturating_add(1);
            profile.accepted = profile.accepted.saturating_add(1);
        }
        profile.history.push_back(entry);
        while profile.history.len() > numbers.history as usize {
            profile.history.pop_front();
        }
        profile.role = infer_role(profile.trust, profile.proposals, &policy.roles);
        delta
    }

    /// Moves trust by an observation, not below `floor` when it falls.
    pub(crate) fn nudge(&mut self, agent: &str, change: Fixed, floor: Fixed, policy: &policy::Policy) {
        let profile = self.entry(agent, &policy.trust);
        let lowest = if change < Fixed::ZERO { floor.min(profile.trust) } else { Fixed::ZERO };
        profile.trust = (profile.trust + change).clip(lowest, Fixed::ONE);
        profile.role = infer_role(profile.trust, profile.proposals, &policy.roles);
    }

    /// Puts a profile of a snapshot back. `false` when its numbers are none that an agent can have.
    pub(crate) fn restore(&mut self, agent: String, profile: Profile) -> bool {
        profile.trust.is_fraction() && self.profiles.insert(agent, profile).is_none()
    }
}

/// Forgets the action type that says least: the fewest clean outcomes, then the fewest outcomes, ties by name.
fn forget_least(actions: &mut BTreeMap<String, Record>) {
    let least = actions.iter().min_by_key(|(_, record)| (record.clean, record.outcomes)).map(|(name, _)| name.clone());
    if let Some(name) = least {
        actions.remove(&name);
    }
}
