"""The kinds of channels that have a PHY, and the conversion of a variant's channels to PHYs."""

from itertools import zip_longest

from ..variant import ChannelSpec
from . import ad9914, clockgen, edge_counter, fastino, grabber, phaser, pulse, shuttler, spi, suservo, ttl
from .kind import Kind

__all__ = ["KINDS", "make_phys"]

_MODULES = [
    ttl,
    clockgen,
    edge_counter,
    spi,
    ad9914,
    fastino,
    grabber,
    phaser,
    suservo,
    pulse,
    shuttler,
]

KINDS: dict[str, Kind] = {kind.name: kind for module in _MODULES for kind in module.KINDS}
"""By name; `log` is not included, as it has no PHY."""


def make_phys(channels: tuple[ChannelSpec, ...]) -> dict:
    """{channel number: PHY} of all channels that have one (`log` has none). Each PHY has `channel`
    and `pads`, whose `pin` is set from the specification. Raises ValueError with the channel's
    name."""
    phys = {}
    for number, spec in enumerate(channels):
        if spec.kind == "log":
            continue
        if spec.kind not in KINDS:
            raise ValueError(f"{spec.name}: there is no PHY for channels of kind {spec.kind!r}")
        kind = KINDS[spec.kind]
        phy = kind.make(kind.place(number, spec, phys))
        if spec.pins and len(spec.pins) != len(phy.pads):
            raise ValueError(f"{spec.name}: {len(phy.pads)} pads, but {len(spec.pins)} pins are given")
        for pad, pin in zip_longest(phy.pads, spec.pins):
            pad.pin = pin
        phys[number] = phy
    return phys
