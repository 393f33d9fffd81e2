"""Registers of a link to a card that speaks DRTIO; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

from ...csr import uses
from .requester import CORRECTION_BITS

__all__ = ["CardRegisters"]

_COUNT_BITS = 16


class CardRegisters(Module, AutoCSR):
    """end: `DrtioEnd`."""

    USES = uses("card")

    def __init__(self, end):
        near = end.near
        self.state = CSRStatus(4, name="state")
        self.reachable = CSR(name="reachable")
        self.correction = CSRStorage(CORRECTION_BITS, name="correction")
        self.set_time = CSR(name="set_time")
        self.echo = CSR(name="echo")
        self.round_trip = CSRStatus(len(near.round_trip), name="round_trip")
        self.cleared = CSR(name="cleared")
        self.space = CSRStatus(len(near.space), name="space")

        # # #

        self.comb += [
            self.state.status.eq(Cat(end.up, near.time_due, near.echo_due, near.resetting)),
            near.correction.eq(self.correction.storage),
            near.set_time.eq(self.set_time.re),
            near.echo.eq(self.echo.re),
            self.round_trip.status.eq(near.round_trip),
            near.cleared.eq(self.cleared.re),
            self.space.status.eq(near.space),
        ]
        self.sync += [
            If(self.reachable.re, near.reachable.eq(self.reachable.r)),
            # The firmware is told of a lost line later
            If(~end.up, near.reachable.eq(0)),
        ]
        for name in ("wrong", "malformed", "no_space_reply", "no_read_reply"):
            counter = CSRStatus(_COUNT_BITS, name=name)
            setattr(self, name, counter)
            came = end.wrong if name == "wrong" else getattr(near, name)
            self.sync += If(came & (counter.status != 2**_COUNT_BITS - 1), counter.status.eq(counter.status + 1))
