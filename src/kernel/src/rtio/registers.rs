//! The gateware's registers for RTIO calls, found by name in its descriptor, and the bits of their
//! answers.

use kairos_contracts::registers::{initiator, rtio, satellite};
use kairos_contracts::rtio::BOARDS;
pub use kairos_contracts::rtio::{
    INPUT_OVERFLOW, INPUT_TIMEOUT, INPUT_UNREACHABLE, OUTPUT_UNDERFLOW, OUTPUT_UNREACHABLE,
};
use kairos_pl::{Register, Register64};
use kairos_proto::descriptor::Descriptor;
use kairos_proto::exception::Id;

use crate::owned::Owned;
use crate::raise;

/// Most polls of a register before giving up.
pub const POLLS: u32 = 1000;

pub const NO_GATEWARE: &str = "RTIO destination unreachable: no gateware is loaded, or it has no clock (see the log)";

/// The registers that this core uses.
#[derive(Clone, Copy)]
pub struct Registers {
    pub reset: Register,
    pub phy_reset: Register,
    counter_update: Register,
    counter: Register64,
    pub outputs: Register,
    pub enable: Register,
    pub ring: Register,
    pub busy: Register,
    pub clear: Register,
    pub permit: Register,
    /// Present only if the gateware pushes inputs.
    pub input_ring: Option<Register>,
}

impl Registers {
    /// The RTIO counter, in machine units.
    pub fn read_counter(&self) -> i64 {
        self.counter_update.write(1);
        self.counter.read() as i64
    }
}

/// Found at boot, before any kernel.
static REGISTERS: Owned<Option<Registers>> = Owned::new(None);
/// Registers of a downstream link.
#[derive(Clone, Copy)]
struct Satellite {
    destination: Register,
    boards: Register,
    slack: Register,
}

static SATELLITES: Owned<[Option<Satellite>; BOARDS - 1]> = Owned::new([None; BOARDS - 1]);

/// Finds the registers, after reset of this core.
pub fn boot(descriptor: &Descriptor) -> Option<Registers> {
    let find = |name| Register::find(descriptor, name);
    let found = Registers {
        reset: find(rtio::RESET)?,
        phy_reset: find(rtio::PHY_RESET)?,
        counter_update: find(rtio::COUNTER_UPDATE)?,
        counter: Register64::find(descriptor, rtio::COUNTER)?,
        outputs: find(rtio::OUTPUTS)?,
        enable: find(initiator::ENABLE)?,
        ring: find(initiator::RING)?,
        busy: find(initiator::BUSY)?,
        clear: find(initiator::CLEAR)?,
        permit: find(initiator::PERMIT)?,
        input_ring: find(initiator::INPUT_RING),
    };
    REGISTERS.set(Some(found));
    SATELLITES.set(core::array::from_fn(|number| satellite(descriptor, number)));
    Some(found)
}

#[inline(never)]
fn satellite(descriptor: &Descriptor, number: usize) -> Option<Satellite> {
    let find = |name| Register::find_numbered(descriptor, name, number);
    Some(Satellite {
        destination: find(satellite::DESTINATION)?,
        boards: find(satellite::BOARDS)?,
        slack: find(satellite::SLACK)?,
    })
}

/// Whether a board behind one of the links can be reached.
#[inline(never)]
pub fn reaches(destination: u32) -> bool {
    SATELLITES.get().iter().flatten().any(|satellite| {
        let offset = destination.wrapping_sub(satellite.destination.read());
        offset < BOARDS as u32 && satellite.boards.read() >> offset & 1 != 0
    })
}

/// The lead over the counter, in cycles, that outputs need for the farthest reachable board.
#[inline(never)]
pub fn distance() -> u32 {
    let slacks = SATELLITES.get();
    let greatest = slacks.iter().flatten().map(|satellite| satellite.slack.read()).max();
    greatest.unwrap_or(0)
}

/// The registers, if there is gateware.
pub fn registers() -> Option<Registers> {
    REGISTERS.get()
}

/// The registers; raises if there are none.
#[track_caller]
pub fn registers_or_raise() -> Option<Registers> {
    let registers = registers();
    if registers.is_none() {
        raise::firmware(Id::RtioDestinationUnreachable, NO_GATEWARE, [0; 3]);
    }
    registers
}
