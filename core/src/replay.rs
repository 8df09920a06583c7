//! The same commands again: under the same policy to prove a state, under another to see what would have been decided.

use crate::error::Error;
use crate::gate::{Decision, Verdict};
use crate::kernel::{Command, Kernel, Reply, Time};
use crate::policy::{Attest, Policy};
use alloc::boxed::Box;
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
}

/// Judges past proposals under another policy. Policy changes among the steps and what they say to the ledger are left out, a linked
/// outcome counts as an ordinary one; a step that no longer applies is counted and skipped.
///
/// # Errors
/// As [`Kernel::new`] for the policy.
pub fn what_if(policy: Policy, steps: &[Step]) -> Result<WhatIf, Error> {
    let digest = policy.digest();
    let mut kernel = Kernel::new(Policy { attest: Attest::DISABLED, ..policy })?;
    let mut result = WhatIf::default();
    for (number, step) in steps.iter().enumerate() {
        let command = match step.command.clone() {
            Command::SetPolicy(_)
            | Command::BeginLedger(_)
            | Command::RotateKey(_)
            | Command::Authorize(_)
            | Command::Receive(_) => continue,
            Command::Conclude(conclude) => Command::RecordOutcome(Box::new(conclude.report)),
            command => command,
        };
        let Ok(reply) = kernel.apply(step.at, command) else {
            result.skipped = result.skipped.saturating_add(1);
            continue;
        };
        let (Reply::Verdict(then), Reply::Verdict(instead)) = (&step.reply, reply) else { continue };
        result.judged = result.judged.saturating_add(1);
        if then.decision != instead.decision {
            result.differences.push(Difference {
                step: number,
                id: then.id.clone(),
                then: then.decision,
                instead: Verdict { policy: digest, ..*instead },
            });
        }
    }
    Ok(result)
}
