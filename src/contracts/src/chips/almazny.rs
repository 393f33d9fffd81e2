//! Output stages of four channels on top of a Mirny: an attenuator of 0 to 31.5 dB and a switch for each. Sinara
//! Almazny, revisions 1.1 (legacy) and 1.2.
//!
//! Generated from `src/contracts/chips/almazny.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// Shift register of a channel, revision 1.1.
pub const LEGACY: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`LEGACY`].
pub mod legacy {
    use super::Field;

    /// Output on.
    pub const RF_SWITCH: Field = Field::new(6, 1);

    /// Attenuation in steps of 0.5 dB, with reversed bit order.
    pub const REVERSED_ATT: Field = Field::new(0, 6);
}

/// Shift register of a channel, revision 1.2.
pub const CHANNEL: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`CHANNEL`].
pub mod channel {
    use super::Field;

    /// Light the LED.
    pub const LED: Field = Field::new(7, 1);

    /// Output on.
    pub const ENABLE: Field = Field::new(6, 1);

    /// Attenuation.
    pub const ATT: Field = Field::new(0, 6);
}

/// All of them.
pub const ALL: [Register; 2] = [LEGACY, CHANNEL];
