//! The accelerator coherency port, seen from the PL: a 64-bit AXI3 slave into DDR with a fixed
//! latency.
//!
//! Reads: an address accepted in cycle c returns its first beat in cycle c + L, then one beat per
//! cycle. Writes: addresses and data are accepted at once; a burst whose last beat is transferred
//! in cycle c is in memory, and answered, from cycle c + 1 + W.

use std::collections::VecDeque;

use super::library::{Inputs, Outputs};
use crate::machine::disturbance::Disturbance;
use crate::machine::memory::Memory;

const OUTSTANDING: usize = 8;

struct Read {
    id: u8,
    address: u32,
    left: u32,
    ready: u64,
}

struct Write {
    id: u8,
    due: u64,
    beats: Vec<(u32, u64, u8)>,
}

/// Transactions in progress.
#[derive(Default)]
pub struct Acp {
    reads: VecDeque<Read>,
    addresses: VecDeque<(u8, u32)>,
    beats: Vec<(u64, u8)>,
    bursts: VecDeque<Vec<(u64, u8)>>,
    writes: VecDeque<Write>,
    responses: VecDeque<u8>,
    latency: u64,
    visible: u64,
    disturbance: Disturbance,
    /// Number of completed write bursts.
    pub written: u64,
    /// Number of accepted read bursts.
    pub accepted: u64,
    /// Address of the latest of them.
    pub newest: Option<u32>,
    /// Number of beats outside memory.
    pub errors: u64,
}

impl Acp {
    /// Creates a port. `latency` is L, `visible` is W, in PL cycles, to which `disturbance` adds.
    pub fn new(latency: u64, visible: u64, disturbance: Disturbance) -> Self {
        Self {
            latency,
            visible,
            disturbance,
            ..Self::default()
        }
    }

    /// Creates a port with the same timing.
    pub fn restarted(&self) -> Self {
        Self::new(self.latency, self.visible, self.disturbance.clone())
    }

    /// The cycle of an answer that would come in `cycle` if nothing disturbed it.
    fn late(&mut self, cycle: u64) -> u64 {
        cycle + self.disturbance.memory(cycle)
    }

    /// Whether no transaction is in progress.
    pub fn idle(&self) -> bool {
        self.reads.is_empty()
            && self.addresses.is_empty()
            && self.beats.is_empty()
            && self.bursts.is_empty()
            && self.writes.is_empty()
            && self.responses.is_empty()
    }

    /// The next cycle in which this side responds to a transaction that it has accepted.
    pub fn next_answer(&self) -> Option<u64> {
        if !self.responses.is_empty() {
            return Some(0);
        }
        let (read, write) = (self.reads.front(), self.writes.front());
        let (read, write) = (read.map(|read| read.ready), write.map(|write| write.due));
        read.into_iter().chain(write).min()
    }

    /// The earliest cycle after `cycle` before which memory may have been read, or at which it may
    /// be written.
    pub fn next_effect(&self, cycle: u64) -> u64 {
        let read = self.reads.front().map_or(cycle + self.latency, |read| read.ready);
        let write = self.writes.front().map_or(cycle + 1 + self.visible, |write| write.due);
        (read + 1).min(write).max(cycle + 1)
    }

    /// Makes the writes visible that are due at the start of `cycle`.
    pub fn commit(&mut self, cycle: u64, memory: &Memory) {
        while self.writes.front().is_some_and(|w| w.due <= cycle) {
            let w = self.writes.pop_front().expect("checked");
            for (address, data, strobe) in w.beats {
                if strobe == 0xff {
                    self.errors += u64::from(!memory.write(address & !7, &data.to_le_bytes()));
                    continue;
                }
                for lane in (0..8).filter(|l| strobe >> l & 1 != 0) {
                    let byte = (data >> (8 * lane)) as u8;
                    self.errors += u64::from(!memory.write((address & !7) + lane, &[byte]));
                }
            }
            self.responses.push_back(w.id);
        }
    }

    /// Sets this side's signals for `cycle`.
    pub fn drive(&mut self, cycle: u64, inputs: &mut Inputs, memory: &Memory) {
        self.commit(cycle, memory);
        inputs.acp_arready = (self.reads.len() < OUTSTANDING).into();
        inputs.acp_awready = (self.addresses.len() < OUTSTANDING).into();
        inputs.acp_wready = (self.bursts.len() < OUTSTANDING).into();
        inputs.acp_rvalid = 0;
        if let Some(r) = self.reads.front().filter(|r| r.ready <= cycle) {
            let mut data = [0; 8];
            self.errors += u64::from(!memory.read(r.address & !7, &mut data));
            inputs.acp_rvalid = 1;
            inputs.acp_rdata = u64::from_le_bytes(data);
            inputs.acp_rid = r.id;
            inputs.acp_rlast = (r.left == 0).into();
        }
        inputs.acp_bvalid = 0;
        if let Some(&id) = self.responses.front() {
            inputs.acp_bvalid = 1;
            inputs.acp_bid = id;
        }
    }

    /// Performs the handshakes of `cycle`.
    pub fn sample(&mut self, cycle: u64, inputs: &Inputs, outputs: &Outputs) {
        if inputs.acp_rvalid & outputs.acp_rready != 0 {
            let done = self.reads.front_mut().is_some_and(|r| {
                r.address = r.address.wrapping_add(8);
                r.ready = cycle + 1;
                r.left == 0 || {
                    r.left -= 1;
                    false
                }
            });
            if done {
                self.reads.pop_front();
            }
        }
        if inputs.acp_bvalid & outputs.acp_bready != 0 {
            self.responses.pop_front();
            self.written += 1;
        }
        if inputs.acp_arready & outputs.acp_arvalid != 0 {
            self.accepted += 1;
            self.newest = Some(outputs.acp_araddr);
            let read = Read {
                id: outputs.acp_arid,
                address: outputs.acp_araddr,
                left: (outputs.acp_arlen & 15).into(),
                ready: self.late(cycle + self.latency),
            };
            self.reads.push_back(read);
        }
        if inputs.acp_awready & outputs.acp_awvalid != 0 {
            self.addresses.push_back((outputs.acp_awid, outputs.acp_awaddr));
        }
        if inputs.acp_wready & outputs.acp_wvalid != 0 {
            self.beats.push((outputs.acp_wdata, outputs.acp_wstrb));
            if outputs.acp_wlast != 0 {
                self.bursts.push_back(std::mem::take(&mut self.beats));
            }
        }
        while !self.addresses.is_empty() && !self.bursts.is_empty() {
            let (id, address) = self.addresses.pop_front().expect("checked");
            let burst = self.bursts.pop_front().expect("checked");
            let beats = burst
                .into_iter()
                .enumerate()
                .map(|(i, (d, s))| (address.wrapping_add(8 * i as u32), d, s));
            let write = Write {
                id,
                due: self.late(cycle + 1 + self.visible),
                beats: beats.collect(),
            };
            self.writes.push_back(write);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_data_arrive_after_the_exact_latency() {
        let memory = Memory::new(1);
        memory.write(0x100, &[1, 0, 0, 0, 0, 0, 0, 0, 2]);
        let mut acp = Acp::new(20, 15, Disturbance::default());
        let (mut i, mut o) = (Inputs::zero(), Outputs::zero());
        (o.acp_arvalid, o.acp_araddr, o.acp_arlen, o.acp_rready) = (1, 0x100, 1, 1);
        let mut beats = vec![];
        for cycle in 5..40 {
            acp.drive(cycle, &mut i, &memory);
            if i.acp_rvalid != 0 {
                beats.push((cycle, i.acp_rdata, i.acp_rlast));
            }
            acp.sample(cycle, &i, &o);
            o.acp_arvalid = 0;
        }
        assert_eq!(beats, [(25, 1, 0), (26, 2, 1)]);
        assert!(acp.idle());
    }

    #[test]
    fn write_is_visible_after_its_latency() {
        let memory = Memory::new(1);
        let mut acp = Acp::new(20, 15, Disturbance::default());
        let (mut i, mut o) = (Inputs::zero(), Outputs::zero());
        (
            o.acp_awvalid,
            o.acp_awaddr,
            o.acp_wvalid,
            o.acp_wdata,
            o.acp_wstrb,
            o.acp_wlast,
        ) = (1, 0x68, 1, 0x1_8000_0000, 0xff, 1);
        o.acp_bready = 1;
        let mut seen = None;
        for cycle in 3..30 {
            acp.drive(cycle, &mut i, &memory);
            if memory.word(0x68) != 0 && seen.is_none() {
                seen = Some((cycle, i.acp_bvalid));
            }
            acp.sample(cycle, &i, &o);
            (o.acp_awvalid, o.acp_wvalid) = (0, 0);
        }
        assert_eq!(seen, Some((3 + 1 + 15, 1)));
        assert_eq!((memory.word(0x6c), acp.written, acp.idle()), (1, 1, true));
    }
}
