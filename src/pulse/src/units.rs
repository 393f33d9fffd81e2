//! Conversion from Hz, degrees, full scale and seconds to the words of the core, rounded as
//! specified.

use crate::wrap;
use core::fmt;
use kairos_contracts::pulse::{self as facts, AMPLITUDE_FRACTION, AMPLITUDE_MAX, AMPLITUDE_UNITS, VALUE_BITS};

/// One turn in units of words; as a frequency, the sample rate.
const TURN: f64 = (1u64 << VALUE_BITS) as f64;
/// Bound of durations in cycles: JaqalPaw packs them as a signed number.
const TAU_END: f64 = (1u64 << facts::TAU_MAX_BITS) as f64;

/// Clock rates of a core, from which its units follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Clock of engines and DDS in Hz.
    pub clock: f64,
    /// Samples per clock cycle.
    pub samples_per_cycle: u32,
}

impl Rates {
    /// The rates of the reference core.
    pub const REFERENCE: Self = Self {
        clock: facts::CLOCK_HZ as f64,
        samples_per_cycle: facts::SAMPLES_PER_CYCLE as u32,
    };

    /// Sample rate in Hz.
    pub const fn samples(&self) -> f64 {
        self.clock * self.samples_per_cycle as f64
    }
}

/// Why the core cannot represent a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnitError {
    /// NaN or infinite.
    NotFinite,
    /// Frequency in Hz out of range. The bound is half the sample rate, which only the negative end
    /// includes.
    Frequency { value: f64, bound: f64 },
    /// Amplitude beyond full scale.
    Amplitude { value: f64 },
    /// Duration in seconds that is negative, or too long for the word.
    Duration { value: f64, longest: f64 },
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Self::NotFinite => write!(f, "it is not a finite number"),
            Self::Frequency { value, bound } => {
                write!(
                    f,
                    "{value} Hz is outside of -{bound} Hz to below {bound} Hz, half the sample rate"
                )
            }
            Self::Amplitude { value } => write!(
                f,
                "{value} is outside of -{AMPLITUDE_UNITS} to {AMPLITUDE_UNITS}, full scale"
            ),
            Self::Duration { value, longest } => write!(f, "{value} s is not between 0 and {longest} s"),
        }
    }
}

fn finite(value: f64) -> Result<f64, UnitError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(UnitError::NotFinite)
    }
}

impl Rates {
    /// Converts a frequency in Hz to a word: nearest, ties to even.
    pub fn frequency(&self, hertz: f64) -> Result<i64, UnitError> {
        let bound = self.samples() / 2.0;
        if finite(hertz)? < -bound || hertz >= bound {
            return Err(UnitError::Frequency { value: hertz, bound });
        }
        // The last half step below the bound would round up to the bound.
        Ok((libm::rint(hertz / self.samples() * TURN) as i64).min((1 << (VALUE_BITS - 1)) - 1))
    }

    /// Converts the word of a frequency to Hz.
    pub fn to_hertz(&self, word: i64) -> f64 {
        word as f64 / TURN * self.samples()
    }

    /// Converts a duration in seconds to cycles: truncated.
    pub fn cycles(&self, seconds: f64) -> Result<u64, UnitError> {
        let cycles = libm::trunc(finite(seconds)? * self.clock);
        if !(0.0..TAU_END).contains(&cycles) {
            return Err(UnitError::Duration {
                value: seconds,
                longest: TAU_END / self.clock,
            });
        }
        Ok(cycles as u64)
    }
}

/// Converts an angle in degrees, as a constant or an entry of a list, to a word: wrapped into
/// [-180, 180), then nearest, ties to even.
pub fn phase(degrees: f64) -> Result<i64, UnitError> {
    let mut degrees = finite(degrees)?;
    if degrees.abs() >= 360.0 {
        degrees = libm::fmod(degrees, 360.0);
        degrees += if degrees < 0.0 { 360.0 } else { 0.0 };
    }
    if degrees >= 180.0 {
        degrees -= 360.0;
    } else if degrees < -180.0 {
        degrees += 360.0;
    }
    let limit = 1i64 << (VALUE_BITS - 1);
    Ok((libm::rint(degrees / 360.0 * TURN) as i64).clamp(-limit, limit - 1))
}

/// Converts an angle in degrees, as a knot of a spline, to units of words: not wrapped.
pub fn phase_knot(degrees: f64) -> Result<f64, UnitError> {
    Ok(libm::rint(finite(degrees)? / 360.0 * TURN))
}

/// Converts the word of an angle to degrees in [-180, 180).
pub fn to_degrees(word: i64) -> f64 {
    wrap(word, VALUE_BITS) as f64 / TURN * 360.0
}

/// Converts an amplitude, of which 200 is full scale, to a word: truncated to the resolution of the
/// DDS.
#[inline]
pub fn amplitude(value: f64) -> Result<i64, UnitError> {
    if finite(value)?.abs() > AMPLITUDE_UNITS.into() {
        return Err(UnitError::Amplitude { value });
    }
    // The conversion truncates.
    let datum = (value / f64::from(AMPLITUDE_UNITS) * f64::from(AMPLITUDE_MAX)) as i32;
    Ok(i64::from(datum) << AMPLITUDE_FRACTION)
}

/// Converts the word of an amplitude to an amplitude.
pub fn to_amplitude(word: i64) -> f64 {
    word as f64 / f64::from(1u32 << AMPLITUDE_FRACTION) / f64::from(AMPLITUDE_MAX) * f64::from(AMPLITUDE_UNITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const R: Rates = Rates::REFERENCE;
    const MASK: i64 = 0xff_ffff_ffff;

    #[test]
    fn check_1_and_2_frequencies_give_their_words() {
        assert_eq!(R.frequency(200e6), Ok(268_435_456_000));
        assert_eq!(R.frequency(1.0), Ok(1342));
        assert_eq!(R.frequency(10e6), Ok(0x03_2000_0000));
        assert_eq!(R.frequency(-42.5e6).map(|f| f & MASK), Ok(0xf2_b800_0000));
        assert_eq!(R.frequency(-409.6e6).map(|f| f & MASK), Ok(0x80_0000_0000));
        assert!(matches!(R.frequency(409.6e6), Err(UnitError::Frequency { .. })));
        assert!(matches!(R.frequency(-409.6e6 - 1.0), Err(UnitError::Frequency { .. })));
        assert_eq!(R.frequency(f64::NAN), Err(UnitError::NotFinite));
        assert_eq!(R.frequency(409.6e6 - 1e-7), Ok(0x7f_ffff_ffff));
    }

    #[test]
    fn check_3_phases_wrap_to_one_turn() {
        let degrees = [350.0, 180.0, 540.0, -180.0, 720.5, 179.9999999999, -190.0, 0.25];
        let words = [
            0xf8_e38e_38e4,
            0x80_0000_0000,
            0x80_0000_0000,
            0x80_0000_0000,
            0x00_5b05_b05b,
            0x7f_ffff_ffff,
            0x78_e38e_38e4,
            0x00_2d82_d82e,
        ];
        assert_eq!(degrees.map(|d| phase(d).unwrap() & MASK), words);
    }

    #[test]
    fn check_4_amplitudes_give_their_words_or_are_refused() {
        let amplitudes = [50.0, 100.0, 200.0, -200.0].map(|a| amplitude(a).unwrap());
        assert_eq!(
            amplitudes,
            [0x1f_ff80_0000, 0x3f_ff80_0000, 0x7f_ff80_0000, -0x7f_ff80_0000]
        );
        assert_eq!(
            amplitudes.map(|a| a >> AMPLITUDE_FRACTION),
            [16383, 32767, 65535, -65535]
        );
        assert_eq!(amplitude(201.0), Err(UnitError::Amplitude { value: 201.0 }));
        assert_eq!(amplitude(f64::NAN), Err(UnitError::NotFinite));
    }

    #[test]
    fn check_5_durations_give_rounded_cycles_or_are_refused() {
        let cycles = [1e-6, 1.25e-6, 10e-9, 0.3e-6, 100e-6].map(|t| R.cycles(t).unwrap());
        assert_eq!(cycles, [409, 512, 4, 122, 40_960]);
        assert!(matches!(R.cycles(-1.0), Err(UnitError::Duration { .. })));
        assert!(matches!(R.cycles(1e6), Err(UnitError::Duration { .. })));
    }

    proptest! {
        #[test]
        fn values_are_rounded_to_the_nearest_word(hertz in -409.6e6..409.6e6, degrees in -1e4..1e4, full in -200.0..200.0) {
            let word = R.frequency(hertz).unwrap();
            prop_assert!((R.to_hertz(word) - hertz).abs() <= R.to_hertz(1) * 0.51);
            let turned = (to_degrees(phase(degrees).unwrap()) - degrees) / 360.0;
            prop_assert!((turned - libm::rint(turned)).abs() < 1e-11);
            prop_assert!((to_amplitude(amplitude(full).unwrap()) - full).abs() <= to_amplitude(1 << AMPLITUDE_FRACTION));
        }
    }
}
