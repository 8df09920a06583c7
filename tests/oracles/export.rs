//! An export of a real store, read by others: the verifier key, the signed head, every tile and every proof.

use signed_note::{Note, StandardVerifier, VerifierList};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stigmergate_core::attest::event::Event;
use stigmergate_core::attest::note::Note as OurNote;
use stigmergate_core::attest::proof::RecordProof;
use stigmergate_core::attest::tiles::read_bundle;
use stigmergate_core::attest::tree::inclusion_proof;
use stigmergate_core::kernel::{BeginLedger, Command};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{AttestMode, Policy, Preset};
use stigmergate_core::proposal::Proposal;
use stigmergate_store::{KeyFolder, Options, Store};
use tlog_tiles::{
    Checkpoint, Hash, HashReader as _, Tile, TileHashReader, TileReader, check_record, prove_record, record_hash,
    stored_hash_index,
};

const ORIGIN: &str = "example.com/colony";

/// 1 + 2 * 140 events: a full tile, a partial one beside it and one above.
const SIZE: u64 = 281;

fn exported(folder: &Path) -> (Store, PathBuf) {
    let keys = KeyFolder::new(folder.join("keys"));
    let key = keys.create(ORIGIN).unwrap();
    let mut policy = Policy::preset(Preset::Standard);
    policy.attest.mode = AttestMode::Optional;
    let options = Options { initial_policy: Some(policy), keys: Some(Arc::new(keys)), ..Options::default() };
    let mut store = Store::open(&folder.join("gate.db"), &options).unwrap();
    store.apply(1, Command::BeginLedger(BeginLedger { origin: ORIGIN.into(), key })).unwrap();
    for number in 0..140 {
        let id = format!("p{number}");
        let proposal = Proposal::new(&id, "claude/worker", "patch_file", Location::path("src/parser.rs"));
        store.apply(2 + number, Command::Propose(Box::new(proposal))).unwrap();
    }
    let export = folder.join("export");
    store.export_ledger(&export).unwrap();
    (store, export)
}

fn known(vkey: &str) -> VerifierList {
    VerifierList::new(vec![Box::new(StandardVerifier::new(vkey.trim()).unwrap())])
}

/// The signed head as others read it, its signature verified.
fn head_of(export: &Path) -> Checkpoint {
    let vkey = std::fs::read_to_string(export.join("vkey")).unwrap();
    let note = Note::from_bytes(&std::fs::read(export.join("checkpoint")).unwrap()).unwrap();
    let (verified, unknown) = note.verify(&known(&vkey)).unwrap();
    assert_eq!((verified.len(), unknown.len()), (1, 0));
    Checkpoint::from_bytes(note.text()).unwrap()
}

/// Reads tiles from the folder. The other code names the height of its tiles in their paths (`tile/8/0/000`); an export, as the
/// specification of tiled logs says, does not (`tile/0/000`).
struct Folder<'f>(&'f Path);

impl TileReader for Folder<'_> {
    fn height(&self) -> u8 {
        8
    }

    fn read_tiles(&self, tiles: &[Tile]) -> Result<Vec<Vec<u8>>, tlog_tiles::Error> {
        let place = |tile: &Tile| self.0.join(tile.path().replacen("tile/8/", "tile/", 1));
        Ok(tiles.iter().map(|tile| std::fs::read(place(tile)).unwrap()).collect())
    }

    fn save_tiles(&self, _: &[Tile], _: &[Vec<u8>]) {}
}

/// The records, bundle by bundle.
fn records(export: &Path) -> Vec<Vec<u8>> {
    let bundles = ["tile/entries/000", "tile/entries/001.p/25"];
    let bytes = bundles.map(|bundle| std::fs::read(export.join(bundle)).unwrap());
    bytes.iter().flat_map(|bytes| read_bundle(bytes).unwrap()).map(<[u8]>::to_vec).collect()
}

#[test]
fn key_and_head_are_read_and_verified_by_others() {
    let place = tempfile::tempdir().unwrap();
    let (_store, export) = exported(place.path());
    let head = head_of(&export);
    assert_eq!((head.origin(), head.size(), head.extension()), (ORIGIN, SIZE, ""));
    let vkey = std::fs::read_to_string(export.join("vkey")).unwrap();
    let bytes = std::fs::read(export.join("checkpoint")).unwrap();
    for place in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1;
        let passes = Note::from_bytes(&flipped).is_ok_and(|note| note.verify(&known(&vkey)).is_ok());
        assert!(!passes, "byte {place}");
    }
}

#[test]
fn every_tile_is_read_and_its_hashes_are_those_of_the_records() {
    let place = tempfile::tempdir().unwrap();
    let (_store, export) = exported(place.path());
    let head = head_of(&export);
    let records = records(&export);
    assert_eq!(records.len() as u64, SIZE);
    let folder = Folder(&export);
    let reader = TileHashReader::new(head.size(), *head.hash(), &folder);
    let indexes: Vec<_> = (0..SIZE).map(|number| stored_hash_index(0, number)).collect();
    let hashes = reader.read_hashes(&indexes).unwrap();
    for (number, (record, hash)) in records.iter().zip(hashes).enumerate() {
        assert_eq!(hash, record_hash(record), "record {number}");
        assert_eq!(Event::read(record).unwrap().sequence, number as u64);
    }
    let tiles = Tile::new_tiles(8, 0, SIZE);
    assert_eq!(tiles.len(), 3, "the full tile, the partial one beside it, and the one above");
    for (tile, bytes) in tiles.iter().zip(folder.read_tiles(&tiles).unwrap()) {
        assert_eq!(tile.read_data(&reader).unwrap(), bytes, "{}", tile.path());
    }
    let file = export.join("tile/0/000");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[32] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    // The other reader does not compare this tile with the head: its caller sees the change.
    let changed = reader.read_hashes(&indexes[1..2]);
    assert!(changed.is_err() || changed.is_ok_and(|hashes| hashes[0] != record_hash(&records[1])));
}

#[test]
fn proofs_of_single_events_are_checked_by_others() {
    let place = tempfile::tempdir().unwrap();
    let (store, export) = exported(place.path());
    let head = head_of(&export);
    let vkey = std::fs::read_to_string(export.join("vkey")).unwrap();
    let folder = Folder(&export);
    let reader = TileHashReader::new(head.size(), *head.hash(), &folder);
    let note = OurNote::parse(&store.ledger_head().unwrap().unwrap()).unwrap();
    for (number, record) in (0..).zip(records(&export)).step_by(7) {
        let hashes = inclusion_proof(number, SIZE, &store.ledger_nodes()).unwrap();
        let text = RecordProof { extra: None, index: number, hashes, head: note.clone() }.to_string();
        // The form of a `.tlog-proof`, for which no crate is known, is taken apart by its own lines.
        let (proof, signed) = text.split_once("\n\n").unwrap();
        let mut lines = proof.lines();
        assert_eq!(lines.next(), Some("c2sp.org/tlog-proof@v1"));
        assert_eq!(lines.next(), Some(&*format!("index {number}")));
        let path: Vec<Hash> = lines.map(|line| Hash::parse_hash(line).unwrap()).collect();
        let signed = Note::from_bytes(signed.as_bytes()).unwrap();
        signed.verify(&known(&vkey)).unwrap();
        let signed = Checkpoint::from_bytes(signed.text()).unwrap();
        check_record(&path, signed.size(), *signed.hash(), number, record_hash(&record)).unwrap();
        check_record(&path, signed.size(), *signed.hash(), number, record_hash(b"another")).unwrap_err();
        assert_eq!(prove_record(SIZE, number, &reader).unwrap(), path, "from the tiles, others make the same proof");
    }
}
