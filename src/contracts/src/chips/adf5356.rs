//! Fractional-N PLL with oscillator, 53.125 MHz to 6.8 GHz. Analog Devices, ADF5356 data sheet, section "Register
//! maps".
//!
//! Generated from `src/contracts/chips/adf5356.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// number of the last register
pub const LAST: u32 = 13;

/// modulus of the first fraction
pub const MODULUS1: u32 = 0x100_0000;

/// highest modulus of the second fraction
pub const HIGHEST_MODULUS2: u32 = 0xfff_ffff;

/// lowest frequency of the oscillator, Hz
pub const LOWEST_VCO: f64 = 3_400_000_000.0;

/// highest frequency of the oscillator, Hz
pub const HIGHEST_VCO: f64 = 6_800_000_000.0;

/// above this frequency of the oscillator, in Hz, the prescaler is 8/9
pub const PRESCALED: f64 = 6_000_000_000.0;

/// lowest whole part of the divider, with the prescaler 4/5
pub const LEAST_N: u32 = 23;

/// lowest whole part of the divider, with the prescaler 8/9
pub const LEAST_PRESCALED_N: u32 = 75;

/// highest frequency of the phase detector, Hz
pub const HIGHEST_PFD: f64 = 125_000_000.0;

/// highest frequency of the phase detector at which the oscillator is calibrated, Hz
pub const CALIBRATION_PFD: f64 = 75_000_000.0;

/// highest reference at a single-ended input, Hz
pub const HIGHEST_SINGLE_ENDED: f64 = 250_000_000.0;

/// highest divider of the reference
pub const HIGHEST_R: u32 = 0x3ff;

/// bleed current for a phase detector at BLEED_PFD
pub const BLEED_STEPS: u32 = 24;

/// the phase detector's frequency for BLEED_STEPS, Hz
pub const BLEED_PFD: u32 = 61_440_000;

/// clock of the band selection, Hz: the settings that run on real cards
pub const BAND_CLOCK: u32 = 160_000;

/// units of the timeout for the level of the oscillator
pub const ALC_WAIT: u32 = 31;

/// units of the timeout for the lock
pub const LOCK_WAIT: u32 = 13;

/// unit of both times, in periods of the phase detector
pub const TIMEOUT: u32 = 103;

/// Integer part; a write ends an update.
pub const R0: Register = Register {
    address: 0,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`R0`].
pub mod r0 {
    use super::Field;

    /// Calibrate the oscillator.
    pub const AUTOCAL: Field = Field::new(21, 1);

    /// Prescaler.
    pub const PRESCALER: Field = Field::new(20, 1);

    /// Of [`PRESCALER`].
    pub const PRESCALER_P4_5: u32 = 0;

    /// Of [`PRESCALER`].
    pub const PRESCALER_P8_9: u32 = 1;

    /// Whole part of the divider.
    pub const N: Field = Field::new(4, 16);
}

/// First fraction.
pub const R1: Register = Register {
    address: 1,
    width: 32,
    reset: 0x00000001,
};

/// Fields of [`R1`].
pub mod r1 {
    use super::Field;

    /// Of 2^24.
    pub const FRAC1: Field = Field::new(4, 24);
}

/// Second fraction, lower bits.
pub const R2: Register = Register {
    address: 2,
    width: 32,
    reset: 0x00000002,
};

/// Fields of [`R2`].
pub mod r2 {
    use super::Field;

    /// Numerator.
    pub const FRAC2: Field = Field::new(18, 14);

    /// Denominator.
    pub const MOD2: Field = Field::new(4, 14);
}

/// Phase.
pub const R3: Register = Register {
    address: 3,
    width: 32,
    reset: 0x00000003,
};

/// Fields of [`R3`].
pub mod r3 {
    use super::Field;

    /// Phase word.
    pub const PHASE: Field = Field::new(4, 24);
}

/// Reference, charge pump.
pub const R4: Register = Register {
    address: 4,
    width: 32,
    reset: 0x00000004,
};

/// Fields of [`R4`].
pub mod r4 {
    use super::Field;

    /// Signal at the pin MUXOUT.
    pub const MUXOUT: Field = Field::new(27, 3);

    /// Of [`MUXOUT`].
    pub const MUXOUT_OFF: u32 = 0;

    /// Of [`MUXOUT`].
    pub const MUXOUT_HIGH: u32 = 1;

    /// Of [`MUXOUT`].
    pub const MUXOUT_LOW: u32 = 2;

    /// Of [`MUXOUT`].
    pub const MUXOUT_R_DIVIDER: u32 = 3;

    /// Of [`MUXOUT`].
    pub const MUXOUT_N_DIVIDER: u32 = 4;

    /// Of [`MUXOUT`].
    pub const MUXOUT_ANALOG_LOCK: u32 = 5;

    /// Of [`MUXOUT`].
    pub const MUXOUT_DIGITAL_LOCK: u32 = 6;

    /// Double the reference.
    pub const R_DOUBLER: Field = Field::new(26, 1);

    /// Halve the reference after its divider.
    pub const R_DIV2: Field = Field::new(25, 1);

    /// Divider of the reference.
    pub const R_COUNTER: Field = Field::new(15, 10);

    /// RF divider takes effect with R0.
    pub const DOUBLE_BUFFER: Field = Field::new(14, 1);

    /// Charge pump, in steps of 0.3125 mA from the first one on.
    pub const CURRENT: Field = Field::new(10, 4);

    /// Reference input.
    pub const REF_MODE: Field = Field::new(9, 1);

    /// Of [`REF_MODE`].
    pub const REF_MODE_SINGLE_ENDED: u32 = 0;

    /// Of [`REF_MODE`].
    pub const REF_MODE_DIFFERENTIAL: u32 = 1;

    /// Levels.
    pub const MUX_LOGIC: Field = Field::new(8, 1);

    /// Of [`MUX_LOGIC`].
    pub const MUX_LOGIC_V1_8: u32 = 0;

    /// Of [`MUX_LOGIC`].
    pub const MUX_LOGIC_V3_3: u32 = 1;

    /// Phase detector.
    pub const PD_POLARITY: Field = Field::new(7, 1);

    /// Of [`PD_POLARITY`].
    pub const PD_POLARITY_NEGATIVE: u32 = 0;

    /// Of [`PD_POLARITY`].
    pub const PD_POLARITY_POSITIVE: u32 = 1;

    /// Power down.
    pub const POWER_DOWN: Field = Field::new(6, 1);

    /// Charge pump off.
    pub const CP_THREE_STATE: Field = Field::new(5, 1);

    /// Hold the dividers in reset.
    pub const COUNTER_RESET: Field = Field::new(4, 1);
}

/// Reserved.
pub const R5: Register = Register {
    address: 5,
    width: 32,
    reset: 0x00800025,
};

/// Outputs.
pub const R6: Register = Register {
    address: 6,
    width: 32,
    reset: 0x14000006,
};

/// Fields of [`R6`].
pub mod r6 {
    use super::Field;

    /// Bleed current on.
    pub const NEGATIVE_BLEED: Field = Field::new(29, 1);

    /// Input of the divider.
    pub const FEEDBACK: Field = Field::new(24, 1);

    /// Of [`FEEDBACK`].
    pub const FEEDBACK_DIVIDED: u32 = 0;

    /// Of [`FEEDBACK`].
    pub const FEEDBACK_FUNDAMENTAL: u32 = 1;

    /// Output divider, power of two.
    pub const RF_DIVIDER: Field = Field::new(21, 3);

    /// Bleed current, in steps of 3.75 uA.
    pub const BLEED: Field = Field::new(13, 8);

    /// Mute outputs until the PLL has locked.
    pub const MUTE: Field = Field::new(11, 1);

    /// Output A on.
    pub const ENABLE: Field = Field::new(6, 1);

    /// Power of output A: -4, -1, 2, 5 dBm.
    pub const POWER: Field = Field::new(4, 2);
}

/// Lock detector.
pub const R7: Register = Register {
    address: 7,
    width: 32,
    reset: 0x10000007,
};

/// Fields of [`R7`].
pub mod r7 {
    use super::Field;

    /// Synchronise the load with the reference.
    pub const LE_SYNC: Field = Field::new(25, 1);

    /// Lock detection in fractional mode.
    pub const PRECISION: Field = Field::new(5, 2);

    /// Of [`PRECISION`].
    pub const PRECISION_NS5: u32 = 0;

    /// Of [`PRECISION`].
    pub const PRECISION_NS6: u32 = 1;

    /// Of [`PRECISION`].
    pub const PRECISION_NS8: u32 = 2;

    /// Of [`PRECISION`].
    pub const PRECISION_NS12: u32 = 3;
}

/// Reserved.
pub const R8: Register = Register {
    address: 8,
    width: 32,
    reset: 0x102d0428,
};

/// Calibration times.
pub const R9: Register = Register {
    address: 9,
    width: 32,
    reset: 0x00000009,
};

/// Fields of [`R9`].
pub mod r9 {
    use super::Field;

    /// Phase detector to the clock of the band selection.
    pub const BAND_DIVIDER: Field = Field::new(24, 8);

    /// Unit of the two other times, in periods of the phase detector.
    pub const TIMEOUT: Field = Field::new(14, 10);

    /// Time for the level of the oscillator.
    pub const ALC_WAIT: Field = Field::new(9, 5);

    /// Time for the lock.
    pub const LOCK_WAIT: Field = Field::new(4, 5);
}

/// ADC of the calibration.
pub const R10: Register = Register {
    address: 10,
    width: 32,
    reset: 0x00c0000a,
};

/// Fields of [`R10`].
pub mod r10 {
    use super::Field;

    /// Phase detector to the ADC's clock, (periods - 2) / 4.
    pub const ADC_DIVIDER: Field = Field::new(6, 8);

    /// Convert with each write.
    pub const CONVERSION: Field = Field::new(5, 1);

    /// ADC on.
    pub const ENABLE: Field = Field::new(4, 1);
}

/// Reserved.
pub const R11: Register = Register {
    address: 11,
    width: 32,
    reset: 0x0061200b,
};

/// Phase resynchronisation.
pub const R12: Register = Register {
    address: 12,
    width: 32,
    reset: 0x000015fc,
};

/// Second fraction, upper bits.
pub const R13: Register = Register {
    address: 13,
    width: 32,
    reset: 0x0000000d,
};

/// Fields of [`R13`].
pub mod r13 {
    use super::Field;

    /// Numerator.
    pub const FRAC2: Field = Field::new(18, 14);

    /// Denominator.
    pub const MOD2: Field = Field::new(4, 14);
}

/// All of them.
pub const ALL: [Register; 14] = [R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13];
