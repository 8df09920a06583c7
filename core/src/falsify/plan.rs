//! What the checks read: a plan's fields, borrowed from wherever they live.

use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, slice};

use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::words;

/// A field that people write either as one text or as a list of texts.
///
/// In JSON it is a string or a list of strings; in postcard, which does not describe itself, an
/// enum with a tag.
///
/// ```
/// use stigmergate_core::falsify::Texts;
///
/// let one: Texts = serde_json::from_str(r#""pytest -q""#)?;
/// let two: Texts = serde_json::from_str(r#"["tests/a.py", "tests/b.py"]"#)?;
/// assert_eq!(one.parts().count(), 1);
/// assert_eq!(two.parts().last(), Some("tests/b.py"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Texts {
    /// One text.
    Text(String),
    /// A list of texts; for the checks it reads as its items joined by one space.
    List(Vec<String>),
}

impl Texts {
    /// The text, or the texts of the list in order.
    pub fn parts(&self) -> impl Iterator<Item = &str> + Clone {
        let parts = match self {
            Self::Text(text) => slice::from_ref(text),
            Self::List(texts) => texts.as_slice(),
        };
        parts.iter().map(String::as_str)
    }

    /// Whether there is nothing but white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.parts().all(words::is_blank)
    }

    /// The names in it: a text splits at comma, semicolon and line feed, a list has one an item.
    /// Names are trimmed, blank ones left out.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        let is_text = matches!(self, Self::Text(_));
        self.parts()
            .flat_map(move |part| part.split(move |c| is_text && matches!(c, ',' | ';' | '\n')))
            .map(words::trim)
            .filter(|name| !name.is_empty())
    }
}

/// The tagged form, for formats that do not describe themselves.
#[derive(Deserialize)]
#[serde(rename = "Texts")]
enum Tagged {
    Text(String),
    List(Vec<String>),
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self, serializer.is_human_readable()) {
            (Self::Text(text), true) => text.serialize(serializer),
            (Self::List(texts), true) => texts.serialize(serializer),
            (Self::Text(text), false) => serializer.serialize_newtype_variant("Texts", 0, "Text", text),
            (Self::List(texts), false) => serializer.serialize_newtype_variant("Texts", 1, "List", texts),
        }
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_any(TextsVisitor);
        }
        Ok(match Tagged::deserialize(deserializer)? {
            Tagged::Text(text) => Self::Text(text),
            Tagged::List(texts) => Self::List(texts),
        })
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string or a list of strings")
    }

    fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
        Ok(Texts::Text(String::from(text)))
    }

    fn visit_string<E>(self, text: String) -> Result<Texts, E> {
        Ok(Texts::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Texts, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(Texts::List)
    }
}

/// Everything that the checks read of a plan, borrowed.
///
/// An absent text is `""` or `None`; for the checks both are blank.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plan<'a> {
    /// Who would act.
    pub agent_id: &'a str,
    /// Where: a dotted name or a path.
    pub target: &'a str,
    /// What kind of act it is.
    pub action_type: &'a str,
    /// Why.
    pub rationale: &'a str,
    /// The way back.
    pub rollback_plan: Option<&'a str>,
    /// What will be true afterwards.
    pub expected_outcome: Option<&'a str>,
    /// What would notice a fault.
    pub tests: Option<&'a Texts>,
    /// How success is measured.
    pub metrics: Option<&'a Texts>,
    /// What the target will depend on.
    pub dependencies: Option<&'a Texts>,
    /// What else is touched.
    pub scope: Option<&'a str>,
    /// How the result will be kept up.
    pub maintenance_plan: Option<&'a str>,
    /// Who keeps it.
    pub owner: Option<&'a str>,
    /// Who keeps it, in other words.
    pub ownership: Option<&'a str>,
    /// How it will be removed one day.
    pub deprecation_plan: Option<&'a str>,
    /// How it is operated.
    pub runbook: Option<&'a str>,
    /// The repository's import graph, if the host knows it: each module with those it imports.
    pub imports: Option<&'a [(String, Vec<String>)]>,
}

/// Which fields are asked of this class of act; the check of a field not asked for does not run.
///
/// The preset `reference` asks for all; the others ask for none of them of read and check
/// (SPEC section 10 f).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asks {
    /// Check 1 runs.
    pub rollback: bool,
    /// Check 2 runs.
    pub tests: bool,
    /// Check 4 runs.
    pub metrics: bool,
}

impl Asks {
    /// Every field is asked for.
    pub const ALL: Self = Self { rollback: true, tests: true, metrics: true };
    /// None of the three is asked for.
    pub const NONE: Self = Self { rollback: false, tests: false, metrics: false };
}
