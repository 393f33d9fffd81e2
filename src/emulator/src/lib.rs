//! The virtual Zynq-7000: two Cortex-A9 cores, the peripherals of the processing system, a user-mode network, and the
//! gateware (verilated from the same Verilog that is synthesised) behind the ports of the programmable logic.
//!
//! Layers, each importing only those above it:
//!
//! | module | what |
//! |---|---|
//! | [`time`], [`params`], [`memory`] | units, parameters of the timing model, DDR and OCM |
//! | [`gic`], [`timers`], [`slcr`], [`ddrc`], [`devcfg`], [`uart`], [`gem`], [`sd`], [`stubs`] | one peripheral each, no knowledge of cores or of the host |
//! | [`dhcp`], [`net`], [`forward`] | the gateway's DHCP server and TCP/IP stack, and host sockets on its other side |
//! | [`pl`], [`trace`] | the gateware library, its AXI ports and its clock; what happened at the pins |
//! | [`image`], [`boot_rom`] | the firmware file; what finds and loads a boot image |
//! | [`bus`] | who answers at which address |
//! | [`cpu`] | a core: Unicorn, exceptions, hints, the system registers Unicorn lacks |
//! | [`schedule`] | the machine: whose turn it is, and what time it is |
//! | [`control`] | the control socket |

pub mod boot_rom;
pub mod bus;
pub mod control;
pub mod cpu;
pub mod ddrc;
pub mod devcfg;
pub mod dhcp;
pub mod forward;
pub mod gem;
pub mod gic;
pub mod gpio;
pub mod image;
pub mod memory;
pub mod net;
pub mod params;
pub mod pl;
pub mod schedule;
pub mod sd;
pub mod si5324;
pub mod slcr;
pub mod stubs;
pub mod swdt;
pub mod time;
pub mod timers;
pub mod trace;
pub mod uart;
pub mod xadc;
