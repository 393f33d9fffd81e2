"""The simulated logic as a library: structures and types of functions of kairos_pl.h.

Generated from src/contracts/pl_library/ports.toml by src/contracts/generate.py: do not edit.
"""

import ctypes

__all__ = ["ABI", "FUNCTIONS", "MAX_LINKS", "MAX_PADS", "PlIn", "PlOut"]

ABI = 8
"""Version of the interface: raised when a structure or a function changes."""
MAX_PADS = 128
"""Entries of the pad arrays."""
MAX_LINKS = 8
"""Entries of the link arrays."""


class PlIn(ctypes.Structure):
    """`kairos_pl_in`: from the processing system (and the simulation) into the logic, during one cycle."""

    _fields_ = [
        ("sim_tsc_value", ctypes.c_uint64),
        ("acp_rdata", ctypes.c_uint64),
        ("hp0_rdata", ctypes.c_uint64),
        ("emio_o", ctypes.c_uint64),
        ("link_rx_word", ctypes.c_uint64 * MAX_LINKS),
        ("gp0_awaddr", ctypes.c_uint32),
        ("gp0_wdata", ctypes.c_uint32),
        ("gp0_araddr", ctypes.c_uint32),
        ("gp1_awaddr", ctypes.c_uint32),
        ("gp1_wdata", ctypes.c_uint32),
        ("gp1_araddr", ctypes.c_uint32),
        ("sgp0_rdata", ctypes.c_uint32),
        ("gp0_awid", ctypes.c_uint16),
        ("gp0_wid", ctypes.c_uint16),
        ("gp0_arid", ctypes.c_uint16),
        ("link_rx_phase", ctypes.c_uint16 * MAX_LINKS),
        ("gp0_awvalid", ctypes.c_uint8),
        ("gp0_awlen", ctypes.c_uint8),
        ("gp0_awsize", ctypes.c_uint8),
        ("gp0_awburst", ctypes.c_uint8),
        ("gp0_wvalid", ctypes.c_uint8),
        ("gp0_wstrb", ctypes.c_uint8),
        ("gp0_wlast", ctypes.c_uint8),
        ("gp0_bready", ctypes.c_uint8),
        ("gp0_arvalid", ctypes.c_uint8),
        ("gp0_arlen", ctypes.c_uint8),
        ("gp0_arsize", ctypes.c_uint8),
        ("gp0_arburst", ctypes.c_uint8),
        ("gp0_rready", ctypes.c_uint8),
        ("gp1_awvalid", ctypes.c_uint8),
        ("gp1_awlen", ctypes.c_uint8),
        ("gp1_wvalid", ctypes.c_uint8),
        ("gp1_wstrb", ctypes.c_uint8),
        ("gp1_wlast", ctypes.c_uint8),
        ("gp1_bready", ctypes.c_uint8),
        ("gp1_arvalid", ctypes.c_uint8),
        ("gp1_arlen", ctypes.c_uint8),
        ("gp1_rready", ctypes.c_uint8),
        ("sgp0_arready", ctypes.c_uint8),
        ("sgp0_rvalid", ctypes.c_uint8),
        ("sgp0_rresp", ctypes.c_uint8),
        ("sgp0_awready", ctypes.c_uint8),
        ("sgp0_wready", ctypes.c_uint8),
        ("sgp0_bvalid", ctypes.c_uint8),
        ("sgp0_bresp", ctypes.c_uint8),
        ("acp_arready", ctypes.c_uint8),
        ("acp_rvalid", ctypes.c_uint8),
        ("acp_rid", ctypes.c_uint8),
        ("acp_rlast", ctypes.c_uint8),
        ("acp_rresp", ctypes.c_uint8),
        ("acp_awready", ctypes.c_uint8),
        ("acp_wready", ctypes.c_uint8),
        ("acp_bvalid", ctypes.c_uint8),
        ("acp_bid", ctypes.c_uint8),
        ("acp_bresp", ctypes.c_uint8),
        ("hp0_arready", ctypes.c_uint8),
        ("hp0_rvalid", ctypes.c_uint8),
        ("hp0_rlast", ctypes.c_uint8),
        ("hp0_rresp", ctypes.c_uint8),
        ("hp0_awready", ctypes.c_uint8),
        ("hp0_wready", ctypes.c_uint8),
        ("hp0_bvalid", ctypes.c_uint8),
        ("hp0_bresp", ctypes.c_uint8),
        ("event_o", ctypes.c_uint8),
        ("sim_tsc_load", ctypes.c_uint8),
        ("link_rx_valid", ctypes.c_uint8),
        ("link_rx_up", ctypes.c_uint8),
        ("pads_i", ctypes.c_uint8 * MAX_PADS),
    ]


class PlOut(ctypes.Structure):
    """`kairos_pl_out`: from the logic to the processing system (and the simulation), during one cycle."""

    _fields_ = [
        ("sim_tsc", ctypes.c_uint64),
        ("sim_next_due", ctypes.c_uint64),
        ("acp_wdata", ctypes.c_uint64),
        ("hp0_wdata", ctypes.c_uint64),
        ("emio_i", ctypes.c_uint64),
        ("link_tx_word", ctypes.c_uint64 * MAX_LINKS),
        ("gp0_rdata", ctypes.c_uint32),
        ("gp1_rdata", ctypes.c_uint32),
        ("acp_araddr", ctypes.c_uint32),
        ("acp_awaddr", ctypes.c_uint32),
        ("hp0_araddr", ctypes.c_uint32),
        ("hp0_awaddr", ctypes.c_uint32),
        ("sgp0_araddr", ctypes.c_uint32),
        ("sgp0_awaddr", ctypes.c_uint32),
        ("sgp0_wdata", ctypes.c_uint32),
        ("gp0_bid", ctypes.c_uint16),
        ("gp0_rid", ctypes.c_uint16),
        ("irq_f2p", ctypes.c_uint16),
        ("gp0_awready", ctypes.c_uint8),
        ("gp0_wready", ctypes.c_uint8),
        ("gp0_bvalid", ctypes.c_uint8),
        ("gp0_bresp", ctypes.c_uint8),
        ("gp0_arready", ctypes.c_uint8),
        ("gp0_rvalid", ctypes.c_uint8),
        ("gp0_rlast", ctypes.c_uint8),
        ("gp0_rresp", ctypes.c_uint8),
        ("gp1_awready", ctypes.c_uint8),
        ("gp1_wready", ctypes.c_uint8),
        ("gp1_bvalid", ctypes.c_uint8),
        ("gp1_bresp", ctypes.c_uint8),
        ("gp1_arready", ctypes.c_uint8),
        ("gp1_rvalid", ctypes.c_uint8),
        ("gp1_rlast", ctypes.c_uint8),
        ("gp1_rresp", ctypes.c_uint8),
        ("sgp0_arvalid", ctypes.c_uint8),
        ("sgp0_arsize", ctypes.c_uint8),
        ("sgp0_rready", ctypes.c_uint8),
        ("sgp0_awvalid", ctypes.c_uint8),
        ("sgp0_awsize", ctypes.c_uint8),
        ("sgp0_wvalid", ctypes.c_uint8),
        ("sgp0_wstrb", ctypes.c_uint8),
        ("sgp0_bready", ctypes.c_uint8),
        ("acp_arvalid", ctypes.c_uint8),
        ("acp_arid", ctypes.c_uint8),
        ("acp_arlen", ctypes.c_uint8),
        ("acp_rready", ctypes.c_uint8),
        ("acp_awvalid", ctypes.c_uint8),
        ("acp_awid", ctypes.c_uint8),
        ("acp_awlen", ctypes.c_uint8),
        ("acp_wvalid", ctypes.c_uint8),
        ("acp_wstrb", ctypes.c_uint8),
        ("acp_wlast", ctypes.c_uint8),
        ("acp_bready", ctypes.c_uint8),
        ("hp0_arvalid", ctypes.c_uint8),
        ("hp0_arlen", ctypes.c_uint8),
        ("hp0_rready", ctypes.c_uint8),
        ("hp0_awvalid", ctypes.c_uint8),
        ("hp0_awlen", ctypes.c_uint8),
        ("hp0_wvalid", ctypes.c_uint8),
        ("hp0_wstrb", ctypes.c_uint8),
        ("hp0_wlast", ctypes.c_uint8),
        ("hp0_bready", ctypes.c_uint8),
        ("event_i", ctypes.c_uint8),
        ("sim_quiet", ctypes.c_uint8),
        ("link_tx_valid", ctypes.c_uint8),
        ("pads_o", ctypes.c_uint8 * MAX_PADS),
        ("pads_oe", ctypes.c_uint8 * MAX_PADS),
    ]


FUNCTIONS = {
    "kairos_pl_abi": (ctypes.c_uint32, []),
    "kairos_pl_info": (ctypes.c_char_p, []),
    "kairos_pl_new": (ctypes.c_void_p, []),
    "kairos_pl_free": (None, [ctypes.c_void_p]),
    "kairos_pl_cycle": (None, [ctypes.c_void_p, ctypes.POINTER(PlIn), ctypes.POINTER(PlOut)]),
    "kairos_pl_run": (
        ctypes.c_uint64,
        [ctypes.c_void_p, ctypes.POINTER(PlIn), ctypes.POINTER(PlOut), ctypes.c_uint64, ctypes.c_uint64],
    ),
    "kairos_pl_read": (
        ctypes.c_uint32,
        [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint32)],
    ),
    "kairos_pl_together": (ctypes.c_uint64, [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_uint64)]),
    "kairos_pl_shown": (
        ctypes.c_uint64,
        [ctypes.c_void_p, ctypes.POINTER(ctypes.POINTER(ctypes.c_uint64)), ctypes.POINTER(ctypes.c_uint32)],
    ),
}
"""Types of result and arguments of each function."""
