//! Values that a program runs: of options (`tar --to-command`), of variables (`GIT_PAGER`), of git's settings, and the
//! small languages in which editors, debuggers and stream editors start commands.
//!
//! The program itself stays in the list; what it would run enters the list behind it, carried by [`Via::Setting`].

use super::carriers::value_of;
use super::scripts::ReadBy;
use super::walk::{Reader, Scope};
use super::{CodeSource, Command, Redirect, RedirectKind, Stdin, Via, Word};

/// How a value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    /// As shell text.
    Shell,
    /// Commands of vi and its like.
    Ex,
    /// Emacs Lisp.
    Lisp,
    /// Commands of a debugger.
    Debugger,
    /// Tcl, as `expect` reads it.
    Tcl,
    /// Another language, of which only plain calls with texts are read.
    Calls,
    /// Statements of a database, and the commands of its client.
    Sql,
    /// `Name=value` of ssh's settings.
    SshSetting,
    /// `exec=text`
    Checkpoint,
    /// A file that is loaded first, in the language of the program.
    Module,
}

/// Programs, their options whose value is run, and how it is read. An option of a letter may have its value in the same word.
const OPTIONS: &[(&str, &str, Reads)] = &[
    (
        "tar gtar bsdtar",
        "--to-command --use-compress-program -I --rsh-command --info-script --new-volume-script",
        Reads::Shell,
    ),
    ("tar gtar", "--checkpoint-action", Reads::Checkpoint),
    ("sort gsort", "--compress-program", Reads::Shell),
    ("split gsplit", "--filter", Reads::Shell),
    ("rg ripgrep", "--pre --hostname-bin", Reads::Shell),
    ("man", "-P --pager", Reads::Shell),
    ("fzf sk", "--preview", Reads::Shell),
    ("entr", "-s", Reads::Shell),
    ("sg", "-c", Reads::Shell),
    ("nodemon", "-x --exec", Reads::Shell),
    ("zip", "-TT --unzip-command", Reads::Shell),
    ("rsync", "-e --rsh", Reads::Shell),
    ("ssh scp sftp mosh autossh", "-o", Reads::SshSetting),
    ("tcpdump", "-z", Reads::Shell),
    ("wget", "--use-askpass", Reads::Shell),
    ("vim vi nvim ex view gvim vimdiff", "-c --cmd", Reads::Ex),
    ("emacs emacsclient", "--eval -eval -e --execute", Reads::Lisp),
    (
        "gdb lldb rust-gdb rust-lldb",
        "-ex -eval-command --eval-command -iex --init-eval-command -o --one-line -O",
        Reads::Debugger,
    ),
    ("expect", "-c", Reads::Tcl),
    (
        "julia Rscript R elixir groovy scala guile bb clojure swift crystal jshell",
        "-e -E -c --eval --execute --expr",
        Reads::Calls,
    ),
    ("node tsx ts-node", "-r --require --import --loader --experimental-loader", Reads::Module),
];

/// Programs, their options that name a file of such commands (`.`: the first operand), and how the file is read.
const FILES: &[(&str, &str, Reads)] = &[
    ("vim vi nvim ex", "-S -u -s", Reads::Ex),
    ("gdb rust-gdb", "-x --command", Reads::Debugger),
    ("lldb rust-lldb", "-s --source", Reads::Debugger),
    ("emacs", "-l --load --script", Reads::Lisp),
    ("expect", "-f .", Reads::Tcl),
    ("tclsh wish", ".", Reads::Tcl),
    ("Rscript julia elixir groovy guile bb clojure swift scala crystal", ".", Reads::Calls),
    ("at batch", "-f", Reads::Shell),
    ("psql", "-f --file", Reads::Sql),
];

/// Variables whose value a program runs as shell text.
const VARIABLES: &[&str] = &[
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_PAGER",
    "PAGER",
    "MANPAGER",
    "SYSTEMD_PAGER",
    "PSQL_PAGER",
    "DELTA_PAGER",
    "BAT_PAGER",
    "AWS_PAGER",
    "GH_PAGER",
    "EDITOR",
    "VISUAL",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "SUDO_EDITOR",
    "SYSTEMD_EDITOR",
    "KUBE_EDITOR",
    "GH_EDITOR",
    "HGEDITOR",
    "SVN_EDITOR",
    "PSQL_EDITOR",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "BROWSER",
    "PROMPT_COMMAND",
    "RSYNC_RSH",
    "CVS_RSH",
    "FZF_DEFAULT_COMMAND",
    "FZF_PREVIEW_COMMAND",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
];

/// Variables that name a file which is run first, and the language of the file.
const STARTUP: &[(&str, ReadBy)] =
    &[("BASH_ENV", ReadBy::Shell), ("ENV", ReadBy::Shell), ("PYTHONSTARTUP", ReadBy::Language("python"))];

/// Settings of git whose value is run, with `*` for any name.
const GIT_SETTINGS: &[&str] = &[
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.askpass",
    "core.gitproxy",
    "core.alternaterefscommand",
    "sequence.editor",
    "diff.external",
    "interactive.difffilter",
    "gpg.program",
    "uploadpack.packobjectshook",
    "pager.*",
    "alias.*",
    "credential.helper",
    "credential.*.helper",
    "diff.*.command",
    "diff.*.textconv",
    "merge.*.driver",
    "filter.*.clean",
    "filter.*.smudge",
    "filter.*.process",
    "difftool.*.cmd",
    "difftool.*.path",
    "mergetool.*.cmd",
    "mergetool.*.path",
    "gpg.*.program",
    "tar.*.command",
    "trailer.*.command",
    "trailer.*.cmd",
    "sendemail.*cmd",
    "man.*.cmd",
    "browser.*.cmd",
    "remote.*.uploadpack",
    "remote.*.receivepack",
];

impl Reader<'_> {
    /// Follows what the options of a command hand over.
    pub(super) fn handed(&mut self, command: &Command, scope: &Scope) {
        let program = command.program();
        for (_, options, reads) in OPTIONS.iter().filter(|(programs, ..)| programs.split(' ').any(|one| one == program))
        {
            for option in options.split(' ') {
                for value in values_of(command.arguments(), option) {
                    self.value(option, &value, *reads, command, scope);
                }
            }
        }
        for (_, options, reads) in FILES.iter().filter(|(programs, ..)| programs.split(' ').any(|one| one == program)) {
            for option in options.split(' ') {
                let files = match option {
                    "." => command
                        .arguments()
                        .iter()
                        .find(|word| !word.text.starts_with('-'))
                        .cloned()
                        .into_iter()
                        .collect(),
                    option => values_of(command.arguments(), option),
                };
                files.iter().for_each(|file| self.value_in(file, *reads, command, scope));
            }
        }
        let editor = matches!(program.as_str(), "vim" | "vi" | "nvim" | "ex" | "view" | "gvim" | "ed");
        let pager = matches!(program.as_str(), "less" | "more" | "most");
        for word in command.arguments().iter().filter(|_| editor || pager) {
            if let Some(text) = word.text.strip_prefix('+').filter(|text| editor || text.starts_with('!')) {
                self.value("+", &Word { text: text.to_owned(), ..word.clone() }, Reads::Ex, command, scope);
            }
        }
        let given = match &command.stdin {
            Stdin::Text { text, known } => Some(Word { known: *known, ..Word::literal(text.clone()) }),
            stdin => self.arriving(stdin, 0).map(|produced| Word::literal(produced.text)),
        };
        match program.as_str() {
            "ex" | "ed" | "vim" | "vi" => {
                given.iter().for_each(|text| self.value("commands", text, Reads::Ex, command, scope));
            }
            "gdb" | "lldb" => {
                given.iter().for_each(|text| self.value("commands", text, Reads::Debugger, command, scope))
            }
            "julia" | "R" | "elixir" | "groovy" | "guile" | "jshell" => {
                given.iter().for_each(|text| self.value("commands", text, Reads::Calls, command, scope));
            }
            "expect" | "tclsh" => {
                given.iter().for_each(|text| self.value("commands", text, Reads::Tcl, command, scope))
            }
            "sed" | "gsed" => self.stream_editor(command, scope),
            "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlite" | "duckdb" => {
                let texts: Vec<Word> = command.arguments().iter().cloned().chain(given).collect();
                texts.iter().for_each(|text| self.client(text, command, scope));
                let read = |word: &Word| {
                    let file = [".read ", "\\i ", "source "].iter().find_map(|start| word.text.strip_prefix(start))?;
                    Some(Word { text: file.trim().to_owned(), ..word.clone() })
                };
                let mut files: Vec<Word> = command.arguments().iter().filter_map(read).collect();
                if let Stdin::File(file) = &command.stdin {
                    files.push(file.clone());
                }
                files.iter().for_each(|file| self.value_in(file, Reads::Sql, command, scope));
            }
            "npm" if command.arguments().first().is_some_and(|word| word.text == "pkg") => {
                for word in command.arguments() {
                    if let Some((key, text)) = word.text.split_once('=').filter(|(key, _)| key.starts_with("scripts."))
                    {
                        let text = Word { text: text.to_owned(), ..word.clone() };
                        self.setting(key, &text, command, scope);
                    }
                }
            }
            _ => {}
        }
    }

    /// A file of commands in one of the small languages.
    fn value_in(&mut self, file: &Word, reads: Reads, command: &Command, scope: &Scope) {
        let Some((stored, known)) = self.run_text(command, file) else { return };
        let text = Word { known, ..Word::literal(stored.text) };
        self.within(&file.text, stored.origin, |reader| reader.value(&file.text, &text, reads, command, scope));
    }

    fn value(&mut self, name: &str, value: &Word, reads: Reads, command: &Command, scope: &Scope) {
        let acts = match reads {
            Reads::Shell => return self.setting(name, value, command, scope),
            Reads::Module => {
                self.loaded(value, ReadBy::Language("node"), command, scope);
                return;
            }
            Reads::Checkpoint => {
                value.text.strip_prefix("exec=").map(|text| Act::Shell(text.to_owned())).into_iter().collect()
            }
            Reads::SshSetting => ssh_command(&value.text).map(Act::Shell).into_iter().collect(),
            Reads::Ex => editor(&value.text),
            Reads::Lisp => lisp(&value.text),
            Reads::Debugger => debugger(&value.text),
            Reads::Tcl => tcl(&value.text),
            Reads::Sql => {
                self.client(value, command, scope);
                let stdin = Stdin::Text { text: value.text.clone(), known: value.known };
                self.push(Command { words: vec![Word::literal("sql")], stdin, ..self.bare(name, command) });
                return;
            }
            Reads::Calls => calls(&value.text).into_iter().chain(lisp(&value.text)).collect(),
        };
        self.acts(name, acts, value.known, command, scope);
    }

    fn acts(&mut self, name: &str, acts: Vec<Act>, known: bool, command: &Command, scope: &Scope) {
        for act in acts {
            match act {
                Act::Shell(text) => self.setting(name, &Word { known, ..Word::literal(text) }, command, scope),
                Act::Words(words) => {
                    let words = words.into_iter().map(|text| Word { known, ..Word::literal(text) }).collect();
                    let inner = Command { words, ..self.bare(name, command) };
                    self.run(inner, &mut scope.clone(), false);
                }
                Act::File(kind, text) => {
                    let redirects = vec![Redirect { kind, target: Word { known, ..Word::literal(text) } }];
                    self.push(Command { redirects, ..self.bare(name, command) });
                }
                Act::Program(language, text) => {
                    self.follow_program(language, &text, known, &[], &self.bare(name, command), &mut scope.clone());
                }
                Act::Computed => {
                    let code_from = Some(CodeSource::Computed);
                    self.push(Command { words: command.words.clone(), code_from, ..self.bare(name, command) });
                }
            }
        }
    }

    fn bare(&self, name: &str, command: &Command) -> Command {
        let mut bare = Command {
            words: Vec::new(),
            redirects: Vec::new(),
            assignments: Vec::new(),
            stdin: Stdin::None,
            code_from: None,
            inline: None,
            ..command.clone()
        };
        bare.via.push(Via::Setting(name.to_owned()));
        bare
    }

    /// Shell text that a program runs by itself.
    pub(super) fn setting(&mut self, name: &str, text: &Word, command: &Command, scope: &Scope) {
        // Nothing is known of a value that is one variable, except where it comes from.
        if !text.known && text.text.starts_with('$') && text.output_of.is_none() {
            return;
        }
        let mut inner = self.inner_scope(command, scope, Via::Setting(name.to_owned()));
        inner.stdin = Stdin::None;
        inner.directory = command.directory.clone();
        inner.uncertain |= !text.known;
        let origin = self.origin;
        // Keys sent to a program, or words of another language: what is no shell text runs nothing.
        self.within(&format!("{name} {}", text.text), origin, |reader| {
            reader.script(&text.text, &mut inner);
        });
    }

    /// A file that is loaded before anything else. One that lies where anybody may write, and cannot be read, could do anything.
    fn loaded(&mut self, file: &Word, by: ReadBy, command: &Command, scope: &Scope) {
        if self.run_text(command, file).is_some() {
            self.file(file, &[], by, command, &mut scope.clone());
        } else if is_anywhere(&file.text) {
            self.acts("startup", vec![Act::Computed], true, command, scope);
        }
    }

    /// Follows what a variable hands over to the programs that see it.
    pub(super) fn variable_set(&mut self, name: &str, value: &Word, command: &Command, scope: &Scope) {
        if value.text.is_empty() {
            return;
        }
        if VARIABLES.contains(&name) {
            self.setting(name, value, command, scope);
        } else if let Some((_, by)) = STARTUP.iter().find(|(startup, _)| *startup == name) {
            if value.text.contains('/') {
                self.loaded(value, *by, command, scope);
            }
        } else if matches!(name, "PS0" | "PS1" | "PS2" | "PS4") && value.text.contains(['$', '`']) {
            let shown = Word { text: format!(": \"{}\"", value.text.replace('"', "")), ..value.clone() };
            self.setting(name, &shown, command, scope);
        } else if name == "LESSOPEN" || name == "LESSCLOSE" {
            let text = value.text.trim_start_matches(['|', '-']).to_owned();
            self.setting(name, &Word { text, ..value.clone() }, command, scope);
        } else if matches!(name, "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES") {
            if value.text.split([':', ' ']).any(is_anywhere) {
                self.acts(name, vec![Act::Computed], true, command, scope);
            }
        } else if name == "NODE_OPTIONS" {
            let words: Vec<Word> = value.text.split_whitespace().map(Word::literal).collect();
            for option in ["-r", "--require", "--import", "--loader", "--experimental-loader"] {
                for file in values_of(&words, option) {
                    self.loaded(&file, ReadBy::Language("node"), command, scope);
                }
            }
        } else if matches!(name, "RUBYOPT" | "PERL5OPT") {
            let loads =
                |word: &str| word.strip_prefix("-r").or_else(|| word.strip_prefix("-I")).is_some_and(is_anywhere);
            if value.text.split_whitespace().any(loads) {
                self.acts(name, vec![Act::Computed], true, command, scope);
            }
        }
    }

    /// The variables that are set for a command alone.
    pub(super) fn variables_of(&mut self, command: &Command, scope: &Scope) {
        for (name, value) in &command.assignments {
            self.variable_set(name, value, command, scope);
            // `GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=text`
            if let Some(number) = name.strip_prefix("GIT_CONFIG_KEY_") {
                let wanted = format!("GIT_CONFIG_VALUE_{number}");
                let given = command.assignments.iter().find(|(name, _)| *name == wanted);
                if let Some((_, text)) = given {
                    self.git_setting(&value.text, text, command, scope);
                }
            }
        }
    }

    /// A setting of git: `-c key=value`, `git config key value`.
    pub(super) fn git_setting(&mut self, key: &str, value: &Word, command: &Command, scope: &Scope) {
        let key = key.to_ascii_lowercase();
        let is_switch = matches!(
            value.text.to_ascii_lowercase().as_str(),
            "" | "true" | "false" | "0" | "1" | "yes" | "no" | "on" | "off"
        );
        if key == "core.hookspath" && value.text != "/dev/null" && is_anywhere(&value.text) {
            self.acts(&key, vec![Act::Computed], true, command, scope);
            return;
        }
        if is_switch || !GIT_SETTINGS.iter().any(|setting| is_setting(setting, &key)) {
            return;
        }
        let by_name = key.starts_with("alias.") || key.starts_with("credential.");
        let text = match value.text.strip_prefix('!') {
            Some(text) => text,
            None if by_name && !value.text.starts_with('/') => return,
            None => &value.text,
        };
        self.setting(&key, &Word { text: text.to_owned(), ..value.clone() }, command, scope);
    }

    /// `sed`: commands that run programs or write files.
    fn stream_editor(&mut self, command: &Command, scope: &Scope) {
        let arguments = command.arguments();
        let mut programs: Vec<Word> =
            ["-e", "--expression"].iter().flat_map(|option| values_of(arguments, option)).collect();
        let from_file = arguments.iter().any(|word| word.text.starts_with("-f") || word.text.starts_with("--file"));
        if programs.is_empty() && !from_file {
            programs.extend(arguments.iter().find(|word| !word.text.starts_with('-')).cloned());
        }
        for file in ["-f", "--file"].iter().flat_map(|option| values_of(arguments, option)).collect::<Vec<_>>() {
            programs.extend(self.run_text(command, &file).map(|(stored, _)| Word::literal(stored.text)));
        }
        for program in programs {
            self.acts("sed", sed(&program.text), program.known, command, scope);
        }
    }

    /// A client of a database: the commands with which it starts programs.
    fn client(&mut self, text: &Word, command: &Command, scope: &Scope) {
        for line in text.text.lines().map(str::trim) {
            let found = ["\\!", ".shell ", ".system ", "system "].iter().find_map(|start| line.strip_prefix(start));
            if let Some(rest) = found {
                self.setting(
                    "client",
                    &Word { text: rest.trim_end_matches(';').to_owned(), ..text.clone() },
                    command,
                    scope,
                );
            }
        }
    }
}

/// What a value of a small language does.
enum Act {
    Shell(String),
    Words(Vec<String>),
    File(RedirectKind, String),
    Program(&'static str, String),
    Computed,
}

/// The values of an option, wherever they stand.
fn values_of(arguments: &[Word], option: &str) -> Vec<Word> {
    let mut values = Vec::new();
    let short = option.len() == 2 && !option.starts_with("--");
    for (at, word) in arguments.iter().enumerate() {
        if word.text == option {
            values.extend(arguments.get(at.saturating_add(1)).cloned());
        } else if let Some(rest) = word.text.strip_prefix(option) {
            let value = if short { Some(rest.strip_prefix('=').unwrap_or(rest)) } else { rest.strip_prefix('=') };
            values.extend(value.map(|value| Word { text: value.to_owned(), ..word.clone() }));
        }
    }
    values
}

/// A path that is absolute and lies outside of what the system or its packages install.
fn is_anywhere(path: &str) -> bool {
    let installed = ["/usr/", "/lib", "/opt/", "/nix/", "/snap/", "/System/", "/Library/", "/dev/", "/app/"];
    path.starts_with(['/', '~']) && !installed.iter().any(|folder| path.starts_with(folder))
}

/// Whether a key is the setting, which may hold one `*`.
fn is_setting(setting: &str, key: &str) -> bool {
    match setting.split_once('*') {
        Some((before, after)) => {
            key.len() >= before.len().saturating_add(after.len()) && key.starts_with(before) && key.ends_with(after)
        }
        None => key == setting,
    }
}

/// The command in a setting of ssh.
fn ssh_command(text: &str) -> Option<String> {
    let (name, value) = text.split_once(['=', ' '])?;
    let runs = ["proxycommand", "localcommand", "knownhostscommand"];
    let value = value.trim();
    (runs.contains(&name.trim().to_ascii_lowercase().as_str()) && value != "none").then(|| value.to_owned())
}

/// Commands of vi: `!text`, `w file`, `call system('text')`, `call delete('folder', 'rf')`.
fn editor(text: &str) -> Vec<Act> {
    let mut acts = Vec::new();
    for line in text.lines() {
        let mut line = line.trim().trim_start_matches(':');
        for silent in ["silent! ", "silent ", "sil! ", "sil "] {
            line = line.strip_prefix(silent).unwrap_or(line);
        }
        let command = line.trim_start_matches(|c: char| {
            c.is_ascii_digit() || matches!(c, '%' | ',' | '$' | '.' | '+' | '-' | '\'' | ' ')
        });
        if let Some(rest) = command.strip_prefix('!') {
            acts.push(Act::Shell(rest.to_owned()));
            continue;
        }
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        let rest = rest.trim();
        match name.trim_end_matches('!') {
            "r" | "read" | "w" | "write" if rest.starts_with('!') => {
                acts.push(Act::Shell(rest.trim_start_matches('!').to_owned()))
            }
            "w" | "write" | "wq" | "x" | "sav" | "saveas" | "up" | "update" if !rest.is_empty() => {
                let kind = if rest.starts_with(">>") { RedirectKind::Append } else { RedirectKind::Write };
                let file = rest.trim_start_matches('>').split('|').next().unwrap_or_default().trim();
                acts.push(Act::File(kind, file.to_owned()));
            }
            "ter" | "term" | "terminal" => acts.push(Act::Shell(rest.to_owned())),
            "py" | "py3" | "python" | "python3" => acts.push(Act::Program("python", rest.to_owned())),
            "lua" => acts.push(Act::Program("lua", rest.to_owned())),
            _ => {}
        }
        acts.extend(calls(command));
    }
    acts
}

/// Calls of functions with texts as their arguments, in a line of an editor.
fn calls(line: &str) -> Vec<Act> {
    let mut acts = Vec::new();
    for (at, _) in line.match_indices('(') {
        let (before, after) = line.split_at(at);
        let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        let texts = quoted(after.split(')').next().unwrap_or_default());
        let Some(first) = texts.first().cloned() else { continue };
        match name {
            "system" | "systemlist" | "jobstart" | "job_start" | "termopen" | "exec" | "execute" | "shell" | "sh"
            | "cmd" => {
                acts.push(Act::Shell(first));
            }
            "rm" | "unlink" | "rm_rf" | "rm_r" | "rmtree" | "deleteRecursively" => {
                acts.push(Act::Words(vec!["rm".into(), "-r".into(), first]));
            }
            "delete" => {
                let all = texts.get(1).is_some_and(|flags| flags.contains('r'));
                acts.push(Act::Words(vec!["rm".into(), if all { "-r".into() } else { "-f".into() }, first]));
            }
            "rename" => acts.push(Act::Words(["mv".to_owned()].into_iter().chain(texts).collect())),
            "writefile" => acts.extend(texts.last().map(|file| Act::File(RedirectKind::Write, file.clone()))),
            _ => {}
        }
    }
    // `run(`text`)` of Julia, `"text".execute()` of Groovy.
    acts.extend(
        line.split("run(`").skip(1).filter_map(|rest| rest.split('`').next()).map(|text| Act::Shell(text.to_owned())),
    );
    if line.contains(".execute()") {
        acts.extend(quoted(line).into_iter().map(Act::Shell));
    }
    acts
}

/// The quoted texts of a line, single or double.
fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'']) {
        let (_, from) = rest.split_at(at);
        let quote = if from.starts_with('"') { '"' } else { '\'' };
        let inner = from.get(1..).unwrap_or_default();
        let Some((value, after)) = inner.split_once(quote) else { break };
        found.push(value.to_owned());
        rest = after;
    }
    found
}

/// Forms of Emacs Lisp that delete, move, write or run.
fn lisp(text: &str) -> Vec<Act> {
    let mut acts = Vec::new();
    for form in text.split('(').skip(1) {
        let form = form.split(')').next().unwrap_or_default();
        let name = form.split_whitespace().next().unwrap_or_default();
        let texts: Vec<String> = form.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        let named = |program: &str, flag: &str| {
            let start = [program, flag].into_iter().filter(|word| !word.is_empty()).map(str::to_owned);
            Act::Words(start.chain(texts.clone()).collect())
        };
        match name {
            _ if texts.is_empty() => {}
            "delete-file" => acts.push(named("rm", "")),
            "delete-directory" => acts.push(named("rm", "-r")),
            "rename-file" => acts.push(named("mv", "")),
            "copy-file" => acts.push(named("cp", "")),
            "shell-command"
            | "shell-command-to-string"
            | "async-shell-command"
            | "call-process-shell-command"
            | "compile"
            | "system" => {
                acts.extend(texts.first().cloned().map(Act::Shell));
            }
            "call-process" | "process-file" => acts.push(Act::Words(texts.clone())),
            "start-process" => acts.push(Act::Words(texts.iter().skip(1).cloned().collect())),
            "write-region" | "write-file" => {
                acts.extend(texts.last().map(|file| Act::File(RedirectKind::Write, file.clone())))
            }
            _ => {}
        }
    }
    acts
}

/// Commands of a debugger that leave it.
fn debugger(text: &str) -> Vec<Act> {
    let mut acts = Vec::new();
    for line in text.lines().map(str::trim) {
        let shell = ["shell ", "!", "platform shell ", "make "].iter().find_map(|start| line.strip_prefix(start));
        let python = ["python ", "py ", "script "].iter().find_map(|start| line.strip_prefix(start));
        acts.extend(shell.map(|text| Act::Shell(text.to_owned())));
        acts.extend(python.map(|text| Act::Program("python", text.to_owned())));
        acts.extend(
            line.strip_prefix("pipe ")
                .and_then(|rest| rest.split_once('|'))
                .map(|(_, text)| Act::Shell(text.to_owned())),
        );
    }
    acts
}

/// Commands of Tcl that start programs or delete files.
fn tcl(text: &str) -> Vec<Act> {
    let mut acts = Vec::new();
    for part in text.split(['\n', ';', '[', ']', '{', '}']).map(str::trim) {
        let (name, rest) = part.split_once(' ').unwrap_or((part, ""));
        let rest =
            rest.trim().trim_start_matches("-noecho ").trim_start_matches("-ignorestderr ").trim_start_matches("-- ");
        match name {
            "spawn" | "exec" | "system" if !rest.is_empty() => acts.push(Act::Shell(rest.to_owned())),
            "file" if rest.starts_with("delete ") => acts.push(Act::Shell(rest.replacen("delete", "rm -r", 1))),
            _ => {}
        }
    }
    acts
}

/// Commands of `sed` that run programs (`e`, `s///e`) or write files (`w`, `W`, `s///w`).
fn sed(program: &str) -> Vec<Act> {
    let mut acts = Vec::new();
    let mut rest = program;
    // Each round takes at least one character.
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let line = after.lines().next().unwrap_or_default();
        let behind_line = || after.split_once('\n').map_or("", |(_, rest)| rest);
        match c {
            '/' => rest = delimited(after, '/').1,
            '\\' => {
                let mark = after.chars().next().unwrap_or('/');
                rest = delimited(after.get(mark.len_utf8()..).unwrap_or_default(), mark).1;
            }
            'e' => {
                let text = line.trim();
                acts.push(if text.is_empty() { Act::Computed } else { Act::Shell(text.to_owned()) });
                rest = behind_line();
            }
            'w' | 'W' => {
                acts.push(Act::File(RedirectKind::Write, line.trim().to_owned()));
                rest = behind_line();
            }
            'r' | 'R' => {
                acts.push(Act::File(RedirectKind::Read, line.trim().to_owned()));
                rest = behind_line();
            }
            'a' | 'i' | 'c' | '#' | ':' => rest = behind_line(),
            'b' | 't' | 'T' => rest = after.trim_start_matches(|c: char| !matches!(c, ';' | '\n' | '}')),
            's' | 'y' => {
                let Some(mark) = after.chars().next() else { break };
                let (_, behind) = delimited(after.get(mark.len_utf8()..).unwrap_or_default(), mark);
                let (replacement, behind) = delimited(behind, mark);
                let flags: String = behind
                    .chars()
                    .take_while(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | 'e'))
                    .collect();
                rest = behind.get(flags.len()..).unwrap_or_default();
                if c == 's' && flags.contains('e') {
                    acts.push(Act::Shell(replacement.to_owned()));
                    acts.push(Act::Computed);
                }
                if let Some(file) = rest.strip_prefix('w').filter(|_| c == 's') {
                    acts.push(Act::File(
                        RedirectKind::Write,
                        file.lines().next().unwrap_or_default().trim().to_owned(),
                    ));
                    rest = file.split_once('\n').map_or("", |(_, rest)| rest);
                }
            }
            _ => rest = after,
        }
    }
    acts
}

/// The text before a mark that is not escaped, and what follows.
fn delimited(text: &str, mark: char) -> (&str, &str) {
    let mut escaped = false;
    let mut class = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == '[' && mark == '/' {
            class = text.get(at..).is_some_and(|rest| rest.contains(']'));
        } else if c == ']' {
            class = false;
        } else if c == mark && !class {
            let (before, after) = text.split_at(at);
            return (before, after.get(mark.len_utf8()..).unwrap_or_default());
        }
    }
    (text, "")
}

/// The words of a terminal multiplexer that are run: keys that are sent, or the command of a new window.
pub(super) fn terminal_text(program: &str, arguments: &[Word]) -> Option<Word> {
    let verbs = [
        "new",
        "new-session",
        "new-window",
        "neww",
        "split-window",
        "splitw",
        "respawn-pane",
        "respawn-window",
        "run-shell",
        "run",
        "if-shell",
        "pipe-pane",
    ];
    let keys = ["send-keys", "send"];
    let texts = |at: usize, values: &str| -> Vec<Word> {
        let rest = arguments.get(at..).unwrap_or_default();
        let from = super::carriers::options(rest, values, &[]);
        rest.get(from..).unwrap_or_default().to_vec()
    };
    let (words, glue) = if program == "screen" {
        match arguments.iter().position(|word| matches!(word.text.as_str(), "stuff" | "exec")) {
            Some(at) => (texts(at.saturating_add(1), ""), ""),
            None => (texts(0, "StcheTp"), " "),
        }
    } else {
        let at = arguments
            .iter()
            .position(|word| verbs.contains(&word.text.as_str()) || keys.contains(&word.text.as_str()))?;
        let sends = arguments.get(at).is_some_and(|word| keys.contains(&word.text.as_str()));
        (texts(at.saturating_add(1), "tsncFxyeN"), if sends { "" } else { " " })
    };
    if words.is_empty() {
        return None;
    }
    let spelled = |word: &Word| match word.text.as_str() {
        "Enter" | "C-m" | "C-c" | "KPEnter" if glue.is_empty() => "\n".to_owned(),
        "Space" if glue.is_empty() => " ".to_owned(),
        text => text.replace("\\n", "\n").replace("^M", "\n"),
    };
    let text: Vec<String> = words.iter().map(spelled).collect();
    Some(Word { known: words.iter().all(|word| word.known), ..Word::literal(text.join(glue)) })
}

/// `-c key=value` of git, and of `git clone`.
pub(super) fn git_pairs(arguments: &[Word]) -> Vec<(String, Word)> {
    let mut pairs: Vec<(String, Word)> = Vec::new();
    for value in values_of(arguments, "-c").into_iter().chain(value_of(arguments, &["--config"])) {
        if let Some((key, text)) = value.text.split_once('=') {
            pairs.push((key.to_owned(), Word { text: text.to_owned(), ..value.clone() }));
        }
    }
    if let Some(at) = arguments.iter().position(|word| word.text == "config") {
        let rest = arguments.get(at.saturating_add(1)..).unwrap_or_default();
        let words: Vec<&Word> = rest.iter().filter(|word| !word.text.starts_with('-') && word.text != "set").collect();
        if let [key, value, ..] = words.as_slice() {
            pairs.push((key.text.clone(), (*value).clone()));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::{Dialect, read};

    /// What runs behind the first command.
    fn behind(text: &str) -> Vec<String> {
        let commands = read(text, Dialect::Posix).commands;
        let spelled = commands.iter().filter(|command| !command.via.is_empty()).map(|command| {
            let words = command.words.iter().map(|word| word.text.clone());
            words
                .chain(command.redirects.iter().map(|redirect| format!(">{}", redirect.target.text)))
                .collect::<Vec<_>>()
                .join(" ")
        });
        spelled.collect()
    }

    #[test]
    fn a_value_that_a_program_runs_is_read_as_what_it_is() {
        for text in [
            "tar xf a.tar --to-command='rm -rf x'",
            "tar cf a.tar --checkpoint-action=exec='rm -rf x' b",
            "GIT_PAGER='rm -rf x' git log",
            "git -c core.sshCommand='rm -rf x' fetch",
            "ssh -oProxyCommand='rm -rf x' h",
            "vim -es -c '!rm -rf x'",
            "gdb -batch -ex 'shell rm -rf x'",
            "expect -c 'spawn rm -rf x'",
            "emacs --batch --eval '(shell-command \"rm -rf x\")'",
            "sed '1e rm -rf x' f",
            "tmux send-keys -t a rm Space '-rf x' Enter",
            "psql -c '\\! rm -rf x'",
        ] {
            assert!(behind(text).contains(&"rm -rf x".to_string()), "{text}: {:?}", behind(text));
        }
    }

    #[test]
    fn commands_of_sed_are_told_from_its_data() {
        assert_eq!(behind("sed -n '1w out' f"), [">out"]);
        assert_eq!(behind("sed 's/a/b/w out' f"), [">out"]);
        for text in [
            "sed 's/w/e/g;/we/d' f",
            "sed -i '3a write me' f",
            "sed 's|e x|w y|' f",
            "sed -n '/[/]e/p' f",
            "sed ':e;N;$!be' f",
        ] {
            assert!(behind(text).is_empty(), "{text}: {:?}", behind(text));
        }
    }

    #[test]
    fn a_switch_or_a_name_is_no_command() {
        for text in
            ["git -c core.fsmonitor=false status", "git config alias.st status", "LD_PRELOAD=libx.so a", "ENV=dev make"]
        {
            assert!(behind(text).is_empty(), "{text}: {:?}", behind(text));
        }
    }
}
