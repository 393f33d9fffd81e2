"""Output network: from the lanes' events of one cycle to the channels.

Instead of a sorting network, all pairs of lanes are compared: events of one cycle on one channel
are found in a single stage, without moving payloads (28 comparisons for 8 lanes). Of such events
the one submitted last is executed. If it has the fine time and address of the others it replaces
them silently, unless the channel forbids replacement; otherwise a collision is reported with the
channel.

Timing: lanes' `valid` in cycle 1, merged in cycle 2, channel `stb` in cycle 3 (gate decision: cycle
0). One set of events per cycle. Clock domain sys.
"""

from functools import reduce
from itertools import combinations
from operator import or_

from migen import *

__all__ = ["OutputNetwork"]


class OutputNetwork(Module):
    """lanes: objects with `valid`, `event`, `late`. Errors are one-cycle pulses with a channel.

    `collision`, `busy` (out): two events in one cycle; the PHY could not take one.
    `collision_channel`, `busy_channel` (out, 16 bits): where. `settled` (out): no event is in
    transit.
    """

    def __init__(self, lanes, layout, channels):
        self.collision = Signal()
        self.collision_channel = Signal(16)
        self.busy = Signal()
        self.busy_channel = Signal(16)
        self.settled = Signal()

        # # #

        # Stage 1: pairs
        n = len(lanes)
        replaced = [Signal(name=f"replaced_{i}") for i in range(n)]
        replacing = {i: [] for i in range(n)}
        colliding = {i: [] for i in range(n)}
        strict = [c.number for c in channels if c.output is not None and not c.output.replace]
        for i, j in combinations(range(n), 2):
            a, b = lanes[i].event, lanes[j].event
            same = Signal(name=f"same_{i}_{j}")
            self.comb += same.eq(lanes[i].valid & lanes[j].valid & (a.channel == b.channel))
            replacing[i].append(same & a.younger[j])
            replacing[j].append(same & ~a.younger[j])
            irreplaceable = reduce(or_, [a.channel == number for number in strict], C(0))
            colliding[i].append(same & ((a.fine != b.fine) | (a.address != b.address) | irreplaceable))
        self.comb += [replaced[i].eq(reduce(or_, replacing[i], C(0))) for i in range(n)]

        # Stage 2: survivors
        valid = Signal(n)
        events = [Record(layout, name=f"merged_{i}") for i in range(n)]
        late = Signal(n)
        for i, lane in enumerate(lanes):
            self.sync += [
                valid[i].eq(lane.valid & ~replaced[i]),
                events[i].raw_bits().eq(lane.event.raw_bits()),
                late[i].eq(lane.late & lane.valid),
            ]
        collision = Signal(n)
        self.sync += [collision[i].eq(reduce(or_, colliding[i], C(0))) for i in range(n)]

        # Stage 3: channels, and errors
        strobes = []
        for channel in channels:
            if channel.output is None:
                continue
            link = channel.output
            hit = [
                (valid[i] & (events[i].channel == channel.number))
                if channel.number < 1 << len(events[i].channel)
                else C(0)
                for i in range(n)
            ]

            def select(field, width, hit=hit):
                return reduce(or_, [Replicate(hit[i], width) & getattr(events[i], field)[:width] for i in range(n)])

            self.sync += [
                link.stb.eq(reduce(or_, hit)),
                link.data.eq(select("data", link.data_width)),
                link.fine.eq(select("fine", len(link.fine))),
            ]
            if link.address_width:
                self.sync += link.address.eq(select("address", link.address_width))
            strobes.append(link.stb)

        late_channel = Signal(16)
        late_any = Signal()
        self.sync += [self.collision.eq(collision != 0), late_any.eq(late != 0)]
        for i in reversed(range(n)):
            self.sync += [
                If(collision[i], self.collision_channel.eq(events[i].channel)),
                If(late[i], late_channel.eq(events[i].channel)),
            ]
        # A late event was executed, but not at its time: reported as busy
        self.comb += [self.busy.eq(late_any), self.busy_channel.eq(late_channel)]
        for channel in reversed([c for c in channels if c.output is not None]):
            self.comb += If(
                channel.output.stb & channel.output.busy, self.busy.eq(1), self.busy_channel.eq(channel.number)
            )
        self.comb += self.settled.eq(
            (valid == 0) & (collision == 0) & ~self.collision & ~self.busy & ~reduce(or_, strobes, C(0))
        )
