"""Timing wheel: events of the next cycles, in a memory with a slot for each cycle.

Slot T mod `depth` holds the events of cycle T, one in each lane. An event takes the next free lane
of its slot, so events may arrive in any order; each cycle one slot is read, all lanes at once, and
is empty afterwards. Only a single slot can be full: an event for a full slot is dropped
(`overfull`).

Order: events that waited in the pool (`pooled`) are older than those of the same time that did not;
otherwise the one in the lower lane is older.

The number of events in a slot is kept in two memories: `filled` (number, generation), written at
insertion, and `used` (generation), written when the slot has been read. The number is valid if the
generations are equal. So each memory has a single writer, and one insertion per cycle is possible.

Timing: insertion (`stb`) in cycle 0, lane known and written in cycle 1, readable from cycle 2 on.
Slot of cycle T read in cycle T - OUTPUT_LATENCY, `valid` in the next. An event may be inserted up
to `depth` - MARGIN cycles ahead. `reset` discards all events: if there are any, `sweeping` is high
for `depth` cycles, and nothing may be inserted. Memories are empty after configuration, and only
`reset` empties them. Clock domain sys.
"""

from migen import *
from migen.fhdl.bitcontainer import bits_for

from .timing import COARSE_BITS, OUTPUT_LATENCY

__all__ = ["Wheel", "MARGIN"]

MARGIN = 8
"""Cycles until a slot that was read can be filled again."""


class _Lane:
    """Ports of a lane to the output network.

    `valid` (out): `event` (out) is due. `late` (out): always 0.
    """

    def __init__(self, layout, n):
        self.valid = Signal(name=f"lane_valid_{n}")
        self.late = Signal(name=f"lane_late_{n}")  # always 0: an event in a slot cannot be late
        self.event = Record(layout, name=f"lane_event_{n}")


class _Counts(Module):
    """The number of events in each slot.

    `slot` (in, `bits` bits): of the event to be inserted in the next cycle. `insert` (in): it is inserted,
    into `inserted_slot` (in, `bits` bits). `number` (out, `count_bits` bits): events in that slot; `full`
    (out): as many as there are lanes. `write` (out): the event takes the lane of that number; `first`
    (out): it is the slot's first. `now` (in, `bits` bits): the slot to be read. `present` (out,
    `count_bits` bits): its events, in the next cycle; `leaving` (out): there are some. `clearing` (in): all
    slots are emptied, one after the other, now `cleared_slot` (in, `bits` bits).
    """

    def __init__(self, lanes, depth):
        bits, count_bits = log2_int(depth), bits_for(lanes)
        self.slot, self.inserted_slot = slot, where = Signal(bits), Signal(bits)
        self.insert, self.full = Signal(), Signal()
        self.write, self.first = Signal(), Signal()
        self.number = number = Signal(count_bits)
        self.now = now = Signal(bits)
        self.present, self.leaving = Signal(count_bits), Signal()
        self.clearing, self.cleared_slot = Signal(), Signal(bits)

        # # #

        filled_at_insertion, filled_at_reading = [Memory(count_bits + 1, depth) for _ in range(2)]
        used_at_insertion, used_at_reading = [Memory(1, depth) for _ in range(2)]
        self.specials += filled_at_insertion, filled_at_reading, used_at_insertion, used_at_reading

        # The preceding insertion may be changing the number
        filled, generation = _read(self, filled_at_insertion, slot), _read(self, used_at_insertion, slot)
        one_more, forward, forwarded = Signal(count_bits), Signal(), Signal(count_bits)
        self.sync += [
            forward.eq(self.insert & (slot == where)),
            forwarded.eq(Mux(self.full, number, one_more)),
        ]
        self.comb += [
            one_more.eq(number + 1),
            If(forward, number.eq(forwarded)).Elif(filled[-1] == generation, number.eq(filled[:-1])),
            self.full.eq(number == lanes),
            self.first.eq(self.write & (number == 0)),
            self.write.eq(self.insert & ~self.full),
        ]
        for memory in [filled_at_insertion, filled_at_reading]:
            port = memory.get_port(write_capable=True)
            self.specials += port
            self.comb += [
                port.we.eq(self.write | self.clearing),
                port.adr.eq(Mux(self.clearing, self.cleared_slot, where)),
                port.dat_w.eq(Mux(self.clearing, 0, Cat(one_more, generation))),
            ]

        # Reading
        before = Signal(bits)
        filled, cleared = _read(self, filled_at_reading, now), _read(self, used_at_reading, now)
        self.comb += [
            If((filled[-1] == cleared) & ~self.clearing, self.present.eq(filled[:-1])),
            self.leaving.eq(self.present != 0),
        ]
        self.sync += before.eq(now)
        for memory in [used_at_insertion, used_at_reading]:
            port = memory.get_port(write_capable=True)
            self.specials += port
            self.comb += [port.we.eq(self.leaving), port.adr.eq(before), port.dat_w.eq(~cleared)]


def _read(module, memory, address):
    """The content of a memory at an address of the previous cycle."""
    port = memory.get_port(mode=READ_FIRST)
    module.specials += port
    module.comb += port.adr.eq(address)
    return port.dat_r


class Wheel(Module):
    """layout: from `event_layout` for `lanes` lanes. depth: cycles, a power of two.

    `stb` (in): inserts `event` (in), which has waited in the pool if `pooled` (in). `overfull` (out): an
    event of channel `overfull_channel` (out, as `event.channel`) was dropped. `reset` (in): discards all
    events; `sweeping` (out) until it has. For time skip: `settled` (out), `waiting` (out), `due` (out, 61
    bits, coarse time to which the counter may be advanced).
    """

    def __init__(self, timebase, layout, lanes, depth, simulation=False):
        self.reset = Signal()
        self.stb = Signal()
        self.event = Record(layout)
        self.pooled = Signal()
        self.overfull = Signal()
        self.overfull_channel = Signal(len(self.event.channel))
        self.sweeping = Signal(reset_less=True)
        self.lanes = [_Lane(layout, n) for n in range(lanes)]

        # # #

        bits = log2_int(depth)
        stored = [name for name, *_ in layout if name not in ("coarse", "younger")]
        occupied = Signal(bits + 1, reset_less=True)  # slots that are not empty
        second, sweep = Signal(), Signal(bits)
        inserted, inserted_pooled = Record(layout), Signal()
        now = timebase.shifted(OUTPUT_LATENCY)[:bits]
        self.submodules.counts = counts = _Counts(lanes, depth)
        self.sync += [
            second.eq(self.stb & ~self.reset),
            inserted.raw_bits().eq(self.event.raw_bits()),
            inserted_pooled.eq(self.pooled),
        ]
        self.comb += [
            counts.slot.eq(self.event.coarse[:bits]),
            counts.inserted_slot.eq(inserted.coarse[:bits]),
            counts.insert.eq(second),
            counts.now.eq(now),
            counts.clearing.eq(self.sweeping),
            counts.cleared_slot.eq(sweep),
            self.overfull.eq(second & counts.full),
            self.overfull_channel.eq(inserted.channel),
        ]

        direct = []
        for n, lane in enumerate(self.lanes):
            memory = Memory(sum(len(getattr(lane.event, name)) for name in stored) + 1, depth)
            port = memory.get_port(write_capable=True)
            self.specials += memory, port
            pooled = Signal()
            self.comb += [
                port.we.eq(counts.write & (counts.number == n)),
                port.adr.eq(counts.inserted_slot),
                port.dat_w.eq(Cat(*[getattr(inserted, name) for name in stored], inserted_pooled)),
                Cat(*[getattr(lane.event, name) for name in stored], pooled).eq(_read(self, memory, now)),
                lane.valid.eq(counts.present > n),
            ]
            direct.append(~pooled)
        for n, lane in enumerate(self.lanes):
            self.comb += [
                lane.event.younger[m].eq(direct[m] | ~direct[n] if m > n else direct[m] & ~direct[n])
                for m in range(lanes)
                if m != n
            ]

        # Reset
        self.sync += [
            occupied.eq(occupied + counts.first - counts.leaving),
            If(
                self.sweeping,
                sweep.eq(sweep + 1),
                If(sweep == depth - 1, self.sweeping.eq(0), occupied.eq(0)),
            ),
            If(self.reset & ((occupied != 0) | counts.first), self.sweeping.eq(1), sweep.eq(0)),
        ]
        if simulation:
            self._simulate(timebase, counts, inserted.coarse, second)

    def _simulate(self, timebase, counts, coarse, second):
        """The facts for time skip. coarse: time of the event that is inserted if `second`."""
        self.waiting, self.due, self.settled = Signal(), Signal(COARSE_BITS), Signal()
        self.submodules.calendar = calendar = _Calendar(len(counts.slot))
        reached = Signal()  # the slot of the next event is read in this cycle
        changing = self.stb | second | counts.leaving | self.sweeping | calendar.searching | reached | self.reset
        self.comb += [
            calendar.insert.eq(counts.first),
            calendar.inserted.eq(coarse),
            calendar.remove.eq(counts.leaving),
            calendar.removed.eq(timebase.shifted(OUTPUT_LATENCY - 1)),
            calendar.clear.eq(self.sweeping),
            self.waiting.eq(calendar.valid),
            self.due.eq(calendar.next - OUTPUT_LATENCY),
            reached.eq(calendar.valid & (calendar.next <= timebase.shifted(OUTPUT_LATENCY))),
            self.settled.eq(~changing),
        ]


class _Calendar(Module):
    """Tracks occupied slots and the next of them: for time skip in simulation.

    `next` (out, 61 bits) is found within a few cycles after a removal (`searching` (out)): in the removed
    slot's word of 64 slots, or in the first following word with an occupied slot.

    `insert` (in): the slot of time `inserted` (in, 61 bits) becomes occupied. `remove` (in): that of time
    `removed` (in, 61 bits) becomes empty. `clear` (in): all do. `valid` (out): a slot is occupied.
    """

    def __init__(self, bits):
        self.insert, self.inserted = Signal(), Signal(COARSE_BITS)
        self.remove, self.removed = Signal(), Signal(COARSE_BITS)
        self.clear = Signal()
        self.valid = Signal()
        self.next = Signal(COARSE_BITS)
        self.searching = Signal()

        # # #

        word_bits = min(6, bits - 1)
        size = 1 << word_bits
        count = 1 << bits - word_bits
        words = [Signal(size, name=f"word_{n}") for n in range(count)]
        groups = Signal(count)  # words that are not zero
        origin = Signal(COARSE_BITS)
        elsewhere, index = Signal(), Signal(bits - word_bits)  # the search continues in that word

        def lowest(value):
            """Index of the lowest set bit: isolates the bit, then derives each binary digit with a
            mask."""
            isolated = Signal(len(value))
            self.comb += isolated.eq(value & (~value + 1))
            masks = [sum(1 << n for n in range(len(value)) if n >> digit & 1) for digit in range(log2_int(len(value)))]
            return Cat(*[(isolated & mask) != 0 for mask in masks])

        # Occupied slots after the origin in its word, or all of another word; words after the
        # origin's, or all if there are none
        here, later, word_set = Signal(size), Signal(count), Signal(count)
        found = Signal(bits)
        self.comb += [
            If(elsewhere, here.eq(Array(words)[index])).Else(
                here.eq(Array(words)[origin[word_bits:bits]] & (2**size - 2 << origin[:word_bits]))
            ),
            later.eq(groups & (2**count - 2 << origin[word_bits:bits])),
            If(later != 0, word_set.eq(later)).Else(word_set.eq(groups)),
        ]
        self.comb += found.eq(Cat(lowest(here), Mux(elsewhere, index, origin[word_bits:bits])))
        updates = []
        for n, word in enumerate(words):
            setting = self.insert & (self.inserted[word_bits:bits] == n)
            clearing = self.remove & (self.removed[word_bits:bits] == n)
            value = (word | Mux(setting, 1 << self.inserted[:word_bits], 0)) & ~Mux(
                clearing, 1 << self.removed[:word_bits], 0
            )
            updates.append(If(setting | clearing, word.eq(value), groups[n].eq(value != 0)))
        self.sync += [
            If(self.insert | self.remove, *updates),
            If(
                self.insert,
                self.valid.eq(1),
                If(~self.valid | (self.inserted < self.next), self.next.eq(self.inserted)),
            ),
            If(
                self.searching & ~self.insert,
                If(
                    here != 0,
                    self.searching.eq(0),
                    # At most a whole turn ahead
                    self.next.eq(origin + 1 + ((found - origin[:bits] - 1) & (2**bits - 1))),
                )
                .Elif(groups == 0, self.searching.eq(0), self.valid.eq(0))
                .Else(elsewhere.eq(1), index.eq(lowest(word_set))),
            ),
            If(self.insert, elsewhere.eq(0)),  # the search restarts
            If(self.remove, self.searching.eq(1), elsewhere.eq(0), origin.eq(self.removed)),
            If(self.clear, self.valid.eq(0), self.searching.eq(0), groups.eq(0), [word.eq(0) for word in words]),
        ]
