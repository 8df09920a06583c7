//! What the benchmarks measure with: proposals and kernels of known size.

use stigmergate_core::facts::{Act, Before, Call, Class, Effect, Root, Target};
use stigmergate_core::falsify::Texts;
use stigmergate_core::field::{Signal, Source};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::kernel::{DepositRequest, Kernel};
use stigmergate_core::location::Location;
use stigmergate_core::policy::{Policy, Preset};
use stigmergate_core::proposal::Proposal;

/// A moment from which the benchmarks count.
pub const NOW: u64 = 1_790_000_000_000;

/// A rationale of 400 bytes in ordinary words.
pub const RATIONALE: &str = "The tokenizer drops the last character of a line when the file has no line feed at its end, which shifts \
every position that later stages report. The change reads one byte further in the inner loop, keeps the fast path for lines \
that do end in a line feed, and adds a case to the table of the existing tests, so that the two forms of a last line are \
compared directly and stay equal from now on.";

/// A proposal in words that every check reads.
#[must_use]
pub fn in_words(id: &str) -> Proposal {
    let mut proposal = Proposal::new(id, "ag-1", "patch_file", Location::name("core.parser.tokenizer"));
    proposal.rationale = RATIONALE.to_owned();
    proposal.rollback_plan = Some("git revert the one commit on the branch".to_owned());
    proposal.evidence = serde_json::json!({"test": "tests/test_tokenizer.py::test_last_line", "issue": 12}).into();
    proposal.expected_outcome = Some("test_last_line passes and no other test changes".to_owned());
    proposal.tests = Some(Texts::Text("pytest tests/test_tokenizer.py".to_owned()));
    proposal.metrics = Some(Texts::Text("0 failing tests".to_owned()));
    proposal
}

/// An edit by a host's file tool.
#[must_use]
pub fn edit(id: &str, path: &str) -> Proposal {
    let target = Target::new(Location::path(path), Effect::Edit, Root::Workspace, Before::Committed);
    let act = Act {
        class: Class::Write,
        kind: Effect::Edit.key().to_owned(),
        place: Location::path(path),
        words: Vec::new(),
        targets: vec![target],
        facts: Vec::new(),
        dry_run: false,
    };
    let mut proposal = Proposal::new(id, "claude", "Edit", Location::path(path));
    let digest = proposal.content();
    proposal.call =
        Some(Call { tool: "Edit".to_owned(), session: "s".to_owned(), digest, acts: vec![act], facts: Vec::new() });
    proposal
}

/// A kernel with this many live traces, a thousand places to a folder.
///
/// # Panics
/// When a preset is not valid, which the core's tests exclude.
#[must_use]
#[allow(clippy::expect_used)]
pub fn kernel_with(preset: Preset, traces: u64) -> Kernel {
    let mut kernel = Kernel::new(Policy::preset(preset)).expect("a preset");
    for number in 0..traces {
        let request = DepositRequest {
            location: Location::path(&format!("src/folder{}/file{number}.rs", number.checked_div(1000).unwrap_or(0))),
            signal: Signal::Dependency,
            strength: Fixed::ONE,
            source: Source::Human,
            decay: None,
            trust_factor: None,
        };
        kernel.deposit(NOW, &request).expect("a deposit");
    }
    kernel
}
