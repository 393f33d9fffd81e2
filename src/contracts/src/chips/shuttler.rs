//! Card with 16 DAC channels: of each a cubic spline for its level, one for an amplitude, and a chirp. Sinara Shuttler,
//! words of its drivers; `phy/shuttler.py`; Analog Devices, AD4115 data sheet, "Register details".
//!
//! Generated from `src/contracts/chips/shuttler.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// Events for coefficients a0 to a3 of the level, the lowest bits first; fraction: bits below a 16-bit step. A row:
/// words, bits, fraction.
pub const LEVEL_WORDS: [[u32; 3]; 4] = [[1, 16, 0], [2, 32, 16], [3, 48, 32], [3, 48, 32]];

/// Events for b0 to b3 of the amplitude, with fractions as above, and c0 to c2 of the phase: below a turn. A row:
/// words, bits, fraction.
pub const TONE_WORDS: [[u32; 3]; 7] = [
    [1, 16, 0],
    [2, 32, 16],
    [3, 48, 32],
    [3, 48, 32],
    [1, 16, 16],
    [2, 32, 32],
    [2, 32, 32],
];

/// outputs of a card
pub const OUTPUTS: u32 = 16;

/// bits of a level, two's complement; the DAC gets the upper 14
pub const LEVEL_BITS: u32 = 16;

/// bits of a DAC
pub const DAC_BITS: u32 = 14;

/// fraction of the levels and phases that the gateware accumulates
pub const FRACTION_BITS: u32 = 32;

/// factor of an amplitude: the gain of a CORDIC, for which drivers compensate
pub const TONE_GAIN: f64 = 1.6467602581;

/// an output is multiplied by 1 + gain / GAIN_STEPS
pub const GAIN_STEPS: u32 = 0x1_0000;

/// bits of a coefficient in an event
pub const WORD_BITS: u32 = 16;

/// value of ADC_ID, ignoring the lowest four bits
pub const ADC_ID_VALUE: u32 = 0x38d0;

/// clock cycles with the data high that reset the ADC
pub const ADC_RESET_BITS: u32 = 64;

/// internal reference, V
pub const ADC_REFERENCE: f64 = 2.5;

/// in front of each voltage input
pub const ADC_DIVIDER: f64 = 0.1;

/// settled conversions a second at the fastest rate
pub const ADC_SETTLED_RATE: f64 = 24_845.0;

/// cycles of 8 ns from a trigger, or from a setting, to the first sample at the connector
pub const LATENCY: u32 = 16;

/// range of an output, V
pub const OUTPUT_SPAN: f64 = 20.0;

/// RTIO address of the card's settings; data: 16 bits, two's complement; of CLEAR: a mask of the outputs.
pub const PORT: Register = Register {
    address: 0,
    width: 7,
    reset: 0x00,
};

/// Fields of [`PORT`].
pub mod port {
    use super::Field;

    /// The setting is the answer, an input event.
    pub const READ: Field = Field::new(6, 1);

    /// Setting.
    pub const SETTING: Field = Field::new(4, 2);

    /// Of [`SETTING`].
    pub const SETTING_GAIN: u32 = 0;

    /// Of [`SETTING`].
    pub const SETTING_OFFSET: u32 = 1;

    /// Of [`SETTING`].
    pub const SETTING_CLEAR: u32 = 2;

    /// Output; of CLEAR: 0.
    pub const OUTPUT: Field = Field::new(0, 4);
}

/// ADC: first byte of a message.
pub const COMMUNICATION: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`COMMUNICATION`].
pub mod communication {
    use super::Field;

    /// The ADC sends the register.
    pub const READ: Field = Field::new(6, 1);

    /// Register.
    pub const REGISTER: Field = Field::new(0, 6);
}

/// ADC: status.
pub const ADC_STATUS: Register = Register {
    address: 0,
    width: 8,
    reset: 0x80,
};

/// Fields of [`ADC_STATUS`].
pub mod adc_status {
    use super::Field;

    /// No new result.
    pub const NOT_READY: Field = Field::new(7, 1);

    /// The input was out of range.
    pub const ADC_ERROR: Field = Field::new(6, 1);

    /// Channel of the result.
    pub const CHANNEL: Field = Field::new(0, 4);
}

/// ADC: mode.
pub const ADC_MODE: Register = Register {
    address: 1,
    width: 16,
    reset: 0x2000,
};

/// Fields of [`ADC_MODE`].
pub mod adc_mode {
    use super::Field;

    /// Internal reference on.
    pub const REF_EN: Field = Field::new(15, 1);

    /// Output only settled conversions.
    pub const SING_CYC: Field = Field::new(13, 1);

    /// Delay after a change of channel.
    pub const DELAY: Field = Field::new(8, 3);

    /// Mode, 4 to 7 calibrate.
    pub const MODE: Field = Field::new(4, 3);

    /// Of [`MODE`].
    pub const MODE_CONTINUOUS: u32 = 0;

    /// Of [`MODE`].
    pub const MODE_SINGLE: u32 = 1;

    /// Of [`MODE`].
    pub const MODE_STANDBY: u32 = 2;

    /// Of [`MODE`].
    pub const MODE_POWER_DOWN: u32 = 3;

    /// Clock.
    pub const CLOCKSEL: Field = Field::new(2, 2);
}

/// ADC: identification; the AD4115 has 0x38d, in the lowest four bits anything.
pub const ADC_ID: Register = Register {
    address: 7,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`ADC_ID`].
pub mod adc_id {
    use super::Field;

    /// Kind of chip.
    pub const PRODUCT: Field = Field::new(4, 12);
}

/// ADC: header of a message.
pub const ADC_INTERFACE: Register = Register {
    address: 2,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`ADC_INTERFACE`].
pub mod adc_interface {
    use super::Field;

    /// The status follows each result.
    pub const DATA_STATUS: Field = Field::new(6, 1);

    /// Results have 16 bits.
    pub const SHORT_DATA: Field = Field::new(0, 1);
}

/// ADC: channel 0 of 16; the others have 0x0001 after a reset.
pub const ADC_CHANNEL: Register = Register {
    address: 16,
    width: 16,
    reset: 0x8001,
};

/// Fields of [`ADC_CHANNEL`].
pub mod adc_channel {
    use super::Field;

    /// It is converted.
    pub const ENABLE: Field = Field::new(15, 1);

    /// Number of its setup.
    pub const SETUP: Field = Field::new(12, 3);

    /// Pair of inputs; VINn against VINCOM: (n << 5) + 16.
    pub const INPUT: Field = Field::new(0, 10);
}

/// ADC: setup 0 of 8.
pub const ADC_SETUP: Register = Register {
    address: 32,
    width: 16,
    reset: 0x1000,
};

/// Fields of [`ADC_SETUP`].
pub mod adc_setup {
    use super::Field;

    /// Codes are offset binary.
    pub const BIPOLAR: Field = Field::new(12, 1);

    /// Buffers of both inputs on.
    pub const BUFFERS: Field = Field::new(8, 2);

    /// Reference.
    pub const REFERENCE: Field = Field::new(4, 2);

    /// Of [`REFERENCE`].
    pub const REFERENCE_EXTERNAL: u32 = 0;

    /// Of [`REFERENCE`].
    pub const REFERENCE_INTERNAL: u32 = 2;

    /// Of [`REFERENCE`].
    pub const REFERENCE_SUPPLY: u32 = 3;
}

/// ADC: filter 0 of 8.
pub const ADC_FILTER: Register = Register {
    address: 40,
    width: 16,
    reset: 0x0500,
};

/// Fields of [`ADC_FILTER`].
pub mod adc_filter {
    use super::Field;

    /// Output data rate, 0 the fastest.
    pub const RATE: Field = Field::new(0, 5);
}

/// ADC: offset 0 of 8.
pub const ADC_OFFSET: Register = Register {
    address: 48,
    width: 24,
    reset: 0x800000,
};

/// ADC: gain 0 of 8.
pub const ADC_GAIN: Register = Register {
    address: 56,
    width: 24,
    reset: 0x555555,
};

/// ADC: result.
pub const ADC_DATA: Register = Register {
    address: 4,
    width: 24,
    reset: 0x000000,
};

/// Fields of [`ADC_DATA`].
pub mod adc_data {
    use super::Field;

    /// Code.
    pub const CODE: Field = Field::new(0, 24);
}

/// All of them.
pub const ALL: [Register; 12] = [
    PORT,
    COMMUNICATION,
    ADC_STATUS,
    ADC_MODE,
    ADC_ID,
    ADC_INTERFACE,
    ADC_CHANNEL,
    ADC_SETUP,
    ADC_FILTER,
    ADC_OFFSET,
    ADC_GAIN,
    ADC_DATA,
];
