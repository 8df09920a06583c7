//! Where something happens, and what "below" means there (SPEC 12).

use crate::error::{Error, Field};
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How a location's text is divided, which decides what lies below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A path: `/` divides it.
    Path,
    /// A dotted name: `.` divides it.
    Name,
    /// Taken as it is, divided by both: the `reference` preset.
    Raw,
    /// A place of its own, below and above nothing: a command that names no path.
    Own,
}

/// A location: a text and how it is divided.
///
/// Two locations are the same place when their texts are equal and both or neither are places of their own.
#[derive(Clone, Debug)]
pub struct Location {
    form: Form,
    text: Arc<str>,
}

impl Location {
    /// A path, with one trailing separator dropped.
    #[must_use]
    pub fn path(text: &str) -> Self {
        Self { form: Form::Path, text: without_trailing(text, '/').into() }
    }

    /// A dotted name, with one trailing separator dropped.
    #[must_use]
    pub fn name(text: &str) -> Self {
        Self { form: Form::Name, text: without_trailing(text, '.').into() }
    }

    /// A text taken as it is.
    #[must_use]
    pub fn raw(text: &str) -> Self {
        Self { form: Form::Raw, text: text.into() }
    }

    /// A place of its own.
    #[must_use]
    pub fn own(text: &str) -> Self {
        Self { form: Form::Own, text: text.into() }
    }

    /// A text that the field holds already, shared with it.
    pub(crate) const fn held(text: Arc<str>, own: bool) -> Self {
        Self { form: if own { Form::Own } else { Form::Raw }, text }
    }

    /// Reads a text that does not say what it is: a path where it holds a `/`, a dotted name otherwise.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text.contains('/') { Self::path(text) } else { Self::name(text) }
    }

    /// This location as the presets other than `reference` read it: a text that was taken as it is becomes a path or a name.
    #[must_use]
    pub fn settled(self) -> Self {
        if self.form == Form::Raw { Self::parse(&self.text) } else { self }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text, shared.
    pub(crate) fn shared(&self) -> &Arc<str> {
        &self.text
    }

    /// How it is divided.
    #[must_use]
    pub const fn form(&self) -> Form {
        self.form
    }

    /// Whether this is a place of its own.
    #[must_use]
    pub const fn is_own(&self) -> bool {
        matches!(self.form, Form::Own)
    }

    /// The same text taken as it is, as the `reference` preset reads it.
    #[must_use]
    pub fn as_raw(&self) -> Self {
        Self { form: Form::Raw, text: self.text.clone() }
    }

    /// Whether `text` is this location or lies below it.
    ///
    /// ```
    /// use stigmergate_core::location::Location;
    /// assert!(Location::path("src").holds("src/app.ts"));
    /// assert!(!Location::path("src").holds("src-old/app.ts"));
    /// assert!(Location::path(".").holds("src/app.ts"), "the workspace root holds every relative path");
    /// ```
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        if self.is_workspace_root() {
            return !text.starts_with('/');
        }
        if self.form == Form::Path && &*self.text == "/" {
            return text.starts_with('/');
        }
        match text.strip_prefix(&*self.text) {
            None => false,
            Some("") => true,
            Some(rest) => self.divides(rest.as_bytes().first().copied()),
        }
    }

    /// Whether this is the root that relative paths are below.
    #[must_use]
    pub fn is_workspace_root(&self) -> bool {
        self.form == Form::Path && &*self.text == "."
    }

    fn divides(&self, byte: Option<u8>) -> bool {
        match self.form {
            Form::Path => byte == Some(b'/'),
            Form::Name => byte == Some(b'.'),
            Form::Raw => matches!(byte, Some(b'.' | b'/')),
            Form::Own => false,
        }
    }

    /// Checks the text against the policy's bound.
    ///
    /// # Errors
    /// [`Error::TooLong`], or [`Error::Value`] for an empty text or one with a NUL.
    pub fn check(&self, field: &str, limit: u32) -> Result<(), Error> {
        if self.text.is_empty() {
            return Err(Error::value(field, "a location that is not empty"));
        }
        if self.text.contains('\0') {
            return Err(Error::value(field, "a location without NUL"));
        }
        check_length(field, &self.text, limit)
    }
}

/// Checks a text's length in bytes against the policy's bound.
///
/// # Errors
/// [`Error::TooLong`].
pub(crate) fn check_length(field: &str, text: &str, limit: u32) -> Result<(), Error> {
    if text.len() > limit as usize {
        return Err(Error::TooLong { field: Field::new(field), size: text.len() as u64, limit: u64::from(limit) });
    }
    Ok(())
}

fn without_trailing(text: &str, separator: char) -> &str {
    match text.strip_suffix(separator) {
        Some(rest) if !rest.is_empty() => rest,
        _ => text,
    }
}

impl PartialEq for Location {
    fn eq(&self, other: &Self) -> bool {
        self.is_own() == other.is_own() && self.text == other.text
    }
}

impl Eq for Location {}

impl PartialOrd for Location {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Location {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.text.as_bytes().cmp(other.text.as_bytes()).then(self.is_own().cmp(&other.is_own()))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

/// The tagged form, used wherever a bare text would not say enough.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tagged {
    form: Form,
    text: String,
}

impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() && self.form == Form::Raw {
            return serializer.serialize_str(&self.text);
        }
        Exact { form: self.form, text: &self.text }.serialize(serializer)
    }
}

/// In JSON a bare string is taken as it is, and the kernel reads it by its preset ([`Location::settled`]);
/// `{"form": "path", "text": "README.md"}` says exactly what it is.
impl<'de> Deserialize<'de> for Location {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Either)
        } else {
            // As it was written: a text that was made canonical is not made so again.
            let exact = Exact::deserialize(deserializer)?;
            Ok(Self { form: exact.form, text: exact.text.into() })
        }
    }
}

/// The binary form.
#[derive(Serialize, Deserialize)]
struct Exact<'a> {
    form: Form,
    text: &'a str,
}

impl From<Tagged> for Location {
    fn from(tagged: Tagged) -> Self {
        match tagged.form {
            Form::Path => Self::path(&tagged.text),
            Form::Name => Self::name(&tagged.text),
            Form::Raw => Self::raw(&tagged.text),
            Form::Own => Self::own(&tagged.text),
        }
    }
}

struct Either;

impl<'de> serde::de::Visitor<'de> for Either {
    type Value = Location;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a location: a string, or an object with form and text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Location, E> {
        Ok(Location::raw(text))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Location, A::Error> {
        Tagged::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Location::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_means_equal_or_followed_by_the_separator_of_its_form() {
        assert!(Location::path("a/b").holds("a/b"));
        assert!(Location::path("a/b").holds("a/b/c"));
        assert!(!Location::path("a/b").holds("a/b.c"));
        assert!(Location::name("a.b").holds("a.b.c"));
        assert!(!Location::name("a.b").holds("a.b/c"));
        assert!(Location::raw("a").holds("a.b") && Location::raw("a").holds("a/b") && !Location::raw("a").holds("ab"));
        assert!(Location::own("npm test").holds("npm test") && !Location::own("npm").holds("npm/test"));
        assert!(Location::path("/").holds("/etc/passwd") && !Location::path("/").holds("src"));
    }

    #[test]
    fn one_trailing_separator_is_dropped_but_not_from_a_raw_text() {
        assert_eq!(Location::path("data/").as_str(), "data");
        assert_eq!(Location::path("/").as_str(), "/");
        assert_eq!(Location::name("a.").as_str(), "a");
        assert_eq!(Location::raw("data/").as_str(), "data/");
    }

    #[test]
    fn json_reads_a_string_or_the_exact_form() {
        let path: Location = serde_json::from_str(r#"{"form":"path","text":"README.md"}"#).unwrap();
        assert_eq!(path.form(), Form::Path);
        assert_eq!(serde_json::to_string(&path).unwrap(), r#"{"form":"path","text":"README.md"}"#);
        let short: Location = serde_json::from_str(r#""data/""#).unwrap();
        assert_eq!((short.form(), short.as_str()), (Form::Raw, "data/"));
        assert_eq!(serde_json::to_string(&short).unwrap(), r#""data/""#);
        assert_eq!((short.clone().settled().form(), short.settled().as_str()), (Form::Path, "data"));
        assert!(serde_json::from_str::<Location>("3").is_err());
        let bytes = postcard::to_allocvec(&Location::own("npm test")).unwrap();
        assert_eq!(postcard::from_bytes::<Location>(&bytes).unwrap(), Location::own("npm test"));
    }
}
