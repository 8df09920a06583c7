//! Who signs, and with which of the two algorithms.
//!
//! The idea: signing is a trait, so that a host may sign elsewhere (a hardware key, a service). Secret bytes come from the
//! caller, are never shown by `Debug` and are overwritten when they are dropped. Nothing here makes keys: they need randomness.

use super::error::Error;
use super::key::{Algorithm, HMAC_IDENTIFIER, PublicKey};
use alloc::vec::Vec;
use core::fmt;
use ed25519_dalek::Signer as _;
use hmac::{KeyInit, Mac};

type HmacSha256 = hmac::Hmac<sha2::Sha256>;

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
        if public.algorithm() != Algorithm::Ed25519 {
            return Err(Error::bad_signature(public, "only who has the secret can verify an HMAC"));
        }
        let key = ed25519_dalek::VerifyingKey::from_bytes(public.material())
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
    use crate::attest::encoding::{hex, unhex};

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
}
