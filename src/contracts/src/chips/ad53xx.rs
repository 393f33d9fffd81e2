//! DAC of 16 or 14 bits with 8 to 40 channels, each with code, gain and offset; two offset DACs for groups. Analog
//! Devices, AD5360 to AD5373 data sheets, section "Serial interface".
//!
//! Generated from `src/contracts/chips/ad53xx.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// Variants of the chip: channels, bits of a code (14-bit codes are left-aligned in a word), channels per group (each
/// group has eight addresses), and reset value of the offset DACs. A row: part, channels, bits, per_group, offset.
pub const CHIPS: [[u32; 5]; 8] = [
    [5360, 16, 16, 8, 8192],
    [5361, 16, 14, 8, 8192],
    [5362, 8, 16, 4, 8192],
    [5363, 8, 14, 4, 8192],
    [5370, 40, 16, 8, 5461],
    [5371, 40, 14, 8, 5461],
    [5372, 32, 16, 8, 8191],
    [5373, 32, 14, 8, 8191],
];

/// address of channel 0
pub const FIRST_CHANNEL: u32 = 8;

/// channels of the largest of the chips
pub const ALL_CHANNELS: u32 = 40;

/// A transfer to the serial port.
pub const WORD: Register = Register {
    address: 0,
    width: 24,
    reset: 0x000000,
};

/// Fields of [`WORD`].
pub mod word {
    use super::Field;

    /// Destination of the value.
    pub const MODE: Field = Field::new(22, 2);

    /// Of [`MODE`].
    pub const MODE_SPECIAL: u32 = 0;

    /// Of [`MODE`].
    pub const MODE_GAIN: u32 = 1;

    /// Of [`MODE`].
    pub const MODE_OFFSET: u32 = 2;

    /// Of [`MODE`].
    pub const MODE_DATA: u32 = 3;

    /// Channel, counted from FIRST_CHANNEL on; or the special function.
    pub const TARGET: Field = Field::new(16, 6);

    /// Of [`TARGET`].
    pub const TARGET_CONTROL: u32 = 1;

    /// Of [`TARGET`].
    pub const TARGET_OFS0: u32 = 2;

    /// Of [`TARGET`].
    pub const TARGET_OFS1: u32 = 3;

    /// Of [`TARGET`].
    pub const TARGET_READ: u32 = 5;

    /// Value.
    pub const DATA: Field = Field::new(0, 16);
}

/// Value of the special function READ: the register that the next transfer returns.
pub const SELECT: Register = Register {
    address: 0,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`SELECT`].
pub mod select {
    use super::Field;

    /// Group of registers.
    pub const REGISTER: Field = Field::new(13, 3);

    /// Of [`REGISTER`].
    pub const REGISTER_X1A: u32 = 0;

    /// Of [`REGISTER`].
    pub const REGISTER_X1B: u32 = 1;

    /// Of [`REGISTER`].
    pub const REGISTER_OFFSET: u32 = 2;

    /// Of [`REGISTER`].
    pub const REGISTER_GAIN: u32 = 3;

    /// Of [`REGISTER`].
    pub const REGISTER_OTHER: u32 = 4;

    /// Channel, counted from FIRST_CHANNEL on; or one of OTHER.
    pub const CHANNEL: Field = Field::new(7, 6);

    /// Of [`CHANNEL`].
    pub const CHANNEL_CONTROL: u32 = 1;

    /// Of [`CHANNEL`].
    pub const CHANNEL_OFS0: u32 = 2;

    /// Of [`CHANNEL`].
    pub const CHANNEL_OFS1: u32 = 3;
}

/// Control register.
pub const CONTROL: Register = Register {
    address: 0,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONTROL`].
pub mod control {
    use super::Field;

    /// Over-temperature, above 130 degrees Celsius; read only.
    pub const OVER_TEMPERATURE: Field = Field::new(4, 1);

    /// Error in a checked transfer; read only.
    pub const PEC_ERROR: Field = Field::new(3, 1);

    /// Register X1B instead of X1A.
    pub const SELECT_B: Field = Field::new(2, 1);

    /// Power down on over-temperature.
    pub const THERMAL_SHUTDOWN: Field = Field::new(1, 1);

    /// Power down.
    pub const POWER_DOWN: Field = Field::new(0, 1);
}

/// Offset DAC of a group of channels.
pub const OFS: Register = Register {
    address: 0,
    width: 14,
    reset: 0x0000,
};

/// Fields of [`OFS`].
pub mod ofs {
    use super::Field;

    /// Offset of the group, in steps of four codes.
    pub const OFFSET: Field = Field::new(0, 14);
}

/// All of them.
pub const ALL: [Register; 4] = [WORD, SELECT, CONTROL, OFS];
