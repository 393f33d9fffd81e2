"""A general-purpose slave port of the processing system (S_AXI_GP, AXI3, 32 bits), for accesses to its memory and
peripherals, one beat each.

Length, burst type, identification and the other fields are constants of the port's wrapper. Reads and writes of the
port are independent.
"""

from migen import *

__all__ = ["GpPort"]


class GpPort:
    """`arvalid` (out), `arready` (in): the read of 2^`arsize` (out, 2 bits) bytes at `araddr` (out, 32 bits) is
    offered, accepted. `rvalid` (in), `rready` (out): its answer `rdata` (in, 32 bits), with `rresp` (in, 2 bits; not
    0: an error).

    `awvalid` (out), `awready` (in): the write of 2^`awsize` (out, 2 bits) bytes at `awaddr` (out, 32 bits). `wvalid`
    (out), `wready` (in): its data `wdata` (out, 32 bits), of which the bytes of `wstrb` (out, 4 bits) count. `bvalid`
    (in), `bready` (out): its response `bresp` (in, 2 bits; not 0: an error).
    """

    def __init__(self):
        self.arvalid, self.arready = Signal(), Signal()
        self.araddr, self.arsize = Signal(32), Signal(2)
        self.rvalid, self.rready = Signal(), Signal()
        self.rdata, self.rresp = Signal(32), Signal(2)
        self.awvalid, self.awready = Signal(), Signal()
        self.awaddr, self.awsize = Signal(32), Signal(2)
        self.wvalid, self.wready = Signal(), Signal()
        self.wdata, self.wstrb = Signal(32), Signal(4)
        self.bvalid, self.bready, self.bresp = Signal(), Signal(), Signal(2)

    OUTPUTS = "arvalid araddr arsize rready awvalid awaddr awsize wvalid wdata wstrb bready".split()
    INPUTS = "arready rvalid rdata rresp awready wready bvalid bresp".split()
