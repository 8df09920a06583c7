//! The signal field: traces of consequences, each at a place, of a kind, fading with time (SPEC 2).
//!
//! The one idea: a trace is stored as (strength, tick, rate) and its strength at a later tick is computed when it is read,
//! so that a tick visits nothing. Dead traces are given back by a hand that each new trace moves on by two places.

use crate::error::Error;
use crate::fixed::Fixed;
use crate::location::{Form, Location};
use crate::policy;
use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Bound;
use serde::{Deserialize, Serialize};

/// A count of decay steps. In the timed presets it is absolute: milliseconds since the epoch over the tick's length.
pub type Tick = u64;

/// What a trace says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Something failed here.
    Failure,
    /// Something worked here.
    Success,
    /// Something here is thought to be risky.
    Risk,
    /// Something is wanted here.
    Need,
    /// Something depends on this.
    Dependency,
    /// A person attends to this.
    HumanPriority,
}

impl Signal {
    /// Every signal, in the order of the SPEC.
    pub const ALL: [Self; 6] =
        [Self::Failure, Self::Success, Self::Risk, Self::Need, Self::Dependency, Self::HumanPriority];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Success => "success",
            Self::Risk => "risk",
            Self::Need => "need",
            Self::Dependency => "dependency",
            Self::HumanPriority => "human_priority",
        }
    }

    const fn is_hazard(self) -> bool {
        matches!(self, Self::Failure | Self::Risk)
    }
}

/// How quickly a trace fades; the rates are the policy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decay {
    /// Warnings.
    Fast,
    /// Observations and needs.
    Normal,
    /// What stays known for long.
    Slow,
}

impl Decay {
    /// Every class, fastest first.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Normal, Self::Slow];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Normal => "normal",
            Self::Slow => "slow",
        }
    }
}

/// Who left a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A person.
    Human,
    /// A test.
    Test,
    /// A security tool.
    Security,
    /// An agent.
    Agent,
    /// The running system.
    Runtime,
}

impl Source {
    /// Every source, in the order of the SPEC.
    pub const ALL: [Self; 5] = [Self::Human, Self::Test, Self::Security, Self::Agent, Self::Runtime];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Test => "test",
            Self::Security => "security",
            Self::Agent => "agent",
            Self::Runtime => "runtime",
        }
    }
}

/// The part of a key that tells apart what was done at a place (SPEC 10.i). It is never glued into the place's text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A mark of the place itself: reports, people, deposits.
    Place,
    /// A mark of one act: `edit`, `delete`, `npm install x`.
    Act(Arc<str>),
    /// A mark that a check left where changes preceded it.
    Check(Arc<str>),
    /// A proposal's own risk: shown, never decisive.
    Prospective,
}

/// A trace as it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Where it is.
    pub location: Location,
    /// What was done there.
    pub kind: Kind,
    /// What it says.
    pub signal: Signal,
    /// How quickly it fades.
    pub decay: Decay,
    /// Who left it.
    pub source: Source,
    /// Its strength at the tick of the question, in (0, 10].
    pub strength: Fixed,
}

/// What is to be left at a key.
#[derive(Clone, Debug)]
pub struct Deposit<'a> {
    /// Where.
    pub location: &'a Location,
    /// What was done there.
    pub kind: Kind,
    /// What it says.
    pub signal: Signal,
    /// How quickly it fades.
    pub decay: Decay,
    /// Who leaves it.
    pub source: Source,
    /// How much is added, multipliers included.
    pub effective: Fixed,
}

/// The channels that the gate reads at a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channels {
    /// The strongest RISK.
    pub risk: Fixed,
    /// The strongest FAILURE.
    pub failure: Fixed,
}

impl Channels {
    /// The hazard: the larger channel.
    #[must_use]
    pub fn hazard(self) -> Fixed {
        self.risk.max(self.failure)
    }

    fn raise(&mut self, signal: Signal, strength: Fixed) {
        match signal {
            Signal::Risk => self.risk = self.risk.max(strength),
            Signal::Failure => self.failure = self.failure.max(strength),
            _ => {}
        }
    }
}

/// What the gate reads at one place, by kind (SPEC 10.i).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Readings {
    /// Of the place itself.
    pub(crate) place: Channels,
    /// Of one act.
    pub(crate) act: Channels,
    /// That checks left.
    pub(crate) checks: Channels,
}

/// Counts and extremes of the live traces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How many traces live.
    pub traces: u64,
    /// Live traces by signal, in the order of [`Signal::ALL`]; signals without a trace are left out.
    pub by_signal: Vec<(Signal, u64)>,
    /// Live traces by source.
    pub by_source: Vec<(Source, u64)>,
    /// Live traces by decay class.
    pub by_decay: Vec<(Decay, u64)>,
    /// The strongest, 0 without traces.
    pub max: Fixed,
    /// The weakest, 0 without traces.
    pub min: Fixed,
    /// The mean, 0 without traces.
    pub mean: Fixed,
}

/// One stored trace. Forty bytes: the kind's name is kept apart from what it names.
#[derive(Clone, Debug)]
struct Mark {
    name: Option<Arc<str>>,
    strength: Fixed,
    tick: Tick,
    form: KindForm,
    signal: Signal,
    decay: Decay,
    source: Source,
}

/// A [`Kind`] without its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KindForm {
    Place,
    Act,
    Check,
    Prospective,
}

impl KindForm {
    fn of(kind: &Kind) -> (Self, Option<&Arc<str>>) {
        match kind {
            Kind::Place => (Self::Place, None),
            Kind::Act(name) => (Self::Act, Some(name)),
            Kind::Check(name) => (Self::Check, Some(name)),
            Kind::Prospective => (Self::Prospective, None),
        }
    }
}

impl Mark {
    fn of(trace: &Deposit<'_>, strength: Fixed, tick: Tick) -> Self {
        let (form, name) = KindForm::of(&trace.kind);
        let (signal, decay, source) = (trace.signal, trace.decay, trace.source);
        Self { name: name.cloned(), strength, tick, form, signal, decay, source }
    }

    fn of_trace(trace: &Trace, tick: Tick) -> Self {
        let (form, name) = KindForm::of(&trace.kind);
        let (signal, decay, source) = (trace.signal, trace.decay, trace.source);
        Self { name: name.cloned(), strength: trace.strength, tick, form, signal, decay, source }
    }

    fn is(&self, kind: &Kind, signal: Signal) -> bool {
        let (form, name) = KindForm::of(kind);
        self.signal == signal && self.form == form && self.name.as_deref() == name.map(|name| &**name)
    }

    /// A trace of the place itself that hazard counts.
    fn closes(&self) -> bool {
        self.form == KindForm::Place && self.signal.is_hazard()
    }

    fn kind(&self) -> Kind {
        match (self.form, &self.name) {
            (KindForm::Act, Some(name)) => Kind::Act(name.clone()),
            (KindForm::Check, Some(name)) => Kind::Check(name.clone()),
            (KindForm::Prospective, _) => Kind::Prospective,
            _ => Kind::Place,
        }
    }

    fn at(&self, now: Tick, rates: &policy::Field) -> Fixed {
        self.strength.less(rates.rate(self.decay).times_count(now.saturating_sub(self.tick)))
    }

    /// The first tick at which it no longer exists.
    fn death(&self, rates: &policy::Field) -> Tick {
        self.strength.steps_of(rates.rate(self.decay)).map_or(Tick::MAX, |steps| self.tick.saturating_add(steps))
    }
}

/// The marks of one place: mostly one, which then needs no room of its own.
#[derive(Clone, Debug)]
enum Marks {
    One(Mark),
    More(Vec<Mark>),
}

impl Marks {
    fn as_slice(&self) -> &[Mark] {
        match self {
            Self::One(mark) => core::slice::from_ref(mark),
            Self::More(marks) => marks,
        }
    }

    fn find(&self, kind: &Kind, signal: Signal) -> Option<&Mark> {
        self.as_slice().iter().find(|mark| mark.is(kind, signal))
    }

    fn find_mut(&mut self, kind: &Kind, signal: Signal) -> Option<&mut Mark> {
        let marks = match self {
            Self::One(mark) => core::slice::from_mut(mark),
            Self::More(marks) => marks.as_mut_slice(),
        };
        marks.iter_mut().find(|mark| mark.is(kind, signal))
    }

    fn push(&mut self, mark: Mark) {
        match self {
            Self::One(first) => *self = Self::More(Vec::from([first.clone(), mark])),
            Self::More(marks) => {
                marks.reserve_exact(1);
                marks.push(mark);
            }
        }
    }

    /// Keeps the marks for which `keep` holds. Returns how many went, and whether any is left.
    fn retain(&mut self, keep: impl Fn(&Mark) -> bool) -> (u64, bool) {
        match self {
            Self::One(mark) => {
                let stays = keep(mark);
                (u64::from(!stays), stays)
            }
            Self::More(marks) => {
                let before = marks.len();
                marks.retain(keep);
                (before.saturating_sub(marks.len()) as u64, !marks.is_empty())
            }
        }
    }
}

/// Puts a mark to those of its place.
fn add_mark(map: &mut BTreeMap<Arc<str>, Marks>, text: &Arc<str>, mark: Mark) {
    match map.get_mut(text) {
        Some(marks) => marks.push(mark),
        None => {
            map.insert(text.clone(), Marks::One(mark));
        }
    }
}

/// Where and when a trace dies, ordered by when, then by key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Doom {
    death: Tick,
    text: Arc<str>,
    own: bool,
    kind: Kind,
    signal: Signal,
}

impl Doom {
    fn of(mark: &Mark, text: &Arc<str>, own: bool, rates: &policy::Field) -> Self {
        Self { death: mark.death(rates), text: text.clone(), own, kind: mark.kind(), signal: mark.signal }
    }
}

/// How many places a new trace looks at for dead ones.
const HAND_STEPS: usize = 2;

/// The field.
#[derive(Clone, Debug, Default)]
pub struct Field {
    places: BTreeMap<Arc<str>, Marks>,
    own: BTreeMap<Arc<str>, Marks>,
    /// The places with a RISK or FAILURE of the place itself: what a question about a whole folder has to visit.
    hazardous: BTreeSet<Arc<str>>,
    /// Stored traces, the dead that were not given back yet included.
    stored: u64,
    /// The last place that the hand looked at.
    hand: Option<(bool, Arc<str>)>,
    /// Who dies next. Made when the field is full for the first time, kept from then on.
    dooms: Option<BinaryHeap<Reverse<Doom>>>,
}

impl Field {
    /// Leaves a trace: what stands there and what is added, at most the policy's ceiling. The key takes the new decay class and source.
    /// A full field first gives up the trace that would die first.
    pub(crate) fn deposit(&mut self, deposit: &Deposit<'_>, now: Tick, rates: &policy::Field, limit: u64) -> Fixed {
        let own = deposit.location.is_own();
        let map = if own { &mut self.own } else { &mut self.places };
        let known = map.get_mut(deposit.location.as_str());
        let mark = match known.and_then(|marks| marks.find_mut(&deposit.kind, deposit.signal)) {
            Some(mark) => {
                let standing = mark.at(now, rates);
                // Nothing added to nothing is no trace; added to a live one it still brings its decay class and source.
                if standing + deposit.effective <= Fixed::ZERO {
                    return Fixed::ZERO;
                }
                *mark = Mark::of(deposit, (standing + deposit.effective).at_most(rates.max_strength), now);
                mark.clone()
            }
            None if deposit.effective <= Fixed::ZERO => return Fixed::ZERO,
            None => {
                // Only what grows has to give back.
                self.turn_hand(now, rates);
                self.make_room(now, rates, limit);
                let mark = Mark::of(deposit, deposit.effective.at_most(rates.max_strength), now);
                self.put(deposit.location.shared(), own, mark.clone());
                mark
            }
        };
        self.foresee(&mark, deposit.location.shared(), own, rates);
        mark.strength
    }

    /// Stores a mark that has no place yet.
    fn put(&mut self, text: &Arc<str>, own: bool, mark: Mark) {
        let map = if own { &mut self.own } else { &mut self.places };
        let (closes, text) = (mark.closes() && !own, text.clone());
        add_mark(map, &text, mark);
        self.stored = self.stored.saturating_add(1);
        if closes {
            // The set shares the text with the map.
            let shared = self.places.get_key_value(&text).map_or(&text, |(shared, _)| shared);
            self.hazardous.insert(shared.clone());
        }
    }

    /// Adds to a trace that lives; leaves an absent one absent. Returns the strength there.
    pub(crate) fn reinforce(
        &mut self,
        location: &Location,
        kind: &Kind,
        signal: Signal,
        now: Tick,
        rates: &policy::Field,
    ) -> Fixed {
        let map = if location.is_own() { &mut self.own } else { &mut self.places };
        let Some(marks) = map.get_mut(location.as_str()) else { return Fixed::ZERO };
        let Some(mark) = marks.find_mut(kind, signal) else { return Fixed::ZERO };
        let standing = mark.at(now, rates);
        if standing == Fixed::ZERO {
            return Fixed::ZERO;
        }
        mark.strength = (standing + rates.reinforcement).at_most(rates.max_strength);
        mark.tick = now;
        let mark = mark.clone();
        self.foresee(&mark, location.shared(), location.is_own(), rates);
        mark.strength
    }

    /// Takes away the traces of one kind at a place. Returns how many lived.
    pub(crate) fn remove(
        &mut self,
        location: &Location,
        kind: &Kind,
        signal: Signal,
        now: Tick,
        rates: &policy::Field,
    ) -> u64 {
        let map = if location.is_own() { &mut self.own } else { &mut self.places };
        let Some(marks) = map.get_mut(location.as_str()) else { return 0 };
        let Some(mark) = marks.find(kind, signal).cloned() else { return 0 };
        let (gone, some_left) = marks.retain(|mark| !mark.is(kind, signal));
        if !some_left {
            map.remove(location.as_str());
        }
        self.stored = self.stored.saturating_sub(gone);
        if mark.closes() && !location.is_own() {
            self.forget_hazard(location.as_str());
        }
        u64::from(mark.at(now, rates) > Fixed::ZERO)
    }

    /// Takes everything away. Returns how many traces lived.
    pub(crate) fn clear(&mut self, now: Tick, rates: &policy::Field) -> u64 {
        let lived = self.traces(now, rates).count() as u64;
        *self = Self::default();
        lived
    }

    /// Restates every trace as it is at `now`, as of the tick `from`, so that other rates may follow, within the other ceiling and
    /// bound. Visits all of them: for a policy change only.
    pub(crate) fn settle(&mut self, now: Tick, rates: &policy::Field, from: Tick, next: &policy::Field, limit: u64) {
        let mut traces: Vec<Trace> = self.traces(now, rates).collect();
        for trace in &mut traces {
            trace.strength = trace.strength.at_most(next.max_strength);
        }
        *self = Self::of_traces(&traces, from);
        self.make_room(from, next, limit.saturating_add(1));
    }

    /// Whether traces stand in the order of their keys, each key once.
    pub(crate) fn are_ordered(traces: &[Trace]) -> bool {
        let before = |one: &Trace, next: &Trace| {
            let place = one.location.cmp(&next.location);
            place.then_with(|| one.kind.cmp(&next.kind)).then_with(|| one.signal.cmp(&next.signal)).is_lt()
        };
        traces.iter().zip(traces.iter().skip(1)).all(|(one, next)| before(one, next))
    }

    /// The field that ordered traces make, built in one pass.
    pub(crate) fn of_traces(traces: &[Trace], now: Tick) -> Self {
        let (mut places, mut own, mut hazardous) = (Vec::new(), Vec::new(), Vec::new());
        for trace in traces {
            let mark = Mark::of_trace(trace, now);
            let is_own = trace.location.is_own();
            if mark.closes() && !is_own {
                hazardous.push(trace.location.shared().clone());
            }
            let list: &mut Vec<(Arc<str>, Marks)> = if is_own { &mut own } else { &mut places };
            match list.last_mut().filter(|(text, _)| text == trace.location.shared()) {
                Some((_, marks)) => marks.push(mark),
                None => list.push((trace.location.shared().clone(), Marks::One(mark))),
            }
        }
        Self {
            places: places.into_iter().collect(),
            own: own.into_iter().collect(),
            hazardous: hazardous.into_iter().collect(),
            stored: traces.len() as u64,
            ..Self::default()
        }
    }

    /// The strength of one trace, 0 where there is none.
    #[must_use]
    pub fn strength(
        &self,
        location: &Location,
        kind: &Kind,
        signal: Signal,
        now: Tick,
        rates: &policy::Field,
    ) -> Fixed {
        let found = self.marks(location).and_then(|marks| marks.find(kind, signal));
        found.map_or(Fixed::ZERO, |mark| mark.at(now, rates))
    }

    /// RISK and FAILURE of the place itself, at exactly this place.
    #[must_use]
    pub fn channels(&self, location: &Location, now: Tick, rates: &policy::Field) -> Channels {
        self.readings(location, "", now, rates).place
    }

    /// Everything that hazard counts at exactly this place, in one pass: of the place itself, of one act, of the checks.
    pub(crate) fn readings(&self, location: &Location, act: &str, now: Tick, rates: &policy::Field) -> Readings {
        let mut readings = Readings::default();
        for mark in self.marks(location).map(Marks::as_slice).unwrap_or_default() {
            let channels = match mark.form {
                KindForm::Place => &mut readings.place,
                KindForm::Act if mark.name.as_deref() == Some(act) => &mut readings.act,
                KindForm::Check => &mut readings.checks,
                _ => continue,
            };
            channels.raise(mark.signal, mark.at(now, rates));
        }
        readings
    }

    /// RISK and FAILURE of the places themselves, here and anywhere below; and where the larger one is.
    #[must_use]
    pub fn channels_below(
        &self,
        location: &Location,
        now: Tick,
        rates: &policy::Field,
    ) -> (Channels, Option<Arc<str>>) {
        let mut channels = Channels::default();
        let mut worst = None;
        let mut raise = |text: &Arc<str>, marks: &Marks| {
            for mark in marks.as_slice().iter().filter(|mark| mark.closes()) {
                let before = channels.hazard();
                channels.raise(mark.signal, mark.at(now, rates));
                if channels.hazard() > before {
                    worst = Some(text.clone());
                }
            }
        };
        for text in below(&self.hazardous, location) {
            if let Some(marks) = self.places.get(text) {
                raise(text, marks);
            }
        }
        (channels, worst)
    }

    /// The live traces, ordered by key.
    pub fn traces<'a>(&'a self, now: Tick, rates: &'a policy::Field) -> impl Iterator<Item = Trace> + 'a {
        let both = Merged { left: self.places.iter().peekable(), right: self.own.iter().peekable() };
        both.flat_map(move |(text, own, marks)| living(text, own, marks, now, rates))
    }

    /// The live traces at a place and below it, ordered by key.
    pub fn traces_below<'a>(
        &'a self,
        location: &'a Location,
        now: Tick,
        rates: &'a policy::Field,
    ) -> impl Iterator<Item = Trace> + 'a {
        let map = if location.is_own() { &self.own } else { &self.places };
        let here = map.get_key_value(location.as_str()).filter(|_| !location.is_workspace_root());
        let beneath = ranges_below(location).into_iter().flat_map(|range| map.range::<str, _>(as_text(&range)));
        here.into_iter()
            .chain(beneath)
            .flat_map(move |(text, marks)| living(text, location.is_own(), marks, now, rates))
    }

    /// The `count` strongest live traces, the strongest first, ties by key.
    #[must_use]
    pub fn top(&self, count: usize, now: Tick, rates: &policy::Field) -> Vec<Trace> {
        let mut traces: Vec<Trace> = self.traces(now, rates).collect();
        // The traces come ordered by key, and the sort is stable.
        traces.sort_by_key(|trace| Reverse(trace.strength));
        traces.truncate(count);
        traces
    }

    /// Counts and extremes.
    #[must_use]
    pub fn summary(&self, now: Tick, rates: &policy::Field) -> Summary {
        let (mut signals, mut sources, mut decays) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut summary = Summary::default();
        let mut total = 0_i128;
        for trace in self.traces(now, rates) {
            add_one(signals.entry(trace.signal).or_insert(0));
            add_one(sources.entry(trace.source).or_insert(0));
            add_one(decays.entry(trace.decay).or_insert(0));
            summary.min = if summary.traces == 0 { trace.strength } else { summary.min.min(trace.strength) };
            summary.max = summary.max.max(trace.strength);
            add_one(&mut summary.traces);
            total = total.saturating_add(i128::from(trace.strength.units()));
        }
        if let Some(mean) = total.checked_div(i128::from(summary.traces)) {
            summary.mean = Fixed::from_units(i64::try_from(mean).unwrap_or(i64::MAX));
        }
        summary.by_signal = signals.into_iter().collect();
        summary.by_source = sources.into_iter().collect();
        summary.by_decay = decays.into_iter().collect();
        summary
    }

    /// How many traces are stored; the dead that were not given back yet count.
    #[must_use]
    pub const fn stored(&self) -> u64 {
        self.stored
    }

    fn marks(&self, location: &Location) -> Option<&Marks> {
        if location.is_own() { self.own.get(location.as_str()) } else { self.places.get(location.as_str()) }
    }

    /// Looks at the next places and gives back what has died there.
    fn turn_hand(&mut self, now: Tick, rates: &policy::Field) {
        for _ in 0..HAND_STEPS {
            let (own, from) = match self.hand.take() {
                Some((own, text)) => (own, Bound::Excluded(text)),
                None => (false, Bound::Unbounded),
            };
            let map = if own { &mut self.own } else { &mut self.places };
            let Some((text, marks)) = map.range_mut::<Arc<str>, _>((from, Bound::Unbounded)).next() else {
                // At the end of one map the hand goes on in the other, from its beginning.
                self.hand = (!own).then(|| (true, Arc::from("")));
                continue;
            };
            let text = text.clone();
            let (gone, some_left) = marks.retain(|mark| mark.at(now, rates) > Fixed::ZERO);
            if !some_left {
                map.remove(&text);
            }
            self.stored = self.stored.saturating_sub(gone);
            if gone > 0 && !own {
                self.forget_hazard(&text);
            }
            self.hand = Some((own, text));
        }
    }

    fn forget_hazard(&mut self, text: &str) {
        let still = self.places.get(text).is_some_and(|marks| marks.as_slice().iter().any(Mark::closes));
        if !still {
            self.hazardous.remove(text);
        }
    }

    /// Keeps the order of death up to date, where there is one.
    fn foresee(&mut self, mark: &Mark, text: &Arc<str>, own: bool, rates: &policy::Field) {
        let Some(dooms) = &mut self.dooms else { return };
        if dooms.len() as u64 > self.stored.saturating_mul(2).saturating_add(1024) {
            self.dooms = None;
            return;
        }
        dooms.push(Reverse(Doom::of(mark, text, own, rates)));
    }

    /// Gives up the traces that would die first until one more fits.
    fn make_room(&mut self, now: Tick, rates: &policy::Field, limit: u64) {
        while self.stored >= limit.max(1) {
            let mut dooms = self.dooms.take().unwrap_or_else(|| self.all_dooms(rates));
            let Some(Reverse(doom)) = dooms.pop() else { return };
            self.dooms = Some(dooms);
            let location = Location::held(doom.text.clone(), doom.own);
            let actual = self.marks(&location).and_then(|marks| marks.find(&doom.kind, doom.signal));
            // An entry that no longer tells the truth was followed by a newer one.
            if actual.is_some_and(|mark| mark.death(rates) == doom.death) {
                self.remove(&location, &doom.kind, doom.signal, now, rates);
            }
        }
    }

    fn all_dooms(&self, rates: &policy::Field) -> BinaryHeap<Reverse<Doom>> {
        let maps = [(&self.places, false), (&self.own, true)];
        let dooms = maps.into_iter().flat_map(|(map, own)| {
            map.iter().flat_map(move |(text, marks)| {
                marks.as_slice().iter().map(move |mark| Reverse(Doom::of(mark, text, own, rates)))
            })
        });
        dooms.collect()
    }
}

fn add_one(count: &mut u64) {
    *count = count.saturating_add(1);
}

/// The live traces of one place, ordered by kind and signal.
fn living(text: &Arc<str>, own: bool, marks: &Marks, now: Tick, rates: &policy::Field) -> Vec<Trace> {
    let location = Location::held(text.clone(), own);
    let mut traces: Vec<Trace> = marks
        .as_slice()
        .iter()
        .filter_map(|mark| {
            let strength = mark.at(now, rates);
            (strength > Fixed::ZERO).then(|| Trace {
                location: location.clone(),
                kind: mark.kind(),
                signal: mark.signal,
                decay: mark.decay,
                source: mark.source,
                strength,
            })
        })
        .collect();
    traces.sort_by(|a, b| a.kind.cmp(&b.kind).then(a.signal.cmp(&b.signal)));
    traces
}

/// The members of an ordered set that are a location or lie below it, without visiting the others.
fn below<'a>(set: &'a BTreeSet<Arc<str>>, location: &'a Location) -> impl Iterator<Item = &'a Arc<str>> {
    let here = set.get(location.as_str()).filter(|_| !location.is_workspace_root());
    here.into_iter().chain(ranges_below(location).into_iter().flat_map(|range| set.range::<str, _>(as_text(&range))))
}

/// A range of texts.
type TextRange = (Bound<String>, Bound<String>);

/// Where the texts below a location stand in the order of bytes, in which `.`, `/` and `0` are neighbours.
fn ranges_below(location: &Location) -> [TextRange; 2] {
    use Bound::{Excluded, Included, Unbounded};
    let nothing = || (Included(String::new()), Excluded(String::new()));
    let between = |low: char, high: char| {
        (Included(alloc::format!("{location}{low}")), Excluded(alloc::format!("{location}{high}")))
    };
    match location.form() {
        // Every relative path: all but those that begin with `/`.
        Form::Path if location.is_workspace_root() => {
            [(Unbounded, Excluded("/".into())), (Included("0".into()), Unbounded)]
        }
        Form::Path if location.as_str() == "/" => [(Excluded("/".into()), Excluded("0".into())), nothing()],
        Form::Path => [between('/', '0'), nothing()],
        Form::Name => [between('.', '/'), nothing()],
        Form::Raw => [between('.', '0'), nothing()],
        Form::Own => [nothing(), nothing()],
    }
}

fn as_text(range: &TextRange) -> (Bound<&str>, Bound<&str>) {
    (range.0.as_ref().map(String::as_str), range.1.as_ref().map(String::as_str))
}

/// Two ordered maps as one, by text, a place before a place of its own.
struct Merged<'a, I: Iterator<Item = (&'a Arc<str>, &'a Marks)>> {
    left: core::iter::Peekable<I>,
    right: core::iter::Peekable<I>,
}

impl<'a, I: Iterator<Item = (&'a Arc<str>, &'a Marks)>> Iterator for Merged<'a, I> {
    type Item = (&'a Arc<str>, bool, &'a Marks);

    fn next(&mut self) -> Option<Self::Item> {
        let from_left = match (self.left.peek(), self.right.peek()) {
            (Some((left, _)), Some((right, _))) => left <= right,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let (text, marks) = if from_left { self.left.next()? } else { self.right.next()? };
        Some((text, !from_left, marks))
    }
}

/// Reads a signal, source or decay class by its stable name.
///
/// # Errors
/// [`Error::Value`] that lists the names.
pub fn by_name<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str, text: &str, field: &str) -> Result<T, Error> {
    all.iter().copied().find(|item| name(*item) == text).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|item| name(*item)).collect();
        Error::value(field, &alloc::format!("one of {}", names.join(", ")))
    })
}

/// A key as people read it: `src/app.ts (edit)`.
#[must_use]
pub fn key_text(location: &Location, kind: &Kind) -> String {
    match kind {
        Kind::Place => String::from(location.as_str()),
        Kind::Act(act) if location.is_own() && **act == *location.as_str() => String::from(location.as_str()),
        Kind::Act(act) => alloc::format!("{location} ({act})"),
        Kind::Check(check) => alloc::format!("{location} (after {check})"),
        Kind::Prospective => alloc::format!("{location} (proposed)"),
    }
}
