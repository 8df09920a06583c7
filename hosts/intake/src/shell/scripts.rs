//! Files that a text runs: scripts that it writes itself, and those that [`Files`](super::Files) gives.
//!
//! A file is read as what runs it would read it: a shell script by the grammar, with its arguments as positional
//! parameters; another language as a program given in text. The commands enter the list behind the command that runs
//! the file, each with the file's [`Origin`].

use super::sources::is_null;
use super::walk::{Reader, Scope, Var};
use super::{Command, Directory, Origin, RedirectKind, Stdin, Stored, Unreadable, Via, Word, program_name};

/// Files that are remembered as written.
const MAX_AUTHORED: usize = 64;
/// Bytes of a script that are read as shell text; longer ones stay closed.
const MAX_SCRIPT: usize = super::MAX_TEXT;

/// A file that a command of the text writes.
#[derive(Clone, Debug)]
pub(super) struct Authored {
    name: String,
    /// What it holds, and whether all of that is known; `None` where nothing is.
    text: Option<(String, bool)>,
}

/// What reads a file that is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadBy {
    /// A shell of its own.
    Shell,
    /// The shell that stands here: `source`.
    ThisShell,
    /// An interpreter of this language.
    Language(&'static str),
}

impl Reader<'_> {
    /// One name for a file.
    fn file_name(&self, directory: &Directory, path: &Word) -> String {
        self.files.and_then(|files| files.name(directory, path)).unwrap_or_else(|| {
            let base = match directory {
                Directory::Known(base) | Directory::Beneath(base) if !path.text.starts_with(['/', '~']) => {
                    base.as_str()
                }
                _ => "",
            };
            let mut parts: Vec<&str> = Vec::new();
            for part in base.split('/').chain(path.text.split('/')).filter(|part| !matches!(*part, "" | ".")) {
                if part == ".." && parts.last().is_some_and(|last| *last != "..") {
                    parts.pop();
                } else {
                    parts.push(part);
                }
            }
            let start = if base.starts_with('/') || path.text.starts_with('/') { "/" } else { "" };
            format!("{start}{}", parts.join("/"))
        })
    }

    /// Remembers the files that a command writes, copies or moves, with what they hold.
    pub(super) fn note_authored(&mut self, command: &Command) {
        if command.via.iter().any(|via| matches!(via, Via::Remote(_) | Via::Container(_))) {
            return;
        }
        let mut written: Vec<(Word, bool)> = command
            .redirects
            .iter()
            .filter(|redirect| redirect.kind != RedirectKind::Read && !is_null(&redirect.target.text))
            .map(|redirect| (redirect.target.clone(), redirect.kind == RedirectKind::Append))
            .collect();
        let operands: Vec<&Word> = command.arguments().iter().filter(|word| !word.text.starts_with('-')).collect();
        let mut content = None;
        match (command.program().as_str(), operands.as_slice()) {
            ("tee", files) => {
                let appends = command.arguments().iter().any(|word| matches!(word.text.as_str(), "-a" | "--append"));
                written.extend(files.iter().map(|word| ((*word).clone(), appends)));
            }
            ("dd", _) => {
                let given = command.arguments().iter().find_map(|word| Some((word, word.text.strip_prefix("of=")?)));
                written.extend(given.map(|(word, file)| (Word { text: file.to_owned(), ..word.clone() }, false)));
                content = self.arriving(&command.stdin, 0).map(|produced| (produced.text, true));
            }
            ("cp" | "mv" | "install" | "ln", [.., from, to]) => {
                content = match from.text.as_str() {
                    "/dev/stdin" => self.arriving(&command.stdin, 0).map(|produced| (produced.text, true)),
                    _ => self.held(&command.directory, from),
                };
                if content.is_none() {
                    return;
                }
                written.push(((*to).clone(), false));
            }
            ("sed" | "perl", [.., file]) if command.arguments().iter().any(|word| word.text.starts_with("-i")) => {
                // What it makes of a file of this text is not followed.
                let name = self.file_name(&command.directory, file);
                self.authored.retain(|authored| authored.name != name);
                return;
            }
            _ => {}
        }
        if written.is_empty() || self.authored.len() >= MAX_AUTHORED {
            return;
        }
        let content = content.or_else(|| self.written_text(command));
        for (target, appends) in written.into_iter().filter(|(target, _)| target.is_plain()) {
            let name = self.file_name(&command.directory, &target);
            let before = appends.then(|| self.authored.iter().rev().find(|file| file.name == name)).flatten();
            let text = match (before.and_then(|file| file.text.clone()), content.clone()) {
                (Some((old, old_known)), Some((new, known))) if old.len() <= MAX_SCRIPT => {
                    Some((format!("{old}{new}"), old_known && known))
                }
                (None, content) => content,
                (old, _) => old,
            };
            self.authored.push(Authored { name, text });
        }
    }

    /// What a file of this text, or one that is read, holds.
    fn held(&self, directory: &Directory, file: &Word) -> Option<(String, bool)> {
        let name = self.file_name(directory, file);
        match self.authored.iter().rev().find(|authored| authored.name == name) {
            Some(authored) => authored.text.clone(),
            None => self.files?.stored(directory, file).map(|stored| (stored.text, true)),
        }
    }

    /// What a command writes out, and whether all of it is known.
    fn written_text(&self, command: &Command) -> Option<(String, bool)> {
        let bare = Command { redirects: Vec::new(), ..command.clone() };
        if let Some(produced) = self.produced(&bare, 0) {
            return Some((produced.text, true));
        }
        match (command.program().as_str(), &command.stdin) {
            ("cat" | "tee" | "", Stdin::Text { text, known }) => Some((text.clone(), *known)),
            ("echo" | "printf", _) => {
                let words: Vec<&str> = command.arguments().iter().map(|word| word.text.as_str()).collect();
                Some((format!("{}\n", words.join(" ").replace("\\n", "\n")), false))
            }
            _ => None,
        }
    }

    /// Remembers a program that a command copies or links: `cp /bin/rm z`.
    pub(super) fn note_renamed(&mut self, command: &Command) {
        let operands: Vec<&Word> = command.arguments().iter().filter(|word| !word.text.starts_with('-')).collect();
        let program = command.program();
        let [from, to] = operands.as_slice() else { return };
        if !matches!(program.as_str(), "cp" | "ln" | "mv" | "install") || !from.known || !to.is_plain() {
            return;
        }
        let source = self.file_name(&command.directory, from);
        let before = self.renamed.iter().rev().find(|(name, _)| *name == source).map(|(_, program)| program.clone());
        // The gate's own program lies in any folder, and under any name.
        let by_folder = || {
            let is_program = in_program_folder(&from.text) || super::program_name(&from.text) == "stigmergate";
            is_program.then(|| from.text.clone())
        };
        let by_file = || self.files?.linked(&command.directory, from);
        let Some(original) = before.or_else(by_folder).or_else(by_file) else { return };
        let name = self.file_name(&command.directory, to);
        if self.renamed.len() < MAX_AUTHORED {
            self.renamed.push((name, original));
        }
    }

    /// The program that a path with a slash is a copy of or a link to.
    pub(super) fn original(&self, command: &Command) -> Option<String> {
        let first = command.words.first().filter(|word| word.text.contains('/') && word.is_plain())?;
        let name = self.file_name(&command.directory, first);
        let renamed = self.renamed.iter().rev().find(|(renamed, _)| *renamed == name);
        match renamed {
            Some((_, original)) => Some(original.clone()),
            None => self.files?.linked(&command.directory, first),
        }
    }

    /// What stands in a file that a command runs, and whether all of it is known.
    pub(super) fn run_text(&self, command: &Command, file: &Word) -> Option<(Stored, bool)> {
        let elsewhere = command.via.iter().any(|via| matches!(via, Via::Remote(_) | Via::Container(_)));
        if elsewhere { None } else { self.text_here(command, file) }
    }

    /// Whether an earlier command of the text writes a file.
    pub(super) fn writes_itself(&self, command: &Command, file: &Word) -> bool {
        let name = self.file_name(&command.directory, file);
        self.authored.iter().any(|authored| authored.name == name)
    }

    /// [`Self::run_text`] of a file of this machine, wherever the command runs.
    fn text_here(&self, command: &Command, file: &Word) -> Option<(Stored, bool)> {
        if !file.known || file.text.is_empty() || command.directory == Directory::Unknown {
            return None;
        }
        let name = self.file_name(&command.directory, file);
        // What `find -name x.sh` finds.
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_it =
            |authored: &&Authored| authored.name == name || (file.glob && last(&authored.name) == last(&file.text));
        match self.authored.iter().rev().find(is_it) {
            Some(authored) => {
                let (text, known) = authored.text.clone()?;
                Some((Stored { text, origin: Origin::Written }, known))
            }
            None if file.glob => None,
            None => Some((self.files?.stored(&command.directory, file)?, true)),
        }
    }

    /// Follows a file that `command` runs with these arguments. The command itself is in the list already.
    pub(super) fn file(&mut self, file: &Word, arguments: &[Word], by: ReadBy, command: &Command, scope: &mut Scope) {
        let Some((stored, known)) = self.run_text(command, file) else { return };
        self.stored_text(file, &stored, known, arguments, by, command, scope);
    }

    #[expect(clippy::too_many_arguments, reason = "a file, what runs it, and where")]
    pub(super) fn stored_text(
        &mut self,
        file: &Word,
        stored: &Stored,
        known: bool,
        arguments: &[Word],
        by: ReadBy,
        command: &Command,
        scope: &mut Scope,
    ) {
        let name = self.file_name(&command.directory, file);
        let shell = !matches!(by, ReadBy::Language(_));
        if shell && stored.text.len() > MAX_SCRIPT {
            return;
        }
        self.within(&name, stored.origin, |reader| match by {
            ReadBy::Language(language) => {
                reader.follow_program(language, &stored.text, known, arguments, command, scope);
            }
            ReadBy::Shell | ReadBy::ThisShell => {
                let via = Via::Script(name.clone());
                let mut inner =
                    if by == ReadBy::Shell { reader.inner_scope(command, scope, via.clone()) } else { scope.clone() };
                inner.via.clone_from(&command.via);
                inner.via.push(via);
                inner.stdin = command.stdin.clone();
                inner.uncertain |= !known;
                if by == ReadBy::Shell || !arguments.is_empty() {
                    inner.positions(arguments);
                }
                if by == ReadBy::Shell {
                    inner.set("0", Var::scalar(file.clone()));
                }
                inner.set("BASH_SOURCE", Var::array(vec![file.clone()]));
                reader.script(&stored.text, &mut inner);
                if by == ReadBy::ThisShell {
                    inner.via.clone_from(&scope.via);
                    inner.stdin = scope.stdin.clone();
                    inner.uncertain = scope.uncertain;
                    *scope = inner;
                }
            }
        });
    }

    /// Follows a text of a file, unless it is being followed already.
    pub(super) fn within(&mut self, name: &str, origin: Origin, follow: impl FnOnce(&mut Self)) {
        if self.running.iter().any(|running| running == name) {
            return;
        }
        let (start, spent, unreadable) = (self.here(), self.spent(), self.unreadable);
        let outer = self.origin;
        self.origin = outer.max(origin);
        self.running.push(name.to_owned());
        follow(self);
        self.running.pop();
        self.origin = outer;
        // What cannot be read as a whole stays closed.
        if unreadable.is_none() && !matches!(self.unreadable, None | Some(Unreadable::SyntaxError)) {
            self.take_back(start, spent);
        }
        self.unreadable = unreadable;
    }

    /// Follows a program that is a file itself: `./x.sh`. False when it is none that can be read.
    pub(super) fn direct(&mut self, command: &Command, scope: &mut Scope) -> bool {
        // `PATH=.:$PATH x.sh`
        let sets_path = || command.assignments.iter().chain(command.environment.iter()).any(|(name, _)| name == "PATH");
        let by_path = |word: &Word| {
            word.text.contains('/') || (sets_path() && self.authored.iter().any(|authored| authored.name == word.text))
        };
        let Some(first) = command.words.first().filter(|word| by_path(word)).cloned() else { return false };
        let Some((stored, known)) = self.run_text(command, &first) else { return false };
        let Some(by) = reader_of(&first.text, &stored.text) else { return false };
        self.push(command.clone());
        let arguments = command.arguments().to_vec();
        self.stored_text(&first, &stored, known, &arguments, by, command, scope);
        true
    }

    /// A program whose text is what stands in a file, as if it were given the file: `bash -c "$(cat x.sh)"`, `bash <(cat x.sh)`,
    /// `cat x.sh | bash -s -- a`, `node -e "$(cat x.js)"`, `eval "$(cat x.sh)"`.
    pub(super) fn by_its_file(&self, command: &Command) -> Option<Command> {
        let (first, arguments) = command.words.split_first()?;
        let program = command.program();
        let shell = super::carriers::is_shell(&program);
        let elsewhere = command.via.iter().any(|via| matches!(via, Via::Remote(_) | Via::Container(_)));
        if elsewhere || !(shell || program == "eval" || super::carriers::language(&program).is_some()) {
            return None;
        }
        let (file, rest) = match arguments {
            [text] if program == "eval" => (self.shown_file(command, text, "$(")?, arguments.get(1..)?),
            // What follows the text is the name of the shell, and then its arguments.
            [flag, text, rest @ ..] if flag.text == "-c" && shell => {
                (self.shown_file(command, text, "$(")?, rest.get(1..).unwrap_or_default())
            }
            [flag, text, rest @ ..]
                if matches!(flag.text.as_str(), "-c" | "-e" | "--eval" | "-r") && program != "eval" =>
            {
                (self.shown_file(command, text, "$(")?, rest)
            }
            [text, rest @ ..] if text.text.starts_with("<(") => (self.shown_file(command, text, "<(")?, rest),
            [flag, rest @ ..] if shell && flag.text == "-s" => {
                let Stdin::Pipe(upstream) = &command.stdin else { return None };
                let [at] = upstream.as_slice() else { return None };
                let rest = rest.strip_prefix(&[Word::literal("--")]).unwrap_or(rest);
                (self.only_shown(command, self.commands.get(*at)?)?, rest)
            }
            _ => return None,
        };
        let program = if program == "eval" { Word::literal("source") } else { first.clone() };
        let words = [program, file].into_iter().chain(rest.iter().cloned()).collect();
        let stdin = if matches!(command.stdin, Stdin::Pipe(_)) { Stdin::None } else { command.stdin.clone() };
        Some(Command { words, stdin, code_from: None, ..command.clone() })
    }

    /// The file that a substitution shows, where the word is nothing else: `"$(cat x.sh)"`.
    fn shown_file(&self, command: &Command, word: &Word, opening: &str) -> Option<Word> {
        let inner = word.text.strip_prefix(opening)?;
        let (inner, rest) = super::word::enclosed(inner, ')')?;
        if word.known || !rest.is_empty() || inner.contains(['|', ';', '&', '\n', '>']) {
            return None;
        }
        let shows = self.commands.last()?;
        let inside =
            shows.via.split_last().is_some_and(|(last, outer)| *last == Via::Substitution && outer == command.via);
        // What is left open in the text of the command is what was expanded last.
        let spelled = shows.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let is_it = inner.trim() == spelled || inner.trim().replace(['"', '\''], "") == spelled;
        if inside && is_it { self.only_shown(command, shows) } else { None }
    }

    /// The one file that a command shows as it is.
    fn only_shown(&self, command: &Command, shows: &Command) -> Option<Word> {
        let [file] = shows.arguments() else { return None };
        let plain = shows.program() == "cat" && shows.redirects.is_empty() && shows.directory == command.directory;
        (plain && file.is_plain() && file.text != "-" && !file.text.starts_with('-')).then(|| file.clone())
    }

    /// The file on this standard input, when its text is known: `sh < x.sh`, `cat x.sh | sh`.
    pub(super) fn file_on(&self, command: &Command) -> Option<(Word, Stored, bool)> {
        let file = match &command.stdin {
            Stdin::File(word) => word,
            Stdin::Pipe(upstream) => {
                let [at] = upstream.as_slice() else { return None };
                let cat = self.commands.get(*at).filter(|cat| cat.program() == "cat")?;
                let [file] = cat.arguments() else { return None };
                file
            }
            _ => return None,
        };
        let (stored, known) = self.text_here(command, file)?;
        Some((file.clone(), stored, known))
    }
}

/// Whether a path names a program where the system keeps its programs.
fn in_program_folder(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(folder, _)| folder.ends_with("bin") && folder.starts_with('/'))
}

/// What reads a file that is started by its name: its first line says so, or its ending.
fn reader_of(path: &str, text: &str) -> Option<ReadBy> {
    let program = match text.strip_prefix("#!") {
        Some(rest) => {
            let line = rest.lines().next().unwrap_or_default();
            let mut words = line.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains('='));
            let first = program_name(words.next().unwrap_or_default());
            if first == "env" { program_name(words.next().unwrap_or_default()) } else { first }
        }
        None => {
            let name = program_name(path);
            match name.rsplit_once('.').map(|(_, ending)| ending) {
                Some("py") => "python".to_owned(),
                Some("js" | "mjs" | "cjs" | "ts") => "node".to_owned(),
                Some("pl") => "perl".to_owned(),
                Some("rb") => "ruby".to_owned(),
                Some("php") => "php".to_owned(),
                _ => "sh".to_owned(),
            }
        }
    };
    match super::carriers::language(&program) {
        Some(language) => Some(ReadBy::Language(language)),
        None if super::carriers::is_shell(&program) => Some(ReadBy::Shell),
        None => None,
    }
}
