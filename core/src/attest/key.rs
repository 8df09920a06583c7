//! Keys as everybody may know them: a name, an algorithm, and what a signed note's verifier key says of them.

use super::encoding::{base64, hex, unbase64, unhex};
use super::error::Error;
use super::tree::sha256;
use crate::digest::Digest;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// A key's name has at most this many bytes.
pub const NAME_BYTES: usize = 256;

/// What follows the byte `0xff` in the key id of an HMAC key: the signature type's long identifier.
pub const HMAC_IDENTIFIER: &str = "github.com/stigmergate/stigmergate/hmac-sha256/v1";

/// How a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// Ed25519 (RFC 8032), deterministic: anybody can verify.
    Ed25519,
    /// HMAC-SHA-256 (RFC 2104): only who has the secret can verify, and whoever can verify can sign.
    HmacSha256,
}

impl Algorithm {
    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ed25519 => "ed25519",
            Self::HmacSha256 => "hmac_sha256",
        }
    }

    /// The algorithm of a stable name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Ed25519, Self::HmacSha256].into_iter().find(|algorithm| algorithm.as_str() == name)
    }

    /// The signature type of a signed note, with its long identifier if it has one.
    fn note_type(self) -> Vec<u8> {
        match self {
            Self::Ed25519 => Vec::from([0x01]),
            Self::HmacSha256 => [&[0xff], HMAC_IDENTIFIER.as_bytes()].concat(),
        }
    }
}

/// A key's short id in a signed note: to find it, not to trust it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 4]);

impl KeyId {
    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 4] {
        &self.0
    }

    /// From bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    /// Reads 8 lower-case hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        unhex(text).map(Self)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// What everybody may know of a key.
///
/// For Ed25519 the material is the public key. HMAC has none; there it is a fingerprint, the HMAC of [`HMAC_IDENTIFIER`] under
/// the key: enough to recognise the key, not to verify with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey {
    name: String,
    algorithm: Algorithm,
    material: [u8; 32],
}

impl PublicKey {
    /// A key by its name, algorithm and material.
    ///
    /// # Errors
    /// [`Error::Value`] for a name that is empty or has spaces, control characters or a plus sign, [`Error::TooLong`] for a long one.
    pub fn new(name: &str, algorithm: Algorithm, material: [u8; 32]) -> Result<Self, Error> {
        check_name("key_name", name)?;
        Ok(Self { name: name.to_owned(), algorithm, material })
    }

    /// Its name, by convention the log's origin or a schema-less URL.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it signs.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The public key, or the fingerprint of an HMAC key.
    #[must_use]
    pub const fn material(&self) -> &[u8; 32] {
        &self.material
    }

    /// The first four bytes of SHA-256(name, newline, signature type, material) (C2SP signed-note).
    #[must_use]
    pub fn id(&self) -> KeyId {
        let bytes = [self.name.as_bytes(), b"\n", &self.algorithm.note_type(), &self.material].concat();
        let [a, b, c, d, ..] = *sha256(&bytes).as_bytes();
        KeyId([a, b, c, d])
    }

    /// The digest of algorithm and material: equal for the same key under two names, and too long to collide.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        Digest::of("stigmergate key", &[&self.algorithm.note_type()[..], &self.material].concat())
    }

    /// The verifier key `name+id+base64(type, material)` (C2SP signed-note).
    #[must_use]
    pub fn verifier_key(&self) -> String {
        let key = base64(&[&self.algorithm.note_type()[..], &self.material].concat());
        alloc::format!("{}+{}+{key}", self.name, self.id())
    }

    /// Reads a verifier key.
    ///
    /// # Errors
    /// [`Error::Malformed`] for any other text, an unknown signature type, or an id that is not the key's.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = || Error::malformed("verifier key", "name+id+base64 of an Ed25519 or HMAC-SHA-256 key");
        let (name, rest) = text.split_once('+').ok_or_else(wrong)?;
        let (id, key) = rest.split_once('+').ok_or_else(wrong)?;
        if key.len() > NAME_BYTES {
            return Err(wrong());
        }
        let key = unbase64(key).ok_or_else(wrong)?;
        let read = |algorithm: Algorithm| {
            let material = key.strip_prefix(&algorithm.note_type()[..])?;
            Self::new(name, algorithm, material.try_into().ok()?).ok()
        };
        let found = [Algorithm::Ed25519, Algorithm::HmacSha256].into_iter().find_map(read).ok_or_else(wrong)?;
        if KeyId::from_hex(id) == Some(found.id()) { Ok(found) } else { Err(wrong()) }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}+{}", self.name, self.id())
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        key.verifier_key()
    }
}

impl TryFrom<String> for PublicKey {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        Self::parse(&text)
    }
}

/// Checks a name of a key or a log: not empty, no spaces, no control characters, no plus sign, of bounded length.
pub(super) fn check_name(field: &str, name: &str) -> Result<(), Error> {
    if name.len() > NAME_BYTES {
        return Err(Error::too_long(field, name.len(), NAME_BYTES));
    }
    if name.is_empty() || name.chars().any(|c| c.is_whitespace() || c.is_control() || c == '+') {
        return Err(Error::value(field, "text without spaces, control characters and plus signs"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attest::signer::{Ed25519Signer, HmacKey, Signer};
    use alloc::string::ToString;

    #[test]
    fn a_verifier_key_reads_back_and_nothing_else_does() {
        let ed25519 = Ed25519Signer::from_seed("example.com/log", &[1; 32]).unwrap();
        let hmac = HmacKey::from_bytes("example.com/log", &[1; 32]).unwrap();
        for key in [ed25519.public(), Signer::public(&hmac)] {
            let text = key.verifier_key();
            assert_eq!(PublicKey::parse(&text).unwrap(), *key);
            for place in 0..text.len() {
                let mut other = text.clone().into_bytes();
                other[place] ^= 1;
                assert!(PublicKey::parse(&String::from_utf8(other).unwrap()).is_err());
                assert!(PublicKey::parse(&text[..place]).is_err());
            }
        }
    }

    #[test]
    fn the_verifier_key_of_the_specification_reads() {
        let text = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
        let key = PublicKey::parse(text).unwrap();
        assert_eq!((key.name(), key.id().to_string()), ("example.com/foo", "530d903a".to_string()));
        assert_eq!(key.verifier_key(), text);
    }

    #[test]
    fn names_are_checked() {
        for name in ["", "a b", "a+b", "a\u{a0}b", "a\nb", &"a".repeat(257)] {
            assert!(PublicKey::new(name, Algorithm::Ed25519, [0; 32]).is_err(), "{name:?}");
        }
    }
}
