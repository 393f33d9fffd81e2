//! The gateware's registers that RTIO calls use, found by name in its descriptor, and the bits of their answers.

use kairos_pl::{Register, Register64};
use kairos_proto::descriptor::Descriptor;
use kairos_proto::exception::Id;

use crate::owned::Owned;
use crate::raise;

/// Status bits of an output (kernel ABI, section 5.3).
pub const OUTPUT_UNDERFLOW: u32 = 2;
pub const OUTPUT_UNREACHABLE: u32 = 4;
/// Status bits of an input (section 5.5).
pub const INPUT_TIMEOUT: u32 = 1;
pub const INPUT_OVERFLOW: u32 = 2;
pub const INPUT_UNREACHABLE: u32 = 8;

/// Reads of a register before something else is done.
pub const POLLS: u32 = 1000;

pub const NO_GATEWARE: &str = "RTIO destination unreachable: no gateware is loaded, or it has no clock (see the log)";

/// The registers that this core uses.
#[derive(Clone, Copy)]
pub struct Registers {
    pub reset: Register,
    pub phy_reset: Register,
    counter_update: Register,
    counter: Register64,
    pub enable: Register,
    pub ring: Register,
    pub busy: Register,
    pub clear: Register,
    /// Only where the gateware pushes inputs.
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

/// Finds the registers, after reset of this core.
pub fn boot(descriptor: &Descriptor) -> Option<Registers> {
    let find = |name| Register::find(descriptor, name);
    let found = Registers {
        reset: find("rtio_reset")?,
        phy_reset: find("rtio_phy_reset")?,
        counter_update: find("rtio_counter_update")?,
        counter: Register64::find(descriptor, "rtio_counter")?,
        enable: find("initiator_enable")?,
        ring: find("initiator_ring")?,
        busy: find("initiator_busy")?,
        clear: find("initiator_clear")?,
        input_ring: find("initiator_input_ring"),
    };
    REGISTERS.set(Some(found));
    Some(found)
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
