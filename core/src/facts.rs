//! What an act would do, as facts, and what each fact means (SPEC 11).
//!
//! Whoever turns a tool call into a proposal observes: which places an act names, what it does to them, what state they are in.
//! This room draws the conclusions (is it protected, secret, outside, can it come back) from the policy and the session's
//! memory, so that a replay under another policy concludes anew. Each fact becomes one finding; facts do not merge.

use crate::digest::Digest;
use crate::falsify::{Cause, Finding};
use crate::glob::Glob;
use crate::location::Location;
use crate::policy::Policy;
use crate::session::Memory;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What an act is, by how strictly it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Looks, changes nothing.
    Read,
    /// Tests, builds, linters, type checkers.
    Check,
    /// Changes files or settings that are its own business.
    Write,
    /// Runs something whose effects are not known.
    Execute,
    /// Sends or fetches.
    Network,
    /// Destroys.
    Delete,
    /// Changes what others use.
    Deploy,
}

impl Class {
    /// Every class, the mildest first.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Check, Self::Write, Self::Execute, Self::Network, Self::Delete, Self::Deploy];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Check => "check",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::Network => "network",
            Self::Delete => "delete",
            Self::Deploy => "deploy",
        }
    }

    /// Whether it only looks or checks: no rollback, tests or metrics are asked of it, and no trust.
    #[must_use]
    pub const fn is_harmless(self) -> bool {
        matches!(self, Self::Read | Self::Check)
    }
}

/// The kinds of fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FactKind {
    /// A destroying act aims at a file system root, the home, the workspace root or an ancestor of it, a disk device; or a process bomb.
    CatastrophicTarget,
    /// A change aims at the gate's own settings, policy, store or keys, or at a host's hook configuration.
    ProtectedTarget,
    /// An agent asks for a command of the gate itself that does more than read.
    OwnCommand,
    /// Data would be destroyed and no way back was found.
    Irreversible,
    /// A change aims outside the workspace.
    OutsideWorkspace,
    /// What a destroying act aims at cannot be told before it runs.
    UnresolvedTarget,
    /// A push to, or a merge into, a branch that others share.
    SharedBranch,
    /// History that others have would be rewritten.
    RewrittenHistory,
    /// Production is acted on.
    Production,
    /// Something is published.
    Publishing,
    /// A secret is read or shown.
    Secret,
    /// Downloaded, decoded or computed code is handed to an interpreter.
    UntrustedCode,
    /// Privileges are raised.
    RaisedPrivileges,
    /// Very many things at once.
    Bulk,
    /// The call cannot be read, so that what it would do is not known.
    Unreadable,
}

impl FactKind {
    /// Every kind, the gravest first.
    pub const ALL: [Self; 15] = [
        Self::CatastrophicTarget,
        Self::ProtectedTarget,
        Self::OwnCommand,
        Self::Irreversible,
        Self::OutsideWorkspace,
        Self::UnresolvedTarget,
        Self::SharedBranch,
        Self::RewrittenHistory,
        Self::Production,
        Self::Publishing,
        Self::Secret,
        Self::UntrustedCode,
        Self::RaisedPrivileges,
        Self::Bulk,
        Self::Unreadable,
    ];
}

/// Something observed of an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// What kind of thing.
    pub kind: FactKind,
    /// What exactly, for people: a path, a branch, a host.
    pub detail: String,
}

/// What an act does to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks at it.
    Read,
    /// Makes it, or adds to it.
    Create,
    /// Changes a part of it, the rest stays.
    Edit,
    /// Replaces what it holds.
    Overwrite,
    /// Removes it.
    Delete,
    /// Takes it elsewhere.
    Move,
    /// Changes who may do what with it.
    Mode,
}

impl Effect {
    /// Whether what stood there is gone afterwards.
    #[must_use]
    pub const fn destroys(self) -> bool {
        matches!(self, Self::Overwrite | Self::Delete)
    }

    /// Whether anything is changed.
    #[must_use]
    pub const fn changes(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// The kind part of the act's key: the same for every tool that does it.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create | Self::Edit | Self::Overwrite => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Mode => "mode",
        }
    }
}

/// Which root a place lies below; the longest one that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Root {
    /// The repository, or the folder of the session.
    Workspace,
    /// A folder for temporary files.
    Temp,
    /// The user's home, outside the workspace.
    Home,
    /// Anywhere else.
    Outside,
}

/// The state of a place before the act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// Nothing is there.
    Absent,
    /// Git has exactly this.
    Committed,
    /// Git has an earlier state of it.
    Changed,
    /// Git does not know it.
    Untracked,
    /// Git is told to ignore it.
    Ignored,
    /// It is there, and nothing more could be found out.
    Unknown,
}

/// A place that an act names, and what it would do there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The place, relative to the workspace root where it lies inside.
    pub place: Location,
    /// What would be done.
    pub effect: Effect,
    /// Which root it lies below.
    pub root: Root,
    /// Its state.
    pub before: Before,
    /// It is a folder, and the act reaches what is below.
    #[serde(default)]
    pub folder: bool,
    /// Its spelling could be resolved; `false`: a variable, a list, something computed.
    #[serde(default = "yes")]
    pub resolved: bool,
    /// It is a root, a home, the workspace or an ancestor of it, a device.
    #[serde(default)]
    pub catastrophic: bool,
    /// How many things are there, itself included.
    #[serde(default = "one")]
    pub count: u32,
    /// What lies below a folder and cannot come back from git: the first of them.
    #[serde(default)]
    pub lost: Vec<Location>,
    /// There is more of that than `lost` names.
    #[serde(default)]
    pub lost_more: bool,
    /// The command that brings it back, where one is known.
    #[serde(default)]
    pub way_back: Option<String>,
    /// A number that changes when anybody changes the file.
    #[serde(default)]
    pub stamp: Option<u64>,
}

const fn yes() -> bool {
    true
}

const fn one() -> u32 {
    1
}

impl Target {
    /// A target about which nothing special is known.
    #[must_use]
    pub const fn new(place: Location, effect: Effect, root: Root, before: Before) -> Self {
        Self {
            place,
            effect,
            root,
            before,
            folder: false,
            resolved: true,
            catastrophic: false,
            count: 1,
            lost: Vec::new(),
            lost_more: false,
            way_back: None,
            stamp: None,
        }
    }
}

/// One act of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// How strictly it is judged.
    pub class: Class,
    /// The kind part of its key: an effect, or a command with subcommand and object.
    pub kind: String,
    /// The place part of its key.
    pub place: Location,
    /// The command as it would run: program, subcommand, arguments; empty for acts that are no commands.
    #[serde(default)]
    pub words: Vec<String>,
    /// The places that it names.
    #[serde(default)]
    pub targets: Vec<Target>,
    /// What else was observed.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// It only says what it would do.
    #[serde(default)]
    pub dry_run: bool,
}

impl Act {
    /// Whether its failures are remembered and weighed: everything but looking. A dry run that fails again and again is a loop too.
    #[must_use]
    pub const fn is_remembered(&self) -> bool {
        !matches!(self.class, Class::Read) || self.dry_run
    }
}

/// A tool call as it was observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool's name, common to all hosts: `Bash` also where the host says `run_shell_command`. The proposal's action type is the
    /// host's own name.
    pub tool: String,
    /// The session that it belongs to.
    #[serde(default)]
    pub session: String,
    /// The digest of exactly what would run, after all rewriting. An approval is bound to it.
    pub digest: Digest,
    /// What it does, in order.
    #[serde(default)]
    pub acts: Vec<Act>,
    /// What was observed of the call as a whole.
    #[serde(default)]
    pub facts: Vec<Fact>,
}

impl Call {
    /// The strictest class among its acts.
    #[must_use]
    pub fn class(&self) -> Class {
        self.acts.iter().map(|act| act.class).max().unwrap_or(Class::Read)
    }
}

/// A fact, and the act that it was observed of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The act's number; `None`: the call as a whole.
    pub act: Option<usize>,
    /// The fact.
    pub fact: Fact,
}

/// All facts of a call: those that were handed over, and those that follow from its targets.
#[must_use]
pub fn observe(call: &Call, policy: &Policy, memory: &Memory) -> Vec<Observation> {
    let mut found: Vec<Observation> =
        call.facts.iter().map(|fact| Observation { act: None, fact: fact.clone() }).collect();
    let mut told: BTreeSet<(FactKind, String)> =
        call.facts.iter().map(|fact| (fact.kind, fact.detail.clone())).collect();
    for (number, act) in call.acts.iter().enumerate() {
        let mut facts = act.facts.clone();
        for target in &act.targets {
            conclude(target, &call.session, policy, memory, &mut facts);
        }
        let changed =
            act.targets.iter().filter(|t| t.effect.changes()).fold(0_u32, |sum, t| sum.saturating_add(t.count));
        if changed > policy.bulk_over {
            add(&mut facts, FactKind::Bulk, &alloc::format!("{changed} files and folders"));
        }
        let mut of_act: Vec<(FactKind, Vec<String>)> = Vec::new();
        for fact in facts.into_iter().filter(|fact| !told.contains(&(fact.kind, fact.detail.clone()))) {
            match of_act.iter_mut().find(|(kind, _)| *kind == fact.kind) {
                Some((_, details)) if details.contains(&fact.detail) => {}
                Some((_, details)) => details.push(fact.detail),
                None => of_act.push((fact.kind, Vec::from([fact.detail]))),
            }
        }
        for (kind, details) in of_act {
            told.extend(details.first().map(|first| (kind, first.clone())));
            found.push(Observation { act: Some(number), fact: Fact { kind, detail: named(&details) } });
        }
    }
    found
}

/// Things that are named at once; of more the number is told.
const NAMED: usize = 3;

/// The first of several names, and how many more there are.
fn named(names: &[String]) -> String {
    let told: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = names.len().saturating_sub(told.len());
    let more = if more > 0 { alloc::format!(" and {more} more") } else { String::new() };
    alloc::format!("{}{more}", told.join(", "))
}

/// A folder with what is lost in it, or the place alone.
fn lost_with(target: &Target) -> String {
    let place = target.place.as_str();
    if target.lost.is_empty() {
        return place.to_string();
    }
    let lost: Vec<String> = target.lost.iter().map(|lost| lost.as_str().to_string()).collect();
    if target.lost_more {
        let first: Vec<&str> = lost.iter().take(NAMED).map(String::as_str).collect();
        return alloc::format!("{place} ({} and more)", first.join(", "));
    }
    alloc::format!("{place} ({})", named(&lost))
}

fn add(facts: &mut Vec<Fact>, kind: FactKind, detail: &str) {
    facts.push(Fact { kind, detail: detail.to_string() });
}

/// What follows from one target.
fn conclude(target: &Target, session: &str, policy: &Policy, memory: &Memory, facts: &mut Vec<Fact>) {
    let place = target.place.as_str();
    let effect = target.effect;
    if !effect.changes() {
        if is_secret(place, policy) {
            add(facts, FactKind::Secret, place);
        }
        return;
    }
    if target.catastrophic && (effect.destroys() || matches!(effect, Effect::Mode | Effect::Move)) {
        add(facts, FactKind::CatastrophicTarget, place);
    }
    if is_protected(target, policy) {
        add(facts, FactKind::ProtectedTarget, place);
    }
    if matches!(target.root, Root::Home | Root::Outside) && target.resolved {
        add(facts, FactKind::OutsideWorkspace, place);
    }
    if effect.destroys() && !target.resolved {
        add(facts, FactKind::UnresolvedTarget, place);
    }
    if effect.destroys() && !comes_back(target, session, memory) {
        add(facts, FactKind::Irreversible, &lost_with(target));
    }
}

/// Whether what an act destroys can be had again (SPEC 11, a way back).
fn comes_back(target: &Target, session: &str, memory: &Memory) -> bool {
    if target.root == Root::Temp || target.way_back.is_some() {
        return true;
    }
    if !target.resolved {
        return false;
    }
    let inside = target.root == Root::Workspace;
    let made = |place: &Location| memory.made(session, place);
    match target.before {
        Before::Absent => inside || target.effect != Effect::Delete,
        Before::Committed if !target.folder => true,
        Before::Changed if !target.folder => {
            made(&target.place) || memory.left_so(session, &target.place, target.stamp)
        }
        _ if made(&target.place) => true,
        // A folder comes back when everything in it does; what git has in it is not listed as lost.
        _ if target.folder => inside && !target.lost_more && target.lost.iter().all(made),
        _ => false,
    }
}

/// Whether a change aims at what the agents' governor consists of.
fn is_protected(target: &Target, policy: &Policy) -> bool {
    // Making a folder takes nothing from what it holds.
    if target.folder && target.effect == Effect::Create {
        return false;
    }
    let globs = || policy.places.protected.iter().chain(&policy.rules.protected);
    names(globs(), target.place.as_str()) || (target.folder && reaches_into(globs(), &target.place))
}

/// Whether a place holds a secret.
#[must_use]
pub fn is_secret(place: &str, policy: &Policy) -> bool {
    let name = lower(place);
    names(policy.places.secrets.iter(), &name) && !names(policy.places.not_secrets.iter(), &name)
}

/// Whether a name of a variable, header or field says that it holds a secret.
#[must_use]
pub fn is_secret_name(name: &str, policy: &Policy) -> bool {
    let upper = name.to_ascii_uppercase();
    policy.places.secret_names.iter().any(|glob| glob.matches(&upper))
}

fn lower(place: &str) -> String {
    place.to_ascii_lowercase()
}

/// Whether one of the globs names a place.
pub(crate) fn names<'a>(mut globs: impl Iterator<Item = &'a Glob>, place: &str) -> bool {
    globs.any(|glob| glob.matches(place))
}

/// Whether an act on a folder may reach a place that one of the globs names: the glob's literal beginning lies below the folder, or
/// the folder's own path has begun to match.
pub(crate) fn reaches_into<'a>(mut globs: impl Iterator<Item = &'a Glob>, folder: &Location) -> bool {
    globs.any(|glob| {
        let beginning = glob.literal_prefix().trim_end_matches('/');
        (!beginning.is_empty() && folder.holds(beginning)) || glob.reaches_below(folder.as_str())
    })
}

/// The finding that a fact means under the policy, if any.
#[must_use]
pub fn finding(observation: &Observation, policy: &Policy) -> Option<Finding> {
    let rule = policy.facts.get(&observation.fact.kind)?;
    let detail = (!observation.fact.detail.is_empty()).then(|| observation.fact.detail.clone());
    Some(Finding { vector: rule.vector, severity: rule.severity?, cause: Cause::from(observation.fact.kind), detail })
}
