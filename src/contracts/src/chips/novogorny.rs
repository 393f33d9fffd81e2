//! Card with eight ADC channels of 16 bits (LTC2335-16), each behind an amplifier (AD8253). Sinara Novogorny; Analog
//! Devices, LTC2335-16 data sheet, section "Serial configuration".
//!
//! Generated from `src/contracts/chips/novogorny.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// Ranges by number: span in units of the reference, and whether the range is bipolar. A row: span, bipolar.
pub const SPANS: [[f64; 2]; 8] = [
    [1.220703125, 0.0],
    [1.25, 0.0],
    [2.44140625, 1.0],
    [2.5, 1.0],
    [2.44140625, 0.0],
    [2.5, 0.0],
    [4.8828125, 1.0],
    [5.0, 1.0],
];

/// chip select of the ADC
pub const CS_ADC: u32 = 1;

/// chip select of the amplifiers
pub const CS_PGIA: u32 = 2;

/// channels of the card
pub const CHANNELS: u32 = 8;

/// maximum number of control words stored by the ADC
pub const SEQUENCE: u32 = 16;

/// Control word: next conversion of the ADC.
pub const ADC_CONTROL: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`ADC_CONTROL`].
pub mod adc_control {
    use super::Field;

    /// Use this word.
    pub const VALID: Field = Field::new(7, 1);

    /// Channel.
    pub const CHANNEL: Field = Field::new(3, 3);

    /// Range, a row of SPANS.
    pub const SOFTSPAN: Field = Field::new(0, 3);
}

/// A transfer from the ADC.
pub const RESULT: Register = Register {
    address: 0,
    width: 24,
    reset: 0x000000,
};

/// Fields of [`RESULT`].
pub mod result {
    use super::Field;

    /// Code; two's complement in bipolar ranges.
    pub const CODE: Field = Field::new(8, 16);

    /// Channel.
    pub const CHANNEL: Field = Field::new(3, 3);

    /// Range.
    pub const SOFTSPAN: Field = Field::new(0, 3);
}

/// All of them.
pub const ALL: [Register; 2] = [ADC_CONTROL, RESULT];
