//! The Merkle tree of RFC 6962 over SHA-256: one hash that stands for all records in their order.
//!
//! The idea: a leaf is hashed with a zero byte before it and a node with a one, so that neither can pass for the other. A
//! [`CompactRange`] keeps the roots of the complete subtrees only, so the root of any number of leaves is known in O(log n)
//! memory; proofs are made from stored [`Nodes`] and checked with nothing but hashes.

use super::error::Error;
use crate::digest::Digest;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;

/// A tree has at most this many leaves: what a JSON number keeps exactly.
pub const MOST_LEAVES: u64 = super::canonical::LARGEST;

fn hash(parts: &[&[u8]]) -> Digest {
    let mut hasher = sha2::Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    Digest::from_bytes(hasher.finalize().into())
}

/// SHA-256 of some bytes, as `sha256sum` gives it.
pub(super) fn sha256(bytes: &[u8]) -> Digest {
    hash(&[bytes])
}

/// The hash of a leaf.
#[must_use]
pub fn leaf_hash(record: &[u8]) -> Digest {
    hash(&[&[0], record])
}

/// The hash of a node over two others.
#[must_use]
pub fn node_hash(left: &Digest, right: &Digest) -> Digest {
    hash(&[&[1], left.as_bytes(), right.as_bytes()])
}

/// The root of a tree without leaves.
#[must_use]
pub fn empty_root() -> Digest {
    hash(&[])
}

/// The roots of the complete subtrees of a tree, the largest first: enough to append and to know the root.
///
/// ```
/// use stigmergate_core::attest::tree::{CompactRange, leaf_hash, node_hash};
///
/// let mut tree = CompactRange::default();
/// tree.append(leaf_hash(b"one"));
/// tree.append(leaf_hash(b"two"));
/// assert_eq!(tree.root(), node_hash(&leaf_hash(b"one"), &leaf_hash(b"two")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct CompactRange {
    size: u64,
    subtrees: Vec<Digest>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    size: u64,
    subtrees: Vec<Digest>,
}

impl From<CompactRange> for Stored {
    fn from(range: CompactRange) -> Self {
        Self { size: range.size, subtrees: range.subtrees }
    }
}

impl TryFrom<Stored> for CompactRange {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self, Error> {
        let fits = stored.size <= MOST_LEAVES && stored.subtrees.len() as u64 == u64::from(stored.size.count_ones());
        if !fits {
            return Err(Error::malformed("compact range", "one hash for each complete subtree"));
        }
        Ok(Self { size: stored.size, subtrees: stored.subtrees })
    }
}

impl CompactRange {
    /// How many leaves there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf.
    pub fn append(&mut self, leaf: Digest) {
        // Each trailing one in the size is a complete subtree that the leaf completes to a larger one.
        let mut node = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.subtrees.pop() {
                node = node_hash(&left, &node);
            }
        }
        self.subtrees.push(node);
        self.size = self.size.saturating_add(1);
    }

    /// The root of the tree.
    #[must_use]
    pub fn root(&self) -> Digest {
        let joined = self.subtrees.iter().rev().copied().reduce(|right, left| node_hash(&left, &right));
        joined.unwrap_or_else(empty_root)
    }
}

/// The stored hashes of a tree: the root of the complete subtree of `2^level` leaves that begins at leaf `index * 2^level`.
pub trait Nodes {
    /// The hash, where it is stored.
    fn node(&self, level: u8, index: u64) -> Option<Digest>;
}

impl<F: Fn(u8, u64) -> Option<Digest>> Nodes for F {
    fn node(&self, level: u8, index: u64) -> Option<Digest> {
        self(level, index)
    }
}

/// Half of a range of at least two leaves, as RFC 6962 splits it: the largest power of two below its length.
fn split(length: u64) -> u64 {
    let last = length.saturating_sub(1);
    1_u64.checked_shl(last.checked_ilog2().unwrap_or(0)).unwrap_or(1)
}

/// The root over the leaves from `start` to `end`, which begin where a subtree of their size would.
fn range_root(start: u64, end: u64, nodes: &impl Nodes) -> Result<Digest, Error> {
    let mut from = start;
    let mut parts = Vec::new();
    while from < end {
        // The largest complete subtree that begins here and ends in time.
        let length = end.saturating_sub(from);
        let level = length.ilog2().min(from.trailing_zeros());
        let (small, index) = (u8::try_from(level).unwrap_or(63), from.checked_shr(level).unwrap_or(0));
        parts.push(nodes.node(small, index).ok_or(Error::NodeMissing { level: small, index })?);
        from = from.saturating_add(1_u64.checked_shl(level).unwrap_or(u64::MAX));
    }
    Ok(parts.into_iter().rev().reduce(|right, left| node_hash(&left, &right)).unwrap_or_else(empty_root))
}

/// The root of the first `size` leaves.
///
/// # Errors
/// [`Error::NodeMissing`] for a hash that is not stored.
pub fn root(size: u64, nodes: &impl Nodes) -> Result<Digest, Error> {
    range_root(0, size, nodes)
}

/// The proof that leaf `index` is in the tree of `size` leaves, from the leaf's sibling to the root's child (RFC 6962, 2.1.1).
///
/// # Errors
/// [`Error::Value`] for a leaf that the tree does not have, [`Error::NodeMissing`] for a hash that is not stored.
pub fn inclusion_proof(index: u64, size: u64, nodes: &impl Nodes) -> Result<Vec<Digest>, Error> {
    if index >= size || size > MOST_LEAVES {
        return Err(Error::value("index", "a leaf of the tree"));
    }
    let (mut start, mut end) = (0_u64, size);
    let mut proof = Vec::new();
    while end.saturating_sub(start) > 1 {
        let middle = start.saturating_add(split(end.saturating_sub(start)));
        if index < middle {
            proof.push(range_root(middle, end, nodes)?);
            end = middle;
        } else {
            proof.push(range_root(start, middle, nodes)?);
            start = middle;
        }
    }
    proof.reverse();
    Ok(proof)
}

/// The proof that the tree of `new` leaves begins with the tree of `old` leaves (RFC 6962, 2.1.2).
///
/// # Errors
/// [`Error::Value`] unless 0 <= `old` <= `new`, [`Error::NodeMissing`] for a hash that is not stored.
pub fn consistency_proof(old: u64, new: u64, nodes: &impl Nodes) -> Result<Vec<Digest>, Error> {
    if old > new || new > MOST_LEAVES {
        return Err(Error::value("old", "a size that the tree has had"));
    }
    let mut proof = Vec::new();
    if old == 0 || old == new {
        return Ok(proof);
    }
    // Down to the subtree whose end is the old tree's end.
    let (mut start, mut end) = (0_u64, new);
    while old != end {
        let middle = start.saturating_add(split(end.saturating_sub(start)));
        if old <= middle {
            proof.push(range_root(middle, end, nodes)?);
            end = middle;
        } else {
            proof.push(range_root(start, middle, nodes)?);
            start = middle;
        }
    }
    // Whoever has the old root knows the subtree that is the whole old tree.
    if start > 0 {
        proof.push(range_root(start, end, nodes)?);
    }
    proof.reverse();
    Ok(proof)
}

/// Checks that a leaf is in a tree (RFC 9162, 2.1.3.2).
///
/// # Errors
/// [`Error::BadHash`] when the proof does not lead to the root.
pub fn verify_inclusion(leaf: Digest, index: u64, size: u64, proof: &[Digest], root: &Digest) -> Result<(), Error> {
    let wrong = || Error::bad_hash("the inclusion proof");
    if index >= size {
        return Err(wrong());
    }
    let (mut place, mut last, mut hash) = (index, size.saturating_sub(1), leaf);
    for sibling in proof {
        if last == 0 {
            return Err(wrong());
        }
        if place & 1 == 1 || place == last {
            hash = node_hash(sibling, &hash);
            // A node without a right sibling is carried up.
            while place & 1 == 0 && place != 0 {
                (place, last) = (place >> 1, last >> 1);
            }
        } else {
            hash = node_hash(&hash, sibling);
        }
        (place, last) = (place >> 1, last >> 1);
    }
    if last == 0 && hash == *root { Ok(()) } else { Err(wrong()) }
}

/// Checks that a tree begins with an older one (RFC 9162, 2.1.4.2).
///
/// # Errors
/// [`Error::BadHash`] when the proof does not lead to both roots.
pub fn verify_consistency(
    old: u64,
    old_root: &Digest,
    new: u64,
    new_root: &Digest,
    proof: &[Digest],
) -> Result<(), Error> {
    let wrong = || Error::bad_hash("the consistency proof");
    if old > new {
        return Err(wrong());
    }
    if old == 0 || old == new {
        let known = if old == 0 { empty_root() } else { *new_root };
        return if proof.is_empty() && *old_root == known { Ok(()) } else { Err(wrong()) };
    }
    let (mut place, mut last) = (old.saturating_sub(1), new.saturating_sub(1));
    while place & 1 == 1 {
        (place, last) = (place >> 1, last >> 1);
    }
    // An old tree that is one complete subtree is where both ways begin.
    let (first, rest) = if old.is_power_of_two() {
        (*old_root, proof)
    } else {
        proof.split_first().map(|(first, rest)| (*first, rest)).ok_or_else(wrong)?
    };
    let (mut old_hash, mut new_hash) = (first, first);
    for sibling in rest {
        if last == 0 {
            return Err(wrong());
        }
        if place & 1 == 1 || place == last {
            old_hash = node_hash(sibling, &old_hash);
            new_hash = node_hash(sibling, &new_hash);
            while place & 1 == 0 && place != 0 {
                (place, last) = (place >> 1, last >> 1);
            }
        } else {
            new_hash = node_hash(&new_hash, sibling);
        }
        (place, last) = (place >> 1, last >> 1);
    }
    if last == 0 && old_hash == *old_root && new_hash == *new_root { Ok(()) } else { Err(wrong()) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;
    use proptest::prelude::*;

    /// RFC 6962, 2.1, word for word: the oracle.
    fn naive(leaves: &[Digest]) -> Digest {
        match leaves {
            [] => empty_root(),
            [leaf] => *leaf,
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                node_hash(&naive(left), &naive(right))
            }
        }
    }

    /// RFC 6962, 2.1.1.
    fn naive_path(index: usize, leaves: &[Digest]) -> Vec<Digest> {
        if leaves.len() == 1 {
            return vec![];
        }
        let middle = leaves.len().next_power_of_two() / 2;
        let (left, right) = leaves.split_at(middle);
        let (mut path, other) = if index < middle {
            (naive_path(index, left), naive(right))
        } else {
            (naive_path(index - middle, right), naive(left))
        };
        path.push(other);
        path
    }

    /// RFC 6962, 2.1.2.
    fn naive_consistency(old: usize, leaves: &[Digest], whole: bool) -> Vec<Digest> {
        if old == leaves.len() {
            return if whole { vec![] } else { vec![naive(leaves)] };
        }
        let middle = leaves.len().next_power_of_two() / 2;
        let (left, right) = leaves.split_at(middle);
        let (mut path, other) = if old <= middle {
            (naive_consistency(old, left, whole), naive(right))
        } else {
            (naive_consistency(old - middle, right, false), naive(left))
        };
        path.push(other);
        path
    }

    fn leaves(count: usize) -> Vec<Digest> {
        (0..count).map(|number| leaf_hash(number.to_string().as_bytes())).collect()
    }

    fn stored(leaves: &[Digest]) -> impl Fn(u8, u64) -> Option<Digest> {
        move |level, index| {
            let width = 1_usize << level;
            let start = usize::try_from(index).ok()? * width;
            leaves.get(start..start + width).map(naive)
        }
    }

    fn range_of(leaves: &[Digest]) -> CompactRange {
        let mut range = CompactRange::default();
        leaves.iter().for_each(|leaf| range.append(*leaf));
        range
    }

    /// The leaves and roots that every implementation is tried on (transparency-dev/merkle, testonly).
    #[test]
    fn the_reference_leaves_have_the_reference_roots() {
        let records: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let roots = [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let mut range = CompactRange::default();
        assert_eq!(range.root().to_string(), roots[0]);
        for (record, root) in records.iter().zip(&roots[1..]) {
            range.append(leaf_hash(record));
            assert_eq!(range.root().to_string(), *root);
        }
    }

    /// The consistency proof from six to eight of the same leaves (transparency-dev/merkle).
    #[test]
    fn the_reference_consistency_proof_is_made() {
        let records: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let leaves: Vec<Digest> = records.iter().map(|record| leaf_hash(record)).collect();
        let proof: Vec<_> =
            consistency_proof(6, 8, &stored(&leaves)).unwrap().iter().map(ToString::to_string).collect();
        let expected = [
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ];
        assert_eq!(proof, expected);
    }

    #[test]
    fn every_proof_of_a_small_tree_is_the_naive_one_and_holds() {
        for size in 0..=33 {
            let leaves = leaves(size);
            let (nodes, new_root) = (stored(&leaves), naive(&leaves));
            let size = size as u64;
            assert_eq!(range_of(&leaves).root(), new_root);
            assert_eq!(root(size, &nodes).unwrap(), new_root);
            for index in 0..size {
                let proof = inclusion_proof(index, size, &nodes).unwrap();
                assert_eq!(proof, naive_path(index as usize, &leaves));
                verify_inclusion(leaves[index as usize], index, size, &proof, &new_root).unwrap();
            }
            for old in 0..=size {
                let proof = consistency_proof(old, size, &nodes).unwrap();
                if old > 0 {
                    assert_eq!(proof, naive_consistency(old as usize, &leaves, true));
                }
                let old_root = naive(&leaves[..old as usize]);
                verify_consistency(old, &old_root, size, &new_root, &proof).unwrap();
            }
        }
    }

    proptest! {
        #[test]
        fn large_trees_agree_with_the_naive_one(size in 1_usize..700, a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>()) {
            let leaves = leaves(size);
            let (index, old) = (a.index(size), b.index(size) + 1);
            let root = range_of(&leaves).root();
            prop_assert_eq!(root, naive(&leaves));
            let proof = inclusion_proof(index as u64, size as u64, &stored(&leaves)).unwrap();
            prop_assert_eq!(&proof, &naive_path(index, &leaves));
            prop_assert!(verify_inclusion(leaves[index], index as u64, size as u64, &proof, &root).is_ok());
            let proof = consistency_proof(old as u64, size as u64, &stored(&leaves)).unwrap();
            prop_assert_eq!(&proof, &naive_consistency(old, &leaves, true));
            prop_assert!(verify_consistency(old as u64, &naive(&leaves[..old]), size as u64, &root, &proof).is_ok());
        }

        #[test]
        fn a_changed_proof_does_not_hold(size in 2_usize..70, at in any::<prop::sample::Index>(), change in 0..5) {
            let leaves = leaves(size);
            let (index, root) = (at.index(size), naive(&leaves));
            let mut proof = inclusion_proof(index as u64, size as u64, &stored(&leaves)).unwrap();
            let (mut leaf, mut number) = (leaves[index], index as u64);
            let place = at.index(proof.len());
            match change {
                0 => leaf = leaf_hash(b"other"),
                1 => number = (number + 1) % size as u64,
                2 => proof[place] = empty_root(),
                3 => { proof.remove(place); }
                _ => proof.push(empty_root()),
            }
            prop_assert!(verify_inclusion(leaf, number, size as u64, &proof, &root).is_err());
        }

        #[test]
        fn no_proof_makes_it_panic(old in any::<u64>(), new in any::<u64>(), length in 0_usize..70) {
            let proof = vec![empty_root(); length];
            let _ = verify_inclusion(empty_root(), old, new, &proof, &empty_root());
            let _ = verify_consistency(old, &empty_root(), new, &empty_root(), &proof);
            let nowhere = |_: u8, _: u64| None;
            let _ = inclusion_proof(old, new, &nowhere);
            let _ = consistency_proof(old, new, &nowhere);
            let _ = super::root(new, &nowhere);
        }
    }

    #[test]
    fn a_tree_without_a_hash_makes_no_proof() {
        let nothing = |_: u8, _: u64| None;
        assert_eq!(inclusion_proof(0, 2, &nothing).unwrap_err().code(), "node_missing");
        assert_eq!(inclusion_proof(2, 2, &nothing).unwrap_err().code(), "value");
        assert_eq!(consistency_proof(3, 2, &nothing).unwrap_err().code(), "value");
    }

    #[test]
    fn a_stored_range_must_be_one() {
        let range = range_of(&leaves(11));
        let bytes = postcard::to_allocvec(&range).unwrap();
        assert_eq!(postcard::from_bytes::<CompactRange>(&bytes).unwrap(), range);
        let wrong = postcard::to_allocvec(&Stored { size: 12, subtrees: range.subtrees }).unwrap();
        assert!(postcard::from_bytes::<CompactRange>(&wrong).is_err());
    }
}
