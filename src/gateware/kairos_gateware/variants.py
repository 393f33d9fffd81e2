"""Variants: which channels a gateware has. Gateware, descriptor and device database follow from this description."""

from dataclasses import dataclass

__all__ = ["ChannelSpec", "Variant", "VARIANTS", "RTIO_FREQUENCY"]

RTIO_FREQUENCY = 125_000_000


@dataclass(frozen=True)
class ChannelSpec:
    """kind: a key of `descriptor.KINDS`. The position in the variant's list is the channel number."""

    name: str
    kind: str


@dataclass(frozen=True)
class Variant:
    """A named list of channels."""

    name: str
    channels: tuple[ChannelSpec, ...]


def _demo() -> Variant:
    bidirectional = [ChannelSpec(f"ttl{i}", "ttl_inout") for i in range(4)]
    outputs = [ChannelSpec(f"ttl{i}", "ttl_out") for i in range(4, 12)]
    return Variant("demo", (*bidirectional, *outputs, ChannelSpec("rtio_log", "log")))


VARIANTS = {variant.name: variant for variant in [_demo()]}
