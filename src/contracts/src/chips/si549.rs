//! Oscillator whose frequency is set over an I2C bus of its own; it follows no other clock by itself. facts of the
//! board (docs/cards.md); Skyworks (Silicon Labs), Si549 data sheet, section "Register map".
//!
//! Generated from `src/contracts/chips/si549.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// Dividers with which boards run, by output in Hz: after the oscillator; feedback, integer and fraction of 2^32. A
/// row: output, hsdiv, whole, fraction.
pub const SETTINGS: [[u32; 4]; 2] = [[125000000, 88, 72, 360259365], [100000000, 108, 70, 3321141143]];

/// Address on the I2C bus, 7 bits.
pub const BUS_ADDRESS: u8 = 103;

/// Frequency of its crystal, Hz, which the words of the settings imply.
pub const CRYSTAL: u32 = 152_600_000;

/// First of six registers of the feedback divider, the lowest byte first.
pub const FEEDBACK: u8 = 26;

/// Bits of fraction of the feedback divider.
pub const FEEDBACK_BITS: u32 = 32;

/// Commands.
pub const CALIBRATION: Register = Register {
    address: 7,
    width: 8,
    reset: 0x00,
};

/// Fields of [`CALIBRATION`].
pub mod calibration {
    use super::Field;

    /// Calibrate the oscillator to the dividers.
    pub const START: Field = Field::new(3, 1);
}

/// Output.
pub const OUTPUT: Register = Register {
    address: 17,
    width: 8,
    reset: 0x00,
};

/// Fields of [`OUTPUT`].
pub mod output {
    use super::Field;

    /// On.
    pub const ENABLE: Field = Field::new(0, 1);
}

/// Lower bits of the divider after the oscillator.
pub const DIVIDER: Register = Register {
    address: 23,
    width: 8,
    reset: 0x00,
};

/// Fields of [`DIVIDER`].
pub mod divider {
    use super::Field;

    /// Lower bits.
    pub const LOW: Field = Field::new(0, 8);
}

/// Its upper bits, and the second divider.
pub const DIVIDERS: Register = Register {
    address: 24,
    width: 8,
    reset: 0x00,
};

/// Fields of [`DIVIDERS`].
pub mod dividers {
    use super::Field;

    /// Second divider, 2^lsdiv.
    pub const LSDIV: Field = Field::new(4, 3);

    /// Upper bits.
    pub const HIGH: Field = Field::new(0, 3);
}

/// Whether the calibration may be overridden.
pub const OVERRIDING: Register = Register {
    address: 69,
    width: 8,
    reset: 0x00,
};

/// Fields of [`OVERRIDING`].
pub mod overriding {
    use super::Field;

    /// It may.
    pub const ALLOWED: Field = Field::new(0, 1);
}

/// Page of the registers.
pub const PAGE: Register = Register {
    address: 255,
    width: 8,
    reset: 0x00,
};

/// Fields of [`PAGE`].
pub mod page {
    use super::Field;

    /// Page.
    pub const PAGE: Field = Field::new(0, 8);
}

/// All of them.
pub const ALL: [Register; 6] = [CALIBRATION, OUTPUT, DIVIDER, DIVIDERS, OVERRIDING, PAGE];
