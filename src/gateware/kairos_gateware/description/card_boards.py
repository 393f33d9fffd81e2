"""Cards that are boards of their own, behind a link over an EEM connector (EFC with its own logic, or a Phaser): for
each its RTIO channels, in the order of the gateware that cards have, and its entries in the device database.

In a description of the upstream board they are peripherals, with the connector as their port; as boards they have
descriptions of their own: the card as `base`, and as target the board with its logic, "efc" or "phaser". Links between
boards are this project's, so a card needs gateware of it. That is built for simulation only, where a Zynq stands for
the card's processor: no board has the card's pins. A Kasli-SoC has the transceiver at its connectors.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..contracts.phaser import CHANNELS
from ..contracts.phaser_mtdds import LEAST_SAMPLES, USUAL_TONES
from ..contracts.shuttler import OUTPUTS
from ..contracts.songbird import TONES
from .peripherals import Builder

__all__ = ["CARD_BOARDS", "CardBoard", "add_mtdds", "add_songbird"]

_CYCLE_HZ = 125e6


def _leds(b: Builder, name: str, count: int = 2) -> None:
    for i in range(count):
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


def add_mtdds(
    b: Builder, name: str, tones: int = USUAL_TONES, samples: int = LEAST_SAMPLES, upconverters: bool = True
) -> None:
    """Adds the channels of a Phaser as a satellite beside its LEDs."""
    chips = ["dac", *[f"lo{c}" for c in range(CHANNELS) if upconverters], *[f"att{c}" for c in range(CHANNELS)]]
    for chip in chips:
        lines = {"miso": 0} if chip.startswith("att") else {}
        b.channel(f"spi_{name}_{chip}", "spi_master", [], cs_width=1, **lines)
    rate = samples * _CYCLE_HZ
    b.device(f"{name}_dac", "dac34h84", "DAC34H84", spi_device=f"spi_{name}_dac", input_sample_rate=rate)
    card = b.channel(name, "mtdds", [], tones=tones, samples=samples, baseband=int(not upconverters))
    b.device(name, "phaser", "PhaserMTDDS", channel=b.place(card), sysclk=_CYCLE_HZ, dac_device=f"{name}_dac")
    for c in range(CHANNELS):
        channel, oscillator = f"{name}_ch{c}", f"{name}_lo{c}" if upconverters else None
        for tone in range(tones):
            place = b.place(b.channel(f"{channel}_dds{tone}", "mtdds_tone", [], mtdds=card, channel=c, tone=tone))
            b.device(f"{channel}_dds{tone}", "phaser", "PhaserDDS", channel=place, bandwidth=rate)
        b.device(f"{name}_att{c}", "hmc542b", "HMC542B", spi_device=f"spi_{name}_att{c}")
        if upconverters:
            b.device(oscillator, "trf372017", "TRF372017", spi_device=f"spi_{name}_lo{c}", refclk=_CYCLE_HZ)
        b.device(
            channel,
            "phaser",
            "PhaserMTDDSChannel",
            channel_index=c,
            tones=tones,
            fpga_device=name,
            dac_device=f"{name}_dac",
            att_device=f"{name}_att{c}",
            dds_device_prefix=f"{channel}_dds",
            iquc_device=oscillator,
        )


def _mtdds(b: Builder, name: str) -> None:
    _leds(b, name, 5)
    add_mtdds(b, name)


@dataclass(frozen=True)
class CardBoard:
    """add: adds the card's channels, and its devices with names that begin with this one, to a `Builder`. target: its
    board. name: the beginning of its names."""

    add: Callable[[Builder, str], None]
    target: str
    name: str


CARD_BOARDS = {
    "shuttler": CardBoard(_shuttler, "efc", "shuttler"),
    "songbird": CardBoard(_songbird, "efc", "songbird"),
    "phaser_drtio": CardBoard(_mtdds, "phaser", "mtdds"),
}
"""By type."""
