//! The canonical snapshot and its digest (SPEC 12).
//!
//! A snapshot holds the whole state in one order: live traces restated at the current tick and sorted, maps by key, proposals as
//! they came. With a ledger its state follows, and the version says so. Two kernels with the same snapshot answer everything alike, so its digest is the kernel's.

use super::attestation::Attestation;
use super::proposals::{Proposals, Record};
use super::{Clock, Counts, Grant, GrantKey, Kernel};
use crate::budget::Budget;
use crate::digest::Digest;
use crate::error::Error;
use crate::field::{Field, Trace};
use crate::policy::Policy;
use crate::session::Memory;
use crate::trust::{Agents, Profile};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The latest version of the snapshot's form: 1 for a kernel without a ledger, 2 for one with, which follows the rest.
pub const SNAPSHOT_VERSION: u32 = 2;

/// The snapshot's bytes.
pub type Snapshot = Vec<u8>;

/// The whole state, in canonical order. A missing field would be a state that two kernels could differ in unseen.
#[derive(Serialize, Deserialize)]
struct Canonical<'a> {
    version: u32,
    policy: Cow<'a, Policy>,
    clock: Clock,
    traces: Vec<Trace>,
    agents: Vec<(Cow<'a, str>, Cow<'a, Profile>)>,
    budget: Cow<'a, Budget>,
    memory: Cow<'a, Memory>,
    proposals: Vec<(Cow<'a, str>, Cow<'a, Record>)>,
    grants: Cow<'a, BTreeMap<GrantKey, Grant>>,
    counts: Counts,
}

impl Kernel {
    /// The whole state as bytes.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let canonical = Canonical {
            version: if self.attestation.is_some() { SNAPSHOT_VERSION } else { 1 },
            policy: Cow::Borrowed(&*self.policy),
            clock: self.clock,
            traces: self.field.traces(self.clock.tick, &self.policy.field).collect(),
            agents: self.agents.iter().map(|(id, profile)| (Cow::Borrowed(id), Cow::Borrowed(profile))).collect(),
            budget: Cow::Borrowed(&self.budget),
            memory: Cow::Borrowed(&self.memory),
            proposals: self.proposals.iter().map(|(id, record)| (Cow::Borrowed(id), Cow::Borrowed(record))).collect(),
            grants: Cow::Borrowed(&self.grants),
            counts: self.counts,
        };
        // Every type in it has a binary form.
        let bytes = postcard::to_allocvec(&canonical).unwrap_or_default();
        match &self.attestation {
            Some(attestation) => postcard::to_extend(&**attestation, bytes).unwrap_or_default(),
            None => bytes,
        }
    }

    /// The kernel that a snapshot was taken of.
    ///
    /// # Errors
    /// [`Error::Version`] for a later form, [`Error::Corrupt`] for anything that is no snapshot, and as [`Kernel::new`].
    pub fn restore(bytes: &[u8]) -> Result<Self, Error> {
        let corrupt = |detail: String| Error::Corrupt { what: "snapshot".to_string(), detail };
        let (version, _) = postcard::take_from_bytes::<u32>(bytes).map_err(|error| corrupt(error.to_string()))?;
        if version > SNAPSHOT_VERSION {
            return Err(Error::Version { what: "snapshot".to_string(), found: version, supported: SNAPSHOT_VERSION });
        }
        let (canonical, rest) =
            postcard::take_from_bytes::<Canonical<'_>>(bytes).map_err(|error| corrupt(error.to_string()))?;
        let (attestation, rest) = if version == SNAPSHOT_VERSION {
            let taken = postcard::take_from_bytes::<Attestation>(rest);
            let (attestation, rest) = taken.map_err(|error| corrupt(error.to_string()))?;
            (Some(attestation), rest)
        } else {
            (None, rest)
        };
        if version == 0 || !rest.is_empty() {
            return Err(corrupt(alloc::format!("{} bytes follow it", rest.len())));
        }
        let policy = canonical.policy.into_owned();
        policy.validate()?;
        for trace in &canonical.traces {
            let fits = trace.strength > crate::fixed::Fixed::ZERO && trace.strength <= policy.field.max_strength;
            if !fits {
                let (at, strength) = (&trace.location, trace.strength);
                return Err(corrupt(alloc::format!("the trace at {at} has a strength of {strength}")));
            }
        }
        if !Field::are_ordered(&canonical.traces) {
            return Err(corrupt("two traces have the same key, or they are not in order".to_string()));
        }
        let field = Field::of_traces(&canonical.traces, canonical.clock.tick);
        if field.stored() > policy.bounds.traces {
            return Err(corrupt(alloc::format!("{} traces are more than its policy allows", field.stored())));
        }
        let mut agents = Agents::default();
        for (id, profile) in canonical.agents {
            let name = id.clone().into_owned();
            if !agents.restore(name, profile.into_owned()) {
                return Err(corrupt(alloc::format!("agent {id} has no trust between 0 and 1, or is there twice")));
            }
        }
        if !canonical.budget.is_well_formed() {
            return Err(corrupt("a budget is negative".to_string()));
        }
        let mut proposals = Proposals::default();
        for (id, record) in canonical.proposals {
            proposals.insert(&id, record.into_owned());
        }
        let mut kernel = Self {
            policy_digest: policy.digest(),
            policy: Arc::new(policy),
            clock: canonical.clock,
            field,
            agents,
            budget: canonical.budget.into_owned(),
            memory: canonical.memory.into_owned(),
            proposals,
            grants: canonical.grants.into_owned(),
            counts: canonical.counts,
            attestation: None,
            written: Vec::new(),
        };
        if let Some(attestation) = attestation {
            let misfit = || corrupt("its ledger does not fit its proposals".to_string());
            kernel.attestation = Some(Box::new(attestation.restored(&kernel).ok_or_else(misfit)?));
        }
        Ok(kernel)
    }

    /// The SHA-256 digest of the snapshot: equal digests, equal states.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of("stigmergate snapshot", &self.snapshot())
    }
}
