"""Messages to the DAC of a Songbird."""

from ...coredevice.chips import songbird
from .common import Chip, read_text

__all__ = ["CHIP"]

REGISTERS = {
    songbird.DAC_RESET: "reset",
    songbird.DAC_CLOCK: "clock",
    songbird.DAC_DATA_CLOCK: "data clock",
    songbird.DAC_OUTPUT: "output",
}
"""Registers whose meaning is known, by address; the others have only numbers."""


def _text(message, arguments) -> str | None:
    """Describe a register of the DAC being written or read."""
    if message.bits != songbird.MESSAGE.width:
        return None
    word = songbird.MESSAGE.decode(message.written)
    number = word["register"]
    name = f"register {number:#04x}" + (f" ({REGISTERS[number]})" if number in REGISTERS else "")
    if not word["read"]:
        return f"{name}: {word['value']:#04x}"
    # The answer is in the place of the value
    low = songbird.MESSAGE.value.low
    answer = None if message.read is None else message.read >> low
    return read_text(name, message._replace(read=answer), songbird.MESSAGE.value.width)


CHIP = Chip(_text)
