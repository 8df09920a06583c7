//! Bytes as text: lower-case hexadecimal and base64 (RFC 4648), each in one form only.

use crate::digest::Digest;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const STANDARD: GeneralPurpose = base64::engine::general_purpose::STANDARD;
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const EITHER_STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const EITHER_URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

const fn digit(value: u8) -> char {
    (if value < 10 { b'0'.wrapping_add(value) } else { b'a'.wrapping_add(value.wrapping_sub(10)) }) as char
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(digit.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    }
}

/// Reads exactly `2 N` lower-case hexadecimal digits.
pub(super) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(bytes)
}

/// Reads a digest of 64 lower-case hexadecimal digits.
pub(super) fn digest(text: &str) -> Option<Digest> {
    unhex(text).map(Digest::from_bytes)
}

/// Standard base64 with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads standard base64 with padding; nothing that would be written otherwise.
pub(super) fn unbase64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Bytes as serde sees them: base64 in JSON, plain in binary forms.
pub(crate) mod bytes {
    use super::{base64, unbase64};
    use alloc::string::String;
    use alloc::vec::Vec;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&base64(bytes))
        } else {
            bytes.serialize(serializer)
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        if !deserializer.is_human_readable() {
            return Vec::deserialize(deserializer);
        }
        unbase64(&String::deserialize(deserializer)?).ok_or_else(|| serde::de::Error::custom("expected base64"))
    }
}

/// Reads a SHA-256 hash in standard base64.
pub(super) fn base64_digest(text: &str) -> Option<Digest> {
    let bytes = unbase64(text)?;
    Some(Digest::from_bytes(bytes.try_into().ok()?))
}

/// Reads base64 of either alphabet, padded or not, as DSSE asks of a verifier.
pub(super) fn unbase64_either(text: &str) -> Option<Vec<u8>> {
    EITHER_STANDARD.decode(text).or_else(|_| EITHER_URL_SAFE.decode(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_has_one_form() {
        assert_eq!(hex(&[0, 15, 171, 255]), "000fabff");
        assert_eq!(unhex::<4>("000fabff"), Some([0, 15, 171, 255]));
        for other in ["000FABFF", "000fabf", "000fabff0", "000fabfg", "", "000fabfé"] {
            assert_eq!(unhex::<4>(other), None, "{other}");
        }
    }

    #[test]
    fn base64_has_one_form() {
        assert_eq!(unbase64("aGk="), Some(b"hi".to_vec()));
        for other in ["aGk", "aGl=", "aGk=\n", "aGk ="] {
            assert_eq!(unbase64(other), None, "{other}");
        }
        assert_eq!(unbase64_either("-_-_Pj8="), unbase64_either("+/+/Pj8"));
    }
}
