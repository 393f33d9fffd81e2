//! Ethernet PHYs through their standard registers (IEEE 802.3, clause 22 and annex 28), without
//! vendor-specific drivers.

use core::fmt;

/// Access to the management bus.
pub trait Mdio {
    /// Reads register `register` (0 to 31) of the PHY at address `phy` (0 to 31). An absent PHY
    /// reads as all ones.
    fn read(&mut self, phy: u8, register: u8) -> u16;
}

const STATUS: u8 = 1;
const IDENTIFIER: u8 = 2;
const ADVERTISEMENT: u8 = 4;
const PARTNER: u8 = 5;
const GIGABIT_CONTROL: u8 = 9;
const GIGABIT_STATUS: u8 = 10;

const STATUS_LINK: u16 = 1 << 2;
const STATUS_NEGOTIATED: u16 = 1 << 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    Mbps10,
    Mbps100,
    Mbps1000,
}

/// The result of negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub speed: Speed,
    pub full_duplex: bool,
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let speed = match self.speed {
            Speed::Mbps10 => 10,
            Speed::Mbps100 => 100,
            Speed::Mbps1000 => 1000,
        };
        write!(
            f,
            "{speed} Mbit/s {} duplex",
            if self.full_duplex { "full" } else { "half" }
        )
    }
}

/// A PHY on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phy {
    pub address: u8,
}

impl Phy {
    /// The PHY with the lowest address.
    pub fn find(bus: &mut impl Mdio) -> Option<Self> {
        (0..32)
            .find(|&address| !matches!(bus.read(address, IDENTIFIER), 0 | 0xffff))
            .map(|address| Self { address })
    }

    /// The link, if it is up and negotiated.
    pub fn link(&self, bus: &mut impl Mdio) -> Option<Link> {
        let mut read = |register| bus.read(self.address, register);
        // A loss of the link is latched until read: the second read returns the present state.
        read(STATUS);
        let status = read(STATUS);
        if status == 0xffff || status & STATUS_LINK == 0 || status & STATUS_NEGOTIATED == 0 {
            return None;
        }
        // Own gigabit abilities are bits 9 and 8; the partner's are two bits higher.
        let gigabit = read(GIGABIT_CONTROL) & (read(GIGABIT_STATUS) >> 2);
        let common = read(ADVERTISEMENT) & read(PARTNER);
        let link = |speed, full_duplex| Some(Link { speed, full_duplex });
        match () {
            _ if gigabit & 1 << 9 != 0 => link(Speed::Mbps1000, true),
            _ if gigabit & 1 << 8 != 0 => link(Speed::Mbps1000, false),
            _ if common & 1 << 8 != 0 => link(Speed::Mbps100, true),
            _ if common & 1 << 7 != 0 => link(Speed::Mbps100, false),
            _ if common & 1 << 6 != 0 => link(Speed::Mbps10, true),
            _ => link(Speed::Mbps10, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One PHY with registers 0 to 10; the rest of the bus is empty.
    struct Bus(u8, [u16; 11]);

    impl Mdio for Bus {
        fn read(&mut self, phy: u8, register: u8) -> u16 {
            if phy == self.0 {
                self.1[register as usize]
            } else {
                0xffff
            }
        }
    }

    /// Registers of QEMU's PHY.
    const QEMU: Bus = Bus(
        7,
        [0x1140, 0x796d, 0x0141, 0x0cc2, 0x01e1, 0xcde1, 0, 0, 0, 0x0300, 0x7c00],
    );

    #[test]
    fn phy_and_its_link_state_are_found() {
        let mut bus = QEMU;
        let phy = Phy::find(&mut bus).unwrap();
        assert_eq!(phy.address, 7);
        assert_eq!(
            phy.link(&mut bus),
            Some(Link {
                speed: Speed::Mbps1000,
                full_duplex: true
            })
        );
        bus.1[10] = 0;
        assert_eq!(
            phy.link(&mut bus),
            Some(Link {
                speed: Speed::Mbps100,
                full_duplex: true
            })
        );
        bus.1[5] = 0x0021;
        assert_eq!(
            phy.link(&mut bus),
            Some(Link {
                speed: Speed::Mbps10,
                full_duplex: false
            })
        );
        bus.1[1] &= !4;
        assert_eq!(phy.link(&mut bus), None);
        assert_eq!(Phy::find(&mut Bus(40, QEMU.1)), None);
    }
}
