//! What makes a policy contradictory.

use super::{AttestMode, Caps, Field, Gate, Pipeline, Policy, Preset};
use crate::attest::signer::Ed25519Verifier;
use crate::budget::Dimension;
use crate::digest::Digest;
use crate::error::Error;
use crate::facts::FactKind;
use crate::falsify::{Cause, Severity};
use crate::field::{Signal, Source};
use crate::fixed::Fixed;
use crate::glob::Glob;
use crate::proposal::is_reserved;
use crate::trust::Role;
use alloc::collections::BTreeMap;
use alloc::string::ToString;

/// A claim is tried with each of the keys that may sign one.
const ATTEST_KEYS: usize = 64;

impl Policy {
    /// Checks that the numbers make sense together.
    ///
    /// # Errors
    /// [`Error::Policy`] that names the first field that is wrong.
    pub fn validate(&self) -> Result<(), Error> {
        self.validate_field(&self.field)?;
        self.validate_gate(&self.gate)?;
        self.validate_trust()?;
        self.validate_budget()?;
        self.validate_bounds()?;
        let falsify = self.falsify.validate();
        falsify.map_err(|(field, reason)| Error::policy(&alloc::format!("falsify.{field}"), &reason))?;
        self.commands.validate()?;
        self.validate_tables()?;
        match (self.pipeline, self.preset) {
            (Pipeline::Reference, Preset::Reference) | (Pipeline::Standard, Preset::Standard | Preset::Strict) => {
                Ok(())
            }
            _ => Err(Error::policy("pipeline", "the pipeline of the preset")),
        }
    }

    /// The digest that every verdict carries.
    #[must_use]
    pub fn digest(&self) -> Digest {
        // Every type in it has a binary form.
        Digest::of_value("stigmergate policy 1", self).unwrap_or_default()
    }

    fn validate_field(&self, field: &Field) -> Result<(), Error> {
        for (name, rate) in [("field.fast", field.fast), ("field.normal", field.normal), ("field.slow", field.slow)] {
            require(rate > Fixed::ZERO, name, "a loss above 0 in each tick, or traces never fade")?;
        }
        require(
            field.fast >= field.normal && field.normal >= field.slow,
            "field.normal",
            "a rate between slow and fast",
        )?;
        require(field.max_strength > Fixed::ZERO, "field.max_strength", "a number above 0")?;
        require(field.max_deposit >= field.max_strength, "field.max_deposit", "at least max_strength")?;
        require(field.reinforcement >= Fixed::ZERO, "field.reinforcement", "a number that is not negative")?;
        require(
            field.sources.values().all(|value| *value >= Fixed::ZERO),
            "field.sources",
            "multipliers that are not negative",
        )?;
        let deposits = &self.deposits;
        let strengths = [
            ("deposits.finding_failure", deposits.finding_failure),
            ("deposits.finding_risk", deposits.finding_risk),
            ("deposits.refusal", deposits.refusal),
            ("deposits.refusal_severity", deposits.refusal_severity),
            ("deposits.risk_per_finding", deposits.risk_per_finding),
            ("deposits.risk_most", deposits.risk_most),
            ("deposits.prospective_most", deposits.prospective_most),
            ("deposits.success", deposits.success),
            ("deposits.failure", deposits.failure),
            ("deposits.dependency", deposits.dependency),
            ("deposits.denial", deposits.denial),
            ("deposits.approval", deposits.approval),
            ("observed.failure", self.observed.failure),
            ("observed.check_failure", self.observed.check_failure),
        ];
        strengths
            .into_iter()
            .try_for_each(|(name, value)| require(value >= Fixed::ZERO, name, "a number that is not negative"))
    }

    fn validate_gate(&self, gate: &Gate) -> Result<(), Error> {
        let weights = [gate.weight_budget, gate.weight_risk, gate.weight_trust, gate.weight_completeness];
        require(weights.into_iter().all(Fixed::is_fraction), "gate.weight_budget", "weights between 0 and 1")?;
        require(weights.into_iter().sum::<Fixed>() == Fixed::ONE, "gate.weight_budget", "four weights whose sum is 1")?;
        require(gate.execute.is_fraction(), "gate.execute", "a score between 0 and 1")?;
        require(
            Fixed::ZERO <= gate.hold && gate.hold <= gate.execute,
            "gate.hold",
            "a score between 0 and gate.execute",
        )?;
        require(Fixed::ZERO < gate.medium_hazard, "gate.medium_hazard", "a hazard above 0")?;
        require(gate.medium_hazard <= gate.high_hazard, "gate.high_hazard", "at least gate.medium_hazard")?;
        require(gate.medium_risk.is_fraction(), "gate.medium_risk", "a number between 0 and 1")?;
        require(
            Fixed::ZERO <= gate.high_risk && gate.high_risk <= gate.medium_risk,
            "gate.high_risk",
            "between 0 and gate.medium_risk",
        )?;
        let fractions = [
            ("gate.trust_floor", gate.trust_floor),
            ("gate.trust_full", gate.trust_full),
            ("gate.trust_partial", gate.trust_partial),
            ("gate.recent_penalty", gate.recent_penalty),
            ("gate.missing_field", gate.missing_field),
        ];
        fractions
            .into_iter()
            .try_for_each(|(name, value)| require(value.is_fraction(), name, "a number between 0 and 1"))?;
        require(gate.trust_floor <= gate.trust_full, "gate.trust_floor", "at most gate.trust_full")?;
        require(
            (1..=self.trust.recent_window).contains(&gate.recent_failures),
            "gate.recent_failures",
            "between 1 and trust.recent_window",
        )?;
        require(rises(&gate.severities), "gate.severities", "a number for each severity, none below a milder one's")?;
        require(gate.severities.values().all(|value| value.is_fraction()), "gate.severities", "numbers up to 1")?;
        require(rises(&gate.prospective), "gate.prospective", "a number for each severity, none below a milder one's")?;
        let limited = self.pipeline == Pipeline::Reference || self.deposits.prospective_most < gate.medium_hazard;
        require(
            limited,
            "deposits.prospective_most",
            "less than gate.medium_hazard, or talking closes a place to others",
        )
    }

    fn validate_trust(&self) -> Result<(), Error> {
        require(self.trust.initial.is_fraction(), "trust.initial", "a number between 0 and 1")?;
        require(self.trust.recent_window <= self.trust.history, "trust.recent_window", "at most trust.history")?;
        let gains = [("trust.passed", self.trust.passed), ("trust.feedback", self.trust.feedback)];
        gains
            .into_iter()
            .try_for_each(|(name, value)| require(value.is_fraction(), name, "a number between 0 and 1"))?;
        let losses = [("trust.failed", self.trust.failed), ("trust.repair", self.trust.repair)];
        losses.into_iter().try_for_each(|(name, value)| require((-value).is_fraction(), name, "between -1 and 0"))?;
        require(self.trust.action_types > 0, "trust.action_types", "at least 1")?;
        let (mut last_role, mut last) = (Role::Sandbox, Fixed::ZERO);
        for rung in &self.roles.ladder {
            require(
                rung.trust.is_fraction() && rung.trust >= last && rung.role > last_role,
                "roles.ladder",
                "rungs above sandbox with trust between 0 and 1, the lowest first",
            )?;
            (last_role, last) = (rung.role, rung.trust);
        }
        let special = &self.roles.special;
        require(special.floor.is_fraction(), "roles.special.floor", "a number between 0 and 1")?;
        require(special.failures <= self.trust.history, "roles.special.failures", "at most trust.history")?;
        require(
            special.earned.iter().all(|earned| earned.trust.is_fraction()),
            "roles.special.earned",
            "trust between 0 and 1",
        )?;
        require(
            special.dispatcher_accepted.is_fraction(),
            "roles.special.dispatcher_accepted",
            "a share between 0 and 1",
        )?;
        require(
            self.observed.check_places <= self.session.changes,
            "observed.check_places",
            "at most session.changes, the changes that are remembered",
        )?;
        require(self.observed.trust_floor.is_fraction(), "observed.trust_floor", "a number between 0 and 1")?;
        require(
            self.observed.check_passed_trust >= Fixed::ZERO,
            "observed.check_passed_trust",
            "a change that is not negative",
        )?;
        require(
            self.observed.check_failed_trust <= Fixed::ZERO,
            "observed.check_failed_trust",
            "a change that is not positive",
        )
    }

    fn validate_budget(&self) -> Result<(), Error> {
        check_caps("budget.caps", &self.budget.caps)?;
        for (account, caps) in &self.budget.accounts {
            require(!account.trim().is_empty(), "budget.accounts", "names of agents")?;
            check_caps(&alloc::format!("budget.accounts.{account}"), caps)?;
        }
        let cost = self.budget.call_cost.check("budget.call_cost");
        cost.map_err(|error| Error::policy(error.field().map_or("", |field| field.as_str()), "a cost"))?;
        let remembered = self.bounds.proposal_ms / 1000;
        let spans = [
            ("budget.reservation_seconds", self.budget.reservation_seconds),
            ("approval.expires_seconds", self.approval.expires_seconds),
        ];
        spans.into_iter().try_for_each(|(name, seconds)| {
            require((1..=remembered).contains(&seconds), name, "at least 1 second, and at most bounds.proposal_ms")
        })
    }

    /// Tables name every key that a judgement can ask for, and patterns that compile.
    fn validate_tables(&self) -> Result<(), Error> {
        let missing = |field: &str, name: &str| Error::policy(&alloc::format!("{field}.{name}"), "a value");
        for source in Source::ALL {
            self.field.sources.get(&source).ok_or_else(|| missing("field.sources", source.as_str()))?;
        }
        for signal in Signal::ALL {
            self.field.decays.get(&signal).ok_or_else(|| missing("field.decays", signal.as_str()))?;
        }
        for kind in FactKind::ALL {
            self.facts.get(&kind).ok_or_else(|| missing("facts", Cause::from(kind).code()))?;
        }
        let rules =
            [("rules.deny", &self.rules.deny), ("rules.ask", &self.rules.ask), ("rules.allow", &self.rules.allow)];
        for (field, rules) in rules {
            let broken = rules.iter().position(|rule| !is_rule(rule));
            if let Some(number) = broken {
                let expected = "the beginning of a command (`curl *`, not `Bash(curl *)`), or the name of a tool, as words or globs";
                return Err(Error::policy(&alloc::format!("{field}.{number}"), expected));
            }
        }
        let prune = [
            ("prune.duplicate", self.prune.duplicate),
            ("prune.never_used", self.prune.never_used),
            ("prune.idle_unused", self.prune.idle_unused),
            ("prune.idle_rare", self.prune.idle_rare),
        ];
        prune
            .into_iter()
            .try_for_each(|(name, value)| require(value.is_fraction(), name, "a number between 0 and 1"))?;
        require(
            self.attest.mode != AttestMode::Disabled || !self.attest.independent_observer,
            "attest.independent_observer",
            "false where nothing is attested",
        )?;
        require(self.attest.keys.len() <= ATTEST_KEYS, "attest.keys", &alloc::format!("at most {ATTEST_KEYS} keys"))?;
        let named = self.attest.keys.iter().position(|key| is_reserved(key.name()));
        if let Some(number) = named {
            let expected = "a key of another name: `gate` and `host` are the gate's own in the ledger";
            return Err(Error::policy(&alloc::format!("attest.keys.{number}"), expected));
        }
        let unusable = self.attest.keys.iter().position(|key| Ed25519Verifier::new(key).is_err());
        unusable.map_or(Ok(()), |number| {
            Err(Error::policy(&alloc::format!("attest.keys.{number}"), "the verifier key of an Ed25519 key"))
        })
    }

    fn validate_bounds(&self) -> Result<(), Error> {
        let bounds = &self.bounds;
        let sizes = [
            ("bounds.id_bytes", u64::from(bounds.id_bytes), 4096),
            ("bounds.location_bytes", u64::from(bounds.location_bytes), 65_536),
            ("bounds.text_bytes", u64::from(bounds.text_bytes), 16 << 20),
            ("bounds.evidence_bytes", u64::from(bounds.evidence_bytes), 16 << 20),
            ("bounds.evidence_depth", u64::from(bounds.evidence_depth), 100),
            ("bounds.list_items", u64::from(bounds.list_items), 1 << 20),
            ("bounds.import_edges", u64::from(bounds.import_edges), 1 << 24),
            ("bounds.agents", bounds.agents, 1 << 32),
            ("bounds.traces", bounds.traces, 1 << 32),
            ("bounds.proposals", bounds.proposals, 1 << 32),
            ("session.paths", u64::from(self.session.paths), 1 << 20),
            ("session.sessions", u64::from(self.session.sessions), 1 << 20),
            ("session.changes", u64::from(self.session.changes), 1 << 20),
            ("session.checks", u64::from(self.session.checks), 1 << 20),
        ];
        for (name, value, most) in sizes {
            require(value >= 1 && value <= most, name, &alloc::format!("a size between 1 and {most}"))?;
        }
        Ok(())
    }
}

fn check_caps(field: &str, caps: &Caps) -> Result<(), Error> {
    for dimension in Dimension::ALL {
        let Some(cap) = caps.get(dimension) else { continue };
        let name = alloc::format!("{field}.{}", dimension.as_str());
        require(cap >= Fixed::ZERO, &name, "a number that is not negative, or null for no cap")?;
        require(
            !dimension.is_fraction() || cap <= Fixed::ONE,
            &name,
            "a fraction between 0 and 1, or null for no cap",
        )?;
    }
    Ok(())
}

/// A number for each severity, none negative or below that of a milder one.
fn rises(table: &BTreeMap<Severity, Fixed>) -> bool {
    let mut last = Fixed::ZERO;
    [Severity::Low, Severity::Medium, Severity::High, Severity::Critical].iter().all(|severity| {
        let number = table.get(severity).copied().filter(|number| *number >= last);
        last = number.unwrap_or(last);
        number.is_some()
    })
}

/// Whether a rule says anything, in words that are plain or compile as globs.
fn is_rule(rule: &str) -> bool {
    let compiles = |word: &str| !word.contains(['*', '?', '[']) || Glob::new(word).is_ok();
    // `Bash(curl *)` is a form of hosts, which would match nothing here.
    let of_a_host = rule.split_once('(').is_some_and(|(tool, rest)| {
        !tool.is_empty()
            && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && rest.trim_end().ends_with(')')
    });
    !rule.trim().is_empty() && !of_a_host && rule.split_whitespace().all(compiles) && compiles(rule)
}

fn require(holds: bool, field: &str, expected: &str) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(Error::Policy { field: crate::error::Field::new(field), expected: expected.to_string() })
    }
}
