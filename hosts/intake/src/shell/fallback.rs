//! A conservative reading of text that the grammar cannot read.
//!
//! The text is split at separators and brackets; a quote that is never closed is no quote. What
//! stands at the start of a piece counts as a command, variables assigned on the way are not
//! known, and after a `cd` neither is the folder. So nothing that could run is lost, at the price
//! of commands that would not have run.

use super::walk::{Assigned, Reader, Scope, Simple, Spelled, Spot};
use super::word::{Cursor, enclosed};
use super::{Command, Directory, Joined, RedirectKind, Stdin, Via, Word};

/// Text beyond this is not looked at.
const MAX_READ: usize = 1024 * 1024;
/// Characters that searches for closing quotes may pass.
const MAX_SEARCH: usize = 2 * 1024 * 1024;

struct Split<'a> {
    cursor: Cursor<'a>,
    searched: usize,
    simple: Simple,
    word: String,
    in_word: bool,
    redirect: Option<RedirectKind>,
    tags: Vec<(String, bool, bool)>,
    parentheses: usize,
    cases: usize,
    upstream: Option<usize>,
}

impl Reader<'_> {
    pub(super) fn fallback(&mut self, text: &str, scope: &mut Scope) {
        let end = text.floor_char_boundary(MAX_READ.min(text.len()));
        let text = text.get(..end).unwrap_or_default();
        let mut split = Split {
            cursor: Cursor::new(text),
            searched: 0,
            simple: Simple::default(),
            word: String::new(),
            in_word: false,
            redirect: None,
            tags: Vec::new(),
            parentheses: 0,
            cases: 0,
            upstream: None,
        };
        while let Some(c) = split.cursor.peek() {
            if self.commands.len() >= super::MAX_COMMANDS {
                self.mark(super::Unreadable::TooMany);
                break;
            }
            self.split_one(c, &mut split, scope);
        }
        split.end_word();
        self.split_end(&mut split, scope, Joined::Sequence);
    }

    /// Text inside too many others: its words, without looking into them.
    pub(super) fn flat(&mut self, text: &str, scope: &mut Scope) {
        let end = text.floor_char_boundary(MAX_READ.min(text.len()));
        for piece in text.get(..end).unwrap_or_default().split([';', '\n', '|', '&', '(', ')', '`']) {
            let bare = |part: &str| part.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect::<String>();
            let words: Vec<Word> = piece
                .split_whitespace()
                .map(|part| Word { known: !part.contains('$'), raw: part.to_owned(), ..Word::literal(bare(part)) })
                .skip_while(|word| {
                    matches!(
                        word.text.as_str(),
                        "" | "{"
                            | "}"
                            | "if"
                            | "then"
                            | "else"
                            | "do"
                            | "while"
                            | "until"
                            | "!"
                            | "time"
                            | "eval"
                            | "sudo"
                            | "env"
                    )
                })
                .collect();
            if !words.is_empty() {
                let command = Command { words, directory: Directory::Unknown, ..self.blank(scope) };
                if self.push(command).is_none() {
                    return;
                }
            }
        }
    }

    fn split_one(&mut self, c: char, split: &mut Split<'_>, scope: &mut Scope) {
        let start = split.cursor.rest;
        match c {
            '\\' => {
                split.cursor.bump();
                if split.cursor.bump() != Some('\n') {
                    split.take(start);
                }
            }
            '\'' => {
                split.cursor.bump();
                split.cursor.take_while(|c| c != '\'');
                if split.cursor.bump().is_some() {
                    split.take(start);
                } else {
                    // Never closed: what looks quoted is read as commands.
                    split.cursor.rest = start.get(1..).unwrap_or_default();
                    self.split_open_quote(split, scope);
                }
            }
            '"' | '`' => {
                split.cursor.bump();
                match split.search(c) {
                    Some(rest) => {
                        split.cursor.rest = rest;
                        split.take(start);
                    }
                    None => self.split_open_quote(split, scope),
                }
            }
            '$' => {
                split.cursor.bump();
                let close = if split.cursor.eat("(") {
                    Some(')')
                } else if split.cursor.eat("{") {
                    Some('}')
                } else {
                    None
                };
                match close.map(|close| split.search(close)) {
                    Some(Some(rest)) => {
                        split.cursor.rest = rest;
                        split.take(start);
                    }
                    Some(None) => {
                        split.end_word();
                        self.split_end(split, scope, Joined::Sequence);
                    }
                    None => split.take(start),
                }
            }
            '#' if !split.in_word => {
                split.cursor.take_while(|c| c != '\n');
            }
            ' ' | '\t' | '\r' => {
                split.cursor.bump();
                split.end_word();
            }
            '\n' => {
                split.cursor.bump();
                split.end_word();
                split.here_documents();
                self.split_end(split, scope, Joined::Sequence);
            }
            ';' => {
                split.cursor.bump();
                split.end_word();
                self.split_end(split, scope, Joined::Sequence);
            }
            '&' | '|' => {
                split.cursor.bump();
                if c == '&' && split.cursor.peek() == Some('>') {
                    split.end_word();
                    return;
                }
                split.end_word();
                let joined = match (c, split.cursor.peek()) {
                    ('&', Some('&')) => Joined::And,
                    ('|', Some('|')) => Joined::Or,
                    ('|', _) => Joined::Pipe,
                    _ => Joined::Sequence,
                };
                if split.cursor.peek() == Some(c) || (c == '|' && split.cursor.peek() == Some('&')) {
                    split.cursor.bump();
                }
                self.split_end(split, scope, joined);
            }
            '(' => {
                split.cursor.bump();
                if split.cursor.eat(")") {
                    // A function: its body counts as run.
                    split.word.clear();
                    split.in_word = false;
                    split.simple = Simple::default();
                    return;
                }
                split.end_word();
                split.parentheses = split.parentheses.saturating_add(1);
                self.split_end(split, scope, Joined::Sequence);
            }
            ')' => {
                split.cursor.bump();
                if split.parentheses == 0 && split.cases > 0 {
                    // The pattern of a case.
                    split.word.clear();
                    split.in_word = false;
                    split.simple = Simple::default();
                    return;
                }
                split.end_word();
                split.parentheses = split.parentheses.saturating_sub(1);
                self.split_end(split, scope, Joined::Sequence);
            }
            '<' | '>' => {
                split.cursor.bump();
                if split.cursor.peek() == Some('(') {
                    split.cursor.bump();
                    if let Some(rest) = split.search(')') {
                        split.cursor.rest = rest;
                        split.take(start);
                        return;
                    }
                }
                if split.word.bytes().all(|b| b.is_ascii_digit()) {
                    split.word.clear();
                    split.in_word = false;
                }
                split.end_word();
                if c == '<' && split.cursor.eat("<<") {
                    split.redirect = None;
                } else if c == '<' && split.cursor.eat("<") {
                    split.here_tag();
                } else if split.cursor.eat("&") {
                    // A descriptor, or a file after `>&`.
                    let target = split.cursor.take_while(|c| c.is_ascii_digit() || c == '-');
                    split.redirect = target.is_empty().then_some(RedirectKind::Write);
                } else {
                    let kind = match (c, split.cursor.peek()) {
                        ('>', Some('>')) => RedirectKind::Append,
                        ('<', Some('>')) => RedirectKind::ReadWrite,
                        ('<', _) => RedirectKind::Read,
                        _ => RedirectKind::Write,
                    };
                    if matches!(split.cursor.peek(), Some('>' | '|')) {
                        split.cursor.bump();
                    }
                    split.redirect = Some(kind);
                }
            }
            _ => {
                split.cursor.bump();
                split.take(start);
            }
        }
    }

    /// A quote that is never closed: a blank, or the start of a text that would have been run.
    fn split_open_quote(&mut self, split: &mut Split<'_>, scope: &mut Scope) {
        split.end_word();
        let is = |word: Option<&Spelled>, names: &[&str]| matches!(word, Some(Spelled::Raw(raw)) if names.contains(&raw.as_str()));
        let runs = is(split.simple.words.last(), &["-c", "-lc", "-ec", "-e", "-Command", "eval"])
            || is(split.simple.words.first(), &["ssh"]);
        if runs {
            self.split_end(split, scope, Joined::Sequence);
        }
    }

    fn split_end(&mut self, split: &mut Split<'_>, scope: &mut Scope, next: Joined) {
        split.redirect = None;
        let mut simple = std::mem::take(&mut split.simple);
        skip_reserved(&mut simple, scope, &mut split.cases);
        let start = self.here();
        if !simple.words.is_empty() || !simple.redirects.is_empty() || !simple.assignments.is_empty() {
            for assigned in &simple.assignments {
                if simple.words.is_empty() {
                    scope.set_unknown(&assigned.name);
                }
            }
            if simple.words.is_empty() {
                // Values are not followed, but the substitutions inside them run.
                for assigned in std::mem::take(&mut simple.assignments) {
                    for value in &assigned.values {
                        self.expand_one(value, scope);
                    }
                }
            }
            if let Some(at) = split.upstream.take() {
                scope.stdin = Stdin::Pipe(vec![at]);
            }
            let before = scope.directory.clone();
            self.simple(simple, scope);
            scope.stdin = Stdin::None;
            if scope.directory != before {
                scope.directory = Directory::Unknown;
            }
        }
        let depth = scope.via.iter().filter(|via| **via == Via::Substitution).count();
        split.upstream = (next == Joined::Pipe && self.here() > start)
            .then(|| self.principal(start, depth).last().copied())
            .flatten();
        scope.joined = next;
    }
}

/// Drops reserved words from the front, so that the command after them is seen.
fn skip_reserved(simple: &mut Simple, scope: &mut Scope, cases: &mut usize) {
    let mut at = 0_usize;
    while let Some(Spelled::Raw(first)) = simple.words.get(at) {
        let next = at.saturating_add(1);
        at = match first.as_str() {
            "if" | "then" | "else" | "elif" | "do" | "while" | "until" | "!" | "{" | "}" | "time" | "coproc" | "fi"
            | "done" => next,
            "esac" => {
                *cases = cases.saturating_sub(1);
                next
            }
            "function" => next.saturating_add(1),
            "for" | "select" => {
                if let Some(Spelled::Raw(name)) = simple.words.get(next) {
                    scope.set_unknown(&name.clone());
                }
                // The list is data; a `do` on the same line starts the body.
                let body = simple.words.iter().skip(next).position(|w| matches!(w, Spelled::Raw(raw) if raw == "do"));
                body.map_or(simple.words.len(), |body| next.saturating_add(body))
            }
            "case" => {
                *cases = cases.saturating_add(1);
                simple.words.len()
            }
            _ => break,
        };
    }
    simple.words.drain(..at.min(simple.words.len()));
}

impl<'a> Split<'a> {
    fn take(&mut self, start: &'a str) {
        self.word.push_str(self.cursor.since(start));
        self.in_word = true;
    }

    /// What follows the closing bracket of what was just opened.
    fn search(&mut self, close: char) -> Option<&'a str> {
        if self.searched > MAX_SEARCH {
            return None;
        }
        let found = enclosed(self.cursor.rest, close);
        let passed = found.map_or(self.cursor.rest.len(), |(inner, _)| inner.len());
        self.searched = self.searched.saturating_add(passed);
        found.map(|(_, rest)| rest)
    }

    fn end_word(&mut self) {
        if !self.in_word {
            return;
        }
        self.in_word = false;
        let word = std::mem::take(&mut self.word);
        if let Some(kind) = self.redirect.take() {
            self.simple.redirects.push(Spot::File(kind, word));
            return;
        }
        let name: String = word.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let value = word.strip_prefix(&name).and_then(|rest| rest.strip_prefix('='));
        match value {
            Some(value)
                if self.simple.words.is_empty()
                    && !name.is_empty()
                    && !name.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                let values = vec![value.to_owned()];
                self.simple.assignments.push(Assigned { name, values, array: false, element: false, append: false });
            }
            _ => self.simple.words.push(Spelled::Raw(word)),
        }
    }

    fn here_tag(&mut self) {
        let tabs = self.cursor.eat("-");
        self.cursor.take_while(|c| c == ' ' || c == '\t');
        let raw = self.cursor.take_while(|c| !matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'));
        let tag: String = raw.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        let expand = tag.len() == raw.len();
        self.tags.push((tag, tabs, expand));
    }

    fn here_documents(&mut self) {
        for (tag, tabs, expand) in std::mem::take(&mut self.tags) {
            let mut text = String::new();
            while !self.cursor.rest.is_empty() {
                let line = self.cursor.take_while(|c| c != '\n');
                self.cursor.bump();
                let line = if tabs { line.trim_start_matches('\t') } else { line };
                if line == tag {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            self.simple.redirects.push(Spot::Text { text, expand, quoted_as_word: false });
        }
    }
}
