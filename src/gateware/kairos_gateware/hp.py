"""A high-performance port of the processing system (HP, AXI3, 64 bits), as two halves that may
belong to different blocks.

Reads and writes of the port are independent. Burst type, size and cache bits are constants of the
port's wrapper (incrementing, 8 bytes, 0xf). The port is not coherent with the CPU's caches. Lengths
are beats - 1.
"""

from migen import *

__all__ = ["HpRead", "HpWrite"]


class HpRead:
    """Read half: addresses out, data in. One id, so data arrive in the order of the addresses.

    `arvalid` (out), `arready` (in): the read of `arlen` (out, 4 bits) + 1 beats from `araddr` (out, 32
    bits) is offered, accepted. `rvalid` (in), `rready` (out): a beat `rdata` (in, 64 bits), with `rresp`
    (in, 2 bits; not 0: an error) and `rlast` (in).
    """

    def __init__(self):
        self.arvalid, self.arready = Signal(), Signal()
        self.araddr, self.arlen = Signal(32), Signal(4)
        self.rvalid, self.rready, self.rlast = Signal(), Signal(), Signal()
        self.rdata, self.rresp = Signal(64), Signal(2)

    OUTPUTS = "arvalid araddr arlen rready".split()
    INPUTS = "arready rvalid rlast rdata rresp".split()


class HpWrite:
    """Write half: addresses and data out, responses in.

    `awvalid` (out), `awready` (in): the write of `awlen` (out, 4 bits) + 1 beats to `awaddr` (out, 32
    bits). `wvalid` (out), `wready` (in): a beat `wdata` (out, 64 bits), of which the bytes of `wstrb` (out,
    8 bits) count, with `wlast` (out). `bvalid` (in), `bready` (out): its response `bresp` (in, 2 bits; not
    0: an error).
    """

    def __init__(self):
        self.awvalid, self.awready = Signal(), Signal()
        self.awaddr, self.awlen = Signal(32), Signal(4)
        self.wvalid, self.wready, self.wlast = Signal(), Signal(), Signal()
        self.wdata, self.wstrb = Signal(64), Signal(8)
        self.bvalid, self.bready, self.bresp = Signal(), Signal(), Signal(2)

    OUTPUTS = "awvalid awaddr awlen wvalid wlast wdata wstrb bready".split()
    INPUTS = "awready wready bvalid bresp".split()
