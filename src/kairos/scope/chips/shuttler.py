"""Messages to the relays of a Shuttler."""

from .common import Chip

__all__ = ["CHIP"]

RELAYS = 16
"""Number of relays."""


def _text(message, arguments) -> str | None:
    """List the closed relays of a Shuttler's outputs."""
    if message.bits != RELAYS:
        return None
    closed = [str(number) for number in range(RELAYS) if message.written >> number & 1]
    return f"closed: {', '.join(closed)}" if closed else "all open"


CHIP = Chip(_text)
