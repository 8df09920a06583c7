//! Where text comes from: the output of commands whose words are all known, and the kind of
//! source when they are not.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{alphabet, engine::DecodePaddingMode};

use super::walk::Reader;
use super::word::here;
use super::{CodeSource, Command, RedirectKind, Stdin, Word};

/// Pipes longer than this are not followed back.
const MAX_PIPE: usize = 16;

/// Text whose origin is known.
pub(super) struct Produced {
    pub(super) text: String,
    pub(super) decoded: bool,
}

impl Reader<'_> {
    /// The value of a substitution whose commands stand in this range, when it is known.
    pub(super) fn output(&self, range: Range<usize>) -> Option<Word> {
        let commands = self.commands.get(range.clone())?;
        let last = commands.last()?;
        let depth = commands.iter().map(|command| command.via.len()).min()?;
        let principal = self.principal(range.start, depth).into_iter().filter(|at| range.contains(at)).count();
        let moves = commands.iter().filter(|command| command.program() == "cd").count();
        if principal.saturating_sub(moves) != self.pipe_length(last) || last.via.len() != depth {
            return None;
        }
        let argument =
            |word: &Word, text: &str| Word { text: text.to_owned(), ..Word { raw: text.to_owned(), ..word.clone() } };
        match (last.program().as_str(), last.arguments()) {
            // `cd folder && pwd`
            ("pwd", _) if commands.iter().any(|command| command.program() == "cd") => {
                self.files?.folder(&last.directory).map(Word::literal)
            }
            ("pwd", _) => Some(here()),
            ("git", [verb, option]) if verb.text == "rev-parse" && option.text == "--show-toplevel" => {
                self.files?.root(&last.directory).map(Word::literal)
            }
            ("git", [verb, option])
                if verb.text == "rev-parse" && matches!(option.text.as_str(), "--git-dir" | "--absolute-git-dir") =>
            {
                self.files?.root(&last.directory).map(|root| Word::literal(format!("{root}/.git")))
            }
            ("npm", [verb]) if verb.text == "root" => {
                self.files?.folder(&last.directory).map(|folder| Word::literal(format!("{folder}/node_modules")))
            }
            ("which", [word]) | ("command" | "type", [_, word]) if word.is_plain() && !word.text.starts_with('-') => {
                let looks = last.program() == "which"
                    || matches!(last.arguments(), [flag, _] if matches!(flag.text.as_str(), "-v" | "-P" | "-p"));
                looks.then(|| Word::literal(format!("/usr/bin/{}", super::program_name(&word.text))))
            }
            ("echo", [word]) if word.is_plain() && !word.text.starts_with('-') => Some(word.clone()),
            ("realpath", [word]) if word.is_plain() && !word.text.starts_with('-') => Some(word.clone()),
            ("readlink", [flag, word]) if flag.text == "-f" && word.is_plain() => Some(word.clone()),
            ("dirname", [word]) if word.is_plain() => {
                let text = word.text.trim_end_matches('/');
                Some(argument(
                    word,
                    text.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder }),
                ))
            }
            ("basename", [word]) if word.is_plain() => {
                let text = word.text.trim_end_matches('/');
                Some(Word { home: false, ..argument(word, text.rsplit('/').next().unwrap_or(text)) })
            }
            _ => {
                let produced = self.produced(last, 0)?;
                let text = produced.text.trim_end_matches('\n').to_owned();
                Some(Word {
                    quoted: true,
                    output_of: produced.decoded.then_some(CodeSource::Decoded),
                    ..Word::literal(text)
                })
            }
        }
    }

    fn pipe_length(&self, last: &Command) -> usize {
        let mut length = 1_usize;
        let mut current = last;
        while let Stdin::Pipe(upstream) = &current.stdin
            && let [at] = upstream.as_slice()
            && let Some(command) = self.commands.get(*at)
            && length < MAX_PIPE
        {
            length = length.saturating_add(1);
            current = command;
        }
        length
    }

    /// What arrives on this standard input, when it is known.
    pub(super) fn arriving(&self, stdin: &Stdin, depth: usize) -> Option<Produced> {
        match stdin {
            Stdin::Text { text, known: true } => Some(Produced { text: text.clone(), decoded: false }),
            Stdin::Pipe(upstream) if depth < MAX_PIPE => {
                let mut all = Produced { text: String::new(), decoded: false };
                for at in upstream {
                    let produced = self.produced(self.commands.get(*at)?, depth)?;
                    all.text.push_str(&produced.text);
                    all.decoded |= produced.decoded;
                }
                (!upstream.is_empty()).then_some(all)
            }
            _ => None,
        }
    }

    /// What a command prints, when that is known.
    pub(super) fn produced(&self, command: &Command, depth: usize) -> Option<Produced> {
        let depth = depth.saturating_add(1);
        let arguments = command.arguments();
        if command
            .redirects
            .iter()
            .any(|redirect| redirect.kind != RedirectKind::Read && !is_null(&redirect.target.text))
        {
            return None;
        }
        let plain = |text: String| Some(Produced { text, decoded: false });
        match command.program().as_str() {
            "echo" if arguments.iter().all(Word::is_plain) => {
                let options = arguments
                    .iter()
                    .take_while(|w| matches!(w.text.as_str(), "-n" | "-e" | "-ne" | "-en" | "-E"))
                    .count();
                let interpret = arguments.iter().take(options).any(|w| w.text.contains('e'));
                let newline = !arguments.iter().take(options).any(|w| w.text.contains('n'));
                let texts: Vec<&str> = arguments.iter().skip(options).map(|w| w.text.as_str()).collect();
                let mut text = texts.join(" ");
                if interpret {
                    text = escapes(&text);
                }
                if newline {
                    text.push('\n');
                }
                plain(text)
            }
            "printf" if arguments.iter().all(|w| w.known) => {
                let arguments =
                    if arguments.first().is_some_and(|w| w.text == "--") { arguments.get(1..)? } else { arguments };
                let (format, values) = arguments.split_first()?;
                plain(formatted(&format.text, values)?)
            }
            "cat" | "tee" if command.program() == "tee" || arguments.iter().all(|w| w.text == "-") => {
                self.arriving(&command.stdin, depth)
            }
            "base64"
                if arguments.iter().any(|w| matches!(w.text.as_str(), "-d" | "-D" | "--decode" | "-di" | "-id")) =>
            {
                let encoded = self.arriving(&command.stdin, depth)?;
                Some(Produced { text: decode_base64(&encoded.text)?, decoded: true })
            }
            "openssl"
                if arguments.iter().any(|w| w.text == "base64" || w.text == "-base64")
                    && arguments.iter().any(|w| w.text == "-d") =>
            {
                let encoded = self.arriving(&command.stdin, depth)?;
                Some(Produced { text: decode_base64(&encoded.text)?, decoded: true })
            }
            "xxd"
                if arguments.iter().any(|w| w.text.contains('r')) && arguments.iter().any(|w| w.text.contains('p')) =>
            {
                let encoded = self.arriving(&command.stdin, depth)?;
                Some(Produced { text: decode_hex(&encoded.text)?, decoded: true })
            }
            "rev" => {
                let produced = self.arriving(&command.stdin, depth)?;
                let lines: Vec<String> = produced.text.lines().map(|line| line.chars().rev().collect()).collect();
                Some(Produced { text: lines.join("\n"), decoded: true })
            }
            _ => None,
        }
    }

    /// The kind of source that the commands of this range are, taken together.
    pub(super) fn source(&self, range: Range<usize>) -> CodeSource {
        let commands = self.commands.get(range.clone()).unwrap_or_default();
        if !commands.is_empty() && commands.iter().all(|command| kind(command) == CodeSource::Setup) {
            return CodeSource::Setup;
        }
        strongest(self.commands.get(range).unwrap_or_default().iter().map(kind))
    }

    /// Where the code on this standard input comes from.
    pub(super) fn stdin_source(&self, stdin: &Stdin) -> Option<CodeSource> {
        match stdin {
            Stdin::None => None,
            Stdin::Text { text, known: true } => Some(CodeSource::Literal(text.clone())),
            Stdin::Text { .. } => Some(CodeSource::Computed),
            Stdin::File(word) => word.output_of.clone().or_else(|| self.written_source(&word.text)),
            Stdin::Pipe(_) => {
                if let Some(produced) = self.arriving(stdin, 0) {
                    return Some(if produced.decoded {
                        CodeSource::Decoded
                    } else {
                        CodeSource::Literal(produced.text)
                    });
                }
                let mut kinds = Vec::new();
                let mut open = vec![stdin];
                let mut steps = 0_usize;
                while let Some(Stdin::Pipe(upstream)) = open.pop() {
                    for command in upstream.iter().filter_map(|at| self.commands.get(*at)) {
                        kinds.push(kind(command));
                        // A file that a download wrote, read again by `cat`.
                        kinds.extend(command.arguments().iter().filter_map(|word| self.written_source(&word.text)));
                        open.push(&command.stdin);
                        steps = steps.saturating_add(1);
                    }
                    if steps > 200 {
                        break;
                    }
                }
                Some(strongest(kinds.into_iter()))
            }
        }
    }

    /// The source of a file that a downloading or decoding command of this text wrote.
    pub(super) fn written_source(&self, path: &str) -> Option<CodeSource> {
        let path = path.trim_start_matches("./");
        self.written.iter().find(|(written, _)| written == path).map(|(_, source)| source.clone())
    }

    /// Remembers the files that a downloading or decoding command writes.
    pub(super) fn note_written(&mut self, command: &Command) {
        let mut source = kind(command);
        if source == CodeSource::Computed && matches!(command.stdin, Stdin::Pipe(_)) {
            match self.stdin_source(&command.stdin) {
                Some(upstream @ (CodeSource::Downloaded | CodeSource::Decoded)) => source = upstream,
                _ => return,
            }
        }
        if matches!(source, CodeSource::Computed | CodeSource::Setup) || self.written.len() > 64 {
            return;
        }
        let mut paths: Vec<String> =
            command.redirects.iter().filter(|r| r.kind != RedirectKind::Read).map(|r| r.target.text.clone()).collect();
        let program = command.program();
        let arguments = command.arguments();
        for (i, word) in arguments.iter().enumerate() {
            let next = arguments.get(i.saturating_add(1)).map(|w| w.text.clone());
            let text = word.text.as_str();
            match program.as_str() {
                "curl" | "wget" | "aria2c" | "openssl" | "iwr" | "Invoke-WebRequest" | "gpg" => {
                    let cluster = text.starts_with('-')
                        && !text.starts_with("--")
                        && text.ends_with(if program == "wget" { 'O' } else { 'o' });
                    if cluster || matches!(text, "--output" | "--output-document" | "-out" | "-OutFile") {
                        paths.extend(next);
                    } else if let Some(path) =
                        text.strip_prefix("--output=").or_else(|| text.strip_prefix("--output-document="))
                    {
                        paths.push(path.to_owned());
                    } else if text.contains("://") {
                        let page = text.split(['?', '#']).next().unwrap_or(text);
                        paths.extend(page.rsplit('/').next().map(str::to_owned));
                    }
                }
                "tee" if !text.starts_with('-') => paths.push(text.to_owned()),
                _ => {}
            }
        }
        for path in paths {
            let path = path.trim_start_matches("./").to_owned();
            if !path.is_empty() && !is_null(&path) {
                self.written.push((path, source.clone()));
            }
        }
    }

    /// The folders beneath which the paths lie that the commands of this range print: what
    /// `mktemp` makes, and lists of files.
    pub(super) fn printed_under(&self, range: Range<usize>) -> Vec<String> {
        let Some(last) = range.end.checked_sub(1).filter(|last| range.contains(last)) else { return Vec::new() };
        let Some(command) = self.commands.get(last) else { return Vec::new() };
        if command.program() != "mktemp" || range.len() > 1 {
            return self.listed_under(&Stdin::Pipe(vec![last]));
        }
        let mut folder = None;
        let mut template = None;
        let mut arguments = command.arguments().iter();
        while let Some(word) = arguments.next() {
            match word.text.as_str() {
                "-p" | "--tmpdir" => folder = arguments.next().filter(|w| w.is_plain()).map(|w| w.text.clone()),
                "-t" => template = arguments.next().map(|_| "/tmp".to_owned()),
                text if text.starts_with("--tmpdir=") => {
                    folder = text.strip_prefix("--tmpdir=").filter(|_| word.is_plain()).map(str::to_owned)
                }
                text if text.starts_with('-') => {}
                text if word.is_plain() => {
                    template = Some(text.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned())
                }
                _ => return Vec::new(),
            }
        }
        vec![folder.or(template).unwrap_or_else(|| "/tmp".to_owned())]
    }

    /// One of the paths on this standard input, as far as it is known: what a pattern of `find` matches, or something beneath
    /// the folders that are listed.
    pub(super) fn listed_item(&self, stdin: &Stdin, spelled: &str) -> Vec<Word> {
        self.listed_paths(stdin, spelled, 0)
            .unwrap_or_else(|| vec![Word { under: self.listed_under(stdin), ..Word::unknown(spelled) }])
    }

    /// The paths on this standard input, or some more. `None` where only the folders are known.
    fn listed_paths(&self, stdin: &Stdin, spelled: &str, depth: usize) -> Option<Vec<Word>> {
        let Stdin::Pipe(upstream) = stdin else { return None };
        let [at] = upstream.as_slice() else { return None };
        let command = self.commands.get(*at)?;
        let arguments = command.arguments();
        let prints_else = || arguments.iter().any(|w| w.text.starts_with("-exec") || w.text.starts_with("-printf"));
        match command.program().as_str() {
            "find" if !prints_else() => Some(self.found(command, None, spelled)),
            "git" => tracked_paths(arguments, spelled),
            // They leave lines out, or order them.
            "grep" | "egrep" | "sort" | "uniq" | "head" | "tail"
                if depth < MAX_PIPE && arguments.iter().all(|w| !w.text.starts_with("-o")) =>
            {
                let operands = arguments.iter().filter(|w| !w.text.starts_with('-')).count();
                let reads_input = operands <= usize::from(command.program().ends_with("grep"));
                reads_input.then(|| self.listed_paths(&command.stdin, spelled, depth.saturating_add(1))).flatten()
            }
            _ => None,
        }
    }

    /// Whether the commands of this range print something that is no path: a name, a date, a number.
    pub(super) fn prints_a_name(&self, range: Range<usize>) -> bool {
        let [only] = self.commands.get(range).unwrap_or_default() else { return false };
        let arguments = only.arguments();
        let plain = arguments.iter().all(|word| word.known && !word.text.contains(".."));
        let is_name = match (only.program().as_str(), arguments) {
            ("whoami" | "hostname" | "uname" | "uuidgen" | "nproc" | "date" | "arch", _) => true,
            ("id", [flag]) => matches!(flag.text.as_str(), "-u" | "-un" | "-g" | "-gn"),
            ("git", [verb, .., last]) => {
                verb.text == "rev-parse" && last.text == "HEAD" && arguments.iter().any(|w| w.text == "--short")
            }
            _ => false,
        };
        is_name && plain && only.redirects.is_empty()
    }

    /// The paths that the commands of this range print, one by one.
    pub(super) fn printed_paths(&self, range: Range<usize>, spelled: &str) -> Option<Vec<Word>> {
        let last = range.end.checked_sub(1).filter(|last| range.contains(last))?;
        let words = self.listed_paths(&Stdin::Pipe(vec![last]), spelled, 0)?;
        // A pattern among them is no text that was quoted.
        Some(words.into_iter().map(|word| Word { quoted: true, ..word }).collect())
    }

    /// The folders beneath which the paths on this standard input lie, when that is certain.
    pub(super) fn listed_under(&self, stdin: &Stdin) -> Vec<String> {
        let mut stdin = stdin;
        for _ in 0..MAX_PIPE {
            let upstream = match stdin {
                Stdin::Pipe(upstream) => upstream,
                // `done < <(find notes)`
                Stdin::File(word) if word.output_of.is_some() => return word.under.clone(),
                _ => return Vec::new(),
            };
            let [at] = upstream.as_slice() else { return Vec::new() };
            let Some(command) = self.commands.get(*at) else { return Vec::new() };
            let arguments = command.arguments();
            match command.program().as_str() {
                "find" | "fd" | "fdfind"
                    if arguments.iter().any(|w| w.text.starts_with("-exec") || w.text.starts_with("-printf")) =>
                {
                    return Vec::new();
                }
                "find" => return find_roots(arguments),
                "fd" | "fdfind" | "git" if arguments.iter().any(|w| !w.known || w.text.contains("..")) => {
                    return Vec::new();
                }
                "fd" | "fdfind" => return vec![".".to_owned()],
                "git" if arguments.iter().any(|w| matches!(w.text.as_str(), "ls-files" | "--name-only")) => {
                    return vec![".".to_owned()];
                }
                "grep" | "egrep" | "rg" | "ag"
                    if arguments.iter().any(|w| {
                        w.text.starts_with("--files")
                            || (w.text.starts_with('-') && !w.text.starts_with("--") && w.text.contains(['l', 'L']))
                    }) =>
                {
                    let names: Vec<&Word> = arguments.iter().filter(|w| !w.text.starts_with('-')).collect();
                    let roots = names.get(1..).unwrap_or_default();
                    if roots.iter().any(|w| !w.is_plain()) {
                        return Vec::new();
                    }
                    return if roots.is_empty() {
                        vec![".".to_owned()]
                    } else {
                        roots.iter().map(|w| path_text(w)).collect()
                    };
                }
                "grep" | "egrep" | "sort" | "uniq" | "head" | "tail" | "tee" => stdin = &command.stdin,
                "tr" if arguments.iter().all(|w| w.text.starts_with('\\')) => stdin = &command.stdin,
                _ => return Vec::new(),
            }
        }
        Vec::new()
    }
}

/// The folders that `find` starts from; empty when one of them is not known.
pub(super) fn find_roots(arguments: &[Word]) -> Vec<String> {
    let roots: Vec<&Word> = arguments
        .iter()
        .skip_while(|w| matches!(w.text.as_str(), "-H" | "-L" | "-P" | "-E" | "-X"))
        .take_while(|w| !w.text.starts_with(['-', '(', '!', ')']))
        .collect();
    if roots.iter().any(|w| !w.is_plain()) {
        return Vec::new();
    }
    if roots.is_empty() { vec![".".to_owned()] } else { roots.iter().map(|w| path_text(w)).collect() }
}

/// The files of git that these arguments name: those that match its patterns, or, of files that are gone, none.
fn tracked_paths(arguments: &[Word], spelled: &str) -> Option<Vec<Word>> {
    let (verb, rest) = arguments.split_first()?;
    let (options, paths): (Vec<&Word>, Vec<&Word>) = rest.iter().partition(|w| w.text.starts_with('-'));
    if verb.text != "ls-files" {
        return None;
    }
    let only = |names: &[&str]| !options.is_empty() && options.iter().all(|w| names.contains(&w.text.as_str()));
    if only(&["-d", "--deleted"]) {
        return Some(Vec::new());
    }
    let plain = options.iter().all(|w| matches!(w.text.as_str(), "--" | "-z" | "-c" | "--cached"));
    let simple = |w: &&Word| w.known && !w.text.starts_with([':', '/', '~']) && !w.text.contains("..");
    if !plain || paths.is_empty() || !paths.iter().all(simple) {
        return None;
    }
    let word = |path: &&Word| {
        // In a pattern of git a star passes slashes.
        let text = match path.text.rsplit_once('/') {
            _ if !path.text.contains(['*', '?', '[']) => return None,
            Some((folder, name)) if !folder.contains(['*', '?', '[']) => format!("{folder}/**/{name}"),
            Some(_) => return None,
            None => format!("./**/{}", path.text),
        };
        Some(Word { glob: true, raw: spelled.to_owned(), ..Word::literal(text) })
    };
    paths.iter().map(word).collect()
}

/// A path in which a leading `~` always is the home folder.
pub(super) fn path_text(word: &Word) -> String {
    if word.text.starts_with('~') && !word.home { format!("./{}", word.text) } else { word.text.clone() }
}

pub(super) fn is_null(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "NUL" | "nul" | "$null")
}

fn kind(command: &Command) -> CodeSource {
    let has = |options: &[&str]| command.arguments().iter().any(|w| options.contains(&w.text.as_str()));
    match command.program().to_ascii_lowercase().as_str() {
        "curl" | "wget" | "fetch" | "iwr" | "irm" | "invoke-webrequest" | "invoke-restmethod" | "http" | "https"
        | "xh" | "aria2c" | "lynx" | "nc" | "ncat" | "ftp" | "scp" | "sftp" | "bitsadmin" => CodeSource::Downloaded,
        "aws" if has(&["s3"]) => CodeSource::Downloaded,
        "gsutil" => CodeSource::Downloaded,
        "base64" | "base32" | "xxd" | "openssl" | "uudecode" | "gunzip" | "zcat" | "bunzip2" | "bzcat" | "xzcat"
        | "unxz" | "zstdcat" | "gpg" | "rev" => CodeSource::Decoded,
        "gzip" | "xz" | "bzip2" | "zstd" if has(&["-d", "-dc", "-cd", "--decompress"]) => CodeSource::Decoded,
        program if prints_setup(program, command) => CodeSource::Setup,
        _ => CodeSource::Computed,
    }
}

/// Whether an installed program is asked for the text with which a shell takes it in: `ssh-agent -s`, `brew shellenv`.
fn prints_setup(program: &str, command: &Command) -> bool {
    let operand = command.arguments().iter().find(|word| !word.text.starts_with('-')).map(|word| word.text.as_str());
    let asks = |verbs: &[&str]| operand.is_some_and(|operand| verbs.contains(&operand));
    match program {
        "ssh-agent" | "dircolors" | "register-python-argcomplete" => true,
        "brew" => asks(&["shellenv"]),
        "pyenv" | "rbenv" | "nodenv" | "goenv" | "jenv" | "plenv" | "zoxide" | "starship" | "thefuck" | "atuin"
        | "anyenv" => asks(&["init", "virtualenv-init"]),
        "conda" | "micromamba" | "mamba" => asks(&["shell", "shell.bash", "shell.zsh", "shell.posix"]),
        "direnv" => asks(&["hook", "export"]),
        "mise" | "rtx" => asks(&["activate", "env", "hook-env"]),
        "fnm" | "opam" | "docker-machine" | "luarocks" => asks(&["env", "path"]),
        "minikube" => asks(&["docker-env", "podman-env"]),
        "kubectl" | "helm" | "gh" | "docker" | "npm" | "pip" | "poetry" | "rustup" | "uv" | "pnpm" | "deno"
        | "kind" | "k3d" => asks(&["completion", "completions", "generate-shell-completion"]),
        _ => false,
    }
}

fn strongest(kinds: impl Iterator<Item = CodeSource>) -> CodeSource {
    kinds.fold(CodeSource::Computed, |so_far, kind| match (&so_far, &kind) {
        (CodeSource::Downloaded, _) => so_far,
        (_, CodeSource::Downloaded | CodeSource::Decoded) => kind,
        _ => so_far,
    })
}

/// Decodes base64, with or without padding, ignoring blanks; `None` when it is not text.
pub(super) fn decode_base64(text: &str) -> Option<String> {
    String::from_utf8(base64_bytes(text)?).ok()
}

pub(super) fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    let compact: String = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        })
        .collect();
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&alphabet::STANDARD, config).decode(compact).ok()
}

fn decode_hex(text: &str) -> Option<String> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high.saturating_mul(16).saturating_add(*low)).ok(),
            _ => None,
        })
        .collect::<Option<_>>()?;
    String::from_utf8(bytes).ok()
}

/// The escapes of `echo -e` and `printf`.
fn escapes(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            made.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => made.push('\n'),
            Some('t') => made.push('\t'),
            Some('r') => made.push('\r'),
            Some('x') => {
                let mut value = None;
                for _ in 0..2 {
                    if let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) {
                        chars.next();
                        value = Some(value.unwrap_or(0_u32).saturating_mul(16).saturating_add(digit));
                    }
                }
                made.extend(value.and_then(char::from_u32));
            }
            Some(first) if first.is_digit(8) => {
                let mut value = first.to_digit(8).unwrap_or(0);
                for _ in 0..3 {
                    if let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) {
                        chars.next();
                        value = value.saturating_mul(8).saturating_add(digit);
                    }
                }
                made.extend(char::from_u32(value));
            }
            Some('\\') => made.push('\\'),
            Some(other) => {
                made.push('\\');
                made.push(other);
            }
            None => made.push('\\'),
        }
    }
    made
}

/// What `printf` prints for a format of text, `%s`, `%b`, `%d` and `%%`.
fn formatted(format: &str, values: &[Word]) -> Option<String> {
    let format = escapes(format);
    let mut made = String::new();
    let mut values = values.iter();
    loop {
        let before = values.len();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                made.push(c);
                continue;
            }
            match chars.next()? {
                '%' => made.push('%'),
                's' | 'b' | 'd' => made.push_str(values.next().map(|w| w.text.as_str()).unwrap_or_default()),
                _ => return None,
            }
        }
        if values.len() == 0 || values.len() == before || made.len() > 65_536 {
            return Some(made);
        }
    }
}
