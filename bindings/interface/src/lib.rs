//! Conversions between the core's types and those that are generated from `wit/`.
//!
//! The idea: the component generates types from the interface, and so does each host that loads it. They have the same names and
//! fields but are different types, so what converts them is written once, as the macro [`conversions!`], and expanded in each.
//! Nothing here decides anything.
//!
//! [`ToWit`] takes a value out to the interface, which always succeeds; [`FromWit`] brings one in, which fails with the field where a
//! text is no digest, code or key.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod convert;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;
use serde::de::value::{Error as NameError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use stigmergate_core::attest::key::PublicKey;
use stigmergate_core::digest::Digest;
use stigmergate_core::error::{Error, Field};
use stigmergate_core::facts::FactKind;
use stigmergate_core::falsify::{Cause, Vector};
use stigmergate_core::fixed::Fixed;
use stigmergate_core::gate::{Evidence, ReasonCode};
use stigmergate_core::kernel::{Feedback, StatedCost};

/// The interface's version, as in `package stigmergate:gate@...`.
pub const VERSION: &str = "0.1.0";

/// Takes a value out to the interface.
pub trait ToWit<W> {
    /// The interface's value.
    fn to_wit(self) -> W;
}

/// Brings a value in from the interface.
pub trait FromWit<W>: Sized {
    /// The core's value.
    ///
    /// # Errors
    /// [`Error`] with the field, seen from this value.
    fn from_wit(value: W) -> Result<Self, Error>;
}

macro_rules! same {
    ($($plain:ty),+) => {$(
        impl ToWit<$plain> for $plain {
            fn to_wit(self) -> $plain {
                self
            }
        }
        impl FromWit<$plain> for $plain {
            fn from_wit(value: $plain) -> Result<Self, Error> {
                Ok(value)
            }
        }
    )+};
}

same!((), bool, u8, u32, u64, String);

impl<T: ToWit<W>, W> ToWit<Option<W>> for Option<T> {
    fn to_wit(self) -> Option<W> {
        self.map(ToWit::to_wit)
    }
}

impl<T: FromWit<W>, W> FromWit<Option<W>> for Option<T> {
    fn from_wit(value: Option<W>) -> Result<Self, Error> {
        value.map(T::from_wit).transpose()
    }
}

impl<T: ToWit<W>, W> ToWit<Vec<W>> for Vec<T> {
    fn to_wit(self) -> Vec<W> {
        self.into_iter().map(ToWit::to_wit).collect()
    }
}

impl<T: FromWit<W>, W> FromWit<Vec<W>> for Vec<T> {
    fn from_wit(values: Vec<W>) -> Result<Self, Error> {
        values.into_iter().map(T::from_wit).collect()
    }
}

impl<T: ToWit<W>, W> ToWit<Vec<W>> for VecDeque<T> {
    fn to_wit(self) -> Vec<W> {
        self.into_iter().map(ToWit::to_wit).collect()
    }
}

impl<T: FromWit<W>, W> FromWit<Vec<W>> for VecDeque<T> {
    fn from_wit(values: Vec<W>) -> Result<Self, Error> {
        values.into_iter().map(T::from_wit).collect()
    }
}

impl<T: ToWit<W>, W> ToWit<Vec<(String, W)>> for BTreeMap<String, T> {
    fn to_wit(self) -> Vec<(String, W)> {
        self.into_iter().map(|(name, value)| (name, value.to_wit())).collect()
    }
}

impl<T: FromWit<W>, W> FromWit<Vec<(String, W)>> for BTreeMap<String, T> {
    fn from_wit(values: Vec<(String, W)>) -> Result<Self, Error> {
        values.into_iter().map(|(name, value)| Ok((name, T::from_wit(value)?))).collect()
    }
}

impl<T: ToWit<W>, W, U: ToWit<V>, V> ToWit<(W, V)> for (T, U) {
    fn to_wit(self) -> (W, V) {
        (self.0.to_wit(), self.1.to_wit())
    }
}

impl<T: FromWit<W>, W, U: FromWit<V>, V> FromWit<(W, V)> for (T, U) {
    fn from_wit(value: (W, V)) -> Result<Self, Error> {
        Ok((T::from_wit(value.0)?, U::from_wit(value.1)?))
    }
}

impl<T: ToWit<W>, W> ToWit<W> for Box<T> {
    fn to_wit(self) -> W {
        (*self).to_wit()
    }
}

impl<T: FromWit<W>, W> FromWit<W> for Box<T> {
    fn from_wit(value: W) -> Result<Self, Error> {
        T::from_wit(value).map(Self::new)
    }
}

impl ToWit<String> for Arc<str> {
    fn to_wit(self) -> String {
        (*self).into()
    }
}

impl FromWit<String> for Arc<str> {
    fn from_wit(value: String) -> Result<Self, Error> {
        Ok(value.into())
    }
}

impl ToWit<i64> for Fixed {
    fn to_wit(self) -> i64 {
        self.units()
    }
}

impl FromWit<i64> for Fixed {
    fn from_wit(value: i64) -> Result<Self, Error> {
        Ok(Self::from_units(value))
    }
}

impl ToWit<String> for Digest {
    fn to_wit(self) -> String {
        self.to_string()
    }
}

impl FromWit<String> for Digest {
    fn from_wit(value: String) -> Result<Self, Error> {
        Self::from_hex(&value).ok_or_else(|| wrong("64 hexadecimal digits"))
    }
}

impl ToWit<String> for PublicKey {
    fn to_wit(self) -> String {
        self.verifier_key()
    }
}

impl FromWit<String> for PublicKey {
    fn from_wit(value: String) -> Result<Self, Error> {
        Ok(Self::parse(&value)?)
    }
}

impl ToWit<i64> for Feedback {
    fn to_wit(self) -> i64 {
        self.value().units()
    }
}

impl FromWit<i64> for Feedback {
    fn from_wit(value: i64) -> Result<Self, Error> {
        Ok(Self::new(Fixed::from_units(value)))
    }
}

impl<W> ToWit<Option<W>> for StatedCost
where
    stigmergate_core::budget::Cost: ToWit<W>,
{
    fn to_wit(self) -> Option<W> {
        self.get().to_wit()
    }
}

impl<W> FromWit<Option<W>> for StatedCost
where
    stigmergate_core::budget::Cost: FromWit<W>,
{
    fn from_wit(value: Option<W>) -> Result<Self, Error> {
        Option::from_wit(value).map(Self::new)
    }
}

/// Sets that may grow go by their stable names.
macro_rules! named {
    ($($open:ty),+) => {$(
        impl ToWit<String> for $open {
            fn to_wit(self) -> String {
                name_of(&self)
            }
        }
        impl FromWit<String> for $open {
            fn from_wit(value: String) -> Result<Self, Error> {
                named(&value)
            }
        }
    )+};
}

named!(ReasonCode, Evidence, Cause, Vector, FactKind);

/// The stable name of a case without values.
#[must_use]
pub fn name_of<T: Serialize>(case: &T) -> String {
    struct Name<'a, T>(&'a T);
    impl<T: Serialize> fmt::Display for Name<'_, T> {
        fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.serialize(out)
        }
    }
    Name(case).to_string()
}

/// The case of a stable name.
///
/// # Errors
/// [`Error::Value`] that lists the names.
pub fn named<T: DeserializeOwned>(name: &str) -> Result<T, Error> {
    let name: StrDeserializer<'_, NameError> = name.into_deserializer();
    T::deserialize(name).map_err(|error| wrong(&error.to_string()))
}

/// A value that is wrong, whose field the callers name.
#[must_use]
pub fn wrong(expected: &str) -> Error {
    Error::Value { field: Field::new(""), expected: expected.to_string() }
}

/// The values of an error as JSON.
#[must_use]
pub fn error_json(error: &Error) -> String {
    serde_json::to_string(error).unwrap_or_default()
}

/// The error that its JSON says.
#[must_use]
pub fn error_of_json(json: &str, message: &str) -> Error {
    serde_json::from_str(json)
        .unwrap_or_else(|_| Error::Unavailable { feature: "a later version".to_string(), reason: message.to_string() })
}

/// Text as JSON that a proposal brings as evidence.
///
/// # Errors
/// [`Error::Json`].
pub fn evidence(json: &str) -> Result<stigmergate_core::proposal::Grounds, Error> {
    if json.is_empty() {
        return Ok(stigmergate_core::proposal::Grounds::default());
    }
    Ok(serde_json::from_str(json)?)
}
