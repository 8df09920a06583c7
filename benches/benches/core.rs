//! The core: gate, propose, outcome, tick, memory.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use stigmergate_benches::{NOW, edit, in_words, kernel_with};
use stigmergate_core::budget::Answer;
use stigmergate_core::facts::Class;
use stigmergate_core::falsify::{Asks, Plan, falsify};
use stigmergate_core::field::{Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Missing, Question, assess};
use stigmergate_core::kernel::{DepositRequest, Kernel, OutcomeReport, StatedCost, Subject};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_core::trust::Role;

/// Counts the bytes that live, to tell what a trace costs.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn gate(criterion: &mut Criterion) {
    let kernel = kernel_with(Preset::Standard, 10_000);
    let policy = kernel.policy();
    let place = Location::path("src/folder3/file3500.rs");
    let folder = Location::path("src/folder3");
    let budget = Answer { approved: true, violation: None };
    let question = |channels| Question {
        budget: &budget,
        standalone: false,
        role: Role::Dispatcher,
        trust: Fixed::milli(500),
        recent_failures: 0,
        channels,
        hazard_at: "",
        findings: &[],
        excused: &[],
        missing: Missing::default(),
        class: Class::Write,
        weighed: true,
        denied: None,
        asked: None,
        allowed: None,
    };
    let mut group = criterion.benchmark_group("gate");
    group.bench_function("exact place", |bencher| {
        bencher.iter(|| assess(&question(kernel.at(NOW).hazard(black_box(&place))), policy));
    });
    group.bench_function("with a folder's subtree", |bencher| {
        bencher.iter(|| assess(&question(kernel.at(NOW).hazard_below(black_box(&folder))), policy));
    });
    let mut hot = kernel.clone();
    for number in 0..20 {
        let request = DepositRequest {
            location: Location::path(&format!("src/folder3/file35{number:02}.rs")),
            signal: Signal::Failure,
            strength: Fixed::ONE,
            source: Source::Human,
            decay: None,
            trust_factor: None,
        };
        hot.deposit(NOW, &request).unwrap();
    }
    group.bench_function("with a folder's subtree, 20 places hot", |bencher| {
        bencher.iter(|| assess(&question(hot.at(NOW).hazard_below(black_box(&folder))), policy));
    });
    group.finish();
}

fn propose(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("propose");
    for (name, preset) in
        [("reference, 400-byte rationale", Preset::Reference), ("standard, 400-byte rationale", Preset::Standard)]
    {
        let mut kernel = kernel_with(preset, 10_000);
        let mut number = 0_u64;
        group.bench_function(name, |bencher| {
            let make = || {
                number += 1;
                in_words(&format!("p{number}"))
            };
            bencher.iter_batched(make, |proposal| kernel.propose(NOW, proposal).unwrap(), BatchSize::SmallInput);
        });
    }
    let mut kernel = kernel_with(Preset::Standard, 10_000);
    let mut number = 0_u64;
    group.bench_function("standard, an edit by a tool", |bencher| {
        let make = || {
            number += 1;
            edit(&format!("e{number}"), "src/folder3/file3500.rs")
        };
        bencher.iter_batched(make, |proposal| kernel.propose(NOW, proposal).unwrap(), BatchSize::SmallInput);
    });
    let mut kernel = kernel_with(Preset::Standard, 10_000);
    let mut number = 0_u64;
    group.bench_function("JSON text to JSON verdict", |bencher| {
        let make = || {
            number += 1;
            serde_json::to_string(&in_words(&format!("j{number}"))).unwrap()
        };
        bencher.iter_batched(make, |json| kernel.propose_json(NOW, &json).unwrap(), BatchSize::SmallInput);
    });
    let kernel = kernel_with(Preset::Standard, 10_000);
    group.bench_function("witness", |bencher| {
        bencher.iter_batched(
            || in_words("w"),
            |proposal| kernel.at(NOW).witness(proposal).unwrap(),
            BatchSize::SmallInput,
        );
    });
    let policy = Policy::preset(Preset::Reference);
    let proposal = in_words("f");
    group.bench_function("the eleven text checks alone", |bencher| {
        let plan = Plan {
            target: proposal.target.as_str(),
            action_type: &proposal.action_type,
            rationale: &proposal.rationale,
            ..Plan::default()
        };
        bencher.iter(|| falsify(black_box(&plan), &policy.falsify, Asks::ALL));
    });
    group.finish();
}

fn outcome(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("record_outcome");
    let mut kernel = kernel_with(Preset::Reference, 10_000);
    let mut number = 0_u64;
    group.bench_function("in memory", |bencher| {
        let make = || {
            number += 1;
            OutcomeReport {
                proposal: Subject::Proposal(Box::new(in_words(&format!("o{number}")))),
                tests_passed: !number.is_multiple_of(3),
                repair_needed: false,
                summary: "done".to_owned(),
                cost: StatedCost::default(),
                human_feedback: Default::default(),
            }
        };
        bencher.iter_batched(make, |report| kernel.record_outcome(NOW, &report).unwrap(), BatchSize::SmallInput);
    });
    group.finish();
}

fn tick(criterion: &mut Criterion) {
    let before = LIVE.load(Ordering::Relaxed);
    let mut kernel: Kernel = kernel_with(Preset::Reference, 1_000_000);
    let bytes = LIVE.load(Ordering::Relaxed) - before;
    println!("memory: {} bytes a live trace, 1 000 000 of them (target: under 200)", bytes / 1_000_000);
    let mut group = criterion.benchmark_group("tick");
    group.bench_function("one tick, 1 000 000 live traces", |bencher| bencher.iter(|| kernel.tick(NOW, 1).unwrap()));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(50).warm_up_time(std::time::Duration::from_millis(500)).measurement_time(std::time::Duration::from_secs(2));
    targets = gate, propose, outcome, tick
}
criterion_main!(benches);
