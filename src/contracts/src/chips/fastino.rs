//! Card with 32 DAC channels of 16 bits. Addresses 0 to 31 are the DACs, an address of a group its first DAC. Sinara
//! Fastino, RTIO channel of its link.
//!
//! Generated from `src/contracts/chips/fastino.toml` by `src/contracts/generate.py`: do not edit.

use super::{WideField, WideRegister};

/// data lanes of the link
pub const LANES: u32 = 6;

/// polynomial of a frame's CRC
pub const CRC: u32 = 0x180f;

/// levels of the clock lane in a word, the first one highest
pub const CLOCK_PATTERN: u32 = 99;

/// words of a frame on the link
pub const FRAME_WORDS: u32 = 14;

/// bits of such a word
pub const FRAME_WORD_BITS: u32 = 7;

/// bits of the link in a coarse cycle
pub const BITS_PER_CYCLE: u32 = 2;

/// bit of an RTIO address: its low bits are the number of an answer register, which comes as an input event
pub const READ: u32 = 128;

/// answer registers of the card
pub const ANSWERS: u32 = 16;

/// Code of a DAC.
pub const DAC: WideRegister = WideRegister {
    name: "DAC",
    address: 0,
    count: 32,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`DAC`].
pub mod dac {
    use super::WideField;

    /// Offset binary.
    pub const CODE: WideField = WideField::new(0, 16);
}

/// DACs that the next frame updates, instead of those written before.
pub const UPDATE: WideRegister = WideRegister {
    name: "UPDATE",
    address: 32,
    count: 1,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`UPDATE`].
pub mod update {
    use super::WideField;

    /// Update this DAC.
    pub const DAC: WideField = WideField::new(0, 1);
}

/// DACs whose codes wait for an update.
pub const HOLD: WideRegister = WideRegister {
    name: "HOLD",
    address: 33,
    count: 1,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`HOLD`].
pub mod hold {
    use super::WideField;

    /// Hold this DAC.
    pub const DAC: WideField = WideField::new(0, 1);
}

/// Configuration.
pub const CFG: WideRegister = WideRegister {
    name: "CFG",
    address: 34,
    count: 1,
    width: 4,
    reset: 0x0,
};

/// Fields of [`CFG`].
pub mod cfg {
    use super::WideField;

    /// Reset the card.
    pub const CARD_RESET: WideField = WideField::new(0, 1);

    /// Power the output stages down.
    pub const AFE_POWER_DOWN: WideField = WideField::new(1, 1);

    /// Clear all DACs.
    pub const DAC_CLR: WideField = WideField::new(2, 1);

    /// Clear the card's error flags.
    pub const CLR_ERR: WideField = WideField::new(3, 1);
}

/// LEDs.
pub const LEDS: WideRegister = WideRegister {
    name: "LEDS",
    address: 35,
    count: 1,
    width: 8,
    reset: 0x00,
};

/// Fields of [`LEDS`].
pub mod leds {
    use super::WideField;

    /// Light this LED.
    pub const LED: WideField = WideField::new(0, 1);
}

/// Reserved bits of each frame.
pub const RESERVED: WideRegister = WideRegister {
    name: "RESERVED",
    address: 36,
    count: 1,
    width: 7,
    reset: 0x00,
};

/// Fields of [`RESERVED`].
pub mod reserved {
    use super::WideField;

    /// Sent as they are.
    pub const BITS: WideField = WideField::new(0, 7);
}

/// DACs that are updated with every frame.
pub const CONTINUOUS: WideRegister = WideRegister {
    name: "CONTINUOUS",
    address: 37,
    count: 1,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`CONTINUOUS`].
pub mod continuous {
    use super::WideField;

    /// Update this DAC.
    pub const DAC: WideField = WideField::new(0, 1);
}

/// Setting of an interpolator, to be applied.
pub const CIC: WideRegister = WideRegister {
    name: "CIC",
    address: 38,
    count: 1,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CIC`].
pub mod cic {
    use super::WideField;

    /// Rate change less one, mantissa.
    pub const RATE_MANTISSA: WideField = WideField::new(0, 6);

    /// Rate change, power of two.
    pub const RATE_EXPONENT: WideField = WideField::new(6, 4);

    /// Gain to be taken back, power of two.
    pub const GAIN_EXPONENT: WideField = WideField::new(10, 6);
}

/// Interpolators that take over the setting with the next frame, which updates no DAC.
pub const CIC_APPLY: WideRegister = WideRegister {
    name: "CIC_APPLY",
    address: 39,
    count: 1,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`CIC_APPLY`].
pub mod cic_apply {
    use super::WideField;

    /// The interpolator of this DAC.
    pub const DAC: WideField = WideField::new(0, 1);
}

/// Header of a frame's payload on the link, before the 32 codes, lowest bit first.
pub const FRAME: WideRegister = WideRegister {
    name: "FRAME",
    address: 0,
    count: 0,
    width: 56,
    reset: 0x00000000000000,
};

/// Fields of [`FRAME`].
pub mod frame {
    use super::WideField;

    /// As CFG.
    pub const CONFIGURATION: WideField = WideField::new(0, 4);

    /// As LEDS.
    pub const LEDS: WideField = WideField::new(4, 8);

    /// What the 32 words are: codes, or each the interpolator setting.
    pub const KIND: WideField = WideField::new(12, 1);

    /// Of [`KIND`].
    pub const KIND_CODES: u64 = 0;

    /// Of [`KIND`].
    pub const KIND_INTERPOLATOR: u64 = 1;

    /// As RESERVED.
    pub const RESERVED: WideField = WideField::new(13, 7);

    /// Answer register that the card sends, the next one in each frame.
    pub const ANSWER: WideField = WideField::new(20, 4);

    /// DACs, or interpolators, that take their word.
    pub const MASK: WideField = WideField::new(24, 32);
}

/// All of them.
pub const ALL: [WideRegister; 10] = [
    DAC, UPDATE, HOLD, CFG, LEDS, RESERVED, CONTINUOUS, CIC, CIC_APPLY, FRAME,
];
