//! The judgement of stigmergate: between what an AI agent proposes and what happens.
//!
//! The engine is a state machine without I/O, clock, randomness or floats in decisions: everything that varies comes in with a
//! [`Command`](kernel::Command), and the same commands give the same state, to the last bit, on every platform.
//!
//! | room | idea |
//! |---|---|
//! | [`fixed`] | the numbers that decide |
//! | [`policy`] | every tunable, in three presets, valid by construction |
//! | [`location`], [`glob`], [`digest`], [`error`] | places, patterns, digests and errors as data |
//! | [`field`] | traces of consequences that fade |
//! | [`budget`] | what may be used, is used and is set aside |
//! | [`trust`] | agents, what outcomes do to their trust, roles |
//! | [`falsify`] | eleven checks of a proposal's text |
//! | [`facts`], [`rules`] | what a tool call would do, and what people decided about such calls |
//! | [`session`] | what was made and changed |
//! | [`gate`] | from all of this to EXECUTE, HOLD or REFUSE, with reasons |
//! | [`proposal`], [`kernel`] | what is asked, and the sequence of it all |
//! | [`attest`] | a signed ledger of all that, for others to verify |
//! | [`replay`] | the same commands again, under the same policy or another |
//! | [`prune`] | modules that nothing uses |
//! | [`explain`] | text from codes |
//! | [`invariants`], [`mod@reference`] | what must hold, and the gate once more in a few lines |
//!
//! ```
//! use stigmergate_core::{gate::Decision, kernel::Kernel, location::Location, policy::{Policy, Preset}, proposal::Proposal};
//!
//! let mut kernel = Kernel::new(Policy::preset(Preset::Standard)).unwrap();
//! let mut proposal = Proposal::new("p1", "ag-1", "patch_file", Location::name("core.parser"));
//! proposal.rationale = "fix the off-by-one in the tokenizer".into();
//! proposal.rollback_plan = Some("git revert the one commit on the branch".into());
//! proposal.evidence = serde_json::json!({"test": "test_tokenizer"}).into();
//! proposal.expected_outcome = Some("test_tokenizer passes".into());
//! proposal.tests = Some(stigmergate_core::falsify::Texts::Text("pytest tests/test_tokenizer.py".into()));
//! proposal.metrics = Some(stigmergate_core::falsify::Texts::Text("0 failing tests".into()));
//! let verdict = kernel.propose(1_700_000_000_000, proposal).unwrap();
//! assert_eq!(verdict.decision, Decision::Execute);
//! assert_eq!(verdict.score.to_string(), "0.875");
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::float_cmp
    )
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod attest;
pub mod budget;
pub mod digest;
pub mod error;
pub mod explain;
pub mod facts;
pub mod falsify;
pub mod field;
pub mod fixed;
pub mod gate;
pub mod glob;
pub mod invariants;
pub mod kernel;
pub mod location;
pub mod policy;
pub mod proposal;
pub mod prune;
pub mod reference;
pub mod replay;
pub mod rules;
pub mod session;
pub mod trust;
