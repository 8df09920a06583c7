//! The scanner: text in, the few words that rules know out.
//!
//! All text rules are about whole words, so one pass over a field serves every check that reads
//! it. Word boundaries are found 64 bytes at a time as bit masks; each word is packed, lower-cased,
//! into one integer and looked up in a table that the compiler builds from the spellings listed in
//! the checks' own files. Words that no rule knows cost one failed look-up; nothing is allocated.
//!
//! Word characters are `[A-Za-z0-9_]`; everything else, letters outside ASCII included, separates.

use core::str;

use super::{abstraction, breadth, maintenance, no_test_value, outcome, scope_creep, security};

/// A word that some rule knows. Spellings that every rule treats alike share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Word {
    /// Digits only; the one word that is not in the table.
    Number,
    Abstract,
    Access,
    Add,
    Applicable,
    As,
    Base,
    Better,
    By,
    Callers,
    Check,
    Class,
    Consumers,
    Control,
    Existing,
    Extensible,
    Framework,
    General,
    Generic,
    Hand,
    Improve,
    Improvement,
    Interface,
    Issues,
    Manual,
    Model,
    Module,
    More,
    Multiple,
    Needed,
    New,
    No,
    Or,
    Overall,
    Part,
    Pipeline,
    Platform,
    Plug,
    Plugin,
    Proven,
    Refactor,
    Related,
    Responsibility,
    Reusable,
    Review,
    Reviewed,
    Seamlessly,
    Security,
    Sensitive,
    Smoke,
    Smoothly,
    Stable,
    Subsystem,
    System,
    Test,
    Thing,
    Threat,
    Three,
    User,
    Various,
    Verify,
    Visually,
    Wherever,
}

/// Spellings in lower case, of 1 to 16 word characters, with the word each stands for.
pub(super) type Spellings = &'static [(&'static str, Word)];

/// The lists of all checks. A spelling may stand in several, for the same word.
const LISTS: [Spellings; 7] = [
    no_test_value::SPELLINGS,
    scope_creep::SPELLINGS,
    security::SPELLINGS,
    outcome::SPELLINGS,
    breadth::SPELLINGS,
    maintenance::SPELLINGS,
    abstraction::SPELLINGS,
];

/// The longest spelling, in bytes: what fits into one packed word.
const LONGEST: usize = 16;
/// About four times the number of spellings, so that a look-up seldom meets a stranger.
const SLOTS: usize = 512;
/// Bit 5 of every byte: sets letters to lower case and leaves digits alone. `_` becomes 0x7f,
/// which no other word character does.
const LOWER_CASE: u128 = u128::from_le_bytes([0x20; LONGEST]);
/// `LENGTH_MASKS[n]` keeps the first n bytes of a packed word.
const LENGTH_MASKS: [u128; LONGEST + 1] = length_masks();
/// All spellings, hashed by their packed form, with linear probing.
static TABLE: Table = table();

struct Table {
    /// 0 for an empty slot, else one more than an index into the entries.
    slots: [u8; SLOTS],
    entries: [(u128, Word); SPELLINGS],
}

/// An upper bound of the entries: a spelling listed twice leaves one unused.
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs in the compiler only"
)]
const SPELLINGS: usize = {
    let mut count = 0;
    let mut list = 0;
    while list < LISTS.len() {
        count += LISTS[list].len();
        list += 1;
    }
    assert!(count < 256, "an entry's number must fit into a slot");
    count
};

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs in the compiler only"
)]
const fn length_masks() -> [u128; LONGEST + 1] {
    let mut masks = [0; LONGEST + 1];
    let mut length = 1;
    while length <= LONGEST {
        masks[length] = (masks[length - 1] << 8) | 0xff;
        length += 1;
    }
    masks
}

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs in the compiler only"
)]
const fn table() -> Table {
    let mut table = Table {
        slots: [0; SLOTS],
        entries: [(0, Word::Number); SPELLINGS],
    };
    let mut count = 0;
    let mut list = 0;
    while list < LISTS.len() {
        let mut item = 0;
        while item < LISTS[list].len() {
            let (spelling, word) = LISTS[list][item];
            let packed = pack_spelling(spelling.as_bytes());
            let mut slot = slot_of(packed);
            let mut known = false;
            while table.slots[slot] != 0 && !known {
                let (other, other_word) = table.entries[table.slots[slot] as usize - 1];
                known = other == packed;
                assert!(
                    !known || other_word as u8 == word as u8,
                    "two checks list one spelling for different words"
                );
                slot = (slot + 1) % SLOTS;
            }
            if !known {
                table.entries[count] = (packed, word);
                count += 1;
                table.slots[slot] = count as u8;
            }
            item += 1;
        }
        list += 1;
    }
    table
}

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs in the compiler only"
)]
const fn pack_spelling(spelling: &[u8]) -> u128 {
    assert!(!spelling.is_empty() && spelling.len() <= LONGEST);
    let mut packed = 0;
    let mut index = spelling.len();
    while index > 0 {
        index -= 1;
        assert!(spelling[index].is_ascii_lowercase() || spelling[index] == b'_');
        packed = (packed << 8) | (spelling[index] | 0x20) as u128;
    }
    packed
}

/// The slot where the search for a packed word begins.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the halves of the packed word, and the top 9 bits of the product"
)]
const fn slot_of(packed: u128) -> usize {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    const SHIFT: u32 = u64::BITS - SLOTS.ilog2();
    let folded = (packed as u64) ^ ((packed >> 64) as u64).wrapping_mul(SPREAD);
    (folded.wrapping_mul(SPREAD) >> SHIFT) as usize
}

fn look_up(packed: u128) -> Option<Word> {
    let mut slot = slot_of(packed);
    loop {
        let index = usize::from(*TABLE.slots.get(slot)?).checked_sub(1)?;
        let (spelling, word) = *TABLE.entries.get(index)?;
        if spelling == packed {
            return Some(word);
        }
        slot = slot.wrapping_add(1) % SLOTS;
    }
}

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
        words.iter().rev().zip(self.before).all(|(word, before)| {
            before.is_some_and(|(known, field)| known == *word && field >= first_field)
        })
    }
}

/// Reads fields one after another as if they were joined by one space.
#[derive(Default)]
pub(super) struct Reader {
    before: [Option<(Word, Field)>; Token::REACH],
}

impl Reader {
    /// Calls `take` for each known word of the text, in order.
    pub(super) fn read<'t>(
        &mut self,
        field: Field,
        text: &'t str,
        mut take: impl FnMut(&Token<'t>),
    ) {
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

fn recognise(bytes: &[u8], start: usize, end: usize) -> Option<Word> {
    let word = bytes.get(start..end)?;
    if word.first()?.is_ascii_digit() {
        return word.iter().all(u8::is_ascii_digit).then_some(Word::Number);
    }
    let mask = *LENGTH_MASKS.get(word.len())?;
    let packed = match bytes.get(start..).and_then(|rest| rest.first_chunk()) {
        Some(chunk) => u128::from_le_bytes(*chunk),
        None => pack_bytes(word),
    };
    look_up((packed | LOWER_CASE) & mask)
}

fn pack_bytes(bytes: &[u8]) -> u128 {
    let pack = |packed: u128, byte: &u8| (packed << 8) | u128::from(*byte);
    bytes.iter().rev().fold(0, pack)
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
    let (eights, rest) = block.as_chunks::<8>();
    let rest = rest
        .iter()
        .rev()
        .fold(0, |packed, byte| (packed << 8) | u64::from(*byte));
    eights
        .iter()
        .map(|eight| u64::from_le_bytes(*eight))
        .chain([rest])
        .zip((0..u64::BITS).step_by(8))
        .fold(0, |bits, (eight, shift)| {
            bits | word_bytes_of_eight(eight).wrapping_shl(shift)
        })
}

/// The same for eight bytes at once. A sum of two 7-bit numbers in each byte sets its top bit when
/// it reaches 0x80, and never carries into the next byte: that is a comparison.
const fn word_bytes_of_eight(eight: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = EACH * 0x80;
    const LOWER_CASE: u64 = EACH * 0x20;
    const UNDERSCORES: u64 = EACH * b'_' as u64;
    /// Top bits of the bytes that are at least `limit`; all are below 0x80.
    const fn at_least(bytes: u64, limit: u8) -> u64 {
        bytes.wrapping_add(EACH.wrapping_mul(0x80_u64.wrapping_sub(limit as u64)))
    }
    let ascii = eight & !TOP;
    let lower = ascii | LOWER_CASE;
    let letter = at_least(lower, b'a') & !at_least(lower, b'z' + 1);
    let digit = at_least(ascii, b'0') & !at_least(ascii, b'9' + 1);
    let underscore = !at_least(ascii ^ UNDERSCORES, 1);
    let tops = (letter | digit | underscore) & !eight & TOP;
    // Gathers the eight top bits into the low byte, in order.
    (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
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
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use alloc::string::String;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        for_each_word(text, |start, end| words.push(&text[start..end]));
        words
    }

    fn is_word_byte(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || byte == b'_'
    }

    #[test]
    fn every_byte_has_its_class_in_every_place() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                for filler in [0, b'a', 0xff] {
                    let mut eight = [filler; 8];
                    eight[place] = byte;
                    let bits = word_bytes_of_eight(u64::from_le_bytes(eight));
                    for (index, byte) in eight.iter().enumerate() {
                        assert_eq!(bits >> index & 1 == 1, is_word_byte(*byte), "{eight:?}");
                    }
                }
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
    fn every_spelling_is_found_in_any_case_and_place() {
        for (spelling, word) in LISTS.into_iter().flatten() {
            for text in [
                String::from(*spelling),
                spelling.to_ascii_uppercase(),
                alloc::format!("- {spelling} and so on and so on"),
            ] {
                let mut found = Vec::new();
                Reader::default().read(Field::Scope, &text, |token| found.push(token.word));
                assert_eq!(found[0], *word, "{text}");
            }
        }
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
