//! Signed notes (C2SP signed-note): a text and the signatures of it, one a line.
//!
//! The idea: a line names its key, so that a note can carry the signatures of people whom the reader does not know; those are
//! kept and ignored. What the reader must know is one key, and that one must hold.

use super::encoding::{base64, unbase64};
use super::error::Error;
use super::key::{KeyId, check_name};
use super::signer::{Signer, Verifier};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A note has at most this many bytes.
pub const NOTE_BYTES: usize = 256 * 1024;

/// A note has at most this many signatures.
pub const SIGNATURES: usize = 64;

/// A text with its signatures. Nobody has checked them: ask [`Note::verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<SignatureLine>,
}

/// A signature of a note's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureLine {
    /// The key's name.
    pub name: String,
    /// The key's short id.
    pub id: KeyId,
    /// The signature.
    pub signature: Vec<u8>,
}

impl Note {
    /// A text signed by some keys.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a text that does not end in a newline or has other control characters, and what a signer says.
    pub fn sign(text: &str, signers: &[&dyn Signer]) -> Result<Self, Error> {
        check_text(text)?;
        let mut note = Self { text: text.into(), signatures: Vec::with_capacity(signers.len()) };
        signers.iter().try_for_each(|signer| note.add(*signer))?;
        Ok(note)
    }

    /// Adds another key's signature.
    ///
    /// # Errors
    /// What the signer says, [`Error::TooLong`] for more than [`SIGNATURES`].
    pub fn add(&mut self, signer: &dyn Signer) -> Result<(), Error> {
        if self.signatures.len() >= SIGNATURES {
            return Err(Error::too_long("signatures", self.signatures.len().saturating_add(1), SIGNATURES));
        }
        let signature = signer.sign(self.text.as_bytes())?;
        let key = signer.public();
        self.signatures.push(SignatureLine { name: key.name().into(), id: key.id(), signature });
        Ok(())
    }

    /// Reads a note.
    ///
    /// # Errors
    /// [`Error::TooLong`] and [`Error::Malformed`] for anything that is not exactly what a note's `Display` writes.
    pub fn parse(note: &str) -> Result<Self, Error> {
        if note.len() > NOTE_BYTES {
            return Err(Error::too_long("note", note.len(), NOTE_BYTES));
        }
        let wrong = || Error::malformed("note", "a text, an empty line and signature lines");
        let end = note.rfind("\n\n").ok_or_else(wrong)?.saturating_add(1);
        let (text, lines) = note.split_at_checked(end).ok_or_else(wrong)?;
        check_text(text)?;
        let lines = lines.strip_prefix('\n').and_then(|lines| lines.strip_suffix('\n')).ok_or_else(wrong)?;
        let mut signatures = Vec::new();
        for line in lines.split('\n') {
            if signatures.len() >= SIGNATURES {
                return Err(Error::too_long("signatures", SIGNATURES.saturating_add(1), SIGNATURES));
            }
            signatures.push(SignatureLine::parse(line)?);
        }
        Ok(Self { text: text.into(), signatures })
    }

    /// The text, which ends in a newline. To be ignored unless [`Note::verify`] has held.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All signatures, also those of unknown keys.
    #[must_use]
    pub fn signatures(&self) -> &[SignatureLine] {
        &self.signatures
    }

    /// Checks that a key has signed the text: there is a line of its name and id, and every such line holds.
    ///
    /// # Errors
    /// [`Error::BadSignature`].
    pub fn verify(&self, verifier: &dyn Verifier) -> Result<(), Error> {
        let (key, id) = (verifier.public(), verifier.public().id());
        let mut signed = false;
        for line in self.signatures.iter().filter(|line| line.id == id && line.name == key.name()) {
            verifier.verify(self.text.as_bytes(), &line.signature)?;
            signed = true;
        }
        if signed { Ok(()) } else { Err(Error::bad_signature(key, "the note has none")) }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.text)?;
        self.signatures.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

impl SignatureLine {
    fn parse(line: &str) -> Result<Self, Error> {
        let wrong =
            || Error::malformed("signature line", "an em dash, the key's name and base64 of its id and signature");
        let rest = line.strip_prefix("\u{2014} ").ok_or_else(wrong)?;
        let (name, base64) = rest.split_once(' ').ok_or_else(wrong)?;
        check_name("key_name", name)?;
        let bytes = unbase64(base64).ok_or_else(wrong)?;
        let (id, signature) = bytes.split_first_chunk::<4>().ok_or_else(wrong)?;
        Ok(Self { name: name.into(), id: KeyId::from_bytes(*id), signature: signature.into() })
    }
}

impl fmt::Display for SignatureLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\u{2014} {} {}", self.name, base64(&[&self.id.as_bytes()[..], &self.signature].concat()))
    }
}

fn check_text(text: &str) -> Result<(), Error> {
    let plain = text.ends_with('\n') && text.chars().all(|c| c == '\n' || u32::from(c) >= 0x20);
    if plain {
        Ok(())
    } else {
        Err(Error::malformed("note", "lines that each end in a newline, without other control characters"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attest::key::PublicKey;
    use crate::attest::signer::{Ed25519Signer, Ed25519Verifier, HmacKey};
    use alloc::string::ToString;
    use proptest::prelude::*;

    const EXAMPLE: &str = "This is an example message.\n\n\
        \u{2014} example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";
    const EXAMPLE_KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

    fn verifier(key: &str) -> Ed25519Verifier {
        Ed25519Verifier::new(&PublicKey::parse(key).unwrap()).unwrap()
    }

    #[test]
    fn the_example_of_the_specification_holds() {
        let note = Note::parse(EXAMPLE).unwrap();
        assert_eq!(note.text(), "This is an example message.\n");
        note.verify(&verifier(EXAMPLE_KEY)).unwrap();
        assert_eq!(note.to_string(), EXAMPLE);
    }

    #[test]
    fn the_verse_of_the_specification_reads_back() {
        let verse = "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n\
            \u{2014} quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n";
        let note = Note::parse(verse).unwrap();
        assert!(note.text().ends_with("\n\ned è subito sera.\n"));
        assert_eq!(note.to_string(), verse);
    }

    /// The note in the documentation of the implementation that the format comes from.
    #[test]
    fn the_first_implementation_writes_the_same_note() {
        let seed = unbase64("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz").unwrap();
        let signer = Ed25519Signer::from_seed("PeterNeumann", seed[1..].try_into().unwrap()).unwrap();
        let text =
            "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
        let expected = alloc::format!(
            "{text}\n\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
        );
        assert_eq!(Note::sign(text, &[&signer]).unwrap().to_string(), expected);
        assert_eq!(
            signer.public().verifier_key(),
            "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
        );
    }

    #[test]
    fn unknown_signatures_are_kept_and_ignored() {
        let (log, witness) = (
            Ed25519Signer::from_seed("example.com/log", &[1; 32]).unwrap(),
            HmacKey::from_bytes("witness.example", &[2; 16]).unwrap(),
        );
        let note = Note::sign("text\n", &[&witness, &log]).unwrap();
        let read = Note::parse(&note.to_string()).unwrap();
        assert_eq!(read, note);
        read.verify(&Ed25519Verifier::new(log.public()).unwrap()).unwrap();
        read.verify(&witness).unwrap();
        assert_eq!(read.verify(&verifier(EXAMPLE_KEY)).unwrap_err().code(), "bad_signature");
    }

    #[test]
    fn a_known_key_with_a_wrong_line_spoils_the_note() {
        let signer = Ed25519Signer::from_seed("log", &[1; 32]).unwrap();
        let mut note = Note::sign("text\n", &[&signer, &signer]).unwrap();
        note.signatures[1].signature[3] ^= 1;
        assert!(note.verify(&Ed25519Verifier::new(signer.public()).unwrap()).is_err());
    }

    #[test]
    fn every_changed_byte_of_a_note_is_seen() {
        let key = verifier(EXAMPLE_KEY);
        for place in 0..EXAMPLE.len() {
            for bit in [1, 0x20, 0x80] {
                let mut bytes = EXAMPLE.as_bytes().to_vec();
                bytes[place] ^= bit;
                let held = String::from_utf8(bytes).ok().and_then(|text| Note::parse(&text).ok()?.verify(&key).ok());
                assert!(held.is_none(), "byte {place}");
            }
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let others = [
            "",
            "\n",
            "\n\n",
            "text\n",
            "text\n\n",
            "text\n\n\n",
            "text\n\n\u{2014} name AAAAAAA=",
            "text\n\n\u{2014}  AAAAAAA=\n",
            "text\n\n- name AAAAAAA=\n",
            "text\n\n\u{2014} na+me AAAAAAA=\n",
            "text\n\n\u{2014} name AAA=\n",
            "text\n\n\u{2014} name AAAAAAA= \n",
            "text\r\n\n\u{2014} name AAAAAAA=\n",
            "text\t\n\n\u{2014} name AAAAAAA=\n",
        ];
        for other in others {
            assert!(Note::parse(other).is_err(), "{other:?}");
        }
        assert!(Note::parse("text\n\n\u{2014} name AAAAAAA=\n").is_ok());
        let many = alloc::format!("text\n\n{}", "\u{2014} name AAAAAAA=\n".repeat(SIGNATURES + 1));
        assert_eq!(Note::parse(&many).unwrap_err().code(), "too_long");
        assert_eq!(Note::parse(&"a".repeat(NOTE_BYTES + 1)).unwrap_err().code(), "too_long");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\PC|\n|\u{2014} |AAAAAAA=){0,40}") {
            if let Ok(note) = Note::parse(&text) {
                prop_assert_eq!(note.to_string(), text);
            }
        }
    }
}
