//! Bounds a text before a recursive parser sees it.
//!
//! A single pass with an explicit stack finds how deep quotes, parentheses and compound commands
//! nest. The grammar tries an opening parenthesis or a `case` branch in more than one way, which
//! doubles the work at each level, so the pass adds up that cost, too.

use super::{MAX_DEPTH, MAX_TEXT, Unreadable};

/// The cost above which the grammar is not tried. An ordinary script stays below 100.
const MAX_COST: u64 = 20_000;

/// Opening brackets and keywords above which the grammar is not tried: what its stack could hold
/// if they all were nested.
const MAX_OPENERS: usize = 8000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Parenthesis,
    Arithmetic,
    Substitution,
    Double,
    Parameter,
    Keyword,
    Case,
}

/// What the pass found.
pub(super) struct Scan {
    /// Why the grammar must not be tried, if so.
    pub(super) refuse: Option<Unreadable>,
    /// Opening characters in the text, quoted or not: above a handful, the parser gets a large
    /// stack and a deadline, in case this pass and the grammar see the nesting differently.
    pub(super) openers: usize,
}

/// Control bytes that no shell text has.
pub(super) fn is_binary(text: &str) -> bool {
    text.chars()
        .any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r' | '\u{1b}' | '\u{c}' | '\u{8}' | '\u{7}' | '\u{b}'))
}

/// Looks at `text` in one pass.
pub(super) fn scan(text: &str) -> Scan {
    if text.len() > MAX_TEXT {
        return Scan { refuse: Some(Unreadable::TooLong), openers: 0 };
    }
    let brackets = text.bytes().filter(|b| matches!(b, b'(' | b'{' | b'[' | b'`')).count();
    let keywords =
        ["if ", "while ", "until ", "case ", "coproc ", "if\n"].iter().map(|word| text.matches(word).count()).sum();
    let openers = brackets.saturating_add(keywords);
    let refuse = if openers > MAX_OPENERS || text.matches("$[").count() > MAX_DEPTH / 2 {
        Some(Unreadable::TooDeep)
    } else {
        Pass::new(text).run()
    };
    Scan { refuse, openers }
}

struct Pass<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    stack: Vec<Inside>,
    word: String,
    at_command: bool,
    here_tags: Vec<(String, bool)>,
    cost: u64,
    /// An open quote, or a number that the grammar does not expect.
    unreadable: bool,
}

impl<'a> Pass<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text.chars().peekable(),
            stack: Vec::new(),
            word: String::new(),
            at_command: true,
            here_tags: Vec::new(),
            cost: 0,
            unreadable: false,
        }
    }

    fn push(&mut self, inside: Inside) {
        self.stack.push(inside);
        let doubling =
            self.stack.iter().filter(|i| matches!(i, Inside::Parenthesis | Inside::Arithmetic | Inside::Case)).count();
        if matches!(inside, Inside::Parenthesis | Inside::Arithmetic | Inside::Case) {
            let level = u32::try_from(doubling.min(40)).unwrap_or(40);
            self.cost = self.cost.saturating_add(1_u64.checked_shl(level).unwrap_or(u64::MAX));
        }
    }

    fn run(mut self) -> Option<Unreadable> {
        while let Some(c) = self.rest.next() {
            let top = self.stack.last().copied();
            if top == Some(Inside::Double) {
                match c {
                    '\\' => {
                        self.rest.next();
                    }
                    '"' => {
                        self.stack.pop();
                    }
                    '$' => self.dollar(),
                    '`' => self.backtick(),
                    _ => {}
                }
            } else {
                self.unquoted(c);
            }
            if self.stack.len() > MAX_DEPTH || self.cost > MAX_COST {
                return Some(Unreadable::TooDeep);
            }
        }
        self.end_word();
        let closed = self.stack.iter().all(|i| matches!(i, Inside::Keyword | Inside::Case));
        (!closed || self.unreadable || !self.here_tags.is_empty()).then_some(Unreadable::SyntaxError)
    }

    fn backtick(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => {
                    self.rest.next();
                }
                '`' => return,
                _ => {}
            }
        }
        self.unreadable = true;
    }

    fn dollar(&mut self) {
        match self.rest.peek() {
            Some('(') => {
                self.rest.next();
                self.push(Inside::Substitution);
                if self.rest.next_if_eq(&'(').is_some() {
                    self.push(Inside::Arithmetic);
                }
                self.at_command = true;
            }
            Some('{') => {
                self.rest.next();
                self.push(Inside::Parameter);
            }
            _ => {}
        }
    }

    fn unquoted(&mut self, c: char) {
        match c {
            '\\' => {
                if self.rest.next() != Some('\n') {
                    self.word.push('\\');
                }
            }
            '\'' => {
                let ansi = self.word.ends_with('$');
                let mut closed = false;
                while let Some(q) = self.rest.next() {
                    if ansi && q == '\\' {
                        self.rest.next();
                    } else if q == '\'' {
                        closed = true;
                        break;
                    }
                }
                self.unreadable |= !closed;
                self.word.push('\'');
            }
            '"' => {
                self.word.push('"');
                self.push(Inside::Double);
            }
            '`' => {
                self.word.push('`');
                self.backtick();
            }
            '$' => {
                if matches!(self.rest.peek(), Some('(' | '{')) {
                    self.word.clear();
                    self.dollar();
                } else {
                    self.word.push('$');
                }
            }
            '}' if self.stack.last() == Some(&Inside::Parameter) => {
                self.stack.pop();
                self.word.push('}');
            }
            _ if self.stack.last() == Some(&Inside::Parameter) => {}
            '(' => {
                self.word.clear();
                self.push(Inside::Parenthesis);
                if self.rest.next_if_eq(&'(').is_some() {
                    self.push(Inside::Arithmetic);
                }
                self.at_command = true;
            }
            ')' => {
                self.end_word();
                // In a case, it ends the pattern.
                if self.stack.last() == Some(&Inside::Case) {
                    self.at_command = true;
                    return;
                }
                while matches!(self.stack.last(), Some(Inside::Keyword)) {
                    self.stack.pop();
                }
                if matches!(self.stack.last(), Some(Inside::Parenthesis | Inside::Arithmetic | Inside::Substitution)) {
                    self.stack.pop();
                }
                self.at_command = false;
            }
            '<' | '>' => {
                // A number of this size in front of a redirect is out of range for the parser.
                if self.word.len() > 9 && self.word.bytes().all(|b| b.is_ascii_digit()) {
                    self.unreadable = true;
                }
                self.end_word();
                // `<<`, but neither `<<<` nor a shift.
                if c == '<'
                    && self.rest.next_if_eq(&'<').is_some()
                    && self.rest.next_if_eq(&'<').is_none()
                    && !self.stack.contains(&Inside::Arithmetic)
                {
                    self.here_tag();
                }
            }
            '\n' => {
                self.end_word();
                self.at_command = true;
                self.here_documents();
            }
            ';' | '&' | '|' => {
                self.end_word();
                self.at_command = true;
            }
            '#' if self.word.is_empty() => while self.rest.next_if(|c| *c != '\n').is_some() {},
            ' ' | '\t' | '\r' => self.end_word(),
            _ => self.word.push(c),
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        if !self.at_command {
            // A function's body begins behind its name, where no command would.
            match word.as_str() {
                "{" => {
                    self.push(Inside::Keyword);
                    self.at_command = true;
                }
                "}" => self.pop_keyword(Inside::Keyword),
                _ => {}
            }
            return;
        }
        match word.as_str() {
            "if" | "for" | "while" | "until" | "select" | "{" | "coproc" => self.push(Inside::Keyword),
            "case" => {
                self.push(Inside::Case);
                self.at_command = false;
            }
            "fi" | "done" | "}" => self.pop_keyword(Inside::Keyword),
            "esac" => self.pop_keyword(Inside::Case),
            "then" | "do" | "else" | "elif" | "!" | "time" | "function" => {}
            _ => self.at_command = false,
        }
    }

    fn pop_keyword(&mut self, kind: Inside) {
        if self.stack.last() == Some(&kind) {
            self.stack.pop();
        }
    }

    fn here_tag(&mut self) {
        let tabs = self.rest.next_if_eq(&'-').is_some();
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        let mut tag = String::new();
        while let Some(c) =
            self.rest.next_if(|c| !matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'))
        {
            match c {
                '\'' | '"' => {
                    while let Some(q) = self.rest.next_if(|q| *q != c) {
                        tag.push(q);
                    }
                    self.rest.next();
                }
                '\\' => tag.extend(self.rest.next()),
                _ => tag.push(c),
            }
        }
        self.here_tags.push((tag, tabs));
    }

    fn here_documents(&mut self) {
        for (tag, tabs) in std::mem::take(&mut self.here_tags) {
            loop {
                let mut line = String::new();
                while let Some(c) = self.rest.next_if(|c| *c != '\n') {
                    line.push(c);
                }
                let ended = self.rest.next().is_none();
                if (if tabs { line.trim_start_matches('\t') } else { &line }) == tag {
                    break;
                }
                if ended {
                    self.here_tags.push((tag.clone(), tabs));
                    break;
                }
            }
        }
    }
}
