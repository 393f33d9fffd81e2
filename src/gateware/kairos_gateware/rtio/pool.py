"""Pool: events that are too far ahead for the wheel, in the order of their submission.

The pool keeps the minimum of their times. When that comes near, it does a lap: all events are
examined in order; those within the wheel's reach are passed on, the others are written to a second
memory, which then takes the first one's role. New events are appended after the old ones, and a lap
examines them, too. Events of the same time leave in the order of submission: the lap's limit is
fixed, and everything appended during a lap lies beyond it.

Timing: `push` each cycle. A lap takes one cycle per event, and one per cycle in which `out` is not
taken. With `capacity` P, and `out` waiting in at most one of four cycles, an event leaves at most
3.7 P + 10 cycles after it came within `reach`: a lap of 2 P events (P present, P added when those
have left) that began just before and P / 3 waits, then P events and P / 3 waits. `reach_for`
returns a reach that covers this. Clock domain sys.
"""

from migen import *
from migen.fhdl.bitcontainer import bits_for

from .timing import COARSE_BITS

__all__ = ["Pool", "reach_for"]

_TIME_BITS = COARSE_BITS - 1
"""Accepted times are not negative."""


def reach_for(capacity) -> int:
    """Least power of two, in cycles, within which every event leaves in time. A lap begins at half
    of it."""
    return 1 << bits_for(11 * capacity // 3 + 48)


def _kept(event, layout):
    """The bits of an event that a memory stores: the time without its sign, and not `younger`."""
    fields = [name for name, *_ in layout if name != "younger"]
    return Cat(*[event.coarse[:_TIME_BITS] if name == "coarse" else getattr(event, name) for name in fields])


class Pool(Module):
    """layout: of the events. capacity: a power of two. reach: cycles ahead of the counter for which
    the wheel has slots; margin: number of these that are not used.

    `push` (in): `event` (in) is appended (at most `capacity` events in total, including the one in
    `out_event` (out)). `out_valid` (out): `out_event` is within reach; `out_take` (in): it has been taken.
    For time skip: `settled` (out): nothing changes but by time; `waiting` (out): events wait for it, the
    first of them until `due` (out, 61 bits).
    """

    def __init__(self, timebase, layout, capacity, reach, margin):
        self.push = Signal()
        self.event = Record(layout)
        self.out_valid = Signal()
        self.out_event = Record(layout)
        self.out_take = Signal()
        self.settled = Signal()
        self.waiting = Signal()
        self.due = Signal(COARSE_BITS)

        # # #

        bits = log2_int(capacity)
        kept = _kept(self.event, layout)
        side = Signal()  # which memory is appended to and, in a lap, read
        written = [Signal(bits + 1, name=f"written_{n}") for n in range(2)]  # the extra bit tells full from empty
        read = Signal(bits + 1)
        lap = Signal()
        limit = Signal(_TIME_BITS)
        least = Signal(_TIME_BITS, reset=2**_TIME_BITS - 1)
        near = Signal()

        # The event being examined
        head_valid, advance, keep, fetch = Signal(), Signal(), Signal(), Signal()
        head = Record(layout)
        head_bits = _kept(head, layout)
        memories = [Memory(len(kept), capacity) for _ in range(2)]
        outputs = []
        for n, memory in enumerate(memories):
            reader = memory.get_port(has_re=True, mode=READ_FIRST)
            writer = memory.get_port(write_capable=True)
            self.specials += memory, reader, writer
            mine = side == n
            self.comb += [
                reader.adr.eq(read[:bits]),
                reader.re.eq(advance),
                writer.adr.eq(written[n][:bits]),
                writer.we.eq(Mux(mine, self.push, keep)),
                writer.dat_w.eq(Mux(mine, kept, head_bits)),
            ]
            self.sync += If(writer.we, written[n].eq(written[n] + 1))
            outputs.append(reader.dat_r)
        leaves = head.coarse[:_TIME_BITS] < limit
        source = Mux(side, written[1], written[0])
        self.comb += [
            head_bits.eq(Mux(side, outputs[1], outputs[0])),
            advance.eq(~head_valid | ~leaves | ~self.out_valid | self.out_take),
            keep.eq(head_valid & ~leaves),
            fetch.eq(lap & (read != source)),
            near.eq(least < timebase.shifted(reach // 2)[:_TIME_BITS]),
        ]
        candidate = Mux(lap, head.coarse[:_TIME_BITS], self.event.coarse[:_TIME_BITS])
        self.sync += [
            If(advance, head_valid.eq(fetch), read.eq(read + fetch)),
            If(self.out_take, self.out_valid.eq(0)),
            If(
                head_valid & leaves & advance,
                self.out_valid.eq(1),
                self.out_event.raw_bits().eq(head.raw_bits()),
            ),
            If(Mux(lap, keep, self.push) & (candidate < least), least.eq(candidate)),
            If(
                lap,
                If(
                    ~head_valid & ~fetch & ~self.push,
                    lap.eq(0),
                    side.eq(~side),
                    read.eq(0),
                    [If(side == n, pointer.eq(0)) for n, pointer in enumerate(written)],
                ),
            ).Elif(
                near & ~self.push,
                lap.eq(1),
                limit.eq(timebase.shifted(reach - margin)[:_TIME_BITS]),
                least.eq(2**_TIME_BITS - 1),
            ),
        ]
        self.comb += [
            self.settled.eq(~self.push & ~lap & ~near & ~self.out_valid),
            self.waiting.eq(least != 2**_TIME_BITS - 1),
            self.due.eq(least - reach // 2),
        ]
