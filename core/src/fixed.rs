//! Decimal fixed-point numbers: every quantity that decides anything.
//!
//! A [`Fixed`] is a signed 64-bit count of 10⁻⁹ units (SPEC 1). Sums and comparisons are exact, a product is computed in
//! 128 bits and rounded half to even, and nothing here is a float except at the two edges, where a float is converted
//! from its exact value. That is what makes every build of the engine agree to the last digit.

use crate::error::{Error, Field};
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The number of units in one.
const SCALE: i64 = 1_000_000_000;

/// A decimal number with nine places, in the range of ±9 223 372 036.854 775 807.
///
/// ```
/// use stigmergate_core::fixed::Fixed;
/// let tenth = Fixed::from_f64(0.1).unwrap();
/// assert_eq!(tenth + tenth + tenth, Fixed::from_f64(0.3).unwrap());
/// assert_eq!(Fixed::milli(875).to_f64(), 0.875);
/// assert_eq!(Fixed::milli(875).to_string(), "0.875");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fixed(i64);

impl Fixed {
    /// 0.
    pub const ZERO: Self = Self(0);
    /// 1.
    pub const ONE: Self = Self(SCALE);
    /// The largest number.
    pub const MAX: Self = Self(i64::MAX);

    /// A number from its count of 10⁻⁹ units.
    #[must_use]
    pub const fn from_units(units: i64) -> Self {
        Self(units)
    }

    /// The count of 10⁻⁹ units.
    #[must_use]
    pub const fn units(self) -> i64 {
        self.0
    }

    /// A whole number.
    #[must_use]
    pub const fn whole(value: i32) -> Self {
        Self((value as i64).saturating_mul(SCALE))
    }

    /// A number of thousandths.
    #[must_use]
    pub const fn milli(value: i32) -> Self {
        Self((value as i64).saturating_mul(SCALE / 1_000))
    }

    /// A number of ten-thousandths.
    #[must_use]
    pub const fn ten_thousandths(value: i32) -> Self {
        Self((value as i64).saturating_mul(SCALE / 10_000))
    }

    /// A count, or [`Fixed::MAX`] where it is too large.
    #[must_use]
    pub const fn count(value: u64) -> Self {
        if value > (i64::MAX / SCALE) as u64 { Self::MAX } else { Self((value as i64).saturating_mul(SCALE)) }
    }

    /// Converts a float from its exact value, half to even at the ninth place.
    ///
    /// # Errors
    /// `None` for NaN, infinities and values outside the range.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let bits = value.to_bits();
        let biased = (bits >> 52) & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = if biased == 0 {
            (fraction, -1074_i32)
        } else {
            (fraction | (1 << 52), (biased as i32).checked_sub(1075)?)
        };
        // Below 2^53 times below 2^30: fits in 83 bits, so that a shift to the left by at most 11 bits decides the range.
        let scaled = i128::from(mantissa).checked_mul(i128::from(SCALE))?;
        let magnitude = if exponent >= 0 {
            if mantissa == 0 {
                0
            } else if exponent > 40 {
                return None;
            } else {
                scaled << exponent
            }
        } else {
            shift_half_even(scaled, exponent.unsigned_abs())
        };
        let signed = if value.is_sign_negative() { magnitude.checked_neg()? } else { magnitude };
        match i64::try_from(signed) {
            Ok(units) => Some(Self(units)),
            // What the ends of the range are written as lies just beyond them, and reads as them.
            Err(_) => [Self::MAX, Self(i64::MIN)].into_iter().find(|end| end.to_f64().to_bits() == value.to_bits()),
        }
    }

    /// Converts a float that came in as the field `name`.
    ///
    /// # Errors
    /// [`Error::Number`] for NaN, infinities and values outside the range.
    pub fn from_input(value: f64, name: &str) -> Result<Self, Error> {
        Self::from_f64(value).ok_or_else(|| Error::Number { field: Field::new(name) })
    }

    /// The nearest float: the correctly rounded quotient.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        /// Every integer up to here is a float exactly, so that one division rounds once.
        const EXACT: u64 = 1 << 53;
        if self.0.unsigned_abs() <= EXACT {
            return self.0 as f64 / SCALE as f64;
        }
        let mut text = Decimal::default();
        // Reading decimal text is correctly rounded, whatever the size.
        match fmt::Write::write_fmt(&mut text, format_args!("{self}")) {
            Ok(()) => text.as_str().parse().unwrap_or(f64::MAX),
            Err(_) => f64::MAX,
        }
    }

    /// The product, rounded half to even and kept in the range.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let product = i128::from(self.0).saturating_mul(i128::from(other.0));
        Self(saturate(divide_half_even(product, i128::from(SCALE))))
    }

    /// The product with a count, kept in the range.
    #[must_use]
    pub fn times_count(self, count: u64) -> Self {
        Self(saturate(i128::from(self.0).saturating_mul(i128::from(count))))
    }

    /// `self / other` rounded up to a whole number; `None` when `other` is not positive.
    #[must_use]
    pub fn steps_of(self, other: Self) -> Option<u64> {
        if other.0 <= 0 {
            return None;
        }
        Some(self.0.max(0).unsigned_abs().div_ceil(other.0.unsigned_abs()))
    }

    /// `self / other` as a fraction, half to even; 0 when `other` is not positive.
    #[must_use]
    pub fn ratio(self, other: Self) -> Self {
        if other.0 <= 0 {
            return Self::ZERO;
        }
        Self(saturate(divide_half_even(i128::from(self.0).saturating_mul(i128::from(SCALE)), i128::from(other.0))))
    }

    /// The smaller one.
    #[must_use]
    pub fn at_most(self, limit: Self) -> Self {
        self.min(limit)
    }

    /// `self - other`, not below zero.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        (self - other).max(Self::ZERO)
    }

    /// The nearest number between the bounds.
    #[must_use]
    pub fn clip(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }

    /// Whether it lies in [0, 1].
    #[must_use]
    pub fn is_fraction(self) -> bool {
        Self::ZERO <= self && self <= Self::ONE
    }
}

fn saturate(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

/// `value / divisor` for a positive divisor, ties to the even quotient.
fn divide_half_even(value: i128, divisor: i128) -> i128 {
    let quotient = value.div_euclid(divisor);
    let rest = value.rem_euclid(divisor);
    let twice = rest.saturating_mul(2);
    let up = twice > divisor || (twice == divisor && quotient & 1 == 1);
    quotient.saturating_add(i128::from(up))
}

/// `value / 2^by` for a value that is not negative, ties to the even quotient.
fn shift_half_even(value: i128, by: u32) -> i128 {
    if by > 126 {
        return 0;
    }
    divide_half_even(value, 1_i128 << by)
}

/// Sums are kept in the range: no sum of the engine's bounded quantities reaches it, and a hostile one must not panic.
impl core::ops::Add for Fixed {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Differences are kept in the range, as sums are.
impl core::ops::Sub for Fixed {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl core::ops::AddAssign for Fixed {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl core::ops::SubAssign for Fixed {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl core::ops::Neg for Fixed {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl core::iter::Sum for Fixed {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Self::ZERO, |total, number| total + number)
    }
}

/// As a plain decimal without trailing zeros: `0.875`, `-3`, `10`.
impl fmt::Display for Fixed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        const UNITS: u64 = SCALE.unsigned_abs();
        let (whole, mut fraction) = (magnitude / UNITS, magnitude % UNITS);
        if self.0 < 0 {
            out.write_str("-")?;
        }
        write!(out, "{whole}")?;
        if fraction == 0 {
            return Ok(());
        }
        let mut places = 9_usize;
        while fraction % 10 == 0 {
            fraction /= 10;
            places = places.saturating_sub(1);
        }
        write!(out, ".{fraction:0places$}")
    }
}

/// Room for the longest decimal of a [`Fixed`]: a sign, ten digits, a point and nine digits.
#[derive(Default)]
struct Decimal {
    bytes: [u8; 24],
    length: usize,
}

impl Decimal {
    fn as_str(&self) -> &str {
        self.bytes.get(..self.length).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or("0")
    }
}

impl fmt::Write for Decimal {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length.saturating_add(text.len());
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// A number in forms for people, the count of units in binary forms.
impl Serialize for Fixed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_i64(self.0);
        }
        if self.0 % SCALE == 0 {
            serializer.serialize_i64(self.0 / SCALE)
        } else {
            serializer.serialize_f64(self.to_f64())
        }
    }
}

impl<'de> Deserialize<'de> for Fixed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Number)
        } else {
            i64::deserialize(deserializer).map(Self)
        }
    }
}

/// Reads a number of any spelling: an integer or a float.
struct Number;

impl serde::de::Visitor<'_> for Number {
    type Value = Fixed;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a finite number between -9223372036 and 9223372036")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Fixed, E> {
        value.checked_mul(SCALE).map(Fixed).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Fixed, E> {
        let signed =
            i64::try_from(value).map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(value), &self))?;
        self.visit_i64(signed)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Fixed, E> {
        Fixed::from_f64(value).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Float(value), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn a_float_is_converted_from_its_exact_value_half_to_even() {
        assert_eq!(Fixed::from_f64(0.1), Some(Fixed(100_000_000)));
        assert_eq!(Fixed::from_f64(2.5e-9), Some(Fixed(3)), "2.5e-9 as a float lies just above two and a half units");
        assert_eq!(Fixed::from_f64(0.5_f64.powi(10)), Some(Fixed(976_562)), "976562.5 units go to the even neighbour");
        assert_eq!(Fixed::from_f64(-0.5_f64.powi(10)), Some(Fixed(-976_562)));
        assert_eq!(Fixed::from_f64(5e-324), Some(Fixed(0)));
        assert_eq!(Fixed::from_f64(-0.0), Some(Fixed(0)));
    }

    #[test]
    fn numbers_that_are_no_numbers_or_too_large_are_refused() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e10, -1e10, f64::MAX, 9_223_372_036.9] {
            assert_eq!(Fixed::from_f64(value), None, "{value}");
        }
        assert!(serde_json::from_str::<Fixed>("1e400").is_err());
        assert!(serde_json::from_str::<Fixed>("18446744073709551615").is_err());
        assert!(serde_json::from_str::<Fixed>("\"1\"").is_err());
    }

    #[test]
    fn the_ends_of_the_range_read_as_they_are_written() {
        for end in [Fixed::MAX, Fixed(i64::MIN)] {
            assert_eq!(Fixed::from_f64(end.to_f64()), Some(end));
            assert_eq!(serde_json::from_str::<Fixed>(&serde_json::to_string(&end).unwrap()).unwrap(), end);
        }
    }

    #[test]
    fn a_product_is_rounded_half_to_even() {
        assert_eq!(Fixed(1).times(Fixed::milli(500)), Fixed(0));
        assert_eq!(Fixed(3).times(Fixed::milli(500)), Fixed(2));
        assert_eq!(Fixed(-1).times(Fixed::milli(500)), Fixed(0));
        assert_eq!(Fixed(-3).times(Fixed::milli(500)), Fixed(-2));
        assert_eq!(Fixed::MAX.times(Fixed::MAX), Fixed::MAX);
        assert_eq!(Fixed(i64::MIN).times(Fixed::MAX), Fixed(i64::MIN));
    }

    #[test]
    fn text_and_json_have_no_trailing_zeros() {
        assert_eq!(Fixed::milli(875).to_string(), "0.875");
        assert_eq!(Fixed(-1).to_string(), "-0.000000001");
        assert_eq!(Fixed::whole(10).to_string(), "10");
        assert_eq!(serde_json::to_string(&Fixed::milli(725)).unwrap(), "0.725");
        assert_eq!(serde_json::to_string(&Fixed::whole(-3)).unwrap(), "-3");
    }

    #[test]
    fn a_unit_trace_of_a_tenth_a_step_takes_exactly_ten_steps() {
        assert_eq!(Fixed::ONE.steps_of(Fixed::milli(100)), Some(10));
        assert_eq!(Fixed::ONE.steps_of(Fixed::milli(300)), Some(4));
        assert_eq!(Fixed::ONE.steps_of(Fixed::ZERO), None);
    }

    proptest! {
        #[test]
        fn a_number_below_eight_million_survives_json_and_the_float(units in -8_000_000_000_000_000_i64..8_000_000_000_000_000) {
            let number = Fixed(units);
            prop_assert_eq!(Fixed::from_f64(number.to_f64()), Some(number));
            let json = serde_json::to_string(&number).unwrap();
            prop_assert_eq!(serde_json::from_str::<Fixed>(&json).unwrap(), number);
        }

        #[test]
        fn the_outgoing_float_is_the_nearest_one(units in any::<i64>()) {
            let text = std::format!("{}{}.{:09}", if units < 0 { "-" } else { "" },
                units.unsigned_abs() / 1_000_000_000, units.unsigned_abs() % 1_000_000_000);
            prop_assert_eq!(Fixed(units).to_f64().to_bits(), if units == 0 { 0 } else { text.parse::<f64>().unwrap().to_bits() });
        }

        #[test]
        fn no_operation_panics(a in any::<i64>(), b in any::<i64>(), f in any::<f64>(), n in any::<u64>()) {
            let (a, b) = (Fixed(a), Fixed(b));
            let _ = (a + b, a - b, -a, a.times(b), a.times_count(n), a.ratio(b), a.steps_of(b), a.to_f64(), Fixed::from_f64(f), Fixed::count(n));
        }
    }
}
