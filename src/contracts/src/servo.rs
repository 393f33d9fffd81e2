//! SU-Servo: addresses of its memories, words of a profile, configuration, and the word of a channel.
//!
//! Generated from `src/contracts/servo.toml` by `src/contracts/generate.py`: do not edit.

/// Channels of the ADC.
pub const ADC_CHANNELS: usize = 8;

/// Bits of a sample, signed.
pub const ADC_WIDTH: usize = 16;

/// Synthesisers of an Urukul.
pub const URUKUL_CHANNELS: usize = 4;

/// Bits of a value or of a signed coefficient.
pub const COEFF_WIDTH: usize = 18;

/// Fractional bits of coefficients: 2^COEFF_SHIFT represents 1.
pub const COEFF_SHIFT: usize = 11;

/// Bits of a profile's number.
pub const PROFILE_WIDTH: usize = 5;

/// Bits of the delay before updates of Y, in samples.
pub const DELAY_WIDTH: usize = 8;

/// Coarse cycles from one sample to the next: the 72 bits of a profile register at half the coarse frequency, and two
/// cycles.
pub const T_CYCLE: usize = 146;

/// Bits of an address in the event's address; the others are above the value in the data.
pub const ADDRESS_BITS: usize = 8;

/// Bits of a word's number in a profile.
pub const WORD_BITS: usize = 3;

/// DEPTH with one Urukul.
pub const DEPTH_LEAST: usize = 10;

/// Write; without this bit the value is read.
pub const WRITE_AT: usize = 2;

/// Halves of the words of phase tracking; with STATE, both halves of a reference time are set to the servo's time.
pub const PHASE_AT: usize = 1;

/// Y of a channel and profile, or with more bits what follows.
pub const STATE_AT: usize = 0;

/// With STATE, behind the Ys of all channels: bits of a sample's number, bits 3..1 the ADC channel, bit 0 the previous
/// sample.
pub const SAMPLES_BITS: usize = 4;

/// Configuration: delay of the first update pulse, ns; the second one's follows.
pub const DELAYS_AT: usize = 2;

/// Width of such a delay.
pub const DELAYS_BITS: usize = 3;

/// Channel: its profile.
pub const CHANNEL_PROFILE_AT: usize = 3;

/// Words of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Word {
    /// Phase word.
    Pow = 0,
    /// Coefficient of the previous sample.
    B1 = 1,
    /// Frequency word, bits 15..0.
    FtwLow = 2,
    /// ADC channel in bits 7..0, delay in bits 15..8.
    AdcDly = 3,
    /// Added to the samples, signed.
    Offset = 4,
    /// Coefficient of Y.
    A1 = 5,
    /// Frequency word, bits 31..16.
    FtwHigh = 6,
    /// Coefficient of the newest sample.
    B0 = 7,
}

impl Word {
    /// All of them, in the order of the file.
    pub const ALL: [Self; 8] = [
        Self::Pow,
        Self::B1,
        Self::FtwLow,
        Self::AdcDly,
        Self::Offset,
        Self::A1,
        Self::FtwHigh,
        Self::B0,
    ];
}

impl TryFrom<u8> for Word {
    /// The number, which none of them has.
    type Error = u8;

    fn try_from(number: u8) -> Result<Self, u8> {
        Ok(match number {
            0 => Self::Pow,
            1 => Self::B1,
            2 => Self::FtwLow,
            3 => Self::AdcDly,
            4 => Self::Offset,
            5 => Self::A1,
            6 => Self::FtwHigh,
            7 => Self::B0,
            other => return Err(other),
        })
    }
}

/// Take samples continuously.
pub const CONFIGURATION_ENABLE: u8 = 1;

/// Apply the delays of the update pulses.
pub const CONFIGURATION_WRITE_DELAY: u8 = 2;

/// RF switch on.
pub const CONTROL_OUT: u8 = 1;

/// Update Y.
pub const CONTROL_IIR: u8 = 2;

/// Phase tracking.
pub const CONTROL_PHASE_TRACKING: u8 = 4;
