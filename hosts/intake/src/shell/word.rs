//! Words: quote removal and the expansion of what is known.
//!
//! A word is read once, left to right, into a [`Builder`] that keeps for each part whether it was
//! quoted and whether its value is known. A substitution is read as a script of its own, so its
//! commands enter the list before the command that uses them.

use super::walk::{Reader, Scope, Var};
use super::{Via, Word};

/// A word expands to at most this many by braces; above, it stays as it is.
const MAX_BRACES: usize = 64;
/// Words longer than this are not looked at for braces.
const MAX_BRACED: usize = 1024;
/// Values longer than this are not carried along.
const MAX_VALUE: usize = 16 * 1024;

/// Reads characters from the front of a text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    pub(super) fn eat(&mut self, start: &str) -> bool {
        match self.rest.strip_prefix(start) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// The text read since `start`, an earlier `rest` of this cursor.
    pub(super) fn since(&self, start: &'a str) -> &'a str {
        start.get(..start.len().saturating_sub(self.rest.len())).unwrap_or_default()
    }
}

/// Splits the text after an opening bracket into what it encloses and what follows, minding
/// quotes, nested substitutions, comments and here-documents. `None` when it is never closed.
pub(super) fn enclosed(text: &str, close: char) -> Option<(&str, &str)> {
    let mut stack = vec![close];
    let mut cursor = Cursor::new(text);
    let mut tags: Vec<String> = Vec::new();
    let mut word_start = true;
    loop {
        let before = cursor;
        let c = cursor.bump()?;
        let top = *stack.last()?;
        let at_word = std::mem::replace(&mut word_start, matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '('));
        if c == '\\' {
            cursor.bump();
        } else if c == top {
            stack.pop();
            if stack.is_empty() {
                return Some((before.since(text), cursor.rest));
            }
        } else if c == '$' && top != '`' && cursor.eat("(") {
            stack.push(')');
            word_start = true;
        } else if c == '$' && top != '`' && cursor.eat("{") {
            stack.push('}');
        } else if top != '`' && c == '`' {
            stack.push('`');
        } else if top == '"' || top == '`' {
            // Everything else is text here.
        } else if c == '"' {
            stack.push('"');
        } else if c == '\'' {
            cursor.take_while(|c| c != '\'');
            cursor.bump()?;
        } else if top == ')' && c == '(' {
            stack.push(')');
        } else if top == ')' && c == '#' && at_word {
            cursor.take_while(|c| c != '\n');
        } else if top == ')' && c == '<' && cursor.rest.starts_with('<') {
            cursor.bump();
            if !cursor.eat("<") {
                cursor.eat("-");
                cursor.take_while(|c| c == ' ' || c == '\t');
                let tag =
                    cursor.take_while(|c| !matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' | '(' | '<' | '>'));
                tags.push(tag.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect());
            }
        } else if c == '\n' && !tags.is_empty() {
            for tag in std::mem::take(&mut tags) {
                loop {
                    let line = cursor.take_while(|c| c != '\n');
                    let ended = cursor.bump().is_none();
                    if line.trim_start_matches('\t') == tag || ended {
                        break;
                    }
                }
            }
        }
    }
}

/// Collects the words that one spelled word expands to.
pub(super) struct Builder {
    done: Vec<Word>,
    current: Word,
    started: bool,
    bracket: bool,
    split: bool,
}

impl Builder {
    pub(super) fn new(split: bool) -> Self {
        Self {
            done: Vec::new(),
            current: Word { known: true, ..Word::default() },
            started: false,
            bracket: false,
            split,
        }
    }

    fn literal(&mut self, c: char) {
        self.started = true;
        match c {
            '*' | '?' => self.current.glob = true,
            '[' => self.bracket = true,
            ']' if self.bracket => self.current.glob = true,
            _ => {}
        }
        self.current.text.push(c);
        self.check_under();
    }

    fn quoted(&mut self, text: &str) {
        self.started = true;
        self.current.quoted = true;
        self.current.text.push_str(text);
        if text.contains("..") {
            self.current.under.clear();
        }
        self.check_under();
    }

    fn check_under(&mut self) {
        if !self.current.under.is_empty() && self.current.text.ends_with("..") {
            self.current.under.clear();
        }
    }

    fn home(&mut self) {
        self.started = true;
        self.current.home = true;
        self.current.text.push('~');
    }

    /// Whether what was read so far names the folder of what follows.
    fn names_a_folder(&self) -> bool {
        self.current.text.contains('/')
    }

    /// An unknown part. `plain`: it has no separator and is not empty, as a process number.
    fn unknown(&mut self, raw: &str, plain: bool) {
        self.started = true;
        if plain && self.current.known {
            let folder = match self.current.text.rsplit_once('/') {
                Some(("", _)) => "/",
                Some((folder, _)) => folder,
                None => ".",
            };
            self.current.under = vec![folder.to_owned()];
        } else if !plain {
            self.current.under.clear();
        }
        self.current.known = false;
        self.current.text.push_str(raw);
    }

    fn end(&mut self) {
        if self.started {
            let word = std::mem::replace(&mut self.current, Word { known: true, ..Word::default() });
            self.done.push(word);
        }
        self.started = false;
        self.bracket = false;
    }

    /// A value that came from a variable or a substitution.
    fn value(&mut self, word: &Word, quoted: bool) {
        if word.text.len().saturating_add(self.current.text.len()) > MAX_VALUE {
            self.unknown("$", false);
            return;
        }
        self.current.of_directory |= word.of_directory;
        if self.current.output_of.is_none() {
            self.current.output_of.clone_from(&word.output_of);
        }
        let splits = word.known && !quoted && self.split;
        if word.home && !splits && (self.current.text.is_empty() || self.current.text.ends_with(['=', ':'])) {
            self.current.home = true;
        }
        if !word.known {
            let empty = self.current.text.is_empty();
            // A name, or a path from here, lies in the folder that stands before it.
            self.unknown(&word.text, word.under.as_slice() == ["."]);
            if empty {
                self.current.under.clone_from(&word.under);
            }
            self.current.quoted |= quoted;
        } else if quoted {
            self.quoted(&word.text);
            // The variable of a loop over a pattern holds what the pattern matched.
            self.current.glob |= word.glob && word.quoted;
        } else if !self.split {
            self.started = true;
            self.current.text.push_str(&word.text);
            self.current.glob |= word.glob;
        } else {
            for c in word.text.chars() {
                if c.is_ascii_whitespace() {
                    self.end();
                } else {
                    // Of a value with a home in it the field that begins with one is meant.
                    self.current.home |= word.home
                        && c == '~'
                        && (self.current.text.is_empty() || self.current.text.ends_with(['=', ':']));
                    self.literal(c);
                }
            }
        }
    }

    /// A value, split at these characters.
    fn divided(&mut self, word: &Word, separators: &str) {
        if !self.split || word.text.len() > MAX_VALUE {
            self.value(word, !self.split);
            return;
        }
        for c in word.text.chars() {
            if separators.contains(c) {
                self.end();
            } else {
                self.current.home |= word.home && c == '~' && self.current.text.is_empty();
                self.literal(c);
            }
        }
    }

    pub(super) fn finish(mut self) -> Vec<Word> {
        self.end();
        self.done
    }
}

impl Reader<'_> {
    /// The words that `raw` expands to: none, one or several.
    pub(super) fn expand(&mut self, raw: &str, scope: &mut Scope) -> Vec<Word> {
        // Most words are plain.
        if raw.bytes().all(|b| {
            b.is_ascii_alphanumeric()
                || matches!(b, b'-' | b'_' | b'/' | b'.' | b'=' | b':' | b',' | b'@' | b'%' | b'+')
        }) {
            return vec![Word::literal(raw)];
        }
        let Some(spellings) = braces(raw) else {
            let mut builder = Builder::new(true);
            self.pieces(raw, scope, &mut builder, false);
            let mut words = builder.finish();
            for word in &mut words {
                word.glob = true;
                word.raw = raw.to_owned();
            }
            return words;
        };
        let mut words = Vec::new();
        for spelling in spellings {
            let mut builder = Builder::new(true);
            self.pieces(&spelling, scope, &mut builder, false);
            words.extend(builder.finish());
        }
        for word in &mut words {
            word.raw = raw.to_owned();
        }
        words
    }

    /// The single value of `raw`, without splitting: an assignment or the target of a redirect.
    pub(super) fn expand_one(&mut self, raw: &str, scope: &mut Scope) -> Word {
        let mut builder = Builder::new(false);
        self.pieces(raw, scope, &mut builder, true);
        let mut words = builder.finish();
        let mut word = match words.len() {
            0 => Word { known: true, ..Word::default() },
            1 => words.pop().unwrap_or_default(),
            _ => {
                let texts: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
                Word { text: texts.join(" "), known: words.iter().all(|w| w.known), quoted: true, ..Word::default() }
            }
        };
        raw.clone_into(&mut word.raw);
        word
    }

    /// The text of a here-document whose delimiter was not quoted, and whether all is known.
    pub(super) fn expand_here(&mut self, text: &str, scope: &mut Scope) -> (String, bool) {
        let mut builder = Builder::new(false);
        let mut cursor = Cursor::new(text);
        self.double_quoted(&mut cursor, scope, &mut builder, None);
        let words = builder.finish();
        match words.into_iter().next() {
            Some(word) => (word.text, word.known),
            None => (String::new(), true),
        }
    }

    fn pieces(&mut self, raw: &str, scope: &mut Scope, builder: &mut Builder, assigned: bool) {
        let mut cursor = Cursor::new(raw);
        let mut tilde = true;
        while let Some(c) = cursor.peek() {
            let start = cursor.rest;
            let was_tilde = std::mem::replace(&mut tilde, false);
            match c {
                '\\' => {
                    cursor.bump();
                    match cursor.bump() {
                        Some('\n') => {}
                        Some(next) => builder.quoted(next.encode_utf8(&mut [0; 4])),
                        None => builder.literal('\\'),
                    }
                }
                '\'' => {
                    cursor.bump();
                    builder.quoted(cursor.take_while(|c| c != '\''));
                    cursor.bump();
                }
                '"' => {
                    cursor.bump();
                    builder.quoted("");
                    self.double_quoted(&mut cursor, scope, builder, Some('"'));
                }
                '$' if cursor.rest.starts_with("$'") => {
                    cursor.eat("$'");
                    let text = ansi(&mut cursor);
                    builder.quoted(&text);
                }
                '$' if cursor.rest.starts_with("$\"") => {
                    cursor.eat("$\"");
                    builder.quoted("");
                    self.double_quoted(&mut cursor, scope, builder, Some('"'));
                }
                '$' | '`' => self.dollar(&mut cursor, scope, builder, false),
                '<' | '>' if cursor.rest.get(1..2) == Some("(") => {
                    cursor.bump();
                    cursor.bump();
                    match enclosed(cursor.rest, ')') {
                        Some((inner, rest)) => {
                            cursor.rest = rest;
                            let spelled = cursor.since(start).to_owned();
                            let word = self.substitution(inner, &spelled, scope, true);
                            builder.value(&word, true);
                        }
                        None => builder.unknown(start, false),
                    }
                }
                '~' if was_tilde => {
                    cursor.bump();
                    let user = cursor.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'));
                    let ends = matches!(cursor.peek(), None | Some('/' | ':'));
                    match user {
                        "" if ends => builder.home(),
                        "+" if ends => builder.value(&here(), true),
                        _ if ends => builder.unknown(cursor.since(start), false),
                        _ => cursor.since(start).chars().for_each(|c| builder.literal(c)),
                    }
                }
                _ => {
                    cursor.bump();
                    builder.literal(c);
                    tilde = c == '=' || (assigned && c == ':');
                }
            }
        }
    }

    /// Reads up to `end` (or the end of the text) as inside double quotes.
    fn double_quoted(&mut self, cursor: &mut Cursor<'_>, scope: &mut Scope, builder: &mut Builder, end: Option<char>) {
        while let Some(c) = cursor.peek() {
            if Some(c) == end {
                cursor.bump();
                return;
            }
            match c {
                '\\' => {
                    cursor.bump();
                    match cursor.peek() {
                        Some('\n') => {
                            cursor.bump();
                        }
                        Some(next) if matches!(next, '$' | '`' | '\\') || Some(next) == end => {
                            cursor.bump();
                            builder.quoted(next.encode_utf8(&mut [0; 4]));
                        }
                        _ => builder.quoted("\\"),
                    }
                }
                '$' | '`' => self.dollar(cursor, scope, builder, true),
                _ => {
                    let run = cursor.take_while(|c| !matches!(c, '\\' | '$' | '`') && Some(c) != end);
                    builder.quoted(run);
                }
            }
        }
    }

    /// Reads an expansion that starts with `$` or a backtick.
    fn dollar(&mut self, cursor: &mut Cursor<'_>, scope: &mut Scope, builder: &mut Builder, quoted: bool) {
        if self.enter(cursor.rest.len()) {
            self.expansion(cursor, scope, builder, quoted);
        } else {
            builder.unknown(cursor.rest, false);
            cursor.rest = "";
        }
        self.leave();
    }

    fn expansion(&mut self, cursor: &mut Cursor<'_>, scope: &mut Scope, builder: &mut Builder, quoted: bool) {
        let start = cursor.rest;
        if cursor.eat("`") {
            let mut inner = String::new();
            let mut closed = false;
            while let Some(c) = cursor.bump() {
                match c {
                    '`' => {
                        closed = true;
                        break;
                    }
                    '\\' => match cursor.bump() {
                        Some(next) if matches!(next, '`' | '\\' | '$') || (quoted && next == '"') => inner.push(next),
                        Some(next) => {
                            inner.push('\\');
                            inner.push(next);
                        }
                        None => inner.push('\\'),
                    },
                    _ => inner.push(c),
                }
            }
            let spelled = cursor.since(start).to_owned();
            if closed {
                let word = self.substitution(&inner, &spelled, scope, false);
                builder.value(&word, quoted);
            } else {
                builder.unknown(&spelled, false);
            }
            return;
        }
        cursor.bump();
        if cursor.rest.starts_with("((")
            && let Some((inner, rest)) = cursor.rest.get(2..).and_then(|text| enclosed(text, ')'))
            && let Some(rest) = rest.strip_prefix(')')
        {
            cursor.rest = rest;
            self.arithmetic(inner, scope);
            builder.unknown(cursor.since(start), true);
            return;
        }
        if cursor.rest.starts_with('(')
            && let Some((inner, rest)) = cursor.rest.get(1..).and_then(|text| enclosed(text, ')'))
        {
            cursor.rest = rest;
            let spelled = cursor.since(start).to_owned();
            let before = self.here();
            let word = self.substitution(inner, &spelled, scope, false);
            let range = self.since(before);
            let alone = builder.current.text.is_empty() && cursor.rest.is_empty() && !quoted;
            if let Some(words) = self.printed_paths(range.clone(), &spelled).filter(|_| alone && builder.split) {
                for word in words {
                    builder.value(&word, true);
                    builder.end();
                }
            } else if !word.known && builder.names_a_folder() && self.prints_a_name(range) {
                builder.unknown(&spelled, true);
            } else {
                builder.value(&word, quoted);
            }
            return;
        }
        if cursor.rest.starts_with('{')
            && let Some((inner, rest)) = cursor.rest.get(1..).and_then(|text| enclosed(text, '}'))
        {
            cursor.rest = rest;
            let spelled = cursor.since(start).to_owned();
            self.parameter(inner, &spelled, scope, builder, quoted);
            return;
        }
        let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            // `$12` is `$1` followed by `2`.
            let (digit, after) = name.split_at(1);
            self.variable(digit, &format!("${digit}"), scope, builder, quoted);
            for c in after.chars() {
                builder.literal(c);
            }
        } else if !name.is_empty() {
            let spelled = cursor.since(start).to_owned();
            self.variable(name, &spelled, scope, builder, quoted);
        } else if let Some(special) = cursor.peek().filter(|c| matches!(c, '@' | '*' | '#' | '?' | '$' | '!' | '-')) {
            cursor.bump();
            let mut name = [0; 4];
            let spelled = cursor.since(start).to_owned();
            self.variable(special.encode_utf8(&mut name), &spelled, scope, builder, quoted);
        } else if quoted {
            builder.quoted("$");
        } else {
            builder.literal('$');
        }
    }

    /// Commands inside an arithmetic expression run, too.
    pub(super) fn arithmetic(&mut self, text: &str, scope: &mut Scope) {
        if text.contains("$(") || text.contains('`') {
            let mut ignored = Builder::new(false);
            self.double_quoted(&mut Cursor::new(text), scope, &mut ignored, None);
        }
    }

    fn substitution(&mut self, inner: &str, spelled: &str, scope: &mut Scope, process: bool) -> Word {
        let mut child = scope.subshell(Via::Substitution);
        let range = self.script(inner, &mut child);
        if !process && let Some(output) = self.output(range.clone()) {
            return output;
        }
        let mut word = Word::unknown(spelled);
        word.output_of = Some(self.source(range.clone()));
        // The paths that a process substitution lists lie there; `read` takes them from it.
        word.under = self.printed_under(range);
        word
    }

    fn variable(&mut self, name: &str, spelled: &str, scope: &mut Scope, builder: &mut Builder, quoted: bool) {
        if let Some(var) = scope.variable(name) {
            let join = name == "*";
            for (i, word) in var.words.iter().enumerate() {
                if i > 0 && join && quoted {
                    builder.quoted(" ");
                } else if i > 0 {
                    builder.end();
                }
                match scope.variable("IFS").and_then(|ifs| ifs.words.first()) {
                    // The text says itself where values are split.
                    Some(ifs) if !quoted && ifs.known && word.known => builder.divided(word, &ifs.text),
                    Some(ifs) if !quoted && !ifs.known => builder.unknown(&word.text, false),
                    _ => builder.value(word, quoted),
                }
                if !var.array {
                    break;
                }
                // `"${a[@]}"` and `"$@"` take all elements; `$a` takes the first.
                if !matches!(name, "@" | "*") {
                    break;
                }
            }
            return;
        }
        match name {
            "HOME" => builder.home(),
            "PWD" => builder.value(&here(), true),
            "IFS" => builder.value(&Word::literal(" "), quoted),
            "$" | "RANDOM" | "UID" | "EUID" | "PPID" | "SECONDS" | "BASHPID" | "EPOCHSECONDS" | "#" => {
                builder.unknown(spelled, true)
            }
            "USER" | "LOGNAME" | "HOSTNAME" if builder.names_a_folder() => builder.unknown(spelled, true),
            _ => builder.unknown(spelled, false),
        }
    }

    /// `${...}`
    fn parameter(&mut self, inner: &str, spelled: &str, scope: &mut Scope, builder: &mut Builder, quoted: bool) {
        let mut cursor = Cursor::new(inner);
        if inner.len() > 1 && inner.starts_with('#') {
            builder.unknown(spelled, true);
            return;
        }
        if inner.starts_with('!') {
            builder.unknown(spelled, false);
            return;
        }
        let mut name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() {
            let start = cursor.rest;
            cursor.bump();
            name = cursor.since(start);
        }
        if cursor.rest.is_empty() {
            self.variable(name, spelled, scope, builder, quoted);
            return;
        }
        if cursor.eat("[") {
            let index = cursor.take_while(|c| c != ']');
            cursor.eat("]");
            let var = scope.variable(name).cloned();
            match (var, index) {
                (Some(var), "@" | "*") if cursor.rest.is_empty() => {
                    for (i, word) in var.words.iter().enumerate() {
                        if i > 0 {
                            builder.end();
                        }
                        builder.value(word, quoted);
                    }
                }
                (Some(var), _) if cursor.rest.is_empty() => {
                    match index.parse::<usize>().ok().and_then(|i| var.words.get(i)) {
                        Some(word) => builder.value(word, quoted),
                        None => builder.unknown(spelled, false),
                    }
                }
                _ => builder.unknown(spelled, false),
            }
            return;
        }
        let known = scope.variable(name).and_then(|var| var.words.first()).cloned();
        let colon = cursor.eat(":");
        match (colon, cursor.peek()) {
            (_, Some(op @ ('-' | '=' | '?' | '+'))) => {
                cursor.bump();
                let alternative = cursor.rest.to_owned();
                self.with_default(name, op, colon, &alternative, known, spelled, scope, builder, quoted);
            }
            (true, _) => {
                // `${x:offset:length}`
                match known.filter(|word| word.known).and_then(|word| substring(&word, cursor.rest)) {
                    Some(word) => builder.value(&word, quoted),
                    None => builder.unknown(spelled, false),
                }
            }
            (false, Some(op @ ('%' | '#' | '/' | '^' | ','))) => {
                cursor.bump();
                let doubled = cursor.eat(op.encode_utf8(&mut [0; 4]));
                let operand = cursor.rest.to_owned();
                match known.filter(|word| word.known).and_then(|word| transformed(&word, op, doubled, &operand)) {
                    Some(word) => builder.value(&word, quoted),
                    None => {
                        self.arithmetic(&operand, scope);
                        builder.unknown(spelled, false);
                    }
                }
            }
            _ => builder.unknown(spelled, false),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one expansion")]
    fn with_default(
        &mut self,
        name: &str,
        op: char,
        colon: bool,
        alternative: &str,
        known: Option<Word>,
        spelled: &str,
        scope: &mut Scope,
        builder: &mut Builder,
        quoted: bool,
    ) {
        let set = match (&known, name) {
            (Some(word), _) if word.known => Some(!(colon && word.text.is_empty())),
            (Some(_), _) => None,
            (None, "HOME" | "PWD") => Some(true),
            // Set by most environments, to a value that cannot be seen here.
            (None, "PATH" | "USER" | "LOGNAME" | "SHELL" | "OLDPWD" | "HOSTNAME") => None,
            (None, _) => Some(false),
        };
        let fallback = |reader: &mut Self, scope: &mut Scope, builder: &mut Builder| {
            if quoted {
                builder.quoted("");
                reader.double_quoted(&mut Cursor::new(alternative), scope, builder, None);
            } else {
                reader.pieces(alternative, scope, builder, false);
            }
        };
        match (op, set) {
            ('+', Some(true)) => fallback(self, scope, builder),
            ('+', Some(false)) => {}
            ('-' | '=' | '?', Some(true)) => self.variable(name, spelled, scope, builder, quoted),
            ('-' | '=', Some(false)) => {
                if op == '=' {
                    let word = self.expand_one(alternative, scope);
                    scope.set(name, Var::scalar(word.clone()));
                    builder.value(&word, quoted);
                } else {
                    fallback(self, scope, builder);
                }
            }
            _ => {
                self.arithmetic(alternative, scope);
                builder.unknown(spelled, false);
            }
        }
    }
}

/// The current folder, relative to itself.
pub(super) fn here() -> Word {
    Word { of_directory: true, ..Word::literal(".") }
}

fn substring(word: &Word, spec: &str) -> Option<Word> {
    let (offset, length) = match spec.split_once(':') {
        Some((offset, length)) => (offset, Some(length.trim().parse::<usize>().ok()?)),
        None => (spec, None),
    };
    let offset = offset.trim().parse::<usize>().ok()?;
    let text: String = word.text.chars().skip(offset).take(length.unwrap_or(usize::MAX)).collect();
    Some(Word { text, home: word.home && offset == 0, ..word.clone() })
}

/// `${x%y}`, `${x#y}`, `${x/y/z}`, `${x^^}`, `${x,,}` where the pattern is literal or simple.
fn transformed(word: &Word, op: char, doubled: bool, operand: &str) -> Option<Word> {
    let text = word.text.as_str();
    if operand.contains(['$', '`', '"', '\'', '\\', '[']) || text.len() > 256 {
        return None;
    }
    let made = match op {
        '^' if operand.is_empty() && doubled => text.to_uppercase(),
        ',' if operand.is_empty() && doubled => text.to_lowercase(),
        '/' => {
            let (pattern, with) = operand.split_once('/').unwrap_or((operand, ""));
            if pattern.is_empty() || pattern.contains(['*', '?']) || pattern.starts_with(['#', '%']) {
                return None;
            }
            if doubled { text.replace(pattern, with) } else { text.replacen(pattern, with, 1) }
        }
        '%' | '#' => {
            let mut cuts: Vec<usize> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
            if (op == '%') != doubled {
                cuts.reverse();
            }
            let cut = cuts.into_iter().find(|cut| {
                let (head, tail) = text.split_at(*cut);
                matches_glob(operand, if op == '%' { tail } else { head })
            });
            match cut.map(|cut| text.split_at(cut)) {
                Some((head, tail)) => (if op == '%' { head } else { tail }).to_owned(),
                None => text.to_owned(),
            }
        }
        _ => return None,
    };
    let home = word.home && made.starts_with('~');
    Some(Word { text: made, home, ..word.clone() })
}

/// Whether `text` matches a pattern of `*` and `?`.
pub(super) fn matches_glob(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().take(64).collect();
    let mut reachable = vec![false; pattern.len().saturating_add(1)];
    // reachable[i]: the first i characters of the pattern match what was read.
    let close = |reachable: &mut Vec<bool>| {
        for (i, p) in pattern.iter().enumerate() {
            if *p == '*'
                && reachable.get(i) == Some(&true)
                && let Some(next) = reachable.get_mut(i.saturating_add(1))
            {
                *next = true;
            }
        }
    };
    if let Some(first) = reachable.first_mut() {
        *first = true;
    }
    close(&mut reachable);
    for c in text.chars() {
        let mut next = vec![false; reachable.len()];
        for (i, p) in pattern.iter().enumerate() {
            if reachable.get(i) != Some(&true) {
                continue;
            }
            let to = if *p == '*' { i } else { i.saturating_add(1) };
            if (*p == '*' || *p == '?' || *p == c)
                && let Some(cell) = next.get_mut(to)
            {
                *cell = true;
            }
        }
        reachable = next;
        close(&mut reachable);
    }
    reachable.last() == Some(&true)
}

/// The text of `$'...'`, after its opening.
fn ansi(cursor: &mut Cursor<'_>) -> String {
    let mut text = String::new();
    while let Some(c) = cursor.bump() {
        match c {
            '\'' => break,
            '\\' => match cursor.bump() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('e' | 'E') => text.push('\u{1b}'),
                Some('a') => text.push('\u{7}'),
                Some('b') => text.push('\u{8}'),
                Some('x') => text.extend(number(cursor, 16, 2)),
                Some('u') => text.extend(number(cursor, 16, 4)),
                Some('U') => text.extend(number(cursor, 16, 8)),
                Some(d @ '0'..='7') => {
                    let mut digits = String::from(d);
                    while digits.len() < 3
                        && let Some(d @ '0'..='7') = cursor.peek()
                    {
                        digits.push(d);
                        cursor.bump();
                    }
                    text.extend(u32::from_str_radix(&digits, 8).ok().and_then(char::from_u32));
                }
                Some(other) => text.push(other),
                None => {}
            },
            _ => text.push(c),
        }
    }
    text
}

fn number(cursor: &mut Cursor<'_>, radix: u32, most: usize) -> Option<char> {
    let mut digits = String::new();
    while digits.len() < most
        && let Some(c) = cursor.peek().filter(|c| c.is_digit(radix))
    {
        digits.push(c);
        cursor.bump();
    }
    u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32)
}

/// The spellings that brace expansion makes of `raw`; `None` when they are too many.
fn braces(raw: &str) -> Option<Vec<String>> {
    if !raw.contains('{') {
        return Some(vec![raw.to_owned()]);
    }
    if raw.len() > MAX_BRACED || raw.matches('{').count() > MAX_BRACES {
        return None;
    }
    let mut open = vec![raw.to_owned()];
    let mut done = Vec::new();
    while let Some(spelling) = open.pop() {
        match first_brace(&spelling) {
            None => done.push(spelling),
            Some((before, members, after)) => {
                for member in members.iter().rev() {
                    open.push(format!("{before}{member}{after}"));
                }
            }
        }
        if open.len().saturating_add(done.len()) > MAX_BRACES {
            return None;
        }
    }
    Some(done)
}

/// The first brace expression: what stands before it, its members, what follows.
fn first_brace(raw: &str) -> Option<(&str, Vec<String>, &str)> {
    let mut cursor = Cursor::new(raw);
    while let Some(c) = cursor.peek() {
        let before = cursor.since(raw);
        match c {
            '{' => {
                cursor.bump();
                if let Some((inner, after)) = enclosed_brace(cursor.rest)
                    && let Some(members) = brace_members(inner)
                {
                    return Some((before, members, after));
                }
            }
            _ => skip_one(&mut cursor),
        }
    }
    None
}

/// Moves over one character, quoted run or expansion.
fn skip_one(cursor: &mut Cursor<'_>) {
    match cursor.bump() {
        Some('\\') => {
            cursor.bump();
        }
        Some('\'') => {
            cursor.take_while(|c| c != '\'');
            cursor.bump();
        }
        Some('"') => cursor.rest = enclosed(cursor.rest, '"').map_or("", |(_, rest)| rest),
        Some('`') => cursor.rest = enclosed(cursor.rest, '`').map_or("", |(_, rest)| rest),
        Some('$') if cursor.eat("(") => cursor.rest = enclosed(cursor.rest, ')').map_or("", |(_, rest)| rest),
        Some('$') if cursor.eat("{") => cursor.rest = enclosed(cursor.rest, '}').map_or("", |(_, rest)| rest),
        _ => {}
    }
}

fn enclosed_brace(text: &str) -> Option<(&str, &str)> {
    let mut cursor = Cursor::new(text);
    let mut depth = 0_usize;
    while let Some(c) = cursor.peek() {
        let inner = cursor.since(text);
        match c {
            '}' if depth == 0 => {
                cursor.bump();
                return Some((inner, cursor.rest));
            }
            '}' => {
                depth = depth.saturating_sub(1);
                cursor.bump();
            }
            '{' => {
                depth = depth.saturating_add(1);
                cursor.bump();
            }
            _ => skip_one(&mut cursor),
        }
    }
    None
}

fn brace_members(inner: &str) -> Option<Vec<String>> {
    let mut members = Vec::new();
    let mut cursor = Cursor::new(inner);
    let mut start = inner;
    let mut depth = 0_usize;
    while let Some(c) = cursor.peek() {
        match c {
            ',' if depth == 0 => {
                members.push(cursor.since(start).to_owned());
                cursor.bump();
                start = cursor.rest;
                if members.len() > MAX_BRACES {
                    return Some(members);
                }
            }
            '{' => {
                depth = depth.saturating_add(1);
                cursor.bump();
            }
            '}' => {
                depth = depth.saturating_sub(1);
                cursor.bump();
            }
            _ => skip_one(&mut cursor),
        }
    }
    if !members.is_empty() {
        members.push(start.to_owned());
        return Some(members);
    }
    let (from, to) = inner.split_once("..")?;
    let (to, step) = to.split_once("..").map_or((to, 1), |(to, step)| (to, step.parse::<i32>().unwrap_or(1)));
    if let (Ok(first), Ok(last)) = (from.parse::<i32>(), to.parse::<i32>()) {
        let step = usize::try_from(step.unsigned_abs()).unwrap_or(1).max(1);
        let padded = [from, to]
            .iter()
            .any(|n| n.trim_start_matches('-').len() > 1 && n.trim_start_matches('-').starts_with('0'));
        let width = if padded { from.len().max(to.len()) } else { 0 };
        let spell = |n: i32| format!("{n:0width$}");
        let most = MAX_BRACES.saturating_add(1);
        // Descending ranges count down.
        return Some(if first <= last {
            (first..=last).step_by(step).take(most).map(spell).collect()
        } else {
            (last..=first).rev().step_by(step).take(most).map(spell).collect()
        });
    }
    let (mut a, mut b) = (from.chars(), to.chars());
    match (a.next(), a.next(), b.next(), b.next()) {
        (Some(from), None, Some(to), None) if from.is_ascii_alphabetic() && to.is_ascii_alphabetic() => {
            Some((from.min(to)..=from.max(to)).map(|c| c.to_string()).collect())
        }
        _ => None,
    }
}
