"""Board `ebaz4205`: a former controller of mining machines (XC7Z010-1), the cheapest Zynq
available.

Pads, in the order of the variant's channels: the pins of connectors DATA1, DATA2 and DATA3 by
number (42 of them, 3.3 V), then the two user LEDs. Pin locations come from Migen's platform file.
The chip's pins do not reach 1 Gbit/s (DS187: 950 Mbit/s for speed grade -1), so there are no
serialised pads.
"""

from migen.build.generic_platform import IOStandard, Pins
from migen.build.platforms import ebaz4205

from .io import Pin
from .zynq import Board, in_turn

__all__ = ["BOARD"]

_NUMBERS = [5, 6, 7, 8, 9, 11, *range(13, 21)]


def _pins(platform):
    names = [f"DATA{c}:DATA{c}-{n}" for c in (1, 2, 3) for n in _NUMBERS]
    platform.add_extension([("data", i, Pins(name), IOStandard("LVCMOS33")) for i, name in enumerate(names)])

    pins = [Pin(platform.request("data", i)) for i in range(len(names))]
    leds = [Pin(platform.request("user_led", i), bidirectional=False) for i in range(2)]
    return in_turn("ebaz4205", pins + leds)


BOARD = Board("ebaz4205", ebaz4205.Platform, _pins, serialises=False, host="192.168.1.57")
