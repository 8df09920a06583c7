//! One record's proof on its own (C2SP tlog-proof): where it is in the log, the hashes up to the root, and the signed head.
//!
//! Whoever has the record, the file and the log's verifier key needs nothing else.

use super::checkpoint::{Checkpoint, decimal};
use super::encoding::{base64, base64_digest, unbase64};
use super::error::Error;
use super::note::{NOTE_BYTES, Note};
use super::signer::Verifier;
use super::tree::{leaf_hash, verify_inclusion};
use crate::digest::Digest;
use alloc::vec::Vec;
use core::fmt;

/// The first line.
const HEADER: &str = "c2sp.org/tlog-proof@v1";

/// No tree is higher.
const MOST_HASHES: usize = 64;

/// The extra data has at most this many bytes.
pub const EXTRA_BYTES: usize = 64 * 1024;

/// A `.tlog-proof`. Nobody has checked it: ask [`RecordProof::verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordProof {
    /// Opaque data of the application, signed by nobody.
    pub extra: Option<Vec<u8>>,
    /// The record's number.
    pub index: u64,
    /// From the leaf's sibling to the root's child.
    pub hashes: Vec<Digest>,
    /// The signed head.
    pub head: Note,
}

impl RecordProof {
    /// Reads a proof.
    ///
    /// # Errors
    /// [`Error::TooLong`] and [`Error::Malformed`] for anything that `Display` would not write.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = || Error::malformed("proof", "a header, an index, hashes, an empty line and a signed head");
        let limit = EXTRA_BYTES.saturating_mul(2).saturating_add(NOTE_BYTES);
        if text.len() > limit {
            return Err(Error::too_long("proof", text.len(), limit));
        }
        let (proof, head) = text.split_once("\n\n").ok_or_else(wrong)?;
        let mut lines = proof.split('\n');
        if lines.next() != Some(HEADER) {
            return Err(wrong());
        }
        let mut line = lines.next().ok_or_else(wrong)?;
        let mut extra = None;
        if let Some(data) = line.strip_prefix("extra ") {
            extra = Some(unbase64(data).filter(|data| data.len() <= EXTRA_BYTES).ok_or_else(wrong)?);
            line = lines.next().ok_or_else(wrong)?;
        }
        let index = line.strip_prefix("index ").and_then(decimal).ok_or_else(wrong)?;
        let hashes: Option<Vec<Digest>> = lines.by_ref().take(MOST_HASHES).map(base64_digest).collect();
        if lines.next().is_some() {
            return Err(wrong());
        }
        Ok(Self { extra, index, hashes: hashes.ok_or_else(wrong)?, head: Note::parse(head)? })
    }

    /// Checks that a record is in the log, and answers with the head that it is under.
    ///
    /// # Errors
    /// [`Error::BadSignature`] for a head that the key has not signed, [`Error::BadHash`] for a record that is not in it.
    pub fn verify(&self, record: &[u8], verifier: &dyn Verifier) -> Result<Checkpoint, Error> {
        self.head.verify(verifier)?;
        let head = Checkpoint::parse(self.head.text())?;
        verify_inclusion(leaf_hash(record), self.index, head.size, &self.hashes, &head.root)?;
        Ok(head)
    }
}

impl fmt::Display for RecordProof {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{HEADER}")?;
        if let Some(extra) = &self.extra {
            writeln!(out, "extra {}", base64(extra))?;
        }
        writeln!(out, "index {}", self.index)?;
        self.hashes.iter().try_for_each(|hash| writeln!(out, "{}", base64(hash.as_bytes())))?;
        write!(out, "\n{}", self.head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attest::signer::{Ed25519Signer, Ed25519Verifier, Signer};
    use crate::attest::tree::{CompactRange, inclusion_proof};
    use alloc::string::{String, ToString};
    use proptest::prelude::*;

    const RECORDS: [&[u8]; 3] = [b"one", b"two", b"three"];

    fn proof_of(index: u64) -> (RecordProof, Ed25519Verifier) {
        let signer = Ed25519Signer::from_seed("example.com/log", &[1; 32]).unwrap();
        let leaves: Vec<Digest> = RECORDS.iter().map(|record| leaf_hash(record)).collect();
        let mut tree = CompactRange::default();
        leaves.iter().for_each(|leaf| tree.append(*leaf));
        let nodes = |level: u8, index: u64| match level {
            0 => leaves.get(index as usize).copied(),
            _ => Some(crate::attest::tree::node_hash(&leaves[0], &leaves[1])),
        };
        let hashes = inclusion_proof(index, 3, &nodes).unwrap();
        let head = Checkpoint::new("example.com/log", 3, tree.root()).unwrap().sign(&[&signer]).unwrap();
        (RecordProof { extra: None, index, hashes, head }, Ed25519Verifier::new(signer.public()).unwrap())
    }

    #[test]
    fn a_proof_reads_back_and_holds_for_its_record_only() {
        for (index, record) in RECORDS.iter().enumerate() {
            let (proof, verifier) = proof_of(index as u64);
            let read = RecordProof::parse(&proof.to_string()).unwrap();
            assert_eq!(read, proof);
            assert_eq!(read.verify(record, &verifier).unwrap().size, 3);
            assert_eq!(read.verify(b"four", &verifier).unwrap_err().code(), "bad_hash");
        }
    }

    #[test]
    fn a_proof_has_the_form_of_the_specification() {
        let (mut proof, _) = proof_of(2);
        proof.extra = Some(b"hi".to_vec());
        let text = proof.to_string();
        let lines: Vec<&str> = text.split('\n').collect();
        assert_eq!(lines[..3], ["c2sp.org/tlog-proof@v1", "extra aGk=", "index 2"]);
        assert_eq!((lines[4], lines[5], lines[6]), ("", "example.com/log", "3"));
        assert_eq!(RecordProof::parse(&text).unwrap(), proof);
    }

    #[test]
    fn every_changed_byte_of_a_proof_is_seen() {
        let (proof, verifier) = proof_of(0);
        let text = proof.to_string();
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1;
            let read = String::from_utf8(bytes).ok().and_then(|text| RecordProof::parse(&text).ok());
            assert!(read.is_none_or(|proof| proof.verify(b"one", &verifier).is_err()), "byte {place}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(c2sp.org/tlog-proof@v1\n|extra aGk=\n|index 0\n|\n|log\n|\u{2014} log AAAAAAA=\n|\\PC){0,12}") {
            if let Ok(proof) = RecordProof::parse(&text) {
                prop_assert_eq!(proof.to_string(), text);
            }
        }
    }
}
