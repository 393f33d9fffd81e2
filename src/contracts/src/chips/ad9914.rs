//! Direct digital synthesiser, 3.5 GS/s, 12 bits: eight profiles, a ramp generator, a programmable modulus. AD9914 data
//! sheet, sections "Register map", "Programmable modulus mode", "DAC calibration output".
//!
//! Generated from `src/contracts/chips/ad9914.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// addresses of the parallel port in a register
pub const ADDRESSES: u32 = 4;

/// address of the lower half of a register, from its first one
pub const LOWER_HALF: u32 = 1;

/// of the upper half
pub const UPPER_HALF: u32 = 3;

/// denominator of the fraction that the driver adds to frequency words
pub const MODULUS_B: u32 = 0x8000_0000;

/// cycles of the system clock that the DAC's calibration takes
pub const CALIBRATION_CYCLES: u32 = 0x7_2a80;

/// slowest system clock, Hz
pub const SMALLEST_CLOCK: f64 = 500_000_000.0;

/// fastest system clock, Hz
pub const LARGEST_CLOCK: f64 = 3_500_000_000.0;

/// time for the DAC's calibration in s, sufficient for every clock
pub const CALIBRATION_S: f64 = 0.001;

/// Of the gateware's bus: update pulse for the selected chips.
pub const BUS_UPDATE: Register = Register {
    address: 128,
    width: 16,
    reset: 0x0000,
};

/// Of the gateware's bus: lines to the chips.
pub const BUS_LINES: Register = Register {
    address: 129,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`BUS_LINES`].
pub mod bus_lines {
    use super::Field;

    /// Reset pin of all chips.
    pub const HOLD: Field = Field::new(0, 1);

    /// Chips selected, a bit each.
    pub const CHIPS: Field = Field::new(1, 15);
}

/// Control function register 1.
pub const CFR1: Register = Register {
    address: 0,
    width: 32,
    reset: 0x00010008,
};

/// Fields of [`CFR1`].
pub mod cfr1 {
    use super::Field;

    /// Calibrate the PLL's oscillator.
    pub const VCO_CAL_ENABLE: Field = Field::new(24, 1);

    /// The parallel port is sampled continuously.
    pub const PARALLEL_STREAMING: Field = Field::new(17, 1);

    /// Sine instead of cosine.
    pub const SINE_OUTPUT: Field = Field::new(16, 1);

    /// Updates load the ramp's rate.
    pub const LOAD_LRR: Field = Field::new(15, 1);

    /// Updates clear the ramp.
    pub const DRG_AUTOCLEAR: Field = Field::new(14, 1);

    /// Updates clear the phase accumulator.
    pub const PHASE_AUTOCLEAR: Field = Field::new(13, 1);

    /// Hold the ramp at zero.
    pub const DRG_CLEAR: Field = Field::new(12, 1);

    /// Hold the phase accumulator at zero.
    pub const PHASE_CLEAR: Field = Field::new(11, 1);

    /// Output shift keying by the pin OSK.
    pub const EXTERNAL_OSK: Field = Field::new(9, 1);

    /// Amplitude words act.
    pub const OSK_ENABLE: Field = Field::new(8, 1);

    /// Stop the clock of the logic.
    pub const DIGITAL_POWER_DOWN: Field = Field::new(7, 1);

    /// Stop the DAC.
    pub const DAC_POWER_DOWN: Field = Field::new(6, 1);

    /// Stop the reference's input.
    pub const REFCLK_POWER_DOWN: Field = Field::new(5, 1);

    /// As after a reset: the power-down pin stops everything.
    pub const FAST_RECOVERY: Field = Field::new(3, 1);
}

/// Control function register 2.
pub const CFR2: Register = Register {
    address: 1,
    width: 32,
    reset: 0x00000900,
};

/// Fields of [`CFR2`].
pub mod cfr2 {
    use super::Field;

    /// Frequency, phase and amplitude of profiles.
    pub const PROFILE_ENABLE: Field = Field::new(23, 1);

    /// Of the parallel data port.
    pub const PARALLEL_ENABLE: Field = Field::new(22, 1);

    /// Destination of the ramp.
    pub const DRG_DESTINATION: Field = Field::new(20, 2);

    /// Of [`DRG_DESTINATION`].
    pub const DRG_DESTINATION_FREQUENCY: u32 = 0;

    /// Of [`DRG_DESTINATION`].
    pub const DRG_DESTINATION_PHASE: u32 = 1;

    /// Of [`DRG_DESTINATION`].
    pub const DRG_DESTINATION_AMPLITUDE: u32 = 2;

    /// Ramp generator.
    pub const DRG_ENABLE: Field = Field::new(19, 1);

    /// No-dwell at the upper limit of a ramp.
    pub const NODWELL_HIGH: Field = Field::new(18, 1);

    /// No-dwell at the lower limit of a ramp.
    pub const NODWELL_LOW: Field = Field::new(17, 1);

    /// Programmable modulus: the frequency word has a fraction.
    pub const MODULUS_ENABLE: Field = Field::new(16, 1);

    /// Amplitude, phase and frequency change at one time.
    pub const MATCHED_LATENCY: Field = Field::new(15, 1);

    /// Ramps leave out a range.
    pub const FREQUENCY_JUMP: Field = Field::new(14, 1);

    /// The pin DROVER shows the end of a ramp.
    pub const DRG_OVER: Field = Field::new(13, 1);

    /// The pin SYNC_CLK shows its clock.
    pub const SYNC_CLK_ENABLE: Field = Field::new(11, 1);
}

/// Control function register 4; other bits must keep their reset values.
pub const CFR4: Register = Register {
    address: 3,
    width: 32,
    reset: 0x00052120,
};

/// Fields of [`CFR4`].
pub mod cfr4 {
    use super::Field;

    /// No SYNC_OUT.
    pub const AUX_DIVIDER_POWER_DOWN: Field = Field::new(26, 1);

    /// No clock for the calibration.
    pub const DAC_CAL_CLOCK_POWER_DOWN: Field = Field::new(25, 1);

    /// Calibrate the DAC, required after each change of the clock.
    pub const DAC_CAL_ENABLE: Field = Field::new(24, 1);
}

/// Lower limit of ramps; with the programmable modulus the frequency word.
pub const MODULUS_FTW: Register = Register {
    address: 4,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`MODULUS_FTW`].
pub mod modulus_ftw {
    use super::Field;

    /// Frequency.
    pub const FTW: Field = Field::new(0, 32);
}

/// Upper limit of ramps; with the programmable modulus the denominator B of the fraction A/B.
pub const MODULUS_DENOMINATOR: Register = Register {
    address: 5,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`MODULUS_DENOMINATOR`].
pub mod modulus_denominator {
    use super::Field;

    /// Denominator.
    pub const B: Field = Field::new(0, 32);
}

/// Step of rising ramps; with the programmable modulus the numerator A.
pub const MODULUS_NUMERATOR: Register = Register {
    address: 6,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`MODULUS_NUMERATOR`].
pub mod modulus_numerator {
    use super::Field;

    /// Numerator.
    pub const A: Field = Field::new(0, 32);
}

/// Frequency word of profile 0.
pub const PROFILE_FREQUENCY: Register = Register {
    address: 11,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`PROFILE_FREQUENCY`].
pub mod profile_frequency {
    use super::Field;

    /// Frequency, 2^32 for the system clock.
    pub const FTW: Field = Field::new(0, 32);
}

/// Amplitude and phase of profile 0.
pub const PROFILE_OUTPUT: Register = Register {
    address: 12,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`PROFILE_OUTPUT`].
pub mod profile_output {
    use super::Field;

    /// Amplitude.
    pub const ASF: Field = Field::new(16, 12);

    /// Phase.
    pub const POW: Field = Field::new(0, 16);
}

/// Synchronisation of several chips.
pub const USR0: Register = Register {
    address: 27,
    width: 32,
    reset: 0x00000800,
};

/// Fields of [`USR0`].
pub mod usr0 {
    use super::Field;

    /// The PLL has locked.
    pub const PLL_LOCK: Field = Field::new(24, 1);

    /// The calibration waits for SYNC_IN, and starts the clocks with it.
    pub const CAL_WITH_SYNC: Field = Field::new(6, 1);

    /// Delay of SYNC_OUT.
    pub const SYNC_OUT_DELAY: Field = Field::new(3, 3);

    /// Delay of SYNC_IN.
    pub const SYNC_IN_DELAY: Field = Field::new(0, 3);
}

/// All of them.
pub const ALL: [Register; 11] = [
    BUS_UPDATE,
    BUS_LINES,
    CFR1,
    CFR2,
    CFR4,
    MODULUS_FTW,
    MODULUS_DENOMINATOR,
    MODULUS_NUMERATOR,
    PROFILE_FREQUENCY,
    PROFILE_OUTPUT,
    USR0,
];
