//! What was made and changed (SPEC 10.j, 11): the session memory, part of the kernel's state.
//!
//! It answers two questions. Did this session make the path, so that it may take it away again? And what was changed since a
//! check last ran, so that its failure can be told to the changes?

use crate::location::Location;
use crate::policy;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Bound;
use serde::{Deserialize, Serialize};

/// The memory of all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    sessions: BTreeMap<String, Paths>,
    changes: VecDeque<Change>,
    /// By the name of their key: each check for itself (SPEC 10.j).
    checks: BTreeMap<Arc<str>, Check>,
    /// The last change that was already told to somebody's trust.
    credited: u64,
    /// Counts every event that is remembered here.
    sequence: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Paths {
    /// The paths that were absent before an act of the session made them, with the event that did.
    made: BTreeMap<String, u64>,
    /// The paths that the session changed last, with the stamp that it left there and the event.
    left: BTreeMap<String, (u64, u64)>,
    last: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Change {
    at: u64,
    place: Location,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Check {
    /// The place part of its own key.
    place: Location,
    /// The kind part of its own key.
    kind: Arc<str>,
    /// The event of its last run.
    ran: u64,
    /// The places where it left marks, with the run that left the last.
    marked: BTreeMap<Location, u64>,
}

impl Memory {
    /// Whether a session made a path, or a folder above it.
    #[must_use]
    pub fn made(&self, session: &str, place: &Location) -> bool {
        let Some(paths) = self.sessions.get(session) else { return false };
        let text = place.as_str();
        let ends = text.match_indices('/').map(|(at, _)| at).chain([text.len()]);
        ends.filter_map(|end| text.get(..end)).any(|path| !path.is_empty() && paths.made.contains_key(path))
    }

    /// Whether a path is just as the session left it, whose earlier state git has.
    #[must_use]
    pub fn left_so(&self, session: &str, place: &Location, stamp: Option<u64>) -> bool {
        let left = self.sessions.get(session).and_then(|paths| paths.left.get(place.as_str()));
        matches!((left, stamp), (Some((then, _)), Some(now)) if *then == now)
    }

    /// Remembers that a session made a path.
    pub(crate) fn remember_made(&mut self, session: &str, place: &Location, bounds: &policy::Session) {
        let event = self.next_event();
        let paths = self.paths(session, event, bounds);
        paths.made.insert(place.as_str().to_string(), event);
        while paths.made.len() > bounds.paths as usize {
            forget_oldest(&mut paths.made, |event| *event);
        }
    }

    /// Forgets that a place, and the folders above it, were made by sessions: something of others is there.
    pub(crate) fn disown(&mut self, place: &Location) {
        for paths in self.sessions.values_mut() {
            paths.made.retain(|text, _| !Location::path(text).holds(place.as_str()));
        }
    }

    /// Remembers how a session left a path whose earlier state git has.
    pub(crate) fn remember_left(&mut self, session: &str, place: &Location, stamp: u64, bounds: &policy::Session) {
        let event = self.next_event();
        let paths = self.paths(session, event, bounds);
        paths.left.insert(place.as_str().to_string(), (stamp, event));
        while paths.left.len() > bounds.paths as usize {
            forget_oldest(&mut paths.left, |(_, event)| *event);
        }
    }

    /// Forgets a path that no longer is, and what was below it: who makes it again may be somebody else.
    pub(crate) fn forget_path(&mut self, place: &Location) {
        for paths in self.sessions.values_mut() {
            forget_below(&mut paths.made, place);
            forget_below(&mut paths.left, place);
        }
    }

    /// Forgets what other sessions made at a place that this one changed: it is no longer theirs alone.
    pub(crate) fn forget_of_others(&mut self, session: &str, place: &Location) {
        for (_, paths) in self.sessions.iter_mut().filter(|(other, _)| other.as_str() != session) {
            paths.made.remove(place.as_str());
            paths.left.remove(place.as_str());
        }
    }

    /// Remembers a change.
    pub(crate) fn remember_change(&mut self, place: &Location, bounds: &policy::Session) {
        let at = self.next_event();
        self.changes.retain(|change| change.place != *place);
        self.changes.push_back(Change { at, place: place.clone() });
        while self.changes.len() > bounds.changes as usize {
            self.changes.pop_front();
        }
    }

    /// The keys of all known checks: what may be repeated freely after a change.
    pub(crate) fn check_keys(&self) -> impl Iterator<Item = (&Location, &Arc<str>)> {
        self.checks.values().map(|check| (&check.place, &check.kind))
    }

    /// The places changed since a check last ran, the latest first, at most `most`.
    #[must_use]
    pub fn changed_since(&self, check: &str, most: u32) -> Vec<Location> {
        let ran = self.checks.get(check).map_or(0, |check| check.ran);
        self.changes
            .iter()
            .rev()
            .take_while(|change| change.at > ran)
            .take(most as usize)
            .map(|change| change.place.clone())
            .collect()
    }

    /// Remembers that a check ran. `true` for the first run of any check after a change: a change is told to trust once.
    pub(crate) fn remember_run(
        &mut self,
        check: &Arc<str>,
        place: &Location,
        kind: &Arc<str>,
        bounds: &policy::Session,
    ) -> bool {
        let latest_change = self.changes.back().map_or(0, |change| change.at);
        self.remember_key(check, place, kind, bounds);
        let counts = latest_change > self.credited;
        self.credited = self.credited.max(latest_change);
        counts
    }

    /// Remembers the key of something that may be repeated freely after a change.
    pub(crate) fn remember_key(
        &mut self,
        name: &Arc<str>,
        place: &Location,
        kind: &Arc<str>,
        bounds: &policy::Session,
    ) {
        let event = self.next_event();
        while !self.checks.contains_key(name) && self.checks.len() >= bounds.checks as usize {
            forget_oldest(&mut self.checks, |check| check.ran);
        }
        let fresh = || Check { place: place.clone(), kind: kind.clone(), ran: event, marked: BTreeMap::new() };
        self.checks.entry(name.clone()).or_insert_with(fresh).ran = event;
    }

    /// Remembers where a check left marks; at the bound the oldest are left to fade by themselves.
    pub(crate) fn remember_marks(&mut self, check: &str, places: &[Location], bounds: &policy::Session) {
        let Some(known) = self.checks.get_mut(check) else { return };
        known.marked.extend(places.iter().map(|place| (place.clone(), known.ran)));
        while known.marked.len() > bounds.paths as usize {
            forget_oldest(&mut known.marked, |ran| *ran);
        }
    }

    /// Takes the places where a check left marks.
    pub(crate) fn take_marks(&mut self, check: &str) -> Vec<Location> {
        let marked = self.checks.get_mut(check).map(|known| core::mem::take(&mut known.marked));
        marked.unwrap_or_default().into_keys().collect()
    }

    /// The paths that a session made, ordered.
    pub fn made_by<'a>(&'a self, session: &str) -> impl Iterator<Item = &'a str> {
        self.sessions.get(session).into_iter().flat_map(|paths| paths.made.keys().map(String::as_str))
    }

    fn next_event(&mut self) -> u64 {
        self.sequence = self.sequence.saturating_add(1);
        self.sequence
    }

    fn paths(&mut self, session: &str, event: u64, bounds: &policy::Session) -> &mut Paths {
        while !self.sessions.contains_key(session) && self.sessions.len() >= bounds.sessions as usize {
            forget_oldest(&mut self.sessions, |paths| paths.last);
        }
        let paths = self.sessions.entry(session.to_string()).or_default();
        paths.last = event;
        paths
    }
}

/// Forgets the entry with the lowest event. Only at a bound, so that looking at all of them is rare.
fn forget_oldest<K: Clone + Ord, V>(map: &mut BTreeMap<K, V>, event: impl Fn(&V) -> u64) {
    let oldest = map.iter().min_by_key(|(_, value)| event(value)).map(|(key, _)| key.clone());
    if let Some(key) = oldest {
        map.remove(&key);
    }
}

/// Forgets a place and everything below it, without looking at the other places.
fn forget_below<V>(map: &mut BTreeMap<String, V>, place: &Location) {
    let from = if place.is_workspace_root() { "" } else { place.as_str() };
    // What lies below a place begins with its text, so that it stands directly behind it in the order of bytes.
    let held: Vec<String> = map
        .range::<str, _>((Bound::Included(from), Bound::Unbounded))
        .map(|(text, _)| text)
        .take_while(|text| text.starts_with(from))
        .filter(|text| place.holds(text))
        .cloned()
        .collect();
    for text in held {
        map.remove(&text);
    }
}
