//! Card with eight ADC channels of 16 bits (LTC2320-16), each behind an amplifier (AD8253). Sinara Sampler; Analog
//! Devices, AD8253 and LTC2320 data sheets.
//!
//! Generated from `src/contracts/chips/sampler.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// chip select of the ADC
pub const CS_ADC: u32 = 0;

/// chip select of the amplifiers
pub const CS_PGIA: u32 = 1;

/// channels of the card
pub const CHANNELS: u32 = 8;

/// Settings of the amplifiers, in a shift register.
pub const PGIA: Register = Register {
    address: 0,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`PGIA`].
pub mod pgia {
    use super::Field;

    /// Gain of a channel.
    pub const GAIN: Field = Field::new(0, 2);

    /// Of [`GAIN`].
    pub const GAIN_X1: u32 = 0;

    /// Of [`GAIN`].
    pub const GAIN_X10: u32 = 1;

    /// Of [`GAIN`].
    pub const GAIN_X100: u32 = 2;

    /// Of [`GAIN`].
    pub const GAIN_X1000: u32 = 3;
}

/// A transfer from the ADC: the codes of two channels, two's complement.
pub const PAIR: Register = Register {
    address: 0,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`PAIR`].
pub mod pair {
    use super::Field;

    /// Code of the channel with the odd number.
    pub const ODD: Field = Field::new(16, 16);

    /// Code of the channel with the even number.
    pub const EVEN: Field = Field::new(0, 16);
}

/// All of them.
pub const ALL: [Register; 2] = [PGIA, PAIR];
