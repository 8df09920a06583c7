//! Budgets: what may be used in a period, what is used, and what is set aside (SPEC 3, 10.l).
//!
//! Accounts form a tree: the colony at the top, then agents, and below an agent those whose id continues it after a `/`.
//! A cost is charged along the whole path, so a child draws on its parent's remainder. A verdict sets the estimate aside; the
//! outcome settles it, and a refusal or the clock releases it.

use crate::error::{Error, Field};
use crate::fixed::Fixed;
use crate::policy::{self, Caps};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The dimensions of a cost, in the order in which a violated one is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Calls of language models, a count.
    LlmCalls,
    /// Seconds of running time.
    RuntimeSeconds,
    /// A fraction in [0, 1] whose sums saturate at 1.
    RiskLevel,
    /// Minutes of people's attention.
    HumanAttentionMinutes,
    /// A fraction in [0, 1] whose sums saturate at 1.
    MergeRisk,
    /// A count of debts.
    DocDebt,
    /// A fraction in [0, 1] whose sums saturate at 1.
    SecurityExposure,
}

impl Dimension {
    /// Every dimension, in order.
    pub const ALL: [Self; 7] = [
        Self::LlmCalls,
        Self::RuntimeSeconds,
        Self::RiskLevel,
        Self::HumanAttentionMinutes,
        Self::MergeRisk,
        Self::DocDebt,
        Self::SecurityExposure,
    ];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LlmCalls => "llm_calls",
            Self::RuntimeSeconds => "runtime_seconds",
            Self::RiskLevel => "risk_level",
            Self::HumanAttentionMinutes => "human_attention_minutes",
            Self::MergeRisk => "merge_risk",
            Self::DocDebt => "doc_debt",
            Self::SecurityExposure => "security_exposure",
        }
    }

    /// Whether it is a fraction.
    #[must_use]
    pub const fn is_fraction(self) -> bool {
        matches!(self, Self::RiskLevel | Self::MergeRisk | Self::SecurityExposure)
    }
}

/// A cost in the seven dimensions; a dimension that is not named is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cost {
    /// Calls of language models, a count.
    pub llm_calls: Fixed,
    /// Seconds of running time.
    pub runtime_seconds: Fixed,
    /// A fraction in [0, 1] whose sums saturate at 1.
    pub risk_level: Fixed,
    /// Minutes of people's attention.
    pub human_attention_minutes: Fixed,
    /// A fraction in [0, 1] whose sums saturate at 1.
    pub merge_risk: Fixed,
    /// A count of debts.
    pub doc_debt: Fixed,
    /// A fraction in [0, 1] whose sums saturate at 1.
    pub security_exposure: Fixed,
}

impl Cost {
    /// One dimension.
    #[must_use]
    pub const fn get(&self, dimension: Dimension) -> Fixed {
        match dimension {
            Dimension::LlmCalls => self.llm_calls,
            Dimension::RuntimeSeconds => self.runtime_seconds,
            Dimension::RiskLevel => self.risk_level,
            Dimension::HumanAttentionMinutes => self.human_attention_minutes,
            Dimension::MergeRisk => self.merge_risk,
            Dimension::DocDebt => self.doc_debt,
            Dimension::SecurityExposure => self.security_exposure,
        }
    }

    fn get_mut(&mut self, dimension: Dimension) -> &mut Fixed {
        match dimension {
            Dimension::LlmCalls => &mut self.llm_calls,
            Dimension::RuntimeSeconds => &mut self.runtime_seconds,
            Dimension::RiskLevel => &mut self.risk_level,
            Dimension::HumanAttentionMinutes => &mut self.human_attention_minutes,
            Dimension::MergeRisk => &mut self.merge_risk,
            Dimension::DocDebt => &mut self.doc_debt,
            Dimension::SecurityExposure => &mut self.security_exposure,
        }
    }

    /// Whether nothing is used.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Checks that nothing is negative and fractions lie in [0, 1].
    ///
    /// # Errors
    /// [`Error::Value`] that names the dimension below `field`.
    pub fn check(&self, field: &str) -> Result<(), Error> {
        for dimension in Dimension::ALL {
            let value = self.get(dimension);
            let expected =
                if dimension.is_fraction() { "a fraction between 0 and 1" } else { "a number that is not negative" };
            if value < Fixed::ZERO || (dimension.is_fraction() && !value.is_fraction()) {
                return Err(Error::Value {
                    field: Field::new(dimension.as_str()).within(field),
                    expected: expected.to_string(),
                });
            }
        }
        Ok(())
    }

    /// The sum; fractions saturate at 1.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combine(other, |dimension, a, b| {
            let sum = a + b;
            if dimension.is_fraction() { sum.at_most(Fixed::ONE) } else { sum }
        })
    }

    /// The difference, not below 0.
    #[must_use]
    fn minus(&self, other: &Self) -> Self {
        self.combine(other, |_, a, b| a.less(b))
    }

    fn combine(&self, other: &Self, rule: impl Fn(Dimension, Fixed, Fixed) -> Fixed) -> Self {
        let mut result = *self;
        for dimension in Dimension::ALL {
            *result.get_mut(dimension) = rule(dimension, self.get(dimension), other.get(dimension));
        }
        result
    }
}

impl Caps {
    /// One dimension's limit.
    #[must_use]
    pub const fn get(&self, dimension: Dimension) -> Option<Fixed> {
        match dimension {
            Dimension::LlmCalls => self.llm_calls,
            Dimension::RuntimeSeconds => self.runtime_seconds,
            Dimension::RiskLevel => self.risk_level,
            Dimension::HumanAttentionMinutes => self.human_attention_minutes,
            Dimension::MergeRisk => self.merge_risk,
            Dimension::DocDebt => self.doc_debt,
            Dimension::SecurityExposure => self.security_exposure,
        }
    }

    /// Whether nothing is limited.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether a cost fits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// It fits.
    pub approved: bool,
    /// The first dimension that does not.
    pub violation: Option<Violation>,
}

/// A dimension in which a cost does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The account whose cap it is; empty for the colony's.
    pub account: String,
    /// The dimension.
    pub dimension: Dimension,
    /// What would be used and set aside.
    pub projected: Fixed,
    /// The cap.
    pub cap: Fixed,
}

/// An account's standing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balance {
    /// Used in this period.
    pub used: Cost,
    /// Set aside for acts that were allowed and have no outcome.
    pub reserved: Cost,
    /// Used since the beginning; counts and times only grow, fractions saturate.
    pub lifetime: Cost,
}

/// A settled cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Milliseconds since the epoch.
    pub at: u64,
    /// Who.
    pub agent: String,
    /// How much.
    pub cost: Cost,
}

/// The budget of a colony.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    total: Balance,
    accounts: BTreeMap<String, Balance>,
    history: VecDeque<Charge>,
    /// When the period began; `None` before the first command.
    period_began: Option<u64>,
}

/// Sums of reservations do not saturate: what is set aside must come free again exactly.
pub(crate) fn add_exactly(a: &Cost, b: &Cost) -> Cost {
    a.combine(b, |_, a, b| a + b)
}

impl Budget {
    /// Whether a cost fits, for every account on the agent's path. Nothing is consumed.
    #[must_use]
    pub fn check(&self, agent: &str, cost: &Cost, numbers: &policy::Budget) -> Answer {
        self.check_with(agent, cost, &Cost::default(), numbers)
    }

    /// As [`Budget::check`], where some of what is set aside was set aside for this very cost.
    #[must_use]
    pub(crate) fn check_with(&self, agent: &str, cost: &Cost, own: &Cost, numbers: &policy::Budget) -> Answer {
        let colony = violation("", &self.total, cost, own, &numbers.caps);
        let found = colony.or_else(|| {
            path(agent).find_map(|account| {
                let caps = numbers.accounts.get(account)?;
                violation(account, &self.account(account), cost, own, caps)
            })
        });
        Answer { approved: found.is_none(), violation: found }
    }

    /// Sets a cost aside. `false` where there is nothing to set aside, or more than the numbers reach.
    pub(crate) fn reserve(&mut self, agent: &str, cost: &Cost) -> bool {
        // No account holds more than the colony.
        let all = add_exactly(&self.total.reserved, cost);
        let fits = Dimension::ALL.into_iter().all(|dimension| all.get(dimension) < Fixed::MAX);
        if cost.is_zero() || !fits {
            return false;
        }
        self.each_account(agent, |balance| balance.reserved = add_exactly(&balance.reserved, cost));
        true
    }

    /// Gives a reservation back.
    pub(crate) fn release(&mut self, agent: &str, cost: &Cost) {
        if !cost.is_zero() {
            self.each_account(agent, |balance| balance.reserved = balance.reserved.minus(cost));
        }
    }

    /// Uses a cost.
    pub(crate) fn consume(&mut self, at: u64, agent: &str, cost: &Cost, numbers: &policy::Budget) {
        if cost.is_zero() {
            return;
        }
        self.each_account(agent, |balance| {
            balance.used = balance.used.plus(cost);
            balance.lifetime = balance.lifetime.plus(cost);
        });
        self.history.push_back(Charge { at, agent: agent.to_string(), cost: *cost });
        while self.history.len() > numbers.history as usize {
            self.history.pop_front();
        }
    }

    /// Begins the first period, and a new one when the length has passed since the last began.
    pub(crate) fn roll(&mut self, now: u64, numbers: &policy::Budget) {
        self.period_began.get_or_insert(now);
        if self.is_over(now, numbers) {
            self.reset(now);
        }
    }

    /// Whether the period has ended.
    pub(crate) fn is_over(&self, now: u64, numbers: &policy::Budget) -> bool {
        let length = numbers.period_seconds.saturating_mul(1000);
        self.period_began.is_some_and(|began| length > 0 && now.saturating_sub(began) >= length)
    }

    /// Begins a new period. What is set aside stays so.
    pub(crate) fn reset(&mut self, now: u64) {
        self.period_began = Some(now);
        self.total.used = Cost::default();
        for balance in self.accounts.values_mut() {
            balance.used = Cost::default();
        }
    }

    /// Whether nothing used or set aside is negative, and fractions of what is used lie in [0, 1].
    pub(crate) fn is_well_formed(&self) -> bool {
        let not_negative = |cost: &Cost| Dimension::ALL.into_iter().all(|dimension| cost.get(dimension) >= Fixed::ZERO);
        let fine = |balance: &Balance| {
            balance.used.check("").is_ok() && not_negative(&balance.reserved) && not_negative(&balance.lifetime)
        };
        fine(&self.total) && self.accounts.values().all(fine)
    }

    /// The colony's standing.
    #[must_use]
    pub const fn total(&self) -> &Balance {
        &self.total
    }

    /// An account's standing.
    #[must_use]
    pub fn account(&self, account: &str) -> Balance {
        self.accounts.get(account).copied().unwrap_or_default()
    }

    /// The accounts ordered by what they used in this period of one dimension, the most first, ties by name.
    #[must_use]
    pub fn ranking(&self, dimension: Dimension) -> Vec<(&str, &Balance)> {
        let mut all: Vec<(&str, &Balance)> =
            self.accounts.iter().map(|(name, balance)| (name.as_str(), balance)).collect();
        all.sort_by(|a, b| b.1.used.get(dimension).cmp(&a.1.used.get(dimension)).then_with(|| a.0.cmp(b.0)));
        all
    }

    /// The last settled costs, the oldest first.
    pub fn history(&self) -> impl Iterator<Item = &Charge> {
        self.history.iter()
    }

    /// When the period began, in milliseconds since the epoch.
    #[must_use]
    pub const fn period_began(&self) -> Option<u64> {
        self.period_began
    }

    fn each_account(&mut self, agent: &str, mut change: impl FnMut(&mut Balance)) {
        change(&mut self.total);
        for account in path(agent) {
            match self.accounts.get_mut(account) {
                Some(balance) => change(balance),
                None => change(self.accounts.entry(account.to_string()).or_default()),
            }
        }
    }
}

/// An agent's accounts from the top: `claude`, then `claude/code-reviewer`.
fn path(agent: &str) -> impl Iterator<Item = &str> {
    agent
        .match_indices('/')
        .map(|(at, _)| at)
        .chain([agent.len()])
        .filter_map(|end| agent.get(..end))
        .filter(|account| !account.is_empty())
}

fn violation(account: &str, standing: &Balance, cost: &Cost, own: &Cost, caps: &Caps) -> Option<Violation> {
    if caps.is_unlimited() {
        return None;
    }
    let committed = standing.used.plus(&standing.reserved.minus(own));
    let projected = committed.plus(cost);
    Dimension::ALL.into_iter().find_map(|dimension| {
        let cap = caps.get(dimension)?;
        let projected = projected.get(dimension);
        (projected > cap).then(|| Violation { account: account.to_string(), dimension, projected, cap })
    })
}
