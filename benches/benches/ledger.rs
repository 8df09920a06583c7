//! The signed ledger: what it adds to a proposal, and how quickly a store's is verified.
//!
//! `EVENTS` is how many events the verified store has at least (100 000 without it).
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stigmergate_benches::{NOW, edit};
use stigmergate_core::attest::signer::{Ed25519Signer, Signer as _};
use stigmergate_core::attest::verify::Status;
use stigmergate_core::kernel::{BeginLedger, Command, Kernel, Observation};
use stigmergate_core::policy::Policy;
use stigmergate_store::{KeyFolder, Options, Store};

const ROUNDS: usize = 5_000;

fn policy() -> Policy {
    Policy::from_json(r#"{"attest": {"mode": "optional"}}"#).unwrap()
}

/// The median of many runs of something that is made ready first.
fn median<T>(mut ready: impl FnMut(usize) -> T, mut run: impl FnMut(T)) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            let input = ready(round);
            let started = Instant::now();
            run(input);
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn observed(id: &str) -> Observation {
    Observation { proposal_id: id.into(), ok: true, interrupted: false, stamps: Vec::new(), cost: None }
}

fn propose() {
    let signer = Ed25519Signer::from_seed("example.com/bench", &[7; 32]).unwrap();
    let signature = median(|round| round.to_le_bytes(), |message| _ = black_box(signer.sign(&message)).unwrap());
    let mut kernel = Kernel::new(policy()).unwrap();
    let begin = BeginLedger { origin: "example.com/bench".into(), key: signer.public().clone() };
    kernel.begin_ledger(NOW, &begin).unwrap();
    let mut now = NOW;
    let ready = |round| edit(&format!("p{round}"), "src/folder3/file3500.rs");
    let propose = median(ready, |proposal| {
        // What was not executed in time is no longer open.
        now += 1_000;
        kernel.propose(now, proposal).unwrap();
        black_box(kernel.ledger().unwrap().sign_head(&signer).unwrap().to_string());
    });
    println!("one Ed25519 signature: {signature:?}");
    println!(
        "propose with the ledger on, head signed: {propose:?}, {:.2} x of a signature (target: within 1.5)",
        propose.as_secs_f64() / signature.as_secs_f64()
    );
}

/// The most memory that this process has had, in KiB, where the system tells.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn verify() {
    let wanted: u64 = std::env::var("EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let folder = tempfile::tempdir().unwrap();
    let keys = Arc::new(KeyFolder::new(folder.path().join("keys")));
    let key = keys.create("example.com/bench").unwrap();
    let options = Options { initial_policy: Some(policy()), keys: Some(keys), ..Options::default() };
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path, &options).unwrap();
    store.apply(NOW, Command::BeginLedger(BeginLedger { origin: key.name().to_owned(), key })).unwrap();
    let started = Instant::now();
    let (mut events, mut call) = (1, 0_u64);
    while events < wanted {
        // A second for each call, so that what was remembered is forgotten in time.
        let calls = (call..call + 200).flat_map(|call| {
            let id = format!("c{call}");
            let proposal = edit(&id, &format!("src/folder{}/file{call}.rs", call / 1000));
            [Command::Propose(Box::new(proposal)), Command::Observe(observed(&id))]
        });
        store.apply_all(NOW + call * 1_000, calls.collect()).unwrap();
        call += 200;
        events = store.with_current(|kernel| kernel.ledger().unwrap().size()).unwrap();
    }
    println!("{events} events of {call} calls were written in {:?}", started.elapsed());
    drop(store);
    let store = Store::open_existing(&path, &Options { read_only: true, ..Options::default() }).unwrap();
    let before = peak();
    let started = Instant::now();
    let report = store.verify_ledger(&[], None).unwrap();
    let took = started.elapsed();
    assert_eq!(report.status, Status::Valid);
    println!(
        "{events} events verified through SQLite in {took:?}: {:.0} a second (target: 150 000); peak {before} KiB before, {} KiB after",
        events as f64 / took.as_secs_f64(),
        peak()
    );
}

fn main() {
    propose();
    verify();
}
