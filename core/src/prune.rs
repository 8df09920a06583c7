//! Pruning: modules that nothing uses (SPEC 8). A report; taking anything away is somebody else's explicit act.

use crate::error::Error;
use crate::field::{Signal, Trace};
use crate::fixed::Fixed;
use crate::kernel::View;
use crate::location::Location;
use crate::policy;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A module as a registry knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// Its path or dotted name.
    pub path: Location,
    /// When it was used last, in milliseconds since the epoch; `None`: never.
    #[serde(default)]
    pub last_used: Option<u64>,
    /// How often it was called.
    #[serde(default)]
    pub call_count: u64,
    /// The module that it repeats.
    #[serde(default)]
    pub duplicate_of: Option<String>,
}

/// Reads a registry: a JSON object of path to `{last_used, call_count, duplicate_of}`.
///
/// # Errors
/// [`Error::Json`] that says where it is wrong.
pub fn read_registry(json: &str) -> Result<Vec<Module>, Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Entry {
        #[serde(default)]
        last_used: Option<u64>,
        #[serde(default)]
        call_count: u64,
        #[serde(default)]
        duplicate_of: Option<String>,
    }
    let entries: BTreeMap<String, Entry> = serde_json::from_str(json)?;
    let module = |(path, entry): (String, Entry)| Module {
        path: Location::raw(&path),
        last_used: entry.last_used,
        call_count: entry.call_count,
        duplicate_of: entry.duplicate_of,
    };
    Ok(entries.into_iter().map(module).collect())
}

/// Why a module could go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// It repeats another.
    Duplicate,
    /// It was never used.
    NeverUsed,
    /// It has no calls and has been idle for long.
    IdleUnused,
    /// It has few calls and has been idle for long.
    IdleRare,
}

/// A module that could go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its path.
    pub path: Location,
    /// Why.
    pub ground: Ground,
    /// How sure that is, in [0, 1].
    pub confidence: Fixed,
}

const DAY_MS: u64 = 86_400_000;

/// The candidates, the surest first, ties by path.
pub(crate) fn report(view: &View<'_>, registry: Option<&[Module]>, numbers: &policy::Prune) -> Vec<Candidate> {
    let derived;
    let modules = match registry {
        Some(modules) => modules,
        None => {
            derived = derive(&view.traces());
            derived.as_slice()
        }
    };
    let mut candidates: Vec<Candidate> = modules.iter().filter_map(|module| judge(view, module, numbers)).collect();
    candidates.sort_by(|a, b| b.confidence.cmp(&a.confidence).then_with(|| a.path.cmp(&b.path)));
    candidates
}

fn judge(view: &View<'_>, module: &Module, numbers: &policy::Prune) -> Option<Candidate> {
    let attended = view.sense(&module.path, Signal::HumanPriority) > Fixed::ZERO;
    if attended || view.sense(&module.path, Signal::Dependency) >= numbers.dependency {
        return None;
    }
    let idle = |since: u64| view.now().saturating_sub(since) > numbers.idle_days.saturating_mul(DAY_MS);
    let (ground, confidence) = match (&module.duplicate_of, module.last_used) {
        (Some(_), _) => (Ground::Duplicate, numbers.duplicate),
        (None, None) => (Ground::NeverUsed, numbers.never_used),
        (None, Some(last)) if module.call_count == 0 && idle(last) => (Ground::IdleUnused, numbers.idle_unused),
        (None, Some(last)) if module.call_count < numbers.rare_calls && idle(last) => {
            (Ground::IdleRare, numbers.idle_rare)
        }
        _ => return None,
    };
    Some(Candidate { path: module.path.clone(), ground, confidence })
}

/// The modules that the field knows: those with a DEPENDENCY trace were used, other places with traces are not known to have been.
fn derive(traces: &[Trace]) -> Vec<Module> {
    let mut modules: BTreeMap<String, Module> = BTreeMap::new();
    for trace in traces.iter().filter(|trace| trace.signal == Signal::Dependency && !trace.location.is_own()) {
        let path = trace.location.as_str().to_string();
        modules.entry(path).or_insert_with(|| Module {
            path: trace.location.clone(),
            last_used: None,
            call_count: 0,
            duplicate_of: None,
        });
    }
    modules.into_values().collect()
}
