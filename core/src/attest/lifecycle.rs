//! The steps from a proposal to an attested outcome, as values (DESIGN 4).
//!
//! The idea: only the [`Ledger`](super::ledger::Ledger) makes them, and the next step takes them away. Only [`Cleared`] (an EXECUTE
//! verdict) or [`Approved`] (a person's approval of a HOLD) is a [`Ground`] of an [`Authorization`], only that gives a [`Receipt`],
//! only that an [`AttestedOutcome`]. None of them can be copied, written to a file or made up; another process asks the ledger
//! for what is open, and what was taken up once is refused there as well.

use super::event::{Link, Time};
use crate::digest::Digest;

macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, PartialEq, Eq)]
        #[must_use = "the next step takes it"]
        pub struct $name(pub(super) Link);

        impl $name {
            /// Its event.
            pub const fn link(&self) -> &Link {
                &self.0
            }
        }
    )* };
}

steps! {
    /// A proposal that awaits its verdict.
    Proposed;
    /// An EXECUTE verdict that nobody has used.
    Cleared;
    /// A HOLD verdict that nobody has answered.
    Held;
    /// A REFUSE verdict.
    Refused;
    /// A person's approval of a HOLD that nobody has used.
    Approved;
    /// The right to run one thing once: it is bound to an actor, to the digest of what will run, and to a time.
    ///
    /// It is not made from a HOLD that nobody has approved:
    ///
    /// ```compile_fail,E0277
    /// use stigmergate_core::attest::{ledger::{Ledger, Stamp}, lifecycle::Held};
    /// use stigmergate_core::digest::Digest;
    ///
    /// fn run(ledger: &mut Ledger, stamp: &Stamp, held: Held, arguments: Digest) {
    ///     let _ = ledger.authorize(stamp, held, arguments, stamp.at);
    /// }
    /// ```
    ///
    /// And it is not used twice:
    ///
    /// ```compile_fail,E0382
    /// use stigmergate_core::attest::{ledger::{Ledger, Stamp}, lifecycle::{Authorization, Execution}};
    ///
    /// fn run_twice(ledger: &mut Ledger, stamp: &Stamp, authorization: Authorization, execution: Execution) {
    ///     let _ = ledger.record_receipt(stamp, authorization, execution, None);
    ///     let _ = ledger.record_receipt(stamp, authorization, execution, None);
    /// }
    /// ```
    Authorization;
    /// An execution whose outcome is not known.
    Receipt;
    /// An outcome that the whole lifecycle stands behind.
    AttestedOutcome;
}

/// A verdict, as it may be used.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the next step takes it"]
pub enum Judged {
    /// EXECUTE.
    Cleared(Cleared),
    /// HOLD.
    Held(Held),
    /// REFUSE.
    Refused(Refused),
}

/// What an authorization may stand on.
#[derive(Debug, PartialEq, Eq)]
pub enum Ground {
    /// An EXECUTE verdict.
    Cleared(Cleared),
    /// A person's approval.
    Approved(Approved),
}

impl From<Cleared> for Ground {
    fn from(cleared: Cleared) -> Self {
        Self::Cleared(cleared)
    }
}

impl From<Approved> for Ground {
    fn from(approved: Approved) -> Self {
        Self::Approved(approved)
    }
}

/// What a rejection may end.
#[derive(Debug, PartialEq, Eq)]
pub enum Rejected {
    /// A HOLD that was denied, or that nobody answered.
    Held(Held),
    /// A REFUSE that is final.
    Refused(Refused),
}

impl From<Held> for Rejected {
    fn from(held: Held) -> Self {
        Self::Held(held)
    }
}

impl From<Refused> for Rejected {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// A person's approval of what will run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approving {
    /// Of what will run.
    pub arguments: Digest,
    /// Of who approves.
    pub approver: Digest,
    /// When the approval ends.
    pub expires: Time,
}

/// What was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Of what ran.
    pub arguments: Digest,
    /// Of what came back.
    pub receipt: Digest,
    /// When it was started; without a time, as soon as it was authorized.
    pub started: Option<Time>,
}
