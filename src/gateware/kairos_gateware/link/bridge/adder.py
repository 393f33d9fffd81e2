"""A block behind a bridge, or of regions of remote memory: adds two vectors of 32-bit numbers that another board has
stored in it. The example of a remote accelerator.

Addresses, in bytes; everything else is a decode error:

    0000  read: "ADDV" (5644_4441)          0008  read: bit 0 busy, 1 done
    0004  numbers to add, up to 1024        000c  write: begin; `done` is cleared
    1000 to 1fff  first vector    2000 to 2fff  second vector    3000 to 3fff  sums, read only

Two numbers are added in each cycle. `done` is also the lowest interrupt. Latency of the bus: address → data 2,
and 2 for each further beat; last data → answer 1. Clock domain sys.
"""

from litex.soc.interconnect.axi import BURST_FIXED, BURST_WRAP
from migen import *

from ...contracts.remote import ADDER_AREA_BYTES, ADDER_IDENTITY, ADDER_NUMBERS, AdderArea
from .words import DATA_BITS, INTERRUPTS, bridge_axi

__all__ = ["VectorAdder"]

_NUMBER_BITS = 32
_LANES = DATA_BITS // _NUMBER_BITS
_DEPTH = ADDER_NUMBERS // _LANES
_REGISTERS, _FIRST, _SECOND, _SUMS = AdderArea
_AREAS = len(AdderArea)
_AREA_BITS = log2_int(ADDER_AREA_BYTES)
_SLAVE_ERROR, _DECODE_ERROR = 2, 3


class _Bus(Module):
    """The slave's transactions, one at a time, as single words.

    `axi`. `address` (out, 32 bits): of a word, valid in the cycle before `loads` (out), in which `value` (in,
    64 bits) and `wrong` (in, 2 bits, a response) are; or, with `stores` (out), in which `data` (out, 64 bits)
    and `strobes` (out, 8 bits) are. `settled` (out).
    """

    def __init__(self):
        self.axi = axi = bridge_axi()
        self.address, self.loads, self.stores, self.settled = Signal(32), Signal(), Signal(), Signal()
        self.value, self.wrong = Signal(DATA_BITS), Signal(2)
        self.data, self.strobes = axi.w.data, axi.w.strb

        # # #

        left, step, id_, worst = Signal(8), Signal(4), Signal.like(axi.ar.id), Signal(2)
        refuses, response = Signal(), Signal(2)
        self.comb += [response.eq(Mux(refuses, _SLAVE_ERROR, self.wrong)), axi.b.id.eq(id_), axi.r.id.eq(id_)]

        def begin(channel):
            return [
                NextValue(self.address, channel.addr),
                NextValue(left, channel.len),
                NextValue(step, Mux(channel.burst == BURST_FIXED, 0, 1 << channel.size[:2])),
                NextValue(id_, channel.id),
                # A wrapping burst would need its length to count
                NextValue(refuses, channel.burst == BURST_WRAP),
                NextValue(worst, 0),
            ]

        self.submodules.fsm = fsm = FSM("IDLE")
        fsm.act(
            "IDLE",
            axi.ar.ready.eq(1),
            axi.aw.ready.eq(~axi.ar.valid),
            self.settled.eq(~axi.ar.valid & ~axi.aw.valid & ~axi.w.valid),
            If(axi.ar.valid, begin(axi.ar), NextState("LOOKUP")).Elif(axi.aw.valid, begin(axi.aw), NextState("STORE")),
        )
        fsm.act("LOOKUP", NextState("LOAD"))
        fsm.act(
            "LOAD",
            self.loads.eq(1),
            axi.r.valid.eq(1),
            axi.r.data.eq(Mux(response == 0, self.value, 0)),
            axi.r.resp.eq(response),
            axi.r.last.eq(left == 0),
            If(
                axi.r.ready,
                NextValue(left, left - 1),
                NextValue(self.address, self.address + step),
                If(left == 0, NextState("IDLE")).Else(NextState("LOOKUP")),
            ),
        )
        fsm.act(
            "STORE",
            axi.w.ready.eq(1),
            If(
                axi.w.valid,
                self.stores.eq(~refuses),
                NextValue(worst, worst | response),
                NextValue(self.address, self.address + step),
                If(axi.w.last, NextState("ANSWER")),
            ),
        )
        fsm.act("ANSWER", axi.b.valid.eq(1), axi.b.resp.eq(worst), If(axi.b.ready, NextState("IDLE")))


class VectorAdder(Module):
    """`axi`: slave, 64 bits of data, with `BYTES` of addresses. `interrupts` (out, 16 bits). `aborts` (in):
    transactions in progress are void; `held` (in): everything is in reset. `settled` (out): nothing changes.
    """

    BYTES = _AREAS * ADDER_AREA_BYTES

    def __init__(self):
        self.interrupts = Signal(INTERRUPTS)
        self.aborts, self.held, self.settled = Signal(), Signal(), Signal()

        # # #

        self.submodules.bus = bus = ResetInserter()(_Bus())
        self.axi = bus.axi
        area, row = Signal(3), Signal(max=_DEPTH)
        count, busy, done = Signal(max=ADDER_NUMBERS + 1), Signal(), Signal()
        self.comb += [
            bus.reset.eq(self.aborts | self.held),
            area.eq(Mux(bus.address[_AREA_BITS:] < _AREAS, bus.address[_AREA_BITS:], _AREAS)),
            row.eq(bus.address[3:]),
            self.interrupts.eq(done),
            self.settled.eq(bus.settled & ~busy),
        ]
        place, behind = Signal(max=_DEPTH + 1), Signal(max=_DEPTH)
        adds = Signal()
        terms = [self._vector(bus, n, area, row, place) for n in (_FIRST, _SECOND)]
        self.specials += (sums := Memory(DATA_BITS, _DEPTH))
        write, read = sums.get_port(write_capable=True), sums.get_port()
        self.specials += write, read
        lanes = [[port.dat_r[n * 32 : (n + 1) * 32] for port, _ in terms] for n in range(_LANES)]
        totals = [Signal(_NUMBER_BITS) for _ in lanes]
        registers = Cat(C(ADDER_IDENTITY, 32), count, C(0, 32 - len(count)))
        state = Cat(busy, done)
        self.comb += [
            [total.eq(a + b) for total, (a, b) in zip(totals, lanes, strict=True)],
            [write.adr.eq(behind), write.we.eq(adds), write.dat_w.eq(Cat(*totals)), read.adr.eq(row)],
            Case(
                area,
                {
                    _REGISTERS: bus.value.eq(Mux(bus.address[3], state, registers)),
                    _FIRST: bus.value.eq(terms[0][1].dat_r),
                    _SECOND: bus.value.eq(terms[1][1].dat_r),
                    _SUMS: bus.value.eq(read.dat_r),
                },
            ),
            If(
                (area == _AREAS) | ((area == _REGISTERS) & (bus.address[4:_AREA_BITS] != 0)),
                bus.wrong.eq(_DECODE_ERROR),
            ).Elif(bus.stores & (area == _SUMS), bus.wrong.eq(_SLAVE_ERROR)),
        ]
        sets = bus.stores & (area == _REGISTERS) & (bus.address[4:_AREA_BITS] == 0)
        begins = sets & bus.address[3] & bus.strobes[4]
        given = bus.data[32:]
        last = (count + (_LANES - 1)) >> 1
        self.sync += [
            adds.eq(busy & (place != last)),
            behind.eq(place),
            If(busy, If(place != last, place.eq(place + 1)).Else(busy.eq(0), done.eq(1))),
            If(
                sets & ~bus.address[3] & bus.strobes[4] & ~busy,
                count.eq(Mux(given > ADDER_NUMBERS, ADDER_NUMBERS, given[: len(count)])),
            ),
            If(begins & ~busy, busy.eq(1), done.eq(0), place.eq(0)),
            If(self.held, busy.eq(0), done.eq(0), count.eq(0)),
        ]

    def _vector(self, bus, number, area, row, place):
        """The memory of one vector: its port of the adder, and that of the bus."""
        memory = Memory(DATA_BITS, _DEPTH)
        mine, theirs = memory.get_port(), memory.get_port(write_capable=True, we_granularity=8)
        self.specials += memory, mine, theirs
        self.comb += [
            mine.adr.eq(place),
            theirs.adr.eq(row),
            theirs.dat_w.eq(bus.data),
            theirs.we.eq(Mux(bus.stores & (area == number), bus.strobes, 0)),
        ]
        return mine, theirs
