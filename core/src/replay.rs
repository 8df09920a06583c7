//! The same commands again: under the same policy to prove a state, under another to see what would have been decided.

use crate::digest::Digest;
use crate::error::Error;
use crate::gate::{Decision, Verdict};
use crate::kernel::{Command, Kernel, Reply, Subject, Time};
use crate::policy::{Attest, Policy};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A command that was applied, and what it answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The caller's time.
    pub at: Time,
    /// The command.
    pub command: Command,
    /// The reply.
    pub reply: Reply,
}

/// A step that answered otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The step's number, from 0.
    pub step: usize,
    /// What it answers in the replay.
    pub found: Result<Reply, Error>,
}

/// Applies steps to a kernel as they were applied, and stops at the first that answers otherwise.
///
/// # Errors
/// The [`Divergence`]; the kernel is then as it was before that step (or after it, where it answered otherwise).
pub fn verify(kernel: &mut Kernel, steps: &[Step]) -> Result<(), Box<Divergence>> {
    for (number, step) in steps.iter().enumerate() {
        let found = kernel.apply(step.at, step.command.clone());
        if found.as_ref() != Ok(&step.reply) {
            return Err(Box::new(Divergence { step: number, found }));
        }
    }
    Ok(())
}

/// A verdict that another policy would have given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The step's number, from 0.
    pub step: usize,
    /// The proposal's id.
    pub id: String,
    /// What was decided.
    pub then: Decision,
    /// The verdict under the other policy.
    pub instead: Verdict,
}

/// What a replay under another policy showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIf {
    /// Judged proposals.
    pub judged: u64,
    /// Verdicts with another decision.
    pub differences: Vec<Difference>,
    /// Steps that cannot be applied under the other policy (an approval of what is not held there, ...).
    pub skipped: u64,
    /// What came of calls that the other policy would have stopped: left out, since they would not have run.
    pub left_out: u64,
}

/// A replay under another policy, step by step: memory grows with the calls that the other policy stops, and with nothing else.
#[derive(Debug)]
pub struct Trial {
    kernel: Kernel,
    policy: Digest,
    next: usize,
    /// Went further then than they would here: executed and held here, or refused here.
    stopped: BTreeSet<String>,
    judged: u64,
    skipped: u64,
    left_out: u64,
}

impl Trial {
    /// Begins with an empty memory under the policy.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub fn new(policy: Policy) -> Result<Self, Error> {
        let digest = policy.digest();
        let kernel = Kernel::new(Policy { attest: Attest::DISABLED, ..policy })?;
        Ok(Self { kernel, policy: digest, next: 0, stopped: BTreeSet::new(), judged: 0, skipped: 0, left_out: 0 })
    }

    /// Judges a step that was applied, and says where the decision is another. Policy changes and what is said to the ledger are left
    /// out, a linked outcome counts as an ordinary one; a step that no longer applies is counted and skipped.
    pub fn apply(&mut self, at: Time, command: Command, then: &Reply) -> Option<Difference> {
        let step = self.next;
        self.next = self.next.saturating_add(1);
        let command = match command {
            Command::SetPolicy(_)
            | Command::BeginLedger(_)
            | Command::RotateKey(_)
            | Command::Authorize(_)
            | Command::Receive(_) => return None,
            Command::Conclude(conclude) => Command::RecordOutcome(Box::new(conclude.report)),
            command => command,
        };
        if outcome_of(&command).is_some_and(|id| self.stopped.contains(id)) {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        let Ok(reply) = self.kernel.apply(at, command) else {
            self.skipped = self.skipped.saturating_add(1);
            return None;
        };
        let (Reply::Verdict(then), Reply::Verdict(instead)) = (then, reply) else { return None };
        self.judged = self.judged.saturating_add(1);
        if then.decision == instead.decision {
            return None;
        }
        let ends_it = instead.decision == Decision::Refuse;
        if ends_it || (then.decision == Decision::Execute && instead.decision == Decision::Hold) {
            self.stopped.insert(then.id.clone());
        }
        let instead = Verdict { policy: self.policy, ..*instead };
        Some(Difference { step, id: then.id.clone(), then: then.decision, instead })
    }

    /// What it showed, with the differences that were kept of it.
    #[must_use]
    pub fn finish(self, differences: Vec<Difference>) -> WhatIf {
        WhatIf { judged: self.judged, differences, skipped: self.skipped, left_out: self.left_out }
    }
}

/// The proposal that a command tells the outcome of.
fn outcome_of(command: &Command) -> Option<&str> {
    match command {
        Command::Observe(observation) => Some(&observation.proposal_id),
        Command::RecordOutcome(report) => match &report.proposal {
            Subject::Id(id) => Some(id),
            Subject::Proposal(proposal) => Some(&proposal.proposal_id),
        },
        _ => None,
    }
}

/// Judges past proposals under another policy, as a [`Trial`] does.
///
/// # Errors
/// As [`Kernel::new`] for the policy.
pub fn what_if(policy: Policy, steps: &[Step]) -> Result<WhatIf, Error> {
    let mut trial = Trial::new(policy)?;
    let mut differences = Vec::new();
    for step in steps {
        differences.extend(trial.apply(step.at, step.command.clone(), &step.reply));
    }
    Ok(trial.finish(differences))
}
