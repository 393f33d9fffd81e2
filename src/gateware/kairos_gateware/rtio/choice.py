"""Chooses the next channel to push: round-robin among those with entries that were not found full.

    cycle   0   readable
            1   `chosen`, `slot`, until `move`

Throughput: one choice per two cycles. Clock domain sys.
"""

from migen import *

__all__ = ["ChannelChoice"]


class ChannelChoice(Module):
    """count: number of slots.

    `readable` (in, `count` bits): a bit for each slot. `chosen` (out): `slot` (out, below `count`) is the
    chosen one. `enable` (in): if 0, none is. `move` (in): the chosen slot was served; without `room` (in)
    it is not chosen again until `freed` (in), for the slot `freed_slot` (in, below `count`). `reset` (in):
    none is chosen, none is full. `waiting` (out): a slot can be chosen.
    """

    def __init__(self, count):
        bound = max(2, count)
        self.readable = Signal(count)
        self.enable = Signal()
        self.reset = Signal()
        self.slot = Signal(max=bound)
        self.chosen = Signal()
        self.move = Signal()
        self.room = Signal()
        self.freed = Signal()
        self.freed_slot = Signal(max=bound)
        self.waiting = Signal()

        # # #

        full, later = Signal(count), Signal(count)
        candidates = Signal(count)
        choice = Signal(max=bound)
        self.comb += [
            candidates.eq(self.readable & ~full & Replicate(self.enable, count)),
            self.waiting.eq(candidates != 0),
        ]
        for mask in [candidates, candidates & later]:
            self.comb += [If(mask[n], choice.eq(n)) for n in reversed(range(count))]
        self.sync += [
            If(self.move, self.chosen.eq(0)),
            If(~self.chosen & self.waiting, self.chosen.eq(1), self.slot.eq(choice)),
            [If(self.move & (self.slot == n), full[n].eq(~self.room)) for n in range(count)],
            [If(self.move, later[n].eq(self.slot < n)) for n in range(1, count)],
            If(self.freed, [If(self.freed_slot == n, full[n].eq(0)) for n in range(count)]),
            If(self.reset, full.eq(0), self.chosen.eq(0)),
        ]
