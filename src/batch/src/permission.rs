//! Which registers a batch may use: those that the gateware's descriptor has, without what firmware
//! and kernels work with ([`RESERVED`]).

use kairos_contracts::registers::RESERVED;
use kairos_proto::descriptor::Register;

/// What a device lets batches use.
pub trait Exported {
    /// What may be done at an address; `None` if nothing.
    fn permission(&self, address: u32) -> Option<Permission>;

    /// Whether there is an I2C bus.
    fn has_bus(&self) -> bool;

    /// Whether this board has the RTIO channel of that number.
    fn has_channel(&self, number: u32) -> bool;
}

/// What a batch may do with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permission {
    pub read: bool,
    pub write: bool,
}

impl Permission {
    /// For a register of the gateware.
    pub fn of(register: &Register) -> Self {
        let reserved = reserved(register.name);
        Self {
            read: register.readable && reserved.is_none_or(|may_read| may_read),
            write: register.writable && reserved.is_none(),
        }
    }
}

/// Whether a register that firmware or kernels work with may be read; `None` if it is not one of
/// those. The second block of a kind has a number in its name (`link1_clear`).
fn reserved(name: &str) -> Option<bool> {
    let (block, field) = name.split_once('_')?;
    let block = block.trim_end_matches(|c: char| c.is_ascii_digit());
    let (_, _, may_read) = RESERVED.iter().find(|&&(b, f, _)| (b, f) == (block, field))?;
    Some(*may_read)
}
