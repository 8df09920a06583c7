//! PowerShell and `cmd.exe` text.
//!
//! A modest reading: statements are split at separators, blocks and parentheses are read as
//! statements of their own, quotes and escapes of the dialect are removed, and variables that
//! were assigned a literal are filled in.

use super::walk::{Reader, Scope, Var, doubt};
use super::word::{Cursor, here};
use super::{CodeSource, Command, Dialect, Joined, Redirect, RedirectKind, Script, Stdin, Via, Word};

/// The shell of Windows that a text read as bash is for, if its commands look like that: cmdlets (`Remove-Item`), parameters in
/// their spelling (`-Recurse`), and commands of `cmd.exe` with its switches or backslashes.
pub(crate) fn dialect(script: &Script) -> Option<Dialect> {
    script.commands.iter().find_map(|command| {
        let program = command.words.first()?;
        let arguments = command.arguments();
        if is_cmdlet(&program.text) || arguments.iter().any(|word| is_parameter(&word.raw)) {
            return Some(Dialect::PowerShell);
        }
        let of_cmd = CMD_COMMANDS.contains(&program.text.to_ascii_lowercase().as_str());
        let spelled_so = |word: &Word| is_switch(&word.raw) || word.raw.contains('\\');
        (of_cmd && arguments.iter().any(spelled_so)).then_some(Dialect::Cmd)
    })
}

/// Commands of `cmd.exe` that change files.
const CMD_COMMANDS: [&str; 11] =
    ["del", "erase", "rd", "rmdir", "copy", "xcopy", "robocopy", "move", "ren", "rename", "format"];

/// `Remove-Item`
fn is_cmdlet(program: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase()) && part.chars().all(|c| c.is_ascii_alphabetic())
    };
    program.split_once('-').is_some_and(|(verb, noun)| is_name(verb) && is_name(noun))
}

fn is_parameter(word: &str) -> bool {
    ["-Recurse", "-Force", "-LiteralPath", "-Path", "-Destination", "-Filter", "-ErrorAction", "-Confirm:$false"]
        .contains(&word)
}

/// `/s`
fn is_switch(word: &str) -> bool {
    let letter = word.strip_prefix('/').and_then(|rest| rest.split(':').next());
    letter.is_some_and(|letter| letter.len() == 1 && letter.chars().all(|c| c.is_ascii_alphabetic()))
}

/// One statement that is being collected.
#[derive(Default)]
struct Statement {
    words: Vec<Word>,
    redirects: Vec<Redirect>,
    redirect: Option<RedirectKind>,
    word: Word,
    in_word: bool,
}

impl Statement {
    fn push(&mut self, c: char, quoted: bool) {
        self.start();
        self.word.quoted |= quoted;
        self.word.glob |= !quoted && matches!(c, '*' | '?');
        self.word.text.push(c);
    }

    fn start(&mut self) {
        if !self.in_word {
            self.in_word = true;
            self.word = Word { known: true, ..Word::default() };
        }
    }

    fn add(&mut self, value: &Word) {
        self.start();
        self.word.known &= value.known;
        self.word.home |= value.home && self.word.text.is_empty();
        if self.word.output_of.is_none() {
            self.word.output_of.clone_from(&value.output_of);
        }
        self.word.text.push_str(&value.text);
    }

    fn end_word(&mut self, raw: &str) {
        if !self.in_word {
            return;
        }
        self.in_word = false;
        let mut word = std::mem::take(&mut self.word);
        raw.trim().clone_into(&mut word.raw);
        let at_home = word.text.strip_prefix('~').is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']));
        word.home |= at_home && !word.quoted;
        match self.redirect.take() {
            Some(kind) => self.redirects.push(Redirect { kind, target: word }),
            None => self.words.push(word),
        }
    }
}

impl Reader<'_> {
    // ---- PowerShell

    pub(super) fn power_shell(&mut self, text: &str, scope: &mut Scope) -> std::ops::Range<usize> {
        let start = self.here();
        if self.enter_text(text) {
            if super::scan::is_binary(text) {
                self.mark(super::Unreadable::Binary);
            }
            if text.len() > super::MAX_TEXT {
                self.mark(super::Unreadable::TooLong);
            }
            self.power_shell_statements(text, scope);
        } else {
            self.flat(text, scope);
        }
        self.leave_text();
        self.since(start)
    }

    fn power_shell_statements(&mut self, text: &str, scope: &mut Scope) {
        let mut cursor = Cursor::new(text);
        let mut statement = Statement::default();
        let mut upstream: Option<Vec<usize>> = None;
        let mut word_start = cursor.rest;
        loop {
            if !statement.in_word {
                word_start = cursor.rest;
            }
            let before = cursor;
            let Some(c) = cursor.bump() else { break };
            match c {
                '`' => match cursor.bump() {
                    Some('\n') | None => {}
                    Some('n') if statement.in_word && statement.word.quoted => statement.push('\n', true),
                    Some(next) => statement.push(next, true),
                },
                '\'' => {
                    statement.start();
                    statement.word.quoted = true;
                    loop {
                        let run = cursor.take_while(|c| c != '\'');
                        statement.add(&Word::literal(run));
                        if cursor.bump().is_none() {
                            self.mark(super::Unreadable::SyntaxError);
                            // Never closed: read what follows the quote as commands, too.
                            let rest = before.rest.get(1..).unwrap_or_default();
                            self.power_shell(rest, scope);
                            break;
                        }
                        if !cursor.eat("'") {
                            break;
                        }
                        statement.push('\'', true);
                    }
                }
                '"' => self.power_shell_string(&mut cursor, &mut statement, scope),
                '$' if cursor.peek() == Some('(') => {
                    cursor.bump();
                    let value = self.power_shell_group(&mut cursor, ')', scope, Via::Substitution);
                    statement.add(&value);
                }
                '$' => {
                    let value = power_shell_variable(&mut cursor, scope);
                    statement.add(&value);
                }
                '@' if matches!(cursor.peek(), Some('(' | '{')) => {}
                '(' => {
                    let method =
                        statement.in_word && (statement.word.text.contains("::") || statement.word.text.contains(")."));
                    let inner_start = cursor.rest;
                    let value = self.power_shell_group(&mut cursor, ')', scope, Via::Substitution);
                    if method {
                        let inner = cursor.since(inner_start);
                        self.net_call(&statement.word.text.clone(), inner, scope);
                    }
                    statement.add(&value);
                }
                '{' => {
                    let looped = statement.words.first().is_some_and(|w| {
                        let name = w.text.to_ascii_lowercase();
                        matches!(
                            name.as_str(),
                            "foreach-object" | "foreach" | "%" | "while" | "for" | "do" | "where-object" | "?"
                        )
                    });
                    let via = if looped { Via::Loop } else { Via::Conditional };
                    let value = self.power_shell_group(&mut cursor, '}', scope, via);
                    statement.end_word(before.since(word_start));
                    statement.add(&Word { quoted: true, ..value });
                }
                ')' | '}' => {}
                '#' if !statement.in_word => {
                    cursor.take_while(|c| c != '\n');
                }
                '<' if cursor.peek() == Some('#') => {
                    cursor.rest = cursor.rest.split_once("#>").map_or("", |(_, rest)| rest);
                }
                ' ' | '\t' | '\r' | ',' => statement.end_word(before.since(word_start)),
                '>' => {
                    if matches!(statement.word.text.as_str(), "1" | "2" | "3" | "4" | "5" | "6" | "*")
                        && statement.in_word
                    {
                        statement.in_word = false;
                    } else {
                        statement.end_word(before.since(word_start));
                    }
                    if cursor.eat("&") {
                        cursor.take_while(|c| c.is_ascii_digit());
                    } else {
                        statement.redirect =
                            Some(if cursor.eat(">") { RedirectKind::Append } else { RedirectKind::Write });
                    }
                }
                ';' | '\n' | '|' | '&' => {
                    statement.end_word(before.since(word_start));
                    let joined = match (c, cursor.peek()) {
                        ('|', Some('|')) => Joined::Or,
                        ('&', Some('&')) => Joined::And,
                        ('|', _) => Joined::Pipe,
                        _ => Joined::Sequence,
                    };
                    if matches!(joined, Joined::Or | Joined::And) {
                        cursor.bump();
                    }
                    // The call operator stands before the program.
                    if c == '&' && joined == Joined::Sequence && statement.words.is_empty() {
                        continue;
                    }
                    let at = self.here();
                    let stdin = upstream.take();
                    self.power_shell_statement(std::mem::take(&mut statement), stdin, scope);
                    if joined == Joined::Pipe {
                        upstream = Some(self.principal(at, scope.via.len()));
                    }
                    scope.joined = joined;
                }
                _ => statement.push(c, false),
            }
        }
        statement.end_word(word_start);
        self.power_shell_statement(statement, upstream, scope);
        scope.joined = Joined::Sequence;
    }

    /// Reads a block or a group as statements; the value that stands for it.
    fn power_shell_group(&mut self, cursor: &mut Cursor<'_>, close: char, scope: &mut Scope, via: Via) -> Word {
        let start = cursor.rest;
        let open = if close == ')' { '(' } else { '{' };
        let mut depth = 1_usize;
        while let Some(c) = cursor.bump() {
            if c == '`' {
                cursor.bump();
            } else if c == '\'' || c == '"' {
                cursor.take_while(|q| q != c);
                cursor.bump();
            } else if c == open {
                depth = depth.saturating_add(1);
            } else if c == close {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
        }
        let spelled = cursor.since(start);
        let inner = if depth == 0 { spelled.strip_suffix(close).unwrap_or(spelled) } else { spelled };
        if let Some(literal) = literal(inner.trim()) {
            return literal;
        }
        let mut child = scope.clone();
        child.stdin = Stdin::None;
        child.via.push(via);
        let range = self.power_shell(inner, &mut child);
        let mut word = Word::unknown(format!("{open}{spelled}"));
        word.output_of = Some(if inner.to_ascii_lowercase().contains(".download") {
            CodeSource::Downloaded
        } else {
            self.source(range)
        });
        word
    }

    fn power_shell_string(&mut self, cursor: &mut Cursor<'_>, statement: &mut Statement, scope: &mut Scope) {
        statement.start();
        statement.word.quoted = true;
        while let Some(c) = cursor.bump() {
            match c {
                '"' if cursor.eat("\"") => statement.push('"', true),
                '"' => return,
                '`' => match cursor.bump() {
                    Some('n') => statement.push('\n', true),
                    Some('t') => statement.push('\t', true),
                    Some(next) => statement.push(next, true),
                    None => {}
                },
                '$' if cursor.peek() == Some('(') => {
                    cursor.bump();
                    let value = self.power_shell_group(cursor, ')', scope, Via::Substitution);
                    statement.add(&value);
                }
                '$' => {
                    let value = power_shell_variable(cursor, scope);
                    statement.add(&value);
                }
                _ => statement.push(c, true),
            }
        }
        self.mark(super::Unreadable::SyntaxError);
    }

    /// `[System.IO.File]::Delete('x')` and its like, as `rm`.
    fn net_call(&mut self, name: &str, arguments: &str, scope: &mut Scope) {
        let lower = name.to_ascii_lowercase();
        let program = if lower.ends_with("::delete") || lower.ends_with(").delete") {
            "rm"
        } else if lower.ends_with("::move") {
            "mv"
        } else {
            return;
        };
        let arguments = arguments.trim_end_matches(')');
        let mut words = vec![Word::literal(program)];
        if lower.starts_with('(') {
            words.push(Word::unknown(name));
        }
        if program == "rm" && lower.contains("directory") {
            words.push(Word::literal("-r"));
        }
        for argument in arguments.split(',').map(str::trim) {
            if !argument.is_empty()
                && !argument.eq_ignore_ascii_case("$true")
                && !argument.eq_ignore_ascii_case("$false")
            {
                words.push(literal(argument).unwrap_or_else(|| Word::unknown(argument)));
            }
        }
        let command = Command { words, backslashes: true, ..self.blank(scope) };
        self.push(command);
    }

    fn power_shell_statement(&mut self, mut statement: Statement, upstream: Option<Vec<usize>>, scope: &mut Scope) {
        if statement.words.is_empty() && statement.redirects.is_empty() {
            return;
        }
        // `$x = value`
        if let [target, equals, rest @ ..] = statement.words.as_slice()
            && equals.text == "="
            && !equals.quoted
            && target.raw.starts_with('$')
        {
            let name = target.raw.trim_start_matches('$').to_ascii_lowercase();
            match rest {
                [value] if value.quoted || !value.known || value.text.parse::<f64>().is_ok() => {
                    scope.set(&name, Var::scalar(value.clone()));
                    return;
                }
                _ => scope.set_unknown(&name),
            }
            statement.words = rest.to_vec();
        }
        // `$x in list`, the head of a loop.
        if statement.words.get(1).is_some_and(|w| w.text.eq_ignore_ascii_case("in") && !w.quoted) {
            statement.words.drain(..2);
        }
        let chained = |w: &Word| {
            !w.quoted
                && matches!(w.text.to_ascii_lowercase().as_str(), "else" | "elseif" | "catch" | "finally" | "until")
        };
        if statement.words.iter().any(|w| w.raw.starts_with('{')) {
            statement.words.retain(|w| !chained(w));
        }
        while statement.words.first().is_some_and(|w| {
            !w.quoted
                && matches!(
                    w.text.to_ascii_lowercase().as_str(),
                    "if" | "elseif"
                        | "else"
                        | "foreach"
                        | "while"
                        | "try"
                        | "catch"
                        | "finally"
                        | "do"
                        | "until"
                        | "return"
                        | "param"
                        | "switch"
                        | "="
                )
        }) {
            statement.words.remove(0);
        }
        // What is left of blocks and groups has been read; a string by itself is data.
        if statement.redirects.is_empty()
            && statement
                .words
                .iter()
                .all(|w| w.raw.starts_with(['(', '{', '}', ')', '@', '"', '\'', '$', '[']) || (w.quoted && !w.known))
        {
            return;
        }
        if let Some(first) = statement.words.first()
            && first.text.eq_ignore_ascii_case("function")
        {
            return;
        }
        let mut command =
            Command { words: statement.words, redirects: statement.redirects, backslashes: true, ..self.blank(scope) };
        if let Some(upstream) = upstream {
            command.stdin = Stdin::Pipe(upstream);
            command.joined = Joined::Pipe;
        }
        doubt(&mut command, scope);
        match command.program().to_ascii_lowercase().as_str() {
            "set-location" | "sl" | "push-location" | "cd" | "chdir" | "pushd" => {
                let target = command.arguments().iter().find(|w| !w.text.starts_with('-')).cloned();
                if let Some(target) = target {
                    scope.change_directory(&slashes(&target));
                }
                self.push(command);
            }
            "pop-location" | "popd" => {
                scope.directory = super::Directory::Unknown;
                self.push(command);
            }
            "invoke-expression" | "iex" => self.invoke_expression(command, scope),
            "start-process" | "saps" if command.arguments().iter().any(|w| w.text.eq_ignore_ascii_case("runas")) => {
                command.via.push(Via::Sudo("runas".to_owned()));
                self.push(command);
            }
            "set" | "read" | "alias" | "export" | "trap" | "eval" | "shift" | "local" | "." | "source" => {
                self.note_written(&command);
                self.push(command);
            }
            _ => self.run(command, scope, false),
        }
    }

    fn invoke_expression(&mut self, mut command: Command, scope: &mut Scope) {
        let argument = command.arguments().iter().find(|w| !w.text.eq_ignore_ascii_case("-command")).cloned();
        let text = match &argument {
            Some(word) if word.known => {
                command.code_from = Some(CodeSource::Literal(word.text.clone()));
                Some(word.text.clone())
            }
            Some(word) => {
                command.code_from = Some(word.output_of.clone().unwrap_or(CodeSource::Computed));
                None
            }
            None => {
                command.code_from = Some(self.stdin_source(&command.stdin).unwrap_or(CodeSource::Computed));
                None
            }
        };
        let mut child = scope.clone();
        child.via.clone_from(&command.via);
        child.via.push(Via::Eval);
        child.stdin = Stdin::None;
        self.push(command);
        if let Some(text) = text {
            self.power_shell(&text, &mut child);
        }
    }

    // ---- cmd.exe

    pub(super) fn cmd(&mut self, text: &str, scope: &mut Scope) -> std::ops::Range<usize> {
        let start = self.here();
        if self.enter_text(text) {
            if super::scan::is_binary(text) {
                self.mark(super::Unreadable::Binary);
            }
            if text.len() > super::MAX_TEXT {
                self.mark(super::Unreadable::TooLong);
            }
            self.cmd_statements(text, scope);
        } else {
            self.flat(text, scope);
        }
        self.leave_text();
        self.since(start)
    }

    fn cmd_statements(&mut self, text: &str, scope: &mut Scope) {
        let mut cursor = Cursor::new(text);
        let mut statement = Statement::default();
        let mut upstream = None;
        let mut quoted = false;
        let mut word_start = cursor.rest;
        loop {
            if !statement.in_word {
                word_start = cursor.rest;
            }
            let before = cursor;
            let Some(c) = cursor.bump() else { break };
            match c {
                '"' => {
                    quoted = !quoted;
                    statement.start();
                    statement.word.quoted = true;
                }
                '^' if !quoted => match cursor.bump() {
                    Some('\n') | None => {}
                    Some('\r') => {
                        cursor.eat("\n");
                    }
                    Some(next) => statement.push(next, true),
                },
                '%' => {
                    let value = cmd_variable(&mut cursor, scope);
                    statement.add(&value);
                }
                '!' if cursor.rest.find('!').is_some_and(|at| {
                    cursor.rest.get(..at).is_some_and(|name| {
                        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                    })
                }) =>
                {
                    let name = cursor.take_while(|c| c != '!');
                    cursor.bump();
                    statement.add(&variable(name, &format!("!{name}!"), scope));
                }
                _ if quoted && c != '\n' => statement.push(c, true),
                ' ' | '\t' | '\r' | ',' | ';' | '=' if !(c == '=' && set_command(&statement)) => {
                    statement.end_word(before.since(word_start))
                }
                '>' | '<' => {
                    if matches!(statement.word.text.as_str(), "0" | "1" | "2") && statement.in_word {
                        statement.in_word = false;
                    } else {
                        statement.end_word(before.since(word_start));
                    }
                    if cursor.eat("&") {
                        cursor.take_while(|c| c.is_ascii_digit());
                    } else if c == '<' {
                        statement.redirect = Some(RedirectKind::Read);
                    } else {
                        statement.redirect =
                            Some(if cursor.eat(">") { RedirectKind::Append } else { RedirectKind::Write });
                    }
                }
                '&' | '|' | '\n' | '(' | ')' => {
                    quoted = false;
                    statement.end_word(before.since(word_start));
                    if c == '('
                        && statement
                            .words
                            .first()
                            .is_some_and(|w| w.text.trim_start_matches('@').eq_ignore_ascii_case("for"))
                    {
                        // The list of a loop is data.
                        cursor.take_while(|c| c != ')');
                        cursor.bump();
                        statement = Statement::default();
                        continue;
                    }
                    let joined = match (c, cursor.peek()) {
                        ('&', Some('&')) => Joined::And,
                        ('|', Some('|')) => Joined::Or,
                        ('|', _) => Joined::Pipe,
                        _ => Joined::Sequence,
                    };
                    if matches!(joined, Joined::And | Joined::Or) {
                        cursor.bump();
                    }
                    let at = self.here();
                    let stdin = upstream.take();
                    self.cmd_statement(std::mem::take(&mut statement), stdin, scope);
                    if joined == Joined::Pipe {
                        upstream = Some(self.principal(at, scope.via.len()));
                    }
                    scope.joined = joined;
                }
                _ => statement.push(c, false),
            }
        }
        if quoted {
            self.mark(super::Unreadable::SyntaxError);
        }
        statement.end_word(word_start);
        self.cmd_statement(statement, upstream, scope);
        scope.joined = Joined::Sequence;
    }

    fn cmd_statement(&mut self, mut statement: Statement, upstream: Option<Vec<usize>>, scope: &mut Scope) {
        if let Some(first) = statement.words.first_mut()
            && let Some(rest) = first.text.strip_prefix('@')
        {
            first.text = rest.to_owned();
        }
        let words = &statement.words;
        let lower = |at: usize| words.get(at).map(|w| w.text.to_ascii_lowercase()).unwrap_or_default();
        // Where the command begins, after what only leads to it.
        let mut at = 0_usize;
        while at < words.len() {
            let next = at.saturating_add(1);
            at = match lower(at).as_str() {
                "rem" => return,
                name if name.starts_with("::") => return,
                // The list has been passed over; the body follows `do`.
                "for" => return,
                "" | "call" | "do" | "else" | "not" => next,
                "if" => {
                    let skipped = words
                        .iter()
                        .skip(next)
                        .take_while(|w| w.text.eq_ignore_ascii_case("not") || w.text.eq_ignore_ascii_case("/i"));
                    let condition = next.saturating_add(skipped.count());
                    let compares = matches!(
                        lower(condition.saturating_add(1)).as_str(),
                        "equ" | "neq" | "lss" | "leq" | "gtr" | "geq"
                    );
                    // `exist x`, `defined x`; `a==b` is split at the signs.
                    condition.saturating_add(if compares { 3 } else { 2 })
                }
                "start" => {
                    let titles = words.iter().skip(next).take_while(|w| {
                        w.text.starts_with('/') || (w.quoted && w.raw.starts_with('"') && !w.text.contains('.'))
                    });
                    next.saturating_add(titles.count())
                }
                _ => break,
            };
        }
        let led = at > 0;
        statement.words.drain(..at.min(statement.words.len()));
        if led && statement.words.is_empty() && statement.redirects.is_empty() {
            return;
        }
        if statement.words.is_empty() && statement.redirects.is_empty() {
            return;
        }
        let mut command =
            Command { words: statement.words, redirects: statement.redirects, backslashes: true, ..self.blank(scope) };
        if let Some(upstream) = upstream {
            command.stdin = Stdin::Pipe(upstream);
            command.joined = Joined::Pipe;
        }
        doubt(&mut command, scope);
        match command.program().to_ascii_lowercase().as_str() {
            "cd" | "chdir" | "pushd" => {
                let target = command.arguments().iter().find(|w| !w.text.eq_ignore_ascii_case("/d")).cloned();
                if let Some(target) = target {
                    scope.change_directory(&slashes(&target));
                }
                self.push(command);
            }
            "set" => {
                if let Some(word) = command.arguments().iter().find(|w| !w.text.starts_with('/'))
                    && let Some((name, value)) = word.text.split_once('=')
                {
                    let var = Var::scalar(Word { text: value.to_owned(), ..word.clone() });
                    scope.set(&name.to_ascii_lowercase(), var);
                }
                self.push(command);
            }
            "read" | "alias" | "export" | "trap" | "eval" | "shift" | "local" | "find" | "time" | "sort" => {
                self.push(command);
            }
            _ => self.run(command, scope, false),
        }
    }
}

/// `set NAME=value` keeps its sign.
fn set_command(statement: &Statement) -> bool {
    statement.words.first().is_some_and(|w| w.text.eq_ignore_ascii_case("set"))
}

/// A folder of Windows with the separators that [`super::Directory`] uses.
fn slashes(word: &Word) -> Word {
    Word { text: word.text.replace('\\', "/"), ..word.clone() }
}

/// A number or a quoted string without expansions.
fn literal(text: &str) -> Option<Word> {
    let quote = text.chars().next()?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let plain = match quote {
        '\'' => !inner.contains('\''),
        '"' => !inner.contains(['"', '$', '`']),
        _ => false,
    };
    plain.then(|| Word { quoted: true, ..Word::literal(inner) })
}

fn power_shell_variable(cursor: &mut Cursor<'_>, scope: &Scope) -> Word {
    let start = cursor.rest;
    if cursor.eat("{") {
        let name = cursor.take_while(|c| c != '}');
        cursor.bump();
        return variable(name, &format!("${{{name}}}"), scope);
    }
    let name = cursor.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '?'));
    if name.is_empty() {
        return Word::literal("$");
    }
    // A property of a value is not known.
    let plain = !cursor.rest.starts_with('.') || cursor.rest.starts_with(".\\") || cursor.rest.starts_with("./");
    let spelled = format!("${}", cursor.since(start));
    if plain { variable(name, &spelled, scope) } else { Word::unknown(spelled) }
}

fn cmd_variable(cursor: &mut Cursor<'_>, scope: &Scope) -> Word {
    match cursor.rest.find('%') {
        Some(at) if at > 0 && cursor.rest.get(..at).is_some_and(|name| !name.contains([' ', '\n', '"', '\\', '/'])) => {
            let name = cursor.rest.get(..at).unwrap_or_default();
            cursor.take_while(|c| c != '%');
            cursor.bump();
            variable(name, &format!("%{name}%"), scope)
        }
        _ => {
            // `%i` of a loop, `%1` of a batch file.
            cursor.eat("%");
            let name = cursor.take_while(|c| c.is_alphanumeric() || matches!(c, '~' | '*'));
            if name.is_empty() { Word::literal("%") } else { Word::unknown(format!("%{name}")) }
        }
    }
}

fn variable(name: &str, spelled: &str, scope: &Scope) -> Word {
    let lower = name.to_ascii_lowercase();
    let plain = lower.strip_prefix("env:").unwrap_or(&lower);
    if let Some(word) = scope.variable(&lower).or_else(|| scope.variable(plain)).and_then(|var| var.words.first()) {
        return word.clone();
    }
    match plain {
        "home" | "userprofile" => Word { home: true, ..Word::literal("~") },
        "pwd" | "cd" => here(),
        "true" | "false" | "null" => Word::literal(format!("${plain}")),
        _ => Word::unknown(spelled),
    }
}
