//! The buses between logic and processing system.

use super::acp::Acp;
use super::gp::{Access, Answer, Gp, Master};
use super::hp::Hp;
use super::library::{Inputs, Outputs};
use super::slave::Slave;
use crate::machine::disturbance::{Disturbance, Of};
use crate::machine::memory::Memory;
use crate::machine::params::Params;
use crate::machine::time::{self, Cycles};

/// Transfers of the kernel initiator through the ACP since the logic was configured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Number of accepted read bursts.
    pub(super) accepted: u64,
    /// Number of completed write bursts.
    pub(super) written: u64,
}

/// The signals with which the cores' accesses drive their ports in a cycle.
#[derive(Clone, Copy)]
pub(super) struct Driven {
    gp0: Master,
    gp1: Master,
}

/// The ports of the processing system, with the transactions in progress.
///
/// Each cycle drives the inputs of the logic and then samples its outputs, once each; if no core has
/// an access in progress, the two ports to memory alone suffice. Writes reach memory when they are
/// committed.
pub(super) struct Buses {
    acp: Acp,
    hp: Hp,
    /// Accesses of the logic to peripherals.
    slave: Slave,
    /// Registers of the logic.
    gp0: Gp,
    /// Memory of other boards.
    gp1: Gp,
    /// Minimum duration of an access through GP0.
    access: Cycles,
    /// The same for GP1, and when the access there began.
    window_access: Cycles,
    window_begun: Cycles,
}

impl Buses {
    /// Idle ports with this timing.
    pub(super) fn new(params: &Params) -> Self {
        Self {
            acp: Acp::new(
                params.acp_read_latency,
                params.acp_write_visible,
                Disturbance::new(params.disturbances, Of::Coherent),
            ),
            hp: Hp::new(Disturbance::new(params.disturbances, Of::Streams)),
            slave: Slave::default(),
            gp0: Gp::default(),
            gp1: Gp::default(),
            access: params.gp_access,
            window_access: params.gp1_access,
            window_begun: 0,
        }
    }

    /// Abandons all transactions.
    pub(super) fn reset(&mut self) {
        self.acp = self.acp.restarted();
        (self.hp, self.gp0, self.gp1) = (self.hp.restarted(), Gp::default(), Gp::default());
        self.slave = Slave::default();
    }

    /// Whether no transaction is in progress.
    pub(super) fn are_idle(&self) -> bool {
        self.acp.idle() && self.hp.idle() && self.slave.idle() && self.cores_are_idle()
    }

    /// Whether no access of a core is in progress.
    pub(super) fn cores_are_idle(&self) -> bool {
        self.gp0.idle() && self.gp1.idle()
    }

    /// Sets the inputs of the logic for `cycle`. The result is needed by [`Self::sample`].
    pub(super) fn drive(&mut self, cycle: u64, inputs: &mut Inputs, memory: &Memory) -> Driven {
        self.drive_memory(cycle, inputs, memory);
        let driven = Driven {
            gp0: self.gp0.drive(),
            gp1: self.gp1.drive(),
        };
        inputs.set_gp0(driven.gp0);
        inputs.set_gp1(driven.gp1);
        driven
    }

    /// Performs the handshakes of `cycle`.
    pub(super) fn sample(&mut self, cycle: u64, driven: Driven, inputs: &Inputs, outputs: &Outputs) {
        self.sample_memory(cycle, inputs, outputs);
        self.gp0.sample(cycle, driven.gp0, outputs.gp0());
        self.gp1.sample(cycle, driven.gp1, outputs.gp1());
    }

    /// The port through which the logic accesses peripherals.
    pub(super) fn slave(&mut self) -> &mut Slave {
        &mut self.slave
    }

    /// Whether the logic waits for an access to a peripheral, which the bus has to perform.
    pub(super) fn ask(&self) -> bool {
        self.slave.asks()
    }

    /// As [`Self::drive`], for the ports to memory and peripherals alone.
    pub(super) fn drive_memory(&mut self, cycle: u64, inputs: &mut Inputs, memory: &Memory) {
        self.acp.drive(cycle, inputs, memory);
        self.hp.drive(cycle, inputs, memory);
        self.slave.drive(cycle, inputs);
    }

    /// As [`Self::sample`], for the ports to memory and peripherals alone.
    pub(super) fn sample_memory(&mut self, cycle: u64, inputs: &Inputs, outputs: &Outputs) {
        self.acp.sample(cycle, inputs, outputs);
        self.hp.sample(cycle, inputs, outputs);
        self.slave.sample(cycle, inputs, outputs);
    }

    /// Makes the writes visible that are due at the start of `cycle`.
    pub(super) fn commit(&mut self, cycle: u64, memory: &Memory) {
        self.acp.commit(cycle, memory);
        self.hp.commit(cycle, memory);
    }

    /// The cycle in which the next response of memory reaches the logic; `u64::MAX` if none is
    /// pending.
    pub(super) fn next_response(&self) -> u64 {
        let ports = [self.acp.next_answer(), self.hp.next_answer(), self.slave.next_answer()];
        ports.into_iter().flatten().min().unwrap_or(u64::MAX)
    }

    /// The earliest cycle after `cycle` at which the kernel initiator may read or write memory.
    pub(super) fn next_effect(&self, cycle: u64) -> u64 {
        self.acp.next_effect(cycle)
    }

    /// Transfers of the kernel initiator.
    pub(super) fn progress(&self) -> Progress {
        Progress {
            accepted: self.acp.accepted,
            written: self.acp.written,
        }
    }

    /// Address of its latest read.
    pub(super) fn latest_read(&self) -> Option<u32> {
        self.acp.newest
    }

    /// Time for which a core stalls that waits for an access through GP0 from `begin` to `end`.
    pub(super) fn stall(&self, begin: Cycles, end: Cycles) -> Cycles {
        self.access.max(end.saturating_sub(begin))
    }

    /// The port to the registers of the logic.
    pub(super) fn registers(&mut self) -> &mut Gp {
        &mut self.gp0
    }

    /// The port to the memory of other boards.
    pub(super) fn window(&self) -> &Gp {
        &self.gp1
    }

    /// Begins an access there at `now`.
    pub(super) fn begin_window(&mut self, access: Access, now: Cycles) {
        self.gp1.start(access);
        self.window_begun = now;
    }

    /// Takes its answer, and when that reaches the core.
    pub(super) fn take_window(&mut self) -> Option<(Answer, Cycles)> {
        let answer = self.gp1.finish()?;
        let least = self.window_begun + self.window_access;
        Some((answer, time::from_pl(answer.cycle + 1).max(least)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(store: Option<u32>) -> Access {
        Access {
            address: 0x4000_0010,
            size: 4,
            store,
        }
    }

    #[test]
    fn access_keeps_its_port_busy_until_its_answer_is_taken() {
        let (mut buses, memory) = (Buses::new(&Params::default()), Memory::new(1));
        let (mut inputs, mut outputs) = (Inputs::zero(), Outputs::zero());
        assert!(buses.are_idle());
        buses.registers().start(access(None));
        (outputs.gp0_arready, outputs.gp0_rvalid, outputs.gp0_rdata) = (1, 1, 7);
        let driven = buses.drive(5, &mut inputs, &memory);
        assert_eq!((inputs.gp0_arvalid, inputs.gp1_arvalid), (1, 0));
        buses.sample(5, driven, &inputs, &outputs);
        assert!(!buses.are_idle() && !buses.cores_are_idle());
        let answer = buses.registers().finish().expect("an answer");
        assert_eq!((answer.data, answer.cycle), (7, 5));
        assert!(buses.are_idle());
    }

    #[test]
    fn read_of_memory_is_progress_and_has_a_response_time() {
        let (mut buses, memory) = (Buses::new(&Params::default()), Memory::new(1));
        let latency = Params::default().acp_read_latency;
        let (mut inputs, mut outputs) = (Inputs::zero(), Outputs::zero());
        (outputs.acp_arvalid, outputs.acp_araddr) = (1, 0x40);
        assert_eq!(buses.next_response(), u64::MAX);
        buses.drive_memory(9, &mut inputs, &memory);
        buses.sample_memory(9, &inputs, &outputs);
        assert_eq!(buses.next_response(), 9 + latency);
        assert_eq!(
            buses.progress(),
            Progress {
                accepted: 1,
                written: 0
            }
        );
        assert_eq!(buses.latest_read(), Some(0x40));
        assert!(!buses.are_idle() && buses.cores_are_idle());
        buses.reset();
        assert_eq!((buses.are_idle(), buses.progress()), (true, Progress::default()));
    }

    #[test]
    fn stall_is_at_least_the_duration_of_an_access() {
        let buses = Buses::new(&Params::default());
        let least = Params::default().gp_access;
        assert_eq!(buses.stall(1000, 0), least);
        assert_eq!(buses.stall(1000, 1000 + 3 * least), 3 * least);
    }

    #[test]
    fn access_through_the_window_takes_at_least_its_duration() {
        let params = Params {
            gp1_access: 500,
            ..Params::default()
        };
        let (mut buses, memory) = (Buses::new(&params), Memory::new(1));
        let (mut inputs, mut outputs) = (Inputs::zero(), Outputs::zero());
        (outputs.gp1_arready, outputs.gp1_rvalid) = (1, 1);
        for (cycle, end) in [(160, 1500), (1000, time::from_pl(1001))] {
            buses.begin_window(access(None), 1000);
            assert_eq!(buses.take_window(), None);
            let driven = buses.drive(cycle, &mut inputs, &memory);
            buses.sample(cycle, driven, &inputs, &outputs);
            assert_eq!(buses.take_window().map(|(_, at)| at), Some(end));
        }
    }
}
