"""Arbitration between initiators: several CRIs become one, event by event, without a register to select a master.

While several initiators offer an output, or may do so, their turns change with every cycle, whether
the event on offer was taken or has to wait for room: nobody is kept waiting by another one's full
lane. An offer may be withdrawn. Inputs are the first initiator's, and the urgent one's where there
is one, a read at a time.

What comes over a link is urgent: it goes first, since its slack was counted at the other end; but
if it has to wait for room, the others have every second cycle.

Latency 0; one event a cycle altogether. A status goes to the initiator whose event was accepted in
the cycle before. Clock domain sys.
"""

from migen import *

from .cri import Cri

__all__ = ["CriArbiter"]


class CriArbiter(Module):
    """core: the RTIO core's Cri. `ports`: Cris for the two initiators; port 0 has inputs as well.
    `urgent`: a third one, or None.

    soon: the first initiator may offer an output in this cycle. Known early, unlike its `valid`, so
    that the choice, and behind it the core's comparisons, need not wait for that. While it is high
    the turns decide."""

    def __init__(self, core, urgent=False):
        width = len(core.output.data)
        self.ports = [Cri(width) for _ in range(2)]
        self.urgent = Cri(width) if urgent else None

        # # #

        self.soon = Signal(reset=1)
        self.settled = Signal()  # for time skip: turns are not changing
        first, second = self.ports
        turn = Signal()  # whose it is if both want
        second_goes, urgent_goes = Signal(), Signal()
        both = self.soon & second.output.valid
        self.comb += second_goes.eq(second.output.valid & (~self.soon | turn) & ~urgent_goes)
        self.sync += turn.eq(~second_goes)
        masters = [(first, ~second_goes & ~urgent_goes), (second, second_goes)]
        if urgent:
            offered, stuck = self.urgent.output.valid, Signal()
            others = self.soon | second.output.valid
            self.comb += [
                urgent_goes.eq(offered & ~(stuck & others)),
                self.settled.eq(~both & ~(offered & others)),
            ]
            self.sync += stuck.eq(urgent_goes & ~core.output.ready)
            masters.append((self.urgent, urgent_goes))
        else:
            self.comb += self.settled.eq(~both)
        self._outputs(core, masters)
        self._inputs(core)

    def _outputs(self, core, masters):
        payload = [name for name, *_ in core.output.description.payload_layout]
        for port, goes in masters:
            owner = Signal()
            self.sync += owner.eq(goes)
            self.comb += [
                If(goes, [getattr(core.output, name).eq(getattr(port.output, name)) for name in ["valid", *payload]]),
                port.output.ready.eq(core.output.ready & goes),
                port.output_done.eq(core.output_done & owner),
                port.output_status.eq(core.output_status),
                port.response.done.eq(port.output_done | port.input_done),
                port.response.status.eq(Mux(port.output_done, core.output_status, core.input_status)),
            ]

    def _inputs(self, core):
        """A request is accepted when the one before has been answered, so the answer is the newest one's."""
        readers = [self.ports[0], *([self.urgent] if self.urgent is not None else [])]
        payload = [name for name, *_ in core.input.description.payload_layout]
        before = C(0)
        for port in reversed(readers):
            goes, owner = Signal(), Signal(reset=1)
            self.comb += [
                goes.eq(port.input.valid & ~before),
                If(goes, [getattr(core.input, name).eq(getattr(port.input, name)) for name in ["valid", *payload]]),
                port.input.ready.eq(core.input.ready & ~before),
                port.input_done.eq(core.input_done & owner),
                port.input_status.eq(core.input_status),
                port.response.timestamp.eq(core.response.timestamp),
                port.response.data.eq(core.response.data),
            ]
            if len(readers) > 1:
                self.sync += If(core.input.valid & core.input.ready, owner.eq(goes))
            before = before | port.input.valid
