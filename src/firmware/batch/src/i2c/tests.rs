use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::collections::BTreeMap;
use std::vec::Vec;

use kairos_proto::batch::{Switch, Transfer};
use proptest::prelude::*;

use super::*;

const SWITCH: u8 = 0x74;
/// Connected to the switch's channel 2.
const MEMORY: u8 = 0x50;

/// State of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not addressed, or before a start condition.
    Idle,
    /// Receiving bits; their number so far.
    Taking(u32),
    Acknowledging,
    /// Sending bits.
    Giving(u32),
    /// Waiting for the acknowledgement.
    Listening,
}

/// A bus with a switch and a memory, simulated by levels.
struct Wires {
    clock: bool,
    data: bool,
    phase: Phase,
    byte: u8,
    /// The device last addressed, and whether it is being read.
    meant: Option<(u8, bool)>,
    /// Bytes since the address.
    taken: usize,
    mask: u8,
    pointer: u8,
    memory: BTreeMap<u8, u8>,
    /// Number of bytes of a transaction that the memory acknowledges.
    patience: usize,
    /// Lines held low: clock, data.
    held: (bool, bool),
    halves: usize,
    writes_to_switch: Vec<u8>,
}

impl Wires {
    fn new() -> Self {
        Self {
            clock: true,
            data: true,
            phase: Phase::Idle,
            byte: 0,
            meant: None,
            taken: 0,
            mask: 1,
            pointer: 0,
            memory: BTreeMap::new(),
            patience: usize::MAX,
            held: (false, false),
            halves: 0,
            writes_to_switch: Vec::new(),
        }
    }

    fn device_data(&self) -> bool {
        match self.phase {
            Phase::Acknowledging => false,
            Phase::Giving(bit) => self.byte >> (7 - bit) & 1 != 0,
            _ => true,
        }
    }

    fn fetch(&mut self) {
        self.byte = match self.meant {
            Some((SWITCH, _)) => self.mask,
            _ => {
                let byte = self.memory.get(&self.pointer).copied().unwrap_or(0xff);
                self.pointer = self.pointer.wrapping_add(1);
                byte
            }
        };
        self.phase = Phase::Giving(0);
    }

    /// Processes a received byte; returns whether it is acknowledged.
    fn take(&mut self) -> bool {
        let byte = self.byte;
        let Some((who, _)) = self.meant else {
            let (address, read) = (byte >> 1, byte & 1 != 0);
            let there = address == SWITCH || address == MEMORY && self.mask & 4 != 0;
            self.meant = there.then_some((address, read));
            return there;
        };
        self.taken += 1;
        match who {
            SWITCH => {
                self.mask = byte;
                self.writes_to_switch.push(byte);
            }
            _ if self.taken > self.patience => return false,
            _ if self.taken == 1 => self.pointer = byte,
            _ => {
                self.memory.insert(self.pointer, byte);
                self.pointer = self.pointer.wrapping_add(1);
            }
        }
        true
    }

    fn rises(&mut self) {
        let level = self.levels().1;
        match self.phase {
            Phase::Taking(bits) => {
                self.byte = self.byte << 1 | u8::from(level);
                self.phase = Phase::Taking(bits + 1);
            }
            Phase::Listening if level => self.phase = Phase::Idle,
            _ => {}
        }
    }

    fn falls(&mut self) {
        let acknowledged = self.phase == Phase::Taking(8) && self.take();
        self.phase = match self.phase {
            Phase::Taking(8) if acknowledged => Phase::Acknowledging,
            Phase::Taking(8) => Phase::Idle,
            Phase::Acknowledging if self.meant.is_some_and(|(_, read)| read) => return self.fetch(),
            Phase::Acknowledging => Phase::Taking(0),
            Phase::Giving(7) => Phase::Listening,
            Phase::Giving(bit) => Phase::Giving(bit + 1),
            Phase::Listening => return self.fetch(),
            other => other,
        };
    }
}

impl Lines for Wires {
    fn set_clock(&mut self, high: bool) {
        let before = self.levels().0;
        self.clock = high;
        match (before, self.levels().0) {
            (false, true) => self.rises(),
            (true, false) => self.falls(),
            _ => {}
        }
    }

    fn set_data(&mut self, high: bool) {
        let before = self.levels();
        self.data = high;
        match (before, self.levels().1) {
            ((true, true), false) => {
                (self.phase, self.meant, self.taken) = (Phase::Taking(0), None, 0);
            }
            ((true, false), true) => self.phase = Phase::Idle,
            _ => {}
        }
    }

    fn levels(&mut self) -> (bool, bool) {
        let data = self.data && self.device_data() && !self.held.1;
        (self.clock && !self.held.0, data)
    }

    async fn half(&mut self) {
        self.halves += 1;
    }
}

/// Runs a future that never waits.
fn now<T>(work: impl Future<Output = T>) -> T {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!(),
    }
}

fn through(mask: u8) -> Option<Switch> {
    Some(Switch { address: SWITCH, mask })
}

fn done(
    wires: &mut Wires,
    address: u8,
    written: &[u8],
    read: usize,
    switch: Option<Switch>,
) -> Result<Vec<u8>, Outcome> {
    let wanted = Transfer::new(address, written, read, switch).unwrap();
    let mut answer = [0; I2C_READ_MAX];
    let result = now(transfer(wires, &wanted, &mut answer));
    assert!(
        wires.held != (false, false) || wires.levels() == (true, true),
        "the bus is free again"
    );
    result.map(|count| Vec::from(&answer[..count]))
}

#[test]
fn transfer_through_switch_restores_its_setting() {
    let mut wires = Wires::new();
    assert_eq!(
        done(&mut wires, MEMORY, &[3, 0xa5, 0x5a, 1], 0, through(4)),
        Ok(Vec::new())
    );
    assert_eq!(
        done(&mut wires, MEMORY, &[3], 4, through(4)),
        Ok(Vec::from([0xa5, 0x5a, 1, 0xff]))
    );
    assert_eq!(wires.mask, 1);
    assert_eq!(wires.writes_to_switch, [4, 1, 4, 1]);
    assert_eq!(done(&mut wires, SWITCH, &[], 1, None), Ok(Vec::from([1])));
}

#[test]
fn absent_address_does_not_acknowledge() {
    let mut wires = Wires::new();
    assert_eq!(done(&mut wires, MEMORY, &[], 0, None), Err(Outcome::NotAcknowledged));
    assert_eq!(
        done(&mut wires, MEMORY, &[], 2, through(2)),
        Err(Outcome::NotAcknowledged)
    );
    assert_eq!(wires.mask, 1, "the switch is as before all the same");
    assert_eq!(done(&mut wires, MEMORY, &[], 0, through(4)), Ok(Vec::new()));
    wires.patience = 2;
    assert_eq!(
        done(&mut wires, MEMORY, &[7, 1, 2], 0, through(4)),
        Err(Outcome::NotAcknowledged)
    );
    assert_eq!(wires.memory, BTreeMap::from([(7, 1)]));
}

#[test]
fn any_line_held_low_ends_transfer() {
    for held in [(true, false), (false, true), (true, true)] {
        let mut wires = Wires::new();
        wires.held = held;
        assert_eq!(done(&mut wires, SWITCH, &[], 1, None), Err(Outcome::BusStuck));
        assert!(wires.halves < 4 * STRETCH);
        wires.held = (false, false);
        assert_eq!(done(&mut wires, SWITCH, &[], 1, None), Ok(Vec::from([1])));
    }
}

#[test]
fn interrupted_device_releases_data_line() {
    let mut wires = Wires::new();
    wires.mask = 0;
    (wires.phase, wires.byte, wires.meant) = (Phase::Giving(2), 0, Some((SWITCH, true)));
    assert_eq!(done(&mut wires, SWITCH, &[], 1, None), Err(Outcome::BusStuck));
    assert_eq!(done(&mut wires, SWITCH, &[], 1, None), Ok(Vec::from([0])));
}

proptest! {
    /// Data written are read back.
    #[test]
    fn bytes_written_to_memory_are_read_back(at: u8, bytes in proptest::collection::vec(any::<u8>(), 0..=7)) {
        let mut wires = Wires::new();
        wires.mask = 4;
        let mut written = Vec::from([at]);
        written.extend(&bytes);
        prop_assert_eq!(done(&mut wires, MEMORY, &written, 0, None), Ok(Vec::new()));
        prop_assert_eq!(done(&mut wires, MEMORY, &[at], bytes.len(), None), Ok(bytes));
    }
}
