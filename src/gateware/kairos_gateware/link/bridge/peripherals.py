"""A block behind a bridge: pages of the processing system's addresses, its peripherals and on-chip memory, which the
other board sees as one contiguous range.

The list of pages is fixed in the logic: page n of the range is the n-th of the list, to read, or to read and write. A
page that is not listed is a slave error, what lies behind the last possible one a decode error; neither reaches the
processing system.

    address ─▶ page 1 ─▶ allowed? 1 ─▶ GP port, each beat an access of its own ─▶ beats of the bus

Registers have effects when they are read, so nothing is read but what a beat asks for, in its size of 1, 2 or 4 bytes.
A beat that has begun is completed when the link is lost; the rest of its burst is not begun, nor is that of a write
after an error. A transaction at a time; bursts of up to 16 beats, whose addresses increase; other ones are slave
errors. Clock domain sys.
"""

from migen import *

from ...contracts.remote import PAGE_AT, PAGE_BYTES, PAGES, Right
from ...gp import GpPort
from .pages import PageJob
from .words import INTERRUPTS, bridge_axi

__all__ = ["PeripheralPages"]

_IN_PAGE = log2_int(PAGE_BYTES)
_WORD = 2
_SLAVE_ERROR = 2


class PeripheralPages(Module):
    """pages: list of (address of a page, whether it may be written), at most `PAGES`.

    `axi`: slave. `interrupts` (out, 16 bits): none. `aborts` (in), `held` (in), `settled` (out): as of
    `VectorAdder`. `port`: `GpPort`. `refused` (out): for a cycle, a transaction was refused.
    """

    def __init__(self, pages=()):
        if len(pages) > PAGES:
            raise ValueError(f"a bridge shows at most {PAGES} pages of a processing system, not {len(pages)}")
        self.axi, self.interrupts = bridge_axi(), Signal(INTERRUPTS)
        self.aborts, self.held, self.settled = Signal(), Signal(), Signal()
        self.port, self.refused = GpPort(), Signal()

        # # #

        axi = self.axi
        entry = Signal(32 - _IN_PAGE + PAGE_AT)
        self.submodules.job = job = PageJob(axi, entry)
        entries = {
            n: entry.eq(address >> _IN_PAGE << PAGE_AT | (Right.READ | Right.WRITE if writable else Right.READ))
            for n, (address, writable) in enumerate(pages)
        }
        self.sync += Case(job.place[_IN_PAGE : _IN_PAGE + log2_int(PAGES)], entries | {"default": entry.eq(0)})
        void, worst, wide = Signal(), Signal(2), Signal()
        self.submodules.fsm = fsm = FSM("IDLE")
        self.comb += [
            [axi.r.id.eq(job.id), axi.b.id.eq(job.id)],
            [axi.b.resp.eq(worst), axi.r.last.eq(job.last)],
            wide.eq(job.size > _WORD),
        ]
        self.sync += If(self.aborts, void.eq(1)).Elif(fsm.ongoing("IDLE"), void.eq(0))
        self.comb += self.settled.eq(fsm.ongoing("IDLE") & ~void & ~axi.ar.valid & ~axi.aw.valid & ~axi.w.valid)
        self._accept(fsm, axi, job, void, worst, wide)
        self._load(fsm, axi.r, job, entry, void, worst)
        self._store(fsm, axi, job, entry, void, worst)

    def _accept(self, fsm, axi, job, void, worst, wide):
        job.accept(fsm, axi, ~void & ~self.aborts, worst)
        response = Signal(2)
        self.comb += response.eq(Mux(job.response == 0, Mux(wide, _SLAVE_ERROR, 0), job.response))
        fsm.act(
            "CHECK",
            NextValue(worst, response),
            self.refused.eq(~void & (response != 0)),
            If(void, NextState("IDLE"))
            .Elif(job.write, NextState("COLLECT"))
            .Elif(response != 0, NextState("BEAT"))
            .Else(NextState("ASK")),
        )

    def _load(self, fsm, beats, job, entry, void, worst):
        port, data, response = self.port, Signal(32), Signal(2)
        refuses = worst != 0
        self.comb += [
            port.araddr.eq(Cat(job.place[:_IN_PAGE], entry[PAGE_AT:])),
            port.arsize.eq(job.size),
            port.rready.eq(1),
            beats.data.eq(Mux(beats.resp == 0, Cat(data, data), 0)),
            beats.resp.eq(Mux(refuses, worst, response)),
        ]
        fsm.act("ASK", port.arvalid.eq(1), If(port.arready, NextState("AWAIT")))
        fsm.act(
            "AWAIT",
            NextValue(data, port.rdata),
            NextValue(response, port.rresp),
            If(port.rvalid, NextState("BEAT")),
        )
        fsm.act(
            "BEAT",
            beats.valid.eq(~void),
            job.steps.eq(beats.valid & beats.ready),
            If(void | (job.steps & job.last), NextState("IDLE")).Elif(job.steps & ~refuses, NextState("ASK")),
        )

    def _store(self, fsm, axi, job, entry, void, worst):
        port, data, strobes, last = self.port, Signal(32), Signal(4), Signal()
        there, addressed, stored = Signal(4), Signal(), Signal()
        high = job.place[_WORD]
        self.comb += [
            port.awaddr.eq(Cat(job.place[:_IN_PAGE], entry[PAGE_AT:])),
            port.awsize.eq(job.size),
            [port.wdata.eq(data), port.wstrb.eq(strobes)],
            there.eq(Mux(high, axi.w.strb[4:], axi.w.strb[:4])),
        ]
        fsm.act(
            "COLLECT",
            axi.w.ready.eq(~void),
            NextValue(data, Mux(high, axi.w.data[32:], axi.w.data[:32])),
            NextValue(strobes, there),
            NextValue(last, axi.w.last),
            NextValue(addressed, 0),
            NextValue(stored, 0),
            If(void, NextState("IDLE")).Elif(
                axi.w.valid,
                # A register may take a store of no byte for one of all
                If((worst == 0) & (there != 0), NextState("STORE")).Else(
                    job.steps.eq(1), If(axi.w.last, NextState("ANSWER"))
                ),
            ),
        )
        fsm.act(
            "STORE",
            port.awvalid.eq(~addressed),
            port.wvalid.eq(~stored),
            If(port.awready, NextValue(addressed, 1)),
            If(port.wready, NextValue(stored, 1)),
            If((addressed | port.awready) & (stored | port.wready), NextState("RESPONSE")),
        )
        fsm.act(
            "RESPONSE",
            port.bready.eq(1),
            If(
                port.bvalid,
                job.steps.eq(1),
                NextValue(worst, worst | port.bresp),
                If(void, NextState("IDLE")).Elif(last, NextState("ANSWER")).Else(NextState("COLLECT")),
            ),
        )
        fsm.act("ANSWER", axi.b.valid.eq(~void), If(void | axi.b.ready, NextState("IDLE")))
