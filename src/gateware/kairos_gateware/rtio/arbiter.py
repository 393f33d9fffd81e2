"""Arbitration between initiators: merges several CRIs into one, event by event, without a register
to select a master.

While several initiators offer an output, or may do so, the grant alternates with every cycle,
whether the event on offer was accepted or has to wait for room: no initiator is blocked by another
one's full lane. An offer may be withdrawn. Inputs are accepted from the first initiator, and from
the urgent one if there is one, one read at a time.

Commands from a link are urgent: they have priority, since their slack was computed at the other
end; but if they have to wait for room, the others get every second cycle.

Latency 0; one event per cycle in total. A status goes to the initiator whose event was accepted in
the previous cycle. Clock domain sys.
"""

from migen import *

from .cri import Cri

__all__ = ["CriArbiter"]


class CriArbiter(Module):
    """core: the RTIO core's Cri. `ports`: Cris for the two initiators; port 0 also supports inputs.
    `urgent`: a third one, or None.

    `soon` (in): the first initiator may offer an output in this cycle. Known early, unlike its `valid`, so
    that the grant, and the core's comparisons after it, need not wait for that. While it is high the grant
    alternates.

    `settled` (out): no answer is due.
    """

    def __init__(self, core, urgent=False):
        width = len(core.output.data)
        self.ports = [Cri(width) for _ in range(2)]
        self.urgent = Cri(width) if urgent else None

        # # #

        self.soon = Signal(reset=1)
        self.settled = Signal()  # for time skip: grants are not changing
        first, second = self.ports
        turn = Signal()  # which port is granted if both request
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
        """A request is accepted once the previous one has been answered, so an answer belongs to
        the newest request."""
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
