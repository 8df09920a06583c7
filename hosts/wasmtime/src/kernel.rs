//! A kernel in an instance of its own.

use crate::engine::Engine;
use crate::error::Error;
use crate::interface::Gate;
use crate::interface::wit::{kernel as wk, types as wt};
use crate::limits::Limits;
use stigmergate_core::attest::key::PublicKey;
use stigmergate_core::budget::{Answer, Balance, Charge, Cost, Dimension};
use stigmergate_core::digest::Digest;
use stigmergate_core::error::Error as CoreError;
use stigmergate_core::falsify::Report as Findings;
use stigmergate_core::field::{Channels, Signal, Source, Summary, Trace};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::Verdict;
use stigmergate_core::kernel::{
    AgentView, Approval, Approve, AuthorizationReply, Authorize, BeginLedger, Calmed, Command, Conclude,
    ConclusionReply, Denial, Deny, DepositRequest, KeyReply, Observation, ObservedReply, OutcomeReply, OutcomeReport,
    ProposalView, ReceiptReply, Receive, Reinforce, Reply, RotateKey, Spend, Status, Ticked, Time,
};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{Caps, Policy};
use stigmergate_core::proposal::Proposal;
use stigmergate_core::prune::{Candidate, Module};
use stigmergate_core::trust::Profile;
use stigmergate_interface::{FromWit, ToWit};
use wasmtime::Store;
use wasmtime::component::ResourceAny;

/// An event of the ledger that a command wrote, as its bytes and its leaf hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its number.
    pub sequence: u64,
    /// Its bytes.
    pub record: Vec<u8>,
    /// Its leaf hash.
    pub leaf: Digest,
}

/// A kernel in the component. Its commands and questions are those of the native kernel, with a time each; what goes wrong besides is
/// [`Error`]. Dropping it frees its instance.
pub struct Kernel {
    engine: Engine,
    live: Option<Live>,
    /// Where another instance would begin.
    snapshot: Vec<u8>,
    /// What was applied since.
    since: Vec<(Time, Command)>,
}

struct Live {
    store: Store<Limits>,
    gate: Gate,
    kernel: ResourceAny,
}

/// A call's answer, or what the interface says instead.
type Answered<W> = wasmtime::Result<Result<W, wt::Error>>;

impl Kernel {
    pub(crate) fn create(engine: Engine, policy: &Policy) -> Result<Self, Error> {
        let json = policy.to_json();
        let (mut store, gate) = engine.instantiate()?;
        let made = |store: &mut Store<Limits>| -> Answered<ResourceAny> {
            let policies = gate.stigmergate_gate_policy().policy();
            let policy = match policies.call_from_json(&mut *store, &json)? {
                Ok(policy) => policy,
                Err(error) => return Ok(Err(error)),
            };
            let kernel = gate.stigmergate_gate_kernel().kernel().call_create(&mut *store, policy)?;
            policy.resource_drop(store)?;
            Ok(kernel)
        };
        let kernel = made(&mut store);
        let kernel = settle(&engine, &mut store, kernel)?;
        Self::begin(engine, Live { store, gate, kernel })
    }

    pub(crate) fn restore(engine: Engine, snapshot: &[u8]) -> Result<Self, Error> {
        let live = Live::restore(&engine, snapshot)?;
        Ok(Self { engine, live: Some(live), snapshot: snapshot.to_vec(), since: Vec::new() })
    }

    fn begin(engine: Engine, live: Live) -> Result<Self, Error> {
        let mut kernel = Self { engine, live: Some(live), snapshot: Vec::new(), since: Vec::new() };
        kernel.snapshot = kernel.snapshot()?;
        Ok(kernel)
    }

    /// The instance; another one with the same state where the last one ended.
    fn live(&mut self) -> Result<&mut Live, Error> {
        if self.live.is_none() {
            let mut live = Live::restore(&self.engine, &self.snapshot)?;
            for (at, command) in &self.since {
                live.apply(&self.engine, *at, command)?;
            }
            self.live = Some(live);
        }
        self.live.as_mut().ok_or_else(|| Error::Trap { detail: "no instance".into() })
    }

    fn ask<W, T: FromWit<W>>(
        &mut self,
        question: impl FnOnce(&wk::GuestKernel<'_>, &mut Store<Limits>, ResourceAny) -> Answered<W>,
    ) -> Result<T, Error> {
        let engine = self.engine.clone();
        let asked = self.live()?.ask(&engine, question);
        if matches!(&asked, Err(error) if !matches!(error, Error::Core(_))) {
            // What trapped cannot be entered again.
            self.live = None;
        }
        asked
    }

    /// Applies a command, as [`stigmergate_core::kernel::Kernel::apply`].
    ///
    /// # Errors
    /// [`Error::Core`] with what the native kernel says; the limits; [`Error::Trap`]. Nothing is changed then.
    pub fn apply(&mut self, at: Time, command: Command) -> Result<Reply, Error> {
        let engine = self.engine.clone();
        let applied = self.live()?.apply(&engine, at, &command);
        match &applied {
            Ok(_) => self.since.push((at, command)),
            Err(Error::Core(_)) => {}
            Err(_) => self.live = None,
        }
        if self.since.len() >= self.engine.options().snapshot_every {
            // Where it does not succeed, what there is stays good.
            if let Ok(snapshot) = self.snapshot() {
                self.snapshot = snapshot;
                self.since.clear();
            }
        }
        applied
    }

    /// The whole state, as [`stigmergate_core::kernel::Kernel::snapshot`]: the same bytes.
    ///
    /// # Errors
    /// The limits, [`Error::Trap`].
    pub fn snapshot(&mut self) -> Result<Vec<u8>, Error> {
        self.ask(|kernel, store, this| kernel.call_snapshot(store, this).map(Ok))
    }

    /// The SHA-256 of the snapshot.
    ///
    /// # Errors
    /// As [`Kernel::snapshot`].
    pub fn digest(&mut self) -> Result<Digest, Error> {
        self.ask(|kernel, store, this| kernel.call_digest(store, this).map(Ok))
    }

    /// The events that the last command wrote.
    ///
    /// # Errors
    /// As [`Kernel::snapshot`].
    pub fn written(&mut self) -> Result<Vec<Written>, Error> {
        self.ask(|kernel, store, this| kernel.call_written(store, this).map(Ok))
    }

    /// The text of the ledger's head, to be signed by whoever has the key in force.
    ///
    /// # Errors
    /// As [`Kernel::snapshot`].
    pub fn head(&mut self) -> Result<Option<String>, Error> {
        self.ask(|kernel, store, this| kernel.call_head(store, this).map(Ok))
    }
}

impl FromWit<wk::LedgerEntry> for Written {
    fn from_wit(entry: wk::LedgerEntry) -> Result<Self, CoreError> {
        Ok(Self { sequence: entry.sequence, record: entry.record, leaf: Digest::from_wit(entry.leaf)? })
    }
}

/// The typed form of a command: its content goes in, and of the replies only its own comes out.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $of:ty),*) -> $reply:ty, $command:expr => $variant:ident;)*) => {
        impl Kernel {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// As [`Kernel::apply`].
            pub fn $name(&mut self, at: Time $(, $argument: $of)*) -> Result<$reply, Error> {
                match self.apply(at, $command)? {
                    Reply::$variant(reply) => Ok(reply),
                    other => Err(Error::Trap { detail: format!("the answer to another command: {other:?}") }),
                }
            }
        )*}
    };
}

commands! {
    /// A person approves a HOLD.
    approve(approve: Approve) -> Approval, Command::Approve(approve) => Approval;
    /// A person denies a HOLD.
    deny(deny: Deny) -> Denial, Command::Deny(deny) => Denial;
    /// Somebody reports an outcome.
    record_outcome(report: OutcomeReport) -> OutcomeReply, Command::RecordOutcome(Box::new(report)) => Outcome;
    /// A host saw what became of a call.
    observe(observation: Observation) -> ObservedReply, Command::Observe(observation) => Observed;
    /// Leaves a trace.
    deposit(request: DepositRequest) -> Fixed, Command::Deposit(request) => Strength;
    /// Strengthens a trace that lives.
    reinforce(request: Reinforce) -> Fixed, Command::Reinforce(request) => Strength;
    /// Lets ticks pass.
    tick(count: u64) -> Ticked, Command::Tick(stigmergate_core::kernel::Ticks { count }) => Ticked;
    /// Lets time pass.
    advance() -> Ticked, Command::Advance => Ticked;
    /// Checks a cost and uses it.
    spend(spend: Spend) -> Answer, Command::Spend(spend) => Spent;
    /// Clears the field and begins a budget period.
    calm_down() -> Calmed, Command::CalmDown => Calmed;
    /// Replaces the policy.
    set_policy(policy: Policy) -> Digest, Command::SetPolicy(Box::new(policy)) => PolicySet;
    /// Begins the signed ledger.
    begin_ledger(begin: BeginLedger) -> KeyReply, Command::BeginLedger(begin) => LedgerBegun;
    /// Puts another key in force.
    rotate_key(rotate: RotateKey) -> KeyReply, Command::RotateKey(rotate) => KeyRotated;
    /// Gives leave for one execution.
    authorize(authorize: Authorize) -> AuthorizationReply, Command::Authorize(authorize) => Authorized;
    /// An executor has run what was authorized.
    receive(receive: Receive) -> ReceiptReply, Command::Receive(receive) => Received;
    /// What became of an execution.
    conclude(conclude: Conclude) -> ConclusionReply, Command::Conclude(Box::new(conclude)) => Concluded;
}

impl Kernel {
    /// Judges a proposal.
    ///
    /// # Errors
    /// As [`Kernel::apply`].
    pub fn propose(&mut self, at: Time, proposal: Proposal) -> Result<Verdict, Error> {
        match self.apply(at, Command::Propose(Box::new(proposal)))? {
            Reply::Verdict(verdict) => Ok(*verdict),
            other => Err(Error::Trap { detail: format!("the answer to another command: {other:?}") }),
        }
    }
}

/// Questions, which change nothing.
macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $of:ty),*) -> $answer:ty, |$kernel:ident, $store:ident, $this:ident, $at:ident| $call:expr;)*) => {
        impl Kernel {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// As [`Kernel::snapshot`], and what the native kernel says.
            pub fn $name(&mut self, $at: Time $(, $argument: $of)*) -> Result<$answer, Error> {
                self.ask(|$kernel, $store, $this| $call)
            }
        )*}
    };
}

questions! {
    /// What [`Kernel::propose`] would answer.
    witness(proposal: Proposal) -> Verdict, |kernel, store, this, at| kernel.call_witness(store, this, at, &proposal.to_wit());
    /// What the key in force signs so that another takes its place.
    rotation_message(key: &PublicKey) -> Vec<u8>, |kernel, store, this, at| kernel.call_rotation_message(store, this, at, &key.verifier_key());
    /// The latest call of an agent's session that would run just this and was not observed.
    latest_unobserved(agent: &str, session: &str, digest: &Digest) -> Option<String>,
        |kernel, store, this, at| kernel.call_latest_unobserved(store, this, at, agent, session, &digest.to_string());
    /// The strength of a trace of the place itself.
    sense(location: &Location, signal: Signal) -> Fixed,
        |kernel, store, this, at| kernel.call_sense(store, this, at, &location.clone().to_wit(), signal.to_wit()).map(Ok);
    /// Both hazards of the place itself.
    hazard(location: &Location) -> Channels, |kernel, store, this, at| kernel.call_hazard(store, this, at, &location.clone().to_wit()).map(Ok);
    /// Both hazards of the place and of everything below it.
    hazard_below(location: &Location) -> Channels,
        |kernel, store, this, at| kernel.call_hazard_below(store, this, at, &location.clone().to_wit()).map(Ok);
    /// The live traces at a place and below it.
    pressure(location: &Location, source: Option<Source>, signal: Option<Signal>) -> Vec<Trace>,
        |kernel, store, this, at| kernel.call_pressure(store, this, at, &location.clone().to_wit(), source.to_wit(), signal.to_wit()).map(Ok);
    /// All live traces.
    traces() -> Vec<Trace>, |kernel, store, this, at| kernel.call_traces(store, this, at).map(Ok);
    /// The strongest live traces.
    top(count: u32) -> Vec<Trace>, |kernel, store, this, at| kernel.call_top(store, this, at, count).map(Ok);
    /// Counts and extremes of the live traces.
    field() -> Summary, |kernel, store, this, at| kernel.call_field(store, this, at).map(Ok);
    /// An agent.
    agent(id: &str) -> AgentView, |kernel, store, this, at| kernel.call_agent(store, this, at, id).map(Ok);
    /// All agents, the best first.
    agents() -> Vec<AgentView>, |kernel, store, this, at| kernel.call_agents(store, this, at).map(Ok);
    /// An agent's profile with its history.
    profile(id: &str) -> Option<Profile>, |kernel, store, this, at| kernel.call_profile(store, this, at, id).map(Ok);
    /// What the colony has used and set aside, and its caps.
    budget() -> (Balance, Caps), |kernel, store, this, at| kernel.call_budget(store, this, at).map(Ok);
    /// What an account has used and set aside.
    account(account: &str) -> Balance, |kernel, store, this, at| kernel.call_account(store, this, at, account).map(Ok);
    /// The accounts that used most of a dimension.
    spenders(dimension: Dimension) -> Vec<(String, Balance)>,
        |kernel, store, this, at| kernel.call_spenders(store, this, at, dimension.to_wit()).map(Ok);
    /// The last settled costs.
    charges() -> Vec<Charge>, |kernel, store, this, at| kernel.call_charges(store, this, at).map(Ok);
    /// The checks of a proposal's texts.
    falsify(plan: Proposal) -> Findings, |kernel, store, this, at| kernel.call_falsify(store, this, at, &plan.to_wit());
    /// The modules that could go.
    prune(registry: Option<Vec<Module>>) -> Vec<Candidate>,
        |kernel, store, this, at| kernel.call_prune(store, this, at, registry.to_wit().as_deref()).map(Ok);
    /// A remembered proposal.
    proposal(id: &str) -> Option<ProposalView>, |kernel, store, this, at| kernel.call_proposal(store, this, at, id).map(Ok);
    /// The last remembered proposals.
    proposals(most: u32) -> Vec<ProposalView>, |kernel, store, this, at| kernel.call_proposals(store, this, at, most).map(Ok);
    /// The HOLDs that wait for a person.
    waiting() -> Vec<ProposalView>, |kernel, store, this, at| kernel.call_waiting(store, this, at).map(Ok);
    /// The kernel in a few numbers.
    status() -> Status, |kernel, store, this, at| kernel.call_status(store, this, at).map(Ok);
    /// The paths that a session made.
    made_by(session: &str) -> Vec<String>, |kernel, store, this, at| kernel.call_made_by(store, this, at, session).map(Ok);
}

impl Live {
    fn restore(engine: &Engine, snapshot: &[u8]) -> Result<Self, Error> {
        let (mut store, gate) = engine.instantiate()?;
        let kernel = gate.stigmergate_gate_kernel().kernel().call_restore(&mut store, snapshot);
        let kernel = settle(engine, &mut store, kernel)?;
        Ok(Self { store, gate, kernel })
    }

    fn ask<W, T: FromWit<W>>(
        &mut self,
        engine: &Engine,
        question: impl FnOnce(&wk::GuestKernel<'_>, &mut Store<Limits>, ResourceAny) -> Answered<W>,
    ) -> Result<T, Error> {
        engine.allow_call(&mut self.store)?;
        let kernel = self.gate.stigmergate_gate_kernel().kernel();
        let answered = question(&kernel, &mut self.store, self.kernel);
        Ok(T::from_wit(settle(engine, &mut self.store, answered)?)?)
    }

    fn apply(&mut self, engine: &Engine, at: Time, command: &Command) -> Result<Reply, Error> {
        Ok(match command {
            Command::Propose(proposal) => {
                let proposal = proposal.clone().to_wit();
                Reply::Verdict(self.ask(engine, |kernel, store, this| kernel.call_propose(store, this, at, &proposal))?)
            }
            Command::Approve(approve) => {
                let approve = approve.clone().to_wit();
                Reply::Approval(self.ask(engine, |kernel, store, this| kernel.call_approve(store, this, at, &approve))?)
            }
            Command::Deny(deny) => {
                let deny = deny.clone().to_wit();
                Reply::Denial(self.ask(engine, |kernel, store, this| kernel.call_deny(store, this, at, &deny))?)
            }
            Command::RecordOutcome(report) => {
                let report = report.clone().to_wit();
                Reply::Outcome(
                    self.ask(engine, |kernel, store, this| kernel.call_record_outcome(store, this, at, &report))?,
                )
            }
            Command::Observe(observation) => {
                let observation = observation.clone().to_wit();
                Reply::Observed(
                    self.ask(engine, |kernel, store, this| kernel.call_observe(store, this, at, &observation))?,
                )
            }
            Command::Deposit(request) => {
                let request = request.clone().to_wit();
                Reply::Strength(self.ask(engine, |kernel, store, this| kernel.call_deposit(store, this, at, &request))?)
            }
            Command::Reinforce(Reinforce { location, signal }) => {
                let (location, signal): (wt::Location, wt::Signal) = (location.clone().to_wit(), signal.to_wit());
                Reply::Strength(
                    self.ask(engine, |kernel, store, this| kernel.call_reinforce(store, this, at, &location, signal))?,
                )
            }
            Command::Tick(ticks) => {
                Reply::Ticked(self.ask(engine, |kernel, store, this| kernel.call_tick(store, this, at, ticks.count))?)
            }
            Command::Advance => {
                Reply::Ticked(self.ask(engine, |kernel, store, this| kernel.call_advance(store, this, at))?)
            }
            Command::Spend(Spend { agent_id, cost }) => {
                let cost: wt::Cost = Cost::to_wit(*cost);
                Reply::Spent(
                    self.ask(engine, |kernel, store, this| kernel.call_spend(store, this, at, agent_id, cost))?,
                )
            }
            Command::CalmDown => {
                Reply::Calmed(self.ask(engine, |kernel, store, this| kernel.call_calm_down(store, this, at))?)
            }
            Command::SetPolicy(policy) => Reply::PolicySet(self.set_policy(engine, at, policy)?),
            Command::BeginLedger(BeginLedger { origin, key }) => {
                let key = key.verifier_key();
                Reply::LedgerBegun(
                    self.ask(engine, |kernel, store, this| kernel.call_begin_ledger(store, this, at, origin, &key))?,
                )
            }
            Command::RotateKey(RotateKey { key, endorsement }) => {
                let key = key.verifier_key();
                Reply::KeyRotated(
                    self.ask(engine, |kernel, store, this| kernel.call_rotate_key(store, this, at, &key, endorsement))?,
                )
            }
            Command::Authorize(Authorize { proposal_id, ttl_ms }) => Reply::Authorized(
                self.ask(engine, |kernel, store, this| kernel.call_authorize(store, this, at, proposal_id, *ttl_ms))?,
            ),
            Command::Receive(receive) => {
                let receive = receive.clone().to_wit();
                Reply::Received(self.ask(engine, |kernel, store, this| kernel.call_receive(store, this, at, &receive))?)
            }
            Command::Conclude(conclude) => {
                let report = conclude.report.clone().to_wit();
                let claim = conclude.claim.as_deref();
                Reply::Concluded(self.ask(engine, |kernel, store, this| {
                    kernel.call_conclude(store, this, at, conclude.receipt, &report, claim)
                })?)
            }
            other => return Err(Error::Component { detail: format!("it has no command {}", other.name()) }),
        })
    }

    fn set_policy(&mut self, engine: &Engine, at: Time, policy: &Policy) -> Result<Digest, Error> {
        engine.allow_call(&mut self.store)?;
        let json = policy.to_json();
        let policy = self.gate.stigmergate_gate_policy().policy().call_from_json(&mut self.store, &json);
        let policy = settle(engine, &mut self.store, policy)?;
        let digest = self.ask(engine, |kernel, store, this| kernel.call_set_policy(store, this, at, policy));
        // What trapped has dropped it already.
        let _ = policy.resource_drop(&mut self.store);
        digest
    }
}

/// What a call answered.
fn settle<W>(engine: &Engine, store: &mut Store<Limits>, answered: Answered<W>) -> Result<W, Error> {
    match answered {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(Error::Core(CoreError::from_wit(error)?)),
        Err(trap) => Err(engine.explain(&trap, store.data_mut())),
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Kernel").field("since_snapshot", &self.since.len()).finish_non_exhaustive()
    }
}
