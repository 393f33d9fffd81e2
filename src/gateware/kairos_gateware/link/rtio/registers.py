"""Registers of a satellite; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus
from migen import *

from ...csr import uses
from ..line.phase import PHASE_BITS
from .lost_outputs import COUNT_BITS
from .words import SLACK_BITS

__all__ = ["SatelliteRegisters"]


class SatelliteRegisters(Module, AutoCSR):
    """near: `RtioRequester`; that to a card has neither a count of lost outputs nor a meter for its clock's phase."""

    USES = uses("satellite")

    def __init__(self, near):
        self.state = CSRStatus(3, name="state")
        self.one_way_delay = CSRStatus(16, name="one_way_delay")
        self.events = CSRStatus(16, name="events")
        self.destination = CSRStatus(8, name="destination")
        self.boards = CSRStatus(8, name="boards")
        self.slack = CSRStatus(SLACK_BITS, name="slack")
        if hasattr(near, "phase"):
            self.lost_outputs = CSRStatus(COUNT_BITS, name="lost_outputs")
            self.measure = CSR(name="measure")
            self.phase = CSRStatus(PHASE_BITS + 1, name="phase")

        # # #

        self.comb += [
            self.state.status.eq(Cat(near.line_up, near.up, near.blocked)),
            self.one_way_delay.status.eq(near.one_way_delay),
            self.events.status.eq(near.sent),
            self.destination.status.eq(near.destination),
            self.boards.status.eq(Cat(*[up for up, *_ in near.reaches])),
            self.slack.status.eq(near.slack),
        ]
        if hasattr(near, "phase"):
            self.comb += [
                self.lost_outputs.status.eq(near.lost_outputs.total),
                near.measure.eq(self.measure.re),
                self.phase.status.eq(Cat(near.phase.value, near.measured)),
            ]
