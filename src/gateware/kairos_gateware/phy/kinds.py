"""The kinds of channels that have a PHY, and the conversion of a variant's channels to PHYs."""

from importlib import import_module
from itertools import zip_longest
from pathlib import Path

from ..variant import ChannelSpec
from .kind import Kind

__all__ = ["KINDS", "found", "make_phys"]


def found() -> list[Kind]:
    """The kinds of all modules of this package, in the order of their numbers."""
    names = [path.stem for path in Path(__file__).parent.glob("*.py")]
    modules = [
        import_module(f"{__package__}.{name}") for name in names if not name.startswith(("test_", "kinds", "__"))
    ]
    return sorted((kind for module in modules for kind in getattr(module, "KINDS", ())), key=lambda kind: kind.channel)


KINDS: dict[str, Kind] = {kind.name: kind for kind in found()}
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
        phy = kind.make(kind.context(number, spec, phys))
        if spec.pins and len(spec.pins) != len(phy.pads):
            raise ValueError(f"{spec.name}: {len(phy.pads)} pads, but {len(spec.pins)} pins are given")
        for pad, pin in zip_longest(phy.pads, spec.pins):
            pad.pin = pin
        phys[number] = phy
    return phys
