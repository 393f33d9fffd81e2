//! Descriptor DMA: takes frames from the guest's transmit ring and puts received ones into its
//! receive ring.

use super::checksum::{self, crc32};
use super::{
    Gem, BACKLOG, DMA_CFG, ISR, ISR_RX_COMPLETE, ISR_RX_USED, ISR_TX_COMPLETE, ISR_TX_USED, NET_CFG, RX_COUNT,
};
use super::{RX_QUEUE, RX_STATUS, TX_COUNT, TX_QUEUE, TX_STATUS};
use crate::machine::memory::Memory;

impl Gem {
    /// Sends all frames that are ready in the queue.
    pub(super) fn transmit(&mut self, memory: &Memory) {
        let mut frame = Vec::new();
        let mut first = None;
        // A ring without a used descriptor must not hang the emulator.
        for _ in 0..65536 {
            let at = self.tx_at;
            let control = memory.word(at + 4);
            if control >> 31 != 0 {
                self.words[TX_STATUS] |= 1;
                self.words[ISR] |= ISR_TX_USED;
                return;
            }
            let first_at = *first.get_or_insert(at);
            let length = control as usize & 0x3fff;
            let start = frame.len();
            frame.resize(start + length, 0);
            if !memory.read(memory.word(at), &mut frame[start..]) {
                log::warn!("gem: transmit descriptor at {at:#010x} points outside of memory");
            }
            self.tx_at = if control >> 30 & 1 != 0 {
                self.words[TX_QUEUE]
            } else {
                at + 8
            };
            if control >> 15 & 1 != 0 {
                memory.set_word(first_at + 4, memory.word(first_at + 4) | 1 << 31);
                if self.words[DMA_CFG] >> 11 & 1 != 0 {
                    checksum::fill(&mut frame);
                }
                self.words[TX_COUNT] = self.words[TX_COUNT].wrapping_add(1);
                self.sent.push(std::mem::take(&mut frame));
                first = None;
                self.words[TX_STATUS] |= 0x20;
                self.words[ISR] |= ISR_TX_COMPLETE;
            }
        }
        log::warn!("gem: endless transmit queue");
    }

    /// Receives a frame, without check sequence, from the cable.
    pub(super) fn receive(&mut self, frame: Vec<u8>, memory: &Memory) {
        let wanted = frame.first_chunk().is_some_and(|to| self.accepts(*to));
        if !wanted || !self.receiving() || self.backlog.len() >= BACKLOG {
            self.dropped += 1;
            return;
        }
        self.backlog.push_back(frame);
        self.deliver(memory);
    }

    /// Moves waiting frames into free descriptors.
    pub(super) fn deliver(&mut self, memory: &Memory) {
        while self.receiving() {
            let Some(frame) = self.backlog.front() else { return };
            let mut data = frame.clone();
            data.resize(data.len().max(60), 0);
            if self.words[NET_CFG] >> 17 & 1 == 0 {
                let check = crc32(&data);
                data.extend_from_slice(&check.to_le_bytes());
            }
            let size = match (self.words[DMA_CFG] >> 16 & 0xff) as usize * 64 {
                0 => 128,
                n => n,
            };
            let needed = data.len().div_ceil(size).max(1);
            if !self.free_descriptors(needed, memory) {
                // Once per frame, as on silicon: if it were reported at every attempt, the
                // interrupt would keep the guest from freeing descriptors.
                if !self.reported {
                    self.words[RX_STATUS] |= 1;
                    self.words[ISR] |= ISR_RX_USED;
                    self.reported = true;
                }
                return;
            }
            for (i, part) in data.chunks(size).enumerate() {
                let at = self.rx_at;
                let word = memory.word(at);
                let offset = if i == 0 { self.words[NET_CFG] >> 14 & 3 } else { 0 };
                memory.write((word & !3) + offset, part);
                let mut status = 0;
                if i == 0 {
                    status |= 1 << 14;
                }
                if i + 1 == needed {
                    status |= 1 << 15 | data.len() as u32 & 0x1fff;
                    status |= if data[..6] == [0xff; 6] { 1 << 31 } else { 1 << 27 };
                }
                memory.set_word(at + 4, status);
                memory.set_word(at, word | 1);
                self.rx_at = if word & 2 != 0 { self.words[RX_QUEUE] } else { at + 8 };
            }
            self.backlog.pop_front();
            self.reported = false;
            self.words[RX_COUNT] = self.words[RX_COUNT].wrapping_add(1);
            self.words[RX_STATUS] |= 2;
            self.words[ISR] |= ISR_RX_COMPLETE;
        }
    }

    fn free_descriptors(&self, needed: usize, memory: &Memory) -> bool {
        let mut at = self.rx_at;
        for _ in 0..needed {
            let word = memory.word(at);
            if word & 1 != 0 {
                return false;
            }
            at = if word & 2 != 0 { self.words[RX_QUEUE] } else { at + 8 };
        }
        true
    }
}
