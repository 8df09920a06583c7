//! What the checks report: vectors, severities, causes, findings and the report's verdict.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::facts::FactKind;

/// The ways in which a plan can be attacked (SPEC section 6): 11 checks share these ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vector {
    /// There is no credible way back.
    NoRollback,
    /// Nothing automatic would notice a fault.
    NoTestValue,
    /// The act reaches further than its target.
    ScopeCreep,
    /// Success cannot be told from failure.
    FalseMetric,
    /// Something depends on itself.
    CircularArchitecture,
    /// Too much foreign code is drawn in.
    DependencyRisk,
    /// A sensitive place is touched without a review.
    SecurityRisk,
    /// One module does too much.
    OverBroadModule,
    /// Something durable is made and nobody is named to keep it.
    HiddenMaintenanceCost,
    /// An abstraction comes before its uses.
    PrematureAbstraction,
}

impl Vector {
    /// The stable code: the name in JSON.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoRollback => "no_rollback",
            Self::NoTestValue => "no_test_value",
            Self::ScopeCreep => "scope_creep",
            Self::FalseMetric => "false_metric",
            Self::CircularArchitecture => "circular_architecture",
            Self::DependencyRisk => "dependency_risk",
            Self::SecurityRisk => "security_risk",
            Self::OverBroadModule => "over_broad_module",
            Self::HiddenMaintenanceCost => "hidden_maintenance_cost",
            Self::PrematureAbstraction => "premature_abstraction",
        }
    }
}

/// How much a finding weighs, from light to heavy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Rank 1.
    Low,
    /// Rank 2.
    Medium,
    /// Rank 3: the report fails.
    High,
    /// Rank 4: the report fails, and the gate refuses.
    Critical,
}

impl Severity {
    /// The stable code: the name in JSON.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// The rank of SPEC section 6, from 1 (low) to 4 (critical).
    #[must_use]
    pub const fn rank(self) -> u8 {
        match self {
            Self::Low => 1,
            Self::Medium => 2,
            Self::High => 3,
            Self::Critical => 4,
        }
    }
}

/// The rule that fired, one code for each rule. Codes are stable: texts are rendered from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Check 1: the rollback plan is absent or blank.
    RollbackBlank,
    /// Check 1: the rollback plan is a placeholder. Detail: the placeholder.
    RollbackEmptyPhrase,
    /// Check 1: the rollback plan only promises manual work. Detail: the promise.
    RollbackManual,
    /// Check 1: the rollback plan is too short to say anything. Detail: its length in code points.
    RollbackShort,
    /// Check 2: there are no tests.
    TestsAbsent,
    /// Check 2: the tests are done by hand. Detail: the words that say so.
    TestsManual,
    /// Check 3: the type of the action destroys. Detail: the type.
    DestructiveAction,
    /// Check 3: the scope is vague. Detail: the first vague term's last word.
    VagueScope,
    /// Check 3: the scope names foreign modules. Detail: the first of them.
    ForeignScope,
    /// Check 4: there are no metrics.
    MetricsAbsent,
    /// Check 4: the metrics cannot be measured.
    MetricsUnmeasurable,
    /// Check 5: the agent is its own target. Detail: the target.
    SelfTarget,
    /// Check 5: the target depends on itself. Detail: the target.
    SelfDependency,
    /// Check 5: one dependency lies below another. Detail: the outer one.
    NestedDependencies,
    /// Check 5: the imports under the target have a cycle. Detail: a module on it.
    ImportCycle,
    /// Check 6: many dependencies look external. Detail: the first of them.
    ExternalDependencies,
    /// Check 7: something sensitive is touched without a review. Detail: the first sensitive word.
    SensitiveUnreviewed,
    /// Check 8: the expected outcome is absent or blank.
    OutcomeBlank,
    /// Check 8: the expected outcome is vague.
    OutcomeVague,
    /// Check 9: many responsibilities are named. Detail: how many.
    ManyResponsibilities,
    /// Check 9: the target lies deep. Detail: its number of dots.
    DeepTarget,
    /// Check 10: something durable is made without an owner.
    UnownedAddition,
    /// Check 11: an abstraction has no evidence of use. Detail: its first term.
    SpeculativeAbstraction,
    /// The fact [`FactKind::CatastrophicTarget`]. Detail: the fact's.
    CatastrophicTarget,
    /// The fact [`FactKind::ProtectedTarget`]. Detail: the fact's.
    ProtectedTarget,
    /// The fact [`FactKind::OwnCommand`]. Detail: the fact's.
    OwnCommand,
    /// The fact [`FactKind::Irreversible`]. Detail: the fact's.
    Irreversible,
    /// The fact [`FactKind::OutsideWorkspace`]. Detail: the fact's.
    OutsideWorkspace,
    /// The fact [`FactKind::UnresolvedTarget`]. Detail: the fact's.
    UnresolvedTarget,
    /// The fact [`FactKind::SharedBranch`]. Detail: the fact's.
    SharedBranch,
    /// The fact [`FactKind::RewrittenHistory`]. Detail: the fact's.
    RewrittenHistory,
    /// The fact [`FactKind::Production`]. Detail: the fact's.
    Production,
    /// The fact [`FactKind::Publishing`]. Detail: the fact's.
    Publishing,
    /// The fact [`FactKind::Secret`]. Detail: the fact's.
    Secret,
    /// The fact [`FactKind::UntrustedCode`]. Detail: the fact's.
    UntrustedCode,
    /// The fact [`FactKind::RaisedPrivileges`]. Detail: the fact's.
    RaisedPrivileges,
    /// The fact [`FactKind::Bulk`]. Detail: the fact's.
    Bulk,
    /// The fact [`FactKind::Unreadable`]. Detail: the fact's.
    Unreadable,
}

impl Cause {
    /// The stable code: the name in JSON.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::RollbackBlank => "rollback_blank",
            Self::RollbackEmptyPhrase => "rollback_empty_phrase",
            Self::RollbackManual => "rollback_manual",
            Self::RollbackShort => "rollback_short",
            Self::TestsAbsent => "tests_absent",
            Self::TestsManual => "tests_manual",
            Self::DestructiveAction => "destructive_action",
            Self::VagueScope => "vague_scope",
            Self::ForeignScope => "foreign_scope",
            Self::MetricsAbsent => "metrics_absent",
            Self::MetricsUnmeasurable => "metrics_unmeasurable",
            Self::SelfTarget => "self_target",
            Self::SelfDependency => "self_dependency",
            Self::NestedDependencies => "nested_dependencies",
            Self::ImportCycle => "import_cycle",
            Self::ExternalDependencies => "external_dependencies",
            Self::SensitiveUnreviewed => "sensitive_unreviewed",
            Self::OutcomeBlank => "outcome_blank",
            Self::OutcomeVague => "outcome_vague",
            Self::ManyResponsibilities => "many_responsibilities",
            Self::DeepTarget => "deep_target",
            Self::UnownedAddition => "unowned_addition",
            Self::SpeculativeAbstraction => "speculative_abstraction",
            Self::CatastrophicTarget => "catastrophic_target",
            Self::ProtectedTarget => "protected_target",
            Self::OwnCommand => "own_command",
            Self::Irreversible => "irreversible",
            Self::OutsideWorkspace => "outside_workspace",
            Self::UnresolvedTarget => "unresolved_target",
            Self::SharedBranch => "shared_branch",
            Self::RewrittenHistory => "rewritten_history",
            Self::Production => "production",
            Self::Publishing => "publishing",
            Self::Secret => "secret",
            Self::UntrustedCode => "untrusted_code",
            Self::RaisedPrivileges => "raised_privileges",
            Self::Bulk => "bulk",
            Self::Unreadable => "unreadable",
        }
    }
}

/// One successful attack on a plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Finding {
    /// The way of attack.
    pub vector: Vector,
    /// How much it weighs.
    pub severity: Severity,
    /// The rule that fired.
    pub cause: Cause,
    /// What the rule saw, where [`Cause`] says so: a word, a name or a number.
    pub detail: Option<String>,
}

impl Finding {
    pub(super) const fn new(vector: Vector, severity: Severity, cause: Cause) -> Self {
        Self { vector, severity, cause, detail: None }
    }

    pub(super) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}

/// What the findings amount to (SPEC section 6). It is advice to the gate, not its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ReportVerdict {
    /// No finding.
    Pass,
    /// Findings, none above medium.
    Conditional,
    /// At least one high or critical finding.
    Fail,
}

impl ReportVerdict {
    /// The verdict on a list of findings.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        match findings.iter().map(|finding| finding.severity).max() {
            None => Self::Pass,
            Some(Severity::High | Severity::Critical) => Self::Fail,
            Some(Severity::Low | Severity::Medium) => Self::Conditional,
        }
    }
}

/// All findings on a plan, in the order of the checks, and what they amount to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Report {
    /// At most one finding a check, checks 1 to 11 in order.
    pub findings: Vec<Finding>,
    /// What they amount to.
    pub verdict: ReportVerdict,
}

/// The cause that a fact of a tool call is.
impl From<FactKind> for Cause {
    fn from(kind: FactKind) -> Self {
        match kind {
            FactKind::CatastrophicTarget => Self::CatastrophicTarget,
            FactKind::ProtectedTarget => Self::ProtectedTarget,
            FactKind::OwnCommand => Self::OwnCommand,
            FactKind::Irreversible => Self::Irreversible,
            FactKind::OutsideWorkspace => Self::OutsideWorkspace,
            FactKind::UnresolvedTarget => Self::UnresolvedTarget,
            FactKind::SharedBranch => Self::SharedBranch,
            FactKind::RewrittenHistory => Self::RewrittenHistory,
            FactKind::Production => Self::Production,
            FactKind::Publishing => Self::Publishing,
            FactKind::Secret => Self::Secret,
            FactKind::UntrustedCode => Self::UntrustedCode,
            FactKind::RaisedPrivileges => Self::RaisedPrivileges,
            FactKind::Bulk => Self::Bulk,
            FactKind::Unreadable => Self::Unreadable,
        }
    }
}
