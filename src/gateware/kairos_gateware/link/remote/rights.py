"""What each board may access, on a board with cross links: requests of a board may come by any of several links, and so
its rights do not depend on the link.

    board that asks ─▶ the end that leads to it ─▶ regions of that end ─▶ server

A board's end is that of the cross link which leads to it, while one does, else the link of the tree behind which it is:
the one to which kernels export for it. If that end has no regions, those of the link apply by which the request has
come. An end changes 1 cycle after the link. Clock domain sys.
"""

from migen import *

from ...contracts.rtio import BOARDS
from ..switch.routes import UP, tree_route
from .server import Region

__all__ = ["Rights"]


class Rights(Module):
    """own: number of this board. sizes: boards behind each of its links downwards. crosses: `CrossLink` of each. Ports
    are those of `crossed_route`."""

    def __init__(self, own, sizes, crosses):
        self._regions, self._seen = {}, []
        ports = 2 + len(sizes) + len(crosses)
        self._homes = Array(Signal(max=ports) for _ in range(BOARDS))

        # # #

        for number, home in enumerate(self._homes):
            port = Signal.like(home)
            self.comb += tree_route(own, sizes)(C(number, len(own)), port)
            for n, cross in enumerate(crosses, UP + 1 + len(sizes)):
                self.comb += If(cross.leads & (cross.destination == number), port.eq(n))
            self.sync += home.eq(port)

    def add(self, port, regions):
        """Has these regions apply to the boards whose end is at this port."""
        self._regions[port] = regions

    def seen_by(self, source, port, count):
        """Regions, so many, that apply to requests of the board `source`, a signal, which come at this port."""
        seen = [Region() for _ in range(count)]
        self._seen.append((source, port, seen))
        return seen

    def do_finalize(self):
        for source, port, seen in self._seen:
            for n, region in enumerate(seen):
                cases = {
                    at: [to.eq(of) for to, of in zip(region.signals(), regions[n].signals(), strict=True)]
                    for at, regions in self._regions.items()
                }
                self.comb += Case(self._homes[source], cases | {"default": cases[port]})
