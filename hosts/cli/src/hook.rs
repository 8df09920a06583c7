//! A host's event in, the host's own answer out.
//!
//! The binary ends with 0 or with 2 and never otherwise: most hosts let a call through on any other code. What goes wrong before a
//! call blocks it, with text; what goes wrong after one is shown and counted, in the store or, where that cannot be had, beside it.

use crate::args::{Common, HookArgs};
use crate::failure::Failure;
use crate::gate::begin_ledger;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stigmergate_core::explain;
use stigmergate_core::gate::{Decision, Verdict};
use stigmergate_core::kernel::{Command, ObservedReply, Reply};
use stigmergate_core::policy::Policy;
use stigmergate_intake::call::ToolCall;
use stigmergate_intake::hosts::{Answer, Event, Host, Kind, Permission};
use stigmergate_intake::settings::{Locations, make_private_folder};
use stigmergate_intake::surroundings::Surroundings;
use stigmergate_store::{KeyFolder, Options, Store, StoreError};

/// Where the store remembers which settings its policy comes from.
pub(crate) const SETTINGS_KEY: &str = "settings";
/// What could not be noted in the store is noted in this file of the data folder, a line each.
pub(crate) const LOST_FILE: &str = "incidents.log";

const DONE: u8 = 0;
const BLOCKED: u8 = 2;
/// More is no event.
const MOST_BYTES: u64 = 33 << 20;
/// Shorter than any host's own limit, so that waiting for other processes ends in an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(8);

/// The whole process ends by then: longer than [`PATIENCE`], shorter than the time that hosts give it.
const LONGEST: Duration = Duration::from_secs(15);
/// Bytes of stack for reading and judging.
const STACK_BYTES: usize = 16 << 20;

/// Judges the event on standard input. Never ends with another code than 0 and 2.
pub(crate) fn run(args: &HookArgs, common: &Common) -> ExitCode {
    // A panic is a fault of the gate; it must not count as a pass.
    std::panic::set_hook(Box::new(|info| {
        let _ = writeln!(std::io::stderr(), "stigmergate: internal error, so that nothing is let through: {info}");
        std::process::exit(i32::from(BLOCKED));
    }));
    // Whatever it waits for or reads for ever: the host would give up on it, and most hosts then let the call through.
    std::thread::spawn(|| {
        std::thread::sleep(LONGEST);
        let text = "stigmergate blocked this call: it took too long to read what it would do, or to read the event";
        let _ = writeln!(std::io::stderr(), "{text}");
        std::process::exit(i32::from(BLOCKED));
    });
    // Reading needs a stack of its own size, whatever the shell has set.
    let (args, common) = (args.clone(), common.clone());
    let judging = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || answer(&args, &common));
    let code = judging.map_or_else(|error| block(&error.to_string()), |thread| thread.join().unwrap_or(BLOCKED));
    ExitCode::from(code)
}

fn answer(args: &HookArgs, common: &Common) -> u8 {
    let Some(host) = Host::named(&args.host) else {
        let known: Vec<&str> = Host::ALL.into_iter().map(Host::name).collect();
        return block(&format!("host {:?} is not known; known are {}", args.host, known.join(", ")));
    };
    let mut bytes = Vec::new();
    if let Err(error) = std::io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes) {
        return block(&format!("the event cannot be read: {error}"));
    }
    let event = match Event::read(host, &bytes) {
        Ok(event) => event,
        Err(error) => return block(&error.to_string()),
    };
    match event.kind() {
        Kind::Other => DONE,
        Kind::Before => before(host, &event, args, common).unwrap_or_else(|failure| block(&failure.to_string())),
        Kind::After => after(host, &event, common),
    }
}

fn block(reason: &str) -> u8 {
    let _ = writeln!(std::io::stderr(), "stigmergate blocked this call: {}", crate::screen::plain(reason));
    BLOCKED
}

/// What both events need.
struct Ready {
    locations: Locations,
    around: Surroundings,
    store: Store,
    keys: Arc<KeyFolder>,
    now: u64,
    /// The policy of settings that have changed.
    policy: Option<(Policy, String)>,
}

impl Ready {
    fn new(event: &Event, common: &Common) -> Result<Self, Failure> {
        let directory = folder(event.directory())?;
        let mut locations = Locations::of(&directory)?;
        if let Some(store) = &common.store {
            locations = locations.with_store(store);
        }
        let sources = locations.read()?;
        let fingerprint = sources.fingerprint();
        let keys = Arc::new(KeyFolder::new(locations.keys()));
        let options = Options {
            busy_timeout: PATIENCE,
            keys: Some(keys.clone()),
            initial_policy: if locations.store.exists() { None } else { Some(sources.settings()?.policy) },
            ..Options::default()
        };
        let mut store = Store::open(&locations.store, &options)?;
        let known = store.meta(SETTINGS_KEY)?;
        let mut policy = None;
        if known.as_deref() != Some(fingerprint.as_str()) {
            let settings = sources.settings()?;
            let digest = settings.policy.digest();
            if store.with_current(|kernel| kernel.policy_digest() == digest)? {
                store.set_meta(SETTINGS_KEY, fingerprint.as_str())?;
            } else {
                policy = Some((settings.policy, fingerprint.as_str().to_owned()));
            }
        }
        let own = [store.path().to_path_buf(), locations.store.clone(), locations.keys(), locations.anchors()];
        let around = Surroundings::new(&directory, home().as_deref()).with_own_files(own);
        Ok(Self { locations, around, store, keys, now: common.at.unwrap_or_else(now), policy })
    }

    /// Brings the store's policy up to date, where the settings have changed, and begins the ledger where they ask for one.
    fn settle(&mut self) -> Result<(), StoreError> {
        if let Some((policy, fingerprint)) = self.policy.take() {
            self.store.apply(self.now, Command::SetPolicy(Box::new(policy)))?;
            self.store.set_meta(SETTINGS_KEY, &fingerprint)?;
        }
        begin_ledger(&mut self.store, &self.keys, self.now)
    }
}

/// Judges a call. `host` is the one whose settings the hook stands in, and whose form the answer has.
fn before(host: Host, event: &Event, args: &HookArgs, common: &Common) -> Result<u8, Failure> {
    let call = event.call().map_err(|error| Failure::new("event", error.to_string()))?;
    let mut ready = Ready::new(event, common)?;
    ready.settle()?;
    let id = match call.proposal_id() {
        Some(id) => id,
        None => call.numbered_id(ready.store.last_sequence()?.saturating_add(1)),
    };
    let around = &ready.around;
    let (proposal, unattended) = ready
        .store
        .with_current(|kernel| (call.propose(&id, around, kernel.policy()), is_unattended(kernel.policy())))?;
    let applied = ready.store.apply(ready.now, Command::Propose(Box::new(proposal)))?;
    let Reply::Verdict(verdict) = applied.reply else {
        return Err(Failure::new("internal", "a proposal was answered without a verdict"));
    };
    // The process ends here; giving its memory back piece by piece would only take time.
    std::mem::forget(ready);
    let asks = event.host().asks() && !args.unattended && !unattended;
    let text = say(&verdict, applied.sequence, asks);
    print(&match verdict.decision {
        Decision::Execute => host.go(),
        Decision::Hold if asks => host.stop(Permission::Ask, &text),
        Decision::Hold | Decision::Refuse => host.stop(Permission::Deny, &text),
    })
}

/// Whether people answer at the gate and not at the host: because the policy says so, or because it wants approvals on the ledger before
/// the execution, and the host's own question is known only from it.
const fn is_unattended(policy: &Policy) -> bool {
    policy.approval.unattended || !policy.attest.rules().late
}

/// What the host shows: the rule, what would be lost, a safer way, and where to go from here. `asks`: the host asks a person itself.
fn say(verdict: &Verdict, sequence: u64, asks: bool) -> String {
    let mut short = crate::screen::plain(&explain::short(verdict));
    if !short.ends_with('.') {
        short.push('.');
    }
    let more = format!("stigmergate why {sequence}");
    match verdict.decision {
        Decision::Hold if !asks => format!(
            "stigmergate {short} A person can allow it with: stigmergate approve {sequence}, then try again. More: {more}"
        ),
        _ => format!("stigmergate {short} More: {more}"),
    }
}

fn print(answer: &Answer) -> Result<u8, Failure> {
    let failed = |error| Failure::new("io", format!("the answer cannot be written: {error}"));
    if !answer.err.is_empty() {
        writeln!(std::io::stderr(), "{}", answer.err).map_err(failed)?;
    }
    if !answer.out.is_empty() {
        if crate::ending::is_stdout_lost() {
            return Err(Failure::new("io", format!("nobody can read the answer: {}", answer.out)));
        }
        let mut out = std::io::stdout().lock();
        // An answer that the host cannot read would let the call through.
        writeln!(out, "{}", answer.out).and_then(|()| out.flush()).map_err(failed)?;
    }
    Ok(DONE)
}

fn after(host: Host, event: &Event, common: &Common) -> u8 {
    match observe(event, common) {
        Ok(None) => DONE,
        Ok(Some(message)) => print(&host.message(&message)).unwrap_or(BLOCKED),
        Err((failure, noted)) => {
            let kept = if noted { "It is noted; see stigmergate status." } else { "It could not be noted anywhere." };
            let text = crate::screen::plain(&format!("stigmergate could not record an outcome: {failure}. {kept}"));
            if !host.shows_failures() {
                return print(&host.message(&text)).unwrap_or(DONE);
            }
            let _ = writeln!(std::io::stderr(), "{text}");
            BLOCKED
        }
    }
}

/// The proposal that an event after a call belongs to.
fn proposal_of(call: &ToolCall<'_>, ready: &mut Ready) -> Result<String, StoreError> {
    if let Some(id) = call.proposal_id() {
        return Ok(id);
    }
    let (around, now) = (&ready.around, ready.now);
    let found = ready.store.with_current(|kernel| {
        let view = kernel.at(now);
        view.latest_unobserved(&call.agent(), &call.session(), &call.digest(around)).map(str::to_string)
    })?;
    let unknown = || stigmergate_core::error::Error::UnknownProposal { id: call.numbered_id(0) };
    found.ok_or_else(|| unknown().into())
}

/// Records what became of a call. Returns what the person should see.
fn observe(event: &Event, common: &Common) -> Result<Option<String>, (Failure, bool)> {
    let call = event.call().map_err(|error| {
        let failure = Failure::new("event", error.to_string());
        let noted = note_beside(&failure, common);
        (failure, noted)
    })?;
    let mut ready = Ready::new(event, common).map_err(|failure| {
        let noted = note_beside(&failure, common);
        (failure, noted)
    })?;
    let ok = !event.failed() && !event.interrupted();
    let mut id = String::new();
    let outcome = ready.settle().and_then(|()| {
        id = proposal_of(&call, &mut ready)?;
        let around = &ready.around;
        let observation = ready
            .store
            .with_current(|kernel| call.observation(&id, around, kernel.policy(), ok, event.interrupted()))?;
        ready.store.apply(ready.now, Command::Observe(observation))
    });
    let applied = match outcome {
        Ok(applied) => applied,
        // The hook was installed in the middle of a session, or the call is older than a day.
        Err(StoreError::Core(error @ stigmergate_core::error::Error::UnknownProposal { .. })) => {
            return match ready.store.note_incident(ready.now, "unlinked_outcome", &error.to_string()) {
                Ok(_) => Ok(None),
                Err(error) => Err((error.into(), false)),
            };
        }
        Err(error) => {
            let failure = Failure::from(error);
            let detail = format!("{id}: {failure}");
            let noted = ready.store.note_incident(ready.now, "lost_outcome", &detail).is_ok()
                || note_beside_in(&ready.locations.data, &detail);
            return Err((failure, noted));
        }
    };
    let Reply::Observed(ObservedReply { incident: Some(state), .. }) = applied.reply else { return Ok(None) };
    let detail = format!("{id} ran although it was {state}");
    if let Err(error) = ready.store.note_incident(ready.now, "ran_anyway", &detail) {
        return Err((error.into(), note_beside_in(&ready.locations.data, &detail)));
    }
    Ok(Some(format!(
        "stigmergate: a call ran although it was {state}: is the hook in force? See stigmergate why {}",
        applied.sequence
    )))
}

/// Notes what the store cannot take, in a file beside the stores.
fn note_beside(failure: &Failure, common: &Common) -> bool {
    let folder = common.store.as_ref().and_then(|store| store.parent().map(Path::to_path_buf));
    let folder = folder.or_else(|| Locations::of(Path::new(".")).ok().map(|locations| locations.data));
    folder.is_some_and(|folder| note_beside_in(&folder, &failure.to_string()))
}

fn note_beside_in(folder: &Path, detail: &str) -> bool {
    let line = format!("{} {}\n", now(), crate::screen::plain(detail).replace('\n', " "));
    let write = || {
        make_private_folder(folder)?;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(folder.join(LOST_FILE))?;
        file.write_all(line.as_bytes())
    };
    write().is_ok()
}

/// The folder of an event: the one that it names, or the nearest above it that is there.
fn folder(named: &str) -> Result<PathBuf, Failure> {
    let here = || {
        std::env::current_dir()
            .map_err(|error| Failure::new("io", format!("the current folder cannot be told: {error}")))
    };
    if named.is_empty() {
        return here();
    }
    let path = Path::new(named);
    if !path.is_absolute() {
        return Err(Failure::new("event", "not a hook event: cwd: expected an absolute path"));
    }
    path.ancestors().find(|ancestor| ancestor.is_dir()).map_or_else(here, |found| Ok(found.to_path_buf()))
}

fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// Milliseconds since the epoch.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
