"""A block of the logic that other boards reach through regions of remote memory: it has addresses of its own on
the logic's bus, from `PL_BLOCK` on, so that a region shows it like memory, with the same rights.

    words, copies of each link ─▶ address? ─┬─▶ memory port
    this board's processors ────────────────┴─▶ turns ─▶ block

Each client has its accesses in flight at one of the two: the other one is next when all are answered, so
answers keep their order. Latency: none, but a burst's data enter in the cycle after its address at the earliest.
Clock domain sys.
"""

from functools import reduce
from operator import and_

from litex.soc.interconnect.axi import BURST_INCR
from litex.soc.interconnect.csr import AutoCSR, CSRStatus
from migen import *

from ..contracts.memory import PL_BLOCK
from ..csr import uses
from ..dma.port import share, share_writes
from ..hp import HpRead, HpWrite
from ..link.bridge.adder import VectorAdder
from ..link.remote.window import Asker
from ..link.remote.words import BUS_ERROR, DONE

__all__ = ["BoardBlock", "DividedReads", "DividedWrites"]

_BLOCKS = {"adder": VectorAdder}
_AREA_BITS = log2_int(len(PL_BLOCK))
_OPEN = 32
"""Bursts of a client in flight, at most."""
_WORD_SIZE = 3


class _Divided(Module):
    """Which of the two accesses of a client go to. address (32 bits), valid: of the client's next burst.

    `block` (out): it is one of the block. `goes` (out): it may be accepted. `taken`, `ended` (in): for a cycle, a
    burst is accepted, answered. `of_block` (out): those in flight are the block's; `rests` (out): none is.
    """

    def __init__(self, address):
        self.block, self.goes, self.of_block, self.rests = Signal(), Signal(), Signal(), Signal()
        self.taken, self.ended = Signal(), Signal()

        # # #

        count = Signal(max=_OPEN + 1)
        self.comb += [
            self.block.eq(address[_AREA_BITS:] == PL_BLOCK.start >> _AREA_BITS),
            self.rests.eq(count == 0),
            self.goes.eq(self.rests | ((self.of_block == self.block) & (count != _OPEN))),
        ]
        self.sync += [
            If(self.taken, self.of_block.eq(self.block)),
            If(self.taken & ~self.ended, count.eq(count + 1)).Elif(self.ended & ~self.taken, count.eq(count - 1)),
        ]


class DividedReads(Module):
    """port: `HpRead` of a client. `memory`, `block` (out): `HpRead`s. `settled` (out): nothing is in flight."""

    def __init__(self, port):
        self.memory, self.block = HpRead(), HpRead()
        self.submodules.way = way = _Divided(port.araddr)
        self.settled = way.rests

        # # #

        for there, mine in [(self.memory, ~way.block), (self.block, way.block)]:
            self.comb += [
                there.arvalid.eq(port.arvalid & way.goes & mine),
                there.araddr.eq(port.araddr),
                there.arlen.eq(port.arlen),
                there.rready.eq(port.rready),
                If(mine, port.arready.eq(there.arready & way.goes)),
            ]
        self.comb += [
            [
                getattr(port, name).eq(Mux(way.of_block, getattr(self.block, name), getattr(self.memory, name)))
                for name in ("rvalid", "rlast", "rdata", "rresp")
            ],
            way.taken.eq(port.arvalid & port.arready),
            way.ended.eq(port.rvalid & port.rready & port.rlast),
        ]


class DividedWrites(Module):
    """port: `HpWrite` of a client. `memory`, `block` (out): `HpWrite`s. `settled` (out): nothing is in flight."""

    def __init__(self, port):
        self.memory, self.block = HpWrite(), HpWrite()
        self.submodules.way = way = _Divided(port.awaddr)
        self.settled = way.rests

        # # #

        owed = Signal(max=_OPEN + 1)  # bursts whose data are still to come
        taken, last = way.taken, Signal()
        for there, mine in [(self.memory, ~way.block), (self.block, way.block)]:
            of = way.of_block if there is self.block else ~way.of_block
            self.comb += [
                there.awvalid.eq(port.awvalid & way.goes & mine),
                there.awaddr.eq(port.awaddr),
                there.awlen.eq(port.awlen),
                there.wvalid.eq(port.wvalid & (owed != 0) & of),
                there.wdata.eq(port.wdata),
                there.wstrb.eq(port.wstrb),
                there.wlast.eq(port.wlast),
                there.bready.eq(port.bready & of),
                If(mine, port.awready.eq(there.awready & way.goes)),
                If(of, port.wready.eq(there.wready & (owed != 0)), port.bvalid.eq(there.bvalid)),
                If(of, port.bresp.eq(there.bresp)),
            ]
        self.comb += [
            taken.eq(port.awvalid & port.awready),
            last.eq(port.wvalid & port.wready & port.wlast),
            way.ended.eq(port.bvalid & port.bready),
        ]
        self.sync += If(taken & ~last, owed.eq(owed + 1)).Elif(last & ~taken, owed.eq(owed - 1))


class _OwnWords(Module):
    """Loads and stores of this board's processors, one at a time; none is answered early.

    `asker`: `Asker`. `read`, `write` (out): `HpRead`, `HpWrite` of the block. `settled` (out): nothing is in flight.
    """

    def __init__(self):
        self.asker, self.read, self.write = Asker(), HpRead(), HpWrite()
        self.settled = Signal()

        # # #

        request, answer, read, write = self.asker.request, self.asker.answer, self.read, self.write
        address, addressed, stored = Signal(32), Signal(), Signal()
        places = _AREA_BITS - _WORD_SIZE
        # What lies beyond the area is its last word, which no block has
        place = Mux(request.address[places:] == 0, request.address[:places], 2**places - 1)
        self.comb += [
            read.araddr.eq(address),
            write.awaddr.eq(address),
            write.wlast.eq(1),
            read.rready.eq(1),
            write.bready.eq(1),
            answer.data.eq(read.rdata),
        ]
        self.submodules.fsm = fsm = FSM("IDLE")
        self.comb += self.settled.eq(fsm.ongoing("IDLE") & ~request.valid)
        fsm.act(
            "IDLE",
            request.ready.eq(1),
            NextValue(address, Cat(C(0, _WORD_SIZE), place)),
            NextValue(write.wdata, request.data),
            NextValue(write.wstrb, request.strobes),
            NextValue(addressed, 0),
            NextValue(stored, 0),
            If(request.valid, If(request.write, NextState("STORE")).Else(NextState("LOAD"))),
        )
        fsm.act("LOAD", read.arvalid.eq(1), If(read.arready, NextState("LOADED")))
        fsm.act(
            "LOADED",
            answer.valid.eq(read.rvalid),
            answer.status.eq(Mux(read.rresp[1], BUS_ERROR, DONE)),
            If(read.rvalid, NextState("IDLE")),
        )
        fsm.act(
            "STORE",
            write.awvalid.eq(~addressed),
            write.wvalid.eq(~stored),
            If(write.awready, NextValue(addressed, 1)),
            If(write.wready, NextValue(stored, 1)),
            If(addressed & (stored | write.wready), NextState("STORED")),
        )
        fsm.act(
            "STORED",
            answer.valid.eq(write.bvalid),
            answer.status.eq(Mux(write.bresp[1], BUS_ERROR, DONE)),
            If(write.bvalid, NextState("IDLE")),
        )


class _BlockRegisters(Module, AutoCSR):
    """size: of the block's addresses in bytes."""

    USES = uses("block")

    def __init__(self, size):
        self.bytes = CSRStatus(32, name="bytes", reset=size)


class BoardBlock(Module):
    """name: of the block, in `variant.REGION_BLOCKS`. readers, writers: clients, halves of a memory port.

    `readers`, `writers`: what remains of them for memory. `own`: `Asker` for this board's processors. `registers`.
    `settled` (out): for time skip.
    """

    def __init__(self, name, readers, writers):
        self.submodules.block = block = _BLOCKS[name]()
        self.registers = _BlockRegisters(block.BYTES)
        reads, writes = [DividedReads(port) for port in readers], [DividedWrites(port) for port in writers]
        self.submodules += reads, writes
        self.readers, self.writers = [part.memory for part in reads], [part.memory for part in writes]
        self.submodules.words = words = _OwnWords()
        self.own, self.settled = words.asker, Signal()

        # # #

        read = share(self, [words.read, *[part.block for part in reads]])
        write = share_writes(self, [words.write, *[part.block for part in writes]])
        axi = block.axi
        for channel, valid, ready, address, length in [
            (axi.ar, read.arvalid, read.arready, read.araddr, read.arlen),
            (axi.aw, write.awvalid, write.awready, write.awaddr, write.awlen),
        ]:
            self.comb += [
                channel.valid.eq(valid),
                ready.eq(channel.ready),
                channel.addr.eq(address[:_AREA_BITS]),
                channel.len.eq(length),
                channel.size.eq(_WORD_SIZE),
                channel.burst.eq(BURST_INCR),
            ]
        self.comb += [
            axi.w.valid.eq(write.wvalid),
            write.wready.eq(axi.w.ready),
            [getattr(axi.w, name).eq(getattr(write, f"w{name}")) for name in ("data", "strb", "last")],
            write.bvalid.eq(axi.b.valid),
            write.bresp.eq(axi.b.resp),
            axi.b.ready.eq(write.bready),
            read.rvalid.eq(axi.r.valid),
            [getattr(read, f"r{name}").eq(getattr(axi.r, name)) for name in ("data", "resp", "last")],
            axi.r.ready.eq(read.rready),
        ]
        self.comb += self.settled.eq(reduce(and_, [part.settled for part in [*reads, *writes, words]], block.settled))
