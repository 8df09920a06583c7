//! The proposals that are remembered: for a day, or the last hundred thousand (SPEC 12, idempotence).

use super::command::Time;
use crate::budget::Cost;
use crate::digest::Digest;
use crate::facts::{Act, Before, Class, Effect};
use crate::gate::Verdict;
use crate::location::Location;
use crate::policy::Bounds;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Where a proposal stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// EXECUTE was said; no outcome yet.
    Open,
    /// HOLD was said; nobody answered yet.
    Held,
    /// REFUSE was said.
    Refused,
    /// A person approved; not used yet.
    Approved {
        /// Who.
        by: String,
    },
    /// The approval went to the retry with this id.
    Used {
        /// The retry.
        retry: String,
    },
    /// A person denied.
    Denied {
        /// Who.
        by: String,
    },
    /// The outcome is known.
    Settled,
    /// Nobody answered in time.
    Unanswered,
    /// The approval was not used in time.
    Lapsed,
}

impl State {
    /// The stable name.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Held => "held",
            Self::Refused => "refused",
            Self::Approved { .. } => "approved",
            Self::Used { .. } => "used",
            Self::Denied { .. } => "denied",
            Self::Settled => "settled",
            Self::Unanswered => "unanswered",
            Self::Lapsed => "lapsed",
        }
    }
}

/// What an observation has to know of an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trail {
    pub(super) class: Class,
    pub(super) kind: Arc<str>,
    pub(super) place: Location,
    pub(super) remembered: bool,
    pub(super) steps: Vec<Step>,
}

/// What an act does to one place, as far as the session remembers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) place: Location,
    pub(super) effect: Effect,
    pub(super) was_absent: bool,
    /// Git has its earlier state, or the session had left it so.
    pub(super) was_safe: bool,
}

impl Trail {
    pub(super) fn of(act: &Act, was_safe: impl Fn(&crate::facts::Target) -> bool) -> Self {
        let changing = act.targets.iter().filter(|target| target.effect.changes() && target.resolved && !act.dry_run);
        let steps = changing.map(|target| Step {
            place: target.place.clone(),
            effect: target.effect,
            was_absent: target.before == Before::Absent,
            was_safe: was_safe(target),
        });
        Self {
            class: act.class,
            kind: act.kind.as_str().into(),
            place: act.place.clone(),
            remembered: act.is_remembered(),
            steps: steps.collect(),
        }
    }
}

/// A remembered proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) content: Digest,
    /// What an approval is bound to: the digest of what will run.
    pub(super) bound_to: Digest,
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) action_type: String,
    pub(super) target: Location,
    pub(super) at: Time,
    pub(super) state: State,
    /// When the state, or the reservation, ends by itself.
    pub(super) deadline: Option<Time>,
    pub(super) estimate: Cost,
    pub(super) reserved: bool,
    pub(super) irreversible: bool,
    /// Present until it is settled.
    pub(super) trails: Vec<Trail>,
    /// The verdict in binary form: asked for seldom, copied into every snapshot.
    pub(super) verdict: Vec<u8>,
}

impl Record {
    pub(super) fn verdict(&self) -> Option<Verdict> {
        postcard::from_bytes(&self.verdict).ok()
    }
}

/// All remembered proposals.
#[derive(Clone, Debug, Default)]
pub(super) struct Proposals {
    records: BTreeMap<Arc<str>, Record>,
    /// In the order in which they came.
    order: VecDeque<(Time, Arc<str>)>,
    deadlines: BTreeSet<(Time, Arc<str>)>,
    /// Approvals that can be used, by agent and what they are bound to.
    approvals: BTreeSet<(String, Digest, Arc<str>)>,
}

impl Proposals {
    pub(super) fn get(&self, id: &str) -> Option<&Record> {
        self.records.get(id)
    }

    /// An approval that a proposal can use.
    pub(super) fn approval(&self, agent: &str, bound_to: &Digest) -> Option<(&Arc<str>, &Record)> {
        if self.approvals.is_empty() {
            return None;
        }
        let (first_agent, first_bound, id) = self.approvals.range((agent.into(), *bound_to, Arc::from(""))..).next()?;
        if first_agent != agent || first_bound != bound_to {
            return None;
        }
        self.records.get_key_value(id)
    }

    /// Remembers a proposal; one of the same id keeps its turn.
    pub(super) fn insert(&mut self, id: &str, record: Record) {
        let key: Arc<str> = match self.records.get_key_value(id) {
            Some((key, _)) => key.clone(),
            None => {
                let key: Arc<str> = id.into();
                self.order.push_back((record.at, key.clone()));
                key
            }
        };
        self.unlist(&key);
        self.records.insert(key.clone(), record);
        self.list(&key);
    }

    /// Changes a record and keeps the indexes right.
    pub(super) fn update(&mut self, id: &str, change: impl FnOnce(&mut Record)) {
        let Some(key) = self.records.get_key_value(id).map(|(key, _)| key.clone()) else { return };
        self.unlist(&key);
        if let Some(record) = self.records.get_mut(&key) {
            change(record);
        }
        self.list(&key);
    }

    /// The records whose deadline has come, the earliest first.
    pub(super) fn due(&self, now: Time) -> Vec<Arc<str>> {
        self.deadlines.iter().take_while(|(deadline, _)| *deadline <= now).map(|(_, id)| id.clone()).collect()
    }

    /// Takes the records that are no longer remembered: too old, or too many.
    pub(super) fn take_forgotten(&mut self, now: Time, bounds: &Bounds) -> Vec<Record> {
        let mut forgotten = Vec::new();
        while let Some((at, id)) = self.order.front() {
            let old = now.saturating_sub(*at) > bounds.proposal_ms;
            if !old && self.order.len() as u64 <= bounds.proposals {
                break;
            }
            let id = id.clone();
            self.order.pop_front();
            self.unlist(&id);
            forgotten.extend(self.records.remove(&id));
        }
        forgotten
    }

    /// In the order in which they came.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Record)> {
        self.order.iter().filter_map(|(_, id)| Some((&**id, self.records.get(id)?)))
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    fn list(&mut self, key: &Arc<str>) {
        let Some(record) = self.records.get(key) else { return };
        if let Some(deadline) = record.deadline {
            self.deadlines.insert((deadline, key.clone()));
        }
        if matches!(record.state, State::Approved { .. }) {
            self.approvals.insert((record.agent.clone(), record.bound_to, key.clone()));
        }
    }

    fn unlist(&mut self, key: &Arc<str>) {
        let Some(record) = self.records.get(key) else { return };
        if let Some(deadline) = record.deadline {
            self.deadlines.remove(&(deadline, key.clone()));
        }
        if matches!(record.state, State::Approved { .. }) {
            self.approvals.remove(&(record.agent.clone(), record.bound_to, key.clone()));
        }
    }
}
