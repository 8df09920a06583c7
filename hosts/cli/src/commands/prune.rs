//! `prune`: modules that nothing seems to use (SPEC 8). A report: it takes nothing away.

use super::Answer;
use super::judge::read_text;
use crate::args::PruneArgs;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::screen;
use serde::Serialize;
use stigmergate_core::prune::{Candidate, Ground, read_registry};

#[derive(Serialize)]
struct Pruning {
    candidates: Vec<Candidate>,
}

pub(crate) fn prune(gate: &Gate, args: &PruneArgs) -> Result<Answer, Failure> {
    let read = |file| Ok(read_registry(&read_text(file)?)?);
    let registry = args.registry.as_deref().map(|file| read(file).map_err(|error: Failure| error.in_field("registry")));
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
