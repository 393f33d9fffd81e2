"""Board `redpitaya`: STEMlab 125-14 (XC7Z010-1), as a controller with digital pins; its converters
are not used.

Pads, in the order of the variant's channels: DIO0_P to DIO7_P, DIO0_N to DIO7_N of extension
connector E1 (3.3 V), then the eight LEDs. Pin locations come from Migen's platform file. The chip's
pins do not reach 1 Gbit/s (DS187: 950 Mbit/s for speed grade -1), so there are no serialised pads.
"""

from migen.build.platforms import redpitaya

from .io import Pin
from .zynq import Board, in_turn

__all__ = ["BOARD"]


def _pins(platform):
    connector = platform.request("exp")
    pins = [Pin(half[i]) for half in [connector.p, connector.n] for i in range(8)]
    leds = [Pin(platform.request("user_led", i), bidirectional=False) for i in range(8)]
    return in_turn("redpitaya", pins + leds)


BOARD = Board("redpitaya", redpitaya.Platform, _pins, serialises=False, host="192.168.1.55")
