//! Roots and proofs: ours checked by others, and those of others by ours.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use ct_merkle::{ConsistencyProof, InclusionProof, RootHash};
use sha2::Sha256;
use stigmergate_core::attest::tree::{
    CompactRange, Nodes, consistency_proof, inclusion_proof, leaf_hash, node_hash, verify_consistency, verify_inclusion,
};
use stigmergate_core::digest::Digest;
use tlog_tiles::{
    Hash, HashReader, check_record, check_tree, prove_record, prove_tree, record_hash, stored_hashes, tree_hash,
};

fn record(number: u64) -> Vec<u8> {
    format!("record {number}").into_bytes()
}

/// The nodes of our tree, level by level.
#[derive(Default)]
struct Ours(Vec<Vec<Digest>>);

impl Ours {
    fn push(&mut self, record: &[u8]) {
        let mut hash = leaf_hash(record);
        for level in 0.. {
            if level == self.0.len() {
                self.0.push(Vec::new());
            }
            self.0[level].push(hash);
            let [.., left, right] = &*self.0[level] else { return };
            if self.0[level].len() % 2 == 1 {
                return;
            }
            hash = node_hash(left, right);
        }
    }
}

impl Nodes for Ours {
    fn node(&self, level: u8, index: u64) -> Option<Digest> {
        self.0.get(usize::from(level))?.get(usize::try_from(index).unwrap()).copied()
    }
}

/// The hashes of `tlog_tiles`, in its own order.
#[derive(Default)]
struct Theirs(Vec<Hash>);

impl Theirs {
    fn push(&mut self, number: u64, record: &[u8]) {
        let more = stored_hashes(number, record, self).unwrap();
        self.0.extend(more);
    }
}

impl HashReader for Theirs {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, tlog_tiles::Error> {
        Ok(indexes.iter().map(|index| self.0[usize::try_from(*index).unwrap()]).collect())
    }
}

fn theirs(digests: &[Digest]) -> Vec<Hash> {
    digests.iter().map(|digest| Hash(*digest.as_bytes())).collect()
}

fn ours(hashes: &[Hash]) -> Vec<Digest> {
    hashes.iter().map(|hash| Digest::from_bytes(hash.0)).collect()
}

fn bytes(digests: &[Digest]) -> Vec<u8> {
    digests.iter().flat_map(|digest| *digest.as_bytes()).collect()
}

fn ct_root(root: Digest, size: u64) -> RootHash<Sha256> {
    RootHash::new((*root.as_bytes()).into(), size)
}

/// The edges of a range, its middle, and the numbers around each power of two in it.
fn places(end: u64) -> Vec<u64> {
    let powers = (0..end.ilog2() + 1).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]);
    let mut all: Vec<u64> = powers.chain([0, end / 3, end / 2, end - 1]).filter(|place| *place < end).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn proofs_hold_for_two_other_implementations_and_theirs_for_ours() {
    let (mut range, mut nodes, mut tiled) = (CompactRange::default(), Ours::default(), Theirs::default());
    let mut certified = MemoryBackedTree::<Sha256, Vec<u8>>::new();
    let mut roots = vec![];
    for size in 1..=600_u64 {
        let last = record(size - 1);
        range.append(leaf_hash(&last));
        nodes.push(&last);
        tiled.push(size - 1, &last);
        certified.push(last);
        let root = range.root();
        roots.push(root);
        let tiled_root = tree_hash(size, &tiled).unwrap();
        assert_eq!(tiled_root.0, *root.as_bytes(), "size {size}");
        assert_eq!(certified.root().as_bytes().as_slice(), root.as_bytes(), "size {size}");
        for index in places(size) {
            let content = record(index);
            let (leaf, hash) = (leaf_hash(&content), record_hash(&content));
            let proof = inclusion_proof(index, size, &nodes).unwrap();
            check_record(&theirs(&proof), size, tiled_root, index, hash).unwrap();
            let certificate = InclusionProof::try_from_bytes(bytes(&proof)).unwrap();
            ct_root(root, size).verify_inclusion(&content, index, &certificate).unwrap();
            let foreign = ours(&prove_record(size, index, &tiled).unwrap());
            verify_inclusion(leaf, index, size, &foreign, &root).unwrap();
            assert_eq!(certified.prove_inclusion(usize::try_from(index).unwrap()).as_bytes(), bytes(&foreign));
            // Of another record, neither holds anywhere.
            let other = record(index + 1);
            verify_inclusion(leaf_hash(&other), index, size, &foreign, &root).unwrap_err();
            check_record(&theirs(&proof), size, tiled_root, index, record_hash(&other)).unwrap_err();
            ct_root(root, size).verify_inclusion(&other, index, &certificate).unwrap_err();
        }
        for old in places(size).into_iter().filter(|old| *old > 0) {
            let before = roots[usize::try_from(old).unwrap() - 1];
            let proof = consistency_proof(old, size, &nodes).unwrap();
            check_tree(&theirs(&proof), size, tiled_root, old, Hash(*before.as_bytes())).unwrap();
            let certificate = ConsistencyProof::try_from_bytes(bytes(&proof)).unwrap();
            ct_root(root, size).verify_consistency(&ct_root(before, old), &certificate).unwrap();
            let foreign = ours(&prove_tree(size, old, &tiled).unwrap());
            verify_consistency(old, &before, size, &root, &foreign).unwrap();
            let added = certified.prove_consistency(usize::try_from(size - old).unwrap());
            assert_eq!(added.as_bytes(), bytes(&foreign));
            let wrong = leaf_hash(b"another past");
            verify_consistency(old, &wrong, size, &root, &foreign).unwrap_err();
            check_tree(&theirs(&proof), size, tiled_root, old, Hash(*wrong.as_bytes())).unwrap_err();
            ct_root(root, size).verify_consistency(&ct_root(wrong, old), &certificate).unwrap_err();
        }
    }
}

/// Trees with three levels of tiles. `ct-merkle` checks here what we prove; it is not asked for a tree of this size.
#[test]
fn proofs_of_large_trees_hold_for_others_too() {
    let (mut range, mut nodes, mut tiled) = (CompactRange::default(), Ours::default(), Theirs::default());
    let (sizes, olds) = ([65_535, 65_536, 65_537, 65_793, 70_001_u64], [1, 256, 257, 32_768, 65_535_u64]);
    let mut roots = std::collections::BTreeMap::new();
    for size in 1..=70_001_u64 {
        let last = record(size - 1);
        range.append(leaf_hash(&last));
        nodes.push(&last);
        tiled.push(size - 1, &last);
        if olds.contains(&size) {
            roots.insert(size, range.root());
        }
        if !sizes.contains(&size) {
            continue;
        }
        let root = range.root();
        let tiled_root = tree_hash(size, &tiled).unwrap();
        assert_eq!(tiled_root.0, *root.as_bytes(), "size {size}");
        for index in places(size) {
            let content = record(index);
            let proof = inclusion_proof(index, size, &nodes).unwrap();
            check_record(&theirs(&proof), size, tiled_root, index, record_hash(&content)).unwrap();
            let certificate = InclusionProof::try_from_bytes(bytes(&proof)).unwrap();
            ct_root(root, size).verify_inclusion(&content, index, &certificate).unwrap();
            let foreign = ours(&prove_record(size, index, &tiled).unwrap());
            verify_inclusion(leaf_hash(&content), index, size, &foreign, &root).unwrap();
        }
        for (old, before) in roots.iter().filter(|(old, _)| **old < size) {
            let proof = consistency_proof(*old, size, &nodes).unwrap();
            check_tree(&theirs(&proof), size, tiled_root, *old, Hash(*before.as_bytes())).unwrap();
            let foreign = ours(&prove_tree(size, *old, &tiled).unwrap());
            verify_consistency(*old, before, size, &root, &foreign).unwrap();
        }
    }
}
