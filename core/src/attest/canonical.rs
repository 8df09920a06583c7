//! The one form of a record: JSON in the JSON Canonicalization Scheme (RFC 8785), of texts, whole numbers and flags only.
//!
//! The idea: what is hashed has exactly one spelling. The writer knows no other, and the reader refuses every other, so that
//! reading and writing again gives the same bytes, and no two byte strings mean the same.

use super::error::Error;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// A record has at most this many bytes: what the length of a tiled log's entry can say.
pub const RECORD_BYTES: usize = 65_535;

/// Objects and lists nest at most this deep.
pub const DEPTH: usize = 8;

/// The largest magnitude of a number: what every JSON reader keeps exactly (2^53 - 1).
pub const LARGEST: u64 = (1 << 53) - 1;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A whole number of magnitude at most [`LARGEST`].
    Integer(i64),
    /// True or false.
    Flag(bool),
    /// Values in order. No record holds one; statements do.
    List(Vec<Self>),
    /// Values by name.
    Object(Object<'a>),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<Object<'a>> for Value<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

/// An object: its members in the order of their names' UTF-16 code units, each name once.
///
/// ```
/// use stigmergate_core::attest::canonical::{Object, Value};
///
/// let object = Object::new().with("b", "text").with("a", Value::Integer(1));
/// let bytes = object.write(100).unwrap();
/// assert_eq!(bytes, br#"{"a":1,"b":"text"}"#);
/// assert_eq!(Object::read(&bytes, 100).unwrap(), object);
/// assert!(Object::read(br#"{"b":"text","a":1}"#, 100).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Object<'a> {
    /// An object without members.
    #[must_use]
    pub fn new() -> Self {
        Self { members: Vec::with_capacity(24) }
    }

    /// The object with a member; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, name: &'a str, value: impl Into<Value<'a>>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a member; one of the same name is replaced.
    pub fn set(&mut self, name: &'a str, value: impl Into<Value<'a>>) {
        let value = value.into();
        match self.members.binary_search_by(|(other, _)| order(other, name)) {
            Ok(found) => {
                if let Some((_, old)) = self.members.get_mut(found) {
                    *old = value;
                }
            }
            Err(place) => self.members.insert(place, (Cow::Borrowed(name), value)),
        }
    }

    /// A member's value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let found = self.members.binary_search_by(|(other, _)| order(other, name)).ok()?;
        self.members.get(found).map(|(_, value)| value)
    }

    /// Takes a member's value out.
    pub fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let found = self.members.binary_search_by(|(other, _)| order(other, name)).ok()?;
        Some(self.members.remove(found).1)
    }

    /// How many members it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether it has no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(name, _)| &**name)
    }

    /// Its bytes.
    ///
    /// # Errors
    /// [`Error::Value`] for a number above [`LARGEST`], [`Error::TooLong`] for more than `limit` bytes or more than [`DEPTH`] levels.
    pub fn write(&self, limit: usize) -> Result<Vec<u8>, Error> {
        let mut out = Vec::with_capacity(1024.min(limit));
        write_object(&mut out, self, DEPTH)?;
        if out.len() > limit {
            return Err(Error::too_long("record", out.len(), limit));
        }
        Ok(out)
    }

    /// Reads bytes that are exactly what [`Object::write`] writes.
    ///
    /// # Errors
    /// [`Error::TooLong`] for more than `limit` bytes, [`Error::NotCanonical`] for the first byte that would be written otherwise.
    pub fn read(bytes: &'a [u8], limit: usize) -> Result<Self, Error> {
        if bytes.len() > limit {
            return Err(Error::too_long("record", bytes.len(), limit));
        }
        let text = core::str::from_utf8(bytes).map_err(|error| not_canonical(error.valid_up_to(), "UTF-8"))?;
        let mut reader = Reader { text, at: 0 };
        let object = reader.object(DEPTH)?;
        if reader.at == bytes.len() { Ok(object) } else { Err(not_canonical(reader.at, "the end")) }
    }
}

fn not_canonical(at: usize, expected: &str) -> Error {
    Error::NotCanonical { at: at as u64, expected: expected.to_string() }
}

/// The order of names: by UTF-16 code units (RFC 8785, 3.2.3).
fn order(one: &str, other: &str) -> Ordering {
    if one.is_ascii() && other.is_ascii() { one.cmp(other) } else { one.encode_utf16().cmp(other.encode_utf16()) }
}

fn write_value(out: &mut Vec<u8>, value: &Value<'_>, depth: usize) -> Result<(), Error> {
    match value {
        Value::Text(text) => write_text(out, text),
        Value::Flag(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
        Value::Integer(number) if number.unsigned_abs() > LARGEST => {
            return Err(Error::value("record", "a number of at most 2^53 - 1"));
        }
        Value::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::List(values) => write_list(out, values, depth)?,
        Value::Object(object) => write_object(out, object, depth)?,
    }
    Ok(())
}

fn below(depth: usize) -> Result<usize, Error> {
    depth.checked_sub(1).ok_or_else(|| Error::too_long("record", DEPTH.saturating_add(1), DEPTH))
}

fn write_list(out: &mut Vec<u8>, values: &[Value<'_>], depth: usize) -> Result<(), Error> {
    let depth = below(depth)?;
    out.push(b'[');
    for (number, value) in values.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        write_value(out, value, depth)?;
    }
    out.push(b']');
    Ok(())
}

fn write_object(out: &mut Vec<u8>, object: &Object<'_>, depth: usize) -> Result<(), Error> {
    let depth = below(depth)?;
    out.push(b'{');
    for (number, (name, value)) in object.members.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        write_text(out, name);
        out.push(b':');
        write_value(out, value, depth)?;
    }
    out.push(b'}');
    Ok(())
}

/// The letter after the backslash, for the characters that have a short escape.
const fn short_escape(byte: u8) -> Option<u8> {
    match byte {
        b'"' => Some(b'"'),
        b'\\' => Some(b'\\'),
        0x08 => Some(b'b'),
        0x09 => Some(b't'),
        0x0a => Some(b'n'),
        0x0c => Some(b'f'),
        0x0d => Some(b'r'),
        _ => None,
    }
}

const fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(place) = rest.iter().position(|byte| needs_escape(*byte)) {
        let (plain, following) = rest.split_at(place);
        out.extend_from_slice(plain);
        let Some((byte, following)) = following.split_first() else { break };
        match short_escape(*byte) {
            Some(letter) => out.extend_from_slice(&[b'\\', letter]),
            None => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(super::encoding::hex(&[*byte]).as_bytes());
            }
        }
        rest = following;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Reads from `at` on; every method leaves `at` behind what it has read.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn step(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, Error> {
        Err(not_canonical(self.at, expected))
    }

    fn token(&mut self, token: &str) -> bool {
        let found = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(token.as_bytes()));
        if found {
            self.step(token.len());
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, Error> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::Text),
            Some(b'{') => self.object(depth).map(Value::Object),
            Some(b'[') => self.list(depth).map(Value::List),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Integer),
            _ if self.token("true") => Ok(Value::Flag(true)),
            _ if self.token("false") => Ok(Value::Flag(false)),
            _ => self.wrong("a text, a whole number, true, false, a list or an object"),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Object<'a>, Error> {
        let depth = below(depth)?;
        if !self.token("{") {
            return self.wrong("{");
        }
        let mut object = Object::new();
        if self.token("}") {
            return Ok(object);
        }
        loop {
            let start = self.at;
            let name = self.string()?;
            let follows = object.members.last().is_none_or(|(last, _)| order(last, &name) == Ordering::Less);
            if !follows {
                return Err(not_canonical(start, "names in order, each once"));
            }
            if !self.token(":") {
                return self.wrong(":");
            }
            let value = self.value(depth)?;
            object.members.push((name, value));
            if self.token("}") {
                return Ok(object);
            }
            if !self.token(",") {
                return self.wrong(", or }");
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Value<'a>>, Error> {
        let depth = below(depth)?;
        let mut values = Vec::new();
        self.step(1);
        if self.token("]") {
            return Ok(values);
        }
        loop {
            values.push(self.value(depth)?);
            if self.token("]") {
                return Ok(values);
            }
            if !self.token(",") {
                return self.wrong(", or ]");
            }
        }
    }

    fn number(&mut self) -> Result<i64, Error> {
        let start = self.at;
        let negative = self.token("-");
        let mut magnitude = 0_u64;
        let first = self.at;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            // Too large a number stays too large.
            magnitude = magnitude.saturating_mul(10).saturating_add(u64::from(digit.wrapping_sub(b'0')));
            self.step(1);
        }
        let digits = self.at.saturating_sub(first);
        let leading_zero = self.text.as_bytes().get(first) == Some(&b'0') && (digits > 1 || negative);
        if digits == 0 || leading_zero || magnitude > LARGEST {
            return Err(not_canonical(start, "a whole number of at most 2^53 - 1 in its shortest form"));
        }
        let number = i64::try_from(magnitude).unwrap_or(i64::MAX);
        Ok(if negative { number.saturating_neg() } else { number })
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        if !self.token("\"") {
            return self.wrong("\"");
        }
        let plain = self.plain();
        if self.token("\"") {
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = String::from(plain);
        while !self.token("\"") {
            text.push(self.escaped()?);
            text.push_str(self.plain());
        }
        Ok(Cow::Owned(text))
    }

    /// Everything up to the next character that cannot stand for itself.
    fn plain(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.bytes().position(needs_escape).unwrap_or(rest.len());
        self.step(end);
        rest.get(..end).unwrap_or_default()
    }

    fn escaped(&mut self) -> Result<char, Error> {
        let start = self.at;
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let found = match rest {
            [b'\\', b'u', b'0', b'0', high, low, ..] => {
                let digits = [*high, *low];
                let byte = core::str::from_utf8(&digits).ok().and_then(super::encoding::unhex::<1>);
                byte.map(|[byte]| byte)
                    .filter(|byte| *byte < 0x20 && short_escape(*byte).is_none())
                    .map(|byte| (byte, 6))
            }
            [b'\\', letter, ..] => (0..=b'\\').find(|byte| short_escape(*byte) == Some(*letter)).map(|byte| (byte, 2)),
            _ => None,
        };
        let Some((byte, length)) = found else {
            return Err(not_canonical(start, "the shortest escape, or the end of the text"));
        };
        self.step(length);
        Ok(char::from(byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Object<'_>, Error> {
        Object::read(text.as_bytes(), RECORD_BYTES)
    }

    #[test]
    fn the_sorting_example_of_rfc_8785_is_written_in_its_order() {
        let names = ["\u{20ac}", "\r", "\u{fb33}", "1", "\u{1f600}", "\u{80}", "\u{f6}"];
        let mut object = Object::new();
        for name in names {
            object.set(name, Value::Flag(true));
        }
        let sorted: Vec<&str> = object.names().collect();
        assert_eq!(sorted, ["\r", "1", "\u{80}", "\u{f6}", "\u{20ac}", "\u{1f600}", "\u{fb33}"]);
    }

    #[test]
    fn texts_are_escaped_as_rfc_8785_says() {
        let object = Object::new().with("string", "\u{20ac}$\u{f}\nA'B\"\\\\\"/\u{7f}\u{2028}");
        let bytes = object.write(1000).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "{\"string\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\u{2028}\"}"
        );
    }

    #[test]
    fn every_other_spelling_is_refused() {
        assert!(read(r#"{"a":1,"b":{"c":"\n"},"d":[true]}"#).is_ok());
        let others = [
            r#" {"a":1}"#,
            r#"{"a":1} "#,
            r#"{ "a":1}"#,
            r#"{"a": 1}"#,
            r#"{"b":1,"a":1}"#,
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,}"#,
            r#"{"a":01}"#,
            r#"{"a":-0}"#,
            r#"{"a":-}"#,
            r#"{"a":1.0}"#,
            r#"{"a":1e3}"#,
            r#"{"a":+1}"#,
            r#"{"a":9007199254740992}"#,
            r#"{"a":99999999999999999999999999999}"#,
            r#"{"a":null}"#,
            r#"{"a":"\u000a"}"#,
            r#"{"a":"\u000F"}"#,
            r#"{"a":"\u0041"}"#,
            r#"{"a":"\/"}"#,
            r#"{"a":"\u20ac"}"#,
            "{\"a\":\"\n\"}",
            r#"{"a":"b"#,
            r#"{"a":"\"#,
            r#"{"a"}"#,
            r#"["a"]"#,
            "",
        ];
        for other in others {
            assert_eq!(read(other).unwrap_err().code(), "not_canonical", "{other}");
        }
        assert!(Object::read(b"{\"a\":\"\xff\"}", 100).is_err());
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let deep = "[".repeat(100_000);
        assert_eq!(
            Object::read(alloc::format!("{{\"a\":{deep}").as_bytes(), 1_000_000).unwrap_err().code(),
            "too_long"
        );
        assert_eq!(Object::read(br#"{"a":1}"#, 6).unwrap_err().code(), "too_long");
        assert_eq!(Object::new().with("a", Value::Integer(1)).write(6).unwrap_err().code(), "too_long");
        assert_eq!(Object::new().with("a", Value::Integer(1 << 53)).write(60).unwrap_err().code(), "value");
        let mut value = Value::Flag(true);
        for _ in 0..DEPTH {
            value = Value::List(vec![value]);
        }
        assert!(Object::new().with("a", value).write(60).is_err());
    }

    fn values() -> impl Strategy<Value = Value<'static>> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Value::from),
            (-(LARGEST as i64)..=LARGEST as i64).prop_map(Value::Integer),
            any::<bool>().prop_map(Value::Flag)
        ];
        leaf.prop_recursive(3, 20, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Value::List))
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_itself_and_as_json(members in prop::collection::btree_map(any::<String>(), values(), 0..6)) {
            let mut object = Object::new();
            for (name, value) in &members {
                object.set(name, value.clone());
            }
            let bytes = object.write(RECORD_BYTES).unwrap();
            prop_assert_eq!(Object::read(&bytes, RECORD_BYTES).unwrap(), object);
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
        }

        #[test]
        fn what_reads_is_written_as_it_was(text in r#"\{("[ab\\"nu0]{0,4}":(-?[0-9]{1,3}|true|"[a\\n"]{0,4}"|\{\}|\[1?\]),?){0,3}\}"#) {
            if let Ok(object) = read(&text) {
                prop_assert_eq!(object.write(RECORD_BYTES).unwrap(), text.as_bytes());
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Object::read(&bytes, RECORD_BYTES);
        }
    }
}
