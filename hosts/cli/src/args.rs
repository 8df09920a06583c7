//! What can be typed. The help texts are the reference; nothing here does anything.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use stigmergate_intake::hosts::Host;

const EXIT_CODES: &str = "\
Exit codes:
  0  done; from `propose`: EXECUTE
  1  from `propose`: HOLD or REFUSE; from a check: it found something
  2  wrong usage, or an error
  3  no such verdict, file or store

An <ID> is the number that `log` shows (42 or #42) or a whole proposal id.";

/// A gate between what agents propose and what happens. It advises unless a hook or a guard enforces it.
#[derive(Debug, Parser)]
#[command(name = "stigmergate", version, about, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// Use this store instead of the repository's own
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) store: Option<PathBuf>,
    /// Answer with one JSON document, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Take this for the present time: milliseconds since 1970. For demonstrations and tests; a store's clock never goes back
    #[arg(long, global = true, hide = true, value_name = "MS")]
    pub(crate) at: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what waits for you, what is hot and which policy holds
    Status,
    /// List verdicts, the latest first
    Log(LogArgs),
    /// Explain a verdict; without an id the latest
    Why(WhyArgs),
    /// List the places where something failed lately
    Hot(HotArgs),
    /// List who proposed and how far each is trusted, or show one
    Agents(AgentsArgs),
    /// Show what may be used, is used and is set aside
    Budget(BudgetArgs),
    /// Let a held call happen, once. For people: needs a terminal, or --yes
    Approve(ApproveArgs),
    /// Refuse a held call. For people: needs a terminal, or --yes
    Deny(DenyArgs),
    /// Show, check or trust settings
    Policy(PolicyArgs),
    /// Judge a proposal given as JSON
    Propose(ProposeArgs),
    /// Report what became of a proposal
    Outcome(OutcomeArgs),
    /// Give leave for one execution of what was judged EXECUTE, or approved
    Authorize(AuthorizeArgs),
    /// Record that an executor has run what was authorized
    Receipt(ReceiptArgs),
    /// Make, show or replace the key that signs the ledger
    Keys(KeysArgs),
    /// Show, check, repair, shorten or carry the store
    Store(StoreArgs),
    /// Verify, show or hand on the signed ledger
    Ledger(LedgerArgs),
    /// Let ticks pass, or time where ticks follow from time
    Tick(TickArgs),
    /// Make an agent's host ask the gate before each tool call
    Init(InitArgs),
    /// Take back what `init` did
    Uninstall(UninstallArgs),
    /// Try whether hosts reach the gate, and say what keeps them from it
    Doctor(DoctorArgs),
    /// Make a page for the browser about a period: verdicts, reasons, places, agents, budgets, ledger
    Report(ReportArgs),
    /// Judge the past again: what would another policy have decided?
    Replay(ReplayArgs),
    /// List modules that nothing seems to use; nothing is taken away
    Prune(PruneArgs),
    /// Follow what is judged as it happens; ends with Ctrl-C
    Watch(WatchArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all commands
    Man(ManArgs),
    /// Print the JSON Schema of what a command answers with --json; without a command, list them
    Schema(SchemaArgs),
    /// Judge a host's event from standard input: what `init` installs
    Hook(HookArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Only this agent, and those below it (`claude` has `claude/reviewer` below it)
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only this decision
    #[arg(long, value_enum)]
    pub(crate) decision: Option<DecisionArg>,
    /// At most this many
    #[arg(long, short = 'n', default_value_t = 20, value_name = "COUNT")]
    pub(crate) limit: usize,
    /// Only what came after: a while (`30m`, `2h`, `3d`), a day (`2026-11-28`) or a time of today (`14:02`)
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecisionArg {
    Execute,
    Hold,
    Refuse,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The verdict
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HotArgs {
    /// Only this place and what is below it
    pub(crate) place: Option<String>,
    /// At most this many
    #[arg(long, short = 'n', default_value_t = 15, value_name = "COUNT")]
    pub(crate) limit: usize,
    /// Every trace, also those that hold nothing back
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    /// Only this one, in detail
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BudgetArgs {
    /// Of this agent, instead of everybody together
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// What is known of the modules: a JSON object of path to `{"last_used": MS, "call_count": N, "duplicate_of": PATH}`. Without it,
    /// what was recorded as used
    #[arg(long, value_name = "FILE")]
    pub(crate) registry: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// A store, or what `store export` has written; without it, the repository's own store
    pub(crate) source: Option<PathBuf>,
    /// Judge under this policy: a settings file, a preset (reference, standard, strict), or `.` for what holds here. Without it, as it
    /// was judged, which has to give the same answers
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,
    /// Show at most this many differences
    #[arg(long, short = 'n', default_value_t = 50, value_name = "COUNT")]
    pub(crate) limit: usize,
}

/// What only people do.
#[derive(Debug, Args)]
pub(crate) struct Person {
    /// Who you are, where it is not the name that you are logged in by
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Do it without a terminal. An agent's shell has none, and agents may not answer for people: say this only in a program of your own
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// The held verdict
    pub(crate) id: String,
    /// Also allow the same act at the same place for a while (`30m`, `2h`); never for what cannot come back
    #[arg(long = "for", value_name = "WHILE")]
    pub(crate) standing: Option<String>,
    /// What you think of it: good, bad, or a number from -1 to 1; it moves the agent's trust
    #[arg(long, allow_hyphen_values = true, value_name = "WORD")]
    pub(crate) feedback: Option<String>,
    #[command(flatten)]
    pub(crate) person: Person,
}

#[derive(Debug, Args)]
pub(crate) struct DenyArgs {
    /// The held verdict
    pub(crate) id: String,
    /// Why, for whoever reads the journal
    #[arg(long, default_value = "", value_name = "TEXT")]
    pub(crate) reason: String,
    /// What you think of it: good, bad, or a number from -1 to 1; it moves the agent's trust
    #[arg(long, allow_hyphen_values = true, value_name = "WORD")]
    pub(crate) feedback: Option<String>,
    #[command(flatten)]
    pub(crate) person: Person,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show what holds here, and which file says so
    Show,
    /// Check a settings file; without one, those that hold here
    Check {
        /// The file
        file: Option<PathBuf>,
    },
    /// Show where two policies differ
    Diff {
        /// A settings file, a preset (reference, standard, strict), or `.` for what holds here
        from: String,
        /// The other one
        #[arg(default_value = ".")]
        to: String,
    },
    /// Tell what a key means, what holds here and what the preset says
    Explain {
        /// The key, with dots: `gate.execute`, `budget.caps.llm_calls`
        key: String,
    },
    /// Let the project's file also loosen the policy, as long as it stays as it is. For people: needs a terminal, or --yes
    Trust {
        /// The file, where it is not the project's
        file: Option<PathBuf>,
        /// Do it without a terminal
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ProposeArgs {
    /// A file with the proposal; `-` or nothing for standard input
    pub(crate) file: Option<PathBuf>,
    /// Only say what the verdict would be; nothing is remembered
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OutcomeArgs {
    /// The proposal
    pub(crate) id: String,
    /// The tests passed
    #[arg(long, required_unless_present = "failed", conflicts_with = "failed")]
    pub(crate) passed: bool,
    /// The tests failed
    #[arg(long)]
    pub(crate) failed: bool,
    /// Repair was needed
    #[arg(long)]
    pub(crate) repair: bool,
    /// What a person thinks of it: good, bad, or a number from -1 to 1
    #[arg(long, allow_hyphen_values = true, value_name = "WORD")]
    pub(crate) feedback: Option<String>,
    /// What it cost, such as '{"llm_calls": 3}'; without it, the estimate
    #[arg(long, value_name = "JSON")]
    pub(crate) cost: Option<String>,
    /// What happened, for people
    #[arg(long, default_value = "", value_name = "TEXT")]
    pub(crate) summary: String,
    /// The number of the receipt's event: the outcome is written to the ledger
    #[arg(long, value_name = "RECEIPT")]
    pub(crate) attested: Option<u64>,
    /// The observer's own signature: a file with its claim in an envelope
    #[arg(long, value_name = "FILE", requires = "attested")]
    pub(crate) claim: Option<PathBuf>,
    /// Sign as the observer, with the key in this folder (`keys new --folder`)
    #[arg(long, value_name = "DIR", requires = "attested", conflicts_with = "claim")]
    pub(crate) sign_with: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make the key, and begin the ledger where the policy attests. For people: needs a terminal, or --yes
    New {
        /// The ledger's identity, which no other has: by convention an address without a scheme. Without one it is made up
        #[arg(long, value_name = "ORIGIN")]
        name: Option<String>,
        /// Make a key for an executor or an observer instead, in this folder, which the gate does not use. The policy lets it sign once
        /// its verifier key stands under `attest.keys` in the settings
        #[arg(long, value_name = "DIR", requires = "name")]
        folder: Option<PathBuf>,
        /// Do it without a terminal
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Show the keys as everybody may know them
    Show,
    /// Put a fresh key in force, signed by the old one, which is kept aside. For people: needs a terminal, or --yes
    Rotate {
        /// Do it without a terminal
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

const STORE_EXIT_CODES: &str = "\
Exit codes:
  0  done; from `check`: everything is whole; from `repair`: it was whole, or is again
  1  from `check`: the store is damaged; from `repair`: it is whole again, and something was lost
  2  wrong usage, or an error; nothing was changed
  3  no store there";

#[derive(Debug, Args)]
#[command(after_help = STORE_EXIT_CODES)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) command: Option<StoreCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Show where the store is, how large, and what is in it; the default
    Show,
    /// Apply every record again, and compare every answer, state and signature
    Check,
    /// Make a whole store of a damaged one; the damaged file is kept beside it. For people: needs a terminal, or --yes
    Repair {
        /// Do it without a terminal
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Let old records go; what they led to stays, `why` no longer explains them. For people: needs a terminal, or --yes
    Compact {
        /// How many of the last records stay
        #[arg(long, default_value_t = 1000, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
        keep: u64,
        /// Do it without a terminal
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Write the whole store as lines of JSON
    Export {
        /// The file, which must not be there yet; `-` or nothing for standard output
        file: Option<PathBuf>,
    },
    /// Make the store from an export, where none is. For people: needs a terminal, or --yes
    Import {
        /// The file; `-` for standard input
        file: PathBuf,
        /// Do it without a terminal
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LedgerArgs {
    #[command(subcommand)]
    pub(crate) command: LedgerCommand,
}

/// Whose signatures count.
#[derive(Debug, Args)]
pub(crate) struct Trusted {
    /// Trust this verifier key instead of those here: a text such as `name+1a2b3c4d+AX...`, or a file that holds it
    #[arg(long = "key", value_name = "VKEY")]
    pub(crate) keys: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Verify every event, link, hash and signature. Ends with 0 only for a valid or an empty ledger
    Verify {
        /// An exported ledger; without it, the store's own
        folder: Option<PathBuf>,
        /// A head that was kept: what was cut off or written anew since is found
        #[arg(long, value_name = "CHECKPOINT")]
        against: Option<PathBuf>,
        #[command(flatten)]
        trusted: Trusted,
    },
    /// List the last events, or show one
    Show {
        /// The event's number
        sequence: Option<u64>,
        /// At most this many
        #[arg(long, short = 'n', default_value_t = 20, value_name = "COUNT")]
        limit: u64,
    },
    /// Write the ledger into a folder, in the layout that other tools verify: `checkpoint`, `vkey`, `tile/...`
    Export {
        /// The folder; an earlier export of this ledger in it is continued
        folder: PathBuf,
    },
    /// Print the signed head: what to keep elsewhere
    Checkpoint,
    /// Print a proof that an event is on the ledger, which needs nothing else to be checked
    Prove {
        /// The event's number
        sequence: u64,
        /// Of an authorization or a receipt: its in-toto statement in a signed envelope (DSSE) instead
        #[arg(long)]
        statement: bool,
    },
    /// Check what `prove` has printed
    CheckProof {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        trusted: Trusted,
    },
    /// Prove that the ledger continues a head that was kept
    Consistency {
        /// The head, as `checkpoint` prints it
        old: PathBuf,
    },
    /// Keep the head, and compare with the one that was kept before: a cut or a rewritten past is found
    Anchor {
        /// Where to keep it, best where the store's owner cannot write; without it, among the gate's own files
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AuthorizeArgs {
    /// The proposal: judged EXECUTE, or approved
    pub(crate) id: String,
    /// It must have been started within this (`30s`, `5m`); without it, and at most, as long as the policy reserves
    #[arg(long, value_name = "WHILE")]
    pub(crate) within: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReceiptArgs {
    /// The number of the authorization's event
    pub(crate) authorization: u64,
    /// Who ran it: whom the authorization is given to
    #[arg(long)]
    pub(crate) actor: String,
    /// The digest of what ran, as the authorization names it: 64 hexadecimal digits
    #[arg(long, value_name = "DIGEST")]
    pub(crate) arguments: String,
    /// The digest of what came back, such as its SHA-256: 64 hexadecimal digits
    #[arg(long, value_name = "DIGEST")]
    pub(crate) result: String,
    /// The executor's own signature: a file with its claim in an envelope
    #[arg(long, value_name = "FILE")]
    pub(crate) claim: Option<PathBuf>,
    /// Sign as the executor, with the key in this folder (`keys new --folder`)
    #[arg(long, value_name = "DIR", conflicts_with = "claim")]
    pub(crate) sign_with: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TickArgs {
    /// How many
    #[arg(default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
}

/// Reads the name of a host.
fn host() -> impl TypedValueParser<Value = Host> {
    let names = Host::ALL.into_iter().map(|host| PossibleValue::new(host.name()).help(host.title()));
    PossibleValuesParser::new(names).try_map(|name| Host::named(&name).ok_or("not a host"))
}

#[derive(Debug, Args)]
pub(crate) struct Scope {
    /// Your own settings, for all projects (of Claude Code: ~/.claude/settings.json)
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,
    /// The project's settings, for everyone who works on it (.claude/settings.json); the default
    #[arg(long)]
    pub(crate) project: bool,
    /// The project's settings, for you alone (.claude/settings.local.json); not every host has them
    #[arg(long, conflicts_with_all = ["user", "project"])]
    pub(crate) local: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The host
    #[arg(value_parser = host())]
    pub(crate) host: Host,
    #[command(flatten)]
    pub(crate) scope: Scope,
    /// Only print what the settings would be
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// The host
    #[arg(value_parser = host())]
    pub(crate) host: Host,
    #[command(flatten)]
    pub(crate) scope: Scope,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Only this host
    #[arg(value_parser = host())]
    pub(crate) host: Option<Host>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// From when: a while ago (`2h`, `30d`), a day (`2026-11-28`) or a time of today (`14:02`)
    #[arg(long, default_value = "7d", value_name = "WHEN")]
    pub(crate) since: String,
    /// Up to when, told alike and not included; without it, up to the present
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
    /// Write the page to this file; without it, to standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Begin with this many of the last verdicts
    #[arg(long, short = 'n', default_value_t = 10, value_name = "COUNT")]
    pub(crate) last: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder, which is made where it is missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The command, such as `log` or `ledger verify`; `error` for what errors print
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct HookArgs {
    /// The host whose event comes on standard input
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    /// Nobody is there to ask: a HOLD is told to the host as a refusal with an id to approve
    #[arg(long)]
    pub(crate) unattended: bool,
}
