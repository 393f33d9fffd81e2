"""Bench for `RingForwarding`: boards in a ring, each with a memory, all of which access all others'.

Requests are queued in FIFOs, so that a verilated bench can be run in lockstep.
"""

from migen import *

from ..link.line.endpoint import Endpoint
from ..link.line.reliable import Reliability
from ..link.remote.ring import RingForwarding
from ..link.remote.words import ring_streams
from .fibre import Joined
from .forward import Board

__all__ = ["RingBoards"]


class RingBoards(Module):
    """size: number of boards. delay: cycles of each line. `boards`: `Board` of each. `plugged`: a bit of each cable;
    n leads from board n onward. `joined`: all of them are up. `settled`: nothing is in flight at any board."""

    def __init__(self, size, delay=3):
        streams = ring_streams()
        onward, back = [[Endpoint(streams, streams, Reliability()) for _ in range(size)] for _ in range(2)]
        rings = [RingForwarding(onward[n], back[n], n, size) for n in range(size)]
        self.boards = [Board(n, ring.way) for n, ring in enumerate(rings)]
        self.submodules += onward, back, rings, self.boards
        self.plugged, self.joined, self.settled = Signal(size), Signal(), Signal()

        # # #

        for n in range(size):
            self.submodules += Joined([onward[n], back[(n + 1) % size]], delay, self.plugged[n])
        self.comb += [
            self.joined.eq(Cat(*[end.up for end in onward + back]) == 2 ** (2 * size) - 1),
            self.settled.eq(Cat(*[ring.settled for ring in rings]) == 2**size - 1),
        ]
