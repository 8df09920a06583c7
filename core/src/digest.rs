//! SHA-256 digests (FIPS 180-4): of contents, policies and snapshots.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Digest as _;

/// A SHA-256 digest. In JSON 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes, told apart by what they are.
    #[must_use]
    pub fn of(domain: &str, bytes: &[u8]) -> Self {
        let mut hasher = sha2::Sha256::new();
        hasher.update(domain.as_bytes());
        hasher.update([0]);
        hasher.update(bytes);
        Self(hasher.finalize().into())
    }

    /// The digest of a value's canonical binary form. `None` for a value that has none, which no type of this crate is.
    pub(crate) fn of_value<T: Serialize>(domain: &str, value: &T) -> Option<Self> {
        let mut room = [0; USUAL];
        if let Ok(bytes) = postcard::to_slice(value, &mut room) {
            return Some(Self::of(domain, bytes));
        }
        postcard::to_allocvec(value).ok().map(|bytes| Self::of(domain, &bytes))
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits: Vec<u8> =
            text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect::<Option<_>>()?;
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            if let [high, low] = pair {
                *byte = high << 4 | low;
            }
        }
        Some(Self(bytes))
    }
}

/// A value's canonical binary form.
pub(crate) fn binary<T: Serialize>(value: &T) -> Option<Vec<u8>> {
    let mut room = [0; USUAL];
    if let Ok(bytes) = postcard::to_slice(value, &mut room) {
        return Some(bytes.to_vec());
    }
    postcard::to_allocvec(value).ok()
}

/// Most values fit here, so that nothing is allocated but what is kept.
const USUAL: usize = 2048;

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return <[u8; 32]>::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("a digest is 64 hexadecimal digits"))
    }
}
