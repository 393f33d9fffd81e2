"""Board `zc706`: AMD's Zynq-7000 evaluation board (XC7Z045-2).

Pads, in the order of the variant's channels: the eight pins of PMOD1 (J58), then the four user
LEDs. Pin locations come from Migen's platform file. The chip serialises at 1 Gbit/s (DS191: 1250
Mbit/s for speed grade -2).

The board has a Si5324 (UG954): its input 1 is driven by the logic (REC_CLOCK), its output is a
reference clock of the transceivers. A variant with a synthesiser uses it, with the SMA pair
USER_SMA_CLOCK as the external clock.

The SFP+ cage is for a link, whose transceiver uses the Si5324's clock.

Converter cards go on the FMC connectors, `lpc` and `hpc` (`ad9739a.py`); "lpc:spi_clk" is a line of
a card.
"""

from migen.build.platforms import zc706

from .ad9739a import Ad9739a, line_pin
from .clocking import Synthesiser
from .io import Pin
from .links import Cages
from .zynq import Board, in_turn

__all__ = ["BOARD"]

_FMC = ("lpc", "hpc")


def _pins(platform):
    leds = [Pin(platform.request("user_led", i), bidirectional=False) for i in range(4)]
    others = in_turn("zc706", [Pin(platform.request("pmod1", i)) for i in range(8)] + leds)

    def find(pad):
        connector, _, line = (pad.pin or "").partition(":")
        return line_pin(platform, connector, line) if connector in _FMC else others(pad)

    return find


_SYNTHESISER = Synthesiser(
    1,
    "si5324_clkout",
    external="user_sma_clock",
    forward="si5324_clkin",
    transceiver=True,
    reset=("si5324", "rst_n"),
)

BOARD = Board(
    "zc706",
    zc706.Platform,
    _pins,
    serialises=True,
    host="192.168.1.52",
    synthesiser=_SYNTHESISER,
    converters=dict.fromkeys(_FMC, Ad9739a),
    cages=Cages(1, enable=("sfp_tx_disable_n",)),
)
