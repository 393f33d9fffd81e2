//! The driver against a simulated bus that holds registers and injects faults. The emulator models
//! the chip's reaction to the registers, in its own end-to-end tests.

extern crate std;
use super::*;

const ICAL: u8 = 1 << 6;
use std::vec::Vec;

struct Bench {
    registers: [u8; 256],
    /// The chip answers only while this switch and channel are connected; `None` if always.
    behind: Option<(u8, u8)>,
    connected: Option<(u8, u8)>,
    present: bool,
    part: u16,
    los: u8,
    /// Milliseconds from calibration to lock.
    lock_ms: Option<u32>,
    waited: u32,
    writes: Vec<(u8, u8)>,
}

impl Bench {
    fn new() -> Self {
        Self {
            registers: [0; 256],
            behind: Some((0x74, 1 << 4)),
            connected: None,
            present: true,
            part: 24,
            los: 0,
            lock_ms: Some(300),
            waited: 0,
            writes: Vec::new(),
        }
    }

    fn reachable(&self) -> bool {
        self.present && (self.behind.is_none() || self.behind == self.connected)
    }

    /// A divider of 20 bits.
    fn low_speed(&self, first: u8) -> u32 {
        let at = usize::from(first);
        let high = u32::from(self.registers[at] & 0xf);
        high << 16 | u32::from(self.registers[at + 1]) << 8 | u32::from(self.registers[at + 2])
    }
}

impl Bus for &mut Bench {
    fn write(&mut self, address: u8, bytes: &[u8]) -> Result<bool, Stuck> {
        if address == 0x74 {
            self.connected = (bytes[0] != 0).then_some((address, bytes[0]));
            return Ok(true);
        }
        if address != ADDRESS || !self.reachable() {
            return Ok(false);
        }
        self.registers[usize::from(bytes[0])] = bytes[1];
        self.writes.push((bytes[0], bytes[1]));
        Ok(true)
    }

    fn read(&mut self, address: u8, register: u8) -> Result<Option<u8>, Stuck> {
        if address != ADDRESS || !self.reachable() {
            return Ok(None);
        }
        Ok(Some(match register {
            134 => (self.part >> 4) as u8,
            135 => (self.part << 4) as u8 | 2,
            129 => self.los,
            130 => u8::from(self.lock_ms.is_none_or(|ms| self.waited < ms)),
            _ => self.registers[usize::from(register)],
        }))
    }

    fn wait_ms(&mut self, milliseconds: u32) {
        self.waited += milliseconds;
    }
}

fn program(bench: &mut Bench, reference: Reference, input: Input) -> Result<(), Error> {
    let mut chip = Si5324::find(bench)?;
    chip.program(reference, input, 125_000_000)?;
    chip.release()
}

#[test]
fn chip_is_found_at_its_address() {
    for behind in [None, Some((0x74, 1)), Some((0x74, 0x80))] {
        let mut bench = Bench { behind, ..Bench::new() };
        assert_eq!(program(&mut bench, Reference::Crystal, Input::Ckin1), Ok(()));
        assert_eq!(bench.connected, None, "the switch is closed afterwards");
    }
    let mut bench = Bench {
        present: false,
        ..Bench::new()
    };
    assert_eq!(
        program(&mut bench, Reference::Crystal, Input::Ckin1),
        Err(Error::Absent(None))
    );
    let mut bench = Bench {
        part: 28,
        ..Bench::new()
    };
    assert_eq!(
        program(&mut bench, Reference::Crystal, Input::Ckin1),
        Err(Error::Absent(Some(28)))
    );
    assert!(bench.writes.is_empty(), "another chip is not written to");
}

#[test]
fn external_reference_programs_the_expected_registers() {
    let mut bench = Bench::new();
    program(&mut bench, Reference::External(10_000_000), Input::Ckin1).unwrap();
    let d = Dividers::known(10_000_000, 125_000_000).unwrap();
    assert_eq!(bench.registers[2], 0x42, "bandwidth 4");
    assert_eq!(bench.registers[0], 0x14, "neither free run nor bypass");
    assert_eq!(bench.registers[3], 0x15, "input 1");
    assert_eq!(u32::from(bench.registers[25] >> 5) + 4, d.n1_hs);
    assert_eq!(u32::from(bench.registers[40] >> 5) + 4, d.n2_hs);
    assert_eq!((bench.low_speed(31) + 1, bench.low_speed(34) + 1), (d.nc1_ls, d.nc1_ls));
    assert_eq!(bench.low_speed(40) + 1, d.n2_ls);
    assert_eq!((bench.low_speed(43) + 1, bench.low_speed(46) + 1), (d.n3, d.n3));
    assert_eq!(bench.writes.last(), Some(&(136, ICAL)), "calibrated once all is set");
    program(&mut bench, Reference::External(10_000_000), Input::Ckin2).unwrap();
    assert_eq!(bench.registers[3], 0x55, "input 2");
}

/// The bytes of each setting: bandwidth, N1_HS, NC1_LS and NC2_LS, N2_HS and N2_LS, N31 and N32.
#[test]
fn tabled_settings_give_their_register_bytes() {
    let crystal = Reference::Crystal;
    for (reference, output, bytes) in [
        (
            Reference::External(10_000_000),
            125,
            [0x4, 0xc0, 0x000003, 0xc0012b, 0x000005],
        ),
        (
            Reference::External(80_000_000),
            125,
            [0x4, 0x00, 0x000009, 0xc000f9, 0x000027],
        ),
        (
            Reference::External(100_000_000),
            125,
            [0x4, 0xc0, 0x000003, 0xc00103, 0x000033],
        ),
        (
            Reference::External(125_000_000),
            125,
            [0x4, 0x20, 0x000007, 0x600167, 0x00003e],
        ),
        (crystal, 125, [0x4, 0xc0, 0x000003, 0xc04e03, 0x0011d4]),
        (crystal, 100, [0x3, 0xa0, 0x000005, 0xc083c3, 0x001be2]),
        (crystal, 150, [0x3, 0xa0, 0x000003, 0xc083c3, 0x001be2]),
    ] {
        let mut bench = Bench::new();
        let mut chip = Si5324::find(&mut bench).unwrap();
        chip.program(reference, Input::Ckin1, output * 1_000_000).unwrap();
        chip.release().unwrap();
        let three = |at: usize| {
            bench.registers[at..at + 3]
                .iter()
                .fold(0, |n, byte| n << 8 | u32::from(*byte))
        };
        let bandwidth = u32::from(bench.registers[2] >> 4);
        let n1 = u32::from(bench.registers[25] & 0xe0);
        assert_eq!(
            [bandwidth, n1, three(31), three(40), three(43)],
            bytes,
            "{reference:?}, {output}"
        );
        assert_eq!((three(34), three(46)), (three(31), three(43)));
        assert_eq!(bench.registers[137] & 1, 1, "locks fast");
    }
}

#[test]
fn crystal_and_bypass_program_the_expected_registers() {
    let mut bench = Bench { los: 6, ..Bench::new() };
    program(&mut bench, Reference::Crystal, Input::Ckin1).unwrap();
    assert_eq!((bench.registers[0], bench.registers[3]), (0x54, 0x55));
    let mut bench = Bench {
        lock_ms: None,
        ..Bench::new()
    };
    program(&mut bench, Reference::Bypass, Input::Ckin1).unwrap();
    assert_eq!((bench.registers[0], bench.registers[3]), (0x16, 0x15));
    assert!(
        !bench.writes.contains(&(136, ICAL)),
        "a bypass is set before any calibration"
    );
}

#[test]
fn crystal_replaces_lost_link_clock() {
    // No clock at input 1 yet
    let mut bench = Bench { los: 2, ..Bench::new() };
    let link = Reference::Link(125_000_000);
    assert_eq!(program(&mut bench, link, Input::Ckin1), Ok(()));
    assert_eq!(bench.registers[0], 0x54, "free run");
    assert_eq!(bench.registers[1], 0xe4, "first input 1, then input 2");
    assert_eq!(bench.registers[4], 0x92, "selected automatically, and back");
    let (d, crystal_n3) = Dividers::with_crystal(125_000_000, 125_000_000).unwrap();
    assert_eq!((bench.low_speed(43) + 1, bench.low_speed(46) + 1), (d.n3, crystal_n3));
    assert_eq!(bench.writes.last(), Some(&(136, ICAL)));
    let mut bench = Bench { los: 1, ..Bench::new() };
    assert_eq!(program(&mut bench, link, Input::Ckin1), Err(Error::NoCrystal));
    let at_two = program(&mut Bench::new(), link, Input::Ckin2);
    assert_eq!(at_two, Err(Error::CrystalInstead), "in free run input 2 is the crystal");
}

#[test]
fn faults_of_input_lock_and_dividers_are_distinguished() {
    let external = Reference::External(10_000_000);
    let outcome = |los, lock_ms, reference| {
        let mut bench = Bench {
            los,
            lock_ms,
            ..Bench::new()
        };
        (program(&mut bench, reference, Input::Ckin1), bench.waited)
    };
    assert_eq!(outcome(1, None, Reference::Crystal), (Err(Error::NoCrystal), 240));
    assert_eq!(outcome(2, None, external), (Err(Error::NoInput), 240));
    assert_eq!(outcome(2, None, Reference::Bypass), (Err(Error::NoInput), 240));
    assert_eq!(outcome(0, None, external), (Err(Error::NoLock), 20_040));
    assert_eq!(
        outcome(4, Some(1000), external).0,
        Ok(()),
        "the other input does not matter"
    );
    let impossible = Reference::External(10_000_001);
    assert_eq!(
        outcome(0, Some(0), impossible).0,
        Err(Error::Dividers(10_000_001, 125_000_000))
    );
}
