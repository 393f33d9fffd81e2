"""The interface between PHYs and a board's pins: eight samples of 1 ns in each cycle."""

from migen import *

__all__ = ["Pad"]


class Pad:
    """One pin. o: eight output samples of the cycle, bit 0 first in time. oe: driven by the PL. i: eight input samples.

    name: as in the device database. direction: "out" or "inout". channel: RTIO channel number.
    """

    def __init__(self, name, direction, channel):
        self.name = name
        self.direction = direction
        self.channel = channel
        self.o = Signal(8)
        self.oe = Signal()
        self.i = Signal(8)
