//! Checkpoints (C2SP tlog-checkpoint): a log's head as the text of a signed note.

use super::encoding::{base64, base64_digest};
use super::error::Error;
use super::note::Note;
use super::signer::{Signer, Verifier};
use super::tree::MOST_LEAVES;
use crate::digest::Digest;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// A head has at most this many extension lines.
pub const EXTENSIONS: usize = 16;

/// The head of a log: how many records it has, and the root over them.
///
/// ```
/// use stigmergate_core::attest::{checkpoint::Checkpoint, signer::{Ed25519Signer, Ed25519Verifier, Signer}, tree::empty_root};
///
/// let signer = Ed25519Signer::from_seed("example.com/log", &[7; 32]).unwrap();
/// let head = Checkpoint::new("example.com/log", 0, empty_root()).unwrap();
/// let note = head.sign(&[&signer]).unwrap().to_string();
/// let verifier = Ed25519Verifier::new(signer.public()).unwrap();
/// assert_eq!(Checkpoint::open(&note, &verifier).unwrap(), head);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The log's identity.
    pub origin: String,
    /// How many records it has.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Digest,
    /// Further lines, which mean nothing here.
    #[serde(default)]
    pub extensions: Vec<String>,
}

impl Checkpoint {
    /// A head.
    ///
    /// # Errors
    /// [`Error::Value`] and [`Error::TooLong`] for an origin that cannot be one.
    pub fn new(origin: &str, size: u64, root: Digest) -> Result<Self, Error> {
        super::key::check_name("origin", origin)?;
        Ok(Self { origin: origin.into(), size, root, extensions: Vec::new() })
    }

    /// Reads a note's text.
    ///
    /// # Errors
    /// [`Error::Malformed`] for anything that is not exactly what `Display` writes.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = || Error::malformed("checkpoint", "lines of origin, size and base64 of the root");
        let mut lines = text.strip_suffix('\n').ok_or_else(wrong)?.split('\n');
        let mut line = || lines.next().filter(|line| !line.is_empty()).ok_or_else(wrong);
        let (origin, size, root) = (line()?, line()?, line()?);
        let extensions: Vec<&str> = lines.by_ref().take(EXTENSIONS).collect();
        if lines.next().is_some() || extensions.iter().any(|line| line.is_empty()) {
            return Err(wrong());
        }
        Ok(Self {
            origin: origin.into(),
            size: decimal(size).filter(|size| *size <= MOST_LEAVES).ok_or_else(wrong)?,
            root: base64_digest(root).ok_or_else(wrong)?,
            extensions: extensions.into_iter().map(String::from).collect(),
        })
    }

    /// The head as a signed note.
    ///
    /// # Errors
    /// What [`Note::sign`] says.
    pub fn sign(&self, signers: &[&dyn Signer]) -> Result<Note, Error> {
        Note::sign(&alloc::format!("{self}"), signers)
    }

    /// Reads a signed head and checks the signature.
    ///
    /// # Errors
    /// As [`Note::parse`], [`Note::verify`] and [`Checkpoint::parse`].
    pub fn open(note: &str, verifier: &dyn Verifier) -> Result<Self, Error> {
        let note = Note::parse(note)?;
        note.verify(verifier)?;
        Self::parse(note.text())
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}\n{}\n{}", self.origin, self.size, base64(self.root.as_bytes()))?;
        self.extensions.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

/// A decimal number without leading zeroes.
pub(super) fn decimal(text: &str) -> Option<u64> {
    let plain = text == "0" || (!text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()));
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attest::tree::empty_root;
    use alloc::string::ToString;
    use alloc::vec;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_the_specification_reads_back() {
        let example = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
            \u{2014} example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n";
        let note = Note::parse(example).unwrap();
        let head = Checkpoint::parse(note.text()).unwrap();
        assert_eq!((head.origin.as_str(), head.size), ("example.com/behind-the-sofa", 20_852_163));
        assert_eq!(head.to_string(), note.text());
    }

    #[test]
    fn extension_lines_are_kept() {
        let mut head = Checkpoint::new("log", 3, empty_root()).unwrap();
        head.extensions = vec!["one".into(), "two words".into()];
        assert_eq!(Checkpoint::parse(&head.to_string()).unwrap(), head);
    }

    #[test]
    fn other_forms_are_refused() {
        let root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
        assert!(Checkpoint::parse(&alloc::format!("log\n1\n{root}\n")).is_ok());
        let others = [
            String::new(),
            alloc::format!("log\n1\n{root}"),
            alloc::format!("\n1\n{root}\n"),
            alloc::format!("log\n01\n{root}\n"),
            alloc::format!("log\n+1\n{root}\n"),
            alloc::format!("log\n-1\n{root}\n"),
            alloc::format!("log\n\n{root}\n"),
            alloc::format!("log\n18446744073709551616\n{root}\n"),
            alloc::format!("log\n9007199254740992\n{root}\n"),
            alloc::format!("log\n1\n{root}\n\n"),
            alloc::format!("log\n1\n{}\n", &root[4..]),
            alloc::format!("log\n1\n{root}=\n"),
            alloc::format!("log\n1\n{root}\n{}", "line\n".repeat(EXTENSIONS + 1)),
        ];
        for other in others {
            assert!(Checkpoint::parse(&other).is_err(), "{other:?}");
        }
        assert!(Checkpoint::new("a b", 0, empty_root()).is_err());
    }

    proptest! {
        #[test]
        fn what_reads_is_written_as_it_was(text in "(log\n|[0-9]{1,3}\n|CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n|\\PC|\n){0,6}") {
            if let Ok(head) = Checkpoint::parse(&text) {
                prop_assert_eq!(head.to_string(), text);
            }
        }
    }
}
