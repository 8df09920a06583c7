//! The published gate (SPEC 5) here, in cedar-policy and in regorus: first that all three decide every vector alike, then how long
//! one decision takes in each, from values that are prepared and from JSON text. Prints the ratios.
//!
//! cedar-policy answers Allow or Deny, so that three answers take it two questions; what is timed is the first, whether the act may
//! execute, which favours it.

use cedar_policy::{Authorizer, Context, Decision as CedarDecision, Entities, EntityUid, PolicySet, Request};
use regorus::{CompiledPolicy, Engine};
use serde_json::{Value, json};
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};
use stigmergate_core::budget::Answer;
use stigmergate_core::facts::Class;
use stigmergate_core::falsify::{Cause, Finding, Severity, Vector};
use stigmergate_core::field::Channels;
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Decision, Missing, Question, assess};
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_core::trust::Role;

type Failure = Box<dyn Error>;

/// What is decided about, as the vectors say it.
#[derive(Clone, Debug)]
struct Case {
    budget: bool,
    standalone: bool,
    role: Role,
    trust: Fixed,
    recent_failures: u32,
    channels: Channels,
    finding: Option<Severity>,
    missing: Missing,
}

impl Case {
    fn read(row: &Value) -> Result<Self, Failure> {
        let read = |name: &str| row.get(name).cloned().unwrap_or(Value::Null);
        let flag = |name: &str| row.get(name).and_then(Value::as_bool).ok_or_else(|| format!("no flag {name}"));
        let number = |name: &str| serde_json::from_value::<Fixed>(read(name));
        Ok(Self {
            budget: flag("budget_approved")?,
            standalone: flag("standalone")?,
            role: serde_json::from_value(read("role"))?,
            trust: number("trust")?,
            recent_failures: serde_json::from_value(read("recent_failures"))?,
            channels: Channels { risk: number("risk")?, failure: number("failure")? },
            finding: serde_json::from_value(read("finding"))?,
            missing: Missing {
                rollback_plan: !flag("has_rollback_plan")?,
                evidence: !flag("has_evidence")?,
                expected_outcome: !flag("has_expected_outcome")?,
            },
        })
    }

    /// The numbers that the peers' policies read: whole billionths.
    fn context(&self) -> Value {
        let missing = [self.missing.rollback_plan, self.missing.evidence, self.missing.expected_outcome];
        json!({
            "budget": self.budget,
            "standalone": self.standalone,
            "sandbox": self.role == Role::Sandbox,
            "trust": self.trust.units(),
            "recent_failures": self.recent_failures,
            "hazard": self.channels.hazard().units(),
            "critical": self.finding == Some(Severity::Critical),
            "missing": missing.into_iter().filter(|missing| *missing).count(),
        })
    }

    fn judge(&self, policy: &Policy) -> Decision {
        let budget = Answer { approved: self.budget, violation: None };
        let finding = self.finding.map(|severity| Finding {
            vector: Vector::SecurityRisk,
            severity,
            cause: Cause::SensitiveUnreviewed,
            detail: None,
        });
        let question = Question {
            budget: &budget,
            standalone: self.standalone,
            role: self.role,
            trust: self.trust,
            recent_failures: self.recent_failures,
            channels: self.channels,
            hazard_at: "",
            findings: finding.as_slice(),
            excused: &[],
            missing: self.missing,
            class: Class::Execute,
            weighed: true,
            denied: None,
            asked: None,
            allowed: None,
        };
        assess(&question, policy).decision
    }
}

struct Cedar {
    authorizer: Authorizer,
    policies: PolicySet,
    entities: Entities,
    agent: EntityUid,
    place: EntityUid,
    execute: EntityUid,
    hold: EntityUid,
}

impl Cedar {
    fn new() -> Result<Self, Failure> {
        Ok(Self {
            authorizer: Authorizer::new(),
            policies: include_str!("gate.cedar").parse()?,
            entities: Entities::empty(),
            agent: r#"Agent::"a""#.parse()?,
            place: r#"Place::"core.parser""#.parse()?,
            execute: r#"Action::"execute""#.parse()?,
            hold: r#"Action::"hold""#.parse()?,
        })
    }

    fn request(&self, action: &EntityUid, context: Context) -> Result<Request, Failure> {
        Ok(Request::new(self.agent.clone(), action.clone(), self.place.clone(), context, None)?)
    }

    fn allows(&self, request: &Request) -> bool {
        self.authorizer.is_authorized(request, &self.policies, &self.entities).decision() == CedarDecision::Allow
    }

    fn judge(&self, context: &Value) -> Result<Decision, Failure> {
        let asked = |action| -> Result<bool, Failure> {
            Ok(self.allows(&self.request(action, Context::from_json_value(context.clone(), None)?)?))
        };
        Ok(if asked(&self.execute)? {
            Decision::Execute
        } else if asked(&self.hold)? {
            Decision::Hold
        } else {
            Decision::Refuse
        })
    }
}

fn regorus() -> Result<CompiledPolicy, Failure> {
    let mut engine = Engine::new();
    engine.add_policy("gate.rego".to_owned(), include_str!("gate.rego").to_owned())?;
    Ok(engine.compile_with_entrypoint(&"data.gate.decision".into())?)
}

fn by_regorus(policy: &CompiledPolicy, input: regorus::Value) -> Result<Decision, Failure> {
    let answer = policy.eval_with_input(input)?;
    Ok(serde_json::from_value(json!(answer.as_string()?.as_ref()))?)
}

/// The median over rounds of a thousand.
fn time(mut decide: impl FnMut()) -> Duration {
    const ROUNDS: usize = 101;
    const EACH: u32 = 1_000;
    let mut rounds: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            (0..EACH).for_each(|_| decide());
            started.elapsed() / EACH
        })
        .collect();
    rounds.sort_unstable();
    rounds[ROUNDS / 2]
}

fn main() -> Result<(), Failure> {
    let policy = Policy::preset(Preset::Reference);
    let (cedar, rego) = (Cedar::new()?, regorus()?);
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/gate.jsonl");
    let mut compared = 0;
    for line in std::fs::read_to_string(vectors)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        let expected: Decision = serde_json::from_value(row["expect"]["decision"].clone())?;
        let case = Case::read(&row)?;
        let context = case.context();
        let ours = case.judge(&policy);
        let (by_cedar, by_rego) = (cedar.judge(&context)?, by_regorus(&rego, regorus::Value::from(context))?);
        if [ours, by_cedar, by_rego] != [expected; 3] {
            return Err(
                format!("{expected:?}, {ours:?} here, {by_cedar:?} by cedar, {by_rego:?} by regorus: {row}").into()
            );
        }
        compared += 1;
    }
    println!("{compared} vectors: all three decide alike");

    let row = json!({
        "budget_approved": true, "standalone": false, "role": "dispatcher", "trust": 0.5, "recent_failures": 0, "risk": 0,
        "failure": 1.5, "finding": null, "has_rollback_plan": true, "has_evidence": true, "has_expected_outcome": true
    });
    let (text, case) = (row.to_string(), Case::read(&row)?);
    let context = case.context();
    let context_text = context.to_string();
    let request = cedar.request(&cedar.execute, Context::from_json_value(context.clone(), None)?)?;
    let input = regorus::Value::from(context);

    let prepared = [
        time(|| _ = black_box(black_box(&case).judge(&policy))),
        time(|| _ = black_box(cedar.allows(black_box(&request)))),
        time(|| _ = black_box(by_regorus(&rego, black_box(input.clone())))),
    ];
    let from_text = [
        time(|| {
            let row: Result<Value, _> = serde_json::from_str(black_box(&text));
            let _ = black_box(row.map(|row| Case::read(&row).map(|case| case.judge(&policy))));
        }),
        time(|| {
            let context = Context::from_json_str(black_box(&context_text), None);
            let request = context.map(|context| cedar.request(&cedar.execute, context));
            let _ = black_box(request.map(|request| request.map(|request| cedar.allows(&request))));
        }),
        time(|| {
            let input = regorus::Value::from_json_str(black_box(&context_text));
            let _ = black_box(input.map(|input| by_regorus(&rego, input)));
        }),
    ];
    for (name, times) in [("prepared", prepared), ("from JSON text", from_text)] {
        let [ours, by_cedar, by_rego] = times.map(|time| time.as_secs_f64() * 1e9);
        println!(
            "{name}: here {ours:.0} ns, cedar-policy {by_cedar:.0} ns ({:.1} x), regorus {by_rego:.0} ns ({:.1} x)",
            by_cedar / ours,
            by_rego / ours
        );
    }
    Ok(())
}
