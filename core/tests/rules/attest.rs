//! The signed ledger as the kernel writes it (SPEC 9, 10.k): what is accepted, what is refused, and what verifies.

use crate::scene::*;
use stigmergate_core::attest::envelope::{Claim, ClaimKind};
use stigmergate_core::attest::event::{Body, Event, Kind};
use stigmergate_core::attest::key::PublicKey;
use stigmergate_core::attest::links::{OPEN, Rules};
use stigmergate_core::attest::signer::{Ed25519Signer, Ed25519Verifier, HmacKey, Signer};
use stigmergate_core::attest::verify::{Expected, Report, Status, verify};
use stigmergate_core::budget::Cost;
use stigmergate_core::digest::Digest;
use stigmergate_core::error::Error;
use stigmergate_core::facts::{Class, FactKind};
use stigmergate_core::gate::Decision;
use stigmergate_core::kernel::{
    Approve, Authorize, BeginLedger, Command, Conclude, ConclusionReply, Kernel, LifecycleView, Receive, Reply,
    RotateKey, Spend, Stage, State, Subject,
};
use stigmergate_core::policy::{AttestMode, Policy, Preset};
use stigmergate_core::proposal::Proposal;

const ORIGIN: &str = "example.com/colony";

const OPTIONAL: &str = r#"{"attest": {"mode": "optional"}}"#;
const REQUIRED: &str = r#"{"attest": {"mode": "required"}}"#;
const REQUIRED_LATE: &str = r#"{"attest": {"mode": "required", "late": true}}"#;

fn signer(name: &str, byte: u8) -> Ed25519Signer {
    Ed25519Signer::from_seed(name, &[byte; 32]).unwrap()
}

/// A kernel with a ledger, and what a store would keep of it: records, and a signed head for each command.
pub(crate) struct Log {
    pub(crate) kernel: Kernel,
    now: u64,
    signer: Ed25519Signer,
    events: Vec<Event>,
    pub(crate) records: Vec<Vec<u8>>,
    heads: Vec<String>,
}

impl Log {
    pub(crate) fn begin(policy: Policy) -> Self {
        let signer = signer(ORIGIN, 1);
        let begin = BeginLedger { origin: ORIGIN.into(), key: signer.public().clone() };
        let (records, heads, events) = (Vec::new(), Vec::new(), Vec::new());
        let mut log = Self { kernel: Kernel::new(policy).unwrap(), now: START, signer, events, records, heads };
        log.apply(Command::BeginLedger(begin)).unwrap();
        log
    }

    fn of(json: &str) -> Self {
        Self::begin(Policy::from_json(json).unwrap())
    }

    /// Preset `strict`, with an agent that may write, and an observer's key besides the log's own.
    fn strict(observer: &Ed25519Signer) -> Self {
        let keys = [observer.public(), signer(ORIGIN, 1).public()].map(PublicKey::verifier_key);
        let json = serde_json::json!({
            "preset": "strict", "trust": {"initial": 0.5}, "roles": {"min_proposals": 0}, "attest": {"keys": keys},
        });
        Self::of(&json.to_string())
    }

    /// What is said next is said at this time.
    pub(crate) fn at(&mut self, now: u64) -> &mut Self {
        self.now = now;
        self
    }

    fn wait(&mut self, span: u64) -> &mut Self {
        self.now += span;
        self
    }

    /// A command that is refused has changed nothing; what one has written is kept and signed for.
    pub(crate) fn apply(&mut self, command: Command) -> Result<Reply, Error> {
        let before = (self.kernel.digest(), self.kernel.written().to_vec());
        let result = self.kernel.apply(self.now, command);
        if result.is_err() {
            assert_eq!((self.kernel.digest(), self.kernel.written().to_vec()), before, "{result:?}");
            return result;
        }
        let written = self.kernel.written();
        for entry in written {
            assert_eq!(entry.event.sequence, self.records.len() as u64);
            assert_eq!(Event::read(&entry.record).unwrap(), entry.event);
            self.events.push(entry.event.clone());
            self.records.push(entry.record.clone());
        }
        if !written.is_empty() {
            self.heads.push(self.kernel.ledger().unwrap().sign_head(&self.signer).unwrap().to_string());
        }
        result
    }

    fn propose(&mut self, proposal: Proposal) -> Decision {
        match self.apply(Command::Propose(Box::new(proposal))) {
            Ok(Reply::Verdict(verdict)) => verdict.decision,
            other => panic!("{other:?}"),
        }
    }

    fn authorize(&mut self, id: &str) -> Result<u64, &'static str> {
        let authorize = Authorize { proposal_id: id.into(), ttl_ms: None };
        match self.apply(Command::Authorize(authorize)) {
            Ok(Reply::Authorized(reply)) => Ok(reply.sequence),
            Err(error) => Err(error.code()),
            other => panic!("{other:?}"),
        }
    }

    fn receive(&mut self, receive: Receive) -> Result<u64, &'static str> {
        match self.apply(Command::Receive(receive)) {
            Ok(Reply::Received(reply)) => Ok(reply.sequence),
            Err(error) => Err(error.code()),
            other => panic!("{other:?}"),
        }
    }

    fn conclude(&mut self, conclude: Conclude) -> Result<ConclusionReply, &'static str> {
        match self.apply(Command::Conclude(Box::new(conclude))) {
            Ok(Reply::Concluded(reply)) => Ok(reply),
            Err(error) => Err(error.code()),
            other => panic!("{other:?}"),
        }
    }

    fn observe(&mut self, id: &str) -> (bool, Option<String>) {
        match self.apply(Command::Observe(observation(id, true))) {
            Ok(Reply::Observed(reply)) => (reply.late_approval, reply.incident),
            other => panic!("{other:?}"),
        }
    }

    fn report(&mut self, id: &str) -> Result<(), &'static str> {
        let report = Command::RecordOutcome(Box::new(outcome(id, true)));
        self.apply(report).map(|_| ()).map_err(|error| error.code())
    }

    fn lifecycle(&self, id: &str) -> LifecycleView {
        self.kernel.at(self.now).proposal(id).unwrap().lifecycle.unwrap()
    }

    fn state(&self, id: &str) -> State {
        self.kernel.at(self.now).proposal(id).unwrap().state
    }

    /// What the events from a number on are.
    fn kinds_from(&self, number: usize) -> Vec<&'static str> {
        self.events[number..].iter().map(|event| event.body.kind().as_str()).collect()
    }

    pub(crate) fn verify(&self, rules: Rules) -> Report {
        let verifier = Ed25519Verifier::new(self.signer.public()).unwrap();
        let expected = Expected { origin: ORIGIN, keys: &[&verifier], kept: None, rules };
        verify(expected, self.records.iter().map(Vec::as_slice), self.heads.iter().map(String::as_str))
    }

    /// Verified by the rules of its policy.
    fn status(&self) -> Status {
        let report = self.verify(self.kernel.policy().attest.rules());
        assert!(report.fault.is_none(), "{report:?}");
        assert_eq!(
            (report.records, report.root),
            (self.records.len() as u64, self.kernel.ledger().unwrap().head().root)
        );
        report.status
    }
}

/// A call that is held for what it is.
fn push(id: &str) -> Proposal {
    with_fact(command(id, Class::Deploy, "git push origin main"), FactKind::SharedBranch)
}

/// A call that is refused.
fn forbidden(id: &str) -> Proposal {
    with_fact(command(id, Class::Delete, "rm -rf /"), FactKind::CatastrophicTarget)
}

fn arguments(proposal: &Proposal) -> Digest {
    proposal.call.as_ref().map_or_else(|| proposal.content(), |call| call.digest)
}

fn receive(authorization: u64, proposal: &Proposal) -> Receive {
    Receive {
        authorization,
        actor: proposal.agent_id.clone(),
        arguments: arguments(proposal),
        receipt: Digest::of("receipt", b"exit 0"),
        started: None,
        claim: None,
    }
}

fn conclude(receipt: u64, id: &str) -> Conclude {
    Conclude { receipt, report: outcome(id, true), claim: None }
}

/// An observer's signature of an outcome.
fn signed(mut conclude: Conclude, log: &Log, observer: &dyn Signer) -> Conclude {
    let parent = log.events[conclude.receipt as usize].link().unwrap().leaf;
    let claim = Claim { kind: ClaimKind::Outcome, log: ORIGIN.into(), parent, content: conclude.report.digest() };
    conclude.claim = Some(claim.sign(observer).unwrap());
    conclude
}

#[test]
fn a_call_leaves_the_whole_chain() {
    let mut log = Log::of(REQUIRED);
    let call = edit("c1", "src/a");
    assert_eq!(log.propose(call.clone()), Decision::Execute);
    assert_eq!(log.lifecycle("c1").stage, Stage::Authorized);
    assert_eq!(log.status(), Status::Valid);
    assert_eq!(log.wait(SECOND).observe("c1"), (false, None));
    let chain = ["key", "proposal", "gate_verdict", "execution_authorization", "execution_receipt", "outcome"];
    assert_eq!(log.kinds_from(0), chain);
    let actors = log.events.iter().map(|event| event.actor.as_str()).collect::<Vec<_>>();
    assert_eq!(actors, ["gate", "claude", "gate", "claude", "claude", "host"]);
    let Body::Proposal { proposal, arguments: judged, policy } = &log.events[1].body else { panic!() };
    assert_eq!((*proposal, *judged), (call.content(), Some(arguments(&call))));
    assert_eq!(*policy, Some(log.kernel.policy_digest()));
    let Body::ExecutionAuthorization { expires, .. } = &log.events[3].body else { panic!() };
    assert_eq!(*expires, START + 10 * MINUTE);
    let view = log.lifecycle("c1");
    assert_eq!((view.stage, view.events.authorization, view.events.outcome), (Stage::Concluded, Some(3), Some(5)));
    assert_eq!(log.status(), Status::Valid);
}

#[test]
fn nobody_goes_by_the_names_of_the_gate_and_its_host() {
    let mut log = Log::of(OPTIONAL);
    assert_eq!(log.propose(push("held")), Decision::Hold);
    for name in ["gate", "host"] {
        let mut proposal = push("p");
        proposal.agent_id = name.into();
        let proposed = log.apply(Command::Propose(Box::new(proposal))).unwrap_err();
        let approve = Approve { by: name.into(), ..approve("held") };
        let approved = log.apply(Command::Approve(approve)).unwrap_err();
        let spent = log.apply(Command::Spend(Spend { agent_id: name.into(), cost: Cost::default() })).unwrap_err();
        for (error, field) in [(proposed, "agent_id"), (approved, "by"), (spent, "agent_id")] {
            assert_eq!(
                (error.code(), error.field().map(ToString::to_string)),
                ("value", Some(field.to_owned())),
                "{name}"
            );
        }
    }
}

#[test]
fn a_question_and_a_repeated_proposal_write_nothing() {
    let mut log = Log::of(OPTIONAL);
    log.kernel.at(START).witness(edit("c1", "src/a")).unwrap();
    assert_eq!(log.kernel.ledger().unwrap().size(), 1);
    log.propose(edit("c1", "src/a"));
    log.propose(edit("c1", "src/a"));
    assert_eq!(log.kernel.written(), []);
    log.observe("c1");
    let size = log.records.len();
    log.observe("c1");
    assert_eq!((log.kernel.written().len(), log.records.len()), (0, size));
}

#[test]
fn nothing_is_written_where_the_policy_attests_nothing() {
    let mut scene = Scene::standard();
    let begin = BeginLedger { origin: ORIGIN.into(), key: signer(ORIGIN, 1).public().clone() };
    let error = scene.kernel.begin_ledger(scene.now, &begin).unwrap_err();
    assert_eq!(error.code(), "attestation_disabled");
    scene.runs(edit("c1", "src/a"), true);
    assert_eq!((scene.kernel.written(), scene.kernel.ledger()), (&[][..], None));
    assert_eq!(scene.kernel.at(scene.now).proposal("c1").unwrap().lifecycle, None);
    let authorize = Authorize { proposal_id: "c1".into(), ttl_ms: None };
    assert_eq!(scene.kernel.authorize(scene.now, &authorize).unwrap_err().code(), "attestation_disabled");
}

#[test]
fn required_without_a_ledger_takes_nothing_and_names_the_command_that_helps() {
    let mut scene = Scene::policy(REQUIRED);
    let before = scene.kernel.digest();
    let at = scene.now;
    let errors = [
        scene.try_propose(edit("c1", "src/a")).unwrap_err(),
        scene.kernel.observe(at, &observation("c1", true)).unwrap_err(),
        scene.kernel.record_outcome(at, &outcome("c1", true)).unwrap_err(),
        scene.kernel.approve(at, &approve("c1")).unwrap_err(),
        scene.kernel.authorize(at, &Authorize { proposal_id: "c1".into(), ttl_ms: None }).unwrap_err(),
        scene.kernel.receive(at, &receive(1, &edit("c1", "src/a"))).unwrap_err(),
        scene.kernel.conclude(at, &conclude(1, "c1")).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.code(), "attestation_key_missing");
        assert!(error.to_string().contains("stigmergate keys new"));
    }
    assert_eq!(scene.kernel.digest(), before);
}

#[test]
fn a_ledger_is_begun_once() {
    let mut log = Log::of(OPTIONAL);
    let again = BeginLedger { origin: "example.com/other".into(), key: signer(ORIGIN, 2).public().clone() };
    assert_eq!(log.apply(Command::BeginLedger(again)).unwrap_err().code(), "ledger_begun");
    let status = log.kernel.at(START).status().ledger.unwrap();
    assert_eq!((status.origin.as_str(), status.size, status.incomplete), (ORIGIN, 1, 0));
}

#[test]
fn a_retry_that_uses_an_approval_is_authorized_by_it_once() {
    let mut log = Log::of(REQUIRED);
    assert_eq!(log.propose(push("c1")), Decision::Hold);
    log.apply(Command::Approve(approve("c1"))).unwrap();
    assert_eq!(log.lifecycle("c1").stage, Stage::Approved);
    assert_eq!(log.wait(MINUTE).propose(push("c2")), Decision::Execute);
    let view = log.lifecycle("c2");
    assert_eq!(view.events.approval, log.lifecycle("c1").events.approval);
    let authorization = &log.events[view.events.authorization.unwrap() as usize];
    assert_eq!(authorization.body.parent().map(|parent| parent.sequence), view.events.approval);
    // Neither the retry's own verdict nor the approval gives leave again.
    assert_eq!(log.authorize("c2"), Err("consumed"));
    assert_eq!(log.authorize("c1"), Err("wrong_state"));
    assert_eq!(log.propose(push("c3")), Decision::Hold);
    log.observe("c2");
    assert_eq!(log.authorize("c2"), Err("wrong_state"));
    // The HOLD itself had no leave left.
    assert_eq!(log.observe("c1"), (false, Some("used".into())));
    assert_eq!(log.status(), Status::Valid);
}

#[test]
fn an_approval_that_was_authorized_is_of_no_use_to_a_retry() {
    let mut log = Log::of(REQUIRED);
    log.propose(push("c1"));
    assert_eq!(log.authorize("c1"), Err("wrong_state"));
    log.apply(Command::Approve(approve("c1"))).unwrap();
    let authorization = log.authorize("c1").unwrap();
    assert_eq!(log.authorize("c1"), Err("consumed"));
    assert_eq!(log.propose(push("c2")), Decision::Hold);
    let receipt = log.receive(receive(authorization, &push("c1"))).unwrap();
    assert_eq!(log.status(), Status::IncompleteExecution);
    log.conclude(conclude(receipt, "c1")).unwrap();
    assert_eq!((log.lifecycle("c1").stage, log.status()), (Stage::Concluded, Status::Valid));
}

#[test]
fn a_proposal_in_words_is_authorized_on_request() {
    let mut log = Log::of(REQUIRED);
    let words = plan("p1", path("src/a"));
    assert_eq!(log.propose(words.clone()), Decision::Execute);
    assert_eq!(log.lifecycle("p1").stage, Stage::Judged);
    let authorize = Authorize { proposal_id: "p1".into(), ttl_ms: Some(5 * SECOND) };
    let Ok(Reply::Authorized(reply)) = log.apply(Command::Authorize(authorize)) else { panic!() };
    assert_eq!((reply.actor.as_str(), reply.arguments), ("ag-1", words.content()));
    assert_eq!(reply.expires, START + 5 * SECOND);
    let receipt = log.receive(receive(reply.sequence, &words)).unwrap();
    let reply = log.conclude(conclude(receipt, "p1")).unwrap();
    assert_eq!((reply.outcome.agent_id.as_str(), reply.signer), ("ag-1", None));
    assert_eq!((log.state("p1"), log.status()), (State::Settled, Status::Valid));
}

#[test]
fn required_accepts_the_linked_outcome_alone() {
    let mut log = Log::of(REQUIRED);
    let call = edit("c1", "src/a");
    log.propose(call.clone());
    assert_eq!(log.report("c1"), Err("attestation_required"));
    let whole = Conclude { report: outcome("c1", true), ..conclude(99, "c1") };
    assert_eq!(log.conclude(whole).unwrap_err(), "missing_parent");
    // An authorization is no receipt.
    assert_eq!(log.conclude(conclude(3, "c1")).unwrap_err(), "unauthorized_link");
    let receipt = log.receive(receive(3, &call)).unwrap();
    assert_eq!(log.report("c1"), Err("attestation_required"));
    log.conclude(conclude(receipt, "c1")).unwrap();
    assert_eq!(log.status(), Status::Valid);
}

#[test]
fn optional_takes_ordinary_outcomes_and_links_them_where_there_is_a_receipt() {
    let mut log = Log::of(OPTIONAL);
    log.propose(edit("c1", "src/a"));
    log.report("c1").unwrap();
    assert_eq!((log.kernel.written().len(), log.lifecycle("c1").stage), (0, Stage::Authorized));
    log.propose(edit("c2", "src/b"));
    let authorization = log.lifecycle("c2").events.authorization.unwrap();
    log.receive(receive(authorization, &edit("c2", "src/b"))).unwrap();
    log.report("c2").unwrap();
    assert_eq!((log.lifecycle("c2").stage, log.status()), (Stage::Concluded, Status::Valid));
}

#[test]
fn a_receipt_is_taken_once_in_time_from_the_agent_and_for_what_was_judged() {
    let mut log = Log::of(REQUIRED);
    let call = edit("c1", "src/a");
    log.propose(call.clone());
    let good = receive(3, &call);
    let refused = [
        (Receive { actor: "claude/helper".into(), ..good.clone() }, "wrong_actor"),
        (Receive { arguments: Digest::of("call", b"rm"), ..good.clone() }, "wrong_digest"),
        (Receive { authorization: 2, ..good.clone() }, "consumed"),
        (Receive { authorization: 7, ..good.clone() }, "missing_parent"),
        (Receive { started: Some(START - 1), ..good.clone() }, "unauthorized_link"),
        (Receive { started: Some(START + 1), ..good.clone() }, "unauthorized_link"),
        (Receive { actor: " ".into(), ..good.clone() }, "value"),
    ];
    for (receive, code) in refused {
        assert_eq!(log.receive(receive.clone()), Err(code), "{receive:?}");
    }
    log.wait(11 * MINUTE);
    assert_eq!(log.receive(Receive { started: Some(log.now), ..good.clone() }), Err("expired"));
    log.receive(Receive { started: Some(START + 9 * MINUTE), ..good.clone() }).unwrap();
    assert_eq!(log.receive(good), Err("consumed"));
}

#[test]
fn an_outcome_is_taken_once_and_for_its_own_receipt() {
    let mut log = Log::of(REQUIRED);
    let (one, other) = (edit("c1", "src/a"), Proposal { agent_id: "codex".into(), ..edit("c2", "src/a") });
    let again = Proposal { proposal_id: "c3".into(), ..one.clone() };
    let mut receipts = Vec::new();
    for call in [&one, &other, &again] {
        log.propose(call.clone());
        let authorization = log.lifecycle(&call.proposal_id).events.authorization.unwrap();
        receipts.push(log.receive(receive(authorization, call)).unwrap());
    }
    assert_eq!(log.conclude(conclude(receipts[1], "c1")).unwrap_err(), "wrong_actor");
    // The same agent and the same call, yet another execution.
    assert_eq!(log.conclude(conclude(receipts[2], "c1")).unwrap_err(), "unauthorized_link");
    log.conclude(conclude(receipts[0], "c1")).unwrap();
    assert_eq!(log.conclude(conclude(receipts[0], "c1")).unwrap_err(), "wrong_state");
    assert_eq!(log.conclude(conclude(receipts[0], "c3")).unwrap_err(), "consumed");
    let mut unknown = conclude(receipts[1], "c9");
    assert_eq!(log.conclude(unknown.clone()).unwrap_err(), "unknown_proposal");
    unknown.report.proposal = Subject::Proposal(Box::new(Proposal { proposal_id: "c9".into(), ..other.clone() }));
    assert_eq!(log.conclude(unknown).unwrap_err(), "unauthorized_link");
    log.conclude(conclude(receipts[1], "c2")).unwrap();
}

#[test]
fn an_outcome_that_comes_when_its_proposal_is_forgotten_brings_it_along() {
    let mut log = Log::of(r#"{"attest": {"mode": "required"}, "bounds": {"proposals": 1}}"#);
    let call = edit("c1", "src/a");
    log.propose(call.clone());
    let receipt = log.receive(receive(3, &call)).unwrap();
    log.propose(edit("c2", "src/a"));
    assert_eq!(log.conclude(conclude(receipt, "c1")).unwrap_err(), "unknown_proposal");
    assert_eq!(log.conclude(conclude(receipt, "c2")).unwrap_err(), "unauthorized_link");
    let mut late = conclude(receipt, "c1");
    late.report.proposal = Subject::Proposal(Box::new(edit("c1", "src/b")));
    assert_eq!(log.conclude(late.clone()).unwrap_err(), "wrong_digest");
    late.report.proposal = Subject::Proposal(Box::new(call));
    log.conclude(late).unwrap();
    assert_eq!(log.status(), Status::Valid);
}

#[test]
fn what_a_host_ran_after_asking_the_person_itself_is_approved_late_where_that_is_allowed() {
    for (policy, allowed) in [(OPTIONAL, true), (REQUIRED_LATE, true), (REQUIRED, false)] {
        let mut log = Log::of(policy);
        assert_eq!(log.propose(push("c1")), Decision::Hold);
        let seen = log.wait(MINUTE).observe("c1");
        if allowed {
            assert_eq!(seen, (true, None));
            let chain = ["approval", "execution_authorization", "execution_receipt", "outcome"];
            assert_eq!(log.kinds_from(3), chain);
            assert_eq!((log.lifecycle("c1").stage, log.state("c1")), (Stage::Concluded, State::Settled));
        } else {
            assert_eq!(seen, (false, Some("held".into())));
            assert_eq!(log.kinds_from(3), ["error"]);
            assert_eq!((log.lifecycle("c1").stage, log.state("c1")), (Stage::Incident, State::Unanswered));
            assert!(log.kernel.at(log.now).waiting().is_empty());
        }
        assert_eq!(log.status(), Status::Valid);
    }
}

#[test]
fn a_hold_that_nobody_answered_is_rejected_and_may_still_turn_out_to_be_approved_late() {
    let mut log = Log::of(OPTIONAL);
    log.propose(push("c1"));
    log.wait(11 * MINUTE).apply(Command::Advance).unwrap();
    assert_eq!((log.kinds_from(3), log.lifecycle("c1").stage), (vec!["rejection"], Stage::Rejected));
    let Body::Rejection { approver, .. } = &log.events[3].body else { panic!() };
    assert_eq!(*approver, None);
    assert_eq!(log.apply(Command::Approve(approve("c1"))).unwrap_err().code(), "wrong_state");
    assert_eq!(log.authorize("c1"), Err("wrong_state"));
    assert_eq!(log.observe("c1"), (true, None));
    assert_eq!((log.lifecycle("c1").stage, log.status()), (Stage::Concluded, Status::Valid));
    let mut log = Log::of(REQUIRED);
    log.propose(push("c1"));
    assert_eq!(log.wait(11 * MINUTE).observe("c1"), (false, Some("held".into())));
    assert_eq!(log.kinds_from(3), ["error", "rejection"]);
    assert_eq!(log.status(), Status::Valid);
}

#[test]
fn what_was_refused_or_denied_and_ran_is_an_error_never_an_approval() {
    for policy in [OPTIONAL, REQUIRED_LATE, REQUIRED] {
        let mut log = Log::of(policy);
        assert_eq!(log.propose(forbidden("c1")), Decision::Refuse);
        assert_eq!(log.observe("c1"), (false, Some("refused".into())));
        log.propose(push("c2"));
        log.apply(Command::Deny(deny("c2"))).unwrap();
        assert_eq!(log.lifecycle("c2").stage, Stage::Rejected);
        assert_eq!(log.observe("c2"), (false, Some("denied".into())));
        let chain = ["proposal", "gate_verdict", "error", "proposal", "gate_verdict", "rejection", "error"];
        assert_eq!(log.kinds_from(1), chain);
        assert_eq!(log.events[3].body.parent().map(|parent| parent.sequence), Some(2));
        assert_eq!(log.lifecycle("c1").stage, Stage::Incident);
        assert_eq!(log.status(), Status::Valid);
    }
}

#[test]
fn an_approved_call_that_ran_without_asking_again_needs_late_leave() {
    for (policy, incident) in [(OPTIONAL, None), (REQUIRED, Some("approved".to_string()))] {
        let mut log = Log::of(policy);
        log.propose(push("c1"));
        log.apply(Command::Approve(approve("c1"))).unwrap();
        assert_eq!(log.observe("c1"), (false, incident.clone()));
        // Whether or not: the approval is used up.
        assert_eq!(log.propose(push("c2")), Decision::Hold);
        assert_eq!(log.status(), Status::Valid);
        // An approval that is over gives no leave, late or not.
        log.apply(Command::Approve(approve("c2"))).unwrap();
        log.wait(11 * MINUTE);
        assert_eq!(log.authorize("c2"), Err("wrong_state"));
        assert_eq!(log.observe("c2").1.as_deref(), Some("approved"));
        assert_eq!(log.status(), Status::Valid);
    }
}

#[test]
fn in_strict_an_outcome_needs_an_observer_with_another_key_than_the_executors() {
    let (observer, stranger) = (signer("observer", 2), signer("stranger", 3));
    let mut log = Log::strict(&observer);
    let call = edit("c1", "src/a");
    assert_eq!(log.propose(call.clone()), Decision::Execute);
    // What a host sees is a receipt; the outcome is an observer's to say.
    assert_eq!(log.observe("c1"), (false, None));
    assert_eq!((log.lifecycle("c1").stage, log.status()), (Stage::Executed, Status::IncompleteExecution));
    let receipt = log.lifecycle("c1").events.receipt.unwrap();
    let plain = conclude(receipt, "c1");
    assert_eq!(log.report("c1"), Err("attestation_required"));
    assert_eq!(log.conclude(plain.clone()).unwrap_err(), "observer_missing");
    let own = signed(plain.clone(), &log, &signer(ORIGIN, 1));
    assert_eq!(log.conclude(own).unwrap_err(), "observer_is_executor");
    let forged = signed(plain.clone(), &log, &stranger);
    assert_eq!(log.conclude(forged).unwrap_err(), "bad_signature");
    let mut changed = signed(plain.clone(), &log, &observer);
    changed.report.tests_passed = false;
    assert_eq!(log.conclude(changed).unwrap_err(), "wrong_digest");
    let mut nonsense = plain.clone();
    nonsense.claim = Some("{}".into());
    assert_eq!(log.conclude(nonsense).unwrap_err(), "malformed");
    let reply = log.conclude(signed(plain, &log, &observer)).unwrap();
    assert_eq!(reply.signer, Some(observer.public().fingerprint()));
    assert_eq!(log.events.last().unwrap().actor, "observer");
    assert_eq!((log.lifecycle("c1").stage, log.status()), (Stage::Concluded, Status::Valid));
}

#[test]
fn in_strict_an_observers_word_is_for_one_receipt_alone() {
    let observer = signer("observer", 2);
    let mut log = Log::strict(&observer);
    for id in ["c1", "c2"] {
        log.propose(edit(id, "src/a"));
        log.observe(id);
    }
    let [one, two] = ["c1", "c2"].map(|id| log.lifecycle(id).events.receipt.unwrap());
    let first = signed(conclude(one, "c1"), &log, &observer);
    let mut moved = first.clone();
    (moved.receipt, moved.report.proposal) = (two, Subject::Id("c2".into()));
    assert_eq!(log.conclude(moved).unwrap_err(), "unauthorized_link");
    log.conclude(first.clone()).unwrap();
    assert_eq!(log.conclude(first).unwrap_err(), "wrong_state");
}

#[test]
fn an_executor_signs_its_receipt_with_a_key_that_the_policy_names() {
    let executor = signer("runner", 2);
    let mut log = Log::strict(&executor);
    let call = edit("c1", "src/a");
    log.propose(call.clone());
    let parent = log.events[3].link().unwrap().leaf;
    let mut received = receive(3, &call);
    let claim = Claim { kind: ClaimKind::Receipt, log: ORIGIN.into(), parent, content: received.receipt };
    received.claim = Some(claim.sign(&signer("stranger", 3)).unwrap());
    assert_eq!(log.receive(received.clone()), Err("bad_signature"));
    received.claim = Some(Claim { parent: call.content(), ..claim.clone() }.sign(&executor).unwrap());
    assert_eq!(log.receive(received.clone()), Err("unauthorized_link"));
    received.claim = Some(claim.sign(&executor).unwrap());
    let receipt = log.receive(received).unwrap();
    // Its key is the executor's from here on; the log's own may observe.
    let own = signed(conclude(receipt, "c1"), &log, &executor);
    assert_eq!(log.conclude(own).unwrap_err(), "observer_is_executor");
    log.conclude(signed(conclude(receipt, "c1"), &log, &signer(ORIGIN, 1))).unwrap();
    assert_eq!(log.status(), Status::Valid);
}

#[test]
fn as_many_calls_as_may_run_at_once_are_let_run_and_one_more_changes_nothing() {
    let mut kernel = Log::of(OPTIONAL).kernel;
    let call = |number: usize| edit(&format!("c{number}"), "src/a");
    for number in 0..OPEN {
        kernel.propose(START, call(number)).unwrap();
    }
    let (before, written) = (kernel.digest(), kernel.written().to_vec());
    assert_eq!(kernel.propose(START, call(OPEN)).unwrap_err().code(), "full");
    assert_eq!((kernel.digest(), kernel.written()), (before, &written[..]));
    // What has run, or may no longer be started, makes room.
    kernel.observe(START, &observation("c0", true)).unwrap();
    kernel.propose(START, call(OPEN)).unwrap();
    kernel.propose(START + 11 * MINUTE, call(OPEN + 1)).unwrap();
}

#[test]
fn a_key_is_rotated_by_the_one_before_it_at_the_time_that_it_signed_for() {
    let mut log = Log::of(OPTIONAL);
    log.propose(push("c1"));
    // A HOLD ends in the same command.
    log.wait(11 * MINUTE);
    let new = signer(ORIGIN, 2);
    let message = log.kernel.at(log.now).rotation_message(new.public()).unwrap();
    let rotate = |signature| Command::RotateKey(RotateKey { key: new.public().clone(), endorsement: signature });
    let forged = rotate(new.sign(&message).unwrap());
    assert_eq!(log.apply(forged).unwrap_err().code(), "bad_signature");
    let signed = rotate(log.signer.sign(&message).unwrap());
    let json = serde_json::to_string(&signed).unwrap();
    assert_eq!(serde_json::from_str::<Command>(&json).unwrap(), signed);
    let later = log.now + 1;
    assert_eq!(log.kernel.apply(later, signed.clone()).unwrap_err().code(), "bad_signature");
    let old = std::mem::replace(&mut log.signer, signer(ORIGIN, 2));
    let Ok(Reply::KeyRotated(reply)) = log.apply(signed.clone()) else { panic!() };
    assert_eq!((reply.sequence, &reply.key), (3, new.public()));
    assert_eq!(log.kinds_from(3), ["key", "rejection"]);
    assert_eq!(log.kernel.ledger().unwrap().sign_head(&old).unwrap_err().code(), "bad_signature");
    assert_eq!(log.apply(signed).unwrap_err().field().unwrap().as_str(), "key");
    log.propose(edit("c2", "src/a"));
    log.observe("c2");
    assert_eq!(log.status(), Status::Valid);
}

#[test]
fn a_ledger_of_an_hmac_key_is_begun_and_not_rotated() {
    let key = HmacKey::from_bytes(ORIGIN, &[7; 32]).unwrap();
    let mut kernel = Kernel::new(Policy::from_json(OPTIONAL).unwrap()).unwrap();
    let begin = BeginLedger { origin: ORIGIN.into(), key: Signer::public(&key).clone() };
    kernel.begin_ledger(START, &begin).unwrap();
    kernel.ledger().unwrap().sign_head(&key).unwrap();
    let new = signer(ORIGIN, 2).public().clone();
    let message = kernel.at(START).rotation_message(&new).unwrap();
    let rotate = RotateKey { key: new, endorsement: key.sign(&message).unwrap() };
    assert_eq!(kernel.rotate_key(START, &rotate).unwrap_err().code(), "bad_signature");
}

#[test]
fn time_that_goes_back_counts_as_the_last() {
    let mut log = Log::of(REQUIRED);
    log.wait(HOUR).propose(edit("c1", "src/a"));
    log.now -= 30 * MINUTE;
    log.propose(edit("c2", "src/b"));
    log.observe("c1");
    log.observe("c2");
    assert!(log.events.is_sorted_by_key(|event| event.at));
    assert_eq!(log.status(), Status::Valid);
    // Nor is there a time that a record could not hold.
    log.now = u64::MAX;
    log.propose(edit("c3", "src/c"));
    assert_eq!(log.status(), Status::Valid);
}

#[test]
fn a_policy_changes_the_ledgers_mode() {
    let mut log = Log::of(OPTIONAL);
    log.propose(push("c1"));
    let set = |json| Command::SetPolicy(Box::new(Policy::from_json(json).unwrap()));
    log.apply(set(REQUIRED)).unwrap();
    assert_eq!(log.kernel.ledger().unwrap().mode(), AttestMode::Required);
    assert_eq!(log.observe("c1"), (false, Some("held".into())));
    log.apply(set("{}")).unwrap();
    let size = log.records.len();
    log.propose(push("c2"));
    log.propose(edit("c3", "src/a"));
    assert_eq!((log.observe("c3"), log.records.len()), ((false, None), size));
    log.apply(set(REQUIRED)).unwrap();
    // What was judged meanwhile is not on the ledger.
    assert_eq!(log.apply(Command::Approve(approve("c2"))).unwrap_err().code(), "wrong_state");
    assert_eq!(log.observe("c2"), (false, Some("held".into())));
    assert_eq!((log.kinds_from(size), log.events[size].body.parent()), (vec!["error"], None));
    assert_eq!(log.status(), Status::Valid);
}

#[test]
fn a_policy_names_keys_that_verify() {
    let error = |keys: &str| {
        let json = format!(r#"{{"attest": {{"mode": "required", "keys": [{keys}]}}}}"#);
        Policy::from_json(&json).unwrap_err().field().unwrap().as_str().to_string()
    };
    let hmac = HmacKey::from_bytes(ORIGIN, &[7; 32]).unwrap();
    assert_eq!(error(r#""a+b+c""#), "attest.keys");
    for name in ["gate", "host"] {
        assert_eq!(error(&format!("{:?}", signer(name, 2).public().verifier_key())), "attest.keys.0", "{name}");
    }
    assert_eq!(error(&format!("{:?}", Signer::public(&hmac).verifier_key())), "attest.keys.0");
    let key = signer("observer", 2).public().verifier_key();
    let json = format!(r#"{{"attest": {{"mode": "optional", "late": true, "keys": [{key:?}]}}}}"#);
    let policy = Policy::from_json(&json).unwrap();
    assert_eq!(Policy::from_json(&policy.to_json()).unwrap(), policy);
    let bytes = postcard::to_allocvec(&policy).unwrap();
    assert_eq!(postcard::from_bytes::<Policy>(&bytes).unwrap(), policy);
}

#[test]
fn two_agents_have_a_lifecycle_each() {
    let mut log = Log::of(REQUIRED);
    let (main, helper) = (edit("c1", "src/a"), Proposal { agent_id: "claude/helper".into(), ..edit("c2", "src/a") });
    log.propose(main.clone());
    log.propose(helper.clone());
    let [first, second] = ["c1", "c2"].map(|id| log.lifecycle(id).events.authorization.unwrap());
    assert_eq!(log.receive(receive(second, &main)), Err("wrong_actor"));
    assert_eq!(log.receive(receive(first, &helper)), Err("wrong_actor"));
    log.observe("c2");
    log.observe("c1");
    let executors = log.events.iter().filter(|event| event.body.kind() == Kind::ExecutionReceipt);
    assert_eq!(executors.map(|event| event.actor.as_str()).collect::<Vec<_>>(), ["claude/helper", "claude"]);
    assert_eq!(log.status(), Status::Valid);
}

#[test]
fn strict_works_from_the_first_proposal_to_the_last_outcome() {
    let mut log = Log::begin(Policy::preset(Preset::Strict));
    // A new agent may look; what it writes is held.
    assert_eq!(log.propose(command("c1", Class::Read, "ls")), Decision::Execute);
    assert_eq!(log.propose(edit("c2", "src/a")), Decision::Hold);
    log.apply(Command::Approve(approve("c2"))).unwrap();
    assert_eq!(log.propose(edit("c3", "src/a")), Decision::Execute);
    assert_eq!(log.observe("c3"), (false, None));
    assert_eq!(log.status(), Status::IncompleteExecution);
}

#[test]
fn a_snapshot_of_another_ledger_state_is_another_digest_and_a_restored_one_goes_on() {
    let mut log = Log::of(REQUIRED);
    log.propose(edit("c1", "src/a"));
    let snapshot = log.kernel.snapshot();
    let mut restored = Kernel::restore(&snapshot).unwrap();
    assert_eq!(restored.digest(), log.kernel.digest());
    assert!(Kernel::restore(&snapshot[..snapshot.len() - 1]).is_err());
    let received = receive(3, &edit("c1", "src/a"));
    let reply = restored.receive(log.now, &received).unwrap();
    assert_eq!((reply.sequence, reply.proposal_id.as_deref()), (4, Some("c1")));
    let written = restored.written().to_vec();
    assert_ne!(restored.digest(), log.kernel.digest());
    log.receive(received).unwrap();
    assert_eq!((restored.digest(), written), (log.kernel.digest(), log.kernel.written().to_vec()));
}
