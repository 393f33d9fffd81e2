//! Card with two RF channels of 500 MS/s: digital upconverters, in the base gateware with five oscillators each. Sinara
//! Phaser, registers of its base gateware; the frames of the link are those of `phy/phaser.py`.
//!
//! Generated from `src/contracts/chips/phaser.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// chip select of the DAC
pub const DAC_SELECT: u32 = 1;

/// chip select of upconverter 0; the other's is the next bit
pub const TRF_SELECT: u32 = 2;

/// chip select of attenuator 0; the other's is the next bit
pub const ATTENUATOR_SELECT: u32 = 8;

/// first register of b0, b1, a1, offset (two bytes each) of channel 0 and profile 0
pub const SERVO_COEFFICIENTS: u32 = 50;

/// registers from one channel's coefficients to the other's
pub const SERVO_SPACING: u32 = 32;

/// profiles of a servo, 8 registers each
pub const SERVO_PROFILES: u32 = 4;

/// value of BOARD_ID
pub const BOARD: u32 = 19;

/// RF channels
pub const CHANNELS: u32 = 2;

/// oscillators of a channel
pub const OSCILLATORS: u32 = 5;

/// offset from the registers of a channel to those of the next one
pub const UPCONVERTER_SPACING: u32 = 16;

/// coarse cycles of a frame of the link
pub const FRAME_CYCLES: u32 = 40;

/// data lanes of the link
pub const LANES: u32 = 6;

/// polynomial of a frame's CRC
pub const CRC: u32 = 111;

/// levels of the clock lane in a word, the first one highest
pub const CLOCK_PATTERN: u32 = 15;

/// words of a frame on the link
pub const FRAME_WORDS: u32 = 10;

/// bits of such a word
pub const FRAME_WORD_BITS: u32 = 8;

/// bits of the link in a coarse cycle
pub const BITS_PER_CYCLE: u32 = 2;

/// spare bits after the 8 bits that answer a read, in the frame after the request
pub const ANSWER_SPARE: u32 = 1;

/// 2^30 steps of an oscillator's frequency word, Hz
pub const OSCILLATOR_RATE: f64 = 6_250_000.0;

/// 2^30 steps of an upconverter's frequency word, Hz
pub const UPCONVERTER_RATE: f64 = 125_000_000.0;

/// steps of frequency words in their rate
pub const FREQUENCY_STEPS: u32 = 0x4000_0000;

/// RTIO address of the link's channel.
pub const PORT: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`PORT`].
pub mod port {
    use super::Field;

    /// Write.
    pub const WRITE: Field = Field::new(7, 1);

    /// Register of the card.
    pub const REGISTER: Field = Field::new(0, 7);
}

/// Kind of card.
pub const BOARD_ID: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`BOARD_ID`].
pub mod board_id {
    use super::Field;

    /// Number of the card.
    pub const BOARD: Field = Field::new(0, 8);
}

/// Revision of the card.
pub const HW_REV: Register = Register {
    address: 1,
    width: 8,
    reset: 0x00,
};

/// Gateware.
pub const GW_REV: Register = Register {
    address: 2,
    width: 8,
    reset: 0x00,
};

/// Fields of [`GW_REV`].
pub mod gw_rev {
    use super::Field;

    /// Type of gateware.
    pub const GATEWARE: Field = Field::new(0, 8);

    /// Of [`GATEWARE`].
    pub const GATEWARE_BASE: u32 = 1;

    /// Of [`GATEWARE`].
    pub const GATEWARE_MIQRO: u32 = 2;
}

/// Configuration.
pub const CFG: Register = Register {
    address: 3,
    width: 8,
    reset: 0x00,
};

/// Fields of [`CFG`].
pub mod cfg {
    use super::Field;

    /// Reference.
    pub const CLK_SEL: Field = Field::new(0, 1);

    /// 0: DAC in reset.
    pub const DAC_RESETB: Field = Field::new(1, 1);

    /// DAC sleeps.
    pub const DAC_SLEEP: Field = Field::new(2, 1);

    /// DAC transmits.
    pub const DAC_TXENA: Field = Field::new(3, 1);

    /// Upconverter of channel 0 saves power.
    pub const TRF0_PS: Field = Field::new(4, 1);

    /// Upconverter of channel 1 saves power.
    pub const TRF1_PS: Field = Field::new(5, 1);

    /// 0: attenuator of channel 0 in reset.
    pub const ATT0_RSTN: Field = Field::new(6, 1);

    /// 0: attenuator of channel 1 in reset.
    pub const ATT1_RSTN: Field = Field::new(7, 1);
}

/// Status.
pub const STA: Register = Register {
    address: 4,
    width: 8,
    reset: 0x00,
};

/// Frames with a wrong checksum.
pub const CRC_ERR: Register = Register {
    address: 5,
    width: 8,
    reset: 0x00,
};

/// LEDs.
pub const LED: Register = Register {
    address: 6,
    width: 8,
    reset: 0x00,
};

/// Fan.
pub const FAN: Register = Register {
    address: 7,
    width: 8,
    reset: 0x00,
};

/// Fields of [`FAN`].
pub mod fan {
    use super::Field;

    /// Duty cycle.
    pub const DUTY: Field = Field::new(0, 8);
}

/// A write makes settings of the upconverters take effect.
pub const DUC_STB: Register = Register {
    address: 8,
    width: 8,
    reset: 0x00,
};

/// Configuration of the SPI bus.
pub const SPI_CFG: Register = Register {
    address: 10,
    width: 8,
    reset: 0x00,
};

/// Fields of [`SPI_CFG`].
pub mod spi_cfg {
    use super::Field;

    /// Pins not driven.
    pub const OFFLINE: Field = Field::new(0, 1);

    /// The next transfer ends the message.
    pub const END: Field = Field::new(1, 1);

    /// Data change with the first edge.
    pub const CLK_PHASE: Field = Field::new(2, 1);

    /// The clock is high while idle.
    pub const CLK_POLARITY: Field = Field::new(3, 1);

    /// One data line.
    pub const HALF_DUPLEX: Field = Field::new(4, 1);

    /// The lowest bit first.
    pub const LSB_FIRST: Field = Field::new(5, 1);
}

/// Clock and length of transfers on the SPI bus.
pub const SPI_DIVLEN: Register = Register {
    address: 11,
    width: 8,
    reset: 0x00,
};

/// Fields of [`SPI_DIVLEN`].
pub mod spi_divlen {
    use super::Field;

    /// Divider of 250 MHz, less 2, in steps of 8.
    pub const DIV: Field = Field::new(0, 5);

    /// Bits, less one.
    pub const LENGTH: Field = Field::new(5, 3);
}

/// Chips of the SPI bus that the next transfers select.
pub const SPI_SEL: Register = Register {
    address: 12,
    width: 8,
    reset: 0x00,
};

/// Fields of [`SPI_SEL`].
pub mod spi_sel {
    use super::Field;

    /// DAC, upconverters 0 and 1, attenuators 0 and 1.
    pub const SELECT: Field = Field::new(0, 1);
}

/// Byte to the SPI bus of the card.
pub const SPI_DATW: Register = Register {
    address: 13,
    width: 8,
    reset: 0x00,
};

/// Byte from the SPI bus of the card.
pub const SPI_DATR: Register = Register {
    address: 14,
    width: 8,
    reset: 0x00,
};

/// Delay of the DAC's synchronisation.
pub const SYNC_DLY: Register = Register {
    address: 15,
    width: 8,
    reset: 0x00,
};

/// Fields of [`SYNC_DLY`].
pub mod sync_dly {
    use super::Field;

    /// Delay.
    pub const STEPS: Field = Field::new(0, 3);
}

/// Upconverter of channel 0.
pub const DUC_CFG: Register = Register {
    address: 16,
    width: 8,
    reset: 0x00,
};

/// Fields of [`DUC_CFG`].
pub mod duc_cfg {
    use super::Field;

    /// Hold the phase at zero.
    pub const CLR: Field = Field::new(0, 1);

    /// Clear the phase once.
    pub const CLR_ONCE: Field = Field::new(1, 1);

    /// Source of the DAC.
    pub const SOURCE: Field = Field::new(2, 2);
}

/// Its frequency word, the highest byte first.
pub const DUC_F: Register = Register {
    address: 18,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`DUC_F`].
pub mod duc_f {
    use super::Field;

    /// Frequency.
    pub const FTW: Field = Field::new(0, 32);
}

/// Its phase word, the highest byte first.
pub const DUC_P: Register = Register {
    address: 22,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`DUC_P`].
pub mod duc_p {
    use super::Field;

    /// Phase.
    pub const POW: Field = Field::new(0, 16);
}

/// A sample that went to the DAC, I and Q.
pub const DAC_DATA: Register = Register {
    address: 24,
    width: 32,
    reset: 0x00000000,
};

/// Sample that goes to the DAC for a test, I and Q.
pub const DAC_TEST: Register = Register {
    address: 28,
    width: 32,
    reset: 0x00000000,
};

/// Servo of channel 0; that of channel 1 follows.
pub const SERVO: Register = Register {
    address: 48,
    width: 8,
    reset: 0x00,
};

/// Fields of [`SERVO`].
pub mod servo {
    use super::Field;

    /// The servo sets the channel's amplitude.
    pub const ENABLE: Field = Field::new(0, 1);

    /// Its output stays.
    pub const HOLD: Field = Field::new(1, 1);

    /// Profile.
    pub const PROFILE: Field = Field::new(2, 2);
}

/// Amplitude and phase of an oscillator, in an event.
pub const TONE: Register = Register {
    address: 0,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`TONE`].
pub mod tone {
    use super::Field;

    /// Phase.
    pub const POW: Field = Field::new(16, 16);

    /// Hold the phase at zero.
    pub const CLR: Field = Field::new(15, 1);

    /// Amplitude.
    pub const ASF: Field = Field::new(0, 15);
}

/// Header of a frame's payload on the link, before the oscillators, lowest bit first.
pub const FRAME: Register = Register {
    address: 0,
    width: 18,
    reset: 0x00000,
};

/// Fields of [`FRAME`].
pub mod frame {
    use super::Field;

    /// RF channel whose oscillators follow, of each the frequency word (32 bits) and TONE.
    pub const CHANNEL: Field = Field::new(0, 1);

    /// A register is read or written.
    pub const REQUEST: Field = Field::new(1, 1);

    /// Written.
    pub const WRITE: Field = Field::new(2, 1);

    /// Which.
    pub const REGISTER: Field = Field::new(3, 7);

    /// Value to write.
    pub const DATA: Field = Field::new(10, 8);
}

/// All of them.
pub const ALL: [Register; 24] = [
    PORT, BOARD_ID, HW_REV, GW_REV, CFG, STA, CRC_ERR, LED, FAN, DUC_STB, SPI_CFG, SPI_DIVLEN, SPI_SEL, SPI_DATW,
    SPI_DATR, SYNC_DLY, DUC_CFG, DUC_F, DUC_P, DAC_DATA, DAC_TEST, SERVO, TONE, FRAME,
];
