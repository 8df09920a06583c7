//! The words that the rules know, by spelling.
//!
//! Each check lists its spellings in its own file. The compiler builds one table of them all; a
//! word of a text is packed, lower-cased, into one integer and looked up there. A word that no rule
//! knows costs one failed look-up.

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
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs in the compiler only")]
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

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs in the compiler only")]
const fn length_masks() -> [u128; LONGEST + 1] {
    let mut masks = [0; LONGEST + 1];
    let mut length = 1;
    while length <= LONGEST {
        masks[length] = (masks[length - 1] << 8) | 0xff;
        length += 1;
    }
    masks
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs in the compiler only")]
const fn table() -> Table {
    let mut table = Table { slots: [0; SLOTS], entries: [(0, Word::Number); SPELLINGS] };
    let mut count = 0;
    let mut list = 0;
    while list < LISTS.len() {
        let mut item = 0;
        while item < LISTS[list].len() {
            let (spelling, word) = LISTS[list][item];
            assert!((word as u32) < u128::BITS, "a set of words has one bit each");
            let packed = pack_spelling(spelling.as_bytes());
            let mut slot = slot_of(packed);
            let mut known = false;
            while table.slots[slot] != 0 && !known {
                let (other, other_word) = table.entries[table.slots[slot] as usize - 1];
                known = other == packed;
                assert!(!known || other_word as u8 == word as u8, "two checks list one spelling for different words");
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

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs in the compiler only")]
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
#[allow(clippy::cast_possible_truncation, reason = "the halves of the packed word, and the top 9 bits of the product")]
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

/// The word that these bytes of a text spell, if a rule knows it. `start..end` is a whole word.
pub(super) fn recognise(bytes: &[u8], start: usize, end: usize) -> Option<Word> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::super::words::{Field, Reader};
    use super::*;

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
}
