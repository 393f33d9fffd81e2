//! ZC706: XC7Z045-2, crystal 33.333 MHz, 1 GiB of DDR3-1066 (four chips of 8 bits), pins as in the board's manual (UG954, table 1-2).
//!
//! Values of the memory and its pins: the board's preset as published with the vendor's first-stage loader (embeddedsw, `zynq_fsbl`,
//! for silicon version 3). Not tried on a board.

use super::Board;
use crate::ddr::Ddr;
use crate::registers::Pll;

pub const BOARD: Board = Board {
    name: "ZC706",
    plls: [
        // 1600 MHz, twice the CPU's clock.
        Pll {
            control: 0xF800_0100,
            multiplier: 48,
            configuration: 0x000F_A240,
        },
        // 1000 MHz.
        Pll {
            control: 0xF800_0108,
            multiplier: 30,
            configuration: 0x0014_52C0,
        },
        // 1067 MHz.
        Pll {
            control: 0xF800_0104,
            multiplier: 32,
            configuration: 0x0012_C220,
        },
    ],
    clocks: &[
        (0xF800_0120, 0x1F00_0200), // CPU 800 MHz
        (0xF800_01C4, 1),           // its ratios 6:3:2:1
        (0xF800_0124, 0x0C20_0003), // DDR 533 MHz, 356 MHz
        (0xF800_0128, 0x0030_2301), // DDR calibration 10 MHz
        (0xF800_0138, 0x0000_0001), // GEM0, receive: from the pins
        (0xF800_0140, 0x0010_0801), // GEM0, transmit 125 MHz
        (0xF800_014C, 0x0000_0501), // QSPI 200 MHz
        (0xF800_0150, 0x0000_1401), // SD0 50 MHz
        (0xF800_0154, 0x0000_1402), // UART1 50 MHz
        (0xF800_0168, 0x0000_0501), // PCAP 200 MHz
        (0xF800_0170, 0x0010_0800), // FCLK0 125 MHz
        (0xF800_0830, 0x000E_000F), // SD card: inserted is pin 14, write protection pin 15
    ],
    pins: &[
        (1..=1, 0x1202),   // QSPI, select
        (2..=6, 0x0202),   // QSPI
        (8..=8, 0x0202),   // QSPI, feedback
        (14..=15, 0x1201), // SD card: inserted, write protection
        (16..=21, 0x2802), // Ethernet, transmit: HSTL, receiver off
        (22..=27, 0x0803), // Ethernet, receive
        (40..=45, 0x0280), // SD card
        (48..=48, 0x02E0), // UART1
        (49..=49, 0x02E1),
        (50..=51, 0x1240), // I2C
        (52..=53, 0x0280), // management of the Ethernet PHY
    ],
    uart: 0xE000_1000,
    ddr: &Ddr {
        pins: &[
            (0xF800_0B00, 0x0000_0001), // reference for HSTL pins
            (0xF800_0B40, 0x0000_0600),
            (0xF800_0B44, 0x0000_0600),
            (0xF800_0B48, 0x0000_0672),
            (0xF800_0B4C, 0x0000_0672),
            (0xF800_0B50, 0x0000_0674),
            (0xF800_0B54, 0x0000_0674),
            (0xF800_0B58, 0x0000_0600),
            (0xF800_0B5C, 0x0018_C61C),
            (0xF800_0B60, 0x00F9_861C),
            (0xF800_0B64, 0x00F9_861C),
            (0xF800_0B68, 0x00F9_861C),
            (0xF800_0B6C, 0x0000_0209), // reference voltage: internal, 0.75 V
        ],
        control: 0x0000_0080,
        timing: TIMING,
    },
};

/// In the order of addresses, with the names of the registers (UG585, appendix B.7).
const TIMING: &[(u32, u32)] = &[
    (0xF800_6004, 0x0000_1082), // two_rank_cfg
    (0xF800_6008, 0x03C0_780F), // hpr_reg
    (0xF800_600C, 0x0200_1001), // lpr_reg
    (0xF800_6010, 0x0001_4001), // wr_reg
    (0xF800_6014, 0x0004_159B), // dram_param_reg0
    (0xF800_6018, 0x4524_44D3), // dram_param_reg1
    (0xF800_601C, 0x7282_BCE5), // dram_param_reg2
    (0xF800_6020, 0x2708_72B0), // dram_param_reg3
    (0xF800_6024, 0x0000_0000), // dram_param_reg4
    (0xF800_6028, 0x0000_2007), // dram_init_param
    (0xF800_602C, 0x0000_0008), // dram_emr_reg
    (0xF800_6030, 0x0004_0B30), // dram_emr_mr_reg
    (0xF800_6034, 0x0001_16D4), // dram_burst8_rdwr
    (0xF800_6038, 0x0000_0000), // dram_disable_dq
    (0xF800_603C, 0x0000_0777), // dram_addr_map_bank
    (0xF800_6040, 0xFFF0_0000), // dram_addr_map_col
    (0xF800_6044, 0x0F66_6666), // dram_addr_map_row
    (0xF800_6048, 0x0003_C008), // dram_odt_reg
    (0xF800_6050, 0x7701_0800), // phy_cmd_timeout_rddata_cpt
    (0xF800_6058, 0x0000_0000), // dll_calib
    (0xF800_605C, 0x0000_5003), // odt_delay_hold
    (0xF800_6060, 0x0000_003E), // ctrl_reg1
    (0xF800_6064, 0x0002_0000), // ctrl_reg2
    (0xF800_6068, 0x0028_4141), // ctrl_reg3
    (0xF800_606C, 0x0000_1610), // ctrl_reg4
    (0xF800_6078, 0x0046_6111), // ctrl_reg5
    (0xF800_607C, 0x0003_2222), // ctrl_reg6
    (0xF800_60A4, 0x1020_0802), // CHE_T_ZQ
    (0xF800_60A8, 0x0690_CB73), // CHE_T_ZQ_Short_Interval_Reg
    (0xF800_60AC, 0x0000_01FE), // deep_pwrdwn_reg
    (0xF800_60B0, 0x1CFF_FFFF), // reg_2c
    (0xF800_60B4, 0x0000_0200), // reg_2d
    (0xF800_60B8, 0x0020_0066), // dfi_timing
    (0xF800_60C4, 0x0000_0000), // CHE_ECC_CONTROL_REG_OFFSET
    (0xF800_60C8, 0x0000_0000), // CHE_CORR_ECC_LOG_REG_OFFSET
    (0xF800_60DC, 0x0000_0000), // CHE_UNCORR_ECC_LOG_REG_OFFSET
    (0xF800_60F0, 0x0000_0000), // CHE_ECC_STATS_REG_OFFSET
    (0xF800_60F4, 0x0000_0008), // ECC_scrub
    (0xF800_6114, 0x0000_0000), // phy_rcvr_enable
    (0xF800_6118, 0x4000_0001), // PHY_Config, one for each byte
    (0xF800_611C, 0x4000_0001),
    (0xF800_6120, 0x4000_0001),
    (0xF800_6124, 0x4000_0001),
    (0xF800_612C, 0x0003_B81E), // phy_init_ratio
    (0xF800_6130, 0x0004_3425),
    (0xF800_6134, 0x0003_CC19),
    (0xF800_6138, 0x0004_242A),
    (0xF800_6140, 0x0000_0035), // phy_rd_dqs_cfg
    (0xF800_6144, 0x0000_0035),
    (0xF800_6148, 0x0000_0035),
    (0xF800_614C, 0x0000_0035),
    (0xF800_6154, 0x0000_009E), // phy_wr_dqs_cfg
    (0xF800_6158, 0x0000_00A5),
    (0xF800_615C, 0x0000_0099),
    (0xF800_6160, 0x0000_00AA),
    (0xF800_6168, 0x0000_0143), // phy_we_cfg
    (0xF800_616C, 0x0000_0162),
    (0xF800_6170, 0x0000_0148),
    (0xF800_6174, 0x0000_015E),
    (0xF800_617C, 0x0000_00DE), // wr_data_slv
    (0xF800_6180, 0x0000_00E5),
    (0xF800_6184, 0x0000_00D9),
    (0xF800_6188, 0x0000_00EA),
    (0xF800_6190, 0x0004_0080), // reg_64
    (0xF800_6194, 0x0001_FC82), // reg_65
    (0xF800_6204, 0x0000_0000), // page_mask
    (0xF800_6208, 0x0000_03FF), // axi_priority_wr_port
    (0xF800_620C, 0x0000_03FF),
    (0xF800_6210, 0x0000_03FF),
    (0xF800_6214, 0x0000_03FF),
    (0xF800_6218, 0x0000_03FF), // axi_priority_rd_port
    (0xF800_621C, 0x0000_03FF),
    (0xF800_6220, 0x0000_03FF),
    (0xF800_6224, 0x0000_03FF),
    (0xF800_62A8, 0x0000_0000), // lpddr_ctrl0
    (0xF800_62AC, 0x0000_0000), // lpddr_ctrl1
    (0xF800_62B0, 0x0000_5125), // lpddr_ctrl2
    (0xF800_62B4, 0x0000_12A8), // lpddr_ctrl3
];
