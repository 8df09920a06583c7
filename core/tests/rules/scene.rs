//! A kernel with a clock, and short ways to say what agents, hosts and people do.

use stigmergate_core::budget::Cost;
use stigmergate_core::digest::Digest;
use stigmergate_core::error::Error;
use stigmergate_core::facts::{Act, Before, Call, Class, Effect, Fact, FactKind, Root, Target};
use stigmergate_core::falsify::Texts;
use stigmergate_core::field::{Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Decision, ReasonCode, Verdict};
use stigmergate_core::kernel::{
    Approval, Approve, Denial, Deny, DepositRequest, Feedback, Kernel, Observation, ObservedReply, OutcomeReply,
    OutcomeReport, StatedCost, Subject, Ticked,
};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_core::proposal::Proposal;

pub(crate) const SECOND: u64 = 1000;
pub(crate) const MINUTE: u64 = 60 * SECOND;
pub(crate) const HOUR: u64 = 60 * MINUTE;

/// The beginning of a minute, so that ticks are easy to count.
pub(crate) const START: u64 = 1_700_000_040_000;

pub(crate) struct Scene {
    pub(crate) kernel: Kernel,
    pub(crate) now: u64,
}

impl Scene {
    pub(crate) fn standard() -> Self {
        Self::with(Policy::preset(Preset::Standard))
    }

    /// Preset `standard` with some fields replaced.
    pub(crate) fn policy(json: &str) -> Self {
        Self::with(Policy::from_json(json).unwrap())
    }

    pub(crate) fn with(policy: Policy) -> Self {
        Self { kernel: Kernel::new(policy).unwrap(), now: START }
    }

    pub(crate) fn wait(&mut self, span: u64) -> &mut Self {
        self.now += span;
        self
    }

    /// Lets time pass and tells the kernel so.
    pub(crate) fn advance(&mut self, span: u64) -> Ticked {
        self.wait(span);
        self.kernel.advance(self.now)
    }

    pub(crate) fn propose(&mut self, proposal: Proposal) -> Verdict {
        self.try_propose(proposal).unwrap()
    }

    pub(crate) fn try_propose(&mut self, proposal: Proposal) -> Result<Verdict, Error> {
        let foreseen = self.kernel.at(self.now).witness(proposal.clone());
        let verdict = self.kernel.propose(self.now, proposal);
        assert_eq!(foreseen, verdict, "a witness says what the proposal gets");
        verdict
    }

    /// What a proposal would get, without proposing it.
    pub(crate) fn asks(&self, proposal: &Proposal) -> Verdict {
        self.kernel.at(self.now).witness(proposal.clone()).unwrap()
    }

    pub(crate) fn decision(&self, proposal: &Proposal) -> Decision {
        self.asks(proposal).decision
    }

    pub(crate) fn observe(&mut self, id: &str, ok: bool) -> ObservedReply {
        self.kernel.observe(self.now, &observation(id, ok)).unwrap()
    }

    /// Proposes a call that is allowed and says what became of it.
    pub(crate) fn runs(&mut self, proposal: Proposal, ok: bool) -> ObservedReply {
        let id = proposal.proposal_id.clone();
        let verdict = self.propose(proposal);
        assert_eq!(verdict.decision, Decision::Execute, "{:?}", verdict.reasons);
        self.observe(&id, ok)
    }

    pub(crate) fn report(&mut self, id: &str, passed: bool) -> OutcomeReply {
        self.kernel.record_outcome(self.now, &outcome(id, passed)).unwrap()
    }

    pub(crate) fn approve(&mut self, id: &str) -> Approval {
        self.kernel.approve(self.now, &approve(id)).unwrap()
    }

    pub(crate) fn deny(&mut self, id: &str) -> Denial {
        self.kernel.deny(self.now, &deny(id)).unwrap()
    }

    pub(crate) fn deposit(&mut self, location: Location, signal: Signal, strength: Fixed, source: Source) -> Fixed {
        let request = DepositRequest { location, signal, strength, source, decay: None, trust_factor: None };
        self.kernel.deposit(self.now, &request).unwrap()
    }

    pub(crate) fn trust(&self, agent: &str) -> Fixed {
        self.kernel.at(self.now).agent(agent).trust
    }

    pub(crate) fn reserved(&self) -> Cost {
        self.kernel.at(self.now).budget().0.reserved
    }

    pub(crate) fn used(&self) -> Cost {
        self.kernel.at(self.now).budget().0.used
    }
}

pub(crate) fn path(text: &str) -> Location {
    Location::path(text)
}

pub(crate) fn deciding(verdict: &Verdict) -> ReasonCode {
    verdict.reasons[0].code
}

pub(crate) fn calls(count: i32) -> Cost {
    Cost { llm_calls: Fixed::whole(count), ..Cost::default() }
}

/// A complete proposal in words, with nothing for the text checks to find.
pub(crate) fn plan(id: &str, target: Location) -> Proposal {
    let mut proposal = Proposal::new(id, "ag-1", "patch_file", target);
    proposal.rationale = "fix the off-by-one in the tokenizer".into();
    proposal.rollback_plan = Some("git revert the one commit on the branch".into());
    proposal.evidence = serde_json::json!({"test": "test_tokenizer"}).into();
    proposal.expected_outcome = Some("test_tokenizer passes".into());
    proposal.tests = Some(Texts::Text("pytest tests/test_tokenizer.py".into()));
    proposal.metrics = Some(Texts::Text("0 failing tests".into()));
    proposal
}

/// A tool call of some acts, in the session `s1`.
pub(crate) fn call(id: &str, tool: &str, acts: Vec<Act>) -> Proposal {
    let place = acts.first().map_or_else(|| Location::own(tool), |act| act.place.clone());
    let mut proposal = Proposal::new(id, "claude", tool, place);
    let shown = acts.iter().map(|act| format!("{}\n{}\n{:?}\n", act.kind, act.place, act.words)).collect::<String>();
    let digest = Digest::of("call", shown.as_bytes());
    proposal.call = Some(Call { tool: tool.into(), session: "s1".into(), digest, acts, facts: Vec::new() });
    proposal
}

pub(crate) fn target(place: &str, effect: Effect) -> Target {
    Target::new(path(place), effect, Root::Workspace, Before::Committed)
}

/// What a file tool does to a path.
pub(crate) fn file_act(class: Class, target: Target) -> Act {
    Act {
        class,
        kind: target.effect.key().into(),
        place: target.place.clone(),
        words: Vec::new(),
        targets: Vec::from([target]),
        facts: Vec::new(),
        dry_run: false,
    }
}

pub(crate) fn edit(id: &str, place: &str) -> Proposal {
    call(id, "Edit", vec![file_act(Class::Write, target(place, Effect::Edit))])
}

/// A command that names no path: a place of its own.
pub(crate) fn command_act(class: Class, text: &str) -> Act {
    Act {
        class,
        kind: text.into(),
        place: Location::own(text),
        words: text.split_whitespace().map(String::from).collect(),
        targets: Vec::new(),
        facts: Vec::new(),
        dry_run: false,
    }
}

pub(crate) fn command(id: &str, class: Class, text: &str) -> Proposal {
    call(id, "Bash", vec![command_act(class, text)])
}

pub(crate) fn with_fact(mut proposal: Proposal, kind: FactKind) -> Proposal {
    let facts = &mut proposal.call.as_mut().unwrap().acts[0].facts;
    facts.push(Fact { kind, detail: format!("{kind:?}") });
    proposal
}

pub(crate) fn in_session(mut proposal: Proposal, session: &str) -> Proposal {
    proposal.call.as_mut().unwrap().session = session.into();
    proposal
}

pub(crate) fn observation(id: &str, ok: bool) -> Observation {
    Observation { proposal_id: id.into(), ok, interrupted: false, stamps: Vec::new(), cost: None }
}

pub(crate) fn outcome(id: &str, passed: bool) -> OutcomeReport {
    OutcomeReport {
        proposal: Subject::Id(id.into()),
        tests_passed: passed,
        repair_needed: false,
        summary: String::new(),
        cost: StatedCost::default(),
        human_feedback: Feedback::default(),
    }
}

pub(crate) fn approve(id: &str) -> Approve {
    Approve {
        proposal_id: id.into(),
        by: "ana".into(),
        digest: None,
        feedback: Feedback::default(),
        standing_seconds: None,
    }
}

pub(crate) fn deny(id: &str) -> Deny {
    Deny { proposal_id: id.into(), by: "ana".into(), reason: String::new(), feedback: Feedback::default() }
}
