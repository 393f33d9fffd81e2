"""The interface between PHYs and a board's pins: eight samples of 1 ns in each cycle."""

from migen import *

__all__ = ["SAMPLES", "Pad", "reached"]

SAMPLES = 8
"""Samples in a cycle."""


class Pad:
    """One pin. Directions as seen by the PHY.

    `o` (out, 8 bits): output samples of the cycle, bit 0 first in time. `oe` (out): the PL drives the pin.
    `i` (in, 8 bits): input samples, likewise.

    name: as in the device database. direction: "out", "in" or "inout". channel: RTIO channel
    number. serialised: the samples of a cycle may differ, so that a board needs a serialiser and
    deserialiser at the pin. Otherwise all eight output samples are equal, and of the inputs only
    the last counts. pin: the pin to which a board must connect it, None if that is left to the
    board.
    """

    def __init__(self, name, direction, channel, serialised=False):
        self.name = name
        self.direction = direction
        self.channel = channel
        self.serialised = serialised
        self.pin = None
        self.o = Signal(SAMPLES)
        self.oe = Signal()
        self.i = Signal(SAMPLES)


def reached(fine, sample):
    """Expression: the sample is not before the fine time (always so for the last one of a cycle)."""
    return C(1) if sample == SAMPLES - 1 else fine <= sample
