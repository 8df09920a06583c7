//! The reference vectors: plans with the findings and the verdict of the original.

use alloc::string::String;
use alloc::vec::Vec;
use std::fs;

use serde::Deserialize;

use super::super::{Asks, Finding, Plan, ReportVerdict, Severity, Texts, Vector, falsify};
use crate::policy::falsify::Falsify;

#[derive(Deserialize)]
struct Line {
    findings: Vec<(Vector, Severity)>,
    plan: Fields,
    verdict: ReportVerdict,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    agent_id: String,
    target: String,
    action_type: String,
    rationale: String,
    rollback_plan: Option<String>,
    expected_outcome: Option<String>,
    tests: Option<Texts>,
    metrics: Option<Texts>,
    dependencies: Option<Texts>,
    scope: Option<String>,
    maintenance_plan: Option<String>,
    owner: Option<String>,
    ownership: Option<String>,
    deprecation_plan: Option<String>,
    runbook: Option<String>,
}

impl Fields {
    fn plan(&self) -> Plan<'_> {
        Plan {
            agent_id: &self.agent_id,
            target: &self.target,
            action_type: &self.action_type,
            rationale: &self.rationale,
            rollback_plan: self.rollback_plan.as_deref(),
            expected_outcome: self.expected_outcome.as_deref(),
            tests: self.tests.as_ref(),
            metrics: self.metrics.as_ref(),
            dependencies: self.dependencies.as_ref(),
            scope: self.scope.as_deref(),
            maintenance_plan: self.maintenance_plan.as_deref(),
            owner: self.owner.as_deref(),
            ownership: self.ownership.as_deref(),
            deprecation_plan: self.deprecation_plan.as_deref(),
            runbook: self.runbook.as_deref(),
            imports: None,
        }
    }
}

#[test]
fn the_reference_vectors_hold() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/falsify.jsonl");
    let lines = fs::read_to_string(path).unwrap();
    let mut count = 0;
    for line in lines.lines() {
        let expected: Line = serde_json::from_str(line).unwrap();
        let report = falsify(&expected.plan.plan(), &Falsify::default(), Asks::ALL);
        let key = |finding: &Finding| (finding.vector, finding.severity);
        let findings: Vec<_> = report.findings.iter().map(key).collect();
        assert_eq!(findings, expected.findings, "{line}");
        assert_eq!(report.verdict, expected.verdict, "{line}");
        count += 1;
    }
    assert_eq!(count, 250);
}
