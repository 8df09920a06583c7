//! Globs of rules and places, the same on every platform.
//!
//! `*` is any run without `/`, `**` any run, `**/` any number of folders (none too), `?` one character without `/`,
//! `[a-z]` and `[!a-z]` a class, `\` takes the next character as it is. A pattern is compiled once with the policy into at most
//! 128 steps whose set of reached positions fits one word, so that matching takes time proportional to the text, whatever
//! the pattern, and allocates nothing. Well-kept glob crates need `std` or take the platform's separators.

use crate::error::Error;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Glob {
    source: String,
    /// What every match begins with.
    prefix: String,
    /// What every match ends with; most texts are told apart by it.
    suffix: String,
    /// The longest literal text that every match holds, where none has to be its end.
    needle: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Character(char),
    One,
    Run,
    DeepRun,
    Folders,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// Steps behind the literal prefix: one bit each, and one for the end.
const MOST_STEPS: usize = 127;

impl Glob {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`Error::Value`] when a class is not closed or there are more than 127 steps behind the literal prefix.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        let mut steps = Vec::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            let (step, after) = read_step(first, rest, steps.last(), pattern)?;
            steps.push(step);
            rest = after;
        }
        let literal = steps.iter().take_while(|step| matches!(step, Step::Character(_))).count();
        let prefix = steps
            .drain(..literal)
            .filter_map(|step| if let Step::Character(c) = step { Some(c) } else { None })
            .collect();
        if steps.len() > MOST_STEPS {
            return Err(Error::value("glob", "at most 127 characters behind the literal beginning"));
        }
        let suffix = literal_end(&steps);
        let needle = if suffix.is_empty() { longest_literal(&steps) } else { String::new() };
        Ok(Self { source: pattern.into(), prefix, suffix, needle, steps })
    }

    /// The pattern's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The part before the first wildcard.
    #[must_use]
    pub fn literal_prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether the whole text matches.
    ///
    /// ```
    /// use stigmergate_core::glob::Glob;
    /// assert!(Glob::new("**/.env").unwrap().matches("services/a/.env"));
    /// assert!(Glob::new("release/*").unwrap().matches("release/1.2"));
    /// assert!(!Glob::new("release/*").unwrap().matches("release/1/2"));
    /// ```
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix(self.prefix.as_str()) else { return false };
        if !rest.ends_with(self.suffix.as_str()) || !rest.contains(self.needle.as_str()) {
            return false;
        }
        let mut reached = self.close(1, true);
        for character in rest.chars() {
            reached = self.advance(reached, character);
            if reached == 0 {
                return false;
            }
        }
        reached >> self.steps.len() & 1 == 1
    }

    /// Whether a folder's own path has begun to match, so that something below it may match whole. A `**/` at the beginning says
    /// nothing of any folder, and is no beginning.
    ///
    /// ```
    /// use stigmergate_core::glob::Glob;
    /// assert!(Glob::new("secrets/keys/**").unwrap().reaches_below("secrets"));
    /// assert!(Glob::new("**/.github/hooks/**").unwrap().reaches_below("app/.github"));
    /// assert!(!Glob::new("**/*.pem").unwrap().reaches_below("src"));
    /// ```
    #[must_use]
    pub fn reaches_below(&self, folder: &str) -> bool {
        let path = alloc::format!("{}/", folder.trim_end_matches('/'));
        if self.prefix.starts_with(path.as_str()) {
            return true;
        }
        let Some(rest) = path.strip_prefix(self.prefix.as_str()) else { return false };
        let begin = self.close(1, true);
        let reached = rest.chars().fold(begin, |reached, character| self.advance(reached, character));
        if self.prefix.is_empty() { reached & !begin != 0 } else { reached != 0 }
    }

    /// Follows the steps that may match nothing. Folders may be skipped only at the beginning of one.
    fn close(&self, mut reached: u128, at_folder: bool) -> u128 {
        for (index, step) in self.steps.iter().enumerate() {
            let here = reached >> index & 1 == 1;
            let skips = match step {
                Step::Run | Step::DeepRun => true,
                Step::Folders => at_folder,
                _ => false,
            };
            if here && skips {
                reached |= 2 << index;
            }
        }
        reached
    }

    fn advance(&self, reached: u128, character: char) -> u128 {
        let mut next = 0;
        for (index, step) in self.steps.iter().enumerate() {
            if reached >> index & 1 == 0 {
                continue;
            }
            let (stay, go) = match step {
                Step::Character(wanted) => (false, *wanted == character),
                Step::One => (false, character != '/'),
                Step::Run => (character != '/', false),
                Step::DeepRun => (true, false),
                Step::Folders => (true, false),
                Step::Class { negated, ranges } => {
                    let inside = ranges.iter().any(|&(low, high)| low <= character && character <= high);
                    (false, character != '/' && inside != *negated)
                }
            };
            next |= u128::from(stay) << index | (u128::from(go) << index) << 1;
        }
        self.close(next, character == '/')
    }
}

/// The characters behind the last wildcard.
fn literal_end(steps: &[Step]) -> String {
    let literal = |step: &Step| if let Step::Character(c) = step { Some(*c) } else { None };
    let backwards: Vec<char> = steps.iter().rev().map_while(literal).collect();
    backwards.into_iter().rev().collect()
}

/// The longest run of literal characters.
fn longest_literal(steps: &[Step]) -> String {
    let literal = |step: &Step| if let Step::Character(character) = step { Some(*character) } else { None };
    let runs =
        steps.split(|step| literal(step).is_none()).map(|run| run.iter().filter_map(literal).collect::<String>());
    runs.max_by_key(String::len).unwrap_or_default()
}

fn read_step<'a>(first: char, rest: &'a str, last: Option<&Step>, pattern: &str) -> Result<(Step, &'a str), Error> {
    let after = |count: usize| rest.get(count..).unwrap_or_default();
    let at_folder = last.is_none() || last == Some(&Step::Character('/')) || last == Some(&Step::Folders);
    Ok(match first {
        '*' if rest.starts_with("**/") && at_folder => (Step::Folders, after(3)),
        '*' if rest.starts_with("**") => (Step::DeepRun, after(2)),
        '*' => (Step::Run, after(1)),
        '?' => (Step::One, after(1)),
        '[' => read_class(after(1), pattern)?,
        '\\' => match after(1).chars().next() {
            Some(escaped) => (Step::Character(escaped), after(escaped.len_utf8().saturating_add(1))),
            None => (Step::Character('\\'), ""),
        },
        other => (Step::Character(other), after(other.len_utf8())),
    })
}

fn read_class<'a>(body: &'a str, pattern: &str) -> Result<(Step, &'a str), Error> {
    let unclosed = || Error::value("glob", &alloc::format!("a class closed by ] in {pattern:?}"));
    let negated = body.starts_with(['!', '^']);
    let body = if negated { body.get(1..).unwrap_or_default() } else { body };
    // A `]` in the first position is a member.
    let search_from = body.chars().next().map_or(0, char::len_utf8);
    let end = body
        .get(search_from..)
        .and_then(|tail| tail.find(']'))
        .and_then(|at| at.checked_add(search_from))
        .ok_or_else(unclosed)?;
    let members: Vec<char> = body.get(..end).unwrap_or_default().chars().collect();
    let mut ranges = Vec::new();
    let mut rest = members.as_slice();
    loop {
        rest = match rest {
            [] => break,
            [low, '-', high, tail @ ..] => {
                ranges.push((*low, *high));
                tail
            }
            [one, tail @ ..] => {
                ranges.push((*one, *one));
                tail
            }
        };
    }
    Ok((Step::Class { negated, ranges }, body.get(end.saturating_add(1)..).unwrap_or_default()))
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Glob {}

impl Serialize for Glob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = String::deserialize(deserializer)?;
        Self::new(&source).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern).unwrap().matches(text)
    }

    #[test]
    fn a_star_stays_within_a_folder_and_two_stars_do_not() {
        assert!(matches("src/*.rs", "src/lib.rs") && !matches("src/*.rs", "src/a/lib.rs"));
        assert!(matches("src/**", "src/a/lib.rs") && !matches("src/**", "srx/a"));
        assert!(matches("**/*.pem", "a.pem") && matches("**/*.pem", "x/y/a.pem") && !matches("**/*.pem", "x/y/a.pemx"));
        assert!(matches("a/**/b", "a/b") && matches("a/**/b", "a/x/y/b") && !matches("a/**/b", "a/xb"));
        assert!(matches("mcp__*__delete*", "mcp__db__delete_row") && matches("*", "") && matches("**", ""));
    }

    #[test]
    fn classes_and_escapes() {
        assert!(
            matches("[a-c]?", "bz")
                && !matches("[!a-c]?", "bz")
                && matches("[]]", "]")
                && matches(r"\*", "*")
                && !matches(r"\*", "x")
        );
        assert!(matches("é*", "éa") && matches("?", "é"));
        assert!(Glob::new("[a").is_err());
    }

    #[test]
    fn a_hostile_pattern_takes_time_proportional_to_the_text() {
        let glob = Glob::new(&"*a".repeat(60)).unwrap();
        assert!(!glob.matches(&"a".repeat(4096).replace("aaaa", "aab/")));
        assert!(Glob::new(&"*a".repeat(90)).is_err());
    }

    proptest! {
        #[test]
        fn agrees_with_a_regular_expression(pattern in r"(\*\*/|\*\*|\*|\?|[ab/.]|\[ab\]){0,8}", text in "[ab/.]{0,10}") {
            let mut regex = std::string::String::from("^(?s:");
            let mut rest = pattern.as_str();
            let mut at_folder = true;
            while let Some(c) = rest.chars().next() {
                let (piece, length, next) = match c {
                    '*' if rest.starts_with("**/") && at_folder => ("(.*/)?", 3, true),
                    '*' if rest.starts_with("**") => (".*", 2, false),
                    '*' => ("[^/]*", 1, false),
                    '?' => ("[^/]", 1, false),
                    '[' => ("[ab]", 4, false),
                    '/' => ("/", 1, true),
                    '.' => (r"\.", 1, false),
                    'a' => ("a", 1, false),
                    _ => ("b", 1, false),
                };
                regex.push_str(piece);
                at_folder = next;
                rest = &rest[length..];
            }
            regex.push_str(")$");
            let expected = regex::Regex::new(&regex).unwrap().is_match(&text);
            prop_assert_eq!(matches(&pattern, &text), expected, "{} on {:?}", pattern, text);
        }
    }
}
