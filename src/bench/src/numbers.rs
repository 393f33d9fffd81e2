//! Physical quantities in a bench file: impossible values are rejected with their location in
//! the file.

use serde::Deserialize;

/// Upper bound of any frequency, rate or time in an experiment; sums and products of such numbers
/// stay finite.
const MOST: f64 = 1e15;

/// Formats a number for a message: very large or small ones with an exponent.
pub fn shown(number: f64) -> String {
    match number.abs() {
        0.0 | 1e-6..1e9 => number.to_string(),
        _ => format!("{number:e}"),
    }
}

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $good:expr, $text:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
        #[serde(try_from = "f64")]
        pub struct $name(pub f64);

        impl TryFrom<f64> for $name {
            type Error = String;

            fn try_from(number: f64) -> Result<Self, String> {
                let good: fn(f64) -> bool = $good;
                match number.is_finite() && good(number) {
                    true if number.abs() > MOST => Err(format!("{} is not physical: at most {MOST:e}", shown(number))),
                    true => Ok(Self(number)),
                    false => Err(format!(concat!("{} is invalid: ", $text), shown(number))),
                }
            }
        }
    };
}

number!(
    /// More than 0.
    Positive, |number| number > 0.0, "it must be more than 0"
);
number!(
    /// 0 or more.
    Natural, |number| number >= 0.0, "it must be 0 or more"
);
number!(
    /// Between 0 and 1.
    Fraction, |number| (0.0..=1.0).contains(&number), "it must be between 0 and 1"
);
number!(
    /// Any finite number.
    Finite, |_| true, "it must be a number"
);
