//! What `find` finds: its expression is read, and asked of the names alone or of what is on disk.
//!
//! A test that cannot be told (of an owner, of another file's age that is not there) may be true, so that the answer has too
//! many places rather than too few. Where the names say enough, patterns are the answer; where other tests narrow it down,
//! the folder is looked at. A search that leaves nothing out is the folder as a whole.

use std::collections::BTreeSet;

use super::sources::find_roots;
use super::walk::Reader;
use super::word::matches_glob;
use super::{Command, Word};

/// More matches than this are not told one by one.
const MAX_FOUND: usize = 200;
/// Alternatives of names that are told.
const MAX_NAMES: usize = 16;
/// Brackets inside each other deeper than this are not read.
const MAX_DEPTH: usize = 16;

/// Something below a folder that is searched.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The path below the folder; empty for the folder itself.
    pub path: String,
    /// `f`, `d`, `l`, or another letter of `-type`.
    pub kind: char,
    /// Bytes.
    pub size: u64,
    /// A folder or file with nothing in it.
    pub empty: bool,
}

/// An expression of `find`.
#[derive(Clone, Debug)]
enum Expression {
    Name(String, bool),
    Path(String),
    Kind(String),
    Empty,
    Size(Compared, u64),
    /// A test that is not followed: also one of an age, which changes by itself.
    Open,
    Always,
    Prune,
    /// The number of an action among the arguments.
    Action(usize),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
}

/// `+5`, `-5`, `5`
#[derive(Clone, Copy, Debug)]
enum Compared {
    More(u64),
    Less(u64),
    Same(u64),
}

impl Compared {
    fn read(text: &str) -> Option<Self> {
        match (text.strip_prefix('+'), text.strip_prefix('-')) {
            (Some(number), _) => number.parse().ok().map(Self::More),
            (_, Some(number)) => number.parse().ok().map(Self::Less),
            _ => text.parse().ok().map(Self::Same),
        }
    }

    const fn holds(self, value: u64) -> bool {
        match self {
            Self::More(number) => value > number,
            Self::Less(number) => value < number,
            Self::Same(number) => value == number,
        }
    }
}

/// What comes of an expression for one entry.
#[derive(Default)]
struct Reached {
    actions: Vec<usize>,
    pruned: bool,
}

/// A search, read.
struct Search {
    expression: Expression,
    /// It has an action of its own, so that nothing is printed unasked.
    acts: bool,
    most_depth: usize,
    least_depth: usize,
}

impl Reader<'_> {
    /// What arrives at the action that stands at this argument, or is printed.
    pub(super) fn found(&self, command: &Command, action: Option<usize>, spelled: &str) -> Vec<Word> {
        let arguments = command.arguments();
        let roots = find_roots(arguments);
        let whole = || vec![Word { under: roots.clone(), ..Word::unknown(spelled) }];
        let Some(search) = self.search(command) else { return whole() };
        let names = match action {
            Some(action) => search.expression.names_at(action),
            None if search.acts => search.expression.printed().and_then(|at| search.expression.names_at(at)),
            None => search.expression.names(),
        };
        if let Some(names) = names.filter(|names| names.len() <= MAX_NAMES && !roots.is_empty()) {
            let patterns = |root: &String| {
                let folder = root.trim_end_matches('/').to_owned();
                let home = root.starts_with('~');
                let word = move |name: &String| Word {
                    glob: true,
                    home,
                    raw: spelled.to_owned(),
                    ..Word::literal(format!("{folder}/**/{name}"))
                };
                names.iter().map(word).collect::<Vec<_>>()
            };
            return roots.iter().flat_map(patterns).collect();
        }
        self.looked_up(command, &search, action, &roots, spelled).unwrap_or_else(whole)
    }

    /// The entries on disk that the search finds. `None` where they cannot be told, are too many, or are all that there is.
    fn looked_up(
        &self,
        command: &Command,
        search: &Search,
        action: Option<usize>,
        roots: &[String],
        spelled: &str,
    ) -> Option<Vec<Word>> {
        // What earlier commands of the text make or age is not on disk.
        let still =
            |command: &Command| matches!(command.program().as_str(), "cd" | "echo" | "find" | "ls" | "mkdir" | "pwd");
        if !self.commands.iter().all(still) {
            return None;
        }
        let action = action.or_else(|| search.acts.then(|| search.expression.printed()).flatten());
        // No root: one of them is not known.
        if roots.is_empty() || (search.acts && action.is_none()) {
            return None;
        }
        let mut found = Vec::new();
        for root in roots {
            let folder = Word { home: root.starts_with('~'), ..Word::literal(root.clone()) };
            let entries = self.files?.entries(&command.directory, &folder)?;
            let before = found.len();
            let mut pruned: Vec<String> = Vec::new();
            for entry in &entries {
                let depth = if entry.path.is_empty() { 0 } else { entry.path.split('/').count() };
                if depth > search.most_depth || pruned.iter().any(|folder| entry.path.starts_with(folder)) {
                    continue;
                }
                let mut reached = Reached::default();
                let printed = search.expression.holds(root, entry, true, &mut reached) != Some(false);
                if reached.pruned {
                    pruned.push(format!("{}/", entry.path));
                }
                let hit = action.map_or(printed, |action| reached.actions.contains(&action));
                if hit && depth >= search.least_depth {
                    let text = if entry.path.is_empty() {
                        root.clone()
                    } else {
                        format!("{}/{}", root.trim_end_matches('/'), entry.path)
                    };
                    found.push(Word {
                        raw: spelled.to_owned(),
                        home: folder.home,
                        quoted: true,
                        ..Word::literal(text)
                    });
                }
            }
            let hits = found.get(before..).unwrap_or_default();
            if found.len() > MAX_FOUND || takes_all(root, &entries, hits) {
                return None;
            }
        }
        Some(found)
    }

    fn search(&self, command: &Command) -> Option<Search> {
        let arguments = command.arguments();
        let options =
            arguments.iter().take_while(|w| matches!(w.text.as_str(), "-H" | "-L" | "-P" | "-E" | "-X")).count();
        let start = arguments.iter().skip(options).take_while(|w| !w.text.starts_with(['-', '(', '!', ')'])).count();
        // Through links it leaves the folder.
        if arguments.iter().take(options).any(|w| w.text == "-L") || arguments.iter().any(|w| w.text == "-follow") {
            return None;
        }
        let mut parser = Parser {
            arguments,
            at: options.saturating_add(start),
            depth: 0,
            acts: false,
            most_depth: usize::MAX,
            least_depth: 0,
        };
        let expression = if parser.at < arguments.len() { parser.alternatives()? } else { Expression::Always };
        (parser.at == arguments.len()).then_some(Search {
            expression,
            acts: parser.acts,
            most_depth: parser.most_depth,
            least_depth: parser.least_depth,
        })
    }
}

struct Parser<'p> {
    arguments: &'p [Word],
    at: usize,
    depth: usize,
    acts: bool,
    most_depth: usize,
    least_depth: usize,
}

impl<'p> Parser<'p> {
    fn peek(&self) -> Option<&'p str> {
        self.arguments.get(self.at).map(|word| word.text.as_str())
    }

    fn next(&mut self) -> Option<&'p Word> {
        let word = self.arguments.get(self.at)?;
        self.at = self.at.saturating_add(1);
        Some(word)
    }

    /// The value of a test; none that a shell would only know while running.
    fn value(&mut self) -> Option<&'p str> {
        self.next().filter(|word| word.known).map(|word| word.text.as_str())
    }

    fn alternatives(&mut self) -> Option<Expression> {
        let mut left = self.sequence()?;
        while matches!(self.peek(), Some("-o" | "-or")) {
            self.at = self.at.saturating_add(1);
            left = Expression::Or(Box::new(left), Box::new(self.sequence()?));
        }
        Some(left)
    }

    fn sequence(&mut self) -> Option<Expression> {
        let mut left = self.single()?;
        while !matches!(self.peek(), None | Some("-o" | "-or" | ")" | ",")) {
            if matches!(self.peek(), Some("-a" | "-and")) {
                self.at = self.at.saturating_add(1);
            }
            left = Expression::And(Box::new(left), Box::new(self.single()?));
        }
        Some(left)
    }

    fn single(&mut self) -> Option<Expression> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > MAX_DEPTH {
            return None;
        }
        let at = self.at;
        let read = match self.next()?.text.as_str() {
            "!" | "-not" => Expression::Not(Box::new(self.single()?)),
            "(" => {
                let inner = self.alternatives()?;
                if self.next()?.text != ")" {
                    return None;
                }
                inner
            }
            text => self.primary(text, at)?,
        };
        self.depth = self.depth.saturating_sub(1);
        Some(read)
    }

    fn primary(&mut self, text: &str, at: usize) -> Option<Expression> {
        Some(match text {
            "-name" => Expression::Name(self.value()?.to_owned(), false),
            "-iname" => Expression::Name(self.value()?.to_owned(), true),
            "-path" | "-wholename" => Expression::Path(self.value()?.to_owned()),
            "-type" => Expression::Kind(self.value()?.to_owned()),
            "-empty" => Expression::Empty,
            "-size" => {
                let value = self.value()?;
                let (number, unit) = match value.char_indices().last()? {
                    (end, unit) if unit.is_ascii_alphabetic() => (value.get(..end)?, unit),
                    _ => (value, 'b'),
                };
                let unit = match unit {
                    'c' => 1,
                    'w' => 2,
                    'b' => 512,
                    'k' => 1024,
                    'M' => 1024 * 1024,
                    'G' => 1024 * 1024 * 1024,
                    _ => return None,
                };
                Expression::Size(Compared::read(number)?, unit)
            }
            "-maxdepth" => {
                self.most_depth = self.value()?.parse().ok()?;
                Expression::Always
            }
            "-mindepth" => {
                self.least_depth = self.value()?.parse().ok()?;
                Expression::Always
            }
            "-prune" => Expression::Prune,
            "-true" | "-depth" | "-xdev" | "-mount" | "-noleaf" | "-daystart" => Expression::Always,
            "-readable" | "-writable" | "-executable" | "-nouser" | "-nogroup" => Expression::Open,
            "-mtime" | "-mmin" | "-newer" | "-user" | "-group" | "-perm" | "-atime" | "-ctime" | "-amin" | "-cmin"
            | "-regex" | "-iregex" | "-regextype" | "-ipath" | "-links" | "-anewer" | "-cnewer" | "-newermt"
            | "-lname" | "-uid" | "-gid" | "-inum" | "-samefile" | "-xtype" => {
                self.next()?;
                Expression::Open
            }
            "-delete" | "-print" | "-print0" | "-ls" | "-quit" => {
                self.acts = true;
                Expression::Action(at)
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                self.acts = true;
                while self.next().is_some_and(|word| !matches!(word.text.as_str(), ";" | "+")) {}
                Expression::Action(at)
            }
            _ => return None,
        })
    }
}

impl Expression {
    /// Whether it holds for an entry; `None`: it may. `sure`: it is asked for certain.
    fn holds(&self, root: &str, entry: &Entry, sure: bool, reached: &mut Reached) -> Option<bool> {
        let path = || {
            if entry.path.is_empty() {
                root.to_owned()
            } else {
                format!("{}/{}", root.trim_end_matches('/'), entry.path)
            }
        };
        match self {
            Self::Name(pattern, folded) => {
                let path = path();
                let name = path.rsplit('/').next().unwrap_or_default();
                match (pattern.contains(['[', '\\']) || pattern.len() > 60, folded) {
                    (true, _) => None,
                    (_, true) => Some(matches_glob(&pattern.to_lowercase(), &name.to_lowercase())),
                    (_, false) => Some(matches_glob(pattern, name)),
                }
            }
            Self::Path(pattern) if pattern.contains(['[', '\\']) || pattern.len() > 60 => None,
            Self::Path(pattern) => Some(matches_glob(pattern, &path())),
            Self::Kind(kinds) => Some(kinds.split(',').any(|kind| kind.starts_with(entry.kind))),
            Self::Empty => Some(entry.empty),
            Self::Size(compared, unit) => Some(compared.holds(entry.size.div_ceil(*unit))),
            Self::Open => None,
            Self::Always => Some(true),
            Self::Prune => {
                reached.pruned |= sure;
                Some(true)
            }
            Self::Action(number) => {
                reached.actions.push(*number);
                Some(true)
            }
            Self::Not(inner) => inner.holds(root, entry, sure, reached).map(|holds| !holds),
            Self::And(left, right) => match left.holds(root, entry, sure, reached) {
                Some(false) => Some(false),
                first => {
                    let second = right.holds(root, entry, sure && first.is_some(), reached);
                    if second == Some(false) { second } else { first.and(second) }
                }
            },
            Self::Or(left, right) => match left.holds(root, entry, sure, reached) {
                Some(true) => Some(true),
                first => {
                    let second = right.holds(root, entry, sure && first.is_some(), reached);
                    if second == Some(true) { second } else { first.and(second) }
                }
            },
        }
    }

    /// The names that it lets through; `None` where it says nothing of them.
    fn names(&self) -> Option<Vec<String>> {
        match self {
            Self::Name(name, folded) => {
                let says = !name.contains('/') && !name.trim_matches(['*', '?']).is_empty();
                says.then(|| vec![if *folded { either_case(name) } else { name.clone() }])
            }
            Self::And(left, right) => left.names().or_else(|| right.names()),
            Self::Or(left, right) => Some([left.names()?, right.names()?].concat()),
            _ => None,
        }
    }

    /// The names of what arrives at an action.
    fn names_at(&self, action: usize) -> Option<Vec<String>> {
        match self {
            Self::And(left, right) if right.has(action) => left.names().or_else(|| right.names_at(action)),
            Self::And(inner, _) | Self::Not(inner) => inner.names_at(action),
            Self::Or(left, right) => if right.has(action) { right } else { left }.names_at(action),
            _ => None,
        }
    }

    fn has(&self, action: usize) -> bool {
        match self {
            Self::Action(number) => *number == action,
            Self::Not(inner) => inner.has(action),
            Self::And(left, right) | Self::Or(left, right) => left.has(action) || right.has(action),
            _ => false,
        }
    }

    /// The action that prints, where there is one only.
    fn printed(&self) -> Option<usize> {
        match self {
            Self::Action(number) => Some(*number),
            Self::Not(inner) => inner.printed(),
            Self::And(left, right) | Self::Or(left, right) => match (left.printed(), right.printed()) {
                (Some(_), Some(_)) => None,
                (left, right) => left.or(right),
            },
            _ => None,
        }
    }
}

/// Whether nothing but the repository's own folder is left of a folder.
fn takes_all(root: &str, entries: &[Entry], found: &[Word]) -> bool {
    let found: BTreeSet<&str> = found.iter().map(|word| word.text.as_str()).collect();
    let folder = root.trim_end_matches('/');
    let taken = |entry: &&Entry| {
        let path = format!("{folder}/{}", entry.path);
        found.contains(root)
            || path.match_indices('/').any(|(at, _)| path.get(..at).is_some_and(|up| found.contains(up)))
            || found.contains(path.as_str())
    };
    let counts = |entry: &&Entry| entry.kind != 'd' && entry.path.split('/').next() != Some(".git");
    let mut files = entries.iter().filter(counts).peekable();
    files.peek().is_some() && files.all(|entry| taken(&entry))
}

/// A pattern for a name in capitals or not.
fn either_case(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphabetic() {
                format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase())
            } else {
                c.to_string()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{Scene, write};
    use stigmergate_core::facts::FactKind as F;

    #[test]
    fn a_search_is_what_its_expression_lets_through() {
        let scene = Scene::new();
        write(&scene.root, "", "notes/empty.txt");
        let lost: &[F] = &[F::Irreversible];
        scene.table(&[
            (r"find . \( -name '*.pyc' -o -name '*.pyo' \) -delete", &[]),
            (r"find . \( -name '*.md' -o -name '*.pyo' \) -delete", lost),
            ("find . -name '*.md' -o -name '*.pyo' -delete", &[]),
            ("find notes -size +1M -delete", &[]),
            ("find notes -empty -delete", lost),
            ("find . -type d -empty -delete", &[]),
            ("find notes -name draft.md -prune -o -name '*.pyc' -delete", &[]),
            ("find notes ! -name '*.txt' -name '*.md' -delete", lost),
        ]);
    }

    #[test]
    fn a_search_that_leaves_nothing_out_is_the_whole_folder() {
        let scene = Scene::new();
        for command in ["find . -type f -delete", "find . -mindepth 1 -delete", "find . -size -100G -delete"] {
            assert!(scene.shell(command).contains(&F::CatastrophicTarget), "{command}");
        }
        assert!(scene.shell("find \"$DIR\" -empty -delete").contains(&F::UnresolvedTarget));
    }
}
