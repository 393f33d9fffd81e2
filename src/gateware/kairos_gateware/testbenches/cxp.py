"""For the tests of the CoaXPress grabber: its channels, and the camera's end of their line in plain Python."""

from migen import *

from ..coaxpress.camera import Receiver
from ..contracts import coaxpress as facts
from ..pad import Pad
from ..phy.cxp_grabber import CxpGrabber, CxpRegions
from ..phy.grabber import GrabberGate

__all__ = ["GATE", "REGIONS", "TRIGGER", "CxpBench"]

TRIGGER, REGIONS, GATE = range(3)
_READING = 3
"""Cycles from a read's event to its answer."""


class CxpBench(Module):
    """`channels` of a grabber with so many regions, by TRIGGER, REGIONS and GATE; `camera`: what its line has sent.
    arguments: further ones of the `CxpGrabber`.

    `cycle`: the present one. `events`: (cycle, data) of the gate; `answers`: the same of the commands; `busy`: cycles
    of refused events."""

    def __init__(self, rois, *arguments, **options):
        self.tx = Pad("tx", "out", 0)
        self.submodules.grabber = CxpGrabber(0, self.tx, *arguments, **options)
        self.submodules.regions = CxpRegions(1, self.grabber, rois=rois)
        self.submodules.gate = GrabberGate(2, self.regions)
        self.channels = [part.channel for part in (self.grabber, self.regions, self.gate)]
        self.camera = Receiver()
        self.cycle, self.events, self.answers, self.busy = 0, [], [], []

    def step(self, cycles=1):
        for _ in range(cycles):
            yield
            self.camera.receive(self.cycle + 1, (yield self.tx.o) & 1)
            for channel, found in [(GATE, self.events), (REGIONS, self.answers)]:
                if (yield self.channels[channel].input.stb):
                    found.append((self.cycle, (yield self.channels[channel].input.data)))
            self.cycle += 1

    def write(self, channel, data, address=0):
        """An event; its time is that of the next cycle."""
        link = self.channels[channel].output
        yield link.stb.eq(1)
        yield link.data.eq(data)
        yield link.address.eq(address)
        yield from self.step()
        if (yield link.busy):
            self.busy.append(self.cycle)
        yield link.stb.eq(0)

    def read(self, port, index=0):
        """What a read gives."""
        began = self.cycle
        yield from self.write(REGIONS, index, port)
        yield from self.step(_READING)
        cycle, data = self.answers.pop()
        assert cycle == began + _READING
        return data

    def select(self, rois, view=None):
        """Sets the regions, and starts the viewer of another one, as (x0, y0, x1, y1)."""
        for n, corners in enumerate(rois):
            for i, value in enumerate(corners):
                yield from self.write(REGIONS, value, 4 * n + i)
        if view is not None:
            ports = (facts.PORT_VIEWER_FIRST, facts.PORT_VIEWER_LAST)
            for port, (x, y) in zip(ports, (view[:2], view[2:]), strict=True):
                yield from self.write(REGIONS, y << 16 | x, port)
            yield from self.write(REGIONS, 1, facts.PORT_VIEWER_START)
