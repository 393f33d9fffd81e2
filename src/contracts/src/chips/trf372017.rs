//! Modulator for I and Q with PLL and oscillators, 300 MHz to 4.8 GHz: seven registers of 32 bits. Texas Instruments,
//! TRF372017 data sheet (SLWS224), section "Register maps".
//!
//! Generated from `src/contracts/chips/trf372017.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// a message that asks for a register, whose number is in bits 30:28
pub const READ: u32 = 0x8000_0008;

/// lowest seven bits of register 0
pub const IDENTITY: u32 = 104;

/// Register 1: PLL reference, charge pump, calibration clock.
pub const REGISTER1: Register = Register {
    address: 0,
    width: 32,
    reset: 0x70100049,
};

/// Fields of [`REGISTER1`].
pub mod register1 {
    use super::Field;

    /// Divider of the reference, 1 to 8191.
    pub const RDIV: Field = Field::new(5, 13);

    /// Falling edges of the reference.
    pub const REF_INV: Field = Field::new(19, 1);

    /// The oscillator's frequency falls with its voltage.
    pub const NEG_VCO: Field = Field::new(20, 1);

    /// Charge pump current, 0 the highest.
    pub const ICP: Field = Field::new(21, 5);

    /// Twice that current.
    pub const ICP_DOUBLE: Field = Field::new(26, 1);

    /// Clock of the oscillator's calibration, in powers of two of the reference divided.
    pub const CAL_CLK_SEL: Field = Field::new(27, 4);
}

/// Register 2: PLL multiplier, choice of the oscillator.
pub const REGISTER2: Register = Register {
    address: 0,
    width: 32,
    reset: 0x082002ea,
};

/// Fields of [`REGISTER2`].
pub mod register2 {
    use super::Field;

    /// Multiplier, its integer part.
    pub const NINT: Field = Field::new(5, 16);

    /// Divider in front of the prescaler, in powers of two.
    pub const PLL_DIV_SEL: Field = Field::new(21, 2);

    /// Prescaler.
    pub const PRSC_SEL: Field = Field::new(23, 1);

    /// Of [`PRSC_SEL`].
    pub const PRSC_SEL_P4_5: u32 = 0;

    /// Of [`PRSC_SEL`].
    pub const PRSC_SEL_P8_9: u32 = 1;

    /// Oscillator, 0 the lowest.
    pub const VCO_SEL: Field = Field::new(26, 2);

    /// Calibrate only that oscillator.
    pub const VCOSEL_MODE: Field = Field::new(28, 1);

    /// Errors allowed while calibrating.
    pub const CAL_ACC: Field = Field::new(29, 2);

    /// Calibrate.
    pub const EN_CAL: Field = Field::new(31, 1);
}

/// Register 3: PLL multiplier, fraction.
pub const REGISTER3: Register = Register {
    address: 0,
    width: 32,
    reset: 0x0000000b,
};

/// Fields of [`REGISTER3`].
pub mod register3 {
    use super::Field;

    /// Multiplier, 2^25 for 1.
    pub const NFRAC: Field = Field::new(5, 25);
}

/// Register 4: What is off; the fraction's modulator.
pub const REGISTER4: Register = Register {
    address: 0,
    width: 32,
    reset: 0x4b00700c,
};

/// Fields of [`REGISTER4`].
pub mod register4 {
    use super::Field;

    /// PLL off.
    pub const PWD_PLL: Field = Field::new(5, 1);

    /// Charge pump off.
    pub const PWD_CP: Field = Field::new(6, 1);

    /// Oscillators off.
    pub const PWD_VCO: Field = Field::new(7, 1);

    /// Their multiplexer off.
    pub const PWD_VCOMUX: Field = Field::new(8, 1);

    /// Divider in front of the prescaler off.
    pub const PWD_DIV124: Field = Field::new(9, 1);

    /// Prescaler off.
    pub const PWD_PRESC: Field = Field::new(10, 1);

    /// Output of the local oscillator off.
    pub const PWD_OUT_BUFF: Field = Field::new(12, 1);

    /// Its divider off.
    pub const PWD_LO_DIV: Field = Field::new(13, 1);

    /// Divider of the modulator off.
    pub const PWD_TX_DIV: Field = Field::new(14, 1);

    /// Common mode voltage of the inputs off.
    pub const PWD_BB_VCM: Field = Field::new(15, 1);

    /// Offsets of the inputs off.
    pub const PWD_DC_OFF: Field = Field::new(16, 1);

    /// Oscillator from outside.
    pub const EN_EXTVCO: Field = Field::new(17, 1);

    /// Offset current of the charge pump.
    pub const EN_ISOURCE: Field = Field::new(18, 1);

    /// Precision of the lock detector, analogue.
    pub const LD_ANA_PREC: Field = Field::new(19, 2);

    /// Charge pump disconnected.
    pub const CP_TRISTATE: Field = Field::new(21, 2);

    /// Bias stabilises faster.
    pub const SPEEDUP: Field = Field::new(23, 1);

    /// Precision of the lock detector, digital.
    pub const LD_DIG_PREC: Field = Field::new(24, 1);

    /// Dither.
    pub const EN_DITH: Field = Field::new(25, 1);

    /// Order of the modulator, less one.
    pub const MOD_ORD: Field = Field::new(26, 2);

    /// Kind of dither.
    pub const DITH_SEL: Field = Field::new(28, 1);

    /// Delay of the modulator's clock.
    pub const DEL_SD_CLK: Field = Field::new(29, 2);

    /// Multiplier with a fraction.
    pub const EN_FRAC: Field = Field::new(31, 1);
}

/// Register 5: Bias.
pub const REGISTER5: Register = Register {
    address: 0,
    width: 32,
    reset: 0x0d23a28d,
};

/// Fields of [`REGISTER5`].
pub mod register5 {
    use super::Field;

    /// Resistor of the oscillators' bias.
    pub const VCOBIAS_RTRIM: Field = Field::new(5, 3);

    /// Resistor of the PLL's bias.
    pub const PLLBIAS_RTRIM: Field = Field::new(8, 2);

    /// Oscillators.
    pub const VCO_BIAS: Field = Field::new(10, 4);

    /// Their buffer.
    pub const VCOBUF_BIAS: Field = Field::new(14, 2);

    /// Their multiplexer.
    pub const VCOMUX_BIAS: Field = Field::new(16, 2);

    /// Output buffer of the local oscillator.
    pub const BUFOUT_BIAS: Field = Field::new(18, 2);

    /// Current of the calibration's reference.
    pub const VCO_CAL_IB: Field = Field::new(22, 1);

    /// Voltage of the calibration's reference.
    pub const VCO_CAL_REF: Field = Field::new(23, 3);

    /// Amplitude of the oscillators.
    pub const VCO_AMPL_CTRL: Field = Field::new(26, 2);

    /// Voltage of the oscillators.
    pub const VCO_VB_CTRL: Field = Field::new(28, 2);

    /// Bias of the lock detector.
    pub const EN_LD_ISOURCE: Field = Field::new(31, 1);
}

/// Register 6: Offsets of the inputs, dividers of the outputs.
pub const REGISTER6: Register = Register {
    address: 0,
    width: 32,
    reset: 0x9090100e,
};

/// Fields of [`REGISTER6`].
pub mod register6 {
    use super::Field;

    /// Offset current of the input I.
    pub const IOFF: Field = Field::new(5, 8);

    /// Of the input Q.
    pub const QOFF: Field = Field::new(13, 8);

    /// Common mode voltage of the inputs.
    pub const VREF_SEL: Field = Field::new(21, 3);

    /// Divider of the modulator, in powers of two.
    pub const TX_DIV_SEL: Field = Field::new(24, 2);

    /// Divider of the local oscillator's output, in powers of two.
    pub const LO_DIV_SEL: Field = Field::new(26, 2);

    /// Bias of the modulator's divider.
    pub const TX_DIV_BIAS: Field = Field::new(28, 2);

    /// Bias of the other one.
    pub const LO_DIV_BIAS: Field = Field::new(30, 2);
}

/// Register 7: Oscillator by hand, test output.
pub const REGISTER7: Register = Register {
    address: 0,
    width: 32,
    reset: 0xd041100f,
};

/// Fields of [`REGISTER7`].
pub mod register7 {
    use super::Field;

    /// Capacitors of the oscillator.
    pub const VCO_TRIM: Field = Field::new(7, 6);

    /// Count the oscillator's extremes.
    pub const VCO_TEST_MODE: Field = Field::new(14, 1);

    /// No calibration: `vco_sel` and `vco_trim` act.
    pub const CAL_BYPASS: Field = Field::new(15, 1);

    /// Signal at the pin LD.
    pub const MUX_CTRL: Field = Field::new(16, 3);

    /// Sign of the offset current.
    pub const ISOURCE_SINK: Field = Field::new(19, 1);

    /// Offset current.
    pub const ISOURCE_TRIM: Field = Field::new(20, 3);

    /// Time constant of the output buffer's switch.
    pub const PD_TC: Field = Field::new(23, 2);

    /// Bias of the common mode voltage.
    pub const IB_VCM_SEL: Field = Field::new(25, 1);

    /// Unit of the offsets.
    pub const DCOFFSET_I: Field = Field::new(29, 2);

    /// Bias from `vco_bias`.
    pub const VCO_BIAS_SEL: Field = Field::new(31, 1);
}

/// All of them.
pub const ALL: [Register; 7] = [
    REGISTER1, REGISTER2, REGISTER3, REGISTER4, REGISTER5, REGISTER6, REGISTER7,
];
