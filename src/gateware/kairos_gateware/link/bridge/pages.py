"""A block behind a bridge: pages of the board's memory, which the other board sees as one contiguous range.

Each page of the range, of 4 KiB, has an entry: the page of this board's memory that it shows, and whether the
other board may read, or also write it. Only this board sets entries. A page without read access is a slave
error, what lies behind the last one a decode error; neither reaches memory.

    address ─▶ entry 1 ─▶ allowed? 1 ─▶ HP port, one burst ─▶ beats of the bus

A burst lies within a page, as the bus demands, so it needs one entry; it becomes one burst of 64-bit words at
the port. A write's data are collected before, so that a lost link leaves no burst unfinished. A transaction
at a time; bursts of up to 16 beats, whose addresses increase; other ones are slave errors. Clock domain sys.
"""

from litex.soc.interconnect.axi import BURST_INCR
from migen import *
from migen.genlib.fifo import SyncFIFO

from ...contracts.remote import PAGE_AT, PAGE_BYTES, PAGES, Right
from ...hp import HpRead, HpWrite
from .words import DATA_BITS, INTERRUPTS, bridge_axi

__all__ = ["MemoryPages", "PageJob"]

_IN_PAGE = log2_int(PAGE_BYTES)
_PAGE_BITS = log2_int(PAGES)
_READABLE, _WRITABLE = log2_int(Right.READ), log2_int(Right.WRITE)
_BEATS = 16
_SLAVE_ERROR, _DECODE_ERROR = 2, 3


class PageJob(Module):
    """The transaction in progress. bus: the slave. entry (32 bits less those within a page, and 2 of rights):
    of its page, in the cycle after the address.

    `place` (out, 32 bits): address of the beat. `steps` (in): the beat has gone; `last`, `ends` (out): it is the
    last one, the last of its word. `words` (out, 4 bits): of the burst, less 1. `response` (out, 2 bits): of a
    transaction that may not, or not for `write` (in), go to memory at `target` (out, 32 bits). `id` (out, 6 bits).
    `size` (out, 2 bits): the beat has 2^`size` bytes.
    """

    def __init__(self, bus, entry):
        self.place, self.target, self.words = Signal(32), Signal(32), Signal(4)
        self.steps, self.last, self.ends, self.write = Signal(), Signal(), Signal(), Signal()
        self.response, self.id = Signal(2), Signal.like(bus.ar.id)
        self._left, self.size, self._odd = Signal(8), Signal(2), Signal()

        # # #

        step, rest = Signal(4), Signal(8)
        readable, writable = entry[_READABLE], entry[_WRITABLE]
        self.comb += [
            step.eq(1 << self.size),
            # Bytes from the first word's beginning to the last beat
            rest.eq(self.place[:3] + (self._left[:4] << self.size)),
            self.words.eq(rest >> 3),
            self.last.eq(self._left == 0),
            self.ends.eq(self.last | (self.place[:3] + step >= 8)),
            self.target.eq(Cat(C(0, 3), self.place[3:_IN_PAGE], entry[PAGE_AT:])),
            If(self.place[_IN_PAGE + _PAGE_BITS :] != 0, self.response.eq(_DECODE_ERROR)).Elif(
                self._odd | ~readable | (self.write & ~writable), self.response.eq(_SLAVE_ERROR)
            ),
        ]
        self.sync += If(self.steps, self._left.eq(self._left - 1), self.place.eq(self.place + step))

    def begin(self, channel):
        """Statements of a state machine that take over an address."""
        # From the beat's beginning
        low = [channel.addr[n] & (channel.size[:2] <= n) for n in range(3)]
        return [
            NextValue(self.place, Cat(*low, channel.addr[3:])),
            NextValue(self._left, channel.len),
            NextValue(self.size, channel.size[:2]),
            NextValue(self._odd, (channel.len >= _BEATS) | ((channel.len != 0) & (channel.burst != BURST_INCR))),
            NextValue(self.id, channel.id),
        ]

    def accept(self, fsm, axi, free, worst):
        """Add the states of a state machine in which a transaction is accepted, while `free`, and its page looked up;
        `worst` is cleared. State CHECK follows."""
        fsm.act(
            "IDLE",
            axi.ar.ready.eq(free),
            axi.aw.ready.eq(free & ~axi.ar.valid),
            NextValue(worst, 0),
            If(free & axi.ar.valid, self.begin(axi.ar), NextValue(self.write, 0), NextState("LOOKUP")).Elif(
                free & axi.aw.valid, self.begin(axi.aw), NextValue(self.write, 1), NextState("LOOKUP")
            ),
        )
        fsm.act("LOOKUP", NextState("CHECK"))


class MemoryPages(Module):
    """`axi`: slave. `interrupts` (out, 16 bits): none. `aborts` (in), `held` (in), `settled` (out): as of
    `VectorAdder`; entries are kept in a reset. `read`, `write`: halves of an HP port. `sets` (in), `entry` (in,
    32 bits): set an entry, bits 31..12 the address of a page here, 9..2 its number in the range, 1 writable, 0
    readable. `refused` (out): for a cycle, a transaction was refused.
    """

    def __init__(self):
        self.axi, self.interrupts = bridge_axi(), Signal(INTERRUPTS)
        self.aborts, self.held, self.settled = Signal(), Signal(), Signal()
        self.read, self.write = HpRead(), HpWrite()
        self.sets, self.entry, self.refused = Signal(), Signal(32), Signal()

        # # #

        axi = self.axi
        self.specials += (table := Memory(32 - _IN_PAGE + PAGE_AT, PAGES))
        setting, looking = table.get_port(write_capable=True), table.get_port()
        self.specials += setting, looking
        self.submodules.job = job = PageJob(axi, looking.dat_r)
        self.submodules.words = words = ResetInserter()(SyncFIFO(DATA_BITS + DATA_BITS // 8, _BEATS))
        void, safe, worst = Signal(), Signal(), Signal(2)
        self.submodules.fsm = fsm = FSM("IDLE")
        self.comb += [
            setting.adr.eq(self.entry[PAGE_AT:]),
            setting.dat_w.eq(Cat(self.entry[:PAGE_AT], self.entry[_IN_PAGE:])),
            setting.we.eq(self.sets),
            looking.adr.eq(job.place[_IN_PAGE:]),
            words.reset.eq((void & safe) | (fsm.ongoing("ADDRESS") & (worst != 0))),
            [axi.r.id.eq(job.id), axi.b.id.eq(job.id)],
            [axi.r.resp.eq(worst), axi.b.resp.eq(worst), axi.r.last.eq(job.last)],
            axi.r.data.eq(Mux(worst == 0, words.dout[:DATA_BITS], 0)),
        ]
        self.sync += If(self.aborts, void.eq(1)).Elif(fsm.ongoing("IDLE"), void.eq(0))
        self.comb += self.settled.eq(
            fsm.ongoing("IDLE") & ~void & ~axi.ar.valid & ~axi.aw.valid & ~axi.w.valid & ~self.sets
        )
        self._accept(fsm, axi, job, void, safe, worst)
        self._collect(fsm, axi.w, job, words, void, safe)
        self._load(fsm, axi.r, job, words, void, safe, worst)
        self._store(fsm, axi.b, words, void, safe, worst)

    def _accept(self, fsm, axi, job, void, safe, worst):
        job.accept(fsm, axi, ~void & ~self.aborts, worst)
        fsm.act("IDLE", safe.eq(1))
        fsm.act(
            "CHECK",
            safe.eq(1),
            NextValue(worst, job.response),
            NextValue(self.read.araddr, job.target),
            NextValue(self.write.awaddr, job.target),
            NextValue(self.read.arlen, job.words),
            NextValue(self.write.awlen, job.words),
            self.refused.eq(~void & (job.response != 0)),
            If(void, NextState("IDLE"))
            .Elif(job.write, NextState("COLLECT"))
            .Elif(job.response != 0, NextState("BEAT"))
            .Else(NextState("ASK")),
        )

    def _collect(self, fsm, beats, job, words, void, safe):
        """Beats of a write, to words."""
        bits = [Signal(DATA_BITS), Signal(DATA_BITS // 8)]
        now = [Signal.like(bit) for bit in bits]
        lanes = [
            Mux(beats.strb[n], beats.data[8 * n : 8 * n + 8], bits[0][8 * n : 8 * n + 8]) for n in range(DATA_BITS // 8)
        ]
        self.comb += [now[0].eq(Cat(*lanes)), now[1].eq(bits[1] | beats.strb)]
        fsm.act(
            "COLLECT",
            safe.eq(1),
            beats.ready.eq(1),
            If(void, NextValue(bits[1], 0), NextState("IDLE")).Elif(
                beats.valid,
                job.steps.eq(1),
                NextValue(bits[0], now[0]),
                NextValue(bits[1], Mux(job.ends, 0, now[1])),
                If(beats.last, NextState("ADDRESS")),
            ),
        )
        collects = fsm.ongoing("COLLECT")
        fetched = self.read.rvalid
        self.comb += [
            words.din.eq(Mux(collects, Cat(*now), self.read.rdata)),
            words.we.eq(Mux(collects, beats.valid & job.ends & ~void, fetched)),
        ]

    def _load(self, fsm, beats, job, words, void, safe, worst):
        read = self.read
        self.comb += read.rready.eq(1)
        fsm.act("ASK", read.arvalid.eq(1), If(read.arready, NextState("AWAIT")))
        fsm.act(
            "AWAIT",
            If(read.rvalid, NextValue(worst, worst | read.rresp), If(read.rlast, NextState("BEAT"))),
        )
        goes = Signal()
        self.comb += goes.eq(fsm.ongoing("BEAT") & beats.valid & beats.ready)
        fsm.act(
            "BEAT",
            safe.eq(1),
            beats.valid.eq(~void),
            job.steps.eq(beats.valid & beats.ready),
            If(void | (goes & job.last), NextState("IDLE")),
        )
        leaves = fsm.ongoing("DATA") & self.write.wready
        self.comb += words.re.eq((goes & job.ends) | leaves)

    def _store(self, fsm, answer, words, void, safe, worst):
        write = self.write
        self.comb += [
            Cat(write.wdata, write.wstrb).eq(words.dout),
            write.wlast.eq(words.level == 1),
        ]
        fsm.act(
            "ADDRESS",
            If(
                worst != 0,
                NextState("ANSWER"),
            ).Else(write.awvalid.eq(1), If(write.awready, NextState("DATA"))),
        )
        fsm.act("DATA", write.wvalid.eq(1), If(write.wready & write.wlast, NextState("RESPONSE")))
        fsm.act(
            "RESPONSE",
            write.bready.eq(1),
            If(write.bvalid, NextValue(worst, write.bresp), NextState("ANSWER")),
        )
        fsm.act(
            "ANSWER",
            safe.eq(1),
            answer.valid.eq(~void),
            If(void | answer.ready, NextState("IDLE")),
        )
