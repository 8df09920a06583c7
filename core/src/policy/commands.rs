//! What is known of commands: a table that the policy carries and users extend.
//!
//! A row says of a command what class it is, which of its words name places and what happens to them, which facts follow, and what
//! whoever observes the call has to look at. Rows are matched by program and subcommand; the row with the most words counts, and of
//! those the last, so that a user's row wins. Intake asks this table and hands over what it saw; nothing about a tool
//! is known elsewhere.

use crate::error::{Error, Field};
use crate::facts::{Class, Effect, FactKind};
use crate::glob::Glob;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which of the operands behind the subcommand name places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// All of them.
    All,
    /// The first.
    First,
    /// All but the first.
    Rest,
    /// The last.
    Last,
    /// All but the last.
    AllButLast,
    /// Those behind `--`.
    AfterDashes,
    /// The last, where there is more than one.
    LastOfSeveral,
}

/// Operands, and what the command does to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operands {
    /// Which.
    pub which: Which,
    /// What happens to them.
    pub effect: Effect,
}

/// Something that has to be looked at to know what a command would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Observe {
    /// Uncommitted changes of tracked files would be lost.
    DirtyTree,
    /// Files that git does not know would be lost.
    UntrackedFiles,
    /// Files that git ignores would be lost.
    IgnoredFiles,
    /// Commits go to a remote branch.
    Push,
    /// Commits that were pushed would be rewritten.
    PublishedHistory,
    /// SQL statements stand in its arguments or its input.
    Sql,
    /// A request with a method and a body.
    Http,
    /// A request to a hosting service's API, by path and method.
    Api,
    /// Its words or its environment may name production.
    Environment,
    /// Its operands name the databases that it acts on.
    Database,
    /// Its operands are names of variables that it shows; without one it shows all.
    Variables,
    /// Its words may show the values of secret variables.
    Shown,
    /// An inline or given program.
    Program,
    /// A command for a shell stands in its input.
    Shell,
    /// An archive is made, listed or unpacked, as its first letters say.
    Archive,
    /// Members of an archive are written over files of their names, in the folder that is named for it or the one it runs in.
    Unpack,
    /// What it unpacks is written beside the archive, under its name without the ending.
    UnpackBeside,
    /// It edits in place, by a program that may leave little of a file.
    Rewrite,
    /// What it writes it can make again.
    Built,
    /// A file of the address's last name is written where it runs.
    RemoteName,
    /// Its operands may name a path in a revision: `HEAD:src/a`.
    Revisions,
    /// Its operands may be paths that are written over, or a branch.
    Checkout,
    /// Its last operand may be a folder that things are put into.
    Into,
    /// Its operands are patterns, which it expands itself, quoted or not.
    Patterns,
    /// The whole system or all its files would be reached by the mode or owner change.
    Recursive,
    /// It takes whole folders along: of a home, all secrets.
    Whole,
    /// An agent is started: the variables that it is given may take its hook away.
    Agent,
    /// Its options set what other programs it runs.
    Settings,
    /// Its operands are numbers of processes, which may stand for all of them.
    Processes,
}

/// What is known of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Program and subcommand; words are globs, `|` separates alternatives: `npm|pnpm publish`, `aws * delete-*`. A row for the
    /// program `*` speaks of programs that no other row names.
    pub command: String,
    /// The row counts only where one of these options or operands is given.
    #[serde(default)]
    pub when: Vec<String>,
    /// The row does not count where one of these options or operands is given.
    #[serde(default)]
    pub unless: Vec<String>,
    /// How strictly it is judged.
    #[serde(default)]
    pub class: Option<Class>,
    /// What follows from the command itself.
    #[serde(default)]
    pub facts: Vec<FactKind>,
    /// Which operands name places.
    #[serde(default)]
    pub operands: Vec<Operands>,
    /// Options whose value names a place.
    #[serde(default)]
    pub options: BTreeMap<String, Effect>,
    /// Options that take a value, so that it is no operand.
    #[serde(default)]
    pub values: Vec<String>,
    /// Options with which it only says what it would do. `--` among them: also behind a `--`, where the options of a script stand.
    #[serde(default)]
    pub dry_run: Vec<String>,
    /// Options that are one: `-f=--force`. A rule that names either means both.
    #[serde(default)]
    pub same: Vec<String>,
    /// What has to be looked at.
    #[serde(default)]
    pub observe: Vec<Observe>,
    /// The command that brings back what it destroys.
    #[serde(default)]
    pub way_back: Option<String>,
}

/// A word of a command as it stands, or one that cannot be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// The text; for an unknown word what is known of it.
    pub text: &'a str,
    /// Whether the text is the whole word.
    pub known: bool,
}

/// What the table says of one command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Whether any row matched.
    pub known: bool,
    /// How strictly it is judged.
    pub class: Option<Class>,
    /// What follows from the command itself.
    pub facts: Vec<FactKind>,
    /// The places that it names, as numbers of arguments, and what happens to them.
    pub places: Vec<(usize, Effect)>,
    /// Of these the options that hold their value themselves: `--output=x`, `-ox`.
    pub own_values: Vec<usize>,
    /// The operands behind the subcommand, as numbers of arguments.
    pub operands: Vec<usize>,
    /// The words of the subcommand, as numbers of arguments.
    pub verb: Vec<usize>,
    /// It only says what it would do.
    pub dry_run: bool,
    /// What has to be looked at.
    pub observe: Vec<Observe>,
    /// The command that brings back what it destroys.
    pub way_back: Option<String>,
}

/// The table.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    /// The rows: what a command or tool does, by its first words.
    rows: Vec<Row>,
    /// The hash of a program's name, and a row that names it; ordered by both.
    by_program: Vec<(u64, usize)>,
    /// The rows whose program is a pattern.
    by_pattern: Vec<usize>,
}

/// The written form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows<'a> {
    rows: Cow<'a, [Row]>,
}

impl Serialize for Commands {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Rows { rows: Cow::Borrowed(&self.rows) }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Commands {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Rows::deserialize(deserializer).map(|written| Self::new(written.rows.into_owned()))
    }
}

impl PartialEq for Commands {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

impl Eq for Commands {}

/// A dry run by one of these options is one for every known command.
const DRY_RUN: [&str; 2] = ["--dry-run", "--help"];

impl Commands {
    /// A table of these rows.
    #[must_use]
    pub fn new(rows: Vec<Row>) -> Self {
        let (mut by_program, mut by_pattern) = (Vec::new(), Vec::new());
        for (number, row) in rows.iter().enumerate() {
            for program in row.words().next().unwrap_or_default().split('|') {
                if is_pattern(program) {
                    by_pattern.push(number);
                } else {
                    by_program.push((name_hash(program), number));
                }
            }
        }
        by_program.sort_unstable();
        by_pattern.dedup();
        Self { rows, by_program, by_pattern }
    }

    /// The table of the presets `standard` and `strict`.
    #[must_use]
    pub fn known() -> Self {
        Self::new(super::known::rows())
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Checks that every row names a command.
    ///
    /// # Errors
    /// [`Error::Policy`] that names the row.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        for (number, row) in self.rows.iter().enumerate() {
            let fine = !row.command.trim().is_empty()
                && row.command.split(['|', ' ']).all(|word| !is_pattern(word) || Glob::new(word).is_ok());
            if !fine {
                let field = Field::new(&alloc::format!("commands.rows.{number}.command"));
                return Err(Error::Policy {
                    field,
                    expected: "a program and its subcommand, as words or globs".to_string(),
                });
            }
        }
        Ok(())
    }

    /// Whether anything is known of a program.
    #[must_use]
    pub fn knows(&self, program: &str) -> bool {
        self.candidates(program).any(|row| !row.is_for_unnamed())
    }

    /// What the table says of a command. `program` is the bare name; the arguments follow it.
    #[must_use]
    pub fn read(&self, program: &str, arguments: &[Word<'_>]) -> Reading {
        let (unnamed, named): (Vec<&Row>, Vec<&Row>) = self.candidates(program).partition(|row| row.is_for_unnamed());
        let rows = if named.is_empty() { &unnamed } else { &named };
        if rows.is_empty() {
            return Reading { operands: Split::of(arguments, &[]).operands, ..Reading::default() };
        }
        let general: Vec<&Row> = rows.iter().copied().filter(|row| row.words().count() == 1).collect();
        let first = Split::of(arguments, &general);
        let by_name: Vec<&Row> =
            rows.iter().copied().filter(|row| row.matches_verb(arguments, &first.operands)).collect();
        let split = Split::of(arguments, &by_name);
        let matches = |row: &&Row| row.matches_verb(arguments, &split.operands) && row.applies(arguments);
        let mut matching: Vec<&Row> = by_name.into_iter().filter(matches).collect();
        if matching.iter().all(|row| row.is_general_of_a_service()) {
            matching.extend(unnamed.iter().copied().filter(|_| !named.is_empty()).filter(matches));
        }
        combine(&matching, arguments, &split)
    }

    /// The other spelling of an option of a command, whose first words are its program and subcommand.
    pub(crate) fn same<'t>(&'t self, words: &'t [String], option: &'t str) -> impl Iterator<Item = &'t str> {
        let program = words.first().map_or("", String::as_str);
        let rows = self.candidates(program).filter(|row| !row.same.is_empty());
        let rows = rows.filter(|row| {
            row.words().skip(1).zip(words.iter().skip(1)).all(|(wanted, word)| alternatives_match(wanted, word))
        });
        rows.flat_map(|row| &row.same).filter_map(move |pair| {
            let (short, long) = pair.split_once('=')?;
            if short == option { Some(long) } else { Some(short).filter(|_| long == option) }
        })
    }

    fn candidates(&self, program: &str) -> impl Iterator<Item = &Row> {
        let hash = name_hash(program);
        let first = self.by_program.partition_point(|(named, _)| *named < hash);
        let exact =
            self.by_program.iter().skip(first).take_while(move |(named, _)| *named == hash).map(|(_, number)| number);
        let patterns = self.by_pattern.iter();
        let rows = exact.chain(patterns).filter_map(|number| self.rows.get(*number));
        rows.filter(move |row| row.words().next().is_some_and(|word| alternatives_match(word, program)))
    }
}

/// FNV-1a. Names that share a hash are told apart by the row itself.
fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Row {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.command.split_whitespace()
    }

    fn is_for_unnamed(&self) -> bool {
        self.words().next() == Some("*")
    }

    /// Whether it says of a program that speaks to a service no more than that: its verbs are then read as those of a program that
    /// no row names.
    fn is_general_of_a_service(&self) -> bool {
        self.words().count() == 1 && matches!(self.class, Some(Class::Network | Class::Deploy))
    }

    /// How exactly it names a command: by its words, and of as many by those that are not left open.
    fn exactness(&self) -> (usize, usize) {
        (self.words().count(), self.words().filter(|word| *word != "*").count())
    }

    fn matches_verb(&self, arguments: &[Word<'_>], operands: &[usize]) -> bool {
        self.words().skip(1).enumerate().all(|(position, wanted)| {
            let word = operands.get(position).and_then(|number| arguments.get(*number));
            word.is_some_and(|word| wanted == "*" || (word.known && alternatives_match(wanted, word.text)))
        })
    }

    fn applies(&self, arguments: &[Word<'_>]) -> bool {
        let given = |option: &String| arguments.iter().any(|word| gives(word.text, option));
        let abbreviated = |option: &String| arguments.iter().any(|word| abbreviates(word.text, option));
        (self.when.is_empty() || self.when.iter().any(|option| given(option) || abbreviated(option)))
            && !self.unless.iter().any(given)
    }
}

/// What the rows that match say together: the last of the most exact ones decides, what must be looked at adds up.
fn combine(matching: &[&Row], arguments: &[Word<'_>], split: &Split) -> Reading {
    let most = matching.iter().map(|row| row.exactness()).max().unwrap_or((1, 1));
    let mut reading = Reading { known: !matching.is_empty(), ..Reading::default() };
    let mut dry_run: Vec<&str> = Vec::from(DRY_RUN);
    let mut options: BTreeMap<&str, Effect> = BTreeMap::new();
    let mut operands: &[Operands] = &[];
    let mut ordered: Vec<&Row> = matching.to_vec();
    ordered.sort_by_key(|row| (row.exactness(), !row.when.is_empty()));
    for row in ordered {
        reading.class = row.class.or(reading.class);
        reading.way_back = row.way_back.clone().or(reading.way_back);
        if !row.operands.is_empty() {
            operands = &row.operands;
        }
        options.extend(row.options.iter().map(|(option, effect)| (option.as_str(), *effect)));
        dry_run.extend(row.dry_run.iter().map(String::as_str));
        for observe in &row.observe {
            if !reading.observe.contains(observe) {
                reading.observe.push(*observe);
            }
        }
        if row.exactness() == most {
            reading.facts.extend(row.facts.iter().copied());
        }
    }
    reading.facts.sort_unstable();
    reading.facts.dedup();
    let verb = most.0.saturating_sub(1);
    reading.verb = split.operands.iter().take(verb).copied().collect();
    reading.operands = split.operands.iter().skip(verb).copied().collect();
    let options_of_script = dry_run.contains(&"--");
    dry_run.retain(|option| *option != "--");
    reading.dry_run = if options_of_script { arguments } else { options_of(arguments) }
        .iter()
        .any(|word| dry_run.iter().any(|option| gives(word.text, option) && !says_no(word.text)));
    for rule in operands {
        reading.places.extend(
            choose(rule.which, &reading.operands, split.dashes).into_iter().map(|number| (number, rule.effect)),
        );
    }
    for (number, word) in arguments.iter().enumerate() {
        let by_letter = || options.iter().find(|(option, _)| gives(word.text, option) || begins(word.text, option));
        let Some((option, effect)) = options.get_key_value(word.text).or_else(by_letter) else { continue };
        let own_value = word.text != *option && (word.text.contains('=') || begins(word.text, option));
        let at = if own_value { number } else { number.saturating_add(1) };
        if at < arguments.len() {
            reading.places.push((at, *effect));
            if own_value {
                reading.own_values.push(at);
            }
        }
    }
    reading
}

/// The arguments before `--`.
fn options_of<'a, 'w>(arguments: &'a [Word<'w>]) -> &'a [Word<'w>] {
    let end = arguments.iter().position(|word| word.text == "--").unwrap_or(arguments.len());
    arguments.get(..end).unwrap_or(arguments)
}

fn choose(which: Which, operands: &[usize], dashes: Option<usize>) -> Vec<usize> {
    match which {
        Which::All => operands.to_vec(),
        Which::First => operands.first().copied().into_iter().collect(),
        Which::Rest => operands.iter().skip(1).copied().collect(),
        Which::Last => operands.last().copied().into_iter().collect(),
        Which::AllButLast => operands.split_last().map(|(_, rest)| rest.to_vec()).unwrap_or_default(),
        Which::LastOfSeveral => operands.iter().skip(1).next_back().copied().into_iter().collect(),
        Which::AfterDashes => {
            operands.iter().copied().filter(|number| dashes.is_some_and(|dashes| *number > dashes)).collect()
        }
    }
}

/// Whether a word gives an option: by itself, with `=value`, or, for a single letter, in a bundle. A wanted operand must be the word.
fn gives(word: &str, wanted: &str) -> bool {
    if word == wanted {
        return true;
    }
    if wanted.len() > 2 && wanted.starts_with('-') && word.split_once('=').is_some_and(|(given, _)| given == wanted) {
        return true;
    }
    if wanted.starts_with("--") {
        return wanted.contains('*') && Glob::new(wanted).is_ok_and(|glob| glob.matches(word));
    }
    let letter = wanted.strip_prefix('-').and_then(single);
    match (letter, word.strip_prefix('-')) {
        (Some(letter), Some(bundle)) => {
            !bundle.starts_with('-')
                && bundle.len() <= 6
                && bundle.chars().all(char::is_alphanumeric)
                && bundle.contains(letter)
        }
        _ => wanted.contains('*') && Glob::new(wanted).is_ok_and(|glob| glob.matches(word)),
    }
}

/// `--har` for `--hard`, as many programs take it.
fn abbreviates(word: &str, wanted: &str) -> bool {
    word.len() > 3 && word.starts_with("--") && !wanted.contains('=') && wanted.starts_with(word)
}

/// `-ofile`: a single letter with its value.
fn begins(word: &str, option: &str) -> bool {
    option.len() == 2
        && option.starts_with('-')
        && word.len() > 2
        && word.starts_with(option)
        && !word.starts_with("--")
}

fn single(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// `--dry-run=none` is no dry run.
fn says_no(word: &str) -> bool {
    word.split_once('=').is_some_and(|(_, value)| matches!(value, "none" | "false" | "no" | "0"))
}

fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?', '['])
}

/// Whether a word is one of `a|b*|!c`: one of the alternatives, and none of those that are excepted by `!`.
fn alternatives_match(wanted: &str, word: &str) -> bool {
    let is = |one: &str| one == word || (is_pattern(one) && Glob::new(one).is_ok_and(|glob| glob.matches(word)));
    wanted.split('|').any(|one| !one.starts_with('!') && is(one))
        && !wanted.split('|').filter_map(|one| one.strip_prefix('!')).any(is)
}

/// Arguments divided into options and operands.
struct Split {
    operands: Vec<usize>,
    /// Where `--` stands.
    dashes: Option<usize>,
}

impl Split {
    fn of(arguments: &[Word<'_>], rows: &[&Row]) -> Self {
        let takes_value = |word: &str| {
            rows.iter().any(|row| row.values.iter().chain(row.options.keys()).any(|option| option == word))
        };
        let mut split = Self { operands: Vec::new(), dashes: None };
        let mut skip = false;
        for (number, word) in arguments.iter().enumerate() {
            if core::mem::take(&mut skip) {
                continue;
            }
            let is_option = word.known && word.text.starts_with('-') && word.text.len() > 1 && split.dashes.is_none();
            if !is_option {
                split.operands.push(number);
            } else if word.text == "--" {
                split.dashes = Some(number);
            } else {
                skip = takes_value(word.text);
            }
        }
        split
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Reading {
        let words: Vec<&str> = text.split_whitespace().collect();
        let arguments: Vec<Word<'_>> = words[1..].iter().map(|text| Word { text, known: true }).collect();
        Commands::known().read(words[0], &arguments)
    }

    #[test]
    fn the_row_with_the_most_words_counts() {
        assert_eq!(read("stigmergate approve 3").facts, [FactKind::OwnCommand]);
        assert!(read("stigmergate status").facts.is_empty());
        assert!(read("stigmergate policy check x").facts.is_empty());
        for reading in ["watch", "report --since 2h", "man", "schema log", "store check"] {
            assert!(read(&alloc::format!("stigmergate {reading}")).facts.is_empty(), "{reading}");
        }
        let written = |text: &str| read(text).places.first().map(|(_, effect)| *effect);
        assert_eq!(written("stigmergate report --output page.html"), Some(Effect::Overwrite));
        assert_eq!(written("stigmergate report -o page.html"), Some(Effect::Overwrite));
        assert_eq!(written("stigmergate report --since 2h"), None);
        assert!(read("stigmergate store export out.jsonl").facts.is_empty());
        assert_eq!(read("stigmergate store export out.jsonl").class, Some(Class::Write));
        for changing in ["store repair", "store compact --keep 1", "store import x", "store --yes repair", "store"] {
            assert_eq!(read(&alloc::format!("stigmergate {changing}")).facts, [FactKind::OwnCommand], "{changing}");
        }
        assert_eq!(read("stigmergate policy trust").facts, [FactKind::OwnCommand]);
    }

    #[test]
    fn options_before_the_subcommand_and_their_values_are_no_operands() {
        let reading = read("git -C /elsewhere --no-pager push origin main");
        assert!(reading.observe.contains(&Observe::Push));
        assert_eq!(reading.operands, [4, 5]);
    }

    #[test]
    fn a_dry_run_is_one_by_the_table_or_by_the_common_option() {
        assert!(read("git push -n").dry_run && read("aws ec2 run-instances --dry-run").dry_run);
        assert!(
            !read("kubectl delete pod x --dry-run=none").dry_run
                && read("kubectl delete pod x --dry-run=client").dry_run
        );
        assert!(!read("git push").dry_run);
    }

    #[test]
    fn places_are_named_by_operands_and_by_options() {
        let copy = read("cp -r a b c");
        assert_eq!(copy.places, [(1, Effect::Read), (2, Effect::Read), (3, Effect::Overwrite)]);
        let sort = read("sort -o out.txt in.txt");
        assert!(sort.places.contains(&(1, Effect::Overwrite)) && sort.places.contains(&(2, Effect::Read)));
    }
}
