//! `log`: what was judged. `hot`: where something failed.

use super::Answer;
use crate::args::{DecisionArg, HotArgs, LogArgs};
use crate::failure::Failure;
use crate::gate::{Gate, Judged, act_text, holds_for, verdicts};
use crate::screen::{self, plain};
use serde::Serialize;
use std::path::Path;
use stigmergate_core::explain;
use stigmergate_core::field::{Kind, Signal, Trace};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Decision, Reason};
use stigmergate_core::kernel::State;
use stigmergate_core::location::Location;

#[derive(Serialize)]
struct Log {
    verdicts: Vec<Line>,
}

/// A verdict in a few fields.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) sequence: u64,
    pub(crate) at: u64,
    pub(crate) id: String,
    pub(crate) agent: String,
    pub(crate) act: String,
    pub(crate) decision: Decision,
    pub(crate) score: Fixed,
    pub(crate) reason: Option<Reason>,
    pub(crate) text: String,
    pub(crate) state: Option<&'static str>,
}

impl Line {
    pub(crate) fn of(judged: Judged, state: Option<&State>) -> Self {
        let verdict = judged.verdict;
        Self {
            sequence: judged.sequence,
            at: judged.at,
            act: act_text(&judged.proposal),
            text: explain::short(&screen::plain_verdict(&verdict)),
            id: verdict.id,
            agent: verdict.agent,
            decision: verdict.decision,
            score: verdict.score,
            reason: verdict.reasons.into_iter().next(),
            state: state.map(State::as_str),
        }
    }
}

pub(crate) fn log(gate: &Gate, args: &LogArgs) -> Result<Answer, Failure> {
    let since = args.since.as_deref().map_or(Ok(0), |text| gate.moment("since", text))?;
    let wanted = args.decision.map(|decision| match decision {
        DecisionArg::Execute => Decision::Execute,
        DecisionArg::Hold => Decision::Hold,
        DecisionArg::Refuse => Decision::Refuse,
    });
    let mut store = gate.look_closely()?;
    let mut found = Vec::new();
    if args.limit > 0 {
        verdicts(&store, |judged| {
            if judged.at < since {
                return false;
            }
            let fits = args.agent.as_deref().is_none_or(|agent| is_below(agent, &judged.verdict.agent))
                && wanted.is_none_or(|wanted| wanted == judged.verdict.decision);
            if fits {
                found.push(judged);
            }
            found.len() < args.limit
        })?;
    }
    let verdicts: Vec<Line> = store.with_current(|kernel| {
        let view = kernel.at(gate.clock.now);
        let line = |judged: Judged| {
            let state = view.proposal(&judged.verdict.id).map(|proposal| proposal.state);
            Line::of(judged, state.as_ref())
        };
        found.into_iter().map(line).collect()
    })?;
    let log = Log { verdicts };
    Ok(Answer::new(gate, &log, || table(gate, &log.verdicts)))
}

fn is_below(agent: &str, id: &str) -> bool {
    id.strip_prefix(agent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn table(gate: &Gate, lines: &[Line]) -> String {
    if lines.is_empty() {
        return "no verdicts that fit\n".to_owned();
    }
    let row = |line: &Line| {
        vec![
            format!("#{}", line.sequence),
            gate.clock.when(line.at),
            screen::cut(&line.agent, 24),
            screen::decision(line.decision),
            line.state.unwrap_or("forgotten").to_owned(),
            screen::cut(&line.act, gate.width),
        ]
    };
    let head = ["#", "when", "agent", "verdict", "state", "act"];
    let mut text = screen::table(&head, lines.iter().map(row).collect(), gate.width);
    text.push_str(&screen::faint("`stigmergate why 42` explains one"));
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Hot {
    places: Vec<HotPlace>,
    more: usize,
}

/// A trace, and what it does.
#[derive(Debug, Serialize)]
pub(crate) struct HotPlace {
    #[serde(flatten)]
    pub(crate) trace: Trace,
    /// Acts there are held for this long, in milliseconds; `null` where this trace holds nothing.
    pub(crate) holds_for_ms: Option<u64>,
}

/// The traces that weigh, the strongest first.
pub(crate) fn hot_places(
    kernel: &stigmergate_core::kernel::Kernel,
    now: u64,
    place: Option<&Location>,
    all: bool,
) -> Vec<HotPlace> {
    let view = kernel.at(now);
    let mut traces = place.map_or_else(|| view.traces(), |place| view.pressure(place, None, None));
    traces.retain(|trace| all || matches!(trace.signal, Signal::Failure | Signal::Risk));
    traces.sort_by_key(|trace| std::cmp::Reverse(trace.strength));
    traces.into_iter().map(|trace| HotPlace { holds_for_ms: holds_for(kernel, &trace), trace }).collect()
}

pub(crate) fn hot(gate: &Gate, args: &HotArgs) -> Result<Answer, Failure> {
    let place = args.place.as_deref().map(|place| location(gate, place));
    let mut store = gate.look_closely()?;
    let mut places = store.with_current(|kernel| hot_places(kernel, gate.clock.now, place.as_ref(), args.all))?;
    let more = places.len().saturating_sub(args.limit);
    places.truncate(args.limit);
    let hot = Hot { places, more };
    Ok(Answer::new(gate, &hot, || {
        if hot.places.is_empty() {
            return "nothing failed here lately\n".to_owned();
        }
        let mut text = places_table(gate, &hot.places);
        if more > 0 {
            text.push_str(&screen::faint(&format!("and {more} more (--limit)\n")));
        }
        text
    }))
}

/// Which acts a trace is about.
pub(crate) fn kind_text(kind: &Kind) -> String {
    match kind {
        Kind::Place => "anything".to_owned(),
        Kind::Act(kind) => plain(kind),
        Kind::Check(check) => format!("after {}", plain(check)),
        Kind::Prospective => "only said".to_owned(),
    }
}

pub(crate) fn places_table(gate: &Gate, places: &[HotPlace]) -> String {
    let row = |hot: &HotPlace| {
        let trace = &hot.trace;
        let kind = kind_text(&trace.kind);
        let holds = hot.holds_for_ms.map_or_else(|| "-".to_owned(), screen::span);
        vec![
            screen::cut(trace.location.as_str(), gate.width),
            screen::cut(&kind, 30),
            trace.signal.as_str().to_owned(),
            format!("{:.2}", trace.strength.to_f64()),
            trace.source.as_str().to_owned(),
            holds,
        ]
    };
    let head = ["place", "act", "signal", "strength", "from", "holds for"];
    screen::table(&head, places.iter().map(row).collect(), gate.width)
}

/// A place as somebody types it: a file that is there is named from the root.
fn location(gate: &Gate, text: &str) -> Location {
    let full = std::fs::canonicalize(Path::new(text)).ok();
    match full {
        Some(full) => match full.strip_prefix(&gate.locations.root) {
            Ok(inside) if inside.as_os_str().is_empty() => Location::path("."),
            Ok(inside) => Location::path(&inside.to_string_lossy()),
            Err(_) => Location::path(&full.to_string_lossy()),
        },
        None => Location::parse(text),
    }
}
