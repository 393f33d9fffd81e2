"""Cards that are boards of their own, behind a link over an EEM connector (EFC with its own logic): for each its RTIO
channels, in the order of the gateware that cards have, and its entries in the device database.

In a description of the upstream board they are peripherals, with the connector as their port; as boards they have
descriptions of their own: target "efc", and the card as `base`. Links between boards are this project's, so a card
needs gateware of it. That is built for simulation only, where a Zynq stands for the card's processor: no board has the
card's pins, nor a transceiver at its connectors.
"""

from ..contracts.shuttler import OUTPUTS
from ..contracts.songbird import TONES
from .peripherals import Builder

__all__ = ["CARD_BOARDS", "add_songbird"]


def _leds(b: Builder, name: str) -> None:
    for i in range(2):
        b.channel(f"{name}_led{i}", "ttl_out", [])


def _shuttler(b: Builder, name: str) -> None:
    _leds(b, name)
    card = b.channel(name, "shuttler", [])
    b.channel(f"{name}_trigger", "shuttler_trigger", [], shuttler=card)
    for output in range(OUTPUTS):
        for kind, of in enumerate(("dcbias", "dds")):
            b.channel(f"{name}_{of}{output}", "shuttler_spline", [], shuttler=card, output=output, kind=kind)
    for of, cls, selects in (("relay", "Relay", 2), ("adc", "ADC", 1)):
        spi = f"spi_{name}_{of}"
        b.channel(spi, "spi_master", [], cs_width=selects)
        b.device(f"{name}_{of}", "shuttler", cls, spi_device=spi)


def add_songbird(b: Builder, name: str, tones: int = TONES) -> None:
    """Adds the channels of a Songbird beside its LEDs."""
    spi = f"spi_{name}"
    b.channel(spi, "spi_master", [], cs_width=1)
    card = b.channel(name, "songbird", [], tones=tones)
    b.device(name, "songbird", "Songbird", spi_device=spi, channel=b.place(card))
    for of in ("reset", "trigger"):
        b.channel(f"{name}_{of}", f"songbird_{of}", [], songbird=card)
    for tone in range(tones):
        first, _ = (
            b.channel(f"{name}_{of}{tone}", "songbird_tone", [], songbird=card, tone=tone, kind=kind)
            for kind, of in enumerate(("amplitude", "phase"))
        )
        b.device(f"{name}_dds{tone}", "songbird", "DDS", channel=b.place(first), config_device=name, dds_no=tone)


def _songbird(b: Builder, name: str) -> None:
    _leds(b, name)
    add_songbird(b, name)


CARD_BOARDS = {"shuttler": _shuttler, "songbird": _songbird}
"""Functions that add a card's channels to a `Builder`, by type."""
