//! Output stages of four channels on top of a Mirny: an attenuator of 0 to 31.5 dB and a switch for each. Sinara
//! Almazny, revisions 1.1 (legacy), 1.2 and later.
//!
//! Generated from `src/contracts/chips/almazny.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// bits of an attenuation
pub const ATT_BITS: u32 = 6;

/// steps of an attenuation in a dB
pub const ATT_STEPS: u32 = 2;

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

/// Shift register of a channel, revision 1.2 and later.
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

    /// Attenuation in steps of 0.5 dB, with reversed bit order.
    pub const REVERSED_ATT: Field = Field::new(0, 6);
}

/// All of them.
pub const ALL: [Register; 2] = [LEGACY, CHANNEL];
