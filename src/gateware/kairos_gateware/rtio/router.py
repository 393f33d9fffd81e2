"""Routes commands by the destination of their channel: to the own core, or to the link that leads
to that board.

Latency 0. The destination of a command is in bits 23..16 of its channel. Destinations are numbered
in preorder through the tree of boards, so those behind a link are consecutive. Commands for none of
the boards here go to the own core, which answers that they are unreachable. One input request is
handled at a time. Clock domain sys.
"""

from functools import reduce
from operator import or_

from migen import *

from .cri import Cri

__all__ = ["CriRouter"]


class CriRouter(Module):
    """local: the RTIO core's Cri. remotes: (Cri, its first destination, number of its
    destinations), where destinations are counted from this board's own. own: the destination of
    this board, if assigned, by default 0. `cri`: for the arbiter."""

    def __init__(self, local, remotes, own=None):
        boards = [local, *(cri for cri, *_ in remotes)]
        self.cri = cri = Cri(max(len(board.output.data) for board in boards))

        # # #

        reading = Signal()
        if remotes:
            self.sync += If(cri.input.valid & cri.input.ready, reading.eq(1)).Elif(cri.input_done, reading.eq(0))
        for kind in ("output", "input"):
            request = getattr(cri, kind)
            held = reading if kind == "input" else C(0)
            relative = Signal(8, name=f"{kind}_relative")
            self.comb += relative.eq(request.channel[16:] - (0 if own is None else own))
            to_remotes = [Signal(name=f"{kind}_to_{first}") for _, first, _ in remotes]
            for there, (_, first, count) in zip(to_remotes, remotes, strict=True):
                self.comb += there.eq((relative >= first) & (relative < first + count))
            chosen = [~reduce(or_, to_remotes, C(0)), *to_remotes]
            ready = []
            for n, board in enumerate(boards):
                sink = getattr(board, kind)
                names = [name for name, *_ in request.description.payload_layout]
                self.comb += [getattr(sink, name).eq(getattr(request, name)) for name in names]
                if n == 0 and own is not None:
                    # The core's channels are those of destination 0
                    foreign = relative != 0
                    self.comb += sink.channel.eq(Cat(request.channel[:16], Replicate(foreign, 8)))
                self.comb += sink.valid.eq(request.valid & chosen[n] & ~held)
                ready.append(sink.ready & chosen[n] & ~held)
            self.comb += request.ready.eq(reduce(or_, ready))
        self.comb += cri.response.done.eq(cri.output_done | cri.input_done)
        self.comb += cri.response.status.eq(Mux(cri.output_done, cri.output_status, cri.input_status))
        for kind in ("output", "input"):
            done, status = getattr(cri, f"{kind}_done"), getattr(cri, f"{kind}_status")
            dones = [getattr(board, f"{kind}_done") for board in boards]
            self.comb += done.eq(reduce(or_, dones))
            for board, answers in zip(boards, dones, strict=True):
                self.comb += If(answers, status.eq(getattr(board, f"{kind}_status")))
                if kind == "input":
                    self.comb += If(
                        answers,
                        cri.response.timestamp.eq(board.response.timestamp),
                        cri.response.data.eq(board.response.data),
                    )
