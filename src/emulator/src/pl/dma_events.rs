//! Determines the events submitted by the gateware's DMA player: from writes to its registers, and
//! from the trace in memory.

use kairos_contracts::registers::dma;
use kairos_proto::descriptor::Descriptor;
use kairos_proto::dma::{decode, COMPACT};

use crate::machine::memory::Memory;

/// Words of a trace read at once.
const PIECE: usize = 4096;
/// Maximum length of an event in words: a time, its header and its data.
const EVENT: usize = 32;

/// Register addresses of the player, and values written to them.
pub struct Player {
    enable: u32,
    base: u32,
    /// Address of the upper half.
    offset: u32,
    format: u32,
    trace: u32,
    time: u64,
    compact: bool,
}

impl Player {
    /// Finds the player in the gateware's descriptor; `None` if it has none.
    pub fn find(descriptor: &[u8]) -> Option<Self> {
        let descriptor = Descriptor::new(descriptor).ok()?;
        let find = |name| descriptor.register(name).map(|register| register.address);
        Some(Self {
            enable: find(dma::ENABLE)?,
            base: find(dma::BASE)?,
            offset: find(dma::TIME_OFFSET)?,
            format: find(dma::FORMAT)?,
            trace: 0,
            time: 0,
            compact: false,
        })
    }

    /// Handles a store. Returns whether it starts playback of a trace that can be decoded.
    pub fn stored(&mut self, address: u32, value: u32) -> bool {
        if address == self.base {
            self.trace = value;
        } else if address == self.offset {
            self.time = self.time & 0xffff_ffff | u64::from(value) << 32;
        } else if address == self.offset + 4 {
            self.time = self.time & !0xffff_ffff | u64::from(value);
        } else if address == self.format {
            self.compact = value == COMPACT;
        }
        address == self.enable && value & 1 != 0 && self.compact
    }

    /// Start time, added to the times in the trace.
    pub fn time(&self) -> i64 {
        self.time as i64
    }

    /// Address of the trace.
    pub fn trace(&self) -> u32 {
        self.trace
    }
}

/// Calls `event` with the address, target, time and first data word of each event of a trace.
pub fn events(trace: u32, memory: &Memory, mut event: impl FnMut(u32, u32, i64, u32)) {
    let (mut words, mut at, mut before, mut more) = (Vec::new(), 0, 0, true);
    let address = |at: usize| trace.wrapping_add(4 * at as u32);
    loop {
        if more && words.len() < at + EVENT {
            let mut piece = [0; 4 * PIECE];
            more = memory.read(address(words.len()), &mut piece);
            words.extend(piece.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)));
        }
        let Some((next, end)) = decode(&words, at, before) else {
            return;
        };
        event(
            address(at),
            next.target,
            next.time,
            next.words().first().copied().unwrap_or_default(),
        );
        (at, before) = (end, next.time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kairos_proto::dma::{encode, END};

    const BASE: u32 = 0x10_0000;

    fn player() -> Player {
        Player {
            enable: 0x80,
            base: 0x84,
            offset: 0x88,
            format: 0x90,
            trace: 0,
            time: 0,
            compact: false,
        }
    }

    #[test]
    fn played_trace_is_attributed_to_its_playback() {
        let memory = Memory::new(16);
        let (mut words, count) = (Vec::new(), 3 * PIECE as i64);
        let mut expected = Vec::new();
        for n in 0..count {
            expected.push((BASE + 4 * words.len() as u32, 7 << 8, n * 10, n as u32));
            encode((n - 1).max(0) * 10, 7 << 8, n * 10, [n as u32].into_iter(), |word| {
                words.push(word)
            });
        }
        words.extend(END);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(memory.write(BASE, &bytes));
        let mut player = player();
        for (address, value) in [(0x84, BASE), (0x88, 1), (0x8c, 5), (0x90, COMPACT)] {
            assert!(!player.stored(address, value));
        }
        assert!(player.stored(0x80, 1) && !player.stored(0x80, 0));
        let mut found = Vec::new();
        assert_eq!((player.trace(), player.time()), (BASE, (1 << 32) + 5));
        events(BASE, &memory, |address, target, time, data| {
            found.push((address, target, time, data))
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn invalid_trace_has_no_events() {
        events(0xffff_ff80, &Memory::new(16), |_, _, _, _| panic!("there is none"));
    }
}
