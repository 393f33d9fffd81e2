"""A cross link: a link beside the tree between two boards, which carries remote memory only.

Each board sends the other its number, and how many boards there are behind it, so both know where the link leads,
whatever is plugged in.

Latency of a number: that of the link. Clock domain sys.
"""

from functools import reduce
from operator import and_, or_

from litex.soc.interconnect.csr import AutoCSR, CSRStatus
from migen import *

from ...csr import uses
from ..line.endpoint import Endpoint
from ..rtio.requester import REST
from ..rtio.words import RELIABILITY
from .words import BOARD_BITS, cross_streams

__all__ = ["CrossLink", "CrossRegisters"]


class CrossLink(Module):
    """own: number of this board, a signal. numbered: it has one. behind: how many boards there are behind it in the
    tree, at most 7.

    `endpoint`, `line_up` (in), `joined`: as of `RtioRequester`. `destination` (out, 3 bits): the number of the board at
    the other end, as it was told last, and `size` (out, 4 bits): how many boards there are from that one downwards,
    itself included. `known` (out): it was told. `leads` (out): the link is up, and leads there.
    `settled` (out): for time skip.
    """

    def __init__(self, own, numbered, behind=0):
        self.line_up = Signal()
        streams = cross_streams()
        self.submodules.endpoint = endpoint = Endpoint(streams, streams, RELIABILITY)
        self.joined = endpoint.up
        self.destination, self.known, self.leads = Signal(BOARD_BITS), Signal(), Signal()
        self.size = Signal(BOARD_BITS + 1, reset=1)
        self.settled = Signal()

        # # #

        outgoing, incoming = endpoint.sink["board"], endpoint.source["board"]
        informed, said = Signal(), Signal(BOARD_BITS)
        number = own[:BOARD_BITS]
        self.comb += [
            endpoint.line.eq(self.line_up),
            outgoing.valid.eq(numbered & (~informed | (said != number))),
            outgoing.form.eq(1),
            outgoing.data.eq(Cat(number, C(behind, BOARD_BITS))),
        ]
        self.sync += [
            If(outgoing.valid & outgoing.ready, informed.eq(1), said.eq(number)),
            If(
                incoming.valid,
                self.destination.eq(incoming.data[:BOARD_BITS]),
                self.size.eq(incoming.data[BOARD_BITS:] + 1),
                self.known.eq(1),
                self.leads.eq(1),
            ),
            If(~endpoint.up, informed.eq(0), self.leads.eq(0)),
        ]

        # Time skip
        rest = Signal(max=REST + 1)
        moves = [endpoint.moving & self.line_up, outgoing.valid & endpoint.up]
        self.sync += If(reduce(or_, moves), rest.eq(REST)).Elif(rest != 0, rest.eq(rest - 1))
        self.comb += self.settled.eq(reduce(and_, [rest == 0, self.joined | ~self.line_up]))


class CrossRegisters(Module, AutoCSR):
    """link: `CrossLink`."""

    USES = uses("cross")

    def __init__(self, link):
        self.destination = CSRStatus(BOARD_BITS + 2, name="destination")

        # # #

        self.comb += self.destination.status.eq(Cat(link.destination, link.leads, link.known))
