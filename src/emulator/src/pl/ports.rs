//! The simulated logic as a library: structures and types of functions of `kairos_pl.h`.
//!
//! Generated from `src/contracts/pl_library/ports.toml` by `src/contracts/generate.py`: do not edit.

use std::ffi::{c_char, c_void};

/// Version of the interface: raised when a structure or a function changes.
pub const ABI: u32 = 8;
/// Entries of the pad arrays.
pub const MAX_PADS: usize = 128;
/// Entries of the link arrays.
pub const MAX_LINKS: usize = 8;

/// From the processing system (and the simulation) into the logic, during one cycle.
#[allow(missing_docs)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Inputs {
    pub sim_tsc_value: u64,
    pub acp_rdata: u64,
    pub hp0_rdata: u64,
    /// Lines of the GPIO controller.
    pub emio_o: u64,
    pub link_rx_word: [u64; MAX_LINKS],
    pub gp0_awaddr: u32,
    pub gp0_wdata: u32,
    pub gp0_araddr: u32,
    pub gp1_awaddr: u32,
    pub gp1_wdata: u32,
    pub gp1_araddr: u32,
    pub sgp0_rdata: u32,
    pub gp0_awid: u16,
    pub gp0_wid: u16,
    pub gp0_arid: u16,
    /// Of the recovered receive clock, in 1/4096 cycle.
    pub link_rx_phase: [u16; MAX_LINKS],
    pub gp0_awvalid: u8,
    pub gp0_awlen: u8,
    pub gp0_awsize: u8,
    pub gp0_awburst: u8,
    pub gp0_wvalid: u8,
    pub gp0_wstrb: u8,
    pub gp0_wlast: u8,
    pub gp0_bready: u8,
    pub gp0_arvalid: u8,
    pub gp0_arlen: u8,
    pub gp0_arsize: u8,
    pub gp0_arburst: u8,
    pub gp0_rready: u8,
    pub gp1_awvalid: u8,
    pub gp1_awlen: u8,
    pub gp1_wvalid: u8,
    pub gp1_wstrb: u8,
    pub gp1_wlast: u8,
    pub gp1_bready: u8,
    pub gp1_arvalid: u8,
    pub gp1_arlen: u8,
    pub gp1_rready: u8,
    pub sgp0_arready: u8,
    pub sgp0_rvalid: u8,
    pub sgp0_rresp: u8,
    pub sgp0_awready: u8,
    pub sgp0_wready: u8,
    pub sgp0_bvalid: u8,
    pub sgp0_bresp: u8,
    pub acp_arready: u8,
    pub acp_rvalid: u8,
    pub acp_rid: u8,
    pub acp_rlast: u8,
    pub acp_rresp: u8,
    pub acp_awready: u8,
    pub acp_wready: u8,
    pub acp_bvalid: u8,
    pub acp_bid: u8,
    pub acp_bresp: u8,
    pub hp0_arready: u8,
    pub hp0_rvalid: u8,
    pub hp0_rlast: u8,
    pub hp0_rresp: u8,
    pub hp0_awready: u8,
    pub hp0_wready: u8,
    pub hp0_bvalid: u8,
    pub hp0_bresp: u8,
    pub event_o: u8,
    pub sim_tsc_load: u8,
    /// One bit per link.
    pub link_rx_valid: u8,
    /// One bit per link: the line carries words.
    pub link_rx_up: u8,
    /// 8 samples of 1 ns each, bit 0 first.
    pub pads_i: [u8; MAX_PADS],
}

/// From the logic to the processing system (and the simulation), during one cycle.
#[allow(missing_docs)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Outputs {
    pub sim_tsc: u64,
    pub sim_next_due: u64,
    pub acp_wdata: u64,
    pub hp0_wdata: u64,
    pub emio_i: u64,
    /// Of the next cycle: words are registered, so they are known in advance.
    pub link_tx_word: [u64; MAX_LINKS],
    pub gp0_rdata: u32,
    pub gp1_rdata: u32,
    pub acp_araddr: u32,
    pub acp_awaddr: u32,
    pub hp0_araddr: u32,
    pub hp0_awaddr: u32,
    pub sgp0_araddr: u32,
    pub sgp0_awaddr: u32,
    pub sgp0_wdata: u32,
    pub gp0_bid: u16,
    pub gp0_rid: u16,
    pub irq_f2p: u16,
    pub gp0_awready: u8,
    pub gp0_wready: u8,
    pub gp0_bvalid: u8,
    pub gp0_bresp: u8,
    pub gp0_arready: u8,
    pub gp0_rvalid: u8,
    pub gp0_rlast: u8,
    pub gp0_rresp: u8,
    pub gp1_awready: u8,
    pub gp1_wready: u8,
    pub gp1_bvalid: u8,
    pub gp1_bresp: u8,
    pub gp1_arready: u8,
    pub gp1_rvalid: u8,
    pub gp1_rlast: u8,
    pub gp1_rresp: u8,
    pub sgp0_arvalid: u8,
    pub sgp0_arsize: u8,
    pub sgp0_rready: u8,
    pub sgp0_awvalid: u8,
    pub sgp0_awsize: u8,
    pub sgp0_wvalid: u8,
    pub sgp0_wstrb: u8,
    pub sgp0_bready: u8,
    pub acp_arvalid: u8,
    pub acp_arid: u8,
    pub acp_arlen: u8,
    pub acp_rready: u8,
    pub acp_awvalid: u8,
    pub acp_awid: u8,
    pub acp_awlen: u8,
    pub acp_wvalid: u8,
    pub acp_wstrb: u8,
    pub acp_wlast: u8,
    pub acp_bready: u8,
    pub hp0_arvalid: u8,
    pub hp0_arlen: u8,
    pub hp0_rready: u8,
    pub hp0_awvalid: u8,
    pub hp0_awlen: u8,
    pub hp0_wvalid: u8,
    pub hp0_wstrb: u8,
    pub hp0_wlast: u8,
    pub hp0_bready: u8,
    pub event_i: u8,
    pub sim_quiet: u8,
    /// One bit per link, of the next cycle as well.
    pub link_tx_valid: u8,
    /// 8 samples of 1 ns each, bit 0 first.
    pub pads_o: [u8; MAX_PADS],
    /// 0 or 1.
    pub pads_oe: [u8; MAX_PADS],
}

/// `kairos_pl_abi`
pub type AbiFn = unsafe extern "C" fn() -> u32;

/// `kairos_pl_info`
pub type InfoFn = unsafe extern "C" fn() -> *const c_char;

/// `kairos_pl_new`
pub type NewFn = unsafe extern "C" fn() -> *mut c_void;

/// `kairos_pl_free`
pub type FreeFn = unsafe extern "C" fn(*mut c_void);

/// `kairos_pl_cycle`
pub type CycleFn = unsafe extern "C" fn(*mut c_void, *const Inputs, *mut Outputs);

/// `kairos_pl_run`
pub type RunFn = unsafe extern "C" fn(*mut c_void, *const Inputs, *mut Outputs, u64, u64) -> u64;

/// `kairos_pl_read`
pub type ReadFn = unsafe extern "C" fn(*mut c_void, u32, u32, *mut u32) -> u32;

/// `kairos_pl_shown`
pub type ShownFn = unsafe extern "C" fn(*const c_void, *mut *const u64, *mut u32) -> u64;
