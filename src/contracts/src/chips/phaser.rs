//! Card with two RF channels of 500 MS/s: digital upconverters, in the base gateware with five oscillators each. Sinara
//! Phaser, registers and link of its gateware.
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

/// time between updates of a servo
pub const SERVO_PERIOD_NS: u32 = 264;

/// bits of fraction of a servo's coefficients
pub const SERVO_FRACTION_BITS: u32 = 14;

/// cycle of the divider of the card's SPI bus
pub const SPI_TICK_NS: u32 = 4;

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

/// bits of the return lane in a frame, one for each word, of which 8 answer a read
pub const ANSWER_BITS: u32 = 10;

/// samples of a frame
pub const SAMPLES: u32 = 8;

/// upper bits of an accumulator in an announcement
pub const ANNOUNCED_PHASE_BITS: u32 = 24;

/// bits of the cycles since the first change in an announcement
pub const ANNOUNCED_CYCLES_BITS: u32 = 7;

/// time from the end of an announcement's frame to its first sample at the DAC
pub const ANNOUNCED_NS: u32 = 760;

/// number of the oldest sample in the frame loaded two frames after an announcement
pub const ANNOUNCED_FIRST: u32 = 5;

/// oscillators of a channel in the Miqro gateware
pub const MIQRO_OSCILLATORS: u32 = 16;

/// profiles of such an oscillator
pub const MIQRO_PROFILES: u32 = 32;

/// words of a channel's window memory
pub const MIQRO_WINDOW: u32 = 0x400;

/// bits of a channel's pulse in a body
pub const MIQRO_BITS: u32 = 128;

/// words of a pulse: window and four profiles of 5 bits, then six profiles each
pub const MIQRO_WORDS: u32 = 3;

/// bits of a profile in these words
pub const MIQRO_PROFILE_BITS: u32 = 5;

/// bits of the window's address, which begins the first one
pub const MIQRO_WINDOW_BITS: u32 = 10;

/// bits of such a word
pub const MIQRO_WORD_BITS: u32 = 30;

/// 2^32 steps of a frequency word of Miqro, Hz
pub const MIQRO_RATE: f64 = 250_000_000.0;

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

/// Fields of [`HW_REV`].
pub mod hw_rev {
    use super::Field;

    /// Revision.
    pub const REVISION: Field = Field::new(0, 4);

    /// Without upconverters.
    pub const BASEBAND: Field = Field::new(4, 1);
}

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

/// Fields of [`STA`].
pub mod sta {
    use super::Field;

    /// Alarm of the DAC.
    pub const DAC_ALARM: Field = Field::new(0, 1);

    /// The upconverter of the channel has locked.
    pub const LOCKED: Field = Field::new(1, 1);

    /// Termination of the channel's ADC.
    pub const TERMINATED: Field = Field::new(3, 1);

    /// The SPI bus has finished.
    pub const SPI_IDLE: Field = Field::new(5, 1);
}

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

/// Address in the memories of Miqro, the highest byte first; it advances after each word.
pub const MIQRO_ADDRESS: Register = Register {
    address: 114,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`MIQRO_ADDRESS`].
pub mod miqro_address {
    use super::Field;

    /// RF channel.
    pub const CHANNEL: Field = Field::new(15, 1);

    /// Memory of profiles, of windows otherwise.
    pub const PROFILES: Field = Field::new(14, 1);

    /// Word; of profiles: oscillator (4 bits), profile (5), half (1).
    pub const PLACE: Field = Field::new(0, 14);
}

/// Word for the memories of Miqro, the highest byte first.
pub const MIQRO_DATA: Register = Register {
    address: 116,
    width: 32,
    reset: 0x00000000,
};

/// Second word of a profile.
pub const MIQRO_OUTPUT: Register = Register {
    address: 0,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`MIQRO_OUTPUT`].
pub mod miqro_output {
    use super::Field;

    /// Amplitude.
    pub const ASF: Field = Field::new(0, 16);

    /// Phase.
    pub const POW: Field = Field::new(16, 16);
}

/// First word of a window, before its samples (I in the lower 16 bits, Q in the upper ones).
pub const MIQRO_HEADER: Register = Register {
    address: 0,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`MIQRO_HEADER`].
pub mod miqro_header {
    use super::Field;

    /// Samples.
    pub const LENGTH: Field = Field::new(0, 10);

    /// 4 ns cycles of a sample, less one.
    pub const RATE: Field = Field::new(10, 12);

    /// Bits by which the interpolated value is shifted.
    pub const SHIFT: Field = Field::new(22, 6);

    /// Order of the interpolation.
    pub const ORDER: Field = Field::new(28, 2);

    /// The first sample is ramped up to.
    pub const HEAD: Field = Field::new(30, 1);

    /// The last sample is ramped down from.
    pub const TAIL: Field = Field::new(31, 1);
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

/// Header of a frame's payload on the link, before its body, lowest bit first.
pub const FRAME: Register = Register {
    address: 0,
    width: 20,
    reset: 0x00000,
};

/// Fields of [`FRAME`].
pub mod frame {
    use super::Field;

    /// The register is written; otherwise it is read.
    pub const WRITE: Field = Field::new(0, 1);

    /// Register of the card.
    pub const REGISTER: Field = Field::new(1, 7);

    /// Value to write.
    pub const DATA: Field = Field::new(8, 8);

    /// What the body has; announcements are only in simulations.
    pub const KIND: Field = Field::new(16, 4);

    /// Of [`KIND`].
    pub const KIND_SAMPLES: u32 = 1;

    /// Of [`KIND`].
    pub const KIND_PULSES: u32 = 3;

    /// Of [`KIND`].
    pub const KIND_ANNOUNCED: u32 = 15;
}

/// A channel's part of a sample in a body, channel 0 lowest; 8 samples, the latest one lowest.
pub const SAMPLE: Register = Register {
    address: 0,
    width: 28,
    reset: 0x0000000,
};

/// Fields of [`SAMPLE`].
pub mod sample {
    use super::Field;

    /// I.
    pub const I: Field = Field::new(0, 14);

    /// Q.
    pub const Q: Field = Field::new(14, 14);
}

/// The first part of a channel's pulse in a body, channel 0 lowest; its words follow.
pub const MIQRO: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`MIQRO`].
pub mod miqro {
    use super::Field;

    /// There is one.
    pub const STROBE: Field = Field::new(0, 1);

    /// Time since the frame before was loaded, 4 ns.
    pub const DT: Field = Field::new(1, 7);
}

/// All of them.
pub const ALL: [Register; 30] = [
    PORT,
    BOARD_ID,
    HW_REV,
    GW_REV,
    CFG,
    STA,
    CRC_ERR,
    LED,
    FAN,
    DUC_STB,
    SPI_CFG,
    SPI_DIVLEN,
    SPI_SEL,
    SPI_DATW,
    SPI_DATR,
    SYNC_DLY,
    DUC_CFG,
    DUC_F,
    DUC_P,
    DAC_DATA,
    DAC_TEST,
    SERVO,
    MIQRO_ADDRESS,
    MIQRO_DATA,
    MIQRO_OUTPUT,
    MIQRO_HEADER,
    TONE,
    FRAME,
    SAMPLE,
    MIQRO,
];
