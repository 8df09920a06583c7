//! What the policy says of the signed ledger (SPEC 9).

use super::AttestMode;
use crate::attest::key::PublicKey;
use crate::attest::links::Rules;
use alloc::vec::Vec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The signed ledger (SPEC 9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attest {
    /// Whether acts need attestation.
    pub mode: AttestMode,
    /// Outcomes need an observer's key other than the executor's.
    pub independent_observer: bool,
    /// In mode `required`: approvals that are known only from the execution count. Optional ledgers always take them.
    pub late: bool,
    /// The keys that may sign receipts and outcomes, as verifier keys.
    pub keys: Vec<PublicKey>,
}

impl Attest {
    /// Nothing is attested.
    pub const DISABLED: Self =
        Self { mode: AttestMode::Disabled, independent_observer: false, late: false, keys: Vec::new() };

    /// What it allows and asks for.
    #[must_use]
    pub const fn rules(&self) -> Rules {
        let late = self.late || !matches!(self.mode, AttestMode::Required);
        Rules { late, independent_observer: self.independent_observer }
    }
}

/// As it is in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Json {
    mode: AttestMode,
    independent_observer: bool,
    late: bool,
    keys: Vec<PublicKey>,
}

/// In binary: the first three forms are those of a policy that says nothing else.
#[derive(Serialize, Deserialize)]
enum Binary {
    Disabled(bool),
    Optional(bool),
    Required(bool),
    All(AttestMode, bool, bool, Vec<PublicKey>),
}

impl Serialize for Attest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { mode, independent_observer: independent, late, keys } = self.clone();
        if serializer.is_human_readable() {
            return Json { mode, independent_observer: independent, late, keys }.serialize(serializer);
        }
        let binary = match mode {
            _ if late || !keys.is_empty() => Binary::All(mode, independent, late, keys),
            AttestMode::Disabled => Binary::Disabled(independent),
            AttestMode::Optional => Binary::Optional(independent),
            AttestMode::Required => Binary::Required(independent),
        };
        binary.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Attest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let Json { mode, independent_observer, late, keys } = Json::deserialize(deserializer)?;
            return Ok(Self { mode, independent_observer, late, keys });
        }
        let (mode, independent_observer, late, keys) = match Binary::deserialize(deserializer)? {
            Binary::Disabled(independent) => (AttestMode::Disabled, independent, false, Vec::new()),
            Binary::Optional(independent) => (AttestMode::Optional, independent, false, Vec::new()),
            Binary::Required(independent) => (AttestMode::Required, independent, false, Vec::new()),
            Binary::All(mode, independent, late, keys) => (mode, independent, late, keys),
        };
        Ok(Self { mode, independent_observer, late, keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_of_late_approvals_and_keys_is_two_bytes() {
        let attest = |mode, independent_observer| Attest { mode, independent_observer, ..Attest::DISABLED };
        let cases = [
            (Attest::DISABLED, [0, 0]),
            (attest(AttestMode::Optional, false), [1, 0]),
            (attest(AttestMode::Required, true), [2, 1]),
        ];
        for (attest, bytes) in cases {
            assert_eq!(postcard::to_allocvec(&attest).unwrap(), bytes);
            assert_eq!(postcard::from_bytes::<Attest>(&bytes).unwrap(), attest);
        }
        let late = Attest { late: true, ..attest(AttestMode::Required, true) };
        let bytes = postcard::to_allocvec(&late).unwrap();
        assert_eq!(postcard::from_bytes::<Attest>(&bytes).unwrap(), late);
    }
}
