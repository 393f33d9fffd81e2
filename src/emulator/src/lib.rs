//! The virtual Zynq-7000: two Cortex-A9 cores, the peripherals of the processing system, a
//! user-mode network, and the gateware (verilated from the same Verilog that is synthesised) behind
//! the ports of the programmable logic.
//!
//! | room | what |
//! |---|---|
//! | [`machine`] | cores, memory, time, and whose turn it is |
//! | [`pl`] | the gateware library, its AXI ports and its clock; what happened at the pins |
//! | [`peripherals`] | what answers at the addresses of the processing system |
//! | [`host`] | files, network, control socket: everything outside of the device |

pub mod host;
pub mod machine;
pub mod peripherals;
pub mod pl;
