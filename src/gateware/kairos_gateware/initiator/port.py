"""The accelerator coherency port as its master sees it."""

from migen import *

__all__ = ["AcpMaster"]


class AcpMaster:
    """The signals of a 64-bit AXI3 master that vary; burst type, size, cache and user bits are
    constants of the port wrapper (incrementing, 8 bytes, 0xf, 0x1f). Lengths are beats - 1.

    `arvalid` (out), `arready` (in): the read of `arlen` (out, 4 bits) + 1 beats from `araddr` (out, 32
    bits) is offered, accepted. `rvalid` (in), `rready` (out): a beat `rdata` (in, 64 bits), with `rresp`
    (in, 2 bits; not 0: an error) and `rlast` (in). `awvalid` (out), `awready` (in): the write of `awlen`
    (out, 4 bits) + 1 beats to `awaddr` (out, 32 bits). `wvalid` (out), `wready` (in): a beat `wdata` (out,
    64 bits), of which the bytes of `wstrb` (out, 8 bits) count, with `wlast` (out). `bvalid` (in), `bready`
    (out): its response `bresp` (in, 2 bits; not 0: an error). `arid`, `awid` (out, 3 bits): numbers of the
    transactions; `rid`, `bid` (in, 3 bits): the number that a beat or response belongs to.
    """

    def __init__(self):
        self.arvalid, self.arready = Signal(), Signal()
        self.arid, self.araddr, self.arlen = Signal(3), Signal(32), Signal(4)
        self.rvalid, self.rready, self.rlast = Signal(), Signal(), Signal()
        self.rid, self.rdata, self.rresp = Signal(3), Signal(64), Signal(2)
        self.awvalid, self.awready = Signal(), Signal()
        self.awid, self.awaddr, self.awlen = Signal(3), Signal(32), Signal(4)
        self.wvalid, self.wready, self.wlast = Signal(), Signal(), Signal()
        self.wdata, self.wstrb = Signal(64), Signal(8)
        self.bvalid, self.bready = Signal(), Signal()
        self.bid, self.bresp = Signal(3), Signal(2)

    OUTPUTS = "arvalid arid araddr arlen rready awvalid awid awaddr awlen wvalid wlast wdata wstrb bready".split()
    INPUTS = "arready rvalid rlast rid rdata rresp awready wready bvalid bid bresp".split()
