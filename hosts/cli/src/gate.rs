//! The store of this place, under the policy that holds here.
//!
//! Looking opens only what is there and changes nothing. Acting makes the store where there is none, and gives it the policy
//! of the settings when they changed since.

use crate::args::Common;
use crate::failure::Failure;
use crate::screen::{Clock, plain};
use std::path::Path;
use std::sync::Arc;
use stigmergate_core::error::Error;
use stigmergate_core::gate::Verdict;
use stigmergate_core::kernel::{BeginLedger, Command, Kernel, OutcomeReport, Reply, Subject};
use stigmergate_core::policy::AttestMode;
use stigmergate_core::proposal::Proposal;
use stigmergate_intake::settings::{Locations, Settings};
use stigmergate_store::{Applied, KeyFolder, Options, Order, Record, Store, StoreError};

/// Where a command works, and how it answers.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) json: bool,
    pub(crate) width: usize,
    pub(crate) clock: Clock,
    pub(crate) locations: Locations,
    /// The store was named, and is not the repository's own.
    pub(crate) named_store: bool,
}

/// A verdict in the journal.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) sequence: u64,
    pub(crate) at: u64,
    pub(crate) proposal: Proposal,
    pub(crate) verdict: Verdict,
}

impl Gate {
    /// The gate of the current folder.
    pub(crate) fn here(common: &Common, width: usize) -> Result<Self, Failure> {
        let folder = std::env::current_dir()
            .map_err(|error| Failure::new("folder", format!("the current folder cannot be told: {error}")))?;
        let locations = Locations::of(&folder)?;
        let locations = common.store.as_deref().map_or(locations.clone(), |store| locations.with_store(store));
        Ok(Self {
            json: common.json,
            width,
            clock: Clock::at(common.at),
            locations,
            named_store: common.store.is_some(),
        })
    }

    /// The time that somebody means by an option's text.
    pub(crate) fn moment(&self, option: &str, text: &str) -> Result<u64, Failure> {
        self.clock.since(text).ok_or_else(|| {
            let message = format!("--{option}: {} is neither a while (30m, 2h, 3d), a day nor a time", plain(text));
            Failure::new("value", message).in_field(option)
        })
    }

    /// The settings that hold here.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        Ok(self.locations.load()?)
    }

    /// The store, where there is one, for looking.
    pub(crate) fn look(&self) -> Result<Option<Store>, Failure> {
        let options = Options { read_only: true, ..Options::default() };
        match Store::open_existing(&self.locations.store, &options) {
            Ok(store) => Ok(Some(store)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The store for looking; an error where there is none.
    pub(crate) fn look_closely(&self) -> Result<Store, Failure> {
        self.look()?.ok_or_else(|| {
            let store = plain(&self.locations.store.display().to_string());
            Failure::absent("not_found", format!("nothing was judged here yet: there is no store at {store}"))
        })
    }

    /// The store for acting, under the policy of the settings.
    pub(crate) fn act(&self) -> Result<(Store, Settings), Failure> {
        let settings = self.settings()?;
        let keys = Arc::new(self.keys());
        let options = options(&settings, keys.clone());
        let mut store = Store::open(&self.locations.store, &options)?;
        let standing = store.with_current(Kernel::policy_digest)?;
        if standing != settings.policy.digest() {
            store.apply(self.clock.now, Command::SetPolicy(Box::new(settings.policy.clone())))?;
        }
        begin_ledger(&mut store, &keys, self.clock.now)?;
        Ok((store, settings))
    }

    /// How a store is opened that is to be changed.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        Ok(options(&self.settings()?, Arc::new(self.keys())))
    }

    /// The keys of the store's ledger.
    pub(crate) fn keys(&self) -> KeyFolder {
        KeyFolder::new(self.locations.keys())
    }

    /// Applies a command.
    pub(crate) fn apply(&self, store: &mut Store, command: Command) -> Result<Applied, Failure> {
        Ok(store.apply(self.clock.now, command)?)
    }
}

fn options(settings: &Settings, keys: Arc<KeyFolder>) -> Options {
    Options { initial_policy: Some(settings.policy.clone()), keys: Some(keys), ..Options::default() }
}

/// Begins the signed ledger where the policy attests, there is a key, and none was begun.
pub(crate) fn begin_ledger(store: &mut Store, keys: &KeyFolder, now: u64) -> Result<(), StoreError> {
    let is_wanted = |kernel: &Kernel| kernel.policy().attest.mode != AttestMode::Disabled && kernel.ledger().is_none();
    if !store.with_current(is_wanted)? {
        return Ok(());
    }
    let mut usable = keys.list()?.into_iter().filter(|file| !file.is_retired).map(|file| file.key);
    let Some(key) = usable.next() else { return Ok(()) };
    if usable.next().is_some() {
        let detail = "several keys are there; leave the one that the ledger is to begin with".to_owned();
        return Err(StoreError::KeyUnusable { path: keys.path().to_path_buf(), detail });
    }
    let begin = Command::BeginLedger(BeginLedger { origin: key.name().to_owned(), key });
    store.decide::<_, StoreError>(now, |kernel| {
        // Another process may have begun it meanwhile.
        Ok((if is_wanted(kernel) { vec![begin] } else { Vec::new() }, ()))
    })?;
    Ok(())
}

/// A path for people.
pub(crate) fn show(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// The verdicts in the journal, the latest first, until `each` says that it has enough.
pub(crate) fn verdicts(store: &Store, mut each: impl FnMut(Judged) -> bool) -> Result<(), Failure> {
    for record in store.records(.., Order::NewestFirst) {
        if judged(record?).is_some_and(|judged| !each(judged)) {
            break;
        }
    }
    Ok(())
}

/// The verdict of a record, where it has one.
pub(crate) fn judged(record: Record) -> Option<Judged> {
    match (record.command, record.reply) {
        (Command::Propose(proposal), Reply::Verdict(verdict)) => {
            Some(Judged { sequence: record.sequence, at: record.at, proposal: *proposal, verdict: *verdict })
        }
        _ => None,
    }
}

/// The proposal that a record is about.
fn about(command: &Command) -> Option<&str> {
    match command {
        Command::Propose(proposal) => Some(&proposal.proposal_id),
        Command::Approve(approve) => Some(&approve.proposal_id),
        Command::Deny(deny) => Some(&deny.proposal_id),
        Command::Observe(observation) => Some(&observation.proposal_id),
        Command::Authorize(authorize) => Some(&authorize.proposal_id),
        Command::RecordOutcome(report) => Some(subject(report)),
        Command::Conclude(conclude) => Some(subject(&conclude.report)),
        _ => None,
    }
}

fn subject(report: &OutcomeReport) -> &str {
    match &report.proposal {
        Subject::Id(id) => id,
        Subject::Proposal(proposal) => &proposal.proposal_id,
    }
}

/// The verdict that somebody means by `42`, `#42` or a whole proposal id.
pub(crate) fn find(store: &Store, typed: &str) -> Result<Judged, Failure> {
    let typed = typed.trim();
    let number = typed.strip_prefix('#').unwrap_or(typed).parse::<u64>().ok();
    let record = number.map(|number| store.record(number)).transpose()?.flatten();
    match record.as_ref().and_then(|record| about(&record.command)).map(str::to_owned) {
        None => by_id(store, typed)?.ok_or_else(|| unknown(typed)),
        // The number of an approval or an outcome means the verdict that it is about.
        Some(id) => match record.and_then(judged) {
            Some(judged) => Ok(judged),
            None => by_id(store, &id)?.ok_or_else(|| unknown(&id)),
        },
    }
}

/// The last verdict on a proposal, by its whole id; `None` where the journal has none, or let it go.
pub(crate) fn by_id(store: &Store, id: &str) -> Result<Option<Judged>, Failure> {
    Ok(store.records_about(id)?.into_iter().filter_map(judged).max_by_key(|judged| judged.sequence))
}

fn unknown(typed: &str) -> Failure {
    let message = format!("no verdict {} in the journal; `stigmergate log` lists them", plain(typed));
    Failure { exit: crate::failure::ABSENT, ..Failure::from(Error::UnknownProposal { id: typed.to_owned() }) }
        .in_field("id")
        .saying(message)
}

/// What a proposal would do, on one line.
pub(crate) fn act_text(proposal: &Proposal) -> String {
    let Some(call) = proposal.call.as_ref().filter(|call| !call.acts.is_empty()) else {
        return format!("{} {}", proposal.action_type, proposal.target);
    };
    let acts = call
        .acts
        .iter()
        .map(|act| if act.words.is_empty() { format!("{} {}", act.kind, act.place) } else { act.words.join(" ") });
    acts.collect::<Vec<_>>().join("; ")
}

/// How long a place holds on: until its trace is below the strength from which the gate holds. `None` where it does not, or where
/// ticks do not follow from time.
pub(crate) fn holds_for(kernel: &Kernel, trace: &stigmergate_core::field::Trace) -> Option<u64> {
    let policy = kernel.policy();
    let over = trace.strength.less(policy.gate.medium_hazard);
    let holds = trace.strength >= policy.gate.medium_hazard && policy.time.tick_ms > 0;
    let ticks = over.steps_of(policy.field.rate(trace.decay)).filter(|_| holds)?;
    Some(ticks.saturating_add(1).saturating_mul(policy.time.tick_ms))
}
