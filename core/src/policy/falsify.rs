//! The numbers of the text checks (SPEC section 6).

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// The thresholds of the 11 text checks.
///
/// Every default is the number of SPEC section 6. Each must be at least 1: a threshold of 0 would
/// make a rule fire on every text, or never.
///
/// ```
/// use stigmergate_core::policy::falsify::Falsify;
///
/// let stricter: Falsify = serde_json::from_str(r#"{"min_rollback_chars": 40}"#)?;
/// assert_eq!(stricter.foreign_names, Falsify::default().foreign_names);
/// assert!(stricter.validate().is_ok());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Falsify {
    /// Check 1: a rollback plan of fewer code points than this, after trimming, is too short.
    pub min_rollback_chars: u32,
    /// Check 3: this many of the six vague terms make a scope vague.
    pub vague_scope_terms: u32,
    /// Check 3: this many dotted names foreign to the target make a scope creep.
    pub foreign_names: u32,
    /// Check 6: this many external dependencies are a risk.
    pub external_dependencies: u32,
    /// Check 6: a name of more code points than this does not look like a package.
    pub external_name_chars: u32,
    /// Check 8: this many of the seven vague phrases make an outcome vague.
    pub vague_outcome_phrases: u32,
    /// Check 9: this many responsibility verbs, repeats counted, make a module over-broad.
    pub responsibility_verbs: u32,
    /// Check 9: a target with this many dots is too deep.
    pub target_dots: u32,
    /// Check 10: this many of the three groups of words announce something to maintain.
    pub maintenance_groups: u32,
    /// Check 11: this many of the eight abstraction terms need evidence of use.
    pub abstraction_terms: u32,
}

impl Default for Falsify {
    fn default() -> Self {
        Self {
            min_rollback_chars: 20,
            vague_scope_terms: 2,
            foreign_names: 3,
            external_dependencies: 3,
            external_name_chars: 40,
            vague_outcome_phrases: 2,
            responsibility_verbs: 5,
            target_dots: 5,
            maintenance_groups: 2,
            abstraction_terms: 2,
        }
    }
}

impl Falsify {
    /// Checks that every threshold can mean something.
    ///
    /// # Errors
    /// The name of the first field that is 0, and the reason.
    pub fn validate(&self) -> Result<(), (&'static str, String)> {
        let zero = self.fields().into_iter().find(|(_, value)| *value == 0);
        match zero {
            Some((field, _)) => Err((field, String::from("must be at least 1"))),
            None => Ok(()),
        }
    }

    fn fields(&self) -> [(&'static str, u32); 10] {
        [
            ("min_rollback_chars", self.min_rollback_chars),
            ("vague_scope_terms", self.vague_scope_terms),
            ("foreign_names", self.foreign_names),
            ("external_dependencies", self.external_dependencies),
            ("external_name_chars", self.external_name_chars),
            ("vague_outcome_phrases", self.vague_outcome_phrases),
            ("responsibility_verbs", self.responsibility_verbs),
            ("target_dots", self.target_dots),
            ("maintenance_groups", self.maintenance_groups),
            ("abstraction_terms", self.abstraction_terms),
        ]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_defaults_are_valid() {
        assert_eq!(Falsify::default().validate(), Ok(()));
    }

    #[test]
    fn a_zero_is_named() {
        let numbers = Falsify { target_dots: 0, ..Falsify::default() };
        assert_eq!(numbers.validate().unwrap_err().0, "target_dots");
    }

    #[test]
    fn every_field_is_validated() {
        let json = serde_json::to_value(Falsify::default()).unwrap();
        let names = Falsify::default().fields().map(|(name, _)| name);
        assert_eq!(json.as_object().unwrap().len(), names.len());
        for name in names {
            assert!(json.get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn an_unknown_field_is_an_error() {
        assert!(serde_json::from_str::<Falsify>(r#"{"foreign_name": 3}"#).is_err());
    }
}
