//! Card with 32 DAC channels of 16 bits. Addresses 0 to 31 are the DACs, an address of a group its first DAC. Sinara
//! Fastino, RTIO channel of its link.
//!
//! Generated from `src/contracts/chips/fastino.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// words of a frame on the link
pub const FRAME_WORDS: u32 = 14;

/// bits of such a word
pub const FRAME_WORD_BITS: u32 = 7;

/// bits of the link in a coarse cycle
pub const BITS_PER_CYCLE: u32 = 2;

/// Code of a DAC.
pub const DAC: Register = Register {
    address: 0,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`DAC`].
pub mod dac {
    use super::Field;

    /// Offset binary.
    pub const CODE: Field = Field::new(0, 16);
}

/// Make held codes outputs.
pub const UPDATE: Register = Register {
    address: 32,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`UPDATE`].
pub mod update {
    use super::Field;

    /// Update this DAC.
    pub const DAC: Field = Field::new(0, 1);
}

/// DACs whose codes wait for an update.
pub const HOLD: Register = Register {
    address: 33,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`HOLD`].
pub mod hold {
    use super::Field;

    /// Hold this DAC.
    pub const DAC: Field = Field::new(0, 1);
}

/// Configuration.
pub const CFG: Register = Register {
    address: 34,
    width: 4,
    reset: 0x0,
};

/// Fields of [`CFG`].
pub mod cfg {
    use super::Field;

    /// Reset the card.
    pub const CARD_RESET: Field = Field::new(0, 1);

    /// Power the output stages down.
    pub const AFE_POWER_DOWN: Field = Field::new(1, 1);

    /// Clear all DACs.
    pub const DAC_CLR: Field = Field::new(2, 1);

    /// Clear the card's error flags.
    pub const CLR_ERR: Field = Field::new(3, 1);
}

/// LEDs.
pub const LEDS: Register = Register {
    address: 35,
    width: 8,
    reset: 0x00,
};

/// Fields of [`LEDS`].
pub mod leds {
    use super::Field;

    /// Light this LED.
    pub const LED: Field = Field::new(0, 1);
}

/// DACs that are updated with every frame.
pub const CONTINUOUS: Register = Register {
    address: 37,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`CONTINUOUS`].
pub mod continuous {
    use super::Field;

    /// Update this DAC.
    pub const DAC: Field = Field::new(0, 1);
}

/// Setting of an interpolator, to be applied.
pub const CIC: Register = Register {
    address: 38,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CIC`].
pub mod cic {
    use super::Field;

    /// Rate change less one, mantissa.
    pub const RATE_MANTISSA: Field = Field::new(0, 6);

    /// Rate change, power of two.
    pub const RATE_EXPONENT: Field = Field::new(6, 4);

    /// Gain to be taken back, power of two.
    pub const GAIN_EXPONENT: Field = Field::new(10, 6);
}

/// Interpolators that take over the setting.
pub const CIC_APPLY: Register = Register {
    address: 39,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`CIC_APPLY`].
pub mod cic_apply {
    use super::Field;

    /// The interpolator of this DAC.
    pub const DAC: Field = Field::new(0, 1);
}

/// All of them.
pub const ALL: [Register; 8] = [DAC, UPDATE, HOLD, CFG, LEDS, CONTINUOUS, CIC, CIC_APPLY];
