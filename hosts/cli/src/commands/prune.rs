//! `prune`: modules that nothing seems to use (SPEC 8). A report: it takes nothing away.

use super::Answer;
use crate::args::PruneArgs;
use crate::failure::{ABSENT, Failure};
use crate::gate::{Gate, show};
use crate::screen;
use serde::Serialize;
use stigmergate_core::prune::{Candidate, Ground, read_registry};

#[derive(Serialize)]
struct Pruning {
    candidates: Vec<Candidate>,
}

pub(crate) fn prune(gate: &Gate, args: &PruneArgs) -> Result<Answer, Failure> {
    let registry = args.registry.as_deref().map(|file| {
        let text = std::fs::read_to_string(file).map_err(|error| {
            let exit = if error.kind() == std::io::ErrorKind::NotFound { ABSENT } else { crate::failure::FAILED };
            let message = format!("{} cannot be read: {error}", show(file));
            Failure { exit, ..Failure::new("io", message) }.in_field("registry")
        })?;
        read_registry(&text).map_err(|error| Failure::from(error).in_field("registry"))
    });
    let registry = registry.transpose()?;
    let mut store = gate.look_closely()?;
    let candidates = store.with_current(|kernel| kernel.at(gate.clock.now).prune(registry.as_deref()))?;
    let pruning = Pruning { candidates };
    Ok(Answer::new(gate, &pruning, || {
        if pruning.candidates.is_empty() {
            return "nothing that seems unused\n".to_owned();
        }
        let row = |one: &Candidate| {
            vec![screen::cut(one.path.as_str(), gate.width), ground(one.ground).to_owned(), one.confidence.to_string()]
        };
        let rows = pruning.candidates.iter().map(row).collect();
        let mut text = screen::table(&["module", "why", "confidence"], rows, gate.width);
        text.push_str(&screen::faint("a guess from what was recorded; nothing was taken away\n"));
        text
    }))
}

const fn ground(ground: Ground) -> &'static str {
    match ground {
        Ground::Duplicate => "it repeats another",
        Ground::NeverUsed => "never used",
        Ground::IdleUnused => "not called, and idle for long",
        Ground::IdleRare => "rarely called, and idle for long",
    }
}
