//! Device configuration: the DMA that transfers a bitstream from memory to the PL. Registers:
//! UG585, appendix B.16. Transfers take no time. [`crate::pl::bitstream`] interprets the words.

use crate::machine::memory::Memory;
use crate::machine::peripheral::{Access, Context, Peripheral, Reset};
use crate::machine::signals::Configuration;
use crate::machine::time::Cycles;

const CONTROL: u32 = 0x00;
const INTERRUPT_STATUS: u32 = 0x0c;
const STATUS: u32 = 0x14;
const SOURCE: u32 = 0x18;
const DESTINATION: u32 = 0x1c;
const SOURCE_LENGTH: u32 = 0x20;
const DESTINATION_LENGTH: u32 = 0x24;
const MULTIBOOT: u32 = 0x2c;
const MISCELLANEOUS: u32 = 0x80;

const PROG_B: u32 = 1 << 30;
/// Configuration through PCAP, not through ICAP or JTAG.
const PCAP: u32 = 1 << 27 | 1 << 26;
const LOOPBACK: u32 = 1 << 4;

const DMA_ERROR: u32 = 1 << 15;
const DMA_DONE: u32 = 1 << 13 | 1 << 12;
const PL_DONE: u32 = 1 << 2;
const PL_INIT: u32 = 1 << 4;

/// The controller.
pub struct Devcfg {
    words: [u32; 64],
    status: u32,
    /// The PL was configured at power-up, as in a machine without a boot loader.
    flat: bool,
}

impl Default for Devcfg {
    /// The state after power-up.
    fn default() -> Self {
        Self {
            words: [0; 64],
            status: 0,
            flat: false,
        }
    }
}

impl Devcfg {
    /// The state left by a boot loader: the PL is configured.
    pub fn configured() -> Self {
        let mut this = Self {
            status: PL_DONE,
            flat: true,
            ..Self::default()
        };
        this.words[0] = PROG_B;
        this
    }

    /// Reads the register at `offset`.
    fn read(&self, offset: u32) -> u32 {
        match offset {
            INTERRUPT_STATUS => self.status,
            // Command queue empty; the PL reports cleared memory unless PROG_B is deasserted after
            // power-up.
            STATUS => {
                0x4000_0a20
                    | if self.flat || self.words[0] & PROG_B != 0 {
                        PL_INIT
                    } else {
                        0
                    }
            }
            MISCELLANEOUS => 0x3000_0000 | self.words[MISCELLANEOUS as usize / 4], // silicon version 3
            o => self.words[o as usize / 4 % 64],
        }
    }

    /// Writes a register. Returns the resulting action on the PL. `clocked`: the clock of the PCAP
    /// is running.
    fn write(&mut self, offset: u32, value: u32, clocked: bool, memory: &Memory) -> Option<Configuration> {
        let before = self.words[0];
        match offset {
            INTERRUPT_STATUS => self.status &= !value,
            STATUS => {}
            _ => self.words[offset as usize / 4 % 64] = value,
        }
        match offset {
            CONTROL if before & PROG_B != 0 && value & PROG_B == 0 => {
                self.flat = false;
                self.status &= !PL_DONE;
                Some(Configuration::Clear)
            }
            DESTINATION_LENGTH => self.transfer(clocked, memory),
            _ => None,
        }
    }

    /// Sets the flash address at which the boot ROM found an image, in units of 32 KiB.
    pub fn set_multiboot(&mut self, offset: u32) {
        self.words[MULTIBOOT as usize / 4] = offset;
    }

    fn transfer(&mut self, clocked: bool, memory: &Memory) -> Option<Configuration> {
        let register = |offset: u32| self.words[offset as usize / 4];
        let (source, length) = (register(SOURCE), register(SOURCE_LENGTH) as usize);
        let mut bytes = vec![0; length * 4];
        let wrong = if register(CONTROL) & PCAP != PCAP || register(MISCELLANEOUS) & LOOPBACK != 0 {
            "PCAP is not selected"
        } else if !clocked {
            "the clock of PCAP does not run"
        } else if register(CONTROL) & PROG_B == 0 {
            "the PL is held in reset"
        } else if register(DESTINATION) != !0 || source & 3 != 1 || source & 0x3c != 0 {
            "only whole transfers from an address that is a multiple of 64 to the PL are modelled"
        } else if length == 0 || register(DESTINATION_LENGTH) as usize != length {
            "lengths of source and destination differ"
        } else if !memory.read(source & !3, &mut bytes) {
            "the source is not memory"
        } else {
            self.status |= DMA_DONE;
            let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
            return Some(Configuration::Words(words.collect()));
        };
        log::warn!("devcfg: no transfer: {wrong}");
        self.status |= DMA_ERROR;
        None
    }
}

impl Peripheral for Devcfg {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        Devcfg::read(self, at.offset)
    }

    fn write(&mut self, at: Access, value: u32, context: &mut Context) {
        let configuration = self.write(at.offset, value, context.signals.pcap_clock, context.memory);
        if configuration.is_some() {
            context.signals.configuration = configuration;
            context.signals.changed = true;
        }
    }

    fn signalled(&mut self, _: Cycles, context: &mut Context) {
        if std::mem::take(&mut context.signals.configured) {
            self.status |= PL_DONE;
        }
    }

    /// Without a boot ROM nothing would configure the PL again, so it keeps its configuration.
    fn reset(&mut self, what: Reset, context: &mut Context) {
        if let (Reset::System(_), true) = (what, context.memory.has_boot_rom()) {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(d: &mut Devcfg, memory: &Memory) -> Option<Configuration> {
        d.write(SOURCE, 0x1000 | 1, true, memory);
        d.write(DESTINATION, !0, true, memory);
        d.write(SOURCE_LENGTH, 2, true, memory);
        d.write(DESTINATION_LENGTH, 2, true, memory)
    }

    #[test]
    fn bitstream_words_arrive_only_with_complete_setup() {
        let memory = Memory::new(1);
        memory.set_word(0x1000, 0xaa99_5566);
        let mut d = Devcfg::default();
        assert_eq!(d.read(STATUS) & PL_INIT, 0);
        assert_eq!(start(&mut d, &memory), None);
        assert_eq!(d.read(INTERRUPT_STATUS), DMA_ERROR);
        d.write(INTERRUPT_STATUS, !0, true, &memory);
        d.write(CONTROL, PROG_B | PCAP, true, &memory);
        let words = Configuration::Words(vec![0xaa99_5566, 0]);
        assert_eq!(start(&mut d, &memory), Some(words));
        assert_eq!(d.read(INTERRUPT_STATUS), DMA_DONE);
        d.status |= PL_DONE;
        assert_eq!(d.write(CONTROL, PCAP, true, &memory), Some(Configuration::Clear));
        assert_eq!(d.read(INTERRUPT_STATUS), DMA_DONE);
    }
}
