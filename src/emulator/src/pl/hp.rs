//! High-performance port 0, seen from the PL: a 64-bit AXI3 slave into DDR. It behaves like the
//! coherency port ([`Acp`]), with its own latency.

use super::acp::Acp;
use super::library::{Inputs, Outputs};
use crate::machine::disturbance::Disturbance;
use crate::machine::memory::Memory;

/// PL cycles from an accepted read address to the first beat, and from a write's last beat to its
/// response.
const LATENCY: u64 = 30;

/// Transactions in progress.
pub struct Hp {
    port: Acp,
    inputs: Inputs,
    outputs: Outputs,
}

impl Hp {
    /// Creates a port to whose latencies `disturbance` adds.
    pub fn new(disturbance: Disturbance) -> Self {
        Self::with(Acp::new(LATENCY, LATENCY, disturbance))
    }

    /// Creates a port with the same timing.
    pub fn restarted(&self) -> Self {
        Self::with(self.port.restarted())
    }

    fn with(port: Acp) -> Self {
        Self {
            port,
            inputs: Inputs::zero(),
            outputs: Outputs::zero(),
        }
    }

    /// Whether no transaction is in progress.
    pub fn idle(&self) -> bool {
        self.port.idle()
    }

    /// The next cycle in which this side responds to a transaction that it has accepted.
    pub fn next_answer(&self) -> Option<u64> {
        self.port.next_answer()
    }

    /// Makes the writes visible that are due at the start of `cycle`.
    pub fn commit(&mut self, cycle: u64, memory: &Memory) {
        self.port.commit(cycle, memory);
    }

    /// Sets this side's signals for `cycle`.
    pub fn drive(&mut self, cycle: u64, inputs: &mut Inputs, memory: &Memory) {
        let i = &mut self.inputs;
        self.port.drive(cycle, i, memory);
        (inputs.hp0_arready, inputs.hp0_awready, inputs.hp0_wready) = (i.acp_arready, i.acp_awready, i.acp_wready);
        (inputs.hp0_rvalid, inputs.hp0_rdata, inputs.hp0_rlast) = (i.acp_rvalid, i.acp_rdata, i.acp_rlast);
        inputs.hp0_bvalid = i.acp_bvalid;
    }

    /// Performs the handshakes of `cycle`.
    pub fn sample(&mut self, cycle: u64, _: &Inputs, outputs: &Outputs) {
        let o = &mut self.outputs;
        (o.acp_arvalid, o.acp_araddr, o.acp_arlen) = (outputs.hp0_arvalid, outputs.hp0_araddr, outputs.hp0_arlen);
        (o.acp_awvalid, o.acp_awaddr, o.acp_awlen) = (outputs.hp0_awvalid, outputs.hp0_awaddr, outputs.hp0_awlen);
        (o.acp_wvalid, o.acp_wdata, o.acp_wstrb) = (outputs.hp0_wvalid, outputs.hp0_wdata, outputs.hp0_wstrb);
        (o.acp_wlast, o.acp_rready, o.acp_bready) = (outputs.hp0_wlast, outputs.hp0_rready, outputs.hp0_bready);
        self.port.sample(cycle, &self.inputs, o);
    }
}
