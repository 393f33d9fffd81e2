//! Access rights to the gateware's registers, by address.

use kairos_batch::{Exported, Permission};
use kairos_intercore::memory::PL_REGISTERS;
use kairos_proto::descriptor::Descriptor;

/// Number of words in the register space.
const WORDS: usize = (PL_REGISTERS.end - PL_REGISTERS.start) / 4;

/// A bit for each word of the register space.
type Bits = [u32; WORDS / 32];

/// The access rights at each address of the register space, and the number of RTIO channels of this
/// board.
pub struct Exports {
    read: Bits,
    write: Bits,
    channels: u32,
}

impl Exports {
    /// Collects the access rights of the registers in a descriptor.
    pub fn new(descriptor: &Descriptor) -> Self {
        let mut exports = Self {
            read: [0; WORDS / 32],
            write: [0; WORDS / 32],
            // Channels of other boards have their destination in the upper bits.
            channels: descriptor
                .channels()
                .filter(|channel| channel.number >> 16 == 0)
                .map(|channel| channel.number + 1)
                .max()
                .unwrap_or(0),
        };
        for register in descriptor.registers() {
            let permission = Permission::of(&register);
            let words = u32::from(register.width).div_ceil(32);
            for address in (0..words).filter_map(|word| register.address.checked_add(4 * word)) {
                let Some((index, bit)) = place(address) else { continue };
                if permission.read {
                    exports.read[index] |= bit;
                }
                if permission.write {
                    exports.write[index] |= bit;
                }
            }
        }
        exports
    }
}

impl Exported for Exports {
    fn permission(&self, address: u32) -> Option<Permission> {
        let (index, bit) = place(address)?;
        let permission = Permission {
            read: self.read[index] & bit != 0,
            write: self.write[index] & bit != 0,
        };
        (permission.read || permission.write).then_some(permission)
    }

    fn has_bus(&self) -> bool {
        true
    }

    fn has_channel(&self, number: u32) -> bool {
        number < self.channels
    }
}

/// The index and mask of an address's bit.
fn place(address: u32) -> Option<(usize, u32)> {
    let offset = (address as usize).checked_sub(PL_REGISTERS.start)?;
    (offset % 4 == 0 && offset / 4 < WORDS).then(|| (offset / 128, 1 << (offset / 4 % 32)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::described;

    /// Read-write, one of an unknown block, read-only, and the firmware's own.
    const REGISTERS: [(&str, u32, u16, u16); 6] = [
        ("mine_gain", 0x4001_0100, 32, 3),
        ("mine_sum", 0x4001_0104, 64, 1),
        ("clock_select", 0x4001_010c, 1, 3),
        ("mailbox1_receive", 0x4001_0110, 32, 1),
        ("link2_clear", 0x4001_0114, 1, 2),
        ("outside", 0x0010_0000, 32, 3),
    ];

    #[test]
    fn exported_access_follows_descriptor_except_firmware_registers() {
        let bytes = described::bytes(&REGISTERS);
        let exports = Exports::new(&Descriptor::new(&bytes).ok().unwrap());
        let may = |address| exports.permission(address).map(|has| (has.read, has.write));
        assert_eq!(may(0x4001_0100), Some((true, true)));
        assert_eq!([may(0x4001_0104), may(0x4001_0108)], [Some((true, false)); 2]);
        assert_eq!(may(0x4001_010c), Some((true, false)), "the clock is the firmware's");
        assert_eq!(may(0x4001_0110), None, "a read takes a word of the firmware's");
        assert_eq!(may(0x4001_0114), Some((false, true)));
        for address in [
            0x4001_0118,
            0x4001_0101,
            0x4001_fffc,
            0x4002_0000,
            0x4000_fffc,
            0x0010_0000,
            0,
            u32::MAX,
        ] {
            assert_eq!(may(address), None, "{address:#x}");
        }
    }
}
