//! `propose`, `authorize`, `receipt`, `outcome` and `tick`: the gate without a host.

use super::keys::only_signer;
use super::ledger::no_event;
use super::{Answer, count};
use crate::args::{AuthorizeArgs, OutcomeArgs, ProposeArgs, ReceiptArgs, TickArgs};
use crate::failure::{DONE, FOUND, Failure};
use crate::gate::{Gate, find, show};
use crate::screen;
use serde::Serialize;
use serde_json::Value;
use std::io::{IsTerminal as _, Read};
use std::path::Path;
use stigmergate_core::attest::envelope::{Claim, ClaimKind};
use stigmergate_core::attest::event::Event;
use stigmergate_core::attest::tree::leaf_hash;
use stigmergate_core::budget::Cost;
use stigmergate_core::digest::Digest;
use stigmergate_core::error::Error;
use stigmergate_core::explain;
use stigmergate_core::gate::{Decision, Verdict};
use stigmergate_core::kernel::{
    Authorize, Command, Conclude, Feedback, Kernel, OutcomeReply, OutcomeReport, Receive, Reply, StatedCost, Subject,
    Ticked, Ticks,
};
use stigmergate_core::policy::Policy;
use stigmergate_core::proposal::Proposal;
use stigmergate_store::Store;

/// No proposal, claim or registry is longer.
const MOST_BYTES: u64 = 4 << 20;

#[derive(Serialize)]
struct Judged<'a> {
    sequence: Option<u64>,
    #[serde(flatten)]
    verdict: &'a Verdict,
    text: String,
}

pub(crate) fn propose(gate: &Gate, args: &ProposeArgs) -> Result<Answer, Failure> {
    if args.file.is_none() && std::io::stdin().is_terminal() {
        return Err(Failure::new("usage", "no proposal: name a file, pipe JSON in, or say `-` to type it"));
    }
    let proposal = read_proposal(args.file.as_deref().unwrap_or(Path::new("-")), gate.clock.now)?;
    let (sequence, verdict) = if args.dry_run {
        (None, witness(gate, proposal)?)
    } else {
        let (mut store, _) = gate.act()?;
        let applied = gate.apply(&mut store, Command::Propose(Box::new(proposal)))?;
        let Reply::Verdict(verdict) = applied.reply else { return Err(unexpected()) };
        (Some(applied.sequence), *verdict)
    };
    let shown = screen::plain_verdict(&verdict);
    let value = Judged { sequence, verdict: &verdict, text: explain::short(&shown) };
    let exit = if verdict.decision == Decision::Execute { DONE } else { FOUND };
    let answer = Answer::new(gate, &value, || {
        let number = sequence
            .map_or_else(|| "(dry run, nothing remembered)".to_owned(), |number| format!("#{number} {}", shown.id));
        let mut text = format!("{} {number}\n", screen::decision(verdict.decision));
        for line in explain::long(&shown).lines().skip(1) {
            text.push_str(line);
            text.push('\n');
        }
        if let (Decision::Hold, Some(number)) = (verdict.decision, sequence) {
            let way = format!("a person answers with `stigmergate approve {number}` or `stigmergate deny {number}`\n");
            text.push_str(&way);
        }
        screen::wrap(&text, gate.width)
    });
    Ok(answer.ending(exit))
}

/// Judges without a trace, under the policy of the settings.
fn witness(gate: &Gate, proposal: Proposal) -> Result<Verdict, Failure> {
    let policy = gate.settings()?.policy;
    let now = gate.clock.now;
    let under = |kernel: &Kernel, policy: Policy| -> Result<Verdict, Error> {
        if kernel.policy_digest() == policy.digest() {
            return kernel.at(now).witness(proposal.clone());
        }
        let mut kernel = kernel.clone();
        kernel.set_policy(now, policy)?;
        kernel.at(now).witness(proposal.clone())
    };
    match gate.look()? {
        Some(mut store) => Ok(store.with_current(|kernel| under(kernel, policy))??),
        None => Ok(under(&Kernel::new(policy.clone())?, policy)?),
    }
}

fn read_proposal(file: &Path, now: u64) -> Result<Proposal, Failure> {
    let mut value: Value = serde_json::from_str(&read_text(file)?)
        .map_err(|error| Failure::new("json", format!("the proposal is no JSON: {error}")))?;
    if let Value::Object(fields) = &mut value
        && !fields.contains_key("id")
    {
        fields.entry("proposal_id").or_insert_with(|| Value::String(format!("cli-{now}")));
    }
    serde_json::from_value(value)
        .map_err(|error| Failure::new("json", format!("the proposal has not the expected form: {error}")))
}

/// A text that somebody hands in: a file, or standard input for `-`.
pub(super) fn read_text(file: &Path) -> Result<String, Failure> {
    let is_input = file.as_os_str() == "-";
    let name = if is_input { "standard input".to_owned() } else { show(file) };
    let mut bytes = Vec::new();
    let read = if is_input {
        std::io::stdin().lock().take(MOST_BYTES.saturating_add(1)).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(MOST_BYTES.saturating_add(1)).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::unreadable(&name, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::new("too_long", format!("{name} is longer than {MOST_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| Failure::new("json", format!("{name} is not UTF-8")))
}

#[derive(Serialize)]
struct Recorded<'a> {
    sequence: u64,
    /// The number of its event on the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<u64>,
    /// The observer's claim in its envelope, where it signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<String>,
    #[serde(flatten)]
    reply: &'a OutcomeReply,
}

pub(crate) fn outcome(gate: &Gate, args: &OutcomeArgs) -> Result<Answer, Failure> {
    let cost = args.cost.as_deref().map(read_cost).transpose()?;
    drop(gate.look_closely()?);
    let (mut store, _) = gate.act()?;
    let judged = find(&store, &args.id)?;
    let report = OutcomeReport {
        proposal: Subject::Id(judged.verdict.id.clone()),
        tests_passed: args.passed,
        repair_needed: args.repair,
        summary: args.summary.clone(),
        cost: StatedCost::new(cost),
        human_feedback: args.feedback.as_deref().map(Feedback::from_text).unwrap_or_default(),
    };
    let claim = match (args.attested, &args.sign_with) {
        (Some(receipt), Some(folder)) => Some(signed(&store, ClaimKind::Outcome, receipt, report.digest(), folder)?),
        _ => read_claim(args.claim.as_deref())?,
    };
    let command = match args.attested {
        None => Command::RecordOutcome(Box::new(report)),
        Some(receipt) => Command::Conclude(Box::new(Conclude { receipt, report, claim: claim.clone() })),
    };
    let applied = gate.apply(&mut store, command)?;
    let (reply, event) = match applied.reply {
        Reply::Outcome(reply) => (reply, None),
        Reply::Concluded(reply) => (reply.outcome, Some(reply.sequence)),
        _ => return Err(unexpected()),
    };
    let value = Recorded { sequence: applied.sequence, event, claim, reply: &reply };
    Ok(Answer::new(gate, &value, || {
        let sign = if reply.trust_delta < stigmergate_core::fixed::Fixed::ZERO { "" } else { "+" };
        format!(
            "recorded for #{}: {}\n{}: trust {} ({sign}{}), role {}, {} of {} accepted\nit is what you reported, not what was seen\n",
            judged.sequence,
            if args.passed { "passed" } else { "failed" },
            screen::cut(&reply.agent_id, 60),
            reply.trust,
            reply.trust_delta,
            reply.role.as_str(),
            reply.accepted_proposals,
            reply.total_proposals,
        )
    }))
}

#[derive(Serialize)]
struct Attested<T> {
    /// The number of the journal's record.
    record: u64,
    /// The executor's claim in its envelope, where it signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<String>,
    #[serde(flatten)]
    reply: T,
}

/// Gives leave for one execution.
pub(crate) fn authorize(gate: &Gate, args: &AuthorizeArgs) -> Result<Answer, Failure> {
    let seconds = match args.within.as_deref() {
        None => None,
        Some(text) => Some(screen::seconds(text).filter(|seconds| *seconds > 0).ok_or_else(|| {
            let message = format!("--within: {} is no while, such as 30s or 5m", screen::plain(text));
            Failure::new("value", message).in_field("within")
        })?),
    };
    drop(gate.look_closely()?);
    let (mut store, _) = gate.act()?;
    let proposal_id = find(&store, &args.id)?.verdict.id;
    let ttl_ms = seconds.map(|seconds| seconds.saturating_mul(1000));
    let applied = gate.apply(&mut store, Command::Authorize(Authorize { proposal_id, ttl_ms }))?;
    let Reply::Authorized(reply) = applied.reply else { return Err(unexpected()) };
    let value = Attested { record: applied.sequence, claim: None, reply };
    Ok(Answer::new(gate, &value, || {
        let reply = &value.reply;
        format!(
            "authorization {}: {} may run this once, until {}\n  arguments {}\n",
            reply.sequence,
            screen::cut(&reply.actor, 60),
            gate.clock.until(reply.expires),
            reply.arguments
        )
    }))
}

/// Records an execution.
pub(crate) fn receipt(gate: &Gate, args: &ReceiptArgs) -> Result<Answer, Failure> {
    let mut receive = Receive {
        authorization: args.authorization,
        actor: args.actor.clone(),
        arguments: read_digest("arguments", &args.arguments)?,
        receipt: read_digest("result", &args.result)?,
        started: None,
        claim: read_claim(args.claim.as_deref())?,
    };
    drop(gate.look_closely()?);
    let (mut store, _) = gate.act()?;
    if let Some(folder) = &args.sign_with {
        receive.claim = Some(signed(&store, ClaimKind::Receipt, args.authorization, receive.receipt, folder)?);
    }
    let claim = receive.claim.clone();
    let applied = gate.apply(&mut store, Command::Receive(receive))?;
    let Reply::Received(reply) = applied.reply else { return Err(unexpected()) };
    let value = Attested { record: applied.sequence, claim, reply };
    Ok(Answer::new(gate, &value, || {
        let number = value.reply.sequence;
        format!("receipt {number}; its outcome: `stigmergate outcome ID --attested {number} --passed` or `--failed`\n")
    }))
}

fn read_digest(field: &str, text: &str) -> Result<Digest, Failure> {
    let wrong = || Failure::new("value", format!("--{field}: expected 64 hexadecimal digits")).in_field(field);
    Digest::from_hex(text.trim()).ok_or_else(wrong)
}

/// The claim of an executor or an observer about what answers to an event, signed with the key in a folder of its own.
fn signed(store: &Store, kind: ClaimKind, parent: u64, content: Digest, folder: &Path) -> Result<String, Failure> {
    let signer = only_signer(folder)?;
    let record = store.ledger_record(parent)?.ok_or_else(|| no_event(parent))?;
    let log = Event::read(&record).map_err(Error::from)?.log;
    let claim = Claim { kind, log, parent: leaf_hash(&record), content };
    Ok(claim.sign(&*signer).map_err(Error::from)?)
}

fn read_claim(file: Option<&Path>) -> Result<Option<String>, Failure> {
    file.map(read_text).transpose()
}

/// A cost that is not well formed would count as not stated, and somebody who states one wants to know.
fn read_cost(text: &str) -> Result<Cost, Failure> {
    let cost: Cost = serde_json::from_str(text)
        .map_err(|error| Failure::new("json", format!("--cost: {error}")).in_field("cost"))?;
    cost.check("cost").map_err(Failure::from)?;
    Ok(cost)
}

#[derive(Serialize)]
struct Passed {
    sequence: u64,
    by_hand: bool,
    #[serde(flatten)]
    ticked: Ticked,
}

pub(crate) fn tick(gate: &Gate, args: &TickArgs) -> Result<Answer, Failure> {
    let (mut store, settings) = gate.act()?;
    let tick_ms = settings.policy.time.tick_ms;
    let by_hand = tick_ms == 0;
    let command = if by_hand { Command::Tick(Ticks { count: args.count }) } else { Command::Advance };
    let applied = gate.apply(&mut store, command)?;
    let Reply::Ticked(ticked) = applied.reply else { return Err(unexpected()) };
    let value = Passed { sequence: applied.sequence, by_hand, ticked };
    Ok(Answer::new(gate, &value, || {
        let ended = match ticked.expired {
            0 => "nothing expired".to_owned(),
            ended => {
                format!("{} expired", count(ended, "hold, approval or reservation", "holds, approvals or reservations"))
            }
        };
        if by_hand {
            return format!("tick {} ({} since the beginning); {ended}\n", ticked.tick, ticked.counted);
        }
        let every = screen::span(tick_ms);
        format!("ticks follow from time here, one every {every}: none was added, the clock was moved on\n{ended}\n")
    }))
}

fn unexpected() -> Failure {
    Error::Corrupt { what: "reply".to_owned(), detail: "it answers another command".to_owned() }.into()
}
