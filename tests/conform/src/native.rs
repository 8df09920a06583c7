//! The Rust crate itself.

use crate::rows::Surface;
use serde_json::{Map, Value, json};
use stigmergate_core::budget::{Answer, Cost, Dimension};
use stigmergate_core::facts::Class;
use stigmergate_core::falsify::{Asks, Cause, Finding, Plan, Severity, Texts, Vector, falsify};
use stigmergate_core::field::Channels;
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Missing, Question, assess};
use stigmergate_core::kernel::{Command, Kernel};
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_core::trust::infer_role;

pub(crate) struct Native;

/// Vectors say nothing of the caller's time; preset `reference` needs none.
const NO_TIME: u64 = 0;

impl Surface for Native {
    type Kernel = Kernel;

    fn falsify(&self, plan: &Value) -> Result<Value, String> {
        let texts = |key: &str| plan.get(key).map(|value| read::<Texts>(key, value)).transpose();
        let (tests, metrics, dependencies) = (texts("tests")?, texts("metrics")?, texts("dependencies")?);
        let given = |key: &str| plan.get(key).and_then(Value::as_str);
        let plan = Plan {
            agent_id: given("agent_id").unwrap_or_default(),
            target: given("target").unwrap_or_default(),
            action_type: given("action_type").unwrap_or_default(),
            rationale: given("rationale").unwrap_or_default(),
            rollback_plan: given("rollback_plan"),
            expected_outcome: given("expected_outcome"),
            tests: tests.as_ref(),
            metrics: metrics.as_ref(),
            dependencies: dependencies.as_ref(),
            scope: given("scope"),
            maintenance_plan: given("maintenance_plan"),
            owner: given("owner"),
            ownership: given("ownership"),
            deprecation_plan: given("deprecation_plan"),
            runbook: given("runbook"),
            imports: None,
        };
        let report = falsify(&plan, &Policy::preset(Preset::Reference).falsify, Asks::ALL);
        let findings: Vec<Value> = report.findings.iter().map(|one| json!([one.vector, one.severity])).collect();
        Ok(json!({"findings": findings, "verdict": report.verdict}))
    }

    fn gate(&self, input: &Map<String, Value>) -> Result<Value, String> {
        let policy = Policy::preset(Preset::Reference);
        let budget = Answer { approved: flag(input, "budget_approved")?, violation: None };
        let severity: Option<Severity> = read("finding", input.get("finding").unwrap_or(&Value::Null))?;
        let finding = severity.map(|severity| Finding {
            vector: Vector::SecurityRisk,
            severity,
            cause: Cause::SensitiveUnreviewed,
            detail: None,
        });
        let findings: Vec<Finding> = finding.into_iter().collect();
        let assessment = assess(
            &Question {
                budget: &budget,
                standalone: flag(input, "standalone")?,
                role: read("role", input.get("role").unwrap_or(&Value::Null))?,
                trust: number(input, "trust")?,
                recent_failures: read("recent_failures", input.get("recent_failures").unwrap_or(&Value::Null))?,
                channels: Channels { risk: number(input, "risk")?, failure: number(input, "failure")? },
                hazard_at: "",
                findings: &findings,
                excused: &[],
                missing: Missing {
                    rollback_plan: !flag(input, "has_rollback_plan")?,
                    evidence: !flag(input, "has_evidence")?,
                    expected_outcome: !flag(input, "has_expected_outcome")?,
                },
                class: Class::Execute,
                weighed: true,
                denied: None,
                asked: None,
                allowed: None,
            },
            &policy,
        );
        Ok(json!({
            "decision": assessment.decision,
            "score": assessment.score,
            "severity": assessment.severity,
            "budget_approved": budget.approved,
        }))
    }

    fn role(&self, trust: &Value, proposals: u64) -> Result<String, String> {
        Ok(infer_role(read("trust", trust)?, proposals, &Policy::preset(Preset::Reference).roles).as_str().to_string())
    }

    fn kernel(&self, policy: &Value) -> Result<Kernel, String> {
        let policy = Policy::from_json(&policy.to_string()).map_err(|error| error.to_string())?;
        Kernel::new(policy).map_err(|error| error.to_string())
    }

    fn apply(&self, kernel: &mut Kernel, command: &Value) -> Result<Value, String> {
        let command: Command = read("command", command)?;
        let reply = kernel.apply(NO_TIME, command).map_err(|error| error.to_string())?;
        serde_json::to_value(reply).map_err(|error| error.to_string())
    }

    fn field(&self, kernel: &Kernel) -> Value {
        let traces = kernel.at(NO_TIME).traces();
        traces
            .into_iter()
            .map(|trace| (format!("{}:{}", trace.location, trace.signal.as_str()), json!(trace.strength)))
            .collect::<Map<_, _>>()
            .into()
    }

    fn usage(&self, kernel: &Kernel) -> Value {
        let used: Cost = kernel.at(NO_TIME).budget().0.used;
        Dimension::ALL
            .into_iter()
            .map(|dimension| (dimension.as_str().to_string(), json!(used.get(dimension))))
            .collect::<Map<_, _>>()
            .into()
    }

    fn digest(&self, kernel: &Kernel) -> String {
        kernel.digest().to_string()
    }
}

fn read<T: serde::de::DeserializeOwned>(field: &str, value: &Value) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|error| format!("{field}: {error}"))
}

fn flag(input: &Map<String, Value>, key: &str) -> Result<bool, String> {
    input.get(key).and_then(Value::as_bool).ok_or_else(|| format!("{key}: true or false"))
}

fn number(input: &Map<String, Value>, key: &str) -> Result<Fixed, String> {
    read(key, input.get(key).unwrap_or(&Value::Null))
}
