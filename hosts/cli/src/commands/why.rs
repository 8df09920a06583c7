//! `why`: the long form of a verdict, what was asked, and what became of it.

use super::Answer;
use crate::args::WhyArgs;
use crate::failure::Failure;
use crate::gate::{Gate, Judged, act_text, find, verdicts};
use crate::screen::{self, plain};
use serde::Serialize;
use std::fmt::Write as _;
use stigmergate_core::explain;
use stigmergate_core::gate::{Decision, Verdict};
use stigmergate_core::kernel::{Lifecycle, LifecycleView, State};
use stigmergate_core::proposal::Proposal;

#[derive(Serialize)]
struct Why<'a> {
    sequence: u64,
    at: u64,
    id: &'a str,
    state: Option<&'a State>,
    /// Where it stands on the signed ledger.
    lifecycle: Option<LifecycleView>,
    proposal: &'a Proposal,
    verdict: &'a Verdict,
    text: &'a str,
}

pub(crate) fn why(gate: &Gate, args: &WhyArgs) -> Result<Answer, Failure> {
    let mut store = gate.look_closely()?;
    let judged = match &args.id {
        Some(id) => find(&store, id)?,
        None => {
            let mut latest = None;
            verdicts(&store, |judged| {
                latest = Some(judged);
                false
            })?;
            latest.ok_or_else(|| Failure::absent("unknown_proposal", "nothing was judged here yet"))?
        }
    };
    let id = judged.verdict.id.as_str();
    let known = store.with_current(|kernel| kernel.at(gate.clock.now).proposal(id))?;
    let (state, lifecycle) = known.map(|known| (known.state, known.lifecycle)).unzip();
    let lifecycle = lifecycle.flatten();
    let text = explain::long(&screen::plain_verdict(&judged.verdict));
    let value = Why {
        sequence: judged.sequence,
        at: judged.at,
        id,
        state: state.as_ref(),
        lifecycle,
        proposal: &judged.proposal,
        verdict: &judged.verdict,
        text: &text,
    };
    Ok(Answer::new(gate, &value, || for_people(gate, &judged, state.as_ref(), lifecycle, &text)))
}

fn for_people(
    gate: &Gate,
    judged: &Judged,
    state: Option<&State>,
    lifecycle: Option<LifecycleView>,
    long: &str,
) -> String {
    let number = judged.sequence;
    let verdict = &judged.verdict;
    let mut text = String::new();
    _ = writeln!(text, "{} #{number} {}", screen::decision(verdict.decision), gate.clock.exactly(judged.at));
    _ = writeln!(text, "  act     {}", plain(&act_text(&judged.proposal)));
    if !judged.proposal.rationale.trim().is_empty() {
        _ = writeln!(text, "  reason given: {}", screen::cut(&judged.proposal.rationale, 400));
    }
    // The first line of the long form says again what stands above.
    for line in long.lines().skip(1) {
        _ = writeln!(text, "{line}");
    }
    _ = writeln!(text, "  id {}", plain(&verdict.id));
    if let Some(line) = state.and_then(|state| stands(state, number)) {
        _ = writeln!(text, "{line}");
    }
    if let Some(lifecycle) = lifecycle {
        _ = writeln!(text, "  on the ledger {}: {}", lifecycle.stage.as_str(), events(&lifecycle.events));
    }
    if let (Some(State::Held), Some(expires)) = (state, verdict.expires_at) {
        _ = writeln!(text, "  unanswered, it ends at {}", gate.clock.until(expires));
    }
    if verdict.decision == Decision::Refuse {
        _ = writeln!(text, "  a refusal cannot be approved; what would change it stands above");
    }
    screen::wrap(&text, gate.width)
}

/// Its events by their numbers, as `ledger show` takes them.
fn events(life: &Lifecycle) -> String {
    let all = [
        ("proposal", Some(life.proposal)),
        ("verdict", Some(life.verdict)),
        ("approval", life.approval),
        ("authorization", life.authorization),
        ("receipt", life.receipt),
        ("outcome", life.outcome),
        ("rejection", life.rejection),
        ("error", life.error),
    ];
    let each = all.into_iter().filter_map(|(kind, number)| Some(format!("{kind} {}", number?)));
    each.collect::<Vec<_>>().join(", ")
}

fn stands(state: &State, number: u64) -> Option<String> {
    Some(match state {
        State::Held => format!(
            "  it waits for a person: {} or {}",
            screen::bold(&format!("stigmergate approve {number}")),
            screen::bold(&format!("stigmergate deny {number}"))
        ),
        State::Approved { by } => format!("  {} approved it; it was not used yet", plain(by)),
        State::Used { retry } => format!("  the approval was used by {}", plain(retry)),
        State::Denied { by } => format!("  {} denied it", plain(by)),
        State::Settled => "  its outcome is known".to_owned(),
        State::Unanswered => "  nobody answered in time; asking again makes a new HOLD".to_owned(),
        State::Lapsed => "  it was approved, and not used in time".to_owned(),
        State::Open | State::Refused => return None,
    })
}
