//! Computes the registers of the DDR controller and its pins from the memory's data sheet (UG585,
//! sections 10.6 and appendix B.7).
//!
//! The clock is 533 MHz on every board, and the memory runs as DDR3-1066F: CL 7, CWL 6, tRCD and
//! tRP 7 cycles, which all DDR3 chips of this speed and faster support. A board specifies the rest:
//! the chips, their width, the voltage, and the traces. Fields without a formula have the values of
//! the vendor's published preset of the ZC706, with which the tests compare all fields.

/// A memory chip. Times in ps.
#[derive(Clone, Copy)]
pub struct Chip {
    /// Bits of a row's address.
    pub rows: u32,
    /// Activation to precharge, activation to activation in the same bank and in another one,
    /// window of four activations.
    pub ras: u32,
    pub rc: u32,
    pub rrd: u32,
    pub faw: u32,
    /// Refresh to any other command.
    pub rfc: u32,
}

/// Micron MT41J256M8HX-15E: 2 Gbit, pages of 1 KiB.
pub const MT41J256M8: Chip = Chip {
    rows: 15,
    ras: 36_000,
    rc: 49_500,
    rrd: 7_500,
    faw: 30_000,
    rfc: 160_000,
};

/// Micron MT41K128M16HA-15E: 2 Gbit, pages of 2 KiB.
pub const MT41K128M16: Chip = Chip {
    rows: 14,
    ras: 36_000,
    rc: 49_500,
    rrd: 10_000,
    faw: 45_000,
    rfc: 160_000,
};

/// Micron MT41K256M16RE-125 and its successors HA-125, TW-107: 4 Gbit, pages of 2 KiB. JEDEC
/// requires a refresh time of 260 ns at this size; the vendor's presets have 300 ns.
pub const MT41K256M16: Chip = Chip {
    rows: 15,
    ras: 35_000,
    rc: 48_910,
    rrd: 10_000,
    faw: 40_000,
    rfc: 300_000,
};

/// Width of the data bus.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Width {
    Bits16,
    Bits32,
}

/// Supply of the memory and its pins.
#[derive(Clone, Copy)]
pub enum Supply {
    /// 1.5 V: DDR3.
    V1_5,
    /// 1.35 V: DDR3L.
    V1_35,
}

/// Source of the pins' reference of half the supply voltage.
#[derive(Clone, Copy)]
pub enum Reference {
    Internal,
    External,
}

/// Traces of a byte of the data bus, in ps: the clock's delay minus that of the strobe, and the
/// mean of clock and data.
#[derive(Clone, Copy)]
pub struct Trace {
    pub clock_after_strobe: i32,
    pub length: i32,
}

/// The vendor tools' assumptions for a board without data. The controller finds the true values by
/// training, which starts from these.
pub const UNKNOWN_TRACES: [Trace; 4] = [Trace {
    clock_after_strobe: 0,
    length: 250,
}; 4];

/// The memory of a board.
pub struct Memory {
    pub chip: Chip,
    pub width: Width,
    pub supply: Supply,
    pub reference: Reference,
    /// One for each byte; with 16 bits the upper two are ignored.
    pub traces: [Trace; 4],
}

/// Address and value of a register.
pub type Setting = (u32, u32);

/// Number of the controller's registers except its control register.
const TIMING: usize = 78;

/// The registers to be written, in this order.
pub struct Setup {
    /// Pins: drive, termination, reference.
    pub pins: [Setting; 12],
    /// Value of the controller's control register, in reset.
    pub control: u32,
    /// All other registers of the controller.
    pub timing: [Setting; TIMING],
}

/// 33.333 MHz x 32 / 2, rounded up.
const CLOCK: u64 = 33_333_334 * 32 / 2;
/// The fastest clock, with a crystal tolerance of 100 ppm: a time that is a whole number of cycles
/// takes one more.
const FASTEST: u64 = CLOCK + CLOCK / 10_000;
const CL: u32 = 7;
const CWL: u32 = 6;
/// tRCD and tRP, in cycles.
const RCD_RP: u32 = 7;
/// Times of all DDR3 chips, in ps: write recovery, read to precharge, write to read, and end of power-down.
const WR: u32 = 15_000;
const RTP: u32 = 7_500;
const WTR: u32 = 7_500;
const XP: u32 = 7_500;
/// Mean time between refreshes, and longest time that a row stays open, in ps.
const REFI: u64 = 7_800_000;
const RAS_MAX: u64 = 70_000_000;
/// Half a burst of 8.
const BURST: u32 = 4;

/// The number of cycles that is at least `ps` picoseconds, and at least `least`.
const fn at_least(ps: u32, least: u32) -> u32 {
    let cycles = (ps as u64 * FASTEST).div_ceil(1_000_000_000_000) as u32;
    if cycles > least {
        cycles
    } else {
        least
    }
}

/// `value` in a field of `width` bits at bit `at`.
const fn field(value: u32, at: u32, width: u32) -> u32 {
    assert!(value >> width == 0, "does not fit into the register");
    value << at
}

/// The number of `unit`-cycle periods that is at least `time` µs.
const fn microseconds(time: u64, unit: u64) -> u32 {
    (time * FASTEST).div_ceil(1_000_000 * unit) as u32
}

/// Converts ps to 256ths of a cycle, rounding towards zero.
const fn taps(ps: i32) -> i32 {
    (ps as i64 * CLOCK as i64 * 256 / 1_000_000_000_000) as i32
}

/// Encodes a write recovery for mode register 0, which supports 5 to 8 and larger even numbers of
/// cycles.
const fn write_recovery(cycles: u32) -> u32 {
    match cycles {
        0..=5 => 1,
        6..=8 => cycles - 4,
        _ => cycles.div_ceil(2),
    }
}

/// Sets a register for each byte of the data bus: the four from `first` on.
const fn of_bytes(registers: &mut [Setting; TIMING], at: usize, first: u32, values: [u32; 4]) {
    let mut byte = 0;
    while byte < 4 {
        registers[at + byte] = (first + 4 * byte as u32, values[byte]);
        byte += 1;
    }
}

/// Computes all registers.
pub const fn setup(memory: &Memory) -> Setup {
    let half = matches!(memory.width, Width::Bits16);
    Setup {
        pins: pins(memory, half),
        control: 1 << 7 | (half as u32) << 2,
        timing: timing(memory, half),
    }
}

const fn pins(memory: &Memory, half: bool) -> [Setting; 12] {
    // Drive strengths and slew rates of the vendor's tools for the two standards; calibration
    // adjusts them.
    let (address, others) = match memory.supply {
        Supply::V1_5 => (0x0018_C61C, 0x00F9_861C),
        Supply::V1_35 => (0x0018_C068, 0x00F9_8068),
    };
    let reference = match memory.reference {
        // 0.75 V: there is no matching step for 1.35 V.
        Reference::Internal => 0x09,
        Reference::External if half => 0x20,
        Reference::External => 0x60,
    };
    let unused = 0x800;
    [
        (0xF800_0B40, 0x600), // DDRIOB_ADDR0, 1
        (0xF800_0B44, 0x600),
        (0xF800_0B48, 0x672), // DDRIOB_DATA0, 1
        (0xF800_0B4C, if half { unused } else { 0x672 }),
        (0xF800_0B50, 0x674), // DDRIOB_DIFF0, 1
        (0xF800_0B54, if half { unused } else { 0x674 }),
        (0xF800_0B58, 0x600), // DDRIOB_CLOCK
        (0xF800_0B5C, address),
        (0xF800_0B60, others),
        (0xF800_0B64, others),
        (0xF800_0B68, others),
        (0xF800_0B6C, 0x200 | reference), // DDRIOB_DDR_CTRL
    ]
}

/// Number of registers whose addresses are before those of the training.
const BEFORE_TRAINING: usize = 39;

/// The registers after those of the training, by address, with their names.
const AFTER_TRAINING: [Setting; TIMING - BEFORE_TRAINING - 24] = [
    (0xF800_6190, 0x0004_0080), // reg_64
    (0xF800_6194, 0x0001_FC82), // reg_65: all training
    (0xF800_6204, 0),           // page_mask
    (0xF800_6208, 0x3FF),       // axi_priority_wr_port
    (0xF800_620C, 0x3FF),
    (0xF800_6210, 0x3FF),
    (0xF800_6214, 0x3FF),
    (0xF800_6218, 0x3FF), // axi_priority_rd_port
    (0xF800_621C, 0x3FF),
    (0xF800_6220, 0x3FF),
    (0xF800_6224, 0x3FF),
    (0xF800_62A8, 0),           // lpddr_ctrl0
    (0xF800_62AC, 0),           // lpddr_ctrl1
    (0xF800_62B0, 0x0000_5125), // lpddr_ctrl2
    (0xF800_62B4, 0x0000_12A8), // lpddr_ctrl3
];

/// The registers before those of the training, by address, with their names.
const fn before_training(memory: &Memory, half: bool) -> [Setting; BEFORE_TRAINING] {
    let chip = &memory.chip;
    let write_to_precharge = CWL + BURST + at_least(WR, 0);
    let refresh = (REFI * CLOCK / 1_000_000_000_000 / 32) as u32;
    let open = (RAS_MAX * CLOCK / 1_000_000_000_000 / 1024) as u32;
    // With half the width each address bit is one position lower, and one more column bit is
    // unused.
    let (bank, columns, row) = if half {
        (0x666, 0xFFFF_0000, 5)
    } else {
        (0x777, 0xFFF0_0000, 6)
    };
    let mode_0 = write_recovery(at_least(WR, 0)) << 9 | 1 << 8 | (CL - 4) << 4;
    let mode_1 = 1 << 2; // 60 ohm
    let mode_2 = (CWL - 5) << 3;
    [
        (0xF800_6004, 1 << 12 | field(refresh, 0, 12)), // two_rank_cfg: one rank
        (0xF800_6008, 0x03C0_780F),                     // hpr_reg
        (0xF800_600C, 0x0200_1001),                     // lpr_reg
        (0xF800_6010, 0x0001_4001),                     // wr_reg
        (
            0xF800_6014, // dram_param_reg0; 512 cycles after self-refresh
            16 << 14 | field(at_least(chip.rfc, 0), 6, 8) | field(at_least(chip.rc, 0), 0, 6),
        ),
        (
            0xF800_6018, // dram_param_reg1
            4 << 28
                | field(at_least(chip.ras, 0), 22, 5)
                | field(open, 16, 6)
                | field(at_least(chip.faw, 0), 10, 6)
                | 6 << 5
                | field(write_to_precharge, 0, 5),
        ),
        (
            0xF800_601C, // dram_param_reg2
            RCD_RP << 28
                | field(at_least(RTP, 4), 23, 5)
                | field(at_least(XP, 3), 15, 5)
                | field(CWL + at_least(WTR, 4) + BURST, 10, 5)
                | field(CL + BURST + 2 - CWL, 5, 5)
                | field(CWL - 1, 0, 5),
        ),
        (
            0xF800_6020, // dram_param_reg3
            1 << 29 | CL << 24 | 8 << 16 | RCD_RP << 12 | 2 << 8 | field(at_least(chip.rrd, 4), 5, 3) | 4 << 2,
        ),
        (0xF800_6024, 0),                     // dram_param_reg4
        (0xF800_6028, 4 << 11 | 7),           // dram_init_param
        (0xF800_602C, mode_2),                // dram_emr_reg
        (0xF800_6030, mode_1 << 16 | mode_0), // dram_emr_mr_reg
        (
            0xF800_6034, // dram_burst8_rdwr: 200 µs in reset, 500 µs before the clock is enabled
            1 << 16 | field(microseconds(700, 1024), 4, 10) | BURST,
        ),
        (0xF800_6038, 0),                    // dram_disable_dq
        (0xF800_603C, bank),                 // dram_addr_map_bank
        (0xF800_6040, columns),              // dram_addr_map_col
        (0xF800_6044, rows(chip.rows, row)), // dram_addr_map_row
        (0xF800_6048, 0x0003_C008),          // dram_odt_reg
        (0xF800_6050, 0x7701_0800),          // phy_cmd_timeout_rddata_cpt
        (0xF800_6058, 0),                    // dll_calib
        (0xF800_605C, 0x0000_5003),          // odt_delay_hold
        (0xF800_6060, 0x0000_003E),          // ctrl_reg1
        (0xF800_6064, 0x0002_0000),          // ctrl_reg2
        (0xF800_6068, 0x0028_4141),          // ctrl_reg3
        (0xF800_606C, 0x0000_1610),          // ctrl_reg4
        (0xF800_6078, 0x0046_6111),          // ctrl_reg5
        (0xF800_607C, 0x0003_2222),          // ctrl_reg6
        (0xF800_60A4, 0x1020_0802),          // CHE_T_ZQ
        (
            0xF800_60A8, // CHE_T_ZQ_Short_Interval_Reg: reset for 200 µs, calibration each 100 ms
            field(microseconds(200, 1024), 20, 8) | field((CLOCK / 10 / 1024) as u32, 0, 20),
        ),
        (0xF800_60AC, 0x0000_01FE), // deep_pwrdwn_reg
        (0xF800_60B0, 0x1CFF_FFFF), // reg_2c
        (0xF800_60B4, 0x0000_0200), // reg_2d
        (0xF800_60B8, 0x0020_0066), // dfi_timing
        (0xF800_60C4, 0),           // CHE_ECC_CONTROL_REG_OFFSET
        (0xF800_60C8, 0),           // CHE_CORR_ECC_LOG_REG_OFFSET
        (0xF800_60DC, 0),           // CHE_UNCORR_ECC_LOG_REG_OFFSET
        (0xF800_60F0, 0),           // CHE_ECC_STATS_REG_OFFSET
        (0xF800_60F4, 8),           // ECC_scrub
        (0xF800_6114, 0),           // phy_rcvr_enable
    ]
}

/// All registers by address.
const fn timing(memory: &Memory, half: bool) -> [Setting; TIMING] {
    let (head, tail) = (before_training(memory, half), AFTER_TRAINING);
    let mut all = [(0, 0); TIMING];
    let mut n = 0;
    while n < head.len() {
        all[n] = head[n];
        n += 1;
    }
    training(&mut all, n, memory, half);
    n += 6 * 4;
    let mut from_tail = 0;
    while n < all.len() {
        all[n] = tail[from_tail];
        n += 1;
        from_tail += 1;
    }
    assert!(from_tail == tail.len());
    all
}

/// The start values of training, in 256ths of a cycle: when strobe and data are sent, and when the
/// gate for the received strobe opens.
const fn training(registers: &mut [Setting; TIMING], at: usize, memory: &Memory, half: bool) {
    let (mut configuration, mut initial, mut strobe, mut gate, mut data) = ([0; 4], [0; 4], [0; 4], [0; 4], [0; 4]);
    let mut byte = 0;
    while byte < 4 {
        let trace = memory.traces[byte];
        let write = taps(trace.clock_after_strobe);
        // To the chip and back.
        let read = 96 + taps(2 * trace.length);
        configuration[byte] = 0x4000_0000 | (!half || byte < 2) as u32;
        initial[byte] = field(read as u32, 10, 10) | if write > 0 { write as u32 } else { 0 };
        strobe[byte] = (128 + write) as u32;
        gate[byte] = (read + 85) as u32;
        data[byte] = (192 + write) as u32;
        byte += 1;
    }
    of_bytes(registers, at, 0xF800_6118, configuration); // PHY_Config
    of_bytes(registers, at + 4, 0xF800_612C, initial); // phy_init_ratio
    of_bytes(registers, at + 8, 0xF800_6140, [0x35; 4]); // phy_rd_dqs_cfg
    of_bytes(registers, at + 12, 0xF800_6154, strobe); // phy_wr_dqs_cfg
    of_bytes(registers, at + 16, 0xF800_6168, gate); // phy_we_cfg
    of_bytes(registers, at + 20, 0xF800_617C, data); // wr_data_slv
}

/// Address bits of the rows, which all have the same base; 15 marks an unused bit.
const fn rows(count: u32, base: u32) -> u32 {
    assert!(count == 14 || count == 15);
    let fourteenth = if count == 15 { base } else { 15 };
    15 << 24 | fourteenth << 20 | base << 16 | base << 12 | base << 8 | base << 4 | base
}

#[cfg(test)]
mod tests;
