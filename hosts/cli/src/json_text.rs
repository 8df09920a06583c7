//! Changes a JSON text in place: what is not changed stays as it was written, to the byte.
//!
//! A settings file belongs to a person. Reading and printing it again would lose the order of its keys, its spacing, its
//! spellings of numbers and its comments, so this reads only where things are, and edits the text there.

use serde_json::Value;
use std::ops::Range;

/// A JSON text and where its parts are.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: String,
    /// The text with blanks where it has comments: as long, and with the same parts at the same places.
    bare: String,
    comments: Vec<Range<usize>>,
    dialect: Dialect,
    root: Node,
}

/// What a text may hold besides JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Strict,
    /// `//` to the end of a line, and `/* */`.
    Comments,
}

/// A part of the text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Where it is.
    pub(crate) span: Range<usize>,
    /// What is in it.
    pub(crate) inside: Inside,
}

#[derive(Clone, Debug)]
pub(crate) enum Inside {
    /// Keys with where they begin, and their values.
    Object(Vec<(String, usize, Node)>),
    Array(Vec<Node>),
    Other,
}

/// What is to be written: JSON whose keys keep their order.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Object(Vec<(&'static str, Json)>),
    Array(Vec<Json>),
    Text(String),
    Number(u32),
    True,
}

impl Json {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Object(members) => members.iter().map(|(key, value)| ((*key).to_owned(), value.value())).collect(),
            Self::Array(items) => items.iter().map(Self::value).collect(),
            Self::Text(text) => Value::from(text.as_str()),
            Self::Number(number) => Value::from(*number),
            Self::True => Value::Bool(true),
        }
    }
}

impl Node {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let Inside::Object(members) = &self.inside else { return None };
        // Of equal keys the last one counts, as for every JSON parser in use.
        members.iter().rev().find(|(name, ..)| name == key).map(|(_, _, node)| node)
    }

    pub(crate) fn items(&self) -> &[Node] {
        if let Inside::Array(items) = &self.inside { items } else { &[] }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.inside, Inside::Object(_))
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self.inside, Inside::Array(_))
    }

    /// Where the parts begin and end.
    fn parts(&self) -> Vec<Range<usize>> {
        match &self.inside {
            Inside::Object(members) => members.iter().map(|(_, start, node)| *start..node.span.end).collect(),
            Inside::Array(items) => items.iter().map(|node| node.span.clone()).collect(),
            Inside::Other => Vec::new(),
        }
    }
}

impl Document {
    /// Reads a text; the error says where it is no JSON.
    pub(crate) fn read(text: &str, dialect: Dialect) -> Result<Self, serde_json::Error> {
        let comments = if dialect == Dialect::Comments { comments(text) } else { Vec::new() };
        let bare = without(text, &comments);
        // The strict parser says whether it is JSON, and bounds its depth. After it, the reader below only has to find the places.
        serde_json::from_str::<serde::de::IgnoredAny>(&bare)?;
        let mut reader = Reader { text: &bare, at: 0 };
        let root = reader.value(0).ok_or_else(|| serde::de::Error::custom("it is nested too deeply"))?;
        Ok(Self { text: text.to_owned(), bare, comments, dialect, root })
    }

    fn edited(&self, text: &str) -> Option<Self> {
        Self::read(text, self.dialect).ok()
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// The value of a part.
    pub(crate) fn value(&self, node: &Node) -> Value {
        self.bare.get(node.span.clone()).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// What is inside an empty object or array: blanks, and comments where those are allowed.
    pub(crate) fn blank_inside<'t>(&'t self, node: &Node) -> Option<&'t str> {
        node.parts().is_empty().then(|| self.text.get(inner(node))).flatten()
    }

    /// Whether an object or array holds nothing, not even a comment.
    pub(crate) fn holds_nothing(&self, node: &Node) -> bool {
        self.blank_inside(node).is_some_and(|inside| inside.trim().is_empty())
    }

    /// Adds a member to an object, or without a key an item to an array, at its end, in the style of the text around it.
    pub(crate) fn add(&self, node: &Node, key: Option<&str>, value: &Json) -> Option<Self> {
        let style = Style::of(&self.bare);
        let outer = self.indentation(node);
        let inner_indent = match node.parts().first() {
            Some(first) => self.line_indent(first.start).unwrap_or_else(|| format!("{outer}{}", style.unit)),
            None => format!("{outer}{}", style.unit),
        };
        let is_compact =
            !style.lines || node.parts().first().is_some_and(|first| self.line_indent(first.start).is_none());
        let mut added =
            key.map(|key| format!("{}:{}", quote(key), if style.colon_space { " " } else { "" })).unwrap_or_default();
        added.push_str(&if is_compact { print_compact(value, &style) } else { print(value, &style, &inner_indent) });
        let break_before = if is_compact { String::new() } else { format!("{}{inner_indent}", style.newline) };
        let edited = match node.parts().last() {
            Some(last) if is_compact => {
                let gap = if style.colon_space { " " } else { "" };
                splice(&self.text, last.end..last.end, &format!(",{gap}{added}"))?
            }
            Some(last) => {
                // A comment on the line of the last part is about that part.
                let end = self.end_of_remarks(last.end);
                let with_part = splice(&self.text, end..end, &format!("{break_before}{added}"))?;
                splice(&with_part, last.end..last.end, ",")?
            }
            None => {
                let inside = inner(node);
                // Comments stay before what is added, each on its line.
                let kept = self.blank_inside(node)?.trim_end_matches([' ', '\t', '\n', '\r']);
                let (break_before, after) = match kept {
                    "" if is_compact => (String::new(), String::new()),
                    _ => (format!("{}{inner_indent}", style.newline), format!("{}{outer}", style.newline)),
                };
                splice(&self.text, inside, &format!("{kept}{break_before}{added}{after}"))?
            }
        };
        self.edited(&edited)
    }

    /// Removes a member or item by its number, with the comma that it no longer needs. `blank` is what an emptied object or array
    /// held before. Comments beside it stay.
    pub(crate) fn remove(&self, node: &Node, number: usize, blank: &str) -> Option<Self> {
        let parts = node.parts();
        let part = parts.get(number)?;
        let before = number.checked_sub(1).and_then(|before| parts.get(before));
        let edited = match (before, parts.get(number.checked_add(1)?)) {
            (Some(before), after) => match self.last_comment_in(before.end..part.start) {
                None => splice(&self.text, before.end..part.end, "")?,
                Some(remark) => self.cut_beside_remark(before.end, remark, part, after.is_some())?,
            },
            (None, Some(after)) if self.last_comment_in(part.end..after.start).is_some() => {
                let without = splice(&self.text, self.comma_after(part.end)?, "")?;
                splice(&without, part.clone(), "")?
            }
            (None, Some(after)) => splice(&self.text, part.start..after.start, "")?,
            (None, None) => {
                let inside = inner(node);
                let left = splice(self.text.get(inside.clone())?, within(part, inside.start)?, "")?;
                let stays = !self.remarks_of(&left).is_empty() && self.remarks_of(&left) != self.remarks_of(blank);
                splice(&self.text, inside, if stays { &left } else { blank })?
            }
        };
        self.edited(&edited)
    }

    /// The text without a part that comes after another one and a comment, and without one of the commas beside it.
    fn cut_beside_remark(
        &self,
        before: usize,
        remark: Range<usize>,
        part: &Range<usize>,
        is_followed: bool,
    ) -> Option<String> {
        let comma = self.comma_after(before)?;
        if !is_followed && comma.start > remark.end {
            return splice(&self.text, comma.start..part.end, "");
        }
        let (other, end) = if is_followed {
            let next = self.comma_after(part.end)?;
            (next.clone(), next.end)
        } else {
            (comma.clone(), part.end)
        };
        // What follows on the line must not become part of a comment that goes to the line's end.
        let takes_the_line = self.text.get(remark.clone())?.starts_with("//");
        let rest = self.text.get(end..)?.lines().next().unwrap_or_default();
        let from = match (takes_the_line && !rest.trim().is_empty(), is_followed) {
            (true, _) => part.start,
            (false, true) => remark.end.max(comma.end),
            (false, false) => remark.end,
        };
        // The later one first, so that the earlier one's place holds.
        let (first, last) = if is_followed { (from..part.end, other) } else { (other, from..part.end) };
        splice(&splice(&self.text, last, "")?, first, "")
    }

    /// The comments of a piece of the text.
    fn remarks_of<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let found = if self.dialect == Dialect::Comments { comments(text) } else { Vec::new() };
        found.into_iter().filter_map(|range| text.get(range)).collect()
    }

    /// Where the comments end that follow a place on its own line; the place itself where there are none.
    fn end_of_remarks(&self, place: usize) -> usize {
        let mut end = place;
        for comment in self.comments.iter().filter(|comment| comment.start >= place) {
            let between = self.text.get(end..comment.start).unwrap_or_default();
            if !between.chars().all(|c| matches!(c, ' ' | '\t')) {
                break;
            }
            end = comment.end;
        }
        end
    }

    fn last_comment_in(&self, range: Range<usize>) -> Option<Range<usize>> {
        let inside = |comment: &&Range<usize>| comment.start >= range.start && comment.end <= range.end;
        self.comments.iter().rfind(inside).cloned()
    }

    /// The comma that follows a part.
    fn comma_after(&self, end: usize) -> Option<Range<usize>> {
        let at = self.bare.get(end..)?.find(',')?.checked_add(end)?;
        Some(at..at.checked_add(1)?)
    }

    /// The number of a member.
    pub(crate) fn number_of(&self, node: &Node, key: &str) -> Option<usize> {
        let Inside::Object(members) = &node.inside else { return None };
        members.iter().rposition(|(name, ..)| name == key)
    }

    /// Replaces a part.
    pub(crate) fn replace(&self, node: &Node, value: &Json) -> Option<Self> {
        let style = Style::of(&self.bare);
        let indent = self.indentation(node);
        let lines = self.text.get(node.span.clone())?.contains('\n');
        let printed = if lines { print(value, &style, &indent) } else { print_compact(value, &style) };
        self.edited(&splice(&self.text, node.span.clone(), &printed)?)
    }

    /// The white space that the line of a part begins with.
    fn indentation(&self, node: &Node) -> String {
        let before = self.text.get(..node.span.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
    }

    /// The white space before a part, where it is the first thing on its line.
    fn line_indent(&self, start: usize) -> Option<String> {
        let before = self.text.get(..start)?;
        let line = before.rsplit_once('\n')?.1;
        line.chars().all(|c| matches!(c, ' ' | '\t')).then(|| line.to_owned())
    }
}

fn inner(node: &Node) -> Range<usize> {
    node.span.start.saturating_add(1)..node.span.end.saturating_sub(1)
}

/// A range as a piece of the text sees it that begins at `start`.
fn within(range: &Range<usize>, start: usize) -> Option<Range<usize>> {
    Some(range.start.checked_sub(start)?..range.end.checked_sub(start)?)
}

/// Where the comments of a text are. One that does not end is none, so that the strict parser names its place.
fn comments(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0_usize;
    while let Some(rest) = text.get(at..) {
        let Some(next) = rest.find(['"', '/']) else { break };
        let start = at.saturating_add(next);
        let rest = rest.get(next..).unwrap_or_default();
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            let Some(end) = inside.find("*/") else { break };
            end.saturating_add("/**/".len())
        } else if rest.starts_with('"') {
            let mut string = Reader { text: rest, at: 0 };
            string.string();
            at = start.saturating_add(string.at);
            continue;
        } else {
            1
        };
        at = start.saturating_add(end);
        if end > 1 {
            // The line break belongs to the layout, with both of its characters.
            let end = if text.get(start..at).is_some_and(|comment| comment.starts_with("//") && comment.ends_with('\r'))
            {
                at.saturating_sub(1)
            } else {
                at
            };
            found.push(start..end);
        }
    }
    found
}

/// The text with blanks for the ranges; line breaks stay, so that an error names the line.
fn without(text: &str, ranges: &[Range<usize>]) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        bare.push_str(text.get(at..range.start).unwrap_or_default());
        let comment = text.get(range.clone()).unwrap_or_default();
        bare.extend(comment.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        at = range.end;
    }
    bare.push_str(text.get(at..).unwrap_or_default());
    bare
}

fn splice(text: &str, range: Range<usize>, with: &str) -> Option<String> {
    Some(format!("{}{with}{}", text.get(..range.start)?, text.get(range.end..)?))
}

/// How a text is laid out.
struct Style {
    unit: String,
    newline: &'static str,
    /// It is not all on one line.
    lines: bool,
    colon_space: bool,
}

impl Style {
    fn of(text: &str) -> Self {
        let unit = text
            .lines()
            .find_map(|line| {
                let indent: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
                (!indent.is_empty() && indent.len() < line.trim_end().len()).then_some(indent)
            })
            .unwrap_or_else(|| "  ".to_owned());
        let body = text.trim();
        Self {
            unit,
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            lines: body.contains('\n') || matches!(body, "{}" | "[]") || body.is_empty(),
            colon_space: body.contains("\": ") || !body.contains("\":"),
        }
    }
}

fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

fn print(value: &Json, style: &Style, indent: &str) -> String {
    let deeper = format!("{indent}{}", style.unit);
    let (open, parts, close): (_, Vec<String>, _) = match value {
        Json::Object(members) if !members.is_empty() => {
            let space = if style.colon_space { " " } else { "" };
            let member =
                |(key, value): &(&str, Json)| format!("{}:{space}{}", quote(key), print(value, style, &deeper));
            ('{', members.iter().map(member).collect(), '}')
        }
        // Lists of texts and numbers stay on a line.
        Json::Array(items) if items.iter().any(|item| matches!(item, Json::Object(_) | Json::Array(_))) => {
            ('[', items.iter().map(|item| print(item, style, &deeper)).collect(), ']')
        }
        other => return print_compact(other, style),
    };
    let newline = style.newline;
    format!("{open}{newline}{deeper}{}{newline}{indent}{close}", parts.join(&format!(",{newline}{deeper}")))
}

fn print_compact(value: &Json, style: &Style) -> String {
    let space = if style.colon_space { " " } else { "" };
    let list = |parts: Vec<String>| parts.join(&format!(",{space}"));
    match value {
        Json::Object(members) => {
            let member = |(key, value): &(&str, Json)| format!("{}:{space}{}", quote(key), print_compact(value, style));
            format!("{{{}}}", list(members.iter().map(member).collect()))
        }
        Json::Array(items) => format!("[{}]", list(items.iter().map(|item| print_compact(item, style)).collect())),
        other => other.value().to_string(),
    }
}

/// Finds the parts of a text that is known to be JSON.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

/// The strict parser's own bound.
const DEEPEST: usize = 128;

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn skip_blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.step();
        }
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        if depth > DEEPEST {
            return None;
        }
        self.skip_blank();
        let start = self.at;
        let inside = match self.peek()? {
            b'{' => self.object(depth)?,
            b'[' => self.array(depth)?,
            b'"' => {
                self.string();
                Inside::Other
            }
            _ => {
                while !matches!(self.peek(), None | Some(b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r')) {
                    self.step();
                }
                Inside::Other
            }
        };
        Some(Node { span: start..self.at, inside })
    }

    fn object(&mut self, depth: usize) -> Option<Inside> {
        let mut members = Vec::new();
        self.step();
        loop {
            self.skip_blank();
            match self.peek()? {
                b'}' => {
                    self.step();
                    return Some(Inside::Object(members));
                }
                b',' => self.step(),
                _ => {
                    let start = self.at;
                    self.string();
                    let key = serde_json::from_str(self.text.get(start..self.at)?).ok()?;
                    self.skip_blank();
                    // The colon.
                    self.step();
                    members.push((key, start, self.value(depth.checked_add(1)?)?));
                }
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Inside> {
        let mut items = Vec::new();
        self.step();
        loop {
            self.skip_blank();
            match self.peek()? {
                b']' => {
                    self.step();
                    return Some(Inside::Array(items));
                }
                b',' => self.step(),
                _ => items.push(self.value(depth.checked_add(1)?)?),
            }
        }
    }

    /// Moves past a string.
    fn string(&mut self) {
        self.step();
        while let Some(byte) = self.peek() {
            self.step();
            match byte {
                b'\\' => self.step(),
                b'"' => return,
                _ => {}
            }
        }
    }
}
