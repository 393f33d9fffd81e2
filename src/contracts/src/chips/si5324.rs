//! Clock synthesiser with a crystal: multiplies it or a clock at one of two inputs. Skyworks (Silicon Labs), Si53xx
//! family reference manual, section "Register map" of the Si5324.
//!
//! Generated from `src/contracts/chips/si5324.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// Dividers and bandwidth with which boards run, by input and output in Hz; the input is the crystal or an external
/// clock. A row: input, output, n1_hs, nc1_ls, n2_hs, n2_ls, n3, bandwidth.
pub const SETTINGS: [[u32; 8]; 7] = [
    [114285000, 125000000, 10, 4, 10, 19972, 4565, 4],
    [114285000, 100000000, 9, 6, 10, 33732, 7139, 3],
    [114285000, 150000000, 9, 4, 10, 33732, 7139, 3],
    [10000000, 125000000, 10, 4, 10, 300, 6, 4],
    [80000000, 125000000, 4, 10, 10, 250, 40, 4],
    [100000000, 125000000, 10, 4, 10, 260, 52, 4],
    [125000000, 125000000, 5, 8, 7, 360, 63, 4],
];

/// Address on the I2C bus, 7 bits, with A2 to A0 low.
pub const BUS_ADDRESS: u8 = 104;

/// Number in PARTNUM_RO.
pub const PART: u32 = 24;

/// Frequency of the crystal of all boards known, Hz.
pub const CRYSTAL: u32 = 114_285_000;

/// Lowest frequency of the oscillator, Hz.
pub const OSCILLATOR_MIN: u64 = 4_850_000_000;

/// Highest frequency of the oscillator, Hz.
pub const OSCILLATOR_MAX: u64 = 5_670_000_000;

/// Lowest frequency at the phase detector, Hz.
pub const F3_MIN: u64 = 2_000;

/// Highest frequency at the phase detector, Hz.
pub const F3_MAX: u64 = 2_000_000;

/// Least N1_HS and N2_HS, which have the number 0.
pub const HIGH_SPEED_MIN: u32 = 4;

/// Greatest N1_HS and N2_HS.
pub const HIGH_SPEED_MAX: u32 = 11;

/// Greatest NC1_LS, which is 1 or even, and N2_LS, which is even.
pub const LOW_SPEED_MAX: u32 = 0x10_0000;

/// Greatest N31 and N32.
pub const N3_MAX: u32 = 0x8_0000;

/// What the outputs are made from.
pub const CONTROL: Register = Register {
    address: 0,
    width: 8,
    reset: 0x14,
};

/// Fields of [`CONTROL`].
pub mod control {
    use super::Field;

    /// The crystal in place of input 2.
    pub const FREE_RUN: Field = Field::new(6, 1);

    /// Enable outputs even before the first calibration.
    pub const CKOUT_ALWAYS_ON: Field = Field::new(5, 1);

    /// The input is the output.
    pub const BYPASS_REG: Field = Field::new(1, 1);
}

/// Order of the inputs, for automatic selection.
pub const PRIORITY: Register = Register {
    address: 1,
    width: 8,
    reset: 0xe4,
};

/// Fields of [`PRIORITY`].
pub mod priority {
    use super::Field;

    /// Second choice.
    pub const CK_PRIOR2: Field = Field::new(2, 2);

    /// First choice.
    pub const CK_PRIOR1: Field = Field::new(0, 2);
}

/// Bandwidth of the loop.
pub const BANDWIDTH: Register = Register {
    address: 2,
    width: 8,
    reset: 0x42,
};

/// Fields of [`BANDWIDTH`].
pub mod bandwidth {
    use super::Field;

    /// Bandwidth, by a table that depends on the dividers.
    pub const BWSEL_REG: Field = Field::new(4, 4);
}

/// Selection of the input.
pub const SELECT: Register = Register {
    address: 3,
    width: 8,
    reset: 0x05,
};

/// Fields of [`SELECT`].
pub mod select {
    use super::Field;

    /// Input, while a register selects it.
    pub const CKSEL_REG: Field = Field::new(6, 2);

    /// Of [`CKSEL_REG`].
    pub const CKSEL_REG_CKIN1: u32 = 0;

    /// Of [`CKSEL_REG`].
    pub const CKSEL_REG_CKIN2: u32 = 1;

    /// Hold the frequency.
    pub const DHOLD: Field = Field::new(5, 1);

    /// Outputs silent until they are calibrated.
    pub const SQ_ICAL: Field = Field::new(4, 1);
}

/// Automatic selection of the input.
pub const AUTOSEL: Register = Register {
    address: 4,
    width: 8,
    reset: 0x92,
};

/// Fields of [`AUTOSEL`].
pub mod autosel {
    use super::Field;

    /// How inputs are selected.
    pub const AUTOSEL_REG: Field = Field::new(6, 2);

    /// Of [`AUTOSEL_REG`].
    pub const AUTOSEL_REG_MANUAL: u32 = 0;

    /// Of [`AUTOSEL_REG`].
    pub const AUTOSEL_REG_AUTOMATIC: u32 = 1;

    /// Of [`AUTOSEL_REG`].
    pub const AUTOSEL_REG_AUTOMATIC_REVERTIVE: u32 = 2;

    /// Age of the frequency that is held.
    pub const HIST_DEL: Field = Field::new(0, 5);
}

/// Outputs of format CMOS.
pub const CMOS: Register = Register {
    address: 5,
    width: 8,
    reset: 0xed,
};

/// Fields of [`CMOS`].
pub mod cmos {
    use super::Field;

    /// Drive.
    pub const ICMOS: Field = Field::new(6, 2);
}

/// Signals of the outputs.
pub const FORMAT: Register = Register {
    address: 6,
    width: 8,
    reset: 0x2d,
};

/// Fields of [`FORMAT`].
pub mod format {
    use super::Field;

    /// Outputs off.
    pub const SLEEP: Field = Field::new(6, 1);

    /// Format of output 2.
    pub const SFOUT2_REG: Field = Field::new(3, 3);

    /// Of [`SFOUT2_REG`].
    pub const SFOUT2_REG_LVPECL: u32 = 5;

    /// Of [`SFOUT2_REG`].
    pub const SFOUT2_REG_LVDS: u32 = 7;

    /// Format of output 1.
    pub const SFOUT1_REG: Field = Field::new(0, 3);

    /// Of [`SFOUT1_REG`].
    pub const SFOUT1_REG_LVPECL: u32 = 5;

    /// Of [`SFOUT1_REG`].
    pub const SFOUT1_REG_LVDS: u32 = 7;
}

/// Reference of the frequency offset alarm.
pub const OFFSET_REFERENCE: Register = Register {
    address: 7,
    width: 8,
    reset: 0x2a,
};

/// Fields of [`OFFSET_REFERENCE`].
pub mod offset_reference {
    use super::Field;

    /// Reference.
    pub const FOSREFSEL: Field = Field::new(0, 3);
}

/// Averaging of the frequency that is held.
pub const HISTORY: Register = Register {
    address: 9,
    width: 8,
    reset: 0xc0,
};

/// Fields of [`HISTORY`].
pub mod history {
    use super::Field;

    /// Time.
    pub const HIST_AVG: Field = Field::new(3, 5);
}

/// Input buffers.
pub const POWER: Register = Register {
    address: 11,
    width: 8,
    reset: 0x40,
};

/// Fields of [`POWER`].
pub mod power {
    use super::Field;

    /// Power input 2 down.
    pub const PD_CK2: Field = Field::new(1, 1);

    /// Power input 1 down.
    pub const PD_CK1: Field = Field::new(0, 1);
}

/// When alarms come and go.
pub const ALARMS: Register = Register {
    address: 19,
    width: 8,
    reset: 0x2c,
};

/// Fields of [`ALARMS`].
pub mod alarms {
    use super::Field;

    /// Watch the frequency offset.
    pub const FOS_EN: Field = Field::new(7, 1);

    /// Offset for an alarm.
    pub const FOS_THR: Field = Field::new(5, 2);

    /// Time for which a clock must be valid before its alarm is cleared.
    pub const VALTIME: Field = Field::new(3, 2);

    /// Of [`VALTIME`].
    pub const VALTIME_MS_2: u32 = 0;

    /// Of [`VALTIME`].
    pub const VALTIME_MS_100: u32 = 1;

    /// Of [`VALTIME`].
    pub const VALTIME_MS_200: u32 = 2;

    /// Of [`VALTIME`].
    pub const VALTIME_S_13: u32 = 3;

    /// How long without slips before the alarm of the lock is over.
    pub const LOCKT: Field = Field::new(0, 3);
}

/// Pins that show the status.
pub const STATUS_PINS: Register = Register {
    address: 20,
    width: 8,
    reset: 0x3e,
};

/// Fields of [`STATUS_PINS`].
pub mod status_pins {
    use super::Field;

    /// Pin C2B shows it.
    pub const CK2_BAD_PIN: Field = Field::new(3, 1);

    /// Pin C1B shows it.
    pub const CK1_BAD_PIN: Field = Field::new(2, 1);

    /// Pin LOL shows it.
    pub const LOL_PIN: Field = Field::new(1, 1);

    /// Pin INT shows it.
    pub const INT_PIN: Field = Field::new(0, 1);
}

/// Pins of the selection.
pub const PINS: Register = Register {
    address: 21,
    width: 8,
    reset: 0xff,
};

/// Fields of [`PINS`].
pub mod pins {
    use super::Field;

    /// The pin shows the input in use.
    pub const CK1_ACTV_PIN: Field = Field::new(1, 1);

    /// The pin selects the input, not cksel_reg.
    pub const CKSEL_PIN: Field = Field::new(0, 1);
}

/// Polarity of status pins.
pub const POLARITY: Register = Register {
    address: 22,
    width: 8,
    reset: 0xdf,
};

/// Fields of [`POLARITY`].
pub mod polarity {
    use super::Field;

    /// Active high.
    pub const CK_ACTV_POL: Field = Field::new(3, 1);

    /// Active high.
    pub const CK_BAD_POL: Field = Field::new(2, 1);

    /// Active high.
    pub const LOL_POL: Field = Field::new(1, 1);

    /// Active high.
    pub const INT_POL: Field = Field::new(0, 1);
}

/// Which lost signals do not interrupt.
pub const LOS_MASK: Register = Register {
    address: 23,
    width: 8,
    reset: 0x1f,
};

/// Fields of [`LOS_MASK`].
pub mod los_mask {
    use super::Field;

    /// Input 2.
    pub const LOS2_MSK: Field = Field::new(2, 1);

    /// Input 1.
    pub const LOS1_MSK: Field = Field::new(1, 1);

    /// Crystal.
    pub const LOSX_MSK: Field = Field::new(0, 1);
}

/// Which other alarms do not interrupt.
pub const LOL_MASK: Register = Register {
    address: 24,
    width: 8,
    reset: 0x3f,
};

/// Fields of [`LOL_MASK`].
pub mod lol_mask {
    use super::Field;

    /// Frequency offset of input 2.
    pub const FOS2_MSK: Field = Field::new(2, 1);

    /// Frequency offset of input 1.
    pub const FOS1_MSK: Field = Field::new(1, 1);

    /// Lost lock.
    pub const LOL_MSK: Field = Field::new(0, 1);
}

/// Divider after the oscillator.
pub const N1: Register = Register {
    address: 25,
    width: 8,
    reset: 0x20,
};

/// Fields of [`N1`].
pub mod n1 {
    use super::Field;

    /// Less HIGH_SPEED_MIN.
    pub const N1_HS: Field = Field::new(5, 3);
}

/// Divider of output 1.
pub const NC1: Register = Register {
    address: 31,
    width: 24,
    reset: 0x000005,
};

/// Fields of [`NC1`].
pub mod nc1 {
    use super::Field;

    /// Less one.
    pub const NC1_LS: Field = Field::new(0, 20);
}

/// Divider of output 2.
pub const NC2: Register = Register {
    address: 34,
    width: 24,
    reset: 0x000005,
};

/// Fields of [`NC2`].
pub mod nc2 {
    use super::Field;

    /// Less one.
    pub const NC2_LS: Field = Field::new(0, 20);
}

/// Dividers from the oscillator to the phase detector.
pub const N2: Register = Register {
    address: 40,
    width: 24,
    reset: 0xc000f9,
};

/// Fields of [`N2`].
pub mod n2 {
    use super::Field;

    /// Less HIGH_SPEED_MIN.
    pub const N2_HS: Field = Field::new(21, 3);

    /// Less one.
    pub const N2_LS: Field = Field::new(0, 20);
}

/// Divider of input 1.
pub const N31: Register = Register {
    address: 43,
    width: 24,
    reset: 0x000009,
};

/// Fields of [`N31`].
pub mod n31 {
    use super::Field;

    /// Less one.
    pub const N31: Field = Field::new(0, 19);
}

/// Divider of input 2.
pub const N32: Register = Register {
    address: 46,
    width: 24,
    reset: 0x000009,
};

/// Fields of [`N32`].
pub mod n32 {
    use super::Field;

    /// Less one.
    pub const N32: Field = Field::new(0, 19);
}

/// Inputs in use; read only.
pub const ACTIVE: Register = Register {
    address: 128,
    width: 8,
    reset: 0x00,
};

/// Fields of [`ACTIVE`].
pub mod active {
    use super::Field;

    /// Input 2.
    pub const CK2_ACTV_REG: Field = Field::new(1, 1);

    /// Input 1.
    pub const CK1_ACTV_REG: Field = Field::new(0, 1);
}

/// Lost signals; read only.
pub const LOS: Register = Register {
    address: 129,
    width: 8,
    reset: 0x00,
};

/// Fields of [`LOS`].
pub mod los {
    use super::Field;

    /// No clock at input 2.
    pub const LOS2_INT: Field = Field::new(2, 1);

    /// No clock at input 1.
    pub const LOS1_INT: Field = Field::new(1, 1);

    /// The crystal does not oscillate.
    pub const LOSX_INT: Field = Field::new(0, 1);
}

/// Other alarms; read only.
pub const LOL: Register = Register {
    address: 130,
    width: 8,
    reset: 0x00,
};

/// Fields of [`LOL`].
pub mod lol {
    use super::Field;

    /// Frequency offset of input 2.
    pub const FOS2_INT: Field = Field::new(2, 1);

    /// Frequency offset of input 1.
    pub const FOS1_INT: Field = Field::new(1, 1);

    /// Not locked.
    pub const LOL_INT: Field = Field::new(0, 1);
}

/// Identification; read only. Reset value of an Si5324C.
pub const IDENTITY: Register = Register {
    address: 134,
    width: 16,
    reset: 0x0182,
};

/// Fields of [`IDENTITY`].
pub mod identity {
    use super::Field;

    /// Part number, PART.
    pub const PARTNUM_RO: Field = Field::new(4, 12);

    /// Revision.
    pub const REVID_RO: Field = Field::new(0, 4);
}

/// Commands.
pub const RESET: Register = Register {
    address: 136,
    width: 8,
    reset: 0x00,
};

/// Fields of [`RESET`].
pub mod reset {
    use super::Field;

    /// Reset the chip.
    pub const RST_REG: Field = Field::new(7, 1);

    /// Calibrate: lock to the selected input.
    pub const ICAL: Field = Field::new(6, 1);
}

/// Lock.
pub const FAST: Register = Register {
    address: 137,
    width: 8,
    reset: 0x00,
};

/// Fields of [`FAST`].
pub mod fast {
    use super::Field;

    /// Lock faster, with a wider loop meanwhile.
    pub const FASTLOCK: Field = Field::new(0, 1);
}

/// All of them.
pub const ALL: [Register; 28] = [
    CONTROL,
    PRIORITY,
    BANDWIDTH,
    SELECT,
    AUTOSEL,
    CMOS,
    FORMAT,
    OFFSET_REFERENCE,
    HISTORY,
    POWER,
    ALARMS,
    STATUS_PINS,
    PINS,
    POLARITY,
    LOS_MASK,
    LOL_MASK,
    N1,
    NC1,
    NC2,
    N2,
    N31,
    N32,
    ACTIVE,
    LOS,
    LOL,
    IDENTITY,
    RESET,
    FAST,
];
