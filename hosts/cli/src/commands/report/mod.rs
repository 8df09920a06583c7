//! `report`: what happened in a period, as one page that needs nothing else.
//!
//! The journal is read once, a few records at a time; what is kept of it is bounded whatever its length.

mod page;
mod series;

use super::ledger;
use super::log::{HotPlace, Line, hot_places};
use super::{Answer, count};
use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::gate::{Gate, judged, show};
use crate::progress;
use crate::screen;
use serde::Serialize;
use series::Series;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use stigmergate_core::attest::verify::Report;
use stigmergate_core::budget::{Balance, Dimension};
use stigmergate_core::explain;
use stigmergate_core::gate::{Decision, ReasonCode};
use stigmergate_core::kernel::{AgentView, Reply, Status};
use stigmergate_core::policy::Caps;
use stigmergate_store::{Incident, Order, Store};

/// How many stopped calls, places, agents and incidents are shown.
const SHOWN: usize = 50;

/// A period, and where the gate stands after it.
#[derive(Debug, Serialize)]
struct Facts {
    root: PathBuf,
    /// Milliseconds since 1970; included.
    since: u64,
    /// Not included.
    until: u64,
    /// When the store was read: agents, places, budgets and ledger are as of then.
    made_at: u64,
    verdicts: Verdicts,
    over_time: Series,
    /// What decided the calls that were held or refused, the most frequent first.
    reasons: Vec<ReasonCount>,
    /// The last calls that were held or refused, the latest first.
    stopped: Vec<Line>,
    lifecycle: Steps,
    incidents: Vec<Incident>,
    places: Listed<HotPlace>,
    agents: Listed<AgentView>,
    budget: Spending,
    standing: Option<Status>,
    ledger: Option<Report>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Verdicts {
    execute: u64,
    hold: u64,
    refuse: u64,
}

impl Verdicts {
    const fn add(&mut self, decision: Decision) {
        let count = match decision {
            Decision::Execute => &mut self.execute,
            Decision::Hold => &mut self.hold,
            Decision::Refuse => &mut self.refuse,
        };
        *count = count.saturating_add(1);
    }

    const fn total(&self) -> u64 {
        self.execute.saturating_add(self.hold).saturating_add(self.refuse)
    }
}

#[derive(Debug, Serialize)]
struct ReasonCount {
    code: ReasonCode,
    count: u64,
    /// How the last of them was explained.
    example: String,
}

/// How often what was recorded in the period.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Steps {
    approved: u64,
    denied: u64,
    authorized: u64,
    executed: u64,
    concluded: u64,
    outcomes: u64,
    observed: u64,
    /// Calls that ran although they should not have.
    incidents: u64,
}

/// The first of many, and how many more there are.
#[derive(Debug, Serialize)]
struct Listed<T> {
    first: Vec<T>,
    more: usize,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { first: Vec::new(), more: 0 }
    }
}

impl<T> Listed<T> {
    fn of(mut all: Vec<T>) -> Self {
        let more = all.len().saturating_sub(SHOWN);
        all.truncate(SHOWN);
        Self { first: all, more }
    }
}

/// What the colony used and set aside in the budget's present period.
#[derive(Debug, Default, Serialize)]
struct Spending {
    balance: Balance,
    caps: Caps,
}

#[derive(Serialize)]
struct Written<'a> {
    file: &'a Path,
    facts: &'a Facts,
}

pub(crate) fn report(gate: &Gate, args: &ReportArgs) -> Result<Answer, Failure> {
    let since = gate.moment("since", &args.since)?;
    let until =
        args.until.as_deref().map_or(Ok(gate.clock.now.saturating_add(1)), |text| gate.moment("until", text))?;
    if since >= until {
        return Err(
            Failure::new("value", "the period ends before it begins: --since must be before --until").in_field("until")
        );
    }
    let facts = gather(gate, since, until)?;
    let Some(file) = &args.output else {
        return Ok(Answer::new(gate, &facts, || page::page(gate, &facts)));
    };
    keep(file, &page::page(gate, &facts))
        .map_err(|error| Failure::new("io", format!("{} cannot be written: {error}", show(file))).in_field("output"))?;
    let written = Written { file, facts: &facts };
    let answer = Answer::new(gate, &written, || {
        format!("{} in {}\n", count(facts.verdicts.total(), "verdict", "verdicts"), show(file))
    });
    Ok(answer)
}

/// Writes the page whole or not at all.
fn keep(file: &Path, page: &str) -> std::io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut whole = tempfile::NamedTempFile::new_in(folder)?;
    whole.write_all(page.as_bytes())?;
    whole.persist(file)?;
    Ok(())
}

fn gather(gate: &Gate, since: u64, until: u64) -> Result<Facts, Failure> {
    let mut facts = Facts {
        root: gate.locations.root.clone(),
        since,
        until,
        made_at: gate.clock.now,
        verdicts: Verdicts::default(),
        over_time: Series::over(since, until),
        reasons: Vec::new(),
        stopped: Vec::new(),
        lifecycle: Steps::default(),
        incidents: Vec::new(),
        places: Listed::default(),
        agents: Listed::default(),
        budget: Spending::default(),
        standing: None,
        ledger: None,
    };
    let Some(mut store) = gate.look()? else { return Ok(facts) };
    read_journal(&mut facts, &store)?;
    facts.incidents = store.incidents(SHOWN)?;
    facts.incidents.retain(|incident| (since..until).contains(&incident.at));
    let now = gate.clock.now;
    let stopped = &mut facts.stopped;
    let (standing, places, agents, budget) = store.with_current(|kernel| {
        let view = kernel.at(now);
        for line in stopped {
            line.state = view.proposal(&line.id).map(|proposal| proposal.state.as_str());
        }
        let (balance, caps) = view.budget();
        let spending = Spending { balance, caps: caps.clone() };
        (view.status(), Listed::of(hot_places(kernel, now, None, false)), Listed::of(view.agents()), spending)
    })?;
    if standing.ledger.is_some() {
        facts.ledger = Some(ledger::found(gate, &store)?);
    }
    (facts.standing, facts.places, facts.agents, facts.budget) = (Some(standing), places, agents, budget);
    Ok(facts)
}

/// Reads the journal once. Times may go back in it, so that all of it is looked through.
fn read_journal(facts: &mut Facts, store: &Store) -> Result<(), Failure> {
    let bar = progress::bar(store.last_sequence()?, "reading the journal");
    let mut reasons: BTreeMap<&'static str, ReasonCount> = BTreeMap::new();
    let mut stopped = VecDeque::with_capacity(SHOWN);
    for record in store.records(.., Order::OldestFirst) {
        let record = record?;
        bar.set_position(record.sequence);
        if !(facts.since..facts.until).contains(&record.at) {
            continue;
        }
        facts.lifecycle.add(&record.reply);
        let Some(judged) = judged(record) else { continue };
        let decision = judged.verdict.decision;
        facts.verdicts.add(decision);
        facts.over_time.add(judged.at, decision);
        if decision == Decision::Execute {
            continue;
        }
        if let Some(reason) = judged.verdict.reasons.first() {
            let example = screen::cut(&explain::reason(reason), 200);
            let seen = reasons.entry(name(reason.code)).or_insert(ReasonCount {
                code: reason.code,
                count: 0,
                example: String::new(),
            });
            seen.count = seen.count.saturating_add(1);
            seen.example = example;
        }
        if stopped.len() == SHOWN {
            stopped.pop_front();
        }
        stopped.push_back(Line::of(judged, None));
    }
    bar.finish_and_clear();
    facts.stopped = stopped.into_iter().rev().collect();
    facts.reasons = reasons.into_values().collect();
    facts.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    Ok(())
}

impl Steps {
    fn add(&mut self, reply: &Reply) {
        let step = match reply {
            Reply::Approval(_) => &mut self.approved,
            Reply::Denial(_) => &mut self.denied,
            Reply::Authorized(_) => &mut self.authorized,
            Reply::Received(_) => &mut self.executed,
            Reply::Concluded(_) => &mut self.concluded,
            Reply::Outcome(_) => &mut self.outcomes,
            Reply::Observed(observed) => {
                self.incidents = self.incidents.saturating_add(u64::from(observed.incident.is_some()));
                &mut self.observed
            }
            _ => return,
        };
        *step = step.saturating_add(1);
    }
}

/// What a reason is called.
const fn name(code: ReasonCode) -> &'static str {
    match code {
        ReasonCode::DenyRule => "a deny rule",
        ReasonCode::CriticalFinding => "a critical finding",
        ReasonCode::RoleSandbox => "the agent in SANDBOX",
        ReasonCode::RoleForbids => "a role that may not",
        ReasonCode::RoleHolds => "a role that needs approval",
        ReasonCode::BudgetExceeded => "the budget",
        ReasonCode::TrustBelowFloor => "low trust",
        ReasonCode::AskRule => "an ask rule",
        ReasonCode::HazardMedium => "failures at the place",
        ReasonCode::HazardHigh => "many failures at the place",
        ReasonCode::RiskyFindings => "risky findings",
        ReasonCode::Score => "the score",
        ReasonCode::ScoreTooLow => "several things at once",
        ReasonCode::AllowRule => "an allow rule",
        ReasonCode::Approved => "an approval",
        ReasonCode::StandingGrant => "a standing grant",
        _ => "another reason",
    }
}

/// The dimensions of a budget that are used, set aside or capped.
fn dimensions(spending: &Spending) -> impl Iterator<Item = Dimension> {
    Dimension::ALL.into_iter().filter(|dimension| {
        spending.caps.get(*dimension).is_some()
            || [spending.balance.used, spending.balance.reserved]
                .iter()
                .any(|cost| cost.get(*dimension) != stigmergate_core::fixed::Fixed::ZERO)
    })
}
