"""Sends commands to the board that their channel's destination names: the own core, or a satellite.

Latency 0. The destination of a command is in bits 23..16 of its channel. What goes to none of the boards here is the
own core's, which says that it cannot be reached. Clock domain sys.
"""

from functools import reduce
from operator import or_

from migen import *

from .cri import Cri

__all__ = ["CriRouter"]


class CriRouter(Module):
    """local: the RTIO core's Cri. remotes: {destination: Cri}. own: the destination of this board, as far as it knows,
    by default 0. `cri`: for the arbiter."""

    def __init__(self, local, remotes, own=None):
        boards = {0: local, **remotes}
        self.cri = cri = Cri(max(len(board.output.data) for board in boards.values()))

        # # #

        for kind in ("output", "input"):
            request = getattr(cri, kind)
            away = {n: Signal(name=f"{kind}_to_{n}") for n in remotes}
            self.comb += [away[n].eq(request.channel[16:] == n) for n in remotes]
            chosen = {0: ~reduce(or_, away.values(), C(0)), **away}
            ready = []
            for n, board in boards.items():
                sink = getattr(board, kind)
                names = [name for name, *_ in request.description.payload_layout]
                self.comb += [getattr(sink, name).eq(getattr(request, name)) for name in names]
                if n == 0 and own is not None:
                    # The core's channels are those of destination 0
                    foreign = request.channel[16:] != own
                    self.comb += sink.channel.eq(Cat(request.channel[:16], Replicate(foreign, 8)))
                self.comb += sink.valid.eq(request.valid & chosen[n])
                ready.append(sink.ready & chosen[n])
            self.comb += request.ready.eq(reduce(or_, ready))
        self.comb += cri.response.done.eq(cri.output_done | cri.input_done)
        self.comb += cri.response.status.eq(Mux(cri.output_done, cri.output_status, cri.input_status))
        for kind in ("output", "input"):
            done, status = getattr(cri, f"{kind}_done"), getattr(cri, f"{kind}_status")
            dones = [getattr(board, f"{kind}_done") for board in boards.values()]
            self.comb += done.eq(reduce(or_, dones))
            for board, answers in zip(boards.values(), dones, strict=True):
                self.comb += If(answers, status.eq(getattr(board, f"{kind}_status")))
                if kind == "input":
                    self.comb += If(
                        answers,
                        cri.response.timestamp.eq(board.response.timestamp),
                        cri.response.data.eq(board.response.data),
                    )
