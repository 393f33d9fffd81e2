"""Messages to the amplifiers of a Sampler."""

from ...coredevice.chips.sampler import PGIA
from .common import Chip

__all__ = ["CHIP", "gains"]


def gains(message, arguments) -> str | None:
    """Describe the gains of a Sampler's amplifiers."""
    if message.bits != PGIA.width:
        return None
    return f"gains {', '.join(gain[1:] for gain in PGIA.decode(message.written)['gain'])}"


CHIP = Chip(gains)
