//! The kernel behind a handle.

use crate::policy::Shared;
use crate::wit::{kernel, policy, types};
use crate::{Component, answer};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;
use stigmergate_core::error::Error;
use stigmergate_core::kernel::{self as core_kernel, Command, Kernel, SNAPSHOT_VERSION, View};
use stigmergate_core::location::Location;
use stigmergate_core::policy::Policy;
use stigmergate_core::proposal::Proposal;
use stigmergate_core::{explain, gate};
use stigmergate_interface::{FromWit, ToWit, VERSION};

/// A kernel. Nothing is imported, so that no call can come in while another is at work.
pub(crate) struct Handle(RefCell<Kernel>);

impl Handle {
    fn export(kernel: Kernel) -> kernel::Kernel {
        kernel::Kernel::new(Self(RefCell::new(kernel)))
    }

    /// A command: its content comes in, its reply goes out.
    fn command<C: FromWit<W>, W, R: ToWit<V>, V>(
        &self,
        content: W,
        apply: impl FnOnce(&mut Kernel, C) -> Result<R, Error>,
    ) -> Result<V, types::Error> {
        answer(|| apply(&mut self.0.borrow_mut(), C::from_wit(content)?))
    }

    /// A question that cannot err.
    fn view<T: ToWit<W>, W>(&self, at: u64, look: impl FnOnce(View<'_>) -> T) -> W {
        look(self.0.borrow().at(at)).to_wit()
    }
}

/// A place. Its conversion does not err.
fn place(location: types::Location) -> Location {
    Location::from_wit(location).unwrap_or_else(|_| Location::raw(""))
}

/// A case of an enum that has the same cases on both sides.
fn case<C: FromWit<W>, W>(case: W) -> Option<C> {
    C::from_wit(case).ok()
}

impl kernel::Guest for Component {
    type Kernel = Handle;

    fn version() -> kernel::VersionInfo {
        kernel::VersionInfo {
            core: env!("CARGO_PKG_VERSION").to_string(),
            interface: VERSION.to_string(),
            snapshot: SNAPSHOT_VERSION,
        }
    }

    fn summarize(verdict: types::Verdict) -> Result<String, types::Error> {
        answer(|| gate::Verdict::from_wit(verdict).map(|verdict| explain::short(&verdict)))
    }

    fn explain(verdict: types::Verdict) -> Result<String, types::Error> {
        answer(|| gate::Verdict::from_wit(verdict).map(|verdict| explain::long(&verdict)))
    }
}

impl kernel::GuestKernel for Handle {
    fn create(policy: policy::PolicyBorrow<'_>) -> Result<kernel::Kernel, types::Error> {
        let policy = Policy::clone(&policy.get::<Shared>().0);
        Kernel::new(policy).map(Self::export).map_err(ToWit::to_wit)
    }

    fn restore(snapshot: Vec<u8>) -> Result<kernel::Kernel, types::Error> {
        Kernel::restore(&snapshot).map(Self::export).map_err(ToWit::to_wit)
    }

    fn snapshot(&self) -> Vec<u8> {
        self.0.borrow().snapshot()
    }

    fn digest(&self) -> String {
        self.0.borrow().digest().to_wit()
    }

    fn policy(&self) -> policy::Policy {
        Shared::export(self.0.borrow().policy())
    }

    fn propose(&self, at: u64, proposal: types::Proposal) -> Result<types::Verdict, types::Error> {
        self.command(proposal, |kernel, proposal: Proposal| kernel.propose(at, proposal))
    }

    fn propose_json(&self, at: u64, proposal: String) -> Result<String, types::Error> {
        answer(|| self.0.borrow_mut().propose_json(at, &proposal))
    }

    fn apply_json(&self, at: u64, command: String) -> Result<String, types::Error> {
        answer(|| {
            let command: Command = serde_json::from_str(&command)?;
            let reply = self.0.borrow_mut().apply(at, command)?;
            Ok(serde_json::to_string(&reply)?)
        })
    }

    fn approve(&self, at: u64, approve: kernel::Approve) -> Result<kernel::Approval, types::Error> {
        self.command(approve, |kernel, approve: core_kernel::Approve| kernel.approve(at, &approve))
    }

    fn deny(&self, at: u64, deny: kernel::Deny) -> Result<kernel::Denial, types::Error> {
        self.command(deny, |kernel, deny: core_kernel::Deny| kernel.deny(at, &deny))
    }

    fn record_outcome(&self, at: u64, report: kernel::OutcomeReport) -> Result<kernel::Outcome, types::Error> {
        self.command(report, |kernel, report: core_kernel::OutcomeReport| kernel.record_outcome(at, &report))
    }

    fn observe(&self, at: u64, observation: kernel::Observation) -> Result<kernel::Observed, types::Error> {
        self.command(observation, |kernel, observation: core_kernel::Observation| kernel.observe(at, &observation))
    }

    fn deposit(&self, at: u64, deposit: kernel::Deposit) -> Result<i64, types::Error> {
        self.command(deposit, |kernel, deposit: core_kernel::DepositRequest| kernel.deposit(at, &deposit))
    }

    fn reinforce(&self, at: u64, location: types::Location, signal: types::Signal) -> Result<i64, types::Error> {
        self.command((location, signal), |kernel, (location, signal)| {
            kernel.reinforce(at, &core_kernel::Reinforce { location, signal })
        })
    }

    fn tick(&self, at: u64, count: u64) -> Result<kernel::Ticked, types::Error> {
        self.command(count, |kernel, count: u64| kernel.tick(at, count))
    }

    fn advance(&self, at: u64) -> Result<kernel::Ticked, types::Error> {
        self.command((), |kernel, ()| Ok(kernel.advance(at)))
    }

    fn spend(&self, at: u64, agent_id: String, cost: types::Cost) -> Result<types::BudgetAnswer, types::Error> {
        self.command((agent_id, cost), |kernel, (agent_id, cost)| {
            kernel.spend(at, &core_kernel::Spend { agent_id, cost })
        })
    }

    fn calm_down(&self, at: u64) -> Result<kernel::Calmed, types::Error> {
        self.command((), |kernel, ()| Ok(kernel.calm_down(at)))
    }

    fn set_policy(&self, at: u64, policy: policy::PolicyBorrow<'_>) -> Result<String, types::Error> {
        let policy = Policy::clone(&policy.get::<Shared>().0);
        answer(|| self.0.borrow_mut().set_policy(at, policy))
    }

    fn begin_ledger(&self, at: u64, origin: String, key: String) -> Result<kernel::KeyEvent, types::Error> {
        self.command((origin, key), |kernel, (origin, key)| {
            kernel.begin_ledger(at, &core_kernel::BeginLedger { origin, key })
        })
    }

    fn rotation_message(&self, at: u64, key: String) -> Result<Vec<u8>, types::Error> {
        answer(|| self.0.borrow().at(at).rotation_message(&FromWit::from_wit(key)?))
    }

    fn rotate_key(&self, at: u64, key: String, endorsement: Vec<u8>) -> Result<kernel::KeyEvent, types::Error> {
        self.command(key, |kernel, key| kernel.rotate_key(at, &core_kernel::RotateKey { key, endorsement }))
    }

    fn authorize(
        &self,
        at: u64,
        proposal_id: String,
        ttl_ms: Option<u64>,
    ) -> Result<kernel::Authorization, types::Error> {
        answer(|| self.0.borrow_mut().authorize(at, &core_kernel::Authorize { proposal_id, ttl_ms }))
    }

    fn receive(&self, at: u64, receive: kernel::Receive) -> Result<kernel::Receipt, types::Error> {
        self.command(receive, |kernel, receive: core_kernel::Receive| kernel.receive(at, &receive))
    }

    fn conclude(
        &self,
        at: u64,
        receipt: u64,
        report: kernel::OutcomeReport,
        claim: Option<String>,
    ) -> Result<kernel::Conclusion, types::Error> {
        self.command(report, |kernel, report| kernel.conclude(at, &core_kernel::Conclude { receipt, report, claim }))
    }

    fn written(&self) -> Vec<kernel::LedgerEntry> {
        let kernel = self.0.borrow();
        let entries = kernel.written().iter();
        entries
            .map(|entry| kernel::LedgerEntry {
                sequence: entry.event.sequence,
                record: entry.record.clone(),
                leaf: entry.leaf.to_wit(),
            })
            .collect()
    }

    fn head(&self) -> Option<String> {
        self.0.borrow().ledger().map(|ledger| ledger.head().to_string())
    }

    fn witness(&self, at: u64, proposal: types::Proposal) -> Result<types::Verdict, types::Error> {
        answer(|| self.0.borrow().at(at).witness(FromWit::from_wit(proposal)?))
    }

    fn latest_unobserved(
        &self,
        at: u64,
        agent: String,
        session: String,
        digest: String,
    ) -> Result<Option<String>, types::Error> {
        answer(|| {
            let digest = FromWit::from_wit(digest).map_err(|error: Error| error.within("digest"))?;
            Ok(self.0.borrow().at(at).latest_unobserved(&agent, &session, &digest).map(ToString::to_string))
        })
    }

    fn sense(&self, at: u64, location: types::Location, signal: types::Signal) -> i64 {
        let strength =
            |view: View<'_>| case(signal).map(|signal| view.sense(&place(location), signal)).unwrap_or_default();
        self.view(at, strength)
    }

    fn hazard(&self, at: u64, location: types::Location) -> types::Channels {
        self.view(at, |view| view.hazard(&place(location)))
    }

    fn hazard_below(&self, at: u64, location: types::Location) -> types::Channels {
        self.view(at, |view| view.hazard_below(&place(location)))
    }

    fn pressure(
        &self,
        at: u64,
        location: types::Location,
        source: Option<types::Source>,
        signal: Option<types::Signal>,
    ) -> Vec<types::Trace> {
        self.view(at, |view| view.pressure(&place(location), source.and_then(case), signal.and_then(case)))
    }

    fn traces(&self, at: u64) -> Vec<types::Trace> {
        self.view(at, |view| view.traces())
    }

    fn top(&self, at: u64, count: u32) -> Vec<types::Trace> {
        self.view(at, |view| view.top(count as usize))
    }

    fn field(&self, at: u64) -> types::FieldSummary {
        self.view(at, |view| view.field())
    }

    fn agent(&self, at: u64, id: String) -> types::Agent {
        self.view(at, |view| view.agent(&id))
    }

    fn agents(&self, at: u64) -> Vec<types::Agent> {
        self.view(at, |view| view.agents())
    }

    fn profile(&self, at: u64, id: String) -> Option<types::Profile> {
        self.view(at, |view| view.profile(&id).cloned())
    }

    fn budget(&self, at: u64) -> (types::Balance, types::Caps) {
        self.view(at, |view| {
            let (balance, caps) = view.budget();
            (balance, caps.clone())
        })
    }

    fn account(&self, at: u64, account: String) -> types::Balance {
        self.view(at, |view| view.account(&account))
    }

    fn spenders(&self, at: u64, dimension: types::Dimension) -> Vec<(String, types::Balance)> {
        self.view(at, |view| case(dimension).map(|dimension| view.spenders(dimension)).unwrap_or_default())
    }

    fn charges(&self, at: u64) -> Vec<types::Charge> {
        self.view(at, |view| view.charges().cloned().collect::<Vec<_>>())
    }

    fn falsify(&self, at: u64, plan: types::Proposal) -> Result<types::Findings, types::Error> {
        answer(|| {
            let plan = Proposal::from_wit(plan).map_err(|error: Error| error.within("plan"))?;
            Ok(self.0.borrow().at(at).falsify(&plan.plan(stigmergate_core::policy::Pipeline::Standard)))
        })
    }

    fn prune(&self, at: u64, registry: Option<Vec<types::Module>>) -> Vec<types::PruneCandidate> {
        let registry = registry.and_then(case::<Vec<_>, _>);
        self.view(at, |view| view.prune(registry.as_deref()))
    }

    fn proposal(&self, at: u64, id: String) -> Option<types::Remembered> {
        self.view(at, |view| view.proposal(&id))
    }

    fn proposals(&self, at: u64, most: u32) -> Vec<types::Remembered> {
        self.view(at, |view| view.proposals(most as usize))
    }

    fn waiting(&self, at: u64) -> Vec<types::Remembered> {
        self.view(at, |view| view.waiting())
    }

    fn status(&self, at: u64) -> types::Status {
        self.view(at, |view| view.status())
    }

    fn made_by(&self, at: u64, session: String) -> Vec<String> {
        self.view(at, |view| view.made_by(&session))
    }
}
