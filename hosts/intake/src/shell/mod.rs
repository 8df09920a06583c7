//! Shell text, read as a shell reads it.
//!
//! The one idea: whatever the text is wrapped in, there is a flat list of simple commands that
//! would run. [`read`] returns that list, and with each command what is known about its words,
//! where its input comes from, which programs carried it (`sudo`, `xargs`, `ssh host`, ...) and
//! in which folder it runs. It judges nothing: what a command does is for a later stage.
//!
//! What a shell would only find out while running (an unset variable, the output of a command)
//! stays in the text as it was spelled, and the word says that it is not [`Word::known`]. Words
//! inside data (quotes, here-documents for `cat`, arguments of `echo`) stay data.
//!
//! How a text becomes commands:
//!
//! 1. `scan` bounds length, nesting and cost before any recursive parser sees the text;
//! 2. the bash grammar of `brush-parser` gives a syntax tree, which `walk` follows in the order
//!    of execution with the variables, functions and folder known at that point;
//! 3. `word` removes quotes and expands what is known;
//! 4. `carriers` unwraps programs that run other programs, `sources` says where code handed to
//!    an interpreter comes from, and `inline` reads programs in other languages;
//! 5. `handed` follows values that programs run (options, variables, settings), `scripts` and `recipes` files that
//!    the text runs, as far as they are written by it or [`Files`] gives them;
//! 6. what the grammar cannot read goes to `fallback`, which splits on separators so that no
//!    command is lost.

mod carriers;
mod fallback;
mod find;
mod handed;
mod inline;
mod recipes;
mod scan;
mod scripts;
mod sources;
mod walk;
mod windows;
mod word;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use find::Entry;
pub(crate) use walk::quote;
pub(crate) use windows::dialect as windows_dialect;

/// Texts longer than this many bytes are not parsed, only read by the fallback.
pub const MAX_TEXT: usize = 64 * 1024;
/// Nesting deeper than this is not parsed, only read by the fallback.
pub const MAX_DEPTH: usize = 40;
/// Reading stops after this many commands.
pub const MAX_COMMANDS: usize = 2000;

/// Which shell the text is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// bash, and the shells that share its grammar.
    Posix,
    /// Windows PowerShell and `pwsh`.
    PowerShell,
    /// `cmd.exe`.
    Cmd,
}

/// What a text would run.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The simple commands, in the order of the text; a command inside a substitution comes
    /// before the command whose words contain it.
    pub commands: Vec<Command>,
    /// Set when the text, or a text inside it, could not be read fully. The commands then come
    /// from a conservative reading and may contain words that would not have run.
    pub unreadable: Option<Unreadable>,
    /// A function that starts itself again in a pipe or in the background, and is called.
    pub fork_bomb: bool,
}

/// Why a text could not be read fully.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Cut off, or outside the grammar.
    SyntaxError,
    /// More than [`MAX_TEXT`] bytes.
    TooLong,
    /// Nested deeper than [`MAX_DEPTH`], or nested so that parsing would take too long.
    TooDeep,
    /// More than [`MAX_COMMANDS`] commands.
    TooMany,
    /// Contains NUL or other control bytes that no shell text has.
    Binary,
}

/// One simple command that would run.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// Assignments written before the program (`A=b make`), or given by `env A=b`.
    pub assignments: Vec<(String, Word)>,
    /// Variables assigned earlier in the same text, exported or not, that the program may see.
    pub environment: Arc<[(String, Word)]>,
    /// Program first, as written; empty when the text only redirects (`> file`).
    pub words: Vec<Word>,
    /// Redirects over files, in order; duplications of descriptors (`2>&1`) are left out.
    pub redirects: Vec<Redirect>,
    /// Where standard input comes from.
    pub stdin: Stdin,
    /// What carried the command, outermost first.
    pub via: Vec<Via>,
    /// The folder in which the command runs.
    pub directory: Directory,
    /// An earlier `cd` may have failed without stopping the text (`cd x; rm y`), so the folder
    /// before it is possible, too.
    pub directory_assumed: bool,
    /// The words are those of PowerShell or cmd, where a backslash separates folders.
    pub backslashes: bool,
    /// Runs in the background (`&`).
    pub background: bool,
    /// How the command follows the one before it.
    pub joined: Joined,
    /// Paths at which no file stands when the command runs, because a test before it says so: `[ -f x ] || cp y x`.
    pub absent: Vec<Word>,
    /// Set when the program is an interpreter that runs code which does not stand in a file
    /// named by its words: where that code comes from.
    pub code_from: Option<CodeSource>,
    /// A program in another language, given as text.
    pub inline: Option<Inline>,
    /// Where the text that the command stands in comes from.
    pub origin: Origin,
}

/// Where a text comes from, and so how much of it has to be known. What a file leaves open is no reason by itself:
/// most programs name their files by values that only a run would give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The text that was asked about.
    #[default]
    Text,
    /// A file that the same text writes.
    Written,
    /// A file that git does not know.
    New,
    /// A file that git knows in another state, or that a tool of the project makes.
    Changed,
}

/// A file that is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// What stands in it.
    pub text: String,
    /// Whose file it is.
    pub origin: Origin,
}

/// Asked about files while a text is read. The reader itself opens none.
pub trait Files {
    /// One name for a file, whatever its spelling.
    fn name(&self, directory: &Directory, path: &Word) -> Option<String>;
    /// A file that is run. `None` where nothing is to be read: it is absent, too long or no text, it lies where only its
    /// owner writes, or git has it committed and unchanged, so that it is the project's own.
    fn stored(&self, directory: &Directory, path: &Word) -> Option<Stored>;
    /// The program that a link leads to, where the link's own name is none.
    fn linked(&self, directory: &Directory, path: &Word) -> Option<String>;
    /// The absolute path of a folder.
    fn folder(&self, directory: &Directory) -> Option<String>;
    /// The root of the repository that a folder lies in, where it is the one of the work.
    fn root(&self, directory: &Directory) -> Option<String>;
    /// What lies below a folder, itself first, each folder before what is in it. `None` where that is too much to look at,
    /// or the folder is not the work's own.
    fn entries(&self, directory: &Directory, folder: &Word) -> Option<Vec<Entry>>;
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The value after quote removal and the expansion of what is known. Parts that are not
    /// known stand as they were spelled.
    pub text: String,
    /// No unresolved variable, substitution or placeholder inside.
    pub known: bool,
    /// An unquoted `*`, `?` or `[`, or a brace list too long to expand.
    pub glob: bool,
    /// Some part was quoted or escaped.
    pub quoted: bool,
    /// The text begins with `~` (or has `=~` or `:~`) that stands for the user's home folder: it
    /// was an unquoted tilde or `$HOME`. Where this is false, a `~` is an ordinary character.
    pub home: bool,
    /// For a word that is not known: the folders beneath which it lies, when that much is
    /// certain (`find notes -exec rm {} \;` gives `notes`). Empty: could be anywhere.
    pub under: Vec<String>,
    /// The spelling in the text.
    pub raw: String,
    /// The value was the current folder at the time, so a later `cd` makes it unknown.
    pub(crate) of_directory: bool,
    /// The output of a command that is not known: what kind of source that command is.
    pub(crate) output_of: Option<CodeSource>,
}

/// A redirect over a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// What is done with the target.
    pub kind: RedirectKind,
    /// The file.
    pub target: Word,
}

/// What a redirect does with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`: the file is emptied first.
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
}

/// Where standard input comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Inherited.
    #[default]
    None,
    /// The output of these commands (positions in [`Script::commands`]).
    Pipe(Vec<usize>),
    /// A here-document or here-string. `known` is false when it contains an expansion whose
    /// value is not known.
    Text {
        /// The text, expanded as far as known.
        text: String,
        /// Nothing in it was left unresolved.
        known: bool,
    },
    /// `< file`
    File(Word),
}

/// Something that carries a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// Raised privileges: the program that raises them (`sudo`, `doas`, `pkexec`, `su`, `runas`).
    Sudo(String),
    /// Runs on another host, as written (`user@host`).
    Remote(String),
    /// Runs in a container or pod, or in a new container of this image.
    Container(String),
    /// A program that only starts another one (`env`, `timeout`, `nohup`, ...).
    Wrapper(String),
    /// A shell with its text as an argument (`bash -c`).
    Shell(String),
    /// `xargs` and `parallel`.
    Xargs,
    /// `find -exec` and its like.
    FindExec,
    /// `( ... )`
    Subshell,
    /// `$( ... )`, backticks, `<( ... )`
    Substitution,
    /// A function of this name, defined in the text.
    Function(String),
    /// The body or condition of a loop.
    Loop,
    /// A branch of `if` or `case`.
    Conditional,
    /// A program in another language, given as text.
    Inline(String),
    /// Decoded from literal text (`base64 -d | sh`).
    Decoded,
    /// `eval`
    Eval,
    /// `trap '...' EXIT`
    Trap,
    /// A file whose text is run: a script, a target of a makefile, a script of a package.
    Script(String),
    /// A value that a program runs: of an option, a variable or a setting.
    Setting(String),
    /// Text on the standard input of this interpreter.
    InterpreterOf(String),
}

/// The folder of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Directory {
    /// Where the text started.
    #[default]
    Unchanged,
    /// This path, relative to where the text started unless absolute. A leading `~` always is
    /// the home folder; a folder that is named so is written `./~`.
    Known(String),
    /// Some folder beneath this absolute path, as `mktemp -d` makes it.
    Beneath(String),
    /// Changed to a place that is not known.
    Unknown,
}

/// How a command follows the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joined {
    /// First, or after `;`, `&` or a newline.
    #[default]
    Sequence,
    /// After `&&`.
    And,
    /// After `||`.
    Or,
    /// After `|`.
    Pipe,
}

/// Where the code of an interpreter comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeSource {
    /// This text, written out in the command line.
    Literal(String),
    /// A download (`curl ... | sh`, or a file that such a command wrote earlier).
    Downloaded,
    /// A decoder (`base64 -d | sh`).
    Decoded,
    /// An installed program, asked for the text with which a shell takes it in (`eval "$(ssh-agent -s)"`).
    Setup,
    /// Some other output, or a value that is not known.
    Computed,
}

/// A program in another language, given as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline {
    /// `python`, `node`, `perl`, `ruby`, `php`, `awk`, `osascript`, `deno`
    pub language: String,
    /// The program.
    pub text: String,
    /// It computes code or names at run time (`eval`, `getattr`, ...), so that the commands read
    /// from it may not be all of them.
    pub opaque: bool,
}

impl Word {
    /// A word whose value is `text`.
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { raw: text.clone(), text, known: true, ..Self::default() }
    }

    /// A word whose value is not known, spelled `raw`.
    pub(crate) fn unknown(raw: impl Into<String>) -> Self {
        let raw = raw.into();
        Self { text: raw.clone(), raw, ..Self::default() }
    }

    /// Known, and not to be expanded further by the shell.
    pub fn is_plain(&self) -> bool {
        self.known && !self.glob
    }
}

impl Command {
    /// The name of the program without its folder, `.exe`, `.cmd`, `.bat` or `.com`; lower case
    /// when it had such an ending. Empty when there is no program.
    pub fn program(&self) -> String {
        self.words.first().map(|word| program_name(&word.text)).unwrap_or_default()
    }

    /// The words after the program.
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// The program that a path names; see [`Command::program`].
pub(crate) fn program_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path);
    let lower = name.to_ascii_lowercase();
    for ending in [".exe", ".cmd", ".bat", ".com"] {
        if let Some(stem) = lower.strip_suffix(ending)
            && !stem.is_empty()
        {
            return stem.to_owned();
        }
    }
    name.to_owned()
}

/// Reads what `text` would run in a shell of this `dialect`.
///
/// Always answers, in bounded time; [`Script::unreadable`] says when the answer is a
/// conservative reading.
///
/// ```
/// use stigmergate_intake::shell::{Dialect, read};
///
/// let script = read("D=notes; cd work && sudo rm -rf \"$D\"", Dialect::Posix);
/// let rm = script.commands.last().expect("a command");
/// assert_eq!(rm.program(), "rm");
/// assert_eq!(rm.words[2].text, "notes");
/// ```
pub fn read(text: &str, dialect: Dialect) -> Script {
    read_in(text, dialect, None, None)
}

/// [`read`], with the files that the text runs, and where it runs if that is a folder of its own: absolute, or beneath the one
/// where the call is made.
pub fn read_with(text: &str, dialect: Dialect, directory: Option<&str>, files: &dyn Files) -> Script {
    read_in(text, dialect, directory, Some(files))
}

fn read_in(text: &str, dialect: Dialect, directory: Option<&str>, files: Option<&dyn Files>) -> Script {
    let mut reader = walk::Reader::new(files);
    let mut scope = walk::Scope::default();
    if let Some(directory) = directory {
        scope.start_in(directory);
    }
    reader.text(text, dialect, &mut scope);
    reader.finish()
}
