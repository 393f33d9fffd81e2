//! DAC with four channels of 16 bits, 1.25 GS/s: interpolation, mixers with an oscillator, PLL. Texas Instruments,
//! DAC34H84 data sheet (SLAS751), section "Register map".
//!
//! Generated from `src/contracts/chips/dac34h84.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// bit of the address byte: read
pub const READ: u32 = 128;

/// content of ID
pub const VERSION: u32 = 0x5409;

/// content of CONFIG0 after a reset of the chip
pub const AFTER_RESET: u32 = 0x49c;

/// first of the registers with the words that a test of the inputs expects, twice
pub const IOTEST_PATTERN: u32 = 37;

/// such words, each time
pub const IOTEST_WORDS: u32 = 4;

/// samples of the mixers' oscillator in a second
pub const SAMPLE_RATE: u32 = 1_000_000_000;

/// Interpolation, FIFO, alarm pin.
pub const CONFIG0: Register = Register {
    address: 0,
    width: 16,
    reset: 0x019c,
};

/// Fields of [`CONFIG0`].
pub mod config0 {
    use super::Field;

    /// Offset correction of the channel pairs.
    pub const QMC_OFFSET_ENA: Field = Field::new(14, 2);

    /// Gain and phase correction of the channel pairs.
    pub const QMC_CORR_ENA: Field = Field::new(12, 2);

    /// Interpolation, in powers of two.
    pub const INTERPOLATION: Field = Field::new(8, 4);

    /// FIFO at the input.
    pub const FIFO_ENA: Field = Field::new(7, 1);

    /// Alarm at its pin.
    pub const ALARM_OUT_ENA: Field = Field::new(4, 1);

    /// Alarm is high.
    pub const ALARM_OUT_POL: Field = Field::new(3, 1);

    /// Synchronise the clock divider.
    pub const CLKDIV_SYNC_ENA: Field = Field::new(2, 1);

    /// Correction of the sin(x)/x roll-off of the channel pairs.
    pub const INVSINC_ENA: Field = Field::new(0, 2);
}

/// Test, parity.
pub const CONFIG1: Register = Register {
    address: 1,
    width: 16,
    reset: 0x040e,
};

/// Fields of [`CONFIG1`].
pub mod config1 {
    use super::Field;

    /// Compare the input with the test pattern.
    pub const IOTEST_ENA: Field = Field::new(15, 1);

    /// Reset alarms periodically.
    pub const CNT64_ENA: Field = Field::new(12, 1);

    /// Odd parity.
    pub const ODDEVEN_PARITY: Field = Field::new(11, 1);

    /// One parity bit for all lanes.
    pub const SINGLE_PARITY_ENA: Field = Field::new(10, 1);

    /// A parity bit for each channel pair.
    pub const DUAL_PARITY_ENA: Field = Field::new(9, 1);

    /// Reverse the order of the lanes.
    pub const REV_INTERFACE: Field = Field::new(8, 1);

    /// Invert a channel.
    pub const DAC_COMPLEMENT: Field = Field::new(4, 4);

    /// Alarms of the FIFO.
    pub const ALARM_FIFO: Field = Field::new(1, 3);
}

/// Outputs without a clock, serial port, mixers.
pub const CONFIG2: Register = Register {
    address: 2,
    width: 16,
    reset: 0x70a2,
};

/// Fields of [`CONFIG2`].
pub mod config2 {
    use super::Field;

    /// Output off without a DAC clock.
    pub const DACCLKGONE_ENA: Field = Field::new(14, 1);

    /// Output off without a data clock.
    pub const DATACLKGONE_ENA: Field = Field::new(13, 1);

    /// Output off when the FIFO collides.
    pub const COLLISIONGONE_ENA: Field = Field::new(12, 1);

    /// Serial port with four wires.
    pub const SIF4_ENA: Field = Field::new(7, 1);

    /// Mixers on.
    pub const MIXER_ENA: Field = Field::new(6, 1);

    /// Mixers with 6 dB of gain.
    pub const MIXER_GAIN: Field = Field::new(5, 1);

    /// Oscillators of the mixers on.
    pub const NCO_ENA: Field = Field::new(4, 1);

    /// Reverse the bits.
    pub const REVBUS: Field = Field::new(3, 1);

    /// Two's complement.
    pub const TWOS: Field = Field::new(1, 1);
}

/// Current of the outputs.
pub const CONFIG3: Register = Register {
    address: 3,
    width: 16,
    reset: 0x9000,
};

/// Fields of [`CONFIG3`].
pub mod config3 {
    use super::Field;

    /// Current.
    pub const COARSE_DAC: Field = Field::new(12, 4);

    /// Outputs on, beside the pin.
    pub const SIF_TXENABLE: Field = Field::new(0, 1);
}

/// Lanes that differed from the test pattern.
pub const IOTEST: Register = Register {
    address: 4,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`IOTEST`].
pub mod iotest {
    use super::Field;

    /// Lanes.
    pub const RESULTS: Field = Field::new(0, 16);
}

/// Alarms.
pub const ALARMS: Register = Register {
    address: 5,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`ALARMS`].
pub mod alarms {
    use super::Field;

    /// Of the FIFO.
    pub const FIFO: Field = Field::new(11, 3);

    /// Of the input's test.
    pub const IO_TEST: Field = Field::new(7, 1);

    /// Of the PLL.
    pub const PLL_LOCK: Field = Field::new(6, 1);
}

/// Temperature.
pub const TEMPERATURE: Register = Register {
    address: 6,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`TEMPERATURE`].
pub mod temperature {
    use super::Field;

    /// °C.
    pub const CELSIUS: Field = Field::new(8, 8);
}

/// Masks of alarms.
pub const CONFIG7: Register = Register {
    address: 7,
    width: 16,
    reset: 0x4040,
};

/// Fields of [`CONFIG7`].
pub mod config7 {
    use super::Field;

    /// Zeros in the FIFO's pointers.
    pub const ZEROCHK: Field = Field::new(15, 1);

    /// FIFO collided.
    pub const FIFO_COLLISION: Field = Field::new(13, 1);

    /// FIFO nearly collided.
    pub const FIFO_1AWAY: Field = Field::new(12, 1);

    /// FIFO is off its middle.
    pub const FIFO_2AWAY: Field = Field::new(11, 1);

    /// No DAC clock.
    pub const DACCLK_GONE: Field = Field::new(10, 1);

    /// No data clock.
    pub const DATACLK_GONE: Field = Field::new(9, 1);

    /// Outputs off.
    pub const OUTPUT_GONE: Field = Field::new(8, 1);

    /// Input's test.
    pub const IOTEST: Field = Field::new(7, 1);

    /// PLL.
    pub const PLL: Field = Field::new(5, 1);

    /// Parity.
    pub const PARITY: Field = Field::new(1, 1);
}

/// Offset correction of channel A.
pub const CONFIG8: Register = Register {
    address: 8,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG8`].
pub mod config8 {
    use super::Field;

    /// Offset.
    pub const QMC_OFFSETA: Field = Field::new(0, 13);
}

/// Offset correction of channel B, FIFO.
pub const CONFIG9: Register = Register {
    address: 9,
    width: 16,
    reset: 0x4000,
};

/// Fields of [`CONFIG9`].
pub mod config9 {
    use super::Field;

    /// Distance of the FIFO's pointers.
    pub const FIFO_OFFSET: Field = Field::new(13, 3);

    /// Offset.
    pub const QMC_OFFSETB: Field = Field::new(0, 13);
}

/// Offset correction of channel C.
pub const CONFIG10: Register = Register {
    address: 10,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG10`].
pub mod config10 {
    use super::Field;

    /// Offset.
    pub const QMC_OFFSETC: Field = Field::new(0, 13);
}

/// Offset correction of channel D.
pub const CONFIG11: Register = Register {
    address: 11,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG11`].
pub mod config11 {
    use super::Field;

    /// Offset.
    pub const QMC_OFFSETD: Field = Field::new(0, 13);
}

/// Gain correction of channel A.
pub const CONFIG12: Register = Register {
    address: 12,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG12`].
pub mod config12 {
    use super::Field;

    /// Gain.
    pub const QMC_GAINA: Field = Field::new(0, 11);
}

/// Gain correction of channel B, coarse mixer.
pub const CONFIG13: Register = Register {
    address: 13,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG13`].
pub mod config13 {
    use super::Field;

    /// Mixer by 1/8 of the sample rate.
    pub const CMIX_FS8: Field = Field::new(15, 1);

    /// By 1/4.
    pub const CMIX_FS4: Field = Field::new(14, 1);

    /// By 1/2.
    pub const CMIX_FS2: Field = Field::new(13, 1);

    /// By -1/4.
    pub const CMIX_NFS4: Field = Field::new(12, 1);

    /// Gain.
    pub const QMC_GAINB: Field = Field::new(0, 11);
}

/// Gain correction of channel C.
pub const CONFIG14: Register = Register {
    address: 14,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG14`].
pub mod config14 {
    use super::Field;

    /// Gain.
    pub const QMC_GAINC: Field = Field::new(0, 11);
}

/// Gain correction of channel D, delays.
pub const CONFIG15: Register = Register {
    address: 15,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG15`].
pub mod config15 {
    use super::Field;

    /// Delay of the outputs A and B.
    pub const OUTPUT_DELAYAB: Field = Field::new(14, 2);

    /// Of C and D.
    pub const OUTPUT_DELAYCD: Field = Field::new(12, 2);

    /// Gain.
    pub const QMC_GAIND: Field = Field::new(0, 11);
}

/// Phase correction of the channels AB.
pub const CONFIG16: Register = Register {
    address: 16,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG16`].
pub mod config16 {
    use super::Field;

    /// Phase.
    pub const QMC_PHASEAB: Field = Field::new(0, 12);
}

/// Phase correction of the channels CD.
pub const CONFIG17: Register = Register {
    address: 17,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG17`].
pub mod config17 {
    use super::Field;

    /// Phase.
    pub const QMC_PHASECD: Field = Field::new(0, 12);
}

/// Phase of the oscillator of the channels AB.
pub const CONFIG18: Register = Register {
    address: 18,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG18`].
pub mod config18 {
    use super::Field;

    /// Phase.
    pub const PHASE_OFFSETAB: Field = Field::new(0, 16);
}

/// Phase of the oscillator of the channels CD.
pub const CONFIG19: Register = Register {
    address: 19,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG19`].
pub mod config19 {
    use super::Field;

    /// Phase.
    pub const PHASE_OFFSETCD: Field = Field::new(0, 16);
}

/// Frequency of the oscillator of the channels AB, lower half.
pub const CONFIG20: Register = Register {
    address: 20,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG20`].
pub mod config20 {
    use super::Field;

    /// Word.
    pub const PHASE_ADDAB_LOW: Field = Field::new(0, 16);
}

/// Frequency of the oscillator of the channels AB, higher half.
pub const CONFIG21: Register = Register {
    address: 21,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG21`].
pub mod config21 {
    use super::Field;

    /// Word.
    pub const PHASE_ADDAB_HIGH: Field = Field::new(0, 16);
}

/// Frequency of the oscillator of the channels CD, lower half.
pub const CONFIG22: Register = Register {
    address: 22,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG22`].
pub mod config22 {
    use super::Field;

    /// Word.
    pub const PHASE_ADDCD_LOW: Field = Field::new(0, 16);
}

/// Frequency of the oscillator of the channels CD, higher half.
pub const CONFIG23: Register = Register {
    address: 23,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG23`].
pub mod config23 {
    use super::Field;

    /// Word.
    pub const PHASE_ADDCD_HIGH: Field = Field::new(0, 16);
}

/// PLL; when read, its loop filter's voltage.
pub const CONFIG24: Register = Register {
    address: 24,
    width: 16,
    reset: 0x2c60,
};

/// Fields of [`CONFIG24`].
pub mod config24 {
    use super::Field;

    /// Reset.
    pub const PLL_RESET: Field = Field::new(12, 1);

    /// Synchronise the divider.
    pub const PLL_NDIVSYNC_ENA: Field = Field::new(11, 1);

    /// On.
    pub const PLL_ENA: Field = Field::new(10, 1);

    /// Charge pump.
    pub const PLL_CP: Field = Field::new(6, 2);

    /// Prescaler.
    pub const PLL_P: Field = Field::new(3, 3);

    /// Voltage, read only.
    pub const LFVOLT: Field = Field::new(0, 3);
}

/// Dividers of the PLL.
pub const CONFIG25: Register = Register {
    address: 25,
    width: 16,
    reset: 0x8814,
};

/// Fields of [`CONFIG25`].
pub mod config25 {
    use super::Field;

    /// Multiplier twice.
    pub const PLL_M2: Field = Field::new(15, 1);

    /// Multiplier.
    pub const PLL_M: Field = Field::new(8, 7);

    /// Divider of the reference, less one.
    pub const PLL_N: Field = Field::new(4, 4);

    /// Tuning range.
    pub const PLL_VCOTUNE: Field = Field::new(2, 2);
}

/// Oscillator of the PLL; what sleeps.
pub const CONFIG26: Register = Register {
    address: 26,
    width: 16,
    reset: 0xfc00,
};

/// Fields of [`CONFIG26`].
pub mod config26 {
    use super::Field;

    /// Coarse tuning.
    pub const PLL_VCO: Field = Field::new(10, 6);

    /// Bias.
    pub const BIAS_SLEEP: Field = Field::new(7, 1);

    /// Temperature sensor.
    pub const TSENSE_SLEEP: Field = Field::new(6, 1);

    /// PLL.
    pub const PLL_SLEEP: Field = Field::new(5, 1);

    /// Clock receiver.
    pub const CLKRECV_SLEEP: Field = Field::new(4, 1);

    /// Channels.
    pub const DAC_SLEEP: Field = Field::new(0, 4);
}

/// Reference.
pub const CONFIG27: Register = Register {
    address: 27,
    width: 16,
    reset: 0x0800,
};

/// Fields of [`CONFIG27`].
pub mod config27 {
    use super::Field;

    /// Reference from outside.
    pub const EXTREF_ENA: Field = Field::new(15, 1);

    /// Fuses off.
    pub const FUSE_SLEEP: Field = Field::new(11, 1);

    /// Analogue test.
    pub const ATEST: Field = Field::new(0, 6);
}

/// What synchronises corrections.
pub const CONFIG30: Register = Register {
    address: 30,
    width: 16,
    reset: 0x9999,
};

/// Fields of [`CONFIG30`].
pub mod config30 {
    use super::Field;

    /// Offsets of A and B.
    pub const SYNCSEL_QMCOFFSETAB: Field = Field::new(12, 4);

    /// Of C and D.
    pub const SYNCSEL_QMCOFFSETCD: Field = Field::new(8, 4);

    /// Gains and phases of A and B.
    pub const SYNCSEL_QMCCORRAB: Field = Field::new(4, 4);

    /// Of C and D.
    pub const SYNCSEL_QMCCORRCD: Field = Field::new(0, 4);
}

/// What synchronises mixers.
pub const CONFIG31: Register = Register {
    address: 31,
    width: 16,
    reset: 0x9988,
};

/// Fields of [`CONFIG31`].
pub mod config31 {
    use super::Field;

    /// Mixer of A and B.
    pub const SYNCSEL_MIXERAB: Field = Field::new(12, 4);

    /// Of C and D.
    pub const SYNCSEL_MIXERCD: Field = Field::new(8, 4);

    /// Oscillators.
    pub const SYNCSEL_NCO: Field = Field::new(4, 4);

    /// Input of the FIFO.
    pub const SYNCSEL_FIFO_INPUT: Field = Field::new(2, 2);

    /// Synchronise now: rising.
    pub const SIF_SYNC: Field = Field::new(1, 1);
}

/// What synchronises the FIFO.
pub const CONFIG32: Register = Register {
    address: 32,
    width: 16,
    reset: 0x2400,
};

/// Fields of [`CONFIG32`].
pub mod config32 {
    use super::Field;

    /// Input.
    pub const SYNCSEL_FIFOIN: Field = Field::new(12, 4);

    /// Output.
    pub const SYNCSEL_FIFOOUT: Field = Field::new(8, 4);

    /// Clock divider.
    pub const CLKDIV_SYNC_SEL: Field = Field::new(0, 1);
}

/// Paths from inputs to outputs.
pub const CONFIG34: Register = Register {
    address: 34,
    width: 16,
    reset: 0x1be4,
};

/// Fields of [`CONFIG34`].
pub mod config34 {
    use super::Field;

    /// Input of the path A.
    pub const PATH_A: Field = Field::new(14, 2);

    /// Of B.
    pub const PATH_B: Field = Field::new(12, 2);

    /// Of C.
    pub const PATH_C: Field = Field::new(10, 2);

    /// Of D.
    pub const PATH_D: Field = Field::new(8, 2);

    /// Path of the output A.
    pub const DAC_A: Field = Field::new(6, 2);

    /// Of B.
    pub const DAC_B: Field = Field::new(4, 2);

    /// Of C.
    pub const DAC_C: Field = Field::new(2, 2);

    /// Of D.
    pub const DAC_D: Field = Field::new(0, 2);
}

/// What the pin SLEEP switches off.
pub const CONFIG35: Register = Register {
    address: 35,
    width: 16,
    reset: 0xffff,
};

/// Fields of [`CONFIG35`].
pub mod config35 {
    use super::Field;

    /// Parts.
    pub const SLEEP_CNTL: Field = Field::new(0, 16);
}

/// Delays at the input.
pub const CONFIG36: Register = Register {
    address: 36,
    width: 16,
    reset: 0x4000,
};

/// Fields of [`CONFIG36`].
pub mod config36 {
    use super::Field;

    /// Data.
    pub const DATA_DLY: Field = Field::new(13, 3);

    /// Clock.
    pub const CLK_DLY: Field = Field::new(10, 3);
}

/// Test ramp.
pub const CONFIG45: Register = Register {
    address: 45,
    width: 16,
    reset: 0x0004,
};

/// Fields of [`CONFIG45`].
pub mod config45 {
    use super::Field;

    /// Reference of the divider.
    pub const OSTRTODIG_SEL: Field = Field::new(14, 1);

    /// Ramp on.
    pub const RAMP_ENA: Field = Field::new(13, 1);

    /// Outputs have SIFDAC.
    pub const SIFDAC_ENA: Field = Field::new(0, 1);
}

/// Group delays of A and B.
pub const CONFIG46: Register = Register {
    address: 46,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG46`].
pub mod config46 {
    use super::Field;

    /// Delay.
    pub const GRP_DELAYA: Field = Field::new(8, 8);

    /// Delay.
    pub const GRP_DELAYB: Field = Field::new(0, 8);
}

/// Group delays of C and D.
pub const CONFIG47: Register = Register {
    address: 47,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG47`].
pub mod config47 {
    use super::Field;

    /// Delay.
    pub const GRP_DELAYC: Field = Field::new(8, 8);

    /// Delay.
    pub const GRP_DELAYD: Field = Field::new(0, 8);
}

/// Level of the outputs for a test.
pub const CONFIG48: Register = Register {
    address: 48,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONFIG48`].
pub mod config48 {
    use super::Field;

    /// Level.
    pub const SIFDAC: Field = Field::new(0, 16);
}

/// Version.
pub const ID: Register = Register {
    address: 127,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`ID`].
pub mod id {
    use super::Field;

    /// 0x5409.
    pub const VERSION: Field = Field::new(0, 16);
}

/// All of them.
pub const ALL: [Register; 39] = [
    CONFIG0,
    CONFIG1,
    CONFIG2,
    CONFIG3,
    IOTEST,
    ALARMS,
    TEMPERATURE,
    CONFIG7,
    CONFIG8,
    CONFIG9,
    CONFIG10,
    CONFIG11,
    CONFIG12,
    CONFIG13,
    CONFIG14,
    CONFIG15,
    CONFIG16,
    CONFIG17,
    CONFIG18,
    CONFIG19,
    CONFIG20,
    CONFIG21,
    CONFIG22,
    CONFIG23,
    CONFIG24,
    CONFIG25,
    CONFIG26,
    CONFIG27,
    CONFIG30,
    CONFIG31,
    CONFIG32,
    CONFIG34,
    CONFIG35,
    CONFIG36,
    CONFIG45,
    CONFIG46,
    CONFIG47,
    CONFIG48,
    ID,
];
