"""The PHYs whose area is measured, one at a time. A function gives (what it is, module, ports)."""

from migen import *

from ..phy.ad9914 import Ad9914Bus
from ..phy.clockgen import ClockGenerator
from ..phy.edge_counter import EdgeCounter
from ..phy.edges import EdgeDetector
from ..phy.fastino import LANES, Fastino
from ..phy.grabber import Grabber, GrabberGate
from ..phy.pad import Pad
from ..phy.spi import SpiMaster
from ..phy.suservo import SuServo, SuServoChannel
from ..phy.ttl import InOut, Output

__all__ = ["PHYS", "BASELINES"]


class _Counter(Module):
    """The counter with the edge detector that it shares with a TTL input."""

    def __init__(self, pad):
        self.submodules.edges = EdgeDetector(pad)
        self.submodules.counter = counter = EdgeCounter(1, self.edges)
        self.channel = counter.channel
        self.pads = [pad]


class _Servo(Module):
    """A servo with the channels that belong to it; `channel` is the servo's own."""

    def __init__(self, urukuls):
        channels = [SuServoChannel(i, Pad(f"sw{i}", "out", i, True)) for i in range(4 * urukuls)]
        buses = [_pads(6) for _ in range(urukuls)]
        servo = SuServo(len(channels), channels, _pads(8), buses, _pads(urukuls), 7)
        self.submodules += servo, *channels
        self.channel = servo.channel
        self.pads = [*servo.pads, *(pad for channel in channels for pad in channel.pads)]
        self.links = [channel.channel.output for channel in channels]


def _pads(count):
    return [Pad(f"pad{i}", "inout", 0) for i in range(count)]


def _ios(phy):
    inputs = phy.channel.input
    ios = [signal for pad in phy.pads for signal in (pad.o, pad.oe, pad.i)]
    for link in [phy.channel.output, *getattr(phy, "links", [])]:
        ios += [link.stb, link.data, link.address, link.fine, link.busy]
    if inputs is not None:
        ios += [inputs.stb, inputs.data, inputs.fine]
    return ios


def _measured(what, make):
    def build():
        phy = make()
        return what, phy, _ios(phy)

    return build


def _grabber(rois):
    def build():
        both = Module()
        lanes = [Pad(f"x{i}", "in", 0, True) for i in range(4)]
        both.submodules.grabber = grabber = Grabber(0, Pad("clk", "in", 0, True), lanes, rois=rois)
        both.submodules.gate = gate = GrabberGate(1, grabber)
        return f"{rois} regions, with the Camera Link receiver", both, _ios(grabber) + _ios(gate)

    return build


def _fastino(log2_width):
    lanes = [Pad(f"mosi{i}", "out", 0, True) for i in range(LANES)]
    return Fastino(0, Pad("clk", "out", 0, True), lanes, *_pads(1), log2_width)


PHYS = {
    "ttl_out": _measured("output, 8 ns", lambda: Output(0, *_pads(1))),
    "ttl_out_serialised": _measured("output, 1 ns", lambda: Output(0, Pad("o", "out", 0, True))),
    "ttl_inout": _measured("input and output, 8 ns", lambda: InOut(0, *_pads(1))),
    "ttl_inout_serialised": _measured("input and output, 1 ns", lambda: InOut(0, Pad("io", "inout", 0, True))),
    "clock_generator": _measured("24 bits", lambda: ClockGenerator(0, *_pads(1))),
    "edge_counter": _measured("8 ns, 31 bits, with edge detector", lambda: _Counter(*_pads(1))),
    "edge_counter_serialised": _measured(
        "1 ns, 31 bits, with edge detector", lambda: _Counter(Pad("i", "in", 0, True))
    ),
    "spi": _measured("3 chip selects", lambda: SpiMaster(0, *_pads(3), _pads(3))),
    "suservo": _measured("one Urukul, with its channels", lambda: _Servo(1)),
    "suservo_8": _measured("two Urukuls, with their channels", lambda: _Servo(2)),
    "ad9914": _measured("one chip", lambda: Ad9914Bus(0, _pads(8), _pads(16), *_pads(3), _pads(1))),
    "fastino": _measured("one DAC for an event", lambda: _fastino(0)),
    "fastino_wide": _measured("32 DACs for an event", lambda: _fastino(5)),
    "grabber": _grabber(16),
    "grabber_1": _grabber(1),
}

BASELINES = {
    "ttl_out": {"lut": 0, "ff": 2, "bram": 0},
    "ttl_inout": {"lut": 3, "ff": 6, "bram": 0},
    "clock_generator": {"lut": 33, "ff": 49, "bram": 0},
    "edge_counter": {"lut": 13, "ff": 67, "bram": 0},
    "spi": {"lut": 118, "ff": 80, "bram": 0},
}
"""The reference's, where it has the same."""
