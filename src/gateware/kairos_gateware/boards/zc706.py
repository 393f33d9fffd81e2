"""Board `zc706`: AMD's Zynq-7000 evaluation board (XC7Z045-2).

Pads, in the order of the variant's channels: the eight pins of PMOD1 (J58), then the four user LEDs. Pin locations
come from Migen's platform file. The chip serialises at 1 Gbit/s (DS191: 1250 Mbit/s for speed grade -2).
"""

from migen.build.platforms import zc706

from .io import Pin
from .zynq import Board, in_turn

__all__ = ["BOARD"]


def _pins(platform):
    leds = [Pin(platform.request("user_led", i), bidirectional=False) for i in range(4)]
    return in_turn("zc706", [Pin(platform.request("pmod1", i)) for i in range(8)] + leds)


BOARD = Board("zc706", zc706.Platform, _pins, serialises=True, host="192.168.1.52")
