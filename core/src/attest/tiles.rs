//! The layout of an exported log (C2SP tlog-tiles): hashes in tiles of 256, records in bundles of 256.
//!
//! The idea: a tile holds every eighth level of the tree. What lies between is hashed again when a proof needs it, so that an
//! export is a finite set of files that never change once they are full.

use super::canonical::RECORD_BYTES;
use super::checkpoint::decimal;
use super::error::Error;
use super::tree::{Nodes, node_hash};
use crate::digest::Digest;
use alloc::vec::Vec;
use core::fmt;

/// A full tile holds this many hashes, a full bundle this many records.
pub const WIDTH: u64 = 256;

/// A tile's height in levels of the tree.
const HEIGHT: u8 = 8;

/// No tree of numbers below 2^53 has more levels of tiles.
const LEVELS: u8 = 7;

/// What a file of the export holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contents {
    /// Hashes, at this level of tiles (0 to 63).
    Hashes(u8),
    /// Records.
    Entries,
}

/// A tile or an entry bundle.
///
/// ```
/// use stigmergate_core::attest::tiles::{Contents, Tile};
///
/// let tile = Tile { contents: Contents::Hashes(0), index: 1_234_067, width: 256 };
/// assert_eq!(tile.to_string(), "tile/0/x001/x234/067");
/// let partial = Tile { contents: Contents::Entries, index: 0, width: 3 };
/// assert_eq!(partial.to_string(), "tile/entries/000.p/3");
/// assert_eq!(Tile::parse("tile/entries/000.p/3").unwrap(), partial);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    /// What it holds.
    pub contents: Contents,
    /// Which of its level.
    pub index: u64,
    /// How many hashes or records it holds: 256, or fewer at the right edge.
    pub width: u16,
}

impl fmt::Display for Tile {
    /// Its path below the export's root.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.contents {
            Contents::Hashes(level) => write!(out, "tile/{level}/")?,
            Contents::Entries => out.write_str("tile/entries/")?,
        }
        let (rest, last) = (self.index / 1000, self.index % 1000);
        write_leading(out, rest)?;
        write!(out, "{last:03}")?;
        if u64::from(self.width) < WIDTH { write!(out, ".p/{}", self.width) } else { Ok(()) }
    }
}

/// The path elements before the last, which begin with an x.
fn write_leading(out: &mut fmt::Formatter<'_>, index: u64) -> fmt::Result {
    if index == 0 {
        return Ok(());
    }
    write_leading(out, index / 1000)?;
    write!(out, "x{:03}/", index % 1000)
}

impl Tile {
    /// Reads a path.
    ///
    /// # Errors
    /// [`Error::Malformed`] for anything that `Display` would not write.
    pub fn parse(path: &str) -> Result<Self, Error> {
        let wrong = || Error::malformed("tile path", "tile/<level or entries>/<index>[.p/<width>]");
        let (contents, rest) = path.strip_prefix("tile/").and_then(|rest| rest.split_once('/')).ok_or_else(wrong)?;
        let contents = match contents {
            "entries" => Contents::Entries,
            level => {
                let level = decimal(level).and_then(|level| u8::try_from(level).ok()).filter(|level| *level < 64);
                Contents::Hashes(level.ok_or_else(wrong)?)
            }
        };
        let (index, width) = match rest.split_once(".p/") {
            None => (rest, WIDTH),
            Some((index, width)) => {
                (index, decimal(width).filter(|width| (1..WIDTH).contains(width)).ok_or_else(wrong)?)
            }
        };
        let mut number = 0_u64;
        for element in index.split('/') {
            let digits = element.strip_prefix('x').unwrap_or(element);
            let part = digits.parse::<u16>().ok().filter(|_| digits.len() == 3).ok_or_else(wrong)?;
            number = number.checked_mul(1000).and_then(|n| n.checked_add(u64::from(part))).ok_or_else(wrong)?;
        }
        let tile = Self { contents, index: number, width: u16::try_from(width).map_err(|_| wrong())? };
        if alloc::format!("{tile}") == path { Ok(tile) } else { Err(wrong()) }
    }

    /// The number of its first hash or record at its level.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.index.saturating_mul(WIDTH)
    }
}

/// Every tile and bundle of a tree of `size` records, partial ones included, by level.
pub fn tiles(size: u64) -> impl Iterator<Item = Tile> {
    let levels = (0..LEVELS).map(Contents::Hashes);
    levels.chain([Contents::Entries]).flat_map(move |contents| tiles_from(contents, 0, size))
}

/// The tiles of one level, or the bundles, that a tree of `size` records has and one of `before` records had not: what an
/// export adds.
pub fn tiles_from(contents: Contents, before: u64, size: u64) -> impl Iterator<Item = Tile> {
    let level = match contents {
        Contents::Hashes(level) => level,
        Contents::Entries => 0,
    };
    let shift = u32::from(level).saturating_mul(u32::from(HEIGHT));
    let (old, new) = (before.checked_shr(shift).unwrap_or(0), size.checked_shr(shift).unwrap_or(0));
    let full = (old / WIDTH..new / WIDTH).map(move |index| (index, WIDTH));
    let partial = (new % WIDTH != 0 && new != old).then_some((new / WIDTH, new % WIDTH));
    full.chain(partial).map(move |(index, width)| Tile {
        contents,
        index,
        width: u16::try_from(width).unwrap_or(u16::MAX),
    })
}

/// A tile's bytes, from the tree's stored hashes.
///
/// # Errors
/// [`Error::NodeMissing`] for a hash that is not stored, [`Error::Value`] for a bundle, which holds records.
pub fn hash_tile(tile: &Tile, nodes: &impl Nodes) -> Result<Vec<u8>, Error> {
    let Contents::Hashes(level) = tile.contents else { return Err(Error::value("tile", "a tile of hashes")) };
    let level = level.saturating_mul(HEIGHT);
    let mut bytes = Vec::with_capacity(usize::from(tile.width).saturating_mul(32));
    for place in 0..u64::from(tile.width) {
        let index = tile.start().saturating_add(place);
        let hash = nodes.node(level, index).ok_or(Error::NodeMissing { level, index })?;
        bytes.extend_from_slice(hash.as_bytes());
    }
    Ok(bytes)
}

/// A bundle's bytes: each record after its length in two bytes, the most significant first.
///
/// # Errors
/// [`Error::TooLong`] for a record above 65 535 bytes.
pub fn entry_bundle<T: AsRef<[u8]>>(records: impl IntoIterator<Item = T>) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    for record in records {
        let record = record.as_ref();
        let length = u16::try_from(record.len()).map_err(|_| Error::too_long("record", record.len(), RECORD_BYTES))?;
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(record);
    }
    Ok(bytes)
}

/// The records of a bundle.
///
/// # Errors
/// [`Error::Malformed`] for bytes that are not whole records, [`Error::TooLong`] for more than 256 of them.
pub fn read_bundle(bytes: &[u8]) -> Result<Vec<&[u8]>, Error> {
    let wrong = || Error::malformed("entry bundle", "records, each after its length in two bytes");
    let (mut rest, mut records) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (length, following) = rest.split_first_chunk::<2>().ok_or_else(wrong)?;
        let (record, following) =
            following.split_at_checked(usize::from(u16::from_be_bytes(*length))).ok_or_else(wrong)?;
        records.push(record);
        if records.len() as u64 > WIDTH {
            return Err(Error::too_long("entry bundle", records.len(), 256));
        }
        rest = following;
    }
    Ok(records)
}

/// The nodes of a tree whose tiles are at hand: `tile` gives the bytes of a level's tile, as wide as it has them.
#[derive(Clone, Copy, Debug)]
pub struct TileNodes<F> {
    tile: F,
}

impl<B: AsRef<[u8]>, F: Fn(u8, u64) -> Option<B>> TileNodes<F> {
    /// The nodes in some tiles.
    pub const fn new(tile: F) -> Self {
        Self { tile }
    }
}

impl<B: AsRef<[u8]>, F: Fn(u8, u64) -> Option<B>> Nodes for TileNodes<F> {
    fn node(&self, level: u8, index: u64) -> Option<Digest> {
        let (row, above) = (level / HEIGHT, u32::from(level % HEIGHT));
        let count = 1_u64.checked_shl(above)?;
        let first = index.checked_mul(count)?;
        let bytes = (self.tile)(row, first / WIDTH)?;
        let start = usize::try_from(first % WIDTH).ok()?;
        let (hashes, _) = bytes.as_ref().as_chunks::<32>();
        let mut hashes: Vec<Digest> = hashes
            .iter()
            .skip(start)
            .take(usize::try_from(count).ok()?)
            .map(|hash| Digest::from_bytes(*hash))
            .collect();
        if hashes.len() as u64 != count {
            return None;
        }
        for _ in 0..above {
            hashes = hashes.as_chunks::<2>().0.iter().map(|[left, right]| node_hash(left, right)).collect();
        }
        hashes.first().copied()
    }
}

/// The path of an export's head.
pub const CHECKPOINT_PATH: &str = "checkpoint";

/// The path of an export's verifier key. The layout has no place for it; ours is beside the head.
pub const VERIFIER_KEY_PATH: &str = "vkey";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attest::tree::{
        CompactRange, consistency_proof, inclusion_proof, leaf_hash, root, verify_consistency, verify_inclusion,
    };
    use alloc::collections::BTreeMap;
    use alloc::string::{String, ToString};
    use proptest::prelude::*;

    fn paths(size: u64) -> Vec<String> {
        tiles(size).map(|tile| tile.to_string()).collect()
    }

    #[test]
    fn the_examples_of_the_specification_have_their_tiles() {
        let count = |size, level, width| {
            tiles(size).filter(|tile| tile.contents == Contents::Hashes(level) && tile.width == width).count()
        };
        assert_eq!((count(70_000, 0, 256), count(70_000, 0, 112)), (273, 1));
        assert_eq!((count(70_000, 1, 256), count(70_000, 1, 17), count(70_000, 2, 1)), (1, 1, 1));
        assert_eq!(paths(256), ["tile/0/000", "tile/1/000.p/1", "tile/entries/000"]);
        assert_eq!(paths(0), [""; 0]);
        let added: Vec<Tile> = tiles_from(Contents::Entries, 300, 301).collect();
        assert_eq!(added, [Tile { contents: Contents::Entries, index: 1, width: 45 }]);
        assert_eq!(tiles_from(Contents::Entries, 300, 300).count(), 0);
    }

    #[test]
    fn paths_have_one_form() {
        let tile = |index, width| Tile { contents: Contents::Hashes(3), index, width };
        for (tile, path) in [
            (tile(0, 256), "tile/3/000"),
            (tile(999, 1), "tile/3/999.p/1"),
            (tile(1000, 256), "tile/3/x001/000"),
            (tile(1_234_067, 255), "tile/3/x001/x234/067.p/255"),
        ] {
            assert_eq!(tile.to_string(), path);
            assert_eq!(Tile::parse(path).unwrap(), tile);
        }
        let others = [
            "tile/3/0",
            "tile/3/x000/000",
            "tile/3/001/000",
            "tile/3/x001",
            "tile/3/+01",
            "tile/64/000",
            "tile/03/000",
            "tile/3/000.p/0",
            "tile/3/000.p/256",
            "tile/3/000.p/01",
            "tile/3/000/",
            "tile/../000",
            "/tile/3/000",
            "tile/3/x999/x999/x999/x999/x999/x999/x999/999",
        ];
        for other in others {
            assert!(Tile::parse(other).is_err(), "{other}");
        }
    }

    #[test]
    fn bundles_read_back_and_torn_ones_do_not() {
        let records: [&[u8]; 3] = [b"one", b"", b"three"];
        let bytes = entry_bundle(records).unwrap();
        assert_eq!(bytes, b"\x00\x03one\x00\x00\x00\x05three");
        assert_eq!(read_bundle(&bytes).unwrap(), records);
        assert!(read_bundle(&bytes[..bytes.len() - 1]).is_err());
        assert!(read_bundle(&[0]).is_err());
        assert!(read_bundle(&[0; 2 * 257]).is_err());
        assert!(entry_bundle([alloc::vec![0; RECORD_BYTES + 1]]).is_err());
    }

    type Files = BTreeMap<(u8, u64), Vec<u8>>;

    /// Tiles as a file system would hold them.
    fn export(size: u64) -> (Files, Vec<Digest>) {
        let leaves: Vec<Digest> = (0..size).map(|number| leaf_hash(&number.to_be_bytes())).collect();
        let mut files = Files::new();
        for tile in tiles(size) {
            let Contents::Hashes(level) = tile.contents else { continue };
            let bytes = if level == 0 {
                hash_tile(&tile, &|_: u8, index: u64| leaves.get(index as usize).copied())
            } else {
                let below = files.clone();
                hash_tile(&tile, &TileNodesBelow(&below))
            };
            files.insert((level, tile.index), bytes.unwrap());
        }
        (files, leaves)
    }

    /// A tile's hashes from the tiles one level below: each is the root of a full tile.
    struct TileNodesBelow<'a>(&'a Files);

    impl Nodes for TileNodesBelow<'_> {
        fn node(&self, level: u8, index: u64) -> Option<Digest> {
            let bytes = self.0.get(&(level / 8 - 1, index))?;
            let mut range = CompactRange::default();
            bytes.as_chunks::<32>().0.iter().for_each(|hash| range.append(Digest::from_bytes(*hash)));
            (range.size() == WIDTH).then(|| range.root())
        }
    }

    #[test]
    fn proofs_are_made_from_tiles_alone() {
        for size in [1, 2, 255, 256, 257, 700, 66_000] {
            let (files, leaves) = export(size);
            let nodes = TileNodes::new(|level, index| files.get(&(level, index)));
            let mut range = CompactRange::default();
            let mut old_root = range.root();
            let old = size / 3;
            for leaf in &leaves {
                range.append(*leaf);
                if range.size() == old {
                    old_root = range.root();
                }
            }
            assert_eq!(root(size, &nodes).unwrap(), range.root());
            for index in [0, size / 2, size - 1] {
                let proof = inclusion_proof(index, size, &nodes).unwrap();
                verify_inclusion(leaves[index as usize], index, size, &proof, &range.root()).unwrap();
            }
            let proof = consistency_proof(old, size, &nodes).unwrap();
            verify_consistency(old, &old_root, size, &range.root(), &proof).unwrap();
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), path in "(tile/|entries|[0-9]{1,4}|x|/|\\.p/|\\PC){0,9}") {
            let _ = read_bundle(&bytes);
            if let Ok(tile) = Tile::parse(&path) {
                prop_assert_eq!(tile.to_string(), path);
            }
            let nodes = TileNodes::new(|_, _| Some(bytes.clone()));
            let _ = root(u64::from(bytes.len() as u32), &nodes);
        }
    }
}
