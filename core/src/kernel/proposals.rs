//! The proposals that are remembered: for a day, or the last hundred thousand (SPEC 12, idempotence).

use super::GrantKey;
use super::command::Time;
use crate::budget::Cost;
use crate::digest::Digest;
use crate::facts::{Act, Before, Class, Effect, Target};
use crate::gate::Verdict;
use crate::location::Location;
use crate::policy::Bounds;
use crate::proposal::Proposal;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
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
    /// Something that the session did not make is put there.
    pub(super) holds_others: bool,
}

impl Trail {
    /// `was_safe`: git or the session's memory has the earlier state. `is_own`: the session made it.
    pub(super) fn of(act: &Act, was_safe: impl Fn(&Target) -> bool, is_own: impl Fn(&Target) -> bool) -> Self {
        // What somebody else made does not become the session's own by being moved.
        let moves_others =
            act.targets.iter().any(|target| target.effect == Effect::Move && !was_safe(target) && !is_own(target));
        let changing = act.targets.iter().filter(|target| target.effect.changes() && target.resolved && !act.dry_run);
        let steps = changing.map(|target| Step {
            place: target.place.clone(),
            effect: target.effect,
            was_absent: target.before == Before::Absent,
            was_safe: was_safe(target),
            holds_others: moves_others && target.effect != Effect::Move,
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
    /// A host has said what became of it.
    pub(super) observed: bool,
    /// Present until it is settled.
    pub(super) trails: Vec<Trail>,
    /// The verdict in binary form: asked for seldom, copied into every snapshot.
    pub(super) verdict: Vec<u8>,
}

impl Record {
    /// Where it stands at a time, whether or not a command has come since its deadline.
    pub(super) fn state_at(&self, now: Time) -> &State {
        let due = self.deadline.is_some_and(|deadline| deadline <= now);
        match &self.state {
            State::Held if due => &State::Unanswered,
            State::Approved { .. } if due => &State::Lapsed,
            state => state,
        }
    }

    /// Whether a proposal asks for the same act again: more may be known of it, but what would run, and who asks, must be the same.
    pub(super) fn is_asked_again_by(&self, proposal: &Proposal) -> bool {
        let same_act = match &proposal.call {
            Some(call) => self.bound_to == call.digest,
            // In words nothing but the content says what would run.
            None => self.bound_to == self.content && self.target == proposal.target,
        };
        same_act && self.agent == proposal.agent_id && self.action_type == proposal.action_type
    }

    /// The keys of its acts, as standing grants name them.
    pub(super) fn grant_keys(&self) -> impl Iterator<Item = GrantKey> {
        self.trails.iter().filter(|trail| trail.remembered).map(|trail| GrantKey {
            agent: self.agent.clone(),
            place: trail.place.clone(),
            kind: trail.kind.clone(),
        })
    }

    pub(super) fn verdict(&self) -> Option<Verdict> {
        postcard::from_bytes(&self.verdict).ok()
    }
}

/// A proposal's place in the order of judgement.
type Turn = u64;

/// All remembered proposals.
#[derive(Clone, Debug, Default)]
pub(super) struct Proposals {
    records: BTreeMap<Arc<str>, (Turn, Box<Record>)>,
    /// In the order in which they were judged last, and when.
    order: BTreeMap<Turn, (Time, Arc<str>)>,
    deadlines: Deadlines,
    /// Approvals that can be used, by agent and what they are bound to.
    approvals: Approvals,
}

impl Proposals {
    pub(super) fn get(&self, id: &str) -> Option<&Record> {
        self.records.get(id).map(|(_, record)| &**record)
    }

    /// An approval that a proposal can use: of the same agent, for exactly what would run, and not over.
    pub(super) fn approval(&self, agent: &str, bound_to: &Digest, now: Time) -> Option<(&Arc<str>, &Record)> {
        if self.approvals.is_empty() {
            return None;
        }
        self.approvals
            .range((agent.into(), *bound_to, Arc::from(""))..)
            .take_while(|(approved, bound, _)| approved == agent && bound == bound_to)
            .filter_map(|(_, _, id)| self.records.get_key_value(id))
            .map(|(id, (_, record))| (id, &**record))
            .find(|(_, record)| matches!(record.state_at(now), State::Approved { .. }))
    }

    /// Remembers a proposal as the latest; one of the same id is replaced.
    pub(super) fn insert(&mut self, id: &str, record: Record) {
        let turn = self.order.last_key_value().map_or(0, |(turn, _)| turn.saturating_add(1));
        let key: Arc<str> = Arc::from(id);
        let is_listed = record.deadline.is_some() || matches!(record.state, State::Approved { .. });
        self.order.insert(turn, (record.at, key.clone()));
        if let Some((old_turn, old)) = self.records.insert(key.clone(), (turn, Box::new(record))) {
            self.order.remove(&old_turn);
            unlist(&mut self.deadlines, &mut self.approvals, &key, &old);
        }
        if let Some((_, record)) = self.records.get(&key).filter(|_| is_listed) {
            list(&mut self.deadlines, &mut self.approvals, &key, record);
        }
    }

    /// Changes a record and keeps the indexes right.
    pub(super) fn update(&mut self, id: &str, change: impl FnOnce(&mut Record)) {
        let Some(key) = self.records.get_key_value(id).map(|(key, _)| key.clone()) else { return };
        let Some((_, record)) = self.records.get_mut(&key) else { return };
        unlist(&mut self.deadlines, &mut self.approvals, &key, record);
        change(record);
        list(&mut self.deadlines, &mut self.approvals, &key, record);
    }

    /// The records whose deadline has come, the earliest first.
    pub(super) fn due(&self, now: Time) -> impl Iterator<Item = (&Arc<str>, &Record)> {
        let due = self.deadlines.iter().take_while(move |(deadline, _)| *deadline <= now);
        due.filter_map(|(_, id)| Some((id, self.get(id)?)))
    }

    /// Takes the records that are no longer remembered: too old, or too many.
    pub(super) fn take_forgotten(&mut self, now: Time, bounds: &Bounds) -> Vec<(Arc<str>, Record)> {
        let mut forgotten = Vec::new();
        while let Some(first) = self.order.first_entry() {
            let old = now.saturating_sub(first.get().0) > bounds.proposal_ms;
            if !old && self.records.len() as u64 <= bounds.proposals {
                break;
            }
            let (_, id) = first.remove();
            if let Some((_, record)) = self.records.remove(&id) {
                unlist(&mut self.deadlines, &mut self.approvals, &id, &record);
                forgotten.push((id, *record));
            }
        }
        forgotten
    }

    /// In the order in which they were judged last.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Record)> {
        self.order.values().filter_map(|(_, id)| Some((&**id, self.get(id)?)))
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }
}

type Deadlines = BTreeSet<(Time, Arc<str>)>;
type Approvals = BTreeSet<(String, Digest, Arc<str>)>;

fn list(deadlines: &mut Deadlines, approvals: &mut Approvals, key: &Arc<str>, record: &Record) {
    if let Some(deadline) = record.deadline {
        deadlines.insert((deadline, key.clone()));
    }
    if matches!(record.state, State::Approved { .. }) {
        approvals.insert((record.agent.clone(), record.bound_to, key.clone()));
    }
}

fn unlist(deadlines: &mut Deadlines, approvals: &mut Approvals, key: &Arc<str>, record: &Record) {
    if let Some(deadline) = record.deadline {
        deadlines.remove(&(deadline, key.clone()));
    }
    if matches!(record.state, State::Approved { .. }) {
        approvals.remove(&(record.agent.clone(), record.bound_to, key.clone()));
    }
}
