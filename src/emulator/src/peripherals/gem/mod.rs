//! The gigabit Ethernet controller GEM0 with descriptor DMA, checksum offload, and a PHY on its
//! MDIO bus. The reference is QEMU's `cadence_gem`, except that interrupt status bits are cleared
//! by writing ones, as on silicon.

mod checksum;
mod rings;

use std::collections::VecDeque;

use crate::machine::memory::Memory;
use crate::machine::peripheral::{sooner, Access, Context, Due, Peripheral, Readiness, Reset};
use crate::machine::time::{self, Cycles};

const PHY_ADDRESS: u32 = 7;
/// Frames kept for the guest while it has no free descriptor; further ones are lost.
const BACKLOG: usize = 4096;

const NET_CTRL: usize = 0;
const NET_CFG: usize = 1;
const DMA_CFG: usize = 0x10 / 4;
const TX_STATUS: usize = 0x14 / 4;
const RX_QUEUE: usize = 0x18 / 4;
const TX_QUEUE: usize = 0x1c / 4;
const RX_STATUS: usize = 0x20 / 4;
const ISR: usize = 0x24 / 4;
const IMR: usize = 0x30 / 4;
const PHY_MAINTENANCE: usize = 0x34 / 4;
const HASH: usize = 0x80 / 4;
const ADDRESSES: usize = 0x88 / 4;
const TX_COUNT: usize = 0x108 / 4;
const RX_COUNT: usize = 0x158 / 4;

const ISR_RX_COMPLETE: u32 = 1 << 1;
const ISR_RX_USED: u32 = 1 << 2;
const ISR_TX_USED: u32 = 1 << 3;
const ISR_TX_COMPLETE: u32 = 1 << 7;

/// The controller.
pub struct Gem {
    words: [u32; 0x300 / 4],
    phy: [u16; 32],
    rx_at: u32,
    tx_at: u32,
    backlog: VecDeque<Vec<u8>>,
    /// Frames sent by the guest, complete except for the frame check sequence.
    sent: Vec<Vec<u8>>,
    /// Number of received frames dropped: not wanted, receiver disabled, or backlog full.
    dropped: u64,
    /// Whether the lack of a free descriptor has been reported for the first frame of the backlog.
    reported: bool,
    cable: Option<Box<dyn Cable>>,
    /// When the guest was last probed through the cable.
    asked: Option<Cycles>,
}

/// The other end of the Ethernet cable. Frames are complete except for the frame check sequence.
pub trait Cable {
    /// Takes frames sent by the guest at `now`.
    fn send(&mut self, frames: Vec<Vec<u8>>, now: Cycles);
    /// Arrival time of the next frame at the guest.
    fn next(&self) -> Option<Cycles>;
    /// Takes the next frame that has arrived at the guest by `now`.
    fn arrived(&mut self, now: Cycles) -> Option<Vec<u8>>;
    /// Whether the guest has shown that its network is up.
    fn guest_up(&self) -> bool;
    /// Sends a packet that the guest answers if its network is up.
    fn probe(&mut self, now: Cycles);
}

/// Virtual time between probes while the network comes up.
const PROBE_INTERVAL: Cycles = time::CPU_HZ / 100;

impl Gem {
    /// Creates the controller after power-up, with this cable plugged in.
    pub fn new(cable: Option<Box<dyn Cable>>) -> Self {
        let mut words = [0; 0x300 / 4];
        words[NET_CFG] = 0x0008_0000;
        words[0x08 / 4] = 0x6; // PHY management idle
        words[DMA_CFG] = 0x0002_0784;
        words[IMR] = 0x07ff_ffff; // 1 = masked
        words[0xfc / 4] = 0x0002_0118; // module ID
        words[0x280 / 4] = 0x0254_0000;
        let mut phy = [0; 32];
        // A Marvell 88E1111 with its link up at 1 Gb/s, as QEMU presents it.
        for (n, v) in [
            (0, 0x1140),
            (1, 0x796d),
            (2, 0x0141),
            (3, 0x0cc2),
            (4, 0x01e1),
            (5, 0xcde1),
            (6, 0x000f),
            (7, 0x2001),
            (8, 0x40e6),
            (9, 0x0300),
            (10, 0x7c00),
            (15, 0x3000),
            (16, 0x0078),
            (17, 0xbc00),
            (18, 0x0000),
            (19, 0x0000),
            (20, 0x0c60),
            (24, 0x4100),
            (27, 0x848b),
        ] {
            phy[n] = v;
        }
        Self {
            words,
            phy,
            rx_at: 0,
            tx_at: 0,
            backlog: VecDeque::new(),
            sent: Vec::new(),
            dropped: 0,
            reported: false,
            cable,
            asked: None,
        }
    }

    /// Whether the receiver is enabled.
    fn receiving(&self) -> bool {
        self.words[NET_CTRL] & 4 != 0 && self.words[RX_QUEUE] != 0
    }

    /// Whether received frames are waiting for a free descriptor.
    fn blocked(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// Reads the register at `offset`.
    fn read(&mut self, offset: u32) -> u32 {
        let n = offset as usize / 4;
        match n {
            0x28.. if n >= self.words.len() => 0,
            RX_QUEUE => self.rx_at,
            TX_QUEUE => self.tx_at,
            _ => self.words[n],
        }
    }

    /// Writes a register. Starting transmission sends everything ready in the queue at once.
    fn write(&mut self, offset: u32, value: u32, memory: &Memory) {
        let n = offset as usize / 4;
        match n {
            _ if n >= self.words.len() => {}
            NET_CTRL => {
                let was = self.words[NET_CTRL];
                self.words[NET_CTRL] = value & !0x1e60; // start, halt, pause and statistics bits are commands
                if value & 8 != 0 && was & 8 == 0 {
                    self.tx_at = self.words[TX_QUEUE];
                }
                if value & 4 != 0 && was & 4 == 0 {
                    self.rx_at = self.words[RX_QUEUE];
                }
                if value & 4 == 0 {
                    self.backlog.clear();
                }
                if value & 0x20 != 0 {
                    self.words[0x100 / 4..0x1b4 / 4].fill(0);
                }
                if value & 0x200 != 0 && value & 8 != 0 {
                    self.transmit(memory);
                }
            }
            RX_QUEUE | TX_QUEUE => {
                self.words[n] = value & !3;
                if n == RX_QUEUE {
                    self.rx_at = value & !3;
                } else {
                    self.tx_at = value & !3;
                }
            }
            TX_STATUS | RX_STATUS | ISR => self.words[n] &= !value,
            0x0a => self.words[IMR] &= !value, // interrupt enable
            0x0b => self.words[IMR] |= value,  // interrupt disable
            IMR | 0x02 | 0x3f => {}
            PHY_MAINTENANCE => self.manage(value),
            _ => self.words[n] = value,
        }
    }

    /// Performs an MDIO frame, which completes at once.
    fn manage(&mut self, value: u32) {
        let (address, register) = (value >> 23 & 31, (value >> 18 & 31) as usize);
        let mut result = value;
        match (value >> 28 & 3, address == PHY_ADDRESS) {
            (2, true) => result = value & 0xffff_0000 | u32::from(self.phy[register]),
            (2, false) => result |= 0xffff,
            (1, true) => match register {
                0 => self.phy[0] = value as u16 & !0x8200, // reset and restart complete at once
                1..=3 | 5 | 6 | 10 | 15 | 17 => {}
                _ => self.phy[register] = value as u16,
            },
            _ => {}
        }
        self.words[PHY_MAINTENANCE] = result;
        self.words[ISR] |= 1;
    }

    /// Whether the address filter accepts this destination (UG585, register NET_CFG and appendix
    /// B.18).
    fn accepts(&self, to: [u8; 6]) -> bool {
        let set = |bit: u32| self.words[NET_CFG] >> bit & 1 != 0;
        let [a, b, c, d, e, f] = to;
        let (low, high) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, 0, 0]));
        let own = (0..4).any(|n| {
            (
                self.words[ADDRESSES + 2 * n],
                self.words[ADDRESSES + 2 * n + 1] & 0xffff,
            ) == (low, high)
        });
        let number = u64::from(high) << 32 | u64::from(low);
        let index = (0..8).fold(0, |index, n| index ^ (number >> (6 * n)) as usize & 63);
        let hashed = self.words[HASH + index / 32] >> (index % 32) & 1 != 0;
        match to {
            _ if set(4) => true,
            [0xff, 0xff, 0xff, 0xff, 0xff, 0xff] => !set(5),
            [first, ..] if first & 1 != 0 => own || set(6) && hashed,
            _ => own || set(7) && hashed,
        }
    }
}

impl Peripheral for Gem {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        Gem::read(self, at.offset)
    }

    fn write(&mut self, at: Access, value: u32, context: &mut Context) {
        self.write(at.offset, value, context.memory);
    }

    fn reset(&mut self, what: Reset, _: &mut Context) {
        if let Reset::System(_) = what {
            let asked = self.asked;
            *self = Self::new(self.cable.take());
            self.asked = asked;
        }
    }

    fn update(&mut self, now: Cycles, context: &mut Context) -> bool {
        if self.blocked() {
            self.deliver(context.memory);
        }
        let Some(mut cable) = self.cable.take() else {
            return true;
        };
        if !self.sent.is_empty() {
            cable.send(std::mem::take(&mut self.sent), now);
        }
        while let Some(frame) = cable.arrived(now) {
            self.receive(frame, context.memory);
        }
        self.cable = Some(cable);
        true
    }

    fn next(&self, due: &mut Due) {
        sooner(&mut due.arrival, self.cable.as_ref().and_then(|cable| cable.next()));
    }

    fn irq(&self) -> u32 {
        (self.words[ISR] & !self.words[IMR] != 0).into()
    }

    fn readiness(&mut self, now: Cycles) -> Readiness {
        let receiving = self.receiving();
        let Some(cable) = self.cable.as_mut().filter(|_| receiving) else {
            return Readiness::Unknown;
        };
        if cable.guest_up() {
            return Readiness::Up;
        }
        if self.asked.is_some_and(|asked| now < asked + PROBE_INTERVAL) {
            return Readiness::Unknown;
        }
        self.asked = Some(now);
        cable.probe(now);
        Readiness::Probing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(memory: &Memory) -> Gem {
        let mut g = Gem::new(None);
        for i in 0..2u32 {
            memory.set_word(0x1000 + 8 * i, (0x4000 + 0x800 * i) | if i == 1 { 2 } else { 0 });
        }
        g.write(0x10, 24 << 16 | 1 << 11, memory);
        g.write(0x18, 0x1000, memory);
        g.write(0x1c, 0x2000, memory);
        g.write(0x28, 0xffff, memory);
        g.write(0x04, 1 << 4, memory);
        g.write(0x00, 0xc, memory);
        g
    }

    #[test]
    fn received_frames_wait_while_the_ring_is_full() {
        let m = Memory::new(1);
        let mut g = ready(&m);
        for i in 0..3u8 {
            g.receive(vec![i; 70], &m);
        }
        assert!(g.irq() != 0 && g.blocked());
        g.write(0x24, !0, &m);
        g.deliver(&m);
        assert_eq!(g.irq(), 0, "reported again without a new frame");
        assert_eq!(m.word(0x1004) & 0x1fff, 74);
        assert_eq!(m.word(0x1000) & 3, 1);
        let mut b = [0; 70];
        m.read(0x4800, &mut b);
        assert_eq!(b, [1; 70]);
        m.set_word(0x1000, 0x4000);
        g.deliver(&m);
        assert!(!g.blocked());
        m.read(0x4000, &mut b);
        assert_eq!(b, [2; 70]);
    }

    #[test]
    fn only_frames_for_the_guest_are_received() {
        let m = Memory::new(1);
        let mut g = ready(&m);
        let (own, other) = ([2, 0x4b, 0x41, 0x49, 0x52, 1], [2, 0x4b, 0x41, 0x49, 0x52, 2]);
        let (broadcast, multicast) = ([0xff; 6], [0x33, 0x33, 0xff, 0, 0, 1]);
        let accepted = |g: &Gem| [own, other, broadcast, multicast].map(|to| g.accepts(to));
        assert_eq!(accepted(&g), [true; 4]);
        g.write(0x04, 0, &m);
        assert_eq!(accepted(&g), [false, false, true, false]);
        g.write(0x88, 0x4941_4b02, &m);
        g.write(0x8c, 0x0152, &m);
        g.write(0x80, !0, &m);
        g.write(0x84, !0, &m);
        g.write(0x04, 1 << 6, &m);
        assert_eq!(accepted(&g), [true, false, true, true]);
        // The address hashes to 35.
        g.write(0x84, !8, &m);
        assert_eq!(accepted(&g), [true, false, true, false]);
        g.write(0x04, 1 << 5, &m);
        assert_eq!(accepted(&g), [true, false, false, false]);
    }

    #[test]
    fn transmitted_frame_gets_its_checksums() {
        let m = Memory::new(1);
        let mut g = ready(&m);
        let mut f = vec![0u8; 14 + 20 + 8 + 4];
        f[12..14].copy_from_slice(&[8, 0]);
        f[14] = 0x45;
        f[17] = 32;
        f[23] = 17;
        f[26..34].copy_from_slice(&[10, 0, 2, 15, 10, 0, 2, 2]);
        f[39] = 12;
        m.write(0x8000, &f);
        m.set_word(0x2000, 0x8000);
        m.set_word(0x2004, f.len() as u32 | 1 << 15);
        m.set_word(0x200c, 1 << 31);
        g.write(0x00, 0x20c, &m);
        assert_eq!(g.sent.len(), 1);
        assert_eq!(m.word(0x2004) >> 31, 1);
        let ip = &g.sent[0][14..];
        let sum: u32 = ip[..20].chunks(2).map(|c| u32::from(c[0]) << 8 | u32::from(c[1])).sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
        assert_ne!(ip[26..28], [0, 0]);
    }

    #[test]
    fn only_the_connected_phy_answers() {
        let m = Memory::new(1);
        let mut g = Gem::new(None);
        g.write(0x34, 0x6002_0000 | 7 << 23 | 2 << 18, &m);
        assert_eq!(g.read(0x34) & 0xffff, 0x0141);
        g.write(0x34, 0x6002_0000 | 3 << 23 | 2 << 18, &m);
        assert_eq!(g.read(0x34) & 0xffff, 0xffff);
    }
}
