//! The scanner: text in, the few words that rules know out.
//!
//! All text rules are about whole words, so one pass over a field serves every check that reads
//! it. Word boundaries are found 64 bytes at a time as bit masks; each word is then looked up in
//! [`spellings`](super::spellings). Nothing is allocated.
//!
//! Word characters are `[A-Za-z0-9_]`; everything else, letters outside ASCII included, separates.

use super::spellings::{Word, recognise};

/// The fields that are read together, in the order in which they are joined, and the two that are
/// read alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    ActionType,
    Target,
    Rationale,
    Scope,
    Tests,
    Outcome,
}

/// A known word where it stands.
pub(super) struct Token<'t> {
    pub(super) word: Word,
    pub(super) field: Field,
    /// The word as written.
    pub(super) text: &'t str,
    /// The rest of its field.
    pub(super) rest: &'t str,
    /// The known words before it with only white space between, the nearest first.
    before: [Option<(Word, Field)>; Token::REACH],
}

impl Token<'_> {
    /// The longest phrase, "three or more callers", has this many words before its last.
    const REACH: usize = 3;

    /// Whether these words, in reading order, stand directly before this one: in `first_field` or
    /// later, with only white space between.
    pub(super) fn follows<const N: usize>(&self, words: [Word; N], first_field: Field) -> bool {
        const { assert!(N <= Self::REACH) };
        words
            .iter()
            .rev()
            .zip(self.before)
            .all(|(word, before)| before.is_some_and(|(known, field)| known == *word && field >= first_field))
    }
}

/// Reads fields one after another as if they were joined by one space.
#[derive(Default)]
pub(super) struct Reader {
    before: [Option<(Word, Field)>; Token::REACH],
}

impl Reader {
    /// Calls `take` for each known word of the text, in order.
    pub(super) fn read<'t>(&mut self, field: Field, text: &'t str, mut take: impl FnMut(&Token<'t>)) {
        let mut gap_start = 0;
        for_each_word(text, |start, end| {
            let Some(word) = recognise(text.as_bytes(), start, end) else {
                return;
            };
            if self.before[0].is_some() && !is_blank_between(text, gap_start, start) {
                self.before = [None; Token::REACH];
            }
            take(&Token {
                word,
                field,
                text: text.get(start..end).unwrap_or_default(),
                rest: text.get(end..).unwrap_or_default(),
                before: self.before,
            });
            let [nearest, next, _] = self.before;
            self.before = [Some((word, field)), nearest, next];
            gap_start = end;
        });
        if self.before[0].is_some() && !is_blank_between(text, gap_start, text.len()) {
            self.before = [None; Token::REACH];
        }
    }
}

/// Calls `visit` with the start and the end of each word, in bytes.
pub(super) fn for_each_word(text: &str, mut visit: impl FnMut(usize, usize)) {
    let mut start = None;
    let mut block_start = 0_usize;
    let mut last_bit = 0;
    for block in text.as_bytes().chunks(64) {
        let word_bytes = word_bytes(block);
        let mut edges = word_bytes ^ ((word_bytes << 1) | last_bit);
        while edges != 0 {
            let edge = block_start.wrapping_add(edges.trailing_zeros() as usize);
            match start.take() {
                None => start = Some(edge),
                Some(start) => visit(start, edge),
            }
            edges &= edges.wrapping_sub(1);
        }
        last_bit = word_bytes >> 63;
        block_start = block_start.wrapping_add(64);
    }
    if let Some(start) = start {
        visit(start, text.len());
    }
}

/// Bit i says whether byte i of a block of at most 64 is a word character.
fn word_bytes(block: &[u8]) -> u64 {
    let mut classes = [0; 64];
    for (class, byte) in classes.iter_mut().zip(block) {
        *class = u8::from(is_word_byte(*byte));
    }
    let (eights, _) = classes.as_chunks::<8>();
    eights.iter().rev().fold(0, |bits, eight| (bits << 8) | gather(u64::from_le_bytes(*eight)))
}

/// Whether a byte is a word character.
pub(super) const fn is_word_byte(byte: u8) -> bool {
    let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let is_digit = byte.wrapping_sub(b'0') < 10;
    is_letter | is_digit | (byte == b'_')
}

/// Gathers the lowest bits of eight bytes into the low byte, in order.
const fn gather(eight: u64) -> u64 {
    eight.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Words seen of those that a check counts, each once.
#[derive(Default)]
pub(super) struct Seen<'t> {
    words: u128,
    first: Option<&'t str>,
}

impl<'t> Seen<'t> {
    pub(super) fn add(&mut self, word: Word, text: &'t str) {
        self.words |= 1_u128.wrapping_shl(word as u32);
        self.first.get_or_insert(text);
    }

    /// How many different ones.
    pub(super) fn count(&self) -> u32 {
        self.words.count_ones()
    }

    /// The text of the first, or "".
    pub(super) fn first(&self) -> &'t str {
        self.first.unwrap_or_default()
    }
}

/// White space: Unicode's, and the four ASCII information separators.
fn is_white_space(character: char) -> bool {
    character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
}

/// Whether a text is empty or white space.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(is_white_space)
}

/// The text without white space at its ends.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_white_space)
}

fn is_blank_between(text: &str, start: usize, end: usize) -> bool {
    text.get(start..end).is_some_and(is_blank)
}

/// Whether the whole text is these words, in any ASCII case, with white space between them.
pub(super) fn is_phrase(text: &str, words: &[&str]) -> bool {
    let mut rest = text;
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            let trimmed = rest.trim_start_matches(is_white_space);
            if trimmed.len() == rest.len() {
                return false;
            }
            rest = trimmed;
        }
        match rest.split_at_checked(word.len()) {
            Some((start, after)) if start.eq_ignore_ascii_case(word) => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        for_each_word(text, |start, end| words.push(&text[start..end]));
        words
    }

    #[test]
    fn every_byte_has_its_class_in_every_place() {
        for byte in 0..=u8::MAX {
            let is_word = byte.is_ascii_alphanumeric() || byte == b'_';
            for place in 0..64 {
                let mut block = [b'-'; 64];
                block[place] = byte;
                assert_eq!(word_bytes(&block), u64::from(is_word) << place, "{byte}");
                block = [b'a'; 64];
                block[place] = byte;
                assert_eq!(!word_bytes(&block), u64::from(!is_word) << place, "{byte}");
            }
        }
    }

    #[test]
    fn words_end_at_whatever_is_not_a_word_character() {
        assert_eq!(words("café-au_lait, n/a"), ["caf", "au_lait", "n", "a"]);
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words("\0a\0"), ["a"]);
    }

    #[test]
    fn control_characters_are_not_folded_into_words() {
        // 0x10 with bit 5 set would be the digit 0, `@` a grave accent, `[` a brace.
        assert_eq!(words("\x10\x19@[`{/:"), [""; 0]);
    }

    #[test]
    fn phrases_need_white_space_between_their_words() {
        assert!(is_phrase("Not\u{a0}\n APPLICABLE", &["not", "applicable"]));
        assert!(!is_phrase("notapplicable", &["not", "applicable"]));
        assert!(!is_phrase("not applicable ", &["not", "applicable"]));
        assert!(!is_phrase("nöt", &["not"]));
    }

    proptest! {
        #[test]
        fn words_are_the_runs_of_word_characters(text in "[a-c_0 .é@`\\[]{0,200}") {
            let expected: Vec<&str> = text
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .filter(|word| !word.is_empty())
                .collect();
            prop_assert_eq!(words(&text), expected);
        }
    }
}
