//! Logic of a card with four DDS channels: configuration (CFG) and the status returned in the same transfer (STA).
//! Sinara Urukul, CPLD protocol revisions 8 and 9.
//!
//! Generated from `src/contracts/chips/urukul.toml` by `src/contracts/generate.py`: do not edit.

use super::{WideField, WideRegister};

/// chip select of CFG and STA
pub const CS_CFG: u32 = 1;

/// chip select of the attenuators
pub const CS_ATT: u32 = 2;

/// chip select of all DDS chips that are not masked
pub const CS_DDS_MULTI: u32 = 3;

/// chip select of the DDS of channel 0
pub const CS_DDS_CH0: u32 = 4;

/// chip select of the DDS of channel 1
pub const CS_DDS_CH1: u32 = 5;

/// chip select of the DDS of channel 2
pub const CS_DDS_CH2: u32 = 6;

/// chip select of the DDS of channel 3
pub const CS_DDS_CH3: u32 = 7;

/// Configuration, protocol revision 8.
pub const CFG8: WideRegister = WideRegister {
    name: "CFG8",
    address: 0,
    count: 0,
    width: 24,
    reset: 0x000000,
};

/// Fields of [`CFG8`].
pub mod cfg8 {
    use super::WideField;

    /// Close the RF switch of a channel.
    pub const RF_SW: WideField = WideField::new(0, 1);

    /// Light the LED of a channel.
    pub const LED: WideField = WideField::new(4, 1);

    /// Profile of all channels.
    pub const PROFILE: WideField = WideField::new(8, 3);

    /// Update line of all channels.
    pub const IO_UPDATE: WideField = WideField::new(12, 1);

    /// Keep a channel from the bus of its own.
    pub const MASK_NU: WideField = WideField::new(13, 1);

    /// Lower bit of the reference's source.
    pub const CLK_SEL0: WideField = WideField::new(17, 1);

    /// Synchronisation clock from the card instead of the device.
    pub const SYNC_SEL: WideField = WideField::new(18, 1);

    /// Reset of the DDS chips.
    pub const RST: WideField = WideField::new(19, 1);

    /// Reset of the DDS chips' serial ports.
    pub const IO_RST: WideField = WideField::new(20, 1);

    /// Upper bit of the reference's source.
    pub const CLK_SEL1: WideField = WideField::new(21, 1);

    /// Divider of the reference.
    pub const CLK_DIV: WideField = WideField::new(22, 2);
}

/// Configuration, protocol revision 9.
pub const CFG9: WideRegister = WideRegister {
    name: "CFG9",
    address: 0,
    count: 0,
    width: 52,
    reset: 0x0000000000000,
};

/// Fields of [`CFG9`].
pub mod cfg9 {
    use super::WideField;

    /// Close the RF switch of a channel.
    pub const RF_SW: WideField = WideField::new(0, 1);

    /// Light the LED of a channel.
    pub const LED: WideField = WideField::new(4, 1);

    /// Profile of a channel.
    pub const PROFILE: WideField = WideField::new(8, 3);

    /// OSK line of a channel.
    pub const OSK: WideField = WideField::new(20, 1);

    /// Ramp direction line of a channel.
    pub const DRCTL: WideField = WideField::new(24, 1);

    /// Ramp hold line of a channel.
    pub const DRHOLD: WideField = WideField::new(28, 1);

    /// Update line of a channel.
    pub const IO_UPDATE: WideField = WideField::new(32, 1);

    /// Keep a channel from the bus of its own.
    pub const MASK_NU: WideField = WideField::new(36, 1);

    /// Lower bit of the reference's source.
    pub const CLK_SEL0: WideField = WideField::new(40, 1);

    /// Synchronisation clock from the card instead of the device.
    pub const SYNC_SEL: WideField = WideField::new(41, 1);

    /// Reset of the DDS chips.
    pub const RST: WideField = WideField::new(42, 1);

    /// Reset of the DDS chips' serial ports.
    pub const IO_RST: WideField = WideField::new(43, 1);

    /// Upper bit of the reference's source.
    pub const CLK_SEL1: WideField = WideField::new(44, 1);

    /// Divider of the reference.
    pub const CLK_DIV: WideField = WideField::new(45, 2);

    /// Enable the attenuator of a channel.
    pub const ATT_EN: WideField = WideField::new(47, 1);
}

/// Status; protocol revision 8 has no `drover`.
pub const STA: WideRegister = WideRegister {
    name: "STA",
    address: 0,
    count: 0,
    width: 27,
    reset: 0x0000000,
};

/// Fields of [`STA`].
pub mod sta {
    use super::WideField;

    /// RF switches, a bit for each channel.
    pub const RF_SW: WideField = WideField::new(0, 4);

    /// Synchronisation errors of the DDS chips, a bit for each channel.
    pub const SMP_ERR: WideField = WideField::new(4, 4);

    /// Locked PLLs of the DDS chips, a bit for each channel.
    pub const PLL_LOCK: WideField = WideField::new(8, 4);

    /// Position of the mode switch.
    pub const IFC_MODE: WideField = WideField::new(12, 4);

    /// Protocol revision.
    pub const PROTO_REV: WideField = WideField::new(16, 7);

    /// Digital ramps that are over, a bit for each channel.
    pub const DROVER: WideField = WideField::new(23, 4);
}

/// Attenuators.
pub const ATT: WideRegister = WideRegister {
    name: "ATT",
    address: 0,
    count: 0,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`ATT`].
pub mod att {
    use super::WideField;

    /// 255 less the attenuation.
    pub const ATT: WideField = WideField::new(0, 8);
}

/// All of them.
pub const ALL: [WideRegister; 4] = [CFG8, CFG9, STA, ATT];
