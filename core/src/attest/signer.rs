//! Who signs: keys with names, and the two algorithms.
//!
//! The idea: a key has a public description, [`PublicKey`], which is what a verifier key of a signed note says. A host may sign
//! elsewhere (a hardware key, a service) by implementing [`Signer`]. Secret bytes come from the caller, are never shown by
//! `Debug` and are overwritten when they are dropped.

use super::encoding::{base64, hex, unbase64, unhex};
use super::error::Error;
use super::tree::sha256;
use crate::digest::Digest;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use ed25519_dalek::Signer as _;
use hmac::{KeyInit, Mac};
use serde::{Deserialize, Serialize};

type HmacSha256 = hmac::Hmac<sha2::Sha256>;

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

/// Whoever can sign.
pub trait Signer {
    /// The key that signs.
    fn public(&self) -> &PublicKey;

    /// The signature of some bytes. The same bytes give the same signature.
    ///
    /// # Errors
    /// [`Error::BadSignature`] when the key cannot be reached.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error>;
}

/// Whoever can tell that a signature is a key's.
pub trait Verifier {
    /// The key that has signed.
    fn public(&self) -> &PublicKey;

    /// Checks a signature of some bytes.
    ///
    /// # Errors
    /// [`Error::BadSignature`] unless it is the key's.
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error>;
}

/// Signs with Ed25519.
///
/// ```
/// use stigmergate_core::attest::signer::{Ed25519Signer, Ed25519Verifier, Signer, Verifier};
///
/// let signer = Ed25519Signer::from_seed("example.com/log", &[7; 32]).unwrap();
/// let signature = signer.sign(b"text").unwrap();
/// let verifier = Ed25519Verifier::new(signer.public()).unwrap();
/// assert!(verifier.verify(b"text", &signature).is_ok());
/// assert!(verifier.verify(b"other", &signature).is_err());
/// ```
pub struct Ed25519Signer {
    key: ed25519_dalek::SigningKey,
    public: PublicKey,
}

impl Ed25519Signer {
    /// A signer from its secret seed of 32 bytes, which must be random.
    ///
    /// # Errors
    /// As [`PublicKey::new`].
    pub fn from_seed(name: &str, seed: &[u8; 32]) -> Result<Self, Error> {
        let key = ed25519_dalek::SigningKey::from_bytes(seed);
        let public = PublicKey::new(name, Algorithm::Ed25519, key.verifying_key().to_bytes())?;
        Ok(Self { key, public })
    }
}

impl fmt::Debug for Ed25519Signer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Ed25519Signer({})", self.public)
    }
}

impl Signer for Ed25519Signer {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(self.key.sign(message).to_bytes().to_vec())
    }
}

/// Verifies with Ed25519, strictly: no key of small order, no signature that could be written otherwise.
#[derive(Clone, Debug)]
pub struct Ed25519Verifier {
    key: ed25519_dalek::VerifyingKey,
    public: PublicKey,
}

impl Ed25519Verifier {
    /// A verifier of a key's signatures.
    ///
    /// # Errors
    /// [`Error::BadSignature`] for a key that is no Ed25519 key or of small order.
    pub fn new(public: &PublicKey) -> Result<Self, Error> {
        if public.algorithm != Algorithm::Ed25519 {
            return Err(Error::bad_signature(public, "only who has the secret can verify an HMAC"));
        }
        let key = ed25519_dalek::VerifyingKey::from_bytes(&public.material)
            .ok()
            .filter(|key| !key.is_weak())
            .ok_or_else(|| Error::bad_signature(public, "its bytes are no public key"))?;
        Ok(Self { key, public: public.clone() })
    }
}

impl Verifier for Ed25519Verifier {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        let wrong = |_| Error::bad_signature(&self.public, "it is not of these bytes");
        let signature = ed25519_dalek::Signature::from_slice(signature).map_err(wrong)?;
        self.key.verify_strict(message, &signature).map_err(wrong)
    }
}

/// Signs and verifies with HMAC-SHA-256. Verifying without being able to sign is impossible.
pub struct HmacKey {
    /// Keyed once; it is overwritten when it is dropped.
    keyed: HmacSha256,
    public: PublicKey,
}

impl HmacKey {
    /// The shortest key, in bytes.
    pub const LEAST_BYTES: usize = 16;

    /// A key from its secret bytes, which must be random.
    ///
    /// # Errors
    /// [`Error::Value`] for a key of fewer than 16 bytes, and as [`PublicKey::new`].
    pub fn from_bytes(name: &str, secret: &[u8]) -> Result<Self, Error> {
        let too_short = || Error::value("key", "at least 16 bytes");
        if secret.len() < Self::LEAST_BYTES {
            return Err(too_short());
        }
        let keyed = <HmacSha256 as KeyInit>::new_from_slice(secret).map_err(|_| too_short())?;
        let material = keyed.clone().chain_update(HMAC_IDENTIFIER).finalize().into_bytes().into();
        Ok(Self { keyed, public: PublicKey::new(name, Algorithm::HmacSha256, material)? })
    }
}

impl fmt::Debug for HmacKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "HmacKey({})", self.public)
    }
}

impl Signer for HmacKey {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(self.keyed.clone().chain_update(message).finalize().into_bytes().to_vec())
    }
}

impl Verifier for HmacKey {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        let keyed = self.keyed.clone().chain_update(message);
        keyed.verify_slice(signature).map_err(|_| Error::bad_signature(&self.public, "it is not of these bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn ed25519_signs_as_rfc_8032_says() {
        // RFC 8032, 7.1, TEST 1 and TEST 3.
        let seed = unhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
        let signer = Ed25519Signer::from_seed("a", &seed).unwrap();
        assert_eq!(hex(signer.public().material()), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        assert_eq!(
            hex(&signer.sign(b"").unwrap()),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        );
    }

    #[test]
    fn hmac_signs_as_rfc_4231_says() {
        // RFC 4231, test case 1.
        let key = HmacKey::from_bytes("a", &[0x0b; 20]).unwrap();
        let signature = key.sign(b"Hi There").unwrap();
        assert_eq!(hex(&signature), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        assert!(key.verify(b"Hi There", &signature).is_ok());
        assert!(key.verify(b"Hi there", &signature).is_err());
        assert!(key.verify(b"Hi There", &signature[..16]).is_err());
        assert_eq!(HmacKey::from_bytes("a", &[0; 15]).unwrap_err().code(), "value");
        assert!(Ed25519Verifier::new(Signer::public(&key)).is_err());
    }

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
    fn secrets_are_not_shown() {
        let shown = alloc::format!("{:?}", Ed25519Signer::from_seed("log", &[0x61; 32]).unwrap());
        assert!(shown.starts_with("Ed25519Signer(log+") && shown.len() < 40, "{shown}");
        let shown = alloc::format!("{:?}", HmacKey::from_bytes("log", &[0x61; 32]).unwrap());
        assert!(shown.starts_with("HmacKey(log+") && shown.len() < 40, "{shown}");
    }

    #[test]
    fn a_key_of_small_order_verifies_nothing() {
        let mut identity = [0; 32];
        identity[0] = 1;
        let key = PublicKey::new("weak", Algorithm::Ed25519, identity).unwrap();
        assert!(Ed25519Verifier::new(&key).is_err());
    }

    #[test]
    fn names_are_checked() {
        for name in ["", "a b", "a+b", "a\u{a0}b", "a\nb", &"a".repeat(257)] {
            assert!(PublicKey::new(name, Algorithm::Ed25519, [0; 32]).is_err(), "{name:?}");
        }
    }
}
