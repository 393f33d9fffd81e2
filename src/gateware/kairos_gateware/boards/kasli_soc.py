"""Board `kasli_soc`: the Sinara controller with a Zynq (XC7Z030-3) and twelve EEM connectors.

The variant assigns each pad: "eem3:d5" is pair 5 of connector 3 (LVDS), "user_led:1" a LED. Pin
locations come from Migen's platform file. Banks 12 and 13 of the package (rows V to AF) are
high-range banks, where the standard is LVDS_25; the others are high-performance banks, where it is
LVDS.

The RTIO clock is that of the clock recovery chip, a Si5324. The external clock (SMA) is forwarded
to its input 1 through the logic. Both clock inputs are clock-capable (AD20 is MRCC, AD23 is SRCC in
AMD's package file) and terminated in the chip. The same clock is the reference of the transceivers
(R6); that of U6 is a fixed oscillator. On hardware without a Si5324 a Si549 gives the same clock; its I2C bus is on
pins of the logic, which connects them to lines of the processing system.

Cards that are boards of their own have links over their connector (`eem.py`), whose clocks come from a PLL.

SFP cages 0 to 2 are for links. The fourth would need a sixth clock manager, but the chip has five:
for the logic, for the transmit clock, and for the receive clock of each cage. A camera (CoaXPress) needs none, and can
be in any cage without a link.
"""

import re

from migen.build.generic_platform import IOStandard, Misc, Pins, Subsignal
from migen.build.platforms.sinara import kasli_soc

from ..link.line.eem import LANES
from ..pad import Pad
from .clocking import Synthesiser
from .io import Pin
from .links import Cages
from .zynq import Board

__all__ = ["BOARD"]

_CONNECTORS = dict(kasli_soc._connectors_eem)


def _pair(platform, pad, connector, number):
    name = f"d{number}_cc" if number == 0 else f"d{number}"
    pins = _CONNECTORS[connector]
    high_range = re.match(r"(V|W|Y|A[A-F])\d", pins[f"{name}_p"]) is not None
    terminated = [Misc("DIFF_TERM=TRUE")] if pad.direction != "out" else []
    resource = f"{connector}_{pad.name}"
    platform.add_extension(
        [
            (
                resource,
                0,
                Subsignal("p", Pins(f"{connector}:{name}_p")),
                Subsignal("n", Pins(f"{connector}:{name}_n")),
                IOStandard("LVDS_25" if high_range else "LVDS"),
                *terminated,
            )
        ]
    )
    pair = platform.request(resource)
    return Pin(pair.p, pair.n)


def _pins(platform):
    used = {}

    def find(pad):
        if pad.pin is None:
            raise ValueError(f"{pad.name}: the description does not say on which pin of kasli_soc it is")
        if pad.pin in used:
            raise ValueError(f"{pad.name}: {pad.pin} is already used by {used[pad.pin]}")
        used[pad.pin] = pad.name
        connector, _, place = pad.pin.partition(":")
        if connector == "user_led" and place in ("0", "1"):
            return Pin(platform.request("user_led", int(place)), bidirectional=False)
        if connector in _CONNECTORS and re.fullmatch(r"d[0-7]", place):
            return _pair(platform, pad, connector, int(place[1]))
        raise ValueError(f"{pad.name}: kasli_soc has no pin {pad.pin}")

    return find


def _platform():
    platform = kasli_soc.Platform()
    available = platform.constraint_manager.available
    for place, resource in enumerate(available):
        if resource[0] == _FABRIC_CLOCK:
            # Nothing else terminates the pair
            available[place] = (*resource, Misc("DIFF_TERM=TRUE"))
    return platform


def _card(platform, connector):
    """Pairs 0 to 7 of a connector with a card that is a board of its own: four from the card, four to it."""
    pads = [Pad(f"link{n}", "in" if n < LANES else "out", 0) for n in range(2 * LANES)]
    return [_pair(platform, pad, f"eem{connector}", n) for n, pad in enumerate(pads)]


_FABRIC_CLOCK = "cdr_clk_clean_fabric"
_SYNTHESISER = Synthesiser(1, _FABRIC_CLOCK, external="sma_clkin", forward="cdr_clk", always=True)

BOARD = Board(
    "kasli_soc",
    _platform,
    _pins,
    serialises=True,
    host="192.168.1.56",
    synthesiser=_SYNTHESISER,
    cages=Cages(3, reference="clk_gtp", cameras=(0, 1, 2, 3)),
    cards=_card,
    oscillator="ddmtd_main_dcxo_i2c",
)
