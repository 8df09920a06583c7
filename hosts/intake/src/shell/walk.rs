//! Follows a syntax tree in the order of execution.
//!
//! [`Scope`] holds what a shell would know at a point of the text: variables, functions, aliases,
//! the folder, and what carries the commands there. Subshells and pipes get a copy; branches are
//! walked one by one from the same start and then merged: what differs between them is not known.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use brush_parser::ast;

use super::scripts::Authored;
use super::{
    Command, Dialect, Directory, Files, Joined, MAX_COMMANDS, Origin, Redirect, RedirectKind, Script, Stdin,
    Unreadable, Via, Word, scan,
};

/// A loop over a literal list is followed for each of at most this many values.
const MAX_VALUES: usize = 50;
/// Commands followed, whether or not they enter the list.
const MAX_STEPS: usize = 20_000;
/// Characters that searches for closing brackets may pass in total.
const MAX_WORK: usize = 8 * 1024 * 1024;
/// Commands, carriers and texts inside each other deeper than this are not followed. One level
/// of a text takes about three.
const MAX_LEVELS: usize = 60;
/// Texts inside texts deeper than this are not followed.
const MAX_TEXTS: usize = 16;
/// Functions calling each other deeper than this are not followed.
const MAX_CALLS: usize = 12;
/// Opening brackets above which the grammar runs apart, with a deadline.
const MANY_OPENERS: usize = 48;
/// That deadline.
/// A build for tests has as long as it needs: what it answers must not depend on the machine's load.
const DEADLINE: Duration = if cfg!(debug_assertions) { Duration::from_secs(60) } else { Duration::from_millis(250) };

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Var {
    pub(super) words: Vec<Word>,
    pub(super) array: bool,
}

impl Var {
    pub(super) fn scalar(word: Word) -> Self {
        Self { words: vec![word], array: false }
    }

    pub(super) fn array(mut words: Vec<Word>) -> Self {
        words.truncate(256);
        Self { words, array: true }
    }
}

/// A function of the text.
#[derive(Debug)]
pub(super) struct Function {
    body: ast::FunctionBody,
    /// Defined in a branch, so the name may still mean a program.
    conditional: bool,
}

/// What is known at a point of the text.
#[derive(Clone, Default)]
pub(super) struct Scope {
    vars: Arc<BTreeMap<String, Var>>,
    environment: Option<Arc<[(String, Word)]>>,
    functions: Arc<BTreeMap<String, Arc<Function>>>,
    pub(super) aliases: Arc<BTreeMap<String, String>>,
    pub(super) directory: Directory,
    pub(super) directory_assumed: bool,
    pub(super) via: Vec<Via>,
    pub(super) stdin: Stdin,
    pub(super) background: bool,
    pub(super) joined: Joined,
    pub(super) positional: Option<Arc<Vec<Word>>>,
    calls: Vec<String>,
    /// Inside a pipe or the background of the innermost function.
    spawning: bool,
    conditional: bool,
    stops_on_error: bool,
    /// What is absent here, or nothing would have come this far: `[ -f x ] || ...`.
    absent: Vec<(Directory, Word)>,
    /// The text came from a value that is only partly known: a `$` may stand for anything, even
    /// where the quotes of this text would make it an ordinary character.
    pub(super) uncertain: bool,
}

impl Scope {
    /// A copy for a subshell of this kind.
    pub(super) fn subshell(&self, via: Via) -> Self {
        let mut copy = self.clone();
        if via == Via::Substitution {
            copy.stdin = Stdin::None;
            copy.joined = Joined::Sequence;
        }
        copy.via.push(via);
        copy
    }

    /// A copy for a new shell, which inherits the environment but no functions or positions.
    pub(super) fn shell(&self, via: Via) -> Self {
        let mut copy = self.subshell(via);
        copy.functions = Arc::default();
        copy.aliases = Arc::default();
        copy.positional = None;
        copy
    }

    /// A copy for another machine: nothing of this one is known there.
    pub(super) fn elsewhere(&self, via: Via) -> Self {
        let mut copy =
            Self { via: self.via.clone(), stdin: self.stdin.clone(), background: self.background, ..Self::default() };
        copy.joined = self.joined;
        copy.uncertain = self.uncertain;
        copy.calls.clone_from(&self.calls);
        copy.via.push(via);
        copy
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Var> {
        self.vars.get(name)
    }

    pub(super) fn set(&mut self, name: &str, var: Var) {
        if self.vars.get(name) != Some(&var) {
            Arc::make_mut(&mut self.vars).insert(name.to_owned(), var);
            self.environment = None;
        }
    }

    pub(super) fn unset(&mut self, name: &str) {
        if self.vars.contains_key(name) {
            Arc::make_mut(&mut self.vars).remove(name);
            self.environment = None;
        }
        if self.functions.contains_key(name) {
            Arc::make_mut(&mut self.functions).remove(name);
        }
    }

    pub(super) fn set_unknown(&mut self, name: &str) {
        self.set(name, Var::scalar(Word::unknown(format!("${name}"))));
    }

    fn environment(&mut self) -> Arc<[(String, Word)]> {
        let vars = &self.vars;
        Arc::clone(self.environment.get_or_insert_with(|| {
            let scalars = vars
                .iter()
                .filter(|(name, var)| !var.array && !name.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_'));
            scalars.take(64).filter_map(|(name, var)| Some((name.clone(), var.words.first()?.clone()))).collect()
        }))
    }

    /// Positional parameters of a function or of `sh -c text name a b`.
    pub(super) fn positions(&mut self, arguments: &[Word]) {
        let old: Vec<String> = self
            .vars
            .keys()
            .filter(|k| k.starts_with(|c: char| c.is_ascii_digit()) || *k == "@" || *k == "*")
            .cloned()
            .collect();
        for name in old {
            self.unset(&name);
        }
        for (i, word) in arguments.iter().take(9).enumerate() {
            self.set(&i.saturating_add(1).to_string(), Var::scalar(word.clone()));
        }
        self.set("@", Var::array(arguments.to_vec()));
        self.set("*", Var::array(arguments.to_vec()));
        self.positional = Some(Arc::new(arguments.to_vec()));
    }

    /// Begins in a folder: a text that is no shell's word.
    pub(super) fn start_in(&mut self, directory: &str) {
        self.change_directory(&Word::literal(directory));
        self.directory_assumed = false;
    }

    /// Follows `cd` to `target`.
    pub(super) fn change_directory(&mut self, target: &Word) {
        self.directory = if target.is_plain() {
            let text = if target.text.starts_with('~') && !target.home {
                format!("./{}", target.text)
            } else {
                target.text.clone()
            };
            match &self.directory {
                _ if text == "-" => Directory::Unknown,
                Directory::Unknown if !is_absolute(&text) => Directory::Unknown,
                Directory::Beneath(_) if !is_absolute(&text) && text.contains("..") => Directory::Unknown,
                Directory::Beneath(folder) if !is_absolute(&text) => Directory::Beneath(folder.clone()),
                Directory::Known(base) if !is_absolute(&text) => {
                    Directory::Known(format!("{}/{text}", base.trim_end_matches('/')))
                }
                _ => Directory::Known(text),
            }
        } else {
            match target.under.as_slice() {
                [folder] if is_absolute(folder) => Directory::Beneath(folder.clone()),
                _ => Directory::Unknown,
            }
        };
        if matches!(&self.directory, Directory::Known(path) if path.len() > 4096) {
            self.directory = Directory::Unknown;
        }
        self.directory_assumed = !self.stops_on_error;
        let moved: Vec<String> = self
            .vars
            .iter()
            .filter(|(_, var)| var.words.iter().any(|w| w.of_directory))
            .map(|(name, _)| name.clone())
            .collect();
        for name in moved {
            self.set_unknown(&name);
        }
    }

    /// What is absent, as it is named from the folder that the text is in.
    fn absent_here(&self) -> Vec<Word> {
        let here = |(directory, _): &&(Directory, Word)| *directory == self.directory;
        self.absent.iter().filter(here).map(|(_, path)| path.clone()).collect()
    }

    /// Takes over what `ends` agree on; these are the states after branches that may have run.
    fn merge(&mut self, ends: &[Scope]) {
        let Some((first, others)) = ends.split_first() else { return };
        if others.iter().all(|end| Arc::ptr_eq(&end.vars, &first.vars)) {
            self.vars = Arc::clone(&first.vars);
        } else {
            let mut names: Vec<&String> = ends.iter().flat_map(|end| end.vars.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                let value = first.vars.get(name);
                match value {
                    Some(value) if others.iter().all(|end| end.vars.get(name) == Some(value)) => {
                        self.set(name, value.clone())
                    }
                    _ => self.set_unknown(name),
                }
            }
        }
        self.environment = None;
        for end in ends {
            for (name, function) in end.functions.iter() {
                if !self.functions.contains_key(name) {
                    Arc::make_mut(&mut self.functions).insert(name.clone(), Arc::clone(function));
                }
            }
            for (name, text) in end.aliases.iter() {
                Arc::make_mut(&mut self.aliases).entry(name.clone()).or_insert_with(|| text.clone());
            }
        }
        self.directory = if others.iter().all(|end| end.directory == first.directory) {
            first.directory.clone()
        } else {
            Directory::Unknown
        };
        self.directory_assumed = ends.iter().any(|end| end.directory_assumed);
    }

    /// Makes unknown what differs from `before`; whether anything did.
    fn blur(&mut self, before: &Scope) -> bool {
        let mut changed = false;
        if !Arc::ptr_eq(&self.vars, &before.vars) {
            // What is not known anyway can stay as it is.
            let differs = |name: &String, var: &Var| {
                before.vars.get(name) != Some(var) && var.words.iter().any(|word| word.known)
            };
            let names: Vec<String> =
                self.vars.iter().filter(|(name, var)| differs(name, var)).map(|(name, _)| name.clone()).collect();
            for name in names {
                self.set_unknown(&name);
                changed = true;
            }
        }
        if self.directory != before.directory {
            self.directory = Directory::Unknown;
            changed = true;
        }
        changed
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.get(1..2) == Some(":")
}

/// A simple command before its words are expanded.
#[derive(Default)]
pub(super) struct Simple {
    pub(super) assignments: Vec<Assigned>,
    pub(super) words: Vec<Spelled>,
    pub(super) redirects: Vec<Spot>,
}

/// An assignment as spelled.
pub(super) struct Assigned {
    pub(super) name: String,
    pub(super) values: Vec<String>,
    pub(super) array: bool,
    pub(super) element: bool,
    pub(super) append: bool,
}

/// A word as spelled.
pub(super) enum Spelled {
    Raw(String),
    Array(Assigned),
    Done(Word),
}

/// A redirect as spelled.
pub(super) enum Spot {
    File(RedirectKind, String),
    Done(RedirectKind, Word),
    Text { text: String, expand: bool, quoted_as_word: bool },
}

/// Collects what a text would run.
#[derive(Default)]
pub(super) struct Reader<'f> {
    pub(super) commands: Vec<Command>,
    pub(super) unreadable: Option<Unreadable>,
    pub(super) fork_bomb: bool,
    pub(super) written: Vec<(String, super::CodeSource)>,
    pub(super) files: Option<&'f dyn Files>,
    /// Files that commands of this text write, with what they hold where that is known.
    pub(super) authored: Vec<Authored>,
    /// Programs that commands of this text copy or link, under their other names.
    pub(super) renamed: Vec<(String, String)>,
    /// The files that are being followed, one inside the other.
    pub(super) running: Vec<String>,
    /// Where the text that is being followed comes from.
    pub(super) origin: Origin,
    steps: usize,
    work: usize,
    depth: usize,
    texts: usize,
}

impl<'f> Reader<'f> {
    pub(super) fn new(files: Option<&'f dyn Files>) -> Self {
        Self { files, ..Self::default() }
    }

    pub(super) fn finish(self) -> Script {
        Script { commands: self.commands, unreadable: self.unreadable, fork_bomb: self.fork_bomb }
    }

    /// Reads a text of this dialect.
    pub(super) fn text(&mut self, text: &str, dialect: Dialect, scope: &mut Scope) -> Range<usize> {
        match dialect {
            Dialect::Posix => self.script(text, scope),
            Dialect::PowerShell => self.power_shell(text, scope),
            Dialect::Cmd => self.cmd(text, scope),
        }
    }

    pub(super) fn mark(&mut self, why: Unreadable) {
        self.unreadable.get_or_insert(why);
    }

    /// Counts a level of nesting; false when there are too many, or the work is used up. Each
    /// call is paired with one of [`Self::leave`].
    pub(super) fn enter(&mut self, work: usize) -> bool {
        self.depth = self.depth.saturating_add(1);
        self.work = self.work.saturating_add(work);
        let fits = self.depth <= MAX_LEVELS && self.work <= MAX_WORK;
        if !fits {
            self.mark(Unreadable::TooDeep);
        }
        fits
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Counts a step; false when the text runs too many commands.
    pub(super) fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_add(1);
        if self.steps > MAX_STEPS || self.commands.len() >= MAX_COMMANDS {
            self.mark(Unreadable::TooMany);
            return false;
        }
        true
    }

    /// Adds a command to the list and gives its position.
    pub(super) fn push(&mut self, mut command: Command) -> Option<usize> {
        if self.commands.len() >= MAX_COMMANDS {
            self.mark(Unreadable::TooMany);
            return None;
        }
        command.origin = command.origin.max(self.origin);
        self.note_authored(&command);
        self.note_renamed(&command);
        let at = self.commands.len();
        self.commands.push(command);
        Some(at)
    }

    pub(super) fn here(&self) -> usize {
        self.commands.len()
    }

    /// Forgets what was read since `start`, and what it cost: it was no text that can be read.
    pub(super) fn take_back(&mut self, start: usize, (steps, work): (usize, usize)) {
        self.commands.truncate(start);
        self.steps = steps;
        self.work = work;
    }

    /// What was spent so far; see [`Self::take_back`].
    pub(super) const fn spent(&self) -> (usize, usize) {
        (self.steps, self.work)
    }

    pub(super) fn since(&self, start: usize) -> Range<usize> {
        start..self.commands.len()
    }

    /// Reads a bash text in this scope; where its commands stand in the list.
    pub(super) fn script(&mut self, text: &str, scope: &mut Scope) -> Range<usize> {
        let start = self.here();
        if !self.enter_text(text) {
            self.flat(text, scope);
        } else if self.step() {
            match self.parse(text) {
                Ok(program) => {
                    for list in &program.complete_commands {
                        self.list(list, scope);
                    }
                }
                Err(why) => {
                    self.mark(why);
                    self.fallback(&text.replace('\0', ""), scope);
                }
            }
        }
        self.leave_text();
        self.since(start)
    }

    /// Counts a text inside a text; false when it is not to be followed. Each call is paired with
    /// one of [`Self::leave_text`].
    pub(super) fn enter_text(&mut self, text: &str) -> bool {
        self.texts = self.texts.saturating_add(1);
        let fits = self.enter(text.len()) && self.texts <= MAX_TEXTS;
        if !fits {
            self.mark(Unreadable::TooDeep);
        }
        fits
    }

    pub(super) fn leave_text(&mut self) {
        self.leave();
        self.texts = self.texts.saturating_sub(1);
    }

    fn parse(&mut self, text: &str) -> Result<ast::Program, Unreadable> {
        // A shell drops NUL bytes, so they cannot hide a word here either.
        let cleaned = text.contains('\0').then(|| text.replace('\0', ""));
        if scan::is_binary(text) {
            self.mark(Unreadable::Binary);
        }
        let text = cleaned.as_deref().unwrap_or(text);
        let found = scan::scan(text);
        if let Some(why) = found.refuse {
            return Err(why);
        }
        let mut text = text.replace("\r\n", "\n");
        // At the very end, a backslash stands for itself.
        let slashes = text.len().saturating_sub(text.trim_end_matches('\\').len());
        if slashes % 2 == 1 {
            text.pop();
            text.push_str("'\\'");
        }
        if found.openers <= MANY_OPENERS {
            return grammar(&text);
        }
        let (send, receive) = std::sync::mpsc::channel();
        let spawned = std::thread::Builder::new().stack_size(256 * 1024 * 1024).spawn(move || {
            // The receiver is gone when the deadline has passed.
            let _ = send.send(grammar(&text));
        });
        match spawned {
            Ok(_) => receive.recv_timeout(DEADLINE).unwrap_or(Err(Unreadable::TooDeep)),
            Err(_) => Err(Unreadable::TooDeep),
        }
    }

    pub(super) fn list(&mut self, list: &ast::CompoundList, scope: &mut Scope) {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            scope.joined = Joined::Sequence;
            if matches!(separator, ast::SeparatorOperator::Async) {
                let mut child = scope.clone();
                child.background = true;
                child.spawning = true;
                self.and_or(and_or, &mut child);
            } else {
                self.and_or(and_or, scope);
            }
            scope.joined = Joined::Sequence;
        }
    }

    fn and_or(&mut self, list: &ast::AndOrList, scope: &mut Scope) {
        let first = self.here();
        let entry = (scope.directory.clone(), scope.directory_assumed);
        self.pipeline(&list.first, scope);
        if list.additional.is_empty() {
            return;
        }
        let before = scope.clone();
        let guard = self.guard(&list.first, first, scope);
        let mut reliable = self.succeeds(first);
        let mut ored = false;
        let mut certain = false;
        for (number, item) in list.additional.iter().enumerate() {
            if !self.step() {
                return;
            }
            let (joined, pipeline) = match item {
                ast::AndOr::And(pipeline) => (Joined::And, pipeline),
                ast::AndOr::Or(pipeline) => (Joined::Or, pipeline),
            };
            scope.joined = joined;
            scope.absent.clone_from(&before.absent);
            scope
                .absent
                .extend(guard.as_ref().filter(|_| number == 0).and_then(|guard| guard.after(joined == Joined::And)));
            if joined == Joined::And {
                // Whatever `cd` stands before it in this list has succeeded.
                if !ored && scope.directory != entry.0 {
                    scope.directory_assumed =
                        entry.1 && !matches!(&scope.directory, Directory::Known(path) if is_absolute(path));
                }
                let at = self.here();
                self.pipeline(pipeline, scope);
                reliable = reliable && self.succeeds(at);
            } else {
                let start = scope.clone();
                let at = self.here();
                self.pipeline(pipeline, scope);
                if self
                    .commands
                    .last()
                    .is_some_and(|last| at < self.here() && matches!(last.program().as_str(), "exit" | "return"))
                {
                    // What follows runs only when the part before succeeded.
                    *scope = start;
                    certain = true;
                    continue;
                }
                ored = true;
                reliable = false;
                // It runs only when the part before failed.
                let ended = scope.clone();
                scope.merge(&[start, ended]);
                scope.joined = Joined::Or;
            }
        }
        scope.absent.clone_from(&before.absent);
        // What the later parts changed holds only if they ran.
        if !Arc::ptr_eq(&scope.vars, &before.vars) {
            let directory = scope.directory.clone();
            scope.blur(&before);
            scope.directory = directory;
        }
        if certain && !ored {
            scope.directory_assumed = entry.1;
            return;
        }
        if scope.directory != before.directory && !reliable {
            scope.directory = Directory::Unknown;
        }
        if scope.directory != entry.0 {
            scope.directory_assumed = true;
        }
    }

    /// Whether the commands since `start` are of a kind that hardly ever fails.
    fn succeeds(&self, start: usize) -> bool {
        self.commands.get(start..).unwrap_or_default().iter().all(|command| {
            matches!(
                command.program().as_str(),
                "" | "mkdir"
                    | "cd"
                    | "pushd"
                    | "popd"
                    | "set"
                    | "echo"
                    | "printf"
                    | "export"
                    | "true"
                    | ":"
                    | "touch"
                    | "pwd"
                    | "source"
                    | "."
            )
        })
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, scope: &mut Scope) {
        if let [only] = pipeline.seq.as_slice() {
            self.command(only, scope);
            return;
        }
        let mut upstream: Option<Vec<usize>> = None;
        for command in &pipeline.seq {
            if !self.step() {
                return;
            }
            let mut child = scope.clone();
            child.spawning = true;
            if let Some(upstream) = upstream.take() {
                child.stdin = Stdin::Pipe(upstream);
                child.joined = Joined::Pipe;
            }
            let start = self.here();
            let depth = child.via.len();
            self.command(command, &mut child);
            upstream = Some(self.principal(start, depth));
        }
    }

    /// The commands since `start` whose output is the output of the whole: not those inside
    /// substitutions opened below `depth` carriers.
    pub(super) fn principal(&self, start: usize, depth: usize) -> Vec<usize> {
        let all = self.commands.iter().enumerate().skip(start);
        all.filter(|(_, command)| !command.via.iter().skip(depth).any(|via| *via == Via::Substitution))
            .map(|(at, _)| at)
            .collect()
    }

    fn command(&mut self, command: &ast::Command, scope: &mut Scope) {
        if !self.step() {
            return;
        }
        if !self.enter(0) {
            self.leave();
            self.flat(&command.to_string(), scope);
            return;
        }
        match command {
            ast::Command::Simple(simple) => {
                let simple = self.spelled(simple, scope);
                self.simple(simple, scope);
            }
            ast::Command::Compound(compound, redirects) => {
                self.with_redirects(redirects.as_ref(), scope, |reader, scope| {
                    reader.compound(compound, scope);
                })
            }
            ast::Command::Function(definition) => {
                let function = Function { body: definition.body.clone(), conditional: scope.conditional };
                let name = definition.fname.value.clone();
                Arc::make_mut(&mut scope.functions).insert(name, Arc::new(function));
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.with_redirects(redirects.as_ref(), scope, |reader, scope| {
                    reader.test(&test.expr, scope);
                })
            }
        }
        self.leave();
    }

    /// Redirects of a compound command: files that it writes appear as a command without words,
    /// and its input becomes the input of the commands inside.
    fn with_redirects(
        &mut self,
        redirects: Option<&ast::RedirectList>,
        scope: &mut Scope,
        body: impl FnOnce(&mut Self, &mut Scope),
    ) {
        let Some(redirects) = redirects else {
            body(self, scope);
            return;
        };
        let mut spots = Vec::new();
        for redirect in &redirects.0 {
            self.redirect(redirect, scope, &mut spots);
        }
        let (redirects, stdin) = self.spots(spots, scope);
        let outer = scope.stdin.clone();
        let written = (!redirects.is_empty()).then(|| Command { redirects, ..self.blank(scope) });
        if let Some(command) = written.clone() {
            self.push(command);
        }
        if let Some(stdin) = stdin {
            scope.stdin = stdin;
        }
        let (start, depth) = (self.here(), scope.via.len());
        body(self, scope);
        if let Some(command) = written {
            let inside = self.principal(start, depth);
            self.note_authored(&Command { stdin: Stdin::Pipe(inside), words: vec![Word::literal("cat")], ..command });
        }
        scope.stdin = outer;
    }

    fn compound(&mut self, compound: &ast::CompoundCommand, scope: &mut Scope) {
        match compound {
            ast::CompoundCommand::Arithmetic(arithmetic) => self.arithmetic(&arithmetic.expr.value, scope),
            ast::CompoundCommand::BraceGroup(group) => self.list(&group.list, scope),
            ast::CompoundCommand::Subshell(subshell) => {
                let mut child = scope.subshell(Via::Subshell);
                self.list(&subshell.list, &mut child);
            }
            ast::CompoundCommand::ForClause(clause) => self.for_clause(clause, scope),
            ast::CompoundCommand::ArithmeticForClause(clause) => {
                for part in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.arithmetic(&part.value, scope);
                    let name: String =
                        part.value.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                    if !name.is_empty() {
                        scope.set_unknown(&name);
                    }
                }
                self.repeated(scope, |reader, scope| reader.list(&clause.body.list, scope));
            }
            ast::CompoundCommand::WhileClause(ast::WhileOrUntilClauseCommand(condition, body, _))
            | ast::CompoundCommand::UntilClause(ast::WhileOrUntilClauseCommand(condition, body, _)) => {
                self.repeated(scope, |reader, scope| {
                    reader.list(condition, scope);
                    reader.list(&body.list, scope);
                })
            }
            ast::CompoundCommand::IfClause(clause) => self.if_clause(clause, scope),
            ast::CompoundCommand::CaseClause(clause) => self.case_clause(clause, scope),
            ast::CompoundCommand::Coprocess(coprocess) => {
                let mut child = scope.subshell(Via::Subshell);
                child.background = true;
                child.spawning = true;
                self.command(&coprocess.body, &mut child);
            }
        }
    }

    /// A loop body: followed once, and once more with what it changes unknown.
    pub(super) fn repeated(&mut self, scope: &mut Scope, mut body: impl FnMut(&mut Self, &mut Scope)) {
        let outer = scope.conditional;
        scope.via.push(Via::Loop);
        scope.conditional = true;
        let before = scope.clone();
        body(self, scope);
        if scope.blur(&before) {
            body(self, scope);
            scope.blur(&before);
        }
        scope.via.pop();
        scope.conditional = outer;
    }

    fn for_clause(&mut self, clause: &ast::ForClauseCommand, scope: &mut Scope) {
        let mut values = Vec::new();
        match &clause.values {
            Some(words) => {
                for word in words {
                    values.extend(self.expand(&word.value, scope));
                }
            }
            None => match scope.variable("@") {
                Some(var) => values.clone_from(&var.words),
                None => values.push(Word::unknown("$@")),
            },
        }
        self.for_each(&clause.variable_name, &values, scope, |reader, scope| reader.list(&clause.body.list, scope));
    }

    fn for_each(
        &mut self,
        name: &str,
        values: &[Word],
        scope: &mut Scope,
        mut body: impl FnMut(&mut Self, &mut Scope),
    ) {
        // A value that is not known may be any number of values.
        if values.len() > MAX_VALUES {
            let unders: Option<Vec<String>> = values.iter().map(folder_of).collect();
            let mut word = Word::unknown(format!("${name}"));
            word.under = unders
                .map(|mut unders| {
                    unders.sort();
                    unders.dedup();
                    unders
                })
                .unwrap_or_default();
            scope.set(name, Var::scalar(word));
            self.repeated(scope, body);
            return;
        }
        let before = scope.clone();
        scope.via.push(Via::Loop);
        for value in values {
            if !self.step() {
                break;
            }
            scope.set(name, Var::scalar(Word { quoted: value.quoted || value.glob, ..value.clone() }));
            body(self, scope);
        }
        scope.via.pop();
        if values.is_empty() {
            // The list may be computed where this reading sees nothing.
            return;
        }
        if scope.directory != before.directory {
            scope.directory = Directory::Unknown;
        }
    }

    fn branch(&mut self, list: &ast::CompoundList, start: &Scope) -> Scope {
        let mut scope = start.clone();
        scope.via.push(Via::Conditional);
        scope.conditional = true;
        self.list(list, &mut scope);
        scope
    }

    fn if_clause(&mut self, clause: &ast::IfClauseCommand, scope: &mut Scope) {
        let first = self.here();
        self.list(&clause.condition, scope);
        let guard = match clause.condition.0.as_slice() {
            [ast::CompoundListItem(and_or, _)] if and_or.additional.is_empty() => {
                self.guard(&and_or.first, first, scope)
            }
            _ => None,
        };
        let outer = scope.absent.clone();
        let absent = |success: bool| outer.iter().cloned().chain(guard.as_ref().and_then(|guard| guard.after(success)));
        scope.absent = absent(true).collect();
        let mut ends = vec![self.branch(&clause.then, scope)];
        scope.absent = absent(false).collect();
        let mut complete = false;
        for other in clause.elses.iter().flatten() {
            match &other.condition {
                Some(condition) => self.list(condition, scope),
                None => complete = true,
            }
            let end = self.branch(&other.body, scope);
            ends.push(end);
        }
        scope.absent = outer;
        if !complete {
            ends.push(scope.clone());
        }
        scope.merge(&ends);
    }

    /// What a test of a file tells of the commands behind it. `first`: where the test begins in the list.
    fn guard(&mut self, pipeline: &ast::Pipeline, first: usize, scope: &mut Scope) -> Option<Guard> {
        let [only] = pipeline.seq.as_slice() else { return None };
        let (path, negated) = match only {
            ast::Command::ExtendedTest(test, _) => self.tested_path(&test.expr, scope)?,
            _ => {
                let [test] = self.commands.get(first..)? else { return None };
                if !matches!(test.program().as_str(), "[" | "test") {
                    return None;
                }
                let arguments = test.arguments();
                let arguments = arguments.strip_suffix(&[Word::literal("]")]).unwrap_or(arguments);
                match arguments {
                    [flag, path] if is_file_test(&flag.text) => (path.clone(), false),
                    [not, flag, path] if not.text == "!" && is_file_test(&flag.text) => (path.clone(), true),
                    _ => return None,
                }
            }
        };
        let directory = scope.directory.clone();
        path.is_plain().then_some(Guard { directory, path, absent_on_success: negated != pipeline.bang })
    }

    /// The path that `[[ -f path ]]` asks for, and whether the question is turned round.
    fn tested_path(&mut self, test: &ast::ExtendedTestExpr, scope: &mut Scope) -> Option<(Word, bool)> {
        use ast::UnaryPredicate as Is;
        match test {
            ast::ExtendedTestExpr::Not(inner) => self.tested_path(inner, scope).map(|(path, negated)| (path, !negated)),
            ast::ExtendedTestExpr::Parenthesized(inner) => self.tested_path(inner, scope),
            ast::ExtendedTestExpr::UnaryTest(Is::FileExists | Is::FileExistsAndIsRegularFile, word)
                if !word.value.contains(['(', '`']) =>
            {
                Some((self.expand_one(&word.value, scope), false))
            }
            _ => None,
        }
    }

    fn case_clause(&mut self, clause: &ast::CaseClauseCommand, scope: &mut Scope) {
        self.expand_one(&clause.value.value, scope);
        let mut ends = vec![scope.clone()];
        for item in &clause.cases {
            for pattern in &item.patterns {
                if pattern.value.contains(['$', '`']) {
                    self.expand_one(&pattern.value, scope);
                }
            }
            if let Some(list) = &item.cmd {
                let end = self.branch(list, scope);
                ends.push(end);
            }
        }
        scope.merge(&ends);
    }

    fn test(&mut self, expr: &ast::ExtendedTestExpr, scope: &mut Scope) {
        if !self.enter(0) {
            self.leave();
            return;
        }
        match expr {
            ast::ExtendedTestExpr::And(left, right) | ast::ExtendedTestExpr::Or(left, right) => {
                self.test(left, scope);
                self.test(right, scope);
            }
            ast::ExtendedTestExpr::Not(inner) | ast::ExtendedTestExpr::Parenthesized(inner) => self.test(inner, scope),
            ast::ExtendedTestExpr::UnaryTest(_, word) => {
                self.expand_one(&word.value, scope);
            }
            ast::ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.expand_one(&left.value, scope);
                self.expand_one(&right.value, scope);
            }
        }
        self.leave();
    }

    fn spelled(&mut self, simple: &ast::SimpleCommand, scope: &mut Scope) -> Simple {
        let mut made = Simple::default();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    made.assignments.push(assigned(assignment))
                }
                other => self.item(other, scope, &mut made),
            }
        }
        if let Some(name) = &simple.word_or_name {
            made.words.push(Spelled::Raw(name.value.clone()));
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, scope, &mut made);
        }
        made
    }

    fn item(&mut self, item: &ast::CommandPrefixOrSuffixItem, scope: &mut Scope, made: &mut Simple) {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect, scope, &mut made.redirects),
            ast::CommandPrefixOrSuffixItem::Word(word) => made.words.push(Spelled::Raw(word.value.clone())),
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                made.words.push(match &assignment.value {
                    ast::AssignmentValue::Array(_) => Spelled::Array(assigned(assignment)),
                    ast::AssignmentValue::Scalar(_) => Spelled::Raw(word.value.clone()),
                })
            }
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                let word = self.process(kind, subshell, scope);
                made.words.push(Spelled::Done(word));
            }
        }
    }

    fn process(&mut self, kind: &ast::ProcessSubstitutionKind, subshell: &ast::SubshellCommand, scope: &Scope) -> Word {
        let start = self.here();
        let mut child = scope.subshell(Via::Substitution);
        if matches!(kind, ast::ProcessSubstitutionKind::Write) {
            // It reads what the command will print.
            child.stdin = Stdin::Text { text: String::new(), known: false };
        }
        self.list(&subshell.list, &mut child);
        let mut word = Word::unknown(format!("{kind}({})", subshell.list));
        word.output_of = Some(self.source(self.since(start)));
        // The paths that it lists lie there; `read` takes them from it.
        word.under = self.printed_under(self.since(start));
        word
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect, scope: &mut Scope, spots: &mut Vec<Spot>) {
        match redirect {
            ast::IoRedirect::File(_, kind, target) => {
                let kind = match kind {
                    ast::IoFileRedirectKind::Read | ast::IoFileRedirectKind::DuplicateInput => RedirectKind::Read,
                    ast::IoFileRedirectKind::Append => RedirectKind::Append,
                    ast::IoFileRedirectKind::ReadAndWrite => RedirectKind::ReadWrite,
                    ast::IoFileRedirectKind::Write
                    | ast::IoFileRedirectKind::Clobber
                    | ast::IoFileRedirectKind::DuplicateOutput => RedirectKind::Write,
                };
                match target {
                    ast::IoFileRedirectTarget::Filename(word) => spots.push(Spot::File(kind, word.value.clone())),
                    ast::IoFileRedirectTarget::Fd(_) => {}
                    // `>&file` writes a file; `>&2` does not.
                    ast::IoFileRedirectTarget::Duplicate(word) => {
                        if !is_descriptor(&word.value) {
                            spots.push(Spot::File(kind, word.value.clone()));
                        }
                    }
                    ast::IoFileRedirectTarget::ProcessSubstitution(substitution, subshell) => {
                        let word = self.process(substitution, subshell, scope);
                        if kind == RedirectKind::Read {
                            spots.push(Spot::Done(kind, word));
                        }
                    }
                }
            }
            ast::IoRedirect::OutputAndError(word, append) => {
                let kind = if *append { RedirectKind::Append } else { RedirectKind::Write };
                spots.push(Spot::File(kind, word.value.clone()));
            }
            ast::IoRedirect::HereDocument(_, document) => spots.push(Spot::Text {
                text: document.doc.value.clone(),
                expand: document.requires_expansion,
                quoted_as_word: false,
            }),
            ast::IoRedirect::HereString(_, word) => {
                spots.push(Spot::Text { text: word.value.clone(), expand: true, quoted_as_word: true })
            }
        }
    }

    /// Expands redirects; the second part is a standard input that they set.
    fn spots(&mut self, spots: Vec<Spot>, scope: &mut Scope) -> (Vec<Redirect>, Option<Stdin>) {
        let mut redirects = Vec::new();
        let mut stdin = None;
        for spot in spots {
            let (kind, target) = match spot {
                Spot::File(kind, raw) => (kind, self.expand_one(&raw, scope)),
                Spot::Done(kind, word) => (kind, word),
                Spot::Text { text, expand, quoted_as_word } => {
                    stdin = Some(if quoted_as_word {
                        let word = self.expand_one(&text, scope);
                        Stdin::Text { known: word.known, text: word.text }
                    } else if expand {
                        let (text, known) = self.expand_here(&text, scope);
                        Stdin::Text { text, known }
                    } else {
                        Stdin::Text { text, known: true }
                    });
                    continue;
                }
            };
            if kind == RedirectKind::Read {
                stdin = Some(Stdin::File(target.clone()));
            }
            redirects.push(Redirect { kind, target });
        }
        (redirects, stdin)
    }

    /// A command of this scope without words.
    pub(super) fn blank(&self, scope: &mut Scope) -> Command {
        Command {
            environment: scope.environment(),
            stdin: scope.stdin.clone(),
            via: scope.via.clone(),
            directory: scope.directory.clone(),
            directory_assumed: scope.directory_assumed,
            background: scope.background,
            joined: scope.joined,
            absent: scope.absent_here(),
            ..Command::default()
        }
    }

    /// Expands and runs a simple command.
    pub(super) fn simple(&mut self, simple: Simple, scope: &mut Scope) {
        let has_words = !simple.words.is_empty();
        let mut assignments = Vec::new();
        for assigned in &simple.assignments {
            let var = self.assigned_value(assigned, scope);
            if has_words {
                assignments.extend(var.words.into_iter().next().map(|word| (assigned.name.clone(), word)));
            } else {
                // A variable of the environment stays one: `PAGER=x; git log`.
                if let Some(word) = var.words.first().filter(|_| !var.array) {
                    let command = self.blank(scope);
                    self.variable_set(&assigned.name, word, &command, scope);
                }
                scope.set(&assigned.name, var);
            }
        }
        let mut words: Vec<Word> = Vec::new();
        let declares = matches!(simple.words.first(), Some(Spelled::Raw(raw)) if is_declaration(raw));
        for word in simple.words {
            match word {
                Spelled::Raw(raw) if declares && raw.contains('=') => words.push(self.expand_one(&raw, scope)),
                Spelled::Raw(raw) => words.extend(self.expand(&raw, scope)),
                Spelled::Done(word) => words.push(word),
                Spelled::Array(assigned) => {
                    let var = self.assigned_value(&assigned, scope);
                    words.push(Word {
                        text: assigned.name.clone(),
                        ..Word::unknown(format!("{}=(...)", assigned.name))
                    });
                    scope.set(&assigned.name, var);
                }
            }
        }
        let (redirects, stdin) = self.spots(simple.redirects, scope);
        if words.is_empty() && redirects.is_empty() {
            return;
        }
        let mut command = Command { assignments, words, redirects, ..self.blank(scope) };
        if let Some(stdin) = stdin {
            command.stdin = stdin;
        }
        doubt(&mut command, scope);
        self.alias(command, scope);
    }

    fn assigned_value(&mut self, assigned: &Assigned, scope: &mut Scope) -> Var {
        if assigned.element {
            return Var::array(vec![Word::unknown(format!("${}", assigned.name))]);
        }
        let mut words = Vec::new();
        for value in &assigned.values {
            if assigned.array {
                words.extend(self.expand(value, scope));
            } else {
                words.push(self.expand_one(value, scope));
            }
        }
        if assigned.append {
            match (scope.variable(&assigned.name), assigned.array) {
                (Some(old), true) => words = old.words.iter().cloned().chain(words).collect(),
                (Some(old), false) => {
                    if let (Some(old), Some(added)) = (old.words.first(), words.first_mut()) {
                        added.text = format!("{}{}", old.text, added.text);
                        added.known &= old.known;
                        added.glob |= old.glob;
                        added.home = old.home;
                        added.known &= added.text.len() < MAX_WORK / 1024;
                        added.text.truncate(added.text.floor_char_boundary(MAX_WORK / 1024));
                    }
                }
                (None, _) => words = vec![Word::unknown(format!("${}", assigned.name))],
            }
        }
        if assigned.array {
            Var::array(words)
        } else {
            Var::scalar(words.into_iter().next().unwrap_or(Word { known: true, ..Word::default() }))
        }
    }

    fn alias(&mut self, command: Command, scope: &mut Scope) {
        let text =
            command.words.first().filter(|word| !word.quoted).and_then(|word| scope.aliases.get(&word.text)).cloned();
        let Some(text) = text else {
            self.run(command, scope, true);
            return;
        };
        let arguments: Vec<String> = command.arguments().iter().map(|word| quote(&word.text)).collect();
        let mut child = scope.clone();
        Arc::make_mut(&mut child.aliases).clear();
        child.stdin = command.stdin;
        self.script(&format!("{text} {}", arguments.join(" ")), &mut child);
        child.aliases = Arc::clone(&scope.aliases);
        child.stdin = std::mem::take(&mut scope.stdin);
        *scope = child;
    }

    /// Follows the call of a function of the text; false when there is none of this name.
    pub(super) fn call(&mut self, command: &Command, scope: &mut Scope) -> bool {
        let Some(name) = command.words.first().map(|word| word.text.clone()) else { return false };
        let Some(function) = scope.functions.get(&name).cloned() else { return false };
        if scope.calls.contains(&name) {
            if scope.spawning {
                self.fork_bomb = true;
            }
            return true;
        }
        if scope.calls.len() >= MAX_CALLS {
            self.mark(Unreadable::TooDeep);
            return false;
        }
        if !command.redirects.is_empty() {
            let redirects = Command { words: Vec::new(), ..command.clone() };
            self.push(redirects);
        }
        let mut inner = scope.clone();
        inner.calls.push(name.clone());
        inner.via.push(Via::Function(name));
        inner.spawning = false;
        inner.stdin = command.stdin.clone();
        inner.positions(command.arguments());
        for (name, word) in &command.assignments {
            inner.set(name, Var::scalar(word.clone()));
        }
        let body = &function.body;
        self.with_redirects(body.1.as_ref(), &mut inner, |reader, scope| reader.compound(&body.0, scope));
        // What the function assigns and where it goes stays; its arguments do not.
        inner.via.clone_from(&scope.via);
        inner.calls.clone_from(&scope.calls);
        inner.spawning = scope.spawning;
        inner.stdin = scope.stdin.clone();
        let outer: Vec<Word> = scope.positional.as_ref().map(|words| words.to_vec()).unwrap_or_default();
        inner.positions(&outer);
        inner.positional.clone_from(&scope.positional);
        if inner.positional.is_none() {
            inner.unset("@");
            inner.unset("*");
        }
        *scope = inner;
        !function.conditional
    }

    pub(super) fn stop_on_error(&self, scope: &mut Scope) {
        scope.stops_on_error = true;
    }
}

/// A test of whether a file is there.
struct Guard {
    directory: Directory,
    path: Word,
    absent_on_success: bool,
}

impl Guard {
    /// The path, where it is absent behind a test that ended so.
    fn after(&self, success: bool) -> Option<(Directory, Word)> {
        (self.absent_on_success == success).then(|| (self.directory.clone(), self.path.clone()))
    }
}

fn is_file_test(flag: &str) -> bool {
    matches!(flag, "-f" | "-e" | "-s")
}

/// In text that is only partly known, a word with a `$` is not known.
pub(super) fn doubt(command: &mut Command, scope: &Scope) {
    if scope.uncertain {
        let targets = command.redirects.iter_mut().map(|redirect| &mut redirect.target);
        for word in command.words.iter_mut().chain(targets) {
            word.known &= !word.text.contains(['$', '`']);
        }
        if let Stdin::Text { text, known } = &mut command.stdin {
            *known &= !text.contains(['$', '`']);
        }
    }
}

fn folder_of(word: &Word) -> Option<String> {
    if !word.known || word.text.contains("..") {
        return None;
    }
    Some(word.text.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned())
}

pub(super) fn is_descriptor(text: &str) -> bool {
    text == "-" || (!text.is_empty() && text.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit()))
}

pub(super) fn is_declaration(name: &str) -> bool {
    matches!(name, "export" | "declare" | "typeset" | "local" | "readonly" | "alias")
}

/// Spells a value so that a shell reads it back as one word.
pub(crate) fn quote(text: &str) -> String {
    if !text.is_empty()
        && text.bytes().all(|b| {
            b.is_ascii_alphanumeric()
                || matches!(b, b'-' | b'_' | b'/' | b'.' | b'=' | b':' | b'@' | b'%' | b'+' | b',' | b'~')
        })
    {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

fn assigned(assignment: &ast::Assignment) -> Assigned {
    let (name, element) = match &assignment.name {
        ast::AssignmentName::VariableName(name) => (name.clone(), false),
        ast::AssignmentName::ArrayElementName(name, _) => (name.clone(), true),
    };
    let (values, array) = match &assignment.value {
        ast::AssignmentValue::Scalar(word) => (vec![word.value.clone()], false),
        ast::AssignmentValue::Array(items) => (items.iter().map(|(_, word)| word.value.clone()).collect(), true),
    };
    Assigned { name, values, array, element, append: assignment.append }
}

/// Parses with the grammar of `brush-parser`, which answers, fails, or (on input that its own
/// conversions do not expect) panics; a panic counts as text that cannot be read.
fn grammar(text: &str) -> Result<ast::Program, Unreadable> {
    let parse = || {
        let options = brush_parser::ParserOptions::default();
        brush_parser::Parser::new(std::io::Cursor::new(text.as_bytes()), &options).parse_program()
    };
    match std::panic::catch_unwind(parse) {
        Ok(Ok(program)) => Ok(program),
        Ok(Err(_)) | Err(_) => Err(Unreadable::SyntaxError),
    }
}
