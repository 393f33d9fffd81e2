//! The registers that a batch may use: those in the gateware's descriptor, except those used by
//! firmware and kernels ([`RESERVED`]).

use kairos_contracts::registers::RESERVED;
use kairos_proto::descriptor::Register;

/// The resources that a device offers to batches.
pub trait Exported {
    /// The permission at an address; `None` if there is none.
    fn permission(&self, address: u32) -> Option<Permission>;

    /// Whether there is an I2C bus.
    fn has_bus(&self) -> bool;

    /// Whether this board has the RTIO channel of that number.
    fn has_channel(&self, number: u32) -> bool;
}

/// Permitted accesses to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permission {
    pub read: bool,
    pub write: bool,
}

impl Permission {
    /// The permission for a register of the gateware.
    pub fn of(register: &Register) -> Self {
        let reserved = reserved(register.name);
        Self {
            read: register.readable && reserved.is_none_or(|may_read| may_read),
            write: register.writable && reserved.is_none(),
        }
    }
}

/// Whether a register used by firmware or kernels may be read; `None` if it is not such a register.
/// Further blocks of a kind have a number in their name (`link1_clear`).
fn reserved(name: &str) -> Option<bool> {
    let (block, field) = name.split_once('_')?;
    let block = block.trim_end_matches(|c: char| c.is_ascii_digit());
    let (_, _, may_read) = RESERVED.iter().find(|&&(b, f, _)| (b, f) == (block, field))?;
    Some(*may_read)
}
