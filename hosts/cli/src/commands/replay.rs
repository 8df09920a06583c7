//! `replay`: the journal once more, under its own policy to prove it, under another to see what would have been decided.

use super::policy::named;
use super::{Answer, count};
use crate::args::ReplayArgs;
use crate::failure::{FOUND, Failure};
use crate::gate::{Gate, act_text, show};
use crate::progress;
use crate::screen::{self, plain};
use serde::Serialize;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;
use stigmergate_core::explain;
use stigmergate_core::gate::{Decision, Reason};
use stigmergate_core::kernel::{Command, Reply};
use stigmergate_core::policy::Policy;
use stigmergate_core::replay::{Difference, Trial};
use stigmergate_store::{Options, Order, Record, Store, StoreError};

/// What a SQLite file begins with.
const STORE_MAGIC: &[u8] = b"SQLite format 3\0";

/// A journal, wherever it is kept.
struct Source {
    store: Store,
    /// Where an export was read into; gone when the replay ends.
    _folder: Option<tempfile::TempDir>,
}

pub(crate) fn replay(gate: &Gate, args: &ReplayArgs) -> Result<Answer, Failure> {
    let source = match &args.source {
        None => Source { store: gate.look_closely()?, _folder: None },
        Some(path) => open(path)?,
    };
    match &args.policy {
        None => as_it_was(gate, &source.store),
        Some(policy) => under(gate, &source.store, named(gate, policy)?, args.limit),
    }
}

fn open(path: &Path) -> Result<Source, Failure> {
    let failed = |error: std::io::Error| Failure::unreadable(&show(path), &error).in_field("source");
    let mut start = Vec::new();
    File::open(path).and_then(|file| file.take(STORE_MAGIC.len() as u64).read_to_end(&mut start)).map_err(failed)?;
    if start == STORE_MAGIC {
        let options = Options { read_only: true, ..Options::default() };
        return Ok(Source { store: Store::open_existing(path, &options)?, _folder: None });
    }
    if start.first() != Some(&b'{') {
        let message = format!("{} is neither a store nor what `stigmergate store export` writes", show(path));
        return Err(Failure::new("not_a_journal", message).in_field("source"));
    }
    let folder = tempfile::tempdir().map_err(failed)?;
    let file = File::open(path).map_err(failed)?;
    let bar = progress::bar(file.metadata().map_err(failed)?.len(), "reading the export");
    let made =
        Store::import(&folder.path().join("store.db"), &mut BufReader::new(bar.wrap_read(file)), &Options::default());
    bar.finish_and_clear();
    let (store, _) = made.map_err(|error| Failure::from(error).in_field("source"))?;
    Ok(Source { store, _folder: Some(folder) })
}

#[derive(Serialize)]
struct Same {
    /// Applied again, every one with the same answer.
    records: u64,
    differs: bool,
    /// What differs, or is damaged; `null` where nothing is.
    message: Option<String>,
}

/// Every record again, as it was applied: the same answers and the same state, or the store is not what it says.
fn as_it_was(gate: &Gate, store: &Store) -> Result<Answer, Failure> {
    let verified = progress::during("applying every record again", || store.verify());
    let same = match verified {
        Ok(verified) => Same { records: verified.records, differs: false, message: None },
        Err(error @ StoreError::Corrupt { .. }) => Same { records: 0, differs: true, message: Some(error.to_string()) },
        Err(error) => return Err(error.into()),
    };
    let exit = if same.differs { FOUND } else { crate::failure::DONE };
    let answer = Answer::new(gate, &same, || match &same.message {
        Some(message) => format!("differs: {}\n", plain(message)),
        None => format!(
            "{} applied again: every answer is the same\nwith --policy FILE, what another policy would have decided\n",
            count(same.records, "record", "records")
        ),
    });
    Ok(answer.ending(exit))
}

/// A verdict that would have been another.
#[derive(Debug, Serialize)]
struct Line {
    /// The record's number.
    sequence: u64,
    at: u64,
    id: String,
    agent: String,
    act: String,
    then: Decision,
    instead: Decision,
    /// What decided it under the other policy.
    reason: Option<Reason>,
    /// What had decided it.
    reason_then: Option<Reason>,
    text: String,
}

#[derive(Debug, Default, Serialize)]
struct Shown {
    policy: String,
    judged: u64,
    stricter: u64,
    looser: u64,
    /// Steps that mean nothing under the other policy, such as the approval of what it does not hold.
    skipped: u64,
    /// Outcomes of calls that the other policy would have stopped.
    left_out: u64,
    /// Records before this number were compacted away: what they left in memory is not known to the replay.
    begins_after: u64,
    differences: Vec<Line>,
    more: u64,
}

fn under(gate: &Gate, store: &Store, policy: Policy, limit: usize) -> Result<Answer, Failure> {
    let mut shown = Shown { policy: policy.digest().to_string(), ..Shown::default() };
    let mut trial = Trial::new(policy)?;
    let bar = progress::bar(store.last_sequence()?, "judging again");
    let mut first = None;
    for record in store.records(.., Order::OldestFirst) {
        let Record { sequence, at, command, reply, .. } = record?;
        bar.set_position(sequence);
        first.get_or_insert(sequence);
        let act = if let Command::Propose(proposal) = &command { act_text(proposal) } else { String::new() };
        let Some(difference) = trial.apply(at, command, &reply) else { continue };
        if difference.instead.decision > difference.then {
            shown.stricter = shown.stricter.saturating_add(1);
        } else {
            shown.looser = shown.looser.saturating_add(1);
        }
        if shown.differences.len() < limit {
            shown.differences.push(line(sequence, at, act, &reply, difference));
        } else {
            shown.more = shown.more.saturating_add(1);
        }
    }
    bar.finish_and_clear();
    shown.begins_after = first.unwrap_or(1).saturating_sub(1);
    let counts = trial.finish(Vec::new());
    (shown.judged, shown.skipped, shown.left_out) = (counts.judged, counts.skipped, counts.left_out);
    Ok(Answer::new(gate, &shown, || text(gate, &shown)))
}

fn line(sequence: u64, at: u64, act: String, reply: &Reply, difference: Difference) -> Line {
    let then = if let Reply::Verdict(verdict) = reply { Some(verdict) } else { None };
    let instead = difference.instead;
    // What let it through says nothing; then what had stopped it says why they differ.
    let text = match then {
        Some(then) if instead.decision == Decision::Execute => explain::short(&screen::plain_verdict(then)),
        _ => explain::short(&screen::plain_verdict(&instead)),
    };
    Line {
        sequence,
        at,
        act,
        text,
        then: difference.then,
        instead: instead.decision,
        reason_then: then.and_then(|verdict| verdict.reasons.first().cloned()),
        reason: instead.reasons.into_iter().next(),
        id: instead.id,
        agent: instead.agent,
    }
}

fn text(gate: &Gate, shown: &Shown) -> String {
    let mut text = String::new();
    for line in &shown.differences {
        let head = format!(
            "#{} {}  {}  {} -> {}  {}\n",
            line.sequence,
            gate.clock.when(line.at),
            screen::cut(&line.agent, 24),
            screen::decision(line.then),
            screen::decision(line.instead),
            screen::cut(&line.act, gate.width.saturating_sub(50).max(20))
        );
        let had = if line.instead == Decision::Execute { "had been " } else { "" };
        text.push_str(&head);
        text.push_str(&screen::wrap(&format!("    {had}{}", line.text), gate.width));
    }
    if shown.more > 0 {
        text.push_str(&screen::faint(&format!("and {} more (--limit)\n", shown.more)));
    }
    let differing = shown.stricter.saturating_add(shown.looser);
    text.push_str(&format!(
        "{} judged again, {differing} otherwise: {} stricter, {} looser\n",
        count(shown.judged, "verdict", "verdicts"),
        shown.stricter,
        shown.looser
    ));
    let mut note = |number: u64, one: &str, more: &str, why: &str| {
        if number > 0 {
            let line = screen::wrap(&format!("{}: {why}", count(number, one, more)), gate.width);
            text.push_str(&screen::faint(&line));
        }
    };
    note(shown.left_out, "outcome left out", "outcomes left out", "the calls would not have run");
    let meaningless = "meaningless under this policy, such as approving what it does not hold";
    note(shown.skipped, "step skipped", "steps skipped", meaningless);
    let unknown = "what they left in memory is not known here";
    note(shown.begins_after, "earlier record was compacted", "earlier records were compacted", unknown);
    let limits = "rules, places, budgets and numbers are judged anew; what was observed then (files, git) and the class of a command stay";
    text.push_str(&screen::faint(&screen::wrap(limits, gate.width)));
    text
}
