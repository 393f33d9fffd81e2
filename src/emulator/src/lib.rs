//! The virtual Zynq-7000: two Cortex-A9 cores, the peripherals of the processing system, a
//! user-mode network, and the gateware (verilated from the same Verilog that is synthesised) behind
//! the ports of the programmable logic.
//!
//! | module | contents |
//! |---|---|
//! | [`machine`] | cores, memory, virtual time, scheduling |
//! | [`pl`] | the gateware library, its AXI ports and clock; the trace of its pins |
//! | [`peripherals`] | the peripherals of the processing system |
//! | [`host`] | files, network, control socket: everything outside the device |

pub mod host;
pub mod machine;
pub mod peripherals;
pub mod pl;
