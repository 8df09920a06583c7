//! `approve` and `deny`: what people say to a HOLD.

use super::{Answer, require_person};
use crate::args::{ApproveArgs, DenyArgs, Person};
use crate::failure::Failure;
use crate::gate::{Gate, act_text, find};
use crate::screen::{self, plain};
use serde::Serialize;
use stigmergate_core::error::Error;
use stigmergate_core::kernel::{Approval, Approve, Command, Denial, Deny, Feedback, Reply};

#[derive(Serialize)]
struct Answered<'a, T> {
    sequence: u64,
    verdict: u64,
    #[serde(flatten)]
    reply: &'a T,
}

pub(crate) fn approve(gate: &Gate, args: &ApproveArgs) -> Result<Answer, Failure> {
    require_person("approving", args.person.yes)?;
    let standing_seconds = args.standing.as_deref().map(standing).transpose()?;
    let by = name(&args.person)?;
    drop(gate.look_closely()?);
    let (mut store, _) = gate.act()?;
    let judged = find(&store, &args.id)?;
    let command = Approve {
        proposal_id: judged.verdict.id.clone(),
        by,
        digest: None,
        feedback: feedback(args.feedback.as_deref()),
        standing_seconds,
    };
    let applied = gate.apply(&mut store, Command::Approve(command)).map_err(|error| explained(error, &args.id))?;
    let Reply::Approval(reply) = applied.reply else { return Err(unexpected()) };
    let value = Answered { sequence: applied.sequence, verdict: judged.sequence, reply: &reply };
    Ok(Answer::new(gate, &value, || approved(gate, &reply, judged.sequence, &act_text(&judged.proposal))))
}

fn approved(gate: &Gate, reply: &Approval, number: u64, act: &str) -> String {
    let mut text = format!(
        "approved #{number}: {}\nfor one use, until {}; let the agent try exactly this again\n",
        screen::cut(act, 300),
        gate.clock.until(reply.expires_at)
    );
    if let Some(until) = reply.standing_until {
        text.push_str(&format!(
            "the same act at the same place may happen until {}; a failure of it ends that\n",
            gate.clock.until(until)
        ));
    }
    if reply.over_budget {
        text.push_str("it is over a budget's cap, and you let it pass\n");
    }
    text
}

pub(crate) fn deny(gate: &Gate, args: &DenyArgs) -> Result<Answer, Failure> {
    require_person("denying", args.person.yes)?;
    let by = name(&args.person)?;
    drop(gate.look_closely()?);
    let (mut store, _) = gate.act()?;
    let judged = find(&store, &args.id)?;
    let command = Deny {
        proposal_id: judged.verdict.id.clone(),
        by,
        reason: args.reason.clone(),
        feedback: feedback(args.feedback.as_deref()),
    };
    let applied = gate.apply(&mut store, Command::Deny(command)).map_err(|error| explained(error, &args.id))?;
    let Reply::Denial(reply) = applied.reply else { return Err(unexpected()) };
    let value = Answered { sequence: applied.sequence, verdict: judged.sequence, reply: &reply };
    let place = judged.proposal.target.as_str();
    Ok(Answer::new(gate, &value, || denied(&reply, judged.sequence, &act_text(&judged.proposal), place)))
}

fn denied(reply: &Denial, number: u64, act: &str, place: &str) -> String {
    format!(
        "denied #{number}: {}\nfailure {} at {} makes the next try there harder for a while\n",
        screen::cut(act, 300),
        reply.failure,
        screen::cut(place, 200)
    )
}

fn feedback(text: Option<&str>) -> Feedback {
    text.map(Feedback::from_text).unwrap_or_default()
}

fn standing(text: &str) -> Result<u64, Failure> {
    screen::seconds(text).filter(|seconds| *seconds > 0).ok_or_else(|| {
        Failure::new("value", format!("--for: {} is no while, such as 30m or 2h", plain(text))).in_field("for")
    })
}

/// The name that a person is known by.
fn name(person: &Person) -> Result<String, Failure> {
    let login = || whoami::username().ok();
    person
        .by
        .clone()
        .or_else(login)
        .filter(|name| !name.trim().is_empty())
        .ok_or_else(|| Failure::new("value", "it is not known who you are; say it with --by NAME").in_field("by"))
}

/// The core names proposals by their whole id; people know them by what they typed.
fn explained(failure: Failure, typed: &str) -> Failure {
    if failure.code != "wrong_state" {
        return failure;
    }
    let typed = plain(typed);
    let message = format!("{failure}; `stigmergate why {}` says more", typed.trim_start_matches('#'));
    failure.saying(message)
}

fn unexpected() -> Failure {
    Error::Corrupt { what: "reply".to_owned(), detail: "it answers another command".to_owned() }.into()
}
