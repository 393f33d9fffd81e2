//! Direct digital synthesiser, 1 GS/s, 14 bits: eight profiles, a RAM of 1024 words, a digital ramp generator. Analog
//! Devices, AD9910 data sheet, section "Register map and bit descriptions".
//!
//! Generated from `src/contracts/chips/ad9910.toml` by `src/contracts/generate.py`: do not edit.

use super::{WideField, WideRegister};

/// Ranges of the PLL's oscillators, by the number in CFR3.vco_sel. A row: lowest_hz, highest_hz.
pub const OSCILLATORS: [[f64; 2]; 6] = [
    [370_000_000.0, 510_000_000.0],
    [420_000_000.0, 590_000_000.0],
    [500_000_000.0, 700_000_000.0],
    [600_000_000.0, 880_000_000.0],
    [700_000_000.0, 950_000_000.0],
    [820_000_000.0, 1_150_000_000.0],
];

/// Latency in system clock cycles from an edge of SYNC_CLK to the output: single tone, RAM, ramp, output shift keying.
/// A row: phase, amplitude, matched_phase, matched_amplitude.
pub const LATENCY: [[f64; 4]; 4] = [
    [79.0, 47.0, 79.0, 79.0],
    [94.0, 58.0, 94.0, 106.0],
    [79.0, 47.0, 91.0, 91.0],
    [79.0, 47.0, 91.0, 91.0],
];

/// words of the RAM
pub const RAM_WORDS: u32 = 0x400;

/// Instruction byte on the serial port, followed by the data.
pub const INSTRUCTION: WideRegister = WideRegister {
    name: "INSTRUCTION",
    address: 0,
    count: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`INSTRUCTION`].
pub mod instruction {
    use super::WideField;

    /// The chip sends the register.
    pub const READ: WideField = WideField::new(7, 1);

    /// Register.
    pub const REGISTER: WideField = WideField::new(0, 5);
}

/// Instruction and data of a register of 16 bits in one.
pub const SHORT_WRITE: WideRegister = WideRegister {
    name: "SHORT_WRITE",
    address: 0,
    count: 0,
    width: 24,
    reset: 0x000000,
};

/// Fields of [`SHORT_WRITE`].
pub mod short_write {
    use super::WideField;

    /// Register.
    pub const REGISTER: WideField = WideField::new(16, 5);

    /// Value.
    pub const DATA: WideField = WideField::new(0, 16);
}

/// Control function register 1.
pub const CFR1: WideRegister = WideRegister {
    name: "CFR1",
    address: 0,
    count: 1,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`CFR1`].
pub mod cfr1 {
    use super::WideField;

    /// Play the RAM.
    pub const RAM_ENABLE: WideField = WideField::new(31, 1);

    /// Destination of the RAM data.
    pub const RAM_DESTINATION: WideField = WideField::new(29, 2);

    /// Of [`RAM_DESTINATION`].
    pub const RAM_DESTINATION_FTW: u64 = 0;

    /// Of [`RAM_DESTINATION`].
    pub const RAM_DESTINATION_POW: u64 = 1;

    /// Of [`RAM_DESTINATION`].
    pub const RAM_DESTINATION_ASF: u64 = 2;

    /// Of [`RAM_DESTINATION`].
    pub const RAM_DESTINATION_POWASF: u64 = 3;

    /// Manual control of the amplitude by the OSK pin.
    pub const MANUAL_OSK_EXTERNAL: WideField = WideField::new(23, 1);

    /// Correct the roll-off of the DAC.
    pub const INVERSE_SINC: WideField = WideField::new(22, 1);

    /// Automatic sequence of profiles.
    pub const INTERNAL_PROFILE: WideField = WideField::new(17, 4);

    /// Sine instead of cosine.
    pub const SINE_OUTPUT: WideField = WideField::new(16, 1);

    /// Load the ramp rate timer at an update.
    pub const DRG_LOAD_LRR: WideField = WideField::new(15, 1);

    /// Clear the ramp accumulator at an update, then release it.
    pub const DRG_AUTOCLEAR: WideField = WideField::new(14, 1);

    /// Clear the phase accumulator at an update, then release it.
    pub const PHASE_AUTOCLEAR: WideField = WideField::new(13, 1);

    /// Hold the ramp accumulator at zero.
    pub const DRG_CLEAR: WideField = WideField::new(12, 1);

    /// Hold the phase accumulator at zero.
    pub const PHASE_CLEAR: WideField = WideField::new(11, 1);

    /// Load the amplitude ramp rate timer at an update.
    pub const OSK_LOAD_ARR: WideField = WideField::new(10, 1);

    /// Output shift keying.
    pub const OSK_ENABLE: WideField = WideField::new(9, 1);

    /// Ramp of the amplitude instead of a switch.
    pub const SELECT_AUTO_OSK: WideField = WideField::new(8, 1);

    /// Power down: digital core, DAC, reference input, auxiliary DAC, from the highest bit on.
    pub const POWER_DOWN: WideField = WideField::new(4, 4);

    /// The power-down pin selects fast recovery instead of full power-down.
    pub const EXTERNAL_POWER_DOWN: WideField = WideField::new(3, 1);

    /// Serial port with four wires.
    pub const SDIO_INPUT_ONLY: WideField = WideField::new(1, 1);

    /// Lowest bit first on the serial port.
    pub const LSB_FIRST: WideField = WideField::new(0, 1);
}

/// Control function register 2.
pub const CFR2: WideRegister = WideRegister {
    name: "CFR2",
    address: 1,
    count: 1,
    width: 32,
    reset: 0x00400820,
};

/// Fields of [`CFR2`].
pub mod cfr2 {
    use super::WideField;

    /// Amplitude from single-tone profiles.
    pub const ASF_PROFILE_ENABLE: WideField = WideField::new(24, 1);

    /// The update pin outputs the internal updates.
    pub const INTERNAL_UPDATE: WideField = WideField::new(23, 1);

    /// SYNC_CLK pin driven.
    pub const SYNC_CLK_ENABLE: WideField = WideField::new(22, 1);

    /// Destination of the ramp.
    pub const DRG_DESTINATION: WideField = WideField::new(20, 2);

    /// Of [`DRG_DESTINATION`].
    pub const DRG_DESTINATION_FTW: u64 = 0;

    /// Of [`DRG_DESTINATION`].
    pub const DRG_DESTINATION_POW: u64 = 1;

    /// Of [`DRG_DESTINATION`].
    pub const DRG_DESTINATION_ASF: u64 = 2;

    /// Digital ramp.
    pub const DRG_ENABLE: WideField = WideField::new(19, 1);

    /// No-dwell at the upper limit: return at once.
    pub const DRG_NODWELL_HIGH: WideField = WideField::new(18, 1);

    /// No-dwell at the lower limit: return at once.
    pub const DRG_NODWELL_LOW: WideField = WideField::new(17, 1);

    /// Reads return the frequency in use.
    pub const EFFECTIVE_FTW: WideField = WideField::new(16, 1);

    /// Prescaler of the internal updates.
    pub const UPDATE_RATE: WideField = WideField::new(14, 2);

    /// PDCLK pin driven.
    pub const PDCLK_ENABLE: WideField = WideField::new(11, 1);

    /// PDCLK inverted.
    pub const PDCLK_INVERT: WideField = WideField::new(10, 1);

    /// TxEnable active low.
    pub const TXENABLE_INVERT: WideField = WideField::new(9, 1);

    /// Frequency, phase and amplitude take effect together.
    pub const MATCHED_LATENCY_ENABLE: WideField = WideField::new(7, 1);

    /// The parallel port holds its last value.
    pub const DATA_HOLD: WideField = WideField::new(6, 1);

    /// Disable monitoring of the synchronisation clock, and clear its error.
    pub const SYNC_VALIDATION_DISABLE: WideField = WideField::new(5, 1);

    /// Parallel data port.
    pub const PARALLEL_ENABLE: WideField = WideField::new(4, 1);

    /// Gain of the parallel port's frequency.
    pub const FM_GAIN: WideField = WideField::new(0, 4);
}

/// Control function register 3: the clock.
pub const CFR3: WideRegister = WideRegister {
    name: "CFR3",
    address: 2,
    count: 1,
    width: 32,
    reset: 0x1f3f4000,
};

/// Fields of [`CFR3`].
pub mod cfr3 {
    use super::WideField;

    /// Current of the REFCLK_OUT pin.
    pub const DRV0: WideField = WideField::new(28, 2);

    /// Oscillator of the PLL; 6 and 7: none.
    pub const VCO_SEL: WideField = WideField::new(24, 3);

    /// Current of the charge pump, in steps of 25 uA from 212 uA on.
    pub const ICP: WideField = WideField::new(19, 3);

    /// Reference not divided by two.
    pub const REFCLK_DIVIDER_BYPASS: WideField = WideField::new(15, 1);

    /// 0: hold this divider in reset.
    pub const REFCLK_DIVIDER_RESETB: WideField = WideField::new(14, 1);

    /// Hold the phase detector in reset.
    pub const PFD_RESET: WideField = WideField::new(10, 1);

    /// System clock from the PLL.
    pub const PLL_ENABLE: WideField = WideField::new(8, 1);

    /// Multiplier of the reference.
    pub const PLL_N: WideField = WideField::new(1, 7);
}

/// Auxiliary DAC, which sets the full scale of the output.
pub const AUX_DAC: WideRegister = WideRegister {
    name: "AUX_DAC",
    address: 3,
    count: 1,
    width: 32,
    reset: 0x00007f7f,
};

/// Fields of [`AUX_DAC`].
pub mod aux_dac {
    use super::WideField;

    /// Current at full scale.
    pub const FULL_SCALE_CURRENT: WideField = WideField::new(0, 8);
}

/// Rate of the internal updates.
pub const IO_UPDATE: WideRegister = WideRegister {
    name: "IO_UPDATE",
    address: 4,
    count: 1,
    width: 32,
    reset: 0xffffffff,
};

/// Fields of [`IO_UPDATE`].
pub mod io_update {
    use super::WideField;

    /// Periods of a quarter of the system clock between updates.
    pub const RATE: WideField = WideField::new(0, 32);
}

/// Frequency, if not given by a profile.
pub const FTW: WideRegister = WideRegister {
    name: "FTW",
    address: 7,
    count: 1,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`FTW`].
pub mod ftw {
    use super::WideField;

    /// Frequency word.
    pub const FTW: WideField = WideField::new(0, 32);
}

/// Phase, if not given by a profile.
pub const POW: WideRegister = WideRegister {
    name: "POW",
    address: 8,
    count: 1,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`POW`].
pub mod pow {
    use super::WideField;

    /// Phase word.
    pub const POW: WideField = WideField::new(0, 16);
}

/// Amplitude, if not given by a profile, and its ramp.
pub const ASF: WideRegister = WideRegister {
    name: "ASF",
    address: 9,
    count: 1,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`ASF`].
pub mod asf {
    use super::WideField;

    /// Periods of a quarter of the system clock for a step of the ramp.
    pub const RAMP_RATE: WideField = WideField::new(16, 16);

    /// Amplitude word.
    pub const ASF: WideField = WideField::new(2, 14);

    /// Size of a step: 1, 2, 4, 8.
    pub const STEP: WideField = WideField::new(0, 2);
}

/// Synchronisation of several chips.
pub const SYNC: WideRegister = WideRegister {
    name: "SYNC",
    address: 10,
    count: 1,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`SYNC`].
pub mod sync {
    use super::WideField;

    /// Half width of the window without edges.
    pub const WINDOW: WideField = WideField::new(28, 4);

    /// Follow the SYNC_IN pins.
    pub const RECEIVER_ENABLE: WideField = WideField::new(27, 1);

    /// Drive the SYNC_OUT pins.
    pub const GENERATOR_ENABLE: WideField = WideField::new(26, 1);

    /// SYNC_OUT from the falling edge.
    pub const GENERATOR_POLARITY: WideField = WideField::new(25, 1);

    /// State of the clock generator at an edge of SYNC_IN.
    pub const PRESET: WideField = WideField::new(18, 6);

    /// Delay of SYNC_OUT.
    pub const OUT_DELAY: WideField = WideField::new(11, 5);

    /// Delay of SYNC_IN.
    pub const IN_DELAY: WideField = WideField::new(3, 5);
}

/// Limits of the digital ramp.
pub const RAMP_LIMIT: WideRegister = WideRegister {
    name: "RAMP_LIMIT",
    address: 11,
    count: 1,
    width: 64,
    reset: 0x0000000000000000,
};

/// Fields of [`RAMP_LIMIT`].
pub mod ramp_limit {
    use super::WideField;

    /// Upper limit.
    pub const UPPER: WideField = WideField::new(32, 32);

    /// Lower limit.
    pub const LOWER: WideField = WideField::new(0, 32);
}

/// Steps of the digital ramp.
pub const RAMP_STEP: WideRegister = WideRegister {
    name: "RAMP_STEP",
    address: 12,
    count: 1,
    width: 64,
    reset: 0x0000000000000000,
};

/// Fields of [`RAMP_STEP`].
pub mod ramp_step {
    use super::WideField;

    /// Step down.
    pub const DOWN: WideField = WideField::new(32, 32);

    /// Step up.
    pub const UP: WideField = WideField::new(0, 32);
}

/// Rates of the digital ramp.
pub const RAMP_RATE: WideRegister = WideRegister {
    name: "RAMP_RATE",
    address: 13,
    count: 1,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`RAMP_RATE`].
pub mod ramp_rate {
    use super::WideField;

    /// Periods of a quarter of the system clock for a step down.
    pub const DOWN: WideField = WideField::new(16, 16);

    /// Periods of a quarter of the system clock for a step up.
    pub const UP: WideField = WideField::new(0, 16);
}

/// A profile as a single tone.
pub const PROFILE: WideRegister = WideRegister {
    name: "PROFILE",
    address: 14,
    count: 8,
    width: 64,
    reset: 0x0000000000000000,
};

/// Fields of [`PROFILE`].
pub mod profile {
    use super::WideField;

    /// Amplitude word.
    pub const ASF: WideField = WideField::new(48, 14);

    /// Phase word.
    pub const POW: WideField = WideField::new(32, 16);

    /// Frequency word.
    pub const FTW: WideField = WideField::new(0, 32);
}

/// A profile as a range of the RAM, while the RAM is enabled.
pub const RAM_PROFILE: WideRegister = WideRegister {
    name: "RAM_PROFILE",
    address: 14,
    count: 8,
    width: 64,
    reset: 0x0000000000000000,
};

/// Fields of [`RAM_PROFILE`].
pub mod ram_profile {
    use super::WideField;

    /// Periods of a quarter of the system clock for a word.
    pub const STEP: WideField = WideField::new(40, 16);

    /// Last word.
    pub const END: WideField = WideField::new(30, 10);

    /// First word.
    pub const START: WideField = WideField::new(14, 10);

    /// Return to the first word at the end of a ramp.
    pub const NODWELL_HIGH: WideField = WideField::new(5, 1);

    /// In direct switch mode: change at a zero crossing of the phase.
    pub const ZERO_CROSSING: WideField = WideField::new(3, 1);

    /// Order of the words.
    pub const MODE: WideField = WideField::new(0, 3);

    /// Of [`MODE`].
    pub const MODE_DIRECTSWITCH: u64 = 0;

    /// Of [`MODE`].
    pub const MODE_RAMPUP: u64 = 1;

    /// Of [`MODE`].
    pub const MODE_BIDIR_RAMP: u64 = 2;

    /// Of [`MODE`].
    pub const MODE_CONT_BIDIR_RAMP: u64 = 3;

    /// Of [`MODE`].
    pub const MODE_CONT_RAMPUP: u64 = 4;
}

/// Words of the RAM: messages go down the selected profile, playback goes up. Single quantities are left-aligned.
pub const RAM: WideRegister = WideRegister {
    name: "RAM",
    address: 22,
    count: 1,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`RAM`].
pub mod ram {
    use super::WideField;

    /// Phase word.
    pub const POW: WideField = WideField::new(16, 16);

    /// Amplitude word, if the RAM contains amplitudes only.
    pub const ASF: WideField = WideField::new(18, 14);

    /// Amplitude word, if the RAM contains phase and amplitude.
    pub const POLAR_ASF: WideField = WideField::new(2, 14);
}

/// Calibration word in the EEPROM of an Urukul that belongs to an SU-Servo.
pub const STORED_DELAYS_OF_SERVO: WideRegister = WideRegister {
    name: "STORED_DELAYS_OF_SERVO",
    address: 0,
    count: 0,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`STORED_DELAYS_OF_SERVO`].
pub mod stored_delays_of_servo {
    use super::WideField;

    /// Delay of SYNC_IN of a channel.
    pub const SYNC_DELAY_SEED: WideField = WideField::new(0, 5);

    /// Delay of the update; all ones: none.
    pub const IO_UPDATE_DELAY: WideField = WideField::new(20, 12);
}

/// Calibration word in the EEPROM of the card, if the device database refers to it.
pub const STORED_DELAYS: WideRegister = WideRegister {
    name: "STORED_DELAYS",
    address: 0,
    count: 0,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`STORED_DELAYS`].
pub mod stored_delays {
    use super::WideField;

    /// Delay of SYNC_IN, negative if the chip is not synchronised.
    pub const SYNC_DELAY_SEED: WideField = WideField::new(24, 8);

    /// Delay of the update.
    pub const IO_UPDATE_DELAY: WideField = WideField::new(16, 8);
}

/// All of them.
pub const ALL: [WideRegister; 19] = [
    INSTRUCTION,
    SHORT_WRITE,
    CFR1,
    CFR2,
    CFR3,
    AUX_DAC,
    IO_UPDATE,
    FTW,
    POW,
    ASF,
    SYNC,
    RAMP_LIMIT,
    RAMP_STEP,
    RAMP_RATE,
    PROFILE,
    RAM_PROFILE,
    RAM,
    STORED_DELAYS_OF_SERVO,
    STORED_DELAYS,
];
