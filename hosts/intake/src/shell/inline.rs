//! Programs in other languages, given as text.
//!
//! A lexer that knows the strings and comments of the language, and on top of it a reading of
//! calls: which delete, write, read, move, change modes, run commands, hand statements to a database or print the
//! environment. Words inside strings that are
//! not arguments of such calls are data. A call becomes the command that a shell user would write
//! for it (`shutil.rmtree('notes')` is `rm -r notes`); an argument that is not written out gives
//! a word that is not known.

use std::collections::BTreeMap;

use super::word::Cursor;
use super::{Redirect, RedirectKind, Word};

/// Steps after which a program counts as computed.
const MAX_STEPS: usize = 400_000;
/// Calls inside calls are followed this deep for their value.
const MAX_DEPTH: usize = 12;
/// Acts beyond this are not listed.
const MAX_ACTS: usize = 500;

/// What a program does.
pub(super) enum Act {
    /// Runs, or amounts to, this command.
    Words(Vec<Word>, Vec<Redirect>),
    /// Writes this text into a file.
    Write(Redirect, Word),
    /// Hands this text to a shell.
    Shell(Word),
}

/// What was read from a program.
#[derive(Default)]
pub(super) struct Found {
    pub(super) acts: Vec<Act>,
    pub(super) opaque: bool,
    /// It starts itself again without end.
    pub(super) forks: bool,
}

/// Reads a program. `known`: nothing in the text was left unresolved. `arguments`: what it is started with.
pub(super) fn read(language: &str, text: &str, known: bool, arguments: &[Word]) -> Found {
    let language = match language {
        "python" => Language::Python,
        "node" | "deno" => Language::Script,
        "perl" => Language::Perl,
        "ruby" => Language::Ruby,
        "php" => Language::Php,
        "lua" => Language::Lua,
        "awk" => Language::Awk,
        _ => Language::Apple,
    };
    let tokens = lex(language, text, known);
    let mut program = Program {
        language,
        tokens,
        names: BTreeMap::new(),
        values: BTreeMap::new(),
        found: Found::default(),
        given: arguments.to_vec(),
        hidden: Vec::new(),
        known,
        steps: 0,
        decodes: false,
    };
    program.read();
    if program.decodes && !program.found.acts.is_empty() {
        program.found.opaque = true;
    }
    program.found.forks = forks_without_end(&program.tokens);
    program.found
}

/// Whether a process starts itself again in a loop that has no end: `fork while 1`, `while True: os.fork()`.
fn forks_without_end(tokens: &[Token]) -> bool {
    let named = |wanted: &'static str| move |token: &Token| matches!(token, Token::Name(name) if name == wanted);
    let is_true = |token: &Token| match token {
        Token::Name(name) => matches!(name.as_str(), "True" | "true"),
        Token::Number(number) => number == "1",
        _ => false,
    };
    let endless = |pair: &[Token]| match pair {
        [Token::Name(word), Token::Sign('('), value] | [Token::Name(word), value, _] if word == "while" => {
            is_true(value)
        }
        [Token::Name(word), Token::Sign('('), Token::Sign(';')] => word == "for",
        _ => false,
    };
    let ends_in_loop = matches!(tokens, [.., Token::Name(word), value] if word == "while" && is_true(value));
    let forks = ["fork", "pcntl_fork"].into_iter().any(|name| tokens.iter().any(named(name)));
    forks && (ends_in_loop || tokens.windows(3).any(endless) || tokens.iter().any(named("loop")))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    /// JavaScript and TypeScript.
    Script,
    Perl,
    Ruby,
    Php,
    Lua,
    Awk,
    /// AppleScript.
    Apple,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Text(Word),
    /// A text with values in it: `f'{d}/x'`, `` `${d}/x` ``, `"#{d}/x"`.
    Format(Word),
    /// Backticks and their like.
    Run(Word),
    Number(String),
    Sign(char),
    Line,
}

fn lex(language: Language, text: &str, known: bool) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut cursor = Cursor::new(text);
    while let Some(c) = cursor.peek() {
        let start = cursor.rest;
        if starts_comment(language, &cursor, &tokens) {
            if cursor.eat("/*") {
                cursor.rest = cursor.rest.split_once("*/").map_or("", |(_, rest)| rest);
            } else {
                cursor.take_while(|c| c != '\n');
            }
            continue;
        }
        if c.is_alphabetic() || c == '_' {
            let name = cursor.take_while(|c| c.is_alphanumeric() || c == '_');
            let next = cursor.peek();
            if language == Language::Python
                && name.len() <= 2
                && matches!(next, Some('"' | '\''))
                && name.bytes().all(|b| matches!(b.to_ascii_lowercase(), b'r' | b'b' | b'f' | b'u'))
            {
                let lower = name.to_ascii_lowercase();
                let formatted = lower.contains('f');
                let word = quoted(language, &mut cursor, known, lower.contains('r'), formatted);
                tokens.push(if formatted { text_or_format(word, "{") } else { Token::Text(word) });
                continue;
            }
            let called = !matches!(tokens.last(), Some(Token::Sign('.' | '>' | ':' | '$' | '@' | '%' | '{')));
            if language == Language::Perl
                && called
                && matches!(name, "q" | "qq" | "qw" | "qx" | "m" | "s" | "tr" | "y" | "qr")
                && let Some(open) = next
                    .filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && !matches!(c, ',' | ';' | ')' | '=' | '_'))
            {
                cursor.bump();
                let mut inner = delimited(&mut cursor, open);
                if matches!(name, "s" | "tr" | "y") {
                    if matches!(open, '(' | '{' | '[' | '<') {
                        cursor.take_while(char::is_whitespace);
                        cursor.bump();
                    }
                    delimited(&mut cursor, open);
                }
                let word = text_word(&inner, known && (name == "q" || !inner.contains(['$', '@'])));
                match name {
                    "q" | "qq" => tokens.push(Token::Text(word)),
                    "qx" => tokens.push(Token::Run(word)),
                    "qw" => {
                        inner = inner.trim().to_owned();
                        for (i, part) in inner.split_whitespace().enumerate() {
                            if i > 0 {
                                tokens.push(Token::Sign(','));
                            }
                            tokens.push(Token::Text(text_word(part, true)));
                        }
                    }
                    _ => {}
                }
                continue;
            }
            tokens.push(Token::Name(name.to_owned()));
            continue;
        }
        if c.is_ascii_digit() {
            tokens.push(Token::Number(
                cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.').to_owned(),
            ));
            continue;
        }
        match c {
            '"' | '\'' => {
                let word = quoted(language, &mut cursor, known, false, false);
                let formatted = language == Language::Ruby && c == '"';
                tokens.push(if formatted { text_or_format(word, "#{") } else { Token::Text(word) });
            }
            '`' if matches!(language, Language::Perl | Language::Ruby | Language::Php) => {
                cursor.bump();
                let inner = delimited(&mut cursor, '`');
                tokens
                    .push(Token::Run(text_word(&inner, known && !inner.contains(['$', '@']) && !inner.contains("#{"))));
            }
            '`' if language == Language::Script => {
                cursor.bump();
                let inner = delimited(&mut cursor, '`');
                tokens.push(text_or_format(text_word(&inner, known && !inner.contains("${")), "${"));
            }
            '%' if language == Language::Ruby
                && matches!(cursor.rest.get(1..3), Some("x(" | "x{" | "x[" | "q(" | "w(" | "w[" | "Q(" | "i[")) =>
            {
                cursor.bump();
                let kind = cursor.bump();
                let open = cursor.bump().unwrap_or('(');
                let inner = delimited(&mut cursor, open);
                let word = text_word(&inner, known && !inner.contains("#{"));
                match kind {
                    Some('x') => tokens.push(Token::Run(word)),
                    Some('w' | 'i') => {
                        tokens.push(Token::Sign('['));
                        for part in inner.split_whitespace() {
                            tokens.push(Token::Text(text_word(part, known)));
                            tokens.push(Token::Sign(','));
                        }
                        tokens.push(Token::Sign(']'));
                    }
                    _ => tokens.push(Token::Text(word)),
                }
            }
            '/' if matches!(language, Language::Script | Language::Ruby | Language::Awk | Language::Perl)
                && regex_may_start(&tokens) =>
            {
                cursor.bump();
                let mut class = false;
                let mut look = cursor;
                let closed = loop {
                    match look.bump() {
                        Some('\\') => {
                            look.bump();
                        }
                        Some('[') => class = true,
                        Some(']') => class = false,
                        Some('/') if !class => break true,
                        Some('\n') | None => break false,
                        _ => {}
                    }
                };
                if closed {
                    cursor = look;
                    tokens.push(Token::Number("/".to_owned()));
                } else {
                    tokens.push(Token::Sign('/'));
                }
            }
            '\n' => {
                cursor.bump();
                tokens.push(Token::Line);
            }
            '\\' if cursor.rest.starts_with("\\\n") => {
                cursor.eat("\\\n");
            }
            _ if c.is_whitespace() => {
                cursor.bump();
            }
            _ => {
                cursor.bump();
                tokens.push(Token::Sign(c));
            }
        }
        if cursor.rest.len() == start.len() {
            // Nothing was taken: cannot happen, but must not loop.
            cursor.bump();
        }
    }
    tokens
}

fn starts_comment(language: Language, cursor: &Cursor<'_>, tokens: &[Token]) -> bool {
    let rest = cursor.rest;
    match language {
        Language::Python | Language::Ruby | Language::Awk => rest.starts_with('#'),
        // `$#array` is no comment.
        Language::Perl => rest.starts_with('#') && tokens.last() != Some(&Token::Sign('$')),
        Language::Script => rest.starts_with("//") || rest.starts_with("/*"),
        Language::Php => rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#'),
        Language::Lua | Language::Apple => rest.starts_with("--"),
    }
}

fn regex_may_start(tokens: &[Token]) -> bool {
    match tokens.last() {
        None | Some(Token::Line) => true,
        Some(Token::Sign(c)) => {
            matches!(c, '(' | ',' | '=' | ':' | '[' | '!' | '&' | '|' | '?' | '{' | '}' | ';' | '~')
        }
        Some(Token::Name(name)) => {
            matches!(name.as_str(), "return" | "if" | "unless" | "and" | "or" | "not" | "split" | "grep")
        }
        _ => false,
    }
}

/// A text, with values in it if it has this sign of one.
fn text_or_format(word: Word, opening: &str) -> Token {
    if word.text.contains(opening) { Token::Format(word) } else { Token::Text(word) }
}

fn text_word(text: &str, known: bool) -> Word {
    Word { known, quoted: true, ..Word::literal(text) }
}

fn delimited(cursor: &mut Cursor<'_>, open: char) -> String {
    let close = match open {
        '(' => ')',
        '{' => '}',
        '[' => ']',
        '<' => '>',
        other => other,
    };
    let mut depth = 0_usize;
    let mut text = String::new();
    while let Some(c) = cursor.bump() {
        if c == '\\' {
            match cursor.bump() {
                Some(next) if next == close || next == open || next == '\\' => text.push(next),
                Some(next) => {
                    text.push('\\');
                    text.push(next);
                }
                None => {}
            }
            continue;
        }
        if c == close {
            if depth == 0 {
                break;
            }
            depth = depth.saturating_sub(1);
        } else if c == open {
            depth = depth.saturating_add(1);
        }
        text.push(c);
    }
    text
}

/// A quoted string, with the cursor at its quote.
fn quoted(language: Language, cursor: &mut Cursor<'_>, known: bool, raw: bool, formatted: bool) -> Word {
    let Some(quote) = cursor.bump() else { return Word::unknown("") };
    let triple = language == Language::Python && {
        let two: String = [quote, quote].iter().collect();
        cursor.eat(&two)
    };
    let mut text = String::new();
    let mut plain = known;
    // Single quotes of these languages keep backslashes and variables.
    let literal = raw || (quote == '\'' && matches!(language, Language::Perl | Language::Ruby | Language::Php));
    while let Some(c) = cursor.bump() {
        if c == quote {
            if !triple {
                break;
            }
            let two: String = [quote, quote].iter().collect();
            if cursor.eat(&two) {
                break;
            }
            text.push(c);
            continue;
        }
        if c == '\\' {
            match cursor.bump() {
                Some('\n') | None => {}
                Some(next) if literal => {
                    if next != quote && next != '\\' {
                        text.push('\\');
                    }
                    text.push(next);
                }
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('x') => {
                    let digits: String = cursor.rest.chars().take(2).collect();
                    match u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) {
                        Some(c) => {
                            text.push(c);
                            cursor.bump();
                            cursor.bump();
                        }
                        None => plain = false,
                    }
                }
                Some('u' | 'N') if language != Language::Php => {
                    plain = false;
                    text.push('?');
                }
                Some(next) => text.push(next),
            }
            continue;
        }
        text.push(c);
    }
    let expands = match language {
        Language::Python => formatted && text.contains('{'),
        Language::Perl => quote == '"' && text.contains(['$', '@']),
        Language::Php => quote == '"' && text.contains('$'),
        Language::Ruby => quote == '"' && text.contains("#{"),
        _ => false,
    };
    plain = (plain || !text.contains(['$', '`'])) && !expands;
    text_word(&text, plain)
}

/// One part of `a.b(c).d`.
#[derive(Clone, Debug)]
struct Link {
    name: String,
    arguments: Option<(usize, usize)>,
}

/// A value, as far as it is written out.
#[derive(Clone, Debug)]
enum Value {
    One(Word),
    List(Vec<Word>),
    /// A list of things that are each as this word says: what a folder holds.
    Each(Word),
}

impl Value {
    fn word(self) -> Word {
        match self {
            Self::One(word) => word,
            Self::List(_) => Word::unknown("[...]"),
            Self::Each(word) => Word { known: false, under: Vec::new(), ..word },
        }
    }

    fn words(self) -> Vec<Word> {
        match self {
            Self::One(word) | Self::Each(word) => vec![word],
            Self::List(words) => words,
        }
    }
}

struct Program {
    language: Language,
    tokens: Vec<Token>,
    /// What a name stands for: `r` for `shutil.rmtree`.
    names: BTreeMap<String, String>,
    values: BTreeMap<String, Value>,
    found: Found,
    /// The words that the program is started with.
    given: Vec<Word>,
    /// Where the names of comprehensions end, and what they stood for before.
    hidden: Vec<(usize, String, Option<Value>)>,
    /// Nothing in the text was left unresolved.
    known: bool,
    steps: usize,
    decodes: bool,
}

impl Program {
    fn at(&self, i: usize) -> Option<&Token> {
        self.tokens.get(i)
    }

    fn name(&self, i: usize) -> Option<&str> {
        match self.at(i) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn is(&self, i: usize, sign: char) -> bool {
        self.at(i) == Some(&Token::Sign(sign))
    }

    fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_add(1);
        if self.steps > MAX_STEPS {
            self.found.opaque = true;
        }
        self.steps <= MAX_STEPS
    }

    fn words(&mut self, words: Vec<Word>) {
        if self.found.acts.len() < MAX_ACTS {
            self.found.acts.push(Act::Words(words, Vec::new()));
        }
    }

    fn acts(&mut self, program: &str, flags: &[&str], arguments: Vec<Word>) {
        let words = std::iter::once(Word::literal(program))
            .chain(flags.iter().copied().map(Word::literal))
            .chain(arguments)
            .collect();
        self.words(words);
    }

    /// A file that is read. Of one whose name is not known nothing would follow.
    fn reads(&mut self, target: Word) {
        if target.known || !target.under.is_empty() {
            self.writes(RedirectKind::Read, target);
        }
    }

    /// A text for a database, where it is one.
    fn statement(&mut self, word: Word) {
        if word.known && crate::sql::doing(&word.text).is_some() {
            self.acts("sql", &[], vec![word]);
        }
    }

    /// What a call prints of the environment.
    fn prints_environment(&mut self, (open, close): (usize, usize)) {
        let mut at = open;
        while at < close && self.step() {
            let after_process = || {
                at.checked_sub(2).is_some_and(|before| self.name(before) == Some("process"))
                    && at.checked_sub(1).is_some_and(|dot| self.is(dot, '.'))
            };
            let is_environment = match self.name(at) {
                Some("environ" | "getenv" | "ENV" | "_ENV") => true,
                Some("env") => after_process(),
                _ => false,
            };
            // `os.environ`, `process.env`: the value begins with the module.
            let dotted = at.checked_sub(1).is_some_and(|dot| self.is(dot, '.'));
            let start = if dotted { at.saturating_sub(2) } else { at };
            let after = if is_environment { self.chain(start).1 } else { at };
            if is_environment && !self.is_only_asked_about(start, after, open) {
                let tokens = self.tokens.get(at.saturating_add(1)..close).unwrap_or_default();
                let name = match tokens {
                    [Token::Sign('[' | '(' | '{'), Token::Text(word), ..] => Some(word.clone()),
                    [Token::Sign('.'), Token::Name(get), Token::Sign('('), Token::Text(word), ..]
                        if matches!(get.as_str(), "get" | "fetch") =>
                    {
                        Some(word.clone())
                    }
                    [Token::Sign('.'), Token::Name(name), ..] if self.language == Language::Script => {
                        Some(Word::literal(name.clone()))
                    }
                    [Token::Sign('{'), Token::Name(name), ..] => Some(Word::literal(name.clone())),
                    _ => None,
                };
                self.acts("printenv", &[], name.into_iter().collect());
            }
            at = at.saturating_add(1);
        }
    }

    fn writes(&mut self, kind: RedirectKind, target: Word) {
        if self.found.acts.len() < MAX_ACTS {
            self.found.acts.push(Act::Words(Vec::new(), vec![Redirect { kind, target }]));
        }
    }

    /// A file that is written as a whole, with a text that may be run later.
    fn writes_text(&mut self, target: Word, text: Option<Word>) {
        match text.filter(|text| text.known && target.known) {
            Some(text) if self.found.acts.len() < MAX_ACTS => {
                self.found.acts.push(Act::Write(Redirect { kind: RedirectKind::Write, target }, text));
            }
            _ => self.writes(RedirectKind::Write, target),
        }
    }

    fn shell(&mut self, word: Word) {
        if self.found.acts.len() < MAX_ACTS {
            self.found.acts.push(Act::Shell(word));
        }
    }

    fn read(&mut self) {
        self.imports();
        let mut i = 0_usize;
        while i < self.tokens.len() && self.step() {
            self.leave_comprehensions(i);
            match self.at(i).cloned() {
                Some(Token::Run(word)) => self.shell(word),
                Some(Token::Sign('[' | '(' | '{')) if self.language == Language::Python => self.comprehension(i),
                Some(Token::Name(name)) => {
                    let member = i.checked_sub(1).is_some_and(|before| match self.at(before) {
                        Some(Token::Sign('.')) => true,
                        // `->` and `::`
                        Some(Token::Sign('>')) => before.checked_sub(1).is_some_and(|i| self.is(i, '-')),
                        Some(Token::Sign(':')) => before.checked_sub(1).is_some_and(|i| self.is(i, ':')),
                        _ => false,
                    });
                    if !member {
                        self.assignment(i, &name);
                        let links = self.chain(i).0;
                        self.act(i, &links);
                    }
                    if self.language == Language::Apple
                        && name == "do"
                        && self.name(i.saturating_add(1)) == Some("shell")
                    {
                        let word = match self.at(i.saturating_add(3)) {
                            Some(Token::Text(word)) => word.clone(),
                            _ => Word::unknown("..."),
                        };
                        // A value that is glued on is not known.
                        let glued = self.is(i.saturating_add(4), '&');
                        self.shell(Word { known: word.known && !glued, ..word });
                    }
                    if self.language == Language::Apple && matches!(name.as_str(), "delete" | "empty") {
                        self.acts("rm", &[], vec![Word::unknown("Finder item")]);
                    }
                }
                Some(Token::Text(word)) if self.language == Language::Awk => self.awk_text(i, word),
                // `Path('a').unlink()` on a parenthesised or literal receiver.
                Some(Token::Sign('.')) if i.checked_sub(1).is_some_and(|b| self.is(b, ')') || self.is(b, ']')) => {
                    if let Some(name) = self.name(i.saturating_add(1)).map(str::to_owned) {
                        self.method_on_group(i, &name);
                    }
                }
                _ => {}
            }
            i = i.saturating_add(1);
        }
    }

    /// `(Path('a') / 'b').unlink()`
    fn method_on_group(&mut self, dot: usize, name: &str) {
        if self.language != Language::Python
            || !matches!(
                name,
                "unlink" | "rmdir" | "write_text" | "write_bytes" | "rename" | "read_text" | "read_bytes"
            )
        {
            return;
        }
        let Some(close) = dot.checked_sub(1) else { return };
        let mut depth = 0_usize;
        let mut open = close;
        loop {
            if !self.step() {
                return;
            }
            if self.is(open, ')') {
                depth = depth.saturating_add(1);
            } else if self.is(open, '(') {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            match open.checked_sub(1) {
                Some(before) => open = before,
                None => return,
            }
        }
        // A call has been followed as a chain.
        if open.checked_sub(1).is_some_and(|before| matches!(self.at(before), Some(Token::Name(_)))) {
            return;
        }
        let target = self.value(open.saturating_add(1), close, 0).word();
        let after = dot.saturating_add(2);
        let close = self.closing(after);
        let arguments = if self.is(after, '(') { self.arguments((after, close)) } else { Vec::new() };
        self.path_method(name, target, &arguments);
    }

    fn path_method(&mut self, name: &str, target: Word, arguments: &[(Option<String>, Value)]) {
        let first = arguments.first().map(|(_, value)| value.clone().word());
        match name {
            "unlink" => self.acts("rm", &[], vec![target]),
            "rmdir" => self.acts("rmdir", &[], vec![target]),
            "write_text" | "write_bytes" => self.writes_text(target, first),
            "read_text" | "read_bytes" => self.reads(target),
            "rename" | "replace" => self.acts("mv", &[], vec![target, first.unwrap_or_else(|| Word::unknown("..."))]),
            "chmod" => self.acts("chmod", &[], vec![first.unwrap_or_else(|| Word::unknown("...")), target]),
            "open" => {
                let mode = first.map(|w| w.text).unwrap_or_default();
                self.opened(target, &mode);
            }
            _ => {}
        }
    }

    fn opened(&mut self, target: Word, mode: &str) {
        if mode.contains('w') || mode.starts_with('>') && !mode.starts_with(">>") || mode.contains("+>") {
            self.writes(RedirectKind::Write, target);
        } else if mode.contains('a') || mode.starts_with(">>") || mode.contains('x') {
            self.writes(RedirectKind::Append, target);
        } else if mode.contains('+') {
            self.writes(RedirectKind::ReadWrite, target);
        } else {
            self.reads(target);
        }
    }

    /// Names that imports introduce.
    fn imports(&mut self) {
        let mut i = 0_usize;
        while i < self.tokens.len() && self.step() {
            let next = i.saturating_add(1);
            match (self.language, self.name(i)) {
                (Language::Python, Some("import"))
                    if i.checked_sub(1)
                        .is_none_or(|b| matches!(self.at(b), Some(Token::Line | Token::Sign(';' | ':')))) =>
                {
                    let mut at = next;
                    while let Some((module, after)) = self.dotted(at) {
                        at = after;
                        if self.name(at) == Some("as")
                            && let Some(alias) = self.name(at.saturating_add(1)).map(str::to_owned)
                        {
                            self.names.insert(alias, module);
                            at = at.saturating_add(2);
                        }
                        if !self.is(at, ',') {
                            break;
                        }
                        at = at.saturating_add(1);
                    }
                }
                (Language::Python, Some("from")) => {
                    if let Some((module, mut at)) = self.dotted(next)
                        && self.name(at) == Some("import")
                    {
                        at = at.saturating_add(1);
                        while at < self.tokens.len()
                            && !matches!(self.at(at), Some(Token::Line | Token::Sign(';' | ')')))
                        {
                            if let Some(name) = self.name(at).map(str::to_owned) {
                                let full = format!("{module}.{name}");
                                match (
                                    self.name(at.saturating_add(1)),
                                    self.name(at.saturating_add(2)).map(str::to_owned),
                                ) {
                                    (Some("as"), Some(alias)) => {
                                        self.names.insert(alias, full);
                                        at = at.saturating_add(2);
                                    }
                                    _ => {
                                        self.names.insert(name, full);
                                    }
                                }
                            } else if self.is(at, '*') {
                                for name in [
                                    "remove", "unlink", "rmdir", "system", "rename", "rmtree", "move", "run", "call",
                                    "Popen", "Path", "popen",
                                ] {
                                    self.names.insert(name.to_owned(), format!("{module}.{name}"));
                                }
                            }
                            at = at.saturating_add(1);
                        }
                    }
                }
                (Language::Script, Some("const" | "let" | "var" | "import")) => self.script_import(next),
                _ => {}
            }
            i = next;
        }
    }

    /// `{ a, b: c } = require('m')`, `x = require('m')`, `x from 'm'`, `{ a as b } from 'm'`.
    fn script_import(&mut self, start: usize) {
        let mut at = start;
        let mut braced = Vec::new();
        let mut whole = Vec::new();
        let mut depth = 0_usize;
        while at < self.tokens.len() && at < start.saturating_add(64) {
            match self.at(at) {
                Some(Token::Sign('{')) => depth = depth.saturating_add(1),
                Some(Token::Sign('}')) => depth = depth.saturating_sub(1),
                Some(Token::Name(name)) if name == "from" || name == "await" => {}
                Some(Token::Name(name)) if depth > 0 => {
                    let follows = |sign: char| self.is(at.saturating_add(1), sign);
                    let other = if follows(':') || self.name(at.saturating_add(1)) == Some("as") {
                        self.name(at.saturating_add(2))
                    } else {
                        None
                    };
                    let skip = other.is_some();
                    braced.push((name.clone(), other.unwrap_or(name).to_owned()));
                    if skip {
                        at = at.saturating_add(2);
                    }
                }
                Some(Token::Name(name)) if name == "require" || name == "import" => {}
                Some(Token::Name(name)) if name == "as" => {}
                Some(Token::Name(name)) => whole.push(name.clone()),
                Some(Token::Text(module)) => {
                    let module = module.text.trim_start_matches("node:").replace('/', ".");
                    for (name, alias) in braced {
                        self.names.insert(alias, format!("{module}.{name}"));
                    }
                    for name in whole {
                        self.names.insert(name, module.clone());
                    }
                    return;
                }
                Some(Token::Sign('=' | '(' | ',' | '*')) => {}
                _ => return,
            }
            at = at.saturating_add(1);
        }
    }

    fn dotted(&self, start: usize) -> Option<(String, usize)> {
        let mut name = self.name(start)?.to_owned();
        let mut at = start.saturating_add(1);
        while self.is(at, '.')
            && let Some(part) = self.name(at.saturating_add(1))
        {
            name.push('.');
            name.push_str(part);
            at = at.saturating_add(2);
        }
        Some((name, at))
    }

    /// `name = value`, and `for name in list`.
    fn assignment(&mut self, i: usize, name: &str) {
        let next = i.saturating_add(1);
        if name == "for" && self.language == Language::Python {
            self.loop_names(next);
            return;
        }
        if name == "with" && self.language == Language::Python {
            let (links, after) = self.chain(next);
            if self.name(after) == Some("as")
                && let Some(variable) = self.name(after.saturating_add(1)).map(str::to_owned)
            {
                let value = self.chain_value(&links, 0);
                self.values.insert(variable, value);
            }
            return;
        }
        if name == "of" && self.language == Language::Script {
            // `for (const f of ['a', 'b'])`
            if let Some(variable) = i.checked_sub(1).and_then(|before| self.name(before)).map(str::to_owned) {
                let end = self.statement_end(next);
                self.each_of(variable, next, end);
            }
            return;
        }
        // `self.folder = value`
        let (links, after) = self.chain(i);
        let (name, next) = if links.len() > 1 && links.iter().all(|link| link.arguments.is_none()) {
            (dotted_name(&links), after)
        } else {
            (name.to_owned(), next)
        };
        let name = name.as_str();
        let assigned = self.is(next, '=')
            && !self.is(next.saturating_add(1), '=')
            && !self.is(next.saturating_add(1), '>')
            && !self.is(next.saturating_add(1), '~');
        if !assigned {
            return;
        }
        let start = next.saturating_add(1);
        let end = self.statement_end(start);
        let value = self.value(start, end, 0);
        let changed = self.values.contains_key(name) && !matches!(&value, Value::One(word) if !word.known);
        // Two values: which one holds is not known.
        let value = match value {
            Value::One(word) if changed && !word.under.is_empty() => Value::One(word),
            _ if changed => Value::One(Word::unknown(name)),
            value => value,
        };
        self.values.insert(name.to_owned(), value);
    }

    /// The names of a comprehension stand behind what it does with them: `[p.unlink() for p in list]`.
    fn comprehension(&mut self, open: usize) {
        let close = self.closing(open);
        let mut depth = 0_usize;
        for at in open..close {
            match self.at(at) {
                Some(Token::Sign('(' | '[' | '{')) => depth = depth.saturating_add(1),
                Some(Token::Sign(')' | ']' | '}')) => depth = depth.saturating_sub(1),
                Some(Token::Name(name)) if name == "for" && depth == 1 => {
                    let names = self.names_before_in(at.saturating_add(1)).0;
                    for name in names {
                        let before = self.values.get(&name).cloned();
                        self.hidden.push((close, name, before));
                    }
                    self.loop_names(at.saturating_add(1));
                }
                _ => {}
            }
        }
    }

    /// Behind a comprehension its names stand for what they stood for before.
    fn leave_comprehensions(&mut self, at: usize) {
        while let Some((_, name, before)) = self.hidden.pop_if(|(close, _, _)| *close <= at) {
            match before {
                Some(value) => self.values.insert(name, value),
                None => self.values.remove(&name),
            };
        }
    }

    /// The names between `for` and `in`, and where the list begins.
    fn names_before_in(&self, start: usize) -> (Vec<String>, usize) {
        let mut names = Vec::new();
        let mut at = start;
        loop {
            match self.at(at) {
                Some(Token::Name(name)) if name == "in" => return (names, at.saturating_add(1)),
                Some(Token::Name(name)) => names.push(name.clone()),
                Some(Token::Sign(',' | '(' | ')' | '*')) => {}
                _ => return (Vec::new(), at),
            }
            at = at.saturating_add(1);
        }
    }

    /// `for name in list`, `for number, name in enumerate(list)`, `for folder, folders, files in os.walk(folder)`.
    fn loop_names(&mut self, start: usize) {
        let (mut names, list) = self.names_before_in(start);
        let end = self.list_end(list);
        if let [name] = names.as_slice() {
            self.each_of(name.clone(), list, end);
            return;
        }
        let links = self.chain(list).0;
        let call = self.full_name(&links);
        let range = links.last().and_then(|link| link.arguments);
        for name in &names {
            self.values.insert(name.clone(), Value::One(Word::unknown(name.clone())));
        }
        match (call.as_str(), range, names.as_slice()) {
            ("os.walk", Some(range), [folder, folders, files]) => {
                let root = self.arguments(range).into_iter().next().map(|(_, value)| value.word());
                let below = |name: &str| Word { under: folders_of(root.as_ref()), ..Word::unknown(name) };
                self.values.insert(folder.clone(), Value::One(below(folder)));
                for list in [folders, files] {
                    self.values.insert(list.clone(), Value::Each(plain_name()));
                }
            }
            ("enumerate", Some((open, close)), [_, ..]) => {
                let inner = self.arguments((open, close)).into_iter().next();
                if let (Some((_, value)), Some(name)) = (inner, names.pop()) {
                    let value = item_of(value, &name);
                    self.values.insert(name, Value::One(value));
                }
            }
            _ => {}
        }
    }

    /// Where the list of a loop ends: at its body, or at the condition of a comprehension.
    fn list_end(&mut self, start: usize) -> usize {
        let end = self.statement_end(start);
        let mut depth = 0_usize;
        for at in start..end {
            match self.at(at) {
                Some(Token::Sign('(' | '[' | '{')) => depth = depth.saturating_add(1),
                Some(Token::Sign(')' | ']' | '}')) => depth = depth.saturating_sub(1),
                Some(Token::Sign(':')) if depth == 0 => return at,
                Some(Token::Name(name)) if depth == 0 && matches!(name.as_str(), "if" | "for") => return at,
                _ => {}
            }
        }
        end
    }

    /// `list.forEach(name => ...)`: the name stands for each of the list.
    fn callback(&mut self, receiver: &[Link], (open, close): (usize, usize)) {
        let mut at = open.saturating_add(1);
        if self.name(at) == Some("async") {
            at = at.saturating_add(1);
        }
        let (named, arrow) = match self.is(at, '(') {
            true => (at.saturating_add(1), self.closing(at).saturating_add(1)),
            false => (at, at.saturating_add(1)),
        };
        let is_arrow = self.is(arrow, '=') && self.is(arrow.saturating_add(1), '>');
        let Some(name) = self.name(named).filter(|_| is_arrow && !receiver.is_empty()).map(str::to_owned) else {
            return;
        };
        let value = self.chain_value(receiver, 0);
        let item = item_of(value, &name);
        let before = self.values.insert(name.clone(), Value::One(item));
        self.hidden.push((close, name, before));
    }

    /// A text with values in it.
    fn formatted(&mut self, word: &Word, depth: usize) -> Word {
        // What a shell left open in the text is not known.
        let unclear = |text: &str| text.contains('?') || (!self.known && text.contains(['$', '`']));
        if unclear(&word.text) {
            return Word { under: Vec::new(), known: false, ..word.clone() };
        }
        let opening = match self.language {
            Language::Script => "${",
            Language::Ruby => "#{",
            _ => "{",
        };
        let mut made: Option<Word> = None;
        let mut rest = word.text.as_str();
        loop {
            let (before, after) = match rest.split_once(opening) {
                Some((before, after)) => (before, Some(after)),
                None => (rest, None),
            };
            if !before.is_empty() {
                let part = text_word(before, true);
                made = Some(made.map_or_else(|| part.clone(), |made| glued(&made, &part)));
            }
            let Some(after) = after else { break };
            // A format and doubled brackets are not followed.
            let Some((inner, after)) = after.split_once('}').filter(|(inner, _)| !inner.contains(['{', ':', '!']))
            else {
                return Word { under: Vec::new(), ..word.clone() };
            };
            let part = self.value_of_text(inner, depth);
            made = Some(made.map_or_else(|| part.clone(), |made| glued(&made, &part)));
            rest = after;
        }
        made.map_or_else(|| word.clone(), |made| Word { raw: word.text.clone(), ..made })
    }

    /// The value of an expression that stands inside a text.
    fn value_of_text(&mut self, text: &str, depth: usize) -> Word {
        let start = self.tokens.len();
        let tokens = lex(self.language, text, true);
        self.tokens.extend(tokens);
        let end = self.tokens.len();
        let value = self.value(start, end, depth.saturating_add(1)).word();
        self.tokens.truncate(start);
        value
    }

    /// A name that stands for each of some values in turn: the matches of a pattern, or one of a list.
    fn each_of(&mut self, variable: String, start: usize, end: usize) {
        let links = self.chain(start).0;
        let pattern = match links.split_last() {
            Some((Link { name, arguments: Some(range) }, receiver))
                if matches!(name.as_str(), "glob" | "iglob" | "rglob") && !receiver.is_empty() =>
            {
                let pattern = self.arguments(*range).into_iter().next().map(|(_, value)| value.word());
                let folder = (self.full_name(receiver) != "glob").then(|| self.chain_value(receiver, 0).word());
                let below = if name == "rglob" { "**/" } else { "" };
                pattern.and_then(|pattern| match folder {
                    None => Some(pattern),
                    Some(folder) if folder.known && pattern.known => {
                        let folder_text = folder.text.trim_end_matches('/');
                        Some(Word { text: format!("{folder_text}/{below}{}", pattern.text), ..folder.clone() })
                    }
                    Some(_) => None,
                })
            }
            _ => None,
        };
        let value = match pattern.filter(|word| word.known) {
            Some(word) => Word { glob: true, ..word },
            None => item_of(self.value(start, end, 0), &variable),
        };
        self.values.insert(variable, Value::One(value));
    }

    fn statement_end(&mut self, start: usize) -> usize {
        let mut at = start;
        let mut depth = 0_usize;
        while at < self.tokens.len() && self.step() {
            match self.at(at) {
                Some(Token::Sign('(' | '[' | '{')) => depth = depth.saturating_add(1),
                Some(Token::Sign(')' | ']' | '}')) if depth == 0 => break,
                Some(Token::Sign(')' | ']' | '}')) => depth = depth.saturating_sub(1),
                Some(Token::Line | Token::Sign(';')) if depth == 0 => break,
                _ => {}
            }
            at = at.saturating_add(1);
        }
        at
    }

    /// The position of the bracket that closes the one at `open`.
    fn closing(&mut self, open: usize) -> usize {
        let mut depth = 0_usize;
        let mut at = open;
        while at < self.tokens.len() && self.step() {
            match self.at(at) {
                Some(Token::Sign('(' | '[' | '{')) => depth = depth.saturating_add(1),
                Some(Token::Sign(')' | ']' | '}')) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at;
                    }
                }
                _ => {}
            }
            at = at.saturating_add(1);
        }
        self.tokens.len()
    }

    /// The chain of names and calls that starts at `start`, and where it ends.
    fn chain(&mut self, start: usize) -> (Vec<Link>, usize) {
        let mut links = Vec::new();
        let Some(first) = self.name(start) else { return (links, start) };
        links.push(Link { name: first.to_owned(), arguments: None });
        let mut at = start.saturating_add(1);
        loop {
            if !self.step() {
                break;
            }
            if self.is(at, '(') {
                let close = self.closing(at);
                if let Some(last) = links.last_mut() {
                    if last.arguments.is_some() {
                        links.push(Link { name: String::new(), arguments: Some((at, close)) });
                    } else {
                        last.arguments = Some((at, close));
                    }
                }
                at = close.saturating_add(1);
                continue;
            }
            if self.is(at, '[') && matches!(self.language, Language::Python | Language::Script | Language::Ruby) {
                let close = self.closing(at);
                if let (Some(Token::Text(word)), true) =
                    (self.at(at.saturating_add(1)).cloned(), close == at.saturating_add(2))
                {
                    links.push(Link { name: word.text, arguments: None });
                } else if let (Some(Token::Number(number)), true) =
                    (self.at(at.saturating_add(1)).cloned(), close == at.saturating_add(2))
                {
                    links.push(Link { name: format!("[{number}]"), arguments: None });
                } else {
                    links.push(Link { name: "[]".to_owned(), arguments: None });
                }
                at = close.saturating_add(1);
                continue;
            }
            let mut next = at;
            let dot_follows = self.is(next.saturating_add(1), '.');
            if self.is(next, '.') {
                next = next.saturating_add(1);
            } else if (dot_follows && matches!(self.at(next), Some(Token::Sign('?') | Token::Line)))
                || (self.is(next, '-') && self.is(next.saturating_add(1), '>'))
                || (self.is(next, ':') && self.is(next.saturating_add(1), ':'))
            {
                next = next.saturating_add(2);
            } else {
                break;
            }
            let Some(name) = self.name(next) else { break };
            links.push(Link { name: name.to_owned(), arguments: None });
            at = next.saturating_add(1);
        }
        (links, at)
    }

    /// The arguments of a call, with their names.
    fn arguments(&mut self, (open, close): (usize, usize)) -> Vec<(Option<String>, Value)> {
        self.listed(open.saturating_add(1), close, 0)
    }

    fn listed(&mut self, start: usize, end: usize, depth: usize) -> Vec<(Option<String>, Value)> {
        let mut arguments = Vec::new();
        let mut from = start;
        let mut at = start;
        let mut nested = 0_usize;
        while at <= end && self.step() && arguments.len() < 64 {
            let ends = at == end || (nested == 0 && self.is(at, ','));
            if ends {
                if at > from {
                    let named = self.name(from).is_some()
                        && (self.is(from.saturating_add(1), '=') && !self.is(from.saturating_add(2), '='));
                    if named {
                        let name = self.name(from).map(str::to_owned);
                        let value = self.value(from.saturating_add(2), at, depth.saturating_add(1));
                        arguments.push((name, value));
                    } else {
                        let value = self.value(from, at, depth.saturating_add(1));
                        arguments.push((None, value));
                    }
                }
                from = at.saturating_add(1);
            } else {
                match self.at(at) {
                    Some(Token::Sign('(' | '[' | '{')) => nested = nested.saturating_add(1),
                    Some(Token::Sign(')' | ']' | '}')) => nested = nested.saturating_sub(1),
                    _ => {}
                }
            }
            at = at.saturating_add(1);
        }
        arguments
    }

    /// The value of the tokens from `start` to before `end`.
    fn value(&mut self, start: usize, end: usize, depth: usize) -> Value {
        let unknown = || Value::One(Word::unknown("..."));
        if depth > MAX_DEPTH || !self.step() {
            return unknown();
        }
        let (mut start, mut end) = (start, end);
        while start < end && matches!(self.at(start), Some(Token::Line | Token::Sign('$' | '@' | '\\'))) {
            start = start.saturating_add(1);
        }
        while end > start && self.at(end.saturating_sub(1)) == Some(&Token::Line) {
            end = end.saturating_sub(1);
        }
        if self.is(start, '[') && self.closing(start) == end.saturating_sub(1) {
            let items = self.listed(start.saturating_add(1), end.saturating_sub(1), depth);
            return Value::List(items.into_iter().map(|(_, value)| value.word()).collect());
        }
        if self.is(start, '(') && self.closing(start) == end.saturating_sub(1) {
            return self.value(start.saturating_add(1), end.saturating_sub(1), depth.saturating_add(1));
        }
        // Parts joined by `+`, `.` (perl, php), nothing, or `/` (paths).
        let mut whole: Option<Word> = None;
        let mut at = start;
        let mut glue = "";
        while at < end {
            if !self.step() {
                return unknown();
            }
            let part = match self.at(at).cloned() {
                Some(Token::Text(word)) => {
                    at = at.saturating_add(1);
                    word
                }
                Some(Token::Format(word)) => {
                    at = at.saturating_add(1);
                    self.formatted(&word, depth)
                }
                Some(Token::Name(name)) if matches!(name.as_str(), "await" | "new") && at.saturating_add(1) < end => {
                    start = if at == start { at.saturating_add(1) } else { start };
                    at = at.saturating_add(1);
                    continue;
                }
                Some(Token::Number(number)) => {
                    at = at.saturating_add(1);
                    Word::literal(number)
                }
                Some(Token::Name(_)) => {
                    let (links, after) = self.chain(at);
                    let single = at == start && after >= end;
                    at = after.max(at.saturating_add(1));
                    let value = self.chain_value(&links, depth);
                    if single {
                        return value;
                    }
                    value.word()
                }
                Some(Token::Sign('+')) => {
                    glue = "";
                    at = at.saturating_add(1);
                    continue;
                }
                Some(Token::Sign('.')) if matches!(self.language, Language::Perl | Language::Php | Language::Lua) => {
                    at = at.saturating_add(1);
                    continue;
                }
                Some(Token::Sign('/')) if whole.is_some() => {
                    glue = "/";
                    at = at.saturating_add(1);
                    continue;
                }
                Some(Token::Line | Token::Sign('$')) => {
                    at = at.saturating_add(1);
                    continue;
                }
                _ => {
                    return whole
                        .map_or_else(unknown, |word| Value::One(Word { known: false, under: Vec::new(), ..word }));
                }
            };
            whole = Some(match whole {
                None => part,
                Some(word) if std::mem::take(&mut glue) == "/" => join(&word, &part, "/"),
                Some(word) => glued(&word, &part),
            });
        }
        whole.map_or_else(unknown, Value::One)
    }

    /// The name of a chain with imports resolved, without calls: `shutil.rmtree`.
    fn full_name(&mut self, links: &[Link]) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (i, link) in links.iter().enumerate() {
            let mut name = link.name.clone();
            if i == 0 {
                if let Some(full) = self.names.get(&name) {
                    name.clone_from(full);
                }
                // `__import__('os')`, `require('fs')`
                if matches!(name.as_str(), "__import__" | "require" | "import")
                    && let Some(range) = link.arguments
                    && let Some((_, value)) = self.arguments(range).into_iter().next()
                {
                    name = value.word().text.trim_start_matches("node:").replace('/', ".");
                }
            }
            if !name.is_empty() {
                parts.push(name);
            }
        }
        parts.join(".")
    }

    fn chain_value(&mut self, links: &[Link], depth: usize) -> Value {
        let spelled: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        let unknown = Value::One(Word::unknown(spelled.join(".")));
        if depth > MAX_DEPTH {
            return unknown;
        }
        if let [only] = links
            && only.arguments.is_none()
        {
            return self.values.get(&only.name).cloned().unwrap_or(unknown);
        }
        if links.iter().all(|link| link.arguments.is_none())
            && let Some(value) = self.values.get(&dotted_name(links))
        {
            return value.clone();
        }
        let full = self.full_name(links);
        if let Some(word) = self.given_argument(&full) {
            return Value::One(word);
        }
        let last = links.last().and_then(|link| link.arguments);
        let arguments = |program: &mut Self| -> Vec<Word> {
            last.map(|(open, close)| program.listed(open.saturating_add(1), close, depth.saturating_add(1)))
                .unwrap_or_default()
                .into_iter()
                .map(|(_, value)| value.word())
                .collect()
        };
        match full.as_str() {
            "Path" | "pathlib.Path" | "os.path.join" | "path.join" | "path.resolve" | "File.join"
            | "pathlib.PurePath" | "pathlib.PosixPath" => {
                let parts = arguments(self);
                parts.into_iter().reduce(|a, b| join(&a, &b, "/")).map_or(unknown, Value::One)
            }
            "os.path.expanduser" | "File.expand_path" => match arguments(self).into_iter().next() {
                Some(word) => Value::One(Word { home: word.text.starts_with('~'), ..word }),
                None => unknown,
            },
            "str" | "String" | "os.fspath" | "os.path.abspath" | "os.path.normpath" | "os.path.realpath"
            | "shlex.split" => arguments(self).into_iter().next().map_or(unknown, |word| {
                if full == "shlex.split" && word.known {
                    Value::List(word.text.split_whitespace().map(Word::literal).collect())
                } else {
                    Value::One(word)
                }
            }),
            "Path.home" | "pathlib.Path.home" | "os.homedir" | "Dir.home" | "os.environ.HOME" | "process.env.HOME" => {
                Value::One(Word { home: true, ..Word::literal("~") })
            }
            "tempfile.mkdtemp"
            | "tempfile.mktemp"
            | "tempfile.mkstemp"
            | "tempfile.TemporaryDirectory"
            | "tempfile.NamedTemporaryFile"
            | "fs.mkdtempSync"
            | "Dir.mktmpdir"
            | "Dir.tmpdir" => {
                let under = vec!["/tmp".to_owned()];
                Value::One(Word { under, ..Word::unknown(spelled.join(".")) })
            }
            "tempfile.gettempdir" | "os.tmpdir" => Value::One(Word::literal("/tmp")),
            "os.getcwd" | "process.cwd" | "Dir.pwd" | "Path.cwd" | "pathlib.Path.cwd" => Value::One(Word::literal(".")),
            "glob.glob" | "glob.iglob" | "Dir.glob" | "glob" | "globSync" | "glob.sync" | "glob.globSync"
            | "fg.sync" => {
                arguments(self).into_iter().next().map_or(unknown, |word| Value::Each(Word { glob: true, ..word }))
            }
            "os.listdir"
            | "fs.readdirSync"
            | "fs.readdir"
            | "fsp.readdir"
            | "fs.promises.readdir"
            | "Dir.children"
            | "Dir.entries" => Value::Each(plain_name()),
            "os.scandir" => {
                let root = arguments(self).into_iter().next();
                Value::Each(Word { under: folders_of(root.as_ref()), ..Word::unknown(spelled.join(".")) })
            }
            // The same things in another order or another kind of list.
            "sorted" | "list" | "set" | "tuple" | "reversed" | "iter" => {
                let inner =
                    last.map(|(open, close)| self.listed(open.saturating_add(1), close, depth.saturating_add(1)));
                match inner.and_then(|inner| inner.into_iter().next()) {
                    Some((_, value @ (Value::Each(_) | Value::List(_)))) => value,
                    _ => unknown,
                }
            }
            _ => {
                // `file.name` of a file or folder that lies in the temporary ones.
                if let [receiver, Link { name, arguments: None }] = links
                    && matches!(name.as_str(), "name" | "path")
                    && let Some(Value::One(word)) = self.values.get(&receiver.name)
                    && !word.under.is_empty()
                {
                    return Value::One(word.clone());
                }
                if let Some((Link { name, arguments: Some(range) }, receiver)) = links.split_last()
                    && !receiver.is_empty()
                {
                    let (name, range) = (name.clone(), *range);
                    // What lies beneath a folder.
                    if matches!(name.as_str(), "iterdir" | "rglob" | "glob" | "walk")
                        && self.language == Language::Python
                    {
                        let folder = self.chain_value(receiver, depth.saturating_add(1)).word();
                        let pattern = self.arguments(range).into_iter().next().map(|(_, value)| value.word());
                        let leaves = pattern.is_some_and(|word| !word.known || word.text.contains(".."));
                        let under = if leaves { Vec::new() } else { folders_of(Some(&folder)) };
                        return Value::Each(Word { under, ..Word::unknown(spelled.join(".")) });
                    }
                    // Some of a list, in some order.
                    if matches!(
                        name.as_str(),
                        "filter" | "sort" | "slice" | "reverse" | "toSorted" | "select" | "reject"
                    ) && let value @ Value::Each(_) = self.chain_value(receiver, depth.saturating_add(1))
                    {
                        return value;
                    }
                }
                // `Path('x') ...` with a method that keeps the path; `'a b'.split()`.
                if let Some((method, receiver)) = links.split_last()
                    && matches!(method.name.as_str(), "resolve" | "absolute" | "expanduser" | "as_posix")
                    && !receiver.is_empty()
                {
                    let mut value = self.chain_value(receiver, depth.saturating_add(1)).word();
                    if method.name == "expanduser" {
                        value.home = value.text.starts_with('~');
                    }
                    return Value::One(value);
                }
                unknown
            }
        }
    }

    /// `sys.argv[1]`, `process.argv[2]`, `ARGV[0]`: a word that the program is started with.
    fn given_argument(&self, full: &str) -> Option<Word> {
        let (list, index) = full.rsplit_once(".[")?;
        let index = index.strip_suffix(']')?.parse::<usize>().ok()?;
        let before = match (self.language, list) {
            (Language::Python, "sys.argv" | "argv") => 1,
            (Language::Script, "process.argv" | "Deno.args" | "Bun.argv") => {
                if list == "Deno.args" {
                    0
                } else {
                    2
                }
            }
            (Language::Ruby, "ARGV") => 0,
            _ => return None,
        };
        self.given.get(index.checked_sub(before)?).cloned()
    }

    fn awk_text(&mut self, i: usize, word: Word) {
        let before = i.checked_sub(1);
        let piped_in = self.is(i.saturating_add(1), '|') && self.name(i.saturating_add(2)) == Some("getline");
        if piped_in {
            self.shell(word);
            return;
        }
        let Some(before) = before else { return };
        if self.is(before, '|') {
            self.shell(word);
        } else if self.is(before, '>') && self.prints(before) {
            let append = before.checked_sub(1).is_some_and(|b| self.is(b, '>'));
            self.writes(if append { RedirectKind::Append } else { RedirectKind::Write }, word);
        }
    }

    fn prints(&self, at: usize) -> bool {
        let statement = self
            .tokens
            .get(..at)
            .unwrap_or_default()
            .iter()
            .rev()
            .take(64)
            .take_while(|t| !matches!(t, Token::Line | Token::Sign('{' | '}' | ';')));
        statement.into_iter().any(|t| matches!(t, Token::Name(name) if name == "print" || name == "printf"))
    }

    /// The arguments of the last call of a chain; in languages where brackets can be left out,
    /// the rest of the statement.
    fn call_arguments(&mut self, start: usize, link: &Link) -> Option<Vec<(Option<String>, Value)>> {
        if let Some(range) = link.arguments {
            return Some(self.arguments(range));
        }
        if !matches!(self.language, Language::Perl | Language::Ruby) {
            return None;
        }
        let after = self.chain(start).1;
        if !matches!(
            self.at(after),
            Some(Token::Text(_) | Token::Name(_) | Token::Number(_) | Token::Sign('$' | '@' | '['))
        ) {
            return None;
        }
        let end = self.statement_end(after);
        Some(self.listed(after, end, 0))
    }

    fn act(&mut self, start: usize, links: &[Link]) {
        if !self.step() {
            return;
        }
        let full = self.full_name(links);
        if full.contains("b64decode")
            || full.contains("decode64")
            || full == "atob"
            || full == "base64_decode"
            || full.starts_with("Buffer.from")
            || full.contains("codecs.decode")
            || full.contains("fromhex")
        {
            self.decodes = true;
        }
        // Each call of the chain by itself: `open(p, 'w').write(x)`.
        for (i, link) in links.iter().enumerate() {
            let upto = links.get(..=i).unwrap_or_default();
            let is_last = i.saturating_add(1) == links.len();
            if link.arguments.is_none() && !is_last {
                continue;
            }
            // Loading a module does nothing by itself.
            if i == 0 && (link.name == "require" || link.name == "__import__") {
                self.found.opaque |= link.name == "__import__";
                continue;
            }
            let name = self.full_name(upto);
            if prints(&name)
                && let Some(range) = link.arguments
            {
                self.prints_environment(range);
            }
            if self.language == Language::Script
                && matches!(link.name.as_str(), "forEach" | "map")
                && let Some(range) = link.arguments
            {
                self.callback(upto.split_last().map(|(_, receiver)| receiver).unwrap_or_default(), range);
            }
            if self.language == Language::Python
                && matches!(name.as_str(), "exec" | "builtins.exec")
                && let Some(file) = link.arguments.and_then(|(open, _)| self.file_whose_text(open.saturating_add(1), 0))
            {
                self.acts("python3", &[], vec![file]);
                continue;
            }
            let arguments = if is_last {
                self.call_arguments(start, link)
            } else {
                link.arguments.map(|range| self.arguments(range))
            };
            let receiver = upto.split_last().map(|(_, receiver)| receiver).unwrap_or_default();
            if matches!(
                link.name.as_str(),
                "execute" | "executescript" | "executemany" | "query" | "exec" | "raw" | "exec_driver_sql" | "unsafe"
            ) && i > 0
                && let Some(arguments) = &arguments
            {
                self.statement(first(arguments));
            }
            match self.language {
                Language::Python => {
                    let written = links.get(i.saturating_add(1)).filter(|next| next.name == "write");
                    let written = written.and_then(|next| next.arguments).map(|range| first(&self.arguments(range)));
                    self.python(&name, arguments, receiver, written);
                }
                Language::Script => self.script(&name, arguments, link),
                Language::Perl | Language::Php => self.perl_php(&name, arguments),
                Language::Ruby => self.ruby(&name, arguments),
                Language::Lua => self.lua(&name, arguments),
                Language::Awk => {
                    if name == "system"
                        && let Some(arguments) = arguments
                    {
                        self.shell(first(&arguments));
                    }
                }
                Language::Apple => {}
            }
        }
    }

    /// The file whose text a value is: `open('x.py').read()`, `Path('x.py').read_text()`, and `compile` of it.
    fn file_whose_text(&mut self, start: usize, depth: usize) -> Option<Word> {
        let (links, after) = self.chain(start);
        if depth > 1 || !matches!(self.at(after), Some(Token::Sign(')' | ','))) {
            return None;
        }
        let file = match links.as_slice() {
            [Link { name, arguments: Some((open, _)) }] if name == "compile" => {
                return self.file_whose_text(open.saturating_add(1), depth.saturating_add(1));
            }
            [Link { name: open, arguments: Some(range) }, Link { name: read, arguments: Some(_) }]
                if open == "open" && read == "read" =>
            {
                first(&self.arguments(*range))
            }
            [receiver @ .., Link { name: read, arguments: Some(_) }] if read == "read_text" && !receiver.is_empty() => {
                self.chain_value(receiver, 0).word()
            }
            _ => return None,
        };
        (file.is_plain() && !file.text.starts_with('-')).then_some(file)
    }

    /// Whether only something about a value goes on: that it is there, how long it is. `start` to before `after`: where the
    /// value stands.
    fn is_only_asked_about(&mut self, start: usize, after: usize, open: usize) -> bool {
        let before = |back: usize| start.checked_sub(back);
        let name_before = before(1).and_then(|at| self.name(at));
        if matches!(name_before, Some("in" | "typeof")) {
            return true;
        }
        let script = self.language == Language::Script;
        if script && before(1).is_some_and(|at| self.is(at, '!')) {
            return true;
        }
        let python = self.language == Language::Python;
        if python && (self.name(after) == Some("is") || (name_before == Some("if") && self.name(after) == Some("else")))
        {
            return true;
        }
        let next = after.saturating_add(1);
        let compares = matches!(self.at(after), Some(Token::Sign('=' | '!'))) && self.is(next, '=');
        let chooses = script && self.is(after, '?') && !matches!(self.at(next), Some(Token::Sign('?' | '.')));
        let length = script && after.checked_sub(1).is_some_and(|at| self.name(at) == Some("length"));
        if compares || chooses || length {
            return true;
        }
        // `bool(...)`, `len(...)`: as the only thing in the brackets.
        let (Some(bracket), Some(call)) = (before(1), before(2)) else { return false };
        bracket > open
            && self.is(bracket, '(')
            && self.is(after, ')')
            && matches!(self.name(call), Some("bool" | "len" | "Boolean" | "type"))
            && call.checked_sub(1).is_none_or(|at| !self.is(at, '.'))
    }

    /// `written`: what is written at once into what the call opens.
    fn python(
        &mut self,
        name: &str,
        arguments: Option<Vec<(Option<String>, Value)>>,
        receiver: &[Link],
        written: Option<Word>,
    ) {
        let bare = name.strip_prefix("builtins.").or_else(|| name.strip_prefix("__builtins__.")).unwrap_or(name);
        if matches!(
            bare,
            "globals" | "__builtins__" | "importlib.import_module" | "ctypes.CDLL" | "marshal.loads" | "pickle.loads"
        ) {
            self.found.opaque = true;
        }
        let Some(arguments) = arguments else { return };
        let one = first(&arguments);
        let two = second(&arguments);
        let module = bare.strip_prefix("posix.").map(|rest| format!("os.{rest}"));
        if let Some(("requests" | "httpx", method @ ("delete" | "post" | "put" | "patch"))) = bare.rsplit_once('.') {
            self.acts("curl", &["-X", &method.to_ascii_uppercase()], vec![one]);
            return;
        }
        match module.as_deref().unwrap_or(bare) {
            "exec" | "eval" | "compile" | "runpy.run_path" => self.found.opaque = true,
            "getattr" | "setattr" => {
                // Of a module that acts, by a name that may be computed.
                let resolved = self.names.get(&one.text).cloned().unwrap_or_else(|| one.text.clone());
                self.found.opaque |= matches!(
                    resolved.as_str(),
                    "os" | "shutil" | "subprocess" | "builtins" | "__builtins__" | "pathlib" | "posix" | "__import__"
                );
            }
            "requests.request" | "httpx.request" => self.acts("curl", &["-X"], vec![one, two]),
            "os.remove" | "os.unlink" => self.acts("rm", &[], vec![one]),
            "os.rmdir" | "os.removedirs" => self.acts("rmdir", &[], vec![one]),
            "shutil.rmtree" => self.acts("rm", &["-r"], vec![one]),
            "os.rename" | "os.replace" | "os.renames" | "shutil.move" => self.acts("mv", &[], vec![one, two]),
            "shutil.copy" | "shutil.copyfile" | "shutil.copy2" => self.acts("cp", &[], vec![one, two]),
            "shutil.copytree" => self.acts("cp", &["-r"], vec![one, two]),
            "os.truncate" => self.writes(RedirectKind::Write, one),
            "os.chmod" | "os.lchmod" => self.acts("chmod", &[], vec![octal(two), one]),
            "os.chown" => self.acts("chown", &[], vec![two, one]),
            "os.symlink" | "os.link" => self.acts("ln", &["-s"], vec![one, two]),
            "os.system"
            | "os.popen"
            | "subprocess.getoutput"
            | "subprocess.getstatusoutput"
            | "commands.getoutput"
            | "asyncio.create_subprocess_shell" => self.shell(one),
            "subprocess.run"
            | "subprocess.call"
            | "subprocess.Popen"
            | "subprocess.check_output"
            | "subprocess.check_call"
            | "pty.spawn"
            | "sh.Command" => {
                self.runs(&arguments);
            }
            "os.execv" | "os.execvp" | "os.execve" | "os.execvpe" | "os.posix_spawn" | "os.spawnv" => {
                match arguments.iter().find_map(|(_, value)| match value {
                    Value::List(words) => Some(words.clone()),
                    Value::One(_) | Value::Each(_) => None,
                }) {
                    Some(words) => self.words(words),
                    None => self.words(vec![one]),
                }
            }
            "os.execl" | "os.execlp" => {
                let words = arguments.into_iter().skip(1).map(|(_, value)| value.word()).collect();
                self.words(words);
            }
            "asyncio.create_subprocess_exec" | "os.startfile" => {
                let words =
                    arguments.into_iter().filter(|(name, _)| name.is_none()).map(|(_, value)| value.word()).collect();
                self.words(words);
            }
            "dotenv.dotenv_values" | "dotenv_values" => self.reads(one),
            "open" | "io.open" | "codecs.open" | "gzip.open" => {
                let mode = named(&arguments, "mode").unwrap_or(two);
                let mode = if arguments.len() > 1 { mode.text } else { String::new() };
                if mode.contains('w') {
                    self.writes_text(one, written);
                } else {
                    self.opened(one, &mode);
                }
            }
            _ => {
                let method = name.rsplit('.').next().unwrap_or(name).to_owned();
                if receiver.is_empty() {
                    return;
                }
                let receiver_name = self.full_name(receiver);
                let is_path = receiver_name == "Path"
                    || receiver_name.starts_with("pathlib.")
                    || receiver_name.starts_with("Path.");
                let surely = matches!(
                    method.as_str(),
                    "unlink" | "rmdir" | "write_text" | "write_bytes" | "read_text" | "read_bytes"
                );
                let known_path = receiver.len() == 1
                    && receiver
                        .first()
                        .is_some_and(|link| link.arguments.is_none() && self.values.contains_key(&link.name));
                let opens = is_path && matches!(method.as_str(), "rename" | "replace" | "chmod" | "open");
                if surely || opens || (known_path && method == "rename") {
                    let target = self.chain_value(receiver, 0).word();
                    self.path_method(&method, target, &arguments);
                }
            }
        }
    }

    /// A call that runs a text or a list of words.
    fn runs(&mut self, arguments: &[(Option<String>, Value)]) {
        let value = arguments
            .iter()
            .find(|(name, _)| name.as_deref() == Some("args") || name.is_none())
            .map(|(_, value)| value.clone());
        match value {
            Some(Value::List(words)) => self.words(words),
            Some(Value::One(word) | Value::Each(word)) => self.shell(Word { known: word.known && !word.glob, ..word }),
            None => self.shell(Word::unknown("...")),
        }
    }

    fn script(&mut self, name: &str, arguments: Option<Vec<(Option<String>, Value)>>, link: &Link) {
        let Some(arguments) = arguments else { return };
        let one = first(&arguments);
        let two = second(&arguments);
        let (base, method) = name.rsplit_once('.').unwrap_or(("", name));
        let base = base.trim_end_matches(".promises");
        let of_files = matches!(
            base,
            "fs" | "fsp" | "fsPromises" | "fs.promises" | "fs-extra" | "fse" | "Deno" | "Bun" | "promises"
        );
        let of_processes = matches!(base, "child_process" | "cp" | "childProcess" | "Bun" | "execa") || base.is_empty();
        let plain = method.strip_suffix("Sync");
        let sure = plain.is_some();
        let method = plain.unwrap_or(method);
        if !sure && base.is_empty() && matches!(name, "eval" | "Function") {
            self.found.opaque = true;
            return;
        }
        if base == "vm" && method.starts_with("run") {
            self.found.opaque = true;
            return;
        }
        if let ("axios" | "got" | "ky" | "superagent", "delete") = (base, method) {
            self.acts("curl", &["-X", "DELETE"], vec![one]);
            return;
        }
        if matches!(name, "fetch" | "axios" | "got" | "ky" | "axios.request" | "undici.request") {
            if let Some(method) = self.option_of(link, "method") {
                self.acts("curl", &["-X"], vec![method, one]);
            }
            return;
        }
        if matches!(name, "rimraf" | "rimraf.rimraf" | "rimraf.default" | "del" | "rimraf.sync") {
            self.acts("rm", &["-rf"], vec![one]);
            return;
        }
        let recursive = link.arguments.is_some_and(|(open, close)| {
            self.tokens
                .get(open..close)
                .unwrap_or_default()
                .iter()
                .any(|t| matches!(t, Token::Name(n) if n == "recursive"))
        });
        if of_files || sure {
            let (one, two) = (one.clone(), two.clone());
            match method {
                "rm" | "remove" => {
                    let flags: &[&str] = if recursive || method == "remove" { &["-rf"] } else { &[] };
                    self.acts("rm", flags, vec![one]);
                }
                "rmdir" if recursive => self.acts("rm", &["-r"], vec![one]),
                "rmdir" => self.acts("rmdir", &[], vec![one]),
                "emptyDir" => self.acts("rm", &["-r"], vec![one]),
                "unlink" => self.acts("rm", &[], vec![one]),
                "writeFile" | "truncate" | "createWriteStream" | "writeTextFile" | "outputFile" | "writeJson"
                | "write"
                    if of_files || method != "write" =>
                {
                    let appends = link.arguments.is_some_and(|(open, close)| {
                        self.tokens.get(open..close).unwrap_or_default().windows(3).any(|w| matches!(w, [Token::Name(n), _, Token::Text(v)] if (n == "flag" || n == "flags") && v.text.starts_with('a')))
                    });
                    if appends {
                        self.writes(RedirectKind::Append, one);
                    } else {
                        self.writes_text(one, Some(two));
                    }
                }
                "appendFile" => self.writes(RedirectKind::Append, one),
                "open" => self.opened(one, &two.text),
                "readFile" | "createReadStream" | "readTextFile" | "readJson" => self.reads(one),
                "file" if base == "Bun" => self.reads(one),
                "rename" | "move" => self.acts("mv", &[], vec![one, two]),
                "copyFile" | "copy" | "cp" => self.acts("cp", &[], vec![one, two]),
                "chmod" => self.acts("chmod", &[], vec![octal(two), one]),
                "symlink" => self.acts("ln", &["-s"], vec![one, two]),
                _ => {}
            }
        }
        if of_processes || sure {
            let one = one.clone();
            match method {
                // `exec` by itself is `child_process.exec` only when imported.
                "exec" if sure || !base.is_empty() => self.shell(one),
                "execaCommand" => self.shell(one),
                "spawn" | "execFile" | "fork" | "execa" if sure || !base.is_empty() || method == "execa" => {
                    let mut words = one_or_list(&arguments);
                    if let Some((_, Value::List(more))) = arguments.get(1) {
                        words.extend(more.iter().cloned());
                    }
                    self.words(words);
                }
                _ => {}
            }
        }
        if base == "Deno" && method == "Command" {
            self.words(vec![one, Word::unknown("args")]);
        }
    }

    /// The text behind `name:` in the arguments of a call.
    fn option_of(&self, link: &Link, name: &str) -> Option<Word> {
        let (open, close) = link.arguments?;
        self.tokens.get(open..close)?.windows(3).find_map(|window| match window {
            [Token::Name(found), Token::Sign(':'), Token::Text(value)] if found == name => Some(value.clone()),
            _ => None,
        })
    }

    fn perl_php(&mut self, name: &str, arguments: Option<Vec<(Option<String>, Value)>>) {
        let name = name.rsplit('.').next().unwrap_or(name);
        if name == "eval" && self.language == Language::Php {
            self.found.opaque = true;
        }
        let Some(arguments) = arguments else {
            if name == "unlink" || name == "rmdir" {
                self.acts(if name == "unlink" { "rm" } else { "rmdir" }, &[], vec![Word::unknown("$_")]);
            }
            return;
        };
        let all: Vec<Word> =
            arguments.iter().filter(|(name, _)| name.is_none()).flat_map(|(_, value)| value.clone().words()).collect();
        let one = first(&arguments);
        let two = second(&arguments);
        match name {
            "unlink" => self.acts("rm", &[], if self.language == Language::Php { vec![one] } else { all }),
            "rmdir" => self.acts("rmdir", &[], vec![one]),
            "rmtree" | "remove_tree" => self.acts("rm", &["-r"], all),
            "rename" | "move" => self.acts("mv", &[], vec![one, two]),
            "copy" => self.acts("cp", &[], vec![one, two]),
            "truncate" if self.language == Language::Perl => self.writes(RedirectKind::Write, one),
            "chmod" if self.language == Language::Php => self.acts("chmod", &[], vec![octal(two), one]),
            "chmod" => self.acts("chmod", &[], all),
            "system" | "exec" if self.language == Language::Perl && all.len() > 1 => self.words(all),
            "system" | "exec" | "shell_exec" | "passthru" | "popen" | "proc_open" => self.shell(one),
            "eval" if self.language == Language::Perl => self.found.opaque = true,
            "file_put_contents" => self.writes_text(one, Some(two)),
            "file_get_contents" | "readfile" => self.reads(one),
            "fopen" => self.opened(one, &two.text),
            "open" if self.language == Language::Perl => {
                let texts: Vec<Word> = all.into_iter().filter(|w| w.quoted).collect();
                match texts.as_slice() {
                    [mode, target] if mode.text.trim().starts_with('>') || mode.text.trim().starts_with("+") => {
                        self.opened(target.clone(), mode.text.trim())
                    }
                    [mode]
                        if mode.text.trim().starts_with('>') && mode.text.trim().trim_start_matches('>').is_empty() =>
                    {
                        self.opened(Word::unknown("$file"), mode.text.trim())
                    }
                    [whole] if whole.text.trim_start().starts_with('>') => {
                        let kind = whole.text.trim_start().to_owned();
                        let target = Word { text: kind.trim_start_matches('>').trim().to_owned(), ..whole.clone() };
                        self.opened(target, &kind);
                    }
                    [whole, ..]
                        if whole.text.trim().ends_with('|')
                            || whole.text.trim().starts_with('|')
                            || whole.text == "-|" =>
                    {
                        let text =
                            texts.iter().map(|w| w.text.trim_matches(['|', '-', ' '])).collect::<Vec<_>>().join(" ");
                        self.shell(Word { text, ..whole.clone() });
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn ruby(&mut self, name: &str, arguments: Option<Vec<(Option<String>, Value)>>) {
        if matches!(name, "eval" | "instance_eval" | "class_eval" | "Kernel.eval") {
            self.found.opaque = true;
        }
        let Some(arguments) = arguments else { return };
        let all: Vec<Word> =
            arguments.iter().filter(|(name, _)| name.is_none()).flat_map(|(_, value)| value.clone().words()).collect();
        let one = first(&arguments);
        let two = second(&arguments);
        match name {
            "File.delete"
            | "File.unlink"
            | "FileUtils.rm"
            | "FileUtils.rm_f"
            | "FileUtils.remove"
            | "FileUtils.safe_unlink"
            | "rm"
            | "rm_f" => self.acts("rm", &[], all),
            "FileUtils.rm_r"
            | "FileUtils.rm_rf"
            | "FileUtils.rmtree"
            | "FileUtils.remove_dir"
            | "FileUtils.remove_entry"
            | "FileUtils.remove_entry_secure"
            | "rm_rf"
            | "rm_r" => {
                self.acts("rm", &["-rf"], all);
            }
            "Dir.rmdir" | "Dir.delete" | "Dir.unlink" | "FileUtils.rmdir" => self.acts("rmdir", &[], all),
            "File.rename" | "FileUtils.mv" | "FileUtils.move" => self.acts("mv", &[], vec![one, two]),
            "FileUtils.cp" | "FileUtils.cp_r" | "FileUtils.copy" => self.acts("cp", &[], vec![one, two]),
            "File.write" | "IO.write" | "File.binwrite" => self.writes_text(one, Some(two)),
            "File.truncate" => self.writes(RedirectKind::Write, one),
            "File.open" | "File.new" | "open" => self.opened(one, &two.text),
            "File.read" | "File.readlines" | "File.foreach" | "IO.read" | "File.binread" => self.reads(one),
            "File.chmod" | "FileUtils.chmod" | "FileUtils.chmod_R" => self.acts("chmod", &[], vec![octal(one), two]),
            "system" | "exec" | "spawn" | "Kernel.system" | "Kernel.exec" | "Open3.capture3" | "Open3.capture2"
            | "Open3.capture2e" | "Open3.popen3" | "IO.popen" | "sh" => {
                if all.len() > 1 {
                    self.words(all)
                } else {
                    self.shell(one)
                }
            }
            _ => {}
        }
    }

    fn lua(&mut self, name: &str, arguments: Option<Vec<(Option<String>, Value)>>) {
        let Some(arguments) = arguments else { return };
        let one = first(&arguments);
        let two = second(&arguments);
        match name {
            "os.remove" => self.acts("rm", &[], vec![one]),
            "os.rename" => self.acts("mv", &[], vec![one, two]),
            "os.execute" | "io.popen" => self.shell(one),
            "io.open" => self.opened(one, &two.text),
            "load" | "loadstring" | "dofile" => self.found.opaque = true,
            _ => {}
        }
    }
}

/// `self.folder`
fn dotted_name(links: &[Link]) -> String {
    links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>().join(".")
}

/// Whether a call shows its arguments.
fn prints(name: &str) -> bool {
    matches!(
        name,
        "print"
            | "pprint"
            | "pprint.pprint"
            | "sys.stdout.write"
            | "puts"
            | "p"
            | "pp"
            | "print_r"
            | "var_dump"
            | "printf"
    ) || name.starts_with("console.")
        || name == "process.stdout.write"
}

fn first(arguments: &[(Option<String>, Value)]) -> Word {
    arguments.first().map_or_else(|| Word::unknown("..."), |(_, value)| value.clone().word())
}

fn second(arguments: &[(Option<String>, Value)]) -> Word {
    arguments.get(1).map_or_else(|| Word::unknown("..."), |(_, value)| value.clone().word())
}

fn one_or_list(arguments: &[(Option<String>, Value)]) -> Vec<Word> {
    arguments.first().map_or_else(|| vec![Word::unknown("...")], |(_, value)| value.clone().words())
}

fn named(arguments: &[(Option<String>, Value)], name: &str) -> Option<Word> {
    arguments.iter().find(|(given, _)| given.as_deref() == Some(name)).map(|(_, value)| value.clone().word())
}

/// `0o777` and `0777` as `777`.
fn octal(word: Word) -> Word {
    let text = word.text.trim_start_matches("0o").trim_start_matches('0').to_owned();
    if text.is_empty() { word } else { Word { text, ..word } }
}

fn join(a: &Word, b: &Word, glue: &str) -> Word {
    if glue == "/" && b.known && b.text.starts_with('/') {
        return b.clone();
    }
    let a_text = if glue == "/" { a.text.trim_end_matches('/') } else { a.text.as_str() };
    let text = format!("{a_text}{glue}{}", b.text);
    Word {
        known: a.known && b.known,
        glob: a.glob || b.glob,
        home: a.home,
        quoted: true,
        under: if glue == "/" { beneath(a, b) } else { Vec::new() },
        ..Word::literal(text)
    }
}

/// The folders beneath which `b` lies when it is read from the folder `a`.
fn beneath(a: &Word, b: &Word) -> Vec<String> {
    let stays = if b.known { !b.text.contains("..") } else { is_plain_name(b) };
    if stays && !(a.known && b.known) { folders_of(Some(a)) } else { Vec::new() }
}

/// Two parts of a text. A part behind a separator lies in the folder before it, and a name with more behind it beside it.
fn glued(a: &Word, b: &Word) -> Word {
    let mut made = join(a, b, "");
    if !made.known {
        // Put together, the parts are no name that anybody wrote.
        made.raw.clear();
        let folder = a.text.strip_suffix('/').filter(|folder| !folder.is_empty());
        made.under = match folder {
            Some(folder) if a.known => beneath(&Word { text: folder.to_owned(), ..a.clone() }, b),
            _ if a.known => Vec::new(),
            _ => beneath(a, b),
        };
    }
    made
}

/// The folder that a word names, or those beneath which it lies.
fn folders_of(folder: Option<&Word>) -> Vec<String> {
    match folder {
        None => vec![".".to_owned()],
        Some(word) if word.known && !word.glob && !word.text.is_empty() => vec![super::sources::path_text(word)],
        Some(word) if word.known => Vec::new(),
        Some(word) => word.under.clone(),
    }
}

/// The name of something in a folder, which is read from the folder that it is joined to.
fn plain_name() -> Word {
    Word { under: vec![".".to_owned()], ..Word::unknown("name") }
}

fn is_plain_name(word: &Word) -> bool {
    !word.known && word.under.as_slice() == ["."]
}

/// What a name stands for that goes over a list.
fn item_of(list: Value, name: &str) -> Word {
    match list {
        Value::Each(word) if word.known => word,
        Value::Each(word) => Word { raw: name.to_owned(), text: name.to_owned(), ..word },
        Value::List(words) if !words.is_empty() && words.iter().all(|word| word.known && !word.home) => {
            Word { under: words.into_iter().map(|word| word.text).collect(), ..Word::unknown(name) }
        }
        _ => Word::unknown(name),
    }
}
