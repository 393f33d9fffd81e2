"""Arbitration between initiators: several CRIs become one, event by event, without a register to select a master.

While several initiators offer an output, or may do so, their turns change with every cycle, whether the event on offer
was taken or has to wait for room: nobody is kept waiting by another one's full lane. An offer may be withdrawn. Inputs
are the first initiator's alone.

Latency 0; one event a cycle altogether. A status goes to the initiator whose event was accepted in the cycle before.
Clock domain sys.
"""

from migen import *

from .cri import Cri

__all__ = ["CriArbiter"]


class CriArbiter(Module):
    """core: the RTIO core's Cri. `ports`: Cris for the two initiators; port 0 has inputs as well.

    soon: the first initiator may offer an output in this cycle. Known early, unlike its `valid`, so that the choice,
    and behind it the core's comparisons, need not wait for that. While it is high the turns decide."""

    def __init__(self, core):
        width = len(core.output.data)
        self.ports = [Cri(width) for _ in range(2)]

        # # #

        self.soon = Signal(reset=1)
        self.settled = Signal()  # for time skip: turns are not changing
        first, second = self.ports
        turn = Signal()  # whose it is if both want
        grant = Signal()
        owner = Signal()
        payload = [name for name, *_ in core.output.description.payload_layout]
        self.comb += [
            self.settled.eq(~(self.soon & second.output.valid)),
            grant.eq(second.output.valid & (~self.soon | turn)),
            core.output.valid.eq(Mux(grant, second.output.valid, first.output.valid)),
            [
                getattr(core.output, name).eq(Mux(grant, getattr(second.output, name), getattr(first.output, name)))
                for name in payload
            ],
            first.output.ready.eq(core.output.ready & ~grant),
            second.output.ready.eq(core.output.ready & grant),
            first.input.connect(core.input),
            first.response.done.eq((core.output_done & ~owner) | core.input_done),
            first.response.status.eq(Mux(core.output_done & ~owner, core.output_status, core.input_status)),
            first.response.timestamp.eq(core.response.timestamp),
            first.response.data.eq(core.response.data),
            second.response.done.eq(core.output_done & owner),
            second.response.status.eq(core.output_status),
        ]
        self.sync += [owner.eq(grant), turn.eq(~grant)]
