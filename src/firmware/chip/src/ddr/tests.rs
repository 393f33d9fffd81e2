//! Comparison of the computed registers with those that others have published and use.

use super::*;

fn registers(memory: &Memory) -> impl Fn(u32) -> u32 {
    let setup = setup(memory);
    let all: std::vec::Vec<Setting> = setup.pins.into_iter().chain(setup.timing).collect();
    move |address| all.iter().find(|setting| setting.0 == address).unwrap().1
}

const fn trace(clock_after_strobe: i32, length: i32) -> Trace {
    Trace {
        clock_after_strobe,
        length,
    }
}

/// Preset of the ZC706, as published with the vendor's first-stage loader for silicon version 3.
const ZC706: &[Setting] = &[
    (0xF800_6004, 0x0000_1082),
    (0xF800_6008, 0x03C0_780F),
    (0xF800_600C, 0x0200_1001),
    (0xF800_6010, 0x0001_4001),
    (0xF800_6014, 0x0004_159B),
    (0xF800_6018, 0x4524_44D3),
    (0xF800_601C, 0x7282_BCE5),
    (0xF800_6020, 0x2708_72B0),
    (0xF800_6024, 0x0000_0000),
    (0xF800_6028, 0x0000_2007),
    (0xF800_602C, 0x0000_0008),
    (0xF800_6030, 0x0004_0B30),
    (0xF800_6034, 0x0001_16D4),
    (0xF800_6038, 0x0000_0000),
    (0xF800_603C, 0x0000_0777),
    (0xF800_6040, 0xFFF0_0000),
    (0xF800_6044, 0x0F66_6666),
    (0xF800_6048, 0x0003_C008),
    (0xF800_6050, 0x7701_0800),
    (0xF800_6058, 0x0000_0000),
    (0xF800_605C, 0x0000_5003),
    (0xF800_6060, 0x0000_003E),
    (0xF800_6064, 0x0002_0000),
    (0xF800_6068, 0x0028_4141),
    (0xF800_606C, 0x0000_1610),
    (0xF800_6078, 0x0046_6111),
    (0xF800_607C, 0x0003_2222),
    (0xF800_60A4, 0x1020_0802),
    (0xF800_60A8, 0x0690_CB73),
    (0xF800_60AC, 0x0000_01FE),
    (0xF800_60B0, 0x1CFF_FFFF),
    (0xF800_60B4, 0x0000_0200),
    (0xF800_60B8, 0x0020_0066),
    (0xF800_60C4, 0x0000_0000),
    (0xF800_60C8, 0x0000_0000),
    (0xF800_60DC, 0x0000_0000),
    (0xF800_60F0, 0x0000_0000),
    (0xF800_60F4, 0x0000_0008),
    (0xF800_6114, 0x0000_0000),
    (0xF800_6118, 0x4000_0001),
    (0xF800_611C, 0x4000_0001),
    (0xF800_6120, 0x4000_0001),
    (0xF800_6124, 0x4000_0001),
    (0xF800_612C, 0x0003_B81E),
    (0xF800_6130, 0x0004_3425),
    (0xF800_6134, 0x0003_CC19),
    (0xF800_6138, 0x0004_242A),
    (0xF800_6140, 0x0000_0035),
    (0xF800_6144, 0x0000_0035),
    (0xF800_6148, 0x0000_0035),
    (0xF800_614C, 0x0000_0035),
    (0xF800_6154, 0x0000_009E),
    (0xF800_6158, 0x0000_00A5),
    (0xF800_615C, 0x0000_0099),
    (0xF800_6160, 0x0000_00AA),
    (0xF800_6168, 0x0000_0143),
    (0xF800_616C, 0x0000_0162),
    (0xF800_6170, 0x0000_0148),
    (0xF800_6174, 0x0000_015E),
    (0xF800_617C, 0x0000_00DE),
    (0xF800_6180, 0x0000_00E5),
    (0xF800_6184, 0x0000_00D9),
    (0xF800_6188, 0x0000_00EA),
    (0xF800_6190, 0x0004_0080),
    (0xF800_6194, 0x0001_FC82),
    (0xF800_6204, 0x0000_0000),
    (0xF800_6208, 0x0000_03FF),
    (0xF800_620C, 0x0000_03FF),
    (0xF800_6210, 0x0000_03FF),
    (0xF800_6214, 0x0000_03FF),
    (0xF800_6218, 0x0000_03FF),
    (0xF800_621C, 0x0000_03FF),
    (0xF800_6220, 0x0000_03FF),
    (0xF800_6224, 0x0000_03FF),
    (0xF800_62A8, 0x0000_0000),
    (0xF800_62AC, 0x0000_0000),
    (0xF800_62B0, 0x0000_5125),
    (0xF800_62B4, 0x0000_12A8),
];

#[test]
fn ddr_registers_of_zc706_equal_the_published_values() {
    let memory = Memory {
        chip: MT41J256M8,
        width: Width::Bits32,
        supply: Supply::V1_5,
        reference: Reference::Internal,
        traces: [trace(226, 521), trace(278, 636), trace(184, 540), trace(309, 621)],
    };
    let setup = setup(&memory);
    assert_eq!(setup.timing, *ZC706);
    assert_eq!(setup.control, 0x80);
    let pins = [
        0x600,
        0x600,
        0x672,
        0x672,
        0x674,
        0x674,
        0x600,
        0x0018_C61C,
        0x00F9_861C,
        0x00F9_861C,
        0x00F9_861C,
        0x209,
    ];
    assert_eq!(setup.pins.map(|(_, value)| value), pins);
}

/// Values of the published Linux for the EBAZ4205 (meta-ebaz4205) where they differ from the ZC706.
#[test]
fn ddr_registers_of_ebaz4205_equal_the_published_values() {
    let memory = Memory {
        chip: MT41K128M16,
        width: Width::Bits16,
        supply: Supply::V1_5,
        reference: Reference::External,
        traces: UNKNOWN_TRACES,
    };
    assert_eq!(setup(&memory).control, 0x84);
    let register = registers(&memory);
    for (address, value) in [
        (0xF800_0B4C, 0x800),
        (0xF800_0B54, 0x800),
        (0xF800_0B6C, 0x220),
        (0xF800_6004, 0x1082),
        (0xF800_6014, 0x0004_159B),
        (0xF800_6018, 0x4524_64D3),
        (0xF800_601C, 0x7282_BCE5),
        (0xF800_6020, 0x2708_72D0),
        (0xF800_6030, 0x0004_0B30),
        (0xF800_6034, 0x0001_16D4),
        (0xF800_603C, 0x666),
        (0xF800_6040, 0xFFFF_0000),
        (0xF800_6044, 0x0FF5_5555),
        (0xF800_611C, 0x4000_0001),
        (0xF800_6120, 0x4000_0000),
        (0xF800_612C, 0x0002_9000),
        (0xF800_6154, 0x80),
        (0xF800_6168, 0xF9),
        (0xF800_617C, 0xC0),
    ] {
        assert_eq!(register(address), value, "{address:#x}");
    }
}

/// Values of a published first stage for a board with two MT41K256M16 at 1.35 V (Zybo Z7). It
/// assumes a clock slightly slower than 533.333 MHz, so times that are whole numbers of cycles have
/// one less there.
#[test]
fn ddr_registers_of_two_4_gbit_chips_equal_the_published_values() {
    let memory = Memory {
        chip: MT41K256M16,
        width: Width::Bits32,
        supply: Supply::V1_35,
        reference: Reference::External,
        traces: [trace(-50, 221), trace(-44, 222), trace(-35, 217), trace(-100, 244)],
    };
    let register = registers(&memory);
    for (address, value) in [
        (0xF800_0B5C, 0x0018_C068),
        (0xF800_0B60, 0x00F9_8068),
        (0xF800_0B6C, 0x260),
        (0xF800_6034, 0x0001_16D4),
        (0xF800_6044, 0x0F66_6666),
        (0xF800_612C, 0x0002_7000),
        (0xF800_6134, 0x0002_6C00),
        (0xF800_6138, 0x0002_8800),
        (0xF800_6154, 0x7A),
        (0xF800_6160, 0x73),
        (0xF800_6168, 0xF1),
        (0xF800_6174, 0xF7),
        (0xF800_6188, 0xB3),
    ] {
        assert_eq!(register(address), value, "{address:#x}");
    }
    // Register, position and width of a time, and its published number of cycles.
    for (address, at, width, cycles) in [
        (0xF800_6014, 0, 6, 26),  // tRC
        (0xF800_6014, 6, 8, 160), // tRFC
        (0xF800_6018, 0, 5, 18),  // write to precharge
        (0xF800_6018, 10, 6, 22), // tFAW
        (0xF800_6018, 22, 5, 19), // tRAS
        (0xF800_601C, 10, 5, 14), // write to read
        (0xF800_601C, 15, 5, 4),  // tXP
        (0xF800_601C, 23, 5, 4),  // read to precharge
        (0xF800_601C, 28, 4, 7),  // tRCD
        (0xF800_6020, 5, 3, 6),   // tRRD
        (0xF800_6020, 12, 4, 7),  // tRP
    ] {
        let computed = register(address) >> at & ((1 << width) - 1);
        assert!(
            (cycles..=cycles + 1).contains(&computed),
            "{address:#x}, bit {at}: {computed}"
        );
    }
}

#[test]
#[should_panic(expected = "does not fit")]
fn wrong_memory_size_is_refused() {
    setup(&Memory {
        chip: Chip {
            rfc: 600_000,
            ..MT41K256M16
        },
        width: Width::Bits16,
        supply: Supply::V1_5,
        reference: Reference::External,
        traces: UNKNOWN_TRACES,
    });
}
