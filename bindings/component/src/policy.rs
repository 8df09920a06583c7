//! Policies behind a handle, and the checks that need nothing else.

use crate::wit::{falsification, policy, types};
use crate::{Component, answer};
use alloc::string::String;
use alloc::sync::Arc;
use stigmergate_core::error::Error;
use stigmergate_core::falsify::{Asks, falsify};
use stigmergate_core::policy::{Pipeline, Policy, Preset};
use stigmergate_core::proposal::Proposal;
use stigmergate_interface::{FromWit, ToWit};

/// A policy, shared with the kernels that were made with it.
pub(crate) struct Shared(pub(crate) Arc<Policy>);

impl Shared {
    pub(crate) fn export(policy: &Policy) -> policy::Policy {
        policy::Policy::new(Self(Arc::new(policy.clone())))
    }
}

impl policy::Guest for Component {
    type Policy = Shared;
}

impl policy::GuestPolicy for Shared {
    fn from_preset(preset: types::Preset) -> policy::Policy {
        // The three names are the same on both sides.
        let preset = Preset::from_wit(preset).unwrap_or(Preset::Standard);
        Self::export(&Policy::preset(preset))
    }

    fn from_json(json: String) -> Result<policy::Policy, types::Error> {
        Policy::from_json(&json).map(|policy| Self::export(&policy)).map_err(ToWit::to_wit)
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    fn digest(&self) -> String {
        self.0.digest().to_wit()
    }

    fn preset(&self) -> types::Preset {
        self.0.preset.to_wit()
    }
}

impl falsification::Guest for Component {
    fn falsify(policy: policy::PolicyBorrow<'_>, plan: types::Proposal) -> Result<types::Findings, types::Error> {
        answer(|| {
            let plan = Proposal::from_wit(plan).map_err(|error: Error| error.within("plan"))?;
            Ok(falsify(&plan.plan(Pipeline::Standard), &policy.get::<Shared>().0.falsify, Asks::ALL))
        })
    }
}
