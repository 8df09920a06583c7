//! Programs that run other programs, and the shell's own commands that change what follows.
//!
//! [`Reader::run`] looks at the program of a command. A carrier is unwrapped: the command inside
//! enters the list in its place, with the carrier in [`Command::via`]. Everything else enters
//! the list as it is.

use std::sync::Arc;

use super::handed::{git_pairs, terminal_text};
use super::scripts::ReadBy;
use super::walk::{Reader, Scope, Var, quote};
use super::word::here;
use super::{CodeSource, Command, Directory, Inline, RedirectKind, Stdin, Via, Word, program_name};
use super::{inline, sources};

/// An item list from a literal is followed for each of at most this many.
const MAX_ITEMS: usize = 50;

impl Reader<'_> {
    /// Follows a command whose words are expanded. `functions`: whether the program may be a
    /// function of the text.
    pub(super) fn run(&mut self, command: Command, scope: &mut Scope, functions: bool) {
        if !self.step() {
            return;
        }
        if !self.enter(0) {
            self.leave();
            self.push(command);
            return;
        }
        if !(functions && self.call(&command, scope)) {
            self.dispatch(command, scope);
        }
        self.leave();
    }

    fn dispatch(&mut self, mut command: Command, scope: &mut Scope) {
        let Some(first) = command.words.first() else {
            self.note_written(&command);
            self.push(command);
            return;
        };
        if !first.known {
            command.code_from.clone_from(&first.output_of);
            self.push(command);
            return;
        }
        if let Some(source) = self.written_source(&first.text) {
            command.code_from = Some(source);
        }
        if let Some(original) = self.original(&command)
            && let Some(first) = command.words.first_mut()
        {
            first.text = original;
        }
        if self.direct(&command, scope) {
            return;
        }
        if let Some(named) = self.by_its_file(&command) {
            self.run(named, scope, false);
            return;
        }
        let program = command.program();
        self.variables_of(&command, scope);
        self.handed(&command, scope);
        match program.as_str() {
            "cd" | "chdir" | "pushd" => self.change_directory(command, scope),
            "popd" => {
                scope.directory = Directory::Unknown;
                self.push(command);
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(command, scope),
            "unset" => {
                for word in command.arguments() {
                    scope.unset(&word.text);
                }
                self.push(command);
            }
            "alias" => {
                for word in command.arguments() {
                    if let Some((name, text)) = word.text.split_once('=') {
                        Arc::make_mut(&mut scope.aliases).insert(name.to_owned(), text.to_owned());
                    }
                }
                self.push(command);
            }
            "unalias" => {
                Arc::make_mut(&mut scope.aliases).clear();
                self.push(command);
            }
            "read" | "mapfile" | "readarray" | "getopts" => self.read_variables(command, scope),
            "printf" if command.arguments().first().is_some_and(|w| w.text == "-v") => {
                if let Some(name) = command.arguments().get(1) {
                    scope.set_unknown(&name.text.clone());
                }
                self.push(command);
            }
            "set" => self.set_options(command, scope),
            "shift" => {
                let rest: Vec<Word> =
                    scope.positional.as_ref().map(|words| words.iter().skip(1).cloned().collect()).unwrap_or_default();
                if scope.positional.is_some() {
                    scope.positions(&rest);
                }
            }
            "eval" => {
                let words = command.arguments().to_vec();
                self.text_of(&words, command, scope, Via::Eval, true);
            }
            "trap" => self.trap(command, scope),
            "source" | "." => {
                if let Some((word, rest)) = command.arguments().split_first() {
                    let (word, rest) = (word.clone(), rest.to_vec());
                    command.code_from = word.output_of.clone().or_else(|| self.written_source(&word.text));
                    if word.text == "/dev/stdin" {
                        self.shell_stdin(command, scope);
                        return;
                    }
                    self.push(command.clone());
                    self.file(&word, &rest, ReadBy::ThisShell, &command, scope);
                    return;
                }
                self.push(command);
            }
            "sudo" | "doas" | "pkexec" | "run0" => self.raised(command, scope, &program),
            "su" | "runuser" => self.switch_user(command, scope, &program),
            "runas" => {
                let at = command.arguments().iter().take_while(|w| w.text.starts_with('/')).count();
                let text = joined(command.arguments().get(at..).unwrap_or_default());
                let mut inner = self.inner_scope(&command, scope, Via::Sudo(program));
                self.cmd(&text, &mut inner);
            }
            _ if is_shell(&program) => self.shell(command, scope, &program),
            "busybox" | "toybox" => self.wrapped(command, scope, 0, &program),
            "cmd" => self.cmd_shell(command, scope),
            "powershell" | "pwsh" => self.power_shell_shell(command, scope),
            "wsl" => self.wsl(command, scope),
            "ssh" | "mosh" | "autossh" => self.ssh(command, scope),
            "docker" | "podman" | "nerdctl" | "docker-compose" => self.container(command, scope),
            "kubectl" | "oc" | "k3s" => self.kubectl(command, scope),
            "xargs" | "gxargs" => self.xargs(command, scope),
            "parallel" => self.parallel(command, scope),
            "find" | "gfind" | "fd" | "fdfind" => self.find(command, scope),
            "env" | "genv" | "cross-env" | "cross-env-shell" => self.env(command, scope),
            "hash" => {
                if let [flag, path, name] = command.arguments()
                    && flag.text == "-p"
                {
                    Arc::make_mut(&mut scope.aliases).insert(name.text.clone(), quote(&path.text));
                }
                self.push(command);
            }
            "concurrently" => {
                let texts: Vec<Word> =
                    command.arguments().iter().filter(|word| word.text.contains(' ')).cloned().collect();
                texts.iter().for_each(|text| self.setting("concurrently", text, &command, scope));
                self.push(command);
            }
            "command" | "builtin" => {
                let options = command.arguments().iter().take_while(|w| w.text.starts_with('-')).count();
                if command.arguments().iter().take(options).any(|w| w.text.contains(['v', 'V'])) {
                    self.push(command);
                } else {
                    self.wrapped(command, scope, options, &program);
                }
            }
            "exec" => {
                let at = options(command.arguments(), "a", &[]);
                if command.arguments().len() > at {
                    self.wrapped(command, scope, at, &program);
                } else {
                    self.push(command);
                }
            }
            "watch" => {
                let at = options(command.arguments(), "nqs", &["--interval"]);
                let words = command.arguments().get(at..).unwrap_or_default().to_vec();
                self.text_of(&words, command, scope, Via::Wrapper(program), false);
            }
            "script" => match bundled_value(command.arguments(), 'c')
                .or_else(|| value_of(command.arguments(), &["--command"]))
            {
                Some(word) => self.text_of(&[word], command, scope, Via::Wrapper(program), false),
                None => {
                    self.push(command);
                }
            },
            "flock" => self.flock(command, scope),
            "git" => self.git(command, scope),
            "at" | "batch" if command.stdin != Stdin::None => self.shell_stdin(command, scope),
            "npx" | "npm" | "pnpm" | "bunx" if value_of(command.arguments(), &["-c", "--call"]).is_some() => {
                let words: Vec<Word> = value_of(command.arguments(), &["-c", "--call"]).into_iter().collect();
                self.text_of(&words, command, scope, Via::Wrapper(program), false);
            }
            "make" | "gmake" | "just" => self.make(command, scope),
            "npm" | "pnpm" | "yarn" | "bun" | "node" | "npm-run-all" | "run-s" | "run-p"
                if self.package_script(&command, scope) => {}
            "npx" | "bunx" | "pnpx" | "uvx" | "pipx" if runner_of(&command).is_some() => {
                let at = runner_of(&command).unwrap_or_default();
                self.wrapped(command, scope, at, &program);
            }
            "tmux" | "screen" => self.terminal(command, scope, &program),
            "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch" | "bundle" | "conda" | "mamba" | "direnv"
            | "dotenv" | "mise" | "rtx" | "nix-shell" | "nix" | "pixi" | "micromamba" | "fnm" | "volta" | "asdf"
            | "nvm" | "rbenv" | "pyenv" | "devbox" | "dotenvx" | "op" | "doppler" | "aws-vault" | "chamber"
            | "infisical" | "teller" | "berglas" | "lerna" | "guix" | "flox" => {
                self.environment_runner(command, scope, &program);
            }
            _ => self.program(command, scope, &program),
        }
    }

    /// Wrappers described by a table, interpreters, and everything else.
    fn program(&mut self, command: Command, scope: &mut Scope, program: &str) {
        // Options with values; how many words stand before the command.
        let table: Option<(&str, &[&str], usize)> = match program {
            "time" | "gtime" => Some(("fo", &["--format", "--output"], 0)),
            "timeout" | "gtimeout" => Some(("ks", &["--signal", "--kill-after"], 1)),
            "nice" | "gnice" => Some(("n", &["--adjustment"], 0)),
            "nohup" | "setsid" | "unbuffer" | "chronic" | "catchsegv" | "fakeroot" | "proxychains" | "proxychains4"
            | "torsocks" => Some(("", &[], 0)),
            "stdbuf" | "gstdbuf" => Some(("ioe", &["--input", "--output", "--error"], 0)),
            "ionice" => Some(("cnpP", &["--class", "--classdata"], 0)),
            "chrt" => Some(("TPD", &[], 1)),
            "taskset" => Some(("", &[], 1)),
            "strace" | "ltrace" | "dtruss" => Some(("oeEsuPabIOSX", &[], 0)),
            "caffeinate" => Some(("tw", &[], 0)),
            "xvfb-run" => Some(("nspfew", &["--server-num", "--server-args"], 0)),
            "chroot" => Some(("", &[], 1)),
            "systemd-run" => Some(("puEt", &["--unit", "--property", "--setenv", "--slice"], 0)),
            "systemd-inhibit" | "prlimit" | "cgexec" => Some(("g", &["--what", "--who", "--why", "--mode"], 0)),
            "bwrap" => {
                let at = sandboxed(command.arguments());
                self.wrapped(command, scope, at, program);
                return;
            }
            "unshare" | "nsenter" | "firejail" if command.arguments().iter().any(|w| !w.text.starts_with('-')) => {
                Some(("tSG", &["--target"], 0))
            }
            "entr" => Some(("", &[], 0)),
            "env-cmd" => Some(("fer", &["--file", "--environments", "--rc-file"], 0)),
            "dbus-run-session" | "valgrind" | "perf" | "hyperfine" => None,
            _ => None,
        };
        if let Some((short, long, before)) = table {
            let at = options(command.arguments(), short, long).saturating_add(before);
            if command.arguments().len() > at {
                if program == "chroot" {
                    let root =
                        command.arguments().get(at.saturating_sub(1)).map(|w| w.text.clone()).unwrap_or_default();
                    self.carried(command, scope, at, Via::Container(root));
                } else {
                    self.wrapped(command, scope, at, program);
                }
            } else {
                self.push(command);
            }
            return;
        }
        match language(program) {
            Some(language) => self.interpreter(command, scope, language),
            None => {
                self.note_written(&command);
                self.push(command);
            }
        }
    }

    /// Runs the words after the first `at` arguments, through a program that only starts them.
    fn wrapped(&mut self, command: Command, scope: &mut Scope, at: usize, program: &str) {
        self.carried(command, scope, at, Via::Wrapper(program.to_owned()));
    }

    fn carried(&mut self, command: Command, scope: &mut Scope, at: usize, via: Via) {
        let words = command.arguments().get(at..).unwrap_or_default().to_vec();
        if words.is_empty() {
            self.push(command);
            return;
        }
        let mut inner = Command { words, code_from: None, ..command };
        inner.via.push(via);
        self.run(inner, scope, false);
    }

    /// A scope for text that this command hands to a shell.
    pub(super) fn inner_scope(&self, command: &Command, scope: &Scope, via: Via) -> Scope {
        let mut inner = match via {
            Via::Remote(_) | Via::Container(_) => scope.elsewhere(via),
            Via::Eval | Via::Trap => scope.subshell(via),
            _ => scope.shell(via),
        };
        let last = inner.via.pop();
        inner.via.clone_from(&command.via);
        inner.via.extend(last);
        inner.stdin = command.stdin.clone();
        for (name, word) in &command.assignments {
            inner.set(name, Var::scalar(word.clone()));
        }
        inner
    }

    /// Reads words, joined by blanks, as shell text. `here`: it runs in this shell.
    fn text_of(&mut self, words: &[Word], command: Command, scope: &mut Scope, via: Via, here: bool) {
        let text: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
        let text = text.join(" ");
        let mut inner = self.inner_scope(&command, scope, via);
        if words.iter().any(is_decoded) {
            inner.via.push(Via::Decoded);
        }
        inner.uncertain |= words.iter().any(|w| !w.known);
        let start = self.here();
        self.redirects_of(&command);
        self.script(&text, &mut inner);
        self.computed(start, words, command, scope);
        if here {
            inner.via.clone_from(&scope.via);
            inner.stdin = scope.stdin.clone();
            *scope = inner;
        }
    }

    /// Files that a carrier's own redirects touch.
    fn redirects_of(&mut self, command: &Command) {
        if command.redirects.iter().any(|r| r.kind != RedirectKind::Read) {
            let only = Command { words: Vec::new(), ..command.clone() };
            self.push(only);
        }
    }

    /// Adds the carrier itself when the text it ran was not known: when what it would run next is
    /// the output of a command, or a value that is not known.
    fn computed(&mut self, start: usize, words: &[Word], command: Command, scope: &Scope) {
        let depth = scope.via.len();
        let ran = self.commands.get(start..).unwrap_or_default();
        let unknown = ran.iter().find_map(|c| {
            let first = c.words.first()?;
            let nested = c.via.iter().skip(depth).any(|via| *via == Via::Substitution);
            (!first.known && !nested).then(|| first.output_of.clone().unwrap_or(CodeSource::Computed))
        });
        let decoded = words.iter().any(is_decoded).then_some(CodeSource::Decoded);
        if let Some(source) = unknown.or(decoded) {
            self.push(Command { code_from: Some(source), ..command });
        }
    }

    fn change_directory(&mut self, command: Command, scope: &mut Scope) {
        let target =
            command.arguments().iter().find(|w| !matches!(w.text.as_str(), "-P" | "-L" | "--" | "-e")).cloned();
        match target {
            Some(word) if word.text == "-" => scope.directory = Directory::Unknown,
            Some(word) if word.known && word.text.is_empty() => {}
            Some(word) if word == here() || word.text == "." => {}
            Some(word) => scope.change_directory(&word),
            None if command.program() == "cd" => scope.change_directory(&Word { home: true, ..Word::literal("~") }),
            None => scope.directory = Directory::Unknown,
        }
        self.push(command);
    }

    fn declare(&mut self, command: Command, scope: &mut Scope) {
        for word in command.arguments() {
            if let Some((name, _)) = word.text.split_once('=')
                && !name.starts_with('-')
            {
                let value = word.text.get(name.len().saturating_add(1)..).unwrap_or_default().to_owned();
                let var = Var::scalar(Word { text: value.clone(), raw: value, ..word.clone() });
                scope.set(name.trim_end_matches('+'), var);
            }
            // What becomes visible to the programs that follow.
            let name = word.text.split('=').next().unwrap_or_default().to_owned();
            if let Some(value) = scope.variable(&name).and_then(|var| var.words.first()).cloned() {
                self.variable_set(&name, &value, &command, scope);
            }
        }
        self.push(command);
    }

    fn read_variables(&mut self, command: Command, scope: &mut Scope) {
        let with_values = if command.program() == "read" { "dinNptua" } else { "dnOsucC" };
        let at = options(command.arguments(), with_values, &[]);
        let stdin = command.stdin.clone();
        let names: Vec<String> = command.arguments().iter().skip(at).map(|w| w.text.clone()).collect();
        let names = if names.is_empty() { vec!["REPLY".to_owned(), "MAPFILE".to_owned()] } else { names };
        for name in names {
            let word = any_of(self.listed_item(&stdin, &format!("${name}")), &format!("${name}"));
            scope.set(&name, Var::scalar(word));
        }
        self.push(command);
    }

    fn set_options(&mut self, command: Command, scope: &mut Scope) {
        let arguments = command.arguments();
        if arguments.iter().any(|w| {
            (w.text.starts_with('-') && !w.text.starts_with("--") && w.text.contains('e')) || w.text == "errexit"
        }) {
            self.stop_on_error(scope);
        }
        if let Some(at) = arguments.iter().position(|w| w.text == "--") {
            let words = arguments.get(at.saturating_add(1)..).unwrap_or_default().to_vec();
            scope.positions(&words);
        } else if arguments.first().is_some_and(|w| !w.text.starts_with(['-', '+'])) {
            let words = arguments.to_vec();
            scope.positions(&words);
        }
        self.push(command);
    }

    fn trap(&mut self, command: Command, scope: &mut Scope) {
        let words = command.arguments();
        let words =
            if words.first().is_some_and(|w| w.text == "--") { words.get(1..).unwrap_or_default() } else { words };
        match words {
            [text, _, ..] if !matches!(text.text.as_str(), "-" | "" | "-l" | "-p") => {
                let text = [text.clone()];
                self.text_of(&text, command, scope, Via::Trap, false);
            }
            _ => {
                self.push(command);
            }
        }
    }

    fn raised(&mut self, command: Command, scope: &mut Scope, program: &str) {
        let via = Via::Sudo(program.to_owned());
        let arguments = command.arguments();
        let mut at = options(
            arguments,
            if program == "doas" { "uC" } else { "ugpChrtTURD" },
            &["--user", "--group", "--host", "--prompt", "--chdir", "--chroot", "--close-from"],
        );
        let mut assignments = Vec::new();
        while let Some((name, value)) = arguments.get(at).and_then(assignment) {
            assignments.push((name, value));
            at = at.saturating_add(1);
        }
        if arguments.len() <= at {
            // `sudo -s`, `sudo -i`: a shell, or only options.
            let mut command = command;
            command.via.push(via);
            command.code_from = self
                .stdin_source(&command.stdin)
                .filter(|_| command.arguments().iter().any(|w| matches!(w.text.as_str(), "-s" | "-i")));
            self.push(command);
            return;
        }
        let mut command = command;
        command.assignments.extend(assignments);
        self.carried(command, scope, at, via);
    }

    fn switch_user(&mut self, command: Command, scope: &mut Scope, program: &str) {
        let via = Via::Sudo(program.to_owned());
        if let Some(word) = value_of(command.arguments(), &["-c", "--command", "-lc", "--session-command"]) {
            self.text_of(&[word], command, scope, via, false);
        } else if let Some(at) = command.arguments().iter().position(|w| w.text == "--") {
            self.carried(command, scope, at.saturating_add(1), via);
        } else {
            let mut command = command;
            command.via.push(via);
            self.push(command);
        }
    }

    fn shell(&mut self, command: Command, scope: &mut Scope, program: &str) {
        let mut text_follows = false;
        let mut stdin = false;
        let mut only_parses = false;
        let mut at = 0_usize;
        let arguments = command.arguments().to_vec();
        if let Some(file) = value_of(&arguments, &["--rcfile", "--init-file"]) {
            self.file(&file, &[], ReadBy::Shell, &command, scope);
        }
        while let Some(word) = arguments.get(at) {
            let text = word.text.as_str();
            if text == "--" || text == "-" {
                at = at.saturating_add(1);
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                at = at.saturating_add(if matches!(long, "rcfile" | "init-file") { 2 } else { 1 });
                text_follows |= long == "command";
                continue;
            }
            let Some(cluster) = text.strip_prefix(['-', '+']) else { break };
            text_follows |= text.starts_with('-') && cluster.contains('c');
            stdin |= cluster.contains('s');
            only_parses |= text.starts_with('-') && cluster.contains('n');
            at = at.saturating_add(if cluster.ends_with(['o', 'O']) { 2 } else { 1 });
        }
        let rest = arguments.get(at..).unwrap_or_default();
        match rest.split_first() {
            // `xargs -I{} sh -c '{}'`: the text is what arrives.
            Some((text, _)) if text_follows && !text.known && !text.text.contains(['$', '`', ' ']) => {
                let code_from = text.output_of.clone().or(Some(CodeSource::Computed));
                self.push(Command { code_from, ..command });
            }
            Some((text, after)) if text_follows => {
                let mut inner = self.inner_scope(&command, scope, Via::Shell(program.to_owned()));
                inner.positions(after.get(1..).unwrap_or_default());
                if let Some(name) = after.first() {
                    inner.set("0", Var::scalar(name.clone()));
                }
                if after.is_empty() {
                    inner.positional = None;
                }
                if is_decoded(text) {
                    inner.via.push(Via::Decoded);
                }
                inner.uncertain |= !text.known;
                let start = self.here();
                self.redirects_of(&command);
                self.script(&text.text, &mut inner);
                self.computed(start, std::slice::from_ref(text), command, scope);
            }
            Some((file, after)) if !stdin && file.text != "/dev/stdin" => {
                let mut command = command;
                command.code_from = file.output_of.clone().or_else(|| self.written_source(&file.text));
                self.push(command.clone());
                if !only_parses {
                    self.file(file, after, ReadBy::Shell, &command, scope);
                }
            }
            _ => match self.file_on(&command) {
                Some((file, stored, known)) => {
                    let mut command = command;
                    let source = self.stdin_source(&command.stdin);
                    command.code_from = source.filter(|source| *source != CodeSource::Computed);
                    self.push(command.clone());
                    let command = Command { stdin: Stdin::None, ..command };
                    self.stored_text(&file, &stored, known, rest, ReadBy::Shell, &command, scope);
                }
                None => self.shell_stdin(command, scope),
            },
        }
    }

    /// A shell that reads its commands from standard input.
    fn shell_stdin(&mut self, mut command: Command, scope: &mut Scope) {
        command.code_from = self.stdin_source(&command.stdin);
        let produced = self.arriving(&command.stdin, 0);
        let program = command.program();
        let stdin = command.stdin.clone();
        let at = self.push(command.clone());
        let (text, decoded, known) = match (produced, stdin) {
            (Some(produced), _) => (produced.text, produced.decoded, true),
            // Partly known: read what can be seen.
            (None, Stdin::Text { text, .. }) => (text, false, false),
            _ => return,
        };
        if at.is_none() {
            return;
        }
        let via = if decoded { Via::Decoded } else { Via::InterpreterOf(program) };
        let mut inner = self.inner_scope(&command, scope, via);
        inner.uncertain |= !known;
        inner.stdin = Stdin::None;
        self.script(&text, &mut inner);
    }

    fn cmd_shell(&mut self, command: Command, scope: &mut Scope) {
        let arguments = command.arguments();
        let Some(at) = arguments
            .iter()
            .position(|w| matches!(w.text.to_ascii_lowercase().as_str(), "/c" | "/k" | "/r" | "//c" | "//k"))
        else {
            self.push(command);
            return;
        };
        let words = arguments.get(at.saturating_add(1)..).unwrap_or_default();
        let text = joined(words);
        let mut inner = self.inner_scope(&command, scope, Via::Shell("cmd".to_owned()));
        inner.uncertain |= words.iter().any(|w| !w.known);
        self.redirects_of(&command);
        self.cmd(&text, &mut inner);
    }

    fn power_shell_shell(&mut self, mut command: Command, scope: &mut Scope) {
        let program = command.program();
        let arguments = command.arguments().to_vec();
        let mut words = arguments.iter().enumerate();
        while let Some((at, word)) = words.next() {
            let lower = word.text.to_ascii_lowercase();
            let name = lower.trim_start_matches(['-', '/']);
            if !lower.starts_with(['-', '/']) {
                if program == "pwsh" || lower.ends_with(".ps1") {
                    self.push(command);
                } else {
                    self.power_shell_text(command, scope, arguments.get(at..).unwrap_or_default());
                }
                return;
            }
            match name {
                "c" | "command" if arguments.get(at.saturating_add(1)).is_some_and(|w| w.text == "-") => break,
                "" => break,
                "c" | "command" | "cwa" | "commandwithargs" => {
                    self.power_shell_text(command, scope, arguments.get(at.saturating_add(1)..).unwrap_or_default());
                    return;
                }
                "f" | "file" => {
                    self.push(command);
                    return;
                }
                _ if name.starts_with('e') && ("encodedcommand".starts_with(name) || name == "ec") => {
                    let decoded = arguments.get(at.saturating_add(1)).filter(|w| w.known).and_then(|w| utf16(&w.text));
                    command.code_from = Some(CodeSource::Decoded);
                    let via = Via::Decoded;
                    let mut inner = self.inner_scope(&command, scope, via);
                    self.push(command);
                    if let Some(text) = decoded {
                        self.power_shell(&text, &mut inner);
                    }
                    return;
                }
                "executionpolicy" | "ep" | "ex" | "version" | "windowstyle" | "w" | "workingdirectory" | "wd"
                | "inputformat" | "outputformat" | "configurationname" | "psconsolefile" => {
                    words.next();
                }
                _ => {}
            }
        }
        command.code_from = self.stdin_source(&command.stdin);
        let produced = self.arriving(&command.stdin, 0);
        self.push(command.clone());
        if let Some(produced) = produced {
            let mut inner = self.inner_scope(&command, scope, Via::InterpreterOf(program));
            inner.stdin = Stdin::None;
            self.power_shell(&produced.text, &mut inner);
        }
    }

    fn power_shell_text(&mut self, command: Command, scope: &mut Scope, words: &[Word]) {
        let text = joined(words);
        let mut inner = self.inner_scope(&command, scope, Via::Shell(command.program()));
        inner.uncertain |= words.iter().any(|w| !w.known);
        let start = self.here();
        self.redirects_of(&command);
        self.power_shell(&text, &mut inner);
        self.computed(start, words, command, scope);
    }

    fn wsl(&mut self, command: Command, scope: &mut Scope) {
        let mut at = 0_usize;
        while let Some(word) = command.arguments().get(at) {
            match word.text.as_str() {
                "--" | "-e" | "--exec" => {
                    at = at.saturating_add(1);
                    break;
                }
                "-d" | "--distribution" | "-u" | "--user" | "--cd" => at = at.saturating_add(2),
                "--shutdown" | "--unregister" | "-l" | "--list" | "--terminate" | "-t" | "--export" | "--import"
                | "--install" => {
                    self.push(command);
                    return;
                }
                text if text.starts_with('-') => at = at.saturating_add(1),
                _ => break,
            }
        }
        let words = command.arguments().get(at..).unwrap_or_default().to_vec();
        match words.as_slice() {
            [] => {
                self.push(command);
            }
            [only] if only.text.contains(' ') => {
                self.text_of(&words, command, scope, Via::Shell("wsl".to_owned()), false)
            }
            _ => self.carried(command, scope, at, Via::Shell("wsl".to_owned())),
        }
    }

    fn ssh(&mut self, command: Command, scope: &mut Scope) {
        let arguments = command.arguments();
        let at = options(arguments, "BbcDEeFIiJLlmOopQRSWw", &["--ssh", "--port"]);
        let Some(host) = arguments.get(at) else {
            self.push(command);
            return;
        };
        let via = Via::Remote(host.text.clone());
        let after = at.saturating_add(1);
        // Options may follow the host.
        let after =
            after.saturating_add(options(arguments.get(after..).unwrap_or_default(), "BbcDEeFIiJLlmOopQRSWw", &[]));
        let words = arguments.get(after..).unwrap_or_default().to_vec();
        if !words.is_empty() {
            self.text_of(&words, command, scope, via, false);
            return;
        }
        let mut inner = self.inner_scope(&command, scope, via);
        inner.stdin = Stdin::None;
        let text = match &command.stdin {
            Stdin::Text { text, known } => {
                inner.uncertain |= !known;
                Some(text.clone())
            }
            stdin => self.arriving(stdin, 0).map(|produced| produced.text),
        };
        let mut command = command;
        command.code_from = self.stdin_source(&command.stdin);
        self.push(command);
        if let Some(text) = text {
            self.script(&text, &mut inner);
        }
    }

    fn container(&mut self, command: Command, scope: &mut Scope) {
        let arguments = command.arguments();
        let globals = ("Hcl", &["--host", "--context", "--config", "--log-level"][..]);
        let mut at = options(arguments, globals.0, globals.1);
        let composed = command.program() == "docker-compose" || arguments.get(at).is_some_and(|w| w.text == "compose");
        if composed {
            if command.program() != "docker-compose" {
                at = at.saturating_add(1);
            }
            at = at.saturating_add(options(
                arguments.get(at..).unwrap_or_default(),
                "fp",
                &["--file", "--project-name", "--profile", "--env-file", "--project-directory"],
            ));
        } else if arguments.get(at).is_some_and(|w| w.text == "container") {
            at = at.saturating_add(1);
        }
        let verb = arguments.get(at).map(|w| w.text.clone()).unwrap_or_default();
        if !matches!(verb.as_str(), "exec" | "run") {
            self.note_written(&command);
            self.push(command);
            return;
        }
        at = at.saturating_add(1);
        let rest = arguments.get(at..).unwrap_or_default();
        at = at.saturating_add(options(
            rest,
            "acehlmpuvw",
            &[
                "--env",
                "--env-file",
                "--user",
                "--workdir",
                "--detach-keys",
                "--index",
                "--name",
                "--network",
                "--net",
                "--volume",
                "--mount",
                "--publish",
                "--entrypoint",
                "--label",
                "--hostname",
                "--memory",
                "--cpus",
                "--platform",
                "--gpus",
                "--restart",
                "--add-host",
                "--dns",
                "--device",
                "--cap-add",
                "--cap-drop",
                "--security-opt",
                "--shm-size",
                "--tmpfs",
                "--ulimit",
                "--ip",
                "--pid",
                "--ipc",
                "--log-driver",
                "--pull",
                "--runtime",
                "--volumes-from",
                "--cidfile",
                "--expose",
            ],
        ));
        let Some(name) = arguments.get(at) else {
            self.push(command);
            return;
        };
        let via = Via::Container(name.text.clone());
        let after = at.saturating_add(1);
        if verb == "run" {
            // The options of `run` (volumes, privileges) matter by themselves.
            self.push(command.clone());
        }
        if arguments.len() > after {
            let mut inner = self.inner_scope(&command, scope, via.clone());
            let words = arguments.get(after..).unwrap_or_default().to_vec();
            let mut carried = Command {
                words,
                code_from: None,
                assignments: Vec::new(),
                directory: Directory::Unchanged,
                directory_assumed: false,
                ..command
            };
            carried.via.push(via);
            if verb == "run" {
                carried.redirects.clear();
            }
            self.run(carried, &mut inner, false);
        } else if verb == "exec" {
            self.push(command);
        }
    }

    fn kubectl(&mut self, command: Command, scope: &mut Scope) {
        let arguments = command.arguments();
        let exec = arguments.iter().position(|w| w.text == "exec");
        let dashes = arguments.iter().position(|w| w.text == "--");
        let (Some(exec), Some(dashes)) = (exec, dashes) else {
            self.push(command);
            return;
        };
        let between = arguments.get(exec.saturating_add(1)..dashes).unwrap_or_default();
        let at = options(
            between,
            "cnf",
            &["--container", "--namespace", "--context", "--filename", "--kubeconfig", "--cluster"],
        );
        let pod = between.get(at).map(|w| w.text.clone()).unwrap_or_default();
        let mut inner = self.inner_scope(&command, scope, Via::Container(pod.clone()));
        self.carried(command, &mut inner, dashes.saturating_add(1), Via::Container(pod));
    }

    fn xargs(&mut self, command: Command, scope: &mut Scope) {
        let arguments = command.arguments();
        let at = options(
            arguments,
            "IJRndEaLPs",
            &[
                "--max-args",
                "--max-procs",
                "--delimiter",
                "--arg-file",
                "--max-lines",
                "--replace",
                "--max-chars",
                "--process-slot-var",
            ],
        );
        let before = arguments.get(..at).unwrap_or_default();
        let words = arguments.get(at..).unwrap_or_default().to_vec();
        if words.is_empty() {
            self.push(command);
            return;
        }
        let mut place = None;
        let mut zero = false;
        let mut delimiter = None;
        for (i, word) in before.iter().enumerate() {
            let next = || before.get(i.saturating_add(1)).map(|w| w.text.clone());
            match word.text.as_str() {
                "-I" | "-J" | "--replace" => place = next(),
                "-i" => place = Some("{}".to_owned()),
                "-d" | "--delimiter" => delimiter = next(),
                text if text.starts_with("-I") => place = text.strip_prefix("-I").map(str::to_owned),
                text if text.starts_with("-d") => delimiter = text.strip_prefix("-d").map(str::to_owned),
                "--null" => zero = true,
                text if text.starts_with('-')
                    && !text.starts_with("--")
                    && text.contains('0')
                    && !text.contains(['n', 'P', 'L', 's']) =>
                {
                    zero = true
                }
                _ => {}
            }
        }
        let from_file = before.iter().any(|w| w.text.starts_with("-a") || w.text.starts_with("--arg-file"));
        let produced = if from_file { None } else { self.arriving(&command.stdin, 0) };
        let items: Option<Vec<Word>> = produced.map(|produced| {
            let separator =
                delimiter.as_deref().map(|d| if d == "\\n" { '\n' } else { d.chars().next().unwrap_or('\n') });
            let parts: Vec<&str> = match (zero, separator, &place) {
                (true, ..) => produced.text.split('\0').collect(),
                (_, Some(separator), _) => produced.text.trim_end_matches('\n').split(separator).collect(),
                (_, _, Some(_)) => produced.text.lines().map(str::trim).collect(),
                _ => produced.text.split_whitespace().collect(),
            };
            parts.into_iter().filter(|part| !part.is_empty()).map(Word::literal).collect()
        });
        let unknown = self.listed_item(&command.stdin, "{}");
        self.with_items(command, scope, &words, items, unknown, place.as_deref());
    }

    /// Runs `words` with each of the items: in the given place, or all of them at the end.
    fn with_items(
        &mut self,
        command: Command,
        scope: &mut Scope,
        words: &[Word],
        items: Option<Vec<Word>>,
        unknown: Vec<Word>,
        place: Option<&str>,
    ) {
        let items = items.filter(|items| items.len() <= MAX_ITEMS).unwrap_or(unknown);
        let mut base = Command { code_from: None, stdin: Stdin::None, ..command };
        base.via.push(Via::Xargs);
        match place {
            Some(place) if !place.is_empty() => {
                for item in items {
                    let words = words.iter().map(|word| replaced(word, place, &item)).collect();
                    self.run(Command { words, ..base.clone() }, scope, false);
                }
            }
            _ => {
                let words = words.iter().cloned().chain(items).collect();
                self.run(Command { words, ..base }, scope, false);
            }
        }
    }

    fn parallel(&mut self, command: Command, scope: &mut Scope) {
        let arguments = command.arguments();
        let at = options(
            arguments,
            "jNnLaIS",
            &["--jobs", "--max-args", "--arg-file", "--joblog", "--colsep", "--sshlogin", "--workdir"],
        );
        let rest = arguments.get(at..).unwrap_or_default();
        let split = rest.iter().position(|w| matches!(w.text.as_str(), ":::" | "::::" | ":::+"));
        let words = rest.get(..split.unwrap_or(rest.len())).unwrap_or_default().to_vec();
        if words.is_empty() {
            self.push(command);
            return;
        }
        let listed = split.filter(|at| rest.get(*at).is_some_and(|w| w.text == ":::"));
        let items = match listed {
            Some(at) => Some(
                rest.get(at.saturating_add(1)..)
                    .unwrap_or_default()
                    .iter()
                    .filter(|w| !w.text.starts_with(":::"))
                    .cloned()
                    .collect(),
            ),
            None if split.is_none() => {
                self.arriving(&command.stdin, 0).map(|produced| produced.text.lines().map(Word::literal).collect())
            }
            None => None,
        };
        let unknown = self.listed_item(&command.stdin, "{}");
        // A single word is shell text.
        let words = match words.as_slice() {
            [only] if only.text.contains(' ') => vec![Word::literal("sh"), Word::literal("-c"), only.clone()],
            _ => words,
        };
        let place = words.iter().any(|w| w.text.contains("{}")).then_some("{}");
        if words.first().is_some_and(|w| w.text == "sh") && place.is_none() {
            let mut base = command;
            base.via.push(Via::Xargs);
            self.run(Command { words, ..base }, scope, false);
            return;
        }
        self.with_items(command, scope, &words, items, unknown, place);
    }

    fn find(&mut self, command: Command, scope: &mut Scope) {
        let arguments = command.arguments().to_vec();
        let program = command.program();
        let by_name = program.starts_with("fd");
        let everything = Word { under: vec![".".to_owned()], ..Word::unknown("{}") };
        let found = |reader: &Self, at: usize| match by_name {
            true => vec![everything.clone()],
            false => reader.found(&command, Some(at), "{}"),
        };
        let mut base = command.clone();
        base.via.push(Via::FindExec);
        base.redirects.clear();
        self.push(command.clone());
        let mut rest = arguments.iter().enumerate();
        while let Some((at, word)) = rest.next() {
            let runs = match program.as_str() {
                "fd" | "fdfind" => matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"),
                _ => matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"),
            };
            if runs {
                let items = found(self, at);
                let given = rest.by_ref().map(|(_, word)| word).take_while(|w| !matches!(w.text.as_str(), ";" | "+"));
                let mut words: Vec<Word> = given.flat_map(|word| with_each(word, &items)).collect();
                if by_name && !words.iter().any(|w| w.raw.contains("{}")) {
                    words.extend(items);
                }
                if !words.is_empty() {
                    self.run(Command { words, ..base.clone() }, scope, false);
                }
            } else if word.text == "-delete" && !by_name {
                let words = [Word::literal("rm"), Word::literal("-r")].into_iter().chain(found(self, at)).collect();
                self.run(Command { words, ..base.clone() }, scope, false);
            }
        }
    }

    fn env(&mut self, mut command: Command, scope: &mut Scope) {
        let arguments = command.arguments().to_vec();
        if let Some(word) = value_of(&arguments, &["-S", "--split-string"]) {
            let after = arguments
                .iter()
                .position(|w| w.text == "-S" || w.text == "--split-string")
                .unwrap_or(0)
                .saturating_add(2);
            let mut words = vec![word];
            words.extend(arguments.get(after..).unwrap_or_default().iter().cloned());
            self.text_of(&words, command, scope, Via::Wrapper("env".to_owned()), false);
            return;
        }
        let mut at = options(&arguments, "uCP", &["--unset", "--chdir"]);
        if let Some(folder) = value_of(arguments.get(..at).unwrap_or_default(), &["-C", "--chdir"]) {
            let mut moved = scope.clone();
            moved.directory = command.directory.clone();
            moved.change_directory(&folder);
            command.directory = moved.directory;
        }
        while let Some(word) = arguments.get(at) {
            if let Some(pair) = assignment(word) {
                command.assignments.push(pair);
            } else if word.known || word.output_of.is_none() {
                break;
            }
            // `env $(cat .env) make`: the output is taken for assignments.
            at = at.saturating_add(1);
        }
        if arguments.len() > at {
            self.wrapped(command, scope, at, "env");
        } else {
            self.push(command);
        }
    }

    /// Commands that git runs for each commit or submodule.
    fn git(&mut self, command: Command, scope: &mut Scope) {
        let arguments = command.arguments().to_vec();
        let verb = |name: &str| arguments.iter().position(|word| word.text == name);
        let behind = |at: Option<usize>| -> Vec<Word> {
            let rest = at.and_then(|at| arguments.get(at.saturating_add(1)..)).unwrap_or_default();
            rest.iter().skip_while(|word| word.text.starts_with('-')).cloned().collect()
        };
        let values: &[&str] = if verb("rebase").is_some() {
            &["-x", "--exec"]
        } else if verb("difftool").is_some() {
            &["-x", "--extcmd"]
        } else if verb("filter-branch").is_some() {
            &FILTERS
        } else if verb("grep").is_some() {
            &["-O", "--open-files-in-pager"]
        } else {
            &["--upload-pack", "--receive-pack", "--sendmail-cmd"]
        };
        for option in values {
            if let Some(text) = value_of(&arguments, &[option]) {
                self.setting(option, &text, &command, scope);
            }
        }
        let mut aliases: Vec<(String, String)> = Vec::new();
        for (key, value) in git_pairs(&arguments) {
            self.git_setting(&key, &value, &command, scope);
            if let Some(name) = key.strip_prefix("alias.").filter(|_| !value.text.starts_with('!')) {
                aliases.push((format!("git {name}"), format!("git {}", value.text)));
            }
        }
        if !aliases.is_empty() {
            Arc::make_mut(&mut scope.aliases).extend(aliases);
        }
        self.hooks(&command, scope);
        let words = if verb("bisect").is_some() {
            behind(verb("run"))
        } else if verb("submodule").is_some() {
            behind(verb("foreach"))
        } else {
            Vec::new()
        };
        let at = options(&arguments, "cC", &["--git-dir", "--work-tree", "--namespace", "--config-env"]);
        let is_alias = |word: &Word| scope.aliases.contains_key(&format!("git {}", word.text));
        if arguments.get(at).is_some_and(is_alias) {
            let name = arguments.get(at).map(|word| format!("git {}", word.text)).unwrap_or_default();
            let rest = arguments.get(at.saturating_add(1)..).unwrap_or_default();
            let rest: String = rest.iter().map(|word| format!(" {}", quote(&word.text))).collect();
            let text = scope.aliases.get(&name).map(|text| format!("{text}{rest}")).unwrap_or_default();
            self.setting(&name, &Word::literal(text), &command, scope);
        }
        self.push(command.clone());
        match words.as_slice() {
            [] => {}
            [text] => self.text_of(std::slice::from_ref(text), command, scope, Via::Wrapper("git".to_owned()), false),
            _ => {
                let mut inner = Command { words, code_from: None, ..command };
                inner.via.push(Via::Wrapper("git".to_owned()));
                self.run(inner, scope, false);
            }
        }
    }

    /// Hooks that the same text writes, and that git runs then.
    fn hooks(&mut self, command: &Command, scope: &mut Scope) {
        let names: &[&str] =
            match command.arguments().iter().find(|word| !word.text.starts_with('-')).map(|word| word.text.as_str()) {
                Some("commit") => &["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"],
                Some("push") => &["pre-push"],
                Some("merge" | "pull") => &["pre-merge-commit", "post-merge"],
                Some("checkout" | "switch") => &["post-checkout"],
                _ => return,
            };
        for name in names {
            let file = Word::literal(format!(".git/hooks/{name}"));
            if self.writes_itself(command, &file) {
                self.file(&file, &[], ReadBy::Shell, command, scope);
            }
        }
    }

    /// `tmux new -d 'text'`, `tmux send-keys 'text' Enter`
    fn terminal(&mut self, command: Command, scope: &mut Scope, program: &str) {
        if let Some(text) = terminal_text(program, command.arguments()) {
            self.setting(program, &text, &command, scope);
        }
        self.push(command);
    }

    fn flock(&mut self, command: Command, scope: &mut Scope) {
        let at = options(command.arguments(), "wE", &["--timeout", "--wait", "--conflict-exit-code"]).saturating_add(1);
        let rest = command.arguments().get(at..).unwrap_or_default();
        match rest {
            [flag, text, ..] if matches!(flag.text.as_str(), "-c" | "--command") => {
                let text = [text.clone()];
                self.text_of(&text, command, scope, Via::Wrapper("flock".to_owned()), false);
            }
            [] => {
                self.push(command);
            }
            _ => self.wrapped(command, scope, at, "flock"),
        }
    }

    /// `uv run`, `poetry run`, `bundle exec`, ...: a program started in a prepared environment.
    fn environment_runner(&mut self, command: Command, scope: &mut Scope, program: &str) {
        let arguments = command.arguments();
        let text = match program {
            "nix-shell" => value_of(arguments, &["--run", "--command"]),
            _ => None,
        };
        if let Some(word) = text {
            self.text_of(&[word], command, scope, Via::Wrapper(program.to_owned()), false);
            return;
        }
        if program == "nix" {
            // `nix develop -c make`
            match arguments.iter().position(|word| matches!(word.text.as_str(), "-c" | "--command")) {
                Some(at) => self.wrapped(command, scope, at.saturating_add(1), program),
                None => {
                    self.push(command);
                }
            }
            return;
        }
        let verbs: &[&str] = match program {
            "bundle" | "direnv" | "asdf" | "rbenv" | "pyenv" | "fnm" | "nvm" | "aws-vault" | "chamber" | "berglas"
            | "lerna" => &["exec"],
            "mise" | "rtx" => &["exec", "x"],
            "dotenv" => &["--", "run"],
            "guix" => &["shell"],
            "flox" => &["activate"],
            _ => &["run"],
        };
        let verb = arguments.iter().take(4).position(|w| verbs.contains(&w.text.as_str()));
        // What stands before the command there may be anything.
        let after_dashes = matches!(
            program,
            "mise"
                | "rtx"
                | "aws-vault"
                | "chamber"
                | "op"
                | "doppler"
                | "infisical"
                | "teller"
                | "devbox"
                | "guix"
                | "flox"
                | "dotenvx"
                | "berglas"
                | "lerna"
        );
        if let (true, Some(_), Some(at)) = (after_dashes, verb, arguments.iter().position(|word| word.text == "--")) {
            self.wrapped(command, scope, at.saturating_add(1), program);
            return;
        }
        let Some(at) =
            verb.or_else(|| (program == "dotenv").then(|| options(arguments, "epcvf", &[]).checked_sub(1))?)
        else {
            self.push(command);
            return;
        };
        let after = at.saturating_add(1);
        let rest = command.arguments().get(after..).unwrap_or_default();
        let mut at = after.saturating_add(options(
            rest,
            "npe",
            &[
                "--name",
                "--prefix",
                "--python",
                "--with",
                "--extra",
                "--group",
                "--project",
                "--directory",
                "--env-file",
            ],
        ));
        if matches!(program, "direnv" | "nvm") {
            at = at.saturating_add(1);
        }
        match command.arguments().get(at) {
            None => {
                self.push(command);
            }
            // `uv run x.py`
            Some(word) if word.text.ends_with(".py") => {
                let rest = command.arguments().get(at..).unwrap_or_default();
                let words = std::iter::once(Word::literal("python")).chain(rest.iter().cloned()).collect();
                let mut inner = Command { words, code_from: None, ..command };
                inner.via.push(Via::Wrapper(program.to_owned()));
                self.run(inner, scope, false);
            }
            Some(word) if word.text.contains('.') && !word.text.contains('/') => {
                self.push(command);
            }
            Some(_) => self.wrapped(command, scope, at, program),
        }
    }

    /// An interpreter of another language.
    fn interpreter(&mut self, mut command: Command, scope: &mut Scope, language: &'static str) {
        let arguments = command.arguments().to_vec();
        let given = match program_text(language, &arguments) {
            Given::Text(words) => {
                let text: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
                let word = words.iter().find(|w| !w.known);
                if let Some(word) = word.filter(|w| w.output_of.is_some() || is_one_expansion(&w.raw)) {
                    command.code_from = Some(word.output_of.clone().unwrap_or(CodeSource::Computed));
                }
                Some((text.join("\n"), word.is_none()))
            }
            Given::File(file) => {
                let from_web = ["http://", "https://"].iter().any(|scheme| file.text.starts_with(scheme));
                let written = || self.written_source(&file.text);
                command.code_from = file.output_of.clone().or_else(written);
                if from_web {
                    command.code_from = Some(CodeSource::Downloaded);
                }
                self.push(command.clone());
                let after = arguments.iter().position(|word| *word == file).map_or(0, |at| at.saturating_add(1));
                let rest = arguments.get(after..).unwrap_or_default();
                self.file(&file, rest, ReadBy::Language(language), &command, scope);
                return;
            }
            Given::Stdin => {
                command.code_from = self.stdin_source(&command.stdin);
                if let Some((file, stored, known)) = self.file_on(&command) {
                    self.push(command.clone());
                    self.stored_text(&file, &stored, known, &[], ReadBy::Language(language), &command, scope);
                    return;
                }
                match &command.stdin {
                    Stdin::Text { text, known } => Some((text.clone(), *known)),
                    stdin => self.arriving(stdin, 0).map(|produced| (produced.text, true)),
                }
            }
            Given::Module(module) => {
                self.push(command.clone());
                let after = arguments.iter().position(|word| *word == module).map_or(0, |at| at.saturating_add(1));
                let rest = arguments.get(after..).unwrap_or_default();
                let path = module.text.replace('.', "/");
                for text in [format!("{path}.py"), format!("{path}/__main__.py")] {
                    let file = Word { text, ..module.clone() };
                    self.file(&file, rest, ReadBy::Language(language), &command, scope);
                }
                return;
            }
            Given::Nothing => None,
        };
        let Some((text, known)) = given else {
            self.push(command);
            return;
        };
        let program = arguments.iter().position(|word| text.ends_with(&word.text) && !word.text.is_empty());
        let rest = arguments.get(program.map_or(arguments.len(), |at| at.saturating_add(1))..).unwrap_or_default();
        let (found, base) = found_in(language, &text, known, rest, &mut command);
        self.push(command);
        self.program_acts(found, &base, scope);
    }

    /// Follows a program in another language that stands in a file.
    pub(super) fn follow_program(
        &mut self,
        language: &'static str,
        text: &str,
        known: bool,
        arguments: &[Word],
        command: &Command,
        scope: &mut Scope,
    ) {
        let (found, base) = found_in(language, text, known, arguments, &mut command.clone());
        self.program_acts(found, &base, scope);
    }

    fn program_acts(&mut self, found: inline::Found, base: &Command, scope: &mut Scope) {
        self.fork_bomb |= found.forks;
        for act in found.acts {
            match act {
                inline::Act::Words(words, redirects) => {
                    self.run(Command { words, redirects, stdin: Stdin::None, ..base.clone() }, scope, false)
                }
                inline::Act::Write(redirect, text) => {
                    let stdin = Stdin::Text { text: text.text, known: true };
                    self.push(Command { words: Vec::new(), redirects: vec![redirect], stdin, ..base.clone() });
                }
                inline::Act::Shell(word) => {
                    let command =
                        Command { words: Vec::new(), redirects: Vec::new(), stdin: Stdin::None, ..base.clone() };
                    let mut inner = self.inner_scope(&command, scope, Via::Shell("sh".to_owned()));
                    if word.known {
                        self.script(&word.text, &mut inner);
                    } else {
                        let words = vec![Word::literal("sh"), Word::literal("-c"), word];
                        self.push(Command { words, code_from: Some(CodeSource::Computed), ..command });
                    }
                }
            }
        }
    }
}

/// What a program in another language does, and the command that its acts are made from.
fn found_in(
    language: &'static str,
    text: &str,
    known: bool,
    arguments: &[Word],
    command: &mut Command,
) -> (inline::Found, Command) {
    let found = inline::read(language, text, known, arguments);
    let mut base = command.clone();
    base.code_from = None;
    base.redirects.clear();
    base.via.push(Via::Inline(language.to_owned()));
    command.inline = Some(Inline { language: language.to_owned(), text: text.to_owned(), opaque: found.opaque });
    (found, base)
}

/// Where the command stands behind the options of `bwrap`.
fn sandboxed(arguments: &[Word]) -> usize {
    let mut at = 0_usize;
    while let Some(word) = arguments.get(at).filter(|word| word.text.starts_with('-')) {
        let values = match word.text.as_str() {
            "--" => return at.saturating_add(1),
            text if text.contains("bind") || matches!(text, "--symlink" | "--setenv" | "--file" | "--chmod") => 2,
            text if text.starts_with("--unshare")
                || matches!(
                    text,
                    "--share-net" | "--new-session" | "--die-with-parent" | "--clearenv" | "--as-pid-1"
                ) =>
            {
                0
            }
            _ => 1,
        };
        at = at.saturating_add(values).saturating_add(1);
    }
    at
}

/// Where a package runner is asked for a program that itself runs another one.
fn runner_of(command: &Command) -> Option<usize> {
    let at = options(command.arguments(), "pc", &["--package", "--from", "--with", "--python", "--spec"]);
    let at = at.saturating_add(usize::from(command.arguments().get(at).is_some_and(|word| word.text == "run")));
    let name = program_name(&command.arguments().get(at)?.text);
    let runs = matches!(
        name.as_str(),
        "npm-run-all"
            | "run-s"
            | "run-p"
            | "dotenv"
            | "dotenvx"
            | "cross-env"
            | "cross-env-shell"
            | "env-cmd"
            | "concurrently"
            | "nodemon"
            | "tsx"
            | "ts-node"
    ) || is_shell(&name);
    runs.then_some(at)
}

/// Whether a program is a shell of the kind that this reader knows.
pub(super) fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "zsh" | "dash" | "ash" | "ksh" | "mksh" | "fish" | "rbash")
}

/// The filters of `git filter-branch`.
const FILTERS: [&str; 8] = [
    "--tree-filter",
    "--index-filter",
    "--msg-filter",
    "--env-filter",
    "--commit-filter",
    "--parent-filter",
    "--tag-name-filter",
    "--setup",
];

/// Where an interpreter's program stands.
enum Given {
    Text(Vec<Word>),
    File(Word),
    Stdin,
    /// `python -m package.module`
    Module(Word),
    /// A version, a help text.
    Nothing,
}

/// The language that an interpreter reads.
pub(super) fn language(program: &str) -> Option<&'static str> {
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match stem {
        "python" | "pypy" | "py" | "ipython" | "pythonw" => "python",
        "node" | "nodejs" | "bun" | "tsx" | "ts-node" => "node",
        "deno" => "deno",
        "perl" => "perl",
        "ruby" => "ruby",
        "php" => "php",
        "osascript" => "osascript",
        "awk" | "gawk" | "mawk" | "nawk" => "awk",
        "lua" | "luajit" => "lua",
        _ => return None,
    })
}

fn program_text(language: &str, arguments: &[Word]) -> Given {
    let mut texts = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        let cluster = text.starts_with('-') && !text.starts_with("--");
        let is_option = text.starts_with('-') && text.len() > 1;
        match language {
            "python" => match text {
                "-W" | "-X" | "--check-hash-based-pycs" => {
                    rest.next();
                }
                "-m" => return rest.next().map_or(Given::Nothing, |word| Given::Module(word.clone())),
                "-V" | "--version" | "-h" | "--help" => return Given::Nothing,
                _ if cluster && text.ends_with('c') => {
                    return rest.next().map_or(Given::Nothing, |word| Given::Text(vec![word.clone()]));
                }
                _ if text.starts_with("-c") => {
                    return Given::Text(vec![Word { text: text.chars().skip(2).collect(), ..word.clone() }]);
                }
                _ if text.starts_with("-m") => return Given::Nothing,
                _ if is_option => {}
                "-" => return Given::Stdin,
                _ => return Given::File(word.clone()),
            },
            "node" | "deno" => match text {
                "eval" if language == "deno" => {
                    return rest
                        .find(|w| !w.text.starts_with('-'))
                        .map_or(Given::Nothing, |word| Given::Text(vec![word.clone()]));
                }
                "-p" | "--print" | "-pe" => {
                    let shown = |word: &Word| Word { text: format!("console.log({})", word.text), ..word.clone() };
                    return rest.next().map_or(Given::Nothing, |word| Given::Text(vec![shown(word)]));
                }
                "-e" | "--eval" => {
                    return rest.next().map_or(Given::Nothing, |word| Given::Text(vec![word.clone()]));
                }
                "-r" | "--require" | "--import" | "--loader" | "-C" => {
                    rest.next();
                }
                "-v" | "--version" | "-h" | "--help" => return Given::Nothing,
                "run" if rest.len() > 0 => {}
                _ => {
                    if let Some((name, code)) = text.split_once('=')
                        && matches!(name, "--eval" | "--print" | "-e")
                    {
                        return Given::Text(vec![Word { text: code.to_owned(), ..word.clone() }]);
                    }
                    if text == "-" {
                        return Given::Stdin;
                    }
                    if !is_option {
                        let runs = language == "node" || arguments.iter().any(|word| word.text == "run");
                        return if runs { Given::File(word.clone()) } else { Given::Nothing };
                    }
                }
            },
            "perl" | "ruby" | "lua" => {
                if cluster && text.len() > 1 {
                    if text.ends_with(['e', 'E']) {
                        texts.extend(rest.next().cloned());
                    } else if language == "ruby" && text == "-r" || text == "-I" {
                        rest.next();
                    } else if matches!(text, "-v" | "-V" | "-c") {
                        return Given::Nothing;
                    }
                } else if text == "-" {
                    return Given::Stdin;
                } else if is_option {
                    if matches!(text, "--version" | "--help") {
                        return Given::Nothing;
                    }
                } else {
                    return if texts.is_empty() { Given::File(word.clone()) } else { Given::Text(texts) };
                }
            }
            "php" => match text {
                "-r" => return rest.next().map_or(Given::Nothing, |word| Given::Text(vec![word.clone()])),
                "-d" | "-c" => {
                    rest.next();
                }
                "-S" | "-v" | "-m" | "-i" | "--version" => return Given::Nothing,
                _ if is_option => {}
                _ => return Given::File(word.clone()),
            },
            "osascript" => match text {
                "-e" => texts.extend(rest.next().cloned()),
                "-l" => {
                    rest.next();
                }
                _ if is_option => {}
                _ => return if texts.is_empty() { Given::File(word.clone()) } else { Given::Text(texts) },
            },
            _ => match text {
                // awk
                "-f" | "--file" => return rest.next().map_or(Given::Nothing, |word| Given::File(word.clone())),
                "-F" | "-v" | "--assign" | "--field-separator" => {
                    rest.next();
                }
                "--version" => return Given::Nothing,
                _ if is_option => {}
                _ => return Given::Text(vec![word.clone()]),
            },
        }
    }
    if !texts.is_empty() {
        Given::Text(texts)
    } else if matches!(language, "awk" | "deno") {
        Given::Nothing
    } else {
        Given::Stdin
    }
}

/// The position of the first argument that is not an option. `short` and `long` are the options
/// that take the next argument as their value.
pub(super) fn options(arguments: &[Word], short: &str, long: &[&str]) -> usize {
    let mut at = 0_usize;
    while let Some(word) = arguments.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            return at.saturating_add(1);
        }
        if text.starts_with("--") {
            at = at.saturating_add(if long.contains(&text) { 2 } else { 1 });
        } else if let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
            // The value of `-n5` is in the same word, that of `-n 5` is the next one.
            let takes_next = cluster
                .char_indices()
                .find(|(_, c)| short.contains(*c))
                .is_some_and(|(i, c)| i.saturating_add(c.len_utf8()) == cluster.len());
            at = at.saturating_add(if takes_next { 2 } else { 1 });
        } else {
            break;
        }
    }
    at.min(arguments.len())
}

/// The word behind a bundle of short options that ends in this letter: `-qc TEXT`.
fn bundled_value(arguments: &[Word], letter: char) -> Option<Word> {
    let is_bundle =
        |word: &Word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with(letter);
    let at = arguments.iter().position(is_bundle)?;
    arguments.get(at.checked_add(1)?).cloned()
}

/// The argument after one of these options.
pub(super) fn value_of(arguments: &[Word], names: &[&str]) -> Option<Word> {
    for (i, word) in arguments.iter().enumerate() {
        if names.contains(&word.text.as_str()) {
            return arguments.get(i.saturating_add(1)).cloned();
        }
        for name in names.iter().filter(|name| name.starts_with("--")) {
            if let Some(value) = word.text.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
                return Some(Word { text: value.to_owned(), ..word.clone() });
            }
        }
    }
    None
}

/// `A=b` as a word.
fn assignment(word: &Word) -> Option<(String, Word)> {
    let (name, value) = word.text.split_once('=')?;
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    valid.then(|| (name.to_owned(), Word { text: value.to_owned(), ..word.clone() }))
}

/// One of these, as a name stands for them in turn.
fn any_of(words: Vec<Word>, spelled: &str) -> Word {
    if let [only] = words.as_slice() {
        return only.clone();
    }
    let known = !words.is_empty() && words.iter().all(Word::is_plain);
    let under =
        words.iter().flat_map(|word| if known { vec![sources::path_text(word)] } else { folder_of_pattern(word) });
    Word { under: under.collect(), ..Word::unknown(spelled) }
}

/// The folder in which a pattern is looked for, or those beneath which a word lies.
fn folder_of_pattern(word: &Word) -> Vec<String> {
    match word.text.split_once("/**/") {
        Some((folder, _)) if word.known => vec![folder.to_owned()],
        _ => word.under.clone(),
    }
}

/// `{}` with each of the items in its place; inside a longer word with any of them.
fn with_each(word: &Word, items: &[Word]) -> Vec<Word> {
    if word.text == "{}" {
        items.iter().map(|item| replaced(word, "{}", item)).collect()
    } else {
        vec![replaced(word, "{}", &any_of(items.to_vec(), "{}"))]
    }
}

/// `word` with `place` replaced by `item`.
fn replaced(word: &Word, place: &str, item: &Word) -> Word {
    if word.text == place {
        return Word { raw: word.raw.clone(), ..item.clone() };
    }
    if !word.text.contains(place) {
        return word.clone();
    }
    // Inside a longer text, a value that is not known is spelled as a variable, so that text read
    // as a script again does not take it for a name.
    let text = if item.known { item.text.clone() } else { "$ITEM".to_owned() };
    Word { text: word.text.replace(place, &text), known: word.known && item.known, ..word.clone() }
}

/// Words as a Windows shell gets them: the spelling where nothing was quoted, so that
/// backslashes stay, and the value otherwise.
fn joined(words: &[Word]) -> String {
    let only = words.len() == 1;
    let texts: Vec<String> = words
        .iter()
        .map(|word| {
            if word.raw.contains(['"', '\'', '$', '`', '~', '{']) || word.raw.is_empty() {
                if only || !word.text.contains(' ') { word.text.clone() } else { format!("\"{}\"", word.text) }
            } else {
                word.raw.clone()
            }
        })
        .collect();
    texts.join(" ")
}

/// The word is the decoded form of literal text.
fn is_decoded(word: &Word) -> bool {
    word.known && word.output_of == Some(CodeSource::Decoded)
}

/// `"$X"`: the whole word is a value.
fn is_one_expansion(raw: &str) -> bool {
    let bare = raw.trim_matches('"');
    bare.starts_with('$') && !bare.contains(char::is_whitespace)
}

fn utf16(text: &str) -> Option<String> {
    let bytes = sources::base64_bytes(text)?;
    let units: Vec<u16> = bytes
        .chunks(2)
        .map(|pair| match pair {
            [low, high] => u16::from_le_bytes([*low, *high]),
            _ => 0xfffd,
        })
        .collect();
    Some(String::from_utf16_lossy(&units))
}
